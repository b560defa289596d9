"""A herbarium that lends out sheets to have their labels transcribed in capitals for the card index.

Listing: {"collection", "sheets": [...]}; the text is `verbatim_label`, the reward `honorarium`. claim borrows a sheet
with {"barcode": string} and answers the loan (no more than three sheets at a time); submit wants {"loan_number": string,
"transcription": string} and pays the honorarium when the curator's check passes at once; complete returns the sheet with
{"loan_number": string}, which closes the loan. Refusals are {"refused": sentence, "see": field or null} with a 4xx.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

SHEETS: list[tuple[str, str, str, int, str]] = [
    (
        "H000120417",
        "Bellis perennis",
        "common in short turf by the churchyard wall",
        10,
        "untranscribed",
    ),
    (
        "H000120433",
        "Primula veris",
        "on a chalk slope above the mill stream",
        9,
        "untranscribed",
    ),
    (
        "H000120458",
        "Drosera rotundifolia",
        "wet peat at the edge of a small black pool",
        14,
        "untranscribed",
    ),
    (
        "H000120460",
        "Calluna vulgaris",
        "dry heath burnt over two summers before",
        12,
        "untranscribed",
    ),
    (
        "H000120511",
        "Nymphaea alba",
        "collected from a boat in still water",
        11,
        "transcribed",
    ),
    (
        "H000120512",
        "Lathyrus japonicus",
        "shingle beach a mile east of the old fort",
        13,
        "untranscribed",
    ),
    (
        "H000120590",
        "Asplenium ruta-muraria",
        "mortar of the garden wall behind the rectory",
        15,
        "untranscribed",
    ),
    (
        "H000120602",
        "Fritillaria meleagris",
        "water meadow flooded most winters",
        8,
        "untranscribed",
    ),
]
MOST_LOANS = 3


def refuse(status: int, sentence: str, see: str | None = None) -> Response:
    """Return one refusal of the loans desk."""
    return Response(status, {"refused": sentence, "see": see})


class Herbarium(Backend):
    """The loans desk."""

    def __init__(self) -> None:
        super().__init__()
        self.sheets: dict[str, dict[str, Any]] = {
            barcode: {
                "barcode": barcode,
                "taxon": taxon,
                "verbatim_label": label,
                "honorarium": honorarium,
                "curation": curation,
            }
            for barcode, taxon, label, honorarium, curation in SHEETS
        }
        self.people: dict[str, str] = {}  # token -> transcriber
        self.purse: dict[str, int] = {}
        self.loans: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {sheet[0]: sheet[2] for sheet in SHEETS if sheet[4] == "untranscribed"}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        person = f"transcriber-{secrets.token_hex(3)}"
        token = secrets.token_urlsafe(21)
        self.people[token] = person
        self.purse[person] = 100
        return Response(
            200, {"agent_id": person, "access_token": token, "credits": 100}
        )

    def _denied(self, request: Request) -> Response | None:
        if request.token in self.people:
            return None
        return refuse(
            401, "The loans desk serves registered transcribers only.", "Authorization"
        )

    def tasks(self, request: Request) -> Response:
        denied = self._denied(request)
        if denied:
            return denied
        limit = request.query.get("limit", "")
        if limit and (not limit.isdecimal() or int(limit) < 1):
            return refuse(
                400,
                "The limit is the greatest number of sheets to list, at least one.",
                "limit",
            )
        sheets = list(self.sheets.values())
        return Response(200, self._drawer(sheets[: int(limit)] if limit else sheets))

    def marketplace(self, request: Request) -> Response:
        return Response(
            200,
            self._drawer(
                [
                    sheet
                    for sheet in self.sheets.values()
                    if sheet["curation"] == "untranscribed"
                ]
            ),
        )

    def _drawer(self, sheets: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "collection": "Flora of the southern counties",
            "how_to_transcribe": "Copy the verbatim label in capitals, word for word, for the card index.",
            "sheets_at_a_time": MOST_LOANS,
            "sheets": sheets,
        }

    def _slip(self, request: Request, **fields: str) -> dict[str, str] | Response:
        """Read a request slip; the desk names the first thing that is missing."""
        try:
            body = request.json() if request.raw.strip() else {}
        except ValueError:
            return refuse(400, "The slip is not readable as JSON.")
        if not isinstance(body, dict):
            return refuse(400, "The slip has to be a JSON object.")
        for name, sentence in fields.items():
            value = body.get(name)
            if value is None or value == "":
                return refuse(400, sentence, name)
            if not isinstance(value, str):
                return refuse(
                    400, f"The {name.replace('_', ' ')} is written as text.", name
                )
        return {name: body[name] for name in fields}

    def claim(self, request: Request) -> Response:
        denied = self._denied(request)
        if denied:
            return denied
        slip = self._slip(request, barcode="A loan needs the barcode of the sheet.")
        if isinstance(slip, Response):
            return slip
        person = self.people[request.token]
        sheet = self.sheets.get(slip["barcode"])
        if sheet is None:
            return refuse(
                404,
                f"There is no sheet {slip['barcode']} in this collection.",
                "barcode",
            )
        mine = [loan for loan in self.loans.values() if loan["borrower"] == person]
        for loan in mine:
            if loan["barcode"] == sheet["barcode"]:
                return Response(200, {"loan": loan})
        if sheet["curation"] != "untranscribed":
            return refuse(
                409, f"Sheet {sheet['barcode']} is {sheet['curation']}.", "barcode"
            )
        if sum(loan["state"] != "returned" for loan in mine) >= MOST_LOANS:
            return refuse(
                409,
                f"You have {MOST_LOANS} sheets on loan. Return one before you borrow another.",
            )
        number = f"L{len(self.loans) + 1:04}"
        self.loans[number] = {
            "loan_number": number,
            "barcode": sheet["barcode"],
            "borrower": person,
            "state": "on loan",
            "transcription": None,
        }
        sheet["curation"] = "on loan"
        self.book.claimed(sheet["barcode"])
        return Response(201, {"loan": self.loans[number], "sheet": sheet})

    def _loan(self, request: Request, number: str) -> dict[str, Any] | Response:
        loan = self.loans.get(number)
        if loan is None or loan["borrower"] != self.people[request.token]:
            return refuse(404, f"Loan {number} is not in your name.", "loan_number")
        return loan

    def submit(self, request: Request) -> Response:
        denied = self._denied(request)
        if denied:
            return denied
        slip = self._slip(
            request,
            loan_number="Give the loan number under which you hold the sheet.",
            transcription="The transcription is missing.",
        )
        if isinstance(slip, Response):
            return slip
        loan = self._loan(request, slip["loan_number"])
        if isinstance(loan, Response):
            return loan
        sheet = self.sheets[loan["barcode"]]
        if loan["state"] != "on loan":
            return refuse(
                409,
                f"The label of sheet {sheet['barcode']} is already transcribed.",
                "loan_number",
            )
        if slip["transcription"] != sheet["verbatim_label"].upper():
            return refuse(
                422,
                "The curator compared the transcription with the label in capitals; they differ.",
                "transcription",
            )
        person = self.people[request.token]
        loan["state"] = "transcribed"
        loan["transcription"] = slip["transcription"]
        sheet["curation"] = "transcribed"
        self.purse[person] += sheet["honorarium"]
        self.book.pay(sheet["barcode"], sheet["honorarium"])
        return Response(
            200,
            {
                "loan": loan,
                "honorarium_paid": sheet["honorarium"],
                "credits": self.purse[person],
                "next": "Return the sheet to close the loan.",
            },
        )

    def complete(self, request: Request) -> Response:
        denied = self._denied(request)
        if denied:
            return denied
        slip = self._slip(
            request, loan_number="Give the loan number of the sheet you return."
        )
        if isinstance(slip, Response):
            return slip
        loan = self._loan(request, slip["loan_number"])
        if isinstance(loan, Response):
            return loan
        if loan["state"] == "on loan":
            return refuse(
                409,
                "The sheet cannot be returned before its label is transcribed.",
                "loan_number",
            )
        loan["state"] = "returned"
        return Response(200, {"loan": loan, "credits": self.purse[loan["borrower"]]})
