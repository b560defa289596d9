"""The simulated network: the sandbox in memory, with a behaviour of its own.

Each request is processed in one step, without the event loop: so it happens at one
moment, even if the daemon is killed meanwhile. All requests are kept, since the daemon
is checked against them.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, MutableMapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from fastapi import FastAPI
from tests.simulation.behaviour import ErrorBody, NetworkBehaviour, Rejoin
from tests.simulation.market import (
    PLAIN_MARKET,
    MarketShape,
    crowd,
    listed_rows,
    post_hostile,
)
from tests.simulation.virtual_time import START, SimulatedSandboxEnvironment

from journeyman.sandbox import (
    SandboxOptions,
    agents,
    checkouts,
    create_app,
    task_generator,
)
from journeyman.sandbox.competitors import Competitor
from journeyman.sandbox.errors import RefusalError
from journeyman.sandbox.store import State, open_state

_MARK = re.compile("-[0-9a-f]{8}$")
BOM = b"\xef\xbb\xbf"
OK, ACCEPTED = 200, 202
ABSENT, CONFLICT, UNPROCESSABLE = 404, 409, 422
FIRST_ERROR = 400
FUNCTIONS = "/functions/v1/"
REGISTER = f"{FUNCTIONS}create-free-agent-public"
CHECKOUT = f"{FUNCTIONS}create-checkout"
LISTING = f"{FUNCTIONS}get-marketplace-tasks"
PUBLIC_LISTING = f"{FUNCTIONS}public-marketplace"
CLAIM = f"{FUNCTIONS}claim-task-public"
SUBMIT = f"{FUNCTIONS}submit-task-result-public"
COMPLETE = f"{FUNCTIONS}complete-task-public"
POST = f"{FUNCTIONS}write-post-task-public"
ACTIONS = frozenset({CLAIM, SUBMIT, COMPLETE, POST})
TASK_PLACES = ("task_id", "taskId", "task.id", "task_id.id", "taskId.id", "id", "task")
AGENT_PLACES = ("agent_id", "agentId", "agent.id")
RESULT_PLACES = ("result", "submission.result", "output", "answer")
"""Where the daemon may put a value, since the contract does not show the bodies: also
within an object of any name, since a refusal may mention that name."""
WORK = frozenset({*RESULT_PLACES, "evidence"})
"""What a strategy writes stands there, and not the daemon's values."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkRequest:
    """A request as it arrives."""

    method: str
    path: str
    query: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    """Names in lower case."""
    body: bytes = b""
    is_late: bool = False
    """It arrives long after its sender has given up."""

    def header(self, name: str) -> str:
        """Return a header; empty where it is not there."""
        wanted = name.encode()
        return next((v.decode() for n, v in self.headers if n == wanted), "")

    @property
    def fields(self) -> dict[str, Any]:
        """The JSON object in the body, or the only one in it; empty without any."""
        value = json.loads(self.body) if self.body else {}
        value = value if isinstance(value, dict) else {}
        inner = next(iter(value.values())) if len(value) == 1 else None
        return inner if isinstance(inner, dict) and not WORK & {*value} else value

    @property
    def task_id(self) -> str:
        """The task that it is about; empty if none."""
        return _text(_first_at(self.fields, TASK_PLACES))

    @property
    def subject(self) -> str:
        """What a repeat of it has in common with it; empty for a listing."""
        return self.task_id or self.header("idempotency-key")

    @property
    def agent_id(self) -> str:
        """The agent that it names; empty if none."""
        return _text(_first_at(self.fields, AGENT_PLACES))

    @property
    def result(self) -> Any:  # noqa: ANN401 - a JSON value
        """The result that it submits."""
        return _first_at(self.fields, RESULT_PLACES)


def _text(value: Any) -> str:  # noqa: ANN401 - a JSON value
    return "" if value is None else str(value)


def _first_at(fields: dict[str, Any], places: tuple[str, ...]) -> Any:  # noqa: ANN401 - a JSON value
    wrapped = (fields[name] for name in fields if name not in WORK)
    for layer in (fields, *wrapped):
        for place in places:
            value: Any = layer
            for name in place.split("."):
                value = value.get(name) if isinstance(value, dict) else None
            is_around = isinstance(value, dict) and place not in RESULT_PLACES
            if value is not None and not is_around:
                return value
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkResponse:
    """What goes back."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...] = ()
    body: bytes = b""


@dataclass(frozen=True, kw_only=True, slots=True)
class HandledRequest:
    """A request that the network has processed."""

    at: float
    """In simulated seconds."""
    request: NetworkRequest
    answer: NetworkResponse
    was_repeat: bool
    """It had been processed before."""


JSON_TYPE = ((b"content-type", b"application/json"),)


def refusal(status: int, error: str) -> NetworkResponse:
    """Refuse as the sandbox does."""
    content = {"ok": False, "error": error, "message": error.replace("_", " ")}
    return NetworkResponse(
        status=status, headers=JSON_TYPE, body=json.dumps(content).encode()
    )


Message: TypeAlias = MutableMapping[str, Any]


@cache
def _application(options: SandboxOptions) -> FastAPI:
    """Build the routes, which is slow, once; the data is put under them each time."""
    return create_app(options)


class NotInstantError(RuntimeError):
    """The network in memory waited for something; it must answer in one step."""


def drive(state: State, request: NetworkRequest) -> NetworkResponse:
    """Run the application for one request, from its beginning to its end.

    Raises:
        NotInstantError: it waited for something.
    """
    # What decides about data is no part of the routes.
    app = _application(state.options.model_copy(update={"tasks": 0, "seed": 1}))
    app.state.sandbox = state
    sent: list[Message] = []
    call: Coroutine[Any, Any, None] = _call(app, request, sent)
    try:
        call.send(None)
    except StopIteration:
        pass
    else:
        call.close()
        raise NotInstantError(f"the sandbox waited while it answered {request.path}")
    start, *parts = sent
    return NetworkResponse(
        status=int(start["status"]),
        headers=tuple(start["headers"]),
        body=b"".join(part.get("body", b"") for part in parts),
    )


async def _call(app: FastAPI, request: NetworkRequest, sent: list[Message]) -> None:
    async def receive() -> Message:
        return {"type": "http.request", "body": request.body, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await app(_scope(request), receive, send)


def _scope(request: NetworkRequest) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "headers": list(request.headers),
        "scheme": "http",
        "path": request.path,
        "raw_path": request.path.encode(),
        "query_string": request.query,
        "server": ("network.invalid", 80),
        "client": ("192.0.2.1", 1),
        "root_path": "",
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpiredClaim:
    """A claim that was taken back."""

    task_id: str
    agent_id: str
    at: float
    """In simulated seconds."""


class TimeLimits:
    """The leases and deadlines of claims; it takes back those that have ended."""

    def __init__(
        self,
        state: State,
        behaviour: NetworkBehaviour,
        seconds: Callable[[], float],
        released_at: Callable[[str], float],
    ) -> None:
        """`released_at` returns when a task was first listed."""
        self._db = state.db
        self._lease = behaviour.lease_seconds
        self._deadline = behaviour.deadline_seconds
        self._shown = behaviour.shows_limits
        self._seconds = seconds
        self._released_at = released_at
        self._until: dict[str, tuple[str, float]] = {}
        self.expired: list[ExpiredClaim] = []
        self.counts: Counter[str] = Counter()
        """How often a lease ended, a deadline passed, a late claim was refused."""

    @property
    def exist(self) -> bool:
        """Whether this network has any limit at all."""
        return self._lease is not None or self._deadline is not None

    def claimed(self, task_id: str, agent_id: str) -> None:
        """Note a claim that was granted, unless it only repeats one."""
        until = self.until(task_id)
        if until is not None:
            self._until[task_id] = agent_id, until

    def until(self, task_id: str) -> float | None:
        """Return when a claim that is made now ends, or one that was made."""
        if task_id in self._until:
            return self._until[task_id][1]
        ends = [self.deadline(task_id)]
        ends += [] if self._lease is None else [self._seconds() + self._lease]
        return min((end for end in ends if end is not None), default=None)

    def deadline(self, task_id: str) -> float | None:
        """Return until when a task can be submitted; None if at any time."""
        if self._deadline is None:
            return None
        return self._released_at(task_id) + self._deadline

    def is_too_late(self, task_id: str) -> bool:
        """Return whether a task may no longer be claimed."""
        deadline = self.deadline(task_id)
        is_late = deadline is not None and deadline <= self._seconds()
        self.counts["late claim"] += is_late
        return is_late

    def shown(self, name: str, at: float | None) -> dict[str, Any]:
        """Return a field that shows a time, if this network shows its limits."""
        if at is None or not self._shown:
            return {}
        return {name: moment(at)}

    def enforce(self) -> None:
        """Take back every claim whose time is over, unless its result came in time."""
        now = self._seconds()
        over = [task for task, (_, until) in self._until.items() if until <= now]
        for task_id in over:
            agent_id, until = self._until.pop(task_id)
            taken = self._db.execute(
                "UPDATE tasks SET status = 'open', claimant = NULL "
                "WHERE task_id = ? AND status = 'claimed' AND claimant = ?",
                (task_id, agent_id),
            )
            if taken.rowcount:
                deadline = self.deadline(task_id)
                is_deadline = deadline is not None and until >= deadline
                self.counts["deadline passed" if is_deadline else "lease ended"] += 1
                self.expired.append(
                    ExpiredClaim(task_id=task_id, agent_id=agent_id, at=until)
                )


class Move(NamedTuple):
    """Credits that an agent got, or lost, in the network's own books."""

    reason: str
    reference: str
    """The task or the checkout that it is about."""
    amount: int


def moment(seconds: float) -> str:
    """Write a moment of the network's time as the sandbox does, to the millisecond."""
    at = datetime.fromtimestamp(START.timestamp() + seconds, UTC)
    return at.isoformat(timespec="milliseconds")


class SimulatedNetwork:
    """The network that a run is against."""

    def __init__(
        self,
        *,
        options: SandboxOptions,
        behaviour: NetworkBehaviour,
        seconds: Callable[[], float],
        market_shape: MarketShape = PLAIN_MARKET,
    ) -> None:
        """Create a sandbox in memory; `seconds` returns the network's own time."""
        self.behaviour = behaviour
        self.handled: list[HandledRequest] = []
        self._seconds = seconds
        self._load = market_shape
        self._crowds = list(market_shape.crowds)
        self.crowds_shown = 0
        self._state = open_state(
            options, SimulatedSandboxEnvironment(seconds, options.seed)
        )
        self._db = self._state.db
        task_generator.create_first_tasks(self._state)
        post_hostile(self._state, market_shape, options.kinds[0])
        self._releases: dict[str, float] = {}
        self.limits = TimeLimits(
            self._state,
            behaviour,
            seconds,
            lambda task: self._releases.get(task, 0.0),
        )
        self._listed: dict[object, NetworkResponse] = {}
        self._listed_at: object = None
        self._first_registration: NetworkResponse | None = None
        self._granted: list[HandledRequest] = []
        self._granted_keys: set[tuple[str, str]] = set()

    def release(self, task_id: str, at: float) -> None:
        """List a task only from a time on, in simulated seconds."""
        self._releases[task_id] = at

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def handle(self, request: NetworkRequest) -> NetworkResponse:
        """Process a request, and keep it."""
        self.limits.enforce()
        known = self._is_known_key(request)
        before = self.task(request.task_id)
        repeat = before is not None and _is_repeat(request, before)
        answer = self._answer_from_sandbox(request)
        # What this network does not understand, or does not have, is not a repeat.
        is_taken = answer.status not in (ABSENT, UNPROCESSABLE)
        if repeat and not known and is_taken:
            answer = self._repeated(request, answer)
        if request.path == CLAIM and answer.status == OK:
            answer = self._leased(request, answer)
        self._remember_key(request, answer)
        answer = self._styled(request, answer, before)
        handled = HandledRequest(
            at=self._seconds(),
            request=request,
            answer=answer,
            was_repeat=repeat or known,
        )
        self.handled.append(handled)
        if request.path in (POST, CHECKOUT) and answer.status == OK:
            self._granted.append(handled)
        return answer

    def task(self, task_id: str) -> dict[str, Any] | None:
        """Return a task as the network has it."""
        query = "SELECT * FROM tasks WHERE task_id = ?"
        row = self._db.execute(query, (task_id,)).fetchone() if task_id else None
        return dict(row) if row else None

    def tasks_of(self, agent_id: str) -> list[dict[str, Any]]:
        """Return the tasks that an agent has claimed or completed, in order."""
        query = "SELECT * FROM tasks WHERE claimant = ? ORDER BY sequence"
        return [dict(row) for row in self._db.execute(query, (agent_id,))]

    def generated_tasks(self) -> list[str]:
        """Return the ids of all tasks that the sandbox has generated, in order."""
        query = (
            "SELECT task_id FROM tasks WHERE series_number IS NOT NULL "
            "ORDER BY sequence"
        )
        return [str(row["task_id"]) for row in self._db.execute(query)]

    def members(self) -> list[str]:
        """Return the ids of all agents that joined by registration, oldest first."""
        query = (
            "SELECT agent_id FROM agents WHERE role = 'member' "
            "ORDER BY joined_at, agent_id"
        )
        return [str(row["agent_id"]) for row in self._db.execute(query)]

    def grants(self) -> Counter[tuple[str, str]]:
        """Return how often each spend was done, by its path and key."""
        return Counter(
            (one.request.path, one.request.header("idempotency-key"))
            for one in self._spends()
        )

    def charged(self, agent_id: str) -> int:
        """Return the credits that an agent spent on posts, each key counted once."""
        posts = {
            one.request.header("idempotency-key"): int(one.request.fields["reward"])
            for one in self._spends()
            if one.request.path == POST and one.request.agent_id == agent_id
        }
        return sum(posts.values())

    def _spends(self) -> Iterator[HandledRequest]:
        """Return the requests that have moved money, or opened a checkout."""
        return (one for one in self._granted if not one.was_repeat)

    def knows(self, token: str) -> bool:
        """Return whether a token belongs to an agent."""
        try:
            agents.authenticate(self._state, token)
        except RefusalError:
            return False
        return True

    def balance(self, agent_id: str) -> int:
        """Return an agent's credits."""
        query = "SELECT balance FROM accounts WHERE account = ?"
        return int(self._db.execute(query, (agent_id,)).fetchone()["balance"])

    def open_checkouts(self) -> list[str]:
        """Return the payment pages on which nobody has clicked, oldest first."""
        query = (
            "SELECT session FROM checkouts WHERE status = 'open' "
            "ORDER BY created_at, session"
        )
        return [row["session"] for row in self._db.execute(query)]

    def pay(self, session: str) -> bool:
        """Click on a payment page; return whether it could still be paid."""
        with self._state.transaction():
            return checkouts.pay(self._state, session)

    def moves(self, agent_id: str) -> list[Move]:
        """Return all that was ever added to an agent's credits, or taken from them."""
        rows = self._db.execute(
            "SELECT reason, reference, amount, target FROM entries "
            "WHERE source = ?1 OR target = ?1 ORDER BY entry_id",
            (agent_id,),
        )
        return [
            Move(
                row["reason"],
                row["reference"],
                row["amount"] if row["target"] == agent_id else -row["amount"],
            )
            for row in rows
        ]

    def keys(self) -> dict[str, str]:
        """Return the key of the request that made each post and each checkout."""
        made: dict[str, str] = {}
        for one in self._granted:
            answer = json.loads(one.answer.body)
            reference = answer.get("task_id") or answer.get("sessionId")
            key = one.request.header("idempotency-key")
            made.setdefault(reference, key.partition("-")[0])
        return made

    def keys_sent(self) -> frozenset[str]:
        """Return the key of every request that has arrived, and its path.

        The mark of another shape than the usual one is left out.
        """
        requests = [one.request for one in self.handled]
        keys = [request.header("idempotency-key") for request in requests]
        plain = [_MARK.sub("", key) for key in keys]
        return frozenset([*keys, *plain, *(request.path for request in requests)])

    def add_competitor(self, number: int) -> Competitor:
        """Add a competitor, which acts when its `step` is called."""
        slug, agent_id = f"competitor-{number:02d}", f"agent_competitor_{number:02d}"
        profile = agents.Profile(agent_id, slug, slug, "competitor")
        with self._state.transaction():
            agents.add(self._state, profile)
        return Competitor(self._state, number)

    def _answer_from_sandbox(self, request: NetworkRequest) -> NetworkResponse:
        if request.path in (LISTING, PUBLIC_LISTING):
            return self._listing(request)
        if request.path == CLAIM and self.limits.is_too_late(request.task_id):
            return refusal(CONFLICT, "expired")
        first = self._first_registration
        keyed = self.behaviour.honours_keys and request.header("idempotency-key")
        if request.path == REGISTER and first is not None and not keyed:
            if self.behaviour.rejoin is Rejoin.SAME:
                return first
            if self.behaviour.rejoin is Rejoin.CONFLICT:
                return refusal(CONFLICT, "already_registered")
        answer = drive(self._state, self._without_key(request))
        if request.path == REGISTER and first is None and answer.status == OK:
            self._first_registration = answer
        return answer

    def _without_key(self, request: NetworkRequest) -> NetworkRequest:
        if self.behaviour.honours_keys:
            return request
        kept = tuple(pair for pair in request.headers if pair[0] != b"idempotency-key")
        return replace(request, headers=kept)

    def _is_known_key(self, request: NetworkRequest) -> bool:
        return (request.path, request.header("idempotency-key")) in self._granted_keys

    def _remember_key(self, request: NetworkRequest, answer: NetworkResponse) -> None:
        key = request.header("idempotency-key")
        if key and answer.status == OK and self.behaviour.honours_keys:
            self._granted_keys.add((request.path, key))

    def _repeated(
        self, request: NetworkRequest, answer: NetworkResponse
    ) -> NetworkResponse:
        """Answer a repeat of a processed request as this network does."""
        status = {
            CLAIM: self.behaviour.claim_repeat,
            SUBMIT: self.behaviour.submit_repeat,
            COMPLETE: self.behaviour.complete_repeat,
        }[request.path]
        return answer if status == OK else refusal(status, "repeated")

    # -- the market --------------------------------------------------------------

    def _listing(self, request: NetworkRequest) -> NetworkResponse:
        """Answer a listing.

        A listing changes nothing, and its answer depends only on the tables. So while
        they do not change, an answer is used again: most listings find nothing
        new (docs/decisions/0024).
        """
        now = self._seconds()
        released = sum(at <= now for at in self._releases.values())
        asked = request.path, request.query, request.header("authorization")
        if self._listed_at != (self._db.total_changes, released):
            self._listed_at = self._db.total_changes, released
            self._listed.clear()
        if asked not in self._listed:
            answer = drive(self._state, request)
            shown = self._released(answer) if answer.status == OK else answer
            self._listed[asked] = shown
        if self._crowds and self._crowds[0] <= now:
            return self._crowded(self._listed[asked])
        return self._listed[asked]

    def _released(self, answer: NetworkResponse) -> NetworkResponse:
        content, now = json.loads(answer.body), self._seconds()
        rows = [
            {**row, **self.limits.shown("deadline", self.limits.deadline(task_id))}
            for row in content["tasks"]
            if self._releases.get(task_id := str(row["id"]), 0.0) <= now
        ]
        return _rewritten(answer, {**content, "tasks": listed_rows(self._load, rows)})

    def _crowded(self, answer: NetworkResponse) -> NetworkResponse:
        """Add so many rows that they are more than anybody asked for, once."""
        if answer.status != OK:
            return answer
        content = json.loads(answer.body)
        self._crowds.pop(0)
        self.crowds_shown += 1
        return _rewritten(answer, {**content, "tasks": content["tasks"] + crowd()})

    def _leased(
        self, request: NetworkRequest, answer: NetworkResponse
    ) -> NetworkResponse:
        """Note a claim that was granted, and show until when it holds."""
        task = self.task(request.task_id)
        if task is None or task["claimant"] != request.agent_id:
            return answer  # The answer of a claim that is over, given again to its key.
        self.limits.claimed(request.task_id, request.agent_id)
        until = self.limits.until(request.task_id)
        shown = self.limits.shown("lease_expires_at", until)
        return _rewritten(answer, {**json.loads(answer.body), **shown})

    # -- the form of answers ---------------------------------------------------

    def _styled(
        self,
        request: NetworkRequest,
        answer: NetworkResponse,
        before: dict[str, Any] | None,
    ) -> NetworkResponse:
        kind = self.behaviour.error_body
        if answer.status >= FIRST_ERROR and kind is not ErrorBody.JSON:
            answer = replace(answer, headers=(), body=_UNREADABLE[kind])
        elif answer.status >= FIRST_ERROR and self.behaviour.shows_claimant:
            holder = before["claimant"] if before and request.path == CLAIM else None
            more = {"claimant": holder} if holder else {}
            answer = _rewritten(answer, {**json.loads(answer.body), **more})
        if self.behaviour.echoes_token and request.path in ACTIONS:
            answer = _echoing(request, answer)
        if self.behaviour.has_bom and answer.body:
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


def _is_repeat(request: NetworkRequest, before: dict[str, Any]) -> bool:
    """Return whether the same agent's request has been processed before."""
    done = before["status"] in _DONE_BEFORE.get(request.path, ())
    return done and request.agent_id in ("", before["claimant"])


def _echoing(request: NetworkRequest, answer: NetworkResponse) -> NetworkResponse:
    """Repeat the token of a request, as a debug mode that was left on does."""
    token = request.header("authorization").removeprefix("Bearer ")
    if not (token and answer.body.startswith(b"{")):
        return answer
    content = json.loads(answer.body)
    said = f"{content.get('message', 'ok')} (you are {token})"
    return _rewritten(answer, {**content, "message": said, "you_sent": token})


def _rewritten(answer: NetworkResponse, content: dict[str, Any]) -> NetworkResponse:
    return replace(answer, headers=JSON_TYPE, body=json.dumps(content).encode())
