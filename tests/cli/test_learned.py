"""`contract show` and `export`, `discover` and `doctor`, as a person sees them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import validate

from journeyman.daemon.system import SystemClock
from journeyman.domain.tasks import JSON, AccessToken
from journeyman.journal.journal import Journal
from journeyman.network.call import Call, Reply
from journeyman.network.service_model.evidence import Observed, Observer
from journeyman.network.service_model.model import (
    RefusedShape,
    RequestModel,
    ServiceModel,
    Suggestion,
)
from journeyman.network.service_model.refusals.faults import Fault, FieldFault
from journeyman.network.service_model.request import Placed, RequestShape
from journeyman.network.service_model.search import DOCUMENT, MODEL_FACT, Learned

Run = Callable[..., Any]


def journal_in(data: Path) -> Journal:
    """Return the journal of an agent that has not lived yet."""
    data.mkdir()
    return Journal(data / "journal.db", SystemClock().now)


@pytest.fixture
def where(lived: Path) -> tuple[str, str]:
    return "--data-dir", str(lived)


def test_all_ten_endpoints_are_told_also_those_never_called(
    run: Run, where: tuple[str, str]
) -> None:
    told = run("contract", "show", *where).out

    assert "\n10. post_task  POST /functions/v1/write-post-task-public\n" in told
    assert told.count("   never called") == 5
    assert "access_token: string" in told
    assert "     result: " in told


@pytest.mark.parametrize("name", ["claim", "7", "claim-task-public"])
def test_one_endpoint_is_found_by_any_of_its_names(
    run: Run, where: tuple[str, str], name: str
) -> None:
    (one,) = run("contract", "show", name, *where, "--json").answer["endpoints"]

    assert one["name"] == "claim"
    assert one["outcomes"]["confirmed"] >= 4
    assert one["request"]["required"] == ["agent_id", "task_id"]
    assert one["latency_seconds"]["p50"] > 0


def test_an_endpoint_that_is_none_is_a_mistake_with_a_hint(
    run: Run, where: tuple[str, str]
) -> None:
    done = run("contract", "show", "clam", *where)

    assert done.code == 2
    assert "Did you mean claim?" in done.err


def test_it_is_told_that_we_can_earn_and_what_proves_it(
    run: Run, where: tuple[str, str], sandbox: str
) -> None:
    told = run("contract", *where).out
    asked = run("contract", *where, "--json").answer

    assert told.startswith(f"Can I earn on {sandbox}? yes: ")
    assert asked["network"] == sandbox
    assert [one["name"] for one in asked["steps"]] == [
        *("listed", "understood", "claimable", "deliverable", "completable", "paid"),
    ]
    assert {one["standing"] for one in asked["steps"]} == {"proven"}
    assert run("status", *where, "--json").answer["can_earn"] == asked["can_earn"]


def test_what_a_language_model_proposed_is_shown_apart_from_the_networks_words(
    run: Run, tmp_path: Path
) -> None:
    shape = RequestShape((Placed(("task_id",), "task_id"),))
    said = "400: Bitte geben Sie die Kennziffer an."
    lacking = FieldFault(("auftrag", "kennziffer"), Fault.MISSING)
    refused = RequestModel(
        refused=(RefusedShape(shape, said, 400, has_taught=False),),
        suggestions=(Suggestion(said, (lacking,)),),
    )
    learned = Learned(model=ServiceModel({"claim": refused}))
    where = ("--data-dir", str(tmp_path / "data"), "--base-url", "http://network")
    with journal_in(tmp_path / "data") as journal, journal.tx("test"):
        saved = DOCUMENT.dump_python(learned, mode="json")
        journal.facts.put(MODEL_FACT.format(base_url="http://network"), saved)

    told = " ".join(run("contract", *where).out.split())
    claimable = run("contract", *where, "--json").answer["steps"][2]

    shown = f"{said} (suggested by the language model: auftrag.kennziffer)"
    assert f"no: claims are refused: {shown}" in told
    assert (claimable["standing"], claimable["reason"]) == ("refused", shown)
    assert "kennziffer" not in claimable["toml"]


def test_an_export_can_be_imported_by_another_agent(
    run: Run, where: tuple[str, str], tmp_path: Path
) -> None:
    run("contract", "export", "--output", "network.json", *where)
    other = tmp_path / "other"

    done = run("contract", "import", "network.json", "--data-dir", str(other), "--json")

    assert {"claim", "complete", "submit"} <= set(done.answer["actions"])
    kept = json.loads((other / "openapi.json").read_text())
    assert kept == json.loads((tmp_path / "network.json").read_text())


def test_what_describes_nothing_of_ours_is_not_imported(
    run: Run, tmp_path: Path
) -> None:
    file = tmp_path / "other.json"
    file.write_text('{"openapi": "3.1.0", "paths": {"/pets": {"get": {}}}}')

    done = run("contract", "import", str(file), "--data-dir", str(tmp_path / "d"))

    assert done.code == 2
    assert "describes the body of no action" in done.err
    assert not (tmp_path / "d").exists()


def test_nothing_was_learned_where_nobody_lived(run: Run) -> None:
    done = run("contract", "show", "--data-dir", "nobody")

    assert done.code == 3
    assert "Start one with `journeyman run`" in done.err


def test_the_export_is_valid_and_the_same_on_stdout_and_in_a_file(
    run: Run, where: tuple[str, str], tmp_path: Path
) -> None:
    printed = run("contract", "export", *where)
    written = run("contract", "export", "--output", "network.json", *where)

    document = json.loads(printed.out)
    validate(document)
    assert json.loads((tmp_path / "network.json").read_text()) == document
    assert "network.json: 10 endpoints, 5 of them seen at work." in written.out


def test_an_export_to_nowhere_is_told(run: Run, where: tuple[str, str]) -> None:
    done = run("contract", "export", "--output", "no/such/folder.json", *where)

    assert done.code == 1
    assert "could not be written to no/such/folder.json" in done.err


def test_no_value_is_in_what_was_learned(run: Run, lived: Path, sandbox: str) -> None:
    where = ("--data-dir", str(lived))
    identity = json.loads((lived / "identity.json").read_text())
    seen = run("tasks", "--limit", "30", *where, "--json").answer
    values = [identity["access_token"], identity["agent_id"]]
    values += [text for row in seen for text in (row["task_id"], row["title"])]

    told = "".join(
        run("contract", *command, *where).out
        for command in (["show"], ["show", "--json"], ["export"])
    )

    assert sandbox in told
    assert not any(value in told for value in values)


MARK = "MARK7"


def _learn_from_a_hostile_network(data: Path, token: str) -> None:
    """Leave a journal whose network put marks wherever a value can stand."""
    keys = (MARK, f"{MARK}@x.org", f"task_{MARK}", token)
    keyed: dict[str, JSON] = {key: {"id": MARK} for key in keys}
    tasks: list[JSON] = [MARK, keyed, {"error": f"Bearer {token}"}]
    body: JSON = {"tasks": tasks, **keyed}
    clock = SystemClock()
    observer = Observer(["claim"], clock.now)
    for status, is_yes in ((200, True), (200, False), (422, False)):
        sent: dict[str, JSON] = {"task_id": MARK, "result": keyed}
        call = Call(
            name="claim",
            method="POST",
            address="http://network",
            path="/claim",
            content=json.dumps(sent).encode(),
            body=sent,
            token=AccessToken(token),
        )
        headers = {"retry-after": MARK, f"x-ratelimit-{MARK}": "1"}
        reply = Reply(status, headers, body, json.dumps(body))
        outcome = "confirmed" if is_yes else "refused: invalid"
        observer.learn(Observed(call, reply, 0.1, outcome, is_yes, (token,)))
    with journal_in(data) as journal, journal.tx("test"):
        for endpoint, record in observer.changed().items():
            journal.observations.put("http://network", endpoint, record)


def test_no_mark_of_a_hostile_network_is_shown_or_kept(
    run: Run, tmp_path: Path
) -> None:
    data, token = tmp_path / "data", "abcdefghijklm"
    _learn_from_a_hostile_network(data, token)

    told = "".join(
        run("contract", *command, "--data-dir", str(data)).out
        for command in (["show"], ["show", "--json"], ["export"])
    )

    assert "task_id" in told
    assert "*: {" in told
    for text in (told.encode(), *(file.read_bytes() for file in data.iterdir())):
        assert MARK.encode() not in text
        assert token.encode() not in text


def test_discover_compares_and_offers(run: Run, sandbox: str) -> None:
    where = ("--base-url", sandbox, "--data-dir", "nobody")

    found = run("discover", *where, "--json").answer
    told = run("discover", *where).out

    verdicts = {row["subject"]: row["verdict"] for row in found["compared"]}
    assert set(verdicts.values()) == {"agrees", "new"}
    assert verdicts["endpoint claim"] == verdicts["version"] == "agrees"
    assert {"claim", "submit", "complete"} <= {*found["description"]["actions"]}
    assert "/openapi.json is an OpenAPI description of claim," in told
    assert found["products"][0]["price_id"] == "price_credits_500"
    assert "journeyman topup --credits 500 --set topup.price_id=" in told


def test_a_portal_elsewhere_is_only_told(run: Run, sandbox: str) -> None:
    where = (
        "--base-url",
        "http://127.0.0.1:9",
        "--set",
        f"network.portal_url={sandbox}",
    )

    found = run("discover", *where, "--data-dir", "nobody", "--json").answer
    told = run("discover", *where, "--data-dir", "nobody").out

    verdicts = {row["subject"]: row["verdict"] for row in found["compared"]}
    assert verdicts["base address"] == verdicts["endpoint claim"] == "elsewhere"
    assert "What is elsewhere is not used, and never gets the token." in told


def test_the_doctor_exits_by_what_it_finds(run: Run, lived: Path, sandbox: str) -> None:
    where = ("--data-dir", str(lived), "--base-url", sandbox)
    well = run("doctor", *where)
    (lived / "identity.json").chmod(0o644)

    ill = run("doctor", *where, "--json")
    fixed = run("doctor", *where, "--fix")

    assert well.code == fixed.code == 0
    assert ill.code == 1
    (row,) = [row for row in ill.answer if row["grade"] == "fail"]
    assert (row["check"], row["can_be_fixed"]) == ("token", True)
    assert "identity.json was 0644, is 0600" in fixed.out
