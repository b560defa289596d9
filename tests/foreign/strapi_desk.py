"""A copy desk built on Strapi 5: content types task, assignment and submission.

Bodies are wrapped in "data", records are flat with `documentId`, errors are Strapi's own
({"data": null, "error": {...}}). A submission is reviewed on completion, which pays.
"""

import json
import math
import secrets
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_TASKS = [
    # title, source text, reward
    ("Hero headline", "Built for slow mornings", 30),
    ("Category banner", "Enamel mugs and kettles", 18),
    ("Footer strip", "Free returns within 60 days", 10),
    ("Campaign tag", "the long weekend edit", 24),
    ("Sale ribbon", "Last sizes, final days", 45),
]
_STATUS = {"UnauthorizedError": 401, "ForbiddenError": 403, "NotFoundError": 404}
_HEADERS = {"X-Powered-By": "Strapi <strapi.io>"}
_FORMATS = ["plain_text", "rich_text", "markdown"]
_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _StrapiError(Exception):
    def __init__(self, name: str, message: str, details: Any = None) -> None:
        status = _STATUS.get(name, 400)
        error = {
            "status": status,
            "name": name,
            "message": message,
            "details": details or {},
        }
        self.response = Response(status, {"data": None, "error": error})


def _handled(method: Any) -> Any:
    def wrapped(self: Any, request: Request) -> Response:
        try:
            done: Response = method(self, request)
        except _StrapiError as error:
            return error.response
        return done

    return wrapped


class StrapiDesk(Backend):
    """The copy desk's network."""

    def __init__(self) -> None:
        super().__init__()
        self._users: dict[str, dict[str, Any]] = {}  # by token
        self._rows: dict[str, list[dict[str, Any]]] = {
            "task": [],
            "assignment": [],
            "submission": [],
        }
        for title, text, reward in _TASKS:
            brief = "Return sourceText in upper case, nothing else changed."
            self._create(
                "task",
                title=title,
                brief=brief,
                sourceText=text,
                reward=reward,
                taskState="open",
            )

    def _create(self, kind: str, **attributes: Any) -> dict[str, Any]:
        now = _now()
        row = {
            "id": 2 * len(self._rows[kind]) + 2,  # odd ids are the drafts
            "documentId": "".join(secrets.choice(_ALPHABET) for _ in range(24)),
            **attributes,
            "createdAt": now,
            "updatedAt": now,
            "publishedAt": now,
            "locale": None,
        }
        self._rows[kind].append(row)
        return row

    def texts(self) -> dict[str, str]:
        return {t["documentId"]: t["sourceText"] for t in self._rows["task"]}

    def missing(self, request: Request) -> Response:
        return _StrapiError("NotFoundError", "Not Found").response

    def _user(self, request: Request) -> dict[str, Any]:
        if not request.headers.get("Authorization"):
            raise _StrapiError("ForbiddenError", "Forbidden")
        if request.token not in self._users:
            raise _StrapiError("UnauthorizedError", "Missing or invalid credentials")
        return self._users[request.token]

    def _data(self, request: Request, *fields: str) -> dict[str, Any]:
        try:
            body = json.loads(request.raw or b"{}")
        except ValueError as error:
            raise _StrapiError("BadRequestError", str(error)) from None
        data = body.get("data") if isinstance(body, dict) else None
        if not isinstance(data, dict):
            raise _StrapiError(
                "ValidationError", 'Missing "data" payload in the request body'
            )
        for key in data:
            if key not in fields:
                details = {"key": key, "path": key, "source": "body"}
                raise _StrapiError("ValidationError", f"Invalid key {key}", details)
        return data

    def _validate(self, data: dict[str, Any], **fields: str) -> None:
        errors: list[dict[str, Any]] = []
        for name, kind in fields.items():
            value = data.get(name)
            if value is None:
                wrong = f"{name} must be defined."
            elif kind in ("string", "enumeration") and not isinstance(value, str):
                wrong = f"{name} must be a `string` type, but the final value was: `{json.dumps(value)}`."
            elif kind == "enumeration" and value not in _FORMATS:
                wrong = (
                    f"{name} must be one of the following values: {', '.join(_FORMATS)}"
                )
            else:
                continue
            errors.append(
                {
                    "path": [name],
                    "message": wrong,
                    "name": "ValidationError",
                    "value": value,
                }
            )
        if errors:
            message = (
                errors[0]["message"]
                if len(errors) == 1
                else f"{len(errors)} errors occurred"
            )
            raise _StrapiError("ValidationError", message, {"errors": errors})

    def _relation(self, kind: str, value: Any) -> dict[str, Any]:
        """Follow a relation as Strapi does: an id, a documentId, or connect/set."""
        if isinstance(value, dict):
            value = value.get("connect", value.get("set", value))
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, dict):
            value = value.get("documentId", value.get("id"))
        for row in self._rows[kind]:
            if value == row["documentId"] or (
                type(value) is int and value == row["id"]
            ):
                return row
        which = f"of type api::{kind}.{kind} associated with this entity"
        raise _StrapiError("ValidationError", f"1 relation(s) {which} do not exist")

    @staticmethod
    def _timestamp(value: Any) -> None:
        try:
            if type(value) in (int, float) and math.isfinite(value):
                return
            datetime.fromisoformat(value)
        except (TypeError, ValueError):
            raise _StrapiError(
                "ValidationError", "Invalid format, expected a timestamp or an ISO date"
            ) from None

    def _answer(self, row: dict[str, Any]) -> Response:
        shown = {k: v for k, v in row.items() if k != "owner"}
        return Response(200, {"data": shown, "meta": {}}, _HEADERS)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        user = {"id": secrets.token_hex(12), "credits": 100}
        token = secrets.token_hex(64)
        self._users[token] = user
        return Response(
            200, {"agent_id": user["id"], "access_token": token, "credits": 100}
        )

    def checkout(self, request: Request) -> Response:
        return Response(200, {"ok": False, "mode": "disabled"}, refused=True)

    @_handled
    def post(self, request: Request) -> Response:
        self._user(request)
        raise _StrapiError("ForbiddenError", "Forbidden")

    def _page(self, request: Request, rows: list[dict[str, Any]]) -> Response:
        def number(text: str, default: int) -> int:
            return int(text) if text.isdecimal() else default

        limit = request.query.get("limit", request.query.get("pagination[limit]", ""))
        size = min(max(number(limit, 25), 1), 100)
        start = number(request.query.get("pagination[start]", ""), 0)
        meta = {"pagination": {"start": start, "limit": size, "total": len(rows)}}
        return Response(
            200, {"data": rows[start : start + size], "meta": meta}, _HEADERS
        )

    def agents(self, request: Request) -> Response:
        return self._page(request, [{"agentId": u["id"]} for u in self._users.values()])

    directory = agents

    def marketplace(self, request: Request) -> Response:
        return self._page(
            request, [t for t in self._rows["task"] if t["taskState"] == "open"]
        )

    @_handled
    def tasks(self, request: Request) -> Response:
        self._user(request)
        return self._page(request, self._rows["task"])

    @_handled
    def claim(self, request: Request) -> Response:
        user = self._user(request)
        data = self._data(request, "task")
        self._validate(data, task="relation")
        task = self._relation("task", data["task"])
        if task["taskState"] != "open":
            raise _StrapiError(
                "ApplicationError", "This task has already been assigned"
            )
        task.update(taskState="assigned", updatedAt=_now())
        self.book.claimed(task["documentId"])
        row = self._create(
            "assignment", assignmentState="active", task=task, owner=user
        )
        return self._answer(row)

    @_handled
    def submit(self, request: Request) -> Response:
        user = self._user(request)
        data = self._data(request, "assignment", "content", "contentFormat")
        self._validate(
            data, assignment="relation", content="string", contentFormat="enumeration"
        )
        assignment = self._relation("assignment", data["assignment"])
        if assignment["owner"] is not user:
            raise _StrapiError("ForbiddenError", "Forbidden")
        if assignment["assignmentState"] != "active":
            raise _StrapiError(
                "ApplicationError", "This assignment already has a submission"
            )
        assignment.update(assignmentState="submitted", updatedAt=_now())
        row = self._create(
            "submission",
            content=data["content"],
            contentFormat=data["contentFormat"],
            reviewState="pending",
            reviewNote=None,
            assignment={k: assignment[k] for k in ("id", "documentId")},
            owner=user,
        )
        return self._answer(row)

    @_handled
    def complete(self, request: Request) -> Response:
        user = self._user(request)
        data = self._data(request, "submission", "finishedAt")
        self._validate(data, submission="relation", finishedAt="datetime")
        self._timestamp(data["finishedAt"])
        row = self._relation("submission", data["submission"])
        if row["owner"] is not user:
            raise _StrapiError("ForbiddenError", "Forbidden")
        if row["reviewState"] != "pending":
            raise _StrapiError(
                "ApplicationError", "This submission has already been reviewed"
            )
        assignment = self._relation("assignment", row["assignment"])
        task = assignment["task"]
        if row["content"] != task["sourceText"].upper():
            note = "Content is not sourceText in upper case. Submit again."
            row.update(reviewState="rejected", reviewNote=note, updatedAt=_now())
            assignment.update(assignmentState="active", updatedAt=_now())
            answer = self._answer(row)
            answer.refused = True
            return answer
        row.update(reviewState="approved", updatedAt=_now())
        assignment.update(assignmentState="closed", updatedAt=_now())
        task.update(taskState="completed", updatedAt=_now())
        user["credits"] += task["reward"]
        self.book.pay(task["documentId"], task["reward"])
        answer = self._answer(row)
        answer.body["meta"] = {"credited": task["reward"], "balance": user["credits"]}
        return answer
