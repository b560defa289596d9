"""An engravers' workshop in Szeged with an in-house interface in Hungarian.

Everything is a work sheet (munkalap). The listing is paged, every answer stands in the
house's own envelope, and refusals name one fault at a time. Completion pays.
"""
# ruff: noqa: RUF001 - it is in Hungarian

import secrets
from collections.abc import Callable
from functools import wraps
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_LAP = 4  # munkalap egy oldalon
_Muvelet = Callable[[Any, Request], Response]

_MUNKALAPOK = [
    ("Réztábla, kapubejárat", "Dr. Kőszegi Ágnes fogorvos", 12, "2030-12-03"),
    ("Vándorkupa talapzata", "Tiszaparti evezősverseny, első hely", 18, "2030-12-04"),
    ("Névtábla, irodaajtó", "Könyvelés és bérszámfejtés", 9, "2030-12-04"),
    ("Emléktábla, iskola", "E házban tanított Szűcs Dénes", 31, "2030-12-09"),
    ("Kulcstartó, húsz darab", "Hűség Panzió – recepció", 7, "2030-12-10"),
    ("Óra hátlapja", "Nyugdíjba vonulásod emlékére, Öcsi", 22, "2030-12-11"),
    ("Szelencefedél", "Örökké a tiéd: Író Júlia", 15, "2030-12-15"),
]


class _HibaError(Exception):
    def __init__(self, allapot: int, kod: str, uzenet: str, mezo: str = "") -> None:
        super().__init__(uzenet)
        self.allapot, self.kod, self.uzenet, self.mezo = allapot, kod, uzenet, mezo


def _valasz(tartalom: Any) -> Response:
    return Response(200, {"eredmeny": "rendben", "adatok": tartalom})


def _felelet(muvelet: _Muvelet) -> _Muvelet:
    """Answer a fault in the house's envelope."""

    @wraps(muvelet)
    def felel(self: Any, request: Request) -> Response:
        try:
            return muvelet(self, request)
        except _HibaError as hiba:
            leiras = {"hibakod": hiba.kod, "uzenet": hiba.uzenet}
            if hiba.mezo:
                leiras["mezo"] = hiba.mezo
            return Response(hiba.allapot, {"eredmeny": "hiba", "hiba": leiras})

    return felel


def _torzs(request: Request) -> dict[str, Any]:
    try:
        torzs = request.json()
    except ValueError:
        torzs = None
    if not isinstance(torzs, dict):
        raise _HibaError(
            400, "GM-10", "A kérés törzse nem értelmezhető JSON objektumként."
        )
    return torzs


def _szoveg(torzs: dict[str, Any], mezo: str, mi: str) -> str:
    ertek = torzs.get(mezo)
    if ertek is None or ertek == "":
        raise _HibaError(
            400, "GM-11", f"A(z) „{mezo}” mező kitöltése kötelező ({mi}).", mezo
        )
    if not isinstance(ertek, str):
        raise _HibaError(400, "GM-12", f"A(z) „{mezo}” mező csak szöveg lehet.", mezo)
    return ertek


class Gravirmuhely(Backend):
    """The workshop: sheets are taken on, engraved, checked, and then paid out."""

    def __init__(self) -> None:
        super().__init__()
        self._mesterek: dict[str, str] = {}  # kulcs -> mester
        self._egyenleg: dict[str, int] = {}
        self._lapok: dict[str, dict[str, Any]] = {
            f"ML-2030/{410 + i:04}": {
                "megnevezes": nev,
                "felirat": felirat,
                "dij": dij,
                "hatarido": hatarido,
                "allapot": "szabad",
                "mester": "",
                "atveteli_szam": "",
                "igazolas": "",
            }
            for i, (nev, felirat, dij, hatarido) in enumerate(_MUNKALAPOK)
        }

    def texts(self) -> dict[str, str]:
        """Return the inscription of every sheet."""
        return {szam: str(lap["felirat"]) for szam, lap in self._lapok.items()}

    @_felelet
    def missing(self, request: Request) -> Response:
        """Return the house's answer to an unknown address."""
        raise _HibaError(404, "GM-04", "A kért cím nem található.")

    def register(self, request: Request) -> Response:
        """Enter a new master in the book."""
        self.book.registrations += 1
        mester = f"MESTER-{self.book.registrations:03}"
        kulcs = secrets.token_hex(20)
        self._mesterek[kulcs] = mester
        self._egyenleg[mester] = 100
        return Response(
            200, {"agent_id": mester, "access_token": kulcs, "credits": 100}
        )

    def _mester(self, request: Request) -> str:
        mester = self._mesterek.get(request.token)
        if not mester:
            raise _HibaError(
                401, "GM-01", "Hiányzó vagy érvénytelen hozzáférési kulcs."
            )
        return mester

    def _adatlap(self, szam: str) -> dict[str, Any]:
        lap = self._lapok[szam]
        return {
            "munkalapszam": szam,
            "megnevezes": lap["megnevezes"],
            "felirat": lap["felirat"],
            "utasitas": "A feliratot betű szerint, csupa nagybetűvel kérjük.",
            "munkadij": {"osszeg": lap["dij"], "egyseg": "kredit"},
            "hatarido": lap["hatarido"],
            "allapot": lap["allapot"],
        }

    def _lista(self, request: Request) -> Response:
        try:
            oldal = int(request.query.get("oldal") or 1)
            darab = min(int(request.query.get("limit") or _LAP), _LAP)
        except ValueError:
            oldal = darab = 0
        if oldal < 1 or darab < 1:
            raise _HibaError(
                400, "GM-13", "Az „oldal” és a „limit” csak pozitív egész lehet."
            )
        szamok = list(self._lapok)
        vege = oldal * darab
        tovabb = f"{request.path}?limit={darab}&oldal={oldal + 1}"
        return _valasz(
            {
                "munkalapok": [self._adatlap(s) for s in szamok[vege - darab : vege]],
                "lapozas": {
                    "oldal": oldal,
                    "oldalak_szama": -(-len(szamok) // darab),
                    "osszes_munkalap": len(szamok),
                    "kovetkezo": tovabb if vege < len(szamok) else None,
                },
            }
        )

    @_felelet
    def marketplace(self, request: Request) -> Response:
        """Show the sheets to anyone."""
        return self._lista(request)

    @_felelet
    def tasks(self, request: Request) -> Response:
        """Show the sheets to a master."""
        self._mester(request)
        return self._lista(request)

    @_felelet
    def claim(self, request: Request) -> Response:
        """Take a sheet on (munka felvétele)."""
        mester, torzs = self._mester(request), _torzs(request)
        szam = _szoveg(torzs, "munkalapszam", "a felvenni kívánt munkalap száma")
        if _szoveg(torzs, "mester", "a mester azonosítója, agent_id") != mester:
            uzenet = "A „mester” nem a kulcs tulajdonosa (agent_id)."
            raise _HibaError(403, "GM-03", uzenet, "mester")
        nap = torzs.get("vallalt_napok")
        if nap is None:
            uzenet = (
                "A(z) „vallalt_napok” mező kitöltése kötelező (hány nap alatt kész)."
            )
            raise _HibaError(400, "GM-11", uzenet, "vallalt_napok")
        if type(nap) is not int or not 1 <= nap <= 10:
            uzenet = "A(z) „vallalt_napok” értéke 1 és 10 közötti egész szám lehet."
            raise _HibaError(400, "GM-14", uzenet, "vallalt_napok")
        lap = self._lapok.get(szam)
        if lap is None:
            raise _HibaError(
                404, "GM-20", f"Nincs ilyen munkalap: {szam}.", "munkalapszam"
            )
        if lap["allapot"] != "szabad":
            uzenet = f"A munkalap már nem szabad, állapota: {lap['allapot']}."
            raise _HibaError(409, "GM-21", uzenet)
        lap.update(
            allapot="munkában",
            mester=mester,
            atveteli_szam=f"ATV{secrets.randbelow(90000) + 10000}-{szam[-4:]}",
        )
        self.book.claimed(szam)
        return _valasz(
            {"atveteli_szam": lap["atveteli_szam"], "munkalap": self._adatlap(szam)}
        )

    @_felelet
    def submit(self, request: Request) -> Response:
        """Hand the finished inscription to the checker (leadás)."""
        mester, torzs = self._mester(request), _torzs(request)
        atvetel = _szoveg(torzs, "atveteli_szam", "a munka felvételekor kapott szám")
        kesz = _szoveg(torzs, "kesz_felirat", "az elkészült felirat szövege")
        for szam, lap in self._lapok.items():  # noqa: B007 - both are used below
            if lap["atveteli_szam"] == atvetel and lap["mester"] == mester:
                break
        else:
            raise _HibaError(
                404, "GM-22", f"Nincs ilyen átvétel: {atvetel}.", "atveteli_szam"
            )
        if lap["allapot"] != "munkában":
            raise _HibaError(409, "GM-23", "Ezt a munkát már leadták.")
        if kesz != str(lap["felirat"]).upper():
            uzenet = "A meó visszadobta: nem az előírt szöveg csupa nagybetűvel."
            raise _HibaError(422, "GM-30", uzenet, "kesz_felirat")
        lap.update(allapot="ellenőrizve", igazolas=f"TIG-{secrets.token_hex(3)}")
        return _valasz(
            {
                "munkalapszam": szam,
                "allapot": lap["allapot"],
                "teljesitesi_igazolas": lap["igazolas"],
            }
        )

    @_felelet
    def complete(self, request: Request) -> Response:
        """Close the sheet and pay the fee (lezárás)."""
        mester, torzs = self._mester(request), _torzs(request)
        szam = _szoveg(torzs, "munkalapszam", "a lezárandó munkalap száma")
        igazolas = _szoveg(torzs, "teljesitesi_igazolas", "a leadáskor kapott szám")
        lap = self._lapok.get(szam)
        if lap is None or lap["mester"] != mester:
            raise _HibaError(
                404, "GM-20", f"Nincs ilyen munkalap: {szam}.", "munkalapszam"
            )
        if lap["allapot"] == "kifizetve":
            raise _HibaError(409, "GM-24", "A munkalapot már kifizették.")
        if lap["allapot"] != "ellenőrizve":
            raise _HibaError(409, "GM-25", "A munkát előbb le kell adni.")
        if igazolas != lap["igazolas"]:
            uzenet = "Az igazolás nem ehhez a munkalaphoz tartozik."
            raise _HibaError(422, "GM-26", uzenet, "teljesitesi_igazolas")
        lap["allapot"] = "kifizetve"
        self.book.pay(szam, lap["dij"])
        self._egyenleg[mester] += lap["dij"]
        return _valasz(
            {
                "munkalapszam": szam,
                "allapot": "kifizetve",
                "kifizetett_munkadij": lap["dij"],
                "egyenleg": self._egyenleg[mester],
            }
        )
