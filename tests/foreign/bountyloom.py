"""A start-up's bounty service: Elixir on Phoenix, Ecto changesets, a FallbackController.

Controllers hand params to a changeset; whatever is not {:ok, _} goes through the fallback
to ChangesetJSON or ErrorJSON. A right submission is paid at once; completing closes it.
"""
# Its author has typed it less strictly.
# mypy: ignore-errors

import base64
import secrets
import uuid
from datetime import UTC, datetime
from functools import wraps
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_BOUNTIES = [
    ("Lobby display", "welcome to the third floor", 14),
    ("Jersey print", "river city rowing club", 22),
    ("Alarm line", "leave the building by the nearest stairs", 30),
    ("Crate label", "handle with care: glass inside", 10),
    ("Marquee", "tonight only, two shows for one ticket", 17),
    ("Memo subject", "new opening hours from monday", 8),
]
_REASONS = {400: "Bad Request", 401: "Unauthorized", 404: "Not Found"}


class _Fallback(Exception):  # noqa: N818
    """What a controller returned when it was not {:ok, _}."""

    def __init__(self, reason: int | dict[str, Any]):  # noqa: ANN204
        super().__init__(reason)
        self.status = reason if isinstance(reason, int) else 422
        errors = {"detail": _REASONS[reason]} if isinstance(reason, int) else reason
        self.body = {"errors": errors}


def _headers() -> dict[str, str]:
    return {
        "Content-Type": "application/json; charset=utf-8",
        "cache-control": "max-age=0, private, must-revalidate",
        "x-request-id": base64.urlsafe_b64encode(secrets.token_bytes(15)).decode(),
    }


def _action(method: Any) -> Any:
    @wraps(method)
    def call(self: Any, request: Request) -> Response:
        try:
            return Response(200, method(self, request), _headers())
        except _Fallback as fallback:
            return Response(fallback.status, fallback.body, _headers())

    return call


class _Changeset:
    """As much of an Ecto changeset as these controllers need."""

    def __init__(self, params: Any, types: dict[str, str]) -> None:
        self.errors: dict[str, Any] = {}
        self.changes: dict[str, Any] = {}
        self.params = params
        for name, type_ in types.items():
            value = params.get(name)
            if value is None or (isinstance(value, str) and not value.strip()):
                continue
            try:
                self.changes[name] = getattr(self, f"_{type_}")(value)
            except (ValueError, TypeError, AttributeError):
                self.add(name, "is invalid")

    def _string(self, value: Any) -> str:
        if not isinstance(value, str):
            raise TypeError
        return value

    def _integer(self, value: Any) -> int:
        return int(value)

    def _binary_id(self, value: Any) -> str:
        return str(uuid.UUID(self._string(value)))

    def _utc_datetime(self, value: Any) -> datetime:
        text = self._string(value)
        if len(text) < 16:  # a date alone is no datetime to Ecto
            raise ValueError
        moment = datetime.fromisoformat(text)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

    def _embed(self, value: Any) -> dict[str, Any]:
        return {**value}  # a TypeError if it is no map

    def add(self, name: str, message: str) -> None:
        self.errors.setdefault(name, []).append(message)

    def require(self, *names: str) -> "_Changeset":
        for name in names:
            if name not in self.changes and name not in self.errors:
                self.add(name, "can't be blank")
        return self

    def min_length(self, name: str, least: int) -> "_Changeset":
        if name in self.changes and len(self.changes[name]) < least:
            self.add(name, f"should be at least {least} character(s)")
        return self

    def apply(self) -> dict[str, Any]:
        if self.errors:
            raise _Fallback(self.errors)
        return self.changes


class BountyLoom(Backend):
    """Bounties and claims; an agent has one active claim at a time."""

    def __init__(self) -> None:
        super().__init__()
        self._sessions: dict[str, str] = {}
        self._claims: dict[str, dict[str, Any]] = {}
        self._bounties: dict[str, dict[str, Any]] = {}
        for number, (name, text, reward) in enumerate(_BOUNTIES):
            id_ = str(uuid.uuid4())
            self._bounties[id_] = {
                "id": id_,
                "name": name,
                "text": text,
                "summary": "Turn the source text of the claim into upper case.",
                "reward_credits": reward,
                "state": "available",
                "inserted_at": f"2025-02-1{number}T08:30:0{number}Z",
            }

    def texts(self) -> dict[str, str]:
        return {id_: bounty["text"] for id_, bounty in self._bounties.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, {"errors": {"detail": "Not Found"}}, _headers())

    def _current_agent(self, request: Request) -> str:
        if request.token not in self._sessions:
            raise _Fallback(401)
        return self._sessions[request.token]

    def _params(self, request: Request) -> dict[str, Any]:
        try:
            params = request.json() if request.raw else {}
        except ValueError:
            raise _Fallback(400) from None  # Plug.Parsers.ParseError
        return params if isinstance(params, dict) else {"_json": params}

    def _own_claim(self, agent: str, id_: str) -> dict[str, Any]:
        claim = self._claims.get(id_)
        if claim is None or claim["agent_id"] != agent:
            raise _Fallback(404)
        return claim

    def _bounty_json(self, bounty: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in bounty.items() if key != "text"}

    def _claim_json(self, claim: dict[str, Any]) -> dict[str, Any]:
        bounty = self._bounties[claim["bounty_id"]]
        shown = {**self._bounty_json(bounty), "source_text": bounty["text"]}
        return {**claim, "bounty": shown}

    @_action
    def register(self, request: Request) -> Any:
        self.book.registrations += 1
        agent = str(uuid.uuid4())
        signed = base64.urlsafe_b64encode(secrets.token_bytes(36)).decode()
        token = f"SFMyNTY.{signed}.{secrets.token_urlsafe(32)}"
        self._sessions[token] = agent
        return {"agent_id": agent, "access_token": token, "credits": 100}

    @_action
    def tasks(self, request: Request) -> Any:
        open_ = [b for b in self._bounties.values() if b["state"] == "available"]
        changeset = _Changeset(request.query, {"limit": "integer"})
        limit = min(max(changeset.apply().get("limit", 20), 1), 100)
        return {"data": [self._bounty_json(bounty) for bounty in open_[:limit]]}

    marketplace = tasks

    @_action
    def claim(self, request: Request) -> Any:
        agent = self._current_agent(request)
        types = {"bounty_id": "binary_id", "finish_by": "utc_datetime"}
        changeset = _Changeset(self._params(request), types).require(*types)
        finish_by = changeset.changes.get("finish_by")
        if finish_by and finish_by <= datetime.now(UTC):
            changeset.add("finish_by", "must be in the future")
        changes = changeset.apply()
        bounty = self._bounties.get(changes["bounty_id"])
        mine = [c for c in self._claims.values() if c["agent_id"] == agent]
        if bounty is None:
            raise _Fallback({"bounty_id": ["does not exist"]})
        if bounty["state"] != "available":
            raise _Fallback({"bounty_id": ["has already been claimed"]})
        if any(claim["state"] == "active" for claim in mine):
            raise _Fallback({"agent_id": ["already has an active claim"]})
        bounty["state"] = "claimed"
        claim = {
            "id": str(uuid.uuid4()),
            "agent_id": agent,
            "bounty_id": bounty["id"],
            "state": "active",
            "finish_by": finish_by.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "deliverable": {"content": None, "remarks": None},
            "feedback": None,
        }
        self._claims[claim["id"]] = claim
        self.book.claimed(bounty["id"])
        return {"data": self._claim_json(claim)}

    @_action
    def submit(self, request: Request) -> Any:
        agent = self._current_agent(request)
        types = {"claim_id": "binary_id", "deliverable": "embed"}
        changeset = _Changeset(self._params(request), types).require(*types)
        content = {"content": "string", "remarks": "string"}
        embed = _Changeset(changeset.changes.get("deliverable", {}), content)
        embed.require("content", "remarks").min_length("remarks", 8)
        if embed.errors and "deliverable" in changeset.changes:
            changeset.errors["deliverable"] = embed.errors
        claim = self._own_claim(agent, changeset.apply()["claim_id"])
        bounty = self._bounties[claim["bounty_id"]]
        if claim["state"] != "active":
            raise _Fallback({"state": [f"is already {claim['state']}"]})
        if embed.changes["content"] != bounty["text"].upper():
            message = "does not meet the summary of the bounty"
            raise _Fallback({"deliverable": {"content": [message]}})
        claim.update(state="accepted", deliverable=embed.changes)
        bounty["state"] = "paid"
        self.book.pay(bounty["id"], bounty["reward_credits"])
        return {"data": self._claim_json(claim)}

    @_action
    def complete(self, request: Request) -> Any:
        agent = self._current_agent(request)
        types = {"claim_id": "binary_id", "feedback": "string"}
        changeset = _Changeset(self._params(request), types).require(*types)
        changes = changeset.min_length("feedback", 5).apply()
        claim = self._own_claim(agent, changes["claim_id"])
        if claim["state"] == "active":
            raise _Fallback({"state": ["must be accepted before it is completed"]})
        if claim["state"] == "completed":
            raise _Fallback({"state": ["is already completed"]})
        claim.update(state="completed", feedback=changes["feedback"])
        return {"data": self._claim_json(claim)}
