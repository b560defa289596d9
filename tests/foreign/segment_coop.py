"""Coop Paraula: a Catalan translation cooperative, Express and Joi, kebab-case."""

import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

SEGMENTS = {  # ref: (pair, text, credits, taken)
    "vi-001": ("ca-en", "the cellar is open every harvest", 24, False),
    "vi-002": ("ca-en", "serve the wine at fourteen degrees", 28, False),
    "vi-003": ("ca-en", "the vines are forty years old", 20, True),
    "mu-014": ("fr-en", "the museum closes one hour before sunset", 33, False),
    "mu-015": ("fr-en", "please leave large bags at the entrance", 19, False),
    "eu-207": ("eu-en", "the fishing fleet returns on thursday", 41, False),
}


class Translation(Backend):
    """Segments grouped by language pair under open and taken.

    claim {segment-ref, member-name} answers an assignment with the working text;
    submit {assignment, target-text, minutes-spent} starts a peer review; complete
    {assignment} is a 409 with Retry-After until the peers have read it, then 200 with
    paid. Refusals: {error, message}, the message in Joi's prose, all faults in one
    sentence after another.
    """

    def __init__(self) -> None:
        super().__init__()
        self.members: dict[str, dict[str, Any]] = {}
        self.taken: dict[str, Any] = {k: "other" for k, v in SEGMENTS.items() if v[3]}
        self.assignments: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {k: v[1] for k, v in SEGMENTS.items() if not v[3]}

    # -- answers -------------------------------------------------------------
    def refuse(
        self, status: int, message: str, headers: dict[str, str] | None = None
    ) -> Response:
        names = {
            400: "Bad Request",
            401: "Unauthorized",
            403: "Forbidden",
            404: "Not Found",
            409: "Conflict",
            422: "Unprocessable Entity",
        }
        return Response(
            status, {"error": names[status], "message": message}, headers or {}
        )

    def missing(self, request: Request) -> Response:
        return Response(
            404,
            f"<pre>Cannot {request.method} {request.path}</pre>\n",
            {"Content-Type": "text/html; charset=utf-8"},
        )

    def enter(
        self, r: Request, schema: dict[str, Any]
    ) -> tuple[Any, Any, Response | None]:
        member = self.members.get(r.token)
        if member is None:
            return None, None, self.refuse(401, "Missing or unknown token")
        try:
            body = r.json() if r.raw else {}
        except ValueError as error:
            return None, None, self.refuse(400, f"Unexpected token in JSON: {error}")
        if not isinstance(body, dict):
            return None, None, self.refuse(400, '"value" must be of type object')
        faults = []
        for name, kind in schema.items():
            value = body.get(name)
            if name not in body:
                faults.append(f'"{name}" is required')
            elif kind is str and not isinstance(value, str):
                faults.append(f'"{name}" must be a string')
            elif kind is str and not value:
                faults.append(f'"{name}" is not allowed to be empty')
            elif kind is int:
                try:
                    number = float(value or "none")
                except (TypeError, ValueError):
                    faults.append(f'"{name}" must be a number')
                else:
                    if number < 1:
                        faults.append(f'"{name}" must be greater than or equal to 1')
        faults += [f'"{name}" is not allowed' for name in body if name not in schema]
        if faults:
            return None, None, self.refuse(400, ". ".join(faults))
        return member, body, None

    def view(self, a: dict[str, Any]) -> dict[str, Any]:
        pair, text, credits_, _ = SEGMENTS[a["ref"]]
        return {
            "assignment": a["id"],
            "segment-ref": a["ref"],
            "pair": pair,
            "stage": a["stage"],
            "working-text": text,
            "share": {"credits": credits_},
            "brief": "Practice round: the target text is the working text in capital letters (majúscules).",
        }

    # -- actions -------------------------------------------------------------
    def register(self, r: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(24)
        self.members[token] = {"id": "soci-" + secrets.token_hex(3), "credits": 100}
        return Response(
            200,
            {
                "agent_id": self.members[token]["id"],
                "access_token": token,
                "credits": 100,
            },
        )

    def tasks(self, r: Request) -> Response:
        limit = r.query.get("limit", "100")
        if not limit.isdigit():
            return self.refuse(400, '"limit" must be a number')
        answer: dict[str, Any] = {"open": {}, "taken": {}}
        for ref in list(SEGMENTS)[: int(limit)]:
            pair, text, credits_, _ = SEGMENTS[ref]
            group = answer["taken" if ref in self.taken else "open"]
            group.setdefault(pair, []).append(
                {
                    "segment-ref": ref,
                    "words": len(text.split()),
                    "share": {"credits": credits_},
                }
            )
        return Response(200, answer)

    marketplace = tasks

    def claim(self, r: Request) -> Response:
        member, body, no = self.enter(r, {"segment-ref": str, "member-name": str})
        if no:
            return no
        ref = body["segment-ref"]
        if ref not in SEGMENTS:
            return self.refuse(404, f"There is no segment {ref}")
        if self.taken.get(ref) is member:
            return Response(
                200,
                self.view(
                    next(a for a in self.assignments.values() if a["ref"] == ref)
                ),
            )
        if ref in self.taken:
            return self.refuse(409, f"Segment {ref} is taken by another member")
        self.taken[ref] = member
        a = {
            "id": "enc-" + secrets.token_hex(4),
            "ref": ref,
            "member": member,
            "stage": "translating",
            "due": 0.0,
        }
        self.assignments[a["id"]] = a
        self.book.claimed(ref)
        return Response(200, self.view(a))

    def mine(self, member: Any, key: str) -> tuple[Any, Response | None]:
        a = self.assignments.get(key)
        if a is None:
            return None, self.refuse(404, f"There is no assignment {key}")
        if a["member"] is not member:
            return None, self.refuse(403, "That assignment is another member's")
        return a, None

    def submit(self, r: Request) -> Response:
        member, body, no = self.enter(
            r, {"assignment": str, "target-text": str, "minutes-spent": int}
        )
        if no:
            return no
        a, no = self.mine(member, body["assignment"])
        if no:
            return no
        if a["stage"] == "paid":
            return self.refuse(409, "This assignment is paid and closed")
        if body["target-text"] != SEGMENTS[a["ref"]][1].upper():
            return self.refuse(
                422,
                "The target text does not follow the brief: the working text in capital letters",
            )
        if a["stage"] == "translating":
            a.update(stage="peer-review", due=time.monotonic() + 1.5)
        return Response(
            200,
            {
                **self.view(a),
                "note": "Two members will read it now. Complete the assignment when they have.",
            },
        )

    def complete(self, r: Request) -> Response:
        member, body, no = self.enter(r, {"assignment": str})
        if no:
            return no
        a, no = self.mine(member, body["assignment"])
        if no:
            return no
        if a["stage"] == "translating":
            return self.refuse(
                409, "Nothing has been submitted for this assignment yet"
            )
        credits_ = SEGMENTS[a["ref"]][2]
        if a["stage"] == "peer-review":
            if time.monotonic() < a["due"]:
                return self.refuse(
                    409,
                    "The peer review is not finished yet, try again in a moment",
                    {"Retry-After": "1"},
                )
            a["stage"] = "paid"
            member["credits"] += credits_
            self.book.pay(a["ref"], credits_)
        return Response(
            200,
            {
                **self.view(a),
                "paid": {"credits": credits_},
                "member-balance": member["credits"],
            },
        )
