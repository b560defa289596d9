"""A Rails 8 API application: strong parameters, Active Record, Kaminari.

Lists `gigs` of integer ids with `meta` for paging and prices in cents of a US dollar
(one cent is one credit); gigs in progress stay in the list. Every body is nested under
its resource (`claim`, `submission`, `completion`), as `params.expect` wants it; a
refusal is `{"error": ...}` for the parameters, `{"errors": {attribute: [messages]}}`
for the model, and the plain text of HTTP token authentication. Each step creates a
record (201) and the next one asks for its id: claim, submission, completion. Paid at
once on completion.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_GIGS = {
    4107: ("meeting moved to thursday morning", 35),
    4108: ("caution: wet floor", 10),
    4111: ("all proceeds go to the lifeboat crew", 60),
    4112: ("open daily from nine to five", 20),
    4115: ("handmade in the black forest", 45),
    4120: ("mind the gap between train and platform", 15),
    4121: ("tickets are valid for two hours", 25),
    4126: ("free coffee for volunteers", 30),
}
_BUSY = {4109: ("closed for renovation", 20), 4118: ("lost cat answers to pepper", 50)}


class RailsGigs(Backend):
    """Gigs behind Action Controller."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.gigs: dict[int, dict[str, Any]] = {}
        for key, (text, cents) in sorted((_GIGS | _BUSY).items()):
            self.gigs[key] = {
                "id": key,
                "instructions": text,
                "state": "in_progress" if key in _BUSY else "open",
                "price_cents": cents,
                "price_currency": "USD",
                "claims_count": int(key in _BUSY),
                "created_at": f"2025-05-{key % 28 + 1:02}T09:41:07.318Z",
                "updated_at": f"2025-05-{key % 28 + 1:02}T09:41:07.318Z",
            }
        self.claims: dict[int, dict[str, Any]] = {}
        self.submissions: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the open gigs' texts."""
        return {str(key): text for key, (text, _) in _GIGS.items()}

    def missing(self, request: Request) -> Response:
        """Return what Rails in production says of an unknown route."""
        return Response(404, {"status": 404, "error": "Not Found"})

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        token = secrets.token_urlsafe(18)
        agent = {"id": 300 + len(self.agents), "credits": 100, "state": "active"}
        self.agents[token] = agent
        return Response(201, {"agent": {**agent, "access_token": token}})

    def _denied(self) -> Response:
        realm = {"WWW-Authenticate": 'Token realm="Application"'}
        return Response(401, "HTTP Token: Access denied.\n", realm)

    def marketplace(self, request: Request) -> Response:
        """List the gigs that are not over."""
        limit = request.query.get("limit", "")
        per = min(int(limit), 100) if limit.isdigit() and int(limit) else 25
        number = request.query.get("page", "")
        page = int(number) if number.isdigit() and int(number) else 1
        gigs = [gig for gig in self.gigs.values() if gig["state"] != "completed"]
        pages = -(-len(gigs) // per)
        meta = {
            "current_page": page,
            "next_page": page + 1 if page < pages else None,
            "prev_page": page - 1 if page > 1 else None,
            "total_pages": pages,
            "total_count": len(gigs),
        }
        return Response(
            200, {"gigs": gigs[(page - 1) * per : page * per], "meta": meta}
        )

    def tasks(self, request: Request) -> Response:
        """List the gigs to an agent."""
        if request.token not in self.agents:
            return self._denied()
        return self.marketplace(request)

    def _params(self, request: Request, name: str) -> dict[str, Any] | Response:
        """Return what `params.expect(name: [...])` lets through."""
        if request.token not in self.agents:
            return self._denied()
        try:
            body = request.json() if request.raw.strip() else {}
        except ValueError:
            return Response(400, {"status": 400, "error": "Bad Request"})
        nested = body.get(name) if isinstance(body, dict) else None
        if not isinstance(nested, dict) or not nested:
            message = f"param is missing or the value is empty or invalid: {name}"
            return Response(400, {"error": message})
        return nested

    def _find(self, table: dict[int, Any], value: Any) -> Any:
        """Return the record of an id that Active Record would cast to an integer."""
        try:
            return table.get(int(value))
        except (TypeError, ValueError, OverflowError):
            return None

    def _invalid(self, **errors: list[str]) -> Response:
        return Response(422, {"errors": errors})

    def _unfound(self, name: str, value: Any) -> dict[str, list[str]]:
        blank = value is None or value == ""
        return {name: ["must exist"]} | (
            {f"{name}_id": ["can't be blank"]} if blank else {}
        )

    def claim(self, request: Request) -> Response:
        """Create a claim; ClaimsController#create."""
        params = self._params(request, "claim")
        if isinstance(params, Response):
            return params
        gig = self._find(self.gigs, params.get("gig_id"))
        if gig is None:
            return self._invalid(**self._unfound("gig", params.get("gig_id")))
        agent = self.agents[request.token]
        for claim in self.claims.values():
            if claim["gig_id"] == gig["id"] and claim["agent_id"] == agent["id"]:
                return self._invalid(gig_id=["has already been taken"])
        if gig["state"] != "open":
            return self._invalid(gig=["is not open for claims"])
        key = 9200 + len(self.claims)
        gig["state"], gig["claims_count"] = "in_progress", 1
        self.claims[key] = {
            "id": key,
            "gig_id": gig["id"],
            "agent_id": agent["id"],
            "state": "active",
            "created_at": "2025-06-02T12:00:01.774Z",
            "expires_at": "2035-06-02T13:00:01.774Z",
        }
        self.book.claimed(str(gig["id"]))
        return Response(201, {"claim": self.claims[key]})

    def submit(self, request: Request) -> Response:
        """Create a submission; SubmissionsController#create."""
        params = self._params(request, "submission")
        if isinstance(params, Response):
            return params
        errors: dict[str, list[str]] = {}
        claim = self._find(self.claims, params.get("claim_id"))
        if claim is None or claim["agent_id"] != self.agents[request.token]["id"]:
            errors |= self._unfound("claim", params.get("claim_id"))
        content = params.get("content")
        # A nested value is not a permitted scalar, so it never reaches the model.
        if isinstance(content, dict | list) or not str(content or "").strip():
            errors["content"] = ["can't be blank"]
        if errors:
            return self._invalid(**errors)
        if claim["state"] == "fulfilled":
            return self._invalid(claim=["is already fulfilled"])
        key = 15500 + len(self.submissions)
        self.submissions[key] = {
            "id": key,
            "claim_id": claim["id"],
            "content": str(content),
            "state": "submitted",
            "created_at": "2025-06-02T12:00:09.105Z",
        }
        return Response(201, {"submission": self.submissions[key]})

    def complete(self, request: Request) -> Response:
        """Create a completion; CompletionsController#create."""
        params = self._params(request, "completion")
        if isinstance(params, Response):
            return params
        agent = self.agents[request.token]
        value = params.get("submission_id")
        submission = self._find(self.submissions, value)
        claim = self.claims[submission["claim_id"]] if submission else {}
        if submission is None or claim["agent_id"] != agent["id"]:
            return self._invalid(**self._unfound("submission", value))
        if claim["state"] == "fulfilled":
            return self._invalid(submission_id=["has already been taken"])
        gig = self.gigs[claim["gig_id"]]
        if submission["content"] != gig["instructions"].upper():
            submission["state"] = "rejected"
            return self._invalid(submission=["does not satisfy the instructions"])
        submission["state"], claim["state"], gig["state"] = (
            "accepted",
            "fulfilled",
            "completed",
        )
        agent["credits"] += gig["price_cents"]
        self.book.pay(str(gig["id"]), gig["price_cents"])
        record = {
            "id": 700 + len(self.book.paid),
            "submission_id": submission["id"],
            "state": "paid",
            "amount_cents": gig["price_cents"],
            "agent_credits": agent["credits"],
        }
        return Response(201, {"completion": record})
