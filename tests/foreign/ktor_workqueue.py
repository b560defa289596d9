"""An enterprise work queue with leases: a bank's Kotlin team on Ktor.

Stack: Ktor 3, kotlinx.serialization (strict: unknown keys are refused, numbers may be
quoted), StatusPages, leases with fencing tokens, epoch milliseconds, 64-bit ids.

Listing: {"queue", "items": [{"itemId": 90071, "itemType", "priority", "creditValue",
"deliveryCount", "state": "READY", "enqueuedAt"}], "nextCursor"}; no text in it.

Claim (acquire a lease) wants {"itemId": 90071, "leaseSeconds": 30..900}; answers {"lease":
{"leaseId", "fencingToken", "expiresAt"}, "item": {"itemId", "instruction", "payload":
{"contentType", "body"}}}. One's own live lease is renewed: the same ids, a later expiry.
Submit wants {"leaseId", "fencingToken", "output": {"contentType": "text/plain", "body"}};
answers {"leaseId", "state": "STAGED"}. Wrong work: 422 OUTPUT_REJECTED.
Complete wants {"leaseId", "fencingToken", "disposition": "ACK" or "NACK"}; ACK answers
{"leaseId", "itemId", "state": "ACKED", "creditsPosted", "ledgerBalance"}, again the same;
NACK puts the item back.

Errors: {"code", "message", "correlationId"}; 400 INVALID_REQUEST in kotlinx's words, 401,
404, 409 LEASE_HELD / STALE_FENCING_TOKEN / NOT_STAGED, 410 LEASE_EXPIRED, 422.
"""

import json
import re
import secrets
import time
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ITEMS = [
    ("HIGH", "transfer rejected because the account has been closed", 22),
    ("NORMAL", "standing order amended by telephone", 10),
    ("NORMAL", "card blocked at the request of the customer", 15),
    ("LOW", "address on file does not match the statement address", 17),
    ("HIGH", "salary payment delayed by one banking day", 14),
    (
        "NORMAL",
        "mortgage interest adjusted with effect from the first of next month",
        24,
    ),
    ("LOW", "safe deposit box key returned to the branch", 16),
    ("NORMAL", "duplicate invoice, second payment was not executed", 13),
]
PACKAGE = "no.fjordbank.workqueue.api"
OUTPUT = ("OutputDocument", {"contentType": "String", "body": "String"})
ACQUIRE = ("AcquireLeaseRequest", {"itemId": "Long", "leaseSeconds": "Int"})
STAGE = (
    "StageOutputRequest",
    {"leaseId": "String", "fencingToken": "Long", "output": OUTPUT},
)
SETTLE = (
    "SettleLeaseRequest",
    {"leaseId": "String", "fencingToken": "Long", "disposition": "String"},
)


class ApiError(Exception):
    """What StatusPages turns into an answer."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        correlation = str(uuid.uuid4())
        self.response = Response(
            status,
            {"code": code, "message": message, "correlationId": correlation},
            {"X-Correlation-Id": correlation},
        )


def _invalid(message: str) -> ApiError:
    return ApiError(400, "INVALID_REQUEST", message)


def _decode(value: Any, type_: Any, path: str) -> Any:
    """Decode a value as kotlinx.serialization's Json does, or refuse it in its words."""
    if isinstance(type_, tuple):
        name, fields = type_
        if not isinstance(value, dict):
            got = json.dumps(value)[:1]
            raise _invalid(
                "Unexpected JSON token: Expected start of the object '{', "
                f"but had '{got}' instead at path: {path}"
            )
        for key in value:
            if key not in fields:
                raise _invalid(f"Encountered an unknown key '{key}' at path: {path}")
        decoded = {
            key: _decode(each, fields[key], f"{path}.{key}")
            for key, each in value.items()
        }
        missing = [field for field in fields if field not in value]
        serial = f"'{PACKAGE}.{name}'"
        if len(missing) == 1:
            raise _invalid(
                f"Field '{missing[0]}' is required for type with serial name {serial}, "
                f"but it was missing at path: {path}"
            )
        if missing:
            raise _invalid(
                f"Fields [{', '.join(missing)}] are required for type with serial name "
                f"{serial}, but they were missing at path: {path}"
            )
        return decoded
    if type_ == "String":
        if not isinstance(value, str):
            got = json.dumps(value)[:1]
            raise _invalid(
                "Unexpected JSON token: Expected quotation mark '\"', "
                f"but had '{got}' instead at path: {path}"
            )
        return value
    if not isinstance(value, bool) and re.fullmatch(r"-?[0-9]{1,18}", str(value)):
        return int(value)
    shown = value if isinstance(value, str) else json.dumps(value)
    raise _invalid(
        f"Failed to parse type '{type_.lower()}' for input '{shown}' at path: {path}"
    )


class Ktor(Backend):
    """The work queue."""

    def __init__(self) -> None:
        super().__init__()
        self._workers: dict[str, dict[str, Any]] = {}  # by token
        self._leases: dict[str, dict[str, Any]] = {}
        self._items: dict[int, dict[str, Any]] = {}
        for number, (priority, body, value) in enumerate(ITEMS, 90071):
            self._items[number] = {
                "body": body,
                "lease": None,
                "fence": 0,
                "view": {
                    "itemId": number,
                    "itemType": "TEXT_UPPERCASE",
                    "priority": priority,
                    "creditValue": value,
                    "deliveryCount": 0,
                    "state": "READY",
                    "enqueuedAt": 1741082400000 + number,
                },
            }

    def texts(self) -> dict[str, str]:
        return {str(number): item["body"] for number, item in self._items.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token, number = secrets.token_urlsafe(48), str(uuid.uuid4())
        self._workers[token] = {"id": number, "balance": 100}
        return Response(
            200,
            {
                "agent_id": number,
                "access_token": token,
                "token_type": "Bearer",
                "credits": 100,
                "scopes": ["queue:lease", "queue:stage", "queue:settle"],
            },
        )

    def marketplace(self, request: Request) -> Response:
        try:
            limit = _decode(request.query.get("limit", "50"), "Int", "query.limit")
            if not 1 <= limit <= 200:
                raise _invalid("limit must be in range 1..200")
        except ApiError as refused:
            return refused.response
        self._expire()
        ready = [
            item["view"]
            for item in self._items.values()
            if item["view"]["state"] == "READY"
        ]
        body = {
            "queue": "text-normalisation",
            "items": ready[:limit],
            "nextCursor": None,
        }
        return Response(200, body)

    def tasks(self, request: Request) -> Response:
        try:
            self._worker(request)
        except ApiError as refused:
            return refused.response
        return self.marketplace(request)

    def claim(self, request: Request) -> Response:
        try:
            worker = self._worker(request)
            body = self._receive(request, ACQUIRE)
            if not 30 <= body["leaseSeconds"] <= 900:
                raise _invalid("leaseSeconds must be in range 30..900")
            self._expire()
            item = self._items.get(body["itemId"])
            if not item:
                said = f"Work item {body['itemId']} does not exist"
                raise ApiError(404, "ITEM_NOT_FOUND", said)
            lease = item["lease"]
            if lease and (lease["worker"] is not worker or lease["state"] != "LEASED"):
                said = f"Work item {body['itemId']} is {item['view']['state']}"
                raise ApiError(409, "LEASE_HELD", said)
            if not lease:
                item["fence"] += 1
                number = str(uuid.uuid4())
                lease = {
                    "id": number,
                    "worker": worker,
                    "item": item,
                    "state": "LEASED",
                }
                lease["fence"] = item["fence"]
                item["lease"] = self._leases[number] = lease
                item["view"]["state"] = "LEASED"
                item["view"]["deliveryCount"] += 1
                if item["fence"] == 1:
                    self.book.claimed(str(body["itemId"]))
            lease["expires"] = time.time() + body["leaseSeconds"]
        except ApiError as refused:
            return refused.response
        ids = {"leaseId": lease["id"], "fencingToken": lease["fence"]}
        return Response(
            200,
            {
                "lease": {**ids, "expiresAt": int(lease["expires"] * 1000)},
                "item": {
                    "itemId": item["view"]["itemId"],
                    "instruction": "Output the payload body in upper case.",
                    "payload": {"contentType": "text/plain", "body": item["body"]},
                },
            },
        )

    def submit(self, request: Request) -> Response:
        try:
            worker = self._worker(request)
            body = self._receive(request, STAGE)
            lease = self._lease(worker, body)
            output = body["output"]
            if output["contentType"] != "text/plain":
                raise _invalid("output.contentType must be text/plain")
            if lease["state"] == "ACKED":
                raise ApiError(409, "LEASE_SETTLED", "Lease is already settled")
            if output["body"] != lease["item"]["body"].upper():
                said = "output.body is not the payload body in upper case"
                raise ApiError(422, "OUTPUT_REJECTED", said)
            lease["state"] = lease["item"]["view"]["state"] = "STAGED"
        except ApiError as refused:
            return refused.response
        return Response(200, {"leaseId": lease["id"], "state": "STAGED"})

    def complete(self, request: Request) -> Response:
        try:
            worker = self._worker(request)
            body = self._receive(request, SETTLE)
            lease = self._lease(worker, body)
            if body["disposition"] not in ("ACK", "NACK"):
                raise _invalid("disposition must be one of [ACK, NACK]")
            item = lease["item"]
            view = item["view"]
            if body["disposition"] == "NACK" and lease["state"] != "ACKED":
                lease["state"], item["lease"], view["state"] = "NACKED", None, "READY"
                state = {"state": "NACKED"}
                return Response(
                    200, {"leaseId": lease["id"], "itemId": view["itemId"], **state}
                )
            if lease["state"] == "LEASED":
                said = "No output has been staged under this lease"
                raise ApiError(409, "NOT_STAGED", said)
            if lease["state"] == "STAGED":
                lease["state"] = view["state"] = "ACKED"
                worker["balance"] += view["creditValue"]
                self.book.pay(str(view["itemId"]), view["creditValue"])
        except ApiError as refused:
            return refused.response
        ids = {"leaseId": lease["id"], "itemId": view["itemId"], "state": "ACKED"}
        money = {
            "creditsPosted": view["creditValue"],
            "ledgerBalance": worker["balance"],
        }
        return Response(200, {**ids, **money})

    def _expire(self) -> None:
        """Put back what is held under a lease that has run out."""
        for item in self._items.values():
            lease = item["lease"]
            if lease and lease["state"] != "ACKED" and lease["expires"] < time.time():
                lease["state"], item["lease"] = "EXPIRED", None
                item["view"]["state"] = "READY"

    def _worker(self, request: Request) -> dict[str, Any]:
        worker = self._workers.get(request.token)
        if not worker:
            said = "A valid bearer token is required"
            raise ApiError(401, "UNAUTHENTICATED", said)
        return worker

    @staticmethod
    def _receive(request: Request, type_: tuple[str, dict[str, Any]]) -> dict[str, Any]:
        try:
            body = request.json()
        except ValueError:
            raise _invalid(
                f"Failed to convert request body to class {PACKAGE}.{type_[0]}"
            ) from None
        decoded: dict[str, Any] = _decode(body, type_, "$")
        return decoded

    def _lease(self, worker: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        self._expire()
        lease = self._leases.get(body["leaseId"])
        if not lease or lease["worker"] is not worker:
            raise ApiError(404, "LEASE_NOT_FOUND", f"No lease {body['leaseId']}")
        if body["fencingToken"] != lease["fence"]:
            said = f"Fencing token {body['fencingToken']} is not that of the lease"
            raise ApiError(409, "STALE_FENCING_TOKEN", said)
        if lease["state"] in ("EXPIRED", "NACKED"):
            said = f"Lease {lease['id']} is {lease['state'].lower()}; acquire a new one"
            raise ApiError(410, "LEASE_EXPIRED", said)
        return lease
