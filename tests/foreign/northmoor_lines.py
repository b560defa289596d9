"""A shipping line's documentation desk with an in-house interface in English.

The desk speaks in messages, as its EDI gateway always did: a message is acknowledged
with 200 whether it was understood or not, and `Ack` says ACCEPTED or REJECTED together
with every fault found. The rough copy comes with the booking; the fair copy pays.
"""

import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_VOYAGES = {
    "NM114E": ("MV Northmoor Heron", "Hull - Gdynia"),
    "NM208W": ("MV Northmoor Plover", "Rotterdam - Halifax"),
}
_DOCKETS = [
    (55012, "NM114E", "Goods on B/L", "12 pallets of ceramic tiles, glazed", 16),
    (55013, "NM114E", "Container marks", "Keep dry / this way up / do not stack", 11),
    (55017, "NM114E", "Manifest line", "3 crates machine parts, used, for repair", 24),
    (55031, "NM208W", "Notify party", "Baxter & Sons Ltd, 4 Quay Road, Halifax", 13),
    (55034, "NM208W", "Goods on B/L", "640 bags of roasted coffee beans", 28),
    (55040, "NM208W", "Stowage remark", "Reefer unit set at minus 18 degrees", 19),
]
_MOST_OPEN = 2  # bookings that one clerk may have open


class _Rejected(Exception):  # noqa: N818
    def __init__(self, *faults: tuple[str, str, str]) -> None:
        super().__init__(faults)
        names = ("Code", "Element", "Text")
        self.faults = [dict(zip(names, fault, strict=True)) for fault in faults]


def _fits(value: Any, kind: str) -> bool:
    """Return whether an element is in its format, named by the first word."""
    wanted = {"numeric": int, "true": bool}.get(kind.partition(" ")[0], str)
    try:
        if kind.startswith("date"):
            datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return False
    return type(value) is wanted


def _elements(message: Any, **formats: str) -> list[Any]:
    """Return the elements of a message, or reject it with all that is wrong."""
    if not isinstance(message, dict):
        raise _Rejected(("D01", "", "Message is not a JSON object."))
    faults = []
    for name, kind in formats.items():
        if message.get(name) in (None, ""):
            faults.append(("D10", name, f"Mandatory element missing. Format: {kind}."))
        elif not _fits(message[name], kind):
            faults.append(("D11", name, f"Element not in format: {kind}."))
    if faults:
        raise _Rejected(*faults)
    return [message[name] for name in formats]


class NorthmoorLines(Backend):
    """The documentation desk: dockets are booked, fair-copied, paid and closed."""

    def __init__(self) -> None:
        super().__init__()
        self._clerks: dict[str, str] = {}  # token -> clerk
        self._accounts: dict[str, int] = {}
        self._bookings: dict[str, dict[str, Any]] = {}
        self._rough = {number: rough for number, _, _, rough, _ in _DOCKETS}
        self._voyage = {number: voyage for number, voyage, *_ in _DOCKETS}
        self._freight = {number: freight for number, *_, freight in _DOCKETS}
        self._status = dict.fromkeys(self._rough, "AWAITING CLERK")

    def texts(self) -> dict[str, str]:
        """Return the rough copy of every docket."""
        return {str(number): rough for number, rough in self._rough.items()}

    def missing(self, request: Request) -> Response:
        """Return the gateway's answer to an unknown address."""
        return Response(404, "NORTHMOOR LINES GATEWAY: NO SUCH MESSAGE ADDRESS\n")

    def register(self, request: Request) -> Response:
        """Sign a clerk on."""
        self.book.registrations += 1
        clerk = f"CLK{7000 + self.book.registrations}"
        token = "nml." + secrets.token_urlsafe(24)
        self._clerks[token] = clerk
        self._accounts[clerk] = 100
        return Response(200, {"agent_id": clerk, "access_token": token, "credits": 100})

    def _message(
        self, request: Request, name: str, work: Callable[[str, Any], dict[str, Any]]
    ) -> Response:
        """Acknowledge a message, whatever it was."""
        head = {"Message": name, "Received": datetime.now(UTC).strftime("%d%b%Y %H%MZ")}
        clerk = self._clerks.get(request.token)
        if clerk is None:
            return Response(
                401,
                {**head, "Ack": "REJECTED", "Remark": "Clerk not signed on."},
                {"WWW-Authenticate": 'Bearer realm="Northmoor Lines"'},
            )
        try:
            try:
                message = request.json()
            except ValueError:
                raise _Rejected(("D00", "", "Message is not readable JSON.")) from None
            return Response(200, {**head, "Ack": "ACCEPTED", **work(clerk, message)})
        except _Rejected as no:
            body = {**head, "Ack": "REJECTED", "Faults": no.faults}
            return Response(200, body, refused=True)

    def tasks(self, request: Request) -> Response:
        """List the dockets on hand under the voyages they belong to."""
        limit = request.query.get("limit", "")
        if limit and (not limit.isdecimal() or int(limit) == 0):
            no = _Rejected(("D11", "limit", "Element not in format: positive number."))
            return Response(200, {"Ack": "REJECTED", "Faults": no.faults}, refused=True)
        on_hand = [docket for docket in _DOCKETS if self._status[docket[0]] != "CLOSED"]
        shown = on_hand[: int(limit)] if limit else on_hand
        voyages: dict[str, Any] = {}
        for number, voyage, job, _, freight in shown:
            vessel, route = _VOYAGES[voyage]
            head = {"VoyageNo": voyage, "Vessel": vessel, "Route": route, "Dockets": []}
            voyages.setdefault(voyage, head)["Dockets"].append(
                {
                    "DocketNo": number,
                    "Job": job,
                    "Handling": "Fair copy of the rough copy, all in capital letters",
                    "Freight": {"Amount": f"{freight}.00", "Unit": "CREDIT"},
                    "Status": self._status[number],
                }
            )
        counts = {"DocketsShown": len(shown), "DocketsOnHand": len(on_hand)}
        return Response(200, {"Voyages": list(voyages.values()), **counts})

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        """Book a docket; the rough copy comes with the booking."""

        def work(clerk: str, message: Any) -> dict[str, Any]:
            number, voyage, ready_by = _elements(
                message,
                DocketNo="numeric",
                VoyageNo="text, as listed",
                ReadyBy="date and time, e.g. 2031-05-20T16:00:00Z",
            )
            if number not in self._status:
                raise _Rejected(("B20", "DocketNo", "No such docket on hand."))
            if voyage != self._voyage[number]:
                raise _Rejected(("B21", "VoyageNo", "Docket is not of this voyage."))
            status = self._status[number]
            if status != "AWAITING CLERK":
                raise _Rejected(("B22", "DocketNo", f"Not open to booking: {status}."))
            held = [b for b in self._bookings.values() if b["Clerk"] == clerk]
            if sum(not b["Closed"] for b in held) >= _MOST_OPEN:
                text = (
                    f"Clerk has {_MOST_OPEN} open bookings. Close one before booking."
                )
                raise _Rejected(("B23", "", text))
            self._status[number] = "WITH CLERK"
            ref = f"NMB{len(self._bookings) + 1:03}{secrets.token_hex(2).upper()}"
            booking = {"Clerk": clerk, "DocketNo": number}
            self._bookings[ref] = {**booking, "Remittance": "", "Closed": False}
            self.book.claimed(str(number))
            return {
                "Booking": {
                    "BookingRef": ref,
                    "DocketNo": number,
                    "Status": "WITH CLERK",
                    "ReadyBy": ready_by,
                },
                "Particulars": {"RoughCopy": self._rough[number], "Language": "EN"},
            }

        return self._message(request, "BOOKING", work)

    def agents(self, request: Request) -> Response:
        """List the clerks signed on."""
        return Response(200, {"Clerks": list(self._accounts)})

    directory = agents

    def _booking(self, clerk: str, ref: str) -> dict[str, Any]:
        booking = self._bookings.get(ref)
        if booking is None or booking["Clerk"] != clerk:
            raise _Rejected(("B30", "BookingRef", "Booking not known for this clerk."))
        return booking

    def submit(self, request: Request) -> Response:
        """Take the fair copy and pay the freight for it."""

        def work(clerk: str, message: Any) -> dict[str, Any]:
            ref, clerk_no, fair = _elements(
                message,
                BookingRef="text, as given at booking",
                ClerkNo="text, your agent_id",
                FairCopy="text",
            )
            if clerk_no != clerk:
                raise _Rejected(
                    ("B31", "ClerkNo", "Not the clerk signed on (agent_id).")
                )
            booking = self._booking(clerk, ref)
            number = booking["DocketNo"]
            if booking["Remittance"]:
                raise _Rejected(("B32", "BookingRef", "Fair copy already received."))
            if fair != self._rough[number].upper():
                text = "Does not agree with the rough copy in capital letters."
                raise _Rejected(("C40", "FairCopy", text))
            self._status[number] = "PAID"
            booking["Remittance"] = f"RM/{number}/{secrets.randbelow(9000) + 1000}"
            self.book.pay(str(number), self._freight[number])
            self._accounts[clerk] += self._freight[number]
            return {
                "Booking": {"BookingRef": ref, "DocketNo": number, "Status": "PAID"},
                "Remittance": {
                    "RemittanceNo": booking["Remittance"],
                    "Amount": f"{self._freight[number]}.00",
                    "AccountBalance": f"{self._accounts[clerk]}.00",
                },
            }

        return self._message(request, "FAIRCOPY", work)

    def complete(self, request: Request) -> Response:
        """Close a paid booking."""

        def work(clerk: str, message: Any) -> dict[str, Any]:
            ref, remittance, received = _elements(
                message,
                BookingRef="text, as given at booking",
                RemittanceNo="text, as given with the remittance",
                AmountReceived="true or false",
            )
            booking = self._booking(clerk, ref)
            if booking["Closed"]:
                raise _Rejected(("B50", "BookingRef", "Booking already closed."))
            if not booking["Remittance"]:
                raise _Rejected(("B51", "BookingRef", "Fair copy not received yet."))
            if remittance != booking["Remittance"]:
                raise _Rejected(("B52", "RemittanceNo", "Not of this booking."))
            if not received:
                raise _Rejected(("B53", "AmountReceived", "Must be true for closing."))
            booking["Closed"] = True
            self._status[booking["DocketNo"]] = "CLOSED"
            return {"Booking": {"BookingRef": ref, "Status": "CLOSED"}}

        return self._message(request, "CLOSING", work)
