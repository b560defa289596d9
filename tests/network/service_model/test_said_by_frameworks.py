"""What frameworks, gateways and hand-written services say, read as what it means.

Each line of the file beside has who says it, the answer, the body that was sent, and
its meaning. They were written down before the reading was tried on them, from how these
programs are known to answer, so that the kind is read and not the sample.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from journeyman.network.service_model.refusals import Fault, read_refusal

FILE = Path(__file__).with_name("said_by_frameworks.jsonl")
SAID: list[dict[str, Any]] = [*map(json.loads, FILE.read_text("utf-8").splitlines())]
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
