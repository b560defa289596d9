"""Firebase-like callable functions over Firestore: flashcards for a language school.

Listing: {"result": {"cards": [...]}}; id (20 letters), deck, prompt {text, style}, points,
status, createdAt {_seconds, _nanoseconds}. No token needed. The marketplace counts the open
cards of each deck only.

Callables take {"data": {...}} and answer {"result": {...}}:
claim:    {"data": {"cardId": str}}                   -> {"result": {"cardId", "expiresAt"}}
submit:   {"data": {"cardId": str, "answer": str}}    -> {"result": {"correct": true,
          "pointsEarned", "balance"}}: a right answer completes the card and is paid at once
complete: {"data": {"cardId": str}}                   -> {"result": {"status": "completed"}}

Errors: {"error": {"status": "INVALID_ARGUMENT", "message": "..."}} with HTTP 400; likewise
FAILED_PRECONDITION (400), UNAUTHENTICATED (401), NOT_FOUND (404), ALREADY_EXISTS (409).
Unknown fields within data are ignored.
"""

import random
import string
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_ROWS = [
    ("greetings", "good evening and how is your aunt", 5),
    ("travel", "where does the night train to Porto leave from", 8),
    ("food", "two coffees and the bill, please", 4),
    ("travel", "I have lost my umbrella and my patience", 10),
    ("weather", "it will snow on the mountain but not here", 9),
    ("food", "the soup is cold, is it meant to be", 7),
    ("animals", "whose dog is asleep on my suitcase", 12),
    ("greetings", "pleased to meet you, again", 3),
    ("numbers", "forty-two chairs for ninety guests", 6),
    ("animals", "the heron on the roof stands very still", 11),
    ("weather", "what a fine day for a long lunch", 13),
    ("numbers", "one of us has counted wrongly", 14),
]
_CODES = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
}


def _auto_id(length: int = 20) -> str:
    return "".join(random.choices(string.ascii_letters + string.digits, k=length))  # noqa: S311 - no secret


def _timestamp(seconds: float) -> dict[str, int]:
    return {"_seconds": int(seconds), "_nanoseconds": 0}


def _error(status: str, message: str) -> Response:
    return Response(_CODES[status], {"error": {"message": message, "status": status}})


def _result(value: Any) -> Response:
    return Response(200, {"result": value})


class FirebaseFlashcards(Backend):
    """Flashcards on callable functions."""

    def __init__(self) -> None:
        super().__init__()
        now = time.time()
        self.cards: dict[str, dict[str, Any]] = {}
        for deck, text, points in _ROWS:
            key = _auto_id()
            self.cards[key] = {
                "id": key,
                "deck": deck,
                "prompt": {"text": text, "style": "UPPERCASE"},
                "hint": "Type the prompt text in the given style.",
                "points": points,
                "status": "open",
                "createdAt": _timestamp(now),
            }
        self.agents: dict[str, dict[str, Any]] = {}
        self.holders: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return {key: card["prompt"]["text"] for key, card in self.cards.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = {"uid": _auto_id(28), "credits": 100}
        token = _auto_id(40)
        self.agents[token] = agent
        return Response(
            200,
            {"agent_id": agent["uid"], "access_token": token, "credits": 100},
        )

    def tasks(self, request: Request) -> Response:
        raw = request.query.get("limit", "")
        limit = int(raw) if raw.isdecimal() else 10
        rows = [card for card in self.cards.values() if card["status"] == "open"]
        return _result({"cards": rows[:limit], "hasMore": len(rows) > limit})

    def marketplace(self, request: Request) -> Response:
        decks: dict[str, int] = {}
        for card in self.cards.values():
            if card["status"] == "open":
                decks[card["deck"]] = decks.get(card["deck"], 0) + 1
        rows = [{"deck": deck, "openCards": count} for deck, count in decks.items()]
        return _result({"decks": rows})

    def claim(self, request: Request) -> Response:
        agent, data, no = self._call(request)
        if no:
            return no
        card, no = self._card(data)
        if no:
            return no
        key = card["id"]
        if card["status"] == "completed":
            return _error("FAILED_PRECONDITION", "This card is already completed.")
        if self.holders.get(key, agent["uid"]) != agent["uid"]:
            return _error("ALREADY_EXISTS", "This card is claimed by someone else.")
        if key not in self.holders:
            self.holders[key] = agent["uid"]
            card["status"] = "claimed"
            self.book.claimed(key)
        expires = _timestamp(time.time() + 1800)
        return _result({"cardId": key, "status": "claimed", "expiresAt": expires})

    def submit(self, request: Request) -> Response:
        agent, data, no = self._call(request)
        if no:
            return no
        card, no = self._card(data)
        if no:
            return no
        key = card["id"]
        answer = data.get("answer")
        if not isinstance(answer, str) or not answer:
            message = 'The function must be called with "answer", a non-empty string.'
            return _error("INVALID_ARGUMENT", message)
        if self.holders.get(key) != agent["uid"]:
            return _error("FAILED_PRECONDITION", "Claim this card before answering.")
        if card["status"] == "completed":
            return _error("ALREADY_EXISTS", "You have already answered this card.")
        if answer != card["prompt"]["text"].upper():
            message = "Wrong answer: expected the prompt text in UPPERCASE."
            return _error("INVALID_ARGUMENT", message)
        card["status"] = "completed"
        self.book.pay(key, card["points"])
        agent["credits"] += card["points"]
        return _result(
            {
                "cardId": key,
                "correct": True,
                "status": "completed",
                "pointsEarned": card["points"],
                "balance": agent["credits"],
            }
        )

    def complete(self, request: Request) -> Response:
        agent, data, no = self._call(request)
        if no:
            return no
        card, no = self._card(data)
        if no:
            return no
        if self.holders.get(card["id"]) != agent["uid"]:
            return _error("FAILED_PRECONDITION", "This card is not claimed by you.")
        if card["status"] != "completed":
            return _error("FAILED_PRECONDITION", "This card has no answer yet.")
        return _result(
            {
                "cardId": card["id"],
                "status": "completed",
                "pointsEarned": card["points"],
                "balance": agent["credits"],
            }
        )

    def _card(self, data: dict[str, Any]) -> tuple[Any, Response | None]:
        """Return the card that the data names, or the refusal."""
        key = data.get("cardId")
        if not isinstance(key, str) or not key:
            message = 'The function must be called with "cardId", a non-empty string.'
            return None, _error("INVALID_ARGUMENT", message)
        card = self.cards.get(key)
        if card is None:
            return None, _error("NOT_FOUND", f"No document at cards/{key}.")
        return card, None

    def _call(self, request: Request) -> tuple[Any, Any, Response | None]:
        """Return the agent and the data of a callable's request, or the refusal."""
        try:
            body = request.json()
        except ValueError:
            return None, None, _error("INVALID_ARGUMENT", "Bad Request")
        if not isinstance(body, dict) or "data" not in body:
            message = "Invalid request: body is missing data."
            return None, None, _error("INVALID_ARGUMENT", message)
        agent = self.agents.get(request.token)
        if agent is None:
            return None, None, _error("UNAUTHENTICATED", "Unauthenticated")
        data = body["data"]
        return agent, data if isinstance(data, dict) else {}, None
