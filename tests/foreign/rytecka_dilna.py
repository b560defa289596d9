"""A Czech engraving workshop: an in-house interface, HTTP 200 around every yes and no.

Orders (zakazky) are inscriptions to be set in capitals. An engraver takes an order over
with a delivery date, hands the inscription in, and is paid when the handover protocol is
signed (complete).
"""

import secrets
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_PAGE = 4
_INSCRIPTIONS = [
    ("Domovní cedulka", "rodina Dvořákova, první patro", 12),
    ("Pamětní deska", "v tomto domě žil a tvořil houslař Josef Malý", 25),
    ("Pohár", "vítěz běhu kolem rybníka", 9),
    ("Štítek na dveře", "účtárna a pokladna", 7),
    ("Náhrobek", "odpočívej v pokoji, drahá babičko", 18),
    ("Zvon", "lit roku 1904 nákladem obce Lhota", 31),
    ("Prsten", "navždy tvůj Tomáš", 15),
]


@dataclass
class _Order:
    cislo: str
    nazev: str
    predloha: str
    castka: int
    termin: str
    stav: str = "volna"


@dataclass
class _Takeover:
    cislo: int
    zakazka: _Order
    rytec: str
    protokol: str = ""


class _NoError(Exception):
    def __init__(self, kod: str, hlaseni: str, status: int = 200, **pole: str) -> None:
        chyba: dict[str, Any] = {"kod": kod, "hlaseni": hlaseni}
        if pole:
            chyba["pole"] = pole
        body = {"uspech": False, "chyba": chyba}
        super().__init__(hlaseni)
        self.response = Response(status, body, refused=True)


def _yes(data: Any) -> Response:
    return Response(200, {"uspech": True, "data": data})


def _today() -> date:
    return datetime.now(UTC).date()


class RyteckaDilna(Backend):
    """The workshop's server."""

    def __init__(self) -> None:
        super().__init__()
        self._tokens: dict[str, str] = {}
        self._balance: dict[str, int] = {}
        self._takeovers: dict[int, _Takeover] = {}
        self._orders = {
            f"Z{117 + i}/24": _Order(
                f"Z{117 + i}/24",
                nazev,
                text,
                castka,
                (_today() + timedelta(days=10 + i)).isoformat(),
            )
            for i, (nazev, text, castka) in enumerate(_INSCRIPTIONS)
        }

    def texts(self) -> dict[str, str]:
        return {o.cislo: o.predloha for o in self._orders.values()}

    def missing(self, request: Request) -> Response:
        return _NoError("E404", "Požadovaná služba neexistuje.", 404).response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        rytec = f"rytec-{self.book.registrations:04d}"
        token = secrets.token_hex(20)
        self._tokens[token] = rytec
        self._balance[rytec] = 100
        return Response(200, {"agent_id": rytec, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        try:
            return self._list(request)
        except _NoError as no:
            return no.response

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        try:
            return self._claim(request)
        except _NoError as no:
            return no.response

    def submit(self, request: Request) -> Response:
        try:
            return self._submit(request)
        except _NoError as no:
            return no.response

    def complete(self, request: Request) -> Response:
        try:
            return self._complete(request)
        except _NoError as no:
            return no.response

    def _list(self, request: Request) -> Response:
        numbers = {"limit": _PAGE, "strana": 1}
        for name in numbers:
            text = request.query.get(name)
            if text is None:
                continue
            if not (text.isascii() and text.isdigit() and 0 < len(text) < 7):
                raise _NoError("E110", f"Parametr {name} musí být kladné celé číslo.")
            numbers[name] = max(1, int(text))
        size = min(numbers["limit"], _PAGE)
        page = numbers["strana"]
        orders = list(self._orders.values())
        pages = -(-len(orders) // size)
        next_ = f"{request.base}{request.path}?limit={size}&strana={page + 1}"
        return _yes(
            {
                "zakazky": [
                    {
                        "cisloZakazky": o.cislo,
                        "nazev": o.nazev,
                        "predloha": o.predloha,
                        "pokyny": "Nápis = předloha přepsaná celá velkými písmeny, "
                        "jinak beze změny.",
                        "odmena": {"castka": o.castka, "mena": "kredit"},
                        "nejpozdejiDo": o.termin,
                        "stav": o.stav,
                    }
                    for o in orders[(page - 1) * size : page * size]
                ],
                "strankovani": {
                    "strana": page,
                    "stranCelkem": pages,
                    "zakazekCelkem": len(orders),
                    "dalsiStrana": next_ if page < pages else None,
                },
            }
        )

    def _read(self, request: Request, **wanted: str) -> tuple[str, dict[str, Any]]:
        """Return the engraver and the body with all wanted fields."""
        rytec = self._tokens.get(request.token)
        if rytec is None:
            raise _NoError(
                "E401", "Nejste přihlášen. Chybí platný přístupový token.", 401
            )
        try:
            body = request.json()
        except ValueError:
            raise _NoError("E100", "Tělo požadavku není platný JSON.") from None
        if not isinstance(body, dict):
            raise _NoError("E100", "Tělo požadavku musí být objekt JSON.")
        wrong = {}
        for name, kind in wanted.items():
            value = body.get(name)
            if value is None or value == "":
                wrong[name] = f"Pole je povinné ({kind})."
            elif kind == "celé číslo" and type(value) is not int:
                wrong[name] = "Hodnota musí být celé číslo."
            elif kind != "celé číslo" and not isinstance(value, str):
                wrong[name] = "Hodnota musí být text."
        if wrong:
            raise _NoError("E120", "Formulář obsahuje chyby.", 200, **wrong)
        return rytec, body

    def _claim(self, request: Request) -> Response:
        rytec, body = self._read(
            request,
            cisloZakazky="text",
            rytec="vaše agent_id",
            datumDodani="datum ve tvaru RRRR-MM-DD",
        )
        order = self._orders.get(body["cisloZakazky"])
        if order is None:
            raise _NoError(
                "E204", f"Zakázka č. {body['cisloZakazky']} nebyla nalezena."
            )
        if body["rytec"] != rytec:
            text = "Neodpovídá přihlášenému rytci, uveďte své agent_id."
            raise _NoError("E120", "Formulář obsahuje chyby.", rytec=text)
        try:
            day = (
                datetime.strptime(body["datumDodani"], "%Y-%m-%d")
                .replace(tzinfo=UTC)
                .date()
            )
        except ValueError:
            text = "Neplatné datum, očekává se tvar RRRR-MM-DD."
            raise _NoError(
                "E120", "Formulář obsahuje chyby.", datumDodani=text
            ) from None
        if not _today() <= day <= date.fromisoformat(order.termin):
            text = f"Datum musí ležet mezi {_today()} a {order.termin}."
            raise _NoError("E120", "Formulář obsahuje chyby.", datumDodani=text)
        if order.stav != "volna":
            raise _NoError("E209", f"Zakázka není volná (stav: {order.stav}).")
        order.stav = "prevzata"
        takeover = _Takeover(5001 + len(self._takeovers), order, rytec)
        self._takeovers[takeover.cislo] = takeover
        self.book.claimed(order.cislo)
        return _yes({"cisloPrevzeti": takeover.cislo, "stav": order.stav})

    def _find(self, rytec: str, number: int) -> _Takeover:
        takeover = self._takeovers.get(number)
        if takeover is None or takeover.rytec != rytec:
            raise _NoError("E304", f"Převzetí č. {number} u vás neevidujeme.")
        return takeover

    def _submit(self, request: Request) -> Response:
        rytec, body = self._read(request, cisloPrevzeti="celé číslo", napis="text")
        takeover = self._find(rytec, body["cisloPrevzeti"])
        order = takeover.zakazka
        if order.stav != "prevzata":
            raise _NoError("E309", f"Nápis již byl odevzdán (stav: {order.stav}).")
        if body["napis"] != order.predloha.upper():
            text = "Nápis neodpovídá předloze psané velkými písmeny. Opravte jej."
            raise _NoError("E330", "Výstupní kontrola práci nepřevzala.", napis=text)
        order.stav = "odevzdana"
        takeover.protokol = f"PP-{takeover.cislo}-{secrets.token_hex(2)}"
        return _yes({"predavaciProtokol": takeover.protokol, "stav": order.stav})

    def _complete(self, request: Request) -> Response:
        rytec, body = self._read(
            request, cisloPrevzeti="celé číslo", predavaciProtokol="text"
        )
        takeover = self._find(rytec, body["cisloPrevzeti"])
        order = takeover.zakazka
        if order.stav != "odevzdana":
            raise _NoError("E409", f"Zakázku nelze vyúčtovat (stav: {order.stav}).")
        if body["predavaciProtokol"] != takeover.protokol:
            text = "Protokol k tomuto převzetí nepatří, uveďte číslo z odevzdání."
            raise _NoError("E120", "Formulář obsahuje chyby.", predavaciProtokol=text)
        order.stav = "uhrazena"
        self._balance[rytec] += order.castka
        self.book.pay(order.cislo, order.castka)
        money = {"vyplaceno": order.castka, "zustatek": self._balance[rytec]}
        return _yes({"stav": order.stav, "vyuctovani": money})
