"""Stadtwerke Lindenau: transcribing fault reports, one engineer's plain Java servlets.

German names, one short German text per refusal, the first fault only.
"""

import json
import re
import secrets
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_JSON = {"Content-Type": "application/json;charset=UTF-8"}
_METHODS = {
    "/functions/v1/create-free-agent-public": "POST",
    "/functions/v1/get-marketplace-tasks": "GET",
    "/functions/v1/claim-task-public": "POST",
    "/functions/v1/submit-task-result-public": "POST",
    "/functions/v1/complete-task-public": "POST",
}
_MAX_OPEN = 3

# auftragsNr, sparte, ort, betreff, meldungstext, verguetung
_ORDERS = (
    (240317, "STROM", "Lindenau-Mitte", "Straßenbeleuchtung",
     "Laterne vor Hauptstraße 14 flackert seit Montagabend", 12),
    (240318, "WASSER", "Altstadt", "Wasserdruck",
     "Im dritten Obergeschoss kommt kaum noch Wasser an", 15),
    (240321, "GAS", "Nordend", "Gasgeruch",
     "Kunde meldet schwachen Gasgeruch im Keller, Zähler 7783", 20),
    (240322, "STROM", "Gewerbepark Süd", "Zählerwechsel",
     "Zählerschrank ist verstellt, bitte vorher anrufen", 10),
    (240326, "FERNWAERME", "Lindenau-Mitte", "Übergabestation",
     "Vorlauf nur 48 Grad, Pumpe läuft hörbar unrund", 18),
    (240329, "WASSER", "Am Mühlgraben", "Rohrbruch",
     "Wasser drückt neben dem Hydranten aus dem Pflaster", 20),
    (240330, "STROM", "Nordend", "Ablesung",
     "Ablesekarte unleserlich, Stand vermutlich 20418", 8),
    (240334, "ENTSORGUNG", "Altstadt", "Tonne nicht geleert",
     "Braune Tonne wurde in der Gerbergasse zweimal ausgelassen", 9),
)  # fmt: skip


class _FehlerError(Exception):
    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


class Stadtwerke(Backend):
    """The fault desk of a municipal utility."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._orders: dict[int, dict[str, Any]] = {
            number: {
                "auftragsNr": number,
                "sparte": branch,
                "ort": place,
                "betreff": subject,
                "meldungstext": text,
                "anweisung": "Meldungstext in Großbuchstaben ins Störungsbuch übertragen",
                "verguetung": credits_,
                "status": "OFFEN",
            }
            for number, branch, place, subject, text, credits_ in _ORDERS
        }
        self._jobs: dict[str, dict[str, Any]] = {}  # by vorgangsNr

    def texts(self) -> dict[str, str]:
        return {str(n): order["meldungstext"] for n, order in self._orders.items()}

    # -- the servlets

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(20)
        agent_id = f"B{1000 + self.book.registrations}"
        self._agents[token] = {"agent_id": agent_id, "credits": 100}
        return _answer({"agent_id": agent_id, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        return self._run(request, self._list)

    def claim(self, request: Request) -> Response:
        return self._run(request, self._claim)

    def submit(self, request: Request) -> Response:
        return self._run(request, self._submit)

    def complete(self, request: Request) -> Response:
        return self._run(request, self._complete)

    def missing(self, request: Request) -> Response:
        """Answer as Tomcat does for a path or a method that no servlet has."""
        if request.path in _METHODS:
            return _tomcat(
                405,
                "Method Not Allowed",
                f"HTTP method {request.method} is not supported by this URL",
                "The method received in the request-line is known by the origin server"
                " but not supported by the target resource.",
                {"Allow": f"{_METHODS[request.path]}, OPTIONS"},
            )
        return _tomcat(
            404,
            "Not Found",
            f"The requested resource [{_escaped(request.path)}] is not available",
            "The origin server did not find a current representation for the target"
            " resource or is not willing to disclose that one exists.",
        )

    # -- what they do

    def _run(self, request: Request, work: Any) -> Response:
        try:
            if not request.token:
                raise _FehlerError(401, "Token fehlt")
            agent = self._agents.get(request.token)
            if agent is None:
                raise _FehlerError(401, "Token ungültig")
            return _answer(work(request, agent))
        except _FehlerError as fault:
            return _answer({"fehler": fault.text}, fault.status)

    def _list(self, request: Request, agent: dict[str, Any]) -> dict[str, Any]:
        limit = request.query.get("limit", "50")
        if not re.fullmatch(r"[+-]?[0-9]{1,9}", limit):
            raise _FehlerError(400, "limit ist keine Zahl")
        if int(limit) < 1:
            raise _FehlerError(400, "limit zu klein")
        found = [o for o in self._orders.values() if o["status"] == "OFFEN"]
        return {"anzahl": len(found), "auftraege": found[: int(limit)]}

    def _claim(self, request: Request, agent: dict[str, Any]) -> dict[str, Any]:
        data = _body(request)
        number = _number(data, "auftragsNr")
        order = self._orders.get(number)
        if order is None:
            raise _FehlerError(404, "Auftrag nicht gefunden")
        if order["status"] != "OFFEN":
            raise _FehlerError(409, "Auftrag bereits vergeben")
        mine = [
            job
            for job in self._jobs.values()
            if job["bearbeiter"] == agent["agent_id"] and job["status"] != "ERLEDIGT"
        ]
        if len(mine) >= _MAX_OPEN:
            raise _FehlerError(409, f"Zu viele offene Vorgänge (max. {_MAX_OPEN})")
        order["status"] = "VERGEBEN"
        job = {
            "vorgangsNr": f"V24-{len(self._jobs) + 518:05d}",
            "auftragsNr": number,
            "bearbeiter": agent["agent_id"],
            "status": "IN_ARBEIT",
            "uebernommenAm": datetime.now(UTC).strftime("%d.%m.%Y %H:%M"),
        }
        self._jobs[job["vorgangsNr"]] = job
        self.book.claimed(str(number))
        return {"meldung": "Auftrag übernommen", "vorgang": job}

    def _submit(self, request: Request, agent: dict[str, Any]) -> dict[str, Any]:
        data = _body(request)
        job = self._job(data, agent)
        result = _text(data, "ergebnis")
        if job["status"] != "IN_ARBEIT":
            raise _FehlerError(409, "Ergebnis liegt schon vor")
        if result != self._orders[job["auftragsNr"]]["meldungstext"].upper():
            raise _FehlerError(400, "Ergebnis falsch")
        job["status"] = "GEPRUEFT"
        return {"meldung": "Ergebnis gespeichert", "vorgang": job}

    def _complete(self, request: Request, agent: dict[str, Any]) -> dict[str, Any]:
        data = _body(request)
        job = self._job(data, agent)
        day = _text(data, "erledigtAm")
        try:
            if not re.fullmatch(r"[0-9]{2}\.[0-9]{2}\.[0-9]{4}", day):
                raise ValueError(day)
            datetime.strptime(f"{day} +0000", "%d.%m.%Y %z")
        except ValueError:
            raise _FehlerError(400, "erledigtAm ungültig (TT.MM.JJJJ)") from None
        if job["status"] == "IN_ARBEIT":
            raise _FehlerError(409, "Ergebnis fehlt noch")
        if job["status"] == "ERLEDIGT":
            raise _FehlerError(409, "Vorgang schon abgeschlossen")
        order = self._orders[job["auftragsNr"]]
        order["status"] = job["status"] = "ERLEDIGT"
        job["erledigtAm"] = day
        agent["credits"] += order["verguetung"]
        self.book.pay(str(job["auftragsNr"]), order["verguetung"])
        return {
            "meldung": "Vorgang abgeschlossen",
            "vorgang": job,
            "gutschrift": order["verguetung"],
            "guthaben": agent["credits"],
        }

    def _job(self, data: dict[str, Any], agent: dict[str, Any]) -> dict[str, Any]:
        job = self._jobs.get(_text(data, "vorgangsNr"))
        if job is None:
            raise _FehlerError(404, "Vorgang nicht gefunden")
        if job["bearbeiter"] != agent["agent_id"]:
            raise _FehlerError(403, "Vorgang gehört einem anderen Bearbeiter")
        return job


def _answer(body: dict[str, Any], status: int = 200) -> Response:
    return Response(status, json.dumps(body, ensure_ascii=False), dict(_JSON))


def _body(request: Request) -> dict[str, Any]:
    try:
        data = request.json()
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise _FehlerError(400, "Kein gültiges JSON")
    return data


def _text(data: dict[str, Any], name: str) -> str:
    value = data.get(name)
    if value is None or value == "":
        raise _FehlerError(400, f"{name} fehlt")
    if not isinstance(value, str):
        raise _FehlerError(400, f"{name} ist kein Text")
    return value


def _number(data: dict[str, Any], name: str) -> int:
    """Return a number, which may stand in quotes, as org.json's getInt has it."""
    value = data.get(name)
    if value is None or value == "":
        raise _FehlerError(400, f"{name} fehlt")
    if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]{1,9}", value):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _FehlerError(400, f"{name} ist keine Zahl")
    return value


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _tomcat(
    status: int,
    reason: str,
    message: str,
    description: str,
    headers: dict[str, str] | None = None,
) -> Response:
    title = f"HTTP Status {status} \u2013 {reason}"
    return Response(
        status,
        f'<!doctype html><html lang="en"><head><title>{title}</title>'
        '<style type="text/css">body {font-family:Tahoma,Arial,sans-serif;} h1, h2, h3, b'
        " {color:white;background-color:#525D76;} h1 {font-size:22px;} h2"
        " {font-size:16px;} h3 {font-size:14px;} p {font-size:12px;} a {color:black;}"
        " .line {height:1px;background-color:#525D76;border:none;}</style></head>"
        f'<body><h1>{title}</h1><hr class="line" /><p><b>Type</b> Status Report</p>'
        f"<p><b>Message</b> {message}</p><p><b>Description</b> {description}</p>"
        '<hr class="line" /><h3>Apache Tomcat/9.0.83</h3></body></html>',
        {
            "Content-Type": "text/html;charset=utf-8",
            "Content-Language": "en",
            **(headers or {}),
        },
    )
