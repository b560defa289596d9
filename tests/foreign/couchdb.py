"""A CouchDB: documents with _id and _rev, and a validate_doc_update function.

Tasks come from a view with include_docs. Every action is an update of the task's document:
it names the document by _id and carries its latest _rev, which each answer gives as `rev`.
What the design document's function throws arrives as 403 "forbidden", as CouchDB sends it.
Fields beyond those are kept, as in any document, unless they begin with an underscore.
"""

import hashlib
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

LINES = (
    "relax said the sofa to the chair",
    "a view is only an index with manners",
    "the attic keeps every old revision",
    "nobody deletes a postcard for good",
    "conflicts are settled over cold tea",
    "the couch remembers where you sat",
    "replicate the recipe to the cottage",
    "two lamps agree on the same shadow",
    "eventually the kettle is consistent",
    "the cushion hides a second coin",
    "map the garden before you reduce it",
    "tombstones grow moss in the database",
)


class CouchError(Exception):
    """An error with CouchDB's two members."""

    def __init__(self, status: int, error: str, reason: str) -> None:
        super().__init__(reason)
        self.status, self.error, self.reason = status, error, reason


def next_rev(doc: dict[str, Any]) -> str:
    """Return the revision that an update makes: a counter and a hash."""
    generation = int(doc["_rev"].partition("-")[0]) + 1
    digest = hashlib.sha256(repr(sorted(doc.items())).encode()).hexdigest()[:32]
    return f"{generation}-{digest}"


class CouchDb(Backend):
    """Twelve documents."""

    def __init__(self) -> None:
        super().__init__()
        self.docs: dict[str, dict[str, Any]] = {}
        for number, line in enumerate(LINES):
            key = f"task:{secrets.token_hex(8)}"
            self.docs[key] = {
                "_id": key,
                "_rev": f"1-{secrets.token_hex(16)}",
                "type": "task",
                "state": "open",
                "line": line,
                "bounty": number % 7 + 2,
            }
        self.users: dict[str, str] = {}
        self.owners: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return {key: doc["line"] for key, doc in self.docs.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, {"error": "not_found", "reason": "missing"})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        user, token = f"org.couchdb.user:{secrets.token_hex(4)}", secrets.token_hex(24)
        self.users[token] = user
        answer = {"ok": True, "agent_id": user, "access_token": token, "credits": 100}
        return Response(201, answer)

    def tasks(self, request: Request) -> Response:
        docs = [doc for doc in self.docs.values() if doc["state"] == "open"]
        limit = request.query.get("limit", "")
        if limit and not limit.isdigit():
            reason = f"Invalid value for integer: {limit!r}"
            return Response(400, {"error": "query_parse_error", "reason": reason})
        rows = [
            {
                "id": doc["_id"],
                "key": ["open", doc["_id"]],
                "value": {"rev": doc["_rev"]},
                "doc": doc,
            }
            for doc in sorted(docs, key=lambda one: str(one["_id"]))
        ]
        page = rows[: int(limit)] if limit else rows
        return Response(body={"total_rows": len(rows), "offset": 0, "rows": page})

    marketplace = tasks

    def update(self, request: Request, was: str, state: str) -> Response:
        """Update a document, as `_bulk_docs` or PUT does, or say why not."""
        try:
            body, doc = self.opened(request)
            self.validate(request, body, doc, was)
        except CouchError as no:
            return Response(no.status, {"error": no.error, "reason": no.reason})
        doc["state"] = state
        doc["_rev"] = next_rev(doc)
        if state == "claimed":
            self.owners[doc["_id"]] = self.user(request)
            self.book.claimed(doc["_id"])
        if state == "done":
            self.book.pay(doc["_id"], doc["bounty"])
        return Response(201, {"ok": True, "id": doc["_id"], "rev": doc["_rev"]})

    def user(self, request: Request) -> str:
        if request.token not in self.users:
            raise CouchError(401, "unauthorized", "You are not authorized.")
        return self.users[request.token]

    def opened(self, request: Request) -> tuple[dict[str, Any], dict[str, Any]]:
        self.user(request)
        try:
            body = request.json()
        except ValueError as fault:
            raise CouchError(400, "bad_request", "invalid UTF-8 JSON") from fault
        if not isinstance(body, dict):
            raise CouchError(400, "bad_request", "Document must be a JSON object")
        for name in body:
            if name.startswith("_") and name not in {"_id", "_rev"}:
                reason = f"Bad special document member: {name}"
                raise CouchError(400, "doc_validation", reason)
        if "_id" not in body:
            raise CouchError(400, "bad_request", "Document must have an _id")
        if not isinstance(body["_id"], str):
            raise CouchError(400, "illegal_docid", "Document id must be a string")
        doc = self.docs.get(body["_id"])
        if doc is None:
            raise CouchError(404, "not_found", "missing")
        if "_rev" not in body:
            raise CouchError(400, "bad_request", "Document update must have a _rev")
        if not isinstance(body["_rev"], str) or "-" not in body["_rev"]:
            raise CouchError(400, "bad_request", "Invalid rev format")
        if body["_rev"] != doc["_rev"]:
            raise CouchError(409, "conflict", "Document update conflict.")
        return body, doc

    def validate(
        self, request: Request, body: dict[str, Any], doc: dict[str, Any], was: str
    ) -> None:
        """Run the design document's validate_doc_update."""
        if was != "open" and self.owners.get(doc["_id"]) != self.user(request):
            raise CouchError(403, "forbidden", "Only the claimant may change this.")
        if doc["state"] != was:
            raise CouchError(409, "conflict", "Document update conflict.")
        if was != "claimed":
            return
        if "output" not in body:
            raise CouchError(403, "forbidden", "Document must have an output field.")
        if not isinstance(body["output"], str):
            raise CouchError(403, "forbidden", "output must be a string.")
        if body["output"] != doc["line"].upper():
            raise CouchError(403, "forbidden", "The output is wrong.")

    def claim(self, request: Request) -> Response:
        return self.update(request, "open", "claimed")

    def submit(self, request: Request) -> Response:
        return self.update(request, "claimed", "delivered")

    def complete(self, request: Request) -> Response:
        return self.update(request, "delivered", "done")
