"""The network client: the contract's endpoints and documents over HTTP."""

from journeyman.network.client import NetworkClient
from journeyman.network.dialect import SNAKE, Dialect, Hint
from journeyman.network.endpoints import DISCOVERY_DOCUMENTS, ENDPOINTS, Endpoint
from journeyman.network.http import HttpLimits, Transport
from journeyman.network.receipts import (
    CheckoutRequest,
    CheckoutSession,
    Claimed,
    Completed,
    Document,
    Listing,
    Posted,
    Registration,
    Submitted,
)

__all__ = [
    "DISCOVERY_DOCUMENTS",
    "ENDPOINTS",
    "SNAKE",
    "CheckoutRequest",
    "CheckoutSession",
    "Claimed",
    "Completed",
    "Dialect",
    "Document",
    "Endpoint",
    "Hint",
    "HttpLimits",
    "Listing",
    "NetworkClient",
    "Posted",
    "Registration",
    "Submitted",
    "Transport",
]
