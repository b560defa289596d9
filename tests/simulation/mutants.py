"""Planted bugs: the simulation itself is tested, by finding each of them.

A mutant replaces a function of the daemon in memory while it is applied; no file is
changed. `make mutants` searches for each in the same way, first by trying everything
that can happen in a small run, then by seeds, and prints how it was found.
"""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeAlias

import httpx2 as httpx
import tests.simulation.process
from tests.simulation import planted
from tests.simulation.behaviour import HARDEST
from tests.simulation.faults import FAULTS
from tests.simulation.plan import (
    Chaos,
    Occurrence,
    Outage,
    Plan,
    draw_money_plan,
    draw_plan,
)
from tests.simulation.planted import Internal
from tests.simulation.run import RunResult, simulate

import journeyman.daemon.daemon
import journeyman.economy.budget
import journeyman.economy.reconcile
import journeyman.economy.topup
import journeyman.network.classify
import journeyman.network.exchange
import journeyman.network.http
import journeyman.strategies.running.runner
import journeyman.worker.claim
import journeyman.worker.complete
import journeyman.worker.submit
from journeyman.daemon.discovery import DiscoverLoop
from journeyman.domain.retry import RetryPolicy
from journeyman.economy.mark import MarkKeeper
from journeyman.economy.posting import Posting
from journeyman.journal.ledger import Ledger
from journeyman.journal.spends import Spends
from journeyman.journal.tasks import TaskRecord, Tasks
from journeyman.lifecycle.quarantine import Quarantine
from journeyman.lifecycle.wakeup import Wakeup
from journeyman.network.client import NetworkClient
from journeyman.network.exchange import Exchange
from journeyman.network.http import HttpClient
from journeyman.network.rate_limit.circuit_breaker import Presence
from journeyman.strategies.running.leaks import LeakScan
from journeyman.worker.claim import Claim
from journeyman.worker.complete import Complete
from journeyman.worker.intents import Intents
from journeyman.worker.join import Join
from journeyman.worker.submit import Submit

DAY = 86_400.0
SEEDS = range(60)
DAYS = 0.06
"""Of the seeds that are tried when all else has found nothing."""

SMALL = Plan(seed=1, chaos=Chaos.HARD, tasks=1, fault_seconds=60, behaviour=HARDEST)
"""A run so small that all that can happen in it can be tried."""
PAYING = replace(SMALL, operator_commands=1)
"""One in which the operator posts a task as well."""
CONCURRENT = replace(SMALL, operator_commands=60, operator_commands_at_once=20)
"""One in which the operator posts twenty tasks at once, three times."""
LEASED = replace(
    SMALL,
    tasks=3,
    fault_seconds=600,
    behaviour=replace(HARDEST, lease_seconds=60.0),
    outages=(Outage(begins=3, ends=200, fault="refuse"),),
)
"""One in which claims end while the network is out of reach."""
THROTTLED = replace(
    SMALL,
    tasks=3,
    fault_seconds=600,
    outages=(Outage(begins=1.2, ends=500, fault="throttled_429_valid"),),
)
"""One in which the network asks again and again to wait, and says how long."""
STUCK = replace(
    SMALL,
    tasks=3,
    fault_seconds=1200,
    outages=(Outage(begins=10, ends=700, fault="drop_before"),),
)
"""One in which the results must wait."""

ODD_STRATEGIES = replace(SMALL, tasks=24, fault_seconds=600, odd_strategies=True)
"""One in which some strategies hang, raise, or return garbage."""
IN_VAIN = replace(SMALL, tasks=60, fault_seconds=600, wrong_results=True)
"""One in which every result is wrong."""


SPENDING = replace(
    SMALL,
    operator_commands=40,
    operator_commands_at_once=2,
    fault_rate=0.3,
    faults=("reset_after",),
    reserve_credits=60,
    verifies_posts=False,
)
"""One in which the operator comes to every limit, and some answers are lost."""
BUSY = replace(SPENDING, reserve_credits=0, fault_rate=0.5)
"""The same without a floor, so that only the cap of a day is in the way."""
BUYING = draw_money_plan(1, days=3)
"""One in which the daemon tops up, and people pay."""
ECHOING = replace(SMALL, behaviour=replace(HARDEST, echoes_token=True))
"""One in which the network repeats the token."""
TALKATIVE = replace(ODD_STRATEGIES, tasks=60)
"""One in which a strategy tells what it should not."""


Patch: TypeAlias = tuple[object, str, Internal]
"""Where something is, its name there, and what takes its place."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A bug: what is replaced, by what, and a run in which it shows."""

    name: str
    where: object
    attribute: str
    planted: Internal
    shows_in: Plan
    also: tuple[Patch, ...] = ()
    """What must be replaced as well, where two parts keep the same promise."""

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Apply it, while the context is open."""
        with ExitStack() as stack:
            planted = (self.where, self.attribute, self.planted)
            for patch in (planted, *self.also):
                stack.enter_context(_patched(*patch))
            yield


@contextmanager
def _patched(where: object, attribute: str, planted: Internal) -> Iterator[None]:
    before = getattr(where, attribute)
    setattr(where, attribute, planted)
    try:
        yield
    finally:
        setattr(where, attribute, before)


def _crash(kind: str, about: str, plan: Plan = SMALL) -> Plan:
    return replace(plan, kill_on=Occurrence(kind, about))


def _fault(name: str, path: str, plan: Plan = SMALL) -> Plan:
    return replace(plan, fault_on=Occurrence(name, path))


ANSWER = "before answer"
"""The network has done what was asked for, and nobody here knows."""
CLAIM, SUBMIT, POST = "claim-task", "submit-task", "write-post-task"
COMPLETE = "complete-task"
LISTING = "get-marketplace"

MUTANTS: tuple[Mutant, ...] = (
    Mutant("claim_first", Claim, "run", planted.claim_first, SMALL),
    Mutant("result_late", Tasks, "move", planted.result_late, SMALL),
    Mutant(
        "trust_409",
        journeyman.worker.claim,
        "may_be_done",
        planted.never,
        _crash(ANSWER, CLAIM),
    ),
    Mutant("no_maybe", Tasks, "move", planted.no_maybe, SMALL),
    Mutant("no_doubt", Tasks, "postpone", planted.no_doubt, _crash(ANSWER, CLAIM)),
    Mutant(
        "booked_apart",
        Complete,
        "_earned",
        planted.booked_apart,
        _crash("after commit", "booked apart"),
    ),
    Mutant(
        "repeat_is_refusal",
        journeyman.worker.submit,
        "may_be_done",
        planted.never,
        _crash(ANSWER, SUBMIT),
    ),
    Mutant(
        "give_up_delivery",
        Submit,
        "_is_open",
        planted.never,
        _fault("drop_before", SUBMIT),
    ),
    Mutant(
        "trust_one_404",
        Intents,
        "may_be_mistaken",
        planted.never,
        _fault("spurious_404", SUBMIT),
    ),
    Mutant(
        "forget_executing",
        journeyman.daemon.daemon,
        "recover_interrupted",
        planted.never,
        replace(SMALL, kills=(10.0,)),
    ),
    Mutant("token_late", Join, "_attempt", planted.token_late, SMALL),
    Mutant(
        "answer_forgotten_early",
        Join,
        "_joined",
        planted.answer_forgotten_early,
        _crash("before file", "identity"),
    ),
    Mutant("token_logged", Join, "_joined", planted.token_logged, SMALL),
    Mutant(
        "release_unknown",
        Posting,
        "_not_accepted",
        planted.release_unknown,
        _fault("reset_after", POST, PAYING),
    ),
    Mutant(
        "release_at_recovery",
        Posting,
        "recover",
        planted.release_at_recovery,
        _crash(ANSWER, POST, PAYING),
    ),
    Mutant("spend_unmarked", MarkKeeper, "note", planted.never, PAYING),
    Mutant(
        "spend_again",
        NetworkClient,
        "post_task",
        planted.spend_again,
        _fault("reset_after", POST, PAYING),
    ),
    Mutant(
        "missed_wakeup",
        Wakeup,
        "wait",
        planted.missed_wakeup,
        replace(STUCK, clock_steps=((300, -DAY),)),
    ),
    Mutant(
        "spin_after_step",
        TaskRecord,
        "is_due",
        planted.due_by_the_clock,
        replace(STUCK, clock_steps=((300, -DAY),)),
    ),
    Mutant(
        "timeout_goes_on",
        journeyman.strategies.running.runner,
        "run_on_loop",
        planted.raced,
        ODD_STRATEGIES,
    ),
    Mutant(
        "work_in_vain", Quarantine, "count_result", planted.bounded_by_nothing, IN_VAIN
    ),
    Mutant("no_cap", HttpClient, "_capped", planted.no_cap, _fault("huge_body", CLAIM)),
    Mutant(
        "no_deadline",
        journeyman.network.http,
        "anyio",
        planted.NoDeadline(),
        _fault("slow_drip", CLAIM),
    ),
    Mutant(
        "unguarded_json",
        journeyman.network.http,
        "parse",
        planted.unguarded,
        _fault("deep_json", CLAIM),
    ),
    Mutant(
        "lease_ignored", journeyman.worker.submit, "has_passed", planted.never, LEASED
    ),
    Mutant(
        "retry_after_ignored",
        journeyman.network.classify,
        "retry_after",
        lambda *_: None,
        THROTTLED,
        # Which looks for a pause in all headers, this one among them.
        also=((journeyman.network.classify, "named_pause", lambda *_: None),),
    ),
    Mutant(
        "budget_race",
        Spends,
        "counted_since",
        planted.without_reserved,
        CONCURRENT,
        also=((Spends, "reserved_credits", planted.zero),),
    ),
    Mutant(
        "redirect_leak",
        HttpClient,
        "send",
        planted.following,
        _fault("redirect_307", CLAIM),
    ),
    Mutant(
        "echo_unhidden",
        journeyman.network.exchange,
        "without_secrets",
        planted.as_it_came,
        ECHOING,
    ),
    Mutant("leaks_unseen", LeakScan, "find", planted.never, TALKATIVE),
    Mutant(
        "top_ups_uncapped",
        journeyman.economy.topup,
        "check_top_up",
        planted.never,
        SPENDING,
    ),
    Mutant(
        "top_up_unbooked",
        journeyman.economy.reconcile,
        "book_top_up",
        planted.never,
        BUYING,
    ),
    Mutant(
        "differences_unexplained",
        journeyman.economy.reconcile,
        "explanation_of",
        planted.never,
        BUYING,
    ),
    Mutant("settled_only", Spends, "counted_since", planted.settled_only, BUSY),
    Mutant(
        "periods_unlimited", journeyman.economy.budget, "_weight", planted.zero, BUSY
    ),
    Mutant(
        "no_floor",
        journeyman.economy.budget,
        "_check_floors",
        planted.nothing_below,
        SPENDING,
    ),
    Mutant(
        "lost_answer_never_sent",
        journeyman.network.http,
        "NEVER_SENT",
        (httpx.RequestError,),
        _fault("reset_after", POST, PAYING),
    ),
    Mutant(
        "unknown_unheld", Spends, "reserved_credits", planted.without_unknown, SPENDING
    ),
    Mutant(
        "no_completions_after_one_404",
        journeyman.worker.complete,
        "ABSENT_ANSWERS",
        {Presence.ABSENT: 1, Presence.UNCLEAR: 1},
        _fault("spurious_404", COMPLETE),
    ),
    Mutant(
        "zombie",
        DiscoverLoop,
        "look",
        planted.look_until_it_fails,
        _fault("refuse", LISTING),
    ),
    Mutant(
        "another_token_saved",
        tests.simulation.process,
        "save_identity",
        planted.save_another_token,
        _crash("after file", "identity"),
    ),
    Mutant(
        "entries_without_a_key",
        Ledger,
        "book",
        planted.book_anew,
        _crash("after commit", "starter credits"),
    ),
    Mutant(
        "no_backoff",
        RetryPolicy,
        "wait_after",
        lambda *_: 0.5,
        replace(SMALL, outages=(Outage(begins=1.3, ends=60, fault="drop_before"),)),
        # Since either of them alone keeps the peace.
        also=((Exchange, "run", planted.run_without_rate_limits),),
    ),
)


def search(mutant: Mutant) -> tuple[str, int, RunResult | None]:
    """Search for a mutant; return how it was found, in how many runs, and the run."""
    runs = 0
    with mutant.applied():
        for way, plan in _ways():
            runs += 1
            result = simulate(plan)
            if not result.passed:
                return way, runs, result
    return "not found", runs, None


def _ways() -> Iterator[tuple[str, Plan]]:
    """Yield ever larger runs, the same for every mutant."""
    yield "at once", SMALL
    yield "concurrency", CONCURRENT
    yield "lease", LEASED
    yield "throttling", THROTTLED
    yield "outage", STUCK
    yield "odd strategies", ODD_STRATEGIES
    yield "limits", SPENDING
    yield "limits", BUSY
    yield "echo", ECHOING
    yield "secrets", TALKATIVE
    yield "wrong results", IN_VAIN
    for plan in (SMALL, PAYING):
        for point in range(1, 61):
            yield "single crash", replace(plan, kill_at=frozenset({point}))
    for plan in (SMALL, PAYING):
        for request, name in product(range(1, 9), FAULTS):
            yield "single fault", replace(plan, fault_at={request: name})
    for step in (-DAY, DAY):
        yield "clock", replace(STUCK, clock_steps=((300, step),))
    for seed in SEEDS:
        yield "seed", draw_plan(seed, days=DAYS, chaos=Chaos.HARD)


def main(names: list[str]) -> int:
    """Search for all mutants, or those named; return how many were not found."""
    missed = 0
    write = sys.stdout.write
    write(f"{'mutant':22}{'found by':16}{'runs':>5}  invariant\n")
    for mutant in MUTANTS:
        if not names or mutant.name in names:
            way, runs, result = search(mutant)
            missed += result is None
            found = str(result.violations[0]) if result else "none"
            line = f"{mutant.name:22}{way:16}{runs:>5}  {found.splitlines()[0][:90]}"
            write(f"{line}\n")
            sys.stdout.flush()
    return missed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
