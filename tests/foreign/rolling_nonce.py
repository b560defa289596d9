"""A careful little service: every step hands out a nonce that the next one must show.

It is shown in a header, `X-Step-Nonce`; without it a request is 400 with a code and a
hint, and with another one 409. Each refusal has an incident number of its own.
"""

import secrets
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TEXTS = (
    "the vault opens at nine sharp",
    "a courier with an empty bag",
    "seal the envelope with red wax",
    "the password is not on the wall",
    "two guards play cards at night",
    "the mirror shows another room",
)


class Stop(Exception):  # noqa: N818 - a word of the trade
    def __init__(self, status: int, code: str, hint: str = "") -> None:
        super().__init__(code)
        body = {"code": code, "hint": hint, "incident": secrets.token_hex(6)}
        self.response = Response(status, body)


class RollingNonce(Backend):
    """Six errands."""

    def __init__(self) -> None:
        super().__init__()
        self.errands: dict[str, dict[str, Any]] = {
            f"er_{secrets.token_hex(4)}": {
                "text": text,
                "pay": at % 4 + 1,
                "is": "open",
            }
            for at, text in enumerate(TEXTS)
        }
        self.nonces: dict[str, str] = {}
        self.tokens: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {key: errand["text"] for key, errand in self.errands.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(20)
        self.tokens.add(token)
        told = {"agent_id": "r-5", "access_token": token, "credits": 100}
        return Response(200, told)

    def tasks(self, request: Request) -> Response:
        errands = [
            {"id": key, "text": one["text"], "pay": one["pay"], "status": one["is"]}
            for key, one in self.errands.items()
        ]
        return Response(200, {"errands": errands})

    def step(
        self, request: Request, act: Callable[[str, dict[str, Any], Any], None]
    ) -> Response:
        try:
            key, body = self.named(request)
            errand = self.errands[key]
            if errand["is"] != "open":
                self.check_nonce(request, key)
            act(key, errand, body)
            self.nonces[key] = secrets.token_urlsafe(12)
            told = {"errand": key, "status": errand["is"], "nonce": self.nonces[key]}
            return Response(200, told)
        except Stop as stop:
            return stop.response

    def named(self, request: Request) -> tuple[str, Any]:
        if request.token not in self.tokens:
            raise Stop(401, "NO_TOKEN")
        try:
            body = request.json()
        except ValueError:
            raise Stop(400, "NO_JSON") from None
        key = body.get("errand") if isinstance(body, dict) else None
        if not isinstance(key, str):
            raise Stop(400, "NO_ERRAND", "errand: string")
        if key not in self.errands:
            raise Stop(404, "UNKNOWN_ERRAND")
        return key, body

    def check_nonce(self, request: Request, key: str) -> None:
        nonce = request.headers.get("X-Step-Nonce")
        if not nonce:
            raise Stop(400, "NO_NONCE", "header X-Step-Nonce is required")
        if nonce != self.nonces[key]:
            raise Stop(409, "OLD_NONCE", "this nonce has been used")

    def claim(self, request: Request) -> Response:
        return self.step(request, self.on_claim)

    def on_claim(self, key: str, errand: dict[str, Any], body: Any) -> None:
        if errand["is"] != "open":
            raise Stop(409, "TAKEN")
        errand["is"] = "taken"
        self.book.claimed(key)

    def submit(self, request: Request) -> Response:
        return self.step(request, self.on_submit)

    def on_submit(self, key: str, errand: dict[str, Any], body: Any) -> None:
        if not isinstance(body.get("outcome"), str):
            raise Stop(400, "NO_OUTCOME", "outcome: string")
        if body["outcome"] != errand["text"].upper():
            raise Stop(422, "WRONG_OUTCOME")
        if errand["is"] != "taken":
            raise Stop(409, "NOT_TAKEN")
        errand["is"] = "done"

    def complete(self, request: Request) -> Response:
        return self.step(request, self.on_complete)

    def on_complete(self, key: str, errand: dict[str, Any], body: Any) -> None:
        if errand["is"] != "done":
            raise Stop(409, "NOT_DONE")
        errand["is"] = "paid"
        self.book.pay(key, errand["pay"])
