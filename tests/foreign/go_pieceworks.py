"""Pieceworks: Go, net/http alone, whose two authors wrote every error themselves, in prose.

Errors go out with http.Error: text/plain, nosniff, one line and a newline. Bodies are read with
json.Decoder and DisallowUnknownFields, whose errors are caught (errors.As) and put into the
authors' own words; as in encoding/json, the case of a key does not matter and null leaves a field
at its zero value. Validation stops at the first thing that is wrong, as `if err != nil` does.
"""

import hashlib
import json
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

SEED = [
    ("amber-otter", "Shop window", 7, "Back in ten minutes, promise."),
    ("brisk-heron", "Allotment gate", 6, "Shut the gate or the goats get out."),
    ("calm-badger", "Cinema foyer", 9, "Screen 2 is upstairs, past the popcorn."),
    ("dusty-finch", "Lending library", 5, "Return by the 14th to avoid a fine."),
    ("eager-newt", "Swimming pool", 8, "Deep end: 3.8 m. No diving from the sides."),
    ("fabled-stoat", "Farm shop", 11, "Eggs, honey, crème fraîche & new potatoes."),
    (
        "gentle-wren",
        "Rail replacement",
        10,
        "Buses replace trains between Hove and Lewes.",
    ),
    ("humble-mole", "Village hall", 4, "Chess on Mondays, quiz on the last Friday."),
]
TICKET_LIFE = 40 * 60
AT_ONCE = 4
GO_KINDS = {
    str: "a string",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    list: "an array",
    dict: "an object",
}
LISTING = "GET /functions/v1/get-marketplace-tasks"


class Oops(Exception):
    """An error on its way to http.Error."""

    def __init__(self, status: int, prose: str) -> None:
        self.status, self.prose = status, prose


def http_error(status: int, prose: str) -> Response:
    more = {
        "Content-Type": "text/plain; charset=utf-8",
        "X-Content-Type-Options": "nosniff",
    }
    if status == 401:
        more["WWW-Authenticate"] = "Bearer"
    return Response(status, prose + "\n", more)


def article(word: str) -> str:
    return ("an " if word[0] in "aeiou" else "a ") + word


def spoken(names: list[str]) -> str:
    quoted = [f'"{name}"' for name in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if quoted[1:] else quoted)


def char(raw: str, at: int) -> str:
    """Return a character as the errors of encoding/json quote it."""
    return {"'": "'\\''", '"': "'\"'"}.get(raw[at], f"'{raw[at]}'")


def syntax(raw: str, bad: json.JSONDecodeError) -> str:
    """Return what encoding/json has to say about bytes that are not JSON."""
    if bad.pos >= len(raw.rstrip()):
        return "unexpected EOF"
    if "property name" in bad.msg:
        return f"invalid character {char(raw, bad.pos)} looking for beginning of object key string"
    if "delimiter" in bad.msg:
        after = (
            "after object key:value pair" if "','" in bad.msg else "after object key"
        )
        return f"invalid character {char(raw, bad.pos)} {after}"
    return f"invalid character {char(raw, bad.pos)} looking for beginning of value"


def decode(request: Request, noun: str, **fields: str) -> dict[str, str]:
    """Read the body into a struct of strings, or tell in prose why it does not go in.

    `fields` has for every field what has to be in there, for the one who left it out.
    """
    raw = request.raw.decode(errors="replace")
    if not raw.strip():
        raise Oops(
            400,
            f"The request has no body. {article(noun).capitalize()} is a small JSON object; send one.",
        )
    try:
        # A json.Decoder reads one value and leaves what comes after it.
        body, _ = json.JSONDecoder().raw_decode(raw.lstrip())
    except json.JSONDecodeError as bad:
        raise Oops(
            400, f"We could not read that as JSON: {syntax(raw.lstrip(), bad)}."
        ) from None
    if not isinstance(body, dict):
        got = "null" if body is None else GO_KINDS[type(body)]
        raise Oops(
            400,
            f"{article(noun).capitalize()} has to be a JSON object, and yours is {got}.",
        )
    read = dict.fromkeys(fields, "")
    for key, value in body.items():
        name = key.lower()
        if name not in fields:
            raise Oops(400, f'We don\'t know what to do with "{key}": {article(noun)} has {spoken(list(fields))} '
                            "and nothing else.")  # fmt: skip
        if value is None:
            continue
        if not isinstance(value, str):
            raise Oops(
                400,
                f'"{name}" should be a string, but you sent us {GO_KINDS[type(value)]}.',
            )
        read[name] = value
    for name, wanted in fields.items():
        if not read[name].strip():
            raise Oops(400, f'Your {noun} has no "{name}" in it. Put {wanted} there.')
    return read


def rfc3339(when: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when))


class Pieceworks(Backend):
    """Handlers over a few maps and one mutex."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces = {slug: {"where": where, "pay": pay, "text": text, "ticket": "", "done": False}
                       for slug, where, pay, text in SEED}  # fmt: skip
        self.posted = time.time() - 9000
        self.hands: dict[str, dict[str, Any]] = {}  # who works here, by access token
        self.tickets: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {slug: piece["text"] for slug, piece in self.pieces.items()}  # type: ignore[misc]

    def missing(self, request: Request) -> Response:
        return http_error(404, "404 page not found")

    def who(self, request: Request) -> dict[str, Any]:
        if not request.headers.get("Authorization"):
            raise Oops(401, "We don't know who you are. Send the access_token from your registration in an "
                            'Authorization header, as "Bearer", a space, and the token.')  # fmt: skip
        if request.token not in self.hands:
            raise Oops(
                401, "That token is not one of ours. Register again if you lost yours."
            )
        return self.hands[request.token]

    def answer(self, run: Any, request: Request) -> Response:
        try:
            return Response(200, run(self.who(request), request))
        except Oops as no:
            return http_error(no.status, no.prose)

    def sweep(self) -> None:
        """Take back what was not handed in in time."""
        for ticket in self.tickets.values():
            piece = self.pieces[ticket["slug"]]
            if ticket["state"] == "out" and ticket["until"] < time.time():
                ticket["state"], piece["ticket"] = "lapsed", ""
                self.book.held.discard(ticket["slug"])

    # -- handlers ------------------------------------------------------------------------------

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        number = self.book.registrations
        token = "pw1" + hashlib.sha1(f"hand {number}".encode()).hexdigest()
        self.hands[token] = {"id": f"hand-{1000 + number}", "purse": 100}
        return Response(
            200,
            {
                "agent_id": f"hand-{1000 + number}",
                "access_token": token,
                "credits": 100,
                "hello": f"Welcome. Find work at {LISTING}.",
            },
        )

    def tasks(self, request: Request) -> Response:
        self.sweep()
        limit = request.query.get("limit") or "50"
        if not limit.isdecimal() or not 1 <= int(limit) <= 200:
            return http_error(
                400, f'limit has to be a whole number from 1 to 200; "{limit}" is not.'
            )
        free = [
            slug
            for slug, piece in self.pieces.items()
            if not piece["ticket"] and not piece["done"]
        ]
        return Response(200, [self.shown(slug) for slug in free[: int(limit)]])

    marketplace = tasks

    def shown(self, slug: str) -> dict[str, Any]:
        piece = self.pieces[slug]
        return {
            "slug": slug,
            "job": f"{piece['where']}: set this line in capitals",
            "copy": piece["text"],
            "pays": f"{piece['pay']} credits",
            "for": "anyone",
            "posted": rfc3339(self.posted),
        }

    def claim(self, request: Request) -> Response:
        return self.answer(self.take, request)

    def take(self, hand: dict[str, Any], request: Request) -> dict[str, Any]:
        slug = decode(request, "claim", slug="the slug of the piece you want")["slug"]
        self.sweep()
        if slug not in self.pieces:
            raise Oops(
                404,
                f'There is no piece called "{slug}". {LISTING} has the ones that are free.',
            )
        piece = self.pieces[slug]
        if piece["done"]:
            raise Oops(409, f"Too late for {slug}: it was finished and paid.")
        if piece["ticket"]:
            ticket = self.tickets[piece["ticket"]]  # type: ignore[index]
            if ticket["hand"] is not hand:
                raise Oops(
                    409, f"Somebody else is at work on {slug}. Pick another one."
                )
            return self.stub(piece["ticket"])  # type: ignore[arg-type]  # asking twice gets the same ticket
        mine = [
            it["slug"]
            for it in self.tickets.values()
            if it["hand"] is hand and it["state"] in ("out", "in")
        ]
        if len(mine) >= AT_ONCE:
            raise Oops(409, f"You have {len(mine)} pieces on your bench already ({', '.join(mine)}), and {AT_ONCE} "
                            "is as many as we give out. Complete one first.")  # fmt: skip
        name = (
            hashlib.md5(f"{slug} {len(self.tickets)}".encode()).hexdigest()[:8].upper()
        )
        name = f"{name[:4]}-{name[4:]}"
        self.tickets[name] = {
            "slug": slug,
            "hand": hand,
            "state": "out",
            "until": time.time() + TICKET_LIFE,
        }
        piece["ticket"] = name
        self.book.claimed(slug)
        return self.stub(name)

    def stub(self, name: str) -> dict[str, Any]:
        ticket = self.tickets[name]
        return {
            "ticket": name,
            "slug": ticket["slug"],
            "hand_in_by": rfc3339(ticket["until"]),
        }

    def ticket(self, hand: dict[str, Any], name: str) -> dict[str, Any]:
        self.sweep()
        ticket = self.tickets.get(name)
        if not ticket:
            raise Oops(
                404,
                f'We never gave out a ticket "{name}". You get yours in the answer to a claim.',
            )
        if ticket["hand"] is not hand:
            raise Oops(403, f"Ticket {name} is not yours.")
        if ticket["state"] == "lapsed":
            raise Oops(
                410,
                f"Ticket {name} ran out at {rfc3339(ticket['until'])}. Claim {ticket['slug']} again.",
            )
        if ticket["state"] == "paid":
            raise Oops(
                409,
                f"Ticket {name} is settled. You were paid for {ticket['slug']}, and we pay once.",
            )
        return ticket

    def submit(self, request: Request) -> Response:
        return self.answer(self.hand_in, request)

    def hand_in(self, hand: dict[str, Any], request: Request) -> dict[str, Any]:
        body = decode(request, "submission", ticket="the ticket that your claim gave you",
                      work="the finished text")  # fmt: skip
        ticket = self.ticket(hand, body["ticket"])
        want = self.pieces[ticket["slug"]]["text"].upper()  # type: ignore[attr-defined]
        if body["work"] != want:
            at = next((i for i, (a, b) in enumerate(zip(body["work"], want)) if a != b),
                      min(len(want), len(body["work"])))  # fmt: skip
            raise Oops(422, f"That won't do for {ticket['slug']}. We want its copy in capitals and nothing around "
                            f"it, {len(want)} characters; yours has {len(body['work'])} and goes wrong at character "
                            f"{at + 1}. Ticket {body['ticket']} is still good, so try again.")  # fmt: skip
        ticket["state"] = "in"
        return {
            "ok": True,
            "ticket": body["ticket"],
            "note": "Good work. Complete it to be paid.",
        }

    def complete(self, request: Request) -> Response:
        return self.answer(self.settle, request)

    def settle(self, hand: dict[str, Any], request: Request) -> dict[str, Any]:
        body = decode(
            request, "completion", ticket="the ticket that your claim gave you"
        )
        ticket = self.ticket(hand, body["ticket"])
        if ticket["state"] != "in":
            raise Oops(409, f"Nothing has been handed in on ticket {body['ticket']}. Submit the work first, then "
                            "complete it.")  # fmt: skip
        piece = self.pieces[ticket["slug"]]
        ticket["state"], piece["done"] = "paid", True
        hand["purse"] += piece["pay"]
        self.book.pay(ticket["slug"], piece["pay"])  # type: ignore[arg-type]
        return {"paid": f"{piece['pay']} credits", "purse": f"{hand['purse']} credits"}
