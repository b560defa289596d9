"""Tests, at the end of a run, the invariants about all that was left."""

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.simulation.behaviour import Rejoin
from tests.simulation.findings import Findings
from tests.simulation.plan import Plan
from tests.simulation.server import (
    CLAIM,
    COMPLETE,
    LISTING,
    OK,
    SUBMIT,
    Handled,
    SimulatedNetwork,
)
from tests.simulation.watch import Watch

from journeyman.domain.retry import RetryPolicy
from journeyman.domain.tasks import (
    IN_FLIGHT,
    TERMINAL,
    Identity,
    TaskId,
    TaskState,
    is_allowed,
)
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import Confidence
from journeyman.journal.spends import SpendKind
from journeyman.journal.tasks import TaskRecord
from journeyman.settings.sections import Settings


@dataclass(frozen=True, kw_only=True, slots=True)
class Remains:
    """What a run has left on both sides."""

    plan: Plan
    seconds: float
    """When it ended, on the daemon's machine."""
    network_seconds: float
    """The same on the network's, which is never suspended."""
    network: SimulatedNetwork
    watch: Watch
    journal: Journal
    identity: Identity | None
    shapes_exhausted: int
    """How often an action was given up for the day, since no shape of it was taken."""


def dump(journal: Journal) -> list[str]:
    """Give all rows of all tables as text, in an order that repeats."""
    tables = journal.database.rows(
        "SELECT name FROM sqlite_master WHERE type = 'table' "
        "AND name NOT LIKE 'sqlite_%' ORDER BY name"
    )
    return sorted(
        json.dumps([table, *tuple(row)], default=repr)
        for (table,) in tables
        for row in journal.database.rows(f"SELECT * FROM {table}")  # noqa: S608 - names of ours
    )


GIVEN_UP = (TaskState.DECLINED, TaskState.FAILED, TaskState.REJECTED)
"""Claimed and then ended without a completion, as its history tells."""
SETTLED = TERMINAL | {TaskState.SKIPPED}
TAKEN = ("submitted", "completed")
LONGEST_WITHOUT_A_LOOK = 3600.0 + 900.0
"""Seconds of a calm end: the longest wait that a network may ask for, and thrice the
longest pause of the daemon's own (schedule.discover_max_seconds)."""

UNTIL_TOMORROW = "shapes that refused replays, until tomorrow"


class Verdict:
    """Compares what the daemon believes with what the network knows."""

    def __init__(self, remains: Remains, findings: Findings) -> None:
        self._remains = remains
        self._findings = findings
        self._network = remains.network
        self._network_seconds = remains.network_seconds
        self._journal = remains.journal

    def give(self) -> None:
        """Test everything."""
        self._network.limits.enforce()
        self._test_identities()
        identity = self._remains.identity
        if identity is None:
            self._test_absence()
            return
        self._test_token(identity)
        self._test_tasks(identity.agent_id)
        self._test_progress(identity.agent_id)
        self._test_requests(identity.agent_id)
        self._test_overtaken(identity.agent_id)
        self._test_spends()
        self._test_histories()
        self._test_end()
        self._test_books(identity.agent_id)

    def _check(self, invariant: str, message: str, *, holds: bool) -> None:
        self._findings.check(invariant, self._remains.seconds, message, holds=holds)

    # -- who we are -----------------------------------------------------------

    def _test_identities(self) -> None:
        members = self._network.members()
        asked = self._remains.watch.registrations
        replays = "" in self._remains.watch.replayed
        allowed = max(1, asked) + replays * asked
        if not self._goes_wrong():
            allowed = 1
        self._check(
            "I-3",
            f"{len(members)} agents after {asked} registrations",
            holds=len(members) <= allowed,
        )

    def _test_absence(self) -> None:
        """We never joined: that is right only where joining again cannot succeed."""
        personality = self._remains.plan.personality
        conflict = personality.rejoin is Rejoin.CONFLICT
        intent = self._journal.facts.get("registration")
        # Counted before it leaves, so that one which was killed at once counts too.
        tries = intent.get("uncertain_tries") if isinstance(intent, dict) else 0
        waits_for_tomorrow = tries == RetryPolicy.unknown_registrations_per_day
        self._check(
            "I-18",
            f"no identity after {self._remains.watch.registrations} registrations",
            holds=waits_for_tomorrow or (conflict and not personality.honours_keys),
        )
        self._findings.skip("never joined")

    def _goes_wrong(self) -> bool:
        plan = self._remains.plan
        struck = plan.fault_at or plan.kill_at or plan.kills or plan.kill_rate
        return bool(struck or plan.faults or plan.stops)

    def _test_token(self, identity: Identity) -> None:
        token = identity.access_token.reveal()
        first = self._remains.watch.token
        self._check("I-1", "the token is not the first one", holds=token == first)
        known = identity.agent_id in self._network.members()
        self._check("I-1", "the network does not know our agent", holds=known)
        opens = self._network.knows(token)
        self._check("I-1", "the network does not know our token", holds=opens)
        text = "\n".join(dump(self._journal))
        self._check("I-16", "the token is in the journal", holds=token not in text)

    # -- tasks ----------------------------------------------------------------

    def _test_tasks(self, agent_id: str) -> None:
        for task in self._network.tasks_of(agent_id):
            record = self._record(task["task_id"])
            state = record.state if record else None
            message = f"{task['task_id']} is {task['status']} there and {state} here"
            kept = state in IN_FLIGHT | TERMINAL and state is not TaskState.LOST
            ended = task["status"] == "completed" or state in GIVEN_UP
            # The network would have opened a task again whose result it rejects.
            worked = state is not TaskState.REJECTED
            if not (kept and worked) and self._may_be_forgotten(task["task_id"]):
                self._findings.skip("a replay on a network that refuses repeats")
                continue
            self._check("I-4", message, holds=kept)
            if not (ended and worked) and self._was_claimed_late(task["task_id"]):
                self._findings.skip("a claim that arrived when all was over")
                continue
            if state in IN_FLIGHT and self._is_misled():
                self._findings.skip(UNTIL_TOMORROW)
                continue
            self._check("I-18", message, holds=ended and worked)

    def _was_claimed_late(self, task_id: str) -> bool:
        """Tell whether the claim that holds arrived long after it had been sent."""
        claims = (
            one
            for one in reversed(self._network.handled)
            if one.asked.path == CLAIM and one.asked.task_id == task_id
        )
        granted = (one for one in claims if one.answer.status == OK)
        holding = next(granted, None)
        return holding is not None and holding.asked.is_late

    def _may_be_forgotten(self, task_id: str) -> bool:
        hides = self._remains.plan.personality.refuses_repeats
        return hides and task_id in self._remains.watch.replayed

    def _is_misled(self) -> bool:
        """Tell whether refusals of replays can have looked like those of a shape.

        Then nobody can know better, and no other shape is tried before the next day.
        """
        replayed = self._remains.watch.replayed
        refuses = self._remains.plan.personality.refuses_repeats
        return bool(replayed and refuses and self._remains.shapes_exhausted)

    def _test_progress(self, agent_id: str) -> None:
        claims = {
            TaskState.COMPLETED: ("completed",),
            TaskState.SUBMITTED: TAKEN,
            TaskState.COMPLETING: TAKEN,
        }
        for state, statuses in claims.items():
            for record in self._journal.tasks.recent(state, -1):
                task = self._network.task(record.task_id) or {}
                true = task.get("claimant") == agent_id and task["status"] in statuses
                if not true and self._is_assumed(record):
                    self._findings.skip("work of which every yes was lost on the way")
                    continue
                self._check(
                    "I-6",
                    f"{record.task_id} is {state} here and {task.get('status')} there",
                    holds=true,
                )

    def _test_overtaken(self, agent_id: str) -> None:
        """What a lease or a deadline took from us has ended here, with its reason."""
        for one in self._network.limits.expired:
            if one.agent_id != agent_id:
                continue
            if self._may_be_forgotten(one.task_id):
                self._findings.skip("a replay on a network that refuses repeats")
                continue
            moves = self._journal.tasks.history(TaskId(one.task_id))
            last = moves[-1] if moves else None
            told = last is not None and (
                last.after == TaskState.COMPLETED or bool(last.reason)
            )
            if last and last.after in IN_FLIGHT and self._is_misled():
                self._findings.skip(UNTIL_TOMORROW)
                continue
            message = f"{one.task_id} was taken back at {one.at:.0f} s: {last}"
            self._check("I-21", message, holds=told)

    def _is_assumed(self, record: TaskRecord) -> bool:
        """Tell whether neither its submission nor what followed was ever confirmed."""
        moves = self._journal.tasks.history(record.task_id)
        reasons = [move.reason for move in moves if move.after == TaskState.SUBMITTED]
        entry = self._journal.database.row(
            "SELECT confidence FROM ledger WHERE subject = ?", record.task_id
        )
        assumed = entry is None or entry["confidence"] == Confidence.ASSUMED
        return assumed and any(reasons)

    def _record(self, task_id: str) -> TaskRecord | None:
        try:
            return self._journal.tasks.get(TaskId(task_id))
        except KeyError:
            return None

    # -- what was sent --------------------------------------------------------

    def _test_requests(self, agent_id: str) -> None:
        handed_in: dict[tuple[str, ...], bytes] = {}
        submitted: set[str] = set()
        for one in self._network.handled:
            if one.asked.agent_id not in ("", agent_id):
                continue
            task_id = one.asked.task_id
            if one.asked.path == SUBMIT:
                self._test_submission(one)
                submitted.add(task_id)
                # The same to the byte, unless another shape was found to be needed.
                shape = (task_id, *one.asked.fields)
                first = handed_in.setdefault(shape, one.asked.body)
                message = f"{task_id}: a result was sent in other bytes"
                self._check("I-7", message, holds=first == one.asked.body)
            elif one.asked.path == COMPLETE:
                self._check(
                    "I-8",
                    f"{task_id} was completed before a result was sent",
                    holds=task_id in submitted,
                )

    def _test_submission(self, one: Handled) -> None:
        task_id = one.asked.task_id
        # A claim that left may not have arrived: then the submission decides.
        claimed = task_id in self._remains.watch.claimed
        self._check("I-8", f"a result of {task_id} came unclaimed", holds=claimed)
        record = self._record(task_id)
        result = record.result if record else None
        same = result is not None and one.asked.result == result.output
        self._check("I-7", f"{task_id}: another result was sent", holds=same)

    # -- money ----------------------------------------------------------------

    def _test_spends(self) -> None:
        keyed = self._remains.plan.personality.honours_keys
        for (path, key), times in self._network.grants().items():
            if key in self._remains.watch.replayed and not keyed:
                self._findings.skip("a replayed spend on a network without keys")
            else:
                message = f"{path} {key} was done {times} times"
                self._check("I-9", message, holds=times == 1)

    def _test_books(self, agent_id: str) -> None:
        """Where nothing is in doubt, both books say the same."""
        doubtful = self._journal.database.row(
            "SELECT 1 FROM spends WHERE state IN ('reserved', 'unknown') "
            "UNION ALL SELECT 1 FROM ledger WHERE confidence = ? AND ?",
            Confidence.ASSUMED,
            # A claim that was taken back while its work was on the way may not be paid.
            self._network.limits.exist,
        )
        if doubtful is None and not self._remains.watch.replayed:
            here = self._journal.ledger.balance()
            there = self._network.balance(agent_id)
            self._check("I-10", f"{here} here and {there} there", holds=here == there)
        fault = self._journal.ledger.first_fault()
        self._check("I-10", f"the ledger: {fault}", holds=fault is None)

    # -- the end --------------------------------------------------------------

    def _test_histories(self) -> None:
        """What is told of a task leads to where it stands."""
        for row in self._journal.database.rows(
            "SELECT task_id, state, (SELECT after FROM task_events "
            "WHERE task_events.task_id = tasks.task_id "
            "ORDER BY event_id DESC LIMIT 1) AS told FROM tasks ORDER BY rowid"
        ):
            message = f"{row['task_id']} is {row['state']}, told as {row['told']}"
            self._check("I-12", message, holds=row["state"] == row["told"])

    def _test_end(self) -> None:
        """All has ended, and the daemon is not a zombie that only says it runs."""
        looks = [one.at for one in self._network.handled if one.asked.path == LISTING]
        slept = self._network_seconds - self._remains.seconds
        calm_since = self._remains.plan.fault_seconds + slept
        quiet = self._network_seconds - max([calm_since, *looks])
        message = f"nobody has looked at the market for {quiet:.0f} s"
        self._check("I-18", message, holds=quiet <= LONGEST_WITHOUT_A_LOOK)
        for state, number in self._journal.tasks.counts().items():
            if TaskState(state) not in SETTLED and self._is_misled():
                self._findings.skip(UNTIL_TOMORROW)
                continue
            self._check(
                "I-18",
                f"{number} tasks are still {state} after a calm time",
                holds=TaskState(state) in SETTLED,
            )


MEMORY_DISK = Path("/dev/shm")  # noqa: S108 - a private folder is made in it


@contextmanager
def private_folder() -> Iterator[Path]:
    """Give a new folder, which is gone afterwards."""
    place = MEMORY_DISK if MEMORY_DISK.is_dir() else None
    root = Path(tempfile.mkdtemp(prefix="journeyman-simulation-", dir=place))
    try:
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


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
