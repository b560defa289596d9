"""A craft brewery's tap-tag desk (Express, hand-written checks), batches and keg tags.

Lists a bare array of tag jobs: `batch` ("IPA-114"), `beer`, `tag_copy` (the words for the tag),
`pays` (credits), `status`.
claim wants {"batch": str, "brewer": str} (any name for the chalkboard); 200 {"ok": true,
"ticket": "T-...", "tag_copy", ...}.
submit wants {"ticket": str, "tag": str}; 200 {"ok": true, "proof": "approved"}.
complete wants {"ticket": str, "signed_off": true}; pays; 200 {"ok": true, "paid": n, "tab": balance}.
Refusals: 400 {"ok": false, "error": "..."} one at a time, 404/409/422 in the same form.
"""

import time
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

BATCHES = [
    ("IPA-114", "Harbour Haze", "cloudy and soft with mango and a dry bitter finish"),
    ("STT-031", "Night Shift", "roasted barley dark chocolate and a little smoke"),
    ("PIL-207", "Fieldwork", "crisp golden lager brewed with floral saaz hops"),
    (
        "SOU-052",
        "Rhubarb Lane",
        "tart pink and fizzy with rhubarb from the valley farm",
    ),
    ("WIT-018", "Sunday Best", "wheat beer with orange peel coriander and clove"),
    ("POR-076", "Coal Barge", "smooth brown porter aged four months in oak"),
    ("SAI-009", "Hay Cart", "farmhouse ale with pepper pear and a dusty nose"),
]


def no(status: int, words: str) -> Response:
    """Return a refusal."""
    return Response(status, {"ok": False, "error": words})


class BreweryTags(Backend):
    """Tags for kegs, printed in capitals."""

    def __init__(self) -> None:
        super().__init__()
        self.hands: dict[str, dict[str, Any]] = {}
        self.jobs: dict[str, dict[str, Any]] = {}
        self.tickets: dict[str, dict[str, Any]] = {}
        for number, (batch, beer, words) in enumerate(BATCHES):
            self.jobs[batch] = {
                "batch": batch,
                "beer": beer,
                "job": "Set the tag copy in ALL CAPS for the keg tag",
                "tag_copy": words,
                "abv": round(4.2 + number * 0.4, 1),
                "pays": 7 + number % 4,
                "status": "needs tag",
            }

    def texts(self) -> dict[str, str]:
        return {key: job["tag_copy"] for key, job in self.jobs.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = "brw_" + uuid.uuid4().hex
        hand = {"agent_id": f"hand-{len(self.hands) + 1}", "credits": 100}
        self.hands[token] = hand
        return Response(200, {"ok": True, **hand, "access_token": token})

    def waiting(self) -> list[dict[str, Any]]:
        return [job for job in self.jobs.values() if job["status"] == "needs tag"]

    def tasks(self, request: Request) -> Response:
        if request.token not in self.hands:
            return no(401, "who are you? send your bearer token")
        limit = request.query.get("limit", "")
        return Response(200, self.waiting()[: int(limit) if limit.isdigit() else 50])

    def marketplace(self, request: Request) -> Response:
        return Response(200, self.waiting())

    def body(self, request: Request) -> dict[str, Any] | Response:
        if request.token not in self.hands:
            return no(401, "who are you? send your bearer token")
        try:
            body = request.json() if request.raw else {}
        except ValueError:
            return no(400, "request body is not valid JSON")
        return body if isinstance(body, dict) else no(400, "body must be a JSON object")

    def claim(self, request: Request) -> Response:
        body = self.body(request)
        if isinstance(body, Response):
            return body
        batch, brewer = body.get("batch"), body.get("brewer")
        if not batch:
            return no(400, "batch is required, e.g. IPA-114")
        if not isinstance(batch, str):
            return no(400, "batch must be a string")
        if not brewer:
            return no(400, "brewer is required (the name we put on the chalkboard)")
        if not isinstance(brewer, str) or len(brewer) > 40:
            return no(400, "brewer must be a string of at most 40 characters")
        job = self.jobs.get(batch.upper())
        if job is None:
            return no(404, f"no batch {batch}")
        for ticket in self.tickets.values():
            if ticket["batch"] == job["batch"]:
                if ticket["owner"] != request.token:
                    return no(
                        409, f"{job['batch']} is already on {ticket['brewer']}'s board"
                    )
                return self.told(ticket)
        made = {
            "ticket": f"T-{5201 + len(self.tickets)}",
            "batch": job["batch"],
            "brewer": brewer,
            "pulled_at": int(time.time()),
            "owner": request.token,
            "step": "pulled",
        }
        self.tickets[made["ticket"]] = made
        job["status"] = "being tagged"
        self.book.claimed(job["batch"])
        return self.told(made)

    def told(self, ticket: dict[str, Any]) -> Response:
        job = self.jobs[ticket["batch"]]
        shown = {key: value for key, value in ticket.items() if key != "owner"}
        return Response(
            200, {"ok": True, **shown, "tag_copy": job["tag_copy"], "pays": job["pays"]}
        )

    def ticket(self, body: dict[str, Any], token: str) -> dict[str, Any] | Response:
        given = body.get("ticket")
        if not given:
            return no(400, "ticket is required (you got it when you claimed the batch)")
        ticket = self.tickets.get(str(given))
        if ticket is None:
            return no(404, f"no ticket {given}")
        if ticket["owner"] != token:
            return no(403, "that is somebody else's ticket")
        return ticket

    def submit(self, request: Request) -> Response:
        body = self.body(request)
        if isinstance(body, Response):
            return body
        ticket = self.ticket(body, request.token)
        if isinstance(ticket, Response):
            return ticket
        tag = body.get("tag")
        if not tag:
            return no(400, "tag is required: the finished wording of the keg tag")
        if not isinstance(tag, str):
            return no(400, "tag must be a string")
        if ticket["step"] == "kegged":
            return no(409, "this batch is tagged and kegged already")
        copy = self.jobs[ticket["batch"]]["tag_copy"]
        if tag != copy.upper():
            return no(422, "proof rejected: tag must be the tag copy in all caps")
        ticket["step"] = "proofed"
        return Response(
            200, {"ok": True, "ticket": ticket["ticket"], "proof": "approved"}
        )

    def complete(self, request: Request) -> Response:
        body = self.body(request)
        if isinstance(body, Response):
            return body
        ticket = self.ticket(body, request.token)
        if isinstance(ticket, Response):
            return ticket
        if "signed_off" not in body:
            return no(400, "signed_off is required")
        if body["signed_off"] is not True:
            return no(400, "signed_off must be true before we can keg the batch")
        if ticket["step"] == "pulled":
            return no(409, "no approved proof on this ticket yet")
        job, hand = self.jobs[ticket["batch"]], self.hands[request.token]
        if ticket["step"] == "proofed":
            ticket["step"] = "kegged"
            job["status"] = "tagged"
            hand["credits"] += job["pays"]
            self.book.pay(job["batch"], job["pays"])
        return Response(
            200,
            {
                "ok": True,
                "ticket": ticket["ticket"],
                "step": "kegged",
                "paid": job["pays"],
                "tab": hand["credits"],
            },
        )
