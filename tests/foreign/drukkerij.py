"""Drukkerij: a printing house with an in-house interface in Dutch.

Every answer has a `kop` (head) and the interface answers 200 even when it says no, with
one `fout` (fault) at a time; only a missing login is a 401. Bodies are strict: an unknown
field is refused by name. Delivered type that is right is paid when it is handed in;
completing closes the job ticket, and an agent holds at most two open tickets.
"""

import re
import secrets
from datetime import date, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_ORDERS = [
    ("Rouwkaart", "Bedankt voor alle warme woorden", 14),
    ("Etiket jampot", "Aardbeienjam uit eigen tuin, 340 gram", 22),
    ("Geboortekaartje", "Welkom kleine Noé, geboren op één mei", 17),
    ("Raamposter", "Op zondag geopend van 12 tot 17 uur", 11),
    ("Menukaart", "Erwtensoep met roggebrood en katenspek", 28),
    ("Toegangsbewijs", "Zaal open: half acht, aanvang acht uur", 35),
]
_LEVERWIJZEN = ["digitaal", "koerier", "afhalen"]
_SOORTEN = {
    "getal": "een geheel getal",
    "tekst": "een tekst",
    "datum": "een datum in de vorm JJJJ-MM-DD",
    "tijd": "een tijdsduur in de vorm UU:MM",
}


class _Fout(Exception):  # noqa: N818
    def __init__(self, code: int, omschrijving: str, veld: str | None = None) -> None:
        super().__init__(omschrijving)
        self.fout = {"code": f"DRK-{code}", "omschrijving": omschrijving, "veld": veld}


def _past(soort: str, waarde: Any) -> bool:
    """Return whether a value is of the kind that a field wants."""
    if soort == "getal":
        return isinstance(waarde, int) and not isinstance(waarde, bool)
    if not isinstance(waarde, str):
        return False
    if soort == "datum":
        try:
            return bool(re.fullmatch(r"\d{4}-\d\d-\d\d", waarde)) and bool(
                date.fromisoformat(waarde)
            )
        except ValueError:
            return False
    return soort == "tekst" or bool(re.fullmatch(r"\d\d:[0-5]\d", waarde))


class Drukkerij(Backend):
    """The network of the printing house."""

    def __init__(self) -> None:
        super().__init__()
        self._relaties: dict[str, dict[str, Any]] = {}  # by token
        self._bonnen: dict[str, dict[str, Any]] = {}
        self._bericht = 88200
        self._orders: dict[int, dict[str, Any]] = {
            nummer: {
                "ordernummer": nummer,
                "product": product,
                "werkzaamheid": "Zetten in kapitalen: de kopij volledig in hoofdletters",
                "kopij": kopij,
                "vergoeding": punten,
                "munt": "tegoedpunten",
                "stand": "vrij",
            }
            for nummer, (product, kopij, punten) in enumerate(_ORDERS, 240317)
        }

    def texts(self) -> dict[str, str]:
        return {str(nummer): order["kopij"] for nummer, order in self._orders.items()}

    def _antwoord(self, geslaagd: bool, status: int = 200, **inhoud: Any) -> Response:  # noqa: FBT001
        self._bericht += 1
        kop = {
            "geslaagd": geslaagd,
            "berichtnummer": self._bericht,
            "tijdstip": datetime.now().strftime("%d-%m-%Y %H:%M:%S"),  # noqa: DTZ005
        }
        headers = {"Content-Type": "application/json", "Content-Language": "nl"}
        return Response(status, {"kop": kop, **inhoud}, headers, not geslaagd)

    def _verwerk(self, request: Request, actie: Any, **velden: str) -> Response:
        """Check the login and the fields, then let the action answer."""
        try:
            relatie = self._relaties.get(request.token)
            if relatie is None:
                raise _Fout(
                    101,
                    "Niet aangemeld: geef een geldig toegangsbewijs (access_token) mee in "
                    "de kopregel Authorization, als 'Bearer <toegangsbewijs>'.",
                )
            return self._antwoord(True, **actie(relatie, **self._lees(request, velden)))
        except _Fout as fout:
            status = 401 if fout.fout["code"] == "DRK-101" else 200
            return self._antwoord(False, status, fout=fout.fout)

    @staticmethod
    def _lees(request: Request, velden: dict[str, str]) -> dict[str, Any]:
        try:
            bericht = request.json()
        except ValueError:
            raise _Fout(110, "Het bericht is geen geldige JSON.") from None
        if not isinstance(bericht, dict):
            raise _Fout(110, "Het bericht moet een JSON-object zijn.")
        for veld, soort in velden.items():
            if bericht.get(veld) in (None, ""):
                tekst = (
                    f"Verplicht veld '{veld}' ontbreekt; verwacht: {_SOORTEN[soort]}."
                )
                raise _Fout(111, tekst, veld)
            if not _past(soort, bericht[veld]):
                tekst = f"Veld '{veld}' moet {_SOORTEN[soort]} zijn."
                raise _Fout(112, tekst, veld)
        for veld in bericht:
            if veld not in velden:
                toegestaan = ", ".join(velden)
                tekst = f"Onbekend veld '{veld}'; toegestane velden: {toegestaan}."
                raise _Fout(113, tekst, veld)
        return bericht

    def missing(self, request: Request) -> Response:
        fout = _Fout(404, f"Onbekende dienst: {request.method} {request.path}").fout
        return self._antwoord(False, 404, fout=fout)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        nummer = f"REL{51000 + self.book.registrations}"
        token = secrets.token_urlsafe(30)
        self._relaties[token] = {"relatienummer": nummer, "tegoed": 100}
        body = {"agent_id": nummer, "access_token": token, "credits": 100}
        return Response(200, body)

    def tasks(self, request: Request) -> Response:
        try:
            grenzen = {"limit": 4, "vanaf": 1}
            for naam in grenzen:  # noqa: PLC0206
                waarde = request.query.get(naam, str(grenzen[naam]))
                if not waarde.isdecimal() or int(waarde) < 1:
                    tekst = f"Parameter '{naam}' moet een geheel getal vanaf 1 zijn."
                    raise _Fout(112, tekst, naam)
                grenzen[naam] = int(waarde)
            limit, vanaf = grenzen["limit"], grenzen["vanaf"]
            if limit > 20:
                raise _Fout(114, "Parameter 'limit' mag hoogstens 20 zijn.", "limit")
        except _Fout as fout:
            return self._antwoord(False, fout=fout.fout)
        alle = list(self._orders.values())
        deel = [dict(order) for order in alle[vanaf - 1 : vanaf - 1 + limit]]
        werkvoorraad = {"aantal": len(alle), "vanaf": vanaf, "orders": deel}
        vervolg = f"{request.path}?limit={limit}&vanaf={vanaf + limit}"
        werkvoorraad["vervolg"] = vervolg if vanaf + limit <= len(alle) else None
        return self._antwoord(True, werkvoorraad=werkvoorraad)

    marketplace = tasks  # the stock of work is public

    def agents(self, request: Request) -> Response:
        nummers = [relatie["relatienummer"] for relatie in self._relaties.values()]
        return self._antwoord(True, relaties=nummers)

    directory = agents

    def claim(self, request: Request) -> Response:
        velden = {"ordernummer": "getal", "relatienummer": "tekst"}
        return self._verwerk(request, self._aannemen, **velden, leverdatum="datum")

    def submit(self, request: Request) -> Response:
        velden = {"bonnummer": "tekst", "zetwerk": "tekst", "leverwijze": "tekst"}
        return self._verwerk(request, self._inleveren, **velden)

    def complete(self, request: Request) -> Response:
        velden = {"bonnummer": "tekst", "bestede_tijd": "tijd"}
        return self._verwerk(request, self._afsluiten, **velden)

    def post(self, request: Request) -> Response:
        fout = _Fout(120, "Deze dienst is alleen open voor onze binnendienst.").fout
        return self._antwoord(False, fout=fout)

    checkout = post

    def _aannemen(
        self, relatie: Any, ordernummer: int, relatienummer: str, leverdatum: str
    ) -> Any:
        if relatienummer != relatie["relatienummer"]:
            tekst = (
                f"Relatienummer '{relatienummer}' hoort niet bij dit toegangsbewijs; "
            )
            tekst += "gebruik het agent_id van uw inschrijving."
            raise _Fout(201, tekst, "relatienummer")
        order = self._orders.get(ordernummer)
        if order is None:
            raise _Fout(202, f"Order {ordernummer} is niet bekend.", "ordernummer")
        if order["stand"] != "vrij":
            tekst = f"Order {ordernummer} is niet vrij (stand: {order['stand']})."
            raise _Fout(203, tekst, "ordernummer")
        vandaag = date.today()  # noqa: DTZ011
        uiterlijk = vandaag + timedelta(days=30)
        if not vandaag <= date.fromisoformat(leverdatum) <= uiterlijk:
            tekst = f"Leverdatum moet liggen van {vandaag} tot en met {uiterlijk}."
            raise _Fout(204, tekst, "leverdatum")
        eigen = [
            b for b in self._bonnen.values() if b["relatienummer"] == relatienummer
        ]
        if sum(bon["stand"] != "afgesloten" for bon in eigen) >= 2:
            tekst = "U heeft al twee openstaande bonnen; sluit er eerst een af."
            raise _Fout(205, tekst)
        order["stand"] = "in bewerking"
        bon: dict[str, Any] = {
            "bonnummer": f"B{secrets.randbelow(900000) + 100000}-{len(self._bonnen) + 1}",
            "ordernummer": ordernummer,
            "relatienummer": relatienummer,
            "leverdatum": leverdatum,
            "stand": "uitgegeven",
        }
        self._bonnen[bon["bonnummer"]] = bon
        self.book.claimed(str(ordernummer))
        return {"bon": dict(bon)}

    def _bon(self, relatie: Any, bonnummer: str, stand: str) -> Any:
        bon = self._bonnen.get(bonnummer)
        if bon is None or bon["relatienummer"] != relatie["relatienummer"]:
            raise _Fout(301, f"Bon '{bonnummer}' is niet bekend.", "bonnummer")
        if bon["stand"] != stand:
            tekst = (
                f"Bon {bonnummer} heeft de stand '{bon['stand']}'; nodig is '{stand}'."
            )
            raise _Fout(302, tekst, "bonnummer")
        return bon

    def _inleveren(
        self, relatie: Any, bonnummer: str, zetwerk: str, leverwijze: str
    ) -> Any:
        bon = self._bon(relatie, bonnummer, "uitgegeven")
        if leverwijze not in _LEVERWIJZEN:
            tekst = f"Leverwijze '{leverwijze}' is niet toegestaan; kies uit: "
            raise _Fout(303, tekst + ", ".join(_LEVERWIJZEN) + ".", "leverwijze")
        order = self._orders[bon["ordernummer"]]
        if zetwerk != order["kopij"].upper():
            tekst = "Zetwerk afgekeurd: dit is niet de kopij in hoofdletters."
            raise _Fout(310, tekst, "zetwerk")
        bon["stand"], order["stand"] = "goedgekeurd", "geleverd"
        relatie["tegoed"] += order["vergoeding"]
        self.book.pay(str(bon["ordernummer"]), order["vergoeding"])
        boeking = {"bijgeschreven": order["vergoeding"], "tegoed": relatie["tegoed"]}
        return {"bon": dict(bon), "boeking": boeking}

    def _afsluiten(self, relatie: Any, bonnummer: str, bestede_tijd: str) -> Any:
        bon = self._bon(relatie, bonnummer, "goedgekeurd")
        bon["stand"] = self._orders[bon["ordernummer"]]["stand"] = "afgesloten"
        return {"bon": {**bon, "bestede_tijd": bestede_tijd}}
