"""Gigharbour: a freelance board that an agency built for a client (Laravel)."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import secrets
import uuid
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_STAMP = "%Y-%m-%d %H:%M:%S"
_GIGS = [
    (31, "Shop window banner", "summer sale starts this friday", 15),
    (32, "Harbour tour poster", "boats leave every hour from pier four", 30),
    (33, "Menu heading", "catch of the day with new potatoes", 8),
    (35, "Newsletter headline", "five quiet beaches within an hour's drive", 22),
    (36, "Safety sign", "mind the step when boarding", 10),
    (38, "Event flyer", "live jazz on the quay, free entrance", 18),
    (39, "Packaging label", "keep refrigerated after opening", 12),
    (40, "Website footer", "made with care in rotterdam", 6),
]


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None, microsecond=0)


class Gigharbour(Backend):
    """Gigs, bookings and deliveries; an approved delivery pays, completion closes."""

    def __init__(self) -> None:
        super().__init__()
        self._gigs = {g[0]: g for g in _GIGS}
        self._tokens: dict[str, str] = {}
        self._balance: dict[str, int] = {}
        self._bookings: dict[str, dict] = {}
        self._booked: dict[int, str] = {}

    def texts(self) -> dict[str, str]:
        return {str(g[0]): g[2] for g in _GIGS}

    def missing(self, request: Request) -> Response:
        path = request.path.lstrip("/")
        return Response(404, {"message": f"The route {path} could not be found."})

    def handle(self, request: Request) -> Response:
        answer = super().handle(request)
        answer.headers.setdefault("Cache-Control", "no-cache, private")
        return answer

    def _user(self, request: Request) -> str | None:
        return self._tokens.get(request.token)

    def _unauthenticated(self) -> Response:
        return Response(401, {"message": "Unauthenticated."})

    def _input(self, request: Request) -> dict:
        """Return the input as TrimStrings and ConvertEmptyStringsToNull leave it."""

        def clean(value: Any) -> Any:
            if isinstance(value, dict):
                return {k: clean(v) for k, v in value.items()}
            return (value.strip() or None) if isinstance(value, str) else value

        try:
            body = request.json()
        except ValueError:
            return {}
        return clean(body) if isinstance(body, dict) else {}

    def _invalid(self, errors: dict[str, list[str]]) -> Response:
        said = [m for many in errors.values() for m in many]
        message = said[0]
        if more := len(said) - 1:
            message += f" (and {more} more error{'s' if more > 1 else ''})"
        return Response(422, {"message": message, "errors": errors})

    def _validate(self, data: dict, rules: dict[str, str]) -> dict[str, list[str]]:  # noqa: PLR0915
        """Apply rules in Laravel's notation and return its messages by field."""
        errors: dict[str, list[str]] = {}
        for field, line in rules.items():
            value: Any = data
            for part in field.split("."):
                value = value.get(part) if isinstance(value, dict) else None
            name = field.replace("_", " ")
            said = []
            for rule in line.split("|"):
                if rule == "accepted":
                    if value not in (True, 1, "1", "yes", "on", "true"):
                        said.append(f"The {name} field must be accepted.")
                elif rule == "required":
                    if value is None or value in ({}, []):
                        said.append(f"The {name} field is required.")
                        break
                elif rule == "integer":
                    number = isinstance(value, int) and not isinstance(value, bool)
                    if not number and not re.fullmatch(r"-?\d+", str(value)):
                        said.append(f"The {name} field must be an integer.")
                        break
                elif rule == "string" and not isinstance(value, str):
                    said.append(f"The {name} field must be a string.")
                    break
                elif rule == "array" and not isinstance(value, (dict, list)):
                    said.append(f"The {name} field must be an array.")
                elif rule == "boolean" and value not in (True, False, "0", "1"):
                    said.append(f"The {name} field must be true or false.")
                elif rule == "min:10" and len(value) < 10:
                    said.append(f"The {name} field must be at least 10 characters.")
                elif (rule == "exists:gigs" and int(value) not in self._gigs) or (
                    rule == "exists:bookings" and value not in self._bookings
                ):
                    said.append(f"The selected {name} is invalid.")
                elif rule == "future":
                    try:
                        when = datetime.strptime(str(value), _STAMP)  # noqa: DTZ007
                    except ValueError:
                        said.append(
                            f"The {name} field must match the format Y-m-d H:i:s."
                        )
                        continue
                    if when <= _now():
                        said.append(f"The {name} field must be a date after now.")
            if said:
                errors[field] = said
        return errors

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = str(uuid.uuid4())
        token = f"{self.book.registrations}|{secrets.token_hex(20)}"
        self._tokens[token], self._balance[agent] = agent, 100
        body = {"agent_id": agent, "access_token": token, "credits": 100}
        return Response(200, {**body, "token_type": "Bearer"})

    def marketplace(self, request: Request) -> Response:
        size, page = 5, 1
        if (limit := request.query.get("limit")) is not None:
            if not re.fullmatch(r"-?\d+", limit):
                return self._invalid({"limit": ["The limit field must be an integer."]})
            size = int(limit)
            if not 1 <= size <= 50:
                return self._invalid(
                    {"limit": ["The limit field must be between 1 and 50."]}
                )
        if re.fullmatch(r"[1-9]\d*", request.query.get("page", "")):
            page = int(request.query["page"])
        gigs = [g for g in _GIGS if g[0] not in self._booked]
        last = max(1, -(-len(gigs) // size))
        path = request.base + request.path
        rows = gigs[(page - 1) * size : page * size]

        def link(number: int) -> str | None:
            kept = f"limit={size}&" if limit is not None else ""
            return f"{path}?{kept}page={number}" if 1 <= number <= last else None

        data = [
            {
                "id": gig[0],
                "title": gig[1],
                "category": {"id": 2, "name": "Copywriting", "slug": "copywriting"},
                "description": "Please deliver the copy in capitals (uppercase).",
                "copy": gig[2],
                "budget": f"{gig[3]}.00",
                "status": "open",
                "created_at": "2026-03-02T09:15:00.000000Z",
            }
            for gig in rows
        ]
        first = (page - 1) * size + 1 if rows else None
        meta = {"current_page": page, "from": first, "last_page": last, "path": path}
        meta |= {
            "per_page": size,
            "to": first and first + len(rows) - 1,
            "total": len(gigs),
        }
        links = {"first": link(1), "last": link(last)}
        links |= {"prev": link(page - 1), "next": link(page + 1)}
        return Response(200, {"data": data, "links": links, "meta": meta})

    tasks = marketplace

    def claim(self, request: Request) -> Response:
        if not (agent := self._user(request)):
            return self._unauthenticated()
        data = self._input(request)
        rules = {
            "gig_id": "required|integer|exists:gigs",
            "expected_at": "required|future",
            "terms": "accepted",
        }
        if errors := self._validate(data, rules):
            return self._invalid(errors)
        gig = self._gigs[int(data["gig_id"])]
        if gig[0] in self._booked:
            return Response(
                409, {"message": "Sorry, this gig has already been booked."}
            )
        mine = [b for b in self._bookings.values() if b["agent"] == agent]
        if sum(b["status"] == "booked" for b in mine) >= 3:
            message = "You can have at most 3 open bookings. Please deliver one first."
            return Response(403, {"message": message})
        reference = f"BK-{secrets.token_hex(3).upper()}"
        self._booked[gig[0]] = reference
        self._bookings[reference] = {"agent": agent, "gig": gig, "status": "booked"}
        self.book.claimed(str(gig[0]))
        booking = {"reference": reference, "gig_id": gig[0], "status": "booked"}
        booking["expected_at"] = data["expected_at"]
        return Response(200, {"message": "Gig booked successfully.", "data": booking})

    def submit(self, request: Request) -> Response:
        if not (agent := self._user(request)):
            return self._unauthenticated()
        data = self._input(request)
        rules = {
            "booking_reference": "required|string|exists:bookings",
            "delivery": "required|array",
            "delivery.body": "required|string",
            "delivery.note": "required|string|min:10",
        }
        if errors := self._validate(data, rules):
            return self._invalid(errors)
        booking = self._bookings[data["booking_reference"]]
        if booking["agent"] != agent:
            return Response(403, {"message": "This action is unauthorized."})
        if booking["status"] != "booked":
            return Response(
                409, {"message": "This booking has already been delivered."}
            )
        gig = booking["gig"]
        if data["delivery"]["body"] != gig[2].upper():
            return self._invalid(
                {"delivery.body": ["The copy was not delivered as described."]}
            )
        booking["status"], booking["delivery"] = "delivered", 7000 + gig[0]
        self._balance[agent] += gig[3]
        self.book.pay(str(gig[0]), gig[3])
        delivery = {"id": booking["delivery"], "status": "approved"}
        delivery["approved_at"] = _now().strftime("%Y-%m-%dT%H:%M:%S.000000Z")
        delivery["payout"] = {
            "amount": f"{gig[3]}.00",
            "wallet": f"{self._balance[agent]}.00",
        }
        message = "Thank you! Your delivery was approved and paid out."
        return Response(200, {"message": message, "data": delivery})

    def complete(self, request: Request) -> Response:
        if not (agent := self._user(request)):
            return self._unauthenticated()
        data = self._input(request)
        rules = {
            "delivery_id": "required|integer",
            "would_work_again": "required|boolean",
        }
        if errors := self._validate(data, rules):
            return self._invalid(errors)
        number = int(data["delivery_id"])
        for booking in self._bookings.values():
            if booking.get("delivery") == number and booking["agent"] == agent:
                break
        else:
            model = "App\\Models\\Delivery"
            return Response(
                404, {"message": f"No query results for model [{model}] {number}"}
            )
        if booking["status"] == "closed":
            return Response(409, {"message": "This booking has already been closed."})
        booking["status"] = "closed"
        closed = {"gig_id": booking["gig"][0], "status": "closed"}
        return Response(200, {"message": "Booking closed.", "data": closed})
