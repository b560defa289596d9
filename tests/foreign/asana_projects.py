"""A work marketplace kept in an Asana project, answering as Asana's REST API does.

Everything is wrapped in `data`; a claim assigns the task, a submission is a comment (a
story) that is reviewed at once, and marking the approved task completed pays it.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_HELP = (
    "For more information on API status codes and how to handle them, "
    "read the docs on errors: https://developers.asana.com/docs/errors"
)
_PROJECT = {"gid": "1207413380020011", "resource_type": "project", "name": "Copy desk"}
_WORK = [
    ("Masthead for the spring issue", "Rivers remember the valley", 14),
    ("Banner for the harbour page", "Ships leave at a quarter past nine", 22),
    ("Label for jar no. 7", "quince & ginger, no added sugar", 9),
    ("Sign for the reading room", "Please return books to the trolley", 31),
    ("Poster line", "One night only: the brass quintet", 18),
    ("Ticket stub", "Row f, seat 12, balcony left", 12),
]


class _Refused(Exception):  # noqa: N818
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def _errors(no: _Refused) -> Response:
    return Response(no.status, {"errors": [{"message": str(no), "help": _HELP}]})


def _answering(action: Any) -> Any:
    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except _Refused as no:
            return _errors(no)

    return answer


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Asana(Backend):
    """Asana, with tasks of a project as the work."""

    def __init__(self) -> None:
        super().__init__()
        self._users: dict[str, dict[str, Any]] = {}  # token -> user
        self._next_gid = 1207413380100000
        self._offsets: dict[str, int] = {}
        self._tasks: dict[str, dict[str, Any]] = {}
        for name, notes, reward in _WORK:
            gid = self._gid()
            self._tasks[gid] = {
                "gid": gid,
                "resource_type": "task",
                "resource_subtype": "approval",
                "name": f"{name} - the notes in capital letters, as a comment",
                "notes": notes,
                "assignee": None,
                "approval_status": "pending",
                "completed": False,
                "completed_at": None,
                "created_at": "2025-03-04T09:12:44.103Z",
                "custom_fields": [
                    {
                        "gid": "1207413380020044",
                        "resource_type": "custom_field",
                        "resource_subtype": "number",
                        "name": "Reward (credits)",
                        "number_value": reward,
                        "display_value": str(reward),
                    }
                ],
                "projects": [_PROJECT],
                "permalink_url": f"https://app.asana.com/0/{_PROJECT['gid']}/{gid}",
            }

    def _gid(self) -> str:
        self._next_gid += 17
        return str(self._next_gid)

    def texts(self) -> dict[str, str]:
        return {gid: task["notes"] for gid, task in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        return _errors(_Refused(404, "No matching route for request"))

    def _user(self, request: Request) -> dict[str, Any]:
        user = self._users.get(request.token)
        if user is None:
            raise _Refused(401, "Not Authorized")
        return user

    def _data(self, request: Request) -> dict[str, Any]:
        try:
            body = request.json()
        except ValueError:
            message = "Could not parse request data, invalid JSON"
            raise _Refused(400, message) from None
        data = body.get("data") if isinstance(body, dict) else None
        if not isinstance(data, dict):
            raise _Refused(
                400, "Request body must be a JSON object with a `data` object"
            )
        return data

    @staticmethod
    def _input(data: dict[str, Any], name: str) -> Any:
        if data.get(name) in (None, ""):
            raise _Refused(400, f"{name}: Missing input")
        return data[name]

    def _task(self, data: dict[str, Any]) -> dict[str, Any]:
        value = self._input(data, "task")
        if isinstance(value, bool) or not str(value).isdigit():
            raise _Refused(400, f"task: Not a recognized ID: {value}")
        task = self._tasks.get(str(value))
        if task is None:
            raise _Refused(404, f"task: Unknown object: {value}")
        return task

    def _mine(self, task: dict[str, Any], user: dict[str, Any]) -> None:
        if task["assignee"] is None or task["assignee"]["gid"] != user["gid"]:
            raise _Refused(403, "Forbidden: You are not the assignee of this task")

    def register(self, request: Request) -> Response:
        gid, token = self._gid(), f"2/{self._gid()}:{secrets.token_hex(16)}"
        name = f"Guest {len(self._users) + 1}"
        self._users[token] = {"gid": gid, "resource_type": "user", "name": name}
        self.book.registrations += 1
        return Response(200, {"agent_id": gid, "access_token": token, "credits": 100})

    def marketplace(self, request: Request) -> Response:
        compact = [
            {key: task[key] for key in ("gid", "resource_type", "name")}
            for task in self._tasks.values()
            if task["assignee"] is None
        ]
        return Response(200, {"data": compact})

    def agents(self, request: Request) -> Response:
        return Response(200, {"data": list(self._users.values()), "next_page": None})

    directory = agents

    @_answering
    def tasks(self, request: Request) -> Response:
        self._user(request)
        limit = request.query.get("limit", "100")
        if not limit.isdigit():
            raise _Refused(400, f"limit: Not a Long: {limit}")
        if not 1 <= int(limit) <= 100:
            raise _Refused(400, "limit: Must be between 1 and 100")
        start = 0
        if "offset" in request.query:
            if request.query["offset"] not in self._offsets:
                raise _Refused(400, "offset: Your pagination token is invalid.")
            start = self._offsets[request.query["offset"]]
        end = start + int(limit)
        page = list(self._tasks.values())[start:end]
        if request.query.get("opt_fields"):
            wanted = {"gid", *request.query["opt_fields"].split(",")}
            page = [{k: v for k, v in task.items() if k in wanted} for task in page]
        following = None
        if end < len(self._tasks):
            offset = secrets.token_urlsafe(24)
            self._offsets[offset] = end
            path = f"{request.path}?limit={limit}&offset={offset}"
            following = {"offset": offset, "path": path, "uri": request.base + path}
        return Response(200, {"data": page, "next_page": following})

    @_answering
    def claim(self, request: Request) -> Response:
        """Assign a task: {"data": {"task": gid, "assignee": gid or "me"}}."""
        user, data = self._user(request), self._data(request)
        task = self._task(data)
        assignee = str(self._input(data, "assignee"))
        if assignee not in ("me", user["gid"]):
            if not assignee.isdigit():
                raise _Refused(
                    400,
                    f"assignee: Not a recognized ID: {assignee} "
                    "(expected 'me' or the gid of a user)",
                )
            if all(one["gid"] != assignee for one in self._users.values()):
                raise _Refused(400, f"assignee: Unknown object: {assignee}")
            raise _Refused(403, "Forbidden: Guests only assign tasks to themselves")
        if task["assignee"] is None:
            task["assignee"] = user
            self.book.claimed(task["gid"])
        self._mine(task, user)
        return Response(200, {"data": task})

    @_answering
    def submit(self, request: Request) -> Response:
        """Comment on a task: {"data": {"task": gid, "text": the result}}."""
        user, data = self._user(request), self._data(request)
        task = self._task(data)
        text = self._input(data, "text")
        if not isinstance(text, str):
            raise _Refused(400, "text: Not a String")
        self._mine(task, user)
        if task["completed"]:
            raise _Refused(403, "Forbidden: This task is already completed")
        right = text == task["notes"].upper()
        task["approval_status"] = "approved" if right else "changes_requested"
        story = {
            "gid": self._gid(),
            "resource_type": "story",
            "resource_subtype": "comment_added",
            "type": "comment",
            "text": text,
            "created_at": _now(),
            "target": {key: task[key] for key in ("gid", "name", "approval_status")},
        }
        return Response(200, {"data": story}, refused=not right)

    @_answering
    def complete(self, request: Request) -> Response:
        """Complete a task: {"data": {"task": gid, "completed": true}}."""
        user, data = self._user(request), self._data(request)
        task = self._task(data)
        completed = self._input(data, "completed")
        if not isinstance(completed, bool):
            raise _Refused(400, f"completed: Not a Boolean: {completed}")
        self._mine(task, user)
        if completed and task["approval_status"] != "approved":
            raise _Refused(
                403,
                "Forbidden: An approval task cannot be completed while its "
                f"approval_status is {task['approval_status']}",
            )
        if task["completed"] and not completed:
            raise _Refused(403, "Forbidden: A paid task cannot be reopened")
        if completed and not task["completed"]:
            task["completed"], task["completed_at"] = True, _now()
            self.book.pay(task["gid"], task["custom_fields"][0]["number_value"])
        return Response(200, {"data": task})

    def post(self, request: Request) -> Response:
        return _errors(_Refused(403, "Forbidden: Guests cannot create tasks here"))
