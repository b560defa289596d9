"""Harbourline Mutual: the claims back office's work queue.

Spring Boot 3 in manner: Jackson (unknown properties ignored, scalars coerced), Bean
Validation, ProblemDetail, and Spring Security's bearer tokens in front of it all. The
company's @RestControllerAdvice extends ResponseEntityExceptionHandler and adds one
property, "errors", to the problem of a MethodArgumentNotValidException.
"""

import json
import re
import secrets
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_ITEMS = [
    # id, reference, queue, document type, version, fee, narrative
    (40117, "MTR-24-118203", "MOTOR_FNOL", "LOSS_NOTIFICATION", 0, 12,
     "Insured reversed into a bollard in the supermarket car park; no third party."),
    (40118, "HOM-24-066510", "HOME_ESCAPE_OF_WATER", "ADJUSTER_NOTE", 2, 18,
     "Flexible hose under the kitchen sink failed overnight. Plinths and two base units swollen."),
    (40121, "MTR-24-118377", "MOTOR_FNOL", "LOSS_NOTIFICATION", 1, 12,
     "Stone chip to windscreen on the A38, since spread to about 20 cm."),
    (40126, "TRV-24-009042", "TRAVEL", "CLAIMANT_LETTER", 0, 9,
     "My suitcase did not arrive until the fourth day and I had to buy clothes."),
    (40130, "HOM-24-066698", "HOME_STORM", "ADJUSTER_NOTE", 3, 21,
     "Ridge tiles displaced on the rear slope, felt torn, water staining to bedroom 2 ceiling."),
    (40133, "PET-24-031775", "PET", "VET_REPORT", 1, 10,
     "Labrador, 4 years, lame on left fore. Radiographs show no fracture."),
    (40139, "LIA-24-002291", "LIABILITY", "WITNESS_STATEMENT", 0, 25,
     "I saw the lady slip by the entrance mat at around ten past nine."),
    (40140, "MTR-24-118420", "MOTOR_THEFT", "POLICE_EXTRACT", 2, 16,
     "Vehicle taken from driveway between 23:30 and 06:15, both keys still held by owner."),
]  # fmt: skip

_INSTRUCTIONS = (
    "Transcribe the document narrative in block capitals for the policy mainframe. "
    "Change nothing else: wording, spacing and punctuation stay as they are."
)


class _UnreadableError(Exception):
    """Jackson could not read the body."""


class _ProblemError(Exception):
    """An ErrorResponseException or one of Spring MVC's own."""

    def __init__(
        self,
        status: int,
        detail: str,
        headers: dict[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.more = status, detail, more
        self.headers = headers or {}


def _now() -> datetime:
    return datetime.now(UTC)


def _instant(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def _no_constant(name: str) -> None:
    """NaN and its kind are Python's, not JSON's."""
    raise ValueError(name)


def _long(value: Any) -> int | None:
    """Read a java.lang.Long as Jackson does."""
    if value is None:
        return None
    if isinstance(value, (bool, list | dict)):
        raise _UnreadableError
    if isinstance(value, str):
        value = value.strip()
        if not value:
            return None
        if not re.fullmatch(r"[+-]?\d{1,19}", value):
            raise _UnreadableError
    return int(value)


def _string(value: Any) -> str | None:
    """Read a java.lang.String as Jackson does."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | dict):
        raise _UnreadableError
    return json.dumps(value)


def _bean(value: Any) -> dict[str, Any] | None:
    """Read a nested record as Jackson does."""
    if value is None or isinstance(value, dict):
        return value
    raise _UnreadableError


def _invalid(errors: list[tuple[str, str]]) -> None:
    if errors:
        raise _ProblemError(
            400,
            "Invalid request content.",
            errors=[{"field": name, "message": words} for name, words in errors],
        )


def _blank(value: str | None) -> bool:
    return value is None or not value.strip()


class Harbourline(Backend):
    """Work items, assignments with a resolution, and a settlement."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # token -> agent
        self._items: dict[int, dict[str, Any]] = {}
        for number, reference, queue, kind, version, fee, narrative in _ITEMS:
            self._items[number] = {
                "workItemId": number,
                "reference": reference,
                "queue": queue,
                "priority": "HIGH" if fee > 20 else "NORMAL",
                "instructions": _INSTRUCTIONS,
                "document": {
                    "type": kind,
                    "pages": 1,
                    "language": "en-GB",
                    "narrative": narrative,
                },
                "feeCredits": fee,
                "status": "OPEN",
                "version": version,
                "receivedAt": _instant(_now() - timedelta(hours=number % 50)),
            }
        self._assignments: dict[str, dict[str, Any]] = {}
        self._settled: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {}

    def texts(self) -> dict[str, str]:
        return {str(n): i["document"]["narrative"] for n, i in self._items.items()}

    # Spring's own: security, the dispatcher, the message converter.

    def _problem(self, request: Request, problem: _ProblemError) -> Response:
        return Response(
            problem.status,
            {
                "type": "about:blank",
                "title": {422: "Unprocessable Entity"}.get(
                    problem.status, HTTPStatus(problem.status).phrase
                ),
                "status": problem.status,
                "detail": problem.detail,
                "instance": request.path,
                **problem.more,
            },
            {"Content-Type": "application/problem+json", **problem.headers},
        )

    def _unauthorized(self, request: Request) -> Response | None:
        if (
            not (request.headers.get("Authorization") or "")
            .lower()
            .startswith("bearer")
        ):
            return Response(401, b"", {"WWW-Authenticate": "Bearer"})
        if request.token in self._agents:
            return None
        words = (
            "Provided token isn't active"
            if re.fullmatch(r"[A-Za-z0-9\-._~+/]+=*", request.token)
            else "Bearer token is malformed"
        )
        return Response(
            401,
            b"",
            {
                "WWW-Authenticate": f'Bearer error="invalid_token", error_description="{words}", '
                'error_uri="https://tools.ietf.org/html/rfc6750#section-3.1"'
            },
        )

    def _guarded(self, request: Request, action: Any) -> Response:
        refusal = self._unauthorized(request)
        if refusal:
            return refusal
        try:
            return Response(200, action(request, self._agents[request.token]))
        except _UnreadableError:
            return self._problem(request, _ProblemError(400, "Failed to read request"))
        except _ProblemError as problem:
            return self._problem(request, problem)

    @staticmethod
    def _read(request: Request) -> dict[str, Any]:
        """Return the body as the message converter gets it."""
        media_type = request.headers.get("Content-Type") or "application/octet-stream"
        essence = media_type.partition(";")[0].strip().lower()
        if not re.fullmatch(r"application/(json|[^/]+\+json)", essence):
            raise _ProblemError(
                415,
                f"Content-Type '{media_type.replace('; ', ';')}' is not supported.",
                {"Accept": "application/json, application/*+json"},
            )
        try:
            body, _ = json.JSONDecoder(parse_constant=_no_constant).raw_decode(
                request.raw.decode().lstrip()
            )
        except ValueError:
            raise _UnreadableError from None
        if not isinstance(body, dict):
            raise _UnreadableError
        return body

    def missing(self, request: Request) -> Response:
        if request.path.startswith("/functions/"):
            refusal = self._unauthorized(request)
            if refusal:
                return refusal
        allowed = [
            method
            for (method, path), action in ACTIONS.items()
            if path == request.path and hasattr(self, action)
        ]
        if allowed and request.method not in allowed:
            return self._problem(
                request,
                _ProblemError(
                    405,
                    f"Method '{request.method}' is not supported.",
                    {"Allow": ", ".join(allowed)},
                ),
            )
        return self._problem(
            request,
            _ProblemError(404, f"No static resource {request.path.lstrip('/')}."),
        )

    # The controllers.

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(32)
        agent = {
            "agent_id": f"HBA{5200 + self.book.registrations}",
            "credits": 100,
        }
        self._agents[token] = agent
        return Response(
            200,
            {
                "agent_id": agent["agent_id"],
                "access_token": token,
                "credits": 100,
                "grade": "ASSOCIATE",
                "registered_at": _instant(_now()),
            },
        )

    def tasks(self, request: Request) -> Response:
        return self._guarded(request, self._list)

    def claim(self, request: Request) -> Response:
        return self._guarded(request, self._assign)

    def submit(self, request: Request) -> Response:
        return self._guarded(request, self._resolve)

    def complete(self, request: Request) -> Response:
        return self._guarded(request, self._settle)

    def _list(self, request: Request, agent: dict[str, Any]) -> dict[str, Any]:
        text = request.query.get("limit") or "20"
        if not re.fullmatch(r"[+-]?\d{1,9}", text.strip()):
            raise _ProblemError(400, f"Failed to convert 'limit' with value: '{text}'")
        size = max(1, min(int(text), 50))
        total = len(self._items)
        return {
            "content": list(self._items.values())[:size],
            "page": {
                "size": size,
                "number": 0,
                "totalElements": total,
                "totalPages": -(-total // size),
            },
        }

    def _assign(self, request: Request, agent: dict[str, Any]) -> dict[str, Any]:
        body = self._read(request)
        number, version = _long(body.get("workItemId")), _long(body.get("version"))
        _invalid(
            [
                (name, "must not be null")
                for name, value in (("workItemId", number), ("version", version))
                if value is None
            ]
        )
        item = self._items.get(number or 0)
        if item is None:
            raise _ProblemError(404, f"Work item {number} not found.")
        if item["status"] != "OPEN":
            raise _ProblemError(
                409, f"Work item {number} is not open (status {item['status']})."
            )
        if item["version"] != version:
            raise _ProblemError(
                409,
                f"Work item {number} was changed since it was read: "
                f"version is {item['version']}, request has {version}.",
            )
        item["status"] = "ASSIGNED"
        item["version"] += 1
        self.book.claimed(str(number))
        key = f"ASG-{20870 + len(self._assignments)}"
        self._assignments[key] = {
            "assignmentId": key,
            "assignedTo": agent["agent_id"],
            "assignedAt": _instant(_now()),
            "dueAt": _instant(_now() + timedelta(hours=8)),
            "status": "IN_PROGRESS",
            "workItem": item,
            "resolution": {"transcript": None, "resolvedAt": None},
        }
        return self._assignments[key]

    def _assignment(
        self, key: str, agent: dict[str, Any], status: str
    ) -> dict[str, Any]:
        found = self._assignments.get(key)
        if found is None or found["assignedTo"] != agent["agent_id"]:
            raise _ProblemError(404, f"Assignment {key} not found.")
        if found["status"] != status:
            raise _ProblemError(
                409, f"Assignment {key} is {found['status']}, expected {status}."
            )
        return found

    def _resolve(self, request: Request, agent: dict[str, Any]) -> dict[str, Any]:
        body = self._read(request)
        key, resolution = (
            _string(body.get("assignmentId")),
            _bean(body.get("resolution")),
        )
        errors = []
        if _blank(key):
            errors.append(("assignmentId", "must not be blank"))
        transcript = None
        if resolution is None:
            errors.append(("resolution", "must not be null"))
        else:
            transcript = _string(resolution.get("transcript"))
            if _blank(transcript):
                errors.append(("resolution.transcript", "must not be blank"))
            if transcript is not None and len(transcript) > 4000:
                errors.append(
                    ("resolution.transcript", "size must be between 0 and 4000")
                )
        _invalid(errors)
        found = self._assignment(str(key), agent, "IN_PROGRESS")
        if transcript != found["workItem"]["document"]["narrative"].upper():
            raise _ProblemError(
                422, "Transcript does not agree with the document narrative."
            )
        found["resolution"] = {"transcript": transcript, "resolvedAt": _instant(_now())}
        found["status"] = "RESOLVED"
        found["workItem"]["status"] = "RESOLVED"
        found["workItem"]["version"] += 1
        return found

    def _settle(self, request: Request, agent: dict[str, Any]) -> dict[str, Any]:
        idempotency = request.headers.get("Idempotency-Key")
        if idempotency is None:
            raise _ProblemError(
                400, "Required header 'Idempotency-Key' is not present."
            )
        key = _string(self._read(request).get("assignmentId"))
        _invalid([("assignmentId", "must not be blank")] if _blank(key) else [])
        done = self._settled.get((agent["agent_id"], idempotency))
        if done:
            if done[0] != key:
                raise _ProblemError(
                    422, "Idempotency-Key was already used for another request."
                )
            return done[1]
        found = self._assignment(str(key), agent, "RESOLVED")
        item = found["workItem"]
        found["status"] = item["status"] = "SETTLED"
        item["version"] += 1
        agent["credits"] += item["feeCredits"]
        self.book.pay(str(item["workItemId"]), item["feeCredits"])
        answer = {
            "assignmentId": key,
            "workItemId": item["workItemId"],
            "status": "SETTLED",
            "settlement": {
                "feeCredits": item["feeCredits"],
                "balance": agent["credits"],
                "settledAt": _instant(_now()),
            },
        }
        self._settled[(agent["agent_id"], idempotency)] = (str(key), answer)
        return answer
