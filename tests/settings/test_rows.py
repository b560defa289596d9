"""The settings as `config show` prints them."""

from collections.abc import Callable

from journeyman.settings.describe import SettingRow, rows
from journeyman.settings.sources import LoadedSettings

Load = Callable[..., LoadedSettings]


def _by_key(loaded: LoadedSettings) -> dict[str, SettingRow]:
    return {row.key: row for row in rows(loaded)}


def test_there_is_a_row_for_every_setting(load: Load) -> None:
    loaded = load()

    assert {row.key for row in rows(loaded)} == set(loaded.origin)


def test_a_row_tells_value_and_origin(load: Load) -> None:
    row = _by_key(load("[work]\nslots = 3"))["work.slots"]

    assert (row.value, row.origin) == ("3", "config/journeyman.toml:2")


def test_what_is_not_set_is_told_in_words(load: Load) -> None:
    assert _by_key(load())["network.portal_url"].value == "(the same as `base_url`)"


def test_each_strategy_parameter_has_its_own_row(load: Load) -> None:
    found = _by_key(load("[strategies.params.links]\nunique = true\nmost = 5"))

    assert found["strategies.params.links.unique"].value == "true"
    assert found["strategies.params.links.most"].origin == "config/journeyman.toml:3"


def test_headers_for_a_gateway_are_never_shown(load: Load) -> None:
    found = _by_key(load('[network]\nheaders = { x-client = "hunter2" }'))

    assert found["network.headers.x-client"].value == "***"


def test_a_value_that_is_named_like_a_secret_is_not_shown(load: Load) -> None:
    file = '[strategies.params.llm]\napi_token = "hunter2"\nmax_tokens = 500'

    found = _by_key(load(file))

    assert found["strategies.params.llm.api_token"].value == "***"
    assert found["strategies.params.llm.max_tokens"].value == "500"
