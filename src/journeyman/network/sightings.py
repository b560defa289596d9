"""What a listing shows of a task that is ours: posted, or delivered."""

from dataclasses import dataclass

from journeyman.domain.tasks import JSON, Progress, Task
from journeyman.network.progress import layers_of, progress_of_record
from journeyman.network.service_model.reading import (
    NAMES,
    RecordReader,
    as_exact_credits,
    as_label,
    paid_credits,
)

_RECORD = RecordReader()
_REFUNDED = frozenset({"refunded", "reimbursed", "credits returned"})
"""Words for a task whose reward went back to its poster."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sighting:
    """One look at such a task."""

    status: str
    """The network's own word; empty where it shows none."""
    progress: Progress | None
    """How far it is; None: open, or the word is not known."""
    earned: float | None
    """Credits that it names as paid; None: it names none."""
    result: JSON
    """What was handed in for it; None: nothing is shown."""
    is_refunded: bool
    """Its reward came back to us."""
    refund: float | None
    """The credits that it names for that; None: it names none."""


def read_sighting(task: Task) -> Sighting:
    """Read the record of a task of ours."""
    seen = _RECORD.open(dict(task.raw))
    refund = seen.pick(NAMES["refund"], as_exact_credits)
    is_said = as_label(task.status) in _REFUNDED or seen.says(
        NAMES["refund"], flag=True
    )
    return Sighting(
        status=task.status,
        progress=progress_of_record(seen, task.status),
        earned=paid_credits(one.body for one in layers_of(dict(task.raw))),
        result=seen.pick(NAMES["result"], _work),
        is_refunded=is_said or bool(refund and refund > 0),
        refund=refund if refund and refund > 0 else None,
    )


def _work(value: JSON) -> JSON:
    """Return what was handed in; many show an empty value until it is."""
    return value if value not in ("", [], {}) else None
