"""A neighbourhood co-op's errand board: CouchDB with a thin Express server before it.

An errand is a document. Claiming, answering and closing are each a change to the document:
one posts the fields that change with the document's _id and the _rev that one read (or
If-Match), and the server merges them. The rules stand in the design document's
validate_doc_update, which throws the first thing it dislikes as forbidden. What comes back
is what CouchDB says, {"ok", "id", "rev"}; listings are views with include_docs.
"""

import hashlib
import json
import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ERRANDS = (
    ("Bins", "7.00", "the green bins go out on thursday night"),
    ("Stairwell", "4.00", "no prams on the second landing, please"),
    ("Laundry", "6.00", "the left dryer eats socks"),
    ("Courtyard", "9.00", "summer party from four until the lamps go out"),
    ("Post", "5.00", "parcels for the mill are kept at number six"),
    ("Bikes", "8.00", "untagged bicycles leave on the first of may"),
    ("Cellar", "3.00", "the light switch is behind the shelf"),
    ("Garden", "10.00", "water the beans before the roses"),
    ("Roof", "6.00", "only the chimney sweep may use the hatch"),
)
FIXED = ("type", "title", "sign", "fee", "fee_in", "posted_at", "ask")
SPECIAL = ("_id", "_rev", "_attachments", "_deleted", "_revisions")
HANDS = 3  # how many errands one member may have under way


class Thrown(Exception):
    def __init__(self, status: int, error: str, reason: str) -> None:
        super().__init__(reason)
        self.response = Response(status, {"error": error, "reason": reason})


def forbidden(reason: str) -> Thrown:
    return Thrown(403, "forbidden", reason)


def sealed(doc: dict[str, Any]) -> dict[str, Any]:
    """Give a document its next revision."""
    number = int(doc.get("_rev", "0-").partition("-")[0]) + 1
    content = json.dumps([number, doc], sort_keys=True).encode()
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
    head = {"_id": doc["_id"], "_rev": f"{number}-{digest}"}
    return head | {k: v for k, v in doc.items() if k not in head}


def update(inner: Callable[..., Response]) -> Callable[..., Response]:
    @wraps(inner)
    def outer(self: "CouchErrands", request: Request) -> Response:
        try:
            return inner(self, request)
        except Thrown as thrown:
            return thrown.response

    return outer


class CouchErrands(Backend):
    """Nine errands; every answer to a change carries the next rev."""

    def __init__(self) -> None:
        super().__init__()
        self.members: dict[str, dict[str, Any]] = {}
        self.docs: dict[str, dict[str, Any]] = {}
        posted = datetime.now(UTC) - timedelta(days=2)
        for n, (title, fee, sign) in enumerate(ERRANDS):
            doc = {
                "_id": f"errand:{posted.year}:{n * 7 + 112}",
                "type": "errand",
                "status": "open",
                "title": f"Sign for: {title}",
                "ask": "We paint our signs in capitals. Send the text back that way.",
                "sign": sign,
                "fee": fee,
                "fee_in": "credits",
                "posted_at": (posted + timedelta(minutes=9 * n)).isoformat(
                    timespec="seconds"
                ),
            }
            self.docs[doc["_id"]] = sealed(doc)

    def texts(self) -> dict[str, str]:
        return {name: doc["sign"] for name, doc in self.docs.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, {"error": "not_found", "reason": "missing"})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(21)
        self.members[token] = {"name": f"member-{secrets.token_hex(3)}", "credits": 100}
        return Response(
            200,
            {
                "agent_id": self.members[token]["name"],
                "access_token": token,
                "credits": 100,
            },
        )

    def member(self, request: Request) -> dict[str, Any]:
        if not request.token:
            words = "You are not authorized to access this db."
            raise Thrown(401, "unauthorized", words)
        if request.token not in self.members:
            raise Thrown(401, "unauthorized", "Token is incorrect.")
        return self.members[request.token]

    def view(self, request: Request) -> Response:
        number = {"limit": 6, "skip": 0}
        for name in number:
            asked = request.query.get(name)
            if asked is None:
                continue
            if not re.fullmatch(r"\d{1,9}", asked):
                words = f"Invalid value for positive integer: {json.dumps(asked)}"
                raise Thrown(400, "query_parse_error", words)
            number[name] = int(asked)
        status = request.query.get("status", "open")
        rows = [
            {
                "id": doc["_id"],
                "key": [doc["status"], doc["posted_at"]],
                "value": None,
                "doc": dict(doc),
            }
            for doc in self.docs.values()
            if doc["status"] == status
        ]
        skip = number["skip"]
        return Response(
            200,
            {
                "total_rows": len(rows),
                "offset": skip,
                "rows": rows[skip : skip + min(number["limit"], 50)],
            },
        )

    @update
    def marketplace(self, request: Request) -> Response:
        return self.view(request)

    @update
    def tasks(self, request: Request) -> Response:
        self.member(request)
        return self.view(request)

    def read(self, request: Request) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the stored document and the one that it would become."""
        try:
            body = request.json()
        except ValueError:
            raise Thrown(400, "bad_request", "invalid UTF-8 JSON") from None
        if not isinstance(body, dict):
            words = "Request body must be a JSON object"
            raise Thrown(400, "bad_request", words)
        name = body.get("_id")
        if name is None or name == "":
            raise Thrown(400, "illegal_docid", "Document id must not be empty")
        if not isinstance(name, str):
            raise Thrown(400, "illegal_docid", "Document id must be a string")
        for field in body:
            if field.startswith("_") and field not in SPECIAL:
                words = f"Bad special document member: {field}"
                raise Thrown(400, "doc_validation", words)
        old = self.docs.get(name)
        if old is None:
            raise Thrown(404, "not_found", "missing")
        tag = (
            (request.headers.get("If-Match") or "")
            .strip()
            .removeprefix("W/")
            .strip('"')
        )
        rev = body.get("_rev") or tag
        if not rev:
            words = "No _rev given: which revision do you want to change?"
            raise Thrown(409, "conflict", words)
        if tag and tag != rev:
            words = "Document rev and etag have different values"
            raise Thrown(400, "bad_request", words)
        if not isinstance(rev, str) or not re.fullmatch(r"\d+-[0-9a-f]{32}", rev):
            raise Thrown(400, "bad_request", "Invalid rev format")
        if rev != old["_rev"]:
            raise Thrown(409, "conflict", "Document update conflict.")
        if body.get("_deleted"):
            raise forbidden("Only the board may delete errands")
        new = old | {k: v for k, v in body.items() if not k.startswith("_")}
        for field in FIXED:
            if new[field] != old[field]:
                raise forbidden(f"Field can't be changed: {field}")
        return old, new

    def validate(
        self,
        member: dict[str, Any],
        old: dict[str, Any],
        new: dict[str, Any],
        before: str,
        after: str,
    ) -> None:
        """Check what all three changes have in common."""
        if old.get("taken_by", member["name"]) != member["name"]:
            raise forbidden(f"Only {old['taken_by']} may change this errand")
        if old["status"] != before:
            raise forbidden(f"Errand is {old['status']}, this is for {before} ones")
        if new["status"] != after:
            written = json.dumps(new["status"])
            raise forbidden(
                f'status must go from "{before}" to "{after}", not {written}'
            )

    def stored(self, new: dict[str, Any], **more: Any) -> Response:
        doc = self.docs[new["_id"]] = sealed(new)
        return Response(
            200,
            {"ok": True, "id": doc["_id"], "rev": doc["_rev"], **more},
            {"ETag": f'"{doc["_rev"]}"'},
        )

    @update
    def claim(self, request: Request) -> Response:
        member = self.member(request)
        old, new = self.read(request)
        self.validate(member, old, new, "open", "taken")
        if not new.get("taken_by"):
            raise forbidden("Document must have a taken_by")
        if new["taken_by"] != member["name"]:
            words = f"taken_by must be the member who writes, {member['name']}"
            raise forbidden(words)
        mine = [d for d in self.docs.values() if d.get("taken_by") == member["name"]]
        if sum(doc["status"] != "done" for doc in mine) >= HANDS:
            raise forbidden(f"You have {HANDS} errands under way, finish one first")
        self.book.claimed(new["_id"])
        return self.stored(new)

    @update
    def submit(self, request: Request) -> Response:
        member = self.member(request)
        old, new = self.read(request)
        self.validate(member, old, new, "taken", "answered")
        if new["taken_by"] != old["taken_by"]:
            raise forbidden("Field can't be changed: taken_by")
        if not new.get("answer"):
            raise forbidden("Document must have a answer")
        if not isinstance(new["answer"], str):
            raise forbidden("answer must be a string")
        if new["answer"].strip() != new["sign"].upper():
            raise forbidden("answer is not what the sign says, in capitals")
        return self.stored(new)

    @update
    def complete(self, request: Request) -> Response:
        member = self.member(request)
        old, new = self.read(request)
        self.validate(member, old, new, "answered", "done")
        for field in ("taken_by", "answer"):
            if new[field] != old[field]:
                raise forbidden(f"Field can't be changed: {field}")
        credits_ = int(float(new["fee"]))
        self.book.pay(new["_id"], credits_)
        member["credits"] += credits_
        return self.stored(new, paid=new["fee"], balance=f"{member['credits']}.00")
