"""Hornbeam: Elixir, Phoenix and Ecto."""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

GIGS = [
    (
        12,
        "Card for a silver wedding",
        "16",
        "Twenty-five years and still one umbrella.",
    ),
    (13, "Card for a new house", "11", "May the roof be tight and the door wide."),
    (15, "Card for a retirement", "19", "No more alarm clocks, only larks."),
    (16, "Card for twins", "23", "Double the noise and double the joy."),
    (20, "Card for a late apology", "8", "I forgot. I am sorry. There is cake."),
    (21, "Card for a graduate", "14", "Hats up, books down, well done!"),
]


def detail(status: int, text: str) -> Response:
    """Return what ErrorJSON renders."""
    return Response(status, {"errors": {"detail": text}})


def changeset(**errors: list[str]) -> Response:
    """Return what ChangesetJSON renders."""
    return Response(422, {"errors": errors})


class Hornbeam(Backend):
    """Greeting-card gigs in Phoenix: {data}, params under the resource's name, changesets.

    The listing {data: [{id, occasion, reward: "16", state}], meta} (page, per limit) has no
    texts. Claim wants {claim: {gig_id}} and gives {data: {id, gig: {brief}}}; submit wants
    {submission: {claim_id, content}}; complete wants {completion: {claim_id, rating}} (the
    agent rates the brief, 1 to 5) and pays at once ({data: {payment: {amount}}}). Changeset
    errors are 422 {errors: {field: [..]}}, a missing wrapper 400.
    """

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.gigs: dict[int, dict[str, Any]] = {
            number: {
                "occasion": occasion,
                "reward": reward,
                "brief": brief,
                "state": "listed",
            }
            for number, occasion, reward, brief in GIGS
        }
        self.doable = {str(number): gig["brief"] for number, gig in self.gigs.items()}
        self.gigs[22] = {
            "occasion": "Card for a cat",
            "reward": "5",
            "brief": "Purr.",
            "state": "paid",
        }
        self.claims: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the briefs by gig."""
        return dict(self.doable)

    def missing(self, request: Request) -> Response:
        """Return the 404 view."""
        return detail(404, "Not Found")

    def register(self, request: Request) -> Response:
        """Make an agent."""
        self.book.registrations += 1
        token = "SFMyNTY." + secrets.token_urlsafe(36)
        self.agents[token] = {"id": secrets.token_hex(8), "credits": 100}
        return Response(
            200,
            {
                "agent_id": self.agents[token]["id"],
                "access_token": token,
                "credits": 100,
            },
        )

    def tasks(self, request: Request) -> Response:
        """List the gigs by pages."""
        size, page = request.query.get("limit", "25"), request.query.get("page", "1")
        if not (size.isdigit() and page.isdigit() and int(size) and int(page)):
            return detail(400, "Bad Request")
        per, number = min(int(size), 25), int(page)
        rows = [
            {
                "id": key,
                "occasion": gig["occasion"],
                "reward": gig["reward"],
                "state": gig["state"],
            }
            for key, gig in self.gigs.items()
        ]
        return Response(
            200,
            {
                "data": rows[(number - 1) * per : number * per],
                "meta": {
                    "page": number,
                    "page_size": per,
                    "total_pages": -(-len(rows) // per),
                    "total_entries": len(rows),
                },
            },
        )

    marketplace = tasks

    def params(self, request: Request, key: str) -> tuple[Any, dict[str, Any], Any]:
        """Return the agent and the params under the key, or a refusal as third."""
        agent = self.agents.get(request.token)
        if agent is None:
            return None, {}, detail(401, "Unauthorized")
        try:
            body = request.json() if request.raw else {}
        except ValueError:
            return None, {}, detail(400, "Bad Request")
        part = body.get(key) if isinstance(body, dict) else None
        if part is None or part == "":
            return (
                None,
                {},
                detail(
                    400,
                    f'expected key "{key}" to be present in params, please '
                    "send the expected key or adjust your scrub_params call",
                ),
            )
        if not isinstance(part, dict):
            return None, {}, detail(400, f'expected params "{key}" to be a map')
        return agent, part, None

    def cast(
        self, part: dict[str, Any], **fields: type
    ) -> tuple[dict[str, Any], dict[str, list[str]]]:
        """Return the cast values and the errors, as Ecto does it."""
        values: dict[str, Any] = {}
        errors: dict[str, list[str]] = {}
        for name, want in fields.items():
            value = part.get(name)
            if want is int and isinstance(value, str) and value.strip().isdigit():
                value = int(value)
            if value is None or (isinstance(value, str) and not value.strip()):
                errors[name] = ["can't be blank"]
            elif type(value) is not want:
                errors[name] = ["is invalid"]
            else:
                values[name] = value
        return values, errors

    def owned(self, agent: Any, values: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        """Return the caller's claim, or a refusal as second."""
        claim = self.claims.get(values["claim_id"])
        if claim is None or claim["agent"] is not agent:
            return {}, changeset(claim_id=["does not exist"])
        return claim, None

    def shown(self, number: int) -> dict[str, Any]:
        """Return a claim's view."""
        claim = self.claims[number]
        gig = self.gigs[claim["gig"]]
        view = {
            "id": number,
            "state": claim["state"],
            "gig": {
                "id": claim["gig"],
                "occasion": gig["occasion"],
                "brief": gig["brief"],
                "reward": gig["reward"],
            },
        }
        if claim["state"] == "completed":
            view["payment"] = {
                "amount": gig["reward"],
                "balance": str(claim["agent"]["credits"]),
            }
        return view

    def claim(self, request: Request) -> Any:
        """Insert a claim."""
        agent, part, no = self.params(request, "claim")
        if no:
            return no
        values, errors = self.cast(part, gig_id=int)
        if errors:
            return changeset(**errors)
        gig = self.gigs.get(values["gig_id"])
        if gig is None:
            return changeset(gig_id=["does not exist"])
        for number, claim in self.claims.items():
            if claim["gig"] == values["gig_id"] and claim["agent"] is agent:
                return Response(200, {"data": self.shown(number)})
        if gig["state"] != "listed":
            return changeset(gig_id=["has already been taken"])
        gig["state"], number = "taken", 701 + len(self.claims)
        self.claims[number] = {"gig": values["gig_id"], "agent": agent, "state": "open"}
        self.book.claimed(str(values["gig_id"]))
        return Response(200, {"data": self.shown(number)})

    def submit(self, request: Request) -> Any:
        """Insert a submission."""
        agent, part, no = self.params(request, "submission")
        if no:
            return no
        values, errors = self.cast(part, claim_id=int, content=str)
        if errors:
            return changeset(**errors)
        claim, no = self.owned(agent, values)
        if no:
            return no
        if claim["state"] == "completed":
            return changeset(claim_id=["is already completed"])
        if values["content"] != self.gigs[claim["gig"]]["brief"].upper():
            return changeset(content=["does not meet the brief"])
        claim["state"] = "submitted"
        return Response(
            200, {"data": {"claim_id": values["claim_id"], "state": "submitted"}}
        )

    def complete(self, request: Request) -> Any:
        """Complete the claim and pay."""
        agent, part, no = self.params(request, "completion")
        if no:
            return no
        values, errors = self.cast(part, claim_id=int, rating=int)
        if "rating" in values and values["rating"] > 5:
            errors["rating"] = ["must be less than or equal to 5"]
        if "rating" in values and values["rating"] < 1:
            errors["rating"] = ["must be greater than or equal to 1"]
        if errors:
            return changeset(**errors)
        claim, no = self.owned(agent, values)
        if no:
            return no
        if claim["state"] == "open":
            return changeset(claim_id=["has no submission"])
        if claim["state"] == "submitted":
            claim["state"] = "completed"
            gig = self.gigs[claim["gig"]]
            gig["state"] = "paid"
            agent["credits"] += int(gig["reward"])
            self.book.pay(str(claim["gig"]), int(gig["reward"]))
        return Response(200, {"data": self.shown(values["claim_id"])})
