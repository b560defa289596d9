"""A search index in the manner of Elasticsearch: the listing is the answer to a query.

A hit has an `_id`, its document is the `_source`, and ten hits are a page: `from` says
where the next begins, and only the total says that there is one. The reward is nested, the
state a small code with a label. The actions are scripts, which answer with what an update
of a document answers: a version and "updated", or "noop".
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]
PER_PAGE = 10
TEXTS = (
    "the index is warm again",
    "shards travel by night",
    "a query walks into a bar",
    "the cluster turned yellow",
    "replicas dream of primaries",
    "merge before you measure",
    "the heap is half full",
    "tokens fall like rain",
    "stop words never stop",
    "a refresh takes a second",
    "the mapping is explicit",
    "scroll down to the end",
)
STATES = {10: "open", 20: "in work", 30: "delivered", 40: "paid"}


@dataclass
class Doc:
    text: str
    credits: int
    code: int = 10
    agent: str | None = None
    version: int = 1
    id: str = field(default_factory=lambda: secrets.token_urlsafe(15))

    def hit(self) -> dict[str, object]:
        return {
            "_index": "tasks-000004",
            "_id": self.id,
            "_score": None,
            "_source": {
                "@timestamp": "2026-11-01T06:30:00.000Z",
                "content": {"text": self.text, "language": "en"},
                "reward": {"value": self.credits, "unit": "credits"},
                "state": {"code": self.code, "label": STATES[self.code]},
                "assigned": {"agent": self.agent} if self.agent else None,
            },
            "sort": [1793514600000],
        }


class SearchError(Exception):
    def __init__(self, status: int, kind: str, reason: str) -> None:
        super().__init__(reason)
        cause = {"type": kind, "reason": reason}
        error = {"root_cause": [cause], **cause}
        self.response = Response(status, {"error": error, "status": status})


def telling(action: Action) -> Action:
    """Answer with the exception where the action raises one."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except SearchError as no:
            return no.response

    return answer


class SearchHits(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        open_ = [Doc(text, at % 5 + 2) for at, text in enumerate(TEXTS)]
        self._open = {doc.id: doc for doc in open_}
        old = [Doc("an old thing", 3, 40, "a0"), Doc("a taken thing", 4, 20, "a0")]
        self._docs = {doc.id: doc for doc in [*old, *open_]}

    def texts(self) -> dict[str, str]:
        return {doc.id: doc.text for doc in self._open.values()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"a{self.book.registrations}", secrets.token_urlsafe(24)
        self._agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        start = int(request.query.get("from", "0"))
        hits = [doc.hit() for doc in self._docs.values()][start : start + PER_PAGE]
        total = {"value": len(self._docs), "relation": "eq"}
        shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
        about = {"took": 2, "timed_out": False, "_shards": shards}
        found = {"total": total, "max_score": None, "hits": hits}
        return Response(200, {**about, "hits": found})

    @telling
    def claim(self, request: Request) -> Response:
        agent, doc, _ = self._read(request)
        if doc.code != 10:
            told = f"[{doc.id}]: version conflict, state is [{STATES[doc.code]}]"
            raise SearchError(409, "version_conflict_engine_exception", told)
        doc.agent = agent
        self.book.claimed(doc.id)
        return self._updated(doc, 20)

    @telling
    def submit(self, request: Request) -> Response:
        agent, doc, given = self._read(request, "answer")
        self._own(agent, doc, 20)
        if given["answer"] != doc.text.upper():
            raise SearchError(422, "script_exception", "[answer] is not in capitals")
        return self._updated(doc, 30)

    @telling
    def complete(self, request: Request) -> Response:
        agent, doc, _ = self._read(request)
        self._own(agent, doc, 30)
        self.book.pay(doc.id, doc.credits)
        return self._updated(doc, 40)

    def _updated(self, doc: Doc, code: int) -> Response:
        doc.code, doc.version = code, doc.version + 1
        shards = {"total": 2, "successful": 1, "failed": 0}
        about = {"_index": "tasks-000004", "_id": doc.id, "_version": doc.version}
        return Response(200, {**about, "result": "updated", "_shards": shards})

    def _own(self, agent: str, doc: Doc, code: int) -> None:
        if doc.agent != agent or doc.code != code:
            told = f"[{doc.id}]: version conflict, state is [{STATES[doc.code]}]"
            raise SearchError(409, "version_conflict_engine_exception", told)

    def _read(self, request: Request, *more: str) -> tuple[str, Doc, dict[str, str]]:
        if request.token not in self._agents:
            told = "missing authentication credentials for REST request"
            raise SearchError(401, "security_exception", told)
        try:
            given = request.json()
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise SearchError(400, "parse_exception", "request body is not an object")
        for name in ("id", *more):
            if not isinstance(given.get(name), str):
                told = f"Required [{name}]"
                raise SearchError(400, "x_content_parse_exception", told)
        doc = self._docs.get(given["id"])
        if doc is None:
            told = f"[{given['id']}]: document missing"
            raise SearchError(404, "document_missing_exception", told)
        return self._agents[request.token], doc, given
