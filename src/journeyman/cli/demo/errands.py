"""What the demo asks of the running daemon, as its owner would."""

from collections.abc import Callable
from dataclasses import dataclass, field

from journeyman.daemon.control_client import ControlClient
from journeyman.domain import JSON, NewTask
from journeyman.domain.errors import JourneymanError

TASK = NewTask(
    title="Say in one sentence what an agent network is",
    description="Answer with one English sentence of at most 30 words.",
    reward=5,
    kind="writing",
    tags=("text", "writing"),
)
TOP_UP_CREDITS = 200


@dataclass
class Errands:
    """One posted task and one top-up; each is asked for once."""

    post: dict[str, JSON] = field(default_factory=dict)
    """The daemon's answer, or `problem`; empty until it was asked."""
    top_up: dict[str, JSON] = field(default_factory=dict)

    def run_next(self, daemon: ControlClient) -> None:
        """Run the next errand, if one is left."""
        if not self.post:
            self.post = _ask(lambda: daemon.post(TASK))
        elif not self.top_up:
            self.top_up = _ask(lambda: daemon.top_up(TOP_UP_CREDITS))

    def lines(self) -> list[str]:
        """Say what came of them."""
        told: list[str] = []
        if self.post:
            told.append(_told(self.post, f"posted a task for {TASK.reward} credits"))
        if self.top_up:
            usd = int(str(self.top_up.get("cents", 0))) / 100
            page = f"page for USD {usd:.2f}; nobody has paid it"
            told.append(_told(self.top_up, f"asked for a payment {page}"))
            told.extend(str(url) for url in [self.top_up.get("url")] if url)
        return told


def _ask(errand: Callable[[], dict[str, JSON]]) -> dict[str, JSON]:
    try:
        return errand()
    except JourneymanError as error:
        return {"problem": error.problem}


def _told(answer: dict[str, JSON], well: str) -> str:
    return f"not done: {answer['problem']}" if "problem" in answer else well
