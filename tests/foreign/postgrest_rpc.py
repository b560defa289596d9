"""An edge function that hands its body to supabase.rpc() and returns what comes back.

A function of the database is found by the names of its arguments, so a body with other
names is "not found": PGRST202, told with the arguments that were searched for and a hint.
What plpgsql raises has the code P0001; a value that will not cast has 22P02. An error is
sent with status 400, as in every tutorial.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PROMPTS = (
    "vacuum the carpet after the parade",
    "the elephant never drops a table",
    "a trigger fired in the quiet library",
    "cast the fishing line as an integer",
    "rows march past the window in order",
    "the planner chose the scenic route",
    "commit the jam to the highest shelf",
    "a foreign key opens the garden shed",
    "toast is stored out of line at noon",
    "roll back the rug and start again",
    "the sequence skipped thirteen kindly",
    "explain the soup and analyze the bread",
)
FUNCTIONS: dict[str, tuple[str, dict[str, str]]] = {
    "claim": ("claim_task", {"p_task": "bigint"}),
    "submit": ("submit_task_result", {"p_answer": "text", "p_claim": "uuid"}),
    "complete": ("complete_task", {"p_claim": "uuid"}),
}


class PgError(Exception):
    """An error as PostgREST writes it."""

    def __init__(self, code: str, message: str, **more: str | None) -> None:
        super().__init__(message)
        shown = {"details": None, "hint": None, **more}
        self.body = {"code": code, **shown, "message": message}


def resolve(action: str, body: dict[str, Any]) -> dict[str, Any]:
    """Find the function by the names of the arguments, and cast them."""
    name, wanted = FUNCTIONS[action]
    if set(body) != set(wanted):
        given = ", ".join(sorted(body))
        plural = "parameters" if len(body) > 1 else "parameter"
        searched = f"with {plural} {given} or " if body else ""
        raise PgError(
            "PGRST202",
            f"Could not find the function public.{name}({given}) in the schema cache",
            details=f"Searched for the function public.{name} {searched}with a single "
            "unnamed json/jsonb parameter, but no matches were found in the schema cache.",
            hint="Perhaps you meant to call the function "
            f"public.{name}({', '.join(sorted(wanted))})",
        )
    return {key: cast(body[key], kind) for key, kind in wanted.items()}


def cast(value: Any, kind: str) -> Any:
    """Cast a JSON value as Postgres does: a string of digits is a bigint too."""
    text = value if isinstance(value, str) else str(value)
    fits = {
        "bigint": text.isdigit(),
        "uuid": len(text) == 36 and text.count("-") == 4,
        "text": True,
    }
    if not fits[kind]:
        raise PgError("22P02", f'invalid input syntax for type {kind}: "{text}"')
    return int(text) if kind == "bigint" else text


def uuid() -> str:
    return "-".join(secrets.token_hex(size) for size in (4, 2, 2, 2, 6))


class PostgrestRpc(Backend):
    """Twelve rows."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[int, dict[str, Any]] = {
            n * 7 + 205: {
                "id": n * 7 + 205,
                "inserted_at": f"2026-03-{n + 1:02}T11:12:13.4567+00:00",
                "prompt": prompt,
                "credits": n % 6 + 1,
                "status": "open",
            }
            for n, prompt in enumerate(PROMPTS)
        }
        self.users: dict[str, str] = {}
        self.claims: dict[str, tuple[int, str]] = {}

    def texts(self) -> dict[str, str]:
        return {str(key): row["prompt"] for key, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, {"code": "NOT_FOUND", "message": "Function not found"})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        user, token = uuid(), f"sb_{secrets.token_urlsafe(30)}"
        self.users[token] = user
        return Response(200, {"agent_id": user, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        rows = [row for row in self.rows.values() if row["status"] == "open"]
        limit = request.query.get("limit", "")
        page = rows[: int(limit)] if limit.isdigit() else rows
        span = f"0-{len(page) - 1}" if page else "*"
        return Response(200, page, {"Content-Range": f"{span}/*"})

    marketplace = tasks

    def rpc(self, request: Request, action: str) -> Response:
        """Call a function of the database."""
        if not (user := self.users.get(request.token)):
            return Response(401, {"code": 401, "message": "Invalid JWT"})
        try:
            body = request.json()
        except ValueError:
            return Response(400, {"error": "Unexpected end of JSON input"})
        if not isinstance(body, dict):
            return Response(400, {"error": "body must be an object"})
        try:
            args = resolve(action, body)
            return Response(
                200,
                {
                    "claim": self.on_claim,
                    "submit": self.on_submit,
                    "complete": self.on_complete,
                }[action](args, user),
            )
        except PgError as no:
            return Response(400, no.body)

    def on_claim(self, args: dict[str, Any], user: str) -> Any:
        row = self.rows.get(args["p_task"])
        if row is None:
            raise PgError("P0001", "task does not exist")
        if row["status"] != "open":
            raise PgError("P0001", "task is already claimed")
        row["status"] = "claimed"
        claim = uuid()
        self.claims[claim] = (row["id"], user)
        self.book.claimed(str(row["id"]))
        return [{"claim": claim, "task": row["id"], "status": "claimed"}]

    def held(self, args: dict[str, Any], user: str) -> dict[str, Any]:
        task, owner = self.claims.get(args["p_claim"], (0, ""))
        if owner != user:
            raise PgError("P0001", "claim does not exist")
        return self.rows[task]

    def on_submit(self, args: dict[str, Any], user: str) -> Any:
        row = self.held(args, user)
        if row["status"] != "claimed":
            raise PgError("P0001", f"task is {row['status']}")
        if args["p_answer"] != row["prompt"].upper():
            raise PgError("P0001", "answer rejected: it is not correct")
        row["status"] = "submitted"
        return [{"task": row["id"], "status": "submitted"}]

    def on_complete(self, args: dict[str, Any], user: str) -> Any:
        row = self.held(args, user)
        if row["status"] != "submitted":
            raise PgError("P0001", f"task is {row['status']}")
        row["status"] = "completed"
        self.book.pay(str(row["id"]), row["credits"])
        return [{"task": row["id"], "status": "completed", "credits": row["credits"]}]

    def claim(self, request: Request) -> Response:
        return self.rpc(request, "claim")

    def submit(self, request: Request) -> Response:
        return self.rpc(request, "submit")

    def complete(self, request: Request) -> Response:
        return self.rpc(request, "complete")
