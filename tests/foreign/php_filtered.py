"""A PHP shop's orders for texts, as json_encode writes an array that was filtered.

What array_filter leaves has gaps in its numbers, so the list is an object whose names are
old numbers, and an empty one is []. Values are as MySQL gave them: numbers in texts,
flags "0" and "1", moments with a blank in them, and null or "0000-00-00" for never. Names are German and short.
Every answer is 200; `erfolg` says whether it was a yes.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]
NEVER = "0000-00-00 00:00:00"
ROWS = (
    ("7114", "der zug hat heute geduld", 5),
    ("7117", "bitte leise umsteigen", 3),
    ("7118", "gleis drei ist nun gleis vier", 6),
    ("7121", "kaffee gibt es im speisewagen", 2),
    ("7125", "alle fahrkarten sind blau", 4),
    ("7126", "der letzte wagen bleibt hier", 7),
)


@dataclass
class Auftrag:
    nr: str
    text: str
    punkte: int
    vergeben: str = NEVER
    erledigt: str = NEVER
    wer: str | None = None
    geliefert: bool = False

    def shown(self) -> dict[str, object]:
        return {
            "nr": self.nr,
            "text": self.text,
            "punkte": str(self.punkte),
            "eilig": "0",
            "angelegt": "2026-11-02 08:15:00",
            "vergeben": self.vergeben,
            "erledigt": self.erledigt,
            "wer": self.wer,
        }


class NeinError(Exception):
    def __init__(self, meldung: str) -> None:
        super().__init__(meldung)
        body = {"erfolg": False, "meldung": meldung, "daten": []}
        self.response = Response(200, body, refused=True)


def telling(action: Action) -> Action:
    """Answer with the refusal where the action raises one."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except NeinError as no:
            return no.response

    return answer


class PhpFiltered(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        open_ = [Auftrag(*row) for row in ROWS]
        self._open = {one.nr: one for one in open_}
        then = "2026-11-03 10:00:00"
        old = [
            Auftrag("7101", "die bahn kommt", 3, then, then, "12"),
            Auftrag("7111", "die bahn kommt bald", 4, then, NEVER, "12"),
        ]
        self._all = {one.nr: one for one in [*old, *open_]}

    def texts(self) -> dict[str, str]:
        return {one.nr: one.text for one in self._open.values()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = str(20 + self.book.registrations), secrets.token_hex(16)
        self._agents[token] = agent
        answer = {"agent_id": agent, "access_token": token, "credits": 100}
        return Response(200, {"erfolg": True, **answer})

    def tasks(self, request: Request) -> Response:
        rows = enumerate(self._all.values())
        shown = {str(at): one.shown() for at, one in rows if one.erledigt == NEVER}
        found: object = shown or []
        return Response(200, {"erfolg": True, "anzahl": len(shown), "daten": found})

    @telling
    def claim(self, request: Request) -> Response:
        agent, one, _ = self._read(request)
        if one.vergeben != NEVER:
            raise NeinError(f"Auftrag {one.nr} ist schon vergeben.")
        one.vergeben, one.wer = "2026-11-20 12:00:00", agent
        self.book.claimed(one.nr)
        return self._yes(one)

    @telling
    def submit(self, request: Request) -> Response:
        agent, one, given = self._read(request, "text")
        if one.wer != agent or one.geliefert:
            raise NeinError(f"Auftrag {one.nr} gehört Ihnen nicht.")
        if given["text"] != one.text.upper():
            raise NeinError("Der Text steht nicht in Großbuchstaben.")
        one.geliefert = True
        return self._yes(one)

    @telling
    def complete(self, request: Request) -> Response:
        agent, one, _ = self._read(request)
        if one.wer != agent or not one.geliefert:
            raise NeinError(f"Auftrag {one.nr} ist noch nicht geliefert.")
        one.erledigt = "2026-11-20 12:05:00"
        self.book.pay(one.nr, one.punkte)
        return self._yes(one)

    def _yes(self, one: Auftrag) -> Response:
        return Response(200, {"erfolg": True, "meldung": "OK", "daten": one.shown()})

    def _read(
        self, request: Request, *more: str
    ) -> tuple[str, Auftrag, dict[str, Any]]:
        if request.token not in self._agents:
            raise NeinError("Bitte anmelden.")
        try:
            given = request.json()
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise NeinError("Kein JSON.")
        for name in ("nr", *more):
            if not given.get(name):
                raise NeinError(f"Feld '{name}' fehlt.")
        one = self._all.get(str(given["nr"]))
        if one is None:
            raise NeinError(f"Auftrag {given['nr']} gibt es nicht.")
        return self._agents[request.token], one, given
