"""The sandbox, answering at once, in memory, in the manner of a personality.

Each request is driven to its end in one step, without the event loop: so it happens
at one moment, also when whoever asked is dead by then. Everything that was asked is
kept, since what is claimed about the daemon is checked against it.
"""

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, MutableMapping
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any, TypeAlias

import anyio
import httpx2 as httpx
from fastapi import FastAPI
from tests.simulation.behaviour import ErrorBody, NetworkBehaviour, Rejoin, TimeLimits
from tests.simulation.errors import NotInstantError
from tests.simulation.load import PLAIN, Load, crowd, odd_rows, post_hostile
from tests.simulation.loop import SimulatedSandboxEnvironment

from journeyman.sandbox import SandboxOptions, agents, create_app, task_generator
from journeyman.sandbox.competitors import Competitor
from journeyman.sandbox.errors import Refusal
from journeyman.sandbox.store import State, open_state

BOM = b"\xef\xbb\xbf"
OK, CONFLICT, UNPROCESSABLE = 200, 409, 422
FIRST_ERROR = 400
FUNCTIONS = "/functions/v1/"
REGISTER = f"{FUNCTIONS}create-free-agent-public"
CHECKOUT = f"{FUNCTIONS}create-checkout"
LISTING = f"{FUNCTIONS}get-marketplace-tasks"
CLAIM = f"{FUNCTIONS}claim-task-public"
SUBMIT = f"{FUNCTIONS}submit-task-result-public"
COMPLETE = f"{FUNCTIONS}complete-task-public"
POST = f"{FUNCTIONS}write-post-task-public"
TASK_PLACES = ("task_id", "taskId", "task.id", "id", "task")
AGENT_PLACES = ("agent_id", "agentId", "agent.id")
RESULT_PLACES = ("result", "submission.result", "output", "answer")
"""Where the daemon may put a value, since the contract does not show the bodies."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A request as it arrives."""

    method: str
    path: str
    query: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    """Names in lower case."""
    body: bytes = b""
    is_late: bool = False
    """It arrives long after whoever sent it has given up."""

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
        return str(_first_at(self.fields, TASK_PLACES) or "")

    @property
    def subject(self) -> str:
        """What a repeat of it has in common with it; empty for a look at the market."""
        return self.task_id or self.header("idempotency-key")

    @property
    def agent_id(self) -> str:
        """Whom it says it is from; empty where it does not say."""
        return str(_first_at(self.fields, AGENT_PLACES) or "")

    @property
    def result(self) -> Any:  # noqa: ANN401 - a JSON value
        """The result that it hands in."""
        return _first_at(self.fields, RESULT_PLACES)


def _first_at(fields: dict[str, Any], places: tuple[str, ...]) -> Any:  # noqa: ANN401 - a JSON value
    for place in places:
        value: Any = fields
        for name in place.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        if value is not None and not (isinstance(value, dict) and place == "task"):
            return value
    return None


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


JSON_TYPE = ((b"content-type", b"application/json"),)


def refusal(status: int, error: str) -> Answer:
    """Refuse in the manner of the sandbox."""
    content = {"ok": False, "error": error, "message": error.replace("_", " ")}
    return Answer(status=status, headers=JSON_TYPE, body=json.dumps(content).encode())


Message: TypeAlias = MutableMapping[str, Any]


@cache
def _application() -> FastAPI:
    """Build the routes, which is slow, once; the data is put under them each time."""
    return create_app(SandboxOptions(tasks=0))


def drive(state: State, asked: Asked) -> Answer:
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


class SimulatedNetwork:
    """The other side of the wire."""

    def __init__(
        self,
        *,
        options: SandboxOptions,
        personality: NetworkBehaviour,
        seconds: Callable[[], float],
        load: Load = PLAIN,
    ) -> None:
        """Stock a market in memory; `seconds` tells its own time."""
        self.personality = personality
        self.handled: list[Handled] = []
        self._seconds = seconds
        self._load = load
        self._crowds = list(load.crowds)
        self.crowds_shown = 0
        self._state = open_state(
            options, SimulatedSandboxEnvironment(seconds, options.seed)
        )
        self._db = self._state.db
        task_generator.create_first_tasks(self._state)
        post_hostile(self._state, load, options.kinds[0])
        self._releases: dict[str, float] = {}
        self.limits = TimeLimits(
            self._state,
            personality,
            seconds,
            lambda task: self._releases.get(task, 0.0),
        )
        self._listed: tuple[object, Answer] | None = None
        self._first_registration: Answer | None = None
        self._granted: list[Handled] = []
        self._granted_keys: set[tuple[str, str]] = set()

    def release(self, task_id: str, at: float) -> None:
        """Let a listing show a task only from then on, in simulated seconds."""
        self._releases[task_id] = at

    def close(self) -> None:
        """Forget everything."""
        self._db.close()

    def handle(self, asked: Asked) -> Answer:
        """Process a request and keep that it was."""
        self.limits.enforce()
        known = self._is_known_key(asked)
        before = self.task(asked.task_id)
        repeat = before is not None and _is_repeat(asked, before)
        answer = self._answered(asked)
        # A body that this network does not understand is no repeat to it.
        if repeat and not known and answer.status != UNPROCESSABLE:
            answer = self._repeated(asked, answer)
        if asked.path == CLAIM and answer.status == OK:
            answer = self._leased(asked, answer)
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
        query = "SELECT task_id FROM tasks WHERE series_number IS NOT NULL ORDER BY sequence"
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

    def knows(self, token: str) -> bool:
        """Tell whether a token belongs to an agent."""
        try:
            agents.authenticate(self._state, token)
        except Refusal:
            return False
        return True

    def balance(self, agent_id: str) -> int:
        """Give an agent's credits."""
        query = "SELECT balance FROM accounts WHERE account = ?"
        return int(self._db.execute(query, (agent_id,)).fetchone()["balance"])

    def add_competitor(self, number: int) -> Competitor:
        """Let another agent take part; it acts when its `step` is called."""
        slug, agent_id = f"competitor-{number:02d}", f"agent_competitor_{number:02d}"
        profile = agents.Profile(agent_id, slug, slug, "competitor")
        with self._state.transaction():
            agents.add(self._state, profile)
        return Competitor(self._state, number)

    def _answered(self, asked: Asked) -> Answer:
        if asked.path == LISTING:
            return self._listing(asked)
        if asked.path == CLAIM and self.limits.is_too_late(asked.task_id):
            return refusal(CONFLICT, "expired")
        first = self._first_registration
        keyed = self.personality.honours_keys and asked.header("idempotency-key")
        if asked.path == REGISTER and first is not None and not keyed:
            if self.personality.rejoin is Rejoin.SAME:
                return first
            if self.personality.rejoin is Rejoin.CONFLICT:
                return refusal(CONFLICT, "already_registered")
        answer = drive(self._state, self._without_key(asked))
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
        return answer if status == OK else refusal(status, "repeated")

    # -- the market --------------------------------------------------------------

    def _listing(self, asked: Asked) -> Answer:
        """Answer a look at the market.

        A look changes nothing, and the sandbox's answer to it depends on its tables
        alone. So while they are as they were, the answer is the last one, and is not
        made again: most looks find nothing new (docs/decisions/0024).
        """
        released = sum(at <= self._seconds() for at in self._releases.values())
        authorization = asked.header("authorization")
        seen = self._db.total_changes, released, asked.query, authorization
        if self._listed is None or self._listed[0] != seen:
            answer = drive(self._state, asked)
            shown = self._released(answer) if answer.status == OK else answer
            self._listed = seen, shown
        if self._crowds and self._crowds[0] <= self._seconds():
            return self._crowded(self._listed[1])
        return self._listed[1]

    def _released(self, answer: Answer) -> Answer:
        content, now = json.loads(answer.body), self._seconds()
        rows = [
            {**row, **self.limits.shown("deadline", self.limits.deadline(row["id"]))}
            for row in content["tasks"]
            if self._releases.get(row["id"], 0.0) <= now
        ]
        return _rewritten(answer, {**content, "tasks": odd_rows(self._load, rows)})

    def _crowded(self, answer: Answer) -> Answer:
        """Add so many rows that they are more than anybody asked for, once."""
        if answer.status != OK:
            return answer
        content = json.loads(answer.body)
        self._crowds.pop(0)
        self.crowds_shown += 1
        return _rewritten(answer, {**content, "tasks": content["tasks"] + crowd()})

    def _leased(self, asked: Asked, answer: Answer) -> Answer:
        """Note a claim that was granted, and show until when it holds."""
        task = self.task(asked.task_id)
        if task is None or task["claimant"] != asked.agent_id:
            return answer  # The answer of a claim that is over, given again to its key.
        self.limits.claimed(asked.task_id, asked.agent_id)
        until = self.limits.until(asked.task_id)
        shown = self.limits.shown("lease_expires_at", until)
        return _rewritten(answer, {**json.loads(answer.body), **shown})

    # -- the manner of answering ---------------------------------------------------

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
            more = {"claimant": holder} if holder else {}
            answer = _rewritten(answer, {**json.loads(answer.body), **more})
        if self.personality.has_bom and answer.body:
            answer = replace(answer, body=BOM + answer.body)
        return replace(
            answer,
            headers=tuple(h for h in answer.headers if h[0] != b"content-length"),
        )


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
    return done and asked.agent_id in ("", before["claimant"])


def _rewritten(answer: Answer, content: dict[str, Any]) -> Answer:
    return replace(answer, headers=JSON_TYPE, body=json.dumps(content).encode())


Chunk = tuple[float, bytes]
"""Seconds that a piece of a body is waited for, and the piece."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wire:
    """A request between the daemon and the network."""

    request: httpx.Request
    asked: Asked
    random: Random
    handle: Callable[[Asked], Answer]
    """Lets the network process it, now."""
    call_later: Callable[[float, Callable[[], object]], None]
    """Lets something happen in so many seconds, whether the daemon lives or not."""
    on_bytes: Callable[[int], None]
    """Is told of each piece of the body that the daemon has read, by its length."""
    on_close: Callable[[], None]
    """Is told that the daemon is done with the answer."""

    def serve(self) -> Answer:
        """Let the network process the request, now."""
        return self.handle(self.asked)

    def serve_late(self) -> Answer:
        """Let the network process it when nobody waits for its answer any more."""
        return self.handle(replace(self.asked, is_late=True))

    async def travel(self) -> None:
        """Take the time that a good network takes, one way."""
        await anyio.sleep(self.random.uniform(0.005, 0.1))

    async def time_out(self, kind: str) -> None:
        """Wait as long as the client has the patience for this kind of step.

        `kind` is httpx's: connect, read, write or pool.
        """
        limits = self.request.extensions.get("timeout", {})
        await anyio.sleep(limits.get(kind) or 0.0)

    def response(
        self,
        answer: Answer,
        chunks: list[Chunk] | None = None,
        *,
        breaks: bool = False,
    ) -> httpx.Response:
        """Make the client's side of an answer.

        Its body may come in pieces; it `breaks` if the connection ends after them.
        """
        pieces = [(0.0, answer.body)] if chunks is None else chunks
        return httpx.Response(
            answer.status,
            headers=list(answer.headers),
            stream=_Body(pieces, self, breaks=breaks),
        )


class _Body(httpx.AsyncByteStream):
    """A body that arrives over time, under the client's read time-out."""

    def __init__(self, chunks: list[Chunk], wire: Wire, *, breaks: bool) -> None:
        self._chunks = chunks
        self._wire = wire
        self._breaks = breaks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        patience = self._wire.request.extensions.get("timeout", {}).get("read")
        for seconds, piece in self._chunks:
            if patience is not None and seconds > patience:
                await anyio.sleep(patience)
                raise httpx.ReadTimeout("no byte in time", request=self._wire.request)
            if seconds:
                await anyio.sleep(seconds)
            self._wire.on_bytes(len(piece))
            yield piece
        if self._breaks:
            message = "peer closed connection without sending complete message body"
            raise httpx.RemoteProtocolError(message, request=self._wire.request)

    async def aclose(self) -> None:
        self._wire.on_close()
