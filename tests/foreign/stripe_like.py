"""An API in Stripe's manner: typed objects, prefixed ids, lists with a cursor.

One error at a time: parameters that it does not know (all of them, in one message), then
those that are missing, nested ones written `output[text]`. A list answers ten objects,
at most twenty, newest first; the open tasks are behind those that are over. A key that
comes again with other parameters is an `idempotency_error`.
"""

import json
import secrets
import string
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

DESCRIPTIONS = (
    "the lighthouse keeper grows tomatoes",
    "a violin waits in its velvet case",
    "the bakery opens before the birds",
    "fold the map along the blue line",
    "the meadow hums in late july",
    "an honest clock is never early",
    "the tide returned what it borrowed",
    "two brothers built a crooked fence",
    "the violet stains will not wash out",
    "a whisper carried across the lake",
    "the orchard sleeps under the snow",
    "nine candles and a single match",
)
OVER = 25
LONGEST_PAGE = 20
KINDS = ("text", "json", "file")
ALPHABET = string.ascii_letters + string.digits


class StripeError(Exception):
    def __init__(
        self, status: int, message: str, param: str = "", code: str = ""
    ) -> None:
        super().__init__(message)
        error = {"message": message, "type": "invalid_request_error"}
        if code:
            error["code"] = code
            error["doc_url"] = f"https://docs.example.com/error-codes/{code}"
        if param:
            error["param"] = param
        self.response = Response(status, {"error": error})


def missing_param(name: str) -> StripeError:
    told = f"Missing required param: {name}."
    return StripeError(400, told, name, "parameter_missing")


def new_id(prefix: str) -> str:
    return f"{prefix}_1Q{''.join(secrets.choice(ALPHABET) for _ in range(22))}"


def known(given: dict[str, Any], names: tuple[str, ...], inside: str = "") -> None:
    """Refuse parameters that are none, and those that are missing."""
    unknown = [
        f"{inside}[{name}]" if inside else name for name in given if name not in names
    ]
    if unknown:
        many = "s" if len(unknown) > 1 else ""
        told = f"Received unknown parameter{many}: {', '.join(unknown)}"
        raise StripeError(400, told, unknown[0], "parameter_unknown")
    for name in names:
        if given.get(name) is None:
            raise missing_param(f"{inside}[{name}]" if inside else name)


def text(value: Any, param: str) -> str:
    if not isinstance(value, str):
        raise StripeError(400, f"Invalid string: {json.dumps(value)}", param)
    if not value:
        told = f"You passed an empty string for '{param}'. We assume empty values are an attempt to unset a parameter; however '{param}' cannot be unset."
        raise StripeError(400, told, param, "parameter_invalid_empty")
    return value


class StripeLike(Backend):
    """Twelve open tasks behind twenty-five that are over."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: dict[str, str] = {}
        self.seen: dict[str, tuple[bytes, Response]] = {}
        self.objects: dict[str, dict[str, Any]] = {}
        self.claims: dict[str, dict[str, Any]] = {}
        for at in range(OVER + len(DESCRIPTIONS)):
            opened = at >= OVER
            key = new_id("task")
            self.objects[key] = {
                "id": key,
                "object": "task",
                "amount": at % 6 + 3,
                "created": 1_739_000_000 - 3600 * at,
                "currency": "credits",
                "description": DESCRIPTIONS[at - OVER] if opened else f"old task {at}",
                "livemode": True,
                "metadata": {},
                "status": "requires_claim" if opened else ("canceled", "paid")[at % 2],
            }

    def texts(self) -> dict[str, str]:
        return {key: one["description"] for key, one in [*self.objects.items()][OVER:]}

    def missing(self, request: Request) -> Response:
        told = f"Unrecognized request URL ({request.method}: {request.path})."
        return StripeError(404, told).response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, key = new_id("agt"), f"sk_live_{secrets.token_hex(24)}"
        self.keys[key] = agent
        return Response(200, {"agent_id": agent, "access_token": key, "credits": 100})

    def tasks(self, request: Request) -> Response:
        try:
            return Response(200, self.page(request.query))
        except StripeError as no:
            return no.response

    marketplace = tasks

    def page(self, query: dict[str, str]) -> dict[str, Any]:
        asked, after = query.get("limit", "10"), query.get("starting_after", "")
        if not asked.isdecimal():
            raise StripeError(400, f"Invalid integer: {asked}", "limit")
        if int(asked) > LONGEST_PAGE or not int(asked):
            bound = f"less than or equal to {LONGEST_PAGE}"
            if not int(asked):
                bound = "greater than or equal to 1"
            told = f"This value must be {bound} (it currently is '{asked}')."
            raise StripeError(400, told, "limit")
        keys = [*self.objects]
        if after and after not in keys:
            told = f"No such task: '{after}'"
            raise StripeError(400, told, "starting_after", "resource_missing")
        start = keys.index(after) + 1 if after else 0
        end = start + int(asked)
        return {
            "object": "list",
            "url": "/functions/v1/get-marketplace-tasks",
            "has_more": end < len(keys),
            "data": [self.objects[key] for key in keys[start:end]],
        }

    def agent(self, request: Request) -> str:
        if request.token not in self.keys:
            told = f"Invalid API Key provided: {request.token[:8]}****"
            raise StripeError(401, told)
        return self.keys[request.token]

    def answered(
        self, request: Request, run: Callable[[str, dict[str, Any]], Any]
    ) -> Response:
        key = request.headers.get("Idempotency-Key") or ""
        key = key and f"{request.token}{request.path}{key}"
        try:
            agent = self.agent(request)
            if key in self.seen:
                return self.again(request.raw, *self.seen[key])
            given = body(request)
            answer = Response(200, run(agent, given))
        except StripeError as no:
            return no.response
        if key:
            self.seen[key] = request.raw, answer
        return answer

    def again(self, raw: bytes, before: bytes, answer: Response) -> Response:
        if raw == before:
            return answer
        told = (
            "Keys for idempotent requests can only be used with the same parameters they "
            "were first used with. Try using a different key if you meant to execute a "
            "different request."
        )
        error = {"message": told, "type": "idempotency_error"}
        return Response(400, {"error": error})

    def claim(self, request: Request) -> Response:
        return self.answered(request, self.on_claim)

    def on_claim(self, agent: str, given: dict[str, Any]) -> Any:
        known(given, ("task",))
        key = text(given["task"], "task")
        if key not in self.objects:
            raise StripeError(404, f"No such task: '{key}'", "task", "resource_missing")
        if self.objects[key]["status"] != "requires_claim":
            status = self.objects[key]["status"]
            told = f"This task cannot be claimed because it has a status of {status}."
            raise StripeError(400, told, "", "task_unexpected_state")
        self.objects[key]["status"] = "processing"
        number = new_id("clm")
        claim = {
            "id": number,
            "object": "claim",
            "agent": agent,
            "created": 1_739_100_000,
            "livemode": True,
            "status": "requires_output",
            "task": key,
        }
        self.claims[number] = claim
        self.book.claimed(key)
        return dict(claim)

    def own(self, agent: str, value: Any) -> dict[str, Any]:
        claim = self.claims.get(text(value, "claim"))
        if claim is None or claim["agent"] != agent:
            told = f"No such claim: '{value}'"
            raise StripeError(404, told, "claim", "resource_missing")
        return claim

    def submit(self, request: Request) -> Response:
        return self.answered(request, self.on_submit)

    def on_submit(self, agent: str, given: dict[str, Any]) -> Any:
        known(given, ("claim", "output"))
        if not isinstance(given["output"], dict):
            raise StripeError(400, "Invalid object", "output")
        output = given["output"]
        known(output, ("type", "text"), "output")
        if output["type"] not in KINDS:
            told = "Invalid output[type]: must be one of text, json, or file"
            raise StripeError(400, told, "output[type]")
        claim = self.own(agent, given["claim"])
        if text(output["text"], "output[text]") != self.expected(claim):
            told = "The output does not answer the task."
            raise StripeError(402, told, "output[text]", "output_declined")
        claim["status"] = "requires_completion"
        return {**claim, "output": new_id("out")}

    def expected(self, claim: dict[str, Any]) -> str:
        return str(self.objects[claim["task"]]["description"]).upper()

    def complete(self, request: Request) -> Response:
        return self.answered(request, self.on_complete)

    def on_complete(self, agent: str, given: dict[str, Any]) -> Any:
        known(given, ("claim",))
        claim = self.own(agent, given["claim"])
        if claim["status"] == "requires_output":
            told = "This claim cannot be completed because it has no output."
            raise StripeError(400, told, "", "claim_unexpected_state")
        task = self.objects[claim["task"]]
        if claim["status"] != "succeeded":
            claim["status"], task["status"] = "succeeded", "paid"
            self.book.pay(task["id"], task["amount"])
        return {**claim, "amount_received": task["amount"], "currency": "credits"}


def body(request: Request) -> dict[str, Any]:
    try:
        found = request.json()
    except ValueError as fault:
        raise StripeError(400, "Invalid request: unable to parse the body.") from fault
    if not isinstance(found, dict):
        raise StripeError(400, "Invalid request: expected an object.")
    return found
