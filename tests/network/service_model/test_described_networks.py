"""On networks with descriptions drawn at random, a daemon sends what they allow.

Each is a small server that judges a body by its description and by nothing else. That
it does judge is shown by Schemathesis, which knows nothing of us: of the same
description it makes bodies that are right, which are taken, and wrong ones, which are
refused.
"""

from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from jsonschema_rs import Draft202012Validator
from openapi_spec_validator import validate
from schemathesis import GenerationMode
from schemathesis.core import NotSet
from tests.foreign.backend import Backend, Request, Response
from tests.foreign.trial import report, run_trial
from tests.network.service_model.drawn import ACTIONS
from tests.network.service_model.test_described_property import (
    DESCRIPTIONS,
    PATHS,
    Drawing,
)

from journeyman.domain.tasks import JSON

SEEDS = range(DESCRIPTIONS, DESCRIPTIONS + 20)
"""After those of the property test, which sends nothing."""
TEXTS = ("the bus was late", "the cat slept", "it smelled of tea")
EXAMPLES = 10

pytestmark = [pytest.mark.endurance, pytest.mark.timeout(600)]


class Described(Backend):
    """A network that publishes what it wants, and takes nothing else."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.drawing = Drawing(number)
        self.schemas = {action: self.drawing.schema(action) for action in ACTIONS}
        self.all = {self.task_id(n): text for n, text in enumerate(TEXTS)}
        self.taken: set[str] = set()

    def task_id(self, number: int) -> str:
        """Return an id of the kind that this network has."""
        return f"{str(self.drawing.task)[:-1]}{number}"

    def values(self, action: str, task: str) -> dict[str, JSON]:
        """Return what may be said of one task."""
        number = [*self.all].index(task)
        own: JSON = int(task) if isinstance(self.drawing.task, int) else task
        return {
            source: own
            if value == self.drawing.task
            else f"{value}-{number}"
            if source.startswith(("claim.", "submit."))
            else value
            for source, value in self.drawing.values(action).items()
        } | {"result": self.all[task].upper(), "agent_id": "ag-5"}

    def given(self, action: str, task: str) -> dict[str, JSON]:
        """Return what an action's answer has for the requests after it."""
        return {
            source.partition(".")[2]: value
            for source, value in self.values("complete", task).items()
            if source.startswith(f"{action}.")
        }

    @property
    def description(self) -> dict[str, Any]:
        document: Any = self.drawing.document(self.schemas)
        for path in document["paths"].values():
            path["post"]["requestBody"]["required"] = True
            path["post"]["responses"] = {"200": {"description": "Done"}}
        return {**document, "info": {"title": "A network", "version": "1"}}

    def problems(self, action: str, body: JSON) -> list[str]:
        """Return what the description has against a body."""
        whole = {**self.schemas[action], "components": {"schemas": self.drawing.parts}}
        judge = Draft202012Validator(whole, validate_formats=True)
        return [str(one.message) for one in judge.iter_errors(body)]

    def texts(self) -> dict[str, str]:
        return self.all

    def document(self, request: Request) -> Response:
        if request.path == "/openapi.json":
            return Response(200, self.description)
        return self.missing(request)

    def register(self, request: Request) -> Response:  # noqa: ARG002 - as the others
        self.book.registrations += 1
        agent = {"agent_id": "ag-5", "access_token": "k3Jq9ZxV7mB2tR8wL5nC"}
        return Response(200, agent)

    def tasks(self, request: Request) -> Response:  # noqa: ARG002 - as the others
        name = self.drawing.network.id_name
        records = [
            {name: self.values("claim", task)["task_id"], "text": text, "reward": 2}
            for task, text in self.all.items()
            if task not in self.taken
        ]
        return Response(200, {"tasks": records})

    def act(self, request: Request, action: str) -> tuple[str, Response]:
        """Judge a request, and return the task that it is about, if it is taken."""
        body = request.json()
        if problems := self.problems(action, body):
            return "", Response(422, {"errors": problems})
        meant = self.drawing.network.schemas[action].is_meant
        for task in self.all:
            if meant(body, self.values(action, task)):
                return task, Response(200, {"ok": True, **self.given(action, task)})
        return "", Response(404, {"error": "there is nothing of this id"})

    def claim(self, request: Request) -> Response:
        task, answer = self.act(request, "claim")
        if task:
            self.taken.add(task)
            self.book.claimed(task)
        return answer

    def submit(self, request: Request) -> Response:
        return self.act(request, "submit")[1]

    def complete(self, request: Request) -> Response:
        task, answer = self.act(request, "complete")
        if not task or task in self.book.paid:
            return answer
        self.book.pay(task, 2)
        return Response(200, {**answer.body, "credits_earned": 2})


@pytest.mark.parametrize("number", SEEDS)
def test_each_body_is_one_that_the_description_allows(
    number: int, tmp_path: Path
) -> None:
    network = Described(number)
    validate(network.description)

    trial = run_trial(network, tmp_path)

    told = [one for one in network.book.refusals if one[0] in ACTIONS]
    assert told == [], report(str(number), trial)
    assert {*network.book.paid} == trial.tasks, report(str(number), trial)
    assert trial.earned == 2 * len(TEXTS)
    assert "network.description_found" in {line["event"] for line in trial.log}


def bodies_made(network: Described, action: str, mode: GenerationMode) -> list[JSON]:
    """Return bodies that Schemathesis makes of a description, right or wrong."""
    schema = schemathesis.openapi.from_dict(network.description)
    cases = schema[PATHS[action]]["POST"].as_strategy(generation_mode=mode)
    made: list[JSON] = []

    @seed(20261122)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def keep(case: Any) -> None:  # noqa: ANN401 - schemathesis gives it no public type
        if not isinstance(case.body, bytes | NotSet):
            made.append(case.body)

    keep()
    return made


@pytest.mark.parametrize("number", SEEDS[:5])
def test_the_networks_judge_as_schemathesis_does(number: int) -> None:
    network = Described(number)

    for action in ACTIONS:
        right = bodies_made(network, action, GenerationMode.POSITIVE)
        wrong = bodies_made(network, action, GenerationMode.NEGATIVE)

        assert [one for one in right if network.problems(action, one)] == []
        assert [one for one in wrong if not network.problems(action, one)] == []
        assert right
        assert wrong
