"""Rails in API mode (ActiveRecord, strong parameters, jbuilder).

Market: a museum's object cards; agents prepare the headline of each card.
Listing: {"jobs": [...], "meta": {"total_count", "limit"}}; integer ids, snake case; the text
is `source_text`; closed jobs stay listed with another `state`.
Claim: {"claim": {"job_id"}} -> 201 {"claim": {"id", "job_id", "state", ...}}.
Submit: {"submission": {"claim_id", "content"}} -> 201 {"submission": {"id", ...}}.
Complete: {"id": id of the submission} -> 200 {"submission": ..., "payout": ...}.
As in Rails, parameters of the model are wrapped when the root is absent, unpermitted ones
are ignored, and integers may be strings.
Errors: {"error": "..."} for a missing parameter or record, {"errors": {field: [messages]}}
with 422 for a record that is not valid.
"""

import json
import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

JOBS = [
    ("Bronze cup", "small drinking cup of hammered bronze", 16),
    ("Harbour view", "view of the old harbour at low tide, oil on canvas", 21),
    ("Loom weight", "clay loom weight with two holes", 10),
    ("Ship's lantern", "lantern from the coastal steamer Aurora, about 1890", 19),
    ("Child's shoe", "leather shoe of a child, found under the floor", 13),
    ("Salt box", "carved salt box with a sliding lid", 12),
    ("Map", "hand coloured map of the northern parishes", 15),
    ("Bell", "bell of the fishermen's chapel, cast in one piece", 17),
    ("Ice skates", "pair of skates made from cattle bone", 11),
]


def timestamp(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(seconds))


class RailsMuseum(Backend):
    """Headlines of a museum's cards, on Rails."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, dict[str, Any]] = {}  # by token
        self.jobs: dict[int, dict[str, Any]] = {
            400 + n: {
                "id": 400 + n,
                "title": f"Card headline: {title}",
                "brief": "Return the source text in upper case, as it will be "
                "printed on the card. Keep punctuation and digits.",
                "source_text": text,
                "reward": reward,
                "state": "open",
                "created_at": timestamp(time.time() - 86400 + 60 * n),
                "updated_at": timestamp(time.time() - 86400 + 60 * n),
            }
            for n, (title, text, reward) in enumerate(JOBS, 1)
        }
        self.claims: dict[int, dict[str, Any]] = {}
        self.submissions: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(id_): job["source_text"] for id_, job in self.jobs.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, {"status": 404, "error": "Not Found"})

    def agent(self, request: Request) -> dict[str, Any] | None:
        return self.known.get(request.token)

    def unauthorized(self) -> Response:
        return Response(
            401,
            "HTTP Token: Access denied.\n",
            {"WWW-Authenticate": 'Token realm="Application"'},
        )

    def params(
        self, request: Request, root: str, attributes: tuple[str, ...]
    ) -> tuple[Response | None, dict[str, Any]]:
        """Return a refusal or the permitted parameters, as `params.expect` would."""
        refusal, body = self.body(request)
        if refusal:
            return refusal, {}
        # wrap_parameters: attributes of the model, unless the root is there already.
        if root not in body:
            wrapped: Any = {k: v for k, v in body.items() if k in attributes}
        else:
            wrapped = body[root]
        if not isinstance(wrapped, dict) or not wrapped:
            message = f"param is missing or the value is empty or invalid: {root}"
            return Response(400, {"error": message}), {}
        permitted = {
            k: v
            for k, v in wrapped.items()
            if k in attributes and not isinstance(v, dict | list)
        }
        return None, permitted

    def body(self, request: Request) -> tuple[Response | None, dict[str, Any]]:
        try:
            body = json.loads(request.raw or b"{}")
        except ValueError:
            message = "Error occurred while parsing request parameters"
            return Response(400, {"status": 400, "error": message}), {}
        return None, body if isinstance(body, dict) else {"_json": body}

    def find(self, records: dict[int, dict[str, Any]], id_: Any) -> Any:
        """Return the record or None; "12" and 12 are the same id."""
        try:
            return records.get(int(id_))
        except (TypeError, ValueError):
            return None

    def invalid(self, **errors: str) -> Response:
        return Response(422, {"errors": {k: [v] for k, v in errors.items()}})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(20)
        agent = {"id": 1000 + self.book.registrations, "credits": 100}
        self.known[token] = agent
        return Response(
            200,
            {
                "agent_id": str(agent["id"]),
                "access_token": token,
                "token_type": "Bearer",
                "credits": 100,
                "created_at": timestamp(time.time()),
            },
        )

    def marketplace(self, request: Request) -> Response:
        jobs = list(self.jobs.values())
        try:
            limit = int(request.query.get("limit", "25"))
        except ValueError:
            limit = 25
        limit = min(limit, 100) if limit > 0 else 25
        meta = {"total_count": len(jobs), "limit": limit}
        return Response(200, {"jobs": jobs[:limit], "meta": meta})

    def tasks(self, request: Request) -> Response:
        if self.agent(request) is None:
            return self.unauthorized()
        return self.marketplace(request)

    def claim(self, request: Request) -> Response:
        agent = self.agent(request)
        if agent is None:
            return self.unauthorized()
        refusal, params = self.params(request, "claim", ("job_id",))
        if refusal:
            return refusal
        job = self.find(self.jobs, params.get("job_id"))
        if job is None:
            return self.invalid(job="must exist")
        for claim in self.claims.values():
            if claim["job_id"] == job["id"]:
                if claim["agent_id"] != agent["id"]:
                    return self.invalid(job="has already been taken")
                return Response(200, {"claim": claim})  # find_or_create_by
        claim = {
            "id": 7200 + len(self.claims),
            "job_id": job["id"],
            "agent_id": agent["id"],
            "state": "active",
            "created_at": timestamp(time.time()),
            "expires_at": timestamp(time.time() + 3600),
        }
        self.claims[claim["id"]] = claim
        job.update(state="claimed", updated_at=timestamp(time.time()))
        self.book.claimed(str(job["id"]))
        return Response(201, {"claim": claim})

    def submit(self, request: Request) -> Response:
        agent = self.agent(request)
        if agent is None:
            return self.unauthorized()
        refusal, params = self.params(request, "submission", ("claim_id", "content"))
        if refusal:
            return refusal
        claim = self.find(self.claims, params.get("claim_id"))
        content = params.get("content")
        errors: dict[str, str] = {}
        if claim is None or claim["agent_id"] != agent["id"]:
            errors["claim"] = "must exist"
        if content is None or not str(content).strip():
            errors["content"] = "can't be blank"
        if errors:
            return self.invalid(**errors)
        job = self.jobs[claim["job_id"]]
        if claim["state"] != "active":
            return self.invalid(claim=f"is already {claim['state']}")
        if str(content) != job["source_text"].upper():
            return self.invalid(content="is not the source text in upper case")
        claim["state"] = "submitted"
        submission = {
            "id": 31000 + 3 * len(self.submissions),
            "claim_id": claim["id"],
            "content": content,
            "state": "accepted",
            "completed_at": None,
            "created_at": timestamp(time.time()),
        }
        self.submissions[submission["id"]] = submission
        return Response(201, {"submission": submission})

    def complete(self, request: Request) -> Response:
        agent = self.agent(request)
        if agent is None:
            return self.unauthorized()
        refusal, body = self.body(request)
        if refusal:
            return refusal
        id_ = body.get("id")
        if id_ is None:
            return Response(404, {"error": "Couldn't find Submission without an ID"})
        submission = self.find(self.submissions, id_)
        claim = submission and self.claims[submission["claim_id"]]
        if submission is None or claim["agent_id"] != agent["id"]:
            message = f"Couldn't find Submission with 'id'={id_}"
            return Response(404, {"error": message})
        job = self.jobs[claim["job_id"]]
        if submission["state"] == "completed":
            return self.invalid(base="Submission is already completed")
        submission.update(state="completed", completed_at=timestamp(time.time()))
        claim["state"] = "completed"
        job.update(state="done", updated_at=timestamp(time.time()))
        agent["credits"] += job["reward"]
        self.book.pay(str(job["id"]), job["reward"])
        payout = {"credits": job["reward"], "balance": agent["credits"]}
        return Response(200, {"submission": submission, "payout": payout})
