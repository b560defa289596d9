"""The owner's cluster, from the settings to what is logged of it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from journeyman.daemon import events
from journeyman.domain.errors import ConfigurationError
from journeyman.domain.tasks import JSON
from journeyman.observability.events import Log
from journeyman.settings.sections import ClusterSettings
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.running.child import Isolation
from journeyman.strategies.running.cluster import (
    Cluster,
    ClusterAddress,
    ClusterStatus,
    has_extra,
)

MOST_TOLD = 5
"""Mismatches in one line of the log."""


def cluster_of(settings: ClusterSettings, isolation: Isolation) -> Cluster | None:
    """Return the cluster that the settings name; None: they name none.

    Raises:
        ConfigurationError: it cannot be used as it is configured.
    """
    if settings.scheduler is None:
        return None
    if not has_extra():
        raise ConfigurationError(
            "cluster.scheduler is set, but Dask is not installed here",
            "Run: pip install 'journeyman[cluster]'. For an image with it, build with "
            "--build-arg LOCK=requirements/cluster.lock.",
        )
    files = {
        "tls_ca_file": settings.tls_ca_file,
        "tls_cert_file": settings.tls_cert_file,
        "tls_key_file": settings.tls_key_file,
    }
    _check_files(settings.scheduler, files)
    return Cluster(
        address=ClusterAddress(
            scheduler=settings.scheduler,
            ca=settings.tls_ca_file,
            certificate=settings.tls_cert_file,
            key=settings.tls_key_file,
            connect_seconds=settings.connect_seconds,
            wait_seconds=settings.wait_seconds,
        ),
        isolation=isolation,
    )


def _check_files(scheduler: str, files: dict[str, Path | None]) -> None:
    wanted = scheduler.startswith("tls://")
    for name, path in files.items():
        if wanted and path is None:
            raise ConfigurationError(
                f"cluster.scheduler is {scheduler}, but cluster.{name} is not set",
                "Set cluster.tls_ca_file, tls_cert_file and tls_key_file, all three.",
            )
        if path is not None and not wanted:
            raise ConfigurationError(
                f"cluster.{name} is set, but cluster.scheduler is {scheduler}, "
                "which is not encrypted",
                "Write tls:// in cluster.scheduler, or remove the TLS files.",
            )
        if path is None:
            continue
        try:
            path.read_bytes()
        except OSError as error:
            raise ConfigurationError(
                f"cluster.{name} cannot be read: {path}: {error.strerror}",
                "Correct the path, or its mode and owner.",
            ) from None


def cluster_status(cluster: Cluster | None, most: int) -> JSON:
    """Return what is known of the cluster; None: there is none.

    `most` tasks at once are sent there.
    """
    if cluster is None:
        return None
    status = cluster.status
    return {
        "scheduler": cluster.address.scheduler,
        "problem": status.problem,
        "workers": len(status.workers),
        "slots": min(status.capacity, most),
        "busy": cluster.busy.total(),
        "mismatches": list(status.mismatches[:MOST_TOLD]),
    }


def require_cluster(
    settings: ClusterSettings, strategies: Iterable[LoadedStrategy]
) -> None:
    """Check that a cluster is configured if a strategy runs on one.

    Raises:
        ConfigurationError: there is none.
    """
    there = [one.name for one in strategies if one.runner == "cluster"]
    if there and settings.scheduler is None:
        raise ConfigurationError(
            f"strategies.runners sends {there[0]!r} to the cluster, but "
            "cluster.scheduler is not set",
            "Set it to the address of your Dask scheduler, such as "
            "tls://scheduler.example:8786, or choose another runner.",
        )


@dataclass(eq=False)
class ClusterNews:
    """Logs what becomes of the cluster, and hands on how much it can do."""

    scheduler: str
    most: int
    """Tasks at once that are sent there."""
    use_capacity: Callable[[int], None]
    log: Log
    _said: ClusterStatus | None = None

    def tell(self, status: ClusterStatus) -> None:
        """Take over a new status."""
        capacity = min(status.capacity, self.most)
        self.use_capacity(capacity)
        before, self._said = self._said, status
        if status.problem:
            if before is None or before.problem != status.problem:
                self.log.emit(
                    events.CLUSTER_LOST,
                    scheduler=self.scheduler,
                    problem=status.problem,
                )
            return
        if status.mismatches and (
            before is None or before.mismatches != status.mismatches
        ):
            self.log.emit(
                events.CLUSTER_MISMATCH,
                scheduler=self.scheduler,
                count=len(status.mismatches),
                differences=list(status.mismatches[:MOST_TOLD]),
            )
        self.log.emit(
            events.CLUSTER_CONNECTED,
            scheduler=self.scheduler,
            workers=len(status.workers),
            slots=capacity,
        )
