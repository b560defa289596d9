"""TaskHive: a start-up's service in PHP on Laravel 11 (Form Requests, API resources, Sanctum)."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any
from urllib.parse import parse_qsl, urlencode

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_TASKS = [
    (
        1041,
        "Shout the harbour notice",
        12,
        "The ferry to Brenna leaves at noon, not at one.",
    ),
    (1042, "Headline for the bakery", 8, "Fresh rye bread every morning from six"),
    (1044, "Label for the parcel", 20, "Handle with care: glass inside"),
    (1047, "Banner for the fair", 5, "Welcome to the 14th autumn fair"),
    (1048, "Sign for the café", 15, "Le café est fermé le lundi"),
]
_UUID = r"(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_ULID = "0123456789abcdefghjkmnpqrstvwxyz"


class _Abort(Exception):  # noqa: N818
    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(status)
        self.response = Response(status, body, {"Cache-Control": "no-cache, private"})


def _invalid(errors: dict[str, list[str]]) -> _Abort:
    every = [line for lines in errors.values() for line in lines]
    more = (
        f" (and {len(every) - 1} more error{'s'[: len(every) - 2]})"
        if every[1:]
        else ""
    )
    return _Abort(422, {"message": every[0] + more, "errors": errors})


def _route(
    method: Callable[[Any, Request], Response],
) -> Callable[[Any, Request], Response]:
    @wraps(method)
    def wrapped(self: Any, request: Request) -> Response:
        try:
            return method(self, request)
        except _Abort as abort:
            return abort.response

    return wrapped


def _clean(value: Any) -> Any:
    """The middleware TrimStrings and ConvertEmptyStringsToNull."""
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items()}
    return value


def _input(request: Request) -> dict[str, Any]:
    """What $request->all() holds: JSON or a form, and nothing if it is neither."""
    data: Any = {}
    if "json" in (request.headers.get("Content-Type") or ""):
        try:  # noqa: SIM105
            data = request.json()
        except ValueError:
            pass
    else:
        for key, value in parse_qsl(request.raw.decode(errors="replace"), True):
            outer, _, inner = key.rstrip("]").partition("[")
            data[outer] = {inner: value} if inner else value
    return _clean(data) if isinstance(data, dict) else {}


def _is_integer(value: Any) -> bool:
    return isinstance(value, (int, str)) and bool(
        re.fullmatch(r"[+-]?(0|[1-9]\d*)", str(value))
    )


_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "integer": ("an integer", _is_integer),
    "string": ("a string", lambda value: isinstance(value, str)),
    "array": ("an array", lambda value: isinstance(value, (dict, list))),
    "uuid": ("a valid UUID", lambda value: bool(re.fullmatch(_UUID, str(value)))),
}


def _validate(data: dict[str, Any], rules: dict[str, str]) -> dict[str, Any]:
    """A Form Request: `required|integer|min:1` and so on, as Laravel words them."""
    errors: dict[str, list[str]] = {}
    found: dict[str, Any] = {}
    for name, line in rules.items():
        value: Any = data
        for part in name.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        label, failed = name.replace("_", " "), []
        for rule, _, bound in (rule.partition(":") for rule in line.split("|")):
            if rule == "required" and value in (None, [], {}):
                failed.append(f"The {label} field is required.")
                break
            if rule == "accepted" and value not in ("yes", "on", "1", 1, True, "true"):
                failed.append(f"The {label} field must be accepted.")
            if value is None:
                continue
            if rule in _KINDS and not _KINDS[rule][1](value):
                failed.append(f"The {label} field must be {_KINDS[rule][0]}.")
            elif rule == "min" and _is_integer(value) and int(value) < int(bound):
                failed.append(f"The {label} field must be at least {bound}.")
            elif rule == "max" and _is_integer(value) and int(value) > int(bound):
                failed.append(f"The {label} field must not be greater than {bound}.")
        if failed:
            errors[name] = failed
        found[name] = int(value) if "integer" in line and _is_integer(value) else value
    if errors:
        raise _invalid(errors)
    return found


def _stamp(hours: int = 0) -> str:
    moment = datetime.now(UTC) + timedelta(hours=hours)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000000Z")


class TaskHive(Backend):
    """Laravel: `data` around everything, snake_case, 422 with messages for each field."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._tasks = {
            key: {"id": key, "title": title, "reward_credits": pay, "source_text": text,
                  "description": "Rewrite the source text in capital letters. Change nothing else.",
                  "status": "open", "created_at": _stamp(-30)}
            for key, title, pay, text in _TASKS
        }  # fmt: skip
        self._claims: dict[str, dict[str, Any]] = {}
        self._submissions: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(key): task["source_text"] for key, task in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        path = request.path.strip("/")
        for method, known in ACTIONS:
            if known == request.path and method != request.method:
                allow = "GET, HEAD" if method == "GET" else method
                said = (
                    f"The {request.method} method is not supported for route {path}. "
                )
                return Response(405, {"message": f"{said}Supported methods: {allow}."})
        return Response(404, {"message": f"The route {path} could not be found."})

    def _user(self, request: Request) -> dict[str, Any]:  # auth:sanctum
        if request.token in self._agents:
            return self._agents[request.token]
        raise _Abort(401, {"message": "Unauthenticated."})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = f"{self.book.registrations}|{secrets.token_hex(24)}"
        ulid = "01jb" + "".join(secrets.choice(_ULID) for _ in range(22))
        self._agents[token] = {"id": ulid, "credits": 100}
        return Response(200, {"agent_id": ulid, "access_token": token, "credits": 100})

    def _page(self, request: Request, rows: list[Any]) -> Response:
        query = {key: value or None for key, value in request.query.items()}
        asked = _validate(
            query, {"limit": "integer|min:1|max:50", "page": "integer|min:1"}
        )
        size, page = asked["limit"] or 15, asked["page"] or 1
        last, start = max(1, -(-len(rows) // size)), (page - 1) * size
        shown, path = rows[start : start + size], request.base + request.path

        def url(number: int) -> str | None:
            link = urlencode({**request.query, "page": number})
            return f"{path}?{link}" if 1 <= number <= last else None

        links = {
            "first": url(1),
            "last": url(last),
            "prev": url(page - 1),
            "next": url(page + 1),
        }
        ends = (start + 1, start + len(shown)) if shown else (None, None)
        meta = {"current_page": page, "from": ends[0], "last_page": last, "path": path,
                "per_page": size, "to": ends[1], "total": len(rows)}  # fmt: skip
        return Response(200, {"data": shown, "links": links, "meta": meta})

    @_route
    def marketplace(self, request: Request) -> Response:
        return self._page(
            request, [t for t in self._tasks.values() if t["status"] == "open"]
        )

    @_route
    def tasks(self, request: Request) -> Response:
        self._user(request)
        return self.marketplace(request)

    @_route
    def agents(self, request: Request) -> Response:
        return self._page(
            request, [{"id": agent["id"]} for agent in self._agents.values()]
        )

    directory = agents

    @_route
    def post(self, request: Request) -> Response:
        self._user(request)
        raise _Abort(403, {"message": "Your email address is not verified."})

    checkout = post

    @_route
    def claim(self, request: Request) -> Response:
        user = self._user(request)
        wanted = _validate(_input(request), {"task_id": "required|integer"})["task_id"]
        task = self._tasks.get(wanted)
        if task is None:
            raise _invalid({"task_id": ["The selected task id is invalid."]})
        if task["status"] != "open":
            raise _Abort(409, {"message": "This task has already been claimed."})
        task["status"] = "claimed"
        claim = {"id": str(uuid.uuid4()), "status": "active", "expires_at": _stamp(24)}
        self._claims[claim["id"]] = {**claim, "user": user, "task": task}
        self.book.claimed(str(wanted))
        return Response(200, {"data": {**claim, "task": task}})

    @_route
    def submit(self, request: Request) -> Response:
        user = self._user(request)
        sent = _validate(_input(request), {
            "claim_id": "required|uuid", "result": "required|array",
            "result.text": "required|string", "time_spent_minutes": "required|integer|min:1",
        })  # fmt: skip
        claim = self._claims.get(sent["claim_id"].lower())
        if claim is None:
            raise _invalid({"claim_id": ["The selected claim id is invalid."]})
        if claim["user"] is not user:
            raise _Abort(403, {"message": "This action is unauthorized."})
        if claim["status"] != "active":
            raise _Abort(
                409, {"message": "A result has already been submitted for this claim."}
            )
        if sent["result.text"] != claim["task"]["source_text"].upper():
            raise _invalid(
                {"result.text": ["The result does not match what the task asks for."]}
            )
        claim["status"], claim["task"]["status"] = "submitted", "in_review"
        row = {
            "id": 301 + len(self._submissions),
            "status": "approved",
            "created_at": _stamp(),
        }
        self._submissions[row["id"]] = claim
        return Response(200, {"data": row})

    @_route
    def complete(self, request: Request) -> Response:
        user = self._user(request)
        rules = {"submission_id": "required|integer", "confirmed": "accepted"}
        sent = _validate(_input(request), rules)
        claim = self._submissions.get(sent["submission_id"])
        if claim is None:
            raise _invalid(
                {"submission_id": ["The selected submission id is invalid."]}
            )
        task = claim["task"]
        if claim["user"] is not user:
            raise _Abort(403, {"message": "This action is unauthorized."})
        if task["status"] == "completed":
            raise _Abort(409, {"message": "This task has already been completed."})
        task["status"] = claim["status"] = "completed"
        user["credits"] += task["reward_credits"]
        self.book.pay(str(task["id"]), task["reward_credits"])
        paid = {
            "credits_earned": task["reward_credits"],
            "credits_balance": user["credits"],
        }
        return Response(200, {"data": {"task": task, **paid}})
