"""Whether a path lies on a volume, by what the kernel says of its mounts."""

from pathlib import Path

import pytest

from journeyman.daemon.disk import is_ephemeral, is_on_mount

MOUNTS = """\
622 512 0:62 / / rw,relatime master:1 - overlay overlay rw,lowerdir=/l
623 622 0:65 / /proc rw,nosuid - proc proc rw
624 622 8:1 /volumes/j/_data /data rw,relatime - ext4 /dev/sda1 rw
625 622 8:1 /x /mnt/with\\040blank rw,relatime - ext4 /dev/sda1 rw
626 622 8:1 /y /etc/hosts rw - ext4 /dev/sda1 rw
odd line

"""


@pytest.mark.parametrize(
    ("path", "is_on"),
    [
        ("/data", True),
        ("/data/deep/er", True),
        ("/data2", False),
        ("/database", False),
        ("/home/agent", False),
        ("/", False),
        ("/mnt/with blank/data", True),
        ("/mnt", False),
    ],
)
def test_a_path_is_on_a_volume_or_is_not(path: str, *, is_on: bool) -> None:
    assert is_on_mount(Path(path), MOUNTS) is is_on


def test_outside_of_a_container_nothing_is_feared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("journeyman.daemon.disk.MARKS", (tmp_path / "absent",))

    assert not is_ephemeral(tmp_path)


def test_inside_of_one_a_path_on_no_volume_is_warned_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mountinfo").write_text(MOUNTS)
    monkeypatch.setattr("journeyman.daemon.disk.MARKS", (tmp_path,))
    monkeypatch.setattr("journeyman.daemon.disk.MOUNTS", tmp_path / "mountinfo")

    assert is_ephemeral(tmp_path)
    assert not is_ephemeral(Path("/data"))
