"""An Elixir service: stored GraphQL documents run by Absinthe, changesets as payloads.

Everything is status 200. Absinthe complains of an argument in one message of several lines,
`In field "bountyId": Expected type "ID!", found null.`, all faults at once, with the line
and column of the document. What the schema lets through and a changeset does not comes as
`successful: false` and a list of messages, each with a field, a code and a template. Lists
are AshGraphql's keyset pages. Delivering answers with a delivery, and settling it pays.
"""

import base64
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]

NOTES = (
    "the beekeeper reads to the hives",
    "a raft of ducks blocks the canal",
    "move the statue a little east",
    "the printer prints only on sundays",
    "grandmother beats everyone at dominoes",
    "the fog horn has a cold",
    "plant garlic next to the roses",
    "an owl moved into the belfry",
    "the sixth violin is missing",
    "put the spare bulb on the shelf",
    "salt the road before the hill",
)
PAGE = 5
# Input objects: their fields and GraphQL types.
INPUTS = {
    "claimBounty": ("ClaimBountyInput", {"bountyId": "ID!"}),
    "deliverBounty": (
        "DeliverBountyInput",
        {"bountyId": "ID!", "body": "String!", "format": "DeliveryFormat"},
    ),
    "settleDelivery": ("SettleDeliveryInput", {"deliveryId": "ID!"}),
}


def found_as(value: object) -> str:
    """Return a value as Absinthe's blueprint prints it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list):
        return "[" + ", ".join(map(found_as, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {found_as(v)}" for k, v in value.items()) + "}"
    return str(value)


def fits(value: object, kind: str) -> bool:
    """Return whether a value parses as a scalar or an enum."""
    if value is None:
        return not kind.endswith("!")
    if kind == "ID!":
        return isinstance(value, str | int) and not isinstance(value, bool)
    if kind == "DeliveryFormat":
        return value in ("PLAIN", "MARKDOWN")
    return isinstance(value, str)


class Absinthe(Backend):
    """Eleven bounties."""

    def __init__(self) -> None:
        super().__init__()
        self.actors: dict[str, str] = {}
        self.bounties: dict[str, Json] = {}
        self.deliveries: dict[str, str] = {}  # delivery -> bounty
        for n, note in enumerate(NOTES):
            key = self.key("bty")
            self.bounties[key] = {
                "__typename": "Bounty",
                "id": key,
                "summary": "Shout it",
                "note": note,
                "prize": {"amount": str(n % 4 + 1), "currency": "CREDITS"},
                "state": "OFFERED",
                "insertedAt": "2025-03-30T01:59:00Z",
            }

    @staticmethod
    def key(kind: str) -> str:
        return f"{kind}_{secrets.token_hex(6)}"

    def texts(self) -> dict[str, str]:
        return {key: one["note"] for key, one in self.bounties.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = self.key("agt"), secrets.token_urlsafe(24)
        self.actors[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        every = [*self.bounties.values()]
        keysets = [base64.b64encode(one["id"].encode()).decode() for one in every]
        after = request.query.get("after", "")
        start = keysets.index(after) + 1 if after in keysets else 0
        stop = start + PAGE
        page = {
            "count": len(every),
            "results": every[start:stop],
            "startKeyset": keysets[start] if start < len(every) else None,
            "endKeyset": keysets[min(stop, len(every)) - 1],
        }
        return Response(200, {"data": {"listBounties": page}})

    @staticmethod
    def errors(*messages: str) -> Response:
        where = [{"line": 2, "column": 16}]
        told = [{"message": one, "locations": where} for one in messages]
        return Response(200, {"errors": told}, refused=True)

    def run(self, operation: str, request: Request, resolve: Any) -> Response:
        if request.token not in self.actors:
            return Response(401, {"errors": [{"message": "unauthorized"}]})
        try:
            variables = request.json()
        except ValueError:
            return Response(400, {"errors": [{"message": "could not decode"}]})
        name, fields = INPUTS[operation]
        given = variables.get("input") if isinstance(variables, dict) else None
        if given is None:
            return self.errors(
                f'In argument "input": Expected type "{name}!", found null.',
                'Variable "input": Expected non-null, found null.',
            )
        if not isinstance(given, dict):
            return self.errors(
                f'Argument "input" has invalid value $input.\n'
                f'Expected type "{name}!", found {found_as(given)}.'
            )
        faults = [
            f'In field "{field}": Expected type "{kind}", found {found_as(given.get(field))}.'
            for field, kind in fields.items()
            if not fits(given.get(field), kind)
        ]
        faults += [
            f'In field "{field}": Unknown field.'
            for field in given
            if field not in fields
        ]
        if faults:
            lines = ['Argument "input" has invalid value $input.', *faults]
            return self.errors("\n".join(lines))
        messages, result = resolve(given)
        payload = {
            "successful": not messages,
            "messages": messages,
            "result": result,
        }
        return Response(200, {"data": {operation: payload}}, refused=bool(messages))

    @staticmethod
    def message(field: str, code: str, template: str) -> tuple[list[Json], None]:
        """Return an answer of a changeset that is not valid."""
        one = {
            "field": field,
            "code": code,
            "key": field,
            "message": template,
            "template": template,
            "options": [],
        }
        return [one], None

    def claim(self, request: Request) -> Response:
        return self.run("claimBounty", request, self.on_claim)

    def on_claim(self, given: Json) -> Any:
        bounty = self.bounties.get(str(given["bountyId"]))
        if bounty is None:
            return self.message("bountyId", "not_found", "does not exist")
        if bounty["state"] != "OFFERED":
            return self.message("state", "inclusion", "has been claimed already")
        bounty["state"] = "CLAIMED"
        self.book.claimed(bounty["id"])
        return [], {"id": bounty["id"], "state": "CLAIMED"}

    def submit(self, request: Request) -> Response:
        return self.run("deliverBounty", request, self.on_submit)

    def on_submit(self, given: Json) -> Any:
        bounty = self.bounties.get(str(given["bountyId"]))
        if bounty is None:
            return self.message("bountyId", "not_found", "does not exist")
        if not given["body"].strip():
            return self.message("body", "required", "can't be blank")
        if bounty["state"] != "CLAIMED":
            return self.message("state", "inclusion", "is not claimed by you")
        if given["body"] != bounty["note"].upper():
            return self.message("body", "custom", "is not what was asked for")
        bounty["state"] = "DELIVERED"
        key = self.key("dlv")
        self.deliveries[key] = bounty["id"]
        return [], {"id": key, "state": "DELIVERED", "bounty": {"id": bounty["id"]}}

    def complete(self, request: Request) -> Response:
        return self.run("settleDelivery", request, self.on_complete)

    def on_complete(self, given: Json) -> Any:
        if (key := str(given["deliveryId"])) not in self.deliveries:
            return self.message("deliveryId", "not_found", "does not exist")
        bounty = self.bounties[self.deliveries[key]]
        if bounty["state"] != "DELIVERED":
            return self.message("state", "inclusion", "is settled")
        bounty["state"] = "SETTLED"
        self.book.pay(bounty["id"], int(bounty["prize"]["amount"]))
        return [], {"id": key, "state": "SETTLED", "prize": bounty["prize"]}
