"""FastAPI with Pydantic v2: a discriminated union of results, and fastapi-pagination.

A union's tag is a part of the place of a fault (`body`, `result`, `text`, `text`), and a
missing tag is told about the whole. Unknown fields are ignored. Whoever claims names the
agent; whatever follows shows the claim's token. A result is looked at for a while: until
then completing answers 200 with `in_review`, and the same request later pays.
"""

import secrets
import time
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]
PROMPTS = (
    "the pond froze over on tuesday",
    "a comet passes every ninth year",
    "hang the wet coats by the stove",
    "the tailor lost his smallest thimble",
    "snow plows start at four",
    "choose a pumpkin that rings hollow",
    "the bridge hums in a west wind",
    "write home once the kettle boils",
)
REVIEW_SECONDS = 2.0
SIZE = 3
VARIANTS = {"text": "text", "json": "data", "file": "url"}
TAGS = ", ".join(f"'{one}'" for one in VARIANTS)


class HTTPError(Exception):
    def __init__(self, status: int, detail: Any) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


def fault(kind: str, message: str, value: Any, *loc: str, **ctx: str) -> Json:
    found: Json = {"type": kind, "loc": ["body", *loc], "msg": message, "input": value}
    return found | ({"ctx": ctx} if ctx else {})


def integer(body: Json, *loc: str) -> list[Json]:
    value = body[loc[-1]]
    if isinstance(value, int):
        return []
    if isinstance(value, str) and value.isdecimal():
        body[loc[-1]] = int(value)
        return []
    if isinstance(value, str):
        told = "Input should be a valid integer, unable to parse string as an integer"
        return [fault("int_parsing", told, value, *loc)]
    return [fault("int_type", "Input should be a valid integer", value, *loc)]


def string(body: Json, *loc: str) -> list[Json]:
    if isinstance(body[loc[-1]], str):
        return []
    told = "Input should be a valid string"
    return [fault("string_type", told, body[loc[-1]], *loc)]


def union(body: Json, *loc: str) -> list[Json]:
    value = body[loc[-1]]
    if not isinstance(value, dict):
        told = "Input should be a valid dictionary or object to extract fields from"
        return [fault("model_attributes_type", told, value, *loc)]
    if "kind" not in value:
        told = "Unable to extract tag using discriminator 'kind'"
        return [fault("union_tag_not_found", told, value, *loc, discriminator="'kind'")]
    tag = str(value["kind"])
    if tag not in VARIANTS:
        told = (
            f"Input tag '{tag}' found using 'kind' does not match any of the "
            f"expected tags: {TAGS}"
        )
        ctx = {"discriminator": "'kind'", "tag": tag, "expected_tags": TAGS}
        return [fault("union_tag_invalid", told, value, *loc, **ctx)]
    name = VARIANTS[tag]
    if name not in value:
        return [fault("missing", "Field required", value, *loc, tag, name)]
    return string(value, *loc, tag, name) if name != "data" else []


def validated(request: Request, **model: Callable[..., list[Json]]) -> Json:
    try:
        body = request.json()
    except ValueError as no:
        broken = fault("json_invalid", "JSON decode error", {}, "0", error=str(no))
        raise HTTPError(422, [broken]) from None
    if not isinstance(body, dict):
        told = "Input should be a valid dictionary or object to extract fields from"
        raise HTTPError(422, [fault("model_attributes_type", told, body)])
    found: list[Json] = []
    for name, check in model.items():
        if name not in body:
            found.append(fault("missing", "Field required", body, name))
        else:
            found += check(body, name)
    if found:
        raise HTTPError(422, found)
    return body


class FastapiUnion(Backend):
    """Eight jobs in SQLModel."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, str] = {}
        self.submitted: dict[int, float] = {}
        self.claims: dict[int, str] = {}
        self.rows: dict[int, Json] = {
            n: {
                "id": n,
                "title": "Make it loud",
                "prompt": prompt,
                "reward": n % 4 + 1,
                "status": "available",
                "created_at": "2026-11-12T07:45:01.220417Z",
            }
            for n, prompt in enumerate(PROMPTS, 1)
        }

    def texts(self) -> dict[str, str]:
        return {str(key): row["prompt"] for key, row in self.rows.items()}

    def route(self, request: Request, run: Callable[[Request], Json]) -> Response:
        if request.token not in self.agents:
            return Response(401, {"detail": "Not authenticated"})
        try:
            return Response(200, run(request))
        except HTTPError as no:
            return Response(no.status, {"detail": no.detail})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"agent-{secrets.token_hex(5)}", secrets.token_urlsafe(24)
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        return self.route(request, self.on_tasks)

    def on_tasks(self, request: Request) -> Json:
        page, size = (
            int(request.query.get(name) or default)
            for name, default in (("page", 1), ("size", SIZE))
        )
        every = [row for row in self.rows.values() if row["status"] == "available"]
        return {
            "items": every[(page - 1) * size : page * size],
            "total": len(every),
            "page": page,
            "size": size,
            "pages": -(-len(every) // size),
        }

    def claim(self, request: Request) -> Response:
        return self.route(request, self.on_claim)

    def on_claim(self, request: Request) -> Json:
        body = validated(request, task_id=integer, agent_id=string)
        row = self.rows.get(body["task_id"])
        if row is None:
            raise HTTPError(404, "Task not found")
        if body["agent_id"] != self.agents[request.token]:
            raise HTTPError(403, "agent_id does not match the token")
        if row["status"] != "available":
            raise HTTPError(409, "Task is not available")
        row["status"] = "claimed"
        self.claims[row["id"]] = secrets.token_hex(12)
        self.book.claimed(str(row["id"]))
        return {
            "task_id": row["id"],
            "claim_token": self.claims[row["id"]],
            "expires_in": 1800,
        }

    def claimed(self, body: Json) -> Json:
        row = self.rows.get(body["task_id"])
        if row is None:
            raise HTTPError(404, "Task not found")
        if self.claims.get(row["id"]) != body["claim_token"]:
            raise HTTPError(403, "Invalid claim token")
        return row

    def submit(self, request: Request) -> Response:
        return self.route(request, self.on_submit)

    def on_submit(self, request: Request) -> Json:
        row = self.claimed(
            body := validated(
                request, task_id=integer, claim_token=string, result=union
            )
        )
        if row["status"] != "claimed":
            raise HTTPError(409, "Result already submitted")
        if body["result"].get("text") != row["prompt"].upper():
            raise HTTPError(400, "Result failed verification")
        row["status"] = "in_review"
        self.submitted[row["id"]] = time.monotonic()
        return {"task_id": row["id"], "status": "in_review"}

    def complete(self, request: Request) -> Response:
        return self.route(request, self.on_complete)

    def on_complete(self, request: Request) -> Json:
        row = self.claimed(validated(request, task_id=integer, claim_token=string))
        if row["status"] == "claimed":
            raise HTTPError(409, "Nothing has been submitted for this task")
        due = self.submitted[row["id"]] + REVIEW_SECONDS
        if row["status"] == "in_review" and time.monotonic() >= due:
            row["status"] = "paid"
            self.book.pay(str(row["id"]), row["reward"])
        paid = row["reward"] if row["status"] == "paid" else 0
        return {"task_id": row["id"], "status": row["status"], "paid": paid}
