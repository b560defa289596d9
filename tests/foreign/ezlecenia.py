"""e-Zlecenia: small commissions of the town hall of Wierzbno, a Spring service.

Polish, camelCase, its own catalogue of errors (`EZ-....`), Bean Validation in the Polish
locale, Jackson's own words where a body cannot be read.
"""

import json
import re
import uuid
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_ZLECENIA = [
    ("Tabliczka: ratusz", "ratusz miejski, rok budowy 1743", 14),
    ("Tabliczka: studnia", "studnia świętego Jacka", 8),
    ("Ogłoszenie o zebraniu", "zebranie mieszkańców w środę o siedemnastej", 22),
    ("Napis na bramie parku", "park imienia Żołnierzy Września", 17),
    ("Nagłówek obwieszczenia", "obwieszczenie o wyłożeniu planu miejscowego", 35),
    ("Tablica przystankowa", "plac Łazienny – kierunek dworzec", 11),  # noqa: RUF001
]
_KATALOG = {
    "EZ-1001": (400, "Nie można odczytać treści żądania."),
    "EZ-1002": (400, "Żądanie zawiera nieprawidłowe dane."),
    "EZ-1003": (415, "Nieobsługiwany typ treści żądania."),
    "EZ-1401": (401, "Brak uwierzytelnienia lub token jest nieprawidłowy."),
    "EZ-1404": (404, "Nie znaleziono zasobu."),
    "EZ-1405": (405, "Metoda HTTP nie jest obsługiwana."),
    "EZ-2001": (404, "Zlecenie o podanym identyfikatorze nie istnieje."),
    "EZ-2002": (409, "Zlecenie zostało już przyjęte do realizacji."),
    "EZ-2003": (422, "Deklarowany termin przekracza termin wykonania zlecenia."),
    "EZ-3001": (404, "Umowa o podanym numerze nie istnieje."),
    "EZ-3002": (409, "Stan umowy nie pozwala na wykonanie operacji."),
    "EZ-3003": (422, "Wynik pracy nie spełnia wymagań zlecenia."),
    "EZ-4001": (404, "Protokół o podanym identyfikatorze nie istnieje."),
}
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_TEKST = {"typ": "java.lang.String", "regula": "NotBlank"}
_IDENT = {"typ": "java.util.UUID", "regula": "NotNull"}
_DATA = {"typ": "java.time.LocalDate", "regula": "FutureOrPresent"}
_ZGODA = {"typ": "java.lang.Boolean", "regula": "AssertTrue"}
_UMOWA = {"idZlecenia": _IDENT, "deklarowanyTermin": _DATA}
_UMOWA |= {"akceptacjaRegulaminu": _ZGODA}
_WYNIK = {"numerUmowy": _TEKST, "trescWyniku": _TEKST}


class _Blad(Exception):  # noqa: N818
    def __init__(self, kod: str, szczegoly: str = "", pola: Any = ()) -> None:
        self.kod, self.szczegoly, self.pola = kod, szczegoly, pola


def _odpowiedz(body: Any, status: int = 200) -> Response:
    headers = {"Content-Type": "application/json"}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return Response(status, json.dumps(body, ensure_ascii=False), headers)


def _czytaj(nazwa: str, value: Any, kind: str) -> Any:
    """Convert a value as Jackson would; null stays null."""
    text = value if isinstance(value, str) else json.dumps(value)
    why = "unexpected token"
    if value is None:
        return None
    if kind == "java.lang.String" and not isinstance(value, dict | list):
        return text
    if kind == "java.lang.Boolean":
        if text in ("true", "false"):
            return text == "true"
        why = 'only "true" or "false" recognized'
    elif kind == "java.util.UUID":
        if _UUID.fullmatch(text):
            return text.lower()
        why = "UUID has to be represented by standard 36-char representation"
    elif kind == "java.time.LocalDate":
        try:
            return datetime.strptime(text, "%Y-%m-%d").date()  # noqa: DTZ007
        except ValueError:
            why = f"Text '{text}' could not be parsed (expected format: yyyy-MM-dd)"
    said = f"JSON parse error: Cannot deserialize value of type `{kind}` from "
    said += f'String "{text}"' if isinstance(value, str) else f"value {text}"
    raise _Blad("EZ-1001", f'{said}: {why} (through reference chain: ["{nazwa}"])')


class EZlecenia(Backend):
    """A contract is made, its result verified into a protocol, the protocol signed."""

    def __init__(self) -> None:
        super().__init__()
        self._tokeny: dict[str, str] = {}
        self._saldo: dict[str, int] = {}
        self._umowy: dict[str, dict[str, Any]] = {}
        self._zlecenia: dict[str, dict[str, Any]] = {}
        for numer, (przedmiot, tekst, kwota) in enumerate(_ZLECENIA, 1):
            ident = str(uuid.uuid5(uuid.NAMESPACE_URL, f"wierzbno/{numer}"))
            self._zlecenia[ident] = {
                "idZlecenia": ident,
                "znakSprawy": f"OR.2151.{numer + 40}.{date.today().year}",  # noqa: DTZ011
                "przedmiot": przedmiot,
                "opis": "Przepisać tekst źródłowy wielkimi literami.",
                "tekstZrodlowy": tekst,
                "wynagrodzenie": {"kwota": kwota, "jednostka": "KREDYT"},
                "terminWykonania": str(date.today() + timedelta(days=10 + numer)),  # noqa: DTZ011
                "stan": "OGLOSZONE",
            }

    def texts(self) -> dict[str, str]:
        """Return the source text of every commission."""
        return {ident: row["tekstZrodlowy"] for ident, row in self._zlecenia.items()}

    def _odmowa(self, request: Request, blad: _Blad) -> Response:
        status, komunikat = _KATALOG[blad.kod]
        body: dict[str, Any] = {
            "znacznikCzasu": datetime.now(UTC).isoformat(),
            "kodBledu": blad.kod,
            "komunikat": komunikat,
            "szczegoly": blad.szczegoly or None,
            "sciezka": request.path,
            "idKorelacji": str(uuid.uuid4()),
            "bledyPol": [
                {"pole": pole, "komunikat": said, "odrzuconaWartosc": value}
                for pole, said, value in blad.pola
            ],
        }
        return _odpowiedz(body, status)

    def missing(self, request: Request) -> Response:
        """Return the catalogue's 404, or 405 for a known path."""
        blad = _Blad("EZ-1404", f"No static resource {request.path.strip('/')}.")
        known, asked = {path for _, path in ACTIONS}, (request.method, request.path)
        if request.path in known and asked not in ACTIONS:
            blad = _Blad(
                "EZ-1405", f"Request method '{request.method}' is not supported"
            )
        return self._odmowa(request, blad)

    def _dane(
        self, request: Request, pola: dict[str, dict[str, str]]
    ) -> dict[str, Any]:
        """Return the body, read and validated."""
        media = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
        if media.lower() != "application/json":
            raise _Blad("EZ-1003", f"Content-Type '{media}' is not supported")
        try:
            body = {**request.json()}
        except (TypeError, ValueError):
            raise _Blad("EZ-1001", "JSON parse error: expected an Object") from None
        dane = {n: _czytaj(n, body.get(n), pole["typ"]) for n, pole in pola.items()}
        zle: list[tuple[str, str, Any]] = []
        for nazwa, value in dane.items():
            rule = pola[nazwa]["regula"]
            if rule == "NotBlank" and not (value or "").strip():
                zle.append((nazwa, "nie może być odstępem", value))
            elif value is None:
                zle.append((nazwa, "nie może mieć wartości null", None))
            elif rule == "AssertTrue" and value is not True:
                zle.append((nazwa, "musi mieć wartość true", value))
            elif rule == "FutureOrPresent" and value < date.today():  # noqa: DTZ011
                zle.append((nazwa, "musi być datą obecną lub przyszłą", str(value)))
        if zle:
            raise _Blad("EZ-1002", "", zle)
        return dane

    def register(self, request: Request) -> Response:
        """Register a contractor."""
        self.book.registrations += 1
        kto, token = str(uuid.uuid4()), f"ezl.{uuid.uuid4().hex}"
        self._tokeny[token], self._saldo[kto] = kto, 100
        return _odpowiedz({"agent_id": kto, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        """List announced commissions, five to a page unless told."""
        numbers = {"limit": 5, "strona": 0}
        for nazwa, (low, high) in {"limit": (1, 50), "strona": (0, 1000)}.items():
            given = request.query.get(nazwa, str(numbers[nazwa]))
            said = "musi być liczbą całkowitą"
            if re.fullmatch(r"-?\d+", given):
                numbers[nazwa] = int(given)
                if low <= int(given) <= high:
                    continue
                said = f"musi należeć do zakresu od {low} do {high}"
            return self._odmowa(request, _Blad("EZ-1002", "", [(nazwa, said, given)]))
        size, page = numbers["limit"], numbers["strona"]
        rows = [row for row in self._zlecenia.values() if row["stan"] == "OGLOSZONE"]
        shown, rest = rows[page * size :][:size], rows[(page + 1) * size :]
        nastepna = f"{request.path}?limit={size}&strona={page + 1}" if rest else None
        strony = {"strona": page, "liczbaElementow": len(rows), "nastepna": nastepna}
        return _odpowiedz({"zlecenia": shown, "stronicowanie": strony})

    marketplace = tasks

    def _wykonaj(self, request: Request, pola: Any, operacja: Any) -> Response:
        try:
            if request.token not in self._tokeny:
                raise _Blad("EZ-1401")
            dane = self._dane(request, pola)
            return _odpowiedz(operacja(self._tokeny[request.token], **dane))
        except _Blad as blad:
            return self._odmowa(request, blad)

    def claim(self, request: Request) -> Response:
        """Make a contract."""
        return self._wykonaj(request, _UMOWA, self._zawrzyj)

    def _zawrzyj(self, kto: str, idZlecenia: str, **dane: Any) -> dict[str, Any]:
        zlecenie = self._zlecenia.get(idZlecenia)
        if zlecenie is None:
            raise _Blad("EZ-2001", f"idZlecenia={idZlecenia}")
        if zlecenie["stan"] != "OGLOSZONE":
            raise _Blad("EZ-2002", f"stan={zlecenie['stan']}")
        if str(dane["deklarowanyTermin"]) > zlecenie["terminWykonania"]:
            raise _Blad("EZ-2003", f"terminWykonania={zlecenie['terminWykonania']}")
        numer = f"UM/{date.today().year}/{len(self._umowy) + 318:05d}"  # noqa: DTZ011
        umowa = {"kto": kto, "zlecenie": zlecenie, "protokol": ""}
        self._umowy[numer] = {**umowa, "stan": "ZAWARTA"}
        zlecenie["stan"] = "W_REALIZACJI"
        self.book.claimed(idZlecenia)
        return {"numerUmowy": numer, "stanUmowy": "ZAWARTA", "zlecenie": zlecenie}

    def submit(self, request: Request) -> Response:
        """Verify a result."""
        return self._wykonaj(request, _WYNIK, self._przekaz)

    def _przekaz(self, kto: str, numerUmowy: str, trescWyniku: str) -> dict[str, Any]:
        umowa = self._umowy.get(numerUmowy)
        if umowa is None or umowa["kto"] != kto:
            raise _Blad("EZ-3001", f"numerUmowy={numerUmowy}")
        if umowa["stan"] != "ZAWARTA":
            raise _Blad("EZ-3002", f"stanUmowy={umowa['stan']}, oczekiwano: ZAWARTA")
        if trescWyniku != umowa["zlecenie"]["tekstZrodlowy"].upper():
            raise _Blad("EZ-3003", "Oczekiwano tekstu źródłowego wielkimi literami.")
        umowa["stan"], umowa["protokol"] = "DO_ODBIORU", str(uuid.uuid4())
        protokol = {"idProtokolu": umowa["protokol"], "podpisany": False}
        return {"stanUmowy": "DO_ODBIORU", "protokolOdbioru": protokol}

    def complete(self, request: Request) -> Response:
        """Sign the protocol, which pays."""
        return self._wykonaj(request, {"idProtokolu": _IDENT}, self._podpisz)

    def _podpisz(self, kto: str, idProtokolu: str) -> dict[str, Any]:
        protokoly = {umowa["protokol"]: umowa for umowa in self._umowy.values()}
        umowa = protokoly.get(idProtokolu)
        if umowa is None or umowa["kto"] != kto:
            raise _Blad("EZ-4001", f"idProtokolu={idProtokolu}")
        if umowa["stan"] != "DO_ODBIORU":
            raise _Blad("EZ-3002", f"stanUmowy={umowa['stan']}, oczekiwano: DO_ODBIORU")
        zlecenie, umowa["stan"] = umowa["zlecenie"], "ROZLICZONA"
        wynagrodzenie, zlecenie["stan"] = zlecenie["wynagrodzenie"], "ZAKONCZONE"
        self._saldo[kto] += wynagrodzenie["kwota"]
        self.book.pay(zlecenie["idZlecenia"], wynagrodzenie["kwota"])
        stan = {"stanUmowy": "ROZLICZONA", "saldo": self._saldo[kto]}
        return {**stan, "wyplacono": wynagrodzenie}
