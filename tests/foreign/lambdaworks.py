"""LambdaWorks: Lambda functions behind an AWS API Gateway (REST API).

The gateway refuses first: unknown routes, a missing or bad token (the authorizer), and
bodies that break a method's model, with the validator's own sentences. The functions
answer in PascalCase with an `Error` of their own. Claiming leases a task in the manner of
a queue and only then shows its document; completing the submission pays.
"""

import json
import secrets
import time
import uuid
from functools import wraps
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_ITEMS = [
    ("Subtitle card", "meanwhile, on the far side of town", 20),
    ("Ticker headline", "harbour bridge closed until Friday", 33),
    ("Captain's log", "wind north-west, sea calm, all well", 16),
    ("Cargo stencil", "this side up / handle with care", 27),
    ("Telegram", "arriving Tuesday stop bring umbrella stop", 45),
]
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}
_TYPES |= {dict: "object", list: "array", type(None): "null"}
_TEXT = {"type": "string", "minLength": 1}
_SECONDS = {"type": "integer", "minimum": 60, "maximum": 43200}
_MEDIA = {"type": "string", "enum": ["text/plain", "text/markdown"]}
_REQUEST_TOKEN = {"type": "string", "minLength": 8}


def _model(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


_MODELS = {
    "claim": _model(TaskId=_TEXT, VisibilityTimeout=_SECONDS),
    "submit": _model(
        ReceiptHandle=_TEXT, Output=_model(Content=_TEXT, ContentType=_MEDIA)
    ),
    "complete": _model(SubmissionId=_TEXT, ClientRequestToken=_REQUEST_TOKEN),
    "post": _model(),
}


def _violations(model: dict[str, Any], value: Any) -> list[str]:
    """Check a value as the gateway's request validator does, in its words."""
    kind, given = model["type"], _TYPES[type(value)]
    if given != kind:
        found = f"instance type ({given}) does not match any allowed "
        return [f'{found}primitive type (allowed: ["{kind}"])']
    if kind == "object":
        wanted = model["properties"]
        absent = json.dumps(sorted(wanted.keys() - value.keys()), separators=(",", ":"))
        lacks = [f"object has missing required properties ({absent})"]
        return (lacks if absent != "[]" else []) + [
            text
            for name in wanted
            if name in value
            for text in _violations(wanted[name], value[name])
        ]
    if kind == "integer":
        low, high = value < model["minimum"], value > model["maximum"]
        word, limit = ("lower", "minimum") if low else ("greater", "maximum")
        found = f"numeric instance is {word} than the required {limit} "
        return [f"{found}({limit}: {model[limit]}, found: {value})"] * (low or high)
    if "enum" in model and value not in model["enum"]:
        allowed = json.dumps(model["enum"], separators=(",", ":"))
        found = f'instance value ("{value}") not found in enum '
        return [f"{found}(possible values: {allowed})"]
    size, least = len(value), model.get("minLength", 0)
    found = f'string "{value}" is too short (length: {size}, required minimum: {least})'
    return [found] if size < least else []


def _function(answer: Any) -> Any:
    """Put a function behind the gateway: authorizer, validator, then the function."""

    @wraps(answer)
    def run(self: Any, request: Request) -> Response:
        refusal = self._authorize(request) or self._validate(answer.__name__, request)
        done: Response = refusal or answer(
            self, self._agents[request.token], request.json()
        )
        return done

    return run


class LambdaWorks(Backend):
    """The network behind the gateway."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}  # token -> agent
        self._balances: dict[str, int] = {}
        self._leases: dict[str, dict[str, Any]] = {}  # by receipt handle
        self._submissions: dict[str, dict[str, Any]] = {}
        self._tasks: dict[str, dict[str, Any]] = {}
        for label, document, bounty in _ITEMS:
            key = f"task-{secrets.token_hex(6)}"
            self._tasks[key] = {
                "TaskId": key,
                "Label": label,
                "Operation": "UPPERCASE",
                "Description": "Return the Document of the lease in upper case.",
                "Document": document,
                "Bounty": {"Credits": bounty},
                "State": "AVAILABLE",
            }

    def texts(self) -> dict[str, str]:
        return {key: task["Document"] for key, task in self._tasks.items()}

    @staticmethod
    def _headers(**more: str) -> dict[str, str]:
        return {"x-amzn-RequestId": str(uuid.uuid4()), **more}

    def _gateway(self, status: int, kind: str, **body: Any) -> Response:
        """Answer as the gateway itself, before any function has run."""
        return Response(status, body, self._headers(**{"x-amzn-ErrorType": kind}))

    def _ok(self, **body: Any) -> Response:
        return Response(200, body, self._headers())

    def _error(self, status: int, code: str, message: str) -> Response:
        headers = self._headers()
        body: dict[str, Any] = {"Error": {"Code": code, "Message": message}}
        body["RequestId"] = headers["x-amzn-RequestId"]
        return Response(status, body, headers)

    def _authorize(self, request: Request) -> Response | None:
        if not request.headers.get("Authorization"):
            return self._gateway(401, "UnauthorizedException", message="Unauthorized")
        if request.token in self._agents:
            return None
        text = "User is not authorized to access this resource with an explicit deny"
        return self._gateway(403, "AccessDeniedException", Message=text)

    def _validate(self, action: str, request: Request) -> Response | None:
        kind, message = "BadRequestException", "Invalid request body"
        try:
            found = _violations(_MODELS[action], request.json())
        except ValueError:
            text = "Could not parse request body into json: invalid JSON text"
            return self._gateway(400, kind, message=text)
        errors = f"[{', '.join(found)}]"
        if not found:
            return None
        return self._gateway(400, kind, message=message, validationErrors=errors)

    def missing(self, request: Request) -> Response:
        kind = "MissingAuthenticationTokenException"
        return self._gateway(403, kind, message="Missing Authentication Token")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = f"agent-{secrets.token_hex(4)}"
        token = f"lw.{secrets.token_urlsafe(32)}"
        self._agents[token], self._balances[agent] = agent, 100
        return self._ok(agent_id=agent, access_token=token, credits=100)

    def tasks(self, request: Request) -> Response:
        return self._authorize(request) or self.marketplace(request)

    def marketplace(self, request: Request) -> Response:
        limit = request.query.get("limit", "3")
        if not limit.isdecimal() or not 1 <= int(limit) <= 100:
            text = "limit must be an integer between 1 and 100"
            return self._error(400, "ValidationException", text)
        free = [task for task in self._tasks.values() if task["State"] == "AVAILABLE"]
        after, keys = request.query.get("NextToken"), list(self._tasks)
        if after is not None:
            if after not in keys:
                return self._error(400, "ValidationException", "NextToken is not valid")
            later = keys[keys.index(after) + 1 :]
            free = [task for task in free if task["TaskId"] in later]
        page = free[: int(limit)]
        hidden = [{k: v for k, v in task.items() if k != "Document"} for task in page]
        answer: dict[str, Any] = {"Tasks": hidden, "Count": len(page)}
        if len(page) < len(free):
            answer["NextToken"] = page[-1]["TaskId"]
        return self._ok(**answer)

    def agents(self, request: Request) -> Response:
        return self._ok(Agents=[{"AgentId": agent} for agent in self._balances])

    directory = agents

    @_function
    def post(self, agent: str, body: Any) -> Response:
        text = "This operation is not enabled for free agents"
        return self._error(403, "AccessDeniedException", text)

    checkout = post

    @_function
    def claim(self, agent: str, body: Any) -> Response:
        task = self._tasks.get(body["TaskId"])
        if task is None:
            text = f"Task {body['TaskId']} does not exist"
            return self._error(404, "ResourceNotFoundException", text)
        if task["State"] != "AVAILABLE":
            text = f"Task is in state {task['State']}, expected AVAILABLE"
            return self._error(409, "ConflictException", text)
        task["State"] = "LEASED"
        ends = int(time.time()) + body["VisibilityTimeout"]
        lease = {"ReceiptHandle": secrets.token_urlsafe(24), "ExpiresAt": ends}
        held = {"TaskId": task["TaskId"], "Agent": agent, "Live": True}
        self._leases[lease["ReceiptHandle"]] = held
        self.book.claimed(task["TaskId"])
        return self._ok(Lease=lease, Task=dict(task))

    @_function
    def submit(self, agent: str, body: Any) -> Response:
        lease = self._leases.get(body["ReceiptHandle"])
        if lease is None or lease["Agent"] != agent or not lease["Live"]:
            text = "The receipt handle is not valid or its lease has ended"
            return self._error(410, "ReceiptHandleIsInvalid", text)
        lease["Live"] = False
        content = body["Output"]["Content"]
        key = f"sub-{secrets.token_hex(8)}"
        answer = {"SubmissionId": key, "TaskId": lease["TaskId"]}
        if content != self._tasks[lease["TaskId"]]["Document"].upper():
            self._tasks[lease["TaskId"]]["State"] = "AVAILABLE"
            self.book.held.discard(lease["TaskId"])
            reason = "Content is not the Document in upper case; the lease has ended"
            answer |= {"State": "REJECTED", "Reason": reason}
            response = self._ok(Submission=answer)
            response.refused = True
            return response
        self._tasks[lease["TaskId"]]["State"] = "SUBMITTED"
        answer |= {"State": "ACCEPTED", "Agent": agent}
        self._submissions[key] = answer
        return self._ok(Submission=dict(answer))

    @_function
    def complete(self, agent: str, body: Any) -> Response:
        found = self._submissions.get(body["SubmissionId"])
        if found is None or found["Agent"] != agent:
            text = f"Submission {body['SubmissionId']} does not exist"
            return self._error(404, "ResourceNotFoundException", text)
        if found["State"] != "ACCEPTED":
            return self._error(
                409, "ConflictException", "Submission is already SETTLED"
            )
        task = self._tasks[found["TaskId"]]
        found["State"], task["State"] = "SETTLED", "DONE"
        self._balances[agent] += task["Bounty"]["Credits"]
        self.book.pay(task["TaskId"], task["Bounty"]["Credits"])
        payment = {**task["Bounty"], "BalanceAfter": self._balances[agent]}
        return self._ok(TaskId=task["TaskId"], State="DONE", Payment=payment)
