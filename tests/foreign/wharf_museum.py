"""Harbour & Wharf Museum, documentation department: worksheets go out on dockets.

An ASP.NET Core 6 API over a collections database of the nineties: PascalCase as the tables
have it, ValidationProblemDetails for malformed requests, the registrar's own refusals (HWM
numbers) for everything else, and a RowVersion on every docket.
"""

import base64
import json
import re
import secrets
from datetime import date, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_WORKSHEETS = [
    (
        40113,
        "HWM.1987.44.3",
        "Ship's bell",
        12,
        "Cast for the brig Amity, Whitby, 1811",
    ),
    (
        40118,
        "HWM.1991.7",
        "Net mender's needle",
        8,
        "Given by the family of Ann Pellow",
    ),
    (
        40121,
        "HWM.2002.130.1",
        "Tide table board",
        15,
        "High water at the east quay: see reverse",
    ),
    (
        40126,
        "HWM.1964.2",
        "Figurehead",
        25,
        "Unknown carver; found ashore after the gale of 1859",
    ),
    (
        40127,
        "HWM.1964.9",
        "Sail loft ledger",
        10,
        "Accounts of J. Trask & Sons, sailmakers",
    ),
    (
        40133,
        "HWM.2011.61",
        "Pilot's oilskin",
        19,
        "Worn on the last cutter of the Scilly station",
    ),
    (40140, "HWM.1978.18.2", "Lamp room notice", 7, "Trim wicks at dusk. No smoking."),
]
_TYPES = {
    "int": ("System.Nullable`1[System.Int32]", int),
    "date": ("System.Nullable`1[System.DateTime]", str),
    "bool": ("System.Nullable`1[System.Boolean]", bool),
    "string": ("System.String", str),
    "Deliverable": ("Hwm.Documentation.Api.Models.Deliverable", dict),
}
_RFC = "https://tools.ietf.org/html/rfc7231#section-"
_SECTION = {400: "6.5.1", 403: "6.5.3", 404: "6.5.4", 409: "6.5.8", 415: "6.5.13"}
_ALSO = {"request": ["The request field is required."]}
_DATE = r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,7})?)?(Z|[+-]\d\d:\d\d)?)?"


class WharfMuseum(Backend):
    """The documentation department; a docket is paid when it is signed off."""

    def __init__(self) -> None:
        super().__init__()
        self._sheets = {row[0]: row for row in _WORKSHEETS}
        self._status = {row[0]: "Available" for row in _WORKSHEETS}
        self._readers: dict[str, dict[str, Any]] = {}  # by token
        self._dockets: dict[str, dict[str, Any]] = {}
        self._version = 2001

    def texts(self) -> dict[str, str]:
        return {str(row[0]): row[4] for row in _WORKSHEETS}

    def _problem(self, status: int, title: str, **more: Any) -> Response:
        kind = (
            _RFC + _SECTION[status]
            if status in _SECTION
            else f"https://httpstatuses.io/{status}"
        )
        trace = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-00"
        body = {
            "type": kind,
            "title": title,
            "status": status,
            "traceId": trace,
            **more,
        }
        return Response(
            status, body, {"Content-Type": "application/problem+json; charset=utf-8"}
        )

    def _invalid(self, errors: dict[str, list[str]]) -> Response:
        return self._problem(
            400, "One or more validation errors occurred.", errors=errors
        )

    def _registrar(self, status: int, number: int, title: str, detail: str) -> Response:
        return self._problem(status, title, detail=detail, reasonCode=f"HWM-{number}")

    def missing(self, request: Request) -> Response:
        return Response(404, b"")

    def _reader(self, request: Request) -> dict[str, Any] | Response:
        if not request.headers.get("Authorization"):
            return Response(401, b"", {"WWW-Authenticate": "Bearer"})
        reader = self._readers.get(request.token)
        return reader or Response(
            401, b"", {"WWW-Authenticate": 'Bearer error="invalid_token"'}
        )

    def _bind(self, request: Request, **fields: str) -> dict[str, Any] | Response:  # noqa: PLR0915
        """Bind the body to a model as System.Text.Json and DataAnnotations do."""
        if "json" not in (request.headers.get("Content-Type") or "").lower():
            return self._problem(415, "Unsupported Media Type")
        raw = request.raw.decode(errors="replace").strip()
        if not raw:
            return self._invalid(
                {"": ["A non-empty request body is required."], **_ALSO}
            )
        try:
            body = json.loads(raw)
        except ValueError as error:
            at = getattr(error, "pos", 0)
            text = f"'{raw[at : at + 1]}' is an invalid start of a value."
            return self._invalid(
                {
                    "$": [
                        f"{text} Path: $ | LineNumber: 0 | BytePositionInLine: {at}."
                    ],
                    **_ALSO,
                }
            )
        if not isinstance(body, dict):
            return self._inconvertible(
                raw, "", "Hwm.Documentation.Api.Models.DocketRequest"
            )
        given = {
            k.lower(): (k, v) for k, v in body.items()
        }  # PropertyNameCaseInsensitive
        values: dict[str, Any] = {}
        for name, kind in fields.items():
            key, value = given.get(name.lower(), (name, None))
            clr, python = _TYPES[kind]
            wrong = not isinstance(value, python) or (
                python is int and isinstance(value, bool)
            )
            if not wrong and kind == "date":
                try:
                    value = (
                        date.fromisoformat(value[:10])
                        if re.fullmatch(_DATE, value)
                        else None
                    )
                    wrong = value is None
                except ValueError:
                    wrong = True
            if wrong and given.get(name.lower(), (name, None))[1] is not None:
                return self._inconvertible(raw, key, clr)
            values[name] = None if value == "" else value
            if kind == "Deliverable" and isinstance(value, dict):
                inner = {k.lower(): v for k, v in value.items()}.get("text")
                if inner is not None and not isinstance(inner, str):
                    return self._inconvertible(raw, f"{key}.Text", "System.String")
                values[name] = {"Text": inner}
        errors = {
            n: [f"The {n} field is required."] for n, v in values.items() if v is None
        }
        if (
            isinstance(values.get("Deliverable"), dict)
            and not values["Deliverable"]["Text"]
        ):
            errors["Deliverable.Text"] = ["The Text field is required."]
        category = values.get("ReaderCategory")
        if category is not None and category not in (
            "STAFF",
            "VOLUNTEER",
            "CONTRACTOR",
        ):
            rule = "must match the regular expression '^(STAFF|VOLUNTEER|CONTRACTOR)$'."
            errors["ReaderCategory"] = [f"The field ReaderCategory {rule}"]
        return self._invalid(errors) if errors else values

    def _inconvertible(self, raw: str, key: str, clr: str) -> Response:
        found = re.search(
            rf'"{re.escape(key.rsplit(".", maxsplit=1)[-1])}"\s*:\s*',
            raw,
            re.IGNORECASE,
        )
        end = found.end() if found else 0
        end = (
            end + 1 if raw[end] in "{[" else json.JSONDecoder().raw_decode(raw, end)[1]
        )
        path, message = (
            f"$.{key}".rstrip("."),
            f"The JSON value could not be converted to {clr}.",
        )
        where = f"Path: {path} | LineNumber: 0 | BytePositionInLine: {end}."
        return self._invalid({path: [f"{message} {where}"], **_ALSO})

    def _touch(self, docket: dict[str, Any], status: str) -> dict[str, Any]:
        self._version += 1
        docket["Status"] = self._status[docket["WorksheetId"]] = status
        docket["RowVersion"] = base64.b64encode(
            self._version.to_bytes(8, "big")
        ).decode()
        return {k: v for k, v in docket.items() if k != "Token"}

    def _docket(
        self, request: Request, number: str, status: str
    ) -> dict[str, Any] | Response:
        docket = self._dockets.get(number)
        if docket is None or docket["Token"] != request.token:
            return self._registrar(
                404,
                204,
                "Docket not found",
                f"No docket '{number}' is made out to you.",
            )
        if docket["Status"] != status:
            detail = f"Docket {number} is '{docket['Status']}'; for this it has to be '{status}'."
            return self._registrar(409, 209, "Docket out of sequence", detail)
        return docket

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(32)
        number = f"R-{7120 + self.book.registrations}"
        self._readers[token] = {"ReaderNo": number, "Balance": 100}
        return Response(
            200,
            {
                "agent_id": number,
                "access_token": token,
                "credits": 100,
                "ReaderNo": number,
            },
        )

    def agents(self, request: Request) -> Response:
        return Response(
            200,
            {"Readers": [{"ReaderNo": r["ReaderNo"]} for r in self._readers.values()]},
        )

    directory = agents

    def tasks(self, request: Request) -> Response:
        numbers = {"limit": 4, "after": 0}
        for name in numbers:  # noqa: PLC0206
            given = request.query.get(name, "")
            if given and not re.fullmatch(r"-?\d{1,9}", given):
                return self._invalid({name: [f"The value '{given}' is not valid."]})
            numbers[name] = int(given) if given else numbers[name]
        limit, after = numbers.values()
        if not 1 <= limit <= 50:
            return self._invalid(
                {"limit": ["The field limit must be between 1 and 50."]}
            )
        rows = [r for r in _WORKSHEETS if self._status[r[0]] == "Available"]
        rest = [r for r in rows if r[0] > after]
        page = rest[:limit]
        more = (
            f"{request.path}?limit={limit}&after={page[-1][0]}"
            if len(rest) > limit
            else None
        )
        sheets = [
            {
                "WorksheetId": sheet,
                "Object": {"ObjectNo": object_no, "Name": name},
                "Instruction": "Engraver's copy: return the label text in capitals throughout, "
                "wording and punctuation unchanged. The text is issued with the docket.",
                "Honorarium": {"Amount": honorarium, "Unit": "Credits"},
                "Status": self._status[sheet],
            }
            for sheet, object_no, name, honorarium, _ in page
        ]
        return Response(
            200, {"Worksheets": sheets, "Paging": {"Count": len(rows), "Next": more}}
        )

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        reader = self._reader(request)
        if isinstance(reader, Response):
            return reader
        model = self._bind(
            request, WorksheetId="int", DueBack="date", ReaderCategory="string"
        )
        if isinstance(model, Response):
            return model
        sheet, today = model["WorksheetId"], date.today()  # noqa: DTZ011
        if sheet not in self._sheets:
            return self._registrar(
                404, 104, "Worksheet not found", f"There is no worksheet {sheet}."
            )
        if self._status[sheet] != "Available":
            return self._registrar(
                409,
                109,
                "Not available",
                f"Worksheet {sheet} is '{self._status[sheet]}'.",
            )
        if not today <= model["DueBack"] <= today + timedelta(days=28):
            detail = (
                "DueBack must fall within 28 days of today and may not be in the past."
            )
            return self._registrar(422, 122, "Docket refused", detail)
        out = [
            d
            for d in self._dockets.values()
            if d["Token"] == request.token and d["Status"] == "Issued"
        ]
        if len(out) >= 3:
            detail = (
                "A reader may have no more than 3 worksheets out. Return one first."
            )
            return self._registrar(409, 131, "Docket refused", detail)
        number = f"D/{today:%y}/{len(self._dockets) + 612:05d}"
        due = f"{model['DueBack']}T00:00:00"
        docket = {
            "DocketNo": number,
            "WorksheetId": sheet,
            "DueBack": due,
            "Token": request.token,
        }
        self._dockets[number] = docket
        self.book.claimed(str(sheet))
        shown = self._touch(docket, "Issued")
        return Response(
            200, {"Docket": shown, "Worksheet": {"LabelText": self._sheets[sheet][4]}}
        )

    def submit(self, request: Request) -> Response:
        reader = self._reader(request)
        if isinstance(reader, Response):
            return reader
        model = self._bind(request, DocketNo="string", Deliverable="Deliverable")
        if isinstance(model, Response):
            return model
        docket = self._docket(request, model["DocketNo"], "Issued")
        if isinstance(docket, Response):
            return docket
        if (
            model["Deliverable"]["Text"]
            != self._sheets[docket["WorksheetId"]][4].upper()
        ):
            detail = "Deliverable.Text is not the label text in capitals. The docket remains issued to you."
            return self._registrar(
                422, 222, "Copy rejected by the documentation desk", detail
            )
        return Response(200, {"Docket": self._touch(docket, "Awaiting Sign-off")})

    def complete(self, request: Request) -> Response:
        reader = self._reader(request)
        if isinstance(reader, Response):
            return reader
        model = self._bind(
            request, DocketNo="string", RowVersion="string", WordingChecked="bool"
        )
        if isinstance(model, Response):
            return model
        docket = self._docket(request, model["DocketNo"], "Awaiting Sign-off")
        if isinstance(docket, Response):
            return docket
        if model["RowVersion"] != docket["RowVersion"]:
            detail = "The docket has changed since that RowVersion was read; quote the one last returned to you."
            return self._registrar(409, 301, "Concurrency conflict", detail)
        if not model["WordingChecked"]:
            detail = "WordingChecked must be true before a docket can be signed off."
            return self._registrar(422, 310, "Sign-off refused", detail)
        amount = self._sheets[docket["WorksheetId"]][3]
        shown = self._touch(docket, "Signed Off")
        reader["Balance"] += amount
        self.book.pay(str(docket["WorksheetId"]), amount)
        receipt = {
            "PaidOn": f"{datetime.now():%Y-%m-%dT%H:%M:%S}",  # noqa: DTZ005
            "Amount": amount,
            "Balance": reader["Balance"],
        }
        return Response(200, {"Docket": shown, "Receipt": receipt})

    def post(self, request: Request) -> Response:
        reader = self._reader(request)
        return (
            reader if isinstance(reader, Response) else self._problem(403, "Forbidden")
        )
