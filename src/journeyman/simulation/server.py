"""The sandbox, answering at once, in memory, in the manner of a personality.

Each request is driven to its end in one step, without the event loop: so it happens
at one moment, also when whoever asked is dead by then. Everything that was asked is
kept, since what is claimed about the daemon is checked against it.
"""

import json
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, MutableMapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeAlias

from fastapi import FastAPI

from journeyman.sandbox import SandboxOptions, create_app, workshop
from journeyman.sandbox.agents import Newcomer, enroll
from journeyman.sandbox.rivals import Rival
from journeyman.sandbox.state import State, open_state
from journeyman.simulation.clock import SimulatedAmbient
from journeyman.simulation.errors import NotInstantError
from journeyman.simulation.personality import ErrorBody, Personality, Rejoin

Message: TypeAlias = MutableMapping[str, Any]

BOM = b"\xef\xbb\xbf"
OK, CONFLICT = 200, 409
FIRST_ERROR = 400
FUNCTIONS = "/functions/v1/"
REGISTER = f"{FUNCTIONS}create-free-agent-public"
CHECKOUT = f"{FUNCTIONS}create-checkout"
LISTING = f"{FUNCTIONS}get-marketplace-tasks"
CLAIM = f"{FUNCTIONS}claim-task-public"
SUBMIT = f"{FUNCTIONS}submit-task-result-public"
COMPLETE = f"{FUNCTIONS}complete-task-public"
POST = f"{FUNCTIONS}write-post-task-public"


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A request as it arrives."""

    method: str
    path: str
    query: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    """Names in lower case."""
    body: bytes = b""

    def header(self, name: str) -> str:
        """Give a header; empty where it is not there."""
        wanted = name.encode()
        return next((v.decode() for n, v in self.headers if n == wanted), "")

    @property
    def fields(self) -> dict[str, Any]:
        """The JSON object in the body; empty where there is none."""
        value = json.loads(self.body) if self.body else {}
        return value if isinstance(value, dict) else {}

    @property
    def task_id(self) -> str:
        """The task that it is about; empty where it is about none."""
        return str(self.fields.get("task_id", ""))

    @property
    def subject(self) -> str:
        """What a repeat of it has in common with it; empty for a look at the market."""
        return self.task_id or self.header("idempotency-key")

    @property
    def agent_id(self) -> str:
        """Whom it says it is from."""
        return str(self.fields.get("agent_id", ""))


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What goes back."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...] = ()
    body: bytes = b""


@dataclass(frozen=True, kw_only=True, slots=True)
class Handled:
    """A request that the network has processed."""

    at: float
    """In simulated seconds."""
    asked: Asked
    answer: Answer
    was_repeat: bool
    """Its effect was there before."""


class SimulatedNetwork:
    """The other side of the wire."""

    def __init__(
        self,
        *,
        options: SandboxOptions,
        personality: Personality,
        seconds: Callable[[], float],
    ) -> None:
        """Stock a market in memory."""
        self.personality = personality
        self.handled: list[Handled] = []
        self._seconds = seconds
        self._state = open_state(options, SimulatedAmbient(seconds, options.seed))
        self._db = self._state.db
        workshop.stock(self._state)
        self._first_registration: Answer | None = None
        self._granted: list[Handled] = []
        self._granted_keys: set[tuple[str, str]] = set()
        self.releases: dict[str, float] = {}
        """When a listing begins to show a task, in simulated seconds; now if absent."""

    def close(self) -> None:
        """Forget everything."""
        self._db.close()

    def handle(self, asked: Asked) -> Answer:
        """Process a request and keep that it was."""
        known = self._is_known_key(asked)
        before = self.task(asked.task_id)
        repeat = before is not None and _is_repeat(asked, before)
        answer = self._answered(asked)
        if repeat and not known:
            answer = self._repeated(asked, answer)
        if asked.path == LISTING and answer.status == OK:
            answer = self._released(answer)
        self._remember_key(asked, answer)
        answer = self._clothed(asked, answer, before)
        handled = Handled(
            at=self._seconds(),
            asked=asked,
            answer=answer,
            was_repeat=repeat or known,
        )
        self.handled.append(handled)
        if asked.path in (POST, CHECKOUT) and answer.status == OK:
            self._granted.append(handled)
        return answer

    def task(self, task_id: str) -> dict[str, Any] | None:
        """Give a task as the network has it."""
        query = "SELECT * FROM tasks WHERE task_id = ?"
        row = self._db.execute(query, (task_id,)).fetchone() if task_id else None
        return dict(row) if row else None

    def tasks_of(self, agent_id: str) -> list[dict[str, Any]]:
        """Give the tasks that an agent holds or has done, in the market's order."""
        query = "SELECT * FROM tasks WHERE claimant = ? ORDER BY sequence"
        return [dict(row) for row in self._db.execute(query, (agent_id,))]

    def made_tasks(self) -> list[str]:
        """Give the ids of all tasks of the market itself, in its order."""
        query = "SELECT task_id FROM tasks WHERE made IS NOT NULL ORDER BY sequence"
        return [str(row["task_id"]) for row in self._db.execute(query)]

    def members(self) -> list[str]:
        """Give the ids of all agents that joined by registration, oldest first."""
        query = (
            "SELECT agent_id FROM agents WHERE role = 'member' "
            "ORDER BY joined_at, agent_id"
        )
        return [str(row["agent_id"]) for row in self._db.execute(query)]

    def grants(self) -> Counter[tuple[str, str]]:
        """Tell how often each spend was done, by its path and key."""
        return Counter(
            (one.asked.path, one.asked.header("idempotency-key"))
            for one in self._spends()
        )

    def charged(self, agent_id: str) -> int:
        """Give the credits that an agent has spent on posts, each key counted once."""
        posts = {
            one.asked.header("idempotency-key"): int(one.asked.fields["reward"])
            for one in self._spends()
            if one.asked.path == POST and one.asked.agent_id == agent_id
        }
        return sum(posts.values())

    def _spends(self) -> Iterator[Handled]:
        """Give the requests that have moved money, or opened a checkout."""
        return (one for one in self._granted if not one.was_repeat)

    def balance(self, agent_id: str) -> int:
        """Give an agent's credits."""
        query = "SELECT balance FROM accounts WHERE account = ?"
        return int(self._db.execute(query, (agent_id,)).fetchone()["balance"])

    def add_rival(self, number: int) -> Rival:
        """Let another agent take part; it acts when its `step` is called."""
        name = f"rival-{number:02d}"
        newcomer = Newcomer(f"agent_{name.replace('-', '_')}", name, name, "rival")
        with self._state.transaction():
            enroll(self._state, newcomer)
        return Rival(self._state, number)

    # -- the manner of answering ------------------------------------------------

    def _answered(self, asked: Asked) -> Answer:
        first = self._first_registration
        keyed = self.personality.honours_keys and asked.header("idempotency-key")
        if asked.path == REGISTER and first is not None and not keyed:
            if self.personality.rejoin is Rejoin.SAME:
                return first
            if self.personality.rejoin is Rejoin.CONFLICT:
                return _refusal(CONFLICT, "already_registered", {})
        answer = _drive(self._state, self._without_key(asked))
        if asked.path == REGISTER and first is None and answer.status == OK:
            self._first_registration = answer
        return answer

    def _without_key(self, asked: Asked) -> Asked:
        if self.personality.honours_keys:
            return asked
        kept = tuple(pair for pair in asked.headers if pair[0] != b"idempotency-key")
        return replace(asked, headers=kept)

    def _is_known_key(self, asked: Asked) -> bool:
        return (asked.path, asked.header("idempotency-key")) in self._granted_keys

    def _remember_key(self, asked: Asked, answer: Answer) -> None:
        key = asked.header("idempotency-key")
        if key and answer.status == OK and self.personality.honours_keys:
            self._granted_keys.add((asked.path, key))

    def _repeated(self, asked: Asked, answer: Answer) -> Answer:
        """Answer a repeat, whose effect is there, as this network does."""
        status = {
            CLAIM: self.personality.claim_repeat,
            SUBMIT: self.personality.submit_repeat,
            COMPLETE: self.personality.complete_repeat,
        }[asked.path]
        return answer if status == OK else _refusal(status, "repeated", {})

    def _released(self, answer: Answer) -> Answer:
        content = json.loads(answer.body)
        now = self._seconds()
        content["tasks"] = [
            task for task in content["tasks"] if self.releases.get(task["id"], 0) <= now
        ]
        return replace(answer, body=json.dumps(content).encode(), headers=_JSON)

    def _clothed(
        self,
        asked: Asked,
        answer: Answer,
        before: dict[str, Any] | None,
    ) -> Answer:
        kind = self.personality.error_body
        if answer.status >= FIRST_ERROR and kind is not ErrorBody.JSON:
            answer = replace(answer, headers=(), body=_UNREADABLE[kind])
        elif answer.status >= FIRST_ERROR and self.personality.shows_claimant:
            holder = before["claimant"] if before and asked.path == CLAIM else None
            content = json.loads(answer.body) | ({"claimant": holder} if holder else {})
            answer = replace(answer, headers=_JSON, body=json.dumps(content).encode())
        if self.personality.has_bom and answer.body:
            answer = replace(answer, body=BOM + answer.body)
        return replace(
            answer,
            headers=tuple(h for h in answer.headers if h[0] != b"content-length"),
        )


_JSON = ((b"content-type", b"application/json"),)
_UNREADABLE = {
    ErrorBody.TEXT: b"no",
    ErrorBody.HTML: b"<html><body><h1>No</h1></body></html>",
    ErrorBody.EMPTY: b"",
}
_DONE_BEFORE = {
    CLAIM: ("claimed", "submitted", "completed"),
    SUBMIT: ("submitted", "completed"),
    COMPLETE: ("completed",),
}


def _is_repeat(asked: Asked, before: dict[str, Any]) -> bool:
    """Tell whether what is asked for was done before, for the same agent."""
    done = before["status"] in _DONE_BEFORE.get(asked.path, ())
    return done and before["claimant"] == asked.agent_id


def _refusal(status: int, error: str, more: dict[str, Any]) -> Answer:
    content = {"ok": False, "error": error, "message": error.replace("_", " "), **more}
    return Answer(status=status, headers=_JSON, body=json.dumps(content).encode())


@cache
def _application() -> FastAPI:
    """Build the routes, which is slow, once; the data is put under them each time."""
    return create_app(SandboxOptions(tasks=0))


def _drive(state: State, asked: Asked) -> Answer:
    """Run the application for one request, from its beginning to its end.

    Raises:
        NotInstantError: it waited for something.
    """
    app = _application()
    app.state.sandbox = state
    sent: list[Message] = []
    call: Coroutine[Any, Any, None] = _call(app, asked, sent)
    try:
        call.send(None)
    except StopIteration:
        pass
    else:
        call.close()
        raise NotInstantError(f"the sandbox waited while it answered {asked.path}")
    start, *parts = sent
    return Answer(
        status=int(start["status"]),
        headers=tuple(start["headers"]),
        body=b"".join(part.get("body", b"") for part in parts),
    )


async def _call(app: FastAPI, asked: Asked, sent: list[Message]) -> None:
    async def receive() -> Message:
        return {"type": "http.request", "body": asked.body, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await app(_scope(asked), receive, send)


def _scope(asked: Asked) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": asked.method,
        "headers": list(asked.headers),
        "scheme": "http",
        "path": asked.path,
        "raw_path": asked.path.encode(),
        "query_string": asked.query,
        "server": ("network.invalid", 80),
        "client": ("192.0.2.1", 1),
        "root_path": "",
    }
