"""Laravel 11 with form requests, API resources, Sanctum and the length-aware paginator.

Lists `data` with `links` and `meta`, three to five a page; taken offers stay among the open.
Asks for `offer_id` and `accept_terms` (the `accepted` rule), answers 201 with a claim whose
`id` submit wants as `claim_id`, beside `format` (an `in:` rule that does not print its
values: each offer shows its own) and `content`. Refuses with 422 `message` and `errors`, or
`abort(409, ...)`: a message only. No more than three open claims. Pays at complete; money is
in minor units with a formatted string.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

OFFERS = [
    # id, title, brief, format, credits, status
    (
        118,
        "Shop banner",
        "Free delivery until the end of the month",
        "plain",
        3,
        "open",
    ),
    (
        121,
        "Out-of-office",
        "Our office is closed on Thursday and Friday",
        "plain",
        4,
        "open",
    ),
    (
        124,
        "Pavement sign",
        "Fresh bread from six in the morning",
        "plain",
        2,
        "assigned",
    ),
    (
        125,
        "Lift notice",
        "The lift is out of order, please use the stairs",
        "plain",
        5,
        "open",
    ),
    (131, "Gym wall", "Wipe the bench after your last set", "markdown", 3, "open"),
    (
        132,
        "Receipt footer",
        "Keep this receipt for fourteen days",
        "plain",
        2,
        "assigned",
    ),
    (
        140,
        "Car park",
        "Pay at the machine before you return to your car",
        "plain",
        6,
        "open",
    ),
    (141, "Menu note", "Ask us about nuts and gluten", "markdown", 2, "open"),
]
FORMATS = ("plain", "markdown", "html")


class LaravelOfferBoard(Backend):
    """Offers, claims and deliveries behind Laravel's validator."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, int] = {}
        self.offers: dict[int, dict[str, Any]] = {
            o[0]: dict(
                zip(
                    ("id", "title", "brief", "format", "credits", "status"),
                    o,
                    strict=True,
                )
            )
            for o in OFFERS
        }
        self.claims: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(o[0]): o[2] for o in OFFERS if o[5] == "open"}

    def missing(self, request: Request) -> Response:
        path = request.path.lstrip("/")
        return Response(404, {"message": f"The route {path} could not be found."})

    def _agent(self, request: Request) -> int:
        return self.agents.get(request.token, 0)

    def _unauthenticated(self) -> Response:
        return Response(401, {"message": "Unauthenticated."})

    def _invalid(self, errors: dict[str, list[str]]) -> Response:
        flat = [m for ms in errors.values() for m in ms]
        more = len(flat) - 1
        tail = f" (and {more} more error{'s' if more > 1 else ''})" if more else ""
        return Response(422, {"message": flat[0] + tail, "errors": errors})

    @staticmethod
    def _input(request: Request) -> dict[str, Any]:
        try:
            body = request.json()
        except ValueError:
            return {}
        return body if isinstance(body, dict) else {}

    def _integer(self, body: dict[str, Any], name: str, known: Any, errors: Any) -> int:
        """The rules `required|integer|exists`."""
        value, label = body.get(name), name.replace("_", " ")
        if value is None or value in ("", []):
            errors[name] = [f"The {label} field is required."]
        elif isinstance(value, bool) or not str(value).lstrip("-").isdigit():
            errors[name] = [f"The {label} field must be an integer."]
        elif int(value) not in known:
            errors[name] = [f"The selected {label} is invalid."]
        else:
            return int(value)
        return 0

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = 700 + len(self.agents)
        token = f"{agent - 699}|{secrets.token_hex(20)}"
        self.agents[token] = agent
        data = {"id": agent, "name": f"agent-{agent}", "credits": 100}
        return Response(201, {"data": data, "token": token, "token_type": "Bearer"})

    def _resource(self, offer: dict[str, Any]) -> dict[str, Any]:
        minor = offer["credits"] * 100
        payout = {
            "amount": minor,
            "currency": "CRD",
            "formatted": f"{minor / 100:.2f} credits",
        }
        shown = {k: offer[k] for k in ("id", "title", "brief", "format")}
        shown |= {"payout": payout, "status": offer["status"]}
        return shown | {"created_at": "2025-03-11T08:20:00.000000Z"}

    def tasks(self, request: Request) -> Response:
        return (
            self.marketplace(request)
            if self._agent(request)
            else self._unauthenticated()
        )

    def marketplace(self, request: Request) -> Response:
        query = request.query
        errors: dict[str, list[str]] = {}
        for name in ("limit", "page"):
            if name in query and not query[name].isdigit():
                errors[name] = [f"The {name} field must be an integer."]
        if errors:
            return self._invalid(errors)
        size = max(1, min(int(query.get("limit", 3)), 5))
        page = max(1, int(query.get("page", 1)))
        every = list(self.offers.values())
        last = -(-len(every) // size)
        start = (page - 1) * size
        shown = every[start : start + size]

        def link(number: int) -> str | None:
            at = f"{request.base}{request.path}?limit={size}&page={number}"
            return at if 1 <= number <= last else None

        links = {"first": link(1), "last": link(last), "prev": link(page - 1)}
        links["next"] = link(page + 1)
        meta = {
            "current_page": page,
            "from": start + 1 if shown else None,
            "last_page": last,
            "path": request.base + request.path,
            "per_page": size,
            "to": start + len(shown) if shown else None,
            "total": len(every),
        }
        data = [self._resource(o) for o in shown]
        return Response(200, {"data": data, "links": links, "meta": meta})

    def _claim_resource(self, claim: dict[str, Any]) -> dict[str, Any]:
        shown = {k: claim[k] for k in ("id", "offer_id", "status")}
        return shown | {"deadline_at": "2025-03-12T08:20:00.000000Z"}

    def claim(self, request: Request) -> Response:
        if not (agent := self._agent(request)):
            return self._unauthenticated()
        body = self._input(request)
        errors: dict[str, list[str]] = {}
        number = self._integer(body, "offer_id", self.offers, errors)
        if body.get("accept_terms") not in (True, 1, "1", "yes", "on", "true"):
            errors["accept_terms"] = ["The accept terms field must be accepted."]
        if errors:
            return self._invalid(errors)
        mine = [c for c in self.claims.values() if c["agent"] == agent]
        if any(c["offer_id"] == number for c in mine):
            return Response(409, {"message": "You have already claimed this offer."})
        offer = self.offers[number]
        if offer["status"] != "open":
            return Response(409, {"message": "This offer is no longer available."})
        if sum(c["status"] == "active" for c in mine) >= 3:
            message = "You already hold 3 open claims. Deliver one of them first."
            return Response(409, {"message": message})
        offer["status"] = "assigned"
        claim: dict[str, Any] = {"id": 9040 + len(self.claims), "offer_id": number}
        claim |= {"agent": agent, "status": "active", "content": None}
        self.claims[claim["id"]] = claim
        self.book.claimed(str(number))
        return Response(201, {"data": self._claim_resource(claim)})

    def _own_claims(self, agent: int) -> dict[int, Any]:
        return {k: c for k, c in self.claims.items() if c["agent"] == agent}

    def submit(self, request: Request) -> Response:
        if not (agent := self._agent(request)):
            return self._unauthenticated()
        body = self._input(request)
        errors: dict[str, list[str]] = {}
        number = self._integer(body, "claim_id", self._own_claims(agent), errors)
        if not body.get("format"):
            errors["format"] = ["The format field is required."]
        elif body["format"] not in FORMATS:
            errors["format"] = ["The selected format is invalid."]
        if not body.get("content"):
            errors["content"] = ["The content field is required."]
        elif not isinstance(body["content"], str):
            errors["content"] = ["The content field must be a string."]
        if errors:
            return self._invalid(errors)
        claim = self.claims[number]
        if claim["status"] not in ("active", "delivered"):
            return Response(409, {"message": "This claim is closed."})
        claim |= {"status": "delivered", "content": body["content"]}
        self.offers[claim["offer_id"]]["status"] = "delivered"
        return Response(201, {"data": self._claim_resource(claim)})

    def complete(self, request: Request) -> Response:
        if not (agent := self._agent(request)):
            return self._unauthenticated()
        errors: dict[str, list[str]] = {}
        body = self._input(request)
        number = self._integer(body, "claim_id", self._own_claims(agent), errors)
        if errors:
            return self._invalid(errors)
        claim = self.claims[number]
        offer = self.offers[claim["offer_id"]]
        if claim["status"] == "active":
            return Response(
                409, {"message": "Nothing has been delivered for this claim."}
            )
        if claim["status"] == "delivered":
            if claim["content"] != offer["brief"].upper():
                claim["status"] = "rejected"
                message = (
                    "The delivery was rejected: it is not what the offer asks for."
                )
                return Response(422, {"message": message})
            claim["status"] = offer["status"] = "paid"
            self.book.pay(str(offer["id"]), offer["credits"])
        if claim["status"] == "rejected":
            return Response(409, {"message": "This claim is closed."})
        payout = self._resource(offer)["payout"]
        return Response(200, {"data": self._claim_resource(claim) | {"payout": payout}})
