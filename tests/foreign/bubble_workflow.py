"""A Bubble app: API workflows, and things whose fields have blanks in their names.

A workflow names the first parameter that it lacks; others it does not look at. A thing
that is no thing of the right type is refused with the parameter's name. Dates and types
stand in each thing, and the Data API counts what remains. A yes is
`{"status": "success", "response": {...}}`, and what a workflow answers is up to its author.
"""

import secrets
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TEXTS = (
    "the glazier whistles at the window",
    "there is sand in the sugar bowl",
    "pack the blue cups in newspaper",
    "the tram driver waved at my dog",
    "a spider moved into the letterbox",
    "the noodles are older than the chef",
    "one sock always stays behind",
    "the lake was quiet after the regatta",
    "leave the gate as you found it",
    "the tuba player missed the bus",
    "mushrooms grow behind the chapel",
    "our lift speaks with an accent",
)
CREATED = 1_741_000_000_000
WORKFLOWS = {
    "claim": ("job",),
    "submit": ("booking", "delivery_text"),
    "complete": ("booking",),
}


class WorkflowError(Exception):
    def __init__(self, code: int, status: str, message: str) -> None:
        super().__init__(message)
        body = {"status": status, "message": message}
        self.response = Response(code, {"statusCode": code, "body": body})


def thing_id() -> str:
    return f"17410000{secrets.randbelow(10**5):05}x{secrets.randbelow(10**18):018}"


class Bubble(Backend):
    """Twelve things."""

    def __init__(self) -> None:
        super().__init__()
        self.users: dict[str, str] = {}
        self.things = {
            thing_id(): {
                "Text to convert": text,
                "Pays credits": at % 5 + 1,
                "Taken?": False,
            }
            for at, text in enumerate(TEXTS)
        }
        self.bookings: dict[str, tuple[str, str]] = {}
        self.delivered: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {key: str(one["Text to convert"]) for key, one in self.things.items()}

    def missing(self, request: Request) -> Response:
        told = "Workflow not found"
        return WorkflowError(404, "NOT_FOUND", told).response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        user, token = thing_id(), secrets.token_hex(16)
        self.users[token] = user
        return Response(200, {"agent_id": user, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        results = [
            {
                **thing,
                "Created Date": CREATED + 1000 * at,
                "Modified Date": CREATED + 1000 * at,
                "Created By": "admin_user_bubble-test",
                "_id": key,
            }
            for at, (key, thing) in enumerate(self.things.items())
            if not thing["Taken?"]
        ]
        counts = {"cursor": 0, "count": len(results), "remaining": 0}
        return Response(200, {"response": {"results": results, **counts}})

    def user(self, request: Request) -> str:
        if request.token not in self.users:
            raise WorkflowError(401, "NOT_AUTHORIZED", "Invalid token")
        return self.users[request.token]

    def answered(
        self, request: Request, name: str, run: Callable[[str, dict[str, str]], Any]
    ) -> Response:
        try:
            user = self.user(request)
            answer = run(user, parameters(request, name))
            return Response(200, {"status": "success", "response": answer})
        except WorkflowError as no:
            return no.response

    def claim(self, request: Request) -> Response:
        return self.answered(request, "claim", self.on_claim)

    def on_claim(self, user: str, given: dict[str, str]) -> Any:
        thing = self.things.get(given["job"])
        if thing is None:
            raise no_thing("job", given["job"])
        if thing["Taken?"]:
            told = "Workflow error - This job is taken"
            raise WorkflowError(409, "WORKFLOW_ERROR", told)
        thing["Taken?"] = True
        booking = thing_id()
        self.bookings[booking] = user, given["job"]
        self.book.claimed(given["job"])
        return {"booking": booking}

    def own(self, user: str, booking: str) -> str:
        owner, job = self.bookings.get(booking, ("", ""))
        if owner != user:
            raise no_thing("booking", booking)
        return job

    def submit(self, request: Request) -> Response:
        return self.answered(request, "submit", self.on_submit)

    def on_submit(self, user: str, given: dict[str, str]) -> Any:
        job = self.own(user, given["booking"])
        if given["delivery_text"] != str(self.things[job]["Text to convert"]).upper():
            told = "Workflow error - Not what was ordered"
            raise WorkflowError(422, "WORKFLOW_ERROR", told)
        self.delivered.add(job)
        return {}

    def complete(self, request: Request) -> Response:
        return self.answered(request, "complete", self.on_complete)

    def on_complete(self, user: str, given: dict[str, str]) -> Any:
        job = self.own(user, given["booking"])
        if job not in self.delivered:
            told = "Workflow error - Nothing has been delivered"
            raise WorkflowError(409, "WORKFLOW_ERROR", told)
        pay = int(str(self.things[job]["Pays credits"]))
        if job not in self.book.paid:
            self.book.pay(job, pay)
        return {"credits paid": pay}


def no_thing(name: str, value: str) -> WorkflowError:
    told = f"Invalid data for field {name}: object with this id does not exist: {value}"
    return WorkflowError(400, "INVALID_DATA", told)


def parameters(request: Request, name: str) -> dict[str, str]:
    try:
        body = request.json()
    except ValueError as fault:
        raise WorkflowError(400, "INVALID_JSON", "The body is not JSON") from fault
    body = body if isinstance(body, dict) else {}
    found = {}
    for wanted in WORKFLOWS[name]:
        value = body.get(wanted)
        if value is None or value == "":
            told = (
                f"Missing parameter for workflow {name}-task-public: parameter {wanted}"
            )
            raise WorkflowError(400, "MISSING_DATA", told)
        if not isinstance(value, str):
            told = f"Invalid data for field {wanted}: expected a string, got {value!r}"
            raise WorkflowError(400, "INVALID_DATA", told)
        found[wanted] = value
    return found
