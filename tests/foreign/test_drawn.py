"""On networks that nobody wrote, since they are drawn at random, the daemon earns."""

import pytest
from tests.foreign.drawn import Drawn, described
from tests.foreign.drawn_strangely import (
    DrawnInFinnish,
    DrawnRichly,
    DrawnWithoutWords,
)
from tests.foreign.drawn_trials import DrawnTrial, main, try_seed
from tests.foreign.trial import report

SEEDS = range(12)
"""`make foreign-drawn` draws hundreds."""


@pytest.mark.parametrize("seed", SEEDS)
def test_all_that_a_drawn_network_has_is_earned(seed: int) -> None:
    tried = try_seed(seed)

    assert tried.is_earned, report(tried.what, tried.trial)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_refused_in_no_language_is_found_out_by_trial(seed: int) -> None:
    tried = try_seed(seed, DrawnWithoutWords)

    assert tried.is_earned, report(tried.what, tried.trial)


@pytest.mark.parametrize("seed", range(6))
def test_names_in_another_language_are_understood_by_what_they_do(seed: int) -> None:
    tried = try_seed(seed, DrawnInFinnish)

    assert tried.is_earned, report(tried.what, tried.trial)


@pytest.mark.parametrize("seed", range(5))
def test_lists_tags_offers_and_versions_are_sent_as_they_are_wanted(seed: int) -> None:
    tried = try_seed(seed, DrawnRichly)

    assert tried.is_earned, report(tried.what, tried.trial)


def test_a_seed_draws_the_same_network_again() -> None:
    assert described(Drawn(7)) == described(Drawn(7))
    assert described(Drawn(7)) != described(Drawn(8))


def test_a_network_that_pays_nothing_is_not_earned_on() -> None:
    tried = try_seed(3)
    tried.trial.book.paid.clear()

    assert not DrawnTrial(3, tried.what, tried.trial).is_earned


@pytest.mark.parametrize("words", [["many"], ["--in-latin", "1"], ["--richly"]])
def test_what_are_no_seeds_is_told(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert "0-200" in capsys.readouterr().err


def test_several_kinds_of_networks_are_drawn(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["1", "--in-finnish", "1-3"]) == 0
    told = capsys.readouterr().out
    assert "usually: earned on 1 of 1" in told
    assert "in-finnish: earned on 2 of 2" in told


def test_too_few_that_are_earned_on_are_a_fault(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.foreign.drawn_trials.LONGEST_SECONDS", 0.0)

    assert main(["1", "2"]) == 1
    assert "earned on 0 of 2 networks" in capsys.readouterr().out
