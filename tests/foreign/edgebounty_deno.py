"""EdgeBounty: edge functions in TypeScript behind a gateway, in the manner of Supabase.

The gateway checks the JWT before a function runs. The functions are written the usual way:
`const { a, b } = await req.json()`, a line on what is missing, `.single()`, and a catch that
answers `{ error: error.message }`, so the database's own sentences reach the caller. Bodies
are camelCase, rows come as the database has them. Two live claims at a time for each agent.
"""
# Its author has typed it less strictly.
# mypy: ignore-errors

import base64
import hashlib
import hmac
import json
import re
import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "authorization, x-client-info, apikey, content-type",
}
_UUID = re.compile(r"[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)
_NO_ROW = "JSON object requested, multiple (or no) rows returned"
_ROWS = [
    ("Badge for the front desk", "visitors please sign in here", 16, ["print"]),
    ("Chapter opener", "the river had no name", 8, ["book"]),
    ("Push notification", "your order is on its way!", 27, ["app"]),
    ("Stage card", "act two, ten minutes", 13, ["print", "theatre"]),
    ("Button caption", "save and continue", 5, ["app"]),
    ("Museum plaque", "bronze figure, found 1932 near the old mill", 35, ["print"]),
]
_MAX_LIVE = 2


def _now(hours: int = 0) -> str:
    return (datetime.now(UTC) + timedelta(hours=hours)).isoformat()


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class _Thrown(Exception):  # noqa: N818
    """What a function throws or returns early."""

    def __init__(self, error: str, status: int = 400, **more: Any) -> None:
        self.status, self.body = status, {"error": error, **more}


def _required(body: Any, *names: str) -> list[Any]:
    """Destructure the body; JavaScript's falsy values count as missing."""
    if body is None:
        first = f"'{names[0]}' of '(intermediate value)' as it is null."
        raise _Thrown(f"Cannot destructure property {first}")
    values = [body.get(name) if isinstance(body, dict) else None for name in names]
    if any(value in (None, "", 0, False) for value in values):
        raise _Thrown(f"Missing required fields: {', '.join(names)}")
    return values


def _single(table: dict[str, dict[str, Any]], id_: Any) -> dict[str, Any]:
    """Do `.from(table).select().eq('id', id).single()`."""
    text = id_ if isinstance(id_, str) else json.dumps(id_)
    if not _UUID.fullmatch(text):
        raise _Thrown(f'invalid input syntax for type uuid: "{text}"')
    if (key := str(uuid.UUID(text))) not in table:
        raise _Thrown(_NO_ROW)
    return table[key]


def _function(private: bool = True) -> Callable[..., Any]:  # noqa: FBT001, FBT002
    """Make an edge function: the gateway, then serve(async (req) => { try ... catch ... })."""

    def wrap(code: Callable[..., Any]) -> Callable[..., Response]:
        def function(self: Any, request: Request) -> Response:
            headers = _CORS | {"sb-request-id": str(uuid.uuid4())}
            agent = self._agents.get(request.token)
            if private and not request.headers.get("Authorization"):
                no = {"code": 401, "message": "Missing authorization header"}
                return Response(401, no, headers)
            if private and agent is None:
                return Response(401, {"code": 401, "message": "Invalid JWT"}, headers)
            try:
                answer = code(self, request, agent)
                answer.headers |= headers
                return answer  # noqa: TRY300
            except _Thrown as no:
                return Response(no.status, no.body, headers)
            except ValueError:
                text = request.raw.decode(errors="replace").strip()
                error = "Unexpected end of JSON input"
                if text[:1] not in ("", "{", "["):
                    error = f"Unexpected token '{text[0]}', \"{text[:20]}\" is not valid JSON"
                return Response(400, {"error": error}, headers)

        return function

    return wrap


class EdgeBounty(Backend):
    """Edge functions: flat camelCase bodies, database rows, completion pays."""

    def __init__(self) -> None:
        super().__init__()
        self._secret = secrets.token_bytes(32)
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._claims: dict[str, dict[str, Any]] = {}
        self._submissions: dict[str, dict[str, Any]] = {}
        self._bounties: dict[str, dict[str, Any]] = {}
        for name, text, credits_, tags in _ROWS:
            row = {"id": str(uuid.uuid4()), "created_at": _now(), "name": name}
            row["what_to_do"] = "Answer with raw_text in upper case."
            row |= {
                "raw_text": text,
                "reward_credits": credits_,
                "tags": tags,
                "status": "live",
            }
            self._bounties[row["id"]] = row

    def texts(self) -> dict[str, str]:
        return {id_: row["raw_text"] for id_, row in self._bounties.items()}

    def missing(self, request: Request) -> Response:
        if request.path in {path for _, path in ACTIONS}:
            return Response(405, {"error": "Method not allowed"}, dict(_CORS))
        if request.path.startswith("/functions/v1/"):
            no = {"code": "NOT_FOUND", "message": "Requested function was not found"}
            return Response(404, no)
        return Response(404, {"message": "no Route matched with those values"})

    @_function(private=False)
    def register(self, request: Request, _: Any) -> Response:
        id_ = str(uuid.uuid4())
        claims = {
            "sub": id_,
            "role": "agent",
            "iat": int(datetime.now(UTC).timestamp()),
        }
        parts = [
            _b64(json.dumps(p).encode())
            for p in ({"alg": "HS256", "typ": "JWT"}, claims)
        ]
        signed = hmac.new(
            self._secret, ".".join(parts).encode(), hashlib.sha256
        ).digest()
        token = ".".join([*parts, _b64(signed)])
        self._agents[token] = {"id": id_, "credits": 100}
        self.book.registrations += 1
        return Response(200, {"agent_id": id_, "access_token": token, "credits": 100})

    def _page(self, request: Request, hidden: tuple[str, ...] = ()) -> Response:
        """Answer the rows bare, and in Content-Range which ones they are."""
        given = {
            k: int(v) for k, v in request.query.items() if v.isascii() and v.isdigit()
        }
        limit, offset = min(given.get("limit", 20), 50), given.get("offset", 0)
        live = [row for row in self._bounties.values() if row["status"] == "live"]
        rows = live[offset : offset + limit]
        span = f"{offset}-{offset + len(rows) - 1}" if rows else "*"
        shown = [{k: v for k, v in row.items() if k not in hidden} for row in rows]
        return Response(200, shown, {"Content-Range": f"{span}/{len(live)}"})

    @_function()
    def tasks(self, request: Request, agent: Any) -> Response:
        return self._page(request)

    @_function(private=False)
    def marketplace(self, request: Request, _: Any) -> Response:
        return self._page(request, hidden=("raw_text", "what_to_do"))

    @_function(private=False)
    def agents(self, request: Request, _: Any) -> Response:
        return Response(200, [{"id": agent["id"]} for agent in self._agents.values()])

    directory = agents

    @_function()
    def claim(self, request: Request, agent: dict[str, Any]) -> Response:
        bounty_id, agent_id = _required(request.json(), "bountyId", "agentId")
        if agent_id != agent["id"]:
            raise _Thrown("agentId does not match the token", 403)
        bounty = _single(self._bounties, bounty_id)
        if bounty["status"] != "live":
            raise _Thrown(f"Bounty is not live (status: {bounty['status']})", 409)
        mine = [c for c in self._claims.values() if c["agent_id"] == agent_id]
        if len([c for c in mine if c["status"] != "completed"]) >= _MAX_LIVE:
            limit = f"You already have {_MAX_LIVE} live claims. Complete one before claiming more."
            raise _Thrown(limit, 429)
        bounty["status"] = "claimed"
        claim = {
            "id": str(uuid.uuid4()),
            "bounty_id": bounty["id"],
            "agent_id": agent_id,
        }
        claim |= {
            "status": "active",
            "claimed_at": _now(),
            "expires_at": _now(hours=24),
        }
        self._claims[claim["id"]] = claim
        self.book.claimed(bounty["id"])
        return Response(200, {"message": "Bounty claimed", "claim": claim})

    @_function()
    def submit(self, request: Request, agent: dict[str, Any]) -> Response:
        claim_id, answer = _required(request.json(), "claimId", "answer")
        if not isinstance(answer, str):
            raise _Thrown("answer must be a string")
        claim = _single(self._claims, claim_id)
        if claim["agent_id"] != agent["id"]:
            raise _Thrown("This claim belongs to another agent", 403)
        if claim["status"] != "active":
            raise _Thrown(f"Claim is not active (status: {claim['status']})", 409)
        right = answer == self._bounties[claim["bounty_id"]]["raw_text"].upper()
        row = {"id": str(uuid.uuid4()), "claim_id": claim["id"], "submitted_at": _now()}
        row["status"] = "accepted" if right else "rejected"
        row["reviewer_note"] = None if right else "answer is not raw_text in upper case"
        self._submissions[row["id"]] = row
        claim["status"] = "submitted" if right else "active"
        body = {"submission": row, "claim_status": claim["status"]}
        return Response(200, body, refused=not right)

    @_function()
    def complete(self, request: Request, agent: dict[str, Any]) -> Response:
        bounty_id, submission_id = _required(request.json(), "bountyId", "submissionId")
        bounty = _single(self._bounties, bounty_id)
        submission = _single(self._submissions, submission_id)
        claim = self._claims[submission["claim_id"]]
        if claim["agent_id"] != agent["id"] or claim["bounty_id"] != bounty["id"]:
            raise _Thrown("Submission is not yours for this bounty", 403)
        if submission["status"] != "accepted":
            raise _Thrown(
                f"Submission is not accepted (status: {submission['status']})", 409
            )
        if claim["status"] == "completed":
            raise _Thrown("Bounty is already completed", 409)
        claim["status"] = bounty["status"] = "completed"
        self.book.pay(bounty["id"], bounty["reward_credits"])
        agent["credits"] += bounty["reward_credits"]
        answer = {
            "message": "Bounty completed",
            "credits_earned": bounty["reward_credits"],
        }
        return Response(200, answer | {"new_balance": agent["credits"]})

    @_function()
    def post(self, request: Request, agent: dict[str, Any]) -> Response:
        name, text, reward = _required(
            request.json(), "name", "rawText", "rewardCredits"
        )
        if not isinstance(reward, int) or not 0 < reward <= agent["credits"]:
            raise _Thrown("Insufficient credits", 402, balance=agent["credits"])
        agent["credits"] -= reward
        row = {
            "id": str(uuid.uuid4()),
            "name": name,
            "raw_text": text,
            "status": "draft",
        }
        return Response(200, row | {"reward_credits": reward})

    @_function(private=False)
    def checkout(self, request: Request, _: Any) -> Response:
        fields = "plan", "agent_id", "price_id", "requested_credits", "amount_cents"
        plan, agent_id, *_rest = _required(request.json(), *fields)
        id_ = "cs_test_" + secrets.token_hex(16)
        answer = {"ok": True, "sessionId": id_, "url": f"https://pay.example.com/{id_}"}
        return Response(
            200, answer | {"mode": "payment", "agentId": agent_id, "plan": plan}
        )
