"""The citizens' office of Lindenau, whose clerks' queue is open to agents as well.

A content management system's JSON:API: resources with type, id and attributes,
kebab-case, errors with pointers (all at once), `links.describedby` leads to an OpenAPI
document. Lists pages of four by links.next. Taking a case is 201 with an assignment, a
conflict when it is repeated; the decision is given for the assignment with an outcome
and is 202: a second clerk countersigns within two seconds and the office pays by
itself. The state is in the listing and at the assignment's link. There is no
completion. Only waiting cases are in texts().
"""

import secrets
import time
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

CASES = [
    # file number, department, credits, subject, statement
    (
        "32-1187-24",
        "parking",
        12,
        "Permit",
        "I moved to Gartenweg 9 and need a permit.",
    ),
    ("32-1190-24", "parking", 10, "Appeal", "The sign was covered with snow that day."),
    (
        "33-0412-24",
        "registry",
        8,
        "Certificate",
        "Two copies of the birth certificate.",
    ),
    (
        "33-0415-24",
        "registry",
        16,
        "Name",
        "Our surname is spelled with a y, not an i.",
    ),
    (
        "61-0077-24",
        "building",
        35,
        "Shed",
        "The shed is 2.4 m high and has no footing.",
    ),
    ("61-0081-24", "building", 28, "Fence", "The neighbour agrees to a wooden fence."),
    (
        "67-0230-24",
        "parks",
        14,
        "Tree",
        "A branch of the lime tree hangs over the path.",
    ),
]
BUSY = [("33-0409-24", "registry", 9, "Address", "Please correct the house number.")]
OUTCOMES = ["granted", "granted-in-part", "declined"]
CLAIM = {"case-id": {"type": "string", "description": "id of a waiting case"}}
DECISION = {
    "assignment-id": {"type": "string", "format": "uuid"},
    "outcome": {"type": "string", "enum": OUTCOMES},
    "wording": {"type": "string", "minLength": 1, "description": "the finished text"},
}
ACTIONS: dict[str, tuple[str, dict[str, Any], str]] = {
    "claim-task-public": ("case-assignment", CLAIM, "201"),
    "submit-task-result-public": ("decision", DECISION, "202"),
}


class LindenauCityOffice(Backend):
    """Cases, assignments, decisions."""

    def __init__(self) -> None:
        """Open the office."""
        super().__init__()
        self.cases = {row[0]: row for row in sorted(CASES + BUSY)}
        self.state = {row[0]: "waiting" for row in CASES}
        self.state |= {row[0]: "with-clerk" for row in BUSY}
        self.agents: dict[str, str] = {}
        self.assignments: dict[str, tuple[str, str]] = {}  # id -> case, agent
        self.due: dict[str, tuple[float, bool]] = {}

    def texts(self) -> dict[str, str]:
        """Return the statement of every waiting case."""
        return {row[0]: row[4] for row in CASES}

    @staticmethod
    def _no(status: int, *problems: tuple[str, str]) -> Response:
        errors = []
        for pointer, detail in problems:
            error: dict[str, Any] = {"status": str(status), "detail": detail}
            if pointer:
                error["source"] = {"pointer": pointer}
            errors.append(error)
        headers = {"Content-Type": "application/vnd.api+json"}
        return Response(status, {"errors": errors}, headers)

    def missing(self, request: Request) -> Response:
        """Say that the route is unknown."""
        return self._no(404, ("", f"No route for {request.method} {request.path}."))

    def document(self, request: Request) -> Response:
        """Serve the OpenAPI document and single assignments."""
        if request.path == "/jsonapi/openapi.json":
            return Response(200, self._openapi(request.base))
        key = request.path.removeprefix("/jsonapi/case-assignment/")
        if key in self.assignments:
            return self._denied(request) or Response(
                200, self._assignment(key, request)
            )
        return self.missing(request)

    @staticmethod
    def _openapi(base: str) -> dict[str, Any]:
        def an_object(**properties: Any) -> dict[str, Any]:
            required = list(properties)
            return {"type": "object", "required": required, "properties": properties}

        paths = {}
        for path, (kind, attributes, status) in ACTIONS.items():
            only = {"type": "string", "enum": [kind]}
            data = an_object(type=only, attributes=an_object(**attributes))
            content = {"application/json": {"schema": an_object(data=data)}}
            paths[f"/functions/v1/{path}"] = {
                "post": {
                    "security": [{"bearer": []}],
                    "requestBody": {"required": True, "content": content},
                    "responses": {status: {"description": kind}},
                }
            }
        bearer = {"type": "http", "scheme": "bearer"}
        return {
            "openapi": "3.0.3",
            "info": {"title": "Lindenau citizens' office", "version": "1.4"},
            "servers": [{"url": base}],
            "components": {"securitySchemes": {"bearer": bearer}},
            "paths": paths,
        }

    def register(self, request: Request) -> Response:
        """Give an agent a seat."""
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), secrets.token_urlsafe(30)
        self.agents[token] = agent
        data = {"type": "agent", "id": agent, "attributes": {"credits": 100}}
        return Response(200, {"data": data, "meta": {"access_token": token}})

    def marketplace(self, request: Request) -> Response:
        """List the cases, four a page."""
        asked = request.query.get("page[number]", "1")
        number = max(int(asked), 1) if asked.isdecimal() else 1
        rows = list(self.cases.values())
        data = [
            {
                "type": "case",
                "id": case,
                "attributes": {
                    "department": department,
                    "subject": subject,
                    "statement": statement,
                    "state": self.state[case],
                    "remuneration-credits": credits_,
                },
            }
            for case, department, credits_, subject, statement in rows
        ][(number - 1) * 4 : number * 4]
        url = f"{request.base}{request.path}?page%5Bnumber%5D="
        links = {"self": f"{url}{number}"}
        if number * 4 < len(rows):
            links["next"] = f"{url}{number + 1}"
        links["describedby"] = f"{request.base}/jsonapi/openapi.json"
        return Response(
            200, {"data": data, "links": links, "meta": {"count": len(rows)}}
        )

    def _denied(self, request: Request) -> Response | None:
        if request.token in self.agents:
            return None
        return self._no(401, ("", "No valid bearer token was provided."))

    def tasks(self, request: Request) -> Response:
        """List the cases for an agent."""
        return self._denied(request) or self.marketplace(request)

    def _attributes(self, request: Request) -> Any:
        """Return the attributes of the document in the body, or what is wrong."""
        try:
            body = request.json()
        except ValueError:
            return self._no(400, ("", "The body is not a JSON document."))
        kind, wanted, _ = ACTIONS[request.path.rpartition("/")[2]]
        data = body.get("data") if isinstance(body, dict) else None
        data = data if isinstance(data, dict) else {}
        given = data.get("attributes")
        given = given if isinstance(given, dict) else {}
        bad = []
        if data.get("type") != kind:
            bad.append(("/data/type", f'This value should be "{kind}".'))
        for name, rule in wanted.items():
            value, pointer = given.get(name), f"/data/attributes/{name}"
            if not isinstance(value, str) or not value.strip():
                bad.append((pointer, "This value should be a text and not be blank."))
            elif value not in rule.get("enum", [value]):
                bad.append((pointer, f"This value should be one of {rule['enum']}."))
        return self._no(422, *bad) if bad else given

    def _assignment(self, key: str, request: Request) -> dict[str, Any]:
        case = self.assignments[key][0]
        attributes = {"case-id": case, "state": self.state[case]}
        if self.state[case] == "decided":
            attributes["credits-paid"] = str(self.cases[case][2])
        data = {"type": "case-assignment", "id": key, "attributes": attributes}
        link = f"{request.base}/jsonapi/case-assignment/{key}"
        return {"data": data, "links": {"self": link}}

    def claim(self, request: Request) -> Response:
        """Assign a case to an agent."""
        given = self._denied(request) or self._attributes(request)
        if isinstance(given, Response):
            return given
        case, pointer = given["case-id"], "/data/attributes/case-id"
        if case not in self.cases:
            return self._no(404, (pointer, f"There is no case {case}."))
        if self.state[case] != "waiting":
            return self._no(409, (pointer, f"The case is {self.state[case]}."))
        key = str(uuid.uuid4())
        self.assignments[key] = (case, self.agents[request.token])
        self.state[case] = "with-clerk"
        self.book.claimed(case)
        return Response(201, self._assignment(key, request))

    def handle(self, request: Request) -> Response:
        """Countersign what is due, then answer."""
        with self._lock:
            for case, (moment, right) in [*self.due.items()]:
                if time.monotonic() >= moment:
                    del self.due[case]
                    self.state[case] = "decided" if right else "returned-to-clerk"
                    if right:
                        self.book.pay(case, self.cases[case][2])
        return super().handle(request)

    def submit(self, request: Request) -> Response:
        """Pass a decision on to the second clerk."""
        given = self._denied(request) or self._attributes(request)
        if isinstance(given, Response):
            return given
        key, pointer = given["assignment-id"], "/data/attributes/assignment-id"
        case, agent = self.assignments.get(key, ("", ""))
        if not case or agent != self.agents[request.token]:
            return self._no(404, (pointer, "You have no such assignment."))
        if self.state[case] not in ("with-clerk", "returned-to-clerk"):
            return self._no(409, (pointer, f"The case is {self.state[case]}."))
        self.state[case] = "in-countersignature"
        right = given["wording"] == self.cases[case][4].upper()
        self.due[case] = time.monotonic() + 1.8, right
        return Response(202, self._assignment(key, request))
