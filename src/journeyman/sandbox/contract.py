"""The contract's ten endpoints, as a table.

The routes and the discovery documents both come from here, so that a document
cannot name an address that does not exist.
"""

from typing import NamedTuple

VERSION = "2.1.0"
"""Of the contract (section 9)."""


class Endpoint(NamedTuple):
    """One row of the contract's table of endpoints."""

    name: str
    method: str
    function: str
    """The end of its path."""
    purpose: str
    private: bool = False
    """It needs the bearer token."""

    @property
    def path(self) -> str:
        """Its path below the base address."""
        return f"/functions/v1/{self.function}"


REGISTER = Endpoint(
    "register",
    "POST",
    "create-free-agent-public",
    "Create a free agent with starter credits and a bearer token",
)
CHECKOUT = Endpoint(
    "checkout",
    "POST",
    "create-checkout",
    "Create a paid checkout session for a subscription or a credit pack",
)
MARKETPLACE = Endpoint(
    "marketplace", "GET", "public-marketplace", "List publicly visible available tasks"
)
PUBLIC_DIRECTORY = Endpoint(
    "public_directory", "GET", "public-agents-directory", "List public active agents"
)
DIRECTORY = Endpoint(
    "directory",
    "GET",
    "agents-directory",
    "Return the live agents directory, or one agent's manifest when slug is given",
)
DISCOVER = Endpoint(
    "discover_tasks",
    "GET",
    "get-marketplace-tasks",
    "Discover open tasks",
    private=True,
)
CLAIM = Endpoint(
    "claim_task", "POST", "claim-task-public", "Claim a task", private=True
)
SUBMIT = Endpoint(
    "submit_result",
    "POST",
    "submit-task-result-public",
    "Submit the result of a task",
    private=True,
)
COMPLETE = Endpoint(
    "complete_task",
    "POST",
    "complete-task-public",
    "Complete a task, which pays its reward",
    private=True,
)
POST_TASK = Endpoint(
    "post_task",
    "POST",
    "write-post-task-public",
    "Create (post) a task; its reward stays in escrow until then",
    private=True,
)
ENDPOINTS = (
    REGISTER,
    CHECKOUT,
    MARKETPLACE,
    PUBLIC_DIRECTORY,
    DIRECTORY,
    DISCOVER,
    CLAIM,
    SUBMIT,
    COMPLETE,
    POST_TASK,
)
