"""A Hungarian town library's text service, written by its one developer.

Hungarian names without accents, sentences with them, whole numbers as identifiers, and
200 for nearly everything: {"siker": false, "hiba": "..."} is how it says no, one thing
at a time. A booking number leads to a submission, the submission to the money.
"""

import json
import secrets
from datetime import date, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_SZOVEGEK = [
    ("Helytörténeti füzetek, első kötet", 12, "címlap"),
    ("a régi malom a patak mellett állt", 7, "képaláírás"),
    ("Tűzoltózenekar az ünnepségen, 1931", 18, "képaláírás"),
    ("őszi vásár a főtéren", 4, "plakát"),
    ("kölcsönzési rend hétköznap és szombaton", 15, "tábla"),
]
_TIPUS = {str: "szöveg", int: "egész szám", bool: "logikai érték (true vagy false)"}


def _valasz(
    adatok: dict[str, Any],
    status: int = 200,
    refused: bool = False,  # noqa: FBT001, FBT002
) -> Response:
    body = json.dumps(adatok, ensure_ascii=False, indent=2)
    return Response(
        status, body, {"Content-Type": "application/json; charset=utf-8"}, refused
    )


def _hiba(uzenet: str, status: int = 200) -> Response:
    return _valasz({"siker": False, "hiba": uzenet}, status, refused=True)


class VarosiKonyvtar(Backend):
    """Feladatok, foglalások, beküldések."""

    def __init__(self) -> None:
        super().__init__()
        self._ugynokok: dict[str, dict[str, Any]] = {}  # token szerint
        self._foglalasok: dict[str, dict[str, Any]] = {}
        self._bekuldesek: dict[int, dict[str, Any]] = {}
        hatarido = (date.today() + timedelta(days=30)).isoformat()  # noqa: DTZ011
        self._feladatok: dict[int, dict[str, Any]] = {
            311 + szam: {
                "azonosito": 311 + szam,
                "megnevezes": f"Nagybetűs {fajta}",
                "leiras": "A szöveget csupa nagybetűvel kérjük vissza, más változtatás nélkül.",
                "szoveg": szoveg,
                "dij_kredit": dij,
                "allapot": "szabad",
                "hatarido": hatarido,
            }
            for szam, (szoveg, dij, fajta) in enumerate(_SZOVEGEK)
        }

    def texts(self) -> dict[str, str]:
        """Return the text of every task by its identifier."""
        return {str(kulcs): f["szoveg"] for kulcs, f in self._feladatok.items()}

    def missing(self, request: Request) -> Response:
        """Say that there is no such page."""
        return _hiba("A keresett oldal nem található.", 404)

    def register(self, request: Request) -> Response:
        """Ügynök regisztrálása."""
        self.book.registrations += 1
        token = secrets.token_hex(20)
        ugynok = {
            "agent_id": f"ugynok-{1000 + self.book.registrations}",
            "credits": 100,
        }
        self._ugynokok[token] = ugynok
        return _valasz(
            {
                "siker": True,
                "uzenet": "Sikeres regisztráció. Üdvözöljük!",
                "agent_id": ugynok["agent_id"],
                "access_token": token,
                "credits": 100,
            }
        )

    def marketplace(self, request: Request) -> Response:
        """A szabad feladatok, bárkinek."""
        szabad = [f for f in self._feladatok.values() if f["allapot"] == "szabad"]
        return _valasz({"siker": True, "darab": len(szabad), "feladatok": szabad})

    def tasks(self, request: Request) -> Response:
        """A szabad feladatok."""
        limit = request.query.get("limit", "20")
        if not limit.isdecimal() or not 1 <= int(limit) <= 50:
            return _hiba("A limit értéke 1 és 50 közötti egész szám lehet.")
        szabad = [f for f in self._feladatok.values() if f["allapot"] == "szabad"]
        return _valasz(
            {
                "siker": True,
                "darab": len(szabad),
                "feladatok": szabad[: int(limit)],
            }
        )

    def _adatok(self, request: Request, **mezok: type) -> dict[str, Any] | Response:
        """Return the fields that are asked for, or the refusal of the first wrong one."""
        if not request.token:
            return _hiba(
                "Nincs bejelentkezve! Hiányzik a token az Authorization fejlécből.", 401
            )
        if request.token not in self._ugynokok:
            return _hiba("Érvénytelen token!", 401)
        try:
            adatok = request.json()
        except ValueError:
            adatok = None
        if not isinstance(adatok, dict):
            return _hiba("Hibás kérés: a törzs nem értelmezhető JSON objektumként.")
        for nev, tipus in mezok.items():
            ertek = adatok.get(nev)
            if ertek is None or ertek == "":
                return _hiba(f"A(z) {nev} mező megadása kötelező!")
            if tipus is int and isinstance(ertek, str) and ertek.isdecimal():
                adatok[nev] = int(ertek)  # a PHP-s űrlap miatt
            elif not isinstance(ertek, tipus) or (
                tipus is int and isinstance(ertek, bool)
            ):
                return _hiba(
                    f"A(z) {nev} mező típusa hibás, elvárt típus: {_TIPUS[tipus]}."
                )
        return adatok

    def claim(self, request: Request) -> Response:
        """Feladat lefoglalása."""
        adatok = self._adatok(
            request, ugynok_azonosito=str, feladat_azonosito=int, vallalt_datum=str
        )
        if isinstance(adatok, Response):
            return adatok
        if adatok["ugynok_azonosito"] != self._ugynokok[request.token]["agent_id"]:
            return _hiba(
                "Az ugynok_azonosito nem egyezik a bejelentkezett ügynök azonosítójával (agent_id)."
            )
        feladat = self._feladatok.get(adatok["feladat_azonosito"])
        if feladat is None:
            return _hiba("Nincs ilyen azonosítójú feladat.")
        try:
            datum = date.fromisoformat(adatok["vallalt_datum"])
        except ValueError:
            return _hiba(
                "Hibás dátum: vallalt_datum. Elvárt formátum: ÉÉÉÉ-HH-NN, például 2026-03-15."
            )
        if datum.isoformat() > feladat["hatarido"]:
            return _hiba(
                f"A vallalt_datum nem lehet későbbi a feladat határidejénél ({feladat['hatarido']})."
            )
        if datum < date.today() - timedelta(days=1):  # noqa: DTZ011
            return _hiba("A vallalt_datum nem lehet múltbeli dátum.")
        if feladat["allapot"] != "szabad":
            return _hiba(f"A feladat nem foglalható, állapota: {feladat['allapot']}.")
        feladat["allapot"] = "foglalt"
        szam = f"F-{date.today().year}/{len(self._foglalasok) + 1:04d}"  # noqa: DTZ011
        self._foglalasok[szam] = {"feladat": feladat, "token": request.token}
        self.book.claimed(str(feladat["azonosito"]))
        return _valasz(
            {
                "siker": True,
                "uzenet": "A feladatot lefoglaltuk Önnek.",
                "foglalas": {
                    "foglalasi_szam": szam,
                    "feladat_azonosito": feladat["azonosito"],
                    "vallalt_datum": datum.isoformat(),
                    "allapot": "foglalt",
                },
            }
        )

    def submit(self, request: Request) -> Response:
        """Eredmény beküldése."""
        adatok = self._adatok(request, foglalasi_szam=str, eredmeny=str)
        if isinstance(adatok, Response):
            return adatok
        foglalas = self._foglalasok.get(adatok["foglalasi_szam"])
        if foglalas is None or foglalas["token"] != request.token:
            return _hiba("Önnek nincs ilyen számú foglalása.")
        feladat = foglalas["feladat"]
        if feladat["allapot"] != "foglalt":
            return _hiba("Ehhez a foglaláshoz már érkezett elfogadott eredmény.")
        if adatok["eredmeny"] != feladat["szoveg"].upper():
            return _hiba(
                "Az eredmény nem megfelelő: a szöveget csupa nagybetűvel kérjük. Kérjük, küldje be újra!"
            )
        feladat["allapot"] = "beküldve"
        azonosito = 9001 + len(self._bekuldesek)
        self._bekuldesek[azonosito] = foglalas
        return _valasz(
            {
                "siker": True,
                "uzenet": "Köszönjük, az eredményt átvettük. A díjat a lezáráskor írjuk jóvá.",
                "bekuldes_azonosito": azonosito,
                "allapot": "beküldve",
            }
        )

    def complete(self, request: Request) -> Response:
        """Feladat lezárása, a díj jóváírása."""
        adatok = self._adatok(
            request, bekuldes_azonosito=int, feltetelek_elfogadva=bool
        )
        if isinstance(adatok, Response):
            return adatok
        bekuldes = self._bekuldesek.get(adatok["bekuldes_azonosito"])
        if bekuldes is None or bekuldes["token"] != request.token:
            return _hiba("Önnek nincs ilyen azonosítójú beküldése.")
        if not adatok["feltetelek_elfogadva"]:
            return _hiba(
                "A lezáráshoz el kell fogadnia a feltételeket (feltetelek_elfogadva: true)."
            )
        feladat, ugynok = bekuldes["feladat"], self._ugynokok[request.token]
        if feladat["allapot"] == "lezárva":
            return _hiba("Ezt a feladatot már lezárták.")
        feladat["allapot"] = "lezárva"
        ugynok["credits"] += feladat["dij_kredit"]
        self.book.pay(str(feladat["azonosito"]), feladat["dij_kredit"])
        return _valasz(
            {
                "siker": True,
                "uzenet": "A feladat lezárva, a díjat jóváírtuk.",
                "allapot": "lezárva",
                "jovairt_kredit": feladat["dij_kredit"],
                "egyenleg": ugynok["credits"],
            }
        )
