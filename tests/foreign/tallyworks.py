"""Tallyworks: an ASP.NET Core service of work orders, checked by FluentValidation.

PascalCase (PropertyNamingPolicy = null), GUIDs, problem details. Submission pays;
a wrong submission is answered 200 with State "Rejected".
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import base64
import json
import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_WORK = [
    ("WO-2025-0117", "Invoice header", "second reminder for outstanding balance", 30),
    ("WO-2025-0118", "Shelf tag", "galvanised hex bolts m8 by 40", 12),
    ("WO-2025-0121", "Packing slip note", "return within thirty days of receipt", 22),
    ("WO-2025-0124", "Part name", "reinforced bracket, left hand side", 45),
    ("WO-2025-0130", "Gate notice", "all drivers must report to reception", 16),
    ("WO-2025-0133", "Pallet marking", "top load only, do not stack", 25),
]
_RFC = "https://tools.ietf.org/html/rfc9110#section-15.5."
_TITLES = {403: (4, "Forbidden"), 404: (5, "Not Found"), 409: (10, "Conflict"),
           400: (1, "Bad Request"), 415: (16, "Unsupported Media Type")}  # fmt: skip
_EMPTY_GUID = str(uuid.UUID(int=0))
_MAX_ACTIVE = 3
_CLR = {
    "System.Int32": (int,),
    "System.Boolean": (bool,),
    "System.String": (str, type(None)),
}
_NOT_A = "The JSON value could not be converted to "
_DTO = "Tallyworks.Api.Contracts.DeliverableDto"
_DEFAULTS = {"System.Guid": _EMPTY_GUID, "System.Int32": 0, "System.Boolean": False}
_GUID, _INT, _BOOL = _DEFAULTS
_FILE = {"FileName": "System.String", "Content": "System.String"}
_CLAIM = {"WorkOrderId": _GUID, "AgentId": _GUID, "EstimatedMinutes": _INT}
_SUBMIT = {"AssignmentId": _GUID, "Deliverables": [_FILE]}
_COMPLETE = {
    "AssignmentId": _GUID,
    "CompletedAtUtc": "System.DateTime",
    "ConfirmCompletion": _BOOL,
}


def _empty(names: str) -> list[str]:
    return [f"'{names}' must not be empty."]


class _Problem(Exception):  # noqa: N818
    def __init__(self, status: int, detail: str = "", errors: Any = None) -> None:
        super().__init__(detail)
        section, title = _TITLES.get(status, (0, ""))
        title = "One or more validation errors occurred." if errors else title
        body: dict[str, Any] = {
            "type": f"{_RFC}{section}",
            "title": title,
            "status": status,
        }
        body |= {k: v for k, v in (("errors", errors), ("detail", detail)) if v}
        body["traceId"] = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-00"
        media = {"Content-Type": "application/problem+json; charset=utf-8"}
        self.response = Response(status, body, media)
        if status == 401:  # the JWT handler writes no body
            self.response = Response(401, b"", {"WWW-Authenticate": "Bearer"})


def _unreadable(path: str, says: str, at: int) -> _Problem:
    says = f"{says} Path: {path} | LineNumber: 0 | BytePositionInLine: {at}."
    return _Problem(
        400, errors={"command": ["The command field is required."], path: [says]}
    )


def _convert(kind: Any, value: Any) -> Any:
    """Read one value as System.Text.Json would; ValueError says the CLR type."""
    try:
        if kind == "System.Guid" and len(value) == 36:
            return str(uuid.UUID(value))
        if kind == "System.DateTime" and "-" in value:
            return datetime.fromisoformat(value)
    except (ValueError, TypeError, AttributeError):
        pass
    if type(value) in _CLR.get(kind, ()):
        return value
    raise ValueError(kind)


def _read(shape: dict[str, Any], value: Any, path: str, raw: bytes) -> dict[str, Any]:
    result = {k: _DEFAULTS.get(str(kind)) for k, kind in shape.items()}
    names = {k.lower(): k for k in shape}
    for sent, item in value.items():
        name = names.get(sent.lower())
        here, kind = f"{path}.{sent}", shape.get(str(name))
        try:
            if isinstance(kind, str):
                result[name] = _convert(kind, item)
            elif kind and item is not None:  # unknown members are skipped
                if not isinstance(item, list):
                    raise ValueError(f"System.Collections.Generic.List`1[{_DTO}]")  # noqa: TRY004
                if not all(isinstance(one, dict) for one in item):
                    here += f"[{[isinstance(one, dict) for one in item].index(False)}]"
                    raise ValueError(_DTO)
                each = enumerate(item)
                result[name] = [
                    _read(kind[0], one, f"{here}[{i}]", raw) for i, one in each
                ]
        except ValueError as e:
            at = raw.find(sent.encode()) + len(sent) + 2
            raise _unreadable(here, f"{_NOT_A}{e}.", at) from e
    return result


def _action(do: Callable[[Any, Request], Any]) -> Callable[[Any, Request], Response]:
    def run(self: Any, request: Request) -> Response:
        try:
            answer = do(self, request)
            return answer if isinstance(answer, Response) else Response(200, answer)
        except _Problem as e:
            return e.response

    return run


class Tallyworks(Backend):
    """ASP.NET Core with FluentValidation."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}  # token -> agent
        names = ("ref", "subject", "text", "fee", "state")
        rows = [dict(zip(names, (*row, "Available"), strict=True)) for row in _WORK]
        self._orders: dict[str, Any] = {str(uuid.uuid4()): row for row in rows}
        self._assignments: dict[str, dict[str, str]] = {}

    def texts(self) -> dict[str, str]:
        return {key: order["text"] for key, order in self._orders.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, b"")

    def handle(self, request: Request) -> Response:
        answer = super().handle(request)
        answer.headers.setdefault("Content-Type", "application/json; charset=utf-8")
        return answer

    def _command(
        self, request: Request, shape: dict[str, Any]
    ) -> tuple[str, dict, dict]:
        if request.token not in self._agents:
            raise _Problem(401)
        if "json" not in (request.headers.get("Content-Type") or ""):
            raise _Problem(415)
        if not request.raw:
            raise _Problem(400, errors={"": ["A non-empty request body is required."]})
        try:
            body = request.json()
        except json.JSONDecodeError as e:
            says = f"'{e.doc[e.pos : e.pos + 1]}' is an invalid start of a value."
            raise _unreadable("$", says, e.pos) from e
        if not isinstance(body, dict):
            raise _unreadable("$", _NOT_A + "Tallyworks.Api.Contracts.Command.", 1)
        sent = _read(shape, body, "$", request.raw)
        blank = [k for k, v in sent.items() if v == _EMPTY_GUID]
        errors = {k: _empty(k.replace("Id", " Id").replace("kO", "k O")) for k in blank}
        return self._agents[request.token], sent, errors

    def _assignment(
        self, agent: str, sent: Any, errors: Any, state: str, verb: str
    ) -> Any:
        if errors:
            raise _Problem(400, errors=errors)
        found = self._assignments.get(key := sent["AssignmentId"])
        if found is None or found["agent"] != agent:
            raise _Problem(404, f"Assignment '{key}' was not found.")
        if (now := found["state"]) != state:
            raise _Problem(409, f"Assignment is in state '{now}' and cannot be {verb}.")
        return found

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = base64.b64encode(secrets.token_bytes(48)).decode()
        agent = self._agents[token] = str(uuid.uuid4())
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    @_action
    def tasks(self, request: Request) -> dict[str, Any]:
        numbers, errors = {"Limit": 4, "PageNumber": 1}, {}
        for sent, value in request.query.items():
            name = {"limit": "Limit", "pagenumber": "PageNumber"}.get(sent.lower(), "")
            try:
                numbers[name] = int(value) if name else 0
            except ValueError:
                errors[name] = [f"The value '{value}' is not valid for {name}."]
        if not 1 <= (limit := numbers["Limit"]) <= 50:
            errors["Limit"] = [
                f"'Limit' must be between 1 and 50. You entered {limit}."
            ]
        if (page := numbers["PageNumber"]) < 1:
            errors["PageNumber"] = [
                "'Page Number' must be greater than or equal to '1'."
            ]
        if errors:
            raise _Problem(400, errors=errors)
        items = [
            {"WorkOrderId": k, "Reference": o["ref"], "Subject": o["subject"],
             "Requirement": "Deliver OriginalContent converted to upper case.",
             "OriginalContent": o["text"], "FeeCredits": o["fee"], "State": o["state"]}
            for k, o in self._orders.items()
        ]  # fmt: skip
        shown = {"Items": items[(page - 1) * limit : page * limit], "PageNumber": page}
        n = len(items)
        return {
            **shown,
            "PageSize": limit,
            "TotalCount": n,
            "TotalPages": -(-n // limit),
        }

    marketplace = tasks

    @_action
    def claim(self, request: Request) -> Any:
        agent, sent, errors = self._command(request, _CLAIM)
        if not 1 <= (n := sent["EstimatedMinutes"]) <= 480:
            says = f"'Estimated Minutes' must be between 1 and 480. You entered {n}."
            errors["EstimatedMinutes"] = [says]
        if errors:
            raise _Problem(400, errors=errors)
        if sent["AgentId"] != agent:
            raise _Problem(403, "AgentId does not match the agent of the access token.")
        if (order := self._orders.get(sent["WorkOrderId"])) is None:
            raise _Problem(404, f"Work order '{sent['WorkOrderId']}' was not found.")
        if (now := order["state"]) != "Available":
            raise _Problem(
                409, f"Work order {order['ref']} is not available (State: {now})."
            )
        mine = [a["state"] for a in self._assignments.values() if a["agent"] == agent]
        if len(mine) - mine.count("Closed") >= _MAX_ACTIVE:
            raise _Problem(409, f"Agent already has {_MAX_ACTIVE} open assignments.")
        key = str(uuid.uuid4())
        self._assignments[key] = {
            "agent": agent,
            "order": sent["WorkOrderId"],
            "state": "Active",
        }
        order["state"] = "Assigned"
        self.book.claimed(sent["WorkOrderId"])
        until = (datetime.now(UTC) + timedelta(hours=8)).strftime(
            "%Y-%m-%dT%H:%M:%S.%fZ"
        )
        answer = {
            "AssignmentId": key,
            "WorkOrderId": sent["WorkOrderId"],
            "State": "Active",
        }
        return {**answer, "ExpiresAtUtc": until}

    @_action
    def submit(self, request: Request) -> Any:
        agent, sent, errors = self._command(request, _SUBMIT)
        if not sent["Deliverables"]:
            errors["Deliverables"] = _empty("Deliverables")
        for i, item in enumerate(sent["Deliverables"] or []):
            for name in [k for k, v in item.items() if not (v or "").strip()]:
                errors[f"Deliverables[{i}].{name}"] = _empty(name.replace("eN", "e N"))
        found = self._assignment(agent, sent, errors, "Active", "submitted")
        order = self._orders[found["order"]]
        answer = {
            "SubmissionId": str(uuid.uuid4()),
            "AssignmentId": sent["AssignmentId"],
        }
        if [item["Content"] for item in sent["Deliverables"]] != [
            order["text"].upper()
        ]:
            says = "Content does not meet the requirement of the work order. Please resubmit."
            bad = {
                **answer,
                "State": "Rejected",
                "ReviewRemark": says,
                "CreditsAwarded": 0,
            }
            return Response(200, bad, refused=True)
        found["state"] = order["state"] = "Approved"
        self.book.pay(found["order"], order["fee"])
        return {
            **answer,
            "State": "Approved",
            "ReviewRemark": None,
            "CreditsAwarded": order["fee"],
        }

    @_action
    def complete(self, request: Request) -> Any:
        agent, sent, errors = self._command(request, _COMPLETE)
        if sent["CompletedAtUtc"] is None:
            errors["CompletedAtUtc"] = _empty("Completed At Utc")
        if not sent["ConfirmCompletion"]:
            errors["ConfirmCompletion"] = [
                "'Confirm Completion' must be equal to 'True'."
            ]
        found = self._assignment(agent, sent, errors, "Approved", "completed")
        found["state"] = self._orders[found["order"]]["state"] = "Closed"
        return {"AssignmentId": sent["AssignmentId"], "State": "Closed"}
