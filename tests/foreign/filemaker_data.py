"""A FileMaker Data API: everything is in `fieldData`, and refusals are numbers.

Messages say what kind of fault there is and never where: 960 (a parameter is missing, so
there is no `fieldData`), 102 (a field that the layout does not have), 509 (a field that
requires a value), 101 (no such record). Fields are called as the listing's records call
theirs, and every value is written as a text.
"""

import itertools
import secrets
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PROMPTS = (
    "the ledger lists forty umbrellas",
    "an intern alphabetized the keys",
    "the copier jams on green paper",
    "please water the lobby palm",
    "invoices sleep in the third drawer",
    "the stapler belongs to margaret",
    "count the chairs before the meeting",
    "the archive smells like rain",
    "someone labelled the label maker",
    "the calendar still shows april",
    "ring twice for the night porter",
    "the safe opens with a birthday",
)
LAYOUTS = {
    "claim": ("TaskID",),
    "submit": ("TaskID", "Answer"),
    "complete": ("TaskID",),
}


class FileMakerError(Exception):
    def __init__(self, code: int, message: str, status: int = 400) -> None:
        super().__init__(message)
        messages = [{"code": str(code), "message": message}]
        self.response = Response(status, {"messages": messages, "response": {}})


class FileMaker(Backend):
    """Twelve records of a layout."""

    def __init__(self) -> None:
        super().__init__()
        self.sessions: dict[str, str] = {}
        self.numbers = itertools.count(4)
        self.rows = {
            f"T{81 + 3 * at}": {
                "Prompt": prompt,
                "Credits": str(at % 6 + 1),
                "Status": "Open",
                "Answer": "",
                "AgentID": "",
            }
            for at, prompt in enumerate(PROMPTS)
        }

    def texts(self) -> dict[str, str]:
        return {key: row["Prompt"] for key, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        return FileMakerError(1630, "URL format is incorrect", 404).response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"A{900 + self.book.registrations}", secrets.token_hex(18)
        self.sessions[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        data = [
            {
                "fieldData": {"TaskID": key, **row},
                "portalData": {},
                "recordId": str(at),
                "modId": "1",
            }
            for at, (key, row) in enumerate(self.rows.items(), start=11)
            if row["Status"] == "Open"
        ]
        info = {"database": "Work", "layout": "Tasks", "foundCount": len(data)}
        return ok({"dataInfo": info, "data": data})

    def account(self, request: Request) -> str:
        if request.token not in self.sessions:
            raise FileMakerError(952, "Invalid FileMaker Data API token", 401)
        return self.sessions[request.token]

    def answered(
        self, request: Request, layout: str, run: Callable[[str, Any], None]
    ) -> Response:
        try:
            run(self.account(request), fields(request, LAYOUTS[layout]))
        except FileMakerError as no:
            return no.response
        return ok({"recordId": str(next(self.numbers)), "modId": "0"})

    def own(self, agent: str, given: dict[str, str]) -> dict[str, str]:
        if self.rows.get(given["TaskID"], {}).get("AgentID") != agent:
            raise FileMakerError(101, "Record is missing", 404)
        return self.rows[given["TaskID"]]

    def claim(self, request: Request) -> Response:
        return self.answered(request, "claim", self.on_claim)

    def on_claim(self, agent: str, given: dict[str, str]) -> None:
        row = self.rows.get(given["TaskID"])
        if row is None:
            raise FileMakerError(101, "Record is missing", 404)
        if row["AgentID"]:
            raise FileMakerError(301, "Record is in use by another user", 409)
        row["AgentID"], row["Status"] = agent, "Claimed"
        self.book.claimed(given["TaskID"])

    def submit(self, request: Request) -> Response:
        return self.answered(request, "submit", self.on_submit)

    def on_submit(self, agent: str, given: dict[str, str]) -> None:
        row = self.own(agent, given)
        if given["Answer"] != row["Prompt"].upper():
            told = "Value in field failed calculation test of validation entry option"
            raise FileMakerError(507, told, 422)
        row["Answer"] = given["Answer"]

    def complete(self, request: Request) -> Response:
        return self.answered(request, "complete", self.on_complete)

    def on_complete(self, agent: str, given: dict[str, str]) -> None:
        row = self.own(agent, given)
        if not row["Answer"]:
            raise FileMakerError(306, "Record modification ID does not match", 409)
        row["Status"] = "Paid"
        if given["TaskID"] not in self.book.paid:
            self.book.pay(given["TaskID"], int(row["Credits"]))


def ok(response: Any) -> Response:
    messages = [{"code": "0", "message": "OK"}]
    return Response(200, {"response": response, "messages": messages})


def fields(request: Request, layout: tuple[str, ...]) -> dict[str, str]:
    try:
        body = request.json()
    except ValueError as fault:
        raise FileMakerError(1708, "Parameter value is invalid") from fault
    data = body.get("fieldData") if isinstance(body, dict) else None
    if not isinstance(data, dict):
        raise FileMakerError(960, "Parameter is missing")
    known = {name.lower(): name for name in layout}
    if any(name.lower() not in known for name in data):
        raise FileMakerError(102, "Field is missing")
    found = {known[name.lower()]: str(value) for name, value in data.items()}
    if any(not found.get(name) for name in layout):
        raise FileMakerError(509, "Field requires a value")
    return found
