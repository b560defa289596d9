"""What frameworks, gateways and hand-written services say, read as what it means.

Each line of the file beside has who says it, the answer, the body that was sent, and
its meaning. They were written down before the reading was tried on them, from how these
programs are known to answer, so that the kind is read and not the sample.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from journeyman.network.service_model.refusals.faults import Fault
from journeyman.network.service_model.refusals.refusal import read_refusal


def lines_of(name: str) -> list[dict[str, Any]]:
    text = Path(__file__).with_name(name).read_text("utf-8")
    return [*map(json.loads, text.splitlines())]


SAID = lines_of("said_by_frameworks.jsonl")
RECORDED = lines_of("said_by_validators.jsonl")
"""What 59 ways to answer with 25 libraries of JavaScript and Python said when they ran,
in November 2026, of bodies that the daemon sent."""
NOT_READ = pytest.mark.xfail(strict=True, reason="not understood yet")


def told_by(answer: Any, sent: Any) -> dict[str, str]:  # noqa: ANN401 - JSON
    body, text = (None, answer) if isinstance(answer, str) else (answer, "")
    found = read_refusal(body, text, sent)
    return {
        ".".join(one.path): one.fault.value
        for one in found
        if one.fault is not Fault.ALLOWED
    }


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(
            one, id=one["by"], marks=() if one.get("is_read", True) else NOT_READ
        )
        for one in SAID
    ],
)
def test_a_refusal_is_read_as_what_it_means(said: dict[str, Any]) -> None:
    assert told_by(said["answer"], said["sent"]) == said["means"]


@pytest.mark.parametrize("said", [pytest.param(one, id=one["by"]) for one in RECORDED])
def test_what_a_validator_really_said_is_read_as_what_it_means(
    said: dict[str, Any],
) -> None:
    assert told_by(said["answer"], said["sent"]) == said["means"]
