"""A puzzle market: one person's Cloudflare Worker, bodies checked with valibot 1.x.

A puzzle's text is sealed (only its hash is listed) until it is claimed; a right solution
is paid in the answer to the submission. Bad bodies are answered with `v.flatten(issues)`.
"""

import hashlib
import json
import re
import secrets
import time
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_UNDEFINED: Any = type("undefined", (), {})()
_Issue = tuple[list[str], str]  # the path and the message
_Schema = Callable[[Any], list[_Issue]]


def _stringify(value: Any) -> str:
    """Valibot's `_stringify`: how a message shows what was received."""
    if value is _UNDEFINED:
        return "undefined"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, dict | list):
        return "Object" if isinstance(value, dict) else "Array"
    return json.dumps(value)


def _issue(label: str, expected: str, value: Any) -> list[_Issue]:
    start = f"Expected {expected} but r" if expected else "R"
    return [([], f"Invalid {label}: {start}eceived {_stringify(value)}")]


def _under(key: str, issues: list[_Issue]) -> list[_Issue]:
    return [([key, *path], message) for path, message in issues]


def _string(label: str = "", expected: str = "", pattern: str = "") -> _Schema:
    """`v.pipe(v.string(), check)`."""

    def run(value: Any) -> list[_Issue]:
        if not isinstance(value, str):
            return _issue("type", "string", value)
        if re.search(pattern, value, re.ASCII):
            return []
        return _issue(label, expected, len(value) if label == "length" else value)

    return run


def _number(value: Any) -> list[_Issue]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _issue("type", "number", value)
    return []


def _picklist(*options: str) -> _Schema:
    expected = "(" + " | ".join(f'"{option}"' for option in options) + ")"
    return lambda value: [] if value in options else _issue("type", expected, value)


def _object(entries: dict[str, _Schema], *, strict: bool = False) -> _Schema:
    """`v.object` or `v.strictObject`; like valibot's, it takes an array for an object."""

    def run(value: Any) -> list[_Issue]:
        if not isinstance(value, dict | list):
            return _issue("type", "Object", value)
        if isinstance(value, list):
            value = {str(index): item for index, item in enumerate(value)}
        issues: list[_Issue] = []
        for key, schema in entries.items():
            if key in value:
                issues += _under(key, schema(value[key]))
            else:
                issues += _under(key, _issue("key", f'"{key}"', _UNDEFINED))
        unknown = [key for key in value if key not in entries] if strict else []
        for key in unknown[:1]:  # valibot breaks after the first
            issues += _under(key, _issue("key", "never", key))
        return issues

    return run


def _variant(key: str, options: dict[str, _Schema]) -> _Schema:
    """`v.variant` over a literal discriminator."""

    def run(value: Any) -> list[_Issue]:
        if not isinstance(value, dict | list):
            return _issue("type", "Object", value)
        entries = value if isinstance(value, dict) else {}
        kind = entries.get(key, _UNDEFINED)
        if isinstance(kind, str) and kind in options:
            return options[kind](value)
        return _under(key, _picklist(*options)(kind))

    return run


def _flatten(issues: list[_Issue]) -> dict[str, Any]:
    """`v.flatten`: messages by dotted path; those without a path under root."""
    flat: dict[str, Any] = {}
    for path, message in issues:
        if path:
            flat.setdefault("nested", {}).setdefault(".".join(path), []).append(message)
        else:
            flat.setdefault("root", []).append(message)
    return flat


_PUZZLE_ID = r"^pz_[a-z0-9]{6}$"
_ticket_id = _string("Nano ID", "", r"^[\w-]+$")
_puzzle_id = _string("format", f"/{_PUZZLE_ID}/", _PUZZLE_ID)
_text = _object({"value": _string("length", "!0", r"(?s).")})
_solution = _variant("type", {"text": _text, "number": _object({"value": _number})})
_ClaimBody = _object(
    {"puzzleId": _puzzle_id, "mode": _picklist("solo", "team")}, strict=True
)
_SubmitBody = _object({"ticketId": _ticket_id, "solution": _solution}, strict=True)
_CompleteBody = _object({"ticketId": _ticket_id}, strict=True)

_PUZZLES = [
    ("pz_4k9x2m", "Lighthouse log", 14, "the keeper counts nine ships before the fog"),
    ("pz_b71tqe", "Postcard", 9, "wish you were here, bring the brass key"),
    ("pz_0hw3zn", "Chess clock", 22, "knight takes bishop at a quarter past two"),
    ("pz_m5c8ra", "Taken crossword", 18, "seven across is an anagram of teapot"),
    ("pz_y2f6dj", "Baker's dozen", 11, "thirteen loaves and only one holds the coin"),
    ("pz_q8v1ls", "Old riddle", 8, "what has a bed but never sleeps"),
    ("pz_3nu7gk", "Night train", 25, "carriage four, seat eleven, look under the lamp"),
    ("pz_e9p4wo", "Garden wall", 12, "ivy hides the door that faces north"),
    ("pz_z6a0ic", "Radio noise", 16, "two short tones, a pause, then the number five"),
    ("pz_t1j5bh", "Mirror", 30, "read the third line backwards by candlelight"),
]
_HOW_TO = (
    "The text is sealed until you claim the puzzle. The solution is the revealed text "
    "in UPPER CASE, every other character left as it is."
)
_ATTEMPTS = 5
_OPEN_TICKETS = 3


def _json(status: int, body: dict[str, Any]) -> Response:
    headers = {
        "cf-ray": f"{secrets.token_hex(8)}-FRA",
        "access-control-allow-origin": "*",
    }
    return Response(status, body, headers)


def _fail(status: int, code: str, message: str, **more: Any) -> Response:
    return _json(status, {"error": {"code": code, "message": message, **more}})


class PuzzleWorker(Backend):
    """Text revealed by the claim, paid by the submission; completing is a formality."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}  # by token
        self.tickets: dict[str, dict[str, Any]] = {}
        self.status = {row[0]: "open" for row in _PUZZLES}
        self.status |= {"pz_m5c8ra": "claimed", "pz_q8v1ls": "solved"}
        self.rows = {row[0]: row for row in _PUZZLES}
        self.earnable = [id_ for id_, status in self.status.items() if status == "open"]
        self.posted = int(time.time() * 1000) - 86_400_000

    def texts(self) -> dict[str, str]:
        """Return the sealed texts of the puzzles that nobody else has."""
        return {id_: self.rows[id_][3] for id_ in self.earnable}

    def missing(self, request: Request) -> Response:
        """`return new Response("Not found", { status: 404 })`."""
        return Response(404, "Not found", {"Content-Type": "text/plain;charset=UTF-8"})

    def register(self, request: Request) -> Response:
        """Make an agent; the body is not looked at."""
        self.book.registrations += 1
        token = f"pzt_{secrets.token_urlsafe(24)}"
        self.agents[token] = {"id": secrets.token_urlsafe(15), "credits": 100}
        agent = self.agents[token]
        return _json(
            200, {"agent_id": agent["id"], "access_token": token, "credits": 100}
        )

    def _show(self, id_: str) -> dict[str, Any]:
        _, title, bounty, text = self.rows[id_]
        return {
            "id": id_,
            "title": title,
            "howTo": _HOW_TO,
            "solutionType": "text",
            "bounty": bounty,
            "status": self.status[id_],
            "sealed": {"sha256": hashlib.sha256(text.encode()).hexdigest()},
            "postedAt": self.posted + 60_000 * list(self.rows).index(id_),
        }

    def tasks(self, request: Request) -> Response:
        """List all puzzles, paged as Workers KV pages its keys."""
        if request.token not in self.agents:
            return self._unauthorized()
        asked = request.query.get("limit", "")
        limit = min(int(asked), 50) if asked.isdecimal() else 20
        ids = list(self.rows)
        cursor = request.query.get("cursor", "")
        start = ids.index(cursor) + 1 if cursor in ids else 0
        page = ids[start : start + max(limit, 1)]
        body: dict[str, Any] = {"puzzles": [self._show(id_) for id_ in page]}
        body["list_complete"] = start + len(page) >= len(ids)
        if not body["list_complete"]:
            body["cursor"] = page[-1]
        return _json(200, body)

    def _unauthorized(self) -> Response:
        return _fail(401, "unauthorized", "Missing or unknown bearer token")

    def _body(self, request: Request, schema: _Schema) -> Any:
        """Return the valid body, or the refusal."""
        if request.token not in self.agents:
            return self._unauthorized()
        try:
            body = request.json()
        except ValueError:
            return _fail(400, "invalid_json", "Request body is not valid JSON")
        if issues := schema(body):
            message = "Request body did not validate"
            return _fail(400, "invalid_body", message, issues=_flatten(issues))
        ticket = self.tickets.get(body.get("ticketId", ""))
        if "ticketId" in body and (not ticket or ticket["token"] != request.token):
            message = f'You hold no ticket "{body["ticketId"]}"'
            return _fail(404, "ticket_not_found", message)
        return body

    def claim(self, request: Request) -> Response:
        """Open a ticket and reveal the text; the same again to who holds it already."""
        body = self._body(request, _ClaimBody)
        if isinstance(body, Response):
            return body
        id_ = body["puzzleId"]
        if id_ not in self.rows:
            return _fail(404, "puzzle_not_found", f'No puzzle "{id_}"')
        if body["mode"] == "team":
            return _fail(
                403, "no_team", 'You are not in a team, claim with mode "solo"'
            )
        tickets = [t for t in self.tickets.values() if t["token"] == request.token]
        mine = [t for t in tickets if t["state"] == "open"]
        held = next((t for t in mine if t["puzzleId"] == id_), None)
        if held is None:
            if self.status[id_] != "open":
                return _fail(409, "not_open", f"Puzzle is {self.status[id_]}")
            if len(mine) >= _OPEN_TICKETS:
                text = f"You hold {len(mine)} open tickets, solve one of them first"
                return _fail(409, "too_many_tickets", text)
            held = {"id": secrets.token_urlsafe(16)[:21], "puzzleId": id_}
            held |= {"state": "open", "attemptsLeft": _ATTEMPTS, "token": request.token}
            self.tickets[held["id"]] = held
            self.status[id_] = "claimed"
            self.book.claimed(id_)
        return _json(
            200, {"ticket": self._public(held), "reveal": {"text": self.rows[id_][3]}}
        )

    def _public(self, ticket: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in ticket.items() if key != "token"}

    def submit(self, request: Request) -> Response:
        """Judge a solution and pay it at once; five wrong ones void the ticket."""
        body = self._body(request, _SubmitBody)
        if isinstance(body, Response):
            return body
        ticket = self.tickets[body["ticketId"]]
        if ticket["state"] != "open":
            return _fail(409, "ticket_not_open", f"Ticket is {ticket['state']}")
        id_ = ticket["puzzleId"]
        _, _, bounty, text = self.rows[id_]
        if body["solution"]["value"] != text.upper():
            ticket["attemptsLeft"] -= 1
            if not ticket["attemptsLeft"]:
                ticket["state"], self.status[id_] = "void", "open"
                self.book.held.discard(id_)
            left = ticket["attemptsLeft"]
            message = "That is not the solution"
            return _fail(422, "wrong_solution", message, attemptsLeft=left)
        agent = self.agents[request.token]
        agent["credits"] += bounty
        ticket["state"], self.status[id_] = "settled", "solved"
        self.book.pay(id_, bounty)
        payout = {"amount": bounty, "balance": agent["credits"]}
        return _json(
            200,
            {"verdict": "correct", "ticket": self._public(ticket), "payout": payout},
        )

    def complete(self, request: Request) -> Response:
        """Say that a settled ticket is settled; nothing more is paid."""
        body = self._body(request, _CompleteBody)
        if isinstance(body, Response):
            return body
        ticket = self.tickets[body["ticketId"]]
        if ticket["state"] != "settled":
            message = f"Ticket is {ticket['state']}, submit the solution first"
            return _fail(409, "not_solved", message)
        note = "Settled and paid at submission, nothing left to do"
        return _json(200, {"ticket": self._public(ticket), "note": note})
