"""Django REST framework, default serializers: a newspaper's late desk farms out headlines.

Listing: LimitOffsetPagination, {"count", "next", "previous", "results": [...]}, five to a
page unless `limit` says otherwise; id, desk, summary, word_count, fee, deadline. The copy
itself is not listed: the answer to the claim has it. The marketplace is the same list.

claim:    {"headline": pk}                     -> 201 {"id", "headline", "copy", ...}
submit:   {"shift": pk, "final_copy": str}     -> 201 {"id", "shift", "final_copy", ...}
complete: {"shift": pk}                        -> 200 {"id", "status": "paid", "fee", ...}

`shift` is the id that the claim answered. Errors: 400 {"field": ["This field is required."]}
or {"non_field_errors": [...]}; 401, 404 and broken JSON are {"detail": "..."}. Unknown
fields are ignored; a pk may be a number or a string of digits.
"""

import secrets
import time
from typing import Any
from urllib.parse import urlencode

from tests.foreign.backend import Backend, Request, Response

_ROWS = [
    (51, "city", "tram drivers vote to keep the old bells", 12),
    (52, "sport", "late goal sends the fishermen through to the final", 9),
    (53, "weather", "fog to lift by noon, say harbour pilots", 7),
    (54, "arts", "lost overture found beneath a piano stool", 14),
    (55, "city", "council finally agrees on colour of the bench", 8),
    (56, "business", "button factory doubles its night shift", 16),
    (57, "foreign", "café owners in Liège protest the new chairs", 11),
    (58, "letters", "reader asks why the crossword has grown easier", 6),
    (59, "science", "beetle thought extinct turns up at beetle conference", 20),
    (60, "sport", "umpire apologises to the seagull", 5),
    (61, "arts", "third critic walks out of the silent opera", 10),
]


def _iso(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


class DrfHeadlines(Backend):
    """A newspaper's headlines on Django REST framework."""

    def __init__(self) -> None:
        super().__init__()
        self.deadline = _iso(time.time() + 6 * 3600)
        self.copy = {pk: text for pk, _, text, _ in _ROWS}
        self.fees = {pk: fee for pk, _, _, fee in _ROWS}
        self.agents: dict[str, dict[str, Any]] = {}
        self.shifts: dict[int, dict[str, Any]] = {}
        self.submissions: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(pk): text for pk, text in self.copy.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = {
            "id": len(self.agents) + 1,
            "agent_id": f"stringer-{secrets.token_hex(4)}",
            "access_token": secrets.token_hex(20),
            "credits": 100,
            "date_joined": _iso(time.time()),
        }
        self.agents[str(agent["access_token"])] = agent
        return Response(200, agent)

    def tasks(self, request: Request) -> Response:
        no = self._unauthenticated(request)
        return no or self._page(request)

    def marketplace(self, request: Request) -> Response:
        return self._page(request)

    def claim(self, request: Request) -> Response:
        data, no = self._data(request)
        if no:
            return no
        agent = self.agents[request.token]
        pk, error = _related(data, "headline", self.copy)
        if error:
            return Response(400, {"headline": [error]})
        for shift in self.shifts.values():
            if shift["headline"] == pk:
                mine = shift["stringer"] == agent["agent_id"]
                word = (
                    f"You already hold this headline (shift {shift['id']})."
                    if mine
                    else "This headline has been taken by another stringer."
                )
                return Response(400, {"non_field_errors": [word]})
        shift = {
            "id": 700 + len(self.shifts),
            "headline": pk,
            "stringer": agent["agent_id"],
            "copy": self.copy[pk],
            "house_style": "All caps. Punctuation as in the copy.",
            "status": "open",
            "started": _iso(time.time()),
        }
        self.shifts[shift["id"]] = shift
        self.book.claimed(str(pk))
        return Response(201, shift)

    def submit(self, request: Request) -> Response:
        data, no = self._data(request)
        if no:
            return no
        errors: dict[str, list[str]] = {}
        pk, error = _related(data, "shift", self._mine(request))
        if error:
            errors["shift"] = [error]
        error = _char_error(data, "final_copy")
        if error:
            errors["final_copy"] = [error]
        if errors:
            return Response(400, errors)
        shift = self.shifts[pk]
        if shift["status"] == "paid":
            word = "This shift is closed."
            return Response(400, {"non_field_errors": [word]})
        # CharField trims white space
        text = str(data["final_copy"]).strip()
        if text != shift["copy"].upper():
            word = "Not in house style: expected the copy in all caps."
            return Response(400, {"final_copy": [word]})
        shift["status"] = "filed"
        made = {
            "id": len(self.submissions) + 1,
            "shift": pk,
            "final_copy": text,
            "filed": _iso(time.time()),
        }
        self.submissions[pk] = made
        return Response(201, made)

    def complete(self, request: Request) -> Response:
        data, no = self._data(request)
        if no:
            return no
        pk, error = _related(data, "shift", self._mine(request))
        if error:
            return Response(400, {"shift": [error]})
        shift = self.shifts[pk]
        if shift["status"] == "open":
            word = "Nothing has been filed for this shift."
            return Response(400, {"non_field_errors": [word]})
        agent = self.agents[request.token]
        fee = self.fees[shift["headline"]]
        if shift["status"] == "filed":
            shift["status"] = "paid"
            self.book.pay(str(shift["headline"]), fee)
            agent["credits"] += fee
        answer = {"id": pk, "headline": shift["headline"], "status": "paid"}
        return Response(200, {**answer, "fee": fee, "credits": agent["credits"]})

    def _page(self, request: Request) -> Response:
        limit = _count(request.query.get("limit"), 5) or 5
        offset = _count(request.query.get("offset"), 0)
        taken = {shift["headline"] for shift in self.shifts.values()}
        rows = [
            {
                "id": pk,
                "desk": desk,
                "summary": f"Headline for the {desk} desk, set in all caps",
                "word_count": len(text.split()),
                "fee": fee,
                "deadline": self.deadline,
            }
            for pk, desk, text, fee in _ROWS
            if pk not in taken
        ]

        def link(start: int) -> str:
            query = {"limit": limit, **({"offset": start} if start else {})}
            return f"{request.base}{request.path}?{urlencode(query)}"

        more = offset + limit < len(rows)
        return Response(
            200,
            {
                "count": len(rows),
                "next": link(offset + limit) if more else None,
                "previous": link(max(0, offset - limit)) if offset else None,
                "results": rows[offset : offset + limit],
            },
        )

    def _mine(self, request: Request) -> dict[int, dict[str, Any]]:
        me = self.agents[request.token]["agent_id"]
        return {k: s for k, s in self.shifts.items() if s["stringer"] == me}

    def _unauthenticated(self, request: Request) -> Response | None:
        if request.token in self.agents:
            return None
        word = "Authentication credentials were not provided."
        if request.token:
            word = "Invalid token."
        return Response(401, {"detail": word}, {"WWW-Authenticate": "Bearer"})

    def _data(self, request: Request) -> tuple[dict[str, Any], Response | None]:
        """Return the body, or the refusal."""
        no = self._unauthenticated(request)
        if no:
            return {}, no
        try:
            data = request.json() if request.raw else {}
        except ValueError as error:
            return {}, Response(400, {"detail": f"JSON parse error - {error}"})
        if not isinstance(data, dict):
            word = (
                f"Invalid data. Expected a dictionary, but got {type(data).__name__}."
            )
            return {}, Response(400, {"non_field_errors": [word]})
        return data, None


def _count(text: str | None, default: int) -> int:
    return int(text) if text and text.isdecimal() else default


def _related(data: dict[str, Any], name: str, rows: dict[int, Any]) -> tuple[int, str]:
    """Do as PrimaryKeyRelatedField does: the pk, or what is wrong with it."""
    if name not in data:
        return 0, "This field is required."
    value = data[name]
    if value is None:
        return 0, "This field may not be null."
    digits = isinstance(value, str) and value.isdecimal()
    if isinstance(value, bool) or not (isinstance(value, int) or digits):
        kind = type(value).__name__
        return 0, f"Incorrect type. Expected pk value, received {kind}."
    if int(value) not in rows:
        return 0, f'Invalid pk "{value}" - object does not exist.'
    return int(value), ""


def _char_error(data: dict[str, Any], name: str) -> str:
    """Return what CharField has against the value, or ""."""
    if name not in data:
        return "This field is required."
    value = data[name]
    if value is None:
        return "This field may not be null."
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return "Not a valid string."
    return "" if str(value).strip() else "This field may not be blank."
