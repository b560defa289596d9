"""A chat product's network, in the manner of Discord's HTTP API.

A task is a message in a channel; to claim it, one starts a thread from the message; the
result is a message in that thread; archiving the thread completes it and pays.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import secrets
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_EPOCH = 1420070400000
_CHANNEL = "1187346211098214422"
_GUILD = "1187346210112553010"
_DURATIONS = (60, 1440, 4320, 10080)
_WORK = [
    ("the lobby closes at nine tonight", 15),
    ("please welcome our three new moderators", 25),
    ("voice channels are back after the outage", 40),
    ("bring snacks to the friday game night", 20),
    ("the emoji contest has a winner", 35),
    ("patch notes are pinned in the news channel", 60),
]


def _leaf(code: str, message: str) -> dict[str, Any]:
    return {"_errors": [{"code": code, "message": message}]}


_REQUIRED = _leaf("BASE_TYPE_REQUIRED", "This field is required")


def _snowflake(value: Any) -> dict[str, Any] | None:
    if isinstance(value, bool) or not str(value).isdigit():
        return _leaf("NUMBER_TYPE_COERCE", f'Value "{value}" is not snowflake.')
    return None


def _string(value: Any, most: int) -> dict[str, Any] | None:
    if not isinstance(value, str):
        return _leaf("STRING_TYPE_CONVERT", f'Could not interpret "{value}" as string.')
    if not 1 <= len(value) <= most:
        return _leaf("BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {most} in length.")
    return None


def _boolean(value: Any) -> dict[str, Any] | None:
    if isinstance(value, bool):
        return None
    return _leaf("BOOLEAN_TYPE_CONVERT", "Must be either true or false.")


def _archived(value: Any) -> dict[str, Any] | None:
    wrong = _leaf("BASE_TYPE_CHOICES", "Value must be one of {True}.")
    return _boolean(value) or (None if value else wrong)


def _duration(value: Any) -> dict[str, Any] | None:
    if value in _DURATIONS:
        return None
    choices = ", ".join(str(minutes) for minutes in _DURATIONS)
    return _leaf("BASE_TYPE_CHOICES", f"Value must be one of {{{choices}}}.")


class DiscordNetwork(Backend):
    """Messages, threads and snowflakes."""

    def __init__(self) -> None:
        super().__init__()
        self._sequence = 0
        self._users: dict[str, dict[str, Any]] = {}  # by token
        self._messages: dict[str, dict[str, Any]] = {}
        self._rewards: dict[str, int] = {}
        self._threads: dict[str, dict[str, Any]] = {}
        self._replies: dict[str, str] = {}  # thread -> the right reply
        for content, reward in _WORK:
            id_ = self._id()
            self._rewards[id_] = reward
            self._messages[id_] = {
                "id": id_,
                "type": 0,
                "channel_id": _CHANNEL,
                "content": content,
                "author": {
                    "id": "1187346209000000001",
                    "username": "requests",
                    "bot": True,
                },
                "timestamp": self._now(),
                "edited_timestamp": None,
                "pinned": False,
                "tts": False,
                "mention_everyone": False,
                "attachments": [],
                "flags": 0,
                "credit_reward": reward,
            }

    def _id(self) -> str:
        self._sequence += 1
        moment = datetime.now(UTC).timestamp() * 1000
        return str(((int(moment) - _EPOCH) << 22) + self._sequence)

    def _now(self) -> str:
        return datetime.now(UTC).isoformat()

    def texts(self) -> dict[str, str]:
        """Return the content of each message that is a task."""
        return {id_: message["content"] for id_, message in self._messages.items()}

    def missing(self, request: Request) -> Response:
        """Return Discord's answer to a route that is not there."""
        methods = [method for method, path in ACTIONS if path == request.path]
        if methods and request.method not in methods:
            return self._no(405, 0, "405: Method Not Allowed")
        return self._no(404, 0, "404: Not Found")

    def _no(self, status: int, code: int, message: str, **more: Any) -> Response:
        return Response(status, {"message": message, "code": code, **more})

    def _form(self, request: Request, required: dict, optional: dict) -> Any:
        """Return the body as a checked form, or the refusal of it."""
        if request.token not in self._users:
            return self._no(401, 0, "401: Unauthorized")
        try:
            form = json.loads(request.raw or b"{}")
        except ValueError:
            return self._no(400, 50109, "The request body contains invalid JSON.")
        errors: dict[str, Any] = {}
        if not isinstance(form, dict):
            errors = _leaf(
                "MODEL_TYPE_CONVERT", "Only dictionaries may be used in a ModelType"
            )
            return self._no(400, 50035, "Invalid Form Body", errors=errors)
        for name, check in required.items():
            error = _REQUIRED if form.get(name) is None else check(form[name])
            if error:
                errors[name] = error
        for name, check in optional.items():
            if form.get(name) is not None and (error := check(form[name])):
                errors[name] = error
        if errors:
            return self._no(400, 50035, "Invalid Form Body", errors=errors)
        return form

    def register(self, request: Request) -> Response:
        """Make a bot user."""
        self.book.registrations += 1
        user = {"id": self._id(), "credits": 100}
        token = secrets.token_urlsafe(22)
        self._users[token] = user
        body = {
            "agent_id": user["id"],
            "access_token": token,
            "token_type": "Bearer",
            "scope": "messages.read bot",
            "credits": 100,
            "username": f"agent_{user['id'][-4:]}",
        }
        return Response(200, body)

    def marketplace(self, request: Request) -> Response:
        """List the channel's messages, newest first."""
        limit = request.query.get("limit", "50")
        wrong = None
        if not limit.isdigit():
            wrong = _leaf("NUMBER_TYPE_COERCE", f'Value "{limit}" is not int.')
        elif not 1 <= int(limit) <= 100:
            code, bound = ("MAX", "less than or equal to 100")
            if limit == "0":
                code, bound = ("MIN", "greater than or equal to 1")
            wrong = _leaf(f"NUMBER_TYPE_{code}", f"int value should be {bound}.")
        if wrong:
            return self._no(400, 50035, "Invalid Form Body", errors={"limit": wrong})
        before = request.query.get("before", "")
        found = sorted(
            self._messages.values(), key=lambda m: int(m["id"]), reverse=True
        )
        if before.isdigit():
            found = [message for message in found if int(message["id"]) < int(before)]
        return Response(200, found[: int(limit)])

    def tasks(self, request: Request) -> Response:
        """List the messages to a user who is logged in."""
        if request.token not in self._users:
            return self._no(401, 0, "401: Unauthorized")
        return self.marketplace(request)

    def claim(self, request: Request) -> Response:
        """Start a thread from a message."""
        required = {"channel_id": _snowflake, "message_id": _snowflake}
        required["name"] = lambda value: _string(value, 100)
        form = self._form(request, required, {"auto_archive_duration": _duration})
        if isinstance(form, Response):
            return form
        if str(form["channel_id"]) != _CHANNEL:
            return self._no(404, 10003, "Unknown Channel")
        id_ = str(form["message_id"])
        if id_ not in self._messages:
            return self._no(404, 10008, "Unknown Message")
        if id_ in self._threads:
            return self._no(
                400, 160004, "A thread has already been created for this message"
            )
        self._threads[id_] = thread = {
            "id": id_,  # a thread has the identifier of its message
            "type": 11,
            "guild_id": _GUILD,
            "parent_id": _CHANNEL,
            "owner_id": self._users[request.token]["id"],
            "name": form["name"],
            "last_message_id": None,
            "message_count": 0,
            "member_count": 1,
            "thread_metadata": {
                "archived": False,
                "locked": False,
                "auto_archive_duration": form.get("auto_archive_duration") or 1440,
                "archive_timestamp": self._now(),
            },
        }
        self._messages[id_].update(flags=32, thread=thread)
        self.book.claimed(id_)
        return Response(200, thread)

    def _thread(self, request: Request, form: dict[str, Any]) -> Any:
        thread = self._threads.get(str(form["thread_id"]))
        if not thread:
            return self._no(404, 10003, "Unknown Channel")
        if thread["owner_id"] != self._users[request.token]["id"]:
            return self._no(403, 50001, "Missing Access")
        if thread["thread_metadata"]["archived"]:
            return self._no(400, 50083, "Thread is archived")
        return thread

    def submit(self, request: Request) -> Response:
        """Post a message in the thread."""
        required = {"thread_id": _snowflake, "content": lambda v: _string(v, 2000)}
        form = self._form(request, required, {"tts": _boolean})
        thread = form if isinstance(form, Response) else self._thread(request, form)
        if isinstance(thread, Response):
            return thread
        if form["content"] != self._messages[thread["id"]]["content"].upper():
            return self._no(400, 200000, "Message was blocked by automatic moderation")
        reply = self._id()
        self._replies[thread["id"]] = reply
        thread["last_message_id"] = reply
        thread["message_count"] += 1
        body = {
            "id": reply,
            "type": 0,
            "channel_id": thread["id"],
            "content": form["content"],
            "author": {"id": thread["owner_id"], "bot": True},
            "timestamp": self._now(),
            "edited_timestamp": None,
            "tts": bool(form.get("tts")),
            "flags": 0,
        }
        return Response(200, body)

    def complete(self, request: Request) -> Response:
        """Archive the thread; this pays."""
        required = {"thread_id": _snowflake, "archived": _archived}
        form = self._form(request, required, {"locked": _boolean})
        thread = form if isinstance(form, Response) else self._thread(request, form)
        if isinstance(thread, Response):
            return thread
        id_ = thread["id"]
        if id_ not in self._replies:
            return self._no(404, 10008, "Unknown Message")
        thread["thread_metadata"]["archived"] = True
        self.book.pay(id_, self._rewards[id_])
        user = self._users[request.token]
        user["credits"] += self._rewards[id_]
        return Response(200, {**thread, "owner_credits": user["credits"]})
