"""Oxlantern: a small Go service whose structs have no tags and whose errors are prose.

Names are the exported ones (Ref, Words, Hold), lists are bare arrays, and whatever is wrong
comes as one line of plain text, as http.Error writes it. Delivery pays.
"""

import json
import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_ERRANDS = [
    ("er-3f0a91", "ferry the lamp across at dusk", 7),
    ("er-58c2d4", "no oxen past the second gate", 19),
    ("er-7be613", "oil, wick, flint and a dry cloth", 12),
    ("er-94d7f0", "leave the lantern lit until 5 a.m.", 26),
    ("er-a1e85c", "the coast road is closed from mile 12", 9),
    ("er-d60b37", "count every yoke twice, then sign", 16),
]
_LONGEST = timedelta(hours=1)
_UNITS = {
    "h": 3600.0,
    "m": 60.0,
    "s": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "µs": 1e-6,
    "ns": 1e-9,
}
_Handler = Callable[[dict[str, Any], Request], Response]
_KINDS = {bool: "bool", int: "number", float: "number", list: "array", dict: "object"}


class _Prose(Exception):  # noqa: N818
    """An error as the handler's last lines turn it into http.Error."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


def _duration(text: str) -> timedelta:
    """Read a duration as time.ParseDuration does."""
    if not text or not re.fullmatch(r"[-+]?(?:[\d.]+[a-zµ]*)+", text):
        raise _Prose(400, f'claim: Hold: time: invalid duration "{text}"')
    seconds = 0.0
    for number, unit in re.findall(r"([\d.]+)([a-zµ]*)", text):
        if not unit:
            raise _Prose(400, f'claim: Hold: time: missing unit in duration "{text}"')
        if unit not in _UNITS:
            what = f'unknown unit "{unit}" in duration "{text}"'
            raise _Prose(400, f"claim: Hold: time: {what}")
        try:
            seconds += float(number) * _UNITS[unit]
        except ValueError:
            raise _Prose(400, f'claim: Hold: time: invalid duration "{text}"') from None
    if text.startswith("-") or seconds <= 0 or seconds > _LONGEST.total_seconds():
        what = "out of range: more than 0s, at most 1h0m0s"
        raise _Prose(400, f"claim: Hold {text} is {what}")
    return timedelta(seconds=seconds)


def _now() -> datetime:
    return datetime.now(UTC)


def _rfc3339(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def _encode(body: Any, headers: dict[str, str] | None = None) -> Response:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":")) + "\n"
    return Response(200, text, {"Content-Type": "application/json", **(headers or {})})


class Oxlantern(Backend):
    """One errand at a time, held for as long as the agent asked; delivery pays."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._leases: dict[str, dict[str, Any]] = {}
        self._receipts: dict[str, dict[str, Any]] = {}
        self._errands: dict[str, dict[str, Any]] = {
            ref: {
                "Ref": ref,
                "Kind": "uppercase",
                "Words": words,
                "Pay": pay,
                "Note": "Give the Words back in upper case, nothing else changed.",
                "Taken": False,
            }
            for ref, words, pay in _ERRANDS
        }

    def texts(self) -> dict[str, str]:
        """Return the words of every errand."""
        return {ref: errand["Words"] for ref, errand in self._errands.items()}

    def register(self, request: Request) -> Response:
        """Sign an agent on."""
        agent = {"ID": f"ox-{secrets.token_hex(5)}", "Balance": 100}
        token = secrets.token_hex(20)
        self._agents[token] = agent
        self.book.registrations += 1
        return _encode({"agent_id": agent["ID"], "access_token": token, "credits": 100})

    def marketplace(self, request: Request) -> Response:
        """List the errands that nobody has."""
        self._reclaim()
        free = [errand for errand in self._errands.values() if not errand["Taken"]]
        return _encode(free or None)  # a nil slice

    def agents(self, request: Request) -> Response:
        """List who signed on."""
        return _encode([{"ID": agent["ID"]} for agent in self._agents.values()] or None)

    directory = agents

    def tasks(self, request: Request) -> Response:
        return self._serve(self._list, request)

    def claim(self, request: Request) -> Response:
        return self._serve(self._claim, request)

    def submit(self, request: Request) -> Response:
        return self._serve(self._deliver, request)

    def complete(self, request: Request) -> Response:
        return self._serve(self._file, request)

    def post(self, request: Request) -> Response:
        return self._serve(self._post, request)

    def _list(self, agent: dict[str, Any], request: Request) -> Response:
        self._reclaim()
        limit, offset = (
            self._atoi(request, "limit", 10),
            self._atoi(request, "offset", 0),
        )
        if not 1 <= limit <= 100:
            raise _Prose(400, f"list: limit {limit} is out of range: from 1 to 100")
        rows, headers = list(self._errands.values()), {}
        if offset + limit < len(rows):
            after = (
                f"{request.base}{request.path}?limit={limit}&offset={offset + limit}"
            )
            headers["Link"] = f'<{after}>; rel="next"'
        return _encode(rows[offset : offset + limit] or None, headers)

    def _claim(self, agent: dict[str, Any], request: Request) -> Response:
        body = self._decode(request, "claim", "Ref", "Hold")
        if not body["Ref"]:
            raise _Prose(
                400, "claim: Ref is empty: want the Ref of an errand on the list"
            )
        errand = self._errands.get(body["Ref"])
        if errand is None:
            raise _Prose(404, f"claim: there is no errand {json.dumps(body['Ref'])}")
        if not body["Hold"]:
            what = (
                'say how long you need it, as a duration such as "20m", at most 1h0m0s'
            )
            raise _Prose(400, f"claim: Hold is empty: {what}")
        hold = _duration(body["Hold"])
        self._reclaim()
        if errand["Taken"]:
            raise _Prose(409, f"claim: errand {errand['Ref']} is already taken")
        for key, lease in self._leases.items():
            if lease["Agent"] == agent["ID"] and not lease["Receipt"]:
                what = (
                    f"you still hold {lease['Ref']} on lease {key}; deliver that first"
                )
                raise _Prose(409, f"claim: one errand at a time: {what}")
        key, until = f"ls-{secrets.token_hex(6)}", _now() + hold
        lease = {"Agent": agent["ID"], "Ref": errand["Ref"], "Until": until}
        self._leases[key] = {**lease, "Receipt": ""}
        errand["Taken"] = True
        self.book.claimed(errand["Ref"])
        return _encode({"Lease": key, "Ref": errand["Ref"], "Until": _rfc3339(until)})

    def _deliver(self, agent: dict[str, Any], request: Request) -> Response:
        body = self._decode(request, "deliver", "Lease", "Output")
        if not body["Lease"]:
            raise _Prose(
                400, "deliver: Lease is empty: want the Lease that claiming gave you"
            )
        self._reclaim()
        lease = self._leases.get(body["Lease"])
        if lease is None or lease["Agent"] != agent["ID"]:
            raise _Prose(
                404, f"deliver: no lease {json.dumps(body['Lease'])}, or it ran out"
            )
        if lease["Receipt"]:
            raise _Prose(409, f"deliver: already delivered, receipt {lease['Receipt']}")
        if not body["Output"]:
            raise _Prose(
                400, "deliver: Output is empty: want the finished words, a string"
            )
        errand = self._errands[lease["Ref"]]
        if body["Output"] != errand["Words"].upper():
            what = f"not the Words of {lease['Ref']} in upper case"
            until = f"the lease is yours until {_rfc3339(lease['Until'])}"
            raise _Prose(422, f"deliver: output not accepted: {what}; {until}")
        number = lease["Receipt"] = f"rc-{secrets.token_hex(4)}"
        self._receipts[number] = {
            "Agent": agent["ID"],
            "Ref": lease["Ref"],
            "Filed": "",
        }
        agent["Balance"] += errand["Pay"]
        self.book.pay(lease["Ref"], errand["Pay"])
        return _encode(
            {"Receipt": number, "Paid": errand["Pay"], "Balance": agent["Balance"]}
        )

    def _file(self, agent: dict[str, Any], request: Request) -> Response:
        number = self._decode(request, "complete", "Receipt")["Receipt"]
        if not number:
            raise _Prose(
                400, "complete: Receipt is empty: want the one delivering gave you"
            )
        receipt = self._receipts.get(number)
        if receipt is None or receipt["Agent"] != agent["ID"]:
            raise _Prose(404, f"complete: no receipt {json.dumps(number)}")
        receipt["Filed"] = receipt["Filed"] or _rfc3339(_now())
        return _encode({"Ref": receipt["Ref"], "Filed": receipt["Filed"]})

    def _post(self, agent: dict[str, Any], request: Request) -> Response:
        raise _Prose(403, "post: free agents cannot post errands")

    def _reclaim(self) -> None:
        for key, lease in list(self._leases.items()):
            if not lease["Receipt"] and lease["Until"] < _now():
                del self._leases[key]
                self._errands[lease["Ref"]]["Taken"] = False
                self.book.held.discard(lease["Ref"])

    def _serve(self, handler: _Handler, request: Request) -> Response:
        try:
            if not request.headers.get("Authorization"):
                raise _Prose(401, "missing Authorization header (want: Bearer <token>)")
            if request.token not in self._agents:
                raise _Prose(401, "unknown token")
            return handler(self._agents[request.token], request)
        except _Prose as error:
            headers = {"X-Content-Type-Options": "nosniff"}
            return Response(error.status, error.text + "\n", headers)

    def _atoi(self, request: Request, name: str, default: int) -> int:
        text = request.query.get(name, "")
        if text and not re.fullmatch(r"[0-9]{1,18}", text):
            raise _Prose(
                400, f'list: {name}: strconv.Atoi: parsing "{text}": invalid syntax'
            )
        return int(text) if text else default

    def _decode(self, request: Request, call: str, *names: str) -> dict[str, str]:
        """Decode a flat struct of strings, as encoding/json does with unknown fields off."""
        takes = f"({call} takes {' and '.join(names)})"
        if not request.raw.strip():
            raise _Prose(400, f"{call}: reading body: EOF {takes}")
        try:
            sent = {} if (sent := request.json()) is None else sent
        except ValueError:
            raise _Prose(400, f"{call}: reading body: not valid JSON {takes}") from None
        if not isinstance(sent, dict):
            what = f"json: cannot unmarshal {_KINDS.get(type(sent), 'string')}"
            what += f" into Go value of type main.{call}Request"
            raise _Prose(400, f"{call}: reading body: {what} {takes}")
        body = dict.fromkeys(names, "")
        for key, value in sent.items():
            name = next((name for name in names if name.lower() == key.lower()), "")
            if not name:
                what = f"json: unknown field {json.dumps(key)}"
                raise _Prose(400, f"{call}: reading body: {what} {takes}")
            if not isinstance(value, str) and value is not None:
                where = f"Go struct field {call}Request.{name} of type string"
                what = f"json: cannot unmarshal {_KINDS[type(value)]} into {where}"
                raise _Prose(400, f"{call}: reading body: {what}")
            body[name] = value or ""
        return body
