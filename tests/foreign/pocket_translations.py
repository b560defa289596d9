"""A community translation project on PocketBase: every action creates a record, and a
record that fails validation is refused with PocketBase's codes field by field."""

import base64
import contextlib
import json
import random
import re
import secrets
import string
import time
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl

from tests.foreign.backend import Backend, Request, Response

LOCALES = ["de", "es", "fr", "it", "ja", "nl", "pl", "pt-BR", "sv", "uk"]
HOLD_SECONDS = 1800

ROWS = [
    ("onboarding.welcome.title", "fr", 10, "Welcome aboard, traveller"),
    (
        "onboarding.welcome.body",
        "fr",
        25,
        "Pick a home station and we will do the rest.",
    ),
    ("tickets.empty", "de", 8, "You have no tickets yet"),
    ("tickets.expired", "de", 12, "This ticket expired yesterday at noon."),
    ("tickets.share", "pt-BR", 14, "Send this ticket to a friend"),
    ("map.offline", "pl", 16, "The map works offline, the timetable does not"),
    ("settings.delete.confirm", "uk", 30, "Delete your account and everything in it?"),
    ("settings.language", "sv", 6, "Choose your language"),
    ("errors.network", "ja", 18, "We could not reach the server. Please try again."),
    ("errors.payment", "it", 21, "Your bank said no, and it did not say why."),
    ("footer.thanks", "nl", 9, "Made by 214 volunteers"),
]

Field = dict[str, Any]

RESERVATIONS: list[Field] = [
    {"name": "segment", "type": "relation", "to": "segments", "required": True},
    {"name": "translator", "type": "relation", "to": "translators", "required": True},
    {"name": "locale", "type": "select", "values": LOCALES, "required": True},
    {"name": "comment", "type": "text", "max": 500},
]
TRANSLATIONS: list[Field] = [
    {"name": "reservation", "type": "relation", "to": "reservations", "required": True},
    {"name": "value", "type": "text", "required": True, "max": 5000},
    {"name": "machine_assisted", "type": "bool"},
]
SIGNOFFS: list[Field] = [
    {"name": "segment", "type": "relation", "to": "segments", "required": True},
    {"name": "translation", "type": "relation", "to": "translations", "required": True},
    {"name": "feedback", "type": "text", "max": 500},
]


class ApiError(Exception):
    """PocketBase's router.ApiError."""

    def __init__(
        self, status: int, message: str, data: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.data = status, message, data or {}

    def response(self) -> Response:
        """Return the error as PocketBase writes it."""
        return Response(
            self.status,
            {"data": self.data, "message": self.message, "status": self.status},
        )


def problem(code: str, message: str) -> dict[str, str]:
    return {"code": code, "message": message}


BLANK = problem("validation_required", "Cannot be blank.")


def now() -> str:
    return moment(time.time())


def moment(seconds: float) -> str:
    return (
        datetime.fromtimestamp(seconds, UTC)
        .isoformat(sep=" ", timespec="milliseconds")
        .replace("+00:00", "Z")
    )


_ANY = secrets.SystemRandom()


def new_id(source: Any = _ANY) -> str:
    return "".join(source.choices(string.ascii_lowercase + string.digits, k=15))


def to_string(raw: Any) -> str:
    """Cast as spf13/cast.ToString does."""
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, float) and raw.is_integer():
        return str(int(raw))
    return str(raw) if isinstance(raw, str | int | float) else ""


def to_bool(raw: Any) -> bool:
    """Cast as spf13/cast.ToBool does."""
    if isinstance(raw, str):
        return raw in ("1", "t", "T", "TRUE", "true", "True")
    return bool(raw) if isinstance(raw, bool | int | float) else False


def to_last(raw: Any) -> str:
    """Cast as list.ToUniqueStringSlice does and keep the last, as single values do."""
    if isinstance(raw, str) and raw.startswith("["):
        with contextlib.suppress(ValueError):
            raw = json.loads(raw)
    if isinstance(raw, list):
        values = [value for value in map(to_string, raw) if value]
        return values[-1] if values else ""
    return to_string(raw)


def jwt(claims: dict[str, Any]) -> str:
    def part(data: bytes) -> str:
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    head = part(b'{"alg":"HS256","typ":"JWT"}')
    body = part(json.dumps(claims, separators=(",", ":")).encode())
    return f"{head}.{body}.{part(secrets.token_bytes(32))}"


class PocketTranslations(Backend):
    """Manytongues."""

    def __init__(self) -> None:
        super().__init__()
        self.sessions: dict[str, dict[str, Any]] = {}  # token -> translator
        self.rows: dict[str, dict[str, dict[str, Any]]] = {
            name: {}
            for name in (
                "segments",
                "translators",
                "reservations",
                "translations",
                "signoffs",
            )
        }
        seed = random.Random(20240917)  # noqa: S311 - of names
        self.collections = {
            name: f"pbc_{seed.randrange(10**8, 4 * 10**9)}" for name in self.rows
        }
        for key, locale, credits_, text in ROWS:
            self._insert(
                "segments",
                {
                    "key": key,
                    "description": text,
                    "source_locale": "en",
                    "locale": locale,
                    "credits": credits_,
                    "status": "open",
                    "screenshot": "",
                },
                new_id(seed),
            )

    def texts(self) -> dict[str, str]:
        return {key: row["description"] for key, row in self.rows["segments"].items()}

    def _insert(
        self, collection: str, values: dict[str, Any], key: str = ""
    ) -> dict[str, Any]:
        key = key or new_id()
        row = {
            **values,
            "id": key,
            "collectionId": self.collections[collection],
            "collectionName": collection,
            "created": now(),
            "updated": now(),
        }
        self.rows[collection][key] = dict(sorted(row.items()))
        return self.rows[collection][key]

    def missing(self, request: Request) -> Response:
        return ApiError(404, "The requested resource wasn't found.").response()

    def _expire(self) -> None:
        for _key, row in list(self.rows["reservations"].items()):
            if row["status"] == "active" and row["expires"] < now():
                row["status"] = "expired"
                self.rows["segments"][row["segment"]]["status"] = "open"
                self.book.held.discard(row["segment"])

    def _caller(self, request: Request) -> dict[str, Any]:
        self._expire()
        translator = self.sessions.get(request.token)
        if translator is None:
            raise ApiError(
                401, "The request requires valid record authorization token."
            )
        return translator

    def _body(self, request: Request) -> dict[str, Any]:
        if not request.raw:
            return {}
        failure = ApiError(400, "An error occurred while loading the submitted data.")
        media = (request.headers.get("Content-Type") or "").lower()
        if media.startswith("application/json"):
            try:
                body = request.json()
            except ValueError:
                raise failure from None
            if body is None:
                return {}
            if not isinstance(body, dict):
                raise failure
            return body
        if media.startswith("application/x-www-form-urlencoded"):
            return dict(parse_qsl(request.raw.decode(errors="replace")))
        raise failure

    def _validate(self, fields: list[Field], body: dict[str, Any]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        found: dict[str, Any] = {}
        for spec in fields:
            name, raw = spec["name"], body.get(spec["name"])
            if spec["type"] == "bool":
                values[name] = to_bool(raw)
                continue
            value = to_string(raw) if spec["type"] == "text" else to_last(raw)
            values[name] = value
            if not value:
                if spec.get("required"):
                    found[name] = BLANK
            elif spec["type"] == "relation":
                if value not in self.rows[spec["to"]]:
                    found[name] = problem(
                        "validation_missing_rel_records",
                        "Failed to find all relation records with the provided ids.",
                    )
            elif spec["type"] == "select":
                if value not in spec["values"]:
                    found[name] = problem(
                        "validation_invalid_value", f"Invalid value {value}."
                    )
            elif len(value) > spec["max"]:
                found[name] = problem(
                    "validation_max_text_constraint",
                    f"Must be no more than {spec['max']} character(s).",
                )
        self._refuse(found)
        return values

    def _refuse(self, found: dict[str, Any]) -> None:
        if found:
            raise ApiError(400, "Failed to create record.", dict(sorted(found.items())))

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        row = self._insert(
            "translators",
            {
                "username": f"translator{secrets.randbelow(90000) + 10000}",
                "credits": 100,
            },
        )
        token = jwt(
            {
                "collectionId": row["collectionId"],
                "exp": int(time.time()) + 1209600,
                "id": row["id"],
                "refreshable": True,
                "type": "auth",
            }
        )
        self.sessions[token] = row
        return Response(
            200,
            {
                "access_token": token,
                "agent_id": row["id"],
                "credits": 100,
                "record": row,
            },
        )

    def tasks(self, request: Request) -> Response:
        self._expire()
        numbers: dict[str, int] = {"page": 1, "perPage": 30}
        for name, target in (
            ("page", "page"),
            ("perPage", "perPage"),
            ("limit", "perPage"),
        ):
            raw = request.query.get(name, "")
            if raw and not re.fullmatch(r"[+-]?[0-9]{1,18}", raw):
                return ApiError(
                    400, "Something went wrong while processing your request."
                ).response()
            if raw:
                numbers[target] = int(raw)
        size = min(numbers["perPage"], 1000) if numbers["perPage"] > 0 else 30
        page = max(numbers["page"], 1)
        rows = [
            row for row in self.rows["segments"].values() if row["status"] == "open"
        ]
        return Response(
            200,
            {
                "items": rows[(page - 1) * size : page * size],
                "page": page,
                "perPage": size,
                "totalItems": len(rows),
                "totalPages": -(-len(rows) // size),
            },
        )

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        try:
            return Response(200, self._reserve(request))
        except ApiError as error:
            return error.response()

    def _reserve(self, request: Request) -> dict[str, Any]:
        caller = self._caller(request)
        values = self._validate(RESERVATIONS, self._body(request))
        segment = self.rows["segments"][values["segment"]]
        found: dict[str, Any] = {}
        if values["translator"] != caller["id"]:
            found["translator"] = problem(
                "validation_translator_mismatch",
                "Must be the id of the authenticated translator.",
            )
        if values["locale"] != segment["locale"]:
            found["locale"] = problem(
                "validation_locale_mismatch",
                "Must be the locale the segment has to be translated to.",
            )
        self._refuse(found)
        if segment["status"] != "open":
            self._refuse(
                {"segment": problem("validation_not_unique", "Value must be unique.")}
            )
        segment["status"], segment["updated"] = "reserved", now()
        self.book.claimed(segment["id"])
        return self._insert(
            "reservations",
            {
                **values,
                "status": "active",
                "expires": moment(time.time() + HOLD_SECONDS),
            },
        )

    def submit(self, request: Request) -> Response:
        try:
            return Response(200, self._translate(request))
        except ApiError as error:
            return error.response()

    def _translate(self, request: Request) -> dict[str, Any]:
        caller = self._caller(request)
        values = self._validate(TRANSLATIONS, self._body(request))
        reservation = self.rows["reservations"][values["reservation"]]
        if reservation["translator"] != caller["id"]:
            raise ApiError(403, "You are not allowed to perform this request.")
        if reservation["status"] != "active":
            self._refuse(
                {
                    "reservation": problem(
                        "validation_reservation_inactive",
                        f"The reservation is {reservation['status']}.",
                    )
                }
            )
        return self._insert(
            "translations",
            {**values, "segment": reservation["segment"], "review": "pending"},
        )

    def complete(self, request: Request) -> Response:
        try:
            return Response(200, self._sign_off(request))
        except ApiError as error:
            return error.response()

    def _sign_off(self, request: Request) -> dict[str, Any]:
        caller = self._caller(request)
        values = self._validate(SIGNOFFS, self._body(request))
        translation = self.rows["translations"][values["translation"]]
        reservation = self.rows["reservations"][translation["reservation"]]
        segment = self.rows["segments"][values["segment"]]
        if reservation["translator"] != caller["id"]:
            raise ApiError(403, "You are not allowed to perform this request.")
        if translation["segment"] != segment["id"]:
            self._refuse(
                {
                    "segment": problem(
                        "validation_segment_mismatch",
                        "The translation belongs to another segment.",
                    )
                }
            )
        if reservation["status"] != "active":
            self._refuse(
                {
                    "translation": problem(
                        "validation_reservation_inactive",
                        f"The reservation is {reservation['status']}.",
                    )
                }
            )
        if translation["value"] != segment["description"].upper():
            translation["review"] = "rejected"
            self._refuse(
                {
                    "translation": problem(
                        "validation_review_rejected",
                        "The translation was rejected in review. Submit a new one.",
                    )
                }
            )
        translation["review"], reservation["status"] = "accepted", "done"
        segment["status"], segment["updated"] = "done", now()
        caller["credits"] += segment["credits"]
        self.book.pay(segment["id"], segment["credits"])
        return self._insert(
            "signoffs",
            {**values, "credits": segment["credits"], "balance": caller["credits"]},
        )
