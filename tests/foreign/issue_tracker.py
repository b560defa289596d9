"""Bounties on an issue tracker in the manner of GitHub's REST API.

An issue is a number within a repository, so `repo` and `number` name it together, and the
numbers repeat. The listing is a bare array with all states, paged by `Link`, with an ETag
and X-RateLimit headers; `number` is an integer wherever it stands. Fewer than a few dozen
requests a minute are allowed, and too many are told to come back.
"""

import hashlib
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]
ISSUES = (
    ("acme/site", 14, "Wrong title", "welcome to our new shop", 5),
    ("acme/site", 17, "Footer", "made with care in leeds", 3),
    ("acme/docs", 14, "First page", "start with the small wheel", 6),
    ("acme/docs", 15, "Second page", "turn the handle twice", 2),
    ("acme/docs", 17, "Last page", "ask a friend for help", 4),
    ("acme/tool", 15, "Banner", "this tool bites so be careful", 7),
    ("acme/tool", 16, "Prompt", "shall we begin again", 5),
)
PER_PAGE = 4
PATH = "/functions/v1/get-marketplace-tasks"
# A minute of this service is short, so that a test need not wait for one.
WINDOW_SECONDS, REQUESTS = 10, 40


@dataclass
class Issue:
    repo: str
    number: int
    title: str
    body: str
    bounty: int
    state: str = "open"
    assignee: str | None = None
    answer: str = ""

    @property
    def name(self) -> str:
        return f"{self.repo}#{self.number}"

    def shown(self) -> dict[str, object]:
        assignee = {"login": self.assignee, "type": "Bot"} if self.assignee else None
        return {
            "repo": self.repo,
            "number": self.number,
            "state": self.state,
            "title": self.title,
            "body": self.body,
            "labels": [{"name": "uppercase", "color": "0e8a16"}],
            "assignee": assignee,
            "bounty": {"credits": self.bounty, "paid": self.state == "closed"},
            "created_at": "2025-07-11T14:02:55Z",
        }


class RefusedError(Exception):
    def __init__(self, status: int, message: str, *errors: dict[str, str]) -> None:
        super().__init__(message)
        self.status, self.body = status, {"message": message}
        if errors:
            self.body["errors"] = list(errors)  # type: ignore[assignment]

    def response(self) -> Response:
        return Response(self.status, self.body)


def telling(action: Action) -> Action:
    """Answer with the refusal where the action raises one."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except RefusedError as no:
            return no.response()

    return answer


class IssueTracker(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        self._window, self._left = 0.0, REQUESTS
        open_ = [Issue(*issue) for issue in ISSUES]
        self._open = {issue.name: issue for issue in open_}
        mary = [
            Issue("acme/site", 12, "Logo", "a bigger logo", 9, "closed", "mary"),
            Issue("acme/tool", 14, "Icon", "a smaller icon", 8, "open", "mary"),
        ]
        all_ = sorted([*open_, *mary], key=lambda issue: (issue.number, issue.repo))
        self._issues = {issue.name: issue for issue in all_}

    def texts(self) -> dict[str, str]:
        return {issue.name: issue.body for issue in self._open.values()}

    def handle(self, request: Request) -> Response:
        answer = super().handle(request)
        answer.headers |= {
            "X-RateLimit-Limit": str(REQUESTS),
            "X-RateLimit-Remaining": str(max(self._left, 0)),
            "X-RateLimit-Reset": str(int(time.time() + self._wait()) + 1),
        }
        return answer

    def missing(self, request: Request) -> Response:
        return RefusedError(404, "Not Found").response()

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"bot-{secrets.token_hex(3)}", "ghs_" + secrets.token_hex(18)
        self._agents[token] = agent
        answer = {"agent_id": agent, "access_token": token, "credits": 100}
        return Response(200, answer)

    def tasks(self, request: Request) -> Response:
        if self._spend():
            return self._slow_down()
        page = int(request.query.get("page", "1"))
        all_ = list(self._issues.values())
        shown = [one.shown() for one in all_[(page - 1) * PER_PAGE : page * PER_PAGE]]
        tag = '"' + hashlib.sha256(json.dumps(shown).encode()).hexdigest() + '"'
        headers = {"ETag": tag, "Cache-Control": "private, max-age=0"}
        if page * PER_PAGE < len(all_):
            last = -(-len(all_) // PER_PAGE)
            base = f"{request.base}{PATH}"
            headers["Link"] = (
                f'<{base}?page={page + 1}>; rel="next", <{base}?page={last}>; rel="last"'
            )
        if request.headers.get("If-None-Match") == tag:
            return Response(304, b"", headers)
        return Response(200, shown, headers)

    @telling
    def claim(self, request: Request) -> Response:
        agent, issue, _ = self._read(request)
        if issue.assignee or issue.state != "open":
            raise RefusedError(409, "Issue is already assigned or closed")
        issue.assignee = agent
        self.book.claimed(issue.name)
        return Response(201, issue.shown())

    @telling
    def submit(self, request: Request) -> Response:
        agent, issue, given = self._read(request, "body")
        self._check(agent, issue)
        if given["body"] != issue.body.upper():
            told = {"resource": "Answer", "field": "body", "code": "invalid"}
            raise RefusedError(422, "Validation Failed", told)
        issue.answer = str(given["body"])
        return Response(201, {"id": 7_000_000 + issue.number, "body": issue.answer})

    @telling
    def complete(self, request: Request) -> Response:
        agent, issue, _ = self._read(request)
        self._check(agent, issue)
        if not issue.answer:
            raise RefusedError(409, "There is no answer yet")
        issue.state = "closed"
        self.book.pay(issue.name, issue.bounty)
        return Response(200, issue.shown())

    def _check(self, agent: str, issue: Issue) -> None:
        if issue.assignee != agent:
            raise RefusedError(403, "You are not assigned to this issue")
        if issue.state != "open":
            raise RefusedError(409, "Issue is closed")

    def _wait(self) -> float:
        return max(0.0, self._window - time.time())

    def _spend(self) -> bool:
        """Count a request and return whether it was one too many."""
        if not self._wait():
            self._window, self._left = time.time() + WINDOW_SECONDS, REQUESTS
        self._left -= 1
        return self._left < 0

    def _slow_down(self) -> Response:
        message = {"message": "API rate limit exceeded. Please wait a little."}
        return Response(429, message, {"Retry-After": str(int(self._wait()) + 1)})

    def _read(
        self, request: Request, *more: str
    ) -> tuple[str, Issue, dict[str, object]]:
        if request.token not in self._agents:
            raise RefusedError(401, "Bad credentials")
        try:
            given = request.json()
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise RefusedError(400, "Problems parsing JSON")
        kinds = {"repo": str, "number": int, **dict.fromkeys(more, str)}
        faults = [
            {
                "resource": "Issue",
                "field": name,
                "code": "invalid" if name in given else "missing_field",
            }
            for name, kind in kinds.items()
            if not isinstance(given.get(name), kind)
        ]
        if faults:
            raise RefusedError(422, "Validation Failed", *faults)
        issue = self._issues.get(f"{given['repo']}#{given['number']}")
        if issue is None:
            raise RefusedError(404, "Not Found")
        return self._agents[request.token], issue, given
