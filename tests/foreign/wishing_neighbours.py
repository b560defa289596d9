"""A neighbourhood's list of members, of whom some have a wish that others may fulfil.

The marketplace answers with who lives where, under `users`: what there is to do is one
wish inside of a member, and only the association's leaflet says so. Whoever wants to help
says the `no` of a wish, and thanks are given in credits.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]
WISHES = (
    ("Ada", "fig lane", "please feed the cat on sunday", 4),
    ("Bruno", "fig lane", "a letter to the water board", 7),
    ("Chiara", "the old mill", "somebody to sing with", 2),
    ("Dov", "the old mill", "help me name the goat", 5),
    ("Edda", "station road", "shout this over the fence", 3),
)


@dataclass
class Member:
    door: int
    forename: str
    street: str
    wish: str
    thanks: int
    stage: str = "open"
    helper: str = ""

    @property
    def wish_no(self) -> int:
        return 4100 + 7 * self.door

    def shown(self) -> dict[str, object]:
        wish = {"no": self.wish_no, "say": self.wish, "stage": self.stage}
        return {
            "forename": self.forename,
            "address": {"street": self.street, "door": self.door},
            "wish": {**wish, "thanks": {"credits": self.thanks}},
        }


class RefusedError(Exception):
    """The association says no."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.response = Response(status, {"error": why})


def telling(action: Action) -> Action:
    """Answer with the refusal where the action raises one."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except RefusedError as no:
            return no.response

    return answer


class WishingNeighbours(Backend):
    # As `journeyman contract` proposes it, and the leaflet says.
    settings = {
        "contract": {
            "listing": {
                "records": "association.users",
                "id": "wish.no",
                "text": "wish.say",
                "reward": "wish.thanks.credits",
                "status": "wish.stage",
            }
        }
    }

    def __init__(self) -> None:
        super().__init__()
        self._helpers: dict[str, str] = {}
        members = [Member(door, *one) for door, one in enumerate(WISHES, 3)]
        self._members = {one.wish_no: one for one in members}

    def texts(self) -> dict[str, str]:
        return {str(no): one.wish for no, one in self._members.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        helper, token = f"helper-{self.book.registrations}", secrets.token_urlsafe(24)
        self._helpers[token] = helper
        answer = {"agent_id": helper, "access_token": token, "credits": 100}
        return Response(200, answer)

    def listing(self) -> dict[str, Any]:
        """Return all members, also those whose wish is fulfilled."""
        users = [one.shown() for one in self._members.values()]
        return {"association": {"founded": 1974, "users": users}}

    def tasks(self, request: Request) -> Response:
        return Response(200, self.listing())

    @telling
    def claim(self, request: Request) -> Response:
        helper, member, _ = self._read(request)
        if member.stage != "open":
            raise RefusedError(409, "somebody is helping already")
        member.stage, member.helper = "taken", helper
        self.book.claimed(str(member.wish_no))
        return Response(200, {"helping": member.forename})

    @telling
    def submit(self, request: Request) -> Response:
        helper, member, said = self._read(request, "words")
        if (member.helper, member.stage) != (helper, "taken"):
            raise RefusedError(409, "you are not helping here")
        if said["words"] != member.wish.upper():
            raise RefusedError(409, "that is not what was wished for")
        member.stage = "fulfilled"
        return Response(200, {"fulfilled": True})

    @telling
    def complete(self, request: Request) -> Response:
        helper, member, _ = self._read(request)
        if (member.helper, member.stage) != (helper, "fulfilled"):
            raise RefusedError(409, "this wish is not fulfilled by you")
        member.stage = "thanked"
        self.book.pay(str(member.wish_no), member.thanks)
        return Response(200, {"credits_earned": member.thanks})

    def _read(self, request: Request, *more: str) -> tuple[str, Member, dict[str, Any]]:
        if request.token not in self._helpers:
            raise RefusedError(401, "please bring your token")
        try:
            said = request.json()
        except ValueError:
            said = None
        if not isinstance(said, dict):
            raise RefusedError(400, "please write a JSON object")
        for name in ("no", *more):
            if name not in said:
                raise RefusedError(400, f'please send "{name}"')
        if not isinstance(said["no"], int):
            raise RefusedError(400, '"no" must be a number')
        if said["no"] not in self._members:
            raise RefusedError(404, "nobody has such a wish")
        return self._helpers[request.token], self._members[said["no"]], said
