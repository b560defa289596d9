"""Captionly, a small team's captioning service on Ruby on Rails (API mode).

Params wrapped by model, `render json: model.errors` with 422, a bare array with paging in
the headers, decimals as strings, and parameter errors rescued in ApplicationController. A submission is only looked at when it is completed.
"""

import itertools
import json
import re
import secrets
import uuid
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TASKS = [
    ("Documentary, reel 2", "the ice had been melting for years", 15),
    ("Cooking show", "add 200 g of butter and stir gently", 10),
    ("Interview", "I never said that, you know", 20),
    ("Nature film", "listen: the owls are calling", 35),
    ("Lecture 4", "energy is conserved in a closed system", 40),
    ("Trailer", "this summer, nobody sleeps", 12),
    ("News clip", "trains are running again after the storm", 28),
    ("Short film", "where did you leave the keys?", 18),
]
DESCRIPTION = "All-caps caption: return source_text converted to upper case."

Record = dict[str, Any]
Errors = dict[str, list[str]]


class _ParameterMissingError(Exception):
    """Rails' ActionController::ParameterMissing."""


def _now() -> str:
    stamp = datetime.now(UTC)
    return stamp.strftime("%Y-%m-%dT%H:%M:%S.") + f"{stamp.microsecond // 1000:03}Z"


def _render(body: Any, status: int = 200, **headers: str) -> Response:
    headers["Content-Type"] = "application/json; charset=utf-8"
    headers["X-Request-Id"] = str(uuid.uuid4())
    return Response(status, json.dumps(body, separators=(",", ":")), headers)


def _blank(value: Any) -> bool:
    """Return Ruby's `blank?`."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or value is False or value in ([], {})


def _integer(value: Any) -> int:
    """Cast as an integer column does: "12" is 12, and a word is 0."""
    if isinstance(value, (int, float)):
        return int(value)
    found = re.match(r"\s*(\d{1,12})", value) if isinstance(value, str) else None
    return int(found[1]) if found else 0


class Captionly(Backend):
    """Tasks are open, claimed, completed; submissions pending_review, rejected, approved."""

    def __init__(self) -> None:
        super().__init__()
        stamp = _now()
        self._tasks: dict[int, Record] = {
            number: {
                "id": number,
                "title": title,
                "description": DESCRIPTION,
                "source_text": text,
                "reward": f"{pay}.0",
                "status": "open",
                "created_at": stamp,
                "updated_at": stamp,
            }
            for number, (title, text, pay) in enumerate(TASKS, 311)
        }
        self._agents: dict[str, Record] = {}  # by token
        self._claims: dict[int, Record] = {}
        self._submissions: dict[int, Record] = {}
        starts = {"agent": 58, "claim": 902, "submission": 1440}
        self._ids = {kind: itertools.count(n) for kind, n in starts.items()}

    def texts(self) -> dict[str, str]:
        """Return the text of every task."""
        return {str(n): task["source_text"] for n, task in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        """Return the JSON that Rails' public exceptions app gives."""
        return _render({"status": 404, "error": "Not Found"}, 404)

    def register(self, request: Request) -> Response:
        """Create an agent."""
        agent = {"id": next(self._ids["agent"]), "credits": 100}
        token = secrets.token_hex(16)
        self._agents[token] = agent
        self.book.registrations += 1
        number = str(agent["id"])
        return _render({"agent_id": number, "access_token": token, "credits": 100})

    # --- tasks#index ---

    def _index(self, request: Request) -> Response:
        rows = [task for task in self._tasks.values() if task["status"] == "open"]
        limit = min(_integer(request.query.get("limit")) or 25, 100)
        page = max(_integer(request.query.get("page")), 1)
        headers = {"Total": str(len(rows)), "Per-Page": str(limit)}
        if page * limit < len(rows):
            url = f"{request.base}{request.path}?limit={limit}&page={page + 1}"
            headers["Link"] = f'<{url}>; rel="next"'
        return _render(rows[(page - 1) * limit : page * limit], 200, **headers)

    def marketplace(self, request: Request) -> Response:
        """List the open tasks, without a token."""
        return self._index(request)

    def tasks(self, request: Request) -> Response:
        """List the open tasks."""
        return self._index(request) if request.token in self._agents else self._denied()

    # --- ApplicationController ---

    @staticmethod
    def _denied() -> Response:
        """Return what authenticate_or_request_with_http_token answers."""
        realm = {"WWW-Authenticate": 'Token realm="Application"'}
        return Response(401, "HTTP Token: Access denied.\n", realm)

    @staticmethod
    def _require(params: Any, key: str) -> Record:
        """Do `params.expect(key => {})`."""
        value = params.get(key) if isinstance(params, dict) else None
        if not isinstance(value, dict) or not value:
            raise _ParameterMissingError(key)
        return value

    def _create(self, request: Request, key: str, action: Any) -> Response:
        agent = self._agents.get(request.token)
        if agent is None:
            return self._denied()
        try:
            params = request.json() if request.raw.strip() else {}
        except ValueError:
            return _render({"status": 400, "error": "Bad Request"}, 400)
        errors: Errors = {}
        try:
            saved = action(agent, self._require(params, key), errors)
        except _ParameterMissingError as missing:
            text = f"param is missing or the value is empty or invalid: {missing}"
            return _render({"error": text}, 400)
        return _render(errors, 422) if errors else _render(saved)

    @staticmethod
    def _belongs_to(
        name: str, params: Record, rows: dict[int, Record], errors: Errors
    ) -> Record | None:
        """Find the row that `<name>_id` points at; its absence is a validation error."""
        row = rows.get(_integer(params.get(f"{name}_id")))
        if row is None:
            errors[name] = ["must exist"]
        if _blank(params.get(f"{name}_id")):
            errors[f"{name}_id"] = ["can't be blank"]
        return row

    @staticmethod
    def _touch(row: Record, status: str) -> None:
        row.update(status=status, updated_at=_now())

    def _stamped(self, kind: str, **fields: Any) -> Record:
        stamp = _now()
        row = {"id": next(self._ids[kind]), **fields}
        return {**row, "created_at": stamp, "updated_at": stamp}

    # --- claims#create, submissions#create, completions#create ---

    def claim(self, request: Request) -> Response:
        """Create a claim."""
        return self._create(request, "claim", self._create_claim)

    def _create_claim(self, agent: Record, params: Record, errors: Errors) -> Any:
        task = self._belongs_to("task", params, self._tasks, errors)
        if task is None:
            return None
        if task["status"] != "open":
            errors["task_id"] = ["has already been taken"]
            return None
        claim = self._stamped(
            "claim", task_id=task["id"], agent_id=agent["id"], status="active"
        )
        self._claims[claim["id"]] = claim
        self._touch(task, "claimed")
        self.book.claimed(str(task["id"]))
        return claim

    def submit(self, request: Request) -> Response:
        """Create a submission; nobody reads it yet."""
        return self._create(request, "submission", self._create_submission)

    def _create_submission(self, agent: Record, params: Record, errors: Errors) -> Any:
        own = {n: c for n, c in self._claims.items() if c["agent_id"] == agent["id"]}
        claim = self._belongs_to("claim", params, own, errors)
        body = params.get("body")
        if not isinstance(body, str) or _blank(body):
            errors["body"] = ["can't be blank"]
        if claim and claim["status"] != "active":
            errors["claim"] = ["is already completed"]
        if errors or claim is None:
            return None
        row = self._stamped(
            "submission", claim_id=claim["id"], body=body, status="pending_review"
        )
        self._submissions[row["id"]] = row
        return row

    def complete(self, request: Request) -> Response:
        """Review a submission and pay for it."""
        return self._create(request, "completion", self._create_completion)

    def _create_completion(self, agent: Record, params: Record, errors: Errors) -> Any:
        row = self._belongs_to("submission", params, self._submissions, errors)
        if params.get("confirmed") not in (True, "1"):
            errors["confirmed"] = ["must be accepted"]
        claim = self._claims[row["claim_id"]] if row else None
        if claim and claim["agent_id"] != agent["id"]:
            errors["submission"] = ["must be your own"]
        elif row and row["status"] != "pending_review":
            errors["submission"] = [f"is already {row['status']}"]
        elif claim and claim["status"] != "active":
            errors["claim"] = ["is already completed"]
        if errors or row is None or claim is None:
            return None
        task = self._tasks[claim["task_id"]]
        if row["body"] != task["source_text"].upper():
            self._touch(row, "rejected")
            errors["submission"] = [
                "was rejected, body is not source_text in upper case"
            ]
            return None
        self._touch(row, "approved")
        self._touch(claim, "completed")
        self._touch(task, "completed")
        pay = int(float(task["reward"]))
        agent["credits"] += pay
        self.book.pay(str(task["id"]), pay)
        return {
            "submission": row,
            "credited": task["reward"],
            "credits": agent["credits"],
        }
