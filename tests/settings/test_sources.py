"""Where settings come from, and which source wins."""

from collections.abc import Callable
from pathlib import Path

import pytest

from journeyman.settings.sources import LoadedSettings, load_settings

Load = Callable[..., LoadedSettings]


def test_without_any_source_every_setting_has_its_default(load: Load) -> None:
    loaded = load()

    assert loaded.settings.network.base_url is None
    assert loaded.settings.work.slots == 8
    assert loaded.settings.topup.mode == "off"
    assert set(loaded.origin.values()) == {"default"}


def test_the_default_data_directory_is_the_users_own(load: Load, home: Path) -> None:
    directory = load().settings.data.directory

    assert directory.is_relative_to(home)
    assert directory.name == "journeyman"


def test_the_command_line_beats_the_environment_which_beats_the_file(
    load: Load,
) -> None:
    file = "[work]\nslots = 1\nmax_attempts = 1\ngrace_seconds = 1"
    environ = {"JOURNEYMAN_WORK__SLOTS": "2", "JOURNEYMAN_WORK__MAX_ATTEMPTS": "2"}

    loaded = load(file, environ, {"work.slots": 3})

    work = loaded.settings.work
    assert (work.slots, work.max_attempts, work.grace_seconds) == (3, 2, 1)
    assert loaded.origin["work.slots"] == "command line"
    assert (
        loaded.origin["work.max_attempts"]
        == "environment JOURNEYMAN_WORK__MAX_ATTEMPTS"
    )
    assert loaded.origin["work.grace_seconds"] == "config/journeyman.toml:4"
    assert loaded.origin["work.min_reward"] == "default"


def test_a_setting_with_an_option_of_its_own_is_shown_by_it(load: Load) -> None:
    loaded = load(overrides={"network.base_url": "http://localhost:8080"})

    assert loaded.origin["network.base_url"] == "command line --base-url"


def test_an_option_that_was_not_given_changes_nothing(load: Load) -> None:
    loaded = load("[work]\nslots = 5", overrides={"work.slots": None})

    assert loaded.settings.work.slots == 5


def test_of_several_files_the_later_one_wins_setting_by_setting(cwd: Path) -> None:
    (cwd / "a.toml").write_text("[work]\nslots = 1\nmin_reward = 7")
    (cwd / "b.toml").write_text("[work]\n\nslots = 2")

    loaded = load_settings(files=[Path("a.toml"), cwd / "b.toml"], environ={}, cwd=cwd)

    assert (loaded.settings.work.slots, loaded.settings.work.min_reward) == (2, 7)
    assert loaded.origin["work.slots"] == "b.toml:3"


def test_files_given_by_name_replace_the_default_file(cwd: Path) -> None:
    (cwd / "config/journeyman.toml").write_text("[work]\nslots = 5")

    assert load_settings(files=(), environ={}, cwd=cwd).settings.work.slots == 8


def test_a_file_in_the_directory_itself_is_read_and_the_one_in_config_is_not(
    cwd: Path,
) -> None:
    (cwd / "config/journeyman.toml").write_text("[work]\nslots = 5")
    (cwd / "journeyman.toml").write_text("[work]\nslots = 6")

    loaded = load_settings(environ={}, cwd=cwd)

    assert loaded.origin["work.slots"] == "journeyman.toml:2"
    assert loaded.files == [cwd / "journeyman.toml"]
    assert loaded.ignored_files == [cwd / "config/journeyman.toml"]


def test_the_users_own_file_is_read_where_the_directory_has_none(
    cwd: Path,
    home: Path,
) -> None:
    own = home / ".config/journeyman/journeyman.toml"
    own.parent.mkdir(parents=True)
    own.write_text("[work]\nslots = 6")

    loaded = load_settings(environ={}, cwd=cwd)

    assert loaded.settings.work.slots == 6
    assert loaded.origin["work.slots"] == f"{own}:2"


def test_a_file_with_a_byte_order_mark_is_read(load: Load) -> None:
    assert load("\ufeff[work]\nslots = 4").settings.work.slots == 4


@pytest.mark.parametrize(
    ("variable", "text", "expected"),
    [
        pytest.param("WORK__ONCE", "yes", True, id="boolean"),
        pytest.param("WORK__SLOTS", "12", 12, id="integer"),
        pytest.param("WORK__GRACE_SECONDS", "0.5", 0.5, id="number"),
        pytest.param("LOG__LEVEL", "debug", "debug", id="choice"),
        pytest.param("TOPUP__PLAN", "1", "1", id="text-that-looks-like-a-number"),
        pytest.param("STRATEGIES__DISABLED", "a, b", ("a", "b"), id="list"),
        pytest.param("STRATEGIES__DISABLED", '["a"]', ("a",), id="json-list"),
        pytest.param("STRATEGIES__DIRECTORY", "/s", Path("/s"), id="path"),
    ],
)
def test_a_variable_is_read_as_its_setting_wants(
    load: Load,
    variable: str,
    text: str,
    expected: object,
) -> None:
    section, key = variable.lower().split("__")

    settings = load(environ={f"JOURNEYMAN_{variable}": text}).settings

    assert getattr(getattr(settings, section), key) == expected


def test_an_empty_variable_counts_as_not_set(load: Load) -> None:
    loaded = load("[work]\nslots = 3", {"JOURNEYMAN_WORK__SLOTS": ""})

    assert loaded.settings.work.slots == 3


def test_a_variable_can_name_a_file_that_holds_the_value(load: Load, cwd: Path) -> None:
    (cwd / "address").write_text("  https://network.example/ \n")

    loaded = load(environ={"JOURNEYMAN_NETWORK__BASE_URL_FILE": "address"})

    assert loaded.settings.network.base_url == "https://network.example"
    assert (
        loaded.origin["network.base_url"]
        == "environment JOURNEYMAN_NETWORK__BASE_URL_FILE"
    )


def test_variables_of_others_are_left_alone(load: Load) -> None:
    load(environ={"JOURNEYMAN_SERVICE_HOST": "10.0.0.1", "NETWORK__LIMIT": "x"})


def test_the_process_environment_is_not_read_behind_the_callers_back(
    load: Load,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("JOURNEYMAN_WORK__SLOTS", "99")
    monkeypatch.setenv("WORK", '{"slots": 99}')

    assert load().settings.work.slots == 8


def test_strategy_parameters_are_merged_over_all_sources(load: Load) -> None:
    file = "[strategies.params.count_words]\nmax_words = 10\nmin_words = 1"
    environ = {
        "JOURNEYMAN_STRATEGIES__PARAMS__COUNT_WORDS__MAX_WORDS": "20",
        "JOURNEYMAN_STRATEGIES__PARAMS": '{"links": {"unique": true}}',
    }

    loaded = load(file, environ)

    assert loaded.settings.strategies.params == {
        "count_words": {"max_words": 20, "min_words": 1},
        "links": {"unique": True},
    }
    origin = loaded.origin["strategies.params.count_words.min_words"]
    assert origin == "config/journeyman.toml:3"


def test_a_tilde_stands_for_the_home_directory(load: Load, home: Path) -> None:
    loaded = load('[data]\ndirectory = "~/agent"')

    assert loaded.settings.data.directory == home / "agent"


def test_dotted_and_quoted_keys_are_found_on_their_line(load: Load) -> None:
    loaded = load('# a comment\nwork.slots = 3\n["log"]\n"level" = "debug"')

    assert loaded.origin["work.slots"] == "config/journeyman.toml:2"
    assert loaded.origin["log.level"] == "config/journeyman.toml:4"


def test_no_line_is_better_than_a_wrong_one(load: Load) -> None:
    text = '[topup]\nproduct_label = """\nplan = 1\n"""\nplan = "p"'

    assert load(text).origin["topup.plan"] == "config/journeyman.toml:1"


def test_settings_cannot_be_changed_after_loading(load: Load) -> None:
    with pytest.raises(ValueError, match="frozen"):
        load().settings.work.slots = 9  # type: ignore[misc]  # what must fail


def test_a_header_comes_from_the_environment_and_from_a_file(
    load: Load, cwd: Path
) -> None:
    (cwd / "key").write_text("12345\n")
    environ = {
        "JOURNEYMAN_NETWORK__HEADERS__APIKEY": "007",
        "JOURNEYMAN_NETWORK__HEADERS__X_API_KEY_FILE": "key",
    }

    loaded = load(environ=environ)

    assert loaded.settings.network.headers == {"apikey": "007", "x-api-key": "12345"}
