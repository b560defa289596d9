"""A small team's service in C# on ServiceStack, with FluentValidation and OrmLite.

Pascal case throughout, a ResponseStatus for every no, codes for tasks, a RowVersion for
every change, time spans as XSD durations and dates as /Date(...)/.
"""
# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import secrets
import time
from datetime import timedelta
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_TASKS = [
    ("TSK-0041", "Label for shelf A", "copper wire, 2 mm", "10.00"),
    ("TSK-0042", "Label for shelf B", "brass hinges (left)", "16.00"),
    ("TSK-0045", "Label for the yard", "reclaimed oak beams", "24.00"),
    ("TSK-0047", "Label for the van", "return keys to front desk", "13.00"),
    ("TSK-0050", "Label for the gate", "ring twice after dark", "31.00"),
    ("TSK-0053", "Label for crate 7", "fragile: hand-blown glass", "19.00"),
    ("TSK-0058", "Label for the kiln", "cool down before opening", "7.00"),
]
_LIMIT = timedelta(hours=6)
_OUTCOMES = ("Delivered", "Withdrawn")
_XSD = re.compile(
    r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?", re.IGNORECASE
)
_CLR = re.compile(r"(?:(\d+)\.)?(\d+):(\d+)(?::(\d+(?:\.\d+)?))?")


class _HttpError(Exception):
    """ServiceStack's HttpError."""

    def __init__(self, status: int, code: str, message: str, *errors: Any) -> None:
        super().__init__(message)
        fault = {"ErrorCode": code, "Message": message, "Errors": errors}
        self.response = Response(status, {"ResponseStatus": fault})


def _words(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)


def _span(value: Any) -> timedelta:
    """Parse as ServiceStack.Text does: PT1H, 01:00:00 or a number of seconds."""
    text = str(value).strip()
    match = _XSD.fullmatch(text) or _CLR.fullmatch(text)
    if not match:
        return timedelta(seconds=float(text))
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)


def _clr(span: timedelta) -> str:
    whole = int(span.total_seconds())
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"


def _date() -> str:
    return f"/Date({int(time.time() * 1000)})/"


def _dto(request: Request, name: str, **fields: Any) -> dict[str, Any]:
    """Bind a request DTO, names in any case, query string too; validate it."""
    try:
        body = request.json() if request.raw.strip() else {}
    except ValueError:
        body = None
    if not isinstance(body, dict):
        message = f"Unable to bind to request '{name}'"
        raise _HttpError(400, "RequestBindingException", message)
    sent = {key.lower(): value for key, value in {**request.query, **body}.items()}
    dto: dict[str, Any] = {}
    unbound = []
    for field, parse in fields.items():
        value = sent.get(field.lower())
        try:
            unset = "" if parse is str else 0
            dto[field] = parse(unset if value is None else value)
        except (ValueError, TypeError, OverflowError):
            message = f"'{value}' is an Invalid value for '{field}'"
            unbound.append(("SerializationException", field, message))
    _throw(unbound or [broken for field in dto for broken in _rules(field, dto[field])])
    return dto


def _rules(field: str, value: Any) -> list[tuple[str, str, str]]:
    """Apply the validator of one field."""
    shown = f"'{_words(field)}' must"
    if field == "Outcome" and value.lower() not in map(str.lower, _OUTCOMES):
        message = f"{shown} be one of: {', '.join(_OUTCOMES)}. You entered '{value}'."
        return [("Predicate", field, message)]
    if isinstance(value, str) and not value.strip():
        return [("NotEmpty", field, f"{shown} not be empty.")]
    if field == "RowVersion" and value <= 0:
        return [("GreaterThan", field, f"{shown} be greater than '0'.")]
    if field == "EstimatedTime" and value <= timedelta(0):
        return [("GreaterThan", field, f"{shown} be greater than '00:00:00'.")]
    if field == "EstimatedTime" and value > _LIMIT:
        message = f"{shown} be less than or equal to '{_clr(_LIMIT)}'."
        return [("LessThanOrEqual", field, message)]
    return []


def _throw(broken: list[tuple[str, str, str]]) -> None:
    if broken:
        errors = [
            {"ErrorCode": code, "FieldName": field, "Message": message}
            | {"Meta": {"PropertyName": _words(field)}}
            for code, field, message in broken
        ]
        raise _HttpError(400, broken[0][0], broken[0][2], *errors)


class Depot(Backend):
    """Codes and row versions; submission stores, completion checks and pays."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._holders: dict[str, str] = {}  # agent by task
        self._outputs: dict[str, str] = {}
        self._tasks = {
            code: {
                "Code": code,
                "Summary": summary,
                "Brief": {"Order": "Put the wording in upper case", "Wording": text},
                "Reward": reward,
                "Status": "Open",
                "TimeLimit": "PT6H",
                "CreatedDate": _date(),
                "RowVersion": 1,
            }
            for code, summary, text, reward in _TASKS
        }

    def texts(self) -> dict[str, str]:
        """Return the wordings by task code."""
        return {code: text for code, _, text, _ in _TASKS}

    def __getattribute__(self, name: str) -> Any:
        """Wrap every service so that an HttpError becomes its response."""
        member = super().__getattribute__(name)
        if name not in ACTIONS.values():
            return member

        def service(request: Request) -> Response:
            try:
                return member(request)
            except _HttpError as error:
                return error.response

        return service

    def missing(self, request: Request) -> Response:
        """Answer as ServiceStack's NotFoundHttpHandler."""
        url = f"HttpMethod: {request.method}\n  Request.PathInfo: {request.path}\n"
        return Response(404, f"Handler for Request not found (404):\n\n  Request.{url}")

    def _session(self, request: Request) -> dict[str, Any]:
        agent = self._agents.get(request.token)
        if agent is None:
            raise _HttpError(401, "Unauthorized", "Not Authenticated")
        return agent

    def _row(self, code: str) -> dict[str, Any]:
        task = self._tasks.get(code.upper())
        if task is None:
            raise _HttpError(404, "NotFound", f"Task '{code}' does not exist")
        return task

    def _held(self, agent: dict[str, Any], dto: dict[str, Any]) -> dict[str, Any]:
        task = self._row(dto["TaskCode"])
        if self._holders.get(task["Code"]) != agent["agent_id"]:
            message = f"Task '{task['Code']}' is not claimed by you"
            raise _HttpError(403, "Forbidden", message)
        if dto["RowVersion"] != task["RowVersion"]:
            message = f"Task was modified; current RowVersion is {task['RowVersion']}"
            raise _HttpError(409, "OptimisticConcurrencyException", message)
        return task

    def _save(self, task: dict[str, Any], status: str, **more: Any) -> Response:
        task |= {"Status": status, "RowVersion": task["RowVersion"] + 1}
        return Response(200, {"Result": {**task, **more, "ModifiedDate": _date()}})

    def register(self, request: Request) -> Response:
        """Create an agent."""
        _dto(request, "CreateFreeAgent")
        self.book.registrations += 1
        token = secrets.token_urlsafe(30)
        agent = {"agent_id": f"A{secrets.token_hex(4).upper()}", "credits": 100}
        self._agents[token] = agent
        return Response(200, {**agent, "access_token": token})

    def tasks(self, request: Request) -> Response:
        """Query open tasks in AutoQuery's shape; needs no session."""
        asked = {"limit": "25", "skip": "0"} | request.query
        sized = Request(**{**vars(request), "query": asked, "raw": b""})
        dto = _dto(sized, "QueryTasks", Limit=int, Skip=int)
        found = [task for task in self._tasks.values() if task["Status"] == "Open"]
        if not 1 <= dto["Limit"] <= 25:
            message = f"'Limit' must be between 1 and 25. You entered {dto['Limit']}."
            _throw([("InclusiveBetween", "Limit", message)])
        skip = max(0, dto["Skip"])
        page = found[skip : skip + dto["Limit"]]
        return Response(200, {"Offset": skip, "Total": len(found), "Results": page})

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        """Reserve a task for the estimated time."""
        agent = self._session(request)
        dto = _dto(request, "ClaimTask", TaskCode=str, EstimatedTime=_span)
        task = self._row(dto["TaskCode"])
        if task["Status"] != "Open":
            raise _HttpError(409, "Conflict", f"Task is already {task['Status']}")
        self._holders[task["Code"]] = agent["agent_id"]
        self.book.claimed(task["Code"])
        return self._save(task, "Reserved", ReservedBy=agent["agent_id"])

    def submit(self, request: Request) -> Response:
        """Store the output; it may be replaced until completion."""
        agent = self._session(request)
        dto = _dto(request, "SubmitOutput", TaskCode=str, RowVersion=int, Output=str)
        task = self._held(agent, dto)
        if task["Status"] not in ("Reserved", "InReview"):
            raise _HttpError(409, "Conflict", f"Task is already {task['Status']}")
        self._outputs[task["Code"]] = dto["Output"]
        return self._save(task, "InReview", Output=dto["Output"])

    def complete(self, request: Request) -> Response:
        """Check and pay what was delivered, or give the task back."""
        agent = self._session(request)
        dto = _dto(request, "CompleteTask", TaskCode=str, RowVersion=int, Outcome=str)
        task = self._held(agent, dto)
        code = task["Code"]
        if dto["Outcome"].lower() == "withdrawn" and task["Status"] != "Paid":
            self.book.held.discard(code)
            self._holders.pop(code)
            return self._save(task, "Open")
        if task["Status"] != "InReview":
            message = f"Task is {task['Status']}, it must be InReview to be delivered"
            raise _HttpError(409, "Conflict", message)
        if self._outputs[code] != task["Brief"]["Wording"].upper():
            message = "Output is not the wording in upper case, please submit it again"
            raise _HttpError(409, "OutputRejected", message)
        amount = int(float(task["Reward"]))
        self.book.pay(code, amount)
        agent["credits"] += amount
        return self._save(task, "Paid", Paid=task["Reward"], Balance=agent["credits"])
