"""`journeyman pause`, `resume`, `reload` and `stop`: commands to the running daemon."""

from typing import Annotated, Any

import typer

from journeyman.cli.output import plural, print_fields
from journeyman.cli.owner_pauses import ForOption, ReasonOption, ask, hours_of, who
from journeyman.cli.session import Session, command
from journeyman.control import verbs
from journeyman.daemon import owner_pauses
from journeyman.domain.errors import ConfigurationError
from journeyman.domain.text import escape


@command("pause", example='journeyman pause --for 8h --reason "they are migrating"')
def pause(
    session: Session, *, reason: ReasonOption = "", for_: ForOption = None
) -> None:
    """Pause the daemon: it finishes its work and claims no more.

    It holds over restarts and crashes, until `journeyman resume` or the end of `--for`.
    Without a daemon it is written down for the next start.
    """
    request = verbs.PauseRequest(by=who(), reason=reason, hours=hours_of(for_))
    answer: Any = ask(session, verbs.PAUSE, request, owner_pauses.pause)
    text = f"Paused {answer['paused']['text']}. Nothing is claimed."
    session.answer(answer, lambda: print(escape(text)))


@command("resume", example="journeyman resume")
def resume(session: Session) -> None:
    """Resume a paused daemon: it claims tasks again."""
    answer = ask(session, verbs.RESUME, verbs.WhoAsks(who()), owner_pauses.resume)
    session.answer(answer, lambda: print("The daemon claims tasks again."))


@command("stop", example="journeyman stop --data-dir demo/data")
def stop(
    session: Session,
    *,
    now: Annotated[
        bool,
        typer.Option(
            "--now/--after-current",
            help="Break off work in flight, which the next start continues; or let it "
            "end, for work.grace_seconds at most.",
        ),
    ] = False,
) -> None:
    """Stop the daemon once its work in flight is done."""
    session.daemon().call(verbs.STOP, verbs.StopRequest(now=now))
    done = "The daemon finishes what is in flight, then stops."
    if now:
        done = "The daemon stops now; the next start continues what was in flight."
    session.answer({"ok": True}, lambda: print(done))


@command("reload", example="journeyman reload --data-dir demo/data")
def reload(session: Session) -> int:
    """Reload the strategies and their settings.

    The new strategies are loaded and checked, and their examples run. Only if all of
    that succeeds do they replace the old ones, which finish the work they have begun.
    If anything is wrong the old ones stay active, and the exit code is 4.
    """
    answer: Any = session.daemon().call(verbs.RELOAD)
    session.answer(answer, lambda: _show_reload(answer))
    return 0 if answer["reloaded"] else ConfigurationError.exit_code


def _show_reload(answer: dict[str, Any]) -> None:
    active = ", ".join(answer["strategies"]) or "none"
    if not answer["reloaded"]:
        print(f"Not reloaded: {plural(len(answer['problems']), 'problem')}.")
        for problem in answer["problems"]:
            print()
            print(escape(problem, keep="\n"))
        print()
        print(f"Still active: {active}")
        return
    print_fields(
        {
            "active": active,
            "in shadow": ", ".join(answer["shadow"]),
            "added": ", ".join(answer["added"]),
            "changed": ", ".join(answer["changed"]),
            "removed": ", ".join(answer["removed"]),
            "needs a restart": ", ".join(answer["needs_restart"]),
        }
    )
