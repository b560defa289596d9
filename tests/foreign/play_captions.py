"""A small team's caption desk in Scala: Play with play-json, as Play's own manual has it.

`Json.reads` with snake case, `request.body.validate[...]`, and for what does not fit
`BadRequest(Json.obj("message" -> JsError.toJson(errors)))`. The JSON error handler of Play
answers for what never reaches an action.
"""

import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_Errors = dict[str, list[dict[str, Any]]]

_ORDERS = [
    # id, summary, payload, credits, revision
    (4101, "Opening title", "the long way home", 15, 3),
    (4102, "Chapter card", "part two: the river", 8, 1),
    (4107, "Lower third", "anna lind, harbour master", 22, 2),
    (4110, "Closing credit", "filmed on location in bergen", 11, 1),
    (4111, "Warning card", "contains flashing images", 27, 5),
    (4116, "Place name", "saltholm, 1962", 6, 2),
]


class _Reads:
    """The Reads that play-json's macro would write for a case class."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def errors(self, value: Any, path: str = "obj") -> _Errors:
        if not isinstance(value, dict):
            return {path: [_error("error.expected.jsobject")]}
        found: _Errors = {}
        for name, check in self.fields.items():
            where = f"{path}.{name}"
            if name not in value:
                found[where] = [_error("error.path.missing")]
            elif isinstance(check, _Reads):
                found |= check.errors(value[name], where)
            elif error := check(value[name]):
                found[where] = [error]
        return found


def _error(message: str, *args: Any) -> dict[str, Any]:
    return {"msg": [message], "args": list(args)}


def _number(kind: str, least: int | None = None) -> Callable[[Any], Any]:
    def check(value: Any) -> dict[str, Any] | None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return _error("error.expected.jsnumber")
        if value % 1 != 0:
            return _error(f"error.expected.{kind}")
        return (
            _error("error.min", least) if least is not None and value < least else None
        )

    return check


def _string(least: int = 0) -> Callable[[Any], Any]:
    def check(value: Any) -> dict[str, Any] | None:
        if not isinstance(value, str):
            return _error("error.expected.jsstring")
        return _error("error.minLength", least) if len(value) < least else None

    return check


_CLAIM = _Reads(task=_number("long"), revision=_number("int"), agent=_string())
_SUBMIT = _Reads(
    assignment=_number("long"),
    answer=_Reads(content=_string(1), minutes_spent=_number("int", 1)),
)
_COMPLETE = _Reads(assignment=_number("long"), receipt_number=_string())


def _say(code: int, message: Any, **more: Any) -> Response:
    return Response(code, {"message": message, **more})


class PlayCaptions(Backend):
    """Captions in capitals: an accepted answer is paid at once, completion files it."""

    def __init__(self) -> None:
        super().__init__()
        self._accounts: dict[str, dict[str, Any]] = {}  # token -> account
        self._assignments: dict[int, dict[str, Any]] = {}
        self._by_task: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(order[0]): order[2] for order in _ORDERS}

    def _client_error(self, status: int, message: str) -> Response:
        """Answer as Play's JsonHttpErrorHandler does."""
        number = self.book.requests.total() + 1
        return Response(status, {"error": {"requestId": number, "message": message}})

    def missing(self, request: Request) -> Response:
        return self._client_error(404, "")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        account = {"agent_id": str(7000 + self.book.registrations), "credits": 100}
        token = secrets.token_hex(20)
        self._accounts[token] = account
        return Response(200, {**account, "access_token": token})

    def _account(self, request: Request) -> dict[str, Any] | Response:
        """Return the caller's account, or the answer of the authenticated action."""
        account = self._accounts.get(request.token)
        if account is None:
            return Response(
                401,
                {"message": "Missing or unknown bearer token."},
                {"WWW-Authenticate": "Bearer"},
            )
        return account

    def _parsed(self, request: Request, reads: _Reads) -> tuple[Any, Any]:
        """Return body and account; the body is a response when something is wrong."""
        kind = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
        if kind not in ("application/json", "text/json"):
            wanted = "Expected text/json or application/json body"
            return self._client_error(415, wanted), None
        try:
            body = request.json()
        except ValueError:
            why = "No content to map due to end-of-input"
            if words := request.raw.decode(errors="replace").split():
                why = f"Unrecognized token '{words[0]}': was expecting a JSON value"
            return self._client_error(400, f"Invalid Json: {why}"), None
        account = self._account(request)
        if isinstance(account, Response):
            return account, None
        if errors := reads.errors(body):
            return _say(400, errors), None
        return body, account

    def _list(self, request: Request) -> Response:
        bounds = {"limit": 25, "offset": 0}
        for name in bounds:
            if (text := request.query.get(name)) is None:
                continue
            if not text.lstrip("-").isdigit():
                return self._client_error(
                    400,
                    f'Cannot parse parameter {name} as Int: For input string: "{text}"',
                )
            bounds[name] = int(text)
        limit, offset = min(max(bounds["limit"], 1), 100), max(bounds["offset"], 0)
        records = [
            {
                "id": id_,
                "summary": summary,
                "note": "Answer with the payload in upper case.",
                "payload": payload,
                "credits": credits_,
                "revision": revision,
                "status": self._by_task.get(id_, {}).get("status", "OPEN"),
            }
            for id_, summary, payload, credits_, revision in _ORDERS
        ]
        return Response(
            200, records[offset : offset + limit], {"X-Total-Count": str(len(records))}
        )

    def tasks(self, request: Request) -> Response:
        account = self._account(request)
        return account if isinstance(account, Response) else self._list(request)

    marketplace = _list

    def claim(self, request: Request) -> Response:
        body, account = self._parsed(request, _CLAIM)
        if isinstance(body, Response):
            return body
        id_, revision = int(body["task"]), int(body["revision"])
        order = next((order for order in _ORDERS if order[0] == id_), None)
        if order is None:
            return _say(404, f"Task {id_} does not exist.")
        if body["agent"] != account["agent_id"]:
            return _say(403, "agent has to be the agent_id that belongs to this token.")
        if revision != order[4]:
            return _say(409, f"Task {id_} is at revision {order[4]}, not {revision}.")
        held = self._by_task.get(id_)
        if held and (held["account"] is not account or held["status"] != "ASSIGNED"):
            return _say(409, f"Task {id_} is not open any more.")
        if held is None:
            until = datetime.now(UTC) + timedelta(hours=4)
            held = {
                "number": 880012 + 7 * len(self._assignments),
                "task": order,
                "account": account,
                "status": "ASSIGNED",
                "until": until.strftime("%Y-%m-%dT%H:%M:%SZ"),
            }
            self._by_task[id_] = self._assignments[held["number"]] = held
            self.book.claimed(str(id_))
        shown = {"number": held["number"], "task": id_, "until": held["until"]}
        return _say(200, f"Task {id_} is yours.", assignment=shown)

    def _assignment(self, body: Any, account: Any) -> dict[str, Any] | Response:
        number = int(body["assignment"])
        held = self._assignments.get(number)
        if held is None or held["account"] is not account:
            return _say(404, f"You have no assignment {number}.")
        return held

    def submit(self, request: Request) -> Response:
        body, account = self._parsed(request, _SUBMIT)
        if isinstance(body, Response):
            return body
        held = self._assignment(body, account)
        if isinstance(held, Response):
            return held
        if held["status"] != "ASSIGNED":
            return _say(409, f"Assignment {held['number']} has been answered already.")
        id_, _, payload, credits_, _ = held["task"]
        if body["answer"]["content"] != payload.upper():
            return _say(
                422, "Answer refused: content is not the payload in upper case."
            )
        held["status"] = "ANSWERED"
        held["receipt"] = f"R-{held['number']}-{secrets.token_hex(2)}"
        account["credits"] += credits_
        self.book.pay(str(id_), credits_)
        receipt = {
            "number": held["receipt"],
            "credits": credits_,
            "balance": account["credits"],
        }
        return _say(200, "Answer accepted and paid.", receipt=receipt)

    def complete(self, request: Request) -> Response:
        body, account = self._parsed(request, _COMPLETE)
        if isinstance(body, Response):
            return body
        held = self._assignment(body, account)
        if isinstance(held, Response):
            return held
        if held["status"] != "ANSWERED":
            return _say(409, f"Assignment {held['number']} is {held['status']}.")
        if body["receipt_number"] != held["receipt"]:
            return _say(400, f"Receipt does not belong to assignment {held['number']}.")
        held["status"] = "FILED"
        return _say(200, f"Assignment {held['number']} filed.", status="FILED")
