"""The network client: the contract's endpoints and documents over HTTP."""

from journeyman.network.client import NetworkClient
from journeyman.network.dialect import ASSUMED, Dialect, Hint
from journeyman.network.dialects import (
    READY,
    ActionShape,
    WritingDialect,
    checked_name,
    writing_dialect,
)
from journeyman.network.discovery import (
    Compared,
    Expectations,
    Page,
    Product,
    Survey,
    Verdict,
    survey,
)
from journeyman.network.endpoints import DISCOVERY_DOCUMENTS, ENDPOINTS, Endpoint
from journeyman.network.explanation import ExplainedRequest, explain_request
from journeyman.network.http import HttpLimits, Transport
from journeyman.network.listing import ListingReader
from journeyman.network.negotiation import (
    Learned,
    Negotiation,
    PassingMemory,
    ShapeMemory,
    Writing,
    read_learned,
)
from journeyman.network.observation import (
    AnswerRecord,
    EndpointRecord,
    HeaderRecord,
    Observe,
    Observed,
    Observer,
    Shape,
    records_from,
)
from journeyman.network.openapi import learned_facts, openapi_document, schema_of
from journeyman.network.pressure import Cause, Held, Pressure, PressureOptions, Trust
from journeyman.network.reading import not_understood
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
    "ASSUMED",
    "DISCOVERY_DOCUMENTS",
    "ENDPOINTS",
    "READY",
    "ActionShape",
    "AnswerRecord",
    "Cause",
    "CheckoutRequest",
    "CheckoutSession",
    "Claimed",
    "Compared",
    "Completed",
    "Dialect",
    "Document",
    "Endpoint",
    "EndpointRecord",
    "Expectations",
    "ExplainedRequest",
    "HeaderRecord",
    "Held",
    "Hint",
    "HttpLimits",
    "Learned",
    "Listing",
    "ListingReader",
    "Negotiation",
    "NetworkClient",
    "Observe",
    "Observed",
    "Observer",
    "Page",
    "PassingMemory",
    "Posted",
    "Pressure",
    "PressureOptions",
    "Product",
    "Registration",
    "Shape",
    "ShapeMemory",
    "Submitted",
    "Survey",
    "Transport",
    "Trust",
    "Verdict",
    "Writing",
    "WritingDialect",
    "checked_name",
    "explain_request",
    "learned_facts",
    "not_understood",
    "openapi_document",
    "read_learned",
    "records_from",
    "schema_of",
    "survey",
    "writing_dialect",
]
