"""A Swedish sign workshop's own order interface, grown in the house over the years.

Business answers are all 200 with a Resultat of OK or FEL and numbered errors; orders are
booked with a delivery day, the delivery is inspected at once and paid, and the completion
only signs the order off.
"""

import re
import secrets
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_ORDER = [
    ("SK-2041", "Nödutgång, plan 2", "utrymningsväg - får ej blockeras", 60),
    ("SK-2042", "Butiksskylt", "Lindqvists bageri & konditori", 35),
    ("SK-2044", "Dörrskylt", "Mottagning endast efter överenskommelse", 40),
    ("SK-2047", "Hamnskylt", "Gästplats högst två dygn", 25),
    ("SK-2050", "Maskinskylt", "Bryt strömmen före rengöring", 45),
    ("SK-2053", "Vägvisare", "Till kvarnen 300 meter", 20),
]
_ARBETE = "Återge skylttexten med versaler, tecken för tecken, i fältet Versaltext."
_SAKNAS = object()


class _Nekad(Exception):  # noqa: N818
    def __init__(self, kod: int, meddelande: str, status: int = 200) -> None:
        self.svar = _fel([(kod, meddelande)], status)


def _fel(fel: list[tuple[int, str]], status: int = 200) -> Response:
    lista = [{"Felkod": kod, "Meddelande": meddelande} for kod, meddelande in fel]
    return Response(status, {"Resultat": "FEL", "Fel": lista}, refused=True)


def _ok(**uppgifter: Any) -> Response:
    return Response(200, {"Resultat": "OK", **uppgifter})


def _tjanst(action: Callable[..., Response]) -> Callable[..., Response]:
    def svara(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except _Nekad as nekad:
            return nekad.svar

    return svara


def _las(request: Request, **falt: str) -> dict[str, Any]:  # noqa: PLR0915
    """Read the fields of a message; every fault in it is reported at once.

    A field's kind is text, datum or kryss; a dot in its name (written __) is a level.
    """
    try:
        meddelande = request.json()
    except ValueError:
        raise _Nekad(
            1001, "Meddelandet kunde inte läsas. Innehållet ska vara JSON."
        ) from None
    if not isinstance(meddelande, dict):
        raise _Nekad(1002, "Meddelandet ska vara ett JSON-objekt.")
    fel: list[tuple[int, str]] = []
    varden: dict[str, Any] = {}
    for nyckel, typ in falt.items():
        namn = nyckel.replace("__", ".")
        varde: Any = meddelande
        for steg in namn.split("."):
            varde = varde.get(steg, _SAKNAS) if isinstance(varde, dict) else _SAKNAS
        varden[nyckel] = varde
        if varde is _SAKNAS or varde is None or varde == "":
            fel.append((1101, f"Obligatoriskt fält saknas: {namn}."))
        elif typ == "kryss":
            if not isinstance(varde, bool):
                fel.append((1103, f"Fältet {namn} ska vara true eller false."))
        elif not isinstance(varde, str):
            fel.append((1102, f"Fältet {namn} ska vara en text."))
        elif typ == "datum":
            try:
                if not re.fullmatch(r"\d{4}-\d\d-\d\d", varde):
                    raise ValueError
                varden[nyckel] = date.fromisoformat(varde)
            except ValueError:
                text = f"Fältet {namn} har fel format. Datum anges som ÅÅÅÅ-MM-DD."
                fel.append((1104, text))
    if fel:
        nekad = _Nekad(0, "")
        nekad.svar = _fel(fel)
        raise nekad
    return varden


class Skyltverkstad(Backend):
    """Orders, bookings and deliveries of a sign workshop."""

    def __init__(self) -> None:
        super().__init__()
        self._utforare: dict[str, dict[str, Any]] = {}  # by token
        sista = date.today() + timedelta(days=21)  # noqa: DTZ011
        namn = ("OrderNr", "Benamning", "Skylttext", "Arvode")
        self._order: dict[str, dict[str, Any]] = {
            rad[0]: {
                **dict(zip(namn, rad, strict=False)),
                "SistaLeveransdag": sista,
                "Status": "ledig",
            }
            for rad in _ORDER
        }
        self._bokningar: dict[str, dict[str, Any]] = {}
        self._leveranser: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the sign text of every order."""
        return {nummer: order["Skylttext"] for nummer, order in self._order.items()}

    def missing(self, request: Request) -> Response:
        """Return the workshop's own 404."""
        return _fel(
            [(1000, f"Tjänsten {request.method} {request.path} finns inte.")], 404
        )

    def _anvandare(self, request: Request) -> dict[str, Any]:
        if not request.token:
            raise _Nekad(
                9001, "Behörighet saknas. Ange åtkomstnyckel i Authorization.", 401
            )
        if request.token not in self._utforare:
            raise _Nekad(9002, "Åtkomstnyckeln är okänd.", 401)
        return self._utforare[request.token]

    def register(self, request: Request) -> Response:
        """Enter a new contractor."""
        self.book.registrations += 1
        utforare: dict[str, Any] = {
            "agent_id": f"UTF{self.book.registrations:05d}",
            "access_token": secrets.token_urlsafe(24),
            "credits": 100,
        }
        self._utforare[utforare["access_token"]] = utforare
        return Response(200, dict(utforare))

    def _visa(self, request: Request, order: list[dict[str, Any]]) -> Response:
        antal = request.query.get("limit", "50")
        if not antal.isdecimal() or not 1 <= int(antal) <= 50:
            raise _Nekad(1201, "Parametern limit ska vara ett heltal mellan 1 och 50.")
        rader = [
            {
                "OrderNr": en["OrderNr"],
                "Benamning": en["Benamning"],
                "Arbetsbeskrivning": _ARBETE,
                "Skylttext": en["Skylttext"],
                "Arvode": {"Belopp": en["Arvode"], "Enhet": "krediter"},
                "SistaLeveransdag": en["SistaLeveransdag"].isoformat(),
                "Status": en["Status"],
            }
            for en in order[: int(antal)]
        ]
        return _ok(AntalTotalt=len(order), Orderlista={"Order": rader})

    @_tjanst
    def marketplace(self, request: Request) -> Response:
        """Show the free orders to anyone."""
        return self._visa(
            request, [en for en in self._order.values() if en["Status"] == "ledig"]
        )

    @_tjanst
    def tasks(self, request: Request) -> Response:
        """Show the whole order book, with the state of each order, to a contractor."""
        self._anvandare(request)
        return self._visa(request, list(self._order.values()))

    def agents(self, request: Request) -> Response:
        """Show the contractors."""
        rader = [{"UtforarNr": en["agent_id"]} for en in self._utforare.values()]
        return _ok(AntalTotalt=len(rader), Utforare=rader)

    directory = agents

    @_tjanst
    def claim(self, request: Request) -> Response:
        """Book an order for a delivery day."""
        utforare = self._anvandare(request)
        bud = _las(request, OrderNr="text", Leveransdag="datum")
        order = self._order.get(bud["OrderNr"])
        if order is None:
            raise _Nekad(2001, f"Order {bud['OrderNr']} finns inte.")
        if order["Status"] != "ledig":
            text = f"Order {order['OrderNr']} kan inte bokas, status {order['Status']}."
            raise _Nekad(2002, text)
        dag, sista = bud["Leveransdag"], order["SistaLeveransdag"]
        if dag < date.today():  # noqa: DTZ011
            raise _Nekad(2003, "Leveransdag får inte ligga före dagens datum.")
        if dag > sista:
            raise _Nekad(
                2004, f"Leveransdag får inte ligga efter sista leveransdag {sista}."
            )
        nummer = f"B{len(self._bokningar) + 70001}"
        bokning = {"order": order, "utforare": utforare}
        self._bokningar[nummer] = bokning
        order["Status"] = "bokad"
        self.book.claimed(order["OrderNr"])
        kvitto = {
            "Bokningsnummer": nummer,
            "OrderNr": order["OrderNr"],
            "Status": "bokad",
        }
        return _ok(Bokning=kvitto | {"Leveransdag": dag.isoformat()})

    @_tjanst
    def submit(self, request: Request) -> Response:
        """Inspect a delivery and pay it when it is right."""
        utforare = self._anvandare(request)
        falt = {"Leverans__Versaltext": "text", "Leverans__Korrekturlast": "kryss"}
        bud = _las(request, Bokningsnummer="text", **falt)
        bokning = self._bokningar.get(bud["Bokningsnummer"])
        if bokning is None or bokning["utforare"] is not utforare:
            raise _Nekad(
                3001, f"Bokning {bud['Bokningsnummer']} finns inte för denna utförare."
            )
        order = bokning["order"]
        if order["Status"] != "bokad":
            raise _Nekad(
                3002, f"Bokningen är redan levererad, status {order['Status']}."
            )
        if not bud["Leverans__Korrekturlast"]:
            raise _Nekad(3003, "Leveransen tas inte emot förrän den är korrekturläst.")
        if bud["Leverans__Versaltext"] != order["Skylttext"].upper():
            text = "Leveransen underkänd: versaltexten stämmer inte med beställd skylttext."
            raise _Nekad(3004, text + " Rätta och leverera på nytt.")
        nummer = f"L{len(self._leveranser) + 301}"
        self._leveranser[nummer] = bokning
        order["Status"] = "godkänd"
        self.book.pay(order["OrderNr"], order["Arvode"])
        utforare["credits"] += order["Arvode"]
        kvitto = {
            "Leveransnummer": nummer,
            "OrderNr": order["OrderNr"],
            "Status": "godkänd",
        }
        saldo = {"UtbetaltArvode": order["Arvode"], "Saldo": utforare["credits"]}
        return _ok(Leveranskvitto=kvitto, Utbetalning=saldo)

    @_tjanst
    def complete(self, request: Request) -> Response:
        """Sign an approved order off."""
        utforare = self._anvandare(request)
        bud = _las(request, OrderNr="text", Leveransnummer="text")
        bokning = self._leveranser.get(bud["Leveransnummer"])
        if bokning is None or bokning["utforare"] is not utforare:
            raise _Nekad(
                4001, f"Leverans {bud['Leveransnummer']} finns inte för denna utförare."
            )
        order = bokning["order"]
        if order["OrderNr"] != bud["OrderNr"]:
            raise _Nekad(4002, f"Leveransen hör till order {order['OrderNr']}.")
        if order["Status"] != "godkänd":
            raise _Nekad(4003, f"Order {order['OrderNr']} är redan avslutad.")
        order["Status"] = "avslutad"
        return _ok(Order={"OrderNr": order["OrderNr"], "Status": "avslutad"})
