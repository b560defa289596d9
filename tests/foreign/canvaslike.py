"""A learning product's network, in the manner of the Canvas LMS REST API.

A task is an assignment; to claim it is to begin a submission, whose answer holds the
prompt. The submission is graded and paid at once; completing marks the item as done.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl

from tests.foreign.backend import Backend, Request, Response

_COURSE = 4127
_PER_PAGE = 5
_KINDS = {"online_text_entry": "body", "online_url": "url"}
_WORK = [
    ("Week 1: Headings", "photosynthesis turns light into sugar", 10.0),
    ("Week 2: Captions", "a map is not the territory it shows", 12.0),
    ("Week 3: Labels", "water boils sooner on a mountain", 18.0),
    ("Week 4: Slides", "every triangle has three altitudes", 22.0),
    ("Week 5: Posters", "the library opens early during finals", 30.0),
    ("Week 6: Banners", "peer review makes papers better", 45.0),
    ("Final: Title Page", "a short history of the printing press", 50.0),
]


def _errors(message: str) -> dict[str, Any]:
    return {"errors": [{"message": message}]}


class CanvasNetwork(Backend):
    """Assignments and submissions."""

    def __init__(self) -> None:
        super().__init__()
        self._users: dict[str, int] = {}  # token -> user
        self._assignments: dict[int, dict[str, Any]] = {}
        self._prompts: dict[int, str] = {}
        self._submissions: dict[int, dict[str, Any]] = {}
        self._done: set[int] = set()
        for position, (name, prompt, points) in enumerate(_WORK, 1):
            id_ = 88200 + position * 7
            self._prompts[id_] = prompt
            self._assignments[id_] = {
                "id": id_,
                "name": name,
                "description": "<p>Begin the assignment to see its prompt. Hand in the"
                " prompt in capital letters.</p>",
                "course_id": _COURSE,
                "position": position,
                "points_possible": points,
                "grading_type": "points",
                "submission_types": ["online_text_entry"],
                "allowed_attempts": -1,
                "due_at": self._now(days=7),
                "unlock_at": None,
                "lock_at": None,
                "locked_for_user": False,
                "published": True,
                "workflow_state": "published",
            }

    @staticmethod
    def _now(days: int = 0) -> str:
        moment = datetime.now(UTC) + timedelta(days=days)
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")

    def texts(self) -> dict[str, str]:
        """Return the prompt of each assignment."""
        return {str(id_): prompt for id_, prompt in self._prompts.items()}

    @staticmethod
    def _answer(status: int, body: Any, **headers: str) -> Response:
        cost = {"X-Request-Cost": "0.0421", "X-Rate-Limit-Remaining": "600.0"}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        media_type = "application/json; charset=utf-8"
        return Response(status, body, {"Content-Type": media_type, **cost, **named})

    def missing(self, request: Request) -> Response:
        """Return Canvas's answer to what it does not have."""
        return self._answer(404, _errors("The specified resource does not exist."))

    def _login(self, request: Request) -> Response | None:
        """Return the refusal of a request without a good token."""
        if request.token in self._users:
            return None
        body = _errors("Invalid access token.")
        if not request.token:
            body = {
                "status": "unauthenticated",
                **_errors("user authorization required"),
            }
        return self._answer(401, body, WWW_Authenticate='Bearer realm="canvas-lms"')

    @staticmethod
    def _params(request: Request) -> dict[str, Any]:
        """Return the parameters of the query and the body, as Rails merges them.

        Raises:
            ValueError: The body cannot be read.
        """
        media_type = request.headers.get("Content-Type") or ""
        params: dict[str, Any] = dict(request.query)
        if "json" in media_type:
            body = json.loads(request.raw or b"{}")
            return {**params, **body} if isinstance(body, dict) else params
        for name, value in parse_qsl(request.raw.decode()):
            outer, bracket, inner = name.partition("[")
            if bracket:
                params.setdefault(outer, {})[inner.rstrip("]")] = value
            else:
                params[name] = value
        return params

    def _begin(self, request: Request) -> Any:
        """Return the parameters and the assignment, or the refusal."""
        if refusal := self._login(request):
            return refusal
        try:
            params = self._params(request)
        except ValueError:
            return self._answer(
                400, _errors("There was a problem in the JSON you submitted")
            )
        if params.get("assignment_id") in (None, ""):
            return self._answer(400, _errors("assignment_id is missing"))
        given = str(params["assignment_id"])
        id_ = int(given) if given.isdecimal() else 0
        if id_ not in self._assignments:
            return self.missing(request)
        return params, id_

    def _forbidden(self) -> Response:
        message = "user not authorized to perform that action"
        return self._answer(403, {"status": "unauthorized", **_errors(message)})

    def register(self, request: Request) -> Response:
        """Enrol a student."""
        self.book.registrations += 1
        user = 51000 + self.book.registrations
        token = f"4127~{secrets.token_hex(32)}"
        self._users[token] = user
        body = {
            "agent_id": str(user),
            "access_token": token,
            "credits": 100,
            "name": f"Student {user}",
            "enrollments": [
                {
                    "course_id": _COURSE,
                    "type": "StudentEnrollment",
                    "enrollment_state": "active",
                }
            ],
        }
        return self._answer(200, body)

    def marketplace(self, request: Request) -> Response:
        """List the assignments, page by page; the Link header tells the next."""

        def number(name: str, default: int) -> int:
            given = request.query.get(name, "")
            return max(int(given), 1) if given.isdecimal() else default

        size = min(number("per_page", number("limit", _PER_PAGE)), 100)
        page = number("page", 1)
        last = max(-(-len(self._assignments) // size), 1)
        found = list(self._assignments.values())[(page - 1) * size : page * size]
        pages = {"current": page, "first": 1, "last": last}
        if page < last:
            pages["next"] = page + 1
        if page > 1:
            pages["prev"] = page - 1
        link = ",".join(
            f'<{request.base}{request.path}?page={at}&per_page={size}>; rel="{name}"'
            for name, at in pages.items()
        )
        return self._answer(200, found, Link=link)

    def tasks(self, request: Request) -> Response:
        """List the assignments to a student."""
        return self._login(request) or self.marketplace(request)

    def claim(self, request: Request) -> Response:
        """Begin a submission."""
        begun = self._begin(request)
        if isinstance(begun, Response):
            return begun
        _, id_ = begun
        if id_ in self._submissions:
            return self._forbidden()
        self._submissions[id_] = submission = {
            "id": 9310000 + id_,
            "assignment_id": id_,
            "user_id": self._users[request.token],
            "workflow_state": "unsubmitted",
            "attempt": None,
            "submission_type": None,
            "body": None,
            "submitted_at": None,
            "graded_at": None,
            "score": None,
            "grade": None,
            "late": False,
        }
        self._assignments[id_]["locked_for_user"] = True
        self._assignments[id_]["lock_explanation"] = "Already started by a student."
        self.book.claimed(str(id_))
        return self._answer(200, {**submission, "prompt": self._prompts[id_]})

    def submit(self, request: Request) -> Response:
        """Hand in an attempt, which is graded and, if right, paid."""
        begun = self._begin(request)
        if isinstance(begun, Response):
            return begun
        params, id_ = begun
        if (given := params.get("submission")) in (None, ""):
            return self._answer(400, _errors("submission is missing"))
        submission = self._submissions.get(id_)
        if not submission or submission["user_id"] != self._users[request.token]:
            return self._forbidden()
        kind = given.get("submission_type") if isinstance(given, dict) else None
        if not kind:
            return self._answer(400, _errors("submission[submission_type] is missing"))
        if kind not in self._assignments[id_]["submission_types"]:
            allowed = ", ".join(self._assignments[id_]["submission_types"])
            message = f"Invalid submission[submission_type] given. Allowed: {allowed}"
            return self._answer(400, {"message": message})
        field = _KINDS[kind]
        if not isinstance(given.get(field), str) or not given[field].strip():
            message = f"Invalid parameters for submission_type {kind}."
            return self._answer(
                400, {"message": f"{message} Required: submission[{field}]"}
            )
        if submission["score"]:
            return self._answer(
                400, _errors("This submission has been graded already.")
            )
        right = given[field] == self._prompts[id_].upper()
        points = self._assignments[id_]["points_possible"] if right else 0.0
        submission.update(
            workflow_state="graded",
            attempt=(submission["attempt"] or 0) + 1,
            submission_type=kind,
            body=given[field],
            submitted_at=self._now(),
            graded_at=self._now(),
            score=points,
            grade=f"{points:g}",
        )
        if right:
            self.book.pay(str(id_), int(points))
        answer = self._answer(200, dict(submission))
        answer.refused = not right
        return answer

    def complete(self, request: Request) -> Response:
        """Mark the module item as done."""
        begun = self._begin(request)
        if isinstance(begun, Response):
            return begun
        params, id_ = begun
        if params.get("attempt") is None:
            return self._answer(400, _errors("attempt is missing"))
        submission = self._submissions.get(id_)
        if not submission or submission["user_id"] != self._users[request.token]:
            return self._forbidden()
        if str(params["attempt"]) != str(submission["attempt"]):
            return self._answer(
                400, {"status": "bad_request", "message": "invalid attempt"}
            )
        if not submission["score"]:
            body = {"status": "bad_request", "message": "this attempt has a score of 0"}
            return self._answer(400, body)
        self._done.add(id_)
        body = {
            "id": id_ * 10,
            "type": "Assignment",
            "content_id": id_,
            "title": self._assignments[id_]["name"],
            "completion_requirement": {"type": "must_mark_done", "completed": True},
        }
        return self._answer(200, body)
