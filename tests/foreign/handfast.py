"""Handfast: offers, accepted at once, and agreements, paid when delivered.

In the manner of an ASP.NET Core web API: camelCase JSON read without case, validation
problem details with the property names, model-binding sentences of System.Text.Json.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_TITLES = {401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 409: "Conflict",
           415: "Unsupported Media Type", 422: "Unprocessable Entity"}  # fmt: skip
_STAMP = re.compile(
    r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,7})?)?(Z|[+-]\d\d:\d\d)?)?$"
)
_ISO = "%Y-%m-%dT%H:%M:%SZ"
_LISTINGS = [
    ("Headline for a market stall", "two pears for the price of one", 14),
    ("Nameplate of a narrowboat", "the idle heron", 9),
    ("Poster line for a concert", "strings and thunder, saturday at eight", 27),
    ("Title of a recipe card", "grandmother's plum dumplings", 12),
    ("Sign for an allotment gate", "please shut the gate behind you", 7),
    ("Spine of a photo album", "lisbon to tromso by train", 18),
    ("Inscription for a bench", "sit a while, the hill will wait", 31),
]


def _problem(status: int, detail: str = "", **more: Any) -> Response:
    kind = f"https://tools.ietf.org/html/rfc9110#section-15.5.{min(status - 399, 21)}"
    body: dict[str, Any] = {
        "type": kind,
        "title": _TITLES.get(status),
        "status": status,
    }
    body |= ({"detail": detail} if detail else {}) | more
    body["traceId"] = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-00"
    return Response(status, body, {"Content-Type": "application/problem+json"})


class _Refusal(Exception):  # noqa: N818
    def __init__(self, status: int, detail: str = "", **more: Any) -> None:
        super().__init__()
        self.response = _problem(status, detail, **more)


def _invalid(errors: dict[str, list[str]]) -> _Refusal:
    return _Refusal(400, title="One or more validation errors occurred.", errors=errors)


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not re.fullmatch(r"-?\d{1,9}", str(value)):
        raise ValueError
    return int(value)


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError  # noqa: TRY004
    return value


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError  # noqa: TRY004
    return {k.lower(): v for k, v in value.items()}


def _instant(value: Any) -> datetime:
    if not _STAMP.match(_string(value)):
        raise ValueError
    moment = datetime.fromisoformat(value)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


_INT = ("System.Nullable`1[System.Int32]", _integer)
_TEXT = ("System.String", _string)
_GUID = ("System.Nullable`1[System.Guid]", lambda v: str(uuid.UUID(_string(v))))
_TIME = ("System.Nullable`1[System.DateTimeOffset]", _instant)
_FILE = ("Handfast.Contracts.Deliverable", _object)
_MODELS: dict[str, dict[str, tuple[str, Callable[[Any], Any]]]] = {
    "offer": {
        "ListingId": _INT,
        "ProposedFee": _INT,
        "DeliverBy": _TIME,
        "CoverNote": _TEXT,
    },
    "delivery": {
        "AgreementId": _GUID,
        "Deliverable": _FILE,
        "Deliverable.Content": _TEXT,
    },
    "closing": {"AgreementId": _GUID, "PaymentId": _TEXT, "ClosingStatement": _TEXT},
}


class Handfast(Backend):
    """A marketplace where one offers to do a listing and gets an agreement."""

    def __init__(self) -> None:
        super().__init__()
        now = datetime.now(UTC)
        self._agents: dict[str, str] = {}  # token -> agent
        ask = "Set sourceText in upper case, nothing else changed."
        self._listings = {
            4101 + 7 * n: {
                "listingId": 4101 + 7 * n,
                "headline": headline,
                "brief": {"instructions": ask, "sourceText": text},
                "budget": {"amount": budget, "currency": "credits"},
                "deadline": (now + timedelta(days=4 + n)).strftime(_ISO),
                "acceptingOffers": True,
            }
            for n, (headline, text, budget) in enumerate(_LISTINGS)
        }
        self._agreements: dict[tuple[str, str], dict[str, Any]] = {}  # by agent and id

    def texts(self) -> dict[str, str]:
        return {str(k): v["brief"]["sourceText"] for k, v in self._listings.items()}

    def missing(self, request: Request) -> Response:
        return _problem(404)

    def register(self, request: Request) -> Response:
        agent, token = str(uuid.uuid4()), "hf_" + secrets.token_urlsafe(32)
        self._agents[token] = agent
        self.book.registrations += 1
        return Response(body={"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        sizes = {"limit": 20, "page": 1}
        for name, top in (("limit", 50), ("page", 1000)):
            given = request.query.get(name, str(sizes[name]))
            text = f"The value '{given}' is not valid."
            if re.fullmatch(r"-?\d{1,9}", given):
                sizes[name] = int(given)
                text = f"The field {name} must be between 1 and {top}."
                if 1 <= sizes[name] <= top:
                    continue
            return _invalid({name: [text]}).response
        shown = [v for v in self._listings.values() if v["acceptingOffers"]]
        first = (sizes["page"] - 1) * sizes["limit"]
        last = first + sizes["limit"]
        more = {"totalCount": len(shown), "hasNextPage": last < len(shown)}
        return Response(
            body={"items": shown[first:last], "page": sizes["page"], **more}
        )

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        return self._run(self._offer, request)

    def submit(self, request: Request) -> Response:
        return self._run(self._deliver, request)

    def complete(self, request: Request) -> Response:
        return self._run(self._close, request)

    def _run(self, action: Callable[[Request, str], Any], request: Request) -> Response:
        agent = self._agents.get(request.token)
        if agent is None:
            return _problem(401)
        if "json" not in (request.headers.get("Content-Type") or ""):
            return _problem(415)
        try:
            return Response(body=action(request, agent))
        except _Refusal as refusal:
            return refusal.response

    def _bind(self, request: Request, model: str) -> dict[str, Any]:
        """Read a body: first the types of its members, then that they are there."""
        absent = {model: [f"The {model} field is required."]}
        missing: dict[str, list[str]] = {}
        values: dict[str, Any] = {}
        if not request.raw.strip():
            raise _invalid({"": ["A non-empty request body is required."], **absent})
        try:
            values[""] = request.json()
        except ValueError as error:
            text = "The JSON value is malformed. Path: $ | LineNumber: 0 | "
            text += f"BytePositionInLine: {getattr(error, 'pos', 0)}."
            raise _invalid({"$": [text], **absent}) from None
        root = (f"Handfast.Contracts.{model.title()}", _object)
        for name, (kind, convert) in {"": root, **_MODELS[model]}.items():
            parent, _, leaf = name.rpartition(".")
            scope = values.get(parent, {})  # a parent that is missing says it for both
            value = scope.get(leaf.lower()) if name else scope
            if name and (value is None or value == ""):
                if parent not in missing:
                    missing[name] = [f"The {leaf} field is required."]
                continue
            try:
                values[name] = convert(value)
            except ValueError:
                path = ".".join(
                    ["$", *(p[0].lower() + p[1:] for p in name.split(".") if p)]
                )
                at = (
                    request.raw.lower().find(f'"{leaf.lower()}"'.encode())
                    + len(leaf)
                    + 4
                )
                text = f"The JSON value could not be converted to {kind}. Path: {path}"
                text += f" | LineNumber: 0 | BytePositionInLine: {at if name else 1}."
                raise _invalid({path: [text], **absent}) from None
        if missing:
            raise _invalid(missing)
        return values

    def _offer(self, request: Request, agent: str) -> Any:
        offer = self._bind(request, "offer")
        if not 20 <= len(offer["CoverNote"]) <= 1000:
            text = "The field CoverNote must be a string with a minimum length of 20"
            raise _invalid({"CoverNote": [text + " and a maximum length of 1000."]})
        listing = self._listings.get(offer["ListingId"])
        if listing is None:
            raise _Refusal(404, f"Listing {offer['ListingId']} was not found.")
        if not listing["acceptingOffers"]:
            raise _Refusal(409, "This listing no longer accepts offers.")
        budget = listing["budget"]["amount"]
        if not 1 <= offer["ProposedFee"] <= budget:
            text = f"The field ProposedFee must be between 1 and {budget}."
            raise _invalid({"ProposedFee": [text]})
        last = datetime.fromisoformat(listing["deadline"])
        if not datetime.now(UTC) < offer["DeliverBy"] <= last:
            text = (
                "DeliverBy must be in the future and not after the listing's deadline"
            )
            raise _invalid({"DeliverBy": [f"{text} ({listing['deadline']})."]})
        listing["acceptingOffers"] = False
        key = str(uuid.uuid4())
        agreement = self._agreements[agent, key] = {
            "agreementId": key,
            "listingId": offer["ListingId"],
            "state": "Active",
            "agreedFee": offer["ProposedFee"],
            "deliverBy": offer["DeliverBy"].astimezone(UTC).strftime(_ISO),
        }
        self.book.claimed(str(offer["ListingId"]))
        return {"offerState": "Accepted", "agreement": agreement}

    def _agreement(self, key: str, agent: str, state: str) -> dict[str, Any]:
        if (agent, key) not in self._agreements:
            raise _Refusal(404, f"Agreement {key} was not found.")
        now = self._agreements[agent, key]["state"]
        if now != state:
            raise _Refusal(
                409, f"The agreement is {now}; it has to be {state} for this."
            )
        return self._agreements[agent, key]

    def _deliver(self, request: Request, agent: str) -> Any:
        delivery = self._bind(request, "delivery")
        agreement = self._agreement(delivery["AgreementId"], agent, "Active")
        listing = self._listings[agreement["listingId"]]
        if delivery["Deliverable.Content"] != listing["brief"]["sourceText"].upper():
            raise _Refusal(
                422, "The delivery does not follow the instructions of the brief."
            )
        payment = {"paymentId": f"PAY-{secrets.randbelow(10**8):08d}"}
        payment |= {"amount": agreement["agreedFee"], "state": "Released"}
        agreement |= {"state": "Delivered", "payment": payment}
        self.book.pay(str(agreement["listingId"]), agreement["agreedFee"])
        return {"agreement": agreement}

    def _close(self, request: Request, agent: str) -> Any:
        closing = self._bind(request, "closing")
        agreement = self._agreement(closing["AgreementId"], agent, "Delivered")
        if closing["PaymentId"] != agreement["payment"]["paymentId"]:
            text = "PaymentId must be the payment that was released for this agreement."
            raise _invalid({"PaymentId": [text]})
        agreement |= {
            "state": "Closed",
            "closingStatement": closing["ClosingStatement"],
        }
        return {"agreement": agreement}
