"""Python Eve over MongoDB: underscored envelopes and Cerberus's two-word verdicts.

A refusal is {"_status": "ERR", "_issues": {"task": "required field"}}, an answer has _id,
_etag and _status beside what was stored. References are called after what they refer to.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

HERBS = (
    "thyme grows between the flagstones",
    "the sage forgot his own advice",
    "rosemary keeps the gate open",
    "mint has annexed the border",
    "basil sulks in the north window",
    "the parsley went to seed in june",
    "chives stand in line for the rain",
)
PAGE = 3


class EveCerberus(Backend):
    """Seven herbs."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, dict[str, Any]] = {}
        for n, herb in enumerate(HERBS):
            key = secrets.token_hex(12)
            self.rows[key] = {
                "_id": key,
                "brief": herb,
                "credits": n % 4 + 1,
                "state": "open",
                "_updated": "Tue, 03 Nov 2026 09:00:00 GMT",
                "_created": "Tue, 03 Nov 2026 09:00:00 GMT",
                "_etag": secrets.token_hex(20),
            }
        self.claims: dict[str, dict[str, Any]] = {}
        self.agents: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {key: row["brief"] for key, row in self.rows.items()}

    def no(self, status: int, message: str, **more: Any) -> Response:
        error = {"code": status, "message": message}
        return Response(status, {"_status": "ERR", **more, "_error": error})

    def missing(self, request: Request) -> Response:
        return self.no(404, "The requested URL was not found on the server.")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(24)
        self.agents.add(token)
        agent = secrets.token_hex(12)
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        found = [row for row in self.rows.values() if row["state"] == "open"]
        page = int(request.query.get("page", "1") or 1)
        links: dict[str, Any] = {"self": {"title": "tasks", "href": "tasks"}}
        if page * PAGE < len(found):
            path = request.path.lstrip("/")
            links["next"] = {"title": "next page", "href": f"{path}?page={page + 1}"}
        return Response(
            200,
            {
                "_items": found[(page - 1) * PAGE : page * PAGE],
                "_links": links,
                "_meta": {"page": page, "max_results": PAGE, "total": len(found)},
            },
        )

    def validated(
        self, request: Request, *names: str
    ) -> tuple[Response | None, dict[str, Any]]:
        """Return a refusal, or the document."""
        if request.token not in self.agents:
            return self.no(401, "Please provide proper credentials"), {}
        try:
            body = request.json()
        except ValueError:
            return self.no(
                400, "The browser sent a request that was not understood"
            ), {}
        body = body if isinstance(body, dict) else {}
        issues = {name: "required field" for name in names if name not in body}
        issues |= {name: "unknown field" for name in body if name not in names}
        for name in names:
            if name not in issues and not isinstance(body[name], str):
                issues[name] = "must be of string type"
        if issues:
            words = "Insertion failure: 1 document(s) contain(s) error(s)"
            return self.no(422, words, _issues=issues), {}
        return None, body

    def stored(self, document: dict[str, Any], status: int = 201) -> Response:
        return Response(status, document | {"_status": "OK"})

    def claim(self, request: Request) -> Response:
        refusal, body = self.validated(request, "task")
        if refusal:
            return refusal
        row = self.rows.get(body["task"])
        if row is None:
            return self.no(404, "No such task.")
        if row["state"] != "open":
            return self.no(409, "The task is taken.")
        row["state"] = "taken"
        key = secrets.token_hex(12)
        self.claims[key] = {"_id": key, "task": row["_id"], "state": "active"}
        self.claims[key]["_etag"] = secrets.token_hex(20)
        self.book.claimed(row["_id"])
        return self.stored(self.claims[key])

    def submit(self, request: Request) -> Response:
        refusal, body = self.validated(request, "claim", "output")
        if refusal:
            return refusal
        claim = self.claims.get(body["claim"])
        if claim is None:
            return self.no(404, "No such claim.")
        if body["output"] != self.rows[claim["task"]]["brief"].upper():
            return self.no(400, "The output was rejected.")
        claim["state"] = "delivered"
        return self.stored(claim)

    def complete(self, request: Request) -> Response:
        refusal, body = self.validated(request, "claim")
        if refusal:
            return refusal
        claim = self.claims.get(body["claim"])
        if claim is None:
            return self.no(404, "No such claim.")
        row = self.rows[claim["task"]]
        if claim["state"] == "delivered":
            claim["state"] = row["state"] = "settled"
            self.book.pay(row["_id"], row["credits"])
        elif claim["state"] != "settled":
            return self.no(409, "Nothing was delivered.")
        return self.stored(claim | {"credits": row["credits"]})
