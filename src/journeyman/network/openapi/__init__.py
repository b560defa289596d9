"""The contract as an OpenAPI document: the half that is shown, and what was learned."""

from journeyman.network.openapi.document import learned_facts, openapi_document
from journeyman.network.openapi.schema import schema_of

__all__ = ["learned_facts", "openapi_document", "schema_of"]
