"""What monitoring systems ask: is it alive, can it earn, and every figure."""

import json
import re
import shutil
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import httpx2 as httpx
import pytest
import yaml  # type: ignore[import-untyped] # it ships no types
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr
from starlette.applications import Starlette
from tests.daemon.simulated import Household

from journeyman.control.verbs import PauseRequest, WhoAsks
from journeyman.daemon.commands import OwnerCommands
from journeyman.domain.clock import Clock
from journeyman.network.events import NETWORK_REQUEST
from journeyman.testing import FakeClock, RecordingLog
from journeyman.web.access import Access
from journeyman.web.app import build_app
from journeyman.web.live import Live
from journeyman.web.metrics import MOST_STRATEGIES, OTHERS, MeteredLog, Meters

PASSWORD = "a long enough password"  # noqa: S105 - of a test
RIGHT = {"Authorization": f"Bearer {PASSWORD}"}
DEPLOY = Path(__file__).parents[2] / "deploy"
WORKER = """
    from journeyman import Strategy


    class Worker(Strategy):
        kinds = {"work"}

        async def run(self, task):
            return "done"
"""
Visit = Callable[[httpx.AsyncClient, OwnerCommands], Awaitable[None]]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Household:
    home = Household(tmp_path_factory.mktemp("home"))
    home.write("worker.py", WORKER)
    home.network.offer(3)
    return home


def visit(home: Household, visit: Visit) -> None:
    """Let somebody ask a daemon that has had a minute for its tasks."""

    async def script(commands: OwnerCommands) -> None:
        await anyio.sleep(60)
        app = app_of(commands, commands.parts.environment.clock)
        transport = httpx.ASGITransport(app)
        base_url = "http://127.0.0.1:8420"
        async with httpx.AsyncClient(transport=transport, base_url=base_url) as client:
            await visit(client, commands)

    home.live(script)


def app_of(commands: OwnerCommands, clock: Clock) -> Starlette:
    environment = commands.parts.environment
    access = Access(
        password=SecretStr(PASSWORD),
        names=[],
        clock=clock,
        randomness=environment.randomness,
        log=environment.log,
    )
    meters = Meters(clock)
    # One request of each sort, so that every family has a sample.
    log = MeteredLog(RecordingLog(), meters)
    log.emit(NETWORK_REQUEST, endpoint="claim", outcome="confirmed", seconds=0.1)
    return build_app(commands, access, Live(clock), meters)


@pytest.fixture(scope="module")
def metrics(home: Household) -> dict[str, Metric]:
    """What Prometheus reads of an agent that has done three tasks, by name."""
    read: list[str] = []

    async def scrape(client: httpx.AsyncClient, _commands: OwnerCommands) -> None:
        answer = await client.get("/metrics", headers=RIGHT)
        assert answer.headers["content-type"].startswith("text/plain; version=")
        read.append(answer.text)

    visit(home, scrape)
    return {one.name: one for one in text_string_to_metric_families(read[0])}


def value(metrics: dict[str, Metric], name: str, **labels: str) -> float:
    (found,) = (one for one in metrics[name].samples if one.labels == labels)
    return float(found.value)


def test_the_figures_are_those_of_the_journal(metrics: dict[str, Metric]) -> None:
    assert value(metrics, "journeyman_tasks", state="completed") == 3
    assert value(metrics, "journeyman_claims", outcome="won") == 3
    assert value(metrics, "journeyman_received_credits", kind="earned") == 6
    assert value(metrics, "journeyman_balance_credits") == 106
    assert value(metrics, "journeyman_undelivered_results") == 0
    assert value(metrics, "journeyman_receivable_credits") == 0
    ended = {"strategy": "worker", "state": "completed"}
    assert value(metrics, "journeyman_strategy_tasks", **ended) == 3
    assert value(metrics, "journeyman_network_pause_seconds", scope="service") == 0


def test_each_name_and_its_help_follow_the_conventions(
    metrics: dict[str, Metric],
) -> None:
    ours = [one for name, one in metrics.items() if name.startswith("journeyman_")]

    for metric in ours:
        assert re.fullmatch(r"journeyman(_[a-z]+)+", metric.name)
        assert metric.documentation.endswith(".")
        samples = {one.name for one in metric.samples}
        is_counter = metric.type == "counter"
        assert any(name.endswith("_total") for name in samples) == is_counter
        assert not metric.name.endswith(("_milliseconds", "_ms", "_count", "_sum"))


def test_a_thousand_strategies_and_addresses_do_not_become_a_thousand_series(
    home: Household,
) -> None:
    async def scrape(client: httpx.AsyncClient, commands: OwnerCommands) -> None:
        journal = commands.agent.journal
        with journal.tx("a long history"):
            for number in range(1_000):
                journal.totals.add(f"ended.2026-01-01.completed.old_{number}", number)
        text = (await client.get("/metrics", headers=RIGHT)).text
        metrics = {one.name: one for one in text_string_to_metric_families(text)}
        tasks = metrics["journeyman_strategy_tasks"].samples
        assert len({one.labels["strategy"] for one in tasks}) == MOST_STRATEGIES + 1
        # Nothing is lost by that: the rest is counted under one name.
        done = [one.value for one in tasks if one.labels["state"] == "completed"]
        assert sum(done) == sum(range(1_000)) + 3
        assert OTHERS in {one.labels["strategy"] for one in tasks}
        assert sum(len(one.samples) for one in metrics.values()) < 600

    visit(home, scrape)


def test_what_is_asked_of_a_network_has_as_many_series_as_the_contract_endpoints() -> (
    None
):
    meters = Meters(FakeClock())
    log = MeteredLog(RecordingLog(), meters).bind(agent_id="a1")

    for number in range(500):
        endpoint = f"/.well-known/{number}.json"
        outcome = f"refused: because {number}"
        log.emit(NETWORK_REQUEST, endpoint=endpoint, outcome=outcome, seconds=0.2)

    (family,) = meters.requests.collect()
    counts = {
        (one.labels["endpoint"], one.labels["outcome"]): one.value
        for one in family.samples
        if one.name.endswith("_count")
    }
    assert counts == {("document", "refused"): 500}


def test_who_may_ask_what(home: Household) -> None:
    async def knock(client: httpx.AsyncClient, _commands: OwnerCommands) -> None:
        assert (await client.get("/metrics")).status_code == 401
        wrong = {"Authorization": "Bearer not the password"}
        assert (await client.get("/metrics", headers=wrong)).status_code == 401
        # A probe has no password, and learns no more than a word.
        assert (await client.get("/healthz")).text == "alive\n"
        assert (await client.get("/readyz")).text == "ready\n"

    visit(home, knock)


def test_a_paused_agent_is_alive_and_not_ready(home: Household) -> None:
    async def probe(client: httpx.AsyncClient, commands: OwnerCommands) -> None:
        commands.pause(PauseRequest(by="ann", reason="a secret plan"))
        alive, ready = await client.get("/healthz"), await client.get("/readyz")
        told = await client.get("/readyz", headers=RIGHT)
        commands.resume(WhoAsks("ann"))
        assert alive.status_code == 200
        # Why is nothing for a stranger who reaches the port.
        assert (ready.status_code, ready.text) == (503, "not ready\n")
        assert (told.status_code, told.text) == (503, "not ready: paused\n")

    visit(home, probe)


# -- what is shipped for Prometheus and Grafana ----------------------------------------


@pytest.fixture(scope="module")
def queries() -> list[str]:
    """Every query of the dashboard and of the alerts."""
    board = json.loads((DEPLOY / "grafana.json").read_text())
    rules = yaml.safe_load((DEPLOY / "prometheus-rules.yaml").read_text())
    asked = [t["expr"] for panel in board["panels"] for t in panel["targets"]]
    return asked + [rule["expr"] for rule in rules["groups"][0]["rules"]]


def test_dashboard_and_alerts_ask_for_what_there_is(
    queries: list[str], metrics: dict[str, Metric]
) -> None:
    samples = {one.name for metric in metrics.values() for one in metric.samples}
    # One that has samples only while something is wrong.
    samples |= {"journeyman_earning_causes"} & metrics.keys()

    asked = {name for one in queries for name in re.findall(r"journeyman_\w+", one)}

    assert asked - samples == set()
    assert len(asked) > 15


@pytest.fixture
def promtool() -> Callable[..., None]:
    path = shutil.which("promtool")
    if path is None:
        pytest.skip("there is no promtool (Debian: apt install prometheus)")

    def run(*arguments: str) -> None:
        done = subprocess.run(  # noqa: S603 - found above
            [path, *arguments], check=False, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr

    return run


def test_promtool_accepts_the_alerts_and_each_query_of_the_dashboard(
    promtool: Callable[..., None], queries: list[str], tmp_path: Path
) -> None:
    rules = [{"record": f"q{n}", "expr": one} for n, one in enumerate(queries)]
    group = {"groups": [{"name": "queries", "rules": rules}]}
    (tmp_path / "queries.yaml").write_text(yaml.safe_dump(group))

    promtool("check", "rules", str(DEPLOY / "prometheus-rules.yaml"))
    promtool("check", "rules", str(tmp_path / "queries.yaml"))


def test_alerts_are_told_when_they_should_be_and_not_before(
    promtool: Callable[..., None], tmp_path: Path
) -> None:
    text = (Path(__file__).parent / "alerts.yaml").read_text()
    cases = tmp_path / "alerts.yaml"
    cases.write_text(text.replace("RULES", str(DEPLOY / "prometheus-rules.yaml")))

    promtool("test", "rules", str(cases))
