"""An engraving workshop's job board in TypeScript: NestJS, class-validator, Prisma.

The global ValidationPipe has whitelist, forbidNonWhitelisted and transform on: every complaint
is a line of `message`, and a field that the DTO does not know is one of them. camelCase, cuid
ids, states in capitals as Prisma enums have them. The list shows how many letters a job has and
what it pays; the inscription is in the brief that comes with the assignment. Two assignments
at once. Submitting makes a submission, and it is that which is completed.
"""

import hashlib
import json
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_JOBS = [
    (
        "Brass plate, dentist",
        "brass",
        "dr. ilse vorwerk, second floor, please ring",
        18,
    ),
    ("Trophy base", "walnut", "junior regatta, first place, lake arden", 11),
    ("Bench plaque", "bronze", "for maud, who liked the view", 8),
    ("Bell rim", "bronze", "cast in the dry summer, rung in the wet one", 26),
    ("Key fob set", "steel", "boathouse / sluice / attic", 5),
    ("Sundial ring", "slate", "i count only the bright hours", 14),
    ("Shop scale", "brass", "weighed fairly since 1932", 9),
    ("Door lintel", "oak", "mind your head & your manners", 16),
    ("Retirement watch", "silver", "forty years, never late but once", 22),
]
_ACTIVE = 2
_CASINGS = ("UPPER", "LOWER", "TITLE")
_Rule = tuple[Callable[[Any], bool], str]


def _cuid(seed: str) -> str:
    number = int(hashlib.sha256(seed.encode()).hexdigest(), 16)
    letters = ""
    while len(letters) < 16:
        number, rest = divmod(number, 36)
        letters += "0123456789abcdefghijklmnopqrstuvwxyz"[rest]
    return "cmd4x1p0q" + letters


def _iso(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"


_IS_STRING: _Rule = (lambda v: isinstance(v, str), "must be a string")
_NOT_EMPTY: _Rule = (lambda v: v not in ("", None), "should not be empty")
_MAX_500: _Rule = (
    lambda v: isinstance(v, str) and len(v) <= 500,
    "must be shorter than or equal to 500 characters",
)
_IS_CASING: _Rule = (
    lambda v: isinstance(v, str) and v in _CASINGS,
    f"must be one of the following values: {', '.join(_CASINGS)}",
)
_IS_BOOLEAN: _Rule = (lambda v: isinstance(v, bool), "must be a boolean value")
_EQUALS_TRUE: _Rule = (lambda v: v is True, "must be equal to true")

# Decorators apply from the bottom up, so the last one written complains first.
_Dto = dict[str, Any]
_CLAIM: _Dto = {"jobId": [_NOT_EMPTY, _IS_STRING]}
_SUBMIT: _Dto = {
    "assignmentId": [_NOT_EMPTY, _IS_STRING],
    "result": {"text": [_MAX_500, _NOT_EMPTY, _IS_STRING], "casing": [_IS_CASING]},
}
_COMPLETE: _Dto = {
    "submissionId": [_NOT_EMPTY, _IS_STRING],
    "declareOwnWork": [_EQUALS_TRUE, _IS_BOOLEAN],
}


def _validate(body: Any, dto: _Dto) -> list[str]:
    """Return what class-validator says, in its order."""
    if isinstance(body, list):
        body = {str(at): value for at, value in enumerate(body)}
    found = [f"property {name} should not exist" for name in body if name not in dto]
    for name, rules in dto.items():
        value = body.get(name)
        if isinstance(rules, list):
            found += [f"{name} {words}" for good, words in rules if not good(value)]
        elif isinstance(value, dict):
            found += [f"{name}.{words}" for words in _validate(value, rules)]
        elif isinstance(value, list):
            for at, item in enumerate(value):
                if isinstance(item, dict):
                    found += [
                        f"{name}.{at}.{words}" for words in _validate(item, rules)
                    ]
                else:
                    found.append(
                        f"{name}.nested property {name} must be either object or array"
                    )
        else:
            if value is None:
                found.append(f"{name} should not be null or undefined")
            if name in body:
                found.append(f"nested property {name} must be either object or array")
    return found


class _HttpException(Exception):  # noqa: N818
    """Nest's built-in exceptions, by status."""

    _NAMES = {
        400: "Bad Request",
        403: "Forbidden",
        404: "Not Found",
        409: "Conflict",
        422: "Unprocessable Entity",
    }

    def __init__(self, status: int, message: Any) -> None:
        super().__init__(status)
        body = {
            "message": message,
            "error": self._NAMES.get(status),
            "statusCode": status,
        }
        if body["error"] is None:
            del body["error"]
        self.response = Response(status, body)


def _parse(request: Request) -> Any:
    """Return what body-parser makes of the body, in its strict mode."""
    media = (
        (request.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    )
    if media != "application/json" or not request.raw:
        return {}
    text = request.raw.decode(errors="replace")
    start = text.lstrip()[:1]
    shown = text if len(text) <= 20 else text[:10] + "..."
    if start and start not in "{[":
        words = f"Unexpected token '{start}', \"{shown}\" is not valid JSON"
        raise _HttpException(400, words)
    try:
        return json.loads(text)
    except json.JSONDecodeError as fault:
        at = fault.pos
        if at >= len(text):
            words = "Unexpected end of JSON input"
        elif "property name" in fault.msg:
            words = f"Expected property name or '}}' in JSON at position {at}"
            words += f" (line {fault.lineno} column {fault.colno})"
        elif "delimiter" in fault.msg:
            wanted = "':' after property name" if "':'" in fault.msg else "',' or '}'"
            wanted += "" if "':'" in fault.msg else " after property value"
            words = f"Expected {wanted} in JSON at position {at}"
            words += f" (line {fault.lineno} column {fault.colno})"
        else:
            near = text[max(0, at - 10) : at + 10]
            dots = "..." if at > 10 else ""
            words = (
                f"Unexpected token '{text[at]}', {dots}\"{near}\"... is not valid JSON"
            )
        raise _HttpException(400, words) from None


class EngraverNestjs(Backend):
    """Nine jobs; assignment, brief, submission, declaration."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}
        self._assignments: dict[str, dict[str, Any]] = {}
        self._submissions: dict[str, dict[str, Any]] = {}
        opened = datetime.now(UTC) - timedelta(hours=30)
        self._jobs: dict[str, dict[str, Any]] = {}
        self._inscriptions: dict[str, str] = {}
        for at, (title, material, inscription, reward) in enumerate(_JOBS):
            key = _cuid(title)
            self._inscriptions[key] = inscription
            self._jobs[key] = {
                "id": key,
                "title": title,
                "material": material,
                "letterCount": sum(map(str.isalnum, inscription)),
                "reward": {"amount": reward, "unit": "CREDIT"},
                "status": "AVAILABLE",
                "createdAt": _iso(opened + timedelta(minutes=41 * at)),
                "updatedAt": _iso(opened + timedelta(minutes=41 * at)),
            }

    def texts(self) -> dict[str, str]:
        return dict(self._inscriptions)

    def missing(self, request: Request) -> Response:
        return _HttpException(404, f"Cannot {request.method} {request.path}").response

    def _guard(self, request: Request) -> dict[str, Any]:
        if request.token not in self._agents:
            raise _HttpException(401, "Unauthorized")
        return self._agents[request.token]

    def _answer(
        self, request: Request, dto: _Dto, run: Callable[..., dict[str, Any]]
    ) -> Response:
        try:
            body = _parse(request)  # middleware, before the guards
            agent = self._guard(request)
            if faults := _validate(body, dto):
                raise _HttpException(400, faults)
            return Response(200, run(agent, **body))
        except _HttpException as no:
            return no.response

    def register(self, request: Request) -> Response:
        try:
            _parse(request)
        except _HttpException as no:
            return no.response
        self.book.registrations += 1
        token = f"eng_{secrets.token_urlsafe(30)}"
        agent = {"agent_id": _cuid(token), "credits": 100}
        self._agents[token] = agent
        return Response(200, {**agent, "access_token": token})

    def _list(self, page: int, limit: int) -> Response:
        rows = [job for job in self._jobs.values() if job["status"] == "AVAILABLE"]
        items = rows[(page - 1) * limit : page * limit]
        meta = {
            "totalItems": len(rows),
            "itemCount": len(items),
            "itemsPerPage": limit,
            "totalPages": -(-len(rows) // limit),
            "currentPage": page,
        }
        return Response(200, {"items": items, "meta": meta})

    def marketplace(self, request: Request) -> Response:
        return self._list(1, 25)

    def tasks(self, request: Request) -> Response:
        try:
            self._guard(request)
            asked = {"page": 1.0, "limit": 4.0}
            faults = [
                f"property {n} should not exist"
                for n in request.query
                if n not in asked
            ]
            for name, high in (("page", None), ("limit", 25)):
                if name in request.query:
                    faults += self._number(request.query[name], name, high, asked)
            if faults:
                raise _HttpException(400, faults)
            return self._list(int(asked["page"]), int(asked["limit"]))
        except _HttpException as no:
            return no.response

    @staticmethod
    def _number(
        given: str, name: str, high: int | None, asked: dict[str, float]
    ) -> list[str]:
        try:
            number = float(given or 0)  # Number("") is 0
        except ValueError:
            number = float("nan")
        faults = []
        if high is not None and not number <= high:
            faults.append(f"{name} must not be greater than {high}")
        if not number >= 1:
            faults.append(f"{name} must not be less than 1")
        if not number.is_integer():
            faults.append(f"{name} must be an integer number")
        asked[name] = number
        return faults

    def agents(self, request: Request) -> Response:
        items = [{"id": agent["agent_id"]} for agent in self._agents.values()]
        return Response(200, {"items": items})

    def _touch(self, job: dict[str, Any], status: str) -> None:
        job |= {"status": status, "updatedAt": _iso(datetime.now(UTC))}

    def claim(self, request: Request) -> Response:
        return self._answer(request, _CLAIM, self._claim)

    def _claim(self, agent: dict[str, Any], jobId: str) -> dict[str, Any]:  # noqa: N803
        job = self._jobs.get(jobId)
        if job is None:
            raise _HttpException(404, f"Job with id {jobId} not found")
        if job["status"] != "AVAILABLE":
            raise _HttpException(
                409, f"Job is not available (current status: {job['status']})"
            )
        active = [
            a
            for a in self._assignments.values()
            if a["agentId"] == agent["agent_id"] and a["status"] != "COMPLETED"
        ]
        if len(active) >= _ACTIVE:
            words = f"Assignment limit reached: {len(active)} of {_ACTIVE} active"
            raise _HttpException(409, words)
        self._touch(job, "ASSIGNED")
        self.book.claimed(jobId)
        key = _cuid(f"{jobId} {agent['agent_id']}")
        self._assignments[key] = {
            "id": key,
            "jobId": jobId,
            "agentId": agent["agent_id"],
            "status": "IN_PROGRESS",
            "assignedAt": _iso(datetime.now(UTC)),
        }
        brief = {
            "inscription": self._inscriptions[jobId],
            "casing": "UPPER",
            "notes": "Engraved exactly as sent. Keep punctuation and spacing.",
        }
        return {"assignment": self._assignments[key], "brief": brief}

    def submit(self, request: Request) -> Response:
        return self._answer(request, _SUBMIT, self._submit)

    def _submit(
        self, agent: dict[str, Any], assignmentId: str, result: Any
    ) -> dict[str, Any]:  # noqa: N803
        found = self._assignments.get(assignmentId)
        if found is None:
            raise _HttpException(404, f"Assignment with id {assignmentId} not found")
        if found["agentId"] != agent["agent_id"]:
            raise _HttpException(403, "This assignment belongs to another agent")
        if found["status"] != "IN_PROGRESS":
            raise _HttpException(409, f"Assignment is already {found['status']}")
        sent = result if isinstance(result, dict) else {"text": "", "casing": ""}
        if sent["casing"] != "UPPER":
            raise _HttpException(422, "result.casing does not match the brief (UPPER)")
        if sent["text"].strip() != self._inscriptions[found["jobId"]].upper():
            words = "result.text must be the inscription of the brief in UPPER casing"
            raise _HttpException(422, words)
        found["status"] = "SUBMITTED"
        key = _cuid(f"submission {assignmentId}")
        self._submissions[key] = {
            "id": key,
            "assignmentId": assignmentId,
            "result": sent,
            "status": "ACCEPTED",
            "submittedAt": _iso(datetime.now(UTC)),
        }
        return {"submission": self._submissions[key]}

    def complete(self, request: Request) -> Response:
        return self._answer(request, _COMPLETE, self._complete)

    def _complete(
        self,
        agent: dict[str, Any],
        submissionId: str,  # noqa: N803
        declareOwnWork: bool,  # noqa: N803
    ) -> dict[str, Any]:
        submission = self._submissions.get(submissionId)
        if submission is None:
            raise _HttpException(404, f"Submission with id {submissionId} not found")
        found = self._assignments[submission["assignmentId"]]
        if found["agentId"] != agent["agent_id"]:
            raise _HttpException(403, "This submission belongs to another agent")
        if found["status"] == "COMPLETED":
            raise _HttpException(409, "Assignment is already COMPLETED")
        job = self._jobs[found["jobId"]]
        found |= {"status": "COMPLETED", "completedAt": _iso(datetime.now(UTC))}
        self._touch(job, "ENGRAVING")
        self.book.pay(job["id"], job["reward"]["amount"])
        agent["credits"] += job["reward"]["amount"]
        return {
            "assignment": found,
            "payout": job["reward"],
            "balance": {"amount": agent["credits"], "unit": "CREDIT"},
        }
