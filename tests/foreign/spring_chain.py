"""Spring Boot 3 with records: ProblemDetail, `errors`, and Jackson's reference chains.

A body that Jackson cannot read is told with its most specific cause, class names and all;
what bean validation finds is a list under `errors`. A deliverable is a record with an enum,
and a submission carries its own request identifier. Unknown properties are ignored. The
listing is Spring Data's PagedModel, counted from zero, and holds tasks in every state.
"""

import json
import secrets
import uuid
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]
PROMPTS = (
    "the miller counts eleven sacks",
    "no train stops here on sundays",
    "a blue kite above the allotments",
    "the porter whistles an old march",
    "wipe your boots before the hall",
    "the inn keeps one room for poets",
    "chestnuts roast beside the tram",
    "the river has two names in town",
    "an empty chair at the long table",
)
PACKAGE = "io.acme.market.api"
SIZE = 4
KINDS = ("TEXT", "JSON", "LINK")
WHERE = (
    "\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled);"
    " line: 1, column: {}] (through reference chain: {})"
)


class ProblemError(Exception):
    def __init__(self, status: int, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.status, self.detail, self.more = status, detail, more


class Mapper:
    """Jackson, as far as these records need it."""

    def __init__(self, request: Request, record: str) -> None:
        self.record, self.text = record, request.raw.decode()
        try:
            self.body = json.loads(self.text)
        except ValueError:
            raise self.unreadable("Unexpected end-of-input") from None
        if not isinstance(self.body, dict):
            told = f"Cannot deserialize value of type `{PACKAGE}.{record}` from Array"
            raise self.unreadable(told)

    def unreadable(self, cause: str, chain: str = "") -> ProblemError:
        if chain:
            cause += WHERE.format(len(self.text) // 2, chain)
        return ProblemError(400, f"JSON parse error: {cause}")

    def uuid(self, name: str) -> str | None:
        value = self.body.get(name)
        chain = f'{PACKAGE}.{self.record}["{name}"]'
        if value is None:
            return None
        if not isinstance(value, str):
            token = "from Object value (token `JsonToken.START_OBJECT`)"
            if not isinstance(value, dict):
                token = f"from Integer value ({value})"
            told = f"Cannot deserialize value of type `java.util.UUID` {token}"
            raise self.unreadable(told, chain)
        try:
            return str(uuid.UUID(value))
        except ValueError:
            told = (
                "Cannot deserialize value of type `java.util.UUID` from String "
                f'"{value}": UUID has to be represented by standard 36-char '
                "representation"
            )
            raise self.unreadable(told, chain) from None

    def string(self, given: Json, name: str, record: str) -> str | None:
        value = given.get(name)
        if isinstance(value, dict | list):
            start = "START_OBJECT" if isinstance(value, dict) else "START_ARRAY"
            kind = "Object" if isinstance(value, dict) else "Array"
            told = (
                "Cannot deserialize value of type `java.lang.String` from "
                f"{kind} value (token `JsonToken.{start}`)"
            )
            raise self.unreadable(told, f'{PACKAGE}.{record}["{name}"]')
        return None if value is None else str(value)

    def deliverable(self) -> Json | None:
        given, record = self.body.get("deliverable"), f"{PACKAGE}.Deliverable"
        chain = f'{PACKAGE}.{self.record}["deliverable"]'
        if given is None:
            return None
        if not isinstance(given, dict):
            told = (
                f"Cannot construct instance of `{record}` (although at least one "
                "Creator exists): no String-argument constructor/factory method to "
                f"deserialize from String value ('{given}')"
            )
            raise self.unreadable(told, chain)
        kind = given.get("kind")
        if kind is not None and kind not in KINDS:
            told = (
                f"Cannot deserialize value of type `{PACKAGE}.DeliverableKind` from "
                f'String "{kind}": not one of the values accepted for Enum class: '
                f"[{', '.join(KINDS)}]"
            )
            raise self.unreadable(told, f'{chain}->{record}["kind"]')
        content = self.string(given, "content", "Deliverable")
        return {"kind": kind, "content": content}


def validate(**faults: str) -> None:
    """Raise what bean validation found; a double underscore stands for a dot."""
    errors = [
        {"field": name.replace("__", "."), "message": message}
        for name, message in faults.items()
        if message
    ]
    if errors:
        raise ProblemError(400, "Invalid request content.", errors=errors)


def not_null(value: object) -> str:
    return "must not be null" if value is None else ""


def not_blank(value: str | None) -> str:
    return "" if value and value.strip() else "must not be blank"


class SpringChain(Backend):
    """Nine tasks behind JPA."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens: set[str] = set()
        self.rows: dict[str, Json] = {}
        for n, prompt in enumerate(PROMPTS):
            key = str(uuid.uuid4())
            self.rows[key] = {
                "taskId": key,
                "headline": "Upper case",
                "payload": {"text": prompt, "language": "en"},
                "compensation": {"amount": n % 3 + 2.00, "unit": "CREDITS"},
                "taskStatus": "OPEN",
                "createdAt": "2026-11-14T16:20:44.901Z",
            }
        self.assignments: dict[str, str] = {}
        self.submissions: dict[str, Json] = {}  # by request

    def texts(self) -> dict[str, str]:
        return {key: row["payload"]["text"] for key, row in self.rows.items()}

    def controller(self, request: Request, run: Callable[[Request], Any]) -> Response:
        if request.token not in self.tokens:
            return Response(401, "", {"WWW-Authenticate": "Bearer"})
        try:
            return Response(200, run(request))
        except ProblemError as no:
            title = {400: "Bad Request", 404: "Not Found", 409: "Conflict"}
            body = {
                "type": "about:blank",
                "title": title.get(no.status, "Unprocessable Entity"),
                "status": no.status,
                "detail": no.detail,
                "instance": request.path,
                **no.more,
            }
            headers = {"Content-Type": "application/problem+json"}
            return Response(no.status, body, headers)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(32)
        self.tokens.add(token)
        return Response(
            200,
            {"agent_id": str(uuid.uuid4()), "access_token": token, "credits": 100},
        )

    def tasks(self, request: Request) -> Response:
        return self.controller(request, self.on_tasks)

    def on_tasks(self, request: Request) -> Json:
        number = int(request.query.get("page") or 0)
        every = list(self.rows.values())
        return {
            "content": every[number * SIZE : (number + 1) * SIZE],
            "page": {
                "size": SIZE,
                "number": number,
                "totalElements": len(every),
                "totalPages": -(-len(every) // SIZE),
            },
        }

    def claim(self, request: Request) -> Response:
        return self.controller(request, self.on_claim)

    def on_claim(self, request: Request) -> Json:
        task = Mapper(request, "ClaimRequest").uuid("taskId")
        validate(taskId=not_null(task))
        row = self.rows.get(str(task))
        if row is None:
            raise ProblemError(404, f"Task {task} was not found.")
        if row["taskStatus"] != "OPEN":
            raise ProblemError(409, "Task is not open.")
        row["taskStatus"] = "ASSIGNED"
        assignment = str(uuid.uuid4())
        self.assignments[assignment] = row["taskId"]
        self.book.claimed(row["taskId"])
        return {"assignmentId": assignment, "taskId": task, "status": "ASSIGNED"}

    def assigned(self, assignment: str | None) -> Json:
        if assignment not in self.assignments:
            raise ProblemError(404, f"Assignment {assignment} was not found.")
        return self.rows[self.assignments[assignment]]

    def submit(self, request: Request) -> Response:
        return self.controller(request, self.on_submit)

    def on_submit(self, request: Request) -> Json:
        mapper = Mapper(request, "SubmitRequest")
        assignment, given = mapper.uuid("assignmentId"), mapper.deliverable()
        token = mapper.string(mapper.body, "requestId", "SubmitRequest")
        validate(
            assignmentId=not_null(assignment),
            deliverable=not_null(given),
            deliverable__kind=not_null(given["kind"]) if given else "",
            deliverable__content=not_blank(given["content"]) if given else "",
            requestId=not_blank(token),
        )
        row = self.assigned(assignment)
        assert given is not None
        assert token is not None
        if token in self.submissions:
            return self.submissions[token]
        if row["taskStatus"] != "ASSIGNED":
            raise ProblemError(409, "A result was submitted before.")
        if given["content"] != row["payload"]["text"].upper():
            raise ProblemError(422, "The deliverable was not accepted.")
        row["taskStatus"] = "SUBMITTED"
        answer = {"assignmentId": assignment, "status": "SUBMITTED"}
        self.submissions[token] = answer
        return answer

    def complete(self, request: Request) -> Response:
        return self.controller(request, self.on_complete)

    def on_complete(self, request: Request) -> Json:
        assignment = Mapper(request, "CompleteRequest").uuid("assignmentId")
        validate(assignmentId=not_null(assignment))
        row = self.assigned(assignment)
        if row["taskStatus"] == "ASSIGNED":
            raise ProblemError(409, "Nothing was submitted yet.")
        if row["taskStatus"] == "SUBMITTED":
            row["taskStatus"] = "SETTLED"
            self.book.pay(row["taskId"], int(row["compensation"]["amount"]))
        return {
            "assignmentId": assignment,
            "status": "SETTLED",
            "compensation": row["compensation"],
        }
