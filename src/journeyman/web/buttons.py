"""What each button does: a verb of the control socket, with the fields of its form."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from journeyman.control import verbs
from journeyman.daemon.commands import OwnerCommands
from journeyman.domain.errors import UsageError

BY: Final = "the owner, on the page"
Form = Mapping[str, str]
Button = Callable[[OwnerCommands, Form], Awaitable[str]]
"""Does it, and returns what was done, as a sentence."""


async def _pause(commands: OwnerCommands, form: Form) -> str:
    hours = _hours(form)
    reason = form.get("reason", "").strip()
    commands.pause(verbs.PauseRequest(by=BY, reason=reason, hours=hours))
    return "Paused: work in flight goes on, nothing new is claimed."


async def _resume(commands: OwnerCommands, _form: Form) -> str:
    commands.resume(verbs.WhoAsks(by=BY))
    return "Resumed."


async def _reload(commands: OwnerCommands, _form: Form) -> str:
    answer = await commands.reload()
    if not answer["reloaded"]:
        raise UsageError(
            "the strategies were not reloaded; those from before go on",
            "`journeyman check` shows each problem.",
        )
    changes = [
        f"{len(names)} {what}"
        for what in ("added", "changed", "removed")
        if isinstance(names := answer[what], list) and names
    ]
    return f"Reloaded: {', '.join(changes) or 'nothing has changed'}."


async def _stop(commands: OwnerCommands, form: Form) -> str:
    now = form.get("now") == "yes"
    commands.stop(verbs.StopRequest(now=now))
    return "Stopping now." if now else "Stopping when the work in flight is done."


async def _disable(commands: OwnerCommands, form: Form) -> str:
    name = form.get("name", "")
    commands.disable(verbs.DisableRequest(by=BY, name=name))
    return f"Disabled {name}: it gets nothing new."


async def _enable(commands: OwnerCommands, form: Form) -> str:
    name = form.get("name", "")
    commands.enable(verbs.StrategyName(name))
    return f"Enabled {name}."


async def _release(commands: OwnerCommands, form: Form) -> str:
    name = form.get("name", "")
    commands.release(verbs.StrategyName(name))
    return f"Released {name} from quarantine."


async def _promote(commands: OwnerCommands, form: Form) -> str:
    name = form.get("name", "")
    commands.promote(verbs.StrategyName(name))
    return f"Promoted {name}: it is given work."


BUTTONS: Final[Mapping[str, Button]] = {
    "pause": _pause,
    "resume": _resume,
    "reload": _reload,
    "stop": _stop,
    "disable": _disable,
    "enable": _enable,
    "release": _release,
    "promote": _promote,
}
"""By the name of the verb."""


def _hours(form: Form) -> float | None:
    """Return for how long.

    Raises:
        UsageError: it is no number.
    """
    text = form.get("hours", "").strip()
    try:
        return float(text) if text else None
    except ValueError:
        raise UsageError(
            f"{text!r} is no number of hours", "Write for example 2, or nothing."
        ) from None
