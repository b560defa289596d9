"""GraphQL-ish RPC with persisted operations; an archive's bounties on old catalogue cards.

Each path takes `{"operationName", "variables": {"input": {...}}}` and answers 200 with
`{"data": {...}}` or `{"data": null, "errors": [...]}`, as GraphQL servers do. Free queries are
not taken. Registration keeps its plain fields beside `data`.

Listing (GET): `data.openBounties: {totalCount, edges: [{cursor, node}], pageInfo}`; a node has
`id` (an opaque global ID), `__typename`, `shelfmark`, `task {kind, instruction}`,
`cardText` and `reward {credits}`.
Claim: `ClaimBounty`, input `{bountyId}` -> `data.claimBounty {claim {id, status, bounty}}`.
Submit: `SubmitTranscript`, input `{claimId, transcript}` -> `data.submitTranscript
{claim {id, status: SUBMITTED}}`.
Complete: `CompleteClaim`, input `{claimId}` -> `data.completeClaim {claim, payment}`; again
the same payment.
Errors: `errors[] {message, path?, extensions {code}}`; those of the operation or its variables
are worded as graphql-js words them (BAD_USER_INPUT, with "Did you mean"), the others are
NOT_FOUND, CONFLICT, UNAUTHENTICATED (the only ones with a status of their own: 401).
"""

import base64
import difflib
import json
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

CARDS: dict[int, tuple[str, str, int]] = {
    # number: shelfmark, text, credits
    71: ("MS 12/4", "letter of a sailor to his sister, 1781", 13),
    72: ("MS 12/9", "plan of the fortress with later notes in pencil", 11),
    78: ("MAP 3", "coast between the two rivers, coloured by hand", 15),
    80: ("PR 440", "list of goods burnt in the great fire", 9),
    83: ("PR 512", "songs for the harvest, without music", 7),
    88: ("PH 9001", "market square on a wet morning, glass negative", 12),
    91: ("PH 9044", "the mayor opens the waterworks", 8),
}
# path's action -> operation, type of its input, and the input's fields
OPERATIONS: dict[str, tuple[str, str, dict[str, str]]] = {
    "claim": ("ClaimBounty", "ClaimBountyInput", {"bountyId": "ID"}),
    "submit": (
        "SubmitTranscript",
        "SubmitTranscriptInput",
        {"claimId": "ID", "transcript": "String"},
    ),
    "complete": ("CompleteClaim", "CompleteClaimInput", {"claimId": "ID"}),
}


class GraphQLError(Exception):
    """One entry of `errors`."""

    def __init__(self, code: str, message: str, path: str = "") -> None:
        super().__init__(message)
        self.code, self.path = code, path


def global_id(kind: str, number: int) -> str:
    """Return a Relay ID."""
    return base64.b64encode(f"{kind}:{number}".encode()).decode()


def number_of(kind: str, id_: str) -> int | None:
    """Return what a Relay ID stands for."""
    try:
        found, _, number = base64.b64decode(id_, validate=True).decode().partition(":")
        return int(number) if found == kind else None
    except ValueError:
        return None


def meant(name: str, names: list[str]) -> str:
    """Return graphql-js's suggestion, if it has one."""
    near = difflib.get_close_matches(name, names, 3, 0.4)
    return (
        " Did you mean " + " or ".join(f'"{each}"' for each in near) + "?"
        if near
        else ""
    )


class RpcArchive(Backend):
    """The archive's bounties."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, str] = {}
        self.balances: dict[str, int] = {}
        self.claims: dict[int, dict[str, Any]] = {}  # by the card's number

    def texts(self) -> dict[str, str]:
        """Return the text of every card."""
        return {global_id("Bounty", number): row[1] for number, row in CARDS.items()}

    def _no(self, error: GraphQLError) -> Response:
        entry: dict[str, Any] = {
            "message": str(error),
            "extensions": {"code": error.code},
        }
        if error.path:
            entry["path"] = [error.path]
        status = 401 if error.code == "UNAUTHENTICATED" else 200
        return Response(status, {"data": None, "errors": [entry]}, refused=True)

    def _input(  # noqa: PLR0915 - as it grew
        self, request: Request, action: str
    ) -> tuple[str, dict[str, Any]]:
        """Return the agent and the input of an operation."""
        name, type_, fields = OPERATIONS[action]
        try:
            body = request.json()
        except ValueError:
            raise GraphQLError("BAD_REQUEST", "POST body is not valid JSON.") from None
        if not isinstance(body, dict):
            raise GraphQLError("BAD_REQUEST", "POST body must be a JSON object.")
        if "query" in body:
            raise GraphQLError(
                "PERSISTED_QUERY_ONLY",
                "Only persisted operations are executed "
                'here: send their "operationName" instead of a "query".',
            )
        given = body.get("operationName")
        if not isinstance(given, str) or not given:
            raise GraphQLError(
                "BAD_REQUEST",
                f'Must provide an "operationName". Operations on this path: {name}.',
            )
        if given != name:
            raise GraphQLError(
                "OPERATION_NOT_FOUND",
                f'Unknown operation named "{given}". Operations on this path: {name}.',
            )
        if request.token not in self.agents:
            raise GraphQLError(
                "UNAUTHENTICATED", "You must be signed in (bearer token)."
            )
        variables = body.get("variables") or {}
        if not isinstance(variables, dict):
            raise GraphQLError(
                "BAD_REQUEST", "Variables must be provided as an Object."
            )
        value = variables.get("input")
        if value is None:
            raise GraphQLError(
                "BAD_USER_INPUT",
                f'Variable "$input" of required type "{type_}!" was not provided.',
            )
        invalid = 'Variable "$input" got invalid value '
        if not isinstance(value, dict):
            raise GraphQLError(
                "BAD_USER_INPUT",
                f"{invalid}{json.dumps(value)}; Expected type "
                f'"{type_}" to be an object.',
            )
        for field, kind in fields.items():
            if value.get(field) is None:
                raise GraphQLError(
                    "BAD_USER_INPUT",
                    f"{invalid}{json.dumps(value)}; Field "
                    f'"{field}" of required type "{kind}!" was not provided.',
                )
            good = isinstance(value[field], str) or (
                kind == "ID" and isinstance(value[field], int)
            )
            if not good:
                raise GraphQLError(
                    "BAD_USER_INPUT",
                    f'Variable "$input" got invalid value '
                    f'{json.dumps(value[field])} at "input.{field}"; {kind} cannot represent '
                    f"a non {kind.lower()} value: {json.dumps(value[field])}",
                )
        for field in value:
            if field not in fields:
                raise GraphQLError(
                    "BAD_USER_INPUT",
                    f"{invalid}{json.dumps(value)}; Field "
                    f'"{field}" is not defined by type "{type_}".'
                    + meant(field, list(fields)),
                )
        return self.agents[request.token], value

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        agent = global_id("Agent", 500 + self.book.registrations)
        token = secrets.token_hex(24)
        self.agents[token], self.balances[agent] = agent, 100
        return Response(
            200,
            {
                "agent_id": agent,
                "access_token": token,
                "credits": 100,
                "data": {"createFreeAgent": {"agent": {"id": agent}}},
            },
        )

    def _bounty(self, number: int) -> dict[str, Any]:
        shelfmark, text, credits_ = CARDS[number]
        return {
            "__typename": "Bounty",
            "id": global_id("Bounty", number),
            "shelfmark": shelfmark,
            "task": {
                "kind": "UPPERCASE",
                "instruction": "Transcribe cardText in upper case, as our old cards are.",
            },
            "cardText": text,
            "reward": {"credits": credits_},
        }

    def marketplace(self, request: Request) -> Response:
        """The persisted query OpenBounties(first: $limit)."""
        limit = request.query.get("limit", "20")
        if not limit.isdecimal():
            return self._no(
                GraphQLError(
                    "BAD_USER_INPUT",
                    'Variable "$first" got invalid value '
                    f'"{limit}"; Int cannot represent non-integer value',
                )
            )
        nodes = [self._bounty(number) for number in CARDS if number not in self.claims]
        edges = [
            {"cursor": base64.b64encode(f"c{at}".encode()).decode(), "node": node}
            for at, node in enumerate(nodes)
        ][: int(limit)]
        return Response(
            200,
            {
                "data": {
                    "openBounties": {
                        "totalCount": len(nodes),
                        "edges": edges,
                        "pageInfo": {
                            "hasNextPage": len(edges) < len(nodes),
                            "endCursor": edges[-1]["cursor"] if edges else None,
                        },
                    }
                }
            },
        )

    tasks = marketplace

    def _claim_node(self, row: dict[str, Any]) -> dict[str, Any]:
        return {"__typename": "Claim", "id": row["id"], "status": row["status"]}

    def claim(self, request: Request) -> Response:
        """ClaimBounty."""
        try:
            agent, value = self._input(request, "claim")
            number = number_of("Bounty", str(value["bountyId"]))
            if number not in CARDS:
                raise GraphQLError(
                    "NOT_FOUND",
                    "Could not resolve to a Bounty with the global "
                    f"id of '{value['bountyId']}'.",
                    "claimBounty",
                )
            assert number is not None
            if number not in self.claims:
                self.claims[number] = {
                    "id": global_id("Claim", 3000 + len(self.claims)),
                    "agent": agent,
                    "card": number,
                    "status": "ACTIVE",
                }
                self.book.claimed(global_id("Bounty", number))
            row = self.claims[number]
            if row["agent"] != agent:
                raise GraphQLError(
                    "CONFLICT", "Bounty is claimed by another agent.", "claimBounty"
                )
            return Response(
                200,
                {
                    "data": {
                        "claimBounty": {
                            "claim": {
                                **self._claim_node(row),
                                "bounty": self._bounty(number),
                            }
                        }
                    }
                },
            )
        except GraphQLError as error:
            return self._no(error)

    def _mine(self, agent: str, id_: Any, path: str) -> dict[str, Any]:
        for row in self.claims.values():
            if row["id"] == id_ and row["agent"] == agent:
                return row
        raise GraphQLError(
            "NOT_FOUND",
            f"Could not resolve to a Claim with the global id of '{id_}'.",
            path,
        )

    def submit(self, request: Request) -> Response:
        """SubmitTranscript."""
        try:
            agent, value = self._input(request, "submit")
            row = self._mine(agent, value["claimId"], "submitTranscript")
            if row["status"] == "COMPLETED":
                raise GraphQLError(
                    "CONFLICT", "Claim is already completed.", "submitTranscript"
                )
            if value["transcript"] != CARDS[row["card"]][1].upper():
                raise GraphQLError(
                    "TRANSCRIPT_REJECTED",
                    "Transcript is not the card's text in upper case.",
                    "submitTranscript",
                )
            row["status"] = "SUBMITTED"
            return Response(
                200, {"data": {"submitTranscript": {"claim": self._claim_node(row)}}}
            )
        except GraphQLError as error:
            return self._no(error)

    def complete(self, request: Request) -> Response:
        """CompleteClaim."""
        try:
            agent, value = self._input(request, "complete")
            row = self._mine(agent, value["claimId"], "completeClaim")
            if row["status"] == "ACTIVE":
                raise GraphQLError(
                    "CONFLICT", "Claim has no transcript yet.", "completeClaim"
                )
            credits_ = CARDS[row["card"]][2]
            if row["status"] == "SUBMITTED":
                row["status"] = "COMPLETED"
                self.balances[agent] += credits_
                self.book.pay(global_id("Bounty", row["card"]), credits_)
            return Response(
                200,
                {
                    "data": {
                        "completeClaim": {
                            "claim": self._claim_node(row),
                            "payment": {"credits": credits_},
                            "viewer": {"credits": self.balances[agent]},
                        }
                    }
                },
            )
        except GraphQLError as error:
            return self._no(error)
