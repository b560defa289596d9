"""A Scala Play 3 service (play-json Reads, JsError bodies, JsonHttpErrorHandler): a peer
review exchange, where reviewers take manuscripts, file reports and are paid an honorarium.
"""

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Errors = dict[str, list[dict[str, Any]]]
Reads = Callable[[Any, str, Errors], Any]


def note(errors: Errors, path: str, message: str, *args: Any) -> None:
    errors.setdefault(path, []).append({"msg": [message], "args": list(args)})


def reads_string(least: int = 0) -> Reads:
    def read(value: Any, path: str, errors: Errors) -> Any:
        if not isinstance(value, str):
            note(errors, path, "error.expected.jsstring")
        elif len(value) < least:
            note(errors, path, "error.minLength", least)
        return value

    return read


def reads_boolean(value: Any, path: str, errors: Errors) -> Any:
    if not isinstance(value, bool):
        note(errors, path, "error.expected.jsboolean")
    return value


def reads_whole(
    kind: str, bits: int, low: int | None = None, high: int | None = None
) -> Reads:
    def read(value: Any, path: str, errors: Errors) -> Any:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            note(errors, path, "error.expected.jsnumber")
            return None
        if value != value // 1 or not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
            note(errors, path, f"error.expected.{kind}")
            return None
        if low is not None and value < low:
            note(errors, path, "error.min", low)
        if high is not None and value > high:
            note(errors, path, "error.max", high)
        return int(value)

    return read


def reads_uuid(value: Any, path: str, errors: Errors) -> Any:
    parts = value.split("-") if isinstance(value, str) else []
    try:
        numbers = [int(part, 16) for part in parts]
    except ValueError:
        numbers = []
    if len(numbers) != 5 or len(value) > 36:
        note(errors, path, "error.expected.uuid")
        return None
    widths = (8, 4, 4, 4, 12)
    return "-".join(f"{n:0{w}x}"[-w:] for n, w in zip(numbers, widths, strict=True))


def reads_class(**fields: Reads) -> Reads:
    def read(value: Any, path: str, errors: Errors) -> Any:
        if not isinstance(value, dict):
            note(errors, path, "error.expected.jsobject")
            return None
        result = {}
        for name, reader in fields.items():
            if name in value:
                result[name] = reader(value[name], f"{path}.{name}", errors)
            else:
                note(errors, f"{path}.{name}", "error.path.missing")
        return result

    return read


LONG = reads_whole("long", 64)
INT = reads_whole("int", 32)
CLAIM = reads_class(manuscriptId=reads_uuid, conflictOfInterest=reads_boolean)
SUBMIT = reads_class(
    reviewId=LONG,
    report=reads_class(comments=reads_string(1), score=reads_whole("int", 32, 1, 5)),
)
COMPLETE = reads_class(reviewId=LONG, revision=INT)


class RefusalError(Exception):
    def __init__(self, status: int, message: Any) -> None:
        super().__init__(str(message))
        self.response = Response(status, {"message": message})


@dataclass
class Manuscript:
    id: str
    journal: str
    title: str
    abstract: str
    honorarium: int
    stage: str = "AwaitingReviewer"

    def shown(self) -> dict[str, Any]:
        return {
            "manuscriptId": self.id,
            "journal": self.journal,
            "title": self.title,
            "abstract": self.abstract,
            "honorarium": self.honorarium,
            "stage": self.stage,
        }


@dataclass
class Review:
    id: int
    manuscript: Manuscript
    reviewer: str
    stage: str = "UnderReview"
    revision: int = 0

    def shown(self) -> dict[str, Any]:
        return {
            "reviewId": self.id,
            "manuscriptId": self.manuscript.id,
            "stage": self.stage,
            "revision": self.revision,
        }


MANUSCRIPTS = [
    (
        "Coastal Ecology Letters",
        "Grazing and dunes",
        "Rabbits keep the fixed dunes open where sheep are gone",
        35,
    ),
    (
        "Coastal Ecology Letters",
        "Eelgrass recovery",
        "Replanted eelgrass beds doubled within three summers",
        28,
    ),
    (
        "Annals of Small Data",
        "Counting twice",
        "We show that two tired annotators agree less than one rested one",
        40,
    ),
    (
        "Annals of Small Data",
        "Missing rows",
        "Rows lost at export are rarely lost at random",
        22,
    ),
    (
        "Journal of Timber Craft",
        "Joints under load",
        "Dovetails fail at the pin, mortises fail at the shoulder",
        18,
    ),
    (
        "Journal of Timber Craft",
        "Drying of ash",
        "Boards stacked on edge dried evenly in half the time",
        16,
    ),
    (
        "Urban Sound Review",
        "Night trams",
        "Sleepers with rubber pads lowered night noise by six decibels",
        31,
    ),
    (
        "Urban Sound Review",
        "Market squares",
        "Voices carry farther over cobbles than over asphalt",
        25,
    ),
    (
        "Kitchen Chemistry",
        "Slow starch",
        "Rice cooled overnight releases its sugars more slowly",
        20,
    ),
]


class PlayPeerReview(Backend):
    def __init__(self) -> None:
        super().__init__()
        self.manuscripts: dict[str, Manuscript] = {}
        for row in MANUSCRIPTS:
            key = str(uuid.uuid4())
            self.manuscripts[key] = Manuscript(key, *row)
        self.reviews: dict[int, Review] = {}
        self.reviewers: dict[str, str] = {}
        self.balances: dict[str, int] = {}
        self.calls = 0

    def texts(self) -> dict[str, str]:
        return {key: each.abstract for key, each in self.manuscripts.items()}

    def missing(self, request: Request) -> Response:
        return self._client_error(404, "")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        reviewer, token = (
            "rev-" + uuid.uuid4().hex[:12],
            uuid.uuid4().hex + uuid.uuid4().hex,
        )
        self.reviewers[token] = reviewer
        self.balances[reviewer] = 100
        return Response(
            200, {"agent_id": reviewer, "access_token": token, "credits": 100}
        )

    def marketplace(self, request: Request) -> Response:
        return self._listing(request)

    def tasks(self, request: Request) -> Response:
        try:
            self._reviewer(request)
        except RefusalError as no:
            return no.response
        return self._listing(request)

    def claim(self, request: Request) -> Response:
        return self._call(request, CLAIM, self._claim)

    def submit(self, request: Request) -> Response:
        return self._call(request, SUBMIT, self._submit)

    def complete(self, request: Request) -> Response:
        return self._call(request, COMPLETE, self._complete)

    def _client_error(self, status: int, message: str) -> Response:
        self.calls += 1
        return Response(
            status, {"error": {"requestId": self.calls, "message": message}}
        )

    def _listing(self, request: Request) -> Response:
        wanted = request.query.get("limit", "25")
        try:
            limit = int(wanted)
        except ValueError:
            return self._client_error(
                400,
                f'Cannot parse parameter limit as Int: For input string: "{wanted}"',
            )
        rows = [
            each.shown()
            for each in self.manuscripts.values()
            if each.stage == "AwaitingReviewer"
        ]
        return Response(200, {"manuscripts": rows[: max(0, min(limit, 50))]})

    def _reviewer(self, request: Request) -> str:
        if request.token not in self.reviewers:
            raise RefusalError(401, "Missing or invalid bearer token")
        return self.reviewers[request.token]

    def _parse(self, raw: bytes) -> Any:
        def constant(text: str) -> Any:
            raise ValueError(text)

        source = "[Source: (byte[])[" + str(len(raw)) + " bytes]"
        if not raw.strip():
            raise ValueError(
                f"Invalid Json: No content to map due to end-of-input\n at {source}; line: 1, column: 0]"
            )
        try:
            return json.loads(raw, parse_constant=constant)
        except json.JSONDecodeError as error:
            place = f"\n at {source}; line: {error.lineno}, column: {error.colno}]"
            if error.pos >= len(error.doc):
                raise ValueError(
                    f"Invalid Json: Unexpected end-of-input{place}"
                ) from error
            symbol = error.doc[error.pos]
            raise ValueError(
                f"Invalid Json: Unexpected character ('{symbol}' (code {ord(symbol)})){place}"
            ) from error
        except ValueError as error:
            raise ValueError(f"Invalid Json: {error}") from error

    def _call(self, request: Request, reads: Reads, action: Any) -> Response:
        media = (
            (request.headers.get("Content-Type") or "")
            .partition(";")[0]
            .strip()
            .lower()
        )
        if media not in ("application/json", "text/json"):
            return self._client_error(
                415, "Expecting text/json or application/json body"
            )
        try:
            value = self._parse(request.raw)
        except ValueError as error:
            return self._client_error(400, str(error))
        try:
            reviewer = self._reviewer(request)
            errors: Errors = {}
            body = reads(value, "obj", errors)
            if errors:
                raise RefusalError(400, errors)
            return Response(200, action(reviewer, body))
        except RefusalError as no:
            return no.response

    def _claim(self, reviewer: str, body: dict[str, Any]) -> dict[str, Any]:
        manuscript = self.manuscripts.get(body["manuscriptId"])
        if manuscript is None:
            raise RefusalError(404, f"No manuscript with id {body['manuscriptId']}")
        if body["conflictOfInterest"]:
            raise RefusalError(
                422,
                "Reviewers who declare a conflict of interest cannot take the manuscript",
            )
        if manuscript.stage != "AwaitingReviewer":
            raise RefusalError(
                409, f"Manuscript {manuscript.id} is in stage {manuscript.stage}"
            )
        manuscript.stage = "UnderReview"
        review = Review(8812 + len(self.reviews), manuscript, reviewer)
        self.reviews[review.id] = review
        self.book.claimed(manuscript.id)
        return {"review": review.shown()}

    def _review(self, reviewer: str, wanted: int) -> Review:
        review = self.reviews.get(wanted)
        if review is None:
            raise RefusalError(404, f"No review with id {wanted}")
        if review.reviewer != reviewer:
            raise RefusalError(403, f"Review {wanted} was assigned to another reviewer")
        if review.stage == "Closed":
            raise RefusalError(409, f"Review {wanted} is in stage Closed")
        return review

    def _submit(self, reviewer: str, body: dict[str, Any]) -> dict[str, Any]:
        review = self._review(reviewer, body["reviewId"])
        if body["report"]["comments"] != review.manuscript.abstract.upper():
            raise RefusalError(
                422,
                "The editor returned the report: comments are not what was asked for",
            )
        review.revision += 1
        review.stage = "ReportReceived"
        return {"review": review.shown()}

    def _complete(self, reviewer: str, body: dict[str, Any]) -> dict[str, Any]:
        review = self._review(reviewer, body["reviewId"])
        if review.stage != "ReportReceived":
            raise RefusalError(
                409,
                f"Review {review.id} has no report yet, it is in stage {review.stage}",
            )
        if body["revision"] != review.revision:
            raise RefusalError(
                409,
                f"Review {review.id} is at revision {review.revision}, not {body['revision']}",
            )
        manuscript = review.manuscript
        review.stage = "Closed"
        manuscript.stage = "Reviewed"
        self.balances[reviewer] += manuscript.honorarium
        self.book.pay(manuscript.id, manuscript.honorarium)
        return {
            "review": review.shown(),
            "honorarium": manuscript.honorarium,
            "balance": self.balances[reviewer],
        }
