"""Swiftline Couriers: a dispatch backend in camelCase, grown by hand."""

import base64
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PAGE = 3
CONSIGNMENTS = [
    # number, lane, fare, waybill text, state
    ("SWL-40211", "north", 14, "leave the crate behind the blue gate", "open"),
    ("SWL-40212", "north", 9, "ring twice, then wait by the ramp", "open"),
    ("SWL-40213", "south", 22, "two pallets of seed potatoes", "delivered"),
    ("SWL-40214", "south", 31, "fragile: one grandfather clock", "open"),
    ("SWL-40215", "east", 12, "hand only to mrs. okafor in person", "open"),
    ("SWL-40216", "east", 17, "keep upright and out of the sun", "open"),
]


class Swiftline(Backend):
    """A courier firm: agents are drivers, tasks are consignments with waybills to set in capitals.

    The listing comes three at a time with `nextCursor` and a `next` link. Claiming takes
    `consignmentNo` and answers the waybill text. Handing in takes `consignmentNo` and
    `proofOfDelivery.transcript`; completing takes `consignmentNo` and pays the fare, which is
    told as `payout.credits` with the wallet. Refusals name one fault: {error: {code, message,
    field}} with 400, 401, 403, 404, 409 or 422.
    """

    def __init__(self) -> None:
        super().__init__()
        self.drivers: dict[str, dict[str, Any]] = {}
        self.jobs = {
            no: {
                "no": no,
                "lane": lane,
                "fare": fare,
                "text": text,
                "state": state,
                "driver": None,
            }
            for no, lane, fare, text, state in CONSIGNMENTS
        }

    def texts(self) -> dict[str, str]:
        """Return the waybill of each consignment that was open at the start."""
        return {no: text for no, _, _, text, state in CONSIGNMENTS if state == "open"}

    def no(self, status: int, code: str, message: str, field: str = "") -> Response:
        """Return a refusal."""
        error = {"code": code, "message": message}
        if field:
            error["field"] = field
        return Response(status, {"error": error})

    def register(self, request: Request) -> Response:
        """Sign a driver on."""
        driver_id, token = f"drv_{secrets.token_hex(5)}", secrets.token_urlsafe(24)
        self.drivers[token] = {"id": driver_id, "wallet": 100}
        self.book.registrations += 1
        return Response(
            200, {"agent_id": driver_id, "access_token": token, "credits": 100}
        )

    def card(self, job: dict[str, Any]) -> dict[str, Any]:
        """Return a consignment as the board shows it."""
        return {
            "consignmentNo": job["no"],
            "lane": job["lane"],
            "status": job["state"],
            "fareCredits": job["fare"],
            "summary": "Waybill to be re-lettered in capitals",
        }

    def tasks(self, request: Request) -> Response:
        """List the board page by page."""
        try:
            size = min(max(int(request.query.get("limit", PAGE)), 1), PAGE)
            cursor = request.query.get("cursor", "")
            start = (
                int(base64.urlsafe_b64decode(cursor).decode().removeprefix("o:"))
                if cursor
                else 0
            )
        except ValueError:
            return self.no(400, "badCursor", "limit or cursor is malformed")
        jobs = list(self.jobs.values())
        following = None
        if start + size < len(jobs):
            following = base64.urlsafe_b64encode(f"o:{start + size}".encode()).decode()
        return Response(
            200,
            {
                "consignments": [self.card(job) for job in jobs[start : start + size]],
                "nextCursor": following,
                "next": f"{request.path}?limit={size}&cursor={following}"
                if following
                else None,
            },
        )

    marketplace = tasks

    def agents(self, request: Request) -> Response:
        """List the drivers on the road."""
        return Response(
            200, {"drivers": [{"driverId": d["id"]} for d in self.drivers.values()]}
        )

    def opened(
        self, request: Request
    ) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]] | Response:
        """Return the driver, the consignment and the body, or a refusal."""
        driver = self.drivers.get(request.token)
        if not driver:
            return self.no(401, "notSignedIn", "Sign in with your driver token")
        try:
            body = request.json()
        except ValueError:
            return self.no(400, "badJson", "Request body could not be read as JSON")
        if not isinstance(body, dict):
            return self.no(400, "badJson", "Request body must be an object")
        number = body.get("consignmentNo")
        if number is None:
            return self.no(
                400, "missingField", "consignmentNo is required", "consignmentNo"
            )
        if not isinstance(number, str) or number not in self.jobs:
            return self.no(
                404, "noSuchConsignment", f"No consignment {number}", "consignmentNo"
            )
        return driver, self.jobs[number], body

    def claim(self, request: Request) -> Response:
        """Put a consignment on a driver's round."""
        found = self.opened(request)
        if isinstance(found, Response):
            return found
        driver, job, _ = found
        if job["state"] != "open" and job["driver"] != driver["id"]:
            return self.no(
                409, "alreadyAssigned", f"Consignment {job['no']} is off the board"
            )
        if job["state"] == "open":
            job.update(state="onRound", driver=driver["id"])
            self.book.claimed(job["no"])
        return Response(
            200,
            {
                "consignment": {**self.card(job), "waybillText": job["text"]},
                "driverId": driver["id"],
            },
        )

    def submit(self, request: Request) -> Response:
        """Take the proof of delivery."""
        found = self.opened(request)
        if isinstance(found, Response):
            return found
        driver, job, body = found
        if job["driver"] != driver["id"]:
            return self.no(403, "notYourRound", "This consignment is not on your round")
        proof = body.get("proofOfDelivery")
        if not isinstance(proof, dict):
            return self.no(
                400,
                "missingField",
                "proofOfDelivery must be an object",
                "proofOfDelivery",
            )
        transcript = proof.get("transcript")
        if not isinstance(transcript, str) or not transcript:
            return self.no(
                400,
                "missingField",
                "proofOfDelivery.transcript must be a non-empty string",
                "proofOfDelivery.transcript",
            )
        if transcript != job["text"].upper():
            return self.no(
                422,
                "proofRejected",
                "The transcript is not the waybill text in capitals",
                "proofOfDelivery.transcript",
            )
        if job["state"] == "onRound":
            job["state"] = "proofHeld"
        return Response(200, {"consignment": self.card(job)})

    def complete(self, request: Request) -> Response:
        """Close the consignment and pay the fare."""
        found = self.opened(request)
        if isinstance(found, Response):
            return found
        driver, job, _ = found
        if job["driver"] != driver["id"]:
            return self.no(403, "notYourRound", "This consignment is not on your round")
        if job["state"] == "onRound":
            return self.no(409, "proofMissing", "Hand in the proof of delivery first")
        if job["state"] == "proofHeld":
            job["state"] = "delivered"
            driver["wallet"] += job["fare"]
            self.book.pay(job["no"], job["fare"])
        return Response(
            200,
            {
                "consignment": self.card(job),
                "payout": {"credits": job["fare"], "walletBalance": driver["wallet"]},
            },
        )
