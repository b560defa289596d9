"""Pigeonhole: a store of job documents. A claim writes oneself into the owner field.

In the manner of CouchDB: `_id` and `_rev`, rows of a view, `{"error", "reason"}`, and
update functions that merge the posted members into the document, then validate it.
"""

import hashlib
import json
import re
import secrets
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_READ_ONLY = ("type", "title", "ask", "passage", "pays", "history")
_JOBS = [
    ("tram-stop", "Tram stop board", "the next tram leaves in four minutes", 10),
    ("seed-packet", "Seed packet front", "sweet william, mixed colours", 5),
    ("film-card", "Silent film card", "meanwhile, at the lighthouse", 16),
    ("van-door", "Lettering for a van", "hollis and daughter, chimney sweeps", 24),
    ("jar-lid", "Jam jar lid", "quince 2023", 4),
    ("trophy", "Engraving for a cup", "best in show, long-haired rabbits", 21),
    ("kiosk", "Kiosk shutter", "back in ten minutes", 7),
    ("ticket", "Raffle ticket", "not transferable, keep this half", 13),
]


class _Stop(Exception):  # noqa: N818
    def __init__(self, status: int, error: str, reason: str) -> None:
        super().__init__(reason)
        self.answer = Response(status, {"error": error, "reason": reason})


def _forbidden(reason: str) -> _Stop:
    return _Stop(403, "forbidden", reason)


class Pigeonhole(Backend):
    """A database of jobs, each a document with an owner, a status and a history."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}  # token -> agent
        self._docs: dict[str, dict[str, Any]] = {}
        for slug, title, passage, pays in _JOBS:
            doc = {
                "_id": f"job:{slug}",
                "_rev": "",
                "type": "job",
                "title": title,
                "ask": "Write the passage in capitals as the output.",
                "passage": passage,
                "pays": pays,
                "owner": None,
                "status": "open",
                "history": [],
            }
            self._save(doc, "pigeonhole")

    def texts(self) -> dict[str, str]:
        return {key: doc["passage"] for key, doc in self._docs.items()}

    def handle(self, request: Request) -> Response:
        answer = super().handle(request)
        answer.headers["X-Couch-Request-ID"] = secrets.token_hex(5)
        return answer

    def missing(self, request: Request) -> Response:
        return Response(404, {"error": "not_found", "reason": "missing"})

    def register(self, request: Request) -> Response:
        agent, token = "clerk-" + secrets.token_hex(4), secrets.token_hex(24)
        self._agents[token] = agent
        self.book.registrations += 1
        return Response(body={"agent_id": agent, "access_token": token, "credits": 100})

    def marketplace(self, request: Request) -> Response:
        """Answer with a view of the open documents, for anyone."""
        return self._view(request, lambda doc: doc["status"] == "open")

    def tasks(self, request: Request) -> Response:
        """Answer with a view of the documents that are open or one's own."""
        try:
            agent = self._agent(request)
        except _Stop as stop:
            return stop.answer
        return self._view(
            request, lambda doc: doc["status"] == "open" or doc["owner"] == agent
        )

    def claim(self, request: Request) -> Response:
        def check(old: dict[str, Any], new: dict[str, Any], agent: str) -> None:
            if old["status"] != "open":
                raise _forbidden(
                    f"Document is {old['status']}, only an open one can be claimed."
                )
            if new["owner"] != agent:
                raise _forbidden("owner must be the agent_id of the agent that claims.")
            if new["status"] != "assigned":
                raise _forbidden("status of a claimed document must be 'assigned'.")

        answer = self._update(request, check)
        if not answer.is_refusal:
            self.book.claimed(answer.body["id"])
        return answer

    def submit(self, request: Request) -> Response:
        def check(old: dict[str, Any], new: dict[str, Any], agent: str) -> None:
            self._owned(old, new, agent)
            if old["status"] not in ("assigned", "delivered"):
                raise _forbidden(f"Document is {old['status']}, it takes no output.")
            if not isinstance(new.get("output"), str) or not new["output"]:
                raise _forbidden("Document must have an output, a non-empty string.")
            if new["status"] != "delivered":
                raise _forbidden(
                    "status of a document with an output must be 'delivered'."
                )

        return self._update(request, check)

    def complete(self, request: Request) -> Response:
        def check(old: dict[str, Any], new: dict[str, Any], agent: str) -> None:
            self._owned(old, new, agent)
            if old["status"] != "delivered":
                raise _forbidden(
                    f"Document is {old['status']}, only a delivered one can be closed."
                )
            if new["status"] != "closed":
                raise _forbidden("status of a completed document must be 'closed'.")
            if new.get("output") != old["output"]:
                raise _forbidden("output may not be changed on completion.")
            if new["output"] != old["passage"].upper():
                raise _forbidden(
                    "output is not what the document asks for. "
                    "It may be submitted again while the document is delivered."
                )

        answer = self._update(request, check)
        if not answer.is_refusal:
            doc = self._docs[answer.body["id"]]
            self.book.pay(doc["_id"], doc["pays"])
            answer.body["paid"] = doc["pays"]
        return answer

    def _agent(self, request: Request) -> str:
        if not request.token:
            raise _Stop(
                401, "unauthorized", "You are not authorized to access this db."
            )
        if request.token not in self._agents:
            raise _Stop(401, "unauthorized", "Token is not known.")
        return self._agents[request.token]

    def _owned(self, old: dict[str, Any], new: dict[str, Any], agent: str) -> None:
        if old["owner"] != agent:
            raise _forbidden("Only the owner may update this document.")
        if new["owner"] != agent:
            raise _forbidden("owner may not be changed.")

    def _update(self, request: Request, check: Any) -> Response:  # noqa: PLR0915
        try:
            agent = self._agent(request)
            if "application/json" not in (request.headers.get("Content-Type") or ""):
                raise _Stop(
                    415, "bad_content_type", "Content-Type must be application/json"
                )
            try:
                given = request.json()
            except ValueError:
                raise _Stop(400, "bad_request", "invalid UTF-8 JSON") from None
            if not isinstance(given, dict):
                raise _Stop(400, "bad_request", "Document must be a JSON object")
            key = given.get("_id", "")
            if not isinstance(key, str):
                raise _Stop(400, "illegal_docid", "Document id must be a string")
            if not key:
                raise _Stop(400, "illegal_docid", "Document id (_id) must not be empty")
            for name in given:
                if name.startswith("_") and name not in ("_id", "_rev"):
                    reason = f"Bad special document member: {name}"
                    raise _Stop(400, "doc_validation", reason)
            old = self._docs.get(key)
            if old is None:
                raise _Stop(404, "not_found", "missing")
            rev = given.get("_rev") or (request.headers.get("If-Match") or "").strip(
                '"'
            )
            if rev and not re.fullmatch(r"\d+-[0-9a-f]{32}", str(rev)):
                raise _Stop(400, "bad_request", "Invalid rev format")
            if rev != old["_rev"]:
                raise _Stop(409, "conflict", "Document update conflict.")
            new = {**old, **given, "_rev": rev}
            for name in _READ_ONLY:
                if new[name] != old[name]:
                    raise _forbidden(f"{name} may not be changed.")
            check(old, new, agent)
        except _Stop as stop:
            return stop.answer
        self._save(new, agent)
        rev = new["_rev"]
        return Response(
            body={"ok": True, "id": key, "rev": rev}, headers={"ETag": f'"{rev}"'}
        )

    def _save(self, doc: dict[str, Any], by: str) -> None:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        doc["history"] = [
            *doc["history"],
            {"at": now, "by": by, "status": doc["status"]},
        ]
        count = int(doc["_rev"].partition("-")[0] or 0) + 1
        digest = hashlib.md5(json.dumps(doc).encode()).hexdigest()  # noqa: S324
        doc["_rev"] = f"{count}-{digest}"
        self._docs[doc["_id"]] = doc

    def _view(self, request: Request, wanted: Any) -> Response:
        numbers = {"limit": 25, "skip": 0}
        for name in numbers:  # noqa: PLC0206
            value = request.query.get(name, str(numbers[name]))
            if not re.fullmatch(r"-?\d+", value):
                reason = f"Invalid value for integer: {json.dumps(value)}"
                return Response(400, {"error": "query_parse_error", "reason": reason})
            if int(value) < 0:
                reason = f"Invalid value for positive integer: {json.dumps(value)}"
                return Response(400, {"error": "query_parse_error", "reason": reason})
            numbers[name] = int(value)
        docs = sorted(
            (d for d in self._docs.values() if wanted(d)), key=lambda d: d["_id"]
        )
        first = numbers["skip"]
        rows = [
            {
                "id": doc["_id"],
                "key": doc["status"],
                "value": {"rev": doc["_rev"]},
                "doc": doc,
            }
            for doc in docs[first : first + numbers["limit"]]
        ]
        return Response(body={"total_rows": len(docs), "offset": first, "rows": rows})
