"""A weather bureau's bulletin room: its API grew by hand around stations and duties.

Lists by station: `stations[].reports[]`, each report with a composite `key` (LKT-04-2291), a
`situation` and a `tariff` in words ("4 credits"); reports of other forecasters stay listed.
A claim ("duty") wants `key`; submit wants the `duty_no` it answers, `wording`, `confidence`
(a number from 0 to 100) and `initials` (capitals). Refuses with code, message and the missing
parameters, values one at a time. Closing answers 409 with Retry-After while the wording is
verified (1.2 s after filing), then pays: `state` paid, `credited`.
"""

import re
import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

STATIONS = {
    "LKT-04": "Lauke Point",
    "BRN-11": "Brenna Saddle",
    "OST-02": "Oster Lightship",
}
REPORTS = [
    # station, serial, situation, credits, free
    ("LKT-04", 2291, "Fog banks along the coast until mid morning", 4, True),
    ("LKT-04", 2294, "Gusts up to fifty knots off the headland", 6, True),
    ("LKT-04", 2297, "Drizzle turning to rain after dusk", 3, False),
    ("BRN-11", 870, "Black ice on the pass road before sunrise", 5, True),
    ("BRN-11", 871, "Fresh snow of ten centimetres above the tree line", 4, True),
    ("OST-02", 5103, "Swell from the north west, easing later", 3, True),
    ("OST-02", 5104, "Visibility poor near the outer buoys", 2, False),
    ("OST-02", 5106, "Thunder possible in the late afternoon", 3, True),
]


class HydrometBulletins(Backend):
    """Reports of stations and the duties of those who word them."""

    def __init__(self) -> None:
        super().__init__()
        self.badges: dict[str, str] = {}
        self.reports = {
            f"{station}-{serial}": {
                "key": f"{station}-{serial}",
                "situation": situation,
                "tariff": f"{tariff} credits",
                "state": "unassigned" if free else "on duty",
            }
            for station, serial, situation, tariff, free in REPORTS
        }
        self.free = {
            k: r["situation"]
            for k, r in self.reports.items()
            if r["state"] == "unassigned"
        }
        self.duties: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return dict(self.free)

    @staticmethod
    def _no(status: int, code: str, message: str, **more: Any) -> Response:
        body = {"status": "error", "code": code, "message": message}
        return Response(status, body | more)

    def missing(self, request: Request) -> Response:
        return self._no(404, "NO_SUCH_SERVICE", f"No service at {request.path}.")

    def _parameters(self, request: Request, *names: str) -> Any:
        """Return the parameters, or the refusal."""
        if request.token not in self.badges:
            return self._no(
                401, "NO_BADGE", "Send the bearer key that you were issued."
            )
        try:
            body = request.json() if request.raw else {}
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return self._no(
                400, "BODY", "The body has to be a JSON object of parameters."
            )
        lacking = [n for n in names if body.get(n) in (None, "")]
        if lacking:
            said = f"Missing parameters: {', '.join(lacking)}."
            return self._no(400, "PARAM_MISSING", said, parameters=lacking)
        return body

    def _bad(self, name: str, said: str) -> Response:
        return self._no(400, "PARAM_INVALID", f"{name} {said}.", parameters=[name])

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        badge, bearer = f"F-{310 + len(self.badges)}", secrets.token_hex(24)
        self.badges[bearer] = badge
        issued = {"bearer": bearer, "valid_days": 30}
        forecaster = {"badge": badge, "credits": 100}
        body = {"status": "ok", "forecaster": forecaster, "credentials": issued}
        return Response(200, body)

    def tasks(self, request: Request) -> Response:
        if request.token not in self.badges:
            return self._no(
                401, "NO_BADGE", "Send the bearer key that you were issued."
            )
        return self.marketplace(request)

    def marketplace(self, request: Request) -> Response:
        limit = request.query.get("limit", "50")
        if not limit.isdigit() or not 1 <= int(limit) <= 50:
            return self._bad("limit", "must be a number from 1 to 50")
        shown = list(self.reports.values())[: int(limit)]
        stations = [
            {
                "station": station,
                "name": name,
                "reports": [r for r in shown if r["key"].startswith(station)],
            }
            for station, name in STATIONS.items()
        ]
        issued = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        body = {"status": "ok", "issued": issued, "stations": stations}
        return Response(200, body | {"reports_total": len(self.reports)})

    def _shown(self, duty: dict[str, Any], **more: Any) -> Response:
        shown = {k: duty[k] for k in ("duty_no", "key", "state")}
        return Response(200, {"status": "ok", "duty": shown | more})

    def claim(self, request: Request) -> Response:
        body = self._parameters(request, "key")
        if isinstance(body, Response):
            return body
        report = self.reports.get(str(body["key"]))
        if not report:
            return self._no(404, "NO_REPORT", f"There is no report {body['key']}.")
        for duty in self.duties.values():
            if duty["key"] == report["key"] and duty["bearer"] == request.token:
                return self._shown(duty)
        if report["state"] != "unassigned":
            said = (
                f"Report {report['key']} is {report['state']} with another forecaster."
            )
            return self._no(409, "ON_DUTY", said)
        report["state"] = "on duty"
        number = 3107 + len(self.duties)
        duty = {"duty_no": number, "key": report["key"], "state": "open"}
        self.duties[number] = duty | {
            "bearer": request.token,
            "wording": "",
            "due": 0.0,
        }
        self.book.claimed(report["key"])
        return self._shown(duty, hand_in_before="2026-01-01T06:00:00Z")

    def _duty(self, request: Request, body: dict[str, Any]) -> Any:
        try:
            duty = self.duties.get(int(body["duty_no"]))
        except (TypeError, ValueError):
            return self._bad(
                "duty_no", "must be a number, the one you got with the duty"
            )
        if duty and duty["bearer"] == request.token:
            return duty
        return self._no(404, "NO_DUTY", f"You have no duty {body['duty_no']}.")

    def submit(self, request: Request) -> Response:
        body = self._parameters(request, "duty_no", "wording", "confidence", "initials")
        duty = body if isinstance(body, Response) else self._duty(request, body)
        if isinstance(duty, Response):
            return duty
        sure, initials = body["confidence"], body["initials"]
        if not isinstance(body["wording"], str):
            return self._bad("wording", "must be text")
        if (
            isinstance(sure, bool)
            or not isinstance(sure, int | float)
            or not 0 <= sure <= 100
        ):
            return self._bad("confidence", "must be a number from 0 to 100")
        if not re.fullmatch("[A-Z]{2,3}", str(initials)):
            return self._bad("initials", "must be two or three capital letters")
        if duty["state"] not in ("open", "filed"):
            return self._no(
                409, "DUTY_CLOSED", f"Duty {duty['duty_no']} is {duty['state']}."
            )
        duty |= {
            "state": "filed",
            "wording": body["wording"],
            "due": time.monotonic() + 1.2,
        }
        return self._shown(duty)

    def complete(self, request: Request) -> Response:
        body = self._parameters(request, "duty_no")
        duty = body if isinstance(body, Response) else self._duty(request, body)
        if isinstance(duty, Response):
            return duty
        number, report = duty["duty_no"], self.reports[duty["key"]]
        credited = int(report["tariff"].split()[0])
        if duty["state"] == "paid":
            return self._shown(duty, credited=credited)
        if duty["state"] != "filed":
            said = f"Duty {number} is {duty['state']}, file its wording first."
            return self._no(409, "NOT_FILED", said)
        if time.monotonic() < duty["due"]:
            said = f"Duty {number} is still being verified, close it again in a moment."
            refusal = self._no(409, "NOT_VERIFIED", said)
            refusal.headers["Retry-After"] = "1"
            return refusal
        if duty["wording"] != report["situation"].upper():
            duty["state"] = report["state"] = "withdrawn"
            said = f"The wording of duty {number} failed verification, the duty is withdrawn."
            return self._no(422, "WORDING_FAILED", said)
        duty["state"] = report["state"] = "paid"
        self.book.pay(duty["key"], credited)
        return self._shown(duty, credited=credited)
