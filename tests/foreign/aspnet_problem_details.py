"""A start-up's C# service: ASP.NET Core 8 controllers, DataAnnotations, ProblemDetails.

Guids and camelCase in JSON, PascalCase in model state errors, a row version as in EF Core.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import base64
import re
import secrets
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ITEMS = [
    ("Product name on the box", "aurora desk lamp", 18),
    ("Warning sticker", "keep away from open fire", 25),
    ("Departure board entry", "platform nine to lyon", 11),
    ("Stamp text", "paid in full", 8),
    ("Cover line", "the long way home", 31),
    ("Serial plate", "unit b-17 / rev. c", 14),
]
RFC = "https://tools.ietf.org/html/rfc9110#section-15.5."
KINDS = {
    400: ("1", "Bad Request"),
    404: ("5", "Not Found"),
    409: ("10", "Conflict"),
    415: ("16", "Unsupported Media Type"),
    422: ("21", "Unprocessable Entity"),
}
MEDIA = "^(text/plain|text/markdown|application/json)$"
NOT_MEDIA = f"The field MediaType must match the regular expression '{MEDIA}'."
# The members of each request record, by what they bind to.
CLAIM = {
    "AgentId": "System.Guid",
    "WorkItemId": "System.Guid",
    "DueAt": "System.DateTimeOffset",
}
DELIVERABLE = {"Content": "System.String", "MediaType": "System.String"}
SUBMIT = {"LeaseId": "System.Guid", "Deliverable": DELIVERABLE}
COMPLETE = {"LeaseId": "System.Guid", "RowVersion": "System.Byte[]"}
POST = {
    "Title": "System.String",
    "SourceText": "System.String",
    "Bounty": "System.Int32",
}
CHECKOUT = {
    "plan": "System.String",
    "agent_id": "System.Guid",
    "price_id": "System.String",
}
CHECKOUT |= {"requested_credits": "System.Int32", "amount_cents": "System.Int32"}


class _Refusal(Exception):  # noqa: N818
    """An action result other than Ok; the response is its argument."""


def _problem(status: int, title: str = "", **extra: Any) -> _Refusal:
    section, name = KINDS[status]
    body = {"type": RFC + section, "title": title or name, "status": status, **extra}
    body["traceId"] = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-00"
    headers = {"Content-Type": "application/problem+json; charset=utf-8"}
    return _Refusal(Response(status, body, headers))


def _invalid(errors: dict[str, list[str]]) -> _Refusal:
    return _problem(400, "One or more validation errors occurred.", errors=errors)


def _convert(value: Any, kind: str) -> Any:
    """Return the value as System.Text.Json reads it, or raise ValueError."""
    if kind == "System.Int32" and type(value) is int:
        return value
    if not isinstance(value, str) or kind == "System.Int32":
        raise ValueError(value)
    if kind == "System.Guid":
        return str(uuid.UUID(value))
    if kind == "System.DateTimeOffset":
        moment = datetime.fromisoformat(value)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return base64.b64decode(value, validate=True) if kind == "System.Byte[]" else value


def _bind(request: Request, model: dict[str, Any]) -> dict[str, Any]:  # noqa: PLR0915
    """Read the body into a record and run its DataAnnotations."""
    missing, last = ["The request field is required."], len(request.raw) - 1
    if "json" not in (request.headers.get("Content-Type") or ""):
        raise _problem(415)
    if not request.raw.strip():
        raise _invalid(
            {"": ["A non-empty request body is required."], "request": missing}
        )
    try:
        body = request.json()
    except ValueError as error:
        text = f"The JSON value is invalid. Path: $ | BytePositionInLine: {getattr(error, 'pos', 0)}."
        raise _invalid({"$": [text], "request": missing}) from None
    errors: dict[str, list[str]] = {}

    def read(
        value: Any, fields: dict[str, Any], path: str, prefix: str, type_: str
    ) -> Any:
        def unreadable(where: str, kind: str) -> _Refusal:
            text = f"The JSON value could not be converted to {kind}. Path: {where}"
            text += f" | LineNumber: 0 | BytePositionInLine: {last}."
            return _invalid({where: [text], "request": missing})

        if not isinstance(value, dict):
            raise unreadable(path, f"Workyard.Api.Contracts.{type_}")
        given = {key.lower(): item for key, item in value.items()}
        result = {}
        for name, kind in fields.items():
            item, where = given.get(name.lower()), f"{path}.{name[0].lower()}{name[1:]}"
            if item is None or (kind == "System.String" and item == ""):  # [Required]
                errors[prefix + name] = [f"The {name} field is required."]
            elif isinstance(kind, dict):
                result[name] = read(item, kind, where, f"{prefix}{name}.", name)
            else:
                try:
                    result[name] = _convert(item, kind)
                except (TypeError, ValueError):
                    raise unreadable(where, kind) from None
                if name == "MediaType" and not re.match(MEDIA, item):
                    errors[prefix + name] = [NOT_MEDIA]
        return result

    record = read(body, model, "$", "", "Request")
    if errors:
        raise _invalid(errors)
    return record


class AspNetProblemDetails(Backend):
    """Work items are leased, reviewed and settled; the text comes with the lease."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}
        self._leases: dict[str, dict[str, Any]] = {}
        self._version = 2000
        self._settled: dict[str, Response] = {}  # by idempotency key
        self._items: dict[str, dict[str, Any]] = {}
        for title, text, amount in ITEMS:
            key = str(uuid.uuid4())
            record = {
                "id": key,
                "title": title,
                "summary": "Convert the source text to upper case.",
                "category": "TextTransformation",
                "bounty": {"amount": amount, "unit": "Credits"},
                "status": "Available",
                "publishedAt": datetime.now(UTC).isoformat(),
            }
            self._items[key] = {"record": record, "text": text, "amount": amount}

    def missing(self, request: Request) -> Response:
        return Response(404, b"")

    def texts(self) -> dict[str, str]:
        return {key: item["text"] for key, item in self._items.items()}

    def _run(self, action: Any, request: Request, private: bool = True) -> Response:  # noqa: FBT001, FBT002
        agent = self._agents.get(request.token, {})
        if private and not agent:
            challenge = 'Bearer error="invalid_token"' if request.token else "Bearer"
            return Response(401, b"", {"WWW-Authenticate": challenge})
        try:
            return Response(200, action(request, agent))
        except _Refusal as refusal:
            return refusal.args[0]

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = "wy_" + secrets.token_hex(24)
        agent = {"agent_id": str(uuid.uuid4()), "credits": 100}
        self._agents[token] = agent
        return Response(200, {**agent, "access_token": token, "token_type": "Bearer"})

    def tasks(self, request: Request) -> Response:
        return self._run(self._list, request, private=False)

    marketplace = tasks

    def _list(self, request: Request, agent: dict[str, Any]) -> Any:
        limit = request.query.get("limit", "20")
        if not re.fullmatch(r"-?\d{1,9}", limit):
            raise _invalid({"limit": [f"The value '{limit}' is not valid."]})
        if not 1 <= int(limit) <= 50:
            raise _invalid({"limit": ["The field limit must be between 1 and 50."]})
        found = [
            i["record"]
            for i in self._items.values()
            if i["record"]["status"] == "Available"
        ]
        return {
            "items": found[: int(limit)],
            "pageSize": int(limit),
            "totalCount": len(found),
        }

    def agents(self, request: Request) -> Response:
        slug, known = (
            request.query.get("slug"),
            [a["agent_id"] for a in self._agents.values()],
        )
        return Response(200, [{"id": key} for key in known if slug in (None, key)])

    directory = agents

    def claim(self, request: Request) -> Response:
        return self._run(self._claim, request)

    def _claim(self, request: Request, agent: dict[str, Any]) -> Any:
        body = _bind(request, CLAIM)
        now, errors = datetime.now(UTC), {}  # IValidatableObject
        if body["AgentId"] != agent["agent_id"]:
            errors["AgentId"] = ["AgentId does not match the access token."]
        if not now < body["DueAt"] <= now + timedelta(days=7):
            errors["DueAt"] = [
                "DueAt must be in the future and at most 7 days from now."
            ]
        if errors:
            raise _invalid(errors)
        if not (item := self._items.get(body["WorkItemId"])):
            raise _problem(
                404, detail=f"Work item '{body['WorkItemId']}' was not found."
            )
        if item["record"]["status"] != "Available":
            raise _problem(409, detail="The work item is already leased.")
        if (
            sum(
                x["agent"] is agent and x["state"] != "Settled"
                for x in self._leases.values()
            )
            >= 3
        ):
            raise _problem(409, detail="An agent can hold at most 3 open leases.")
        key = str(uuid.uuid4())
        self._leases[key] = {"agent": agent, "item": item, "state": "Active"}
        item["record"]["status"] = "Leased"
        self.book.claimed(item["record"]["id"])
        work = {
            **item["record"],
            "payload": {"sourceText": item["text"], "language": "en"},
        }
        return {"leaseId": key, "dueAt": body["DueAt"].isoformat(), "workItem": work}

    def _lease(self, key: str, agent: dict[str, Any], state: str) -> dict[str, Any]:
        lease = self._leases.get(key)
        if not lease or lease["agent"] is not agent:
            raise _problem(404, detail=f"Lease '{key}' was not found.")
        if lease["state"] != state:
            raise _problem(
                409, detail=f"The lease is {lease['state']}; it must be {state}."
            )
        return lease

    def submit(self, request: Request) -> Response:
        return self._run(self._submit, request)

    def _submit(self, request: Request, agent: dict[str, Any]) -> Any:
        body = _bind(request, SUBMIT)
        lease = self._lease(body["LeaseId"], agent, "Active")
        self._version += 1
        version, content = (
            self._version.to_bytes(8, "big"),
            body["Deliverable"]["Content"],
        )
        lease.update(state="UnderReview", content=content, version=version)
        row = base64.b64encode(version).decode()
        return {"leaseId": body["LeaseId"], "state": "UnderReview", "rowVersion": row}

    def complete(self, request: Request) -> Response:
        key = f"{request.token} {request.headers.get('Idempotency-Key')}"
        answer = self._settled.get(key) or self._run(self._complete, request)
        return self._settled.setdefault(key, answer) if answer.status == 200 else answer

    def _complete(self, request: Request, agent: dict[str, Any]) -> Any:
        if not request.headers.get("Idempotency-Key"):
            raise _problem(
                400, detail="The request header 'Idempotency-Key' is required."
            )
        body = _bind(request, COMPLETE)
        lease = self._lease(body["LeaseId"], agent, "UnderReview")
        if body["RowVersion"] != lease["version"]:
            raise _problem(
                409, detail="The submission was modified; its rowVersion differs."
            )
        item = lease["item"]
        if lease["content"] != item["text"].upper():
            lease["state"] = "Active"
            text = "The content is not the source text in upper case. Submit it again."
            raise _problem(
                422, "Deliverable rejected", detail=text, leaseId=body["LeaseId"]
            )
        lease["state"] = item["record"]["status"] = "Settled"
        self.book.pay(item["record"]["id"], item["amount"])
        agent["credits"] += item["amount"]
        settled = {"amount": item["amount"], "balance": agent["credits"]}
        return {"leaseId": body["LeaseId"], "state": "Settled", "settlement": settled}

    def post(self, request: Request) -> Response:
        return self._run(
            lambda r, _: {"id": str(uuid.uuid4()), **_bind(r, POST)}, request
        )

    def checkout(self, request: Request) -> Response:
        return self._run(
            lambda r, _: {"ok": True, "plan": _bind(r, CHECKOUT)["plan"]}, request
        )
