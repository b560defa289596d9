"""A small team's label service in Java: Micronaut 4, its `JsonError`s and a Data `Page`."""

import json
import re
import uuid
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_PACKAGE = "dev.labelroom.api"
_REASONS = {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found"}
_REASONS |= {409: "Conflict", 422: "Unprocessable Entity"}
_JOBS = [
    (4101, "Berth sign", "Harbour office, pier 4", 12),
    (4102, "Fragile sticker", "Handle with care - glass inside!", 9),
    (4103, "Pallet tag", "Return to warehouse b, gate 12", 20),
    (4104, "Cold chain label", "keep between 2 and 8 degrees", 15),
    (4105, "Name plate", "Dr. Ines Moreau, 3rd floor", 7),
    (4106, "Seed bag", "Winter rye (organic), 25 kg net", 31),
]


class _Refused(Exception):  # noqa: N818
    def __init__(self, status: int, *errors: str, path: str = "") -> None:
        super().__init__(status)
        self.status, self.errors, self.path = status, errors, path


def _answered(action: Any) -> Any:
    def answer(self: Any, request: Request) -> Response:
        try:
            return Response(200, action(self, request))
        except _Refused as no:
            refused: Response = self._error(request, no)
            return refused

    return answer


class _Bind:
    """Jackson's reading of one object, with the violations collected on the way."""

    def __init__(self, body: Any, type_: str, where: str, reference: str = "") -> None:
        self.body, self.type, self.where, self.reference = body, type_, where, reference
        self.violations: list[str] = []

    def fail(self, field: str, why: str) -> None:
        chain = f'{self.reference}{_PACKAGE}.{self.type}["{field}"]'
        at = f" at [Source: UNKNOWN; byte offset: #UNKNOWN] (through reference chain: {chain})"
        raise _Refused(
            400,
            f"Failed to convert argument [command] for value [null] due to: {why}\n{at}",
            path="/command",
        )

    def mismatch(self, field: str, java: str, value: Any, why: str = "") -> None:
        token = {
            bool: f"VALUE_{str(value).upper()}",
            dict: "START_OBJECT",
            list: "START_ARRAY",
        }
        source = (
            f"value (token `JsonToken.{token.get(type(value), 'VALUE_NUMBER_INT')}`)"
        )
        if isinstance(value, str):
            source = (
                f"String {json.dumps(value)}: {why or f'not a valid `{java}` value'}"
            )
        self.fail(field, f"Cannot deserialize value of type `{java}` from {source}")

    def violate(self, field: str, message: str) -> None:
        self.violations.append(f"{self.where}.{field}: {message}")

    def present(self, field: str) -> Any:
        value = self.body.get(field)
        if value in (None, ""):
            self.violate(field, "must not be null")
        return None if value == "" else value

    def number(self, field: str, java: str) -> int | None:
        value = self.present(field)
        if isinstance(value, str) and re.fullmatch(r"\s*-?\d+\s*", value):
            return int(value)
        if isinstance(value, (bool, str, list, dict)):
            self.mismatch(field, java, value)
        return None if value is None else int(value)

    def text(self, field: str) -> str:
        value = self.body.get(field)
        if isinstance(value, (dict, list)):
            self.mismatch(field, "java.lang.String", value)
        if value is None or not str(value).strip():
            self.violate(field, "must not be blank")
        return str(value)

    def uuid(self, field: str) -> str:
        value = self.present(field)
        if value is not None and not re.fullmatch(r"[0-9a-fA-F-]{36}", str(value)):
            why = "UUID has to be represented by standard 36-char representation"
            self.mismatch(field, "java.util.UUID", value, why)
        return str(value).lower()

    def future(self, field: str) -> datetime | None:
        value, java, when = self.present(field), "java.time.Instant", None
        if value is None:
            return None
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            when = datetime.fromtimestamp(max(0, min(value, 4e9)), UTC)
        elif isinstance(value, str) and "T" in value:
            with suppress(ValueError):
                when = datetime.fromisoformat(value)
        if when is None or when.tzinfo is None:
            at = (
                len(str(value)) if when or re.fullmatch(r"[\d-]{10}", str(value)) else 0
            )
            parse = f"java.time.format.DateTimeParseException) Text '{value}' could not be parsed at index {at}"
            self.mismatch(field, java, value, f"Failed to deserialize {java}: ({parse}")
        if when and when <= datetime.now(UTC):
            self.violate(field, "must be a future date")
        return when

    def check(self) -> None:
        if self.violations:
            raise _Refused(400, *sorted(self.violations))


class MicronautLabels(Backend):
    """Jobs are listed, assigned, delivered (`output.content`) and paid on completion."""

    def __init__(self) -> None:
        super().__init__()
        self._workers: dict[str, dict[str, Any]] = {}  # by token
        self._status = {job[0]: "OPEN" for job in _JOBS}
        self._assignments: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(id_): text for id_, _, text, _ in _JOBS}

    def missing(self, request: Request) -> Response:
        return self._error(request, _Refused(404, "Page Not Found"))

    def _error(self, request: Request, no: _Refused) -> Response:
        errors = [
            {"message": e, **({"path": no.path} if no.path else {})} for e in no.errors
        ]
        body: dict[str, Any] = {
            "_links": {"self": [{"href": request.path, "templated": False}]}
        }
        body |= {"_embedded": {"errors": errors}, "message": _REASONS[no.status]}
        return Response(
            no.status, body, {"WWW-Authenticate": "Bearer"} if no.status == 401 else {}
        )

    def _worker(self, request: Request) -> dict[str, Any]:
        if request.token not in self._workers:
            raise _Refused(401, "Unauthorized")
        return self._workers[request.token]

    def _command(self, request: Request, type_: str, method: str) -> _Bind:
        try:
            body = request.json() if request.raw.strip() else None
        except ValueError as error:
            raise _Refused(400, f"Invalid JSON: {error}") from None
        if not isinstance(body, dict):
            raise _Refused(
                400, "Required Body [command] not specified", path="/command"
            )
        return _Bind(body, type_, f"{method}.command")

    def _assignment(self, worker: dict[str, Any], id_: str) -> dict[str, Any]:
        if id_ not in self._assignments:
            raise _Refused(404, f"Assignment {id_} not found")
        if self._assignments[id_]["workerId"] != worker["id"]:
            raise _Refused(403, f"Assignment {id_} belongs to another worker")
        return self._assignments[id_]

    def register(self, request: Request) -> Response:
        id_, token = str(uuid.uuid4()), uuid.uuid4().hex
        self._workers[token] = {"id": id_, "balance": 100}
        self.book.registrations += 1
        return Response(200, {"agent_id": id_, "access_token": token, "credits": 100})

    @_answered
    def tasks(self, request: Request) -> dict[str, Any]:
        asked = {"limit": 20, "page": 0}
        for name, least, most in (("limit", 1, 50), ("page", 0, 10**6)):
            value = request.query.get(name, str(asked[name]))
            if not re.fullmatch(r"-?\d{1,9}", value):
                why = f'Failed to convert argument [{name}] for value [{value}] due to: For input string: "{value}"'
                raise _Refused(400, why, path=f"/{name}")
            asked[name] = int(value)
            if not least <= asked[name] <= most:
                rule = (
                    f"greater than or equal to {least}"
                    if asked[name] < least
                    else f"less than or equal to {most}"
                )
                raise _Refused(400, f"listJobs.{name}: must be {rule}")
        size, number = asked.values()
        content = [
            {
                "id": id_,
                "title": title,
                "instructions": "Set the label text in capital letters.",
                "labelText": text,
            }
            | {
                "reward": {"amount": amount, "currency": "CREDITS"},
                "status": self._status[id_],
            }
            for id_, title, text, amount in _JOBS[number * size :][:size]
        ]
        pageable = {"number": number, "size": size, "mode": "OFFSET"}
        return {
            "content": content,
            "pageable": pageable,
            "totalSize": len(_JOBS),
            "totalPages": -(-len(_JOBS) // size),
        }

    marketplace = tasks  # both are public

    @_answered
    def claim(self, request: Request) -> dict[str, Any]:
        worker = self._worker(request)
        command = self._command(request, "ClaimCommand", "claim")
        job, who, due = (
            command.number("jobId", "java.lang.Long"),
            command.uuid("workerId"),
            command.future("dueAt"),
        )
        command.check()
        if who != worker["id"]:
            raise _Refused(403, f"workerId {who} is not the worker of this token")
        if job not in self._status:
            raise _Refused(404, f"Job {job} not found")
        if self._status[job] != "OPEN":
            raise _Refused(409, f"Job {job} is not open (status {self._status[job]})")
        self._status[job] = "ASSIGNED"
        self.book.claimed(str(job))
        made: dict[str, Any] = {
            "id": str(uuid.uuid4()),
            "jobId": job,
            "workerId": who,
            "state": "ASSIGNED",
        }
        self._assignments[made["id"]] = made | {
            "dueAt": f"{due and due.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
        }
        return self._assignments[made["id"]]

    @_answered
    def submit(self, request: Request) -> dict[str, Any]:
        worker = self._worker(request)
        command = self._command(request, "SubmitCommand", "submit")
        id_ = command.uuid("assignmentId")
        minutes = command.number("minutesSpent", "java.lang.Integer")
        if minutes is not None and minutes < 1:
            command.violate("minutesSpent", "must be greater than 0")
        output, content = command.body.get("output"), None
        if output is None:
            command.violate("output", "must not be null")
        elif not isinstance(output, dict):
            why = "(although at least one Creator exists): no String-argument constructor/factory method"
            why += f" to deserialize from String value ('{output}')"
            command.fail(
                "output", f"Cannot construct instance of `{_PACKAGE}.Output` {why}"
            )
        else:
            inner = _Bind(
                output,
                "Output",
                "submit.command.output",
                f'{_PACKAGE}.SubmitCommand["output"]->',
            )
            content = inner.text("content")
            command.violations += inner.violations
        command.check()
        found = self._assignment(worker, id_)
        if found["state"] != "ASSIGNED":
            raise _Refused(409, f"Assignment {id_} is already {found['state']}")
        if content != self.texts()[str(found["jobId"])].upper():
            raise _Refused(
                422,
                f"Output of job {found['jobId']} is not the label text in capital letters",
            )
        found["state"] = self._status[found["jobId"]] = "DELIVERED"
        self.book.held.discard(str(found["jobId"]))
        return {**found, "minutesSpent": minutes}

    @_answered
    def complete(self, request: Request) -> dict[str, Any]:
        worker = self._worker(request)
        command = self._command(request, "CompleteCommand", "complete")
        id_, finished = (
            command.uuid("assignmentId"),
            command.body.get("finished", False),
        )
        if not isinstance(finished, bool) and finished is not None:
            command.mismatch(
                "finished", "boolean", finished, 'only "true" or "false" recognized'
            )
        if not finished:
            command.violate("finished", "must be true")
        command.check()
        found = self._assignment(worker, id_)
        if found["state"] != "DELIVERED":
            raise _Refused(
                409, f"Assignment {id_} is {found['state']}, must be DELIVERED"
            )
        found["state"] = self._status[found["jobId"]] = "PAID"
        amount = next(job[3] for job in _JOBS if job[0] == found["jobId"])
        worker["balance"] += amount
        self.book.pay(str(found["jobId"]), amount)
        return {
            **found,
            "payout": {"amount": amount, "currency": "CREDITS"},
            "balance": worker["balance"],
        }
