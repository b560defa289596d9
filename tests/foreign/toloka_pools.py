"""In the manner of the Toloka API: pools, task suites, assignments, solutions, acceptance.

An agent takes a task suite out of a pool and gets an assignment; it hands in one solution
for every task of the suite, in their order, as `output_values`; once quality control has
run over it, the assignment is moved to ACCEPTED with a public comment, and that pays.

Errors are `request_id`, `code`, `message` and, where it helps, `payload`: a map of the
field's path to what is wrong with it.
"""
# mypy: ignore-errors

import secrets
import time
import uuid
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

POOLS = {
    533249: ("38217", "Shop fronts, spring", 4.0),
    533262: ("38217", "Shop fronts, night shift", 7.0),
    540118: ("39004", "Parcel labels", 11.0),
}
LABELS = (
    (533249, "5f69bc8446757f5cf86c0e24", "fresh bread until noon"),
    (533249, "5f69bc8446757f5cf86c0e2a", "keys cut while you wait"),
    (533249, "5f69bc8446757f5cf86c0e31", "closed for the holidays"),
    (533249, "5f69bc8446757f5cf86c0e37", "second floor, ring twice"),
    (533262, "5f6a01d246757f5cf86d1102", "open all night except mondays"),
    (533262, "5f6a01d246757f5cf86d1109", "night bell on the left"),
    (533262, "5f6a01d246757f5cf86d1115", "pharmacy on duty: linden street 4"),
    (540118, "5f7c33a946757f5cf8711e5b", "this side up, do not stack"),
    (540118, "5f7c33a946757f5cf8711e60", "return to depot seven"),
    (540118, "5f7c33a946757f5cf8711e6c", "fragile - contains two lamps"),
)
MAX_DURATION = 600
QUALITY_CONTROL = 1.5  # seconds that the control rules take after a submit
MAX_ACTIVE = 3
COMMENT_LENGTH = 2048


class ApiError(Exception):
    def __init__(self, status: int, code: str, message: str, payload: Any = None):
        super().__init__(message)
        body = {"request_id": str(uuid.uuid4()), "code": code, "message": message}
        if payload is not None:
            body["payload"] = payload
        self.response = Response(status, body)


class Violations(dict):
    """What the validator found, by path."""

    def add(self, path: str, code: str, message: str, *params: Any) -> None:
        self[path] = {"code": code, "message": message, "params": list(params)}

    def required(self, path: str) -> None:
        self.add(path, "VALUE_REQUIRED", "May not be null")

    def typed(self, path: str, kind: str) -> None:
        self.add(path, "INVALID_TYPE", f"Value must be of type {kind}", kind)

    def check(self) -> None:
        if self:
            raise ApiError(400, "VALIDATION_ERROR", "Validation failed", dict(self))

    def string(self, body: dict[str, Any], name: str) -> str:
        value = body.get(name)
        if value is None:
            self.required(name)
        elif isinstance(value, bool) or not isinstance(value, (str, int)):
            self.typed(name, "string")
        elif not str(value).strip():
            self.add(name, "VALUE_EMPTY", "May not be empty")
        else:
            return str(value)  # as Jackson does: 533249 is as good as "533249"
        return ""


def stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]


def suite_id(pool: int, tail: str) -> str:
    return f"{pool:010x}--{tail}"


class TolokaPools(Backend):
    """Ten suites of one task each in three pools; three may be ACTIVE at once."""

    def __init__(self) -> None:
        super().__init__()
        self.users: dict[str, dict[str, Any]] = {}
        self.assignments: dict[str, dict[str, Any]] = {}
        self.suites: dict[str, dict[str, Any]] = {}
        created = time.time() - 7200
        for n, (pool, tail, text) in enumerate(LABELS):
            project, name, reward = POOLS[pool]
            number = suite_id(pool, tail)
            self.suites[number] = {
                "id": number,
                "pool_id": str(pool),
                "project_id": project,
                "pool_name": name,
                "public_instructions": "Transcribe the sign in capital letters.",
                "reward_per_assignment": reward,
                "assignment_max_duration_seconds": MAX_DURATION,
                "tasks": [
                    {
                        "id": str(uuid.uuid5(uuid.NAMESPACE_OID, number)),
                        "input_values": {"sign_text": text, "locale": "EN"},
                    }
                ],
                "mixed": False,
                "automerged": False,
                "overlap": 1,
                "remaining_overlap": 1,
                "created": stamp(created + n),
            }

    def texts(self) -> dict[str, str]:
        return {suite_id(pool, tail): text for pool, tail, text in LABELS}

    # -- plumbing

    def handle(self, request: Request) -> Response:
        answer = super().handle(request)
        if isinstance(answer.body, (dict, list)):
            answer.headers.setdefault("Content-Type", "application/json;charset=UTF-8")
        return answer

    def __getattribute__(self, name: str) -> Any:
        member = super().__getattribute__(name)
        if name not in ACTIONS.values():
            return member

        def controller(request: Request) -> Response:
            try:
                return member(request)
            except ApiError as error:
                return error.response

        return controller

    def missing(self, request: Request) -> Response:
        words = f"No handler found for {request.method} {request.path}"
        return ApiError(404, "DOES_NOT_EXIST", words).response

    def user(self, request: Request) -> dict[str, Any]:
        if request.token not in self.users:
            words = "Access token is missing or invalid"
            raise ApiError(401, "AUTHENTICATION_ERROR", words)
        self.expire()
        return self.users[request.token]

    def expire(self) -> None:
        for row in self.assignments.values():
            if row["status"] == "ACTIVE" and row["until"] < time.time():
                row["status"] = "EXPIRED"
                self.put_back(row["task_suite_id"])

    def put_back(self, number: str) -> None:
        self.suites[number]["remaining_overlap"] = 1
        self.book.held.discard(number)

    @staticmethod
    def body(request: Request) -> dict[str, Any]:
        try:
            found = request.json()
        except ValueError:
            words = "Unable to parse request body: malformed JSON"
            raise ApiError(400, "VALIDATION_ERROR", words) from None
        if not isinstance(found, dict):
            words = "Unable to parse request body: JSON object expected"
            raise ApiError(400, "VALIDATION_ERROR", words)
        return found

    @staticmethod
    def wrong_status(*appropriate: str) -> ApiError:
        return ApiError(
            409,
            "INAPPROPRIATE_STATUS",
            "This or related resource is in inappropriate status, "
            "operation is not allowed",
            {"appropriate_statuses": list(appropriate)},
        )

    def assignment(self, user: dict[str, Any], number: str) -> dict[str, Any]:
        row = self.assignments.get(number)
        if row is None:
            words = f"There is no assignment with id {number}"
            raise ApiError(404, "DOES_NOT_EXIST", words)
        if row["user_id"] != user["id"]:
            raise ApiError(403, "ACCESS_DENIED", "Access denied")
        return row

    @staticmethod
    def shown(row: dict[str, Any]) -> dict[str, Any]:
        hidden = {"until", "checked"}
        return {name: value for name, value in row.items() if name not in hidden}

    # -- actions

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = f"AQAAAA{secrets.token_urlsafe(24)}"
        user = {"id": secrets.token_hex(16), "credits": 100.0}
        self.users[token] = user
        return Response(
            200, {"agent_id": user["id"], "access_token": token, "credits": 100}
        )

    def marketplace(self, request: Request) -> Response:
        self.expire()
        faults = Violations()
        numbers = {}
        for name, default, low, high in (("limit", 50, 1, 100_000),):
            given = request.query.get(name, str(default))
            if not given.lstrip("-").isdigit():
                faults.typed(name, "integer")
            elif not low <= int(given) <= high:
                words = f"Value must be between {low} and {high}"
                faults.add(name, "VALUE_NOT_IN_RANGE", words, low, high)
            else:
                numbers[name] = int(given)
        faults.check()
        after = request.query.get("id_gt", "")
        pool = request.query.get("pool_id", "")
        found = [
            suite
            for number, suite in sorted(self.suites.items())
            if number > after
            and suite["remaining_overlap"]
            and pool in ("", suite["pool_id"])
        ]
        limit = numbers["limit"]
        return Response(200, {"items": found[:limit], "has_more": len(found) > limit})

    def tasks(self, request: Request) -> Response:
        self.user(request)
        return self.marketplace(request)

    def claim(self, request: Request) -> Response:
        user = self.user(request)
        body = self.body(request)
        faults = Violations()
        number = faults.string(body, "task_suite_id")
        pool = faults.string(body, "pool_id")
        faults.check()
        suite = self.suites.get(number)
        if suite is None:
            words = f"There is no task suite with id {number}"
            raise ApiError(404, "DOES_NOT_EXIST", words)
        if suite["pool_id"] != pool:
            words = "Task suite belongs to another pool"
            faults.add("pool_id", "VALUE_NOT_ALLOWED", words, suite["pool_id"])
            faults.check()
        if not suite["remaining_overlap"]:
            words = "There are no available assignments in the task suite"
            raise ApiError(409, "NO_AVAILABLE_ASSIGNMENTS", words)
        active = [
            row
            for row in self.assignments.values()
            if row["user_id"] == user["id"] and row["status"] == "ACTIVE"
        ]
        if len(active) >= MAX_ACTIVE:
            raise ApiError(
                409,
                "ACTIVE_ASSIGNMENTS_LIMIT_EXCEEDED",
                f"Submit your active assignments first, {MAX_ACTIVE} are allowed",
                {"active_assignment_ids": [row["id"] for row in active]},
            )
        suite["remaining_overlap"] = 0
        self.book.claimed(number)
        now = time.time()
        row = {
            "id": suite_id(int(pool), secrets.token_hex(12)),
            "task_suite_id": number,
            "pool_id": pool,
            "user_id": user["id"],
            "status": "ACTIVE",
            "reward": suite["reward_per_assignment"],
            "tasks": suite["tasks"],
            "task_spec": {
                "input_spec": {
                    "sign_text": {"type": "string", "required": True},
                    "locale": {"type": "string", "required": False},
                },
                "output_spec": {"transcript": {"type": "string", "required": True}},
            },
            "mixed": False,
            "automerged": False,
            "created": stamp(now),
            "expires": stamp(now + MAX_DURATION),
            "until": now + MAX_DURATION,
        }
        self.assignments[row["id"]] = row
        return Response(200, self.shown(row))

    def submit(self, request: Request) -> Response:
        user = self.user(request)
        body = self.body(request)
        faults = Violations()
        number = faults.string(body, "assignment_id")
        solutions = body.get("solutions")
        if solutions is None:
            faults.required("solutions")
        elif not isinstance(solutions, list):
            faults.typed("solutions", "array")
        faults.check()
        row = self.assignment(user, number)
        if row["status"] != "ACTIVE":
            raise self.wrong_status("ACTIVE")
        if len(solutions) != len(row["tasks"]):
            wanted = len(row["tasks"])
            words = f"Number of solutions must be equal to number of tasks ({wanted})"
            faults.add("solutions", "INVALID_SIZE", words, wanted)
            faults.check()
        for n, solution in enumerate(solutions):
            path = f"solutions.{n}"
            if not isinstance(solution, dict):
                faults.typed(path, "object")
                continue
            path += ".output_values"
            values = solution.get("output_values")
            if values is None:
                faults.required(path)
                continue
            if not isinstance(values, dict):
                faults.typed(path, "object")
                continue
            for name in values:
                if name != "transcript":
                    words = "Unknown field name"
                    faults.add(f"{path}.{name}", "VALUE_NOT_ALLOWED", words)
            if values.get("transcript") is None:
                faults.required(f"{path}.transcript")
            elif not isinstance(values["transcript"], str):
                faults.typed(f"{path}.transcript", "string")
        faults.check()
        for n, (task, solution) in enumerate(zip(row["tasks"], solutions)):
            right = task["input_values"]["sign_text"].upper()
            if solution["output_values"]["transcript"].strip() != right:
                words = "Must be the text of the sign in capital letters"
                path = f"solutions.{n}.output_values.transcript"
                faults.add(path, "INCORRECT_SOLUTION", words)
        if faults:
            words = "Solutions did not pass the control check, correct them"
            raise ApiError(422, "INCORRECT_SOLUTION", words, dict(faults))
        row |= {
            "status": "SUBMITTED",
            "submitted": stamp(time.time()),
            "checked": time.time() + QUALITY_CONTROL,
            "solutions": [{"output_values": s["output_values"]} for s in solutions],
        }
        return Response(200, self.shown(row))

    def complete(self, request: Request) -> Response:
        user = self.user(request)
        body = self.body(request)
        faults = Violations()
        number = faults.string(body, "assignment_id")
        status = faults.string(body, "status")
        comment = faults.string(body, "public_comment")
        if status and status not in ("ACCEPTED", "REJECTED"):
            words = "Value must be one of: ACCEPTED, REJECTED"
            faults.add("status", "VALUE_NOT_ALLOWED", words, "ACCEPTED", "REJECTED")
        if len(comment) > COMMENT_LENGTH:
            words = f"Length must be between 1 and {COMMENT_LENGTH}"
            faults.add("public_comment", "INVALID_LENGTH", words, 1, COMMENT_LENGTH)
        faults.check()
        row = self.assignment(user, number)
        if row["status"] != "SUBMITTED":
            raise self.wrong_status("SUBMITTED")
        if time.time() < row["checked"]:
            words = (
                "Quality control rules are still being applied to the assignment, "
                "you can repeat the request in a little while"
            )
            raise ApiError(409, "OPERATION_IN_PROGRESS", words)
        row |= {"status": status, "public_comment": comment}
        if status == "REJECTED":
            row["rejected"] = stamp(time.time())
            self.put_back(row["task_suite_id"])
        else:
            row["accepted"] = stamp(time.time())
            self.book.pay(row["task_suite_id"], int(row["reward"]))
            user["credits"] += row["reward"]
        names = ("id", "task_suite_id", "status", "public_comment", "reward")
        answer = {name: row[name] for name in names}
        return Response(200, answer | {"bonus_ids": [], "balance": user["credits"]})
