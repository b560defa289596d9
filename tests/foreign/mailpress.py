"""A marketing product's API: problem documents, `_links`, campaigns' words."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import hashlib
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

DOCS = "https://mailpress.example/developer/marketing/docs/errors/"
INSTRUCTIONS = "Write this copy in capital letters, changing nothing else."
KINDS = {dict: "object", list: "array", str: "string", int: "integer"}
KINDS |= {float: "number", bool: "boolean", type(None): "NULL"}
COPY = [
    ("Spring sale subject line", "three days only: everything for the garden", 14),
    ("Welcome series, step 1", "hello and welcome to our little newsletter", 9),
    ("Abandoned cart reminder", "you left something in your basket", 22),
    ("Win-back banner", "we miss you - here is 10% off", 17),
    ("Survey invitation", "tell us what you think in two minutes", 6),
    ("Product launch teaser", "something new arrives on monday", 31),
]


class Problem(Exception):  # noqa: N818
    """A refusal, as a problem document."""

    def __init__(self, status: int, title: str, detail: str, errors: Any = ()) -> None:
        super().__init__(detail)
        self.status, self.title, self.detail, self.errors = (
            status,
            title,
            detail,
            errors,
        )


def _invalid(*errors: tuple[str, str]) -> Problem:
    return Problem(
        400,
        "Invalid Resource",
        "The resource submitted could not be validated. "
        "For field-specific details, see the 'errors' array.",
        list(errors),
    )


def _check(body: Any, schema: dict[str, Any], prefix: str = "") -> None:
    """Hold a body against a schema of names to types (or to a nested schema)."""
    if not isinstance(body, dict):
        found = KINDS[type(body)]
        raise _invalid((prefix, f"Schema describes object, {found} found instead"))
    absent = [name for name in schema if name not in body]
    if absent:
        names = ", ".join(absent)
        raise _invalid((prefix, f"Required fields were not provided: {names}"))
    wrong = []
    for name, kind in schema.items():
        path = f"{prefix}.{name}" if prefix else name
        if isinstance(kind, dict):
            _check(body[name], kind, path)
        elif not isinstance(body[name], str):
            found = KINDS[type(body[name])]
            wrong.append((path, f"Schema describes string, {found} found instead"))
        elif not body[name].strip():
            wrong.append((path, "This value should not be blank."))
        elif isinstance(kind, list) and body[name] not in kind:
            listed = "Data presented is not one of the accepted values: "
            wrong.append((path, listed + ", ".join(kind)))
    if wrong:
        raise _invalid(*wrong)


def _guarded(method: Any) -> Any:
    def answer(self: "Mailpress", request: Request) -> Response:
        try:
            return method(self, request)
        except Problem as problem:
            return self._problem(problem)

    return answer


def _unfound(more: str = "") -> Problem:
    detail = "The requested resource could not be found." + more
    return Problem(404, "Resource Not Found", detail)


def _action(detail: str) -> Problem:
    return Problem(400, "InvalidActionException", detail)


class Mailpress(Backend):
    """Copywriting jobs inside an e-mail marketing product."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._assignments: dict[str, dict[str, Any]] = {}
        self._campaigns = {}
        for number, (title, text, reward) in enumerate(COPY):
            id_ = hashlib.md5(title.encode()).hexdigest()[:10]  # noqa: S324
            self._campaigns[id_] = {
                "id": id_,
                "web_id": 384201 + 7 * number,
                "type": "plaintext",
                "status": "open",
                "create_time": f"2024-03-{11 + number:02}T09:15:00+00:00",
                "settings": {"title": title, "instructions": INSTRUCTIONS},
                "content": {"plain_text": text},
                "payout": {"credits": reward, "when": "on_completion"},
            }

    def texts(self) -> dict[str, str]:
        """Return the copy of every campaign."""
        return {k: c["content"]["plain_text"] for k, c in self._campaigns.items()}

    def _problem(self, problem: Problem) -> Response:
        body: dict[str, Any] = {
            "type": DOCS,
            "title": problem.title,
            "status": problem.status,
            "detail": problem.detail,
            "instance": str(uuid.uuid4()),
        }
        if problem.errors:
            body["errors"] = [{"field": f, "message": m} for f, m in problem.errors]
        kind = {"Content-Type": "application/problem+json; charset=utf-8"}
        return Response(problem.status, body, kind)

    def missing(self, request: Request) -> Response:
        """Refuse a path that is not there."""
        return self._problem(_unfound())

    def _link(
        self, request: Request, rel: str, method: str, path: str
    ) -> dict[str, str]:
        href = f"{request.base}/functions/v1/{path}"
        return {"rel": rel, "href": href, "method": method}

    def _who(self, request: Request) -> dict[str, Any]:
        if not request.headers.get("Authorization"):
            detail = "Your request did not include an API key."
            raise Problem(401, "API Key Missing", detail)
        if request.token not in self._agents:
            detail = "Your API key may be invalid, or you've attempted to access the "
            raise Problem(401, "API Key Invalid", detail + "wrong datacenter.")
        return self._agents[request.token]

    def _body(self, request: Request, schema: dict[str, Any]) -> dict[str, Any]:
        try:
            body = request.json()
        except ValueError:
            detail = "We encountered an unspecified JSON parsing error."
            raise Problem(400, "JSONParseError", detail) from None
        _check(body, schema)
        return body

    def register(self, request: Request) -> Response:
        """Make an account."""
        self.book.registrations += 1
        agent = {
            "agent_id": uuid.uuid4().hex[:25],
            "access_token": f"{uuid.uuid4().hex}-us14",
            "credits": 100,
        }
        self._agents[agent["access_token"]] = agent
        return Response(200, agent)

    @_guarded
    def marketplace(self, request: Request) -> Response:
        """List campaigns to anyone."""
        size, offset = 10, 0
        for name in ("limit", "count", "offset"):
            value = request.query.get(name)
            if value is None:
                continue
            if not value.isdecimal() or int(value) > 1000:
                raise _invalid((name, "This value should be between 0 and 1000."))
            if name == "offset":
                offset = int(value)
            else:
                size = int(value)
        here = self._link(request, "self", "GET", request.path.split("/")[-1])
        links = [self._link(request, "claim", "POST", "claim-task-public")]
        found = [c | {"_links": links} for c in self._campaigns.values()]
        page = found[offset : offset + size]
        body = {"campaigns": page, "total_items": len(found), "_links": [here]}
        return Response(200, body)

    @_guarded
    def tasks(self, request: Request) -> Response:
        """List campaigns to an account."""
        self._who(request)
        return self.marketplace(request)

    @_guarded
    def claim(self, request: Request) -> Response:
        """Open an assignment."""
        agent = self._who(request)
        id_ = self._body(request, {"campaign_id": str})["campaign_id"]
        campaign = self._campaigns.get(id_)
        if campaign is None:
            raise _unfound()
        if campaign["status"] != "open":
            raise _action("This campaign has already been assigned.")
        campaign["status"] = "assigned"
        self.book.claimed(id_)
        assignment = {"id": uuid.uuid4().hex[:12], "campaign_id": id_}
        assignment |= {"agent_id": agent["agent_id"], "status": "draft"}
        self._assignments[assignment["id"]] = assignment
        return self._shown(request, assignment, "submit", "submit-task-result-public")

    def _shown(self, request: Request, record: Any, rel: str, path: str) -> Response:
        links = [self._link(request, rel, "POST", path)]
        return Response(200, record | {"_links": links})

    def _mine(self, agent: dict[str, Any], id_: str) -> dict[str, Any]:
        found = self._assignments.get(id_)
        if found is None or found["agent_id"] != agent["agent_id"]:
            raise _unfound(" No such assignment_id belongs to your account.")
        return found

    @_guarded
    def submit(self, request: Request) -> Response:
        """Set the content of an assignment."""
        agent = self._who(request)
        schema = {"assignment_id": str, "content": {"plain_text": str}}
        body = self._body(request, schema)
        assignment = self._mine(agent, body["assignment_id"])
        if assignment["status"] == "sent":
            raise _action("This assignment has already been sent.")
        text = self._campaigns[assignment["campaign_id"]]["content"]["plain_text"]
        if body["content"]["plain_text"] != text.upper():
            message = "The content does not follow the instructions."
            raise _invalid(("content.plain_text", message))
        assignment["status"] = "ready"
        return self._shown(request, assignment, "complete", "complete-task-public")

    @_guarded
    def complete(self, request: Request) -> Response:
        """Send an assignment, which pays."""
        agent = self._who(request)
        body = self._body(request, {"assignment_id": str, "status": ["sent"]})
        assignment = self._mine(agent, body["assignment_id"])
        if assignment["status"] != "ready":
            raise _action(
                "Your assignment is not ready to send. "
                f"Its status is '{assignment['status']}', but 'ready' is needed."
            )
        campaign = self._campaigns[assignment["campaign_id"]]
        assignment["status"] = campaign["status"] = "sent"
        reward = campaign["payout"]["credits"]
        self.book.pay(campaign["id"], reward)
        agent["credits"] += reward
        earned = {"credits_earned": reward, "credits": agent["credits"]}
        return Response(200, assignment | earned)
