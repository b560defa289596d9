"""Tasks that strategies want to post: asked for at an interval, within budgets."""

import json
from dataclasses import dataclass, fields
from typing import Any

from journeyman.domain.clock import Clock
from journeyman.domain.errors import JourneymanError, StateError
from journeyman.domain.outcomes import Unknown
from journeyman.domain.tasks import NewTask, Result, Task, TaskId
from journeyman.economy.budget import OverBudget
from journeyman.economy.posting import Accepted, NotAccepted, Posting
from journeyman.journal.journal import Journal
from journeyman.lifecycle.context import DaemonStrategyLog
from journeyman.lifecycle.gate import Gate
from journeyman.lifecycle.hooks import Hooks
from journeyman.lifecycle.lifecycle import Lifecycle
from journeyman.network.client import NetworkClient
from journeyman.network.rate_limit.limiter import RateLimiter
from journeyman.observability.events import Log
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.running.leaks import LeakScan

MOST_POSTS = 20
"""That one call of `post` may ask for; the rest is refused, and may be asked again."""
ENDPOINT = "post_task"

NO_TASK = Task(id=TaskId("post"))
"""Stands for the task of a run: what a post says was given to us by nobody."""


@dataclass(kw_only=True, eq=False)
class StrategyPosts:
    """Asks each strategy that has a `post` hook, and posts what it gives.

    What the hook noted in `ctx.state` is on disk before the first request leaves. So a
    crash in between loses a post, and never sends one twice.
    """

    lifecycle: Lifecycle
    hooks: Hooks
    gate: Gate
    posting: Posting
    journal: Journal
    network: NetworkClient
    rate_limiter: RateLimiter
    leaks: LeakScan
    clock: Clock
    log: Log

    async def round(self) -> None:
        """Ask all of them once, one after the other; nobody while a post must wait.

        Raises:
            StateError: the disk fails.
        """
        if self.must_wait():
            return
        for loaded in self.lifecycle.active.registry.strategies:
            is_quarantined = self.lifecycle.quarantine.contains(loaded.name)
            if "post" in loaded.hooks and not is_quarantined and not self.gate.obstacle:
                await self._ask(loaded)

    def must_wait(self) -> bool:
        """Return whether the network takes no post now.

        A strategy that is asked nevertheless would note a post as made, and never
        learn that it was not sent.
        """
        is_paused = self.rate_limiter.pause_for(ENDPOINT) is not None
        return is_paused or ENDPOINT in self.network.search.blocked_actions()

    async def _ask(self, loaded: LoadedStrategy) -> None:
        log = DaemonStrategyLog(self.log.bind(task_id=None, strategy=loaded.name))
        answer = await self.hooks.call(loaded, "post")
        wanted = [answer.value] if isinstance(answer.value, NewTask) else answer.value
        if wanted is None:
            return
        if not isinstance(wanted, list | tuple):
            kind = type(wanted).__name__
            log.warning("post refused", reason=f"post returned a {kind}, not a list")
            return
        for number, new in enumerate(wanted):
            if self.gate.obstacle:
                return
            title, refusal = getattr(new, "title", None), ""
            if number >= MOST_POSTS:
                refusal = f"more than {MOST_POSTS} in one call"
            refusal = refusal or await self._post(loaded.name, new)
            if refusal:
                log.warning("post refused", title=title, reason=refusal)

    async def _post(self, strategy: str, new: object) -> str:
        """Post one task; return why it was refused, else an empty text."""
        if not isinstance(new, NewTask):
            return f"{type(new).__name__} is not a NewTask"
        if flaw := _flaw(new) or self._secret_in(new):
            return flaw
        try:
            return _why(await self.posting.post(new, strategy))
        except StateError:
            raise
        except JourneymanError as error:
            return error.problem

    def _secret_in(self, new: NewTask) -> str:
        """Return which secret a task contains; empty when it contains none."""
        leak = self.leaks.find(Result(_content(new)), NO_TASK, "")
        return f"it would reveal {leak.kind} (in {leak.where})" if leak else ""


def _flaw(new: NewTask) -> str:
    """Return what is wrong with a task that an author made; empty when nothing is."""
    # Nobody has checked that it keeps to its type hints.
    content = _content(new)
    texts = [content["title"], content["description"], content["kind"]]
    reward, tags = content["reward"], content["tags"]
    if not all(isinstance(text, str) for text in texts) or not new.title.strip():
        return "title, description and kind must be strings, and the title not empty"
    if type(reward) is not int or reward < 1:
        return f"reward is {reward!r}: give a whole number of credits, 1 or more"
    if not isinstance(tags, tuple) or not all(isinstance(tag, str) for tag in tags):
        return "tags must be a tuple of strings"
    try:
        json.dumps(content, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError) as error:  # also a lone surrogate
        return f"it cannot be written as JSON: {error}"
    return ""


def _content(new: NewTask) -> dict[str, Any]:
    return {one.name: getattr(new, one.name) for one in fields(new)}


def _why(done: Accepted | NotAccepted | OverBudget) -> str:
    match done:
        case Accepted():
            return ""
        case OverBudget(setting, message):
            return f"{message} ({setting})"
        case NotAccepted(_, Unknown(message)):
            return f"it may have been posted, and is not sent again: {message}"
        case NotAccepted(_, failure):
            return failure.message
