"""Van Houte & Partners, civil-law notaries: engrossing deeds. Micronaut 4, Jackson."""

import json
import re
import secrets
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_PACKAGE = "be.vanhoute.deeds"
_REASONS = {
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
    409: "Conflict",
    415: "Unsupported Media Type",
    422: "Unprocessable Entity",
}
_OPEN_MANDATES = 3

# deed id, repertory number, deed type, section to engross, its wording, fee
_DEEDS = [
    (41072, "2025/0318", "POWER_OF_ATTORNEY", "HEADING",
     "General power of attorney", 9),
    (41075, "2025/0321", "SALE_OF_REAL_ESTATE", "PARTIES",
     "Jan-Baptist Peeters and Élise Dumoulin, spouses", 17),
    (41076, "2025/0322", "SALE_OF_REAL_ESTATE", "PROPERTY",
     "A dwelling house with garden at Kerkstraat 14, Ghent", 18),
    (41080, "2025/0326", "LAST_WILL", "HEADING",
     "Authentic will of Margriet van den Bossche", 12),
    (41083, "2025/0329", "INCORPORATION", "PARTIES",
     "De Zilveren Anker BV, represented by its director", 15),
    (41088, "2025/0334", "MARRIAGE_CONTRACT", "CLAUSE",
     "Separation of property, with an equalisation clause", 14),
    (41091, "2025/0337", "MORTGAGE", "CLAUSE",
     "Payable on demand at the registered office of the lender", 20),
    (41094, "2025/0340", "DONATION", "HEADING",
     "Gift of bare ownership (usufruct reserved)", 11),
    (41095, "2025/0341", "DONATION", "PARTIES",
     "Noël Claes, widower, residing at Liège", 13),
]  # fmt: skip


def _stamp(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


class _NoError(Exception):
    """An exception on its way to an ExceptionHandler and the ErrorResponseProcessor."""

    def __init__(self, status: int, *errors: str, path: str = "") -> None:
        super().__init__(*errors)
        self.status = status
        self.errors: list[dict[str, str]] = [{"message": said} for said in errors]
        if path:
            self.errors[0]["path"] = path


class _UnconvertibleError(Exception):
    """Jackson's MismatchedInputException."""


# --- Jackson's reading of a record: unknown properties ignored, scalars coerced ---

_TOKEN: dict[type, tuple[str, str]] = {
    dict: ("Object", "START_OBJECT"),
    list: ("Array", "START_ARRAY"),
}
_SOURCE = "\n at [Source: UNKNOWN; byte offset: #UNKNOWN]"


def _chain(path: list[tuple[str, str]]) -> str:
    if not path:
        return ""
    links = "->".join(f'{_PACKAGE}.{owner}["{name}"]' for owner, name in path)
    return f" (through reference chain: {links})"


def _wrong(kind: str, value: Any, path: list[tuple[str, str]]) -> _UnconvertibleError:
    if type(value) in _TOKEN:
        shape, token = _TOKEN[type(value)]
        found = f"{shape} value (token `JsonToken.{token}`)"
    elif isinstance(value, bool):
        token = "VALUE_TRUE" if value else "VALUE_FALSE"
        found = f"Boolean value (token `JsonToken.{token}`)"
    elif isinstance(value, int):
        found = "Integer value (token `JsonToken.VALUE_NUMBER_INT`)"
    else:
        found = "Floating-point value (token `JsonToken.VALUE_NUMBER_FLOAT`)"
    return _UnconvertibleError(
        f"Cannot deserialize value of type `{kind}` from {found}{_SOURCE}{_chain(path)}"
    )


def _weird(kind: str, value: str, why: str, path: Any) -> _UnconvertibleError:
    return _UnconvertibleError(
        f"Cannot deserialize value of type `{kind}` from String {json.dumps(value)}: "
        f"{why}{_SOURCE}{_chain(path)}"
    )


def _as_string(value: Any, path: Any) -> str:
    if isinstance(value, (dict, list)):
        raise _wrong("java.lang.String", value, path)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _as_long(value: Any, path: Any) -> int | None:
    if isinstance(value, (dict, list, bool)):
        raise _wrong("java.lang.Long", value, path)
    if isinstance(value, str):
        if not value.strip():
            return None
        if not re.fullmatch(r"[+-]?[0-9]+", value.strip()):
            raise _weird(
                "java.lang.Long", value, "not a valid `java.lang.Long` value", path
            )
    return int(value)


def _as_boolean(value: Any, path: Any) -> bool | None:
    if isinstance(value, (dict, list, float)):
        raise _wrong("java.lang.Boolean", value, path)
    if isinstance(value, str):
        if not value.strip():
            return None
        known = {"true": True, "True": True, "TRUE": True}
        known |= {"false": False, "False": False, "FALSE": False}
        if value.strip() not in known:
            raise _weird(
                "java.lang.Boolean", value, 'only "true" or "false" recognized', path
            )
        return known[value.strip()]
    return bool(value)


def _as_uuid(value: Any, path: Any) -> str | None:
    if not isinstance(value, str):
        raise _wrong("java.util.UUID", value, path)
    if not value.strip():
        return None
    if not re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", value):
        raise _weird(
            "java.util.UUID",
            value,
            "UUID has to be represented by standard 36-char representation",
            path,
        )
    return value.lower()


class _Record:
    """A record with its converters and its Jakarta constraints."""

    def __init__(self, name: str, **fields: Any) -> None:
        self.name = name
        self.fields = fields  # name -> (converter or record, constraint...)

    def read(self, value: Any, path: list[tuple[str, str]]) -> dict[str, Any]:
        if isinstance(value, str):
            raise _UnconvertibleError(
                f"Cannot construct instance of `{_PACKAGE}.{self.name}` (although at "
                "least one Creator exists): no String-argument constructor/factory "
                f"method to deserialize from String value ('{value}')"
                f"{_SOURCE}{_chain(path)}"
            )
        if isinstance(value, int) and not isinstance(value, bool):
            raise _UnconvertibleError(
                f"Cannot construct instance of `{_PACKAGE}.{self.name}` (although at "
                "least one Creator exists): no int/Int-argument constructor/factory "
                f"method to deserialize from Number value ({value}){_SOURCE}"
                f"{_chain(path)}"
            )
        if isinstance(value, bool):
            raise _UnconvertibleError(
                f"Cannot construct instance of `{_PACKAGE}.{self.name}` (although at "
                "least one Creator exists): no boolean/Boolean-argument "
                "constructor/factory method to deserialize from boolean value "
                f"({'true' if value else 'false'}){_SOURCE}{_chain(path)}"
            )
        if not isinstance(value, dict):
            raise _wrong(f"{_PACKAGE}.{self.name}", value, path)
        found: dict[str, Any] = dict.fromkeys(self.fields)
        for name, given in value.items():
            if name in self.fields and given is not None:
                reader = self.fields[name][0]
                inner = [*path, (self.name, name)]
                if isinstance(reader, _Record):
                    found[name] = reader.read(given, inner)
                else:
                    found[name] = reader(given, inner)
        return found

    def violations(self, bean: dict[str, Any], path: str) -> list[str]:
        said = []
        for name, (reader, *constraints) in self.fields.items():
            value = bean[name]
            said += [
                f"{path}.{name}: {why}" for rule in constraints if (why := rule(value))
            ]
            if isinstance(reader, _Record) and value is not None:
                said += reader.violations(value, f"{path}.{name}")
        return said


def _not_null(value: Any) -> str:
    return "must not be null" if value is None else ""


def _not_blank(value: Any) -> str:
    return "" if value and value.strip() else "must not be blank"


def _assert_true(value: Any) -> str:
    return "must be true" if value is False else ""


_CLAIM = _Record("AcceptMandateCommand", deedId=(_as_long, _not_null))
_SUBMIT = _Record(
    "LodgeFairCopyCommand",
    mandateId=(_as_uuid, _not_null),
    fairCopy=(_Record("FairCopy", wording=(_as_string, _not_blank)), _not_null),
    certifiedTrueCopy=(_as_boolean, _not_null, _assert_true),
)
_COMPLETE = _Record(
    "CloseMandateCommand",
    mandateId=(_as_uuid, _not_null),
    receiptNumber=(_as_string, _not_blank),
)


class VanHoute(Backend):
    """The engrossing register: deeds, mandates, fair copies, receipts."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._deeds = {
            deed[0]: {"row": deed, "status": "AWAITING_ENGROSSMENT"} for deed in _DEEDS
        }
        self._mandates: dict[str, dict[str, Any]] = {}
        self._answered: dict[tuple[str, str], tuple[str, Any]] = {}  # idempotency
        self._receipts = 511

    def texts(self) -> dict[str, str]:
        """Return each wording by its deed."""
        return {str(deed[0]): deed[4] for deed in _DEEDS}

    # --- Micronaut ---

    def _error(self, request: Request, status: int, errors: Any) -> Response:
        body: dict[str, Any] = {
            "_links": {"self": [{"href": request.path, "templated": False}]}
        }
        if request.query and status != 404:
            query = "&".join(f"{name}={value}" for name, value in request.query.items())
            body["_links"]["self"][0]["href"] += f"?{query}"
        if errors:
            body["_embedded"] = {"errors": errors}
        body["message"] = _REASONS[status]
        return Response(status, body)

    def missing(self, request: Request) -> Response:
        """No route."""
        return self._error(request, 404, [{"message": "Page Not Found"}])

    def _route(self, request: Request, route: Any) -> Response:
        """Run @Secured(IS_AUTHENTICATED) and the route; turn exceptions to answers."""
        agent = self._agents.get(request.token)
        if agent is None:
            return self._error(request, 401, [])
        try:
            return Response(200, route(agent))
        except _NoError as no:
            return self._error(request, no.status, no.errors)

    def _media(self, request: Request) -> None:
        media = request.headers.get("Content-Type") or ""
        if media and media.partition(";")[0].strip().lower() != "application/json":
            raise _NoError(
                415,
                f"Content Type [{media}] not allowed. Allowed types: [application/json]",
            )

    def _body(self, request: Request, record: _Record, *others: str) -> dict[str, Any]:
        """Bind @Valid @Body command; others are the other arguments' violations."""
        if not request.raw.strip():
            raise _NoError(
                400, "Required Body [command] not specified", path="/command"
            )
        try:
            value = request.json()
        except ValueError as bad:
            raise _NoError(
                400, f"Invalid JSON: {self._parse_error(request, bad)}"
            ) from None
        if value is None:
            raise _NoError(
                400, "Required Body [command] not specified", path="/command"
            )
        try:
            bean = record.read(value, [])
        except _UnconvertibleError as why:
            raise _NoError(
                400,
                f"Failed to convert argument [command] for value [null] due to: {why}",
                path="/command",
            ) from None
        if said := [*record.violations(bean, "command"), *others]:
            raise _NoError(400, *sorted(said))
        return bean

    @staticmethod
    def _parse_error(request: Request, bad: ValueError) -> str:
        text = request.raw.decode("utf-8", "replace")
        at = getattr(bad, "pos", 0)
        source = "\n at [Source: UNKNOWN; byte offset: #UNKNOWN]"
        if at >= len(text.rstrip()):
            return f"Unexpected end-of-input{source}"
        word = re.match(r"[A-Za-z_$][\w$]*", text[at:])
        if word and text[:at].rstrip()[-1:] != "{":
            return (
                f"Unrecognized token '{word.group()}': was expecting (JSON String, "
                "Number, Array, Object or token 'null', 'true' or 'false')" + source
            )
        return (
            f"Unexpected character ('{text[at]}' (code {ord(text[at])})): was expecting "
            f"double-quote to start field name{source}"
        )

    # --- controllers ---

    def register(self, request: Request) -> Response:
        """POST create-free-agent-public."""
        self.book.registrations += 1
        agent = {"id": str(uuid.uuid4()), "credits": 100}
        token = f"{secrets.token_urlsafe(16)}.{secrets.token_urlsafe(40)}"
        self._agents[token] = agent
        return Response(
            200,
            {
                "agent_id": agent["id"],
                "access_token": token,
                "token_type": "Bearer",
                "credits": 100,
                "roles": ["ENGROSSER"],
            },
        )

    def tasks(self, request: Request) -> Response:
        """GET get-marketplace-tasks; @QueryValue(defaultValue = "20") @Min(1) @Max(100)."""

        def route(_agent: dict[str, Any]) -> Any:
            raw = request.query.get("limit", "20")
            if not re.fullmatch(r"[+-]?[0-9]{1,9}", raw):
                raise _NoError(
                    400,
                    f"Failed to convert argument [limit] for value [{raw}] due to: "
                    f'For input string: "{raw}"',
                    path="/limit",
                )
            limit = int(raw)
            if limit < 1:
                raise _NoError(400, "limit: must be greater than or equal to 1")
            if limit > 100:
                raise _NoError(400, "limit: must be less than or equal to 100")
            waiting = [
                self._summary(deed)
                for deed in self._deeds.values()
                if deed["status"] == "AWAITING_ENGROSSMENT"
            ]
            page = waiting[:limit]
            return {
                "content": page,
                "pageable": {"number": 0, "size": limit, "sort": {}, "mode": "OFFSET"},
                "totalSize": len(waiting),
                "totalPages": -(-len(waiting) // limit),
                "numberOfElements": len(page),
                "empty": not page,
            }

        return self._route(request, route)

    @staticmethod
    def _summary(deed: dict[str, Any]) -> dict[str, Any]:
        id_, number, kind, section, _, fee = deed["row"]
        return {
            "deedId": id_,
            "repertoryNumber": number,
            "deedType": kind,
            "section": section,
            "instruction": "Engross the wording of this section in capital letters. "
            "The wording is disclosed to the mandate holder only.",
            "fee": {"amount": fee, "unit": "CREDIT"},
            "status": deed["status"],
        }

    def claim(self, request: Request) -> Response:
        """POST claim-task-public."""

        def route(agent: dict[str, Any]) -> Any:
            self._media(request)
            id_ = self._body(request, _CLAIM)["deedId"]
            deed = self._deeds.get(id_)
            if deed is None:
                raise _NoError(404, f"Deed {id_} not found")
            if deed["status"] != "AWAITING_ENGROSSMENT":
                raise _NoError(409, f"Deed {id_} is not awaiting engrossment")
            held = [
                mandate
                for mandate in self._mandates.values()
                if mandate["agent"] == agent["id"] and mandate["status"] != "CLOSED"
            ]
            if len(held) >= _OPEN_MANDATES:
                raise _NoError(
                    409, f"An agent may hold at most {_OPEN_MANDATES} open mandates"
                )
            deed["status"] = "IN_ENGROSSMENT"
            mandate = {
                "id": str(uuid.uuid4()),
                "agent": agent["id"],
                "deed": deed,
                "status": "ACCEPTED",
                "receipt": None,
            }
            self._mandates[mandate["id"]] = mandate
            self.book.claimed(str(id_))
            now = datetime.now(UTC)
            return {
                "mandateId": mandate["id"],
                "status": "ACCEPTED",
                "acceptedAt": _stamp(now),
                "expiresAt": _stamp(now + timedelta(hours=8)),
                "deed": {
                    "deedId": id_,
                    "repertoryNumber": deed["row"][1],
                    "section": deed["row"][3],
                    "draftWording": deed["row"][4],
                },
            }

        return self._route(request, route)

    def _mandate(self, agent: dict[str, Any], id_: str) -> dict[str, Any]:
        mandate = self._mandates.get(id_)
        if mandate is None or mandate["agent"] != agent["id"]:
            raise _NoError(404, f"Mandate {id_} not found")
        return mandate

    def submit(self, request: Request) -> Response:
        """POST submit-task-result-public."""

        def route(agent: dict[str, Any]) -> Any:
            self._media(request)
            command = self._body(request, _SUBMIT)
            mandate = self._mandate(agent, command["mandateId"])
            if mandate["status"] != "ACCEPTED":
                raise _NoError(
                    409, f"Mandate {mandate['id']} has status {mandate['status']}"
                )
            row = mandate["deed"]["row"]
            if command["fairCopy"]["wording"] != row[4].upper():
                raise _NoError(
                    422, "Fair copy is not the draft wording in capital letters"
                )
            self._receipts += 1
            mandate["status"] = "FAIR_COPY_LODGED"
            mandate["receipt"] = f"R-{datetime.now(UTC).year}-{self._receipts:05d}"
            return {
                "mandateId": mandate["id"],
                "deedId": row[0],
                "status": mandate["status"],
                "receipt": {
                    "number": mandate["receipt"],
                    "issuedAt": _stamp(datetime.now(UTC)),
                },
            }

        return self._route(request, route)

    def complete(self, request: Request) -> Response:
        """POST complete-task-public; @Header("Idempotency-Key") String idempotencyKey."""

        def route(agent: dict[str, Any]) -> Any:
            self._media(request)
            key = request.headers.get("Idempotency-Key")
            if key is None:
                raise _NoError(
                    400,
                    "Required Header [Idempotency-Key] not specified",
                    path="/idempotencyKey",
                )
            blank = [] if key.strip() else ["idempotencyKey: must not be blank"]
            command = self._body(request, _COMPLETE, *blank)
            mandate = self._mandate(agent, command["mandateId"])
            before = self._answered.get((agent["id"], key))
            if before is not None:
                if before[0] != mandate["id"]:
                    raise _NoError(
                        422, "Idempotency-Key was already used for another mandate"
                    )
                return before[1]
            if mandate["status"] != "FAIR_COPY_LODGED":
                raise _NoError(
                    409, f"Mandate {mandate['id']} has status {mandate['status']}"
                )
            if command["receiptNumber"] != mandate["receipt"]:
                raise _NoError(
                    422,
                    f"Receipt {command['receiptNumber']} was not issued for mandate "
                    f"{mandate['id']}",
                )
            row = mandate["deed"]["row"]
            mandate["status"] = "CLOSED"
            mandate["deed"]["status"] = "ENGROSSED"
            agent["credits"] += row[5]
            self.book.pay(str(row[0]), row[5])
            answer = {
                "mandateId": mandate["id"],
                "deedId": row[0],
                "status": "CLOSED",
                "settlement": {"amount": row[5], "unit": "CREDIT"},
                "balance": agent["credits"],
            }
            self._answered[agent["id"], key] = (mandate["id"], answer)
            return answer

        return self._route(request, route)
