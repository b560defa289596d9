"""What refusals say of a body, in the styles that frameworks and people have."""

import json
import re
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from journeyman.domain.tasks import JSON
from journeyman.network.service_model.naming import walk
from journeyman.network.service_model.refusals.faults import Fault, FieldFault
from journeyman.network.service_model.refusals.refusal import means_our_id, read_refusal
from journeyman.network.service_model.refusals.sentences import path_of
from journeyman.network.service_model.refusals.words import (
    form_in,
    names_a_field,
    says_strict,
)

SENT: JSON = {"task_id": "7", "agent_id": "agent-1"}
REQUIRED: dict[str, JSON] = {"message": "a value is required"}


def said(
    body: JSON, *faults: Fault, sent: JSON = SENT, message: str = ""
) -> dict[str, Fault]:
    """Return what is said of each field, by its place; of some faults only."""
    found = read_refusal(body, message, sent)
    return {
        ".".join(one.path): one.fault
        for one in found
        if not faults or one.fault in faults
    }


def only(findings: Iterable[FieldFault]) -> FieldFault:
    """Return the one finding that there is."""
    (found,) = findings
    return found


MISSING: dict[str, JSON] = {
    "pydantic": {
        "detail": [
            {
                "type": "missing",
                "loc": ["body", "jobId"],
                "msg": "Field required",
                "input": {"task_id": "7"},
                "url": "https://errors.pydantic.dev/2.9/v/missing",
            }
        ]
    },
    "pydantic 1": {
        "detail": [
            {
                "loc": ["body", "jobId"],
                "msg": "field required",
                "type": "value_error.missing",
            }
        ]
    },
    "zod 3": {
        "success": False,
        "error": {
            "issues": [
                {
                    "code": "invalid_type",
                    "expected": "string",
                    "received": "undefined",
                    "path": ["jobId"],
                    "message": "Required",
                }
            ],
            "name": "ZodError",
        },
    },
    "zod 4": {
        "errors": [
            {
                "expected": "string",
                "code": "invalid_type",
                "path": ["jobId"],
                "message": "Invalid input: expected string, received undefined",
            }
        ]
    },
    "zod, as text in a message": {
        "message": json.dumps(
            [
                {
                    "code": "invalid_type",
                    "expected": "string",
                    "received": "undefined",
                    "path": ["jobId"],
                    "message": "Required",
                }
            ]
        )
    },
    "zod, flattened": {
        "error": {"fieldErrors": {"jobId": ["Required"]}, "formErrors": []}
    },
    "zod 4, prettified": {
        "error": "✖ Invalid input: expected string, received undefined\n  → at jobId"
    },
    "zod, formatted": {"errors": {"_errors": [], "jobId": {"_errors": ["Required"]}}},
    "zod 4, as a tree": {
        "error": {
            "errors": [],
            "properties": {
                "jobId": {
                    "errors": ["Invalid input: expected string, received undefined"]
                }
            },
        }
    },
    "valibot": {
        "issues": [
            {
                "kind": "schema",
                "type": "object",
                "expected": '"jobId"',
                "received": "undefined",
                "message": 'Invalid key: Expected "jobId" but received undefined',
                "path": [{"type": "object", "origin": "key", "key": "jobId"}],
            }
        ]
    },
    "valibot, flattened": {
        "error": {
            "nested": {
                "jobId": ['Invalid key: Expected "jobId" but received undefined']
            }
        }
    },
    "ajv": {
        "errors": [
            {
                "instancePath": "",
                "schemaPath": "#/required",
                "keyword": "required",
                "params": {"missingProperty": "jobId"},
                "message": "must have required property 'jobId'",
            }
        ]
    },
    "fastify": {
        "statusCode": 400,
        "code": "FST_ERR_VALIDATION",
        "error": "Bad Request",
        "message": "body must have required property 'jobId'",
    },
    "class-validator": {
        "statusCode": 400,
        "message": ["jobId should not be empty", "jobId must be a string"],
        "error": "Bad Request",
    },
    "class-validator, as objects": {
        "message": [
            {
                "property": "jobId",
                "children": [],
                "constraints": {"isNotEmpty": "jobId should not be empty"},
            }
        ]
    },
    "joi": {
        "statusCode": 400,
        "message": '"jobId" is required',
        "validation": {"source": "body", "keys": ["jobId"]},
    },
    "joi, its details": {
        "details": [
            {
                "message": '"jobId" is required',
                "path": ["jobId"],
                "type": "any.required",
                "context": {"label": "jobId", "key": "jobId"},
            }
        ]
    },
    "express-validator": {
        "errors": [
            {
                "type": "field",
                "msg": "jobId is required",
                "path": "jobId",
                "location": "body",
            }
        ]
    },
    "problem details": {
        "type": "https://example.org/invalid",
        "title": "Invalid body",
        "status": 422,
        "errors": [{"pointer": "#/jobId", "detail": "is required"}],
    },
    "problem details, invalid-params": {
        "title": "Bad",
        "invalid-params": [{"name": "jobId", "reason": "must be present"}],
    },
    "google.rpc": {
        "error": {
            "code": 400,
            "message": "Invalid argument",
            "status": "INVALID_ARGUMENT",
            "details": [
                {
                    "@type": "type.googleapis.com/google.rpc.BadRequest",
                    "fieldViolations": [
                        {"field": "jobId", "description": "This field is required."}
                    ],
                }
            ],
        }
    },
    "Rails, a permitted parameter": {
        "status": 400,
        "error": "param is missing or the value is empty: jobId",
    },
    "Rails, a model": {"errors": {"jobId": ["can't be blank"]}},
    "Rails, must exist": {"errors": {"jobId": ["must exist"]}},
    "Laravel": {
        "message": "The job id field is required.",
        "errors": {"jobId": ["The job id field is required."]},
    },
    "Symfony": {
        "violations": [
            {"propertyPath": "jobId", "message": "This value should not be blank."}
        ]
    },
    "Django REST": {"jobId": ["This field is required."]},
    "ASP.NET": {
        "type": "https://tools.ietf.org/html/rfc9110#section-15.5.1",
        "title": "One or more validation errors occurred.",
        "status": 400,
        "errors": {"jobId": ["The jobId field is required."]},
        "traceId": "00-abc-def-00",
    },
    "System.Text.Json": {
        "errors": {
            "$": [
                (
                    "JSON deserialization for type 'Api.Claim' was missing required "
                    "properties including: 'jobId'."
                )
            ],
            "request": ["The request field is required."],
        }
    },
    "Spring": {
        "timestamp": "2026-11-21T12:00:00Z",
        "status": 400,
        "error": "Bad Request",
        "errors": [
            {
                "codes": ["NotNull.claimRequest.jobId"],
                "defaultMessage": "must not be null",
                "objectName": "claimRequest",
                "field": "jobId",
                "rejectedValue": None,
                "code": "NotNull",
            }
        ],
        "path": "/functions/v1/claim-task-public",
    },
    "Jackson, creator property": {
        "message": "Missing required creator property 'jobId' (index 0)"
    },
    "graphql-js": {
        "errors": [
            {
                "message": 'Field "claim" argument "jobId" of type "ID!" is required, '
                "but it was not provided.",
                "locations": [{"line": 1, "column": 8}],
                "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"},
            }
        ]
    },
    "Go validator": {
        "error": "Key: 'ClaimRequest.jobId' Error:Field validation for 'jobId' failed "
        "on the 'required' tag"
    },
    "serde": {"error": "missing field `jobId` at line 1 column 30"},
    "axum": "Failed to deserialize the JSON body into the target type: missing field "
    "`jobId` at line 1 column 30",
    "kotlinx": {
        "error": "Field 'jobId' is required for type with serial name "
        "'com.example.ClaimRequest', but it was missing at path: $"
    },
    "marshmallow": {
        "code": 422,
        "errors": {"json": {"jobId": ["Missing data for required field."]}},
    },
    "cerberus": {"errors": {"jobId": ["required field"]}},
    "jsonschema": {"error": "'jobId' is a required property"},
    "networknt": {"message": "$.jobId: is missing but it is required"},
    "Postgres": {
        "code": "23502",
        "message": 'null value in column "jobId" of relation "claims" violates '
        "not-null constraint",
    },
    "Python call": {"error": "claim() missing 1 required positional argument: 'jobId'"},
    "Ecto": {"errors": {"jobId": ["can't be blank"]}},
    "Aeson": 'Error in $: parsing Api.Claim(Claim) failed, key "jobId" not found',
    "Quarkus": {
        "title": "Constraint Violation",
        "violations": [{"field": "claim.body.jobId", "message": "must not be blank"}],
    },
    "Play": {
        "message": "validation.failed",
        "errors": {"obj.jobId": [{"msg": ["error.path.missing"], "args": []}]},
    },
    "OData": {
        "error": {
            "code": "SY/530",
            "message": {"lang": "en", "value": "Property 'jobId' is mandatory"},
            "innererror": {"errordetails": []},
        }
    },
    "Flask-RESTful": {"message": {"jobId": "Missing required parameter in the body"}},
    "Slack": {
        "ok": False,
        "response_metadata": {"messages": ["[ERROR] missing required field: jobId"]},
    },
    "Swift": {"error": True, "reason": "No such key 'jobId' at path ''."},
    "protoc-gen-validate": {"code": 3, "message": "invalid jobId: value is required"},
    "Malli": {
        "type": "reitit.coercion/request-coercion",
        "in": ["request", "body-params"],
        "humanized": {"jobId": ["missing required key"]},
    },
    "a JSON pointer": {"messages": ["[ERROR] is required [json-pointer:/jobId]"]},
    "a list of names": {"error": "validation_error", "missing": ["jobId"]},
    "Absinthe": {
        "errors": [{"message": 'In field "jobId": Expected type "ID!", found null.'}]
    },
    "sentences without a subject": {
        "error": {"code": "INVALID", "fields": {"jobId": "is required"}}
    },
    "a flat field": {"error": "bad body", "field": "jobId", "message": "required"},
    "prose 1": {"error": "Missing required field: jobId"},
    "prose 2": {"error": "jobId is required"},
    "prose 3": {"success": False, "error": "Missing jobId"},
    "prose 4": {"message": "Bad Request: jobId: Field required"},
    "prose 5": {"error": "jobId must be provided"},
    "prose 6": "jobId is missing",
    "prose 7": {"error": "You must include a jobId in the request body"},
    "prose 8": {"error": {"message": "No jobId provided", "code": "bad_request"}},
    "prose 9": {"error": "jobId cannot be empty"},
    "prose 10": {"ok": False, "reason": "expected a field named jobId"},
    "prose 11": {"error": "The following parameters were not supplied: jobId"},
    "SQLite": {"error": "NOT NULL constraint failed: claims.jobId"},
    "Convex": {
        "errorMessage": "Uncaught ArgumentValidationError: Object is missing the"
        " required field `jobId`. Consider wrapping the field validator in"
        " `v.optional(...)` if this is expected.\n\nObject: {}\n"
        'Validator: v.object({jobId: v.id("jobs")})'
    },
    "Rails 8": {"error": "param is missing or the value is empty or invalid: jobId"},
    "prose, lacking": {"because": "the order lacks jobId"},
    "prose, having none": {"message": "The slip has no jobId."},
    "prose, and what to write": {"message": "The slip has no jobId, write a number."},
    "prose, a question": {"note": "Which jobId? Give jobId."},
    "beside a sentence, under any key": {
        "result": "rejected",
        "problems": [{"item": "jobId", "problem": "is required"}],
    },
    "prose, German": {"fehler": "Das Feld 'jobId' fehlt"},
    "prose, French": {"erreur": "Le champ « jobId » est obligatoire"},
    "prose, Spanish": {"error": "El campo jobId es obligatorio"},
    "prose, Portuguese": {"erro": 'O campo "jobId" é obrigatório'},
    "prose, Polish": {"blad": "Pole jobId jest wymagane"},
    "prose, Chinese": {"message": "缺少必填字段 jobId"},
    "prose, Japanese": {"message": "「jobId」は必須です"},
}


@pytest.mark.parametrize("body", MISSING.values(), ids=MISSING)
def test_a_name_that_is_missed_is_found(body: JSON) -> None:
    assert said(body) == {"jobId": Fault.MISSING}


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ({"error": {"fields": {"message": "is required"}}}, "message"),
        ({"errors": [{"message": 'Variable "input": Expected a value.'}]}, "input"),
    ],
)
def test_a_name_that_is_also_a_word_of_refusals_is_found(body: JSON, name: str) -> None:
    assert said(body) == {name: Fault.MISSING}


UNKNOWN: dict[str, JSON] = {
    "pydantic": {
        "detail": [
            {
                "type": "extra_forbidden",
                "loc": ["body", "task_id"],
                "msg": "Extra inputs are not permitted",
                "input": "7",
            }
        ]
    },
    "zod 3": {
        "issues": [
            {
                "code": "unrecognized_keys",
                "keys": ["task_id"],
                "path": [],
                "message": "Unrecognized key(s) in object: 'task_id'",
            }
        ]
    },
    "zod 4": {
        "errors": [
            {
                "code": "unrecognized_keys",
                "keys": ["task_id"],
                "path": [],
                "message": 'Unrecognized key: "task_id"',
            }
        ]
    },
    "valibot": {
        "issues": [
            {
                "kind": "schema",
                "type": "strict_object",
                "expected": "never",
                "received": '"task_id"',
                "message": 'Invalid key: Expected never but received "task_id"',
                "path": [{"type": "object", "origin": "key", "key": "task_id"}],
            }
        ]
    },
    "ajv": {
        "errors": [
            {
                "instancePath": "",
                "keyword": "additionalProperties",
                "params": {"additionalProperty": "task_id"},
                "message": "must NOT have additional properties",
            }
        ]
    },
    "class-validator": {"message": ["property task_id should not exist"]},
    "joi": {"message": '"task_id" is not allowed'},
    "problem details": {"errors": [{"pointer": "#/task_id", "detail": "is unknown"}]},
    "google.rpc": {
        "error": {
            "code": 400,
            "message": 'Invalid JSON payload received. Unknown name "task_id": Cannot '
            "find field.",
            "status": "INVALID_ARGUMENT",
        }
    },
    "Rails": {"error": "found unpermitted parameter: :task_id"},
    "Laravel": {"errors": {"task_id": ["The task id field is prohibited."]}},
    "ASP.NET": {
        "errors": {
            "task_id": [
                (
                    "Could not find member 'task_id' on object of type 'ClaimRequest'. "
                    "Path 'task_id', line 1, position 12."
                )
            ]
        }
    },
    "System.Text.Json": {
        "errors": {
            "$.task_id": [
                (
                    "The JSON property 'task_id' could not be mapped to any .NET "
                    "member contained in type 'Api.ClaimRequest'."
                )
            ]
        }
    },
    "graphql-js": {
        "errors": [{"message": 'Unknown argument "task_id" on field "Mutation.claim".'}]
    },
    "Go json": {"error": 'json: unknown field "task_id"'},
    "marshmallow": {"errors": {"json": {"task_id": ["Unknown field."]}}},
    "jsonschema": {
        "message": "Additional properties are not allowed ('task_id' was unexpected)"
    },
    "Postgres": {
        "code": "42703",
        "message": 'column "task_id" of relation "claims" does not exist',
    },
    "PostgREST": {
        "code": "PGRST204",
        "message": "Could not find the 'task_id' column of 'claims' in the schema "
        "cache",
    },
    "PostgREST without a table": {
        "code": "PGRST204",
        "message": "Could not find the 'task_id' column in the schema cache",
    },
    "a list of names": {"error": "validation_error", "unknown_fields": ["task_id"]},
    "Python call": {"error": "claim() got an unexpected keyword argument 'task_id'"},
    "Stripe": {"error": "Unrecognized request argument supplied: task_id"},
    "SQLite": {"error": "no such column: task_id"},
    "prose 1": {"error": "unknown field: task_id"},
    "prose 2": {"error": "Unexpected parameter task_id"},
    "prose 3": {"error": "task_id is not a valid field"},
    "prose 4": {"error": "The field task_id is not recognized"},
    "prose 5": {"error": "Unsupported key 'task_id' in request"},
}


@pytest.mark.parametrize("body", UNKNOWN.values(), ids=UNKNOWN)
def test_a_name_that_nobody_knows_is_found(body: JSON) -> None:
    assert said(body) == {"task_id": Fault.UNKNOWN}


KNOWN_BESIDE: dict[str, JSON] = {
    "Jackson": {
        "message": 'JSON parse error: Unrecognized field "task_id" (class '
        "com.example.ClaimRequest), not marked as ignorable (2 known properties: "
        '"jobId", "worker"])',
    },
    "serde": {
        "error": "unknown field `task_id`, expected one of `jobId`, `worker` at line "
        "1 column 10"
    },
    "prose": {"error": "Unknown field task_id. Allowed fields: jobId, worker"},
    "prose, in brackets": {
        "error": "Unknown field 'task_id'; valid fields are ['jobId', 'worker']"
    },
    "a list": {
        "error": "unknown field 'task_id'",
        "allowed_fields": ["jobId", "worker"],
    },
}


@pytest.mark.parametrize("body", KNOWN_BESIDE.values(), ids=KNOWN_BESIDE)
def test_the_names_that_a_refusal_offers_are_kept(body: JSON) -> None:
    assert said(body) == {
        "task_id": Fault.UNKNOWN,
        "jobId": Fault.ALLOWED,
        "worker": Fault.ALLOWED,
    }


WRONG_TYPE: dict[str, JSON] = {
    "pydantic": {
        "detail": [
            {
                "type": "int_type",
                "loc": ["body", "task_id"],
                "msg": "Input should be a valid integer",
                "input": "7",
            }
        ]
    },
    "pydantic, parsing": {
        "detail": [
            {
                "type": "int_parsing",
                "loc": ["body", "task_id"],
                "msg": "Input should be a valid integer, unable to parse string as an "
                "integer",
            }
        ]
    },
    "zod 3": {
        "issues": [
            {
                "code": "invalid_type",
                "expected": "integer",
                "received": "string",
                "path": ["task_id"],
                "message": "Expected integer, received string",
            }
        ]
    },
    "valibot": {
        "issues": [
            {
                "kind": "schema",
                "type": "integer",
                "expected": "integer",
                "received": '"7"',
                "message": 'Invalid type: Expected integer but received "7"',
                "path": [{"type": "object", "origin": "value", "key": "task_id"}],
            }
        ]
    },
    "ajv": {
        "errors": [
            {
                "instancePath": "/task_id",
                "keyword": "type",
                "params": {"type": "integer"},
                "message": "must be integer",
            }
        ]
    },
    "fastify": {"message": "body/task_id must be integer"},
    "class-validator": {"message": ["task_id must be an integer number"]},
    "joi": {"message": '"task_id" must be an integer'},
    "Laravel": {"errors": {"task_id": ["The task id field must be an integer."]}},
    "Django REST": {"task_id": ["A valid integer is required."]},
    "Django REST, of a record": {
        "task_id": ["Incorrect type. Expected pk value, received str."]
    },
    "System.Text.Json": {
        "errors": {
            "$.task_id": [
                (
                    "The JSON value could not be converted to System.Int64. Path: "
                    "$.task_id | LineNumber: 0 | BytePositionInLine: 15."
                )
            ]
        }
    },
    "Jackson": {
        "message": "Cannot deserialize value of type `java.lang.Long` from String "
        '"x": not a valid `java.lang.Long` value (through reference chain: '
        'com.example.ClaimRequest["task_id"])'
    },
    "Go json": {
        "error": "json: cannot unmarshal string into Go struct field "
        "ClaimRequest.task_id of type int64"
    },
    "serde, with a path": {
        "error": 'task_id: invalid type: string "7", expected i64 at line 1 column 14'
    },
    "marshmallow": {"errors": {"json": {"task_id": ["Not a valid integer."]}}},
    "serde, by the value alone": {
        "error": 'invalid type: string "7", expected u64 at line 1 column 14'
    },
    "beside a sentence, under any key": {
        "problems": [{"item": "task_id", "problem": "must be an integer"}]
    },
    "prose": {"error": "task_id must be an integer"},
    "prose 2": {"error": "Invalid type for task_id: expected integer, got string"},
    "prose 3": {"error": "expected type integer for field task_id"},
}


def test_a_number_that_is_wanted_as_a_string_is_a_string() -> None:
    told: JSON = {
        "error": "param 'bid' must be decimal string, e.g. \"5.00\", got number"
    }

    found = only(read_refusal(told, "", {"bid": 5}))

    assert (found.path, found.fault, found.wants) == (("bid",), Fault.TYPE, "string")


@pytest.mark.parametrize("body", WRONG_TYPE.values(), ids=WRONG_TYPE)
def test_the_type_that_is_wanted_is_found(body: JSON) -> None:
    found = only(read_refusal(body, "", SENT))

    assert (found.path, found.fault) == (("task_id",), Fault.TYPE)
    assert found.wants == "integer"


INSIDE: dict[str, JSON] = {
    "pydantic": {
        "detail": [
            {"type": "missing", "loc": ["body", "job", "id"], "msg": "Field required"}
        ]
    },
    "zod": {
        "issues": [
            {
                "code": "invalid_type",
                "expected": "string",
                "received": "undefined",
                "path": ["job", "id"],
                "message": "Required",
            }
        ]
    },
    "ajv": {
        "errors": [
            {
                "instancePath": "/job",
                "keyword": "required",
                "params": {"missingProperty": "id"},
                "message": "must have required property 'id'",
            }
        ]
    },
    "fastify": {"message": "body/job must have required property 'id'"},
    "JSON:API": {
        "errors": [
            {
                "status": "422",
                "source": {"pointer": "/job/id"},
                "title": "Invalid Attribute",
                "detail": "id is missing",
            }
        ]
    },
    "class-validator": {"message": ["job.id should not be empty"]},
    "Laravel": {
        "message": "The job.id field is required.",
        "errors": {"job.id": ["The job.id field is required."]},
    },
    "Django REST": {"job": {"id": ["This field is required."]}},
    "marshmallow": {
        "errors": {"json": {"job": {"id": ["Missing data for required field."]}}}
    },
    "Spring": {
        "errors": [
            {
                "field": "job.id",
                "defaultMessage": "must not be blank",
                "code": "NotBlank",
                "objectName": "claimRequest",
            }
        ]
    },
    "networknt": {"message": "$.job.id: is missing but it is required"},
    "problem details": {"errors": [{"pointer": "#/job/id", "detail": "is required"}]},
    "graphql-js": {
        "errors": [
            {
                "message": 'Variable "$input" got invalid value {} at "input.job"; '
                'Field "id" of required type "ID!" was not provided.'
            }
        ]
    },
    "prose": {"error": "job.id is required"},
}


@pytest.mark.parametrize("body", INSIDE.values(), ids=INSIDE)
def test_a_name_inside_of_an_object_is_found_with_its_place(body: JSON) -> None:
    found = only(read_refusal(body, "", {"job": {}}))

    assert found.path[-2:] == ("job", "id")
    assert (found.fault, found.is_exact) == (Fault.MISSING, True)


def test_a_variable_of_graphql_is_the_object_around_its_fields() -> None:
    of_input = 'Variable "$input" got invalid value { task_id: "7" }; '
    body: JSON = {
        "errors": [
            {
                "message": f'{of_input}Field "jobId" of required type "ID!" was not '
                "provided.",
                "locations": [{"line": 1, "column": 8}],
            },
            {
                "message": f'{of_input}Field "task_id" is not defined by type '
                '"ClaimInput".',
            },
        ]
    }

    assert said(body, sent={"input": SENT}) == {
        "input.jobId": Fault.MISSING,
        "input.task_id": Fault.UNKNOWN,
    }


SEVERAL: dict[str, tuple[JSON, dict[str, Fault]]] = {
    "pydantic": (
        {
            "detail": [
                {"type": "missing", "loc": ["body", "jobId"], "msg": "Field required"},
                {"type": "extra_forbidden", "loc": ["body", "task_id"], "msg": "Extra"},
            ]
        },
        {"jobId": Fault.MISSING, "task_id": Fault.UNKNOWN},
    ),
    "class-validator": (
        {
            "message": [
                "property task_id should not exist",
                "jobId should not be empty",
                "jobId must be a string",
            ]
        },
        {"jobId": Fault.MISSING, "task_id": Fault.UNKNOWN},
    ),
    "Django REST": (
        {
            "jobId": ["This field is required."],
            "agent_id": ["This field is required."],
        },
        {"jobId": Fault.MISSING, "agent_id": Fault.MISSING},
    ),
    "prose with a list": (
        {"error": "Missing required fields: jobId, lease_token and worker"},
        {
            "jobId": Fault.MISSING,
            "lease_token": Fault.MISSING,
            "worker": Fault.MISSING,
        },
    ),
    "prose with two sentences": (
        {"error": "jobId: Field required; task_id: Extra inputs are not permitted"},
        {"jobId": Fault.MISSING, "task_id": Fault.UNKNOWN},
    ),
}


@pytest.mark.parametrize(("body", "told"), SEVERAL.values(), ids=SEVERAL)
def test_all_faults_of_one_refusal_are_found(
    body: JSON, told: dict[str, Fault]
) -> None:
    assert said(body) == told


OPTIONS: dict[str, JSON] = {
    "pydantic": {
        "detail": [
            {
                "type": "literal_error",
                "loc": ["body", "kind"],
                "msg": "Input should be 'text' or 'json'",
            }
        ]
    },
    "zod 3": {
        "issues": [
            {
                "code": "invalid_enum_value",
                "options": ["text", "json"],
                "received": "x",
                "path": ["kind"],
                "message": "Invalid enum value. Expected 'text' | 'json'",
            }
        ]
    },
    "ajv": {
        "errors": [
            {
                "instancePath": "/kind",
                "keyword": "enum",
                "params": {"allowedValues": ["text", "json"]},
                "message": "must be equal to one of the allowed values",
            }
        ]
    },
    "class-validator": {
        "message": ["kind must be one of the following values: text, json"]
    },
    "joi": {"message": '"kind" must be one of [text, json]'},
    "symfony": {
        "violations": [
            {
                "propertyPath": "kind",
                "title": "Cette valeur doit être l'un des choix proposés.",
                "parameters": {
                    "{{ value }}": '"x"',
                    "{{ choices }}": '"text", "json"',
                },
            }
        ]
    },
    "serde": {"error": "kind: unknown variant `x`, expected `text` or `json`"},
    "prose": {"error": "kind must be one of: text, json"},
}


@pytest.mark.parametrize("body", OPTIONS.values(), ids=OPTIONS)
def test_the_values_that_a_field_may_have_are_found(body: JSON) -> None:
    found = only(read_refusal(body, "", {"kind": "x"}))

    assert (found.path, found.fault) == (("kind",), Fault.VALUE)
    assert found.options == ("text", "json")


@pytest.mark.parametrize(
    "body",
    [
        None,
        {},
        [],
        5,
        {"error": "Bad Request"},
        {"error": "Invalid request body"},
        {"error": "authentication required"},
        {"error": "level: too low"},
        {"error": "the task is required to be open"},
        {"error": {"code": "task_expired", "message": "The task has expired."}},
        {"error": {"code": "bad_request", "requestId": "req-77"}},
        {"error": "task '7' is closed"},
        {"error": "Task must be claimed before submission"},
        {"error": "result does not match the expected answer"},
    ],
    ids=json.dumps,
)
def test_a_refusal_that_names_no_field_says_nothing_of_the_shape(body: JSON) -> None:
    assert said(body, Fault.MISSING, Fault.UNKNOWN, Fault.TYPE) == {}


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("input: Field required", {"input": Fault.MISSING}),
        ("data: Extra inputs are not permitted", {"data": Fault.UNKNOWN}),
        (
            "input: Field required; Id: Extra inputs are not permitted",
            {"input": Fault.MISSING, "Id": Fault.UNKNOWN},
        ),
        (
            "input.claim: Input should be a valid dictionary",
            {"input.claim": Fault.MISSING},
        ),
        (
            'invalid input for column "data.task": Input should be a valid dictionary',
            {"data.task": Fault.MISSING},
        ),
        ("Invalid data: see the documentation", {}),
        ("request: not authorized", {}),
        (
            "Bad Request: pk: Field required; task_id: Extra inputs are not permitted",
            {"pk": Fault.MISSING, "task_id": Fault.UNKNOWN},
        ),
        ("422 Unprocessable Entity - ref: Field required", {"ref": Fault.MISSING}),
        ("Validation failed: pk: Field required", {"pk": Fault.MISSING}),
    ],
)
def test_what_stands_before_a_colon_is_a_name_also_if_it_is_a_common_word(
    message: str, found: dict[str, Fault]
) -> None:
    body: JSON = {"error": message}

    assert said(body, Fault.MISSING, Fault.UNKNOWN, Fault.TYPE) == found


def test_a_body_that_is_no_json_is_read_by_what_is_left_of_it() -> None:
    message = "400 Bad Request: an HTML page (text/html, 'missing field: task.id')"

    assert said(None, message=message) == {"task.id": Fault.MISSING}


@pytest.mark.parametrize(
    "body",
    [
        {"message": "must NOT have additional properties"},
        {"error": "unknown fields"},
        {"error": "Request has unexpected properties."},
    ],
    ids=json.dumps,
)
def test_that_there_is_too_much_is_understood_without_a_name(body: JSON) -> None:
    assert says_strict(body, "")
    assert not says_strict({"error": "Bad Request"}, "")


def test_a_judgement_of_a_value_is_neither_missing_nor_unknown() -> None:
    body: JSON = {"detail": [{"loc": ["body", "result"], "msg": "not a number"}]}

    assert said(body, sent={"result": "x"}) == {"result": Fault.TYPE}


SAYINGS = [
    *("/", "/a", "/a/0/b", "$", "$.a", "#/a", "a", "a.b", "body", "", "0"),
    *(
        "is missing",
        "a is required",
        "must be a string",
        "Expected object - got string.",
    ),
    *("Properties not allowed: a, b.", "must be one of: c, d", "unknown field `a`"),
    *("must be wrapped in `b`", "must be the a_name of b", "[:map [:a :uuid]]"),
]
SCALARS = (
    st.sampled_from(SAYINGS)
    | st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=60)
)
KEYS = st.sampled_from(
    [
        *("loc", "path", "keys", "errors", "detail", "message", "params", "missing"),
        *(
            "$",
            "a",
            "b",
            "body",
            "name",
            "pointer",
            "schema",
            "type",
            "code",
            "expected",
        ),
    ]
) | st.text(max_size=8)
BODIES: st.SearchStrategy[JSON] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner),
    max_leaves=20,
)


@settings(deadline=None)
@given(BODIES, st.text(max_size=80), BODIES)
def test_no_refusal_is_too_odd_to_be_read(body: JSON, message: str, sent: JSON) -> None:
    ours = {name for way, _ in walk(sent) for name in way}
    for found in read_refusal(body, message, sent):
        assert found.path
        assert all(part.isprintable() or part in ours for part in found.path)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        "missing " * 20_000,
        "a, " * 30_000,
        "field " * 9_000,
        '"a.' * 9_000,
        "[" * 50_000,
        "expected one of `" * 9_000,
        "x: " * 9_000,
        "Key: '" * 9_000,
        "{a:" * 9_000,
        f"Invalid value x supplied to : {'/a: b' * 20_000}/",
        f"Invalid value x{' supplied to : ' * 20_000}",
        "\n" * 50_000 + "Failed validating " + "\n" * 50_000,
        "x\n\nFailed validating y" + "\n\nOn instance['a']" * 9_000,
        "\u2502  " * 9_000 + "\u251c\u2500 a",
        "\u2502  \u251c\u2500 [a]\n" * 9_000,
        "{a" * 9_000 + "} properties",
        "Unrecognized keys in mapping: \"{'a': " * 9_000,
    ],
)
def test_a_long_text_takes_no_long_time(text: str) -> None:
    assert len(read_refusal({"error": [text] * 8}, text, SENT)) <= 1


def test_what_only_looks_like_python_warns_nobody() -> None:
    assert said({"error": "{'seat': ['is required \\d']}"}) == {"seat": Fault.MISSING}


def test_faults_are_read_inside_of_objects_as_deep_as_bodies_are() -> None:
    told: JSON = {"_errors": ["Required"]}
    for _ in range(60):
        told = {"_errors": [], "deep": told}

    assert read_refusal(told, "", SENT) == ()


def test_of_very_many_faults_the_rest_is_not_read() -> None:
    faults: JSON = {"errors": {f"f{number}": ["is required"] for number in range(500)}}

    assert len(read_refusal(faults, "", SENT)) == 60


def test_of_very_many_words_the_rest_is_not_read() -> None:
    long: JSON = {"field": "seat", "message": f"{'x ' * 500}is required"}
    late: JSON = {"field": "row", "message": "is required"}

    assert said([long, late]).keys() == {"seat", "row"}
    assert said([*[long] * 100, late]).keys() == {"seat"}


@pytest.mark.parametrize(
    ("named", "path"),
    [
        ("#/job/id", ("job", "id")),
        ("/job/id", ("job", "id")),
        ("$.job.id", ("job", "id")),
        ("$.request.id", ("request", "id")),
        ("body.job.id", ("job", "id")),
        ("req.body.job", ("job",)),
        ("body.body", ("body",)),
        ("job['id']", ("job", "id")),
        ("items[0].id", ("items", "0", "id")),
        ("[0].id", ("id",)),
        ("claim.body.id", ("id",)),
        ("task[id]", ("task", "id")),
        ("body", ("body",)),
    ],
)
def test_the_way_to_a_field_is_read_in_any_notation(
    named: str, path: tuple[str, ...]
) -> None:
    assert path_of(named) == path


def test_a_field_that_is_called_like_the_body_is_a_field() -> None:
    fault: JSON = {"type": "missing", "loc": ["body", "body"], "msg": "required"}

    assert said({"detail": [fault]}) == {"body": Fault.MISSING}


def test_objects_that_we_sent_are_found_again_though_they_are_called_data() -> None:
    body: JSON = {"data": {"attributes": {"job_id": ["This field is required."]}}}

    told = said(body, sent={"data": {"attributes": {"task_id": "7"}}})

    assert told == {"data.attributes.job_id": Fault.MISSING}


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ({"message": ["payload should not be empty"]}, "payload"),
        ({"error": "data is required"}, "data"),
        ({"error": "missing required field: body"}, "body"),
        ({"body": ["This field is required."]}, "body"),
        ({"issues": [{"path": ["body"], "message": "Required"}]}, "body"),
    ],
    ids=json.dumps,
)
def test_a_word_for_a_body_is_a_name_where_only_a_name_can_be_meant(
    body: JSON, name: str
) -> None:
    assert said(body) == {name: Fault.MISSING}


@pytest.mark.parametrize(
    "text",
    [
        "Request is missing a required parameter",
        "Invalid request: the body is not valid",
        "Missing data for required field.",
        "The request body is required",
    ],
)
def test_a_word_for_a_body_is_no_name_elsewhere(text: str) -> None:
    assert said({"error": text}) == {}


def test_a_way_begins_with_an_object_that_was_sent_whatever_its_name() -> None:
    body: JSON = {
        "issues": [{"path": ["request", "taskId"], "message": "Required"}],
    }

    assert said(body, sent={"request": {"id": "7"}}) == {
        "request.taskId": Fault.MISSING,
    }
    text = "data.attributes: missing field `data` at line 1 column 42"
    sent: JSON = {"data": {"attributes": {"result": "x"}}}
    assert said(text, sent=sent) == {"data.attributes.data": Fault.MISSING}


@pytest.mark.parametrize(
    ("said", "fault", "wants"),
    [
        ("unexpected fields: agentId", Fault.UNKNOWN, ""),
        ("these fields must be strings: agentId", Fault.TYPE, "string"),
        ("expected fields: agentId", Fault.ALLOWED, ""),
    ],
)
def test_what_stands_behind_a_colon_is_what_the_sentence_is_about(
    said: str, fault: Fault, wants: str
) -> None:
    (found,) = read_refusal({"error": said}, "", {"taskId": "2", "agentId": 5})

    assert (found.path, found.fault, found.wants) == (("agentId",), fault, wants)


def prism(place: list[JSON], code: str, message: str) -> JSON:
    """Say what Prism finds in a body."""
    where: list[JSON] = ["body", *place]
    row: JSON = {"location": where, "code": code, "message": message}
    return {"title": "Invalid request", "status": 422, "validation": [row]}


def test_prism_names_an_object_and_in_its_sentence_the_member_that_is_missing() -> None:
    text = "Request body property data must have required property 'type'"

    body = prism(["data"], "required", text)

    assert said(body, sent={"data": {"id": "7"}}) == {"data.type": Fault.MISSING}


def test_faults_that_one_sentence_joins_are_read_one_by_one() -> None:
    text = "pact[token] is missing, job.id is missing, task_id is invalid"

    assert said({"error": text}) == {
        "pact.token": Fault.MISSING,
        "job.id": Fault.MISSING,
        "task_id": Fault.VALUE,
    }


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (
            {"detail": [{"loc": ["header", "x-pact"], "msg": "Field required"}]},
            "x-pact",
        ),
        ({"error": "Missing required header: X-Pact"}, "X-Pact"),
        ({"message": "The `X-Pact` header is required"}, "X-Pact"),
    ],
)
def test_a_header_that_is_missed_is_found(body: JSON, name: str) -> None:
    assert said(body) == {f"header:{name}": Fault.MISSING}


def test_the_headers_that_are_our_own_are_no_fault_of_a_body() -> None:
    assert said({"error": "The Authorization header is required"}) == {}
    assert said({"error": "missing header Content-Type"}) == {}


@pytest.mark.parametrize(
    "body",
    [
        {"error": "No such key 'kind' at path 'job'."},
        {"error": "invalid job.kind: value length must be at least 1 runes"},
        {"error": 'Error in $.job: parsing Api.Job failed, key "kind" not found'},
    ],
)
def test_the_way_to_what_is_missed_may_stand_anywhere_in_a_sentence(body: JSON) -> None:
    assert said(body, sent={"job": {"id": "7"}}) == {"job.kind": Fault.MISSING}


def test_what_is_said_inside_of_lists_is_said_of_the_first_item() -> None:
    sent: JSON = {"parts": [{"content": "text"}]}
    told: JSON = {"parts": [{"kind": ["should be either edn or text"]}]}

    assert only(read_refusal({"humanized": told}, "", sent)) == FieldFault(
        ("parts", "0", "kind"), Fault.MISSING, options=("edn", "text")
    )


def test_a_type_that_is_wrong_without_another_means_an_object_in_a_list() -> None:
    told = read_refusal({"errors": {"parts": [["invalid type"]]}}, "", {"parts": ["x"]})

    assert only(told) == FieldFault(("parts", "0"), Fault.TYPE, wants="object")


def test_a_name_that_begins_as_a_demand_does_is_no_type() -> None:
    text = "claim() missing 2 arguments: 'task' and 'expected_time'"
    told = read_refusal({"exception": text}, "", {"id": "t-1"})

    assert [(one.path, one.wants) for one in told] == [
        (("task",), ""),
        (("expected_time",), ""),
    ]


def test_what_is_said_of_an_item_is_not_said_of_its_list() -> None:
    text = "must be an object [json-pointer:/parts/0]"
    told = only(read_refusal({"error": text}, "", {"parts": ["text"]}))

    assert told == FieldFault(("parts", "0"), Fault.TYPE, wants="object")


def test_the_value_that_was_found_is_none_of_those_that_are_allowed() -> None:
    text = 'Error in $.out.tag: expected one of ["Text", "File"], but found tag "x"'
    told = only(read_refusal(None, text, {"out": {"tag": "x"}}))

    assert told.path == ("out", "tag")
    assert told.options == ("Text", "File")


def test_a_name_that_was_found_where_none_may_stand_is_unknown() -> None:
    sent: JSON = {"claim": {"task_id": "7", "extra": 1}}
    text = "Request body property claim must NOT have additional properties"

    body = prism(["claim"], "additionalProperties", f"{text}; found 'extra'")

    assert said(body, sent=sent) == {"claim.extra": Fault.UNKNOWN}


def test_an_object_that_has_too_much_inside_is_not_itself_too_much() -> None:
    sent: JSON = {"claim": {"task_id": "7", "extra": 1}}

    body = prism(
        ["claim"], "additionalProperties", "must NOT have additional properties"
    )

    assert said(body, sent=sent) == {}
    assert says_strict(body, "")


def test_a_format_is_a_type_and_no_value() -> None:
    text = 'Request body property task_id must match format "uuid"'

    body = prism(["task_id"], "format", text)

    assert only(read_refusal(body, "", SENT)) == FieldFault(
        ("task_id",), Fault.TYPE, wants="uuid"
    )


def test_a_name_beside_each_sentence_of_a_list_is_read_in_any_language() -> None:
    body: JSON = {
        "meldung": "Das Formular ist unvollständig.",
        "fehler": [
            {"feld": "vorgang.aktenzeichen", "hinweis": "Diese Angabe fehlt"},
            {"feld": "agent_id", "hinweis": "Diese Angabe ist falsch"},
        ],
    }

    assert said(body) == {
        "vorgang.aktenzeichen": Fault.MISSING,
        "agent_id": Fault.VALUE,
    }


def test_codes_beside_sentences_are_no_names() -> None:
    body: JSON = {"fehler": [{"code": "pflicht", "hinweis": "Eine Angabe fehlt"}]}

    assert said(body) == {}


def test_a_way_begins_where_the_body_does() -> None:
    told: JSON = {"message": "missing required field 'jobId'", "path": "$.args.input"}

    assert said(told, sent={"input": {"task_id": "7"}}) == {
        "input.jobId": Fault.MISSING
    }


def test_a_quoted_name_is_a_name_though_it_is_a_common_word() -> None:
    told: JSON = {"message": 'expecting a value for the variable: "input"'}

    assert said(told, sent={}) == {"input": Fault.MISSING}


def test_values_listed_beside_a_fault_are_options_whatever_they_are_called() -> None:
    fault: JSON = {
        "message": "The selected kind is invalid",
        "field": "kind",
        "meta": {"choices": ["plain", "link"]},
    }

    found = only(read_refusal({"errors": [fault]}, "", {"kind": "text"}))

    assert found.options == ("plain", "link")


def test_codes_of_a_fault_that_have_its_name_are_no_options() -> None:
    fault: JSON = {
        "codes": ["Pattern.claim.kind", "Pattern.kind"],
        "defaultMessage": "is invalid",
        "field": "kind",
    }

    found = only(read_refusal({"errors": [fault]}, "", {"kind": "text"}))

    assert found.options == ()


def test_every_name_in_a_tree_of_zods_is_a_field_even_a_common_word() -> None:
    needed: JSON = {"errors": ["Invalid input: expected string, received undefined"]}
    option: JSON = {"errors": ['Invalid option: expected one of "text"|"url"']}
    output: JSON = {
        "errors": ['Unrecognized key: "body"'],
        "properties": {"type": option, "data": needed},
    }
    body: JSON = {"error": {"errors": [], "properties": {"output": output}}}

    assert said(body, sent={"output": {"body": "A B"}}) == {
        "output.body": Fault.UNKNOWN,
        "output.type": Fault.MISSING,
        "output.data": Fault.MISSING,
    }


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        ({"TaskId": 7}, "TaskReference"),
        ({"taskId": 7}, "taskReference"),
        ({"task_id": 7}, "task_reference"),
    ],
)
def test_an_identifier_of_two_words_is_written_as_what_was_sent(
    sent: JSON, name: str
) -> None:
    found = read_refusal(None, "Task reference must be supplied.", sent)

    assert only(found) == FieldFault((name,), Fault.MISSING, is_exact=False)


def test_what_stands_below_a_name_is_said_of_it_in_any_script() -> None:
    kintone: JSON = {
        "message": "入力内容が正しくありません。",
        "errors": {"record.task_no.value": {"messages": ["必須です。"]}},
    }
    django: JSON = {"result": {"non_field_errors": ["Ожидался словарь."]}}

    sent: JSON = {"value": "7", "result": "FOUR"}
    assert said(kintone, sent=sent) == {"record.task_no.value": Fault.MISSING}
    assert said(django, sent=sent) == {"result": Fault.VALUE}


def test_ajv_is_read_also_where_it_must_not_use_words() -> None:
    def error(at: str, keyword: str, **params: JSON) -> JSON:
        return {"instancePath": at, "keyword": keyword, "params": {**params}}

    sent: JSON = {"job": {"parts": ["FOUR"], "format": "text"}}
    errors = [
        error("/job", "required", missingProperty="grant"),
        error("/job/parts/0", "type", type="object"),
        error("/job/format", "enum", allowedValues=["text/plain", "text/html"]),
    ]

    assert {*read_refusal({"errors": errors}, "", sent)} == {
        FieldFault(("job", "grant"), Fault.MISSING),
        FieldFault(("job", "parts", "0"), Fault.TYPE, "object"),
        FieldFault(("job", "format"), Fault.VALUE, options=("text/plain", "text/html")),
    }


@pytest.mark.parametrize(
    "body",
    [
        {
            "validation": {
                "headers": {"source": "headers", "keys": ["x-bot"], **REQUIRED}
            }
        },
        {"errors": [{"location": "headers", "path": "x-bot", **REQUIRED}]},
        {"errors": [{"loc": ["header", "x-bot"], **REQUIRED}]},
        {"errors": [{"in": "header", "name": "x-bot", **REQUIRED}]},
    ],
)
def test_what_is_missed_in_another_part_of_the_request_is_missed_there(
    body: JSON,
) -> None:
    assert said(body) == {"header:x-bot": Fault.MISSING}


@pytest.mark.parametrize(
    ("told", "values"),
    [
        (
            "Member must satisfy enum value set: [PLAIN_TEXT, MARKDOWN]",
            ("PLAIN_TEXT", "MARKDOWN"),
        ),
        (
            "must be one of [text/plain, text/markdown]",
            ("text/plain", "text/markdown"),
        ),
        ("must be one of scribe/bard", ("scribe", "bard")),
    ],
)
def test_a_set_of_values_is_read_in_brackets_without_quotes(
    told: str, values: tuple[str, ...]
) -> None:
    found = only(read_refusal({"errors": [{"path": "/kind", "message": told}]}, "", {}))

    assert found.options == values


def test_values_are_read_in_a_sentence_beside_a_title() -> None:
    told: JSON = {
        "title": "Unprocessable Content",
        "detail": "license is not included in the list: CC0-1.0, MIT",
        "source": {"pointer": "/license"},
    }

    found = only(read_refusal({"errors": [told]}, "", {"license": "Done"}))

    assert found.options == ("CC0-1.0", "MIT")


def test_an_outcome_of_fhir_names_the_field_by_its_expression() -> None:
    told: JSON = {
        "severity": "error",
        "code": "code-invalid",
        "diagnostics": "'san-0310' is not in the value set: typist, speech-agent",
        "expression": ["typist.role"],
    }

    found = only(read_refusal({"issue": [told]}, "", {"typist": {"role": "san-0310"}}))

    assert found.path == ("typist", "role")
    assert found.options == ("typist", "speech-agent")


@pytest.mark.parametrize(("said", "names"), [("Missing key", 1), ("Missing body", 0)])
def test_a_common_word_that_alone_is_missed_is_a_name(said: str, names: int) -> None:
    found = read_refusal({"error": said}, "", {"page_id": "p-7", "result": "A"})

    assert [one.path for one in found] == [("key",)] * names


def test_a_value_of_ours_that_jackson_quotes_tells_the_place_of_its_enum() -> None:
    told = (
        "JSON parse error: Cannot deserialize value of type `io.acme.Type` from String "
        '"text/plain": not one of the values accepted for Enum class: [PLAIN, JSON]'
    )
    sent: JSON = {"contentType": "text/plain", "taskId": 7, "content": "A"}

    found = only(read_refusal({"message": told}, "", sent))

    assert (found.path, found.options) == (("contentType",), ("PLAIN", "JSON"))


def test_types_that_a_value_may_have_are_no_values() -> None:
    told: JSON = {"message": ["nested property tag must be either object or array"]}

    found = only(read_refusal(told, "", {"tag": "A WORD"}))

    assert (found.path, found.fault) == (("tag",), Fault.TYPE)
    assert (found.wants, found.options) == ("object", ())


def test_of_two_places_with_a_value_the_one_that_is_no_result_is_wrong() -> None:
    told = "unknown variant `A WORD`, expected `done` or `partial` at line 1 column 73"

    found = only(read_refusal(None, told, {"output": "A WORD", "outcome": "A WORD"}))

    assert found.path == ("outcome",)
    assert found.options == ("done", "partial")


def test_a_parser_that_says_unexpected_names_the_key_behind_it() -> None:
    told = (
        "Illegal input: Unexpected JSON token at offset 1: Encountered an unknown key "
        "'quest_id' at path: $\nUse 'ignoreUnknownKeys = true' in 'Json {}' builder"
    )

    found = only(read_refusal({"message": told}, "", {"quest_id": "LQ-207"}))

    assert (found.path, found.fault) == (("quest_id",), Fault.UNKNOWN)


def test_a_member_that_is_missed_may_be_called_value() -> None:
    told = "artifact: missing field `value` at line 1 column 196"

    found = only(read_refusal(None, told, {"artifact": {"type": "text", "text": "A"}}))

    assert (found.path, found.fault) == (("artifact", "value"), Fault.MISSING)


def test_a_wrong_value_inside_of_what_is_around_everything_is_not_missed() -> None:
    told: JSON = {"errors": {"rating": ["is invalid"]}}

    found = only(read_refusal(told, "", {"completion": {"rating": "Done"}}))

    assert found.fault is Fault.VALUE


CHAINED = (
    "\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled);"
    ' line: 1, column: 77] (through reference chain: io.acme.SubmitRequest["result"]'
)


@pytest.mark.parametrize(
    ("body", "place", "fault", "wants", "options"),
    [
        pytest.param(
            {
                "detail": "JSON parse error: Cannot construct instance of `a.Text`"
                " (although at least one Creator exists): no String-argument "
                "constructor/factory method to deserialize from String value "
                "('HELLO (')"
                f"{CHAINED})"
            },
            "result",
            Fault.TYPE,
            "object",
            (),
            id="Jackson, of a record",
        ),
        pytest.param(
            {
                "detail": "JSON parse error: Cannot deserialize value of type "
                '`io.acme.Kind` from String "text": not one of the values accepted for '
                f'Enum class: [TEXT, LINK]{CHAINED}->io.acme.Text["kind"])'
            },
            "result.kind",
            Fault.VALUE,
            "",
            ("TEXT", "LINK"),
            id="Jackson, of an enum",
        ),
        pytest.param(
            {
                "error": "Result validation failed: result: Tried to set nested object "
                "field `result` to primitive value `HELLO`"
            },
            "result",
            Fault.VALUE,
            "object",
            (),
            id="Mongoose, of a nested object",
        ),
    ],
)
def test_a_text_in_place_of_an_object_is_told_by_the_way_to_it(
    body: JSON, place: str, fault: Fault, wants: str, options: tuple[str, ...]
) -> None:
    sent: JSON = {"result": {"kind": "text"} if "." in place else "HELLO"}
    found = only(read_refusal(body, "", sent))
    assert ".".join(found.path) == place
    assert (found.fault, found.wants, found.options) == (fault, wants, options)


UNION = "Input tag 'word' found using 'kind' does not match any of the expected tags: "


@pytest.mark.parametrize(
    ("said_of_it", "sent", "place"),
    [
        ("Unable to extract tag using discriminator 'kind'", {"a": "B"}, "kind"),
        (f"{UNION}'text', 'link'", {"a": "B", "kind": "word"}, "kind"),
        (f"{UNION}'text', 'link'", {"text": "B", "kind": "word"}, "kind"),
        (
            f"{UNION}'text', 'link'".replace("kind", "format"),
            {"word": "B", "format": "word"},
            "format",
        ),
        ("Invalid discriminator value. Expected 'text' | 'link'", {"a": "B"}, "type"),
        (
            "Invalid discriminator value. Expected 'text' | 'link'",
            {"a": "B", "type": "text"},
            "kind",
        ),
    ],
)
def test_an_object_of_several_kinds_has_to_say_which(
    said_of_it: str, sent: JSON, place: str
) -> None:
    detail: JSON = [{"loc": ["body", "result"], "msg": said_of_it, "type": "union_tag"}]
    found = only(read_refusal({"detail": detail}, "", {"result": sent}))
    assert found.path == ("result", place)
    assert found.options == (() if "extract" in said_of_it else ("text", "link"))


def test_the_kind_of_an_object_is_no_part_of_the_way_to_what_it_lacks() -> None:
    lacks: JSON = [
        {"loc": ["body", "result", "text", "value"], "msg": "Field required"}
    ]
    assert said({"detail": lacks}, sent={"result": {"kind": "text"}}) == {
        "result.value": Fault.MISSING
    }


@pytest.mark.parametrize(
    "body",
    [
        {"errors": ["Task claim must exist", "Body can't be blank"]},
        {
            "error": "Result validation failed: body: Path `body` is required., "
            "task_claim_id: Path `task_claim_id` is required."
        },
    ],
    ids=["Rails", "Mongoose"],
)
def test_every_sentence_of_a_model_is_read(body: JSON) -> None:
    assert said(body) == {"task_claim_id": Fault.MISSING, "body": Fault.MISSING}


@pytest.mark.parametrize("text", ["KeyError('job')", "'job'"])
def test_a_key_error_of_python_names_what_is_missing(text: str) -> None:
    assert said({"error": text}) == {"job": Fault.MISSING}


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("mode must be either fast or slow", ("fast", "slow")),
        ("mode should be low/medium/high", ("low", "medium", "high")),
        ('mode must match "TEXT|JSON|URL"', ("TEXT", "JSON", "URL")),
        ('mode: expected ("text" | "file")', ("text", "file")),
        (
            'mode is invalid according to enum declaration {"plain", "json"}',
            ("plain", "json"),
        ),
        ("mode: wrong, one of DAY NIGHT", ("DAY", "NIGHT")),
        ("Element mode: permitted values are KEEP, DROP", ("KEEP", "DROP")),
        ("invalid mode 'x' (valid: a, b, c)", ("a", "b", "c")),
        ("mode: yes or no", ("yes", "no")),
        ("mode must be 1, 2, 3 or 4", ("1", "2", "3", "4")),
        ("mode must be one of [text/plain, b] but was 'x'", ("text/plain", "b")),
        ('Set mode to "plain", "html" or "markdown".', ("plain", "html", "markdown")),
        ("mode must be Y", ("Y",)),
        ("mode must be an integer between 1 and 90", ("1", "90")),
        ("mode: a whole number from 1 to 5", ("1", "5")),
        (
            "\u00ab mode \u00bb doit \u00eatre l'une des valeurs : fr, la, oc.",
            ("fr", "la", "oc"),
        ),
    ],
)
def test_the_values_that_a_sentence_would_take_are_read_however_it_lists_them(
    text: str, options: tuple[str, ...]
) -> None:
    found = only(read_refusal({"error": text}, "", {"job": 7, "mode": "x"}))

    assert (found.path, found.options) == (("mode",), options)


@pytest.mark.parametrize(
    "text",
    [
        "missing 3 required positional arguments: 'mode', 'output', and 'note'",
        "mode should be defined, instead was undefined",
        "mode must be JSON",
        "mode must be a string",
    ],
)
def test_a_list_of_names_and_a_type_are_no_values(text: str) -> None:
    found = read_refusal({"error": text}, "", {"job": 7})

    assert [one.options for one in found] == [()] * len(found)


@pytest.mark.parametrize(
    "body",
    [
        {"hint": 'send {"job": "<slug>", "role": "cook|waiter"}'},
        {"error": "bad body", "example": {"job": "J-1", "role": "cook|waiter"}},
        "expected { job: string; role: cook|waiter }",
    ],
    ids=str,
)
def test_a_body_that_a_refusal_shows_is_compared_with_what_was_sent(body: JSON) -> None:
    found = read_refusal(body, "", {"job": "j-7", "agent": "a"})

    lacking = only(one for one in found if one.fault is Fault.MISSING)
    assert (lacking.path, lacking.options) == (("role",), ("cook", "waiter"))


def test_a_body_that_is_shown_for_a_name_stands_below_it() -> None:
    body: JSON = {"msg": "parameter pod must be {content, result}"}

    assert said(body) == {"pod.content": Fault.MISSING, "pod.result": Fault.MISSING}


@pytest.mark.parametrize("around", [[], ["args"]])
def test_our_own_body_that_a_refusal_repeats_is_no_example(around: list[str]) -> None:
    inner: JSON = {"note": "x", "job": 7}
    sent: JSON = dict.fromkeys(around, inner) if around else inner
    body: JSON = {"error": f"seat is required, got {json.dumps(inner)}"}

    assert said(body, sent=sent) == {"seat": Fault.MISSING}


def test_of_all_that_is_needed_what_was_sent_is_there() -> None:
    body: JSON = "need json with: task_id, annotation, certainty"

    assert said(body, Fault.MISSING) == {
        "annotation": Fault.MISSING,
        "certainty": Fault.MISSING,
    }
    assert said(body)["task_id"] is Fault.ALLOWED


@pytest.mark.parametrize(
    "body",
    [
        [{"PropertyName": "Seat", "ErrorMessage": "'Seat' must not be empty."}],
        {
            "name": "BadRequest",
            "message": "validation failed",
            "data": [{"path": "/Seat", "message": "is required"}],
        },
        {"errors": {"Seat": {"_required": "This field is required"}}},
        {"messages": [{"element": "/Seat", "text": "Element Seat is mandatory"}]},
        {"error": {"target": "Seat", "message": "Provide the missing value."}},
        {"status": "rejected", "reasons": ["Seat is required"]},
    ],
    ids=str,
)
def test_what_is_missed_is_found_below_keys_of_any_spelling(body: JSON) -> None:
    assert said(body) == {"Seat": Fault.MISSING}


def test_a_value_that_is_not_found_is_wrong_and_its_name_is_not() -> None:
    body: JSON = {"error": {"param": "offer", "message": "No such offer: 'of_12'"}}

    assert said(body, sent={"offer": "of_12"}) == {"offer": Fault.VALUE}


@pytest.mark.parametrize(
    ("text", "place", "wants"),
    [
        ("The terms field must be accepted.", "terms", "boolean"),
        (
            "Key: 'Claim.Terms' Error:Field validation failed on the 'uuid' tag",
            "terms",
            "uuid",
        ),
        ("terms: must use an array structure", "terms", "array"),
        ("terms: has the wrong type: a whole number of credits", "terms", "integer"),
        (
            "It could not be converted to App.Terms. Path: $.terms | LineNumber: 0",
            "terms",
            "object",
        ),
    ],
)
def test_a_type_is_read_by_what_frameworks_call_it(
    text: str, place: str, wants: str
) -> None:
    found = only(read_refusal({"error": text}, "", {"job": 7, "terms": "x"}))

    assert (found.path, found.wants) == ((place,), wants)


def test_gos_validator_tells_the_way_to_a_field_before_its_name() -> None:
    reason = "Field validation for 'Text' failed on the 'required' tag"
    text = f"Key: 'Send.Output.Text' Error:{reason}"

    assert said(text) == {"Output.Text": Fault.MISSING}


def test_a_label_of_several_words_is_the_name_that_was_sent_for_it() -> None:
    text = 'Result Type cannot be "text". It should be one of "Text", "File"'
    found = only(read_refusal(text, "", {"result_type": "text"}))

    assert (found.path, found.options) == (("result_type",), ("Text", "File"))


def test_a_record_of_rails_that_is_missed_is_an_object() -> None:
    told: JSON = {"error": "param is missing or the value is empty: print_order"}

    first = only(read_refusal(told, "", SENT))
    again = only(read_refusal(told, "", {"print_order": 7}))

    assert (first.path, first.fault) == (("print_order",), Fault.MISSING)
    assert (again.path, again.fault) == (("print_order",), Fault.TYPE)
    assert first.wants == again.wants == "object"


def test_what_rails_misses_is_no_object_where_it_has_the_name_of_a_value() -> None:
    def missed(name: str) -> str:
        told: JSON = {"error": f"param is missing or the value is empty: {name}"}
        return only(read_refusal(told, "", SENT)).wants

    assert missed("sign_off") == missed("contribution") == "object"
    assert missed("shift_ref") == missed("result") == ""


def test_a_record_and_its_key_that_are_both_missed_are_one_value() -> None:
    told: JSON = {"shelf": ["must exist"], "shelf_id": ["can't be blank"]}

    assert only(read_refusal(told, "", SENT)).path == ("shelf_id",)


def test_quarkus_names_a_method_and_its_parameter_before_a_field() -> None:
    said: JSON = [{"field": "leverIn.verzoek.tekst", "message": "must not be blank"}]
    told: JSON = {"title": "Constraint Violation", "status": 400, "violations": said}

    assert only(read_refusal(told, "", SENT)).path == ("tekst",)


def test_the_address_of_a_request_is_no_place_in_its_body() -> None:
    told: JSON = {
        "error": "Bad Request",
        "message": "Fields [ticket, panel] are required for type with serial name "
        "'uk.co.signs.ProofRequest', but they were missing at path: $",
        "path": "/functions/v1/submit-task-result-public",
    }

    found = read_refusal(told, "", SENT)

    assert {one.path for one in found} == {("ticket",), ("panel",)}


def test_jacksons_way_is_surer_than_the_argument_that_micronaut_names() -> None:
    said = (
        "Failed to convert argument [command] for value [null] due to: Cannot construct"
        " instance of `be.deeds.FairCopy` (although at least one Creator exists): no "
        "String-argument constructor/factory method to deserialize from String value "
        "('AB C')\n at [Source: UNKNOWN; byte offset: #UNKNOWN] (through reference "
        'chain: be.deeds.LodgeCommand["fairCopy"])'
    )
    told: JSON = {"_embedded": {"errors": [{"message": said, "path": "/command"}]}}

    found = only(read_refusal(told, "", {"fairCopy": "AB C", "deedId": 7}))

    assert (found.path, found.wants) == (("fairCopy",), "object")


def test_what_is_to_be_written_as_true_or_false_is_a_boolean() -> None:
    told: JSON = {"desk": "Please write hung as true or false."}
    found = only(read_refusal(told, "", {"sign": "L-2", "hung": "Done"}))

    assert (found.path, found.wants) == (("hung",), "boolean")


def test_what_each_item_of_a_list_needs_is_missing_in_its_first() -> None:
    told = "Each of labels needs a prop and a label."
    sent: JSON = {"sheet": 12, "labels": [{"result": "41"}]}

    assert said(told, sent=sent) == {
        "labels.0.prop": Fault.MISSING,
        "labels.0.label": Fault.MISSING,
    }


def test_a_record_that_is_shown_beside_a_refusal_is_no_place_of_a_fault() -> None:
    told: JSON = {"error": "is already taken", "task": {"name": "Crate", "id": "7"}}

    assert not said(told)


def test_a_key_of_rails_that_was_not_sent_is_missing_in_its_record() -> None:
    told: JSON = {"message": "Couldn't find PrintOrder without an ID"}

    found = only(read_refusal(told, "", {"print_order": {"result": "41"}}))

    assert (found.path, found.fault) == (("print_order", "id"), Fault.MISSING)


def test_what_an_object_has_to_have_is_missing_in_it() -> None:
    told: JSON = {"errors": ["Proof must be an object with the wording"]}

    found = only(read_refusal(told, "", {"proof": "41"}))

    assert (found.path, found.fault) == (("proof", "wording"), Fault.MISSING)


def test_a_name_with_that_of_an_object_before_it_is_of_the_object() -> None:
    told: JSON = {"errors": ["Proof wording can't be blank"]}

    inside = only(read_refusal(told, "", {"proof": {"text": "41"}}))
    beside = only(read_refusal(told, "", {"proof": "41"}))

    assert inside.path == ("proof", "wording")
    assert beside.path == ("proof_wording",)


def test_a_record_that_must_exist_is_named_by_its_key_and_not_inside_of_one() -> None:
    told: JSON = {"errors": ["Task claim must exist"]}

    found = only(read_refusal(told, "", {"task_claim": {"agent_id": "9000"}}))

    assert found.path == ("task_claim_id",)


def test_names_that_are_listed_beside_a_sentence_say_nothing_else_than_it() -> None:
    def told(text: str) -> JSON:
        listed: JSON = {"source": "payload", "keys": ["answer"]}
        return {"message": text, "validation": listed}

    typed = only(
        read_refusal(told('"answer" must be of type object'), "", {"answer": 1})
    )
    extra = only(read_refusal(told('"answer" is not allowed'), "", {"answer": 1}))

    assert (typed.fault, typed.wants) == (Fault.TYPE, "object")
    assert extra.fault is Fault.UNKNOWN


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The time sheet is empty. Put the hours worked in hours.", "hours"),
        ("Which one? Put the number of the job in commission.", "commission"),
        ("Please enter your choice of stone under 'stone'.", "stone"),
    ],
)
def test_a_name_under_which_something_is_to_be_put_is_missing(
    text: str, name: str
) -> None:
    found = said({"yard_says": text}, sent={"result": "41"})

    assert found == {name: Fault.MISSING}


@pytest.mark.parametrize(
    "body",
    [
        {"error": "Write the record in storage."},
        {"error": "Cannot reach the task queue.", "where": "task_queue"},
        {"error": "Please put the record under storage."},
    ],
)
def test_no_such_words_are_read_where_a_server_fell_over(body: JSON) -> None:
    assert read_refusal(body, "", SENT)
    assert read_refusal(body, "", SENT, is_prose_read=False) == ()


def test_an_object_that_a_server_fell_over_lacks_nothing() -> None:
    told: JSON = {"error": "task_id must be an object with the handler"}

    assert "task_id.handler" in said(told)
    found = read_refusal(told, "", SENT, is_prose_read=False)
    assert not any(one.fault is Fault.MISSING for one in found)


def test_what_cannot_be_written_somewhere_is_no_name() -> None:
    told: JSON = {"error": "Could not write the record in storage."}

    assert "storage" not in said(told)


def test_what_is_to_be_put_in_capitals_is_put_under_no_such_name() -> None:
    told: JSON = {"yard_says": "Put the lettering in capitals."}

    assert "capitals" not in said(told, sent={"result": "41"})


def test_a_name_of_several_words_beside_a_sentence_with_them_is_what_it_is_about() -> (
    None
):
    told: JSON = {"refused": "Give the loan number first.", "at": "loan_number"}
    about_else: JSON = {"refused": "Give the number.", "desk": "front_office"}

    assert said(told) == {"loan_number": Fault.MISSING}
    assert "front_office" not in said(about_else)


def test_kotlin_names_the_object_that_its_sentences_are_about() -> None:
    sent: dict[str, JSON] = {"claimId": "c-1", "typeset": "41"}
    no_object = "Expected start of the object '{', but had '\"' instead"
    lacking = "Fields [edition, text] are required for type with serial name 'a.B'"

    wrong = only(
        read_refusal(
            {
                "message": "Unexpected JSON token at offset 0: "
                f"{no_object} at path: $.typeset\nJSON input: ..."
            },
            "",
            sent,
        )
    )
    told: JSON = {"message": f"{lacking}, but they were missing at path: $.typeset"}

    assert (wrong.path, wrong.fault, wrong.wants) == (
        ("typeset",),
        Fault.TYPE,
        "object",
    )
    assert said(told, sent={**sent, "typeset": {}}) == {
        "typeset.edition": Fault.MISSING,
        "typeset.text": Fault.MISSING,
    }


def test_a_field_is_told_by_a_form_of_a_clerk_and_of_a_technician() -> None:
    clerk: JSON = {
        "reasons": [{"entry": "cut_text", "reason": "This entry is required."}]
    }
    technician: JSON = {
        "error": {"code": "E11", "say": 'Please give "desk". One of: day, night.'}
    }

    entry, desk = (
        only(read_refusal(clerk, "", SENT)),
        only(read_refusal(technician, "", SENT)),
    )

    assert (entry.path, entry.fault) == (("cut_text",), Fault.MISSING)
    assert (desk.path, desk.fault) == (("desk",), Fault.MISSING)
    assert desk.options == ("day", "night")


def test_what_was_not_found_is_named_by_what_it_is_called() -> None:
    sent: JSON = {"work_order_id": "t-1", "lettering": "41"}

    found = read_refusal({"error": "Work order not found"}, "", sent)

    assert only(found).path == ("work_order_id",)
    assert only(found).fault is Fault.VALUE


# -- plain words in sentences ----------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "You forgot the badge.",
        "You did not tell us the badge.",
        "We did not get a badge.",
        "We need to know your badge.",
        "Without a badge nothing can be handed out.",
        "No badge in the form.",
        "There is no badge on your slip.",
        "The request came without badge.",
        "The badge has not been filled in.",
        "badge has been left out",
        "badge is not in the request.",
        "badge must not be left out.",
        "badge: please fill in",
        "Please tell us the badge.",
        "Please add your badge and try again.",
        "Still missing: badge.",
        "Incomplete form: badge",
        "Which badge?",
        "Where is the badge?",
        "cannot claim without badge",
        "missing_badge",
        "BADGE_REQUIRED",
    ],
)
def test_a_plain_word_is_a_name_where_a_sentence_misses_it(text: str) -> None:
    assert said({"note": text}) == {"badge": Fault.MISSING}


@pytest.mark.parametrize(
    "text",
    [
        "You have no credits.",
        "There is no room for more.",
        "You have no claim on this task.",
        "This task was given to somebody else.",
        "You must submit first.",
        "Your work is not good enough.",
        "The review is not finished.",
        "The work has not been checked yet.",
        "Please give us a moment.",
        "Your account has no access.",
        "The office is not in today.",
        "Your sheet is not in the tray.",
        "The bell has not been sent to the foundry.",
        "The shop is closed, please come back at nine.",
        "Please enter by the back door.",
    ],
)
def test_what_is_not_about_the_body_misses_no_name(text: str) -> None:
    assert not said({"note": text})


@pytest.mark.parametrize(
    ("text", "wants"),
    [
        ("badge is no number", "number"),
        ("The badge is a whole number.", "number"),
        ("A number is expected for badge.", "number"),
        ("Give badge in digits.", "number"),
        ("badge takes true or false", "boolean"),
        ("badge should be a flag", "boolean"),
        ("Please send badge as a list.", "array"),
        ("badge wants a list, also of one", "array"),
        ("badge: a list is expected", "array"),
    ],
)
def test_a_sentence_asks_for_a_type_of_the_only_name_in_it(
    text: str, wants: str
) -> None:
    found = only(read_refusal({"note": text}, "", {**SENT_BADGE, "badge": "x"}))

    assert (found.path, found.fault, found.wants) == (("badge",), Fault.TYPE, wants)


SENT_BADGE: dict[str, JSON] = {"task_id": "T-12", "agent_id": "agent-1"}


@pytest.mark.parametrize(
    "text",
    [
        "badge can be alto, bass or tenor.",
        "badge takes alto, bass or tenor",
        "badge: choose from alto, bass, tenor",
        "Pick one of alto, bass, tenor for badge.",
        "badge not known. We have alto, bass and tenor.",
        "Unknown badge. Choose alto, bass or tenor.",
        "No such badge. There are alto, bass, tenor.",
        "Please use alto, bass or tenor as badge.",
    ],
)
def test_a_sentence_lists_what_the_only_name_in_it_may_be(text: str) -> None:
    found = only(read_refusal({"note": text}, "", {**SENT_BADGE, "badge": "x"}))

    assert (found.path, found.fault) == (("badge",), Fault.VALUE)
    assert found.options == ("alto", "bass", "tenor")


@pytest.mark.parametrize(
    "body",
    [
        {"error": "The pool has no sockets."},
        {"note": "The server lacks memory."},
        {"note": "Give logs."},
        {"note": "The socket was not sent."},
        {"unit": "mailer", "problem": "is not set"},
        {"checks": {"mailer": False, "pool": True}},
        {"still_missing": ["mailer"]},
    ],
)
def test_plain_words_can_be_left_unread(body: JSON) -> None:
    found = read_refusal(body, "", SENT, is_prose_read=False)

    assert said(body, Fault.MISSING)
    assert all(one.fault is not Fault.MISSING for one in found)


def test_no_choice_takes_the_place_of_the_work() -> None:
    text = "The label is wrong. Send it again, mend it or wait."
    work: JSON = {"label": "THE SKULL OF THE OLD JESTER"}

    found = read_refusal({"note": text}, "", work)

    assert all(not one.options for one in found)


@pytest.mark.parametrize(
    "body",
    [
        {"problems": {"badge": "left empty"}},
        {"complaints": [{"about": "badge", "what": "was not given"}]},
        {"badge": "missing"},
        {"badge": ["please fill in"]},
        {"what": "badge", "why": "missing"},
        {"code": "missing", "at": "badge"},
        {"lacks": ["badge"]},
        {"fill_in": ["badge"]},
        {"still_needed": ["badge"]},
        {"you_forgot": "badge"},
        {"incomplete": {"badge": "required"}},
        {"checks": {"badge": False, "task_id": True}},
        {"fields": {"badge": {"ok": False, "why": "missing"}, "task_id": {"ok": True}}},
        {"errors": [{"badge": "missing"}]},
        {"errors": {"badge": {"required": True}}},
        {"missing": {"badge": "string"}},
    ],
)
def test_a_structure_in_its_own_words_tells_what_is_missed(body: JSON) -> None:
    assert said(body, Fault.MISSING) == {"badge": Fault.MISSING}


NESTED: JSON = {"variables": {"input": {"task_id": "7"}}}
WORK: JSON = {"label": "THE SKULL", "outcome": "THE SKULL"}
JACKSON = (
    'Cannot deserialize value of type `desk.api.Outcome` from String "THE SKULL":'
    " not one of the values accepted for Enum class: [DONE, BAD]"
)


@pytest.mark.parametrize(
    ("text", "sent", "found"),
    [
        pytest.param(
            "[object instance has properties which are not allowed by the schema:"
            ' ["agent_id"]; object has missing required properties (["ref"]); /task_id:'
            " instance type (string) does not match any allowed primitive type"
            ' (allowed: ["integer"])]',
            SENT,
            {"agent_id": Fault.UNKNOWN, "ref": Fault.MISSING, "task_id": Fault.TYPE},
            id="aws-api-gateway",
        ),
        pytest.param(
            "The JSON value could not be converted to Desk.Api.Pod. Path: $.task_id.",
            SENT,
            {"task_id": Fault.TYPE},
            id="dotnet",
        ),
        pytest.param(
            'Variable "$input" of required type "JobInput!" was not provided.',
            SENT,
            {"input": Fault.MISSING},
            id="graphql-variable",
        ),
        pytest.param(
            'Variable "$input" of required type "JobInput!" was not provided.',
            {"input": {"task_id": "7"}},
            {"variables.input": Fault.MISSING},
            id="graphql-variable-that-was-sent-at-the-root",
        ),
        pytest.param(
            'Variable "$input" of required type "JobInput!" was not provided.',
            {"operationName": "Claim", "task_id": "7"},
            {"variables.input": Fault.MISSING},
            id="graphql-variable-of-an-operation",
        ),
        pytest.param(
            'Variable "$input" got invalid value {}; Field "jobId" of required type'
            ' "ID!" was not provided.',
            NESTED,
            {"variables.input.jobId": Fault.MISSING},
            id="graphql-field-inside-of-variables",
        ),
        pytest.param(
            'Claims are signed: give your own agent_id as "operator" with the wire.',
            {"wire": 17},
            {"operator": Fault.MISSING},
            id="what-is-to-be-called-so",
        ),
        pytest.param(
            "found unpermitted parameters: :task_id, :agent_id",
            SENT,
            {"task_id": Fault.UNKNOWN, "agent_id": Fault.UNKNOWN},
            id="rails-unpermitted",
        ),
        pytest.param(
            "Invalid request: body is missing data.",
            SENT,
            {"data": Fault.MISSING},
            id="firebase",
        ),
        pytest.param(
            'The telegram is empty. Put its number in "no".',
            SENT,
            {"no": Fault.MISSING},
            id="a-short-word-in-quotes",
        ),
        pytest.param(
            "JSON parse error: Cannot construct instance of `de.amt.PodDto`: no"
            " String-argument constructor/factory method to deserialize from 'SKULL'",
            {"pod": "SKULL"},
            {"pod": Fault.TYPE},
            id="jackson",
        ),
        pytest.param(
            "JSON error: Cannot construct instance of `de.amt.PodDto`: no suitable"
            " constructor or factory method for this value; expected a JSON object",
            {"pod": "SKULL", "note": "a b"},
            {"pod": Fault.TYPE},
            id="jackson-without-the-value",
        ),
        pytest.param(
            "Validation failed: Answers body can't be blank",
            {"result": "41"},
            {"answers_body": Fault.MISSING},
            id="active-record",
        ),
    ],
)
def test_more_frameworks_say_what_is_wrong_in_sentences(
    text: str, sent: JSON, found: dict[str, Fault]
) -> None:
    assert said({"message": text}, sent=sent) == found


@pytest.mark.parametrize(
    ("text", "sent", "path", "options"),
    [
        (
            'Unknown operation named "start". Operations on this path: ClaimJob.',
            {"operationName": "start"},
            "operationName",
            ("ClaimJob",),
        ),
        (
            'Must provide an "operationName". Operations on this path: ClaimJob.',
            SENT,
            "operationName",
            ("ClaimJob",),
        ),
        (
            'Cannot run mutation "start" here. Did you mean "claimJob"?',
            {"mutation": "start"},
            "mutation",
            ("claimJob",),
        ),
        ('"format" must be [plain]', {"format": "text"}, "format", ("plain",)),
        ("agreed is required: 'yes' or 'no'", SENT, "agreed", ("yes", "no")),
        (
            JACKSON,
            WORK,
            "outcome",
            ("DONE", "BAD"),
        ),
    ],
)
def test_choices_are_told_beside_a_value_or_in_a_sentence_of_their_own(
    text: str, sent: JSON, path: str, options: tuple[str, ...]
) -> None:
    found = only(read_refusal({"message": text}, "", sent))

    assert (".".join(found.path), found.options) == (path, options)


def test_a_list_of_what_was_sent_is_no_fault() -> None:
    told: JSON = {
        "message": 'The function must be called with a non-empty string "panel".',
        "details": {"received": ["agent_id", "task_id"]},
    }

    assert said({"error": told}) == {"panel": Fault.MISSING}


def test_what_is_said_of_an_object_may_be_about_what_is_in_it() -> None:
    told: JSON = {
        "pod": ["pod.kind is required", "Unrecognized key(s) in object: 'text'"]
    }

    found = said({"fieldErrors": told}, sent={"pod": {"text": "41"}})

    assert found == {"pod.kind": Fault.MISSING, "pod.text": Fault.UNKNOWN}


def test_rails_names_the_object_whose_names_it_lists() -> None:
    body: JSON = {
        "message": "found unpermitted parameter: :x",
        "details": {"scope": "answers", "permitted": ["question_id", "body"]},
    }

    found = said(body, Fault.ALLOWED, sent={"claim": {"answers": [{"x": 1}]}})

    assert found.keys() == {"claim.answers.0.question_id", "claim.answers.0.body"}


def test_rails_tells_of_nested_attributes_without_their_suffix() -> None:
    sent: JSON = {"submission": {"answers_attributes": [{"question_id": 1}]}}

    found = said({"errors": {"answers.body": ["can't be blank"]}}, sent=sent)

    assert found == {"submission.answers_attributes.0.body": Fault.MISSING}


def test_a_way_in_the_body_is_read_though_graphql_has_ways_in_its_answers() -> None:
    def told(*path: str) -> JSON:
        message = "Field is required, but it was not provided."
        return {"errors": [{"message": message, "path": [*path], "extensions": {}}]}

    sent: JSON = {"input": {"pod": {"x": 1}}}

    assert said(told("input", "pod", "words"), sent=sent) == {
        "input.pod.words": Fault.MISSING
    }
    assert said(told("claimJob"), sent=sent) == {}


def test_a_type_in_capitals_is_no_name() -> None:
    text = (
        "Cannot deserialize value of type `java.util.UUID` from String "
        '"3dcc0bc9": UUID has to be represented by standard 36-char representation'
    )

    fault = only(read_refusal({"message": text}, "", {"technicianId": "3dcc0bc9"}))

    assert (fault.path, fault.fault, fault.wants) == (
        ("technicianId",),
        Fault.TYPE,
        "uuid",
    )


def test_of_several_places_of_a_value_its_type_is_called_as_the_right_one_is() -> None:
    text = JACKSON.replace("Outcome", "VisitOutcome")

    sent: JSON = dict.fromkeys(("label", "outcome", "report"), "THE SKULL")

    fault = only(read_refusal({"message": text}, "", sent))

    assert (fault.path, fault.options) == (("outcome",), ("DONE", "BAD"))


@pytest.mark.parametrize("language", ["cannot be blank", {"message": "Is required."}])
def test_a_field_called_locale_is_one_where_no_language_is_told(language: JSON) -> None:
    blank: JSON = {"message": "Cannot be blank."}

    found = said({"data": {"locale": language, "segment": blank}})

    assert found == {"locale": Fault.MISSING, "segment": Fault.MISSING}


def test_where_no_place_is_told_the_only_text_that_is_no_id_is_to_be_an_object() -> (
    None
):
    text = (
        "[instance type (string) does not match any allowed primitive type"
        ' (allowed: ["object"])]'
    )
    sent: JSON = {"jobId": "rcp-7", "transcript": "41", "claimId": "clm-7"}

    fault = only(read_refusal({"details": text}, "", sent))

    assert (fault.path, fault.wants) == (("transcript",), "object")


@pytest.mark.parametrize(
    ("text", "wants", "options"),
    [
        ("must be a duration between 60s and 3600s", "duration", ("60s", "3600s")),
        ("'Confirm Accuracy' must be equal to 'True'.", "boolean", ("True",)),
    ],
)
def test_a_range_of_time_and_a_yes_are_values(
    text: str, wants: str, options: tuple[str, ...]
) -> None:
    fault = only(read_refusal({"errors": {"ttl": [text]}}, "", {}))

    assert (fault.wants, fault.options) == (wants, options)


@pytest.mark.parametrize(
    ("text", "sent", "place", "options"),
    [
        pytest.param(
            "No transcription with ID 625BAECB-4A46.",
            {"transcriptionID": "625BAECB-4A46", "cardID": "625BAECB-4A46"},
            "transcriptionID",
            (),
            id="a value, and the words of its name",
        ),
        pytest.param(
            "Booking 48113 does not exist",
            {"bookingRef": 48113, "docketNo": 48113},
            "bookingRef",
            (),
            id="a number",
        ),
        pytest.param(
            'The text\'s language "en" does not match the job language "de"',
            {"correction": {"language": "en", "text": "A B"}, "job": {"id": 7}},
            "correction.language",
            ("de",),
            id="and what it should be",
        ),
        pytest.param(
            "Translation must be in the job's target_language ('en')",
            {"translation": {"text": "A B", "language": "es"}, "assignment_id": 7},
            "translation.language",
            ("en",),
            id="what it should be alone",
        ),
        pytest.param(
            "Assignment not found",
            {"assignment": {"finding_id": 5, "id": 7}, "completion": {"id": 8}},
            "assignment.id",
            (),
            id="no value, of an object with an identifier",
        ),
    ],
)
def test_a_value_that_is_wrong_is_known_by_the_words_of_its_name(
    text: str, sent: JSON, place: str, options: tuple[str, ...]
) -> None:
    fault = only(read_refusal({"error": text}, "", sent))

    assert (".".join(fault.path), fault.fault) == (place, Fault.VALUE)
    assert fault.options == options


def test_protovalidate_names_a_field_and_says_value_of_it() -> None:
    said_of_it = "value is empty, which is not a valid UUID"
    field: JSON = {"elements": [{"fieldNumber": 2, "fieldName": "request_id"}]}
    violation: JSON = {"field": field, "message": said_of_it}
    answer: JSON = {
        "message": "validation error:\n - job_id: value is required [required]\n"
        f" - request_id: {said_of_it} [string.uuid_empty]",
        "details": [{"value": "Cm4SEX", "debug": {"violations": [violation]}}],
    }

    assert said(answer) == {"job_id": Fault.MISSING, "request_id": Fault.MISSING}


def test_protocol_buffers_want_an_object_where_a_text_was_unexpected() -> None:
    text = 'proto: syntax error (line 1:31): unexpected token "READ THE METER"'
    sent: JSON = {"reading": "READ THE METER", "lease_id": "ls_1"}

    fault = only(read_refusal({"message": text}, "", sent))

    assert (fault.path, fault.wants) == (("reading",), "object")


def test_a_code_of_malli_is_no_choice_and_our_own_words_are_none_of_theirs() -> None:
    lacks: JSON = {
        "path": ["entry", "text"],
        "type": "malli.core/missing-key",
        "message": "missing required key",
        "value": "COPPER ALLOY BROOCH, PIN MISSING.",
    }
    sent: JSON = {"entry": {"id": 7}, "pins": "COPPER ALLOY BROOCH, PIN MISSING."}

    fault = only(read_refusal({"errors": [lacks]}, "", sent))

    assert (fault.path, fault.fault) == (("entry", "text"), Fault.MISSING)
    assert fault.options == ()


@pytest.mark.parametrize(
    ("text", "fault", "wants", "options"),
    [
        ("legibility is not good, fair, or poor", Fault.VALUE, "", ("good", "fair")),
        ("legibility is not a(n) Bool", Fault.TYPE, "boolean", ()),
        (
            (
                "Value required for key at path 'legibility'. No value associated"
                " with key CodingKeys(stringValue: 'legibility', intValue: nil)."
            ),
            Fault.MISSING,
            "",
            (),
        ),
    ],
)
def test_vapor_says_what_a_value_is_not(
    text: str, fault: Fault, wants: str, options: tuple[str, ...]
) -> None:
    told = only(
        read_refusal({"error": True, "reason": text}, "", {"legibility": "A B"})
    )

    assert (told.path, told.fault, told.wants) == (("legibility",), fault, wants)
    assert told.options[:2] == options


def test_a_code_beside_a_field_is_no_name() -> None:
    answer: JSON = [
        {
            "message": "state: bad value for restricted picklist field: submitted",
            "errorCode": "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST",
            "fields": ["state"],
        }
    ]

    assert said(answer, sent={"state": "submitted"}) == {"state": Fault.VALUE}


def test_choices_are_read_in_german() -> None:
    text = "Feld 'KZ_fertig' ist ungültig: zulässig sind J und N"
    answer: JSON = {"MELDUNG": text, "Feld": "KZ_fertig"}

    fault = only(read_refusal(answer, "", {"KZ_fertig": "Done"}))

    assert fault.options == ("J", "N")


def test_what_a_document_must_have_is_no_right() -> None:
    assert names_a_field("403 Forbidden: Document must have a _rev")
    assert not names_a_field("403 Forbidden: Document must have a valid token")


@pytest.mark.parametrize(
    ("text", "is_ours"),
    [
        ("STELLE is missing: your agent_id", True),
        ("operator must be the authenticated agent", True),
        ("specialist-id is not the specialist of this token.", True),
        ("award_no is required (number of the award, V-...)", False),
        ("slip is required", False),
    ],
)
def test_words_beside_a_name_may_describe_our_own_id(
    text: str,
    is_ours: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    assert means_our_id({"error": text}) is is_ours


@pytest.mark.parametrize(
    ("text", "shown", "others"),
    [
        ("award_no is required (number of the award, V-...)", "V-00031", "A-7"),
        ('must match pattern "^wo_[a-z0-9]+$"', "wo_71", "wx_71"),
        (
            "Invalid string: must match pattern /^[A-Z]{2}-\\d{4}$/",
            "AB-0071",
            "ab-0071",
        ),
        ('must match "[a-z]{2}"', "en", "English"),
        (
            "required; must be of the form projects/{project}/jobs/{job}",
            "projects/maps/jobs/7",
            "projects/maps/jobs/7/leases/2",
        ),
    ],
)
def test_a_form_that_is_shown_is_that_of_the_value(
    text: str, shown: str, others: str
) -> None:
    answer: JSON = {"fieldViolations": [{"field": "ref", "description": text}]}

    (fault,) = read_refusal(answer, "", {})

    assert fault.path == ("ref",)
    assert re.fullmatch(fault.form, shown)
    assert not re.fullmatch(fault.form, others)


def test_a_form_is_not_guessed_where_none_or_several_are_shown() -> None:
    assert form_in("slip is required") == ""
    assert form_in("one of A-... and B-...") == ""
    assert form_in('must match "then" schema') == ""


@pytest.mark.parametrize(
    "pattern", ["^(a+)+$", "^a*a*a*$", "^a{1,9}a{1,9}a{1,9}$", "^[z-a]+$", "^a{3,1}$"]
)
def test_no_form_is_read_that_may_take_long_or_is_none(pattern: str) -> None:
    assert form_in(f'must match pattern "{pattern}"') == ""


def test_what_is_said_of_a_whole_object_is_said_of_one_with_the_name_of_a_text() -> (
    None
):
    answer: JSON = {"errors": {"summary": {"_schema": ["Invalid input type."]}}}

    fault = only(read_refusal(answer, "", {"summary": "WORK", "ref": "7"}))

    assert (fault.path, fault.wants) == (("summary",), "object")


def test_micronauts_own_word_for_the_body_is_no_field() -> None:
    text = (
        "Failed to convert argument [request] for value [null] due to: Cannot"
        ' deserialize value of type `java.lang.Long` from String "x": not a valid'
        ' `java.lang.Long` value (through reference chain: desk.Take["number"])'
    )
    answer: JSON = {"_embedded": {"errors": [{"message": text, "path": "/request"}]}}

    fault = only(read_refusal(answer, "", {"number": "x"}))

    assert (fault.path, fault.wants) == (("number",), "integer")


def test_a_constant_is_the_only_option_and_no_name_of_a_field() -> None:
    answer: JSON = {
        "message": "body/status must be equal to constant",
        "validation": [
            {
                "instancePath": "/status",
                "keyword": "const",
                "params": {"allowedValue": "done"},
                "message": "must be equal to constant",
            }
        ],
    }

    (found,) = read_refusal(answer, "", {"status": "completed"})

    assert (found.path, found.options) == (("status",), ("done",))


@pytest.mark.parametrize("said", ["Required [id, worker]", "Missing [id, worker]"])
def test_names_may_stand_in_brackets(said: str) -> None:
    found = read_refusal({"error": said}, "", {"task_id": "x"})

    assert [(one.path, one.fault) for one in found] == [
        (("id",), Fault.MISSING),
        (("worker",), Fault.MISSING),
    ]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (
            "task_id is not a string, worker is required",
            {"task_id": Fault.TYPE, "worker": Fault.MISSING},
        ),
        ("`fast` is not a valid enum value for path `kind`.", {"kind": Fault.VALUE}),
        (
            'Field "claim" argument "worker" of type "ID!" is required, but not given',
            {"worker": Fault.MISSING},
        ),
        ("request/body must be object", {}),
    ],
)
def test_what_a_sentence_is_about_is_told_from_what_it_mentions(
    said: str, found: dict[str, Fault]
) -> None:
    sent: JSON = {"task_id": 7, "kind": "fast"}

    read = read_refusal({"error": said}, "", sent)

    assert {".".join(one.path): one.fault for one in read} == found


@pytest.mark.parametrize(
    ("said", "name", "options"),
    [
        ("Docket number is missing: give docket_no.", "docket_no", ()),
        (
            "Filer (the agent_id of the worker) is missing: give filer_id.",
            "filer_id",
            (),
        ),
        ("The text is not certified: certify must be Y.", "certify", ("Y",)),
    ],
)
def test_a_name_that_is_written_as_one_is_meant_before_words_for_it(
    said: str, name: str, options: tuple[str, ...]
) -> None:
    fault = only(read_refusal({"reason": said}, "", {"task_id": "x", "text": "A"}))

    assert (fault.path, fault.fault) == ((name,), Fault.MISSING)
    assert fault.options == options


def test_what_stands_beside_a_name_is_no_name_in_any_language() -> None:
    listed: JSON = [
        {"pole": "zlecenieId", "opis": "Pole jest wymagane (liczba)."},
        {"pole": "wykonawca", "opis": "Pole jest wymagane (tekst, agent_id osoby)."},
    ]

    told: JSON = {"komunikat": "Żądanie zawiera błędy.", "pola": listed}

    found = read_refusal({"blad": told}, "", {"task_id": 7})

    assert [(one.path, one.fault, one.means) for one in found] == [
        (("zlecenieId",), Fault.MISSING, ""),
        (("wykonawca",), Fault.MISSING, "agent_id"),
    ]


def in_dutch(code: str, told: str, field: str) -> JSON:
    """Return a refusal whose words for a name and for a sentence nobody knows."""
    return {"fout": {"code": code, "omschrijving": told, "veld": field}}


def test_the_name_that_a_sentence_quotes_is_meant_also_beside_a_code() -> None:
    told = "Verplicht veld 'leverdatum' ontbreekt; verwacht: een datum als JJJJ-MM-DD."

    fault = only(read_refusal(in_dutch("DRK-111", told, "leverdatum"), "", {"nr": 7}))

    assert (fault.path, fault.fault) == (("leverdatum",), Fault.MISSING)
    assert fault.wants == "date %Y-%m-%d"


def test_what_is_allowed_is_told_beside_the_name_that_is_not() -> None:
    told = "Onbekend veld 'nr'; toegestane velden: bon, zetwerk."

    found = read_refusal(in_dutch("DRK-113", told, "nr"), "", {"nr": 7, "bon": "B1"})

    assert {(one.path[-1], one.fault) for one in found} == {
        ("nr", Fault.UNKNOWN),
        ("bon", Fault.ALLOWED),
        ("zetwerk", Fault.ALLOWED),
    }


def test_words_of_ours_that_are_quoted_say_nothing() -> None:
    ours = "ZAAL OPEN: HALF ACHT, AANVANG ACHT UUR"
    told = f"Wijze '{ours}' is niet toegestaan; kies uit: digitaal, koerier, afhalen."
    sent: JSON = {"wijze": ours, "zetwerk": ours}

    fault = only(read_refusal(in_dutch("DRK-303", told, "wijze"), "", sent))

    assert (fault.path, fault.fault) == (("wijze",), Fault.VALUE)
    assert fault.options == ("digitaal", "koerier", "afhalen")


@pytest.mark.parametrize(
    ("shown", "form"),
    [("UU:MM", r"\d\d:\d\d"), ("hh:mm:ss", r"\d\d:\d\d:\d\d")],
)
def test_how_long_it_took_is_written_as_it_is_shown(shown: str, form: str) -> None:
    told = f"Veld 'tijd' moet een tijdsduur in de vorm {shown} zijn."

    fault = only(read_refusal(in_dutch("DRK-112", told, "tijd"), "", {"tijd": "Done"}))

    assert (fault.wants, fault.form) == ("duration", form)


def test_hours_and_minutes_after_a_date_are_a_moment() -> None:
    told = "Field 'at' must be a time as YYYY-MM-DD HH:MM."

    fault = only(read_refusal({"field": "at", "message": told}, "", {"at": "Done"}))

    assert fault.wants != "duration"


@pytest.mark.parametrize("key", ["invalidValue", "rejectedValue"])
def test_the_method_and_the_parameter_of_a_violation_are_no_objects(key: str) -> None:
    violation: JSON = {
        "path": "updateTask.taskResult.workflowInstanceId",
        "message": "Workflow Id cannot be null or empty",
        key: None,
    }

    fault = only(read_refusal({"validationErrors": [violation]}, "", {"taskId": "t-1"}))

    assert (fault.path, fault.fault) == (("workflowInstanceId",), Fault.MISSING)


@pytest.mark.parametrize("key", ["fieldName", "field_name"])
def test_the_elements_of_a_way_are_read_in_either_case(key: str) -> None:
    way: JSON = {"elements": [{key: "output"}, {key: "text"}]}
    violation: JSON = {"field": way, "message": "value is required"}

    fault = only(read_refusal({"violations": [violation]}, "", {"task": "t-1"}))

    assert fault.path == ("output", "text")


def test_the_type_before_a_name_is_that_of_its_value_in_any_language() -> None:
    said = "Il corpo deve contenere l'oggetto «Richiesta» con i dati."

    fault = only(read_refusal({"Messaggio": said}, "", {"Codice": "TG-1"}))

    assert (fault.path, fault.fault) == (("Richiesta",), Fault.MISSING)
    assert fault.wants == "object"


def test_what_stands_in_brackets_behind_a_name_is_its_type_and_its_range() -> None:
    said = "Il campo «Giorni» deve indicare i giorni previsti (intero da 1 a 15)."

    fault = only(read_refusal({"Messaggio": said}, "", {"Richiesta": {"Codice": "T"}}))

    assert (fault.path, fault.fault) == (("Giorni",), Fault.MISSING)
    assert (fault.wants, fault.options) == ("integer", ("1", "15"))


@pytest.mark.parametrize(
    ("said", "wants", "options"),
    [
        ("字段[bwnr.rq]格式错误\uff0c应为yyyy-MM-dd", "date", ()),
        ("字段[bwnr.rq]取值只能为\uff1a是、否", "", ("是", "否")),
    ],
)
def test_a_script_without_gaps_is_read_where_it_has_a_whole_way(
    said: str, wants: str, options: tuple[str, ...]
) -> None:
    sent: JSON = {"bwnr": {"rq": "Done"}, "bwt": {"lsh": "Done"}}

    fault = only(read_refusal({"fhxx": said}, "", sent))

    assert fault.path == ("bwnr", "rq")
    assert (fault.wants, fault.options) == (wants, options)


def test_the_types_that_a_sentence_lists_are_no_values() -> None:
    said = 'The type of the "agreed" attribute must be "bool", "string" given.'

    fault = only(read_refusal({"detail": said}, "", {"agreed": "Done"}))

    assert (fault.path, fault.wants) == (("agreed",), "boolean")
    assert fault.options == ()


def test_a_value_that_is_wrong_is_the_one_that_an_example_has() -> None:
    said = "Property 'output.format' should be one of: 'string', 'string'"
    error: JSON = {"summary": said, "path": "/output/format", "value": "text"}
    told: JSON = {
        "errors": [error],
        "expected": {"claimId": "", "output": {"text": " ", "format": "text/plain"}},
    }
    sent: JSON = {"claimId": "c-1", "output": {"text": "A", "format": "text"}}

    found = {one.path: one for one in read_refusal(told, "", sent)}

    fault = found["output", "format"]
    assert (fault.fault, fault.options) == (Fault.VALUE, ("text/plain",))


def test_text_that_is_valid_json_is_an_object() -> None:
    said = "Invalid `data` param: Value must be a valid JSON string"

    fault = only(read_refusal({"message": said}, "", {"data": "FOUR"}))

    assert (fault.path, fault.wants) == (("data",), "object")


def test_a_sentence_under_a_plain_word_is_about_the_name_in_it() -> None:
    said = "The form is incomplete: ReturnBy (the day of the return) is wanting."

    fault = only(read_refusal({"Reason": {"Sentence": said}}, "", {"Number": "N-1"}))

    assert (fault.path, fault.fault) == (("ReturnBy",), Fault.MISSING)


def test_a_known_phrase_is_known_with_another_explanation_in_it() -> None:
    known = {"The form is incomplete: # (the day) is wanting.": Fault.MISSING}
    said = "The form is incomplete: Lettering (the finished text) is wanting."
    told: JSON = {"Reason": {"Sentence": said}}

    fault = only(read_refusal(told, "", {"Number": "N-1"}, phrases=known))

    assert (fault.path, fault.fault) == (("Lettering",), Fault.MISSING)


def test_a_name_that_is_missed_is_asked_for_as_it_is_written() -> None:
    told = "Bad Request: data.result: Field required"
    sent: JSON = {"data": {"AgentId": "a-1", "Result": "FOUR"}}

    fault = only(read_refusal(None, told, sent))

    assert (fault.path, fault.fault) == (("data", "result"), Fault.MISSING)


def test_a_code_in_capitals_beside_a_name_is_no_name() -> None:
    row: JSON = {
        "Kod": "HIBAS_ERTEK",
        "Mezo": "KeszFelirat",
        "Szoveg": "A mező értéke szöveg kell legyen.",
    }

    fault = only(read_refusal({"Hibak": [row]}, "", {"KeszFelirat": 1}))

    assert fault.path == ("KeszFelirat",)


def test_a_name_with_a_stroke_is_one_where_ours_has_one_too() -> None:
    error: JSON = {"path": ["claim/id"], "message": "missing required key"}
    human: JSON = {"claim/id": ["missing required key"]}
    told: JSON = {"errors": [error], "humanized": human}

    fault = only(read_refusal(told, "", {"task/id": "t-1"}))

    assert (fault.path, fault.fault) == (("claim/id",), Fault.MISSING)


def test_what_ajv_lacks_is_found_under_any_name() -> None:
    error: JSON = {
        "path": "",
        "code": "required",
        "message": "must have required property 'assignmentId'",
        "info": {"missingProperty": "assignmentId"},
    }

    fault = only(read_refusal({"error": {"details": [error]}}, "", {"taskId": 4}))

    assert (fault.path, fault.fault) == (("assignmentId",), Fault.MISSING)


def test_huma_names_what_an_object_lacks_without_quotes() -> None:
    error: JSON = {
        "message": "expected required property content to be present",
        "location": "body.result",
    }

    fault = only(read_refusal({"errors": [error]}, "", {"result": {"text": "A"}}))

    assert (fault.path, fault.fault) == (("result", "content"), Fault.MISSING)


@pytest.mark.parametrize(
    ("said", "wants", "options"),
    [
        (
            "'Outcome' must be one of: Done, Left. You entered 'done'.",
            "",
            ("Done", "Left"),
        ),
        ("'Outcome' must be greater than '00:00:00'.", "duration", ()),
        ("Please give this entry as true or false.", "boolean", ()),
        ("El camp ha de ser un booleà (true o false).", "boolean", ()),
        ("El camp ha d'anar dins d'un objecte.", "object", ()),
    ],
)
def test_what_is_said_of_a_value_is_read(
    said: str, wants: str, options: tuple[str, ...]
) -> None:
    error: JSON = {"FieldName": "Outcome", "Message": said}

    fault = only(read_refusal({"Errors": [error]}, "", {"Outcome": "done"}))

    assert (fault.path, fault.wants) == (("Outcome",), wants)
    assert fault.options == options


def test_who_an_agent_is_is_told_in_brackets_in_any_language() -> None:
    said = "Falta el camp «operari» (el vostre identificador d'agent)."

    fault = only(read_refusal({"missatge": said, "camp": "operari"}, "", {"num": 7}))

    assert (fault.path, fault.means) == (("operari",), "agent_id")


def test_the_code_beside_a_name_is_nothing_that_an_object_lacks() -> None:
    remark: JSON = {
        "reference": "F3",
        "concerning": "own-work",
        "remark": "Please give this entry as true or false.",
    }

    fault = only(read_refusal({"remarks": [remark]}, "", {"own-work": {"id": "W"}}))

    assert (fault.path, fault.wants) == (("own-work",), "boolean")


def test_our_own_word_explains_the_name_that_is_quoted_before_it() -> None:
    said = "Manca il campo «Matricola»: è l'agent_id assegnato con l'iscrizione."

    fault = only(read_refusal({"Messaggio": said}, "", {"Codice": "TG-1"}))

    assert (fault.path, fault.means) == (("Matricola",), "agent_id")


def test_a_word_of_another_language_beside_a_name_is_no_second_name() -> None:
    fields: JSON = {
        "rytec": "Pole je povinné (vaše agent_id).",
        "datumDodani": "Pole je povinné (datum ve tvaru RRRR-MM-DD).",
    }
    told: JSON = {"kod": "E120", "hlaseni": "Formulář obsahuje chyby.", "pole": fields}

    found = read_refusal({"uspech": False, "chyba": told}, "", {"cisloZakazky": "Z1"})

    assert {one.path for one in found} == {("rytec",), ("datumDodani",)}


def test_the_number_of_an_error_is_no_name() -> None:
    said = "HAPI-0450: not read. HAPI-1820: Found incorrect type for element owner"

    found = read_refusal({"diagnostics": said}, "", {"owner": "a-9"})

    assert {one.path for one in found} <= {("owner",)}


@pytest.mark.parametrize(
    ("said", "path", "fault", "wants"),
    [
        (
            "Expected variables for: mutation Take($input: TakeInput!, $note: String!)",
            ("variables", "input"),
            Fault.MISSING,
            "object",
        ),
        ("SECTION LOAN_RQST NOT PRESENT.", ("LOAN_RQST",), Fault.MISSING, "object"),
        ("seal must be CCYYMMDD", ("seal",), Fault.TYPE, "date %Y%m%d"),
        (
            "seal must be an ISO 8601 duration, such as PT2H",
            ("seal",),
            Fault.TYPE,
            "duration",
        ),
        (
            "Cannot close task 7: required variable 'seal_no' is null",
            ("seal_no",),
            Fault.MISSING,
            "",
        ),
        (
            (
                "Cannot construct instance of `app.Seal` (although at least one Creator"
                " exists): no String-argument constructor/factory method to deserialize"
                ' from String value ("A SEAL OF WAX")'
            ),
            ("seal",),
            Fault.TYPE,
            "object",
        ),
    ],
)
def test_what_is_wanted_is_told_in_many_ways(
    said: str, path: tuple[str, ...], fault: Fault, wants: str
) -> None:
    found = read_refusal({"text": said}, "", {"seal": "A SEAL OF WAX"})[0]

    assert (found.path, found.fault, found.wants) == (path, fault, wants)


def test_what_an_option_means_is_told_beside_it() -> None:
    said = "FIELD METHOD: INVALID CODE. PERMITTED CODES: M (MANUAL), A (AUTOMATED)."

    fault = only(read_refusal({"text": said}, "", {"METHOD": "by hand"}))

    assert (fault.path, fault.options) == (("METHOD",), ("M", "A"))


@pytest.mark.parametrize(
    ("told", "sent", "path", "options"),
    [
        ("»Gravurtext« fehlt.", {"Auftrag": 7}, ("Gravurtext",), ()),
        ("„Napis“ nie może być pusty", {"zlecenie": 7}, ("Napis",), ()),
        ("`lease_secs` must be in 60..=3600", {"lease_secs": 1}, ("lease_secs",), ()),
        (
            "Invalid choice 'x' for field ended; choices: Done, Done with issues",
            {"ended": "x"},
            ("ended",),
            ("Done", "Done with issues"),
        ),
    ],
)
def test_quotes_ranges_and_choices_are_read_in_many_forms(
    told: str, sent: JSON, path: tuple[str, ...], options: tuple[str, ...]
) -> None:
    fault = only(read_refusal({"error": told}, "", sent))

    assert fault.path == path
    assert fault.options in (options, ("60", "3600"))


def test_labels_are_told_as_a_form_shows_them() -> None:
    said = (
        "Data Policy Exception:\n The following fields are mandatory: Assigned to, Due"
    )

    found = read_refusal({"detail": said}, "", {"sys_id": "7"})

    assert {one.path: one.fault for one in found} == {
        ("assigned_to",): Fault.MISSING,
        ("due",): Fault.MISSING,
    }


def test_names_with_hyphens_are_listed_where_others_have_them() -> None:
    said = "Your slip has no docket, finished-copy and filed-on."

    found = read_refusal({"note": said}, "", {"agent-id": "a-9", "slug": "x"})

    assert [one.path for one in found] == [
        ("docket",),
        ("finished-copy",),
        ("filed-on",),
    ]


def test_an_object_is_told_by_what_it_has() -> None:
    said = "report IS MANDATORY - OBJECT WITH rptText, typingMins"
    answer: JSON = {"errs": [{"FLD": "report", "CD": "RT-0101", "txt": said}]}

    found = read_refusal(answer, "", {"lock": 7})

    assert {one.path for one in found} == {
        ("report", "rptText"),
        ("report", "typingMins"),
    }


def test_a_day_may_be_shown_in_cyrillic_letters() -> None:
    answer: JSON = {"Реквизит": "Срок", "Сообщение": "дата (ГГГГ-\u041c\u041c-ДД)"}

    fault = only(read_refusal([answer], "", {"Срок": "сегодня"}))

    assert (fault.path, fault.wants) == (("Срок",), "date %Y-%m-%d")


def test_what_is_said_of_an_object_is_said_of_its_only_value_which_is_quoted() -> None:
    said = "'parchment' is not acceptable here."
    answer: JSON = {"where": "form.result", "problem": said}

    fault = only(
        read_refusal([answer], "", {"form": {"result": {"body": "parchment"}}})
    )

    assert fault.path == ("form", "result", "body")


def test_a_length_that_is_told_is_the_form_of_a_value() -> None:
    assert form_in("must be character length 06") == ".{6}"
    assert form_in("a text of length 6 or more") == ""


def test_names_that_are_admitted_are_told_in_french() -> None:
    told = "Le champ « graveur » n'est pas admis. Champs admis : numero, date_rendu."
    listed: JSON = [{"champ": "graveur", "libelle": told}]

    found = read_refusal({"erreurs": listed}, "", {"numero": "7", "graveur": "a-9"})

    assert ("graveur",) in {one.path for one in found if one.fault is Fault.UNKNOWN}
    assert not any(one.fault is Fault.VALUE for one in found)


@pytest.mark.parametrize(
    "said",
    [
        "o campo {} é obrigatório",
        "il campo {} è mancante",
        "falta el campo {}",
        "veld {} ontbreekt",
        "chybí pole {}",
        "поле {} отсутствует",
        "{} puuttuu",
    ],
)
def test_what_is_missed_is_told_in_many_languages(said: str) -> None:
    answer: JSON = {"error": said.format("`seal_no`")}

    fault = only(read_refusal(answer, "", {"id": "7"}))

    assert (fault.path, fault.fault) == (("seal_no",), Fault.MISSING)


def test_the_key_of_a_list_of_names_says_what_is_wrong_with_them() -> None:
    said = "Some parts of the form were left blank."
    answer: JSON = {"Ok": False, "Problem": said, "LeftBlank": ["HelperNo", "ReadyBy"]}

    found = read_refusal(answer, "", {"JobNo": 17})

    assert {one.path: one.fault for one in found} == {
        ("HelperNo",): Fault.MISSING,
        ("ReadyBy",): Fault.MISSING,
    }


@pytest.mark.parametrize(
    "told",
    [
        {"codi": "X-1", "missatge": "Falta el camp «sheet_no».", "camp": "sheet_no"},
        {"sjekk": "sheet_no", "beskjed": "«sheet_no» er påkrevd og mangler."},
    ],
)
def test_what_a_sentence_quotes_is_a_name_whatever_the_keys_are(told: JSON) -> None:
    fault = only(read_refusal({"error": told}, "", {"id": "7"}))

    assert (fault.path, fault.fault) == (("sheet_no",), Fault.MISSING)


def test_what_an_object_under_a_name_has_is_missed_inside_of_it() -> None:
    said = "an object under the heading 'retainer', stating 'docket' and 'check'."

    found = read_refusal({"text": f"Papers are presented as {said}"}, "", {"id": "7"})

    assert [(one.path, one.fault) for one in found] == [
        (("retainer", "docket"), Fault.MISSING),
        (("retainer", "check"), Fault.MISSING),
    ]


@pytest.mark.parametrize(
    ("said", "wants", "form"),
    [
        ("could not be converted to System.TimeSpan", "duration", r"\d\d:\d\d:\d\d"),
        (
            "could not be converted to System.Nullable`1[System.TimeSpan]",
            "duration",
            r"\d\d:\d\d:\d\d",
        ),
        ("could not be converted to System.Nullable`1[System.Int32]", "integer", ""),
        ("Musí být celé číslo, nejméně 1.", "integer", ""),
        ("skal være et heltall", "integer", ""),
        ("must be a liczba całkowita", "integer", ""),
        ("Root element 'spent' has no child elements", "object", ""),
    ],
)
def test_a_type_is_told_in_other_words(said: str, wants: str, form: str) -> None:
    fault = only(read_refusal({"errors": {"spent": [said]}}, "", {"spent": "a b"}))

    assert (fault.path, fault.wants, fault.form) == (("spent",), wants, form)


def test_an_element_that_is_not_found_is_missed_as_an_object() -> None:
    said = "Root element 'AssignRequest' not found in message"
    head: JSON = {"MessageId": "NPN23", "ReturnCode": "1002", "ReturnText": said}

    fault = only(read_refusal({"MessageHeader": head}, "", {"WorkOrderNo": 7}))

    assert (fault.path, fault.wants) == (("AssignRequest",), "object")


@pytest.mark.parametrize(
    "said",
    [
        "value 'x' is not valid (code list CL07: COMPL = done; NOACC = no access)",
        "INVALID CODE. PERMITTED CODES: COMPL=DONE, NOACC=NO ACCESS.",
    ],
)
def test_codes_are_told_with_their_meanings(said: str) -> None:
    told: JSON = [{"field": "closure", "message": f"closure {said}"}]

    fault = only(read_refusal({"errors": told}, "", {"closure": "x"}))

    assert fault.options == ("COMPL", "NOACC")


def test_what_a_name_means_may_stand_in_brackets() -> None:
    said = "Feltet «agentnr» mangler (agent_id fra registreringen)."

    fault = only(read_refusal({"melding": said, "felt": "agentnr"}, "", {"id": "7"}))

    assert (fault.path, fault.means) == (("agentnr",), "agent_id")


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Campo obbligatorio mancante: 'Matricola'.", "Matricola"),
        ("Falta el campo obligatorio 'Matrícula'.", "Matrícula"),
    ],
)
def test_what_is_said_of_a_name_in_other_languages_is_none(
    said: str, name: str
) -> None:
    fault = only(read_refusal({"error": said}, "", {"Codice": "7"}))

    assert (fault.path, fault.fault) == ((name,), Fault.MISSING)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("Terms must be accepted", ("terms", "boolean")),
        ("Minutes spent is not a number", ("minutes_spent", "number")),
        ("Minutes spent must be an integer", ("minutes_spent", "integer")),
        ("Note is too short (minimum is 12 characters)", ("note", "")),
        ("Note is too long (maximum is 9 characters)", ("note", "")),
    ],
)
def test_rails_tells_of_a_value_by_what_people_call_its_name(
    said: str, found: tuple[str, str]
) -> None:
    sent: JSON = {"terms": "x", "minutes_spent": "x", "note": "x"}

    fault = only(read_refusal({"errors": [said]}, "", sent))

    assert (fault.path[-1], fault.wants) == found


@pytest.mark.parametrize(
    ("said", "place", "fault"),
    [
        (
            "Value cannot be null. (Parameter 'assignedTo.application')",
            "assignedTo.application",
            Fault.MISSING,
        ),
        (
            (
                "An unexpected 'PrimitiveValue' node was found for property named"
                " 'assignedTo' when reading from the JSON reader."
                " A 'StartObject' node was expected."
            ),
            "assignedTo",
            Fault.TYPE,
        ),
        (
            (
                "One or more parameters of the operation 'claim' are missing from the"
                " request payload. The missing parameters are: assignedTo."
            ),
            "assignedTo",
            Fault.MISSING,
        ),
    ],
)
def test_what_odata_for_dotnet_says_is_read(
    said: str, place: str, fault: Fault
) -> None:
    told: JSON = {"error": {"code": "BadRequest", "message": said}}

    found = only(read_refusal(told, "", {"taskId": "7", "assignedTo": "x"}))

    assert (".".join(found.path), found.fault) == (place, fault)


def test_what_a_function_of_firebase_must_be_called_with_is_missed() -> None:
    told: JSON = {
        "error": {
            "message": 'The function must be called with one argument "gigId".',
            "status": "INVALID_ARGUMENT",
        }
    }

    assert said(told) == {"gigId": Fault.MISSING}


@pytest.mark.parametrize(
    "said",
    ['time: invalid duration "x"', "must be a duration such as '10m'"],
)
def test_go_has_durations_of_its_own(said: str) -> None:
    fault = only(read_refusal({"errors": {"spent": [said]}}, "", {"spent": "x"}))

    assert re.fullmatch(fault.form, "10m")


def test_a_way_in_a_table_may_end_in_a_word_for_a_value() -> None:
    told: JSON = {"zub": [{"florp": ["Answer", "value"], "snark": "1001"}]}

    assert said(told, sent={"TaskId": "7", "Answer": {"Text": "X"}}) == {
        "Answer.value": Fault.MISSING
    }


def test_what_is_said_in_a_known_phrase_is_said_of_any_name() -> None:
    phrases = {"vlork spab": Fault.MISSING}

    fault = only(
        read_refusal({"zub": {"summary": "vlork spab"}}, "", SENT, phrases=phrases)
    )

    assert (fault.path, fault.fault) == (("summary",), Fault.MISSING)


def test_laravel_names_an_item_of_a_list_by_its_number() -> None:
    told: JSON = {"message": "The answers 0 field must be an object."}

    assert said(told, sent={"answers": ["X"]}) == {"answers.0": Fault.TYPE}


def test_our_own_word_behind_a_colon_tells_what_a_value_means() -> None:
    told = "codice_tr non valido: indicare l'agent_id ricevuto con la registrazione"
    sent: JSON = {"codice_tr": "Claimed by an agent", "agent_id": "TR00318"}

    fault = only(read_refusal({"esito": "KO", "messaggio": told}, "", sent))

    assert (fault.path, fault.means) == (("codice_tr",), "agent_id")


def test_a_day_that_is_shown_is_no_choice_of_its_parts() -> None:
    told = "data_prevista non valida: usare il formato GG/MM/AAAA"

    fault = only(read_refusal({"messaggio": told}, "", {"data_prevista": "237"}))

    assert (fault.wants, fault.options) == ("date %d/%m/%Y", ())


@pytest.mark.parametrize(
    ("said", "options"),
    [
        ("ore_usate non valido: indicare un numero, ad es. 1,5", ("1,5",)),
        ("ore_usate: bitte Stunden angeben, z.B. 2", ("2",)),
        ("ore_usate is odd (e.g. 12/11 is none)", ()),
    ],
)
def test_a_number_that_is_an_example_would_be_right(
    said: str, options: tuple[str, ...]
) -> None:
    sent: JSON = {"ore_usate": "Completed by an agent"}

    fault = only(read_refusal({"m": said}, "", sent))

    assert (fault.path, fault.options) == (("ore_usate",), options)


def test_an_example_of_an_id_is_no_id_of_ours() -> None:
    told = "task_id non valido: indicare un numero, ad es. 42"

    fault = only(read_refusal({"m": told}, "", {"task_id": "x7"}))

    assert "42" not in fault.options


def test_what_is_quoted_in_a_question_is_asked_for() -> None:
    told = "And roughly how many 'minutes' will you need? A guess is fine."

    assert said(None, message=told) == {"minutes": Fault.MISSING}


@pytest.mark.parametrize(
    ("told", "sent", "path", "wants"),
    [
        (
            "Expected structure or null",
            {"HITId": "3Q", "Answers": ["THE QUICK COURIER"]},
            ("Answers",),
            "object",
        ),
        (
            "Expected list or null",
            {"HITId": "3Q", "Answers": {"Text": "THE QUICK COURIER"}},
            ("Answers",),
            "array",
        ),
    ],
)
def test_aws_wants_another_type_of_the_only_text(
    told: str, sent: JSON, path: tuple[str, ...], wants: str
) -> None:
    body: JSON = {"__type": "SerializationException", "message": told}

    fault = only(read_refusal(body, "", sent))

    assert (fault.path, fault.wants) == (path, wants)


def test_aws_counts_from_one_and_begins_names_with_small_letters() -> None:
    told = (
        "1 validation error detected: Value null at 'answers.1.member.freeText'"
        " failed to satisfy constraint: Member must not be null"
    )
    body: JSON = {"__type": "ValidationException", "message": told}

    assert said(body, sent={"HITId": "3Q", "Answers": [{"QuestionId": "q"}]}) == {
        "Answers.0.freeText": Fault.MISSING
    }


@pytest.mark.parametrize(
    ("body", "sent", "place"),
    [
        (
            {"errors": {"assignee": "expected Object containing 'accountId'"}},
            {"issueIdOrKey": "7", "assignee": {}},
            "assignee.accountId",
        ),
        (
            {"errorMessages": ["Missing 'transition' identifier"], "errors": {}},
            {"issueIdOrKey": "7"},
            "transition.id",
        ),
    ],
)
def test_jira_names_what_an_object_lacks(body: JSON, sent: JSON, place: str) -> None:
    assert said(body, sent=sent) == {place: Fault.MISSING}


def test_jira_shows_how_long_something_takes_with_letters() -> None:
    told = (
        "Invalid time duration entered. The format of this is ' *w *d *h *m '"
        " (representing weeks, days, hours and minutes)."
    )

    fault = only(read_refusal({"errors": {"spent": told}}, "", {"spent": "a b"}))

    assert fault.wants == "duration"
    assert re.fullmatch(fault.form, "10m")


def test_our_own_word_in_brackets_tells_what_a_name_means() -> None:
    told = 'You forgot "who" (your agent_id, so Aunt Marge knows who has it)'

    fault = only(read_refusal(None, told, {"ticket-no": "T-301"}))

    assert (fault.path, fault.means) == (("who",), "agent_id")


def test_a_number_of_letters_and_digits_is_no_number() -> None:
    told = 'You forgot "ticket-no" (the ticket number off the board, like T-301)'

    fault = only(read_refusal(None, told, {"task-id": "T-301"}))

    assert (fault.path, fault.wants) == (("ticket-no",), "")


@pytest.mark.parametrize(
    "kind",
    [
        "System.Nullable`1[System.DateTimeOffset]",
        "System.DateOnly",
        "java.time.LocalDateTime",
    ],
)
def test_types_of_moments_have_many_names(kind: str) -> None:
    told = f"The JSON value could not be converted to {kind}. Path: $.due"

    fault = only(read_refusal({"detail": told}, "", {"due": "x"}))

    assert fault.wants == "datetime"


@pytest.mark.parametrize(
    ("said", "path", "fault", "options"),
    [
        (
            (
                "Notion-Version header failed validation: Notion-Version header should"
                " be"
                ' `"2022-02-22"` or `"2022-06-28"`, instead was `"x"`.'
            ),
            ("header:Notion-Version",),
            Fault.VALUE,
            ("2022-02-22", "2022-06-28"),
        ),
        (
            (
                "Notion-Version header failed validation: Notion-Version header should"
                " be"
                " defined, instead was `undefined`."
            ),
            ("header:Notion-Version",),
            Fault.MISSING,
            (),
        ),
        (
            (
                "body failed validation: body.properties.Assignee.people[0].id should"
                " be"
                " defined, instead was `undefined`."
            ),
            ("properties", "Assignee", "people", "0", "id"),
            Fault.MISSING,
            (),
        ),
    ],
)
def test_what_notion_says_is_read(
    said: str, path: tuple[str, ...], fault: Fault, options: tuple[str, ...]
) -> None:
    found = only(read_refusal({"message": said}, "", {"task_id": "x"}))

    assert (found.path, found.fault, found.options) == (path, fault, options)


def test_a_duration_of_hours_and_minutes_is_shown_in_its_own_form() -> None:
    told = "Element 'spent' value '600s' is not valid (duration, e.g. PT1H30M)"

    fault = only(read_refusal({"text": told}, "", {"spent": "600s"}))

    assert re.fullmatch(fault.form, "PT10M")


@pytest.mark.parametrize(
    "said",
    [
        "type must be one of: text/plain, text/markdown",
        'type must be one of "text/plain" or "text/markdown"',
        "type must be text/plain or text/markdown",
    ],
)
def test_a_media_type_that_is_listed_is_a_value_and_no_way(said: str) -> None:
    fault = only(read_refusal({"error": {"message": said}}, "", {"output": "X"}))

    assert (fault.path, fault.fault) == (("type",), Fault.MISSING)
    assert fault.options == ("text/plain", "text/markdown")


def test_google_tells_the_type_of_a_name_in_other_letters_than_it_was_sent() -> None:
    told = (
        "Invalid value at 'lease_duration' (type.googleapis.com/google.protobuf."
        "Duration), Field 'leaseDuration', Illegal duration format; duration must end"
        " with 's'"
    )

    fault = only(read_refusal(None, told, {"leaseDuration": 1}))

    assert (fault.path, fault.fault) == (("leaseDuration",), Fault.TYPE)
    assert (fault.wants, fault.form) == ("duration", r"\d+s")


def test_a_name_in_other_letters_is_another_where_the_type_was_right() -> None:
    told: JSON = [{"expected": "string", "path": ["taskId"], "message": "zub florp"}]

    fault = only(read_refusal({"issues": told}, "", {"task_id": "7"}))

    assert fault.path == ("taskId",)


def test_what_lacks_in_a_relationship_lacks_in_what_it_refers_to() -> None:
    linked: JSON = {"data": {"id": "7"}}
    sent: JSON = {"data": {"relationships": {"task": linked}}}
    pointer: JSON = {"pointer": "/data/relationships/task"}
    told: JSON = {
        "detail": "Invalid resource identifier object: missing 'type' attribute",
        "source": pointer,
    }

    fault = only(read_refusal({"errors": [told]}, "", sent))

    assert fault.path == ("data", "relationships", "task", "data", "type")


@pytest.mark.parametrize(
    ("pointer", "detail", "place"),
    [
        (
            "/data",
            (
                "The resource object's type (loans) is not the type that constitute the"
                " collection represented by the endpoint (returns)."
            ),
            "data.type",
        ),
        (
            "/data/relationships/book",
            "Incorrect relation type. Expected returns, received loans.",
            "data.relationships.book.data.type",
        ),
    ],
)
def test_django_tells_the_type_that_json_api_wants(
    pointer: str, detail: str, place: str
) -> None:
    linked: JSON = {"data": {"type": "loans", "id": "7"}}
    sent: JSON = {"data": {"type": "loans", "relationships": {"book": linked}}}
    told: JSON = {"errors": [{"detail": detail, "source": {"pointer": pointer}}]}

    fault = only(read_refusal(told, "", sent))

    assert (".".join(fault.path), fault.fault) == (place, Fault.VALUE)
    assert fault.options == ("returns",)


def test_codes_to_choose_from_may_stand_in_brackets() -> None:
    told = "ORA-20101: own_work_yn must be supplied (Y or N)\nORA-06512: at line 2"

    fault = only(read_refusal({"cause": told}, "", {"case_id": 7}))

    assert (fault.path, fault.options) == (("own_work_yn",), ("Y", "N"))


def test_a_date_is_told_by_a_validator_of_perl() -> None:
    told: JSON = {"message": "Does not match date format.", "path": "/body/ready_by"}
    sent: JSON = {"ready_by": "2026-11-29T21:59:13Z"}

    fault = only(read_refusal({"errors": [told]}, "", sent))

    assert (fault.path, fault.fault, fault.wants) == (
        ("ready_by",),
        Fault.TYPE,
        "datetime",
    )


def test_the_only_media_type_is_one_value() -> None:
    fault = only(read_refusal({"error": "type must be text/plain"}, "", {"body": "X"}))

    assert "plain" not in fault.options


@pytest.mark.parametrize(
    ("said", "name", "options"),
    [
        ("Document id (_id) must not be empty", "_id", ()),
        ("owner must be the agent_id of the agent that claims.", "owner", ()),
        ("status of a claimed document must be 'taken'.", "status", ("taken",)),
        ("status of a record with an output must be 'done'.", "status", ("done",)),
    ],
)
def test_rules_for_a_document_name_what_it_lacks(
    said: str, name: str, options: tuple[str, ...]
) -> None:
    sent: JSON = {"task_id": "job:7", "agent_id": "clerk-1"}

    fault = only(read_refusal({"error": "forbidden", "reason": said}, "", sent))

    assert (fault.path, fault.fault) == ((name,), Fault.MISSING)
    assert fault.options == options


@pytest.mark.parametrize(
    "said",
    [
        "We cannot instruct you unless 'conflict-check' is declared true.",
        "'conflict-check' must be marked as true",
    ],
)
def test_what_has_to_be_declared_true_is_a_yes_or_a_no(said: str) -> None:
    sent: JSON = {"retainer": {"docket": "7", "conflict-check": "Claimed by an agent"}}

    fault = only(read_refusal({"memorandum": {"text": said}}, "", sent))

    assert (fault.path[-1], fault.wants) == ("conflict-check", "boolean")


def test_a_list_of_objects_is_wanted_with_what_each_has() -> None:
    told = "Invalid type given. Array of objects with the property 'id' expected"
    errors: JSON = [{"key": "assignees", "errors": [{"code": "x", "message": told}]}]

    fault = only(read_refusal({"errors": errors}, "", {"assignees": "a-1"}))

    assert (fault.path, fault.fault) == (("assignees", "0", "id"), Fault.MISSING)


def test_a_pattern_may_have_strokes_and_its_letters_are_no_choice() -> None:
    told = "value does not match regex pattern `^tasks/[a-z0-9]{6}$`"
    details: JSON = [{"field": "parent", "description": told}]

    fault = only(read_refusal({"details": details}, "", {"parent": "a b c"}))

    assert (fault.form, fault.options) == ("tasks/[a-z0-9]{6}", ())


def test_a_name_with_a_stroke_may_stand_beside_objects() -> None:
    sent: JSON = {"errand/id": "7", "delivery": {"result": "X"}}
    path: JSON = ["delivery", "media-type"]
    told: JSON = {"errors": [{"path": path, "message": "missing required key"}]}

    fault = only(read_refusal(told, "", sent))

    assert fault.path == ("delivery", "media-type")


def test_a_name_may_end_in_a_question() -> None:
    told: JSON = {"humanized": {"attested?": ["missing required key"]}}

    fault = only(read_refusal(told, "", {"delivery/id": "7"}))

    assert (fault.path, fault.fault) == (("attested?",), Fault.MISSING)


@pytest.mark.parametrize(
    ("behind", "wants", "options"),
    [
        ("data prevista de entrega, AAAA-MM-DD", "date %Y-%m-%d", ()),
        ("aceite do encerramento, S ou N", "", ("S", "N")),
    ],
)
def test_what_is_missed_in_other_words_is_explained_in_brackets(
    behind: str, wants: str, options: tuple[str, ...]
) -> None:
    said = f"ORA-20010: Parâmetro obrigatório não informado: nm_campo ({behind})."

    fault = only(read_refusal({"cause": said}, "", {"nr_tarefa": 7}))

    assert (fault.path, fault.wants, fault.options) == (("nm_campo",), wants, options)


def test_the_form_of_a_day_is_no_name() -> None:
    said = "dt_prevista inválida: 'Claimed by an agent'. Formato esperado: AAAA-MM-DD."
    sent: JSON = {"nr_tarefa": 7, "dt_prevista": "Claimed by an agent"}

    fault = only(read_refusal({"cause": said}, "", sent))

    assert (fault.path, fault.wants) == (("dt_prevista",), "date %Y-%m-%d")


def test_a_fault_that_is_told_with_a_code_is_one_of_the_object_of_its_name() -> None:
    told: JSON = {"code": "validation_required", "message": "Cannot be blank."}
    sent: JSON = {"claim": "c-1", "work": {"text": "X Y"}}

    fault = only(read_refusal({"data": {"work": told}, "status": 400}, "", sent))

    assert (fault.path, fault.fault) == (("work",), Fault.MISSING)


def test_r_lists_what_an_argument_may_be() -> None:
    told = 'Error in match.arg(confidence, c("low", "high")): \'arg\' must be NULL'

    fault = only(read_refusal({"message": told}, "", {"confidence": 1}))

    assert (fault.path, fault.options) == (("confidence",), ("low", "high"))


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("claim: Ref is empty: want the Ref of an errand on the list", "Ref"),
        ("deliver: Lease is empty: want the Lease that claiming gave you", "Lease"),
        ("claim: claim is required", "claim"),
    ],
)
def test_what_was_asked_for_may_stand_before_what_is_said(said: str, name: str) -> None:
    fault = only(read_refusal(None, said, {}))

    assert (fault.path, fault.fault) == ((name,), Fault.MISSING)


def test_a_duration_that_is_too_long_is_sent_as_long_as_it_may_be() -> None:
    told = "Ensure this value is less than or equal to 0:05:00."

    fault = only(read_refusal({"lease_time": [told]}, "", {"lease_time": "00:10:00"}))

    assert (fault.fault, fault.options) == (Fault.VALUE, ("0:05:00",))


def test_a_list_of_what_is_allowed_is_no_name() -> None:
    beside: JSON = {"code": "BAD_REQUEST", "allowed": ["variables", "extensions"]}
    said = 'Unexpected parameter "task_id" in the request body.'
    told: JSON = {"errors": [{"message": said, "extensions": beside}], "data": None}

    fault = only(read_refusal(told, "", {"task_id": "7"}))

    assert (fault.path, fault.fault) == (("task_id",), Fault.UNKNOWN)


def test_graphql_shows_our_body_before_it_says_what_was_meant() -> None:
    said = (
        'Variable "$input" got invalid value { task_id: "VG" }; Field "task_id" is not'
        ' defined by type "ClaimTaskInput". Did you mean "taskId"?'
    )
    sent: JSON = {"variables": {"input": {"task_id": "VG"}}}

    fault = only(read_refusal({"errors": [{"message": said}]}, "", sent))

    assert (fault.path[-1], fault.fault) == ("task_id", Fault.UNKNOWN)


@pytest.mark.parametrize(
    ("shown", "wants"),
    [
        ("Y-m-d H:i:s", "date %Y-%m-%d %H:%M:%S"),
        ("d/m/Y", "date %d/%m/%Y"),
        ("'%Y-%m-%d %H:%M'", "date %Y-%m-%d %H:%M"),
        ("dd.MM.yyyy HH:mm", "date %d.%m.%Y %H:%M"),
    ],
)
def test_a_moment_is_shown_as_different_languages_write_it(
    shown: str, wants: str
) -> None:
    told: JSON = {"errors": {"due": [f"The due field must match the format {shown}."]}}

    fault = only(read_refusal(told, "", {"due": "2026-11-29T23:40:17Z"}))

    assert (fault.path, fault.wants) == (("due",), wants)


def test_go_says_which_duration_is_none_and_not_where_it_stands() -> None:
    told = 'time: invalid duration "Claimed by an agent" (example: "15m")'
    sent: JSON = {"JobID": "7", "Hold": "Claimed by an agent"}

    fault = only(read_refusal(None, told, sent))

    assert (fault.path, fault.wants) == (("Hold",), "duration")
    assert re.fullmatch(fault.form, "10m")


def test_a_text_that_is_too_short_is_not_missed() -> None:
    told = "String must contain at least 10 character(s)"
    issues: JSON = [{"code": "too_small", "message": told, "path": ["summary"]}]

    fault = only(read_refusal({"issues": issues}, "", {"summary": "OLD ANNA"}))

    assert (fault.path, fault.fault) == (("summary",), Fault.VALUE)


def test_a_field_that_is_missed_may_be_called_as_a_value_of_ours_is() -> None:
    told = "delivery: missing field `text` at line 1 column 27"
    sent: JSON = {"delivery": {"kind": "text"}, "order_id": "7"}

    assert said(None, sent=sent, message=told) == {"delivery.text": Fault.MISSING}


def test_a_value_of_ours_that_is_quoted_is_no_field() -> None:
    told = 'Value "text" is invalid according to enum declaration {"plain", "json"}'
    sent: JSON = {"format": "text", "task_id": "7"}
    body: JSON = {"error": {"message": told, "target": "format"}}

    fault = only(read_refusal(body, "", sent))

    assert (fault.path, fault.options) == (("format",), ("plain", "json"))


def test_beside_all_fields_that_there_are_no_other_one_is_known() -> None:
    told = "unknown field `task_id`, expected one of `order_id`, `delivery` at line 1"
    sent: JSON = {"task_id": "7", "result": "X", "order_id": "o"}

    assert said(None, Fault.UNKNOWN, sent=sent, message=told) == {
        "task_id": Fault.UNKNOWN,
        "result": Fault.UNKNOWN,
    }


def test_what_may_be_meant_is_not_all_that_there_is() -> None:
    told = "Unknown field `task_id`, did you mean `order_id` or `order`?"
    sent: JSON = {"task_id": "7", "result": "X", "order_id": "o"}

    assert said(None, Fault.UNKNOWN, sent=sent, message=told) == {
        "task_id": Fault.UNKNOWN
    }


def test_what_was_sent_is_not_the_type_that_is_wanted() -> None:
    body: JSON = {"errors": {"request": "expected Integer to be a Hash"}}

    fault = only(read_refusal(body, "", {"request": 7}))

    assert (fault.fault, fault.wants) == (Fault.TYPE, "object")


def test_what_is_said_of_a_record_as_a_whole_names_its_field_in_words() -> None:
    body: JSON = {"errors": {"base": ["The required order_id field is missing."]}}

    assert said(body) == {"order_id": Fault.MISSING}


def test_a_field_of_ours_may_be_called_base() -> None:
    body: JSON = {"errors": {"base": ["is not a colour"]}}

    assert said(body, sent={"base": "x"}) == {"base": Fault.VALUE}


def test_a_state_has_to_go_to_the_second_of_two_and_not_to_a_third() -> None:
    told = 'status must go from "open" to "taken", not "done"'

    fault = only(read_refusal({"reason": told}, "", {"status": "done"}))

    assert (fault.path, fault.options) == (("status",), ("taken",))


def test_what_is_wrong_at_a_place_may_be_told_by_a_name() -> None:
    told: JSON = {"errors": [{"name": "notResolvable", "path": ["assignedTo"]}]}

    fault = only(read_refusal(told, "", {"assignedTo": "7", "entry": "8"}))

    assert (fault.path, fault.fault) == (("assignedTo",), Fault.VALUE)


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("Comment: Body: cannot be blank", "comment.body"),
        ("Comment: cannot be blank", "comment"),
        ("Note: Body: cannot be blank", "comment"),
    ],
)
def test_of_two_labels_the_second_is_in_the_first(told: str, name: str) -> None:
    fault: JSON = {"description": told, "error": "BlankValue"}

    assert said({"details": {"comment": [fault]}}) == {name: Fault.MISSING}


def test_of_faults_at_a_path_the_sentences_around_them_are_no_fields() -> None:
    faults: JSON = [
        {"path": "/", "message": "Properties not allowed: task_id, agent_id."},
        {"path": "/order", "message": "Missing property."},
    ]
    told: JSON = {"text": "the envelope does not validate", "errors": faults}

    assert said({"header": {"sender": "depot"}, "body": told}).keys() == {
        "task_id",
        "agent_id",
        "order",
    }


def test_what_is_wrong_at_the_root_is_of_no_field_below() -> None:
    fault: JSON = {"path": "/", "message": "Properties not allowed: text."}
    told: JSON = {"body": {"errors": {"text": fault}}}

    found = read_refusal(told, "", {"body": {}, "text": "x"})

    assert all(one.path for one in found)


def test_a_body_that_is_one_value_has_no_name() -> None:
    found = read_refusal({"error": "unknown field `a`"}, "", "a")

    assert all(one.path for one in found)


def test_a_name_that_was_sent_may_have_any_letters() -> None:
    body: JSON = {"error": "task_id is missing"}

    assert said(body, sent={"\\1": 7}) == {"task_id": Fault.MISSING}


@pytest.mark.parametrize(("what", "is_member"), [("is missing", True), ("bad", False)])
def test_a_pointer_to_the_body_is_a_member_only_where_that_is_missing(
    what: str, *, is_member: bool
) -> None:
    told: JSON = {"errors": [{"pointer": "/body", "detail": what}]}

    found = read_refusal(told, "", {"x": 1})

    assert (("body",) in [one.path for one in found]) is is_member


def test_a_json_pointer_is_from_the_root_wherever_it_is_told() -> None:
    fault: JSON = {"pointer": "/order/id", "detail": "is missing"}
    told: JSON = {"order": {"errors": [fault]}}

    assert said(told, sent={"order": {}}) == {"order.id": Fault.MISSING}


def malli(schema: str, message: str) -> JSON:
    fault: JSON = {"path": ["entry"], "schema": schema, "message": message}
    return {"errors": [fault], "coercion": "malli"}


def test_a_schema_of_malli_has_the_type_that_is_wanted() -> None:
    told = malli("[:map {:closed true} [:text :string]]", "invalid type")

    fault = only(read_refusal(told, "", {"entry": "x"}))

    assert (fault.path, fault.wants) == (("entry",), "object")


def test_of_a_key_that_is_missing_the_schema_is_of_what_is_around_it() -> None:
    told = malli("[:map [:entry :uuid]]", "missing required key")

    fault = only(read_refusal(told, "", {}))

    assert (fault.path, fault.fault, fault.wants) == (("entry",), Fault.MISSING, "")


@pytest.mark.parametrize(
    "told",
    [
        'expected the parameters under "engagement"',
        "The request body must be wrapped in an object called `engagement`.",
    ],
)
def test_a_sentence_says_in_which_object_everything_has_to_be(told: str) -> None:
    fault = only(read_refusal({"error": told}, "", {"task_id": "7"}))

    assert (fault.path, fault.fault, fault.wants, fault.is_root) == (
        ("engagement",),
        Fault.MISSING,
        "object",
        True,
    )


def test_an_object_that_is_there_is_not_asked_for_around_everything() -> None:
    told = 'expected the parameters under "engagement"'

    found = read_refusal({"error": told}, "", {"engagement": {"task_id": "7"}})

    assert {one.fault for one in found} <= {Fault.VALUE}


def test_what_is_not_among_some_words_has_to_be_one_of_them() -> None:
    told = "is not an event of a card (reserve, deliver, settle)"
    body: JSON = {"errors": {"name": [told]}}

    fault = only(read_refusal(body, "", {"event": {"name": "start"}}))

    assert fault.options == ("reserve", "deliver", "settle")


def test_a_list_is_wanted_where_go_has_a_slice() -> None:
    told = "json: cannot unmarshal string into Go struct field X.rows of type []string"

    fault = only(read_refusal({"error": told}, "", {"rows": "x"}))

    assert (fault.path, fault.wants) == (("rows",), "array")


def test_an_enum_may_have_one_value() -> None:
    body: JSON = {"errors": [{"field": "kind", "message": "Not in enum list: scribe."}]}

    assert only(read_refusal(body, "", {"kind": "x"})).options == ("scribe",)


def test_a_parameter_that_must_be_something_is_no_unknown_one() -> None:
    told = "Invalid parameter: lane must be a string"

    assert said(None, sent={"lane": 3}, message=told) == {"lane": Fault.TYPE}
