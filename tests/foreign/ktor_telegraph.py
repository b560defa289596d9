"""Kotlin with Ktor and kotlinx.serialization (strict Json): a telegraph office.

Lists {"dispatches": [...], "page": {"size", "total"}}: each with `ref` ("WX-4411"), `phase`,
`instruction` ("UPPERCASE"), `manuscript` (a sealed class `Sheet`: {"type": "plain", "text": str}),
`tariff` ({"credits": n}), `filedAt`.
claim wants {"dispatchRef": "WX-4411"}; 200 {"ticket": {"number": int, "dispatchRef", "phase",
"heldUntil"}}. A second claim is a 409, which names the ticket if it is the agent's own.
submit wants {"ticketNumber": int, "transcript": Sheet}, that is {"type": "plain", "text": str}, as
the manuscript is listed; 200 {"ticket": {...}, "receipt": {"code": "RC-..."}}.
complete wants {"ticketNumber": int, "receiptCode": "RC-..."}; pays, 200 {"ticket", "paid"}.
Refusals: StatusPages answers {"code", "message"}; a body that cannot be decoded is a 400
MALFORMED_REQUEST with Ktor's "Illegal input: " and kotlinx.serialization's message (1.8: missing
fields, unknown keys, tokens with offset and path); ids of the wrong form are a 400
VALIDATION_FAILED (RequestValidation); wrong work is a 422, states are 404 and 409. No token is an
empty 401, no JSON content type an empty 415, as Ktor has it.
"""

import json
import re
import secrets
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NoReturn

from tests.foreign.backend import Backend, Request, Response

MANUSCRIPTS = [
    ("arriving on the evening train with two trunks and a parrot", 14),
    ("the bridge is down so send the wagons by the north road", 11),
    ("congratulations to the happy couple from everyone at the mill", 8),
    ("sell the grey mare only if the price is good", 6),
    ("snow has closed the pass and we are staying at the inn", 17),
    ("mother is well again and asks for news of the children", 20),
]
PACKAGE = "io.wireroom.api"
SHEET = "Sheet"  # the sealed class, with one subclass so far
OBJECT = "start of the object '{'"
PLAIN = ("plain", {"text": "String"})
USE = "Use '%s = true' in 'Json {}' builder "
OR = "or '@JsonIgnoreUnknownKeys' annotation to ignore unknown keys."
IGNORE = USE % "ignoreUnknownKeys" + OR
COERCE = USE % "coerceInputValues" + "to coerce nulls if property has a default value."


class JsonDecodingException(Exception):
    """What kotlinx.serialization throws."""


class Decoder:
    """The streaming decoder of kotlinx.serialization, as far as these requests need it."""

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            json.loads(text)
        except json.JSONDecodeError as error:
            wanted = "end of the object '}'" if error.pos else OBJECT
            self.fail(
                f"Expected {wanted}, but had '{self.at(error.pos)}' instead", error.pos
            )

    def at(self, pos: int) -> str:
        return self.text[pos] if pos < len(self.text) else "EOF"

    def skip(self, pos: int) -> int:
        return len(self.text) - len(self.text[pos:].lstrip(" \t\r\n"))

    def shown(self, pos: int) -> str:
        if len(self.text) < 200:
            return self.text
        start, end = max(pos - 30, 0), pos + 30
        return (
            "....." * (start > 0)
            + self.text[start:end]
            + "....." * (end < len(self.text))
        )

    def fail(self, message: str, pos: int, path: str = "$", hint: str = "") -> NoReturn:
        raise JsonDecodingException(
            f"Unexpected JSON token at offset {pos}: {message} at path: {path}"
            + (f"\n{hint}" if hint else "")
            + f"\nJSON input: {self.shown(pos)}"
        )

    def structure(
        self, kind: Any, pos: int, path: str, tag: str = ""
    ) -> tuple[Any, int]:
        """Decode a class; return its properties and the position behind it."""
        name, fields = kind
        pos = self.skip(pos)
        if self.at(pos) != "{":
            self.fail(f"Expected {OBJECT}, but had '{self.at(pos)}' instead", pos, path)
        found: dict[str, Any] = {}
        last = path  # of the property decoded before, which is what JsonPath knows
        pos = self.skip(pos + 1)
        while self.at(pos) != "}":
            start = pos
            key, pos = scanstring(self.text, pos + 1)
            pos = self.skip(pos) + 1  # the colon
            if key in fields:
                last = f"{path}.{key}"
                decode = {"String": self.string, "Int": self.number, SHEET: self.sheet}[
                    fields[key]
                ]
                found[key], pos = decode(self.skip(pos), last)
            elif key == tag:
                _, pos = json.JSONDecoder().raw_decode(self.text, self.skip(pos))
            else:
                raise JsonDecodingException(
                    f"Encountered an unknown key '{key}' at offset {start + 1} at path: {last}"
                    f"\n{IGNORE}\nJSON input: {self.shown(start + 1)}"
                )
            pos = self.skip(pos)
            if self.at(pos) == ",":
                pos = self.skip(pos + 1)
        lacking = [field for field in fields if field not in found]
        if lacking:
            which, they = f"Field '{lacking[0]}' is", "it was"
            if len(lacking) > 1:
                which, they = f"Fields [{', '.join(lacking)}] are", "they were"
            what = f"{which} required for type with serial name '{name}', but {they} missing"
            raise JsonDecodingException(f"{what} at path: {path}")
        return found, pos + 1

    def string(self, pos: int, path: str) -> tuple[str, int]:  # noqa: RET503 - `fail` raises
        char = self.at(pos)
        if char == '"':
            return scanstring(self.text, pos + 1)  # type: ignore[no-any-return]
        if self.text.startswith("null", pos):
            self.fail(
                "Expected string literal but 'null' literal was found",
                pos,
                path,
                COERCE,
            )
        if char in "{[":
            self.fail(f"Expected beginning of the string, but got {char}", pos, path)
        self.fail(f"Expected quotation mark '\"', but had '{char}' instead", pos, path)

    def number(self, pos: int, path: str) -> tuple[int, int]:
        """Decode a number, which may be quoted."""
        quoted = self.at(pos) == '"'
        start = pos = pos + quoted
        while self.at(pos) not in {*'",:{}[] \t\r\n', "EOF"}:
            char = self.at(pos)
            if not ("0" <= char <= "9" or (char == "-" and pos == start)):
                self.fail(f"Unexpected symbol '{char}' in numeric literal", pos, path)
            pos += 1
        if self.text[start:pos] in ("", "-"):
            self.fail("Expected numeric literal", pos, path)
        if quoted and self.at(pos) != '"':
            self.fail("Expected closing quotation mark", pos, path)
        number, pos = int(self.text[start:pos]), pos + quoted
        if not -(2**31) <= number < 2**31:
            self.fail(f"Failed to parse int for input '{number}'", pos, path)
        return number, pos

    def sheet(self, pos: int, path: str) -> tuple[dict[str, Any], int]:
        """Decode the sealed class by its discriminator."""
        tree, _ = json.JSONDecoder().raw_decode(self.text, pos)
        shown = "\nJSON input: " + json.dumps(
            tree, ensure_ascii=False, separators=(",", ":")
        )
        if not isinstance(tree, dict):
            had = "JsonArray" if isinstance(tree, list) else "JsonLiteral"
            raise JsonDecodingException(
                f"Expected JsonObject, but had {'JsonNull' if tree is None else had} as the "
                f"serialized body of {PACKAGE}.{SHEET} at element: {path}{shown}"
            )
        kind, scope = tree.get("type"), f"in the polymorphic scope of '{SHEET}'"
        if kind is None:
            why = "Class discriminator was missing and no default serializers were registered"
            raise JsonDecodingException(f"{why} {scope}.{shown}")
        if kind != PLAIN[0]:
            hint = (
                f"Check if class with serial name '{kind}' exists and serializer is registered "
                "in a corresponding SerializersModule.\nTo be registered automatically, class "
                f"'{kind}' has to be '@Serializable', and the base class '{SHEET}' has to be "
                "sealed and '@Serializable'."
            )
            self.fail(
                f"Serializer for subclass '{kind}' is not found {scope}",
                pos,
                path,
                hint,
            )
        return self.structure(PLAIN, pos, path, "type")


def refuse(status: int, code: str, message: str) -> Response:
    return Response(status, {"code": code, "message": message})


class Ktor(Backend):
    """Dispatches that are taken up under tickets."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, int] = {}  # credits by token
        self.rows: dict[str, dict[str, Any]] = {}
        self.tickets: dict[int, dict[str, Any]] = {}
        for number, (text, price) in enumerate(MANUSCRIPTS):
            ref = f"WX-{4411 + 17 * number}"
            self.rows[ref] = {
                "ref": ref,
                "phase": "WAITING",
                "instruction": "UPPERCASE",
                "manuscript": {"type": "plain", "text": text},
                "tariff": {"credits": price},
                "filedAt": f"2025-06-0{1 + number}T06:30:00Z",
            }

    def texts(self) -> dict[str, str]:
        return {ref: row["manuscript"]["text"] for ref, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, "")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token, agent = secrets.token_hex(24), f"op-{1000 + self.book.registrations}"
        self.agents[token] = 100
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def marketplace(self, request: Request) -> Response:
        found = [row for row in self.rows.values() if row["phase"] == "WAITING"]
        size = request.query.get("limit", "")
        shown = found[: int(size)] if size.isdigit() else found
        page = {"size": len(shown), "total": len(found)}
        return Response(200, {"dispatches": shown, "page": page})

    def tasks(self, request: Request) -> Response:
        return (
            self.marketplace(request)
            if request.token in self.agents
            else self.unauthorized()
        )

    def unauthorized(self) -> Response:
        return Response(401, "", {"WWW-Authenticate": "Bearer"})

    def receive(
        self, request: Request, name: str, **fields: str
    ) -> dict[str, Any] | Response:
        """Return the decoded request, as call.receive() does."""
        if request.token not in self.agents:
            return self.unauthorized()
        media = request.headers.get("Content-Type") or ""
        if media.split(";")[0].strip().lower() != "application/json":
            return Response(415, "")
        try:
            text = request.raw.decode(errors="replace")
            given, _ = Decoder(text).structure((f"{PACKAGE}.{name}", fields), 0, "$")
        except JsonDecodingException as error:
            return refuse(400, "MALFORMED_REQUEST", f"Illegal input: {error}")
        for field, form in (
            ("dispatchRef", r"WX-\d{4}"),
            ("receiptCode", r"RC-[0-9A-F]{8}"),
        ):
            if field in given and not re.fullmatch(form, given[field]):
                return refuse(400, "VALIDATION_FAILED", f"{field} must match {form}")
        return given  # type: ignore[no-any-return]

    def claim(self, request: Request) -> Response:
        given = self.receive(request, "TakeUpRequest", dispatchRef="String")
        if isinstance(given, Response):
            return given
        ref = given["dispatchRef"]
        row = self.rows.get(ref)
        if row is None:
            return refuse(404, "DISPATCH_NOT_FOUND", f"No dispatch {ref}")
        for ticket in self.tickets.values():
            if ticket["dispatchRef"] == ref:
                own = ticket["token"] == request.token
                where = (
                    f"your desk under ticket {ticket['number']}"
                    if own
                    else "another desk"
                )
                return refuse(
                    409, "DISPATCH_TAKEN", f"Dispatch {ref} is already on {where}"
                )
        number = 70031 + 6 * len(self.tickets)
        self.tickets[number] = {
            "number": number,
            "dispatchRef": ref,
            "phase": "ON_DESK",
            "heldUntil": "2099-01-01T00:00:00Z",
            "token": request.token,
            "code": f"RC-{secrets.token_hex(4).upper()}",
        }
        row["phase"] = "ON_DESK"
        self.book.claimed(ref)
        return Response(200, {"ticket": self.shown(self.tickets[number])})

    @staticmethod
    def shown(ticket: dict[str, Any]) -> dict[str, Any]:
        return {
            key: value for key, value in ticket.items() if key not in ("token", "code")
        }

    def ticket(self, number: int, token: str) -> dict[str, Any] | Response:
        ticket = self.tickets.get(number)
        if ticket is None or ticket["token"] != token:
            return refuse(404, "TICKET_NOT_FOUND", f"No ticket {number}")
        if ticket["phase"] == "SENT":
            return refuse(409, "TICKET_CLOSED", f"Ticket {number} is closed")
        return ticket

    def submit(self, request: Request) -> Response:
        given = self.receive(
            request, "TranscriptRequest", ticketNumber="Int", transcript=SHEET
        )
        if isinstance(given, Response):
            return given
        ticket = self.ticket(given["ticketNumber"], request.token)
        if isinstance(ticket, Response):
            return ticket
        text = self.rows[ticket["dispatchRef"]]["manuscript"]["text"]
        if given["transcript"]["text"] != text.upper():
            why = "Transcript is not the manuscript in upper case"
            return refuse(422, "TRANSCRIPT_REJECTED", why)
        ticket["phase"] = "CHECKED"
        return Response(
            200, {"ticket": self.shown(ticket), "receipt": {"code": ticket["code"]}}
        )

    def complete(self, request: Request) -> Response:
        given = self.receive(
            request, "SendOffRequest", ticketNumber="Int", receiptCode="String"
        )
        if isinstance(given, Response):
            return given
        ticket = self.ticket(given["ticketNumber"], request.token)
        if isinstance(ticket, Response):
            return ticket
        if ticket["phase"] != "CHECKED":
            return refuse(409, "NOT_CHECKED", "Ticket has no checked transcript")
        if given["receiptCode"] != ticket["code"]:
            return refuse(
                409, "RECEIPT_MISMATCH", "Receipt does not belong to this ticket"
            )
        row = self.rows[ticket["dispatchRef"]]
        row["phase"] = ticket["phase"] = "SENT"
        self.agents[request.token] += row["tariff"]["credits"]
        self.book.pay(row["ref"], row["tariff"]["credits"])
        paid = {**row["tariff"], "balance": self.agents[request.token]}
        return Response(200, {"ticket": self.shown(ticket), "paid": paid})
