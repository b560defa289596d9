"""A spreadsheet that is asked as Google's visualization API is asked.

The answer is a table with `cols` (a letter, a label, a type) and `rows`, each with its
cells `c` and a value `v` and perhaps a formatted one `f` in each cell; a cell may be null.
A script behind it takes claims and results, and says `status: error` in a 200.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]

ROWS = (
    ("carrots are sown in april", 3),
    ("the hose leaks near the tap", 5),
    ("water the beans in the evening", 4),
    ("compost goes to the far corner", 2),
    ("close the gate against the deer", 6),
)
COLUMNS = (
    ("A", "Task no", "number"),
    ("B", "What to write in capitals", "string"),
    ("C", "Credits", "number"),
    ("D", "State", "string"),
    ("E", "Who", "string"),
)


@dataclass
class Row:
    number: int
    text: str
    credits: int
    state: str = "free"
    who: str = ""

    def shown(self) -> dict[str, object]:
        cells: list[object] = [
            {"v": float(self.number), "f": str(self.number)},
            {"v": self.text},
            {"v": float(self.credits), "f": f"{self.credits} cr"},
            {"v": self.state},
            {"v": self.who} if self.who else None,
        ]
        return {"c": cells}


class RefusedError(Exception):
    """The script says no."""


def telling(action: Action) -> Action:
    """Answer with the refusal where the action raises one."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except RefusedError as no:
            body = {"status": "error", "message": str(no)}
            return Response(200, body, refused=True)

    return answer


class SheetRows(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        open_ = [Row(8 + n, *row) for n, row in enumerate(ROWS)]
        self._open = {row.number: row for row in open_}
        old = [
            Row(6, "rake the leaves", 2, "paid", "tom"),
            Row(7, "prune the roses", 3, "in work", "tom"),
        ]
        self._rows = {row.number: row for row in [*old, *open_]}

    def texts(self) -> dict[str, str]:
        return {str(row.number): row.text for row in self._open.values()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"helper{self.book.registrations}", secrets.token_hex(20)
        self._agents[token] = agent
        answer = {"agent_id": agent, "access_token": token, "credits": 100}
        return Response(200, {"status": "ok", **answer})

    def tasks(self, request: Request) -> Response:
        columns = [{"id": i, "label": name, "type": kind} for i, name, kind in COLUMNS]
        rows = [row.shown() for row in self._rows.values()]
        table = {"cols": columns, "rows": rows, "parsedNumHeaders": 1}
        return Response(200, {"version": "0.6", "status": "ok", "table": table})

    @telling
    def claim(self, request: Request) -> Response:
        agent, row, _ = self._read(request)
        if row.state != "free":
            raise RefusedError(f"Task {row.number} is already {row.state}.")
        row.state, row.who = "in work", agent
        self.book.claimed(str(row.number))
        return Response(200, {"status": "ok"})

    @telling
    def submit(self, request: Request) -> Response:
        agent, row, given = self._read(request, "text")
        if row.who != agent or row.state != "in work":
            raise RefusedError(f"Task {row.number} is not yours to deliver.")
        if given["text"] != row.text.upper():
            raise RefusedError("That is not the text in capitals.")
        row.state = "delivered"
        return Response(200, {"status": "ok"})

    @telling
    def complete(self, request: Request) -> Response:
        agent, row, _ = self._read(request)
        if row.who != agent or row.state != "delivered":
            raise RefusedError(f"Task {row.number} is not yours to complete.")
        row.state = "paid"
        self.book.pay(str(row.number), row.credits)
        return Response(200, {"status": "ok", "credits": row.credits})

    def _read(self, request: Request, *more: str) -> tuple[str, Row, dict[str, Any]]:
        if request.token not in self._agents:
            raise RefusedError("Please send your token.")
        try:
            given = request.json()
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise RefusedError("Please send a JSON object.")
        for name in ("task", *more):
            if not given.get(name):
                raise RefusedError(f'Please send "{name}".')
        try:
            row = self._rows.get(int(given["task"]))
        except (TypeError, ValueError):
            row = None
        if row is None:
            raise RefusedError(f"There is no task {given['task']}.")
        return self._agents[request.token], row, given
