"""Emberhollow, a game studio whose town's characters hire agents to speak for them.

The quest board is grouped by region; a quest has a slug, loot of credits and
experience, and a hook. Its line is `null` (with line_locked) until the quest is
accepted, with a role: then the dialogue is told, together with a run id. The spoken
line goes to the run and gives a turn-in code, without which there is no loot: complete
wants run and code, and pays. Refuses with a code and a hint that shows the body wanted.
Accepting again while the run is on tells the same again. Turned-in quests leave the
board; two are played by others.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

QUESTS = [
    # region, slug, giver, credits, experience, hook, line
    (
        "Ashfall Quay",
        "lamplighters-errand",
        "Old Maren",
        20,
        150,
        "Old Maren has trouble with the lamps.",
        "Light the seven lamps before the tide turns, or none at all.",
    ),
    (
        "Ashfall Quay",
        "salt-and-silver",
        "Broker Teel",
        35,
        220,
        "Broker Teel is counting her coins again.",
        "Two sacks of salt for one of silver, and not a word to the guard.",
    ),
    (
        "Ashfall Quay",
        "the-cracked-bell",
        "Harbourmaster Ovo",
        15,
        90,
        "The bell sounds wrong.",
        "She cracked the night the fleet went out and did not come home.",
    ),
    (
        "Mirewood",
        "frog-parliament",
        "Speaker Quoll",
        25,
        180,
        "The frogs have convened.",
        "The house of frogs will sit until the rain has ceased!",
    ),
    (
        "Mirewood",
        "borrowed-boots",
        "Wick the Tinker",
        10,
        60,
        "Wick is barefoot.",
        "I lent my boots to a ghost. Would you ask for them back?",
    ),
    (
        "Cinder Pass",
        "toll-of-names",
        "Gate Warden Issk",
        40,
        300,
        "The warden wants no gold.",
        "Pay with a name that nobody remembers, traveller.",
    ),
    (
        "Cinder Pass",
        "last-of-the-goats",
        "Shepherd Una",
        30,
        210,
        "Una has lost a goat.",
        "He is white, he is stubborn, and he answers to Admiral.",
    ),
]
OTHERS = [
    ("Mirewood", "witchlight-census", "Granny Fenn", 18, 120,
     "Somebody must count them.", "Count the lights twice, child."),
    ("Cinder Pass", "ember-mail", "Postrider Dace", 22, 140,
     "The mail is smoking.", "This letter must not be opened near hay."),
]  # fmt: skip
ROLES = ["scribe", "bard", "herald"]


class Emberhollow(Backend):
    """Quests, runs, loot."""

    def __init__(self) -> None:
        """Pin the quests up."""
        super().__init__()
        self.quests = {row[1]: row for row in sorted(QUESTS + OTHERS)}
        self.status = {row[1]: "available" for row in QUESTS}
        self.status |= {row[1]: "on_run" for row in OTHERS}
        self.players: dict[str, str] = {}
        self.wallet: dict[str, int] = {}
        self.runs: dict[str, dict[str, str]] = {}

    def texts(self) -> dict[str, str]:
        """Return the line of every quest that is to be had."""
        return {row[1]: row[6] for row in QUESTS}

    @staticmethod
    def _no(status: int, code: str, hint: str) -> Response:
        return Response(status, {"error": {"code": code, "hint": hint}})

    def missing(self, request: Request) -> Response:
        """Say that the way is blocked."""
        return self._no(404, "E_NO_ROUTE", f"nothing at {request.path}")

    def register(self, request: Request) -> Response:
        """Let a player in."""
        self.book.registrations += 1
        player, token = f"ply_{secrets.token_hex(4)}", secrets.token_urlsafe(24)
        self.players[token] = player
        self.wallet[player] = 100
        body = {
            "player": {"agent_id": player, "title": "Stranger", "level": 1},
            "session": {"access_token": token, "scheme": "Bearer"},
            "wallet": {"credits": 100},
        }
        return Response(200, body)

    @staticmethod
    def _loot(row: Any) -> dict[str, int]:
        return {"credits": row[3], "xp": row[4]}

    def marketplace(self, request: Request) -> Response:
        """Show the quest board."""
        asked = request.query.get("limit", "")
        limit = int(asked) if asked.isdecimal() and int(asked) else len(self.quests)
        open_ = [q for q in self.quests.values() if self.status[q[1]] != "turned_in"]
        regions: dict[str, list[dict[str, Any]]] = {}
        for row in open_[:limit]:
            quest = {
                "quest": row[1],
                "giver": row[2],
                "status": self.status[row[1]],
                "hook": row[5],
                "line": None,
                "line_locked": "told when the quest is accepted",
                "loot": self._loot(row),
            }
            regions.setdefault(row[0], []).append(quest)
        board = {"season": 7, "quests_total": len(open_), "regions": regions}
        return Response(200, {"board": board})

    def tasks(self, request: Request) -> Response:
        """Show the board to a player."""
        return self._denied(request) or self.marketplace(request)

    def _denied(self, request: Request) -> Response | None:
        if request.token in self.players:
            return None
        hint = "send Authorization: Bearer <session.access_token>"
        return self._no(401, "E_NO_SESSION", hint)

    def _body(self, request: Request, names: tuple[str, ...], hint: str) -> Any:
        """Return the body if it has the texts of these names."""
        if denied := self._denied(request):
            return denied
        try:
            body = request.json()
        except ValueError:
            return self._no(400, "E_NOT_JSON", hint)
        for name in names:
            value = body.get(name) if isinstance(body, dict) else None
            if not isinstance(value, str) or not value.strip():
                return self._no(400, "E_BAD_BODY", hint)
        return body

    def claim(self, request: Request) -> Response:
        """Start a run of a quest."""
        hint = f'send {{"quest": "<slug>", "role": "{"|".join(ROLES)}"}}'
        body = self._body(request, ("quest", "role"), hint)
        if isinstance(body, Response):
            return body
        slug, player = body["quest"], self.players[request.token]
        if slug not in self.quests:
            hint = f"there is no quest {slug} on the board"
            return self._no(404, "E_NO_QUEST", hint)
        if body["role"] not in ROLES:
            return self._no(400, "E_BAD_ROLE", f"role is one of {', '.join(ROLES)}")
        for key, run in self.runs.items():
            if run["quest"] == slug and run["player"] == player:
                if self.status[slug] == "turned_in":
                    return self._no(409, "E_QUEST_DONE", "you have done this quest")
                return Response(200, self._tell(key))
        if self.status[slug] != "available":
            return self._no(409, "E_QUEST_TAKEN", "somebody else is on this quest")
        key = f"run-{secrets.token_hex(4)}"
        code = f"EMB-{secrets.randbelow(9000) + 1000}"
        self.runs[key] = {"quest": slug, "player": player, "code": code}
        self.status[slug] = "on_run"
        self.book.claimed(slug)
        return Response(200, self._tell(key))

    def _tell(self, key: str) -> dict[str, Any]:
        row = self.quests[self.runs[key]["quest"]]
        run = {"run_id": key, "quest": row[1], "stage": self.status[row[1]]}
        return {"run": run, "dialogue": {"speaker": row[2], "line": row[6]}}

    def _run(self, request: Request, name: str, hint: str) -> Any:
        """Return the player's run and the text of that name."""
        body = self._body(request, ("run_id", name), hint)
        if isinstance(body, Response):
            return body
        run = self.runs.get(body["run_id"])
        if not run or run["player"] != self.players[request.token]:
            return self._no(404, "E_NO_RUN", "run_id comes from accepting a quest")
        if self.status[run["quest"]] == "turned_in":
            return self._no(409, "E_RUN_OVER", "this run is over")
        return run, body[name]

    def submit(self, request: Request) -> Response:
        """Hear the line."""
        hint = 'send {"run_id": "run-...", "spoken_line": "<the line, performed>"}'
        found = self._run(request, "spoken_line", hint)
        if isinstance(found, Response):
            return found
        run, line = found
        if line != self.quests[run["quest"]][6].upper():
            giver = self.quests[run["quest"]][2]
            return self._no(422, "E_LINE_FLUFFED", f"{giver} shakes the head: again")
        self.status[run["quest"]] = "ready_to_turn_in"
        body = {"stage": "ready_to_turn_in", "turn_in_code": run["code"]}
        return Response(200, {"run": body, "next": "turn in (complete) for the loot"})

    def complete(self, request: Request) -> Response:
        """Hand the loot out."""
        hint = 'send {"run_id": "run-...", "turn_in_code": "EMB-...."}'
        found = self._run(request, "turn_in_code", hint)
        if isinstance(found, Response):
            return found
        run, code = found
        if self.status[run["quest"]] != "ready_to_turn_in" or code != run["code"]:
            hint = "the turn-in code is told when the line is spoken"
            return self._no(409, "E_BAD_CODE", hint)
        row = self.quests[run["quest"]]
        self.status[row[1]] = "turned_in"
        self.book.pay(row[1], row[3])
        self.wallet[run["player"]] += row[3]
        wallet = {"credits": self.wallet[run["player"]]}
        body = {"run": {"quest": row[1], "stage": "turned_in"}, "loot": self._loot(row)}
        return Response(200, body | {"wallet": wallet})
