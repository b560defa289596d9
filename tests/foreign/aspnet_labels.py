"""An ASP.NET Core 9 team: a logistics firm's desk for the lettering of pallet labels.

Stack: minimal APIs, records with data annotations (MiniValidation), System.Text.Json with
web defaults (camelCase, names read without case, numbers may come as strings), unmapped
members disallowed, ProblemDetails everywhere, GUIDs as identifiers, row versions.

Listing: {"items": [..], "totalCount", "continuationToken"}; an item has workItemId,
reference, kind, instructions, reward {credits, currency}, status, rowVersion, createdAt.
The text is not in it.

Claim wants {"workItemId": GUID, "rowVersion": as listed}; answers {"assignment":
{"assignmentId", ..}, "content": {"language", "text"}}; repeated: the same answer.
Submit wants {"assignmentId": GUID, "deliverable": {"text": ".."}, "effortSeconds": 1 to
86400}; answers {"assignmentId", "status": "Submitted", ..}. Wrong work: 422 problem.
Complete wants {"assignmentId": GUID}; answers {"receipt": {..credits}, "balance"}; a second
complete is a 409 problem.

Errors: application/problem+json; 400 with "errors" by property for annotations, 400 with
"detail" for JSON that cannot be bound, 401, 404, 409, 422; each has a traceId.
"""

import base64
import re
import secrets
import time
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ITEMS = [
    ("PL-20391", "fragile glass bottles keep upright at all times", 20),
    ("PL-20392", "frozen fish do not thaw before delivery", 13),
    ("PL-20395", "handle with care musical instruments inside", 17),
    ("PL-20398", "this side up and away from heat", 9),
    ("PL-20401", "returned goods from store number forty two in Lyon", 22),
    ("PL-20404", "live plants open within two days of arrival", 15),
    ("PL-20409", "spare parts for the northern wind farm, second crate of five", 26),
]
TYPES = {
    400: ("https://tools.ietf.org/html/rfc9110#section-15.5.1", "Bad Request"),
    401: ("https://tools.ietf.org/html/rfc9110#section-15.5.2", "Unauthorized"),
    403: ("https://tools.ietf.org/html/rfc9110#section-15.5.4", "Forbidden"),
    404: ("https://tools.ietf.org/html/rfc9110#section-15.5.5", "Not Found"),
    409: ("https://tools.ietf.org/html/rfc9110#section-15.5.10", "Conflict"),
    422: ("https://tools.ietf.org/html/rfc4918#section-11.2", "Unprocessable Entity"),
}
CLAIM = {"workItemId": "System.Guid", "rowVersion": "System.String"}
DELIVERABLE = {"text": "System.String"}
SUBMIT = {
    "assignmentId": "System.Guid",
    "deliverable": ("LabelDesk.Api.Contracts.Deliverable", DELIVERABLE),
    "effortSeconds": "System.Int32",
}
COMPLETE = {"assignmentId": "System.Guid"}


class RefusedError(Exception):
    """A problem that a handler answers with."""

    def __init__(self, status: int, detail: str = "", **extensions: Any) -> None:
        super().__init__(detail)
        type_, title = TYPES[status]
        body: dict[str, Any] = {"type": type_, "title": title, "status": status}
        if detail:
            body["detail"] = detail
        body.update(extensions)
        body["traceId"] = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-00"
        self.response = Response(
            status, body, {"Content-Type": "application/problem+json; charset=utf-8"}
        )


def _version() -> str:
    return base64.b64encode(b"\0\0\0\0\0" + secrets.token_bytes(3)).decode()


def _pascal(name: str) -> str:
    return name[0].upper() + name[1:]


def _convert(value: Any, type_: str, path: str) -> Any:
    """Read one value as System.Text.Json would, or refuse it as it would."""
    if type_ == "System.String" and isinstance(value, str):
        return value
    if type_ == "System.Int32":
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,9}", value):
            return int(value)
    guid = r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    if type_ == "System.Guid" and re.fullmatch(guid, str(value)):
        return str(value).lower()
    raise RefusedError(
        400, f"The JSON value could not be converted to {type_}. Path: {path}."
    )


def _bind(
    body: Any, members: dict[str, Any], type_: str, path: str = "$"
) -> dict[str, Any]:
    """Bind a JSON object to a record; members that are absent or null are None."""
    if not isinstance(body, dict):
        raise RefusedError(
            400, f"The JSON value could not be converted to {type_}. Path: {path}."
        )
    names = {name.lower(): name for name in members}
    bound: dict[str, Any] = dict.fromkeys(members)
    for key, value in body.items():
        name = names.get(key.lower())
        if name is None:
            raise RefusedError(
                400,
                f"The JSON property '{key}' could not be mapped to any .NET member "
                f"contained in type '{type_}'.",
            )
        if value is None:
            continue
        want = members[name]
        if isinstance(want, tuple):
            bound[name] = _bind(value, want[1], want[0], f"{path}.{name}")
        else:
            bound[name] = _convert(value, want, f"{path}.{name}")
    return bound


class AspNet(Backend):
    """The label desk."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._items: dict[str, dict[str, Any]] = {}  # by work item
        self._assignments: dict[str, dict[str, Any]] = {}
        for reference, text, credits_ in ITEMS:
            number = str(uuid.uuid4())
            self._items[number] = {
                "text": text,
                "credits": credits_,
                "public": {
                    "workItemId": number,
                    "reference": reference,
                    "kind": "LabelLettering",
                    "instructions": "Convert the label text to upper case. Keep spacing "
                    "and punctuation. The text is part of the assignment.",
                    "reward": {"credits": credits_, "currency": "CR"},
                    "status": "Open",
                    "rowVersion": _version(),
                    "createdAt": "2025-03-04T08:12:44.1190000+00:00",
                },
            }

    def texts(self) -> dict[str, str]:
        return {number: item["text"] for number, item in self._items.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(32)
        number = str(uuid.uuid4())
        self._agents[token] = {"id": number, "credits": 100}
        return Response(
            200, {"agent_id": number, "access_token": token, "credits": 100}
        )

    def marketplace(self, request: Request) -> Response:
        open_ = [
            item["public"]
            for item in self._items.values()
            if item["public"]["status"] == "Open"
        ]
        limit = request.query.get("limit", "20")
        if not re.fullmatch(r"-?[0-9]{1,9}", limit):
            return RefusedError(
                400, f'Failed to bind parameter "int limit" from "{limit}".'
            ).response
        shown = open_[: max(1, min(100, int(limit)))]
        return Response(
            200, {"items": shown, "totalCount": len(open_), "continuationToken": None}
        )

    tasks = marketplace

    def claim(self, request: Request) -> Response:
        try:
            agent = self._agent(request)
            body = self._body(request, CLAIM, "ClaimRequest")
            self._require(body, "workItemId", "rowVersion")
            item = self._items.get(body["workItemId"])
            if not item:
                raise RefusedError(
                    404, f"Work item '{body['workItemId']}' does not exist."
                )
            held = item.get("assignment")
            if held and held["agent"] is not agent:
                raise RefusedError(409, "The work item is assigned to another agent.")
            if not held:
                if body["rowVersion"] != item["public"]["rowVersion"]:
                    raise RefusedError(
                        409,
                        "The row version does not match the current row version of the "
                        "work item. Reload the work item and try again.",
                    )
                number = str(uuid.uuid4())
                due = time.strftime(
                    "%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(time.time() + 3600)
                )
                held = {"agent": agent, "item": item, "status": "Assigned", "due": due}
                held["number"] = number
                item["assignment"] = self._assignments[number] = held
                item["public"]["status"] = "Assigned"
                item["public"]["rowVersion"] = _version()
                self.book.claimed(item["public"]["workItemId"])
        except RefusedError as problem:
            return problem.response
        return Response(
            200,
            {
                "assignment": {
                    "assignmentId": held["number"],
                    "workItemId": item["public"]["workItemId"],
                    "status": held["status"],
                    "dueAt": held["due"],
                },
                "content": {"language": "en", "text": item["text"]},
            },
        )

    def submit(self, request: Request) -> Response:
        try:
            agent = self._agent(request)
            body = self._body(request, SUBMIT, "SubmitRequest")
            self._require(body, "assignmentId", "deliverable", "effortSeconds")
            held = self._assignment(body["assignmentId"], agent)
            if held["status"] == "Completed":
                raise RefusedError(409, "The assignment is already completed.")
            if body["deliverable"]["text"] != held["item"]["text"].upper():
                raise RefusedError(
                    422, "The deliverable is not the upper case form of the label text."
                )
            held["status"] = held["item"]["public"]["status"] = "Submitted"
        except RefusedError as problem:
            return problem.response
        return Response(
            200,
            {"assignmentId": held["number"], "status": "Submitted", "next": "complete"},
        )

    def complete(self, request: Request) -> Response:
        try:
            agent = self._agent(request)
            body = self._body(request, COMPLETE, "CompleteRequest")
            self._require(body, "assignmentId")
            held = self._assignment(body["assignmentId"], agent)
            if held["status"] == "Assigned":
                raise RefusedError(
                    409, "Nothing has been submitted for the assignment."
                )
            if held["status"] == "Completed":
                raise RefusedError(409, "The assignment is already completed.")
            item = held["item"]
            held["status"] = item["public"]["status"] = "Completed"
            agent["credits"] += item["credits"]
            self.book.pay(item["public"]["workItemId"], item["credits"])
        except RefusedError as problem:
            return problem.response
        return Response(
            200, {"receipt": {"credits": item["credits"]}, "balance": agent["credits"]}
        )

    def _agent(self, request: Request) -> dict[str, Any]:
        agent = self._agents.get(request.token)
        if not agent:
            problem = RefusedError(401)
            problem.response.headers["WWW-Authenticate"] = "Bearer"
            raise problem
        return agent

    @staticmethod
    def _body(request: Request, members: dict[str, Any], name: str) -> dict[str, Any]:
        type_ = f"LabelDesk.Api.Contracts.{name}"
        try:
            body = request.json()
        except ValueError:
            raise RefusedError(
                400,
                f'Failed to read parameter "{name} request" from the request body as JSON.',
            ) from None
        return _bind(body, members, type_)

    @staticmethod
    def _require(body: dict[str, Any], *names: str) -> None:
        """Check the annotations: [Required] on most, [Range] on the effort."""
        errors = {}
        for name in names:
            value = body[name]
            label = _pascal(name)
            if name == "effortSeconds":
                if not 1 <= (value or 0) <= 86400:
                    errors[label] = [f"The field {label} must be between 1 and 86400."]
            elif value in (None, ""):
                errors[label] = [f"The {label} field is required."]
            elif isinstance(value, dict) and not (value["text"] or "").strip():
                errors[f"{label}.Text"] = ["The Text field is required."]
        if errors:
            problem = RefusedError(400, errors=errors)
            problem.response.body["title"] = "One or more validation errors occurred."
            raise problem

    def _assignment(self, number: str, agent: dict[str, Any]) -> dict[str, Any]:
        held = self._assignments.get(number)
        if not held:
            raise RefusedError(404, f"Assignment '{number}' does not exist.")
        if held["agent"] is not agent:
            raise RefusedError(403)
        return held
