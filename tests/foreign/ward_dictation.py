"""Sanelupooli: the dictation pool of a Finnish university hospital."""

import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

DICTATIONS = {
    "san-0301": ("cardiology", "patient reports no chest pain since tuesday", 18),
    "san-0302": (
        "radiology",
        "no fracture seen in the left wrist, control in two weeks",
        22,
    ),
    "san-0305": ("surgery", "wound is clean and dry, sutures out on day ten", 27),
    "san-0306": ("neurology", "reflexes are symmetric, gait is steady", 16),
    "san-0310": (
        "paediatrics",
        "ear infection on the right, amoxicillin for five days",
        31,
    ),
}
ROLES = ["typist", "ward-secretary", "speech-agent"]
REVIEW = 1.5  # seconds until the "physician" has signed


class Dictation(Backend):
    """A Bundle of dictations without their text (privacy); the claim's answer tells it.

    Everything private. claim {dictation_id, typist: {name, role (one of three)}};
    submit {dictation_id, clean_copy}; complete {dictation_id} answers in_review, and
    asked again a little later signed_off with credited. Refusals are OperationOutcomes
    in the manner of FHIR: every fault is an issue with expression and diagnostics.
    """

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.state: dict[str, dict[str, Any]] = {
            k: {"state": "ready", "agent": None, "due": 0.0} for k in DICTATIONS
        }

    def texts(self) -> dict[str, str]:
        return {k: v[1] for k, v in DICTATIONS.items()}

    # -- answers -------------------------------------------------------------
    def outcome(self, status: int, *issues: tuple[str, str, str]) -> Response:
        rows = []
        for code, diagnostics, expression in issues:
            row: dict[str, Any] = {
                "severity": "error",
                "code": code,
                "diagnostics": diagnostics,
            }
            if expression:
                row["expression"] = [expression]
            rows.append(row)
        return Response(status, {"resourceType": "OperationOutcome", "issue": rows})

    def missing(self, request: Request) -> Response:
        return self.outcome(
            404,
            ("not-found", f"Unknown interaction: {request.method} {request.path}", ""),
        )

    def settle(self) -> None:
        for key, s in self.state.items():
            if s["state"] == "in_review" and time.monotonic() >= s["due"]:
                s["state"] = "signed_off"
                s["agent"]["credits"] += DICTATIONS[key][2]
                self.book.pay(key, DICTATIONS[key][2])

    def resource(self, key: str) -> dict[str, Any]:
        ward, _, credits_ = DICTATIONS[key]
        return {
            "resourceType": "Dictation",
            "dictation_id": key,
            "specialty": ward,
            "state": self.state[key]["state"],
            "compensation": {"value": credits_, "unit": "credits"},
            "instruction": "Type a clean copy of the dictation in capital letters.",
        }

    def enter(self, r: Request, needs: list[str]) -> tuple[Any, Any, Response | None]:
        self.settle()
        agent = self.agents.get(r.token)
        if agent is None:
            return (
                None,
                None,
                self.outcome(401, ("login", "Bearer token missing or unknown", "")),
            )
        try:
            body = r.json()
        except ValueError as error:
            return (
                None,
                None,
                self.outcome(400, ("structure", f"Body is not JSON: {error}", "")),
            )
        if not isinstance(body, dict):
            return (
                None,
                None,
                self.outcome(400, ("structure", "Body must be a JSON object", "")),
            )
        issues = []
        for path in needs:
            value: Any = body
            for part in path.split("."):
                value = value.get(part) if isinstance(value, dict) else None
            if value is None or value == "":
                issues.append(
                    (
                        "required",
                        f"Element '{path}' is required (min 1, type string)",
                        path,
                    )
                )
            elif not isinstance(value, str):
                issues.append(
                    ("value", f"Element '{path}' must be of type string", path)
                )
            elif path == "typist.role" and value not in ROLES:
                issues.append(
                    (
                        "code-invalid",
                        f"'{value}' is not in the value set: {', '.join(ROLES)}",
                        path,
                    )
                )
        if issues:
            return None, None, self.outcome(400, *issues)
        key = body["dictation_id"]
        if key not in DICTATIONS:
            return (
                None,
                None,
                self.outcome(
                    404,
                    ("not-found", f"Dictation '{key}' is not known", "dictation_id"),
                ),
            )
        owner = self.state[key]["agent"]
        if owner is not None and owner is not agent:
            return (
                None,
                None,
                self.outcome(
                    403,
                    (
                        "forbidden",
                        f"Dictation '{key}' is assigned to someone else",
                        "dictation_id",
                    ),
                ),
            )
        return agent, body, None

    # -- actions -------------------------------------------------------------
    def register(self, r: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(30)
        self.agents[token] = {
            "id": f"Practitioner-{secrets.token_hex(3)}",
            "credits": 100,
        }
        return Response(
            200,
            {
                "agent_id": self.agents[token]["id"],
                "access_token": token,
                "credits": 100,
            },
        )

    def marketplace(self, r: Request) -> Response:
        self.settle()
        ready = [k for k, s in self.state.items() if s["state"] == "ready"]
        return Response(
            200, {"resourceType": "Bundle", "type": "summary", "total": len(ready)}
        )

    def tasks(self, r: Request) -> Response:
        self.settle()
        if r.token not in self.agents:
            return self.outcome(401, ("login", "Bearer token missing or unknown", ""))
        limit = r.query.get("limit", "20")
        if not limit.isdigit() or not 1 <= int(limit) <= 100:
            return self.outcome(
                400,
                (
                    "value",
                    "Parameter 'limit' must be an integer from 1 to 100",
                    "limit",
                ),
            )
        me = self.agents[r.token]
        keys = [
            k
            for k, s in self.state.items()
            if s["state"] == "ready" or s["agent"] is me
        ]
        return Response(
            200,
            {
                "resourceType": "Bundle",
                "type": "searchset",
                "total": len(keys),
                "link": [
                    {"relation": "self", "url": r.base + r.path + "?limit=" + limit}
                ],
                "entry": [
                    {"fullUrl": f"urn:sanelu:{k}", "resource": self.resource(k)}
                    for k in keys[: int(limit)]
                ],
            },
        )

    def claim(self, r: Request) -> Response:
        agent, body, no = self.enter(r, ["dictation_id", "typist.name", "typist.role"])
        if no:
            return no
        key = body["dictation_id"]
        s = self.state[key]
        if s["agent"] is None:
            s.update(agent=agent, state="in_progress")
            self.book.claimed(key)
        return Response(
            200,
            {
                **self.resource(key),
                "typist": body["typist"],
                "dictated_text": DICTATIONS[key][1],
            },
        )

    def submit(self, r: Request) -> Response:
        _agent, body, no = self.enter(r, ["dictation_id", "clean_copy"])
        if no:
            return no
        key = body["dictation_id"]
        s = self.state[key]
        if s["state"] not in ("in_progress", "typed"):
            return self.outcome(
                409,
                (
                    "conflict",
                    f"Dictation is {s['state']}; only in_progress can be typed",
                    "",
                ),
            )
        if body["clean_copy"] != DICTATIONS[key][1].upper():
            return self.outcome(
                422,
                (
                    "business-rule",
                    "clean_copy is not the dictation in capital letters",
                    "clean_copy",
                ),
            )
        s["state"] = "typed"
        return Response(200, self.resource(key))

    def complete(self, r: Request) -> Response:
        agent, body, no = self.enter(r, ["dictation_id"])
        if no:
            return no
        key = body["dictation_id"]
        s = self.state[key]
        if s["state"] in ("ready", "in_progress"):
            return self.outcome(
                409,
                (
                    "conflict",
                    f"Dictation is {s['state']}; a clean copy has to be submitted first",
                    "",
                ),
            )
        if s["state"] == "typed":
            s.update(state="in_review", due=time.monotonic() + REVIEW)
        if s["state"] == "in_review":
            return Response(
                200,
                {
                    **self.resource(key),
                    "note": "Waiting for the physician's signature (allekirjoitus); "
                    "call again to see the outcome",
                },
                {"Retry-After": "2"},
            )
        return Response(
            200,
            {
                **self.resource(key),
                "credited": DICTATIONS[key][2],
                "account_balance": agent["credits"],
            },
        )
