"""A Polish university library's transcription room, written in Laravel.

snake_case and Polish names, whole numbers as ids, resources under `data`, Laravel's
`links` and `meta` for pages, validation errors with 422, `message` and `errors`, in the
sentences of the Polish language pack (which writes a field's name with spaces).
"""

import itertools
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from tests.foreign.backend import Backend, Request, Response

# Id, shelf mark, text, pay.
_ZLECENIA = [
    (1184, "Rkp. 5012 k. 3r", "pamięci założycieli biblioteki", 14),
    (1185, "Rkp. 5012 k. 7v", "dano w krakowie roku pańskiego 1491", 33),
    (1190, "SD 20418", "żywot człowieka poczciwego", 21),
    (1197, "SD 20977", "księgi pierwsze o naprawie rzeczypospolitej", 48),
    (1203, "Kart. 118", "opis dróg między wisłą a bugiem", 26),
    (1204, "Kart. 121", "źródła rzeki san", 9),
    (1211, "Mus. 64", "pieśń na dzień świętego jana", 17),
    (1219, "Eks. 902", "z księgozbioru łucji śniadeckiej", 39),
]


class _Odmowa(Exception):  # noqa: N818
    def __init__(self, status: int, message: str, **errors: list[str]) -> None:
        body: dict[str, Any] = {"message": message}
        if errors:
            body["errors"] = errors
        self.response = Response(status, body)


def _sprawdz(dane: dict[str, Any], reguly: dict[str, str]) -> None:
    """Validate as Laravel does: every broken field is told at once."""
    errors: dict[str, list[str]] = {}
    for pole, regula in reguly.items():
        wartosc, nazwa = dane.get(pole), pole.replace("_", " ")
        if isinstance(wartosc, str):
            wartosc = wartosc.strip()  # TrimStrings and ConvertEmptyStringsToNull
        zdanie = ""
        if regula == "accepted":
            if wartosc not in (True, 1, "1", "yes", "on", "true"):
                zdanie = f"Pole {nazwa} musi zostać zaakceptowane."
        elif wartosc is None or wartosc == "" or wartosc == []:  # noqa: PLR1714
            zdanie = f"Pole {nazwa} jest wymagane."
        elif regula == "string" and not isinstance(wartosc, str):
            zdanie = f"Pole {nazwa} musi być ciągiem znaków."
        elif regula == "integer":
            if (
                isinstance(wartosc, bool)
                or not str(wartosc).removeprefix("-").isdecimal()
            ):
                zdanie = f"Pole {nazwa} musi być liczbą całkowitą."
            elif int(wartosc) < 1:
                zdanie = f"Pole {nazwa} musi być nie mniejsze od 1."
        if zdanie:
            errors[pole] = [zdanie]
    if errors:
        reszta = sum(map(len, errors.values())) - 1
        message = next(iter(errors.values()))[0]
        if reszta:
            message += f" (i jeszcze {reszta} {'błąd' if reszta == 1 else 'błędy'})"
        raise _Odmowa(422, message, **errors)


def _zle(pole: str, zdanie: str) -> _Odmowa:
    return _Odmowa(422, zdanie, **{pole: [zdanie]})


def _odmawia(
    praca: Callable[[Any, Request], Response],
) -> Callable[[Any, Request], Response]:
    def odpowiedz(self: Any, request: Request) -> Response:
        try:
            return praca(self, request)
        except _Odmowa as odmowa:
            return odmowa.response

    return odpowiedz


class Biblioteka(Backend):
    """Lends sheets to readers, who copy them out in capitals and are paid at the return."""

    def __init__(self) -> None:
        super().__init__()
        self._czytelnicy: dict[str, str] = {}  # token -> agent
        self._zlecenia = {z[0]: z for z in _ZLECENIA}
        self._wypozyczenia: dict[str, tuple[str, int]] = {}  # number -> agent, order
        self._oddane: set[str] = set()
        self._licznik = itertools.count(1)

    def texts(self) -> dict[str, str]:
        return {str(numer): tekst for numer, _, tekst, _ in self._zlecenia.values()}

    def missing(self, request: Request) -> Response:
        return Response(404, {"message": "Nie znaleziono."})

    def _czytelnik(self, request: Request) -> str:
        if request.token not in self._czytelnicy:
            raise _Odmowa(401, "Nieuwierzytelniony.")
        return self._czytelnicy[request.token]

    def _dane(self, request: Request) -> dict[str, Any]:
        try:
            dane = request.json()
        except ValueError:
            return {}  # to Laravel, a body that it cannot read is an empty one
        return dane if isinstance(dane, dict) else {}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        numer = f"CZ-{self.book.registrations:06d}"
        token = f"{self.book.registrations}|laravel_sanctum_{7919 * self.book.registrations:08x}"
        self._czytelnicy[token] = numer
        konto = {"agent_id": numer, "access_token": token, "credits": 100}
        return Response(
            body={**konto, "komunikat": "Konto czytelnika zostało założone."}
        )

    @_odmawia
    def tasks(self, request: Request) -> Response:
        pytanie = {"limit": "5", "strona": "1", **request.query}
        _sprawdz(pytanie, {"limit": "integer", "strona": "integer"})
        limit, strona = int(pytanie["limit"]), int(pytanie["strona"])
        if limit > 50:
            raise _zle("limit", "Pole limit nie może być większe niż 50.")
        zajete = {zlecenie for _, zlecenie in self._wypozyczenia.values()}
        wolne = [z for z in self._zlecenia.values() if z[0] not in zajete]
        ostatnia = max(1, -(-len(wolne) // limit))
        poczatek = (strona - 1) * limit

        def adres(numer: int) -> str | None:
            if not 1 <= numer <= ostatnia:
                return None
            reszta = urlencode({"limit": limit, "strona": numer})
            return f"{request.base}{request.path}?{reszta}"

        return Response(
            body={
                "data": [
                    {
                        "id": numer,
                        "sygnatura": sygnatura,
                        "opis": "Przepisać treść wielkimi literami.",
                        "tresc": tekst,
                        "wynagrodzenie_kredyty": kwota,
                        "stan": "wolne",
                    }
                    for numer, sygnatura, tekst, kwota in wolne[poczatek:][:limit]
                ],
                "links": {
                    "first": adres(1),
                    "last": adres(ostatnia),
                    "prev": adres(strona - 1),
                    "next": adres(strona + 1),
                },
                "meta": {
                    "current_page": strona,
                    "last_page": ostatnia,
                    "per_page": limit,
                    "total": len(wolne),
                },
            }
        )

    marketplace = tasks

    def agents(self, request: Request) -> Response:
        return Response(
            body={"data": [{"czytelnik": c} for c in self._czytelnicy.values()]}
        )

    directory = agents

    @_odmawia
    def claim(self, request: Request) -> Response:
        czytelnik, dane = self._czytelnik(request), self._dane(request)
        _sprawdz(
            dane,
            {
                "zlecenie_id": "integer",
                "numer_czytelnika": "string",
                "akceptacja_regulaminu": "accepted",
            },
        )
        zlecenie = int(dane["zlecenie_id"])
        if zlecenie not in self._zlecenia:
            raise _zle("zlecenie_id", "Zaznaczone pole zlecenie id jest nieprawidłowe.")
        if dane["numer_czytelnika"] != czytelnik:
            raise _zle(
                "numer_czytelnika",
                "Pole numer czytelnika nie zgadza się z kontem (agent_id).",
            )
        if any(zlecenie == z for _, z in self._wypozyczenia.values()):
            raise _Odmowa(409, "Zlecenie zostało już wypożyczone.")
        numer = f"WYP/{date.today().year}/{next(self._licznik):04d}"  # noqa: DTZ011
        self._wypozyczenia[numer] = (czytelnik, zlecenie)
        self.book.claimed(str(zlecenie))
        dane = {
            "numer_wypozyczenia": numer,
            "zlecenie_id": zlecenie,
            "stan": "wypożyczone",
            "termin_zwrotu": (date.today() + timedelta(days=14)).isoformat(),  # noqa: DTZ011
        }
        return Response(201, {"data": dane})

    def _wypozyczenie(
        self, request: Request, **reguly: str
    ) -> tuple[dict[str, Any], int]:
        czytelnik, dane = self._czytelnik(request), self._dane(request)
        _sprawdz(dane, {"numer_wypozyczenia": "string", **reguly})
        kto, zlecenie = self._wypozyczenia.get(dane["numer_wypozyczenia"], ("", 0))
        if not kto:
            raise _zle(
                "numer_wypozyczenia",
                "Zaznaczone pole numer wypozyczenia jest nieprawidłowe.",
            )
        if kto != czytelnik:
            raise _Odmowa(403, "To działanie jest niedozwolone.")
        if str(zlecenie) in self.book.paid:
            raise _Odmowa(409, "Wypożyczenie zostało już zakończone.")
        return dane, zlecenie

    @_odmawia
    def submit(self, request: Request) -> Response:
        dane, zlecenie = self._wypozyczenie(request, odpis="string")
        if dane["odpis"].strip() != self._zlecenia[zlecenie][2].upper():
            raise _zle(
                "odpis", "Pole odpis nie jest treścią zapisaną wielkimi literami."
            )
        self._oddane.add(dane["numer_wypozyczenia"])
        numer = dane["numer_wypozyczenia"]
        return Response(body={"data": {"numer_wypozyczenia": numer, "stan": "oddane"}})

    @_odmawia
    def complete(self, request: Request) -> Response:
        dane, zlecenie = self._wypozyczenie(request, czas_pracy_w_minutach="integer")
        if dane["numer_wypozyczenia"] not in self._oddane:
            raise _Odmowa(409, "Odpis nie został jeszcze oddany.")
        kwota = self._zlecenia[zlecenie][3]
        self.book.pay(str(zlecenie), kwota)
        komunikat = "Wypożyczenie zakończono, wynagrodzenie wypłacono."
        dane = {
            "zlecenie_id": zlecenie,
            "stan": "zakończone",
            "wyplacono_kredyty": kwota,
        }
        return Response(body={"komunikat": komunikat, "data": dane})

    def post(self, request: Request) -> Response:
        return Response(403, {"message": "To działanie jest niedozwolone."})

    def checkout(self, request: Request) -> Response:
        return Response(body={"ok": False, "mode": "niedostępne"})
