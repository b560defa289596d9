"""Rust with axum 0.8, serde (deny_unknown_fields) and the validator crate: an engraver's shop.

Lists a bare array: each with `plate_id` ("pl_..."), `status`, `material`, `work` ({"op":
"uppercase", "inscription": the text}), `price` ({"amount_minor": 1200, "exponent": 2, "currency":
"CREDIT"}: 12 credits), `posted_at` (seconds).
claim wants {"plate_id": str, "hold_minutes": u16 from 5 to 120}; 200 {"hold_id": "hd_...",
"plate_id", "status", "expires_at"}. The same agent gets its hold again.
submit wants {"hold_id": str, "engraving": {"text": str}}, an externally tagged enum ("text" or
"lines", a list of strings to be joined by spaces); 200 {"hold_id", "status": "engraved"}.
complete wants {"plate_id": str, "hold_id": str}; pays, 200 {"plate_id", "status", "paid",
"balance"}.
Refusals: axum's JsonRejection in plain text (415 without the JSON content type, 400 for syntax,
422 "Failed to deserialize the JSON body into the target type: ..." with serde's message, path, line
and column, one error at a time); validator's errors are a 422 in JSON, {field: [{"code",
"message", "params"}]}, and so is wrong work; states and tokens are {"error": {"code", "message"}}
with 401, 404 and 409.
"""

import json
import secrets
import time
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PLATES = [
    ("pl_k7v2m9", "brass", "in memory of a dog who never missed a postman", 13),
    (
        "pl_t3x8qa",
        "slate",
        "the gardener is resting so please water the roses yourself",
        9,
    ),
    ("pl_d5n0wz", "copper", "first prize for the heaviest pumpkin in the county", 6),
    (
        "pl_h9c4rj",
        "steel",
        "presented to the night shift with thanks from the day shift",
        19,
    ),
    ("pl_b6y1fe", "brass", "this bench was built from the mast of a fishing boat", 10),
    (
        "pl_s2g7up",
        "walnut",
        "every book you borrow from here should come home again",
        16,
    ),
]
DATA = "Failed to deserialize the JSON body into the target type"
SYNTAX = "Failed to parse the request body as JSON"
Kind = Any  # "string", "u16", ("seq", kind) or ("enum", {variant: kind})
ENGRAVING = ("enum", {"text": "string", "lines": ("seq", "string")})


class SerdeError(Exception):
    """An error with serde_path_to_error's path; `at` is None until it gets its position."""

    def __init__(
        self, message: str, path: str, at: int | None, prefix: str = DATA
    ) -> None:
        self.message, self.path, self.at, self.prefix = message, path, at, prefix


def one_of(names: list[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return " or ".join(quoted) if len(quoted) < 3 else "one of " + ", ".join(quoted)


class Reader:
    """serde_json's deserializer over a body that is known to be JSON, by byte offsets."""

    def __init__(self, text: str) -> None:
        self.text = text

    def skip(self, at: int) -> int:
        return len(self.text) - len(self.text[at:].lstrip(" \t\r\n"))

    def position(self, at: int) -> str:
        lines = self.text[:at].split("\n")
        return f"at line {len(lines)} column {len(lines[-1].encode())}"

    def invalid_type(self, at: int, expected: str, path: str) -> SerdeError:
        value, end = json.JSONDecoder().raw_decode(self.text, at)
        if isinstance(value, dict | list):
            what, end = ("map" if isinstance(value, dict) else "sequence"), at
        elif value is None or isinstance(value, bool):
            what = "null" if value is None else f"boolean `{str(value).lower()}`"
        elif isinstance(value, str):
            what = f"string {json.dumps(value, ensure_ascii=False)}"
        else:
            what = (
                "integer" if isinstance(value, int) else "floating point"
            ) + f" `{value}`"
        return SerdeError(f"invalid type: {what}, expected {expected}", path, end)

    def read(self, kind: Kind, at: int, path: str = "") -> tuple[Any, int]:
        """Return the value and the offset behind it."""
        at = self.skip(at)
        if kind == "string":
            if self.text[at] != '"':
                raise self.invalid_type(at, "a string", path)
            return scanstring(self.text, at + 1)  # type: ignore[no-any-return]
        if kind == "u16":
            value, end = json.JSONDecoder().raw_decode(self.text, at)
            if isinstance(value, bool) or not isinstance(value, int):
                raise self.invalid_type(at, "u16", path)
            if not 0 <= value < 65536:
                raise SerdeError(
                    f"invalid value: integer `{value}`, expected u16", path, end
                )
            return value, end
        return (self.sequence if kind[0] == "seq" else self.variant)(kind[1], at, path)

    def sequence(self, kind: Kind, at: int, path: str) -> tuple[list[Any], int]:
        if self.text[at] != "[":
            raise self.invalid_type(at, "a sequence", path)
        values: list[Any] = []
        at = self.skip(at + 1)
        while self.text[at] != "]":
            value, at = self.read(kind, at, f"{path}[{len(values)}]")
            values.append(value)
            at = self.skip(at)
            if self.text[at] == ",":
                at = self.skip(at + 1)
        return values, at + 1

    def variant(self, variants: dict[str, Kind], at: int, path: str) -> tuple[Any, int]:
        char = self.text[at]
        opening = self.skip(at + 1) if char == "{" else at
        if self.text[opening] != '"':
            raise SerdeError("expected value", path, opening + 1, SYNTAX)
        name, end = scanstring(self.text, opening + 1)
        if name not in variants:
            wanted = one_of(list(variants))
            raise SerdeError(f"unknown variant `{name}`, expected {wanted}", path, end)
        inside = f"{path}.{name}"
        if char != "{":
            raise SerdeError(
                "invalid type: unit variant, expected newtype variant", inside, None
            )
        value, end = self.read(variants[name], self.skip(end) + 1, inside)
        end = self.skip(end)
        if self.text[end] != "}":
            raise SerdeError("expected value", path, end, SYNTAX)
        return {name: value}, end + 1

    def struct(
        self, name: str, fields: dict[str, Kind], at: int, path: str
    ) -> tuple[Any, int]:
        if self.text[at] == "[":  # serde takes a struct's fields as a sequence, too
            given, end = json.JSONDecoder().raw_decode(self.text, at)
            wanted = f"struct {name} with {len(fields)} elements"
            raise SerdeError(
                f"invalid length {len(given)}, expected {wanted}", path, end
            )
        if self.text[at] != "{":
            raise self.invalid_type(at, f"struct {name}", path)
        found: dict[str, Any] = {}
        at = self.skip(at + 1)
        try:
            while self.text[at] != "}":
                key, at = scanstring(self.text, at + 1)
                inside, wanted = f"{path}.{key}".lstrip("."), one_of(list(fields))
                if key not in fields:
                    raise SerdeError(
                        f"unknown field `{key}`, expected {wanted}", inside, None
                    )
                value_at = self.skip(self.skip(at) + 1)
                _, at = json.JSONDecoder().raw_decode(self.text, value_at)
                found[key], _ = self.read(fields[key], value_at, inside)
                at = self.skip(at)
                if self.text[at] == ",":
                    at = self.skip(at + 1)
            for key in [key for key in fields if key not in found]:
                raise SerdeError(f"missing field `{key}`", path, None)
        except SerdeError as error:
            if error.at is None:  # fix_position, after end_map
                at = self.skip(at)
                error.at = at + (self.text[at] == "}")
            raise
        return found, at + 1


def syntax_error(text: str) -> str:
    """Return serde_json's message for a body that is not JSON, or ""."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        where = Reader(text).position(error.pos + 1)
        if error.pos >= len(text.rstrip()):
            what = "an object" if text.lstrip().startswith("{") else "a value"
            return f"EOF while parsing {what} {where}"
        known = {
            "Expecting value": "expected value",
            "Extra data": "trailing characters",
        }
        return f"{known.get(error.msg, 'expected `,` or `}`')} {where}"
    return ""


def app_error(status: int, code: str, message: str) -> Response:
    return Response(status, {"error": {"code": code, "message": message}})


def invalid(field: str, code: str, message: str | None, **params: Any) -> Response:
    """Return the validator crate's ValidationErrors."""
    return Response(
        422, {field: [{"code": code, "message": message, "params": params}]}
    )


class Axum(Backend):
    """Plates that are held, engraved and handed in."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, int] = {}  # credits by token
        self.plates: dict[str, dict[str, Any]] = {}
        self.holds: dict[str, dict[str, Any]] = {}
        for key, material, text, price in PLATES:
            self.plates[key] = {
                "plate_id": key,
                "status": "open",
                "material": material,
                "work": {"op": "uppercase", "inscription": text},
                "price": {
                    "amount_minor": price * 100,
                    "exponent": 2,
                    "currency": "CREDIT",
                },
                "posted_at": 1748764800 + 5400 * len(self.plates),
            }

    def texts(self) -> dict[str, str]:
        return {key: plate["work"]["inscription"] for key, plate in self.plates.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, "")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token, agent = f"at_{secrets.token_urlsafe(24)}", f"ag_{secrets.token_hex(5)}"
        self.agents[token] = 100
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def marketplace(self, request: Request) -> Response:
        return Response(
            200, [row for row in self.plates.values() if row["status"] == "open"]
        )

    def tasks(self, request: Request) -> Response:
        if request.token not in self.agents:
            return app_error(401, "unauthorized", "missing or unknown bearer token")
        limit = request.query.get("limit", "100")
        if not limit.isdigit():
            why = "Failed to deserialize query string: limit: invalid digit found in string"
            return Response(400, why)
        return Response(200, self.marketplace(request).body[: int(limit)])

    def extract(
        self, request: Request, name: str, **fields: Kind
    ) -> dict[str, Any] | Response:
        """Return the body of the Json extractor, or its rejection."""
        if request.token not in self.agents:
            return app_error(401, "unauthorized", "missing or unknown bearer token")
        media = request.headers.get("Content-Type") or ""
        if media.split(";")[0].strip().lower() != "application/json":
            return Response(
                415, "Expected request with `Content-Type: application/json`"
            )
        text = request.raw.decode(errors="replace")
        wrong = syntax_error(text)
        if wrong:
            return Response(400, f"{SYNTAX}: {wrong}")
        reader = Reader(text)
        try:
            return reader.struct(name, fields, reader.skip(0), "")[0]  # type: ignore[no-any-return]
        except SerdeError as error:
            where = f"{error.path}: " if error.path else ""
            message = f"{error.prefix}: {where}{error.message} {reader.position(error.at or 0)}"
            return Response(422 if error.prefix == DATA else 400, message)

    def claim(self, request: Request) -> Response:
        given = self.extract(
            request, "HoldRequest", plate_id="string", hold_minutes="u16"
        )
        if isinstance(given, Response):
            return given
        minutes = given["hold_minutes"]
        if not 5 <= minutes <= 120:
            return invalid("hold_minutes", "range", None, min=5, max=120, value=minutes)
        plate = self.plates.get(given["plate_id"])
        if plate is None:
            return app_error(404, "plate_not_found", "no such plate")
        key = plate.get("hold", "")
        if key and (
            self.holds[key]["token"] != request.token or plate["status"] == "delivered"
        ):
            return app_error(409, "plate_taken", "plate is not open")
        if not key:
            key, until = f"hd_{secrets.token_hex(8)}", int(time.time()) + 60 * minutes
            self.holds[key] = {
                "plate": plate,
                "token": request.token,
                "expires_at": until,
            }
            plate.update(status="held", hold=key)
            self.book.claimed(plate["plate_id"])
        shown = {
            "hold_id": key,
            "plate_id": plate["plate_id"],
            "status": plate["status"],
        }
        return Response(200, {**shown, "expires_at": self.holds[key]["expires_at"]})

    def held(self, key: str, token: str) -> dict[str, Any] | Response:
        hold = self.holds.get(key)
        if hold is None or hold["token"] != token:
            return app_error(404, "hold_not_found", "no such hold")
        if hold["plate"]["status"] == "delivered":
            return app_error(409, "already_delivered", "plate has been delivered")
        return hold["plate"]  # type: ignore[no-any-return]

    def submit(self, request: Request) -> Response:
        given = self.extract(
            request, "EngravingRequest", hold_id="string", engraving=ENGRAVING
        )
        if isinstance(given, Response):
            return given
        plate = self.held(given["hold_id"], request.token)
        if isinstance(plate, Response):
            return plate
        engraving = given["engraving"]
        text = (
            engraving["text"] if "text" in engraving else " ".join(engraving["lines"])
        )
        if text != plate["work"]["inscription"].upper():
            why = "engraving must be the inscription in upper case"
            return invalid("engraving", "mismatch", why)
        plate["status"] = "engraved"
        return Response(200, {"hold_id": given["hold_id"], "status": "engraved"})

    def complete(self, request: Request) -> Response:
        given = self.extract(
            request, "DeliveryRequest", plate_id="string", hold_id="string"
        )
        if isinstance(given, Response):
            return given
        plate = self.held(given["hold_id"], request.token)
        if isinstance(plate, Response):
            return plate
        if plate["plate_id"] != given["plate_id"]:
            return app_error(409, "hold_mismatch", "hold is for another plate")
        if plate["status"] != "engraved":
            return app_error(409, "not_engraved", "plate has not been engraved yet")
        plate["status"] = "delivered"
        credits_ = plate["price"]["amount_minor"] // 100
        self.agents[request.token] += credits_
        self.book.pay(plate["plate_id"], credits_)
        shown = {
            "plate_id": plate["plate_id"],
            "status": "delivered",
            "paid": plate["price"],
        }
        return Response(200, {**shown, "balance": self.agents[request.token]})
