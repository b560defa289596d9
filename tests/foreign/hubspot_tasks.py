"""A CRM's public API in the manner of HubSpot: objects with string `properties`."""

import json
import re
import uuid
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TASKS = [
    (
        "Upper-case the body: spring subject line",
        "open a little earlier this spring",
        "20",
    ),
    ("Upper-case the body: banner for the webinar", "seats are limited, join us", "35"),
    ("Upper-case the body: call script opener", "thanks for picking up", "10"),
    ("Upper-case the body: footer of the price list", "all prices without tax", "16"),
    ("Upper-case the body: ticket tag", "waiting for the supplier", "28"),
]
STATUSES = [
    ("Completed", "COMPLETED"),
    ("In progress", "IN_PROGRESS"),
    ("Not started", "NOT_STARTED"),
    ("Waiting", "WAITING"),
]
KNOWN = {
    "hs_task_subject",
    "hs_task_body",
    "hs_task_status",
    "hs_task_reward",
    "hs_note_body",
    "hs_timestamp",
    "hubspot_owner_id",
    "hs_object_id",
}


class _Error(Exception):
    def __init__(self, status: int, category: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.response = Response(
            status,
            {
                "status": "error",
                "message": message,
                "correlationId": str(uuid.uuid4()),
                **more,
                "category": category,
            },
            {"Content-Type": "application/json;charset=utf-8"},
        )


def _endpoint(method: Any) -> Any:
    def answer(self: Any, request: Request) -> Response:
        try:
            return Response(200, method(self, request))
        except _Error as error:
            return error.response

    return answer


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _properties_error(name: str, error: str, message: str) -> _Error:
    wrong = {
        "isValid": False,
        "message": message,
        "error": error,
        "name": name,
        "localizedErrorMessage": message,
        "portalId": 4410077,
    }
    return _Error(
        400,
        "VALIDATION_ERROR",
        f"Property values were not valid: {json.dumps([wrong], separators=(',', ':'))}",
    )


def _input(request: Request) -> dict[str, Any]:
    """Read `{"id": ..., "properties": {...}}`."""
    media = (
        (request.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    )
    if media != "application/json":
        raise _Error(
            415, "UNSUPPORTED_MEDIA_TYPE", "Content-Type must be application/json"
        )
    text = request.raw.decode(errors="replace")

    def invalid(position: int, what: str) -> _Error:
        before = text[:position].split("\n")
        return _Error(
            400,
            "VALIDATION_ERROR",
            f"Invalid input JSON on line {len(before)}, "
            f"column {len(before[-1]) + 1}: {what}",
        )

    def column(name: str) -> int:
        found = re.search(rf'"{re.escape(name)}"\s*:\s*', text)
        return found.end() if found else 0

    def cannot(name: str, wanted: str, value: Any) -> _Error:
        source, token = {
            dict: ("Object value", "START_OBJECT"),
            list: ("Array value", "START_ARRAY"),
            bool: ("Boolean value", f"VALUE_{str(value).upper()}"),
            int: ("Integer value", "VALUE_NUMBER_INT"),
            float: ("Floating-point value", "VALUE_NUMBER_FLOAT"),
            str: ("String value", "VALUE_STRING"),
        }[type(value)]
        return invalid(
            column(name),
            f"Cannot deserialize value of type `{wanted}` from "
            f"{source} (token `JsonToken.{token}`)",
        )

    if not text.strip():
        raise _Error(
            400, "VALIDATION_ERROR", "Unable to parse JSON: request body is empty"
        )
    try:
        body = json.loads(text)
    except json.JSONDecodeError as error:
        near = text[error.pos : error.pos + 1]
        raise invalid(
            error.pos,
            f"Unexpected character ('{near}' (code {ord(near)}))"
            if near
            else "Unexpected end-of-input",
        ) from None
    if not isinstance(body, dict):
        raise invalid(0, "Cannot deserialize value of type `SimplePublicObjectInput`")
    absent = [name for name in ("id", "properties") if body.get(name) is None]
    if absent:
        raise invalid(
            len(text.rstrip()) - 1,
            f"Some required fields were not set: [{', '.join(absent)}]",
        )
    properties = body["properties"]
    if not isinstance(properties, dict):
        raise cannot(
            "properties",
            "java.util.LinkedHashMap<java.lang.String,java.lang.String>",
            properties,
        )
    for name, value in [("id", body["id"]), *properties.items()]:
        if isinstance(value, (dict, list)):
            raise cannot(name, "java.lang.String", value)
        text_ = str(value).lower() if isinstance(value, bool) else str(value)
        properties[name] = "" if value is None else text_
    return {"id": properties.pop("id"), "properties": properties}


def _check(
    verb: str, kind: str, properties: dict[str, str], required: list[str]
) -> None:
    for name, value in properties.items():
        if name not in KNOWN:
            raise _properties_error(
                name, "PROPERTY_DOESNT_EXIST", f'Property "{name}" does not exist'
            )
        if name in (
            "hs_task_subject",
            "hs_task_body",
            "hs_task_reward",
            "hs_object_id",
        ):
            raise _properties_error(
                name,
                "READ_ONLY_VALUE",
                f'"{name}" is a read only property; its value cannot be set.',
            )
        if name == "hs_task_status" and value not in dict(STATUSES).values():
            options = ", ".join(
                f'label: "{label}"\nvalue: "{v}"\n' for label, v in STATUSES
            )
            raise _properties_error(
                name,
                "INVALID_OPTION",
                f"{value} was not one of the allowed options: [{options}]",
            )
        if name == "hs_timestamp" and value:
            try:
                int(value) if re.fullmatch(r"\d+", value) else datetime.fromisoformat(
                    value
                )
            except ValueError:
                raise _properties_error(
                    name, "INVALID_LONG", f"{value} was not a valid long."
                ) from None
    absent = [name for name in required if not properties.get(name)]
    if absent:
        raise _Error(
            400,
            "VALIDATION_ERROR",
            f"Error {verb} {kind}. Some required properties were not set.",
            context={"properties": absent},
        )


class HubSpotTasks(Backend):
    """Tasks get an owner, a note with the result, and the status COMPLETED (which pays)."""

    def __init__(self) -> None:
        super().__init__()
        self.owners: dict[str, dict[str, Any]] = {}
        self.notes: dict[str, dict[str, Any]] = {}  # by task
        self.objects = {
            str(51840277103 + 61 * i): self._object(
                str(51840277103 + 61 * i),
                {
                    "hs_task_subject": subject,
                    "hs_task_body": text,
                    "hs_task_reward": reward,
                    "hs_task_status": "NOT_STARTED",
                    "hubspot_owner_id": None,
                },
            )
            for i, (subject, text, reward) in enumerate(TASKS)
        }

    @staticmethod
    def _object(key: str, properties: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": key,
            "properties": {**properties, "hs_object_id": key},
            "createdAt": _now(),
            "updatedAt": _now(),
            "archived": False,
        }

    def texts(self) -> dict[str, str]:
        return {
            key: task["properties"]["hs_task_body"]
            for key, task in self.objects.items()
        }

    def missing(self, request: Request) -> Response:
        return _Error(404, "OBJECT_NOT_FOUND", "resource not found").response

    def _owner(self, request: Request) -> dict[str, Any]:
        if request.token not in self.owners:
            raise _Error(
                401,
                "INVALID_AUTHENTICATION",
                "Authentication credentials not found. "
                "This API supports OAuth 2.0 authentication: send the access_token as "
                "Authorization: Bearer."
                if not request.token
                else "The OAuth token used to make this call is invalid or expired.",
            )
        return self.owners[request.token]

    @_endpoint
    def register(self, request: Request) -> Any:
        self.book.registrations += 1
        token = f"pat-eu1-{uuid.uuid4()}"
        self.owners[token] = {
            "agent_id": str(70312000 + 17 * self.book.registrations),
            "access_token": token,
            "credits": 100,
        }
        return dict(self.owners[token])

    @_endpoint
    def tasks(self, request: Request) -> Any:
        self._owner(request)
        return self._page(request)

    @_endpoint
    def marketplace(self, request: Request) -> Any:
        return self._page(request)

    def _page(self, request: Request) -> Any:
        limit, after = request.query.get("limit", "10"), request.query.get("after", "0")
        for name, value in (("limit", limit), ("after", after)):
            if not re.fullmatch(r"\d+", value):
                raise _Error(
                    400,
                    "VALIDATION_ERROR",
                    f"Invalid {name}: '{value}' is not a valid integer",
                    context={name: [value]},
                )
        if not 1 <= int(limit) <= 100:
            raise _Error(
                400, "VALIDATION_ERROR", "The limit must be between 1 and 100."
            )
        found = [
            task
            for key, task in self.objects.items()
            if int(key) > int(after)
            and task["properties"]["hs_task_status"] == "NOT_STARTED"
        ]
        page = found[: int(limit)]
        if len(page) == len(found):
            return {"results": page}
        last = page[-1]["id"]
        link = f"{request.base}{request.path}?limit={limit}&after={last}"
        return {"results": page, "paging": {"next": {"after": last, "link": link}}}

    def _task(self, key: str, owner: Any, status: str) -> dict[str, Any]:
        if key not in self.objects:
            raise _Error(
                404,
                "OBJECT_NOT_FOUND",
                f"Object not found. Could not find TASK {key}; "
                "objectId are usually numeric.",
            )
        task = self.objects[key]
        if owner and task["properties"]["hubspot_owner_id"] != owner["agent_id"]:
            raise _Error(403, "MISSING_SCOPES", f"You do not own TASK {key}.")
        if task["properties"]["hs_task_status"] != status:
            raise _Error(
                409,
                "CONFLICT",
                f"TASK {key} has hs_task_status "
                f"{task['properties']['hs_task_status']}, expected {status}.",
            )
        return task

    @_endpoint
    def claim(self, request: Request) -> Any:
        owner, body = self._owner(request), _input(request)
        _check(
            "updating", "TASK", body["properties"], ["hubspot_owner_id", "hs_timestamp"]
        )
        wanted = body["properties"]["hubspot_owner_id"]
        if wanted != owner["agent_id"]:
            raise _properties_error(
                "hubspot_owner_id",
                "INVALID_OWNER_ID",
                f"{wanted} is not the owner id (agent_id) of this access token.",
            )
        task = self._task(body["id"], None, "NOT_STARTED")
        task["properties"].update(body["properties"], hs_task_status="IN_PROGRESS")
        self.book.claimed(task["id"])
        return task

    @_endpoint
    def submit(self, request: Request) -> Any:
        owner, body = self._owner(request), _input(request)
        _check("creating", "NOTE", body["properties"], ["hs_note_body", "hs_timestamp"])
        task = self._task(body["id"], owner, "IN_PROGRESS")
        note = self.notes[task["id"]] = self._object(
            str(int(task["id"]) + 900000), body["properties"]
        )
        return {
            **note,
            "associations": {
                "tasks": {"results": [{"id": task["id"], "type": "note_to_task"}]}
            },
        }

    @_endpoint
    def complete(self, request: Request) -> Any:
        owner, body = self._owner(request), _input(request)
        _check("updating", "TASK", body["properties"], ["hs_task_status"])
        task = self._task(body["id"], owner, "IN_PROGRESS")
        status = body["properties"]["hs_task_status"]
        if status != "COMPLETED":
            raise _properties_error(
                "hs_task_status",
                "INVALID_TRANSITION",
                f"A task in progress can only become COMPLETED, not {status}.",
            )
        note = self.notes.get(task["id"])
        if note is None:
            raise _Error(
                400, "VALIDATION_ERROR", f"TASK {task['id']} has no note with a result."
            )
        if (
            note["properties"]["hs_note_body"]
            != task["properties"]["hs_task_body"].upper()
        ):
            raise _Error(
                400,
                "VALIDATION_ERROR",
                f"NOTE {note['id']} was rejected: hs_note_body "
                "must be hs_task_body in upper case. Submit a new note.",
            )
        reward = int(task["properties"]["hs_task_reward"])
        task["properties"]["hs_task_status"] = "COMPLETED"
        owner["credits"] += reward
        self.book.pay(task["id"], reward)
        return {
            **task,
            "credits": {"earned": str(reward), "balance": str(owner["credits"])},
        }
