"""The small values: money, secrets, errors."""

import copy
import json
from dataclasses import asdict, replace

import pytest

from journeyman.domain import errors as all_errors
from journeyman.domain.credits import CREDITS_PER_USD, STARTER_CREDITS, cents_for
from journeyman.domain.errors import JourneymanError
from journeyman.domain.tasks import AccessToken, AgentId, Identity, Task, TaskId

SECRET = "tok-4f1d9c0a-secret"  # noqa: S105 - of no real service


def test_the_contracts_rate_holds() -> None:
    assert (CREDITS_PER_USD, STARTER_CREDITS) == (100, 100)
    assert [cents_for(credits_) for credits_ in (0, 1, 250)] == [0, 1, 250]


@pytest.mark.parametrize("shown", [str, repr, "{}".format, "{!r:>40}".format, ascii])
def test_a_token_shows_itself_to_nobody(shown: object) -> None:
    token = AccessToken(SECRET)
    identity = Identity(AgentId("a"), token, "http://n.example")
    assert callable(shown)

    for holder in (token, identity, [token], {"t": token}, asdict(identity)):
        assert SECRET not in shown(holder)
    assert token.reveal() == SECRET


def test_a_token_cannot_be_written_as_json_by_accident() -> None:
    with pytest.raises(TypeError):
        json.dumps({"token": AccessToken(SECRET)})


def test_tokens_are_compared_by_their_secret_and_can_be_copied() -> None:
    token = AccessToken(SECRET)

    assert token == copy.deepcopy(token) == AccessToken(SECRET)
    assert token != AccessToken("other")


def test_a_task_is_a_value() -> None:
    task = Task(id=TaskId("t"), tags=("a",))

    assert replace(task, reward=3) != task
    assert replace(task, reward=3).tags == ("a",)
    with pytest.raises(AttributeError):
        task.reward = 3  # type: ignore[misc]  # that is the point


INTERRUPTED = 130
"""What shells expect of a program that Ctrl-C ended."""
ERRORS = [
    error
    for error in vars(all_errors).values()
    if isinstance(error, type) and issubclass(error, JourneymanError)
]


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_says_what_is_wrong_and_what_to_do_next(
    error: type[JourneymanError],
) -> None:
    raised = error("it is broken", "Mend it.")

    assert str(raised) == "it is broken\nMend it."
    assert (raised.problem, raised.fix) == ("it is broken", "Mend it.")
    assert raised.exit_code in {*range(1, 8), INTERRUPTED}


def test_every_error_is_drawn_in_the_tree_at_the_top_of_its_file() -> None:
    drawn = all_errors.__doc__ or ""

    for error in ERRORS:
        (line,) = [row for row in drawn.splitlines() if f"{error.__name__} " in row]
        assert line.split()[-1].isdigit() or error.__name__ in line
        assert str(error.exit_code) in line
