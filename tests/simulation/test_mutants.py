"""Each planted bug is found, and the daemon as it is passes the same run."""

import pytest
from tests.simulation.mutants import MUTANTS, Mutant
from tests.simulation.run import simulate

pytestmark = pytest.mark.endurance


def name_of(mutant: Mutant) -> str:
    return mutant.name


@pytest.mark.parametrize("mutant", MUTANTS, ids=name_of)
def test_a_planted_bug_is_found(mutant: Mutant) -> None:
    with mutant.applied():
        assert not simulate(mutant.shows_in).passed


@pytest.mark.parametrize("mutant", MUTANTS, ids=name_of)
def test_the_same_run_passes_without_the_bug(mutant: Mutant) -> None:
    assert simulate(mutant.shows_in).violations == ()
