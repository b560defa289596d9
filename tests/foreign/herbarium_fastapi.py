"""A small herbarium's transcription desk in Python: FastAPI, SQLModel, Pydantic v2.

Laid out like the full-stack template: lists are {"data", "count"} with skip and limit, ids are
UUIDs, Decimals go out as strings, and a refusal is `detail`: Pydantic's list of errors where
the body is not as declared, one sentence (HTTPException) everywhere else. Unknown fields are
ignored, numbers in strings are taken.

A label is claimed for so many minutes, which makes a transcription with an id of its own; the
transcription is submitted with the transcriber's confidence, and closed with the time it took.
"""

import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_LABELS = [
    ("BR0000014711", "Ferns", "asplenium scolopendrium, wet wall by the mill", 12),
    ("BR0000014712", "Ferns", "on shaded limestone, 340 m, with moss", 7),
    (
        "BR0000014720",
        "Orchids",
        "ophrys apifera: three plants near the quarry road",
        19,
    ),
    (
        "BR0000014733",
        "Orchids",
        "flowers pale, lip brown; leg. a. marchal, june 1891",
        24,
    ),
    ("BR0000014738", "Sedges", "carex pendula, ditch behind the abbey barn", 9),
    ("BR0000014741", "Sedges", "bord de l'étang, fréquent, sol tourbeux", 15),
    ("BR0000014755", "Willows", "salix caprea x cinerea (?), female shrub, 3 m", 21),
    ("BR0000014756", "Willows", "roadside hedge between the two bridges", 6),
    ("BR0000014760", "Grasses", "bromus secalinus in a field of rye, rare here", 13),
    ("BR0000014764", "Grasses", "dunes, sheltered hollow, sparse", 5),
    ("BR0000014779", "Mosses", "growing on old thatch with lichens, det. 1904", 17),
]
_NAMESPACE = uuid.UUID("6f0c1c1e-5b0e-4a57-9d53-2f2f5d7f9a10")
_INSTRUCTIONS = (
    "Type the label in capitals (A-Z as printed), keep punctuation and digits."
)

Error = dict[str, Any]


class _HTTPException(Exception):  # noqa: N818
    def __init__(self, status: int, detail: Any, **headers: str) -> None:
        super().__init__(status)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.response = Response(status, {"detail": detail}, named)


class _Invalid(Exception):  # noqa: N818
    """What a Pydantic type says of a value."""

    def __init__(self, kind: str, msg: str, **ctx: Any) -> None:
        super().__init__(msg)
        self.said = {"type": kind, "msg": msg, "ctx": ctx}


def _iso(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def _money(amount: int) -> str:
    return f"{amount}.00"


def _at_least(number: Any, low: Any, high: Any) -> Any:
    if number < low:
        words = f"Input should be greater than or equal to {low:g}"
        raise _Invalid("greater_than_equal", words, ge=low)
    if high is not None and number > high:
        words = f"Input should be less than or equal to {high:g}"
        raise _Invalid("less_than_equal", words, le=high)
    return number


def _int(low: int, high: int | None) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if isinstance(value, str):
            try:
                number = float(value) if value.strip().endswith(".0") else int(value)
            except ValueError:
                words = "Input should be a valid integer, unable to parse string as an integer"
                raise _Invalid("int_parsing", words) from None
        elif isinstance(value, float) and not value.is_integer():
            words = (
                "Input should be a valid integer, got a number with a fractional part"
            )
            raise _Invalid("int_from_float", words)
        elif not isinstance(value, int | float):
            raise _Invalid("int_type", "Input should be a valid integer")
        else:
            number = value
        return int(_at_least(int(number), low, high))

    return check


def _float(low: float, high: float) -> Callable[[Any], float]:
    def check(value: Any) -> float:
        if isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                words = (
                    "Input should be a valid number, unable to parse string as a number"
                )
                raise _Invalid("float_parsing", words) from None
        elif not isinstance(value, int | float):
            raise _Invalid("float_type", "Input should be a valid number")
        return float(_at_least(float(value), low, high))

    return check


def _str(value: Any) -> str:
    if not isinstance(value, str):
        raise _Invalid("string_type", "Input should be a valid string")
    if not value:
        words = "String should have at least 1 character"
        raise _Invalid("string_too_short", words, min_length=1)
    return value


def _uuid(value: Any) -> str:
    if not isinstance(value, str):
        words = "UUID input should be a string, bytes or UUID object"
        raise _Invalid("uuid_type", words)
    try:
        if len(value) in (32, 36, 38, 45):
            found = str(uuid.UUID(value))
            if len(value) == 32 or found == value.lower().removeprefix(
                "urn:uuid:"
            ).strip("{}"):
                return found
    except ValueError:
        pass
    words = _uuid_fault(value)
    raise _Invalid(
        "uuid_parsing", f"Input should be a valid UUID, {words}", error=words
    )


def _uuid_fault(value: str) -> str:
    """Say what the uuid crate says."""
    inner, offset = value, 0
    if value.startswith("{") and value.endswith("}"):
        inner, offset = value[1:-1], 1
    elif value.startswith("urn:uuid:"):
        inner, offset = value[9:], 9
    for at, letter in enumerate(inner):
        if letter not in "0123456789abcdefABCDEF-":
            return f"invalid character: found `{letter}` at {at + offset + 1}"
    groups = inner.split("-")
    if len(groups) == 1 and not offset:
        return (
            f"invalid length: expected length 32 for simple format, found {len(inner)}"
        )
    if len(groups) != 5:
        return f"invalid group count: expected 5, found {len(groups)}"
    for at, (group, wanted) in enumerate(zip(groups, (8, 4, 4, 4, 12), strict=True)):
        if len(group) != wanted:
            return f"invalid group length in group {at}: expected {wanted}, found {len(group)}"
    return "invalid length"


_Model = dict[str, Callable[[Any], Any]]
_CLAIM: _Model = {"label_id": _uuid, "lease_minutes": _int(5, 120)}
_SUBMIT: _Model = {
    "transcription_id": _uuid,
    "text": _str,
    "confidence": _float(0.0, 1.0),
}
_COMPLETE: _Model = {"transcription_id": _uuid, "minutes_spent": _int(0, 600)}


def _validate(given: dict[str, Any], model: _Model, where: str) -> dict[str, Any]:
    errors: list[Error] = []
    found = {}
    for name, check in model.items():
        if name not in given:
            words = {"type": "missing", "loc": [where, name], "msg": "Field required"}
            errors.append(words | {"input": given})
            continue
        try:
            found[name] = check(given[name])
        except _Invalid as fault:
            kind, msg, ctx = fault.said.values()
            error = {
                "type": kind,
                "loc": [where, name],
                "msg": msg,
                "input": given[name],
            }
            errors.append(error | ({"ctx": ctx} if ctx else {}))
    if errors:
        raise _HTTPException(422, errors)
    return found


def _body(request: Request, model: _Model) -> dict[str, Any]:
    media = (
        (request.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    )
    body = None
    if request.raw and media == "application/json":
        body = request.json()
    elif request.raw:
        body = request.raw.decode(errors="replace")
    error: Error = {"type": "missing", "loc": ["body"], "msg": "Field required"}
    if not request.raw:
        raise _HTTPException(422, [error | {"input": None}])
    if not isinstance(body, dict):
        words = "Input should be a valid dictionary or object to extract fields from"
        error |= {"type": "model_attributes_type", "msg": words, "input": body}
        raise _HTTPException(422, [error])
    return _validate(body, model, "body")


class HerbariumFastapi(Backend):
    """Eleven labels; a lease in minutes, a confidence from 0 to 1, minutes spent."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}
        self._work: dict[str, dict[str, Any]] = {}
        filed = datetime.now(UTC) - timedelta(days=2)
        self._labels: dict[str, dict[str, Any]] = {}
        for at, (barcode, collection, text, fee) in enumerate(_LABELS):
            key = str(uuid.uuid5(_NAMESPACE, barcode))
            self._labels[key] = {
                "barcode": barcode,
                "collection": collection,
                "label_text": text,
                "instructions": _INSTRUCTIONS,
                "fee": _money(fee),
                "fee_unit": "credits",
                "status": "open",
                "id": key,
                "created_at": _iso(filed + timedelta(minutes=7 * at)),
            }

    def texts(self) -> dict[str, str]:
        return {key: label["label_text"] for key, label in self._labels.items()}

    def missing(self, request: Request) -> Response:
        verbs = {path: verb for verb, path in ACTIONS}
        if request.path in verbs and verbs[request.path] != request.method:
            headers = {"Allow": verbs[request.path]}
            return Response(405, {"detail": "Method Not Allowed"}, headers)
        return Response(404, {"detail": "Not Found"})

    def _route(
        self, request: Request, model: _Model, run: Callable[..., dict[str, Any]]
    ) -> Response:
        try:
            media = (
                (request.headers.get("Content-Type") or "").partition(";")[0].strip()
            )
            if request.raw and media.lower() == "application/json":
                request.json()
        except ValueError as fault:
            error = {
                "type": "json_invalid",
                "loc": ["body", getattr(fault, "pos", 0)],
                "msg": "JSON decode error",
                "input": {},
                "ctx": {"error": getattr(fault, "msg", str(fault))},
            }
            return Response(422, {"detail": [error]})
        try:
            agent = self._current_agent(request)
            self._expire()
            return Response(200, run(agent, **_body(request, model)))
        except _HTTPException as no:
            return no.response

    def _current_agent(self, request: Request) -> dict[str, Any]:
        if not request.token:
            raise _HTTPException(401, "Not authenticated", WWW_Authenticate="Bearer")
        if request.token not in self._agents:
            words = "Could not validate credentials"
            raise _HTTPException(401, words, WWW_Authenticate="Bearer")
        return self._agents[request.token]

    def _expire(self) -> None:
        now = _iso(datetime.now(UTC))
        for work in self._work.values():
            if work["status"] == "in_progress" and work["lease_expires_at"] < now:
                work["status"] = "expired"
                self._labels[work["label_id"]]["status"] = "open"
                self.book.held.discard(work["label_id"])

    def _own(self, agent: dict[str, Any], key: str) -> dict[str, Any]:
        work = self._work.get(key)
        if work is None:
            raise _HTTPException(404, "Transcription not found")
        if work["agent_id"] != agent["agent_id"]:
            raise _HTTPException(403, "Not enough permissions")
        if work["status"] == "expired":
            raise _HTTPException(
                409, "The lease on this label has expired, claim it again"
            )
        return work

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = {"agent_id": str(uuid.uuid4()), "credits": 100}
        token = secrets.token_urlsafe(32)
        self._agents[token] = agent | {"joined_at": _iso(datetime.now(UTC))}
        return Response(200, agent | {"access_token": token})

    def _page(self, request: Request, rows: list[dict[str, Any]]) -> Response:
        given = {"skip": "0", "limit": "5"} | request.query
        try:
            asked = _validate(
                given, {"skip": _int(0, None), "limit": _int(1, 50)}, "query"
            )
        except _HTTPException as no:
            return no.response
        skip, limit = asked["skip"], asked["limit"]
        return Response(200, {"data": rows[skip : skip + limit], "count": len(rows)})

    def _open(self) -> list[dict[str, Any]]:
        self._expire()
        return [label for label in self._labels.values() if label["status"] == "open"]

    def marketplace(self, request: Request) -> Response:
        return self._page(request, self._open())

    def tasks(self, request: Request) -> Response:
        try:
            self._current_agent(request)
        except _HTTPException as no:
            return no.response
        return self._page(request, self._open())

    def agents(self, request: Request) -> Response:
        rows = [
            {"agent_id": agent["agent_id"], "joined_at": agent["joined_at"]}
            for agent in self._agents.values()
        ]
        return self._page(request, rows)

    directory = agents

    def claim(self, request: Request) -> Response:
        return self._route(request, _CLAIM, self._claim)

    def _claim(
        self, agent: dict[str, Any], label_id: str, lease_minutes: int
    ) -> dict[str, Any]:
        label = self._labels.get(label_id)
        if label is None:
            raise _HTTPException(404, "Label not found")
        if label["status"] != "open":
            raise _HTTPException(409, f"Label is not open (status: {label['status']})")
        label["status"] = "claimed"
        self.book.claimed(label_id)
        now = datetime.now(UTC)
        key = str(uuid.uuid4())
        self._work[key] = {
            "label_id": label_id,
            "status": "in_progress",
            "text": None,
            "confidence": None,
            "id": key,
            "agent_id": agent["agent_id"],
            "claimed_at": _iso(now),
            "lease_expires_at": _iso(now + timedelta(minutes=lease_minutes)),
        }
        return self._work[key]

    def submit(self, request: Request) -> Response:
        return self._route(request, _SUBMIT, self._submit)

    def _submit(
        self, agent: dict[str, Any], transcription_id: str, text: str, confidence: float
    ) -> dict[str, Any]:
        work = self._own(agent, transcription_id)
        if work["status"] != "in_progress":
            words = f"Transcription is already {work['status']}"
            raise _HTTPException(409, words)
        if text.strip() != self._labels[work["label_id"]]["label_text"].upper():
            words = "Text does not match the label: expected label_text in capitals"
            raise _HTTPException(422, words)
        work |= {"status": "submitted", "text": text, "confidence": confidence}
        return work

    def complete(self, request: Request) -> Response:
        return self._route(request, _COMPLETE, self._complete)

    def _complete(
        self, agent: dict[str, Any], transcription_id: str, minutes_spent: int
    ) -> dict[str, Any]:
        work = self._own(agent, transcription_id)
        if work["status"] == "completed":
            raise _HTTPException(409, "Transcription is already completed")
        if work["status"] != "submitted":
            raise _HTTPException(
                409, "Nothing has been submitted for this transcription"
            )
        label = self._labels[work["label_id"]]
        work |= {"status": "completed", "minutes_spent": minutes_spent}
        label["status"] = "transcribed"
        fee = int(float(label["fee"]))
        self.book.pay(label["id"], fee)
        agent["credits"] += fee
        return {
            "transcription": work,
            "fee_paid": label["fee"],
            "balance": _money(agent["credits"]),
        }
