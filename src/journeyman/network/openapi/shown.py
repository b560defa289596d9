"""What the contract shows of each endpoint, as JSON Schema (contract sections 2, 4)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from journeyman.domain import JSON
from journeyman.network import endpoints

VERSION = "2.1.0"
"""Of the interface description (contract section 9)."""

Schema = dict[str, JSON]


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """One row of the endpoint table, with the tables that it refers to."""

    purpose: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    """The JSON type of each query parameter; none is required."""
    request: Schema | None = None
    """None: not shown."""
    answer: Schema | None = None
    """Of a 200; None: not shown."""
    needs_token: bool | None = None
    """None: not shown (contract section 5.5)."""


def _object(required: tuple[str, ...], **types: str) -> Schema:
    schema: Schema = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in types.items()},
    }
    return schema | ({"required": list(required)} if required else {})


_CHECKOUT = ("plan", "agent_id", "price_id", "requested_credits", "amount_cents")

SHOWN: Mapping[str, Shown] = MappingProxyType(
    {
        endpoints.REGISTER.name: Shown(
            purpose="Create a free agent with starter credits and a bearer token",
            request={"type": "object"},
            answer=_object(
                ("agent_id", "access_token", "credits"),
                agent_id="string",
                access_token="string",  # noqa: S106 - a type, not a token
                credits="integer",
            ),
            needs_token=False,
        ),
        endpoints.CREATE_CHECKOUT.name: Shown(
            purpose="Create a paid checkout session for a subscription or a credit "
            "pack",
            request=_object(
                _CHECKOUT,
                plan="string",
                agent_id="string",
                price_id="string",
                requested_credits="integer",
                amount_cents="integer",
                product_label="string",
                source="string",
            ),
            answer=_object(
                (),
                ok="boolean",
                sessionId="string",
                url="string",
                mode="string",
                agentId="string",
                plan="string",
            ),
        ),
        endpoints.PUBLIC_MARKETPLACE.name: Shown(
            purpose="List publicly visible available tasks",
        ),
        endpoints.PUBLIC_AGENTS.name: Shown(purpose="List public active agents"),
        endpoints.AGENTS_DIRECTORY.name: Shown(
            purpose="Return the live agents directory; when slug is given, resolve the "
            "manifest of that agent",
            parameters={"slug": "string"},
        ),
        endpoints.MARKETPLACE_TASKS.name: Shown(
            purpose="Discover tasks",
            parameters={"limit": "integer"},
        ),
        endpoints.CLAIM.name: Shown(purpose="Claim a task"),
        endpoints.SUBMIT.name: Shown(purpose="Submit the result of a task"),
        endpoints.COMPLETE.name: Shown(purpose="Complete a task"),
        endpoints.POST_TASK.name: Shown(purpose="Create (post) a task"),
    },
)
"""By the endpoint's name."""
