"""A Go service with Echo behind Kong, which wants to know the agent from a header.

The gateway turns away what has no X-Agent-Id before the service sees it; the service binds
leniently and has one sentence per fault, {"message": "..."}. The reservation's code has
to come back with the report, under the name that it had in the answer.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

REPORTS = (
    "the night bus skips the last stop",
    "a tunnel sings when trains are late",
    "the conductor collects ticket stubs",
    "signals turn amber over the marsh",
    "coffee on platform four is worse",
    "the timetable is mostly a wish",
    "two carriages dream of the coast",
)


def no(status: int, message: str) -> Response:
    return Response(status, {"message": message})


class KongEcho(Backend):
    """Seven reports to be rewritten."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, dict[str, Any]] = {}
        for n, report in enumerate(REPORTS):
            key = f"R-{2210 + 7 * n}"
            self.rows[key] = {
                "reference": key,
                "summary": "rewrite in capitals",
                "text": report,
                "credits": n % 3 + 2,
                "state": "open",
            }
        self.codes: dict[str, str] = {}
        self.agents: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return {key: row["text"] for key, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        return no(404, "no Route matched with those values")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"c-{secrets.token_hex(6)}", secrets.token_urlsafe(24)
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        found = [row for row in self.rows.values() if row["state"] == "open"]
        return Response(200, {"items": found, "count": len(found)})

    def bound(
        self, request: Request, *names: str
    ) -> tuple[Response | None, dict[str, str], dict[str, Any]]:
        """Return a refusal, or the body and its row."""
        if request.token not in self.agents:
            return no(401, "Unauthorized"), {}, {}
        agent = request.headers.get("X-Agent-Id")
        if agent is None:
            return no(400, "Missing required header: X-Agent-Id"), {}, {}
        if agent != self.agents[request.token]:
            return no(403, "X-Agent-Id does not match the token"), {}, {}
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return no(400, "Unmarshal type error"), {}, {}
        for name in names:
            if not isinstance(body.get(name) or "", str):
                return no(400, f"Unmarshal type error: field={name}"), {}, {}
            if not body.get(name):
                return no(400, f"{name} must be set"), {}, {}
        if "reservation" in names:
            row = self.rows.get(self.codes.get(body["reservation"], ""))
        else:
            row = self.rows.get(body["reference"])
        return (None if row else no(404, "not found")), body, row or {}

    def claim(self, request: Request) -> Response:
        refusal, _, row = self.bound(request, "reference")
        if refusal:
            return refusal
        if row["state"] != "open":
            return no(409, "already reserved")
        row["state"] = "reserved"
        code = secrets.token_hex(5).upper()
        self.codes[code] = row["reference"]
        self.book.claimed(row["reference"])
        return Response(200, {"reservation": code, "expires_in": 3600})

    def submit(self, request: Request) -> Response:
        refusal, body, row = self.bound(request, "reservation", "report")
        if refusal:
            return refusal
        if row["state"] != "reserved":
            return no(409, "not reserved")
        if body["report"] != row["text"].upper():
            return no(422, "report rejected")
        row["state"] = "reported"
        return Response(200, {"state": "reported"})

    def complete(self, request: Request) -> Response:
        refusal, _, row = self.bound(request, "reservation")
        if refusal:
            return refusal
        if row["state"] == "reported":
            row["state"] = "settled"
            self.book.pay(row["reference"], row["credits"])
        elif row["state"] != "settled":
            return no(409, "no report yet")
        return Response(200, {"state": "settled", "credits": row["credits"]})
