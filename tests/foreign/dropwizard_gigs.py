"""A company's task service in Java on Dropwizard (Jersey, Jackson, Hibernate Validator)."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_TASKS = [
    (4101, "Normalise product name", "stainless steel water bottle", 14),
    (4102, "Normalise shipping label", "fragile, keep upright", 9),
    (4103, "Normalise warehouse bin", "aisle seven, shelf b", 22),
    (4106, "Normalise returns note", "customer changed their mind", 6),
    (4107, "Normalise supplier name", "northwind traders limited", 31),
    (4110, "Normalise picking hint", "two items per carton", 17),
    (4112, "Normalise brand slogan", "made to last a lifetime", 11),
]
_CHANNELS = ["API", "BATCH"]


class _Stop(Exception):  # noqa: N818
    def __init__(self, response: Response) -> None:
        self.response = response


def _error(status: int, message: str, details: str = "") -> _Stop:
    """io.dropwizard.jersey.errors.ErrorMessage."""
    body: dict[str, Any] = {"code": status, "message": message}
    if details:
        body["details"] = details
    return _Stop(Response(status, body))


def _unreadable(details: str) -> _Stop:
    return _error(400, "Unable to process JSON", details)


def _now(**later: int) -> str:
    at = datetime.now(UTC) + timedelta(**later)
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def _coerce(value: Any, kind: str) -> Any:
    """Read a JSON value as Jackson would read it into a property of this type."""
    wrong = f"Cannot deserialize value of type `{kind}` from "
    if value is None or (value == "" and kind != "java.lang.String"):
        return None
    if isinstance(value, dict):
        raise _unreadable(wrong + "Object value (token `JsonToken.START_OBJECT`)")
    if isinstance(value, list):
        raise _unreadable(wrong + "Array value (token `JsonToken.START_ARRAY`)")
    if kind == "java.lang.String":
        return value if isinstance(value, str) else json.dumps(value)
    if isinstance(value, bool):
        raise _unreadable(
            wrong + f"Boolean value (token `JsonToken.VALUE_{str(value).upper()}`)"
        )
    if kind == "java.util.UUID" and not isinstance(value, str):
        raise _unreadable(wrong + "Integer value (token `JsonToken.VALUE_NUMBER_INT`)")
    try:
        return str(uuid.UUID(value)) if kind == "java.util.UUID" else int(value)
    except ValueError:
        why = f"not a valid `{kind}` value"
        if kind == "java.util.UUID":
            why = "UUID has to be represented by standard 36-char representation"
        raise _unreadable(f'{wrong}String "{value}": {why}') from None


class Gigboard(Backend):
    """Dropwizard 4: camelCase, a bare array, 422 {"errors": [...]}; completion pays."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._tasks = {
            id_: {
                "id": id_,
                "title": title,
                "instructions": "Return sourceText converted to upper case, nothing else.",
                "sourceText": text,
                "rewardCredits": reward,
                "state": "OPEN",
                "createdAt": "2025-03-11T08:15:00Z",
            }
            for id_, title, text, reward in _TASKS
        }
        self._assignments: dict[str, dict[str, Any]] = {}
        self._submissions = 880

    def texts(self) -> dict[str, str]:
        return {str(id_): task["sourceText"] for id_, task in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        known = (request.method, request.path) in ACTIONS
        if not known and any(path == request.path for _, path in ACTIONS):
            return Response(
                405, {"code": 405, "message": "HTTP 405 Method Not Allowed"}
            )
        return Response(404, {"code": 404, "message": "HTTP 404 Not Found"})

    def register(self, request: Request) -> Response:
        agent = {
            "agent_id": str(uuid.uuid4()),
            "access_token": uuid.uuid4().hex,
            "credits": 100,
        }
        self._agents[agent["access_token"]] = agent
        self.book.registrations += 1
        return Response(200, dict(agent))

    def _auth(self, request: Request) -> dict[str, Any]:
        agent = self._agents.get(request.token)
        if agent is None:
            sentence = "Credentials are required to access this resource."
            raise _Stop(
                Response(401, sentence, {"WWW-Authenticate": 'Bearer realm="gigboard"'})
            )
        return agent

    def _body(self, request: Request, **kinds: str) -> dict[str, Any]:
        media = (
            (request.headers.get("Content-Type") or "").split(";")[0].strip().lower()
        )
        if media != "application/json":
            raise _error(415, "HTTP 415 Unsupported Media Type")
        if not request.raw.strip() or request.raw.strip() == b"null":
            raise _Stop(
                Response(422, {"errors": ["The request body must not be null"]})
            )
        try:
            body = request.json()
        except ValueError:
            raise _unreadable("Unexpected character: malformed JSON") from None
        if not isinstance(body, dict):
            raise _unreadable(
                "Cannot deserialize value of type `com.gigboard.api.TaskRequest`"
            )
        return {name: _coerce(body.get(name), kind) for name, kind in kinds.items()}

    @staticmethod
    def _valid(errors: list[str]) -> None:
        if errors:
            raise _Stop(Response(422, {"errors": sorted(errors)}))

    def _list(self, request: Request) -> Response:
        numbers = {"limit": 20, "offset": 0}
        for name in numbers:
            if name in request.query:
                try:
                    numbers[name] = int(request.query[name])
                except ValueError:
                    raise _error(400, f"query param {name} is not a number.") from None
        limit, offset = numbers["limit"], numbers["offset"]
        for wrong, sentence in (
            (limit < 1, "query param limit must be greater than or equal to 1"),
            (limit > 50, "query param limit must be less than or equal to 50"),
            (offset < 0, "query param offset must be greater than or equal to 0"),
        ):
            if wrong:
                raise _Stop(Response(400, {"errors": [sentence]}))
        rows = list(self._tasks.values())
        headers = {"X-Total-Count": str(len(rows))}
        if offset + limit < len(rows):
            after = (
                f"{request.base}{request.path}?limit={limit}&offset={offset + limit}"
            )
            headers["Link"] = f'<{after}>; rel="next"'
        return Response(
            200, [dict(row) for row in rows[offset : offset + limit]], headers
        )

    def marketplace(self, request: Request) -> Response:
        return self._guard(lambda: self._list(request))

    def tasks(self, request: Request) -> Response:
        return self._guard(lambda: (self._auth(request), self._list(request))[1])

    def claim(self, request: Request) -> Response:
        return self._guard(lambda: self._claim(request))

    def submit(self, request: Request) -> Response:
        return self._guard(lambda: self._submit(request))

    def complete(self, request: Request) -> Response:
        return self._guard(lambda: self._complete(request))

    @staticmethod
    def _guard(action: Any) -> Response:
        try:
            return action()
        except _Stop as stop:
            return stop.response

    def _claim(self, request: Request) -> Response:
        agent = self._auth(request)
        kinds = {"taskId": "java.lang.Long", "agentId": "java.util.UUID"}
        body = self._body(request, **kinds, channel="java.lang.String")
        errors = [
            f"{name} must not be null" for name, value in body.items() if value is None
        ]
        if body["channel"] is not None and body["channel"] not in _CHANNELS:
            errors.append(f"channel must be one of [{', '.join(_CHANNELS)}]")
        self._valid(errors)
        if body["agentId"] != agent["agent_id"]:
            raise _error(403, "agentId does not belong to the authenticated principal")
        task = self._tasks.get(body["taskId"])
        if task is None:
            raise _error(404, f"Task {body['taskId']} not found")
        if task["state"] != "OPEN":
            raise _error(
                409, f"Task {task['id']} is not OPEN (current state: {task['state']})"
            )
        task["state"] = "ASSIGNED"
        self.book.claimed(str(task["id"]))
        assignment = {
            "assignmentId": str(uuid.uuid4()),
            "taskId": task["id"],
            "agentId": agent["agent_id"],
            "state": "ASSIGNED",
            "leaseExpiresAt": _now(hours=2),
        }
        self._assignments[assignment["assignmentId"]] = assignment
        return Response(200, dict(assignment))

    def _assignment(
        self, agent: dict[str, Any], id_: str, state: str
    ) -> dict[str, Any]:
        found = self._assignments.get(id_)
        if found is None or found["agentId"] != agent["agent_id"]:
            raise _error(404, f"Assignment {id_} not found")
        if found["state"] != state:
            raise _error(
                409,
                f"Assignment {id_} is not {state} (current state: {found['state']})",
            )
        return found

    def _submit(self, request: Request) -> Response:
        agent = self._auth(request)
        kinds = {"content": "java.lang.String", "elapsedSeconds": "java.lang.Integer"}
        body = self._body(request, assignmentId="java.util.UUID", **kinds)
        needed = ("assignmentId", "elapsedSeconds")
        errors = [f"{name} must not be null" for name in needed if body[name] is None]
        if not (body["content"] or "").strip():
            errors.append("content must not be blank")
        if body["elapsedSeconds"] is not None and body["elapsedSeconds"] < 1:
            errors.append("elapsedSeconds must be greater than or equal to 1")
        self._valid(errors)
        found = self._assignment(agent, body["assignmentId"], "ASSIGNED")
        task = self._tasks[found["taskId"]]
        if body["content"] != task["sourceText"].upper():
            raise _error(
                422, "content failed verification: expected sourceText in upper case"
            )
        self._submissions += 1
        found["submissionId"] = self._submissions
        found["state"] = task["state"] = "SUBMITTED"
        shown = {
            name: found[name] for name in ("submissionId", "assignmentId", "state")
        }
        return Response(200, {**shown, "submittedAt": _now()})

    def _complete(self, request: Request) -> Response:
        agent = self._auth(request)
        body = self._body(
            request, assignmentId="java.util.UUID", submissionId="java.lang.Long"
        )
        self._valid(
            [
                f"{name} must not be null"
                for name, value in body.items()
                if value is None
            ]
        )
        found = self._assignment(agent, body["assignmentId"], "SUBMITTED")
        if body["submissionId"] != found["submissionId"]:
            raise _error(404, f"Submission {body['submissionId']} not found")
        task = self._tasks[found["taskId"]]
        found["state"] = task["state"] = "COMPLETED"
        agent["credits"] += task["rewardCredits"]
        self.book.pay(str(task["id"]), task["rewardCredits"])
        payout = {"credits": task["rewardCredits"], "bookedAt": _now()}
        shown = {
            "assignmentId": found["assignmentId"],
            "state": "COMPLETED",
            "payout": payout,
        }
        return Response(200, {**shown, "balance": agent["credits"]})
