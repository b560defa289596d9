"""The invariants about the final state, checked at the end of a run."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from tests.simulation.behaviour import ErrorBody, Rejoin
from tests.simulation.invariants import Checker
from tests.simulation.monitors import RequestMonitor
from tests.simulation.network import (
    CLAIM,
    COMPLETE,
    LISTING,
    OK,
    SUBMIT,
    HandledRequest,
    SimulatedNetwork,
)
from tests.simulation.plan import Plan

from journeyman.domain.retry import RetryPolicy
from journeyman.domain.tasks import IN_FLIGHT, TERMINAL, Identity, TaskId, TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import Confidence
from journeyman.journal.maintenance import ledger_faults
from journeyman.journal.tasks import TaskRecord
from journeyman.lifecycle.quarantine import QuarantineRule
from journeyman.settings.sections import Settings
from journeyman.worker.submit import UNSURE


@dataclass(frozen=True, kw_only=True, slots=True)
class FinalState:
    """What remains of a run, on both sides."""

    plan: Plan
    seconds: float
    """When it ended, on the daemon's machine."""
    network_seconds: float
    """The same on the network's, which is never suspended."""
    network: SimulatedNetwork
    monitor: RequestMonitor
    journal: Journal
    identity: Identity | None
    requests_not_understood: int
    """How often an action was given up for a day: all shapes were refused."""


def table_rows(journal: Journal) -> list[str]:
    """Return all rows of all tables as text, in an order that repeats."""
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
"""Claimed and then ended without a completion, according to its history."""
SETTLED = TERMINAL | {TaskState.SKIPPED}
TAKEN = ("submitted", "completed")
LONGEST_WITHOUT_DISCOVERY = 3600.0 + 900.0
"""Seconds of the quiet period: the longest wait that a network may ask for, and three
times the longest pause of the daemon's own (schedule.discover_max_seconds)."""

MISLED_SEARCH = "a search misled by replays"
LOST_SUBMISSION = "a lost submission where nothing completes"
IN_REVIEW = "a review that is not over"
MADE_UP = "a task that only a garbled listing has"


class FinalChecks:
    """Compares the journal of the daemon with the state of the network."""

    def __init__(self, final: FinalState, checker: Checker) -> None:
        self._final = final
        self._checker = checker
        self._network = final.network
        self._network_seconds = final.network_seconds
        self._journal = final.journal

    def run(self) -> None:
        """Check everything."""
        self._network.limits.enforce()
        self._test_identities()
        identity = self._final.identity
        if identity is None:
            self._test_absence()
            return
        self._test_token(identity)
        self._test_tasks(identity.agent_id)
        self._test_progress(identity.agent_id)
        self._test_requests(identity.agent_id)
        self._test_expired_claims(identity.agent_id)
        self._test_spends()
        self._test_histories()
        self._test_end()
        self._test_work_in_vain()
        self._test_ledgers(identity.agent_id)

    def _check(self, invariant: str, message: str, *, holds: bool) -> None:
        self._checker.check(invariant, self._final.seconds, message, holds=holds)

    # -- the identity ----------------------------------------------------------

    def _test_identities(self) -> None:
        members = self._network.members()
        registrations = self._final.monitor.registrations
        replays = "" in self._final.monitor.replayed
        allowed = max(1, registrations) + replays * registrations
        if not self._has_faults():
            allowed = 1
        self._check(
            "I-3",
            f"{len(members)} agents after {registrations} registrations",
            holds=len(members) <= allowed,
        )

    def _test_absence(self) -> None:
        """Check that joining again cannot succeed, if the daemon never joined."""
        behaviour = self._final.plan.behaviour
        conflict = behaviour.rejoin is Rejoin.CONFLICT
        intent = self._journal.facts.get("registration")
        # Counted before it leaves, so that one which was killed at once counts too.
        tries = intent.get("uncertain_tries") if isinstance(intent, dict) else 0
        waits_for_tomorrow = tries == RetryPolicy.unknown_registrations_per_day
        # A yes that nobody can read is never asked for again: the owner has to look.
        waits_for_owner = isinstance(intent, dict) and "answered_by" in intent
        is_refused = conflict and not behaviour.honours_keys
        self._check(
            "I-18",
            f"no identity after {self._final.monitor.registrations} registrations",
            holds=waits_for_tomorrow or waits_for_owner or is_refused,
        )
        self._checker.skip("never joined")

    def _has_faults(self) -> bool:
        plan = self._final.plan
        faults = plan.fault_at or plan.kill_at or plan.kills or plan.kill_rate
        return bool(faults or plan.faults or plan.stops)

    def _test_token(self, identity: Identity) -> None:
        token = identity.access_token.reveal()
        first = self._final.monitor.token
        self._check("I-1", "the token is not the first one", holds=token == first)
        known = identity.agent_id in self._network.members()
        self._check("I-1", "the network does not know our agent", holds=known)
        opens = self._network.knows(token)
        self._check("I-1", "the network does not know our token", holds=opens)
        text = "\n".join(table_rows(self._journal))
        self._check("I-16", "the token is in the journal", holds=token not in text)

    # -- tasks ----------------------------------------------------------------

    def _test_tasks(self, agent_id: str) -> None:
        for task in self._network.tasks_of(agent_id):
            record = self._record(task["task_id"])
            state = record.state if record else None
            message = f"{task['task_id']} is {task['status']} there and {state} here"
            kept = state in IN_FLIGHT | TERMINAL and state is not TaskState.LOST
            ended = task["status"] == "completed" or state in GIVEN_UP
            # The network would have opened a task again after rejecting its result.
            worked = state is not TaskState.REJECTED
            if not (kept and worked) and self._may_be_unknown(task["task_id"]):
                self._checker.skip("a replay on a network that refuses repeats")
                continue
            self._check("I-4", message, holds=kept)
            if not (ended and worked) and self._was_claimed_late(task["task_id"]):
                self._checker.skip("a claim that arrived after the end")
                continue
            if state in IN_FLIGHT and self._is_misled():
                self._checker.skip(MISLED_SEARCH)
                continue
            is_settled = task["status"] == "completed" and worked
            if not is_settled and self._was_left_in_doubt(task["task_id"]):
                self._checker.skip("a doubt where refusals say nothing")
                continue
            if state is TaskState.COMPLETING and self._is_in_review(task["task_id"]):
                self._checker.skip(IN_REVIEW)
                continue
            self._check("I-18", message, holds=ended and worked)

    def _is_in_review(self, task_id: str) -> bool:
        """Return whether a review that begins with the first completion goes on."""
        formats = self._final.plan.formats
        seconds = formats.get("review_seconds", 0.0)
        asked = (
            one.at
            for one in self._network.handled
            if one.request.path == COMPLETE and one.request.task_id == task_id
        )
        first = next(asked, None)
        is_reviewed = formats.get("payment") == "after-review" and first is not None
        return is_reviewed and self._network_seconds < first + seconds

    def _was_left_in_doubt(self, task_id: str) -> bool:
        """Return whether a submission without an answer met refusals without words.

        Whether "no" means "already there" or "not like this" is then not to be known.
        """
        if self._final.plan.behaviour.error_body is ErrorBody.JSON:
            return False
        history = self._journal.tasks.history(TaskId(task_id))
        return any(move.reason == UNSURE for move in history)

    def _was_claimed_late(self, task_id: str) -> bool:
        """Return whether the claim that holds arrived long after it had been sent."""
        claims = (
            one
            for one in reversed(self._network.handled)
            if one.request.path == CLAIM and one.request.task_id == task_id
        )
        granted = (one for one in claims if one.answer.status == OK)
        holding = next(granted, None)
        return holding is not None and holding.request.is_late

    def _may_be_unknown(self, task_id: str) -> bool:
        hides = self._final.plan.behaviour.refuses_repeats
        return hides and task_id in self._final.monitor.replayed

    def _is_misled(self) -> bool:
        """Return whether refusals of replays can have looked like those of a shape.

        Then nobody can know better, and no other body is tried for some minutes.
        """
        replayed = self._final.monitor.replayed
        refuses = self._final.plan.behaviour.refuses_repeats
        return bool(replayed and refuses and self._final.requests_not_understood)

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
                if not true and self._was_never_confirmed(record):
                    self._checker.skip("work of which every confirmation was lost")
                    continue
                self._check(
                    "I-6",
                    f"{record.task_id} is {state} here and {task.get('status')} there",
                    holds=true,
                )

    def _test_expired_claims(self, agent_id: str) -> None:
        """Check that tasks taken back by a limit have ended here, with a reason."""
        for one in self._network.limits.expired:
            if one.agent_id != agent_id:
                continue
            if self._may_be_unknown(one.task_id):
                self._checker.skip("a replay on a network that refuses repeats")
                continue
            transitions = self._journal.tasks.history(TaskId(one.task_id))
            last = transitions[-1] if transitions else None
            is_explained = last is not None and (
                last.after == TaskState.COMPLETED or bool(last.reason)
            )
            if last and last.after in IN_FLIGHT and self._is_misled():
                self._checker.skip(MISLED_SEARCH)
                continue
            message = f"{one.task_id} was taken back at {one.at:.0f} s: {last}"
            self._check("I-21", message, holds=is_explained)

    def _was_never_confirmed(self, record: TaskRecord) -> bool:
        """Return whether neither its submission nor what followed was confirmed."""
        transitions = self._journal.tasks.history(record.task_id)
        reasons = [
            move.reason for move in transitions if move.after == TaskState.SUBMITTED
        ]
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
        first_bodies: dict[tuple[str, ...], bytes] = {}
        submitted: set[str] = set()
        for one in self._network.handled:
            if one.request.agent_id not in ("", agent_id):
                continue
            task_id = one.request.task_id
            if one.request.path == SUBMIT:
                self._test_submission(one)
                submitted.add(task_id)
                # The same to the byte, unless another shape was found to be needed.
                body = json.loads(one.request.body or "{}")
                names = (name for name, _ in _everything_in(body))
                shape = (task_id, *names)
                first = first_bodies.setdefault(shape, one.request.body)
                message = f"{task_id}: a result was sent in other bytes"
                self._check("I-7", message, holds=first == one.request.body)
            elif one.request.path == COMPLETE:
                # It may be asked for, to learn whether a result has arrived.
                is_refused = one.answer.status >= HTTPStatus.BAD_REQUEST
                self._check(
                    "I-8",
                    f"{task_id} was completed before a result was sent",
                    holds=task_id in submitted or is_refused,
                )

    def _test_submission(self, one: HandledRequest) -> None:
        task_id = one.request.task_id
        # A claim that left may not have arrived: then the submission decides.
        claimed = task_id in self._final.monitor.claimed
        self._check("I-8", f"a result of {task_id} came unclaimed", holds=claimed)
        record = self._record(task_id)
        result = record.result if record else None
        # Another shape has it under another name, or in an object of its own.
        sent = [value for _, value in _everything_in(one.request.fields)]
        same = result is not None and result.output in sent
        self._check("I-7", f"{task_id}: another result was sent", holds=same)

    # -- money ----------------------------------------------------------------

    def _test_spends(self) -> None:
        keyed = self._final.plan.behaviour.honours_keys
        for (path, key), times in self._network.grants().items():
            if key in self._final.monitor.replayed and not keyed:
                self._checker.skip("a replayed spend on a network without keys")
            else:
                message = f"{path} {key} was done {times} times"
                self._check("I-9", message, holds=times == 1)

    def _test_ledgers(self, agent_id: str) -> None:
        """Check that both ledgers agree, where nothing is uncertain."""
        wrong = ledger_faults(self._journal)
        self._check("I-10", f"the books: {wrong}", holds=not wrong)
        here = self._journal.ledger.balance()
        there = self._network.balance(agent_id)
        message = f"{here} here and {there} there"
        if self._final.plan.buys:
            self._check("I-26", message, holds=here == there)
            return
        doubtful = self._journal.database.row(
            "SELECT 1 FROM spends WHERE state IN ('reserved', 'unknown') "
            "UNION ALL SELECT 1 FROM ledger WHERE confidence = ? AND ?",
            Confidence.ASSUMED,
            # A claim that was taken back while its work was on the way may not be paid.
            self._network.limits.exist,
        )
        if self._is_silent_about_ends():
            self._checker.skip(LOST_SUBMISSION)
        elif doubtful is None and not self._final.monitor.replayed:
            self._check("I-10", message, holds=here == there)

    # -- the end --------------------------------------------------------------

    def _test_histories(self) -> None:
        """Check that the history of each task leads to its state."""
        for row in self._journal.database.rows(
            "SELECT task_id, state, (SELECT after FROM task_events "
            "WHERE task_events.task_id = tasks.task_id "
            "ORDER BY event_id DESC LIMIT 1) AS last FROM tasks ORDER BY rowid"
        ):
            message = (
                f"{row['task_id']} is {row['state']}, and {row['last']} in its history"
            )
            self._check("I-12", message, holds=row["state"] == row["last"])

    def _is_silent_about_ends(self) -> bool:
        """Return whether what is completing was submitted, perhaps, and that is all.

        The network refuses to repeat the submission, and has no completion to ask for:
        the daemon asks on for days before it gives up.
        """
        if self._final.plan.formats.get("payment") != "on-submission":
            return False
        records = self._journal.tasks.recent(TaskState.COMPLETING, -1)
        histories = (self._journal.tasks.history(one.task_id) for one in records)
        return bool(records) and all(
            any(move.reason == UNSURE for move in history) for history in histories
        )

    def _are_made_up(self) -> bool:
        """Return whether the network has none of the tasks that are being submitted.

        Their ids were garbled, and their claims answered by a garbled yes, again and
        again: the daemon asks on for hours before it gives up.
        """
        records = self._journal.tasks.recent(TaskState.SUBMITTING, -1)
        return not any(self._network.task(one.task_id) for one in records)

    def _test_work_in_vain(self) -> None:
        """Check that nobody went on for long whose results were all rejected."""
        limits = Settings().quarantine
        batch = QuarantineRule(**limits.model_dump(exclude={"max_wait_seconds"})).batch
        pauses = math.log2(limits.max_seconds / limits.initial_seconds)
        most = limits.errors + batch + pauses + self._final.seconds / limits.max_seconds
        for name, states in self._journal.tasks.outcomes_by_strategy().items():
            rejected = states.get(TaskState.REJECTED, 0)
            if self._final.plan.clock_steps or states.get(TaskState.COMPLETED):
                continue
            message = f"{rejected} results of {name} were rejected, and none accepted"
            self._check("I-25", message, holds=rejected <= most)

    def _test_end(self) -> None:
        """Check that all tasks have ended, and that the daemon still looks for more."""
        looks = [one.at for one in self._network.handled if one.request.path == LISTING]
        slept = self._network_seconds - self._final.seconds
        quiet_since = self._final.plan.fault_seconds + slept
        quiet = self._network_seconds - max([quiet_since, *looks])
        message = f"nothing has listed the market for {quiet:.0f} s"
        self._check("I-18", message, holds=quiet <= LONGEST_WITHOUT_DISCOVERY)
        completing = self._journal.tasks.recent(TaskState.COMPLETING, -1)
        reviews = [self._is_in_review(one.task_id) for one in completing]
        # With so many in review, nothing more is claimed.
        in_review = bool(reviews) and all(reviews)
        for state, number in self._journal.tasks.counts().items():
            if TaskState(state) not in SETTLED and self._is_misled():
                self._checker.skip(MISLED_SEARCH)
                continue
            if state == TaskState.COMPLETING and self._is_silent_about_ends():
                self._checker.skip(LOST_SUBMISSION)
                continue
            if state in {TaskState.COMPLETING, TaskState.WANTED} and in_review:
                self._checker.skip(IN_REVIEW)
                continue
            if state == TaskState.SUBMITTING and self._are_made_up():
                self._checker.skip(MADE_UP)
                continue
            self._check(
                "I-18",
                f"{number} tasks are still {state} after the quiet period",
                holds=TaskState(state) in SETTLED,
            )


def _everything_in(fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the name and the value of every field, also of those inside of others."""
    for name, value in fields.items():
        yield name, value
        if isinstance(value, dict):
            yield from _everything_in(value)
