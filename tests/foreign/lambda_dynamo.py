"""AWS Lambda and DynamoDB behind API Gateway (REST, a request validator, models).

PascalCase throughout: `Items`, `Count` and a `NextToken` when there is more (five by
default), Decimals as strings, epoch seconds; leased tasks are among the available ones.
The gateway refuses a body by its model: {"message": "Invalid request body", "details":
<validationErrorString>} with all missing properties, types or enum values; no token is
401 {"message": "Unauthorized"}, an unknown path 403 "Missing Authentication Token".
Submit is queued (202) with a SubmissionId that complete wants with an outcome;
completing before the evaluator is done (one second) is a 409 with Retry-After. Then it
is paid at once.
"""

import base64
import json
import secrets
import time
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_AVAILABLE = {
    "task-0a4f19c2": ("region failover drill completed", 50),
    "task-17be60d3": ("cold start took nine seconds", 20),
    "task-2c83f5a7": ("bucket policy denies public reads", 35),
    "task-41d9027e": ("write capacity was throttled twice", 15),
    "task-58e6b3f0": ("certificate renews in ten days", 10),
    "task-6b7a14cd": ("dead letter queue is empty again", 40),
    "task-7f02d9e8": ("log group retention set to a month", 25),
    "task-83c5a6b1": ("stack update rolled back cleanly", 30),
    "task-9e48f7d0": ("snapshot copied to frankfurt", 45),
    "task-a1b6c3e5": ("budget alert at eighty percent", 5),
}
_LEASED = {"task-33aa81f4": ("root login without a second factor", 60)}
_CLAIM = {"TaskId": "string"}
_SUBMIT = {"LeaseId": "string", "Output": "string"}
_COMPLETE = {"SubmissionId": "string", "Outcome": ["SUCCEEDED", "FAILED"]}


class LambdaDynamo(Backend):
    """Functions behind a gateway."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.items: dict[str, dict[str, Any]] = {}
        for key, (text, credits_) in sorted((_AVAILABLE | _LEASED).items()):
            self.items[key] = {
                "TaskId": key,
                "TaskType": "TEXT_TRANSFORM",
                "Prompt": text,
                "RewardCredits": str(credits_),
                "TaskStatus": "LEASED" if key in _LEASED else "AVAILABLE",
                "CreatedAt": 1740000000 + int(key[5:9], 16),
            }
        self.leases: dict[str, dict[str, Any]] = {}
        self.submissions: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the available tasks' texts."""
        return {key: text for key, (text, _) in _AVAILABLE.items()}

    def _say(self, status: int, message: str, **headers: str) -> Response:
        head = {"x-amzn-RequestId": str(uuid.uuid4())}
        head |= {name.replace("_", "-"): value for name, value in headers.items()}
        return Response(status, {"message": message}, head)

    def missing(self, request: Request) -> Response:
        """Return what the gateway says of a resource that it does not have."""
        kind = "MissingAuthenticationTokenException"
        return self._say(403, "Missing Authentication Token", x_amzn_ErrorType=kind)

    def register(self, request: Request) -> Response:
        """Put an agent."""
        self.book.registrations += 1
        token = secrets.token_urlsafe(32)
        agent = {"AgentId": str(uuid.uuid4()), "Credits": 100}
        self.agents[token] = agent
        return Response(200, {**agent, "AccessToken": token, "TokenType": "Bearer"})

    def _denied(self, request: Request) -> Response | None:
        if not request.token:
            return self._say(
                401, "Unauthorized", x_amzn_ErrorType="UnauthorizedException"
            )
        if request.token not in self.agents:
            text = (
                "User is not authorized to access this resource with an explicit deny"
            )
            return self._say(403, text, x_amzn_ErrorType="AccessDeniedException")
        return None

    def marketplace(self, request: Request) -> Response:
        """Scan the table."""
        limit = request.query.get("limit") or request.query.get("Limit") or "5"
        if not limit.isdigit() or not 1 <= int(limit) <= 25:
            return self._say(400, "limit must be between 1 and 25")
        token = request.query.get("NextToken") or request.query.get("nextToken")
        items = [row for row in self.items.values() if row["TaskStatus"] != "COMPLETED"]
        try:
            last = json.loads(base64.b64decode(token))["TaskId"] if token else ""
        except (ValueError, KeyError, TypeError):
            return self._say(400, "Invalid NextToken")
        items = [row for row in items if row["TaskId"] > last]
        page = items[: int(limit)]
        body: dict[str, Any] = {"Items": page, "Count": len(page)}
        if len(items) > len(page):
            key = json.dumps({"TaskId": page[-1]["TaskId"]})
            body["NextToken"] = base64.b64encode(key.encode()).decode()
        return Response(200, body)

    def tasks(self, request: Request) -> Response:
        """Scan the table for an agent."""
        return self._denied(request) or self.marketplace(request)

    def _body(self, request: Request, model: dict[str, Any]) -> Any:
        """Return the body if it satisfies the gateway's model."""
        if denied := self._denied(request):
            return denied
        try:
            body = request.json() if request.raw.strip() else {}
        except ValueError:
            return self._invalid("Unable to parse JSON")
        if not isinstance(body, dict):
            kinds = {list: "array", str: "string", int: "integer", type(None): "null"}
            kind = kinds.get(type(body), "number")
            return self._invalid(self._kind(kind, "object"))
        errors = []
        if lacking := sorted(name for name in model if name not in body):
            names = ",".join(json.dumps(name) for name in lacking)
            errors.append(f"object has missing required properties ([{names}])")
        for name, rule in model.items():
            value = body.get(name, "")
            if not isinstance(value, str):
                kinds = {dict: "object", list: "array", bool: "boolean", int: "integer"}
                kind = kinds.get(type(value), "null" if value is None else "number")
                errors.append(self._kind(kind, "string"))
            elif name in body and isinstance(rule, list) and value not in rule:
                known = ",".join(json.dumps(word) for word in rule)
                text = f"instance value ({json.dumps(value)}) not found in enum"
                errors.append(f"{text} (possible values: [{known}])")
        return self._invalid(", ".join(errors)) if errors else body

    def _kind(self, found: str, wanted: str) -> str:
        some = f'(allowed: ["{wanted}"])'
        return (
            f"instance type ({found}) does not match any allowed primitive type {some}"
        )

    def _invalid(self, details: str) -> Response:
        answer = self._say(
            400, "Invalid request body", x_amzn_ErrorType="BadRequestException"
        )
        answer.body["details"] = f"[{details}]"
        return answer

    def claim(self, request: Request) -> Response:
        """Lease an item on the condition that it is available."""
        body = self._body(request, _CLAIM)
        if isinstance(body, Response):
            return body
        item = self.items.get(body["TaskId"])
        if not item:
            return self._say(404, f"Task {body['TaskId']} not found")
        if item["TaskStatus"] != "AVAILABLE":
            return self._say(
                409, "The conditional request failed: task is not AVAILABLE"
            )
        item["TaskStatus"] = "LEASED"
        key = str(uuid.uuid4())
        lease = {
            "LeaseId": key,
            "TaskId": item["TaskId"],
            "ExpiresAt": int(time.time()) + 900,
        }
        self.leases[key] = {**lease, "Token": request.token, "Done": False}
        self.book.claimed(item["TaskId"])
        return Response(200, {"Lease": lease})

    def submit(self, request: Request) -> Response:
        """Queue an output for the evaluator."""
        body = self._body(request, _SUBMIT)
        if isinstance(body, Response):
            return body
        lease = self.leases.get(body["LeaseId"])
        if not lease or lease["Token"] != request.token:
            return self._say(404, f"Lease {body['LeaseId']} not found")
        if lease["Done"]:
            return self._say(409, "Lease is already completed")
        key = str(uuid.uuid4())
        self.submissions[key] = {
            "Lease": lease,
            "Output": body["Output"],
            "Ready": time.monotonic() + 1.0,
        }
        return Response(202, {"SubmissionId": key, "Status": "QUEUED"})

    def complete(self, request: Request) -> Response:
        """Close a submission that the evaluator has seen."""
        body = self._body(request, _COMPLETE)
        if isinstance(body, Response):
            return body
        found = self.submissions.get(body["SubmissionId"])
        if not found or found["Lease"]["Token"] != request.token:
            return self._say(404, f"Submission {body['SubmissionId']} not found")
        lease, item = found["Lease"], self.items[found["Lease"]["TaskId"]]
        if lease["Done"]:
            return self._say(409, "Lease is already completed")
        if time.monotonic() < found["Ready"]:
            text = "Submission is still being evaluated, try again later"
            return self._say(409, text, Retry_After="1")
        if body["Outcome"] == "FAILED":
            lease["Done"], item["TaskStatus"] = True, "AVAILABLE"
            self.book.held.discard(item["TaskId"])
            return Response(200, {"TaskId": item["TaskId"], "TaskStatus": "AVAILABLE"})
        if found["Output"] != item["Prompt"].upper():
            return self._say(422, "Output did not pass evaluation")
        lease["Done"], item["TaskStatus"] = True, "COMPLETED"
        agent, credits_ = self.agents[request.token], int(item["RewardCredits"])
        agent["Credits"] += credits_
        self.book.pay(item["TaskId"], credits_)
        done = {"TaskId": item["TaskId"], "TaskStatus": "COMPLETED"}
        done |= {
            "CreditsAwarded": item["RewardCredits"],
            "Balance": str(agent["Credits"]),
        }
        return Response(200, done)
