"""A code-hosting product's issues with bounties, in the manner of GitHub's REST API.

Tasks are issues: claiming assigns one, submitting comments on it, completing closes it.
A schema check speaks first ("Invalid request."), the model's validation after it.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_DOCS = "https://docs.forgebay.dev/rest"
_ISSUES = [
    (41, "the build is green again", 15),
    (44, "bump the minimum compiler to twelve", 35),
    (45, "flaky test on the arm runner", 20),
    (52, "document the retry header", 60),
    (57, "cache keys must include the lock file", 45),
    (63, "drop support for the old agent", 10),
]
_LISTING = "/issues/issues#list-issues-assigned-to-the-authenticated-user"
_ASSIGN = "/issues/assignees#add-assignees-to-an-issue"
_COMMENT = "/issues/comments#create-an-issue-comment"
_UPDATE = "/issues/issues#update-an-issue"
_SCHEMAS: dict[str, dict[str, Any]] = {
    _ASSIGN: {"issue_number": "an integer", "assignees": "an array"},
    _COMMENT: {"issue_number": "an integer", "body": "a string"},
    _UPDATE: {
        "issue_number": "an integer",
        "comment_id": "an integer",
        "state": ["open", "closed"],
    },
}


def _inspect(value: Any) -> str:
    """Write a value as Ruby's inspect does."""
    if value is None or isinstance(value, bool):
        return {None: "nil", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, list):
        return "[" + ", ".join(_inspect(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{k}"=>{_inspect(v)}' for k, v in value.items()) + "}"
    return repr(value)


def _fits(value: Any, kind: Any) -> bool:
    if kind == "an integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, list if kind == "an array" else str)


class _Halt(Exception):  # noqa: N818
    def __init__(self, status: int, message: str, docs: str = "", errors: Any = None):  # noqa: ANN204
        super().__init__(message)
        body: dict[str, Any] = {"message": message}
        if errors:
            body["errors"] = errors
        body |= {"documentation_url": _DOCS + docs, "status": str(status)}
        self.response = Response(status, body)


def _invalid(docs: str, resource: str, field: str, code: str, **more: Any) -> _Halt:
    error = {"resource": resource, "field": field, "code": code, **more}
    return _Halt(422, "Validation Failed", docs, [error])


class Forgebay(Backend):
    """Issues with bounties; closing one with an accepted comment pays."""

    def __init__(self) -> None:
        super().__init__()
        self._logins: dict[str, str] = {}  # token -> login
        self._comments: dict[int, dict[str, Any]] = {}
        self._issues = {
            number: {
                "id": 2214900000 + number * 37,
                "number": number,
                "title": "Rewrite the body of this issue in upper case",
                "body": text,
                "state": "open",
                "state_reason": None,
                "labels": [{"id": 6601, "name": "bounty", "color": "0e8a16"}],
                "assignees": [],
                "comments": 0,
                "bounty_credits": bounty,
                "created_at": "2026-02-11T09:30:12Z",
                "closed_at": None,
            }
            for number, text, bounty in _ISSUES
        }

    def texts(self) -> dict[str, str]:
        return {
            str(number): str(issue["body"]) for number, issue in self._issues.items()
        }

    def handle(self, request: Request) -> Response:
        answer = super().handle(request)
        answer.headers |= {
            "Content-Type": "application/json; charset=utf-8",
            "X-Forgebay-Media-Type": "forgebay.v3; format=json",
            "X-Forgebay-Request-Id": secrets.token_hex(12).upper(),
        }
        return answer

    def missing(self, request: Request) -> Response:
        return _Halt(404, "Not Found").response

    def _login(self, request: Request, docs: str) -> str:
        if not request.headers.get("Authorization"):
            raise _Halt(401, "Requires authentication", docs)
        if request.token not in self._logins:
            raise _Halt(401, "Bad credentials")
        return self._logins[request.token]

    def _body(self, request: Request, docs: str) -> dict[str, Any]:
        try:
            body = request.json() if request.raw.strip() else {}
        except ValueError:
            raise _Halt(400, "Problems parsing JSON", docs) from None
        if not isinstance(body, dict):
            raise _Halt(400, "Body should be a JSON object", docs)
        schema, wrong = _SCHEMAS[docs], []
        if absent := [_inspect(name) for name in schema if name not in body]:
            verb = "wasn't" if len(absent) == 1 else "weren't"
            wrong.append(f"{', '.join(absent)} {verb} supplied.")
        for name, kind in schema.items():
            if name not in body:
                continue
            value, where = body[name], f"For 'properties/{name}', "
            if isinstance(kind, list):
                if value not in kind:
                    wrong.append(
                        f"{where}{_inspect(value)} is not a member of {_inspect(kind)}."
                    )
            elif not _fits(value, kind):
                wrong.append(f"{where}{_inspect(value)} is not {kind}.")
        if wrong:
            raise _Halt(422, "Invalid request.\n\n" + "\n".join(wrong), docs)
        return body

    def _issue(self, number: int, docs: str) -> dict[str, Any]:
        if number not in self._issues:
            raise _Halt(404, "Not Found", docs)
        return self._issues[number]

    def _held(self, issue: dict[str, Any], login: str, docs: str) -> None:
        if login not in [user["login"] for user in issue["assignees"]]:
            raise _Halt(403, f"Must be an assignee of issue #{issue['number']}.", docs)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        login, token = f"agent-{secrets.token_hex(4)}", "fba_" + secrets.token_hex(18)
        self._logins[token] = login
        agent = {"agent_id": login, "access_token": token, "credits": 100}
        return Response(200, {**agent, "type": "Bot"})

    def tasks(self, request: Request) -> Response:
        """List open issues; wrong numbers fall back to the defaults, as theirs do."""

        def number(name: str, default: int) -> int:
            raw = request.query.get(name, "")
            return int(raw) if raw.isdecimal() and int(raw) > 0 else default

        per_page = min(number("limit", number("per_page", 30)), 100)
        page = number("page", 1)
        free = [
            issue
            for issue in self._issues.values()
            if issue["state"] == "open" and not issue["assignees"]
        ]
        last = max(1, -(-len(free) // per_page))
        links, at = [], f"{request.base}{request.path}?limit={per_page}&page="
        if page > 1:
            links += [f'<{at}{page - 1}>; rel="prev"', f'<{at}1>; rel="first"']
        if page < last:
            links += [f'<{at}{page + 1}>; rel="next"', f'<{at}{last}>; rel="last"']
        headers = {"Link": ", ".join(links)} if links else {}
        return Response(200, free[(page - 1) * per_page : page * per_page], headers)

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        try:
            login = self._login(request, _ASSIGN)
            body = self._body(request, _ASSIGN)
            issue = self._issue(body["issue_number"], _ASSIGN)
            if not body["assignees"]:
                raise _invalid(_ASSIGN, "Issue", "assignees", "missing_field")
            for name in body["assignees"]:
                if name != login:
                    raise _invalid(_ASSIGN, "Issue", "assignees", "invalid", value=name)
            taken = [user["login"] for user in issue["assignees"]]
            if issue["state"] != "open" or (taken and login not in taken):
                message = "Issue is closed or already has an assignee"
                raise _invalid(_ASSIGN, "Issue", "assignees", "custom", message=message)
        except _Halt as halt:
            return halt.response
        if not taken:
            issue["assignees"] = [{"login": login, "type": "Bot"}]
            self.book.claimed(str(issue["number"]))
        return Response(200, issue)

    def submit(self, request: Request) -> Response:
        try:
            login = self._login(request, _COMMENT)
            body = self._body(request, _COMMENT)
            issue = self._issue(body["issue_number"], _COMMENT)
            self._held(issue, login, _COMMENT)
            if not body["body"].strip():
                raise _invalid(_COMMENT, "IssueComment", "body", "missing_field")
            if body["body"] != issue["body"].upper():
                message = "body is not the body of the issue in upper case"
                more = {"message": message}
                raise _invalid(_COMMENT, "IssueComment", "body", "custom", **more)
        except _Halt as halt:
            return halt.response
        comment = {
            "id": 1871000411 + 13 * len(self._comments),
            "issue_number": issue["number"],
            "body": body["body"],
            "user": {"login": login, "type": "Bot"},
            "created_at": "2026-02-12T10:00:00Z",
        }
        self._comments[comment["id"]] = comment
        issue["comments"] += 1
        return Response(200, comment)

    def complete(self, request: Request) -> Response:
        try:
            login = self._login(request, _UPDATE)
            body = self._body(request, _UPDATE)
            issue = self._issue(body["issue_number"], _UPDATE)
            self._held(issue, login, _UPDATE)
            comment = self._comments.get(body["comment_id"], {})
            if comment.get("issue_number") != issue["number"]:
                value = body["comment_id"]
                raise _invalid(_UPDATE, "Issue", "comment_id", "invalid", value=value)
            if body["state"] == "open":
                message = "An assignee can only close the issue"
                raise _invalid(_UPDATE, "Issue", "state", "custom", message=message)
        except _Halt as halt:
            return halt.response
        if issue["state"] == "open":
            issue |= {"state": "closed", "state_reason": "completed"}
            issue["closed_at"] = "2026-02-12T10:01:00Z"
            self.book.pay(str(issue["number"]), issue["bounty_credits"])
        return Response(200, issue)
