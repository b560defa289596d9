"""Supabase: Postgres functions called through PostgREST, for a publisher of crossword and quiz books.

Listing: a plain array of rows; the text is `source_text`. The actions are RPCs with the `p_` prefix on their
arguments: claim wants {"p_task_id": number} and answers a row of `claims` in an array; submit wants
{"p_claim_id": uuid, "p_result": string}; complete wants {"p_claim_id": uuid} and pays. Refusals are PostgREST's
{"code", "details", "hint", "message"}; arguments that fit no function get PGRST202 with a hint, errors raised in the
function get P0001.
"""

import secrets
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ROWS: list[tuple[int, str, str, int, str]] = [
    (11, "Chapter opener", "capital cities of the northern hemisphere", 13, "open"),
    (12, "Grid caption", "answers to the giant grid are on the last page", 16, "open"),
    (14, "Quiz heading", "name that famous detective", 8, "open"),
    (15, "Puzzle rule", "each letter may be used only once", 9, "open"),
    (17, "Back cover line", "a hundred puzzles for long train journeys", 14, "done"),
    (18, "Prize page", "send your entry on a postcard before easter", 12, "open"),
    (21, "Section title", "for the very young solver", 7, "open"),
]

# What the schema cache holds: function -> {argument: type}
FUNCTIONS: dict[str, dict[str, str]] = {
    "claim_task": {"p_task_id": "bigint"},
    "submit_task_result": {"p_claim_id": "uuid", "p_result": "text"},
    "complete_task": {"p_claim_id": "uuid"},
}


def pg(
    status: int,
    code: str,
    message: str,
    details: str | None = None,
    hint: str | None = None,
) -> Response:
    """Return one error as PostgREST writes it."""
    return Response(
        status,
        {"code": code, "details": details, "hint": hint, "message": message},
        {"Proxy-Status": f"PostgREST; error={code}"},
    )


class Pgrest(Backend):
    """The puzzle publisher."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[int, dict[str, Any]] = {
            number: {
                "id": number,
                "title": title,
                "kind": "capitalise",
                "source_text": text,
                "reward_credits": reward,
                "status": status,
                "created_at": "2025-01-20T10:02:33.118+00:00",
            }
            for number, title, text, reward, status in ROWS
        }
        self.agents: dict[str, str] = {}
        self.balance: dict[str, int] = {}
        self.claims: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(row[0]): row[2] for row in ROWS if row[4] == "open"}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = str(uuid.uuid4())
        token = f"eyJhbGciOiJIUzI1NiJ9.{secrets.token_urlsafe(30)}.{secrets.token_urlsafe(20)}"
        self.agents[token] = agent
        self.balance[agent] = 100
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def _denied(self, request: Request) -> Response | None:
        if not request.token:
            return pg(401, "PGRST302", "Anonymous access is disabled")
        if request.token not in self.agents:
            return pg(401, "PGRST301", "No suitable key or wrong key type")
        return None

    def tasks(self, request: Request) -> Response:
        denied = self._denied(request)
        if denied:
            return denied
        rows = [row for row in self.rows.values() if row["status"] == "open"]
        limit = request.query.get("limit", "")
        if limit:
            try:
                rows = rows[: max(0, int(limit))]
            except ValueError:
                return pg(
                    400,
                    "PGRST100",
                    f'"failed to parse limit ({limit})" (line 1, column 1)',
                )
        return Response(200, rows, {"Content-Range": f"0-{max(0, len(rows) - 1)}/*"})

    def marketplace(self, request: Request) -> Response:
        return Response(
            200,
            [
                {
                    "id": row["id"],
                    "title": row["title"],
                    "reward_credits": row["reward_credits"],
                }
                for row in self.rows.values()
                if row["status"] == "open"
            ],
        )

    def _arguments(self, request: Request, function: str) -> dict[str, Any] | Response:
        """Find the function by the names of the arguments, then cast them."""
        try:
            body = request.json() if request.raw.strip() else {}
        except ValueError:
            return pg(400, "PGRST102", "Empty or invalid json")
        if not isinstance(body, dict):
            return pg(400, "PGRST102", "All object keys must match")
        wanted = FUNCTIONS[function]
        if set(body) != set(wanted):
            names = ", ".join(sorted(body))
            with_what = (
                f"with parameters {names} or"
                if len(body) > 1
                else f"with parameter {names} or"
                if body
                else "without parameters or"
            )
            called = (
                f"public.{function}({names})"
                if body
                else f"public.{function} without parameters"
            )
            return pg(
                404,
                "PGRST202",
                f"Could not find the function {called} in the schema cache",
                f"Searched for the function public.{function} {with_what} with a single unnamed json/jsonb "
                "parameter, but no matches were found in the schema cache.",
                f"Perhaps you meant to call the function public.{function}({', '.join(sorted(wanted))})",
            )
        cast: dict[str, Any] = {}
        for name, kind in wanted.items():
            value = body[name]
            if value is None:
                return pg(400, "22004", f"{name} must not be null")
            shown = value if isinstance(value, str) else str(value)
            try:
                cast[name] = (
                    int(shown)
                    if kind == "bigint"
                    else str(uuid.UUID(shown))
                    if kind == "uuid"
                    else value
                )
            except ValueError:
                return pg(
                    400, "22P02", f'invalid input syntax for type {kind}: "{shown}"'
                )
            if kind == "text" and not isinstance(value, str):
                cast[name] = str(value)
        return cast

    def claim(self, request: Request) -> Response:
        denied = self._denied(request)
        if denied:
            return denied
        arguments = self._arguments(request, "claim_task")
        if isinstance(arguments, Response):
            return arguments
        agent, number = self.agents[request.token], arguments["p_task_id"]
        row = self.rows.get(number)
        if row is None:
            return pg(400, "P0002", f"task {number} not found")
        for claim in self.claims.values():
            if claim["task_id"] == number and claim["agent_id"] == agent:
                return Response(200, [claim])
        if row["status"] != "open":
            return pg(
                409,
                "23505",
                'duplicate key value violates unique constraint "claims_task_id_key"',
                f"Key (task_id)=({number}) already exists.",
            )
        claim = {
            "id": str(uuid.uuid4()),
            "task_id": number,
            "agent_id": agent,
            "status": "claimed",
            "result": None,
            "paid_credits": None,
        }
        self.claims[claim["id"]] = claim
        row["status"] = "claimed"
        self.book.claimed(str(number))
        return Response(200, [claim])

    def _claim(self, request: Request, number: str) -> dict[str, Any] | Response:
        claim = self.claims.get(number)
        if claim is None or claim["agent_id"] != self.agents[request.token]:
            return pg(
                400,
                "P0002",
                f"claim {number} not found",
                hint="Use the id returned by claim_task.",
            )
        return claim

    def submit(self, request: Request) -> Response:
        denied = self._denied(request)
        if denied:
            return denied
        arguments = self._arguments(request, "submit_task_result")
        if isinstance(arguments, Response):
            return arguments
        claim = self._claim(request, arguments["p_claim_id"])
        if isinstance(claim, Response):
            return claim
        if claim["status"] == "completed":
            return pg(400, "P0001", "claim is already completed")
        if arguments["p_result"] != self.rows[claim["task_id"]]["source_text"].upper():
            return pg(
                400,
                "P0001",
                "result rejected",
                "p_result differs from the expected text",
                "The result is source_text in upper case.",
            )
        claim["status"] = "submitted"
        claim["result"] = arguments["p_result"]
        return Response(200, [claim])

    def complete(self, request: Request) -> Response:
        denied = self._denied(request)
        if denied:
            return denied
        arguments = self._arguments(request, "complete_task")
        if isinstance(arguments, Response):
            return arguments
        claim = self._claim(request, arguments["p_claim_id"])
        if isinstance(claim, Response):
            return claim
        row = self.rows[claim["task_id"]]
        if claim["status"] == "claimed":
            return pg(
                400,
                "P0001",
                "claim has no result yet",
                hint="Call submit_task_result first.",
            )
        if claim["status"] == "submitted":
            claim["status"] = "completed"
            claim["paid_credits"] = row["reward_credits"]
            row["status"] = "done"
            self.balance[claim["agent_id"]] += row["reward_credits"]
            self.book.pay(str(row["id"]), row["reward_credits"])
        return Response(200, [{**claim, "balance": self.balance[claim["agent_id"]]}])
