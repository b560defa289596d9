"""Django REST framework: hyperlinked serializers, errors by field, status transitions."""

import json
import re
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.foreign.backend import Backend, Request, Response

BODIES = [
    "bracket, left",
    "hinge 40 mm",
    "washer m6 zinc",
    "hex bolt m8 x 30",
    "flange nut",
    "rubber grommet",
    "cable gland pg11",
    "spring pin 4 x 20",
    "retaining ring (outer)",
]
# Where an assignment may go from each status.
TRANSITIONS = {"claimed": ["delivered"], "delivered": ["closed"], "closed": []}
REQUIRED = "This field is required."


class APIError(Exception):
    def __init__(self, status: int, body: dict[str, Any]) -> None:
        self.status, self.body = status, body


class Network(Backend):
    def __init__(self) -> None:
        super().__init__()
        self.accounts: dict[str, dict[str, Any]] = {}
        self.rows: dict[int, dict[str, Any]] = {}
        self.assignments: dict[int, dict[str, Any]] = {}
        for number, body in enumerate([*BODIES, "lock washer m5", "wing nut m4"]):
            self.rows[21 + number] = {
                "category": "uppercase",
                "summary": "Part label: the body in CAPITALS, for the label printer",
                "body": body,
                "reward": f"{3 + number % 4}.00",
                "status": "open" if number < len(BODIES) else "assigned",
                "created": f"2025-03-{number + 10}T14:02:11.482913Z",
            }

    def texts(self) -> dict[str, str]:
        return {
            str(pk): row["body"]
            for pk, row in self.rows.items()
            if pk < 21 + len(BODIES)
        }

    # -- the framework -----------------------------------------------------------------
    def view(self, request: Request, handler: Any, *, private: bool = True) -> Response:
        try:
            account: dict[str, Any] = {}
            if private:
                if not request.token:
                    text = "Authentication credentials were not provided."
                    raise APIError(401, {"detail": text})
                if request.token not in self.accounts:
                    raise APIError(401, {"detail": "Invalid token."})
                account = self.accounts[request.token]
            return Response(200, handler(request, account))
        except APIError as no:
            headers = {"WWW-Authenticate": "Bearer"} if no.status == 401 else {}
            return Response(no.status, no.body, headers)

    def missing(self, request: Request) -> Response:
        page = "<h1>Not Found</h1><p>The requested resource was not found on this server.</p>"
        html = (
            f'<!doctype html>\n<html lang="en">\n<body>\n  {page}\n</body>\n</html>\n'
        )
        return Response(404, html, {"Content-Type": "text/html; charset=utf-8"})

    def data(self, request: Request) -> dict[str, Any]:
        media_type = request.headers.get("Content-Type") or ""
        if not request.raw:
            return {}
        if "x-www-form-urlencoded" in media_type:
            return dict(parse_qsl(request.raw.decode(errors="replace")))
        if "json" not in media_type:
            text = f'Unsupported media type "{media_type}" in request.'
            raise APIError(415, {"detail": text})
        try:
            body = json.loads(request.raw)
        except ValueError as bad:
            raise APIError(400, {"detail": f"JSON parse error - {bad}"}) from None
        if not isinstance(body, dict):
            text = (
                f"Invalid data. Expected a dictionary, but got {type(body).__name__}."
            )
            raise APIError(400, {"non_field_errors": [text]})
        return body

    def related(self, value: Any, kind: str, objects: dict[int, dict[str, Any]]) -> Any:
        """HyperlinkedRelatedField: (primary key, None) or (None, what is wrong)."""
        if not isinstance(value, str):
            received = type(value).__name__
            return None, f"Incorrect type. Expected URL string, received {received}."
        found = re.fullmatch(
            r"/api/(tasks|assignments|accounts)/(\d+)/", urlsplit(value).path
        )
        if not found:
            return None, "Invalid hyperlink - No URL match."
        if found[1] != kind:
            return None, "Invalid hyperlink - Incorrect URL match."
        if int(found[2]) not in objects:
            return None, "Invalid hyperlink - Object does not exist."
        return int(found[2]), None

    def serialize(
        self, request: Request, fields: dict[str, Any], objects: dict[int, Any]
    ) -> dict[str, Any]:
        """Validate the fields {name: kind} and return their values."""
        data, errors, values = self.data(request), {}, {}
        for name, kind in fields.items():
            value, problem = data.get(name), None
            if name not in data:
                problem = REQUIRED
            elif value is None:
                problem = "This field may not be null."
            elif kind in ("tasks", "assignments"):
                value, problem = self.related(value, kind, objects)
            elif kind == "choice":
                if not isinstance(value, str) or value not in TRANSITIONS:
                    problem = f'"{value}" is not a valid choice.'
            elif isinstance(value, (bool, dict, list)):
                problem = "Not a valid string."
            else:
                value = str(value).strip()
                problem = None if value else "This field may not be blank."
            values[name] = value
            if problem:
                errors[name] = [problem]
        if errors:
            raise APIError(400, errors)
        return values

    # -- representations ---------------------------------------------------------------
    def task(self, base: str, pk: int) -> dict[str, Any]:
        return {"url": f"{base}/api/tasks/{pk}/", "id": pk, **self.rows[pk]}

    def assignment(self, base: str, pk: int) -> dict[str, Any]:
        row = self.assignments[pk]
        return {
            "url": f"{base}/api/assignments/{pk}/",
            "task": f"{base}/api/tasks/{row['task']}/",
            "account": f"{base}/api/accounts/{row['account']}/",
            "deliverable": row["deliverable"],
            "status": row["status"],
            "allowed_transitions": TRANSITIONS[row["status"]],
        }

    def mine(self, account: dict[str, Any]) -> dict[int, dict[str, Any]]:
        found = self.assignments.items()
        return {pk: row for pk, row in found if row["account"] == account["pk"]}

    def document(self, request: Request) -> Response:
        found = re.fullmatch(r"/api/(tasks|assignments)/(\d+)/", request.path)
        if not found:
            return self.missing(request)

        def retrieve(request: Request, account: dict[str, Any]) -> dict[str, Any]:
            pk, is_task = int(found[2]), found[1] == "tasks"
            if pk not in (self.rows if is_task else self.mine(account)):
                kind = "Task" if is_task else "Assignment"
                text = f"No {kind} matches the given query."
                raise APIError(404, {"detail": text})
            return (self.task if is_task else self.assignment)(request.base, pk)

        return self.view(request, retrieve)

    # -- viewsets ----------------------------------------------------------------------
    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        pk = len(self.accounts) + 1
        token = f"{pk * 0x9E3779B97F4A7C15:040x}"[-40:]
        self.accounts[token] = {"pk": pk, "credits": 100}
        answer = {"agent_id": str(pk), "access_token": token, "credits": 100}
        return Response(200, {**answer, "url": f"{request.base}/api/accounts/{pk}/"})

    def marketplace(self, request: Request) -> Response:
        return self.view(request, self.list_open, private=False)

    def tasks(self, request: Request) -> Response:
        return self.view(request, self.list_open)

    def list_open(self, request: Request, account: dict[str, Any]) -> dict[str, Any]:
        def number(name: str, default: int) -> int:
            text = request.query.get(name, "")
            return int(text) if text.isdecimal() and int(text) else default

        limit, offset = min(number("limit", 4), 50), number("offset", 0)
        pks = [pk for pk, row in self.rows.items() if row["status"] == "open"]

        def page(start: int) -> str:
            query = {**request.query, "limit": limit, "offset": start}
            return f"{request.base}{request.path}?{urlencode(query)}"

        return {
            "count": len(pks),
            "next": page(offset + limit) if offset + limit < len(pks) else None,
            "previous": page(max(offset - limit, 0)) if offset else None,
            "results": [
                self.task(request.base, pk) for pk in pks[offset : offset + limit]
            ],
        }

    def claim(self, request: Request) -> Response:
        def create(request: Request, account: dict[str, Any]) -> dict[str, Any]:
            pk = self.serialize(request, {"task": "tasks"}, self.rows)["task"]
            row = self.rows[pk]
            if row["status"] != "open":
                text = f"This task is not open, it is {row['status']}."
                raise APIError(400, {"task": [text]})
            row["status"] = "assigned"
            self.book.claimed(str(pk))
            new = {"task": pk, "account": account["pk"], "status": "claimed"}
            key = len(self.assignments) + 1
            self.assignments[key] = {**new, "deliverable": ""}
            return self.assignment(request.base, key)

        return self.view(request, create)

    def transition(self, row: dict[str, Any], to: str) -> None:
        allowed = TRANSITIONS[row["status"]]
        if to not in allowed:
            text = f"Cannot go from {row['status']} to {to}."
            text += f" Allowed: {', '.join(allowed) or 'nothing'}."
            raise APIError(400, {"status": [text]})

    def submit(self, request: Request) -> Response:
        def update(request: Request, account: dict[str, Any]) -> dict[str, Any]:
            fields = {
                "assignment": "assignments",
                "deliverable": "char",
                "status": "choice",
            }
            values = self.serialize(request, fields, self.mine(account))
            row = self.assignments[values["assignment"]]
            self.transition(row, values["status"])
            if values["status"] != "delivered":
                text = "A deliverable can only come with the status delivered."
                raise APIError(400, {"non_field_errors": [text]})
            if values["deliverable"] != self.rows[row["task"]]["body"].upper():
                text = "The deliverable is not the body of the task in capitals."
                raise APIError(400, {"deliverable": [text]})
            row["deliverable"], row["status"] = values["deliverable"], "delivered"
            return self.assignment(request.base, values["assignment"])

        return self.view(request, update)

    def complete(self, request: Request) -> Response:
        def close(request: Request, account: dict[str, Any]) -> dict[str, Any]:
            fields = {"assignment": "assignments", "status": "choice"}
            values = self.serialize(request, fields, self.mine(account))
            row = self.assignments[values["assignment"]]
            self.transition(row, values["status"])
            if values["status"] != "closed":
                text = "A deliverable is handed in by submitting, not here."
                raise APIError(400, {"status": [text]})
            task = self.rows[row["task"]]
            row["status"] = task["status"] = "closed"
            reward = int(float(task["reward"]))
            account["credits"] += reward
            self.book.pay(str(row["task"]), reward)
            closed = self.assignment(request.base, values["assignment"])
            return {**closed, "reward": task["reward"], "balance": account["credits"]}

        return self.view(request, close)
