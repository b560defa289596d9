"""The annotation queue of a university's dialect lab, a small Flask application.

Lists a project with its items, all at once unless limited: free, leased and done ones,
with integer ids and a whole number of credits in `pay`. Leasing an item is 204 without
a body (again for one's own); two leases at most. An annotation names the item, carries
the text and a certainty from 1 to 5, is checked against the gold standard at once and
paid on the spot. Refuses in one line of plain text, for lack of a field with all those
that are needed. There is no complete (Flask's 404 page). texts() has the items that are
free at the start.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ITEMS = [
    # id, credits, stratum, utterance
    (2201, 6, "north", "we was down the pit afore it closed"),
    (2202, 6, "north", "tha mun shut the gate behind thee"),
    (2204, 8, "coast", "she's been and gone and sold the boat"),
    (2205, 5, "coast", "there's nowt left but the nets"),
    (2207, 7, "south", "he do like a drop of cider of an evening"),
    (2208, 9, "south", "I bain't going up there in the dark"),
    (2210, 4, "hills", "give us a lend of your shears"),
    (2213, 8, "hills", "them sheep is all over the road again"),
    (2214, 7, "hills", "it were that cold the milk froze"),
    (2216, 5, "coast", "mind the tide when you come by the sands"),
]
OLD = [
    (2203, 6, "north", "our kid can't abide them", "leased"),
    (2206, 8, "coast", "you'll be wanting your tea", "done"),
]
NOT_FOUND = """<!doctype html>
<html lang=en>
<title>404 Not Found</title>
<h1>Not Found</h1>
<p>The requested URL was not found on the server.</p>
"""


class CorvusLab(Backend):
    """Items, leases, annotations."""

    def __init__(self) -> None:
        """Load the corpus."""
        super().__init__()
        rows: list[Any] = sorted([*ITEMS, *OLD])
        self.items = {row[0]: row[:4] for row in rows}
        self.state = {row[0]: "free" for row in ITEMS} | {row[0]: row[4] for row in OLD}
        self.annotators: dict[str, str] = {}
        self.earned: dict[str, int] = {}
        self.leases: dict[int, str] = {}

    def texts(self) -> dict[str, str]:
        """Return the utterance of every free item."""
        return {str(row[0]): row[3] for row in ITEMS}

    def missing(self, request: Request) -> Response:
        """Answer as Flask does."""
        return Response(404, NOT_FOUND, {"Content-Type": "text/html; charset=utf-8"})

    def register(self, request: Request) -> Response:
        """Enrol an annotator."""
        self.book.registrations += 1
        name, token = f"anno{17 + len(self.annotators)}", secrets.token_hex(16)
        self.annotators[token] = name
        self.earned[name] = 100
        body = {"agent_id": name, "access_token": token, "credits": 100}
        return Response(200, body | {"guidelines": "as agreed with the ethics board"})

    def marketplace(self, request: Request) -> Response:
        """Show the queue."""
        limit = request.query.get("limit", "")
        most = int(limit) if limit.isdecimal() else len(self.items)
        items = [
            {
                "item_id": key,
                "stratum": stratum,
                "utterance": utterance,
                "state": self.state[key],
                "pay": pay,
                "pay_unit": "credits",
            }
            for key, pay, stratum, utterance in self.items.values()
        ]
        project = {"name": "Corvus dialect corpus", "layer": "normalisation"}
        return Response(200, {"project": project, "items": items[:most]})

    def tasks(self, request: Request) -> Response:
        """Show the queue to an annotator."""
        if request.token not in self.annotators:
            return Response(401, "token?\n")
        return self.marketplace(request)

    def _body(self, request: Request, needed: str) -> Any:
        """Return the body with a known item in it, and all else that is needed."""
        if request.token not in self.annotators:
            return Response(401, "token?\n")
        try:
            body = request.json()
        except ValueError:
            return Response(400, "bad json\n")
        names = needed.split(", ")
        if not isinstance(body, dict) or any(body.get(name) is None for name in names):
            return Response(400, f"need json with: {needed}\n")
        item = body["item_id"]
        if isinstance(item, str) and item.isdecimal():
            item = int(item)
        if not isinstance(item, int):
            return Response(400, "item_id must be an int\n")
        if item not in self.items:
            return Response(404, f"no item {item}\n")
        return body | {"item_id": item}

    def claim(self, request: Request) -> Response:
        """Lease an item."""
        body = self._body(request, "item_id")
        if isinstance(body, Response):
            return body
        item, name = body["item_id"], self.annotators[request.token]
        if self.state[item] == "leased" and self.leases.get(item) == name:
            return Response(204)
        if self.state[item] != "free":
            return Response(409, f"item {item} is {self.state[item]}\n")
        if list(self.leases.values()).count(name) >= 2:
            return Response(409, "you have 2 items on lease, annotate those first\n")
        self.state[item] = "leased"
        self.leases[item] = name
        self.book.claimed(str(item))
        return Response(204)

    def submit(self, request: Request) -> Response:
        """Check an annotation and pay it."""
        body = self._body(request, "item_id, annotation, certainty")
        if isinstance(body, Response):
            return body
        item, name = body["item_id"], self.annotators[request.token]
        if self.leases.get(item) != name:
            return Response(403, f"item {item} is not on lease to you\n")
        certainty, annotation = body["certainty"], body["annotation"]
        if isinstance(certainty, bool) or certainty not in (1, 2, 3, 4, 5):
            return Response(400, "certainty must be 1, 2, 3, 4 or 5\n")
        if not isinstance(annotation, str) or not annotation.strip():
            return Response(400, "annotation must be a non-empty string\n")
        if annotation != self.items[item][3].upper():
            return Response(422, "annotation disagrees with gold, try again\n")
        del self.leases[item]
        self.state[item] = "done"
        pay = self.items[item][1]
        self.book.pay(str(item), pay)
        self.earned[name] += pay
        done = {"item_id": item, "state": "done", "paid": pay, "pay_unit": "credits"}
        return Response(200, done | {"balance": self.earned[name]})
