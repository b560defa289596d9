"""A parish magazine, an old form handler: HTTP 200 to everything, {"ok": false, "message": ...} for no.

The magazine lists its notices, whose headlines are set in capitals. A claim wants {"notice_no": <int>}; submit
wants {"notice_no": <int>, "proof": <text>} and lays the proof before the editor, who takes three seconds;
complete wants {"notice_no": <int>}: "with the editor" until she has read it, then "ready for print", and it is paid.
"""

import time
import uuid
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

EDITOR_SECONDS = 3.0


@dataclass
class Notice:
    """One notice of the next issue."""

    number: int
    sender: str
    page: int
    headline: str
    thanks: int
    state: str = "to be set"
    setter: str = ""
    proof: str = ""
    handed_in: float = 0.0

    def shown(self) -> dict[str, Any]:
        """Return the notice as the magazine shows it."""
        return {
            "notice_no": self.number,
            "from": self.sender,
            "page": self.page,
            "headline": self.headline,
            "credits": self.thanks,
            "state": self.state,
        }


def issue() -> list[Notice]:
    """Return the notices of the next issue."""
    return [
        Notice(21, "Choir", 2, "new voices welcome on thursday evenings", 7),
        Notice(22, "Bell ringers", 2, "the tower will be silent during the repairs", 9),
        Notice(
            23,
            "Churchwardens",
            3,
            "harvest supper in the village hall",
            5,
            "set already",
        ),
        Notice(24, "Flower guild", 3, "lilies for easter may be given in memory", 8),
        Notice(25, "Coffee morning", 4, "cakes are needed for the first of may", 6),
        Notice(26, "Youth club", 5, "summer camp has four places left", 5),
        Notice(27, "Vicar", 1, "a walk to the old chapel on the hill", 10),
    ]


class ParishNews(Backend):
    """The magazine's form handler."""

    def __init__(self) -> None:
        super().__init__()
        self.helpers: dict[str, int] = {}
        self.notices = {notice.number: notice for notice in issue()}

    def texts(self) -> dict[str, str]:
        return {str(n.number): n.headline for n in issue() if n.state == "to be set"}

    def sorry(self, message: str) -> Response:
        """Return a refusal as this handler gives it."""
        return Response(200, {"ok": False, "message": message}, refused=True)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = uuid.uuid4().hex
        self.helpers[token] = 100
        return Response(
            200,
            {
                "ok": True,
                "agent_id": f"helper{self.book.registrations}",
                "access_token": token,
                "credits": 100,
            },
        )

    def listing(self, limit: int) -> Response:
        """Return the notices."""
        return Response(
            200,
            {
                "ok": True,
                "issue": "May and June",
                "note": "Headlines are printed in capital letters. Please set them so.",
                "notices": [notice.shown() for notice in self.notices.values()][:limit],
            },
        )

    def marketplace(self, request: Request) -> Response:
        return self.listing(100)

    def tasks(self, request: Request) -> Response:
        if request.token not in self.helpers:
            return self.sorry("Please sign in first (access token).")
        raw = request.query.get("limit", "")
        return self.listing(int(raw) if raw.isdecimal() else 100)

    def checked(self, request: Request) -> tuple[Notice, dict[str, Any]] | Response:
        """Return the notice meant and the form."""
        if request.token not in self.helpers:
            return self.sorry("Please sign in first (access token).")
        try:
            data = request.json() if request.raw else {}
        except ValueError:
            return self.sorry("We could not read your form, it is not JSON.")
        if not isinstance(data, dict):
            return self.sorry("We could not read your form.")
        value = data.get("notice_no")
        if value is None or value == "":
            return self.sorry("Please fill in notice_no.")
        if isinstance(value, bool) or not str(value).isdecimal():
            return self.sorry("The notice_no must be a number.")
        notice = self.notices.get(int(value))
        if notice is None:
            return self.sorry(f"There is no notice {value} in this issue.")
        return notice, data

    def claim(self, request: Request) -> Response:
        checked = self.checked(request)
        if isinstance(checked, Response):
            return checked
        notice, _ = checked
        if notice.state == "being set" and notice.setter == request.token:
            return Response(
                200,
                {
                    "ok": True,
                    "message": "You have this notice.",
                    "notice": notice.shown(),
                },
            )
        if notice.state != "to be set":
            return self.sorry("Somebody else is looking after this notice, thank you.")
        notice.state, notice.setter = "being set", request.token
        self.book.claimed(str(notice.number))
        return Response(
            200,
            {"ok": True, "message": "Thank you for helping.", "notice": notice.shown()},
        )

    def submit(self, request: Request) -> Response:
        checked = self.checked(request)
        if isinstance(checked, Response):
            return checked
        notice, data = checked
        proof = data.get("proof")
        if proof is None or proof == "":
            return self.sorry(
                "Please fill in proof, the headline as it is to be printed."
            )
        if not isinstance(proof, str):
            return self.sorry("The proof must be a text.")
        if notice.setter != request.token:
            return self.sorry("This notice is not yours. Please take it first.")
        if notice.state == "ready for print":
            return self.sorry("This notice is ready for print already.")
        if notice.state == "being set":
            notice.state, notice.proof = "with the editor", proof
            notice.handed_in = time.monotonic()
        return Response(
            200,
            {
                "ok": True,
                "message": "Your proof is with the editor.",
                "notice": notice.shown(),
            },
        )

    def complete(self, request: Request) -> Response:
        checked = self.checked(request)
        if isinstance(checked, Response):
            return checked
        notice, _ = checked
        if notice.setter != request.token:
            return self.sorry("This notice is not yours. Please take it first.")
        if notice.state == "being set":
            return self.sorry("There is no proof of this notice yet.")
        if notice.state == "with the editor":
            if time.monotonic() - notice.handed_in < EDITOR_SECONDS:
                return Response(
                    200,
                    {
                        "ok": True,
                        "message": "The editor is still reading. Please ask again in a moment.",
                        "notice": notice.shown(),
                    },
                )
            if notice.proof != notice.headline.upper():
                notice.state = "being set"
                return self.sorry(
                    "The editor sent it back: not the headline in capital letters."
                )
            notice.state = "ready for print"
            self.helpers[request.token] += notice.thanks
            self.book.pay(str(notice.number), notice.thanks)
        return Response(
            200,
            {
                "ok": True,
                "message": f"Ready for print. {notice.thanks} credits with our thanks.",
                "notice": notice.shown(),
                "your_credits": self.helpers[request.token],
            },
        )
