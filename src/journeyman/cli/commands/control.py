"""`journeyman pause`, `resume` and `stop`: commands to the running daemon."""

from journeyman.cli.command import command
from journeyman.cli.output import answer, say
from journeyman.cli.session import Session


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
