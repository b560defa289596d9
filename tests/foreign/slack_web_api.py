"""A web API as Slack has it: always 200, `ok` or a short error code, messages aside.

Faults of the arguments are in response_metadata.messages, as "[ERROR] missing required
field: ticket". Ids are capital letters and digits. The request is a block: what the agent
reads and what it sends are lists of blocks with a type and a text. A cursor is at
response_metadata.next_cursor, and "" means the end. Submitting closes the ticket and pays;
completing it again says already_closed.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

MESSAGES = (
    "the channel is quiet on mondays",
    "pin the note above the coffee tin",
    "a thread unravels from the sleeve",
    "mute the parrot before the call",
    "huddle under the broken awning",
    "the emoji outvoted the manager",
    "snooze until the ferry arrives",
    "somebody is typing with mittens",
    "star the recipe for plum cake",
    "archive the summer in a blue box",
    "mention the cat and it will come",
    "the reminder forgot what it was for",
)
PAGE = 5


class ApiError(Exception):
    def __init__(self, code: str, *messages: str) -> None:
        super().__init__(code)
        self.code, self.messages = code, messages


def text_of(blocks: Any) -> str:
    """Return the text of a list of blocks."""
    if not isinstance(blocks, list) or not blocks:
        raise ApiError(
            "invalid_arguments",
            "[ERROR] must provide an array [json-pointer:/blocks]",
        )
    for n, block in enumerate(blocks):
        if not isinstance(block, dict):
            raise ApiError(
                "invalid_arguments",
                f"[ERROR] must be an object [json-pointer:/blocks/{n}]",
            )
        for name in ("type", "text"):
            if not isinstance(block.get(name), str):
                raise ApiError(
                    "invalid_arguments",
                    f"[ERROR] missing required field: {name} "
                    f"[json-pointer:/blocks/{n}/{name}]",
                )
    return "\n".join(block["text"] for block in blocks)


class SlackWebApi(Backend):
    """Twelve tickets in a workspace."""

    def __init__(self) -> None:
        super().__init__()
        self.tickets = {f"T0{secrets.token_hex(4).upper()}": text for text in MESSAGES}
        self.bounty = {ticket: n % 3 + 1 for n, ticket in enumerate(self.tickets)}
        self.owner: dict[str, str] = {}
        self.agents: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return dict(self.tickets)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = f"A0{secrets.token_hex(4).upper()}"
        token = f"xoxa-{secrets.token_hex(24)}"
        self.agents[token] = agent
        return Response(
            200,
            {"ok": True, "agent_id": agent, "access_token": token, "credits": 100},
        )

    def answered(self, request: Request, run: Any) -> Response:
        try:
            self.agent(request)
            return Response(200, {"ok": True, **run(request)})
        except ApiError as no:
            body: dict[str, Any] = {"ok": False, "error": no.code}
            if no.messages:
                body["response_metadata"] = {"messages": [*no.messages]}
            # It says that the end is reached, not that a body was not understood.
            return Response(200, body, refused=no.code != "already_closed")

    def agent(self, request: Request) -> str:
        if not request.token:
            raise ApiError("not_authed")
        if request.token not in self.agents:
            raise ApiError("invalid_auth")
        return self.agents[request.token]

    def tasks(self, request: Request) -> Response:
        return self.answered(request, self.on_tasks)

    def on_tasks(self, request: Request) -> Any:
        free = [ticket for ticket in self.tickets if ticket not in self.owner]
        start = request.query.get("cursor", "")
        if start and not start.startswith("dGlja2V0"):
            raise ApiError("invalid_cursor")
        first = int(start.removeprefix("dGlja2V0") or 0)
        shown, more = free[first : first + PAGE], len(free) > first + PAGE
        return {
            "tickets": [
                {
                    "id": ticket,
                    "is_open": True,
                    "bounty": self.bounty[ticket],
                    "blocks": [{"type": "section", "text": self.tickets[ticket]}],
                }
                for ticket in shown
            ],
            "response_metadata": {
                "next_cursor": f"dGlja2V0{first + PAGE}" if more else ""
            },
        }

    def ticket(self, request: Request) -> tuple[dict[str, Any], str]:
        try:
            body = request.json()
        except ValueError as fault:
            raise ApiError("invalid_json") from fault
        if not isinstance(body, dict):
            raise ApiError("json_not_object")
        ticket = body.get("ticket")
        if ticket is None:
            words = "[ERROR] missing required field: ticket"
            raise ApiError("invalid_arguments", words)
        if ticket not in self.tickets:
            raise ApiError("ticket_not_found")
        return body, ticket

    def claim(self, request: Request) -> Response:
        return self.answered(request, self.on_claim)

    def on_claim(self, request: Request) -> Any:
        _, ticket = self.ticket(request)
        if ticket in self.owner:
            raise ApiError("already_assigned")
        self.owner[ticket] = self.agents[request.token]
        self.book.claimed(ticket)
        return {"ticket": {"id": ticket, "assignee": self.owner[ticket]}}

    def submit(self, request: Request) -> Response:
        return self.answered(request, self.on_submit)

    def on_submit(self, request: Request) -> Any:
        body, ticket = self.ticket(request)
        if self.owner.get(ticket) != self.agents[request.token]:
            raise ApiError("not_assignee")
        if body.get("blocks") is None:
            words = "[ERROR] missing required field: blocks"
            raise ApiError("invalid_arguments", words)
        if text_of(body["blocks"]) != self.tickets[ticket].upper():
            raise ApiError("wrong_answer")
        if ticket not in self.book.paid:
            self.book.pay(ticket, self.bounty[ticket])
        return {
            "ticket": {"id": ticket, "is_open": False, "is_closed": True},
            "credited": self.bounty[ticket],
        }

    def complete(self, request: Request) -> Response:
        return self.answered(request, self.on_complete)

    def on_complete(self, request: Request) -> Any:
        _, ticket = self.ticket(request)
        if ticket not in self.book.paid:
            raise ApiError("not_answered")
        raise ApiError("already_closed")
