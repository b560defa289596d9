"""Questforge: a Rust service with axum, serde and sqlx."""

import json
import re
import secrets
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

QUESTS = [
    (
        "the baker's riddle",
        22,
        "what rises without a ladder and falls without a wound?",
    ),
    ("inscription on the gate", 17, "speak softly, the hinges are asleep"),
    ("a letter for the smith", 31, "bring the blue steel before the frost"),
    ("the ferryman's price", 9, "one coin out, two coins home"),
    ("map margin", 14, "beyond this hill nobody has counted the trees"),
    ("the clockmaker's note", 26, "do not wind it on a thursday"),
]
HEAD = "Failed to deserialize the JSON body into the target type: "


def app_error(status: int, message: str) -> Response:
    """Return AppError::into_response."""
    return Response(status, {"error": message})


class Questforge(Backend):
    """Quests behind axum: serde's sentences as plain text with 422, AppError as {error}.

    The listing is {quests: [{id, name, bounty, phase}], total} without texts. Claim wants
    {quest_id} and gives {ticket, briefing}; submit wants {ticket, artifact} where artifact is a
    serde enum tagged by "type" (text with value, or link with url); complete wants {ticket} and
    pays at once ({outcome: {rewarded: {amount, purse}}}).
    """

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.quests: dict[str, dict[str, Any]] = {}
        self.tickets: dict[str, dict[str, Any]] = {}
        for name, bounty, text in QUESTS:
            self.quests[str(uuid.uuid4())] = {
                "name": name,
                "bounty": bounty,
                "text": text,
                "phase": "open",
                "ticket": None,
            }
        self.doable = {key: quest["text"] for key, quest in self.quests.items()}
        self.quests[str(uuid.uuid4())] = {
            "name": "the drowned bell",
            "bounty": 40,
            "text": "-",
            "phase": "underway",
            "ticket": None,
        }

    def texts(self) -> dict[str, str]:
        """Return the briefings by quest."""
        return dict(self.doable)

    def missing(self, request: Request) -> Response:
        """Return axum's empty fallback."""
        return Response(404, b"")

    def register(self, request: Request) -> Response:
        """Make an agent."""
        self.book.registrations += 1
        token = "qf_" + secrets.token_urlsafe(24)
        self.agents[token] = {"id": str(uuid.uuid4()), "purse": 100}
        return Response(
            200,
            {
                "agent_id": self.agents[token]["id"],
                "access_token": token,
                "credits": 100,
            },
        )

    def tasks(self, request: Request) -> Response:
        """List the quests by limit and offset."""
        numbers = {"limit": 20, "offset": 0}
        for name in numbers:
            if name in request.query:
                if not request.query[name].isdigit():
                    return Response(
                        400,
                        f"Failed to deserialize query string: {name}: invalid "
                        "digit found in string",
                    )
                numbers[name] = int(request.query[name])
        limit, offset = min(numbers["limit"], 50), numbers["offset"]
        some = [
            {
                "id": key,
                "name": quest["name"],
                "bounty": quest["bounty"],
                "phase": quest["phase"],
            }
            for key, quest in self.quests.items()
        ]
        return Response(
            200,
            {
                "quests": some[offset : offset + limit],
                "total": len(some),
                "offset": offset,
            },
        )

    marketplace = tasks

    def extract(
        self, request: Request, *fields: str
    ) -> tuple[Any, dict[str, Any], Any]:
        """Return the agent and the struct, or a refusal as third."""
        agent = self.agents.get(request.token)
        if agent is None:
            return None, {}, app_error(401, "missing or invalid bearer token")
        if "json" not in (request.headers.get("Content-Type") or ""):
            return (
                None,
                {},
                Response(415, "Expected request with `Content-Type: application/json`"),
            )
        try:
            body = request.json()
        except ValueError:
            return (
                None,
                {},
                Response(
                    400,
                    "Failed to parse the request body as JSON: expected "
                    f"value at line 1 column {max(1, len(request.raw))}",
                ),
            )
        where = f" at line 1 column {len(request.raw)}"
        name = {"quest_id": "ClaimQuest", "ticket": "TicketRef"}[fields[0]]
        if not isinstance(body, dict):
            return (
                None,
                {},
                Response(
                    422,
                    f"{HEAD}invalid type: {self.said(body)}, expected "
                    f"struct {name}{where}",
                ),
            )
        for field in fields:
            value = body.get(field)
            if field in body and field != "artifact" and not isinstance(value, str):
                wanted = "a UUID string" if field == "quest_id" else "a string"
                return (
                    None,
                    {},
                    Response(
                        422,
                        f"{HEAD}{field}: invalid type: {self.said(value)}, "
                        f"expected {wanted}{where}",
                    ),
                )
            if (
                field == "quest_id"
                and field in body
                and not re.fullmatch(
                    r"[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}", str(value)
                )
            ):
                return (
                    None,
                    {},
                    Response(
                        422,
                        f"{HEAD}quest_id: UUID parsing failed: invalid "
                        "length: expected length 32 for simple format, found "
                        f"{len(str(value))}{where}",
                    ),
                )
            if field == "artifact" and field in body:
                wrong = self.artifact(value)
                if wrong:
                    return None, {}, Response(422, f"{HEAD}artifact{wrong}{where}")
        for field in fields:
            if field not in body:
                return None, {}, Response(422, f"{HEAD}missing field `{field}`{where}")
        return agent, body, None

    def said(self, value: Any) -> str:
        """Return serde's name for a value."""
        if value is None:
            return "null"
        if isinstance(value, bool):
            return f"boolean `{str(value).lower()}`"
        if isinstance(value, str):
            return f"string {json.dumps(value)}"
        if isinstance(value, (dict, list)):
            return "map" if isinstance(value, dict) else "sequence"
        return f"{'integer' if isinstance(value, int) else 'floating point'} `{value}`"

    def artifact(self, value: Any) -> str:
        """Return what is wrong with the tagged enum, or ""."""
        if not isinstance(value, dict):
            return f": invalid type: {self.said(value)}, expected internally tagged enum Artifact"
        if "type" not in value:
            return ": missing field `type`"
        want = {"text": "value", "link": "url"}.get(str(value["type"]))
        if want is None:
            return (
                f".type: unknown variant `{value['type']}`, expected `text` or `link`"
            )
        if want not in value:
            return f": missing field `{want}`"
        if not isinstance(value[want], str):
            return f": invalid type: {self.said(value[want])}, expected a string"
        return ""

    def claim(self, request: Request) -> Any:
        """Hand out a ticket."""
        agent, body, no = self.extract(request, "quest_id")
        if no:
            return no
        key = str(uuid.UUID(body["quest_id"]))
        quest = self.quests.get(key)
        if quest is None:
            return app_error(404, "quest not found")
        mine = self.tickets.get(quest["ticket"] or "", {}).get("agent") is agent
        if not mine and quest["phase"] != "open":
            return app_error(409, f"quest is {quest['phase']}")
        if not mine:
            quest["ticket"], quest["phase"] = "tkt_" + secrets.token_hex(10), "underway"
            self.tickets[quest["ticket"]] = {
                "agent": agent,
                "quest": key,
                "state": "held",
            }
            self.book.claimed(key)
        return Response(
            200,
            {
                "ticket": quest["ticket"],
                "quest_id": key,
                "briefing": quest["text"],
                "bounty": quest["bounty"],
            },
        )

    def held(self, agent: Any, body: dict[str, Any]) -> tuple[Any, Any]:
        """Return the caller's ticket and its quest, or None."""
        ticket = self.tickets.get(body["ticket"])
        if ticket is None or ticket["agent"] is not agent:
            return None, None
        return ticket, self.quests[ticket["quest"]]

    def submit(self, request: Request) -> Any:
        """Verify an artifact."""
        agent, body, no = self.extract(request, "ticket", "artifact")
        if no:
            return no
        ticket, quest = self.held(agent, body)
        if ticket is None:
            return app_error(404, "ticket not found")
        if ticket["state"] == "closed":
            return app_error(409, "quest is fulfilled")
        if body["artifact"].get("value") != quest["text"].upper():
            return app_error(422, "artifact failed verification")
        ticket["state"] = "verified"
        return Response(200, {"ticket": body["ticket"], "verified": True})

    def complete(self, request: Request) -> Any:
        """Reward a verified ticket."""
        agent, body, no = self.extract(request, "ticket")
        if no:
            return no
        ticket, quest = self.held(agent, body)
        if ticket is None:
            return app_error(404, "ticket not found")
        if ticket["state"] == "held":
            return app_error(409, "no verified artifact for this ticket")
        if ticket["state"] == "verified":
            ticket["state"], quest["phase"] = "closed", "fulfilled"
            agent["purse"] += quest["bounty"]
            self.book.pay(ticket["quest"], quest["bounty"])
        return Response(
            200,
            {
                "quest_id": ticket["quest"],
                "phase": "fulfilled",
                "outcome": {
                    "rewarded": {"amount": quest["bounty"], "purse": agent["purse"]}
                },
            },
        )
