"""Godown: a spice exporter's ERP in Kochi has carton marks lettered in block capitals.

Python and Frappe, customised by the firm's own IT cell. Answers come in `message`, refusals
with exc_type, exc and the doubly encoded _server_messages; a missing argument is a TypeError
with status 500, a document that does not validate 417. An accepted delivery is paid when it
is submitted; completion closes the allotment, and only two may be open.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import inspect
import json
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_MARKS = (
    (
        "Black pepper 500 g/l, Hamburg",
        "Malabar garbled black pepper, lot 7b",
        16,
        "Medium",
    ),
    ("Cardamom, Jeddah", "Alleppey green bold 8 mm - keep dry", 24, "High"),
    ("Turmeric fingers, Rotterdam", "Use no hooks; gross 25.4 kg", 10, "Low"),
    ("Nutmeg, Felixstowe", "Kochi to Felixstowe via Colombo", 13, "Medium"),
    ("Dry ginger, Durban", "Carton 12 of 40, this side up", 19, "High"),
)
_STATUS = {"AuthenticationError": 401, "PermissionError": 403, "DoesNotExistError": 404}


class _Throw(Exception):  # noqa: N818
    """What frappe.throw raises."""

    def __init__(self, kind: str, text: str, title: str = "Message") -> None:
        super().__init__(text)
        self.kind, self.title = kind, title
        self.messages = [text]


def _refusal(error: Exception) -> Response:
    """Return what frappe.utils.response.report_error makes of an exception."""
    if not isinstance(error, _Throw):  # a Python error: no message, only a traceback
        kind, status = type(error).__name__, 500
        line = f"{kind}: {error}"
        body = {"exception": line, "exc_type": kind}
    else:
        kind, status = error.kind, _STATUS.get(error.kind, 417)
        line = f"frappe.exceptions.{kind}: {error}"
        body = {"exception": line, "exc_type": kind}
        more = {"title": error.title, "indicator": "red", "raise_exception": 1}
        shown = [json.dumps({"message": text, **more}) for text in error.messages]
        body["_server_messages"] = json.dumps(shown)
    trace = (
        "Traceback (most recent call last):\n"
        '  File "apps/frappe/frappe/app.py", line 114, in application\n'
        "    response = frappe.api.handle(request)\n"
        '  File "apps/frappe/frappe/__init__.py", line 1759, in call\n'
        "    return fn(*args, **newargs)\n" + line + "\n"
    )
    body["exc"] = json.dumps([trace])
    return Response(status, body)


def _now(hours_ago: int = 0) -> str:
    moment = datetime.now() - timedelta(hours=hours_ago)  # noqa: DTZ005
    return moment.strftime("%Y-%m-%d %H:%M:%S.%f")


class Godown(Backend):
    """The exporter's network."""

    def __init__(self) -> None:
        super().__init__()
        self._users: dict[str, dict[str, Any]] = {}  # by token
        self._marks: dict[str, dict[str, Any]] = {}
        self._allotments: dict[str, dict[str, Any]] = {}
        self._deliveries: dict[str, dict[str, Any]] = {}
        for n, (subject, text, bounty, priority) in enumerate(_MARKS):
            name = f"CM-{datetime.now().year}-{412 + n:05d}"  # noqa: DTZ005
            moment = _now(30 - n)
            self._marks[name] = {
                "name": name,
                "owner": "despatch@godown.example",
                "creation": moment,
                "modified": moment,
                "docstatus": 0,
                "idx": 0,
                "subject": subject,
                "instructions": '<div class="ql-editor read-mode"><p>Letter the mark text '
                "in BLOCK CAPITALS, rest as it is.</p></div>",
                "mark_text": text,
                "bounty": float(bounty),
                "priority": priority,
                "status": "Open",
            }

    def texts(self) -> dict[str, str]:
        return {name: doc["mark_text"] for name, doc in self._marks.items()}

    def missing(self, request: Request) -> Response:
        return _refusal(_Throw("DoesNotExistError", f"Page {request.path} not found"))

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(15)
        name = f"agent{self.book.registrations}.{secrets.token_hex(3)}@godown.example"
        self._users[token] = {"name": name, "balance": 100.0}
        body = {"agent_id": name, "access_token": token, "credits": 100}
        return Response(200, {"message": "Agent Registered", **body})

    def marketplace(self, request: Request) -> Response:
        return self._call(request, self._get_list, guest=True)

    def tasks(self, request: Request) -> Response:
        return self._call(request, self._get_list)

    def claim(self, request: Request) -> Response:
        return self._call(request, self._allot)

    def submit(self, request: Request) -> Response:
        return self._call(request, self._deliver)

    def complete(self, request: Request) -> Response:
        return self._call(request, self._close)

    def _call(
        self,
        request: Request,
        method: Callable[..., Any],
        guest: bool = False,  # noqa: FBT001, FBT002
    ) -> Response:
        """Call a whitelisted method with those of the arguments that it knows."""
        try:
            user = self._users.get(request.token)
            if user is None and not guest:
                if request.headers.get("Authorization"):
                    raise _Throw("AuthenticationError", "Invalid Authorization token")
                raise _Throw("PermissionError", "Login to access", "Not Permitted")
            form: Any = dict(request.query)
            if request.method == "POST" and request.raw:
                form = request.json()
            if not isinstance(form, dict):
                raise _Throw("ValidationError", "Invalid request arguments")
            if method == self._deliver:  # takes the document as it comes
                return Response(200, {"message": self._deliver(user, form)})
            known = list(inspect.signature(method).parameters.values())[1:]
            needed = [p.name for p in known if p.default is p.empty]
            lacking = [repr(name) for name in needed if name not in form]
            if lacking:
                plural = "s" if len(lacking) > 1 else ""
                raise TypeError(
                    f"{method.__name__.strip('_')}() missing {len(lacking)} required "
                    f"positional argument{plural}: {' and '.join(lacking)}"
                )
            given = {p.name: form[p.name] for p in known if p.name in form}
            for name, value in given.items():
                if not isinstance(value, str):
                    text = f"Argument '{name}' should be of type 'str' but got "
                    text += f"'{type(value).__name__}' instead."
                    raise _Throw("FrappeTypeError", text)
            return Response(200, {"message": method(user, **given)})
        except (_Throw, TypeError, ValueError) as error:
            return _refusal(error)

    def _get_list(self, user: Any, limit: str = "20", limit_start: str = "0") -> list:
        start, length = int(limit_start), int(limit)
        found = [doc for doc in self._marks.values() if doc["status"] == "Open"]
        return found[start : start + length] if length else found[start:]

    def _allot(self, user: dict[str, Any], carton_mark: str) -> dict[str, Any]:
        doc = self._marks.get(carton_mark)
        if doc is None:
            raise _Throw("DoesNotExistError", f"Carton Mark {carton_mark} not found")
        if doc["status"] != "Open":
            text = f"Carton Mark {carton_mark} is already {doc['status']}"
            raise _Throw("InvalidStatusError", text)
        mine = [a for a in self._allotments.values() if a["agent"] == user["name"]]
        pending = [a["name"] for a in mine if a["status"] != "Closed"]
        if len(pending) >= 2:
            text = f"You already have 2 open Allotments: {', '.join(pending)}. "
            text += "Please deliver and close one before taking another."
            raise _Throw("ValidationError", text, "Limit Crossed")
        name = f"ALT-{len(self._allotments) + 1:05d}"
        doc.update(status="Allotted", modified=_now())
        self._allotments[name] = {
            "doctype": "Allotment",
            "name": name,
            "carton_mark": carton_mark,
            "agent": user["name"],
            "status": "Allotted",
            "docstatus": 0,
            "creation": _now(),
        }
        self.book.claimed(carton_mark)
        return self._allotments[name]

    def _deliver(self, user: dict[str, Any], form: dict[str, Any]) -> dict[str, Any]:  # noqa: PLR0915
        name = f"MDL-{len(self._deliveries) + 1:05d}"
        wanted = ("allotment", "lettering", "minutes_taken")
        lacking = [f for f in wanted if form.get(f) is None or not str(form[f]).strip()]
        if lacking:
            text = f"[Mark Delivery, {name}]: {', '.join(lacking)}"
            error = _Throw("MandatoryError", text, "Missing Fields")
            labels = [f.replace("_", " ").title() for f in lacking]
            value = "Error: Value missing for Mark Delivery: "
            error.messages = [value + label for label in labels]
            raise error
        allotment = self._allotments.get(str(form["allotment"]))
        if allotment is None:
            text = f"Could not find Allotment: {form['allotment']}"
            raise _Throw("LinkValidationError", text)
        if allotment["agent"] != user["name"]:
            raise _Throw("PermissionError", f"No permission for {allotment['name']}")
        if allotment["status"] != "Allotted":
            text = f"Allotment {allotment['name']} is already {allotment['status']}"
            raise _Throw("ValidationError", text)
        try:
            minutes = int(float(form["minutes_taken"]))
        except (TypeError, ValueError, OverflowError):
            minutes = 0  # cint
        if minutes < 1:
            raise _Throw("ValidationError", "Minutes Taken must be a number above 0")
        mark = self._marks[allotment["carton_mark"]]
        if form["lettering"] != mark["mark_text"].upper():
            text = f"Lettering is not the Mark Text of {mark['name']} in block capitals"
            raise _Throw("ValidationError", text, "Not Accepted")
        allotment["status"] = mark["status"] = "Delivered"
        user["balance"] += mark["bounty"]
        self.book.pay(mark["name"], int(mark["bounty"]))
        self._deliveries[name] = {
            "doctype": "Mark Delivery",
            "name": name,
            "docstatus": 1,
            "allotment": allotment["name"],
            "minutes_taken": minutes,
            "status": "Accepted",
            "paid_amount": mark["bounty"],
            "wallet_balance": user["balance"],
        }
        return self._deliveries[name]

    def _close(self, user: dict, mark_delivery: str, closing_note: str) -> dict:
        delivery = self._deliveries.get(mark_delivery)
        if delivery is None:
            text = f"Mark Delivery {mark_delivery} not found"
            raise _Throw("DoesNotExistError", text)
        allotment = self._allotments[delivery["allotment"]]
        if allotment["agent"] != user["name"]:
            raise _Throw("PermissionError", f"No permission for {mark_delivery}")
        if not closing_note.strip():
            raise _Throw("ValidationError", "Closing Note cannot be empty")
        if allotment["status"] == "Closed":
            text = f"Allotment {allotment['name']} is already Closed"
            raise _Throw("ValidationError", text)
        allotment.update(status="Closed", docstatus=1, closing_note=closing_note)
        self._marks[allotment["carton_mark"]].update(status="Closed", docstatus=1)
        return allotment
