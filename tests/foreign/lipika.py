"""Lipika: a typing bureau for printing presses, by a small product team in Bengaluru, India.

Haskell: servant and aeson. Records in camelCase, sum types as {"tag": ..., "contents": ...},
lists bare. Refusals are servant's: plain text without wrapper, and what aeson says of a body,
one complaint at a time. The passage is shown only to whoever took the gig. A wrong result is
answered with 200 and the outcome Rejected; completing pays.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import secrets
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_GIGS = [
    ("Wedding card, front", "together with their families, meera and arjun", 24, 3),
    ("Shop board", "sri lakshmi provision stores, since 1974", 35, 1),
    ("Railway notice", "passengers are requested to stand clear", 15, 7),
    ("Book spine", "a short history of the deccan, volume two", 41, 2),
    ("Exhibition banner", "handloom and handicrafts, 10 am to 8 pm", 29, 4),
]
_KINDS = {
    dict: "Object",
    list: "Array",
    str: "String",
    bool: "Boolean",
    int: "Number",
    float: "Number",
}
_HASKELL = {str: ("Text", "String"), int: ("Int", "Number")}


class _Thrown(Exception):  # noqa: N818
    """throwError errNNN { errBody = ... }"""

    def __init__(self, status: int, body: str, **headers: str) -> None:
        super().__init__(body)
        self.response = Response(
            status, body, {key.replace("_", "-"): v for key, v in headers.items()}
        )


def _kind(value: Any) -> str:
    return "Null" if value is None else _KINDS[type(value)]


def _aeson(path: str, name: str, complaint: str) -> _Thrown:
    return _Thrown(400, f"Error in {path}: parsing {name} failed, {complaint}")


def _record(value: Any, path: str, name: str, fields: dict[str, type]) -> None:
    """Check a record as a generically derived FromJSON instance would."""
    full = f"Lipika.Api.Types.{name}({name})"
    if not isinstance(value, dict):
        raise _aeson(path, full, f"expected Object, but encountered {_kind(value)}")
    for key, wanted in fields.items():
        if key not in value:
            raise _aeson(path, full, f'key "{key}" not found')
        if wanted is dict:
            continue  # a type of its own, which its own parser checks
        haskell, expected = _HASKELL[wanted]
        if _kind(value[key]) != expected:
            raise _aeson(
                f"{path}.{key}",
                haskell,
                f"expected {expected}, but encountered {_kind(value[key])}",
            )
        if wanted is int and value[key] != int(value[key]):
            raise _aeson(
                f"{path}.{key}",
                haskell,
                f"value is either floating or will cause over or underflow {value[key]}",
            )


def _work(value: Any, path: str) -> str:
    """Parse data Work = Inline Text | Hosted Text."""
    name = "Lipika.Api.Types.Work"
    if not isinstance(value, dict):
        raise _aeson(path, name, f"expected Object, but encountered {_kind(value)}")
    if "tag" not in value:
        raise _aeson(path, name, 'key "tag" not found')
    tag = value["tag"]
    if tag not in ("Inline", "Hosted"):
        found = json.dumps(tag)
        raise _aeson(
            f"{path}.tag",
            name,
            f'expected tag field to be one of ["Inline","Hosted"], but found tag {found}',
        )
    if "contents" not in value:
        raise _aeson(path, f"{name}({tag})", 'key "contents" not found')
    if not isinstance(value["contents"], str):
        raise _aeson(
            f"{path}.contents",
            "Text",
            f"expected String, but encountered {_kind(value['contents'])}",
        )
    if tag == "Hosted":
        raise _Thrown(
            422, "Hosted work is not enabled for this bureau, please send Inline work"
        )
    return value["contents"]


class Lipika(Backend):
    """The typing bureau."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._gigs: dict[str, dict[str, Any]] = {}
        self._assignments: dict[str, dict[str, Any]] = {}
        for headline, passage, value, revision in _GIGS:
            key = f"gig_{secrets.token_hex(5)}"
            self._gigs[key] = {
                "passage": passage,
                "shown": {
                    "gigRef": key,
                    "headline": headline,
                    "brief": "Set the passage in ALL CAPS (uppercase every letter); leave the rest as it is.",
                    "payout": {"unit": "Credit", "value": value},
                    "revision": revision,
                    "stage": {"tag": "Listed"},
                },
            }

    def texts(self) -> dict[str, str]:
        return {key: gig["passage"] for key, gig in self._gigs.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, "")

    def handle(self, request: Request) -> Response:
        answer = super().handle(request)
        if isinstance(answer.body, (dict, list)):
            answer.headers.setdefault("Content-Type", "application/json;charset=utf-8")
        return answer

    def _agent(self, request: Request) -> dict[str, Any]:
        if not request.headers.get("Authorization"):
            raise _Thrown(401, "Missing auth header", WWW_Authenticate="Bearer")
        if request.token not in self._agents:
            raise _Thrown(403, "Invalid token")
        return self._agents[request.token]

    def _body(
        self, request: Request, name: str, fields: dict[str, type]
    ) -> dict[str, Any]:
        kind = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
        if kind != "application/json":
            raise _Thrown(415, "")
        try:
            body = request.json()
        except ValueError:
            if not request.raw.strip():
                raise _Thrown(400, "Error in $: not enough input") from None
            rest = request.raw.decode(errors="replace")[:40]
            raise _Thrown(
                400, f"Error in $: Failed reading: not a valid json value at '{rest}'"
            ) from None
        _record(body, "$", name, fields)
        return body

    def register(self, request: Request) -> Response:
        key, token = f"agt_{secrets.token_hex(6)}", f"lpk_{secrets.token_urlsafe(24)}"
        self._agents[token] = {"key": key, "balance": 100}
        self.book.registrations += 1
        return Response(200, {"agent_id": key, "access_token": token, "credits": 100})

    def _listing(self, request: Request) -> Response:
        asked = request.query.get("limit", "25")
        if not asked.lstrip("-").isdecimal():
            return Response(
                400,
                "Error parsing query parameter limit failed: could not parse: "
                f"`{asked}' (input does not start with a digit)",
            )
        rows = [
            g["shown"]
            for g in self._gigs.values()
            if g["shown"]["stage"]["tag"] == "Listed"
        ]
        return Response(
            200, rows[: max(0, int(asked))], {"X-Total-Count": str(len(rows))}
        )

    def marketplace(self, request: Request) -> Response:
        return self._listing(request)

    def tasks(self, request: Request) -> Response:
        try:
            self._agent(request)
        except _Thrown as thrown:
            return thrown.response
        return self._listing(request)

    def claim(self, request: Request) -> Response:
        try:
            agent = self._agent(request)
            body = self._body(request, "TakeGig", {"gigRef": str, "revision": int})
            gig = self._gigs.get(body["gigRef"])
            if gig is None:
                raise _Thrown(404, f"No gig with gigRef {body['gigRef']}")
            shown = gig["shown"]
            if shown["stage"]["tag"] != "Listed":
                raise _Thrown(
                    409,
                    f"Gig {body['gigRef']} is {shown['stage']['tag']}, only Listed gigs can be taken",
                )
            if body["revision"] != shown["revision"]:
                raise _Thrown(
                    412,
                    f"revision {body['revision']} is stale, current revision is {shown['revision']}",
                )
        except _Thrown as thrown:
            return thrown.response
        key = f"asg_{secrets.token_hex(6)}"
        self._assignments[key] = {"agent": agent, "gig": gig, "receipt": ""}
        shown["stage"] = {"tag": "Taken", "contents": agent["key"]}
        shown["revision"] += 1
        self.book.claimed(body["gigRef"])
        return Response(
            200,
            {
                "assignmentRef": key,
                "takenAt": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
                "gig": shown,
                "material": {"passage": gig["passage"], "language": "en-IN"},
            },
        )

    def _assignment(self, agent: dict[str, Any], key: str) -> dict[str, Any]:
        assignment = self._assignments.get(key)
        if assignment is None or assignment["agent"] is not agent:
            raise _Thrown(404, f"No assignment with assignmentRef {key}")
        return assignment

    def submit(self, request: Request) -> Response:
        try:
            agent = self._agent(request)
            body = self._body(request, "TurnIn", {"assignmentRef": str, "work": dict})
            work = _work(body["work"], "$.work")
            assignment = self._assignment(agent, body["assignmentRef"])
            if assignment["receipt"]:
                raise _Thrown(
                    409,
                    f"Work was already accepted under receiptRef {assignment['receipt']}",
                )
        except _Thrown as thrown:
            return thrown.response
        if work != assignment["gig"]["passage"].upper():
            reason = "Work does not follow the brief of the gig, you may turn in again"
            return Response(
                200, {"outcome": {"tag": "Rejected", "contents": reason}}, refused=True
            )
        assignment["receipt"] = f"rcp_{secrets.token_hex(6)}"
        assignment["gig"]["shown"]["stage"] = {"tag": "Proofed"}
        return Response(
            200,
            {
                "outcome": {
                    "tag": "Accepted",
                    "contents": {"receiptRef": assignment["receipt"]},
                }
            },
        )

    def complete(self, request: Request) -> Response:
        try:
            agent = self._agent(request)
            body = self._body(
                request,
                "CloseGig",
                {"assignmentRef": str, "receiptRef": str, "minutesSpent": int},
            )
            assignment = self._assignment(agent, body["assignmentRef"])
            if not assignment["receipt"]:
                raise _Thrown(409, "Nothing has been accepted for this assignment yet")
            if body["receiptRef"] != assignment["receipt"]:
                raise _Thrown(
                    422,
                    f"receiptRef {body['receiptRef']} does not belong to this assignment",
                )
            if body["minutesSpent"] < 1:
                raise _Thrown(422, "minutesSpent must be at least 1")
            shown = assignment["gig"]["shown"]
            if shown["stage"]["tag"] == "Closed":
                raise _Thrown(409, f"Gig {shown['gigRef']} is already Closed")
        except _Thrown as thrown:
            return thrown.response
        shown["stage"] = {"tag": "Closed"}
        value = shown["payout"]["value"]
        agent["balance"] += value
        self.book.pay(shown["gigRef"], value)
        return Response(
            200,
            {"closed": shown["gigRef"], "credited": value, "balance": agent["balance"]},
        )
