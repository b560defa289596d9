"""Gigboard: a start-up's service in Python on Django REST Framework."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_TASKS = [
    ("tide-table", 9, "high water at Selby quay: 05:40 and 18:05"),
    ("lost-dog", 14, "Lost dog, answers to Pepper, last seen near the mill"),
    ("choir-poster", 6, "Spring concert of the valley choir"),
    ("menu-board", 22, "Soup of the day: leek and potato"),
    ("road-works", 11, "Road closed from 3 May; follow the yellow signs"),
    ("jumble-sale", 17, "jumble sale in the Parish Hall, all welcome"),
    ("seed-packet", 4, "Sow thinly in April, 2 cm deep"),
]
_PAGE_SIZE, _MAX_LIMIT, _MAX_ACTIVE = 5, 50, 3
_NOT_FOUND = (
    "<h1>Not Found</h1><p>The requested resource was not found on this server.</p>"
)
_FORBIDDEN = "You do not have permission to perform this action."
_ALLOW = {"GET": "GET, HEAD, OPTIONS", "POST": "POST, OPTIONS"}


class _APIException(Exception):  # noqa: N818
    def __init__(self, status: int, body: Any) -> None:
        super().__init__(status)
        extra = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
        self.response = Response(status, body, {"Vary": "Accept", **extra})


class _Bad(Exception):  # noqa: N818
    """A field's ValidationError."""


def _api_view(
    method: Callable[[Any, Request], Response],
) -> Callable[[Any, Request], Response]:
    @wraps(method)
    def wrapped(self: Any, request: Request) -> Response:
        try:
            return method(self, request)
        except _APIException as raised:
            return raised.response

    return wrapped


def _char_field(value: Any) -> str:
    if isinstance(value, (bool, dict, list)):
        raise _Bad("Not a valid string.")
    if not str(value).strip():
        raise _Bad("This field may not be blank.")
    return str(value).strip()


def _duration_field(value: Any) -> str:
    """django.utils.dateparse.parse_duration: the standard and the ISO 8601 form."""
    plain = r"-?(?:\d+ (?:days?, )?)?(?:(?:\d+:)?\d+:)?\d+(?:[.,]\d{1,6})?"
    iso = r"[-+]?P(?=.)(?:\d+(?:[.,]\d+)?D)?(?:T(?=.)(?:\d+H)?(?:\d+M)?(?:\d+(?:[.,]\d+)?S)?)?"
    if not re.fullmatch(f"{plain}|{iso}", str(value).strip()):
        said = "Duration has wrong format. Use one of these formats instead: "
        raise _Bad(said + "[DD] [HH:[MM:]]ss[.uuuuuu].")
    return str(value).strip()


def _pk_field(rows: dict[int, Any]) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if isinstance(value, bool) or not re.fullmatch(r"-?\d+", str(value)):
            raise _Bad(
                f"Incorrect type. Expected pk value, received {type(value).__name__}."
            )
        if int(value) not in rows:
            raise _Bad(f'Invalid pk "{value}" - object does not exist.')
        return rows[int(value)]

    return check


def _slug_field(rows: dict[str, Any]) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if str(value) in rows:
            return rows[str(value)]
        raise _Bad(f"Object with slug={value} does not exist.")

    return check


def _serializer(request: Request, **fields: Callable[[Any], Any]) -> dict[str, Any]:
    """Serializer(data=request.data).is_valid(raise_exception=True)."""
    media = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
    data: Any = {}
    if request.raw:
        if media.lower() != "application/json":
            raise _APIException(
                415, {"detail": f'Unsupported media type "{media}" in request.'}
            )
        try:
            data = request.json()
        except ValueError as error:
            raise _APIException(
                400, {"detail": f"JSON parse error - {error}"}
            ) from None
    if not isinstance(data, dict):
        said = f"Invalid data. Expected a dictionary, but got {type(data).__name__}."
        raise _APIException(400, {"non_field_errors": [said]})
    errors, valid = {}, {}
    for name, check in fields.items():
        try:
            if data.get(name) is None:
                raise _Bad(
                    f"This field {'may not be null' if name in data else 'is required'}."
                )
            valid[name] = check(data[name])
        except _Bad as bad:
            errors[name] = [str(bad)]
    if errors:
        raise _APIException(400, errors)
    return valid


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


class Gigboard(Backend):
    """DRF: flat snake_case, slugs, limit and offset; an accepted submission pays at once."""

    def __init__(self) -> None:
        super().__init__()
        self._tokens: dict[str, dict[str, Any]] = {}
        self._gigs = {
            slug: {"slug": slug, "text": text, "payout": payout, "taken": False}
            for slug, payout, text in _TASKS
        }
        self._assignments: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {slug: gig["text"] for slug, gig in self._gigs.items()}

    def missing(self, request: Request) -> Response:
        for method, path in ACTIONS:
            if path == request.path and method != request.method:
                said = {"detail": f'Method "{request.method}" not allowed.'}
                return Response(405, said, {"Allow": _ALLOW[method]})
        return Response(404, _NOT_FOUND, {"Content-Type": "text/html; charset=utf-8"})

    def _authenticate(self, request: Request) -> dict[str, Any]:
        """TokenAuthentication with keyword = "Bearer", and IsAuthenticated."""
        if request.token in self._tokens:
            return self._tokens[request.token]
        said = "Authentication credentials were not provided."
        if request.token:
            said = "Invalid token."
        raise _APIException(401, {"detail": said})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = {"uuid": str(uuid.uuid4()), "credits": 100, "joined": _now()}
        token = secrets.token_hex(20)
        self._tokens[token] = agent
        return Response(
            200, {"agent_id": agent["uuid"], "access_token": token, "credits": 100}
        )

    def _paginate(self, request: Request, rows: list[Any]) -> Response:
        """LimitOffsetPagination: what it cannot read it takes for the default."""
        asked, skip = request.query.get("limit", ""), request.query.get("offset", "")
        limit = (
            min(int(asked), _MAX_LIMIT)
            if asked.isdecimal() and int(asked)
            else _PAGE_SIZE
        )
        offset = int(skip) if skip.isdecimal() else 0

        def link(start: int) -> str:
            query = {**request.query, "limit": limit, "offset": max(start, 0)}
            return f"{request.base}{request.path}?{urlencode(query)}"

        return Response(200, {
            "count": len(rows),
            "next": link(offset + limit) if offset + limit < len(rows) else None,
            "previous": link(offset - limit) if offset > 0 else None,
            "results": rows[offset : offset + limit],
        })  # fmt: skip

    def marketplace(self, request: Request) -> Response:
        return self._paginate(request, [
            {"slug": gig["slug"], "name": gig["slug"].replace("-", " ").capitalize(),
             "summary": "Put the input text into upper case. The text comes with the assignment.",
             "payout": f"{gig['payout']}.00", "category": "copywriting"}
            for gig in self._gigs.values() if not gig["taken"]
        ])  # fmt: skip

    @_api_view
    def tasks(self, request: Request) -> Response:
        self._authenticate(request)
        return self.marketplace(request)

    def agents(self, request: Request) -> Response:
        rows = [
            {"uuid": a["uuid"], "joined": a["joined"]} for a in self._tokens.values()
        ]
        return self._paginate(request, rows)

    directory = agents

    @_api_view
    def post(self, request: Request) -> Response:
        self._authenticate(request)
        raise _APIException(403, {"detail": _FORBIDDEN})

    checkout = post

    @_api_view
    def claim(self, request: Request) -> Response:
        agent = self._authenticate(request)
        sent = _serializer(request, task=_slug_field(self._gigs), eta=_duration_field)
        mine = [
            a
            for a in self._assignments.values()
            if a["agent"] is agent and not a["closed"]
        ]
        if sent["task"]["taken"]:
            raise _APIException(409, {"detail": "This task is already assigned."})
        if len(mine) >= _MAX_ACTIVE:
            said = f"You already have {_MAX_ACTIVE} active assignments. Complete one first."
            raise _APIException(400, {"non_field_errors": [said]})
        gig, pk = sent["task"], 58 + len(self._assignments)
        gig["taken"] = True
        self._assignments[pk] = {
            "agent": agent,
            "gig": gig,
            "paid": False,
            "closed": False,
        }
        self.book.claimed(gig["slug"])
        return Response(200, {"id": pk, "task": gig["slug"], "input_text": gig["text"],
                              "eta": sent["eta"], "started": _now()})  # fmt: skip

    def _own(self, agent: dict[str, Any], assignment: dict[str, Any]) -> None:
        if assignment["agent"] is not agent:
            raise _APIException(403, {"detail": _FORBIDDEN})

    @_api_view
    def submit(self, request: Request) -> Response:
        agent, pk = self._authenticate(request), _pk_field(self._assignments)
        sent = _serializer(request, assignment=pk, answer=_char_field)
        assignment, gig = sent["assignment"], sent["assignment"]["gig"]
        self._own(agent, assignment)
        if assignment["paid"]:
            raise _APIException(
                409, {"detail": "This assignment already has an accepted answer."}
            )
        if sent["answer"] != gig["text"].upper():
            raise _APIException(
                400, {"answer": ["This answer did not pass verification."]}
            )
        assignment["paid"] = True
        agent["credits"] += gig["payout"]
        self.book.pay(gig["slug"], gig["payout"])
        return Response(200, {"accepted": True, "payout": f"{gig['payout']}.00",
                              "balance": f"{agent['credits']}.00"})  # fmt: skip

    @_api_view
    def complete(self, request: Request) -> Response:
        agent, pk = self._authenticate(request), _pk_field(self._assignments)
        sent = _serializer(request, assignment=pk, feedback=_char_field)
        self._own(agent, sent["assignment"])
        if not sent["assignment"]["paid"]:
            raise _APIException(
                409, {"detail": "This assignment has no accepted answer yet."}
            )
        if sent["assignment"]["closed"]:
            raise _APIException(409, {"detail": "This assignment is already closed."})
        sent["assignment"]["closed"] = True
        return Response(
            200, {"task": sent["assignment"]["gig"]["slug"], "closed": _now()}
        )
