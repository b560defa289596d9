"""GigHarbor: a start-up's Flask service in Python, bodies checked by pydantic 2.

Routes are made by flask-openapi3: a ValidationError is answered 422 with the bare list of
`e.json()`. Everything else is `abort(...)`, turned into JSON by the handler of Flask's manual.
"""
# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from http import HTTPStatus
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_GIGS = {
    4101: ("Shop window sign", "fresh bread every morning at six", 18),
    4102: ("Ticket footer", "not valid on public holidays", 7),
    4107: ("Trail marker", "steep path, good shoes needed", 25),
    4110: ("Menu heading", "soups & small plates", 12),
    4111: ("Parcel sticker", "handle with care: glass inside", 40),
    4115: ("Locker notice", "please empty by friday 17:00", 10),
}
_INT = "Input should be a valid integer"
_BRIEF = "Put the material into capital letters. The contract carries the material."
_ABSENT = "The requested URL was not found on the server. If you entered the URL manually please"
_USUAL = {404: f"{_ABSENT} check your spelling and try again."}
_USUAL[405] = "The method is not allowed for the requested URL."


class _Error(Exception):  # one line of a pydantic ValidationError
    def __init__(self, type_: str, msg: str, **ctx: Any) -> None:
        self.type, self.msg, self.ctx = type_, msg, ctx


def _int(value: Any) -> int:
    if isinstance(value, float) and value != value // 1:
        raise _Error("int_from_float", f"{_INT}, got a number with a fractional part")
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            wrong = f"{_INT}, unable to parse string as an integer"
            raise _Error("int_parsing", wrong) from None
    if not isinstance(value, (int, float)):
        raise _Error("int_type", _INT)
    return int(value)


def _str(value: Any) -> str:
    if not isinstance(value, str):
        raise _Error("string_type", "Input should be a valid string")
    return value


def _date(value: Any) -> date:
    exact = "Datetimes provided to dates should have zero time - e.g. be exact dates"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        seconds = value / 1000 if abs(value) > 2e10 else value  # as pydantic does
        if seconds % 86400:
            raise _Error("date_from_datetime_inexact", exact)
        return date(1970, 1, 1) + timedelta(seconds=seconds)
    if not isinstance(value, str):
        raise _Error("date_type", "Input should be a valid date")
    why = "input is too short" if len(value) < 10 else "invalid character in year"
    try:
        day = date.fromisoformat(value[:10].ljust(10))
    except ValueError:
        msg = f"Input should be a valid date or datetime, {why}"
        raise _Error("date_from_datetime_parsing", msg, error=why) from None
    if any(c in "123456789" for c in value[10:]):
        raise _Error("date_from_datetime_inexact", exact)
    return day


# A model is field -> (type, default or ..., limits of pydantic's Field).
_LIST = {"limit": (_int, 5, {"ge": 1, "le": 50}), "page": (_int, 1, {"ge": 1})}
_CLAIM = {"gig_id": (_int, ..., {}), "finish_by": (_date, ..., {})}
_SUBMIT = {"contract_no": (_str, ..., {}), "output": (_str, ..., {"min_length": 1})}
_SUBMIT |= {"minutes_spent": (_int, ..., {"ge": 1, "le": 1440})}
_CLOSE = {name: (_str, ..., {}) for name in ("contract_no", "receipt_no")}
_POST = {
    "headline": (_str, ..., {}),
    "material": (_str, ..., {}),
    "pay": (_int, ..., {"ge": 1}),
}
_CHECKOUT = {name: (_str, ..., {}) for name in ("plan", "agent_id", "price_id")}
_CHECKOUT |= {
    name: (_int, ..., {"ge": 1}) for name in ("requested_credits", "amount_cents")
}


def _limits(
    value: Any, ge: int | None = None, le: int | None = None, min_length: int = 0
) -> None:
    if ge is not None and value < ge:
        raise _Error(
            "greater_than_equal",
            f"Input should be greater than or equal to {ge}",
            ge=ge,
        )
    if le is not None and value > le:
        raise _Error(
            "less_than_equal", f"Input should be less than or equal to {le}", le=le
        )
    if min_length and len(value) < min_length:
        raise _Error(
            "string_too_short", "String should have at least 1 character", min_length=1
        )


def _validate(
    title: str, model: dict[str, Any], data: Any
) -> tuple[dict[str, Any], list[Any]]:
    """Return the model's values and pydantic's errors."""
    values, errors = {}, []

    def note(error: _Error, loc: list[str], value: Any) -> None:
        line = {"type": error.type, "loc": loc, "msg": error.msg, "input": value}
        line |= {"ctx": error.ctx} if error.ctx else {}
        errors.append(
            line | {"url": f"https://errors.pydantic.dev/2.11/v/{error.type}"}
        )

    if not isinstance(data, dict):
        wrong = f"Input should be a valid dictionary or instance of {title}"
        note(_Error("model_type", wrong, class_name=title), [], data)
        return values, errors
    for name, (type_, default, limits) in model.items():
        try:
            if name in data:
                values[name] = type_(data[name])
                _limits(values[name], **limits)
            elif default is ...:
                note(_Error("missing", "Field required"), [name], data)
            else:
                values[name] = default
        except _Error as error:
            note(error, [name], data[name])
    return values, errors


class _Abort(Exception):  # noqa: N818
    def __init__(self, code: int, description: str = "") -> None:
        self.code, name = code, HTTPStatus(code).phrase
        self.body = {
            "code": code,
            "name": name,
            "description": description or _USUAL[code],
        }


def _silent_json(request: Request) -> Any:
    """Do `request.get_json(silent=True)`."""
    try:
        media = (request.headers.get("Content-Type") or "").split(";")[0]
        return request.json() if media.strip().endswith("json") else None
    except ValueError:
        return None


def _route(
    model: dict[str, Any] | None = None,
    private: bool = True,  # noqa: FBT001, FBT002
) -> Callable[..., Any]:
    """Make a route: before_request asks for the token, then the model, then the view."""

    def wrap(view: Callable[..., Any]) -> Callable[..., Response]:
        def route(self: Any, request: Request) -> Response:
            try:
                worker = self._workers.get(request.token)
                if private and worker is None:
                    raise _Abort(401, "A valid bearer token is required.")
                data = (
                    request.query if request.method == "GET" else _silent_json(request)
                )
                values, errors = _validate(
                    f"{view.__name__.title()}Body", model or {}, data or {}
                )
                return Response(422, errors) if errors else view(self, worker, **values)
            except _Abort as no:
                return Response(no.code, no.body)

        return route

    return wrap


class GigHarbor(Backend):
    """Flask and pydantic: the work comes with the claim, the submission is paid."""

    def __init__(self) -> None:
        super().__init__()
        self._workers: dict[str, dict[str, Any]] = {}  # by token
        self._contracts: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(number): gig[1] for number, gig in _GIGS.items()}

    def missing(self, request: Request) -> Response:
        no = _Abort(405 if request.path in {path for _, path in ACTIONS} else 404)
        return Response(no.code, no.body)

    @_route(private=False)
    def register(self, _: Any) -> Response:
        worker, token = (
            {"agent_id": f"W{len(self._workers) + 1:05d}"},
            secrets.token_hex(20),
        )
        self._workers[token] = worker | {"credits": 100}
        self.book.registrations += 1
        return Response(200, worker | {"access_token": token, "credits": 100})

    @_route(_LIST, private=False)
    def tasks(self, _: Any, limit: int, page: int) -> Response:
        free = [
            n for n in _GIGS if n not in {c["gig_id"] for c in self._contracts.values()}
        ]
        gigs = []
        for n in free[(page - 1) * limit : page * limit]:
            gigs.append(  # noqa: PERF401
                {
                    "gig_id": n,
                    "headline": _GIGS[n][0],
                    "brief": _BRIEF,
                    "pay": _GIGS[n][2],
                }
            )
        counts = {"total": len(free), "page": page, "pages": -(-len(free) // limit)}
        return Response(200, {"gigs": gigs} | counts)

    @_route(private=False)
    def agents(self, _: Any) -> Response:
        return Response(
            200, {"workers": [w["agent_id"] for w in self._workers.values()]}
        )

    marketplace, directory = tasks, agents

    @_route(_CLAIM)
    def claim(self, worker: dict[str, Any], gig_id: int, finish_by: date) -> Response:
        if gig_id not in _GIGS:
            raise _Abort(404, f"No gig with gig_id {gig_id}.")
        if finish_by < datetime.now(UTC).date():
            raise _Abort(400, "finish_by lies in the past.")
        for held in self._contracts.values():
            if held["gig_id"] == gig_id and held["agent_id"] != worker["agent_id"]:
                raise _Abort(409, "Somebody else has taken this gig.")
            if held["gig_id"] == gig_id:
                return Response(200, held)
        number = f"HB-{secrets.token_hex(3).upper()}"
        contract = {
            "contract_no": number,
            "gig_id": gig_id,
            "agent_id": worker["agent_id"],
        }
        contract |= {"finish_by": finish_by.isoformat(), "material": _GIGS[gig_id][1]}
        self._contracts[number] = contract | {"state": "in_progress"}
        self.book.claimed(str(gig_id))
        return Response(200, self._contracts[number])

    def _contract(
        self, worker: dict[str, Any], number: str, state: str
    ) -> dict[str, Any]:
        found = self._contracts.get(number)
        if not found or found["agent_id"] != worker["agent_id"]:
            raise _Abort(404, f"You have no contract with contract_no {number}.")
        if found["state"] == state:
            return found
        raise _Abort(409, f"The contract is {found['state']}, not {state}.")

    @_route(_SUBMIT)
    def submit(
        self, worker: Any, contract_no: str, output: str, minutes_spent: int
    ) -> Response:
        found = self._contract(worker, contract_no, "in_progress")
        _, text, pay = _GIGS[found["gig_id"]]
        if output != text.upper():
            raise _Abort(422, "The output is not the material in capital letters.")
        self.book.pay(str(found["gig_id"]), pay)
        worker["credits"] += pay
        found |= {"state": "paid", "receipt_no": f"R{secrets.randbelow(10**8):08d}"}
        return Response(
            200, {"receipt_no": found["receipt_no"], "state": "paid", "paid": pay}
        )

    @_route(_CLOSE)
    def complete(self, worker: Any, contract_no: str, receipt_no: str) -> Response:
        found = self._contract(worker, contract_no, "paid")
        if found["receipt_no"] != receipt_no:
            raise _Abort(
                404, f"No receipt with receipt_no {receipt_no} for this contract."
            )
        found["state"] = "closed"
        return Response(200, {"contract_no": contract_no, "state": "closed"})

    @_route(_POST)
    def post(
        self, worker: dict[str, Any], headline: str, material: str, pay: int
    ) -> Response:
        if pay > worker["credits"]:
            raise _Abort(402, f"Your balance is {worker['credits']}.")
        worker["credits"] -= pay
        return Response(200, {"headline": headline, "pay": pay, "state": "in_review"})

    @_route(_CHECKOUT, private=False)
    def checkout(self, _: Any, plan: str, agent_id: str, **rest: Any) -> Response:
        return Response(
            200, {"ok": True, "agentId": agent_id, "plan": plan, "mode": "invoice"}
        )
