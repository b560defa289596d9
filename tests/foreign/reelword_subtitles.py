"""A film subtitler's desk: everything is a 200 with an `ok` flag, errors are a line of prose.

Lists `reels` by pages (`page`, `more`, `next`); a reel has an integer `reel_no`, its `dialogue`
and a `fee` of value and exponent (500, 2: five credits); reels with another editor stay listed.
A claim ("checkout") wants `reel_no` and answers a `copy` with its own number; submit wants
`copy_no`, `subtitle` and `reading_speed` (characters per second, 5 to 25); complete wants
`copy_no` and `sign_off`, of which FINAL pays and DRAFT merely keeps. Refuses one thing at a
time: {"ok": false, "error": "..."}. The answer to FINAL says `paid` and the fee.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

REELS = [
    (41, "The Salt Road", "We leave before the tide comes in", 5, "waiting"),
    (42, "The Salt Road", "You never told me about the letter", 4, "waiting"),
    (43, "The Salt Road", "Nobody has opened that gate for years", 4, "with editor"),
    (57, "Night Tram", "Last stop, everybody out please", 3, "waiting"),
    (58, "Night Tram", "I only wanted to see the river once more", 6, "waiting"),
    (63, "Harvest Brass", "Play it slower, like my father did", 5, "with editor"),
    (64, "Harvest Brass", "The band meets behind the church at eight", 3, "waiting"),
    (65, "Harvest Brass", "Somebody has taken my trumpet", 2, "waiting"),
    (70, "Two Doors Down", "She sings when the washing is done", 4, "waiting"),
]
PAGE = 4


class ReelwordSubtitles(Backend):
    """Reels, the copies that editors hold, and their sign-off."""

    def __init__(self) -> None:
        super().__init__()
        self.editors: dict[str, int] = {}
        self.reels: dict[int, dict[str, Any]] = {
            no: {"film": film, "dialogue": text, "credits": fee, "status": status}
            for no, film, text, fee, status in REELS
        }
        self.copies: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(r[0]): r[2] for r in REELS if r[4] == "waiting"}

    @staticmethod
    def _no(error: str) -> Response:
        return Response(200, {"ok": False, "error": error}, refused=True)

    def missing(self, request: Request) -> Response:
        return Response(404, {"ok": False, "error": "unknown method"})

    def _fee(self, reel: dict[str, Any]) -> dict[str, Any]:
        return {"value": reel["credits"] * 100, "exponent": 2, "currency": "CREDITS"}

    def _body(self, request: Request) -> Any:
        if request.token not in self.editors:
            return self._no("not signed in: send your key as a bearer token")
        try:
            body = request.json() if request.raw else {}
        except ValueError:
            return self._no("could not read the JSON")
        return body if isinstance(body, dict) else self._no("expected a JSON object")

    def _number(self, body: dict[str, Any], name: str, known: Any, what: str) -> Any:
        """Return a known number (also written as text), or the refusal."""
        value = body.get(name)
        if value in (None, ""):
            return self._no(f"{name} is missing")
        if isinstance(value, bool) or not str(value).isdigit():
            return self._no(f"{name} must be a whole number")
        if int(value) not in known:
            return self._no(f"no {what} {value}")
        return int(value)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        key = f"rw-{secrets.token_hex(16)}"
        self.editors[key] = number = 880 + len(self.editors)
        body = {"ok": True, "editor": {"editor_no": number, "credits": 100}}
        return Response(200, body | {"key": key})

    def tasks(self, request: Request) -> Response:
        if request.token not in self.editors:
            return self._no("not signed in: send your key as a bearer token")
        return self.marketplace(request)

    def marketplace(self, request: Request) -> Response:
        page = request.query.get("page", "1")
        limit = request.query.get("limit", str(PAGE))
        if not (page.isdigit() and int(page) and limit.isdigit() and int(limit)):
            return self._no("page and limit must be positive whole numbers")
        size = min(int(limit), PAGE)
        start = (int(page) - 1) * size
        rows = [
            {
                "reel_no": no,
                "film": reel["film"],
                "dialogue": reel["dialogue"],
                "fee": self._fee(reel),
                "status": reel["status"],
            }
            for no, reel in list(self.reels.items())[start : start + size]
        ]
        body = {"ok": True, "reels": rows, "page": int(page)}
        body["more"] = start + size < len(self.reels)
        if body["more"]:
            body["next"] = f"{request.path}?page={int(page) + 1}&limit={size}"
        return Response(200, body)

    def claim(self, request: Request) -> Response:
        body = self._body(request)
        if isinstance(body, Response):
            return body
        number = self._number(body, "reel_no", self.reels, "reel")
        if isinstance(number, Response):
            return number
        reel = self.reels[number]
        mine = [
            no
            for no, copy in self.copies.items()
            if copy["reel"] == number and copy["key"] == request.token
        ]
        if mine:
            return self._no(f"you already have reel {number} as copy {mine[0]}")
        if reel["status"] != "waiting":
            return self._no(f"reel {number} is {reel['status']}")
        reel["status"] = "with editor"
        copy_no = 5200 + 7 * len(self.copies)
        self.copies[copy_no] = {"reel": number, "key": request.token, "subtitle": None}
        self.book.claimed(str(number))
        copy = {"copy_no": copy_no, "reel_no": number, "return_within": "45 min"}
        return Response(200, {"ok": True, "copy": copy})

    def _copy(self, request: Request, body: dict[str, Any]) -> Any:
        own = {no for no, copy in self.copies.items() if copy["key"] == request.token}
        return self._number(body, "copy_no", own, "copy of yours with number")

    def submit(self, request: Request) -> Response:
        body = self._body(request)
        number = body if isinstance(body, Response) else self._copy(request, body)
        if isinstance(number, Response):
            return number
        subtitle, speed = body.get("subtitle"), body.get("reading_speed")
        if not subtitle:
            return self._no("subtitle is missing")
        if not isinstance(subtitle, str):
            return self._no("subtitle must be text")
        if speed is None:
            return self._no("reading_speed is missing (characters per second)")
        if (
            isinstance(speed, bool)
            or not isinstance(speed, int | float)
            or not 5 <= speed <= 25
        ):
            return self._no("reading_speed must be a number between 5 and 25")
        copy = self.copies[number]
        reel = self.reels[copy["reel"]]
        if reel["status"] not in ("with editor", "delivered"):
            return self._no(f"reel {copy['reel']} is {reel['status']}")
        copy["subtitle"], reel["status"] = subtitle, "delivered"
        return Response(200, {"ok": True, "copy_no": number, "status": "delivered"})

    def complete(self, request: Request) -> Response:
        body = self._body(request)
        number = body if isinstance(body, Response) else self._copy(request, body)
        if isinstance(number, Response):
            return number
        sign = body.get("sign_off")
        if not sign:
            return self._no("sign_off is missing")
        if sign not in ("DRAFT", "FINAL"):
            return self._no("sign_off must be DRAFT or FINAL")
        copy = self.copies[number]
        reel = self.reels[copy["reel"]]
        if reel["status"] == "with editor":
            return self._no(f"copy {number} has no subtitle yet")
        answer = {"ok": True, "copy_no": number}
        if reel["status"] == "delivered":
            if sign == "DRAFT":
                said = "kept as a draft, sign off as FINAL to be paid"
                return Response(200, answer | {"status": "delivered", "note": said})
            if copy["subtitle"] != reel["dialogue"].upper():
                reel["status"] = "turned down"
            else:
                reel["status"] = "paid"
                self.book.pay(str(copy["reel"]), reel["credits"])
        if reel["status"] == "turned down":
            return self._no(
                f"copy {number} was turned down: not what the reel asks for"
            )
        return Response(200, answer | {"status": "paid", "fee": self._fee(reel)})
