"""GraphQL-ish RPC: each path is one persisted operation (graphql-yoga, Relay ids).

Market: a signage cooperative; members set the wording of trail and park signs.
Listing: {"data": {"signs": {"edges": [{"cursor", "node"}], "pageInfo", "totalCount"}}};
opaque base64 ids; `limit` is `first` (default 4), `after` takes a cursor. The text is
`wording` of the node.
Claim, submit and complete are POSTs of {"variables": {"input": {...}}}: claim wants
`signId`, submit `claimId` and `text`, complete `claimId`. They answer
{"data": {"claimSign": {"claim": {...}, "userErrors": []}}} and the like.
Errors: always 200. A request that does not validate: {"errors": [{"message", "extensions":
{"code"}}]}; one that the rules refuse: userErrors [{"field", "message"}] in the payload.
"""

import base64
import json
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

SIGNS = [
    ("Heron Lake", "no swimming between the two red buoys", 13),
    ("Heron Lake", "please do not feed the birds", 9),
    ("Ridge Trail", "steep path, turn back in bad weather", 16),
    ("Ridge Trail", "next spring water in four kilometres", 14),
    ("Old Quarry", "danger of falling rocks, keep to the path", 18),
    ("Old Quarry", "this gate is locked at sunset", 11),
    ("Town Park", "dogs are welcome on a short lead", 10),
    ("Town Park", "skating at your own risk", 8),
    ("Moor Walk", "stay on the boards, the moor is deep", 15),
]
INPUTS = {
    "ClaimSignInput": {"signId": "ID"},
    "SubmitTextInput": {"claimId": "ID", "text": "String"},
    "CompleteClaimInput": {"claimId": "ID"},
}


def global_id(type_: str, number: int) -> str:
    return base64.b64encode(f"{type_}:{number}".encode()).decode()


def shown(value: Any) -> str:
    """Write a value as graphql-js's inspect does."""
    if isinstance(value, dict):
        inner = ", ".join(f"{k}: {shown(v)}" for k, v in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(map(shown, value)) + "]"
    return json.dumps(value)


def coerce(type_: str, values: Any) -> list[str]:
    """Return the messages of variables that do not fit `$input: type_!`."""
    if values is None:
        return [f'Variable "$input" of required type "{type_}!" was not provided.']
    start = f'Variable "$input" got invalid value {shown(values)}; '
    if not isinstance(values, dict):
        return [start + f'Expected type "{type_}" to be an object.']
    messages = []
    for name, scalar in INPUTS[type_].items():
        if values.get(name) is None:
            messages.append(
                start + f'Field "{name}" of required type "{scalar}!" was not provided.'
            )
            continue
        value = values[name]
        fits = isinstance(value, str) or (
            scalar == "ID" and isinstance(value, int) and not isinstance(value, bool)
        )
        if not fits:
            messages.append(
                f'Variable "$input" got invalid value {shown(value)} at '
                f'"input.{name}"; {scalar} cannot represent a non string value: '
                f"{shown(value)}"
            )
    messages += [
        start + f'Field "{name}" is not defined by type "{type_}".'
        for name in values
        if name not in INPUTS[type_]
    ]
    return messages


class GraphqlRpc(Backend):
    """Wording of trail signs, behind persisted GraphQL operations."""

    def __init__(self) -> None:
        super().__init__()
        self.members: dict[str, dict[str, Any]] = {}  # by token
        self.signs: dict[str, dict[str, Any]] = {
            global_id("Sign", 60 + n): {
                "__typename": "Sign",
                "id": global_id("Sign", 60 + n),
                "place": place,
                "wording": wording,
                "assignment": "Send the wording back in upper case for the router.",
                "bounty": {"amount": amount, "unit": "CREDIT"},
                "state": "OPEN",
            }
            for n, (place, wording, amount) in enumerate(SIGNS)
        }
        self.claims: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {id_: sign["wording"] for id_, sign in self.signs.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, {"errors": [{"message": "Unknown operation"}]})

    def errors(self, code: str, *messages: str) -> Response:
        body = [{"message": m, "extensions": {"code": code}} for m in messages]
        return Response(200, {"errors": body}, refused=True)

    def refusal(self, operation: str, field: str, message: str) -> Response:
        payload = {
            "claim": None,
            "userErrors": [{"field": ["input", field], "message": message}],
        }
        return Response(200, {"data": {operation: payload}}, refused=True)

    def payload(self, operation: str, claim: dict[str, Any], **more: Any) -> Response:
        sign = self.signs[claim["signId"]]
        fields = {
            "__typename": "Claim",
            "id": claim["id"],
            "state": claim["state"],
            "sign": {"id": sign["id"], "state": sign["state"]},
        }
        payload = {"claim": fields, **more, "userErrors": []}
        return Response(200, {"data": {operation: payload}})

    def begin(
        self, request: Request, type_: str
    ) -> tuple[Response | None, dict[str, Any], dict[str, Any]]:
        """Return a refusal or the member and the input."""
        try:
            body = request.json()
        except ValueError:
            return self.errors("BAD_REQUEST", "POST body sent invalid JSON."), {}, {}
        if not isinstance(body, dict):
            message = f"Expected request body to be a JSON object, got {shown(body)}"
            return self.errors("BAD_REQUEST", message), {}, {}
        # The operation itself is persisted, so its text is not wanted.
        for name in body:
            if name not in ("variables", "operationName", "extensions"):
                message = f'Unexpected parameter "{name}" in the request body.'
                return self.errors("BAD_REQUEST", message), {}, {}
        variables = body.get("variables") or {}
        if not isinstance(variables, dict):
            message = 'Invalid parameter "variables": it should be a JSON object.'
            return self.errors("BAD_REQUEST", message), {}, {}
        messages = coerce(type_, variables.get("input"))
        if messages:
            return self.errors("BAD_USER_INPUT", *messages), {}, {}
        member = self.members.get(request.token)
        if member is None:
            message = "You must be signed in to do this."
            return self.errors("UNAUTHENTICATED", message), {}, {}
        return None, member, variables["input"]

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(30)
        member = {"id": global_id("Agent", self.book.registrations), "credits": 100}
        self.members[token] = member
        body = {"agent_id": member["id"], "access_token": token, "credits": 100}
        return Response(200, {"__typename": "Agent", **body})

    def marketplace(self, request: Request) -> Response:
        try:
            first = int(request.query.get("limit", "4"))
        except ValueError:
            first = 0
        if not 1 <= first <= 50:
            message = "Argument `first` (limit) must be between 1 and 50."
            return self.errors("BAD_USER_INPUT", message)
        ids = list(self.signs)
        after = request.query.get("after", "")
        try:
            start = (
                int(base64.b64decode(after).decode().split(":")[1]) + 1 if after else 0
            )
        except (ValueError, IndexError):
            return self.errors("BAD_USER_INPUT", "Invalid cursor.")
        # Cursors are places in the list of all signs; those taken are left out.
        places = [
            n for n in range(start, len(ids)) if self.signs[ids[n]]["state"] == "OPEN"
        ]
        edges = [
            {"cursor": global_id("cursor", n), "node": self.signs[ids[n]]}
            for n in places[:first]
        ]
        page = {
            "hasNextPage": len(places) > first,
            "endCursor": edges[-1]["cursor"] if edges else None,
        }
        total = sum(sign["state"] == "OPEN" for sign in self.signs.values())
        signs = {"totalCount": total, "edges": edges, "pageInfo": page}
        return Response(200, {"data": {"signs": signs}})

    tasks = marketplace

    def claim(self, request: Request) -> Response:
        refusal, member, input_ = self.begin(request, "ClaimSignInput")
        if refusal:
            return refusal
        sign = self.signs.get(str(input_["signId"]))
        if sign is None:
            return self.refusal("claimSign", "signId", "Sign does not exist")
        for claim in self.claims.values():
            if claim["signId"] == sign["id"]:
                if claim["member"] == member["id"]:
                    return self.payload("claimSign", claim)
                message = "Sign has been claimed by another member"
                return self.refusal("claimSign", "signId", message)
        claim = {
            "id": global_id("Claim", 3001 + len(self.claims)),
            "signId": sign["id"],
            "member": member["id"],
            "state": "ACTIVE",
        }
        self.claims[claim["id"]] = claim
        sign["state"] = "CLAIMED"
        self.book.claimed(sign["id"])
        return self.payload("claimSign", claim)

    def submit(self, request: Request) -> Response:
        refusal, member, input_ = self.begin(request, "SubmitTextInput")
        if refusal:
            return refusal
        claim = self.claims.get(str(input_["claimId"]))
        if claim is None or claim["member"] != member["id"]:
            return self.refusal("submitText", "claimId", "Claim does not exist")
        if claim["state"] == "COMPLETED":
            return self.refusal("submitText", "claimId", "Claim is already completed")
        if input_["text"] != self.signs[claim["signId"]]["wording"].upper():
            message = "Text is not the wording in upper case"
            return self.refusal("submitText", "text", message)
        claim["state"] = "SUBMITTED"
        return self.payload("submitText", claim)

    def complete(self, request: Request) -> Response:
        refusal, member, input_ = self.begin(request, "CompleteClaimInput")
        if refusal:
            return refusal
        claim = self.claims.get(str(input_["claimId"]))
        if claim is None or claim["member"] != member["id"]:
            return self.refusal("completeClaim", "claimId", "Claim does not exist")
        if claim["state"] != "SUBMITTED":
            message = (
                "Claim is already completed"
                if claim["state"] == "COMPLETED"
                else "Claim has no submitted text"
            )
            return self.refusal("completeClaim", "claimId", message)
        sign = self.signs[claim["signId"]]
        claim["state"] = sign["state"] = "COMPLETED"
        member["credits"] += sign["bounty"]["amount"]
        self.book.pay(sign["id"], sign["bounty"]["amount"])
        return self.payload(
            "completeClaim", claim, earned=sign["bounty"], balance=member["credits"]
        )
