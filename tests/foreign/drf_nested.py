"""Django REST framework with writable nested serializers and slug-related fields.

Faults have the form of the body: a dictionary of lists under each nested serializer. A
task is known by its `uuid`, an assignment by a reference that its claim's answer gives,
a submission by its primary key. The format of a deliverable is a required choice, and each
task tells those that it takes. Pages are DRF's LimitOffsetPagination.
"""

import secrets
import uuid
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]
PROMPTS = (
    "an owl nests above the archive",
    "bring two chairs to the terrace",
    "the lighthouse keeper paints blue",
    "seven knots in a borrowed rope",
    "the market closes when it rains",
    "a parcel without any sender",
    "leave the window on the latch",
    "the old clock gains a minute",
    "pears ripen after they are picked",
)
FORMATS = ("plain", "markdown", "html")
REQUIRED = ["This field is required."]
PAGE_SIZE = 4


class ValidationError(Exception):
    def __init__(self, detail: Json, status: int = 400) -> None:
        super().__init__(detail)
        self.detail, self.status = detail, status


def non_field(*messages: str) -> Json:
    return {"non_field_errors": [*messages]}


def not_a_dictionary(value: object) -> Json:
    kind = type(value).__name__
    return non_field(f"Invalid data. Expected a dictionary, but got {kind}.")


def text_fault(given: Json, name: str) -> Json:
    """Return what a CharField says."""
    if name not in given:
        return {name: REQUIRED}
    if given[name] is None:
        return {name: ["This field may not be null."]}
    if not isinstance(given[name], str):
        return {name: ["Not a valid string."]}
    return {} if given[name].strip() else {name: ["This field may not be blank."]}


def choice_fault(given: Json, name: str) -> Json:
    """Return what a ChoiceField says."""
    if name in given and given[name] not in FORMATS:
        return {name: [f'"{given[name]}" is not a valid choice.']}
    return {} if name in given else {name: REQUIRED}


def nested_fault(
    body: Json, name: str, *faults: tuple[Callable[[Json, str], Json], str]
) -> Json:
    """Return what a nested serializer says."""
    if name not in body:
        return {name: REQUIRED}
    if not isinstance(body[name], dict):
        return {name: not_a_dictionary(body[name])}
    found: Json = {}
    for fault, inner in faults:
        found |= fault(body[name], inner)
    return {name: found} if found else {}


def body_of(request: Request) -> Json:
    try:
        body = request.json()
    except ValueError as fault:
        raise ValidationError({"detail": f"JSON parse error - {fault}"}) from None
    if not isinstance(body, dict):
        raise ValidationError(not_a_dictionary(body))
    return body


def is_uuid(value: object) -> bool:
    try:
        uuid.UUID(str(value))
    except ValueError:
        return False
    return True


class DrfNested(Backend):
    """Nine tasks of an editorial office."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens: set[str] = set()
        self.rows: dict[str, Json] = {}
        for n, prompt in enumerate(PROMPTS):
            key = str(uuid.uuid4())
            self.rows[key] = {
                "uuid": key,
                "brief": {"title": "Capitals, please", "text": prompt},
                "status": "OPEN",
                "payout": {"credits": n % 3 + 3},
                "accepted_formats": ["plain", "markdown"],
            }
        self.assignments: dict[str, str] = {}
        self.submissions: dict[int, str] = {}

    def texts(self) -> dict[str, str]:
        return {key: row["brief"]["text"] for key, row in self.rows.items()}

    def view(self, request: Request, run: Callable[[Request], Json]) -> Response:
        if request.token not in self.tokens:
            told = "Authentication credentials were not provided."
            return Response(401, {"detail": told}, {"WWW-Authenticate": "Bearer"})
        try:
            return Response(200, run(request))
        except ValidationError as no:
            return Response(no.status, no.detail)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(20)
        self.tokens.add(token)
        return Response(
            200,
            {"agent_id": str(uuid.uuid4()), "access_token": token, "credits": 100},
        )

    def tasks(self, request: Request) -> Response:
        return self.view(request, self.on_tasks)

    def on_tasks(self, request: Request) -> Json:
        limit = min(int(request.query.get("limit") or PAGE_SIZE), PAGE_SIZE)
        start = int(request.query.get("offset") or 0)
        every = list(self.rows.values())
        here, after = f"{request.base}{request.path}", start + limit
        return {
            "count": len(every),
            "next": f"{here}?limit={limit}&offset={after}"
            if after < len(every)
            else None,
            "previous": f"{here}?limit={limit}" if start else None,
            "results": every[start:after],
        }

    def claim(self, request: Request) -> Response:
        return self.view(request, self.on_claim)

    def on_claim(self, request: Request) -> Json:
        body = body_of(request)
        if "task" not in body:
            raise ValidationError({"task": REQUIRED})
        if not isinstance(body["task"], str) or not is_uuid(body["task"]):
            raise ValidationError({"task": ["Invalid value."]})
        row = self.rows.get(body["task"])
        if row is None:
            told = f"Object with uuid={body['task']} does not exist."
            raise ValidationError({"task": [told]})
        if row["status"] != "OPEN":
            raise ValidationError({"detail": "This task is already assigned."}, 409)
        row["status"] = "ASSIGNED"
        reference = f"AS-{secrets.token_hex(4).upper()}"
        self.assignments[reference] = row["uuid"]
        self.book.claimed(row["uuid"])
        return {"reference": reference, "task": row["uuid"], "status": "ACTIVE"}

    def submit(self, request: Request) -> Response:
        return self.view(request, self.on_submit)

    def on_submit(self, request: Request) -> Json:
        body = body_of(request)
        faults = nested_fault(body, "assignment", (text_fault, "reference"))
        faults |= nested_fault(
            body, "deliverable", (choice_fault, "format"), (text_fault, "body")
        )
        if faults:
            raise ValidationError(faults)
        reference = body["assignment"]["reference"]
        if reference not in self.assignments:
            told = f"Object with reference={reference} does not exist."
            raise ValidationError({"assignment": {"reference": [told]}})
        row = self.rows[self.assignments[reference]]
        if row["status"] != "ASSIGNED":
            raise ValidationError({"detail": "Already submitted."}, 409)
        if body["deliverable"]["body"] != row["brief"]["text"].upper():
            raise ValidationError(non_field("The deliverable does not fit the brief."))
        row["status"] = "SUBMITTED"
        key = 1041 + len(self.submissions)
        self.submissions[key] = row["uuid"]
        return {"id": key, "assignment": {"reference": reference}, **body}

    def complete(self, request: Request) -> Response:
        return self.view(request, self.on_complete)

    def on_complete(self, request: Request) -> Json:
        body = body_of(request)
        if "submission" not in body:
            raise ValidationError({"submission": REQUIRED})
        key = body["submission"]
        if not isinstance(key, int) and not str(key).isdecimal():
            kind = type(key).__name__
            told = f"Incorrect type. Expected pk value, received {kind}."
            raise ValidationError({"submission": [told]})
        if int(key) not in self.submissions:
            told = f'Invalid pk "{key}" - object does not exist.'
            raise ValidationError({"submission": [told]})
        row = self.rows[self.submissions[int(key)]]
        if row["status"] == "SUBMITTED":
            row["status"] = "PAID"
            self.book.pay(row["uuid"], row["payout"]["credits"])
        return {"submission": int(key), "status": "PAID", "payout": row["payout"]}
