"""`journeyman try`: one task through one strategy; nothing is sent."""

import json
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from journeyman.cli.command import command
from journeyman.cli.output import answer, say
from journeyman.cli.session import Session
from journeyman.cli.text import neutral


@command("try", example='journeyman try count_words --text "to be or not"')
def try_strategy(  # noqa: PLR0913 - each is an option of the command line
    session: Session,
    name: Annotated[str, typer.Argument(metavar="NAME|FILE", help="The strategy.")],
    *,
    text: Annotated[
        str | None,
        typer.Option(help="The text of the task; the rest as the strategy wants it."),
    ] = None,
    task: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A task as JSON, as a network sends it."),
    ] = None,
    from_market: Annotated[
        str | None,
        typer.Option("--from-market", metavar="ID", help="A task of the public list."),
    ] = None,
    reward: Annotated[
        int | None, typer.Option(min=0, help="What the task pays, in credits.")
    ] = None,
    kind: Annotated[str | None, typer.Option(help="The kind of the task.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="A tag of the task; may be repeated.")
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A parameter of it; may be repeated."),
    ] = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Run it even if it does not want the task.")
    ] = False,
    strategies: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The strategy files to load.")
    ] = None,
) -> int:
    """Show what a strategy would do with one task. Nothing is claimed, sent or spent.

    It runs where the strategy says: on the loop, in a thread, or in a process. It
    exits with 1 if the strategy fails, with 4 if it is misconfigured.
    """
    import anyio

    from journeyman.cli.strategy_shelf import open_shelf, pick
    from journeyman.cli.task_sources import Wanted, find_task
    from journeyman.cli.trying import configured, exit_code, report, run_once

    shelf = open_shelf(session, strategies)
    loaded = configured(pick(shelf, name), shelf, param or [])
    changes = {"reward": reward, "kind": kind, "tags": tuple(tag) if tag else None}
    wanted = Wanted(text=text, file=task, market_id=from_market, changes=changes)
    found = find_task(session, loaded, wanted)
    trial = partial(run_once, loaded, found, shelf, session.directory(), anyway=anyway)
    rehearsal, seconds = anyio.run(trial)
    data = report(loaded, found, rehearsal, seconds)
    answer(as_json=session.as_json, data=data, show=lambda: _show(data))
    return exit_code(rehearsal)


def _show(data: dict[str, Any]) -> None:
    say(neutral(f"wants    {'yes' if data['wanted'] else 'no':<6}  {data['verdict']}"))
    if data["run"] == "not run":
        say("run      not run; --anyway would run it all the same")
    else:
        _show_run(data)
    if data["cost"]:
        say(f"cost     {data['cost']:.6g} credits outside of the network")
    say(f"would    {data['would']}")


def _show_run(data: dict[str, Any]) -> None:
    spent = f"{data['seconds'] * 1000:.1f} ms ({data['runner']})"
    say(neutral(f"run      {data['run']:<6}  {spent}  {data['reason']}".rstrip()))
    for line in data["traceback"].splitlines()[:-1]:
        say(neutral(f"         {line}"))
    for entry in data["log"]:
        fields = {k: v for k, v in entry.items() if k not in ("level", "event")}
        said = " ".join(f"{name}={value}" for name, value in fields.items())
        say(neutral(f"log      {entry['level']:<6}  {entry['event']} {said}".rstrip()))
    if data["run"] == "ok":
        said = f"  evidence {json.dumps(data['evidence'])}" if data["evidence"] else ""
        say(neutral(f"result   {json.dumps(data['result'])}{said}"))
