"""A Laravel 12 service: Sanctum, FormRequests, API Resources, a paginator, a queued review.

The input is trimmed and "" is null, as the default middleware has it; what is not JSON is
an empty input. The resource of a created model answers 201. The review is a queued job, so
that complete may come too early; credits are a decimal cast, hence strings.
"""

import random
import re
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_STATUSES = ["completed", "released"]
_REVIEW = 0.4  # seconds until the queued job has run
_TEXTS = [
    "Granite steps behind the old brewery",
    "one lantern for every second window",
    "meet me where the canal bends",
    "the orchard closes at half past six",
    "Nine grey geese over the weir",
    "bring rope, chalk and a whistle",
    "a postcard from the southern pier",
    "the clockmaker's daughter waves back",
    "winter coats: third floor, left",
]


def _trim(value: Any) -> Any:
    """TrimStrings and ConvertEmptyStringsToNull."""
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, list):
        return [_trim(one) for one in value]
    if isinstance(value, dict):
        return {key: _trim(one) for key, one in value.items()}
    return value


def _attribute(name: str) -> str:
    return name.replace("_", " ")


def _empty(value: Any) -> bool:
    return value is None or value in ("", [], {})


class _Errors:
    """A validator's message bag."""

    def __init__(self) -> None:
        self.bag: dict[str, list[str]] = {}

    def add(self, name: str, text: str) -> None:
        self.bag.setdefault(name, []).append(
            text.replace(":attribute", _attribute(name))
        )

    def required(self, name: str, value: Any) -> bool:
        if _empty(value):
            self.add(name, "The :attribute field is required.")
            return False
        return True

    def string(self, name: str, value: Any) -> bool:
        if not self.required(name, value):
            return False
        if not isinstance(value, str):
            self.add(name, "The :attribute field must be a string.")
            return False
        return True

    def in_(self, name: str, value: Any, allowed: list[str]) -> None:
        if not isinstance(value, str) or value not in allowed:
            self.add(name, "The selected :attribute is invalid.")


class LaravelClaims(Backend):
    """See the module."""

    def __init__(self) -> None:
        super().__init__()
        self._random = random.Random(29)  # noqa: S311 - no secret
        self._agents: dict[str, int] = {}
        self._balance: dict[int, int] = {}
        self._tasks: dict[str, dict[str, Any]] = {}
        self._claims: dict[str, dict[str, Any]] = {}
        self._submissions = 0
        self._left = 60
        self._minute = 0
        for number, text in enumerate(_TEXTS):
            self._tasks[self._ulid("01KG4")] = {
                "text": text,
                "status": "open",
                "credits": 10 + 5 * (number % 3),
            }

    def _ulid(self, head: str) -> str:
        return head + "".join(self._random.choices(_ALPHABET, k=26 - len(head)))

    def texts(self) -> dict[str, str]:
        """Return the texts by task."""
        return {key: task["text"] for key, task in self._tasks.items()}

    # -- the kernel -------------------------------------------------------------------

    def handle(self, request: Request) -> Response:
        """Answer one request, with the headers of PHP and of the throttle."""
        answer = super().handle(request)
        minute = int(time.monotonic() // 60)
        if minute != self._minute:
            self._minute, self._left = minute, 60
        self._left = max(self._left - 1, 1)  # shown, and generous
        answer.headers.setdefault("Cache-Control", "no-cache, private")
        answer.headers.setdefault("X-Powered-By", "PHP/8.3.14")
        answer.headers.setdefault("X-RateLimit-Limit", "60")
        answer.headers.setdefault("X-RateLimit-Remaining", str(self._left))
        return answer

    def _abort(self, status: int, message: str, **headers: str) -> Response:
        return Response(
            status,
            {"message": message},
            {name.replace("_", "-"): value for name, value in headers.items()},
        )

    def missing(self, request: Request) -> Response:
        """Answer as the router does."""
        return self._abort(
            404, f"The route {request.path.lstrip('/')} could not be found."
        )

    def _invalid(self, errors: _Errors) -> Response:
        messages = [text for texts in errors.bag.values() for text in texts]
        message, more = messages[0], len(messages) - 1
        if more:
            message += f" (and {more} more error{'s' if more > 1 else ''})"
        return Response(422, {"message": message, "errors": errors.bag})

    def _input(self, request: Request) -> dict[str, Any]:
        if "json" not in (request.headers.get("Content-Type") or ""):
            return {}
        try:
            body = request.json()
        except ValueError:
            return {}
        return _trim(body) if isinstance(body, dict) else {}

    def _guest(self, request: Request) -> Response | None:
        if request.token in self._agents:
            return None
        return self._abort(401, "Unauthenticated.")

    def _date(self, when: datetime | None = None) -> str:
        return (when or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%S.000000Z")

    # -- the controllers --------------------------------------------------------------

    def register(self, request: Request) -> Response:
        """Create an agent and its Sanctum token."""
        self.book.registrations += 1
        number = 318 + len(self._agents)
        token = f"{number}|" + "".join(
            self._random.choices("abcdefghijkmnpqrstuvwxyzABCDEFGH0123456789", k=48)
        )
        self._agents[token] = number
        self._balance[number] = 100
        return Response(
            200, {"agent_id": str(number), "access_token": token, "credits": 100}
        )

    def _task(self, key: str) -> dict[str, Any]:
        key = str(key)
        task = self._tasks[key]
        return {
            "id": key,
            "title": "Capitalise: put the whole text in upper case",
            "description": "Convert the source text to upper case and deliver it as the "
            'output named "uppercased". Do not change anything else.',
            "status": task["status"],
            "credits": f"{task['credits']}.00",
            "source": {"text": task["text"], "language": "en"},
            "outputs": [{"name": "uppercased", "type": "text"}],
            "created_at": "2026-01-30T16:20:05.000000Z",
            "updated_at": "2026-01-30T16:20:05.000000Z",
        }

    def tasks(self, request: Request) -> Response:
        """Paginate the open tasks."""
        if (refusal := self._guest(request)) is not None:
            return refusal
        errors, size = _Errors(), 15
        if limit := request.query.get("limit"):
            if not re.fullmatch(r"-?\d+", limit):
                errors.add("limit", "The :attribute field must be an integer.")
            elif int(limit) < 1:
                errors.add("limit", "The :attribute field must be at least 1.")
            elif int(limit) > 50:
                errors.add("limit", "The :attribute field must not be greater than 50.")
            else:
                size = int(limit)
        if errors.bag:
            return self._invalid(errors)
        open_ = [k for k, task in self._tasks.items() if task["status"] == "open"]
        page = request.query.get("page", "1")
        page_number = max(int(page), 1) if page.isdigit() else 1
        first = (page_number - 1) * size
        shown = open_[first : first + size]
        last = max(-(-len(open_) // size), 1)
        url = f"{request.base}{request.path}"

        def link(number: int) -> str | None:
            return f"{url}?page={number}" if 1 <= number <= last else None

        return Response(
            200,
            {
                "data": [self._task(key) for key in shown],
                "links": {
                    "first": link(1),
                    "last": link(last),
                    "prev": link(page_number - 1),
                    "next": link(page_number + 1),
                },
                "meta": {
                    "current_page": page_number,
                    "from": first + 1 if shown else None,
                    "last_page": last,
                    "links": [
                        {
                            "url": link(page_number - 1),
                            "label": "&laquo; Previous",
                            "active": False,
                        },
                        *(
                            {
                                "url": link(number),
                                "label": str(number),
                                "active": number == page_number,
                            }
                            for number in range(1, last + 1)
                        ),
                        {
                            "url": link(page_number + 1),
                            "label": "Next &raquo;",
                            "active": False,
                        },
                    ],
                    "path": url,
                    "per_page": size,
                    "to": first + len(shown) if shown else None,
                    "total": len(open_),
                },
            },
        )

    def claim(self, request: Request) -> Response:
        """Claim: {task, accept_terms}."""
        if (refusal := self._guest(request)) is not None:
            return refusal
        body, errors = self._input(request), _Errors()
        key = body.get("task")
        if errors.required("task", key):
            if not isinstance(key, str) or not re.fullmatch(
                "[0-7][0-9a-hjkmnp-tv-zA-HJKMNP-TV-Z]{25}", key
            ):
                errors.add("task", "The :attribute field must be a valid ULID.")
            elif key not in self._tasks:
                errors.add("task", "The selected :attribute is invalid.")
        accepted = body.get("accept_terms")
        if errors.required("accept_terms", accepted):
            right = accepted is True or (
                not isinstance(accepted, bool | dict | list)
                and accepted in ("yes", "on", "1", 1, "true")
            )
            if not right:
                errors.add("accept_terms", "The :attribute field must be accepted.")
        if errors.bag:
            return self._invalid(errors)
        key = str(key)
        task = self._tasks[key]
        if task["status"] != "open":
            return self._abort(409, "This task has already been claimed.")
        task["status"] = "claimed"
        reference = f"CLM-{''.join(self._random.choices(_ALPHABET, k=8))}"
        self._claims[reference] = {
            "id": 7300 + len(self._claims),
            "task": key,
            "agent": self._agents[request.token],
            "status": "active",
            "value": None,
            "reviewed_at": 0.0,
        }
        self.book.claimed(key)
        return Response(
            201,
            {
                "data": {
                    **self._claim(reference),
                    "expires_at": self._date(datetime.now(UTC) + timedelta(hours=1)),
                    "task": self._task(key),
                }
            },
        )

    def _claim(self, reference: str) -> dict[str, Any]:
        claim = self._claims[reference]
        return {
            "id": claim["id"],
            "reference": reference,
            "status": claim["status"],
            "allowed_statuses": {
                "active": ["submitted", "released"],
                "submitted": ["completed", "released"],
            }.get(claim["status"], []),
        }

    def _reference(
        self, request: Request, body: dict[str, Any], errors: _Errors
    ) -> str:
        """Check claim_reference: required, string, exists for this agent."""
        reference = body.get("claim_reference")
        if errors.string("claim_reference", reference):
            claim = self._claims.get(str(reference))
            if claim is None or claim["agent"] != self._agents[request.token]:
                errors.add("claim_reference", "The selected :attribute is invalid.")
        return reference if isinstance(reference, str) else ""

    def submit(self, request: Request) -> Response:
        """Submit: {claim_reference, outputs: [{name, value}]}."""
        if (refusal := self._guest(request)) is not None:
            return refusal
        body, errors = self._input(request), _Errors()
        reference = self._reference(request, body, errors)
        outputs = body.get("outputs")
        values: dict[str, str] = {}
        if errors.required("outputs", outputs):
            if not isinstance(outputs, dict | list):
                errors.add("outputs", "The :attribute field must be an array.")
            else:
                # A PHP array is both, and `outputs.*` goes over either.
                pairs = list(
                    outputs.items() if isinstance(outputs, dict) else enumerate(outputs)
                )
                for part in ("name", "value"):
                    for index, one in pairs:
                        path = f"outputs.{index}.{part}"
                        value = one.get(part) if isinstance(one, dict) else None
                        if errors.string(path, value) and part == "name":
                            errors.in_(path, value, ["uppercased"])
                for _, one in pairs:
                    if isinstance(one, dict) and not errors.bag:
                        values[one["name"]] = one["value"]
        if errors.bag:
            return self._invalid(errors)
        claim = self._claims[reference]
        if claim["status"] != "active":
            return self._abort(
                409, f"A claim that is {claim['status']} cannot be submitted."
            )
        claim["status"], claim["value"] = "submitted", values["uppercased"]
        claim["reviewed_at"] = time.monotonic() + _REVIEW
        self._submissions += 1
        return Response(
            201,
            {
                "data": {
                    "id": 1200 + self._submissions,
                    "review": {"status": "pending", "reviewed_at": None},
                    "outputs": [{"name": "uppercased", "value": claim["value"]}],
                    "claim": self._claim(reference),
                    "created_at": self._date(),
                }
            },
        )

    def complete(self, request: Request) -> Response:
        """Complete: {claim_reference, status}."""
        if (refusal := self._guest(request)) is not None:
            return refusal
        body, errors = self._input(request), _Errors()
        reference = self._reference(request, body, errors)
        status = body.get("status")
        if errors.required("status", status):
            errors.in_("status", status, _STATUSES)
        if errors.bag:
            return self._invalid(errors)
        claim = self._claims[reference]
        task = self._tasks[claim["task"]]
        if claim["status"] not in ("active", "submitted") or (
            status == "completed" and claim["status"] == "active"
        ):
            return self._abort(
                409, f"Cannot change the claim from {claim['status']} to {status}."
            )
        if status == "released":
            claim["status"], task["status"] = "released", "open"
            self.book.held.discard(claim["task"])
            return Response(200, {"data": self._claim(reference)})
        if time.monotonic() < claim["reviewed_at"]:
            return self._abort(
                409,
                "The submission is still being reviewed. Please try again shortly.",
                Retry_After="1",
            )
        if claim["value"] != task["text"].upper():
            claim["status"] = "active"
            errors.add(
                "outputs.0.value",
                "The reviewer rejected this value: it is not the source text in upper "
                "case.",
            )
            return self._invalid(errors)
        claim["status"] = task["status"] = "completed"
        self._balance[claim["agent"]] += task["credits"]
        self.book.pay(claim["task"], task["credits"])
        return Response(
            200,
            {
                "data": {
                    **self._claim(reference),
                    "review": {"status": "approved", "reviewed_at": self._date()},
                    "credits_earned": f"{task['credits']}.00",
                    "balance": f"{self._balance[claim['agent']]}.00",
                }
            },
        )
