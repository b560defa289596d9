"""The sandbox's OpenAPI, fuzzed at length: `make contract-matrix` runs it."""

import httpx2 as httpx
import pytest
from tests.contract_matrix.fuzzing import Target, fuzz, sandbox_to_fuzz

EXAMPLES = 20


def task_ids(target: Target) -> list[str]:
    """Read the ids of tasks, whatever the listing looks like."""
    path = f"{target.base_url}/functions/v1/public-marketplace"
    answer = httpx.get(path, trust_env=False).json()
    tasks = answer.get("data", answer)["tasks"]
    return [str(task["id"]) for task in tasks]


@pytest.mark.parametrize(
    ("dialect", "errors", "values"),
    [
        ("snake", "json", "plain"),
        ("camel", "problem-json", "objects"),
        ("id-only", "supabase", "numbers"),
        ("wrapped", "zod", "texts"),
    ],
)
@pytest.mark.parametrize("strict", [False, True])
def test_no_request_makes_the_sandbox_fail(
    dialect: str, errors: str, values: str, *, strict: bool
) -> None:
    with sandbox_to_fuzz(
        request_format=dialect, error_format=errors, value_format=values, strict=strict
    ) as target:
        statuses = fuzz(target, EXAMPLES, task_ids(target))
        ledger = target.ledger()

    assert sum(statuses.values()) > 10 * EXAMPLES
    assert {200, 401, 404} <= statuses.keys()
    assert ledger["balanced"]
