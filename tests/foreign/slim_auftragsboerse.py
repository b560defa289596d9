"""Eine Auftragsbörse auf PHP Slim 4, Prüfungen und Meldungen von Hand geschrieben.

Lists {"auftraege": [...], "anzahl": n}: each with `nummer` (int), `art`, `titel`,
`vorlage` ({"text", "sprache"}), `honorar` ("12,00 Credits"), `zustand` ("offen").
claim wants {"auftragsnummer": int} (a number, not digits in a string);
200 {"vorgang": {"kennung": "V24-00031", "auftragsnummer", "zustand", "frist"}}.
submit wants {"vorgang": kennung, "ergebnis": {"text": str, "sprache": "de" | "en"}};
200 {"vorgang": {...}, "pruefung": "bestanden"}.
complete wants {"vorgang": kennung, "bestaetigt": true}; pays, 200 {"vorgang", "gutschrift", ...}.
Refusals: 422 {"meldung": "Bitte prüfen Sie Ihre Angaben.", "fehler": {field: text}}, where the
text does not name the field (nested ones are "ergebnis.text"); 400 {"meldung": ...} for a body
that is not JSON or empty(), and in PHP an empty object is empty(); 404, 409 {"meldung": ...};
wrong work is 422 with `fehler` on "ergebnis.text". What Slim itself refuses (401, 404 of a
route) is its JsonErrorRenderer's {"message": "401 Unauthorized"}, pretty-printed.
"""

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

from tests.foreign.backend import Backend, Request, Response

VORLAGEN = [
    ("the gardener waters the roses before the sun climbs over the wall", 12),
    ("our neighbour repairs old radios in a shed behind his house", 8),
    ("every second tuesday the choir rehearses in the empty swimming hall", 15),
    ("a lost umbrella is waiting at the counter of the station", 6),
    ("the children built a bridge of planks across the little stream", 10),
    ("nobody remembers who carved the lion above the bakery door", 19),
]
FEHLT = "Pflichtfeld fehlt."
KENNUNG = re.compile(r"V24-\d{5}")
SPRACHEN = ("de", "en")


def ganze_zahl(wert: Any) -> str:
    """is_int() on a decoded body: neither "12" nor 12.0 nor true."""
    if isinstance(wert, bool) or not isinstance(wert, int):
        return "Muss eine ganze Zahl sein."
    return ""


def kennung(wert: Any) -> str:
    if not isinstance(wert, str):
        return "Muss eine Zeichenkette sein."
    if not KENNUNG.fullmatch(wert):
        return "Muss die Kennung eines Vorgangs sein (z. B. V24-00001)."
    return ""


def nichtleer(wert: Any) -> str:
    if not isinstance(wert, str):
        return "Muss eine Zeichenkette sein."
    return "" if wert.strip() else "Darf nicht leer sein."


def sprache(wert: Any) -> str:
    return "" if wert in SPRACHEN else "Ungültiger Wert. Erlaubt sind: de, en."


def ja(wert: Any) -> str:
    if not isinstance(wert, bool):
        return "Muss true oder false sein."
    return "" if wert else "Ohne Bestätigung ist kein Abschluss möglich."


Regeln = dict[str, Any]  # a check by field, or rules again for an object


def pruefe(daten: dict[str, Any], regeln: Regeln, pfad: str = "") -> dict[str, str]:
    """Return the text of every wrong field by its path."""
    fehler: dict[str, str] = {}
    for feld, regel in regeln.items():
        name = f"{pfad}{feld}"
        wert = daten.get(feld)
        if wert is None:  # !isset(): null counts as missing
            fehler[name] = FEHLT
        elif isinstance(regel, dict):
            if isinstance(wert, dict):
                fehler.update(pruefe(wert, regel, f"{name}."))
            elif wert == []:
                fehler.update(pruefe({}, regel, f"{name}."))
            else:
                fehler[name] = "Muss ein Objekt sein."
        else:
            pruefung: Callable[[Any], str] = regel
            text = pruefung(wert)
            if text:
                fehler[name] = text
    return fehler


class Auftragsboerse(Backend):
    """Aufträge, die als Vorgang angenommen, abgegeben und abgeschlossen werden."""

    def __init__(self) -> None:
        super().__init__()
        self.konten: dict[str, dict[str, Any]] = {}
        self.auftraege: dict[int, dict[str, Any]] = {}
        self.vorgaenge: dict[str, dict[str, Any]] = {}
        for i, (text, honorar) in enumerate(VORLAGEN):
            nummer = 70412 + 9 * i
            self.auftraege[nummer] = {
                "nummer": nummer,
                "art": "versalien",
                "titel": "Vorlage vollständig in Großbuchstaben schreiben",
                "vorlage": {"text": text, "sprache": "en"},
                "honorar": f"{honorar},00 Credits",
                "zustand": "offen",
                "eingestellt_am": f"{11 + i}.03.2024 08:{40 + i}",
            }

    def texts(self) -> dict[str, str]:
        return {str(n): a["vorlage"]["text"] for n, a in self.auftraege.items()}

    @staticmethod
    def slim(titel: str) -> Response:
        """Return what Slim's JsonErrorRenderer writes without error details."""
        text = json.dumps({"message": titel}, indent=4)
        return Response(int(titel[:3]), text, {"Content-Type": "application/json"})

    @staticmethod
    def nein(status: int, meldung: str, **mehr: Any) -> Response:
        return Response(status, {"meldung": meldung, **mehr})

    def eingabefehler(self, fehler: dict[str, str]) -> Response:
        return self.nein(422, "Bitte prüfen Sie Ihre Angaben.", fehler=fehler)

    def missing(self, request: Request) -> Response:
        return self.slim("404 Not Found")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        nummer = 500 + len(self.konten)
        token = f"{nummer}|{0x9E3779B97F4A7C15 * nummer % 2**64:016x}"
        self.konten[token] = {"agent_id": f"A{nummer}", "credits": 100}
        return Response(200, {**self.konten[token], "access_token": token})

    def liste(self, request: Request) -> Response:
        grenze = re.match(
            r"\d+", request.query.get("limit", "")
        )  # (int) $params['limit']
        anzahl = int(grenze[0]) if grenze else 0
        offen = [a for a in self.auftraege.values() if a["zustand"] == "offen"]
        gezeigt = offen[:anzahl] if anzahl else offen
        return Response(200, {"auftraege": gezeigt, "anzahl": len(gezeigt)})

    marketplace = liste

    def tasks(self, request: Request) -> Response:
        if request.token not in self.konten:
            return self.slim("401 Unauthorized")
        return self.liste(request)

    def daten(self, request: Request, regeln: Regeln) -> dict[str, Any] | Response:
        """Return the checked body; as BodyParsingMiddleware and empty() see it."""
        if request.token not in self.konten:
            return self.slim("401 Unauthorized")
        typ = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
        daten: Any = None
        if typ == "application/x-www-form-urlencoded":
            daten = dict(parse_qsl(request.raw.decode(errors="replace")))
        elif typ == "application/json":
            try:
                daten = request.json()
            except ValueError:
                daten = None
        if not isinstance(daten, (dict, list)) or not daten:
            meldung = "Die Anfrage ist leer oder enthält kein gültiges JSON."
            return self.nein(400, meldung)
        if isinstance(daten, list):  # an array without the keys
            daten = {}
        fehler = pruefe(daten, regeln)
        return self.eingabefehler(fehler) if fehler else daten

    def claim(self, request: Request) -> Response:
        daten = self.daten(request, {"auftragsnummer": ganze_zahl})
        if isinstance(daten, Response):
            return daten
        auftrag = self.auftraege.get(daten["auftragsnummer"])
        if auftrag is None:
            meldung = f"Auftrag {daten['auftragsnummer']} wurde nicht gefunden."
            return self.nein(404, meldung)
        if auftrag["zustand"] != "offen":
            meldung = f"Auftrag {auftrag['nummer']} ist bereits vergeben."
            return self.nein(409, meldung)
        auftrag["zustand"] = "in_arbeit"
        schluessel = f"V24-{31 + 4 * len(self.vorgaenge):05d}"
        self.vorgaenge[schluessel] = {
            "kennung": schluessel,
            "auftragsnummer": auftrag["nummer"],
            "konto": request.token,
        }
        self.book.claimed(str(auftrag["nummer"]))
        return Response(200, {"vorgang": self.gezeigt(schluessel)})

    def gezeigt(self, schluessel: str) -> dict[str, Any]:
        nummer = self.vorgaenge[schluessel]["auftragsnummer"]
        return {
            "kennung": schluessel,
            "auftragsnummer": nummer,
            "zustand": self.auftraege[nummer]["zustand"],
            "frist": "31.12.2029 18:00",
        }

    def auftrag_zu(self, schluessel: str, token: str) -> dict[str, Any] | Response:
        """Return the order of one's own Vorgang."""
        vorgang = self.vorgaenge.get(schluessel)
        if vorgang is None:
            return self.nein(404, f"Vorgang {schluessel} wurde nicht gefunden.")
        if vorgang["konto"] != token:
            return self.nein(403, "Dieser Vorgang gehört einem anderen Konto.")
        return self.auftraege[vorgang["auftragsnummer"]]

    def submit(self, request: Request) -> Response:
        ergebnis = {"text": nichtleer, "sprache": sprache}
        daten = self.daten(request, {"vorgang": kennung, "ergebnis": ergebnis})
        if isinstance(daten, Response):
            return daten
        auftrag = self.auftrag_zu(daten["vorgang"], request.token)
        if isinstance(auftrag, Response):
            return auftrag
        if auftrag["zustand"] == "abgeschlossen":
            return self.nein(409, "Der Vorgang ist bereits abgeschlossen.")
        if daten["ergebnis"]["text"] != auftrag["vorlage"]["text"].upper():
            text = "Entspricht nicht der Vorlage in Großbuchstaben."
            return self.eingabefehler({"ergebnis.text": text})
        auftrag["zustand"] = "abgegeben"
        antwort = {"vorgang": self.gezeigt(daten["vorgang"]), "pruefung": "bestanden"}
        return Response(200, antwort)

    def complete(self, request: Request) -> Response:
        daten = self.daten(request, {"vorgang": kennung, "bestaetigt": ja})
        if isinstance(daten, Response):
            return daten
        auftrag = self.auftrag_zu(daten["vorgang"], request.token)
        if isinstance(auftrag, Response):
            return auftrag
        if auftrag["zustand"] == "in_arbeit":
            return self.nein(409, "Für diesen Vorgang liegt noch kein Ergebnis vor.")
        konto = self.konten[request.token]
        if auftrag["zustand"] == "abgegeben":
            auftrag["zustand"] = "abgeschlossen"
            betrag = int(auftrag["honorar"].partition(",")[0])
            konto["credits"] += betrag
            self.book.pay(str(auftrag["nummer"]), betrag)
        return Response(
            200,
            {
                "vorgang": self.gezeigt(daten["vorgang"]),
                "gutschrift": auftrag["honorar"],
                "kontostand": f"{konto['credits']},00 Credits",
            },
        )
