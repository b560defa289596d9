"""Die Abschriftenbörse eines Universitätsarchivs, in Laravel mit deutschen Meldungen."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import secrets
from datetime import date, datetime, timedelta
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_AUFTRAEGE = [
    ("UAG-1811/04", "Matrikelbuch, Einband", "verzeichnis der studierenden", 12),
    ("UAG-1848/17", "Senatsprotokoll, Kopfzeile", "sitzung im kleinen hörsaal", 25),
    ("UAG-1902/02", "Brief des Rektors", "hochverehrter herr kollege", 18),
    ("UAG-1911/31", "Bauplan der Sternwarte", "grundriss der kuppel", 7),
    ("UAG-1926/09", "Vorlesungsankündigung", "einführung in die quellenkunde", 33),
]
_FORMAT = "Y-m-d"


class _Abbruch(Exception):  # noqa: N818
    def __init__(self, status: int, meldung: str, errors: Any = None) -> None:
        self.body: dict[str, Any] = {"message": meldung}
        if errors:
            self.body["errors"] = errors
        self.status = status


def _pruefung(errors: dict[str, list[str]]) -> None:
    """Illuminate\\Validation\\ValidationException, wie summarize() sie zusammenfasst."""
    if not errors:
        return
    alle = [satz for saetze in errors.values() for satz in saetze]
    meldung, rest = alle[0], len(alle) - 1
    if rest:
        meldung += (
            f" (und {rest} {'weiterer Fehler' if rest == 1 else 'weitere Fehler'})"
        )
    raise _Abbruch(422, meldung, errors)


class Universitaetsarchiv(Backend):
    """data/links/meta, Meldungen nach laravel-lang; bezahlt wird mit der Abgabe."""

    def __init__(self) -> None:
        super().__init__()
        self._nutzer: dict[str, dict[str, Any]] = {}
        self._auftraege = {
            zeichen: {
                "titel": titel,
                "wortlaut": wortlaut,
                "honorar": honorar,
                "stand": "frei",
            }
            for zeichen, titel, wortlaut, honorar in _AUFTRAEGE
        }
        self._vorgaenge: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {
            zeichen: auftrag["wortlaut"] for zeichen, auftrag in self._auftraege.items()
        }

    def missing(self, request: Request) -> Response:
        pfad = request.path.strip("/")
        erlaubt = [methode for methode, p in ACTIONS if p == request.path]
        if erlaubt and request.method not in erlaubt:
            liste = "GET, HEAD" if erlaubt == ["GET"] else erlaubt[0]
            meldung = f"The {request.method} method is not supported for route {pfad}."
            meldung += f" Supported methods: {liste}."
            return Response(405, {"message": meldung}, {"Allow": liste})
        return Response(404, {"message": f"The route {pfad} could not be found."})

    def register(self, request: Request) -> Response:
        nummer = len(self._nutzer) + 1
        nutzer = {"kennung": f"extern-{nummer:05d}", "guthaben": 100}
        token = f"{nummer}|{secrets.token_hex(20)}"  # Laravel Sanctum
        self._nutzer[token] = nutzer
        self.book.registrations += 1
        agent = {"agent_id": nutzer["kennung"], "access_token": token, "credits": 100}
        return Response(200, agent)

    def _anmeldung(self, request: Request) -> dict[str, Any]:
        nutzer = self._nutzer.get(request.token)
        if nutzer is None:
            raise _Abbruch(401, "Nicht authentifiziert.")
        return nutzer

    @staticmethod
    def _eingabe(request: Request) -> dict[str, Any]:
        """Die Eingabe nach TrimStrings und ConvertEmptyStringsToNull."""
        try:
            body = request.json()
        except ValueError:
            body = {}
        if not isinstance(body, dict):
            body = {}
        body = {k: v.strip() if isinstance(v, str) else v for k, v in body.items()}
        return {k: v for k, v in body.items() if v is not None and v != ""}

    @staticmethod
    def _text(eingabe: dict[str, Any], name: str, errors: dict[str, list[str]]) -> str:
        wert = eingabe.get(name)
        if wert is None:
            errors[name] = [f"{name.capitalize()} muss ausgefüllt werden."]
        elif not isinstance(wert, str):
            errors[name] = [f"{name.capitalize()} muss ein String sein."]
        else:
            return wert
        return ""

    def _liste(self, request: Request) -> Response:
        zahlen, errors = {"limit": 10, "page": 1}, {}
        for name, hoechstens in (("limit", 25), ("page", 10**6)):
            wert = request.query.get(name)
            if not wert:
                continue
            if not re.fullmatch(r"-?\d+", wert):
                errors[name] = [f"{name.capitalize()} muss eine ganze Zahl sein."]
                continue
            zahlen[name] = int(wert)
            if zahlen[name] < 1:
                errors[name] = [f"{name.capitalize()} muss mindestens 1 sein."]
            elif zahlen[name] > hoechstens:
                errors[name] = [f"{name.capitalize()} darf maximal {hoechstens} sein."]
        _pruefung(errors)
        je, seite = zahlen["limit"], zahlen["page"]
        zeilen = [
            {
                "aktenzeichen": zeichen,
                "titel": auftrag["titel"],
                "arbeitsanweisung": "Bitte den Wortlaut vollständig in Großbuchstaben abschreiben.",
                "wortlaut": auftrag["wortlaut"],
                "honorar": auftrag["honorar"],
                "stand": auftrag["stand"],
                "eingestellt_am": "2025-01-20",
            }
            for zeichen, auftrag in self._auftraege.items()
            if auftrag["stand"] == "frei"
        ]
        letzte = max(1, -(-len(zeilen) // je))

        def verweis(n: int) -> "str | None":
            if not 1 <= n <= letzte:
                return None
            return f"{request.base}{request.path}?limit={je}&page={n}"

        seiten = {"first": 1, "last": letzte, "prev": seite - 1, "next": seite + 1}
        links = {name: verweis(n) for name, n in seiten.items()}
        meta = {
            "current_page": seite,
            "last_page": letzte,
            "per_page": je,
            "total": len(zeilen),
        }
        auszug = zeilen[(seite - 1) * je : seite * je]
        return Response(200, {"data": auszug, "links": links, "meta": meta})

    def _antworte(
        self,
        aktion: Any,
        request: Request,
        anmelden: bool = True,  # noqa: FBT001, FBT002
    ) -> Response:
        try:
            return (
                aktion(request, self._anmeldung(request))
                if anmelden
                else aktion(request)
            )
        except _Abbruch as abbruch:
            return Response(abbruch.status, abbruch.body)

    def marketplace(self, request: Request) -> Response:
        return self._antworte(self._liste, request, anmelden=False)

    def tasks(self, request: Request) -> Response:
        return self._antworte(lambda anfrage, _: self._liste(anfrage), request)

    def claim(self, request: Request) -> Response:
        return self._antworte(self._uebernahme, request)

    def submit(self, request: Request) -> Response:
        return self._antworte(self._abgabe, request)

    def complete(self, request: Request) -> Response:
        return self._antworte(self._abschluss, request)

    def _uebernahme(self, request: Request, nutzer: dict[str, Any]) -> Response:  # noqa: PLR0915
        eingabe, errors = self._eingabe(request), {}
        zeichen = self._text(eingabe, "aktenzeichen", errors)
        if zeichen and zeichen not in self._auftraege:
            errors["aktenzeichen"] = [
                "Der gewählte Wert für aktenzeichen ist ungültig."
            ]
        frist = self._text(eingabe, "frist", errors)
        heute = date.today()  # noqa: DTZ011
        ende = heute + timedelta(days=60)
        if frist:
            try:
                tag = datetime.strptime(frist, "%Y-%m-%d").date()  # noqa: DTZ007
            except ValueError:
                errors["frist"] = [
                    f"Frist entspricht nicht dem gültigen Format für {_FORMAT}."
                ]
            else:
                if tag < heute:
                    errors["frist"] = [
                        f"Frist muss ein Datum nach {heute} oder gleich {heute} sein."
                    ]
                elif tag > ende:
                    errors["frist"] = [
                        f"Frist muss ein Datum vor {ende} oder gleich {ende} sein."
                    ]
        if eingabe.get("nutzungsordnung") not in (True, 1, "1", "true", "yes", "on"):
            errors["nutzungsordnung"] = ["Nutzungsordnung muss akzeptiert werden."]
        _pruefung(errors)
        auftrag = self._auftraege[zeichen]
        if auftrag["stand"] != "frei":
            raise _Abbruch(409, f"Der Auftrag {zeichen} ist bereits vergeben.")
        meine = [v for v in self._vorgaenge.values() if v["nutzer"] is nutzer]
        if sum(v["stand"] == "in Bearbeitung" for v in meine) >= 2:
            satz = "Es dürfen höchstens zwei Vorgänge gleichzeitig in Bearbeitung sein."
            raise _Abbruch(409, satz + " Bitte geben Sie zuerst eine Abschrift ab.")
        auftrag["stand"] = "vergeben"
        self.book.claimed(zeichen)
        vorgang = {"aktenzeichen": zeichen, "frist": frist, "stand": "in Bearbeitung"}
        nummer = 20311 + len(self._vorgaenge)
        self._vorgaenge[nummer] = {**vorgang, "nutzer": nutzer}
        return Response(200, {"data": {"vorgang": nummer, **vorgang}})

    def _vorgang(
        self, eingabe: dict[str, Any], nutzer: Any, errors: dict[str, Any]
    ) -> int:
        wert = eingabe.get("vorgang")
        if wert is None:
            errors["vorgang"] = ["Vorgang muss ausgefüllt werden."]
        elif isinstance(wert, bool) or not re.fullmatch(r"-?\d+", str(wert)):
            errors["vorgang"] = ["Vorgang muss eine ganze Zahl sein."]
        elif self._vorgaenge.get(int(wert), {}).get("nutzer") is not nutzer:
            errors["vorgang"] = ["Der gewählte Wert für vorgang ist ungültig."]
        else:
            return int(wert)
        return 0

    def _abgabe(self, request: Request, nutzer: dict[str, Any]) -> Response:
        eingabe, errors = self._eingabe(request), {}
        nummer = self._vorgang(eingabe, nutzer, errors)
        abschrift = self._text(eingabe, "abschrift", errors)
        _pruefung(errors)
        vorgang = self._vorgaenge[nummer]
        if vorgang["stand"] != "in Bearbeitung":
            raise _Abbruch(
                409, f"Zu Vorgang {nummer} wurde bereits eine Abschrift abgegeben."
            )
        auftrag = self._auftraege[vorgang["aktenzeichen"]]
        if abschrift != auftrag["wortlaut"].upper():
            _pruefung(
                {"abschrift": ["Die Abschrift entspricht nicht der Arbeitsanweisung."]}
            )
        vorgang["stand"] = auftrag["stand"] = "angenommen"
        nutzer["guthaben"] += auftrag["honorar"]
        self.book.pay(vorgang["aktenzeichen"], auftrag["honorar"])
        data = {"vorgang": nummer, "stand": "angenommen", "honorar": auftrag["honorar"]}
        data["guthaben"] = nutzer["guthaben"]
        satz = "Die Abschrift wurde angenommen, das Honorar ist gutgeschrieben."
        return Response(200, {"data": data, "message": satz})

    def _abschluss(self, request: Request, nutzer: dict[str, Any]) -> Response:
        eingabe, errors = self._eingabe(request), {}
        nummer = self._vorgang(eingabe, nutzer, errors)
        self._text(eingabe, "vermerk", errors)
        _pruefung(errors)
        vorgang = self._vorgaenge[nummer]
        if vorgang["stand"] == "in Bearbeitung":
            raise _Abbruch(409, f"Zu Vorgang {nummer} liegt noch keine Abschrift vor.")
        if vorgang["stand"] == "abgeschlossen":
            raise _Abbruch(409, f"Vorgang {nummer} ist bereits abgeschlossen.")
        vorgang["stand"] = "abgeschlossen"
        self._auftraege[vorgang["aktenzeichen"]]["stand"] = "erledigt"
        return Response(200, {"data": {"vorgang": nummer, "stand": "abgeschlossen"}})
