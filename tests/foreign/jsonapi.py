"""A JSON:API 1.1 service: resource objects in and out, application/vnd.api+json.

Requests are {"data": {"type": ..., "attributes": {...}}} with kebab-case attributes; every
fault is told at once, each with a JSON pointer to its place. The documents chain: a claim
is a resource whose id the submission's attributes want, and the completion wants the
submission's id. The listing is paged by page[number] and page[size], with links.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from tests.foreign.backend import Backend, Request, Response

TEXTS = (
    "the miller grinds oats on friday",
    "a blue door stands in the wall",
    "someone left a lantern burning",
    "the tide comes in after lunch",
    "small bells rang along the path",
    "my uncle repairs broken violins",
    "the soup needs a pinch of pepper",
    "an owl lives in the church tower",
    "we lost the map near the bridge",
    "the tailor measured both sleeves",
    "a hedgehog crossed the quiet lane",
    "the museum is closed on mondays",
)
PATH = "/functions/v1/get-marketplace-tasks"
MEDIA = {"Content-Type": "application/vnd.api+json"}
# What each endpoint creates: the resource's type, and its attributes.
CREATES = {
    "claim": ("claims", ("task-id",)),
    "submit": ("submissions", ("claim-id", "body")),
    "complete": ("completions", ("submission-id",)),
}
Document = dict[str, object]


class JsonApiError(Exception):
    def __init__(self, *errors: Document) -> None:
        super().__init__(*errors)
        self.errors = errors

    def response(self) -> Response:
        statuses = {int(str(error["status"])) for error in self.errors}
        status = statuses.pop() if len(statuses) == 1 else 400
        return Response(status, {"errors": list(self.errors)}, MEDIA)


def error(status: int, title: str, detail: str, **source: str) -> Document:
    told: Document = {"status": str(status), "title": title, "detail": detail}
    return {**told, "source": source} if source else told


def attribute_error(name: str, why: str) -> Document:
    pointer = f"/data/attributes/{name}"
    return error(422, "Invalid attribute", f"{name} {why}", pointer=pointer)


@dataclass
class Task:
    id: str
    text: str
    credits: int
    owner: str = ""
    state: str = "open"
    claim: str = ""
    submission: str = ""

    def resource(self, base: str) -> Document:
        attributes = {
            "instructions": self.text,
            "kind": "uppercase",
            "credit-reward": self.credits,
            "state": self.state,
            "created-at": f"2025-04-{self.credits:02}T07:15:00.000Z",
        }
        links = {"self": f"{base}{PATH}/{self.id}"}
        return {
            "type": "tasks",
            "id": self.id,
            "attributes": attributes,
            "links": links,
        }


class JsonApi(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        found = [Task(str(n), text, n * 2 % 9 + 1) for n, text in enumerate(TEXTS, 1)]
        self._tasks = {task.id: task for task in found}

    def texts(self) -> dict[str, str]:
        return {task.id: task.text for task in self._tasks.values()}

    def missing(self, request: Request) -> Response:
        return JsonApiError(
            error(404, "Not Found", f"No route {request.path}")
        ).response()

    def document(self, request: Request) -> Response:
        folder, _, number = request.path.rpartition("/")
        if folder != PATH or number not in self._tasks:
            return self.missing(request)
        resource = self._tasks[number].resource(request.base)
        return Response(200, {"data": resource}, MEDIA)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = str(9000 + self.book.registrations), secrets.token_urlsafe(32)
        self._agents[token] = agent
        # The one answer that the contract shows, so it is no resource document.
        answer = {"agent_id": agent, "access_token": token, "credits": 100}
        return Response(body=answer)

    def tasks(self, request: Request) -> Response:
        try:
            number, size = _page(request, "number", 1), _page(request, "size", 5)
        except JsonApiError as no:
            return no.response()
        left = [task for task in self._tasks.values() if task.state == "open"]
        last = max(1, -(-len(left) // size))

        def link(page: int) -> str | None:
            query = urlencode({"page[number]": page, "page[size]": size})
            return f"{request.base}{PATH}?{query}" if 1 <= page <= last else None

        links = {
            "self": link(number),
            "first": link(1),
            "prev": link(number - 1),
            "next": link(number + 1),
            "last": link(last),
        }
        shown = left[(number - 1) * size : number * size]
        data = [task.resource(request.base) for task in shown]
        body = {"jsonapi": {"version": "1.1"}, "data": data, "links": links}
        return Response(200, body, MEDIA)

    def claim(self, request: Request) -> Response:
        return self._create(request, "claim", self._claim)

    def submit(self, request: Request) -> Response:
        return self._create(request, "submit", self._submit)

    def complete(self, request: Request) -> Response:
        return self._create(request, "complete", self._complete)

    def _create(
        self,
        request: Request,
        action: str,
        create: Callable[[str, dict[str, str]], Document],
    ) -> Response:
        try:
            agent = self._authenticated(request)
            data = create(agent, attributes(request, *CREATES[action]))
        except JsonApiError as no:
            return no.response()
        return Response(200, {"jsonapi": {"version": "1.1"}, "data": data}, MEDIA)

    def _authenticated(self, request: Request) -> str:
        if request.token not in self._agents:
            detail = "A valid bearer token is required to access this resource."
            raise JsonApiError(error(401, "Unauthorized", detail))
        return self._agents[request.token]

    def _by(self, agent: str, member: str, attribute: str, wanted: str) -> Task:
        for task in self._tasks.values():
            if getattr(task, member) == wanted and task.owner in {"", agent}:
                return task
        detail = f"The record identified by {wanted} could not be found."
        pointer = f"/data/attributes/{attribute}"
        raise JsonApiError(error(404, "Record not found", detail, pointer=pointer))

    def _claim(self, agent: str, given: dict[str, str]) -> Document:
        wanted = self._tasks.get(given["task-id"])
        if wanted is not None and wanted.owner:
            detail = f"Task {wanted.id} has already been claimed."
            raise JsonApiError(error(409, "Conflict", detail))
        task = self._by(agent, "id", "task-id", given["task-id"])
        task.owner, task.state, task.claim = (
            agent,
            "claimed",
            f"{5000 + int(task.id) * 3}",
        )
        self.book.claimed(task.id)
        related: Document = {"task": {"data": {"type": "tasks", "id": task.id}}}
        return _resource("claims", task.claim, {"state": "active"}, related)

    def _submit(self, agent: str, given: dict[str, str]) -> Document:
        task = self._by(agent, "claim", "claim-id", given["claim-id"])
        if task.state != "claimed":
            detail = f"Claim {task.claim} already has an accepted submission."
            raise JsonApiError(error(409, "Conflict", detail))
        if given["body"] != task.text.upper():
            why = "must be the instructions of the task in upper case"
            raise JsonApiError(attribute_error("body", why))
        task.state, task.submission = "submitted", f"{80000 + int(task.id) * 7}"
        related: Document = {"claim": {"data": {"type": "claims", "id": task.claim}}}
        return _resource("submissions", task.submission, {"state": "accepted"}, related)

    def _complete(self, agent: str, given: dict[str, str]) -> Document:
        wanted = given["submission-id"]
        task = self._by(agent, "submission", "submission-id", wanted)
        if task.state == "completed":
            detail = f"Submission {wanted} has already been completed."
            raise JsonApiError(error(409, "Conflict", detail))
        task.state = "completed"
        self.book.pay(task.id, task.credits)
        related: Document = {
            "submission": {"data": {"type": "submissions", "id": wanted}}
        }
        paid = {"state": "paid", "credits-paid": task.credits}
        return _resource("completions", f"{300000 + int(task.id)}", paid, related)


def _resource(
    type_: str, id_: str, attributes_: Document, related: Document
) -> Document:
    return {
        "type": type_,
        "id": id_,
        "attributes": attributes_,
        "relationships": related,
    }


def _page(request: Request, name: str, default: int) -> int:
    asked = request.query.get(f"page[{name}]", str(default))
    if asked.isdecimal() and 1 <= int(asked) <= 10_000:
        return min(int(asked), 50) if name == "size" else int(asked)
    detail = f"{asked} is an invalid value for the {name} page parameter."
    told = error(400, "Invalid page value", detail, parameter=f"page[{name}]")
    raise JsonApiError(told)


def attributes(request: Request, type_: str, wanted: tuple[str, ...]) -> dict[str, str]:
    """Return a resource object's attributes; unknown ones are ignored."""
    data = _primary_data(request)
    told = [*_type_errors(data, type_)]
    given = data.get("attributes", {})
    if not isinstance(given, dict):
        detail, at = "must be an object", "/data/attributes"
        told.append(error(400, "Invalid document", detail, pointer=at))
        raise JsonApiError(*told)
    for name in wanted:
        value = given.get(name)
        if value is None or (isinstance(value, str) and not value.strip()):
            told.append(attribute_error(name, "can't be blank"))
        elif not isinstance(value, str):
            told.append(attribute_error(name, "must be a string"))
    if told:
        raise JsonApiError(*told)
    return {name: str(given[name]) for name in wanted}


def _primary_data(request: Request) -> Document:
    try:
        document = request.json()
    except ValueError:
        detail = "The request body is not valid JSON."
        raise JsonApiError(error(400, "Bad request", detail)) from None
    if not isinstance(document, dict) or "data" not in document:
        detail = "The request must include `data` at the root of the document."
        raise JsonApiError(error(400, "Missing data member", detail, pointer=""))
    data = document["data"]
    if not isinstance(data, dict):
        detail = "must be a single resource object"
        raise JsonApiError(error(400, "Invalid document", detail, pointer="/data"))
    return data


def _type_errors(data: Document, type_: str) -> list[Document]:
    if "type" not in data:
        detail = "The resource object must include `type`."
        return [error(400, "Missing type member", detail, pointer="/data")]
    if data["type"] != type_:
        detail = f'must be "{type_}"'
        return [error(409, "Invalid type", detail, pointer="/data/type")]
    return []
