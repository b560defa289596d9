"""Anvil Works: a small team's Clojure service on Reitit with malli coercion.

Keys are namespaced keywords as jsonista writes them ("task/id"). A body that does not fit
gets reitit.coercion.malli's own answer; the rest is ring.util.http-response with a map.
The text is only in the claim's answer, and the accepted submission is what pays.
"""
# Its author has typed it less strictly.
# mypy: ignore-errors

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_JSON = {"Content-Type": "application/json;charset=utf-8"}
_TASKS = [
    ("Gate plate", "mind the dog and close the gate", 14),
    ("Boiler plate", "built by hand in nineteen twelve", 22),
    ("Bench plate", "for anna who loved this view", 8),
    ("Bell rim", "i call the living and mourn the dead", 40),
    ("Toolbox lid", "return to the forge when found", 11),
]
# A schema is a list of entries: key, type, and malli's properties of the type.
_CLAIM = [("task/id", "uuid", {}), ("task/version", "int", {"min": 1})]
_SUBMIT = [
    ("claim/id", "uuid", {}),
    ("result/output", "string", {"min": 1}),
    ("result/elapsed-ms", "int", {"min": 0}),
]
_COMPLETE = [
    ("claim/id", "uuid", {}),
    ("result/id", "uuid", {}),
    ("claim/comment", "string", {"min": 1, "max": 280}),
]
_QUERY = [("limit", "int", {"min": 1, "max": 50, "optional": True})]


def _form(kind: str, properties: dict[str, Any]) -> str:
    """Return a type as EDN."""
    bounds = ", ".join(f":{k} {v}" for k, v in properties.items() if k != "optional")
    return f"[:{kind} {{{bounds}}}]" if bounds else f":{kind}"


def _schema_form(schema: list[Any]) -> str:
    entries = []
    for key, kind, properties in schema:
        optional = "{:optional true} " if "optional" in properties else ""
        entries.append(f"[:{key} {optional}{_form(kind, properties)}]")
    return f"[:map {{:closed true}} {' '.join(entries)}]"


def _bounds(properties: dict[str, Any], unit: str) -> str:
    low, high = properties.get("min"), properties.get("max")
    if high is None:
        return f"should be at least {low}{unit if low != 1 else unit[:-1]}"
    return f"should be between {low} and {high}{unit}"


def _message(kind: str, properties: dict[str, Any], value: Any) -> str:
    """Return what malli.error says of the value, or "" when it fits."""
    low, high = properties.get("min", 0), properties.get("max", 10**12)
    if kind == "uuid":
        try:
            return "" if str(uuid.UUID(value)) == value.lower() else "should be a uuid"
        except (ValueError, AttributeError, TypeError):
            return "should be a uuid"
    if kind == "string":
        if not isinstance(value, str):
            return "should be a string"
        fits = low <= len(value) <= high
        return "" if fits else _bounds(properties, " characters")
    if not isinstance(value, int) or isinstance(value, bool):
        return "should be an integer"
    return "" if low <= value <= high else _bounds(properties, "").rstrip()


def _coercion_error(schema: list[Any], value: Any, part: str) -> Response | None:
    """Return reitit's 400 when the value does not fit the schema."""
    errors: list[dict[str, Any]] = []
    humanized: Any = {}
    form = _schema_form(schema)
    if not isinstance(value, dict):
        humanized = ["invalid type"]
        kind = "malli.core/invalid-type"
        errors = [{"path": [], "in": [], "schema": form, "value": value, "type": kind}]
    else:
        for key, kind, properties in schema:
            error = {"path": [key], "in": [key]}
            if key not in value:
                if "optional" in properties:
                    continue
                said = "missing required key"
                error |= {"schema": form, "value": None}
                error["type"] = "malli.core/missing-key"
            else:
                said = _message(kind, properties, value[key])
                if not said:
                    continue
                error |= {"schema": _form(kind, properties), "value": value[key]}
            errors.append({**error, "message": said})
            humanized[key] = [said]
    if not errors:
        return None
    body = {
        "schema": form,
        "errors": errors,
        "value": value,
        "type": "reitit.coercion/request-coercion",
        "coercion": "malli",
        "in": ["request", part],
        "humanized": humanized,
    }
    return Response(400, body, _JSON)


def _ok(body: Any) -> Response:
    return Response(200, body, _JSON)


def _no(status: int, error: str, **more: Any) -> Response:
    """Return a refusal of a handler: a map with :error and what it is about."""
    named = {key.replace("__", "/").replace("_", "-"): v for key, v in more.items()}
    return Response(status, {"error": error, **named}, _JSON)


class AnvilWorks(Backend):
    """Inscriptions to be stamped in capitals."""

    def __init__(self) -> None:
        super().__init__()
        self.agents_by_token: dict[str, dict[str, Any]] = {}
        self.claims: dict[str, dict[str, Any]] = {}
        self.inputs: dict[str, str] = {}
        self.records: dict[str, dict[str, Any]] = {}
        for number, (title, text, reward) in enumerate(_TASKS):
            task = str(uuid.uuid4())
            self.inputs[task] = text
            self.records[task] = {
                "task/id": task,
                "task/version": 1 + number % 3,
                "task/title": title,
                "task/brief": "Upper-case the task/input that comes with the claim.",
                "task/reward": reward,
                "task/status": "open",
            }

    def texts(self) -> dict[str, str]:
        return dict(self.inputs)

    def missing(self, request: Request) -> Response:
        return Response(404, b"")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), uuid.uuid4().hex + uuid.uuid4().hex
        self.agents_by_token[token] = {"id": agent, "balance": 100}
        return _ok({"agent_id": agent, "access_token": token, "credits": 100})

    def agents(self, request: Request) -> Response:
        return _ok([{"agent/id": one["id"]} for one in self.agents_by_token.values()])

    def marketplace(self, request: Request) -> Response:
        return _ok(list(self.records.values()))

    def tasks(self, request: Request) -> Response:
        if request.token not in self.agents_by_token:
            return Response(401, "Unauthorized")
        query: dict[str, Any] = dict(request.query)
        if query.get("limit", "").lstrip("-").isdecimal():
            query["limit"] = int(query["limit"])
        wrong = _coercion_error(_QUERY, query, "query-params")
        return wrong or _ok(list(self.records.values())[: query.get("limit", 20)])

    def _body(self, request: Request, schema: list[Any]) -> Any:
        """Return the coerced body, or the response that refuses the request."""
        if request.token not in self.agents_by_token:
            return Response(401, "Unauthorized")
        try:
            body = request.json() if request.raw else None
        except ValueError:
            return Response(400, 'Malformed "application/json" request.')
        wrong = _coercion_error(schema, body, "body-params")
        if wrong:
            return wrong
        if schema is not _CLAIM:
            claim = self.claims.get(body["claim/id"].lower())
            if not claim or claim["token"] != request.token:
                return _no(404, "claim-not-found", claim__id=body["claim/id"])
            body["claim"] = claim
        return body

    def claim(self, request: Request) -> Response:
        body = self._body(request, _CLAIM)
        if isinstance(body, Response):
            return body
        task = body["task/id"].lower()
        record = self.records.get(task)
        if not record:
            return _no(404, "task-not-found", task__id=task)
        for claim in self.claims.values():  # asked again: the same claim
            if claim["task"] == task and claim["token"] == request.token:
                return _ok(claim["shown"])
        if record["task/status"] != "open":
            return _no(409, "task-not-open", task__status=record["task/status"])
        if record["task/version"] != body["task/version"]:
            return _no(409, "version-conflict", task__version=record["task/version"])
        record |= {"task/status": "claimed", "task/version": body["task/version"] + 1}
        expires = datetime.now(UTC) + timedelta(minutes=45)
        shown = {
            "claim/id": str(uuid.uuid4()),
            "claim/status": "active",
            "claim/expires-at": expires.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "claim/task": {"task/id": task, "task/input": self.inputs[task]},
        }
        claim = {"token": request.token, "task": task, "shown": shown, "result": ""}
        self.claims[shown["claim/id"]] = claim
        self.book.claimed(task)
        return _ok(shown)

    def submit(self, request: Request) -> Response:
        body = self._body(request, _SUBMIT)
        if isinstance(body, Response):
            return body
        claim = body["claim"]
        if claim["result"]:
            return _no(409, "already-submitted", result__id=claim["result"])
        task, agent = claim["task"], self.agents_by_token[request.token]
        if body["result/output"] != self.inputs[task].upper():
            reason = "result/output is not the task/input in upper case"
            return _no(422, "result-rejected", reason=reason)
        record, claim["result"] = self.records[task], str(uuid.uuid4())
        record["task/status"] = claim["shown"]["claim/status"] = "delivered"
        agent["balance"] += record["task/reward"]
        self.book.pay(task, record["task/reward"])
        shown = {"result/id": claim["result"], "result/verdict": "accepted"}
        paid = {"paid": record["task/reward"], "balance": agent["balance"]}
        return _ok({**shown, "claim/status": "delivered", "payment": paid})

    def complete(self, request: Request) -> Response:
        body = self._body(request, _COMPLETE)
        if isinstance(body, Response):
            return body
        claim = body["claim"]
        if not claim["result"]:
            return _no(409, "nothing-submitted", claim__id=body["claim/id"])
        if body["result/id"].lower() != claim["result"]:
            return _no(404, "result-not-found", result__id=body["result/id"])
        self.records[claim["task"]]["task/status"] = "done"
        claim["shown"]["claim/status"] = "done"
        return _ok({"claim/id": body["claim/id"], "claim/status": "done"})
