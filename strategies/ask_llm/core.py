"""The strategy: which tasks it wants, and one conversation with the model for each."""

import importlib
import os
import sys
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio

from journeyman import (
    Context,
    Decision,
    Decline,
    Misconfigured,
    Needs,
    OutcomeReport,
    Result,
    RetryLater,
    Strategy,
    Task,
    param,
    score,
    skip,
)

from .answer import (  # noqa: TID252 - see __init__
    CHECKING,
    Answer,
    check_for,
    instructions_for,
    mend_for,
    prompt_for,
)
from .budget import DUST, DayBudget, Prices, Purse  # noqa: TID252 - see __init__
from .connection import (  # noqa: TID252 - see __init__
    Connection,
    ModelChoice,
    OffError,
    choose,
)
from .conversation import (  # noqa: TID252 - see __init__
    Conversation,
    Manner,
    Terms,
    size_of,
)
from .prices import table_prices  # noqa: TID252 - see __init__
from .records import KindRecords  # noqa: TID252 - see __init__
from .requirements import broken_requirements  # noqa: TID252 - see __init__
from .suitability import need_beyond_text  # noqa: TID252 - see __init__
from .tools import toolsets_from  # noqa: TID252 - see __init__

if TYPE_CHECKING:
    from pydantic_ai.models import Model

ANY_KIND = "*"
CENTS_PER_USD = 100
LONGEST_WAIT_SECONDS = 60.0
"""Of a task in its slot, for a provider that is away."""
MOST_BROKEN = 2
"""Answers in a row that broke off: then it is rather that the provider never says why
one ends, and whole ones are asked for."""
LIBRARY = "pydantic_ai"


class AskLlm(Strategy):
    """Does short text tasks with a language model, within a budget."""

    api, version = 1, "1.1.0"
    needs = Needs(hosts={"*"}, seconds=300)

    model: str = param(
        "",
        help='such as "openai:gpt-5-mini"; empty: what a key in the environment opens; '
        '"off": none',
    )
    base_url: str = param("", help="an OpenAI-compatible address, for other providers")
    api_key_env: str = param("", help="the environment variable with the key")
    api_key_file: str = param("", help="the file with the key")
    credits_per_1k_input: float = param(0.0, ge=0, help="price of 1000 tokens read")
    credits_per_1k_output: float = param(0.0, ge=0, help="price of 1000 tokens written")
    free: bool = param(False, help="the model costs nothing, so it has no prices")
    credits_per_task: float = param(2.0, ge=0, help="what one task may cost")
    credits_per_day: float = param(
        20.0, ge=0, help="what all may cost in a day; 0: it does nothing"
    )
    max_tokens: int = param(20_000, ge=1, help="of one task, read and written")
    max_output_tokens: int = param(1_000, ge=1, help="of one request, written")
    max_requests: int = param(6, ge=1, le=50, help="of one task, tools included")
    request_seconds: float = param(
        60.0, gt=0, le=300, help="until an answer begins; not streamed: until it ends"
    )
    stall_seconds: float = param(
        20.0, gt=0, le=300, help="from one part of an answer to the next"
    )
    stream: bool = param(True, help="take answers part by part, as they are written")
    temperature: float = param(-1.0, ge=-1, le=2, help="-1: the model's default")
    output: str = param(
        "tool", choices=("tool", "native", "prompted"), help="how it is made to answer"
    )
    least_confidence: float = param(0.5, ge=0, le=1, help="decline an answer with less")
    check_answer: bool = param(
        True, help="check it against the task, in a request more"
    )
    task_kinds: str = param(ANY_KIND, help="the kinds of task that it wants; *: any")
    task_tags: str = param("", help="or tasks with one of these tags")
    text_only: bool = param(
        True, help="skip tasks that ask for more than text: pictures, calls, the web"
    )
    max_characters: int = param(20_000, ge=1, help="skip longer tasks")
    mcp_servers: str = param("", help="a JSON file with mcpServers: tools to use")
    mcp_tools: str = param("", help="the tools allowed, each as server_tool")
    transcript: bool = param(True, help="log what is said; `why TASK` shows it")

    def __init__(self) -> None:
        self._day = DayBudget()
        self._records = KindRecords()
        self._settled: tuple[ModelChoice, Prices] | None = None
        self._off: OffError | None = None
        self._ready_at: datetime | None = None
        self._broken = 0
        """Streamed answers in a row that broke off, as far as is known."""

    # -- before the work ------------------------------------------------------------

    def on_start(self, ctx: Context) -> None:
        """Report at once what is asked or missing; import what takes a second."""
        self._records.open(ctx.state)
        try:
            choice = self.choice()
            _import_library(is_asked_for=not choice.is_found)
            _, prices = self._terms_of_trade()
        except OffError as off:
            if off.is_news:
                ctx.log.warning("asks no model", why=str(off))
            return
        self._day.open(ctx)
        choice.connection().open()
        toolsets_from(self.mcp_servers, self.allowed_tools())
        ctx.log.info(self._announcement(choice), prices=prices.source)

    def wants(self, task: Task) -> Any:  # noqa: ANN401 - any decision
        """Want what text can answer, and what should earn more than it costs."""
        if self._off is not None:
            return skip(str(self._off), specific=False)
        try:
            self._terms_of_trade()
        except OffError as off:
            return skip(str(off), specific=False)
        except Misconfigured as problem:
            return skip(problem.problem)
        if not self._is_of_its_kinds(task):
            return skip(f"kind {task.kind!r} is not wanted", specific=False)
        return self._decide(task)

    def _decide(self, task: Task) -> Any:  # noqa: ANN401 - any decision
        # The text first: one of megabytes is not even written down as a prompt.
        is_long = max(len(task.text), len(task.description)) > self.max_characters
        if is_long or len(prompt := prompt_for(task, "")) > self.max_characters:
            return skip(f"longer than {self.max_characters} characters")
        if self.text_only and (need := need_beyond_text(task)):
            return skip(f"text alone cannot answer it: it asks for {need}")
        return self._expectation(task, size_of(prompt))

    def _expectation(self, task: Task, size: int) -> Any:  # noqa: ANN401 - any decision
        """Return the chance of pay, and what it is expected to cost."""
        terms = self.terms()
        refusal = self._over_budget(self._first_request(task))
        if refusal is not None:
            return refusal
        requests = 1 + self.check_answer
        expected = min(terms.usual(size) * requests, self.credits_per_task)
        chance = self._records.chance(task.kind)
        return score(round(chance, 3), cost=round(expected, 6))

    def _over_budget(self, worst: float, task_id: str = "") -> Decision | None:
        """Return a no where a request of this worst case cannot be paid."""
        left = self.credits_per_day - self._day.taken(besides=task_id)
        if worst <= min(left, self.credits_per_task) + DUST:
            return None
        # Without the amounts, so that equal reasons are counted together.
        if worst <= min(self.credits_per_day, self.credits_per_task):
            why = f"too little is left of credits_per_day = {self.credits_per_day:g}"
            return skip(f"over budget: {why}", for_now=True)
        why = "a request may cost more than credits_per_task or credits_per_day"
        return skip(f"over budget: {why}")

    async def on_claim(self, task: Task) -> Decision | None:
        """Reserve what the task may cost; refuse it where not enough is left.

        It was wanted when it was listed; others have been paid for since.
        """
        try:
            worst = self._first_request(task)
        except (OffError, Misconfigured) as problem:
            return skip(str(problem))
        refusal = self._over_budget(worst, task.id)
        if refusal is None:
            self._day.reserve(task.id, worst)
        return refusal

    def _first_request(self, task: Task) -> float:
        """Return the most that the first request of a task may cost."""
        refused = self._records.last_refusal(task.kind)
        return self.terms().worst(size_of(prompt_for(task, "", refused)))

    async def on_outcome(self, task: Task, outcome: OutcomeReport) -> None:
        """Remember what was paid and what was refused, by kind."""
        self._day.release(task.id)
        if outcome.state in {"completed", "rejected"}:
            is_paid = outcome.state == "completed"
            self._records.count(task.kind, is_paid=is_paid, why=outcome.reason)

    def status(self) -> str:
        """Return which model is asked, and what is left of the day's budget."""
        try:
            choice = self.choice()
        except OffError as off:
            return f"off: {off}"
        taken = self._day.taken()
        return f"{choice.model}: {taken:.3g} of {self.credits_per_day:g} credits today"

    # -- the work ---------------------------------------------------------------------

    async def run(self, task: Task, ctx: Context) -> Result:
        """Ask the model until it has answered, or a limit is reached."""
        try:
            choice, _ = self._terms_of_trade()
        except OffError as off:
            raise Decline(str(off)) from None
        if sys.modules.get(LIBRARY) is None:
            # In a thread: it takes a second, during which everything else would wait.
            await anyio.to_thread.run_sync(_import_library)
        self._day.open(ctx)
        limits = {"per_task": self.credits_per_task, "per_day": self.credits_per_day}
        purse = Purse(task.id, ctx, self._day, **limits)
        conversation = self._conversation(choice.connection(), purse, ctx)
        await self._wait_for_provider(ctx)
        try:
            answer, is_checked = await self._answer(conversation, task, ctx.canary)
        except RetryLater as later:
            self._ready_at = ctx.now + timedelta(seconds=later.after)
            self._day.reserve(task.id, self._first_request(task))
            raise
        ctx.log.info("asked", model=choice.model, credits=round(purse.spent, 6))
        return Result(
            answer.answer,
            evidence={
                "model": choice.model,
                "confidence": answer.confidence,
                "checked": is_checked,
            },
        )

    async def _wait_for_provider(self, ctx: Context) -> None:
        """Keep the slot while the provider is away.

        Each slot that is given back is a claim more: soon all tasks on offer would be
        ours, and none of them done.
        """
        if self._ready_at is not None:
            seconds = (self._ready_at - ctx.now).total_seconds()
            await anyio.sleep(min(max(seconds, 0.0), LONGEST_WAIT_SECONDS))

    async def _answer(
        self, conversation: Conversation, task: Task, mark: str
    ) -> tuple[Answer, bool]:
        """Return an answer that keeps to its task, mended once if it did not.

        Also return whether the model has checked it.

        Raises:
            Decline: the model is not sure, or cannot mend it.
        """
        refused = self._records.last_refusal(task.kind)
        answer = await conversation.ask(prompt_for(task, mark, refused))
        self._refuse_doubtful(answer)
        problems, is_checked = await self._problems(conversation, task, answer, mark)
        if problems:
            answer = await conversation.mend(mend_for(problems, mark))
            self._refuse_doubtful(answer)
            problems, is_checked = await self._problems(
                conversation, task, answer, mark
            )
        if problems:
            raise Decline("the answer does not keep to the task", why=problems[:200])
        return answer, is_checked

    async def _problems(
        self, conversation: Conversation, task: Task, answer: Answer, mark: str
    ) -> tuple[str, bool]:
        """Return what an answer breaks, and whether the model was asked about it."""
        if counted := broken_requirements(task, answer.answer):
            return "; ".join(counted), False
        if not self.check_answer:
            return "", False
        prompt = check_for(task, answer.answer, mark)
        found = await conversation.check(prompt, CHECKING.format(mark=mark))
        return found or "", found is not None

    def _refuse_doubtful(self, answer: Answer) -> None:
        if answer.declined:
            raise Decline("the model would not do it", why=answer.declined[:200])
        if answer.confidence < self.least_confidence:
            raise Decline("the model is not sure", confidence=answer.confidence)

    # -- how the model is asked -------------------------------------------------------

    def choice(self) -> ModelChoice:
        """Return which model is asked.

        Raises:
            OffError: none is.
        """
        if not self.credits_per_day:
            raise OffError("turned off: its budget, credits_per_day, is 0")
        configured = ModelChoice(
            model=self.model,
            base_url=self.base_url,
            key_env=self.api_key_env,
            key_file=self.api_key_file,
        )
        return choose(configured, os.environ)

    def _terms_of_trade(self) -> tuple[ModelChoice, Prices]:
        """Return which model is asked, and its prices; found out once.

        Raises:
            OffError: none is asked.
            Misconfigured: its price is not known.
        """
        if self._off is not None:
            raise OffError(str(self._off), is_news=self._off.is_news)
        if self._settled is None:
            try:
                choice = self.choice()
            except OffError as off:
                self._off = off.with_traceback(None)
                raise
            prices = Prices(
                read=self.credits_per_1k_input, written=self.credits_per_1k_output
            )
            if not self.free and not (prices.read or prices.written):
                prices = table_prices(choice)
            self._settled = choice, prices
        return self._settled

    def open_model(self, connection: Connection) -> "Model":
        """Create the model; a test overrides it."""
        return connection.open()

    def terms(self) -> Terms:
        """Return what one conversation may take."""
        _, prices = self._terms_of_trade()
        return Terms(
            prices=prices,
            max_tokens=self.max_tokens,
            max_output_tokens=self.max_output_tokens,
            max_requests=self.max_requests,
            request_seconds=self.request_seconds,
            stall_seconds=self.stall_seconds if self._streams() else None,
            temperature=None if self.temperature < 0 else self.temperature,
        )

    def _streams(self) -> bool:
        return self.stream and self._broken < MOST_BROKEN

    def _note_end(self, ctx: Context, is_whole: bool) -> None:  # noqa: FBT001 - a callback
        self._broken = 0 if is_whole else self._broken + 1
        if self._broken == MOST_BROKEN:
            why = "streamed ones broke off, or the provider never says why one ends"
            ctx.log.warning("asks for whole answers from now on", why=why)

    def allowed_tools(self) -> frozenset[str]:
        """Return the names of the tools that the model may see."""
        return frozenset(self.mcp_tools.replace(",", " ").split())

    def _conversation(
        self, connection: Connection, purse: Purse, ctx: Context
    ) -> Conversation:
        manner = Manner(
            mode=self.output,
            toolsets=toolsets_from(self.mcp_servers, self.allowed_tools()),
            hide=connection.hide,
            transcribe=ctx.log.transcript if self.transcript else _keep_nothing,
            note_end=partial(self._note_end, ctx),
        )
        return Conversation(
            self.open_model(connection),
            self.terms(),
            purse,
            manner,
            instructions=instructions_for(ctx.canary),
        )

    def _is_of_its_kinds(self, task: Task) -> bool:
        kinds = self.task_kinds.split()
        if ANY_KIND in kinds and task.text.strip():
            return True
        has_tag = not set(self.task_tags.split()).isdisjoint(task.tags)
        return has_tag or task.kind in kinds

    def _announcement(self, choice: ModelChoice) -> str:
        by = f" by {choice.key_env} in the environment" if choice.is_found else ""
        # Not the whole address: it may have a password in it.
        at = f" at {urlsplit(choice.base_url).hostname}" if choice.base_url else ""
        usd = self.credits_per_day / CENTS_PER_USD
        return (
            f"asks {choice.model}{at}{by}, for at most {self.credits_per_day:g} "
            f"credits ({usd:.2f} USD) a day; to turn it off, set "
            "strategies.params.ask_llm.credits_per_day = 0"
        )


def _keep_nothing(_role: str, _said: str) -> None:
    """Keep no transcript."""


def _import_library(*, is_asked_for: bool = True) -> None:
    """Import pydantic-ai.

    Raises:
        Misconfigured: it is not installed.
        OffError: nor did the owner ask for it.
    """
    fix = "pip install 'journeyman[llm]'"
    try:
        importlib.import_module(LIBRARY)
        importlib.import_module("pydantic_ai.models.openai")
        messages = importlib.import_module("pydantic_ai.messages")
        # Its first use makes a schema: for a tenth of a second the loop would stand.
        messages.ModelMessagesTypeAdapter.dump_json([])
    except ImportError:
        if not is_asked_for:
            raise OffError(f"pydantic-ai is not installed: {fix}") from None
        raise Misconfigured("pydantic-ai is not installed", fix=fix) from None
