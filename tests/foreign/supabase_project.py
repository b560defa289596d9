"""A Supabase project: a table behind PostgREST, three RPC functions, RLS, exceptions."""
# Its author has typed it less strictly.
# mypy: ignore-errors

import base64
import json
import secrets
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from .backend import Backend, Request, Response  # noqa: TID252

# function -> its parameters and their types, as in the schema cache
_FUNCTIONS = {
    "claim_task": {"p_task_id": "uuid"},
    "submit_result": dict(  # noqa: C408
        p_claim_id="uuid", p_result="text", p_seconds_spent="integer"
    ),
    "complete_task": {"p_submission_id": "uuid", "p_task_id": "uuid"},
}
_TASKS = [
    ("5b1f0a52-6c0e-4a52-9b0e-0d6f3c1f7a01", 9, "the kettle is on the stove"),
    ("5b1f0a52-6c0e-4a52-9b0e-0d6f3c1f7a02", 40, "platform four, calling at all stops"),
    ("c7de9f3e-0c2b-4f6f-8a3d-52e6a0b1aa03", 16, "mind the gap between the boards"),
    ("c7de9f3e-0c2b-4f6f-8a3d-52e6a0b1aa04", 24, "last orders at half past ten"),
    ("e0a4d1b8-91f7-4b7c-b1c5-7f1f5e9d0b05", 11, "please return trays to the rack"),
]


def _now(minutes: int = 0) -> str:
    moment = datetime.now(UTC) + timedelta(minutes=minutes)
    return moment.isoformat(timespec="microseconds")


def _b64(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


class _PgError(Exception):
    """An error of PostgreSQL or PostgREST with the status PostgREST maps it to."""

    def __init__(self, status: int, code: str, message: str, *more: str) -> None:
        super().__init__(message)
        self.status = status
        details, hint = (*more, None, None)[:2]
        self.body = {"code": code, "details": details, "hint": hint, "message": message}


def _raise(message: str, *detail: str) -> None:
    """RAISE EXCEPTION '...' USING DETAIL = '...'."""
    raise _PgError(400, "P0001", message, *detail)


def _typed(kind: str, value: Any) -> Any:
    """Convert as json_to_record does."""
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value)
    try:
        if kind == "uuid":
            return str(uuid.UUID(text))
        if kind == "integer":
            return int(text)
    except ValueError:
        told = f'invalid input syntax for type {kind}: "{text}"'
        raise _PgError(400, "22P02", told) from None
    return text


class SupabaseProject(Backend):
    """A bare array is the listing; submit_result checks the result and pays."""

    def __init__(self) -> None:
        super().__init__()
        self._tokens: dict[str, str] = {}
        self._credits: dict[str, int] = {}
        self._rows = {
            key: {
                "id": key,
                "created_at": f"2025-04-1{number}T08:30:00.12345+00:00",
                "kind": "uppercase",
                "prompt": "Give back source_text in capital letters",
                "source_text": text,
                "reward_credits": reward,
                "status": "available",
                "claimed_by": None,
            }
            for number, (key, reward, text) in enumerate(_TASKS)
        }
        self._claims: dict[str, dict[str, Any]] = {}
        self._submissions: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {key: row["source_text"] for key, row in self._rows.items()}

    def _json(self, status: int, body: Any, **headers: str) -> Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        kind = {"Content-Type": "application/json; charset=utf-8"}
        return Response(
            status, body, {**kind, "sb-project-ref": "qxkzjvwmtrna", **named}
        )

    def _failed(self, error: _PgError) -> Response:
        more = {"WWW_Authenticate": "Bearer"} if error.status == 401 else {}
        return self._json(error.status, error.body, **more)

    def missing(self, request: Request) -> Response:
        told = "Requested function was not found"
        return self._json(404, {"code": "NOT_FOUND", "message": told})

    def _uid(self, request: Request) -> str:
        """Return auth.uid(), or "" for the anon role."""
        if request.token and request.token not in self._tokens:
            raise _PgError(401, "PGRST301", "JWSError JWSInvalidSignature")
        return self._tokens.get(request.token, "")

    def _rpc(self, request: Request, function: str) -> Response:
        try:
            uid = self._uid(request)
            if not uid:
                told = f"permission denied for function {function}"
                raise _PgError(401, "42501", told)
            arguments = self._arguments(request, function)
            return self._json(200, getattr(self, f"_{function}")(uid, **arguments))
        except _PgError as error:
            return self._failed(error)

    def _arguments(self, request: Request, function: str) -> dict[str, Any]:
        try:
            given = request.json() if request.raw.strip() else {}
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise _PgError(400, "PGRST102", "Empty or invalid json")
        wanted = _FUNCTIONS[function]
        if set(given) != set(wanted):
            names, known = ", ".join(sorted(given)), ", ".join(sorted(wanted))
            name = f"public.{function}"
            shown = f"({names})" if given else " without parameters"
            plural = "parameter" if len(given) == 1 else "parameters"
            searched = f" with {plural} {names}" if given else shown
            raise _PgError(
                404,
                "PGRST202",
                f"Could not find the function {name}{shown} in the schema cache",
                f"Searched for the function {name}{searched} or with a single unnamed "
                "json/jsonb parameter, but no matches were found in the schema cache.",
                f"Perhaps you meant to call the function {name}({known})",
            )
        return {name: _typed(kind, given[name]) for name, kind in wanted.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        uid = str(uuid.uuid4())
        claims = {"aud": "authenticated", "sub": uid, "role": "authenticated"}
        head = {"alg": "HS256", "typ": "JWT"}
        parts = [json.dumps(head).encode(), json.dumps(claims).encode()]
        token = ".".join(map(_b64, [*parts, secrets.token_bytes(32)]))
        self._tokens[token] = uid
        self._credits[uid] = 100
        made = {"agent_id": uid, "access_token": token, "credits": 100}
        return self._json(200, made)

    def tasks(self, request: Request) -> Response:
        """GET /tasks; the row-level rule shows free tasks and the agent's own."""
        limit = request.query.get("limit", "")
        try:
            uid = self._uid(request) or "anon"
            if limit.startswith("-"):
                told = "Limit should be greater than or equal to zero."
                fault = "Requested range not satisfiable"
                raise _PgError(416, "PGRST103", fault, told)
        except _PgError as error:
            return self._failed(error)
        rows = [
            row
            for row in self._rows.values()
            if row["status"] == "available" or row["claimed_by"] == uid
        ]
        start = request.query.get("offset", "")
        first = int(start) if start.isdecimal() else 0
        shown = rows[first:][: int(limit) if limit.isdecimal() else None]
        span = f"{first}-{first + len(shown) - 1}/*" if shown else "*/*"
        return self._json(200, shown, Content_Range=span)

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        return self._rpc(request, "claim_task")

    def submit(self, request: Request) -> Response:
        return self._rpc(request, "submit_result")

    def complete(self, request: Request) -> Response:
        return self._rpc(request, "complete_task")

    def _claim_task(self, uid: str, p_task_id: str | None) -> list[dict[str, Any]]:
        row = self._rows.get(p_task_id or "")
        if row is None:
            _raise("task not found", f"There is no task with id {p_task_id or 'NULL'}.")
        if row["status"] != "available":
            told = 'duplicate key value violates unique constraint "claims_task_id_key"'
            detail = f"Key (task_id)=({p_task_id}) already exists."
            raise _PgError(409, "23505", told, detail)
        row.update(status="claimed", claimed_by=uid)
        claim = {"id": str(uuid.uuid4()), "task_id": row["id"], "agent_id": uid}
        claim.update(claimed_at=_now(), expires_at=_now(60))
        self._claims[claim["id"]] = claim
        self.book.claimed(row["id"])
        return [claim]  # returns setof claims

    def _submit_result(
        self, uid: str, p_claim_id: Any, p_result: Any, p_seconds_spent: Any
    ) -> dict[str, Any]:
        for name, value in [("result", p_result), ("seconds_spent", p_seconds_spent)]:
            if value is None:
                told = f'null value in column "{name}" of relation "submissions" '
                raise _PgError(400, "23502", told + "violates not-null constraint")
        if p_seconds_spent < 1:
            told = 'new row for relation "submissions" violates check constraint '
            raise _PgError(400, "23514", told + '"submissions_seconds_spent_positive"')
        claim = self._claims.get(p_claim_id or "")
        if claim is None or claim["agent_id"] != uid:
            told = 'new row violates row-level security policy for table "submissions"'
            raise _PgError(403, "42501", told)
        row = self._rows[claim["task_id"]]
        if row["status"] != "claimed":
            _raise("claim already has an accepted submission")
        if p_result != row["source_text"].upper():
            _raise("result rejected", "It is not the source_text in capital letters.")
        row["status"] = "submitted"
        self._credits[uid] += row["reward_credits"]
        self.book.pay(row["id"], row["reward_credits"])
        made: dict[str, Any] = {"submission_id": str(uuid.uuid4()), "accepted": True}
        made.update(
            credits_awarded=row["reward_credits"], new_balance=self._credits[uid]
        )
        self._submissions[made["submission_id"]] = claim
        return made

    def _complete_task(
        self, uid: str, p_submission_id: str | None, p_task_id: str | None
    ) -> bool:
        claim = self._submissions.get(p_submission_id or "")
        if claim is None or claim["agent_id"] != uid or claim["task_id"] != p_task_id:
            _raise("no accepted submission of yours with this id for this task")
        row = self._rows[claim["task_id"]]
        if row["status"] == "done":
            _raise("task is already done")
        row["status"] = "done"
        return True
