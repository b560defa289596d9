"""Errandly: a start-up's Rails API (strong parameters, validations, kaminari pages)."""
# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_TITLES = {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden"}
_TITLES |= {404: "Not Found", 422: "Unprocessable Entity", 500: "Internal Server Error"}
_PHRASES = [
    ("Window sign for a bakery", "fresh rolls from six in the morning", 12),
    ("Door plate", "please ring twice and wait", 8),
    ("Banner for a summer fair", "tombola, lemonade and a brass band", 30),
    ("Stamp for parcels", "fragile - this side up", 5),
    ("Title card", "the lighthouse keeper's daughter", 18),
    ("Label for jam jars", "damson and plum, 2023", 9),
    ("Poster headline", "last chance to vote on the new park", 24),
]


class _Halt(Exception):  # noqa: N818
    """An answer that a before_action or rescue_from gives instead of the action."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


def _rescued(action: Callable[[Any, Request], Response]) -> Any:
    def run(self: "Errandly", request: Request) -> Response:
        try:
            return action(self, request)
        except _Halt as halt:
            return halt.response

    return run


class Errandly(Backend):
    """Nested parameters, `errors` with pointers, pages by number, pay on completion."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._tasks = {
            311 + 2 * i: {
                "id": 311 + 2 * i,
                "title": title,
                "instructions": "Reply with the phrase in capital letters.",
                "phrase": phrase,
                "reward": f"{reward}.0",  # a decimal column
                "state": "open",
                "poster": {"id": 17 + i % 3, "display_name": "Signs & Sons"},
                "created_at": self._now(),
            }
            for i, (title, phrase, reward) in enumerate(_PHRASES)
        }
        self._claims: dict[int, dict[str, Any]] = {}
        self._submissions: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(key): task["phrase"] for key, task in self._tasks.items()}

    def handle(self, request: Request) -> Response:
        answer = super().handle(request)
        answer.headers.setdefault("Content-Type", "application/json; charset=utf-8")
        answer.headers["X-Request-Id"] = str(uuid.uuid4())
        return answer

    def missing(self, request: Request) -> Response:
        return Response(404, {"status": 404, "error": "Not Found"})

    # ---- what ApplicationController has

    @staticmethod
    def _now() -> str:
        return datetime.now(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"

    @staticmethod
    def _errors(status: int, *errors: tuple[str, str]) -> Response:
        common = {"status": str(status), "title": _TITLES[status]}
        rows = []
        for pointer, detail in errors:
            source = {"source": {"pointer": pointer}} if pointer else {}
            rows.append({**common, "detail": detail, **source})
        return Response(status, {"errors": rows})

    def _invalid(self, model: str, errors: list[tuple[Any, str, str]]) -> Response:
        """Render the validation errors of a record, as full messages."""
        rows = []
        for failed, attribute, message in errors:
            human = attribute.removesuffix("_id").replace("_", " ").capitalize()
            if failed:
                rows.append((f"/{model}/{attribute}", f"{human} {message}"))
        return self._errors(422, *rows)

    def _params(self, request: Request) -> dict[str, Any]:
        params: dict[str, Any] = dict(request.query)
        kind = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
        if kind == "application/json" and request.raw.strip():
            try:
                body = request.json()
            except ValueError:
                detail = "Error occurred while parsing request parameters"
                raise _Halt(self._errors(400, ("", detail))) from None
            params.update(body if isinstance(body, dict) else {"_json": body})
        return params

    def _require(self, params: dict[str, Any], key: str) -> Any:
        value = params.get(key)
        if value in (None, "", {}, []):
            detail = f"param is missing or the value is empty: {key}"
            raise _Halt(self._errors(400, ("", detail)))
        return value

    def _permit(self, request: Request, key: str, *names: str) -> dict[str, Any]:
        value = self._require(self._params(request), key)
        if not isinstance(value, dict):  # NoMethodError: undefined method `permit'
            raise _Halt(Response(500, {"status": 500, "error": _TITLES[500]}))
        scalars = {k: v for k, v in value.items() if isinstance(v, str | int | float)}
        return {name: scalars[name] for name in names if name in scalars}

    def _current_agent(self, request: Request) -> dict[str, Any]:
        if agent := self._agents.get(request.token):
            return agent
        refusal = self._errors(401, ("", "HTTP Token: Access denied."))
        refusal.headers["WWW-Authenticate"] = 'Token realm="Application"'
        raise _Halt(refusal)

    @staticmethod
    def _integer(value: Any) -> int | None:
        if value in (None, ""):
            return None
        try:
            return int(float(str(value)))
        except (ValueError, OverflowError):
            return 0

    # ---- the actions

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token, key = secrets.token_urlsafe(18), f"agt-{1040 + len(self._agents)}"
        self._agents[token] = {"id": key, "credits": 100}
        return Response(200, {"agent_id": key, "access_token": token, "credits": 100})

    @_rescued
    def tasks(self, request: Request) -> Response:
        self._current_agent(request)
        return self.marketplace(request)

    def marketplace(self, request: Request) -> Response:
        rows = [task for task in self._tasks.values() if task["state"] == "open"]
        size = min(max(self._integer(request.query.get("limit")) or 4, 1), 25)
        page = max(self._integer(request.query.get("page")) or 1, 1)
        pages = -(-len(rows) // size)
        meta = {"current_page": page, "total_pages": pages, "total_count": len(rows)}
        meta["next_page"] = page + 1 if page < pages else None
        rows = rows[(page - 1) * size : page * size]
        return Response(200, {"tasks": rows, "meta": meta})

    def agents(self, request: Request) -> Response:
        rows = [{"id": agent["id"]} for agent in self._agents.values()]
        return Response(200, {"agents": rows, "meta": {"total_count": len(rows)}})

    directory = agents

    @_rescued
    def claim(self, request: Request) -> Response:
        agent = self._current_agent(request)
        given = self._permit(request, "claim", "task_id", "estimated_minutes")
        task_id = self._integer(given.get("task_id"))
        task = self._tasks.get(task_id or 0)
        minutes = str(given.get("estimated_minutes", ""))
        number = bool(re.fullmatch(r"-?\d+(\.\d+)?", minutes))
        low = number and float(minutes) <= 0
        mine = [c for c in self._claims.values() if c["agent_id"] == agent["id"]]
        busy = sum(c["state"] == "active" for c in mine) >= 3
        errors = [
            (task is None, "task", "must exist"),
            (task_id is None, "task_id", "can't be blank"),
            (task and task["state"] != "open", "task_id", "has already been taken"),
            (not minutes, "estimated_minutes", "can't be blank"),
            (not number, "estimated_minutes", "is not a number"),
            (low, "estimated_minutes", "must be greater than 0"),
            (busy, "agent", "can't have more than 3 active claims"),
        ]
        if task is None or any(failed for failed, _, _ in errors):
            return self._invalid("claim", errors)
        task["state"] = "claimed"
        claim = {"id": 901 + len(self._claims), "task_id": task["id"]}
        claim |= {"estimated_minutes": self._integer(minutes), "state": "active"}
        claim["agent_id"] = agent["id"]
        self._claims[claim["id"]] = claim
        self.book.claimed(str(task["id"]))
        return Response(200, {"claim": claim})

    @_rescued
    def submit(self, request: Request) -> Response:
        agent = self._current_agent(request)
        given = self._permit(request, "submission", "claim_id", "body")
        claim_id = self._integer(given.get("claim_id"))
        claim = self._claims.get(claim_id or 0)
        claim = claim if claim and claim["agent_id"] == agent["id"] else None
        used = claim and claim["state"] != "active"
        body = str(given.get("body", ""))
        right = self._tasks[claim["task_id"]]["phrase"].upper() if claim else body
        errors = [
            (claim is None, "claim", "must exist"),
            (claim_id is None, "claim_id", "can't be blank"),
            (used, "claim_id", "has already been taken"),
            (not body.strip(), "body", "can't be blank"),
            (body.strip() and body != right, "body", "is not what the task asks for"),
        ]
        if claim is None or any(failed for failed, _, _ in errors):
            return self._invalid("submission", errors)
        claim["state"] = "delivered"
        submission = {"id": 5501 + len(self._submissions), "claim_id": claim["id"]}
        submission |= {"body": body, "state": "accepted"}
        self._submissions[submission["id"]] = submission
        return Response(200, {"submission": submission})

    @_rescued
    def complete(self, request: Request) -> Response:
        agent = self._current_agent(request)
        wanted = self._require(self._params(request), "submission_id")
        submission = self._submissions.get(self._integer(wanted) or 0)
        claim = self._claims[submission["claim_id"]] if submission else None
        if not submission or not claim or claim["agent_id"] != agent["id"]:
            detail = f"Couldn't find Submission with 'id'={wanted}"
            return self._errors(404, ("", detail))
        if submission["state"] != "accepted":
            detail = "Event 'complete' cannot transition from 'completed'."
            return self._errors(422, ("", detail))
        task = self._tasks[claim["task_id"]]
        submission["state"] = task["state"] = "completed"
        agent["credits"] += int(float(task["reward"]))
        self.book.pay(str(task["id"]), int(float(task["reward"])))
        payout = {"amount": task["reward"], "state": "paid"}
        return Response(200, {"task": task, "payout": payout})

    @_rescued
    def post(self, request: Request) -> Response:
        self._current_agent(request)
        return self._errors(403, ("", "not allowed to create? this Task"))
