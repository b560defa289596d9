"""A Frappe (ERPNext) site: whitelisted methods, doctypes, exceptions as Frappe sends them."""

import json
import secrets
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

from tests.foreign.backend import Backend, Request, Response

_TASKS = [
    ("Normalise item name", "hex bolt m8 x 40 zinc plated", 14.0),
    ("Normalise supplier name", "northwind traders pvt. ltd.", 9.0),
    ("Normalise warehouse", "finished goods - rack 7b", 6.0),
    ("Normalise cost center", "marketing & events (emea)", 17.0),
    ("Normalise address line", "42 harbour road, 3rd floor", 11.0),
]
_APP = "agent_network.agent_network.api."
_OUTCOMES = ["Delivered", "Partially Delivered", "Not Delivered"]
_STATUS = {
    "AuthenticationError": 401,
    "PermissionError": 403,
    "DoesNotExistError": 404,
    "TypeError": 500,
}  # every other exception is a ValidationError of sorts: 417


class FrappeDesk(Backend):
    """A wrong result is taken at submission and rejected when the task is completed."""

    def __init__(self) -> None:
        super().__init__()
        self._users: dict[str, dict[str, Any]] = {}  # by token
        self._assignments: dict[str, dict[str, Any]] = {}
        self._results: dict[str, dict[str, Any]] = {}
        self._docs: dict[str, dict[str, Any]] = {}
        for number, (subject, text, reward) in enumerate(_TASKS, 1):
            name = f"TASK-2025-{number:05d}"
            self._docs[name] = {
                "name": name,
                "owner": "Administrator",
                "creation": f"2025-03-0{number} 09:1{number}:27.418203",
                "modified": f"2025-03-0{number} 09:1{number}:27.418203",
                "docstatus": 0,
                "subject": subject,
                "status": "Open",
                "priority": "Medium",
                "description": "Convert the source text to upper case; change nothing else.",
                "source_text": text,
                "reward_amount": reward,
                "currency": "CRD",
                "assigned_to": None,
            }

    def texts(self) -> dict[str, str]:
        return {name: doc["source_text"] for name, doc in self._docs.items()}

    # -- Frappe's answers

    def _now(self) -> str:
        return datetime.now().strftime("%Y-%m-%d %H:%M:%S.%f")  # noqa: DTZ005

    def _throw(
        self, kind: str, exception: str, message: str = "", title: str = "Message"
    ) -> Response:
        """Answer as `frappe.throw` does; `message` is what the desk would pop up."""
        full = kind if kind == "TypeError" else f"frappe.exceptions.{kind}"
        line = f"{full}: {exception}" if exception else full
        trace = (
            "Traceback (most recent call last):\n"
            '  File "apps/frappe/frappe/app.py", line 114, in application\n'
            "    response = frappe.api.handle(request)\n"
            f"{line}\n"
        )
        body: dict[str, Any] = {
            "exception": line,
            "exc_type": kind,
            "exc": json.dumps([trace]),
        }
        if message:
            popup = {
                "message": message,
                "title": title,
                "indicator": "red",
                "raise_exception": 1,
            }
            body["_server_messages"] = json.dumps([json.dumps(popup)])
        return Response(_STATUS.get(kind, 417), body)

    def _invalid(self, message: str) -> Response:
        return self._throw("ValidationError", message, message)

    def missing(self, request: Request) -> Response:
        return self._throw("DoesNotExistError", "", "Page not found", "Not Found")

    def _guard(self, request: Request, function: str) -> Response | None:
        """Refuse guests and bad tokens."""
        if not request.headers.get("Authorization"):
            return self._throw(
                "PermissionError",
                "",
                "<details><summary>You are not permitted to access this resource. Login to "
                f"access</summary>Function <strong>{_APP}{function}</strong> is not "
                "whitelisted.</details>",
                "Method Not Allowed",
            )
        if request.token not in self._users:
            return self._throw("AuthenticationError", "")
        return None

    def _form(self, request: Request) -> dict[str, Any] | None:
        """Return `frappe.form_dict`: JSON or a form, as the request says."""
        if "application/json" not in (request.headers.get("Content-Type") or ""):
            return dict(parse_qsl(request.raw.decode(errors="replace")))
        try:
            form = request.json() if request.raw else {}
        except ValueError:
            return None
        return form if isinstance(form, dict) else None

    def _arguments(
        self, request: Request, function: str, names: dict[str, type]
    ) -> tuple[dict[str, Any], Response | None]:
        """Bind the form to the arguments of a whitelisted function."""
        refusal = self._guard(request, function)
        if refusal:
            return {}, refusal
        form = self._form(request)
        if form is None:
            return {}, self._invalid("Invalid request arguments")
        lacking = [f"'{name}'" for name in names if name not in form]
        if lacking:
            listed = " and ".join(
                [", ".join(lacking[:-1]), lacking[-1]] if len(lacking) > 1 else lacking
            )
            return {}, self._throw(
                "TypeError",
                f"{function}() missing {len(lacking)} required positional "
                f"argument{'s' if len(lacking) > 1 else ''}: {listed}",
            )
        bound: dict[str, Any] = {}
        for name, wanted in names.items():
            value = form[name]
            try:
                if wanted is str and not isinstance(value, str):
                    raise ValueError
                bound[name] = wanted(value)
            except (TypeError, ValueError):
                return {}, self._throw(
                    "FrappeTypeError",
                    f"Argument '{name}' should be of type '{wanted.__name__}' "
                    f"but got '{type(value).__name__}' instead.",
                )
        return bound, None

    def _not_found(self, doctype: str, name: str) -> Response:
        return self._throw(
            "DoesNotExistError",
            f"{doctype} {name} not found",
            f"{doctype} {name} not found",
        )

    # -- methods

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(15)
        name = f"AGENT-{self.book.registrations:05d}"
        self._users[token] = {"name": name, "balance": 100.0}
        return Response(200, {"agent_id": name, "access_token": token, "credits": 100})

    def _list(self, request: Request) -> Response:
        limit = request.query.get("limit", "20")
        if not limit.isdigit():
            return self._throw(
                "FrappeTypeError",
                "Argument 'limit' should be of type 'int' but got 'str' instead.",
            )
        docs = list(self._docs.values())  # as in Frappe, 0 means all
        return Response(200, {"data": docs[: int(limit)] if int(limit) else docs})

    def marketplace(self, request: Request) -> Response:
        return self._list(request)

    def tasks(self, request: Request) -> Response:
        return self._guard(request, "get_marketplace_tasks") or self._list(request)

    def agents(self, request: Request) -> Response:
        return Response(
            200, {"data": [{"name": u["name"]} for u in self._users.values()]}
        )

    def claim(self, request: Request) -> Response:
        form, refusal = self._arguments(
            request, "claim_task", {"task": str, "expected_time": float}
        )
        if refusal:
            return refusal
        doc = self._docs.get(form["task"])
        if not doc:
            return self._not_found("Task", form["task"])
        if doc["status"] != "Open":
            return self._invalid(f"Task {doc['name']} is already {doc['status']}")
        if form["expected_time"] <= 0:
            return self._invalid("Expected Time (in hours) must be greater than 0")
        user = self._users[request.token]["name"]
        doc.update(status="Working", assigned_to=user, modified=self._now())
        name = f"TASK-ASG-{len(self._assignments) + 1:05d}"
        assignment = {
            "name": name,
            "owner": user,
            "creation": self._now(),
            "docstatus": 0,
            "task": doc["name"],
            "status": "Working",
            "expected_time": form["expected_time"],
            "doctype": "Task Assignment",
        }
        self._assignments[name] = assignment
        self.book.claimed(doc["name"])
        return Response(200, {"message": assignment})

    def submit(self, request: Request) -> Response:
        """Insert a Task Result: its mandatory fields, its links, its select."""
        refusal = self._guard(request, "submit_task_result")
        if refusal:
            return refusal
        form = self._form(request)
        if form is None:
            return self._invalid("Invalid request arguments")
        name = f"TASK-RES-{len(self._results) + 1:05d}"
        labels = {
            "task_assignment": "Task Assignment",
            "output_text": "Output Text",
            "outcome": "Outcome",
        }
        lacking = [field for field in labels if form.get(field) in (None, "")]
        if lacking:
            popups = [
                json.dumps(
                    {
                        "message": f"Error: Value missing for Task Result: {labels[f]}",
                        "title": "Message",
                    }
                )
                for f in lacking
            ]
            answer = self._throw(
                "MandatoryError", f"[Task Result, {name}]: {', '.join(lacking)}"
            )
            answer.body["_server_messages"] = json.dumps(popups)
            return answer
        assignment = self._assignments.get(str(form["task_assignment"]))
        if not assignment or assignment["owner"] != self._users[request.token]["name"]:
            text = f"Could not find Task Assignment: {form['task_assignment']}"
            return self._throw("LinkValidationError", text, text)
        if form["outcome"] not in _OUTCOMES:
            options = ", ".join(f'"{option}"' for option in _OUTCOMES)
            return self._invalid(
                f'Outcome cannot be "{form["outcome"]}". It should be one of {options}'
            )
        if assignment["status"] != "Working":
            return self._invalid(
                f"Task Assignment {assignment['name']} is not in status Working"
            )
        result = {
            "name": name,
            "owner": assignment["owner"],
            "creation": self._now(),
            "docstatus": 0,
            "task_assignment": assignment["name"],
            "output_text": str(form["output_text"]),
            "outcome": form["outcome"],
            "status": "Pending Review",
            "doctype": "Task Result",
        }
        self._results[name] = result
        assignment["status"] = self._docs[assignment["task"]]["status"] = (
            "Pending Review"
        )
        return Response(200, {"message": result})

    def complete(self, request: Request) -> Response:
        form, refusal = self._arguments(request, "complete_task", {"task_result": str})
        if refusal:
            return refusal
        result = self._results.get(form["task_result"])
        user = self._users[request.token]
        if not result or result["owner"] != user["name"]:
            return self._not_found("Task Result", form["task_result"])
        if result["status"] != "Pending Review":
            return self._invalid(
                f"Task Result {result['name']} is already {result['status']}"
            )
        assignment = self._assignments[result["task_assignment"]]
        doc = self._docs[assignment["task"]]
        right = result["output_text"] == doc["source_text"].upper()
        if not right or result["outcome"] != "Delivered":
            result["status"] = "Rejected"
            assignment["status"] = doc["status"] = "Working"
            why = (
                "Output Text does not match the task"
                if not right
                else "Outcome is not Delivered"
            )
            return self._invalid(
                f"Task Result {result['name']} was rejected: {why}. "
                f"Please submit a new Task Result for {assignment['name']}"
            )
        result.update(status="Accepted", docstatus=1)
        assignment["status"] = doc["status"] = "Completed"
        user["balance"] += doc["reward_amount"]
        self.book.pay(doc["name"], int(doc["reward_amount"]))
        return Response(
            200,
            {
                "message": {
                    "task": doc["name"],
                    "status": "Completed",
                    "paid_amount": doc["reward_amount"],
                    "credit_balance": user["balance"],
                }
            },
        )
