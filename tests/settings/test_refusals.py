"""Every mistake in a configuration is named, with its place and what was wanted."""

from collections.abc import Callable
from pathlib import Path

import pytest

from journeyman.domain.errors import ConfigurationError
from journeyman.settings.sources import LoadedSettings, load_settings

Refuse = Callable[..., list[str]]


@pytest.mark.parametrize(
    ("toml", "problem"),
    [
        pytest.param(
            '[contract.requests.clam]\ntask_id = "id"',
            "2: contract.requests: there is no action 'clam'; wanted one of claim, "
            "submit, complete, post_task",
            id="no-such-action",
        ),
        pytest.param(
            '[contract.requests.claim]\ntaskid = "id"',
            "2: contract.requests: claim has no value 'taskid', did you mean "
            "task_id; it has task_id, agent_id, key, words; claim needs task_id",
            id="no-such-value-in-a-request",
        ),
        pytest.param(
            '[contract.requests]\nclaim = "id"',
            '2: contract.requests.claim: got "id", wanted a table: '
            "[contract.requests.claim]",
            id="no-table-of-a-request",
        ),
        pytest.param(
            '[contract.listing]\nrecord = "users"\nid = "wish..no"',
            "2: contract.listing: there is no 'record', did you mean records; a "
            "listing has records, id, title, description, kind, text, input, tags, "
            "reward, status, deadline, poster, claimant; id must be a place such as "
            "'task.id', not 'wish..no'",
            id="no-place-in-a-listing",
        ),
        pytest.param(
            '[posting.plan.w]\ntitle = "t"\nreward = 1\nper_month_credits = 1\n'
            'cron = "0 9 * * 1"',
            '5: posting.plan.w.cron: "0 9 * * 1" must name weekdays by their names, '
            "such as mon-fri",
            id="weekday-as-a-number",
        ),
        pytest.param(
            '[posting.plan.w]\ntitle = "of $tomorrow"\nreward = 1\n'
            "per_month_credits = 1\nevery_seconds = 60",
            '2: posting.plan.w.title: "of $tomorrow" contains $tomorrow; there are '
            "$date, $day, $month, $time, $week, $weekday, $year",
            id="no-such-date",
        ),
        pytest.param(
            '[posting.plan.w]\ntitle = "t"\nreward = 1\nper_month_credits = 1',
            "2: posting.plan.w: needs either cron or every_seconds",
            id="no-time-of-a-plan",
        ),
        pytest.param(
            '[posting.plan.w]\ntitle = "t"\nreward = 1\nper_month_credits = 1\n'
            "every_seconds = 60\nat = 3",
            "6: posting.plan.w.at: no such field",
            id="no-such-field-of-a-plan",
        ),
        pytest.param(
            "[network]\nbas_url = 1",
            "2: network.bas_url: no such setting; did you mean network.base_url?",
            id="misspelt-key",
        ),
        pytest.param(
            "[netwrok]\nlimit = 1",
            "2: netwrok.limit: no such setting; did you mean network.limit?",
            id="misspelt-section",
        ),
        pytest.param(
            "[netwrok]",
            "1: netwrok: no such setting; did you mean [network]?",
            id="misspelt-empty-section",
        ),
        pytest.param(
            "slots = 1",
            "1: slots: no such setting; did you mean work.slots?",
            id="key-outside-its-section",
        ),
        pytest.param(
            "[zzz]\nqqq = 1",
            "2: zzz.qqq: no such setting",
            id="nothing-like-it",
        ),
        pytest.param(
            "work = 3",
            "1: work: is a section; write its settings below [work]",
            id="section-that-is-a-value",
        ),
        pytest.param(
            '[work]\nslots = "8"',
            '2: work.slots: got "8", wanted a whole number from 1 to 256 (tasks)',
            id="text-for-a-number",
        ),
        pytest.param(
            "[work]\nslots = true",
            "2: work.slots: got true, wanted a whole number from 1 to 256 (tasks)",
            id="boolean-for-a-number",
        ),
        pytest.param(
            "[work]\nslots = 257",
            "2: work.slots: got 257, wanted a whole number from 1 to 256 (tasks)",
            id="too-many",
        ),
        pytest.param(
            "[work]\nonce = 1",
            "2: work.once: got 1, wanted true or false",
            id="number-for-a-boolean",
        ),
        pytest.param(
            "[schedule]\ndiscover_every_seconds = inf",
            "2: schedule.discover_every_seconds: got Infinity, "
            "wanted a number above 0, at most 31622400 (seconds)",
            id="endless",
        ),
        pytest.param(
            '[log]\nlevel = "loud"',
            '2: log.level: got "loud", wanted one of debug, info, warning, error',
            id="not-a-choice",
        ),
        pytest.param(
            '[data]\ndirectory = ""',
            '2: data.directory: got "", wanted a path',
            id="empty-path",
        ),
        pytest.param(
            '[strategies]\ndisabled = "a"',
            '2: strategies.disabled: got "a", wanted a list of names',
            id="text-for-a-list",
        ),
        pytest.param(
            "[strategies.params]\ncount_words = 1",
            "2: strategies.params.count_words: got 1, wanted a table with a value "
            "for each parameter: [strategies.params.count_words]",
            id="parameter-that-is-no-table",
        ),
    ],
)
def test_a_mistake_in_a_file_is_named_with_its_line(
    refuse: Refuse,
    toml: str,
    problem: str,
) -> None:
    assert refuse(toml) == [f"config/journeyman.toml:{problem}"]


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        pytest.param("network.example", "must begin with http", id="no-scheme"),
        pytest.param("ftp://network.example", "must begin with http", id="ftp"),
        pytest.param("https://", "has no host", id="no-host"),
        pytest.param("http://h:99999", "is not an address", id="bad-port"),
        pytest.param("http://[::1", "is not an address", id="bad-ipv6"),
        pytest.param("http://me:pass@h", "a user name or a password", id="password"),
        pytest.param("http://h/?a=1", "must not contain a query", id="query"),
        pytest.param("http://h/a b", "must not contain spaces", id="space"),
    ],
)
def test_an_address_that_cannot_work_is_refused_at_once(
    refuse: Refuse,
    address: str,
    reason: str,
) -> None:
    (problem,) = refuse(overrides={"network.base_url": address})

    assert problem.startswith("command line --base-url: network.base_url: ")
    assert reason in problem


@pytest.mark.parametrize(
    ("variable", "problem"),
    [
        pytest.param(
            "JOURNEYMAN_WORK__SLOT",
            "work.slot: no such setting; did you mean work.slots?",
            id="misspelt",
        ),
        pytest.param(
            "JOURNEYMAN_WORK_SLOTS",
            "no such setting; did you mean JOURNEYMAN_WORK__SLOTS?",
            id="one-underscore",
        ),
        pytest.param(
            "JOURNEYMAN_WORK__SLOTS",
            'work.slots: got "many", wanted a whole number from 1 to 256 (tasks)',
            id="wrong-type",
        ),
    ],
)
def test_a_mistake_in_the_environment_names_the_variable(
    refuse: Refuse,
    variable: str,
    problem: str,
) -> None:
    assert refuse(environ={variable: "many"}) == [f"environment {variable}: {problem}"]


def test_all_problems_of_all_sources_are_told_at_once(refuse: Refuse) -> None:
    problems = refuse(
        "[work]\nslot = 1\nslots = 0",
        {"JOURNEYMAN_LOG__LEVEL": "loud"},
        {"network.base_url": "x"},
    )

    assert len(problems) == 4


def test_a_syntax_error_is_told_with_line_and_column(refuse: Refuse) -> None:
    (problem,) = refuse("[work]\nslots = = 1")

    assert problem.startswith("config/journeyman.toml:2:9: is not valid TOML: ")


def test_a_file_that_ends_too_early_is_told(refuse: Refuse) -> None:
    (problem,) = refuse('[topup]\nplan = """never closed')

    assert problem.startswith("config/journeyman.toml: is not valid TOML: ")


def test_a_file_that_was_named_and_does_not_exist_is_an_error(cwd: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"nowhere\.toml: cannot be read: No"):
        load_settings(files=[Path("nowhere.toml")], environ={}, cwd=cwd)


def test_a_file_that_is_not_utf8_is_an_error(cwd: Path) -> None:
    (cwd / "latin.toml").write_bytes(b'[topup]\nplan = "caf\xe9"')

    with pytest.raises(ConfigurationError, match=r"latin\.toml: is not UTF-8"):
        load_settings(files=[Path("latin.toml")], environ={}, cwd=cwd)


def test_a_home_directory_that_is_not_known_is_an_error(refuse: Refuse) -> None:
    (problem,) = refuse('[data]\ndirectory = "~nobody-of-this-name/agent"')

    assert "names an unknown home directory" in problem


def test_a_value_file_that_cannot_be_read_is_an_error(refuse: Refuse) -> None:
    (problem,) = refuse(environ={"JOURNEYMAN_NETWORK__BASE_URL_FILE": "nowhere"})

    assert "JOURNEYMAN_NETWORK__BASE_URL_FILE: " in problem
    assert "cannot be read" in problem


def test_a_variable_and_its_file_form_together_are_an_error(refuse: Refuse) -> None:
    (problem,) = refuse(
        environ={
            "JOURNEYMAN_NETWORK__BASE_URL": "https://a.example",
            "JOURNEYMAN_NETWORK__BASE_URL_FILE": "address",
        },
    )

    assert "JOURNEYMAN_NETWORK__BASE_URL is set as well; keep one" in problem


def test_a_value_where_others_put_a_table_is_an_error(refuse: Refuse) -> None:
    (problem,) = refuse(
        environ={
            "JOURNEYMAN_STRATEGIES__PARAMS__LINKS": "5",
            "JOURNEYMAN_STRATEGIES__PARAMS__LINKS__UNIQUE": "true",
        },
    )

    assert "strategies.params.links: got 5" in problem


def test_a_wrong_secret_is_not_repeated_in_the_message(refuse: Refuse) -> None:
    (problem,) = refuse('[strategies.params]\napi_token = "hunter2"')

    assert "hunter2" not in problem
    assert "got ***" in problem


@pytest.mark.parametrize(
    ("headers", "problem"),
    [
        ('{ Authorization = "hunter2" }', "Authorization is set by Journeyman itself"),
        ('{ host = "hunter2" }', "host is set by Journeyman itself"),
        ('{ content_type = "hunter2" }', "content-type is set by Journeyman itself"),
        ('{ "api key" = "hunter2" }', "'api key', which is not a valid header name"),
        ('{ apikey = "hunter2\\n" }', "apikey must be text in visible ASCII"),
        ('"hunter2"', "got ***"),
        ('{ apikey = ["hunter2"] }', "got ***"),
    ],
)
def test_a_header_that_cannot_be_added_is_refused_and_not_shown(
    refuse: Refuse, headers: str, problem: str
) -> None:
    (told,) = refuse(f"[network]\nheaders = {headers}")

    assert problem in told
    assert "hunter2" not in told


def test_the_exit_code_is_the_one_for_configuration(
    load: Callable[..., LoadedSettings],
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load("[work]\nslots = 0")

    assert caught.value.exit_code == 4
