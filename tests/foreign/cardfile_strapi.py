"""Tidewater Regional Library, card file: a Strapi 4 installation with a custom controller.

The old catalogue's cards are lent to transcribers. Records come in Strapi's dress
({data: {id, attributes}, meta}), errors in Strapi's ({data: null, error: {status, name,
message, details}}); bodies are validated by yup, strictly and all faults at once.
"""

import base64
import json
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_JSON = {
    "Content-Type": "application/json; charset=utf-8",
    "X-Powered-By": "Strapi <strapi.io>",
}

_BRANCHES = {2: "Tidewater Central", 5: "Gloucester Point", 6: "West Neck Reading Room"}

_CARDS = [
    # id, accession, drawer, branch, heading, honorarium
    (31, "TRL-1957-0313", "Bro-Bul", 2, "Brontë, Emily Jane, 1818-1848", 9),
    (32, "TRL-1957-0322", "Bro-Bul", 2, "Browne, Sir Thomas. Religio medici", 9),
    (
        34,
        "TRL-1961-1140",
        "Fis-Fly",
        5,
        "Fisheries of the lower Chesapeake: reports",
        12,
    ),
    (37, "TRL-1961-1187", "Fis-Fly", 5, "Flora of Mathews County (pamphlets)", 10),
    (38, "TRL-1964-0021", "Ham-Har", 6, "Hampton Roads Ferry Company. Time tables", 12),
    (
        41,
        "TRL-1964-0076",
        "Ham-Har",
        6,
        "Harbor pilots' association, minute book no. 2",
        14,
    ),
    (45, "TRL-1970-2203", "Oys-Pag", 5, "Oyster culture, laws & legislation", 8),
    (46, "TRL-1970-2219", "Oys-Pag", 2, "Page, Thomas Nelson. In ole Virginia", 9),
    (
        52,
        "TRL-1973-0450",
        "Ver-Voy",
        2,
        "Verne, Jules. Vingt mille lieues sous les mers",
        11,
    ),
    (53, "TRL-1973-0455", "Ver-Voy", 6, "Voyages, early: accounts to 1650", 8),
]

_GUIDELINE = (
    "Transcribe the heading in capitals. Keep punctuation, numerals and diacritics as they "
    "stand on the card."
)


def _now(plus: int = 0) -> str:
    moment = datetime.now(UTC) + timedelta(days=plus)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _segment(value: dict[str, Any]) -> str:
    text = json.dumps(value, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def _error(
    status: int, name: str, message: str, details: dict[str, Any] | None = None
) -> Response:
    return Response(
        status,
        {
            "data": None,
            "error": {
                "status": status,
                "name": name,
                "message": message,
                "details": details or {},
            },
        },
        dict(_JSON),
    )


def _ok(body: Any) -> Response:
    return Response(200, body, dict(_JSON))


def _print(value: Any) -> str:
    """Return a value as yup's printValue(value, true) writes it."""
    return json.dumps(value, ensure_ascii=False)


def _yup(data: Any, shape: dict[str, str]) -> Response | None:
    """Validate as `yup.object(shape)` does with strict and without abortEarly."""
    faults: list[tuple[list[str], str]] = []
    if not isinstance(data, dict):
        faults.append(
            (
                [],
                (
                    "this must be a `object` type, but the final value was: "
                    f"`{_print(data)}`."
                ),
            )
        )
    else:
        for name, kind in shape.items():
            if name not in data:
                faults.append(([name], f"{name} is a required field"))
                continue
            value = data[name]
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not (number if kind == "number" else isinstance(value, str)):
                faults.append(
                    (
                        [name],
                        (
                            f"{name} must be a `{kind}` type, but the final value was: "
                            f"`{_print(value)}`."
                        ),
                    )
                )
            elif value == "":
                faults.append(([name], f"{name} is a required field"))
            elif isinstance(value, float) and not value.is_integer():
                faults.append(([name], f"{name} must be an integer"))
    if not faults:
        return None
    message = faults[0][1] if len(faults) == 1 else f"{len(faults)} errors occurred"
    return _error(
        400,
        "ValidationError",
        message,
        {
            "errors": [
                {"path": path, "message": text, "name": "ValidationError"}
                for path, text in faults
            ]
        },
    )


def _syntax(text: str, error: json.JSONDecodeError) -> str:
    """Return the words of Node's JSON.parse."""
    if error.pos >= len(text):
        return "Unexpected end of JSON input"
    return f"Unexpected token {text[error.pos]} in JSON at position {error.pos}"


class CardFile(Backend):
    """The library's card file: a card is lent, transcribed, and returned for an honorarium."""

    def __init__(self) -> None:
        super().__init__()
        self._users: dict[str, dict[str, Any]] = {}  # by token
        self._cards: dict[int, dict[str, Any]] = {
            number: {
                "accession": accession,
                "drawer": drawer,
                "branch": branch,
                "heading": heading,
                "amount": amount,
                "state": "available",
                "updated": _now(-9),
            }
            for number, accession, drawer, branch, heading, amount in _CARDS
        }
        self._loans: dict[int, dict[str, Any]] = {}
        self._next_loan = 718
        self._next_user = 204

    def texts(self) -> dict[str, str]:
        return {str(number): card["heading"] for number, card in self._cards.items()}

    def missing(self, request: Request) -> Response:
        return _error(404, "NotFoundError", "Not Found")

    def _denied(self, request: Request) -> Response | None:
        if not request.token:
            return _error(403, "ForbiddenError", "Forbidden")
        if request.token not in self._users:
            return _error(401, "UnauthorizedError", "Missing or invalid credentials")
        return None

    def _data(self, request: Request) -> Any:
        """Return the body's data, or the response that says why there is none."""
        media = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
        body: Any = {}
        if media.lower() == "application/json" or media.lower().endswith("+json"):
            text = request.raw.decode(errors="replace").strip()
            if text:
                if text[0] not in "{[":
                    return _error(
                        400,
                        "SyntaxError",
                        "invalid JSON, only supports object and array",
                    )
                try:
                    body = json.loads(text)
                except json.JSONDecodeError as error:
                    return _error(400, "SyntaxError", _syntax(text, error))
        data = body.get("data") if isinstance(body, dict) else None
        if not isinstance(data, dict | list):
            return _error(
                400, "ValidationError", 'Missing "data" payload in the request body'
            )
        return data

    def _card(self, number: int, *, whole: bool) -> dict[str, Any]:
        card = self._cards[number]
        attributes = {
            "accession": card["accession"],
            "drawer": card["drawer"],
            "guideline": _GUIDELINE,
            "state": card["state"],
            "createdAt": "2024-02-12T15:40:07.311Z",
            "updatedAt": card["updated"],
            "publishedAt": "2024-02-12T15:41:30.902Z",
            "locale": "en",
        }
        if whole:
            attributes["heading"] = card["heading"]
        else:
            attributes["honorarium"] = {
                "id": number + 60,
                "amount": card["amount"],
                "unit": "credits",
            }
            attributes["branch"] = {
                "data": {
                    "id": card["branch"],
                    "attributes": {"name": _BRANCHES[card["branch"]]},
                }
            }
        return {"id": number, "attributes": attributes}

    def _loan(self, number: int) -> dict[str, Any]:
        loan = self._loans[number]
        return {
            "id": number,
            "attributes": {
                "state": loan["state"],
                "transcription": loan["transcription"],
                "dueAt": loan["due"],
                "createdAt": loan["created"],
                "updatedAt": loan["updated"],
                "card": {"data": self._card(loan["card"], whole=True)},
            },
        }

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        self._next_user += 1
        head = _segment({"alg": "HS256", "typ": "JWT"})
        now = int(datetime.now(UTC).timestamp())
        claims = _segment({"id": self._next_user, "iat": now, "exp": now + 2592000})
        token = f"{head}.{claims}.{secrets.token_urlsafe(32)}"
        user = {"id": self._next_user, "credits": 100}
        self._users[token] = user
        return _ok(
            {
                "agent_id": str(user["id"]),
                "access_token": token,
                "credits": 100,
                "role": "transcriber",
                "createdAt": _now(),
            }
        )

    def tasks(self, request: Request) -> Response:
        if denied := self._denied(request):
            return denied
        try:
            limit = int(request.query.get("limit", "25"))
        except ValueError:
            limit = 25
        limit = min(limit, 100) if limit > 0 else 25
        numbers = list(self._cards)
        return _ok(
            {
                "data": [self._card(number, whole=False) for number in numbers[:limit]],
                "meta": {
                    "pagination": {"start": 0, "limit": limit, "total": len(numbers)}
                },
            }
        )

    def claim(self, request: Request) -> Response:
        if denied := self._denied(request):
            return denied
        data = self._data(request)
        if isinstance(data, Response):
            return data
        if fault := _yup(data, {"card": "number"}):
            return fault
        number = int(data["card"])
        card = self._cards.get(number)
        if card is None:
            return _error(404, "NotFoundError", "Card not found")
        if card["state"] != "available":
            return _error(409, "ConflictError", "Card is not available")
        card["state"] = "on_loan"
        card["updated"] = _now()
        self._next_loan += 1
        self._loans[self._next_loan] = {
            "card": number,
            "user": self._users[request.token]["id"],
            "state": "open",
            "transcription": None,
            "due": _now(14),
            "created": _now(),
            "updated": _now(),
        }
        self.book.claimed(str(number))
        return _ok({"data": self._loan(self._next_loan), "meta": {}})

    def _own(self, request: Request, number: int) -> dict[str, Any] | None:
        loan = self._loans.get(number)
        if loan is None or loan["user"] != self._users[request.token]["id"]:
            return None
        return loan

    def submit(self, request: Request) -> Response:
        if denied := self._denied(request):
            return denied
        data = self._data(request)
        if isinstance(data, Response):
            return data
        if fault := _yup(data, {"loan": "number", "transcription": "string"}):
            return fault
        number = int(data["loan"])
        loan = self._own(request, number)
        if loan is None:
            return _error(404, "NotFoundError", "Loan not found")
        if loan["state"] != "open":
            return _error(409, "ConflictError", f"Loan is {loan['state']}")
        if data["transcription"] != self._cards[loan["card"]]["heading"].upper():
            return _error(
                400,
                "ApplicationError",
                "Transcription does not follow the guideline of the card",
                {"loan": number, "card": loan["card"]},
            )
        loan["transcription"] = data["transcription"]
        loan["state"] = "transcribed"
        loan["updated"] = _now()
        return _ok({"data": self._loan(number), "meta": {}})

    def complete(self, request: Request) -> Response:
        if denied := self._denied(request):
            return denied
        data = self._data(request)
        if isinstance(data, Response):
            return data
        if fault := _yup(data, {"loan": "number"}):
            return fault
        number = int(data["loan"])
        loan = self._own(request, number)
        if loan is None:
            return _error(404, "NotFoundError", "Loan not found")
        if loan["state"] == "open":
            return _error(400, "ApplicationError", "Loan has no transcription")
        if loan["state"] != "transcribed":
            return _error(409, "ConflictError", f"Loan is {loan['state']}")
        card = self._cards[loan["card"]]
        card["state"] = "catalogued"
        loan["state"] = "returned"
        card["updated"] = loan["updated"] = _now()
        user = self._users[request.token]
        user["credits"] += card["amount"]
        self.book.pay(str(loan["card"]), card["amount"])
        answer = self._loan(number)
        answer["attributes"]["honorarium"] = {
            "id": loan["card"] + 60,
            "amount": card["amount"],
            "unit": "credits",
        }
        return _ok({"data": answer, "meta": {"balance": user["credits"]}})
