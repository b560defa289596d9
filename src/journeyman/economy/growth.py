"""Whether a post for growth is worth its cost, from the ledger's own history.

The contract names growth and visibility among what credits are for, and posting as the
only way to spend them. What a post brings to our other work is shown nowhere: it is
measured, as what work earned in a time after the post less what it earned in the same
time before. A few posts are made to learn that, each with no other growth post near it;
then only what brought more than its cost, by twice the standard error, goes on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from math import sqrt
from statistics import mean, stdev

from journeyman.domain.clock import Clock
from journeyman.economy import events
from journeyman.economy.plan import Plan
from journeyman.journal.journal import Journal
from journeyman.journal.spends import Spend
from journeyman.observability.events import Log

MEMORY = timedelta(days=30)
"""What is older says little of the market of today."""
ERRORS = 2
"""Standard errors by which the gain has to be surely more than the cost: a post that
brings nothing passes about once in twenty."""


class GrowthRule(StrEnum):
    """Which rule decided."""

    #: The owner has not switched it on.
    OFF = "off"
    #: What work earned allows no more.
    SHARE = "share"
    #: A trial would not be told apart from another post.
    SPACING = "spacing"
    #: Too few posts are measured yet.
    TRIAL = "trial"
    WORTH_IT = "worth it"
    NOT_WORTH_IT = "not worth it"


@dataclass(frozen=True, kw_only=True, slots=True)
class GrowthRules:
    """What the owner lets growth spend."""

    enabled: bool
    share: float
    """Of what work earned in the last 30 days."""
    trials: int
    """Posts of a plan that are measured before it is judged."""
    window: timedelta
    """For how long after a post its effect is looked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GrowthVerdict:
    """Whether one plan may post now, and the figures that say so."""

    plan: str
    rule: GrowthRule
    cost: int
    """Of its next post, in credits."""
    earned: int
    """By work, in the last 30 days."""
    allowed: int
    """Of that, what growth may spend."""
    spent: int
    """Of that, what growth has spent."""
    gains: tuple[int, ...]
    """What each measured post brought, in credits."""
    trials: int
    window: timedelta
    changes_at: datetime | None
    """When time alone may change it; None: it does not."""

    @property
    def may_post(self) -> bool:
        """Whether the plan may post now, as far as growth is concerned."""
        return self.rule in {GrowthRule.TRIAL, GrowthRule.WORTH_IT}

    @property
    def error(self) -> float:
        """The standard error of the mean gain."""
        return stdev(self.gains) / sqrt(len(self.gains)) if self.gains[1:] else 0.0

    @property
    def sure_gain(self) -> float:
        """What a post surely brings, in credits."""
        return mean(self.gains) - ERRORS * self.error if self.gains else 0.0

    @property
    def message(self) -> str:
        """Return why, in plain sentences: the rule, its figures, what changes it."""
        hours = f"{self.window / timedelta(hours=1):g} hours"
        measured = f"{len(self.gains)} of {self.trials}"
        match self.rule:
            case GrowthRule.OFF:
                said = "It posts nothing: growth.enabled is false."
            case GrowthRule.SHARE:
                said = (
                    f"It posts nothing: a post costs {self.cost} credits, and growth "
                    f"may spend {self.allowed} of the {self.earned} that work earned "
                    f"in 30 days (growth.share), of which {self.spent} are spent. That "
                    "changes as work earns more, or with a larger share."
                )
            case GrowthRule.SPACING:
                said = (
                    f"It waits: {measured} trials are measured (growth.trials), and "
                    f"the next needs {hours} of work before it that no other post for "
                    f"growth touches (growth.window_hours){self._when}."
                )
            case GrowthRule.TRIAL:
                said = (
                    f"It may post, as a trial: {measured} are measured "
                    f"(growth.trials). What work earns in the {hours} after it is "
                    f"compared with the {hours} before."
                )
            case GrowthRule.WORTH_IT:
                said = f"It may post: {self._found(hours)}"
            case _:
                said = (
                    f"It posts nothing: {self._found(hours)} It is tried again"
                    f"{self._when}."
                )
        return said

    def _found(self, hours: str) -> str:
        return (
            f"{len(self.gains)} posts were each followed by {mean(self.gains):+.1f} "
            f"credits in {hours}, compared with the {hours} before, give or take "
            f"{self.error:.1f}. Less {ERRORS} times that, a post surely brings "
            f"{self.sure_gain:.1f}, and it costs {self.cost}."
        )

    @property
    def _when(self) -> str:
        return (
            f", after {self.changes_at:%Y-%m-%d %H:%M} UTC" if self.changes_at else ""
        )


@dataclass(kw_only=True, eq=False)
class GrowthPolicy:
    """Decides which plans may post for growth."""

    rules: GrowthRules
    plans: Sequence[Plan]
    """All that post for growth."""
    journal: Journal

    def decide(self, plan: Plan, now: datetime) -> GrowthVerdict:
        """Return whether a plan may post now. Reads the entries of 30 days."""
        since, window = now - MEMORY, self.rules.window
        earnings = self.journal.ledger.earnings_since(since - window)
        earned = sum(credits_ for at, credits_ in earnings if at >= since)
        posts = self._posts(self.plans, since - window)
        own = [one for one in self._posts([plan], since) if one.at + window <= now]
        begun = self.journal.ledger.began_at() or now
        clean = [
            one
            for one in own
            if one.at - window >= begun and self._is_alone(one, posts)
        ]
        cost = plan.reward + (own[-1].fee if own else 0)
        allowed = int(self.rules.share * earned)
        spent = sum(self._cost(one) for one in posts if one.at >= since)
        gains = tuple(self._gain(one.at, earnings) for one in clean)
        verdict = GrowthVerdict(
            plan=plan.name,
            rule=GrowthRule.TRIAL,
            cost=cost,
            earned=earned,
            allowed=allowed,
            spent=spent,
            gains=gains,
            trials=self.rules.trials,
            window=window,
            changes_at=None,
        )
        # As long before the next post as after the last: both are measured.
        free_at = max(begun, posts[-1].at + window if posts else begun) + window
        return self._judged(verdict, now, free_at, clean)

    def _judged(
        self,
        verdict: GrowthVerdict,
        now: datetime,
        free_at: datetime,
        clean: Sequence[Spend],
    ) -> GrowthVerdict:
        """Return a verdict with the first rule that applies."""
        rule, changes_at = GrowthRule.TRIAL, None
        if not self.rules.enabled:
            rule = GrowthRule.OFF
        elif verdict.spent + verdict.cost > verdict.allowed:
            rule = GrowthRule.SHARE
        elif len(clean) < self.rules.trials:
            if now < free_at:
                rule, changes_at = GrowthRule.SPACING, free_at
        elif verdict.sure_gain >= verdict.cost:
            rule = GrowthRule.WORTH_IT
        else:
            rule, changes_at = GrowthRule.NOT_WORTH_IT, clean[0].at + MEMORY
        return replace(verdict, rule=rule, changes_at=changes_at)

    def _posts(self, plans: Sequence[Plan], since: datetime) -> list[Spend]:
        spends = self.journal.spends
        posts = [one for p in plans for one in spends.posts_since(p.poster, since)]
        return sorted(posts, key=lambda one: one.at)

    def _is_alone(self, post: Spend, posts: Sequence[Spend]) -> bool:
        """Return whether no other growth post touches the time before and after it.

        What an earlier one brings lasts into the time before this one.
        """
        window = self.rules.window
        return not any(
            post.at - 2 * window < one.at < post.at + window
            for one in posts
            if one.spend_id != post.spend_id
        )

    def _cost(self, post: Spend) -> int:
        came_back = self.journal.ledger.amount_of(f"refunded:{post.spend_id}")
        return post.credits + post.fee - came_back

    def _gain(self, at: datetime, earnings: Sequence[tuple[datetime, int]]) -> int:
        """Return what work earned after a moment, less what it earned before."""
        window = self.rules.window
        after = sum(c for when, c in earnings if at <= when < at + window)
        return after - sum(c for when, c in earnings if at - window <= when < at)


@dataclass(kw_only=True, eq=False)
class GrowthWatch:
    """Asks the policy when a plan is due, and logs what it decides."""

    policy: GrowthPolicy
    clock: Clock
    log: Log
    _told: dict[str, tuple[str, GrowthRule]] = field(init=False, default_factory=dict)

    def is_worth_it(self, plan: Plan, slot: str) -> bool:
        """Return whether a plan may post in a slot."""
        verdict = self.policy.decide(plan, self.clock.now())
        if self._told.get(plan.name) != (slot, verdict.rule):
            self._told[plan.name] = slot, verdict.rule
            self.log.emit(
                events.GROWTH_DECIDED,
                plan=plan.name,
                slot=slot,
                may_post=verdict.may_post,
                rule=verdict.rule,
                message=verdict.message,
            )
        return verdict.may_post
