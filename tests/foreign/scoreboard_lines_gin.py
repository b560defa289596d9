"""Lines for stadium scoreboards, from a Go service: Gin, encoding/json, validator v10.

ShouldBindJSON's error goes out as it is, so a refusal names the Go struct and its fields
("Key: 'LeaseRequest.LineID' Error:Field validation for 'LineID' failed on the 'required'
tag"), while the bodies are in snake case. Leases run out. Completing wants an
Idempotency-Key, and answers the same key with the same answer.
"""

import re
import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_LINES = [
    (70011, "North bowl", "night", "welcome to the autumn cup", 1200),
    (70012, "North bowl", "day", "lost child at gate four", 800),
    (70015, "Velodrome", "night", "two laps to go, riders", 2200),
    (70016, "Velodrome", "day", "please keep off the banking", 700),
    (70020, "Ice hall", "night", "power play: blue corner", 1900),
    (70021, "Ice hall", "day", "public skating from noon", 600),
    (70024, "Lido", "day", "water is nineteen degrees", 500),
    (70027, "Speedway", "night", "rerun of heat seven", 1600),
    (70028, "Speedway", "night", "pit lane closes at ten", 1100),
    (70033, "Bowling green", "day", "no heels beyond the rope", 400),
    (70034, "Bowling green", "day", "tea is served in the pavilion", 900),
]
_PAGE = 5
_LEASE_SECONDS = 120
_AT_ONCE = 4
_COLUMNS = 64
# Go field, JSON name, Go type, validator tags.
_LEASE = (
    ("LineID", "line_id", "int64", ("required", "gt=0")),
    ("Shift", "shift", "string", ("required", "oneof=day night")),
)
_RENDER = (
    ("LeaseToken", "lease_token", "string", ("required", "len=24")),
    (
        "Rows",
        "rows",
        "[]string",
        ("required", "min=1", f"dive,required,max={_COLUMNS}"),
    ),
)
_CLOSE = (
    ("LeaseToken", "lease_token", "string", ("required", "len=24")),
    ("Revision", "revision", "int", ("required",)),
)
_LITERALS = {dict: "object", list: "array", str: "string", bool: "bool"}


class _Abort(Exception):  # noqa: N818
    """c.AbortWithStatusJSON(status, gin.H{"error": ...})."""

    def __init__(self, status: int, error: str, headers: dict[str, str] | None = None):
        super().__init__(error)
        kind = {"Content-Type": "application/json; charset=utf-8"}
        self.response = Response(status, {"error": error}, kind | (headers or {}))


def _literal(value: Any) -> str:
    if isinstance(value, float) or (isinstance(value, int) and abs(value) >= 2**63):
        return f"number {value}"
    return _LITERALS.get(type(value), "number")


def _fits(kind: str, value: Any) -> bool:
    if kind == "string":
        return isinstance(value, str)
    if kind == "[]string":
        return isinstance(value, list)
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63


def _failed(struct: str, name: str, tag: str) -> str:
    return (
        f"Key: '{struct}.{name}' Error:Field validation for '{name}' "
        f"failed on the '{tag}' tag"
    )


def _first_failure(
    struct: str, name: str, value: Any, tags: tuple[str, ...]
) -> list[str]:
    """Return what validator v10 says of one field: its first failing tag, or its items'."""
    for tag in tags:
        word, _, given = tag.partition("=")
        if word == "required" and value in (0, "", None):
            return [_failed(struct, name, word)]
        if word == "gt" and value <= int(given):
            return [_failed(struct, name, word)]
        if word == "oneof" and value not in given.split():
            return [_failed(struct, name, word)]
        if (word == "len" and len(value) != int(given)) or (
            word == "min" and len(value) < int(given)
        ):
            return [_failed(struct, name, word)]
        if tag.startswith("dive"):
            bad = []
            for at, item in enumerate(value):
                if not item:
                    bad.append(_failed(struct, f"{name}[{at}]", "required"))
                elif len(item) > _COLUMNS:
                    bad.append(_failed(struct, f"{name}[{at}]", "max"))
            return bad
    return []


def _bind(request: Request, struct: str, fields: Any) -> dict[str, Any]:
    """Decode into a struct as encoding/json does, then validate it."""
    if not request.raw.strip():
        raise _Abort(400, "EOF")
    try:
        body = request.json()
    except ValueError as error:
        at = getattr(error, "pos", 0)
        text = request.raw.decode(errors="replace")
        if at >= len(text.rstrip()):
            raise _Abort(400, "unexpected EOF") from None
        words = f"invalid character '{text[at]}' looking for beginning of value"
        raise _Abort(400, words) from None
    if body is None:
        body = {}
    if not isinstance(body, dict):
        raise _Abort(
            400,
            f"json: cannot unmarshal {_literal(body)} into Go value of type api.{struct}",
        )
    found: dict[str, Any] = {
        json_name: {"string": "", "[]string": None}.get(kind, 0)
        for _, json_name, kind, _ in fields
    }
    kinds = {json_name: kind for _, json_name, kind, _ in fields}
    error = ""  # type: ignore[misc]
    for key, value in body.items():
        name = key.lower()  # encoding/json matches without case
        if name not in kinds or value is None:
            continue
        kind, bad = kinds[name], value
        good = _fits(kind, value)
        if good and kind == "[]string":
            odd = [v for v in value if not isinstance(v, str) and v is not None]
            value = ["" if v is None else v for v in value]
            if odd:
                good, kind, bad = False, "string", odd[0]
        if good:
            found[name] = value
        else:  # it goes on, and reports the first
            error = error or (  # type: ignore[misc]
                f"json: cannot unmarshal {_literal(bad)} into Go struct field "
                f"{struct}.{name} of type {kind}"
            )
    if error:  # type: ignore[misc]
        raise _Abort(400, error)  # type: ignore[misc]
    failures: list[str] = []
    for name, json_name, _, tags in fields:
        failures += _first_failure(struct, name, found[json_name], tags)
    if failures:
        raise _Abort(400, "\n".join(failures))
    return found


class ScoreboardLines(Backend):
    """Lease a line for its shift, send its rows, close it at the revision it got."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.leases: dict[str, dict[str, Any]] = {}
        self.replies: dict[tuple[str, str], tuple[bytes, Response]] = {}
        self.lines = {
            number: {
                "id": number,
                "venue": venue,
                "shift": shift,
                "text": text,
                "render": "UPPERCASE",
                "columns": _COLUMNS,
                "price": {"minor_units": minor, "exponent": 2, "currency": "CRD"},
                "status": "available",
                "revision": 1,
            }
            for number, venue, shift, text, minor in _LINES
        }

    def texts(self) -> dict[str, str]:
        return {str(number): line["text"] for number, line in self.lines.items()}  # type: ignore[misc]

    def missing(self, request: Request) -> Response:
        return Response(404, "404 page not found")

    def _run(self, handler: Any, request: Request) -> Response:
        try:
            self._expire()
            if request.token not in self.agents:
                words = (
                    "invalid token"
                    if request.token
                    else "authorization header required"
                )
                raise _Abort(401, words)
            answer: Response = handler(request, self.agents[request.token])
        except _Abort as abort:
            return abort.response
        answer.headers.setdefault("Content-Type", "application/json; charset=utf-8")
        return answer

    def _expire(self) -> None:
        for lease in self.leases.values():
            if lease["state"] == "active" and lease["until"] <= time.monotonic():
                lease["state"] = "expired"
                lease["line"]["status"] = "available"
                self.book.held.discard(str(lease["line"]["id"]))

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(32)
        agent = {"agent_id": f"ag-{secrets.token_hex(8)}", "credits": 100}
        self.agents[token] = agent
        return Response(200, {**agent, "access_token": token})

    def _page(self, request: Request) -> Response:
        limit = request.query.get("limit", str(_PAGE))
        if not re.fullmatch(r"[+-]?\d+", limit):
            words = f'strconv.ParseInt: parsing "{limit}": invalid syntax'
            return _Abort(400, words).response
        cursor = request.query.get("cursor", "0")
        if not cursor.isdecimal():
            return _Abort(400, "invalid cursor").response
        size = max(1, min(int(limit), _PAGE))
        every = [
            line
            for number, line in self.lines.items()
            if line["status"] == "available" and number > int(cursor)
        ]
        shown = every[:size]
        more = len(every) > size
        meta = {
            "count": len(shown),
            "has_more": more,
            "next_cursor": str(shown[-1]["id"]) if more else "",
        }
        return Response(200, {"data": shown, "meta": meta})

    def marketplace(self, request: Request) -> Response:
        self._expire()
        return self._page(request)

    def tasks(self, request: Request) -> Response:
        return self._run(lambda r, _: self._page(r), request)

    def claim(self, request: Request) -> Response:
        return self._run(self._claim, request)

    def _claim(self, request: Request, agent: dict[str, Any]) -> Response:
        given = _bind(request, "LeaseRequest", _LEASE)
        line = self.lines.get(given["line_id"])
        if line is None:
            raise _Abort(404, f"line {given['line_id']} not found")
        if line["status"] != "available":
            raise _Abort(409, f"line {line['id']} is {line['status']}")
        if line["shift"] != given["shift"]:
            words = f"line {line['id']} runs in the {line['shift']} shift"
            raise _Abort(422, f"{words}, not in the {given['shift']} shift")
        active = [
            x
            for x in self.leases.values()
            if x["agent"] is agent and x["state"] in ("active", "rendered")
        ]
        if len(active) >= _AT_ONCE:
            raise _Abort(429, f"at most {_AT_ONCE} leases per agent; close one first")
        line["status"] = "leased"
        self.book.claimed(str(line["id"]))
        token = secrets.token_hex(12)
        self.leases[token] = {
            "agent": agent,
            "line": line,
            "state": "active",
            "until": time.monotonic() + _LEASE_SECONDS,
        }
        lease = {
            "lease_token": token,
            "line_id": line["id"],
            "expires_in": _LEASE_SECONDS,
        }
        return Response(200, {"data": lease})

    def _lease(self, token: str, agent: dict[str, Any]) -> dict[str, Any]:
        lease = self.leases.get(token)
        if lease is None:
            raise _Abort(404, "lease not found")
        if lease["agent"] is not agent:
            raise _Abort(403, "lease is held by another agent")
        if lease["state"] == "expired":
            raise _Abort(410, "lease expired")
        return lease

    def submit(self, request: Request) -> Response:
        return self._run(self._submit, request)

    def _submit(self, request: Request, agent: dict[str, Any]) -> Response:
        given = _bind(request, "RenderRequest", _RENDER)
        lease = self._lease(given["lease_token"], agent)
        if lease["state"] != "active":
            raise _Abort(409, f"lease is {lease['state']}, want active")
        line = lease["line"]
        if " ".join(row.strip() for row in given["rows"]) != line["text"].upper():
            raise _Abort(422, "rows do not spell the text of the line in UPPERCASE")
        lease["state"] = line["status"] = "rendered"
        line["revision"] += 1
        shown = {
            "line_id": line["id"],
            "status": "rendered",
            "rows": given["rows"],
            "revision": line["revision"],
        }
        return Response(200, {"data": shown})

    def complete(self, request: Request) -> Response:
        return self._run(self._complete, request)

    def _complete(self, request: Request, agent: dict[str, Any]) -> Response:
        key = (request.headers.get("Idempotency-Key") or "").strip()
        if not key:
            raise _Abort(400, "Idempotency-Key header is required")
        if known := self.replies.get((agent["agent_id"], key)):
            if known[0] != request.raw:
                words = "Idempotency-Key was already used with a different body"
                raise _Abort(422, words)
            headers = {**known[1].headers, "Idempotent-Replayed": "true"}
            return Response(known[1].status, known[1].body, headers)
        given = _bind(request, "CloseRequest", _CLOSE)
        lease = self._lease(given["lease_token"], agent)
        if lease["state"] != "rendered":
            raise _Abort(409, f"lease is {lease['state']}, want rendered")
        line = lease["line"]
        if given["revision"] != line["revision"]:
            words = (
                f"revision mismatch: have {line['revision']}, got {given['revision']}"
            )
            raise _Abort(409, words)
        lease["state"] = line["status"] = "closed"
        paid = line["price"]["minor_units"] // 100
        self.book.pay(str(line["id"]), paid)
        agent["credits"] += paid
        answer = Response(
            200,
            {
                "data": {
                    "line_id": line["id"],
                    "status": "closed",
                    "paid": line["price"],
                    "credits": agent["credits"],
                }
            },
        )
        self.replies[agent["agent_id"], key] = (request.raw, answer)
        return answer
