"""A stand-in for a language model: OpenAI's chat completions, on loopback, by a rule.

    python tools/stand_in_model.py

It prints its address, and ends with its standard input. It knows one kind of task, the
sandbox's `rewriting`: a sentence that has some words, has not others, and has so many.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from selectors import EVENT_READ, DefaultSelector
from typing import Any

FILLER = ("indeed", "quite", "often", "still", "here", "there", "again", "also")


def sentence(wanted: dict[str, Any]) -> str:
    """Return a sentence as the task wants it."""
    fill = [word for word in FILLER if word not in wanted["avoid"]]
    words = list(wanted["keep"])
    while len(words) < wanted["least_words"]:
        words.append(fill[len(words) % len(fill)])
    return f"{' '.join(words).capitalize()}."


def answer_to(asked: dict[str, Any]) -> dict[str, Any]:
    """Return what the model fills into the form that it was given."""
    (form,) = (tool["function"] for tool in asked["tools"])
    if "answer" not in form["parameters"]["properties"]:
        return {"problems": ""}  # it is to check an answer
    told = next(one for one in asked["messages"] if one["role"] == "user")["content"]
    task = json.loads(told[told.index("{") : told.rindex("}") + 1])
    if task.get("kind") != "rewriting":
        return {"declined": "only sentences are rewritten here"}
    return {"answer": sentence(task["input"]), "confidence": 0.95}


def completion(asked: dict[str, Any]) -> dict[str, Any]:
    """Return a whole answer, which calls the tool that the model was offered."""
    name = asked["tools"][0]["function"]["name"]
    function = {"name": name, "arguments": json.dumps(answer_to(asked))}
    call = {"id": "call_1", "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    usage = {"prompt_tokens": 400, "completion_tokens": 40, "total_tokens": 440}
    about = {"id": "1", "object": "chat.completion", "created": 1}
    return {**about, "model": asked["model"], "choices": [choice], "usage": usage}


def in_parts(whole: dict[str, Any]) -> str:
    """Return the same as server-sent events: the answer, its end, and the tokens."""
    about = {**whole, "object": "chat.completion.chunk", "choices": []}
    usage = about.pop("usage")
    message = whole["choices"][0]["message"]
    call = {**message["tool_calls"][0], "index": 0}
    said = {"index": 0, "delta": {**message, "tool_calls": [call]}}
    end = {"index": 0, "delta": {}, "finish_reason": "tool_calls"}
    parts = [{**about, "choices": [one]} for one in (said, end)]
    events = [json.dumps(one) for one in [*parts, {**about, "usage": usage}]]
    return "".join(f"data: {one}\n\n" for one in [*events, "[DONE]"])


class Model(BaseHTTPRequestHandler):
    """Answers each request, in parts where that is asked for."""

    def do_POST(self) -> None:
        """Answer one request."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = completion(asked)
        if asked.get("stream"):
            self._send(in_parts(answer), "text/event-stream")
        else:
            self._send(json.dumps(answer), "application/json")

    def _send(self, text: str, kind: str) -> None:
        content = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing: the address is all that is printed."""


def main() -> None:
    """Serve until the standard input closes."""
    server = HTTPServer(("127.0.0.1", 0), Model)
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    selector = DefaultSelector()
    selector.register(sys.stdin, EVENT_READ)
    selector.register(server, EVENT_READ)
    while all(key.fileobj is server for key, _ in selector.select()):
        server.handle_request()


if __name__ == "__main__":
    main()
