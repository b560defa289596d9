"""A network that takes one shape of each action, and says what is wrong with others.

It stands in for the services that the contract does not describe: an application in
memory, with the error vocabularies that real ones have.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType
from urllib.parse import parse_qsl

import httpx2 as httpx
from tests.network.conftest import NOW, identity_at

from journeyman.domain.tasks import JSON
from journeyman.network.client import NetworkClient
from journeyman.network.service_model.request import RequestShape
from journeyman.network.service_model.search import RequestSearch
from journeyman.testing import RecordingLog

BASE_URL = "http://network.invalid"
ACTIONS = {
    "claim-task-public": "claim",
    "submit-task-result-public": "submit",
    "complete-task-public": "complete",
    "write-post-task-public": "post_task",
}

Body = dict[str, JSON]
Names = list[str]
Complain = Callable[[Names, Names], tuple[int, JSON]]
"""From the missing and the unknown places to a status and a body."""


def places(body: Mapping[str, JSON], above: str = "") -> list[str]:
    """Name each field of a body by its place, such as `task.id`."""
    found: list[str] = []
    for name, value in body.items():
        if isinstance(value, dict) and name not in {"input", "evidence", "result"}:
            found += places(value, f"{above}{name}.")
        else:
            found.append(f"{above}{name}")
    return found


def plainly(_missing: Names, _unknown: Names) -> tuple[int, JSON]:
    return 400, {"error": "Bad Request"}


def by_pydantic(missing: Names, unknown: Names) -> tuple[int, JSON]:
    def items(names: Names, kind: str, message: str) -> list[JSON]:
        return [
            {"type": kind, "loc": ["body", *name.split(".")], "msg": message}
            for name in names
        ]

    return 422, {
        "detail": [
            *items(missing, "missing", "Field required"),
            *items(unknown, "extra_forbidden", "Extra inputs are not permitted"),
        ]
    }


def by_zod(missing: Names, unknown: Names) -> tuple[int, JSON]:
    issues: list[JSON] = [
        {
            "code": "invalid_type",
            "expected": "string",
            "received": "undefined",
            "path": [*name.split(".")],
            "message": "Required",
        }
        for name in missing
    ]
    issues += [
        {
            "code": "unrecognized_keys",
            "keys": [name.rpartition(".")[2]],
            "path": [*name.split(".")[:-1]],
            "message": f"Unrecognized key(s) in object: '{name}'",
        }
        for name in unknown
    ]
    return 400, {"error": {"issues": issues, "name": "ZodError"}}


def by_problem(missing: Names, unknown: Names) -> tuple[int, JSON]:
    def pointer(name: str) -> str:
        return "#/" + name.replace(".", "/")

    told = dict.fromkeys(missing, "is required")
    told |= dict.fromkeys(unknown, "is unknown")
    errors: list[JSON] = [
        {"pointer": pointer(name), "detail": said} for name, said in told.items()
    ]
    return 422, {"type": "about:blank", "title": "Bad body", "errors": errors}


def in_words(missing: Names, unknown: Names) -> tuple[int, JSON]:
    if missing:
        return 400, {"error": f"missing field {missing[0]}"}
    return 400, {"message": f"unknown field: {unknown[0]}"}


def one_column(missing: Names, unknown: Names) -> tuple[int, JSON]:
    if unknown:
        text = f"Could not find the '{unknown[0]}' column of 'claims'"
        return 400, {"code": "PGRST204", "message": text}
    text = f'null value in column "{missing[0]}" violates not-null constraint'
    return 400, {"code": "23502", "message": text}


def _read(content: str, kind: str) -> Body:
    if kind == "text/plain":
        return {"text": content}
    if "form" in kind:
        return {**dict(parse_qsl(content))}
    body: Body = json.loads(content)
    return body


@dataclass
class StrictNetwork:
    """Takes what has all of `wanted`, and with `strict` nothing else."""

    wanted: Mapping[str, Names]
    complain: Complain = by_pydantic
    strict: bool = True
    requests: list[tuple[str, Body, Mapping[str, str]]] = field(default_factory=list)
    answers: list[tuple[int, JSON]] = field(default_factory=list)
    """Given first, whatever is asked."""
    headers: dict[str, str] = field(default_factory=dict)
    """Of every answer."""
    queries: list[dict[str, str]] = field(default_factory=list)
    """What the address of each request said."""

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        action = ACTIONS[request.url.path.rpartition("/")[2]]
        body = _read(request.content.decode(), request.headers["content-type"])
        self.queries.append(dict(request.url.params))
        self.requests.append((action, body, dict(request.headers)))
        status, said = (
            self.answers.pop(0) if self.answers else self._judge(action, body)
        )
        if status == 0:
            raise httpx.ReadTimeout("no answer")
        return httpx.Response(status, json=said, headers=self.headers)

    def bodies(self, action: str = "claim") -> list[Body]:
        return [body for name, body, _ in self.requests if name == action]

    def keys(self, action: str = "claim") -> list[str]:
        return [
            headers["idempotency-key"]
            for name, _, headers in self.requests
            if name == action
        ]

    def _judge(self, action: str, body: Body) -> tuple[int, JSON]:
        there, wanted = places(body), self.wanted[action]
        missing = [name for name in wanted if name not in there]
        unknown = [name for name in there if name not in wanted] if self.strict else []
        return self.complain(missing, unknown) if missing or unknown else (200, {})


@dataclass
class DayClock:
    """A clock whose time passes when it is told to."""

    at: datetime = NOW

    def monotonic(self) -> float:
        return self.at.timestamp()

    def now(self) -> datetime:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


class Store:
    """What a client saves, for the next one."""

    def __init__(self, saved: JSON = None) -> None:
        self.saved = saved

    def write(self, document: JSON) -> None:
        self.saved = document


def client_of(
    network: StrictNetwork,
    *,
    owner: Mapping[str, RequestShape] = MappingProxyType({}),
    store: Store | None = None,
    clock: DayClock | None = None,
    log: RecordingLog | None = None,
) -> NetworkClient:
    """Return an identified client of a strict network."""
    clock, log, store = clock or DayClock(), log or RecordingLog(), store or Store()
    client = NetworkClient(
        base_url=BASE_URL,
        log=log,
        clock=clock,
        transport=httpx.MockTransport(network),
        search=RequestSearch(
            owner=owner, clock=clock, log=log, saved=store.saved, write=store.write
        ),
    )
    client.identify(identity_at(BASE_URL))
    return client
