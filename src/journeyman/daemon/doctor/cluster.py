"""Whether the owner's cluster can be used."""

from journeyman.daemon.doctor.finding import Finding, fail, ok, warn
from journeyman.strategies.running.cluster import ClusterStatus


def judge(scheduler: str, status: ClusterStatus) -> Finding:
    """Return what to think of what an attempt to connect has shown."""
    if status.problem:
        return fail(
            f"{scheduler}: {status.problem}",
            "Check that `dask scheduler` runs there and can be reached from here; with "
            "TLS, that the files are of the same authority.",
        )
    if status.mismatches:
        return warn(
            f"{len(status.mismatches)} differences, the first: {status.mismatches[0]}",
            "Install the same versions everywhere; such workers get nothing.",
        )
    if not status.workers:
        return warn("the scheduler has no worker", "Start one with `dask worker`.")
    return ok(f"{len(status.workers)} workers do {status.capacity} tasks at once")
