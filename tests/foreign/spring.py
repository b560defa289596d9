"""Spring Boot with Jackson, bean validation, JPA versions and a paged listing.

Jackson stops at the first fault and refuses unknown properties by naming those it knows;
only then does bean validation tell its field errors, all at once. The listing is a Page of
ALL tasks, also those assigned or settled: only QUEUED ones can be claimed. A claim proves
with the version from the listing that it saw the latest state of the row, and its answer
holds the assignment that the later steps are about.
"""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from itertools import count
from secrets import token_urlsafe
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]
Mapped = Callable[["Spring", Request], Response]
# A request class: its name, then for each property its Java type and its constraint.
Bean = tuple[str, dict[str, tuple[str, str]]]

CLAIM: Bean = (
    "ClaimRequest",
    {"taskId": ("Long", "NotNull"), "version": ("Long", "NotNull")},
)
SUBMIT: Bean = (
    "SubmitRequest",
    {"assignmentId": ("Long", "NotNull"), "answer": ("String", "NotBlank")},
)
COMPLETE: Bean = ("CompleteRequest", {"assignmentId": ("Long", "NotNull")})
DEFAULT_MESSAGES = {"NotNull": "must not be null", "NotBlank": "must not be blank"}
REASONS = {
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
    409: "Conflict",
    415: "Unsupported Media Type",
    422: "Unprocessable Entity",
}
PACKAGE = "net.example"
SOURCE = (
    "\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled);"
    " line: 1, column: "
)
VALID_VALUES = (
    "expected a valid value (JSON String, Number, Array, Object or token 'null',"
    " 'true' or 'false')"
)
TOKENS = {
    dict: "Object value (token `JsonToken.START_OBJECT`)",
    list: "Array value (token `JsonToken.START_ARRAY`)",
    bool: "Boolean value (token `JsonToken.VALUE_TRUE`)",
}
# A body that is no object: the constructor that it would need, and what it is.
SCALARS = {
    str: ("String", "String"),
    int: ("int/Int", "Number"),
    float: ("double/Double", "Number"),
    bool: ("boolean/Boolean", "boolean"),
}
TEXTS = {
    "the notary stamps every page twice": 4,
    "a narrow path leads to the spring": 7,
    "they painted the boat a darker blue": 2,
    "the schoolhouse roof has been mended": 9,
    "empty bottles line the kitchen sill": 1,
    "the postman knows each dog by name": 5,
    "cold tea stains the tablecloth": 3,
    "a loose thread hangs from the banner": 6,
    "the mill wheel turned all winter": 8,
    "borrow the ladder from next door": 2,
    "quiet music drifts from the arcade": 5,
    "the surveyor lost his brass compass": 4,
}


class StatusError(Exception):
    """An exception that ends in the default error attributes."""

    def __init__(self, status: int, message: str, **more: object) -> None:
        super().__init__(message)
        self.status = status
        self.more = more


def unreadable(message: str) -> StatusError:
    return StatusError(400, f"JSON parse error: {message}")


def error_page(request: Request, error: StatusError) -> Response:
    """Return the default error attributes, with message and binding errors included."""
    body = {
        "timestamp": now().replace("Z", "+00:00"),
        "status": error.status,
        "error": REASONS[error.status],
        "message": str(error),
        **error.more,
        "path": request.path,
    }
    headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else {}
    return Response(error.status, body, headers)


def mapped(method: Mapped) -> Mapped:
    """Resolve the exceptions of a controller."""

    @wraps(method)
    def answer(self: "Spring", request: Request) -> Response:
        try:
            return method(self, request)
        except StatusError as error:
            return error_page(request, error)

    return answer


def to_long(value: object) -> int | None:
    """Deserialize a Long: numbers, or text that holds one."""
    wanted = "Cannot deserialize value of type `java.lang.Long` from"
    if isinstance(value, dict | list | bool):
        raise ValueError(f"{wanted} {TOKENS[type(value)]}")  # noqa: TRY004
    if isinstance(value, str):
        if value.strip() and not re.fullmatch(r"[-+]?\d+", value.strip()):
            no = "not a valid `java.lang.Long` value"
            raise ValueError(f'{wanted} String "{value}": {no}')
        return int(value) if value.strip() else None
    return int(value) if isinstance(value, int | float) else None


def to_string(value: object) -> str | None:
    """Deserialize a String: any scalar."""
    if isinstance(value, dict | list):
        wanted = "Cannot deserialize value of type `java.lang.String` from"
        raise ValueError(f"{wanted} {TOKENS[type(value)]}")  # noqa: TRY004
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)


def deserialize(bean: Bean, body: object, raw: str) -> Json:
    """Fill the bean's properties in the order of the document; the first fault ends it."""
    name, properties = bean
    wanted = f"Cannot deserialize value of type `{PACKAGE}.{name}` from"
    if isinstance(body, list):
        raise unreadable(f"{wanted} {TOKENS[list]}{SOURCE}1]")
    if not isinstance(body, dict):
        cannot = f"Cannot construct instance of `{PACKAGE}.{name}`"
        exists = "although at least one Creator exists"
        argument, given = SCALARS.get(type(body), SCALARS[float])
        needed = f"no {argument}-argument constructor/factory method to deserialize"
        what = f"{cannot} ({exists}): {needed} from {given} value"
        shown = f"'{body}'" if isinstance(body, str) else json.dumps(body)
        raise unreadable(f"{what} ({shown}){SOURCE}1]")
    filled: Json = dict.fromkeys(properties)
    for key, value in body.items():
        chain = f'(through reference chain: {PACKAGE}.{name}["{key}"])'
        place = f"{SOURCE}{raw.find(json.dumps(key)) + len(key) + 4}] {chain}"
        if key not in properties:
            known = ", ".join(f'"{known}"' for known in properties)
            many = f"{len(properties)} known properties"
            head = many if len(properties) > 1 else "one known property"
            what = f'Unrecognized field "{key}" (class {PACKAGE}.{name})'
            listed = f"not marked as ignorable ({head}: {known}])"
            raise unreadable(f"{what}, {listed}{place}")
        convert = to_long if properties[key][0] == "Long" else to_string
        try:
            filled[key] = convert(value)
        except ValueError as fault:
            raise unreadable(f"{fault}{place}") from None
    return filled


def field_error(bean: Bean, name: str, rejected: object) -> Json:
    """Return a FieldError as Jackson writes it."""
    java_type, constraint = bean[1][name]
    target = bean[0][0].lower() + bean[0][1:]
    places = [f"{target}.{name}", name, f"java.lang.{java_type}"]
    argument = {"codes": places[:2], "arguments": None, "defaultMessage": name}
    return {
        "codes": [*(f"{constraint}.{place}" for place in places), constraint],
        "arguments": [argument | {"code": name}],
        "defaultMessage": DEFAULT_MESSAGES[constraint],
        "objectName": target,
        "field": name,
        "rejectedValue": rejected,
        "bindingFailure": False,
        "code": constraint,
    }


def request_body(request: Request, bean: Bean) -> Json:
    """Read and validate @Valid @RequestBody."""
    media_type = request.headers.get("Content-Type")
    if "json" not in (media_type or "application/octet-stream"):
        raise StatusError(415, f"Content-Type '{media_type}' is not supported")
    method = bean[0].removesuffix("Request").lower()
    signature = f"{PACKAGE}.TaskController.{method}({PACKAGE}.{bean[0]})"
    missing = f"Required request body is missing: public java.util.Map {signature}"
    if not request.raw:
        raise StatusError(400, missing)
    try:
        body = request.json()
    except json.JSONDecodeError as bad:
        found, place = bad.doc[bad.pos : bad.pos + 1], f"{SOURCE}{bad.pos + 1}]"
        if not found:
            raise unreadable(f"Unexpected end-of-input{place}") from None
        what = f"Unexpected character ('{found}' (code {ord(found)}))"
        raise unreadable(f"{what}: {VALID_VALUES}{place}") from None
    if body is None:
        raise StatusError(400, missing)
    filled = deserialize(bean, body, request.raw.decode(errors="replace"))
    errors = [
        field_error(bean, name, value)
        for name, value in filled.items()
        if value is None or (isinstance(value, str) and not value.strip())
    ]
    if errors:
        target = errors[0]["objectName"]
        what = f"Validation failed for object='{target}'. Error count: {len(errors)}"
        raise StatusError(400, what, errors=errors)
    return filled


def now() -> str:
    moment = datetime.now(UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def number(text: str, default: int, least: int) -> int:
    """Read a page parameter: what is no number or too small counts as the default."""
    return int(text) if text.isdecimal() and int(text) >= least else default


class Spring(Backend):
    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[int, Json] = {
            key: {
                "id": key,
                "version": index % 4,
                "summary": "Rewrite the payload in upper case",
                "payload": text,
                "rewardCredits": TEXTS[text],
                "state": "QUEUED",
                "createdAt": now(),
            }
            for index, (key, text) in enumerate(zip(count(90210), TEXTS, strict=False))
        }
        self.members: dict[str, Json] = {}  # token -> agent
        self.assignments: dict[int, Json] = {}
        self.assignment_ids, self.agent_ids = count(5501), count(3300)

    def texts(self) -> dict[str, str]:
        return {str(key): row["payload"] for key, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        message = f"No static resource {request.path[1:]}."
        return error_page(request, StatusError(404, message))

    def register(self, request: Request) -> Response:
        agent = {"id": next(self.agent_ids), "credits": 100}
        token = token_urlsafe(32)
        self.members[token] = agent
        self.book.registrations += 1
        shown = {"agent_id": str(agent["id"]), "access_token": token, "credits": 100}
        return Response(200, shown)

    def tasks(self, request: Request) -> Response:
        rows = list(self.rows.values())
        page = number(request.query.get("page", ""), 0, 0)
        size = min(number(request.query.get("size", ""), 4, 1), 2000)
        content = rows[page * size : (page + 1) * size]
        pages = -(-len(rows) // size)
        unsorted = {"empty": True, "unsorted": True, "sorted": False}
        pageable = {"pageNumber": page, "pageSize": size, "sort": unsorted}
        pageable |= {"offset": page * size, "unpaged": False, "paged": True}
        body = {"content": content, "pageable": pageable, "last": page >= pages - 1}
        body |= {"totalPages": pages, "totalElements": len(rows), "first": page == 0}
        body |= {"size": size, "number": page, "sort": unsorted}
        body |= {"numberOfElements": len(content), "empty": not content}
        return Response(200, body)

    def _agent(self, request: Request) -> Json:
        if request.token not in self.members:
            message = "Full authentication is required to access this resource"
            raise StatusError(401, "Invalid bearer token" if request.token else message)
        return self.members[request.token]

    @mapped
    def claim(self, request: Request) -> Response:
        agent = self._agent(request)
        body = request_body(request, CLAIM)
        row = self.rows.get(body["taskId"])
        if row is None:
            raise StatusError(404, f"Task {body['taskId']} not found")
        if row["state"] != "QUEUED":
            raise StatusError(409, f"Task {row['id']} is not QUEUED but {row['state']}")
        if body["version"] != row["version"]:
            why = "unsaved-value mapping was incorrect"
            what = f"Row was updated or deleted by another transaction (or {why})"
            raise StatusError(409, f"{what} : [{PACKAGE}.Task#{row['id']}]")
        row.update(state="ASSIGNED", version=row["version"] + 1)
        key = next(self.assignment_ids)
        assignment = {"assignmentId": key, "taskId": row["id"], "agentId": agent["id"]}
        self.assignments[key] = assignment | {"state": "ASSIGNED", "assignedAt": now()}
        self.book.claimed(str(row["id"]))
        return Response(200, self.assignments[key])

    def _assignment(self, agent: Json, key: int, state: str) -> Json:
        assignment = self.assignments.get(key)
        if assignment is None or assignment["agentId"] != agent["id"]:
            raise StatusError(404, f"Assignment {key} not found")
        if assignment["state"] != state:
            what = f"Assignment {key} is {assignment['state']}, expected {state}"
            raise StatusError(409, what)
        return assignment

    @mapped
    def submit(self, request: Request) -> Response:
        agent = self._agent(request)
        body = request_body(request, SUBMIT)
        assignment = self._assignment(agent, body["assignmentId"], "ASSIGNED")
        if body["answer"] != self.rows[assignment["taskId"]]["payload"].upper():
            raise StatusError(422, "The answer is not the expected result")
        assignment["state"] = "ANSWERED"
        return Response(200, assignment)

    @mapped
    def complete(self, request: Request) -> Response:
        agent = self._agent(request)
        body = request_body(request, COMPLETE)
        assignment = self._assignment(agent, body["assignmentId"], "ANSWERED")
        row = self.rows[assignment["taskId"]]
        assignment["state"] = "SETTLED"
        row.update(state="SETTLED", version=row["version"] + 1)
        agent["credits"] += row["rewardCredits"]
        self.book.pay(str(row["id"]), row["rewardCredits"])
        paid = {"creditsPaid": row["rewardCredits"], "balance": agent["credits"]}
        return Response(200, assignment | paid)
