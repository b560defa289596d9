"""A browser game of town criers: Clojure, reitit with malli coercion, Datomic beneath.

Keywords keep their namespaces on the wire ("quest/id"). Coercion answers with the schema,
the errors and their humanized form; the game's own rules are ex-info maps with a type and
a message. Keys that the schema does not know are stripped, as reitit does.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_SCROLLS = [
    ("The Lost Goose", "a grey goose was seen on the bridge at dusk", 12, 1),
    ("Market Day", "eels, candles and cheap rope at the west gate", 20, 1),
    ("The Reeve's Tax", "three pennies a chimney, payable by midsummer", 45, 3),
    ("Fair Weather", "the almanac promises sun until thursday", 16, 1),
    ("A Wedding", "alys the cooper weds tom of the toll-house", 28, 2),
    ("The Night Watch", "bolt your shutters: wolves in the upper wood", 33, 2),
]
_SPACE = uuid.UUID("5b1f2d0e-7c4a-4f0e-9a55-0c2b8e6f1d37")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_BOARD, _SATCHEL = 4, 2
_TONES = ["plain", "merry", "solemn"]

_Check = Callable[[Any], str]


def _uuid(value: Any) -> str:
    """Check a :uuid."""
    return "" if _UUID.fullmatch(str(value)) else "should be a uuid"


def _hours(value: Any) -> str:
    """Check an [:int {:min 1, :max 24}]."""
    if not isinstance(value, int) or isinstance(value, bool):
        return "should be an integer"
    return "" if 1 <= value <= 24 else "should be between 1 and 24"


def _string(value: Any) -> str:
    """Check a :string."""
    return "" if isinstance(value, str) else "should be a string"


def _tone(value: Any) -> str:
    """Check an enum."""
    return "" if value in _TONES else "should be either plain, merry or solemn"


_PLEDGE_ID = ("pledge/id", ":uuid", _uuid)
_TONE = ("cry/tone", '[:enum "plain" "merry" "solemn"]', _tone)
_HOURS = ("pledge/hours", "[:int {:min 1, :max 24}]", _hours)
_CLAIM = [("quest/id", ":uuid", _uuid), _HOURS]
_SUBMIT = [_PLEDGE_ID, ("cry/words", ":string", _string), _TONE]
_COMPLETE = [_PLEDGE_ID]


def _coerce(body: Any, schema: list[tuple[str, str, _Check]]) -> Response | None:
    """Return reitit's answer to a body that malli does not take, or None."""
    form = "[:map " + " ".join(f"[:{key} {of}]" for key, of, _ in schema) + "]"
    errors: list[dict[str, Any]] = []
    humanized: Any = {}
    if isinstance(body, dict):
        for key, of, check in schema:
            said = check(body[key]) if key in body else "missing required key"
            if not said:
                continue
            error = {"path": [key], "in": [key], "schema": of, "value": body.get(key)}
            if key not in body:
                error["type"] = "malli.core/missing-key"
            errors.append(error)
            humanized[key] = [said]
        if not errors:
            return None
    else:
        humanized = ["invalid type"]
        bad = {"path": [], "in": [], "schema": form, "value": body}
        errors.append({**bad, "type": "malli.core/invalid-type"})
    kind = {"type": "reitit.coercion/request-coercion", "coercion": "malli"}
    where = {"in": ["request", "body-params"], "schema": form, "value": body}
    return Response(400, {**kind, **where, "errors": errors, "humanized": humanized})


def _rule(status: int, kind: str, message: str, **data: Any) -> Response:
    """Return an ex-info of the game's own rules."""
    found = {key.replace("__", "/"): value for key, value in data.items()}
    more = {"data": found} if found else {}
    return Response(status, {"type": f"criers/{kind}", "message": message, **more})


class TownCriers(Backend):
    """A cry that pleases the crowd is paid on the spot; turning it in frees the satchel."""

    def __init__(self) -> None:
        super().__init__()
        self._purses: dict[str, dict[str, Any]] = {}  # by token
        self._pledges: dict[str, dict[str, Any]] = {}
        self._quests = {
            str(uuid.uuid5(_SPACE, title)): (title, words, bounty, stars)
            for title, words, bounty, stars in _SCROLLS
        }

    def texts(self) -> dict[str, str]:
        """Return the scroll of every quest."""
        return {quest: scroll[1] for quest, scroll in self._quests.items()}

    def missing(self, request: Request) -> Response:
        """Answer as reitit's default handler does: with nothing."""
        return Response(404, "")

    def register(self, request: Request) -> Response:
        """Let a crier into the town."""
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), uuid.uuid4().hex
        self._purses[token] = {"agent": agent, "credits": 100}
        start = {"agent_id": agent, "access_token": token, "credits": 100}
        return Response(200, {**start, "crier/rank": "novice"})

    def _board(self) -> dict[str, Any]:
        """Return what hangs on the board: the first few quests that nobody has pledged."""
        taken = {pledge["quest"] for pledge in self._pledges.values()}
        free = [quest for quest in self._quests if quest not in taken]
        quests = []
        for quest in free[:_BOARD]:
            title, words, bounty, stars = self._quests[quest]
            shown = {"quest/id": quest, "quest/title": title, "quest/stars": stars}
            shown["quest/deed"] = "Cry the words of the scroll in capitals."
            shown["quest/scroll"] = words
            quests.append({**shown, "quest/bounty": {"credits": bounty}})
        return {"quests": quests, "more?": len(free) > _BOARD}

    def tasks(self, request: Request) -> Response:
        """Show a crier the board, and what the satchel holds."""
        crier = self._purses.get(request.token)
        if crier is None:
            return self._stranger()
        return Response(200, {"board": self._board(), "satchel": self._satchel(crier)})

    def marketplace(self, request: Request) -> Response:
        """Show the board to anybody."""
        return Response(200, {"board": self._board()})

    def agents(self, request: Request) -> Response:
        """List the criers in town."""
        criers = [{"crier/id": crier["agent"]} for crier in self._purses.values()]
        return Response(200, {"criers": criers})

    directory = agents

    def post(self, request: Request) -> Response:
        """Keep the board to the reeve."""
        return _rule(
            403, "not-the-reeve", "Only the reeve may pin quests to the board."
        )

    def _stranger(self) -> Response:
        """Turn away whoever shows no token."""
        said = "Halt, stranger! Show a token: Authorization: Bearer <access_token>."
        return _rule(401, "stranger", said)

    def _satchel(self, crier: dict[str, Any]) -> dict[str, Any]:
        """Return the pledges that a crier carries."""
        carried = [
            {
                "pledge/id": key,
                "quest/id": pledge["quest"],
                "pledge/state": pledge["state"],
            }
            for key, pledge in self._pledges.items()
            if pledge["agent"] == crier["agent"] and pledge["state"] != "turned-in"
        ]
        return {"pledges": carried, "capacity": _SATCHEL}

    def _enter(
        self, request: Request, schema: list[tuple[str, str, _Check]]
    ) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]] | Response:
        """Return the crier, the body and the pledge it names; or the refusal."""
        crier = self._purses.get(request.token)
        if crier is None:
            return self._stranger()
        try:
            body = request.json() if request.raw else None
        except ValueError:
            return Response(400, 'Malformed "application/json" request.')
        refusal = _coerce(body, schema)
        if refusal:
            return refusal
        if _PLEDGE_ID not in schema:
            return crier, body, {}
        pledge = self._pledges.get(body["pledge/id"].lower())
        if pledge is None or pledge["agent"] != crier["agent"]:
            return _rule(404, "no-such-pledge", "You have made no such pledge.")
        return crier, body, pledge

    def claim(self, request: Request) -> Response:
        """Pledge a quest."""
        entered = self._enter(request, _CLAIM)
        if isinstance(entered, Response):
            return entered
        crier, body, _ = entered
        quest = body["quest/id"].lower()
        if quest not in self._quests:
            return _rule(404, "no-such-quest", "No such quest hangs on the board.")
        for key, pledge in self._pledges.items():
            if pledge["quest"] == quest:
                if pledge["agent"] != crier["agent"]:
                    return _rule(
                        409, "quest-taken", "Another crier has pledged this quest."
                    )
                said = "You have pledged this quest already."
                return _rule(409, "already-pledged", said, pledge__id=key)
        satchel = self._satchel(crier)
        if len(satchel["pledges"]) >= _SATCHEL:
            said = "Your satchel is full. Complete a pledge that you carry first."
            return _rule(409, "satchel-full", said, **satchel)
        key = str(uuid.uuid4())
        until = datetime.now(UTC) + timedelta(hours=body["pledge/hours"])
        self._pledges[key] = {
            "quest": quest,
            "agent": crier["agent"],
            "state": "pledged",
        }
        self.book.claimed(quest)
        made = {"pledge/id": key, "quest/id": quest, "pledge/state": "pledged"}
        made["pledge/until"] = until.strftime("%Y-%m-%dT%H:%M:%SZ")
        return Response(200, {"pledge": made})

    def submit(self, request: Request) -> Response:
        """Hear a cry and pay for it if it is right."""
        entered = self._enter(request, _SUBMIT)
        if isinstance(entered, Response):
            return entered
        crier, body, pledge = entered
        if pledge["state"] != "pledged":
            return _rule(409, "already-cried", "The town has heard this one already.")
        _, words, bounty, _ = self._quests[pledge["quest"]]
        if body["cry/words"] != words.upper():
            said = "The crowd jeers: those are not the words of the scroll in capitals."
            return _rule(422, "jeered", said)
        pledge["state"] = "cried"
        crier["credits"] += bounty
        self.book.pay(pledge["quest"], bounty)
        purse = {"credits": crier["credits"], "gained": bounty}
        return Response(
            200, {"crowd": "cheers", "pledge/state": "cried", "purse": purse}
        )

    def complete(self, request: Request) -> Response:
        """Turn in a pledge, which makes room in the satchel."""
        entered = self._enter(request, _COMPLETE)
        if isinstance(entered, Response):
            return entered
        crier, _, pledge = entered
        if pledge["state"] == "pledged":
            return _rule(409, "not-yet-cried", "You have not cried this scroll yet.")
        if pledge["state"] == "turned-in":
            return _rule(409, "turned-in", "You have turned this pledge in already.")
        pledge["state"] = "turned-in"
        return Response(
            200, {"pledge/state": "turned-in", "satchel": self._satchel(crier)}
        )
