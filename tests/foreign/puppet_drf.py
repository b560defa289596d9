"""Puppet theatre prompt books: Django REST framework, viewsets, nested serializers."""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

SCRIPTS = [
    (12, "Act I cue", "raise the moon slowly", 14, "open"),
    (15, "Crocodile entrance", "sausages on the left hook", 9, "open"),
    (16, "Storm", "shake the tin sheet twice", 21, "open"),
    (19, "Lullaby", "dim the blue lamps", 6, "assigned"),
    (23, "Duel", "wooden swords only tonight", 17, "open"),
    (24, "Curtain call", "all strings to the front rail", 8, "open"),
    (31, "Interval", "sell the programmes now", 3, "open"),
]


def kind(value: Any) -> str:
    """Return the name of a value's Python type, as the messages have it."""
    return "NoneType" if value is None else type(value).__name__


class PuppetTheatre(Backend):
    """DRF with TokenAuth ("Bearer" keyword), limit/offset pages of three, nested serializers.

    Listing: {count, next, previous, results}; the text is results[].script.lines. The payout
    is told first by the claim: {id, task: {..., payout: {credits}}}. Claim {task: pk}; submit
    {assignment: pk, answer: {text}}; complete {assignment: pk, minutes_spent: int >= 1},
    paid at once. Errors: {field: [messages]}, nested where the serializer is nested.
    """

    def __init__(self) -> None:
        super().__init__()
        self.members: dict[str, dict[str, Any]] = {}
        self.rows: dict[int, dict[str, Any]] = {
            pk: {
                "id": pk,
                "title": title,
                "lines": text,
                "credits": pay,
                "status": status,
            }
            for pk, title, text, pay, status in SCRIPTS
        }
        self.doable = [pk for pk, row in self.rows.items() if row["status"] == "open"]
        self.assignments: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the text of every task by its identifier."""
        return {str(pk): self.rows[pk]["lines"] for pk in self.doable}

    def missing(self, request: Request) -> Response:
        """Answer as Django's own page with DEBUG off."""
        page = '<!doctype html>\n<html lang="en">\n<head>\n  <title>Not Found</title>\n'
        page += (
            "</head>\n<body>\n  <h1>Not Found</h1><p>The requested resource was not "
        )
        page += "found on this server.</p>\n</body>\n</html>\n"
        return Response(404, page, {"Content-Type": "text/html; charset=utf-8"})

    def task(self, row: dict[str, Any], *, payout: bool = False) -> dict[str, Any]:
        """Serialize a task."""
        shown = {
            "id": row["id"],
            "title": row["title"],
            "script": {
                "lines": row["lines"],
                "language": {"code": "en", "name": "English"},
            },
            "direction": "Give the lines in capital letters for the prompt book.",
            "status": row["status"],
        }
        if payout:
            shown["payout"] = {"credits": row["credits"], "currency": "credits"}
        return shown

    def enter(
        self, request: Request
    ) -> tuple[dict[str, Any], dict[str, Any]] | Response:
        """Authenticate and parse."""
        realm = {"WWW-Authenticate": "Bearer"}
        if not request.token:
            detail = "Authentication credentials were not provided."
            return Response(401, {"detail": detail}, realm)
        if request.token not in self.members:
            return Response(401, {"detail": "Invalid token."}, realm)
        try:
            body = request.json()
        except ValueError as error:
            return Response(400, {"detail": f"JSON parse error - {error}"})
        if not isinstance(body, dict):
            message = f"Invalid data. Expected a dictionary, but got {kind(body)}."
            return Response(400, {"non_field_errors": [message]})
        return self.members[request.token], body

    def related(self, body: dict[str, Any], name: str, table: dict[int, Any]) -> Any:
        """Return the record that a PrimaryKeyRelatedField names, or its messages."""
        if name not in body:
            return ["This field is required."]
        value = body[name]
        if value is None:
            return ["This field may not be null."]
        if isinstance(value, (bool, dict, list)):
            return [f"Incorrect type. Expected pk value, received {kind(value)}."]
        try:
            number = int(value)
        except ValueError:
            return [f"Incorrect type. Expected pk value, received {kind(value)}."]
        if number not in table:
            return [f'Invalid pk "{value}" - object does not exist.']
        return table[number]

    def own(self, agent: dict[str, Any]) -> dict[int, dict[str, Any]]:
        """Return the queryset of the agent's assignments."""
        return {k: a for k, a in self.assignments.items() if a["agent"] is agent}

    def register(self, request: Request) -> Response:
        """Make an agent."""
        token = secrets.token_hex(20)
        self.members[token] = {"id": len(self.members) + 1, "credits": 100}
        self.book.registrations += 1
        agent_id = f"puppeteer-{len(self.members)}"
        return Response(
            200, {"agent_id": agent_id, "access_token": token, "credits": 100}
        )

    def tasks(self, request: Request) -> Response:
        """List, three at a time at most (LimitOffsetPagination.max_limit)."""
        limit, offset = request.query.get("limit", ""), request.query.get("offset", "")
        size = min(int(limit), 3) if limit.isdigit() and int(limit) else 3
        start = int(offset) if offset.isdigit() else 0
        rows = [r for r in self.rows.values() if r["status"] == "open"]
        here = f"{request.base}{request.path}?limit={size}"
        before = max(0, start - size)
        return Response(
            200,
            {
                "count": len(rows),
                "next": f"{here}&offset={start + size}"
                if start + size < len(rows)
                else None,
                "previous": f"{here}&offset={before}" if start else None,
                "results": [self.task(r) for r in rows[start : start + size]],
            },
        )

    marketplace = tasks

    def shown(self, assignment: dict[str, Any]) -> dict[str, Any]:
        """Serialize an assignment."""
        return {
            "id": assignment["id"],
            "task": self.task(assignment["task"], payout=True),
            "state": assignment["state"],
            "agent": {
                "id": assignment["agent"]["id"],
                "credits": assignment["agent"]["credits"],
            },
        }

    def claim(self, request: Request) -> Response:
        """Create an assignment."""
        entered = self.enter(request)
        if isinstance(entered, Response):
            return entered
        agent, body = entered
        row = self.related(body, "task", self.rows)
        if isinstance(row, list):
            return Response(400, {"task": row})
        for old in self.own(agent).values():
            if old["task"] is row:
                return Response(400, {"task": ["You have already claimed this task."]})
        if row["status"] != "open":
            return Response(400, {"task": ["This task is not open."]})
        row["status"] = "assigned"
        made = {"id": 900 + len(self.assignments), "task": row, "agent": agent}
        made["state"] = "in_progress"
        self.assignments[made["id"]] = made
        self.book.claimed(str(row["id"]))
        return Response(200, self.shown(made))

    def answer(self, body: dict[str, Any]) -> Any:
        """Return the complaint about the nested answer, or None."""
        if "answer" not in body:
            return ["This field is required."]
        value = body["answer"]
        if value is None:
            return ["This field may not be null."]
        if not isinstance(value, dict):
            message = f"Invalid data. Expected a dictionary, but got {kind(value)}."
            return {"non_field_errors": [message]}
        if "text" not in value:
            return {"text": ["This field is required."]}
        if not isinstance(value["text"], (str, int, float)):
            return {"text": ["Not a valid string."]}
        return (
            None
            if str(value["text"]).strip()
            else {"text": ["This field may not be blank."]}
        )

    def submit(self, request: Request) -> Response:
        """Store the answer."""
        entered = self.enter(request)
        if isinstance(entered, Response):
            return entered
        agent, body = entered
        errors = {}
        assignment = self.related(body, "assignment", self.own(agent))
        if isinstance(assignment, list):
            errors["assignment"] = assignment
        if wrong := self.answer(body):
            errors["answer"] = wrong
        if errors:
            return Response(400, errors)
        if assignment["state"] == "done":
            return Response(400, {"assignment": ["This assignment is already done."]})
        if str(body["answer"]["text"]).strip() != assignment["task"]["lines"].upper():
            message = "The lines are not given in capital letters as directed."
            return Response(400, {"answer": {"text": [message]}})
        assignment["state"] = "answered"
        return Response(200, self.shown(assignment))

    def complete(self, request: Request) -> Response:
        """Close the assignment and pay."""
        entered = self.enter(request)
        if isinstance(entered, Response):
            return entered
        agent, body = entered
        errors = {}
        assignment = self.related(body, "assignment", self.own(agent))
        if isinstance(assignment, list):
            errors["assignment"] = assignment
        minutes = body.get("minutes_spent")
        if "minutes_spent" not in body:
            errors["minutes_spent"] = ["This field is required."]
        elif isinstance(minutes, bool) or not str(minutes).lstrip("-").isdigit():
            errors["minutes_spent"] = ["A valid integer is required."]
        elif int(str(minutes)) < 1:
            errors["minutes_spent"] = [
                "Ensure this value is greater than or equal to 1."
            ]
        if errors:
            return Response(400, errors)
        row = assignment["task"]
        if assignment["state"] == "in_progress":
            return Response(
                400, {"non_field_errors": ["Nothing has been answered yet."]}
            )
        if assignment["state"] == "answered":
            assignment["state"] = row["status"] = "done"
            agent["credits"] += row["credits"]
            self.book.pay(str(row["id"]), row["credits"])
        return Response(200, self.shown(assignment))
