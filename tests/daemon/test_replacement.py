"""A new agent in the place of an old one: nothing of the old one is thrown away."""

import stat
from pathlib import Path

import pytest
from tests.daemon.conftest import Answering, Site

from journeyman.daemon.replacement import Replacement, replace_agent
from journeyman.domain.errors import (
    AlreadyRunningError,
    NetworkError,
    SafetyError,
    StateError,
)
from journeyman.journal.directory import DataDirectory, DirectoryLock
from journeyman.journal.identity import load_identity
from journeyman.journal.journal import Journal

URL = "http://127.0.0.1:8080"


async def replace(site: Site, base_url: str = URL, **changes: int) -> Replacement:
    return await replace_agent(site.settings(**changes), base_url, site.environment())


async def test_a_new_agent_joins_and_the_old_one_is_kept_beside_it(site: Site) -> None:
    await site.run(work__max_tasks=2)
    old = load_identity(site.data / "identity.json")
    assert old is not None

    done = await replace(site)

    new = load_identity(site.data / "identity.json")
    assert new == done.identity
    assert new.agent_id != old.agent_id
    kept = site.data / f"identity-{old.agent_id}-1.json"
    assert (done.kept.identity, load_identity(kept)) == (kept, old)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert done.old.agent_id == old.agent_id
    with site.journal() as journal:
        assert journal.ledger.balance() == 100
        assert journal.tasks.counts() == {}
    assert not (site.data / "replacement").exists()


async def test_both_agents_go_on_from_their_own_files(site: Site) -> None:
    await site.run(work__max_tasks=2)
    done = await replace(site)
    assert done.kept.journal is not None
    await site.run(work__max_tasks=1)
    with Journal(done.kept.journal, site.environment().clock.now) as kept:
        assert kept.tasks.counts()["completed"] == 2
        assert kept.ledger.balance() == done.old.credits

    again = await replace(site)

    assert again.kept.identity != done.kept.identity
    assert len(list(site.data.glob("identity*.json"))) == 3


async def test_a_daemon_that_runs_is_not_replaced(site: Site) -> None:
    await site.run(work__max_tasks=1)
    before = load_identity(site.data / "identity.json")

    with DirectoryLock(DataDirectory(site.data)), pytest.raises(AlreadyRunningError):
        await replace(site)

    assert load_identity(site.data / "identity.json") == before


async def test_a_network_that_registers_nobody_leaves_the_old_agent_in_place(
    site: Site,
) -> None:
    await site.run(work__max_tasks=1)
    before = load_identity(site.data / "identity.json")
    good, site.transport = site.transport, Answering(403, b"{}")

    with pytest.raises(NetworkError):
        await replace(site, retry__registrations_per_start=1)

    assert load_identity(site.data / "identity.json") == before
    site.transport = good
    await site.run(work__max_tasks=1)
    with site.journal() as journal:
        assert journal.tasks.counts()["completed"] == 2


async def test_an_agent_of_another_network_is_not_replaced_here(site: Site) -> None:
    await site.run(work__max_tasks=1)

    with pytest.raises(SafetyError):
        await replace(site, "http://other.example")


async def test_a_journal_whose_identity_is_gone_is_put_aside_too(site: Site) -> None:
    await site.run(work__max_tasks=1)
    (site.data / "identity.json").unlink()

    done = await replace(site)

    assert done.kept.identity is None
    assert done.kept.journal is not None
    assert done.kept.journal.exists()


@pytest.mark.parametrize("step", range(1, 4))
async def test_a_replacement_that_was_interrupted_is_finished_by_the_next_one(
    site: Site, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    await site.run(work__max_tasks=1)
    moves = 0
    real = Path.replace

    def failing(self: Path, target: Path) -> Path:
        nonlocal moves
        moves += target.parent == site.data and self.name != ".identity.json.new"
        if moves == step:
            raise OSError(28, "No space left on device")
        return real(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", failing)
        with pytest.raises(StateError, match="join --replace"):
            await replace(site)
    ledger = await site.ledger()
    members = len(ledger["agents"])

    done = await replace(site)

    assert len((await site.ledger())["agents"]) == members
    assert load_identity(site.data / "identity.json") == done.identity
    with site.journal() as journal:
        assert journal.facts.get("agent") == done.identity.agent_id
    kept = [path.name for path in site.data.glob("journal-*.db")]
    assert len(kept) == 1
    assert len(list(site.data.glob("identity-*.json"))) >= 1
