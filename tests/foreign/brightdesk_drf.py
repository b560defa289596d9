"""Brightdesk: a small company's Django REST Framework service, serializers and viewsets."""

import re
import secrets
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from .backend import Backend, Request, Response  # noqa: TID252

_TASKS = [
    ("Invoice heading", "invoice for services rendered in march", "15.00"),
    ("Warning label", "do not open while the lamp is lit", "22.00"),
    ("Shelf sign", "spices, oils & vinegar", "9.00"),
    ("Name badge", "renée van der meer", "6.00"),
    ("Form title", "request for annual leave (form 12b)", "28.00"),
    ("Door notice", "back in 10 minutes", "35.00"),
]
_NOT_FOUND = """
<!doctype html>
<html lang="en">
<head><title>Not Found</title></head>
<body><h1>Not Found</h1><p>The requested resource was not found on this server.</p></body>
</html>
"""
_DURATION = re.compile(r"(\d+ (days?, )?)?(\d+:(?=\d+:\d+))?(\d+:)?\d+([.,]\d{1,6})?")
_ISO_DURATION = re.compile(r"P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?")


def _stamp() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _today() -> date:
    return datetime.now(UTC).date()


class _APIException(Exception):  # noqa: N818
    def __init__(
        self, status: int, body: Any, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(str(body))
        self.status, self.body, self.headers = status, body, headers or {}


class _Invalid(Exception):  # noqa: N818
    """A field's ValidationError."""


# The serializer fields; each returns the internal value.
def _char(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise _Invalid("Not a valid string.")
    if str(value).strip() == "":
        raise _Invalid("This field may not be blank.")
    return str(value)


def _integer(value: Any) -> int:
    if not re.fullmatch(r"-?\d+", str(value)):
        raise _Invalid("A valid integer is required.")
    return int(value)


def _date(value: Any) -> date:
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        wanted = "Use one of these formats instead: YYYY-MM-DD."
        raise _Invalid(f"Date has wrong format. {wanted}") from None


def _duration(value: Any) -> str:
    text = str(value)
    if not _DURATION.fullmatch(text) and not _ISO_DURATION.fullmatch(text):
        wanted = "Use one of these formats instead: [DD] [HH:[MM:]]ss[.uuuuuu]."
        raise _Invalid(f"Duration has wrong format. {wanted}")
    return text


def _related(rows: dict[int, dict[str, Any]]) -> Any:
    def field(value: Any) -> dict[str, Any]:
        try:
            key = int("" if isinstance(value, (bool, dict, list)) else value)
        except (ValueError, OverflowError):
            kind = type(value).__name__
            raise _Invalid(
                f"Incorrect type. Expected pk value, received {kind}."
            ) from None
        if key not in rows:
            raise _Invalid(f'Invalid pk "{value}" - object does not exist.')
        return rows[key]

    return field


class Brightdesk(Backend):
    """snake_case, integer keys, limit/offset pages; an accepted submission pays."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._assignments: dict[int, dict[str, Any]] = {}
        self._tasks: dict[int, dict[str, Any]] = {}
        for number, (name, text, reward) in enumerate(_TASKS):
            key = 31 + number
            self._tasks[key] = {
                "id": key,
                "name": name,
                "instructions": "Write source_text in upper case letters.",
                "source_text": text,
                "reward": reward,
                "state": "open",
                "deadline": str(_today() + timedelta(days=10 + number)),
                "created": _stamp(),
            }

    def texts(self) -> dict[str, str]:
        return {str(key): task["source_text"] for key, task in self._tasks.items()}

    def handle(self, request: Request) -> Response:
        answer = super().handle(request)
        answer.headers.update({"Vary": "Accept", "X-Frame-Options": "DENY"})
        return answer

    def missing(self, request: Request) -> Response:
        return Response(404, _NOT_FOUND, {"Content-Type": "text/html; charset=utf-8"})

    # What the framework does before and after a view.
    def _user(self, request: Request) -> dict[str, Any]:
        challenge = {"WWW-Authenticate": "Bearer"}
        if request.token not in self._agents:
            missing = "Authentication credentials were not provided."
            raise _APIException(
                401,
                {"detail": "Invalid token." if request.token else missing},
                challenge,
            )
        return self._agents[request.token]

    def _view(self, request: Request, action: Any, *arguments: Any) -> Response:
        try:
            return Response(
                200,
                action(request, *arguments),
                {"Allow": f"{request.method}, HEAD, OPTIONS"},
            )
        except _APIException as error:
            return Response(error.status, error.body, error.headers)

    def _data(self, request: Request) -> Any:
        if not request.raw:
            return {}
        media = request.headers.get("Content-Type") or ""
        if media.partition(";")[0].strip().lower() != "application/json":
            raise _APIException(
                415, {"detail": f'Unsupported media type "{media}" in request.'}
            )
        try:
            return request.json()
        except ValueError as error:
            raise _APIException(
                400, {"detail": f"JSON parse error - {error}"}
            ) from None

    def _serializer(self, request: Request, **fields: Any) -> dict[str, Any]:
        data = self._data(request)
        if not isinstance(data, dict):
            sentence = (
                f"Invalid data. Expected a dictionary, but got {type(data).__name__}."
            )
            raise _APIException(400, {"non_field_errors": [sentence]})
        values, errors = {}, {}
        for name, field in fields.items():
            if name not in data:
                errors[name] = ["This field is required."]
            elif data[name] is None:
                errors[name] = ["This field may not be null."]
            else:
                try:
                    values[name] = field(data[name])
                except _Invalid as error:
                    errors[name] = [str(error)]
        if errors:
            raise _APIException(400, errors)
        return values

    def _mine(self, user: dict[str, Any]) -> Any:
        rows = self._assignments.items()
        return _related(
            {key: row for key, row in rows if row["agent"] == user["agent_id"]}
        )

    # The views.
    def register(self, request: Request) -> Response:
        def create(request: Request) -> Any:  # noqa: ARG001
            token, key = secrets.token_hex(20), f"agent-{1000 + len(self._agents)}"
            self._agents[token] = {
                "agent_id": key,
                "credits": 100,
                "date_joined": _stamp(),
            }
            self.book.registrations += 1
            return {"agent_id": key, "access_token": token, "credits": 100}

        return self._view(request, create)

    def _paginated(self, request: Request, rows: list[Any]) -> dict[str, Any]:
        def number(name: str, default: int, low: int) -> int:
            value = request.query.get(name, "")
            return int(value) if value.isdecimal() and int(value) >= low else default

        limit, offset = min(number("limit", 5, 1), 100), number("offset", 0, 0)

        def link(start: int) -> str:
            query = {"limit": limit, **({"offset": start} if start > 0 else {})}
            return f"{request.base}{request.path}?{urlencode(query)}"

        return {
            "count": len(rows),
            "next": link(offset + limit) if offset + limit < len(rows) else None,
            "previous": link(offset - limit) if offset > 0 else None,
            "results": rows[offset : offset + limit],
        }

    def tasks(self, request: Request) -> Response:
        return self._view(request, self._paginated, list(self._tasks.values()))

    def marketplace(self, request: Request) -> Response:
        rows = [task for task in self._tasks.values() if task["state"] == "open"]
        return self._view(request, self._paginated, rows)

    def agents(self, request: Request) -> Response:
        names = ("agent_id", "date_joined")
        rows = [{name: row[name] for name in names} for row in self._agents.values()]
        return self._view(request, self._paginated, rows)

    directory = agents

    def claim(self, request: Request) -> Response:
        def create(request: Request) -> Any:
            user = self._user(request)

            def agent(value: Any) -> str:
                if value not in [row["agent_id"] for row in self._agents.values()]:
                    raise _Invalid(f"Object with agent_id={value} does not exist.")
                if value != user["agent_id"]:
                    raise _Invalid("You can only take tasks for yourself.")
                return str(value)

            def open_task(value: Any) -> dict[str, Any]:
                task = _related(self._tasks)(value)
                if task["state"] != "open":
                    raise _Invalid("This task is no longer open.")
                return task  # type: ignore[no-any-return]

            data = self._serializer(
                request, task=open_task, agent=agent, expected_delivery=_date
            )
            task, day = data["task"], data["expected_delivery"]
            if not str(_today()) <= str(day) <= task["deadline"]:
                error = f"The expected delivery must be between today and the deadline ({task['deadline']})."
                raise _APIException(400, {"expected_delivery": [error]})
            task["state"] = "assigned"
            key = 501 + len(self._assignments)
            self._assignments[key] = {
                "id": key,
                "task": task["id"],
                "agent": data["agent"],
                "state": "in_progress",
                "expected_delivery": str(day),
                "paid_amount": None,
                "created": _stamp(),
            }
            self.book.claimed(str(task["id"]))
            return dict(self._assignments[key])

        return self._view(request, create)

    def submit(self, request: Request) -> Response:
        def create(request: Request) -> Any:
            user = self._user(request)
            mine = self._mine(user)
            data = self._serializer(
                request, assignment=mine, result_text=_char, time_spent=_duration
            )
            row = data["assignment"]
            task = self._tasks[row["task"]]
            if row["state"] != "in_progress":
                raise _APIException(
                    400, {"assignment": ["This assignment is already delivered."]}
                )
            if data["result_text"] != task["source_text"].upper():
                raise _APIException(
                    400, {"result_text": ["The result is not what the task asks for."]}
                )
            credits_ = int(task["reward"].partition(".")[0])
            row.update(state="accepted", paid_amount=task["reward"])
            task["state"] = "delivered"
            user["credits"] += credits_
            self.book.pay(str(task["id"]), credits_)
            return {**row, "balance": f"{user['credits']}.00"}

        return self._view(request, create)

    def complete(self, request: Request) -> Response:
        def update(request: Request) -> Any:
            row = self._serializer(request, assignment=self._mine(self._user(request)))[
                "assignment"
            ]
            if row["state"] != "accepted":
                raise _APIException(
                    400,
                    {"non_field_errors": ["Only accepted assignments can be closed."]},
                )
            row["state"] = self._tasks[row["task"]]["state"] = "closed"
            return dict(row)

        return self._view(request, update)

    def post(self, request: Request) -> Response:
        def create(request: Request) -> Any:
            self._user(request)
            raise _APIException(
                403, {"detail": "You do not have permission to perform this action."}
            )

        return self._view(request, create)

    def checkout(self, request: Request) -> Response:
        def create(request: Request) -> Any:
            data = self._serializer(
                request,
                plan=_char,
                agent_id=_char,
                price_id=_char,
                requested_credits=_integer,
                amount_cents=_integer,
            )
            key = secrets.token_hex(10)
            return {
                "ok": True,
                "sessionId": key,
                "url": f"https://checkout.brightdesk.example/{key}",
                "mode": "payment",
                "agentId": data["agent_id"],
                "plan": data["plan"],
            }

        return self._view(request, create)
