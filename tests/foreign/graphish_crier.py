"""An RPC in the manner of GraphQL: the body names the mutation and carries `input`. Town criers
have proclamations put into capitals for their boards.

Listing: {"data": {"openProclamations": {edges: [{cursor, node}], pageInfo, totalCount}}}; a node
has a global id, town, occasion, style, reward {credits}; its words are told on claiming.
claim: {"mutation": "proclamationClaim", "input": {proclamationId: ID!}}
 -> data.proclamationClaim.engagement {id, status, proclamation {..., words}}.
submit: {"mutation": "proclamationDeliver", "input": {engagementId: ID!, rendition: {words}}}.
complete: {"mutation": "engagementSettle", "input": {engagementId: ID!}} -> receipt {credits}.
Every input also takes clientMutationId, which the payload repeats; other fields are errors.
Errors: almost all with status 200. Validation: {"errors": [{message, path, extensions.code}]};
of the trade: {"data": {mutation: {..., userErrors: [{field, message, code}]}}}.
"""

import base64
import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PROCLAMATIONS = [
    ("Aldmoor", "market day", "the sheep market opens at dawn by the east gate", 14),
    ("Aldmoor", "lost and found", "one silver buckle found near the well", 8),
    (
        "Brackwater",
        "bridge works",
        "the ferry runs all night while the bridge is mended",
        16,
    ),
    ("Brackwater", "wedding", "all are bidden to dance on the green", 9),
    ("Cold Hinton", "election", "cast your pebble before the clock strikes nine", 11),
    ("Cold Hinton", "water", "boil what you draw from the lower pump", 12),
    (
        "Dunmere",
        "fire watch",
        "rake your hearths and cover your embers, the wind is rising tonight",
        19,
    ),
]
# Names of fields; one that ends in "!" is required, a dict is an input object.
INPUTS: dict[str, dict[str, Any]] = {
    "proclamationClaim": {"proclamationId": "ID!", "clientMutationId": "String"},
    "proclamationDeliver": {
        "engagementId": "ID!",
        "rendition": {"words": "String!"},
        "clientMutationId": "String",
    },
    "engagementSettle": {"engagementId": "ID!", "clientMutationId": "String"},
}


def global_id(kind: str, number: int) -> str:
    return base64.b64encode(f"{kind}:{number}".encode()).decode()


def fault(
    message: str, path: list[str], code: str = "BAD_USER_INPUT"
) -> dict[str, Any]:
    return {"message": message, "path": path, "extensions": {"code": code}}


def no(faults: list[dict[str, Any]], status: int = 200) -> Response:
    return Response(status, {"data": None, "errors": faults}, refused=True)


def check(
    kind: str, value: Any, fields: dict[str, Any], path: list[str]
) -> list[dict[str, Any]]:
    """Coerce an input object as GraphQL does; return what is wrong with it."""
    if not isinstance(value, dict):
        return [fault(f'Expected type "{kind}" to be an object.', path)]
    faults = []
    for name, wanted in fields.items():
        here = [*path, name]
        label = "RenditionInput!" if isinstance(wanted, dict) else wanted
        given = value.get(name)
        if name not in value and label.endswith("!"):
            message = f'Field "{name}" of required type "{label}" was not provided.'
            faults.append(fault(message, here))
        elif given is None and name in value and label.endswith("!"):
            message = f'Expected non-nullable type "{label}" not to be null.'
            faults.append(fault(message, here))
        elif given is None:
            continue
        elif isinstance(wanted, dict):
            faults += check("RenditionInput", given, wanted, here)
        elif isinstance(given, bool) or not isinstance(
            given, (str, int) if wanted.startswith("ID") else str
        ):
            scalar = wanted.rstrip("!")
            faults.append(
                fault(f"{scalar} cannot represent the value given: {given!r}", here)
            )
    for name in value:
        if name not in fields:
            faults.append(
                fault(f'Field "{name}" is not defined by type "{kind}".', [*path, name])
            )
    return faults


class GraphishCrier(Backend):
    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.proclamations: dict[str, dict[str, Any]] = {}
        self.engagements: dict[str, dict[str, Any]] = {}
        for number, (town, occasion, words, credits_) in enumerate(PROCLAMATIONS, 57):
            key = global_id("Proclamation", number)
            self.proclamations[key] = {
                "__typename": "Proclamation",
                "id": key,
                "town": town,
                "occasion": occasion,
                "style": "ALL_CAPS",
                "brief": "Give back the words in upper case. You get them with the engagement.",
                "reward": {"__typename": "Reward", "credits": credits_},
                "words": words,
                "open": True,
            }

    def texts(self) -> dict[str, str]:
        return {key: row["words"] for key, row in self.proclamations.items()}

    def shown(self, key: str, words: bool) -> dict[str, Any]:  # noqa: FBT001 - as it grew
        hidden = ("open",) if words else ("open", "words")
        row = self.proclamations[key]
        return {name: value for name, value in row.items() if name not in hidden}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(16)
        agent = {"agent_id": global_id("Agent", 300 + len(self.agents)), "credits": 100}
        self.agents[token] = agent
        return Response(200, {**agent, "access_token": token})

    def listing(self, request: Request) -> Response:
        first = request.query.get("limit", "20")
        if not first.isdecimal():
            message = f'Int cannot represent non-integer value: "{first}"'
            return no([fault(message, ["limit"])], 400)
        keys = [key for key, row in self.proclamations.items() if row["open"]]
        edges = [
            {
                "cursor": base64.b64encode(f"c{n}".encode()).decode(),
                "node": self.shown(key, False),
            }
            for n, key in enumerate(keys[: int(first)])
        ]
        info = {
            "hasNextPage": len(edges) < len(keys),
            "endCursor": edges[-1]["cursor"] if edges else None,
        }
        connection = {"edges": edges, "pageInfo": info, "totalCount": len(keys)}
        return Response(200, {"data": {"openProclamations": connection}})

    def signed_in(self, request: Request) -> Response | None:
        if request.token in self.agents:
            return None
        message = "You must be signed in: send your access token as a bearer token."
        return no([fault(message, [], "UNAUTHENTICATED")], 401)

    def tasks(self, request: Request) -> Response:
        return self.signed_in(request) or self.listing(request)

    def marketplace(self, request: Request) -> Response:
        return self.listing(request)

    def read(
        self, request: Request, served: str
    ) -> tuple[dict[str, Any], Response | None]:
        """Return the checked input of the one mutation that is served at this address."""
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return {}, no(
                [fault("POST body must be a JSON object.", [], "BAD_REQUEST")], 400
            )
        if refusal := self.signed_in(request):
            return {}, refusal
        name = body.get("mutation")
        if not isinstance(name, str) or not name:
            message = (
                'Must provide "mutation", the name of the mutation to run, and "input".'
            )
            return {}, no([fault(message, ["mutation"], "BAD_REQUEST")], 400)
        if name != served:
            message = f'Cannot run mutation "{name}" here. Did you mean "{served}"?'
            return {}, no(
                [fault(message, ["mutation"], "GRAPHQL_VALIDATION_FAILED")], 400
            )
        kind = f"{name[0].upper()}{name[1:]}Input"
        if body.get("input") is None:
            message = f'Argument "input" of type "{kind}!" is required, but it was not provided.'
            return {}, no([fault(message, ["input"], "GRAPHQL_VALIDATION_FAILED")], 400)
        faults = check(kind, body["input"], INPUTS[name], ["input"])
        return body["input"], no(faults) if faults else None

    def payload(self, name: str, given: dict[str, Any], **values: Any) -> Response:
        errors = values.setdefault("userErrors", [])
        if given.get("clientMutationId") is not None:
            values["clientMutationId"] = given["clientMutationId"]
        return Response(200, {"data": {name: values}}, refused=bool(errors))

    def user_error(
        self,
        name: str,
        given: dict[str, Any],
        field: list[str],
        message: str,
        code: str,
    ) -> Response:
        error = {"field": field, "message": message, "code": code}
        record = "receipt" if name == "engagementSettle" else "engagement"
        return self.payload(name, given, **{record: None}, userErrors=[error])

    def engagement(self, key: str) -> dict[str, Any]:
        row = self.engagements[key]
        return {
            "__typename": "Engagement",
            "id": key,
            "status": row["status"],
            "since": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(row["since"])),
            "proclamation": self.shown(row["proclamation"], True),
        }

    def claim(self, request: Request) -> Response:
        name = "proclamationClaim"
        given, refusal = self.read(request, name)
        if refusal:
            return refusal
        key, field = str(given["proclamationId"]), ["input", "proclamationId"]
        if key not in self.proclamations:
            return self.user_error(
                name, given, field, "No such proclamation", "NOT_FOUND"
            )
        for number, row in self.engagements.items():
            if row["proclamation"] == key:
                if row["token"] == request.token:
                    return self.payload(name, given, engagement=self.engagement(number))
                return self.user_error(
                    name, given, field, "Proclamation is taken", "TAKEN"
                )
        number = global_id("Engagement", 4000 + len(self.engagements))
        self.engagements[number] = {
            "proclamation": key,
            "token": request.token,
            "status": "ENGAGED",
            "since": time.time(),
        }
        self.proclamations[key]["open"] = False
        self.book.claimed(key)
        return self.payload(name, given, engagement=self.engagement(number))

    def mine(self, request: Request, key: str) -> dict[str, Any] | None:
        row = self.engagements.get(key)
        return row if row and row["token"] == request.token else None

    def submit(self, request: Request) -> Response:
        name = "proclamationDeliver"
        given, refusal = self.read(request, name)
        if refusal:
            return refusal
        key, field = str(given["engagementId"]), ["input", "engagementId"]
        row = self.mine(request, key)
        if not row:
            return self.user_error(
                name, given, field, "No such engagement of yours", "NOT_FOUND"
            )
        if row["status"] == "SETTLED":
            return self.user_error(
                name, given, field, "Engagement is settled", "WRONG_STATUS"
            )
        if given["rendition"]["words"] != self.texts()[row["proclamation"]].upper():
            message = "Words are not those of the proclamation in upper case"
            field = ["input", "rendition", "words"]
            return self.user_error(name, given, field, message, "RENDITION_REFUSED")
        row["status"] = "DELIVERED"
        return self.payload(name, given, engagement=self.engagement(key))

    def complete(self, request: Request) -> Response:
        name = "engagementSettle"
        given, refusal = self.read(request, name)
        if refusal:
            return refusal
        key, field = str(given["engagementId"]), ["input", "engagementId"]
        row = self.mine(request, key)
        if not row:
            return self.user_error(
                name, given, field, "No such engagement of yours", "NOT_FOUND"
            )
        if row["status"] == "ENGAGED":
            message = "Nothing was delivered for this engagement"
            return self.user_error(name, given, field, message, "WRONG_STATUS")
        credits_ = self.proclamations[row["proclamation"]]["reward"]["credits"]
        agent = self.agents[request.token]
        if row["status"] == "DELIVERED":
            row["status"] = "SETTLED"
            agent["credits"] += credits_
            self.book.pay(row["proclamation"], credits_)
        receipt = {"engagementId": key, "status": "SETTLED", "credits": credits_}
        return self.payload(
            name, given, receipt={**receipt, "balance": agent["credits"]}
        )
