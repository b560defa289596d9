"""A contest desk on Django REST framework with JSON:API: submissions, reviewed and settled.

A reservation holds the task; a submission is reviewed at once and is approved or rejected
(it may be made again); settling an approved one pays.
"""

import json
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_MEDIA = {"Content-Type": "application/vnd.api+json"}
_NAMES = ("heading", "bounty", "copy")
_BRIEF = {"brief": "Retype the copy in block capitals, keeping digits and punctuation."}
_ROWS = [
    ("118", "Luggage tag", 16, "return to: hotel meridian, room 12"),
    ("121", "Cinema board", 45, "tonight: the lighthouse keeper"),
    ("125", "Jar label", 11, "plum jam, no added sugar"),
    ("130", "Station notice", 38, "mind the gap on platform 3"),
    ("134", "Trophy engraving", 27, "for patience & good humour"),
]


_Problem = tuple[str, str] | None  # detail and code
_REQUIRED = ("This field is required.", "required")
_NULL = ("This field may not be null.", "null")


class _Refusal(Exception):  # noqa: N818
    def __init__(self, status: int, *errors: tuple[str, str, str]) -> None:
        self.status, self.errors = status, errors  # detail, pointer, code


def _parse_error(detail: str) -> _Refusal:
    return _Refusal(400, (detail, "/data", "parse_error"))


class JsonApiSubmissions(Backend):
    """Submissions that are reviewed and then settled; the settlement pays."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}  # token -> agent
        self._holder: dict[str, str] = {}  # task -> agent
        self._submissions: dict[str, dict[str, Any]] = {}
        self._serial = 7000

    def texts(self) -> dict[str, str]:
        """Return the text of every task."""
        return {key: copy for key, _, _, copy in _ROWS}

    def missing(self, request: Request) -> Response:
        """Answer as for a view that does not exist."""
        return self._errors(_Refusal(404, ("Not found.", "/data", "not_found")))

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        agent, token = str(52 + self.book.registrations), secrets.token_hex(20)
        self._agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def marketplace(self, request: Request) -> Response:
        """List free tasks to anyone."""
        return self._view(request, self._list, public=True)

    def tasks(self, request: Request) -> Response:
        """List free tasks to an agent."""
        return self._view(request, self._list)

    def claim(self, request: Request) -> Response:
        """Make a reservation."""
        return self._view(request, self._reserve)

    def submit(self, request: Request) -> Response:
        """Make a submission, which is reviewed at once."""
        answer = self._view(request, self._submit)
        data = answer.body.get("data") or {"attributes": {}}
        answer.refused = data["attributes"].get("review-state") == "rejected"
        return answer

    def complete(self, request: Request) -> Response:
        """Settle an approved submission."""
        return self._view(request, self._settle)

    def _view(self, request: Request, action: Any, public: bool = False) -> Response:  # noqa: FBT001, FBT002
        agent = self._agents.get(request.token, "")
        try:
            if not agent and not public:
                text, code = (
                    "Authentication credentials were not provided.",
                    "not_authenticated",
                )
                if request.token:
                    text, code = "Invalid token.", "authentication_failed"
                raise _Refusal(401, (text, "/data", code))
            return Response(200, action(request, agent), dict(_MEDIA))
        except _Refusal as refusal:
            return self._errors(refusal)

    @staticmethod
    def _errors(refusal: _Refusal) -> Response:
        rows = [
            {
                "detail": text,
                "status": str(refusal.status),
                "source": {"pointer": at},
                "code": code,
            }
            for text, at, code in refusal.errors
        ]
        challenge = {"WWW-Authenticate": "Bearer"} if refusal.status == 401 else {}
        return Response(refusal.status, {"errors": rows}, _MEDIA | challenge)

    def _next(self) -> str:
        self._serial += 1
        return str(self._serial)

    def _list(self, request: Request, agent: str) -> dict[str, Any]:
        for name in request.query:
            if name not in ("limit", "page[offset]"):
                raise _Refusal(
                    400, (f"invalid query parameter: {name}", "/data", "invalid")
                )
        # As in LimitOffsetPagination, what is no number counts as not given.
        asked = (request.query.get(name, "") for name in ("limit", "page[offset]"))
        limit, offset = (int(n) if n.isascii() and n.isdigit() else 0 for n in asked)
        limit = min(limit or 3, 20)
        rows = [row for row in _ROWS if row[0] not in self._holder]
        path = f"{request.base}{request.path}?limit={limit}"
        link = (path + "&page%5Boffset%5D={}").format
        return {
            "links": {
                "first": link(0),
                "last": link(max(0, (len(rows) - 1) // limit * limit)),
                "next": link(offset + limit) if offset + limit < len(rows) else None,
                "prev": link(max(0, offset - limit)) if offset else None,
            },
            "data": [
                {
                    "type": "tasks",
                    "id": key,
                    "attributes": {**_BRIEF, **dict(zip(_NAMES, values))},  # noqa: B905
                }
                for key, *values in rows[offset : offset + limit]
            ],
            "meta": {
                "pagination": {"count": len(rows), "limit": limit, "offset": offset}
            },
        }

    @staticmethod
    def _parse(request: Request, kind: str) -> dict[str, Any]:
        try:
            document = json.loads(request.raw)
        except ValueError as error:
            raise _parse_error(f"JSON parse error - {error}") from None
        data = document.get("data") if isinstance(document, dict) else None
        if not data:
            raise _parse_error("Received document does not contain primary data")
        if not isinstance(data, dict):
            text = "Received data is not a valid JSON:API Resource Identifier Object"
            raise _parse_error(text)
        if data.get("type") != kind:
            text = (
                f"The resource object's type ({data.get('type')}) is not the type that "
            )
            text += f"constitute the collection represented by the endpoint ({kind})."
            raise _Refusal(409, (text, "/data", "error"))
        parts = [data.get("attributes"), data.get("relationships")]
        fields, related = (
            dict(part) if isinstance(part, dict) else {} for part in parts
        )
        for name, value in related.items():
            fields[name] = value.get("data") if isinstance(value, dict) else value
        return {name.replace("_", "-"): value for name, value in fields.items()}

    @staticmethod
    def _field(fields: dict[str, Any], name: str, kind: type) -> _Problem:
        value = fields.get(name)
        if value is None:
            return _NULL if name in fields else _REQUIRED
        if kind is bool and value not in (True, False, "true", "false"):
            return "Must be a valid boolean.", "invalid"
        if kind is str and not isinstance(value, str):
            return "Not a valid string.", "invalid"
        return None if value != "" else ("This field may not be blank.", "blank")

    @staticmethod
    def _related(fields: dict[str, Any], name: str, known: Any) -> _Problem:
        kind, value = f"{name}s", fields.get(name)
        if value is None:
            return _NULL if name in fields else _REQUIRED
        if not isinstance(value, dict):
            text = "Incorrect type. Expected resource identifier object, received"
            return f"{text} {type(value).__name__}.", "incorrect_type"
        for part in ("type", "id"):
            if part not in value:
                text = f"Invalid resource identifier object: missing '{part}' attribute"
                return text, f"missing_{part}"
        if (got := value["type"]) != kind:
            text = f"Incorrect relation type. Expected {kind}, received {got}."
            return text, "incorrect_relation_type"
        if str(value["id"]) not in known:
            return (
                f'Invalid pk "{value["id"]}" - object does not exist.',
                "does_not_exist",
            )
        return None

    @staticmethod
    def _raise(**found: _Problem) -> None:
        errors = []
        for name, problem in found.items():
            part = "relationships" if name in ("task", "submission") else "attributes"
            if problem:
                errors.append((problem[0], f"/data/{part}/{name}", problem[1]))
        if errors:
            raise _Refusal(400, *errors)

    @staticmethod
    def _document(
        kind: str, key: str, other: str, ref: str, **values: Any
    ) -> dict[str, Any]:
        related = {other: {"data": {"type": f"{other}s", "id": ref}}}
        data = {"type": kind, "id": key, "attributes": values, "relationships": related}
        return {"data": data}

    def _reserve(self, request: Request, agent: str) -> dict[str, Any]:
        fields = self._parse(request, "reservations")
        self._raise(task=self._related(fields, "task", self.texts()))
        task = str(fields["task"]["id"])
        if task in self._holder:
            self._raise(task=("This task is already reserved.", "invalid"))
        self._holder[task] = agent
        self.book.claimed(task)
        return self._document(
            "reservations", self._next(), "task", task, state="active"
        )

    def _submit(self, request: Request, agent: str) -> dict[str, Any]:
        fields = self._parse(request, "submissions")
        self._raise(
            answer=self._field(fields, "answer", str),
            task=self._related(fields, "task", self.texts()),
            **{"ai-assisted": self._field(fields, "ai-assisted", bool)},
        )
        task = str(fields["task"]["id"])
        if self._holder.get(task) != agent:
            self._raise(task=("You have no reservation for this task.", "invalid"))
        every = self._submissions.values()
        if any(s["task"] == task and s["state"] != "rejected" for s in every):
            self._raise(
                task=("This task already has an approved submission.", "unique")
            )
        good = fields["answer"] == self.texts()[task].upper()
        state, key = "approved" if good else "rejected", self._next()
        self._submissions[key] = {"task": task, "agent": agent, "state": state}
        note = "" if good else "The answer does not follow the brief."
        values = {name: fields[name] for name in ("answer", "ai-assisted")}
        values |= {"review-state": state, "review-note": note}
        return self._document("submissions", key, "task", task, **values)

    def _settle(self, request: Request, agent: str) -> dict[str, Any]:
        fields = self._parse(request, "settlements")
        own = {k for k, s in self._submissions.items() if s["agent"] == agent}
        self._raise(submission=self._related(fields, "submission", own))
        key = str(fields["submission"]["id"])
        submission = self._submissions[key]
        if submission["state"] != "approved":
            text = f"Only approved submissions can be settled, not {submission['state']} ones."
            self._raise(submission=(text, "invalid"))
        submission["state"] = "settled"
        bounty = next(row[2] for row in _ROWS if row[0] == submission["task"])
        self.book.pay(submission["task"], bounty)
        return self._document(
            "settlements", self._next(), "submission", key, amount=bounty
        )
