"""Stevedore: a single Go binary with net/http and prose errors."""

import json
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

MANIFESTS = [
    (4101, "MV Aurora, hold 2", 18, "Forty crates of pears, keep below eight degrees."),
    (4102, "MV Aurora, hold 3", 13, "Steel coil, nine tonnes, lashed fore and aft."),
    (4105, "Barge Lotte", 7, "Gravel, loose, no cover."),
    (
        4108,
        "SS Meridian, deck",
        24,
        "Two lifeboats for repair, handle with slings only.",
    ),
    (4109, "SS Meridian, hold 1", 11, "Sacks of cocoa, 600, stacked on pallets."),
]


def oops(status: int, message: str) -> Response:
    """Return what http.Error writes."""
    return Response(status, message + "\n", {"X-Content-Type-Options": "nosniff"})


def kind(value: Any) -> str:
    """Return Go's word for a JSON value."""
    if isinstance(value, bool):
        return "bool"
    return {str: "string", list: "array", dict: "object", int: "number"}.get(
        type(value), "number"
    )


class Stevedore(Backend):
    """Cargo manifests from a Go binary: structs out, plain-text sentences for errors.

    The listing is a bare array of {id, vessel, cargo, pay, status}; ids are numbers, the text is
    cargo. Claim wants {manifest_id} and gives assignment_id; submit wants {assignment_id,
    content} and gives a receipt; complete wants {assignment_id, receipt} and pays at once
    (credited). Unknown fields are refused (DisallowUnknownFields), wrong types too.
    """

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.manifests: dict[int, dict[str, Any]] = {
            number: {
                "id": number,
                "vessel": vessel,
                "cargo": cargo,
                "pay": pay,
                "status": "waiting",
            }
            for number, vessel, pay, cargo in MANIFESTS
        }
        self.doable = {str(k): m["cargo"] for k, m in self.manifests.items()}
        self.manifests[4110] = {
            "id": 4110,
            "vessel": "Tug Fenna",
            "cargo": "Rope.",
            "pay": 5,
            "status": "cleared",
        }
        self.assignments: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the cargo lines by manifest."""
        return dict(self.doable)

    def register(self, request: Request) -> Response:
        """Make an agent."""
        self.book.registrations += 1
        token = secrets.token_hex(20)
        self.agents[token] = {
            "agent_id": "dock-" + secrets.token_hex(4),
            "credits": 100,
        }
        return Response(
            200,
            {
                "agent_id": self.agents[token]["agent_id"],
                "access_token": token,
                "credits": 100,
            },
        )

    def tasks(self, request: Request) -> Response:
        """List the manifests; the limit is clamped to 50."""
        raw = request.query.get("limit", "")
        limit = 50
        if raw:
            try:
                limit = int(raw)
            except ValueError:
                return oops(
                    400, f'bad limit: strconv.Atoi: parsing "{raw}": invalid syntax'
                )
        limit = 50 if limit <= 0 or limit > 50 else limit
        return Response(
            200,
            list(self.manifests.values())[:limit],
            {"X-Total-Count": str(len(self.manifests))},
        )

    def marketplace(self, request: Request) -> Response:
        """List the waiting ones; a nil slice is null."""
        some = [m for m in self.manifests.values() if m["status"] == "waiting"]
        return Response(200, some or None)

    def decode(
        self, request: Request, struct: str, **fields: type
    ) -> tuple[Any, dict[str, Any], Any]:
        """Return the agent and the decoded struct, or a refusal as third."""
        if not request.headers.get("Authorization"):
            return (
                None,
                {},
                oops(401, "missing Authorization header, want Bearer token"),
            )
        agent = self.agents.get(request.token)
        if agent is None:
            return None, {}, oops(401, "unknown token")
        if not request.raw.strip():
            return None, {}, oops(400, "decode request: EOF")
        try:
            body = request.json()
        except ValueError:
            return None, {}, oops(400, "decode request: invalid character in JSON")
        if not isinstance(body, dict):
            return (
                None,
                {},
                oops(
                    400,
                    f"decode request: json: cannot unmarshal {kind(body)} "
                    f"into Go value of type main.{struct}",
                ),
            )
        values: dict[str, Any] = {name: want() for name, want in fields.items()}
        for name, value in body.items():
            known = next((n for n in fields if n == name.lower()), None)
            if known is None:
                return (
                    None,
                    {},
                    oops(
                        400, "decode request: json: unknown field " + json.dumps(name)
                    ),
                )
            if value is None:
                continue
            if type(value) is not fields[known]:
                word = "int64" if fields[known] is int else "string"
                return (
                    None,
                    {},
                    oops(
                        400,
                        f"decode request: json: cannot unmarshal {kind(value)}"
                        f" into Go struct field {struct}.{known} of type {word}",
                    ),
                )
            values[known] = value
        return agent, values, None

    def claim(self, request: Request) -> Any:
        """Assign a manifest to the caller."""
        agent, values, no = self.decode(request, "claimRequest", manifest_id=int)
        if no:
            return no
        number = values["manifest_id"]
        if not number:
            return oops(400, "manifest_id is required")
        manifest = self.manifests.get(number)
        if manifest is None:
            return oops(404, f"no manifest {number}")
        for key, one in self.assignments.items():
            if one["manifest"] is manifest and one["agent"] is agent:
                return Response(
                    200,
                    {
                        "assignment_id": key,
                        "manifest_id": number,
                        "status": manifest["status"],
                    },
                )
        if manifest["status"] != "waiting":
            return oops(409, f"manifest {number} is {manifest['status']}")
        manifest["status"] = "assigned"
        key = 90001 + len(self.assignments)
        self.assignments[key] = {"manifest": manifest, "agent": agent, "receipt": ""}
        self.book.claimed(str(number))
        return Response(
            200, {"assignment_id": key, "manifest_id": number, "status": "assigned"}
        )

    def assignment(self, agent: Any, key: int) -> tuple[dict[str, Any], Any]:
        """Return the caller's assignment, or a refusal as second."""
        if not key:
            return {}, oops(400, "assignment_id is required")
        one = self.assignments.get(key)
        if one is None:
            return {}, oops(404, f"no assignment {key}")
        if one["agent"] is not agent:
            return {}, oops(403, f"assignment {key} belongs to another agent")
        return one, None

    def submit(self, request: Request) -> Any:
        """Take the content and hand out a receipt."""
        agent, values, no = self.decode(
            request, "submitRequest", assignment_id=int, content=str
        )
        if no:
            return no
        one, no = self.assignment(agent, values["assignment_id"])
        if no:
            return no
        if not values["content"]:
            return oops(400, "content is required")
        if values["content"] != one["manifest"]["cargo"].upper():
            return oops(422, "content rejected: does not match the manifest")
        one["receipt"] = one["receipt"] or "rc_" + secrets.token_hex(6)
        if one["manifest"]["status"] == "assigned":
            one["manifest"]["status"] = "checked"
        return Response(
            200, {"receipt": one["receipt"], "status": one["manifest"]["status"]}
        )

    def complete(self, request: Request) -> Any:
        """Clear the manifest and pay."""
        agent, values, no = self.decode(
            request, "completeRequest", assignment_id=int, receipt=str
        )
        if no:
            return no
        one, no = self.assignment(agent, values["assignment_id"])
        if no:
            return no
        if not values["receipt"]:
            return oops(400, "receipt is required (submit returns it)")
        if values["receipt"] != one["receipt"]:
            return oops(400, "wrong receipt for this assignment")
        manifest = one["manifest"]
        if manifest["status"] != "cleared":
            manifest["status"] = "cleared"
            agent["credits"] += manifest["pay"]
            self.book.pay(str(manifest["id"]), manifest["pay"])
        return Response(
            200,
            {
                "manifest_id": manifest["id"],
                "status": "cleared",
                "credited": manifest["pay"],
                "balance": agent["credits"],
            },
        )
