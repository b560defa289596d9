"""What a network's words for states mean, and how that is learned."""

import json

import pytest

from journeyman.network.service_model.states import (
    MOST_ASKED,
    MOST_WORDS,
    Meaning,
    StateWords,
    states_as_json,
    states_from_json,
)


@pytest.mark.parametrize(
    ("word", "meaning"),
    [
        ("", Meaning.OPEN),
        ("open", Meaning.OPEN),
        ("claimed", Meaning.TAKEN),
        ("paid", Meaning.TAKEN),
        ("queued", Meaning.UNKNOWN),
        ("0", Meaning.UNKNOWN),
        ("offen", Meaning.UNKNOWN),
    ],
)
def test_some_words_are_plain_and_any_other_is_a_question(
    word: str, meaning: Meaning
) -> None:
    assert StateWords().meaning(word) is meaning


def test_one_claim_tells_that_a_word_means_open() -> None:
    words = StateWords().ask("queued", "t1").learn("queued", is_claimed=True)

    assert words.meaning("queued") is Meaning.OPEN
    assert not words.asked


def test_two_refused_claims_in_a_row_tell_that_it_means_taken() -> None:
    once = StateWords().ask("weg", "t1").learn("weg", is_claimed=False)
    twice = once.ask("weg", "t2").learn("weg", is_claimed=False)

    assert once.may_ask("weg")
    assert twice.meaning("weg") is Meaning.TAKEN


def test_a_claim_that_was_never_made_tells_nothing() -> None:
    words = StateWords().ask("queued", "t1").learn("queued", is_claimed=None)

    assert words == StateWords()


def test_few_words_are_asked_about_at_once_and_none_twice() -> None:
    words = StateWords()
    for number in range(MOST_ASKED):
        words = words.ask(f"word {number}", f"t{number}")

    assert not words.may_ask("word 0")
    assert not words.may_ask("another")


@pytest.mark.parametrize(
    ("last", "usual"), [(True, Meaning.OPEN), (False, Meaning.TAKEN)]
)
def test_a_network_with_a_word_for_each_task_has_no_states_there(
    *, last: bool, usual: Meaning
) -> None:
    words = StateWords()
    for number in range(MOST_WORDS - 1):
        words = words.learn(f"word {number}", is_claimed=True)
    for _ in range(2):
        words = words.learn("the last", is_claimed=last)

    assert words.meaning("yet another") is usual


@pytest.mark.parametrize(
    ("word", "meaning"),
    [("submitted", Meaning.UNKNOWN), ("done", Meaning.TAKEN), ("open", Meaning.OPEN)],
)
def test_a_word_for_what_is_taken_may_be_doubted_and_one_for_what_is_over_not(
    word: str, meaning: Meaning
) -> None:
    assert StateWords().doubt(word).meaning(word) is meaning


def test_a_word_that_was_learned_is_not_doubted() -> None:
    words = StateWords().learn("assigned", is_claimed=True)

    assert words.doubt("assigned") is words


def test_what_was_learned_is_kept_and_read_back() -> None:
    asked = StateWords().ask("neu", "t9").doubt("submitted")
    words = asked.learn("queued", is_claimed=True).learn("weg", is_claimed=False)

    for each in (StateWords(), asked, words):
        assert states_from_json(json.loads(json.dumps(states_as_json(each)))) == each


@pytest.mark.parametrize("words", [StateWords(), StateWords().ask("neu", "t9")])
def test_words_of_which_little_is_known_are_kept_too(words: StateWords) -> None:
    assert states_from_json(states_as_json(words)) == words


@pytest.mark.parametrize(
    "kept", [None, 5, [], {"learned": 3}, {"learned": {"x": "odd"}}]
)
def test_a_note_that_cannot_be_read_says_nothing(kept: object) -> None:
    assert states_from_json(kept) == StateWords()  # type: ignore[arg-type]  # any JSON
