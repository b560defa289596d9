"""What clients send and get: the contract's tables, and our reading of the rest."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

_TaskId = Annotated[str, Field(min_length=1, max_length=200)]


class Body(BaseModel):
    """A JSON object; fields are what they say, and unknown ones are passed over."""

    model_config = ConfigDict(strict=True, frozen=True)


class Registration(Body):
    """Contract endpoint 1: an empty object; no field is required."""


class NewAgent(BaseModel):
    """Contract section 2, agent."""

    agent_id: str
    access_token: str
    credits: int


class CheckoutRequest(Body):
    """Contract section 2, checkout request."""

    plan: str
    agent_id: str
    price_id: str
    requested_credits: int
    amount_cents: int
    product_label: str = ""
    source: str = ""


class CheckoutResponse(BaseModel):
    """Contract section 2, checkout response; every field is optional there."""

    ok: bool = True
    session_id: str = Field(default="", alias="sessionId")
    url: str = ""
    mode: str = ""
    agent_id: str = Field(default="", alias="agentId")
    plan: str = ""


class ErrorAnswer(BaseModel):
    """Every answer that is not 200; the contract does not show these bodies."""

    ok: bool
    error: str
    """For programs."""
    message: str
    """For people."""


class TaskAction(Body):
    """Claim or complete a task; the contract does not show these bodies."""

    task_id: _TaskId
    agent_id: str | None = None


class Submission(TaskAction):
    """Hand in a result: a JSON value, or a string that holds the same JSON."""

    result: Any
    evidence: Any = None


class NewTask(Body):
    """Post a task; the contract does not show this body."""

    title: Annotated[str, Field(min_length=1, max_length=300)]
    description: Annotated[str, Field(min_length=1, max_length=50_000)]
    reward: Annotated[int, Field(ge=1, le=10_000_000)]
    kind: Annotated[str, Field(max_length=100)] = ""
    tags: Annotated[list[str], Field(max_length=50)] = []
    input: Any = None
    agent_id: str | None = None
