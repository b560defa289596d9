"""A Polish state archive with an interface of its own: captions of scans, in capitals.

The listing is grouped by department and shows every order with its state. All mistakes of
a request are named at once. The check of a delivery pays at once; a wrong one is rejected
in an answer that is no HTTP error, and settling an order afterwards only closes it.
"""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_ZLECENIA = [
    (20417, "Kartografia", 18, "Plan miasta Torunia z roku 1857"),
    (20421, "Kartografia", 11, "Mapa powiatu chełmińskiego, arkusz drugi"),
    (20430, "Fotografia", 25, "Most kolejowy na Wiśle przed odbudową"),
    (20438, "Fotografia", 7, "Rynek Staromiejski, widok od strony ratusza"),
    (20444, "Akta miejskie", 33, "Księga cechu piekarzy i młynarzy"),
    (20452, "Akta miejskie", 14, "Rejestr mieszkańców ulicy Żeglarskiej"),
]


_KOMUNIKATY = {
    "NIE_ZNALEZIONO": (404, "Nie znaleziono zasobu o podanym adresie."),
    "BRAK_UPRAWNIEN": (403, "Zlecenia mogą dodawać wyłącznie pracownicy archiwum."),
    "BRAK_AUTORYZACJI": (401, "Brak tokenu lub token jest nieprawidłowy."),
    "BLEDNY_JSON": (400, "Treść żądania nie jest poprawnym obiektem JSON."),
    "BLAD_WALIDACJI": (422, "Żądanie zawiera błędy."),
    "BRAK_ZLECENIA": (404, "Zlecenie {} nie istnieje."),
    "ZLECENIE_ZAJETE": (409, "Zlecenie {} ma stan „{}”."),
    "LIMIT_ZLECEN": (409, "Można realizować jedno zlecenie naraz. W realizacji: {}."),
    "BRAK_PRZYDZIALU": (404, "Nie znaleziono przydziału {}."),
    "JUZ_ODEBRANE": (409, "Opracowanie zostało już odebrane."),
    "NIEDOZWOLONY_STAN": (409, "Nie można zamknąć zlecenia w stanie „{}”."),
}


@dataclass
class _Zlecenie:
    id: int
    dzial: str
    stawka: int
    podpis: str
    stan: str = "wolne"
    wykonawca: str = ""
    sygnatura: str = ""

    def wpis(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "polecenie": "Przepisać podpis w całości wielkimi literami.",
            "podpis": self.podpis,
            "stan": self.stan,
            "stawka": self.stawka,
            "waluta": "kredyt",
        }


class _Pola:
    """A request's fields; it gathers the mistakes instead of stopping at the first."""

    def __init__(self, tresc: dict[str, Any]) -> None:
        self._tresc = tresc
        self.bledy: list[dict[str, str]] = []

    def zle(self, pole: str, opis: str) -> None:
        self.bledy.append({"pole": pole, "opis": opis})

    def wez(self, pole: str, typ: type, nazwa: str) -> Any:
        wartosc: Any = self._tresc
        for czesc in pole.split("."):
            wartosc = wartosc.get(czesc) if isinstance(wartosc, dict) else None
        if wartosc is None:
            self.zle(pole, f"Pole jest wymagane ({nazwa}).")
        elif type(wartosc) is not typ:
            self.zle(pole, f"Nieprawidłowy typ wartości, oczekiwano: {nazwa}.")
            wartosc = None
        return wartosc


class ArchiwumPanstwowe(Backend):
    """The caption orders of a state archive."""

    def __init__(self) -> None:
        super().__init__()
        self._konta: dict[str, str] = {}  # token -> agent id
        self._saldo: dict[str, int] = {}
        self._zlecenia = {wiersz[0]: _Zlecenie(*wiersz) for wiersz in _ZLECENIA}
        self._licznik = 0

    def texts(self) -> dict[str, str]:
        """Return the caption of every order by its number."""
        return {str(z.id): z.podpis for z in self._zlecenia.values()}

    def missing(self, request: Request) -> Response:
        """Return the archive's answer to an unknown address."""
        return _blad("NIE_ZNALEZIONO")

    def post(self, request: Request) -> Response:
        """Refuse an order that is not placed by an archivist."""
        return _blad("BRAK_UPRAWNIEN")

    def register(self, request: Request) -> Response:
        """Open an account."""
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), f"apt.{uuid.uuid4().hex}"
        self._konta[token] = agent
        self._saldo[agent] = 100
        konto = {"agent_id": agent, "access_token": token, "credits": 100}
        return Response(body={**konto, "typKonta": "wykonawca zewnętrzny"})

    def tasks(self, request: Request) -> Response:
        """Return the orders by department; a limit that is too large is cut."""
        if request.token not in self._konta:
            return _blad("BRAK_AUTORYZACJI")
        limit = request.query.get("limit", "50")
        if not limit.isdecimal() or int(limit) < 1:
            pola = _Pola({})
            pola.zle("limit", "Oczekiwano liczby całkowitej większej od 0.")
            return _blad("BLAD_WALIDACJI", pola=pola.bledy)
        dzialy: dict[str, list[dict[str, Any]]] = {}
        kolejka = sorted(self._zlecenia.values(), key=lambda z: z.stan != "wolne")
        for zlecenie in kolejka[: min(int(limit), 50)]:
            dzialy.setdefault(zlecenie.dzial, []).append(zlecenie.wpis())
        return Response(
            body={
                "liczbaZlecen": len(self._zlecenia),
                "dzialy": [{"dzial": d, "zlecenia": z} for d, z in dzialy.items()],
            }
        )

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        """Give an order to a contractor, who may have one at a time."""
        agent, pola = self._wejscie(request)
        if isinstance(pola, Response):
            return pola
        numer = pola.wez("zlecenieId", int, "liczba całkowita, id zlecenia z listy")
        wykonawca = pola.wez("wykonawca", str, "tekst, agent_id wykonawcy")
        if wykonawca is not None and wykonawca != agent:
            pola.zle("wykonawca", "Wartość nie jest agent_id zalogowanego wykonawcy.")
        if pola.bledy:
            return _blad("BLAD_WALIDACJI", pola=pola.bledy)
        zlecenie = self._zlecenia.get(numer)
        if zlecenie is None:
            return _blad("BRAK_ZLECENIA", numer)
        if zlecenie.stan != "wolne":
            return _blad("ZLECENIE_ZAJETE", numer, zlecenie.stan)
        for inne in self._zlecenia.values():
            if inne.wykonawca == agent and inne.stan == "przydzielone":
                return _blad("LIMIT_ZLECEN", inne.sygnatura)
        self._licznik += 1
        zlecenie.stan, zlecenie.wykonawca = "przydzielone", agent
        zlecenie.sygnatura = f"APT/{self._licznik:03}/{datetime.now(UTC).date().year}"
        self.book.claimed(str(numer))
        return Response(
            body={
                "komunikat": "Zlecenie zostało przydzielone.",
                "przydzial": {
                    "sygnatura": zlecenie.sygnatura,
                    "termin": (
                        datetime.now(UTC).date() + timedelta(days=7)
                    ).isoformat(),
                    "zlecenie": zlecenie.wpis(),
                },
            }
        )

    def submit(self, request: Request) -> Response:
        """Check a delivery and pay the right one."""
        agent, pola = self._wejscie(request)
        if isinstance(pola, Response):
            return pola
        sygnatura = pola.wez("sygnatura", str, "tekst, sygnatura przydziału")
        tresc = pola.wez("opracowanie.tresc", str, "tekst, gotowy podpis")
        minuty = pola.wez("opracowanie.czasPracyMin", int, "liczba całkowita, minuty")
        if minuty is not None and not 1 <= minuty <= 480:
            pola.zle("opracowanie.czasPracyMin", "Dozwolony zakres: od 1 do 480 minut.")
        if pola.bledy:
            return _blad("BLAD_WALIDACJI", pola=pola.bledy)
        zlecenie = self._przydzial(agent, sygnatura)
        if zlecenie is None:
            return _blad("BRAK_PRZYDZIALU", sygnatura)
        if zlecenie.stan != "przydzielone":
            return _blad("JUZ_ODEBRANE")
        if tresc != zlecenie.podpis.upper():
            wynik = {"sygnatura": sygnatura, "wynikKontroli": "odrzucone"}
            uwagi = "Treść nie jest podpisem przepisanym wielkimi literami."
            return Response(
                body={**wynik, "uwagi": uwagi, "wyplacono": 0}, refused=True
            )
        zlecenie.stan = "odebrane"
        self._saldo[agent] += zlecenie.stawka
        self.book.pay(str(zlecenie.id), zlecenie.stawka)
        return Response(
            body={
                "sygnatura": sygnatura,
                "wynikKontroli": "przyjęte",
                "wyplacono": zlecenie.stawka,
                "saldo": self._saldo[agent],
            }
        )

    def complete(self, request: Request) -> Response:
        """Close an order that was delivered and paid."""
        agent, pola = self._wejscie(request)
        if isinstance(pola, Response):
            return pola
        sygnatura = pola.wez("sygnatura", str, "tekst, sygnatura przydziału")
        zgoda = pola.wez("akceptujeRozliczenie", bool, "wartość logiczna true")
        if zgoda is False:
            pola.zle("akceptujeRozliczenie", "Wymagana akceptacja rozliczenia (true).")
        if pola.bledy:
            return _blad("BLAD_WALIDACJI", pola=pola.bledy)
        zlecenie = self._przydzial(agent, sygnatura)
        if zlecenie is None:
            return _blad("BRAK_PRZYDZIALU", sygnatura)
        if zlecenie.stan != "odebrane":
            return _blad("NIEDOZWOLONY_STAN", zlecenie.stan)
        zlecenie.stan = "zamknięte"
        komunikat = "Zlecenie zostało zamknięte."
        return Response(body={"komunikat": komunikat, "stan": zlecenie.stan})

    def _wejscie(self, request: Request) -> tuple[str, _Pola | Response]:
        agent = self._konta.get(request.token)
        if agent is None:
            return "", _blad("BRAK_AUTORYZACJI")
        try:
            tresc = request.json()
        except ValueError:
            tresc = None
        return agent, _Pola(tresc) if isinstance(tresc, dict) else _blad("BLEDNY_JSON")

    def _przydzial(self, agent: str, sygnatura: str) -> _Zlecenie | None:
        for zlecenie in self._zlecenia.values():
            if zlecenie.wykonawca == agent and zlecenie.sygnatura == sygnatura:
                return zlecenie
        return None


def _blad(
    kod: str, *wartosci: Any, pola: list[dict[str, str]] | None = None
) -> Response:
    status, komunikat = _KOMUNIKATY[kod]
    blad: dict[str, Any] = {"kod": kod, "komunikat": komunikat.format(*wartosci)}
    if pola:
        blad["pola"] = pola
    return Response(status, {"blad": blad})
