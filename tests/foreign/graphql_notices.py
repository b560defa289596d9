"""An Apollo/GraphQL team forced onto REST paths: notices for aviators, put into capitals.

Stack: graphql-js behind one persisted operation per path; a request carries only
{"variables": {"input": {..}}} (operationName, query, extensions are allowed and ignored).
Relay manners: global ids in base64, edges and nodes, userErrors in payloads.

Listing: {"data": {"bulletins": {"totalCount", "edges": [{"cursor", "node": {"__typename",
"id", "aerodrome", "assignment", "bounty": {"amount", "unit"}, "state"}}], "pageInfo"}}}.

Claim's input is {"bulletinId": ID!}; answers data.claimBulletin.claim {id, state,
bulletin {id, body}}. Submit's is {"claimId": ID!, "wording": {"body": String!}}; answers
data.submitWording.claim. Complete's is {"claimId": ID!, "acknowledge": Boolean!}; answers
data.completeClaim {claim, payout {amount}, viewer {credits}}. Repeats answer the same.

Errors: 400 {"errors": [{"message", "extensions": {"code": "BAD_USER_INPUT"}}]} in
graphql-js's words for variables; 401 UNAUTHENTICATED; 200 with "errors" and null data from
resolvers (NOT_FOUND, CONFLICT, FORBIDDEN); 200 with userErrors for wrong work.
"""

import base64
import json
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

BULLETINS = [
    ("ENGM", "runway one nine left closed for snow removal until noon", 23),
    ("LFPG", "birds reported near the northern taxiway", 11),
    ("EDDF", "crane erected two miles south of the field, height ninety metres", 27),
    ("LSZH", "glider activity expected below five thousand feet", 14),
    ("EIDW", "threshold lights of runway two eight out of service", 18),
    ("BIKF", "volcanic ash possible east of the station", 13),
    ("EFHK", "de-icing fluid short, expect delays of forty minutes", 16),
    ("LPPT", "fireworks over the river from nine in the evening", 17),
]
CLAIM = ("ClaimBulletinInput", {"bulletinId": "ID!", "clientMutationId": "String"})
SUBMIT = (
    "SubmitWordingInput",
    {
        "claimId": "ID!",
        "wording": ("WordingInput", {"body": "String!"}),
        "clientMutationId": "String",
    },
)
COMPLETE = (
    "CompleteClaimInput",
    {"claimId": "ID!", "acknowledge": "Boolean!", "clientMutationId": "String"},
)


def _global_id(type_: str, number: int) -> str:
    return base64.b64encode(f"{type_}:{number}".encode()).decode()


def _inspect(value: Any) -> str:
    """Return a value as graphql-js's inspect prints it."""
    if isinstance(value, dict):
        inside = ", ".join(f"{name}: {_inspect(each)}" for name, each in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    return json.dumps(value)


def _coerce(value: Any, type_: Any, path: list[str]) -> list[str]:
    """Return what graphql-js's coerceInputValue says is wrong with a value."""
    at = f' at "{".".join(path)}"' if len(path) > 1 else ""
    start = f'Variable "$input" got invalid value {_inspect(value)}{at}; '
    if isinstance(type_, tuple):
        name, fields = type_
        if not isinstance(value, dict):
            return [f'{start}Expected type "{name}" to be an object.']
        wrong: list[str] = []
        for field, want in fields.items():
            required = isinstance(want, tuple) or want.endswith("!")
            shown = f"{want[0]}!" if isinstance(want, tuple) else want
            if field not in value:
                if required:
                    wrong.append(
                        f'{start}Field "{field}" of required type "{shown}" was not provided.'
                    )
            elif value[field] is None:
                if required:
                    inner = ".".join([*path, field])
                    wrong.append(
                        f'Variable "$input" got invalid value null at "{inner}"; '
                        f'Expected non-nullable type "{shown}" not to be null.'
                    )
            else:
                wrong += _coerce(value[field], want, [*path, field])
        for field in value:
            if field not in fields:
                wrong.append(f'{start}Field "{field}" is not defined by type "{name}".')
        return wrong
    scalar = type_.rstrip("!")
    good = {
        "ID": isinstance(value, (str, int)) and not isinstance(value, bool),
        "String": isinstance(value, str),
        "Boolean": isinstance(value, bool),
    }[scalar]
    if good:
        return []
    what = "a non boolean value" if scalar == "Boolean" else "a non string value"
    if scalar == "ID":
        return [f"{start}ID cannot represent value: {_inspect(value)}"]
    return [f"{start}{scalar} cannot represent {what}: {_inspect(value)}"]


class HaltError(Exception):
    """An answer other than the operation's data."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


def _errors(status: int, code: str, messages: list[str], field: str = "") -> HaltError:
    errors: list[dict[str, Any]] = []
    for message in messages:
        error: dict[str, Any] = {"message": message}
        if field:
            error["path"] = [field]
        errors.append({**error, "extensions": {"code": code}})
    body: dict[str, Any] = {"errors": errors}
    if field:
        body["data"] = {field: None}
    return HaltError(Response(status, body, refused=True))


class GraphQL(Backend):
    """The notice office."""

    def __init__(self) -> None:
        super().__init__()
        self._viewers: dict[str, dict[str, Any]] = {}  # by token
        self._bulletins: dict[str, dict[str, Any]] = {}
        self._claims: dict[str, dict[str, Any]] = {}
        for number, (aerodrome, body, amount) in enumerate(BULLETINS, 118):
            id_ = _global_id("Bulletin", number)
            self._bulletins[id_] = {
                "body": body,
                "amount": amount,
                "claim": None,
                "node": {
                    "__typename": "Bulletin",
                    "id": id_,
                    "aerodrome": aerodrome,
                    "assignment": "Reword the body of the bulletin in UPPER CASE.",
                    "bounty": {"amount": amount, "unit": "CREDIT"},
                    "state": "OPEN",
                },
            }

    def texts(self) -> dict[str, str]:
        return {id_: bulletin["body"] for id_, bulletin in self._bulletins.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(24)
        id_ = _global_id("Agent", 5000 + len(self._viewers))
        self._viewers[token] = {"id": id_, "credits": 100}
        return Response(200, {"agent_id": id_, "access_token": token, "credits": 100})

    def marketplace(self, request: Request) -> Response:
        first = request.query.get("limit", "10")
        size = int(first) if first.isascii() and first.isdigit() else 10
        nodes = [
            bulletin["node"]
            for bulletin in self._bulletins.values()
            if bulletin["node"]["state"] == "OPEN"
        ]
        edges = [
            {"cursor": base64.b64encode(f"cursor:{at}".encode()).decode(), "node": node}
            for at, node in enumerate(nodes[:size])
        ]
        page = {
            "hasNextPage": size < len(nodes),
            "endCursor": edges[-1]["cursor"] if edges else None,
        }
        connection = {"totalCount": len(nodes), "edges": edges, "pageInfo": page}
        return Response(200, {"data": {"bulletins": connection}})

    tasks = marketplace

    def claim(self, request: Request) -> Response:
        field = "claimBulletin"
        try:
            viewer, values = self._operation(request, CLAIM)
            bulletin = self._bulletins.get(str(values["bulletinId"]))
            if not bulletin:
                said = f'Could not resolve to a Bulletin with the id "{values["bulletinId"]}".'
                raise _errors(200, "NOT_FOUND", [said], field)
            claim = bulletin["claim"]
            if claim and claim["viewer"] is not viewer:
                said = "Bulletin is claimed by another agent."
                raise _errors(200, "CONFLICT", [said], field)
            if not claim:
                id_ = _global_id("Claim", 31 + len(self._claims))
                claim = {"id": id_, "viewer": viewer, "state": "CLAIMED"}
                claim["bulletin"] = bulletin
                bulletin["claim"] = self._claims[id_] = claim
                bulletin["node"]["state"] = "CLAIMED"
                self.book.claimed(bulletin["node"]["id"])
        except HaltError as halt:
            return halt.response
        return self._payload(field, values, {"claim": self._claim(claim)})

    def submit(self, request: Request) -> Response:
        field = "submitWording"
        try:
            viewer, values = self._operation(request, SUBMIT)
            claim = self._held(viewer, values["claimId"], field)
            if values["wording"]["body"] != claim["bulletin"]["body"].upper():
                error = {
                    "field": ["input", "wording", "body"],
                    "message": "Body is not the bulletin's body in upper case.",
                    "code": "WORDING_MISMATCH",
                }
                payload = {"claim": None, "userErrors": [error]}
                return Response(200, {"data": {field: payload}}, refused=True)
            if claim["state"] == "CLAIMED":
                claim["state"] = claim["bulletin"]["node"]["state"] = "SUBMITTED"
        except HaltError as halt:
            return halt.response
        return self._payload(field, values, {"claim": self._claim(claim)})

    def complete(self, request: Request) -> Response:
        field = "completeClaim"
        try:
            viewer, values = self._operation(request, COMPLETE)
            claim = self._held(viewer, values["claimId"], field)
            if claim["state"] == "CLAIMED":
                said = "Claim has no submitted wording."
                raise _errors(200, "CONFLICT", [said], field)
            if not values["acknowledge"]:
                error = {
                    "field": ["input", "acknowledge"],
                    "message": "Must be acknowledged to complete the claim.",
                    "code": "NOT_ACKNOWLEDGED",
                }
                payload = {"claim": None, "userErrors": [error]}
                return Response(200, {"data": {field: payload}}, refused=True)
            bulletin = claim["bulletin"]
            if claim["state"] == "SUBMITTED":
                claim["state"] = bulletin["node"]["state"] = "COMPLETED"
                viewer["credits"] += bulletin["amount"]
                self.book.pay(bulletin["node"]["id"], bulletin["amount"])
        except HaltError as halt:
            return halt.response
        payout = {"amount": bulletin["amount"], "unit": "CREDIT"}
        money = {"payout": payout, "viewer": {"credits": viewer["credits"]}}
        return self._payload(field, values, {"claim": self._claim(claim), **money})

    def _operation(
        self, request: Request, type_: tuple[str, dict[str, Any]]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return who asks, and the coerced input."""
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict) or not body:
            said = (
                "POST body missing, invalid Content-Type, or JSON object has no keys."
            )
            raise HaltError(Response(400, said))
        viewer = self._viewers.get(request.token)
        if not viewer:
            raise _errors(401, "UNAUTHENTICATED", ["You must be authenticated."])
        variables = body.get("variables")
        if variables is not None and not isinstance(variables, dict):
            said = "`variables` in a POST body must be an object if provided."
            raise _errors(400, "BAD_REQUEST", [said])
        if not variables or variables.get("input") is None:
            said = f'Variable "$input" of required type "{type_[0]}!" was not provided.'
            raise _errors(400, "BAD_USER_INPUT", [said])
        wrong = _coerce(variables["input"], type_, ["input"])
        if wrong:
            raise _errors(400, "BAD_USER_INPUT", wrong)
        return viewer, variables["input"]

    def _held(self, viewer: dict[str, Any], id_: Any, field: str) -> dict[str, Any]:
        claim = self._claims.get(str(id_))
        if not claim:
            said = f'Could not resolve to a Claim with the id "{id_}".'
            raise _errors(200, "NOT_FOUND", [said], field)
        if claim["viewer"] is not viewer:
            raise _errors(200, "FORBIDDEN", ["This claim is not yours."], field)
        return claim

    @staticmethod
    def _claim(claim: dict[str, Any]) -> dict[str, Any]:
        bulletin = claim["bulletin"]
        inner = {"id": bulletin["node"]["id"], "body": bulletin["body"]}
        return {
            "__typename": "Claim",
            "id": claim["id"],
            "state": claim["state"],
            "bulletin": inner,
        }

    @staticmethod
    def _payload(
        field: str, values: dict[str, Any], payload: dict[str, Any]
    ) -> Response:
        echo = {"clientMutationId": values.get("clientMutationId")}
        return Response(200, {"data": {field: {**payload, "userErrors": [], **echo}}})
