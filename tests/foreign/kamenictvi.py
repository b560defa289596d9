"""A Czech stonemason's workshop with an in-house interface of its own.

Orders for inscriptions are taken over, handed in and inspected; the inspection
(completion) compares the inscription with the template and pays.
"""

import json
import secrets
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_ZAKAZKY = [
    (
        24117,
        "Náhrobní deska, rodina Doležalova",
        "žula",
        35,
        9,
        "Zde odpočívá Marie Doležalová, učitelka",
    ),
    (
        24121,
        "Pamětní deska na školu",
        "pískovec",
        60,
        14,
        "V tomto domě se narodil skladatel Jan Říha",
    ),
    (24122, "Označení studny", "žula", 15, 5, "Voda není pitná"),
    (
        24130,
        "Základní kámen hasičské zbrojnice",
        "mramor",
        48,
        12,
        "Základní kámen položen dne 4. května 1928",
    ),
    (24133, "Kříž u cesty", "pískovec", 27, 7, "Pocestný, zastav se a odpočiň"),
    (24138, "Domovní znamení", "vápenec", 22, 10, "U Tří bílých čápů"),
]
_POKYN = (
    "Předlohu přepište celou verzálkami (velkými písmeny), jinak beze změny: "
    "včetně háčků, čárek, mezer a interpunkce."
)
_NEJVYSE = 3


def _odpoved(obsah: dict[str, Any], stav: int = 200) -> Response:
    return Response(
        stav,
        json.dumps(obsah, ensure_ascii=False),
        {"Content-Type": "application/json; charset=utf-8"},
    )


def _chyba(stav: int, kod: str, hlaska: str, *podrobnosti: tuple[str, str]) -> Response:
    obsah: dict[str, Any] = {"uspech": False, "kod": kod, "hlaska": hlaska}
    if podrobnosti:
        obsah["podrobnosti"] = [{"pole": p, "duvod": d} for p, d in podrobnosti]
    return _odpoved(obsah, stav)


class _OdmitnutoError(Exception):
    def __init__(
        self, stav: int, kod: str, hlaska: str, *podrobnosti: tuple[str, str]
    ) -> None:
        super().__init__(hlaska)
        self.odpoved = _chyba(stav, kod, hlaska, *podrobnosti)


def _vstup(pozadavek: Request) -> dict[str, Any]:
    try:
        telo = pozadavek.json()
    except ValueError:
        telo = None
    if not isinstance(telo, dict):
        raise _OdmitnutoError(
            400, "SPATNE_TELO", "Tělo požadavku musí být platný objekt JSON."
        )
    return telo


def _over(chyby: list[tuple[str, str]]) -> None:
    if chyby:
        raise _OdmitnutoError(
            422, "CHYBA_VSTUPU", "Formulář není vyplněn správně.", *chyby
        )


class Kamenictvi(Backend):
    """Kamenictví Doležal a synové."""

    def __init__(self) -> None:
        super().__init__()
        self._zakazky: dict[int, dict[str, Any]] = {
            cislo: {
                "cislo": cislo,
                "nazev": nazev,
                "kamen": kamen,
                "predloha": predloha,
                "pokyny": _POKYN,
                "cena": {"odmena": odmena, "mena": "kredit"},
                "termin": (datetime.now(UTC).date() + timedelta(days=dny)).isoformat(),
                "stav": "volná",
            }
            for cislo, nazev, kamen, odmena, dny, predloha in _ZAKAZKY
        }
        self._remeslnici: dict[str, str] = {}  # token -> agent
        self._konta: dict[str, int] = {}
        self._listy: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(c): z["predloha"] for c, z in self._zakazky.items()}

    def missing(self, request: Request) -> Response:
        return _chyba(404, "NENALEZENO", f"Adresa {request.path} u nás není zavedena.")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = f"remeslnik-{100 + self.book.registrations}"
        token = secrets.token_urlsafe(24)
        self._remeslnici[token] = agent
        self._konta[agent] = 100
        return _odpoved(
            {
                "agent_id": agent,
                "access_token": token,
                "credits": 100,
                "pozdrav": "Vítejte v dílně. Volné zakázky najdete na vývěsce.",
            }
        )

    def _vyrid(self, pozadavek: Request, ukon: Any) -> Response:
        agent = self._remeslnici.get(pozadavek.token)
        if agent is None:
            return _chyba(
                401,
                "NEPRIHLASEN",
                "Nejste přihlášen. Pošlete hlavičku "
                "Authorization: Bearer <access_token>.",
            )
        try:
            odpoved: Response = ukon(agent, _vstup(pozadavek))
        except _OdmitnutoError as ne:
            odpoved = ne.odpoved
        return odpoved

    def marketplace(self, request: Request) -> Response:
        volne = [z for z in self._zakazky.values() if z["stav"] == "volná"]
        return _odpoved({"uspech": True, "celkem": len(volne), "zakazky": volne})

    def tasks(self, request: Request) -> Response:
        cisla, chyby = {}, []
        for pole, vychozi, mez in (("limit", "4", 20), ("strana", "1", 1000)):
            text = request.query.get(pole, vychozi)
            if text.isascii() and text.isdigit() and 1 <= int(text) <= mez:
                cisla[pole] = int(text)
            else:
                chyby.append((pole, f"Zadejte celé číslo od 1 do {mez}."))
        if chyby:
            return _chyba(400, "CHYBA_DOTAZU", "Dotaz není zadán správně.", *chyby)
        limit, strana = cisla["limit"], cisla["strana"]
        vse = list(self._zakazky.values())
        konec = strana * limit
        dalsi = (
            f"{request.path}?limit={limit}&strana={strana + 1}"
            if konec < len(vse)
            else None
        )
        return _odpoved(
            {
                "uspech": True,
                "celkem": len(vse),
                "strana": strana,
                "dalsi_strana": dalsi,
                "zakazky": vse[konec - limit : konec],
            }
        )

    def claim(self, request: Request) -> Response:
        return self._vyrid(request, self._prevzit)

    def submit(self, request: Request) -> Response:
        return self._vyrid(request, self._odevzdat)

    def complete(self, request: Request) -> Response:
        return self._vyrid(request, self._prejimka)

    def _prevzit(self, agent: str, telo: dict[str, Any]) -> Response:  # noqa: PLR0915 - as it grew
        chyby = []
        cislo, slib = telo.get("cislo"), telo.get("slib_dodani")
        if cislo is None:
            chyby.append(("cislo", "Chybí číslo zakázky."))
        elif type(cislo) is not int:
            chyby.append(("cislo", "Číslo zakázky musí být celé číslo."))
        if telo.get("remeslnik") is None:
            chyby.append(("remeslnik", "Uveďte, kdo zakázku přebírá (vaše agent_id)."))
        elif telo["remeslnik"] != agent:
            chyby.append(("remeslnik", "Neodpovídá přihlášenému agent_id."))
        den = date.min
        if slib is None:
            chyby.append(("slib_dodani", "Uveďte den dodání ve tvaru RRRR-MM-DD."))
        else:
            try:
                den = date.fromisoformat(slib)
            except (TypeError, ValueError):
                chyby.append(("slib_dodani", "Datum zapište ve tvaru RRRR-MM-DD."))
        _over(chyby)
        zakazka = self._zakazky.get(cislo or 0)
        if zakazka is None:
            return _chyba(404, "NENALEZENO", f"Zakázka č. {cislo} neexistuje.")
        if zakazka["stav"] != "volná":
            return _chyba(
                409,
                "NENI_VOLNA",
                f"Zakázka č. {cislo} není volná, její stav je „{zakazka['stav']}“.",
            )
        termin = date.fromisoformat(zakazka["termin"])
        if not datetime.now(UTC).date() <= den <= termin:
            _over(
                [
                    (
                        "slib_dodani",
                        (
                            f"Den dodání musí být nejdříve dnes a nejpozději {termin} "
                            "(termín zakázky)."
                        ),
                    )
                ]
            )
        otevrene = [
            x
            for x in self._listy.values()
            if x["remeslnik"] == agent and x["napis"] is None
        ]
        if len(otevrene) >= _NEJVYSE:
            return _chyba(
                409,
                "MNOHO_ZAKAZEK",
                f"Máte rozpracované {_NEJVYSE} zakázky. Nejprve některou odevzdejte.",
            )
        list_ = f"PL-{len(self._listy) + 501}"
        self._listy[list_] = {"remeslnik": agent, "cislo": cislo, "napis": None}
        zakazka["stav"] = "rozpracovaná"
        self.book.claimed(str(cislo))
        return _odpoved(
            {
                "uspech": True,
                "pracovni_list": list_,
                "slib_dodani": slib,
                "zakazka": zakazka,
            }
        )

    def _list(
        self, telo: dict[str, Any], agent: str
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        cislo = telo["pracovni_list"]
        list_ = self._listy.get(cislo)
        if list_ is None or list_["remeslnik"] != agent:
            raise _OdmitnutoError(404, "NENALEZENO", f"Pracovní list {cislo} nemáte.")
        zakazka = self._zakazky[list_["cislo"]]
        if zakazka["stav"] == "proplacená":
            raise _OdmitnutoError(
                409, "UZAVRENO", f"Pracovní list {cislo} je již proplacen."
            )
        return list_, zakazka

    def _odevzdat(self, agent: str, telo: dict[str, Any]) -> Response:
        chyby = []
        for pole, co in (
            ("pracovni_list", "Chybí číslo pracovního listu."),
            ("napis", "Chybí hotový nápis."),
        ):
            if telo.get(pole) is None:
                chyby.append((pole, co))
            elif not isinstance(telo[pole], str) or not telo[pole].strip():
                chyby.append((pole, "Musí být neprázdný text."))
        _over(chyby)
        list_, zakazka = self._list(telo, agent)
        list_["napis"] = telo["napis"]
        zakazka["stav"] = "odevzdaná"
        return _odpoved(
            {
                "uspech": True,
                "pracovni_list": telo["pracovni_list"],
                "stav": "odevzdaná",
                "hlaska": "Nápis jsme přijali. Odměna se vyplácí po přejímce.",
            }
        )

    def _prejimka(self, agent: str, telo: dict[str, Any]) -> Response:
        chyby = []
        if telo.get("pracovni_list") is None:
            chyby.append(("pracovni_list", "Chybí číslo pracovního listu."))
        elif not isinstance(telo["pracovni_list"], str):
            chyby.append(("pracovni_list", "Musí být text."))
        minuty = telo.get("odpracovano_minut")
        if minuty is None:
            chyby.append(("odpracovano_minut", "Uveďte odpracovaný čas v minutách."))
        elif type(minuty) is not int or minuty < 1:
            chyby.append(("odpracovano_minut", "Musí být celé číslo, nejméně 1."))
        if telo.get("zkontrolovano") is not True:
            chyby.append(
                ("zkontrolovano", "Potvrďte hodnotou true, že jste nápis zkontroloval.")
            )
        _over(chyby)
        list_, zakazka = self._list(telo, agent)
        if list_["napis"] is None:
            return _chyba(
                409, "NEODEVZDANO", "K pracovnímu listu nebyl odevzdán žádný nápis."
            )
        if list_["napis"] != zakazka["predloha"].upper():
            list_["napis"] = None
            zakazka["stav"] = "rozpracovaná"
            return _chyba(
                409,
                "REKLAMACE",
                "Přejímka neproběhla: nápis neodpovídá předloze "
                "podle pokynů. Opravte jej a odevzdejte znovu.",
            )
        odmena = zakazka["cena"]["odmena"]
        zakazka["stav"] = "proplacená"
        self.book.pay(str(list_["cislo"]), odmena)
        self._konta[agent] += odmena
        return _odpoved(
            {
                "uspech": True,
                "stav": "proplacená",
                "vyplaceno": odmena,
                "zustatek": self._konta[agent],
            }
        )
