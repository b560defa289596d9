"""An exam board: examiners are allocated scripts and return fair copies of them.

An in-house interface in English: PascalCase, whole numbers for identifiers, a bare
array as listing, all complaints at once in `Reasons`. The answer on a script is shown
only to the examiner to whom it is allocated; the return of a right copy earns the fee
at once, and closing the allocation afterwards is a formality.
"""

import base64
import secrets
from collections.abc import Callable
from typing import Any, ClassVar

from tests.foreign.backend import Backend, Request, Response

_TASKS = [
    # script, paper, series, candidate's answer, fee
    (22071, "GEOG/1", "Summer", "A meander forms on the outer bend.", 16),
    (22074, "GEOG/1", "Summer", "Longshore drift moves sand along a beach.", 21),
    (22090, "HIST/2", "Summer", "The Reform Act of 1832 widened the vote.", 40),
    (22103, "BIOL/1", "Autumn", "Osmosis needs a partially permeable membrane.", 25),
    (22118, "ENGL/3", "Autumn", "The narrator cannot be trusted after chapter 4.", 33),
]
_INSTRUCTION = "Prepare the fair copy: the candidate's answer in block capitals."


def _refuse(status: int, *reasons: tuple[str, str | None, str]) -> Response:
    return Response(
        status,
        {
            "Outcome": "Refused",
            "Reasons": [
                {"Reference": reference, "Item": item, "Explanation": explanation}
                for reference, item, explanation in reasons
            ],
        },
    )


class ExamBoard(Backend):
    """The Fenwick Examinations Board, Script Services."""

    _kinds: ClassVar[dict[str, tuple[Callable[[Any], bool], str]]] = {
        "number": (
            lambda v: isinstance(v, int) and not isinstance(v, bool),
            "a whole number",
        ),
        "text": (lambda v: isinstance(v, str) and bool(v.strip()), "text"),
        "minutes": (
            lambda v: isinstance(v, int) and not isinstance(v, bool) and 1 <= v <= 600,
            "a whole number between 1 and 600",
        ),
        "yes": (lambda v: v is True, "true"),
    }

    def __init__(self) -> None:
        super().__init__()
        self._examiners: dict[str, dict[str, Any]] = {}  # by token
        self._scripts: dict[int, dict[str, Any]] = {
            number: {
                "ScriptNumber": number,
                "PaperCode": paper,
                "Series": series,
                "Instruction": _INSTRUCTION,
                "FeeInCredits": fee,
                "Standing": "Unallocated",
            }
            for number, paper, series, _, fee in _TASKS
        }
        self._answers = {number: answer for number, _, _, answer, _ in _TASKS}
        self._allocations: dict[str, dict[str, Any]] = {}  # by reference

    def texts(self) -> dict[str, str]:
        """Return the candidate's answer on every script."""
        return {str(number): answer for number, answer in self._answers.items()}

    def missing(self, request: Request) -> Response:
        """Return the answer to a service that the board does not offer."""
        return _refuse(
            404, ("FEB-001", None, "The Board does not offer the service requested.")
        )

    def register(self, request: Request) -> Response:
        """Appoint an examiner."""
        self.book.registrations += 1
        number = 5200 + 13 * self.book.registrations
        token = base64.urlsafe_b64encode(secrets.token_bytes(24)).decode()
        self._examiners[token] = {"ExaminerNumber": number, "Credits": 100}
        return Response(
            200,
            {
                "agent_id": f"FEB-E{number}",
                "access_token": token,
                "credits": 100,
                "ExaminerNumber": number,
            },
        )

    def agents(self, request: Request) -> Response:
        """List the panel of examiners."""
        return Response(
            200,
            [
                {"ExaminerNumber": e["ExaminerNumber"], "Appointment": "Current"}
                for e in self._examiners.values()
            ],
        )

    def tasks(self, request: Request) -> Response:
        """List the scripts awaiting an examiner."""
        waiting = [s for s in self._scripts.values() if s["Standing"] == "Unallocated"]
        limit = request.query.get("limit", "")
        shown = waiting[: int(limit)] if limit.isdecimal() and int(limit) else waiting
        return Response(200, shown, {"X-Scripts-Awaiting": str(len(waiting))})

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        """Allocate a script to an examiner."""
        body = self._form(request, ScriptNumber="number", ExaminerNumber="number")
        if isinstance(body, Response):
            return body
        examiner = self._examiners[request.token]
        if body["ExaminerNumber"] != examiner["ExaminerNumber"]:
            sentence = "This is not the number given to you on registration."
            return _refuse(403, ("FEB-210", "ExaminerNumber", sentence))
        script = self._scripts.get(body["ScriptNumber"])
        if script is None:
            sentence = "The Board holds no script of this number."
            return _refuse(404, ("FEB-211", "ScriptNumber", sentence))
        if script["Standing"] != "Unallocated":
            sentence = "This script has already been allocated."
            return _refuse(409, ("FEB-212", "ScriptNumber", sentence))
        script["Standing"] = "Allocated"
        reference = f"{script['PaperCode']}/{script['ScriptNumber']}"
        self._allocations[reference] = {
            "Script": script,
            "Examiner": examiner["ExaminerNumber"],
        }
        self.book.claimed(str(script["ScriptNumber"]))
        return Response(
            200,
            {
                "Outcome": "Allocated",
                "AllocationReference": reference,
                "Script": {
                    **script,
                    "CandidateAnswer": self._answers[script["ScriptNumber"]],
                },
            },
        )

    def submit(self, request: Request) -> Response:
        """Receive a fair copy; a right one earns the fee."""
        body = self._form(
            request, AllocationReference="text", FairCopy="text", MinutesTaken="minutes"
        )
        if isinstance(body, Response):
            return body
        allocation = self._allocation(request, body)
        if isinstance(allocation, Response):
            return allocation
        script = allocation["Script"]
        if script["Standing"] != "Allocated":
            sentence = "A fair copy has already been accepted for this allocation."
            return _refuse(409, ("FEB-221", "AllocationReference", sentence))
        number = script["ScriptNumber"]
        if body["FairCopy"] != self._answers[number].upper():
            # A copy sent back is an everyday outcome to the board, and no error.
            return Response(
                200,
                {
                    "Outcome": "Returned to examiner",
                    "AllocationReference": body["AllocationReference"],
                    "Remarks": "The fair copy is not the candidate's answer in block "
                    "capitals. Please correct it and send it again.",
                },
                refused=True,
            )
        script["Standing"] = "Accepted"
        examiner = self._examiners[request.token]
        examiner["Credits"] += script["FeeInCredits"]
        self.book.pay(str(number), script["FeeInCredits"])
        return Response(
            200,
            {
                "Outcome": "Accepted",
                "AllocationReference": body["AllocationReference"],
                "FeePaid": script["FeeInCredits"],
                "AccountBalance": examiner["Credits"],
            },
        )

    def complete(self, request: Request) -> Response:
        """Close an allocation upon the examiner's declaration."""
        body = self._form(request, AllocationReference="text", DeclaredOwnWork="yes")
        if isinstance(body, Response):
            return body
        allocation = self._allocation(request, body)
        if isinstance(allocation, Response):
            return allocation
        script = allocation["Script"]
        if script["Standing"] != "Accepted":
            explanation = (
                "No fair copy has been accepted for this allocation yet."
                if script["Standing"] == "Allocated"
                else "This allocation is already closed."
            )
            return _refuse(409, ("FEB-231", "AllocationReference", explanation))
        script["Standing"] = "Closed"
        return Response(200, {"Outcome": "Closed", "Script": script})

    def _form(self, request: Request, **items: str) -> dict[str, Any] | Response:
        """Return a properly filled-in form of an appointed examiner."""
        if request.token not in self._examiners:
            return _refuse(
                401, ("FEB-100", None, "Only appointed examiners may use this service.")
            )
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return _refuse(400, ("FEB-110", None, "The form must be a JSON object."))
        reasons: list[tuple[str, str | None, str]] = []
        for item, kind in items.items():
            test, description = self._kinds[kind]
            if body.get(item) is None:
                reasons.append(("FEB-111", item, f"{item} has not been supplied."))
            elif not test(body[item]):
                reasons.append(("FEB-112", item, f"{item} must be {description}."))
        return _refuse(400, *reasons) if reasons else body

    def _allocation(
        self, request: Request, body: dict[str, Any]
    ) -> dict[str, Any] | Response:
        """Return the examiner's allocation that the form refers to."""
        found = self._allocations.get(body["AllocationReference"])
        number = self._examiners[request.token]["ExaminerNumber"]
        if found and found["Examiner"] == number:
            return found
        sentence = "You hold no allocation with this reference."
        return _refuse(404, ("FEB-220", "AllocationReference", sentence))
