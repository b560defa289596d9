"""A work-management product's automation API, in the manner of Asana.

Requests and answers stand under `data`, identifiers are long decimal strings (`gid`), the
reward is a custom field, a claim assigns the task, a submission is a story on it, and
completing the task pays. Errors are a list of messages with Asana's help sentence.
"""
# Its author has typed it less strictly.
# mypy: ignore-errors

import base64
import secrets
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_HELP = (
    "For more information on API status codes and how to handle them, read the docs on "
    "errors: https://developers.asana.com/docs/errors"
)
_REWARD, _REVIEW, _PAYOUT = "1209000000000101", "1209000000000102", "1209000000000103"
_REVIEW_OPTIONS = {
    "Pending": ("1209000000000111", "yellow-orange"),
    "Accepted": ("1209000000000112", "green"),
    "Rejected": ("1209000000000113", "red"),
}
_WORK = [
    ("Uppercase the launch banner copy", "spring release is here, take a tour", 45),
    ("Uppercase the webinar title", "planning a quarter in one hour", 20),
    ("Uppercase the booth sign", "visit us in hall 7, stand b12", 75),
    ("Uppercase the email subject", "your trial ends in three days", 15),
    ("Uppercase the badge text", "speaker and workshop host", 35),
    ("Uppercase the status page note", "scheduled maintenance on sunday at 06:00", 60),
    ("Uppercase the footer line", "made by people who like lists", 50),
]


class _Refusal(Exception):  # noqa: N818
    """An error answer: a status and its messages."""


def _gid() -> str:
    return f"1209{secrets.randbelow(10**12):012d}"


def _now() -> str:
    moment = datetime.now(UTC).isoformat(timespec="milliseconds")
    return moment.replace("+00:00", "Z")


def _refuse(refusal: _Refusal) -> Response:
    status, *messages = refusal.args
    errors = [{"message": message, "help": _HELP} for message in messages]
    return Response(
        status, {"errors": errors}, {"Content-Type": "application/json; charset=UTF-8"}
    )


class AsanaLike(Backend):
    """Assign a task to "me", add a story with the result, set `completed`."""

    def __init__(self) -> None:
        super().__init__()
        self._users: dict[str, dict[str, Any]] = {}  # by token
        self._offsets: dict[str, int] = {}
        self._tasks: dict[str, dict[str, Any]] = {}
        for index, (name, notes, reward) in enumerate(_WORK):
            gid = str(1209310045527700 + 37 * index)
            self._tasks[gid] = {
                "gid": gid,
                "name": name,
                "notes": notes,
                "reward": reward,
                "review": "Pending",
                "assignee": None,
                "completed_at": None,
                "due_on": (date.today() + timedelta(days=3 + index)).isoformat(),  # noqa: DTZ011
                "created_at": _now(),
                "modified_at": _now(),
            }

    def texts(self) -> dict[str, str]:
        """Return the text of every task."""
        return {gid: task["notes"] for gid, task in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        """Return Asana's answer to a path that it does not have."""
        return _refuse(_Refusal(404, "No matching route for request"))

    def _user(self, request: Request) -> dict[str, Any]:
        if request.token not in self._users:
            raise _Refusal(401, "Not Authorized")
        return self._users[request.token]

    @staticmethod
    def _compact(user: dict[str, Any]) -> dict[str, Any]:
        return {"gid": user["gid"], "resource_type": "user", "name": user["name"]}

    def _record(self, task: dict[str, Any]) -> dict[str, Any]:
        option, color = _REVIEW_OPTIONS[task["review"]]
        paid = task["reward"] if task["completed_at"] else None
        return {
            "gid": task["gid"],
            "resource_type": "task",
            "resource_subtype": "default_task",
            "name": task["name"],
            "notes": task["notes"],
            "assignee": task["assignee"] and self._compact(task["assignee"]),
            "completed": bool(task["completed_at"]),
            "completed_at": task["completed_at"],
            "due_on": task["due_on"],
            "created_at": task["created_at"],
            "modified_at": task["modified_at"],
            "custom_fields": [
                {
                    "gid": _REWARD,
                    "resource_type": "custom_field",
                    "name": "Reward (credits)",
                    "type": "number",
                    "number_value": task["reward"],
                    "display_value": str(task["reward"]),
                },
                {
                    "gid": _REVIEW,
                    "resource_type": "custom_field",
                    "name": "Review",
                    "type": "enum",
                    "enum_value": {
                        "gid": option,
                        "resource_type": "enum_option",
                        "name": task["review"],
                        "enabled": True,
                        "color": color,
                    },
                    "display_value": task["review"],
                },
                {
                    "gid": _PAYOUT,
                    "resource_type": "custom_field",
                    "name": "Payout (credits)",
                    "type": "number",
                    "number_value": paid,
                    "display_value": None if paid is None else str(paid),
                },
            ],
        }

    def _data(self, request: Request) -> dict[str, Any]:
        try:
            body = request.json()
        except ValueError:
            raise _Refusal(400, "Could not parse request data, invalid JSON") from None
        if not isinstance(body, dict) or "data" not in body:
            raise _Refusal(400, "data: Missing input")
        if not isinstance(body["data"], dict):
            raise _Refusal(400, "data: Value is not an object")
        return body["data"]

    def _task(self, data: dict[str, Any], *names: str) -> dict[str, Any]:
        """Return the task that a request names, once it has all the inputs it needs."""
        lacking = [f"{name}: Missing input" for name in names if data.get(name) is None]
        if lacking:
            raise _Refusal(400, *lacking)
        gid = data["task"]
        if isinstance(gid, (dict, list)) or not str(gid).isdecimal():
            raise _Refusal(400, f"task: Not a recognized ID: {gid}")
        if str(gid) not in self._tasks:
            raise _Refusal(404, f"task: Unknown object: {gid}")
        return self._tasks[str(gid)]

    def handle(self, request: Request) -> Response:
        """Answer one request, with Asana's headers."""
        answer = super().handle(request)
        answer.headers.setdefault("X-Asana-Api-Version", "1.1")
        return answer

    def register(self, request: Request) -> Response:
        """Create a user and a personal access token for it."""
        self.book.registrations += 1
        user = {"gid": _gid(), "credits": 100}
        user["name"] = f"Agent {user['gid'][-4:]}"
        token = f"2/{user['gid']}/{_gid()}:{secrets.token_hex(16)}"
        self._users[token] = user
        return Response(
            200, {"agent_id": user["gid"], "access_token": token, "credits": 100}
        )

    def marketplace(self, request: Request) -> Response:
        """List the tasks that nobody has, to anyone."""
        rows = [self._record(t) for t in self._tasks.values() if not t["assignee"]]
        return Response(200, {"data": rows})

    def tasks(self, request: Request) -> Response:
        """List the incomplete tasks, page by page when a limit is given."""
        try:
            self._user(request)
            rows = [
                self._record(t) for t in self._tasks.values() if not t["completed_at"]
            ]
            limit, offset = request.query.get("limit"), request.query.get("offset")
            if limit is None:
                return Response(200, {"data": rows})
            if not limit.isdecimal() or not 1 <= int(limit) <= 100:
                raise _Refusal(400, "limit: Must be an integer between 1 and 100")
            if offset is not None and offset not in self._offsets:
                raise _Refusal(400, "offset: Your pagination token is invalid.")
        except _Refusal as refusal:
            return _refuse(refusal)
        start = self._offsets[offset] if offset else 0
        end, following = start + int(limit), None
        if end < len(rows):
            mark = (
                base64.urlsafe_b64encode(f'{{"i":{end}}}'.encode()).decode().rstrip("=")
            )
            self._offsets[mark] = end
            path = f"{request.path}?limit={limit}&offset={mark}"
            following = {"offset": mark, "path": path, "uri": request.base + path}
        return Response(200, {"data": rows[start:end], "next_page": following})

    def agents(self, request: Request) -> Response:
        """List the users."""
        return Response(200, {"data": [self._compact(u) for u in self._users.values()]})

    directory = agents

    def claim(self, request: Request) -> Response:
        """Assign a task to the one who asks."""
        try:
            user = self._user(request)
            data = self._data(request)
            task, who = self._task(data, "task", "assignee"), data["assignee"]
            if who not in ("me", user["gid"]):
                if who in [other["gid"] for other in self._users.values()]:
                    raise _Refusal(
                        403, "assignee: You can only assign tasks to yourself"
                    )
                raise _Refusal(
                    400,
                    f"assignee: Not a recognized user: {who}. "
                    'A user is given by its gid or by "me"',
                )
            if task["completed_at"]:
                raise _Refusal(400, "task: Task is already completed")
            if task["assignee"] not in (None, user):
                raise _Refusal(403, "task: Task is already assigned to another user")
        except _Refusal as refusal:
            return _refuse(refusal)
        task |= {"assignee": user, "modified_at": _now()}
        self.book.claimed(task["gid"])
        return Response(200, {"data": self._record(task)})

    def submit(self, request: Request) -> Response:
        """Add a story with the result; its target shows how the review went."""
        try:
            user = self._user(request)
            data = self._data(request)
            task, text = self._task(data, "task", "text"), data["text"]
            if not isinstance(text, str):
                raise _Refusal(400, "text: Value is not a string")
            if task["assignee"] is not user:
                raise _Refusal(403, "task: Task is not assigned to you")
            if task["completed_at"]:
                raise _Refusal(400, "task: Task is already completed")
        except _Refusal as refusal:
            return _refuse(refusal)
        task["review"] = "Accepted" if text == task["notes"].upper() else "Rejected"
        task["modified_at"] = _now()
        record = self._record(task)
        target = {
            k: record[k] for k in ("gid", "resource_type", "name", "custom_fields")
        }
        return Response(
            201,
            {
                "data": {
                    "gid": _gid(),
                    "resource_type": "story",
                    "resource_subtype": "comment_added",
                    "type": "comment",
                    "text": text,
                    "created_at": _now(),
                    "created_by": self._compact(user),
                    "target": target,
                }
            },
        )

    def complete(self, request: Request) -> Response:
        """Mark a task complete once its review accepted it, and pay."""
        try:
            user = self._user(request)
            data = self._data(request)
            task = self._task(data, "task", "completed")
            if not isinstance(data["completed"], bool):
                raise _Refusal(400, "completed: Value is not a boolean")
            if task["assignee"] is not user:
                raise _Refusal(403, "task: Task is not assigned to you")
            if data["completed"] and task["review"] != "Accepted":
                raise _Refusal(
                    400,
                    "completed: Task can not be marked complete while the custom "
                    f"field Review is {task['review']}, it must be Accepted",
                )
        except _Refusal as refusal:
            return _refuse(refusal)
        if data["completed"] and not task["completed_at"]:
            task["completed_at"] = task["modified_at"] = _now()
            user["credits"] += task["reward"]
            self.book.pay(task["gid"], task["reward"])
        return Response(200, {"data": self._record(task)})
