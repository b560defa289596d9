"""A hospital's transcription pool: typists take dictations from a worklist.

Lists a worklist without the dictations themselves (confidential: the words come with
the claim); numbers are integers and stay integers. Refuses with {"status": "rejected",
"reasons": [...]}, short sentences, all that is wrong at once. Claiming wants the
typist's own id, as registration gave it; filing wants a transcript and the typist's
initials; the sign-off wants report_status final. Taking the same dictation twice gives
the same answer. Pays at the sign-off, in whole credits.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

DICTATIONS = [
    (88123, "radiology", "No fracture is seen in either wrist.", 9),
    (88124, "cardiology", "Sinus rhythm at seventy with a normal axis.", 12),
    (88127, "radiology", "Heart size is normal and both lungs are clear.", 8),
    (88130, "surgery", "The wound was closed in two layers.", 15),
    (88131, "paediatrics", "She may return to school on Thursday.", 6),
    (88135, "cardiology", "Continue the same dose for six weeks.", 10),
    (88139, "outpatients", "Review in clinic with the blood results.", 7),
]
TAKEN = {88127: "T-0311"}


def _rejected(status: int, *reasons: str) -> Response:
    return Response(status, {"status": "rejected", "reasons": list(reasons)})


class HospitalDictation(Backend):
    """The pool's worklist."""

    def __init__(self) -> None:
        super().__init__()
        self._typists: dict[str, str] = {}
        self._earned: dict[str, int] = {}
        self._jobs: dict[int, dict[str, str]] = {}

    def texts(self) -> dict[str, str]:
        return {str(row[0]): row[2] for row in DICTATIONS if row[0] not in TAKEN}

    def missing(self, request: Request) -> Response:
        return _rejected(404, "not found")

    def _form(
        self, request: Request, **kinds: type
    ) -> tuple[dict[str, Any], Response | None]:
        """Return the form and the rejection of what is missing or of the wrong kind."""
        if request.token not in self._typists:
            return {}, _rejected(401, "not logged on (bearer token)")
        try:
            form = request.json() if request.raw else {}
        except ValueError:
            form = None
        if not isinstance(form, dict):
            return {}, _rejected(400, "expected a JSON object")
        names = {int: "a number", str: "text"}
        reasons = []
        for name, kind in kinds.items():
            value = form.get(name)
            if value is None or value == "":
                reasons.append(f"{name} is required")
            elif not isinstance(value, kind) or isinstance(value, bool):
                reasons.append(f"{name} must be {names[kind]}")
        if (
            "typist_id" in kinds
            and not reasons
            and form["typist_id"] != self._typists[request.token]
        ):
            reasons.append("typist_id is not yours")
        return form, _rejected(400, *reasons) if reasons else None

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token, typist = secrets.token_hex(16), f"T-{4000 + len(self._typists)}"
        self._typists[token] = typist
        self._earned[typist] = 100
        return Response(
            200, {"typist_id": typist, "access_token": token, "credits": 100}
        )

    def tasks(self, request: Request) -> Response:
        if request.token not in self._typists:
            return _rejected(401, "not logged on (bearer token)")
        limit = request.query.get("limit", "")
        rows = (
            DICTATIONS[: int(limit)] if limit.isdigit() and int(limit) else DICTATIONS
        )
        worklist = []
        for number, department, words, credits_ in rows:
            job = self._jobs.get(number)
            typist = TAKEN.get(number) or (job["typist"] if job else None)
            state = job["state"] if job else "in typing" if typist else "waiting"
            worklist.append(
                {
                    "dictation_no": number,
                    "department": department,
                    "seconds": len(words) // 3,
                    "credits": credits_,
                    "state": state,
                    "typist": typist,
                }
            )
        return Response(
            200,
            {
                "pool": "central",
                "worklist": worklist,
                "total": len(DICTATIONS),
                "notice": "Dictations are confidential: "
                "the words are released to the typist who takes them.",
            },
        )

    def claim(self, request: Request) -> Response:
        form, rejection = self._form(request, dictation_no=int, typist_id=str)
        if rejection:
            return rejection
        number = form["dictation_no"]
        row = next((r for r in DICTATIONS if r[0] == number), None)
        if not row:
            return _rejected(404, f"no dictation {number}")
        job = self._jobs.get(number)
        if number in TAKEN or (job and job["typist"] != form["typist_id"]):
            return _rejected(409, f"dictation {number} is with another typist")
        if not job:
            job = self._jobs[number] = {
                "typist": form["typist_id"],
                "state": "in typing",
            }
            self.book.claimed(str(number))
        return Response(
            200,
            {
                "status": "ok",
                "dictation_no": number,
                "state": job["state"],
                "department": row[1],
                "dictation": row[2],
            },
        )

    def _job(self, request: Request, number: int) -> dict[str, str] | None:
        job = self._jobs.get(number)
        return job if job and job["typist"] == self._typists[request.token] else None

    def submit(self, request: Request) -> Response:
        form, rejection = self._form(
            request, dictation_no=int, transcript=str, initials=str
        )
        if rejection:
            return rejection
        job = self._job(request, form["dictation_no"])
        if not job:
            return _rejected(403, "you have not taken this dictation")
        if job["state"] == "filed":
            return _rejected(409, "already filed")
        if len(form["initials"]) > 5:
            return _rejected(400, "initials: 5 characters at most")
        if form["transcript"] != self.texts()[str(form["dictation_no"])].upper():
            return _rejected(422, "transcript does not pass the check")
        job["state"] = "typed"
        return Response(
            200,
            {"status": "ok", "dictation_no": form["dictation_no"], "state": "typed"},
        )

    def complete(self, request: Request) -> Response:
        form, rejection = self._form(request, dictation_no=int, report_status=str)
        if rejection:
            return rejection
        if form["report_status"] != "final":
            return _rejected(400, 'report_status must be "final"')
        job = self._job(request, form["dictation_no"])
        if not job:
            return _rejected(403, "you have not taken this dictation")
        if job["state"] == "in typing":
            return _rejected(409, "no transcript yet")
        if job["state"] == "filed":
            return _rejected(409, "already filed")
        job["state"] = "filed"
        credits_ = next(r[3] for r in DICTATIONS if r[0] == form["dictation_no"])
        self.book.pay(str(form["dictation_no"]), credits_)
        self._earned[job["typist"]] += credits_
        return Response(
            200,
            {
                "status": "ok",
                "dictation_no": form["dictation_no"],
                "state": "filed",
                "credited": credits_,
                "balance": self._earned[job["typist"]],
            },
        )
