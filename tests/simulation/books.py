"""The books of both sides, compared: every credit leads back to a request."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tests.simulation.network import REGISTER, Move, SimulatedNetwork

from journeyman.domain.tasks import TERMINAL, SpendId, TaskId
from journeyman.economy.reconcile import OTHERS, PAYABLE_TOP_UPS
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import AGENT, Entry, EntryKind
from journeyman.journal.maintenance import ledger_faults
from journeyman.journal.spends import SpendKind, SpendState

MAYBE = {
    SpendKind.POST: frozenset({SpendState.RESERVED, SpendState.UNKNOWN}),
    SpendKind.TOP_UP: frozenset({SpendState.RESERVED, *PAYABLE_TOP_UPS}),
}
"""It may have been made, or paid: the journal says that it does not know."""
OF_REQUESTS = frozenset({EntryKind.EARNED, EntryKind.SPENT, EntryKind.TOP_UP})
"""Kinds of entries that a request of ours has made."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What both sides have booked, and what is not explained."""

    here: int
    there: int
    open: int
    """Credits moved there that the journal names as not known yet."""
    faults: tuple[str, ...]
    """What leads back to no request, and what is wrong with the ledger by itself."""

    @property
    def balances(self) -> bool:
        """Whether both differ by what is open, and by nothing else."""
        return self.here + self.open == self.there


class Books:
    """The ledger of an agent beside the network's."""

    def __init__(self, journal: Journal, network: SimulatedNetwork, agent: str) -> None:
        self._journal = journal
        self._moves = network.moves(agent)
        self._made_by = network.keys()
        self._sent = network.keys_sent()

    def compare(self) -> Comparison:
        """Lead each credit of both sides back to the request that moved it."""
        unbooked = [move for move in self._moves if self._booked(move) != move.amount]
        known = [move for move in unbooked if self._is_open(move)]
        open_ = sum(move.amount - self._booked(move) for move in known)
        return Comparison(
            here=self._journal.ledger.balance(),
            there=sum(move.amount for move in self._moves),
            open=open_ - self._taken_for_another(known),
            faults=(
                *(
                    f"{move} is booked as {self._booked(move)}"
                    for move in unbooked
                    if move not in known
                ),
                *filter(None, map(self._fault, self._journal.ledger.entries())),
                *self._unexplained(),
                *ledger_faults(self._journal),
            ),
        )

    # -- from the network's books to ours -------------------------------------------

    def _booked(self, move: Move) -> int:
        amount_of = self._journal.ledger.amount_of
        match move.reason:
            case "starter":
                return amount_of("starter")
            case "reward":
                keys = f"earned:{move.reference}", f"late-pay:{move.reference}"
                return sum(map(amount_of, keys))
            case "escrow":
                return amount_of(f"spent:{self._spend_id(move)}")
            case _:
                return amount_of(f"top-up:{self._spend_id(move)}")

    def _is_open(self, move: Move) -> bool:
        """Return whether the journal says that it does not know of this move."""
        if move.reason == "reward":
            return self._is_under_way(TaskId(move.reference))
        spend = self._journal.spends.get(self._spend_id(move))
        return spend is not None and spend.state in MAYBE[spend.kind]

    def _is_under_way(self, task_id: TaskId) -> bool:
        try:
            return self._journal.tasks.get(task_id).state not in TERMINAL
        except KeyError:
            return False

    def _spend_id(self, move: Move) -> SpendId:
        """Lead a post or a checkout back to our spend, by the key of its request."""
        return SpendId(self._made_by.get(move.reference, ""))

    # -- from our books to the network's --------------------------------------------

    def _fault(self, entry: Entry) -> str:
        """Return why an entry leads back to no request that the network has seen."""
        if entry.kind is EntryKind.STARTER:
            is_led_back = REGISTER in self._sent
        elif entry.kind in OF_REQUESTS:
            # Of two pages just alike nobody can tell which one was paid: it says so.
            is_doubtful = OTHERS in entry.note
            is_led_back = entry.request in self._sent or is_doubtful
        else:
            # An adjustment is looked at by itself; this network refunds nothing.
            is_led_back = entry.account != AGENT or entry.kind is EntryKind.ADJUSTMENT
        return "" if is_led_back else f"{entry.key} leads back to no request"

    def _unexplained(self) -> Iterator[str]:
        for entry in self._journal.ledger.unexplained():
            yield f"{entry.key} over {entry.amount} credits is unexplained"

    def _taken_for_another(self, known: list[Move]) -> int:
        """Return the credits that are booked for a spend, and moved for one just alike.

        No answer ever tells which of two pages of the same price somebody has paid.
        """
        moved = {self._spend_id(move) for move in self._moves}
        alike = Counter(move.amount for move in known)
        taken = 0
        for spend in self._journal.spends.in_state(SpendState.SETTLED):
            amount = -spend.credits if spend.kind is SpendKind.POST else spend.credits
            if spend.spend_id not in moved and alike[amount]:
                alike[amount] -= 1
                taken += amount
        return taken
