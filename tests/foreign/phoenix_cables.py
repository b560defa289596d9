"""A Phoenix 1.7 team: a museum of telegraphy whose cables are keyed again in capitals.

Stack: Phoenix JSON controllers, `plug :scrub_params`, Ecto changesets, FallbackController.

Listing: {"data": [..], "meta": {"total", "limit"}}; a cable has id (integer), slug, kind,
task, bounty, status, excerpt (its first words) and inserted_at. Only open ones are listed.

Claim wants {"claim": {"cable_id": 41}}; answers {"data": {"id", "status", "cable": {..,
"body"}}}. Claiming a claimed cable, one's own too, is a 422 "has already been claimed".
Submit wants {"reply": {"claim_id": 900, "body": "..", "word_count": 6}}; answers
{"data": {"id", "claim_id", "status": "in_review", "review_ends_at"}}. Sent again while in
review: the same answer.
Complete wants {"completion": {"reply_id": 7001}}; a 409 with Retry-After while the review
lasts (two seconds), then {"data": {.., "status": "paid", "bounty", "balance"}}; again: same.

Errors: 422 {"errors": {field: ["can't be blank"]}} from changesets, else {"errors":
{"detail": ".."}} with 400, 401, 404, 409. Integers may be strings; unknown keys are dropped.
"""

import base64
import re
import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

CABLES = [
    (
        41,
        "lisbon-1911",
        "arriving lisbon thursday with both trunks stop send carriage",
        18,
    ),
    (42, "oslo-1924", "ice has broken stop ship sails at dawn", 12),
    (44, "cairo-1922", "wonderful discovery in valley stop tomb with seals intact", 25),
    (47, "bergen-1930", "herring prices falling stop sell everything before noon", 15),
    (48, "quebec-1908", "mother recovering well stop do not come home yet", 16),
    (50, "perth-1935", "rain at last stop", 8),
]
REVIEW = 2.0


def _detail(status: int, detail: str, **headers: str) -> Response:
    return Response(status, {"errors": {"detail": detail}}, headers)


def _invalid(errors: dict[str, list[str]]) -> Response:
    return Response(422, {"errors": errors})


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


class MissingError(Exception):
    """A conn that a plug or a cast has halted; it carries the answer."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


def _params(request: Request, key: str) -> dict[str, Any]:
    """Return the params under a key, as Plug.Parsers, scrub_params and cast/4 take them."""
    try:
        body = request.json() if request.raw else {}
    except ValueError:
        raise MissingError(
            _detail(400, "Bad Request: malformed request body")
        ) from None
    params = body.get(key) if isinstance(body, dict) else None
    if params is None:
        message = f'expected key "{key}" to be present in params, please send the expected key'
        raise MissingError(_detail(400, message))
    if not isinstance(params, dict):
        raise MissingError(_detail(400, f'expected params under "{key}" to be a :map'))
    return params


def _cast(
    params: dict[str, Any], **types: type
) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Cast and require every field: changes and errors."""
    changes: dict[str, Any] = {}
    errors: dict[str, list[str]] = {}
    for name, type_ in types.items():
        value = params.get(name)
        if value is None or (isinstance(value, str) and not value.strip()):
            errors[name] = ["can't be blank"]
        elif (
            type_ is int and isinstance(value, str) and re.fullmatch(r"-?[0-9]+", value)
        ):
            changes[name] = int(value)
        elif isinstance(value, type_) and not isinstance(value, bool):
            changes[name] = value
        else:
            errors[name] = ["is invalid"]
    return changes, errors


class Phoenix(Backend):
    """The telegraph museum."""

    def __init__(self) -> None:
        super().__init__()
        self._operators: dict[str, dict[str, Any]] = {}  # by token
        self._claims: dict[int, dict[str, Any]] = {}
        self._replies: dict[int, dict[str, Any]] = {}
        self._cables = {
            number: {
                "id": number,
                "slug": slug,
                "kind": "rekeying",
                "task": "Key the body of the cable again in upper case letters",
                "bounty": bounty,
                "status": "open",
                "excerpt": " ".join(body.split()[:3]) + "…",
                "inserted_at": "2025-02-11T09:30:05Z",
                "body": body,
            }
            for number, slug, body, bounty in CABLES
        }

    def texts(self) -> dict[str, str]:
        return {
            str(number): str(cable["body"]) for number, cable in self._cables.items()
        }

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = "SFMyNTY." + base64.urlsafe_b64encode(secrets.token_bytes(36)).decode()
        operator = {"id": f"op_{secrets.token_hex(6)}", "credits": 100}
        self._operators[token] = operator
        return Response(
            200, {"agent_id": operator["id"], "access_token": token, "credits": 100}
        )

    def marketplace(self, request: Request) -> Response:
        limit = request.query.get("limit", "25")
        if not re.fullmatch(r"[0-9]{1,6}", limit) or limit == "0":
            return _invalid({"limit": ["must be greater than 0"]})
        size = min(int(limit), 100)
        cables = [
            {name: value for name, value in cable.items() if name != "body"}
            for cable in self._cables.values()
            if cable["status"] == "open"
        ]
        meta = {"total": len(cables), "limit": size}
        return Response(200, {"data": cables[:size], "meta": meta})

    def tasks(self, request: Request) -> Response:
        if request.token not in self._operators:
            return _detail(401, "Unauthorized")
        return self.marketplace(request)

    def claim(self, request: Request) -> Response:
        operator = self._operators.get(request.token)
        if not operator:
            return _detail(401, "Unauthorized")
        try:
            params = _params(request, "claim")
        except MissingError as halted:
            return halted.response
        changes, errors = _cast(params, cable_id=int)
        if errors:
            return _invalid(errors)
        cable = self._cables.get(changes["cable_id"])
        if not cable:
            return _invalid({"cable_id": ["does not exist"]})
        if cable["status"] != "open":
            return _invalid({"cable_id": ["has already been claimed"]})
        number = 900 + len(self._claims)
        claim = {"id": number, "operator": operator, "cable": cable, "reply": None}
        self._claims[number] = claim
        cable["status"] = "claimed"
        self.book.claimed(str(cable["id"]))
        return Response(
            200,
            {
                "data": {
                    "id": number,
                    "status": "claimed",
                    "cable": cable,
                    "inserted_at": _when(time.time()),
                }
            },
        )

    def submit(self, request: Request) -> Response:
        operator = self._operators.get(request.token)
        if not operator:
            return _detail(401, "Unauthorized")
        try:
            params = _params(request, "reply")
        except MissingError as halted:
            return halted.response
        changes, errors = _cast(params, claim_id=int, body=str, word_count=int)
        claim = self._claims.get(changes.get("claim_id", 0))
        if "claim_id" in changes and (not claim or claim["operator"] is not operator):
            errors["claim_id"] = ["does not exist"]
        body = changes.get("body")
        known = claim["cable"]["body"].upper() if claim else None
        if body is not None and "claim_id" not in errors and known not in {None, body}:
            errors["body"] = ["is not the body of the cable in upper case"]
        words = len(str(body).split())
        if body is not None and changes.get("word_count", words) != words:
            errors["word_count"] = ["does not match the number of words in body"]
        if errors or not claim:
            return _invalid(errors)
        if not claim["reply"]:
            number = 7001 + len(self._replies)
            ends = time.time() + REVIEW
            reply = {"id": number, "claim": claim, "status": "in_review", "ends": ends}
            claim["reply"] = self._replies[number] = reply
            claim["cable"]["status"] = "replied"
        return Response(200, {"data": self._reply(claim["reply"])})

    def complete(self, request: Request) -> Response:
        operator = self._operators.get(request.token)
        if not operator:
            return _detail(401, "Unauthorized")
        try:
            params = _params(request, "completion")
        except MissingError as halted:
            return halted.response
        changes, errors = _cast(params, reply_id=int)
        if errors:
            return _invalid(errors)
        reply = self._replies.get(changes["reply_id"])
        if not reply or reply["claim"]["operator"] is not operator:
            return _invalid({"reply_id": ["does not exist"]})
        left = reply["ends"] - time.time()
        if reply["status"] == "in_review" and left > 0:
            headers = {"Retry-After": str(int(left) + 1)}
            ends = _when(reply["ends"] + 1)
            return _detail(
                409, f"reply is still in review, try again at {ends}", **headers
            )
        cable = reply["claim"]["cable"]
        if reply["status"] == "in_review":
            reply["status"] = cable["status"] = "paid"
            operator["credits"] += cable["bounty"]
            self.book.pay(str(cable["id"]), cable["bounty"])
        money = {"bounty": cable["bounty"], "balance": operator["credits"]}
        return Response(200, {"data": {**self._reply(reply), **money}})

    @staticmethod
    def _reply(reply: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": reply["id"],
            "claim_id": reply["claim"]["id"],
            "cable_id": reply["claim"]["cable"]["id"],
            "status": reply["status"],
            "review_ends_at": _when(reply["ends"] + 1),
        }
