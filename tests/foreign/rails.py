"""A Rails API with strong parameters, database ids, and one record for each step.

Every action wants its record under a wrapper (`claim`, `submission`, `completion`); without
it the debug middleware names what is missing. Keys that are not permitted are dropped in
silence, so a wrong name looks like a missing one, and the model's own validation answers
with {"errors": {attribute: [messages]}}. A claim, a submission and a completion have ids
of their own: each step names the record that the step before created.
"""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from itertools import count
from secrets import token_urlsafe
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]
Action = Callable[["Rails", Request], Response]

TEXTS = {
    "the orchard gate was left unlocked": 3,
    "bring two spare candles to the cellar": 5,
    "grandfather kept his stamps in a tin": 1,
    "the harbour pilot speaks four languages": 8,
    "snow fell on the empty tram depot": 2,
    "she paints the shutters every spring": 6,
    "our train was delayed by a stray goat": 9,
    "the lighthouse needs a new lens": 4,
    "copper pans hang over the stove": 7,
    "write the address on both sides": 2,
    "the choir rehearses behind the mill": 5,
    "no bicycles beyond this hedge please": 3,
}
RUBY = {
    kind: f"an instance of {name}"
    for kind, name in {
        str: "String",
        int: "Integer",
        float: "Float",
        list: "Array",
    }.items()
}


class FailedError(Exception):
    """Ends an action with an answer."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status)
        self.response = response


def raised(status: int, error: str, kind: str, message: str) -> FailedError:
    """Return an exception as the debug middleware of an API application shows it."""
    trace = {"exception_object_id": 17320, "id": 0, "trace": f"{CONTROLLER}:58"}
    traces = {
        "Application Trace": [trace],
        "Framework Trace": [],
        "Full Trace": [trace],
    }
    exception = f"#<{kind}: {message}>"
    body = {"status": status, "error": error, "exception": exception, "traces": traces}
    return FailedError(Response(status, body))


CONTROLLER = "app/controllers/functions/v1/network_controller.rb"


def invalid(errors: dict[str, list[str]]) -> FailedError:
    return FailedError(Response(422, {"errors": errors}))


def action(method: Action) -> Action:
    """Let an action end early."""

    @wraps(method)
    def answer(self: "Rails", request: Request) -> Response:
        try:
            return method(self, request)
        except FailedError as failed:
            return failed.response

    return answer


def parsed(request: Request) -> Json:
    """Return the parameters of the body; a body of another media type has none."""
    if "json" not in (request.headers.get("Content-Type") or "") or not request.raw:
        return {}
    try:
        body = request.json()
    except ValueError:
        kind = "ActionDispatch::Http::Parameters::ParseError"
        message = "Error occurred while parsing request parameters"
        raise raised(400, "Bad Request", kind, message) from None
    return body if isinstance(body, dict) else {"_json": body}


def permitted(params: Json, wrapper: str, *names: str) -> Json:
    """Return params.require(wrapper).permit(*names)."""
    given = params.get(wrapper)
    if given is None or given in ({}, []) or not str(given).strip():
        kind = "ActionController::ParameterMissing"
        message = f"param is missing or the value is empty: {wrapper}"
        raise raised(400, "Bad Request", kind, message)
    if not isinstance(given, dict):
        of = RUBY.get(type(given)) or json.dumps(given)
        message = f"undefined method 'permit' for {of}"
        raise raised(500, "Internal Server Error", "NoMethodError", message)
    scalars = {k: v for k, v in given.items() if not isinstance(v, dict | list)}
    return {name: scalars.get(name) for name in names}


def to_integer(value: object) -> int | None:
    """Cast as an integer attribute does: what leads is taken, what follows dropped."""
    if isinstance(value, str):
        digits = re.match(r"\s*[-+]?\d+", value)
        return int(digits[0]) if digits else (0 if value.strip() else None)
    return int(value) if isinstance(value, int | float) else None


def to_text(value: object) -> str:
    """Cast as a string attribute does."""
    if isinstance(value, bool):
        return "t" if value else "f"
    return "" if value is None else str(value)


def stamp() -> str:
    moment = datetime.now(UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Rails(Backend):
    def __init__(self) -> None:
        super().__init__()
        self.rows = {
            key: {
                "id": key,
                "kind": "transform",
                "title": "Write it all in upper case",
                "body": text,
                "reward": TEXTS[text],
                "state": "open",
                "created_at": stamp(),
                "updated_at": stamp(),
            }
            for key, text in enumerate(TEXTS, 1041)
        }
        self.members: dict[str, Json] = {}  # token -> agent
        self.claims: dict[int, Json] = {}
        self.submissions: dict[int, Json] = {}
        self.completions: dict[int, Json] = {}
        self.agent_ids, self.claim_ids = count(208), count(617)
        self.submission_ids, self.completion_ids = count(94), count(31)

    def texts(self) -> dict[str, str]:
        return {str(key): str(row["body"]) for key, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        message = f"No route matches [{request.method}] {json.dumps(request.path)}"
        kind = "ActionController::RoutingError"
        return raised(404, "Not Found", kind, message).response

    def register(self, request: Request) -> Response:
        agent = {"id": next(self.agent_ids), "credits": 100}
        token = token_urlsafe(24)
        self.members[token] = agent
        self.book.registrations += 1
        shown = {"agent_id": str(agent["id"]), "access_token": token, "credits": 100}
        return Response(200, shown)

    def tasks(self, request: Request) -> Response:
        rows = [row for row in self.rows.values() if row["state"] == "open"]
        limit = to_integer(request.query.get("limit"))
        return Response(200, rows[: 50 if limit is None else max(limit, 0)])

    def _authenticated(self, request: Request) -> tuple[Json, Json]:
        """Return the agent and the parameters."""
        params = parsed(request)
        if request.token not in self.members:
            headers = {"WWW-Authenticate": 'Token realm="Application"'}
            denied = Response(401, "HTTP Token: Access denied.\n", headers)
            raise FailedError(denied)
        return self.members[request.token], params

    @action
    def claim(self, request: Request) -> Response:
        agent, params = self._authenticated(request)
        task_id = to_integer(permitted(params, "claim", "task_id")["task_id"])
        if task_id is None or task_id not in self.rows:
            raise invalid({"task": ["must exist"]})
        row = self.rows[task_id]
        if row["state"] != "open":
            raise invalid({"task_id": ["has already been taken"]})
        row.update(state="claimed", updated_at=stamp())
        key = next(self.claim_ids)
        record = {"id": key, "task_id": task_id, "agent_id": agent["id"]}
        self.claims[key] = record | {"created_at": stamp(), "updated_at": stamp()}
        self.book.claimed(str(task_id))
        return Response(201, self.claims[key])

    def _submission_errors(self, agent: Json, key: int | None, text: str) -> Json:
        claim = self.claims.get(key or 0)
        if key is None:
            errors = {"claim_id": ["can't be blank"]}
        elif claim is None or claim["agent_id"] != agent["id"]:
            errors = {"claim": ["must exist"]}
        elif any(s["claim_id"] == key for s in self.submissions.values()):
            errors = {"claim_id": ["has already been taken"]}
        else:
            errors = {}
        if not text.strip():
            errors["body"] = ["can't be blank"]
        elif (
            claim
            and not errors
            and text != str(self.rows[claim["task_id"]]["body"]).upper()
        ):
            errors["body"] = ["is not the expected result"]
        return errors

    @action
    def submit(self, request: Request) -> Response:
        agent, params = self._authenticated(request)
        given = permitted(params, "submission", "claim_id", "body")
        claim_id, text = to_integer(given["claim_id"]), to_text(given["body"])
        if errors := self._submission_errors(agent, claim_id, text):
            raise invalid(errors)
        key = next(self.submission_ids)
        record = {"id": key, "claim_id": claim_id, "body": text, "accepted": True}
        self.submissions[key] = record | {"created_at": stamp(), "updated_at": stamp()}
        return Response(201, self.submissions[key])

    @action
    def complete(self, request: Request) -> Response:
        agent, params = self._authenticated(request)
        given = permitted(params, "completion", "submission_id")
        submission = self.submissions.get(to_integer(given["submission_id"]) or 0)
        claim = self.claims[submission["claim_id"]] if submission else None
        if not submission or not claim or claim["agent_id"] != agent["id"]:
            raise invalid({"submission": ["must exist"]})
        if submission["id"] in self.completions:
            raise invalid({"submission_id": ["has already been taken"]})
        row = self.rows[claim["task_id"]]
        credit = TEXTS[str(row["body"])]
        agent["credits"] += credit
        record = {"id": next(self.completion_ids), "submission_id": submission["id"]}
        record |= {"credits_awarded": credit, "created_at": stamp()}
        row.update(state="completed", updated_at=stamp())
        self.completions[submission["id"]] = record
        self.book.pay(str(row["id"]), credit)
        return Response(201, record | {"balance": agent["credits"]})
