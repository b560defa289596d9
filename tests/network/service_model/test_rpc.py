"""What refusals of remote procedure calls say: of GraphQL and JSON-RPC."""

import pytest

from journeyman.domain.tasks import JSON
from journeyman.network.service_model.refusals.faults import Fault
from journeyman.network.service_model.refusals.refusal import read_refusal

SENT: dict[str, JSON] = {"taskId": "7"}
NO_NAME = "Must provide a valid operation name if query contains multiple operations."
NOT_GIVEN = 'Variable "$input" of required type "TakeInput!" was not provided.'


def told(body: JSON, sent: JSON) -> dict[str, tuple[Fault, tuple[str, ...]]]:
    found = read_refusal(body, "", sent)
    return {".".join(one.path): (one.fault, one.options) for one in found}


@pytest.mark.parametrize(
    ("error", "name"),
    [
        ({"message": "Name an `operation`. Known: takeTask($input: TakeInput!)."}, ""),
        ({"message": NO_NAME, "available_operations": ["takeTask"]}, "operationName"),
    ],
)
def test_an_operation_is_asked_for_and_named(error: JSON, name: str) -> None:
    wanted = {name or "operation": (Fault.MISSING, ("takeTask",))}

    assert told({"errors": [error]}, SENT) == wanted


def test_another_operation_is_another_value_of_what_was_sent() -> None:
    error: JSON = {"message": NO_NAME, "available_operations": ["takeTask"]}

    found = told({"errors": [error]}, {"operation": "handIn", **SENT})

    assert found == {"operation": (Fault.VALUE, ("takeTask",))}


def test_a_document_that_is_shown_tells_of_its_variables_and_names_no_operation() -> (
    None
):
    said = "Expected variables for: mutation Take($input: TakeInput!)"

    assert [*told({"errors": [{"message": said}]}, SENT)] == ["variables.input"]


@pytest.mark.parametrize(
    ("said", "sent", "path"),
    [
        (NOT_GIVEN, SENT, "input"),
        (NOT_GIVEN, {"input": SENT}, "variables.input"),
        (NOT_GIVEN, {"operationName": "takeTask", **SENT}, "variables.input"),
        (
            'Variable "input": Expected non-null, found null.',
            {"operationName": "takeTask", **SENT},
            "variables.input",
        ),
    ],
)
def test_variables_stand_in_an_object_where_an_operation_is_named(
    said: str, sent: JSON, path: str
) -> None:
    assert [*told({"errors": [{"message": said}]}, sent)] == [path]


@pytest.mark.parametrize(
    ("code", "sent", "path"),
    [
        (-32602, {"method": "take"}, "params.docket"),
        (-32600, {"method": "take"}, "docket"),
        (-32602, {"task_id": "7"}, "docket"),
    ],
)
def test_parameters_of_json_rpc_are_parameters_only_where_the_method_was_found(
    code: int, sent: JSON, path: str
) -> None:
    lacks: JSON = {"errors": [{"loc": ["docket"], "msg": "field required"}]}
    body: JSON = {"jsonrpc": "2.0", "error": {"code": code, "data": lacks}}

    assert [*told(body, sent)] == [path]
