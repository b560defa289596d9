"""A university's transcription project, written in Python (FastAPI, pydantic).

Volunteers copy inscriptions from a rough reading into the capitals of the edition. A second
reader looks at every transcription, which takes some seconds, and it is the reader who pays.

Wants: claim {"page_id": 14}, answered with a transcription_id; submit {"transcription_id": "<uuid>",
"transcript": "..", "confidence": "certain"|"probable"|"guess"}; complete {"transcription_id": ..},
which hands it to the second reader: status "second_reading", and "accepted" with the honorarium
when asked again some six seconds later. Refusals: {"detail": [{type, loc, msg, input}]} with 422,
{"detail": ".."} otherwise.
"""

import secrets
import time
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PAGES = [
    (
        14,
        "Parish Stones",
        "north wall, slab 2",
        "here lies the miller who fed the town in the hungry year",
        10,
        "untranscribed",
    ),
    (
        15,
        "Parish Stones",
        "north wall, slab 3",
        "given by the guild of weavers in memory of their master",
        10,
        "untranscribed",
    ),
    (
        16,
        "Parish Stones",
        "porch, lintel",
        "enter in peace and close the door behind you",
        8,
        "untranscribed",
    ),
    (
        21,
        "Bell Inscriptions",
        "great bell",
        "i call the living i mourn the dead i break the lightning",
        12,
        "accepted",
    ),
    (
        22,
        "Bell Inscriptions",
        "small bell",
        "my voice is thin but it carries over the river",
        9,
        "untranscribed",
    ),
    (
        30,
        "Milestones",
        "coast road, stone 7",
        "eleven miles to the harbour and nine to the bridge",
        9,
        "untranscribed",
    ),
    (
        31,
        "Milestones",
        "coast road, stone 8",
        "ten miles to the harbour mind the tide",
        8,
        "untranscribed",
    ),
]
CONFIDENCE = ("certain", "probable", "guess")
READING = 6.0


class Transcription(Backend):
    """The project's service."""

    def __init__(self) -> None:
        super().__init__()
        self.pages: dict[Any, dict[str, Any]] = {
            number: {
                "page_id": number,
                "collection": collection,
                "location": location,
                "rough_reading": text,
                "guideline": "Transcribe the rough reading in capital letters as on the stone; change nothing else.",
                "honorarium_credits": honorarium,
                "status": status,
            }
            for number, collection, location, text, honorarium, status in PAGES
        }
        self.earnable: dict[str, str] = {
            str(n): p["rough_reading"]
            for n, p in self.pages.items()
            if p["status"] == "untranscribed"
        }
        self.volunteers: dict[str, dict[str, Any]] = {}
        self.works: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return dict(self.earnable)

    def missing(self, request: Request) -> Response:
        return Response(404, {"detail": "Not Found"})

    def handle(self, request: Request) -> Response:
        """Let the second readers work before anything else is looked at."""
        with self._lock:
            for work in self.works.values():
                if (
                    work["status"] == "second_reading"
                    and time.time() >= work["read_at"]
                ):
                    page = self.pages[work["page_id"]]
                    work["status"] = page["status"] = "accepted"
                    work["volunteer"]["credits"] += page["honorarium_credits"]
                    self.book.pay(str(work["page_id"]), page["honorarium_credits"])
        return super().handle(request)

    # -- what the framework does

    @staticmethod
    def _error(
        kind: str, loc: list[Any], msg: str, value: object, **more: object
    ) -> dict[str, Any]:
        return {"type": kind, "loc": loc, "msg": msg, "input": value, **more}

    def _body(
        self, request: Request, *names: str
    ) -> tuple[dict[str, Any], dict[str, Any], Response | None]:
        """Return the volunteer, the parsed fields, and the refusal if there is one."""
        if not request.token:
            return (
                {},
                {},
                Response(
                    401, {"detail": "Not authenticated"}, {"WWW-Authenticate": "Bearer"}
                ),
            )
        volunteer = self.volunteers.get(request.token)
        if volunteer is None:
            return (
                {},
                {},
                Response(
                    401, {"detail": "Invalid token"}, {"WWW-Authenticate": "Bearer"}
                ),
            )
        errors, fields = [], {}
        body: object = None
        if not request.raw.strip():
            errors.append(self._error("missing", ["body"], "Field required", None))
        else:
            try:
                body = request.json()
            except ValueError:
                context = {"error": "Expecting value"}
                errors.append(
                    self._error(
                        "json_invalid",
                        ["body", 0],
                        "JSON decode error",
                        {},
                        ctx=context,
                    )
                )
            else:
                if not isinstance(body, dict):
                    msg = "Input should be a valid dictionary or object to extract fields from"
                    errors.append(
                        self._error("model_attributes_type", ["body"], msg, body)
                    )
        fields_sent: dict[str, Any] = body if isinstance(body, dict) else {}
        for name in names if isinstance(body, dict) else ():
            if name not in fields_sent:
                errors.append(
                    self._error("missing", ["body", name], "Field required", body)
                )
                continue
            wrong = self._wrong(name, fields_sent[name])
            if wrong:
                errors.append(
                    self._error(wrong[0], ["body", name], wrong[1], fields_sent[name])
                )
            fields[name] = fields_sent[name]
        return volunteer, fields, Response(422, {"detail": errors}) if errors else None

    @staticmethod
    def _wrong(name: str, value: object) -> tuple[str, str] | None:
        """Return the type and the message of what is wrong with a field, as pydantic says it."""
        if name == "page_id":
            if isinstance(value, str) and not value.strip().isdigit():
                return (
                    "int_parsing",
                    "Input should be a valid integer, unable to parse string as an integer",
                )
            if not isinstance(value, int | str):
                return "int_type", "Input should be a valid integer"
        elif name == "transcription_id":
            try:
                uuid.UUID(value) if isinstance(value, str) else None
            except ValueError:
                return "uuid_parsing", "Input should be a valid UUID"
            if not isinstance(value, str):
                return (
                    "uuid_type",
                    "UUID input should be a string, bytes or UUID object",
                )
        elif name == "confidence":
            if value not in CONFIDENCE:
                return (
                    "literal_error",
                    "Input should be 'certain', 'probable' or 'guess'",
                )
        elif not isinstance(value, str):
            return "string_type", "Input should be a valid string"
        elif not value:
            return "string_too_short", "String should have at least 1 character"
        return None

    def _work(
        self, volunteer: dict[str, Any], fields: dict[str, Any]
    ) -> tuple[dict[str, Any], Response | None]:
        work = self.works.get(str(uuid.UUID(fields["transcription_id"])))
        if work is None or work["volunteer"] is not volunteer:
            return {}, Response(404, {"detail": "Transcription not found"})
        return work, None

    def _show(self, work: dict[str, Any]) -> dict[str, Any]:
        page = self.pages[work["page_id"]]
        shown = {
            "transcription_id": work["id"],
            "page_id": work["page_id"],
            "rough_reading": page["rough_reading"],
            "status": work["status"],
        }
        if work["status"] == "second_reading":
            shown["seconds_left"] = max(1, round(work["read_at"] - time.time()))
        if work["status"] == "accepted":
            shown["honorarium_credits"] = page["honorarium_credits"]
            shown["credits"] = work["volunteer"]["credits"]
        return shown

    # -- actions

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(32)
        self.volunteers[token] = {"agent_id": str(uuid.uuid4()), "credits": 100}
        return Response(
            200,
            {**self.volunteers[token], "access_token": token, "token_type": "bearer"},
        )

    def tasks(self, request: Request) -> Response:
        limit = request.query.get("limit", "20")
        if not limit.isdigit():
            msg = (
                "Input should be a valid integer, unable to parse string as an integer"
            )
            return Response(
                422,
                {
                    "detail": [
                        self._error("int_parsing", ["query", "limit"], msg, limit)
                    ]
                },
            )
        return Response(200, list(self.pages.values())[: int(limit)])

    def marketplace(self, request: Request) -> Response:
        return Response(
            200, [p for p in self.pages.values() if p["status"] == "untranscribed"]
        )

    def claim(self, request: Request) -> Response:
        volunteer, fields, refusal = self._body(request, "page_id")
        if refusal:
            return refusal
        number = int(fields["page_id"])
        page = self.pages.get(number)
        if page is None:
            return Response(404, {"detail": f"Page {number} not found"})
        for work in self.works.values():
            if work["page_id"] == number and work["volunteer"] is volunteer:
                return Response(200, self._show(work))
        if page["status"] != "untranscribed":
            return Response(409, {"detail": f"Page {number} is {page['status']}"})
        page["status"] = "in_transcription"
        work = {
            "id": str(uuid.uuid4()),
            "page_id": number,
            "volunteer": volunteer,
            "status": "draft",
            "read_at": 0.0,
        }
        self.works[work["id"]] = work
        self.book.claimed(str(number))
        return Response(200, self._show(work))

    def submit(self, request: Request) -> Response:
        volunteer, fields, refusal = self._body(
            request, "transcription_id", "transcript", "confidence"
        )
        if refusal:
            return refusal
        work, refusal = self._work(volunteer, fields)
        if refusal:
            return refusal
        if work["status"] in ("second_reading", "accepted"):
            return Response(
                409,
                {"detail": f"Transcription is {work['status']} and cannot be changed"},
            )
        if fields["transcript"] != self.pages[work["page_id"]]["rough_reading"].upper():
            return Response(
                400,
                {
                    "detail": "Transcript does not follow the guideline: rough reading in capital letters"
                },
            )
        work["status"] = "submitted"
        return Response(200, self._show(work))

    def complete(self, request: Request) -> Response:
        volunteer, fields, refusal = self._body(request, "transcription_id")
        if refusal:
            return refusal
        work, refusal = self._work(volunteer, fields)
        if refusal:
            return refusal
        if work["status"] == "draft":
            return Response(
                409, {"detail": "Nothing has been submitted for this transcription"}
            )
        if work["status"] == "submitted":
            work.update(status="second_reading", read_at=time.time() + READING)
        return Response(200, self._show(work))
