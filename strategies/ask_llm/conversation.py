"""One conversation with the model: asked, paid and judged request by request."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from journeyman import RetryLater

from .answer import Answer  # noqa: TID252 - see __init__
from .budget import Prices, Purse  # noqa: TID252 - see __init__
from .failure import describe, ending_for, is_free  # noqa: TID252 - see __init__

if TYPE_CHECKING:
    from pydantic_ai import Agent, ModelSettings, UsageLimits
    from pydantic_ai.models import Model
    from pydantic_ai.run import AgentRun
    from pydantic_ai.toolsets import AbstractToolset
    from pydantic_ai.usage import RunUsage

BYTES_PER_TOKEN = 2
"""Few texts have shorter tokens than that, so it makes a worst case."""
OVERHEAD_TOKENS = 1_000
"""For the rules, and for the form of the answer."""
FRAME = 400
"""Bytes that pydantic-ai puts around a prompt, written as JSON."""
OUTPUT_RETRIES = 1
"""How often the model may correct an answer that is empty or has another form."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """What a conversation may take."""

    prices: Prices
    max_tokens: int
    max_output_tokens: int
    max_requests: int
    request_seconds: float
    temperature: float | None

    def worst(self, size: int) -> float:
        """Return the most that a request of so many bytes may cost, in credits."""
        read = size // BYTES_PER_TOKEN + OVERHEAD_TOKENS
        return self.prices.cost(read, self.max_output_tokens)

    def limits(self) -> "UsageLimits":
        """Return the limits that pydantic-ai keeps to."""
        from pydantic_ai import UsageLimits  # noqa: PLC0415 - it is heavy

        return UsageLimits(
            request_limit=self.max_requests,
            total_tokens_limit=self.max_tokens,
            tool_calls_limit=self.max_requests,
        )

    def settings(self) -> "ModelSettings":
        """Return what goes with each request. Repeating it is our own decision."""
        settings: ModelSettings = {
            "max_tokens": self.max_output_tokens,
            "timeout": self.request_seconds,
            "max_retries": 0,
        }
        if self.temperature is not None:
            settings["temperature"] = self.temperature
        return settings


class Conversation:
    """Asks a model for one answer."""

    def __init__(
        self,
        model: "Model",
        terms: Terms,
        purse: Purse,
        *,
        instructions: str,
        mode: str,
        toolsets: "Sequence[AbstractToolset[Any]]",
        hide: Callable[[str], str],
    ) -> None:
        """Prepare it.

        Args:
            model: who is asked.
            terms: what it may take.
            purse: what pays for it.
            instructions: the rules, for the model.
            mode: how it is made to answer in our form: tool, native or prompted.
            toolsets: what it may use.
            hide: takes secrets out of a text.
        """
        self._terms = terms
        self._purse = purse
        self._hide = hide
        self._has_tools = bool(toolsets)
        self._agent = _agent(model, terms, instructions, mode, toolsets)

    async def ask(self, prompt: str) -> Answer:
        """Return the model's answer, which may be that it declines.

        Raises:
            Decline: it gave none that could be used, or a limit was reached.
            RetryLater: the provider or a tool server is not ready.
            Misconfigured: the provider refuses the key or the model.
        """
        try:
            async with self._agent:
                return await self._talk(prompt)
        except Exception as error:  # noqa: BLE001 - each is reported as what it means
            raise self._ending(_only(error)) from None

    async def _talk(self, prompt: str) -> Answer:
        from pydantic_ai import Agent  # noqa: PLC0415 - it is heavy

        limits = self._terms.limits()
        async with self._agent.iter(prompt, usage_limits=limits) as run:
            node = run.next_node
            while not Agent.is_end_node(node):
                if Agent.is_model_request_node(node):
                    node = await self._pay_for(run, node)
                else:
                    node = await run.next(node)
            return node.data.output

    async def _pay_for(self, run: "AgentRun[Any, Answer]", node: Any) -> Any:  # noqa: ANN401 - pydantic-ai's nodes
        """Make one request, within the budget, and book what it cost."""
        before = _tokens(run.usage)
        worst = self._terms.worst(_size([*run.all_messages(), node.request]))
        with self._purse.request(worst) as bill:
            failure: Exception | None = None
            try:
                return await run.next(node)
            except Exception as error:
                failure = error
                raise
            finally:
                read, written = (
                    now - then
                    for now, then in zip(_tokens(run.usage), before, strict=True)
                )
                if read or written:
                    bill.credits = self._terms.prices.cost(read, written)
                    bill.note = f"{read} tokens read, {written} written"
                elif failure is not None and is_free(failure):
                    bill.credits = 0.0

    def _ending(self, error: Exception) -> Exception:
        words = self._hide(describe(error))
        ending = ending_for(error, words)
        if ending is not None:
            return ending
        if self._has_tools:
            return RetryLater(f"a tool server is not ready: {words}")
        return RuntimeError(f"the model could not be asked: {words}")


def _agent(
    model: "Model",
    terms: Terms,
    instructions: str,
    mode: str,
    toolsets: "Sequence[AbstractToolset[Any]]",
) -> "Agent[Any, Answer]":
    from pydantic_ai import (  # noqa: PLC0415 - it is heavy
        Agent,
        NativeOutput,
        PromptedOutput,
        ToolOutput,
    )

    forms: dict[str, Any] = {
        "tool": ToolOutput,
        "native": NativeOutput,
        "prompted": PromptedOutput,
    }
    return Agent(
        model,
        output_type=forms[mode](Answer),
        instructions=instructions,
        model_settings=terms.settings(),
        retries={"tools": 1, "output": OUTPUT_RETRIES},
        toolsets=toolsets,
    )


def size_of(prompt: str) -> int:
    """Return about how many bytes the first request with a prompt has, at least."""
    return len(json.dumps(prompt, ensure_ascii=False).encode(errors="replace")) + FRAME


def _size(messages: list[Any]) -> int:
    """Return the bytes of messages as JSON."""
    from pydantic_ai.messages import (  # noqa: PLC0415 - it is heavy
        ModelMessagesTypeAdapter,
    )

    return len(ModelMessagesTypeAdapter.dump_json(messages))


def _tokens(usage: "RunUsage") -> tuple[int, int]:
    return usage.input_tokens, usage.output_tokens


def _only(error: Exception) -> Exception:
    """Return the one error in a group of tasks that ended together."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
