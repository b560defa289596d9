"""One conversation with the model: asked, paid and judged request by request."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from journeyman import Decline, RetryLater

from .answer import Answer, CheckedAnswer  # noqa: TID252 - see __init__
from .budget import Prices, Purse  # noqa: TID252 - see __init__
from .failure import describe, ending_for, is_free  # noqa: TID252 - see __init__
from .patience import timed  # noqa: TID252 - see __init__

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
USUAL_ANSWER_TOKENS = 300
"""What an answer has, more often than not, with its form."""
USUAL_BYTES_PER_TOKEN = 4
ROLES = {
    "user-prompt": "told",
    "retry-prompt": "told",
    "tool-return": "tool",
    "thinking": "thought",
}
"""What each part of a message is in a transcript; all others are answers."""

Output = TypeVar("Output", bound=BaseModel)


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """What a conversation may take."""

    prices: Prices
    max_tokens: int
    max_output_tokens: int
    max_requests: int
    request_seconds: float
    """Until an answer begins; where it is not streamed, until it is there."""
    stall_seconds: float | None
    """From one part of an answer to the next; None: it is not streamed."""
    temperature: float | None

    def worst(self, size: int) -> float:
        """Return the most that a request of so many bytes may cost, in credits."""
        read = size // BYTES_PER_TOKEN + OVERHEAD_TOKENS
        return self.prices.cost(read, self.max_output_tokens)

    def usual(self, size: int) -> float:
        """Return what a request of so many bytes is expected to cost, in credits."""
        written = min(USUAL_ANSWER_TOKENS, self.max_output_tokens)
        read = size // USUAL_BYTES_PER_TOKEN + OVERHEAD_TOKENS // 2
        return self.prices.cost(read, written)

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
            "timeout": max(self.request_seconds, self.stall_seconds or 0.0),
            "max_retries": 0,
        }
        if self.temperature is not None:
            settings["temperature"] = self.temperature
        return settings


@dataclass(frozen=True, kw_only=True, slots=True)
class Manner:
    """How the model is asked."""

    mode: str
    """How it is made to answer in our form: tool, native or prompted."""
    toolsets: "Sequence[AbstractToolset[Any]]"
    """What it may use."""
    hide: Callable[[str], str]
    """Takes secrets out of a text."""
    transcribe: Callable[[str, str], object]
    """Keeps who said what."""
    note_end: Callable[[bool], object]
    """Hears whether a streamed answer came to its end."""


class Conversation:
    """Asks a model for one answer, has it checked, and mended if need be."""

    def __init__(
        self,
        model: "Model",
        terms: Terms,
        purse: Purse,
        manner: Manner,
        *,
        instructions: str,
    ) -> None:
        """Prepare it; `instructions` are the rules, for the model."""
        from pydantic_ai.usage import RunUsage  # noqa: PLC0415 - it is heavy

        self._model = timed(
            model, terms.request_seconds, terms.stall_seconds, manner.note_end
        )
        self._terms = terms
        self._purse = purse
        self._manner = manner
        self._agent = self._agent_for(Answer, instructions, manner.toolsets)
        self._history: list[Any] = []
        # One for all runs, so that the limits hold for the task and not for each.
        self._usage = RunUsage()

    async def ask(self, prompt: str) -> Answer:
        """Return the model's answer, which may be that it declines.

        Raises:
            Decline: it gave none that could be used, or a limit was reached.
            RetryLater: the provider or a tool server is not ready.
            Misconfigured: the provider refuses the key or the model.
        """
        return await self._run(self._agent, prompt)

    async def mend(self, prompt: str) -> Answer:
        """Return a better answer than the last one; raises as `ask` does."""
        return await self._run(self._agent, prompt, self._history)

    async def check(self, prompt: str, instructions: str) -> str | None:
        """Return what is wrong with an answer; None if that could not be found out.

        Work that is paid for is not thrown away because its check costs too much, or
        because the provider is away just now.
        """
        is_last = self._usage.requests + 1 > self._terms.max_requests
        worst = self._terms.worst(size_of(prompt))
        if is_last or not self._purse.affords(worst):
            return None
        try:
            verdict = await self._run(
                self._agent_for(CheckedAnswer, instructions, ()), prompt
            )
        except (Decline, RetryLater):
            return None
        return verdict.problems.strip()

    async def _run(
        self, agent: "Agent[Any, Output]", prompt: str, history: Sequence[Any] = ()
    ) -> Output:
        try:
            async with agent:
                return await self._talk(agent, prompt, history)
        except Exception as error:  # noqa: BLE001 - each is reported as what it means
            raise self._ending(_only(error)) from None

    async def _talk(
        self, agent: "Agent[Any, Output]", prompt: str, history: Sequence[Any]
    ) -> Output:
        from pydantic_ai import Agent  # noqa: PLC0415 - it is heavy

        async with agent.iter(
            prompt,
            usage_limits=self._terms.limits(),
            message_history=list(history) or None,
            usage=self._usage,
        ) as run:
            node = run.next_node
            while not Agent.is_end_node(node):
                if Agent.is_model_request_node(node):
                    node = await self._pay_for(run, node)
                else:
                    node = await run.next(node)
            if agent is self._agent:
                self._history = run.all_messages()
            return node.data.output

    async def _pay_for(self, run: "AgentRun[Any, Output]", node: Any) -> Any:  # noqa: ANN401 - pydantic-ai's nodes
        """Make one request, within the budget, and book what it cost."""
        before = _tokens(run.usage)
        worst = self._terms.worst(_size([*run.all_messages(), node.request]))
        with self._purse.request(worst) as bill:
            failure: Exception | None = None
            try:
                return await self._request(run, node)
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

    async def _request(self, run: "AgentRun[Any, Output]", node: Any) -> Any:  # noqa: ANN401 - pydantic-ai's nodes
        self._transcribe(node.request.parts)
        after = await run.next(node)
        self._transcribe(run.all_messages()[-1].parts)
        return after

    def _ending(self, error: Exception) -> Exception:
        words = self._manner.hide(describe(error))
        ending = ending_for(error, words)
        if ending is not None:
            return ending
        if self._manner.toolsets:
            return RetryLater(f"a tool server is not ready: {words}")
        return RuntimeError(f"the model could not be asked: {words}")

    def _agent_for(
        self,
        output: type[Output],
        instructions: str,
        toolsets: "Sequence[AbstractToolset[Any]]",
    ) -> "Agent[Any, Output]":
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
            self._model,
            output_type=forms[self._manner.mode](output),
            instructions=instructions,
            model_settings=self._terms.settings(),
            retries={"tools": 1, "output": OUTPUT_RETRIES},
            toolsets=toolsets,
        )

    def _transcribe(self, parts: Sequence[Any]) -> None:
        """Keep what was said in one direction, without the key."""
        for part in parts:
            said = getattr(part, "args", None) or getattr(part, "content", None)
            if said:
                text = said if isinstance(said, str) else json.dumps(said, default=str)
                role = ROLES.get(part.part_kind, "answered")
                self._manner.transcribe(role, self._manner.hide(text))


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
