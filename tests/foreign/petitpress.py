"""PetitPress: a small team's Symfony service, DTOs mapped by #[MapRequestPayload].

Bare JSON arrays with Link and X-Total-Count headers, camelCase, strict JSON types, and
the stock answers of the serializer and the validator in production mode.
A wrong result is a violation at submission; completing the assignment pays.
"""

import re
import secrets
import uuid
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_TASKS = {
    41: ("Shop sign", "fresh bread every morning", 14),
    42: ("Door plate", "deliveries at the side entrance", 8),
    44: ("Shelf label", "gluten free flour and oats", 11),
    47: ("Van lettering", "kessler & sons, since 1974", 32),
    48: ("Ticket header", "keep this stub until the end", 19),
    52: ("Menu heading", "soups, salads and small plates", 6),
}
_UUID4 = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_DAY = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")
# Constraint -> its test, what its message says, its error code.
_RULES: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "blank": (bool, "should not be blank", "c1051bb4-d103-4f74-8988-acbcafc7fdc3"),
    "null": (bool, "should not be null", "ad32d13f-c3d4-423b-909a-857b961eb720"),
    "true": (bool, "should be true", "2beabf1c-54c0-4882-a928-05249b26e23b"),
    "plus": ((0).__lt__, "should be positive", "778b7ae0-84d3-481a-9dec-35fdb64b1d78"),
    "uuid": (
        _UUID4.fullmatch,
        "is not a valid UUID",
        "51120b12-a2bc-41bf-aa53-cd73daf330d0",
    ),
    "date": (
        _DAY.fullmatch,
        "is not a valid date",
        "69819696-02ac-4a99-9ff0-14e127c4d1bc",
    ),
}
# Property path -> PHP type and constraints, as the DTO classes declare them.
_CLAIM = {
    "taskId": ("int", "blank plus"),
    "dueOn": ("string", "blank date"),
    "briefAccepted": ("bool", "null true"),
}
_SUBMIT = {
    "assignmentId": ("string", "blank uuid"),
    "delivery": ("object", "null"),
    "delivery.content": ("string", "blank"),
    "delivery.minutesSpent": ("int", "blank plus"),
}
_COMPLETE = {
    "submissionId": ("int", "blank plus"),
    "assignmentId": _SUBMIT["assignmentId"],
}
_CHECKOUT = dict.fromkeys(("plan", "agent_id", "price_id"), ("string", "blank"))
_PHP = {"int": int, "string": str, "bool": bool}


class _Halt(Exception):  # noqa: N818 - a word of the trade
    """Thrown by controllers with their answer."""

    def __init__(self, answer: Response) -> None:
        super().__init__(answer)
        self.answer = answer


def _problem(status: int, **headers: str) -> _Halt:
    body: dict[str, Any] = {"type": "https://tools.ietf.org/html/rfc2616#section-10"}
    body |= {"title": "An error occurred", "status": status}
    body["detail"] = HTTPStatus(status).phrase.replace("Entity", "Content")
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return _Halt(Response(status, body, {"Vary": "Accept", **headers}))


def _violation(
    path: str, message: str, code: str = "", **parameters: str
) -> dict[str, Any]:
    title = message
    for name, value in parameters.items():
        title = title.replace("{{ %s }}" % name, value)  # noqa: UP031
    entry: dict[str, Any] = {"propertyPath": path, "title": title, "template": message}
    entry["parameters"] = {"{{ %s }}" % k: v for k, v in parameters.items()}  # noqa: UP031
    return {**entry, "type": f"urn:uuid:{code}"} if code else entry


def _invalid(*violations: dict[str, Any]) -> _Halt:
    lines = [
        f"{v['propertyPath']}: {v['title']}".removeprefix(": ") for v in violations
    ]
    body: dict[str, Any] = {"type": "https://symfony.com/errors/validation"}
    body |= {"title": "Validation Failed", "status": 422, "detail": "\n".join(lines)}
    return _Halt(Response(422, {**body, "violations": violations}, {"Vary": "Accept"}))


def _holds(rule: str, value: Any) -> bool:
    if rule in ("blank", "null"):
        return value is not None and (rule == "null" or value != "")
    return value is None or value == "" or bool(_RULES[rule][0](value))


def _payload(request: Request, dto: dict[str, tuple[str, str]]) -> dict[str, Any]:
    if "json" not in (request.headers.get("Content-Type") or "").lower():
        raise _problem(415)
    if not request.raw:
        raise _problem(422)
    try:
        data = request.json()
    except ValueError:
        raise _problem(400) from None
    values: dict[str, Any] = {}
    wrong = []
    for path, (kind, _) in dto.items():
        node: Any = data
        for part in path.split("."):
            node = node.get(part) if isinstance(node, dict) else None
        values[path] = node
        if node is not None and kind in _PHP and type(node) is not _PHP[kind]:
            text = "This value should be of type {{ type }}."
            wrong.append(_violation(path, text, type=kind))
    if wrong:
        raise _invalid(*wrong)
    for path, (_, rules) in dto.items():
        owner, value = path.rpartition(".")[0], values[path]
        if owner and values[owner] is None:
            continue  # Assert\Valid does not look into null
        shown = f'"{value}"' if isinstance(value, str) else str(value).lower()
        shown = "null" if value is None else shown
        for rule in rules.split():
            if not _holds(rule, value):
                text, code = f"This value {_RULES[rule][1]}.", _RULES[rule][2]
                wrong.append(_violation(path, text, code, value=shown))
    if wrong:
        raise _invalid(*wrong)
    return values


def _route(controller: Callable[..., Response]) -> Callable[..., Response]:
    @wraps(controller)
    def listener(self: Any, request: Request) -> Response:
        try:
            return controller(self, request)
        except _Halt as halt:
            return halt.answer

    return listener


class PetitPress(Backend):
    """A Symfony service that hands out short texts to be set in capitals."""

    def __init__(self) -> None:
        super().__init__()
        self._tokens: dict[str, str] = {}
        self._balance: dict[str, int] = {}
        self._open = set(_TASKS)
        self._assignments: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(number): task[1] for number, task in _TASKS.items()}

    @_route
    def missing(self, request: Request) -> Response:
        known = [method for method, path in ACTIONS if path == request.path]
        if known and request.method not in known:
            raise _problem(405, Allow=", ".join(known))
        page = '<h2>The server returned a "404 Not Found".</h2>'
        return Response(404, page, {"Content-Type": "text/html; charset=UTF-8"})

    def _agent(self, request: Request) -> str:
        if not request.token:
            raise _problem(401, WWW_Authenticate="Bearer")
        if request.token not in self._tokens:
            why = (
                'Bearer error="invalid_token",error_description="Invalid credentials."'
            )
            raise _Halt(Response(401, "", {"WWW-Authenticate": why}))
        return self._tokens[request.token]

    def _assignment(self, agent: str, identifier: str) -> dict[str, Any]:
        assignment = self._assignments.get(identifier.lower())
        if assignment is None or assignment["agent"] != agent:
            raise _problem(403 if assignment else 404)
        return assignment

    def register(self, request: Request) -> Response:
        agent, token = str(uuid.uuid4()), secrets.token_hex(24)
        self._tokens[token], self._balance[agent] = agent, 100
        self.book.registrations += 1
        return Response(body={"agent_id": agent, "access_token": token, "credits": 100})

    @_route
    def marketplace(self, request: Request) -> Response:
        asked = {"limit": "5", "page": "1", **request.query}
        if not all(re.fullmatch(r"[1-9]\d{0,8}", asked[k]) for k in ("limit", "page")):
            raise _problem(404)  # what #[MapQueryParameter] answers
        limit, page = min(int(asked["limit"]), 20), int(asked["page"])
        rows = []
        for number in sorted(self._open):
            title, text, reward = _TASKS[number]
            row = {"id": number, "title": title, "sourceText": text, "status": "open"}
            row["brief"] = "Deliver sourceText in capital letters, otherwise unchanged."
            row["createdAt"] = f"2025-03-{number - 30:02d}T09:15:00+00:00"
            rows.append({**row, "rewardCredits": reward})
        headers = {"X-Total-Count": str(len(rows))}
        if page * limit < len(rows):
            url = f"{request.base}{request.path}?limit={limit}&page={page + 1}"
            headers["Link"] = f'<{url}>; rel="next"'
        return Response(200, rows[(page - 1) * limit : page * limit], headers)

    @_route
    def tasks(self, request: Request) -> Response:
        self._agent(request)
        return self.marketplace(request)

    def agents(self, request: Request) -> Response:
        return Response(body=[{"id": agent} for agent in self._balance])

    directory = agents

    @_route
    def claim(self, request: Request) -> Response:
        agent, payload = self._agent(request), _payload(request, _CLAIM)
        number = payload["taskId"]
        if number not in _TASKS:
            raise _problem(404)
        if number not in self._open:
            text = "Task {{ task }} is no longer open."
            raise _invalid(_violation("taskId", text, task=str(number)))
        self._open.remove(number)
        key = str(uuid.uuid4())
        self._assignments[key] = {"task": number, "agent": agent, "state": "assigned"}
        self.book.claimed(str(number))
        answer = {"assignmentId": key, "taskId": number, "state": "assigned"}
        return Response(body={**answer, "dueOn": payload["dueOn"]})

    @_route
    def submit(self, request: Request) -> Response:
        agent, payload = self._agent(request), _payload(request, _SUBMIT)
        assignment = self._assignment(agent, payload["assignmentId"])
        if assignment["state"] != "assigned":
            raise _invalid(_violation("", "This assignment was already delivered."))
        if payload["delivery.content"] != _TASKS[assignment["task"]][1].upper():
            why = "The content does not match the brief of the task."
            raise _invalid(_violation("delivery.content", why))
        assignment |= {"state": "delivered", "submission": 900 + assignment["task"]}
        return Response(
            body={"submissionId": assignment["submission"], "state": "delivered"}
        )

    @_route
    def complete(self, request: Request) -> Response:
        agent, payload = self._agent(request), _payload(request, _COMPLETE)
        assignment = self._assignment(agent, payload["assignmentId"])
        if assignment["state"] != "delivered":
            why = {"assigned": "has no delivery yet", "settled": "is already settled"}
            text = f"This assignment {why[assignment['state']]}."
            raise _invalid(_violation("", text))
        if payload["submissionId"] != assignment["submission"]:
            raise _invalid(_violation("submissionId", "This value is not valid."))
        reward = _TASKS[assignment["task"]][2]
        assignment["state"] = "settled"
        self._balance[agent] += reward
        self.book.pay(str(assignment["task"]), reward)
        answer = {"assignmentId": payload["assignmentId"], "state": "settled"}
        answer |= {"creditsEarned": reward, "balance": self._balance[agent]}
        return Response(body=answer)

    @_route
    def checkout(self, request: Request) -> Response:
        return Response(body={"ok": True, "plan": _payload(request, _CHECKOUT)["plan"]})
