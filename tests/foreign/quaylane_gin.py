"""QuayLane: a start-up's job board, in Go on gin with go-playground/validator.

Every answer but the middleware's is a 200 with code, msg and data; the validator's English
translations name the fields by their json tags.
"""
# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import re
import secrets
import time
from datetime import datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_JOBS = [
    ("parcel slip", "fragile glass inside", 18),
    ("lorry side", "moving homes since nineteen sixty", 26),
    ("dock sign", "no parking between cranes", 10),
    ("invoice stamp", "paid in full, with thanks", 13),
    ("lane marker", "pedestrians keep to the left", 6),
    ("radio call", "tug two, stand by at berth five", 21),
    ("lost and found", "one green umbrella, one small key", 15),
]
_STATES = {1: "open", 2: "taken", 3: "paid", 4: "closed"}
_MOST_OPEN = 3
_KINDS = {int: "int64", str: "string", bool: "bool"}

# Each request struct: json tag -> (type, validator tags), required always comes first.
_DAY = ["datetime=2006-01-02"]
_CLAIM = (
    "ClaimReq",
    {"job_no": (int, ["gt=0"]), "worker": (str, []), "deliver_by": (str, _DAY)},
)
_SUBMIT = (
    "SubmitReq",
    {"order_no": (str, []), "answer": (str, []), "seconds_spent": (int, ["min=1"])},
)
_COMPLETE = (
    "CompleteReq",
    {
        "order_no": (str, []),
        "receipt_no": (str, []),
        "remark": (str, ["min=5", "max=200"]),
        "confirmed": (bool, []),
    },
)


class _Fail(Exception):  # noqa: N818
    def __init__(self, code: int, msg: str, errors: dict[str, str] | None = None):  # noqa: ANN204
        self.code, self.msg, self.errors = code, msg, errors


def _kind(value: Any) -> str:
    names = {bool: "bool", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "number")


def _is_date(value: str) -> bool:
    try:
        return bool(
            re.fullmatch(r"\d{4}-\d\d-\d\d", value) and datetime.fromisoformat(value)
        )
    except ValueError:
        return False


def _translated(name: str, value: Any, tags: list[str]) -> str:
    """Return the first failing tag's English translation, or ""."""
    if not value:
        return f"{name} is a required field"
    for tag, _, bound in (tag.partition("=") for tag in tags):
        text = isinstance(value, str)
        size = len(value) if text else value
        if tag == "gt" and size <= int(bound):
            return f"{name} must be greater than {bound}"
        if tag == "min" and size < int(bound):
            unit = (
                f"at least {bound} characters in length"
                if text
                else f"{bound} or greater"
            )
            return f"{name} must be {unit}"
        if tag == "max" and size > int(bound):
            limit = (
                f"a maximum of {bound} characters in length"
                if text
                else f"{bound} or less"
            )
            return f"{name} must be {limit}"
        if tag == "datetime" and not _is_date(value):
            return f"{name} does not match the {bound} format"
    return ""


def _bind(request: Request, struct: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """Do what ShouldBindJSON does: decode into the struct, then validate it."""
    type_name, fields = struct
    if not request.raw.strip():
        raise _Fail(10001, "EOF")
    try:
        body = json.loads(request.raw.decode(errors="replace"))
    except json.JSONDecodeError as error:
        if error.pos >= len(error.doc):
            raise _Fail(10001, "unexpected EOF") from None
        why = (
            f"invalid character {error.doc[error.pos]!r} looking for beginning of value"
        )
        raise _Fail(10001, why) from None
    stem = "json: cannot unmarshal"
    if body is not None and not isinstance(body, dict):
        raise _Fail(
            10001, f"{stem} {_kind(body)} into Go value of type api.{type_name}"
        )
    given = {
        key.lower(): value for key, value in (body or {}).items() if value is not None
    }
    values, errors = {}, {}
    for name, (type_, _) in fields.items():
        values[name] = given.get(name, type_())
        if type(values[name]) is not type_:
            place = f"Go struct field {type_name}.{name} of type {_KINDS[type_]}"
            kind = _kind(values[name])
            kind += f" {values[name]}" if kind == "number" and type_ is int else ""
            raise _Fail(10001, f"{stem} {kind} into {place}")
    for name, (_, tags) in fields.items():
        if why := _translated(name, values[name], tags):
            errors[name] = why
    if errors:
        raise _Fail(10002, "invalid params", errors)
    return values


def _write(body: dict[str, Any], status: int = 200, refused: bool = False) -> Response:  # noqa: FBT001, FBT002
    headers = {"Content-Type": "application/json; charset=utf-8"}
    return Response(status, body, headers, refused)


def _handler(private: bool) -> Any:  # noqa: FBT001
    """Wrap a gin handler; a private one sits behind the auth middleware."""

    def wrap(function: Any) -> Any:
        def call(self: Any, request: Request) -> Response:
            if private and not request.token:
                return _write(
                    {"code": 10401, "msg": "authorization header required"}, 401
                )
            if private and request.token not in self._workers:
                return _write({"code": 10402, "msg": "token is invalid"}, 401)
            try:
                data = function(self, request, self._workers.get(request.token))
                return _write({"code": 0, "msg": "ok", "data": data})
            except _Fail as fail:
                body: dict[str, Any] = {"code": fail.code, "msg": fail.msg}
                body |= {"errors": fail.errors} if fail.errors else {"data": None}
                return _write(body, refused=True)

        return call

    return wrap


class QuayLane(Backend):
    """The text comes with the claim; submission pays; completion frees the order's slot."""

    def __init__(self) -> None:
        super().__init__()
        self._workers: dict[str, dict[str, Any]] = {}  # by token
        self._orders: dict[str, dict[str, Any]] = {}
        self._jobs: dict[int, dict[str, Any]] = {}
        for place, (subject, text, bounty) in enumerate(_JOBS, 1):
            job = {"subject": subject, "text": text, "bounty": bounty, "state": 1}
            self._jobs[4100 + 7 * place] = job

    def texts(self) -> dict[str, str]:
        return {str(number): job["text"] for number, job in self._jobs.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token, who = secrets.token_hex(20), f"w{10000 + self.book.registrations}"
        self._workers[token] = {"agent_id": who, "credits": 100}
        return _write({**self._workers[token], "access_token": token})

    @_handler(private=False)
    def tasks(self, request: Request, worker: Any) -> Any:
        query = {"limit": 4, "cursor": 0}
        for name in query.keys() & request.query.keys():
            value = request.query[name] or "0"
            if not re.fullmatch(r"[+-]?\d{1,18}", value):
                raise _Fail(
                    10001, f'strconv.ParseInt: parsing "{value}": invalid syntax'
                )
            query[name] = int(value)
        limit = query["limit"] or 4  # omitempty
        if why := _translated("limit", limit, ["min=1", "max=20"]):
            raise _Fail(10002, "invalid params", {"limit": why})
        rows = [
            {
                "job_no": number,
                "subject": job["subject"],
                "todo": "Convert the text that you get with the order to UPPERCASE.",
                "bounty": job["bounty"],
                "state": job["state"],
                "state_text": _STATES[job["state"]],
            }
            for number, job in self._jobs.items()
            if number > query["cursor"]
        ]
        more = rows[limit - 1]["job_no"] if len(rows) > limit else 0
        return {"list": rows[:limit], "has_more": bool(more), "cursor": more}

    marketplace = tasks

    @_handler(private=False)
    def agents(self, request: Request, worker: Any) -> Any:
        return {"list": [one["agent_id"] for one in self._workers.values()]}

    directory = agents

    @_handler(private=True)
    def post(self, request: Request, worker: Any) -> Any:
        raise _Fail(20011, "not available for free agents")

    checkout = post

    @_handler(private=True)
    def claim(self, request: Request, worker: Any) -> Any:
        body = _bind(request, _CLAIM)
        if body["worker"] != worker["agent_id"]:
            raise _Fail(20001, "worker does not match the agent_id of this token")
        if (job := self._jobs.get(body["job_no"])) is None:
            raise _Fail(20002, "job not found")
        if job["state"] != 1:
            raise _Fail(20003, f"job is not open, it is {_STATES[job['state']]}")
        mine = [order for order in self._orders.values() if order["worker"] is worker]
        if sum(order["job"]["state"] != 4 for order in mine) >= _MOST_OPEN:
            raise _Fail(
                20004, f"too many open orders (max {_MOST_OPEN}), complete one first"
            )
        job["state"] = 2
        self.book.claimed(str(body["job_no"]))
        key = f"QL{secrets.token_hex(5).upper()}"
        self._orders[key] = {"worker": worker, "job": job, "number": body["job_no"]}
        return {"order_no": key, "text": job["text"], "created": int(time.time())}

    def _order(self, number: str, worker: Any) -> dict[str, Any]:
        order = self._orders.get(number, {})
        if order.get("worker") is not worker:
            raise _Fail(20005, "order not found")
        return order

    @_handler(private=True)
    def submit(self, request: Request, worker: Any) -> Any:
        body = _bind(request, _SUBMIT)
        order = self._order(body["order_no"], worker)
        if (job := order["job"])["state"] != 2:
            raise _Fail(20006, f"order is already {_STATES[job['state']]}")
        if body["answer"] != job["text"].upper():
            raise _Fail(20007, "answer not accepted, please check and submit again")
        job["state"] = 3
        self.book.pay(str(order["number"]), job["bounty"])
        worker["credits"] += job["bounty"]
        order["receipt"] = f"R-{secrets.randbelow(9 * 10**8) + 10**8}"
        return {"receipt_no": order["receipt"], "paid": job["bounty"]}

    @_handler(private=True)
    def complete(self, request: Request, worker: Any) -> Any:
        body = _bind(request, _COMPLETE)
        order = self._order(body["order_no"], worker)
        if order["job"]["state"] == 2:
            raise _Fail(20008, "nothing was submitted for this order yet")
        if body["receipt_no"] != order["receipt"]:
            raise _Fail(20009, "receipt_no does not match the order")
        if order["job"]["state"] == 4:
            raise _Fail(20010, "order is already closed")
        order["job"]["state"] = 4
        return {"order_no": body["order_no"], "state": 4, "state_text": "closed"}
