"""Shapes of requests as tables: what they say, and what is refused in them."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.network.conftest import StoppedClock

from journeyman.domain.tasks import AgentId
from journeyman.network.explanation import explain_request
from journeyman.network.shapes import ACTIONS, READY, writing_dialect
from journeyman.testing import RecordingLog

PAGE = (Path(__file__).parents[2] / "docs/reference/dialect.md").read_text("utf-8")
VALUES: dict[str, Any] = {
    "task_id": "t",
    "agent_id": "a",
    "result": None,
    "evidence": {},
    "title": "T",
    "description": "D",
    "reward": 0,
    "kind": "",
    "tags": [],
    "input": None,
}
BODIES = {
    "snake": [
        {"task_id": "t", "agent_id": "a"},
        {"task_id": "t", "agent_id": "a", "result": None},
        {"agent_id": "a", "title": "T", "description": "D", "reward": 0},
    ],
    "camel": [
        {"taskId": "t", "agentId": "a"},
        {"taskId": "t", "agentId": "a", "result": None},
        {"agentId": "a", "title": "T", "description": "D", "reward": 0},
    ],
    "id-only": [
        {"id": "t"},
        {"id": "t", "result": None},
        {"title": "T", "description": "D", "reward": 0},
    ],
    "wrapped": [
        {"task": {"id": "t"}, "agent": {"id": "a"}},
        {"task": {"id": "t"}, "agent": {"id": "a"}, "submission": {"result": None}},
        {"agent": {"id": "a"}, "task": {"title": "T", "description": "D", "reward": 0}},
    ],
}


def test_the_ready_dialects_are_these_in_this_order() -> None:
    assert [dialect.name for dialect in READY] == [*BODIES]


@pytest.mark.parametrize("dialect", READY, ids=lambda dialect: dialect.name)
def test_a_ready_dialect_describes_every_action(dialect: Any) -> None:  # noqa: ANN401  # WritingDialect, shown by its name
    shapes = dialect.shapes
    bodies = {name: shape.body(name, VALUES) for name, shape in shapes.items()}

    assert [*shapes] == [*ACTIONS]
    assert bodies["claim"] == bodies["complete"]
    assert [bodies[n] for n in ("claim", "submit", "post_task")] == BODIES[dialect.name]


@pytest.mark.parametrize("name", [*BODIES, *ACTIONS])
def test_the_reference_page_names_it(name: str) -> None:
    assert f"`{name}`" in PAGE


def test_the_example_of_the_reference_page_says_what_it_is_said_to() -> None:
    own = writing_dialect(
        "acme",
        {
            "claim": {
                "task_id": "job.uuid",
                "agent_id": "worker",
                "constants": {"job": {"type": "work"}, "source": "journeyman"},
                "headers": {"X-Client": "journeyman"},
            }
        },
    )

    body = own.shapes["claim"].body("claim", VALUES)

    assert body == {
        "job": {"uuid": "t", "type": "work"},
        "worker": "a",
        "source": "journeyman",
    }
    assert re.search(r'"type": "work"\}, "worker"', PAGE)


def test_the_constants_of_a_shape_are_not_changed_by_what_is_sent() -> None:
    own = writing_dialect(
        "own", {"claim": {"task_id": "id", "constants": {"more": {"list": []}}}}
    )

    first: Any = own.shapes["claim"].body("claim", VALUES)
    first["more"]["list"].append("changed")

    second = own.shapes["claim"].body("claim", VALUES)
    assert second == {"id": "t", "more": {"list": []}}


@pytest.mark.parametrize(
    ("tables", "problem"),
    [
        ({}, "does not describe an action"),
        ({"clam": {"task_id": "id"}}, "there is no action 'clam'"),
        ({"claim": {}}, "claim needs task_id"),
        ({"claim": {"taskid": "id"}}, "no value 'taskid', did you mean task_id"),
        ({"submit": {"task_id": "id"}}, "submit needs result"),
        ({"claim": {"task_id": ""}}, "must be a place such as 'task.id', not ''"),
        ({"claim": {"task_id": "a..b"}}, "must be a place"),
        ({"claim": {"task_id": 5}}, "must be a place such as 'task.id', not 5"),
        ({"claim": {"task_id": ".".join("abcdefghi")}}, "must be a place"),
        (
            {"claim": {"task_id": "task", "agent_id": "task.agent"}},
            "claim.agent_id has the place that 'task' already has",
        ),
        (
            {"claim": {"task_id": "id", "constants": {"id": 1}}},
            "claim.task_id has the place that 'id' already has",
        ),
        ({"claim": {"task_id": "id", "constants": 5}}, "constants must be a table"),
        ({"claim": {"task_id": "id", "headers": 5}}, "headers must be a table"),
        (
            {"claim": {"task_id": "id", "headers": {"authorization": "x"}}},
            "claim.headers.authorization is set by Journeyman itself",
        ),
        (
            {"claim": {"task_id": "id", "headers": {"X Y": "x"}}},
            "'X Y', which is not a valid header name",
        ),
        (
            {"claim": {"task_id": "id", "headers": {"X-Key": "a\r\nb"}}},
            "claim.headers.X-Key must be text in visible ASCII",
        ),
    ],
)
def test_a_table_that_cannot_be_sent_is_refused_with_the_reason(
    tables: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)) as caught:
        writing_dialect("own", tables)

    assert "a\r\nb" not in str(caught.value)


@pytest.mark.parametrize("name", ["", "Acme", "a b", "auto", "mended", "1a", "a" * 41])
def test_a_name_that_means_something_else_or_nothing_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is not a valid name"):
        writing_dialect(name, {"claim": {"task_id": "id"}})


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("dialect", READY, ids=lambda dialect: dialect.name)
async def test_an_explained_request_is_whole_and_shows_no_token(
    action: str,
    dialect: Any,  # noqa: ANN401  # WritingDialect, shown by its name
) -> None:
    request = await explain_request(
        action,
        dialect,
        base_url="http://127.0.0.1:9",
        agent_id=AgentId("agent-1"),
        clock=StoppedClock(),
        log=RecordingLog(),
    )

    assert request.method == "POST"
    assert request.url.startswith("http://127.0.0.1:9/functions/v1/")
    assert request.headers["Authorization"] == "Bearer ***"
    assert request.headers["Content-Length"] == str(len(request.body))
    assert request.headers["Idempotency-Key"].startswith("KEY-OF-THE-REQUEST")


async def test_a_header_that_may_be_a_key_is_not_shown() -> None:
    table: dict[str, Any] = {
        "task_id": "id",
        "headers": {"apikey": "sb-123", "X-Client": "journeyman"},
    }

    request = await explain_request(
        "claim",
        writing_dialect("own", {"claim": table}),
        base_url="http://127.0.0.1:9",
        agent_id=AgentId("agent-1"),
        clock=StoppedClock(),
        log=RecordingLog(),
    )

    assert (request.headers["Apikey"], request.headers["X-Client"]) == (
        "***",
        "journeyman",
    )
