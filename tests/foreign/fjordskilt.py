"""Fjordskilt AS, a Norwegian sign engraver: its own interface, in Norwegian.

One complaint at a time, with a code of the house; the listing comes in pages; an order is
paid when its delivery note is handed back.
"""

import json
import re
import secrets
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

JOBS = [
    ("FS-2117", "Navneskilt til sjark", "Havørna av Ålesund", 40),
    ("FS-2118", "Dørskilt i messing", "familien Bjørnstad, 2. etasje", 25),
    ("FS-2121", "Minneplate", "reist av bygdefolket til minne om fiskerne", 70),
    ("FS-2124", "Varselskilt til kai", "fare for ras, gå ikke nær kanten", 35),
    ("FS-2126", "Skilt til bakeri", "ferske brød hver dag kl. 7", 20),
    ("FS-2130", "Hytteskilt", "Solbu ved Møsvatn", 30),
    ("FS-2133", "Infotavle ved stavkirke", "kirken ble bygd omkring år 1180", 55),
]
WORK = "Sett påskriften i store bokstaver. Tegn, tall og mellomrom beholdes som de er."
PAGE = 5
MOST = 20


class _FeilError(Exception):
    """A refusal of the house."""

    def __init__(
        self, status: int, code: str, text: str, felt: str | None = None
    ) -> None:
        super().__init__(text)
        self.status = status
        self.body = {"feilkode": code, "melding": text, "felt": felt}


def _json(body: Any, status: int = 200) -> Response:
    return Response(
        status,
        json.dumps(body, ensure_ascii=False),
        {"Content-Type": "application/json; charset=utf-8"},
    )


class Fjordskilt(Backend):
    """Engraving jobs: ledig, tildelt, levert, utbetalt."""

    def __init__(self) -> None:
        super().__init__()
        self._deadline = datetime.now(UTC).date() + timedelta(days=14)
        self._jobs = {number: (title, text, pay) for number, title, text, pay in JOBS}
        self._state = dict.fromkeys(self._jobs, "ledig")
        self._agents: dict[str, str] = {}  # token -> agent
        self._balance: dict[str, int] = {}
        self._orders: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the text of every task."""
        return {number: text for number, (_, text, _) in self._jobs.items()}

    def missing(self, request: Request) -> Response:
        """Return the house's 404."""
        text = f"Tjenesten {request.method} {request.path} finnes ikke."
        return _json(_FeilError(404, "GEN-04", text).body, 404)

    def register(self, request: Request) -> Response:
        """Take in a new engraver."""
        agent, token = f"gravør-{1001 + len(self._agents)}", secrets.token_hex(20)
        self._agents[token] = agent
        self._balance[agent] = 100
        self.book.registrations += 1
        return _json({"agent_id": agent, "access_token": token, "credits": 100})

    # --- listing ---

    def _record(self, number: str) -> dict[str, Any]:
        title, text, pay = self._jobs[number]
        return {
            "oppdragsnr": number,
            "tittel": title,
            "arbeid": WORK,
            "påskrift": text,
            "honorar": {"beløp": pay, "enhet": "kreditter"},
            "frist": self._deadline.isoformat(),
            "tilstand": self._state[number],
        }

    def _page(self, request: Request, numbers: list[str]) -> Response:
        try:
            limit = self._count(request, "limit", PAGE, MOST)
            page = self._count(request, "side", 1, 1000)
        except _FeilError as no:
            return _json(no.body, no.status)
        pages = max(1, -(-len(numbers) // limit))
        following = f"{request.base}{request.path}?limit={limit}&side={page + 1}"
        return _json(
            {
                "antall": len(numbers),
                "side": page,
                "antallSider": pages,
                "nesteSide": following if page < pages else None,
                "oppdrag": [
                    self._record(number)
                    for number in numbers[(page - 1) * limit : page * limit]
                ],
            }
        )

    @staticmethod
    def _count(request: Request, name: str, default: int, most: int) -> int:
        value = request.query.get(name, str(default))
        if not re.fullmatch(r"[0-9]{1,6}", value) or not 1 <= int(value) <= most:
            text = f"Parameteren «{name}» må være et heltall fra 1 til {most}."
            raise _FeilError(400, "GEN-02", text, name)
        return int(value)

    def tasks(self, request: Request) -> Response:
        """List every job, the free and the taken."""
        return self._page(request, list(self._jobs))

    def marketplace(self, request: Request) -> Response:
        """List the free jobs."""
        free = [number for number in self._jobs if self._state[number] == "ledig"]
        return self._page(request, free)

    # --- the work ---

    def _body(self, request: Request) -> tuple[str, dict[str, Any]]:
        agent = self._agents.get(request.token)
        if agent is None:
            fault = "er ukjent" if request.token else "mangler"
            raise _FeilError(401, "TIL-01", f"Tilgangsnøkkelen {fault}.")
        try:
            body = request.json()
        except ValueError:
            raise _FeilError(400, "GEN-01", "Innholdet er ikke gyldig JSON.") from None
        if not isinstance(body, dict):
            raise _FeilError(400, "GEN-01", "Innholdet må være et JSON-objekt.")
        return agent, body

    @staticmethod
    def _want(body: dict[str, Any], name: str, kind: type, hint: str) -> Any:
        value = body.get(name)
        if value is None or value == "":
            raise _FeilError(400, "GEN-03", f"Feltet «{name}» mangler ({hint}).", name)
        if type(value) is not kind:
            word = "et heltall" if kind is int else "en tekst"
            raise _FeilError(400, "GEN-05", f"Feltet «{name}» må være {word}.", name)
        return value

    def _order(self, agent: str, body: dict[str, Any]) -> dict[str, Any]:
        number = self._want(body, "ordrenr", int, "nummeret du fikk ved tildelingen")
        order = self._orders.get(number)
        if order is None or order["agentnr"] != agent:
            text = f"Du har ingen ordre med nummer {number}."
            raise _FeilError(404, "ORD-01", text, "ordrenr")
        return order

    def _try(self, step: Any, request: Request) -> Response:
        try:
            return _json(step(*self._body(request)))
        except _FeilError as no:
            return _json(no.body, no.status)

    def claim(self, request: Request) -> Response:
        """Give a job to an engraver."""
        return self._try(self._assign, request)

    def _assign(self, agent: str, body: dict[str, Any]) -> dict[str, Any]:
        number = self._want(body, "oppdragsnr", str, "oppdragets nummer")
        if number not in self._jobs:
            text = f"Oppdraget «{number}» finnes ikke."
            raise _FeilError(404, "OPP-01", text, "oppdragsnr")
        who = self._want(body, "agentnr", str, "agent_id fra registreringen")
        if who != agent:
            text = "Feltet «agentnr» stemmer ikke med den som er innlogget."
            raise _FeilError(403, "TIL-02", text, "agentnr")
        text = self._want(body, "leveringsdato", str, "dagen du leverer, ÅÅÅÅ-MM-DD")
        try:
            day = date.fromisoformat(text)
        except ValueError:
            text = "Feltet «leveringsdato» må være en dato på formen ÅÅÅÅ-MM-DD."
            raise _FeilError(400, "GEN-05", text, "leveringsdato") from None
        # A day's grace either way: the agent's clock may stand in another zone.
        if not datetime.now(UTC).date() - timedelta(days=1) <= day <= self._deadline:
            text = f"Leveringsdato må være fra i dag og senest {self._deadline}."
            raise _FeilError(422, "OPP-03", text, "leveringsdato")
        if self._state[number] != "ledig":
            text = (
                f"Oppdraget {number} er ikke ledig (tilstand: {self._state[number]})."
            )
            raise _FeilError(409, "OPP-02", text)
        order = {
            "ordrenr": 50031 + len(self._orders),
            "oppdragsnr": number,
            "agentnr": agent,
            "leveringsdato": day.isoformat(),
            "tilstand": "tildelt",
        }
        self._orders[order["ordrenr"]] = order
        self._state[number] = "tildelt"
        self.book.claimed(number)
        return {"ordre": order}

    def submit(self, request: Request) -> Response:
        """Take in the finished text and give a delivery note."""
        return self._try(self._deliver, request)

    def _deliver(self, agent: str, body: dict[str, Any]) -> dict[str, Any]:
        order = self._order(agent, body)
        done = self._want(body, "ferdigTekst", str, "teksten slik den skal graveres")
        if order["tilstand"] != "tildelt":
            text = f"Ordre {order['ordrenr']} er allerede {order['tilstand']}."
            raise _FeilError(409, "ORD-02", text)
        if done != self._jobs[order["oppdragsnr"]][1].upper():
            text = (
                "Teksten er kontrollert og underkjent: den er ikke lik påskriften satt "
                "i store bokstaver. Du kan levere på nytt."
            )
            raise _FeilError(422, "LEV-01", text, "ferdigTekst")
        order["leveringsseddel"] = f"LS-{secrets.randbelow(900000) + 100000}"
        self._set(order, "levert")
        return {"ordre": order}

    def complete(self, request: Request) -> Response:
        """Settle an order against its delivery note."""
        return self._try(self._settle, request)

    def _settle(self, agent: str, body: dict[str, Any]) -> dict[str, Any]:
        order = self._order(agent, body)
        if order["tilstand"] != "levert":
            text = f"Bare leverte ordrer gjøres opp. Ordren er {order['tilstand']}."
            raise _FeilError(409, "ORD-03", text)
        note = self._want(body, "leveringsseddel", str, "nummeret du fikk ved levering")
        if note != order["leveringsseddel"]:
            text = "Leveringsseddelen hører ikke til denne ordren."
            raise _FeilError(422, "LEV-02", text, "leveringsseddel")
        pay = self._jobs[order["oppdragsnr"]][2]
        self._set(order, "utbetalt")
        self._balance[agent] += pay
        self.book.pay(order["oppdragsnr"], pay)
        return {"ordre": order, "utbetaling": pay, "saldo": self._balance[agent]}

    def _set(self, order: dict[str, Any], state: str) -> None:
        order["tilstand"] = self._state[order["oppdragsnr"]] = state
