"""A Convex deployment behind HTTP actions: arguments in `args`, results in `value`.

A function's arguments are checked by its validator, whose complaint quotes the object and
the whole validator; what a validator does not have is refused. Inserting returns the new
document's id and nothing more: a claim answers with a bare string. Numbers are floats. Lists
come a page at a time, with isDone and continueCursor.
"""

import json
import secrets
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]

BODIES = (
    "the scheduler sleeps under the stairs",
    "reactive puddles after every storm",
    "subscribe to the smell of bread",
    "an index of all the grey doors",
    "the query returned with muddy boots",
    "mutations are common in the orchard",
    "cron sweeps the hall at dawn",
    "the cursor blinks at the moon",
    "pour the stream into the kettle",
    "a schema for building birdhouses",
    "optimistic ducks cross the motorway",
    "the snapshot is slightly blurred",
)
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
PAGE = 5
VALIDATORS = {
    "claim": {"listingId": "listings"},
    "submit": {"claimId": "claims", "content": ""},
    "complete": {"claimId": "claims"},
}


class ConvexError(Exception):
    """What a function threw."""

    def __init__(self, words: str, status: int = 400) -> None:
        super().__init__(words)
        self.status = status


def new_id(table: str) -> str:
    return table[0] + "".join(secrets.choice(ALPHABET) for _ in range(31))


def written(table: str) -> str:
    """Return a member's validator as it is written."""
    return f'v.id("{table}")' if table else "v.string()"


def check(args: Any, schema: dict[str, str]) -> None:
    """Do what a validator does; the first fault is thrown."""
    whole = ", ".join(f"{name}: {written(table)}" for name, table in schema.items())
    told = f"\n\nObject: {json.dumps(args)}\nValidator: v.object({{{whole}}})"
    for name in schema:
        if name not in args:
            raise ConvexError(
                f"ArgumentValidationError: Object is missing the required field `{name}`."
                f" Consider wrapping the field validator in `v.optional(...)` if this is"
                f" expected.{told}"
            )
    for name in args:
        if name not in schema:
            raise ConvexError(
                f"ArgumentValidationError: Object contains extra field `{name}` that is"
                f" not in the validator.{told}"
            )
    for name, table in schema.items():
        value = args[name]
        if not isinstance(value, str):
            raise ConvexError(
                "ArgumentValidationError: Value does not match validator.\n"
                f"Path: .{name}\nValue: {json.dumps(value)}\nValidator: {written(table)}"
            )
        if table and (len(value) != 32 or value[0] != table[0]):
            raise ConvexError(
                f"ArgumentValidationError: Found ID {json.dumps(value)} from another"
                f" table, which does not match the table name in validator"
                f" `{written(table)}`.\nPath: .{name}"
            )


class Convex(Backend):
    """Twelve listings."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, str] = {}
        self.listings: dict[str, Json] = {}
        for n, content in enumerate(BODIES):
            one = new_id("listings")
            self.listings[one] = {
                "_id": one,
                "_creationTime": 1_760_000_000_000.25 + n * 1000,
                "body": content,
                "price": float(n % 5 + 1),
                "status": "open",
            }
        self.claims: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return {one: row["body"] for one, row in self.listings.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, "No matching routes found")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = new_id("agents"), secrets.token_urlsafe(30)
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def succeeded(self, value: Any) -> Response:
        return Response(200, {"status": "success", "value": value, "logLines": []})

    def tasks(self, request: Request) -> Response:
        rows = [row for row in self.listings.values() if row["status"] == "open"]
        after = request.query.get("cursor", "")
        ids = [*self.listings]
        if after:
            if after not in ids:
                return self.failed(ConvexError("InvalidCursor: Failed to parse cursor"))
            rows = [row for row in rows if ids.index(row["_id"]) > ids.index(after)]
        limit = request.query.get("limit", "")
        size = min(int(limit), PAGE) if limit.isdigit() and int(limit) else PAGE
        shown = rows[:size]
        value = {
            "page": shown,
            "isDone": len(rows) <= size,
            "continueCursor": shown[-1]["_id"] if shown else after,
        }
        return self.succeeded(value)

    def failed(self, no: ConvexError) -> Response:
        words = f"[Request ID: {secrets.token_hex(8)}] Server Error\nUncaught {no}"
        told = {"status": "error", "errorMessage": words, "logLines": []}
        return Response(no.status, told)

    def call(
        self, request: Request, action: str, function: Callable[[Json], Any]
    ) -> Response:
        """Run a mutation with the arguments of a body."""
        if request.token not in self.agents:
            told = {"code": "Unauthenticated", "message": "Could not verify the token"}
            return Response(401, told)
        try:
            body = request.json()
        except ValueError:
            return Response(400, {"code": "BadJsonBody", "message": "expected value"})
        args = body.get("args") if isinstance(body, dict) else None
        if not isinstance(args, dict):
            words = "missing field `args`"
            if isinstance(body, dict) and "args" in body:
                words = "args: invalid type, expected a map"
            return Response(400, {"code": "BadJsonBody", "message": words})
        try:
            check(args, VALIDATORS[action])
            return self.succeeded(function(args))
        except ConvexError as no:
            return self.failed(no)

    def claim(self, request: Request) -> Response:
        return self.call(request, "claim", self.on_claim)

    def on_claim(self, args: Json) -> str:
        row = self.listings.get(args["listingId"])
        if not row:
            raise ConvexError("ConvexError: Listing not found", 404)
        if row["status"] != "open":
            raise ConvexError("ConvexError: Listing is already claimed", 409)
        row["status"] = "claimed"
        self.book.claimed(row["_id"])
        claim = new_id("claims")
        self.claims[claim] = row["_id"]
        return claim

    def held(self, args: Json) -> Json:
        if args["claimId"] not in self.claims:
            raise ConvexError("ConvexError: Claim not found", 404)
        return self.listings[self.claims[args["claimId"]]]

    def submit(self, request: Request) -> Response:
        return self.call(request, "submit", self.on_submit)

    def on_submit(self, args: Json) -> None:
        row = self.held(args)
        if args["content"] != row["body"].upper():
            raise ConvexError("ConvexError: The content was not accepted", 422)
        if row["status"] == "claimed":
            row["status"] = "submitted"

    def complete(self, request: Request) -> Response:
        return self.call(request, "complete", self.on_complete)

    def on_complete(self, args: Json) -> Json:
        row = self.held(args)
        if row["status"] == "claimed":
            raise ConvexError("ConvexError: Nothing was submitted", 409)
        if row["status"] == "submitted":
            row["status"] = "done"
            self.book.pay(row["_id"], int(row["price"]))
        return {"status": "done", "credited": row["price"]}
