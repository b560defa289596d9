"""A start-up's Ruby on Rails 7.1 service: strong parameters, ActiveRecord validations, jbuilder.

Parameters are nested under the name of the model (`params.require(:claim).permit(...)`),
failed validations answer 422 with `errors.full_messages`, and unknown keys are dropped.
"""

import secrets
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TASKS = [
    ("Banner copy", "spring sale starts monday", 12),
    ("Road sign", "no parking after eight", 7),
    ("Label for a crate", "handle with care", 5),
    ("Headline", "council votes on new bridge", 20),
    ("Ticker line", "rain expected in the north", 9),
    ("Door plate", "meeting room four", 4),
    ("Poster", "open air cinema tonight", 15),
    ("Envelope", "return to sender", 6),
]


class _Halt(Exception):  # noqa: N818
    """A rescue_from of the ApplicationController."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


def _stamp(moment: datetime | None = None) -> str:
    moment = moment or datetime.now(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def _to_i(value: Any) -> int | None:
    """Cast as ActiveRecord casts to an integer column."""
    if value is None or value == "":
        return None
    try:
        return int(value)
    except (TypeError, ValueError):
        return 0


def _blank(value: Any) -> bool:
    return (
        value is None
        or value is False
        or (isinstance(value, str) and not value.strip())
    )


class RailsApi(Backend):
    """POST {"claim": {...}}, {"submission": {...}}, {"completion": {...}}."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._claims: dict[int, dict[str, Any]] = {}
        self._submissions: dict[int, dict[str, Any]] = {}
        self._completions: dict[int, dict[str, Any]] = {}
        created = _stamp()
        self._tasks: dict[int, dict[str, Any]] = {
            301 + number: {
                "id": 301 + number,
                "title": title,
                "instructions": "Rewrite source_text in capital letters.",
                "source_text": text,
                "reward_credits": reward,
                "status": "open",
                "created_at": created,
                "updated_at": created,
            }
            for number, (title, text, reward) in enumerate(TASKS)
        }

    def texts(self) -> dict[str, str]:
        return {str(key): task["source_text"] for key, task in self._tasks.items()}

    def handle(self, request: Request) -> Response:
        answer = super().handle(request)
        answer.headers.setdefault("X-Request-Id", str(uuid.uuid4()))
        if not isinstance(answer.body, str):
            answer.headers.setdefault("Content-Type", "application/json; charset=utf-8")
        return answer

    def missing(self, request: Request) -> Response:
        return Response(404, {"status": 404, "error": "Not Found"})

    # --- ApplicationController

    def _current_agent(self, request: Request) -> dict[str, Any]:
        agent = self._agents.get(request.token)
        if agent is None:
            realm = {"WWW-Authenticate": 'Token realm="Application"'}
            raise _Halt(Response(401, "HTTP Token: Access denied.\n", realm))
        return agent

    def _require(self, request: Request, key: str, *permitted: str) -> dict[str, Any]:
        params: Any = {}
        if "json" in (request.headers.get("Content-Type") or "") and request.raw:
            try:
                params = request.json()
            except ValueError:
                raise _Halt(
                    Response(400, {"status": 400, "error": "Bad Request"})
                ) from None
        value = params.get(key) if isinstance(params, dict) else None
        if _blank(value) or value in ({}, []):
            message = f"param is missing or the value is empty: {key}"
            raise _Halt(Response(400, {"error": message}))
        if not isinstance(value, dict):  # undefined method `permit'
            raise _Halt(
                Response(500, {"status": 500, "error": "Internal Server Error"})
            )
        return {
            name: value[name]
            for name in permitted
            if name in value and not isinstance(value[name], (dict, list))
        }

    def _validate(self, errors: list[str]) -> None:
        if errors:
            raise _Halt(Response(422, {"errors": errors}))

    def _run(self, action: Any, request: Request) -> Response:
        try:
            return Response(200, action(request, self._current_agent(request)))
        except _Halt as halt:
            return halt.response

    # --- public actions

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(18)
        agent = {"agent_id": f"agent_{secrets.token_hex(8)}", "credits": 100}
        self._agents[token] = agent
        return Response(200, {**agent, "access_token": token, "created_at": _stamp()})

    def tasks(self, request: Request) -> Response:
        limit = min(max(_to_i(request.query.get("limit")) or 5, 1), 100)
        page = max(_to_i(request.query.get("page")) or 1, 1)
        found = [task for task in self._tasks.values() if task["status"] == "open"]
        pages = -(-len(found) // limit)
        meta = {
            "current_page": page,
            "next_page": page + 1 if page < pages else None,
            "prev_page": page - 1 if page > 1 else None,
            "total_pages": pages,
            "total_count": len(found),
        }
        shown = found[(page - 1) * limit : page * limit]
        return Response(200, {"tasks": shown, "meta": meta})

    marketplace = tasks

    def agents(self, request: Request) -> Response:
        slug = request.query.get("slug")
        shown = [{"id": agent["agent_id"]} for agent in self._agents.values()]
        return Response(200, {"agents": [a for a in shown if slug in (None, a["id"])]})

    directory = agents

    # --- private actions

    def claim(self, request: Request) -> Response:
        return self._run(self._claim, request)

    def _claim(self, request: Request, agent: dict[str, Any]) -> Any:
        params = self._require(request, "claim", "task_id", "terms_of_service")
        task = self._tasks.get(_to_i(params.get("task_id")) or 0)
        errors = []
        if task is None:
            errors.append("Task must exist")
        elif task["status"] != "open":
            errors.append("Task has already been taken")
        terms = params.get("terms_of_service")
        if terms is not True and terms != "1":
            errors.append("Terms of service must be accepted")
        self._validate(errors)
        assert task is not None
        number = 8801 + len(self._claims)
        self._claims[number] = {"agent": agent, "task": task, "done": False}
        task.update(status="claimed", updated_at=_stamp())
        self.book.claimed(str(task["id"]))
        expires = _stamp(datetime.now(UTC) + timedelta(hours=2))
        return {"id": number, "status": "active", "expires_at": expires, "task": task}

    def submit(self, request: Request) -> Response:
        return self._run(self._submit, request)

    def _submit(self, request: Request, agent: dict[str, Any]) -> Any:
        params = self._require(request, "submission", "claim_id", "output")
        claim = self._claims.get(_to_i(params.get("claim_id")) or 0)
        output = params.get("output")
        errors = []
        if claim is None or claim["agent"] is not agent:
            errors.append("Claim must exist")
        elif claim["done"]:
            errors.append("Claim has already been taken")
        if _blank(output):
            errors.append("Output can't be blank")
        elif not errors and claim and output != claim["task"]["source_text"].upper():
            errors.append("Output does not follow the instructions of the task")
        self._validate(errors)
        assert claim is not None
        claim["done"] = True
        claim["task"].update(status="in_review", updated_at=_stamp())
        number = 51 + len(self._submissions)
        self._submissions[number] = {"claim": claim, "done": False}
        shown = {"claim_id": _to_i(params["claim_id"]), "output": output}
        return {"id": number, **shown, "status": "pending", "created_at": _stamp()}

    def complete(self, request: Request) -> Response:
        return self._run(self._complete, request)

    def _complete(self, request: Request, agent: dict[str, Any]) -> Any:
        params = self._require(request, "completion", "submission_id", "minutes_spent")
        submission = self._submissions.get(_to_i(params.get("submission_id")) or 0)
        errors = []
        if submission is None or submission["claim"]["agent"] is not agent:
            errors.append("Submission must exist")
        elif submission["done"]:
            errors.append("Submission has already been taken")
        try:
            if float(params.get("minutes_spent")) <= 0:  # type: ignore[arg-type]
                errors.append("Minutes spent must be greater than 0")
        except (TypeError, ValueError):
            errors.append("Minutes spent is not a number")
        self._validate(errors)
        assert submission is not None
        submission["done"] = True
        task = submission["claim"]["task"]
        task.update(status="completed", updated_at=_stamp())
        self.book.pay(str(task["id"]), task["reward_credits"])
        agent["credits"] += task["reward_credits"]
        number = 1 + len(self._completions)
        self._completions[number] = submission
        earned = {"credits_earned": task["reward_credits"], "credits": agent["credits"]}
        return {"id": number, "task_id": task["id"], "status": "paid", **earned}

    def post(self, request: Request) -> Response:
        return self._run(self._post, request)

    def _post(self, request: Request, agent: dict[str, Any]) -> Any:
        names = ("title", "instructions", "source_text", "reward_credits")
        params = self._require(request, "task", *names)
        words = {name: name.replace("_", " ").capitalize() for name in names}
        self._validate(
            [f"{words[n]} can't be blank" for n in names if _blank(params.get(n))]
        )
        return {"id": 900 + secrets.randbelow(99), "status": "draft", **params}

    def checkout(self, request: Request) -> Response:
        return Response(422, {"errors": ["Plan is not included in the list"]})
