"""Zetsel: the copy floor of a Dutch typesetting bureau, kept by one Haskell programmer.

Haskell: Servant on Warp with generically derived aeson instances. Refusals are plain text,
the first thing that is wrong and no more; sum types come as tag and contents.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_SHEETS = [
    ("ZS-0412", "canal tours leave every half hour", 30),
    ("ZS-0413", "please return the tray to the counter", 12),
    ("ZS-0417", "bicycles placed here will be removed", 22),
    ("ZS-0420", "tulip bulbs, mixed colours, thirty pieces", 17),
    ("ZS-0421", "the tasting room closes at five", 9),
    ("ZS-0425", "ring twice for the printer's workshop", 26),
    ("ZS-0426", "ask at the desk for a locker key", 14),
    ("ZS-0430", "platform changes are announced", 19),
]
_PACES = {"SameDay": 8, "Overnight": 24}  # hours
_KINDS = {
    dict: "Object",
    list: "Array",
    str: "String",
    bool: "Boolean",
    int: "Number",
    float: "Number",
    type(None): "Null",
}

# Record types of the API: field -> its type
_TYPES: dict[str, dict[str, str]] = {
    "TakeSheet": {"sheet": "Text", "pace": "Pace"},
    "HandProof": {"lease": "Text", "proof": "Proof"},
    "Proof": {"setText": "Text"},
    "FileSheet": {"lease": "Text", "slip": "Text"},
}


class _ServerError(Exception):
    """A thrown ServerError: status and errBody."""

    def __init__(self, status: int, body: str = "") -> None:
        super().__init__(body)
        self.answer = Response(status, body)


def _parse(value: Any, kind: str, path: str) -> None:
    """Check a value as aeson's parseJSON does; the first fault is thrown."""

    def fail(what: str, name: str) -> None:
        raise _ServerError(400, f"Error in {path}: parsing {name} failed, {what}")

    found = _KINDS[type(value)]
    if kind == "Text":
        if not isinstance(value, str):
            fail(f"expected String, but encountered {found}", "Text")
        return
    if kind == "Pace":
        if not isinstance(value, str):
            fail(f"expected String, but encountered {found}", "Zetsel.Api.Pace")
        if value not in _PACES:
            tags = ",".join(f'"{tag}"' for tag in _PACES)
            fail(
                f'expected one of the tags [{tags}], but found tag "{value}"',
                "Zetsel.Api.Pace",
            )
        return
    name = f"Zetsel.Api.{kind}({kind})"
    if not isinstance(value, dict):
        fail(f"expected Object, but encountered {found}", name)
    for key, inner in _TYPES[kind].items():
        if key not in value:
            fail(f'key "{key}" not found', name)
        _parse(value[key], inner, f"{path}.{key}")


class Zetsel(Backend):
    """Sheets are leased, proofs are passed or bounced, and filing pays the fee."""

    def __init__(self) -> None:
        super().__init__()
        self.setters: dict[str, dict[str, Any]] = {}  # by token
        self.leases: dict[str, dict[str, Any]] = {}
        self.sheets = {
            number: {"body": body, "fee": fee, "state": "Loose"}
            for number, body, fee in _SHEETS
        }

    def texts(self) -> dict[str, str]:
        return {number: sheet["body"] for number, sheet in self.sheets.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, "")

    def _ok(self, body: Any) -> Response:
        return Response(200, body, {"Content-Type": "application/json;charset=utf-8"})

    def _enter(
        self, request: Request, kind: str
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the setter and the decoded body: auth, content type, header, body."""
        if not request.headers.get("Authorization"):
            raise _ServerError(401, "Missing auth header")
        setter = self.setters.get(request.token)
        if not setter:
            raise _ServerError(403, "Invalid token")
        media = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
        if media != "application/json":
            raise _ServerError(415)
        named = request.headers.get("X-Agent-Id")
        if named is None:
            raise _ServerError(400, "Header X-Agent-Id is required")
        if not request.raw:
            raise _ServerError(400, "Error in $: not enough input")
        try:
            body = request.json()
        except ValueError:
            raise _ServerError(
                400, "Error in $: Failed reading: not a valid json value"
            ) from None
        _parse(body, kind, "$")
        if named != setter["id"]:
            raise _ServerError(403, "X-Agent-Id is not the agent of this token")
        return setter, body

    def _lease(self, setter: dict[str, Any], number: str) -> dict[str, Any]:
        lease = self.leases.get(number)
        if not lease or lease["setter"] != setter["id"]:
            raise _ServerError(404, f"You hold no lease {number}")
        return lease

    # handlers

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        setter = f"setter-{secrets.token_hex(4)}"
        token = f"zt_{secrets.token_hex(20)}"
        self.setters[token] = {"id": setter, "balance": 100}
        return self._ok({"agent_id": setter, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        limit = request.query.get("limit", "50")
        if not limit.removeprefix("-").isdecimal():
            return Response(
                400,
                "Error parsing query parameter limit failed: could not parse: "
                f"`{limit}' (input does not start with a digit)",
            )
        rows = [
            {
                "sheet": number,
                "brief": "Set the body of the copy in capitals throughout.",
                "copy": {"language": "en", "body": sheet["body"]},
                "fee": {"amount": sheet["fee"], "unit": "credits"},
                "state": sheet["state"],
            }
            for number, sheet in self.sheets.items()
        ]
        return self._ok(rows[: max(int(limit), 0)])

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        try:
            setter, body = self._enter(request, "TakeSheet")
            sheet = self.sheets.get(body["sheet"])
            if not sheet:
                raise _ServerError(404, f"No sheet {body['sheet']}")
            if sheet["state"] != "Loose":
                raise _ServerError(
                    409, f"Sheet {body['sheet']} is {sheet['state']}, not Loose"
                )
        except _ServerError as error:
            return error.answer
        sheet["state"] = "Leased"
        number = f"L{len(self.leases) + 1:03d}-{secrets.token_hex(3)}"
        self.leases[number] = {
            "setter": setter["id"],
            "sheet": body["sheet"],
            "slip": "",
        }
        self.book.claimed(body["sheet"])
        until = datetime.now(UTC) + timedelta(hours=_PACES[body["pace"]])
        return self._ok(
            {
                "lease": number,
                "leasedSheet": body["sheet"],
                "leasedUntil": until.strftime("%Y-%m-%dT%H:%M:%SZ"),
            }
        )

    def submit(self, request: Request) -> Response:
        try:
            setter, body = self._enter(request, "HandProof")
            lease = self._lease(setter, body["lease"])
            sheet = self.sheets[lease["sheet"]]
            if sheet["state"] != "Leased":
                raise _ServerError(
                    409, f"Sheet {lease['sheet']} is {sheet['state']}, not Leased"
                )
        except _ServerError as error:
            return error.answer
        if body["proof"]["setText"] != sheet["body"].upper():
            answer = self._ok(
                {
                    "tag": "Bounced",
                    "contents": "The proof differs from the body of the copy in capitals",
                }
            )
            answer.refused = True
            return answer
        sheet["state"] = "Passed"
        lease["slip"] = secrets.token_hex(6)
        return self._ok({"tag": "Passed", "contents": {"slip": lease["slip"]}})

    def complete(self, request: Request) -> Response:
        try:
            setter, body = self._enter(request, "FileSheet")
            lease = self._lease(setter, body["lease"])
            sheet = self.sheets[lease["sheet"]]
            if sheet["state"] != "Passed":
                raise _ServerError(
                    409, f"Sheet {lease['sheet']} is {sheet['state']}, not Passed"
                )
            if body["slip"] != lease["slip"]:
                raise _ServerError(
                    400, f"Slip {body['slip']} is not the slip of its proof"
                )
        except _ServerError as error:
            return error.answer
        sheet["state"] = "Filed"
        setter["balance"] += sheet["fee"]
        self.book.pay(lease["sheet"], sheet["fee"])
        return self._ok(
            {
                "filedSheet": lease["sheet"],
                "earned": {"amount": sheet["fee"], "unit": "credits"},
                "balance": setter["balance"],
            }
        )
