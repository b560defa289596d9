"""The client: one method for each endpoint of the contract, and the documents."""

from __future__ import annotations  # those of inner functions cost at each call

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from types import MappingProxyType, TracebackType
from typing import Self, TypeVar
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from journeyman.domain import tasks
from journeyman.domain.clock import Clock
from journeyman.domain.outcomes import Confirmed, Outcome, Refused
from journeyman.domain.text import HIDDEN
from journeyman.network import answers, endpoints, http
from journeyman.network.bugs import Contained
from journeyman.network.call import (
    CONTENT_TYPE,
    FORM_TYPE,
    JSON_TYPE,
    Call,
    Expects,
    Keep,
    LaterReply,
    Reply,
)
from journeyman.network.classify import is_success
from journeyman.network.documents import checked_path, is_json_path, read_document
from journeyman.network.endpoints import (
    Endpoint,
    checked_address,
    origin_of,
    same_network,
)
from journeyman.network.events import NETWORK_RECORDS_UNREADABLE
from journeyman.network.exchange import Before, Exchange, TraceRequest
from journeyman.network.progress import ACCEPTED
from journeyman.network.rate_limit.limiter import RateLimiter
from journeyman.network.registration import Registration, read_body, read_registration
from journeyman.network.service_model.evidence import Observe
from journeyman.network.service_model.listing import LaterTasks, Listing, ListingReader
from journeyman.network.service_model.naming import walk
from journeyman.network.service_model.no_in_yes import NoInYesError
from journeyman.network.service_model.pages import PageRequest, Paging
from journeyman.network.service_model.reading import (
    Places,
    WrongShapeError,
    wire_id,
)
from journeyman.network.service_model.request import (
    WORDS,
    counts_of,
    tail_of,
    words_for,
)
from journeyman.network.service_model.search import Request, RequestSearch
from journeyman.network.service_model.vocabulary import ASSUMED
from journeyman.observability.events import Log

T = TypeVar("T")

_DEFAULT_LIMITS = http.HttpLimits()

MOST_PAGES_KNOWN = 200
"""Pages of listings that are recognised when they come again unchanged."""
_NO_PAGE = None, Before(b"", Listing((), 0, 0, ""))


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
        headers: Mapping[str, str] = MappingProxyType({}),
        log: Log,
        clock: Clock,
        limits: http.HttpLimits = _DEFAULT_LIMITS,
        transport: http.Transport | None = None,
        observe: Observe | None = None,
        rate_limiter: RateLimiter | None = None,
        search: RequestSearch | None = None,
        listing: Places = MappingProxyType({}),
    ) -> None:
        """Check the addresses; `portal_url` None means the same as `base_url`.

        `headers` are those that a gateway demands: sent with each request to the origin
        of `base_url`, and hidden wherever an answer repeats them.

        `observe` is shown each call that has ended; `rate_limiter` may pause calls;
        `search` finds how actions are written, None with nothing known yet; `listing`
        is where the owner says that listings have their tasks.

        Raises:
            ConfigurationError: an address cannot be used.
        """
        self._base_url = checked_address(base_url, "network.base_url")
        self._portal_url = self._base_url
        if portal_url is not None:
            self._portal_url = checked_address(portal_url, "network.portal_url")
        self._identity: tasks.Identity | None = None
        self._given: dict[str, tasks.JSON] = {}
        uses_tls = "https:" in (self._base_url[:6], self._portal_url[:6])
        self._http = http.HttpClient(limits, transport, uses_tls=uses_tls)
        self._exchange = Exchange(
            http=self._http,
            clock=clock,
            log=log,
            observe=observe,
            rate_limiter=rate_limiter,
        )
        self._headers = dict(headers)
        self._exchange.keep_secret(*self._headers.values())
        self._listings = ListingReader(listing)
        self._messages = answers.ClaimMessages()
        self._pages: dict[object, tuple[object, Before[Listing]]] = {}
        self.search = search or RequestSearch(owner={}, clock=clock, log=log)
        """How actions are written, and what is known of it."""
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
        self._exchange.log = self.search.log = log

    def trace_to(self, trace: TraceRequest) -> None:
        """Have each request from now on traced."""
        self._exchange.trace = trace

    def identify(
        self,
        identity: tasks.Identity | None,
        given: Mapping[str, tasks.JSON] = MappingProxyType({}),
    ) -> None:
        """Use this identity for private endpoints from now on; None forgets it.

        `given` is what else names the agent, as `Registration.given`.

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
        self._identity, self._given = identity, dict(given)
        secrets = (identity.access_token.reveal(),) if identity else ()
        self._exchange.keep_secret(*secrets, *self._headers.values())

    async def register(
        self,
        key: tasks.IdempotencyKey,
        keep: Keep | None = None,
    ) -> Outcome[Registration]:
        """Create a free agent (endpoint 1).

        `keep` is called with a success as it arrives, all so far each time, before
        anybody reads it.
        """
        call = self._call(endpoints.REGISTER, body={}, key=key, keep=keep)
        return await self._exchange.run(
            call, lambda reply: read_registration(reply.body, reply.headers)
        )

    def read_registration(
        self, body: bytes, headers: Mapping[str, str]
    ) -> Registration | None:
        """Read an answer to `register` that was kept; None when no agent is in it."""
        try:
            return read_registration(read_body(body), headers)
        except WrongShapeError:
            return None

    async def create_checkout(
        self, request: answers.CheckoutRequest, key: tasks.IdempotencyKey
    ) -> Outcome[answers.CheckoutSession]:
        """Ask for a hosted payment page (endpoint 2); nothing is paid by it."""
        body = {name: v for name, v in asdict(request).items() if v is not None}
        call = self._call(endpoints.CREATE_CHECKOUT, body=body, key=key)
        return await self._exchange.run(
            call, lambda reply: answers.read_checkout(reply.body)
        )

    async def public_marketplace(
        self, page: PageRequest | None = None
    ) -> Outcome[Listing]:
        """List the publicly visible tasks (endpoint 3); `page` of an earlier answer."""
        query = dict(page.query) if page else {}
        return await self._listing(
            self._call(endpoints.PUBLIC_MARKETPLACE, query=query)
        )

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
        self, limit: int | None = None, page: PageRequest | None = None
    ) -> Outcome[Listing]:
        """Discover tasks (endpoint 6), at most about `limit`; `page` of an answer."""
        query = {} if limit is None else {"limit": str(limit)}
        query |= page.query if page else {}
        return await self._listing(self._call(endpoints.MARKETPLACE_TASKS, query=query))

    async def claim(
        self, task: tasks.Task, key: tasks.IdempotencyKey
    ) -> Outcome[answers.Receipt]:
        """Claim a task (endpoint 7). "It is yours already" is a success."""
        agent_id = self._agent_id("claim")
        words = words_for("claim", {})

        def look(refused: Refused) -> Outcome[answers.Receipt]:
            known = answers.read_claimed_before(refused, agent_id, task.id)
            return Confirmed(known) if known else refused

        return await self._act(
            endpoints.CLAIM,
            {"agent_id": agent_id},
            key,
            lambda reply: _with_headers(
                "claim",
                reply,
                answers.read_claim(
                    reply.body,
                    task,
                    reply.status,
                    is_described=not self._listings.describes_all_alike,
                    said=(agent_id, words, *self._messages.alike(task.id, reply.body)),
                ),
            ),
            look,
            task=task,
        )

    async def submit(
        self,
        task: tasks.Task,
        result: tasks.Result,
        key: tasks.IdempotencyKey,
        given: tasks.Given = tasks.NOTHING_GIVEN,
    ) -> Outcome[answers.Receipt]:
        """Submit a result (endpoint 8). REJECTED is about the quality of the work.

        `given` is what the answers to earlier actions of this task gave.
        """
        values: dict[str, tasks.JSON] = {
            "agent_id": self._agent_id("submit"),
            "result": result.output,
            "evidence": dict(result.evidence),
            **given,
        }
        own = (result.output, dict(result.evidence))
        return await self._act(
            endpoints.SUBMIT,
            values,
            key,
            lambda reply: _with_headers(
                "submit",
                reply,
                answers.read_receipt("submit", reply.body, reply.status, own),
            ),
            task=task,
        )

    async def complete(
        self,
        task: tasks.Task,
        key: tasks.IdempotencyKey,
        given: tasks.Given = tasks.NOTHING_GIVEN,
    ) -> Outcome[answers.Receipt]:
        """Complete a task (endpoint 9); `given` as for `submit`."""
        agent_id = self._agent_id("complete")
        return await self._act(
            endpoints.COMPLETE,
            {"agent_id": agent_id, **given},
            key,
            lambda reply: _with_headers(
                "complete",
                reply,
                answers.read_receipt("complete", reply.body, reply.status),
            ),
            task=task,
        )

    async def look_at_result(self, address: str) -> Outcome[answers.Receipt] | None:
        """Look where the network said that a result's state can be seen.

        None: it is not at the network, so that the token must not go there.
        """
        origin = urlsplit(self._base_url)
        try:
            target = urlsplit(urljoin(self._base_url, address))
            is_own = origin_of(target) == origin_of(origin)
        except ValueError:
            return None
        if self._identity is None or not is_own or len(address.split()) != 1:
            return None
        call = Call(
            name="document",
            method="GET",
            address=f"{origin.scheme}://{origin.netloc}",
            path=target.path,
            query=dict(parse_qsl(target.query)),
            headers=self._headers,
            token=self._identity.access_token,
            expects=Expects.DATA,
        )
        return await self._exchange.run(
            call, lambda reply: answers.read_monitor(reply.body, reply.status)
        )

    async def post_task(
        self, new: tasks.NewTask, key: tasks.IdempotencyKey
    ) -> Outcome[answers.Posted]:
        """Create a task (endpoint 10); its reward leaves our balance."""
        return await self._act(
            endpoints.POST_TASK,
            self._values_of(new),
            key,
            lambda reply: answers.read_posted(reply.body),
        )

    def preview_post(self, new: tasks.NewTask) -> dict[str, tasks.JSON]:
        """Return the request that `post_task` would send first; nothing is sent."""
        endpoint, key = endpoints.POST_TASK, tasks.IdempotencyKey("new-for-each-post")
        said = _said(endpoint, self._values_of(new), key)
        request = Request(action=endpoint.name, said=said, key=key)
        shape = self.search.next_shape(request)
        body = shape.body(request.values(shape)) if shape else {}
        query = shape.query_for(request.values(shape)) if shape else {}
        tail = f"?{urlencode(query)}" if query else ""
        return {
            "method": endpoint.method,
            "address": f"{self._base_url}{endpoint.path}{tail}",
            "headers": {
                "Authorization": f"Bearer {HIDDEN}",
                CONTENT_TYPE: JSON_TYPE,
                ASSUMED.idempotency_header: key,
                **dict.fromkeys(self._headers, HIDDEN),
                **(shape.headers_for(request.values(shape)) if shape else {}),
            },
            "body": body,
        }

    def _values_of(self, new: tasks.NewTask) -> dict[str, tasks.JSON]:
        agent_id = self._agent_id("post_task")
        return {"agent_id": agent_id, **asdict(new), "tags": list(new.tags)}

    async def _act(
        self,
        endpoint: Endpoint,
        values: Mapping[str, tasks.JSON],
        key: tasks.IdempotencyKey,
        read: Callable[[Reply], T],
        look_at_refusal: Callable[[Refused], Outcome[T]] | None = None,
        task: tasks.Task | None = None,
    ) -> Outcome[T]:
        """Send an action in the shape that this network wants."""

        async def send(
            body: Mapping[str, tasks.JSON] | str,
            headers: Mapping[str, str],
            query: Mapping[str, str],
            key: tasks.IdempotencyKey,
        ) -> Outcome[T]:
            task_id = task.id if task else ""
            call = self._call(
                endpoint,
                query=query,
                body=body,
                key=key,
                headers=headers,
                task_id=task_id,
            )

            def read_yes(reply: Reply) -> T:
                value = read(reply)
                shows = not isinstance(value, answers.Receipt) or value.shows_progress
                if self.search.denies(
                    endpoint.name, reply.body, call.body, shows=shows
                ):
                    raise NoInYesError
                return value

            outcome = await self._exchange.run(call, read_yes)
            if look_at_refusal and isinstance(outcome, Refused):
                return look_at_refusal(outcome)
            return outcome

        known: dict[str, tasks.JSON] = {}
        if task is not None:
            task_id = wire_id(task)
            known = {"task_id": task_id} | tail_of(task_id)
        request = Request(
            action=endpoint.name,
            said=_said(endpoint, {**self._given, **known, **values}, key),
            key=key,
            task=task,
            may_have_worked=_may_have_paid if endpoint is endpoints.POST_TASK else None,
        )
        return await self.search.run(request, send)

    async def document(
        self, path: str, origin: str | None = None
    ) -> Outcome[answers.Document]:
        """Read a document, without the token, from the portal, or from `origin`.

        Raises:
            ValueError: it could lead away from the portal and the service.
        """
        own = {origin_of(urlsplit(one)) for one in (self._portal_url, self._base_url)}
        if origin is not None and origin_of(urlsplit(origin)) not in own:
            raise ValueError(f"{origin} is neither the portal nor the service")
        address = origin or self._portal_url
        is_service = origin_of(urlsplit(address)) == origin_of(urlsplit(self._base_url))
        call = Call(
            name="document",
            method="GET",
            address=address,
            headers=self._headers if is_service else {},
            path=checked_path(path),
            expects=Expects.DOCUMENT,
            wants_json=is_json_path(path),
        )
        return await self._exchange.run(call, lambda reply: read_document(path, reply))

    def _call(
        self,
        endpoint: Endpoint,
        *,
        query: Mapping[str, str] = MappingProxyType({}),
        body: Mapping[str, tasks.JSON] | str | None = None,
        key: tasks.IdempotencyKey | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
        keep: Keep | None = None,
        task_id: str = "",
    ) -> Call:
        if key is not None and not answers.is_header_safe(key):
            raise ValueError(f"an idempotency key is visible ASCII, not {key!r}")
        private = endpoint.name in ASSUMED.private
        token = self._identity.access_token if private and self._identity else None
        return Call(
            name=endpoint.name,
            method=endpoint.method,
            address=self._base_url,
            path=endpoint.path,
            query=query,
            content=None if body is None else _encoded(body, headers),
            body=None if body is None or isinstance(body, str) else {**body},
            token=token,
            task_id=task_id,
            key=key,
            headers={**self._headers, **headers},
            keep=keep,
            expects=Expects.DATA if body is None else Expects.RECEIPT,
        )

    def _agent_id(self, action: str) -> tasks.AgentId:
        if self._identity is None:
            raise ValueError(f"{action} needs an identity: call identify() first")
        return self._identity.agent_id

    async def _listing(self, call: Call) -> Outcome[Listing]:
        page = call.path, *sorted(call.query.items())
        form, before = self._pages.get(page, _NO_PAGE)
        if form is not self._listings.form:
            # Meanwhile other pages have shown better what the fields mean.
            before = _NO_PAGE[1]

        def read(reply: Reply) -> Listing:
            self.search.look_at(reply.body)
            later = tuple(map(self._later, reply.rest))
            more = sum(one.count for one in later)
            paging = Paging(call.path, call.query, reply.headers, more)
            listing = self._listings.listing(reply.body, paging)
            key = reply.digest, self._listings.form
            total = listing.total + more
            listing = replace(listing, total=total, key=key, later=later)
            if len(self._pages) >= MOST_PAGES_KNOWN:
                self._pages.clear()
            known = Before(reply.digest, listing)
            self._pages[page] = self._listings.form, known
            return listing

        outcome = await self._exchange.run(call, read, before=before)
        if isinstance(outcome, Confirmed) and outcome.value.problem:
            self._warn_of_unreadable(call.name, outcome.value)
        return outcome

    def _later(self, portion: LaterReply) -> LaterTasks:
        def read() -> Listing:
            problem = "a bug in Journeyman; the log has its traceback"
            with Contained(self._exchange.log, "reading a portion of a listing"):
                try:
                    return self._listings.listing(portion.read().body)
                except WrongShapeError as error:
                    problem = str(error)
            return Listing((), 0, 0, problem)

        return LaterTasks(
            lambda: (portion.digest, self._listings.form), portion.count, read
        )

    def _warn_of_unreadable(self, endpoint: str, listing: Listing) -> None:
        if endpoint not in self._warned_of:
            self._warned_of.add(endpoint)
            self._exchange.log.emit(
                NETWORK_RECORDS_UNREADABLE,
                endpoint=endpoint,
                unreadable=listing.unreadable,
                total=listing.total,
                message=listing.problem,
            )


def _said(
    endpoint: Endpoint, values: Mapping[str, tasks.JSON], key: tasks.IdempotencyKey
) -> dict[str, tasks.JSON]:
    """Return all that a request may say, what it is asked for included."""
    words = words_for(endpoint.name, values)
    return {**values, "key": key, WORDS: words, **counts_of(values)}


CREATED = 201


def _with_headers(action: str, reply: Reply, read: answers.Receipt) -> answers.Receipt:
    """Return what was read, with what headers told: a version, where it goes on."""
    told = {"etag": reply.headers.get("etag")}
    location = reply.headers.get("location", "")
    if reply.status == ACCEPTED:
        told["location"] = location
    elif reply.status == CREATED:  # its end names what was made
        told["location.id"] = urlsplit(location).path.rstrip("/").rpartition("/")[2]
    given = {f"{action}.{name}": value for name, value in told.items() if value}
    return replace(read, given={**given, **read.given}) if given else read


def _may_have_paid(refused: Refused) -> bool:
    """Return whether a refused post may all the same have made or cost something.

    Another shape is then not tried: it might be paid twice (decision 0027).
    """
    said = refused.answer
    posted = answers.read_posted(said) if isinstance(said, dict) else answers.Posted()
    shows = posted.task_id is not None or posted.balance is not None
    return is_success(refused.status) or shows


_BODY = json.JSONEncoder(allow_nan=False, separators=(",", ":"))
"""Writes ASCII, because half a surrogate pair in a result has no UTF-8."""


def _encoded(body: Mapping[str, tasks.JSON] | str, headers: Mapping[str, str]) -> bytes:
    """Write a body as JSON, or as a form where it is sent as one; a text as it is.

    Raises:
        ValueError: a number in it is not finite, so that JSON cannot say it.
        TypeError: something in it is not a JSON value.
    """
    if isinstance(body, str):
        return body.encode()
    if headers.get(CONTENT_TYPE) != FORM_TYPE:
        # The same bytes for the same body.
        return _BODY.encode(body).encode("ascii")
    leaves = (one for one in walk({**body}) if not isinstance(one[1], dict | list))
    return urlencode([(_form_name(*way), _form_text(v)) for way, v in leaves]).encode()


def _form_name(name: str, *inside: str) -> str:
    """Return the way to a value as forms name it: `task[id]`."""
    return name + "".join(f"[{one}]" for one in inside)


def _form_text(value: tasks.JSON) -> str:
    return value if isinstance(value, str) else _BODY.encode(value)
