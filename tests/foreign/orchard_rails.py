"""Orchard label office: a Rails API with active model serializers."""

import secrets
import time
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

LABELS = [
    ("Egremont Russet", "nutty flavour and a dry flesh", 7, "available"),
    ("Bramley", "best of all for baking", 5, "available"),
    ("Beauty of Bath", "drops early so lay straw beneath", 11, "available"),
    ("Cox", "needs a warm wall in the north", 6, "taken"),
    ("Ashmead's Kernel", "keeps in the loft until march", 13, "available"),
    ("Peasgood", "one apple makes one pie", 4, "available"),
]
REVIEW = 1.2


class Orchard(Backend):
    """Rails API: strong parameters with wrapped JSON (flat JSON is wrapped, too).

    Listing: {labels: [...], meta: {current_page, total_pages, ...}}, four to a page (?page=);
    `reward` is a decimal as a string; the text stands only in the claim's answer
    (claim.label.wording). Claim {claim: {label_id}} -> claim.id; submit {submission:
    {claim_id, content}} -> submission.id, state in_review for a second; complete {completion:
    {submission_id}} says 422 until it is approved, then pays. Errors: {errors: {field: []}}
    """

    def __init__(self) -> None:
        super().__init__()
        self.members: dict[str, dict[str, Any]] = {}
        self.labels: dict[int, dict[str, Any]] = {
            301 + n: {
                "id": 301 + n,
                "variety": v,
                "wording": t,
                "reward": r,
                "state": s,
            }
            for n, (v, t, r, s) in enumerate(LABELS)
        }
        self.doable = [k for k, v in self.labels.items() if v["state"] == "available"]
        self.claims: dict[int, dict[str, Any]] = {}
        self.submissions: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the text of every task by its identifier."""
        return {str(k): self.labels[k]["wording"] for k in self.doable}

    def missing(self, request: Request) -> Response:
        """Answer as Rails in production for an API."""
        return Response(404, {"status": 404, "error": "Not Found"})

    def stamp(self) -> str:
        """Return a time as Rails prints it."""
        return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"

    def invalid(self, **errors: list[str]) -> Response:
        """Render errors of a record that is not valid."""
        return Response(422, {"errors": errors})

    def find(
        self, table: dict[int, Any], model: str, key: Any, owner: int | None
    ) -> Any:
        """Find a record, or answer as rescue_from RecordNotFound does."""
        digits = str(key).strip()
        number = int(digits) if digits.isdigit() else 0
        record = table.get(number)
        if record is None or (owner is not None and record["agent_id"] != owner):
            return Response(404, {"error": f"Couldn't find {model} with 'id'={key}"})
        return record

    def enter(self, request: Request, root: str, names: list[str]) -> Any:
        """Return the agent and the permitted parameters, or the refusal."""
        agent = self.members.get(request.token)
        if agent is None:
            return Response(
                401,
                "HTTP Token: Access denied.\n",
                {"WWW-Authenticate": 'Token realm="Application"'},
            )
        try:
            body = request.json() if request.raw else {}
        except ValueError:
            return Response(400, {"status": 400, "error": "Bad Request"})
        if not isinstance(body, dict):
            body = {"_json": body}
        if root not in body:  # wrap_parameters format: [:json]
            body[root] = {k: v for k, v in body.items() if k in names}
        wrapped = body[root]
        if not isinstance(wrapped, dict) or not wrapped:
            return Response(
                400, {"error": f"param is missing or the value is empty: {root}"}
            )
        return agent, {  # permit() takes scalars only
            k: v
            for k, v in wrapped.items()
            if k in names and not isinstance(v, (dict, list))
        }

    def register(self, request: Request) -> Response:
        """Make an agent."""
        token = secrets.token_hex(20)
        self.members[token] = {"id": len(self.members) + 1, "balance": 100}
        self.book.registrations += 1
        return Response(
            200,
            {"agent_id": str(len(self.members)), "access_token": token, "credits": 100},
        )

    def listing(self, request: Request) -> Response:
        """List the labels, kaminari's way."""
        limit = request.query.get("limit", "")
        per = min(int(limit), 4) if limit.isdigit() and int(limit) else 4
        page = request.query.get("page", "1")
        number = max(1, int(page)) if page.isdigit() else 1
        rows = list(self.labels.values())
        return Response(
            200,
            {
                "labels": [
                    {
                        "id": r["id"],
                        "variety": r["variety"],
                        "reward": f"{r['reward']}.0",
                        "state": r["state"],
                    }
                    for r in rows[(number - 1) * per : number * per]
                ],
                "meta": {
                    "current_page": number,
                    "next_page": number + 1 if number * per < len(rows) else None,
                    "prev_page": number - 1 if number > 1 else None,
                    "total_pages": -(-len(rows) // per),
                    "total_count": len(rows),
                },
            },
        )

    tasks = marketplace = listing

    def claim(self, request: Request) -> Response:
        """Create a claim."""
        entered = self.enter(request, "claim", ["label_id"])
        if isinstance(entered, Response):
            return entered
        agent, params = entered
        if params.get("label_id") in (None, ""):
            return self.invalid(label=["must exist"])
        label = self.find(self.labels, "Label", params["label_id"], None)
        if isinstance(label, Response):
            return label
        if label["state"] != "available":
            return self.invalid(label=["has already been taken"])
        label["state"] = "taken"
        claim = {"id": len(self.claims) + 41, "agent_id": agent["id"], "label": label}
        self.claims[claim["id"]] = claim
        self.book.claimed(str(label["id"]))
        return Response(
            200,
            {
                "claim": {
                    "id": claim["id"],
                    "created_at": self.stamp(),
                    "label": {
                        "id": label["id"],
                        "variety": label["variety"],
                        "wording": label["wording"],
                        "house_style": "Labels are printed in capital letters throughout.",
                        "reward": f"{label['reward']}.0",
                    },
                }
            },
        )

    def shown(self, submission: dict[str, Any]) -> dict[str, Any]:
        """Serialize a submission, reviewed if its time has come."""
        if submission["state"] == "in_review" and time.monotonic() > submission["due"]:
            label = self.claims[submission["claim_id"]]["label"]
            right = submission["content"] == label["wording"].upper()
            submission["state"] = "approved" if right else "rejected"
        return {k: submission[k] for k in ("id", "claim_id", "content", "state")}

    def submit(self, request: Request) -> Response:
        """Create a submission; a background job reviews it."""
        entered = self.enter(request, "submission", ["claim_id", "content"])
        if isinstance(entered, Response):
            return entered
        agent, params = entered
        errors = {}
        if params.get("claim_id") in (None, ""):
            errors["claim"] = ["must exist"]
        if not str(params.get("content") or "").strip():
            errors["content"] = ["can't be blank"]
        if errors:
            return self.invalid(**errors)
        claim = self.find(self.claims, "Claim", params["claim_id"], agent["id"])
        if isinstance(claim, Response):
            return claim
        for old in self.submissions.values():
            if (
                old["claim_id"] == claim["id"]
                and self.shown(old)["state"] != "rejected"
            ):
                return self.invalid(claim=["already has a submission"])
        submission = {
            "id": len(self.submissions) + 88,
            "agent_id": agent["id"],
            "claim_id": claim["id"],
            "content": str(params["content"]),
            "state": "in_review",
            "due": time.monotonic() + REVIEW,
        }
        self.submissions[submission["id"]] = submission
        return Response(200, {"submission": self.shown(submission)})

    def complete(self, request: Request) -> Response:
        """Complete an approved submission and pay."""
        entered = self.enter(request, "completion", ["submission_id"])
        if isinstance(entered, Response):
            return entered
        agent, params = entered
        key = params.get("submission_id")
        if key in (None, ""):
            return self.invalid(submission=["must exist"])
        found = self.find(self.submissions, "Submission", key, agent["id"])
        if isinstance(found, Response):
            return found
        state = self.shown(found)["state"]
        if state == "in_review":
            return self.invalid(submission=["is still in review"])
        if state == "rejected":
            return self.invalid(
                submission=["was rejected: wording must be in capitals"]
            )
        label = self.claims[found["claim_id"]]["label"]
        if label["state"] == "printed":
            return self.invalid(submission=["has already been completed"])
        label["state"] = "printed"
        agent["balance"] += label["reward"]
        self.book.pay(str(label["id"]), label["reward"])
        paid = {"id": found["id"] + 500, "submission_id": found["id"]}
        paid |= {"amount": f"{label['reward']}.0", "balance": f"{agent['balance']}.0"}
        return Response(200, {"completion": paid})
