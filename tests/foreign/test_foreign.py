"""On networks that share nothing with us, the daemon earns all that there is to earn.

Each is a server of its own, in the manner of a real kind of backend, and was written
before the search that has to find out how it wants its requests. `make foreign` runs
them; each is a real `journeyman run`, told nothing but the address.
"""

from pathlib import Path

import pytest
from tests.every import EVERY
from tests.foreign.networks import NETWORKS, network_named
from tests.foreign.simulated import simulate
from tests.foreign.trial import faults, report, run_trial


@pytest.mark.timeout(600)
@pytest.mark.foreign
@pytest.mark.parametrize("name", NETWORKS[::EVERY])
def test_everything_is_earned(name: str, tmp_path: Path) -> None:
    trial = run_trial(network_named(name), tmp_path)
    told = report(name, trial)
    print(told)
    assert faults(trial) == [], told


def test_everything_is_earned_in_simulated_time(tmp_path: Path) -> None:
    trial = simulate("plain_results", tmp_path)

    assert faults(trial) == [], report("plain_results", trial)


def test_a_simulated_trial_that_ends_at_once_is_found_at_fault(
    tmp_path: Path,
) -> None:
    trial = simulate("plain_results", tmp_path, seconds=0)

    assert "all tasks are paid" in faults(trial)


def test_there_are_at_least_fifteen_networks() -> None:
    assert len(NETWORKS) >= 15
