"""The language service of a German city, its own system, grown by hand since 2014.

Stack: scripts over one database; three generations of names. The award of files (claim) is
from 2014: German capitals, every answer a 200 with "ok" 1 or 0. The delivery (submit) is
from 2018: German camel case, 400 on errors. The settlement (complete) is from 2022, in
English, for outside agents. Amounts are strings. Notes are German with English beside it.

Listing: {"stand", "anzahl", "akten": [{"id", "AKTENZ", "BETREFF", "SPRACHE", "WOERTER",
"leistung", "service_en", "verguetung": "18", "einheit", "status"}]}; the text is not shown.

Claim wants {"AKTENZ": "SD-2015/0417", "STELLE": own agent_id}; answers {"ok": 1, "VERGABE":
"V-00031", "FRIST", "VORLAGE": text}; again: the same. Refusal: {"ok": 0, "MELDUNG"}, 200.
Submit wants {"vergabe": "V-00031", "sprache": "de", "zielText": ".."}; answers {"ok": 1,
"vergabe", "status": "geliefert"}. Refusal: 400 {"ok": 0, "fehler": [{"feld", "text"}]}.
Complete wants {"award_no": "V-00031", "delivery_confirmed": "yes"}; answers {"ok": 1,
"status": "settled", "credited": "18", "account": "118"}; again: credited "0". Refusal: 422
{"ok": 0, "error"}. Without a token: 401. Unknown fields are not looked at.
"""

import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

AKTEN = [
    (
        4417,
        "SD-2015/0417",
        "Schild Freibad",
        "Das Springen vom Beckenrand ist nicht erlaubt",
        14,
    ),
    (
        4502,
        "SD-2016/0051",
        "Aushang Bürgeramt",
        "Bitte ziehen Sie zuerst eine Nummer",
        12,
    ),
    (
        4688,
        "SD-2017/0203",
        "Parkordnung",
        "Hunde sind an der kurzen Leine zu führen",
        16,
    ),
    (
        4731,
        "SD-2018/0014",
        "Straßenbauamt",
        "Diese Straße ist bis Ende Mai gesperrt",
        17,
    ),
    (
        4790,
        "SD-2019/0120",
        "Stadtbibliothek",
        "Die Rückgabe ist auch nachts am Automaten möglich",
        19,
    ),
    (
        4803,
        "SD-2020/0007",
        "Wochenmarkt",
        "Der Markt beginnt mittwochs um sieben Uhr",
        15,
    ),
    (
        4911,
        "SD-2022/0316",
        "Feuerwehr",
        "Zufahrt für Rettungsfahrzeuge jederzeit freihalten",
        11,
    ),
    (
        5002,
        "SD-2024/0088",
        "Museum",
        "Im großen Saal darf ohne Blitz fotografiert werden",
        18,
    ),
]


def _nein(meldung: str) -> Response:
    """Refuse as the scripts of 2014 do."""
    return Response(200, {"ok": 0, "MELDUNG": meldung}, refused=True)


def _fehler(fehler: list[tuple[str, str]]) -> Response:
    """Refuse as the delivery of 2018 does."""
    listed = [{"feld": feld, "text": text} for feld, text in fehler]
    return Response(400, {"ok": 0, "fehler": listed})


def _error(error: str, status: int = 422) -> Response:
    """Refuse as the settlement of 2022 does."""
    return Response(status, {"ok": 0, "error": error})


def _text(value: Any) -> str:
    """Return a field as the database gets it: a trimmed string; nothing for no scalar."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    return str(value).strip()


class City(Backend):
    """The Sprachendienst."""

    def __init__(self) -> None:
        super().__init__()
        self._stellen: dict[str, dict[str, Any]] = {}  # by token
        self._vergaben: dict[str, dict[str, Any]] = {}
        self._akten: dict[str, dict[str, Any]] = {
            aktenz: {
                "vorlage": vorlage,
                "credits": credits_,
                "vergabe": None,
                "zeile": {
                    "id": number,
                    "AKTENZ": aktenz,
                    "BETREFF": betreff,
                    "SPRACHE": "de",
                    "WOERTER": str(len(vorlage.split())),
                    "leistung": "Großschreibung (ß wird SS)",
                    "service_en": "Put the source text (VORLAGE) into upper case",
                    "verguetung": str(credits_),
                    "einheit": "credits",
                    "status": "offen",
                },
            }
            for number, aktenz, betreff, vorlage, credits_ in AKTEN
        }

    def texts(self) -> dict[str, str]:
        return {aktenz: akte["vorlage"] for aktenz, akte in self._akten.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(20)
        kennung = f"EXT{2300 + len(self._stellen)}"
        self._stellen[token] = {"kennung": kennung, "konto": 100}
        return Response(
            200,
            {
                "ok": 1,
                "agent_id": kennung,
                "access_token": token,
                "credits": 100,
                "hinweis": "Kennung bitte bei jeder Vergabe als STELLE angeben",
            },
        )

    def marketplace(self, request: Request) -> Response:
        limit = _text(request.query.get("limit"))
        zeilen = [
            akte["zeile"]
            for akte in self._akten.values()
            if akte["zeile"]["status"] == "offen"
        ]
        if limit.isascii() and limit.isdigit() and int(limit):
            zeilen = zeilen[: int(limit)]
        stand = time.strftime("%d.%m.%Y %H:%M")
        return Response(200, {"stand": stand, "anzahl": len(zeilen), "akten": zeilen})

    tasks = marketplace

    def claim(self, request: Request) -> Response:
        stelle = self._stellen.get(request.token)
        if not stelle:
            return self._fremd()
        body = self._body(request)
        if body is None:
            return _nein(
                "Anfrage nicht lesbar, JSON-Objekt erwartet (JSON object expected)"
            )
        aktenz = _text(body.get("AKTENZ"))
        kennung = _text(body.get("STELLE"))
        if not aktenz:
            return _nein("AKTENZ fehlt (file number AKTENZ is missing)")
        if not kennung:
            return _nein("STELLE fehlt (STELLE is missing: your agent_id)")
        if kennung != stelle["kennung"]:
            return _nein(
                "STELLE passt nicht zur Anmeldung (STELLE is not your agent_id)"
            )
        akte = self._akten.get(aktenz)
        if not akte:
            return _nein(f"Akte {aktenz} nicht gefunden (no such AKTENZ)")
        vergabe = akte["vergabe"]
        if vergabe and vergabe["stelle"] is not stelle:
            return _nein(f"Akte {aktenz} ist schon vergeben (already awarded)")
        if not vergabe:
            nummer = f"V-{31 + len(self._vergaben):05d}"
            vergabe = {"nummer": nummer, "stelle": stelle, "akte": akte}
            vergabe["frist"] = time.strftime(
                "%d.%m.%Y", time.gmtime(time.time() + 172800)
            )
            akte["vergabe"] = self._vergaben[nummer] = vergabe
            akte["zeile"]["status"] = "vergeben"
            self.book.claimed(aktenz)
        return Response(
            200,
            {
                "ok": 1,
                "MELDUNG": "Vergabe eingetragen",
                "VERGABE": vergabe["nummer"],
                "AKTENZ": aktenz,
                "FRIST": vergabe["frist"],
                "VORLAGE": akte["vorlage"],
            },
        )

    def submit(self, request: Request) -> Response:
        stelle = self._stellen.get(request.token)
        if not stelle:
            return self._fremd()
        body = self._body(request)
        if body is None:
            return _fehler([("", "JSON-Objekt erwartet (JSON object expected)")])
        nummer, sprache = _text(body.get("vergabe")), _text(body.get("sprache"))
        ziel = _text(body.get("zielText"))
        fehler = []
        vergabe = self._vergaben.get(nummer)
        if not nummer:
            fehler.append(("vergabe", "Pflichtfeld (required): Nummer der Vergabe"))
        elif not vergabe or vergabe["stelle"] is not stelle:
            fehler.append(("vergabe", f"unbekannt (unknown): {nummer}"))
        if not sprache:
            fehler.append(
                ("sprache", "Pflichtfeld (required): SPRACHE der Akte, z.B. de")
            )
        elif sprache != "de":
            fehler.append(
                ("sprache", "stimmt nicht mit der Akte überein (expected: de)")
            )
        if not ziel:
            fehler.append(("zielText", "Pflichtfeld (required): der fertige Text"))
        if fehler or not vergabe:
            return _fehler(fehler)
        zeile = vergabe["akte"]["zeile"]
        if zeile["status"] == "erledigt":
            return _fehler([("vergabe", "bereits abgerechnet (already settled)")])
        if ziel != vergabe["akte"]["vorlage"].upper():
            text = "Prüfung nicht bestanden: nicht die VORLAGE in Großbuchstaben (not upper case of VORLAGE)"
            return _fehler([("zielText", text)])
        zeile["status"] = "geliefert"
        return Response(
            200,
            {
                "ok": 1,
                "vergabe": nummer,
                "status": "geliefert",
                "naechsterSchritt": "Abrechnung (complete)",
            },
        )

    def complete(self, request: Request) -> Response:
        stelle = self._stellen.get(request.token)
        if not stelle:
            return self._fremd()
        body = self._body(request)
        if body is None:
            return _error("request body must be a JSON object", 400)
        nummer = _text(body.get("award_no"))
        if not nummer:
            return _error("award_no is required (number of the award, V-...)")
        vergabe = self._vergaben.get(nummer)
        if not vergabe or vergabe["stelle"] is not stelle:
            return _error(f"award_no {nummer} not found", 404)
        confirmed = _text(body.get("delivery_confirmed")).lower()
        if confirmed not in ("yes", "no"):
            return _error("delivery_confirmed is required: 'yes' or 'no'")
        akte = vergabe["akte"]
        if akte["zeile"]["status"] == "vergeben":
            return _error(f"award {nummer}: nothing delivered yet", 409)
        if confirmed == "no":
            return _error(
                f"award {nummer}: not settled, delivery was not confirmed", 409
            )
        credited = 0
        if akte["zeile"]["status"] == "geliefert":
            akte["zeile"]["status"] = "erledigt"
            credited = akte["credits"]
            stelle["konto"] += credited
            self.book.pay(akte["zeile"]["AKTENZ"], credited)
        return Response(
            200,
            {
                "ok": 1,
                "award_no": nummer,
                "status": "settled",
                "credited": str(credited),
                "account": str(stelle["konto"]),
            },
        )

    @staticmethod
    def _fremd() -> Response:
        message = "Anmeldung erforderlich (bearer token required)"
        return Response(401, {"ok": 0, "MELDUNG": message})

    @staticmethod
    def _body(request: Request) -> dict[str, Any] | None:
        try:
            body = request.json()
        except ValueError:
            return None
        return body if isinstance(body, dict) else None
