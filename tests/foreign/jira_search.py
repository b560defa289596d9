"""Issues as Jira Cloud's search answers them, with bounties in a custom field.

An issue's text is a document (nodes of nodes with texts at their leaves), its bounty a
field called `customfield_10042`, which only `names` explains, and its state an object with
a category. Pages are asked for by `startAt`. A claim is answered 204, as an assignment is.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]
PER_PAGE = 5
ROWS = (
    (14, "Banner", "the new season starts today", 5),
    (15, "Footer", "all prices include shipping", 3),
    (17, "Sidebar", "ask us about large orders", 8),
    (18, "Newsletter", "we moved to a bigger house", 4),
    (21, "Help page", "turn it off and on again", 6),
    (22, "Login", "your password is too short", 2),
    (25, "Error page", "this page went for a walk", 7),
)
TO_DO, DOING, DONE = "To Do", "In Progress", "Done"
STATES = {
    TO_DO: ("10000", {"id": 2, "key": "new", "colorName": "blue-gray"}),
    DOING: ("10001", {"id": 4, "key": "indeterminate", "colorName": "yellow"}),
    DONE: ("10002", {"id": 3, "key": "done", "colorName": "green"}),
}
NAMES = {
    "summary": "Summary",
    "description": "Description",
    "status": "Status",
    "assignee": "Assignee",
    "created": "Created",
    "customfield_10019": "Rank",
    "customfield_10042": "Bounty (credits)",
}


@dataclass
class Issue:
    number: int
    summary: str
    text: str
    bounty: int
    status: str = TO_DO
    assignee: str = ""
    answer: str = ""

    @property
    def key(self) -> str:
        return f"COPY-{self.number}"

    def shown(self, base: str) -> dict[str, object]:
        state, category = STATES[self.status]
        words = [{"type": "text", "text": self.text}]
        return {
            "expand": "operations,versionedRepresentations,editmeta,changelog",
            "id": str(10300 + self.number),
            "self": f"{base}/rest/api/3/issue/{10300 + self.number}",
            "key": self.key,
            "fields": {
                "summary": self.summary,
                "description": {
                    "type": "doc",
                    "version": 1,
                    "content": [{"type": "paragraph", "content": words}],
                },
                "status": {
                    "self": f"{base}/rest/api/3/status/{state}",
                    "name": self.status,
                    "id": state,
                    "statusCategory": {**category, "name": self.status},
                },
                "issuetype": {"id": "10004", "name": "Task", "subtask": False},
                "assignee": {"accountId": self.assignee} if self.assignee else None,
                "created": "2026-09-30T11:20:05.000+0200",
                "customfield_10019": f"0|i000{self.number}:",
                "customfield_10042": float(self.bounty),
            },
        }


class JiraError(Exception):
    def __init__(self, status: int, *messages: str, **errors: str) -> None:
        super().__init__(*messages)
        self.response = Response(
            status, {"errorMessages": list(messages), "errors": errors}
        )


def telling(action: Action) -> Action:
    """Answer with the errors where the action raises some."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except JiraError as no:
            return no.response

    return answer


class JiraSearch(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        self._comments = 20100
        open_ = [Issue(*row) for row in ROWS]
        self._open = {issue.key: issue for issue in open_}
        old = [
            Issue(12, "Logo", "a bigger logo", 9, DONE, "5b10a2"),
            Issue(16, "Icon", "a smaller icon", 8, DOING, "5b10a2"),
        ]
        all_ = sorted([*open_, *old], key=lambda issue: issue.number)
        self._issues = {issue.key: issue for issue in all_}

    def texts(self) -> dict[str, str]:
        return {issue.key: issue.text for issue in self._open.values()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = secrets.token_hex(12), "ATATT3x" + secrets.token_urlsafe(30)
        self._agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        start = int(request.query.get("startAt", "0"))
        count = min(int(request.query.get("maxResults", PER_PAGE)), PER_PAGE)
        page = list(self._issues.values())[start : start + count]
        found = {
            "expand": "schema,names",
            "startAt": start,
            "maxResults": count,
            "total": len(self._issues),
            "issues": [issue.shown(request.base) for issue in page],
            "names": NAMES,
        }
        return Response(200, found)

    @telling
    def claim(self, request: Request) -> Response:
        agent, issue, _ = self._read(request)
        if issue.status != TO_DO:
            raise JiraError(409, f"Issue {issue.key} is {issue.status}.")
        issue.assignee, issue.status = agent, DOING
        self.book.claimed(issue.key)
        return Response(204)

    @telling
    def submit(self, request: Request) -> Response:
        agent, issue, given = self._read(request, "comment")
        self._own(agent, issue)
        if given["comment"] != issue.text.upper():
            raise JiraError(400, comment="The comment is not the text in capitals.")
        issue.answer = given["comment"]
        self._comments += 1
        comment = {"id": str(self._comments), "author": {"accountId": agent}}
        return Response(201, {**comment, "body": issue.answer, "jsdPublic": True})

    @telling
    def complete(self, request: Request) -> Response:
        agent, issue, _ = self._read(request)
        self._own(agent, issue)
        if not issue.answer:
            raise JiraError(409, "It seems that there is no comment yet.")
        issue.status = DONE
        self.book.pay(issue.key, issue.bounty)
        return Response(204)

    def _own(self, agent: str, issue: Issue) -> None:
        if issue.assignee != agent or issue.status != DOING:
            raise JiraError(403, "You do not have permission to edit this issue.")

    def _read(self, request: Request, *more: str) -> tuple[str, Issue, dict[str, Any]]:
        if request.token not in self._agents:
            raise JiraError(
                401, "Client must be authenticated to access this resource."
            )
        try:
            given = request.json()
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise JiraError(400, "Invalid request payload.")
        wanted = ("issueIdOrKey", *more)
        empty = [name for name in wanted if not isinstance(given.get(name), str)]
        if empty:
            raise JiraError(400, **{name: f"{name} is required." for name in empty})
        wanted_issue = given["issueIdOrKey"]
        for issue in self._issues.values():
            if wanted_issue in {issue.key, str(10300 + issue.number)}:
                return self._agents[request.token], issue, given
        raise JiraError(404, "Issue does not exist or you cannot see it.")
