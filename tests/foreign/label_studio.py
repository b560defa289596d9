"""Labelling tasks in the manner of Label Studio: what there is to do stands in `data`.

Nothing is called a state: a task is labelled or not, locked by people or by nobody. Those
who set the project up put the text and the reward into `data`, under names of their own,
and the counts around it are the tool's. Locking answers with a lock, submitting with an
annotation, and it is the annotation that is completed. An integer is an integer.
"""

import itertools
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]
ROWS = (
    (2014, "the cat sat on the router", 5),
    (2015, "this film was far too long", 3),
    (2016, "nobody answers the telephone", 6),
    (2018, "the soup was cold and late", 4),
    (2021, "a friendly voice on the line", 2),
    (2022, "the chair broke on day two", 7),
)


@dataclass
class Item:
    id: int
    text: str
    reward: int
    locked_by: int | None = None
    annotations: list[dict[str, object]] = field(default_factory=list)
    labelled: bool = False

    def shown(self, at: int) -> dict[str, object]:
        return {
            "id": self.id,
            "data": {"source_text": self.text, "reward_credits": self.reward},
            "meta": {},
            "created_at": "2026-10-11T09:12:13.141592Z",
            "updated_at": "2026-10-11T09:12:13.141603Z",
            "is_labeled": self.labelled,
            "overlap": 1,
            "inner_id": at,
            "total_annotations": len(self.annotations),
            "cancelled_annotations": 0,
            "total_predictions": 0,
            "comment_count": 0,
            "project": 31,
            "locked_by": [{"user": self.locked_by}] if self.locked_by else [],
            "annotations": self.annotations,
            "predictions": [],
        }


class ApiError(Exception):
    def __init__(self, status: int, detail: str, **faults: str) -> None:
        super().__init__(detail)
        body: dict[str, object] = {"status_code": status, "detail": detail}
        if faults:
            body["validation_errors"] = {name: [told] for name, told in faults.items()}
        self.response = Response(status, body)


def telling(action: Action) -> Action:
    """Answer with the error where the action raises one."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except ApiError as no:
            return no.response

    return answer


class LabelStudio(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, int] = {}
        self._numbers = itertools.count(880)
        open_ = [Item(*row) for row in ROWS]
        self._open = {item.id: item for item in open_}
        done = Item(2011, "the train was on time", 4, labelled=True)
        done.annotations = [{"id": 871, "completed_by": 4, "was_cancelled": False}]
        locked = Item(2017, "the hotel had no lift", 5, locked_by=4)
        all_ = sorted([done, locked, *open_], key=lambda item: item.id)
        self._items = {item.id: item for item in all_}

    def texts(self) -> dict[str, str]:
        return {str(item.id): item.text for item in self._open.values()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = 16 + self.book.registrations, secrets.token_hex(20)
        self._agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        items = self._items.values()
        shown = [item.shown(at) for at, item in enumerate(items, start=1)]
        counts = {"total": len(shown), "total_annotations": 1, "total_predictions": 0}
        return Response(200, {**counts, "tasks": shown})

    @telling
    def claim(self, request: Request) -> Response:
        agent, given = self._read(request, task=int)
        item = self._item(given["task"])
        if item.labelled or item.locked_by:
            raise ApiError(409, "The task is locked by another annotator.")
        item.locked_by = agent
        self.book.claimed(str(item.id))
        lock = {"id": next(self._numbers), "task": item.id, "user": agent}
        return Response(201, {**lock, "expire_at": "2031-01-01T00:00:00Z"})

    @telling
    def submit(self, request: Request) -> Response:
        agent, given = self._read(request, task=int, result=str)
        item = self._item(given["task"])
        if item.locked_by != agent:
            raise ApiError(403, "You do not hold the lock of this task.")
        if given["result"] != item.text.upper():
            raise ApiError(400, "Validation error", result="Not the text in capitals.")
        annotation = {
            "id": next(self._numbers),
            "task": item.id,
            "completed_by": agent,
            "was_cancelled": False,
            "ground_truth": False,
            "result": given["result"],
        }
        item.annotations.append(annotation)
        return Response(201, annotation)

    @telling
    def complete(self, request: Request) -> Response:
        agent, given = self._read(request, annotation=int)
        for item in self._items.values():
            for one in item.annotations:
                if one["id"] == given["annotation"] and one["completed_by"] == agent:
                    if not item.labelled:
                        self.book.pay(str(item.id), item.reward)
                    item.labelled, item.locked_by = True, None
                    return Response(200, {**one, "ground_truth": True})
        raise ApiError(404, "No Annotation matches the given query.")

    def _item(self, number: int) -> Item:
        if number not in self._items:
            raise ApiError(404, "No Task matches the given query.")
        return self._items[number]

    def _read(self, request: Request, **wanted: type) -> tuple[int, dict[str, Any]]:
        if request.token not in self._agents:
            raise ApiError(401, "Authentication credentials were not provided.")
        try:
            given = request.json()
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise ApiError(400, "JSON parse error")
        faults = {}
        for name, kind in wanted.items():
            if given.get(name) is None:
                faults[name] = "This field is required."
            elif not isinstance(given[name], kind):
                what = "integer" if kind is int else "string"
                faults[name] = f"A valid {what} is required."
        if faults:
            raise ApiError(400, "Validation error", **faults)
        return self._agents[request.token], given
