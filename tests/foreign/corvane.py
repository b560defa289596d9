"""A company's service in C#: ASP.NET Core minimal API, FluentValidation, ProblemDetails."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import random
import re
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_ITEMS = [
    ("Dispatch note", "pallet 12 leaves from dock c at 6:15", 25),
    ("Site signage", "hard hats required beyond this point", 10),
    ("Ledger caption", "accruals and deferrals, third quarter", 18),
    ("Fleet notice", "return all keys before 5 pm", 7),
    ("Alarm text", "pressure low in boiler two", 30),
    ("Package stamp", "keep dry / keep upright", 13),
]
_SECTIONS = {400: 1, 401: 2, 403: 4, 404: 5, 405: 6, 409: 10, 415: 16, 422: 21}
_DATE = re.compile(r"[0-9]{4}-[0-9-]{5}(T[0-9]{2}:[0-9:.]+(Z|[+-][0-9]{2}:[0-9]{2})?)?")


class _Problem(Exception):  # noqa: N818
    def __init__(
        self, status: int, detail: str = "", title: str = "", **more: Any
    ) -> None:
        super().__init__(detail)
        kind = f"https://tools.ietf.org/html/rfc9110#section-15.5.{_SECTIONS[status]}"
        body = {
            "type": kind,
            "title": title or HTTPStatus(status).phrase,
            "status": status,
        }
        body |= {"detail": detail, **more} if detail else more
        body["traceId"] = f"00-{uuid.uuid4().hex}-{uuid.uuid4().hex[:16]}-00"
        more = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
        self.response = Response(
            status, body, {"Content-Type": "application/problem+json", **more}
        )


def _moment(value: str) -> datetime:
    if not _DATE.fullmatch(value):
        raise ValueError(value)
    found = datetime.fromisoformat(value)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


_text = ("System.String", str, str)
_guid = ("System.Nullable`1[System.Guid]", str, lambda value: str(uuid.UUID(value)))
_truth = ("System.Nullable`1[System.Boolean]", bool, bool)
_date = ("System.Nullable`1[System.DateTimeOffset]", str, _moment)
_CLAIM = {"workItemId": _guid, "agentId": _guid, "expectedCompletionUtc": _date}
_SUBMIT = {"assignmentId": _guid, "deliverable": {"content": _text, "remarks": _text}}
_COMPLETE = {"assignmentId": _guid, "receiptNumber": _text, "workConfirmed": _truth}


def _bind(
    record: str, schema: dict[str, Any], data: Any, raw: str, path: str = "$"
) -> Any:
    """Read a JSON object as System.Text.Json does: names without case, others ignored."""

    def wrong(kind: str, where: str, value: Any) -> _Problem:
        at = max(raw.find(json.dumps(value)) + len(json.dumps(value)), 1)
        place = f"Path: {where} | LineNumber: 0 | BytePositionInLine: {at}."
        return _Problem(
            400, f"The JSON value could not be converted to {kind}. {place}"
        )

    if not isinstance(data, dict):
        raise wrong(record, path, data)
    given = {key.lower(): value for key, value in data.items()}
    out: dict[str, Any] = {}
    for name, kind in schema.items():
        out[name] = value = given.get(name.lower())
        if isinstance(kind, dict) and value is not None:
            out[name] = _bind(
                name.capitalize() + "Dto", kind, value, raw, f"{path}.{name}"
            )
        elif value is not None:
            try:
                if not isinstance(value, kind[1]):
                    raise ValueError(value)  # noqa: TRY004
                out[name] = kind[2](value)
            except ValueError:
                raise wrong(kind[0], f"{path}.{name}", value) from None
    return out


def _validate(data: dict[str, Any], names: str, **tests: Callable[[Any], str]) -> None:
    """Run NotEmpty for every property, then its own test, as a validator class would."""
    errors: dict[str, list[str]] = {}
    for path in names.split():
        value: Any = data
        for part in path.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if "." in path and data[path.split(".")[0]] is None:
            continue
        key = re.sub(r"(^|\.)([a-z])", lambda match: match[0].upper(), path)
        display = re.sub(r"(?<!^)(?=[A-Z])", " ", key.split(".")[-1])
        empty = value is None or (isinstance(value, str) and not value.strip())
        why = (
            " must not be empty."
            if empty
            else tests[path](value)
            if path in tests
            else ""
        )
        if why:
            errors[key] = [f"'{display}'{why}"]
    if errors:
        raise _Problem(
            400, title="One or more validation errors occurred.", errors=errors
        )


def _future(value: datetime) -> str:
    now = datetime.now(UTC)
    return (
        ""
        if value > now
        else f" must be greater than '{now:%m/%d/%Y %H:%M:%S} +00:00'."
    )


def _endpoint(function: Any) -> Any:
    def endpoint(self: Any, request: Request) -> Response:
        try:
            return function(self, request)
        except _Problem as problem:  # IExceptionHandler
            return problem.response

    return endpoint


class Corvane(Backend):
    """Guids, the text only in the claim's answer, one assignment at a time, paged listing."""

    def __init__(self) -> None:
        super().__init__()
        self._random = random.Random(77)  # noqa: S311
        self.workers: dict[str, dict[str, Any]] = {}  # by token
        self.assignments: dict[str, Any] = {}
        self.items: dict[str, Any] = {}
        self.sources: dict[str, str] = {}
        for number, (subject, text, fee) in enumerate(_ITEMS, 1001):
            key = self._guid()
            self.sources[key] = text
            self.items[key] = {
                "workItemId": key,
                "reference": f"TXT-{number}",
                "subject": subject,
            }
            self.items[key] |= {
                "guidance": "Convert the source text of the assignment to upper case.",
                "fee": {"amount": fee, "unit": "Credits"},
                "state": "Open",
            }

    def _guid(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def texts(self) -> dict[str, str]:
        return self.sources

    def missing(self, request: Request) -> Response:
        return _Problem(
            405 if any(path == request.path for _, path in ACTIONS) else 404
        ).response

    def _body(self, record: str, schema: dict[str, Any], request: Request) -> Any:
        media = request.headers.get("Content-Type") or ""
        if not media.startswith("application/json"):
            raise _Problem(
                415, f'Expected a supported JSON media type but got "{media}".'
            )
        raw = request.raw.decode(errors="replace")
        try:
            return _bind(record, schema, json.loads(raw), raw)
        except json.JSONDecodeError as error:
            found = (
                f"'{raw[error.pos : error.pos + 1]}' is an invalid start of a value."
            )
            why = (
                found
                if raw[error.pos :]
                else "The input does not contain any JSON tokens."
            )
            where = f"Path: $ | LineNumber: 0 | BytePositionInLine: {error.pos}."
            raise _Problem(400, f"{why} {where}") from None

    def _worker(self, request: Request) -> dict[str, Any]:
        if request.token in self.workers:
            return self.workers[request.token]
        raise _Problem(401)

    def _assignment(self, key: str, worker: dict[str, Any]) -> dict[str, Any]:
        found = self.assignments.get(key)
        if found is None or found["agentId"] != worker["id"]:
            raise _Problem(404, f"Assignment '{key}' was not found.")
        return found

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        key, token = self._guid(), f"CfDJ8{self._random.getrandbits(256):064x}"
        self.workers[token] = {"id": key, "balance": 100, "active": ""}
        return Response(200, {"agent_id": key, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        asked = {"limit": "5", "page": "1", **request.query}
        for name in ("limit", "page"):
            if not re.fullmatch(r"-?[0-9]{1,9}", asked[name]):
                raise _Problem(
                    400,
                    f'Failed to bind parameter "Nullable<int> {name}" from "{asked[name]}".',
                )
        size, page = min(max(int(asked["limit"]), 1), 25), max(int(asked["page"]), 1)
        found = [item for item in self.items.values() if item["state"] == "Open"]
        pages = -(-len(found) // size)
        after = (
            f"{request.base}{request.path}?limit={size}&page={page + 1}"
            if page < pages
            else None
        )
        paging = {
            "pageNumber": page,
            "pageSize": size,
            "totalCount": len(found),
            "totalPages": pages,
        }
        return Response(
            200,
            {
                "data": found[(page - 1) * size : page * size],
                "paging": paging,
                "links": {"next": after},
            },
        )

    marketplace = tasks

    def agents(self, request: Request) -> Response:
        return Response(
            200, {"data": [{"agentId": w["id"]} for w in self.workers.values()]}
        )

    directory = agents

    def checkout(self, request: Request) -> Response:
        return _Problem(
            403, "This operation requires a signed customer contract."
        ).response

    post = checkout

    def claim(self, request: Request) -> Response:
        worker = self._worker(request)
        data = self._body("ClaimWorkItemRequest", _CLAIM, request)
        _validate(
            data,
            "workItemId agentId expectedCompletionUtc",
            expectedCompletionUtc=_future,
        )
        if data["agentId"] != worker["id"]:
            raise _Problem(403, "AgentId does not match the authenticated agent.")
        item = self.items.get(data["workItemId"])
        if item is None:
            raise _Problem(404, f"Work item '{data['workItemId']}' was not found.")
        if item["state"] != "Open":
            raise _Problem(
                409, f"Work item {item['reference']} is in state '{item['state']}'."
            )
        if active := worker["active"]:
            raise _Problem(
                409, f"The agent already has an active assignment ('{active}')."
            )
        made = {
            "id": self._guid(),
            "agentId": worker["id"],
            "state": "Assigned",
            "item": item,
        }
        self.assignments[made["id"]] = made
        item["state"], worker["active"] = "Assigned", made["id"]
        self.book.claimed(item["workItemId"])
        material = {
            "reference": item["reference"],
            "sourceText": self.sources[item["workItemId"]],
        }
        return Response(
            200, {"assignment": {"assignmentId": made["id"], "material": material}}
        )

    def submit(self, request: Request) -> Response:
        worker = self._worker(request)
        data = self._body("SubmitDeliverableRequest", _SUBMIT, request)
        _validate(
            data, "assignmentId deliverable deliverable.content deliverable.remarks"
        )
        found = self._assignment(data["assignmentId"], worker)
        if found["state"] not in ("Assigned", "Rework"):
            raise _Problem(409, f"The assignment is in state '{found['state']}'.")
        number = f"RC-{self._random.randrange(10**6, 10**7)}"
        found |= {
            "state": "InReview",
            "content": data["deliverable"]["content"],
            "receipt": number,
        }
        return Response(
            200, {"receipt": {"receiptNumber": number, "state": "InReview"}}
        )

    def complete(self, request: Request) -> Response:
        worker = self._worker(request)
        data = self._body("CompleteAssignmentRequest", _COMPLETE, request)
        true = {
            "workConfirmed": lambda value: "" if value else " must be equal to 'True'."
        }
        _validate(data, "assignmentId receiptNumber workConfirmed", **true)
        found = self._assignment(data["assignmentId"], worker)
        if found["state"] != "InReview":
            raise _Problem(409, f"The assignment is in state '{found['state']}'.")
        if found["receipt"] != data["receiptNumber"]:
            raise _Problem(
                422, "The receipt number does not belong to this assignment."
            )
        key, fee = found["item"]["workItemId"], found["item"]["fee"]["amount"]
        if found["content"] != self.sources[key].upper():
            found["state"] = "Rework"
            why = "The content is not the source text in upper case. Submit a new deliverable."
            raise _Problem(422, why, "Deliverable rejected", assignmentState="Rework")
        found["state"] = found["item"]["state"] = "Settled"
        worker |= {"balance": worker["balance"] + fee, "active": ""}
        self.book.pay(key, fee)
        return Response(
            200, {"settlement": {"credited": fee, "newBalance": worker["balance"]}}
        )


for _name in ("tasks", "marketplace", "claim", "submit", "complete"):
    setattr(Corvane, _name, _endpoint(getattr(Corvane, _name)))
