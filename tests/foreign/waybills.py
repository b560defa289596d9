"""A freight forwarder's tender board: loads whose shipping marks have to be restated in capitals on the waybill.

Listing: {"board", "tenders": [...]}; the text is `shipping_marks`, the reward `freight_credits`. claim books a tender
with {"tender_no": string, "carrier": the agent_id} and answers a booking; submit lodges the waybill with
{"booking_no": string, "marks": string} and answers its number; complete delivers with {"waybill_no": string} and settles.
Refusals are {"rejected": true, "faults": [{"field", "fault"}]} with 400, and {"rejected": true, "reason"} otherwise.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TENDERS: list[tuple[str, str, str, str, str, int, str]] = [
    (
        "TN-4401",
        "Rotterdam",
        "Oslo",
        "Cut tulips",
        "keep cool and upright at all times",
        18,
        "open",
    ),
    (
        "TN-4402",
        "Antwerp",
        "Leeds",
        "Cocoa beans",
        "stow away from oils and strong odours",
        16,
        "open",
    ),
    (
        "TN-4405",
        "Genoa",
        "Basel",
        "Olive oil",
        "glass bottles handle with great care",
        14,
        "open",
    ),
    (
        "TN-4406",
        "Gdynia",
        "Malmo",
        "Pine furniture",
        "do not stack more than four high",
        11,
        "withdrawn",
    ),
    (
        "TN-4409",
        "Porto",
        "Bristol",
        "Cork tiles",
        "keep dry and load under cover only",
        12,
        "open",
    ),
    (
        "TN-4410",
        "Hamburg",
        "Vienna",
        "Laboratory scales",
        "lift by the base and never by the beam",
        20,
        "open",
    ),
    (
        "TN-4412",
        "Calais",
        "Dublin",
        "Champagne",
        "for the account of murphy and daughters dublin",
        15,
        "open",
    ),
    (
        "TN-4415",
        "Trieste",
        "Prague",
        "Roasted coffee",
        "lot seven of twelve consigned to the old mill",
        13,
        "open",
    ),
]


def reject(status: int, reason: str) -> Response:
    """Return one refusal of the desk."""
    return Response(status, {"rejected": True, "reason": reason})


def faults(**found: str) -> Response:
    """Return the faults of a form, field by field."""
    return Response(
        400,
        {
            "rejected": True,
            "faults": [
                {"field": name, "fault": fault} for name, fault in found.items()
            ],
        },
    )


class Waybills(Backend):
    """The tender board."""

    def __init__(self) -> None:
        super().__init__()
        self.tenders: dict[str, dict[str, Any]] = {
            number: {
                "tender_no": number,
                "lane": {"origin": origin, "destination": destination},
                "goods": goods,
                "shipping_marks": marks,
                "freight_credits": freight,
                "status": status,
            }
            for number, origin, destination, goods, marks, freight, status in TENDERS
        }
        self.carriers: dict[str, str] = {}  # token -> agent
        self.account: dict[str, int] = {}
        self.bookings: dict[str, dict[str, Any]] = {}
        self.waybills: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {tender[0]: tender[4] for tender in TENDERS if tender[6] == "open"}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        carrier = f"CR{secrets.randbelow(900000) + 100000}"
        token = secrets.token_hex(18)
        self.carriers[token] = carrier
        self.account[carrier] = 100
        return Response(
            200,
            {
                "agent_id": carrier,
                "access_token": token,
                "credits": 100,
                "welcome": "You are entered in the carriers' register.",
            },
        )

    def _denied(self, request: Request) -> Response | None:
        if request.token in self.carriers:
            return None
        return reject(
            401,
            "Carrier not recognised. Send the access token of your registration as bearer.",
        )

    def tasks(self, request: Request) -> Response:
        return self._denied(request) or self._board(request)

    def marketplace(self, request: Request) -> Response:
        return self._board(request)

    def _board(self, request: Request) -> Response:
        limit = request.query.get("limit", "50")
        if not limit.isdecimal() or not 1 <= int(limit) <= 50:
            return faults(limit="a whole number from 1 to 50")
        return Response(
            200,
            {
                "board": "Northern and Alpine lanes",
                "work": "Restate the shipping marks in capitals for the waybill.",
                "tenders": list(self.tenders.values())[: int(limit)],
            },
        )

    def _form(self, request: Request, **fields: str) -> dict[str, str] | Response:
        """Read a form of which every field is a string that has to be stated."""
        try:
            body = request.json() if request.raw.strip() else {}
        except ValueError:
            return reject(400, "The form could not be read: it is not JSON.")
        if not isinstance(body, dict):
            return reject(400, "The form has to be one JSON object.")
        missing: dict[str, str] = {}
        for name, meaning in fields.items():
            value = body.get(name)
            if value is None or value == "":
                missing[name] = f"not stated: {meaning}"
            elif not isinstance(value, str):
                missing[name] = f"has to be text: {meaning}"
        if missing:
            return faults(**missing)
        return {name: body[name] for name in fields}

    def claim(self, request: Request) -> Response:
        denied = self._denied(request)
        if denied:
            return denied
        form = self._form(
            request,
            tender_no="number of the tender to be booked",
            carrier="your number in the carriers' register",
        )
        if isinstance(form, Response):
            return form
        carrier = self.carriers[request.token]
        if form["carrier"] != carrier:
            return faults(
                carrier="is not the carrier of this token; state the agent_id of your registration"
            )
        tender = self.tenders.get(form["tender_no"])
        if tender is None:
            return reject(404, f"Tender {form['tender_no']} is not on the board.")
        for booking in self.bookings.values():
            if (
                booking["tender_no"] == tender["tender_no"]
                and booking["carrier"] == carrier
            ):
                return Response(200, {"booking": booking})
        if tender["status"] != "open":
            return reject(409, f"Tender {tender['tender_no']} is {tender['status']}.")
        number = f"BK-{71001 + len(self.bookings)}"
        self.bookings[number] = {
            "booking_no": number,
            "tender_no": tender["tender_no"],
            "carrier": carrier,
            "shipping_marks": tender["shipping_marks"],
            "status": "booked",
        }
        tender["status"] = "booked"
        self.book.claimed(tender["tender_no"])
        return Response(201, {"booking": self.bookings[number]})

    def submit(self, request: Request) -> Response:
        denied = self._denied(request)
        if denied:
            return denied
        form = self._form(
            request,
            booking_no="number of your booking",
            marks="the shipping marks as they stand on the waybill, in capitals",
        )
        if isinstance(form, Response):
            return form
        booking = self.bookings.get(form["booking_no"])
        if booking is None or booking["carrier"] != self.carriers[request.token]:
            return reject(404, f"You hold no booking {form['booking_no']}.")
        for waybill in self.waybills.values():
            if waybill["booking_no"] == booking["booking_no"]:
                return Response(200, {"waybill": waybill})
        if form["marks"] != booking["shipping_marks"].upper():
            return faults(
                marks="do not agree with the shipping marks of the tender, restated in capitals"
            )
        number = f"WB{880210 + 7 * len(self.waybills)}"
        self.waybills[number] = {
            "waybill_no": number,
            "booking_no": booking["booking_no"],
            "marks": form["marks"],
            "status": "lodged",
        }
        booking["status"] = "in transit"
        return Response(201, {"waybill": self.waybills[number]})

    def complete(self, request: Request) -> Response:
        denied = self._denied(request)
        if denied:
            return denied
        form = self._form(request, waybill_no="number of the waybill that is delivered")
        if isinstance(form, Response):
            return form
        waybill = self.waybills.get(form["waybill_no"])
        carrier = self.carriers[request.token]
        booking = self.bookings[waybill["booking_no"]] if waybill else None
        if waybill is None or booking is None or booking["carrier"] != carrier:
            return reject(404, f"No waybill {form['waybill_no']} of yours is lodged.")
        tender = self.tenders[booking["tender_no"]]
        if waybill["status"] == "lodged":
            waybill["status"] = "delivered"
            booking["status"] = tender["status"] = "settled"
            self.account[carrier] += tender["freight_credits"]
            self.book.pay(tender["tender_no"], tender["freight_credits"])
        return Response(
            200,
            {
                "waybill": waybill,
                "settlement": {
                    "freight_credits": tender["freight_credits"],
                    "account": self.account[carrier],
                },
            },
        )
