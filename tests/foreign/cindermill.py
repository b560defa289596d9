"""Cindermill: a job exchange in the manner of a cloud vendor's JSON services (Smithy).

The listing is grouped by category and paged by NextToken; prices are objects in minor
units (hundredths of a credit). Completing an accepted answer pays. Nothing else is offered.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import base64
import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_PAGE, _MOST = 3, 100
_MINOR = 100  # minor units in a credit
_ARN = "arn:cindermill:jobs:eu-1:604417:job/"
_JOBS = [
    ("Signage", "mind the step by the furnace door", 1100),
    ("Signage", "visitors report to gate 2", 700),
    ("Signage", "hard hats beyond this line", 1600),
    ("Signage", "no open flame in bay 9", 2500),
    ("Catalogue", "cast-iron skillet, 26 cm, seasoned", 1900),
    ("Catalogue", "garden lantern with amber glass", 2900),
    ("Packaging", "fragile: this side up", 400),
    ("Packaging", "batch 0417 / packed by señor vega", 3800),
]


class _ServiceError(Exception):
    def __init__(
        self, status: int, name: str, message: str, key: str = "message", **more: Any
    ) -> None:
        body = {"__type": name, key: message, **more}
        self.response = Response(status, body, {"x-amzn-ErrorType": name})


def _invalid(found: list[tuple[str, str]]) -> _ServiceError:
    """Return Smithy's ValidationException for constraint violations by path."""
    said = [
        f"Value at '{path}' failed to satisfy constraint: {what}"
        for path, what in found
    ]
    noun = "error" if len(said) == 1 else "errors"
    text = f"{len(said)} validation {noun} detected: " + "; ".join(said)
    listed = [{"path": path, "message": one} for (path, _), one in zip(found, said)]  # noqa: B905
    return _ServiceError(400, "ValidationException", text, fieldList=listed)


def _unreadable(message: str) -> _ServiceError:
    return _ServiceError(400, "SerializationException", message, "Message")


def _token_name(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE_VALUE" if value else "FALSE_VALUE"
    return "DECIMAL_VALUE" if isinstance(value, float) else "NUMBER_VALUE"


def _check(body: Any, shape: dict[str, Any], at: str = "") -> list[tuple[str, str]]:
    """Return what violates a shape: member -> str, a list of values, or a shape."""
    if not isinstance(body, dict):
        raise _unreadable(f"Expected a structure at '{at or '/'}', found another type")
    found: list[tuple[str, str]] = []
    for name, wanted in shape.items():
        path, value = f"{at}/{name}", body.get(name)
        if value is None:
            found.append((path, "Member must not be null"))
        elif isinstance(wanted, dict):
            found += _check(value, wanted, path)
        elif isinstance(value, dict):
            raise _unreadable("Start of structure or map found where not expected.")
        elif isinstance(value, list):
            raise _unreadable("Start of list found where not expected")
        elif not isinstance(value, str):
            raise _unreadable(f"{_token_name(value)} can not be converted to String")
        elif isinstance(wanted, list) and value not in wanted:
            options = ", ".join(wanted)
            found.append((path, f"Member must satisfy enum value set: [{options}]"))
        elif not value:
            said = "Member must have length greater than or equal to 1"
            found.append((path, said))
    return found


def _answering(method: Any) -> Any:
    def run(self: Any, request: Request) -> Response:
        try:
            return method(self, request)
        except _ServiceError as refused:
            return refused.response

    return run


class Cindermill(Backend):
    """The network: PascalCase, ARNs, epoch times, __type errors."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}  # token -> agent
        self._jobs: dict[str, dict[str, Any]] = {}
        self._assignments: dict[str, dict[str, Any]] = {}
        for category, text, minor in _JOBS:
            arn = _ARN + secrets.token_hex(5)
            self._jobs[arn] = {
                "JobArn": arn,
                "JobStatus": "AVAILABLE",
                "Description": "Return the input text converted to upper case.",
                "Input": {"Text": text},
                "Price": self._money(minor),
                "CreationTime": round(time.time(), 3),
                "Category": category,
            }

    @staticmethod
    def _money(minor: int) -> dict[str, Any]:
        return {
            "Currency": "CREDIT",
            "MinorUnits": minor,
            "MinorUnitsPerCredit": _MINOR,
        }

    def texts(self) -> dict[str, str]:
        return {arn: job["Input"]["Text"] for arn, job in self._jobs.items()}

    def missing(self, request: Request) -> Response:
        return _ServiceError(
            404, "UnknownOperationException", "Unknown operation."
        ).response

    def _agent(self, request: Request) -> str:
        if not request.token:
            name = "MissingAuthenticationTokenException"
            raise _ServiceError(403, name, "Missing Authentication Token")
        if request.token not in self._agents:
            said = "The security token included in the request is invalid."
            raise _ServiceError(403, "UnrecognizedClientException", said)
        return self._agents[request.token]

    def _input(self, request: Request, shape: dict[str, Any]) -> dict[str, Any]:
        try:
            body = request.json() if request.raw.strip() else {}
        except ValueError:
            raise _unreadable("Could not parse the request payload as JSON") from None
        found = _check(body, shape)
        if found:
            raise _invalid(found)
        return body

    def _assignment(self, key: str, agent: str) -> dict[str, Any]:
        kept = self._assignments.get(key)
        if kept is None or kept["AgentId"] != agent:
            said = f"Assignment {key} does not exist."
            raise _ServiceError(404, "ResourceNotFoundException", said)
        return kept

    def _in_state(self, kept: dict[str, Any], state: str) -> None:
        if kept["AssignmentStatus"] != state:
            said = f"This operation can be called with a status of: {state}"
            said += f" (current status: {kept['AssignmentStatus']})"
            raise _ServiceError(409, "ConflictException", said)

    def register(self, request: Request) -> Response:
        token = "CM" + base64.b32encode(secrets.token_bytes(25)).decode()
        agent = "AG" + secrets.token_hex(6).upper()
        self._agents[token] = agent
        self.book.registrations += 1
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    @_answering
    def marketplace(self, request: Request) -> Response:
        limit = request.query.get("limit", str(_PAGE))
        if not (limit.isdigit() and 1 <= int(limit) <= _MOST):
            said = f"Member must be between 1 and {_MOST}, inclusive"
            raise _invalid([("/limit", said)])
        names = {name.lower(): value for name, value in request.query.items()}
        start = 0
        if "nexttoken" in names:
            try:
                plain = base64.urlsafe_b64decode(names["nexttoken"]).decode()
                start = int(plain.removeprefix("after:"))
            except ValueError:
                said = "The specified NextToken is invalid."
                raise _ServiceError(400, "InvalidNextTokenException", said) from None
        order = list(self._jobs.values())
        free = [(place, job) for place, job in enumerate(order, 1) if place > start]
        free = [(place, job) for place, job in free if job["JobStatus"] == "AVAILABLE"]
        page = free[: min(int(limit), _PAGE)]
        groups: dict[str, list[dict[str, Any]]] = {}
        for _, job in page:
            shown = {name: value for name, value in job.items() if name != "Category"}
            groups.setdefault(job["Category"], []).append(shown)
        listed = [{"CategoryName": name, "Jobs": jobs} for name, jobs in groups.items()]
        body: dict[str, Any] = {"Categories": listed}
        if len(free) > len(page):
            last = f"after:{page[-1][0]}".encode()
            body["NextToken"] = base64.urlsafe_b64encode(last).decode()
        return Response(200, body)

    @_answering
    def tasks(self, request: Request) -> Response:
        self._agent(request)
        return self.marketplace(request)

    @_answering
    def claim(self, request: Request) -> Response:
        agent = self._agent(request)
        body = self._input(request, {"JobArn": str, "AgentId": str})
        arn = body["JobArn"]
        if body["AgentId"] != agent:
            said = f"Agent {agent} is not authorized to perform: cindermill:AcceptJob"
            said += f" on behalf of agent {body['AgentId']}"
            raise _ServiceError(403, "AccessDeniedException", said)
        job = self._jobs.get(arn)
        if job is None:
            said = f"Job {arn} does not exist."
            raise _ServiceError(404, "ResourceNotFoundException", said)
        if job["JobStatus"] != "AVAILABLE":
            said = f"Job {arn} is no longer available."
            raise _ServiceError(409, "ConflictException", said)
        job["JobStatus"] = "ACCEPTED"
        kept = {
            "AssignmentId": secrets.token_hex(8).upper(),
            "JobArn": arn,
            "AgentId": agent,
            "AssignmentStatus": "ACCEPTED",
            "AcceptTime": round(time.time(), 3),
        }
        self._assignments[kept["AssignmentId"]] = kept
        self.book.claimed(arn)
        return Response(200, {"Assignment": kept})

    @_answering
    def submit(self, request: Request) -> Response:
        agent = self._agent(request)
        answer = {"ContentType": ["text/plain"], "Body": str}
        body = self._input(request, {"AssignmentId": str, "Answer": answer})
        kept = self._assignment(body["AssignmentId"], agent)
        self._in_state(kept, "ACCEPTED")
        if (
            body["Answer"]["Body"]
            != self._jobs[kept["JobArn"]]["Input"]["Text"].upper()
        ):
            said = "The answer body is not the input text in upper case."
            raise _ServiceError(422, "AnswerRejectedException", said)
        kept |= {
            "AssignmentStatus": "SUBMITTED",
            "AnswerId": "ANS" + secrets.token_hex(6),
        }
        return Response(200, {"Assignment": kept})

    @_answering
    def complete(self, request: Request) -> Response:
        agent = self._agent(request)
        body = self._input(request, {"AssignmentId": str, "AnswerId": str})
        kept = self._assignment(body["AssignmentId"], agent)
        self._in_state(kept, "SUBMITTED")
        if kept["AnswerId"] != body["AnswerId"]:
            said = f"Answer {body['AnswerId']} does not exist."
            raise _ServiceError(404, "ResourceNotFoundException", said)
        job = self._jobs[kept["JobArn"]]
        kept["AssignmentStatus"] = job["JobStatus"] = "COMPLETED"
        self.book.pay(kept["JobArn"], job["Price"]["MinorUnits"] // _MINOR)
        return Response(200, {"Assignment": kept, "AmountPaid": job["Price"]})
