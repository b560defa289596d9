"""Copydesk: a small team's Rails 8 API, written the usual way.

Strong parameters under a root key, ActiveModel errors, decimals as strings, pagy's headers.
"""

import uuid
from datetime import date, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_TASKS = [
    (1041, "Headline, evening edition", "Ferry service resumes after storm", 12),
    (1042, "Caption for page four", "Volunteers plant 300 oaks on Marsh Lane", 8),
    (1043, "Notice to subscribers", "no paper on monday, offices closed", 5),
    (1047, "Masthead strapline", "the river towns' weekly since 1911", 15),
    (1050, "Crossword heading", "Cryptic no. 2,204 by Wren", 6),
    (1052, "Market column title", "Wool up, barley down", 10),
    (1053, "Obituary heading", "Ada Penrose, lock keeper", 9),
]
_Json = dict[str, Any]
_PER_PAGE = 4
_MAX_ACTIVE = 3


class _ParameterMissing(Exception):  # noqa: N818
    """As ActionController::ParameterMissing."""


class _RecordNotFound(Exception):  # noqa: N818
    """As ActiveRecord::RecordNotFound."""


class _RecordInvalid(Exception):  # noqa: N818
    """As ActiveRecord::RecordInvalid, with the errors by attribute."""

    def __init__(self, errors: dict[str, list[str]]) -> None:
        super().__init__()
        self.errors = errors


def _blank(value: Any) -> bool:
    return (
        value is None or value is False or value in ([], {}) or not str(value).strip()
    )


def _integer(value: Any) -> int | None:
    try:
        return int(str(value))
    except ValueError:
        return None


class Copydesk(Backend):
    """A Rails API: claim, then submission, then completion, which pays."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._tasks: dict[int, dict[str, Any]] = {
            id_: {"title": title, "body": body, "reward": reward, "status": "open"}
            for id_, title, body, reward in _TASKS
        }
        self._claims: dict[int, dict[str, Any]] = {}
        self._submissions: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the text of every task."""
        return {str(id_): task["body"] for id_, task in self._tasks.items()}

    def _render(self, body: Any, status: int = 200, **headers: str) -> Response:
        own = {name.replace("_", "-"): value for name, value in headers.items()}
        json_ = {"Content-Type": "application/json; charset=utf-8"}
        return Response(
            status, body, {**json_, "X-Request-Id": str(uuid.uuid4()), **own}
        )

    def missing(self, request: Request) -> Response:
        """Answer as Rails does in production without a route."""
        return self._render({"status": 404, "error": "Not Found"}, 404)

    def register(self, request: Request) -> Response:
        """Create an agent."""
        token = uuid.uuid4().hex
        agent = {"agent_id": str(uuid.uuid4()), "credits": 100}
        self._agents[token] = agent
        self.book.registrations += 1
        return self._render({**agent, "access_token": token})

    def _open(self) -> list[int]:
        return [id_ for id_, task in self._tasks.items() if task["status"] == "open"]

    def marketplace(self, request: Request) -> Response:
        """List the titles of the open tasks; the rest is for agents."""
        return self._render(
            [{"id": id_, "title": self._tasks[id_]["title"]} for id_ in self._open()]
        )

    def tasks(self, request: Request) -> Response:
        """List the open tasks, page by page."""
        if request.token not in self._agents:
            return self._denied()
        limit = _integer(request.query.get("limit")) or _PER_PAGE
        limit = min(max(limit, 1), _PER_PAGE)
        page = max(_integer(request.query.get("page")) or 1, 1)
        found = self._open()
        pages = max(-(-len(found) // limit), 1)
        links = [("first", 1)] + ([("prev", page - 1)] if page > 1 else [])
        links += [("next", page + 1)] if page < pages else []
        links += [("last", pages)]
        return self._render(
            [self._task_json(id_) for id_ in found[(page - 1) * limit : page * limit]],
            Link=", ".join(
                f'<{request.base}{request.path}?page={n}&limit={limit}>; rel="{rel}"'
                for rel, n in links
            ),
            Current_Page=str(page),
            Page_Limit=str(limit),
            Total_Pages=str(pages),
            Total_Count=str(len(found)),
        )

    def _task_json(self, id_: int) -> dict[str, Any]:
        task = self._tasks[id_]
        return {
            "id": id_,
            "title": task["title"],
            "instructions": "Set the body in capitals.",
            "body": task["body"],
            "reward": f"{task['reward']}.0",
            "status": task["status"],
            "posted_on": (date.today() - timedelta(days=2)).isoformat(),  # noqa: DTZ011
        }

    def claim(self, request: Request) -> Response:
        """Create a claim of a task."""
        return self._action(request, "claim", self._create_claim)

    def submit(self, request: Request) -> Response:
        """Create a submission to a claim."""
        return self._action(request, "submission", self._create_submission)

    def complete(self, request: Request) -> Response:
        """Complete a submission and pay it."""
        return self._action(request, "completion", self._create_completion)

    def _denied(self) -> Response:
        realm = {"WWW-Authenticate": 'Token realm="Application"'}
        return Response(401, "HTTP Token: Access denied.\n", realm)

    def _action(self, request: Request, root: str, create: Any) -> Response:
        agent = self._agents.get(request.token)
        if agent is None:
            return self._denied()
        params: Any = {}
        try:
            if request.raw and "json" in (request.headers.get("Content-Type") or ""):
                params = request.json()
            attributes = params.get(root) if isinstance(params, dict) else None
            if not attributes or not isinstance(attributes, dict):
                raise _ParameterMissing(root)
            return self._render(create(agent, attributes))
        except ValueError:
            return self._render({"status": 400, "error": "Bad Request"}, 400)
        except _ParameterMissing as missing:
            message = f"param is missing or the value is empty or invalid: {missing}"
            return self._render({"error": message}, 400)
        except _RecordNotFound as error:
            return self._render({"error": str(error)}, 404)
        except _RecordInvalid as invalid:
            return self._render({"errors": invalid.errors}, 422)

    def _create_claim(self, agent: _Json, attributes: _Json) -> _Json:
        errors: dict[str, list[str]] = {}
        task_id, due = attributes.get("task_id"), attributes.get("due_on")
        for name in ("task_id", "due_on"):
            if _blank(attributes.get(name)):
                errors[name] = ["can't be blank"]
        if "due_on" not in errors:
            try:
                if date.fromisoformat(str(due)[:10]) < date.today():  # noqa: DTZ011
                    errors["due_on"] = [
                        f"must be greater than or equal to {date.today()}"  # noqa: DTZ011
                    ]
            except ValueError:
                errors["due_on"] = ["is not a valid date"]
        if errors:
            raise _RecordInvalid(errors)
        task = self._tasks.get(number := _integer(task_id) or 0)
        if task is None:
            raise _RecordNotFound(f"Couldn't find Task with 'id'={task_id}")
        if task["status"] != "open":
            raise _RecordInvalid({"task_id": ["has already been taken"]})
        mine = [c for c in self._claims.values() if c["agent_id"] == agent["agent_id"]]
        if sum(c["status"] == "active" for c in mine) >= _MAX_ACTIVE:
            raise _RecordInvalid(
                {"base": [f"You already have {_MAX_ACTIVE} active claims"]}
            )
        id_ = 301 + len(self._claims)
        task["status"] = "claimed"
        self._claims[id_] = {
            "id": id_,
            "task_id": number,
            "agent_id": agent["agent_id"],
            "due_on": str(due)[:10],
            "status": "active",
        }
        self.book.claimed(str(number))
        return self._claims[id_]

    def _create_submission(self, agent: _Json, attributes: _Json) -> _Json:
        wanted = ("claim_id", "content")
        if blank := [name for name in wanted if _blank(attributes.get(name))]:
            raise _RecordInvalid({name: ["can't be blank"] for name in blank})
        claim = self._claims.get(_integer(attributes["claim_id"]) or 0)
        if claim is None or claim["agent_id"] != agent["agent_id"]:
            raise _RecordNotFound(
                f"Couldn't find Claim with 'id'={attributes['claim_id']}"
            )
        if claim["status"] != "active":
            raise _RecordInvalid({"claim_id": ["has already been taken"]})
        task = self._tasks[claim["task_id"]]
        if attributes["content"] != task["body"].upper():
            raise _RecordInvalid(
                {"content": ["is not the body of the task in capitals"]}
            )
        claim["status"] = task["status"] = "submitted"
        id_ = 9001 + len(self._submissions)
        self._submissions[id_] = {
            "id": id_,
            "claim_id": claim["id"],
            "content": attributes["content"],
            "status": "pending_completion",
        }
        return self._submissions[id_]

    def _create_completion(self, agent: _Json, attributes: _Json) -> _Json:
        errors = {}
        submission_id = attributes.get("submission_id")
        if _blank(submission_id):
            errors["submission_id"] = ["can't be blank"]
        if attributes.get("original_work") not in (True, "1", "true"):
            errors["original_work"] = ["must be accepted"]
        if errors:
            raise _RecordInvalid(errors)
        submission = self._submissions.get(_integer(submission_id) or 0)
        claim = self._claims[submission["claim_id"]] if submission else {}
        if submission is None or claim["agent_id"] != agent["agent_id"]:
            raise _RecordNotFound(f"Couldn't find Submission with 'id'={submission_id}")
        if submission["status"] == "completed":
            raise _RecordInvalid({"submission_id": ["has already been taken"]})
        task = self._tasks[claim["task_id"]]
        submission["status"] = claim["status"] = task["status"] = "completed"
        agent["credits"] += task["reward"]
        self.book.pay(str(claim["task_id"]), task["reward"])
        return {
            **submission,
            "payout": f"{task['reward']}.0",
            "agent": {"id": agent["agent_id"], "credits": agent["credits"]},
        }
