"""An Odoo-like server: JSON-RPC 2.0 over HTTP, and every answer is a 200.

The body has to be an envelope - jsonrpc, method, params - and is told one missing member
at a time. The params become the arguments of a Python method, so that its refusals are
Python's: a TypeError that names the argument. Records are known by whole numbers.
Completing pays.
"""

import secrets
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

NOTES = (
    "the warehouse smells of cinnamon",
    "move the pallets to the back wall",
    "an invoice slipped behind the desk",
    "the forklift needs a new battery",
    "check the seals on every crate",
    "the courier arrives after lunch",
    "stack the chairs along the corridor",
    "five parcels wait for customs",
    "the scale shows a little too much",
    "print the labels on thick paper",
    "the cooling unit hums all night",
    "return the empty drums on friday",
)
METHODS: dict[str, dict[str, type]] = {
    "claim": {"task": int},
    "submit": {"task": int, "answer": str},
    "complete": {"task": int},
}
MEMBERS = {"jsonrpc": "2.0", "method": "call"}


class RpcError(Exception):
    """An error of the call."""

    def __init__(self, code: int, message: str, told: str, name: str = "") -> None:
        super().__init__(told)
        data: dict[str, Any] = {"name": name} if name else {}
        data["message"] = told
        self.error = {"code": code, "message": message, "data": data}


def type_error(told: str) -> RpcError:
    """Return what Python says about a call that does not fit."""
    return RpcError(-32602, "Invalid params", told, "TypeError")


def user_error(kind: str, told: str) -> RpcError:
    """Return what a model raises."""
    return RpcError(200, "Odoo Server Error", told, f"odoo.exceptions.{kind}")


def listed(names: list[str]) -> str:
    """Return names as Python lists them in a TypeError."""
    marked = [f"'{name}'" for name in names]
    if len(marked) > 2:
        return ", ".join(marked[:-1]) + f", and {marked[-1]}"
    return " and ".join(marked)


def bind(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments, or complain as Python does."""
    wanted = METHODS[method]
    for name in params:
        if name not in wanted:
            raise type_error(f"{method}() got an unexpected keyword argument '{name}'")
    if lacking := [name for name in wanted if name not in params]:
        plural = "s" if len(lacking) > 1 else ""
        count = f"{len(lacking)} required positional argument{plural}"
        raise type_error(f"{method}() missing {count}: {listed(lacking)}")
    for name, kind in wanted.items():
        if type(params[name]) is not kind:
            got = type(params[name]).__name__.replace("NoneType", "None")
            told = f"{method}() argument '{name}' must be {kind.__name__}, not {got}"
            raise type_error(told)
    return params


def params_of(body: Any, method: str) -> dict[str, Any]:
    """Open the envelope."""
    if not isinstance(body, dict):
        raise RpcError(-32600, "Invalid Request", "the request must be an object")
    for member, value in MEMBERS.items():
        if member not in body:
            told = f"missing member: '{member}' (must be \"{value}\")"
            raise RpcError(-32600, "Invalid Request", told)
        if body[member] != value:
            told = f"wrong member: '{member}' (must be \"{value}\")"
            raise RpcError(-32600, "Invalid Request", told)
    if "params" not in body:
        raise RpcError(-32600, "Invalid Request", "missing member: 'params'")
    if not isinstance(body["params"], dict):
        told = "wrong member: 'params' (must be an object)"
        raise RpcError(-32600, "Invalid Request", told)
    return bind(method, body["params"])


class Odoo(Backend):
    """Records behind remote procedure calls."""

    def __init__(self) -> None:
        super().__init__()
        self.records: dict[int, dict[str, Any]] = {}
        for at, note in enumerate(NOTES):
            self.records[41 + at * 3] = {
                "id": 41 + at * 3,
                "name": f"MT/{at + 1:05d}",
                "note": note,
                "reward": (at * 2) % 9 + 1,
                "state": "open",
                "create_date": f"2026-02-{at + 4:02d} 07:45:12",
            }
        self.tokens: dict[str, str] = {}
        self.holders: dict[int, str] = {}

    def texts(self) -> dict[str, str]:
        return {str(task): row["note"] for task, row in self.records.items()}

    def missing(self, request: Request) -> Response:
        told = f"<h1>Not Found</h1>\n<p>The requested URL {request.path} was not found on the server.</p>\n"
        page = f"<!doctype html>\n<html lang=en>\n<title>404 Not Found</title>\n{told}"
        return Response(404, page, {"Content-Type": "text/html; charset=utf-8"})

    def register(self, request: Request) -> Response:
        agent, token = f"res.agent,{secrets.randbelow(10**6)}", secrets.token_hex(20)
        self.tokens[token] = agent
        self.book.registrations += 1
        return Response(body={"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        rows = [row for row in self.records.values() if row["state"] == "open"]
        limit = request.query.get("limit", "")
        page = rows[: int(limit)] if limit.isascii() and limit.isdigit() else rows
        result = {"records": page, "length": len(rows)}
        return Response(body={"jsonrpc": "2.0", "result": result})

    def marketplace(self, request: Request) -> Response:
        return self.tasks(request)

    def call(
        self,
        request: Request,
        method: str,
        run: Callable[[dict[str, Any], str], dict[str, Any]],
    ) -> Response:
        """Dispatch a call, and answer with its result or its error."""
        body: Any = None
        try:
            agent = self.agent(request)
            body = self.read(request)
            result = run(params_of(body, method), agent)
        except RpcError as no:
            answer = {"jsonrpc": "2.0", "id": self.id_of(body), "error": no.error}
            return Response(200, answer, refused=True)
        return Response(
            body={"jsonrpc": "2.0", "id": self.id_of(body), "result": result}
        )

    def id_of(self, body: Any) -> Any:
        return body.get("id") if isinstance(body, dict) else None

    def read(self, request: Request) -> Any:
        try:
            return request.json()
        except ValueError as fault:
            told = f"Invalid JSON data: {fault}"
            raise RpcError(-32700, "Parse error", told) from fault

    def agent(self, request: Request) -> str:
        if request.token not in self.tokens:
            name = "odoo.http.SessionExpiredException"
            raise RpcError(100, "Odoo Session Expired", "Session expired", name)
        return self.tokens[request.token]

    def record(self, task: int) -> dict[str, Any]:
        if task not in self.records:
            told = "Record does not exist or has been deleted.\n"
            raise user_error("MissingError", f"{told}(Record: market.task({task},))")
        return self.records[task]

    def held(self, task: int, agent: str) -> dict[str, Any]:
        row = self.record(task)
        if self.holders.get(task) != agent:
            raise user_error("AccessError", "You have not claimed this task.")
        return row

    def claim(self, request: Request) -> Response:
        return self.call(request, "claim", self.do_claim)

    def do_claim(self, params: dict[str, Any], agent: str) -> dict[str, Any]:
        row = self.record(params["task"])
        if row["state"] != "open":
            raise user_error("UserError", "This task has already been claimed.")
        row["state"] = "claimed"
        self.holders[row["id"]] = agent
        self.book.claimed(str(row["id"]))
        return {"task": [row["id"], row["name"]], "state": "claimed"}

    def submit(self, request: Request) -> Response:
        return self.call(request, "submit", self.do_submit)

    def do_submit(self, params: dict[str, Any], agent: str) -> dict[str, Any]:
        row = self.held(params["task"], agent)
        if row["state"] == "done":
            raise user_error("UserError", "This task is already done.")
        if params["answer"] != row["note"].upper():
            raise user_error("ValidationError", "The answer is not correct.")
        row["state"] = "submitted"
        return {"task": [row["id"], row["name"]], "state": "submitted"}

    def complete(self, request: Request) -> Response:
        return self.call(request, "complete", self.do_complete)

    def do_complete(self, params: dict[str, Any], agent: str) -> dict[str, Any]:
        row = self.held(params["task"], agent)
        if row["state"] == "claimed":
            raise user_error("UserError", "Submit an answer before completing.")
        if row["state"] != "done":
            row["state"] = "done"
            self.book.pay(str(row["id"]), row["reward"])
        return {
            "task": [row["id"], row["name"]],
            "state": "done",
            "paid": row["reward"],
        }
