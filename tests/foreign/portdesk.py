"""A Micronaut service (bean validation's violations and Jackson's errors as HAL errors).
Product: a port authority's paperwork desk that hands out dossiers to be typed up."""

import json
import re
import secrets
import uuid
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PACKAGE = "eu.portdesk.api."
WHERE = "\n at [Source: UNKNOWN; byte offset: #UNKNOWN]"
REASONS = {
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
    409: "Conflict",
    415: "Unsupported Media Type",
    422: "Unprocessable Entity",
}

Constraint = Callable[[Any], str]


class HttpStatusError(Exception):
    """An answer other than 200, with the messages of the embedded errors."""

    def __init__(self, status: int, *errors: tuple[str, str]) -> None:
        super().__init__(status, errors)
        self.status = status
        self.errors = errors


class MismatchedInputError(Exception):
    """Jackson's exception; the chain grows as it travels up."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.chain: list[str] = []


def not_null(value: Any) -> str:
    return "must not be null" if value is None else ""


def not_blank(value: Any) -> str:
    return "" if value is not None and value.strip() else "must not be blank"


def size(min_: int, max_: int) -> Constraint:
    return lambda value: (
        ""
        if value is None or min_ <= len(value) <= max_
        else f"size must be between {min_} and {max_}"
    )


def at_least(min_: int) -> Constraint:
    return lambda value: (
        ""
        if value is None or value >= min_
        else f"must be greater than or equal to {min_}"
    )


def at_most(max_: int) -> Constraint:
    return lambda value: (
        ""
        if value is None or value <= max_
        else f"must be less than or equal to {max_}"
    )


def pattern(regexp: str) -> Constraint:
    return lambda value: (
        "" if value is None or re.fullmatch(regexp, value) else f'must match "{regexp}"'
    )


class Type:
    """A Java type as Jackson reads it and the constraints on the property."""

    java = "java.lang.Object"

    def __init__(self, *constraints: Constraint) -> None:
        self.constraints = constraints

    def read(self, value: Any) -> Any:
        if value is None:
            return self.absent()
        if isinstance(value, list):
            if len(value) == 1:
                return self.read(value[0])
            if value:
                raise MismatchedInputError(
                    f"Attempted to unwrap '{self.java}' value from an array (with "
                    "`DeserializationFeature.UNWRAP_SINGLE_VALUE_ARRAYS`) but it "
                    "contains more than one value"
                )
            raise self.mismatch("Array value (token `JsonToken.START_ARRAY`)")
        return self.convert(value)

    def absent(self) -> Any:
        return None

    def convert(self, value: Any) -> Any:
        raise NotImplementedError

    def mismatch(self, source: str) -> MismatchedInputError:
        return MismatchedInputError(
            f"Cannot deserialize value of type `{self.java}` from {source}"
        )

    def violations(self, path: str, value: Any) -> list[str]:
        return [
            f"{path}: {message}"
            for constraint in self.constraints
            if (message := constraint(value))
        ]


class JString(Type):
    java = "java.lang.String"

    def convert(self, value: Any) -> str:
        if isinstance(value, dict):
            raise self.mismatch("Object value (token `JsonToken.START_OBJECT`)")
        return value if isinstance(value, str) else json.dumps(value)


class JLong(Type):
    java = "java.lang.Long"

    def convert(self, value: Any) -> Any:
        if isinstance(value, dict):
            raise self.mismatch("Object value (token `JsonToken.START_OBJECT`)")
        if isinstance(value, bool):
            name = "VALUE_TRUE" if value else "VALUE_FALSE"
            raise self.mismatch(f"Boolean value (token `JsonToken.{name}`)")
        if isinstance(value, str):
            if not value.strip():
                return self.absent()
            if not re.fullmatch(r"\s*[+-]?\d{1,18}\s*", value):
                raise self.mismatch(
                    f"String {json.dumps(value)}: not a valid `{self.java}` value"
                )
        if value in (float("inf"), float("-inf")) or abs(int(value)) >= 2**63:
            raise MismatchedInputError(
                f"Numeric value ({value}) out of range of `{self.java}`"
            )
        return int(value)


class PrimitiveInt(JLong):
    java = "int"

    def absent(self) -> int:
        return 0


class Enum(Type):
    def __init__(self, name: str, values: list[str], *constraints: Constraint) -> None:
        super().__init__(*constraints)
        self.java = PACKAGE + name
        self.values = values

    def convert(self, value: Any) -> str:
        if isinstance(value, dict):
            raise self.mismatch("Object value (token `JsonToken.START_OBJECT`)")
        if isinstance(value, bool):
            name = "VALUE_TRUE" if value else "VALUE_FALSE"
            raise self.mismatch(f"Boolean value (token `JsonToken.{name}`)")
        if isinstance(value, float):
            raise self.mismatch(
                "Floating-point value (token `JsonToken.VALUE_NUMBER_FLOAT`)"
            )
        if isinstance(value, int):
            if 0 <= value < len(self.values):
                return self.values[value]
            raise self.mismatch(
                f"number {value}: index value outside legal index range "
                f"[0..{len(self.values) - 1}]"
            )
        if value.strip() in self.values:
            return str(value.strip())
        if not value.strip():
            raise MismatchedInputError(
                f'Cannot coerce empty String ("") to `{self.java}` value (but could '
                "if coercion was enabled using `CoercionConfig`)"
            )
        raise self.mismatch(
            f"String {json.dumps(value)}: not one of the values accepted for Enum "
            f"class: [{', '.join(self.values)}]"
        )


class Bean(Type):
    def __init__(
        self, name: str, properties: dict[str, Type], *constraints: Constraint
    ) -> None:
        super().__init__(*constraints)
        self.java = PACKAGE + name
        self.properties = properties

    def convert(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            if isinstance(value, str):
                kind, source = "String", f"String value ('{value}')"
            elif isinstance(value, bool):
                kind = "boolean/Boolean"
                source = f"Boolean value ({json.dumps(value)})"
            elif isinstance(value, int):
                kind, source = "int/Int", f"Number value ({value})"
            else:
                kind, source = "double/Double", f"Number value ({value})"
            raise MismatchedInputError(
                f"Cannot construct instance of `{self.java}` (although at least one "
                f"Creator exists): no {kind}-argument constructor/factory method to "
                f"deserialize from {source}"
            )
        result = {}
        for name, type_ in self.properties.items():
            try:
                result[name] = (
                    type_.read(value[name]) if name in value else type_.absent()
                )
            except MismatchedInputError as error:
                error.chain.insert(0, f'{self.java}["{name}"]')
                raise
        return result

    def violations(self, path: str, value: Any) -> list[str]:
        found = super().violations(path, value)
        if value is not None:
            for name, type_ in self.properties.items():
                found += type_.violations(f"{path}.{name}", value[name])
        return found


TAKE = Bean(
    "TakeRequest",
    {
        "dossierNumber": JLong(not_null),
        "desk": Bean(
            "Desk",
            {
                "shift": Enum("Shift", ["MORNING", "AFTERNOON", "NIGHT"], not_null),
                "counter": PrimitiveInt(at_least(1), at_most(12)),
            },
            not_null,
        ),
    },
)
DELIVER = Bean(
    "DeliverRequest",
    {
        "docket": JString(not_blank),
        "paper": Bean(
            "Paper",
            {
                "content": JString(not_blank, size(1, 16000)),
                "language": JString(not_null, pattern("[a-z]{2}")),
                "remarks": JString(size(0, 280)),
            },
            not_null,
        ),
    },
)
CLEAR = Bean(
    "ClearRequest",
    {
        "docket": JString(not_blank),
        "revision": JLong(not_null),
        "signatory": JString(not_blank, size(2, 60)),
    },
)

DOSSIERS: list[tuple[int, str, str, int, str]] = [
    (40217, "MV Astrid Bakke", "FAL_1", 14, "General declaration for arrival at quay four, last port Bergen, cargo of timber, crew of eleven, no passengers."),
    (40218, "MT Gulf Heron", "WASTE", 22, "Waste notification: twelve cubic metres of oily bilge water and two of galley waste to be landed before sailing."),
    (40220, "MV Tres Hermanas", "FAL_3", 10, "Ship's stores declaration listing tobacco, spirits and tinned food sealed in the bonded locker."),
    (40223, "SV Morgenster", "BERTH", 7, "Berth request for a three-masted training ship, four nights, shore power and fresh water wanted."),
    (40224, "MV Kaveri Star", "DG", 28, "Dangerous goods manifest: six containers of paint, class 3, stowed on deck forward of the bridge."),
    (40229, "MV Nordlicht", "FAL_5", 16, "Crew list with two sign-offs at this port, a second engineer and a cook, repatriation by air."),
    (40231, "MT Ardent", "BUNKER", 19, "Bunkering permit for three hundred tonnes of low-sulphur fuel from barge Delta on Thursday night."),
    (40236, "MV Baltic Finch", "HEALTH", 12, "Maritime declaration of health, no illness on board in thirty days, sanitation certificate valid until June."),
    (40240, "MV Sao Tome", "PILOT", 9, "Pilot order for departure at 05:30, draught seven point two metres, bow thruster out of service."),
]  # fmt: skip


class PortDesk(Backend):
    """The paperwork desk."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.dossiers: dict[int, dict[str, Any]] = {
            number: {
                "number": number,
                "vessel": {"name": vessel, "imo": f"9{number * 7 % 1000000:06}"},
                "form": form,
                "description": text,
                "feeCredits": fee,
                "state": "LODGED",
            }
            for number, vessel, form, fee, text in DOSSIERS
        }
        self.dockets: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(n): d["description"] for n, d in self.dossiers.items()}

    def missing(self, request: Request) -> Response:
        return _error(request, 404, ("Page Not Found", ""))

    def _secured(
        self, request: Request, body: Bean, run: Callable[[Any, Any], Any]
    ) -> Response:
        agent = self.agents.get(request.token)
        if agent is None:
            return _error(request, 401)
        try:
            return Response(200, run(agent, _bind(request, body)))
        except HttpStatusError as error:
            return _error(request, error.status, *error.errors)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(24)
        agent_id = str(uuid.uuid4())
        self.agents[token] = {"id": agent_id, "credits": 100}
        return Response(
            200, {"agent_id": agent_id, "access_token": token, "credits": 100}
        )

    def tasks(self, request: Request) -> Response:
        raw = request.query.get("limit", "20")
        try:
            limit = int(raw)
        except ValueError:
            return _error(
                request,
                400,
                (
                    (
                        f"Failed to convert argument [limit] for value [{raw}] due to: "
                        f'For input string: "{raw}"'
                    ),
                    "/limit",
                ),
            )
        found = [
            message
            for constraint in (at_least(1), at_most(50))
            if (message := constraint(limit))
        ]
        if found:
            return _error(request, 400, *((f"limit: {m}", "") for m in found))
        lodged = [d for d in self.dossiers.values() if d["state"] == "LODGED"]
        return Response(
            200,
            {
                "content": lodged[:limit],
                "pageable": {"size": limit, "number": 0, "sort": {}},
                "totalSize": len(lodged),
            },
        )

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        return self._secured(request, TAKE, self._take)

    def submit(self, request: Request) -> Response:
        return self._secured(request, DELIVER, self._deliver)

    def complete(self, request: Request) -> Response:
        return self._secured(request, CLEAR, self._clear)

    def _take(self, agent: dict[str, Any], body: dict[str, Any]) -> Any:
        number = body["dossierNumber"]
        dossier = self.dossiers.get(number)
        if dossier is None:
            raise HttpStatusError(404, (f"Dossier {number} does not exist", ""))
        if dossier["state"] != "LODGED":
            raise HttpStatusError(409, (f"Dossier {number} is {dossier['state']}", ""))
        dossier["state"] = "ON_DESK"
        docket = {
            "docket": f"PD-{len(self.dockets) + 318:06}",
            "dossierNumber": number,
            "state": "ON_DESK",
            "desk": body["desk"],
            "revision": 0,
            "agent": agent["id"],
            "work": "",
        }
        self.dockets[docket["docket"]] = docket
        self.book.claimed(str(number))
        return {**_view(docket), "dossier": dict(dossier)}

    def _own(self, agent: dict[str, Any], reference: str) -> dict[str, Any]:
        docket = self.dockets.get(reference)
        if docket is None or docket["agent"] != agent["id"]:
            raise HttpStatusError(404, (f"Docket {reference} not found", ""))
        if docket["state"] == "CLEARED":
            raise HttpStatusError(409, (f"Docket {reference} is already CLEARED", ""))
        return docket

    def _deliver(self, agent: dict[str, Any], body: dict[str, Any]) -> Any:
        docket = self._own(agent, body["docket"])
        docket["work"] = body["paper"]["content"]
        docket["revision"] += 1
        docket["state"] = "AWAITING_CLEARANCE"
        return _view(docket)

    def _clear(self, agent: dict[str, Any], body: dict[str, Any]) -> Any:
        docket = self._own(agent, body["docket"])
        if docket["state"] != "AWAITING_CLEARANCE":
            raise HttpStatusError(
                409, (f"Docket {docket['docket']} is {docket['state']}: no paper", "")
            )
        if body["revision"] != docket["revision"]:
            raise HttpStatusError(
                409,
                (
                    (
                        f"Revision {body['revision']} is stale, docket is at revision "
                        f"{docket['revision']}"
                    ),
                    "",
                ),
            )
        dossier = self.dossiers[docket["dossierNumber"]]
        if docket["work"] != dossier["description"].upper():
            docket["state"] = "ON_DESK"
            raise HttpStatusError(
                422, ("Paper was returned by the harbour master's office", "")
            )
        docket["state"] = dossier["state"] = "CLEARED"
        agent["credits"] += dossier["feeCredits"]
        self.book.pay(str(dossier["number"]), dossier["feeCredits"])
        return {
            **_view(docket),
            "feePaid": dossier["feeCredits"],
            "accountBalance": agent["credits"],
        }


def _view(docket: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in docket.items() if k not in {"agent", "work"}}


def _error(request: Request, status: int, *errors: tuple[str, str]) -> Response:
    body: dict[str, Any] = {
        "_links": {"self": [{"href": request.path, "templated": False}]}
    }
    if errors:
        body["_embedded"] = {
            "errors": [
                {"message": message, **({"path": path} if path else {})}
                for message, path in errors
            ]
        }
    body["message"] = REASONS[status]
    return Response(status, body)


def _bind(request: Request, bean: Bean) -> Any:
    media = (request.headers.get("Content-Type") or "").split(";")[0].strip().lower()
    if media and media != "application/json":
        raise HttpStatusError(
            415,
            (
                (
                    f"Content Type [{media}] not allowed. Allowed types: "
                    "[application/json]"
                ),
                "",
            ),
        )
    required = HttpStatusError(
        400, ("Required Body [request] not specified", "/request")
    )
    if not request.raw.strip():
        raise required
    try:
        value = json.loads(request.raw, parse_constant=_no_constant)
    except ValueError as error:
        raise HttpStatusError(400, (_syntax(error), "")) from error
    if value is None:
        raise required
    try:
        result = bean.read(value)
    except MismatchedInputError as error:
        chain = (
            f" (through reference chain: {'->'.join(error.chain)})"
            if error.chain
            else ""
        )
        raise HttpStatusError(
            400,
            (
                (
                    "Failed to convert argument [request] for value [null] due to: "
                    f"{error.problem}{WHERE}{chain}"
                ),
                "/request",
            ),
        ) from error
    found = bean.violations("request", result)
    if found:
        raise HttpStatusError(400, *((message, "") for message in found))
    return result


def _syntax(error: ValueError) -> str:
    if not isinstance(error, json.JSONDecodeError):
        return "Invalid JSON: Invalid UTF-8 start byte"
    text = error.doc
    where = (
        f'\n at [Source: (byte[])"{text[:500]}"; line: {error.lineno}, '
        f"column: {error.colno}]"
    )
    if error.pos >= len(text):
        return f"Invalid JSON: Unexpected end-of-input{where}"
    char = text[error.pos]
    return (
        f"Invalid JSON: Unexpected character ('{char}' (code {ord(char)})): expected "
        "a valid value (JSON String, Number, Array, Object or token 'null', 'true' or "
        f"'false'){where}"
    )


def _no_constant(name: str) -> Any:
    raise json.JSONDecodeError(f"Non-standard token '{name}'", name, 0)
