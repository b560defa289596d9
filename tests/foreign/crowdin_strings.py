"""A translation-management product in the manner of Crowdin's API v2.

Every record sits in a "data" envelope, ids are integers, keys are camelCase. Validation
errors come all at once, keyed by field; everything else is {"error": {code, message}}.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_LANGUAGE = "en-CAPS"  # a custom target language of the project
_STRINGS = [
    ("nav.home", "Back to the home page", 12),
    ("cart.checkout", "Proceed to secure checkout", 25),
    ("login.forgot", "Forgot your password? We can help.", 16),
    ("footer.legal", "Terms of service & privacy notice", 31),
    ("banner.sale", "Summer sale: up to 40% off selected items", 20),
    ("settings.delete", "Delete this account permanently", 10),
]
_STATUSES = ("todo", "in_progress", "done", "closed")
_EMPTY = ("isEmpty", "Value is required and can't be empty")


class _Failure(Exception):  # noqa: N818
    """A refusal; its first argument is the response."""


class CrowdinLike(Backend):
    """Tasks with one source string each; a task set to done is paid out."""

    def __init__(self) -> None:
        super().__init__()
        self._users: dict[str, dict[str, Any]] = {}  # by token
        self._translations: dict[int, dict[str, Any]] = {}  # by string
        self._tasks: dict[int, dict[str, Any]] = {}
        for number, (identifier, text, payout) in enumerate(_STRINGS):
            created = datetime.now(UTC).replace(microsecond=0) - timedelta(days=3)
            self._tasks[2044 + 2 * number] = {
                "id": 2044 + 2 * number,
                "projectId": 318,
                "type": 0,
                "status": "todo",
                "title": f"All-caps wording for {identifier}",
                "description": "Custom language 'English (all caps)': give the source "
                "text in capital letters, nothing else changed.",
                "sourceLanguageId": "en",
                "targetLanguageId": _LANGUAGE,
                "string": {
                    "id": 90712 + 5 * number,
                    "identifier": identifier,
                    "text": text,
                },
                "payout": {"amount": payout, "currency": "credits"},
                "assignees": [],
                "createdAt": created.isoformat(),
                "deadline": (created + timedelta(days=30)).isoformat(),
            }

    def texts(self) -> dict[str, str]:
        return {str(id_): task["string"]["text"] for id_, task in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        return _error(404, "Not Found")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        id_ = 16204411 + 17 * self.book.registrations
        token = secrets.token_hex(40)
        self._users[token] = {"id": id_, "username": f"agent.{id_}"}
        return Response(
            200, {"agent_id": str(id_), "access_token": token, "credits": 100}
        )

    def tasks(self, request: Request) -> Response:
        return self._answer(request, self._list, body=False)

    def claim(self, request: Request) -> Response:
        return self._answer(request, self._assign)

    def submit(self, request: Request) -> Response:
        return self._answer(request, self._translate)

    def complete(self, request: Request) -> Response:
        return self._answer(request, self._set_status)

    def _answer(self, request: Request, action: Any, body: bool = True) -> Response:  # noqa: FBT001, FBT002
        user = self._users.get(request.token)
        if user is None:
            return _error(401, "Unauthorized")
        given: Any = request.query
        if body:
            try:
                given = request.json()
            except ValueError:
                return _error(400, "Invalid JSON in request body")
            if not isinstance(given, dict):
                return _error(400, "Request body must be a JSON object")
        try:
            return action(given, user)
        except _Failure as failure:
            return failure.args[0]

    def _list(self, query: dict[str, str], user: dict[str, Any]) -> Response:
        found: dict[str, tuple[str, str]] = {}
        values = {"limit": 25, "offset": 0}
        for key, low in (("limit", 1), ("offset", 0)):
            if key not in query:
                continue
            if not query[key].isdecimal():
                found[key] = ("notDigits", "The input must contain only digits")
            elif not low <= int(query[key]) <= 500:
                found[key] = (
                    "notBetween",
                    f"The input is not between '{low}' and '500', inclusively",
                )
            else:
                values[key] = int(query[key])
        _check(found)
        start, stop = values["offset"], values["offset"] + values["limit"]
        return Response(
            200,
            {
                "data": [{"data": t} for t in list(self._tasks.values())[start:stop]],
                "pagination": {"offset": start, "limit": values["limit"]},
            },
        )

    def _assign(self, body: dict[str, Any], user: dict[str, Any]) -> Response:
        found: dict[str, tuple[str, str]] = {}
        id_ = _integer(body, "taskId", found)
        assignees = body.get("assignees")
        if not assignees:
            found["assignees"] = _EMPTY
        elif not isinstance(assignees, list) or not all(
            isinstance(a, dict) and "id" in a for a in assignees
        ):
            found["assignees"] = (
                "invalidFormat",
                "Invalid type given. Array of objects with the property 'id' expected",
            )
        elif [str(a["id"]) for a in assignees] != [str(user["id"])]:
            found["assignees"] = (
                "notAllowed",
                f"You can assign the task only to yourself (user {user['id']})",
            )
        _check(found)
        task = self._task(id_)
        if task["status"] != "todo":
            return _error(
                409, f"Task {id_} can't be assigned: its status is '{task['status']}'"
            )
        task["status"] = "in_progress"
        task["assignees"] = [dict(user)]
        self.book.claimed(str(id_))
        return Response(200, {"data": task})

    def _translate(self, body: dict[str, Any], user: dict[str, Any]) -> Response:
        found: dict[str, tuple[str, str]] = {}
        string_id = _integer(body, "stringId", found)
        language = body.get("languageId")
        if not language:
            found["languageId"] = _EMPTY
        elif language != _LANGUAGE:
            found["languageId"] = (
                "notInArray",
                f"Language is not a target language of the project. Allowed: {_LANGUAGE}",
            )
        text = body.get("text")
        if text in (None, ""):
            found["text"] = _EMPTY
        elif not isinstance(text, str):
            found["text"] = ("stringInvalid", "Invalid type given. String expected")
        _check(found)
        task = next(
            (t for t in self._tasks.values() if t["string"]["id"] == string_id), None
        )
        if task is None:
            return _error(404, "String Not Found")
        self._mine(task, user)
        if string_id in self._translations:
            message = "A translation of this source string has already been saved"
            _check({"text": ("notUnique", message)})
        if text != task["string"]["text"].upper():
            message = "QA check failed: the translation is not the source text in capital letters"
            _check({"text": ("qaCheckFailed", message)})
        translation = {
            "id": 4400190 + 3 * len(self._translations),
            "stringId": string_id,
            "languageId": language,
            "text": text,
            "user": dict(user),
            "createdAt": datetime.now(UTC).replace(microsecond=0).isoformat(),
        }
        self._translations[string_id] = translation
        return Response(200, {"data": translation})

    def _set_status(self, body: dict[str, Any], user: dict[str, Any]) -> Response:
        found: dict[str, tuple[str, str]] = {}
        id_ = _integer(body, "taskId", found)
        status = body.get("status")
        if not status:
            found["status"] = _EMPTY
        elif status not in _STATUSES:
            found["status"] = (
                "notInArray",
                f"The input must be one of: {', '.join(_STATUSES)}",
            )
        _check(found)
        task = self._task(id_)
        self._mine(task, user)
        if task["status"] == "done":
            return _error(409, f"Task {id_} is already done")
        if status == "closed":
            return _error(
                403, "Only managers can close tasks. Assignees can set 'done'"
            )
        if status == "todo":
            return _error(403, "Assigned tasks can't be returned to 'todo'")
        if status == "done":
            if task["string"]["id"] not in self._translations:
                return _error(409, f"Task {id_} still has 1 untranslated string")
            task["status"] = "done"
            self.book.pay(str(id_), task["payout"]["amount"])
        return Response(200, {"data": task})

    def _task(self, id_: int) -> dict[str, Any]:
        if id_ not in self._tasks:
            raise _Failure(_error(404, "Task Not Found"))
        return self._tasks[id_]

    def _mine(self, task: dict[str, Any], user: dict[str, Any]) -> None:
        if user not in task["assignees"]:
            raise _Failure(_error(403, f"Task {task['id']} is not assigned to you"))


def _integer(body: dict[str, Any], key: str, found: dict[str, tuple[str, str]]) -> int:
    value = body.get(key)
    if value in (None, ""):
        found[key] = _EMPTY
    elif isinstance(value, bool) or not isinstance(value, int):
        found[key] = ("notInt", "Invalid type given. Integer expected")
    else:
        return value
    return 0


def _check(found: dict[str, tuple[str, str]]) -> None:
    if found:
        errors = [
            {"error": {"key": key, "errors": [{"code": code, "message": message}]}}
            for key, (code, message) in found.items()
        ]
        raise _Failure(Response(400, {"errors": errors}))


def _error(status: int, message: str) -> Response:
    return Response(status, {"error": {"code": status, "message": message}})
