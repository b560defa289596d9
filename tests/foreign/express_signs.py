"""Express with zod (`safeParse`, `error.flatten()`) over Mongo; gigs for a sign painter.

Listing: `{"ok": true, "gigs": [...]}`; a gig has `_id` (24 hex digits), `headline`, `todo`,
`material: {type: "text", content}`, `pay` and `status`. All gigs are listed, taken or not.
Claim: `{"gigId"}` -> `{"ok": true, "gig"}` with `status: "claimed"`; again: the same.
Submit: `{"gigId", "deliverable": {"type": "text", "content"}, "minutesSpent": number}`
-> `{"ok": true, "gig"}` with `status: "delivered"`.
Complete: `{"gigId"}` (and `note`, optional) -> `{"ok": true, "gig", "earned", "wallet"}`; a
second time is 409.
Errors: body checks are 400 `{"ok": false, "error": {"formErrors", "fieldErrors"}}`, zod's
flattened issues (bodies are `.strict()`); all else is `{"ok": false, "error": "a sentence"}`.
A broken JSON body gets body-parser's HTML page.
"""

import re
import secrets
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

GIGS: dict[str, tuple[str, str, int]] = {
    "65f0a1c2e4b0d93a7c118e01": (
        "Bakery window",
        "fresh rolls from six every morning",
        8,
    ),
    "65f0a1c2e4b0d93a7c118e02": (
        "Garage door",
        "keep clear, exit in use day and night",
        10,
    ),
    "65f0a1c2e4b0d93a7c118e05": (
        "Fish shop",
        "today's catch: plaice, cod and two lobsters",
        13,
    ),
    "65f0a1c2e4b0d93a7c118e09": (
        "Pub board",
        "quiz night every second thursday at eight",
        11,
    ),
    "65f0a1c2e4b0d93a7c118e0c": ("Barber", "no appointment needed, just walk in", 6),
    "65f0a1c2e4b0d93a7c118e11": (
        "School gate",
        "please switch off your engine here",
        7,
    ),
    "65f0a1c2e4b0d93a7c118e14": (
        "Florist",
        "roses are back and they smell of summer",
        12,
    ),
    "65f0a1c2e4b0d93a7c118e18": ("Bike shop", "we mend punctures while you wait", 9),
}

# A check adds (path, message) pairs to the list: zod's issues.
Issues = list[tuple[list[str], str]]
Check = Callable[[Any, list[str], Issues], None]


def kind(value: Any) -> str:
    """Return what zod calls the type of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def string(regex: str = "", message: str = "", least: int = 0) -> Check:
    """z.string(), with .regex() or .min()."""

    def check(value: Any, path: list[str], issues: Issues) -> None:
        if not isinstance(value, str):
            issues.append((path, f"Expected string, received {kind(value)}"))
        elif regex and not re.fullmatch(regex, value):
            issues.append((path, message))
        elif len(value) < least:
            issues.append((path, f"String must contain at least {least} character(s)"))

    return check


def number() -> Check:
    """z.number().nonnegative()."""

    def check(value: Any, path: list[str], issues: Issues) -> None:
        if kind(value) != "number":
            issues.append((path, f"Expected number, received {kind(value)}"))
        elif value < 0:
            issues.append((path, "Number must be greater than or equal to 0"))

    return check


def literal(wanted: str, message: str) -> Check:
    """z.literal(), with the message of its errorMap."""

    def check(value: Any, path: list[str], issues: Issues) -> None:
        if value != wanted:
            issues.append((path, message))

    return check


def strict(
    shape: dict[str, Check],
    optional: tuple[str, ...] = (),
    required: dict[str, str] | None = None,
) -> Check:
    """z.object().strict(); `required` holds the required_error of a field that has one."""

    def check(value: Any, path: list[str], issues: Issues) -> None:
        if not isinstance(value, dict):
            issues.append((path, f"Expected object, received {kind(value)}"))
            return
        for name, inner in shape.items():
            if name in value:
                inner(value[name], [*path, name], issues)
            elif name not in optional:
                issues.append(([*path, name], (required or {}).get(name, "Required")))
        if extra := [name for name in value if name not in shape]:
            keys = ", ".join(f"'{name}'" for name in extra)
            issues.append((path, f"Unrecognized key(s) in object: {keys}"))

    return check


GIG_ID = string(r"[0-9a-fA-F]{24}", "Invalid ObjectId")
CLAIM = strict({"gigId": GIG_ID})
SUBMIT = strict(
    {
        "gigId": GIG_ID,
        "deliverable": strict(
            {
                "type": literal("text", 'deliverable.type must be "text"'),
                "content": string(least=1),
            },
            required={
                "type": "deliverable.type is required",
                "content": "deliverable.content is required",
            },
        ),
        "minutesSpent": number(),
    }
)
COMPLETE = strict({"gigId": GIG_ID, "note": string()}, optional=("note",))


class ExpressSigns(Backend):
    """Gigs for a sign painter."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, str] = {}
        self.wallets: dict[str, int] = {}
        self.taken: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the text of every gig."""
        return {id_: text for id_, (_, text, _) in GIGS.items()}

    def _no(self, status: int, message: Any) -> Response:
        return Response(status, {"ok": False, "error": message})

    def missing(self, request: Request) -> Response:
        """Express's own page."""
        return Response(
            404,
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            "<title>Error</title>\n</head>\n<body>\n"
            f"<pre>Cannot {request.method} {request.path}</pre>\n</body>\n</html>\n",
            {"Content-Type": "text/html; charset=utf-8"},
        )

    def _enter(
        self, request: Request, schema: Check
    ) -> tuple[str, Any, Response | None]:
        """express.json(), the auth middleware and the validate(schema) middleware."""
        is_json = "application/json" in (request.headers.get("Content-Type") or "")
        try:
            body = request.json() if request.raw and is_json else {}
        except ValueError as error:
            return (
                "",
                None,
                Response(
                    400,
                    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<title>Error</title>\n</head>\n'
                    f"<body>\n<pre>SyntaxError: {error}</pre>\n</body>\n</html>\n",
                    {"Content-Type": "text/html; charset=utf-8"},
                ),
            )
        agent = self.agents.get(request.token, "")
        if not agent:
            return "", None, self._no(401, "Missing or invalid token")
        issues: Issues = []
        schema(body, [], issues)
        if issues:
            fields: dict[str, list[str]] = {}
            for path, message in issues:
                if path:
                    fields.setdefault(path[0], []).append(message)
            forms = [message for path, message in issues if not path]
            return (
                agent,
                None,
                self._no(400, {"formErrors": forms, "fieldErrors": fields}),
            )
        return agent, body, None

    def register(self, request: Request) -> Response:
        """router.post, no auth."""
        self.book.registrations += 1
        agent, token = secrets.token_hex(12), "sk_" + secrets.token_hex(16)
        self.agents[token], self.wallets[agent] = agent, 100
        return Response(
            200, {"ok": True, "agent_id": agent, "access_token": token, "credits": 100}
        )

    def _gig(self, id_: str) -> dict[str, Any]:
        headline, text, pay = GIGS[id_]
        return {
            "_id": id_,
            "headline": headline,
            "todo": "Give us the material in UPPER CASE letters, ready for the brush.",
            "material": {"type": "text", "content": text},
            "pay": pay,
            "currency": "credits",
            "status": self.taken[id_]["status"] if id_ in self.taken else "open",
            "__v": 0,
        }

    def marketplace(self, request: Request) -> Response:
        """Gig.find().limit()."""
        limit = request.query.get("limit", "")
        gigs = [self._gig(id_) for id_ in GIGS]
        return Response(
            200, {"ok": True, "gigs": gigs[: int(limit)] if limit.isdecimal() else gigs}
        )

    tasks = marketplace

    def claim(self, request: Request) -> Response:
        """Give a gig to an agent."""
        agent, body, refusal = self._enter(request, CLAIM)
        if refusal:
            return refusal
        id_ = body["gigId"].lower()
        if id_ not in GIGS:
            return self._no(404, "Gig not found")
        if id_ not in self.taken:
            self.taken[id_] = {"agent": agent, "status": "claimed"}
            self.book.claimed(id_)
        elif self.taken[id_]["agent"] != agent:
            return self._no(409, "Gig was claimed by somebody else")
        return Response(200, {"ok": True, "gig": self._gig(id_)})

    def _mine(self, agent: str, gig_id: str) -> tuple[str, Response | None]:
        id_ = gig_id.lower()
        if id_ not in GIGS:
            return id_, self._no(404, "Gig not found")
        if id_ not in self.taken or self.taken[id_]["agent"] != agent:
            return id_, self._no(403, "You have not claimed this gig")
        return id_, None

    def submit(self, request: Request) -> Response:
        """Take a deliverable."""
        agent, body, refusal = self._enter(request, SUBMIT)
        if refusal:
            return refusal
        id_, refusal = self._mine(agent, body["gigId"])
        if refusal:
            return refusal
        if self.taken[id_]["status"] == "completed":
            return self._no(409, "Gig is already completed")
        if body["deliverable"]["content"] != GIGS[id_][1].upper():
            return self._no(
                422, "deliverable.content is not the material in upper case"
            )
        self.taken[id_].update(status="delivered", minutes=body["minutesSpent"])
        return Response(200, {"ok": True, "gig": self._gig(id_)})

    def complete(self, request: Request) -> Response:
        """Pay a delivered gig."""
        agent, body, refusal = self._enter(request, COMPLETE)
        if refusal:
            return refusal
        id_, refusal = self._mine(agent, body["gigId"])
        if refusal:
            return refusal
        if self.taken[id_]["status"] == "claimed":
            return self._no(409, "Gig has no deliverable yet")
        if self.taken[id_]["status"] == "completed":
            return self._no(409, "Gig is already completed")
        self.taken[id_]["status"] = "completed"
        self.wallets[agent] += GIGS[id_][2]
        self.book.pay(id_, GIGS[id_][2])
        return Response(
            200,
            {
                "ok": True,
                "gig": self._gig(id_),
                "earned": GIGS[id_][2],
                "wallet": self.wallets[agent],
            },
        )
