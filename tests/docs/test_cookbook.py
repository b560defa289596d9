"""The strategies of the cookbook: each is taken from the page, and run."""

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.docs.conftest import blocks_of
from tests.one_task import in_one_task
from tests.strategies.llm_provider import Provider, Reply, provider

from journeyman.strategies.running.dry_run import run_examples
from journeyman.testing import FakeAgent, Run, assert_strategy_conforms, task
from journeyman.testing.agent import load

PAGE = "how-to/cookbook/README.md"
COMPUTING = ("extract", "classify", "ask_table")


@pytest.fixture(scope="module")
def recipes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with every file that the page has a reader write."""
    folder = tmp_path_factory.mktemp("cookbook")
    for block in blocks_of(PAGE):
        if block.language == "python":
            (folder / Path(block.file).name).write_text(block.text)
    return folder


@pytest.fixture
async def service() -> AsyncIterator[Provider]:
    async with in_one_task(provider()) as made:
        yield made


def site_of(service: Provider) -> str:
    return service.url.split("/")[2]


def test_every_recipe_is_run_by_a_test_of_its_name(recipes: Path) -> None:
    names = {file.stem for file in recipes.glob("*.py")}

    assert names == {*COMPUTING, "exchange_rate", "page_title", "ask_person"}


@pytest.mark.parametrize("name", COMPUTING)
def test_its_examples_hold(recipes: Path, name: str) -> None:
    outcomes = anyio.run(run_examples, load(recipes / f"{name}.py", {}))

    assert [outcome.message for outcome in outcomes] == ["ok"] * len(outcomes)
    assert outcomes


@pytest.mark.endurance
@pytest.mark.parametrize("name", COMPUTING)
def test_it_is_a_good_citizen(recipes: Path, name: str) -> None:
    assert_strategy_conforms(recipes / f"{name}.py")


def done(agent: FakeAgent, file: Path, **given: Any) -> Run:  # noqa: ANN401 - any JSON
    return agent.run(file, task(kind=KINDS[file.stem], input=given))


KINDS = {"extract": "extract", "classify": "classify", "ask_table": "sql"}


@pytest.mark.parametrize(
    ("what", "found"),
    [
        ("date", ["2026-11-30"]),
        ("link", ["https://a.example/x?y=1"]),
        ("email", []),
    ],
)
def test_things_are_found_once_each(
    agent: FakeAgent, recipes: Path, what: str, found: list[str]
) -> None:
    text = "https://a.example/x?y=1 by 2026-11-30, not 2026-11-30-1, see 2026-11-30"

    run = done(agent, recipes / "extract.py", text=text, what=what)

    assert run.result.output == found


def test_what_it_cannot_find_is_declined(agent: FakeAgent, recipes: Path) -> None:
    run = done(agent, recipes / "extract.py", text="x", what="password")

    assert run.outcome == "declined"


@pytest.mark.parametrize("labels", [{}, {"a": "text"}, {"a": [1]}, {"a": None}])
def test_labels_that_are_none_are_declined(
    agent: FakeAgent, recipes: Path, labels: object
) -> None:
    run = done(agent, recipes / "classify.py", text="text", labels=labels)

    assert run.outcome == "declined"


SLOW = f"SELECT count(*) FROM {', '.join(f'data d{n}' for n in range(20))}"  # noqa: S608 - ours


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("DELETE FROM data", "not authorized"),
        ("ATTACH '/etc/passwd' AS other", "not authorized"),
        ("PRAGMA database_list", "not authorized"),
        ("SELECT 1; DROP TABLE data", "one statement"),
        (SLOW, "interrupted"),
        ("SELECT zeroblob(100000000)", "too big"),
        ("SELECT x'00'", "bytes"),
        ("SELECT 9e999", "float"),
        ("SELEKT", "syntax"),
        ("SELECT '\ud800'", "surrogates"),
    ],
)
def test_a_query_can_only_read_and_ends(
    agent: FakeAgent, recipes: Path, query: str, why: str
) -> None:
    table = "a,b\n" + "1,2\n" * 20

    run = done(agent, recipes / "ask_table.py", table=table, query=query)

    assert run.outcome == "declined"
    assert why in str(run.details["why"])


@pytest.mark.parametrize("table", ["", "a,a\n", "a\n1,2\n", '"', "a\n\x00"])
def test_a_table_that_is_none_is_declined(
    agent: FakeAgent, recipes: Path, table: str
) -> None:
    query = "SELECT count(*) FROM data, nowhere"

    run = done(agent, recipes / "ask_table.py", table=table, query=query)

    assert run.outcome == "declined"


RATES = Reply(200, {"rates": {"USD": 1.1}})


@pytest.mark.parametrize(
    ("reply", "base", "outcome"),
    [
        (RATES, "EUR", "completed"),
        (RATES, "EUR&key=1", "declined"),
        (Reply(200, {"rates": {}}), "EUR", "declined"),
        (Reply(404, {}), "EUR", "declined"),
        (Reply(429, {}), "EUR", "retry_later"),
        (Reply(503, {}), "EUR", "retry_later"),
        (Reply(-1, {}), "EUR", "retry_later"),
    ],
)
async def test_an_api_is_asked_and_its_refusals_are_understood(
    agent: FakeAgent,
    recipes: Path,
    service: Provider,
    reply: Reply,
    base: str,
    outcome: str,
) -> None:
    service.replies.append(reply)
    given = task(kind="exchange_rate", input={"base": base, "quote": "USD"})

    run = await agent.run_async(recipes / "exchange_rate.py", given, url=service.url)

    assert run.outcome == outcome
    assert run.submitted is None or run.submitted.output == 1.1
    targets = {asked.target for asked in service.asked}
    assert targets <= {"/v1?base=EUR&symbols=USD"}


TITLED = b"<html><title>\n A &amp; B </title>"


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(200, TITLED), "completed"),
        (Reply(200, b"<html>"), "declined"),
        (Reply(302, b"", {"Location": "http://127.0.0.1:1/"}), "declined"),
        (Reply(404, b""), "declined"),
        (Reply(-1, b""), "retry_later"),
    ],
)
async def test_a_page_is_read_where_it_is(
    agent: FakeAgent, recipes: Path, service: Provider, reply: Reply, outcome: str
) -> None:
    service.replies.append(reply)
    given = task(kind="page_title", input={"url": service.url})

    run = await agent.run_async(
        recipes / "page_title.py", given, sites=f"a.example {site_of(service)}"
    )

    assert run.outcome == outcome
    assert run.submitted is None or run.submitted.output == "A & B"


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "http://192.168.0.1/",
        "http://SITE@192.168.0.1/",
        "http://SITE:81/",
        "http://SITE/ HTTP/1.1\r\nX: 1",
        "http://[",
        "",
    ],
)
async def test_no_other_site_is_asked(
    agent: FakeAgent, recipes: Path, service: Provider, url: str
) -> None:
    site = site_of(service)
    given = task(kind="page_title", input={"url": url.replace("SITE", site)})

    run = await agent.run_async(recipes / "page_title.py", given, sites=site)

    assert run.outcome == "declined"
    assert service.asked == []


async def test_a_person_is_told_once_and_answers_later(
    agent: FakeAgent,
    recipes: Path,
    service: Provider,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("CHAT_WEBHOOK", service.url)
    service.replies.append(Reply(200, {}))
    given = task("Red or blue?", kind="opinion", reward=5, id="../../x")
    ask = partial(agent.run_async, recipes / "ask_person.py", given)

    first = await ask(answers=str(tmp_path))
    second = await ask(answers=str(tmp_path))
    (asked,) = service.asked
    told, _, answer = asked.body["text"].partition("\n→ ")
    await anyio.Path(answer).write_text("Blue\n")
    last = await ask(answers=str(tmp_path))

    assert (first.outcome, second.outcome) == ("retry_later", "retry_later")
    assert told == "5 credits: Red or blue?"
    assert Path(answer).parent == tmp_path
    assert last.result.output == "Blue"
    assert agent.state["ask_person"] == {}


def test_without_its_webhook_the_owner_is_told(
    agent: FakeAgent, recipes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CHAT_WEBHOOK", raising=False)

    run = agent.run(recipes / "ask_person.py", task("Red?", kind="opinion"))

    assert (run.outcome, run.reason) == ("misconfigured", "there is no CHAT_WEBHOOK")
