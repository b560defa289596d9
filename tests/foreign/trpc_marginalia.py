"""Marginalia: tRPC v11 on Fastify, zod 4 inputs, superjson as the transformer.

Each contract path is an alias of one procedure. What goes in and out is superjson
(`{"json": ..., "meta": ...}`), errors too; the `message` of an input error is the printed
list of zod issues, as tRPC makes it, and their errorFormatter adds the flattened one.
"""

import json
import random
import re
from typing import Any

from tests.foreign.backend import Backend, Request, Response

NOTES = [
    ("Gloss on folio 3", "see also the lamb in the lower border", 1200),
    ("Gloss on folio 9", "a later hand has struck this out", 800),
    ("Catchword", "quorum nomina, next quire begins so", 1900),
    ("Rubric", "here ends the first book of the seasons", 700),
    ("Owner's mark", "this book belongs to the house by the mill", 1500),
    ("Flyleaf", "bought at the fair for two geese and a knife", 1100),
    ("Pen trial", "the ink is thin today and so is the soup", 600),
]
CODES = {
    "PARSE_ERROR": (-32700, 400),
    "BAD_REQUEST": (-32600, 400),
    "UNAUTHORIZED": (-32001, 401),
    "FORBIDDEN": (-32003, 403),
    "NOT_FOUND": (-32004, 404),
    "CONFLICT": (-32009, 409),
    "PRECONDITION_FAILED": (-32012, 412),
    "UNPROCESSABLE_CONTENT": (-32022, 422),
}
ABSENT: Any = object()

CUID = {"is": "cuid2"}
CLAIM = {"is": "object", "shape": {"noteId": CUID}}
SUBMIT = {
    "is": "object",
    "shape": {
        "assignmentId": CUID,
        "deliverable": {
            "is": "object",
            "shape": {
                "format": {"is": "enum", "values": ["plain", "markdown"]},
                "content": {"is": "string", "min": 1},
            },
        },
    },
}
COMPLETE = {
    "is": "object",
    "shape": {"assignmentId": CUID, "revision": {"is": "number"}},
}


def received(value: Any) -> str:
    """zod's name of what it was given."""
    if value is ABSENT:
        return "undefined"
    if value is None:
        return "null"
    for kind, name in (
        (bool, "boolean"),
        (str, "string"),
        (list, "array"),
        (dict, "object"),
    ):
        if isinstance(value, kind):
            return name
    return "number"


def zod(schema: dict[str, Any], value: Any, path: list[str]) -> list[dict[str, Any]]:
    """The issues of a value, in zod 4's words and order."""
    kind = schema["is"]
    if kind == "enum":
        if value in schema["values"]:
            return []
        options = "|".join(f'"{one}"' for one in schema["values"])
        return [
            {
                "code": "invalid_value",
                "values": schema["values"],
                "path": path,
                "message": f"Invalid option: expected one of {options}",
            }
        ]
    expected = "string" if kind == "cuid2" else kind
    if received(value) != expected:
        return [
            {
                "expected": expected,
                "code": "invalid_type",
                "path": path,
                "message": f"Invalid input: expected {expected}, received {received(value)}",
            }
        ]
    if kind == "cuid2" and not re.fullmatch(r"[0-9a-z]+", value):
        return [
            {
                "origin": "string",
                "code": "invalid_format",
                "format": "cuid2",
                "pattern": "/^[0-9a-z]+$/",
                "path": path,
                "message": "Invalid cuid2",
            }
        ]
    if kind == "string" and len(value) < schema.get("min", 0):
        return [
            {
                "origin": "string",
                "code": "too_small",
                "minimum": schema["min"],
                "inclusive": True,
                "path": path,
                "message": f"Too small: expected string to have >={schema['min']} characters",
            }
        ]
    if kind != "object":
        return []
    issues = []
    for name, inner in schema["shape"].items():
        issues += zod(inner, value.get(name, ABSENT), [*path, name])
    if extra := [name for name in value if name not in schema["shape"]]:
        listed = ", ".join(f'"{name}"' for name in extra)
        issues.append(
            {
                "code": "unrecognized_keys",
                "keys": extra,
                "path": path,
                "message": f"Unrecognized key{'s' if len(extra) > 1 else ''}: {listed}",
            }
        )
    return issues


def flatten(issues: list[dict[str, Any]]) -> dict[str, Any]:
    """z.flattenError."""
    form, fields = [], {}  # type: ignore[var-annotated]
    for issue in issues:
        if issue["path"]:
            fields.setdefault(issue["path"][0], []).append(issue["message"])
        else:
            form.append(issue["message"])
    return {"formErrors": form, "fieldErrors": fields}


class TRPCError(Exception):
    """An error with one of tRPC's codes; `more` goes beside the usual data."""

    def __init__(self, code: str, message: str = "", **more: Any) -> None:
        super().__init__(message or code)
        self.code = code
        self.more = more


class Marginalia(Backend):
    """tRPC with superjson: cuid2 ids, pay in minor units, a revision to complete with."""

    def __init__(self) -> None:
        super().__init__()
        self._dice = random.Random(4711)  # noqa: S311
        self._callers: dict[str, dict[str, Any]] = {}
        self._assignments: dict[str, dict[str, Any]] = {}
        self._notes: dict[str, dict[str, Any]] = {}
        for day, (title, text, minor) in enumerate(NOTES, 1):
            note = {
                "id": self._cuid(),
                "title": title,
                "status": "OPEN",
                "payload": {"kind": "uppercase", "text": text},
                "bounty": {"minor": minor, "scale": 2, "unit": "credit"},
                "createdAt": f"2025-10-{day:02d}T08:30:00.000Z",
            }
            self._notes[note["id"]] = note  # type: ignore[index]

    def _cuid(self) -> str:
        letters = "abcdefghijklmnopqrstuvwxyz"
        return self._dice.choice(letters) + "".join(
            self._dice.choices(letters + "0123456789", k=23)
        )

    def texts(self) -> dict[str, str]:
        return {key: note["payload"]["text"] for key, note in self._notes.items()}

    # The plain REST door of the sign-up, which has no transformer.

    def register(self, request: Request) -> Response:
        try:
            request.json()
        except ValueError:
            return self._error(
                "agent.create", TRPCError("PARSE_ERROR", bad_json(request))
            )
        self.book.registrations += 1
        caller = {"id": self._cuid(), "credits": 100}
        token = "mrg_" + self._cuid() + self._cuid()
        self._callers[token] = caller
        body = {
            "agent_id": caller["id"],
            "access_token": token,
            "credits": caller["credits"],
        }
        return Response(200, {**body, "token_type": "Bearer"})

    def tasks(self, request: Request) -> Response:
        """`z.coerce.number().int().min(1).max(50).default(20)`, then the query."""
        limit: Any = request.query.get("limit", "20")
        try:
            limit = int(limit)
        except ValueError:
            issue = {
                "expected": "number",
                "code": "invalid_type",
                "received": "NaN",
                "path": ["limit"],
                "message": "Invalid input: expected number, received NaN",
            }
            return self._error("note.list", bad_input([issue]))
        if not 1 <= limit <= 50:
            big = limit > 50
            issue = {
                "origin": "number",
                "code": "too_big" if big else "too_small",
                "maximum" if big else "minimum": 50 if big else 1,  # type: ignore[dict-item]
                "inclusive": True,  # type: ignore[dict-item]
                "path": ["limit"],
                "message": "Too big: expected number to be <=50"
                if big
                else "Too small: expected number to be >=1",
            }
            return self._error("note.list", bad_input([issue]))
        rows = list(self._notes.values())[:limit]
        return self._data({"rows": rows, "count": len(rows), "nextCursor": None})

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        return self._mutation(request, "note.claim", CLAIM, self._claim)

    def submit(self, request: Request) -> Response:
        return self._mutation(request, "note.submit", SUBMIT, self._submit)

    def complete(self, request: Request) -> Response:
        return self._mutation(request, "note.complete", COMPLETE, self._complete)

    def _mutation(self, request: Request, path: str, schema: Any, run: Any) -> Response:
        try:
            caller = self._callers.get(request.token)
            if caller is None:
                raise TRPCError("UNAUTHORIZED")
            try:
                body = request.json() if request.raw else {}
            except ValueError as error:
                raise TRPCError("PARSE_ERROR", bad_json(request)) from error
            # superjson.deserialize: what is not under "json" does not exist.
            input_ = body.get("json", ABSENT) if isinstance(body, dict) else ABSENT
            if issues := zod(schema, input_, []):
                raise bad_input(issues, undefined=input_ is ABSENT)
            return self._data(run(caller, input_))
        except TRPCError as error:
            return self._error(path, error)

    def _data(self, value: Any) -> Response:
        out: dict[str, Any] = {"json": value}
        if dates := {path: ["Date"] for path in find_dates(value, "")}:
            out["meta"] = {"values": dates}
        return Response(200, {"result": {"data": out}})

    def _error(self, path: str, error: TRPCError) -> Response:
        number, status = CODES[error.code]
        data = {"code": error.code, "httpStatus": status, "path": path, **error.more}
        shape = {"message": str(error), "code": number, "data": data}
        return Response(status, {"error": {"json": shape}})

    def _assignment(self, caller: Any, key: str) -> dict[str, Any]:
        row = self._assignments.get(key)
        if row is None:
            raise TRPCError("NOT_FOUND", f"No assignment with id {key}")
        if row["agentId"] != caller["id"]:
            raise TRPCError("FORBIDDEN", "This assignment belongs to another agent")
        return row

    def _claim(self, caller: Any, data: Any) -> Any:
        note = self._notes.get(data["noteId"])
        if note is None:
            raise TRPCError("NOT_FOUND", f"No note with id {data['noteId']}")
        if note["status"] != "OPEN":
            raise TRPCError(
                "CONFLICT", f"Note is {note['status']}, only OPEN notes can be claimed"
            )
        note["status"] = "ASSIGNED"
        row = {
            "id": self._cuid(),
            "noteId": note["id"],
            "agentId": caller["id"],
            "state": "ACTIVE",
            "revision": 0,
            "assignedAt": "2025-11-03T10:00:00.000Z",
        }
        self._assignments[row["id"]] = row
        self.book.claimed(note["id"])
        return {"assignment": dict(row)}

    def _submit(self, caller: Any, data: Any) -> Any:
        row = self._assignment(caller, data["assignmentId"])
        if row["state"] == "DONE":
            raise TRPCError("CONFLICT", "Assignment is DONE")
        text = self._notes[row["noteId"]]["payload"]["text"]
        if data["deliverable"]["content"] != text.upper():
            raise TRPCError(
                "UNPROCESSABLE_CONTENT",
                "deliverable.content did not pass the checker: expected payload.text in capitals",
            )
        row.update(state="APPROVED", revision=row["revision"] + 1)
        return {"assignment": dict(row)}

    def _complete(self, caller: Any, data: Any) -> Any:
        row = self._assignment(caller, data["assignmentId"])
        if row["state"] == "DONE":
            raise TRPCError("CONFLICT", "Assignment is DONE")
        if row["state"] != "APPROVED":
            raise TRPCError(
                "PRECONDITION_FAILED",
                f"Assignment is {row['state']}, nothing was submitted yet",
            )
        if data["revision"] != row["revision"]:
            raise TRPCError(
                "CONFLICT",
                f"Stale revision: got {data['revision']}, current is {row['revision']}",
            )
        note = self._notes[row["noteId"]]
        row["state"] = note["status"] = "DONE"
        bounty = note["bounty"]
        caller["credits"] += bounty["minor"] // 100
        self.book.pay(note["id"], bounty["minor"] // 100)
        balance = {"minor": caller["credits"] * 100, "scale": 2, "unit": "credit"}
        return {"assignment": dict(row), "payout": dict(bounty), "balance": balance}


def bad_input(issues: list[dict[str, Any]], *, undefined: bool = False) -> TRPCError:
    """The BAD_REQUEST of a ZodError, and what their errorFormatter adds."""
    more: dict[str, Any] = {"zodError": flatten(issues)}
    if undefined:
        more["hint"] = (
            'input is undefined: this router reads superjson, {"json": <input>}'
        )
    return TRPCError("BAD_REQUEST", json.dumps(issues, indent=2), **more)


def bad_json(request: Request) -> str:
    """V8's words for a body that is not JSON."""
    text = request.raw.decode(errors="replace")
    if not text.strip():
        return "Unexpected end of JSON input"
    return f"Unexpected token '{text.strip()[0]}', \"{text[:20]}\" is not valid JSON"


def find_dates(value: Any, at: str) -> list[str]:
    """The paths that superjson notes as Dates."""
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        return [
            p for key, one in pairs for p in find_dates(one, f"{at}.{key}".lstrip("."))
        ]
    stamp = isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", value)
    return [at] if stamp else []
