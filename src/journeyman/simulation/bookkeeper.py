"""Reads the journal at every commit: moves and money."""

from collections import Counter
from collections.abc import Callable

from journeyman.domain import IN_FLIGHT, TaskState, is_allowed
from journeyman.journal import Journal, SpendKind
from journeyman.settings import Settings
from journeyman.simulation.findings import Findings
from journeyman.simulation.server import SimulatedNetwork

FIRST = TaskState.SEEN


class Bookkeeper:
    """Tests, commit by commit, the invariants about what the journal holds."""

    def __init__(
        self,
        *,
        findings: Findings,
        network: SimulatedNetwork,
        settings: Settings,
        seconds: Callable[[], float],
    ) -> None:
        self._findings = findings
        self._network = network
        self._budget = settings.budget
        self._cents = settings.topup.per_day_cents
        self._seconds = seconds
        self._last_event = 0
        self._states: dict[str, str] = {}
        self._results: dict[str, str] = {}
        self.moves: Counter[str] = Counter()
        """How often each move was committed, such as "wanted > claiming"."""
        self.in_flight: Counter[str] = Counter()
        """How many tasks are in each state of work, as of the last commit."""

    def read(self, journal: Journal) -> None:
        """Test what the last commit has changed."""
        moved = self._read_moves(journal)
        if moved:
            self._read_results(journal, moved)
        self._read_money(journal)

    def _read_moves(self, journal: Journal) -> list[str]:
        rows = journal.database.rows(
            "SELECT event_id, task_id, before, after FROM task_events "
            "WHERE event_id > ? ORDER BY event_id",
            self._last_event,
        )
        for row in rows:
            task_id, before, after = row["task_id"], row["before"], row["after"]
            known = self._states.get(task_id, FIRST)
            if before == FIRST and known == TaskState.SKIPPED:
                known = FIRST  # It was forgotten, and is still listed.
            legal = is_allowed(TaskState(before), TaskState(after))
            self._check(
                "I-12",
                f"{task_id} went from {before} ({known} before) to {after}",
                holds=legal and known == before,
            )
            self.moves[f"{before} > {after}"] += 1
            self._states[task_id] = after
            self.in_flight[known] -= known in IN_FLIGHT
            self.in_flight[after] += after in IN_FLIGHT
            self._last_event = row["event_id"]
        return [row["task_id"] for row in rows]

    def _read_results(self, journal: Journal, task_ids: list[str]) -> None:
        for task_id in task_ids:
            row = journal.database.row(
                "SELECT state, result FROM full_tasks WHERE task_id = ?", task_id
            )
            if row is None or row["result"] is None:
                continue
            first = self._results.setdefault(task_id, row["result"])
            self._check(
                "I-7", f"the result of {task_id} changed", holds=first == row["result"]
            )

    def _read_money(self, journal: Journal) -> None:
        for row in journal.database.rows(
            "SELECT kind, substr(at, 1, 10) AS day, count(*) AS n, "
            "sum(credits) AS credits, sum(cents) AS cents FROM spends "
            "WHERE state != 'released' GROUP BY kind, day ORDER BY kind, day",
        ):
            is_post = row["kind"] == SpendKind.POST
            within = (
                row["credits"] <= self._budget.per_day_credits
                and row["n"] <= self._budget.posts_per_day
                if is_post
                else row["cents"] <= self._cents
            )
            what = f"{row['n']} of {row['kind']}, {row['credits']} credits"
            self._check("I-11", f"{what} on {row['day']}", holds=within)
        self._compare_posts(journal)

    def _compare_posts(self, journal: Journal) -> None:
        agent = journal.facts.get("agent")
        charged = self._network.charged(str(agent)) if agent else 0
        if charged:
            row = journal.database.row(
                "SELECT coalesce(sum(credits), 0) AS held FROM spends "
                "WHERE kind = 'post' AND state != 'released'",
            )
            held = int(row["held"]) if row else 0
            self._check(
                "I-10",
                f"{charged} credits were charged and {held} are accounted for",
                holds=charged <= held,
            )

    def _check(self, invariant: str, message: str, *, holds: bool) -> None:
        self._findings.check(invariant, self._seconds(), message, holds=holds)
