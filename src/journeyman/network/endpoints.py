"""The contract's endpoints and documents as data (contract section 4)."""

from dataclasses import dataclass
from typing import Literal

from journeyman.network.dialect import ASSUMED

Method = Literal["GET", "POST"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One row of the contract's endpoint table."""

    number: int
    method: Method
    path: str
    """Relative to the base address."""
    name: str
    """Our word for it; the log and the dialect use it."""
    changes_state: bool
    """Whether a lost answer leaves it open if something happened."""

    @property
    def private(self) -> bool:
        """Whether it takes the bearer token: an assumption, see `dialect`."""
        return self.name in ASSUMED.private


REGISTER = Endpoint(
    number=1,
    method="POST",
    path="/functions/v1/create-free-agent-public",
    name="register",
    changes_state=True,
)
CREATE_CHECKOUT = Endpoint(
    number=2,
    method="POST",
    path="/functions/v1/create-checkout",
    name="create_checkout",
    changes_state=True,
)
PUBLIC_MARKETPLACE = Endpoint(
    number=3,
    method="GET",
    path="/functions/v1/public-marketplace",
    name="public_marketplace",
    changes_state=False,
)
PUBLIC_AGENTS = Endpoint(
    number=4,
    method="GET",
    path="/functions/v1/public-agents-directory",
    name="public_agents",
    changes_state=False,
)
AGENTS_DIRECTORY = Endpoint(
    number=5,
    method="GET",
    path="/functions/v1/agents-directory",
    name="agents_directory",
    changes_state=False,
)
MARKETPLACE_TASKS = Endpoint(
    number=6,
    method="GET",
    path="/functions/v1/get-marketplace-tasks",
    name="marketplace_tasks",
    changes_state=False,
)
CLAIM = Endpoint(
    number=7,
    method="POST",
    path="/functions/v1/claim-task-public",
    name="claim",
    changes_state=True,
)
SUBMIT = Endpoint(
    number=8,
    method="POST",
    path="/functions/v1/submit-task-result-public",
    name="submit",
    changes_state=True,
)
COMPLETE = Endpoint(
    number=9,
    method="POST",
    path="/functions/v1/complete-task-public",
    name="complete",
    changes_state=True,
)
POST_TASK = Endpoint(
    number=10,
    method="POST",
    path="/functions/v1/write-post-task-public",
    name="post_task",
    changes_state=True,
)

ENDPOINTS: tuple[Endpoint, ...] = (
    REGISTER,
    CREATE_CHECKOUT,
    PUBLIC_MARKETPLACE,
    PUBLIC_AGENTS,
    AGENTS_DIRECTORY,
    MARKETPLACE_TASKS,
    CLAIM,
    SUBMIT,
    COMPLETE,
    POST_TASK,
)

DISCOVERY_DOCUMENTS: tuple[str, ...] = (
    "/.well-known/agent.json",
    "/.well-known/open-registration.json",
    "/.well-known/agent-gateway.json",
    "/.well-known/ai-network.json",
    "/.well-known/agent-directory.json",
    "/.well-known/agents.json",
    "/.well-known/capabilities.json",
    "/.well-known/agent-protocol.json",
    "/llms.txt",
    "/for-ai-agents.html",
    "/robots.txt",
    "/sitemap.xml",
)
"""Read with GET from the portal (contract section 4, static discovery documents)."""
