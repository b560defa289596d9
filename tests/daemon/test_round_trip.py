"""What was learned of one network is enough to build another on which we earn."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # ships no types
from openapi_spec_validator import validate
from tests.daemon.conftest import URL, MakeSite, Site

from journeyman.daemon.earning import can_earn, known_of, network_record, summary
from journeyman.journal.journal import Journal
from journeyman.network.service_model.evidence import records_from
from journeyman.network.service_model.openapi import openapi_document

ANYTHING = '''
from journeyman import Context, Result, Strategy, Task


class Anything(Strategy):
    """Does whatever there is."""

    api, version = 1, "1.0.0"

    def wants(self, task: Task) -> bool:
        return True

    async def run(self, task: Task, ctx: Context) -> Result:
        return Result("done", evidence={"method": "none"})
'''
TASKS = 3


class Mock(httpx.AsyncBaseTransport):
    """A network made of nothing but a description: it validates, and gives examples."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.taken: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        item = self.document["paths"].get(request.url.path, {})
        operation = item.get(request.method.lower())
        if operation is None:
            return httpx.Response(404)
        name = operation["operationId"]
        sent = json.loads(request.content or b"{}")
        if problems := list(self._problems(operation, sent)):
            self.refused[name] += 1
            return httpx.Response(422, json={"error": problems[0]})
        self.taken[name] += 1
        content = operation["responses"]["200"].get("content", {})
        schema: dict[str, Any] = next((one["schema"] for one in content.values()), {})
        number = next((n for n in range(TASKS) if f"task-{n}" in json.dumps(sent)), 0)
        return httpx.Response(200, json=example(schema, name, number))

    def _problems(self, operation: dict[str, Any], sent: object) -> list[str]:
        if "requestBody" not in operation:
            return []
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        found = Draft202012Validator(schema).iter_errors(sent)
        return [error.message for error in found]


def example(schema: dict[str, Any], name: str, number: int) -> Any:  # noqa: ANN401 - any JSON
    """Return a value that a schema allows; what is named so is a task's id."""
    if "anyOf" in schema:
        return example(schema["anyOf"][0], name, number)
    if "enum" in schema:
        return schema["enum"][0]
    kinds = schema.get("type", "string")
    kind = kinds if isinstance(kinds, str) else next(k for k in kinds if k != "null")
    if kind == "object":
        return {
            inner: example(schema["properties"][inner], inner, number)
            for inner in schema.get("required", ())
        }
    if kind == "array":
        items = schema.get("items", {})
        is_listing = items.get("type") == "object"
        count = range(TASKS) if is_listing else range(number, number + 1)
        return [example(items, name, n) for n in count]
    is_task = name.lower().endswith("id") and "agent" not in name
    text = f"task-{number}" if is_task else f"some-{name}"
    return {"string": text, "boolean": True, "null": None}.get(kind, 5)


async def lived(site: Site) -> dict[str, Any]:
    """Return what is exported after a life there."""
    await site.run(work__max_tasks=3)
    with site.journal() as journal:
        return exported(journal)


def exported(journal: Journal) -> dict[str, Any]:
    return openapi_document(records_from(journal.observations.of(URL)), URL)


def on_a_mock_of(document: dict[str, Any], folder: Path) -> tuple[Mock, Site]:
    (folder / "strategies").mkdir(parents=True)
    (folder / "strategies" / "anything.py").write_text(ANYTHING)
    mock = Mock(document)
    return mock, Site(folder, mock)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"request_format": "camel", "strict": True},
        {"request_format": "wrapped", "listing_format": "results"},
    ],
)
async def test_the_daemon_earns_on_a_mock_made_of_an_export(
    make_site: MakeSite,
    tmp_path: Path,
    options: dict[str, Any],
) -> None:
    document = await lived(await make_site(**options))
    validate(document)
    mock, site = on_a_mock_of(document, tmp_path / "mock")
    site.data.mkdir()
    (site.data / "openapi.json").write_text(json.dumps(document))

    await site.run(work__max_tasks=TASKS)

    with site.journal() as journal:
        steps = can_earn(known_of(journal, network_record(journal, URL)))
        assert summary(steps) == f"yes: {TASKS * 5} credits earned"
    assert mock.taken["complete"] == TASKS
    assert mock.refused.total() == 0


async def test_it_also_earns_there_without_the_description(
    make_site: MakeSite, tmp_path: Path
) -> None:
    document = await lived(await make_site(request_format="camel", strict=True))
    mock, site = on_a_mock_of(document, tmp_path / "mock")

    await site.run(work__max_tasks=TASKS)

    assert mock.taken["complete"] == TASKS
    assert max(mock.refused.values(), default=0) <= 6
