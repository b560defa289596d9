"""How many refusals it takes to find a body, over networks drawn at random.

`python -m tests.network.service_model.distribution [NETWORKS]` prints it.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median

from tests.network.service_model.drawn import ACTIONS, Network, draw_network

from journeyman.domain.outcomes import Refused
from journeyman.domain.tasks import JSON
from journeyman.network.call import Expects, Reply
from journeyman.network.classify import classify
from journeyman.network.service_model.model import (
    Listed,
    RefusedBody,
    ServiceModel,
)
from journeyman.network.service_model.refusals.refusal import read_refusal
from journeyman.network.service_model.refusals.unclear import mentioned
from journeyman.network.service_model.refusals.words import says_strict
from journeyman.network.service_model.search import is_about_shape

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
MOST = 25
"""Refusals of one action, after which it counts as not found."""


@dataclass(frozen=True)
class Search:
    """How one action was found."""

    network: int
    action: str
    style: str
    refused: int
    problem: str
    """Why it was not found; empty when it was."""
    bodies: tuple[JSON, ...]
    """What was sent."""
    wanted: tuple[str, ...]


def searches_of(number: int, network: Network) -> Iterable[Search]:
    """Find each action of a network, with what the actions before it have shown."""
    model = ServiceModel()
    for action in ACTIONS:
        model, found = _search(number, network, model, action)
        yield found


def _search(
    number: int, network: Network, model: ServiceModel, action: str
) -> tuple[ServiceModel, Search]:
    values, schema = network.values[action], network.schemas[action]
    listed = Listed(network.record_names, network.id_name)
    sent: list[JSON] = []
    why = "refused too often"
    while len(sent) <= MOST:
        shape = model.next_shape(action, values, listed)
        if shape is None:
            why = "nothing left to send"
            break
        body = shape.body(values)
        sent.append(body)
        faults = schema.faults(body)
        if not faults:
            why = "" if schema.is_meant(body, values) else "took a wrong value"
            model = model.know(action, model.of(action).accept(shape, NOW.isoformat()))
            break
        status, said, text = network.refuse(faults)
        problem = "the body is not JSON" if text else ""
        told = Reply(status, {}, said, text or json.dumps(said), problem)
        refused = classify(told, Expects.RECEIPT, NOW)
        assert isinstance(refused, Refused), refused
        heard: JSON = text or said
        findings = read_refusal(heard, refused.message, body)
        if not is_about_shape(refused, findings, shape, is_proven=False):
            why = "was taken for a refusal of the task"
            break
        is_strict = says_strict(heard, refused.message)
        names = (*model.names_in(refused.message), *mentioned(heard, body))
        fact = RefusedBody(
            shape,
            findings,
            is_strict,
            refused.message,
            refused.status,
            names,
            str(heard),
        ).without(model.misread)
        model = model.know(action, model.of(action).refuse(action, fact))
    return model, Search(
        number,
        action,
        network.style,
        len(sent) - (not why),
        why,
        tuple(sent),
        tuple(f"{'.'.join(one.path)}={one.source}" for one in schema.fields),
    )


def all_searches(networks: int) -> list[Search]:
    """Return the searches of the first so many networks."""
    return [
        one
        for number in range(networks)
        for one in searches_of(number, draw_network(number))
    ]


@dataclass(frozen=True)
class Distribution:
    """Of the numbers of refusals."""

    searches: int
    median: float
    p95: int
    most: int
    not_within_10: float
    """The share."""
    not_found: Mapping[str, int]


def distribution_of(searches: list[Search]) -> Distribution:
    """Sum searches up; what was not found counts as more than any that was."""
    counts = sorted(MOST + 1 if one.problem else one.refused for one in searches)
    found = [one.refused for one in searches if not one.problem]
    return Distribution(
        searches=len(searches),
        median=median(counts),
        p95=counts[int(0.95 * (len(counts) - 1))],
        most=max(found),
        not_within_10=sum(one > 10 for one in counts) / len(counts),
        not_found=Counter(one.problem for one in searches if one.problem),
    )


def main() -> None:
    """Print the distribution, and the shortest searches that failed."""
    searches = all_searches(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
    for action in (*ACTIONS, ""):
        of_one = [one for one in searches if action in ("", one.action)]
        print(action or "all", distribution_of(of_one))  # noqa: T201  # a command
    failed = [one for one in searches if one.problem or one.refused > 6]
    for one in sorted(failed, key=lambda one: len(one.bodies))[:12]:
        print(f"\n{one.network} {one.action} {one.style}: {one.problem or one.refused}")  # noqa: T201  # a command
        print("  wanted", ", ".join(one.wanted))  # noqa: T201  # a command
        for body in one.bodies[:8]:
            print("  sent", json.dumps(body))  # noqa: T201  # a command


if __name__ == "__main__":
    main()
