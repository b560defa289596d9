"""Fernhill Museum: the volunteer desk.

A Rails 7.1 API in manner: parameters wrapped from JSON (wrap_parameters is on, as the
generator leaves it), strong parameters that drop in silence what they do not permit,
ActiveModel errors rendered as the scaffold renders them, HTTP token authentication.
"""

import contextlib
import json
import re
import secrets
import string
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import parse_qsl

from tests.foreign.backend import Backend, Request, Response

_OPPORTUNITIES = [
    # title, gallery, shifts, hours, stipend, label text
    ("Case 4, Roman glass", "Antiquities", ["morning", "afternoon"], "0.5", 8,
     "Perfume flask, blown glass, found in the drain of a bath house."),
    ("Case 7, brooches", "Antiquities", ["morning"], "0.5", 8,
     "Disc brooch with garnets; the pin is a later repair."),
    ("The weaver's loom", "Social History", ["afternoon"], "1.0", 12,
     "Hand loom, about 1790. Visitors may touch the shuttle."),
    ("Doll's house, ground floor", "Childhood", ["morning", "afternoon"], "0.75", 10,
     "The cook's table is set for a dinner that never comes."),
    ("Whale jaw", "Natural History", ["afternoon", "evening"], "1.0", 14,
     "Lower jaw of a fin whale, stranded in the estuary in 1911."),
    ("Moth tray 12", "Natural History", ["evening"], "0.5", 7,
     "Hawk-moths collected by Miss A. Pell between 1902 and 1908."),
    ("Poster wall", "Social History", ["morning"], "1.5", 15,
     "Café Royal dance band, Saturdays at eight, ladies free before nine."),
    ("Fire engine", "Transport", ["morning", "evening"], "1.0", 13,
     "Steam pump by Merrick & Sons, in service until 1926."),
    ("Lamp room", "Mining", ["afternoon"], "1.0", 11,
     "Each miner hung his brass tally here; an empty hook meant a man below."),
    ("Apothecary drawers", "Social History", ["morning", "afternoon"], "1.5", 16,
     'Senna, rhubarb root, saffron and one drawer marked only "do not".'),
]  # fmt: skip

_JSON = {"Content-Type": "application/json; charset=utf-8"}
_ATTRIBUTES = {  # Model.attribute_names, which wrap_parameters lifts
    "assignment": ("id", "opportunity_id", "volunteer_id", "shift", "state"),
    "contribution": ("id", "assignment_id", "content", "state"),
    "sign_off": ("id", "contribution_id", "hours", "stipend"),
}


class _RefusedError(Exception):
    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


def _no_constant(name: str) -> None:
    """NaN and its kind are Python's, not JSON's."""
    raise ValueError(name)


def _timestamp(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _blank(value: Any) -> bool:
    return (
        value is None
        or value is False
        or (isinstance(value, str) and not value.strip())
        or (isinstance(value, list | dict) and not value)
    )


def _cast_integer(value: Any) -> int | None:
    """Cast as ActiveModel::Type::Integer does."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        found = re.match(r"\s*[+-]?\d+", value)
        return int(found[0]) if found else 0
    return int(value)


def _cast_string(value: Any) -> str | None:
    """Cast as ActiveModel::Type::String does."""
    if isinstance(value, bool):
        return "t" if value else "f"
    return value if value is None or isinstance(value, str) else str(value)


def _public_exception(request: Request, status: int, words: str) -> Response:
    """Answer as ActionDispatch::PublicExceptions does in an API application."""
    accept = request.headers.get("Accept") or ""
    if "," not in accept and accept.partition(";")[0].strip() == "application/json":
        return Response(status, {"status": status, "error": words}, dict(_JSON))
    return Response(status, b"", {"Content-Type": "text/html; charset=utf-8"})


class _Errors(dict[str, list[str]]):
    def add(self, name: str, words: str) -> None:
        self.setdefault(name, []).append(words)


class Fernhill(Backend):
    """Opportunities, assignments, contributions, sign-offs."""

    def __init__(self) -> None:
        super().__init__()
        self._volunteers: dict[str, dict[str, Any]] = {}  # token -> volunteer
        self._opportunities: dict[int, dict[str, Any]] = {}
        for index, (title, gallery, shifts, hours, stipend, text) in enumerate(
            _OPPORTUNITIES
        ):
            number = 612 + index * 3
            self._opportunities[number] = {
                "id": number,
                "title": title,
                "gallery": gallery,
                "description": "Copy out the label text in capitals for the sign "
                "painter, exactly as it stands otherwise.",
                "label_text": text,
                "shifts": shifts,
                "hours": hours,
                "stipend": stipend,
                "state": "open",
                "starts_on": (
                    datetime.now(UTC).date() + timedelta(days=index + 1)
                ).isoformat(),
            }
        self._assignments: dict[int, dict[str, Any]] = {}
        self._contributions: dict[int, dict[str, Any]] = {}
        self._sign_offs: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(n): o["label_text"] for n, o in self._opportunities.items()}

    def missing(self, request: Request) -> Response:
        return _public_exception(request, 404, "Not Found")

    # ActionController.

    def _params(self, request: Request) -> tuple[dict[str, Any], bool]:
        """Return the request parameters, and whether they came as JSON."""
        media_type = (request.headers.get("Content-Type") or "").partition(";")[0]
        media_type = media_type.strip().lower()
        if media_type == "application/json":
            if not request.raw.strip():
                return {}, True
            try:
                body = json.loads(request.raw, parse_constant=_no_constant)
            except ValueError:
                raise _RefusedError(
                    _public_exception(request, 400, "Bad Request")
                ) from None
            return (body if isinstance(body, dict) else {"_json": body}), True
        params: dict[str, Any] = {}
        if media_type == "application/x-www-form-urlencoded":
            for name, value in parse_qsl(
                request.raw.decode(errors="replace"), keep_blank_values=True
            ):
                nested = re.fullmatch(r"(\w+)\[(\w+)\]", name)
                if nested and isinstance(params.setdefault(nested[1], {}), dict):
                    params[nested[1]][nested[2]] = value
                else:
                    params[name] = value
        return params, False

    def _volunteer(self, request: Request) -> dict[str, Any]:
        token = request.token
        if not token:  # Rails takes both schemes
            found = re.match(
                r'Token\s+(?:token=)?"?([^",\s]+)',
                request.headers.get("Authorization") or "",
            )
            token = found[1] if found else ""
        if token not in self._volunteers:
            raise _RefusedError(
                Response(
                    401,
                    "HTTP Token: Access denied.\n",
                    {"WWW-Authenticate": 'Token realm="Application"'},
                )
            )
        return self._volunteers[token]

    def _create(
        self, request: Request, key: str, permitted: tuple[str, ...], action: Any
    ) -> Response:
        """Wrap, authenticate, require, permit, and run the action."""
        try:
            params, is_json = self._params(request)
            if is_json and key not in params:
                params = {
                    **params,
                    key: {n: v for n, v in params.items() if n in _ATTRIBUTES[key]},
                }
            volunteer = self._volunteer(request)
            required = {**request.query, **params}.get(key)
            if _blank(required) and required is not False:
                return Response(
                    400,
                    {"error": f"param is missing or the value is empty: {key}"},
                    dict(_JSON),
                )
            if not isinstance(
                required, dict
            ):  # NoMethodError: undefined method `permit'
                return _public_exception(request, 500, "Internal Server Error")
            values = {
                name: required[name]
                for name in permitted
                if name in required and not isinstance(required[name], list | dict)
            }
            errors = _Errors()
            body = action(values, volunteer, errors)
            if errors:
                return Response(422, dict(errors), dict(_JSON))
            return Response(200, body, dict(_JSON))
        except _RefusedError as refused:
            return refused.response

    def register(self, request: Request) -> Response:
        try:
            self._params(request)
        except _RefusedError as refused:
            return refused.response
        self.book.registrations += 1
        letters = string.ascii_letters + string.digits
        token = "".join(secrets.choice(letters) for _ in range(24))
        volunteer = {"agent_id": f"V{1040 + self.book.registrations}", "credits": 100}
        self._volunteers[token] = volunteer
        return Response(
            200,
            {
                **volunteer,
                "access_token": token,
                "created_at": _timestamp(datetime.now(UTC)),
            },
            dict(_JSON),
        )

    def tasks(self, request: Request) -> Response:
        try:
            self._volunteer(request)
        except _RefusedError as refused:
            return refused.response
        limit = 5
        if "limit" in request.query:
            limit = max(1, min(_cast_integer(request.query["limit"]) or 0, 50))
        found = [o for o in self._opportunities.values() if o["state"] == "open"]
        return Response(
            200,
            {
                "opportunities": found[:limit],
                "meta": {"total_count": len(found), "limit": limit},
            },
            dict(_JSON),
        )

    def claim(self, request: Request) -> Response:
        return self._create(
            request, "assignment", ("opportunity_id", "shift"), self._assign
        )

    def submit(self, request: Request) -> Response:
        return self._create(
            request, "contribution", ("assignment_id", "content"), self._contribute
        )

    def complete(self, request: Request) -> Response:
        return self._create(
            request, "sign_off", ("contribution_id", "hours"), self._sign_off
        )

    # The models.

    @staticmethod
    def _belongs_to(
        name: str,
        values: dict[str, Any],
        table: dict[int, dict[str, Any]],
        errors: _Errors,
    ) -> dict[str, Any] | None:
        """belongs_to name; validates name_id, presence: true."""
        number = _cast_integer(values.get(f"{name}_id"))
        found = table.get(number) if number is not None else None
        if found is None:
            errors.add(name, "must exist")
        if number is None:
            errors.add(f"{name}_id", "can't be blank")
        return found

    def _assign(
        self, values: dict[str, Any], volunteer: dict[str, Any], errors: _Errors
    ) -> dict[str, Any]:
        opportunity = self._belongs_to(
            "opportunity", values, self._opportunities, errors
        )
        if opportunity and opportunity["state"] != "open":
            errors.add("opportunity_id", "has already been taken")
        shift = _cast_string(values.get("shift"))
        if _blank(shift):
            errors.add("shift", "can't be blank")
        if shift not in (opportunity["shifts"] if opportunity else ()):
            errors.add("shift", "is not included in the list")
        if errors or not opportunity:
            return {}
        opportunity["state"] = "assigned"
        self.book.claimed(str(opportunity["id"]))
        number = 3301 + len(self._assignments)
        self._assignments[number] = {
            "id": number,
            "opportunity_id": opportunity["id"],
            "volunteer_id": volunteer["agent_id"],
            "shift": shift,
            "state": "confirmed",
            "created_at": _timestamp(datetime.now(UTC)),
        }
        return {"assignment": self._assignments[number]}

    def _contribute(
        self, values: dict[str, Any], volunteer: dict[str, Any], errors: _Errors
    ) -> dict[str, Any]:
        assignment = self._belongs_to("assignment", values, self._assignments, errors)
        if assignment and assignment["state"] != "confirmed":
            errors.add("assignment_id", "has already been taken")
        if assignment and assignment["volunteer_id"] != volunteer["agent_id"]:
            errors.add("assignment", "belongs to another volunteer")
        content = _cast_string(values.get("content"))
        if _blank(content):
            errors.add("content", "can't be blank")
        elif assignment:
            opportunity = self._opportunities[assignment["opportunity_id"]]
            if content != opportunity["label_text"].upper():
                errors.add("content", "is not the label text in capitals")
        if errors or not assignment:
            return {}
        assignment["state"] = "contributed"
        number = 870 + len(self._contributions)
        self._contributions[number] = {
            "id": number,
            "assignment_id": assignment["id"],
            "content": content,
            "state": "accepted",
            "created_at": _timestamp(datetime.now(UTC)),
        }
        return {"contribution": self._contributions[number]}

    def _sign_off(
        self, values: dict[str, Any], volunteer: dict[str, Any], errors: _Errors
    ) -> dict[str, Any]:
        contribution = self._belongs_to(
            "contribution", values, self._contributions, errors
        )
        assignment = contribution and self._assignments[contribution["assignment_id"]]
        if contribution and contribution["state"] != "accepted":
            errors.add("contribution_id", "has already been taken")
        if assignment and assignment["volunteer_id"] != volunteer["agent_id"]:
            errors.add("contribution", "belongs to another volunteer")
        hours = values.get("hours")
        amount = None
        if not isinstance(hours, bool) and hours is not None:
            with contextlib.suppress(InvalidOperation):
                amount = Decimal(str(hours).strip())
        if amount is None or not amount.is_finite():
            errors.add("hours", "is not a number")
        elif amount <= 0:
            errors.add("hours", "must be greater than 0")
        elif amount > 8:
            errors.add("hours", "must be less than or equal to 8")
        if errors or not contribution or not assignment or amount is None:
            return {}
        opportunity = self._opportunities[assignment["opportunity_id"]]
        contribution["state"] = "signed_off"
        assignment["state"] = opportunity["state"] = "completed"
        volunteer["credits"] += opportunity["stipend"]
        self.book.pay(str(opportunity["id"]), opportunity["stipend"])
        number = 455 + len(self._sign_offs)
        self._sign_offs[number] = {
            "id": number,
            "contribution_id": contribution["id"],
            "hours": str(float(round(amount, 2))),
            "stipend": opportunity["stipend"],
            "created_at": _timestamp(datetime.now(UTC)),
        }
        return {
            "sign_off": self._sign_offs[number],
            "volunteer": {
                "agent_id": volunteer["agent_id"],
                "credits": volunteer["credits"],
            },
        }
