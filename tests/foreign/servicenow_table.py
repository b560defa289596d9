"""Tasks of a service desk in the manner of ServiceNow's table API.

Every field is a text, and empty where nothing is: the state is "1", "2", "3", the reward
"5.00", nobody is "". A record has a `sys_id` and a `number`, the work is in `description`
below a `short_description`. Five records at a time, `sysparm_offset` for more, as the
`Link` header says, with the total in `X-Total-Count`. Answers stand in `result`.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]

WORK = (
    ("Lobby display", "welcome to the second floor", 5),
    ("Printer label", "this printer eats paper", 2),
    ("Canteen note", "no fish on wednesday", 4),
    ("Lift sign", "hold the door for others", 6),
    ("Parking sign", "visitors park at the back", 3),
    ("Server room", "do not switch off the fan", 7),
    ("Meeting room", "please wipe the board", 5),
)
PATH = "/functions/v1/get-marketplace-tasks"
LIMIT = 5
OPEN, WORKING, DELIVERED, CLOSED = "1", "2", "6", "7"


@dataclass
class Record:
    sys_id: str
    number: str
    short: str
    description: str
    reward: int
    state: str = OPEN
    assigned_to: str = ""

    def shown(self) -> dict[str, str]:
        return {
            "sys_id": self.sys_id,
            "number": self.number,
            "sys_class_name": "u_agent_task",
            "short_description": self.short,
            "description": self.description,
            "category": "uppercase",
            "u_reward": f"{self.reward}.00",
            "priority": "3",
            "state": self.state,
            "assigned_to": self.assigned_to,
            "opened_at": "2025-09-15 07:12:44",
            "closed_at": "2025-09-16 10:00:00" if self.state == CLOSED else "",
        }


class RefusedError(Exception):
    def __init__(self, status: int, message: str, detail: str) -> None:
        super().__init__(message)
        self.status, self.error = status, {"message": message, "detail": detail}

    def response(self) -> Response:
        return Response(self.status, {"error": self.error, "status": "failure"})


def telling(action: Action) -> Action:
    """Answer with the refusal where the action raises one."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except RefusedError as no:
            return no.response()

    return answer


class ServicenowTable(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}

        def record(n: int, short: str, text: str, reward: int, *more: str) -> Record:
            name = f"TASK{10021 + n:07}"
            return Record(secrets.token_hex(16), name, short, text, reward, *more)

        open_ = [record(n, *work) for n, work in enumerate(WORK)]
        self._open = {one.sys_id: one for one in open_}
        old = [
            record(-3, "Old sign", "mind the gap", 3, CLOSED, secrets.token_hex(16)),
            record(-2, "Odd sign", "mind the cap", 4, WORKING, secrets.token_hex(16)),
        ]
        self._records = {one.sys_id: one for one in [*old, *open_]}

    def texts(self) -> dict[str, str]:
        return {one.sys_id: one.description for one in self._open.values()}

    def missing(self, request: Request) -> Response:
        path = f"Requested URI does not represent any resource: {request.path}"
        return RefusedError(400, path, "").response()

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = secrets.token_hex(16), secrets.token_urlsafe(48)
        self._agents[token] = agent
        answer = {"sys_id": agent, "access_token": token, "credits": "100"}
        return Response(201, {"result": answer})

    def tasks(self, request: Request) -> Response:
        offset = int(request.query.get("sysparm_offset", "0"))
        found = [*self._records.values()]
        shown = [one.shown() for one in found[offset : offset + LIMIT]]
        headers = {"X-Total-Count": str(len(found))}
        if offset + LIMIT < len(found):
            after = f"{request.base}{PATH}?sysparm_limit={LIMIT}"
            headers["Link"] = f'<{after}&sysparm_offset={offset + LIMIT}>;rel="next"'
        return Response(200, {"result": shown}, headers)

    @telling
    def claim(self, request: Request) -> Response:
        agent, record, _ = self._read(request)
        if record.state != OPEN:
            raise RefusedError(409, "Operation Failed", "Record is not open")
        record.assigned_to, record.state = agent, WORKING
        self.book.claimed(record.sys_id)
        return Response(200, {"result": record.shown()})

    @telling
    def submit(self, request: Request) -> Response:
        agent, record, given = self._read(request, "u_result")
        self._check(agent, record, WORKING)
        if given["u_result"] != record.description.upper():
            raise RefusedError(400, "Operation Failed", "The result is not correct")
        record.state = DELIVERED
        return Response(200, {"result": record.shown()})

    @telling
    def complete(self, request: Request) -> Response:
        agent, record, _ = self._read(request)
        self._check(agent, record, DELIVERED)
        record.state = CLOSED
        self.book.pay(record.sys_id, record.reward)
        paid = {"u_credits_paid": f"{record.reward}.00"}
        return Response(200, {"result": record.shown() | paid})

    def _check(self, agent: str, record: Record, state: str) -> None:
        if record.assigned_to != agent:
            raise RefusedError(403, "Operation Failed", "ACL Exception: not yours")
        if record.state != state:
            raise RefusedError(409, "Operation Failed", f"State is {record.state}")

    def _read(self, request: Request, *more: str) -> tuple[str, Record, dict[str, str]]:
        if request.token not in self._agents:
            why = "Required to provide Auth information"
            raise RefusedError(401, "User Not Authenticated", why)
        try:
            given = request.json()
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise RefusedError(400, "Exception while reading request", "Not JSON")
        for name in ("sys_id", *more):
            if not isinstance(given.get(name), str) or not given[name]:
                told = "Data Policy Exception"
                raise RefusedError(
                    400, told, f"The following field is mandatory: {name}"
                )
        record = self._records.get(given["sys_id"])
        if record is None:
            why = "Record doesn't exist or ACL restricts the record retrieval"
            raise RefusedError(404, "No Record found", why)
        return self._agents[request.token], record, given
