"""Fernpost: hand-written Supabase edge functions (Deno, TypeScript), no validation library.

Two people wrote every `if` by hand and take care that the refusals are kind: {error, hint},
one fault at a time. Rows are snake_case as Postgres has them, bodies camelCase as TypeScript.
"""

import re
import secrets
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "authorization, x-client-info, apikey, content-type",
}
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
DESK = 3  # claims that an agent may have at a time
ROWS = [
    (
        "Market sign",
        "Fresh plums from Lower Asel, two boxes left",
        14,
        "Mira's Orchard",
    ),
    (
        "Ferry notice",
        "The 16:40 ferry to Kalvsund does not run on Sundays",
        22,
        "Skerry Lines",
    ),
    (
        "Shop window",
        "We are closed for stocktaking until Thursday",
        9,
        "Tolliver & Daughter",
    ),
    (
        "Bell plate",
        "Please ring twice and wait by the blue door",
        11,
        "No. 8 Hatters Row",
    ),
    (
        "Trail marker",
        "Spring water ahead, boil before drinking",
        17,
        "Upper Fell Rangers",
    ),
    ("Playbill", "Café Lumière presents an evening of quiet songs", 26, "Café Lumière"),
]


class Oops(Exception):
    """What the functions throw; `serve()` turns it into json({ error, hint }, status)."""

    def __init__(self, status: int, error: str, hint: str) -> None:
        super().__init__(error)
        self.answer = Response(status, {"error": error, "hint": hint}, dict(CORS))


def json_(body: Any) -> Response:
    return Response(200, body, dict(CORS))


def stamp(minutes: int = 0) -> str:
    at = datetime.now(UTC) + timedelta(minutes=minutes)
    return at.isoformat(timespec="microseconds")


def falsy(value: Any) -> bool:
    """Be JavaScript's `!value`: empty objects and arrays count as something."""
    return value is None or (not value and not isinstance(value, (list, dict)))


def type_of(value: Any) -> str:
    """Say what JavaScript would call it, with an article."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an array" if isinstance(value, list) else "an object"


class FernpostEdge(Backend):
    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, dict[str, Any]] = {}
        for number, (title, brief, amount, poster) in enumerate(ROWS):
            id_ = str(
                uuid.uuid5(uuid.NAMESPACE_URL, f"https://fernpost.example/t/{number}")
            )
            self.rows[id_] = {
                "id": id_,
                "created_at": f"2025-03-{11 + number:02d}T08:15:27.{401 + number}113+00:00",
                "title": f"{title}, in capital letters",
                "brief": brief,
                "reward": {"amount": amount, "unit": "credits"},
                "status": "open",
                "poster": {"display_name": poster, "verified": number % 2 == 0},
            }
        self.profiles: dict[str, str] = {}  # token -> agent
        self.claim_rows: dict[str, dict[str, Any]] = {}
        self.submission_rows: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {id_: row["brief"] for id_, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        return Response(
            404, {"code": "NOT_FOUND", "message": "Requested function was not found"}
        )

    # -- _shared/http.ts ---------------------------------------------------------------

    def who(self, request: Request) -> str:
        if not request.headers.get("Authorization"):
            raise Oops(
                401,
                "We don't know who you are yet.",
                "Send the access_token from create-free-agent-public in the header "
                "Authorization: Bearer <access_token>.",
            )
        if request.token not in self.profiles:
            raise Oops(
                401,
                "We don't recognise that access token.",
                "Check that all of it was copied, or make a new agent with "
                "create-free-agent-public.",
            )
        return self.profiles[request.token]

    def read(self, request: Request) -> dict[str, Any]:
        try:
            body = request.json()
        except ValueError:
            raise Oops(
                400,
                "We couldn't read your request body.",
                "It should be JSON, with Content-Type: application/json.",
            ) from None
        if not isinstance(body, dict):
            raise Oops(
                400,
                f"We expected a JSON object as the body, but got {type_of(body)}.",
                "Wrap it in curly braces, with a name for each value.",
            )
        return body

    def id_in(self, body: dict[str, Any], name: str, lacking: str, where: str) -> str:
        value = body.get(name)
        if falsy(value):
            sent = f" (You sent: {', '.join(body)}.)" if body else ""
            raise Oops(400, lacking, f"Add {name}: {where}.{sent}")
        if not isinstance(value, str):
            raise Oops(
                400,
                f"{name} should be a string, not {type_of(value)}.",
                f"Use {where}.",
            )
        if not UUID.fullmatch(value):
            raise Oops(
                400, f'"{value}" doesn\'t look like one of our ids.', f"Use {where}."
            )
        return value.lower()

    def my_claim(
        self, agent: str, body: dict[str, Any], lacking: str
    ) -> dict[str, Any]:
        id_ = self.id_in(
            body, "claimId", lacking, "the claim.id that claim-task-public gave you"
        )
        row = self.claim_rows.get(id_)
        if row is None:
            raise Oops(
                404,
                "We can't find that claim.",
                "claimId is the id of the claim, which is not the id of the task.",
            )
        if row["agent_id"] != agent:
            raise Oops(
                403, "That claim belongs to another agent.", "Use a claim of your own."
            )
        return row

    # -- the functions -----------------------------------------------------------------

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), "fp_live_" + secrets.token_urlsafe(24)
        self.profiles[token] = agent
        return json_(
            {
                "ok": True,
                "agent_id": agent,
                "access_token": token,
                "credits": 100,
                "message": "Welcome to Fernpost! You can start right away.",
            }
        )

    def tasks(self, request: Request) -> Response:
        limit = request.query.get("limit", "20")
        if not limit.isdecimal() or int(limit) < 1:
            return Oops(
                400,
                f'We didn\'t understand limit "{limit}".',
                "limit is how many tasks you want, for example 10.",
            ).answer
        rows = [row for row in self.rows.values() if row["status"] == "open"]
        return json_({"data": rows[: min(int(limit), 50)], "count": len(rows)})

    def marketplace(self, request: Request) -> Response:
        return self.tasks(request)

    def claim(self, request: Request) -> Response:
        try:
            agent, body = self.who(request), self.read(request)
            id_ = self.id_in(
                body,
                "taskId",
                "Which task would you like?",
                "the id of a task from get-marketplace-tasks",
            )
            if id_ not in self.rows:
                raise Oops(
                    404,
                    "We can't find that task.",
                    "It may have been withdrawn; look again in get-marketplace-tasks.",
                )
            estimate = body.get("estimateMinutes")
            hint = "estimateMinutes is a whole number from 1 to 120; a rough guess is fine."
            if estimate is None:
                raise Oops(400, "How long do you think this will take you?", hint)
            if isinstance(estimate, bool) or not isinstance(estimate, (int, float)):
                raise Oops(
                    400,
                    f"estimateMinutes should be a number, not {type_of(estimate)}.",
                    hint,
                )
            if not 1 <= estimate <= 120 or estimate != int(estimate):
                raise Oops(400, f"We can't plan with {estimate} minutes.", hint)
            if self.rows[id_]["status"] != "open":
                raise Oops(
                    409,
                    "Sorry, somebody has this task already.",
                    "Choose another one; the open ones are in get-marketplace-tasks.",
                )
            mine = [row for row in self.claim_rows.values() if row["agent_id"] == agent]
            if sum(row["status"] != "completed" for row in mine) >= DESK:
                raise Oops(
                    409,
                    f"You have {DESK} tasks on your desk already.",
                    "Complete one of them first, then come back for more.",
                )
        except Oops as oops:
            return oops.answer
        row = {
            "id": str(uuid.uuid4()),
            "task_id": id_,
            "agent_id": agent,
            "status": "active",
            "claimed_at": stamp(),
            "due_at": stamp(int(estimate) + 30),
        }
        self.claim_rows[row["id"]] = row
        self.rows[id_]["status"] = "claimed"
        self.book.claimed(id_)
        return json_({"ok": True, "claim": row})

    def submit(self, request: Request) -> Response:
        try:
            agent, body = self.who(request), self.read(request)
            row = self.my_claim(agent, body, "Which claim is this result for?")
            hint = "The words themselves go in result.text, as a string."
            result = body.get("result")
            if falsy(result):
                raise Oops(
                    400,
                    "There is no result in your submission.",
                    f"Add a result object. {hint}",
                )
            if not isinstance(result, dict):
                raise Oops(
                    400, f"result should be an object, not {type_of(result)}.", hint
                )
            text = result.get("text")
            if falsy(text):
                raise Oops(400, "Your result has no text.", hint)
            if not isinstance(text, str):
                raise Oops(
                    400, f"result.text should be a string, not {type_of(text)}.", hint
                )
            if result.get("format") not in ("plain", "markdown"):
                raise Oops(
                    400,
                    "How should the poster read your result?",
                    'Set result.format to "plain" or "markdown".',
                )
            if row["status"] != "active":
                raise Oops(
                    409,
                    "We already have an accepted result for this claim.",
                    "Nothing more to send; go on with complete-task-public.",
                )
            if text.strip() != self.rows[row["task_id"]]["brief"].upper():
                raise Oops(
                    422,
                    "This isn't what the poster asked for yet.",
                    "We look for the whole brief in capital letters and nothing else. "
                    "Your claim is still active, so just submit again.",
                )
        except Oops as oops:
            return oops.answer
        row["status"] = "submitted"
        submission = {
            "id": str(uuid.uuid4()),
            "claim_id": row["id"],
            "format": result["format"],
            "verdict": "accepted",
            "created_at": stamp(),
        }
        self.submission_rows[submission["id"]] = submission
        return json_({"ok": True, "submission": submission})

    def complete(self, request: Request) -> Response:
        try:
            agent, body = self.who(request), self.read(request)
            row = self.my_claim(agent, body, "Which claim would you like to complete?")
            if row["status"] == "active":
                raise Oops(
                    409,
                    "There is no result for this claim yet.",
                    "Send one with submit-task-result-public first.",
                )
            if row["status"] == "completed":
                raise Oops(
                    409,
                    "This claim is completed and paid already.",
                    "There is nothing left to do here. Thank you!",
                )
            id_ = self.id_in(
                body,
                "submissionId",
                "Which submission should we pay for?",
                "the submission.id that submit-task-result-public gave you",
            )
            if self.submission_rows.get(id_, {}).get("claim_id") != row["id"]:
                raise Oops(
                    404,
                    "That submission isn't part of this claim.",
                    "claimId and submissionId have to belong together.",
                )
        except Oops as oops:
            return oops.answer
        task = self.rows[row["task_id"]]
        row["status"] = task["status"] = "completed"
        self.book.pay(task["id"], task["reward"]["amount"])
        return json_(
            {
                "ok": True,
                "claim": {
                    "id": row["id"],
                    "task_id": task["id"],
                    "status": "completed",
                },
                "earned": task["reward"],
            }
        )
