"""Checks of the service itself: its public endpoints, its clock, its documents."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, timedelta
from email.utils import parsedate_to_datetime
from typing import TypeVar

import anyio

from journeyman.daemon.agent import World, build_network
from journeyman.daemon.doctor.finding import Finding, fail, ok, skip, warn
from journeyman.domain import (
    Clock,
    Confirmed,
    Identity,
    Outcome,
    Refusal,
    Refused,
)
from journeyman.network import (
    Expectations,
    NetworkClient,
    Observed,
    Survey,
    Verdict,
    survey,
)
from journeyman.settings import Settings

SKEW_WARN = timedelta(seconds=10)
"""From here on, deadlines and waits that the network names are noticeably wrong."""
SKEW_FAIL = timedelta(minutes=5)
"""From here on, TLS and tokens with a time in them begin to fail."""

T = TypeVar("T")
Ask = Callable[[NetworkClient], Awaitable[Finding | None]]
"""Asks one endpoint; gives what went wrong, or None."""


@dataclass(frozen=True, slots=True)
class Service:
    """The network as the settings name it, and who we are there."""

    settings: Settings
    address: str
    identity: Identity | None
    world: World


class Answers:
    """What the service's answers showed beside their bodies."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.ahead: list[timedelta] = []
        """By how much the service's clock was ahead of ours, answer by answer."""
        self.milliseconds: dict[str, float] = {}
        """How long each endpoint took."""

    def __call__(self, seen: Observed) -> None:
        """Note the time that it took, and the `Date` (RFC 9110, section 6.6.1)."""
        self.milliseconds[seen.endpoint] = seen.seconds * 1000
        try:
            date = parsedate_to_datetime(seen.headers.get("date", ""))
        except ValueError:
            return
        zoned = date if date.tzinfo else date.replace(tzinfo=UTC)
        # It was cut to a second, and half of the call's time lies behind it.
        said = zoned + timedelta(seconds=0.5 + seen.seconds / 2)
        self.ahead.append(said - self._clock.now())


async def check_service(service: Service) -> list[tuple[str, Finding]]:
    """Ask the public endpoints, ours with the token, and compare the clocks."""
    answers = Answers(service.world.clock)
    found: dict[str, Finding] = {}
    async with build_network(
        service.settings, service.address, service.world, answers
    ) as client:
        client.identify(service.identity)

        async def look(name: str, ask: Ask) -> None:
            failure = await ask(client)
            took = answers.milliseconds.get(name, 0.0)
            found[name] = failure or ok(f"answers, in {took:.0f} ms")

        async with anyio.create_task_group() as group:
            for name, ask in _PUBLIC.items():
                group.start_soon(look, name, ask)
            if service.identity is not None:
                group.start_soon(look, OURS, _our_tasks)
    found.setdefault(OURS, skip("not joined yet: it is asked with the token"))
    rows = [(f"endpoint {name}", found[name]) for name in (*_PUBLIC, OURS)]
    return [("clock", _clock(answers)), *rows]


async def check_documents(service: Service) -> Finding:
    """Read the discovery documents, and say whether `discover` has more to tell."""
    settings = service.settings
    portal = settings.network.portal_url or service.address
    async with build_network(settings, service.address, service.world) as client:
        found = await survey(client, Expectations(service.address, portal))
    return _documents(found)


def _documents(found: Survey) -> Finding:
    read = [page for page in found.pages if page.found == "yes"]
    told = [f"{len(read)} of {len(found.pages)} could be read"]
    odd = sum(bool(page.problem) for page in read)
    drifts = sum(row.verdict in _NOT_OURS for row in found.compared)
    told += [f"{odd} of them are odd"] if odd else []
    told += [f"{drifts} statements are not the contract's"] if drifts else []
    if odd or drifts or len(read) < len(found.pages):
        more = "`journeyman discover` tells more. The daemon works without them."
        return warn("; ".join(told), more)
    return ok(told[0])


_NOT_OURS = frozenset({Verdict.DRIFT, Verdict.ELSEWHERE})


async def _public_tasks(client: NetworkClient) -> Finding | None:
    return _trouble(await client.public_marketplace())


async def _public_agents(client: NetworkClient) -> Finding | None:
    return _trouble(await client.public_agents())


async def _directory(client: NetworkClient) -> Finding | None:
    return _trouble(await client.agents_directory())


async def _our_tasks(client: NetworkClient) -> Finding | None:
    return _trouble(await client.marketplace_tasks(1))


_PUBLIC: dict[str, Ask] = {
    "public_marketplace": _public_tasks,
    "public_agents": _public_agents,
    "agents_directory": _directory,
}
OURS = "marketplace_tasks"


def _trouble(outcome: Outcome[T]) -> Finding | None:
    if isinstance(outcome, Confirmed):
        return None
    if isinstance(outcome, Refused) and outcome.refusal is Refusal.ABSENT:
        return warn(
            f"not there: {outcome.message}",
            "Check base_url. The daemon goes on with the endpoints that are there.",
        )
    if isinstance(outcome, Refused) and outcome.refusal is Refusal.UNAUTHORIZED:
        return fail(
            f"refuses us: {outcome.message}",
            "The token may have ended. Keep the data directory, and ask whoever runs "
            "the service.",
        )
    return fail(outcome.message, "Try again later; check that the service runs.")


def _clock(answers: Answers) -> Finding:
    if not answers.ahead:
        return skip("no answer told the time")
    ahead = min(answers.ahead, key=abs)
    word = "behind" if ahead > timedelta() else "ahead of"
    told = f"our clock is {abs(ahead).total_seconds():.0f} s {word} the service's"
    fix = "Set this machine's clock, for example by NTP."
    if abs(ahead) >= SKEW_FAIL:
        return fail(told, fix)
    if abs(ahead) >= SKEW_WARN:
        return warn(told, fix)
    return ok(f"within {max(1.0, abs(ahead).total_seconds()):.0f} s of the service's")
