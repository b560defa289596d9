"""Studio Nord: an agency's Laravel API with form requests and API resources."""

import secrets
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl

from .backend import Backend, Request, Response  # noqa: TID252

_JOBS = [
    ("Poster headline", "summer nights at the harbour", 45),
    ("Button label", "book your table now", 10),
    ("Ticket stub", "row c, seat 19 - no re-entry", 20),
    ("Menu section", "starters, soups and crème fraîche", 32),
    ("Campaign slogan", "we paint the north in colour!", 60),
]
_ULID = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_FORMATS = ("plain_text", "rich_text")


def _ulid() -> str:
    return "01J" + "".join(secrets.choice(_ULID) for _ in range(23))


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class _Abort(Exception):  # noqa: N818
    def __init__(self, status: int, message: str, errors: Any = None) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"message": message, **({"errors": errors} if errors else {})}


# Rules: each takes the attribute's spoken name and the value, and returns a message or "".
def _string(name: str, value: Any) -> str:
    return "" if isinstance(value, str) else f"The {name} field must be a string."


def _integer(name: str, value: Any) -> str:
    good = not isinstance(value, bool) and str(value).removeprefix("-").isdecimal()
    return "" if good else f"The {name} field must be an integer."


def _is_ulid(name: str, value: Any) -> str:
    good = (
        isinstance(value, str) and len(value) == 26 and set(value.upper()) <= set(_ULID)
    )
    return "" if good else f"The {name} field must be a valid ULID."


def _min_10(name: str, value: Any) -> str:
    return (
        "" if len(value) >= 10 else f"The {name} field must be at least 10 characters."
    )


def _exists(keys: Any) -> Any:
    return lambda name, value: (
        "" if str(value) in keys else f"The selected {name} is invalid."
    )


def _accepted(name: str, value: Any) -> str:
    good = (
        value is True
        or value in ("yes", "on", "1", "true")
        or (value == 1 and value is not False)
    )
    return "" if good else f"The {name} field must be accepted."


def _in_formats(name: str, value: Any) -> str:
    return (
        ""
        if value in _FORMATS
        else f"The {name} must be one of: {', '.join(_FORMATS)}."
    )


class StudioNord(Backend):
    """References and ULIDs, resources in `data`, numbered pages; the copy comes on booking."""

    def __init__(self) -> None:
        super().__init__()
        self._members: dict[str, dict[str, Any]] = {}  # by token
        self._bookings: dict[str, dict[str, Any]] = {}
        self._deliveries: dict[str, dict[str, Any]] = {}
        self._jobs: dict[str, dict[str, Any]] = {
            f"JOB-{1041 + 7 * n}": {
                "headline": headline,
                "copy": copy,
                "credits": credits_,
                "status": "published",
                "published_at": _now(),
            }
            for n, (headline, copy, credits_) in enumerate(_JOBS)
        }

    def texts(self) -> dict[str, str]:
        return {key: job["copy"] for key, job in self._jobs.items()}

    def handle(self, request: Request) -> Response:
        answer = super().handle(request)
        answer.headers.update({"Cache-Control": "no-cache, private"})
        return answer

    def missing(self, request: Request) -> Response:
        route = request.path.strip("/")
        return Response(404, {"message": f"The route {route} could not be found."})

    # The kernel: middleware, form request, controller, handler.
    def _route(self, request: Request, action: Any, auth: bool = True) -> Response:  # noqa: FBT001, FBT002
        try:
            member = self._members.get(request.token)
            if auth and member is None:
                raise _Abort(401, "Unauthenticated.")
            return Response(200, action(self._input(request), member))
        except _Abort as error:
            return Response(error.status, error.body)

    def _input(self, request: Request) -> dict[str, Any]:
        values: Any = {}
        if "json" in (request.headers.get("Content-Type") or ""):
            try:  # noqa: SIM105
                values = request.json()
            except ValueError:
                pass
        else:
            values = dict(parse_qsl(request.raw.decode(errors="replace")))
        values = {**request.query, **(values if isinstance(values, dict) else {})}
        return {name: None if value == "" else value for name, value in values.items()}

    def _validate(self, values: dict[str, Any], **rules: tuple[Any, ...]) -> None:
        errors: dict[str, list[str]] = {}
        for field, checks in rules.items():
            name, value = field.replace("_", " "), values.get(field)
            if value is None and _accepted not in checks:
                errors[field] = [f"The {name} field is required."]
                continue
            for check in checks:
                message = check(name, value)
                if message:  # every list of rules bails
                    errors[field] = [message]
                    break
        if errors:
            every = [message for messages in errors.values() for message in messages]
            more = len(every) - 1
            tail = f" (and {more} more error{'s' if more > 1 else ''})" if more else ""
            raise _Abort(422, every[0] + tail, errors)

    # The resources.
    def _job(self, key: str, with_copy: bool = False) -> dict[str, Any]:  # noqa: FBT001, FBT002
        job = self._jobs[key]
        return {
            "reference": key,
            "headline": job["headline"],
            "instructions": "Set the copy in capital letters. You receive the copy on booking.",
            **({"copy": job["copy"]} if with_copy else {}),
            "budget": {
                "credits": job["credits"],
                "formatted": f"{job['credits']} credits",
            },
            "status": job["status"],
            "published_at": job["published_at"],
        }

    def _booking(self, booking: dict[str, Any]) -> dict[str, Any]:
        return {
            "booking": booking["id"],
            "status": booking["status"],
            "booked_at": booking["booked_at"],
            "job": self._job(booking["job"], True),
        }

    # The controllers.
    def register(self, request: Request) -> Response:
        def store(values: Any, member: Any) -> Any:  # noqa: ARG001
            number = len(self._members) + 1
            key, token = (
                f"mbr_{secrets.token_hex(8)}",
                f"{number}|{secrets.token_urlsafe(30)}",
            )
            self._members[token] = {"id": key, "credits": 100, "joined_at": _now()}
            self.book.registrations += 1
            return {"agent_id": key, "access_token": token, "credits": 100}

        return self._route(request, store, auth=False)

    def _index(self, request: Request, values: dict[str, Any]) -> dict[str, Any]:
        if values.get("limit") is not None:

            def between(name: str, value: Any) -> str:
                good = 1 <= int(value) <= 50
                return "" if good else f"The {name} field must be between 1 and 50."

            self._validate(values, limit=(_integer, between))
        size, page = int(values.get("limit") or 15), str(values.get("page") or 1)
        number = int(page) if page.isdecimal() and int(page) else 1
        rows = [
            self._job(key)
            for key, job in self._jobs.items()
            if job["status"] == "published"
        ]
        last = max(1, -(-len(rows) // size))
        shown = rows[(number - 1) * size : number * size]
        path = f"{request.base}{request.path}"

        def link(n: int) -> str | None:
            return f"{path}?limit={size}&page={n}" if 1 <= n <= last else None

        first = (number - 1) * size + 1 if shown else None
        return {
            "data": shown,
            "links": {
                "first": link(1),
                "last": link(last),
                "prev": link(number - 1),
                "next": link(number + 1),
            },
            "meta": {
                "current_page": number,
                "from": first,
                "last_page": last,
                "path": path,
                "per_page": size,
                "to": first + len(shown) - 1 if first else None,
                "total": len(rows),
            },
        }

    def tasks(self, request: Request) -> Response:
        return self._route(request, lambda values, member: self._index(request, values))  # noqa: ARG005

    def marketplace(self, request: Request) -> Response:
        return self._route(
            request,
            lambda values, member: self._index(request, values),  # noqa: ARG005
            auth=False,  # noqa: ARG005, RUF100
        )

    def agents(self, request: Request) -> Response:
        rows = [
            {"id": m["id"], "joined_at": m["joined_at"]} for m in self._members.values()
        ]
        return self._route(request, lambda values, member: {"data": rows}, auth=False)  # noqa: ARG005

    directory = agents

    def claim(self, request: Request) -> Response:
        def store(values: Any, member: Any) -> Any:
            self._validate(
                values,
                job_reference=(_string, _exists(self._jobs)),
                accept_terms=(_accepted,),
            )
            job = self._jobs[values["job_reference"]]
            if job["status"] != "published":
                raise _Abort(409, "This job has already been booked.")
            job["status"] = "booked"
            booking = {
                "id": _ulid(),
                "job": values["job_reference"],
                "member": member["id"],
                "status": "confirmed",
                "booked_at": _now(),
            }
            self._bookings[booking["id"]] = booking
            self.book.claimed(booking["job"])
            return {"data": self._booking(booking)}

        return self._route(request, store)

    def submit(self, request: Request) -> Response:
        def store(values: Any, member: Any) -> Any:
            booking = self._bookings.get(str(values.get("booking")))
            if booking and booking["member"] != member["id"]:
                raise _Abort(403, "This action is unauthorized.")
            self._validate(
                values,
                booking=(_is_ulid, _exists(self._bookings)),
                content=(_string,),
                format=(_string, _in_formats),
            )
            assert booking
            if booking["status"] not in ("confirmed", "changes_requested"):
                raise _Abort(409, "This booking already has an approved delivery.")
            right = values["content"] == self._jobs[booking["job"]]["copy"].upper()
            booking["status"] = "delivered" if right else "changes_requested"
            key = 301 + len(self._deliveries)
            self._deliveries[str(key)] = delivery = {
                "id": key,
                "booking": booking["id"],
                "format": values["format"],
                "review": {
                    "status": "approved" if right else "rejected",
                    "note": None
                    if right
                    else "The copy is not set as instructed. Please deliver again.",
                },
                "delivered_at": _now(),
            }
            return {"data": delivery}

        answer = self._route(request, store)
        if (
            answer.status == 200
            and answer.body["data"]["review"]["status"] == "rejected"
        ):
            answer.refused = True
        return answer

    def complete(self, request: Request) -> Response:
        def store(values: Any, member: Any) -> Any:
            delivery = self._deliveries.get(str(values.get("delivery")))
            booking = self._bookings[delivery["booking"]] if delivery else None
            if booking and booking["member"] != member["id"]:
                raise _Abort(403, "This action is unauthorized.")
            self._validate(
                values,
                delivery=(_integer, _exists(self._deliveries)),
                feedback=(_string, _min_10),
            )
            assert delivery and booking  # noqa: PT018
            if delivery["review"]["status"] != "approved":
                raise _Abort(409, "This delivery has not been approved.")
            if booking["status"] == "completed":
                raise _Abort(409, "This booking has already been completed.")
            job = self._jobs[booking["job"]]
            booking["status"] = job["status"] = "completed"
            member["credits"] += job["credits"]
            self.book.pay(booking["job"], job["credits"])
            payout = {
                "credits": job["credits"],
                "wallet": member["credits"],
                "paid_at": _now(),
            }
            return {
                "data": {**self._booking(booking), "payout": payout},
                "message": "Thank you, the job is closed.",
            }

        return self._route(request, store)

    def post(self, request: Request) -> Response:
        def store(values: Any, member: Any) -> Any:  # noqa: ARG001
            raise _Abort(403, "Only clients of the studio can publish jobs.")

        return self._route(request, store)

    def checkout(self, request: Request) -> Response:
        def store(values: Any, member: Any) -> Any:  # noqa: ARG001
            self._validate(
                values,
                plan=(_string,),
                agent_id=(_string,),
                price_id=(_string,),
                requested_credits=(_integer,),
                amount_cents=(_integer,),
            )
            key = _ulid()
            return {
                "ok": True,
                "sessionId": key,
                "url": f"https://pay.studionord.example/{key}",
                "mode": "payment",
                "agentId": values["agent_id"],
                "plan": values["plan"],
            }

        return self._route(request, store, auth=False)
