"""St Brannoc's Helpers: a parish noticeboard that volunteers wrote for themselves.

Jobs hang on the noticeboard by team; a helper takes a slip, which carries the wording,
and brings it back. The thank-you is given when the slip comes back right; signing off
only closes it. Every answer is a 200 with "Ok"; only a stranger gets a 401.
"""

import secrets
from datetime import date
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_TEAMS = {
    "Large Print": "Margaret Oakes",
    "Notices and Banners": "Deacon Paul",
    "Food Pantry": "Joyce Adeyemi",
}
_JOBS = [
    # number, team, title, wording, thank-you
    (14, "Large Print", "Hymn line for Sunday", "Abide with me, fast falls the eve", 8),
    (15, "Large Print", "Order of service, page 1", "Please stand if you are able", 12),
    (17, "Notices and Banners", "Harvest banner", "All good gifts around us", 20),
    (21, "Notices and Banners", "Hall door notice", "Tea is served from half past", 6),
    (22, "Food Pantry", "Shelf label", "Tinned beans & pulses - take two", 5),
    (26, "Food Pantry", "Opening times card", "Tuesdays 10 to 12, side door", 15),
]
_AT_ONCE = 2


def _sorry(problem: str, **more: Any) -> Response:
    return Response(200, {"Ok": False, "Problem": problem, **more}, refused=True)


_STRANGER = "Sorry, we don't know you. Please join first and send your token as Bearer."


class StBrannocsHelpers(Backend):
    """The parish's network."""

    def __init__(self) -> None:
        super().__init__()
        self._jobs: dict[int, dict[str, Any]] = {
            no: {"no": no, "team": team, "title": title, "text": text, "thanks": thanks}
            for no, team, title, text, thanks in _JOBS
        }
        self._helpers: dict[str, dict[str, Any]] = {}  # by token
        self._slips: dict[str, dict[str, Any]] = {}
        self._taken: dict[int, dict[str, Any]] = {}  # job number -> slip

    def texts(self) -> dict[str, str]:
        return {str(no): job["text"] for no, job in self._jobs.items()}

    def missing(self, request: Request) -> Response:
        return Response(
            404, {"Ok": False, "Problem": "There is no such page on our noticeboard."}
        )

    def _form(
        self, request: Request, **wanted: str
    ) -> tuple[dict[str, Any], dict[str, Any], Response | None]:
        """Return the helper, the form as it was filled in, and what is wrong with it."""
        helper = self._helpers.get(request.token)
        if helper is None:
            return {}, {}, Response(401, {"Ok": False, "Problem": _STRANGER})
        try:
            form = request.json()
        except ValueError:
            form = None
        if not isinstance(form, dict):
            return helper, {}, _sorry("We couldn't read your form. Is it JSON?")
        blank = [name for name in wanted if form.get(name) in (None, "")]
        if blank:
            return (
                helper,
                form,
                _sorry("Some parts of the form were left blank.", LeftBlank=blank),
            )
        kinds: dict[str, Any] = {
            "a whole number": int,
            "some words": str,
            "true or false": bool,
            "a date like 2025-03-30": str,
        }
        for name, kind in wanted.items():
            value = form[name]
            fits = type(value) is kinds[kind]
            if fits and "date" in kind:
                try:
                    date.fromisoformat(value)
                except ValueError:
                    fits = False
            if not fits:
                return helper, form, _sorry(f"{name} should be {kind}.")
        return helper, form, None

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        helper = {"no": str(210 + self.book.registrations), "credits": 100}
        token = "stb_" + secrets.token_urlsafe(18)
        self._helpers[token] = helper
        return Response(
            200,
            {
                "agent_id": helper["no"],
                "access_token": token,
                "credits": 100,
                "Welcome": f"Thank you for joining us! You are helper {helper['no']}.",
            },
        )

    def checkout(self, request: Request) -> Response:
        return Response(200, {"ok": False, "mode": "not offered"}, refused=True)

    def post(self, request: Request) -> Response:
        _, _, wrong = self._form(request)
        return wrong or _sorry(
            "Only team coordinators may pin up a job. Please ring the parish office."
        )

    def agents(self, request: Request) -> Response:
        return Response(
            200,
            {
                "Ok": True,
                "Helpers": [helper["no"] for helper in self._helpers.values()],
            },
        )

    directory = agents

    def marketplace(self, request: Request) -> Response:
        waiting = [job for no, job in self._jobs.items() if no not in self._taken]
        in_all = len(waiting)
        limit = request.query.get("limit")
        if limit is not None:
            if not limit.isdecimal() or int(limit) < 1:
                return _sorry("limit should be a whole number, 1 or more.")
            waiting = waiting[: int(limit)]
        return Response(
            200,
            {
                "Ok": True,
                "Noticeboard": [
                    {
                        "Team": team,
                        "Coordinator": who,
                        "JobsWaiting": [
                            {
                                "JobNo": job["no"],
                                "Title": job["title"],
                                "WhatToDo": (
                                    "Write the wording in CAPITAL LETTERS. You get the wording with your slip."
                                ),
                                "ThankYou": f"{job['thanks']} credits",
                            }
                            for job in waiting
                            if job["team"] == team
                        ],
                    }
                    for team, who in _TEAMS.items()
                ],
                "JobsWaitingInAll": in_all,
            },
        )

    def tasks(self, request: Request) -> Response:
        if request.token not in self._helpers:
            return Response(401, {"Ok": False, "Problem": _STRANGER})
        return self.marketplace(request)

    def claim(self, request: Request) -> Response:
        helper, form, wrong = self._form(
            request,
            JobNo="a whole number",
            HelperNo="some words",
            ReadyBy="a date like 2025-03-30",
            AgreesToPrivacyPromise="true or false",
        )
        if wrong:
            return wrong
        job = self._jobs.get(form["JobNo"])
        if job is None:
            return _sorry(f"We have no job number {form['JobNo']} on the noticeboard.")
        if form["HelperNo"] != helper["no"]:
            return _sorry(
                "HelperNo should be your own helper number, the agent_id you were given when you joined."
            )
        if not form["AgreesToPrivacyPromise"]:
            return _sorry(
                "We can only give jobs to helpers who agree to our privacy promise."
            )
        if job["no"] in self._taken:
            slip = self._taken[job["no"]]
            if slip["helper"] is not helper:
                return _sorry("Another helper has already taken this job.")
            return _sorry("You have already taken this job.", SlipNo=slip["SlipNo"])
        mine = [slip for slip in self._slips.values() if slip["helper"] is helper]
        out = [slip["SlipNo"] for slip in mine if slip["stage"] == "With helper"]
        if len(out) >= _AT_ONCE:
            return _sorry(
                f"You may have {_AT_ONCE} jobs at a time. Please bring one back first.",
                SlipsWithYou=out,
            )
        slip = {
            "SlipNo": f"{job['team'][0]}{job['no']}-{secrets.randbelow(900) + 100}",
            "helper": helper,
            "job": job,
            "stage": "With helper",
        }
        self._slips[slip["SlipNo"]] = self._taken[job["no"]] = slip
        self.book.claimed(str(job["no"]))
        return Response(
            200,
            {
                "Ok": True,
                "Message": "Bless you! The job is yours.",
                "Slip": {
                    "SlipNo": slip["SlipNo"],
                    "JobNo": job["no"],
                    "Wording": job["text"],
                    "ReadyBy": form["ReadyBy"],
                    "Stage": slip["stage"],
                },
            },
        )

    def submit(self, request: Request) -> Response:
        helper, form, wrong = self._form(
            request,
            SlipNo="some words",
            FinishedWording="some words",
            MinutesSpent="a whole number",
        )
        if wrong:
            return wrong
        slip = self._slips.get(form["SlipNo"])
        if slip is None or slip["helper"] is not helper:
            return _sorry(f"You have no slip numbered {form['SlipNo']}.")
        if slip["stage"] != "With helper":
            return _sorry("You have brought this one back already. Thank you!")
        if form["MinutesSpent"] < 0:
            return _sorry("MinutesSpent can't be less than nothing.")
        job = slip["job"]
        if form["FinishedWording"] != job["text"].upper():
            return _sorry(
                "The coordinator sent this back: it isn't the wording in capitals. "
                "The slip is still with you, do have another go.",
                Stage=slip["stage"],
            )
        slip["stage"] = "Brought back"
        helper["credits"] += job["thanks"]
        self.book.pay(str(job["no"]), job["thanks"])
        return Response(
            200,
            {
                "Ok": True,
                "Message": "Lovely, thank you. Please sign the slip off when you can.",
                "ThankYouGiven": f"{job['thanks']} credits",
                "YourCredits": helper["credits"],
                "Stage": slip["stage"],
            },
        )

    def complete(self, request: Request) -> Response:
        helper, form, wrong = self._form(
            request, SlipNo="some words", NoteForTheTeam="some words"
        )
        if wrong:
            return wrong
        slip = self._slips.get(form["SlipNo"])
        if slip is None or slip["helper"] is not helper:
            return _sorry(f"You have no slip numbered {form['SlipNo']}.")
        if slip["stage"] == "With helper":
            return _sorry("Please bring the finished wording back before signing off.")
        if slip["stage"] == "Signed off":
            return _sorry("This slip is signed off already.")
        slip["stage"] = "Signed off"
        return Response(
            200, {"Ok": True, "Message": "All done.", "Stage": "Signed off"}
        )
