"""On networks that share nothing with us, the daemon earns all that there is to earn.

Each is a server of its own, in the manner of a real kind of backend, and was written
before the search that has to find out how it wants its requests. `make foreign` runs
them; each is a real `journeyman run`, told nothing but the address.
"""

import importlib
import inspect
import statistics
from pathlib import Path

import pytest
from tests.foreign.backend import Backend
from tests.foreign.trial import report, run_trial

HERE = Path(__file__).parent
NO_NETWORKS = {"__init__", "backend", "trial"}
NETWORKS = sorted(
    one.stem
    for one in HERE.glob("*.py")
    if one.stem not in NO_NETWORKS and not one.stem.startswith("test_")
)


def network_named(name: str) -> Backend:
    module = importlib.import_module(f"tests.foreign.{name}")
    (found,) = (
        kind
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, Backend) and kind.__module__ == module.__name__
    )
    backend: Backend = found()
    return backend


@pytest.mark.timeout(600)
@pytest.mark.foreign
@pytest.mark.parametrize("name", NETWORKS)
def test_everything_is_earned(name: str, tmp_path: Path) -> None:
    trial = run_trial(network_named(name), tmp_path)
    book, told = trial.book, report(name, trial)
    print(told)
    assert {*book.paid} == trial.tasks, told
    assert trial.earned == sum(book.paid.values()), told
    assert book.registrations == 1, told
    refusals = trial.refusals.values()
    assert max(refusals) <= 6, told
    assert statistics.median(refusals) <= 3, told
    assert book.most_held_before_first_pay == 1, told
    assert not book.held, told


def test_there_are_at_least_fifteen_networks() -> None:
    assert len(NETWORKS) >= 15
