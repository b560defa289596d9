"""FastAPI with Pydantic models that forbid extra fields and take camelCase aliases only.

Every fault of a request is told at once: each missing field by its place, each wrong type,
and each field that is not in the model. Records are camelCase with UUIDs; a claim wants
the agent's own id beside the task's, and a result is an object of its own with a text.
Whatever is wrong but not malformed is one sentence under `detail`.
"""

import json
import re
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import wraps
from secrets import token_bytes, token_urlsafe
from typing import Any, TypeAlias

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]
Route = Callable[["FastapiStrict", Request], Response]
Loc = tuple[str | int, ...]
# A check of one value: the fault's type, its message, and its context.
Fault = tuple[str, str, Json]
Model: TypeAlias = "Mapping[str, Callable[[object], Fault | None] | Model]"

TEXTS = {
    "the gardener trims the yew in autumn": 5,
    "a brass key lies under the third step": 2,
    "fishing boats return before the tide": 7,
    "the printer ran out of green ink": 4,
    "nine geese walked past the station": 1,
    "her letters arrive on thursday mornings": 8,
    "the cellar smells of apples and dust": 3,
    "please sign the ledger by the door": 6,
    "an owl nests in the bell tower": 9,
    "the road to the pass is closed": 2,
    "he repairs radios in the back room": 5,
    "warm bread waits under the cloth": 4,
}


class HttpError(Exception):
    """Raised in a route; the application answers {"detail": ...}."""

    def __init__(self, status: int, detail: object, **headers: str) -> None:
        super().__init__(status)
        self.response = Response(status, {"detail": detail}, headers)


def route(method: Route) -> Route:
    """Turn exceptions into answers."""

    @wraps(method)
    def answer(self: "FastapiStrict", request: Request) -> Response:
        try:
            return method(self, request)
        except HttpError as error:
            return error.response

    return answer


def string(value: object) -> Fault | None:
    if isinstance(value, str):
        return None
    return "string_type", "Input should be a valid string", {}


def uuid_fault(text: str) -> str:
    """Return what is wrong with the text as a UUID, or "" if nothing is."""
    if strange := re.search(r"[^0-9a-fA-F-]", text):
        return f"invalid character: found `{strange[0]}` at {strange.start()}"
    groups = text.split("-")
    if len(groups) == 1:
        return "" if len(text) == 32 else f"invalid length: found {len(text)}"
    if len(groups) != 5:
        return f"invalid group count: expected 5, found {len(groups)}"
    for index, (group, size) in enumerate(zip(groups, (8, 4, 4, 4, 12), strict=True)):
        if len(group) != size:
            found = f"expected {size}, found {len(group)}"
            return f"invalid group length in group {index}: {found}"
    return ""


def uuid_string(value: object) -> Fault | None:
    if not isinstance(value, str):
        message = "UUID input should be a string, bytes or UUID object"
        return "uuid_type", message, {}
    if fault := uuid_fault(value):
        message = f"Input should be a valid UUID, {fault}"
        return "uuid_parsing", message, {"ctx": {"error": fault}}
    return None


CLAIM: Model = {"taskId": uuid_string, "agentId": string}
SUBMIT: Model = {"taskId": uuid_string, "agentId": string, "output": {"text": string}}
COMPLETE: Model = {"taskId": uuid_string}


def error(kind: str, loc: Loc, msg: str, value: object) -> Json:
    return {"type": kind, "loc": list(loc), "msg": msg, "input": value}


def errors_of(model: Model, value: object, loc: Loc) -> list[Json]:
    """Return every fault of a value: those of the fields, then the fields too many."""
    if not isinstance(value, dict):
        msg = "Input should be a valid dictionary or object to extract fields from"
        return [error("model_attributes_type", loc, msg, value)]
    errors: list[Json] = []
    for name, check in model.items():
        if name not in value:
            errors.append(error("missing", (*loc, name), "Field required", value))
        elif not callable(check):
            errors += errors_of(check, value[name], (*loc, name))
        elif fault := check(value[name]):
            kind, msg, context = fault
            errors.append(error(kind, (*loc, name), msg, value[name]) | context)
    forbidden = "Extra inputs are not permitted"
    for name in [name for name in value if name not in model]:
        errors.append(error("extra_forbidden", (*loc, name), forbidden, value[name]))
    return errors


def read_body(request: Request) -> object:
    """Return the body; one of another media type stays text, an empty one is None."""
    if "json" not in (request.headers.get("Content-Type") or ""):
        return request.raw.decode(errors="replace") or None
    try:
        return json.loads(request.raw) if request.raw else None
    except json.JSONDecodeError as bad:
        fault = error("json_invalid", ("body", bad.pos), "JSON decode error", {})
        raise HttpError(422, [fault | {"ctx": {"error": bad.msg}}]) from None


def validate(model: Model, body: object, raw: bytes) -> Json:
    if not raw:
        raise HttpError(422, [error("missing", ("body",), "Field required", None)])
    if errors := errors_of(model, body, ("body",)):
        raise HttpError(422, errors)
    assert isinstance(body, dict)
    return body


def limit_of(request: Request) -> int:
    """Return the query's limit, between 1 and 100 and 50 by default."""
    given = request.query.get("limit", "50")
    loc = ("query", "limit")
    if not re.fullmatch(r"\s*[-+]?\d+\s*", given):
        msg = "Input should be a valid integer, unable to parse string as an integer"
        raise HttpError(422, [error("int_parsing", loc, msg, given)])
    for wrong, kind, key, bound in (
        (int(given) < 1, "greater_than_equal", "ge", 1),
        (int(given) > 100, "less_than_equal", "le", 100),
    ):
        if wrong:
            msg = f"Input should be {kind.replace('_equal', ' or equal')} to {bound}"
            fault = error(kind, loc, msg.replace("_", " "), given)
            raise HttpError(422, [fault | {"ctx": {key: bound}}])
    return int(given)


def new_id() -> str:
    return str(uuid.UUID(bytes=token_bytes(16), version=4))


def now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


class FastapiStrict(Backend):
    def __init__(self) -> None:
        super().__init__()
        self.items = {
            key: self._item(key, text) for text in TEXTS for key in [new_id()]
        }
        self.members: dict[str, Json] = {}  # token -> agent
        self.owners: dict[str, str] = {}  # task -> agent

    @staticmethod
    def _item(key: str, text: str) -> Json:
        return {
            "id": key,
            "title": "Uppercase a sentence",
            "prompt": text,
            "rewardCredits": TEXTS[text],
            "status": "open",
            "createdAt": now(),
        }

    def texts(self) -> dict[str, str]:
        return {key: item["prompt"] for key, item in self.items.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, {"detail": "Not Found"})

    def register(self, request: Request) -> Response:
        token = token_urlsafe(32)
        agent = {"agent_id": new_id(), "access_token": token, "credits": 100}
        self.members[token] = agent
        self.book.registrations += 1
        return Response(200, dict(agent))

    @route
    def tasks(self, request: Request) -> Response:
        items = [item for item in self.items.values() if item["status"] == "open"]
        shown = items[: limit_of(request)]
        return Response(200, {"items": shown, "total": len(items)})

    def _begin(self, request: Request, model: Model) -> tuple[Json, Json, Json]:
        """Return agent, body and task; the token counts before the body's fields."""
        raw = read_body(request)
        challenge = {"WWW-Authenticate": "Bearer"}
        if not request.token:
            raise HttpError(401, "Not authenticated", **challenge)
        if request.token not in self.members:
            raise HttpError(401, "Invalid authentication credentials", **challenge)
        agent = self.members[request.token]
        body = validate(model, raw, request.raw)
        if body.get("agentId", agent["agent_id"]) != agent["agent_id"]:
            raise HttpError(403, "agentId does not belong to this access token")
        item = self.items.get(str(uuid.UUID(body["taskId"])))
        if item is None:
            raise HttpError(404, "Task not found")
        return agent, body, item

    @route
    def claim(self, request: Request) -> Response:
        agent, _, item = self._begin(request, CLAIM)
        if item["status"] != "open":
            raise HttpError(409, f"Task is not open (status: {item['status']})")
        item["status"] = "claimed"
        self.owners[item["id"]] = agent["agent_id"]
        self.book.claimed(item["id"])
        claim = {"taskId": item["id"], "agentId": agent["agent_id"]}
        return Response(200, claim | {"status": "claimed", "claimedAt": now()})

    def _own(self, agent: Json, item: Json) -> None:
        if self.owners.get(item["id"]) != agent["agent_id"]:
            raise HttpError(409, "Task is not claimed by this agent")
        if item["status"] == "completed":
            raise HttpError(409, "Task is already completed")

    @route
    def submit(self, request: Request) -> Response:
        agent, body, item = self._begin(request, SUBMIT)
        self._own(agent, item)
        if item["status"] == "submitted":
            raise HttpError(409, "An output was already accepted for this task")
        if body["output"]["text"] != item["prompt"].upper():
            raise HttpError(400, "Output rejected: text is not the expected result")
        item["status"] = "submitted"
        answer = {"taskId": item["id"], "status": "submitted", "submittedAt": now()}
        return Response(200, answer)

    @route
    def complete(self, request: Request) -> Response:
        agent, _, item = self._begin(request, COMPLETE)
        self._own(agent, item)
        if item["status"] != "submitted":
            raise HttpError(409, "No output was submitted for this task")
        item["status"] = "completed"
        agent["credits"] += item["rewardCredits"]
        self.book.pay(item["id"], item["rewardCredits"])
        paid = {"creditsEarned": item["rewardCredits"], "balance": agent["credits"]}
        return Response(200, {"taskId": item["id"], "status": "completed", **paid})
