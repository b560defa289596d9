"""A crowd market in the manner of Mechanical Turk: HITs, assignments, rewards in dollars.

A reward is an object with an amount, a currency and how it looks ("$0.05"), and a dollar is
a hundred credits, as everywhere here. There is no field that holds a state of the HIT but
`HITStatus`, and beside it counts say how many assignments are left. Accepting answers with
an assignment, and what follows is about that. Pages go by `NextToken`; times are seconds.
"""

import base64
import secrets
import string
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]
PER_PAGE = 4
ROWS = (
    ("Shop sign", "open all day on sundays", 5),
    ("Street sign", "no parking before ten", 3),
    ("Menu line", "soup of the day with bread", 6),
    ("Ticket", "valid for one trip only", 2),
    ("Label", "keep away from sunlight", 4),
    ("Receipt", "thank you and come again", 7),
)


def name() -> str:
    letters = string.ascii_uppercase + string.digits
    return "3" + "".join(secrets.choice(letters) for _ in range(29))


@dataclass
class Hit:
    title: str
    text: str
    cents: int
    status: str = "Assignable"
    worker: str = ""
    answer: str = ""
    id: str = field(default_factory=name)
    assignment: str = field(default_factory=name)

    @property
    def reward(self) -> dict[str, str]:
        amount = f"{self.cents / 100:.2f}"
        return {
            "Amount": amount,
            "CurrencyCode": "USD",
            "FormattedPrice": f"${amount}",
        }

    def shown(self) -> dict[str, object]:
        free = self.status == "Assignable"
        return {
            "HITId": self.id,
            "HITTypeId": "3C7CPWD5Z8T2M0WWXW3KQ1H4A6YR2B",
            "HITGroupId": "3MZ3TAMYTLLQ4T4TQG9M0DB7XK2VU1",
            "CreationTime": 1794031415.926,
            "Title": self.title,
            "Description": self.text,
            "Keywords": "writing, capitals",
            "HITStatus": self.status,
            "MaxAssignments": 1,
            "Reward": self.reward,
            "AutoApprovalDelayInSeconds": 86400,
            "Expiration": 1994031415.926,
            "AssignmentDurationInSeconds": 3600,
            "NumberOfAssignmentsPending": int(self.status == "Unassignable"),
            "NumberOfAssignmentsAvailable": int(free),
            "NumberOfAssignmentsCompleted": int(self.status == "Reviewed"),
        }


class TurkError(Exception):
    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        body = {"__type": "RequestError", "Message": message, "TurkErrorCode": code}
        self.response = Response(status, body)


def telling(action: Action) -> Action:
    """Answer with the error where the action raises one."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except TurkError as no:
            return no.response

    return answer


class CrowdHits(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        open_ = [Hit(*row) for row in ROWS]
        self._open = {hit.id: hit for hit in open_}
        old = [
            Hit("Poster", "the circus is here", 9, "Unassignable", "A2QXYZ"),
            Hit("Badge", "visitor number nine", 4, "Reviewed", "A2QXYZ"),
        ]
        self._hits = {hit.id: hit for hit in [*old, *open_]}

    def texts(self) -> dict[str, str]:
        return {hit.id: hit.text for hit in self._open.values()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"A{secrets.token_hex(6).upper()}", secrets.token_urlsafe(32)
        self._agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        token = request.query.get("NextToken", "")
        start = int(base64.b64decode(token)) if token else 0
        page = list(self._hits.values())[start : start + PER_PAGE]
        found: dict[str, object] = {
            "NumResults": len(page),
            "HITs": [hit.shown() for hit in page],
        }
        if start + PER_PAGE < len(self._hits):
            after = base64.b64encode(str(start + PER_PAGE).encode())
            found["NextToken"] = after.decode()
        return Response(200, found, {"Content-Type": "application/x-amz-json-1.1"})

    @telling
    def claim(self, request: Request) -> Response:
        agent, given = self._read(request, "HITId")
        hit = self._hits.get(given["HITId"])
        if hit is None:
            told = f"Hit {given['HITId']} does not exist."
            raise TurkError("AWS.MechanicalTurk.HITDoesNotExist", told, 404)
        if hit.status != "Assignable":
            told = f"This HIT is in the state {hit.status}."
            raise TurkError("AWS.MechanicalTurk.InvalidHITState", told, 409)
        hit.status, hit.worker = "Unassignable", agent
        self.book.claimed(hit.id)
        return self._answered(hit, "Accepted")

    @telling
    def submit(self, request: Request) -> Response:
        agent, given = self._read(request, "AssignmentId", "Answer")
        hit = self._own(agent, given)
        if given["Answer"] != hit.text.upper():
            told = "The answer is not the description in capitals."
            raise TurkError("AWS.MechanicalTurk.ParameterInvalid", told, 422)
        hit.status, hit.answer = "Reviewable", given["Answer"]
        return self._answered(hit, "Submitted")

    @telling
    def complete(self, request: Request) -> Response:
        agent, given = self._read(request, "AssignmentId")
        hit = self._own(agent, given)
        if hit.status != "Reviewable":
            told = "This assignment was not submitted."
            raise TurkError("AWS.MechanicalTurk.InvalidAssignmentState", told, 409)
        hit.status = "Reviewed"
        self.book.pay(hit.id, hit.cents)
        return self._answered(hit, "Approved")

    def _answered(self, hit: Hit, status: str) -> Response:
        assignment = {
            "AssignmentId": hit.assignment,
            "WorkerId": hit.worker,
            "HITId": hit.id,
            "AssignmentStatus": status,
            "Reward": hit.reward,
        }
        return Response(200, {"Assignment": assignment})

    def _own(self, agent: str, given: dict[str, str]) -> Hit:
        for hit in self._hits.values():
            if hit.assignment == given["AssignmentId"] and hit.worker == agent:
                return hit
        told = f"Assignment {given['AssignmentId']} does not exist."
        raise TurkError("AWS.MechanicalTurk.AssignmentDoesNotExist", told, 404)

    def _read(self, request: Request, *wanted: str) -> tuple[str, dict[str, Any]]:
        if request.token not in self._agents:
            told = "The security token included in the request is invalid."
            raise TurkError("UnrecognizedClientException", told, 401)
        try:
            given = request.json()
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise TurkError("SerializationException", "Start of structure expected.")
        for parameter in wanted:
            if not isinstance(given.get(parameter), str):
                told = f"The parameter {parameter} is missing or is not a string."
                raise TurkError("AWS.MechanicalTurk.ParameterMissing", told)
        return self._agents[request.token], given
