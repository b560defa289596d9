"""Inkwright: a copy desk on ASP.NET Core that reviews every delivery asynchronously.

A submission is answered 202 with a status address; a few seconds later an editor has
approved or rejected it. Completing an approved submission pays.
Checkout, posting and the directories are not deployed here.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import secrets
import time
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_REVIEWS = "/functions/v1/submission-reviews/"
_REVIEW_SECONDS = 3.0
_TITLES = {
    400: ("9110#section-15.5.1", "Bad Request"),
    404: ("9110#section-15.5.5", "Not Found"),
    409: ("9110#section-15.5.10", "Conflict"),
    415: ("9110#section-15.5.16", "Unsupported Media Type"),
}
_WORK = [
    ("Shop sign", "open every day except monday", 14),
    ("Poster headline", "the café on the corner is back", 22),
    ("Warning label", "keep dry; do not stack above 3 boxes", 9),
    ("Film title", "a quiet harbour in november", 31),
    ("Ticket header", "platform 7, coach b, seat 42", 17),
    ("Banner", "welcome home, team of 1998!", 26),
]


class _Refused(Exception):  # noqa: N818
    def __init__(self, response: Response) -> None:
        self.response = response


def _stamp(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def _problem(status: int, detail: str = "", **more: Any) -> _Refused:
    section, title = _TITLES[status]
    where = f"https://tools.ietf.org/html/rfc{section}"
    body: dict[str, Any] = {"type": where, "title": title, "status": status}
    body |= {"detail": detail, **more} if detail else more
    body["traceId"] = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-00"
    headers = {"Content-Type": "application/problem+json; charset=utf-8"}
    return _Refused(Response(status, body, headers))


def _invalid(errors: dict[str, list[str]]) -> _Refused:
    return _problem(400, title="One or more validation errors occurred.", errors=errors)


def _convert(value: Any, kind: str) -> Any:
    """Read a value as System.Text.Json would; ValueError where it would not."""
    if not isinstance(value, str):
        raise ValueError(kind)  # noqa: TRY004
    if kind == "System.Guid":
        return str(uuid.UUID(value))
    if kind == "System.DateTimeOffset":
        moment = datetime.fromisoformat(value)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return value


def _answering(method: Any) -> Any:
    def run(self: Any, request: Request) -> Response:
        try:
            return method(self, request)
        except _Refused as refused:
            return refused.response

    return run


class Inkwright(Backend):
    """The network: bare arrays, camelCase, GUIDs, RFC 9110 problem details."""

    def __init__(self) -> None:
        super().__init__()
        now = datetime.now(UTC).replace(microsecond=0)
        self._agents: dict[str, str] = {}  # token -> agent
        self._items: dict[str, dict[str, Any]] = {}
        self._assignments: dict[str, dict[str, Any]] = {}
        self._submissions: dict[str, dict[str, Any]] = {}
        for number, (headline, text, bounty) in enumerate(_WORK):
            key = str(uuid.uuid4())
            self._items[key] = {
                "id": key,
                "headline": headline,
                "brief": "Deliver the source text set entirely in upper case.",
                "sourceText": text,
                "bounty": bounty,
                "deadline": _stamp(now + timedelta(days=5 + number)),
                "state": "Open",
            }

    def texts(self) -> dict[str, str]:
        return {key: item["sourceText"] for key, item in self._items.items()}

    def missing(self, request: Request) -> Response:
        return Response(404)  # no endpoint matched: Kestrel says no more

    def _agent(self, request: Request) -> str:
        if request.token in self._agents:
            return self._agents[request.token]
        challenge = 'Bearer error="invalid_token"' if request.token else "Bearer"
        raise _Refused(Response(401, headers={"WWW-Authenticate": challenge}))

    def _bind(self, request: Request, fields: dict[str, str]) -> dict[str, Any]:
        """Bind the body to a record of nullable, required members."""
        media = (request.headers.get("Content-Type") or "").partition(";")[0]
        if media.strip().lower() != "application/json":
            raise _problem(415)
        required = {"request": ["The request field is required."]}
        if not request.raw.strip():
            raise _invalid({"": ["A non-empty request body is required."], **required})
        try:
            body = request.json()
        except ValueError as error:
            column = getattr(error, "colno", 1) - 1
            at = f"Path: $ | LineNumber: 0 | BytePositionInLine: {column}."
            said = f"The input does not contain valid JSON tokens. {at}"
            raise _invalid({"$": [said], **required}) from None
        if not isinstance(body, dict):
            said = "The JSON value could not be converted to Inkwright.Api.Request. Path: $."
            raise _invalid({"$": [said], **required})
        given = {name.lower(): (name, value) for name, value in body.items()}
        bound = {}
        for field, kind in fields.items():
            name, value = given.get(field.lower(), (field, None))
            try:
                bound[field] = None if value is None else _convert(value, kind)
            except ValueError:
                end = request.raw.find(json.dumps(name).encode()) + len(name) + 4
                said = f"The JSON value could not be converted to {kind}."
                at = f"Path: $.{name} | LineNumber: 0 | BytePositionInLine: {end}."
                raise _invalid({f"$.{name}": [f"{said} {at}"], **required}) from None
        absent = [f[0].upper() + f[1:] for f in fields if bound.get(f) in (None, "")]
        if absent:
            raise _invalid(
                {name: [f"The {name} field is required."] for name in absent}
            )
        return bound

    def _public(self, submission: dict[str, Any], base: str) -> dict[str, Any]:
        """Return a submission as its status address shows it, reviewed when due."""
        if submission["status"] == "InReview" and time.monotonic() >= submission["due"]:
            text = self._items[submission["workItemId"]]["sourceText"]
            right = submission["deliverable"] == text.upper()
            submission["status"] = "Approved" if right else "Rejected"
            said = "The deliverable is not the source text in upper case."
            submission["editorNote"] = None if right else said
        names = ("submissionId", "assignmentId", "workItemId", "status", "editorNote")
        record = {name: submission[name] for name in names}
        record["statusUrl"] = f"{base}{_REVIEWS}{submission['submissionId']}"
        return record

    def register(self, request: Request) -> Response:
        agent, token = str(uuid.uuid4()), secrets.token_urlsafe(32)
        self._agents[token] = agent
        self.book.registrations += 1
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    @_answering
    def tasks(self, request: Request) -> Response:
        given = request.query.get("limit", "50")
        if not given.isdigit():
            raise _invalid({"limit": [f"The value '{given}' is not valid."]})
        if not 1 <= int(given) <= 100:
            raise _invalid({"limit": ["The field limit must be between 1 and 100."]})
        free = [i for i in self._items.values() if i["state"] == "Open"]
        return Response(200, free[: int(given)], {"X-Total-Count": str(len(free))})

    marketplace = tasks

    @_answering
    def document(self, request: Request) -> Response:
        if not request.path.startswith(_REVIEWS):
            return self.missing(request)
        agent = self._agent(request)
        key = request.path.removeprefix(_REVIEWS)
        submission = self._submissions.get(key)
        if submission is None or submission["agent"] != agent:
            raise _problem(404)
        record = self._public(submission, request.base)
        return Response(200, record)

    @_answering
    def claim(self, request: Request) -> Response:
        agent = self._agent(request)
        fields = {"workItemId": "System.Guid", "expectedBy": "System.DateTimeOffset"}
        bound = self._bind(request, fields)
        item = self._items.get(bound["workItemId"])
        if item is None:
            raise _problem(404, f"Work item '{bound['workItemId']}' was not found.")
        last = datetime.fromisoformat(item["deadline"])
        if not datetime.now(UTC) < bound["expectedBy"] <= last:
            said = "ExpectedBy must be in the future and not later than the deadline"
            said += f" of the work item ({item['deadline']})."
            raise _invalid({"ExpectedBy": [said]})
        if item["state"] != "Open":
            raise _problem(409, f"Work item '{item['id']}' is already assigned.")
        item["state"] = "Assigned"
        key = str(uuid.uuid4())
        self._assignments[key] = {"agent": agent, "item": item, "submission": None}
        self.book.claimed(item["id"])
        promised = _stamp(bound["expectedBy"])
        return Response(
            201, {"assignmentId": key, "workItem": item, "expectedBy": promised}
        )

    @_answering
    def submit(self, request: Request) -> Response:
        agent = self._agent(request)
        wanted = {"assignmentId": "System.Guid", "deliverable": "System.String"}
        bound = self._bind(request, wanted)
        assignment = self._assignments.get(bound["assignmentId"])
        if assignment is None or assignment["agent"] != agent:
            raise _problem(404, f"Assignment '{bound['assignmentId']}' was not found.")
        before = assignment["submission"]
        if before and self._public(before, "")["status"] != "Rejected":
            raise _problem(
                409, f"Submission '{before['submissionId']}' is {before['status']}."
            )
        key = str(uuid.uuid4())
        submission = self._submissions[key] = assignment["submission"] = {
            "submissionId": key,
            "agent": agent,
            "workItemId": assignment["item"]["id"],
            "status": "InReview",
            "editorNote": None,
            **bound,
            "due": time.monotonic() + _REVIEW_SECONDS,
        }
        record = self._public(submission, request.base)
        return Response(
            202, record, {"Location": record["statusUrl"], "Retry-After": "2"}
        )

    @_answering
    def complete(self, request: Request) -> Response:
        agent = self._agent(request)
        key = self._bind(request, {"submissionId": "System.Guid"})["submissionId"]
        submission = self._submissions.get(key)
        if submission is None or submission["agent"] != agent:
            raise _problem(404, f"Submission '{key}' was not found.")
        record = self._public(submission, request.base)
        if record["status"] != "Approved":
            said = f"Submission '{key}' is {record['status']}; only Approved can be completed."
            raise _problem(409, said, statusUrl=record["statusUrl"])
        item = self._items[submission["workItemId"]]
        submission["status"] = item["state"] = "Completed"
        self.book.pay(item["id"], item["bounty"])
        paid = item["bounty"]
        return Response(
            200, {"submissionId": key, "status": "Completed", "bountyPaid": paid}
        )
