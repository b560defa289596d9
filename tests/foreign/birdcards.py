"""A Swift Vapor 4 service with Fluent pages, Codable bodies and Validatable requests:
handwritten bird observation cards are transcribed by agents, proofread and paid."""

import re
import secrets
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
BAD_UUID = "Attempted to decode UUID from invalid UUID string."
LEGIBILITY = ["good", "fair", "poor"]
PHRASES = {
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
    415: "Unsupported Media Type",
    422: "Unprocessable Entity",
}

CARDS: list[tuple[str, str, str, int]] = [
    (
        "Box 2, card 18",
        "Two wrens in the hedge behind the mill, singing.",
        "1931-05-02",
        17,
    ),
    (
        "Box 2, card 19",
        "Barn owl at dusk, flew low over the wet meadow.",
        "1931-05-02",
        21,
    ),
    (
        "Box 2, card 25",
        "Heard the first cuckoo, about half past four.",
        "1931-05-09",
        12,
    ),
    (
        "Box 3, card 4",
        "Eleven lapwings on the ploughed field, cold wind.",
        "1932-03-14",
        19,
    ),
    (
        "Box 3, card 7",
        "Nest of a blackcap with five eggs, height 1 m.",
        "1932-05-21",
        24,
    ),
    (
        "Box 3, card 31",
        "No swifts yet; the swallows are back since Monday.",
        "1932-04-28",
        15,
    ),
    (
        "Box 5, card 1",
        "Kingfisher, one, upstream of the railway bridge.",
        "1934-01-06",
        26,
    ),
    (
        "Box 5, card 12",
        "Starlings by the hundred in the reeds at sunset.",
        "1934-10-11",
        13,
    ),
    (
        "Box 6, card 40",
        "Dead goldcrest under the window, weighed 5 grams.",
        "1936-11-30",
        22,
    ),
]


class AbortError(Exception):
    def __init__(self, status: int, reason: str = "") -> None:
        super().__init__(reason)
        self.response = Response(
            status, {"error": True, "reason": reason or PHRASES[status]}
        )


@dataclass
class Card:
    id: str
    title: str
    description: str
    observed: str
    bounty: int
    state: str = "untranscribed"

    def content(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title,
            "description": self.description,
            "observedOn": f"{self.observed}T00:00:00Z",
            "bounty": self.bounty,
            "state": self.state,
        }


@dataclass
class Transcription:
    id: str
    owner: str
    card: Card
    state: str = "draft"

    def content(self) -> dict[str, Any]:
        return {"id": self.id, "card": {"id": self.card.id}, "state": self.state}


class MismatchError(Exception):
    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


class NullError(Exception):
    pass


class CorruptedError(Exception):
    pass


def json_kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "an array" if isinstance(value, list) else "a dictionary"


def as_string(value: Any) -> str:
    if value is None:
        raise NullError("String")
    if not isinstance(value, str):
        raise MismatchError(
            "String", f"Expected to decode String but found {json_kind(value)} instead."
        )
    return value


def as_uuid(value: Any) -> str:
    text = as_string(value)
    if not UUID.fullmatch(text):
        raise CorruptedError(BAD_UUID)
    return text.upper()


def as_bool(value: Any) -> bool:
    if value is None:
        raise NullError("Bool")
    if not isinstance(value, bool):
        raise MismatchError(
            "Bool", f"Expected to decode Bool but found {json_kind(value)} instead."
        )
    return value


def decode(body: dict[str, Any], key: str, read: Callable[[Any], Any]) -> Any:
    if key not in body:
        raise AbortError(
            400,
            f"Value required for key at path '{key}'. No value associated with key "
            f'CodingKeys(stringValue: "{key}", intValue: nil) ("{key}").',
        )
    try:
        return read(body[key])
    except NullError as null:
        raise AbortError(
            400,
            f"Value of type '{null}' was not found at path '{key}'. Cannot get value of "
            f"type {null} -- found null value instead.",
        ) from None
    except MismatchError as error:
        raise AbortError(
            400, f"Value at path '{key}' was not of type '{error.kind}'. {error.detail}"
        ) from None
    except CorruptedError as error:
        raise AbortError(400, f"Data corrupted at path '{key}'. {error}") from None


def valid(_value: Any) -> str:
    return ""


def not_empty(value: Any) -> str:
    return "" if value else "is empty"


def one_of(*items: Any) -> Callable[[Any], str]:
    names = [str(item).lower() if isinstance(item, bool) else item for item in items]
    text = names[0]
    if len(names) == 2:
        text = f"{names[0]} or {names[1]}"
    elif len(names) > 2:
        text = f"{', '.join(names[:-1])}, or {names[-1]}"
    return lambda value: "" if value in items else f"is not {text}"


Check = tuple[str, Callable[[Any], Any], Callable[[Any], str]]


def validate(body: dict[str, Any], checks: list[Check]) -> None:
    failures: list[str] = []
    for key, read, check in checks:
        if key not in body:
            failures.append(f"{key} is required")
            continue
        try:
            failure = check(read(body[key]))
        except NullError:
            failure = "cannot be null"
        except MismatchError as error:
            failure = f"is not a(n) {error.kind}"
        except CorruptedError as error:
            failure = f"is invalid: {error}"
        if failure:
            failures.append(f"{key} {failure}")
    if failures:
        raise AbortError(400, ", ".join(failures))


def content(request: Request, *, validated: bool = False) -> dict[str, Any]:
    header = request.headers.get("Content-Type")
    if header is None:
        if validated:
            raise AbortError(422, 'Missing "Content-Type" header')
        raise AbortError(415)
    if header.partition(";")[0].strip() not in (
        "application/json",
        "application/vnd.api+json",
    ):
        raise AbortError(415)
    if not request.raw:
        raise AbortError(422, "Empty Body" if validated else "")
    try:
        body = request.json()
    except ValueError:
        raise AbortError(
            400, "Data corrupted at path ''. The given data was not valid JSON."
        ) from None
    if body is None:
        raise AbortError(
            400,
            "Value of type 'Dictionary<String, Any>' was not found at path ''. Cannot get "
            "keyed decoding container -- found null value instead.",
        )
    if not isinstance(body, dict):
        raise AbortError(
            400,
            "Value at path '' was not of type 'Dictionary<String, Any>'. Expected to "
            f"decode Dictionary<String, Any> but found {json_kind(body)} instead.",
        )
    return body


class BirdCards(Backend):
    def __init__(self) -> None:
        super().__init__()
        cards = [Card(str(uuid.uuid4()).upper(), *row) for row in CARDS]
        self.cards = {card.id: card for card in cards}
        self.transcriptions: dict[str, Transcription] = {}
        self.owners: dict[str, str] = {}
        self.credits: dict[str, int] = {}

    def texts(self) -> dict[str, str]:
        return {card.id: card.description for card in self.cards.values()}

    def missing(self, request: Request) -> Response:
        return AbortError(404).response

    def _transcriber(self, request: Request) -> str:
        owner = self.owners.get(request.token)
        if owner is None:
            raise AbortError(401, "Transcriber not authenticated.")
        return owner

    def _transcription(self, owner: str, key: str) -> Transcription:
        found = self.transcriptions.get(key)
        if found is None or found.owner != owner:
            raise AbortError(404, f"No transcription with ID {key}.")
        return found

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        owner = str(uuid.uuid4()).upper()
        token = secrets.token_urlsafe(24)
        self.owners[token] = owner
        self.credits[owner] = 100
        return Response(200, {"agent_id": owner, "access_token": token, "credits": 100})

    def _page(self, request: Request) -> Response:
        numbers = {"limit": 20, "page": 1}
        for key in numbers:
            if key in request.query:
                try:
                    numbers[key] = int(request.query[key])
                except ValueError:
                    raise AbortError(
                        400,
                        f"Value at path '{key}' was not of type 'Int'. Could not convert "
                        f'to Int: "{request.query[key]}".',
                    ) from None
        per = min(max(numbers["limit"], 1), 50)
        page = max(numbers["page"], 1)
        cards = [c for c in self.cards.values() if c.state == "untranscribed"]
        return Response(
            200,
            {
                "items": [c.content() for c in cards[(page - 1) * per : page * per]],
                "metadata": {"page": page, "per": per, "total": len(cards)},
            },
        )

    def marketplace(self, request: Request) -> Response:
        try:
            return self._page(request)
        except AbortError as abort:
            return abort.response

    def tasks(self, request: Request) -> Response:
        try:
            self._transcriber(request)
            return self._page(request)
        except AbortError as abort:
            return abort.response

    def claim(self, request: Request) -> Response:
        try:
            return self._claim(request)
        except AbortError as abort:
            return abort.response

    def _claim(self, request: Request) -> Response:
        owner = self._transcriber(request)
        key = decode(content(request), "cardID", as_uuid)
        card = self.cards.get(key)
        if card is None:
            raise AbortError(404, f"No card with ID {key}.")
        if card.state != "untranscribed":
            raise AbortError(409, "This card is already taken by a transcriber.")
        drafts = [
            t
            for t in self.transcriptions.values()
            if t.owner == owner and t.state != "published"
        ]
        if len(drafts) >= 2:
            raise AbortError(
                409, "You hold two cards already. Finish one before you take another."
            )
        transcription = Transcription(str(uuid.uuid4()).upper(), owner, card)
        self.transcriptions[transcription.id] = transcription
        card.state = "inTranscription"
        self.book.claimed(card.id)
        return Response(200, transcription.content())

    def submit(self, request: Request) -> Response:
        try:
            return self._submit(request)
        except AbortError as abort:
            return abort.response

    def _submit(self, request: Request) -> Response:
        owner = self._transcriber(request)
        body = content(request, validated=True)
        validate(
            body,
            [
                ("transcriptionID", as_uuid, valid),
                ("transcript", as_string, not_empty),
                ("legibility", as_string, one_of(*LEGIBILITY)),
            ],
        )
        transcription = self._transcription(owner, as_uuid(body["transcriptionID"]))
        if transcription.state == "published":
            raise AbortError(409, "This transcription is already published.")
        right = body["transcript"] == transcription.card.description.upper()
        transcription.state = "submitted" if right else "needsRevision"
        return Response(
            200, {**transcription.content(), "legibility": body["legibility"]}
        )

    def complete(self, request: Request) -> Response:
        try:
            return self._complete(request)
        except AbortError as abort:
            return abort.response

    def _complete(self, request: Request) -> Response:
        owner = self._transcriber(request)
        body = content(request, validated=True)
        validate(body, [("proofread", as_bool, one_of(True))])
        key = decode(body, "transcriptionID", as_uuid)
        transcription = self._transcription(owner, key)
        if transcription.state != "submitted":
            raise AbortError(
                409,
                "Only a submitted transcription can be published; this one is in state "
                f"{transcription.state}.",
            )
        card = transcription.card
        transcription.state = "published"
        card.state = "published"
        self.credits[owner] += card.bounty
        self.book.pay(card.id, card.bounty)
        return Response(
            200,
            {
                **transcription.content(),
                "bountyPaid": card.bounty,
                "credits": self.credits[owner],
            },
        )
