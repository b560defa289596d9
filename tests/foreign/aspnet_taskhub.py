"""A mid-size company's ASP.NET Core 8 service: controllers, DTOs, ProblemDetails.

Validation speaks as [ApiController] and System.Text.Json do; claims carry the row
version (optimistic concurrency); submission verifies, completion pays.
"""

import base64
import json
import re
import secrets
import uuid
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_SEED = [
    ("Normalize warehouse label", "pallet 7 - keep dry", 10),
    ("Normalize street name", "Lower Bridge Street 12b", 14),
    ("Normalize product code", "xk-204 / rev c", 8),
    ("Normalize customs note", "contains lithium batteries, 2 pcs", 30),
    ("Normalize vehicle plate", "wd 58 kpl", 6),
    ("Normalize consignee", "Hollis & Greer Ltd.", 17),
    ("Normalize hazard text", "flammable liquid; store below 25 c", 26),
]
_KINDS = {
    400: ("9110#section-15.5.1", "Bad Request"),
    404: ("9110#section-15.5.5", "Not Found"),
    409: ("9110#section-15.5.10", "Conflict"),
    415: ("9110#section-15.5.16", "Unsupported Media Type"),
    422: ("4918#section-11.2", "Unprocessable Entity"),
}
_GUID, _STRING, _BYTES = (
    "System.Nullable`1[System.Guid]",
    "System.String",
    "System.Byte[]",
)
_SPAN = "System.Nullable`1[System.TimeSpan]"
_OUTCOME = "^(Completed|Abandoned)$"


def _problem(
    status: int, detail: str = "", errors: dict[str, list[str]] | None = None
) -> Response:
    section, title = _KINDS[status]
    body: Any = {
        "type": f"https://tools.ietf.org/html/rfc{section}",
        "title": title,
        "status": status,
    }
    if detail:
        body["detail"] = detail
    if errors:
        body.update(title="One or more validation errors occurred.", errors=errors)
    body["traceId"] = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-00"
    return Response(
        status,
        json.dumps(body, separators=(",", ":")),
        {"Content-Type": "application/problem+json; charset=utf-8"},
    )


def _ok(body: Any, **headers: str) -> Response:
    return Response(
        200,
        json.dumps(body, separators=(",", ":")),
        {"Content-Type": "application/json; charset=utf-8", **headers},
    )


class _InvalidError(Exception):
    """Carries the response as its only argument."""


def _convert(value: Any, kind: str) -> Any:
    """Convert one JSON value as System.Text.Json does; ValueError if it would not."""
    if not isinstance(value, str):
        raise ValueError(kind)  # noqa: TRY004 - as for any other value
    if kind == _GUID:
        value = value.lower()
        pattern = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    else:
        pattern = (
            r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,7})?"
            if kind == _SPAN
            else r"(?s).*"
        )
    if not re.fullmatch(pattern, value):
        raise ValueError(kind)
    return base64.b64decode(value, validate=True) if kind == _BYTES else value


def _bind(request: Request, name: str, shape: dict[str, Any]) -> dict[str, Any]:  # noqa: PLR0915 - as it grew
    """Bind the body to a DTO whose properties are all [Required], in any case."""
    media = (request.headers.get("Content-Type") or "").split(";")[0].strip().lower()
    if not re.fullmatch(r"application/(.+\+)?json|text/json", media):
        raise _InvalidError(_problem(415))
    missing = {"request": ["The request field is required."]}
    if not request.raw.strip():
        missing[""] = ["A non-empty request body is required."]
        raise _InvalidError(_problem(400, errors=missing))

    def fail(path: str, message: str, at: int) -> _InvalidError:
        line, column = (
            request.raw.count(b"\n", 0, at),
            at - request.raw.rfind(b"\n", 0, at) - 1,
        )
        where = f"Path: {path} | LineNumber: {line} | BytePositionInLine: {column}."
        errors = {path: [f"{message} {where}"], **missing}
        return _InvalidError(_problem(400, errors=errors))

    try:
        body = json.loads(request.raw.decode(errors="replace"))
    except json.JSONDecodeError as error:
        at = min(error.pos, len(error.doc) - 1)
        raise fail(
            "$",
            f"'{error.doc[at]}' is an invalid start of a value.",
            len(error.doc[:at].encode()),
        ) from None

    errors: dict[str, list[str]] = {}

    def unfit(path: str, kind: str) -> _InvalidError:
        token = (
            rb'"%s"\s*:\s*("(?:[^"\\]|\\.)*"|[\[{]|[^\s,}\]]+)'
            % path.rsplit(".", maxsplit=1)[-1].encode()
        )
        found = re.search(token, request.raw, re.IGNORECASE)
        return fail(
            path,
            f"The JSON value could not be converted to {kind}.",
            found.end() if found else 1,
        )

    def walk(
        value: Any, shape: Any, path: str, type_name: str, prefix: str
    ) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise unfit(path, f"TaskHub.Api.Contracts.{type_name}")
        given = {str(key).lower(): item for key, item in value.items()}
        bound = {}
        for one, kind in shape.items():
            item, here, pascal = (
                given.get(one.lower()),
                f"{path}.{one}",
                one[0].upper() + one[1:],
            )
            if isinstance(kind, dict) and item is not None:
                bound[one] = walk(
                    item, kind, here, f"{pascal}Dto", f"{prefix}{pascal}."
                )
            elif item is not None:
                try:
                    bound[one] = _convert(item, kind)
                except ValueError:
                    raise unfit(here, kind) from None
            if item is None or (kind == _STRING and not item.strip()):
                errors[prefix + pascal] = [f"The {pascal} field is required."]
        return bound

    bound = walk(body, shape, "$", f"{name}Request", "")
    if not re.match(_OUTCOME, bound.get("outcome") or "Completed"):
        errors["Outcome"] = [
            f"The field Outcome must match the regular expression '{_OUTCOME}'."
        ]
    if errors:
        raise _InvalidError(_problem(400, errors=errors))
    return bound


class AspNetTaskHub(Backend):
    """TaskHub.Api on Kestrel."""

    def __init__(self) -> None:
        super().__init__()
        self._version = 2001
        self._tasks: dict[str, dict[str, Any]] = {}
        for title, text, reward in _SEED:
            key = str(uuid.uuid4())
            work = {"operation": "ToUpperInvariant", "sourceText": text}
            self._tasks[key] = {
                "id": key,
                "title": title,
                "rewardCredits": reward,
                "status": "Open",
                "transformation": work,
                "timeBudget": "00:15:00",
                "rowVersion": self._next_version(),
            }
        self._agents: dict[str, str] = {}  # token -> agent
        self._wallets: dict[str, int] = {}
        self._claims: dict[str, dict[str, Any]] = {}

    def _next_version(self) -> str:
        self._version += 1
        return base64.b64encode(self._version.to_bytes(8, "big")).decode()

    def texts(self) -> dict[str, str]:
        return {k: t["transformation"]["sourceText"] for k, t in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        return Response(404)  # no endpoint matched: routing answers without a body

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), secrets.token_urlsafe(32)
        self._agents[token], self._wallets[agent] = agent, 100
        return _ok({"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        query = {name.lower(): value for name, value in request.query.items()}
        numbers, errors = [], {}
        for name, default, top in (("Limit", "5", 50), ("PageNumber", "1", 10000)):
            text = query.get(name.lower(), default)
            if not re.fullmatch(r"-?[0-9]{1,9}", text):
                errors[name] = [f"The value '{text}' is not valid for {name}."]
            elif not 1 <= int(text) <= top:
                errors[name] = [f"The field {name} must be between 1 and {top}."]
            else:
                numbers.append(int(text))
        if errors:
            return _problem(400, errors=errors)
        size, page = numbers
        rows = [t for t in self._tasks.values() if t["status"] == "Open"]
        headers = {
            "X-Pagination": json.dumps(
                {"TotalCount": len(rows), "PageSize": size, "CurrentPage": page}
            )
        }
        if page * size < len(rows):
            address = f"{request.base}{request.path}?limit={size}&pageNumber={page + 1}"
            headers["Link"] = f'<{address}>; rel="next"'
        return _ok(rows[(page - 1) * size : page * size], **headers)

    marketplace = tasks

    def _action(
        self, request: Request, action: Any, name: str, **shape: Any
    ) -> Response:
        agent = self._agents.get(request.token)
        if agent is None:
            challenge = 'Bearer error="invalid_token"' if request.token else "Bearer"
            return Response(401, headers={"WWW-Authenticate": challenge})
        try:
            answer: Response = action(agent, _bind(request, name, shape))
        except _InvalidError as invalid:
            answer = invalid.args[0]
        return answer

    def claim(self, request: Request) -> Response:
        return self._action(
            request, self._claim, "ClaimTask", taskId=_GUID, rowVersion=_BYTES
        )

    def submit(self, request: Request) -> Response:
        return self._action(
            request,
            self._submit,
            "SubmitResult",
            claimId=_GUID,
            output={"text": _STRING},
            elapsed=_SPAN,
        )

    def complete(self, request: Request) -> Response:
        return self._action(
            request,
            self._complete,
            "CompleteTask",
            claimId=_GUID,
            submissionId=_GUID,
            outcome=_STRING,
        )

    def _claim(self, agent: str, dto: dict[str, Any]) -> Response:
        task = self._tasks.get(dto["taskId"])
        if task is None:
            return _problem(404, f"Task '{dto['taskId']}' was not found.")
        if task["status"] != "Open":
            return _problem(
                409,
                f"Task '{task['id']}' is not open (current status: {task['status']}).",
            )
        if dto["rowVersion"] != base64.b64decode(task["rowVersion"]):
            return _problem(
                409,
                "The task has been modified since it was read. "
                "Reload the task and retry with its current rowVersion.",
            )
        key = str(uuid.uuid4())
        self._claims[key] = {
            "agent": agent,
            "task": task,
            "submission": None,
            "open": True,
        }
        task.update(status="Claimed", rowVersion=self._next_version())
        self.book.claimed(task["id"])
        now = datetime.now(UTC)
        return _ok(
            {
                "claimId": key,
                "claimedAtUtc": f"{now:%Y-%m-%dT%H:%M:%S.%f}0Z",
                "task": task,
            }
        )

    def _open_claim(
        self, agent: str, key: str
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        claim = self._claims.get(key)
        if claim is None or claim["agent"] != agent:
            raise _InvalidError(_problem(404, f"Claim '{key}' was not found."))
        if not claim["open"]:
            raise _InvalidError(_problem(409, f"Claim '{key}' is already closed."))
        return claim, claim["task"]

    def _submit(self, agent: str, dto: dict[str, Any]) -> Response:
        claim, task = self._open_claim(agent, dto["claimId"])
        if dto["output"]["text"] != task["transformation"]["sourceText"].upper():
            return _problem(
                422,
                "Output was rejected by the verifier: it is not the result of "
                "ToUpperInvariant on the source text.",
            )
        claim["submission"] = str(uuid.uuid4())
        task.update(status="Submitted", rowVersion=self._next_version())
        return _ok(
            {
                "submissionId": claim["submission"],
                "claimId": dto["claimId"],
                "verification": "Passed",
                "taskStatus": "Submitted",
            }
        )

    def _complete(self, agent: str, dto: dict[str, Any]) -> Response:
        claim, task = self._open_claim(agent, dto["claimId"])
        if claim["submission"] is None or dto["submissionId"] != claim["submission"]:
            return _problem(409, "The submission does not belong to this claim.")
        claim["open"] = False
        reward = task["rewardCredits"] if dto["outcome"] == "Completed" else 0
        task.update(
            status="Completed" if reward else "Open", rowVersion=self._next_version()
        )
        self.book.held.discard(task["id"])
        if reward:
            self.book.pay(task["id"], reward)
            self._wallets[agent] += reward
        return _ok(
            {
                "taskId": task["id"],
                "taskStatus": task["status"],
                "creditsAwarded": reward,
                "walletBalance": self._wallets[agent],
            }
        )
