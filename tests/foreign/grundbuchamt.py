"""Ein Grundbuchamt: a German land registry's Spring Boot service.

Field names and sentences are German, the sentences of field checks those of the German
Hibernate Validator. Refusals are problem documents that name every faulty field at once.
The text of an entry is given out with the claim; completion pays.
"""

import uuid
from datetime import date, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_VORGAENGE = [
    # Vorgangs-ID, Bezirk, Blatt, Antragsart, Vergütung, Eintragungstext
    (
        40117,
        "Altenmoor",
        212,
        "AUFLASSUNG",
        18,
        "Eigentümer: Anna Brandt, geboren am 3. Mai 1961",
    ),
    (
        40118,
        "Altenmoor",
        215,
        "GRUNDSCHULD",
        30,
        "Grundschuld ohne Brief zu 80.000 Euro für die Sparkasse",
    ),
    (
        40121,
        "Niederfelde",
        47,
        "WEGERECHT",
        12,
        "Geh- und Fahrrecht für den jeweiligen Eigentümer von Flurstück 9/2",
    ),
    (
        40125,
        "Niederfelde",
        52,
        "LOESCHUNG",
        7,
        "Gelöscht am heutigen Tage, Abteilung III Nr. 4",
    ),
    (
        40126,
        "Sankt Veit",
        1031,
        "VORMERKUNG",
        24,
        "Auflassungsvormerkung für die Eheleute Groß zu je 1/2",
    ),
    (
        40130,
        "Sankt Veit",
        1044,
        "NIESSBRAUCH",
        21,
        "Nießbrauch, befristet bis zum Tode der Berechtigten",
    ),
]

_ARTEN = ("VOLLZUG", "TEILVOLLZUG")


class _Abgelehnt(Exception):  # noqa: N818
    def __init__(
        self, status: int, titel: str, detail: str, fehler: Any = None
    ) -> None:
        super().__init__(detail)
        self.status, self.titel, self.detail, self.fehler = (
            status,
            titel,
            detail,
            fehler,
        )


def _unlesbar(detail: str) -> _Abgelehnt:
    return _Abgelehnt(400, "Anfrage nicht lesbar", detail)


def _fehlerhaft(fehler: list[dict[str, str]]) -> _Abgelehnt:
    anzahl = (
        "ein fehlerhaftes Feld"
        if len(fehler) == 1
        else f"{len(fehler)} fehlerhafte Felder"
    )
    return _Abgelehnt(
        400, "Ungültige Anfrage", f"Die Anfrage enthält {anzahl}.", fehler
    )


def _gelesen(feld: str, art: str, wert: Any) -> Any:
    """Read one value as Jackson would, or refuse the whole body."""
    if wert is None:
        return None
    if art == "zahl":
        if isinstance(wert, str) and wert.strip().isdecimal():
            return int(wert)
        if isinstance(wert, bool) or not isinstance(wert, int):
            raise _unlesbar(f"Das Feld '{feld}' erwartet eine ganze Zahl.")
        return wert
    if isinstance(wert, (dict, list)):
        raise _unlesbar(f"Das Feld '{feld}' erwartet eine Zeichenkette.")
    text = str(wert)
    if art == "datum":
        try:
            return datetime.strptime(text, "%Y-%m-%d").date()  # noqa: DTZ007
        except ValueError:
            detail = f"Das Feld '{feld}' erwartet ein Datum im Format JJJJ-MM-TT."
            raise _unlesbar(detail) from None
    if art == "erledigungsart" and text not in _ARTEN:
        zulaessig = f"Zulässig sind: {', '.join(_ARTEN)}."
        raise _unlesbar(
            f"Unzulässiger Wert '{text}' für das Feld '{feld}'. {zulaessig}"
        )
    return text


def _nicht_gefunden(was: str) -> _Abgelehnt:
    return _Abgelehnt(404, "Nicht gefunden", f"{was} wurde nicht gefunden.")


class Grundbuchamt(Backend):
    """The registry, which gives the drafting of its entries to agents."""

    def __init__(self) -> None:
        super().__init__()
        self._kennungen: dict[str, str] = {}  # token -> agent id
        self._bearbeitungen: dict[str, dict[str, Any]] = {}
        self._texte = {v[0]: v[5] for v in _VORGAENGE}
        self._vorgaenge: dict[int, dict[str, Any]] = {
            nummer: {
                "vorgangId": nummer,
                "aktenzeichen": f"{bezirk[:2].upper()} {blatt}-{nummer % 1000}",
                "grundbuchbezirk": bezirk,
                "blattnummer": blatt,
                "antragsart": antragsart,
                "aufgabe": "Eintragungstext vollständig in Großbuchstaben übertragen",
                "verguetung": verguetung,
                "eingangsdatum": (date.today() - timedelta(days=9)).isoformat(),  # noqa: DTZ011
                "status": "OFFEN",
            }
            for nummer, bezirk, blatt, antragsart, verguetung, _ in _VORGAENGE
        }

    def texts(self) -> dict[str, str]:
        """Return the text of every entry."""
        return {str(nummer): text for nummer, text in self._texte.items()}

    def missing(self, request: Request) -> Response:
        """Return the problem document for a path without a handler."""
        return self._problem(request, _nicht_gefunden("Diese Ressource"))

    def register(self, request: Request) -> Response:
        """Admit an agent."""
        self.book.registrations += 1
        token, kennung = uuid.uuid4().hex + uuid.uuid4().hex, str(uuid.uuid4())
        self._kennungen[token] = kennung
        return Response(
            body={"agent_id": kennung, "access_token": token, "credits": 100}
        )

    def marketplace(self, request: Request) -> Response:
        """List the open cases to anyone."""
        return self._beantwortet(request, lambda _: self._liste(request), offen=True)

    def tasks(self, request: Request) -> Response:
        """List the open cases to an agent."""
        return self._beantwortet(request, lambda _: self._liste(request))

    def agents(self, request: Request) -> Response:
        """List the agents."""
        return Response(
            body=[{"kennung": k, "aktiv": True} for k in self._kennungen.values()]
        )

    directory = agents

    def claim(self, request: Request) -> Response:
        """Give a case to the caller, and with it the text of the entry."""
        return self._beantwortet(request, lambda k: self._uebernehmen(request, k))

    def submit(self, request: Request) -> Response:
        """Take the draft of an entry."""
        return self._beantwortet(request, lambda k: self._einreichen(request, k))

    def complete(self, request: Request) -> Response:
        """Close a case and pay for it."""
        return self._beantwortet(request, lambda k: self._abschliessen(request, k))

    def _liste(self, request: Request) -> Any:
        werte = {}
        for name, vorgabe, minimum, maximum in (
            ("limit", 20, 1, 50),
            ("seite", 0, 0, 9999),
        ):
            roh = request.query.get(name, str(vorgabe))
            if not roh.removeprefix("-").isdecimal():
                raise _unlesbar(f"Der Parameter '{name}' erwartet eine ganze Zahl.")
            werte[name] = int(roh)
            grenze = f"größer-gleich {minimum}" if werte[name] < minimum else ""
            grenze = f"kleiner-gleich {maximum}" if werte[name] > maximum else grenze
            if grenze:
                raise _fehlerhaft([{"feld": name, "meldung": f"muss {grenze} sein"}])
        offene = [v for v in self._vorgaenge.values() if v["status"] == "OFFEN"]
        groesse, seite = werte["limit"], werte["seite"]
        auszug = offene[seite * groesse : (seite + 1) * groesse]
        return {"vorgaenge": auszug, "seite": seite, "gesamtanzahl": len(offene)}

    def _uebernehmen(self, request: Request, kennung: str) -> Any:
        arten = {"vorgangId": "zahl", "bearbeiterId": "text", "zieltermin": "datum"}
        felder = self._felder(request, arten)
        if felder["bearbeiterId"] != kennung:
            detail = "Die bearbeiterId gehört nicht zum angemeldeten Agenten."
            raise _Abgelehnt(403, "Zugriff verweigert", detail)
        vorgang = self._vorgaenge.get(felder["vorgangId"])
        if vorgang is None:
            raise _nicht_gefunden(f"Der Vorgang {felder['vorgangId']}")
        if vorgang["status"] != "OFFEN":
            detail = f"Der Vorgang {vorgang['vorgangId']} ist bereits in Bearbeitung oder erledigt."
            raise _Abgelehnt(409, "Konflikt", detail)
        vorgang["status"] = "IN_BEARBEITUNG"
        bearbeitung = {
            "bearbeitungId": str(uuid.uuid4()),
            "vorgangId": vorgang["vorgangId"],
            "bearbeiterId": kennung,
            "eintragungstext": self._texte[vorgang["vorgangId"]],
            "zieltermin": felder["zieltermin"].isoformat(),
            "status": "IN_BEARBEITUNG",
        }
        self._bearbeitungen[bearbeitung["bearbeitungId"]] = bearbeitung
        self.book.claimed(str(vorgang["vorgangId"]))
        return dict(bearbeitung)

    def _einreichen(self, request: Request, kennung: str) -> Any:
        felder = self._felder(
            request, {"bearbeitungId": "text", "ergebnistext": "text"}
        )
        bearbeitung = self._eigene(felder["bearbeitungId"], kennung, "IN_BEARBEITUNG")
        if felder["ergebnistext"] != bearbeitung["eintragungstext"].upper():
            detail = "Der Ergebnistext ist nicht der Eintragungstext in Großbuchstaben."
            raise _Abgelehnt(422, "Ergebnis beanstandet", detail)
        bearbeitung["status"] = "EINGEREICHT"
        return self._kurz(bearbeitung)

    def _abschliessen(self, request: Request, kennung: str) -> Any:
        arten = {
            "bearbeitungId": "text",
            "erledigungsart": "erledigungsart",
            "vermerk": "text",
        }
        felder = self._felder(request, arten)
        bearbeitung = self._eigene(felder["bearbeitungId"], kennung, "EINGEREICHT")
        vorgang = self._vorgaenge[bearbeitung["vorgangId"]]
        bearbeitung["status"] = vorgang["status"] = "ERLEDIGT"
        self.book.pay(str(vorgang["vorgangId"]), vorgang["verguetung"])
        return {**self._kurz(bearbeitung), "gutschrift": vorgang["verguetung"]}

    @staticmethod
    def _kurz(bearbeitung: dict[str, Any]) -> dict[str, Any]:
        return {n: bearbeitung[n] for n in ("bearbeitungId", "vorgangId", "status")}

    def _eigene(self, nummer: str, kennung: str, status: str) -> dict[str, Any]:
        bearbeitung = self._bearbeitungen.get(nummer, {})
        if bearbeitung.get("bearbeiterId") != kennung:
            raise _nicht_gefunden(f"Die Bearbeitung {nummer}")
        if bearbeitung["status"] != status:
            ist = f"Die Bearbeitung hat den Status {bearbeitung['status']}"
            raise _Abgelehnt(409, "Konflikt", f"{ist}, erforderlich ist {status}.")
        return bearbeitung

    @staticmethod
    def _felder(request: Request, arten: dict[str, str]) -> dict[str, Any]:
        kind = request.headers.get("Content-Type") or ""
        if request.raw and kind.partition(";")[0].strip().lower() != "application/json":
            detail = f"Der Content-Type '{kind}' wird nicht unterstützt, nur 'application/json'."
            raise _Abgelehnt(415, "Nicht unterstützter Medientyp", detail)
        try:
            rumpf = request.json()
        except ValueError:
            rumpf = None
        if not isinstance(rumpf, dict):
            raise _unlesbar("Der Rumpf der Anfrage ist kein gültiges JSON-Objekt.")
        felder = {
            feld: _gelesen(feld, art, rumpf.get(feld)) for feld, art in arten.items()
        }
        fehler = []
        for feld, wert in felder.items():
            if arten[feld] == "text" and not (wert or "").strip():
                fehler.append({"feld": feld, "meldung": "darf nicht leer sein"})
            elif wert is None:
                fehler.append({"feld": feld, "meldung": "darf nicht null sein"})
            elif arten[feld] == "datum" and wert < date.today():  # noqa: DTZ011
                gegenwart = "muss ein Datum in der Gegenwart oder in der Zukunft sein"
                fehler.append({"feld": feld, "meldung": gegenwart})
        if fehler:
            raise _fehlerhaft(fehler)
        return felder

    def _beantwortet(
        self,
        request: Request,
        aktion: Any,
        offen: bool = False,  # noqa: FBT001, FBT002
    ) -> Response:
        kennung = self._kennungen.get(request.token, "")
        if not kennung and not offen:
            abgelehnt = _Abgelehnt(
                401, "Nicht angemeldet", "Das Zugriffstoken fehlt oder ist ungültig."
            )
            return self._problem(request, abgelehnt, **{"WWW-Authenticate": "Bearer"})
        try:
            return Response(body=aktion(kennung))
        except _Abgelehnt as abgelehnt:
            return self._problem(request, abgelehnt)

    @staticmethod
    def _problem(request: Request, abgelehnt: _Abgelehnt, **kopf: str) -> Response:
        body: dict[str, Any] = {"type": "about:blank", "title": abgelehnt.titel}
        body |= {
            "status": abgelehnt.status,
            "detail": abgelehnt.detail,
            "instance": request.path,
        }
        if abgelehnt.fehler:
            body["fehler"] = abgelehnt.fehler
        return Response(
            abgelehnt.status, body, {"Content-Type": "application/problem+json", **kopf}
        )
