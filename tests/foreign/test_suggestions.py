"""A network whose words no rule can read, and a language model that can.

Its refusals are German prose in which no name stands out. The daemon is a real one, and
the model a server on loopback that speaks as OpenAI's does.
"""

import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.foreign.backend import Backend, Book, Request, Response
from tests.foreign.trial import report, run_trial

KEY = "key-of-the-owner-4711"
TEXTS = ("der bus kam heute zu spaet", "die katze schlief im regal", "es roch nach tee")
SAID = {
    "kennziffer": "Bitte geben Sie die Kennziffer an.",
    "loesung": "Ohne Loesung geht es leider nicht weiter.",
}
FIELDS = {
    "claim": ("kennziffer",),
    "submit": ("kennziffer", "loesung"),
    "complete": ("kennziffer",),
}


class Amt(Backend):
    """An office: it says what it wants, to those who read German."""

    def __init__(self) -> None:
        super().__init__()
        self.all = {secrets.token_hex(4): text for text in TEXTS}
        self.token = ""
        self.taken: set[str] = set()

    def texts(self) -> dict[str, str]:
        return self.all

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        self.token = secrets.token_urlsafe(24)
        answer = {"agent_id": "a1", "access_token": self.token, "credits": 100}
        return Response(200, answer)

    def tasks(self, request: Request) -> Response:
        free = [
            {"id": key, "text": text, "reward": 2}
            for key, text in self.all.items()
            if key not in self.taken
        ]
        return Response(200, {"tasks": free})

    def _act(self, request: Request, action: str) -> Response:
        if request.token != self.token:
            return Response(401, "Wer sind Sie?")
        body = request.json()
        for name in FIELDS[action]:
            if name not in body:
                echo = f" Erhalten: {json.dumps(body)}"
                return Response(400, SAID[name] + echo)
        task = body["kennziffer"]
        if not isinstance(task, str):
            return Response(400, "Das ist kein Text.")
        if task not in self.all:
            return Response(404, "Unbekannt.")
        if action == "claim":
            self.taken.add(task)
            self.book.claimed(task)
        if action == "submit" and body["loesung"] != self.all[task].upper():
            return Response(422, "Die Antwort ist falsch.")
        if action == "complete" and task not in self.book.paid:
            self.book.pay(task, 2)
        return Response(200, {"ok": True})

    def claim(self, request: Request) -> Response:
        return self._act(request, "claim")

    def submit(self, request: Request) -> Response:
        return self._act(request, "submit")

    def complete(self, request: Request) -> Response:
        return self._act(request, "complete")


@contextmanager
def language_model() -> Iterator[tuple[str, list[str]]]:
    """Serve a model that reads German; yield its address and what it was sent."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            """Keep the test's output readable."""

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            asked.append(self.rfile.read(length).decode())
            said = json.loads(asked[-1])["messages"][-1]["content"]
            names = [one for one, words in SAID.items() if words in said]
            body = json.dumps(_answer(names)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _answer(names: list[str]) -> dict[str, Any]:
    told = {"names": [{"name": name, "fault": "missing"} for name in names]}
    function = {"name": "final_result", "arguments": json.dumps(told)}
    call = {"id": "call_1", "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "small",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18},
    }


def settings(url: str) -> str:
    return (
        f'[suggestions]\nmodel = "small"\nbase_url = "{url}"\napi_key_env = "THE_KEY"\n'
    )


@pytest.mark.timeout(600)
@pytest.mark.foreign
def test_a_language_model_may_say_what_a_refusal_means(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", KEY)
    network = Amt()
    with language_model() as (url, asked):
        trial = run_trial(network, tmp_path, settings=settings(url))

    told = report("amt", trial)
    assert {*trial.book.paid} == trial.tasks, told
    assert trial.earned == sum(trial.book.paid.values()), told
    assert max(trial.refusals.values()) <= 3, told
    assert 0 < len(asked) <= 4
    sent = "\n".join(asked).lower()
    assert "kennziffer" in sent
    assert network.token.lower() not in sent
    assert not [text for text in TEXTS if text in sent]
    assert not [task for task in trial.tasks if task in sent]


@pytest.mark.timeout(600)
@pytest.mark.foreign
def test_without_a_model_the_search_goes_on_by_itself_and_waits(tmp_path: Path) -> None:
    def has_been_refused(book: Book) -> bool:
        return book.refused["claim"] >= 3

    trial = run_trial(Amt(), tmp_path, until=has_been_refused)

    assert trial.book.refused["claim"] >= 3
    assert not trial.book.held
