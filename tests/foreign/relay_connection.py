"""A front end's backend that hands its GraphQL answers through as they are.

Lists are Relay connections (`edges`, `node`, `pageInfo`), ids are base64, paging is `first`
and `after`. What the agent has is in `viewer`. A mutation's answer is its payload with
`userErrors`, status 200 either way; registration's too. A submission is reviewed by
somebody, and the node's `status` says when it was paid.
"""

import base64
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.foreign.backend import Backend, Request, Response

JOBS = (
    ("Headline 1", "council votes for a new bridge"),
    ("Headline 2", "rain is expected on sunday"),
    ("Headline 3", "bakers ask for cheaper flour"),
    ("Headline 4", "the old cinema opens again"),
    ("Headline 5", "school choir wins second prize"),
    ("Headline 6", "ferry line gets a larger ship"),
)
FIRST = 5
REVIEW_SECONDS = 3.0


@dataclass
class Node:
    id: str
    title: str
    body: str
    reward: int
    status: str = "OPEN"
    assignee: str | None = None
    submitted: float = 0.0

    def shown(self) -> dict[str, object]:
        assignee = {"id": self.assignee} if self.assignee else None
        return {
            "__typename": "Task",
            "id": self.id,
            "title": self.title,
            "body": self.body,
            "category": {"name": "Uppercase"},
            "reward": {"amount": self.reward, "currency": "CREDITS"},
            "status": self.status,
            "assignee": assignee,
        }


Mutation = Callable[[str, Node, dict[str, str]], None]


def _id(kind: str, number: int | str) -> str:
    return base64.b64encode(f"{kind}:{number}".encode()).decode()


class UserError(Exception):
    def __init__(self, code: str, message: str, *path: str) -> None:
        super().__init__(message)
        field = ["input", *path] if path else None
        self.told = {"field": field, "code": code, "message": message}


class RelayConnection(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        self._credits: dict[str, int] = {}
        other = _id("Agent", 12)
        before = [
            Node(_id("Task", 311), "Headline A", "mayor resigns", 4, "PAID", other),
            Node(_id("Task", 312), "Headline B", "tram is late", 6, "CLAIMED", other),
            Node(
                _id("Task", 313), "Headline C", "new park bench", 2, "IN_REVIEW", other
            ),
        ]
        open_ = [
            Node(_id("Task", 320 + n), title, body, n % 3 + 4)
            for n, (title, body) in enumerate(JOBS)
        ]
        self._open = {node.id: node for node in open_}
        self._nodes = {node.id: node for node in [*before, *open_]}

    def texts(self) -> dict[str, str]:
        return {node.id: node.body for node in self._open.values()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = _id("Agent", 70 + self.book.registrations), secrets.token_hex(20)
        self._agents[token], self._credits[agent] = agent, 100
        payload = {
            "agent": {"id": agent, "credits": 100, "__typename": "Agent"},
            "accessToken": token,
            "userErrors": [],
        }
        return Response(200, {"data": {"createFreeAgent": payload}})

    def tasks(self, request: Request) -> Response:
        self._review()
        first = request.query.get("first") or request.query.get("limit") or str(FIRST)
        size = min(int(first), FIRST) if first.isdecimal() else FIRST
        all_ = list(self._nodes.values())
        after = request.query.get("after", "")
        start = 0
        if after:
            start = next(
                (
                    n + 1
                    for n, node in enumerate(all_)
                    if _id("cursor", node.id) == after
                ),
                0,
            )
        shown = all_[start : start + size]
        tasks = {
            "totalCount": len(all_),
            "edges": [
                {"cursor": _id("cursor", node.id), "node": node.shown()}
                for node in shown
            ],
            "pageInfo": {
                "hasNextPage": start + size < len(all_),
                "endCursor": _id("cursor", shown[-1].id) if shown else None,
            },
        }
        viewer = None
        if agent := self._agents.get(request.token):
            viewer = {"id": agent, "credits": self._credits[agent]}
        return Response(200, {"data": {"viewer": viewer, "tasks": tasks}})

    def claim(self, request: Request) -> Response:
        def mutate(agent: str, node: Node, _: dict[str, str]) -> None:
            if node.status != "OPEN":
                raise UserError("TAKEN", "This task is not available any more.")
            node.assignee, node.status = agent, "CLAIMED"
            self.book.claimed(node.id)

        return self._mutation(request, "claimTask", mutate)

    def submit(self, request: Request) -> Response:
        def mutate(agent: str, node: Node, given: dict[str, str]) -> None:
            self._check(agent, node, "CLAIMED")
            if given["result"] != node.body.upper():
                raise UserError("INVALID", "Result is not as asked for.", "result")
            node.status, node.submitted = "IN_REVIEW", time.monotonic()

        return self._mutation(request, "submitTaskResult", mutate, "result")

    def complete(self, request: Request) -> Response:
        def mutate(agent: str, node: Node, _: dict[str, str]) -> None:
            if node.status == "PAID" and node.assignee == agent:
                return
            if node.status == "IN_REVIEW" and node.assignee == agent:
                raise UserError("IN_REVIEW", "This task is still in review.")
            self._check(agent, node, "APPROVED")
            node.status = "PAID"
            self._credits[agent] += node.reward
            self.book.pay(node.id, node.reward)

        return self._mutation(request, "completeTask", mutate)

    def _check(self, agent: str, node: Node, status: str) -> None:
        if node.assignee != agent:
            raise UserError("FORBIDDEN", "This task is not yours.")
        if node.status != status:
            raise UserError("WRONG_STATUS", f"This task is {node.status}.")

    def _review(self) -> None:
        for node in self._open.values():
            waited = time.monotonic() - node.submitted
            if node.status == "IN_REVIEW" and waited > REVIEW_SECONDS:
                node.status = "APPROVED"

    def _mutation(
        self, request: Request, name: str, mutate: Mutation, *more: str
    ) -> Response:
        self._review()
        if request.token not in self._agents:
            error = {"message": "Not authenticated", "path": [name]}
            return Response(401, {"data": None, "errors": [error]})
        try:
            given = _input(request, "taskId", *more)
            node = self._find(given["taskId"])
            mutate(self._agents[request.token], node, given)
        except UserError as no:
            refused = {"task": None, "userErrors": [no.told]}
            return Response(200, {"data": {name: refused}}, refused=True)
        payload = {"task": node.shown(), "userErrors": []}
        return Response(200, {"data": {name: payload}})

    def _find(self, id_: str) -> Node:
        if id_ not in self._nodes:
            raise UserError("NOT_FOUND", "There is no such task.", "taskId")
        return self._nodes[id_]


def _input(request: Request, *names: str) -> dict[str, str]:
    try:
        given = request.json()
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise UserError("BAD_INPUT", "The input must be an object.")
    for name in names:
        if not isinstance(given.get(name), str):
            raise UserError("REQUIRED", f"{name} is required.", name)
    return given
