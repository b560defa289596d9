"""Laravel 11: Form Requests, API resources and the length-aware paginator."""

import json
import re
from contextlib import suppress
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, urlencode

from tests.foreign.backend import Backend, Request, Response

CONTENTS = [
    "night train to Lisbon",
    "harbour tour at dusk",
    "three days in the Dolomites",
    "wine cellars of Porto",
    "a week without a car",
    "lighthouses of the north",
    "markets of Palermo",
    "slow boat down the Danube",
    "hidden stairs of Genoa",
    "cycling the Loire",
    "winter swimming in Tallinn",
]
ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", re.IGNORECASE)


class AbortError(Exception):
    """An HttpException or a ValidationException: a status and a body."""

    def __init__(self, status: int, message: str, errors: Any = None) -> None:
        body = (
            {"message": message, "errors": errors} if errors else {"message": message}
        )
        self.response = Response(status, body)


def ulid(kind: str, number: int) -> str:
    alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    digest = sha256(f"{kind}{number}".encode()).digest()[:20]
    return "01JV8K" + "".join(alphabet[byte % 32] for byte in digest)


def clean(value: Any) -> Any:
    """TrimStrings and ConvertEmptyStringsToNull."""
    if isinstance(value, dict):
        return {key: clean(item) for key, item in value.items()}
    return (value.strip() or None) if isinstance(value, str) else value


class Network(Backend):
    def __init__(self) -> None:
        super().__init__()
        self.users: dict[str, dict[str, Any]] = {}
        self.rows: dict[str, dict[str, Any]] = {}
        self.reservations: dict[str, dict[str, Any]] = {}  # by claim token
        for number, content in enumerate([*CONTENTS, "a map of quiet beaches"], 1):
            id_ = ulid("task", number)
            self.rows[id_] = {
                "id": id_,
                "title": f"Newsletter headline {number}",
                "brief": "Set the headline in CAPITALS, without any other change.",
                "content": content,
                "answer_format": "plain",
                "bounty": 8 + number % 5,
                "state": "available" if number <= len(CONTENTS) else "reserved",
                "published_at": f"2025-04-{number:02d}T08:00:00.000000Z",
            }

    def texts(self) -> dict[str, str]:
        return {id_: r["content"] for id_, r in list(self.rows.items())[:-1]}

    # -- framework ---------------------------------------------------------------------
    def dispatch(self, request: Request, action: Any) -> Response:
        try:
            return Response(200, action(request))
        except AbortError as abort:
            return abort.response

    def user(self, request: Request) -> dict[str, Any]:
        if request.token not in self.users:
            raise AbortError(401, "Unauthenticated.")
        return self.users[request.token]

    def missing(self, request: Request) -> Response:
        path = request.path.lstrip("/")
        return Response(404, {"message": f"The route {path} could not be found."})

    def validated(
        self, request: Request, rules: dict[str, list[str]]
    ) -> dict[str, Any]:
        sent: Any = {}
        if "json" in (request.headers.get("Content-Type") or ""):
            with suppress(ValueError):
                sent = request.json()
        else:
            sent = dict(parse_qsl(request.raw.decode(errors="replace")))
        data: dict[str, Any] = clean(sent) if isinstance(sent, dict) else {}
        errors: dict[str, list[str]] = {}
        for name, checks in rules.items():
            messages = self.check(name, data.get(name), checks)
            if messages:
                errors[name] = messages
        if errors:
            self.fail(errors)
        return data

    def fail(self, errors: dict[str, list[str]]) -> None:
        messages = [message for found in errors.values() for message in found]
        more = len(messages) - 1
        summary = messages[0]
        if more:
            summary += f" (and {more} more error{'s' if more > 1 else ''})"
        raise AbortError(422, summary, errors)

    def check(self, name: str, value: Any, checks: list[str]) -> list[str]:
        attribute = name.replace("_", " ")
        if value is None or value in ([], {}):
            wanted = [f"The {attribute} field is required."]
            if "accepted" in checks:
                wanted.append(f"The {attribute} field must be accepted.")
            return wanted
        messages = []
        for rule in checks:
            kind, _, argument = rule.partition(":")
            if kind == "string" and not isinstance(value, str):
                messages.append(f"The {attribute} field must be a string.")
            elif kind == "ulid" and not ULID.fullmatch(str(value)):
                messages.append(f"The {attribute} field must be a valid ULID.")
                break  # bail
            elif (kind == "exists" and str(value) not in getattr(self, argument)) or (
                kind == "in" and str(value) not in argument.split(",")
            ):
                messages.append(f"The selected {attribute} is invalid.")
            elif kind == "accepted" and value not in (
                True,
                1,
                "1",
                "true",
                "on",
                "yes",
            ):
                messages.append(f"The {attribute} field must be accepted.")
        return messages

    def reservation(self, data: dict[str, Any], user: dict[str, Any]) -> dict[str, Any]:
        found = self.reservations[data["claim_token"]]
        if found["user_id"] != user["id"] or found["task_id"] != data["task_id"]:
            raise AbortError(403, "This action is unauthorized.")
        return found

    def resource(self, row: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in row.items() if key != "user_id"}

    # -- controllers -------------------------------------------------------------------
    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        number = len(self.users) + 1
        token = f"{number}|{sha256(f'user{number}'.encode()).hexdigest()}"
        self.users[token] = {"id": ulid("user", number), "credits": 100}
        answer = {"agent_id": self.users[token]["id"], "access_token": token}
        return Response(200, {**answer, "credits": 100})

    def marketplace(self, request: Request) -> Response:
        return self.dispatch(request, self.index)

    def tasks(self, request: Request) -> Response:
        return self.dispatch(request, lambda r: (self.user(r), self.index(r))[1])

    def index(self, request: Request) -> dict[str, Any]:
        def number(name: str, default: int) -> int:
            text = request.query.get(name, "")
            return max(int(text), 1) if text.isdigit() else default

        size, page = min(number("limit", 6), 25), number("page", 1)
        rows = [row for row in self.rows.values() if row["state"] == "available"]
        last = max(-(-len(rows) // size), 1)
        shown = rows[(page - 1) * size : page * size]

        def url(to: int) -> str | None:
            query = urlencode({**request.query, "page": to})
            return f"{request.base}{request.path}?{query}" if 1 <= to <= last else None

        first = (page - 1) * size + 1 if shown else None
        return {
            "data": [self.resource(row) for row in shown],
            "links": {
                "first": url(1),
                "last": url(last),
                "prev": url(page - 1),
                "next": url(page + 1),
            },
            "meta": {
                "current_page": page,
                "from": first,
                "last_page": last,
                "path": request.base + request.path,
                "per_page": size,
                "to": first + len(shown) - 1 if first else None,
                "total": len(rows),
            },
        }

    def claim(self, request: Request) -> Response:
        def store(request: Request) -> dict[str, Any]:
            user = self.user(request)
            rules = {"task_id": ["required", "ulid", "exists:rows"]}
            row = self.rows[self.validated(request, rules)["task_id"]]
            if row["state"] != "available":
                raise AbortError(409, "This task is no longer available.")
            row["state"] = "reserved"
            self.book.claimed(row["id"])
            token = sha256(json.dumps([row["id"], user["id"]]).encode()).hexdigest()
            self.reservations[token] = {
                "id": ulid("reservation", len(self.reservations)),
                "user_id": user["id"],
                "task_id": row["id"],
                "claim_token": token,
                "state": "reserved",
                "reserved_until": "2025-05-01T08:00:00.000000Z",
            }
            data = {
                **self.resource(self.reservations[token]),
                "task": self.resource(row),
            }
            return {"data": data, "message": "Task reserved."}

        return self.dispatch(request, store)

    def submit(self, request: Request) -> Response:
        def update(request: Request) -> dict[str, Any]:
            user = self.user(request)
            rules = {
                "task_id": ["required", "ulid", "exists:rows"],
                "claim_token": ["required", "string", "exists:reservations"],
                "answer": ["required", "string"],
                "format": ["required", "in:plain,markdown"],
            }
            data = self.validated(request, rules)
            found = self.reservation(data, user)
            if found["state"] != "reserved":
                raise AbortError(409, f"This reservation is already {found['state']}.")
            row = self.rows[found["task_id"]]
            if data["format"] != row["answer_format"]:
                self.fail({"format": ["The format must be the task's answer format."]})
            if data["answer"] != row["content"].upper():
                message = "The answer must be the content of the task in capitals."
                self.fail({"answer": [message]})
            found["state"] = row["state"] = "answered"
            return {"data": self.resource(found), "message": "Answer accepted."}

        return self.dispatch(request, update)

    def complete(self, request: Request) -> Response:
        def finish(request: Request) -> dict[str, Any]:
            user = self.user(request)
            rules = {
                "task_id": ["required", "ulid", "exists:rows"],
                "claim_token": ["required", "string", "exists:reservations"],
                "confirmed": ["required", "accepted"],
            }
            found = self.reservation(self.validated(request, rules), user)
            if found["state"] != "answered":
                message = f"This reservation is {found['state']}, not answered."
                raise AbortError(409, message)
            row = self.rows[found["task_id"]]
            found["state"] = row["state"] = "finished"
            user["credits"] += row["bounty"]
            self.book.pay(row["id"], row["bounty"])
            extra = {"bounty": row["bounty"], "balance": user["credits"]}
            return {
                "data": {**self.resource(found), **extra},
                "message": "Task finished.",
            }

        return self.dispatch(request, finish)
