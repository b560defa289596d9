"""A Swedish town library's loan service, written by one developer, the usual way.

Everything is in Swedish; a refusal is a 200 with `ok: false` and a sentence, checked one
field at a time. The text comes with the loan, not with the list; at most three loans at
once; the return of the loan (complete) pays.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

from datetime import date, timedelta
from secrets import token_hex
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_UPPDRAG = [
    ("Hyllskylt, plan 1", "barnböcker och sagor", 14),
    ("Hyllskylt, plan 2", "deckare på svenska", 11),
    ("Affisch till entrén", "välkommen till bokcirkeln på torsdag", 27),
    ("Skylt till läsesalen", "här läser vi i tystnad", 19),
    ("Skylt till utlåningen", "återlämning dygnet runt", 16),
    ("Affisch till lovet", "sagostund varje förmiddag klockan tio", 33),
    ("Etikett till arkivet", "tidningar från nittonhundratalet", 8),
    ("Skylt till kaféet", "öppet även på söndagar", 21),
]
_SIDA = 5
_MAX_LAN = 3
_DAGAR = 28


def _fel(meddelande: str, status: int = 200) -> Response:
    return Response(status, {"ok": False, "fel": meddelande}, refused=True)


class StadsbiblioteketNetwork(Backend):
    """Jobs for a library's friends, borrowed like books."""

    def __init__(self) -> None:
        super().__init__()
        self._kort: dict[str, str] = {}  # token -> card number
        self._poang: dict[str, int] = {}  # card number -> points
        self._uppdrag: dict[int, dict[str, Any]] = {}
        self._lan: dict[str, dict[str, Any]] = {}
        for nr, (rubrik, text, poang) in enumerate(_UPPDRAG, 301):
            self._uppdrag[nr] = {
                "rubrik": rubrik,
                "text": text,
                "poang": poang,
                "status": "ledig",
            }

    def texts(self) -> dict[str, str]:
        """Return the text of every task by its identifier, as a string."""
        return {str(nr): u["text"] for nr, u in self._uppdrag.items()}

    def missing(self, request: Request) -> Response:
        """Return the page of a path that the site does not have."""
        return Response(
            404,
            "<h1>Sidan finns inte</h1><p>Fråga i informationsdisken.</p>\n",
            {"Content-Type": "text/html; charset=utf-8"},
        )

    def register(self, request: Request) -> Response:
        """Give out a library card."""
        self.book.registrations += 1
        kort, token = str(20_480_000 + self.book.registrations), token_hex(16)
        self._kort[token] = kort
        self._poang[kort] = 100
        return Response(
            200,
            {
                "ok": True,
                "agent_id": kort,
                "access_token": token,
                "credits": 100,
                "meddelande": "Välkommen! agent_id är ditt lånekortsnummer.",
            },
        )

    def tasks(self, request: Request) -> Response:
        """List the free jobs, five to a page."""
        limit = request.query.get("limit", str(_SIDA))
        sida = request.query.get("sida", "1")
        if not limit.isdecimal() or int(limit) < 1:
            return _fel("limit måste vara ett heltal, minst 1.")
        if not sida.isdecimal() or int(sida) < 1:
            return _fel("sida måste vara ett heltal, minst 1.")
        antal, nu = min(int(limit), _SIDA), int(sida)
        lediga = [
            {
                "uppdragsnr": nr,
                "rubrik": u["rubrik"],
                "beskrivning": "Skriv om texten med versaler. Texten följer med lånet.",
                "ersattning_poang": u["poang"],
                "status": u["status"],
                "inlagt": date.today().isoformat(),  # noqa: DTZ011
            }
            for nr, u in self._uppdrag.items()
            if u["status"] == "ledig"
        ]
        fler = nu * antal < len(lediga)
        return Response(
            200,
            {
                "ok": True,
                "antal_lediga": len(lediga),
                "sida": nu,
                "uppdrag": lediga[(nu - 1) * antal : nu * antal],
                "nasta_sida": (
                    f"{request.base}{request.path}?limit={antal}&sida={nu + 1}"
                    if fler
                    else None
                ),
            },
        )

    def marketplace(self, request: Request) -> Response:
        """List the same to anybody."""
        return self.tasks(request)

    def agents(self, request: Request) -> Response:
        """Say how many cards there are; whose they are is nobody's business."""
        return Response(200, {"ok": True, "antal_lantagare": len(self._kort)})

    def _in(self, request: Request) -> tuple[str, dict[str, Any]] | Response:
        """Return the card and the form, or the refusal."""
        kort = self._kort.get(request.token)
        if kort is None:
            return _fel("Du är inte inloggad. Skicka din access_token.", 401)
        try:
            form = request.json()
        except ValueError:
            return _fel("Kunde inte läsa JSON.")
        if not isinstance(form, dict):
            return _fel("Kunde inte läsa formuläret, det ska vara ett JSON-objekt.")
        return kort, form

    def _mitt_lan(self, kort: str, form: dict[str, Any]) -> dict[str, Any] | Response:
        """Return the loan that the form names, or the refusal."""
        nr = form.get("lanenr")
        if nr in (None, ""):
            return _fel("Fältet lanenr saknas. Du fick det när du lånade.")
        lan = self._lan.get(str(nr))
        if lan is None:
            return _fel(f"Det finns inget lån med lanenr {nr}.")
        if lan["lanekort"] != kort:
            return _fel("Lånet står på ett annat lånekort.")
        if lan["status"] == "återlämnad":
            return _fel("Lånet är redan återlämnat.")
        return lan

    def claim(self, request: Request) -> Response:
        """Lend a job until a day that the borrower names."""
        inne = self._in(request)
        if isinstance(inne, Response):
            return inne
        kort, form = inne
        if form.get("uppdragsnr") in (None, ""):
            return _fel("Fältet uppdragsnr saknas.")
        text = str(form["uppdragsnr"])
        nr = int(text) if text.isdecimal() else 0
        if nr not in self._uppdrag:
            return _fel(f"Uppdrag {text} finns inte.")
        if form.get("lanekort") in (None, ""):
            return _fel("Fältet lanekort saknas. Ange ditt lånekortsnummer (agent_id).")
        if str(form["lanekort"]) != kort:
            return _fel("Lånekortet i fältet lanekort är inte ditt (agent_id).")
        sista = date.today() + timedelta(_DAGAR)  # noqa: DTZ011
        if form.get("aterlamnas") in (None, ""):
            return _fel(
                "Fältet aterlamnas saknas. Ange vilket datum du lämnar tillbaka "
                f"(ÅÅÅÅ-MM-DD), senast {sista}."
            )
        try:
            dag = date.fromisoformat(str(form["aterlamnas"]))
        except ValueError:
            return _fel("aterlamnas är inget giltigt datum, skriv ÅÅÅÅ-MM-DD.")
        if not date.today() - timedelta(1) <= dag <= sista + timedelta(1):  # noqa: DTZ011
            return _fel(f"aterlamnas måste vara från {date.today()} till {sista}.")  # noqa: DTZ011
        uppdrag = self._uppdrag[nr]
        if uppdrag["status"] != "ledig":
            return _fel(f"Uppdrag {nr} är redan {uppdrag['status']}.")
        mina = [x for x in self._lan.values() if x["lanekort"] == kort]
        if sum(x["status"] != "återlämnad" for x in mina) >= _MAX_LAN:
            return _fel(f"Du har redan {_MAX_LAN} lån. Lämna tillbaka ett lån först.")
        uppdrag["status"] = "utlånat"
        lan = {
            "lanenr": f"L{date.today().year}-{len(self._lan) + 1:04}",  # noqa: DTZ011
            "uppdragsnr": nr,
            "lanekort": kort,
            "aterlamnas": dag.isoformat(),
            "status": "utlånad",
        }
        self._lan[lan["lanenr"]] = lan
        self.book.claimed(str(nr))
        return Response(200, {"ok": True, "lan": {**lan, "text": uppdrag["text"]}})

    def submit(self, request: Request) -> Response:
        """Take the text in capitals."""
        inne = self._in(request)
        if isinstance(inne, Response):
            return inne
        lan = self._mitt_lan(*inne)
        if isinstance(lan, Response):
            return lan
        svar = inne[1].get("svar")
        if svar in (None, ""):
            return _fel("Fältet svar saknas. Skriv din färdiga text där.")
        if svar != self._uppdrag[lan["uppdragsnr"]]["text"].upper():
            return _fel(
                "Svaret är inte rätt, texten ska vara med versaler. Försök igen."
            )
        lan["status"] = "inlämnad"
        return Response(200, {"ok": True, "lan": lan, "meddelande": "Tack för svaret!"})

    def complete(self, request: Request) -> Response:
        """Take the loan back and pay for it."""
        inne = self._in(request)
        if isinstance(inne, Response):
            return inne
        lan = self._mitt_lan(*inne)
        if isinstance(lan, Response):
            return lan
        if lan["status"] != "inlämnad":
            return _fel("Du har inte lämnat in något svar på lånet än.")
        if inne[1].get("klar") is not True:
            return _fel("Fältet klar måste vara true för att lånet ska återlämnas.")
        uppdrag = self._uppdrag[lan["uppdragsnr"]]
        lan["status"], uppdrag["status"] = "återlämnad", "klart"
        self._poang[lan["lanekort"]] += uppdrag["poang"]
        self.book.pay(str(lan["uppdragsnr"]), uppdrag["poang"])
        saldo = self._poang[lan["lanekort"]]
        return Response(
            200, {"ok": True, "utbetalt_poang": uppdrag["poang"], "saldo": saldo}
        )
