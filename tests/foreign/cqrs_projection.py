"""Commands on one side, a read model on the other, which is some seconds behind.

Commands are accepted with 202 and an id, or refused. The listing is what the projection
has seen by now, with the time of it: what was claimed a moment ago still stands there as
AVAILABLE. Pay is an entry in the account's transactions, in credits with two decimals,
that the same listing shows to an agent; a result that is right is paid by itself, and
`complete` only says so again.
"""

import secrets
import time
import uuid
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]
PAYLOADS = (
    "the ledger closes on friday evening",
    "seven crates arrived without lids",
    "please count the barrels once more",
    "our scale is two grams too heavy",
    "invoice the mill for last month",
    "the warehouse key hangs by the door",
    "no deliveries during the market",
)
LAG_SECONDS = 3.0


@dataclass
class WorkItem:
    workItemId: str
    payload: str
    amount: str
    phase: str = "AVAILABLE"
    agentId: str | None = None

    def shown(self) -> dict[str, object]:
        return {
            "workItemId": self.workItemId,
            "workType": "UPPERCASE",
            "payload": {"text": self.payload},
            "compensation": {"amount": self.amount, "currency": "CREDIT"},
            "phase": self.phase,
            "agentId": self.agentId,
        }


@dataclass
class Account:
    agent: str
    transactions: list[dict[str, object]] = field(default_factory=list)

    def book(self, kind: str, amount: str, item: str | None = None) -> None:
        entry = {"transactionId": str(uuid.uuid4()), "type": kind, "amount": amount}
        self.transactions.append(entry | {"workItemId": item})

    def shown(self) -> dict[str, object]:
        balance = sum(float(str(one["amount"])) for one in self.transactions)
        return {"balance": f"{balance:.2f}", "transactions": self.transactions}


class RefusedError(Exception):
    def __init__(self, status: int, code: str, message: str, field: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.body = {"code": code, "message": message}
        if field:
            self.body["field"] = field

    def response(self) -> Response:
        return Response(self.status, {"error": self.body})


def telling(action: Action) -> Action:
    """Answer with the refusal where the action raises one."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except RefusedError as no:
            return no.response()

    return answer


class CqrsProjection(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._accounts: dict[str, Account] = {}
        open_ = [
            WorkItem(f"wi_{secrets.token_hex(6)}", payload, f"{n % 4 + 2}.00")
            for n, payload in enumerate(PAYLOADS)
        ]
        self._open = {item.workItemId: item for item in open_}
        old = WorkItem("wi_000000000001", "nothing", "4.00", "SETTLED", "ag_old")
        busy = WorkItem("wi_000000000002", "much", "5.00", "IN_PROGRESS", "ag_old")
        self._items = {item.workItemId: item for item in (old, busy, *open_)}
        # What the projection has seen, and when: pictures of everything, oldest first.
        self._seen: list[tuple[float, dict[str, WorkItem], dict[str, Account]]] = []
        self._happened()

    def texts(self) -> dict[str, str]:
        return {item.workItemId: item.payload for item in self._open.values()}

    def missing(self, request: Request) -> Response:
        return RefusedError(404, "ROUTE_NOT_FOUND", "No such route").response()

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(32)
        account = Account(f"ag_{secrets.token_hex(5)}")
        account.book("STARTER", "100.00")
        self._accounts[token] = account
        self._happened()
        answer = {"agent_id": account.agent, "access_token": token, "credits": 100}
        return Response(200, answer)

    def tasks(self, request: Request) -> Response:
        now = time.time()
        known = [one for one in self._seen if one[0] <= now - LAG_SECONDS]
        at, items, accounts = (known or self._seen)[-1 if known else 0]
        body: dict[str, object] = {
            "asOf": int(at * 1000),
            "workItems": [item.shown() for item in items.values()],
        }
        if account := accounts.get(request.token):
            body["account"] = account.shown()
        return Response(200, body)

    @telling
    def claim(self, request: Request) -> Response:
        account, item, _ = self._read(request)
        if item.phase != "AVAILABLE":
            raise RefusedError(409, "NOT_AVAILABLE", f"Work item is {item.phase}")
        item.agentId, item.phase = account.agent, "IN_PROGRESS"
        self.book.claimed(item.workItemId)
        return self._accepted()

    @telling
    def submit(self, request: Request) -> Response:
        account, item, given = self._read(request, "result")
        if item.agentId != account.agent:
            raise RefusedError(403, "NOT_YOURS", "Work item belongs to another agent")
        if item.phase != "IN_PROGRESS":
            raise RefusedError(409, "WRONG_PHASE", f"Work item is {item.phase}")
        if given["result"] != item.payload.upper():
            raise RefusedError(422, "WRONG_RESULT", "Result was not accepted", "result")
        item.phase = "SETTLED"
        account.book("TASK_REWARD", item.amount, item.workItemId)
        self.book.pay(item.workItemId, int(float(item.amount)))
        return self._accepted()

    @telling
    def complete(self, request: Request) -> Response:
        account, item, _ = self._read(request)
        if item.agentId != account.agent:
            raise RefusedError(403, "NOT_YOURS", "Work item belongs to another agent")
        if item.phase != "SETTLED":
            raise RefusedError(409, "WRONG_PHASE", f"Work item is {item.phase}")
        return self._accepted()

    def _accepted(self) -> Response:
        self._happened()
        return Response(202, {"commandId": str(uuid.uuid4()), "status": "ACCEPTED"})

    def _happened(self) -> None:
        picture = deepcopy(self._items), deepcopy(self._accounts)
        self._seen.append((time.time(), *picture))

    def _read(
        self, request: Request, *more: str
    ) -> tuple[Account, WorkItem, dict[str, str]]:
        if request.token not in self._accounts:
            raise RefusedError(
                401, "UNAUTHENTICATED", "Missing or unknown bearer token"
            )
        try:
            given = request.json()
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise RefusedError(400, "MALFORMED", "Request body must be a JSON object")
        for name in ("workItemId", *more):
            if not isinstance(given.get(name), str):
                raise RefusedError(400, "MISSING", f"{name} must be a string", name)
        item = self._items.get(given["workItemId"])
        if item is None:
            raise RefusedError(404, "UNKNOWN_WORK_ITEM", "No such work item")
        return self._accounts[request.token], item, given
