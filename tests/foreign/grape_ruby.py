"""A Ruby API built with Grape: one sentence that joins all faults with commas.

"listing_code is missing, agreement[token] is missing": brackets for what is nested, as in a
form. The claim's answer holds an agreement with a token that both other steps want back.
Work is a plain string. Too many requests is 429 with only an X-RateLimit-Reset-After, and
each agent has a little bucket. Cursors lead from page to page.
"""

import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PARAGRAPHS = (
    "press the grapes before the rain",
    "the vineyard sleeps under straw",
    "a barrel rolls down the cellar stairs",
    "corks are lighter than promises",
    "the cooper bends the oak with steam",
    "taste the must on the third evening",
    "sulphur the casks in early spring",
    "the old press creaks like a ship",
    "starlings steal the ripest bunch",
    "label the bottles with the bad year",
    "a glass for the one who prunes",
    "the slope faces the afternoon sun",
)
PAGE = 5
BUCKET, PER_SECOND = 8, 4.0


class GrapeError(Exception):
    def __init__(self, status: int, *faults: str) -> None:
        super().__init__(faults)
        self.status, self.faults = status, faults


def params(body: Any, *wanted: str) -> list[str]:
    """Return the strings at the paths that are wanted, `a` or `a[b]`."""
    found, faults = [], []
    for path in wanted:
        outer, _, inner = path.partition("[")
        value = body.get(outer) if isinstance(body, dict) else None
        name = path
        if inner:
            name = path if isinstance(value, dict) or value is None else outer
            value = value.get(inner[:-1]) if isinstance(value, dict) else value
        if value is None:
            faults.append(f"{name} is missing")
        elif name != path or not isinstance(value, str):
            faults.append(f"{name} is invalid")
        elif not value:
            faults.append(f"{name} is empty")
        else:
            found.append(value)
    if faults:
        raise GrapeError(400, *faults)
    return found


class GrapeRuby(Backend):
    """Twelve listings, an agreement for each that is taken."""

    def __init__(self) -> None:
        super().__init__()
        self.codes = {f"GRP{1407 + 31 * n}": text for n, text in enumerate(PARAGRAPHS)}
        self.worth = {code: n % 3 + 3 for n, code in enumerate(self.codes)}
        self.agreements: dict[str, str] = {}  # code -> token
        self.delivered: set[str] = set()
        self.agents: dict[str, str] = {}
        self.level, self.seen = float(BUCKET), time.monotonic()

    def texts(self) -> dict[str, str]:
        return dict(self.codes)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"vintner-{secrets.token_hex(4)}", secrets.token_hex(32)
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def throttled(self) -> Response | None:
        now = time.monotonic()
        self.level = min(BUCKET, self.level + (now - self.seen) * PER_SECOND)
        self.seen = now
        if self.level >= 1:
            self.level -= 1
            return None
        wait = f"{(1 - self.level) / PER_SECOND:.3f}"
        return Response(
            429,
            {"error": "Too many requests, slow down"},
            {"X-RateLimit-Reset-After": wait, "X-RateLimit-Remaining": "0"},
        )

    def tasks(self, request: Request) -> Response:
        if slow := self.throttled():
            return slow
        free = [code for code in self.codes if code not in self.agreements]
        after = request.query.get("after", "")
        rest = [code for code in free if code > after]
        shown = rest[:PAGE]
        return Response(
            200,
            {
                "listings": [self.listing(code) for code in shown],
                "paging": {
                    "after": shown[-1] if len(rest) > PAGE else None,
                    "has_more": len(rest) > PAGE,
                },
            },
        )

    def listing(self, code: str) -> dict[str, Any]:
        return {
            "code": code,
            "headline": f"Capital letters, lot {code[3:]}",
            "source_text": self.codes[code],
            "worth": self.worth[code],
        }

    def answered(self, request: Request, run: Any) -> Response:
        if request.token not in self.agents:
            return Response(401, {"error": "401 Unauthorized"})
        if slow := self.throttled():
            return slow
        try:
            return Response(200, run(request.json()))
        except GrapeError as no:
            return Response(no.status, {"error": ", ".join(no.faults)})

    def claim(self, request: Request) -> Response:
        return self.answered(request, self.on_claim)

    def on_claim(self, body: Any) -> Any:
        (code,) = params(body, "listing_code")
        if code not in self.codes:
            raise GrapeError(404, "Listing not found")
        if code in self.agreements:
            raise GrapeError(409, "Listing has been taken")
        self.agreements[code] = secrets.token_hex(8)
        self.book.claimed(code)
        return {
            "listing": self.listing(code),
            "agreement": {"token": self.agreements[code], "signed": True},
        }

    def agreed(self, code: str, token: str) -> None:
        if self.agreements.get(code) != token:
            raise GrapeError(403, "That agreement is not for this listing")

    def submit(self, request: Request) -> Response:
        return self.answered(request, self.on_submit)

    def on_submit(self, body: Any) -> Any:
        code, token, work = params(body, "listing_code", "agreement[token]", "work")
        self.agreed(code, token)
        if work != self.codes[code].upper():
            raise GrapeError(409, "Work was not accepted")
        self.delivered.add(code)
        return {"listing_code": code, "delivered": True}

    def complete(self, request: Request) -> Response:
        return self.answered(request, self.on_complete)

    def on_complete(self, body: Any) -> Any:
        code, token = params(body, "listing_code", "agreement[token]")
        self.agreed(code, token)
        if code not in self.delivered:
            raise GrapeError(409, "Nothing was delivered yet")
        if code not in self.book.paid:
            self.book.pay(code, self.worth[code])
        return {"listing_code": code, "closed": True, "earned": self.worth[code]}
