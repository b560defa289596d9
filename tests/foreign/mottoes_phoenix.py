"""A heraldry guild's commission book in Elixir: Phoenix 1.8 JSON, Ecto changesets, Flop, UXIDs.

As phx.gen.json has it: a body stands under the name of what it makes, answers under `data`, and
a changeset's complaints map its fields to lists of sentences, 422, without that name around
them. Everything else is {"errors": {"detail": ...}}. Unknown params are dropped by cast. Lists
go by cursor, `after` the `end_cursor` of `meta`.

A commission is engaged under a scribe's name, one at a time; the rendering is signed with it;
the invoice asks for the honorarium, no more and no less, and pays. Three renderings that do not
read right end the engagement.
"""
# mypy: ignore-errors

import base64
import json
import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from functools import wraps
from typing import Any
from urllib.parse import parse_qsl

from tests.foreign.backend import Backend, Request, Response

_COMMISSIONS = [
    ("cms_01JNQ7V2K8", "Ashdown", "gules, a stag at gaze", "swift but unafraid", 15),
    (
        "cms_01JNQ7V3TB",
        "Pellworth",
        "azure, three herons",
        "we wait upon the water",
        11,
    ),
    ("cms_01JNQ7V41D", "Brackenreid", "vert, a boar passant", "root and branch", 8),
    ("cms_01JNQ7V4Z9", "Oriel College", "or, an open book", "read, then speak", 13),
    (
        "cms_01JNQ7V5R3",
        "Tannery Guild",
        "sable, two knives",
        "no hide without a fold",
        20,
    ),
    (
        "cms_01JNQ7V6C7",
        "Mistlethwaite",
        "argent, an oak",
        "the acorn keeps its counsel",
        24,
    ),
    (
        "cms_01JNQ7V7H0",
        "Port of Sayle",
        "barry wavy, a ship",
        "out with the tide, home by it",
        17,
    ),
    ("cms_01JNQ7V8M5", "Quillon", "per pale, a sword", "sheathed is not asleep", 10),
]
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ATTEMPTS = 3
_DEFAULT_LIMIT = 3
_MAX_LIMIT = 25
_REASONS = {400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 409: "Conflict"}

Errors = dict[str, list[str]]


class _Fallback(Exception):  # noqa: N818
    """What action_fallback gets: an error status, or a changeset."""

    def __init__(self, status: int, errors: Errors | str = "") -> None:
        super().__init__(status)
        if isinstance(errors, str):
            errors = {"detail": errors or _REASONS[status]}
        self.response = Response(status, {"errors": errors})


def _uxid(prefix: str) -> str:
    number, digits = int(time.time() * 1000) << 25 | secrets.randbits(25), ""
    while number:
        number, digit = divmod(number, 32)
        digits = _ALPHABET[digit] + digits
    return f"{prefix}_{digits}"


def _utc() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError  # noqa: TRY004 - as its other checks raise
    return value


def _decimal(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError  # noqa: TRY004
    try:
        found = Decimal(str(value))
    except InvalidOperation:
        raise ValueError from None
    if not found.is_finite():
        raise ValueError
    return found


def _params(request: Request) -> dict[str, Any]:
    """Read the body as Plug.Parsers does."""
    params: dict[str, Any] = dict(request.query)
    if not request.raw:
        return params
    kind = (request.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    if kind == "application/x-www-form-urlencoded":
        for name, value in parse_qsl(request.raw.decode(errors="replace")):
            outer, _, inner = name.partition("[")  # rendering[body]=... nests
            if not inner:
                params[outer] = value
            elif isinstance(params.setdefault(outer, {}), dict):
                params[outer][inner.rstrip("]")] = value
        return params
    if kind not in ("application/json", ""):
        raise _Fallback(415, "Unsupported Media Type")
    try:
        body = json.loads(request.raw.decode())
    except ValueError:
        raise _Fallback(400) from None
    return params | (body if isinstance(body, dict) else {"_json": body})


def _cast(
    request: Request, under: str, **fields: Callable[[Any], Any]
) -> dict[str, Any]:
    """Cast and require the fields of the params under a name."""
    params = _params(request).get(under)
    if not isinstance(params, dict):
        raise _Fallback(400, f'expected the parameters under "{under}"')
    found: dict[str, Any] = {}
    errors: Errors = {}
    for name, cast in fields.items():
        value = params.get(name)
        if value is None or (isinstance(value, str) and not value.strip()):
            errors[name] = ["can't be blank"]
            continue
        try:
            found[name] = cast(value)
        except ValueError:
            errors[name] = ["is invalid"]
    if len(found.get("scribe_name", "long enough")) < 2:
        errors["scribe_name"] = ["should be at least 2 character(s)"]
    if len(found.get("scribe_name", "")) > 60:
        errors["scribe_name"] = ["should be at most 60 character(s)"]
    if errors:
        raise _Fallback(422, errors)
    return found


def _action(method: Any) -> Any:
    @wraps(method)
    def controller(self: Any, request: Request) -> Response:
        try:
            return method(self, request)
        except _Fallback as fallback:
            return fallback.response

    return controller


class MottoesPhoenix(Backend):
    """Eight mottoes; an engagement, a rendering, an invoice."""

    def __init__(self) -> None:
        super().__init__()
        self._scribes: dict[str, dict[str, Any]] = {}
        self._engagements: dict[str, dict[str, Any]] = {}
        self._commissions = {
            number: {
                "id": number,
                "patron": patron,
                "blazon": blazon,
                "motto": motto,
                "note": "The motto goes on the scroll in capitals.",
                "honorarium": {"amount": f"{fee}.00", "currency": "credits"},
                "state": "vacant",
            }
            for number, patron, blazon, motto, fee in _COMMISSIONS
        }

    def texts(self) -> dict[str, str]:
        """Return the mottoes by the commission's id."""
        return {number: row["motto"] for number, row in self._commissions.items()}

    def missing(self, request: Request) -> Response:
        """Answer as ErrorJSON does for Phoenix.Router.NoRouteError."""
        return Response(404, {"errors": {"detail": "Not Found"}})

    def _scribe(self, request: Request) -> dict[str, Any]:
        if request.token not in self._scribes:
            raise _Fallback(401)
        return self._scribes[request.token]

    def _engagement(self, scribe: dict[str, Any], number: str) -> dict[str, Any]:
        engagement = self._engagements.get(number)
        if engagement is None or engagement["agent_id"] != scribe["agent_id"]:
            raise _Fallback(422, {"engagement_id": ["does not exist"]})
        return engagement

    @_action
    def register(self, request: Request) -> Response:
        """Insert an agent."""
        self.book.registrations += 1
        token = "hrl_" + secrets.token_urlsafe(30)
        agent = {"agent_id": _uxid("agt"), "credits": 100}
        self._scribes[token] = agent
        return Response(200, {**agent, "access_token": token})

    @_action
    def marketplace(self, request: Request) -> Response:
        """List what is vacant, a few after a cursor."""
        limit = request.query.get("limit") or str(_DEFAULT_LIMIT)
        if not limit.isdigit():
            raise _Fallback(422, {"limit": ["is invalid"]})
        if int(limit) < 1:
            raise _Fallback(422, {"limit": ["must be greater than 0"]})
        if int(limit) > _MAX_LIMIT:
            raise _Fallback(
                422, {"limit": [f"must be less than or equal to {_MAX_LIMIT}"]}
            )
        every = [row for row in self._commissions.values() if row["state"] == "vacant"]
        if after := request.query.get("after"):
            try:
                last = base64.b64decode(after, b"-_", validate=True).decode()
            except ValueError:
                raise _Fallback(422, {"after": ["is invalid"]}) from None
            every = [row for row in every if row["id"] > last]
        page = every[: int(limit)]
        end = (
            base64.urlsafe_b64encode(page[-1]["id"].encode()).decode() if page else None
        )
        meta = {"page_size": int(limit), "has_next_page": len(every) > len(page)}
        return Response(200, {"data": page, "meta": {**meta, "end_cursor": end}})

    @_action
    def tasks(self, request: Request) -> Response:
        """List the same behind the auth pipeline."""
        self._scribe(request)
        return self.marketplace(request)

    @_action
    def claim(self, request: Request) -> Response:
        """Create an engagement."""
        scribe = self._scribe(request)
        given = _cast(request, "engagement", commission_id=_string, scribe_name=_string)
        commission = self._commissions.get(given["commission_id"])
        if commission is None:
            raise _Fallback(422, {"commission_id": ["does not exist"]})
        if commission["state"] != "vacant":
            raise _Fallback(422, {"commission_id": ["has already been taken"]})
        mine = [
            e for e in self._engagements.values() if e["agent_id"] == scribe["agent_id"]
        ]
        for other in mine:
            if other["state"] in ("engaged", "rendered"):
                words = f"engagement {other['id']} is still {other['state']}, finish it first"
                raise _Fallback(409, words)
        number = _uxid("eng")
        commission["state"] = "engaged"
        self.book.claimed(commission["id"])
        self._engagements[number] = {
            "id": number,
            "commission_id": commission["id"],
            "agent_id": scribe["agent_id"],
            "scribe_name": given["scribe_name"],
            "honorarium": commission["honorarium"],
            "attempts_left": _ATTEMPTS,
            "state": "engaged",
            "inserted_at": _utc(),
        }
        return Response(200, {"data": self._engagements[number]})

    @_action
    def submit(self, request: Request) -> Response:
        """Create a rendering."""
        scribe = self._scribe(request)
        given = _cast(
            request, "rendering", engagement_id=_string, body=_string, signed_by=_string
        )
        engagement = self._engagement(scribe, given["engagement_id"])
        if engagement["state"] != "engaged":
            raise _Fallback(409, f"engagement is {engagement['state']}")
        if given["signed_by"] != engagement["scribe_name"]:
            words = "must be the scribe_name of the engagement"
            raise _Fallback(422, {"signed_by": [words]})
        commission = self._commissions[engagement["commission_id"]]
        if given["body"] != commission["motto"].upper():
            engagement["attempts_left"] -= 1
            left = engagement["attempts_left"]
            words = f"is not the motto in capitals ({left} attempt(s) left)"
            if not left:
                engagement["state"], commission["state"] = "ended", "vacant"
                self.book.held.discard(commission["id"])
            raise _Fallback(422, {"body": [words]})
        engagement["state"] = commission["state"] = "rendered"
        rendering = {
            "id": _uxid("rnd"),
            "engagement_id": engagement["id"],
            "body": given["body"],
            "signed_by": given["signed_by"],
            "inserted_at": _utc(),
        }
        return Response(200, {"data": {**rendering, "engagement": engagement}})

    @_action
    def complete(self, request: Request) -> Response:
        """Create the invoice, and pay it."""
        scribe = self._scribe(request)
        given = _cast(request, "invoice", engagement_id=_string, amount=_decimal)
        engagement = self._engagement(scribe, given["engagement_id"])
        if engagement["state"] == "invoiced":
            raise _Fallback(422, {"engagement_id": ["has already been taken"]})
        if engagement["state"] != "rendered":
            raise _Fallback(
                409, f"engagement is {engagement['state']}, nothing to invoice"
            )
        amount = engagement["honorarium"]["amount"]
        if given["amount"] != Decimal(amount):
            raise _Fallback(422, {"amount": [f"must be equal to {amount}"]})
        engagement["state"] = self._commissions[engagement["commission_id"]][
            "state"
        ] = "invoiced"
        credits_ = int(Decimal(amount))
        self.book.pay(engagement["commission_id"], credits_)
        scribe["credits"] += credits_
        invoice = {
            "id": _uxid("inv"),
            "engagement_id": engagement["id"],
            "amount": amount,
            "state": "paid",
            "paid_at": _utc(),
            "balance": f"{scribe['credits']}.00",
        }
        return Response(200, {"data": invoice})
