"""The table of verbs: whole, and followed by the server, the client and the daemon."""

import inspect
from string import Formatter
from typing import Any, get_type_hints

import pytest

from journeyman.control.server import build_app
from journeyman.control.verbs import VERBS, PostRequest, Verb
from journeyman.daemon.commands import OwnerCommands
from journeyman.domain.errors import UsageError

BY_NAME = pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)


def test_no_two_verbs_share_a_name_or_a_route() -> None:
    assert len({verb.name for verb in VERBS}) == len(VERBS)
    assert len({(verb.method, verb.path) for verb in VERBS}) == len(VERBS)


@BY_NAME
def test_a_path_names_only_fields_of_the_request(verb: Verb[Any]) -> None:
    in_path = [name for _, name, _, _ in Formatter().parse(verb.path) if name]
    fields = get_type_hints(verb.request) if verb.request else {}

    assert in_path in ([], list(fields))


@BY_NAME
def test_the_daemon_handles_each_verb_with_its_request(verb: Verb[Any]) -> None:
    handler = getattr(OwnerCommands, verb.name)
    hints = get_type_hints(handler)
    answer = hints.pop("return")

    assert hints == ({"request": verb.request} if verb.request else {})
    assert list(inspect.signature(handler).parameters)[1:] == list(hints)
    assert (answer is type(None)) == (verb.answer == "ok")


def test_handlers_that_lack_a_verb_are_refused_at_the_start() -> None:
    with pytest.raises(TypeError, match="object has no method status"):
        build_app(object())


@pytest.mark.parametrize(("title", "reward"), [(" ", 1), ("T", 0)])
def test_a_post_that_makes_no_sense_is_refused_before_it_is_sent(
    title: str, reward: int
) -> None:
    with pytest.raises(UsageError, match="a post needs"):
        PostRequest(title=title, reward=reward)
