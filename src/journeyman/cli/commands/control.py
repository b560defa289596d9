"""`journeyman pause`, `resume` and `stop`: commands to the running daemon."""

from typing import Any

from journeyman.cli.output import answer, facts, neutral, say
from journeyman.cli.session import Session, command
from journeyman.domain.errors import ConfigurationError


@command("pause", example="journeyman pause")
def pause(session: Session) -> None:
    """Have the daemon claim nothing more; work in flight goes on."""
    with session.daemon() as daemon:
        daemon.pause()
    _done(session, "The daemon claims nothing until `journeyman resume`.")


@command("resume", example="journeyman resume")
def resume(session: Session) -> None:
    """Have a paused daemon claim tasks again."""
    with session.daemon() as daemon:
        daemon.resume()
    _done(session, "The daemon claims tasks again.")


@command("stop", example="journeyman stop --data-dir demo/data")
def stop(session: Session) -> None:
    """Have the daemon end its work in flight, then exit."""
    with session.daemon() as daemon:
        daemon.stop()
    _done(session, "The daemon finishes what is in flight, then stops.")


def _done(session: Session, words: str) -> None:
    answer(as_json=session.as_json, data={"ok": True}, show=lambda: say(words))


@command("reload", example="journeyman reload --data-dir demo/data")
def reload(session: Session) -> int:
    """Have the daemon load its strategies anew, and their settings.

    They are loaded, checked, and their examples run; only when all of that goes well
    they take the place of the old ones. Work in flight ends on the old ones. Where
    anything is wrong the old ones stay, and it exits with 4.
    """
    with session.daemon() as daemon:
        done: Any = daemon.reload()
    answer(as_json=session.as_json, data=done, show=lambda: _show(done))
    return 0 if done["reloaded"] else ConfigurationError.exit_code


def _show(done: dict[str, Any]) -> None:
    if not done["reloaded"]:
        count = len(done["problems"])
        say(f"Not reloaded: {count} problem{'s' if count > 1 else ''}.")
        for problem in done["problems"]:
            say()
            say("\n".join(map(neutral, problem.splitlines())))
        say()
        say(f"The old strategies work on: {_names(done['strategies'])}")
        return
    facts(
        {
            "in force": _names(done["strategies"]),
            "in shadow": ", ".join(done["shadow"]),
            "added": ", ".join(done["added"]),
            "changed": ", ".join(done["changed"]),
            "removed": ", ".join(done["removed"]),
            "needs a restart": ", ".join(done["needs_restart"]),
        }
    )


def _names(strategies: list[str]) -> str:
    return ", ".join(strategies) or "none"
