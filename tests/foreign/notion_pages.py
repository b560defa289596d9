"""A database of pages in the manner of Notion's API, with three endpoints of its own.

A page has typed properties (`title` and `rich_text` are lists of spans with a `plain_text`,
a status is a `select` with a name, the reward a `number`). Four pages at a time:
`has_more`, `next_cursor`, and `start_cursor` to ask with. Errors are objects with a code
and a message, one at a time.
"""

import secrets
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]

PAGES = (
    ("Postcard", "greetings from the windy pier", 4),
    ("Banner", "the parade begins at noon", 6),
    ("Recipe", "stir the oats with a spoon", 3),
    ("Label", "store this in a dry place", 5),
    ("Poster", "lost one small grey cat", 7),
    ("Menu", "the soup today is leek", 2),
)
SIZE = 4


@dataclass
class Page:
    id: str
    name: str
    text: str
    reward: int
    status: str = "Not started"
    worker: str = ""

    def shown(self) -> dict[str, object]:
        properties = {
            "Name": {"id": "title", "type": "title", "title": _spans(self.name)},
            "Text": {
                "id": "%3Fxa",
                "type": "rich_text",
                "rich_text": _spans(self.text),
            },
            "Reward": {"id": "q%40c", "type": "number", "number": self.reward},
            "Status": {"id": "Zb", "type": "select", "select": {"name": self.status}},
            "Worker": {
                "id": "w1",
                "type": "rich_text",
                "rich_text": _spans(self.worker),
            },
        }
        return {
            "object": "page",
            "id": self.id,
            "created_time": "2025-08-04T10:00:00.000Z",
            "archived": False,
            "properties": properties,
        }


def _spans(text: str) -> list[dict[str, object]]:
    if not text:
        return []
    return [{"type": "text", "text": {"content": text}, "plain_text": text}]


class RefusedError(Exception):
    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"object": "error", "status": status, "code": code}
        self.body["message"] = message

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


class NotionPages(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        open_ = [Page(str(uuid.uuid4()), *page) for page in PAGES]
        self._open = {page.id: page for page in open_}
        old = [
            Page(str(uuid.uuid4()), "Sign", "wet paint", 3, "Done", "ada"),
            Page(str(uuid.uuid4()), "Card", "get well", 2, "In progress", "ada"),
        ]
        self._pages = {page.id: page for page in [*old, *open_]}

    def texts(self) -> dict[str, str]:
        return {page.id: page.text for page in self._open.values()}

    def missing(self, request: Request) -> Response:
        return RefusedError(400, "invalid_request_url", "Invalid URL.").response()

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), "ntn_" + secrets.token_hex(22)
        self._agents[token] = agent
        bot = {"owner": {"type": "workspace"}, "credits": 100}
        answer = {"object": "user", "id": agent, "type": "bot", "bot": bot}
        return Response(200, answer | {"access_token": token})

    @telling
    def tasks(self, request: Request) -> Response:
        if request.token not in self._agents:
            raise RefusedError(401, "unauthorized", "API token is invalid.")
        pages = [*self._pages.values()]
        cursor = request.query.get("start_cursor", pages[0].id)
        if cursor not in self._pages:
            raise RefusedError(400, "validation_error", "start_cursor is invalid.")
        start = [page.id for page in pages].index(cursor)
        after = pages[start + SIZE :]
        body = {
            "object": "list",
            "results": [page.shown() for page in pages[start : start + SIZE]],
            "has_more": bool(after),
            "next_cursor": after[0].id if after else None,
            "type": "page_or_database",
        }
        return Response(200, body)

    @telling
    def claim(self, request: Request) -> Response:
        agent, page, _ = self._read(request)
        if page.status != "Not started":
            raise RefusedError(409, "conflict_error", "This page is taken.")
        page.status, page.worker = "In progress", agent
        self.book.claimed(page.id)
        return Response(200, page.shown())

    @telling
    def submit(self, request: Request) -> Response:
        agent, page, given = self._read(request, "result")
        self._check(agent, page, "In progress")
        if given["result"] != page.text.upper():
            raise RefusedError(400, "validation_error", "The result is not right.")
        page.status = "Delivered"
        return Response(200, page.shown())

    @telling
    def complete(self, request: Request) -> Response:
        agent, page, _ = self._read(request)
        self._check(agent, page, "Delivered")
        page.status = "Done"
        self.book.pay(page.id, page.reward)
        return Response(200, page.shown())

    def _check(self, agent: str, page: Page, status: str) -> None:
        if page.worker != agent:
            raise RefusedError(403, "restricted_resource", "This page is not yours.")
        if page.status != status:
            raise RefusedError(409, "conflict_error", f"The page is {page.status}.")

    def _read(self, request: Request, *more: str) -> tuple[str, Page, dict[str, str]]:
        if request.token not in self._agents:
            raise RefusedError(401, "unauthorized", "API token is invalid.")
        try:
            given = request.json()
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise RefusedError(400, "invalid_json", "Error parsing JSON body.")
        for name in ("page_id", *more):
            if not isinstance(given.get(name), str):
                why = f"body failed validation: body.{name} should be defined, instead"
                raise RefusedError(400, "validation_error", f"{why} was `undefined`.")
        page = self._pages.get(given["page_id"])
        if page is None:
            raise RefusedError(404, "object_not_found", "Could not find the page.")
        return self._agents[request.token], page, given
