"""Kirjuri: an errand desk for municipal archives, by a consultancy in Tampere, Finland.

Clojure: ring, reitit and muuntaja, with malli coercion. Keywords travel with their
namespaces ("errand/id"); refused bodies come back as malli explains them. Only open errands
are listed. An agent leases one at a time, delivers, and is paid when it closes the delivery.
"""

import json
import re
import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_JSON = {"Content-Type": "application/json; charset=utf-8"}
_INSTRUCTIONS = (
    "Type the source text in capital letters (upper case), otherwise unchanged."
)
_ERRANDS = [
    ("Street sign, Hämeenkatu", "Hämeenkatu 12, sisäänkäynti pihalta", 18),
    ("Map legend 1921", "Railway yard and engine sheds, surveyed 1921", 25),
    ("Index card 0417", "Lahtinen, Aino; weaver, Finlayson cotton mill", 32),
    ("Box label", "Minutes of the town council, volumes iv to ix", 12),
    ("Plaque draft", "Tässä talossa asui kirjailija vuosina 1902–1911", 45),  # noqa: RUF001
    ("Harbour ledger heading", "Timber received at the Mustalahti quay, June", 28),
]

# A schema is (form, check), where check(value) gives malli's message or "".
_Schema = tuple[str, Any]
_Handler = Callable[[Any, Any], Response]  # of the agent and its body


def _uuid(value: Any) -> str:
    fits = isinstance(value, str) and re.fullmatch(
        r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", value
    )
    return "" if fits else "should be a uuid"


def _int(low: int, high: int) -> _Schema:
    def check(value: Any) -> str:
        if not isinstance(value, int) or isinstance(value, bool):
            return "should be an integer"
        return "" if low <= value <= high else f"should be between {low} and {high}"

    return f"[:int {{:min {low}, :max {high}}}]", check


def _string(value: Any) -> str:
    if not isinstance(value, str):
        return "should be a string"
    return "" if value else "should be at least 1 character"


def _enum(*values: str) -> _Schema:
    form = " ".join(json.dumps(value) for value in values)
    message = f"should be either {', '.join(values[:-1])} or {values[-1]}"
    return f"[:enum {form}]", lambda value: "" if value in values else message


def _map_of(entries: dict[str, _Schema]) -> _Schema:
    inner = " ".join(f"[:{key} {schema[0]}]" for key, schema in entries.items())
    return f"[:map {{:closed true}} {inner}]", entries


_UUID: _Schema = (":uuid", _uuid)
_CLAIM = _map_of({"errand/id": _UUID, "lease/minutes": _int(5, 120)})
_CONTENT: _Schema = ("[:string {:min 1}]", _string)
_DELIVERY = _map_of(
    {"content": _CONTENT, "media-type": _enum("text/plain", "text/markdown")}
)
_SUBMIT = _map_of({"lease/id": _UUID, "delivery": _DELIVERY})
_TRUE: _Schema = ("[:= true]", lambda value: "" if value is True else "should be true")
_COMPLETE = _map_of({"delivery/id": _UUID, "attested?": _TRUE})


def _explain(schema: _Schema, value: Any, at: list[str], errors: list[Any]) -> Any:
    """Return malli's humanized explanation of a value, or None when it conforms."""

    def note(
        form: str, path: list[str], seen: Any, text: str, kind: str = ""
    ) -> list[str]:
        error = {
            "path": path,
            "in": path,
            "schema": form,
            "value": seen,
            "message": text,
        }
        errors.append({**error, "type": f"malli.core/{kind}"} if kind else error)
        return [text]

    form, check = schema
    if not isinstance(check, dict):
        message = check(value)
        return note(form, at, value, message) if message else None
    if not isinstance(value, dict):
        return note(form, at, value, "invalid type", "invalid-type")
    humanized = {}
    for key, inner in check.items():
        if key not in value:
            path = [*at, key]
            humanized[key] = note(
                inner[0], path, None, "missing required key", "missing-key"
            )
        elif (found := _explain(inner, value[key], [*at, key], errors)) is not None:
            humanized[key] = found
    return humanized or None


class Kirjuri(Backend):
    """The errand desk."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._errands: dict[str, dict[str, Any]] = {}
        self._leases: dict[str, dict[str, Any]] = {}
        self._deliveries: dict[str, dict[str, Any]] = {}
        for number, (title, text, fee) in enumerate(_ERRANDS):
            key = str(uuid.uuid4())
            self._errands[key] = {
                "errand/id": key,
                "errand/title": title,
                "errand/instructions": _INSTRUCTIONS,
                "errand/source-text": text,
                "errand/state": "open",
                "errand/fee": {"amount": fee, "unit": "credits"},
                "errand/opened-at": f"2025-09-{number + 10}T07:00:00Z",
            }

    def texts(self) -> dict[str, str]:
        return {key: e["errand/source-text"] for key, e in self._errands.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, "")

    def _no(self, status: int, kind: str, message: str, **data: Any) -> Response:
        body: dict[str, Any] = {"type": f"kirjuri.{kind}", "message": message}
        named = {key.replace("__", "/"): value for key, value in data.items()}
        return Response(status, {**body, "data": named} if named else body, _JSON)

    def _coercion(self, schema: _Schema, value: Any, where: str) -> Response | None:
        errors: list[Any] = []  # filled by _explain
        humanized = _explain(schema, value, [], errors)
        if humanized is None:
            return None
        body = {
            "value": value,
            "type": "reitit.coercion/request-coercion",
            "coercion": "malli",
            "in": ["request", where],
            "humanized": humanized,
            "errors": errors,
            "schema": schema[0],
        }
        return Response(400, body, _JSON)

    def _private(self, request: Request, schema: _Schema, do: _Handler) -> Response:
        agent = self._agents.get(request.token)
        if agent is None:
            return Response(401, "Unauthorized")
        body = None
        kind = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
        if kind == "application/json":
            try:
                body = request.json()
            except ValueError:
                return Response(400, 'Malformed "application/json" request.')
        return self._coercion(schema, body, "body-params") or do(agent, body)

    def register(self, request: Request) -> Response:
        token = secrets.token_urlsafe(32)
        agent = {"agent_id": str(uuid.uuid4()), "access_token": token, "credits": 100}
        self._agents[token] = agent
        self.book.registrations += 1
        return Response(200, agent, _JSON)

    def tasks(self, request: Request) -> Response:
        self._expire()
        asked: Any = request.query.get("limit", "20")
        asked = int(asked) if asked.isdecimal() else asked
        schema = _map_of({"limit": _int(1, 50)})
        if refusal := self._coercion(schema, {"limit": asked}, "query-params"):
            return refusal
        found = [e for e in self._errands.values() if e["errand/state"] == "open"]
        page = {"limit": asked, "total": len(found), "more?": len(found) > asked}
        return Response(200, {"errands": found[:asked], "page": page}, _JSON)

    marketplace = tasks

    def _expire(self) -> None:
        for lease in self._leases.values():
            if lease["state"] == "active" and lease["until"] < datetime.now(UTC):
                lease["state"] = "expired"
                self._errands[lease["errand"]]["errand/state"] = "open"
                self.book.held.discard(lease["errand"])

    def claim(self, request: Request) -> Response:
        def do(agent: Any, body: Any) -> Response:
            self._expire()
            errand = self._errands.get(body["errand/id"])
            if errand is None:
                return self._no(
                    404,
                    "errand/not-found",
                    "No such errand",
                    errand__id=body["errand/id"],
                )
            for key, lease in self._leases.items():
                if lease["agent"] is agent and lease["state"] == "active":
                    held = {"lease__id": key, "errand__id": lease["errand"]}
                    message = "Agent already holds an active lease"
                    return self._no(409, "lease/limit-reached", message, **held)
            if errand["errand/state"] != "open":
                state = errand["errand/state"]
                return self._no(
                    409, "errand/not-open", "Errand is not open", errand__state=state
                )
            until = datetime.now(UTC) + timedelta(minutes=body["lease/minutes"])
            key = str(uuid.uuid4())
            lease = {"agent": agent, "errand": errand["errand/id"], "until": until}
            self._leases[key] = {**lease, "state": "active"}
            errand["errand/state"] = "leased"
            self.book.claimed(errand["errand/id"])
            lease = {
                "lease/id": key,
                "lease/expires-at": until.strftime("%Y-%m-%dT%H:%M:%SZ"),
            }
            return Response(200, {"lease": lease, "errand": errand}, _JSON)

        return self._private(request, _CLAIM, do)

    def submit(self, request: Request) -> Response:
        def do(agent: Any, body: Any) -> Response:
            self._expire()
            lease = self._leases.get(body["lease/id"])
            if lease is None or lease["agent"] is not agent:
                return self._no(
                    404, "lease/not-found", "No such lease", lease__id=body["lease/id"]
                )
            if lease["state"] != "active":
                data = (
                    {"delivery__id": lease["delivery"]} if "delivery" in lease else {}
                )
                data["lease__state"] = lease["state"]
                return self._no(409, "lease/not-active", "Lease is not active", **data)
            errand = self._errands[lease["errand"]]
            if body["delivery"]["content"] != errand["errand/source-text"].upper():
                message = "Delivered content does not follow the instructions"
                return self._no(
                    422, "delivery/check-failed", message, errand__id=lease["errand"]
                )
            key = str(uuid.uuid4())
            self._deliveries[key] = lease
            lease.update(state="fulfilled", delivery=key)
            errand["errand/state"] = "delivered"
            answer = {"delivery/id": key, "delivery/check": "passed"}
            return Response(200, {**answer, "errand/state": "delivered"}, _JSON)

        return self._private(request, _SUBMIT, do)

    def complete(self, request: Request) -> Response:
        def do(agent: Any, body: Any) -> Response:
            lease = self._deliveries.get(body["delivery/id"])
            if lease is None or lease["agent"] is not agent:
                return self._no(
                    404,
                    "delivery/not-found",
                    "No such delivery",
                    delivery__id=body["delivery/id"],
                )
            errand = self._errands[lease["errand"]]
            if errand["errand/state"] == "settled":
                return self._no(409, "errand/settled", "Errand is already settled")
            errand["errand/state"] = "settled"
            fee = errand["errand/fee"]["amount"]
            agent["credits"] += fee
            self.book.pay(errand["errand/id"], fee)
            answer = {"ledger/credited": fee, "agent/credits": agent["credits"]}
            return Response(200, {"errand/state": "settled", **answer}, _JSON)

        return self._private(request, _COMPLETE, do)
