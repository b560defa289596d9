"""A county post office: envelopes, references, status codes and numbered faults.

Element names come from an older XML message set, hence the hyphens. Transcripts are
inspected when they are lodged; the fee is credited when the allotment is settled.
"""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_MAIL = [
    ("LUDLOW 3", "Mrs. E. Whitcombe, 4 Mill Lane, Ludlow", "12.00"),
    ("CLUN 1", "The Vicar, St. George's, Clun", "18.00"),
    ("LUDLOW 5", "Hobbs & Daughter, Saddlers, 19 Corve Street, Ludlow", "24.00"),
    ("WENLOCK 2", "Dr. P. Okafor, The Surgery, Much Wenlock", "30.00"),
    ("BISHOPS CASTLE 1", "Porch House, High Street, Bishop's Castle", "16.00"),
    ("CLUN 2", "Miss A. Tranter, Box 7, Newcastle-on-Clun", "42.00"),
    ("WENLOCK 4", "Returns Dept., Unit 3b, Stretton Road, Much Wenlock", "27.00"),
]
_STATUS = {"AW": "Awaiting allotment", "AL": "Allotted"}
_STATUS |= {"LG": "Transcript lodged", "ST": "Settled"}
_METHODS = ("ACCOUNT", "POSTAL-ORDER")


def _s10(serial: int) -> str:
    """Return an S10 item number with its check digit."""
    digits = f"{serial:08d}"
    weighted = sum(
        int(d) * w for d, w in zip(digits, (8, 6, 4, 2, 3, 5, 9, 7), strict=False)
    )
    check = {10: 0, 11: 5}.get(11 - weighted % 11, 11 - weighted % 11)
    return f"RC{digits}{check}GB"


class CountyPost(Backend):
    """The address plate section of a post office."""

    def __init__(self) -> None:
        super().__init__()
        self._messages = 0
        self._accounts: dict[str, dict[str, Any]] = {}  # token -> account
        self._allotments: dict[str, dict[str, Any]] = {}
        self._items: dict[str, dict[str, Any]] = {}
        for place, (round_, text, fee) in enumerate(_MAIL):
            ref = _s10(47312480 + 7 * place)
            self._items[ref] = {
                "item-ref": ref,
                "delivery-round": round_,
                "handling-instruction": "Transcribe the superscription in block "
                "capitals. Keep spacing and punctuation as written.",
                "superscription": text,
                "fee": {"amount": fee, "currency": "CREDITS"},
                "status": {"code": "AW", "meaning": _STATUS["AW"]},
            }

    def texts(self) -> dict[str, str]:
        """Return the text of every item."""
        return {ref: str(item["superscription"]) for ref, item in self._items.items()}

    # -- answers ---------------------------------------------------------------------

    def _envelope(self, function: str, outcome: str) -> dict[str, str]:
        self._messages += 1
        return {
            "message-ref": f"PO/{datetime.now(UTC).date().year}/{self._messages:06d}",
            "issued-at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "function": function,
            "outcome": outcome,
        }

    def _yes(self, function: str, content: dict[str, Any]) -> Response:
        envelope = self._envelope(function, "ACCEPTED")
        return Response(200, {"envelope": envelope, "content": content})

    def _no(self, status: int, *faults: tuple[str, str, str]) -> Response:
        keys = ("code", "element", "text")
        listed = [dict(zip(keys, fault, strict=False)) for fault in faults]
        envelope = self._envelope("FAULT-ADVICE", "REFUSED")
        return Response(status, {"envelope": envelope, "faults": listed})

    def missing(self, request: Request) -> Response:
        """Say that there is no such counter."""
        text = f"No function is offered at {request.method} {request.path}."
        return self._no(404, ("PO-1001", "", text))

    # -- reading ---------------------------------------------------------------------

    def _account(self, request: Request) -> dict[str, Any] | Response:
        account = self._accounts.get(request.token)
        if account:
            return account
        text = "No valid access token was presented in the Authorization header."
        return self._no(401, ("PO-1010", "", text))

    def _open(
        self, request: Request, *elements: str
    ) -> tuple[dict[str, Any], dict[str, str]] | Response:
        """Return the account and the elements of a message, or the fault advice."""
        account = self._account(request)
        if isinstance(account, Response):
            return account
        try:
            message = request.json()
        except ValueError:
            message = None
        if not isinstance(message, dict):
            text = "Message is not a well-formed JSON object."
            return self._no(400, ("PO-1101", "/", text))
        faults: list[tuple[str, str, str]] = []
        values: dict[str, str] = {}
        parts = {"envelope": ("sender", "sender-ref"), "content": elements}
        for part, names in parts.items():
            section = message.get(part)
            if section is not None and not isinstance(section, dict):
                faults.append(("PO-1103", f"/{part}", "Element must be an object."))
                continue
            for name in names:
                value = (section or {}).get(name)
                path = f"/{part}/{name}"
                if value is None or value == "":
                    text = "Mandatory element was not supplied."
                    faults.append(("PO-1104", path, text))
                elif not isinstance(value, str):
                    faults.append(("PO-1105", path, "Element must be a text value."))
                else:
                    values[name] = value
        if faults:
            return self._no(422, *faults)
        if values["sender"] != account["agent"]:
            text = "Sender is not the agent to whom the access token was issued."
            return self._no(403, ("PO-1011", "/envelope/sender", text))
        return account, values

    def _allotment(
        self, account: dict[str, Any], ref: str, status: str
    ) -> dict[str, Any] | Response:
        allotment = self._allotments.get(ref)
        path = "/content/allotment-ref"
        if allotment is None or allotment["agent"] != account["agent"]:
            text = f"No allotment {ref} is recorded for this sender."
            return self._no(404, ("PO-2201", path, text))
        code = self._items[allotment["item"]]["status"]["code"]
        if code != status:
            text = (
                f"Item is at status {code} ({_STATUS[code]}); this function requires "
                f"status {status} ({_STATUS[status]})."
            )
            return self._no(409, ("PO-2202", path, text))
        return allotment

    def _move(self, item: dict[str, Any], code: str) -> None:
        item["status"] = {"code": code, "meaning": _STATUS[code]}

    # -- the actions -----------------------------------------------------------------

    def register(self, request: Request) -> Response:
        """Open an account."""
        self.book.registrations += 1
        agent = f"AGT{5100 + self.book.registrations}"
        token = secrets.token_urlsafe(24)
        self._accounts[token] = {"agent": agent, "balance": 100}
        answer: dict[str, Any] = {"agent_id": agent, "access_token": token}
        answer["credits"] = 100
        answer["envelope"] = self._envelope("ACCOUNT-OPENED", "ACCEPTED")
        return Response(200, answer)

    def tasks(self, request: Request) -> Response:
        """List the items on hand, in pouches."""
        limit, start = request.query.get("limit", "4"), request.query.get("from", "")
        if not (limit.isascii() and limit.isdigit() and 1 <= int(limit) <= 25):
            text = "Parameter limit must be a whole number from 1 to 25."
            return self._no(400, ("PO-1107", "?limit", text))
        hand = [i for i in self._items.values() if i["status"]["code"] == "AW"]
        rest = [i for i in hand if i["item-ref"] >= start]
        more = rest[int(limit) :]
        following = f"{request.path}?limit={limit}&from="
        answer: dict[str, Any] = {"total-on-hand": len(hand)}
        answer["pouch"] = rest[: int(limit)]
        answer["next-pouch"] = following + more[0]["item-ref"] if more else None
        return self._yes("ITEMS-ON-HAND", answer)

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        """Allot an item."""
        if isinstance(opened := self._open(request, "item-ref"), Response):
            return opened
        account, values = opened
        item, path = self._items.get(values["item-ref"]), "/content/item-ref"
        if item is None:
            return self._no(404, ("PO-2101", path, "Item reference is not on record."))
        if item["status"]["code"] != "AW":
            text = f"Item is not on hand; status {item['status']['code']}."
            return self._no(409, ("PO-2102", path, text))
        ref = f"AL/{account['agent'][3:]}/{len(self._allotments) + 1:04d}"
        self._allotments[ref] = {"agent": account["agent"], "item": item["item-ref"]}
        self._move(item, "AL")
        self.book.claimed(item["item-ref"])
        due = str(datetime.now(UTC).date() + timedelta(days=2))
        answer = {"allotment-ref": ref, "return-by": due, "item": item}
        return self._yes("ALLOTMENT-ADVICE", answer)

    def submit(self, request: Request) -> Response:
        """Inspect a transcript and take it in."""
        elements = ("allotment-ref", "transcript", "transcribed-on")
        if isinstance(opened := self._open(request, *elements), Response):
            return opened
        account, values = opened
        found = self._allotment(account, values["allotment-ref"], "AL")
        if isinstance(found, Response):
            return found
        try:
            day = datetime.fromisoformat(values["transcribed-on"]).date()
        except ValueError:
            text = "Element must be a date in the form CCYY-MM-DD."
            return self._no(422, ("PO-1108", "/content/transcribed-on", text))
        item = self._items[found["item"]]
        if values["transcript"] != item["superscription"].upper():
            text = (
                "Transcript does not agree with the superscription in block capitals."
            )
            return self._no(422, ("PO-3301", "/content/transcript", text))
        found["docket"] = f"DK-{secrets.token_hex(4).upper()}"
        self._move(item, "LG")
        answer = {"docket-ref": found["docket"], "transcribed-on": str(day)}
        return self._yes("LODGEMENT-ADVICE", {**answer, "status": item["status"]})

    def complete(self, request: Request) -> Response:
        """Settle an allotment and credit the fee."""
        elements = ("allotment-ref", "docket-ref", "settlement-method")
        if isinstance(opened := self._open(request, *elements), Response):
            return opened
        account, values = opened
        found = self._allotment(account, values["allotment-ref"], "LG")
        if isinstance(found, Response):
            return found
        if values["docket-ref"] != found["docket"]:
            text = "Docket does not belong to the allotment."
            return self._no(422, ("PO-2203", "/content/docket-ref", text))
        if values["settlement-method"] not in _METHODS:
            text = f"Value is not in the code list: {', '.join(_METHODS)}."
            return self._no(422, ("PO-1109", "/content/settlement-method", text))
        item = self._items[found["item"]]
        self._move(item, "ST")
        fee = int(float(item["fee"]["amount"]))
        account["balance"] += fee
        self.book.pay(item["item-ref"], fee)
        answer = {"item-ref": item["item-ref"], "status": item["status"]}
        money = {"credited": item["fee"], "balance": f"{account['balance']}.00"}
        return self._yes("SETTLEMENT-ADVICE", {**answer, **money})
