"""A small team's service in Ruby on Grape: grape-entity, api-pagination, bare arrays.

Grape's own parameter checks answer 400 with one sentence that joins every complaint.
"""
# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_TASKS = [
    (1207, "Harbour notice", "the ferry leaves from pier nine", 14),
    (1208, "Bakery window", "fresh rye every morning at six", 9),
    (1211, "Trail marker", "keep left at the old stone bridge", 22),
    (1212, "Library card", "please return books within two weeks", 11),
    (1215, "Radio jingle", "good evening, northern valley!", 30),
    (1216, "Museum label", "oil lamp, bronze, about 200 bc", 17),
    (1219, "Garden sign", "mind the seedlings", 6),
    (1223, "Train display", "next stop: willow junction", 25),
]
_CLAIMS_AT_ONCE = 3
_BAD_JSON = "message body does not match declared format: it is not valid JSON"


class _Halt(Exception):  # noqa: N818
    """Grape's error!: leaves the endpoint with a message and a status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.response = Response(status, {"error": message})


def _iso(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"


def _coerce(kind: str, value: Any) -> Any:
    """Coerce as dry-types' params do, or raise ValueError."""
    if isinstance(value, list) or isinstance(value, dict) != (kind == "Hash"):
        raise ValueError
    if kind == "Hash":
        return value
    if kind == "Integer":
        return int(str(value))
    if kind == "DateTime":
        moment = datetime.fromisoformat(str(value).strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _params(request: Request) -> dict[str, Any]:
    params: dict[str, Any] = dict(request.query)
    media = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
    if not request.raw.strip():
        return params
    if media == "application/x-www-form-urlencoded":
        for name, value in parse_qsl(request.raw.decode(errors="replace")):
            outer, _, inner = name.partition("[")  # work[text]=... nests
            if not inner:
                params[outer] = value
            elif isinstance(params.setdefault(outer, {}), dict):
                params[outer][inner.rstrip("]")] = value
        return params
    if media not in ("application/json", ""):
        raise _Halt(f"The provided content-type '{media}' is not supported.", 415)
    try:
        body = request.json()
    except ValueError:
        raise _Halt(_BAD_JSON, 400) from None
    return params | body if isinstance(body, dict) else params


def _requires(params: dict[str, Any], **wanted: str) -> dict[str, Any]:
    """Check and coerce; a name such as work__text stands for work[text]."""
    found: dict[str, Any] = {}
    problems = []
    for name, kind in wanted.items():
        outer, _, inner = name.partition("__")
        shown = f"{outer}[{inner}]" if inner else outer
        holder = params.get(outer) if inner else params
        if inner and outer in params and not isinstance(holder, dict):
            continue  # the outer one is already invalid
        if not isinstance(holder, dict) or (inner or outer) not in holder:
            problems.append(f"{shown} is missing")
            continue
        value = holder[inner or outer]
        if value is None or (isinstance(value, str) and not value.strip()):
            problems.append(f"{shown} is empty")
            continue
        try:
            found[name] = _coerce(kind, value)
        except ValueError:
            problems.append(f"{shown} is invalid")
    if problems:
        raise _Halt(", ".join(problems), 400)
    return found


class Grapevine(Backend):
    """Integer ids, a finish_by date to claim, work[text] to submit; completion pays."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}
        self._claims: dict[int, dict[str, Any]] = {}
        posted = datetime.now(UTC) - timedelta(hours=5)
        self._tasks = {
            number: {
                "id": number,
                "name": name,
                "instructions": "Send back the passage in upper case, otherwise as is.",
                "passage": passage,
                "pay": pay,
                "status": "open",
                "deadline": _iso(posted + timedelta(days=4)),
                "posted_at": _iso(posted),
            }
            for number, name, passage, pay in _TASKS
        }

    def texts(self) -> dict[str, str]:
        """Return the passages by task id."""
        return {str(number): passage for number, _, passage, _ in _TASKS}

    def __getattribute__(self, name: str) -> Any:
        """Wrap every action so that error! ends it."""
        member = super().__getattribute__(name)
        if name not in ACTIONS.values():
            return member

        def endpoint(request: Request) -> Response:
            try:
                return member(request)
            except _Halt as halt:
                return halt.response

        return endpoint

    def missing(self, request: Request) -> Response:
        """Answer 405 where another verb exists, else 404."""
        verbs = {path: verb for verb, path in ACTIONS}
        if verbs.get(request.path, request.method) != request.method:
            return Response(405, {"error": "405 Not Allowed"})
        return Response(404, {"error": "404 Not Found"})

    def _current_agent(self, request: Request) -> dict[str, Any]:
        agent = self._agents.get(request.token)
        if agent is None:
            raise _Halt("401 Unauthorized", 401)
        return agent

    def _claim_of(self, agent: dict[str, Any], number: int) -> dict[str, Any]:
        claim = self._claims.get(number, {})
        if claim.get("agent_id") != agent["agent_id"]:
            raise _Halt(f"Couldn't find Claim with 'id'={number}", 404)
        return claim

    def register(self, request: Request) -> Response:
        """Create an agent."""
        _params(request)
        self.book.registrations += 1
        token = secrets.token_urlsafe(24)
        agent = {"agent_id": f"agt_{secrets.token_hex(6)}", "credits": 100}
        self._agents[token] = agent
        return Response(200, {**agent, "access_token": token})

    def marketplace(self, request: Request) -> Response:
        """List all open tasks, without paging."""
        return Response(200, [t for t in self._tasks.values() if t["status"] == "open"])

    def tasks(self, request: Request) -> Response:
        """List a page of open tasks; api-pagination puts the rest into headers."""
        self._current_agent(request)
        asked = {"limit": "5", "page": "1"} | request.query
        asked = _requires(asked, limit="Integer", page="Integer")
        limit, page = asked["limit"], asked["page"]
        for name, number in asked.items():
            if not 1 <= number <= 50:
                raise _Halt(f"{name} does not have a valid value", 400)
        found = self.marketplace(request).body
        last = max(1, -(-len(found) // limit))
        pages = {"last": last, "next": page + 1} if page < last else {}
        links = ", ".join(
            f'<{request.base}{request.path}?limit={limit}&page={to}>; rel="{rel}"'
            for rel, to in pages.items()
        )
        headers = {"Total": str(len(found)), "Per-Page": str(limit)}
        headers |= {"Link": links} if links else {}
        return Response(200, found[(page - 1) * limit : page * limit], headers)

    def claim(self, request: Request) -> Response:
        """Give a task to the agent until finish_by."""
        agent = self._current_agent(request)
        given = _requires(_params(request), task_id="Integer", finish_by="DateTime")
        task = self._tasks.get(given["task_id"])
        if task is None:
            raise _Halt(f"Couldn't find Task with 'id'={given['task_id']}", 404)
        if task["status"] != "open":
            raise _Halt(f"Task is already {task['status']}", 409)
        if given["finish_by"] <= datetime.now(UTC):
            raise _Halt("finish_by must be in the future", 422)
        if given["finish_by"] > datetime.fromisoformat(task["deadline"]):
            raise _Halt(f"finish_by must not be after {task['deadline']}", 422)
        mine = [c for c in self._claims.values() if c["agent_id"] == agent["agent_id"]]
        if sum(c["status"] != "completed" for c in mine) >= _CLAIMS_AT_ONCE:
            raise _Halt(f"You already have {_CLAIMS_AT_ONCE} unfinished claims", 422)
        number = 88 + len(self._claims)
        task["status"] = "claimed"
        self.book.claimed(str(task["id"]))
        self._claims[number] = {
            "id": number,
            "agent_id": agent["agent_id"],
            "task_id": task["id"],
            "status": "active",
            "finish_by": _iso(given["finish_by"]),
        }
        return Response(200, self._claims[number])

    def submit(self, request: Request) -> Response:
        """Take the work if it is right."""
        agent = self._current_agent(request)
        given = _requires(
            _params(request), claim_id="Integer", work="Hash", work__text="String"
        )
        claim = self._claim_of(agent, given["claim_id"])
        if claim["status"] != "active":
            raise _Halt(f"Claim is already {claim['status']}", 409)
        if given["work__text"] != self._tasks[claim["task_id"]]["passage"].upper():
            raise _Halt("Validation failed: Text is not the passage in upper case", 422)
        claim |= {"status": "submitted", "submitted_at": _iso(datetime.now(UTC))}
        return Response(200, claim)

    def complete(self, request: Request) -> Response:
        """Close the claim and pay."""
        agent = self._current_agent(request)
        given = _requires(_params(request), claim_id="Integer", summary="String")
        claim = self._claim_of(agent, given["claim_id"])
        if claim["status"] == "active":
            raise _Halt("Nothing has been submitted for this claim yet", 422)
        if claim["status"] == "completed":
            raise _Halt("Claim is already completed", 409)
        task = self._tasks[claim["task_id"]]
        claim |= {"status": "completed", "summary": given["summary"]}
        task["status"] = "completed"
        self.book.pay(str(task["id"]), task["pay"])
        agent["credits"] += task["pay"]
        return Response(200, claim | {"paid": task["pay"], "balance": agent["credits"]})
