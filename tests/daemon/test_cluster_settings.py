"""What is wrong with the settings of a cluster is told at the start, with the fix."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from journeyman.cli.commands.status import cluster_text
from journeyman.daemon.cluster import cluster_of, cluster_status, require_cluster
from journeyman.daemon.doctor.cluster import judge
from journeyman.domain.errors import ConfigurationError
from journeyman.settings.sections import ClusterSettings
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.loader import load_file
from journeyman.strategies.running.child import Isolation
from journeyman.strategies.running.cluster import (
    Cluster,
    ClusterAddress,
    ClusterStatus,
    ClusterWorker,
)

TLS = "tls://scheduler.example:8786"


def problem(settings: ClusterSettings) -> ConfigurationError:
    with pytest.raises(ConfigurationError) as raised:
        cluster_of(settings, Isolation())
    return raised.value


def test_without_a_scheduler_there_is_no_cluster() -> None:
    assert cluster_of(ClusterSettings(), Isolation()) is None


def test_tls_without_its_files_is_refused_by_the_setting_that_is_missing(
    tmp_path: Path,
) -> None:
    pytest.importorskip("distributed")
    ca = tmp_path / "ca.pem"

    missing = problem(ClusterSettings(scheduler=TLS))
    gone = problem(ClusterSettings(scheduler=TLS, tls_ca_file=ca))
    ca.write_text("a certificate")
    plain = problem(ClusterSettings(scheduler="tcp://h:1", tls_ca_file=ca))

    assert "cluster.tls_ca_file is not set" in missing.problem
    assert f"cluster.tls_ca_file cannot be read: {ca}" in gone.problem
    assert "which is not encrypted" in plain.problem


@pytest.mark.parametrize(
    "address", ["scheduler:8786", "http://h:1", "tcp://h", "tls://"]
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="scheduler"):
        ClusterSettings(scheduler=address)


def test_a_strategy_that_is_sent_to_a_cluster_needs_one(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from journeyman import strategy\n\n"
        "@strategy(tags={'x'})\ndef mine(task):\n    return 1\n"
    )
    (loaded,) = load_file(file).strategies

    require_cluster(ClusterSettings(), [loaded])
    with pytest.raises(ConfigurationError, match="sends 'mine' to the cluster"):
        require_cluster(ClusterSettings(), [_there(loaded)])
    require_cluster(ClusterSettings(scheduler=TLS), [_there(loaded)])


def _there(loaded: LoadedStrategy) -> LoadedStrategy:
    return replace(loaded, runner="cluster")


def test_the_status_has_what_is_known_of_the_cluster() -> None:
    cluster = Cluster(address=ClusterAddress(scheduler=TLS), isolation=Isolation())
    before: Any = cluster_status(cluster, 6)
    worker = ClusterWorker(address="tls://w:1", threads=4)
    others = ("w has dask 1",)
    cluster.status = ClusterStatus(
        problem="", workers=(worker, worker), mismatches=others
    )
    cluster.busy["painter"] = 3

    connected: Any = cluster_status(cluster, 6)

    assert cluster_status(None, 6) is None
    assert connected == {
        "scheduler": TLS,
        "problem": "",
        "workers": 2,
        "slots": 6,
        "busy": 3,
        "mismatches": ["w has dask 1"],
    }
    assert cluster_text(connected) == (
        "3 of 6 slots on 2 workers; others have another version: journeyman doctor"
    )
    assert cluster_text(before) == "not used: it has not been connected to yet"


def test_doctor_says_what_hinders_and_what_to_do() -> None:
    worker = ClusterWorker(address="tcp://w:1", threads=4)

    lost = judge(TLS, ClusterStatus(problem="timed out"))
    alone = judge(TLS, ClusterStatus(problem=""))
    other = judge(TLS, ClusterStatus(problem="", mismatches=("w has dask 1",)))
    well = judge(TLS, ClusterStatus(problem="", workers=(worker, worker)))

    assert (lost.grade, lost.message) == ("fail", f"{TLS}: timed out")
    assert "dask worker" in alone.fix
    assert other.grade == "warn"
    assert (well.grade, well.message) == ("ok", "2 workers do 8 tasks at once")
