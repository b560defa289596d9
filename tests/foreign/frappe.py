"""A Frappe site with whitelisted methods: exc_type, tracebacks, JSON in JSON in JSON.

A document is known by its `name`. A method takes the arguments that it has and drops the
others; one that it misses is Python's TypeError, status 500. frappe.throw is 417, and its
sentence stands in `_server_messages`, a list as JSON text whose members are JSON texts, with
the names of documents in bold. Answers are under `message`. Lists have limit_start and a
page length of 20. Whoever saves a document shows which version he has read.
"""

import itertools
import json
import secrets
import traceback
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]

SUBJECTS = (
    "the quotation expired on tuesday",
    "reorder two hundred brass hinges",
    "an invoice fell behind the radiator",
    "the auditor likes strong coffee",
    "stock was counted by candlelight",
    "the supplier moved to the island",
    "post the journal before lunch",
    "a customer returned the left boot",
    "the budget hides in sheet seven",
    "please print the gate pass",
)
PAGE = 20
METHODS = {
    "claim": "claim_work_item",
    "submit": "submit_work",
    "complete": "close_work",
}


class FrappeError(Exception):
    """An exception of Frappe's, with the status that it is answered with."""

    def __init__(self, kind: str, status: int, words: str) -> None:
        super().__init__(words)
        self.kind, self.status = kind, status


def bold(name: object) -> str:
    return f"<strong>{name}</strong>"


class Frappe(Backend):
    """Ten work items."""

    def __init__(self) -> None:
        super().__init__()
        self.users: dict[str, str] = {}
        self.clock = itertools.count(1)
        self.assignments: dict[str, Json] = {}
        self.documents: dict[str, Json] = {
            f"WORK-2025-{n:05}": {
                "doctype": "Work Item",
                "name": f"WORK-2025-{n:05}",
                "subject": "In capitals, please",
                "description": text,
                "credits": float(n % 4 + 1),
                "status": "Open",
                "docstatus": 0,
                "owner": "Administrator",
                "modified": self.now(),
            }
            for n, text in enumerate(SUBJECTS, 17)
        }

    def now(self) -> str:
        return datetime.fromtimestamp(1.75e9 + next(self.clock), UTC).strftime(
            "%Y-%m-%d %H:%M:%S.%f"
        )

    def texts(self) -> dict[str, str]:
        return {name: one["description"] for name, one in self.documents.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = f"{secrets.token_hex(8)}:{secrets.token_hex(8)}"
        self.users[token] = f"agent{self.book.registrations:03}@example.com"
        told = {"agent_id": self.users[token], "access_token": token, "credits": 100}
        return Response(200, told)

    def tasks(self, request: Request) -> Response:
        start = int(request.query.get("limit_start", "0") or 0)
        limit = request.query.get("limit_page_length") or request.query.get("limit")
        every = [*self.documents.values()]
        return Response(200, {"message": every[start : start + int(limit or PAGE)]})

    def failure(self, error: Exception) -> Response:
        """Return what Frappe answers when a method raises."""
        kind, status = type(error).__name__, 500
        path = kind
        if known := isinstance(error, FrappeError):
            kind, status = error.kind, error.status
            path = f"frappe.exceptions.{kind}"
        trace = "".join(traceback.format_exception_only(error))
        told: Json = {
            "exception": f"{path}: {error}",
            "exc_type": kind,
            "exc": json.dumps([f"Traceback (most recent call last):\n{trace}"]),
        }
        if known:
            message = {
                "message": str(error),
                "title": "Message",
                "indicator": "red",
                "raise_exception": 1,
            }
            told["_server_messages"] = json.dumps([json.dumps(message)])
        return Response(status, told)

    def call(
        self, request: Request, action: str, method: Any, *wanted: str
    ) -> Response:
        """Run a whitelisted method with those of the body's members that it takes."""
        try:
            body = self.form(request)
            absent = [name for name in wanted if name not in body]
            if not absent:
                told = method(*(body[name] for name in wanted))
                return Response(200, {"message": told})
            names = " and ".join(f"'{name}'" for name in absent)
            if len(absent) > 2:
                names = ", ".join(f"'{one}'" for one in absent[:-1])
                names += f", and '{absent[-1]}'"
            return self.failure(
                TypeError(
                    f"{METHODS[action]}() missing {len(absent)} required positional"
                    f" argument{'s'[: len(absent) > 1]}: {names}"
                )
            )
        except (FrappeError, ValueError) as error:
            return self.failure(error)

    def form(self, request: Request) -> Json:
        if request.token not in self.users:
            raise FrappeError("AuthenticationError", 401, "Authentication failed")
        body = request.json()
        return body if isinstance(body, dict) else {}

    def fetched(self, table: dict[str, Json], kind: str, name: object) -> Json:
        if not isinstance(name, str) or name not in table:
            told = f"{kind} {bold(name)} not found"
            raise FrappeError("DoesNotExistError", 404, told)
        return table[name]

    def saved(self, document: Json, modified: object, **changes: Any) -> None:
        if modified != document["modified"]:
            raise FrappeError(
                "TimestampMismatchError",
                417,
                "Error: Document has been modified after you have opened it"
                f" ({document['modified']}, {modified}). Please refresh to get the"
                " latest document.",
            )
        document.update(changes, modified=self.now())

    def claim(self, request: Request) -> Response:
        return self.call(request, "claim", self.on_claim, "work_item")

    def on_claim(self, work_item: object) -> Json:
        item = self.fetched(self.documents, "Work Item", work_item)
        if item["status"] != "Open":
            told = f"Work Item {bold(item['name'])} is already assigned"
            raise FrappeError("ValidationError", 417, told)
        item["status"] = "Working"
        self.book.claimed(item["name"])
        made = {
            "doctype": "Work Assignment",
            "name": f"ASG-{len(self.assignments) + 1:05}",
            "work_item": item["name"],
            "status": "Working",
            "docstatus": 0,
            "modified": self.now(),
        }
        self.assignments[made["name"]] = made
        return dict(made)

    def submit(self, request: Request) -> Response:
        wanted = ("assignment", "output", "modified")
        return self.call(request, "submit", self.on_submit, *wanted)

    def on_submit(self, assignment: object, output: object, modified: object) -> Json:
        made = self.fetched(self.assignments, "Work Assignment", assignment)
        item = self.documents[made["work_item"]]
        if made["docstatus"]:
            told = f"Cannot edit submitted document {bold(made['name'])}"
            raise FrappeError("UpdateAfterSubmitError", 417, told)
        if not isinstance(output, str) or not output:
            told = f"[Work Assignment, {made['name']}]: output"
            raise FrappeError("MandatoryError", 417, told)
        if output != item["description"].upper():
            raise FrappeError("ValidationError", 417, "Output was not accepted")
        self.saved(made, modified, docstatus=1, status="Submitted")
        item["status"] = "Pending Review"
        return dict(made)

    def complete(self, request: Request) -> Response:
        wanted = ("assignment", "modified")
        return self.call(request, "complete", self.on_complete, *wanted)

    def on_complete(self, assignment: object, modified: object) -> Json:
        made = self.fetched(self.assignments, "Work Assignment", assignment)
        item = self.documents[made["work_item"]]
        if made["status"] != "Submitted":
            told = f"Work Assignment {bold(made['name'])} is {made['status']}"
            raise FrappeError("ValidationError", 417, told)
        self.saved(made, modified, status="Completed")
        item["status"] = "Completed"
        self.book.pay(item["name"], int(item["credits"]))
        return {**made, "credits": item["credits"]}
