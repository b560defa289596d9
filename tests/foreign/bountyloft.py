"""Bountyloft: a start-up's marketplace on PocketBase, its routes written as JS hooks.

Every action saves a record (claims, deliveries, closings) from the body, so that a bad
body fails with the fields' own validation; the hooks throw ApiErrors. The source text is
a hidden field that the claim reveals. The delivery pays; the closing only closes.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import base64
import json
import math
import secrets
import string
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_BOUNTIES = [
    ("Stencil for crate 7", "handle with care, glass inside", 40),
    ("Menu heading", "soup of the day and fresh bread", 22),
    ("Stage backdrop", "the winter fair opens on friday", 75),
    ("Locker name", "property of the rowing club", 15),
    ("Ticker line", "trains run every twenty minutes today", 33),
    ("Plaque", "planted by the children of elm street", 58),
    ("Van lettering", "roofs, gutters and chimneys since 1974", 47),
]
_LETTERS = string.ascii_lowercase + string.digits
_GENERIC = "Something went wrong while processing your request."
_BLANK = ("validation_required", "Cannot be blank.")
_ABSENT = (
    "validation_missing_rel_records",
    "Failed to find all relation records with the provided ids.",
)


class _ApiError(Exception):
    def __init__(
        self, status: int, message: str, data: dict[str, tuple[str, str]] | None = None
    ) -> None:
        super().__init__()
        fields = {
            name: {"code": code, "message": says}
            for name, (code, says) in sorted((data or {}).items())
        }
        body = {"data": fields, "message": message, "status": status}
        self.answer = Response(status, body)


def _id() -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(15))


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.000Z")


def _part(value: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def _string(value: Any) -> str:
    """Cast as PocketBase's text and relation fields do."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (str, int, float)) else ""


def _float(value: Any) -> float:
    """Cast as PocketBase's number field does."""
    try:
        number = float(value) if isinstance(value, (str, int, float)) else 0.0
    except ValueError:
        return 0.0
    return number if math.isfinite(number) else 0.0


def _hook(work: Any) -> Any:
    """Do what routerAdd("POST", path, work, $apis.requireAuth()) does."""

    def answer(self: Any, request: Request) -> Response:
        try:
            agent = self._agent(request)
            kind = (request.headers.get("Content-Type") or "").lower()
            try:
                body = request.json() if request.raw else {}
            except ValueError:
                body = None
            known = kind.startswith("application/json") or not request.raw
            if not known or not isinstance(body, dict):
                raise _ApiError(400, _GENERIC)
            return Response(200, work(self, agent, body))
        except _ApiError as error:
            return error.answer

    return answer


class Bountyloft(Backend):
    """The network."""

    def __init__(self) -> None:
        super().__init__()
        self._tokens: dict[str, str] = {}
        self._records: dict[str, dict[str, dict[str, Any]]] = {
            name: {} for name in ("bounties", "claims", "deliveries", "closings")
        }
        brief = "<p>Return the source in capital letters only.</p>"
        for name, text, prize in _BOUNTIES:
            more = {"name": name, "prize": prize, "source": text, "stage": "listed"}
            self._save("bounties", brief=brief, **more)

    def texts(self) -> dict[str, str]:
        """Return the text of every bounty."""
        return {key: row["source"] for key, row in self._records["bounties"].items()}

    def missing(self, request: Request) -> Response:
        """Refuse a path without a route."""
        return _ApiError(404, "The requested resource wasn't found.").answer

    def _save(self, collection: str, **fields: Any) -> dict[str, Any]:
        now = _now()
        row = {
            "collectionId": f"pbc_{sum(map(ord, collection)) * 1234567}",
            "collectionName": collection,
            "created": now,
            "id": _id(),
            **fields,
            "updated": now,
        }
        self._records[collection][row["id"]] = row
        return row

    def _find(self, collection: str, value: Any, field: str, bad: dict) -> dict:
        """Validate a required relation; note what is wrong with it in `bad`."""
        key = _string(value)
        row = self._records[collection].get(key)
        if row is None:
            bad[field] = _ABSENT if key else _BLANK
        return row or {}

    def _agent(self, request: Request) -> str:
        """Do what $apis.requireAuth("agents") does; the word Bearer is optional."""
        header = request.headers.get("Authorization") or ""
        agent = self._tokens.get(header.removeprefix("Bearer ").strip())
        if not agent:
            says = "The request requires valid record authorization token."
            raise _ApiError(401, says)
        return agent

    def register(self, request: Request) -> Response:
        """Make an agent; its token is a JWT."""
        self.book.registrations += 1
        agent = _id()
        until = int(datetime.now(UTC).timestamp()) + 604800
        claims = {"exp": until, "id": agent, "refreshable": True, "type": "auth"}
        token = f"{_part({'alg': 'HS256', 'typ': 'JWT'})}.{_part(claims)}.{secrets.token_urlsafe(32)}"
        self._tokens[token] = agent
        body = {"access_token": token, "agent_id": agent, "credits": 100}
        return Response(200, body)

    def tasks(self, request: Request) -> Response:
        """List the bounties as PocketBase lists records, the best prize first."""

        def number(name: str, default: int, most: int) -> int:
            value = request.query.get(name, "")
            return max(1, min(int(value), most)) if value.isdecimal() else default

        rows = [
            {name: value for name, value in row.items() if name != "source"}
            for row in self._records["bounties"].values()
            if row["stage"] == "listed"
        ]
        rows.sort(key=lambda row: -row["prize"])
        size, page = number("limit", 30, 200), number("page", 1, 10**6)
        body = {"items": rows[(page - 1) * size : page * size], "page": page}
        body |= {"perPage": size, "totalItems": len(rows)}
        return Response(200, {**body, "totalPages": -(-len(rows) // size)})

    marketplace = tasks

    @_hook
    def claim(self, agent: str, body: dict[str, Any]) -> dict[str, Any]:
        """Save a claim and reveal the source."""
        bad: dict[str, tuple[str, str]] = {}
        bounty = self._find("bounties", body.get("bounty"), "bounty", bad)
        minutes = _float(body.get("minutes"))
        if not minutes:
            bad["minutes"] = _BLANK
        elif minutes < 1:
            says = "Must be larger than 1.000000."
            bad["minutes"] = ("validation_min_number_constraint", says)
        elif minutes > 720:
            says = "Must be less than 720.000000."
            bad["minutes"] = ("validation_max_number_constraint", says)
        if bad:
            raise _ApiError(400, _GENERIC, bad)
        if bounty["stage"] != "listed":
            raise _ApiError(400, "This bounty is already taken.")
        bounty["stage"] = "taken"
        self.book.claimed(bounty["id"])
        fields = {"agent": agent, "bounty": bounty["id"], "stage": "running"}
        row = self._save("claims", **fields, minutes=int(minutes))
        return {**row, "expand": {"bounty": bounty}}

    @_hook
    def submit(self, agent: str, body: dict[str, Any]) -> dict[str, Any]:
        """Save a delivery, and pay for it."""
        bad: dict[str, tuple[str, str]] = {}
        claim = self._find("claims", body.get("claim"), "claim", bad)
        work = _string(body.get("work"))
        if not work:
            bad["work"] = _BLANK
        if bad:
            raise _ApiError(400, _GENERIC, bad)
        if claim["agent"] != agent:
            raise _ApiError(403, "You can deliver only for your own claims.")
        if claim["stage"] != "running":
            raise _ApiError(400, f"This claim is already {claim['stage']}.")
        bounty = self._records["bounties"][claim["bounty"]]
        if work != bounty["source"].upper():
            says = "The work is not what the brief of the bounty asks for."
            fields = {"work": ("validation_wrong_work", says)}
            raise _ApiError(400, "The delivery was rejected.", fields)
        claim["stage"], bounty["stage"] = "delivered", "rewarded"
        self.book.pay(bounty["id"], bounty["prize"])
        fields = {"claim": claim["id"], "earned": bounty["prize"], "work": work}
        return self._save("deliveries", **fields)

    @_hook
    def complete(self, agent: str, body: dict[str, Any]) -> dict[str, Any]:
        """Save a closing; the money has moved already."""
        bad: dict[str, tuple[str, str]] = {}
        delivery = self._find("deliveries", body.get("delivery"), "delivery", bad)
        note = _string(body.get("note"))
        if not note:
            bad["note"] = _BLANK
        elif len(note) < 10:
            says = "Must be at least 10 character(s)."
            bad["note"] = ("validation_min_text_constraint", says)
        if bad:
            raise _ApiError(400, _GENERIC, bad)
        claim = self._records["claims"][delivery["claim"]]
        if claim["agent"] != agent:
            raise _ApiError(403, "You can close only your own deliveries.")
        if claim["stage"] == "closed":
            raise _ApiError(400, "This claim is already closed.")
        claim["stage"] = "closed"
        return self._save("closings", delivery=delivery["id"], note=note)
