"""Harbour FM: the traffic office of a radio station and its in-house interface.

PascalCase, the station's own words (cues, slips, takes, sign-off), one refusal at a time
in plain sentences. Any copy is taken in; the desk reads it at sign-off, returns a wrong
take, and pays the fee for a right one.
"""

import re
from typing import Any

from tests.foreign.backend import Backend, Request, Response

# Programme -> its cues: reference, slug, script, fee.
_RUNDOWN = {
    "Breakfast": [
        ("BRK-0612", "ferry times", "the first ferry leaves pier two at seven", 9),
        ("BRK-0640", "fog notice", "fog on the estuary until mid morning", 21),
        ("BRK-0715", "school bus", "route nine runs ten minutes late", 5),
    ],
    "Midday": [
        ("MID-1205", "market", "mackerel and crab on the quay until two", 17),
        ("MID-1250", "tide", "high water at ten past four", 12),
    ],
    "Drive": [
        ("DRV-1630", "bridge", "the swing bridge is closed to lorries", 28),
        ("DRV-1745", "concert", "brass band on the pier tonight, free entry", 15),
        ("DRV-1810", "sign-off", "this was drive time on harbour fm", 7),
    ],
}
_CUES = {cue[0]: (shift, *cue) for shift, cues in _RUNDOWN.items() for cue in cues}


class _Declined(Exception):  # noqa: N818
    def __init__(self, status: int, notice: int, reason: str) -> None:
        super().__init__(reason)
        body = {"Declined": {"Notice": f"TRF-{notice}", "Reason": reason}}
        self.response = Response(status, body)


class HarbourFM(Backend):
    """A station that books voices for the short cues between its programmes."""

    def __init__(self) -> None:
        super().__init__()
        self._passes: dict[str, str] = {}
        self._purses: dict[str, int] = {}
        self._standing = dict.fromkeys(_CUES, "Open")
        self._slips: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {reference: cue[3] for reference, cue in _CUES.items()}

    def missing(self, request: Request) -> Response:
        reason = f"The traffic office has no desk at {request.method} {request.path}."
        return _Declined(404, 1, reason).response

    # -- what every desk asks

    def _voice(self, request: Request) -> str:
        if not request.token:
            raise _Declined(401, 2, "No studio pass was shown in Authorization.")
        if request.token not in self._passes:
            raise _Declined(401, 3, "This studio pass is not one of ours.")
        return self._passes[request.token]

    def _form(self, request: Request) -> dict[str, Any]:
        try:
            form = request.json()
        except ValueError:
            form = None
        if not isinstance(form, dict):
            raise _Declined(400, 10, "The form could not be read; send a JSON object.")
        return form

    def _words(self, form: dict[str, Any], name: str, purpose: str) -> str:
        value = form.get(name)
        if value is None or value == "":
            raise _Declined(400, 11, f"{name} is missing from the form: {purpose}.")
        if not isinstance(value, str):
            raise _Declined(400, 12, f"{name} must be written as text: {purpose}.")
        return value

    def _whole(self, form: dict[str, Any], name: str, most: int, purpose: str) -> int:
        value = form.get(name)
        if value is None:
            raise _Declined(400, 11, f"{name} is missing from the form: {purpose}.")
        if type(value) is not int or not 1 <= value <= most:
            reason = f"{name} must be a whole number from 1 to {most}: {purpose}."
            raise _Declined(400, 13, reason)
        return value

    def _slip(self, form: dict[str, Any], voice: str) -> dict[str, Any]:
        number = self._words(form, "SlipNo", "the slip you were given at booking")
        slip = self._slips.get(number)
        if slip is None or slip["Voice"] != voice:
            raise _Declined(404, 20, f"You hold no slip numbered {number}.")
        if self._standing[slip["CueRef"]] == "Aired":
            raise _Declined(409, 21, f"Slip {number} is closed; its cue has aired.")
        return slip

    # -- the desks

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        number = self.book.registrations
        voice, studio_pass = f"VOICE-{200 + number}", f"HFM.{number:04d}.{id(self):x}"
        self._passes[studio_pass], self._purses[voice] = voice, 100
        answer = {"agent_id": voice, "access_token": studio_pass, "credits": 100}
        return Response(body=answer)

    def tasks(self, request: Request) -> Response:
        asked = {"limit": "5", "sheet": "1", **request.query}
        for name, most in (("limit", 6), ("sheet", 99)):
            if not re.fullmatch(r"\d{1,9}", asked[name]) or not (
                1 <= int(asked[name]) <= most
            ):
                reason = f"{name} may be 1 to {most}; {asked[name]} was asked for."
                return _Declined(400, 14, reason).response
        size, sheet = int(asked["limit"]), int(asked["sheet"])
        programmes: dict[str, list[dict[str, Any]]] = {}
        for reference in list(_CUES)[(sheet - 1) * size : sheet * size]:
            shift, _, slug, script, fee = _CUES[reference]
            cue = {
                "CueRef": reference,
                "Slug": slug,
                "Script": script,
                "Direction": "File the Script as Copy, all in capitals for the prompter.",
                "Fee": {"Credits": fee, "PaidAt": "sign-off"},
                "AirTime": f"{reference[4:6]}:{reference[6:]}",
                "Standing": self._standing[reference],
            }
            programmes.setdefault(shift, []).append(cue)
        following = f"{request.path}?limit={size}&sheet={sheet + 1}"
        rundown = {
            "Sheet": sheet,
            "NextSheet": following if sheet * size < len(_CUES) else None,
            "CuesInAll": len(_CUES),
            "Programmes": [{"Programme": p, "Cues": c} for p, c in programmes.items()],
        }
        return Response(body={"Station": "Harbour FM 98.4", "Rundown": rundown})

    marketplace = tasks

    def agents(self, request: Request) -> Response:
        voices = [{"Voice": voice} for voice in self._purses]
        return Response(body={"Station": "Harbour FM 98.4", "Voices": voices})

    directory = agents

    def claim(self, request: Request) -> Response:
        try:
            return self._book_cue(self._voice(request), self._form(request))
        except _Declined as declined:
            return declined.response

    def _book_cue(self, voice: str, form: dict[str, Any]) -> Response:
        reference = self._words(form, "CueRef", "the cue you wish to voice")
        if reference not in _CUES:
            raise _Declined(404, 22, f"There is no cue {reference} on the rundown.")
        named = self._words(form, "Voice", "the agent_id the cue is booked for")
        if named != voice:
            reason = f"Voice {named} is not the holder of this pass, who is {voice}."
            raise _Declined(403, 23, reason)
        minutes = self._whole(
            form, "ReadyInMinutes", 240, "when we may expect the copy"
        )
        if self._standing[reference] != "Open":
            reason = f"Cue {reference} stands at {self._standing[reference]}."
            raise _Declined(409, 24, reason)
        held = [
            slip["SlipNo"]
            for slip in self._slips.values()
            if slip["Voice"] == voice and self._standing[slip["CueRef"]] != "Aired"
        ]
        if len(held) >= 3:
            reason = f"You hold slips {', '.join(held)}; close one before the next."
            raise _Declined(409, 25, reason)
        number = f"S/{1001 + len(self._slips)}"
        slip = {"SlipNo": number, "CueRef": reference, "Voice": voice, "Takes": []}
        self._slips[number] = slip
        self._standing[reference] = "Booked"
        self.book.claimed(reference)
        answer = {"SlipNo": number, "CueRef": reference, "Standing": "Booked"}
        return Response(body={"Slip": {**answer, "ReadyInMinutes": minutes}})

    def submit(self, request: Request) -> Response:
        try:
            return self._file_copy(self._voice(request), self._form(request))
        except _Declined as declined:
            return declined.response

    def _file_copy(self, voice: str, form: dict[str, Any]) -> Response:
        slip = self._slip(form, voice)
        copy = self._words(form, "Copy", "the words as they go to the prompter")
        self._whole(form, "ReadSeconds", 600, "how long the copy takes to read")
        slip["Takes"].append(copy)
        self._standing[slip["CueRef"]] = "Filed"
        take = {"TakeNo": len(slip["Takes"]), "SlipNo": slip["SlipNo"]}
        return Response(body={"Take": {**take, "Standing": "Filed"}})

    def complete(self, request: Request) -> Response:
        try:
            return self._sign_off(self._voice(request), self._form(request))
        except _Declined as declined:
            return declined.response

    def _sign_off(self, voice: str, form: dict[str, Any]) -> Response:
        slip = self._slip(form, voice)
        take = self._whole(form, "TakeNo", 999, "the take you sign off")
        if form.get("SignedOff") is not True:
            raise _Declined(400, 15, "SignedOff must be true for a cue to go to air.")
        number, reference = slip["SlipNo"], slip["CueRef"]
        if take > len(slip["Takes"]):
            raise _Declined(409, 26, f"Slip {number} has no take {take} on file.")
        _, _, _, script, fee = _CUES[reference]
        if slip["Takes"][take - 1] != script.upper():
            self._standing[reference] = "Returned"
            reason = f"The desk returns take {take}: it is not the script in capitals."
            raise _Declined(409, 27, f"{reason} File a new take on slip {number}.")
        self._standing[reference] = "Aired"
        self._purses[voice] += fee
        self.book.pay(reference, fee)
        answer = {"CueRef": reference, "Standing": "Aired", "FeePaid": {"Credits": fee}}
        return Response(body={"Cue": answer, "Purse": {"Credits": self._purses[voice]}})

    def post(self, request: Request) -> Response:
        reason = "Cues are written by producers; voices may not post them."
        return _Declined(403, 30, reason).response

    def checkout(self, request: Request) -> Response:
        return _Declined(403, 31, "The station sells no credits.").response
