"""A work queue behind an HTTP API in the manner of RabbitMQ's management plugin.

Messages are listed as the plugin's `get` shows them (a bare array), a claim is a delivery
with a delivery tag, a result is a published payload, and the acknowledgement pays.
Refusals are the plugin's: an error word and an Erlang term for the reason.
"""

import base64
import binascii
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_ENCODINGS = ("string", "base64")

_MESSAGES = [
    ("m-4f1c09", 18, "the quick brown fox"),
    ("m-81be22", 25, "dead letters are delivered twice"),
    ("m-0d77a3", 9, "prefetch one, then ack"),
    ("m-c250fe", 40, "bind the queue to the exchange"),
    ("m-6a9310", 14, "routing keys have dots.in.them"),
    ("m-b3e5d8", 31, "a rabbit in the hutch"),
    ("m-27c64b", 22, "quorum queues need three nodes"),
]


def _term(value: Any) -> str:
    """Return a JSON value as Erlang would print it."""
    if isinstance(value, str):
        return f'<<"{value}">>'
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "null"
    if isinstance(value, list):
        return "[" + ",".join(_term(each) for each in value) + "]"
    if isinstance(value, dict):
        return (
            "#{" + ",".join(f"{_term(k)} => {_term(v)}" for k, v in value.items()) + "}"
        )
    return str(value)


class _No(Exception):  # noqa: N818
    def __init__(self, status: int, error: str, reason: str) -> None:
        super().__init__(reason)
        headers = {"WWW-Authenticate": 'Bearer realm="RabbitMQ Management"'}
        self.answer = Response(
            status,
            {"error": error, "reason": reason},
            headers if status == 401 else {},
        )


def _bad(reason: str) -> _No:
    return _No(400, "bad_request", reason)


class Hopper(Backend):
    """A broker whose messages are tasks."""

    def __init__(self) -> None:
        super().__init__()
        self._users: dict[str, str] = {}  # token -> agent
        self._ready = [key for key, _, _ in _MESSAGES]
        self._all = {key: (reward, text) for key, reward, text in _MESSAGES}
        # agent -> delivery tag -> [message, published]
        self._channels: dict[str, dict[int, list[Any]]] = {}
        self._tags: dict[str, int] = {}
        self._credits: dict[str, int] = {}

    def texts(self) -> dict[str, str]:
        """Return the payloads by message id."""
        return {key: text for key, _, text in _MESSAGES}

    def handle(self, request: Request) -> Response:
        """Answer as the base does, with the broker's name on everything."""
        answer = super().handle(request)
        answer.headers = {
            "Server": "Cowboy",
            "Cache-Control": "no-cache",
            "Vary": "accept, accept-encoding, origin",
            **answer.headers,
        }
        return answer

    def missing(self, request: Request) -> Response:
        """Say that there is no such object."""
        return Response(404, {"error": "Object Not Found", "reason": "Not Found"})

    def register(self, request: Request) -> Response:
        """Add a user."""
        self.book.registrations += 1
        agent = f"agent-{secrets.token_hex(5)}"
        token = secrets.token_urlsafe(24)
        self._users[token] = agent
        self._channels[agent] = {}
        self._tags[agent] = 0
        self._credits[agent] = 100
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def _message(self, key: str, count: int) -> dict[str, Any]:
        reward, text = self._all[key]
        return {
            "payload_bytes": len(text.encode()),
            "redelivered": False,
            "exchange": "tasks",
            "routing_key": "text.uppercase",
            "message_count": count,
            "properties": {
                "message_id": key,
                "type": "text.uppercase",
                "delivery_mode": 2,
                "content_type": "text/plain",
                "headers": {
                    "x-reward-credits": reward,
                    "x-instructions": "Publish the payload in upper case.",
                },
            },
            "payload": text,
            "payload_encoding": "string",
        }

    def tasks(self, request: Request) -> Response:
        """Show the ready messages."""
        try:
            self._agent(request)
            given = request.query.get("limit", "5")
            if not given.isascii() or not given.isdigit():
                raise _bad(f"{{not_integer,{_term(given)}}}")
        except _No as no:
            return no.answer
        ready = self._ready[: int(given)]
        count = len(self._ready)
        return Response(
            200, [self._message(k, count - n - 1) for n, k in enumerate(ready)]
        )

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        """Deliver one message to a consumer."""
        try:
            agent = self._agent(request)
            body = self._body(request, "message_id", "consumer_tag")
            key, consumer = body["message_id"], body["consumer_tag"]
            if not isinstance(consumer, str) or not consumer:
                raise _bad(f"{{not_a_string,consumer_tag,{_term(consumer)}}}")
            if not isinstance(key, str) or key not in self._all:
                raise _No(404, "Object Not Found", "Not Found")
            if key not in self._ready:
                raise _bad(
                    f"RESOURCE_LOCKED - message '{key}' in queue 'tasks' is already "
                    "delivered to a consumer"
                )
        except _No as no:
            return no.answer
        self._ready.remove(key)
        self._tags[agent] += 1
        tag = self._tags[agent]
        self._channels[agent][tag] = [key, False]
        self.book.claimed(key)
        message = self._message(key, len(self._ready))
        return Response(200, {"delivery_tag": tag, "consumer_tag": consumer, **message})

    def submit(self, request: Request) -> Response:
        """Take the reply to a delivery."""
        try:
            agent = self._agent(request)
            body = self._body(request, "delivery_tag", "payload", "payload_encoding")
            delivery = self._delivery(agent, body["delivery_tag"])
            payload, encoding = body["payload"], body["payload_encoding"]
            if encoding not in _ENCODINGS:
                raise _bad(
                    f"{{unsupported_encoding,{_term(encoding)},"
                    f"{_term(list(_ENCODINGS))}}}"
                )
            if not isinstance(payload, str):
                raise _bad(f"{{not_a_string,payload,{_term(payload)}}}")
            if encoding == "base64":
                try:
                    payload = base64.b64decode(payload, validate=True).decode()
                except (binascii.Error, UnicodeDecodeError):
                    raise _bad("payload_not_base64") from None
            if payload != self._all[delivery[0]][1].upper():
                raise _bad(
                    "PRECONDITION_FAILED - payload is not the upper case of message "
                    f"'{delivery[0]}'"
                )
        except _No as no:
            return no.answer
        delivery[1] = True
        return Response(200, {"routed": True})

    def complete(self, request: Request) -> Response:
        """Acknowledge a delivery, which pays it."""
        try:
            agent = self._agent(request)
            tag = self._body(request, "delivery_tag")["delivery_tag"]
            key, published = self._delivery(agent, tag)
            if not published:
                raise _bad(
                    f"PRECONDITION_FAILED - no reply was published for delivery tag {tag}"
                )
        except _No as no:
            return no.answer
        del self._channels[agent][tag]
        reward = self._all[key][0]
        self.book.pay(key, reward)
        self._credits[agent] += reward
        return Response(
            200,
            {"acked": tag, "credited": reward, "user_credits": self._credits[agent]},
        )

    def _agent(self, request: Request) -> str:
        agent = self._users.get(request.token)
        if agent is None:
            raise _No(401, "not_authorised", "Login failed")
        return agent

    def _body(self, request: Request, *keys: str) -> dict[str, Any]:
        try:
            body = request.json()
        except ValueError:
            raise _bad("not_json") from None
        if not isinstance(body, dict):
            raise _bad("not_a_json_object")
        lost = [f"{{key_missing,{key}}}" for key in keys if key not in body]
        if lost:
            raise _bad("[" + ",".join(lost) + "]")
        return body

    def _delivery(self, agent: str, tag: Any) -> list[Any]:
        if isinstance(tag, bool) or not isinstance(tag, int):
            raise _bad(f"{{not_integer,{_term(tag)}}}")
        delivery = self._channels[agent].get(tag)
        if delivery is None:
            raise _bad(f"PRECONDITION_FAILED - unknown delivery tag {tag}")
        return delivery
