"""A Spring Boot 3.4 service: records, jakarta validation, ProblemDetail, HATEOAS pages.

`spring.mvc.problemdetails.enabled=true`, and an advice that extends
ResponseEntityExceptionHandler: it lists the field errors under `errors` and lets the
message of Jackson through as `detail`. Jackson ignores unknown properties, as Boot has it.
The result is looked at when the claim is settled by complete.
"""

import json
import random
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from tests.foreign.backend import Backend, Request, Response

_PACKAGE = "com.hexboard.market"
_KINDS = ["PLAIN_TEXT", "MARKDOWN", "JSON"]
_OUTCOMES = ["DELIVERED", "ABANDONED"]
_TEXTS = [
    "the harbour bell rings twice at dawn",
    "seven copper kettles on a blue shelf",
    "Rain over Lisbon, wind from the north-west",
    "a quiet librarian counts the moths",
    "invoice 4471 is due on friday",
    "paper boats drift past the mill",
    "Old maps never mention the fog",
    "twelve apprentices, one ladder",
    "salt and thyme; nothing else",
    "the last tram leaves at ten past one",
]


class _UnreadableError(Exception):
    """HttpMessageNotReadableException."""


_TOKENS = {
    dict: "Object value (token `JsonToken.START_OBJECT`)",
    list: "Array value (token `JsonToken.START_ARRAY`)",
    int: "Integer value (token `JsonToken.VALUE_NUMBER_INT`)",
    float: "Floating-point value (token `JsonToken.VALUE_NUMBER_FLOAT`)",
}


def _token(value: Any) -> str:
    if isinstance(value, bool):
        return f"Boolean value (token `JsonToken.VALUE_{str(value).upper()}`)"
    return _TOKENS[type(value)]


def _cannot(java: str, value: Any) -> _UnreadableError:
    return _UnreadableError(
        f"JSON parse error: Cannot deserialize value of type `{java}` from {_token(value)}"
    )


def _long(value: Any) -> int | None:
    if value is None or value == "":
        return None
    if isinstance(value, (bool, dict | list)):
        raise _cannot("java.lang.Long", value)
    if isinstance(value, str):
        try:
            return int(value.strip())
        except ValueError:
            raise _UnreadableError(
                "JSON parse error: Cannot deserialize value of type `java.lang.Long` from "
                f'String "{value}": not a valid `java.lang.Long` value'
            ) from None
    return int(value)


def _uuid(value: Any) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise _cannot("java.util.UUID", value)
    try:
        if len(value) != 36:
            raise ValueError
        return str(uuid.UUID(value))
    except ValueError:
        raise _UnreadableError(
            "JSON parse error: Cannot deserialize value of type `java.util.UUID` from "
            f'String "{value}": UUID has to be represented by standard 36-char '
            "representation"
        ) from None


def _string(value: Any) -> str | None:
    if isinstance(value, dict | list):
        raise _cannot("java.lang.String", value)
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)


def _enum(java: str, names: list[str], value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        if 0 <= value < len(names):
            return names[value]
        raise _UnreadableError(
            f"JSON parse error: Cannot deserialize value of type `{_PACKAGE}.{java}` from "
            f"number {value}: index value outside legal index range [0..{len(names) - 1}]"
        )
    if not isinstance(value, str):
        raise _cannot(f"{_PACKAGE}.{java}", value)
    if not value.strip():
        raise _UnreadableError(
            f'JSON parse error: Cannot coerce empty String ("") to `{_PACKAGE}.{java}` '
            "value (but could if coercion was enabled using `CoercionConfig`)"
        )
    if value.strip() not in names:
        raise _UnreadableError(
            f"JSON parse error: Cannot deserialize value of type `{_PACKAGE}.{java}` from "
            f'String "{value}": not one of the values accepted for Enum class: '
            f"[{', '.join(names)}]"
        )
    return value.strip()


def _record(java: str, value: Any) -> dict[str, Any] | None:
    if value is None or isinstance(value, dict):
        return value
    full = f"{_PACKAGE}.{java}"
    if isinstance(value, list):
        raise _cannot(full, value)
    kind, shown = (
        ("String", f"('{value}')")
        if isinstance(value, str)
        else ("boolean/Boolean", f"({str(value).lower()})")
        if isinstance(value, bool)
        else ("int/Int", f"({value})")
        if isinstance(value, int)
        else ("double/Double", f"({value})")
    )
    what = "String" if kind == "String" else "Boolean" if "B" in kind else "Number"
    raise _UnreadableError(
        f"JSON parse error: Cannot construct instance of `{full}` (although at least one "
        f"Creator exists): no {kind}-argument constructor/factory method to deserialize "
        f"from {what} value {shown}"
    )


def _instant(when: datetime) -> str:
    return when.isoformat(timespec="microseconds").replace("+00:00", "Z")


class SpringHateoas(Backend):
    """See the module."""

    def __init__(self) -> None:
        super().__init__()
        self._random = random.Random(11)  # noqa: S311 - no secret
        self._agents: dict[str, str] = {}
        self._balance: dict[str, int] = {}
        self._tasks: dict[int, dict[str, Any]] = {}
        self._claims: dict[str, dict[str, Any]] = {}
        self._submissions: dict[int, dict[str, Any]] = {}
        for number, text in enumerate(_TEXTS):
            self._tasks[20418 + number * 3] = {
                "text": text,
                "state": "PUBLISHED",
                "version": number % 3,
                "reward": 8 + number * 2,
            }

    def texts(self) -> dict[str, str]:
        """Return the texts by task."""
        return {str(key): task["text"] for key, task in self._tasks.items()}

    # -- the advice -----------------------------------------------------------------

    def _problem(
        self, request: Request, status: int, title: str, detail: str, **more: Any
    ) -> Response:
        body = {
            "type": "about:blank",
            "title": title,
            "status": status,
            "detail": detail,
            "instance": request.path,
            **more,
        }
        return Response(status, body, {"Content-Type": "application/problem+json"})

    def _invalid(self, request: Request, errors: list[tuple[str, str]]) -> Response:
        self._random.shuffle(errors)  # constraint violations come as a HashSet
        return self._problem(
            request,
            400,
            "Bad Request",
            "Invalid request content.",
            errors=[{"field": name, "message": text} for name, text in errors],
        )

    def missing(self, request: Request) -> Response:
        """Answer as NoResourceFoundException."""
        return self._problem(
            request, 404, "Not Found", f"No static resource {request.path.lstrip('/')}."
        )

    def _unauthorized(self, request: Request) -> Response | None:
        if request.token in self._agents:
            return None
        challenge = "Bearer"
        if request.token:
            challenge += (
                ' error="invalid_token", error_description="Bearer token is malformed",'
                ' error_uri="https://tools.ietf.org/html/rfc6750#section-3.1"'
            )
        return Response(401, b"", {"WWW-Authenticate": challenge})

    def _read(self, request: Request, java: str, method: str) -> dict[str, Any]:
        if not request.raw:
            raise _UnreadableError(
                "Required request body is missing: "
                "public org.springframework.hateoas.EntityModel<?> "
                f"{_PACKAGE}.MarketController.{method}({_PACKAGE}.{java},"
                "org.springframework.security.oauth2.jwt.Jwt)"
            )
        try:
            body = request.json()
        except ValueError as error:
            raise _UnreadableError(
                "JSON parse error: Unexpected character "
                f"at position {getattr(error, 'pos', 0)}: was expecting a valid value"
            ) from None
        record = _record(java, body)
        if record is None:
            raise _UnreadableError(
                "Required request body is missing: "
                "public org.springframework.hateoas.EntityModel<?> "
                f"{_PACKAGE}.MarketController.{method}({_PACKAGE}.{java},"
                "org.springframework.security.oauth2.jwt.Jwt)"
            )
        return record

    def _guarded(self, request: Request, inner: Any) -> Response:
        if (refusal := self._unauthorized(request)) is not None:
            return refusal
        kind = (request.headers.get("Content-Type") or "").split(";")[0].strip()
        if kind not in ("application/json", "application/hal+json"):
            shown = kind or "application/octet-stream"
            answer = self._problem(
                request,
                415,
                "Unsupported Media Type",
                f"Content-Type '{shown}' is not supported.",
            )
            answer.headers["Accept"] = "application/json, application/*+json"
            return answer
        try:
            return cast("Response", inner(request))
        except _UnreadableError as error:
            return self._problem(request, 400, "Bad Request", str(error))

    def _hal(self, body: dict[str, Any]) -> Response:
        return Response(200, body, {"Content-Type": "application/hal+json"})

    # -- the controllers ------------------------------------------------------------

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), f"hxb_{uuid.uuid4().hex}"
        self._agents[token] = agent
        self._balance[agent] = 100
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def _model(self, request: Request, key: int) -> dict[str, Any]:
        task = self._tasks[key]
        links = {"self": {"href": f"{request.base}/functions/v1/get-marketplace-tasks"}}
        if task["state"] == "PUBLISHED":
            links["claim"] = {"href": f"{request.base}/functions/v1/claim-task-public"}
        return {
            "id": key,
            "version": task["version"],
            "headline": "Convert to capital letters",
            "brief": "Deliver the source text in capital letters, otherwise unchanged, "
            "as plain text.",
            "sourceText": task["text"],
            "reward": {"amount": task["reward"], "unit": "CREDITS"},
            "state": task["state"],
            "publishedAt": "2026-01-14T08:12:44.120381Z",
            "_links": links,
        }

    def tasks(self, request: Request) -> Response:
        """List the published tasks, a page of them."""
        if (refusal := self._unauthorized(request)) is not None:
            return refusal
        limit = request.query.get("limit") or "20"
        try:
            size = int(limit)
        except ValueError:
            return self._problem(
                request,
                400,
                "Bad Request",
                f"Failed to convert 'limit' with value: '{limit}'",
            )
        if not 1 <= size <= 100:
            return self._problem(request, 400, "Bad Request", "Validation failure")
        open_ = [k for k, task in self._tasks.items() if task["state"] == "PUBLISHED"]
        shown = [self._model(request, key) for key in open_[:size]]
        body: dict[str, Any] = {"_embedded": {"taskModelList": shown}} if shown else {}
        body["_links"] = {
            "self": {
                "href": f"{request.base}{request.path}?page=0&limit={size}",
            }
        }
        body["page"] = {
            "size": size,
            "totalElements": len(open_),
            "totalPages": -(-len(open_) // size),
            "number": 0,
        }
        return self._hal(body)

    def claim(self, request: Request) -> Response:
        """Claim: {taskId, version}."""
        return self._guarded(request, self._claim)

    def _claim(self, request: Request) -> Response:
        body = self._read(request, "ClaimTaskCommand", "claim")
        key, version = _long(body.get("taskId")), _long(body.get("version"))
        errors = []
        if key is None:
            errors.append(("taskId", "must not be null"))
        elif key <= 0:
            errors.append(("taskId", "must be greater than 0"))
        if version is None:
            errors.append(("version", "must not be null"))
        elif version < 0:
            errors.append(("version", "must be greater than or equal to 0"))
        if errors or key is None:
            return self._invalid(request, errors)
        task = self._tasks.get(key)
        if task is None:
            return self._problem(
                request, 404, "Not Found", f"No task with id {key} exists."
            )
        if task["version"] != version:
            return self._problem(
                request,
                409,
                "Conflict",
                "Row was updated or deleted by another transaction (or unsaved-value "
                f"mapping was incorrect): [{_PACKAGE}.Task#{key}]",
            )
        if task["state"] != "PUBLISHED":
            return self._problem(
                request, 409, "Conflict", f"Task {key} is not open for claiming."
            )
        task["state"] = "CLAIMED"
        task["version"] += 1
        claim = str(uuid.uuid4())
        self._claims[claim] = {
            "task": key,
            "agent": self._agents[request.token],
            "state": "ACTIVE",
        }
        self.book.claimed(str(key))
        now = datetime.now(UTC)
        return self._hal(
            {
                "claimId": claim,
                "state": "ACTIVE",
                "claimedAt": _instant(now),
                "expiresAt": _instant(now + timedelta(hours=2)),
                "task": self._model(request, key),
                "_links": {
                    "submit": {
                        "href": f"{request.base}/functions/v1/submit-task-result-public"
                    }
                },
            }
        )

    def _find(self, request: Request, claim_id: str | None) -> dict[str, Any] | None:
        claim = self._claims.get(claim_id or "")
        if claim is None or claim["agent"] != self._agents[request.token]:
            return None
        return claim

    def submit(self, request: Request) -> Response:
        """Submit: {claimId, deliverable: {kind, content}}."""
        return self._guarded(request, self._submit)

    def _submit(self, request: Request) -> Response:
        body = self._read(request, "SubmitResultCommand", "submit")
        claim_id = _uuid(body.get("claimId"))
        deliverable = _record("Deliverable", body.get("deliverable"))
        inner = deliverable or {}
        kind = _enum("DeliverableKind", _KINDS, inner.get("kind"))
        content = _string(inner.get("content"))
        errors = []
        if claim_id is None:
            errors.append(("claimId", "must not be null"))
        if deliverable is None:
            errors.append(("deliverable", "must not be null"))
        else:
            if kind is None:
                errors.append(("deliverable.kind", "must not be null"))
            if content is None or not content.strip():
                errors.append(("deliverable.content", "must not be blank"))
            elif len(content) > 20000:
                errors.append(
                    ("deliverable.content", "size must be between 0 and 20000")
                )
        if errors:
            return self._invalid(request, errors)
        claim = self._find(request, claim_id)
        if claim is None:
            return self._problem(
                request, 404, "Not Found", f"No claim with id {claim_id} exists."
            )
        if claim["state"] != "ACTIVE":
            return self._problem(
                request,
                409,
                "Conflict",
                f"Claim {claim_id} is {claim['state']}; only ACTIVE claims accept a "
                "submission.",
            )
        number = 900 + len(self._submissions) + 1
        self._submissions[number] = {"claim": claim_id, "content": content}
        claim["state"] = "SUBMITTED"
        return self._hal(
            {
                "submissionId": number,
                "claimId": claim_id,
                "state": "SUBMITTED",
                "deliverable": {"kind": kind, "length": len(content or "")},
                "submittedAt": _instant(datetime.now(UTC)),
                "_links": {
                    "complete": {
                        "href": f"{request.base}/functions/v1/complete-task-public"
                    }
                },
            }
        )

    def complete(self, request: Request) -> Response:
        """Complete: {claimId, submissionId, outcome}."""
        return self._guarded(request, self._complete)

    def _complete(self, request: Request) -> Response:
        body = self._read(request, "CompleteTaskCommand", "complete")
        claim_id = _uuid(body.get("claimId"))
        number = _long(body.get("submissionId"))
        outcome = _enum("CompletionOutcome", _OUTCOMES, body.get("outcome"))
        errors = [
            (name, "must not be null")
            for name, value in (
                ("claimId", claim_id),
                ("submissionId", number),
                ("outcome", outcome),
            )
            if value is None
        ]
        if errors or number is None:
            return self._invalid(request, errors)
        claim = self._find(request, claim_id)
        if claim is None:
            return self._problem(
                request, 404, "Not Found", f"No claim with id {claim_id} exists."
            )
        submission = self._submissions.get(number)
        if outcome == "DELIVERED" and (
            submission is None or submission["claim"] != claim_id
        ):
            return self._problem(
                request,
                404,
                "Not Found",
                f"No submission with id {number} exists for claim {claim_id}.",
            )
        if claim["state"] not in ("ACTIVE", "SUBMITTED"):
            return self._problem(
                request, 409, "Conflict", f"Claim {claim_id} is {claim['state']}."
            )
        key = claim["task"]
        task = self._tasks[key]
        if outcome == "ABANDONED":
            claim["state"], task["state"] = "ABANDONED", "PUBLISHED"
            task["version"] += 1
            self.book.held.discard(str(key))
            return self._hal({"claimId": claim_id, "state": "ABANDONED"})
        if submission is None or submission["content"] != task["text"].upper():
            claim["state"] = "ACTIVE"
            return self._problem(
                request,
                422,
                "Unprocessable Entity",
                f"Submission {number} does not satisfy the brief of task {key}; the "
                "claim is ACTIVE again.",
                submissionId=number,
            )
        claim["state"], task["state"] = "COMPLETED", "COMPLETED"
        task["version"] += 1
        agent = claim["agent"]
        self._balance[agent] += task["reward"]
        self.book.pay(str(key), task["reward"])
        return self._hal(
            {
                "claimId": claim_id,
                "state": "COMPLETED",
                "payout": {"amount": task["reward"], "unit": "CREDITS"},
                "balance": self._balance[agent],
                "completedAt": _instant(datetime.now(UTC)),
                "_links": {
                    "next": {
                        "href": f"{request.base}/functions/v1/get-marketplace-tasks"
                    }
                },
            }
        )
