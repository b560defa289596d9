"""What the commands answer, as JSON and to people."""

import csv
import io
import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from journeyman.cli.app import COMMANDS
from journeyman.domain import __version__
from journeyman.domain.tasks import TaskId
from journeyman.economy.bookkeeping import (
    Answered,
    book_adjustment,
    book_cost,
    book_delivery,
    book_earning,
)
from journeyman.journal.journal import Journal
from journeyman.journal.posts import PostState
from journeyman.testing import FakeClock

Run = Callable[..., Any]
Program = Callable[..., subprocess.CompletedProcess[str]]

EVERY = (
    *("budget", "posts", "posts --offline"),
    *(
        "status",
        "why",
        "tasks",
        "ledger",
        "ledger verify",
        "ledger receivables",
        "ledger show 1",
        "profit --by kind",
        "ledger --by poster --since 7d",
        "join",
        "topup --list",
    ),
    *("market", "market --public", "directory", "directory --public", "discover"),
    *("strategies list", "config show", "events", "version"),
    *("identity show", "journal check", "doctor"),
    *("contract show", "contract export"),
)


WITHOUT_SETTINGS = frozenset({"events", "version", "explain"})
LAST = {
    "tasks show": "no_such_task",
    "why": "no_such_task",
    "identity export": "copy.json",
    "identity import": "nothing.json",
    "journal backup": "copy.db",
    "contract import": "nothing.json",
    "strategies new": "word_count",
    "strategies show": "count_words",
    "strategies disable": "count_words",
    "strategies enable": "count_words",
    "strategies release": "count_words",
    "strategies promote": "count_words",
    "post": "--title Hello --reward 1",
    "try": "count_words --text hello",
    "replay": "count_words",
}
"""What a command needs besides, so that it has something to answer or to refuse."""
NEVER_END = {"run", "sandbox", "demo"}
"""Their JSON is read in the tests that start them."""


def _where(command: str, data: Path, network: str) -> tuple[str, ...]:
    if command in WITHOUT_SETTINGS:
        return ()
    return ("--data-dir", str(data), "--base-url", network)


@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - NEVER_END))
def test_every_command_answers_or_refuses_with_one_json_document(
    run: Run, lived: Path, sandbox: str, tmp_path: Path, command: str
) -> None:
    data = shutil.copytree(lived, tmp_path / "data")
    where = _where(command, data, sandbox)

    done = run(*command.split(), *LAST.get(command, "").split(), *where, "--json")

    if done.out:
        assert done.answer is not None
        assert not done.err
    else:
        assert done.error.keys() == {"problem", "fix", "exit_code", "details"}
        assert done.error["exit_code"] == done.code
        assert not done.error["problem"].startswith("a bug")


@pytest.mark.parametrize("command", sorted({*EVERY} - {"contract export"}))
def test_every_answer_fits_80_columns_and_breaks_no_word(
    run: Run,
    lived: Path,
    sandbox: str,
    command: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    where = _where(command, lived, sandbox)
    monkeypatch.setattr("journeyman.cli.output.terminal_width", lambda: 80)

    done = run(*command.split(), *where)

    lines = done.out.splitlines()
    too_long = [
        # A command to copy stays in one line.
        line
        for line in lines
        if len(line) > 80 and not line.startswith("  journeyman ")
    ]
    assert [line for line in too_long if len(line.rpartition(" ")[0]) > 60] == []


@pytest.mark.parametrize("command", EVERY)
def test_every_answer_reads_well_when_piped(
    run: Run, lived: Path, sandbox: str, command: str
) -> None:
    where = _where(command, lived, sandbox)

    done = run(*command.split(), *where)

    assert done.code == 0, done.err
    assert done.out.strip()
    assert "\x1b" not in done.out


def test_a_stopped_agent_is_told_from_its_journal(run: Run, lived: Path) -> None:
    told = run("status", "--data-dir", str(lived))
    answer = run("status", "--data-dir", str(lived), "--json").answer

    assert told.out.startswith("state     STOPPED")
    assert answer["running"] is False
    assert answer["tasks"]["completed"] == 4
    assert answer["balance"] == 100 + answer["ledger"]["earned"]


def test_an_older_journal_is_told_by_the_first_command_that_opens_it(
    run: Run, lived: Path, tmp_path: Path
) -> None:
    data = shutil.copytree(lived, tmp_path / "data")
    identity = json.loads((data / "identity.json").read_text())
    identity["journal"]["spends"] += 1
    (data / "identity.json").write_text(json.dumps(identity))

    limit = ("--set", "budget.per_day_credits=0")
    over_limit = ("post", "--title", "Count", "--reward", "1", *limit)
    posted = run(*over_limit, "--data-dir", str(data))
    status = run("status", "--data-dir", str(data))

    assert "journal.is_older" in posted.err
    assert "OLDER than the one that was here before" in " ".join(status.out.split())
    assert "is_older" not in run(*over_limit, "--data-dir", str(data)).err

    noted = run("journal", "acknowledge", "--data-dir", str(data))
    status = run("status", "--data-dir", str(data))
    again = run("journal", "acknowledge", "--data-dir", str(data))

    assert (noted.code, again.code) == (0, 2)
    assert "OLDER" not in status.out
    assert "not found to be older" in again.err


def test_the_token_is_never_shown(run: Run, lived: Path) -> None:
    identity = (lived / "identity.json").read_text()
    token = identity.split('"access_token": "')[1].split('"')[0]

    shown = [
        run(*command.split(), "--data-dir", str(lived), *json).out
        for command in ("join", "status", "tasks", "config show")
        for json in ((), ("--json",))
    ]

    assert all(token not in text for text in shown)


def test_a_task_tells_its_history_and_its_result(run: Run, lived: Path) -> None:
    where = ("--data-dir", str(lived))
    [first, *_] = run("tasks", "--state", "completed", *where, "--json").answer

    told = run("tasks", "show", first["task_id"], "--raw", *where, "--json").answer
    drawn = run("tasks", "show", first["task_id"], *where)

    after = [event["after"] for event in told["history"]]
    assert after[0] == "wanted"
    assert after[-1] == "completed"
    assert told["result"] is not None
    assert told["raw"]["id"] == first["task_id"]
    assert "executing" in drawn.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(("tasks", "--state", "done"), "completed", id="state"),
        pytest.param(("tasks", "show", "t_0"), "'t_0'", id="task"),
    ],
)
def test_what_is_not_there_is_a_mistake_in_the_command(
    run: Run, lived: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = run(*arguments, "--data-dir", str(lived))

    assert done.code == 2
    assert words in done.err


def test_a_ledger_that_was_tampered_with_is_found(
    run: Run, lived: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "journal.db").write_bytes((lived / "journal.db").read_bytes())
    with sqlite3.connect(copy / "journal.db") as journal:
        journal.execute("DROP TRIGGER IF EXISTS ledger_is_append_only")
        for (name,) in journal.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'",
        ).fetchall():
            journal.execute(f"DROP TRIGGER {name}")
        journal.execute("UPDATE ledger SET amount = 1000 WHERE entry_id = 1")
    journal.close()

    whole = run("ledger", "verify", "--data-dir", str(lived))
    broken = run("ledger", "verify", "--data-dir", str(copy))

    assert whole.code == 0
    assert "the chain and the sums are intact" in whole.out
    assert broken.code == 1
    assert "BROKEN: ledger: entry 1" in broken.out


def test_an_entry_tells_its_whole_cause(run: Run, lived: Path) -> None:
    where = ("--data-dir", str(lived))
    entries = run("ledger", "--limit", "99", *where, "--json").answer["entries"]
    paid = next(one for one in entries if one["kind"] == "earned")

    shown = run("ledger", "show", str(paid["id"]), *where, "--json").answer
    told = run("ledger", "show", str(paid["id"]), *where).out

    assert (shown["cause"], shown["gains"]) == ("complete", "agent")
    assert shown["request"].startswith("complete-")
    assert shown["history"][-1]["after"] == "completed"
    assert f"journeyman why {paid['subject']}" in told


def test_an_entry_that_is_not_there_is_said_to_be_missing(
    run: Run, lived: Path
) -> None:
    done = run("ledger", "show", "9999", "--data-dir", str(lived))

    assert done.code == 2
    assert "there is no entry 9999" in done.err


def test_what_is_owed_is_listed_with_its_age(
    run: Run, lived: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(lived, copy)
    with Journal(copy / "journal.db", FakeClock().now) as journal, journal.tx("owed"):
        for task_id, listed in (("new", 7), ("unknown", 0)):
            book_delivery(
                journal.ledger,
                TaskId(task_id),
                strategy="count",
                listed=listed,
                request="",
            )
    where = ("--data-dir", str(copy))

    owed = run("ledger", "receivables", *where, "--json").answer
    status = run("status", *where, "--json").answer

    assert [(one["task_id"], one["credits"]) for one in owed] == [
        ("new", 7),
        ("unknown", None),
    ]
    assert owed[0]["seconds"] > 0
    assert status["owed_credits"] == 7
    assert run("ledger", "verify", *where).code == 0


def test_a_task_names_its_pay_what_is_owed_and_its_cost(
    run: Run, lived: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(lived, copy)
    where = ("--data-dir", str(copy))
    paid, other, skipped = (
        run("tasks", "--state", state, *where, "--json").answer[place]["task_id"]
        for state, place in (("completed", 0), ("completed", 1), ("skipped", 0))
    )
    with Journal(copy / "journal.db", FakeClock().now) as journal, journal.tx("more"):
        book_delivery(
            journal.ledger, TaskId(skipped), strategy="count", listed=0, request=""
        )
        book_cost(
            journal.ledger, "1", 250_000, strategy="count", subject=paid, note="tokens"
        )

    shown = {
        name: run("tasks", "show", name, *where, "--json").answer
        for name in (paid, other, skipped)
    }
    told = {name: run("tasks", "show", name, *where).out for name in shown}

    assert (shown[paid]["pay"], shown[paid]["cost"]) == (shown[paid]["reward"], 0.25)
    assert shown[paid]["slot_seconds"] > 0
    assert (shown[other]["cost"], shown[other]["is_owed"]) == (None, False)
    assert (shown[skipped]["pay"], shown[skipped]["owed"]) == (None, None)
    assert "0.25 credits, outside the network" in told[paid]
    assert "none reported" in told[other]
    assert "none yet; an unknown amount owed" in told[skipped]


def test_status_names_what_today_brought(run: Run, lived: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(lived, copy)
    where = ("--data-dir", str(copy))
    for year, credits_ in ((2001, 1_000), (2101, 7)):
        now = partial(datetime, year, 1, 1, tzinfo=UTC)
        with Journal(copy / "journal.db", now) as journal, journal.tx("pay"):
            book_earning(
                journal.ledger,
                TaskId(str(credits_)),
                strategy="count",
                listed=credits_,
                answered=Answered(credits=credits_),
                cause="complete",
            )

    today = run("status", *where, "--json").answer["today"]

    # What comes of a clock that was ahead counts, as it does for the limits.
    assert 7 <= today["earned"] < 1_000
    assert (today["spent"], today["cost"]) == (0, None)
    assert "no cost reported" in run("status", *where).out


def test_the_budget_shows_what_left_unexplained_and_what_that_stops(
    run: Run, lived: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(lived, copy)
    now = partial(datetime, 2101, 1, 1, tzinfo=UTC)
    with Journal(copy / "journal.db", now) as journal, journal.tx("lost"):
        book_adjustment(journal.ledger, -3, shown=0)
    where = ("--data-dir", str(copy))
    strict = ("--set", "budget.unexplained_per_day_credits=2")

    within = run("budget", *where, "--json").answer
    past = run("budget", *where, *strict, "--json").answer

    assert (within["unexplained"]["used"], within["unexplained"]["left"]) == (3, 47)
    assert within["spendable"] > 0
    assert past["spendable"] == past["worst_case_credits"] == 0
    told = run("budget", *where, *strict).out
    assert "3 credits left the balance today, and nothing of ours explains" in told


def test_the_public_market_needs_no_identity(run: Run, sandbox: str) -> None:
    where = ("--base-url", sandbox, "--data-dir", "nobody")

    done = run("market", "--limit", "3", *where, "--json")

    assert done.code == 0
    assert len(done.answer["tasks"]) == 3


def test_the_twelve_documents_and_the_one_that_they_name_are_read(
    run: Run, sandbox: str
) -> None:
    where = ("--base-url", sandbox, "--data-dir", "nobody")

    found = run("discover", *where, "--json").answer

    paths = [row["path"] for row in found["documents"]]
    assert (len(paths), paths[-1]) == (13, "/openapi.json")
    assert {row["found"] for row in found["documents"]} == {"yes"}
    assert {row["problem"] for row in found["documents"]} == {""}


def test_a_dry_run_shows_the_request_and_sends_nothing(run: Run, sandbox: str) -> None:
    where = ("--base-url", sandbox, "--data-dir", "mine", "--json")
    dry = ("post", "--title", "Say hello", "--dry-run", "--reward")

    unjoined = run(*dry, "4", *where)
    run("join", *where)
    shown, refused = run(*dry, "4", *where), run(*dry, "26", *where)

    assert (unjoined.code, shown.code, refused.code) == (1, 0, 6)
    assert shown.answer["request"]["body"]["title"] == "Say hello"
    assert shown.answer["request"]["headers"]["Authorization"] == "Bearer ***"
    assert (shown.answer["cost"], shown.answer["balance_after"]) == (4, 96)
    assert refused.answer["refused_by"] == "budget.per_post_credits"
    assert run("posts", *where).answer["posts"] == []


PLANS = """
[posting.plan.weekly]
title = "Proofread"
reward = 5
per_month_credits = 25
cron = "0 9 * * mon"

[posting.plan.dear]
title = "Translate"
reward = 26
per_month_credits = 52
cron = "0 9 * * mon"

[posting.plan.seen]
title = "Say hello"
reward = 5
per_month_credits = 25
every_seconds = 3600
growth = true
"""


def test_budget_says_of_each_plan_why_it_may_post_or_not(run: Run, lived: Path) -> None:
    Path("journeyman.toml").write_text(PLANS)
    where = ("--data-dir", str(lived), "--base-url", "http://127.0.0.1:9")

    plans = run("budget", *where, "--json").answer["plans"]
    told = run("budget", "--why", *where).out

    assert [(one["plan"], one["may_post"]) for one in plans] == [
        ("weekly", True),
        ("dear", False),
        ("seen", False),
    ]
    assert "weekly may post now, for 5 credits" in told
    assert "the limit is 25 (budget.per_post_credits)" in told
    assert "It posts nothing: growth.enabled is false." in told


def test_without_plans_budget_names_the_limits(run: Run, lived: Path) -> None:
    told = run("budget", "--why", "--data-dir", str(lived)).out

    assert told.startswith("There is no posting plan;")


def test_without_posts_no_listing_is_asked_for(run: Run, lived: Path) -> None:
    nowhere = ("--base-url", "http://127.0.0.1:9", "--data-dir", str(lived))

    shown = run("posts", *nowhere)

    assert (shown.code, shown.out, shown.err) == (0, "Nothing was posted yet.\n", "")


def test_posts_show_what_the_listing_says_of_them(run: Run, sandbox: str) -> None:
    where = ("--base-url", sandbox, "--data-dir", "mine")
    posted = run("post", "--title", "Say hi", "--reward", "4", *where, "--json").answer

    (post,) = run("posts", *where, "--json").answer["posts"]
    (unseen,) = run("posts", "--offline", *where, "--json").answer["posts"]

    assert (post["task_id"], post["cost"]) == (posted["task_id"], 4)
    assert (post["outcome"], post["listed"]) == ("posted", "open")
    assert (unseen["listed"], unseen["result"]) == (None, None)
    assert "Say hi" in run("posts", *where).out


def test_posts_show_what_the_daemon_saw_of_them(run: Run, sandbox: str) -> None:
    where = ("--base-url", sandbox, "--data-dir", "mine")
    posted = run("post", "--title", "Say hi", "--reward", "4", *where, "--json").answer
    with Journal(Path("mine/journal.db"), FakeClock().now) as journal:
        (spend,) = journal.spends.recent_posts(1)
        with journal.tx("seen"):
            journal.posts.note(
                spend.spend_id,
                PostState.DONE,
                status="completed",
                result="Hi!",
                is_ended=True,
            )

    (post,) = run("posts", "--offline", *where, "--json").answer["posts"]

    assert (post["task_id"], post["state"]) == (posted["task_id"], "done")
    assert (post["result"], post["in_escrow"]) == ("Hi!", 4)
    assert "done" in run("posts", "--offline", *where).out


def test_an_owner_joins_posts_and_asks_for_credits(run: Run, sandbox: str) -> None:
    where = ("--base-url", sandbox, "--data-dir", "mine", "--json")

    joined = run("join", *where).answer
    posted = run("post", "--title", "Say hello", "--reward", "4", *where).answer
    page = run("topup", "--credits", "50", *where).answer
    again = run("topup", "--credits", "50", *where).answer
    waiting = run("topup", "list", *where).answer
    settled = run("topup", "cancel", page["spend_id"], *where).answer

    assert joined["joined_now"] is True
    assert posted["balance"] == 96
    assert page["cents"] == 50
    assert again == page
    assert [w["spend_id"] for w in waiting] == [page["spend_id"]]
    assert settled["booked"] is False
    assert run("topup", "--list", *where).answer == []
    assert run("join", *where).answer["joined_now"] is False


def test_packs_are_read_from_the_documents_on_the_owners_word(
    run: Run, sandbox: str
) -> None:
    where = ("--base-url", sandbox, "--data-dir", "mine", "--json")
    run("join", *where)

    before = run("topup", "packs", *where).answer["packs"]
    read = run("topup", "packs", "--read", *where).answer
    after = run("topup", "packs", *where).answer["packs"]

    assert [pack["price_id"] for pack in before] == ["price_custom"]
    assert [pack["credits"] for pack in after] == [500, 2_000, 10_000]
    assert read["packs"] == after
    problems = {one["price_id"]: one["problem"] for one in read["passed_over"]}
    assert "subscription" in problems["price_monthly_3000"]


def test_what_was_never_proposed_cannot_be_approved(run: Run, sandbox: str) -> None:
    where = ("--base-url", sandbox, "--data-dir", "mine")
    run("join", *where)

    done = run("topup", "approve", "topup_1", *where)

    assert done.code == 6
    assert "`journeyman topup list` shows those that wait" in done.err


def test_an_agent_of_one_network_is_not_said_to_have_joined_another(
    run: Run, sandbox: str
) -> None:
    run("join", "--base-url", sandbox, "--data-dir", "mine")

    elsewhere = run("join", "--base-url", "http://127.0.0.1:9", "--data-dir", "mine")

    assert elsewhere.code == 6
    assert f"belongs to an agent of {sandbox}" in elsewhere.err


def test_a_limit_of_the_owner_says_no_before_anything_is_sent(
    run: Run, sandbox: str
) -> None:
    where = ("--base-url", sandbox, "--data-dir", "mine")

    post = run("post", "--title", "x", "--reward", "26", *where)
    top_up = run("topup", "--credits", "100000", *where)

    assert post.code == top_up.code == 6
    assert "budget.per_post_credits" in post.err
    assert "topup.per_day_cents" in top_up.err


def test_the_settings_tell_where_they_come_from(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOURNEYMAN_WORK__SLOTS", "3")

    shown = run("config", "show", "--origin", "--set", "work.min_reward=2", "--json")

    rows = {row["key"]: row for row in shown.answer["settings"]}
    assert rows["work.slots"]["value"] == "3"
    assert rows["work.slots"]["origin"] == "environment JOURNEYMAN_WORK__SLOTS"
    assert rows["work.min_reward"]["origin"] == "command line"
    assert rows["network.limit"]["origin"] == "default"


def test_the_files_that_were_read_are_listed_and_those_nearby_that_were_not(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "agent" / "strategies"
    (here / "config").mkdir(parents=True)
    read, weaker = here / "journeyman.toml", here / "config" / "journeyman.toml"
    for path in (read, weaker, here.parent / "journeyman.toml"):
        path.write_text("[work]\nslots = 3\n")
    monkeypatch.chdir(here)

    shown = run("config", "show")

    lines = shown.out.splitlines()
    assert lines[0] == f"Files read: {read}"
    assert lines[1].startswith(f"Not read: {weaker}.")
    assert lines[2].startswith(f"Not read: {here.parent / 'journeyman.toml'}.")


def test_who_names_no_network_is_told_of_a_file_in_the_folder_above(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "strategies"
    here.mkdir()
    (tmp_path / "journeyman.toml").write_text(
        '[network]\nbase_url = "https://a.example"'
    )
    monkeypatch.chdir(here)

    done = run("run")

    assert done.code == 4
    assert f"--config {tmp_path / 'journeyman.toml'} reads it" in done.err


def test_broken_strategies_are_told_and_stop_nobody(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "strategies"
    folder.mkdir()
    (folder / "halves.py").write_text("def half(:\n")
    (folder / "angry.py").write_text(
        "from journeyman import Strategy\n\nraise RuntimeError('not today')\n",
    )
    (folder / "echo.py").write_text(
        "from journeyman import strategy\n\n\n"
        "@strategy(tags={'echo'}, min_reward=1)\n"
        "def echo(task):\n"
        '    """Says it again."""\n'
        "    return task.text\n",
    )

    told = run("strategies", "list", "--strategies", str(folder))
    answer = run("strategies", "list", "--strategies", str(folder), "--json").answer

    assert told.code == 1
    assert [s["name"] for s in answer["strategies"]] == ["echo"]
    assert {p["code"] for p in answer["problems"]} == {"E101", "E103"}
    assert "halves.py:1" in told.out
    assert "1 | def half(:" in told.out
    assert "not today" in told.out
    assert "fix: " in told.out
    assert "1 loaded" in told.out


def test_the_version_is_the_package_s(run: Run) -> None:
    assert run("version", "--json").answer["journeyman"] == __version__
    assert run("--version").out == f"journeyman {__version__}\n"


def test_the_reference_of_events_is_current(program: Program, tmp_path: Path) -> None:
    reference = Path("docs/reference/events.md")
    (tmp_path / reference).parent.mkdir(parents=True)

    # In a process of its own: other tests declare events of their own.
    done = program(
        *(sys.executable, "-m", "journeyman", "events", "--write"), cwd=tmp_path
    )

    assert done.returncode == 0
    current = (Path(__file__).parents[2] / reference).read_text(encoding="utf-8")
    assert (tmp_path / reference).read_text() == current, "run `make generate`"


def test_the_reference_of_events_is_written_in_a_checkout_only(run: Run) -> None:
    outside = run("events", "--write")

    assert outside.code == 1
    assert "checkout" in outside.err


def test_the_ledger_tells_what_each_strategy_brought(run: Run, lived: Path) -> None:
    answer = run(
        "ledger", "--by", "strategy", "--data-dir", str(lived), "--json"
    ).answer
    told = run("ledger", "--by", "strategy", "--data-dir", str(lived)).out

    shares = {one["strategy"]: one for one in answer["sums"]}
    assert shares[""]["received"] == 100
    assert sum(one["received"] for one in shares.values()) == answer["balance"]
    assert {one["cost"] for one in shares.values()} == {None}
    assert "(none)" in told
    assert "it moves no credits" in told


@pytest.mark.parametrize("by", ["day", "kind", "poster"])
def test_the_ledger_is_added_up_by_whatever_is_asked(
    run: Run, lived: Path, by: str
) -> None:
    where = ("--data-dir", str(lived))

    answer = run("ledger", "--by", by, *where, "--json").answer
    printed = run("ledger", "--by", by, *where, "--csv").out

    assert sum(one["net"] for one in answer["sums"]) == answer["balance"]
    assert len(list(csv.DictReader(io.StringIO(printed)))) == len(answer["sums"])


def test_the_ledger_is_written_whole_for_spreadsheets(run: Run, lived: Path) -> None:
    where = ("--data-dir", str(lived))
    entries = run("ledger", "--limit", "999", *where, "--json").answer["entries"]

    rows = list(csv.DictReader(io.StringIO(run("ledger", "--csv", *where).out)))
    last = run("ledger", "--csv", "--limit", "1", *where).out.splitlines()

    assert [row["id"] for row in rows] == [str(one["id"]) for one in entries]
    assert list(rows[0]) == list(entries[0])
    assert len(last) == 2
    assert last[1].startswith(f"{entries[-1]['id']},")


def test_the_ledger_of_a_time_has_its_own_totals(run: Run, lived: Path) -> None:
    where = ("--data-dir", str(lived))

    early = run("ledger", "--until", "2020-01-01", *where, "--json").answer
    since = run("ledger", "--since", "2020-01-01", *where, "--json").answer

    assert (early["entries"], early["totals"]) == ([], {})
    assert sum(since["totals"].values()) == since["balance"]
    assert "Nothing was booked" in run("ledger", "--until", "2020-01-01", *where).out
    assert run("ledger", "--csv", *where, "--json").code == 2


def test_a_live_status_needs_a_terminal(run: Run, lived: Path) -> None:
    refused = run("status", "--watch", "--data-dir", str(lived))

    assert refused.code == 2
    assert "journeyman status --json" in refused.err
