"""A returning officer's print room (Rails), wards and their leaflets.

Lists {"leaflets": [...], "meta": {"total"}}: each with `reference` ("WARD-07-L"), `ward`,
`layout_instructions`, `wording` (the text), `print_fee`, `state`.
claim wants {"leaflet_reference": str, "declaration": true} (of impartiality); 201
{"imprint": {"imprint_number": int, ...}, "leaflet": {...}}.
submit wants {"imprint_number": int, "proof": {"wording": str}}; 200 {"imprint": {...}}.
complete wants {"imprint_number": int, "print_run": 1..5000}; pays; 200 {"imprint", "payment"}.
Errors: 422 {"errors": ["Declaration must be accepted"]} (full messages), 404/409 {"error": ...}.
"""

import time
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

WARDS = [
    ("WARD-01-L", "Abbey", "polling stations are open from seven until ten at night"),
    (
        "WARD-03-L",
        "Brookside",
        "bring your poll card and a form of photo identification",
    ),
    ("WARD-04-L", "Castle", "postal votes must reach the town hall by close of poll"),
    ("WARD-07-L", "Docklands", "the count takes place overnight in the sports centre"),
    (
        "WARD-08-L",
        "Eastfield",
        "ask the presiding officer if you need help with your ballot",
    ),
    ("WARD-11-L", "Fairview", "you may vote by proxy if you are away on polling day"),
    (
        "WARD-12-L",
        "Grange",
        "mark one cross only in the box beside your chosen candidate",
    ),
]


def invalid(*messages: str) -> Response:
    """Return `record.errors.full_messages`."""
    return Response(422, {"errors": list(messages)})


def error(status: int, words: str) -> Response:
    """Return what rescue_from renders."""
    return Response(status, {"error": words})


class ElectionLeaflets(Backend):
    """Leaflets are taken, proofed in capitals, and sent to print."""

    def __init__(self) -> None:
        super().__init__()
        self.printers: dict[str, dict[str, Any]] = {}
        self.leaflets: dict[str, dict[str, Any]] = {}
        self.imprints: dict[int, dict[str, Any]] = {}
        self.owners: dict[int, str] = {}
        for number, (reference, ward, wording) in enumerate(WARDS):
            self.leaflets[reference] = {
                "reference": reference,
                "ward": ward,
                "layout_instructions": "Set the wording in block capitals",
                "wording": wording,
                "print_fee": 11 + number,
                "state": "awaiting_proof",
            }

    def texts(self) -> dict[str, str]:
        return {key: row["wording"] for key, row in self.leaflets.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = uuid.uuid4().hex
        printer = {"agent_id": f"PR{1200 + len(self.printers)}", "credits": 100}
        self.printers[token] = printer
        return Response(201, {**printer, "access_token": token})

    def listing(self, limit: int) -> Response:
        rows = [r for r in self.leaflets.values() if r["state"] == "awaiting_proof"]
        return Response(200, {"leaflets": rows[:limit], "meta": {"total": len(rows)}})

    def tasks(self, request: Request) -> Response:
        if request.token not in self.printers:
            return error(401, "HTTP Token: Access denied.")
        limit = request.query.get("limit", "")
        return self.listing(int(limit) if limit.isdigit() else 40)

    def marketplace(self, request: Request) -> Response:
        return self.listing(40)

    def params(self, request: Request) -> dict[str, Any] | Response:
        if request.token not in self.printers:
            return error(401, "HTTP Token: Access denied.")
        try:
            params = request.json() if request.raw else {}
        except ValueError:
            return error(400, "There was a problem in the JSON you submitted")
        return params if isinstance(params, dict) else {}

    def claim(self, request: Request) -> Response:
        params = self.params(request)
        if isinstance(params, Response):
            return params
        reference = params.get("leaflet_reference")
        messages = []
        if not reference:
            messages.append("Leaflet reference can't be blank")
        if params.get("declaration") not in (True, "1", "true"):
            messages.append("Declaration must be accepted")
        if messages:
            return invalid(*messages)
        leaflet = self.leaflets.get(str(reference))
        if leaflet is None:
            return error(404, f"Couldn't find Leaflet with 'reference'={reference}")
        for imprint in self.imprints.values():
            if imprint["leaflet_reference"] == leaflet["reference"]:
                if self.owners[imprint["imprint_number"]] != request.token:
                    return error(
                        409, "Leaflet has already been taken by another printer"
                    )
                return Response(200, {"imprint": imprint, "leaflet": leaflet})
        number = 88001 + len(self.imprints)
        leaflet["state"] = "in_proof"
        self.imprints[number] = {
            "imprint_number": number,
            "leaflet_reference": leaflet["reference"],
            "state": "awaiting_proof",
            "taken_at": self.now(),
        }
        self.owners[number] = request.token
        self.book.claimed(leaflet["reference"])
        return Response(201, {"imprint": self.imprints[number], "leaflet": leaflet})

    def now(self) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time()))

    def find(self, params: dict[str, Any], token: str) -> dict[str, Any] | Response:
        """Find the caller's imprint; a string of digits will do."""
        given = params["imprint_number"]
        number = int(given) if str(given).isdigit() else 0
        if self.owners.get(number) != token:
            return error(404, f"Couldn't find Imprint with 'imprint_number'={given}")
        return self.imprints[number]

    def submit(self, request: Request) -> Response:
        params = self.params(request)
        if isinstance(params, Response):
            return params
        messages = []
        if not params.get("imprint_number"):
            messages.append("Imprint number can't be blank")
        proof = params.get("proof")
        if not proof:
            messages.append("Proof can't be blank")
        elif not isinstance(proof, dict):
            messages.append("Proof must be an object with the wording")
        elif not proof.get("wording"):
            messages.append("Proof wording can't be blank")
        if messages:
            return invalid(*messages)
        assert isinstance(proof, dict)
        imprint = self.find(params, request.token)
        if isinstance(imprint, Response):
            return imprint
        if imprint["state"] == "printed":
            return error(409, "Imprint has already gone to print")
        wording = self.leaflets[imprint["leaflet_reference"]]["wording"]
        if proof["wording"] != wording.upper():
            return invalid(
                "Proof wording is not the leaflet's wording in block capitals"
            )
        imprint["state"] = "proof_passed"
        return Response(200, {"imprint": imprint})

    def complete(self, request: Request) -> Response:
        params = self.params(request)
        if isinstance(params, Response):
            return params
        messages = []
        if not params.get("imprint_number"):
            messages.append("Imprint number can't be blank")
        run = params.get("print_run")
        if isinstance(run, str) and run.isdigit():
            run = int(run)
        if run is None or run == "":
            messages.append("Print run can't be blank")
        elif isinstance(run, bool) or not isinstance(run, int):
            messages.append("Print run is not a number")
        elif run < 1:
            messages.append("Print run must be greater than or equal to 1")
        elif run > 5000:
            messages.append("Print run must be less than or equal to 5000")
        if messages:
            return invalid(*messages)
        imprint = self.find(params, request.token)
        if isinstance(imprint, Response):
            return imprint
        if imprint["state"] == "awaiting_proof":
            return error(409, "Imprint cannot be printed before its proof has passed")
        leaflet = self.leaflets[imprint["leaflet_reference"]]
        printer = self.printers[request.token]
        if imprint["state"] == "proof_passed":
            imprint["state"] = leaflet["state"] = "printed"
            imprint["print_run"] = run
            printer["credits"] += leaflet["print_fee"]
            self.book.pay(leaflet["reference"], leaflet["print_fee"])
        payment = {"print_fee": leaflet["print_fee"], "balance": printer["credits"]}
        return Response(200, {"imprint": imprint, "payment": payment})
