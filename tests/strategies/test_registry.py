"""Who gets a task, why, and how a strategy is found by name."""

from pathlib import Path

import pytest

from journeyman.domain.errors import ConfigurationError
from journeyman.domain.tasks import Task, TaskId
from journeyman.strategies.loading.registry import Registry, load_registry

HEAD = "from journeyman import Strategy, score, skip, strategy\n"


def registry_of(folder: Path, **bodies: str) -> Registry:
    """One class for each name, with this body of `wants`."""
    for name, body in bodies.items():
        (folder / f"{name}.py").write_text(
            f"{HEAD}class {name.title()}(Strategy):\n"
            f"    def wants(self, task):\n        {body}\n"
            f"    def run(self, task):\n        return 'x'\n"
        )
    registry = load_registry(folder)
    assert registry.problems == ()
    return registry


def task(**fields: object) -> Task:
    return Task(id=TaskId("t1"), **{"reward": 10, **fields})  # type: ignore[arg-type]  # any fields


def test_a_ready_strategy_that_is_not_loaded_is_told_from_a_wrong_name() -> None:
    with pytest.raises(ConfigurationError, match="E115 'ask_llm'") as raised:
        Registry([]).find("ask_llm")

    assert "strategies.ready = true" in raised.value.fix


def test_the_only_willing_strategy_is_chosen_with_its_reason(folder: Path) -> None:
    choice = registry_of(folder, a="return True").choose(task())

    assert choice.strategy is not None
    assert choice.reason == "a wants it: reward 10"


def test_the_best_offer_wins(folder: Path) -> None:
    registry = registry_of(
        folder, a="return score(0.5)", b="return score(0.9, cost=2)", c="return False"
    )

    choice = registry.choose(task())

    assert choice.reason == "b wants it: 0.9 x reward 10 - cost 2 = 7"
    assert [v.offer for v in choice.verdicts] == [5, 7, None]


SILENT = (
    "from journeyman.strategies.loading.confined import AnswerError; "
    "raise AnswerError('its process was not asked', is_fault=False)"
)
NOT_NOW = (
    "from journeyman import skip; return skip('the budget is spent', for_now=True)"
)


@pytest.mark.parametrize("silent", [SILENT, NOT_NOW], ids=["silent", "not-now"])
def test_while_somebody_has_not_answered_nothing_is_decided(
    folder: Path, silent: str
) -> None:
    alone = registry_of(folder, a=silent).choose(task())
    beside = registry_of(folder, a=silent, b="return True").choose(task())

    assert alone.is_undecided
    assert beside.strategy is not None
    assert not beside.is_undecided


def test_equal_offers_take_turns(folder: Path) -> None:
    registry = registry_of(folder, a="return True", b="return True", c="return True")

    chosen = [registry.choose(task()).reason[0] for _ in range(6)]

    assert chosen == ["a", "b", "c", "a", "b", "c"]


def test_work_that_costs_more_than_it_brings_is_left_alone(folder: Path) -> None:
    choice = registry_of(folder, a="return score(0.1, cost=3)").choose(task())

    assert choice.strategy is None
    assert choice.reason == "would lose: 0.1 x reward 10 - cost 3 = -2"


def test_a_task_without_a_reward_can_be_wanted(folder: Path) -> None:
    assert registry_of(folder, a="return True").choose(task(reward=0)).strategy


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return skip('no time')", "no time"),
        ("return False", "not wanted"),
        ("return {}['x']", "wants raised KeyError: 'x'"),
        ("raise SystemExit", "wants raised SystemExit"),
        ("return score(2)", "wants raised ValueError: score(2): give a likelihood "),
        ("return None", "wants returned None: return True, False, "),
        ("return 1", "wants returned 1: return True, False, "),
        ("return skip('\\ud800')", "\\ud800"),
    ],
)
def test_anything_but_a_yes_is_a_no_with_its_reason(
    folder: Path, body: str, reason: str
) -> None:
    choice = registry_of(folder, a=body).choose(task())

    assert choice.strategy is None
    assert choice.reason.startswith(reason)


def test_a_wants_that_never_returns_is_interrupted(folder: Path) -> None:
    loaded = registry_of(folder, a="while True: pass", b="return True").strategies

    registry = Registry(loaded, block_limit=0.05)
    choices = [registry.choose(task()) for _ in range(2)]

    for choice in choices:
        reason = "wants took longer than 0.05 s; it is not asked again"
        assert choice.verdicts[0].reason == reason
        assert choice.reason.startswith("b wants it")


def test_ctrl_c_in_wants_gets_through(folder: Path) -> None:
    registry = registry_of(folder, a="raise KeyboardInterrupt")

    with pytest.raises(KeyboardInterrupt):
        registry.choose(task())


def test_the_one_specific_reason_is_told(folder: Path) -> None:
    registry = registry_of(
        folder, a="return False", b="return skip('too long')", c="return False"
    )

    assert registry.choose(task()).reason == "too long"


def test_several_reasons_are_not_guessed_between(folder: Path) -> None:
    registry = registry_of(folder, a="return skip('one')", b="return skip('two')")

    assert registry.choose(task()).reason == "no strategy wants it"


def test_no_strategy_at_all_is_a_reason_too() -> None:
    assert Registry([]).choose(task()).reason == "no strategy is active"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"kind": "paint"}, "kind 'paint' is not wanted"),
        ({"kind": "", "tags": ("text",)}, "tag 'words' missing"),
        ({"kind": "count"}, "the input has no 'text'"),
        ({"kind": "count", "input": ["text"]}, "the input has no 'text'"),
        (
            {"kind": "count", "input": {"text": "", "n": True}},
            "the input's 'n' is not of type int",
        ),
        (
            {"kind": "count", "input": {"text": 1, "n": 1}},
            "the input's 'text' is not of type str",
        ),
        (
            {"kind": "count", "input": {"text": "", "n": 1}, "reward": 1},
            "reward 1 is below 2",
        ),
        ({"kind": "count", "input": {"text": "", "n": 1}}, "mine wants it: reward 10"),
        (
            {"tags": ("words", "text", "x"), "input": {"text": "", "n": 1}},
            "mine wants it: reward 10",
        ),
    ],
)
def test_declared_kinds_tags_inputs_and_reward_decide(
    folder: Path, fields: dict[str, object], reason: str
) -> None:
    (folder / "mine.py").write_text(
        f"{HEAD}@strategy(kinds={{'count'}}, tags={{'text', 'words'}}, min_reward=2,\n"
        "    inputs={'text': str, 'n': int})\n"
        "def mine(text, n): return text\n"
    )

    assert load_registry(folder).choose(task(**fields)).reason == reason


@pytest.mark.parametrize("wanted", ["a", "A", "a.py", "{folder}/a.py"])
def test_a_strategy_is_found_by_any_of_its_names(folder: Path, wanted: str) -> None:
    registry = registry_of(folder, a="return True", b="return True")

    assert registry.find(wanted.format(folder=folder)).name == "a"


def test_a_misspelt_name_is_answered_with_the_nearest(folder: Path) -> None:
    registry = registry_of(folder, wordcount="return True")

    with pytest.raises(
        ConfigurationError, match=r"Did you mean 'wordcount' \(.*\.py\)"
    ):
        registry.find("word_count.py")


def test_asking_for_a_file_that_did_not_load_shows_its_problem(folder: Path) -> None:
    (folder / "a.py").write_text("from journeyman import Nothing")

    with pytest.raises(ConfigurationError, match="E102"):
        load_registry(folder).find("a")


def test_a_file_with_two_strategies_does_not_stand_for_one(folder: Path) -> None:
    (folder / "both.py").write_text(
        f"{HEAD}@strategy(tags={{'a'}})\ndef a(task): return 'a'\n"
        "@strategy(tags={'b'})\ndef b(task): return 'b'\n"
    )

    with pytest.raises(ConfigurationError, match="several strategies: a, b"):
        load_registry(folder).find("both")


def test_a_registry_of_others_remembers_who_is_not_asked_again(folder: Path) -> None:
    whole = registry_of(folder, slow="while True: pass", b="return True")
    limited = Registry(whole.strategies, block_limit=0.05)
    limited.choose(task())

    (verdict,) = limited.of([limited.find("slow")]).choose(task()).verdicts

    assert verdict.failed
    assert "it is not asked again" in verdict.reason


@pytest.mark.parametrize(
    ("body", "failed"),
    [("raise ValueError", True), ("return 'maybe'", True), ("return False", False)],
)
def test_a_no_that_is_a_failure_is_marked(
    folder: Path, *, body: str, failed: bool
) -> None:
    (verdict,) = registry_of(folder, a=body).choose(task()).verdicts

    assert (verdict.wanted, verdict.failed) == (False, failed)


def test_a_slow_wants_is_told_by_the_name_of_its_strategy(folder: Path) -> None:
    registry = registry_of(
        folder, quick="return False", slow="__import__('time').sleep(0.12)"
    )
    told: list[str] = []
    registry.told = lambda loaded, _seconds, _stack: told.append(loaded.name)

    # That it was slow is seen at the first task, and who it was at the next.
    registry.choose(task())
    registry.choose(task())

    assert told == ["slow"]
