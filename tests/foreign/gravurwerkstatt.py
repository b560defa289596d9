"""Gravurwerkstatt Hollmann: an engraver's in-house order book, in German.

Orders are taken with a promised date, the engraving text goes to a check, and the
invoice (complete) pays. One complaint at a time, each with the shop's own number.
"""

import json
import secrets
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import wraps
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_AUFTRAEGE = [
    ("G-4411", "Türschild Arztpraxis", "Dr. Ulrike Böhm, Fachärztin", 14, 9),
    ("G-4412", "Pokalsockel", "Sieger im Sommerturnier Lüneburg", 9, 5),
    ("G-4415", "Gedenktafel", "Hier lebte der Uhrmacher Jakob Thiel", 32, 21),
    ("G-4418", "Firmenschild", "Kellermann & Söhne, Gartenweg 17", 18, 12),
    ("G-4420", "Hundemarke", "Bello, bitte anrufen", 6, 4),
    ("G-4423", "Messingplakette", "Maschine nur im Stillstand öffnen", 11, 7),
    ("G-4427", "Hausnummerntafel", "Alte Mühle am Bach", 21, 14),
]


def _deutsch(tag: date) -> str:
    return tag.strftime("%d.%m.%Y")


class _AbsageError(Exception):
    def __init__(
        self, status: int, nr: int, meldung: str, feld: str | None = None
    ) -> None:
        super().__init__(meldung)
        self.status, self.nr, self.meldung, self.feld = status, nr, meldung, feld


def _feldfehler(nr: int, feld: str, was: str) -> _AbsageError:
    return _AbsageError(400, nr, f"»{feld}« {was}.", feld)


def _mit_absage(aktion: Callable[..., Response]) -> Callable[..., Response]:
    @wraps(aktion)
    def geprueft(self: Any, request: Request) -> Response:
        try:
            return aktion(self, request)
        except _AbsageError as absage:
            nein: Response = self._nein(absage)
            return nein

    return geprueft


class Gravurwerkstatt(Backend):
    """The workshop's order book."""

    def __init__(self) -> None:
        super().__init__()
        heute = datetime.now(UTC).date()
        self._bearbeiter: dict[str, str] = {}  # token -> agent
        self._konto: dict[str, int] = {}
        self._auftraege: dict[str, dict[str, Any]] = {
            nr: {
                "AuftragsNr": nr,
                "Bezeichnung": bezeichnung,
                "Vorlagentext": text,
                "Ausfuehrung": "Vorlagentext unverändert in Versalien (Großbuchstaben)",
                "Verguetung": {"Betrag": lohn, "Einheit": "Credits"},
                "Liefertermin": _deutsch(heute + timedelta(days=tage)),
                "Status": "offen",
            }
            for nr, bezeichnung, text, lohn, tage in _AUFTRAEGE
        }
        self._zettel: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {nr: a["Vorlagentext"] for nr, a in self._auftraege.items()}

    # --- Hilfen -------------------------------------------------------------------

    @staticmethod
    def _antwort(inhalt: Any, status: int = 200, **kopf: str) -> Response:
        return Response(
            status,
            json.dumps(inhalt, ensure_ascii=False).encode(),
            {"Content-Type": "application/json; charset=utf-8", **kopf},
        )

    def _nein(self, a: _AbsageError) -> Response:
        fehler: dict[str, Any] = {"Nr": a.nr, "Meldung": a.meldung}
        if a.feld:
            fehler["Feld"] = a.feld
        kopf = {"WWW-Authenticate": "Bearer"} if a.status == 401 else {}
        return self._antwort({"Fehler": fehler}, a.status, **kopf)

    def missing(self, request: Request) -> Response:
        return self._nein(
            _AbsageError(404, 1000, "Diese Adresse gibt es bei uns nicht.")
        )

    def _wer(self, request: Request) -> str:
        wer = self._bearbeiter.get(request.token)
        if wer is None:
            raise _AbsageError(
                401, 1001, "Anmeldung fehlt oder Zugangsschlüssel ungültig."
            )
        return wer

    @staticmethod
    def _rumpf(request: Request) -> dict[str, Any]:
        try:
            rumpf = request.json()
        except ValueError:
            raise _AbsageError(
                400, 1100, "Der Inhalt ist kein gültiges JSON."
            ) from None
        if not isinstance(rumpf, dict):
            raise _AbsageError(400, 1101, "Der Inhalt muss ein JSON-Objekt sein.")
        return rumpf

    @staticmethod
    def _pflicht(rumpf: dict[str, Any], feld: str, art: type) -> Any:
        wert = rumpf.get(feld)
        if wert is None or wert == "":
            raise _AbsageError(400, 1102, f"Pflichtfeld »{feld}« fehlt.", feld)
        if art is int and (isinstance(wert, bool) or not isinstance(wert, int)):
            raise _feldfehler(1103, feld, "muss eine ganze Zahl sein")
        if art is str and not isinstance(wert, str):
            raise _feldfehler(1103, feld, "muss eine Zeichenkette sein")
        return wert

    def _laufzettel(self, rumpf: dict[str, Any], wer: str) -> dict[str, Any]:
        nr = self._pflicht(rumpf, "LaufzettelNr", int)
        zettel = self._zettel.get(nr)
        if zettel is None:
            raise _AbsageError(404, 1301, f"Laufzettel {nr} ist nicht bekannt.")
        if zettel["wer"] != wer:
            raise _AbsageError(403, 1302, "Dieser Laufzettel gehört jemand anderem.")
        return zettel

    # --- Aktionen -----------------------------------------------------------------

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        wer = f"B{1200 + self.book.registrations}"
        schluessel = secrets.token_hex(20)
        self._bearbeiter[schluessel] = wer
        self._konto[wer] = 100
        ausweis = {"agent_id": wer, "access_token": schluessel, "credits": 100}
        return self._antwort(ausweis)

    def marketplace(self, request: Request) -> Response:
        offen = [a for a in self._auftraege.values() if a["Status"] == "offen"]
        felder = ("AuftragsNr", "Bezeichnung", "Liefertermin")
        return self._antwort({"Aushang": [{f: a[f] for f in felder} for a in offen]})

    @_mit_absage
    def tasks(self, request: Request) -> Response:
        grenze = request.query.get("limit", "20")
        if not grenze.isdecimal() or not 1 <= int(grenze) <= 50:
            raise _feldfehler(1104, "limit", "muss zwischen 1 und 50 liegen")
        liste = list(self._auftraege.values())
        buch = {
            "Stand": datetime.now(UTC).strftime("%d.%m.%Y %H:%M"),
            "Gesamtzahl": len(liste),
            "Auftraege": liste[: int(grenze)],
        }
        return self._antwort({"Auftragsbuch": buch})

    @_mit_absage
    def claim(self, request: Request) -> Response:
        wer = self._wer(request)
        rumpf = self._rumpf(request)
        nr = self._pflicht(rumpf, "AuftragsNr", str)
        auftrag = self._auftraege.get(nr)
        if auftrag is None:
            raise _AbsageError(404, 1201, f"Auftrag »{nr}« ist nicht bekannt.")
        zusage = self._pflicht(rumpf, "ZugesagtZum", str)
        try:
            tag = datetime.strptime(zusage, "%d.%m.%Y").replace(tzinfo=UTC).date()
        except ValueError:
            art = "muss ein Datum im Format TT.MM.JJJJ sein"
            raise _feldfehler(1105, "ZugesagtZum", art) from None
        if tag < datetime.now(UTC).date():
            raise _feldfehler(1106, "ZugesagtZum", "liegt in der Vergangenheit")
        termin = auftrag["Liefertermin"]
        spaetestens = datetime.strptime(termin, "%d.%m.%Y").replace(tzinfo=UTC)
        if tag > spaetestens.date():
            spaet = f"liegt nach dem Liefertermin {termin}"
            raise _feldfehler(1107, "ZugesagtZum", spaet)
        if auftrag["Status"] != "offen":
            raise _AbsageError(409, 1202, f"Auftrag »{nr}« ist bereits vergeben.")
        auftrag["Status"] = "vergeben"
        zettel_nr = 70011 + len(self._zettel)
        self._zettel[zettel_nr] = {"wer": wer, "auftrag": auftrag, "vermerk": None}
        self.book.claimed(nr)
        laufzettel = {
            "LaufzettelNr": zettel_nr,
            "AuftragsNr": nr,
            "Bearbeiter": wer,
            "ZugesagtZum": zusage,
            "Status": "in Arbeit",
        }
        return self._antwort({"Laufzettel": laufzettel})

    @_mit_absage
    def submit(self, request: Request) -> Response:
        wer = self._wer(request)
        rumpf = self._rumpf(request)
        zettel = self._laufzettel(rumpf, wer)
        gravur = self._pflicht(rumpf, "Gravurtext", str)
        if zettel["vermerk"]:
            raise _AbsageError(409, 1303, "Zu diesem Laufzettel wurde schon geliefert.")
        if gravur != zettel["auftrag"]["Vorlagentext"].upper():
            raise _AbsageError(
                422,
                1401,
                "Prüfung nicht bestanden: »Gravurtext« ist nicht der Vorlagentext "
                "in Versalien.",
                "Gravurtext",
            )
        zettel["vermerk"] = f"PV-{secrets.randbelow(9000) + 1000}"
        pruefung = {
            "LaufzettelNr": rumpf["LaufzettelNr"],
            "Befund": "bestanden",
            "Pruefvermerk": zettel["vermerk"],
            "Hinweis": "Bitte den Auftrag jetzt abschließen; danach Auszahlung.",
        }
        return self._antwort({"Pruefung": pruefung})

    @_mit_absage
    def complete(self, request: Request) -> Response:
        wer = self._wer(request)
        rumpf = self._rumpf(request)
        zettel = self._laufzettel(rumpf, wer)
        if not zettel["vermerk"]:
            raise _AbsageError(
                409, 1304, "Zu diesem Laufzettel wurde nichts geliefert."
            )
        vermerk = self._pflicht(rumpf, "Pruefvermerk", str)
        if vermerk != zettel["vermerk"]:
            raise _feldfehler(1305, "Pruefvermerk", "passt nicht zum Laufzettel")
        if self._pflicht(rumpf, "ArbeitszeitMinuten", int) < 1:
            raise _feldfehler(1108, "ArbeitszeitMinuten", "muss mindestens 1 sein")
        auftrag = zettel["auftrag"]
        if auftrag["Status"] == "abgerechnet":
            raise _AbsageError(409, 1306, "Dieser Auftrag ist bereits abgerechnet.")
        auftrag["Status"] = "abgerechnet"
        betrag = auftrag["Verguetung"]["Betrag"]
        self.book.pay(auftrag["AuftragsNr"], betrag)
        self._konto[wer] += betrag
        abrechnung = {
            "AuftragsNr": auftrag["AuftragsNr"],
            "Status": "abgerechnet",
            "Gutschrift": {"Betrag": betrag, "Einheit": "Credits"},
            "Kontostand": self._konto[wer],
        }
        return self._antwort({"Abrechnung": abrechnung})
