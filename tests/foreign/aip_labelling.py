"""A data labelling service behind grpc-gateway, designed after Google's AIPs: resource
names, leases, proto3 JSON bodies, and google.rpc.Status errors with typed details."""

import json
import re
import secrets
import time
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TYPE = "type.googleapis.com/google.rpc."
DOMAIN = "labelforge.googleapis.example"
HTTP = {3: 400, 5: 404, 7: 403, 8: 429, 9: 400, 10: 409, 12: 501, 16: 401}
TASK_NAME = re.compile(r"projects/[^/]+/tasks/[^/]+")
LEASE_NAME = re.compile(r"projects/[^/]+/tasks/[^/]+/leases/[^/]+")
ANNOTATION_NAME = re.compile(r"projects/[^/]+/tasks/[^/]+/annotations/[^/]+")
DURATION = re.compile(r"(-?)(\d{1,12})(?:\.(\d{0,9}))?s")
MAX_LEASES = 3

Schema = dict[str, Any]  # JSON name -> "string", "int64", "duration" or a Schema

ACQUIRE_LEASE: Schema = {
    "parent": "string",
    "lease": {"name": "string", "ttl": "duration", "note": "string"},
    "requestId": "string",
}
CREATE_ANNOTATION: Schema = {
    "parent": "string",
    "annotation": {"name": "string", "outputText": "string", "comment": "string"},
    "requestId": "string",
}
COMPLETE_TASK: Schema = {"name": "string", "annotation": "string", "etag": "string"}

ROWS = [
    ("retail-intents", "tk4f1", 14, "where is my parcel, it said tuesday"),
    ("retail-intents", "tk4f2", 9, "cancel the second item only please"),
    ("retail-intents", "tk4f7", 11, "do you ship to the Canary Islands?"),
    ("retail-intents", "tk503", 22, "the blue one arrived but i ordered the green one"),
    (
        "hotel-reviews",
        "hr-018",
        17,
        "Lovely breakfast, thin walls, friendly night porter.",
    ),
    ("hotel-reviews", "hr-019", 8, "Never again: the lift was broken for three days."),
    ("hotel-reviews", "hr-022", 12, "Clean room and a view of the car park"),
    ("radio-notes", "n1", 30, "north pier closed until further notice"),
    ("radio-notes", "n2", 26, "pilot boat requested at buoy seven"),
    ("radio-notes", "n5", 19, "visibility two miles, light rain"),
]


class FailureError(Exception):
    """A gRPC status on its way to the gateway."""

    def __init__(self, code: int, message: str, *details: dict[str, Any]) -> None:
        super().__init__(message)
        self.code, self.message, self.details = code, message, list(details)

    def response(self) -> Response:
        """Return the status as grpc-gateway's default error handler writes it."""
        headers = {"WWW-Authenticate": self.message} if self.code == 16 else {}
        return Response(
            HTTP[self.code],
            {"code": self.code, "message": self.message, "details": self.details},
            headers,
        )


@dataclass
class Node:
    """A JSON value with the place where it stands."""

    kind: str
    raw: str
    pos: int
    members: list[tuple[str, int, "Node"]] = field(default_factory=list)


class ProtoJson:
    """As much of protojson.Unmarshal as these messages need."""

    def __init__(self, raw: bytes) -> None:
        self.text = raw.decode(errors="replace").strip(" \t\r\n")
        self.at = 0

    def where(self, pos: int) -> str:
        before = self.text[:pos]
        return f"(line {before.count(chr(10)) + 1}:{pos - before.rfind(chr(10))})"

    def error(self, pos: int, what: str) -> FailureError:
        return FailureError(3, f"proto: {self.where(pos)}: {what}")

    def unexpected(self, node: Node) -> FailureError:
        return FailureError(
            3,
            f"proto: syntax error {self.where(node.pos)}: unexpected token {node.raw}",
        )

    def message(self, schema: Schema) -> dict[str, Any]:
        """Return the message in the body; an empty body is an empty message."""
        if not self.text:
            return {}

        def constant(name: str) -> Any:
            raise FailureError(
                3, f"invalid character '{name[0]}' looking for beginning of value"
            )

        try:
            json.JSONDecoder(parse_constant=constant).raw_decode(self.text)
        except json.JSONDecodeError as error:
            if error.pos >= len(self.text) or error.msg.startswith("Unterminated"):
                raise FailureError(3, "unexpected EOF") from None
            place = "looking for beginning of value"
            if "property name" in error.msg:
                place = "looking for beginning of object key string"
            elif "',' delimiter" in error.msg:
                place = "after object key:value pair"
            elif "':' delimiter" in error.msg:
                place = "after object key"
            raise FailureError(
                3, f"invalid character '{self.text[error.pos]}' {place}"
            ) from None
        return self.fill(self.value(), schema)

    def blank(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t\r\n":
            self.at += 1

    def value(self) -> Node:
        self.blank()
        pos = self.at
        char = self.text[pos]
        if char in "{[":
            node = Node("object" if char == "{" else "array", char, pos)
            self.at += 1
            while True:
                self.blank()
                if self.text[self.at] == ",":
                    self.at += 1
                    continue
                if self.text[self.at] in "}]":
                    self.at += 1
                    return node
                if char == "[":
                    self.value()
                    continue
                key = self.value()
                self.blank()
                self.at += 1
                node.members.append((json.loads(key.raw), key.pos, self.value()))
        _, self.at = json.JSONDecoder().raw_decode(self.text, pos)
        raw = self.text[pos : self.at]
        kinds = {'"': "string", "t": "bool", "f": "bool", "n": "null"}
        return Node(kinds.get(char, "number"), raw, pos)

    def fill(self, node: Node, schema: Schema) -> dict[str, Any]:
        if node.kind != "object":
            raise self.unexpected(node)
        known = {name: name for name in schema}
        known |= {re.sub("([A-Z])", r"_\1", name).lower(): name for name in schema}
        out: dict[str, Any] = {}
        seen: set[str] = set()
        for key, pos, value in node.members:
            name = known.get(key)
            if name is None:
                continue
            if value.kind == "null":
                continue
            if name in seen:
                raise self.error(pos, f"duplicate field {json.dumps(key)}")
            seen.add(name)
            out[name] = self.scalar(name, schema[name], value)
        return out

    def scalar(self, name: str, kind: Any, node: Node) -> Any:
        if isinstance(kind, dict):
            return self.fill(node, kind)
        if kind == "duration":
            if node.kind != "string":
                raise self.unexpected(node)
            match = DURATION.fullmatch(json.loads(node.raw))
            if not match:
                raise self.error(
                    node.pos, f"invalid google.protobuf.Duration value {node.raw}"
                )
            seconds = float(f"{match[2]}.{match[3] or '0'}")
            return -seconds if match[1] else seconds
        if node.kind != "string":
            raise self.error(
                node.pos, f"invalid value for {kind} field {name}: {node.raw}"
            )
        return json.loads(node.raw)


def stamp(moment: float) -> str:
    """Return a google.protobuf.Timestamp."""
    return (
        datetime.fromtimestamp(moment, UTC)
        .isoformat(timespec="microseconds")
        .replace("+00:00", "Z")
    )


def violations(found: list[tuple[str, str]]) -> None:
    """Refuse a request whose fields are wrong."""
    if found:
        raise FailureError(
            3,
            "Request contains an invalid argument.",
            {
                "@type": TYPE + "BadRequest",
                "fieldViolations": [
                    {"field": name, "description": text} for name, text in found
                ],
            },
        )


def precondition(kind: str, subject: str, text: str) -> FailureError:
    return FailureError(
        9,
        text,
        {
            "@type": TYPE + "PreconditionFailure",
            "violations": [{"type": kind, "subject": subject, "description": text}],
        },
    )


def not_found(kind: str, name: str) -> FailureError:
    return FailureError(
        5,
        f"{kind} {json.dumps(name)} not found",
        {
            "@type": TYPE + "ResourceInfo",
            "resourceType": f"{DOMAIN}/{kind}",
            "resourceName": name,
            "owner": "",
            "description": "The resource does not exist or was deleted.",
        },
    )


def check_name(
    found: list[tuple[str, str]],
    body: dict[str, Any],
    name: str,
    form: re.Pattern[str],
    pattern: str,
) -> None:
    value = body.get(name, "")
    if not value:
        found.append((name, f"required; must be a resource name of the form {pattern}"))
    elif not form.fullmatch(value):
        found.append(
            (name, f"{json.dumps(value)} is not a resource name of the form {pattern}")
        )


def check_request_id(found: list[tuple[str, str]], body: dict[str, Any]) -> None:
    value = body.get("requestId", "")
    form = r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    if value and not re.fullmatch(form, value):
        found.append(("request_id", "must be a UUID4"))


class AipLabelling(Backend):
    """LabelForge."""

    def __init__(self) -> None:
        super().__init__()
        self.annotators: dict[str, dict[str, Any]] = {}  # token -> annotator
        self.leases: dict[str, dict[str, Any]] = {}
        self.annotations: dict[str, dict[str, Any]] = {}
        self.owners: dict[str, str] = {}  # lease -> annotator
        self.expiry: dict[str, float] = {}
        self.items: dict[str, dict[str, Any]] = {}
        for number, (project, task, reward, text) in enumerate(ROWS):
            name = f"projects/{project}/tasks/{task}"
            created = stamp(1746522000.118204 + 4211.5 * number)
            self.items[name] = {
                "name": name,
                "uid": str(uuid.uuid5(uuid.NAMESPACE_URL, name)),
                "displayName": f"{project.replace('-', ' ').capitalize()} #{number + 1}",
                "description": text,
                "annotationType": "TEXT_NORMALIZATION",
                "state": "OPEN",
                "rewardCredits": str(reward),
                "maxLeaseTtl": "3600s",
                "labels": {},
                "createTime": created,
                "updateTime": created,
                "etag": f'"{secrets.token_hex(6)}"',
            }

    def texts(self) -> dict[str, str]:
        return {name: task["description"] for name, task in self.items.items()}

    def missing(self, request: Request) -> Response:
        return FailureError(5, "Not Found").response()

    def _expire(self) -> None:
        for name, lease in self.leases.items():
            if lease["state"] == "ACTIVE" and time.time() > self.expiry[name]:
                lease["state"] = "EXPIRED"
                self._move(lease["task"], "OPEN")
                self.book.held.discard(lease["task"])

    def _move(self, name: str, state: str) -> None:
        self.items[name] |= {
            "state": state,
            "updateTime": stamp(time.time()),
            "etag": f'"{secrets.token_hex(6)}"',
        }

    def _caller(self, request: Request) -> dict[str, Any]:
        self._expire()
        annotator = self.annotators.get(request.token)
        if annotator is None:
            raise FailureError(
                16,
                "invalid auth token"
                if request.token
                else "Request unauthenticated with bearer",
            )
        return annotator

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        name = f"annotators/{secrets.token_hex(5)}"
        token = "lf_" + secrets.token_urlsafe(30)
        self.annotators[token] = {"name": name, "credits": 100}
        return Response(
            200,
            {
                "agent_id": name,
                "access_token": token,
                "credits": 100,
                "tier": "FREE",
                "createTime": stamp(time.time()),
            },
        )

    def _list(self, request: Request) -> Response:
        self._expire()
        raw = request.query.get("limit", "0")
        try:
            if not re.fullmatch(r"[+-]?\d+", raw):
                raise FailureError(
                    3,
                    'parsing field "limit": strconv.ParseInt: parsing '
                    f"{json.dumps(raw)}: invalid syntax",
                )
            limit = int(raw)
            if limit < 0:
                violations([("limit", "must not be negative")])
            token = request.query.get("pageToken") or request.query.get(
                "page_token", ""
            )
            if token and not re.fullmatch(r"o\d+", token):
                violations([("page_token", "is not a token of an earlier response")])
        except FailureError as failure:
            return failure.response()
        start = int(token[1:]) if token else 0
        end = start + min(limit or 50, 100)
        tasks = list(self.items.values())
        return Response(
            200,
            {
                "tasks": tasks[start:end],
                "nextPageToken": f"o{end}" if end < len(tasks) else "",
                "totalSize": len(tasks),
            },
        )

    def marketplace(self, request: Request) -> Response:
        return self._list(request)

    def tasks(self, request: Request) -> Response:
        try:
            self._caller(request)
        except FailureError as failure:
            return failure.response()
        return self._list(request)

    def claim(self, request: Request) -> Response:
        try:
            return Response(200, self._acquire_lease(request))
        except FailureError as failure:
            return failure.response()

    def _acquire_lease(self, request: Request) -> dict[str, Any]:
        caller = self._caller(request)
        body = ProtoJson(request.raw).message(ACQUIRE_LEASE)
        found: list[tuple[str, str]] = []
        check_name(found, body, "parent", TASK_NAME, "projects/{project}/tasks/{task}")
        ttl = body.get("lease", {}).get("ttl")
        if ttl is None:
            found.append(
                ("lease.ttl", "required; must be a duration between 60s and 3600s")
            )
        elif not 60 <= ttl <= 3600:
            found.append(("lease.ttl", "must be a duration between 60s and 3600s"))
        check_request_id(found, body)
        violations(found)
        task = self.items.get(body["parent"])
        if task is None:
            raise not_found("Task", body["parent"])
        if task["state"] != "OPEN":
            raise precondition(
                "TASK_STATE", task["name"], f"Task is {task['state']}, not OPEN."
            )
        active = [
            name
            for name, lease in self.leases.items()
            if lease["state"] == "ACTIVE" and self.owners[name] == caller["name"]
        ]
        if len(active) >= MAX_LEASES:
            raise FailureError(
                8,
                "Quota exceeded for active leases.",
                {
                    "@type": TYPE + "QuotaFailure",
                    "violations": [
                        {
                            "subject": caller["name"],
                            "description": f"At most {MAX_LEASES} active leases per "
                            "annotator; complete a task to free one.",
                        }
                    ],
                },
            )
        name = f"{task['name']}/leases/{secrets.token_hex(4)}"
        now = time.time()
        lease = {
            "name": name,
            "task": task["name"],
            "annotator": caller["name"],
            "state": "ACTIVE",
            "ttl": f"{ttl:g}s",
            "note": body["lease"].get("note", ""),
            "createTime": stamp(now),
            "expireTime": stamp(now + ttl),
        }
        self.leases[name], self.owners[name] = lease, caller["name"]
        self.expiry[name] = now + ttl
        self._move(task["name"], "LEASED")
        self.book.claimed(task["name"])
        return lease

    def submit(self, request: Request) -> Response:
        try:
            return Response(200, self._create_annotation(request))
        except FailureError as failure:
            return failure.response()

    def _create_annotation(self, request: Request) -> dict[str, Any]:
        caller = self._caller(request)
        body = ProtoJson(request.raw).message(CREATE_ANNOTATION)
        found: list[tuple[str, str]] = []
        check_name(
            found,
            body,
            "parent",
            LEASE_NAME,
            "projects/{project}/tasks/{task}/leases/{lease}",
        )
        given = body.get("annotation", {})
        if not given.get("outputText", ""):
            found.append(("annotation.output_text", "required; must not be empty"))
        check_request_id(found, body)
        violations(found)
        lease = self.leases.get(body["parent"])
        if lease is None:
            raise not_found("Lease", body["parent"])
        if lease["annotator"] != caller["name"]:
            raise FailureError(7, "The lease is held by another annotator.")
        if lease["state"] != "ACTIVE":
            raise precondition(
                "LEASE_STATE", lease["name"], f"Lease is {lease['state']}, not ACTIVE."
            )
        name = f"{lease['task']}/annotations/{secrets.token_hex(4)}"
        annotation = {
            "name": name,
            "lease": lease["name"],
            "outputText": given["outputText"],
            "comment": given.get("comment", ""),
            "state": "SUBMITTED",
            "createTime": stamp(time.time()),
        }
        self.annotations[name] = annotation
        return annotation

    def complete(self, request: Request) -> Response:
        try:
            return Response(200, self._complete_task(request))
        except FailureError as failure:
            return failure.response()

    def _complete_task(self, request: Request) -> dict[str, Any]:
        caller = self._caller(request)
        body = ProtoJson(request.raw).message(COMPLETE_TASK)
        found: list[tuple[str, str]] = []
        check_name(found, body, "name", TASK_NAME, "projects/{project}/tasks/{task}")
        check_name(
            found,
            body,
            "annotation",
            ANNOTATION_NAME,
            "projects/{project}/tasks/{task}/annotations/{annotation}",
        )
        violations(found)
        task = self.items.get(body["name"])
        if task is None:
            raise not_found("Task", body["name"])
        annotation = self.annotations.get(body["annotation"])
        if annotation is None:
            raise not_found("Annotation", body["annotation"])
        if not annotation["name"].startswith(task["name"] + "/annotations/"):
            violations([("annotation", f"does not belong to {task['name']}")])
        lease = self.leases[annotation["lease"]]
        if lease["annotator"] != caller["name"]:
            raise FailureError(7, "The lease is held by another annotator.")
        if lease["state"] != "ACTIVE":
            raise precondition(
                "LEASE_STATE", lease["name"], f"Lease is {lease['state']}, not ACTIVE."
            )
        if body.get("etag") and body["etag"] != task["etag"]:
            raise FailureError(
                10, "The etag does not match the current etag of the task."
            )
        if annotation["outputText"] != task["description"].upper():
            annotation["state"] = "REJECTED"
            raise precondition(
                "QUALITY_CHECK",
                annotation["name"],
                "The annotation did not pass the quality check; submit another one.",
            )
        annotation["state"], lease["state"] = "ACCEPTED", "RELEASED"
        self._move(task["name"], "COMPLETED")
        credits_ = int(task["rewardCredits"])
        caller["credits"] += credits_
        self.book.pay(task["name"], credits_)
        return {
            "task": task,
            "earnedCredits": str(credits_),
            "balanceCredits": str(caller["credits"]),
        }
