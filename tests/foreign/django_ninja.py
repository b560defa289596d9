"""A Django Ninja API: pydantic's errors under the name of a Python parameter.

`loc` is ["body", "payload", "job_id"], and yet `payload` is only what the view calls its
argument: no such key is in the body. Keys are numbers, states two letters, money a decimal
as text. The listing is PageNumberPagination: `items` and `count`, ?page=2, and neither a
next address nor a page's number. Delivering wants the assignment that claiming made and
says what kind of thing it is, one of two literals; approving it pays.
"""

import secrets
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]

BRIEFS = (
    "the ferryman keeps a list of songs",
    "paint the shed before the frost",
    "a heron stands on one leg",
    "the clerk forgot the second stamp",
    "bring both keys to the cellar",
    "it snowed on the lemon trees",
    "the tailor measures everything twice",
    "leave the gate as you found it",
    "our train left from platform nine",
    "the lamp flickers when it rains",
    "a brass band plays at noon",
    "the map shows no such village",
)
PAGE = 5
OPEN, ASSIGNED, DELIVERED, DONE = "OP", "AS", "DL", "DN"


class HttpError(Exception):
    """Ninja's own: a status and {"detail": ...}."""

    def __init__(self, status: int, detail: Any) -> None:
        super().__init__(str(detail))
        self.status, self.detail = status, detail


def integer(value: object) -> tuple[str, str] | None:
    """Return pydantic's complaint about what should be a whole number, if any."""
    if isinstance(value, int):
        return None
    if isinstance(value, str):
        if value.strip().lstrip("+-").isdecimal():
            return None
        told = "Input should be a valid integer, unable to parse string as an integer"
        return "int_parsing", told
    return "int_type", "Input should be a valid integer"


def text(value: object) -> tuple[str, str] | None:
    """Return the complaint about what should be a text."""
    if isinstance(value, str):
        return None
    return "string_type", "Input should be a valid string"


def kind(value: object) -> tuple[str, str] | None:
    """Return the complaint about Literal["text", "file"]."""
    if value in ("text", "file"):
        return None
    return "literal_error", "Input should be 'text' or 'file'"


class DjangoNinja(Backend):
    """Twelve jobs."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens: dict[str, int] = {}
        self.assignments: dict[int, Json] = {}
        self.jobs: dict[int, Json] = {
            31 + 3 * n: {
                "id": 31 + 3 * n,
                "headline": "Write in capitals",
                "brief": brief,
                "fee": f"{n % 5 + 1}.00",
                "state": OPEN,
                "posted_at": "2025-04-02T08:30:00Z",
            }
            for n, brief in enumerate(BRIEFS)
        }

    def texts(self) -> dict[str, str]:
        return {str(key): job["brief"] for key, job in self.jobs.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, {"detail": "Not Found"})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(32)
        self.tokens[token] = 1000 + self.book.registrations
        told = {"agent_id": str(self.tokens[token]), "access_token": token}
        return Response(200, {**told, "credits": 100})

    def tasks(self, request: Request) -> Response:
        page = request.query.get("page", "1")
        if integer(page) or int(page) < 1:
            bad = {
                "type": "greater_than_equal",
                "loc": ["query", "page"],
                "msg": "Input should be greater than or equal to 1",
                "ctx": {"ge": 1},
            }
            return Response(422, {"detail": [bad]})
        every = [*self.jobs.values()]
        start = (int(page) - 1) * PAGE
        found = {"items": every[start : start + PAGE], "count": len(every)}
        return Response(200, found)

    def answered(self, request: Request, view: Callable[[Json], Json]) -> Response:
        try:
            return Response(200, view(self.authenticated(request)))
        except HttpError as no:
            return Response(no.status, {"detail": no.detail})

    def authenticated(self, request: Request) -> Any:
        if request.token not in self.tokens:
            raise HttpError(401, "Unauthorized")
        try:
            return request.json()
        except ValueError:
            raise HttpError(400, "Cannot parse request body") from None

    @staticmethod
    def payload(body: Any, **fields: Callable[[object], Any]) -> Json:
        """Return the fields of a schema, or tell all that is wrong with them."""
        if not isinstance(body, dict):
            bad = {
                "type": "model_attributes_type",
                "loc": ["body", "payload"],
                "msg": "Input should be a valid dictionary or object to extract"
                " fields from",
            }
            raise HttpError(422, [bad])
        found: list[Json] = []
        for name, complaint in fields.items():
            loc = ["body", "payload", name]
            if name not in body:
                found.append({"type": "missing", "loc": loc, "msg": "Field required"})
            elif told := complaint(body[name]):
                found.append({"type": told[0], "loc": loc, "msg": told[1]})
        if found:
            raise HttpError(422, found)
        return body

    def claim(self, request: Request) -> Response:
        return self.answered(request, self.on_claim)

    def on_claim(self, body: Json) -> Json:
        key = int(self.payload(body, job_id=integer)["job_id"])
        if key not in self.jobs:
            raise HttpError(404, "Not Found: No Job matches the given query.")
        job = self.jobs[key]
        if job["state"] != OPEN:
            raise HttpError(409, "This job has already been assigned.")
        job["state"] = ASSIGNED
        self.book.claimed(str(key))
        made: Json = {
            "id": 9000 + len(self.assignments),
            "job_id": key,
            "state": ASSIGNED,
            "due_at": "2031-01-01T00:00:00Z",
        }
        self.assignments[made["id"]] = made
        return made

    def assignment(self, body: Json) -> tuple[Json, Json]:
        key = int(body["assignment_id"])
        if key not in self.assignments:
            raise HttpError(404, "Not Found: No Assignment matches the given query.")
        made = self.assignments[key]
        return made, self.jobs[made["job_id"]]

    def submit(self, request: Request) -> Response:
        return self.answered(request, self.on_submit)

    def on_submit(self, body: Json) -> Json:
        wanted = self.payload(body, assignment_id=integer, kind=kind, content=text)
        made, job = self.assignment(wanted)
        if made["state"] != ASSIGNED:
            raise HttpError(409, "A delivery was already made.")
        if wanted["kind"] != "text" or wanted["content"] != job["brief"].upper():
            raise HttpError(409, "The delivery does not match the brief.")
        made["state"] = job["state"] = DELIVERED
        return made

    def complete(self, request: Request) -> Response:
        return self.answered(request, self.on_complete)

    def on_complete(self, body: Json) -> Json:
        made, job = self.assignment(self.payload(body, assignment_id=integer))
        if made["state"] != DELIVERED:
            raise HttpError(409, "Nothing was delivered yet.")
        made["state"] = job["state"] = DONE
        fee = int(float(job["fee"]))
        self.book.pay(str(job["id"]), fee)
        return {**made, "fee": job["fee"]}
