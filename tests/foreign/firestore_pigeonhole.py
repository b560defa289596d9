"""Pigeonhole: documents with typed values, in the manner of Firestore's REST interface.

A POST creates a document in the collection of its path: notes are held (`holds`), answered
(`deliveries`) and paid (`payouts`). The transcoder's errors are Google's; a schema of the
team's own stands behind it. A delivery is reviewed by a trigger a moment after it is written.
"""

import hashlib
import json
import random
import string
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ROOT = "projects/pigeonhole-prod/databases/(default)/documents"
REVIEW_SECONDS = 0.35

CODES = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
}
KINDS = [
    "nullValue",
    "booleanValue",
    "integerValue",
    "doubleValue",
    "timestampValue",
    "stringValue",
    "bytesValue",
    "referenceValue",
    "geoPointValue",
    "arrayValue",
    "mapValue",
]
DOCUMENT = ("name", "fields", "createTime", "updateTime")

# Collection -> field -> the one kind of value that it takes.
SCHEMA = {
    "holds": {"note": "referenceValue"},
    "deliveries": {"hold": "referenceValue", "answer": "stringValue"},
    "payouts": {"delivery": "referenceValue"},
}

NOTES = [
    ("plumber", "the tap in the attic drips at night", 13),
    ("library", "two volumes of travels are overdue", 8),
    ("orchard", "pears are ripe, bring ladders and sacks", 21),
    ("harbour", "berth seven is free until sunday", 10),
    ("kitchen", "more salt, less pepper, no garlic", 6),
    ("tower", "wind the clock before the bell rings", 17),
    ("school", "room 12 has moved to the old gym", 11),
]


class GoogleError(Exception):
    """A google.rpc.Status on its way out."""

    def __init__(self, status: str, message: str, *details: dict[str, Any]) -> None:
        super().__init__(message)
        error = {"code": CODES[status], "message": message, "status": status}
        self.body = {"error": {**error, **({"details": details} if details else {})}}


def bad_request(violations: list[tuple[str, str]]) -> GoogleError:
    """Return INVALID_ARGUMENT with its field violations."""
    detail = {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        "fieldViolations": [
            {"field": field, "description": text} if field else {"description": text}
            for field, text in violations
        ],
    }
    message = "\n".join(text for _, text in violations)
    return GoogleError("INVALID_ARGUMENT", message, detail)


def stamp(seconds: float) -> str:
    """Return a time as protobuf writes it."""
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1_000_000):06d}Z"


def mapped(**fields: dict[str, Any]) -> dict[str, Any]:
    """Return a map value."""
    return {"mapValue": {"fields": fields}}


class Pigeonhole(Backend):
    """Notes in pigeonholes, for whoever answers them."""

    def __init__(self) -> None:
        super().__init__()
        self._random = random.Random(20)  # noqa: S311
        self._documents: dict[str, dict[str, Any]] = {}  # name -> document
        self._notes: dict[str, dict[str, Any]] = {}
        self._users: dict[str, dict[str, Any]] = {}  # token -> user
        self._holds: dict[str, dict[str, Any]] = {}
        self._deliveries: dict[str, dict[str, Any]] = {}
        for place, text, pay in NOTES:
            document = self._create(
                "notes",
                {
                    "place": {"stringValue": place},
                    "text": {"stringValue": text},
                    "ask": {"stringValue": "Answer with the text in capital letters."},
                    "pay": mapped(credits={"integerValue": str(pay)}),
                    "state": {"stringValue": "OPEN"},
                },
            )
            self._notes[document["name"]] = {"text": text, "pay": pay, "hold": None}

    def texts(self) -> dict[str, str]:
        """Return the text of every note by its resource name."""
        return {name: note["text"] for name, note in self._notes.items()}

    def _create(self, collection: str, fields: dict[str, Any]) -> dict[str, Any]:
        alphabet = string.ascii_letters + string.digits
        key = "".join(self._random.choices(alphabet, k=20))
        now = stamp(time.time())
        document = {
            "name": f"{ROOT}/{collection}/{key}",
            "fields": fields,
            "createTime": now,
            "updateTime": now,
        }
        self._documents[document["name"]] = document  # type: ignore[index]
        return document

    # -- the transcoder and the schema ---------------------------------------------------

    def _read(self, request: Request, collection: str) -> dict[str, Any]:
        """Return the user and the plain values of the document that is to be created."""
        if request.token not in self._users:
            text = "is missing required authentication credential"
            if request.token:
                text = "had invalid authentication credentials"
            text = f"Request {text}. Expected OAuth 2 access token, login cookie or other valid authentication credential."
            raise GoogleError("UNAUTHENTICATED", text)
        fields = self._parse(request.raw)
        schema, problems = SCHEMA[collection], []
        for name, kind in schema.items():
            path = f"document.fields.{name}"
            if name not in fields:
                text = (
                    f'Field "{name}" ({kind}) is required in collection "{collection}".'
                )
                problems.append((path, text))
            elif fields[name][0] != kind:
                text = f'Field "{name}" must be a {kind}, got {fields[name][0]}.'
                problems.append((path, text))
        for name in fields:
            if name not in schema:
                text = f'Field "{name}" is not declared for collection "{collection}".'
                problems.append((f"document.fields.{name}", text))
        if problems:
            raise bad_request(problems)
        values = {name: value for name, (_, value) in fields.items()}
        return {**values, "user": self._users[request.token]}

    @staticmethod
    def _parse(raw: bytes) -> dict[str, tuple[str, Any]]:
        """Return the fields of a Document as kind and value, or fail as the transcoder."""
        lead = "Invalid JSON payload received."
        try:
            body = json.loads(raw) if raw.strip() else {}
        except ValueError:
            text = f"{lead} Unexpected token.\n{raw[:80].decode(errors='replace')}\n^"
            raise GoogleError("INVALID_ARGUMENT", text) from None
        if not isinstance(body, dict):
            text = f'{lead} Unknown name "": Root element must be a message.'
            raise bad_request([("", text)])
        problems, fields = [], {}
        for name in body:
            if name not in DOCUMENT:
                text = (
                    f"{lead} Unknown name \"{name}\" at 'document': Cannot find field."
                )
                problems.append(("document", text))
        given = body.get("fields") or {}
        if not isinstance(given, dict):
            type_ = "type.googleapis.com/google.firestore.v1.Document.FieldsEntry"
            text = f"Invalid value at 'document.fields' ({type_}), {json.dumps(given)}"
            problems.append(("document.fields", text))
            given = {}
        for index, (name, value) in enumerate(given.items()):
            path = f"document.fields[{index}].value"
            if not isinstance(value, dict):
                type_ = "type.googleapis.com/google.firestore.v1.Value"
                text = f"Invalid value at '{path}' ({type_}), {json.dumps(value)}"
                problems.append((path, text))
                continue
            for kind, inner in value.items():
                if kind not in KINDS:
                    text = f"{lead} Unknown name \"{kind}\" at '{path}': Cannot find field."
                    problems.append((path, text))
                elif kind[0] in "sr" and not isinstance(inner, str):
                    inside = f"{path}.{kind.replace('V', '_v')}"
                    text = f"Invalid value at '{inside}' (TYPE_STRING), {json.dumps(inner)}"
                    problems.append((inside, text))
                elif name in fields:
                    text = f"Invalid value at '{path}' (oneof), oneof field 'value_type' is already set. Cannot set '{kind}'"
                    problems.append((path, text))
                else:
                    fields[name] = (kind, inner)
        if problems:
            raise bad_request(problems)
        return fields

    @staticmethod
    def _refer(name: str, collection: str, known: dict[str, Any]) -> Any:
        """Return what a reference to a document of a collection points to."""
        if not name.startswith("projects/"):
            text = f'Document name "{name}" lacks "projects" at index 0.'
            raise GoogleError("INVALID_ARGUMENT", text)
        if not name.startswith(f"{ROOT}/{collection}/"):
            text = f'Document name "{name}" is not in collection "{collection}".'
            raise GoogleError("INVALID_ARGUMENT", text)
        if name not in known:
            raise GoogleError("NOT_FOUND", f'Document "{name}" not found.')
        return known[name]

    @staticmethod
    def _answer(work: Any, *arguments: Any) -> Response:
        try:
            return Response(200, work(*arguments))
        except GoogleError as error:
            return Response(error.body["error"]["code"], error.body)  # type: ignore[arg-type]

    # -- the paths -----------------------------------------------------------------------

    def register(self, request: Request) -> Response:
        """Sign up anonymously."""
        self.book.registrations += 1
        uid = "".join(self._random.choices(string.ascii_letters + string.digits, k=28))
        token = "ya29.c." + hashlib.sha256(uid.encode()).hexdigest()[:40]
        self._users[token] = {"uid": uid, "credits": 100}
        answer = {"agent_id": uid, "access_token": token, "credits": 100}
        return Response(200, {**answer, "name": f"{ROOT}/users/{uid}"})

    def tasks(self, request: Request) -> Response:
        """List the open notes, four a page."""
        return self._answer(self._list, request.query)

    marketplace = tasks

    def _list(self, query: dict[str, str]) -> dict[str, Any]:
        size, given = 4, query.get("limit", query.get("pageSize"))
        if given is not None:
            if not given.isdecimal():
                text = f"Invalid value at 'page_size' (TYPE_INT32), \"{given}\""
                raise bad_request([("page_size", text)])
            size = min(int(given), 300) or 4
        names = [name for name, note in self._notes.items() if note["hold"] is None]
        start = query.get("pageToken", "")
        if start:
            every = {self._page_token(name): name for name in self._notes}
            if start not in every:
                raise GoogleError("INVALID_ARGUMENT", "invalid page token")
            behind = list(every).index(start)
            names = [name for name in list(every.values())[behind:] if name in names]
        answer = {"documents": [self._documents[name] for name in names[:size]]}
        if len(names) > size:
            answer["nextPageToken"] = self._page_token(names[size])  # type: ignore[assignment]
        return answer

    @staticmethod
    def _page_token(name: str) -> str:
        return "AFTOeJ" + hashlib.md5(name.encode()).hexdigest()[:18]

    def claim(self, request: Request) -> Response:
        """Create a document in `holds`."""
        return self._answer(self._hold, request)

    def _hold(self, request: Request) -> dict[str, Any]:
        values = self._read(request, "holds")
        note = self._refer(values["note"], "notes", self._notes)
        if note["hold"]:
            text = f"Document already exists: {note['hold']} holds this note."
            raise GoogleError("ALREADY_EXISTS", text)
        fields = {
            "note": {"referenceValue": values["note"]},
            "holder": {"stringValue": values["user"]["uid"]},
            "expires": {"timestampValue": stamp(time.time() + 1800)},
        }
        document = self._create("holds", fields)
        note["hold"] = document["name"]
        self._documents[values["note"]]["fields"]["state"] = {"stringValue": "HELD"}
        held = {"note": values["note"], "uid": values["user"]["uid"], "delivery": None}
        self._holds[document["name"]] = held
        self.book.claimed(values["note"])
        return document

    def submit(self, request: Request) -> Response:
        """Create a document in `deliveries`."""
        return self._answer(self._deliver, request)

    def _deliver(self, request: Request) -> dict[str, Any]:
        values = self._read(request, "deliveries")
        hold = self._refer(values["hold"], "holds", self._holds)
        if hold["uid"] != values["user"]["uid"]:
            raise GoogleError(
                "PERMISSION_DENIED", "Missing or insufficient permissions."
            )
        if hold["delivery"] and self._review(hold["delivery"]) != "REJECTED":
            text = f"Document already exists: {hold['delivery']} delivers this hold."
            raise GoogleError("ALREADY_EXISTS", text)
        fields = {
            "hold": {"referenceValue": values["hold"]},
            "answer": {"stringValue": values["answer"]},
            "review": mapped(state={"stringValue": "PENDING"}),
        }
        document = self._create("deliveries", fields)
        hold["delivery"] = document["name"]
        self._deliveries[document["name"]] = {
            "hold": values["hold"],
            "right": values["answer"] == self._notes[hold["note"]]["text"].upper(),
            "ready": time.monotonic() + REVIEW_SECONDS,
            "paid": False,
        }
        return document

    def _review(self, name: str) -> str:
        delivery = self._deliveries[name]
        if time.monotonic() < delivery["ready"]:
            return "PENDING"
        return "ACCEPTED" if delivery["right"] else "REJECTED"

    def complete(self, request: Request) -> Response:
        """Create a document in `payouts`."""
        return self._answer(self._payout, request)

    def _payout(self, request: Request) -> dict[str, Any]:
        values = self._read(request, "payouts")
        name, user = values["delivery"], values["user"]
        delivery = self._refer(name, "deliveries", self._deliveries)
        hold = self._holds[delivery["hold"]]
        if hold["uid"] != user["uid"]:
            raise GoogleError(
                "PERMISSION_DENIED", "Missing or insufficient permissions."
            )
        if delivery["paid"]:
            raise GoogleError(
                "ALREADY_EXISTS", f"Document already exists: {name} is paid."
            )
        state = self._review(name)
        if state != "ACCEPTED":
            text = f'Delivery "{name}" is {state}, a payout needs an ACCEPTED one.'
            if state == "REJECTED":
                text += " The answer is not the text in capital letters."
                raise GoogleError("FAILED_PRECONDITION", text)
            kind = "type.googleapis.com/google.rpc.RetryInfo"
            detail = {"@type": kind, "retryDelay": "0.500s"}
            raise GoogleError("FAILED_PRECONDITION", text, detail)
        delivery["paid"] = True
        pay = self._notes[hold["note"]]["pay"]
        user["credits"] += pay
        self.book.pay(hold["note"], pay)
        fields = {
            "delivery": {"referenceValue": name},
            "credits": {"integerValue": str(pay)},
            "balance": {"integerValue": str(user["credits"])},
        }
        return self._create("payouts", fields)
