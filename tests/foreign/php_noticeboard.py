"""The Notice Board, a parish service: plain PHP 8.2 behind mod_php, no framework.

One includes/answer.php with two functions, done() and sorry(), and a lot of `if`.
Everything is HTTP 200, as it was in 2009; "status" says how it went and "reason" says
it in whole sentences, one complaint at a time. Numbers come as PDO gives them, fees are
DECIMAL columns and thus strings, and lists keyed by number become JSON objects.
Bodies may be JSON or form data.
"""

import json
import re
import secrets
import time
from typing import Any
from urllib.parse import parse_qsl

from tests.foreign.backend import Backend, Response

IN_HAND = 2  # define('MAX_SLIPS', 2);

NOTICES = {
    3107: ("Church hall", "jumble sale this saturday from ten o'clock", "14.00"),
    3111: ("Post office", "the parcel counter has moved upstairs", "8.00"),
    3112: ("Allotments", "hosepipes may be used after six in the evening", "17.00"),
    3118: ("Library", "returned books go in the green trolley", "10.00"),
    3125: ("Bowls club", "new members' evening on the 4th of june", "22.00"),
    3126: ("Surgery", "flu jabs by appointment only", "12.00"),
}


class Sorry(Exception):
    """function sorry(string $why): never"""


def page(action: Any) -> Any:
    """require 'answer.php';"""

    def run(self: Any, request: Any) -> Any:
        try:
            out = {"status": "ok", **action(self, request)}
            refused = False
        except Sorry as why:
            out = {"status": "sorry", "reason": str(why)}
            refused = True
        # json_encode() without flags escapes slashes, and so do we.
        return Response(
            200,
            json.dumps(out, separators=(",", ":")).replace("/", "\\/"),
            {
                "Content-Type": "application/json",
                "X-Powered-By": "PHP/8.2.18",
                "Cache-Control": "no-store, no-cache, must-revalidate",
            },
            refused=refused,
        )

    return run


def sent(request: Any) -> Any:
    """function sent(): array"""
    kind = request.headers.get("Content-Type") or ""
    text = request.raw.decode(errors="replace")
    if "form-urlencoded" in kind:
        return dict(parse_qsl(text, keep_blank_values=True))
    if not text.strip():
        return {}
    try:
        data = json.loads(text)
    except ValueError:
        raise Sorry(
            "We could not make sense of what you sent. It should be JSON, but PHP says: "
            "Syntax error."
        ) from None
    if not isinstance(data, dict):
        raise Sorry(
            "We could not make sense of what you sent. It should be a JSON object with "
            "named values in it."
        )
    return data


def kind_of(value: Any) -> Any:
    """gettype(), in words"""
    if value is True or value is False:
        return "a yes or no"
    if isinstance(value, (int, float)):
        return "a number"
    return "a text" if isinstance(value, str) else "a list"


def number(data: Any, name: Any, missing: Any, wrong: Any) -> Any:
    value = data.get(name)
    if value is None or value == "":
        raise Sorry(missing)
    if isinstance(value, bool) or not re.fullmatch(r"[0-9]{1,18}", str(value)):
        raise Sorry(f"{wrong} You sent us {kind_of(value)} as '{name}'.")
    return int(value)


def words(data: Any, name: Any, missing: Any, wrong: Any) -> Any:
    value = data.get(name)
    if value is None or value == "" or value == []:
        raise Sorry(missing)
    if not isinstance(value, str):
        raise Sorry(f"{wrong} You sent us {kind_of(value)} as '{name}'.")
    if not value.strip():
        raise Sorry(missing)
    return value.strip()


class NoticeBoard(Backend):
    """The board."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = {
            key: {"place": place, "words": text, "fee": fee, "taken_by": None}
            for key, (place, text, fee) in NOTICES.items()
        }
        self.people: dict[str, Any] = {}  # token -> row
        self.slips = {}  # type: ignore[var-annotated]

    def texts(self) -> Any:
        return {str(key): row["words"] for key, row in self.rows.items()}

    def missing(self, request: Any) -> Any:
        return Response(
            404,
            '<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN">\n<html><head>\n'
            "<title>404 Not Found</title>\n</head><body>\n<h1>Not Found</h1>\n"
            "<p>The requested URL was not found on this server.</p>\n</body></html>\n",
            {"Content-Type": "text/html; charset=iso-8859-1"},
        )

    def person(self, request: Any) -> Any:
        if not request.token:
            raise Sorry(
                "You have to show your token for this. Please send it in the header "
                "Authorization, after the word Bearer."
            )
        if request.token not in self.people:
            raise Sorry("We do not know the token you showed us. Have you joined yet?")
        return self.people[request.token]

    def slip(self, person: Any, data: Any) -> Any:
        code = words(
            data,
            "slip",
            "We cannot tell which job this is about. Please quote the code on your slip, "
            "as 'slip'.",
            "The code on a slip is a text, like 3100-7F3A.",
        )
        slip = self.slips.get(code.upper())
        if slip is None or slip["person"] is not person:
            raise Sorry(
                f"There is no slip '{code}' in your name. You get a slip when you take "
                "a notice."
            )
        return slip

    def row(self, key: Any) -> Any:
        row = self.rows[key]
        return {
            "no": key,
            "where": row["place"],
            "words": row["words"],
            "wanted": "the same words in capital letters",
            "fee": row["fee"],
        }

    @page
    def register(self, request: Any) -> Any:
        sent(request)
        token = secrets.token_hex(20)
        self.book.registrations += 1
        self.people[token] = {"no": 880 + len(self.people), "purse": 100}
        return {
            "agent_id": str(self.people[token]["no"]),
            "access_token": token,
            "credits": 100,
            "note": "Welcome to the Notice Board. Keep your token safe.",
        }

    @page
    def tasks(self, request: Any) -> Any:
        limit = request.query.get("limit", "")
        if limit and not (limit.isdecimal() and int(limit)):
            raise Sorry("The limit should be a whole number, and at least 1.")
        free = [key for key, row in self.rows.items() if row["taken_by"] is None]
        if limit:
            free = free[: int(limit)]
        # fetchAll(PDO::FETCH_UNIQUE); an empty array is a list to json_encode()
        return {
            "pinned": len(free),
            "notices": {str(key): self.row(key) for key in free} or [],
            "printed": time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime()),
        }

    marketplace = tasks

    @page
    def claim(self, request: Any) -> Any:
        person = self.person(request)
        data = sent(request)
        key = number(
            data,
            "notice",
            "You have not told us which notice you would like to take. Please give its "
            "number, as 'notice'.",
            "A notice is asked for by its number, which is made of digits only.",
        )
        if key not in self.rows:
            raise Sorry(f"There is no notice number {key} on the board.")
        mine = [s for s in self.slips.values() if s["person"] is person]
        for slip in mine:
            if slip["notice"] == key:
                raise Sorry(
                    f"You have taken notice {key} already, on slip {slip['code']}."
                )
        if self.rows[key]["taken_by"] is not None:
            raise Sorry(f"Somebody was faster than you: notice {key} has been taken.")
        if sum(slip["stage"] != "paid" for slip in mine) >= IN_HAND:
            raise Sorry(
                f"You have {IN_HAND} notices in hand, and that is as many as we allow. "
                "Finish one of them first."
            )
        code = f"{key}-{secrets.token_hex(2).upper()}"
        self.rows[key]["taken_by"] = person["no"]
        self.slips[code] = {
            "code": code,
            "notice": key,
            "person": person,
            "stage": "taken",
        }
        self.book.claimed(str(key))
        return {
            "slip": code,
            "notice": self.row(key),
            "please": "hand in your wording and quote the slip",
        }

    @page
    def submit(self, request: Any) -> Any:
        person = self.person(request)
        data = sent(request)
        slip = self.slip(person, data)
        wording = words(
            data,
            "wording",
            "There is nothing to look at. Please put the finished text in 'wording'.",
            "The finished wording should be a plain text.",
        )
        if slip["stage"] == "paid":
            raise Sorry(
                f"Slip {slip['code']} is done and paid; you cannot hand in again."
            )
        if wording != self.rows[slip["notice"]]["words"].upper():  # type: ignore[union-attr]
            slip["stage"] = "taken"
            raise Sorry(
                "Thank you, but we cannot use this. We wanted the words of notice "
                f"{slip['notice']} in capital letters and nothing else. You may hand in "
                "again on the same slip."
            )
        slip["stage"] = "handed in"
        return {
            "slip": slip["code"],
            "verdict": "good",
            "please": "sign the slip off to be paid",
        }

    @page
    def complete(self, request: Any) -> Any:
        person = self.person(request)
        slip = self.slip(person, sent(request))
        if slip["stage"] == "taken":
            raise Sorry(
                f"You have not handed in any wording for slip {slip['code']} that we "
                "could use. Please do that before you sign it off."
            )
        if slip["stage"] == "paid":
            raise Sorry(f"Slip {slip['code']} has been signed off and paid already.")
        slip["stage"] = "paid"
        fee = int(float(self.rows[slip["notice"]]["fee"]))  # type: ignore[arg-type]
        person["purse"] += fee
        self.book.pay(str(slip["notice"]), fee)
        return {
            "slip": slip["code"],
            "paid": self.rows[slip["notice"]]["fee"],
            "purse": f"{person['purse']:.2f}",
        }


if __name__ == "__main__":
    print(json.dumps(NoticeBoard().texts(), indent=1))
