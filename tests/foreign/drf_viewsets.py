"""A Django REST framework service: viewsets, nested serializers, LimitOffsetPagination.

Unknown fields are ignored, field faults are told all at once as lists under their names,
nested ones in the shape of the data; validate() runs only when every field is sound.
The list serializer is short: the text to be worked on is in the answer to the claim.
"""

import json
import random
import re
import time
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from tests.foreign.backend import Backend, Request, Response

_DOCUMENTS = [
    ("Market stall signs", "two kilos of early potatoes", 6),
    ("Chapter opening", "it had been raining since tuesday", 14),
    ("Boarding card header", "gate closes fifteen minutes before departure", 11),
    ("Jar label", "plum chutney, very hot", 5),
    ("Door plate", "archive and reading room, second floor", 8),
    ("Poster line 3", "bring your own cup", 4),
    ("Name of the exhibition", "glass, salt and other slow liquids", 17),
    ("Tape lettering", "do not lift by the handle", 7),
    ("Season ticket text", "valid on all lines north of the canal", 10),
    ("Opening title", "a quiet year on the weather station", 13),
    ("Scoreboard line", "home team leads after extra time", 9),
]

_REQUIRED = ["This field is required."]
_NULL = ["This field may not be null."]
_MISSING = object()


class _InvalidError(Exception):
    """serializers.ValidationError."""

    def __init__(self, detail: Any) -> None:
        self.detail = detail


class _APIError(Exception):
    def __init__(self, status: int, detail: str) -> None:
        self.status, self.detail = status, detail


def _stamp(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def _now() -> datetime:
    return datetime.now(UTC)


# --- fields: each takes a value and returns the internal one ----------------------------


class _Integer:
    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high

    def run(self, v: Any) -> Any:
        try:
            n = int(re.sub(r"\.0*\s*$", "", str(v)))
        except ValueError:
            raise _InvalidError(["A valid integer is required."]) from None
        if n < self.low:
            raise _InvalidError(
                [f"Ensure this value is greater than or equal to {self.low}."]
            )
        if n > self.high:
            raise _InvalidError(
                [f"Ensure this value is less than or equal to {self.high}."]
            )
        return n


class _Char:
    def __init__(self, max_length: int, *, required: bool = True) -> None:
        self.max_length, self.required = max_length, required

    def run(self, v: Any) -> Any:
        if isinstance(v, bool) or not isinstance(v, (str, int, float)):
            raise _InvalidError(["Not a valid string."])
        text = str(v).strip()
        if not text:
            raise _InvalidError(["This field may not be blank."])
        if len(text) > self.max_length:
            raise _InvalidError(
                [f"Ensure this field has no more than {self.max_length} characters."]
            )
        return text


class _Choice:
    def __init__(self, *choices: str) -> None:
        self.choices = choices

    def run(self, v: Any) -> Any:
        if v == "":
            raise _InvalidError(['"" is not a valid choice.'])
        if str(v) not in self.choices:
            raise _InvalidError([f'"{v}" is not a valid choice.'])
        return str(v)


class _Duration:
    pattern = re.compile(r"^(?:(\d+) )?(?:(?:(\d+):)?(\d+):)?(\d+)(?:\.\d{1,6})?$")
    iso = re.compile(r"^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$")

    def run(self, v: Any) -> Any:
        match = self.pattern.match(str(v)) or self.iso.match(str(v))
        if not match:
            raise _InvalidError(
                [
                    (
                        "Duration has wrong format. Use one of these formats instead: "
                        "[DD] [HH:[MM:]]ss[.uuuuuu]."
                    )
                ]
            )
        d, h, m, s = (int(g or 0) for g in match.groups())
        return timedelta(days=d, hours=h, minutes=m, seconds=s)


class _Related:
    """PrimaryKeyRelatedField."""

    def __init__(self, rows: dict[int, dict[str, Any]]) -> None:
        self.rows = rows

    def run(self, v: Any) -> Any:
        wrong = [f"Incorrect type. Expected pk value, received {type(v).__name__}."]
        if isinstance(v, bool) or not isinstance(v, (int, str, float)):
            raise _InvalidError(wrong)
        try:
            pk = int(v)
        except (ValueError, OverflowError):
            raise _InvalidError(wrong) from None
        if pk not in self.rows:
            raise _InvalidError([f'Invalid pk "{v}" - object does not exist.'])
        return self.rows[pk]


class _Serializer:
    def __init__(
        self, *, many: bool = False, checks: Any = None, **fields: Any
    ) -> None:
        self.many, self.fields, self.checks = many, fields, checks or {}

    def run(self, v: Any) -> Any:
        if v is None:  # only at the top: the fields above refuse null themselves
            raise _InvalidError({"non_field_errors": ["No data provided"]})
        if not self.many:
            return self._one(v)
        if not isinstance(v, list):
            raise _InvalidError(
                {
                    "non_field_errors": [
                        f'Expected a list of items but got type "{type(v).__name__}".'
                    ]
                }
            )
        if not v:
            raise _InvalidError({"non_field_errors": ["This list may not be empty."]})
        good: list[Any] = []
        errors: list[Any] = []
        for item in v:
            try:
                good.append(self._one(item))
                errors.append({})
            except _InvalidError as e:
                errors.append(e.detail)
        if any(errors):
            raise _InvalidError(errors)
        return good

    def _one(self, v: Any) -> dict[str, Any]:
        if not isinstance(v, dict):
            raise _InvalidError(
                {
                    "non_field_errors": [
                        f"Invalid data. Expected a dictionary, but got {type(v).__name__}."
                    ]
                }
            )
        good, errors = {}, {}
        for name, field in self.fields.items():
            value = v.get(name, _MISSING)
            if value is _MISSING:
                if getattr(field, "required", True):
                    errors[name] = _REQUIRED
            elif value is None:
                errors[name] = _NULL
            else:
                try:
                    good[name] = field.run(value)
                    if name in self.checks:
                        self.checks[name](good[name])
                except _InvalidError as e:
                    errors[name] = e.detail
        if errors:
            raise _InvalidError(errors)
        return good


class DrfNested(Backend):
    """Task market of a Django team."""

    def __init__(self) -> None:
        super().__init__()
        self._rng = random.Random(20)  # noqa: S311 - no secret
        self._agents: dict[str, dict[str, Any]] = {}
        self._tasks: dict[int, dict[str, Any]] = {}
        self._assignments: dict[int, dict[str, Any]] = {}
        self._submissions: dict[int, dict[str, Any]] = {}
        start = datetime(2025, 2, 11, 9, 3, 55, 120937, UTC)
        for n, (name, text, reward) in enumerate(_DOCUMENTS):
            pk = 118 + 3 * n
            self._tasks[pk] = {
                "id": pk,
                "name": name,
                "instructions": "Return the source text (see the assignment) converted to "
                "upper case, nothing else.",
                "category": {"slug": "lettering", "label": "Lettering"},
                "reward": f"{reward}.00",
                "output_formats": ["plain"] if n % 2 else ["plain", "markdown"],
                "time_limit_minutes": 60,
                "audience": "verified" if n == 3 else "everyone",
                "state": "available",
                "created_at": _stamp(
                    start + timedelta(hours=7 * n, microseconds=4211 * n)
                ),
                "_text": text,
            }

    def texts(self) -> dict[str, str]:
        return {
            str(k): t["_text"]
            for k, t in self._tasks.items()
            if t["audience"] == "everyone"
        }

    # --- plumbing of Django and the framework ---

    def _answer(self, status: int, body: Any, allow: str) -> Response:
        headers = {
            "Content-Type": "application/json",
            "Vary": "Accept",
            "Allow": allow,
            "X-Frame-Options": "DENY",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "same-origin",
        }
        if status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        return Response(
            status, json.dumps(body, separators=(",", ":"), ensure_ascii=False), headers
        )

    def _view(self, request: Request, work: Any, good: int = 200) -> Response:
        allow = (
            f"{request.method}, {'HEAD, ' if request.method == 'GET' else ''}OPTIONS"
        )
        try:
            return self._answer(good, work(), allow)
        except _InvalidError as e:
            return self._answer(400, e.detail, allow)
        except _APIError as e:
            return self._answer(e.status, {"detail": e.detail}, allow)

    def missing(self, request: Request) -> Response:
        return Response(
            404,
            '\n<!doctype html>\n<html lang="en">\n<head>\n  <title>Not Found</title>\n</head>\n'
            "<body>\n  <h1>Not Found</h1><p>The requested resource was not found on this "
            "server.</p>\n</body>\n</html>\n",
            {"Content-Type": "text/html; charset=utf-8", "X-Frame-Options": "DENY"},
        )

    def _user(self, request: Request) -> dict[str, Any]:
        if not request.token:
            raise _APIError(401, "Authentication credentials were not provided.")
        if request.token not in self._agents:
            raise _APIError(401, "Invalid token.")
        return self._agents[request.token]

    def _data(self, request: Request) -> Any:
        if not request.raw:
            return {}
        kind = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
        if kind != "application/json":
            raise _APIError(415, f'Unsupported media type "{kind}" in request.')
        try:
            return request.json()
        except ValueError as e:
            raise _APIError(400, f"JSON parse error - {e}") from None

    @staticmethod
    def _public(task: dict[str, Any], *, detail: bool = False) -> dict[str, Any]:
        shown = {k: v for k, v in task.items() if not k.startswith("_")}
        if detail:
            shown["source"] = {
                "text": task["_text"],
                "language": "en",
                "word_count": len(task["_text"].split()),
            }
        return shown

    # --- views ---

    def register(self, request: Request) -> Response:
        def work() -> Any:
            self._data(request)
            self.book.registrations += 1
            token = f"{self._rng.getrandbits(160):040x}"
            agent: dict[str, Any] = {"pk": len(self._agents) + 2051, "credits": 100}
            agent["username"] = f"agent-{agent['pk']}"
            self._agents[token] = agent
            return {
                "agent_id": str(agent["pk"]),
                "username": agent["username"],
                "access_token": token,
                "credits": 100,
                "date_joined": _stamp(_now()),
            }

        return self._view(request, work)

    def tasks(self, request: Request) -> Response:
        def number(name: str, default: int, low: int, high: int) -> int:
            try:
                n = int(request.query.get(name, ""))
            except ValueError:
                return default
            return min(n, high) if n >= low else default

        def work() -> Any:
            if request.token:
                self._user(request)
            limit, offset = number("limit", 5, 1, 50), number("offset", 0, 0, 10**9)
            rows = [
                self._public(t)
                for t in self._tasks.values()
                if t["state"] == "available"
            ]

            def link(o: int) -> str:
                query = {"limit": limit, **({"offset": o} if o else {})}
                return f"{request.base}{request.path}?{urlencode(query)}"

            return {
                "count": len(rows),
                "next": link(offset + limit) if offset + limit < len(rows) else None,
                "previous": link(max(0, offset - limit)) if offset else None,
                "results": rows[offset : offset + limit],
            }

        return self._view(request, work)

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        def available(task: dict[str, Any]) -> None:
            if task["state"] != "available":
                raise _InvalidError(
                    [f"This task is not available (state: {task['state']})."]
                )

        def work() -> Any:
            user = self._user(request)
            data = _Serializer(
                checks={"task": available},
                task=_Related(self._tasks),
                plan=_Serializer(
                    estimated_minutes=_Integer(1, 60),
                    comment=_Char(200, required=False),
                ),
            ).run(self._data(request))
            task = data["task"]
            if task["audience"] != "everyone":
                raise _APIError(403, "Only verified agents may take this task.")
            task["state"] = "assigned"
            now = _now()
            row = {
                "id": 900 + len(self._assignments) * 7,
                "worker": {"id": user["pk"], "username": user["username"]},
                "task": task["id"],
                "plan": data["plan"],
                "status": "in_progress",
                "created_at": _stamp(now),
                "due_at": _stamp(now + timedelta(minutes=task["time_limit_minutes"])),
            }
            self._assignments[row["id"]] = row
            self.book.claimed(str(task["id"]))
            return {**row, "task": self._public(task, detail=True)}

        return self._view(request, work, 201)

    def _mine(self, user: dict[str, Any]) -> dict[int, dict[str, Any]]:
        """The queryset: an agent sees nobody else's assignments."""
        return {
            k: a
            for k, a in self._assignments.items()
            if a["worker"]["id"] == user["pk"]
        }

    def submit(self, request: Request) -> Response:
        def open_(row: dict[str, Any]) -> None:
            if row["status"] != "in_progress":
                raise _InvalidError([f"Assignment is already {row['status']}."])

        def work() -> Any:
            user = self._user(request)
            data = _Serializer(
                checks={"assignment": open_},
                assignment=_Related(self._mine(user)),
                outputs=_Serializer(
                    many=True,
                    format=_Choice("plain", "markdown", "html"),
                    content=_Char(5000),
                ),
            ).run(self._data(request))
            row = data["assignment"]
            task = self._tasks[row["task"]]
            outputs = data["outputs"]
            if len(outputs) != 1:
                raise _InvalidError(
                    {"outputs": ["This task takes exactly one output."]}
                )
            if outputs[0]["format"] not in task["output_formats"]:
                allowed = ", ".join(task["output_formats"])
                raise _InvalidError(
                    {"non_field_errors": [f"Output format must be one of: {allowed}."]}
                )
            if outputs[0]["content"] != task["_text"].upper():
                raise _InvalidError(
                    {
                        "non_field_errors": [
                            "Content is not the source text in upper case."
                        ]
                    }
                )
            row["status"] = "submitted"
            done = {
                "id": 41 + len(self._submissions) * 2,
                "assignment": row["id"],
                "outputs": outputs,
                "review": {"status": "approved", "reviewer": "autocheck"},
                "created_at": _stamp(_now()),
            }
            self._submissions[done["id"]] = done
            return done

        return self._view(request, work, 201)

    def complete(self, request: Request) -> Response:
        def work() -> Any:
            user = self._user(request)
            mine = self._mine(user)
            data = _Serializer(
                submission=_Related(
                    {
                        k: s
                        for k, s in self._submissions.items()
                        if s["assignment"] in mine
                    }
                ),
                time_spent=_Duration(),
            ).run(self._data(request))
            row = mine[data["submission"]["assignment"]]
            if row["status"] == "completed":
                raise _InvalidError(
                    {"non_field_errors": ["Assignment is already completed."]}
                )
            task = self._tasks[row["task"]]
            row["status"], task["state"] = "completed", "done"
            amount = int(task["reward"].partition(".")[0])
            user["credits"] += amount
            self.book.pay(str(task["id"]), amount)
            seconds = int(data["time_spent"].total_seconds())
            return {
                **row,
                "time_spent": time.strftime("%H:%M:%S", time.gmtime(seconds)),
                "payment": {"amount": task["reward"], "status": "settled"},
                "balance": f"{user['credits']}.00",
            }

        return self._view(request, work)
