"""What an owner is told to do about a request that has failed."""

import pytest

from journeyman.domain.outcomes import Failure, NotSent, Refusal, Refused, Unknown
from journeyman.network.advice import advice_for


@pytest.mark.parametrize("refusal", [*Refusal])
@pytest.mark.parametrize("has_token", [True, False])
def test_a_definite_no_is_never_worth_another_try(
    refusal: Refusal,
    has_token: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    advice = advice_for(Refused(refusal, "no", 400), has_token=has_token)

    assert advice
    assert "try again" not in advice
    assert "later" not in advice


@pytest.mark.parametrize(
    "said",
    [
        "401 Unauthorized: No API key found in request",
        "401 Unauthorized: Access denied due to missing subscription key.",
        "403 Forbidden: apikey missing",
        "401 Unauthorized: X-Client-Id required",
    ],
)
def test_a_gateway_that_wants_a_key_of_its_own_is_recognised(said: str) -> None:
    refused = Refused(Refusal.UNAUTHORIZED, said, 401)

    assert "under [network]: headers" in advice_for(refused, has_token=True)


def test_a_token_that_is_refused_is_no_matter_of_headers() -> None:
    refused = Refused(Refusal.UNAUTHORIZED, "401 Unauthorized: token expired", 401)

    assert "headers" not in advice_for(refused, has_token=True)
    assert "under [network]: headers" in advice_for(refused, has_token=False)


@pytest.mark.parametrize("failure", [NotSent("refused"), Unknown("503", 503)])
def test_what_may_pass_is_worth_another_try(failure: Failure) -> None:
    assert "try again" in advice_for(failure, has_token=False)


def test_a_success_that_cannot_be_read_may_be_another_service() -> None:
    assert "base_url" in advice_for(Unknown("200 OK with HTML", 200), has_token=False)
