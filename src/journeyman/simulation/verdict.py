"""Tests, at the end of a run, the invariants about all that was left."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from journeyman.domain import IN_FLIGHT, TERMINAL, Identity, TaskId, TaskState
from journeyman.journal import Confidence, Journal, TaskRecord
from journeyman.loop import UNCERTAIN_TRIES_PER_DAY, recover_interrupted
from journeyman.simulation.findings import Findings
from journeyman.simulation.personality import Rejoin
from journeyman.simulation.plan import Plan
from journeyman.simulation.server import (
    CLAIM,
    COMPLETE,
    SUBMIT,
    Handled,
    SimulatedNetwork,
)
from journeyman.simulation.trace import TraceLog
from journeyman.simulation.watch import Watch

GIVEN_UP = (TaskState.DECLINED, TaskState.FAILED, TaskState.REJECTED)
"""Claimed and then ended without a completion, as its history tells."""
SETTLED = TERMINAL | {TaskState.SKIPPED}
TABLES = (
    *("tasks", "task_events", "ledger", "spends"),
    *("strategy_states", "facts", "totals"),
)
"""Of the journal, all of them."""
TAKEN = ("submitted", "completed")


@dataclass(frozen=True, kw_only=True, slots=True)
class Remains:
    """What a run has left on both sides."""

    plan: Plan
    seconds: float
    network: SimulatedNetwork
    watch: Watch
    journal: Journal
    identity: Identity | None


class Verdict:
    """Compares what the daemon believes with what the network knows."""

    def __init__(self, remains: Remains, findings: Findings) -> None:
        self._remains = remains
        self._findings = findings
        self._network = remains.network
        self._journal = remains.journal

    def give(self) -> None:
        """Test everything."""
        self._test_identities()
        identity = self._remains.identity
        if identity is None:
            self._test_absence()
            return
        self._test_token(identity)
        self._test_tasks(identity.agent_id)
        self._test_progress(identity.agent_id)
        self._test_requests(identity.agent_id)
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
        waits_for_tomorrow = tries == UNCERTAIN_TRIES_PER_DAY
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
            self._check("I-18", message, holds=ended and worked)

    def _may_be_forgotten(self, task_id: str) -> bool:
        hides = self._remains.plan.personality.refuses_repeats
        return hides and task_id in self._remains.watch.replayed

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
        claimed: set[str] = set()
        handed_in: dict[str, bytes] = {}
        for one in self._network.handled:
            if one.asked.agent_id != agent_id:
                continue
            task_id = one.asked.task_id
            if one.asked.path == CLAIM:
                claimed.add(task_id)
            elif one.asked.path == SUBMIT:
                self._test_submission(one, is_claimed=task_id in claimed)
                first = handed_in.setdefault(task_id, one.asked.body)
                message = f"{task_id}: a result was sent in other bytes"
                self._check("I-7", message, holds=first == one.asked.body)
            elif one.asked.path == COMPLETE:
                self._check(
                    "I-8",
                    f"{task_id} was completed before a result was sent",
                    holds=task_id in handed_in,
                )

    def _test_submission(self, one: Handled, *, is_claimed: bool) -> None:
        task_id = one.asked.task_id
        self._check("I-8", f"a result of {task_id} came unclaimed", holds=is_claimed)
        record = self._record(task_id)
        result = record.result if record else None
        same = result is not None and one.asked.fields.get("result") == result.output
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
            "SELECT 1 FROM spends WHERE state IN ('held', 'unknown')"
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
        for state, number in self._journal.tasks.counts().items():
            self._check(
                "I-18",
                f"{number} tasks are still {state} after a calm time",
                holds=TaskState(state) in SETTLED,
            )


def dump(journal: Journal) -> list[str]:
    """Give all rows of all tables as text, in their order."""
    return [
        json.dumps([table, *tuple(row)])
        for table in TABLES
        for row in journal.database.rows(f"SELECT * FROM {table} ORDER BY rowid")  # noqa: S608 - names of ours
    ]


def recover_twice(
    left: Path,
    now: Callable[[], datetime],
) -> tuple[list[str], list[str]]:
    """Recover a copy of what a life has left, again and again; give both results."""
    copy = left.with_name(f"{left.name}-again")
    shutil.copytree(left, copy)
    silent = TraceLog(lambda _event, _fields: None)
    with Journal(copy / "journal.db", now) as journal:
        recover_interrupted(journal, silent)
        once = dump(journal)
        recover_interrupted(journal, silent)
        twice = dump(journal)
    shutil.rmtree(copy)
    return once, twice
