"""A German authority's portal: field names and prose in German, forms with sections.

Faults come all at once, by the path of the field. Whoever hands in a result gets it
checked: the first completion is a 202, and only a later one is paid. Whole amounts are
written as people here write them, with a comma. Processes that others have are listed too.
"""

import secrets
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

SACHVERHALTE = (
    "der hund schläft unter dem tisch",
    "im keller steht ein altes fahrrad",
    "die suppe kocht seit einer stunde",
    "am bahnhof wartet niemand mehr",
    "der regen klopft leise ans fenster",
    "meine tante züchtet blaue hühner",
    "die brücke bleibt heute gesperrt",
    "ein brief liegt seit mai im kasten",
    "das museum öffnet erst um zehn",
    "der bäcker grüßt jeden beim namen",
    "hinter dem haus wachsen brombeeren",
    "die uhr am rathaus geht nach",
)
VERGEBEN = 3
PFLICHT = "Pflichtangabe fehlt"
KEIN_TEXT = "Die Angabe muss eine Zeichenkette sein"


class AblehnungError(Exception):
    def __init__(self, status: int, meldung: str, *felder: tuple[str, str]) -> None:
        super().__init__(meldung)
        fehler = [{"feld": feld, "hinweis": hinweis} for feld, hinweis in felder]
        body = {"erfolg": False, "meldung": meldung, "fehler": fehler}
        self.response = Response(status, body)


def angaben(body: Any, *pfade: str) -> dict[str, str]:
    """Return the fields of a form by path."""
    gefunden: dict[str, str] = {}
    fehler: list[tuple[str, str]] = []
    for pfad in pfade:
        wert = body
        for teil in pfad.split("."):
            wert = wert.get(teil) if isinstance(wert, dict) else None
        if wert is None or wert == "":
            fehler.append((pfad, PFLICHT))
        elif not isinstance(wert, str):
            fehler.append((pfad, KEIN_TEXT))
        else:
            gefunden[pfad] = wert
    if fehler:
        raise AblehnungError(400, "Das Formular ist unvollständig.", *fehler)
    return gefunden


def inhalt(request: Request) -> Any:
    try:
        return request.json()
    except ValueError as fehler:
        raise AblehnungError(400, "Der Inhalt ist kein JSON.") from fehler


class Amtsportal(Backend):
    """Twelve processes, and three that others have."""

    def __init__(self) -> None:
        super().__init__()
        self.zugang: dict[str, str] = {}
        self.vorgaenge: dict[str, dict[str, Any]] = {}
        for nummer in range(len(SACHVERHALTE) + VERGEBEN):
            frei = nummer >= VERGEBEN
            text = SACHVERHALTE[nummer - VERGEBEN] if frei else "bereits bearbeitet"
            self.vorgaenge[f"AZ-{2025}-{417 + 3 * nummer:05}"] = {
                "sachverhalt": text,
                "punkte": nummer % 4 + 2,
                "zustand": "offen" if frei else "vergeben",
                "bearbeiter": "" if frei else "amt-0001",
                "geprueft": 0,
            }
        self.offen = [k for k, v in self.vorgaenge.items() if v["zustand"] == "offen"]

    def texts(self) -> dict[str, str]:
        return {key: self.vorgaenge[key]["sachverhalt"] for key in self.offen}

    def missing(self, request: Request) -> Response:
        return AblehnungError(404, "Diese Seite gibt es nicht.").response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        kennung, schluessel = (
            f"amt-{4711 + self.book.registrations}",
            secrets.token_hex(20),
        )
        self.zugang[schluessel] = kennung
        answer = {"agent_id": kennung, "access_token": schluessel, "credits": 100}
        return Response(200, answer)

    def tasks(self, request: Request) -> Response:
        vorgaenge = [
            {
                "aktenzeichen": key,
                "sachverhalt": vorgang["sachverhalt"],
                "verguetung": {
                    "betrag": f"{vorgang['punkte']},00",
                    "einheit": "Guthabenpunkte",
                },
                "zustand": vorgang["zustand"],
                "eingangsdatum": "12.02.2025",
            }
            for key, vorgang in self.vorgaenge.items()
        ]
        return Response(200, {"anzahl": len(vorgaenge), "vorgaenge": vorgaenge})

    def kennung(self, request: Request) -> str:
        if request.token not in self.zugang:
            raise AblehnungError(401, "Bitte melden Sie sich an.")
        return self.zugang[request.token]

    def beantwortet(
        self, request: Request, schritt: Callable[[str, Any], Response]
    ) -> Response:
        try:
            return schritt(self.kennung(request), inhalt(request))
        except AblehnungError as nein:
            return nein.response

    def vorgang(self, key: str) -> dict[str, Any]:
        if key not in self.vorgaenge:
            raise AblehnungError(404, f"Ein Vorgang {key} ist nicht bekannt.")
        return self.vorgaenge[key]

    def claim(self, request: Request) -> Response:
        return self.beantwortet(request, self.uebernehmen)

    def uebernehmen(self, kennung: str, body: Any) -> Response:
        key = angaben(body, "aktenzeichen")["aktenzeichen"]
        vorgang = self.vorgang(key)
        if vorgang["bearbeiter"]:
            raise AblehnungError(409, "Der Vorgang ist bereits vergeben.")
        vorgang["bearbeiter"], vorgang["zustand"] = kennung, "vergeben"
        self.book.claimed(key)
        return Response(
            200, {"erfolg": True, "aktenzeichen": key, "zustand": "vergeben"}
        )

    def eigener(self, kennung: str, key: str) -> dict[str, Any]:
        vorgang = self.vorgang(key)
        if vorgang["bearbeiter"] != kennung:
            raise AblehnungError(403, "Für diesen Vorgang sind Sie nicht zuständig.")
        return vorgang

    def submit(self, request: Request) -> Response:
        return self.beantwortet(request, self.einreichen)

    def einreichen(self, kennung: str, body: Any) -> Response:
        felder = angaben(body, "vorgang.aktenzeichen", "bearbeitung.ergebnis")
        vorgang = self.eigener(kennung, felder["vorgang.aktenzeichen"])
        if felder["bearbeitung.ergebnis"] != vorgang["sachverhalt"].upper():
            hinweis = "Das Ergebnis entspricht nicht dem Auftrag"
            told = "Das Ergebnis wurde abgelehnt."
            raise AblehnungError(422, told, ("bearbeitung.ergebnis", hinweis))
        vorgang["zustand"] = "eingereicht"
        return Response(200, {"erfolg": True, "zustand": "eingereicht"})

    def complete(self, request: Request) -> Response:
        return self.beantwortet(request, self.abschliessen)

    def abschliessen(self, kennung: str, body: Any) -> Response:
        key = angaben(body, "vorgang.aktenzeichen")["vorgang.aktenzeichen"]
        vorgang = self.eigener(kennung, key)
        if vorgang["zustand"] == "vergeben":
            raise AblehnungError(409, "Es liegt noch kein Ergebnis vor.")
        vorgang["geprueft"] += 1
        if vorgang["geprueft"] == 1:
            vorgang["zustand"] = "in Prüfung"
            return Response(202, {"erfolg": True, "zustand": "in Prüfung"})
        if key not in self.book.paid:
            vorgang["zustand"] = "abgeschlossen"
            self.book.pay(key, vorgang["punkte"])
        betrag = {"betrag": f"{vorgang['punkte']},00", "einheit": "Guthabenpunkte"}
        answer = {"erfolg": True, "zustand": vorgang["zustand"], "verguetung": betrag}
        return Response(200, answer)
