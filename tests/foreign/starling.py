"""Starling: a Phoenix application; Ecto changesets refuse and JSON views render.

snake_case, integer ids, params nested under the name of their schema, Decimal as text.
The text of a job comes with its reservation; completion pays.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
from datetime import UTC, date, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_WORK = [
    ("Roost sign", "quiet please, nesting season has begun", 8, "2031-02-14"),
    ("Field guide entry", "small brown bird with a pale eyebrow", 17, "2031-03-01"),
    ("Trail marker", "viewpoint four hundred metres ahead", 11, "2031-03-20"),
    ("Donation box", "every coin feeds a winter flock", 26, "2031-04-05"),
    ("Ring register title", "ringed at dawn on the east marsh", 35, "2031-04-30"),
]
_BLANK, _INVALID = "can't be blank", "is invalid"
_CACHE = "max-age=0, private, must-revalidate"


def _cast(kind: type, value: Any) -> Any:
    """Cast as Ecto does; ValueError means `is invalid`."""
    if kind is int:
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise ValueError
        return int(value)
    if not isinstance(value, str):
        raise ValueError  # noqa: TRY004
    return date.fromisoformat(value[:10]) if kind is date else value


class _Changeset(Exception):  # noqa: N818
    """An invalid changeset, as the fallback controller is given it."""

    def __init__(self, errors: Any) -> None:
        super().__init__()
        self.errors = errors


class _Halt(Exception):  # noqa: N818
    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


def _changes(params: Any, name: str, fields: dict[str, type]) -> dict[str, Any]:
    """Cast what stands under `name` and require every field."""
    given = params.get(name)
    if given is None:
        raise _Changeset({name: [_BLANK]})
    if not isinstance(given, dict):
        raise _Changeset({name: [_INVALID]})
    changes: dict[str, Any] = {}
    errors: dict[str, list[str]] = {}
    for field, kind in fields.items():
        value = given.get(field)
        if value is None or (isinstance(value, str) and not value.strip()):
            errors[field] = [_BLANK]
            continue
        try:
            changes[field] = _cast(kind, value)
        except ValueError:
            errors[field] = [_INVALID]
    if "handover_note" in changes and len(changes["handover_note"]) < 10:
        errors["handover_note"] = ["should be at least 10 character(s)"]
    if changes.get("minutes_spent", 1) <= 0:
        errors["minutes_spent"] = ["must be greater than 0"]
    if errors:
        raise _Changeset({name: errors})
    return changes


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Starling(Backend):
    """Elixir Phoenix with changesets and JSON views."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, int] = {}
        self._jobs = {
            1041 + 3 * i: {"name": n, "text": t, "bounty": b, "due": d, "state": "open"}
            for i, (n, t, b, d) in enumerate(_WORK)
        }
        self._reservations: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(key): job["text"] for key, job in self._jobs.items()}

    def handle(self, request: Request) -> Response:
        answer = super().handle(request)
        answer.headers["x-request-id"] = secrets.token_urlsafe(15)
        answer.headers["cache-control"] = _CACHE
        answer.headers["Content-Type"] = "application/json; charset=utf-8"
        return answer

    def missing(self, request: Request) -> Response:
        return Response(404, {"errors": {"detail": "Not Found"}})

    def _params(self, request: Request) -> tuple[int, dict[str, Any]]:
        params: Any = {}
        if request.raw:
            if "json" not in (request.headers.get("Content-Type") or ""):
                raise _Halt(415, "Unsupported Media Type")
            try:
                params = request.json()
            except ValueError as e:
                raise _Halt(400, "Bad Request") from e
        if request.token not in self._agents:
            raise _Halt(401, "Unauthorized")
        return self._agents[request.token], params if isinstance(params, dict) else {}

    def _render(self, action: Any, request: Request) -> Response:
        try:
            agent, params = self._params(request)
            return Response(200, {"data": action(agent, params)})
        except _Halt as e:
            return Response(e.status, {"errors": {"detail": e.detail}})
        except _Changeset as e:
            return Response(422, {"errors": e.errors})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = 20 + len(self._agents), f"SFMyNTY.{secrets.token_urlsafe(40)}"
        self._agents[token] = agent
        body = {"agent_id": str(agent), "access_token": token, "credits": 100}
        return Response(200, {**body, "inserted_at": _now()})

    def _index(self, request: Request) -> Response:
        try:
            limit = max(1, min(int(request.query.get("limit", 25)), 25))
            offset = max(0, int(request.query.get("offset", 0)))
        except ValueError:
            return Response(400, {"errors": {"detail": "Bad Request"}})
        jobs = [
            {
                "id": key,
                "name": job["name"],
                "kind": "uppercase",
                "description": "Send the source text back in capital letters.",
                "bounty": f"{job['bounty']}.00",
                "state": job["state"],
                "due_on": job["due"],
            }
            for key, job in self._jobs.items()
            if job["state"] == "open"
        ]
        meta = {"total": len(jobs), "limit": limit, "offset": offset}
        return Response(200, {"data": jobs[offset : offset + limit], "meta": meta})

    def marketplace(self, request: Request) -> Response:
        return self._index(request)

    def tasks(self, request: Request) -> Response:
        if request.token not in self._agents:
            return Response(401, {"errors": {"detail": "Unauthorized"}})
        return self._index(request)

    def claim(self, request: Request) -> Response:
        return self._render(self._reserve, request)

    def _reserve(self, agent: int, params: dict[str, Any]) -> dict[str, Any]:
        sent = _changes(params, "reservation", {"job_id": int, "deliver_on": date})
        job = self._jobs.get(sent["job_id"])
        if job is None:
            raise _Changeset({"reservation": {"job_id": ["does not exist"]}})
        if job["state"] != "open":
            raise _Changeset({"reservation": {"job_id": ["has already been taken"]}})
        if sent["deliver_on"] < datetime.now(UTC).date():
            raise _Changeset({"reservation": {"deliver_on": ["can't be in the past"]}})
        if sent["deliver_on"] > date.fromisoformat(job["due"]):
            says = f"must not be later than the job's due_on ({job['due']})"
            raise _Changeset({"reservation": {"deliver_on": [says]}})
        key = 600 + len(self._reservations)
        self._reservations[key] = {
            "agent": agent,
            "job": sent["job_id"],
            "delivery": None,
        }
        job["state"] = "reserved"
        self.book.claimed(str(sent["job_id"]))
        return {
            "id": key,
            "job_id": sent["job_id"],
            "state": "reserved",
            "source_text": job["text"],
            "deliver_on": sent["deliver_on"].isoformat(),
            "inserted_at": _now(),
        }

    def submit(self, request: Request) -> Response:
        return self._render(self._deliver, request)

    def _deliver(self, agent: int, params: dict[str, Any]) -> dict[str, Any]:
        fields = {"reservation_id": int, "result_text": str, "handover_note": str}
        sent = _changes(params, "delivery", fields)
        held = self._reservations.get(sent["reservation_id"])
        if held is None or held["agent"] != agent:
            raise _Changeset({"delivery": {"reservation_id": ["does not exist"]}})
        if held["delivery"] is not None:
            raise _Changeset(
                {"delivery": {"reservation_id": ["has already been taken"]}}
            )
        job = self._jobs[held["job"]]
        if sent["result_text"] != job["text"].upper():
            says = "does not match source_text in capital letters"
            raise _Changeset({"delivery": {"result_text": [says]}})
        held["delivery"] = 3000 + sent["reservation_id"] * 2
        job["state"] = "delivered"
        self.book.held.discard(str(held["job"]))
        return {
            "id": held["delivery"],
            "reservation_id": sent["reservation_id"],
            "state": "delivered",
            "inserted_at": _now(),
        }

    def complete(self, request: Request) -> Response:
        return self._render(self._settle, request)

    def _settle(self, agent: int, params: dict[str, Any]) -> dict[str, Any]:
        sent = _changes(
            params, "completion", {"delivery_id": int, "minutes_spent": int}
        )
        held = next(
            (
                r
                for r in self._reservations.values()
                if r["delivery"] == sent["delivery_id"]
            ),
            None,
        )
        if held is None or held["agent"] != agent:
            raise _Changeset({"completion": {"delivery_id": ["does not exist"]}})
        job = self._jobs[held["job"]]
        if job["state"] == "settled":
            raise _Changeset(
                {"completion": {"delivery_id": ["has already been taken"]}}
            )
        job["state"] = "settled"
        self.book.pay(str(held["job"]), job["bounty"])
        return {
            "job_id": held["job"],
            "state": "settled",
            "paid": f"{job['bounty']}.00",
            "settled_at": _now(),
        }
