"""A small team's job board in PHP: API Platform 3 on Symfony, with Lexik's JWT bundle.

Relations are written as IRIs, collections are Hydra's, refusals are the Validator's
violations; the completion (a "settlement") pays.
"""

import json
import re
import secrets
import uuid
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_V1 = "/functions/v1"
_JOBS = [
    (11, "Shop window slogan", "Fresh bread every morning", 20),
    (12, "Museum label", "Bronze axe, found near the river", 35),
    (13, "Conference badge", "Keynote speaker: Ada Byron", 25),
    (14, "Platform notice", "Mind the gap between train and platform", 50),
    (17, "Book spine", "A short history of lighthouses", 15),
    (18, "Warning label", "Keep away from children", 40),
]
_NULL = ("This value should not be null.", "ad32d13f-c3d4-423b-909a-857b961eb720")
_BLANK = ("This value should not be blank.", "c1051bb4-d103-4f74-8988-acbcafc7fdc3")
_RANGE = (
    "This value should be between 1 and 480.",
    "04b91c99-a946-4221-afc5-e65ebac401eb",
)
_TRUE = ("This value should be true.", "2beabf1c-54c0-4882-a928-05249b26e23b")
_BRIEF = "Deliver the source text in capital letters, otherwise unchanged."
_CHALLENGE = {"WWW-Authenticate": "Bearer"}
_MEDIA = ("application/ld+json", "application/json")
_PHP_TYPES = {
    bool: "boolean",
    int: "integer",
    float: "double",
    str: "string",
    list: "array",
}
_PHP_TYPES |= {dict: "array", type(None): "NULL"}


class _Refused(Exception):  # noqa: N818
    """The exception that Symfony's kernel turns into an answer."""

    def __init__(
        self, status: int, body: Any, media: str = "application/problem+json"
    ) -> None:
        self.answer = _write(status, body, media)


def _write(status: int, body: Any, media: str = "application/ld+json") -> Response:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    headers = {
        "Content-Type": media,
        "Vary": "Accept",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(status, text, headers | (_CHALLENGE if status == 401 else {}))


def _problem(status: int, kind: str, type_: str, detail: str, **more: Any) -> _Refused:
    body: dict[str, Any] = {
        "@id": kind,
        "@type": type_,
        "title": "An error occurred",
        "detail": detail,
    }
    body |= {"status": status, "type": kind, **more}
    return _Refused(
        status, body | {"hydra:title": body["title"], "hydra:description": detail}
    )


def _error(status: int, detail: str) -> _Refused:
    return _problem(status, f"/errors/{status}", "hydra:Error", detail)


def _invalid(found: list[tuple[str, str, str]]) -> _Refused:
    detail = "\n".join(f"{path}: {message}" for path, message, _ in found)
    violations = [
        {"propertyPath": path, "message": message} | ({"code": code} if code else {})
        for path, message, code in found
    ]
    kind = "/validation_errors/" + (found[0][2] or "violation")
    return _problem(422, kind, "ConstraintViolationList", detail, violations=violations)


def _kernel(action: Callable[..., Response]) -> Callable[..., Response]:
    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except _Refused as no:
            return no.answer

    return answer


class ApiPlatformJobs(Backend):
    """Jobs, assignments, submissions and settlements as API Platform resources."""

    def __init__(self) -> None:
        super().__init__()
        self._tokens: dict[str, dict[str, Any]] = {}
        names = ("id", "title", "text", "reward")
        self._jobs: dict[str, dict[str, Any]] = {
            str(row[0]): {**dict(zip(names, row, strict=True)), "state": "open"}
            for row in _JOBS
        }
        self._items = {"jobs": self._jobs, "assignments": {}, "submissions": {}}

    def texts(self) -> dict[str, str]:
        """Return the source text of every job."""
        return {id_: job["text"] for id_, job in self._jobs.items()}

    def missing(self, request: Request) -> Response:
        """Return what the router says."""
        detail = f'No route found for "{request.method} {request.base}{request.path}"'
        other = [
            m for m, path in ACTIONS if path == request.path and m != request.method
        ]
        more = f": Method Not Allowed (Allow: {other[0]})" if other else ""
        return _error(405 if other else 404, detail + more).answer

    def _agent(self, request: Request) -> dict[str, Any]:
        if request.token in self._tokens:
            return self._tokens[request.token]
        message = "Invalid JWT Token" if request.token else "JWT Token not found"
        raise _Refused(401, {"code": 401, "message": message}, "application/json")

    def _body(self, request: Request) -> dict[str, Any]:
        media = request.headers.get("Content-Type")
        if media is None:
            raise _error(415, 'The "Content-Type" header must exist.')
        if media.partition(";")[0].strip().lower() not in _MEDIA:
            known = '"' + '", "'.join(_MEDIA) + '".'
            message = f'The content-type "{media}" is not supported.'
            raise _error(415, f"{message} Supported MIME types are {known}")
        try:
            body = request.json()
        except ValueError:
            raise _error(400, "Syntax error") from None
        return body if isinstance(body, dict) else {}  # lists have no attributes

    def _relation(self, body: dict[str, Any], name: str, kind: str) -> Any:
        value = body.get(name)
        if value is None:
            return None
        if isinstance(value, dict | list):
            nested = f'Nested documents for attribute "{name}" are not allowed. Use IRIs instead.'
            raise _error(400, nested)
        if not isinstance(value, str):
            wanted = (
                f'The type of the "{name}" attribute must be "array" (nested document)'
            )
            raise _error(
                400,
                f'{wanted} or "string" (IRI), "{_PHP_TYPES.get(type(value))}" given.',
            )
        found = re.fullmatch(rf"{_V1}/{kind}/([\w-]+)", value)
        if not found:
            raise _error(400, f'Invalid IRI "{value}".')
        if found[1] not in self._items[kind]:
            raise _error(400, f'Item not found for "{value}".')
        return self._items[kind][found[1]]

    def _scalar(self, body: dict[str, Any], name: str, type_: type) -> Any:
        value = body.get(name)
        if value is not None and type(value) is not type_:
            word = "string" if type_ is str else type_.__name__
            wanted = f'The type of the "{name}" attribute must be "{word}"'
            raise _error(400, f'{wanted}, "{_PHP_TYPES.get(type(value))}" given.')
        return value

    def _new(self, kind: str, **values: Any) -> str:
        id_ = str(uuid.uuid4())
        self._items[kind][id_] = values | {"iri": f"{_V1}/{kind}/{id_}"}
        return f"{_V1}/{kind}/{id_}"

    def _job(self, job: dict[str, Any]) -> dict[str, Any]:
        record = {
            "@id": f"{_V1}/jobs/{job['id']}",
            "@type": "Job",
            "brief": _BRIEF,
            **job,
        }
        return {
            {"text": "sourceText"}.get(name, name): value
            for name, value in record.items()
        }

    @_kernel
    def register(self, request: Request) -> Response:
        """Create an agent and its token."""
        self._body(request)
        self.book.registrations += 1
        token = f"eyJ0eXAiOiJKV1QifQ.{secrets.token_urlsafe(40)}.{secrets.token_urlsafe(32)}"
        agent = {"agent_id": str(uuid.uuid4()), "access_token": token, "credits": 100}
        self._tokens[token] = agent
        return _write(200, {"@context": "/contexts/Agent", "@type": "Agent", **agent})

    @_kernel
    def tasks(self, request: Request) -> Response:
        """List the jobs that are still open."""
        asked = {"page": "1", "limit": "30"} | request.query
        found = [re.match(r"\s*(-?\d+)", asked[name]) for name in ("page", "limit")]
        page, limit = (min(int(number[1]), 50) if number else 0 for number in found)
        if limit < 1 or page < 1:
            raise _error(
                400, f"{'Page' if page < 1 else 'Limit'} should not be less than 1"
            )
        items = [
            self._job(job) for job in self._jobs.values() if job["state"] == "open"
        ]
        view = {
            "@id": f"{request.path}?{urlencode(asked)}",
            "@type": "hydra:PartialCollectionView",
        }
        if page * limit < len(items):
            view["hydra:next"] = (
                f"{request.path}?{urlencode(asked | {'page': page + 1})}"
            )
        body: dict[str, Any] = {
            "@context": "/contexts/Job",
            "@id": request.path,
            "@type": "hydra:Collection",
        }
        body |= {"hydra:totalItems": len(items), "hydra:view": view}
        return _write(
            200, body | {"hydra:member": items[(page - 1) * limit : page * limit]}
        )

    marketplace = tasks

    def agents(self, request: Request) -> Response:
        """List the agents."""
        members = [
            {"@type": "Agent", "agent_id": a["agent_id"]} for a in self._tokens.values()
        ]
        return _write(200, {"@type": "hydra:Collection", "hydra:member": members})

    directory = agents

    @_kernel
    def claim(self, request: Request) -> Response:
        """Create an assignment."""
        agent, body = self._agent(request), self._body(request)
        job = self._relation(body, "job", "jobs")
        minutes = self._scalar(body, "estimatedMinutes", int)
        found = [("job", *_NULL)] if job is None else []
        if minutes is None or not 1 <= minutes <= 480:
            found.append(("estimatedMinutes", *(_NULL if minutes is None else _RANGE)))
        if found:
            raise _invalid(found)
        if job["state"] != "open":
            raise _error(409, "This job has already been assigned.")
        job["state"] = "assigned"
        self.book.claimed(str(job["id"]))
        iri = self._new("assignments", job=job, agent=agent, submitted=False)
        answer = {"@id": iri, "@type": "Assignment", "job": f"{_V1}/jobs/{job['id']}"}
        return _write(200, answer | {"estimatedMinutes": minutes})

    @_kernel
    def submit(self, request: Request) -> Response:
        """Create a submission; a deliverable that is not right is a violation."""
        agent, body = self._agent(request), self._body(request)
        assignment = self._relation(body, "assignment", "assignments")
        text = self._scalar(body, "deliverable", str)
        found = [("assignment", *_NULL)] if assignment is None else []
        if found or not text:
            raise _invalid(found + ([] if text else [("deliverable", *_BLANK)]))
        if assignment["agent"] is not agent:
            raise _error(403, "Access Denied.")
        if assignment["submitted"]:
            raise _error(
                409, "A submission has already been accepted for this assignment."
            )
        if text != assignment["job"]["text"].upper():
            raise _invalid(
                [("deliverable", "The deliverable does not fulfil the brief.", "")]
            )
        assignment["submitted"] = True
        iri = self._new("submissions", assignment=assignment, settled=False)
        answer = {"@id": iri, "@type": "Submission", "assignment": assignment["iri"]}
        return _write(200, answer | {"deliverable": text})

    @_kernel
    def complete(self, request: Request) -> Response:
        """Create a settlement, which pays."""
        agent, body = self._agent(request), self._body(request)
        submission = self._relation(body, "submission", "submissions")
        signed = self._scalar(body, "rightsTransferred", bool)
        found = [("submission", *_NULL)] if submission is None else []
        found += (
            []
            if signed
            else [("rightsTransferred", *(_TRUE if signed is False else _NULL))]
        )
        if found:
            raise _invalid(found)
        if submission["assignment"]["agent"] is not agent:
            raise _error(403, "Access Denied.")
        if submission["settled"]:
            raise _error(409, "This submission has already been settled.")
        submission["settled"] = True
        job = submission["assignment"]["job"]
        job["state"] = "completed"
        self.book.pay(str(job["id"]), job["reward"])
        agent["credits"] += job["reward"]
        answer = {
            "@type": "Settlement",
            "submission": submission["iri"],
            "rightsTransferred": True,
        }
        return _write(
            200, answer | {"paidCredits": job["reward"], "balance": agent["credits"]}
        )
