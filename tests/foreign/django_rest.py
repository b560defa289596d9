"""Django REST framework: serializers, primary keys and a paginated listing.

The listing comes in pages of five with a `next` address; records have a `pk` and no `id`,
and rewards are decimals as text. A serializer tells every fault of its fields at once and
ignores fields that it does not know. Claim and submission have primary keys of their own.
A completed submission is reviewed first: the same request is answered 202 for a while, and
only a later one says that it was approved and paid.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from functools import wraps
from itertools import count
from secrets import token_hex
from typing import Any
from urllib.parse import urlencode

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]
View = Callable[["DjangoRest", Request], Response]
Field = Callable[[object], Any]

PAGE_SIZE = 5
REVIEW_ASKS, REVIEW_SECONDS = 2, 2.0
NOT_FOUND = """
<!doctype html>
<html lang="en">
<head>
  <title>Not Found</title>
</head>
<body>
  <h1>Not Found</h1><p>The requested resource was not found on this server.</p>
</body>
</html>
"""
TEXTS = {
    "the clockmaker sleeps above his shop": "6.00",
    "three barges wait below the lock": "2.00",
    "she folded the map along the river": "5.00",
    "a pale moth circled the reading lamp": "1.00",
    "the well was dug before the church": "8.00",
    "leave the parcel with the neighbour": "3.00",
    "the last tram carries only newspapers": "4.00",
    "wild garlic grows beside the quarry": "9.00",
    "his umbrella had a carved handle": "2.00",
    "the ferryman hums while he works": "7.00",
    "put the kettle on before they come": "5.00",
    "old maps show a road through the marsh": "3.00",
}


class ApiError(Exception):
    """An exception that the framework's handler turns into an answer."""

    def __init__(self, status: int, body: object, **headers: str) -> None:
        super().__init__(status)
        self.response = Response(status, body, headers)


def detail(status: int, message: str, **headers: str) -> ApiError:
    return ApiError(status, {"detail": message}, **headers)


def view(method: View) -> View:
    """Turn exceptions into answers."""

    @wraps(method)
    def dispatch(self: "DjangoRest", request: Request) -> Response:
        try:
            return method(self, request)
        except ApiError as error:
            return error.response

    return dispatch


def char_field(value: object) -> str:
    """Take text that is not blank; numbers count as text, as everywhere there."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("Not a valid string.")  # noqa: TRY004
    if not str(value).strip():
        raise ValueError("This field may not be blank.")
    return str(value).strip()


def related_field(rows: dict[int, Json]) -> Field:
    """Return a field that takes the primary key of one of these rows."""

    def to_internal_value(value: object) -> Json:
        kind = type(value).__name__
        incorrect = f"Incorrect type. Expected pk value, received {kind}."
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError(incorrect)  # noqa: TRY004
        if value == "":
            raise ValueError("This field may not be null.")
        try:
            pk = int(value)
        except ValueError:
            raise ValueError(incorrect) from None
        if pk not in rows:
            raise ValueError(f'Invalid pk "{value}" - object does not exist.')
        return rows[pk]

    return to_internal_value


def validated(request: Request, fields: dict[str, Field]) -> Json:
    """Return the fields' values, or tell all that is wrong with them."""
    data = parsed(request)
    if not isinstance(data, dict):
        kind = type(data).__name__
        message = f"Invalid data. Expected a dictionary, but got {kind}."
        raise ApiError(400, {"non_field_errors": [message]})
    values: Json = {}
    errors: dict[str, list[str]] = {}
    for name, to_internal_value in fields.items():
        if name not in data:
            errors[name] = ["This field is required."]
        elif data[name] is None:
            errors[name] = ["This field may not be null."]
        else:
            try:
                values[name] = to_internal_value(data[name])
            except ValueError as error:
                errors[name] = [str(error)]
    if errors:
        raise ApiError(400, errors)
    return values


def parsed(request: Request) -> object:
    """Return request.data."""
    if not request.raw:
        return {}
    media_type = request.headers.get("Content-Type") or ""
    if media_type.partition(";")[0].strip() != "application/json":
        raise detail(415, f'Unsupported media type "{media_type}" in request.')
    try:
        return request.json()
    except ValueError as error:
        raise detail(400, f"JSON parse error - {error}") from None


def now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


class DjangoRest(Backend):
    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[int, Json] = {
            pk: {
                "pk": pk,
                "name": "Convert the text to capitals",
                "text": text,
                "reward": TEXTS[text],
                "status": "available",
                "created": now(),
            }
            for pk, text in enumerate(TEXTS, 14)
        }
        self.members: dict[str, Json] = {}  # token -> agent
        self.claims: dict[int, Json] = {}
        self.submissions: dict[int, Json] = {}
        self.asked: dict[
            int, tuple[float, int]
        ] = {}  # submission -> since when, how often
        self.pks = {"agent": count(52), "claim": count(271), "submission": count(133)}

    def texts(self) -> dict[str, str]:
        return {str(pk): row["text"] for pk, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, NOT_FOUND, {"Content-Type": "text/html; charset=utf-8"})

    def register(self, request: Request) -> Response:
        agent = {"pk": next(self.pks["agent"]), "balance": Decimal(100)}
        token = token_hex(20)
        self.members[token] = agent
        self.book.registrations += 1
        shown = {"agent_id": str(agent["pk"]), "access_token": token, "credits": 100}
        return Response(200, shown)

    @view
    def tasks(self, request: Request) -> Response:
        rows = [row for row in self.rows.values() if row["status"] == "available"]
        pages = max(1, -(-len(rows) // PAGE_SIZE))
        asked = request.query.get("page", "1")
        number = pages if asked == "last" else int(asked) if asked.isdecimal() else 0
        if not 1 <= number <= pages:
            raise detail(404, "Invalid page.")

        def link(page: int) -> str | None:
            if not 1 <= page <= pages:
                return None
            query = {k: v for k, v in request.query.items() if k != "page"}
            query |= {"page": str(page)} if page > 1 else {}
            address = request.base + request.path
            return f"{address}?{urlencode(sorted(query.items()))}" if query else address

        results = rows[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]
        links = {"next": link(number + 1), "previous": link(number - 1)}
        return Response(200, {"count": len(rows), **links, "results": results})

    def _user(self, request: Request) -> Json:
        challenge = {"WWW-Authenticate": "Bearer"}
        if not request.token:
            message = "Authentication credentials were not provided."
            raise detail(401, message, **challenge)
        if request.token not in self.members:
            raise detail(401, "Invalid token.", **challenge)
        return self.members[request.token]

    @view
    def claim(self, request: Request) -> Response:
        agent = self._user(request)
        task = validated(request, {"task": related_field(self.rows)})["task"]
        if task["status"] != "available":
            raise ApiError(400, {"task": ["This task is no longer available."]})
        task["status"] = "claimed"
        pk = next(self.pks["claim"])
        claim = {"pk": pk, "task": task["pk"], "agent": agent["pk"], "created": now()}
        self.claims[pk] = claim
        self.book.claimed(str(task["pk"]))
        return Response(201, claim)

    @view
    def submit(self, request: Request) -> Response:
        agent = self._user(request)
        own = {pk: c for pk, c in self.claims.items() if c["agent"] == agent["pk"]}
        fields = {"claim": related_field(own), "content": char_field}
        given = validated(request, fields)
        claim_pk = given["claim"]["pk"]
        if any(s["claim"] == claim_pk for s in self.submissions.values()):
            raise ApiError(400, {"claim": ["This field must be unique."]})
        if given["content"] != self.rows[given["claim"]["task"]]["text"].upper():
            raise ApiError(400, {"content": ["This is not the expected result."]})
        pk = next(self.pks["submission"])
        submission = {"pk": pk, "claim": claim_pk, "content": given["content"]}
        self.submissions[pk] = submission | {"status": "submitted", "created": now()}
        return Response(201, self.submissions[pk])

    @view
    def complete(self, request: Request) -> Response:
        agent = self._user(request)
        own = {
            pk: s
            for pk, s in self.submissions.items()
            if self.claims[s["claim"]]["agent"] == agent["pk"]
        }
        fields = {"submission": related_field(own)}
        submission = validated(request, fields)["submission"]
        task = self.rows[self.claims[submission["claim"]]["task"]]
        if submission["status"] != "approved":
            if self._in_review(submission["pk"]):
                return Response(202, {"detail": "Submission is awaiting review."})
            submission["status"], task["status"] = "approved", "done"
            agent["balance"] += Decimal(task["reward"])
            self.book.pay(str(task["pk"]), int(Decimal(task["reward"])))
        return Response(200, {"status": "approved", "paid": task["reward"]})

    def _in_review(self, pk: int) -> bool:
        moment = time.monotonic()
        since, asks = self.asked.get(pk, (moment, 0))
        self.asked[pk] = (since, asks + 1)
        return asks < REVIEW_ASKS or moment - since < REVIEW_SECONDS
