"""Millrace: a work queue. A claim leases a message; deleting the message pays for it.

In the manner of the JSON protocol of a large cloud's queue service: PascalCase members,
attribute values that are strings, errors with a shape name in `__type`.
"""

import base64
import hashlib
import json
import secrets
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_CORAL = "com.amazon.coral.service#"
_OWN = "com.millrace.queue#"
_MAX_IN_FLIGHT = 3
_DEFAULT_VISIBILITY = 120
_KINDS = {bool: "TRUE_VALUE", int: "NUMBER_VALUE", float: "DECIMAL_VALUE",
          str: "STRING_VALUE", list: "START_ARRAY", dict: "START_OBJECT"}  # fmt: skip
_BODIES = [
    ("Shipping label", "fragile, keep upright", 8),
    ("Shelf sign", "fresh bread until noon", 15),
    ("Warning plate", "do not open while running", 11),
    ("Stage card", "act two: the orchard", 22),
    ("Door plate", "reading room, third floor", 6),
    ("Banner line", "welcome home, rowers of '98", 19),
]


@dataclass
class _Message:
    id: str
    subject: str
    body: str
    bounty: int
    sent: int
    holder: str = ""
    handle: str = ""
    visible_at: float = 0.0
    receives: int = 0
    reply: str | None = None
    old_handles: set[str] = field(default_factory=set)


class _Fault(Exception):  # noqa: N818
    def __init__(
        self, name: str, text: str, status: int = 400, space: str = _OWN
    ) -> None:
        super().__init__(text)
        key = "Message" if name == "SerializationException" else "message"
        body = {"__type": space + name, key: text}
        self.answer = Response(status, body, {"x-amzn-ErrorType": name})


def _invalid(name: str, value: object, reason: str) -> _Fault:
    text = f"Value {value} for parameter {name} is invalid. Reason: {reason}"
    return _Fault("InvalidParameterValue", text)


def _member(
    body: dict[str, Any], name: str, kind: type = str, other: Any = None
) -> Any:
    value = body.get(name)
    if value is None or value == "":
        if other is not None:
            return other
        text = f"The request must contain the parameter {name}."
        raise _Fault("MissingParameter", text)
    if type(value) is not kind:
        wanted = {str: "a String", int: "an Integer"}[kind]
        text = f"{_KINDS[type(value)]} can not be converted to {wanted} (member {name})"
        raise _Fault("SerializationException", text, space=_CORAL)
    return value


def _md5(text: str) -> str:
    return hashlib.md5(text.encode()).hexdigest()  # noqa: S324


class Millrace(Backend):
    """A queue of small text jobs that are leased for a while."""

    def __init__(self) -> None:
        super().__init__()
        now = int(time.time() * 1000)
        self._agents: dict[str, str] = {}  # token -> agent
        self._balance: dict[str, int] = {}
        self._queue: dict[str, _Message] = {}
        for n, (subject, body, bounty) in enumerate(_BODIES):
            key = str(uuid.uuid4())
            self._queue[key] = _Message(key, subject, body, bounty, now - 60_000 * n)
        self._texts = {m.id: m.body for m in self._queue.values()}

    def texts(self) -> dict[str, str]:
        return dict(self._texts)

    def handle(self, request: Request) -> Response:
        answer = super().handle(request)
        answer.headers["Content-Type"] = "application/x-amz-json-1.0"
        answer.headers["x-amzn-RequestId"] = str(uuid.uuid4())
        return answer

    def missing(self, request: Request) -> Response:
        return Response(404, {"__type": _CORAL + "UnknownOperationException"})

    def register(self, request: Request) -> Response:
        agent = "AIDA" + base64.b32encode(secrets.token_bytes(10)).decode()
        token = base64.b64encode(secrets.token_bytes(48)).decode()
        self._agents[token] = agent
        self._balance[agent] = 100
        self.book.registrations += 1
        return Response(body={"agent_id": agent, "access_token": token, "credits": 100})

    def marketplace(self, request: Request) -> Response:
        return self._guard(lambda: self._list(request))

    def tasks(self, request: Request) -> Response:
        return self._guard(lambda: self._agent(request) and self._list(request))

    def claim(self, request: Request) -> Response:
        return self._guard(
            lambda: self._receive(self._agent(request), self._body(request))
        )

    def submit(self, request: Request) -> Response:
        return self._guard(
            lambda: self._reply(self._agent(request), self._body(request))
        )

    def complete(self, request: Request) -> Response:
        return self._guard(
            lambda: self._delete(self._agent(request), self._body(request))
        )

    def _guard(self, run: Callable[[], Any]) -> Response:
        self._expire()
        try:
            return Response(body=run())
        except _Fault as fault:
            return fault.answer

    def _agent(self, request: Request) -> str:
        if not request.headers.get("Authorization"):
            text = "Request is missing Authentication Token"
            raise _Fault("MissingAuthenticationTokenException", text, space=_CORAL)
        if request.token not in self._agents:
            text = "The security token included in the request is invalid."
            raise _Fault("UnrecognizedClientException", text, space=_CORAL)
        return self._agents[request.token]

    def _body(self, request: Request) -> dict[str, Any]:
        try:
            body = request.json() if request.raw.strip() else {}
        except ValueError:
            body = None
        if not isinstance(body, dict):
            text = "Unable to parse the request body as a JSON object"
            raise _Fault("SerializationException", text, space=_CORAL)
        return body

    def _receive(self, agent: str, body: dict[str, Any]) -> Any:
        message = self._queue.get(_member(body, "MessageId"))
        seconds = _member(body, "VisibilityTimeout", int, _DEFAULT_VISIBILITY)
        if not 0 <= seconds <= 43200:
            reason = "Must be between 0 and 43200, if provided."
            raise _invalid("VisibilityTimeout", seconds, reason)
        if message is None:
            raise _Fault("MessageDoesNotExist", "The specified message does not exist.")
        if message.handle:
            text = "The specified message is in flight. It becomes visible again when "
            raise _Fault("MessageInFlight", text + "its visibility timeout expires.")
        if sum(m.holder == agent for m in self._queue.values()) >= _MAX_IN_FLIGHT:
            text = "The specified action violates a limit: the maximum number of in flight "
            text += (
                f"messages ({_MAX_IN_FLIGHT}) is reached. Complete a message or wait "
            )
            raise _Fault("OverLimit", text + "for its visibility timeout.", 403)
        message.holder = agent
        message.handle = base64.b64encode(secrets.token_bytes(66)).decode()
        message.visible_at = time.time() + seconds
        message.receives += 1
        self.book.claimed(message.id)
        leased = self._record(message) | {
            "ReceiptHandle": message.handle,
            "Body": message.body,
            "MD5OfBody": _md5(message.body),
        }
        return {"Messages": [leased], "VisibilityTimeout": seconds}

    def _reply(self, agent: str, body: dict[str, Any]) -> Any:
        handle, reply = _member(body, "ReceiptHandle"), _member(body, "MessageBody")
        message = self._leased(handle, agent)
        if reply != message.body.upper():
            text = "The reply does not satisfy the Instructions of the message. "
            raise _Fault("InvalidMessageContents", text + "The lease is unchanged.")
        message.reply = reply
        return {"MessageId": message.id, "MD5OfMessageBody": _md5(reply)}

    def _delete(self, agent: str, body: dict[str, Any]) -> Any:
        message = self._leased(_member(body, "ReceiptHandle"), agent)
        if message.reply is None:
            text = "No reply was submitted for this receipt handle."
            raise _Fault("ReplyNotFound", text)
        del self._queue[message.id]
        self.book.pay(message.id, message.bounty)
        self._balance[agent] += message.bounty
        paid, balance = str(message.bounty), str(self._balance[agent])
        return {"Deleted": message.id, "BountyCredited": paid, "Balance": balance}

    def _expire(self) -> None:
        for message in self._queue.values():
            if message.handle and time.time() >= message.visible_at:
                message.old_handles.add(message.handle)
                message.handle = message.holder = ""
                message.reply = None
                self.book.held.discard(message.id)

    def _leased(self, handle: str, agent: str) -> _Message:
        for message in self._queue.values():
            if handle in message.old_handles:
                raise _invalid(
                    "ReceiptHandle", handle, "The receipt handle has expired."
                )
            if message.handle == handle and message.holder == agent:
                return message
        text = f'The input receipt handle "{handle}" is not a valid receipt handle.'
        raise _Fault("ReceiptHandleIsInvalid", text, 404)

    def _record(self, message: _Message) -> dict[str, Any]:
        ask = "Reply with the Body in capital letters, otherwise unchanged."
        return {
            "MessageId": message.id,
            "Attributes": {
                "SentTimestamp": str(message.sent),
                "ApproximateReceiveCount": str(message.receives),
            },
            "MessageAttributes": {
                "Subject": {"DataType": "String", "StringValue": message.subject},
                "Instructions": {"DataType": "String", "StringValue": ask},
                "Bounty": {"DataType": "Number", "StringValue": str(message.bounty)},
            },
        }

    def _list(self, request: Request) -> Any:
        limit = request.query.get("limit", "10")
        if not limit.isdecimal() or not 1 <= int(limit) <= 10:
            raise _invalid("limit", limit, "Must be between 1 and 10, if provided.")
        try:
            token = request.query.get("NextToken", "MA==")
            start = max(0, int(json.loads(base64.urlsafe_b64decode(token))))
        except (ValueError, TypeError):
            raise _Fault("InvalidParameterValue", "Invalid NextToken value.") from None
        visible = [m for m in self._queue.values() if not m.handle]
        end = start + int(limit)
        answer: dict[str, Any] = {
            "Messages": [self._record(m) for m in visible[start:end]]
        }
        if end < len(visible):
            answer["NextToken"] = base64.urlsafe_b64encode(str(end).encode()).decode()
        return answer
