"""A crowd-work desk in the manner of Amazon Mechanical Turk: AWS JSON 1.1, PascalCase.

Refusals are Coral's: SerializationException for a wrong type, ValidationException with
every broken constraint in one sentence (and members named in lower camel case, 'hITId'),
RequestError with a TurkErrorCode for everything that is about state. A HIT is accepted
and becomes an Assignment; the answers stand in a list of question and free text; an
assignment is approved by itself after a short delay and only then it can be closed, with
a token that makes the call idempotent. Rewards are strings of US dollars.
"""

import hashlib
import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PASSAGES = (
    ("the lighthouse keeper counts the gulls", 12),
    ("every third lantern is painted green", 9),
    ("no bicycles beyond the orchard gate", 15),
    ("tide tables are printed on thursdays", 7),
    ("she mended the sail with fishing line", 21),
    ("the baker's dozen was only eleven", 18),
    ("salt the road before the first frost", 6),
    ("a quiet engine is a happy engine", 11),
    ("turn the map until north is yours", 25),
    ("the clock in the hall runs backwards", 14),
    ("leave the spare key under basil", 10),
)
QUESTION = "passage"
APPROVAL_DELAY = 2
DURATION = 900
QUEUE = 3
PAGE = 10

PREFIX = "AWS.MechanicalTurk."


def entity(seed: str) -> str:
    """Return an id that looks like those of Turk: 30 capitals and digits."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    number = int(hashlib.sha256(seed.encode()).hexdigest(), 16)
    text = "3"
    while len(text) < 30:
        number, rest = divmod(number, 36)
        text += digits[rest]
    return text


class Fault(Exception):  # noqa: N818
    def __init__(self, kind: str, message: str, turk: str = "") -> None:
        super().__init__(message)
        if turk:  # the requester service signs its messages with the time
            body = {
                "__type": kind,
                "Message": f"{message} ({int(time.time() * 1000)})",
                "TurkErrorCode": PREFIX + turk,
            }
        elif kind == "SerializationException":
            body = {"__type": kind, "Message": message}
        else:
            body = {"__type": kind, "message": message}
        self.response = answer(body, 400)


def answer(body: Any, status: int = 200) -> Response:
    return Response(
        status,
        body,
        {
            "Content-Type": "application/x-amz-json-1.1",
            "x-amzn-RequestId": secrets.token_hex(16),
        },
    )


def converted(value: Any, shape: Any) -> Any:
    """Deserialise as Coral does: types first, and the first wrong one ends it."""
    if value is None:
        return None
    if shape is str:
        if isinstance(value, dict | list):
            raise Fault(
                "SerializationException",
                "Start of structure or map found where not expected."
                if isinstance(value, dict)
                else "Start of list found where not expected",
            )
        if isinstance(value, bool):
            word = "TRUE_VALUE" if value else "FALSE_VALUE"
            raise Fault(
                "SerializationException", f"{word} cannot be converted to String"
            )
        if not isinstance(value, str):
            raise Fault(
                "SerializationException", "NUMBER_VALUE cannot be converted to String"
            )
        return value
    if isinstance(shape, list):
        if not isinstance(value, list):
            raise Fault("SerializationException", "Expected list or null")
        return [converted(one, shape[0]) for one in value]
    if not isinstance(value, dict):
        raise Fault("SerializationException", "Expected structure or null")
    return {name: converted(value.get(name), kind) for name, kind in shape.items()}


def constraints(
    value: dict[str, Any], shape: dict[str, Any], at: str = ""
) -> list[str]:
    """Return every broken constraint: all members of these inputs are required."""
    found = []
    for name, kind in shape.items():
        path = f"{at}{name[0].lower()}{name[1:]}"
        given = value.get(name)
        if given is None:
            found.append(
                f"Value null at '{path}' failed to satisfy constraint: "
                "Member must not be null"
            )
        elif kind is str and not given:
            found.append(
                f"Value '' at '{path}' failed to satisfy constraint: "
                "Member must have length greater than or equal to 1"
            )
        elif kind is str and name == "UniqueRequestToken" and len(given) > 64:
            found.append(
                f"Value '{given}' at '{path}' failed to satisfy constraint: "
                "Member must have length less than or equal to 64"
            )
        elif (
            kind is str
            and name.endswith("Id")
            and not (given.isascii() and given.isalnum() and given == given.upper())
        ):
            found.append(
                f"Value '{given}' at '{path}' failed to satisfy constraint: "
                "Member must satisfy regular expression pattern: ^[A-Z0-9]+$"
            )
        elif isinstance(kind, list):
            if not given:
                found.append(
                    f"Value '[]' at '{path}' failed to satisfy constraint: "
                    "Member must have length greater than or equal to 1"
                )
            for number, one in enumerate(given, 1):
                found += constraints(one or {}, kind[0], f"{path}.{number}.member.")
    return found


class MturkHits(Backend):
    """Eleven HITs; AcceptHIT, SubmitAssignment, and closing after the approval."""

    def __init__(self) -> None:
        super().__init__()
        self.workers: dict[str, str] = {}
        self.assignments: dict[str, dict[str, Any]] = {}
        self.tokens: dict[str, str] = {}
        opened = time.time() - 7200
        self.prices: dict[str, int] = {}
        self.passages: dict[str, str] = {}
        self.hits: dict[str, dict[str, Any]] = {}
        for number, (passage, cents) in enumerate(PASSAGES):
            hit = entity(f"hit {number}")
            self.prices[hit], self.passages[hit] = cents, passage
            self.hits[hit] = {
                "HITId": hit,
                "HITTypeId": entity("type"),
                "HITGroupId": entity("group"),
                "CreationTime": round(opened + 61 * number, 3),
                "Title": "Set a passage in capital letters",
                "Description": "Type the passage in capital letters; change nothing else.",
                "Keywords": "text, typing, capitals",
                "HITLayoutParameters": [{"Name": QUESTION, "Value": passage}],
                "HITStatus": "Assignable",
                "MaxAssignments": 1,
                "Reward": {
                    "Amount": f"{cents / 100:.2f}",
                    "CurrencyCode": "USD",
                    "FormattedPrice": f"${cents / 100:.2f}",
                },
                "AutoApprovalDelayInSeconds": APPROVAL_DELAY,
                "AssignmentDurationInSeconds": DURATION,
                "Expiration": round(opened + 3 * 86400, 3),
                "HITReviewStatus": "NotReviewed",
                "NumberOfAssignmentsPending": 0,
                "NumberOfAssignmentsAvailable": 1,
                "NumberOfAssignmentsCompleted": 0,
            }

    def texts(self) -> dict[str, str]:
        return dict(self.passages)

    def missing(self, request: Request) -> Response:
        return answer({"__type": "UnknownOperationException"}, 404)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        worker = "A" + entity(secrets.token_hex(8))[1:14]
        token = secrets.token_urlsafe(32)
        self.workers[token] = worker
        return answer({"agent_id": worker, "access_token": token, "credits": 100})

    def tick(self) -> None:
        """Approve what has waited long enough, and take back what was abandoned."""
        now = time.time()
        for assignment in self.assignments.values():
            state = assignment["AssignmentStatus"]
            if state == "Submitted" and now >= assignment["AutoApprovalTime"]:
                assignment |= {
                    "AssignmentStatus": "Approved",
                    "ApprovalTime": assignment["AutoApprovalTime"],
                }
            elif state == "Accepted" and now >= assignment["Deadline"]:
                assignment["AssignmentStatus"] = "Abandoned"
                self.book.held.discard(assignment["HITId"])
                self.count(assignment["HITId"], "Assignable", available=1)

    def count(self, hit: str, status: str, **numbers: int) -> None:
        counted = {"Pending": 0, "Available": 0, "Completed": 0}
        counted |= {name.capitalize(): number for name, number in numbers.items()}
        self.hits[hit]["HITStatus"] = status
        for name, number in counted.items():
            self.hits[hit][f"NumberOfAssignments{name}"] = number

    def listed(self, request: Request) -> Response:
        self.tick()
        asked = request.query.get("limit") or request.query.get("MaxResults")
        try:
            limit = int(asked) if asked else PAGE
        except ValueError:
            word = "STRING_VALUE cannot be converted to Integer"
            return Fault("SerializationException", word).response
        if not 1 <= limit <= 100:
            side = (
                "greater than or equal to 1"
                if limit < 1
                else "less than or equal to 100"
            )
            return Fault(
                "ValidationException",
                f"1 validation error detected: Value '{limit}' at 'maxResults' failed to "
                f"satisfy constraint: Member must have value {side}",
            ).response
        found = [hit for hit in self.hits.values() if hit["HITStatus"] == "Assignable"]
        if after := request.query.get("NextToken"):
            known = list(self.hits)
            if after[2:] not in known:
                return Fault(
                    "RequestError", "NextToken is invalid.", "InvalidPaginationToken"
                ).response
            rest = set(known[known.index(after[2:]) + 1 :])
            found = [hit for hit in found if hit["HITId"] in rest]
        page = found[:limit]
        body: dict[str, Any] = {"NumResults": len(page), "HITs": page}
        if len(found) > len(page):
            body = {"NextToken": f"p1{page[-1]['HITId']}"} | body
        return answer(body)

    def tasks(self, request: Request) -> Response:
        try:
            self.worker(request)
        except Fault as fault:
            return fault.response
        return self.listed(request)

    def marketplace(self, request: Request) -> Response:
        return self.listed(request)

    def worker(self, request: Request) -> str:
        if not request.headers.get("Authorization"):
            raise Fault(
                "MissingAuthenticationTokenException", "Missing Authentication Token"
            )
        if request.token not in self.workers:
            raise Fault(
                "UnrecognizedClientException",
                "The security token included in the request is invalid.",
            )
        return self.workers[request.token]

    def called(self, request: Request, shape: dict[str, Any], run: Any) -> Response:
        try:
            worker = self.worker(request)
            try:
                body = request.json() if request.raw.strip() else {}
            except ValueError:
                raise Fault("SerializationException", "Unable to parse JSON") from None
            given = converted(body, shape) or {}
            if found := constraints(given, shape):
                noun = "error" if len(found) == 1 else "errors"
                raise Fault(
                    "ValidationException",
                    f"{len(found)} validation {noun} detected: " + "; ".join(found),
                )
            self.tick()
            return answer(run(worker, given))
        except Fault as fault:
            return fault.response

    def owned(self, worker: str, number: str) -> dict[str, Any]:
        assignment = self.assignments.get(number)
        if assignment is None:
            raise Fault(
                "RequestError",
                f"Assignment {number} does not exist.",
                "AssignmentDoesNotExist",
            )
        if assignment["WorkerId"] != worker:
            raise Fault(
                "RequestError",
                f"Worker {worker} does not hold assignment {number}.",
                "PermissionDeniedException",
            )
        return assignment

    @staticmethod
    def stated(assignment: dict[str, Any], wanted: str) -> None:
        if assignment["AssignmentStatus"] != wanted:
            raise Fault(
                "RequestError",
                f"This operation can be called with a status of: {wanted}",
                "InvalidAssignmentState",
            )

    def claim(self, request: Request) -> Response:
        return self.called(request, {"HITId": str}, self.accept)

    def accept(self, worker: str, given: dict[str, Any]) -> dict[str, Any]:
        hit = self.hits.get(given["HITId"])
        if hit is None:
            raise Fault(
                "RequestError",
                f"Hit {given['HITId']} does not exist.",
                "HITDoesNotExist",
            )
        if hit["HITStatus"] != "Assignable":
            raise Fault(
                "RequestError",
                "This operation can be called with a status of: Assignable",
                "InvalidHITState",
            )
        queue = [
            one
            for one in self.assignments.values()
            if one["WorkerId"] == worker and one["AssignmentStatus"] == "Accepted"
        ]
        if len(queue) >= QUEUE:
            raise Fault(
                "RequestError",
                f"You have already accepted the maximum number of HITs ({QUEUE}). "
                "Submit or return one of them first.",
                "ExceedsMaximumAcceptedHITs",
            )
        number = entity(secrets.token_hex(16))
        now = round(time.time(), 3)
        self.assignments[number] = {
            "AssignmentId": number,
            "WorkerId": worker,
            "HITId": hit["HITId"],
            "AssignmentStatus": "Accepted",
            "AcceptTime": now,
            "Deadline": now + DURATION,
            "Answers": [{"QuestionIdentifier": QUESTION, "FreeText": None}],
        }
        self.count(hit["HITId"], "Unassignable", pending=1)
        self.book.claimed(hit["HITId"])
        return {"Assignment": self.assignments[number], "HIT": hit}

    def submit(self, request: Request) -> Response:
        form = [{"QuestionIdentifier": str, "FreeText": str}]
        return self.called(
            request, {"AssignmentId": str, "Answers": form}, self.hand_in
        )

    def hand_in(self, worker: str, given: dict[str, Any]) -> dict[str, Any]:
        assignment = self.owned(worker, given["AssignmentId"])
        self.stated(assignment, "Accepted")
        for one in given["Answers"]:
            if one["QuestionIdentifier"] != QUESTION:
                raise Fault(
                    "RequestError",
                    f"There is no question '{one['QuestionIdentifier']}' in HIT "
                    f"{assignment['HITId']}. Its questions are: {QUESTION}",
                    "InvalidQuestionIdentifier",
                )
        typed = given["Answers"][-1]["FreeText"].strip()
        if typed != self.passages[assignment["HITId"]].upper():
            raise Fault(
                "RequestError",
                f"The answer to question '{QUESTION}' is not the passage in capital "
                "letters.",
                "AnswerRejected",
            )
        now = round(time.time(), 3)
        assignment |= {
            "AssignmentStatus": "Submitted",
            "SubmitTime": now,
            "AutoApprovalTime": now + APPROVAL_DELAY,
            "Answers": given["Answers"],
        }
        self.count(assignment["HITId"], "Reviewable")
        return {"Assignment": assignment}

    def complete(self, request: Request) -> Response:
        shape = {"AssignmentId": str, "UniqueRequestToken": str}
        return self.called(request, shape, self.close)

    def close(self, worker: str, given: dict[str, Any]) -> dict[str, Any]:
        assignment = self.owned(worker, given["AssignmentId"])
        number, token = assignment["AssignmentId"], given["UniqueRequestToken"]
        if self.tokens.get(token, number) != number:
            raise Fault(
                "RequestError",
                f"The UniqueRequestToken {token} was already used for assignment "
                f"{self.tokens[token]}.",
                "ParameterValidationError",
            )
        if token in self.tokens:  # said before: the same answer
            return {"Assignment": assignment}
        self.stated(assignment, "Approved")
        self.tokens[token] = number
        hit = assignment["HITId"]
        assignment |= {
            "AssignmentStatus": "Paid",
            "PaymentTime": round(time.time(), 3),
            "Reward": self.hits[hit]["Reward"],
        }
        self.count(hit, "Disposed", completed=1)
        self.book.pay(hit, self.prices[hit])
        return {"Assignment": assignment}
