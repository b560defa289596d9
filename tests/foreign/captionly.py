"""A Next.js route-handler backend of a subtitles correction service.

Bodies are nested objects, checked with zod 4 `safeParse` and told of with `z.treeifyError`.
"""

import json
import random
import re
import secrets
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

UNDEFINED: Any = object()
Issue = tuple[tuple[str, ...], str]
Schema = Callable[[Any, tuple[str, ...]], list[Issue]]

UUID = re.compile(
    r"([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}"
    r"-[0-9a-fA-F]{12}|0{8}-0{4}-0{4}-0{4}-0{12})"
)
NOT_FOUND = (
    "<!DOCTYPE html><html><head><title>404: This page could not be found.</title></head>"
    "<body><h1>404</h1><h2>This page could not be found.</h2></body></html>"
)


def _received(value: Any) -> str:
    if value is UNDEFINED:
        return "undefined"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def _string(minimum: int = 0, maximum: int = 0) -> Schema:
    def check(value: Any, path: tuple[str, ...]) -> list[Issue]:
        if not isinstance(value, str):
            return [
                (path, f"Invalid input: expected string, received {_received(value)}")
            ]
        if len(value) < minimum:
            return [
                (path, f"Too small: expected string to have >={minimum} characters")
            ]
        if maximum and len(value) > maximum:
            return [(path, f"Too big: expected string to have <={maximum} characters")]
        return []

    return check


def _uuid(value: Any, path: tuple[str, ...]) -> list[Issue]:
    issues = _string()(value, path)
    if not issues and not UUID.fullmatch(value):
        issues = [(path, "Invalid UUID")]
    return issues


def _enum(*options: str) -> Schema:
    def check(value: Any, path: tuple[str, ...]) -> list[Issue]:
        if isinstance(value, str) and value in options:
            return []
        listed = "|".join(json.dumps(option) for option in options)
        return [(path, f"Invalid option: expected one of {listed}")]

    return check


def _optional(inner: Schema) -> Schema:
    return lambda value, path: [] if value is UNDEFINED else inner(value, path)


def _object(shape: dict[str, Schema]) -> Schema:
    def check(value: Any, path: tuple[str, ...]) -> list[Issue]:
        if not isinstance(value, dict):
            return [
                (path, f"Invalid input: expected object, received {_received(value)}")
            ]
        return [
            issue
            for name, schema in shape.items()
            for issue in schema(value.get(name, UNDEFINED), (*path, name))
        ]

    return check


def _treeify(issues: list[Issue]) -> dict[str, Any]:
    tree: dict[str, Any] = {"errors": []}
    for path, message in issues:
        node = tree
        for name in path:
            node = node.setdefault("properties", {}).setdefault(name, {"errors": []})
        node["errors"].append(message)
    return tree


LANGUAGES = ("en", "es", "de")
CLAIM = _object({"job": _object({"id": _uuid})})
SUBMIT = _object(
    {
        "assignment": _object({"id": _string(1)}),
        "correction": _object(
            {
                "language": _enum(*LANGUAGES),
                "text": _string(1, 20000),
                "note": _optional(_string(0, 500)),
            }
        ),
    }
)
COMPLETE = _object({"delivery": _object({"id": _string(1)})})

JOBS = [
    ("Harbour Lights, ep. 1", "Fix the casing of the opening song", "en", 12),
    ("Harbour Lights, ep. 2", "Set the shouted lines of the storm scene", "en", 18),
    ("La Ruta del Sol", "Correct the place names in the bus chase", "es", 25),
    ("Bread and Salt", "Repair the cue where both sisters speak at once", "en", 9),
    ("Nachtzug", "Mark the loudspeaker announcements on platform four", "de", 30),
    ("The Long Thaw", "Restore the missing question marks of the trial", "en", 14),
    ("Kitchen Rules 8", "Spell the spices the judge reads out", "en", 7),
    ("Dos Hermanas", "Merge the two short cues before the toast", "es", 11),
    ("Glass Orchard", "Name the speaker of the voice-over in reel three", "en", 21),
    ("Am Deich", "Take the stage directions out of the last minute", "de", 16),
]


def _iso(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")


@dataclass
class Job:
    """One subtitle job."""

    id: str
    title: str
    text: str
    language: str
    credits: int
    state: str = "open"


@dataclass
class Assignment:
    """A job in the hands of an editor."""

    id: str
    job: Job
    editor: str
    delivery: str = ""
    work: str = ""


class Captionly(Backend):
    """The subtitles correction service."""

    def __init__(self) -> None:
        super().__init__()
        dice = random.Random(4711)  # noqa: S311 - of rewards
        self._jobs: dict[str, Job] = {}
        for title, text, language, credits_ in JOBS:
            name = str(uuid.UUID(int=dice.getrandbits(128), version=4))
            self._jobs[name] = Job(name, title, text, language, credits_)
        self._editors: dict[str, str] = {}
        self._balances: dict[str, int] = {}
        self._assignments: dict[str, Assignment] = {}
        self._deliveries: dict[str, Assignment] = {}
        self._started = datetime.now(UTC)

    def texts(self) -> dict[str, str]:
        """Return the text of every task by its identifier."""
        return {job.id: job.text for job in self._jobs.values()}

    def missing(self, request: Request) -> Response:
        """Return Next's own page, or its bare 405."""
        is_route = any(path == request.path for _, path in ACTIONS)
        if is_route and (request.method, request.path) not in ACTIONS:
            return Response(405, b"")
        return Response(404, NOT_FOUND, {"Content-Type": "text/html; charset=utf-8"})

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        agent = str(uuid.uuid4())
        token = "cap_" + secrets.token_urlsafe(24)
        self._editors[token] = agent
        self._balances[agent] = 100
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def marketplace(self, request: Request) -> Response:
        """List the open jobs to anyone."""
        return self._listing(20)

    def tasks(self, request: Request) -> Response:
        """List the open jobs to an editor."""
        if request.token not in self._editors:
            return self._unauthorized()
        limit, complaint = 20.0, ""
        if "limit" in request.query:
            value = request.query["limit"].strip()
            try:
                if "_" in value or "n" in value.lower():
                    raise ValueError
                limit = float(value or "0")
            except ValueError:
                complaint = "Invalid input: expected number, received NaN"
            else:
                if not limit.is_integer():
                    complaint = "Invalid input: expected int, received number"
                elif limit < 1:
                    complaint = "Too small: expected number to be >=1"
                elif limit > 50:
                    complaint = "Too big: expected number to be <=50"
        if complaint:
            return self._invalid("Invalid query", [(("limit",), complaint)])
        return self._listing(int(limit))

    def claim(self, request: Request) -> Response:
        """Assign a job to an editor."""
        editor, body, refusal = self._read(request, CLAIM)
        if refusal:
            return refusal
        job = self._jobs.get(body["job"]["id"])
        if job is None:
            return Response(404, {"error": "Job not found"})
        if job.state != "open":
            return Response(409, {"error": "Job is no longer open"})
        job.state = "assigned"
        assignment = Assignment("asg_" + secrets.token_hex(8), job, editor)
        self._assignments[assignment.id] = assignment
        self.book.claimed(job.id)
        return Response(
            200,
            {
                "data": {
                    "assignment": {
                        "id": assignment.id,
                        "jobId": job.id,
                        "state": "in_progress",
                        "expiresAt": _iso(datetime.now(UTC) + timedelta(hours=2)),
                    }
                }
            },
        )

    def submit(self, request: Request) -> Response:
        """Take a correction in."""
        editor, body, refusal = self._read(request, SUBMIT)
        if refusal:
            return refusal
        assignment = self._assignments.get(body["assignment"]["id"])
        if assignment is None:
            return Response(404, {"error": "Assignment not found"})
        if assignment.editor != editor:
            return Response(403, {"error": "Forbidden"})
        job, correction = assignment.job, body["correction"]
        if job.state != "assigned":
            return Response(409, {"error": "Assignment was already delivered"})
        if correction["language"] != job.language:
            return Response(
                422,
                {
                    "error": f'Correction language "{correction["language"]}" does not '
                    f'match the job language "{job.language}"'
                },
            )
        job.state = "delivered"
        assignment.work = correction["text"]
        assignment.delivery = "dlv_" + secrets.token_hex(8)
        self._deliveries[assignment.delivery] = assignment
        return Response(
            200,
            {
                "data": {
                    "delivery": {
                        "id": assignment.delivery,
                        "assignmentId": assignment.id,
                        "state": "awaiting_completion",
                        "characters": len(assignment.work),
                    }
                }
            },
        )

    def complete(self, request: Request) -> Response:
        """Close a delivery and pay for it."""
        editor, body, refusal = self._read(request, COMPLETE)
        if refusal:
            return refusal
        assignment = self._deliveries.get(body["delivery"]["id"])
        if assignment is None:
            return Response(404, {"error": "Delivery not found"})
        if assignment.editor != editor:
            return Response(403, {"error": "Forbidden"})
        job = assignment.job
        if job.state != "delivered" or assignment.delivery != body["delivery"]["id"]:
            return Response(409, {"error": "Delivery is already closed"})
        if assignment.work != job.text.upper():
            job.state = "assigned"
            return Response(
                422,
                {"error": "Delivery failed quality control, submit a new correction"},
            )
        job.state = "approved"
        self.book.pay(job.id, job.credits)
        self._balances[editor] += job.credits
        return Response(
            200,
            {
                "data": {
                    "delivery": {"id": assignment.delivery, "state": "approved"},
                    "payout": {
                        "credits": job.credits,
                        "balance": self._balances[editor],
                    },
                }
            },
        )

    def _listing(self, limit: int) -> Response:
        jobs = [job for job in self._jobs.values() if job.state == "open"]
        return Response(
            200,
            {
                "data": [
                    {
                        "id": job.id,
                        "title": job.title,
                        "description": job.text,
                        "language": job.language,
                        "state": job.state,
                        "payout": {"credits": job.credits},
                        "createdAt": _iso(self._started),
                    }
                    for job in jobs[:limit]
                ],
                "meta": {"total": len(jobs), "limit": limit},
            },
        )

    def _read(
        self, request: Request, schema: Schema
    ) -> tuple[str, Any, Response | None]:
        editor = self._editors.get(request.token, "")
        if not editor:
            return "", None, self._unauthorized()
        try:
            body = json.loads(
                request.raw.decode("utf-8-sig", "replace"), parse_constant=self._refuse
            )
        except ValueError:
            return editor, None, Response(400, {"error": "Request body must be JSON"})
        issues = schema(body, ())
        if issues:
            return editor, None, self._invalid("Invalid request body", issues)
        return editor, body, None

    @staticmethod
    def _refuse(name: str) -> Any:
        raise ValueError(name)

    @staticmethod
    def _unauthorized() -> Response:
        return Response(401, {"error": "Unauthorized"})

    @staticmethod
    def _invalid(error: str, issues: list[Issue]) -> Response:
        return Response(400, {"error": error, "details": _treeify(issues)})
