"""A network kept in Baserow tables: rows, user field names, Django REST errors.

Numeric row ids, field names as people type them in a grid, numbers with decimals as strings,
`{"error": "ERROR_...", "detail": ...}` refusals. Completion pays.
"""

import secrets
from collections.abc import Callable
from functools import wraps
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_ROWS = [
    ("Shelf label", "fresh goat cheese from the valley", 12),
    ("Door sign", "please close the door quietly", 20),
    ("Newsletter head", "seven walks for a rainy sunday", 35),
    ("Parcel note", "handle with care, glass inside", 8),
    ("Menu line", "pumpkin soup with roasted seeds", 15),
    ("Poster", "open day at the harbour workshop", 50),
    ("Name badge", "volunteer at the town library", 27),
]
_OPEN = {"id": 3011, "value": "Open", "color": "light-blue"}
_TAKEN = {"id": 3012, "value": "In progress", "color": "light-orange"}
_REVIEW = {"id": 3013, "value": "To review", "color": "light-red"}
_DONE = {"id": 3014, "value": "Done", "color": "light-green"}


class _Refused(Exception):  # noqa: N818
    def __init__(self, status: int, body: Any) -> None:
        super().__init__(str(body))
        self.answer = Response(status, body)


def _error(status: int, code: str, detail: Any) -> _Refused:
    return _Refused(status, {"error": code, "detail": detail})


def _invalid(errors: dict[str, tuple[str, str]]) -> _Refused:
    return _error(
        400,
        "ERROR_REQUEST_BODY_VALIDATION",
        {k: [{"error": e, "code": c}] for k, (e, c) in errors.items()},
    )


def _answers(method: Callable[[Any, Request], Response]) -> Any:
    @wraps(method)
    def answer(self: Any, request: Request) -> Response:
        try:
            return method(self, request)
        except _Refused as no:
            return no.answer

    return answer


class BaserowTables(Backend):
    """Tasks are rows of one table and agents are rows of another."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}  # token -> row id of the agent
        self._next_agent = 318
        self._rows: dict[int, dict[str, Any]] = {}
        for number, (name, text, reward) in enumerate(_ROWS, 1):
            self._rows[40 + number] = {
                "id": 40 + number,
                "order": f"{number}.00000000000000000000",
                "Task": name,
                "Instructions": "Write the source text in capital letters, "
                "change nothing else, and put it into Result.",
                "Source text": text,
                "Reward": f"{reward}.00",
                "Status": _OPEN,
                "Assignee": [],
                "Result": None,
                "Done": False,
                "Created on": f"2025-03-{number + 10}T09:2{number}:00.113542Z",
            }

    def texts(self) -> dict[str, str]:
        return {str(n): row["Source text"] for n, row in self._rows.items()}

    def missing(self, request: Request) -> Response:
        text = f"URL {request.path} not found."
        return Response(404, {"detail": text, "error": "URL_NOT_FOUND"})

    def register(self, request: Request) -> Response:
        agent, token = str(self._next_agent), secrets.token_urlsafe(24)
        self._next_agent += 1
        self._agents[token] = agent
        self.book.registrations += 1
        answer = {"agent_id": agent, "access_token": token, "credits": 100}
        return Response(200, {**answer, "Name": f"Agent {agent}"})

    @_answers
    def tasks(self, request: Request) -> Response:
        self._agent(request)
        return self._page(request)

    @_answers
    def marketplace(self, request: Request) -> Response:
        return self._page(request)

    @_answers
    def claim(self, request: Request) -> Response:
        agent = self._agent(request)
        body = self._body(request)
        row = self._row(body, ["Assignee"])
        value = body["Assignee"]
        # A link to another table takes row ids, or texts parted by commas.
        if isinstance(value, str):
            value = [v.strip() for v in value.split(",") if v.strip()]
        elif isinstance(value, int) and not isinstance(value, bool):
            value = [value]
        if not isinstance(value, list):
            kind = type(value).__name__
            text = f'Expected a list of items but got type "{kind}".'
            raise _invalid({"Assignee": (text, "not_a_list")})
        if not value:
            raise _invalid({"Assignee": ("This list may not be empty.", "empty")})
        names = {str(v).removeprefix("Agent ") for v in value}
        if unknown := sorted(names - set(self._agents.values())):
            text = f"The rows {unknown} do not exist in the table Agents."
            raise _error(404, "ERROR_ROW_DOES_NOT_EXIST", text)
        if names != {agent}:
            raise self._no_permission()
        if row["Status"] is not _OPEN:
            text = f"The row {row['id']} already has an Assignee."
            raise _error(409, "ERROR_ROW_ALREADY_ASSIGNED", text)
        row["Status"] = _TAKEN
        row["Assignee"] = [{"id": int(agent), "value": f"Agent {agent}"}]
        self.book.claimed(str(row["id"]))
        return Response(200, row)

    @_answers
    def submit(self, request: Request) -> Response:
        agent = self._agent(request)
        body = self._body(request)
        row = self._row(body, ["Result"])
        self._own(row, agent)
        result = body["Result"]
        if not isinstance(result, str):
            raise _invalid({"Result": ("Not a valid string.", "invalid")})
        if not result.strip():
            raise _invalid({"Result": ("This field may not be blank.", "blank")})
        if row["Status"] is _DONE:
            raise _error(400, "ERROR_ROW_IS_LOCKED", "The row is already done.")
        if result != row["Source text"].upper():
            text = "The value is not the Source text in capital letters."
            raise _invalid({"Result": (text, "invalid")})
        row["Result"], row["Status"] = result, _REVIEW
        return Response(200, row)

    @_answers
    def complete(self, request: Request) -> Response:
        agent = self._agent(request)
        body = self._body(request)
        row = self._row(body, ["Done"])
        self._own(row, agent)
        if body["Done"] not in (True, False, "true", "false"):
            raise _invalid({"Done": ("Must be a valid boolean.", "invalid")})
        if body["Done"] in (False, "false"):
            text = "The field Done has to be true to complete the row."
            raise _invalid({"Done": (text, "invalid")})
        if row["Status"] is _DONE:
            raise _error(400, "ERROR_ROW_IS_LOCKED", "The row is already done.")
        if row["Status"] is not _REVIEW:
            text = "The row cannot be done while the field Result is empty."
            raise _invalid({"Done": (text, "invalid")})
        row["Done"], row["Status"] = True, _DONE
        self.book.pay(str(row["id"]), int(float(row["Reward"])))
        return Response(200, row)

    @staticmethod
    def _no_permission() -> _Refused:
        text = "The token does not have permissions to the table."
        return _error(401, "ERROR_NO_PERMISSION_TO_TABLE", text)

    def _agent(self, request: Request) -> str:
        if not request.headers.get("Authorization"):
            text = "Authentication credentials were not provided."
            raise _Refused(401, {"detail": text})
        if request.token not in self._agents:
            text = "The provided token does not exist."
            raise _error(401, "ERROR_TOKEN_DOES_NOT_EXIST", text)
        return self._agents[request.token]

    @staticmethod
    def _body(request: Request) -> dict[str, Any]:
        try:
            body = request.json() if request.raw.strip() else {}
        except ValueError as error:
            raise _Refused(400, {"detail": f"JSON parse error - {error}"}) from None
        if not isinstance(body, dict):
            kind = type(body).__name__
            text = f"Invalid data. Expected a dictionary, but got {kind}."
            raise _invalid({"non_field_errors": (text, "invalid")})
        return body

    def _row(self, body: dict[str, Any], fields: list[str]) -> dict[str, Any]:
        errors = {}
        for name in ["row_id", *fields]:
            if name not in body:
                errors[name] = ("This field is required.", "required")
            elif body[name] is None:
                errors[name] = ("This field may not be null.", "null")
        number = body.get("row_id")
        if "row_id" not in errors and not str(number).isdigit():
            errors["row_id"] = ("A valid integer is required.", "invalid")
        if errors:
            raise _invalid(errors)
        if int(str(number)) not in self._rows:
            text = f"The row {number} does not exist."
            raise _error(404, "ERROR_ROW_DOES_NOT_EXIST", text)
        return self._rows[int(str(number))]

    def _own(self, row: dict[str, Any], agent: str) -> None:
        if str(row["Assignee"][0]["id"] if row["Assignee"] else "") != agent:
            raise self._no_permission()

    def _page(self, request: Request) -> Response:
        numbers = {}
        for name, default in (("limit", 100), ("offset", 0)):
            text = request.query.get(name, "")
            numbers[name] = int(text) if text.isdigit() else default
        limit, offset = numbers["limit"] or 100, numbers["offset"]
        if limit > 200:
            text = "The page size is limited to 200."
            raise _error(400, "ERROR_PAGE_SIZE_LIMIT", text)
        rows = list(self._rows.values())
        link = f"{request.base}{request.path}?limit={limit}&offset="
        more, less = offset + limit < len(rows), offset > 0
        return Response(
            200,
            {
                "count": len(rows),
                "next": f"{link}{offset + limit}" if more else None,
                "previous": f"{link}{max(offset - limit, 0)}" if less else None,
                "results": rows[offset : offset + limit],
            },
        )
