"""How long a model is waited for: until its answer begins, and from part to part.

A long answer may be slow, and is not cut; a provider that falls silent in the middle of
one is given up soon.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anyio

from journeyman import RetryLater

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model


def timed(
    model: "Model",
    begin: float,
    stall: float | None,
    note_end: Callable[[bool], object],
) -> "Model":
    """Return the model with time limits on each request.

    Args:
        model: the model.
        begin: seconds until the first part of an answer.
        stall: seconds from one part to the next; None: an answer is not streamed, and
            has to be there as a whole before `begin` is over.
        note_end: called with each streamed answer: whether it came to its end.
    """
    from pydantic_ai import exceptions as known  # noqa: PLC0415 - it is heavy
    from pydantic_ai.models.wrapper import WrapperModel  # noqa: PLC0415 - it is heavy

    class TimedModel(WrapperModel):
        async def request(self, *asked: Any) -> "ModelResponse":  # noqa: ANN401 - the library's
            try:
                # Of our own: a server that sends a byte now and then, which is no part
                # of an answer, would never let its client time out.
                with anyio.fail_after(begin) as time:
                    if stall is None:
                        return await self.wrapped.request(*asked)
                    async with self.wrapped.request_stream(*asked) as parts:
                        async for _ in parts:
                            time.deadline = anyio.current_time() + stall
                    answer = parts.get()
                note_end(_is_whole(answer))
                if not _is_whole(answer):
                    raise RetryLater("the provider's answer broke off")
            except known.ContentFilterError:
                raise
            except known.UnexpectedModelBehavior:
                raise RetryLater("the provider's answer cannot be read") from None
            return answer

    return TimedModel(model)


def _is_whole(answer: "ModelResponse") -> bool:
    """Return whether an answer came to its end, as far as its provider says.

    Where a provider never said why its answer ends, the library supposes a usual
    reason, or has none. What was really said is in the details, but for an objection.
    """
    is_told = "finish_reason" in (answer.provider_details or {})
    return is_told or answer.finish_reason not in {None, "stop", "tool_call"}
