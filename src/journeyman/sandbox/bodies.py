"""What clients send and get where the contract shows it.

These bodies are the same in every dialect; `dialects` has those of the actions.
"""

from pydantic import BaseModel, ConfigDict, Field


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
