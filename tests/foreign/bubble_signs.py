"""A no-code app: Bubble, its Data API for the lists and its API workflows for the rest.

Records have Bubble's unique ids and field names as the editor shows them; a workflow names
one missing parameter at a time. Anything may be submitted; completing checks and pays.
"""

import json
import secrets
import time
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from tests.foreign.backend import Backend, Request, Response

_TASKS = [
    ("Menu board", "soup of the day: lentil", 20),
    ("Raffle ticket", "one winner per table", 14),
    ("Locker tag", "property of the rowing club", 45),
    ("Door hanger", "please do not disturb", 10),
    ("Seed packet", "sow in march, harvest in july", 33),
]
_PHRASES = {bool: "boolean", int: "number", float: "number", str: "string"}


def _unique_id() -> str:
    return f"{int(time.time() * 1000)}x{10**17 + secrets.randbelow(9 * 10**17)}"


def _no(code: int, status: str, message: str) -> Response:
    body = {"status": status, "message": message}
    return Response(code, {"statusCode": code, "body": body})


def _date(value: Any) -> datetime | None:
    """Return a date as Bubble reads it: ISO 8601 or UNIX milliseconds."""
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000, UTC)
        moment = datetime.fromisoformat(value)
    except (ValueError, AttributeError, OverflowError, OSError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _fits(value: Any, type_: str) -> bool:
    if type_ == "date":
        return _date(value) is not None
    if type_ == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, bool if type_ == "boolean" else str)


def _done(**values: Any) -> Response:
    return Response(200, {"status": "success", "response": values})


class BubbleNetwork(Backend):
    """Things with unique ids, workflow parameters with types, payment on completion."""

    def __init__(self) -> None:
        super().__init__()
        self._users: dict[str, dict[str, Any]] = {}  # by token
        # The tables of the app; a record is called a thing.
        self._things: dict[str, dict[str, dict[str, Any]]]
        self._things = {"Task": {}, "Claim": {}, "Submission": {}}
        for name, text, credits_ in _TASKS:
            record = {
                "Name": name,
                "Instructions": "Send back the Source Text in capital letters",
                "Source Text": text,
                "Reward Credits": credits_,
                "Task Status": "Open",
            }
            self._create("Task", "admin_user_netapp_live", record)

    def _create(self, type_: str, user: str, values: dict[str, Any]) -> dict[str, Any]:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        stamps = {"Created Date": now, "Modified Date": now, "Created By": user}
        thing = {"_id": _unique_id(), **stamps, **values}
        self._things[type_][thing["_id"]] = thing
        return thing

    def texts(self) -> dict[str, str]:
        return {id_: task["Source Text"] for id_, task in self._things["Task"].items()}

    def missing(self, request: Request) -> Response:
        name = request.path.rsplit("/", 1)[-1]
        return _no(404, "NOT_FOUND", f"Workflow not found {name}")

    def _user(self, request: Request) -> Any:
        if user := self._users.get(request.token):
            return user
        said = "INVALID_ACCESS_TOKEN" if request.token else "NOT_LOGGED_IN"
        text = "Permission denied: this endpoint requires authentication"
        if request.token:
            text = f"Invalid access token: {request.token}"
        body = {"error_class": "Unauthorized", "args": {"code": said}, "message": said}
        return Response(401, {**body, "translation": text})

    def _run(self, request: Request, workflow: str, wanted: dict[str, str]) -> Any:
        """Return the user and the parameters of a workflow, or Bubble's refusal."""
        user = self._user(request)
        if isinstance(user, Response):
            return user
        try:
            body = request.json() if request.raw else {}
        except ValueError as error:
            return _no(
                400, "ERROR_PARSING_JSON", f"Could not parse the body as JSON: {error}"
            )
        if not isinstance(body, dict):
            return _no(400, "INVALID_DATA", "The body should be a JSON object")
        values = {}
        for name, type_ in wanted.items():  # what it does not know it ignores
            value = body.get(name)
            if value is None or value == "":
                text = f"Missing parameter for workflow {workflow}: parameter {name}"
                return _no(400, "MISSING_DATA", text)
            if type_ in self._things:
                found = (
                    self._things[type_].get(value) if isinstance(value, str) else None
                )
                if found is None:
                    text = f"object with this id does not exist: {value}"
                    return _no(
                        400, "INVALID_DATA", f"Invalid data for field {name}: {text}"
                    )
                values[name] = found
                continue
            if not _fits(value, type_):
                got = _PHRASES.get(type(value), "object")
                shown = json.dumps(value, ensure_ascii=False)
                text = f"Expected a {type_}, but got a {got} (original data: {shown})"
                return _no(
                    400, "INVALID_DATA", f"Invalid data for field {name}: {text}"
                )
            values[name] = value
        return user, values

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = f"bus|{_unique_id()}|{uuid4().hex}"
        user = {"agent_id": _unique_id(), "credits": 100}
        self._users[token] = user
        return Response(200, {**user, "access_token": token})

    def _search(self, request: Request, things: list[dict[str, Any]]) -> Response:
        numbers = {}
        for name, default in (("cursor", 0), ("limit", 100)):
            given = request.query.get(name, str(default))
            if not given.isdecimal():
                text = f"Invalid value for {name}: expected a positive integer, got {given}"
                return _no(400, "INVALID_DATA", text)
            numbers[name] = int(given)
        start = numbers["cursor"]
        page = things[start : start + min(numbers["limit"], 100)]
        rest = max(0, len(things) - start - len(page))
        found = {
            "cursor": start,
            "results": page,
            "count": len(page),
            "remaining": rest,
        }
        return Response(200, {"response": found})

    def marketplace(self, request: Request) -> Response:
        tasks = self._things["Task"].values()
        return self._search(request, [t for t in tasks if t["Task Status"] == "Open"])

    def tasks(self, request: Request) -> Response:
        user = self._user(request)
        return user if isinstance(user, Response) else self.marketplace(request)

    def agents(self, request: Request) -> Response:
        return self._search(
            request, [{"_id": u["agent_id"]} for u in self._users.values()]
        )

    directory = agents

    def post(self, request: Request) -> Response:
        return _no(
            400, "NOT_RUN", "Workflow not run: the user's email is not confirmed"
        )

    checkout = post

    def claim(self, request: Request) -> Response:
        wanted = {"task": "Task", "due_date": "date"}
        run = self._run(request, "claim-task-public", wanted)
        if isinstance(run, Response):
            return run
        user, values = run
        task, due = values["task"], _date(values["due_date"])
        if due is None or due <= datetime.now(UTC):
            return _no(
                400, "NOT_RUN", "Claim not created: due_date must be in the future"
            )
        if task["Task Status"] != "Open":
            text = f"Claim not created: Task Status is {task['Task Status']}, not Open"
            return _no(400, "NOT_RUN", text)
        task["Task Status"] = "In Progress"
        self.book.claimed(task["_id"])
        record = {
            "Task": task["_id"],
            "Due Date": int(due.timestamp() * 1000),
            "Claim Status": "Active",
        }
        return _done(claim=self._create("Claim", user["agent_id"], record))

    def submit(self, request: Request) -> Response:
        wanted = {"claim": "Claim", "deliverable": "text", "minutes_spent": "number"}
        run = self._run(request, "submit-task-result-public", wanted)
        if isinstance(run, Response):
            return run
        user, values = run
        claim = values["claim"]
        if claim["Created By"] != user["agent_id"]:
            return _no(403, "NOT_RUN", "Submission not created: this is not your claim")
        if claim["Claim Status"] != "Active":
            text = f"Submission not created: Claim Status is {claim['Claim Status']}"
            return _no(400, "NOT_RUN", text)
        claim["Claim Status"] = "Waiting for completion"
        record = {
            "Claim": claim["_id"],
            "Deliverable": values["deliverable"],
            "Minutes Spent": values["minutes_spent"],
        }
        return _done(submission=self._create("Submission", user["agent_id"], record))

    def complete(self, request: Request) -> Response:
        wanted = {"submission": "Submission", "confirmed": "boolean"}
        run = self._run(request, "complete-task-public", wanted)
        if isinstance(run, Response):
            return run
        user, values = run
        sent = values["submission"]
        if sent["Created By"] != user["agent_id"]:
            return _no(
                403, "NOT_RUN", "Task not completed: this is not your submission"
            )
        if not values["confirmed"]:
            return _no(
                400, "NOT_RUN", "Task not completed: confirmed is no, expected yes"
            )
        claim = self._things["Claim"][sent["Claim"]]
        task = self._things["Task"][claim["Task"]]
        if claim["Claim Status"] != "Waiting for completion":
            text = f"Task not completed: Claim Status is {claim['Claim Status']}"
            return _no(400, "NOT_RUN", text)
        if sent["Deliverable"] != task["Source Text"].upper():
            claim["Claim Status"] = "Active"  # a better one may be submitted
            text = (
                "Deliverable is not the Source Text in capital letters, submit it again"
            )
            return _no(400, "NOT_RUN", f"Task not completed: {text}")
        claim["Claim Status"], task["Task Status"] = "Closed", "Done"
        self.book.pay(task["_id"], task["Reward Credits"])
        user["credits"] += task["Reward Credits"]
        return _done(paid_credits=task["Reward Credits"], new_balance=user["credits"])
