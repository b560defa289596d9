"""A map publisher's lettering bureau in Java: Spring Boot 3, Jackson on records, Jakarta Validation.

Refusals are application/problem+json (ProblemDetail); the controller advice lets Jackson's own
sentence through and lists constraint violations under `errors`. Unknown properties fail. Lists
are Spring Data's PagedModel, pages counted from zero. Without a good token the resource server
answers an empty 401.

A label has no key of its own but the sheet and its number there. It is drawn under an
assignment, in the style that the label asks for; this leaves a proof, and settling a proof pays
and wants an Idempotency-Key header. Fees are minor units with a currency: a cent is a credit.
"""
# mypy: ignore-errors

import json
import re
import secrets
import uuid
from datetime import UTC, datetime
from functools import wraps
from http import HTTPStatus
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_PACKAGE = "dev.kartotek.lettering.web"
_PROBLEMS = "https://kartotek.dev/problems/"
_STYLES = ("CAPITALS", "SPACED_CAPITALS", "SLOPED_CAPITALS")
_LABELS = [
    ("1417-III", 3, "Ferry landing", "the old ferry landing", 0, 18),
    ("1417-III", 7, "Moor", "alder moor, common grazing", 1, 13),
    ("1417-III", 8, "Ford", "ford (in summer only)", 2, 9),
    ("1417-IV", 1, "Forest", "kingswood north", 1, 21),
    ("1417-IV", 2, "Chapel", "ruined chapel of the three wells", 0, 16),
    ("1417-IV", 12, "Stream", "bitter brook", 2, 8),
    ("1517-I", 4, "Pass", "saddle pass 1,204 m", 0, 27),
    ("1517-I", 5, "Glacier", "lesser whitehorn glacier", 1, 31),
    ("1517-I", 9, "Tarn", "mirror tarn", 2, 6),
    ("1517-II", 2, "Hut", "hikers' hut, no warden", 0, 12),
]
_MAX_SIZE = 6


class _Problem(Exception):  # noqa: N818
    """An ErrorResponseException."""

    def __init__(self, status: int, detail: str, name: str = "", **more: Any) -> None:
        super().__init__(detail)
        self.status, self.detail, self.name, self.more = status, detail, name, more

    def answer(
        self, request: Request, headers: dict[str, str] | None = None
    ) -> Response:
        title = (
            self.name.replace("-", " ").capitalize() or HTTPStatus(self.status).phrase
        )
        body = {
            "type": _PROBLEMS + self.name if self.name else "about:blank",
            "title": title,
            "status": self.status,
            "detail": self.detail,
            "instance": request.path,
            **self.more,
        }
        media = {"Content-Type": "application/problem+json"}
        return Response(self.status, body, media | (headers or {}))


def _unreadable(words: str) -> _Problem:
    return _Problem(400, f"JSON parse error: {words}")


class _Record:
    """A Java record that Jackson binds and whose components are all @NotNull or @NotBlank."""

    def __init__(self, name: str, **components: Any) -> None:
        self.name, self.components = f"{_PACKAGE}.{name}", components

    def bind(self, value: Any) -> dict[str, Any] | None:
        """Read the value in the order of the stream; the first complaint ends it."""
        if value is None:
            return None
        if isinstance(value, str):
            raise _unreadable(
                f"Cannot construct instance of `{self.name}` (although at least one Creator "
                "exists): no String-argument constructor/factory method to deserialize from "
                f"String value ('{value}')"
            )
        if not isinstance(value, dict):
            raise _mismatch(self.name, value)
        found = dict.fromkeys(self.components)
        for name, inner in value.items():
            if name not in self.components:
                known = ", ".join(f'"{component}"' for component in self.components)
                raise _unreadable(
                    f'Unrecognized field "{name}" (class {self.name}), not marked as ignorable '
                    f"({len(self.components)} known properties: {known}])"
                )
            kind = self.components[name]
            found[name] = kind.bind(inner) if isinstance(kind, _Record) else kind(inner)
        return found

    def violations(self, found: dict[str, Any], path: str = "") -> list[dict[str, str]]:
        """Return what the Validator has to say, by path."""
        said = []
        for name, kind in self.components.items():
            here, value = path + name, found[name]
            if isinstance(kind, _Record) and value is not None:
                said += kind.violations(value, f"{here}.")
            elif kind is _string:
                if value is None or not value.strip():
                    said.append({"field": here, "message": "must not be blank"})
            elif value is None:
                said.append({"field": here, "message": "must not be null"})
        return said


def _mismatch(kind: str, value: Any) -> _Problem:
    if isinstance(value, dict):
        token = "Object value (token `JsonToken.START_OBJECT`)"
    elif isinstance(value, list):
        token = "Array value (token `JsonToken.START_ARRAY`)"
    elif isinstance(value, bool):
        token = f"Boolean value (token `JsonToken.VALUE_{str(value).upper()}`)"
    elif isinstance(value, int):
        token = "Integer value (token `JsonToken.VALUE_NUMBER_INT`)"
    else:
        token = "Floating-point value (token `JsonToken.VALUE_NUMBER_FLOAT`)"
    return _unreadable(f"Cannot deserialize value of type `{kind}` from {token}")


def _string(value: Any) -> str | None:
    if isinstance(value, dict | list):
        raise _mismatch("java.lang.String", value)
    return json.dumps(value) if isinstance(value, bool | int | float) else value


def _whole(kind: str) -> Any:
    def read(value: Any) -> int | None:
        if isinstance(value, str):
            if not value.strip():
                return None
            if not re.fullmatch(r"[+-]?\d{1,18}", value.strip()):
                raise _unreadable(
                    f'Cannot deserialize value of type `{kind}` from String "{value}": '
                    f"not a valid `{kind}` value"
                )
            return int(value)
        if isinstance(value, dict | list | bool):
            raise _mismatch(kind, value)
        return None if value is None else int(value)

    return read


def _uuid(value: Any) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise _mismatch("java.util.UUID", value)
    if not re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", value):
        raise _unreadable(
            f'Cannot deserialize value of type `java.util.UUID` from String "{value}": '
            "UUID has to be represented by standard 36-char representation"
        )
    return value.lower()


def _style(value: Any) -> str | None:
    kind = f"{_PACKAGE}.LetterStyle"
    if isinstance(value, dict | list | bool | float):
        raise _mismatch(kind, value)
    if value is None or value in _STYLES:
        return value
    if isinstance(value, int):
        raise _unreadable(
            f"Cannot deserialize value of type `{kind}` from number {value}: "
            "not allowed to deserialize Enum value out of number: disable "
            "DeserializationConfig.DeserializationFeature.FAIL_ON_NUMBERS_FOR_ENUMS to allow"
        )
    raise _unreadable(
        f'Cannot deserialize value of type `{kind}` from String "{value}": not one of the '
        f"values accepted for Enum class: [{', '.join(_STYLES)}]"
    )


_CLAIM = _Record("ClaimRequest", sheet=_string, labelNo=_whole("java.lang.Integer"))
_LETTERING = _Record("Lettering", text=_string, style=_style)
_SUBMIT = _Record("ProofRequest", assignmentId=_uuid, lettering=_LETTERING)
_SETTLE = _Record(
    "SettlementRequest", assignmentId=_uuid, proofId=_whole("java.lang.Long")
)


def _bound(request: Request, record: _Record) -> dict[str, Any]:
    """Resolve a @Valid @RequestBody."""
    media = request.headers.get("Content-Type") or "application/octet-stream"
    if media.partition(";")[0].strip().lower() != "application/json":
        raise _Problem(415, f"Content-Type '{media}' is not supported.")
    if not request.raw.strip():
        raise _Problem(400, "Required request body is missing")
    try:
        body = json.loads(request.raw.decode())
    except ValueError as problem:
        if getattr(problem, "pos", 0) >= len(request.raw.rstrip()):
            raise _unreadable("Unexpected end-of-input") from None
        at = request.raw.decode(errors="replace")[getattr(problem, "pos", 0) :][:1]
        raise _unreadable(
            f"Unexpected character ('{at}' (code {ord(at or ' ')}))"
        ) from None
    found = record.bind(body)
    if found is None:
        raise _Problem(400, "Required request body is missing")
    if said := record.violations(found):
        raise _Problem(400, "Invalid request content.", errors=said)
    return found


def _advised(method: Any) -> Any:
    """Put the controller advice around a handler."""

    @wraps(method)
    def handler(self: Any, request: Request) -> Response:
        try:
            return method(self, request)
        except _Problem as problem:
            return problem.answer(request)

    return handler


def _secured(method: Any) -> Any:
    """Let the security filter chain look first."""

    @wraps(method)
    def handler(self: Any, request: Request) -> Response:
        if request.token in self._draughtsmen:
            return _advised(method)(self, request)
        challenge = "Bearer"
        if request.token:
            challenge += (
                ' error="invalid_token", error_description="Unknown access token"'
            )
        return Response(401, b"", {"WWW-Authenticate": challenge})

    return handler


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


class MapLetteringSpring(Backend):
    """Ten labels on four sheets; sheet and labelNo, then a lettering, then a settlement."""

    def __init__(self) -> None:
        super().__init__()
        self._draughtsmen: dict[str, dict[str, Any]] = {}
        self._assignments: dict[str, dict[str, Any]] = {}
        self._proofs: dict[int, dict[str, Any]] = {}
        self._replays: dict[tuple[str, str], tuple[dict[str, Any], Response]] = {}
        self._labels = {
            (sheet, number): {
                "ref": f"{sheet}/{number}",
                "sheet": sheet,
                "labelNo": number,
                "feature": feature,
                "wording": wording,
                "style": _STYLES[style],
                "fee": {"minorUnits": cents, "currency": "USD"},
                "state": "UNDRAWN",
            }
            for sheet, number, feature, wording, style, cents in _LABELS
        }

    def texts(self) -> dict[str, str]:
        """Return the wordings by ref."""
        return {label["ref"]: label["wording"] for label in self._labels.values()}

    def missing(self, request: Request) -> Response:
        """Answer as the dispatcher servlet does."""
        verbs = {p: v for (v, p), name in ACTIONS.items() if hasattr(self, name)}
        if request.path in verbs and verbs[request.path] != request.method:
            problem = _Problem(405, f"Method '{request.method}' is not supported.")
            return problem.answer(request, {"Allow": verbs[request.path]})
        return _Problem(404, f"No static resource {request.path[1:]}.").answer(request)

    def _owned(self, request: Request, number: str) -> dict[str, Any]:
        assignment = self._assignments.get(number)
        if assignment is None:
            raise _Problem(
                404, f"No assignment with id {number}.", "assignment-not-found"
            )
        if assignment["draughtsman"] != self._draughtsmen[request.token]["agent_id"]:
            words = f"Assignment {number} belongs to another draughtsman."
            raise _Problem(403, words, "not-your-assignment")
        return assignment

    @_advised
    def register(self, request: Request) -> Response:
        """Take on a draughtsman."""
        self.book.registrations += 1
        token = secrets.token_urlsafe(32)
        agent = {"agent_id": str(uuid.uuid4()), "credits": 100}
        self._draughtsmen[token] = agent
        return Response(200, {**agent, "access_token": token})

    @_advised
    def marketplace(self, request: Request) -> Response:
        """List a page of undrawn labels."""
        asked = {}
        for name, default in (("limit", "5"), ("page", "0")):
            value = request.query.get(name) or default
            if not re.fullmatch(r"-?\d{1,9}", value):
                raise _Problem(400, f"Failed to convert '{name}' with value: '{value}'")
            asked[name] = int(value)
        size = min(max(asked["limit"], 1), _MAX_SIZE)
        page = max(asked["page"], 0)
        every = [
            label for label in self._labels.values() if label["state"] == "UNDRAWN"
        ]
        return Response(
            200,
            {
                "content": every[page * size : (page + 1) * size],
                "page": {
                    "size": size,
                    "number": page,
                    "totalElements": len(every),
                    "totalPages": -(-len(every) // size),
                },
            },
        )

    @_secured
    def tasks(self, request: Request) -> Response:
        """List the same to those who are signed in."""
        return self.marketplace(request)

    @_secured
    def claim(self, request: Request) -> Response:
        """Assign a label."""
        given = _bound(request, _CLAIM)
        label = self._labels.get((given["sheet"], given["labelNo"]))
        if label is None:
            words = f"There is no label {given['labelNo']} on sheet {given['sheet']}."
            raise _Problem(404, words, "label-not-found")
        if label["state"] != "UNDRAWN":
            words = f"Label {label['ref']} is not free (state is {label['state']})."
            raise _Problem(409, words, "label-taken")
        number = str(uuid.uuid4())
        label["state"] = "ASSIGNED"
        self.book.claimed(label["ref"])
        self._assignments[number] = {
            "assignmentId": number,
            "draughtsman": self._draughtsmen[request.token]["agent_id"],
            "label": label,
            "state": "DRAWING",
            "assignedAt": _now(),
        }
        return Response(200, self._assignments[number])

    @_secured
    def submit(self, request: Request) -> Response:
        """Pull a proof of the lettering."""
        given = _bound(request, _SUBMIT)
        assignment = self._owned(request, given["assignmentId"])
        label, lettering = assignment["label"], given["lettering"]
        if assignment["state"] != "DRAWING":
            words = f"Assignment is {assignment['state']}, expected DRAWING."
            raise _Problem(409, words, "wrong-state")
        if lettering["style"] != label["style"]:
            words = f"Label {label['ref']} is set in {label['style']}, not {lettering['style']}."
            raise _Problem(422, words, "proof-rejected")
        if lettering["text"] != label["wording"].upper():
            words = "The lettering does not read as the label's wording in capitals."
            raise _Problem(422, words, "proof-rejected")
        number = 5208 + 3 * len(self._proofs)
        assignment["state"] = "PROOFED"
        label["state"] = "DRAWN"
        self._proofs[number] = {
            "proofId": number,
            "assignmentId": assignment["assignmentId"],
            "lettering": lettering,
            "pulledAt": _now(),
        }
        return Response(200, self._proofs[number])

    @_secured
    def complete(self, request: Request) -> Response:
        """Settle a proof, once for every key."""
        given = _bound(request, _SETTLE)
        key = (request.headers.get("Idempotency-Key") or "").strip()
        if not key:
            raise _Problem(400, "Required header 'Idempotency-Key' is not present.")
        before = self._replays.get((request.token, key))
        if before and before[0] == given:
            return before[1]
        if before:
            words = "This Idempotency-Key was used with a different request."
            raise _Problem(422, words, "idempotency-key-reused")
        assignment = self._owned(request, given["assignmentId"])
        if assignment["state"] == "DRAWING":
            raise _Problem(
                409, "Assignment is DRAWING, expected PROOFED.", "wrong-state"
            )
        proof = self._proofs.get(given["proofId"])
        if proof is None or proof["assignmentId"] != assignment["assignmentId"]:
            words = f"Assignment has no proof {given['proofId']}."
            raise _Problem(404, words, "proof-not-found")
        if assignment["state"] == "SETTLED":
            raise _Problem(409, "Assignment is already SETTLED.", "wrong-state")
        label, agent = assignment["label"], self._draughtsmen[request.token]
        assignment["state"] = label["state"] = "SETTLED"
        self.book.pay(label["ref"], label["fee"]["minorUnits"])
        agent["credits"] += label["fee"]["minorUnits"]
        settled = {
            "assignmentId": assignment["assignmentId"],
            "state": "SETTLED",
            "paid": label["fee"],
            "balance": {"minorUnits": agent["credits"], "currency": "USD"},
            "settledAt": _now(),
        }
        answer = Response(200, settled)
        self._replays[request.token, key] = (given, answer)
        return answer
