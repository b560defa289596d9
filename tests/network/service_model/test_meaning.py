"""Which of our values a name means."""

import pytest

from journeyman.network.service_model.meaning import (
    ELIMINATED,
    FITS,
    TOO_DEAR,
    affinity,
)
from journeyman.network.service_model.naming import singular


@pytest.mark.parametrize(
    "source",
    ["claim.id", "claim.claim.id", "claim.data.id", "claim.claimId"],
)
def test_a_claim_id_is_what_the_answer_to_the_claim_gave(source: str) -> None:
    assert affinity("submit", ("claim_id",), source, "task") <= FITS


@pytest.mark.parametrize(
    "source",
    ["claim.task.input.order.id", "claim.task.poster.id", "claim.agent.id"],
)
def test_an_id_of_something_else_in_the_answer_is_no_claim_id(source: str) -> None:
    assert affinity("submit", ("claim_id",), source, "task") > FITS


@pytest.mark.parametrize("name", ["work", "result", "answer"])
def test_an_id_is_never_sent_for_the_work(name: str) -> None:
    assert affinity("submit", (name,), "task_id", "task") == TOO_DEAR
    assert affinity("submit", (name,), "agent_id", "task") == TOO_DEAR


@pytest.mark.parametrize("name", ["text", "body", "content"])
def test_the_tasks_own_text_is_never_sent_for_the_work(name: str) -> None:
    assert affinity("submit", (name,), f"record.{name}", "task") == TOO_DEAR


def test_a_claims_answer_that_is_one_value_is_the_claims_id() -> None:
    assert affinity("submit", ("claimId",), "claim.value", "task") < 1
    assert affinity("submit", ("batchId",), "claim.value", "task") == TOO_DEAR
    assert affinity("submit", ("claimId",), "claim.poster.value", "task") == TOO_DEAR


def test_a_requests_id_is_ours_where_a_task_is_called_otherwise() -> None:
    def costs(noun: str) -> tuple[float, float]:
        path = ("requestId",)
        return affinity("claim", path, "task_id", noun), affinity(
            "claim", path, "key", noun
        )

    of_task, of_ours = costs("job")
    assert of_ours < of_task
    of_task, of_ours = costs("request")
    assert of_task < of_ours


def test_a_parameter_of_an_sql_function_is_known_without_its_prefix() -> None:
    assert affinity("claim", ("p_task_id",), "task_id", "task") == 0
    assert affinity("complete", ("p_result_id",), "submit.result.id", "task") < 0


@pytest.mark.parametrize("way", [("application",), ("application", "id")])
def test_who_a_task_is_assigned_to_is_the_agent_whatever_is_between(
    way: tuple[str, ...],
) -> None:
    path = ("assignedTo", *way)

    assert affinity("claim", path, "task_id", "task") >= TOO_DEAR - 1
    assert affinity("claim", path, "agent_id", "task") < ELIMINATED + 1


def test_a_word_between_two_others_is_no_trade() -> None:
    path = ("issueIdOrKey",)

    assert affinity("claim", path, "agent_id", "issue") >= TOO_DEAR - 1


@pytest.mark.parametrize("name", ["deliver_by", "complete_by", "return_by"])
def test_by_when_is_no_agent(name: str) -> None:
    path = (name,)

    ahead = affinity("claim", path, "ahead", "task")
    assert ahead < affinity("claim", path, "agent_id", "task")
    assert affinity("claim", ("claimed_by",), "agent_id", "task") <= FITS + 1


@pytest.mark.parametrize("name", ["unique_request_token", "request_token"])
def test_a_request_token_is_the_key_of_ours(name: str) -> None:
    key = affinity("claim", (name,), "key", "task")

    assert key <= FITS


def test_what_is_scheduled_is_ahead() -> None:
    path = ("schedule_time",)
    ahead = affinity("submit", path, "ahead", "task")

    assert ahead < affinity("submit", path, "now", "task")


@pytest.mark.parametrize(
    ("several", "one"),
    [
        ("watches", "watch"),
        ("entries", "entry"),
        ("boxes", "box"),
        ("dishes", "dish"),
        ("classes", "class"),
        ("address", "address"),
        ("notices", "notice"),
    ],
)
def test_one_of_several_is_called_in_the_singular(several: str, one: str) -> None:
    assert singular(several) == one
