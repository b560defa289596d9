"""Egy kőfaragó szövetkezet saját felülete: a Hungarian stonemasons' in-house interface.

Everything lies in one envelope (Sikeres, Uzenet, Adat / Hibak), a business refusal comes
with status 200 and Sikeres false, and field names, state words and sentences are Hungarian.
The inscription to be cut stands on the work sheet that the claim gives out. Handing over
(complete) pays, once the inspection code of the submission and a declaration are shown.
"""

import secrets
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_MUNKAK = [
    ("KF-0311", "Síremlék, fekete gránit", "Szeretteink emlékét őrizzük", 26),
    ("KF-0312", "Emléktábla, iskola", "Ebben a házban tanított Ügyes Örs", 19),
    ("KF-0315", "Kútkáva, homokkő", "Igyál belőle, vándor, és pihenj meg", 13),
    ("KF-0318", "Házszámtábla", "Tűzoltó köz 7", 6),
    ("KF-0320", "Alapkő", "Letétetett a város közönségének adományából", 33),
]


def _ok(uzenet: str, adat: Any) -> Response:
    return Response(200, {"Sikeres": True, "Uzenet": uzenet, "Adat": adat, "Hibak": []})


def _hiba(kod: str, szoveg: str, mezo: str | None = None) -> dict[str, Any]:
    return {"Kod": kod, "Mezo": mezo, "Szoveg": szoveg}


def _nem(uzenet: str, *hibak: dict[str, Any], status: int = 200) -> Response:
    return Response(
        status,
        {"Sikeres": False, "Uzenet": uzenet, "Adat": None, "Hibak": list(hibak)},
        refused=True,
    )


def _elutasit(kod: str, szoveg: str, mezo: str | None = None) -> Response:
    return _nem("A művelet nem hajtható végre.", _hiba(kod, szoveg, mezo))


def _szoveg(ertek: Any) -> str:
    return "" if isinstance(ertek, str) else "A mező értéke szöveg kell legyen."


def _egesz(ertek: Any) -> str:
    egesz = isinstance(ertek, int) and not isinstance(ertek, bool)
    return "" if egesz else "A mező értéke egész szám kell legyen."


def _logikai(ertek: Any) -> str:
    return "" if isinstance(ertek, bool) else "A mező értéke true vagy false lehet."


def _datum(ertek: Any) -> str:
    try:
        if len(ertek) == 10 and str(date.fromisoformat(ertek)):
            return ""
    except (TypeError, ValueError):
        pass
    return "A dátum alakja ÉÉÉÉ-HH-NN legyen (például 2026-03-31)."


def _mezok(keres: Request, **mezok: Callable[[Any], str]) -> Any:
    """Return the body, or the refusal that names every wrong field."""
    try:
        torzs = keres.json()
    except ValueError:
        torzs = None
    if not isinstance(torzs, dict):
        return _nem(
            "A kérés nem értelmezhető.",
            _hiba("HIBAS_KERES", "A kérés törzse JSON objektum kell legyen."),
            status=400,
        )
    hibak = []
    for nev, vizsgal in mezok.items():
        if torzs.get(nev) in (None, ""):
            hibak.append(_hiba("HIANYZO_MEZO", "A mező kitöltése kötelező.", nev))
        elif szoveg := vizsgal(torzs[nev]):
            hibak.append(_hiba("HIBAS_ERTEK", szoveg, nev))
    return _nem("A kérés hibás vagy hiányos.", *hibak) if hibak else torzs


class Kofarago(Backend):
    """The cooperative's orders, work sheets and inspections."""

    def __init__(self) -> None:
        super().__init__()
        self._hatarido = date.today() + timedelta(days=14)  # noqa: DTZ011
        self._munkak: dict[str, dict[str, Any]] = {
            szam: {"Nev": nev, "Felirat": felirat, "Dij": dij, "Allapot": "SZABAD"}
            for szam, nev, felirat, dij in _MUNKAK
        }
        self._mesterek: dict[str, dict[str, Any]] = {}  # by token
        self._lapok: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the inscriptions by order number."""
        return {szam: munka["Felirat"] for szam, munka in self._munkak.items()}

    def missing(self, request: Request) -> Response:
        """Answer to a service that the cooperative does not offer."""
        return _nem(
            "A kért szolgáltatás nem található.",
            _hiba("ISMERETLEN_CIM", f"Nincs ilyen szolgáltatás: {request.path}"),
            status=404,
        )

    def _mester(self, request: Request) -> Any:
        return self._mesterek.get(request.token) or _nem(
            "Azonosítás szükséges.",
            _hiba("AZONOSITAS", "Érvénytelen belépési jel (Authorization: Bearer)."),
            status=401,
        )

    def register(self, request: Request) -> Response:
        """Take in a new mason."""
        self.book.registrations += 1
        jel = secrets.token_urlsafe(24)
        mester = {
            "agent_id": f"MESTER-{1000 + self.book.registrations}",
            "credits": 100,
        }
        self._mesterek[jel] = mester
        return Response(200, {**mester, "access_token": jel})

    def _lista(self, request: Request) -> Response:
        keret = request.query.get("limit", "50")
        if not keret.isdecimal() or not 1 <= int(keret) <= 50:
            return _nem(
                "A kérés hibás vagy hiányos.",
                _hiba("HIBAS_ERTEK", "Az érték 1 és 50 közé kell essen.", "limit"),
            )
        szabad = [
            {
                "Munkaszam": szam,
                "Megnevezes": munka["Nev"],
                "Leiras": "A munkalapon álló feliratot csupa nagybetűvel kérjük vissza.",
                "Munkadij": {"Osszeg": munka["Dij"], "Egyseg": "kredit"},
                "Allapot": munka["Allapot"],
                "Hatarido": self._hatarido.isoformat(),
            }
            for szam, munka in self._munkak.items()
            if munka["Allapot"] == "SZABAD"
        ]
        return _ok(
            f"{len(szabad)} szabad megrendelés.",
            {"Osszesen": len(szabad), "Megrendelesek": szabad[: int(keret)]},
        )

    def marketplace(self, request: Request) -> Response:
        """List the free orders to anybody."""
        return self._lista(request)

    def tasks(self, request: Request) -> Response:
        """List the free orders to a mason."""
        mester = self._mester(request)
        return mester if isinstance(mester, Response) else self._lista(request)

    def claim(self, request: Request) -> Response:
        """Give out a work sheet."""
        if isinstance(mester := self._mester(request), Response):
            return mester
        adat = _mezok(request, Munkaszam=_szoveg, VallaltHatarido=_datum)
        if isinstance(adat, Response):
            return adat
        szam = adat["Munkaszam"]
        if not (munka := self._munkak.get(szam)):
            szoveg = f"Nincs {szam} számú megrendelés."
            return _elutasit("NINCS_ILYEN_MUNKA", szoveg, "Munkaszam")
        vallalt = date.fromisoformat(adat["VallaltHatarido"])
        if not date.today() <= vallalt <= self._hatarido:  # noqa: DTZ011
            szoveg = f"A vállalt határidő {date.today()} és {self._hatarido} közé kell essen."  # noqa: DTZ011
            return _elutasit("HATARIDO", szoveg, "VallaltHatarido")
        lap = next((l for l in self._lapok.values() if l["Munkaszam"] == szam), None)  # noqa: E741
        if lap and lap["Mester"] != mester["agent_id"]:
            szoveg = f"A(z) {szam} számú munkát más mester már felvette."
            return _elutasit("MAR_KIADVA", szoveg, "Munkaszam")
        if lap is None:
            lap = {
                "MunkalapSzam": 52001 + len(self._lapok),
                "Munkaszam": szam,
                "Mester": mester["agent_id"],
                "VallaltHatarido": adat["VallaltHatarido"],
                "Allapot": "FOLYAMATBAN",
                "Felirat": munka["Felirat"],
            }
            self._lapok[lap["MunkalapSzam"]] = lap
            munka["Allapot"] = "KIADVA"
            self.book.claimed(szam)
        return _ok("A munkát felvette, a munkalapot kiállítottuk.", {"Munkalap": lap})

    def _lap(self, mester: dict[str, Any], szam: int) -> Any:
        lap = self._lapok.get(szam)
        if lap is None or lap["Mester"] != mester["agent_id"]:
            szoveg = f"Önnek nincs {szam} számú munkalapja."
            return _elutasit("NINCS_ILYEN_MUNKALAP", szoveg, "MunkalapSzam")
        if lap["Allapot"] == "KIFIZETVE":
            return _elutasit(
                "LEZART", f"A(z) {szam} számú munkalap már ki van fizetve."
            )
        return lap

    def submit(self, request: Request) -> Response:
        """Inspect a finished inscription."""
        if isinstance(mester := self._mester(request), Response):
            return mester
        adat = _mezok(request, MunkalapSzam=_egesz, KeszFelirat=_szoveg)
        if isinstance(adat, Response):
            return adat
        if isinstance(lap := self._lap(mester, adat["MunkalapSzam"]), Response):
            return lap
        if adat["KeszFelirat"] != lap["Felirat"].upper():
            szoveg = "A kész felirat nem a munkalap feliratának nagybetűs alakja."
            return _elutasit("MINOSEGI_KIFOGAS", szoveg, "KeszFelirat")
        lap["Allapot"] = "ATVETELRE_VAR"
        lap.setdefault("AtveteliKod", f"AT-{secrets.token_hex(3).upper()}")
        return _ok("A felirat megfelelt, a munka átvételre vár.", {"Munkalap": lap})

    def complete(self, request: Request) -> Response:
        """Hand the work over and pay it."""
        if isinstance(mester := self._mester(request), Response):
            return mester
        adat = _mezok(
            request, MunkalapSzam=_egesz, AtveteliKod=_szoveg, JotallastVallal=_logikai
        )
        if isinstance(adat, Response):
            return adat
        if isinstance(lap := self._lap(mester, adat["MunkalapSzam"]), Response):
            return lap
        if lap["Allapot"] != "ATVETELRE_VAR":
            return _elutasit(
                "NINCS_BEADVA", "A munkalapra még nem adtak be kész feliratot."
            )
        if adat["AtveteliKod"] != lap["AtveteliKod"]:
            szoveg = "Az átvételi kód nem a beadáskor kapott kód."
            return _elutasit("HIBAS_KOD", szoveg, "AtveteliKod")
        if not adat["JotallastVallal"]:
            szoveg = "Jótállás nélkül a munka nem vehető át; a mező értéke true legyen."
            return _elutasit("JOTALLAS", szoveg, "JotallastVallal")
        dij = self._munkak[lap["Munkaszam"]]["Dij"]
        lap["Allapot"] = self._munkak[lap["Munkaszam"]]["Allapot"] = "KIFIZETVE"
        mester["credits"] += dij
        self.book.pay(lap["Munkaszam"], dij)
        return _ok(
            f"A munkadíjat ({dij} kredit) jóváírtuk.",
            {"Munkalap": lap, "Jovairas": dij, "Egyenleg": mester["credits"]},
        )
