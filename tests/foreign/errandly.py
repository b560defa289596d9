"""A start-up's service in Python: Flask, marshmallow, Flask-JWT-Extended; snake_case."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import base64
import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_TASKS = [
    ("Shout a headline", "Local bakery wins the regional prize", 6),
    ("Label for a crate", "Fragile: this side up", 4),
    ("Banner for the spring sale", "spring sale starts on monday", 9),
    ("Warning sign", "mind the gap between door and platform", 12),
    ("Name plates", "meeting room 4b, second floor", 5),
    ("Ticker line", "trains to the coast run every 20 minutes", 15),
]
_PHRASES = {
    400: "The browser (or proxy) sent a request that this server could not understand.",
    404: "The requested URL was not found on the server. If you entered the URL manually "
    "please check your spelling and try again.",
    405: "The method is not allowed for the requested URL.",
    415: "Did not attempt to load JSON data because the request Content-Type was not "
    "'application/json'.",
}


class _Abort(Exception):  # noqa: N818
    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(status)
        self.response = Response(status, body)


def _abort(status: int, message: str = "") -> _Abort:
    return _Abort(status, {"message": message or _PHRASES[status]})


def _invalid(errors: dict[str, Any]) -> _Abort:
    return _Abort(422, {"message": "Validation failed", "errors": errors})


def _integer(low: int = -(2**63), high: int = 2**63) -> Any:
    def load(value: Any) -> int:
        try:
            number = int("" if isinstance(value, bool) else value)
        except (TypeError, ValueError, OverflowError):
            raise ValueError("Not a valid integer.") from None
        if not low <= number <= high:
            upper = f" and less than or equal to {high}" if high < 2**63 else ""
            raise ValueError(f"Must be greater than or equal to {low}{upper}.")
        return number

    return load


def _string(low: int, high: int) -> Any:
    def load(value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError("Not a valid string.")  # noqa: TRY004
        if not low <= len(value) <= high:
            raise ValueError(f"Length must be between {low} and {high}.")
        return value

    return load


_CLAIM = {"task_id": _integer(), "estimated_minutes": _integer(1, 1440)}
_SUBMIT = {
    "claim_id": _integer(),
    "result_text": _string(1, 20000),
    "summary": _string(10, 280),
}
_COMPLETE = {"submission_id": _integer(), "minutes_spent": _integer(0, 1440)}
_CHECKOUT = {name: _string(1, 200) for name in ("plan", "agent_id", "price_id")}
_CHECKOUT |= {name: _integer(1) for name in ("requested_credits", "amount_cents")}
_LISTING = {"limit": _integer(1, 50), "page": _integer(1)}


def _load(
    schema: dict[str, Any],
    data: Any,
    partial: bool = False,  # noqa: FBT001, FBT002
    exclude: bool = False,  # noqa: FBT001, FBT002
) -> Any:
    if not isinstance(data, dict):
        raise _invalid({"_schema": ["Invalid input type."]})
    out: dict[str, Any] = {}
    errors: dict[str, list[str]] = {}
    for name, load in schema.items():
        if name not in data:
            if not partial:
                errors[name] = ["Missing data for required field."]
        elif data[name] is None:
            errors[name] = ["Field may not be null."]
        else:
            try:
                out[name] = load(data[name])
            except ValueError as error:
                errors[name] = [str(error)]
    if not exclude:
        errors.update({name: ["Unknown field."] for name in data if name not in schema})
    if errors:
        raise _invalid(errors)
    return out


def _now(minutes: int = 0) -> str:
    return (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat(
        timespec="seconds"
    )


def _view(function: Any) -> Any:
    def view(self: Any, request: Request) -> Response:
        try:
            return function(self, request)
        except _Abort as abort:  # @app.errorhandler
            return abort.response

    return view


class Errandly(Backend):
    """Integers for ids, claim ids and submission ids; completion pays."""

    def __init__(self) -> None:
        super().__init__()
        self.members: dict[str, dict[str, Any]] = {}  # by token
        self.items = {
            41 + 3 * n: {
                "id": 41 + 3 * n,
                "title": title,
                "category": "text",
                "instructions": "Rewrite input_text in capital letters (upper case). Change nothing else.",
                "input_text": text,
                "reward_credits": reward,
                "status": "open",
                "created_at": _now(-600 + n),
            }
            for n, (title, text, reward) in enumerate(_TASKS)
        }
        self.claims: dict[int, dict[str, Any]] = {}
        self.submissions: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(key): item["input_text"] for key, item in self.items.items()}

    def missing(self, request: Request) -> Response:
        status = 405 if any(path == request.path for _, path in ACTIONS) else 404
        return Response(status, {"message": _PHRASES[status]})

    def _agent(self, request: Request) -> dict[str, Any]:
        header = request.headers.get("Authorization")
        if not header:
            raise _Abort(401, {"msg": "Missing Authorization Header"})
        if not request.token:
            hint = "Expected 'Authorization: Bearer <JWT>'"
            raise _Abort(
                401, {"msg": f"Missing 'Bearer' type in 'Authorization' header. {hint}"}
            )
        if request.token not in self.members:
            split = request.token.count(".") == 2
            raise _Abort(
                422,
                {
                    "msg": "Signature verification failed"
                    if split
                    else "Not enough segments"
                },
            )
        return self.members[request.token]

    def _body(self, request: Request) -> Any:
        if request.headers.get_content_type() != "application/json":
            raise _abort(415)
        try:
            return request.json()
        except ValueError:
            raise _abort(400) from None

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent_id = f"agent-{1000 + self.book.registrations}"
        parts = [
            json.dumps(p).encode()
            for p in ({"alg": "HS256", "typ": "JWT"}, {"sub": agent_id})
        ]
        parts.append(hashlib.sha256(parts[1]).digest())
        token = ".".join(
            base64.urlsafe_b64encode(p).decode().rstrip("=") for p in parts
        )
        self.members[token] = {"agent_id": agent_id, "credits": 100}
        return Response(
            200, {"agent_id": agent_id, "access_token": token, "credits": 100}
        )

    def tasks(self, request: Request) -> Response:
        query = _load(_LISTING, request.query, partial=True, exclude=True)
        args = {"limit": 20, "page": 1, **query}
        found = [item for item in self.items.values() if item["status"] == "open"]
        start = (args["page"] - 1) * args["limit"]
        meta = {"page": args["page"], "per_page": args["limit"], "total": len(found)}
        return Response(
            200, {"tasks": found[start : start + args["limit"]], "meta": meta}
        )

    marketplace = tasks

    def agents(self, request: Request) -> Response:
        return Response(
            200, {"agents": [{"slug": a["agent_id"]} for a in self.members.values()]}
        )

    def directory(self, request: Request) -> Response:
        slug = request.query.get("slug")
        if not slug:
            return self.agents(request)
        raise _abort(404, "Agent has no public manifest.")

    def checkout(self, request: Request) -> Response:
        _load(_CHECKOUT, self._body(request), exclude=True)
        return Response(
            200, {"ok": True, "sessionId": "cs_1", "url": "https://pay.invalid/cs_1"}
        )

    def claim(self, request: Request) -> Response:
        agent = self._agent(request)
        args = _load(_CLAIM, self._body(request))
        item = self.items.get(args["task_id"])
        if item is None:
            raise _abort(404, "Task not found.")
        if item["status"] != "open":
            raise _abort(409, "Task is no longer open.")
        mine = [c for c in self.claims.values() if c["agent_id"] == agent["agent_id"]]
        if sum(c["status"] != "completed" for c in mine) >= 2:
            raise _abort(
                409, "You already have 2 active claims. Complete one of them first."
            )
        claim = {
            "id": 500 + len(self.claims),
            "task_id": item["id"],
            "agent_id": agent["agent_id"],
        }
        claim |= {
            "status": "in_progress",
            "expires_at": _now(args["estimated_minutes"] + 60),
        }
        self.claims[claim["id"]] = claim
        item["status"] = "claimed"
        self.book.claimed(str(item["id"]))
        return Response(200, {"claim": claim})

    def submit(self, request: Request) -> Response:
        agent = self._agent(request)
        args = _load(_SUBMIT, self._body(request))
        claim = self.claims.get(args["claim_id"])
        if claim is None or claim["agent_id"] != agent["agent_id"]:
            raise _abort(404, "Claim not found.")
        if claim["status"] != "in_progress":
            raise _abort(409, "A result was already submitted for this claim.")
        if args["result_text"] != self.items[claim["task_id"]]["input_text"].upper():
            raise _invalid(
                {"result_text": ["Result does not match the task instructions."]}
            )
        claim["status"] = "submitted"
        number = 9000 + len(self.submissions)
        self.submissions[number] = claim
        made = {
            "id": number,
            "claim_id": claim["id"],
            "status": "accepted",
            "created_at": _now(),
        }
        return Response(200, {"submission": made})

    def complete(self, request: Request) -> Response:
        agent = self._agent(request)
        args = _load(_COMPLETE, self._body(request))
        claim = self.submissions.get(args["submission_id"])
        if claim is None or claim["agent_id"] != agent["agent_id"]:
            raise _abort(404, "Submission not found.")
        if claim["status"] == "completed":
            raise _abort(409, "Task is already completed.")
        item = self.items[claim["task_id"]]
        claim["status"] = item["status"] = "completed"
        agent["credits"] += item["reward_credits"]
        self.book.pay(str(item["id"]), item["reward_credits"])
        payout = {"credits": item["reward_credits"], "balance": agent["credits"]}
        return Response(200, {"task": item, "payout": payout})

    def post(self, request: Request) -> Response:
        self._agent(request)
        raise _abort(403, "Posting tasks is in closed beta.")


for _name in (
    "tasks",
    "marketplace",
    "directory",
    "checkout",
    "claim",
    "submit",
    "complete",
    "post",
):
    setattr(Errandly, _name, _view(getattr(Errandly, _name)))
