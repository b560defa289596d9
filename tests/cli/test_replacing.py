"""`journeyman join --replace`, and what `status` shows of a network that says no."""

from pathlib import Path

from tests.cli.conftest import Run

from journeyman.cli.commands.status import status_fields


def test_a_new_agent_takes_the_place_of_the_old_one_which_is_kept(
    run: Run, sandbox: str
) -> None:
    where = ("--base-url", sandbox, "--data-dir", "mine")
    first = run("join", *where, "--json").answer

    second = run("join", "--replace", *where, "--json").answer

    assert second["joined_now"] is True
    assert second["agent_id"] != first["agent_id"]
    old = second["replaced"]
    assert (old["agent_id"], old["credits"]) == (first["agent_id"], 100)
    assert Path(old["identity_file"]).exists()
    assert Path(old["journal_file"]).exists()
    shown = run("join", "--replace", *where).out
    assert "joined just now" in shown
    assert second["agent_id"] in shown
    assert "Nothing more is sent for the old agent" in shown


def test_replacing_nobody_is_joining(run: Run, sandbox: str) -> None:
    done = run("join", "--replace", "--base-url", sandbox, "--data-dir", "new")

    assert done.code == 0
    assert "joined just now" in done.out
    assert "replaced" not in done.out


def test_a_replacement_without_a_network_changes_nothing(
    run: Run, sandbox: str, odd: str
) -> None:
    run("join", "--base-url", sandbox, "--data-dir", "mine")
    before = sorted(path.name for path in Path("mine").glob("*.json"))

    done = run("join", "--replace", "--base-url", odd, "--data-dir", "mine")

    assert done.code == 6  # another network's agent is not replaced here
    assert sorted(path.name for path in Path("mine").glob("*.json")) == before


def test_status_tells_of_a_rejected_token_and_of_pauses() -> None:
    rows = status_fields(
        {
            "running": True,
            "up_seconds": 5,
            "pid": 1,
            "obstacle": "token rejected (401 Unauthorized)",
            "held_by": None,
            "registration_unknown": False,
            "agent_id": "a",
            "base_url": "http://n",
            "token_rejected": {
                "rejected_since": "2026-11-21T12:00:00+00:00",
                "message": "401 \x1b[2JUnauthorized",
            },
            "pauses": [
                {
                    "what": "claim",
                    "until": "2026-11-21T12:05:00+00:00",
                    "reason": "asked to wait (429)",
                },
            ],
            "ledger": {},
            "balance": 0,
            "reserved_credits": 0,
            "owed_credits": 0,
            "slots": 8,
            "in_flight": 0,
            "waiting": 0,
            "tasks": {},
            "tasks_seen": 0,
            "skipped_because": {},
            "open_top_ups": [],
            "data_directory": "d",
        }
    )

    assert rows["token"].startswith("REJECTED by the network since 2026-11-21T12:00")
    assert "\x1b" not in rows["token"]
    assert rows["pauses"] == "claim until 12:05:00 UTC: asked to wait (429)"
