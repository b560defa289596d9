"""A mapping project's tasks as GeoJSON: a FeatureCollection, in which tasks are features.

Where a task is says its geometry, what it is its properties, which have their names from
several hands: `taskId` is a number, `taskStatus` is READY, LOCKED_FOR_MAPPING, MAPPED or
VALIDATED, the pay is a text such as "5 credits". Answers to actions are about the feature.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]
READY, LOCKED, MAPPED, VALIDATED = "READY", "LOCKED_FOR_MAPPING", "MAPPED", "VALIDATED"
ROWS = (
    (41, "footpath behind the school", 5),
    (42, "fountain on the small square", 3),
    (43, "steps down to the harbour", 6),
    (46, "bench under the lime tree", 2),
    (47, "letter box by the station", 4),
    (48, "well in the old courtyard", 7),
)


@dataclass
class Feature:
    number: int
    note: str
    pay: int
    status: str = READY
    mapper: str | None = None

    def shown(self) -> dict[str, object]:
        at = [9.7 + self.number / 1000, 52.3 + self.number / 1000]
        ring = [at, [at[0] + 0.001, at[1]], [at[0], at[1] + 0.001], at]
        return {
            "type": "Feature",
            "geometry": {"type": "MultiPolygon", "coordinates": [[ring]]},
            "properties": {
                "taskId": self.number,
                "taskX": 34000 + self.number,
                "taskY": 21000 + self.number,
                "taskZoom": 16,
                "taskIsSquare": True,
                "taskStatus": self.status,
                "lockedBy": self.mapper,
                "comment": self.note,
                "pay": f"{self.pay} credits",
            },
        }


class RefusedError(Exception):
    def __init__(self, status: int, sub: str, message: str) -> None:
        super().__init__(message)
        self.response = Response(status, {"Error": message, "SubCode": sub})


def telling(action: Action) -> Action:
    """Answer with the refusal where the action raises one."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except RefusedError as no:
            return no.response

    return answer


class MappingFeatures(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        open_ = [Feature(*row) for row in ROWS]
        self._open = {one.number: one for one in open_}
        old = [
            Feature(39, "bridge over the brook", 5, VALIDATED, "anna"),
            Feature(40, "gate of the allotments", 5, LOCKED, "anna"),
        ]
        self._all = {one.number: one for one in [*old, *open_]}

    def texts(self) -> dict[str, str]:
        return {str(one.number): one.note for one in self._open.values()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"mapper{self.book.registrations}", secrets.token_hex(20)
        self._agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        features = [one.shown() for one in self._all.values()]
        kind = {"Content-Type": "application/geo+json"}
        collection = {"type": "FeatureCollection", "features": features}
        return Response(200, collection, kind)

    @telling
    def claim(self, request: Request) -> Response:
        agent, one, _ = self._read(request)
        if one.status != READY:
            raise RefusedError(409, "CannotLockTask", "Task in invalid state to lock")
        one.status, one.mapper = LOCKED, agent
        self.book.claimed(str(one.number))
        return self._answer(one)

    @telling
    def submit(self, request: Request) -> Response:
        agent, one, given = self._read(request, comment=str)
        if one.mapper != agent or one.status != LOCKED:
            raise RefusedError(403, "TaskNotOwned", "The task is not locked by you")
        if given["comment"] != one.note.upper():
            raise RefusedError(422, "BadComment", "The comment is not in capitals")
        one.status = MAPPED
        return self._answer(one)

    @telling
    def complete(self, request: Request) -> Response:
        agent, one, _ = self._read(request)
        if one.mapper != agent or one.status != MAPPED:
            raise RefusedError(409, "NotMapped", "The task is not in the state MAPPED")
        one.status = VALIDATED
        self.book.pay(str(one.number), one.pay)
        return self._answer(one)

    def _answer(self, one: Feature) -> Response:
        about = {"taskId": one.number, "projectId": 7, "lockHolder": one.mapper}
        return Response(200, {**about, "taskStatus": one.status})

    def _read(
        self, request: Request, **more: type
    ) -> tuple[str, Feature, dict[str, Any]]:
        if request.token not in self._agents:
            raise RefusedError(401, "InvalidToken", "Token is missing or invalid")
        try:
            given = request.json()
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise RefusedError(400, "InvalidData", "Data validation failed")
        for name, kind in {"taskId": int, **more}.items():
            if name not in given:
                raise RefusedError(400, "InvalidData", f"{name}: required field")
            if not isinstance(given[name], kind):
                word = "integer" if kind is int else "string"
                raise RefusedError(400, "InvalidData", f"{name}: expected {word}")
        one = self._all.get(given["taskId"])
        if one is None:
            raise RefusedError(404, "NotFound", "Task Not Found")
        return self._agents[request.token], one, given
