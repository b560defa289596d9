"""A radio station's desk for traffic reports, made by the station's own technicians.

The list is {"station", "reports": [{slug, road, headline, script, fee_credits, status}]}.
claim {report, desk} -> {"slot": {id, report, script, desk}}; desk is morning, drive or night
submit {slot, read_text} -> 202 {"slot": {id, state: "with editor", ready_in_seconds}}
complete {slot} -> 409 with Retry-After while the editor listens (3 s), then {"slot": {...}, fee_credits, balance}
Refusals: {"error": {"code": "E12", "say": "..."}}, one at a time.
"""

import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

DESKS = ("morning", "drive", "night")
REVIEW_SECONDS = 3.0
REPORTS: list[tuple[str, str, str, str, int, str]] = [
    (
        "a9-north",
        "A9",
        "Lane closed",
        "one lane is closed on the northbound side after the tunnel",
        10,
        "waiting",
    ),
    (
        "ring-east",
        "Ring",
        "Slow traffic",
        "slow traffic between the stadium and the tram depot",
        8,
        "waiting",
    ),
    (
        "b27-bridge",
        "B27",
        "Bridge works",
        "the bridge is open only to cars until friday evening",
        12,
        "waiting",
    ),
    (
        "harbour-gate",
        "Harbour",
        "Queue of lorries",
        "lorries are queueing back to the second roundabout",
        9,
        "waiting",
    ),
    (
        "valley-road",
        "Valley road",
        "Sheep on road",
        "a flock of sheep is crossing near the sawmill",
        7,
        "waiting",
    ),
    (
        "old-pass",
        "Pass",
        "Snow",
        "snow chains are needed above the chapel",
        11,
        "waiting",
    ),
    (
        "city-run",
        "Centre",
        "Run",
        "the centre was closed for the city run on sunday",
        6,
        "aired",
    ),
]


class RadioTrafficReports(Backend):
    """The traffic desk of a radio station."""

    def __init__(self) -> None:
        super().__init__()
        self.voices: dict[str, dict[str, Any]] = {}
        self.slots: dict[str, dict[str, Any]] = {}
        self.reports: dict[str, dict[str, Any]] = {}
        for slug, road, headline, script, fee, status in REPORTS:
            self.reports[slug] = {
                "slug": slug,
                "road": road,
                "headline": headline,
                "script": script,
                "fee_credits": fee,
                "status": status,
            }
        self.earnable = {
            s: str(r["script"])
            for s, r in self.reports.items()
            if r["status"] == "waiting"
        }

    def texts(self) -> dict[str, str]:
        """Return the script of every report that can be earned."""
        return dict(self.earnable)

    def _say(
        self, status: int, code: str, say: str, headers: dict[str, str] | None = None
    ) -> Response:
        return Response(status, {"error": {"code": code, "say": say}}, headers or {})

    def _stranger(self) -> Response:
        return self._say(
            401,
            "E01",
            "No such voice at this station. Send your access token as bearer.",
        )

    def _read(self, request: Request, *names: str) -> dict[str, str] | Response:
        if request.token not in self.voices:
            return self._stranger()
        try:
            data = request.json()
        except ValueError:
            return self._say(400, "E10", "Body is not JSON.")
        if not isinstance(data, dict):
            return self._say(400, "E10", "Body is not a JSON object.")
        read: dict[str, str] = {}
        for name in names:
            value = data.get(name)
            if value is None or value == "":
                hint = f" One of: {', '.join(DESKS)}." if name == "desk" else ""
                return self._say(400, "E11", f'Please give "{name}".{hint}')
            if not isinstance(value, str):
                return self._say(400, "E12", f'"{name}" has to be a string.')
            read[name] = value
        return read

    def register(self, request: Request) -> Response:
        """Sign up a voice."""
        self.book.registrations += 1
        token = "onair." + secrets.token_urlsafe(18)
        agent_id = f"voice-{len(self.voices) + 17}"
        self.voices[token] = {"agent_id": agent_id, "credits": 100}
        return Response(
            200, {"agent_id": agent_id, "access_token": token, "credits": 100}
        )

    def _list(self, rows: list[dict[str, Any]]) -> Response:
        return Response(
            200,
            {
                "station": "Radio Fjord 98.4",
                "note": "The prompter shows capitals only, so every script is handed in in upper case.",
                "desks": list(DESKS),
                "reports": rows,
            },
        )

    def marketplace(self, request: Request) -> Response:
        """Show the waiting reports."""
        return self._list(
            [r for r in self.reports.values() if r["status"] == "waiting"]
        )

    def tasks(self, request: Request) -> Response:
        """Show all reports to a voice."""
        if request.token not in self.voices:
            return self._stranger()
        limit = request.query.get("limit", "30")
        if not limit.isdigit() or int(limit) < 1:
            return self._say(400, "E12", '"limit" has to be a whole number from 1.')
        return self._list(list(self.reports.values())[: int(limit)])

    def claim(self, request: Request) -> Response:
        """Give a report a slot."""
        data = self._read(request, "report", "desk")
        if isinstance(data, Response):
            return data
        report = self.reports.get(data["report"])
        if report is None:
            return self._say(404, "E20", f'No report with the slug "{data["report"]}".')
        if data["desk"] not in DESKS:
            return self._say(
                400, "E13", f'"desk" has to be one of: {", ".join(DESKS)}.'
            )
        for slot in self.slots.values():
            if slot["report"] == report["slug"] and slot["token"] == request.token:
                return Response(200, {"slot": self._shown(slot)})
        if report["status"] != "waiting":
            return self._say(
                409,
                "E21",
                f"This report is not waiting any more, it is {report['status']}.",
            )
        report["status"] = "taken"
        key = f"S{len(self.slots) + 4001}"
        self.slots[key] = {
            "id": key,
            "report": report["slug"],
            "script": report["script"],
            "desk": data["desk"],
            "state": "reading",
            "ready": 0.0,
            "token": request.token,
        }
        self.book.claimed(report["slug"])
        return Response(200, {"slot": self._shown(self.slots[key])})

    def _shown(self, slot: dict[str, Any]) -> dict[str, Any]:
        return {
            name: slot[name] for name in ("id", "report", "script", "desk", "state")
        }

    def _slot(self, request: Request, key: str) -> dict[str, Any] | Response:
        slot = self.slots.get(key)
        if slot is None or slot["token"] != request.token:
            return self._say(404, "E30", f'You have no slot "{key}".')
        return slot

    def submit(self, request: Request) -> Response:
        """Take the text as it will be read; the editor listens for some seconds."""
        data = self._read(request, "slot", "read_text")
        if isinstance(data, Response):
            return data
        slot = self._slot(request, data["slot"])
        if isinstance(slot, Response):
            return slot
        if slot["state"] == "aired":
            return self._say(409, "E32", "This slot has been aired.")
        if data["read_text"] != slot["script"].upper():
            return self._say(422, "E40", '"read_text" is not the script in upper case.')
        if slot["state"] == "reading":
            slot["state"], slot["ready"] = (
                "with editor",
                time.monotonic() + REVIEW_SECONDS,
            )
        return Response(
            202,
            {
                "slot": {
                    "id": slot["id"],
                    "state": "with editor",
                    "ready_in_seconds": int(REVIEW_SECONDS),
                }
            },
        )

    def complete(self, request: Request) -> Response:
        """Air the slot when the editor has cleared it, and pay."""
        data = self._read(request, "slot")
        if isinstance(data, Response):
            return data
        slot = self._slot(request, data["slot"])
        if isinstance(slot, Response):
            return slot
        if slot["state"] == "reading":
            return self._say(409, "E31", "Nothing has been handed in for this slot.")
        report = self.reports[slot["report"]]
        voice = self.voices[request.token]
        if slot["state"] == "with editor":
            if time.monotonic() < slot["ready"]:
                return self._say(
                    409,
                    "E33",
                    "The editor is still listening. Try again in 3 seconds.",
                    {"Retry-After": "3"},
                )
            slot["state"] = report["status"] = "aired"
            voice["credits"] += report["fee_credits"]
            self.book.pay(report["slug"], report["fee_credits"])
        return Response(
            200,
            {
                "slot": self._shown(slot),
                "fee_credits": report["fee_credits"],
                "balance": voice["credits"],
            },
        )
