"""A lighthouse society's log transcription in Python: Django REST framework, plain serializers.

Lists are {"count", "next", "previous", "results"} (PageNumberPagination, the size is `limit`).
What is wrong with a body maps fields to lists of sentences, `non_field_errors` where no field is
to blame; everything else is one `detail`. Related objects are named by primary key, and what is
not the agent's own is an invalid pk. Decimals are strings, strings are trimmed, unknown fields
are ignored, forms are as good as JSON.

A log entry is stood on one of the watches that it offers, which makes a claim; the claim shows
all its fields from the start, empty. It is transcribed with the day it was done, and signed off.
Two claims at once; one that is not transcribed in twenty minutes lapses.
"""
# mypy: ignore-errors

import json
import secrets
import time
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import wraps
from typing import Any
from urllib.parse import parse_qsl, urlencode

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_STATIONS = {"NSH": "North Shoal", "GUL": "Gull Rock", "TRV": "Trevaunance Head"}
_ENTRIES = [
    (
        412,
        "NSH",
        "1911-11-03",
        "wind backing north, glass falling",
        12,
        "middle morning",
    ),
    (413, "NSH", "1911-11-04", "fog signal sounded four hours", 9, "first middle"),
    (417, "GUL", "1912-02-18", "brig sighted, two points off the bow", 16, "forenoon"),
    (420, "GUL", "1912-02-19", "lamp trimmed and lenses wiped", 7, "first dog morning"),
    (421, "GUL", "1912-02-21", "relief boat could not land", 11, "afternoon dog"),
    (428, "TRV", "1913-06-30", "light exhibited from sunset to sunrise", 14, "middle"),
    (430, "TRV", "1913-07-02", "mercury bath drained, 3 lb short", 23, "dog first"),
    (431, "TRV", "1913-07-02", "painted the gallery rail", 5, "forenoon afternoon"),
    (436, "NSH", "1914-01-09", "heavy swell; spray over the lantern", 18, "morning"),
]
_WATCHES = ("first", "middle", "morning", "forenoon", "afternoon", "dog")
_AT_ONCE = 2
_LAPSES_AFTER = 20 * 60.0
_TRUE = (
    True,
    "t",
    "T",
    "y",
    "Y",
    "yes",
    "Yes",
    "YES",
    "true",
    "True",
    "TRUE",
    "on",
    "On",
    "1",
    1,
)
_FALSE = (
    False,
    "f",
    "F",
    "n",
    "N",
    "no",
    "No",
    "NO",
    "false",
    "False",
    "FALSE",
    "off",
    "0",
    0,
)
_HTML_404 = """
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


class _APIException(Exception):  # noqa: N818
    """rest_framework.exceptions.APIException, down to its detail."""

    def __init__(self, detail: Any, status: int = 400, **headers: str) -> None:
        super().__init__(status)
        body = detail if isinstance(detail, dict) else {"detail": detail}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.response = Response(status, body, named)


class _Field(Exception):  # noqa: N818
    """A ValidationError of one field."""


def _char(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _Field("Not a valid string.")
    if not str(value).strip():
        raise _Field("This field may not be blank.")
    return str(value).strip()


def _choice(value: Any) -> str:
    if value == "":
        raise _Field('"" is not a valid choice.')
    if isinstance(value, list | dict) or str(value) not in _WATCHES:
        raise _Field(f'"{value}" is not a valid choice.')
    return str(value)


def _boolean(value: Any) -> bool:
    if not isinstance(value, list | dict):
        if value in _TRUE:
            return True
        if value in _FALSE:
            return False
    raise _Field("Must be a valid boolean.")


def _date(value: Any) -> date:
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        raise _Field(
            "Date has wrong format. Use one of these formats instead: YYYY-MM-DD."
        ) from None


def _related(rows: dict[int, Any]) -> Any:
    """Return a PrimaryKeyRelatedField over these rows."""

    def read(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise _Field(
                f"Incorrect type. Expected pk value, received {type(value).__name__}."
            )
        if value == "":
            raise _Field("This field may not be null.")
        try:
            return rows[int(value)]
        except ValueError:
            raise _Field("Incorrect type. Expected pk value, received str.") from None
        except KeyError:
            raise _Field(f'Invalid pk "{value}" - object does not exist.') from None

    return read


def _data(request: Request) -> Any:
    """Parse the body as request.data does."""
    if not request.raw:
        return {}
    media = request.headers.get("Content-Type") or "application/json"
    kind = media.partition(";")[0].strip().lower()
    if kind == "application/x-www-form-urlencoded":
        return dict(
            parse_qsl(request.raw.decode(errors="replace"), keep_blank_values=True)
        )
    if kind != "application/json":
        raise _APIException(f'Unsupported media type "{media}" in request.', 415)
    try:
        return json.loads(request.raw.decode())
    except ValueError as problem:
        raise _APIException(f"JSON parse error - {problem}") from None


def _valid(data: Any, **fields: Any) -> dict[str, Any]:
    """Run a serializer's fields over the data, telling all complaints at once."""
    if not isinstance(data, dict):
        words = f"Invalid data. Expected a dictionary, but got {type(data).__name__}."
        raise _APIException({"non_field_errors": [words]})
    found, errors = {}, {}
    for name, read in fields.items():
        if name not in data:
            errors[name] = ["This field is required."]
        elif data[name] is None:
            errors[name] = ["This field may not be null."]
        else:
            try:
                found[name] = read(data[name])
            except _Field as problem:
                errors[name] = [str(problem)]
    if errors:
        raise _APIException(errors)
    return found


def _handled(view: Any) -> Any:
    """Answer with what the view raises, as DRF's exception handler does."""

    @wraps(view)
    def dispatch(self: Any, request: Request) -> Response:
        try:
            self._lapse()
            return view(self, request)
        except _APIException as problem:
            return problem.response

    return dispatch


def _stamp() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


class KeepersLogDrf(Backend):
    """Nine log entries; entry and watch, then transcript and date, then the signature."""

    def __init__(self) -> None:
        super().__init__()
        self._keepers: dict[str, dict[str, Any]] = {}
        self._claims: dict[int, dict[str, Any]] = {}
        self._entries = {
            number: {
                "id": number,
                "station": {"code": code, "name": _STATIONS[code]},
                "logged_on": day,
                "remark": remark,
                "instructions": "Transcribe the remark in capital letters.",
                "fee": f"{fee:.2f}",
                "fee_unit": "credits",
                "watches": watches.split(),
                "status": "available",
                "status_display": "Available",
            }
            for number, code, day, remark, fee, watches in _ENTRIES
        }

    def texts(self) -> dict[str, str]:
        """Return the remarks by the entry's id."""
        return {str(number): entry["remark"] for number, entry in self._entries.items()}

    def missing(self, request: Request) -> Response:
        """Answer DRF's 405 on a known path, Django's page elsewhere."""
        if request.path in {path for _, path in ACTIONS} and not hasattr(
            self, ACTIONS.get((request.method, request.path), "_")
        ):
            verbs = [
                v
                for v, p in ACTIONS
                if p == request.path and hasattr(self, ACTIONS[v, p])
            ]
            if verbs:
                allow = {"Allow": ", ".join([*verbs, "OPTIONS"])}
                words = f'Method "{request.method}" not allowed.'
                return Response(405, {"detail": words}, allow)
        return Response(404, _HTML_404, {"Content-Type": "text/html; charset=utf-8"})

    def _lapse(self) -> None:
        now = time.monotonic()
        for claim in self._claims.values():
            if claim["status"] == "held" and claim["_until"] < now:
                claim["status"] = "lapsed"
                self._mark(claim["_entry"], "available")
                self.book.held.discard(str(claim["entry"]))

    @staticmethod
    def _mark(entry: dict[str, Any], status: str) -> None:
        entry |= {
            "status": status,
            "status_display": status.replace("_", " ").capitalize(),
        }

    def _keeper(self, request: Request) -> dict[str, Any]:
        if not request.headers.get("Authorization"):
            words = "Authentication credentials were not provided."
            raise _APIException(words, 401, WWW_Authenticate="Bearer")
        if request.token not in self._keepers:
            raise _APIException("Invalid token.", 401, WWW_Authenticate="Bearer")
        return self._keepers[request.token]

    def _own(self, keeper: dict[str, Any]) -> dict[int, dict[str, Any]]:
        mine = keeper["agent_id"]
        return {
            k: claim for k, claim in self._claims.items() if claim["keeper"] == mine
        }

    @staticmethod
    def _shown(claim: dict[str, Any]) -> dict[str, Any]:
        return {
            name: value for name, value in claim.items() if not name.startswith("_")
        }

    @_handled
    def register(self, request: Request) -> Response:
        """Create a keeper."""
        _data(request)
        self.book.registrations += 1
        token = secrets.token_hex(20)
        keeper = {"agent_id": f"keeper-{secrets.token_hex(4)}", "credits": 100}
        self._keepers[token] = keeper
        return Response(200, {**keeper, "access_token": token})

    @_handled
    def marketplace(self, request: Request) -> Response:
        """List a page of what is available."""
        every = [e for e in self._entries.values() if e["status"] == "available"]
        size, page = 5, 1
        if (asked := request.query.get("limit", "")).isdigit() and int(asked) > 0:
            size = min(int(asked), 100)
        last = max(1, -(-len(every) // size))
        if "page" in request.query:
            asked = request.query["page"]
            page = last if asked == "last" else int(asked) if asked.isdigit() else 0
            if not 1 <= page <= last:
                raise _APIException("Invalid page.", 404)

        def link(to: int) -> str | None:
            if not 1 <= to <= last:
                return None
            query = {name: v for name, v in request.query.items() if name != "page"}
            query |= {"page": str(to)} if to > 1 else {}
            return (
                request.base + request.path + ("?" + urlencode(query) if query else "")
            )

        return Response(
            200,
            {
                "count": len(every),
                "next": link(page + 1),
                "previous": link(page - 1),
                "results": every[(page - 1) * size : page * size],
            },
        )

    @_handled
    def tasks(self, request: Request) -> Response:
        """List the same to keepers only."""
        self._keeper(request)
        return self.marketplace(request)

    @_handled
    def claim(self, request: Request) -> Response:
        """Stand an entry on one of its watches."""
        keeper = self._keeper(request)
        given = _valid(_data(request), entry=_related(self._entries), watch=_choice)
        entry = given["entry"]
        if given["watch"] not in entry["watches"]:
            offered = ", ".join(entry["watches"])
            words = (
                f"Entry {entry['id']} can only be taken on these watches: {offered}."
            )
            raise _APIException({"watch": [words]})
        if entry["status"] != "available":
            words = f"Entry {entry['id']} is not available, it is {entry['status']}."
            raise _APIException(words, 409)
        held = [
            c
            for c in self._own(keeper).values()
            if c["status"] in ("held", "transcribed")
        ]
        if len(held) >= _AT_ONCE:
            words = f"You already hold {len(held)} claims. Sign one off first."
            raise _APIException({"non_field_errors": [words]})
        number = 9031 + len(self._claims)
        self._mark(entry, "claimed")
        self.book.claimed(str(entry["id"]))
        until = datetime.now(UTC) + timedelta(seconds=_LAPSES_AFTER)
        self._claims[number] = {
            "id": number,
            "entry": entry["id"],
            "keeper": keeper["agent_id"],
            "watch": given["watch"],
            "status": "held",
            "transcript": "",
            "transcribed_on": None,
            "signed_off": False,
            "fee": entry["fee"],
            "lapses_at": until.isoformat().replace("+00:00", "Z"),
            "created_at": _stamp(),
            "_until": time.monotonic() + _LAPSES_AFTER,
            "_entry": entry,
        }
        return Response(200, self._shown(self._claims[number]))

    @_handled
    def submit(self, request: Request) -> Response:
        """Take the transcript if it reads right."""
        keeper = self._keeper(request)
        given = _valid(
            _data(request),
            claim=_related(self._own(keeper)),
            transcript=_char,
            transcribed_on=_date,
        )
        claim, day = given["claim"], given["transcribed_on"]
        if claim["status"] != "held":
            raise _APIException(
                f"Claim {claim['id']} is already {claim['status']}.", 409
            )
        errors = {}
        if given["transcript"] != claim["_entry"]["remark"].upper():
            words = "The transcript does not match the remark in capital letters."
            errors["transcript"] = [words]
        today = datetime.now(UTC).date()
        if day > today + timedelta(days=1):  # it may be tomorrow already, further east
            errors["transcribed_on"] = ["The date may not be in the future."]
        elif day < today - timedelta(days=1):
            errors["transcribed_on"] = [
                "The date may not be before the claim was made."
            ]
        if errors:
            raise _APIException(errors)
        claim |= {
            "status": "transcribed",
            "transcript": given["transcript"],
            "transcribed_on": day.isoformat(),
        }
        self._mark(claim["_entry"], "transcribed")
        return Response(200, self._shown(claim))

    @_handled
    def complete(self, request: Request) -> Response:
        """Pay what is signed off."""
        keeper = self._keeper(request)
        given = _valid(
            _data(request), claim=_related(self._own(keeper)), signed_off=_boolean
        )
        claim = given["claim"]
        if claim["status"] == "signed_off":
            raise _APIException(f"Claim {claim['id']} is already signed off.", 409)
        if claim["status"] != "transcribed":
            raise _APIException(f"Claim {claim['id']} has no transcript yet.", 409)
        if not given["signed_off"]:
            raise _APIException(
                {"signed_off": ["A claim is only paid once it is signed off."]}
            )
        claim |= {"status": "signed_off", "signed_off": True}
        self._mark(claim["_entry"], "published")
        fee = int(Decimal(claim["fee"]))
        self.book.pay(str(claim["entry"]), fee)
        keeper["credits"] += fee
        balance = f"{keeper['credits']:.2f}"
        return Response(
            200, {**self._shown(claim), "paid": claim["fee"], "balance": balance}
        )
