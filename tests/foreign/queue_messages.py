"""A message queue over HTTP in the manner of SQS: a task is the text of a message's body.

The body is JSON in a string, with a reference of its own; around it are the queue's
identifiers and attributes, which are all texts. A message that somebody works on is not
shown, and what was acknowledged is gone. Receiving one answers with a receipt handle, by
which it is answered and deleted.
"""

import hashlib
import json
import secrets
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]
ROWS = (
    ("the gate opens at dawn", 5),
    ("two lamps by the stairs", 3),
    ("bring the ladder back", 6),
    ("mind the wet paint", 2),
    ("the bell rings at noon", 4),
    ("fold the chairs away", 7),
)


@dataclass
class Message:
    text: str
    credits: int
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    receipt: str = ""
    holder: str = ""
    answered: bool = False

    def shown(self) -> dict[str, object]:
        work = {"operation": "uppercase", "text": self.text, "credits": self.credits}
        body = json.dumps({"version": 1, "work": work})
        return {
            "MessageId": self.id,
            "MD5OfBody": hashlib.md5(body.encode()).hexdigest(),  # noqa: S324
            "Body": body,
            "Attributes": {
                "SentTimestamp": "1794031415926",
                "ApproximateReceiveCount": "0",
            },
        }


class QueueError(Exception):
    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        error = {"Type": "Sender", "Code": code, "Message": message}
        self.response = Response(status, {"Error": error, "RequestId": "c5b1"})


def telling(action: Action) -> Action:
    """Answer with the error where the action raises one."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except QueueError as no:
            return no.response

    return answer


class QueueMessages(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        messages = [Message(*row) for row in ROWS]
        self._texts = {one.id: one.text for one in messages}
        self._queue = {one.id: one for one in messages}

    def texts(self) -> dict[str, str]:
        return dict(self._texts)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"consumer-{self.book.registrations}", secrets.token_hex(20)
        self._agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        free = [one.shown() for one in self._queue.values() if not one.holder]
        most = int(request.query.get("limit", "10"))
        result = {"Messages": free[: min(most, 10)]} if free else {}
        about = {"RequestId": str(uuid.uuid4())}
        return Response(200, {"ReceiveResult": result, "ResponseMetadata": about})

    @telling
    def claim(self, request: Request) -> Response:
        agent, given = self._read(request, "MessageId")
        one = self._queue.get(given["MessageId"])
        if one is None or one.holder:
            raise QueueError(409, "MessageNotInflight", "The message is not visible")
        one.holder, one.receipt = agent, "AQEB" + secrets.token_urlsafe(60)
        self.book.claimed(one.id)
        handle = {"MessageId": one.id, "ReceiptHandle": one.receipt}
        return Response(200, {"ReceiveResult": handle})

    @telling
    def submit(self, request: Request) -> Response:
        agent, given = self._read(request, "ReceiptHandle", "Reply")
        one = self._held(agent, given)
        if given["Reply"] != one.text.upper():
            raise QueueError(422, "InvalidMessageContents", "The reply is wrong")
        one.answered = True
        return Response(200, {"ResponseMetadata": {"RequestId": str(uuid.uuid4())}})

    @telling
    def complete(self, request: Request) -> Response:
        agent, given = self._read(request, "ReceiptHandle")
        one = self._held(agent, given)
        if not one.answered:
            raise QueueError(409, "NotAnswered", "The message has no reply yet")
        del self._queue[one.id]
        self.book.pay(one.id, one.credits)
        return Response(200, {"ResponseMetadata": {"RequestId": str(uuid.uuid4())}})

    def _held(self, agent: str, given: dict[str, str]) -> Message:
        for one in self._queue.values():
            if one.receipt == given["ReceiptHandle"] and one.holder == agent:
                return one
        told = "The input receipt handle is not a valid receipt handle."
        raise QueueError(404, "ReceiptHandleIsInvalid", told)

    def _read(self, request: Request, *wanted: str) -> tuple[str, dict[str, Any]]:
        if request.token not in self._agents:
            raise QueueError(403, "InvalidClientTokenId", "The token is not valid.")
        try:
            given = request.json()
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise QueueError(400, "MalformedInput", "Expected an object")
        for name in wanted:
            if not given.get(name) or not isinstance(given[name], str):
                told = f"The request must contain the parameter {name}."
                raise QueueError(400, "MissingParameter", told)
        return self._agents[request.token], given
