"""Tells the owner what keeps the agent from earning, where the owner looks anyway.

A message goes to a webhook, or to any of the services that Apprise knows. What is new
is folded into one message; what goes by itself within some minutes is not told, and
what was told is not told again for a while, also after a restart.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import anyio
import httpx2 as httpx

from journeyman.daemon import events
from journeyman.daemon.causes import EarningCause
from journeyman.domain.clock import Clock
from journeyman.domain.errors import ConfigurationError
from journeyman.domain.tasks import JSON
from journeyman.domain.text import duration, escape
from journeyman.economy.budget import usage
from journeyman.journal.journal import Journal
from journeyman.journal.spends import SpendKind, SpendState
from journeyman.observability.events import Log

LOOK_SECONDS = 60.0
SEND_SECONDS = 15.0
NOT_TOLD = frozenset(
    {"not_running", "nothing_listed", "unmatched", "unclaimed", "credits_short"}
)
"""Causes that are usual where little is offered, or told by another name here:
`earned_nothing` and `credits_low`."""
MOST_IN_ONE = 20
"""Causes in one message; of the others it has the number."""
_SEVERAL = frozenset({"quarantine", "disabled", "page_to_pay", "top_up_proposed"})
"""There may be several of these, which differ in what to do."""
_TOLD_FACT = "notify.told"


@dataclass(frozen=True, kw_only=True, slots=True)
class Notification:
    """One message, about everything that is new."""

    agent_id: str
    base_url: str
    at: datetime
    causes: Sequence[EarningCause]

    @property
    def title(self) -> str:
        """The most important thing, and how many more there are."""
        first, *others = self.causes
        more = f", and {len(others)} more" if others else ""
        return escape(f"{self.agent_id}: {first.message}{more}", longest=200)

    @property
    def body(self) -> str:
        """Each thing, and what to do about it."""
        parts = [
            f"{escape(one.message, longest=500)}\nWhat to do: "
            f"{escape(one.fix, longest=500)}"
            for one in self.causes[:MOST_IN_ONE]
        ]
        if left_out := len(self.causes[MOST_IN_ONE:]):
            parts.append(f"{left_out} more: journeyman why")
        return "\n\n".join((*parts, f"The agent works on {escape(self.base_url)}"))

    def as_json(self) -> dict[str, JSON]:
        """Return it as a webhook gets it; `text` is what chat services show."""
        return {
            "text": f"{self.title}\n\n{self.body}",
            "title": self.title,
            "agent_id": self.agent_id,
            "base_url": self.base_url,
            "at": self.at.isoformat(timespec="seconds"),
            "causes": [one.as_json() for one in self.causes[:MOST_IN_ONE]],
        }


Send = Callable[[Notification], Awaitable[None]]
"""Raises SendError."""


class SendError(Exception):
    """A message was not taken; the text says why, and names no address."""


def to_webhook(address: str, transport: httpx.AsyncBaseTransport | None = None) -> Send:
    """Return what posts a message as JSON to an address."""

    async def send(notification: Notification) -> None:
        try:
            async with httpx.AsyncClient(
                transport=transport, timeout=SEND_SECONDS
            ) as client:
                answer = await client.post(address, json=notification.as_json())
        except httpx.HTTPError as error:
            raise SendError(f"no answer ({type(error).__name__})") from error
        if not answer.is_success:
            raise SendError(f"status {answer.status_code}")

    return send


def to_apprise(targets: Sequence[str]) -> Send:
    """Return what sends a message by Apprise.

    Raises:
        ConfigurationError: it is not installed, or does not know one of the targets.
    """
    try:
        from apprise import Apprise  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            "notify.targets needs the extra `notify`, which is not installed",
            "pip install 'journeyman[notify]', or use notify.webhook.",
        ) from error
    apprise = Apprise()
    for number, target in enumerate(targets, 1):
        if not apprise.add(target):
            raise ConfigurationError(
                f"notify.targets: Apprise does not understand number {number}",
                "It is an address such as mailto://user:password@example.org; see "
                "Apprise's own documentation.",
            )

    async def send(notification: Notification) -> None:
        def notify() -> bool:
            return bool(
                apprise.notify(title=notification.title, body=notification.body)
            )

        # In a thread: most of its services block.
        if not await anyio.to_thread.run_sync(notify, abandon_on_cancel=True):
            raise SendError("Apprise could not deliver it to every target")

    return send


@dataclass(kw_only=True, eq=False)
class Notifier:
    """Looks once a minute, and sends what is new."""

    find: Callable[[], Sequence[EarningCause]]
    """Finds what there is to tell, the most important first."""
    senders: Sequence[tuple[str, Send]]
    """Each with the name of its setting."""
    agent_id: str
    base_url: str
    patience: timedelta
    """What goes by itself within this time is not told."""
    repeat: timedelta
    """What was told is not told again within this time."""
    journal: Journal
    clean: Callable[[str], str]
    """Hides secrets."""
    clock: Clock
    log: Log
    _since: dict[str, datetime] = field(init=False, default_factory=dict)

    async def look(self) -> None:
        """Look once."""
        now = self.clock.now()
        present = {_key(one): one for one in self.find() if one.name not in NOT_TOLD}
        self._since = {key: self._since.get(key, now) for key in present}
        told = self._told(now)
        new = {
            key: one
            for key, one in present.items()
            if key not in told and now - self._since[key] >= self.patience
        }
        if new and await self._send(list(new.values()), now):
            self._remember({**told, **dict.fromkeys(new, now.isoformat())})

    def _told(self, now: datetime) -> dict[str, JSON]:
        """Return what was told not long ago; a clock set back counts as long ago."""
        kept = self.journal.facts.get(_TOLD_FACT)
        return {
            key: at
            for key, at in (kept.items() if isinstance(kept, dict) else ())
            if timedelta() <= now - datetime.fromisoformat(str(at)) < self.repeat
        }

    def _remember(self, told: dict[str, JSON]) -> None:
        with self.journal.tx("notified"):
            self.journal.facts.put(_TOLD_FACT, told)

    async def _send(self, causes: Sequence[EarningCause], now: datetime) -> bool:
        """Return whether somebody was told: with none, it is tried again."""
        notification = Notification(
            agent_id=self.agent_id,
            base_url=self.base_url,
            at=now,
            causes=[_cleaned(one, self.clean) for one in causes],
        )
        names = [one.name for one in causes]
        sent = 0
        for setting, send in self.senders:
            try:
                await send(notification)
            except SendError as error:
                self.log.emit(events.NOTIFY_FAILED, setting=setting, message=str(error))
            else:
                sent += 1
                self.log.emit(events.NOTIFIED, setting=setting, causes=names)
        return bool(sent)


def _key(cause: EarningCause) -> str:
    """Return what makes it the same as one that was told before."""
    return f"{cause.name} {cause.fix}" if cause.name in _SEVERAL else cause.name


def _cleaned(cause: EarningCause, clean: Callable[[str], str]) -> EarningCause:
    return EarningCause(
        name=cause.name,
        message=clean(cause.message),
        fix=clean(cause.fix),
        stops_all=cause.stops_all,
    )


def money_concerns(
    journal: Journal,
    now: datetime,
    *,
    low_credits: int,
    since: datetime,
    idle: timedelta | None,
) -> Iterator[EarningCause]:
    """Yield what is to be told about money, beside what keeps the agent from earning.

    Args:
        journal: the agent's.
        now: the time.
        low_credits: credits run short below this.
        since: the daemon runs since then; before, nothing could be earned.
        idle: it is told that nothing was earned for so long; None: never.
    """
    for spend in journal.spends.unsettled(SpendKind.TOP_UP):
        page = str(spend.answer.get("url") or "")
        if spend.state is SpendState.OPEN:
            yield EarningCause(
                name="page_to_pay",
                message=f"a payment page for {spend.credits} credits waits",
                fix=f"Pay at {page}, or: journeyman topup cancel {spend.spend_id}",
            )
        elif spend.state is SpendState.PROPOSED:
            yield EarningCause(
                name="top_up_proposed",
                message=f"a top-up of {spend.credits} credits waits for approval",
                fix=f"journeyman topup approve {spend.spend_id}",
            )
    available = usage(journal, now).available
    if available < low_credits:
        yield EarningCause(
            name="credits_low",
            message=f"{available} credits are left to spend, less than {low_credits}",
            fix="journeyman topup; or lower notify.low_credits",
        )
    last = max(since, journal.ledger.last_earned_at() or since)
    if idle is not None and now - last >= idle:
        yield EarningCause(
            name="earned_nothing",
            message=f"nothing was earned for {duration((now - last).total_seconds())}",
            fix="journeyman why",
        )
