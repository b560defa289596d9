"""How long a daemon says that it runs."""

from pathlib import Path

import anyio
from tests.daemon.simulated import Household

from journeyman.daemon.commands import OwnerCommands
from journeyman.domain.tasks import JSON


def test_a_daemon_is_up_since_its_start_and_not_since_somebody_asked(
    tmp_path: Path,
) -> None:
    home = Household(tmp_path)
    home.write(
        "idle.py",
        "from journeyman import strategy\n\n\n"
        "@strategy(kinds={'none'})\ndef idle(task):\n    return task.text\n",
    )
    seen: list[JSON] = []

    async def owner(commands: OwnerCommands) -> None:
        await anyio.sleep(100)
        seen.append((await commands.status())["up_seconds"])

    home.live(owner)

    assert seen == [100]
