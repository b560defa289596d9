"""Sweeps: what they are made of, and that a case can be asked for again."""

import pytest
from tests.every import whole_only
from tests.simulation.campaign import (
    SWEEPS,
    Campaign,
    SeedBatch,
    find_case,
    run_all,
    sweep_batches,
)
from tests.simulation.plan import Chaos
from tests.simulation.run import simulate

pytestmark = pytest.mark.endurance


def test_the_crash_sweep_has_every_contract() -> None:
    assert len(list(SWEEPS["crashes"]())) == 432


@pytest.mark.parametrize("sweep", SWEEPS)
def test_a_case_that_is_asked_for_again_is_the_same(sweep: str) -> None:
    ran = sweep_batches(sweep, every=9)[5].run()
    name, result = ran[-1]

    again = simulate(find_case(sweep, name).plan)

    assert len(ran) > 1
    assert ":" in name
    assert again.digest == result.digest
    assert again.kills >= 1


@whole_only
def test_every_nth_case_leaves_no_case_out_when_all_offsets_are_taken() -> None:
    batches = sweep_batches("pairs", every=12)
    shares = [len(work.run()) - 1 for work in batches[:12]]

    assert sum(shares) > 0
    assert max(shares) - min(shares) <= 2


@pytest.mark.parametrize("name", ["x:1", "1:x", ""])
def test_a_case_that_does_not_exist_is_told(name: str) -> None:
    with pytest.raises(LookupError, match="has no case"):
        find_case("pairs", name)


@whole_only
def test_two_processes_come_to_what_one_comes_to() -> None:
    batches = [SeedBatch(seed, 0.01, Chaos.HARD) for seed in (1, 2, 3)]

    one = [result.digest for ran in run_all(batches, 1) for _, result in ran]
    two = [result.digest for ran in run_all(batches, 2) for _, result in ran]

    assert one == two


def test_a_campaign_names_the_command_for_each_run_that_failed() -> None:
    [(name, result)] = SeedBatch(1, 0.01, Chaos.OFF).run()
    campaign = Campaign()

    campaign.add(result, f"again {name}")

    assert (campaign.runs, campaign.failed) == (1, [])
