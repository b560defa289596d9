"""A start-up's service in Rust on axum: serde, the validator crate, an AppError enum."""
# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import re
import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_WORK = [
    ("ticker", "copper closes two points higher", 8),
    ("caption", "a heron waits by the weir", 13),
    ("callout", "mind the gap between train and platform", 19),
    ("title", "in which nothing goes to plan", 5),
    ("sticker", "my other crate is a box", 16),
]
_OPEN_LEASES = 3
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class _AppError(Exception):
    """The service's own error enum; a code, a sentence, and perhaps more."""

    def __init__(self, status: int, code: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.answer = Response(
            status, {"error": {"code": code, "message": message, **more}}
        )


def _unexpected(value: Any) -> str:
    words = {
        bool: "boolean `{}`",
        int: "integer `{}`",
        float: "floating point `{}`",
        str: "string {}",
        dict: "map",
        list: "sequence",
        type(None): "null",
    }
    return words[type(value)].format(json.dumps(value, ensure_ascii=False))


class _Json:
    """The Json extractor for one struct with deny_unknown_fields."""

    def __init__(self, name: str, **fields: str) -> None:
        self.name = name
        self.fields = {key.replace("_", "-"): kind for key, kind in fields.items()}

    def __call__(self, request: Request) -> dict[str, Any]:
        if request.headers.get_content_type() != "application/json":
            why = "Expected request with `Content-Type: application/json`"
            raise _AppError(415, "unsupported_media_type", why)
        self.text = request.raw.decode(errors="replace")
        try:
            value = json.loads(self.text)
        except ValueError as error:
            at = getattr(error, "pos", 0)
            why = (
                "expected value"
                if self.text[at:].strip()
                else "EOF while parsing a value"
            )
            raise _AppError(
                400,
                "bad_json",
                "Failed to parse the request body as JSON: "
                f"{why} at {self._at(at + 1)}",
            ) from None
        if not isinstance(value, dict):
            self._fail(
                "", f"invalid type: {_unexpected(value)}, expected struct {self.name}"
            )
        for key, given in value.items():
            if key in self.fields:
                self._check(key, given)
            elif self.fields:
                names = [f"`{name}`" for name in self.fields]
                known = (
                    " or ".join(names)
                    if len(names) < 3
                    else "one of " + ", ".join(names)
                )
                self._fail(key, f"unknown field `{key}`, expected {known}", name=True)
        for key in [key for key in self.fields if key not in value]:
            self._fail("", f"missing field `{key}`")
        return value

    def _at(self, end: int) -> str:
        lines = self.text[:end].encode().split(b"\n")
        return f"line {len(lines)} column {len(lines[-1])}"

    def _fail(self, key: str, why: str, name: bool = False) -> None:  # noqa: FBT001, FBT002
        end, quoted = len(self.text.rstrip()), re.escape(json.dumps(key))
        if found := re.search(rf"({quoted})\s*:\s*", self.text):
            end = json.JSONDecoder().raw_decode(
                self.text, found.start(1) if name else found.end()
            )[1]
        raise _AppError(
            422,
            "unprocessable_body",
            "Failed to deserialize the JSON body into the "
            f"target type: {key and key + ': '}{why} at {self._at(end)}",
        )

    def _check(self, key: str, value: Any) -> None:
        kind, wrong = self.fields[key], f"invalid type: {_unexpected(value)}, expected "
        if kind == "u32":
            if type(value) is not int:
                self._fail(key, wrong + "u32")
            if not 0 <= value < 2**32:
                self._fail(key, f"invalid value: integer `{value}`, expected u32")
        elif kind == "outcome":
            if not isinstance(value, dict):
                self._fail(key, wrong + "internally tagged enum Outcome")
            tag = value.get("kind")
            if tag not in ("text", "link"):
                self._fail(
                    key,
                    f"unknown variant `{tag}`, expected `text` or `link`"
                    if "kind" in value
                    else "missing field `kind`",
                )
            if (inner := "body" if tag == "text" else "href") not in value:
                self._fail(key, f"missing field `{inner}`")
            if not isinstance(value[inner], str):
                self._fail(
                    key, f"invalid type: {_unexpected(value[inner])}, expected a string"
                )
        elif not isinstance(value, str):
            self._fail(key, wrong + ("a UUID string" if kind == "uuid" else "a string"))
        elif kind == "uuid" and not _UUID.fullmatch(value):
            odd = re.search(r"[^0-9a-fA-F-]", value)
            self._fail(
                key,
                "UUID parsing failed: "
                + (
                    "invalid character: expected an optional prefix of `urn:uuid:` followed by "
                    f"[0-9a-fA-F-], found `{odd[0]}` at {odd.start() + 1}"
                    if odd
                    else f"invalid length: expected length 32 for simple format, found {len(value)}"
                ),
            )


def _validate(**broken: dict[str, Any] | None) -> None:
    """Answer as ValidationErrors serializes: the code and the parameters of each field."""
    fields = {
        name.replace("_", "-"): [
            {"code": rule.pop("code"), "message": None, "params": rule}
        ]
        for name, rule in broken.items()
        if rule
    }
    if fields:
        raise _AppError(422, "validation", "input validation failed", fields=fields)


def _range(value: int, low: int, high: int) -> dict[str, Any] | None:
    rule = {"code": "range", "min": low, "max": high, "value": value}
    return None if low <= value <= high else rule


_EMPTY = _Json("NewAgent")
_CLAIM = _Json("ClaimTask", task="uuid", eta_minutes="u32")
_SUBMIT = _Json("SubmitOutcome", lease="uuid", outcome="outcome", summary="string")
_COMPLETE = _Json("CloseLease", lease="uuid")


class Ferrite(Backend):
    """Kebab case, `data` around everything, and pay at submission."""

    def __init__(self) -> None:
        super().__init__()
        self.work: dict[str, dict[str, Any]] = {}
        for label, text, bounty in _WORK:
            key = str(uuid.uuid4())
            self.work[key] = {
                "uuid": key,
                "label": label,
                "brief": "Uppercase the source-line.",
                "source-line": text,
                "bounty": f"{bounty}.00",
                "state": "open",
            }
        self.holders, self.leases = (
            dict[str, dict[str, Any]](),
            dict[str, dict[str, Any]](),
        )

    def texts(self) -> dict[str, str]:
        return {key: task["source-line"] for key, task in self.work.items()}

    def missing(self, request: Request) -> Response:
        return Response(405 if any(p == request.path for _, p in ACTIONS) else 404, "")

    def _holder(self, request: Request) -> dict[str, Any]:
        if request.token not in self.holders:
            why = "invalid" if request.token else "missing"
            raise _AppError(401, "unauthorized", f"{why} bearer token")
        return self.holders[request.token]

    def _lease(self, holder: dict[str, Any], key: str) -> dict[str, Any]:
        if (lease := self.leases.get(key.lower())) is None or lease["holder"] != holder[
            "id"
        ]:
            raise _AppError(404, "not_found", f"lease {key} not found")
        return lease

    def register(self, request: Request) -> Any:
        _EMPTY(request)
        token, key = f"fer_{secrets.token_hex(20)}", str(uuid.uuid4())
        self.holders[token] = {"id": key, "balance": 100}
        self.book.registrations += 1
        return {"agent_id": key, "access_token": token, "credits": 100}

    def tasks(self, request: Request) -> Any:
        given = request.query.get("limit", "3")
        if not given.isascii() or not given.isdigit():
            raise _AppError(400, "bad_query", "limit: invalid digit found in string")
        limit, after, keys = int(given), request.query.get("after"), list(self.work)
        _validate(limit=_range(limit, 1, 25))
        if after not in (None, *keys):
            raise _AppError(400, "bad_query", f"unknown cursor `{after}`")
        rest = keys[keys.index(after) + 1 :] if after else keys
        found = [self.work[key] for key in rest if self.work[key]["state"] == "open"]
        more = (
            f"?limit={limit}&after={found[limit - 1]['uuid']}"
            if found[limit:]
            else None
        )
        return {"data": found[:limit], "links": {"next": more and request.path + more}}

    marketplace = tasks

    def directory(self, request: Request) -> Any:
        slug, known = (
            request.query.get("slug"),
            [x["id"] for x in self.holders.values()],
        )
        return {"data": [{"uuid": key} for key in known if slug in (None, key)]}

    agents = directory

    def checkout(self, request: Request) -> Any:
        raise _AppError(503, "unavailable", "payments are not enabled")

    def post(self, request: Request) -> Any:
        self._holder(request)
        raise _AppError(403, "forbidden", "posting tasks requires a verified agent")

    def claim(self, request: Request) -> Any:
        holder, body = self._holder(request), _CLAIM(request)
        _validate(eta_minutes=_range(body["eta-minutes"], 1, 240))
        if (task := self.work.get(body["task"].lower())) is None:
            raise _AppError(404, "not_found", f"task {body['task']} not found")
        if task["state"] != "open":
            raise _AppError(409, "conflict", f"task {task['uuid']} is {task['state']}")
        mine = [
            key
            for key, lease in self.leases.items()
            if lease["holder"] == holder["id"] and lease["state"] != "closed"
        ]
        if len(mine) >= _OPEN_LEASES:
            why = f"you hold {len(mine)} of {_OPEN_LEASES} leases, complete one first"
            raise _AppError(409, "too_many_leases", why, held=mine)
        key, due, task["state"] = (
            str(uuid.uuid4()),
            timedelta(minutes=body["eta-minutes"]),
            "leased",
        )
        shown = {"lease": key, "task": task["uuid"], "state": "active"}
        self.leases[key] = {**shown, "holder": holder["id"]}
        self.book.claimed(task["uuid"])
        return {"data": {**shown, "due-at": (datetime.now(UTC) + due).isoformat()}}

    def submit(self, request: Request) -> Any:
        holder, body = self._holder(request), _SUBMIT(request)
        size = _range(len(body["summary"]), 10, 280)
        _validate(summary=size and {**size, "code": "length", "value": body["summary"]})
        lease, outcome = self._lease(holder, body["lease"]), body["outcome"]
        if lease["state"] != "active":
            raise _AppError(
                409, "conflict", f"lease {lease['lease']} is {lease['state']}"
            )
        task = self.work[lease["task"]]
        if outcome["kind"] != "text" or outcome["body"] != task["source-line"].upper():
            return Response(
                200,
                {
                    "data": {
                        "lease": lease["lease"],
                        "verdict": "rejected",
                        "paid": "0.00",
                        "reason": "outcome is not the uppercased source-line as text, try again",
                    }
                },
                refused=True,
            )
        lease["state"], task["state"], bounty = (
            "settled",
            "done",
            int(float(task["bounty"])),
        )
        holder["balance"] += bounty
        self.book.pay(task["uuid"], bounty)
        return {
            "data": {
                "lease": lease["lease"],
                "verdict": "accepted",
                "paid": task["bounty"],
                "balance": f"{holder['balance']}.00",
            }
        }

    def complete(self, request: Request) -> Any:
        lease = self._lease(self._holder(request), _COMPLETE(request)["lease"])
        if lease["state"] != "settled":
            why = (
                "has no accepted outcome" if lease["state"] == "active" else "is closed"
            )
            raise _AppError(409, "conflict", f"lease {lease['lease']} {why}")
        lease["state"] = "closed"
        return {"data": {"lease": lease["lease"], "state": "closed"}}


def _into_response(method: Callable[..., Any]) -> Callable[..., Response]:
    """Result<impl IntoResponse, AppError>: either side becomes an answer."""

    def call(self: Backend, request: Request) -> Response:
        try:
            answer = method(self, request)
        except _AppError as error:
            return error.answer
        return answer if isinstance(answer, Response) else Response(200, answer)

    return call


for _name in set(ACTIONS.values()):
    setattr(Ferrite, _name, _into_response(getattr(Ferrite, _name)))
