"""The figures of pressure that an owner may choose."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class PressureOptions:
    """How long a network is spared; all times in seconds."""

    max_retry_after: float = 3600.0
    """The longest wait that a network may ask for."""
    failures: int = 5
    """So many failures in a row open a breaker."""
    probe_every: float = 60.0
    """Between two probes of what is broken, or of a token that is refused."""
    absent_recheck: float = 3600.0
    """Between two looks for an endpoint that is not there; the first come sooner."""
