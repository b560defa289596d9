"""GigDock: a start-up's Rails API, with a dry-validation contract in every controller.

Root keys around every body, `errors` as dry-validation prints it, Active Record's words for
what is not there, Kaminari's paging. Payment comes with the completion.
"""
# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import secrets
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_GIGS = [
    ("Shout the slogan", "fresh bread every morning", 12),
    ("Capitals for a door sign", "please ring the bell twice", 8),
    ("Banner copy", "summer sale starts on friday", 20),
    ("Label for a crate", "handle with care, glass inside", 15),
    ("Headline", "local team wins the river race", 31),
    ("Stencil", "no parking in front of gate 4", 18),
]
_PER_PAGE = 5
_Rules = dict[str, tuple[str, str]]  # field -> type, predicate

_CLAIM: _Rules = {"gig_id": ("a string", "uuid")}
_SUBMISSION: _Rules = {
    "claim_id": ("an integer", ""),
    "body": ("a string", ""),
    "minutes_spent": ("an integer", "gt"),
}
_COMPLETION: _Rules = {
    "submission_id": ("an integer", ""),
    "confirmed": ("boolean", "true"),
}
_CHECKOUT: _Rules = {
    **dict.fromkeys(("plan", "agent_id", "price_id"), ("a string", "")),
    **dict.fromkeys(("requested_credits", "amount_cents"), ("an integer", "gt")),
}


def _now(**ahead: int) -> str:
    moment = datetime.now(UTC) + timedelta(**ahead)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def _complaint(value: Any, kind: str, predicate: str) -> str:
    """Return dry-schema's sentence on one filled value, or ""."""
    if value is None or value == "" or value == [] or value == {}:  # noqa: PLR1714
        return "must be filled"
    wanted = {"a string": str, "an integer": int, "boolean": bool}[kind]
    if type(value) is not wanted:
        return f"must be {kind}"
    if predicate == "gt" and value <= 0:
        return "must be greater than 0"
    if predicate == "true" and value is not True:
        return "must be equal to true"
    if predicate == "uuid" and not re.fullmatch(
        r"(?i)[0-9a-f]{8}(-[0-9a-f]{4,12}){4}", value
    ):
        return "is not a valid UUID"
    return ""


def _schema(given: dict[str, Any], rules: _Rules) -> dict[str, list[str]]:
    errors = {}
    for name, (kind, predicate) in rules.items():
        if name not in given:
            errors[name] = ["is missing"]
        elif said := _complaint(given[name], kind, predicate):
            errors[name] = [said]
    return errors


class _Halt(Exception):  # noqa: N818
    """A body and a status, which rescue_from turns into an answer."""


class GigDock(Backend):
    """Rails API with dry-validation."""

    def __init__(self) -> None:
        super().__init__()
        self.members: dict[str, dict[str, Any]] = {}  # by token
        self.balances: dict[str, int] = {}
        self.gigs: dict[str, dict[str, Any]] = {}
        for number, (title, text, credits_) in enumerate(_GIGS):
            key = str(uuid.uuid4())
            self.gigs[key] = {
                "id": key,
                "title": title,
                "brief": "Return the source text in capital letters, nothing else.",
                "source_text": text,
                "payout_credits": credits_,
                "state": "open",
                "created_at": _now(hours=-number - 1),
            }
        self.claims: dict[int, dict[str, Any]] = {}
        self.submissions: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {key: gig["source_text"] for key, gig in self.gigs.items()}

    def missing(self, request: Request) -> Response:
        return self._json({"status": 404, "error": "Not Found"}, 404)

    # Controllers

    def register(self, request: Request) -> Response:
        token = secrets.token_hex(20)
        agent = {"id": str(uuid.uuid4()), "slug": f"agent-{len(self.members) + 1}"}
        self.members[token] = agent
        self.balances[agent["id"]] = 100
        self.book.registrations += 1
        return self._json(
            {"agent_id": agent["id"], "access_token": token, "credits": 100}
        )

    def tasks(self, request: Request) -> Response:
        def number(name: str, default: int) -> int:
            value = request.query.get(name, "")
            return int(value) if value.isdecimal() and int(value) else default

        per = min(number("limit", _PER_PAGE), _PER_PAGE)
        page = number("page", 1)
        open_ = [gig for gig in self.gigs.values() if gig["state"] == "open"]
        pages = -(-len(open_) // per)
        after = page + 1 if page < pages else None
        meta = {"current_page": page, "next_page": after}
        meta |= {"total_pages": pages, "total_count": len(open_)}
        answer = self._json(
            {"gigs": open_[(page - 1) * per : page * per], "meta": meta}
        )
        if after:
            address = f"{request.base}{request.path}?limit={per}&page={after}"
            answer.headers["Link"] = f'<{address}>; rel="next"'
        return answer

    marketplace = tasks

    def agents(self, request: Request) -> Response:
        return self._json({"agents": list(self.members.values())})

    def directory(self, request: Request) -> Response:
        if "slug" not in request.query:
            return self.agents(request)
        found = [a for a in self.members.values() if a["slug"] == request.query["slug"]]
        return self._json({"agent": found[0]}) if found else self.missing(request)

    def claim(self, request: Request) -> Response:
        return self._action(request, "claim", _CLAIM, self._claim)

    def submit(self, request: Request) -> Response:
        return self._action(request, "submission", _SUBMISSION, self._submit)

    def complete(self, request: Request) -> Response:
        return self._action(request, "completion", _COMPLETION, self._complete)

    def post(self, request: Request) -> Response:
        if request.token not in self.members:
            return self._denied()
        return self._json({"error": "Your plan does not include posting gigs"}, 403)

    def checkout(self, request: Request) -> Response:
        try:
            if errors := _schema(self._params(request), _CHECKOUT):
                raise _Halt({"errors": errors}, 422)
        except _Halt as halt:
            return self._json(*halt.args)
        session = "cs_test_" + secrets.token_hex(12)
        url = f"https://pay.example.com/c/{session}"
        return self._json(
            {"ok": True, "sessionId": session, "url": url, "mode": "payment"}
        )

    # What they do

    def _claim(self, agent: dict[str, Any], given: dict[str, Any]) -> Any:
        gig = self.gigs.get(given["gig_id"])
        if gig is None:
            raise _Halt(
                {"error": f"Couldn't find Gig with 'id'={given['gig_id']}"}, 404
            )
        if gig["state"] != "open":
            self._invalid("claim", "gig_id", "has already been claimed")
        key = 1841 + len(self.claims)
        gig["state"] = "claimed"
        row = {"id": key, "gig_id": gig["id"], "agent_id": agent["id"]}
        self.claims[key] = row | {"state": "active", "expires_at": _now(hours=6)}
        self.book.claimed(gig["id"])
        return {"claim": self.claims[key]}

    def _submit(self, agent: dict[str, Any], given: dict[str, Any]) -> Any:
        claim = self._find("Claim", self.claims, given["claim_id"], agent)
        gig = self.gigs[claim["gig_id"]]
        if claim["state"] != "active":
            self._invalid(
                "submission", "claim_id", "already has an accepted submission"
            )
        if given["body"] != gig["source_text"].upper():
            self._invalid("submission", "body", "does not match the brief")
        key = 90211 + len(self.submissions)
        claim["state"] = "submitted"
        row = {"id": key, "claim_id": claim["id"], "agent_id": agent["id"]}
        row |= {
            "state": "awaiting_confirmation",
            "minutes_spent": given["minutes_spent"],
        }
        self.submissions[key] = row | {"created_at": _now()}
        return {"submission": self.submissions[key]}

    def _complete(self, agent: dict[str, Any], given: dict[str, Any]) -> Any:
        found = self._find(
            "Submission", self.submissions, given["submission_id"], agent
        )
        if found["state"] == "paid":
            self._invalid("completion", "submission_id", "has already been completed")
        claim = self.claims[found["claim_id"]]
        gig = self.gigs[claim["gig_id"]]
        found["state"], claim["state"], gig["state"] = "paid", "completed", "completed"
        self.balances[agent["id"]] += gig["payout_credits"]
        self.book.pay(gig["id"], gig["payout_credits"])
        done = {"submission_id": found["id"], "gig_id": gig["id"], "state": "paid"}
        done |= {"payout_credits": gig["payout_credits"], "completed_at": _now()}
        return {"completion": done, "wallet": {"balance": self.balances[agent["id"]]}}

    # The application controller

    def _action(self, request: Request, root: str, rules: _Rules, act: Any) -> Response:
        agent = self.members.get(request.token)
        if agent is None:
            return self._denied()
        try:
            params = self._params(request)
            if not isinstance(params.get(root), dict):
                said = "must be a hash" if root in params else "is missing"
                raise _Halt({"errors": {root: [said]}}, 422)
            if errors := _schema(params[root], rules):
                raise _Halt({"errors": {root: errors}}, 422)
            return self._json(act(agent, params[root]))
        except _Halt as halt:
            return self._json(*halt.args)

    def _params(self, request: Request) -> dict[str, Any]:
        if request.headers.get_content_type() != "application/json" or not request.raw:
            return {}
        try:
            given = request.json()
        except ValueError:
            raise _Halt({"status": 400, "error": "Bad Request"}, 400) from None
        return given if isinstance(given, dict) else {"_json": given}

    def _find(self, model: str, rows: Any, key: int, agent: dict[str, Any]) -> Any:
        row = rows.get(key)
        if row is None or row["agent_id"] != agent["id"]:
            where = f'[WHERE "{model.lower()}s"."agent_id" = $1]'
            raise _Halt(
                {"error": f"Couldn't find {model} with 'id'={key} {where}"}, 404
            )
        return row

    def _invalid(self, root: str, name: str, said: str) -> None:
        raise _Halt({"errors": {root: {name: [said]}}}, 422)

    def _denied(self) -> Response:
        headers = {"WWW-Authenticate": 'Token realm="Application"'}
        return Response(401, "HTTP Token: Access denied.\n", headers)

    def _json(self, body: Any, status: int = 200) -> Response:
        headers = {"Content-Type": "application/json; charset=utf-8"}
        return Response(status, body, headers | {"X-Request-Id": str(uuid.uuid4())})
