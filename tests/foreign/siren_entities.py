"""Hypermedia in the manner of Siren: entities with classes, properties, links and actions.

A job has no identifier but the address of itself; what state it is in is one of its
classes; and what there is to do stands in `properties`. Requests name a job by that
address, as a link does. Answers are the entity.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]
ROWS = (
    (301, "the ferry leaves at four", 5),
    (302, "no dogs on the upper deck", 3),
    (305, "life vests are under the seats", 6),
    (306, "the cafe takes only coins", 2),
    (309, "hold on to the rail", 4),
    (310, "last boat back at eight", 7),
)
SIREN = {"Content-Type": "application/vnd.siren+json"}


@dataclass
class Job:
    number: int
    text: str
    pay: int
    state: str = "open"
    worker: str = ""

    @property
    def address(self) -> str:
        return f"https://jobs.example.net/jobs/{self.number}"

    def entity(self) -> dict[str, object]:
        actions = [{"name": "claim", "method": "POST", "href": f"{self.address}/claim"}]
        return {
            "class": ["job", self.state],
            "rel": ["item"],
            "properties": {"text": self.text, "payInCredits": self.pay, "rush": False},
            "links": [
                {"rel": ["self"], "href": self.address},
                {"rel": ["collection"], "href": "https://jobs.example.net/jobs"},
            ],
            "actions": actions if self.state == "open" else [],
        }


class RefusedError(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        error = {"class": ["error"], "properties": {"message": message}}
        self.response = Response(status, error, SIREN)


def telling(action: Action) -> Action:
    """Answer with the refusal where the action raises one."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except RefusedError as no:
            return no.response

    return answer


class SirenEntities(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        open_ = [Job(*row) for row in ROWS]
        self._open = {job.address: job for job in open_}
        old = [
            Job(297, "mind the gap", 3, "paid", "crew0"),
            Job(299, "rope off the stern", 4, "claimed", "crew0"),
        ]
        self._jobs = {job.address: job for job in [*old, *open_]}

    def texts(self) -> dict[str, str]:
        return {job.address: job.text for job in self._open.values()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"crew{self.book.registrations}", secrets.token_hex(20)
        self._agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        jobs = [job.entity() for job in self._jobs.values()]
        collection = {
            "class": ["jobs", "collection"],
            "properties": {"size": len(jobs)},
            "entities": jobs,
            "links": [{"rel": ["self"], "href": "https://jobs.example.net/jobs"}],
        }
        return Response(200, collection, SIREN)

    @telling
    def claim(self, request: Request) -> Response:
        agent, job, _ = self._read(request)
        if job.state != "open":
            raise RefusedError(409, f"The job is {job.state}.")
        job.state, job.worker = "claimed", agent
        self.book.claimed(job.address)
        return Response(200, job.entity(), SIREN)

    @telling
    def submit(self, request: Request) -> Response:
        agent, job, given = self._read(request, "text")
        self._own(agent, job, "claimed")
        if given["text"] != job.text.upper():
            raise RefusedError(422, "The text is not in capitals.")
        job.state = "delivered"
        return Response(200, job.entity(), SIREN)

    @telling
    def complete(self, request: Request) -> Response:
        agent, job, _ = self._read(request)
        self._own(agent, job, "delivered")
        job.state = "paid"
        self.book.pay(job.address, job.pay)
        return Response(200, job.entity(), SIREN)

    def _own(self, agent: str, job: Job, state: str) -> None:
        if job.worker != agent or job.state != state:
            raise RefusedError(409, f"The job is {job.state}.")

    def _read(self, request: Request, *more: str) -> tuple[str, Job, dict[str, str]]:
        if request.token not in self._agents:
            raise RefusedError(401, "Send the token that you were given.")
        try:
            given = request.json()
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise RefusedError(400, "Send an object.")
        for name in ("job", *more):
            if not isinstance(given.get(name), str):
                raise RefusedError(400, f'The field "{name}" is missing.')
        job = self._jobs.get(given["job"])
        if job is None:
            raise RefusedError(404, "There is no such job.")
        return self._agents[request.token], job, given
