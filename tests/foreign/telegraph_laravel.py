"""A telegraph society's volunteer desk in PHP: Laravel 12, Sanctum, form requests, a queue.

Answers are API resources under `data`, lists are cursor-paginated, tokens are Sanctum's
`7|...`. What is wrong with a body comes as 422 with the first sentence in `message` and all of
them under `errors`; strings are trimmed, empty ones are null. Tariffs are whole US cents.

An operator takes a dispatch by quoting its tariff back, and keys it: the transcript comes with
its word count, since telegrams are paid by the word. A queued job checks the transcript after a
moment; only a checked transmission can be signed off, and a returned one is keyed again.
"""

import base64
import hashlib
import json
import re
import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_DISPATCHES = [
    ("Aldwater", "Pell", "arriving tuesday by the slow train stop bring the dog", 22),
    ("Corrie Head", "Aldwater", "all well here stop harvest in", 12),
    ("Pell", "Senna Quay", "send four barrels of tar & one of patience", 18),
    ("Senna Quay", "Corrie Head", "light keeper's daughter married saturday", 10),
    ("Aldwater", "Senna Quay", "sold the piano stop buying it back", 14),
    ("Maunt", "Pell", "road under water at the ford, take the hill way", 20),
    ("Pell", "Maunt", "congratulations, it is a girl: 7 pounds", 14),
    ("Corrie Head", "Maunt", "herring late this year", 8),
    ("Senna Quay", "Aldwater", "found your umbrella stop also your hat", 14),
    ("Maunt", "Corrie Head", "père arrivé hier soir, tout va bien", 14),
]
_CHECK_TAKES = 1.2  # seconds that the queue needs
_PER_MINUTE = 240
_BASE32 = "0123456789abcdefghjkmnpqrstvwxyz"

Rules = dict[str, Any]


def _ulid(seed: str, moment: float) -> str:
    number = int(moment * 1000) << 80 | int(
        hashlib.md5(seed.encode()).hexdigest()[:20], 16
    )
    return "".join(_BASE32[number >> 5 * at & 31] for at in reversed(range(26)))


def _zulu(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000000Z")


class _Abort(Exception):  # noqa: N818
    def __init__(self, status: int, message: str, **headers: str) -> None:
        super().__init__(message)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.response = Response(status, {"message": message}, named)


class _ValidationException(Exception):  # noqa: N818
    def __init__(self, errors: dict[str, list[str]]) -> None:
        super().__init__("invalid")
        every = [words for found in errors.values() for words in found]
        more = len(every) - 1
        summary = every[0]
        if more:
            summary += f" (and {more} more error{'s' if more > 1 else ''})"
        self.response = Response(422, {"message": summary, "errors": errors})


def _trimmed(value: Any) -> Any:
    """Apply the TrimStrings and ConvertEmptyStringsToNull middleware."""
    if isinstance(value, dict):
        return {name: _trimmed(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_trimmed(inner) for inner in value]
    return (value.strip() or None) if isinstance(value, str) else value


def _input(request: Request) -> dict[str, Any]:
    media = (
        (request.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    )
    found: Any = dict(request.query)
    if media.endswith(("/json", "+json")):
        try:
            sent = request.json()
        except ValueError:
            sent = {}
        found |= sent if isinstance(sent, dict) else {}
    elif media == "application/x-www-form-urlencoded":
        found |= parse_qsl(request.raw.decode(errors="replace"))
    trimmed: dict[str, Any] = _trimmed(found)
    return trimmed


def _is_int(value: Any) -> bool:
    """Answer as FILTER_VALIDATE_INT does."""
    if isinstance(value, bool):
        return value
    if isinstance(value, float):
        return value.is_integer()
    return bool(re.fullmatch(r"[+-]?(0|[1-9]\d{0,17})", str(value)))


def _size(value: Any, numeric: bool) -> float:
    if isinstance(value, list | dict):
        return len(value)
    if numeric and re.fullmatch(r"-?\d+(\.\d+)?", str(value)):
        return float(value)
    return len(str(value))


def _check(data: dict[str, Any], rules: Rules) -> dict[str, Any]:
    """Run the validator; rules are in the order of the form request."""
    errors: dict[str, list[str]] = {}
    for name, wanted in rules.items():
        value, field = data.get(name), f"The {name.replace('_', ' ')} field"
        said: list[str] = []
        if value is None or value == [] or value == {}:
            if wanted[0] == "required":
                errors[name] = [f"{field} is required."]
            continue
        numeric = "integer" in wanted
        many = isinstance(value, list | dict)
        kind = " items" if many else "" if numeric else " characters"
        be = "have" if many else "be"
        for rule in wanted:
            if callable(rule):  # exists:, and closures, once the rest is well
                said += [rule(value)] if not said and rule(value) else []
                continue
            what, _, args = rule.partition(":")
            if what == "string" and not isinstance(value, str):
                said.append(f"{field} must be a string.")
            elif what == "integer" and not _is_int(value):
                said.append(f"{field} must be an integer.")
            elif what == "ulid" and not (
                isinstance(value, str)
                and re.fullmatch(r"[0-7][0-9a-hjkmnp-tv-z]{25}", value, re.IGNORECASE)
            ):
                said.append(f"{field} must be a valid ULID.")
            elif what == "alpha" and not (isinstance(value, str) and value.isalpha()):
                said.append(f"{field} must only contain letters.")
            elif what == "uppercase" and not (
                isinstance(value, str) and value == value.upper()
            ):
                said.append(f"{field} must be uppercase.")
            elif what == "min" and _size(value, numeric) < int(args):
                said.append(f"{field} must {be} at least {args}{kind}.")
            elif what == "max" and _size(value, numeric) > int(args):
                more = "have more" if many else "be greater"
                said.append(f"{field} must not {more} than {args}{kind}.")
            elif what == "between":
                low, high = map(int, args.split(","))
                if not low <= _size(value, numeric) <= high:
                    said.append(f"{field} must {be} between {low} and {high}{kind}.")
        if said:
            errors[name] = said
    if errors:
        raise _ValidationException(errors)
    return {name: data.get(name) for name in rules}


class TelegraphLaravel(Backend):
    """Ten dispatches; tariff quoted back, transcript and word count, then a signature."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}
        self._transmissions: dict[int, dict[str, Any]] = {}
        self._hits: dict[str, list[float]] = {}
        filed = datetime.now(UTC) - timedelta(hours=9)
        self._dispatches: dict[str, dict[str, Any]] = {}
        for at, (origin, destination, text, cents) in enumerate(_DISPATCHES):
            moment = filed + timedelta(minutes=23 * at)
            key = _ulid(text, moment.timestamp())
            self._dispatches[key] = {
                "id": key,
                "reference": f"TG-{1041 + at}",
                "origin": origin,
                "destination": destination,
                "text_as_filed": text,
                "handling": "Transmit in block capitals, words and signs as filed.",
                "tariff_cents": cents,
                "tariff_currency": "USD",
                "status": "awaiting_operator",
                "filed_at": _zulu(moment),
            }

    def texts(self) -> dict[str, str]:
        return {key: row["text_as_filed"] for key, row in self._dispatches.items()}

    def missing(self, request: Request) -> Response:
        route = request.path.lstrip("/")
        verbs = {path: verb for verb, path in ACTIONS}
        verb = verbs.get(request.path, request.method)
        if verb != request.method:
            shown = "GET, HEAD" if verb == "GET" else verb
            words = (
                f"The {request.method} method is not supported for route {route}. "
                f"Supported methods: {shown}."
            )
            return Response(405, {"message": words}, {"Allow": shown})
        return Response(404, {"message": f"The route {route} could not be found."})

    def _kernel(
        self, request: Request, run: Callable[[dict[str, Any], dict[str, Any]], Any]
    ) -> Response:
        """Run a controller behind auth:sanctum and throttle:api."""
        try:
            agent = self._agents.get(request.token)
            if agent is None:
                raise _Abort(401, "Unauthenticated.")
            now = time.monotonic()
            hits = [at for at in self._hits.get(request.token, []) if now - at < 60]
            self._hits[request.token] = hits
            if len(hits) >= _PER_MINUTE:
                wait = str(int(61 - (now - hits[0])))
                raise _Abort(429, "Too Many Attempts.", Retry_After=wait)
            hits.append(now)
            self._work_queue()
            headers = {
                "X-RateLimit-Limit": str(_PER_MINUTE),
                "X-RateLimit-Remaining": str(_PER_MINUTE - len(hits)),
            }
            return Response(200, run(agent, _input(request)), headers)
        except (_Abort, _ValidationException) as no:
            return no.response

    def _work_queue(self) -> None:
        """Let CheckTransmission jobs that are due have run."""
        now = time.monotonic()
        for row in self._transmissions.values():
            if row["status"] == "in_checking" and row["_due"] <= now:
                text = self._dispatches[row["dispatch_id"]]["text_as_filed"]
                good = row["transcript"] == text.upper()
                row["status"] = "checked" if good else "returned"
                row["remarks"] = (
                    None
                    if good
                    else "Transcript is not the text as filed in block capitals."
                )

    def _resource(self, row: dict[str, Any]) -> dict[str, Any]:
        shown = {name: value for name, value in row.items() if not name.startswith("_")}
        return {"data": shown | {"dispatch": self._dispatches[row["dispatch_id"]]}}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        number = len(self._agents) + 1
        token = f"{number}|{secrets.token_hex(24)}"
        agent = {"agent_id": _ulid(token, time.time()), "credits": 100}
        self._agents[token] = agent
        return Response(200, {**agent, "access_token": token})

    def _cursor_page(self, request: Request, data: dict[str, Any]) -> dict[str, Any]:
        limit = int(_check(data, {"limit": ["integer", "between:1,50"]})["limit"] or 4)
        after = ""
        try:
            cursor = str(data.get("cursor") or "")
            known = json.loads(
                base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
            )
            after = str(known["dispatches.id"])
        except (ValueError, KeyError, TypeError):
            pass  # Laravel starts at the front too
        rows = [
            row
            for row in self._dispatches.values()
            if row["status"] == "awaiting_operator" and row["id"] > after
        ]
        where = request.base + request.path
        token = link = None
        if len(rows) > limit:
            mark = {"dispatches.id": rows[limit - 1]["id"], "_pointsToNextItems": True}
            packed = json.dumps(mark, separators=(",", ":")).encode()
            token = base64.urlsafe_b64encode(packed).decode().rstrip("=")
            link = f"{where}?cursor={token}"
        return {
            "data": rows[:limit],
            "links": {"first": None, "last": None, "prev": None, "next": link},
            "meta": {
                "path": where,
                "per_page": limit,
                "next_cursor": token,
                "prev_cursor": None,
            },
        }

    def marketplace(self, request: Request) -> Response:
        try:
            return Response(200, self._cursor_page(request, _input(request)))
        except _ValidationException as no:
            return no.response

    def tasks(self, request: Request) -> Response:
        return self._kernel(request, lambda _, data: self._cursor_page(request, data))

    def agents(self, request: Request) -> Response:
        rows = [{"id": agent["agent_id"]} for agent in self._agents.values()]
        return Response(200, {"data": rows})

    def claim(self, request: Request) -> Response:
        return self._kernel(request, self._claim)

    def _claim(self, agent: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
        def exists(value: Any) -> str:
            known = str(value).lower() in self._dispatches
            return "" if known else "The selected dispatch id is invalid."

        def posted(value: Any) -> str:
            key = str(data.get("dispatch_id")).lower()
            row = self._dispatches.get(key, {"tariff_cents": int(value)})
            if int(value) == row["tariff_cents"]:
                return ""
            return f"The tariff cents must equal the posted tariff of {row['tariff_cents']}."

        given = _check(
            data,
            {
                "dispatch_id": ["required", "string", "ulid", exists],
                "tariff_cents": ["required", "integer", posted],
            },
        )
        row = self._dispatches[given["dispatch_id"].lower()]
        if row["status"] != "awaiting_operator":
            words = f"Dispatch {row['reference']} is no longer awaiting an operator."
            raise _Abort(409, words)
        row["status"] = "with_operator"
        self.book.claimed(row["id"])
        number = 5012 + len(self._transmissions)
        self._transmissions[number] = {
            "id": number,
            "dispatch_id": row["id"],
            "status": "keying",
            "transcript": None,
            "word_count": None,
            "remarks": None,
            "created_at": _zulu(datetime.now(UTC)),
            "_agent": agent["agent_id"],
        }
        return self._resource(self._transmissions[number])

    def _of(self, agent: dict[str, Any], number: Any) -> dict[str, Any]:
        row = self._transmissions[int(number)]
        if row["_agent"] != agent["agent_id"]:
            raise _Abort(403, "This action is unauthorized.")
        return row

    def _transmission_exists(self, value: Any) -> str:
        known = _is_int(value) and int(value) in self._transmissions
        return "" if known else "The selected transmission id is invalid."

    def submit(self, request: Request) -> Response:
        return self._kernel(request, self._submit)

    def _submit(self, agent: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
        given = _check(
            data,
            {
                "transmission_id": ["required", "integer", self._transmission_exists],
                "transcript": ["required", "string", "max:1000"],
                "word_count": ["required", "integer", "min:1"],
            },
        )
        row = self._of(agent, given["transmission_id"])
        words = len(given["transcript"].split())
        if int(given["word_count"]) != words:
            fault = (
                f"The word count does not agree with the transcript ({words} words)."
            )
            raise _ValidationException({"word_count": [fault]})
        if row["status"] not in ("keying", "returned"):
            raise _Abort(409, f"Transmission {row['id']} is already {row['status']}.")
        row |= {
            "status": "in_checking",
            "transcript": given["transcript"],
            "word_count": words,
            "remarks": None,
            "_due": time.monotonic() + _CHECK_TAKES,
        }
        return self._resource(row)

    def complete(self, request: Request) -> Response:
        return self._kernel(request, self._complete)

    def _complete(self, agent: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
        given = _check(
            data,
            {
                "transmission_id": ["required", "integer", self._transmission_exists],
                "operator_initials": [
                    "required",
                    "string",
                    "alpha",
                    "uppercase",
                    "between:2,4",
                ],
            },
        )
        row = self._of(agent, given["transmission_id"])
        named = f"Transmission {row['id']}"
        if row["status"] == "keying":
            raise _Abort(409, f"{named} has no transcript yet.")
        if row["status"] == "in_checking":
            words = f"{named} is still being checked. Try again in a moment."
            raise _Abort(409, words, Retry_After="1")
        if row["status"] == "returned":
            raise _Abort(409, f"{named} was returned: {row['remarks']}")
        if row["status"] == "signed_off":
            raise _Abort(409, f"{named} is already signed off.")
        dispatch = self._dispatches[row["dispatch_id"]]
        row |= {"status": "signed_off", "operator_initials": given["operator_initials"]}
        dispatch["status"] = "delivered"
        self.book.pay(dispatch["id"], dispatch["tariff_cents"])
        agent["credits"] += dispatch["tariff_cents"]
        paid = {
            "paid_cents": dispatch["tariff_cents"],
            "balance_cents": agent["credits"],
        }
        return self._resource(row) | {"meta": paid}
