"""Corvane Work Exchange: a company's service in C#, ASP.NET Core controllers."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import base64
import json
import re
import secrets
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_WORK = [
    ("Dispatch notice", "pallet 17 leaves dock four at noon", 35),
    ("Shelf edge ticket", "copper elbow, 22 mm", 6),
    ("Site notice", "hard hats beyond this point", 14),
    ("Cheque wording", "two hundred and six pounds only", 22),
    ("Plate engraving", "unit built by the second shift", 50),
]
_FORMATS = ["PlainText", "Xml", "Json"]
_STATUSES = {
    400: ("1", "One or more validation errors occurred."),
    401: ("2", "Unauthorized"),
    404: ("5", "Not Found"),
    405: ("6", "Method Not Allowed"),
    409: ("10", "Conflict"),
    415: ("16", "Unsupported Media Type"),
    422: ("21", "Unprocessable Entity"),
}
_DATE = r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,16})?)?(Z|[+-]\d\d:\d\d)?)?"
# The properties of each request; all are [Required], two have one attribute more.
_CLAIM = {
    "WorkItemId": "Int32",
    "RowVersion": "String",
    "EstimatedCompletionUtc": "DateTimeOffset",
}
_SUBMIT = {"AllocationId": "Guid", "ResultFormat": "String", "ResultBody": "String"}
_COMPLETE = {"AllocationId": "Guid", "ConfirmOwnWork": "Boolean"}
_ALLOWED = {"ResultFormat": _FORMATS, "ConfirmOwnWork": [True]}
_REFUSALS = {
    "ResultFormat": f"ResultFormat must be one of: {', '.join(_FORMATS)}.",
    "ConfirmOwnWork": "ConfirmOwnWork must be true.",
}


class _Problem(Exception):  # noqa: N818
    def __init__(self, status: int, detail: str = "", **more: Any) -> None:
        super().__init__(detail)
        self.status, self.detail, self.more = status, detail, more

    def response(self, request: Request) -> Response:
        section, title = _STATUSES[self.status]
        kind = f"https://tools.ietf.org/html/rfc9110#section-15.5.{section}"
        body: dict[str, Any] = {"type": kind, "title": title, "status": self.status}
        if self.detail:
            body |= {"detail": self.detail, "instance": request.path}
        trace = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-00"
        body |= {**self.more, "traceId": trace}
        headers = {
            "Content-Type": "application/problem+json; charset=utf-8",
            "Server": "Kestrel",
        }
        if self.status == 401:
            why = ' error="invalid_token"' if request.token else ""
            headers["WWW-Authenticate"] = f"Bearer{why}"
        return Response(self.status, body, headers)


def _convert(kind: str, value: Any) -> Any:
    """Read a value as System.Text.Json with web defaults would; ValueError if it cannot."""
    given = {"String": str, "Boolean": bool}.get(kind)
    if value is None or (given and isinstance(value, given)):
        return value
    if (
        kind == "Int32"
        and type(value) in (int, str)
        and re.fullmatch(r"-?\d{1,9}", str(value))
    ):
        return int(value)
    if kind == "Guid" and isinstance(value, str) and len(value) == 36:
        return str(uuid.UUID(value))
    if kind == "DateTimeOffset" and re.fullmatch(_DATE, str(value)):
        moment = datetime.fromisoformat(value)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    raise ValueError(value)


def _position(before: bytes) -> str:
    column = len(before) - (before.rfind(b"\n") + 1)
    return f"LineNumber: {before.count(10)} | BytePositionInLine: {column}."


def _where(raw: bytes, name: str) -> str:
    """Say where in the body the value of a property ends."""
    value = rb'\s*:\s*("(\\.|[^"\\])*"|[\w.+-]+|[\[{])'
    match = re.search(b'"%s"' % re.escape(name).encode() + value, raw)
    return f"Path: $.{name} | {_position(raw[: match.end() if match else 0])}"


def _bind(request: Request, contract: dict[str, Any]) -> dict[str, Any]:  # noqa: PLR0915
    """Bind and validate a [FromBody] parameter of an [ApiController] action."""
    if not re.match(
        r"application/([\w.-]+\+)?json", request.headers.get("Content-Type", "")
    ):
        raise _Problem(415)
    missing = {"request": ["The request field is required."]}
    if not request.raw:
        raise _Problem(
            400, errors={"": ["A non-empty request body is required."], **missing}
        )
    try:
        body = request.json()
    except ValueError as error:
        at = getattr(error, "pos", 0)
        shown = request.raw[at : at + 1].decode(errors="replace")
        message = f"'{shown}' is an invalid start of a value. "
        message += f"Path: $ | {_position(request.raw[:at])}"
        raise _Problem(400, errors={"$": [message], **missing}) from None
    if not isinstance(body, dict):
        message = f"The JSON value could not be converted to Request. Path: $ | {_position(b'[')}"
        raise _Problem(400, errors={"$": [message], **missing})
    names, values = {name.lower(): name for name in contract}, dict.fromkeys(contract)
    for given, value in body.items():
        if name := names.get(given.lower()):
            kind = contract[name]
            try:
                values[name] = _convert(kind, value)
            except ValueError:
                full = (
                    f"System.{kind}"
                    if kind == "String"
                    else f"System.Nullable`1[System.{kind}]"
                )
                message = f"The JSON value could not be converted to {full}. "
                message += _where(request.raw, given)
                raise _Problem(
                    400, errors={f"$.{given}": [message], **missing}
                ) from None
    errors = {}
    for name, value in values.items():
        if value is None or (isinstance(value, str) and not value.strip()):
            errors[name] = [f"The {name} field is required."]
        elif name in _ALLOWED and value not in _ALLOWED[name]:
            errors[name] = [_REFUSALS[name]]
    if errors:
        raise _Problem(400, errors=errors)
    return values


def _action(method: Any) -> Any:
    def answer(self: Any, request: Request) -> Response:
        try:
            if request.token not in self._agents:
                raise _Problem(401)
            body, more = method(self, request, self._agents[request.token])
        except _Problem as problem:
            return problem.response(request)
        return Response(200, body, {"Server": "Kestrel", **more})

    return answer


class Corvane(Backend):
    """Work items and allocations; completing an allocation tests the result and pays."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._allocations: dict[str, dict[str, Any]] = {}
        self._items: dict[int, dict[str, Any]] = {}
        self._version = 2000
        for key, (subject, text, fee) in enumerate(_WORK, 40117):
            self._items[key] = {
                "workItemId": key,
                "reference": f"WX-{key}",
                "subject": subject,
                "instructions": "Supply the content of the source document in upper case.",
                "sourceDocument": {"languageCode": "en-GB", "content": text},
                "feeCredits": fee,
            }
            self._set(key, "Available")

    def _set(self, key: int, status: str) -> None:
        self._version += 1
        version = base64.b64encode(self._version.to_bytes(8, "big")).decode()
        self._items[key] |= {"workItemStatus": status, "rowVersion": version}

    def texts(self) -> dict[str, str]:
        return {
            str(key): item["sourceDocument"]["content"]
            for key, item in self._items.items()
        }

    def missing(self, request: Request) -> Response:
        for (method, path), action in ACTIONS.items():
            if (
                path == request.path
                and action in vars(Corvane)
                and method != request.method
            ):
                return _Problem(405).response(request)
        return _Problem(404).response(request)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = base64.b64encode(secrets.token_bytes(48)).decode()
        self._agents[token] = {
            "agent_id": f"AGT-{secrets.randbelow(10**8):08d}",
            "credits": 100,
        }
        return Response(
            200, {**self._agents[token], "access_token": token, "expires_in": 86400}
        )

    @_action
    def tasks(self, request: Request, agent: dict[str, Any]) -> Any:
        errors, query = {}, {"limit": "20", "page": "1", **request.query}
        for name, top in (("limit", 50), ("page", 1000)):
            text = query[name]
            if not re.fullmatch(r"-?\d{1,9}", text):
                errors[name] = [f"The value '{text}' is not valid."]
            elif not 1 <= int(text) <= top:
                errors[name] = [f"The field {name} must be between 1 and {top}."]
        if errors:
            raise _Problem(400, errors=errors)
        size, page, items = (
            int(query["limit"]),
            int(query["page"]),
            list(self._items.values()),
        )
        paging = {"currentPage": page, "pageSize": size, "totalCount": len(items)}
        return items[(page - 1) * size : page * size], {
            "X-Pagination": json.dumps(paging)
        }

    marketplace = tasks

    @_action
    def claim(self, request: Request, agent: dict[str, Any]) -> Any:
        model, now = _bind(request, _CLAIM), datetime.now(UTC)
        key, until = model["WorkItemId"], model["EstimatedCompletionUtc"]
        if not now < until < now + timedelta(days=7):
            message = "EstimatedCompletionUtc must lie in the future and within 7 days."
            raise _Problem(400, errors={"EstimatedCompletionUtc": [message]})
        if key not in self._items:
            raise _Problem(404, f"Work item {key} was not found.")
        item = self._items[key]
        if item["workItemStatus"] != "Available":
            raise _Problem(
                409, f"Work item {key} is not available ({item['workItemStatus']})."
            )
        if item["rowVersion"] != model["RowVersion"]:
            raise _Problem(
                409, f"RowVersion is not the current rowVersion of work item {key}."
            )
        mine = [
            a for a in self._allocations.values() if a["agentId"] == agent["agent_id"]
        ]
        if len([a for a in mine if a["allocationStatus"] != "Settled"]) >= 2:
            raise _Problem(
                409, "An agent may hold at most 2 open allocations at a time."
            )
        self._set(key, "Allocated")
        allocation = {
            "allocationId": str(uuid.uuid4()),
            "workItemId": key,
            "agentId": agent["agent_id"],
            "allocationStatus": "InProgress",
            "allocatedUtc": now.isoformat(),
            "dueUtc": until.isoformat(),
        }
        self._allocations[allocation["allocationId"]] = allocation
        self.book.claimed(str(key))
        return {"allocation": allocation, "workItem": item}, {}

    def _allocation(
        self, agent: dict[str, Any], key: str, status: str
    ) -> dict[str, Any]:
        allocation = self._allocations.get(key)
        if allocation is None or allocation["agentId"] != agent["agent_id"]:
            raise _Problem(404, f"Allocation {key} was not found.")
        if (now := allocation["allocationStatus"]) != status:
            raise _Problem(
                409, f"Allocation {key} is {now}; this operation needs {status}."
            )
        return allocation

    @_action
    def submit(self, request: Request, agent: dict[str, Any]) -> Any:
        model = _bind(request, _SUBMIT)
        allocation = self._allocation(agent, model["AllocationId"], "InProgress")
        if model["ResultFormat"] != "PlainText":
            raise _Problem(
                422, "This work item accepts results in the PlainText format only."
            )
        allocation |= {
            "allocationStatus": "Submitted",
            "resultBody": model["ResultBody"],
        }
        return {"allocation": allocation}, {}

    @_action
    def complete(self, request: Request, agent: dict[str, Any]) -> Any:
        model = _bind(request, _COMPLETE)
        allocation = self._allocation(agent, model["AllocationId"], "Submitted")
        item = self._items[allocation["workItemId"]]
        if allocation["resultBody"] != item["sourceDocument"]["content"].upper():
            allocation["allocationStatus"] = "InProgress"
            raise _Problem(
                422, "The result did not pass the acceptance check. Submit it again."
            )
        allocation["allocationStatus"] = "Settled"
        self._set(item["workItemId"], "Closed")
        agent["credits"] += item["feeCredits"]
        self.book.pay(str(item["workItemId"]), item["feeCredits"])
        payment = {"feeCredits": item["feeCredits"], "accountBalance": agent["credits"]}
        return {"allocation": allocation, "payment": payment}, {}
