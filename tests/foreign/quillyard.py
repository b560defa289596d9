"""A start-up's service in Python on aiohttp; every check and sentence is by hand."""
# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_WORK = [
    ("Shout the slogan", "fresh bread every morning", 9),
    ("Banner headline", "harbour bridge reopens on friday", 14),
    ("Label for a crate", "fragile: this side up", 6),
    ("Poster line", "the circus is in town until june 3rd", 21),
    ("Sign for the gate", "please close the gate behind you", 11),
    ("Team chant", "we run, we row, we never say no", 17),
]
_PLANS = ("starter", "growth", "scale")


def _error(status: int, message: str) -> Response:
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    return Response(status, {"ok": False, "error": message}, headers)


class _Stop(Exception):  # noqa: N818
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.answer = _error(status, message)


def _stamp(minutes: int = 0) -> str:
    return (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat(
        timespec="seconds"
    )


class Quillyard(Backend):
    """Snake case, one complaint at a time, the text only in the claim's answer."""

    def __init__(self) -> None:
        super().__init__()
        self.work: dict[str, dict[str, Any]] = {}
        for title, text, reward in _WORK:
            key = f"tsk_{secrets.token_hex(4)}"
            self.work[key] = {
                "id": key,
                "title": title,
                "status": "open",
                "reward": reward,
                "text": text,
                "created_at": _stamp(-90),
            }
        self.members: dict[str, dict[str, Any]] = {}  # by token
        self.claims: dict[str, dict[str, Any]] = {}
        self.payouts: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {}

    def texts(self) -> dict[str, str]:
        return {key: task["text"] for key, task in self.work.items()}

    def missing(self, request: Request) -> Response:
        if any(path == request.path for _, path in ACTIONS):
            return Response(405, "405: Method Not Allowed")
        return Response(404, "404: Not Found")

    def _member(self, request: Request) -> dict[str, Any]:
        if not request.headers.get("Authorization"):
            raise _Stop(401, "Missing Authorization header")
        if not request.token:
            raise _Stop(401, "Authorization header must look like 'Bearer <token>'")
        if request.token not in self.members:
            raise _Stop(401, "Invalid access token")
        return self.members[request.token]

    def _body(self, request: Request) -> dict[str, Any]:
        try:
            body = request.json()
        except ValueError:
            raise _Stop(400, "Request body is not valid JSON") from None
        if not isinstance(body, dict):
            raise _Stop(400, "Request body must be a JSON object")
        return body

    def _text(self, body: dict[str, Any], name: str) -> str:
        if body.get(name) in (None, ""):
            raise _Stop(400, f"{name} is required")
        if not isinstance(body[name], str):
            raise _Stop(400, f"{name} must be a string")
        return body[name]

    def _own_claim(
        self, member: dict[str, Any], body: dict[str, Any]
    ) -> dict[str, Any]:
        key = self._text(body, "claim_id")
        claim = self.claims.get(key)
        if claim is None:
            raise _Stop(404, f"No claim with id {key}")
        if claim["agent_id"] != member["id"]:
            raise _Stop(403, "This claim belongs to another agent")
        return claim

    def register(self, request: Request) -> Response:
        self._body(request)
        token = f"qy_live_{secrets.token_urlsafe(24)}"
        key = f"agt_{secrets.token_hex(5)}"
        self.members[token] = {"id": key, "balance": 100, "joined_at": _stamp()}
        self.book.registrations += 1
        return Response(200, {"agent_id": key, "access_token": token, "credits": 100})

    def _listing(self, request: Request) -> Response:
        given = request.query.get("limit", "20")
        try:
            limit = int(given)
        except ValueError:
            return _error(400, "limit must be an integer")
        if not 1 <= limit <= 50:
            return _error(400, "limit must be between 1 and 50")
        found = [task for task in self.work.values() if task["status"] == "open"]
        shown = [
            {
                "id": task["id"],
                "title": task["title"],
                "instructions": "You get the input when you claim. Write all of it in "
                "upper case and change nothing else.",
                "reward": task["reward"],
                "status": task["status"],
                "created_at": task["created_at"],
            }
            for task in found[:limit]
        ]
        return Response(200, {"ok": True, "tasks": shown, "total": len(found)})

    def marketplace(self, request: Request) -> Response:
        return self._listing(request)

    def tasks(self, request: Request) -> Response:
        self._member(request)
        return self._listing(request)

    def agents(self, request: Request) -> Response:
        rows = [
            {"id": m["id"], "joined_at": m["joined_at"]} for m in self.members.values()
        ]
        return Response(200, {"ok": True, "agents": rows})

    def directory(self, request: Request) -> Response:
        slug = request.query.get("slug")
        if slug is None:
            return self.agents(request)
        if slug not in {member["id"] for member in self.members.values()}:
            return _error(404, f"No agent with slug {slug}")
        return Response(
            200, {"ok": True, "manifest": {"slug": slug, "skills": ["text"]}}
        )

    def checkout(self, request: Request) -> Response:
        body = self._body(request)
        for name in ("plan", "agent_id", "price_id"):
            self._text(body, name)
        if body["plan"] not in _PLANS:
            return _error(400, f"plan must be one of: {', '.join(_PLANS)}")
        for name in ("requested_credits", "amount_cents"):
            if type(body.get(name)) is not int or body[name] <= 0:
                return _error(400, f"{name} must be a positive integer")
        session = f"cs_{secrets.token_hex(8)}"
        return Response(
            200,
            {
                "ok": True,
                "sessionId": session,
                "mode": "payment",
                "url": f"https://pay.quillyard.example/{session}",
                "agentId": body["agent_id"],
                "plan": body["plan"],
            },
        )

    def post(self, request: Request) -> Response:
        self._member(request)
        return _error(403, "Posting tasks is not available on the free plan")

    def claim(self, request: Request) -> Response:
        member = self._member(request)
        key = self._text(self._body(request), "task_id")
        task = self.work.get(key)
        if task is None:
            return _error(404, f"No task with id {key}")
        for claim in self.claims.values():  # asking again gives the same claim
            if claim["task_id"] == key and claim["agent_id"] == member["id"]:
                return Response(200, {"ok": True, "claim": self._shown(claim)})
        if task["status"] != "open":
            return _error(409, "Task has already been claimed by another agent")
        task["status"] = "in_progress"
        claim = {
            "id": f"clm_{secrets.token_hex(6)}",
            "task_id": key,
            "agent_id": member["id"],
            "status": "in_progress",
            "expires_at": _stamp(60),
            "output": None,
        }
        self.claims[claim["id"]] = claim
        self.book.claimed(key)
        return Response(200, {"ok": True, "claim": self._shown(claim)})

    def _shown(self, claim: dict[str, Any]) -> dict[str, Any]:
        shown = {
            name: claim[name] for name in ("id", "task_id", "status", "expires_at")
        }
        return {**shown, "input": self.work[claim["task_id"]]["text"]}

    def submit(self, request: Request) -> Response:
        member = self._member(request)
        body = self._body(request)
        claim = self._own_claim(member, body)
        output = self._text(body, "output")
        spent = body.get("time_spent")
        if spent is None:
            return _error(400, "time_spent is required (in seconds)")
        if type(spent) not in (int, float) or spent <= 0:
            return _error(400, "time_spent must be a positive number of seconds")
        if claim["status"] == "done":
            return _error(409, "This claim is already done")
        if output != self.work[claim["task_id"]]["text"].upper():
            return _error(
                422,
                "output did not pass our check: it must be the input in "
                "upper case. You can submit again.",
            )
        claim["output"] = output
        claim["status"] = self.work[claim["task_id"]]["status"] = "submitted"
        return Response(
            200, {"ok": True, "claim_id": claim["id"], "status": "submitted"}
        )

    def complete(self, request: Request) -> Response:
        member = self._member(request)
        claim = self._own_claim(member, self._body(request))
        key = (request.headers.get("Idempotency-Key") or "").strip()
        if not key:
            return _error(
                400, "Idempotency-Key header is required: completing pays you"
            )
        if (member["id"], key) in self.payouts:
            used, answer = self.payouts[member["id"], key]
            if used != claim["id"]:
                return _error(409, "Idempotency-Key was already used for another claim")
            return Response(200, answer)
        if claim["status"] == "in_progress":
            return _error(409, "Nothing has been submitted for this claim yet")
        if claim["status"] == "done":
            return _error(409, "This claim is already done")
        task = self.work[claim["task_id"]]
        claim["status"] = task["status"] = "done"
        member["balance"] += task["reward"]
        self.book.pay(task["id"], task["reward"])
        answer = {
            "ok": True,
            "claim_id": claim["id"],
            "status": "done",
            "credits_earned": task["reward"],
            "balance": member["balance"],
        }
        self.payouts[member["id"], key] = (claim["id"], answer)
        return Response(200, answer)


def _guarded(handler: Callable[..., Response]) -> Callable[..., Response]:
    """The service's error middleware: a raised refusal becomes its answer."""

    def call(self: Backend, request: Request) -> Response:
        try:
            return handler(self, request)
        except _Stop as stop:
            return stop.answer

    return call


for _name in set(ACTIONS.values()):
    setattr(Quillyard, _name, _guarded(getattr(Quillyard, _name)))
