"""Laravel 11: API resources, cursor pagination, enums with labels, an array of outputs.

Rules for what is in an array name its place (`outputs.0.value`), and the message in front
is the first fault "(and 1 more error)". A claim is a row with a ULID, by which everything
after it goes. The throttle middleware answers 429 with `Retry-After` in seconds.
"""

import base64
import json
import secrets
import time
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]
PROMPTS = (
    "the gardener hums to the leeks",
    "fog holds the harbour until ten",
    "a spare key hangs in the shed",
    "the choir begins without the bass",
    "two pigeons share a chimney pot",
    "the atlas is missing a page",
    "stack the crates away from the door",
    "the well is deeper than it looks",
    "he signs his letters with a star",
)
BASE32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
PER_PAGE = 4
ATTEMPTS, DECAY_SECONDS = 20, 6.0
OPEN, CLAIMED, SUBMITTED, PAID = "open", "claimed", "submitted", "paid"
TYPES = ("text", "url", "json")


def ulid() -> str:
    return "01JD" + "".join(secrets.choice(BASE32) for _ in range(22))


class AbortError(Exception):
    def __init__(
        self, status: int, body: Json, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(body)
        self.status, self.body, self.headers = status, body, headers or {}


def abort(status: int, message: str) -> AbortError:
    return AbortError(status, {"message": message})


def invalid(errors: dict[str, str]) -> AbortError:
    first, more = next(iter(errors.values())), len(errors) - 1
    if more:
        first += f" (and {more} more error{'s' if more > 1 else ''})"
    found = {name: [message] for name, message in errors.items()}
    return AbortError(422, {"message": first, "errors": found})


def body_of(request: Request) -> Json:
    """Return the input; what is not JSON is no input."""
    try:
        body = request.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def ulid_faults(body: Json, name: str, known: dict[str, Any]) -> dict[str, str]:
    """Return what required, ulid and exists say."""
    value = body.get(name)
    if value is None or value == "":
        return {name: f"The {name} field is required."}
    if not isinstance(value, str) or len(value) != len(ulid()):
        return {name: f"The {name} field must be a valid ULID."}
    return {} if value in known else {name: f"The selected {name} is invalid."}


def output_faults(body: Json) -> dict[str, str]:
    """Return what the rules of outputs and outputs.* say."""
    outputs = body.get("outputs")
    if outputs is None or outputs in ("", [], {}):
        return {"outputs": "The outputs field is required."}
    if not isinstance(outputs, list):
        if not isinstance(outputs, dict):
            return {"outputs": "The outputs field must be an array."}
        return {"outputs": "The outputs field must be a list."}
    found = {}
    for n, one in enumerate(outputs):
        given = one if isinstance(one, dict) else {}
        at = f"outputs.{n}"
        if not given.get("type"):
            found[f"{at}.type"] = f"The {at}.type field is required."
        elif given["type"] not in TYPES:
            found[f"{at}.type"] = f"The selected {at}.type is invalid."
        if not given.get("value"):
            found[f"{at}.value"] = f"The {at}.value field is required."
        elif not isinstance(given["value"], str):
            found[f"{at}.value"] = f"The {at}.value field must be a string."
    return found


class LaravelOutputs(Backend):
    """Nine tasks in MySQL."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens: dict[str, str] = {}
        self.hits: list[float] = []
        self.rows: dict[str, Json] = {}
        self.claims: dict[str, Json] = {}
        for n, prompt in enumerate(PROMPTS):
            key = ulid()
            self.rows[key] = {
                "ulid": key,
                "title": "Capital letters",
                "description": prompt,
                "reward": n % 4 + 2,
                "state": OPEN,
            }

    def texts(self) -> dict[str, str]:
        return {key: row["description"] for key, row in self.rows.items()}

    def resource(self, row: Json) -> Json:
        state = {"value": row["state"], "label": row["state"].capitalize()}
        return {**row, "state": state, "outputs": [{"type": "text", "max": 1}]}

    def throttled(self, request: Request, run: Callable[[Request], Json]) -> Response:
        if request.token not in self.tokens:
            return Response(401, {"message": "Unauthenticated."})
        try:
            self.throttle()
            return Response(200, run(request))
        except AbortError as no:
            return Response(no.status, no.body, no.headers)

    def throttle(self) -> None:
        now = time.monotonic()
        if self.hits and now - self.hits[0] >= DECAY_SECONDS:
            self.hits.clear()
        if len(self.hits) >= ATTEMPTS:
            wait = int(self.hits[0] + DECAY_SECONDS - now) + 1
            headers = {
                "Retry-After": str(wait),
                "X-RateLimit-Limit": str(ATTEMPTS),
                "X-RateLimit-Remaining": "0",
            }
            raise AbortError(429, {"message": "Too Many Attempts."}, headers)
        self.hits.append(now)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = ulid(), f"{len(self.tokens) + 1}|{secrets.token_hex(20)}"
        self.tokens[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        return self.throttled(request, self.on_tasks)

    def on_tasks(self, request: Request) -> Json:
        cursor = request.query.get("cursor")
        start = json.loads(base64.b64decode(cursor))["offset"] if cursor else 0
        every = list(self.rows.values())
        after = base64.b64encode(json.dumps({"offset": start + PER_PAGE}).encode())
        more = after.decode() if start + PER_PAGE < len(every) else None
        here = f"{request.base}{request.path}"
        return {
            "data": [self.resource(row) for row in every[start : start + PER_PAGE]],
            "links": {
                "first": None,
                "last": None,
                "prev": None,
                "next": more and f"{here}?cursor={more}",
            },
            "meta": {
                "path": here,
                "per_page": PER_PAGE,
                "next_cursor": more,
                "prev_cursor": None,
            },
        }

    def claim(self, request: Request) -> Response:
        return self.throttled(request, self.on_claim)

    def on_claim(self, request: Request) -> Json:
        body = body_of(request)
        if faults := ulid_faults(body, "task", self.rows):
            raise invalid(faults)
        row = self.rows[body["task"]]
        if row["state"] != OPEN:
            raise abort(409, "This task is no longer open.")
        row["state"] = CLAIMED
        key = ulid()
        self.claims[key] = {"ulid": key, "task": row["ulid"]}
        self.book.claimed(row["ulid"])
        return {"data": self.claims[key]}

    def submit(self, request: Request) -> Response:
        return self.throttled(request, self.on_submit)

    def on_submit(self, request: Request) -> Json:
        body = body_of(request)
        faults = ulid_faults(body, "claim", self.claims) | output_faults(body)
        if faults:
            raise invalid(faults)
        row = self.rows[self.claims[body["claim"]]["task"]]
        if row["state"] != CLAIMED:
            raise abort(409, "This claim has been submitted.")
        if body["outputs"][0]["value"] != row["description"].upper():
            raise invalid({"outputs.0.value": "The outputs.0.value is not correct."})
        row["state"] = SUBMITTED
        return {"data": {"claim": body["claim"], "state": "submitted"}}

    def complete(self, request: Request) -> Response:
        return self.throttled(request, self.on_complete)

    def on_complete(self, request: Request) -> Json:
        body = body_of(request)
        if faults := ulid_faults(body, "claim", self.claims):
            raise invalid(faults)
        row = self.rows[self.claims[body["claim"]]["task"]]
        if row["state"] == CLAIMED:
            raise abort(409, "Submit your outputs first.")
        if row["state"] == SUBMITTED:
            row["state"] = PAID
            self.book.pay(row["ulid"], row["reward"])
        return {"data": {**self.resource(row), "credited": row["reward"]}}
