"""A law firm's document review desk; the API grew out of its checkout register.

Lists matters with their documents in them; a document's document_ref is composed of the
matter and the Bates number. Fees are in US cents, and the list says the rate in
credits. Refuses one thing at a time, but well: {"error": {"code", "field", "message",
"accepted"}}. Checking a document out needs the result of the conflict check and gives a
checkout_no; the work product goes in with a privilege call; release wants the hours, in
tenths. A partner signs off about two seconds later (202, then status RELEASED); pays
then.
"""

import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

MATTERS: list[dict[str, Any]] = [
    {
        "matter": "M-2291",
        "caption": "Hollis v. Kerr Shipping",
        "documents": [
            ("HLK000412", "The charterer shall give notice within nine days.", 14),
            ("HLK000413", "Demurrage is due from the second tide onward.", 11),
            ("HLK000420", "No party may assign this agreement without consent.", 18),
        ],
    },
    {
        "matter": "M-2304",
        "caption": "Estate of R. Whitcombe",
        "documents": [
            ("WHT000007", "I leave the orchard to my niece and her children.", 9),
            ("WHT000011", "The silver is to be sold and the sum divided.", 7),
        ],
    },
    {
        "matter": "M-2317",
        "caption": "Porto Glass licence",
        "documents": [
            ("PGL000101", "The licensee pays a royalty of four per cent.", 13),
            ("PGL000102", "This licence ends when the furnace is shut down.", 10),
        ],
    },
]
OUT = {"M-2304:WHT000011"}  # checked out by another reviewer
SIGN_OFF = 2.0  # seconds
DOCUMENTS = {f"{m['matter']}:{d[0]}": d for m in MATTERS for d in m["documents"]}


def _no(
    status: int, code: str, message: str, field: str | None = None, accepted: Any = None
) -> Response:
    error: dict[str, Any] = {"code": code, "field": field, "message": message}
    if accepted:
        error["accepted"] = accepted
    return Response(status, {"error": error})


class LawReviewDesk(Backend):
    """The register of documents and who has them."""

    def __init__(self) -> None:
        super().__init__()
        self._reviewers: dict[str, str] = {}
        self._checkouts: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {ref: d[1] for ref, d in DOCUMENTS.items() if ref not in OUT}

    def _sign_off(self) -> None:
        for one in self._checkouts.values():
            if one["status"] == "SIGN_OFF" and time.monotonic() >= one["due"]:
                one["status"] = "RELEASED"
                self.book.pay(one["ref"], DOCUMENTS[one["ref"]][2])

    def missing(self, request: Request) -> Response:
        return _no(
            404, "NO_SUCH_PAGE", f"The review desk has nothing at {request.path}."
        )

    def _body(self, request: Request) -> tuple[dict[str, Any], Response | None]:
        self._sign_off()
        if request.token not in self._reviewers:
            return {}, _no(
                401, "NOT_SIGNED_IN", "Send your credential as a bearer token."
            )
        try:
            body = request.json() if request.raw else {}
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return {}, _no(400, "BAD_BODY", "The body has to be a JSON object.")
        return body, None

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token, reviewer = secrets.token_hex(24), f"RV{1000 + len(self._reviewers)}"
        self._reviewers[token] = reviewer
        return Response(
            200,
            {
                "reviewer": {
                    "id": reviewer,
                    "credential": {"type": "bearer", "value": token},
                    "credits": 100,
                }
            },
        )

    def tasks(self, request: Request) -> Response:
        _, refusal = self._body(request)
        if refusal:
            return refusal
        of = {c["ref"]: c for c in self._checkouts.values()}
        matters = []
        for matter in MATTERS:
            documents = []
            for bates, instruction, cents in matter["documents"]:
                ref = f"{matter['matter']}:{bates}"
                status = (
                    "CHECKED_OUT"
                    if ref in OUT
                    else of[ref]["status"]
                    if ref in of
                    else "IN"
                )
                documents.append(
                    {
                        "document_ref": ref,
                        "bates": bates,
                        "pages": 1,
                        "instruction": instruction,
                        "fee_usd_cents": cents,
                        "status": status,
                    }
                )
            matters.append(
                {
                    "matter": matter["matter"],
                    "caption": matter["caption"],
                    "documents": documents,
                }
            )
        return Response(
            200,
            {
                "desk": "Document Review",
                "rate": "1 USD = 100 credits",
                "matters": matters,
            },
        )

    def claim(self, request: Request) -> Response:
        body, refusal = self._body(request)
        if refusal:
            return refusal
        ref = body.get("document_ref")
        if not ref:
            return _no(
                400,
                "MISSING",
                "Which document? Give its document_ref as in the list.",
                "document_ref",
            )
        if not isinstance(ref, str) or ref not in DOCUMENTS:
            return _no(
                404, "UNKNOWN_DOCUMENT", f"There is no document {ref}.", "document_ref"
            )
        if body.get("conflict_check") != "CLEAR":
            return _no(
                400,
                "CONFLICT_CHECK",
                "State that your conflict check for this matter is clear.",
                "conflict_check",
                ["CLEAR"],
            )
        reviewer = self._reviewers[request.token]
        held = next((c for c in self._checkouts.values() if c["ref"] == ref), None)
        if ref in OUT or (held and held["reviewer"] != reviewer):
            return _no(
                409,
                "CHECKED_OUT",
                "Another reviewer has this document.",
                "document_ref",
            )
        if not held:
            held = {
                "no": f"CO-{7300 + len(self._checkouts)}",
                "ref": ref,
                "reviewer": reviewer,
                "status": "CHECKED_OUT",
                "due": 0.0,
            }
            self._checkouts[held["no"]] = held
            self.book.claimed(ref)
        return Response(
            200,
            {"checkout_no": held["no"], "document_ref": ref, "status": held["status"]},
        )

    def _checkout(
        self, request: Request, body: dict[str, Any]
    ) -> tuple[Any, Response | None]:
        number = body.get("checkout_no")
        if not number:
            return None, _no(
                400,
                "MISSING",
                "Give the checkout_no that you got with the document.",
                "checkout_no",
            )
        found = self._checkouts.get(str(number))
        if not found or found["reviewer"] != self._reviewers[request.token]:
            return None, _no(
                404,
                "UNKNOWN_CHECKOUT",
                f"You have no checkout {number}.",
                "checkout_no",
            )
        return found, None

    def submit(self, request: Request) -> Response:
        body, refusal = self._body(request)
        if refusal:
            return refusal
        found, refusal = self._checkout(request, body)
        if refusal:
            return refusal
        product = body.get("work_product")
        if not isinstance(product, str) or not product:
            return _no(
                400,
                "MISSING",
                "work_product is the text of your work; it is empty or not a text.",
                "work_product",
            )
        if body.get("privilege") not in ("NONE", "ATTORNEY_CLIENT", "WORK_PRODUCT"):
            return _no(
                400,
                "PRIVILEGE_CALL",
                "Make a privilege call.",
                "privilege",
                ["NONE", "ATTORNEY_CLIENT", "WORK_PRODUCT"],
            )
        if found["status"] in ("SIGN_OFF", "RELEASED"):
            return _no(
                409, "CLOSED", f"{found['no']} is no longer open.", "checkout_no"
            )
        if product != DOCUMENTS[found["ref"]][1].upper():
            return _no(
                422,
                "QUALITY",
                "Quality control sent the work product back.",
                "work_product",
            )
        found["status"] = "WORKED"
        return Response(200, {"checkout_no": found["no"], "status": "WORKED"})

    def complete(self, request: Request) -> Response:
        body, refusal = self._body(request)
        if refusal:
            return refusal
        found, refusal = self._checkout(request, body)
        if refusal:
            return refusal
        hours = body.get("hours")
        if (
            isinstance(hours, bool)
            or not isinstance(hours, (int, float))
            or not 0 < hours <= 12
        ):
            return _no(
                400,
                "TIME_ENTRY",
                "Enter your time: hours, a number in tenths, such as 0.3.",
                "hours",
            )
        if found["status"] == "CHECKED_OUT":
            return _no(
                409,
                "NO_WORK_PRODUCT",
                f"Nothing was submitted for {found['no']}.",
                "checkout_no",
            )
        if found["status"] == "WORKED":
            found.update(status="SIGN_OFF", due=time.monotonic() + SIGN_OFF)
        done = found["status"] == "RELEASED"
        answer = {
            "checkout_no": found["no"],
            "document_ref": found["ref"],
            "status": found["status"],
            "note": "Signed off; the fee is paid."
            if done
            else "With the partner for sign-off; the fee follows.",
        }
        return Response(200 if done else 202, answer)
