"""A Symfony service built on API Platform: JSON-LD and Hydra.

Collections come in pages of five, under "hydra:member", with the next page's address
under "hydra:view". Relations are IRIs: where a task is wanted, its "@id" is meant, and a
bare number is an invalid IRI. A body that cannot be denormalized is a hydra:Error (400);
one that can is validated, and all violations come together (422). Unknown names are
ignored. Completing a submission pays.
"""

import re
import secrets
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

DESCRIPTIONS = (
    "the gardener trims the hedge at dawn",
    "six lanterns hang above the stairs",
    "take the second road after the mill",
    "a violin lay in the open case",
    "rinse the bottles and dry them well",
    "the postman knows every dog by name",
    "rain filled the barrel overnight",
    "sort the buttons by size and colour",
    "the last train carries only freight",
    "hang the wet coats near the stove",
    "an otter swam beneath the pier",
    "stamp the forms and file them away",
)
NOT_BLANK = ("This value should not be blank.", "c1051bb4-d103-4f74-8988-acbcafc7fdc3")
NOT_UNIQUE = ("This value is already used.", "23bd9dbf-6b9b-41cd-a99e-4844bcf3077f")
# The properties of each resource that can be written: an IRI's collection, or a type.
RESOURCES: dict[str, dict[str, str]] = {
    "Claim": {"task": "/api/tasks/"},
    "Submission": {"claim": "/api/claims/", "answer": "string"},
    "Completion": {"submission": "/api/submissions/"},
}
COLLECTIONS = ("/api/tasks/", "/api/claims/", "/api/submissions/")
PHP_TYPES = {
    bool: "boolean",
    int: "integer",
    float: "double",
    str: "string",
    list: "array",
    dict: "array",
    type(None): "NULL",
}
PAGE = 5
LD = {"Content-Type": "application/ld+json; charset=utf-8"}


class HydraError(Exception):
    """What the exception listener turns into an answer."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(str(body))
        self.response = Response(status, body, LD)


def hydra_error(status: int, description: str) -> HydraError:
    """Return an error without violations."""
    return HydraError(
        status,
        {
            "@context": "/api/contexts/Error",
            "@type": "hydra:Error",
            "hydra:title": "An error occurred",
            "hydra:description": description,
        },
    )


def invalid(*violations: tuple[str, tuple[str, str | None]]) -> HydraError:
    """Return what the validator found, all together."""
    return HydraError(
        422,
        {
            "@context": "/api/contexts/ConstraintViolationList",
            "@type": "ConstraintViolationList",
            "hydra:title": "An error occurred",
            "hydra:description": "\n".join(
                f"{path}: {message}" for path, (message, _) in violations
            ),
            "violations": [
                {"propertyPath": path, "message": message, "code": code}
                for path, (message, code) in violations
            ],
        },
    )


def attempt(step: Callable[[Request], Response], request: Request) -> Response:
    """Run a processor; what it throws is the answer."""
    try:
        return step(request)
    except HydraError as no:
        return no.response


class ApiPlatform(Backend):
    """Tasks, claims, submissions and completions, each a resource with an IRI."""

    def __init__(self) -> None:
        super().__init__()
        self.items: dict[str, dict[str, Any]] = {}  # IRI -> resource
        self.tokens: dict[str, str] = {}
        for at, text in enumerate(DESCRIPTIONS):
            row = {"description": text, "reward": (at * 2) % 9 + 1, "status": "open"}
            self.create("Task", "/api/tasks/", 12 + at, row)

    def create(
        self, kind: str, collection: str, number: int, row: dict[str, Any]
    ) -> dict[str, Any]:
        """Store a resource and return it."""
        iri = f"{collection}{number}"
        self.items[iri] = {"@id": iri, "@type": kind, "id": number, **row}
        return self.items[iri]

    def created(self, kind: str, row: dict[str, Any]) -> Response:
        """Store a resource and answer with it."""
        collection = f"/api/{kind.lower()}s/"
        number = 1 + sum(iri.startswith(collection) for iri in self.items)
        item = self.create(kind, collection, number, row)
        return Response(201, {"@context": f"/api/contexts/{kind}", **item}, LD)

    def tasks_in(self) -> list[dict[str, Any]]:
        return [row for row in self.items.values() if row["@type"] == "Task"]

    def texts(self) -> dict[str, str]:
        return {str(row["id"]): row["description"] for row in self.tasks_in()}

    def missing(self, request: Request) -> Response:
        told = f'No route found for "{request.method} {request.base}{request.path}"'
        return hydra_error(404, told).response

    def register(self, request: Request) -> Response:
        agent, token = f"a-{secrets.token_hex(8)}", secrets.token_urlsafe(48)
        self.tokens[token] = agent
        self.book.registrations += 1
        return Response(body={"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        page = request.query.get("page", "1")
        if not re.fullmatch(r"[1-9]\d{0,6}", page):
            return hydra_error(400, "Page should not be less than 1").response
        rows = [row for row in self.tasks_in() if row["status"] == "open"]
        first = (int(page) - 1) * PAGE
        body: dict[str, Any] = {
            "@context": "/api/contexts/Task",
            "@id": "/api/tasks",
            "@type": "hydra:Collection",
            "hydra:member": rows[first : first + PAGE],
            "hydra:totalItems": len(rows),
        }
        if len(rows) > PAGE:
            body["hydra:view"] = self.view(request.path, int(page), len(rows))
        return Response(200, body, LD)

    def view(self, path: str, page: int, total: int) -> dict[str, str]:
        """Return where this page, the first, the last, and its neighbours are."""
        last = -(-total // PAGE)
        pages = {"first": 1, "last": last, "previous": page - 1, "next": page + 1}
        view = {"@id": f"{path}?page={page}", "@type": "hydra:PartialCollectionView"}
        for name, number in pages.items():
            if 1 <= number <= last:
                view[f"hydra:{name}"] = f"{path}?page={number}"
        return view

    def marketplace(self, request: Request) -> Response:
        return self.tasks(request)

    def user(self, request: Request) -> str:
        """Return the agent; the firewall speaks plain JSON."""
        if request.token in self.tokens:
            return self.tokens[request.token]
        told = "Invalid JWT Token" if request.token else "JWT Token not found"
        no = HydraError(401, {"code": 401, "message": told})
        no.response.headers = {"WWW-Authenticate": "Bearer"}
        raise no

    def denormalize(self, request: Request, kind: str) -> dict[str, Any]:
        """Read a body into a resource: what cannot be read is refused one by one."""
        media = (request.headers.get("Content-Type") or "").partition(";")[0]
        if media not in {"application/ld+json", "application/json"}:
            supported = (
                'Supported MIME types are "application/ld+json", "application/json".'
            )
            told = f'The content-type "{media}" is not supported. {supported}'
            raise hydra_error(415, told)
        try:
            body = request.json()
        except ValueError as fault:
            raise hydra_error(400, "Syntax error") from fault
        if not isinstance(body, dict):
            raise hydra_error(400, "Data must be an object.")
        found: dict[str, Any] = {}
        for name, value in body.items():
            if wanted := RESOURCES[kind].get(name):
                found[name] = self.property_of(name, value, wanted)
        self.validate(found, kind)
        return found

    def property_of(self, name: str, value: Any, wanted: str) -> Any:
        """Return a scalar as it is, or the resource that an IRI names."""
        given = PHP_TYPES[type(value)]
        if wanted == "string":
            if isinstance(value, str):
                return value
            told = (
                f'The type of the "{name}" attribute must be "string", "{given}" given.'
            )
            raise hydra_error(400, told)
        if isinstance(value, dict | list):
            told = f'Nested documents for attribute "{name}" are not allowed. Use IRIs instead.'
            raise hydra_error(400, told)
        if not isinstance(value, str):
            told = f'Expected IRI or nested document for attribute "{name}", "{given}" given.'
            raise hydra_error(400, told)
        collection = re.sub(r"[^/]+$", "", value)
        if collection not in COLLECTIONS:
            raise hydra_error(400, f'Invalid IRI "{value}".')
        if value not in self.items:
            raise hydra_error(400, f'Item not found for "{value}".')
        if collection != wanted:
            raise hydra_error(400, f'Invalid IRI "{value}".')
        return self.items[value]

    def validate(self, found: dict[str, Any], kind: str) -> None:
        """Refuse a resource that lacks something, naming all of it."""
        lacking = [
            (name, NOT_BLANK)
            for name, wanted in RESOURCES[kind].items()
            if not found.get(name)
        ]
        if lacking:
            raise invalid(*lacking)

    def own(self, path: str, row: dict[str, Any], agent: str) -> None:
        """Refuse a relation to what belongs to somebody else."""
        if row["agent"] != agent:
            raise invalid((path, ("This is not yours.", None)))

    def claim(self, request: Request) -> Response:
        return attempt(self.on_claim, request)

    def on_claim(self, request: Request) -> Response:
        agent = self.user(request)
        task = self.denormalize(request, "Claim")["task"]
        if task["status"] != "open":
            raise invalid(("task", NOT_UNIQUE))
        task["status"] = "claimed"
        self.book.claimed(str(task["id"]))
        return self.created("Claim", {"task": task["@id"], "agent": agent})

    def submit(self, request: Request) -> Response:
        return attempt(self.on_submit, request)

    def on_submit(self, request: Request) -> Response:
        agent = self.user(request)
        body = self.denormalize(request, "Submission")
        claim = body["claim"]
        self.own("claim", claim, agent)
        task = self.items[claim["task"]]
        if task["status"] != "claimed":
            raise invalid(("claim", NOT_UNIQUE))
        if body["answer"] != task["description"].upper():
            raise invalid(("answer", ("This answer is not correct.", None)))
        task["status"] = "submitted"
        return self.created("Submission", {"claim": claim["@id"], "agent": agent})

    def complete(self, request: Request) -> Response:
        return attempt(self.on_complete, request)

    def on_complete(self, request: Request) -> Response:
        agent = self.user(request)
        submission = self.denormalize(request, "Completion")["submission"]
        self.own("submission", submission, agent)
        task = self.items[self.items[submission["claim"]]["task"]]
        if task["status"] == "completed":
            raise invalid(("submission", NOT_UNIQUE))
        task["status"] = "completed"
        self.book.pay(str(task["id"]), task["reward"])
        row = {"submission": submission["@id"], "status": "paid"}
        return self.created("Completion", {**row, "credits": task["reward"]})
