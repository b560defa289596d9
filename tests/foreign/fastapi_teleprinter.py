"""FastAPI, pydantic strict and extra="forbid", with the team's own exception handler: a
teleprinter relay whose old machines print capitals only.

Listing: {"ok": true, "items": [...], "total": n}; a dispatch has dispatch_no (int), line, words,
tariff {base, urgency}, state; what it says is told on claiming. It pays base + urgency.
claim: {"dispatch_no": int, "operator": the agent's own agent_id}
 -> {"ok": true, "lease": {lease_id, dispatch_no, traffic {plain, wanted}, until}}.
submit: {"lease_id": str, "traffic": {"encoding": "baudot"|"ita2"|"utf8", "printed": str}}
 -> settles and pays at once: {"ok": true, "state": "settled", "credited": n, "balance": n}.
complete: {"lease_id": str}; a formality that answers the settlement again.
Errors: {"ok": false, "error": {"kind", "summary", "fields": [{"where", "problem", "got"?}]}};
422 for validation, 401, 404, 409 as kinds "auth", "unknown", "state", 422 "traffic".
"""

import time
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ENCODINGS = ("baudot", "ita2", "utf8")
DISPATCHES = [
    ("north coast", "arriving friday on the noon boat", 6, 1),
    ("capital", "price of barley fell again, hold the whole cargo", 9, 4),
    ("islands", "send two coils of wire and a lamp", 8, 0),
    ("observatory", "comet seen low in the west shortly after sunset", 10, 5),
    ("railway", "line clear from junction to summit, proceed with caution", 11, 6),
    ("harbour office", "pilot wanted at the outer buoy by first light tomorrow", 12, 8),
]
Fault = tuple[str, str]


def error(
    status: int, kind: str, summary: str, fields: list[Any] | None = None
) -> Response:
    return Response(
        status,
        {
            "ok": False,
            "error": {"kind": kind, "summary": summary, "fields": fields or []},
        },
    )


def of_int(value: Any, where: str) -> list[Fault]:
    if isinstance(value, bool) or not isinstance(value, int):
        return [(where, "Input should be a valid integer")]
    return []


def of_str(value: Any, where: str) -> list[Fault]:
    if not isinstance(value, str):
        return [(where, "Input should be a valid string")]
    return [] if value else [(where, "String should have at least 1 character")]


def of_encoding(value: Any, where: str) -> list[Fault]:
    if not isinstance(value, str) or value not in ENCODINGS:
        return [(where, "Input should be 'baudot', 'ita2' or 'utf8'")]
    return []


def model(name: str, **fields: Any) -> Any:
    def check(value: Any, where: str) -> list[Fault]:
        if not isinstance(value, dict):
            message = (
                "Input should be a valid dictionary or object to extract fields from"
            )
            return [
                (where, message if where == "body" else f"Input should be a {name}")
            ]
        faults: list[Fault] = []
        for field, inner in fields.items():
            if field in value:
                faults += inner(value[field], f"{where}.{field}")
            else:
                faults.append((f"{where}.{field}", "Field required"))
        for field in value:
            if field not in fields:
                faults.append((f"{where}.{field}", "Extra inputs are not permitted"))
        return faults

    return check


CLAIM = model("ClaimIn", dispatch_no=of_int, operator=of_str)
SUBMIT = model(
    "SubmitIn",
    lease_id=of_str,
    traffic=model("valid Traffic object", encoding=of_encoding, printed=of_str),
)
COMPLETE = model("CompleteIn", lease_id=of_str)


class FastapiTeleprinter(Backend):
    def __init__(self) -> None:
        super().__init__()
        self.operators: dict[str, dict[str, Any]] = {}
        self.leases: dict[str, dict[str, Any]] = {}
        self.dispatches: dict[int, dict[str, Any]] = {}
        for number, (line, plain, base, urgency) in enumerate(DISPATCHES):
            self.dispatches[7001 + number * 4] = {
                "line": line,
                "plain": plain,
                "tariff": {"base": base, "urgency": urgency},
                "state": "queued",
            }

    def texts(self) -> dict[str, str]:
        return {str(key): row["plain"] for key, row in self.dispatches.items()}

    def current(self, request: Request) -> Response | None:
        """Depend on HTTPBearer and the operator."""
        if not request.token:
            return error(403, "auth", "Not authenticated")
        if request.token not in self.operators:
            return error(401, "auth", "Invalid access token")
        return None

    def body(
        self, request: Request, schema: Any
    ) -> tuple[dict[str, Any], Response | None]:
        if refusal := self.current(request):
            return {}, refusal
        faults: list[Fault]
        value: Any = None
        if not request.raw:
            faults = [("body", "Field required")]
        else:
            try:
                value = request.json()
                faults = schema(value, "body")
            except ValueError:
                faults = [("body", "JSON decode error")]
        if not faults:
            return value, None
        fields = [{"where": where, "problem": problem} for where, problem in faults]
        return {}, error(
            422, "validation", f"{len(fields)} problem(s) with the request", fields
        )

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = f"tp.{uuid.uuid4().hex}{uuid.uuid4().hex}"
        operator = {"agent_id": f"op_{uuid.uuid4().hex[:10]}", "credits": 100}
        self.operators[token] = operator
        return Response(200, {"ok": True, **operator, "access_token": token})

    def listing(self, request: Request) -> Response:
        limit = request.query.get("limit", "20")
        if not limit.isdecimal():
            problem = (
                "Input should be a valid integer, unable to parse string as an integer"
            )
            fields = [{"where": "query.limit", "problem": problem}]
            return error(422, "validation", "1 problem(s) with the request", fields)
        if not 1 <= int(limit) <= 100:
            fields = [
                {"where": "query.limit", "problem": "Input should be from 1 to 100"}
            ]
            return error(422, "validation", "1 problem(s) with the request", fields)
        items = [
            {
                "dispatch_no": number,
                "line": row["line"],
                "job": "Retype the plain traffic in upper case. Traffic is shown once leased.",
                "words": len(row["plain"].split()),
                "tariff": row["tariff"],
                "state": row["state"],
            }
            for number, row in self.dispatches.items()
            if row["state"] == "queued"
        ]
        return Response(
            200, {"ok": True, "items": items[: int(limit)], "total": len(items)}
        )

    def tasks(self, request: Request) -> Response:
        return self.current(request) or self.listing(request)

    def marketplace(self, request: Request) -> Response:
        return self.listing(request)

    def claim(self, request: Request) -> Response:
        body, refusal = self.body(request, CLAIM)
        if refusal:
            return refusal
        operator = self.operators[request.token]["agent_id"]
        if body["operator"] != operator:
            problem = (
                "operator must be the agent_id that the access token was issued to"
            )
            fields = [{"where": "body.operator", "problem": problem}]
            return error(422, "validation", "1 problem(s) with the request", fields)
        row = self.dispatches.get(body["dispatch_no"])
        if not row:
            return error(404, "unknown", f"No dispatch {body['dispatch_no']}")
        for lease in self.leases.values():
            if lease["dispatch_no"] == body["dispatch_no"]:
                if lease["operator"] == operator and row["state"] == "leased":
                    return self.show(lease)
                return error(409, "state", f"Dispatch is {row['state']}, not queued")
        lease = {
            "lease_id": f"L{uuid.uuid4().hex[:12]}",
            "dispatch_no": body["dispatch_no"],
            "operator": operator,
            "until": int(time.time()) + 900,
        }
        self.leases[lease["lease_id"]] = lease
        row["state"] = "leased"
        self.book.claimed(str(body["dispatch_no"]))
        return self.show(lease)

    def show(self, lease: dict[str, Any]) -> Response:
        plain = self.dispatches[lease["dispatch_no"]]["plain"]
        traffic = {"plain": plain, "wanted": "upper case"}
        return Response(200, {"ok": True, "lease": {**lease, "traffic": traffic}})

    def leased(self, request: Request, body: dict[str, Any]) -> dict[str, Any] | None:
        lease = self.leases.get(body["lease_id"])
        agent = self.operators[request.token]["agent_id"]
        return lease if lease and lease["operator"] == agent else None

    def settlement(self, request: Request, lease: dict[str, Any]) -> Response:
        return Response(
            200,
            {
                "ok": True,
                "lease_id": lease["lease_id"],
                "state": "settled",
                "credited": sum(
                    self.dispatches[lease["dispatch_no"]]["tariff"].values()
                ),
                "balance": self.operators[request.token]["credits"],
            },
        )

    def submit(self, request: Request) -> Response:
        body, refusal = self.body(request, SUBMIT)
        if refusal:
            return refusal
        lease = self.leased(request, body)
        if not lease:
            return error(404, "unknown", "You hold no such lease")
        row = self.dispatches[lease["dispatch_no"]]
        if row["state"] == "settled":
            return error(409, "state", "Lease is settled already")
        if body["traffic"]["printed"] != row["plain"].upper():
            problem = "Not the plain traffic in upper case"
            fields = [{"where": "body.traffic.printed", "problem": problem}]
            return error(
                422, "traffic", "Printed traffic was refused by the checker", fields
            )
        row["state"] = "settled"
        credits_ = sum(row["tariff"].values())
        self.operators[request.token]["credits"] += credits_
        self.book.pay(str(lease["dispatch_no"]), credits_)
        return self.settlement(request, lease)

    def complete(self, request: Request) -> Response:
        body, refusal = self.body(request, COMPLETE)
        if refusal:
            return refusal
        lease = self.leased(request, body)
        if not lease:
            return error(404, "unknown", "You hold no such lease")
        if self.dispatches[lease["dispatch_no"]]["state"] != "settled":
            return error(
                409, "state", "Submit the printed traffic first; that settles the lease"
            )
        return self.settlement(request, lease)
