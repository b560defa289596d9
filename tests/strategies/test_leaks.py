"""What must not leave in a result, and what may although it looks alike."""

import base64

import pytest

from journeyman.domain.tasks import JSON, Result, Task, TaskId
from journeyman.observability.redaction import Redactor
from journeyman.strategies.running.leaks import Leak, LeakScan

TOKEN = "tok_ours_5f0a17c2e94b"  # noqa: S105 - nobody's
CANARY = "canary_3c1f0d7745ab4e0c9a55"
RANDOM = "q8Zr2LxT0vB7nK4mWs1Y"


@pytest.fixture
def scan() -> LeakScan:
    redactor = Redactor()
    redactor.add(TOKEN)
    return LeakScan(redactor.knows)


def task_of(text: str = "", **fields: JSON) -> Task:
    return Task(id=TaskId("t1"), text=text, raw=fields)


@pytest.mark.parametrize(
    "told",
    [
        TOKEN,
        f"my token is {TOKEN}, of course",
        base64.b64encode(f"so {TOKEN}".encode()).decode(),
        f"?token={TOKEN}&x=1",
    ],
)
def test_our_own_token_is_found_however_it_is_spelled(
    scan: LeakScan, told: str
) -> None:
    # Even where the task holds it already: somebody wants it confirmed.
    leak = scan.find(Result({"rows": [1, told]}), task_of(told), CANARY)

    assert leak == Leak("our own secret", "output['rows'][1]")
    assert TOKEN not in str(leak)


def test_the_canary_is_found_in_the_output_the_evidence_and_the_names_of_keys(
    scan: LeakScan,
) -> None:
    encoded = base64.b64encode(CANARY.encode()).decode()
    results = [
        Result(f"I was told {CANARY}."),
        Result("4", evidence={"prompt": encoded}),
        Result({"a": {CANARY: 1}}),
    ]

    found = [scan.find(result, task_of(), CANARY) for result in results]

    kind = "the canary of its run"
    assert found == [
        Leak(kind, "output"),
        Leak(kind, "evidence['prompt']"),
        Leak(kind, "a key of output['a']"),
    ]
    assert scan.find(results[0], task_of(), "") is None


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blb", "a private key"),
        (
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
            "a JSON web token",
        ),
        ("AKIA" + "Q3EGR7X2M5ZP9K4T", "a service's key"),
        ("ghp_" + "a1B2" * 9, "a service's key"),
        (f"sk-proj-{RANDOM}", "a service's key"),
        (f"Authorization: Bearer {RANDOM}", "a bearer token"),
        ("postgres://bot:hunter2hunter2@db.internal/x", "a password in an address"),
        (f'api_key = "{RANDOM}"', "a named secret"),
        (f"export ACCESS_TOKEN={RANDOM}", "a named secret"),
    ],
)
def test_secrets_of_others_are_found_by_their_form(
    scan: LeakScan, told: str, kind: str
) -> None:
    leak = scan.find(Result([told]), task_of("a task"), CANARY)

    assert leak is not None
    assert leak.kind == kind
    assert scan.find(Result(told), task_of(f"extract: {told}"), CANARY) is None


def test_a_secret_under_its_name_is_found_as_a_field_too(scan: LeakScan) -> None:
    leak = scan.find(Result({"config": {"api_key": RANDOM}}), task_of(), CANARY)

    assert leak == Leak("a named secret", "output['config']['api_key']")


@pytest.mark.parametrize(
    "answer",
    [
        "Send `Authorization: Bearer <ACCESS_TOKEN>` with each request.",
        'password = "changeme"',
        "api_key = os.environ['API_KEY']",
        "The cookie: a history of biscuits in twelve short chapters",
        "access_token: the bearer token that registration answers with",
        "https://user@example.com/path and mailto:a@b.example",
        "0123456789" * 8,
        {"token_count": 42, "tokens": ["to", "be"]},
        "sk-learn and a very-long-hyphenated-compound-word",
        "a5f0a17c2e94b7d0c1e8f9a3b2c4d5e6f708192a (sha1)",
    ],
)
def test_ordinary_answers_go_through(scan: LeakScan, answer: JSON) -> None:
    assert scan.find(Result(answer), task_of("what is a token?"), CANARY) is None
