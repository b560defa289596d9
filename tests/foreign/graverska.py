"""Graverska: the in-house interface of an engraver's workshop in Zagreb (Croatian).

Always HTTP 200 with `uspjeh` true or false, every faulty field told at once; the text is
handed out with the claim, and the delivery itself is paid.
"""

import json
import re
import secrets
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_NALOZI = [
    ("Pločica za ulazna vrata", "Obitelj Horvat, prvi kat", 18),
    ("Spomen-ploča, knjižnica", "U znak zahvale darovateljima", 42),
    ("Natpis na satu", "Za trideset godina vjerne službe", 27),
    ("Pločica za ordinaciju", "Dr. Željka Šarić, pedijatar", 22),
    ("Pehar, gradska regata", "Prvo mjesto, klasa Optimist", 36),
    ("Oznaka planinarske staze", "Do vrha još dva sata hoda", 15),
]
_NA_STRANICI = 25
# What a field has to be, in the words in which a refusal says it.
_BROJ = "cijeli broj veći od nule"
_TEKST = "tekst"
_DATUM = "datum u obliku GGGG-MM-DD"


class _Odbijeno(Exception):  # noqa: N818
    def __init__(
        self, sifra: int, poruka: str, polja: dict[str, str] | None = None
    ) -> None:
        super().__init__(poruka)
        self.pogreska: dict[str, Any] = {"sifra": f"GR-{sifra}", "poruka": poruka}
        if polja:
            self.pogreska["polja"] = polja


def _odgovor(tijelo: Any, odbijeno: bool = False, status: int = 200) -> Response:  # noqa: FBT001, FBT002
    zaglavlja = {
        "Content-Type": "application/json; charset=utf-8",
        "Content-Language": "hr",
    }
    return Response(status, json.dumps(tijelo, ensure_ascii=False), zaglavlja, odbijeno)


def _usluga(rad: Callable[..., Any]) -> Callable[..., Response]:
    def omotano(self: Any, request: Request) -> Response:
        try:
            return _odgovor({"uspjeh": True, "odgovor": rad(self, request)})
        except _Odbijeno as odbijeno:
            return _odgovor({"uspjeh": False, "pogreska": odbijeno.pogreska}, True)

    return omotano


def _valjano(vrijednost: Any, vrsta: str) -> bool:
    if vrsta == _BROJ:
        return isinstance(vrijednost, int) and vrijednost is not True and vrijednost > 0
    if not isinstance(vrijednost, str) or not vrijednost.strip():
        return False
    if vrsta == _DATUM:
        try:
            date.fromisoformat(vrijednost)
        except ValueError:
            return False
        return re.fullmatch(r"\d{4}-\d\d-\d\d", vrijednost) is not None
    return True


def _podaci(request: Request, **polja: str) -> dict[str, Any]:
    """Return the body's fields; all that are absent or wrong are refused together."""
    try:
        tijelo = request.json()
    except ValueError:
        raise _Odbijeno(100, "Tijelo zahtjeva nije ispravan JSON.") from None
    if not isinstance(tijelo, dict):
        raise _Odbijeno(101, "Tijelo zahtjeva mora biti JSON objekt.")
    greske = {}
    for ime, vrsta in polja.items():
        if tijelo.get(ime) is None:
            greske[ime] = f"Obavezno polje nije poslano ({vrsta})."
        elif not _valjano(tijelo[ime], vrsta):
            greske[ime] = f"Neispravna vrijednost, očekuje se {vrsta}."
    if greske:
        raise _Odbijeno(110, "Zahtjev nije potpun ili sadrži neispravna polja.", greske)
    return tijelo


class Graverska(Backend):
    """Croatian in-house interface: nalog, preuzimanje, predaja, zaključenje."""

    def __init__(self) -> None:
        super().__init__()
        self._suradnici: dict[str, dict[str, Any]] = {}  # by token
        self._potvrde: dict[str, dict[str, Any]] = {}
        self._natpisi: dict[int, str] = {}
        self._nalozi: dict[int, dict[str, Any]] = {}
        for i, (predmet, natpis, bodovi) in enumerate(_NALOZI):
            broj = 22910 + 7 * i
            self._natpisi[broj] = natpis
            self._nalozi[broj] = {
                "broj_naloga": broj,
                "predmet": predmet,
                "opis_posla": "Pripremiti natpis za graviranje: sva slova velika, ostalo isto.",
                "broj_znakova": len(natpis),
                "naknada_bodova": bodovi,
                "krajnji_rok": (date.today() + timedelta(days=10 + i)).isoformat(),  # noqa: DTZ011
                "stanje": "slobodan",
            }

    def texts(self) -> dict[str, str]:
        return {str(broj): natpis for broj, natpis in self._natpisi.items()}

    def missing(self, request: Request) -> Response:
        poruka = f"Usluga {request.path} ne postoji."
        pogreska = {"sifra": "GR-404", "poruka": poruka}
        return _odgovor({"uspjeh": False, "pogreska": pogreska}, True, 404)

    def _suradnik(self, request: Request) -> dict[str, Any]:
        if not request.token:
            poruka = "Nedostaje pristupni token (zaglavlje Authorization: Bearer …)."
            raise _Odbijeno(200, poruka)
        if request.token not in self._suradnici:
            raise _Odbijeno(201, "Pristupni token nije valjan.")
        return self._suradnici[request.token]

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = "grv_" + secrets.token_hex(20)
        oznaka = f"SUR-{700 + self.book.registrations:05}"
        self._suradnici[token] = {"oznaka": oznaka, "bodovi": 100}
        return _odgovor({"agent_id": oznaka, "access_token": token, "credits": 100})

    def checkout(self, request: Request) -> Response:
        poruka = "Kupnja bodova ide preko računovodstva radionice."
        pogreska = {"sifra": "GR-500", "poruka": poruka}
        return _odgovor({"ok": False, "uspjeh": False, "pogreska": pogreska}, True)

    def _popis(self, request: Request) -> Any:
        broj = {}
        for ime, podrazumijevano in (("limit", _NA_STRANICI), ("stranica", 1)):
            zapis = request.query.get(ime, str(podrazumijevano))
            if not re.fullmatch(r"[1-9]\d{0,5}", zapis):
                greska = {ime: f"Neispravna vrijednost, očekuje se {_BROJ}."}
                raise _Odbijeno(111, "Neispravan parametar upita.", greska)
            broj[ime] = int(zapis)
        po_stranici = min(broj["limit"], _NA_STRANICI)
        slobodni = [n for n in self._nalozi.values() if n["stanje"] == "slobodan"]
        pocetak = (broj["stranica"] - 1) * po_stranici
        return {
            "nalozi": slobodni[pocetak : pocetak + po_stranici],
            "stranica": broj["stranica"],
            "ukupno_stranica": -(-len(slobodni) // po_stranici),
            "ukupno_naloga": len(slobodni),
        }

    marketplace = _usluga(_popis)

    @_usluga
    def tasks(self, request: Request) -> Any:
        self._suradnik(request)
        return self._popis(request)

    @_usluga
    def agents(self, request: Request) -> Any:
        if "slug" in request.query:
            raise _Odbijeno(320, "Suradnik nije pronađen.")
        return {"suradnici": [s["oznaka"] for s in self._suradnici.values()]}

    directory = agents

    @_usluga
    def post(self, request: Request) -> Any:
        self._suradnik(request)
        raise _Odbijeno(330, "Nove naloge otvara samo voditelj radionice.")

    @_usluga
    def claim(self, request: Request) -> Any:
        suradnik = self._suradnik(request)
        podaci = _podaci(request, broj_naloga=_BROJ, rok_predaje=_DATUM)
        broj, rok = podaci["broj_naloga"], podaci["rok_predaje"]
        nalog = self._nalozi.get(broj)
        if nalog is None:
            raise _Odbijeno(300, f"Nalog {broj} ne postoji.")
        if nalog["stanje"] != "slobodan":
            raise _Odbijeno(
                301, f"Nalog {broj} nije slobodan (stanje: {nalog['stanje']})."
            )
        danas, krajnji = date.today().isoformat(), nalog["krajnji_rok"]  # noqa: DTZ011
        if not danas <= rok <= krajnji:
            greska = {"rok_predaje": f"Datum mora biti između {danas} i {krajnji}."}
            raise _Odbijeno(302, "Rok predaje nije prihvatljiv.", greska)
        nalog["stanje"] = "preuzet"
        potvrda = f"PV/{date.today().year}/{len(self._potvrde) + 1:04}"  # noqa: DTZ011
        self._potvrde[potvrda] = {"nalog": nalog, "suradnik": suradnik}
        self.book.claimed(str(broj))
        return {
            "preuzimanje": {
                "broj_potvrde": potvrda,
                "broj_naloga": broj,
                "rok_predaje": rok,
            },
            "predlozak": {"natpis": self._natpisi[broj], "izvedba": "velika slova"},
        }

    def _nalog(
        self, suradnik: dict[str, Any], potvrda: str, stanje: str
    ) -> dict[str, Any]:
        zapis = self._potvrde.get(potvrda)
        if zapis is None or zapis["suradnik"] is not suradnik:
            raise _Odbijeno(310, f"Potvrda o preuzimanju „{potvrda}“ nije pronađena.")
        nalog: dict[str, Any] = zapis["nalog"]
        if nalog["stanje"] != stanje:
            poruka = f"Nalog je u stanju „{nalog['stanje']}“, a mora biti „{stanje}“."
            raise _Odbijeno(311, poruka)
        return nalog

    @_usluga
    def submit(self, request: Request) -> Any:
        suradnik = self._suradnik(request)
        podaci = _podaci(
            request, broj_potvrde=_TEKST, gotov_natpis=_TEKST, utroseno_minuta=_BROJ
        )
        nalog = self._nalog(suradnik, podaci["broj_potvrde"], "preuzet")
        broj, bodovi = nalog["broj_naloga"], nalog["naknada_bodova"]
        if podaci["gotov_natpis"] != self._natpisi[broj].upper():
            greska = {
                "gotov_natpis": "Natpis ne odgovara predlošku ispisanom velikim slovima."
            }
            raise _Odbijeno(312, "Predaja je odbijena na kontroli.", greska)
        nalog["stanje"] = "predan"
        suradnik["bodovi"] += bodovi
        self.book.pay(str(broj), bodovi)
        return {
            "predaja": {
                "broj_naloga": broj,
                "ishod": "prihvaćeno",
                "stanje": nalog["stanje"],
            },
            "isplata": {"bodova": bodovi, "novo_stanje_racuna": suradnik["bodovi"]},
        }

    @_usluga
    def complete(self, request: Request) -> Any:
        suradnik = self._suradnik(request)
        podaci = _podaci(request, broj_potvrde=_TEKST)
        nalog = self._nalog(suradnik, podaci["broj_potvrde"], "predan")
        nalog["stanje"] = "zaključen"
        return {
            "nalog": {"broj_naloga": nalog["broj_naloga"], "stanje": nalog["stanje"]}
        }
