"""A railway's announcement office: boards to be set, turns of duty, remarks on a form.

The office thinks in forms: every refusal returns the form with a remark for each box that
is not in order, all of them at once, under a short form number. An announcement is taken for
a turn of so many minutes by a named operator; a turn that runs out goes back on the sheet.
Signing off twice is answered as the first time.
"""
# mypy: ignore-errors

import secrets
import time
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_STATIONS = {"WLJ": "Willow Junction", "KNB": "Kinnbury", "SLT": "Saltings"}
_LINES = [
    ("WLJ", 1, "en", 9, "the 8.14 to kinnbury will leave from platform 3"),
    ("WLJ", 2, "en", 11, "please stand back, a fast train is passing"),
    ("WLJ", 2, "de", 13, "der zug nach kinnbury hat zehn minuten aufenthalt"),
    ("WLJ", 4, "en", 7, "this train divides at saltings"),
    ("KNB", 1, "en", 16, "the refreshment room closes with the last train"),
    ("KNB", 1, "nl", 12, "vergeet uw fiets niet mee te nemen"),
    ("KNB", 3, "en", 8, "buses replace trains beyond the viaduct"),
    ("SLT", 1, "en", 10, "first class is at the front of the train"),
    ("SLT", 1, "de", 18, "bitte nicht einsteigen, der zug endet hier"),
    ("SLT", 2, "en", 6, "mind the gap at low tide"),
    ("SLT", 2, "en", 14, "lost umbrellas are kept by the station master"),
]
_PER_SHEET = 4


def _clock(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class StationAnnouncements(Backend):
    """Announcements by station and number; turns that run out; sign-off in one's name."""

    def __init__(self) -> None:
        super().__init__()
        self.operators: dict[str, dict[str, Any]] = {}
        self.turns: dict[str, dict[str, Any]] = {}
        self.rows: dict[str, dict[str, Any]] = {}
        for n, (station, platform, language, fee, wording) in enumerate(_LINES):
            reference = f"{station}/{310 + 7 * n}"
            self.rows[reference] = {
                "announcementRef": reference,
                "station": {"code": station, "name": _STATIONS[station]},
                "platform": platform,
                "language": language,
                "wording": wording,
                "display": "Dot-matrix board, capitals only",
                "feeCredits": fee,
                "status": "UNSET",
            }

    def texts(self) -> dict[str, str]:
        return {reference: row["wording"] for reference, row in self.rows.items()}

    def _returned(self, form: str, status: int, *remarks: tuple[str, str]) -> Response:
        listed = [{"box": box, "remark": remark} for box, remark in remarks]
        return Response(status, {"form": form, "result": "RETURNED", "remarks": listed})

    def missing(self, request: Request) -> Response:
        where = f"{request.method} {request.path} is not an office of this railway"
        return self._returned("A0", 404, ("(address)", where))

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(21)
        agent = {"agent_id": f"OP{1840 + 7 * len(self.operators)}", "credits": 100}
        self.operators[token] = agent
        return Response(200, {**agent, "access_token": token})

    def _lapse(self) -> None:
        """Put back what was held for longer than its turn."""
        for turn in self.turns.values():
            if turn["status"] == "ON DUTY" and turn["_until"] <= time.time():
                turn["status"] = "RUN OUT"
                self.rows[turn["announcementRef"]]["status"] = "UNSET"
                self.book.held.discard(turn["announcementRef"])

    def tasks(self, request: Request) -> Response:
        """Show one sheet of what is to be set."""
        self._lapse()
        if request.token not in self.operators:
            return self._returned("A1", 401, ("Authorization", "operator not known"))
        unset = [row for row in self.rows.values() if row["status"] == "UNSET"]
        sheets = max(1, -(-len(unset) // _PER_SHEET))
        asked = request.query.get("sheet", "1")
        if not asked.isdigit() or not 1 <= int(asked) <= sheets:
            return self._returned(
                "A1", 400, ("sheet", f"there are sheets 1 to {sheets}")
            )
        sheet = int(asked)
        onward = f"{request.path}?sheet={sheet + 1}" if sheet < sheets else None
        return Response(
            200,
            {
                "form": "A1",
                "sheet": sheet,
                "ofSheets": sheets,
                "announcements": unset[(sheet - 1) * _PER_SHEET : sheet * _PER_SHEET],
                "nextSheet": onward,
            },
        )

    def _form(
        self, form: str, request: Request, **boxes: type
    ) -> tuple[dict[str, Any], Response | None]:
        """Read a form; a box named turn__minutes stands for minutes in turn."""
        self._lapse()
        if request.token not in self.operators:
            return {}, self._returned(
                form, 401, ("Authorization", "operator not known")
            )
        try:
            body = request.json()
        except ValueError:
            return {}, self._returned(
                form, 400, ("(whole form)", "not legible as JSON")
            )
        if not isinstance(body, dict):
            return {}, self._returned(form, 400, ("(whole form)", "must be an object"))
        found, remarks = {}, []
        for name, kind in boxes.items():
            outer, _, inner = name.partition("__")
            holder = body if not inner else body.get(outer)
            value = holder.get(inner or outer) if isinstance(holder, dict) else None
            box = name.replace("__", ".")
            if value is None or value == "":
                remarks.append((box, "must be filled in"))
            elif type(value) is not kind:
                words = {str: "text", int: "a whole number", bool: "true or false"}
                remarks.append((box, f"must be {words[kind]}"))
            found[name] = value
        return found, self._returned(form, 400, *remarks) if remarks else None

    def _shown(self, turn: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in turn.items() if name[0] != "_"}

    def claim(self, request: Request) -> Response:
        """Give an operator a turn at an announcement."""
        given, returned = self._form(
            "A2", request, announcementRef=str, turn__operator=str, turn__minutes=int
        )
        if returned:
            return returned
        me = self.operators[request.token]["agent_id"]
        row = self.rows.get(given["announcementRef"])
        if row is None:
            return self._returned("A2", 404, ("announcementRef", "not on our sheets"))
        remarks = []
        if given["turn__operator"] != me:
            remarks.append(("turn.operator", f"you are on the roll as {me}"))
        if not 1 <= given["turn__minutes"] <= 30:
            remarks.append(("turn.minutes", "a turn lasts from 1 to 30 minutes"))
        if remarks:
            return self._returned("A2", 400, *remarks)
        if row["status"] != "UNSET":
            words = f"is {row['status']}, choose another"
            return self._returned("A2", 409, ("announcementRef", words))
        row["status"] = "ON DUTY"
        until = time.time() + 60 * given["turn__minutes"]
        turn = {
            "turnNo": f"{row['station']['code']}-T{501 + len(self.turns)}",
            "announcementRef": row["announcementRef"],
            "operator": me,
            "status": "ON DUTY",
            "endsAt": _clock(until),
            "_until": until,
        }
        self.turns[turn["turnNo"]] = turn
        self.book.claimed(row["announcementRef"])
        return Response(
            200, {"form": "A2", "result": "ACCEPTED", "turn": self._shown(turn)}
        )

    def _turn(
        self, form: str, request: Request, number: str
    ) -> tuple[dict[str, Any], Response | None]:
        turn = self.turns.get(number)
        if turn is None:
            return {}, self._returned(form, 404, ("turnNo", "no such turn"))
        if turn["operator"] != self.operators[request.token]["agent_id"]:
            return {}, self._returned(form, 403, ("turnNo", "another operator's turn"))
        if turn["status"] == "RUN OUT":
            words = f"this turn ran out at {turn['endsAt']}, take a new one"
            return {}, self._returned(form, 410, ("turnNo", words))
        return turn, None

    def submit(self, request: Request) -> Response:
        """Take the text for the board."""
        given, returned = self._form(
            "A3", request, turnNo=str, boardText=str, language=str
        )
        if returned:
            return returned
        turn, returned = self._turn("A3", request, given["turnNo"])
        if returned:
            return returned
        if turn["status"] != "ON DUTY":
            words = f"the board of this turn is {turn['status']}"
            return self._returned("A3", 409, ("turnNo", words))
        row, remarks = self.rows[turn["announcementRef"]], []
        if given["language"] != row["language"]:
            remarks.append(("language", f"this announcement is in '{row['language']}'"))
        if given["boardText"].strip() != row["wording"].upper():
            remarks.append(("boardText", "is not the wording in capitals"))
        if remarks:
            return self._returned("A3", 422, *remarks)
        turn["status"] = row["status"] = "SET"
        return Response(
            200, {"form": "A3", "result": "ACCEPTED", "turn": self._shown(turn)}
        )

    def complete(self, request: Request) -> Response:
        """Sign off the board and pay."""
        given, returned = self._form("A4", request, turnNo=str, signedOffBy=str)
        if returned:
            return returned
        turn, returned = self._turn("A4", request, given["turnNo"])
        if returned:
            return returned
        if turn["status"] == "ON DUTY":
            return self._returned("A4", 409, ("turnNo", "the board is not set yet"))
        if given["signedOffBy"] != turn["operator"]:
            words = f"only {turn['operator']}, whose turn it is, may sign"
            return self._returned("A4", 400, ("signedOffBy", words))
        row, operator = (
            self.rows[turn["announcementRef"]],
            self.operators[request.token],
        )
        if turn["status"] == "SET":
            turn["status"] = row["status"] = "SIGNED OFF"
            self.book.pay(row["announcementRef"], row["feeCredits"])
            operator["credits"] += row["feeCredits"]
        answer = {"form": "A4", "result": "ACCEPTED", "turn": self._shown(turn)}
        return Response(200, answer | {"paidCredits": row["feeCredits"]})
