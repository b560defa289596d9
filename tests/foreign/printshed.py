"""The Print Shed: a volunteers' workshop and its small Flask service.

One person wrote it for friends: every refusal is a plain sentence (text/html, as Flask
sends a returned string), the list is a bare list, and each job goes by its number. Work
is handed in with a slip, looked at when the job is finished, and thanked in credits then.
"""
# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import secrets
from datetime import date, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_WORDS = [
    ("sign for the tool wall", "please put the hammers back", 6, 9),
    ("poster for saturday", "repair café, two till five", 11, 4),
    ("label for the kettle", "descale me on the first of the month", 4, 14),
    ("card for the door", "ring twice and wait", 5, 7),
    ("notice for the press", "mind your fingers: the platen bites", 16, 12),
    ("header for the newsletter", "what we mended in march", 8, 10),
    ("tag for the bicycle", "brakes done, gears to do", 7, 5),
]
_NAMES = ["alder", "birch", "cedar", "damson", "elder", "fir", "gorse", "hazel"]
_HTML = {"Content-Type": "text/html; charset=utf-8"}
_PAGE = """<!doctype html>
<html lang=en>
<title>404 Not Found</title>
<h1>Not Found</h1>
<p>The requested URL was not found on the server. If you entered the URL manually please \
check your spelling and try again.</p>
"""


class _Sorry(Exception):  # noqa: N818
    """A plain sentence for the caller."""

    def __init__(self, sentence: str, status: int = 400) -> None:
        super().__init__(sentence)
        self.status = status


def _friendly(work: Any) -> Any:
    """Turn a _Sorry into its sentence, as the app's error handler does."""

    def action(self: "PrintShed", request: Request) -> Response:
        try:
            return work(self, request)
        except _Sorry as sorry:
            return Response(sorry.status, str(sorry), dict(_HTML))

    return action


class PrintShed(Backend):
    """Jobs on the board; one at a time for everybody."""

    def __init__(self) -> None:
        super().__init__()
        self._people: dict[str, dict[str, Any]] = {}  # token -> who
        self._jobs: dict[int, dict[str, Any]] = {}
        self._slips: dict[str, dict[str, Any]] = {}
        for number, (what, words, thanks, days) in enumerate(_WORDS, 1):
            self._jobs[number] = {
                "number": number,
                "what": f"A {what}. Just the words below, all in capitals.",
                "words": words,
                "thanks": f"{thanks} credits",
                "needed by": (date.today() + timedelta(days=days)).isoformat(),  # noqa: DTZ011
                "taken": False,
            }

    def texts(self) -> dict[str, str]:
        """Return the words of every job."""
        return {str(number): job["words"] for number, job in self._jobs.items()}

    def missing(self, request: Request) -> Response:
        """Return Flask's own page."""
        return Response(404, _PAGE, dict(_HTML))

    def register(self, request: Request) -> Response:
        """Let somebody in."""
        self.book.registrations += 1
        token = secrets.token_hex(12)
        who = {"id": f"friend-{len(self._people) + 1}", "credits": 100, "slip": ""}
        self._people[token] = who
        return Response(
            200,
            {
                "agent_id": who["id"],
                "access_token": token,
                "credits": 100,
                "hello": "Welcome to the Print Shed! Have a look at the board.",
            },
        )

    def tasks(self, request: Request) -> Response:
        """Show the board to whoever asks: the jobs that nobody has taken."""
        board = [job for job in self._jobs.values() if not job["taken"]]
        limit = request.query.get("limit", "")
        return Response(200, board[: int(limit)] if limit.isdigit() else board)

    def marketplace(self, request: Request) -> Response:
        """Show the same board."""
        return self.tasks(request)

    def _come_in(self, request: Request) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return who asks, and what they sent."""
        if not request.token:
            raise _Sorry(
                "Who are you? Please send the token you got when you joined.", 401
            )
        who = self._people.get(request.token)
        if who is None:
            raise _Sorry("We don't know that token. Did you join?", 401)
        try:
            sent = request.json()
        except ValueError:
            raise _Sorry("Sorry, we could not read that. Is it really JSON?") from None
        if not isinstance(sent, dict):
            raise _Sorry("Please send a JSON object, the thing with the curly braces.")
        return who, sent

    def _slip(self, who: dict[str, Any], sent: dict[str, Any]) -> dict[str, Any]:
        name = sent.get("slip")
        if not name:
            raise _Sorry(
                'Which slip is it for? Put what we gave you when you took the job in "slip".'
            )
        slip = self._slips.get(str(name))
        if slip is None or slip["who"] is not who:
            raise _Sorry(f"We never gave you a slip called {name}.", 404)
        if slip["done"]:
            raise _Sorry("That one is finished and thanked for already.", 409)
        return slip

    @_friendly
    def claim(self, request: Request) -> Response:
        """Give a job to somebody who has none."""
        who, sent = self._come_in(request)
        if sent.get("job") in (None, ""):
            raise _Sorry(
                'You did not say which job. Put its number from the board in "job".'
            )
        text = str(sent["job"])
        job = self._jobs.get(int(text)) if re.fullmatch(r"\d{1,6}", text) else None
        if job is None:
            raise _Sorry(f"There is no job {text} on the board.", 404)
        when = sent.get("ready")
        if not when:
            raise _Sorry(
                'When will it be ready? Put a day in "ready", written like'
                f" {job['needed by']}."
            )
        try:
            day = date.fromisoformat(when)
        except (TypeError, ValueError):
            raise _Sorry(
                f'We can\'t read {when} as a day. Write "ready" like {job["needed by"]},'
                " please."
            ) from None
        if day < date.today():  # noqa: DTZ011
            raise _Sorry(f"But {when} is over already! Pick a later day.")
        if day > date.fromisoformat(job["needed by"]):
            raise _Sorry(
                f"That is too late, I'm afraid: we need it by {job['needed by']}."
            )
        if job["taken"]:
            raise _Sorry(
                "Somebody was quicker, that job is taken. Have another look at the board.",
                409,
            )
        if who["slip"]:
            raise _Sorry(
                f"One job at a time, please. Finish the one on slip {who['slip']} first.",
                409,
            )
        job["taken"] = True
        self.book.claimed(str(job["number"]))
        name = f"{secrets.choice(_NAMES)}-{job['number']}{secrets.randbelow(900) + 100}"
        self._slips[name] = {"who": who, "job": job, "work": None, "done": False}
        who["slip"] = name
        return Response(
            200, {"slip": name, "say": "It's yours, thank you! Keep the slip."}
        )

    @_friendly
    def submit(self, request: Request) -> Response:
        """Take the work as it is; it is looked at when the job is finished."""
        who, sent = self._come_in(request)
        slip = self._slip(who, sent)
        work = sent.get("work")
        if not work:
            raise _Sorry('And where is the work? Put your finished words in "work".')
        if not isinstance(work, str):
            raise _Sorry('"work" should be just the words, as one piece of text.')
        slip["work"] = work
        return Response(
            200, {"say": "Got it, it's on the bench. Finish the job when you're ready."}
        )

    @_friendly
    def complete(self, request: Request) -> Response:
        """Look at the work and say thanks, or hand it back."""
        who, sent = self._come_in(request)
        slip = self._slip(who, sent)
        if slip["work"] is None:
            raise _Sorry("There is nothing on the bench for that slip yet.", 409)
        if sent.get("checked") is not True:
            raise _Sorry(
                'Have you read it over once more? If so, send "checked" as true.'
            )
        signed = sent.get("signed")
        if not isinstance(signed, str) or not signed.strip():
            raise _Sorry('Please sign it: any name you like, in "signed".')
        job = slip["job"]
        if slip["work"] != job["words"].upper():
            slip["work"] = None
            raise _Sorry(
                "Hmm, that is not quite the words in capitals. We've taken it off the"
                " bench; hand it in again, please.",
                422,
            )
        slip["done"], who["slip"] = True, ""
        thanks = int(job["thanks"].split()[0])
        who["credits"] += thanks
        self.book.pay(str(job["number"]), thanks)
        return Response(
            200,
            {
                "say": f"Lovely work, {signed.strip()}. {thanks} credits to you.",
                "you have now": who["credits"],
            },
        )
