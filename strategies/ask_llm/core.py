"""The strategy: which tasks it wants, and one conversation with the model for each."""

import importlib
import sys
from typing import TYPE_CHECKING, Any

import anyio

from journeyman import (
    Context,
    Decline,
    Misconfigured,
    Needs,
    Result,
    Strategy,
    Task,
    param,
    score,
    skip,
)

from .answer import Answer, instructions_for, prompt_for  # noqa: TID252 - see __init__
from .budget import DayBudget, Prices, Purse  # noqa: TID252 - see __init__
from .connection import Connection, read_key  # noqa: TID252 - see __init__
from .conversation import Conversation, Terms, size_of  # noqa: TID252 - see __init__
from .tools import toolsets_from  # noqa: TID252 - see __init__

if TYPE_CHECKING:
    from pydantic_ai.models import Model

LIBRARY = "pydantic_ai"


class AskLlm(Strategy):
    """Does short text tasks with a language model, within a budget."""

    api, version = 1, "1.0.0"
    needs = Needs(hosts={"*"}, seconds=300)

    model: str = param("", help='such as "openai:gpt-5-mini"; empty: it does nothing')
    base_url: str = param("", help="an OpenAI-compatible address, for other providers")
    api_key_env: str = param("", help="the environment variable with the key")
    api_key_file: str = param("", help="the file with the key")
    credits_per_1k_input: float = param(0.0, ge=0, help="price of 1000 tokens read")
    credits_per_1k_output: float = param(0.0, ge=0, help="price of 1000 tokens written")
    free: bool = param(False, help="the model costs nothing, so it has no prices")
    credits_per_task: float = param(2.0, ge=0, help="what one task may cost")
    credits_per_day: float = param(20.0, ge=0, help="what all may cost in a day (UTC)")
    max_tokens: int = param(20_000, ge=1, help="of one task, read and written")
    max_output_tokens: int = param(1_000, ge=1, help="of one request, written")
    max_requests: int = param(4, ge=1, le=50, help="of one task, tools included")
    request_seconds: float = param(60.0, gt=0, le=300, help="for one request")
    temperature: float = param(-1.0, ge=-1, le=2, help="-1: the model's default")
    output: str = param(
        "tool", choices=("tool", "native", "prompted"), help="how it is made to answer"
    )
    least_confidence: float = param(0.5, ge=0, le=1, help="decline an answer with less")
    task_kinds: str = param(
        "translation rewriting question_answering",
        help="the kinds of task that it wants",
    )
    task_tags: str = param("", help="or tasks with one of these tags")
    max_characters: int = param(20_000, ge=1, help="skip longer tasks")
    mcp_servers: str = param("", help="a JSON file with mcpServers: tools to use")
    mcp_tools: str = param("", help="the tools allowed, each as server_tool")

    def __init__(self) -> None:
        self._day = DayBudget()

    # -- before the work ------------------------------------------------------------

    def on_start(self, ctx: Context) -> None:
        """Report at once what is missing; import what takes a second."""
        if self.model:
            self._day.open(ctx)
            _import_library()
            self.connection().open()
            toolsets_from(self.mcp_servers, self.allowed_tools())

    def wants(self, task: Task) -> Any:  # noqa: ANN401 - any decision
        """Want texts of its kinds that earn more than they can cost."""
        if not self.model:
            why = "no model is configured: set strategies.params.ask_llm.model"
            return skip(why, specific=False)
        has_tag = not set(self.task_tags.split()).isdisjoint(task.tags)
        if not has_tag and task.kind not in self.task_kinds.split():
            return skip(f"kind {task.kind!r} is not wanted", specific=False)
        prompt = prompt_for(task, "")
        if len(prompt) > self.max_characters:
            return skip(f"longer than {self.max_characters} characters")
        worst = self.terms().worst(size_of(prompt))
        left = self.credits_per_day - self._day.taken()
        if worst > min(left, self.credits_per_task):
            return skip(f"over budget: it may cost {worst:.3g} credits")
        return score(1.0, cost=worst)

    # -- the work ---------------------------------------------------------------------

    async def run(self, task: Task, ctx: Context) -> Result:
        """Ask the model until it has answered, or a limit is reached."""
        if not self.model:
            fix = "set strategies.params.ask_llm.model"
            raise Misconfigured("no model is configured", fix=fix)
        if sys.modules.get(LIBRARY) is None:
            # In a thread: it takes a second, during which everything else would wait.
            await anyio.to_thread.run_sync(_import_library)
        self._day.open(ctx)
        connection, terms = self.connection(), self.terms()
        limits = {"per_task": self.credits_per_task, "per_day": self.credits_per_day}
        purse = Purse(ctx, self._day, **limits)
        conversation = Conversation(
            self.open_model(connection),
            terms,
            purse,
            instructions=instructions_for(ctx.canary),
            mode=self.output,
            toolsets=toolsets_from(self.mcp_servers, self.allowed_tools()),
            hide=connection.hide,
        )
        answer = await conversation.ask(prompt_for(task, ctx.canary))
        ctx.log.info("asked", model=self.model, credits=round(purse.spent, 6))
        return self._judge(answer)

    def connection(self) -> Connection:
        """Read how the model is reached.

        Raises:
            Misconfigured: the key is missing, or there is no price.
        """
        prices = (self.credits_per_1k_input, self.credits_per_1k_output)
        if not self.free and not any(prices):
            raise Misconfigured(
                "the price of the model is not set, so no budget can hold",
                fix="set credits_per_1k_input and credits_per_1k_output (1 credit is "
                "1 US cent), or free = true",
            )
        key = read_key(self.api_key_env, self.api_key_file)
        return Connection(model=self.model, base_url=self.base_url, key=key)

    def open_model(self, connection: Connection) -> "Model":
        """Create the model; a test overrides it."""
        return connection.open()

    def terms(self) -> Terms:
        """Return what one conversation may take."""
        return Terms(
            prices=Prices(
                read=self.credits_per_1k_input, written=self.credits_per_1k_output
            ),
            max_tokens=self.max_tokens,
            max_output_tokens=self.max_output_tokens,
            max_requests=self.max_requests,
            request_seconds=self.request_seconds,
            temperature=None if self.temperature < 0 else self.temperature,
        )

    def allowed_tools(self) -> frozenset[str]:
        """Return the names of the tools that the model may see."""
        return frozenset(self.mcp_tools.replace(",", " ").split())

    def _judge(self, answer: Answer) -> Result:
        if answer.declined:
            raise Decline("the model would not do it", why=answer.declined[:200])
        if answer.confidence < self.least_confidence:
            raise Decline("the model is not sure", confidence=answer.confidence)
        return Result(
            answer.answer,
            evidence={"model": self.model, "confidence": answer.confidence},
        )


def _import_library() -> None:
    """Import pydantic-ai.

    Raises:
        Misconfigured: it is not installed.
    """
    try:
        importlib.import_module(LIBRARY)
        importlib.import_module("pydantic_ai.models.openai")
    except ImportError:
        raise Misconfigured(
            "pydantic-ai is not installed", fix="pip install 'journeyman[llm]'"
        ) from None
