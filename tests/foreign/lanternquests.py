"""Kotlin Ktor with kotlinx.serialization: quests with a settlement after completion."""

import json
import secrets
import time
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

SETTLE = 1.8  # seconds
PACKAGE = "dev.lantern.api"
QUESTS = [
    ("LQ-204", "Name the inn", "the sleeping lantern", 35, "OPEN"),
    ("LQ-207", "Carve the gate", "strangers are friends by daylight", 50, "OPEN"),
    ("LQ-208", "Guild roll", "arlen, bessa and tolm", 20, "OPEN"),
    ("LQ-211", "Bridge toll plate", "two coppers a wheel", 15, "COMPLETED"),
    ("LQ-215", "Herald's cry", "the fair begins at dawn", 40, "OPEN"),
]


class Refuse(Exception):  # noqa: N818 - its name there
    """Thrown in a route and answered by StatusPages."""

    def __init__(self, status: int, code: str, message: str) -> None:
        self.response = Response(status, {"code": code, "message": message})


def receive(request: Request, cls: str, names: list[str]) -> dict[str, Any]:
    """call.receive<cls>(): kotlinx with Ktor's default Json (unknown keys are refused)."""
    if "json" not in (request.headers.get("Content-Type") or ""):
        raise Refuse(415, "UNSUPPORTED_MEDIA_TYPE", "Unsupported media type")
    text = request.raw.decode(errors="replace")
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        found = text[:1] or "EOF"
        raise Refuse(
            400,
            "BAD_REQUEST",
            "Illegal input: Unexpected JSON token at offset 0: Expected start of the "
            f"object '{{', but had '{found}' instead at path: $\nJSON input: {text[:60]}",
        )
    for key, value in data.items():
        if key not in names:
            at = max(text.find(f'"{key}"'), 0)
            raise Refuse(
                400,
                "BAD_REQUEST",
                f"Illegal input: Unexpected JSON token at offset {at}: Encountered an "
                f"unknown key '{key}' at path: $\nUse 'ignoreUnknownKeys = true' in "
                f"'Json {{}}' builder to ignore unknown keys.\nJSON input: {text[:60]}",
            )
        if isinstance(value, (dict, list)) or value is None:
            got = {"dict": "{", "list": "["}.get(type(value).__name__, "null literal")
            raise Refuse(
                400,
                "BAD_REQUEST",
                "Illegal input: Unexpected JSON token at offset "
                f"{text.find(key) + len(key) + 3}: Expected string literal but "
                f"had '{got}' instead at path: $.{key}\nJSON input: {text[:60]}",
            )
        data[key] = str(value)  # isLenient: unquoted literals are strings
    absent = [n for n in names if n not in data]
    if len(absent) == 1:
        raise Refuse(
            400,
            "BAD_REQUEST",
            f"Illegal input: Field '{absent[0]}' is required for type with serial name "
            f"'{PACKAGE}.{cls}', but it was missing at path: $",
        )
    if absent:
        raise Refuse(
            400,
            "BAD_REQUEST",
            f"Illegal input: Fields [{', '.join(absent)}] are required for type with "
            f"serial name '{PACKAGE}.{cls}', but they were missing at path: $",
        )
    return data


class LanternQuests(Backend):
    """{quests: [...], count}: ids, bounty {amount, currency}, status; the text is in the claim.

    claim: {questId} -> {run: {runId, text, ...}}; submit: {runId, answer}; complete: {runId}
    -> {run: {status: SETTLING}}, paid 1.8 s later (complete again, or the wallet in the agents'
    directory, says so: PAID). Refusals are {code, message}; without a token an empty 401.
    """

    def __init__(self) -> None:
        super().__init__()
        self.quests = {
            i: {"id": i, "title": t, "text": x, "amount": a, "status": s}
            for i, t, x, a, s in QUESTS
        }
        self.members: dict[str, dict[str, Any]] = {}
        self.runs: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {i: x for i, _, x, _, s in QUESTS if s == "OPEN"}

    def handle(self, request: Request) -> Response:
        with self._lock:
            for run in self.runs.values():
                if run["status"] == "SETTLING" and time.monotonic() >= run["due"]:
                    run["status"], quest = "PAID", self.quests[run["questId"]]
                    self.members[run["token"]]["balance"] += quest["amount"]
                    self.book.pay(str(quest["id"]), int(str(quest["amount"])))
        return super().handle(request)

    def missing(self, request: Request) -> Response:
        return Response(404, b"")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token, name = secrets.token_urlsafe(40), str(uuid.uuid4())
        self.members[token] = {"agentId": name, "balance": 100}
        return Response(200, {"agent_id": name, "access_token": token, "credits": 100})

    def _quest(self, quest: dict[str, Any]) -> dict[str, Any]:
        shown = {k: quest[k] for k in ("id", "title", "status")}
        return shown | {"bounty": {"amount": quest["amount"], "currency": "CREDITS"}}

    def tasks(self, request: Request) -> Response:
        limit = request.query.get("limit", "20")
        if not limit.isdigit():
            said = "Can't transform call to resource: limit couldn't be parsed to Int"
            return Response(400, {"code": "BAD_REQUEST", "message": said})
        quests = [self._quest(q) for q in self.quests.values()][: int(limit)]
        return Response(200, {"quests": quests, "count": len(quests)})

    def marketplace(self, request: Request) -> Response:
        quests = [q for q in self.quests.values() if q["status"] == "OPEN"]
        quests = [self._quest(q) for q in quests]
        return Response(200, {"quests": quests, "count": len(quests)})

    def agents_list(self) -> list[dict[str, Any]]:
        return [
            {"agentId": a["agentId"], "wallet": {"credits": a["balance"]}}
            for a in self.members.values()
        ]

    def directory(self, request: Request) -> Response:
        return Response(200, {"agents": self.agents_list(), "count": len(self.members)})

    def _route(
        self, request: Request, act: Any, cls: str, names: list[str]
    ) -> Response:
        if request.token not in self.members:
            realm = {"WWW-Authenticate": "Bearer realm=lantern"}
            return Response(401, b"", realm)
        try:
            return Response(
                200, {"run": act(request.token, **receive(request, cls, names))}
            )
        except Refuse as no:
            return no.response

    def claim(self, request: Request) -> Response:
        return self._route(request, self._claim, "ClaimQuest", ["questId"])

    def submit(self, request: Request) -> Response:
        return self._route(request, self._submit, "SubmitAnswer", ["runId", "answer"])

    def complete(self, request: Request) -> Response:
        return self._route(request, self._complete, "CompleteRun", ["runId"])

    def _show(self, run: dict[str, Any]) -> dict[str, Any]:
        quest = self.quests[run["questId"]]
        shown = {k: run[k] for k in ("runId", "questId", "status")}
        return shown | {"bounty": self._quest(quest)["bounty"]}

    def _claim(self, token: str, questId: str) -> dict[str, Any]:
        quest = self.quests.get(questId)
        if quest is None:
            raise Refuse(404, "QUEST_NOT_FOUND", f"No quest with id {questId}")
        run = next(
            (
                r
                for r in self.runs.values()
                if r["questId"] == questId and r["token"] == token
            ),
            None,
        )
        if run is None:
            if quest["status"] != "OPEN":
                raise Refuse(409, "QUEST_NOT_OPEN", f"Quest is {quest['status']}")
            quest["status"] = "IN_PROGRESS"
            run = {"runId": str(uuid.uuid4()), "questId": questId, "token": token}
            run |= {"status": "STARTED", "due": 0.0}
            self.runs[run["runId"]] = run
            self.book.claimed(questId)
        task = {"text": quest["text"], "task": "Write the text in capital letters"}
        return self._show(run) | task

    def _run(self, token: str, number: str) -> dict[str, Any]:
        run = self.runs.get(number)
        if run is None:
            raise Refuse(404, "RUN_NOT_FOUND", f"No run with id {number}")
        if run["token"] != token:
            raise Refuse(403, "NOT_YOUR_RUN", "This run belongs to another agent")
        return run

    def _submit(self, token: str, runId: str, answer: str) -> dict[str, Any]:
        run = self._run(token, runId)
        if answer != str(self.quests[run["questId"]]["text"]).upper():
            raise Refuse(422, "WRONG_ANSWER", "The answer is not the text in capitals")
        if run["status"] == "STARTED":
            run["status"] = "ANSWERED"
        return self._show(run)

    def _complete(self, token: str, runId: str) -> dict[str, Any]:
        run = self._run(token, runId)
        if run["status"] == "STARTED":
            raise Refuse(409, "NOT_ANSWERED", "Submit an answer first")
        if run["status"] == "ANSWERED":
            run["status"], run["due"] = "SETTLING", time.monotonic() + SETTLE
            self.quests[run["questId"]]["status"] = "COMPLETED"
        return self._show(run)
