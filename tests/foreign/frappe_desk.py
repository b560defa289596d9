"""A Frappe 15 app (as of ERPNext): whitelisted methods over the doctype Agent Task.

Every answer is wrapped in `message`; a document's id is its `name` (AGTASK-2025-00031),
its state a Select ("Open", "Working"), amounts are floats, dates are naive strings. A
missing argument is the TypeError of the Python method (500, with exc_type and
traceback); a mandatory field, a bad Select value and any frappe.throw come as 417 with
the text in `_server_messages`, JSON within JSON. Submit inserts an Agent Task Result
and wants its Select; complete takes the name of that result, submits it and pays at
once.
"""

import json
import secrets
from typing import Any
from urllib.parse import parse_qsl

from tests.foreign.backend import Backend, Request, Response

_OPEN = {
    31: ("Letterhead", "northern timber and sons", 20),
    32: ("Van lettering", "we deliver before breakfast", 35),
    34: ("Shelf label", "organic rye flour, 1 kg", 5),
    36: ("Invoice footer", "payable within thirty days", 15),
    37: ("Packing note", "fragile: this side up", 10),
    39: ("Price list title", "spring catalogue 2025", 25),
    40: ("Notice", "stocktaking on friday", 8),
}
_WORKING = {33: ("Badge", "visitor", 5), 35: ("Banner", "fifty years of trust", 40)}


def _name(number: int) -> str:
    return f"AGTASK-2025-{number:05}"


class FrappeDesk(Backend):
    """Agent tasks of an ERP."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.docs: dict[str, dict[str, Any]] = {}
        for number, (subject, text, credits_) in sorted((_OPEN | _WORKING).items()):
            busy = number in _WORKING
            self.docs[_name(number)] = {
                "name": _name(number),
                "creation": f"2025-04-{number % 28 + 1:02} 11:02:45.{number}8812",
                "owner": "Administrator",
                "docstatus": 0,
                "subject": subject,
                "description": text,
                "status": "Working" if busy else "Open",
                "priority": "Medium",
                "reward_credits": float(credits_),
                "assigned_agent": "AGT-00007" if busy else None,
            }
        self.results: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the open tasks' texts."""
        return {_name(number): text for number, (_, text, _) in _OPEN.items()}

    def _raise(self, status: int, kind: str, message: str, show: str = "") -> Response:
        """Return an exception as frappe.app.handle_exception reports it."""
        builtin = kind == "TypeError"
        full = kind if builtin else f"frappe.exceptions.{kind}"
        trace = (
            "Traceback (most recent call last):\n"
            '  File "apps/frappe/frappe/app.py", line 114, in application\n'
            "    response = frappe.api.handle(request)\n"
            '  File "apps/frappe/frappe/__init__.py", line 1741, in call\n'
            "    return fn(*args, **newargs)\n"
            f"{full}: {message}\n"
        )
        body: dict[str, Any] = {
            "exception": f"{full}: {message}",
            "exc_type": kind,
            "exc": json.dumps([trace]),
        }
        if not builtin:
            shown: dict[str, Any] = {"message": show or message, "title": "Message"}
            shown |= {"indicator": "red", "raise_exception": 1}
            body["_server_messages"] = json.dumps([json.dumps(shown)])
        return Response(status, body)

    def missing(self, request: Request) -> Response:
        """Return what Frappe says of a path without a page."""
        return Response(404, {"exc_type": "DoesNotExistError"})

    def register(self, request: Request) -> Response:
        """Insert an Agent."""
        self.book.registrations += 1
        agent = {"name": f"AGT-{len(self.agents) + 42:05}", "credits": 100.0}
        token = secrets.token_urlsafe(22)
        self.agents[token] = agent
        made = {"agent": agent["name"], "credits": 100.0, "access_token": token}
        return Response(200, {"message": {**made, "token_type": "Bearer"}})

    def _args(self, request: Request, method: str, *required: str) -> Any:
        """Return the agent and the form_dict of a call of a method."""
        agent = self.agents.get(request.token)
        if not agent:
            return None, self._raise(
                401, "AuthenticationError", "Invalid or missing token"
            )
        media = request.headers.get("Content-Type") or ""
        form: Any = {}
        if "json" in media and request.raw.strip():
            try:
                form = request.json()
            except ValueError:
                return agent, self._raise(
                    417, "ValidationError", "Invalid request body"
                )
        elif request.raw:
            form = dict(parse_qsl(request.raw.decode(errors="replace")))
        form = form if isinstance(form, dict) else {}
        if lacking := [f"'{name}'" for name in required if name not in form]:
            some = " and ".join(lacking)
            plural = "s" if len(lacking) > 1 else ""
            what = f"{len(lacking)} required positional argument{plural}"
            text = f"{method}() missing {what}: {some}"
            return agent, self._raise(500, "TypeError", text)
        return agent, form

    def marketplace(self, request: Request) -> Response:
        """Return the documents that are not completed, as frappe.get_all does."""
        limit = request.query.get("limit", "20")
        length = int(limit) if limit.isdigit() else 20
        docs = [doc for doc in self.docs.values() if doc["status"] != "Completed"]
        return Response(200, {"message": docs[:length] if length else docs})

    def tasks(self, request: Request) -> Response:
        """Return the documents to an agent."""
        _, form = self._args(request, "get_marketplace_tasks")
        return form if isinstance(form, Response) else self.marketplace(request)

    def _task(self, name: Any) -> Any:
        return self.docs.get(name) if isinstance(name, str) else None

    def _absent(self, doctype: str, name: Any) -> Response:
        return self._raise(404, "DoesNotExistError", f"{doctype} {name} not found")

    def claim(self, request: Request) -> Response:
        """Assign a task."""
        agent, form = self._args(request, "claim_task", "task")
        if isinstance(form, Response):
            return form
        doc = self._task(form["task"])
        if not doc:
            return self._absent("Agent Task", form["task"])
        if doc["status"] != "Open":
            holder = (
                "you"
                if doc["assigned_agent"] == agent["name"]
                else doc["assigned_agent"]
            )
            text = f"Agent Task {doc['name']} is already assigned to {holder}"
            return self._raise(417, "ValidationError", text)
        doc["status"], doc["assigned_agent"] = "Working", agent["name"]
        self.book.claimed(doc["name"])
        return Response(200, {"message": doc})

    def submit(self, request: Request) -> Response:
        """Insert a result."""
        agent, form = self._args(request, "submit_result", "task", "result")
        if isinstance(form, Response):
            return form
        doc = self._task(form["task"])
        if not doc:
            return self._absent("Agent Task", form["task"])
        if doc["assigned_agent"] != agent["name"]:
            text = f"Agent Task {doc['name']} is not assigned to {agent['name']}"
            return self._raise(403, "PermissionError", text)
        if doc["status"] == "Completed":
            return self._raise(
                417, "ValidationError", f"{doc['name']} is already Completed"
            )
        name = f"AGRES-{len(self.results) + 1201:05}"
        kind = form.get("result_type")
        if not kind:
            text = f"[Agent Task Result, {name}]: result_type"
            show = "Error: Value missing for Agent Task Result: Result Type"
            return self._raise(417, "MandatoryError", text, show)
        if kind not in ("Text", "JSON", "Attachment"):
            known = '"Text", "JSON", "Attachment"'
            text = f'Result Type cannot be "{kind}". It should be one of {known}'
            return self._raise(417, "ValidationError", text)
        self.results[name] = {
            "name": name,
            "doctype": "Agent Task Result",
            "docstatus": 0,
            "task": doc["name"],
            "result_type": kind,
            "result": form["result"],
        }
        return Response(200, {"message": self.results[name]})

    def complete(self, request: Request) -> Response:
        """Submit a result document and pay."""
        agent, form = self._args(request, "complete_task", "task_result")
        if isinstance(form, Response):
            return form
        name = form["task_result"]
        result = self.results.get(name) if isinstance(name, str) else None
        if not result:
            return self._absent("Agent Task Result", name)
        doc = self.docs[result["task"]]
        if doc["assigned_agent"] != agent["name"]:
            return self._raise(403, "PermissionError", f"No permission for {name}")
        if doc["status"] == "Completed":
            return self._raise(
                417, "ValidationError", f"{doc['name']} is already Completed"
            )
        if result["result"] != doc["description"].upper():
            text = f"{name} does not meet the description of {doc['name']}"
            return self._raise(417, "ValidationError", text)
        doc["status"], result["docstatus"] = "Completed", 1
        agent["credits"] += doc["reward_credits"]
        self.book.pay(doc["name"], int(doc["reward_credits"]))
        done = {"task": doc["name"], "status": "Completed", "task_result": name}
        done |= {"credited": doc["reward_credits"], "balance": agent["credits"]}
        return Response(200, {"message": done})
