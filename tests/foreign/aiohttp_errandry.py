"""Errandry, an aiohttp service of three people who dislike status codes.

A middleware turns whatever a handler raises into 200 with `went: badly` and a sentence
written by hand; there is no validation library. `went` is the only thing to look at.
"""

import json
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

BOARD: list[tuple[int, str, str, int]] = [
    (4107, "Shop sign", "fresh bread from six in the morning", 12),
    (4108, "Brass plate", "please ring twice and wait by the door", 9),
    (4111, "Lorry side", "carting, moving and storage since 1931", 17),
    (4112, "Platform board", "mind the step when leaving the train", 8),
    (4115, "Paint tin", "stir well, thin with water, keep from frost", 14),
    (4119, "Garden gate", "the dog is friendlier than the gardener", 11),
]

# What we call the sorts of things that JSON can hold.
SORTS: dict[type, str] = {
    str: "text",
    bool: "a yes-or-no",
    int: "a whole number",
    float: "a number with a fraction",
    list: "a list",
    dict: "an object",
    type(None): "nothing (null)",
}


class Declined(Exception):
    """What a handler raises to say no; the middleware writes it out."""

    def __init__(self, why: str, **more: Any) -> None:
        super().__init__(why)
        self.why = why
        self.more = more


def went_well(**said: Any) -> Response:
    """Return a yes."""
    return Response(200, {"went": "well", **said})


def went_badly(why: str, **more: Any) -> Response:
    """Return a no, which has status 200 as everything here."""
    return Response(200, {"went": "badly", "why": why, **more}, refused=True)


def quoted(names: Any) -> str:
    """Return names as a person lists them."""
    names = [f'"{name}"' for name in names]
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def read(request: Request) -> dict[str, Any]:
    """Return the body as an object."""
    if not request.raw.strip():
        raise Declined("You sent us nothing to read. We read JSON objects.")
    try:
        body = request.json()
    except UnicodeDecodeError:
        raise Declined("We could not read that: it is not UTF-8.") from None
    except json.JSONDecodeError as error:
        raise Declined(
            f"We could not read that as JSON: {error.msg.lower()}, "
            f"line {error.lineno}, column {error.colno}."
        ) from None
    if not isinstance(body, dict):
        raise Declined(f"We read JSON objects; that was {SORTS[type(body)]}.")
    return body


def want(body: dict[str, Any], **fields: tuple[type, str]) -> list[Any]:
    """Return the values of the fields, or say everything that is wrong with them."""
    wrong: list[str] = []
    for name, (sort, meaning) in fields.items():
        if name not in body:
            wrong.append(f'We need "{name}" and it was not there: {meaning}.')
        elif type(body[name]) is not sort:
            wrong.append(
                f'"{name}" came as {SORTS[type(body[name])]}; we want {SORTS[sort]}.'
            )
        elif body[name] == "":
            wrong.append(f'"{name}" was there but empty: {meaning}.')
    strange = [name for name in body if name not in fields]
    if strange:
        wrong.append(f"We have no use for {quoted(strange)} here.")
    if wrong:
        raise Declined(" ".join(wrong))
    return [body[name] for name in fields]


class Errandry(Backend):
    """Errands by number; going out gives a slip, and then only the slip counts."""

    def __init__(self) -> None:
        super().__init__()
        self.runners: dict[str, dict[str, Any]] = {}  # by token
        self.slips: dict[str, dict[str, Any]] = {}
        self.errands: dict[int, dict[str, Any]] = {
            no: {"title": title, "copy": text, "pay": pay, "status": "waiting"}
            for no, title, text, pay in BOARD
        }

    def texts(self) -> dict[str, str]:
        """Return every errand's text by its number."""
        return {str(no): text for no, _, text, _ in BOARD}

    # --- the middleware

    def guarded(self, handler: Any, request: Request) -> Response:
        """Run a handler and turn what it raises into an answer."""
        try:
            return handler(request)  # type: ignore[no-any-return]
        except Declined as no:
            return went_badly(no.why, **no.more)

    def missing(self, request: Request) -> Response:
        """Say that there is nothing here, with 200 too."""
        return went_badly(f"There is nothing at {request.method} {request.path}.")

    def who(self, request: Request) -> dict[str, Any]:
        """Return the runner that the token belongs to."""
        if not request.token:
            raise Declined(
                "We do not know who is asking. Send the access_token from your "
                'sign-up in the "Authorization" header, after the word Bearer.'
            )
        if request.token not in self.runners:
            raise Declined("That access_token is not one of ours.")
        return self.runners[request.token]

    def slip_of(self, runner: dict[str, Any], number: str) -> dict[str, Any]:
        """Return a runner's own slip."""
        slip = self.slips.get(number)
        if slip is None:
            raise Declined(
                f'We never wrote a slip "{number}". You get one when you go out on '
                "an errand."
            )
        if slip["runner"] is not runner:
            raise Declined(f'Slip "{number}" is not yours.')
        return slip

    # --- the handlers

    def register(self, request: Request) -> Response:
        """Sign up a runner."""
        return self.guarded(self.sign_up, request)

    def sign_up(self, request: Request) -> Response:
        """Give a name and a token; nothing is wanted."""
        want(read(request))
        token = f"er-{secrets.token_urlsafe(24)}"
        runner = {"name": f"runner-{len(self.runners) + 31}", "credits": 100}
        self.runners[token] = runner
        self.book.registrations += 1
        return went_well(
            agent_id=runner["name"],
            access_token=token,
            credits=100,
            hello="Good to have you. The board is open to everybody.",
        )

    def tasks(self, request: Request) -> Response:
        """Show the board."""
        return self.guarded(self.show_board, request)

    marketplace = tasks

    def show_board(self, request: Request) -> Response:
        """Show every errand; the finished ones stay up for the day."""
        limit = request.query.get("limit", "50")
        if not limit.isdecimal() or limit == "0":
            raise Declined(
                f'"limit" should be a whole number from 1 up; you sent "{limit}".'
            )
        shown = list(self.errands.items())[: int(limit)]
        return went_well(
            board={
                "headed": "Write the copy out in capital letters, nothing else changed",
                "errands": [
                    {
                        "no": no,
                        "title": errand["title"],
                        "copy": errand["copy"],
                        "pays": f"{errand['pay']} credits",
                        "status": errand["status"],
                    }
                    for no, errand in shown
                ],
            }
        )

    def claim(self, request: Request) -> Response:
        """Go out on an errand."""
        return self.guarded(self.go_out, request)

    def go_out(self, request: Request) -> Response:
        """Write a slip."""
        runner = self.who(request)
        [no] = want(
            read(request),
            errand=(int, 'it is the "no" of the errand on the board'),
        )
        if no not in self.errands:
            raise Declined(f"There is no errand {no} on our board.")
        errand = self.errands[no]
        if errand["status"] == "done":
            raise Declined(f"Errand {no} is done and paid for.")
        if errand["status"] == "out":
            slip = self.slips[errand["slip"]]
            if slip["runner"] is not runner:
                raise Declined(f"Somebody else is already out on errand {no}.")
            raise Declined(f"You are already out on errand {no}.", slip=errand["slip"])
        number = f"{secrets.token_hex(2).upper()}/{no}"
        errand.update(status="out", slip=number)
        self.slips[number] = {"runner": runner, "no": no, "brought": None}
        self.book.claimed(str(no))
        return went_well(
            slip=number, note=f"Errand {no} is yours. Bring it back on this slip."
        )

    def submit(self, request: Request) -> Response:
        """Bring something back."""
        return self.guarded(self.bring_back, request)

    def bring_back(self, request: Request) -> Response:
        """Lay it on the counter; nobody looks at it before the runner is finished."""
        runner = self.who(request)
        number, brought = want(
            read(request),
            slip=(str, "it is the slip you got when you went out"),
            brought=(str, "it is what you bring back, the finished copy as text"),
        )
        slip = self.slip_of(runner, number)
        if self.errands[slip["no"]]["status"] == "done":
            raise Declined(f'Slip "{number}" is settled; there is nothing to bring.')
        slip["brought"] = brought
        return went_well(note=f'It is on the counter under slip "{number}".')

    def complete(self, request: Request) -> Response:
        """Ask to be paid."""
        return self.guarded(self.settle, request)

    def settle(self, request: Request) -> Response:
        """Look at what was brought, and pay for it."""
        runner = self.who(request)
        [number] = want(
            read(request), slip=(str, "it is the slip you got when you went out")
        )
        slip = self.slip_of(runner, number)
        errand = self.errands[slip["no"]]
        if errand["status"] == "done":
            raise Declined(f'Slip "{number}" is settled already.')
        if slip["brought"] is None:
            raise Declined(f'Nothing was brought back on slip "{number}" yet.')
        if slip["brought"] != errand["copy"].upper():
            slip["brought"] = None
            raise Declined(
                f'We looked at what you brought on slip "{number}" and it is not '
                "the copy in capital letters. Bring it again."
            )
        errand["status"] = "done"
        runner["credits"] += errand["pay"]
        self.book.pay(str(slip["no"]), errand["pay"])
        return went_well(
            note=f"Thank you. {errand['pay']} credits are yours.",
            purse=f"{runner['credits']} credits",
        )
