"""A Supabase team: Deno edge functions over Postgres tables.

The claim is an insert of the body as it came, so PostgREST and Postgres answer one fault at
a time; the submission is checked by zod, every fault at once; completing is an rpc with the
body as its arguments, and only there is the result looked at and paid.
"""

import json
import random
import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from tests.foreign.backend import Backend, Request, Response

_ROWS = [
    ("Caps for a tram destination", "harbour square via old town", 12, "solo"),
    ("Caps for a tote bag", "never trust an empty kettle", 9, "solo"),
    ("Caps for a road works board", "single lane for the next two miles", 14, "pool"),
    ("Caps for a quiz title", "rivers that changed their mind", 10, "solo"),
    ("Caps for a parcel sticker", "contents may hum slightly", 7, "solo"),
    ("Caps for a theatre bill", "an evening with three accordions", 19, "pool"),
    ("Caps for a seed packet", "sow after the last frost", 6, "solo"),
    ("Caps for a garage door", "keep clear, van leaves at five", 8, "solo"),
    ("Caps for a league table", "promotion and relegation, week 30", 11, "solo"),
    ("Caps for a trail marker", "viewpoint 400 m, steep", 13, "pool"),
    ("Caps for a tin of tea", "smoked over pine wood", 15, "solo"),
    ("Caps for a museum floor", "follow the blue line to the whale", 16, "solo"),
]

_RPC = ("p_agent_id", "p_claim_id", "p_result_id")
_CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "authorization, x-client-info, apikey, content-type",
    "Server": "cloudflare",
    "X-Served-By": "supabase-edge-runtime",
}


class _FailedError(Exception):
    def __init__(self, status: int, body: Any) -> None:
        self.status, self.body = status, body


def _said(message: str, status: int = 400) -> _FailedError:
    """`return json({ error: "..." }, status)`, written by hand."""
    return _FailedError(status, {"error": message})


def _sql(
    code: str, message: str, details: Any = None, hint: Any = None
) -> _FailedError:
    """`if (error) return json({ error }, 400)`: PostgREST's own object."""
    return _FailedError(
        400,
        {"error": {"code": code, "details": details, "hint": hint, "message": message}},
    )


def _now() -> datetime:
    return datetime.now(UTC)


def _text(v: Any) -> str:
    """What ->> makes of a JSON value that JavaScript has written again (31.0 is 31)."""
    if isinstance(v, float) and v.is_integer():
        v = int(v)
    return v if isinstance(v, str) else json.dumps(v, separators=(",", ":"))


def _cast(kind: str, v: Any) -> Any:
    if v is None:
        return None
    shown = _text(v)
    if kind == "bigint":
        if not re.fullmatch(r"\s*[+-]?\d+\s*", shown):
            raise _sql("22P02", f'invalid input syntax for type bigint: "{shown}"')
        if abs(int(shown)) >= 2**63:
            raise _sql("22003", f'value "{shown}" is out of range for type bigint')
        return int(shown)
    if kind == "uuid":
        try:
            return str(uuid.UUID(shown))
        except ValueError:
            raise _sql(
                "22P02", f'invalid input syntax for type uuid: "{shown}"'
            ) from None
    if kind == "claim_mode" and shown not in ("solo", "pool"):
        raise _sql("22P02", f'invalid input value for enum claim_mode: "{shown}"')
    return shown


# --- zod 3 -----------------------------------------------------------------------------


def _typename(v: Any) -> str:
    names = {
        bool: "boolean",
        str: "string",
        int: "number",
        float: "number",
        list: "array",
    }
    return "null" if v is None else names.get(type(v), "object")


class _Zod:
    """A schema: an object with keys, or a leaf of one kind."""

    def __init__(self, kind: str, keys: Any = None, options: Any = None) -> None:
        self.kind, self.keys, self.options = kind, keys or {}, options or []

    def issues(
        self, v: Any, path: list[Any], *, there: bool = True
    ) -> list[dict[str, Any]]:
        kind = {"uuid": "string", "int": "number", "enum": "string"}.get(
            self.kind, self.kind
        )
        got = _typename(v) if there else "undefined"
        if got != kind:
            if self.kind == "enum":
                kind = " | ".join(f"'{o}'" for o in self.options)
                head = {"expected": kind, "received": got, "code": "invalid_type"}
            else:
                head = {"code": "invalid_type", "expected": kind, "received": got}
            text = "Required" if not there else f"Expected {kind}, received {got}"
            return [{**head, "path": path, "message": text}]
        return cast("list[dict[str, Any]]", getattr(self, "_" + self.kind)(v, path))

    def _object(self, v: Any, path: list[Any]) -> list[dict[str, Any]]:
        found = []
        for k, schema in self.keys.items():
            found += schema.issues(v.get(k), [*path, k], there=k in v)
        extra = [k for k in v if k not in self.keys]
        if extra:
            found.append(
                {
                    "code": "unrecognized_keys",
                    "keys": extra,
                    "path": path,
                    "message": "Unrecognized key(s) in object: "
                    + ", ".join(f"'{k}'" for k in extra),
                }
            )
        return found

    def _uuid(self, v: Any, path: list[Any]) -> list[dict[str, Any]]:
        if re.fullmatch(
            r"(?i)[0-9a-f]{8}\b-[0-9a-f]{4}\b(-[0-9a-f]{4}\b){2}-[0-9a-f]{12}", v
        ):
            return []
        head = {
            "validation": "uuid",
            "code": "invalid_string",
            "message": "Invalid uuid",
        }
        return [{**head, "path": path}]

    def _string(self, v: Any, path: list[Any]) -> list[dict[str, Any]]:
        return [] if v else [self._small(1, "string", path)]

    def _int(self, v: Any, path: list[Any]) -> list[dict[str, Any]]:
        found = []
        if not float(v).is_integer():
            found.append(
                {
                    "code": "invalid_type",
                    "expected": "integer",
                    "received": "float",
                    "message": "Expected integer, received float",
                    "path": path,
                }
            )
        if v < 0:
            found.append(self._small(0, "number", path))
        return found

    def _enum(self, v: Any, path: list[Any]) -> list[dict[str, Any]]:
        if v in self.options:
            return []
        wanted = " | ".join(f"'{o}'" for o in self.options)
        return [
            {
                "received": v,
                "code": "invalid_enum_value",
                "options": self.options,
                "path": path,
                "message": f"Invalid enum value. Expected {wanted}, received '{v}'",
            }
        ]

    @staticmethod
    def _small(least: int, kind: str, path: list[Any]) -> dict[str, Any]:
        return {
            "code": "too_small",
            "minimum": least,
            "type": kind,
            "inclusive": True,
            "exact": False,
            "message": "String must contain at least 1 character(s)"
            if kind == "string"
            else f"Number must be greater than or equal to {least}",
            "path": path,
        }


_SUBMISSION = _Zod(
    "object",
    {
        "claim_id": _Zod("uuid"),
        "result": _Zod(
            "object",
            {
                "type": _Zod("enum", options=["text", "json"]),
                "value": _Zod("string"),
                "meta": _Zod("object", {"duration_ms": _Zod("int")}),
            },
        ),
    },
)


class SupabaseEdge(Backend):
    """Task market of a team that has only Supabase."""

    def __init__(self) -> None:
        super().__init__()
        self._rng = random.Random(5)  # noqa: S311 - no secret
        self._agents: dict[str, dict[str, Any]] = {}
        self._tasks: dict[int, dict[str, Any]] = {}
        self._claims: dict[str, dict[str, Any]] = {}
        self._results: dict[int, dict[str, Any]] = {}
        start = datetime(2025, 3, 1, 10, 0, 0, 481516, UTC)
        for n, (title, body, credits_, mode) in enumerate(_ROWS):
            self._tasks[n + 31] = {
                "id": n + 31,
                "title": title,
                "instructions": "Return the body in upper case as type text. No other change.",
                "body": body,
                "claim_mode": mode,
                "reward_credits": credits_,
                "status": "open",
                "created_at": (start + timedelta(minutes=37 * n)).isoformat(),
                "requester": {"handle": "signwriters", "verified": True},
            }
        self._gone = 35  # another agent holds it, the listing lags behind

    def texts(self) -> dict[str, str]:
        return {str(k): t["body"] for k, t in self._tasks.items() if k != self._gone}

    def _uuid(self) -> str:
        return str(uuid.UUID(int=self._rng.getrandbits(128), version=4))

    # --- edge runtime ---

    def _json(self, status: int, body: Any) -> Response:
        return Response(
            status,
            json.dumps(body, separators=(",", ":"), ensure_ascii=False),
            {
                **_CORS,
                "Content-Type": "application/json",
                "Sb-Request-Id": self._uuid(),
            },
        )

    def _run(self, work: Any) -> Response:
        try:
            return self._json(200, work())
        except _FailedError as e:
            return self._json(e.status, e.body)

    def missing(self, request: Request) -> Response:
        return self._json(
            404, {"code": "NOT_FOUND", "message": "Requested function was not found"}
        )

    def _agent(self, request: Request) -> dict[str, Any]:
        if not request.headers.get("Authorization"):
            raise _said("Missing authorization header", 401)
        if request.token not in self._agents:
            raise _said("Invalid or expired access token", 401)
        return self._agents[request.token]

    def _body(self, request: Request) -> Any:
        """await req.json(), whatever the content type says; the catch answers 500."""
        text = request.raw.decode(errors="replace")
        try:
            return json.loads(text)
        except ValueError as e:
            at = getattr(e, "pos", 0)
            if at >= len(text.rstrip()):
                raise _said("Unexpected end of JSON input", 500) from None
            if text[at] != '"' and text.lstrip()[:1] == "{":
                raise _said(
                    f"Expected property name or '}}' in JSON at position {at} "
                    f"(line 1 column {at + 1})",
                    500,
                ) from None
            raise _said(
                f"Unexpected token '{text[at]}', \"{text[:10]}\"... is not valid JSON",
                500,
            ) from None

    @staticmethod
    def _spread(body: Any) -> dict[str, Any]:
        """{ ...body } of anything."""
        if isinstance(body, dict):
            return body
        return (
            {str(i): v for i, v in enumerate(body)}
            if isinstance(body, (list, str))
            else {}
        )

    # --- functions ---

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = {"id": self._uuid(), "credits": 100}
        token = f"agt_{self._rng.getrandbits(192):048x}"
        self._agents[token] = agent
        return self._json(
            200,
            {
                "success": True,
                "agent_id": agent["id"],
                "access_token": token,
                "credits": 100,
                "created_at": _now().isoformat(),
            },
        )

    def tasks(self, request: Request) -> Response:
        try:
            limit = min(max(int(request.query.get("limit", "20")), 1), 100)
        except ValueError:
            limit = 20
        rows = [t for t in self._tasks.values() if t["status"] == "open"][:limit]
        return self._json(200, {"success": True, "tasks": rows, "count": len(rows)})

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        types = {
            "id": "uuid",
            "task_id": "bigint",
            "agent_id": "uuid",
            "claim_mode": "claim_mode",
            "note": "text",
            "status": "text",
            "created_at": "text",
        }

        def work() -> Any:
            agent = self._agent(request)
            given = {**self._spread(self._body(request)), "agent_id": agent["id"]}
            for name in sorted(given):
                if name not in types:
                    raise _sql(
                        "PGRST204",
                        f"Could not find the '{name}' column of 'task_claims' "
                        "in the schema cache",
                    )
            row: dict[str, Any] = {"id": self._uuid(), **dict.fromkeys(list(types)[1:])}
            row["status"], row["created_at"] = "active", _now().isoformat()
            row.update({k: _cast(types[k], given[k]) for k in sorted(given)})
            task = self._tasks.get(row["task_id"] or 0)
            if task and row["claim_mode"] and row["claim_mode"] != task["claim_mode"]:
                raise _sql(
                    "P0001",
                    f"claim_mode {row['claim_mode']} does not match task {task['id']} "
                    f"({task['claim_mode']})",
                )
            failing = ", ".join("null" if v is None else str(v) for v in row.values())
            failing = re.sub(r"(\d)T(\d\d:[\d:.]+\+00):00", r"\1 \2", failing)
            failing = f"Failing row contains ({failing})."
            for name, value in row.items():
                if value is None and name != "note":
                    raise _sql(
                        "23502",
                        f'null value in column "{name}" of relation "task_claims" '
                        "violates not-null constraint",
                        failing,
                    )
            if row["status"] != "active":
                raise _sql(
                    "23514",
                    'new row for relation "task_claims" violates check constraint '
                    '"task_claims_status_check"',
                    failing,
                )
            key = f"Key (task_id)=({row['task_id']})"
            if task is not None and (
                task["id"] == self._gone or task["status"] != "open"
            ):
                raise _sql(
                    "23505",
                    'duplicate key value violates unique constraint "task_claims_task_id_key"',
                    f"{key} already exists.",
                )
            if task is None:
                raise _sql(
                    "23503",
                    'insert or update on table "task_claims" violates foreign key constraint '
                    '"task_claims_task_id_fkey"',
                    f'{key} is not present in table "tasks".',
                )
            task["status"] = "claimed"
            self._claims[row["id"]] = row
            self.book.claimed(str(task["id"]))
            return {"success": True, "claim": {**row, "task": task}}

        return self._run(work)

    def submit(self, request: Request) -> Response:
        def work() -> Any:
            agent = self._agent(request)
            body = self._body(request)
            issues = _SUBMISSION.issues(body, [])
            if issues:
                raise _FailedError(
                    400, {"error": "Invalid request body", "issues": issues}
                )
            claim = self._claims.get(body["claim_id"].lower())
            if claim is None or claim["agent_id"] != agent["id"]:
                raise _sql(
                    "PGRST116",
                    "Cannot coerce the result to a single JSON object",
                    "The result contains 0 rows",
                )
            if claim["status"] != "active":
                raise _said(f"Claim is {claim['status']}", 409)
            version = 1 + sum(
                r["claim_id"] == claim["id"] for r in self._results.values()
            )
            row = {
                "id": 5001 + len(self._results),
                "claim_id": claim["id"],
                "type": body["result"]["type"],
                "value": body["result"]["value"],
                "version": version,
                "meta": body["result"]["meta"],
                "review_status": "pending",
                "created_at": _now().isoformat(),
            }
            self._results[row["id"]] = row
            return {"success": True, "result": row}

        return self._run(work)

    def complete(self, request: Request) -> Response:
        def work() -> Any:
            agent = self._agent(request)
            given = {**self._spread(self._body(request)), "p_agent_id": agent["id"]}
            names = ", ".join(sorted(given))
            if set(given) != set(_RPC):
                word = "parameters" if len(given) > 1 else "parameter"
                raise _sql(
                    "PGRST202",
                    f"Could not find the function public.complete_claim({names}) "
                    "in the schema cache",
                    f"Searched for the function public.complete_claim with {word} {names} or "
                    "with a single unnamed json/jsonb parameter, but no matches were found in "
                    "the schema cache.",
                    "Perhaps you meant to call the function "
                    f"public.complete_claim({', '.join(_RPC)})",
                )
            claim = self._claims.get(_cast("uuid", given["p_claim_id"]) or "")
            result = self._results.get(_cast("bigint", given["p_result_id"]) or 0)
            if claim is None or claim["agent_id"] != agent["id"]:
                raise _sql("P0002", "claim not found")
            if result is None or result["claim_id"] != claim["id"]:
                raise _sql("P0002", f"result not found for claim {claim['id']}")
            if claim["status"] != "active":
                raise _sql("P0001", f"claim is already {claim['status']}")
            task = self._tasks[claim["task_id"]]
            if (result["type"], result["value"]) != ("text", task["body"].upper()):
                # The exception rolls back: the result stays pending.
                raise _sql(
                    "P0001",
                    f"result {result['id']} rejected: value is not upper(body)",
                    None,
                    "Submit a new result of type text for this claim.",
                )
            result["review_status"], claim["status"], task["status"] = (
                "approved",
                "done",
                "done",
            )
            agent["credits"] += task["reward_credits"]
            self.book.pay(str(task["id"]), task["reward_credits"])
            return {
                "success": True,
                "data": {
                    "claim_id": claim["id"],
                    "claim_status": "done",
                    "credits_awarded": task["reward_credits"],
                    "balance": agent["credits"],
                },
            }

        return self._run(work)
