"""The client: one method for each endpoint of the contract, and the documents."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from types import MappingProxyType, TracebackType
from typing import Self, TypeVar

from journeyman.domain import tasks
from journeyman.domain.clock import Clock
from journeyman.domain.outcomes import Confirmed, Outcome, Refusal, Refused
from journeyman.network import answers, endpoints, http
from journeyman.network.classify import Expects, is_success
from journeyman.network.dialect import ASSUMED, Dialect
from journeyman.network.documents import checked_path, is_json_path, read_document
from journeyman.network.endpoints import Endpoint, checked_address, same_network
from journeyman.network.events import NETWORK_RECORDS_UNREADABLE
from journeyman.network.exchange import Call, Exchange
from journeyman.network.negotiation import Negotiation, Sent, Writing
from journeyman.network.observation import Observe
from journeyman.network.rate_limit.limiter import RateLimiter
from journeyman.network.shapes import ActionShape
from journeyman.observability.events import Log

T = TypeVar("T")

_DEFAULT_LIMITS = http.HttpLimits()


class NetworkClient:
    """Speaks with one network. Use it as an async context manager.

    No method raises for what a network does: that is in the `Outcome`. A body of our
    own that JSON cannot say raises ValueError or TypeError, before anything is sent.
    """

    def __init__(  # noqa: PLR0913  # what takes part in a call, each by its name
        self,
        *,
        base_url: str,
        portal_url: str | None = None,
        log: Log,
        clock: Clock,
        dialect: Dialect = ASSUMED,
        limits: http.HttpLimits = _DEFAULT_LIMITS,
        transport: http.Transport | None = None,
        observe: Observe | None = None,
        rate_limiter: RateLimiter | None = None,
        negotiation: Negotiation | None = None,
    ) -> None:
        """Check the addresses; `portal_url` None means the same as `base_url`.

        `observe` is shown each call that has ended; `rate_limiter` may pause calls;
        `negotiation` shapes the actions, None as the ready dialects have them.

        Raises:
            ConfigurationError: an address cannot be used.
        """
        self._base_url = checked_address(base_url, "network.base_url")
        self._portal_url = self._base_url
        if portal_url is not None:
            self._portal_url = checked_address(portal_url, "network.portal_url")
        self._dialect = dialect
        self._identity: tasks.Identity | None = None
        uses_tls = "https:" in (self._base_url[:6], self._portal_url[:6])
        self._http = http.HttpClient(limits, transport, uses_tls=uses_tls)
        self._exchange = Exchange(
            http=self._http,
            dialect=dialect,
            clock=clock,
            log=log,
            observe=observe,
            rate_limiter=rate_limiter,
        )
        self._answers = answers.AnswerReader(dialect)
        self._listings = answers.ListingReader(dialect)
        self._negotiation = negotiation or Negotiation(
            writing=Writing(), clock=clock, log=log
        )
        self._warned_of: set[str] = set()

    async def __aenter__(self) -> Self:
        await self._http.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._http.close()

    def report_to(self, log: Log) -> None:
        """Log there from now on, such as where each line names the agent."""
        self._exchange.log = self._negotiation.log = log

    def identify(self, identity: tasks.Identity | None) -> None:
        """Use this identity for private endpoints from now on; None forgets it.

        Raises:
            ValueError: another network issued it, or its token cannot be a header.
        """
        if identity is not None:
            if not same_network(identity.base_url, self._base_url):
                raise ValueError(
                    f"the identity was issued by {identity.base_url}; its token is"
                    f" not sent to {self._base_url}",
                )
            if not answers.is_header_safe(identity.access_token.reveal()):
                raise ValueError("the access token has characters no header can carry")
        self._identity = identity
        secrets = (identity.access_token.reveal(),) if identity else ()
        self._exchange.keep_secret(*secrets)

    async def register(
        self,
        key: tasks.IdempotencyKey,
        keep: Callable[[bytes], None] | None = None,
    ) -> Outcome[answers.Registration]:
        """Create a free agent (endpoint 1).

        `keep` is called with the bytes of a success as they arrive, all so far each
        time, before anybody reads them.
        """
        call = self._call(endpoints.REGISTER, body={}, key=key, keep=keep)
        return await self._exchange.run(
            call, lambda reply: self._answers.registration(reply.body)
        )

    def read_registration(self, body: bytes) -> answers.Registration | None:
        """Read the bytes of an answer to `register`; None when no agent is in it."""
        try:
            return self._answers.registration(http.parse(http.decoded(body)))
        except (http.UnreadableJSONError, answers.WrongShapeError):
            return None

    async def create_checkout(
        self, request: answers.CheckoutRequest, key: tasks.IdempotencyKey
    ) -> Outcome[answers.CheckoutSession]:
        """Ask for a hosted payment page (endpoint 2); nothing is paid by it."""
        body = {name: v for name, v in asdict(request).items() if v is not None}
        call = self._call(endpoints.CREATE_CHECKOUT, body=body, key=key)
        return await self._exchange.run(
            call, lambda reply: self._answers.checkout(reply.body)
        )

    async def public_marketplace(self) -> Outcome[answers.Listing]:
        """List the publicly visible tasks (endpoint 3)."""
        return await self._listing(self._call(endpoints.PUBLIC_MARKETPLACE))

    async def public_agents(self) -> Outcome[tasks.JSON]:
        """List the public active agents (endpoint 4); the answer as it is."""
        call = self._call(endpoints.PUBLIC_AGENTS)
        return await self._exchange.run(call, lambda reply: reply.body)

    async def agents_directory(self, slug: str | None = None) -> Outcome[tasks.JSON]:
        """Return the directory, or with `slug` one agent's manifest (endpoint 5)."""
        query = {} if slug is None else {"slug": slug}
        call = self._call(endpoints.AGENTS_DIRECTORY, query=query)
        return await self._exchange.run(call, lambda reply: reply.body)

    async def marketplace_tasks(
        self, limit: int | None = None
    ) -> Outcome[answers.Listing]:
        """Discover tasks (endpoint 6), at most about `limit`."""
        query = {} if limit is None else {"limit": str(limit)}
        return await self._listing(self._call(endpoints.MARKETPLACE_TASKS, query=query))

    async def claim(
        self, task_id: tasks.TaskId, key: tasks.IdempotencyKey
    ) -> Outcome[answers.Claimed]:
        """Claim a task (endpoint 7). "It is yours already" is a success."""
        agent_id = self._agent_id("claim")
        values: dict[str, tasks.JSON] = {"task_id": task_id, "agent_id": agent_id}

        def rescue(refused: Refused, answer: tasks.JSON) -> answers.Claimed | None:
            if refused.refusal is not Refusal.CONFLICT:
                return None
            return self._answers.claimed_before(answer, agent_id)

        return await self._act(
            endpoints.CLAIM,
            values,
            key,
            lambda answer: self._answers.claimed(answer, task_id),
            rescue,
        )

    async def submit(
        self, task_id: tasks.TaskId, result: tasks.Result, key: tasks.IdempotencyKey
    ) -> Outcome[answers.Submitted]:
        """Submit a result (endpoint 8). REJECTED is about the quality of the work."""
        values: dict[str, tasks.JSON] = {
            "task_id": task_id,
            "agent_id": self._agent_id("submit"),
            "result": result.output,
            "evidence": dict(result.evidence),
        }
        return await self._act(endpoints.SUBMIT, values, key, self._answers.submitted)

    async def complete(
        self, task_id: tasks.TaskId, key: tasks.IdempotencyKey
    ) -> Outcome[answers.Completed]:
        """Complete a task (endpoint 9)."""
        agent_id = self._agent_id("complete")
        values: dict[str, tasks.JSON] = {"task_id": task_id, "agent_id": agent_id}
        return await self._act(endpoints.COMPLETE, values, key, self._answers.completed)

    async def post_task(
        self, new: tasks.NewTask, key: tasks.IdempotencyKey
    ) -> Outcome[answers.Posted]:
        """Create a task (endpoint 10); its reward leaves our balance."""
        values: dict[str, tasks.JSON] = {
            "agent_id": self._agent_id("post_task"),
            **asdict(new),
            "tags": list(new.tags),
        }
        return await self._act(endpoints.POST_TASK, values, key, self._answers.posted)

    def blocked_actions(self) -> dict[str, str]:
        """Return which actions wait because the network takes them in no shape."""
        return self._negotiation.blocked_actions()

    async def _act(
        self,
        endpoint: Endpoint,
        values: Mapping[str, tasks.JSON],
        key: tasks.IdempotencyKey,
        read: Callable[[tasks.JSON], T],
        rescue: Callable[[Refused, tasks.JSON], T | None] | None = None,
    ) -> Outcome[T]:
        """Send an action in the shape that this network wants."""

        async def send(shape: ActionShape, key: tasks.IdempotencyKey) -> Sent[T]:
            said: tasks.JSON = None

            def look(refused: Refused, body: tasks.JSON) -> T | None:
                nonlocal said
                said = body
                return rescue(refused, body) if rescue else None

            body = shape.body(endpoint.name, values)
            call = self._call(endpoint, body=body, key=key, headers=shape.headers)
            outcome = await self._exchange.run(
                call, lambda reply: read(reply.body), look
            )
            is_final = self._may_have_paid(endpoint, outcome, said)
            return Sent(outcome, said, is_final)

        return await self._negotiation.run(endpoint.name, key, send)

    def _may_have_paid(
        self, endpoint: Endpoint, outcome: Outcome[T], said: tasks.JSON
    ) -> bool:
        """Return whether a refused post may all the same have made or cost something.

        Another shape is then not tried: it might be paid twice (decision 0027).
        """
        if endpoint is not endpoints.POST_TASK or not isinstance(outcome, Refused):
            return False
        posted = (
            self._answers.posted(said) if isinstance(said, dict) else answers.Posted()
        )
        shows = posted.task_id is not None or posted.balance is not None
        return is_success(outcome.status) or shows

    async def document(self, path: str) -> Outcome[answers.Document]:
        """Read a discovery document from the portal, without the token.

        Raises:
            ValueError: the path could lead away from the portal.
        """
        call = Call(
            name="document",
            method="GET",
            address=self._portal_url,
            path=checked_path(path),
            expects=Expects.DOCUMENT,
            wants_json=is_json_path(path),
        )
        return await self._exchange.run(call, lambda reply: read_document(path, reply))

    def _call(
        self,
        endpoint: Endpoint,
        *,
        query: dict[str, str] | None = None,
        body: dict[str, tasks.JSON] | None = None,
        key: tasks.IdempotencyKey | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
        keep: http.Keep | None = None,
    ) -> Call:
        if key is not None and not answers.is_header_safe(key):
            raise ValueError(f"an idempotency key is visible ASCII, not {key!r}")
        private = endpoint.name in self._dialect.private
        token = self._identity.access_token if private and self._identity else None
        return Call(
            name=endpoint.name,
            method=endpoint.method,
            address=self._base_url,
            path=endpoint.path,
            query=query or {},
            content=None if body is None else _encoded(body),
            token=token,
            key=key,
            headers=headers,
            keep=keep,
            expects=Expects.DATA if body is None else Expects.RECEIPT,
        )

    def _agent_id(self, action: str) -> tasks.AgentId:
        if self._identity is None:
            raise ValueError(f"{action} needs an identity: call identify() first")
        return self._identity.agent_id

    async def _listing(self, call: Call) -> Outcome[answers.Listing]:
        outcome = await self._exchange.run(
            call, lambda reply: self._listings.listing(reply.body)
        )
        if isinstance(outcome, Confirmed) and outcome.value.problem:
            self._warn_of_unreadable(call.name, outcome.value)
        return outcome

    def _warn_of_unreadable(self, endpoint: str, listing: answers.Listing) -> None:
        if endpoint not in self._warned_of:
            self._warned_of.add(endpoint)
            self._exchange.log.emit(
                NETWORK_RECORDS_UNREADABLE,
                endpoint=endpoint,
                unreadable=listing.unreadable,
                total=listing.total,
                message=listing.problem,
            )


def _encoded(body: Mapping[str, tasks.JSON]) -> bytes:
    """Write a body as JSON, the same bytes for the same body.

    Raises:
        ValueError: a number in it is not finite, so that JSON cannot say it.
        TypeError: something in it is not a JSON value.
    """
    # ASCII, because half a surrogate pair in a result has no UTF-8.
    text = json.dumps(body, allow_nan=False, separators=(",", ":"))
    return text.encode("ascii")
