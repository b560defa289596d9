"""Gin with go-playground/validator and GORM: a board of jobs, worked on under assignments.

Lists {"jobs": [...], "page", "page_size", "total"}: gorm.Model has no json tags, so each job has
`ID` (a number), `CreatedAt`, `UpdatedAt`, `DeletedAt` beside the team's own snake_case fields
`title`, `instruction`, `source_text`, `format` ("plain"), `reward` (whole credits), `state`.
claim wants {"job_id": number}; 200 {"assignment": {"ID", "job_id", "state", "job": {...}, ...}}.
submit wants {"assignment_id": number, "delivery": {"format": "plain", "content": str}} and takes a
`note` of at most 200 characters; 200 {"assignment": {...}}.
complete wants {"assignment_id": number}; pays, 200 {"assignment": {...}, "payment": {...}}.
Refuses with {"error": err.Error()}: encoding/json's own text ("EOF", "json: cannot unmarshal string
into Go struct field ClaimRequest.job_id of type uint") or all of the validator's ("Key:
'ClaimRequest.JobID' Error:Field validation for 'JobID' failed on the 'required' tag") with 400,
"record not found" with 404, states with 409, wrong work with 422. Keys compare without case, unknown
keys are ignored, zero values count as absent, as Go has it.
"""

import json
import re
import uuid
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

JOBS = [
    (214, 7, "the ferry to the island leaves at seven in the morning"),
    (215, 11, "please water the tomatoes before the sun gets too strong"),
    (217, 9, "our neighbour repairs old bicycles in his garage at night"),
    (218, 14, "a flock of geese crossed the field behind the school"),
    (221, 6, "nobody remembered who had painted the little blue door"),
    (222, 18, "the choir rehearses every second thursday in the town hall"),
]
PACKAGE = "handlers"


class Float:
    """A JSON number that is not an integer, as it was written."""

    def __init__(self, raw: str) -> None:
        self.raw = raw

    def __str__(self) -> str:
        return self.raw


@dataclass
class Struct:
    """A Go struct: (json name, Go name, kind, binding tag) of its fields."""

    name: str
    fields: list[tuple[str, str, Any, str]]


DELIVERY = Struct(
    "Delivery",
    [
        ("format", "Format", "string", "required,oneof=plain markdown html"),
        ("content", "Content", "string", "required,max=4000"),
    ],
)
CLAIM = Struct("ClaimRequest", [("job_id", "JobID", "uint", "required")])
SUBMIT = Struct(
    "SubmitRequest",
    [
        ("assignment_id", "AssignmentID", "uint", "required"),
        ("delivery", "Delivery", DELIVERY, "required"),
        ("note", "Note", "string", "max=200"),
    ],
)
COMPLETE = Struct(
    "CompleteRequest", [("assignment_id", "AssignmentID", "uint", "required")]
)


def fail(status: int, text: str) -> Response:
    """Return what `c.JSON(status, gin.H{"error": err.Error()})` writes."""
    return Response(status, {"error": text})


def word(value: Any) -> str:
    """Return what encoding/json calls a value."""
    names = {str: "string", list: "array", dict: "object", bool: "bool"}
    return names.get(type(value), "number")


def unmarshal(value: Any, into: Struct, path: str, wrong: list[str]) -> dict[str, Any]:
    """Fill a struct as encoding/json does; the first type error is the one that is told."""
    filled: dict[str, Any] = {}
    known = {field[0]: field for field in into.fields}
    for key, given in value.items():
        field = known.get(key) or known.get(key.lower())
        if field is None or given is None:
            continue
        name, _, kind, _ = field
        where = f"json: cannot unmarshal {{}} into Go struct field {into.name}.{path}{name} of type "
        if isinstance(kind, Struct):
            if isinstance(given, dict):
                filled[name] = unmarshal(given, kind, f"{path}{name}.", wrong)
            else:
                wrong.append(where.format(word(given)) + f"{PACKAGE}.{kind.name}")
        elif kind == "string":
            if isinstance(given, str):
                filled[name] = given
            else:
                wrong.append(where.format(word(given)) + kind)
        elif word(given) != "number":
            wrong.append(where.format(word(given)) + kind)
        elif isinstance(given, Float) or not 0 <= given < 2**64:
            wrong.append(where.format(f"number {given}") + kind)
        else:
            filled[name] = given
    return filled


def validate(filled: dict[str, Any], struct: Struct, space: str) -> list[str]:
    """Return the validator's lines on a filled struct, one for each field."""
    lines = []
    for name, go, kind, binding in struct.fields:
        value = filled.get(name)
        failed = ""
        for rule in binding.split(","):
            tag, _, parameter = rule.partition("=")
            broken = {
                "required": value in (None, 0, ""),
                "oneof": value not in parameter.split(),
                "max": tag == "max" and len(value or "") > int(parameter),
            }
            failed = failed or (tag if broken[tag] else "")
        if failed:
            what = f"Error:Field validation for '{go}' failed on the '{failed}' tag"
            lines.append(f"Key: '{space}.{go}' {what}")
        elif isinstance(kind, Struct):
            lines += validate(value, kind, f"{space}.{go}")  # type: ignore[arg-type]
    return lines


def syntax(text: str, error: json.JSONDecodeError) -> str:
    """Return encoding/json's text for a body that is not JSON."""
    if not text.strip():
        return "EOF"
    if error.pos >= len(text) or "Unterminated" in error.msg:
        return "unexpected EOF"
    places = {
        "property name": "looking for beginning of object key string",
        "':'": "after object key",
        "','": "after object key:value pair",
    }
    found = [place for mark, place in places.items() if mark in error.msg]
    return f"invalid character '{text[error.pos]}' {(found or ['looking for beginning of value'])[0]}"


class GinValidator(Backend):
    """A Go service with Postgres behind GORM."""

    def __init__(self) -> None:
        super().__init__()
        self.workers: dict[str, dict[str, Any]] = {}  # by token
        self.jobs: dict[int, dict[str, Any]] = {}
        self.assignments: dict[int, dict[str, Any]] = {}
        self.payments = 0
        for number, (key, reward, text) in enumerate(JOBS):
            self.jobs[key] = {
                **self.model(key, f"08:1{number}:22.10{number}4"),
                "title": "Upper case a sentence",
                "instruction": "Rewrite source_text in upper case letters.",
                "source_text": text,
                "format": "plain",
                "reward": reward,
                "client_id": 3,
                "state": "open",
            }

    @staticmethod
    def model(key: int, clock: str) -> dict[str, Any]:
        """Return the fields of gorm.Model."""
        stamp = f"2025-03-04T{clock}+01:00"
        return {"ID": key, "CreatedAt": stamp, "UpdatedAt": stamp, "DeletedAt": None}

    def missing(self, request: Request) -> Response:
        return Response(404, "404 page not found")

    def texts(self) -> dict[str, str]:
        return {str(key): job["source_text"] for key, job in self.jobs.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = uuid.uuid4().hex + uuid.uuid4().hex
        worker = self.workers[token] = {"id": 40 + len(self.workers), "balance": 100}
        body = {"agent_id": str(worker["id"]), "access_token": token, "credits": 100}
        return Response(200, body)

    def marketplace(self, request: Request) -> Response:
        return self.listing(100)

    def tasks(self, request: Request) -> Response:
        if request.token not in self.workers:
            return fail(401, "missing or invalid bearer token")
        limit = request.query.get("limit") or "0"
        if not re.fullmatch(r"[+-]?\d+", limit):
            return fail(400, f'strconv.ParseInt: parsing "{limit}": invalid syntax')
        size = int(limit)
        if size < 0 or size > 100:
            tag = "max" if size > 0 else "min"
            where = "Key: 'ListQuery.Limit' Error:Field validation for 'Limit'"
            return fail(400, f"{where} failed on the '{tag}' tag")
        return self.listing(size or 20)

    def listing(self, size: int) -> Response:
        found = [job for job in self.jobs.values() if job["state"] == "open"]
        page = {"page": 1, "page_size": size, "total": len(found)}
        return Response(200, {"jobs": found[:size], **page})

    def bind(self, request: Request, struct: Struct) -> dict[str, Any] | Response:
        """Return the body as `c.ShouldBindJSON` fills it, or the refusal."""
        if request.token not in self.workers:
            return fail(401, "missing or invalid bearer token")
        text = request.raw.decode(errors="replace")
        try:  # the decoder reads one value and does not look at what follows
            value, _ = json.JSONDecoder(parse_float=Float).raw_decode(text.lstrip())
        except json.JSONDecodeError as error:
            return fail(400, syntax(text.lstrip(), error))
        if not isinstance(value, dict | None):
            target = f"{PACKAGE}.{struct.name}"
            return fail(
                400,
                f"json: cannot unmarshal {word(value)} into Go value of type {target}",
            )
        wrong: list[str] = []
        filled = unmarshal(value or {}, struct, "", wrong)
        lines = wrong[:1] or validate(filled, struct, struct.name)
        return fail(400, "\n".join(lines)) if lines else filled

    def shown(self, assignment: dict[str, Any]) -> dict[str, Any]:
        """Return an assignment with its job preloaded."""
        return {**assignment, "job": self.jobs[assignment["job_id"]]}

    def claim(self, request: Request) -> Response:
        given = self.bind(request, CLAIM)
        if isinstance(given, Response):
            return given
        job = self.jobs.get(given["job_id"])
        if job is None:
            return fail(404, "record not found")
        worker = self.workers[request.token]["id"]
        for assignment in self.assignments.values():
            if assignment["job_id"] == job["ID"]:
                if assignment["worker_id"] != worker or assignment["state"] != "active":
                    return fail(409, "job is no longer open")
                return Response(200, {"assignment": self.shown(assignment)})
        key = 57 + len(self.assignments)
        assignment = {
            **self.model(key, f"09:{len(self.assignments):02}:41.730218"),
            "job_id": job["ID"],
            "worker_id": worker,
            "state": "active",
        }
        self.assignments[key] = assignment
        job["state"] = "assigned"
        self.book.claimed(str(job["ID"]))
        return Response(200, {"assignment": self.shown(assignment)})

    def mine(self, given: dict[str, Any], token: str) -> dict[str, Any] | None:
        """Return the assignment that a body names, if it is this worker's."""
        assignment = self.assignments.get(given["assignment_id"], {"worker_id": 0})
        mine = assignment["worker_id"] == self.workers[token]["id"]
        return assignment if mine else None

    def submit(self, request: Request) -> Response:
        given = self.bind(request, SUBMIT)
        if isinstance(given, Response):
            return given
        assignment = self.mine(given, request.token)
        if assignment is None:
            return fail(404, "record not found")
        if assignment["state"] == "closed":
            return fail(409, "assignment is already closed")
        job, delivery = self.jobs[assignment["job_id"]], given["delivery"]
        if delivery["format"] != job["format"]:
            return fail(422, f"delivery rejected: job wants format {job['format']}")
        if delivery["content"] != job["source_text"].upper():
            return fail(
                422, "delivery rejected: content is not the source text in upper case"
            )
        assignment["state"] = "delivered"
        return Response(200, {"assignment": self.shown(assignment)})

    def complete(self, request: Request) -> Response:
        given = self.bind(request, COMPLETE)
        if isinstance(given, Response):
            return given
        assignment = self.mine(given, request.token)
        if assignment is None:
            return fail(404, "record not found")
        if assignment["state"] != "delivered":
            return fail(409, f"assignment is {assignment['state']}, expected delivered")
        job, worker = self.jobs[assignment["job_id"]], self.workers[request.token]
        assignment["state"] = job["state"] = "closed"
        worker["balance"] += job["reward"]
        self.payments += 1
        self.book.pay(str(job["ID"]), job["reward"])
        payment = {
            **self.model(800 + self.payments, f"09:{self.payments:02}:43.218840"),
            "assignment_id": assignment["ID"],
            "amount": job["reward"],
            "balance": worker["balance"],
        }
        return Response(200, {"assignment": self.shown(assignment), "payment": payment})
