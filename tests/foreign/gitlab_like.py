"""A project product's API in the manner of GitLab's REST API v4 (Ruby, Grape).

Bare arrays with paging in the headers, issues named by project and iid, notes as results,
`{"error": "x is missing"}` from Grape's validators and `{"message": ...}` from the rest.
Parameters come as JSON, as a form or in the query. Closing the issue pays.
"""
# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_PROJECT = {"id": 318, "path_with_namespace": "bounties/wording"}
_ISSUES = [
    ("Welcome to the community garden", 9),
    ("No entry during the performance", 13),
    ("fresh bread daily from six", 7),
    ("Lost property is kept at the front desk", 22),
    ("Caution: wet floor", 5),
    ("café closed on mondays", 16),
    ("Return all keys before noon", 11),
]
_ISSUE = {"project_id": str, "issue_iid": int}
_NOT_JSON = (
    "Problem:\n  message body does not match declared format\nResolution:\n  when "
    "specifying application/json as content-type, you must pass valid application/json "
    "in the request's 'body' "
)


def _now(hours: int = 0) -> str:
    moment = datetime.now(UTC) + timedelta(hours=hours)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _Halt(Exception):  # noqa: N818
    def __init__(self, status: int, body: Any) -> None:
        super().__init__(status)
        self.status, self.body = status, body


def _api_error(status: int, message: str) -> _Halt:
    return _Halt(status, {"message": message})


def _endpoint(
    call: Callable[[Any, Request], Response],
) -> Callable[[Any, Request], Response]:
    def run(self: Any, request: Request) -> Response:
        try:
            answer = call(self, request)
        except _Halt as halt:
            answer = Response(halt.status, halt.body)
        answer.headers["X-Request-Id"] = secrets.token_hex(13)
        return answer

    return run


class GitlabLike(Backend):
    """Issues with a bounty, assigned, answered in a note, and closed."""

    def __init__(self) -> None:
        super().__init__()
        self.users: dict[str, dict[str, Any]] = {}  # by token
        self.balance: dict[int, int] = {}
        self.issues: dict[int, dict[str, Any]] = {}  # by iid
        self.notes: dict[int, dict[str, Any]] = {}
        for number, (text, bounty) in enumerate(_ISSUES):
            iid = 41 + number
            self.issues[iid] = {
                "id": 90713 + 6 * number,
                "iid": iid,
                "project_id": _PROJECT["id"],
                "title": "Answer with the description in capital letters",
                "description": text,
                "state": "opened",
                "created_at": _now(number - 72),
                "closed_at": None,
                "labels": ["capital letters"],
                "assignee": None,
                "author": {"id": 2, "username": "wording-bot", "state": "active"},
                "bounty": bounty,
                "references": {"full": f"{_PROJECT['path_with_namespace']}#{iid}"},
            }

    def texts(self) -> dict[str, str]:
        return {str(i["id"]): i["description"] for i in self.issues.values()}

    def missing(self, request: Request) -> Response:
        methods = [method for method, path in ACTIONS if path == request.path]
        if methods and request.method not in methods:
            return Response(405, {"error": "405 Not Allowed"})
        return Response(404, {"error": "404 Not Found"})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        number = 5200 + self.book.registrations
        token = f"agpat-{secrets.token_urlsafe(15)}"
        name = f"agent-{number}"
        self.users[token] = {"id": number, "username": name, "state": "active"}
        self.balance[number] = 100
        answer = {"agent_id": str(number), "access_token": token, "credits": 100}
        return Response(200, {**answer, "username": name, "created_at": _now()})

    @_endpoint
    def marketplace(self, request: Request) -> Response:
        return self._index(request)

    @_endpoint
    def tasks(self, request: Request) -> Response:
        self._user(request)
        return self._index(request)

    def agents(self, request: Request) -> Response:
        return Response(200, list(self.users.values()))

    def _index(self, request: Request) -> Response:
        params = self._declared(request, {}, {"limit": int, "page": int})
        size = 20 if params["limit"] is None else params["limit"]
        page = 1 if params["page"] is None else params["page"]
        if size < 1 or page < 1:
            name = "page" if page < 1 else "limit"
            raise _Halt(400, {"error": f"{name} does not have a valid value"})
        size = min(size, 100)
        opened = [i for i in self.issues.values() if i["state"] == "opened"]
        pages = max(1, -(-len(opened) // size))
        url = f"{request.base}{request.path}?limit={size}&page="
        following = str(page + 1) if page < pages else ""
        headers = {
            "X-Next-Page": following,
            "X-Page": str(page),
            "X-Total": str(len(opened)),
            "X-Total-Pages": str(pages),
            "Link": (f'<{url}{following}>; rel="next", ' if following else "")
            + f'<{url}1>; rel="first", <{url}{pages}>; rel="last"',
        }
        return Response(200, opened[(page - 1) * size : page * size], headers)

    @_endpoint
    def claim(self, request: Request) -> Response:
        user = self._user(request)
        issue = self._issue(self._declared(request, _ISSUE))
        if issue["state"] != "opened":
            raise _api_error(409, "Issue is closed")
        if issue["assignee"]:
            raise _api_error(
                409, f"Issue is already assigned to @{issue['assignee']['username']}"
            )
        issue["assignee"] = user
        self.book.claimed(str(issue["id"]))
        return Response(200, dict(issue))

    @_endpoint
    def submit(self, request: Request) -> Response:
        user = self._user(request)
        params = self._declared(request, {**_ISSUE, "body": str})
        issue = self._issue(params)
        self._assigned(issue, user)
        if not (params["body"] or "").strip():
            problem = "can't be blank"
        elif params["body"] != issue["description"].upper():
            problem = "is not the description of the issue in capital letters"
        else:
            number = 1204418 + 13 * len(self.notes)
            self.notes[number] = {
                "id": number,
                "body": params["body"],
                "author": user,
                "created_at": _now(),
                "noteable_id": issue["id"],
                "noteable_type": "Issue",
                "project_id": issue["project_id"],
                "noteable_iid": issue["iid"],
            }
            return Response(200, self.notes[number])
        raise _api_error(400, f'400 Bad request - Note {{:note=>["{problem}"]}}')

    @_endpoint
    def complete(self, request: Request) -> Response:
        user = self._user(request)
        params = self._declared(request, {**_ISSUE, "note_id": int})
        issue = self._issue(params)
        self._assigned(issue, user)
        note = self.notes.get(params["note_id"])
        if note is None or note["noteable_iid"] != issue["iid"]:
            raise _api_error(404, "404 Note Not Found")
        issue["state"] = "closed"
        issue["closed_at"] = _now()
        self.book.pay(str(issue["id"]), issue["bounty"])
        self.balance[user["id"]] += issue["bounty"]
        return Response(200, {**issue, "user": {"credits": self.balance[user["id"]]}})

    def _user(self, request: Request) -> dict[str, Any]:
        if request.token not in self.users:
            raise _api_error(401, "401 Unauthorized")
        return self.users[request.token]

    def _issue(self, params: dict[str, Any]) -> dict[str, Any]:
        if params["project_id"] not in map(str, _PROJECT.values()):
            raise _api_error(404, "404 Project Not Found")
        if params["issue_iid"] not in self.issues:
            raise _api_error(404, "404 Issue Not Found")
        return self.issues[params["issue_iid"]]

    def _assigned(self, issue: dict[str, Any], user: dict[str, Any]) -> None:
        if issue["assignee"] is not user:
            raise _api_error(403, "403 Forbidden - You are not assigned to this issue")
        if issue["state"] != "opened":
            raise _api_error(409, "Issue is closed")

    def _params(self, request: Request) -> dict[str, Any]:
        """Return the parameters of the query and the body together."""
        if not request.raw or request.method == "GET":
            return request.query
        media = (request.headers.get("Content-Type") or "application/json").partition(
            ";"
        )
        kind = media[0].strip().lower()
        if kind == "application/x-www-form-urlencoded":
            form = parse_qsl(
                request.raw.decode(errors="replace"), keep_blank_values=True
            )
            return {**request.query, **dict(form)}
        if kind != "application/json":
            raise _Halt(
                415, {"error": f"The provided content-type '{kind}' is not supported."}
            )
        try:
            body = request.json()
        except ValueError:
            raise _Halt(400, {"error": _NOT_JSON}) from None
        return {**request.query, **(body if isinstance(body, dict) else {})}

    def _declared(
        self,
        request: Request,
        required: dict[str, type],
        optional: dict[str, type] = {},  # noqa: B006
    ) -> dict[str, Any]:
        """Return the declared parameters, coerced, or halt with all that is wrong."""
        given, found, errors = self._params(request), {}, []
        for name, kind in {**required, **optional}.items():
            value = given.get(name)
            found[name] = None
            if name not in given:
                if name in required:
                    errors.append(f"{name} is missing")
            elif isinstance(value, dict | list | bool):
                errors.append(f"{name} is invalid")
            elif kind is str:
                found[name] = None if value is None else str(value)
            elif value not in (None, ""):
                if re.fullmatch(r"-?\d{1,18}", str(value).strip()):
                    found[name] = int(value)
                else:
                    errors.append(f"{name} is invalid")
        if errors:
            raise _Halt(400, {"error": ", ".join(errors)})
        return found
