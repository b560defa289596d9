"""A map in the manner of OpenStreetMap's notes API 0.6: GeoJSON out, plain text refusals."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
from datetime import UTC, datetime
from html import escape
from typing import Any
from urllib.parse import parse_qsl

from tests.foreign.backend import Backend, Request, Response

_NOTES = [
    (51.50735, -0.12776, "Bakery on the corner is now called Two Doves", 8),
    (48.85661, 2.35222, "The footbridge is closed until spring", 15),
    (60.16986, 24.93838, "bus stop moved 40 m to the north", 6),
    (41.38506, 2.17340, "House number 14b is missing here", 11),
    (52.52001, 13.40495, "Playground has no fence; gate is broken", 19),
    (45.46422, 9.18998, "Drinking water tap works again", 4),
    (55.67610, 12.56834, "This path is for bicycles only", 23),
]


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


class _Refusal(Exception):  # noqa: N818
    def __init__(self, status: int, text: str, headers: dict[str, str] | None = None):  # noqa: ANN204
        super().__init__(text)
        # The real server repeats the sentence in a header named Error.
        line = text.encode("ascii", "replace").decode().replace("\n", " ")
        more = {"Error": line.replace("\r", " "), **(headers or {})}
        self.response = Response(status, text, more)


class OsmNotes(Backend):
    """Map notes: subscribe to one, comment on it (which pays), then close it."""

    def __init__(self) -> None:
        super().__init__()
        self.mappers: dict[str, dict[str, Any]] = {}  # token -> user
        self.notes: dict[int, dict[str, Any]] = {}
        self.subscribers: dict[int, int] = {}  # note -> uid
        for index, (lat, lon, text, bounty) in enumerate(_NOTES):
            number = 4100210 + 9 * index
            self.notes[number] = {
                "type": "Feature",
                "geometry": {"type": "Point", "coordinates": [lon, lat]},
                "properties": {
                    "id": number,
                    "date_created": f"2024-03-{11 + index} 08:1{index}:40 UTC",
                    "status": "open",
                    "fixme": "comment with the text of this note in capital letters",
                    "bounty": bounty,
                    "comments": [
                        {
                            "date": f"2024-03-{11 + index} 08:1{index}:40 UTC",
                            "uid": 918 + index,
                            "user": f"mapper{index}",
                            "action": "opened",
                            "text": text,
                            "html": f"<p>{escape(text)}</p>",
                        }
                    ],
                },
            }

    def texts(self) -> dict[str, str]:
        return {
            str(number): note["properties"]["comments"][0]["text"]
            for number, note in self.notes.items()
        }

    def missing(self, request: Request) -> Response:
        return Response(404, "Not Found")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        uid, token = 20931 + len(self.mappers), secrets.token_urlsafe(32)
        self.mappers[token] = {"uid": uid, "user": f"agent_{uid}"}
        return Response(
            200,
            {
                "agent_id": str(uid),
                "access_token": token,
                "credits": 100,
                "display_name": f"agent_{uid}",
            },
        )

    def tasks(self, request: Request) -> Response:
        limit = request.query.get("limit", "100")
        if not limit.isdecimal() or not 1 <= int(limit) <= 10000:
            return _Refusal(400, "Note limit must be between 1 and 10000").response
        features = [
            note
            for number, note in self.notes.items()
            if note["properties"]["status"] == "open" and number not in self.subscribers
        ]
        return Response(
            200,
            {"type": "FeatureCollection", "features": features[: int(limit)]},
            {"Content-Type": "application/geo+json; charset=utf-8"},
        )

    marketplace = tasks

    def _user(self, request: Request) -> dict[str, Any]:
        user = self.mappers.get(request.token)
        if user is None:
            raise _Refusal(
                401,
                "Couldn't authenticate you",
                {"WWW-Authenticate": 'Bearer realm="OpenStreetMap"'},
            )
        return user

    def _parameters(self, request: Request) -> dict[str, Any]:
        """Return what Rails calls params: the query, and a form or JSON body."""
        kind = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
        parameters: dict[str, Any] = dict(request.query)
        if kind == "application/x-www-form-urlencoded":
            parameters.update(parse_qsl(request.raw.decode(errors="replace")))
        elif kind == "application/json" and request.raw.strip():
            try:
                body = request.json()
            except ValueError:
                raise _Refusal(
                    400, "Error occurred while parsing request parameters"
                ) from None
            if isinstance(body, dict):
                parameters.update(body)
        return parameters

    def _note(self, parameters: dict[str, Any]) -> dict[str, Any]:
        value = parameters.get("id")
        if value is None or value == "":
            raise _Refusal(400, "No id was given")
        digits = str(value)
        number = int(digits) if digits.isascii() and digits.isdecimal() else 0
        if number == 0:
            raise _Refusal(400, "id must be a positive integer, the id of a note")
        if number not in self.notes:
            raise _Refusal(404, f"The note with the id {number} could not be found")
        return self.notes[number]

    @staticmethod
    def _text(parameters: dict[str, Any]) -> str:
        text = parameters.get("text")
        if text is None or text == "":
            raise _Refusal(400, "No text was given")
        return str(text)

    def _open(self, note: dict[str, Any]) -> int:
        """Return the number of a note that is open."""
        properties = note["properties"]
        if properties["status"] == "closed":
            raise _Refusal(
                409,
                f"The note {properties['id']} was closed at {properties['closed_at']}",
            )
        return properties["id"]

    def _mine(self, note: dict[str, Any], user: dict[str, Any]) -> int:
        number = self._open(note)
        if self.subscribers.get(number) != user["uid"]:
            raise _Refusal(404, f"You are not subscribed to note {number}.")
        return number

    def claim(self, request: Request) -> Response:
        try:
            user = self._user(request)
            number = self._open(self._note(self._parameters(request)))
            holder = self.subscribers.get(number)
            if holder == user["uid"]:
                raise _Refusal(409, f"You are already subscribed to note {number}.")
            if holder is not None:
                raise _Refusal(409, f"Another user is subscribed to note {number}.")
        except _Refusal as refusal:
            return refusal.response
        self.subscribers[number] = user["uid"]
        self.book.claimed(str(number))
        return Response()  # 200 and nothing else, as the real one has it

    def submit(self, request: Request) -> Response:
        try:
            user = self._user(request)
            parameters = self._parameters(request)
            note, text = self._note(parameters), self._text(parameters)
            number = self._mine(note, user)
            comments = note["properties"]["comments"]
            if len(comments) > 1:
                raise _Refusal(409, f"You have already commented on note {number}.")
            if text != comments[0]["text"].upper():
                raise _Refusal(
                    400, f"The given text does not settle the fixme of note {number}"
                )
        except _Refusal as refusal:
            return refusal.response
        self._comment(note, user, "commented", text)
        self.book.pay(str(number), note["properties"]["bounty"])
        return Response(200, note)

    def complete(self, request: Request) -> Response:
        try:
            user = self._user(request)
            parameters = self._parameters(request)
            note = self._note(parameters)
            number = self._mine(note, user)
            if len(note["properties"]["comments"]) == 1:
                raise _Refusal(
                    412,
                    f"Precondition failed: Note {number} has no comment by its subscriber.",
                )
        except _Refusal as refusal:
            return refusal.response
        self._comment(note, user, "closed", str(parameters.get("text") or ""))
        note["properties"]["status"] = "closed"
        note["properties"]["closed_at"] = _now()
        return Response(200, note)

    @staticmethod
    def _comment(
        note: dict[str, Any], user: dict[str, Any], action: str, text: str
    ) -> None:
        entry = {"date": _now(), **user, "action": action, "text": text}
        entry["html"] = f"<p>{escape(text)}</p>"
        note["properties"]["comments"].append(entry)
