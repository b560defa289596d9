"""The pytest plugin: the fixtures for tests of strategies."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from journeyman.domain.tasks import Task
    from journeyman.testing.agent import FakeAgent
    from journeyman.testing.market import Market

# What a fixture needs is imported when a test asks for it: every run of pytest in an
# environment that has journeyman imports this module.


@pytest.fixture
def agent(pytestconfig: pytest.Config) -> "FakeAgent":
    """An agent without a network: `agent.run(STRATEGY, task("..."))`."""
    from journeyman.testing.agent import FakeAgent  # noqa: PLC0415 - see above

    return FakeAgent(pytestconfig.rootpath)


@pytest.fixture
def task() -> "Callable[..., Task]":
    """A factory of tasks: `task("to be or not", tags=["count"], reward=3)`."""
    from journeyman.testing.agent import task as make  # noqa: PLC0415 - see above

    return make


@pytest.fixture
def market(tmp_path: Path, pytestconfig: pytest.Config) -> "Market":
    """A whole network in this process, and a daemon that works there."""
    from journeyman.testing.market import Market  # noqa: PLC0415 - see above

    return Market(tmp_path / "market", root=pytestconfig.rootpath)
