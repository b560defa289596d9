"""A crossword publisher's large-print desk, written in Ruby on Rails.

The clues of old puzzles are set again in capitals for the large print edition. Setters take a
clue (an "assignment"), send the set text, and are paid when they complete the assignment.

Wants: claim {"assignment": {"clue_id": 311}}; submit {"assignment": {"id": 1, "set_text": ".."}};
complete {"assignment": {"id": 1}}. As Rails does (wrap_parameters), the same fields are also taken
without the wrapper. Answers: records under their name; 400 for a missing parameter, 404 for a
record that is not there, 422 {"errors": {field: [..]}} for validations. A setter has at most
three assignments in hand.
"""

import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

CLUES = [
    (
        311,
        "Weekend Cryptic 2217",
        "1 across",
        "Sailor in the garden finds a hidden treasure",
        6,
        "open",
    ),
    (
        312,
        "Weekend Cryptic 2217",
        "14 down",
        "Strange tale about a bird that never comes late",
        7,
        "open",
    ),
    (
        315,
        "Weekend Cryptic 2217",
        "22 across",
        "Old king loses his head over a small coin",
        6,
        "assigned",
    ),
    (
        327,
        "Quick Crossword 981",
        "3 down",
        "Large grey animal with a very long memory",
        4,
        "open",
    ),
    (
        328,
        "Quick Crossword 981",
        "9 across",
        "Instrument played by striking wooden bars",
        4,
        "open",
    ),
    (
        340,
        "Holiday Jumbo 44",
        "17 across",
        "River flowing through the capital of Austria and three more",
        9,
        "open",
    ),
    (
        341,
        "Holiday Jumbo 44",
        "60 down",
        "Composer who wrote nine symphonies and lost his hearing",
        9,
        "open",
    ),
]
ATTRIBUTES = {"id", "clue_id", "set_text"}
IN_HAND = 3


class Crossword(Backend):
    """The large-print desk."""

    def __init__(self) -> None:
        super().__init__()
        self.clues: dict[Any, dict[str, Any]] = {
            number: {
                "id": number,
                "puzzle": puzzle,
                "position": position,
                "clue_text": text,
                "house_style": "Large print: set the clue text in full capitals, wording unchanged.",
                "fee": fee,
                "status": status,
            }
            for number, puzzle, position, text, fee, status in CLUES
        }
        self.earnable: dict[str, str] = {
            str(c["id"]): c["clue_text"]
            for c in self.clues.values()
            if c["status"] == "open"
        }
        self.setters: dict[str, dict[str, Any]] = {}
        self.assignments: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return dict(self.earnable)

    # -- answers as Rails gives them

    def missing(self, request: Request) -> Response:
        return Response(404, {"status": 404, "error": "Not Found"})

    def _invalid(self, **errors: str) -> Response:
        full = [
            f"{name.replace('_', ' ').capitalize()} {text}"
            for name, text in errors.items()
        ]
        return Response(
            422,
            {
                "errors": {name: [text] for name, text in errors.items()},
                "full_messages": full,
            },
        )

    def _params(
        self, request: Request
    ) -> tuple[dict[str, Any], dict[str, Any], Response | None]:
        """Return the setter, the assignment's parameters, and the refusal if there is one."""
        setter = self.setters.get(request.token)
        if setter is None:
            return (
                {},
                {},
                Response(
                    401,
                    "HTTP Token: Access denied.\n",
                    {"WWW-Authenticate": 'Token realm="Setters"'},
                ),
            )
        try:
            params = request.json() if request.raw.strip() else {}
        except ValueError:
            return (
                {},
                {},
                Response(
                    400,
                    {
                        "status": 400,
                        "error": "Bad Request",
                        "message": "Error occurred while parsing request parameters",
                    },
                ),
            )
        if not isinstance(params, dict):
            params = {"_json": params}
        inner = params.get("assignment")
        if inner is None:  # wrap_parameters format: [:json]
            inner = {
                name: value for name, value in params.items() if name in ATTRIBUTES
            }
        if not inner or not isinstance(inner, dict):
            message = "param is missing or the value is empty: assignment"
            return (
                {},
                {},
                Response(
                    400, {"status": 400, "error": "Bad Request", "message": message}
                ),
            )
        return setter, inner, None

    @staticmethod
    def _integer(value: object) -> int | None:
        """Cast as Active Record does."""
        try:
            return int(value) if isinstance(value, int | str) else None
        except ValueError:
            return None

    def _find(
        self, setter: dict[str, Any], params: dict[str, Any]
    ) -> tuple[dict[str, Any], Response | None]:
        if params.get("id") in (None, ""):
            message = "Couldn't find Assignment without an ID"
        else:
            found = self.assignments.get(self._integer(params["id"]) or 0)
            if found and found["setter_id"] == setter["agent_id"]:
                return found, None
            message = f"Couldn't find Assignment with 'id'={params['id']}"
        return {}, Response(
            404, {"status": 404, "error": "Not Found", "message": message}
        )

    # -- actions

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(24)
        self.setters[token] = {
            "agent_id": f"setter-{len(self.setters) + 1}",
            "credits": 100,
        }
        return Response(
            200, {**self.setters[token], "access_token": token, "role": "setter"}
        )

    def marketplace(self, request: Request) -> Response:
        return self.tasks(request)

    def tasks(self, request: Request) -> Response:
        limit = self._integer(request.query.get("limit", "50")) or 50
        clues = list(self.clues.values())
        return Response(
            200, {"clues": clues[: max(limit, 1)], "meta": {"total_count": len(clues)}}
        )

    def claim(self, request: Request) -> Response:
        setter, params, refusal = self._params(request)
        if refusal:
            return refusal
        if params.get("clue_id") in (None, ""):
            return self._invalid(clue_id="can't be blank")
        clue = self.clues.get(self._integer(params["clue_id"]) or 0)
        if clue is None:
            return self._invalid(clue="must exist")
        own = [
            a for a in self.assignments.values() if a["setter_id"] == setter["agent_id"]
        ]
        for assignment in own:
            if assignment["clue_id"] == clue["id"]:
                return Response(200, {"assignment": assignment})
        if clue["status"] != "open":
            return self._invalid(clue="has already been taken")
        if sum(a["state"] != "completed" for a in own) >= IN_HAND:
            return self._invalid(
                base=f"You have {IN_HAND} assignments in hand, complete one first"
            )
        clue["status"] = "assigned"
        assignment = {
            "id": len(self.assignments) + 1,
            "clue_id": clue["id"],
            "setter_id": setter["agent_id"],
            "clue_text": clue["clue_text"],
            "set_text": None,
            "fee": clue["fee"],
            "state": "assigned",
            "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time())),
        }
        self.assignments[assignment["id"]] = assignment
        self.book.claimed(str(clue["id"]))
        return Response(201, {"assignment": assignment})

    def submit(self, request: Request) -> Response:
        setter, params, refusal = self._params(request)
        if refusal:
            return refusal
        assignment, refusal = self._find(setter, params)
        if refusal:
            return refusal
        text = params.get("set_text")
        if text is None or not str(text).strip():
            return self._invalid(set_text="can't be blank")
        if assignment["state"] == "completed":
            return self._invalid(
                state="Event 'submit' cannot transition from 'completed'."
            )
        if text != assignment["clue_text"].upper():
            return self._invalid(set_text="is not the clue text in full capitals")
        assignment.update(set_text=text, state="submitted")
        return Response(200, {"assignment": assignment})

    def complete(self, request: Request) -> Response:
        setter, params, refusal = self._params(request)
        if refusal:
            return refusal
        assignment, refusal = self._find(setter, params)
        if refusal:
            return refusal
        if assignment["state"] == "assigned":
            return self._invalid(
                state="Event 'complete' cannot transition from 'assigned'."
            )
        if assignment["state"] == "submitted":
            assignment["state"] = "completed"
            self.clues[assignment["clue_id"]]["status"] = "set"
            setter["credits"] += assignment["fee"]
            self.book.pay(str(assignment["clue_id"]), assignment["fee"])
        return Response(200, {"assignment": assignment, "setter": setter})
