"""A Laravel API: FormRequest validation, Eloquent ids (lower-case ULIDs), a paginator.

A refused body is a 422 whose message is the first fault "(and 2 more errors)" and whose
`errors` holds them all by field, in Laravel's words; other fields are ignored, but a claim
must not name the agent (`agent_id` is prohibited: the token says who it is). A submission
may name its content type, which then has to be one that the claim's answer listed. Money
is a string with two decimals. The listing is Laravel's LengthAwarePaginator.
"""

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from tests.foreign.backend import Backend, Request, Response

TEXTS = (
    "the gardener prunes roses in march",
    "a wooden spoon hangs by the stove",
    "the children built a dam of stones",
    "thunder rolled beyond the hills",
    "her grandmother knits in the dark",
    "the goat ate half of my newspaper",
    "fresh ink dries slowly in winter",
    "the elevator stopped at every floor",
    "a narrow path leads to the spring",
    "they sold honey beside the road",
    "the moon rose behind the chimney",
    "an empty bottle floated past us",
)
PAGE = 5
CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"
CONTENT_TYPES = ["text/plain", "text/markdown"]
# The rules of each action, as Laravel writes them.
RULES = {
    "claim": {"task_id": "required|string|ulid|exists", "agent_id": "prohibited"},
    "submit": {
        "task_id": "required|string|ulid|exists",
        "result": "required|string",
        "content_type": "nullable|in",
    },
    "complete": {"task_id": "required|string|ulid|exists"},
}
MESSAGES = {
    "required": "The {} field is required.",
    "string": "The {} field must be a string.",
    "ulid": "The {} field must be a valid ULID.",
    "exists": "The selected {} is invalid.",
    "in": "The selected {} is invalid.",
    "prohibited": "The {} field is prohibited.",
}


class LaravelError(Exception):
    def __init__(self, status: int, body: dict[str, object]) -> None:
        super().__init__(body)
        self.status, self.body = status, body


def abort(status: int, message: str) -> LaravelError:
    return LaravelError(status, {"message": message})


def validation(errors: dict[str, list[str]]) -> LaravelError:
    first, *more = [message for messages in errors.values() for message in messages]
    if more:
        first += f" (and {len(more)} more error{'s' if len(more) > 1 else ''})"
    return LaravelError(422, {"message": first, "errors": errors})


@dataclass
class Task:
    id: str
    text: str
    credits: int
    owner: str = ""
    status: str = "open"

    def attributes(self) -> dict[str, object]:
        return {
            "id": self.id,
            "category": "uppercase",
            "description": self.text,
            "reward": {"amount": f"{self.credits}.00", "currency": "credits"},
            "status": self.status,
            "created_at": f"2025-05-{self.credits:02}T11:20:00.000000Z",
        }


def ulid(number: int) -> str:
    tail = ""
    for _ in range(26):
        number, digit = divmod(number, 32)
        tail = CROCKFORD[digit] + tail
    return tail


class Laravel(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        found = [
            Task(
                ulid(0x01949A3C71B5 + n << 80 | (n * 2 + 7) ** 41 % 2**80),
                text,
                n * 8 % 9 + 1,
            )
            for n, text in enumerate(TEXTS)
        ]
        self._tasks = {task.id: task for task in found}

    def texts(self) -> dict[str, str]:
        return {task.id: task.text for task in self._tasks.values()}

    def missing(self, request: Request) -> Response:
        path = request.path.lstrip("/")
        return Response(404, {"message": f"The route {path} could not be found."})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        number = self.book.registrations
        agent = ulid(0x01949A40AA00 + number << 80 | secrets.randbits(80))
        token = f"{number}|{secrets.token_hex(24)}"
        self._agents[token] = agent
        return Response(body={"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        asked = request.query.get("page", "1")
        page = max(1, int(asked)) if asked.isdecimal() and len(asked) < 9 else 1
        left = [t.attributes() for t in self._tasks.values() if t.status == "open"]
        return Response(body=paginator(left, page, request.base + request.path))

    def claim(self, request: Request) -> Response:
        return self._route(request, "claim", self._claim)

    def submit(self, request: Request) -> Response:
        return self._route(request, "submit", self._submit)

    def complete(self, request: Request) -> Response:
        return self._route(request, "complete", self._complete)

    def _route(
        self,
        request: Request,
        action: str,
        act: Callable[[str, Task, dict[str, object]], dict[str, object]],
    ) -> Response:
        try:
            agent = self._authenticated(request)
            given = self._validated(request, action)
            task = self._tasks[str(given["task_id"]).lower()]
            return Response(body={"data": act(agent, task, given)})
        except LaravelError as no:
            return Response(no.status, no.body)

    def _authenticated(self, request: Request) -> str:
        if request.token not in self._agents:
            raise abort(401, "Unauthenticated.")
        return self._agents[request.token]

    def _validated(self, request: Request, action: str) -> dict[str, object]:
        given, errors = _input(request), dict[str, list[str]]()
        for field, rules in RULES[action].items():
            if faults := list(self._faults(given.get(field), rules.split("|"))):
                name = field.replace("_", " ")
                errors[field] = [MESSAGES[rule].format(name) for rule in faults]
        if errors:
            raise validation(errors)
        return given

    def _faults(self, value: object, rules: list[str]) -> list[str]:
        if value is None or value == []:
            return ["required"] if "required" in rules else []
        faults: list[str] = []
        for rule in rules:
            # Laravel asks the database only of a value that has passed so far.
            if not (rule == "exists" and faults) and not self._passes(value, rule):
                faults.append(rule)
        return faults

    def _passes(self, value: object, rule: str) -> bool:
        match rule:
            case "string":
                return isinstance(value, str)
            case "ulid":
                return isinstance(value, str) and _is_ulid(value.lower())
            case "exists":
                return str(value).lower() in self._tasks
            case "in":
                return value in CONTENT_TYPES
            case _:
                return rule != "prohibited"

    def _claim(self, agent: str, task: Task, _: dict[str, object]) -> dict[str, object]:
        if task.owner:
            raise abort(409, "This task has already been claimed.")
        task.owner, task.status = agent, "claimed"
        self.book.claimed(task.id)
        return {
            "task_id": task.id,
            "status": task.status,
            "accepted_content_types": CONTENT_TYPES,
        }

    def _submit(
        self, agent: str, task: Task, given: dict[str, object]
    ) -> dict[str, object]:
        if task.owner != agent:
            raise abort(403, "This action is unauthorized.")
        if task.status != "claimed":
            raise abort(409, "A result has already been accepted for this task.")
        if given["result"] != task.text.upper():
            why = "The result field must be the description of the task in upper case."
            raise validation({"result": [why]})
        task.status = "submitted"
        return {"task_id": task.id, "status": task.status}

    def _complete(
        self, agent: str, task: Task, _: dict[str, object]
    ) -> dict[str, object]:
        if task.owner != agent:
            raise abort(403, "This action is unauthorized.")
        if task.status == "claimed":
            raise abort(409, "This task has no accepted result yet.")
        if task.status == "paid":
            raise abort(409, "This task has already been completed.")
        task.status = "paid"
        self.book.pay(task.id, task.credits)
        return {"status": task.status}


def _input(request: Request) -> dict[str, object]:
    """Return the input after Laravel's TrimStrings and ConvertEmptyStringsToNull."""
    try:
        body = json.loads(request.raw)
    except ValueError:
        return {}
    if not isinstance(body, dict):
        return {}
    trimmed = {k: v.strip() if isinstance(v, str) else v for k, v in body.items()}
    return {k: None if v == "" else v for k, v in trimmed.items()}


def _is_ulid(value: str) -> bool:
    return len(value) == 26 and value[0] <= "7" and not set(value) - set(CROCKFORD)


def paginator(rows: list[dict[str, object]], page: int, path: str) -> dict[str, object]:
    last = max(1, -(-len(rows) // PAGE))
    shown = rows[(page - 1) * PAGE : page * PAGE]

    def url(number: int) -> str | None:
        return f"{path}?{urlencode({'page': number})}" if 1 <= number <= last else None

    def link(label: str, number: int) -> dict[str, object]:
        active = label == str(page)
        return {"url": url(number), "label": label, "active": active}

    pages = [link(str(number), number) for number in range(1, last + 1)]
    return {
        "current_page": page,
        "data": shown,
        "first_page_url": url(1),
        "from": (page - 1) * PAGE + 1 if shown else None,
        "last_page": last,
        "last_page_url": url(last),
        "links": [
            link("&laquo; Previous", page - 1),
            *pages,
            link("Next &raquo;", page + 1),
        ],
        "next_page_url": url(page + 1),
        "path": path,
        "per_page": PAGE,
        "prev_page_url": url(page - 1),
        "to": (page - 1) * PAGE + len(shown) if shown else None,
        "total": len(rows),
    }
