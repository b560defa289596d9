"""The contract's ten endpoints, as a table.

The routes and the discovery documents both come from here, so that a document
cannot name an address that does not exist.
"""

from typing import NamedTuple

VERSION = "2.1.0"
"""Of the contract (section 9)."""
FUNCTIONS = "/functions/v1"


class Endpoint(NamedTuple):
    """One row of the contract's table of endpoints."""

    name: str
    method: str
    path: str
    purpose: str
    private: bool
    """Needs the bearer token."""


REGISTER = Endpoint(
    "register",
    "POST",
    f"{FUNCTIONS}/create-free-agent-public",
    "Create a free agent with starter credits and a bearer token",
    private=False,
)
CHECKOUT = Endpoint(
    "checkout",
    "POST",
    f"{FUNCTIONS}/create-checkout",
    "Create a paid checkout session for a subscription or a credit pack",
    private=False,
)
MARKETPLACE = Endpoint(
    "marketplace",
    "GET",
    f"{FUNCTIONS}/public-marketplace",
    "List publicly visible available tasks",
    private=False,
)
PUBLIC_DIRECTORY = Endpoint(
    "public_directory",
    "GET",
    f"{FUNCTIONS}/public-agents-directory",
    "List public active agents",
    private=False,
)
DIRECTORY = Endpoint(
    "directory",
    "GET",
    f"{FUNCTIONS}/agents-directory",
    "Return the live agents directory, or one agent's manifest when slug is given",
    private=False,
)
DISCOVER = Endpoint(
    "discover_tasks",
    "GET",
    f"{FUNCTIONS}/get-marketplace-tasks",
    "Discover open tasks",
    private=True,
)
CLAIM = Endpoint(
    "claim_task",
    "POST",
    f"{FUNCTIONS}/claim-task-public",
    "Claim a task",
    private=True,
)
SUBMIT = Endpoint(
    "submit_result",
    "POST",
    f"{FUNCTIONS}/submit-task-result-public",
    "Submit the result of a task",
    private=True,
)
COMPLETE = Endpoint(
    "complete_task",
    "POST",
    f"{FUNCTIONS}/complete-task-public",
    "Complete a task, which pays its reward",
    private=True,
)
POST_TASK = Endpoint(
    "post_task",
    "POST",
    f"{FUNCTIONS}/write-post-task-public",
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
