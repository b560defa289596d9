"""A silent-film restorers' card desk in TypeScript: Supabase edge functions, zod 4, Postgres RPCs.

Every answer is supabase-js's {"data", "error"}. Bodies are z.strictObject, and zod's issues come
as they are; what the database raises comes with its code, details and hint, and a row that row
level security hides is PGRST116. The gateway answers for missing functions and bad tokens.

The list shows how long a title card is and what it pays; its wording comes with the claim, which
names the agent again. The output carries its length; pg_cron reviews it after a moment, and it
is the submission that is completed, as often as one likes. Three open claims at once.
"""
# mypy: ignore-errors

import base64
import hashlib
import json
import re
import secrets
import time
import uuid
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_CARDS = [
    ("The Salt Road", 1, "meanwhile, at the customs house...", 12),
    ("The Salt Road", 1, "you shall not cross tonight!", 9),
    ("The Salt Road", 2, "seven winters passed", 6),
    ("The Salt Road", 4, "the letter had never been opened", 15),
    ("Orchid & Co.", 1, "a respectable firm, or so it seemed", 17),
    ("Orchid & Co.", 2, "mr. pell counts the spoons again", 13),
    ("Orchid & Co.", 2, "fetch the constable", 8),
    ("Orchid & Co.", 3, "and the safe was empty", 10),
    ("Moth to Lantern", 1, "she danced until the gas went out", 19),
    ("Moth to Lantern", 2, "paris, 1899", 5),
    ("Moth to Lantern", 3, "he knew the tune, but not the singer", 22),
    ("Moth to Lantern", 5, "the end", 4),
]
_REVIEW = 1.2
_OPEN_CLAIMS = 3
_UUID = "^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}|00000000-0000-0000-0000-000000000000|ffffffff-ffff-ffff-ffff-ffffffffffff)$"  # noqa: E501

Issues = list[dict[str, Any]]


def _received(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    kinds = {
        str: "string",
        int: "number",
        float: "number",
        list: "array",
        type(None): "null",
    }
    return kinds.get(type(value), "undefined" if value is ... else "object")


def _expected(kind: str, value: Any, path: list[Any]) -> Issues:
    words = f"Invalid input: expected {kind}, received {_received(value)}"
    return [{"expected": kind, "code": "invalid_type", "path": path, "message": words}]


def _uuid(value: Any, path: list[Any]) -> Issues:
    if not isinstance(value, str):
        return _expected("string", value, path)
    if re.fullmatch(_UUID, value):
        return []
    shown = {"origin": "string", "code": "invalid_format", "format": "uuid"}
    return [{**shown, "pattern": f"/{_UUID}/", "path": path, "message": "Invalid UUID"}]


def _text(value: Any, path: list[Any]) -> Issues:
    if not isinstance(value, str):
        return _expected("string", value, path)
    if value.strip():
        return []
    words = "Too small: expected string to have >=1 characters"
    shown = {"origin": "string", "code": "too_small", "minimum": 1, "inclusive": True}
    return [{**shown, "path": path, "message": words}]


def _integer(value: Any, path: list[Any]) -> Issues:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _expected("number", value, path)
    if float(value).is_integer():
        return []
    words = "Invalid input: expected int, received number"
    shown = {"expected": "int", "format": "safeint", "code": "invalid_type"}
    return [{**shown, "path": path, "message": words}]


def _strict(shape: dict[str, Any], check: Any = None) -> Any:
    """Return z.strictObject(shape), with a superRefine."""

    def parse(value: Any, path: list[Any]) -> Issues:
        if not isinstance(value, dict):
            return _expected("object", value, path)
        found = [
            i for k, kind in shape.items() for i in kind(value.get(k, ...), [*path, k])
        ]
        if extra := [name for name in value if name not in shape]:
            named = ", ".join(f'"{name}"' for name in extra)
            words = f"Unrecognized key{'s' * (len(extra) > 1)}: {named}"
            code = {"code": "unrecognized_keys", "keys": extra}
            found.append({**code, "path": path, "message": words})
        return found or (check(value, path) if check else [])

    return parse


def _same_length(output: dict[str, Any], path: list[Any]) -> Issues:
    if len(output["text"].encode("utf-16-le")) // 2 == output["char_count"]:
        return []
    words = "char_count must be the length of text"
    return [{"code": "custom", "path": [*path, "char_count"], "message": words}]


_CLAIM = _strict({"card_id": _uuid, "agent_id": _uuid})
_OUTPUT = _strict({"text": _text, "char_count": _integer}, _same_length)
_SUBMIT = _strict({"claim_id": _uuid, "output": _OUTPUT})
_COMPLETE = _strict({"submission_id": _uuid})


class _Failed(Exception):  # noqa: N818
    """What the shared fail() throws."""

    def __init__(self, status: int, message: str, **more: Any) -> None:
        super().__init__(message)
        self.response = Response(
            status, {"data": None, "error": {"message": message, **more}}
        )


def _raised(
    message: str, details: str | None = None, hint: str | None = None
) -> _Failed:
    """Return a plpgsql exception, as the RPC hands it on."""
    return _Failed(409, message, code="P0001", details=details, hint=hint)


def _single(row: Any) -> Any:
    """Return .single() of a query for this row."""
    if row is None:
        words = "Cannot coerce the result to a single JSON object"
        shown = {
            "code": "PGRST116",
            "details": "The result contains 0 rows",
            "hint": None,
        }
        raise _Failed(404, words, **shown)
    return row


def _parsed(request: Request, schema: Any) -> Any:
    text = request.raw.decode(errors="replace")
    if not text.strip():
        raise _Failed(400, "Unexpected end of JSON input")
    try:
        body = json.loads(text)
    except ValueError as problem:
        at = text[getattr(problem, "pos", 0) :][:1]
        if not at:
            raise _Failed(400, "Unexpected end of JSON input") from None
        shown = f'"{text[:10]}"...' if len(text) > 10 else f'"{text}"'
        words = f"Unexpected token '{at}', {shown} is not valid JSON"
        raise _Failed(400, words) from None
    if issues := schema(body, []):
        raise _Failed(400, "Invalid request body", issues=issues)
    return body


def _function(method: Any) -> Any:
    """Wrap an edge function: CORS, and its errors."""

    @wraps(method)
    def served(self: Any, request: Request) -> Response:
        try:
            answer = method(self, request)
        except _Failed as failed:
            answer = failed.response
        answer.headers = {"Access-Control-Allow-Origin": "*"} | answer.headers
        return answer

    return served


def _verified(method: Any) -> Any:
    """Let the gateway verify the JWT first."""

    @wraps(method)
    def served(self: Any, request: Request) -> Response:
        if not request.headers.get("Authorization"):
            return Response(
                401, {"code": 401, "message": "Missing authorization header"}
            )
        if request.token not in self._agents:
            return Response(401, {"code": 401, "message": "Invalid JWT"})
        return _function(method)(self, request)

    return served


def _timestamptz(moment: datetime | None = None) -> str:
    return (moment or datetime.now(UTC)).isoformat(timespec="microseconds")


def _jwt(agent: str) -> str:
    def part(value: bytes) -> str:
        return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    head = part(b'{"alg":"HS256","typ":"JWT"}')
    now = int(time.time())
    claims = {"sub": agent, "role": "agent", "iat": now, "exp": now + 86400 * 30}
    body = part(json.dumps(claims, separators=(",", ":")).encode())
    return f"{head}.{body}.{part(secrets.token_bytes(32))}"


class IntertitlesSupabase(Backend):
    """Twelve title cards; card and agent, then an output, then the submission."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}
        self._claims: dict[str, dict[str, Any]] = {}
        self._submissions: dict[str, dict[str, Any]] = {}
        made = datetime.now(UTC) - timedelta(days=2)
        self._cards: dict[str, dict[str, Any]] = {}
        for n, (film, reel, wording, reward) in enumerate(_CARDS):
            digest = hashlib.md5(f"{film}/{reel}/{wording}".encode()).digest()
            number = str(uuid.UUID(bytes=digest, version=4))
            self._cards[number] = {
                "id": number,
                "film": film,
                "reel": reel,
                "brief": "Set the wording of the card in capitals.",
                "char_count": len(wording),
                "reward_credits": reward,
                "status": "open",
                "created_at": _timestamptz(
                    made + timedelta(minutes=7 * n, microseconds=1203 * n)
                ),
                "_wording": wording,
            }

    def texts(self) -> dict[str, str]:
        """Return the wordings by the card's id."""
        return {number: card["_wording"] for number, card in self._cards.items()}

    def missing(self, request: Request) -> Response:
        """Answer as the gateway does."""
        if request.path.startswith("/functions/v1/"):
            words = "Requested function was not found"
            return Response(404, {"code": "NOT_FOUND", "message": words})
        return Response(404, {"error": "requested path is invalid"})

    @staticmethod
    def _row(row: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in row.items() if not name.startswith("_")}

    @_function
    def register(self, request: Request) -> Response:
        """Insert an agent."""
        self.book.registrations += 1
        agent = {"agent_id": str(uuid.uuid4()), "credits": 100}
        token = _jwt(agent["agent_id"])
        self._agents[token] = agent
        return Response(200, {**agent, "access_token": token})

    @_function
    def marketplace(self, request: Request) -> Response:
        """Select the open cards in a range."""
        issues: Issues = []
        asked = {}
        for name, default, low, high in (
            ("limit", "10", 1, 50),
            ("offset", "0", 0, None),
        ):
            value = request.query.get(name, default)
            if not re.fullmatch(r"-?\d{1,9}", value):
                kind = {"expected": "number", "code": "invalid_type", "received": "NaN"}
                words = "Invalid input: expected number, received NaN"
                issues.append({**kind, "path": [name], "message": words})
                continue
            asked[name] = int(value)
            if asked[name] < low:
                words = f"Too small: expected number to be >={low}"
                kind = {"origin": "number", "code": "too_small", "minimum": low}
            elif high and asked[name] > high:
                words = f"Too big: expected number to be <={high}"
                kind = {"origin": "number", "code": "too_big", "maximum": high}
            else:
                continue
            issues.append({**kind, "inclusive": True, "path": [name], "message": words})
        if issues:
            raise _Failed(400, "Invalid query", issues=issues)
        every = [
            self._row(card) for card in self._cards.values() if card["status"] == "open"
        ]
        first = asked["offset"]
        page = every[first : first + asked["limit"]]
        return Response(200, {"data": page, "count": len(every), "error": None})

    @_verified
    def tasks(self, request: Request) -> Response:
        """Select the same for an agent."""
        return self.marketplace(request)

    @_verified
    def claim(self, request: Request) -> Response:
        """Call rpc claim_card."""
        body = _parsed(request, _CLAIM)
        agent = self._agents[request.token]
        if body["agent_id"].lower() != agent["agent_id"]:
            raise _Failed(403, "agent_id does not match the access token")
        card = _single(self._cards.get(body["card_id"].lower()))
        if card["status"] != "open":
            hint = "Pick another card from get-marketplace-tasks."
            raise _raised("card is not open", f"status is {card['status']}", hint)
        unfinished = [
            claim
            for claim in self._claims.values()
            if claim["agent_id"] == agent["agent_id"] and claim["status"] != "completed"
        ]
        if len(unfinished) >= _OPEN_CLAIMS:
            details = f"{len(unfinished)} of {_OPEN_CLAIMS}"
            raise _raised(
                "too many open claims", details, "Complete one of them first."
            )
        card["status"] = "claimed"
        self.book.claimed(card["id"])
        claim = {
            "id": str(uuid.uuid4()),
            "card_id": card["id"],
            "agent_id": agent["agent_id"],
            "status": "active",
            "claimed_at": _timestamptz(),
        }
        self._claims[claim["id"]] = claim
        shown = {**self._row(card), "wording": card["_wording"]}
        return Response(200, {"data": {"claim": claim, "card": shown}, "error": None})

    @_verified
    def submit(self, request: Request) -> Response:
        """Call rpc submit_output."""
        body = _parsed(request, _SUBMIT)
        claim = self._claims.get(body["claim_id"].lower())
        if claim and claim["agent_id"] != self._agents[request.token]["agent_id"]:
            claim = None  # row level security
        claim = _single(claim)
        if claim["status"] != "active":
            raise _raised("claim is not active", f"status is {claim['status']}")
        card = self._cards[claim["card_id"]]
        if body["output"]["text"].strip() != card["_wording"].upper():
            words = "output rejected: text is not the wording of the card in capitals"
            raise _Failed(422, words, code="P0001", details=None, hint=None)
        claim["status"] = card["status"] = "submitted"
        submission = {
            "id": str(uuid.uuid4()),
            "claim_id": claim["id"],
            "status": "in_review",
            "output": body["output"],
            "submitted_at": _timestamptz(),
            "_reviewed": time.monotonic() + _REVIEW,
        }
        self._submissions[submission["id"]] = submission
        return Response(
            200, {"data": {"submission": self._row(submission)}, "error": None}
        )

    @_verified
    def complete(self, request: Request) -> Response:
        """Call rpc complete_submission."""
        body = _parsed(request, _COMPLETE)
        agent = self._agents[request.token]
        submission = self._submissions.get(body["submission_id"].lower())
        if submission:
            claim = self._claims[submission["claim_id"]]
            submission = submission if claim["agent_id"] == agent["agent_id"] else None
        submission = _single(submission)
        if submission["status"] == "in_review":
            if time.monotonic() < submission["_reviewed"]:
                hint = "Reviews take a few seconds. Try again shortly."
                raise _raised(
                    "submission is still in review", "status is in_review", hint
                )
            submission["status"] = "approved"
        card = self._cards[claim["card_id"]]
        if submission["status"] == "approved":
            submission["status"] = claim["status"] = card["status"] = "completed"
            submission["completed_at"] = _timestamptz()
            self.book.pay(card["id"], card["reward_credits"])
            agent["credits"] += card["reward_credits"]
        data = {
            "submission": self._row(submission),
            "credits_earned": card["reward_credits"],
            "credits": agent["credits"],
        }
        return Response(200, {"data": data, "error": None})
