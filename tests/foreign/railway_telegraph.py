"""Go, net/http: json.Decoder with DisallowUnknownFields, errors in prose by http.Error.

The job market: a heritage railway whose telegraph office hires operators to copy wires.

Listing: `{"wires": [...], "open": n, "standing_orders": "..."}`; a wire has `number`,
`from`, `to`, `message`, `words`, `pay`. What to do stands once, in the standing orders.
Claim wants `{"wire": number, "operator": agent_id}` and answers `{"slip", "wire", "pay",
"held_for"}`; the same operator gets the same slip again. Submit wants `{"slip": "...",
"copy": "..."}` and answers `{"slip", "status": "passed"}`. Complete wants `{"slip": "..."}`,
pays, and answers `{"slip", "status": "settled", "paid", "balance"}`; again is a conflict.
Errors: one at a time, text/plain, in a sentence, with 400, 401, 403, 404, 409 or 422.
Field names compare without case, null is the zero value, as encoding/json has it.
"""

import json
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

WIRES = [
    ("Settle", "Carlisle", "Send two spare lamps by the evening goods", 9),
    ("Garsdale", "Settle", "Snow on the line north of the viaduct", 8),
    (
        "Carlisle",
        "Leeds",
        "Stationmaster arrives tomorrow with his wife and three cats",
        12,
    ),
    ("Dent", "Settle", "Water tank frozen again please advise", 7),
    ("Leeds", "Garsdale", "Hold the ten forty until the doctor is aboard", 11),
    ("Appleby", "Carlisle", "Lost umbrella found in second class compartment", 10),
    ("Settle", "Dent", "Coal for the waiting room will follow on Thursday", 13),
    ("Kirkby", "Leeds", "One crate of hens travelling without a label", 14),
]
CLAIM = {"wire": "int", "operator": "string"}
COPY = {"slip": "string", "copy": "string"}
SETTLE = {"slip": "string"}


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    names = {"str": "string", "list": "array", "dict": "object"}
    return names[type(value).__name__]


class GoHttp(Backend):
    """A ServeMux, a mutex and some maps."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.slips: dict[str, dict[str, Any]] = {}
        self.state: dict[int, str] = {}
        self.wires: dict[int, dict[str, Any]] = {}
        for number, (sender, receiver, message, pay) in enumerate(WIRES, 17):
            self.state[number] = "open"
            self.wires[number] = {
                "number": number,
                "from": sender,
                "to": receiver,
                "message": message,
                "words": len(message.split()),
                "pay": pay,
            }

    def texts(self) -> dict[str, str]:
        """Return the message of every wire by its number."""
        return {str(number): wire["message"] for number, wire in self.wires.items()}

    @staticmethod
    def _error(status: int, message: str) -> Response:
        headers = {"X-Content-Type-Options": "nosniff"}
        return Response(status, message + "\n", headers)

    def register(self, request: Request) -> Response:
        """Take on an operator."""
        self.book.registrations += 1
        token = secrets.token_hex(16)
        agent = {"agent_id": f"op-{secrets.token_hex(4)}", "credits": 100}
        self.agents[token] = agent
        return Response(200, {**agent, "access_token": token})

    def tasks(self, request: Request) -> Response:
        """List the open wires."""
        given = request.query.get("limit", "25")
        if not given.isdecimal() or int(given) < 1:
            return self._error(400, f'limit must be a positive number, not "{given}"')
        found = [w for number, w in self.wires.items() if self.state[number] == "open"]
        return Response(
            200,
            {
                "wires": found[: int(given)],
                "open": len(found),
                "standing_orders": "Copy the message of the wire in capital letters "
                "throughout, word for word, and hand in the copy. Pay is in credits.",
            },
        )

    marketplace = tasks

    def _decode(
        self, request: Request, what: str, fields: dict[str, str]
    ) -> Response | dict[str, Any]:
        """Decode into a struct; report the first error, as encoding/json does."""
        struct = f"{what}Request"
        found: dict[str, Any] = {
            name: 0 if kind == "int" else "" for name, kind in fields.items()
        }
        if not request.raw.strip():
            return self._error(400, f"could not read your {what}: the body is empty")
        try:
            body = json.loads(request.raw)
        except ValueError as error:
            return self._error(400, f"could not read your {what}: bad JSON: {error}")
        wrong = ""
        if body is None:
            return found
        if not isinstance(body, dict):
            wrong = (
                f"cannot unmarshal {_kind(body)} into Go value of type main.{struct}"
            )
            body = {}
        for name, value in body.items():
            field = name.lower()
            if field not in fields:
                wrong = wrong or f'unknown field "{name}"'
            elif value is None:
                continue
            elif (fields[field] == "string" and isinstance(value, str)) or (
                fields[field] == "int"
                and isinstance(value, int)
                and not isinstance(value, bool)
            ):
                found[field] = value
            else:
                kind = _kind(value)
                if isinstance(value, float):
                    kind = f"number {value}"
                wrong = wrong or (
                    f"cannot unmarshal {kind} into Go struct field {struct}.{field} of "
                    f"type {fields[field]}"
                )
        if wrong:
            return self._error(400, f"could not read your {what}: json: {wrong}")
        return found

    def _agent(self, request: Request) -> Response | dict[str, Any]:
        if not request.token:
            return self._error(
                401, "operators only: send your access token as a bearer token"
            )
        agent = self.agents.get(request.token)
        if agent is None:
            return self._error(401, "no operator has this access token")
        return agent

    def claim(self, request: Request) -> Response:
        """Hand a wire to an operator."""
        agent = self._agent(request)
        if isinstance(agent, Response):
            return agent
        body = self._decode(request, "claim", CLAIM)
        if isinstance(body, Response):
            return body
        number = body["wire"]
        if not number:
            return self._error(
                400, 'which wire? a claim gives the number of one open wire as "wire"'
            )
        if not body["operator"]:
            return self._error(
                400,
                'claims are signed: give your own agent_id as "operator" with the wire',
            )
        if body["operator"] != agent["agent_id"]:
            return self._error(
                403,
                f'operator "{body["operator"]}" is not the holder of this access token',
            )
        if number not in self.wires:
            return self._error(404, f"there is no wire {number}")
        held = [slip for slip in self.slips.values() if slip["wire"] == number]
        if held and held[0]["operator"] != agent["agent_id"]:
            return self._error(409, f"wire {number} is with another operator")
        if held:
            slip = held[0]
        else:
            slip = {
                "slip": f"{number}-{secrets.token_hex(6)}",
                "wire": number,
                "operator": agent["agent_id"],
                "status": "held",
            }
            self.slips[slip["slip"]] = slip
            self.state[number] = "held"
            self.book.claimed(str(number))
        return Response(
            200,
            {
                "slip": slip["slip"],
                "wire": number,
                "pay": self.wires[number]["pay"],
                "held_for": "30m0s",
            },
        )

    def _slip(self, agent: dict[str, Any], name: str) -> Response | dict[str, Any]:
        if not name:
            return self._error(
                400, 'the slip is missing: give the one your claim got you as "slip"'
            )
        slip = self.slips.get(name)
        if slip is None:
            return self._error(404, f'we never issued a slip "{name}"')
        if slip["operator"] != agent["agent_id"]:
            return self._error(403, f'slip "{name}" was issued to another operator')
        return slip

    def submit(self, request: Request) -> Response:
        """Look over a copy."""
        agent = self._agent(request)
        if isinstance(agent, Response):
            return agent
        body = self._decode(request, "copy", COPY)
        if isinstance(body, Response):
            return body
        slip = self._slip(agent, body["slip"])
        if isinstance(slip, Response):
            return slip
        if not body["copy"]:
            return self._error(
                400,
                'there is no text to look over: hand in the copied message as "copy"',
            )
        if slip["status"] == "settled":
            return self._error(409, "this wire has been copied and settled already")
        if body["copy"] != self.wires[slip["wire"]]["message"].upper():
            return self._error(
                422, f"the copy is not the message of wire {slip['wire']} in capitals"
            )
        slip["status"] = "passed"
        return Response(200, {"slip": slip["slip"], "status": "passed"})

    def complete(self, request: Request) -> Response:
        """Settle a slip whose copy has passed."""
        agent = self._agent(request)
        if isinstance(agent, Response):
            return agent
        body = self._decode(request, "settle", SETTLE)
        if isinstance(body, Response):
            return body
        slip = self._slip(agent, body["slip"])
        if isinstance(slip, Response):
            return slip
        if slip["status"] == "held":
            return self._error(409, "no copy has passed for this slip yet")
        if slip["status"] == "settled":
            return self._error(409, "this slip has been settled already")
        pay = self.wires[slip["wire"]]["pay"]
        slip["status"] = "settled"
        agent["credits"] += pay
        self.book.pay(str(slip["wire"]), pay)
        return Response(
            200,
            {
                "slip": slip["slip"],
                "status": "settled",
                "paid": pay,
                "balance": agent["credits"],
            },
        )
