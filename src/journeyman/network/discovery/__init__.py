"""The discovery documents: read politely, compared, and never trusted."""
