"""Networks as OpenAPI describes them, each in another style, with examples.

What an answer shows is always the same; what a request has to be is Prism's to judge.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from journeyman.domain.tasks import JSON

ACTIONS = ("claim", "submit", "complete")
PATHS = {
    "claim": "/functions/v1/claim-task-public",
    "submit": "/functions/v1/submit-task-result-public",
    "complete": "/functions/v1/complete-task-public",
}
AGENT = "agt-5501"
WORK = "WRITE THIS IN CAPITALS"
"""The result that is handed in."""


@dataclass(frozen=True)
class Described:
    """A network: what it lists, what its actions answer, and what they have to be."""

    listing: JSON
    answers: Mapping[str, JSON]
    schemas: Mapping[str, JSON]
    meant: Mapping[str, JSON]
    """What each body has to say, whatever else it says."""
    most_refused: int = 4
    """Refusals of one action, as long as nobody has described it."""

    def document(self) -> JSON:
        """Return the OpenAPI description, references and examples included."""
        paths = {**_READS, "/functions/v1/get-marketplace-tasks": _read(self.listing)}
        paths["/functions/v1/public-marketplace"] = _read(self.listing)
        for action in ACTIONS:
            reference: JSON = {"$ref": f"#/components/schemas/{action}"}
            paths[PATHS[action]] = _write(reference, self.answers[action])
        return {
            "openapi": "3.1.0",
            "info": {"title": "A network", "version": "2.1.0"},
            "paths": paths,
            "components": {
                "schemas": dict(self.schemas),
                "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            },
        }


def _json(**content: JSON) -> JSON:
    return {"application/json": content}


def _answers(example: JSON) -> JSON:
    return {"200": {"description": "Success.", "content": _json(example=example)}}


def _read(example: JSON) -> JSON:
    return {"get": {"responses": _answers(example)}}


def _write(schema: JSON, example: JSON, *, is_private: bool = True) -> JSON:
    body: JSON = {"required": True, "content": _json(schema=schema)}
    security: list[JSON] = [{"token": []}] if is_private else []
    responses = _answers(example)
    return {"post": {"requestBody": body, "responses": responses, "security": security}}


_ANY: JSON = {"type": "object"}
_JOINED: JSON = {"agent_id": AGENT, "access_token": "t-93-prism", "credits": 100}
_READS: dict[str, JSON] = {
    "/functions/v1/create-free-agent-public": _write(_ANY, _JOINED, is_private=False),
    "/functions/v1/create-checkout": _write(_ANY, {"ok": True}),
    "/functions/v1/public-agents-directory": _read({"agents": []}),
    "/functions/v1/agents-directory": _read({"agents": []}),
    "/functions/v1/write-post-task-public": _write(_ANY, {"ok": True}),
}


def _object(required: Mapping[str, JSON], **optional: JSON) -> dict[str, JSON]:
    """Return the schema of an object that may have these and nothing else."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [*required],
        "properties": {**required, **optional},
    }


TEXT: JSON = {"type": "string", "minLength": 1}
NUMBER: JSON = {"type": "integer"}

_FLAT = "tk-8137"
FLAT = Described(
    listing={
        "tasks": [
            {
                "task_id": _FLAT,
                "title": "Capitals",
                "description": "write this in capitals",
                "reward_credits": 12,
                "status": "open",
            },
            {"task_id": "tk-8138", "title": "More", "status": "open"},
        ]
    },
    answers={
        "claim": {"ok": True, "task_id": _FLAT, "status": "claimed"},
        "submit": {"ok": True, "task_id": _FLAT, "status": "submitted"},
        "complete": {"ok": True, "status": "completed", "credits_earned": 12},
    },
    schemas={
        "claim": _object({"task_id": TEXT, "agent_id": TEXT}),
        "submit": _object(
            {"task_id": TEXT, "agent_id": TEXT, "output": TEXT}, notes=TEXT
        ),
        "complete": _object({"task_id": TEXT}),
    },
    meant={
        "claim": {"task_id": _FLAT, "agent_id": AGENT},
        "submit": {"task_id": _FLAT, "agent_id": AGENT, "output": WORK},
        "complete": {"task_id": _FLAT},
    },
)
"""Flat, in snake case, and strict."""

_JOB = 4711
_DELIVERED: dict[str, JSON] = _object(
    {"content": TEXT, "format": {"type": "string", "enum": ["text", "markdown"]}}
)
NESTED = Described(
    listing={
        "openJobs": [
            {
                "id": _JOB,
                "jobTitle": "Capitals",
                "description": "write this in capitals",
                "rewardCredits": 12,
                "jobStatus": "open",
            }
        ]
    },
    answers={
        "claim": {"success": True, "job": {"id": _JOB, "jobStatus": "claimed"}},
        "submit": {"success": True, "job": {"id": _JOB, "jobStatus": "submitted"}},
        "complete": {
            "success": True,
            "job": {"id": _JOB, "jobStatus": "completed"},
            "creditsEarned": 12,
        },
    },
    schemas={
        "claim": _object({"claim": _object({"jobId": NUMBER}, agentId=TEXT)}),
        "submit": _object(
            {"submission": _object({"jobId": NUMBER, "result": _DELIVERED})}
        ),
        "complete": _object({"completion": _object({"jobId": NUMBER})}),
    },
    meant={
        "claim": {"claim": {"jobId": _JOB}},
        "submit": {
            "submission": {
                "jobId": _JOB,
                "result": {"content": WORK, "format": "text"},
            }
        },
        "complete": {"completion": {"jobId": _JOB}},
    },
    most_refused=5,
)
"""In camel case, with an object for each action, integers as ids, a result inside."""

_CLAIM, _DELIVERY = (
    "7f0b3c52-5a0e-4f0e-9c27-1f6d2a94b310",
    "c2f4a1de-93b7-4a53-8d1e-55b0f7e6a902",
)
_UUID: JSON = {"type": "string", "format": "uuid"}
GIVEN = Described(
    listing={
        "Items": [
            {
                "TaskId": "3b0c9e0e-7f3d-4a53-9a55-0d6b1f1f7a11",
                "Title": "Capitals",
                "Description": "write this in capitals",
                "Reward": 12,
                "Status": "Open",
            }
        ]
    },
    answers={
        "claim": {"ClaimId": _CLAIM, "Status": "Claimed"},
        "submit": {"SubmissionId": _DELIVERY, "Status": "Submitted"},
        "complete": {"Status": "Completed", "CreditsEarned": 12},
    },
    schemas={
        "claim": _object({"TaskId": _UUID, "AgentId": TEXT}),
        "submit": _object({"ClaimId": _UUID, "Result": TEXT}),
        "complete": _object({"ClaimId": _UUID, "SubmissionId": _UUID}),
    },
    meant={
        "claim": {"TaskId": "3b0c9e0e-7f3d-4a53-9a55-0d6b1f1f7a11", "AgentId": AGENT},
        "submit": {"ClaimId": _CLAIM, "Result": WORK},
        "complete": {"ClaimId": _CLAIM, "SubmissionId": _DELIVERY},
    },
    most_refused=5,
)
"""In Pascal case; it wants what its earlier answers gave."""


def _resource(kind: str, attributes: dict[str, JSON]) -> dict[str, JSON]:
    constant: JSON = {"type": "string", "const": kind}
    inner = _object({"type": constant, "attributes": attributes})
    return _object({"data": inner})


def _shown(kind: str, number: str, attributes: JSON) -> JSON:
    return {"data": {"type": kind, "id": number, "attributes": attributes}}


_ORDER = "8137"
RESOURCES = Described(
    listing={
        "data": [
            {
                "type": "tasks",
                "id": _ORDER,
                "attributes": {
                    "title": "Capitals",
                    "description": "write this in capitals",
                    "reward": 12,
                    "status": "open",
                },
            }
        ]
    },
    answers={
        "claim": _shown("claims", "91", {"status": "claimed"}),
        "submit": _shown("submissions", "92", {"status": "submitted"}),
        "complete": _shown(
            "completions", "93", {"status": "completed", "credits_earned": 12}
        ),
    },
    schemas={
        "claim": _resource("claims", _object({"task_id": TEXT}, agent_id=TEXT)),
        "submit": _resource("submissions", _object({"task_id": TEXT, "content": TEXT})),
        "complete": _resource("completions", _object({"task_id": TEXT})),
    },
    meant={
        "claim": {"data": {"type": "claims", "attributes": {"task_id": _ORDER}}},
        "submit": {
            "data": {
                "type": "submissions",
                "attributes": {"task_id": _ORDER, "content": WORK},
            }
        },
        "complete": {
            "data": {"type": "completions", "attributes": {"task_id": _ORDER}}
        },
    },
    most_refused=6,
)
"""Resources with attributes, as JSON:API has them."""

NETWORKS: Mapping[str, Described] = {
    "flat": FLAT,
    "nested": NESTED,
    "given": GIVEN,
    "resources": RESOURCES,
}
