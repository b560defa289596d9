"""A token that is refused: confirmed once, then one request a minute."""

import pytest
from tests.network.rate_limit.conftest import CLAIM, LISTING, PUBLIC, Answer, Site

from journeyman.domain.outcomes import Confirmed, NotSent, Refused
from journeyman.network.rate_limit.circuit_breaker import TokenStatus
from journeyman.network.rate_limit.pause import Cause

NO = Answer(401, {"error": "unauthorized"})


async def _work(site: Site, until: float) -> None:
    """Look and claim again and again, far oftener than once a minute."""
    while site.clock.monotonic() < until:
        await site.look()
        await site.claim()
        site.clock.advance(5.0)


def token_status(site: Site) -> TokenStatus:
    return site.rate_limiter.token.status


async def test_one_refusal_is_a_doubt_and_lets_one_request_go_at_a_time(
    site: Site,
) -> None:
    site.network.reply = lambda name: NO if name == CLAIM else Answer()
    await site.claim()

    assert token_status(site) is TokenStatus.DOUBTED
    assert isinstance(await site.claim(), NotSent)
    site.clock.advance(2.0)
    site.network.reply = lambda _: Answer()
    assert isinstance(await site.claim(), Confirmed)
    assert token_status(site) is TokenStatus.ACCEPTED
    assert "identity.rejected" not in site.log.names


async def test_refusals_that_were_under_way_together_confirm_nothing(
    site: Site,
) -> None:
    passes = [await site.rate_limiter.acquire("claim") for _ in range(8)]
    site.network.reply = lambda _: NO
    await site.claim()
    assert len(passes) == 8

    assert token_status(site) is TokenStatus.DOUBTED


@pytest.mark.parametrize("refusing", [{CLAIM}, {LISTING}, {CLAIM, LISTING}])
async def test_a_token_that_is_refused_twice_costs_one_request_a_minute(
    site: Site, refusing: set[str]
) -> None:
    def reply(name: str) -> Answer:
        return NO if name in refusing else Answer()

    site.network.reply = reply
    await _work(site, 60)
    assert token_status(site) is TokenStatus.REJECTED
    before = [name for _, name in site.network.asked if name in refusing]

    await _work(site, 60 + 600)

    after = [name for _, name in site.network.asked if name in refusing]
    assert len(before) <= 3
    assert len(after) - len(before) <= 10
    assert len(site.log.named("identity.rejected")) == 1


async def test_a_rejected_token_that_works_again_resumes_everything(site: Site) -> None:
    heard: list[TokenStatus] = []
    site.rate_limiter.token.listeners.append(
        lambda trust, _message: heard.append(trust)
    )
    site.network.reply = lambda _: NO
    await _work(site, 600)
    stopped = site.rate_limiter.general_pause()
    assert stopped is not None
    assert stopped.cause is Cause.TOKEN
    assert isinstance(await site.client.public_marketplace(), Confirmed | Refused)

    site.network.reply = lambda _: Answer()
    await _work(site, 665)

    assert token_status(site) is TokenStatus.ACCEPTED
    assert site.rate_limiter.general_pause() is None
    assert heard == [TokenStatus.REJECTED, TokenStatus.ACCEPTED]
    assert site.log.names.count("identity.accepted") == 1


async def test_a_read_that_never_asked_for_the_token_proves_nothing(
    site: Site,
) -> None:
    site.network.reply = lambda name: NO if name == CLAIM else Answer()
    await _work(site, 30)

    assert isinstance(await site.look(), Confirmed)

    assert token_status(site) is TokenStatus.REJECTED


async def test_a_forbidden_task_says_nothing_of_the_token_a_forbidden_look_does(
    site: Site,
) -> None:
    site.network.reply = lambda _: Answer(403, {"error": "forbidden"})
    await site.claim()
    assert token_status(site) is TokenStatus.ACCEPTED

    await site.look()
    assert token_status(site) is TokenStatus.DOUBTED


async def test_endpoints_without_a_token_are_not_paused_for_it(site: Site) -> None:
    site.network.reply = lambda name: Answer() if name == PUBLIC else NO
    await _work(site, 30)

    assert isinstance(await site.client.public_marketplace(), Confirmed)


async def test_a_run_that_begins_with_a_rejected_token_asks_once_first(
    site: Site,
) -> None:
    site.rate_limiter.token.suspect("401 Unauthorized")
    assert site.rate_limiter.general_pause() is None

    await site.claim()

    assert token_status(site) is TokenStatus.ACCEPTED
