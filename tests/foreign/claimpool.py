"""A Flask service with marshmallow schemas (unknown fields raise, errors answer 422).
Product: a pool of adjusters' helpers who summarise insurance claims for a fee."""

import json
import secrets
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_MISSING = object()
_TRUTHY = {"t", "T", "true", "True", "TRUE", "on", "On", "ON"} | {
    "y", "Y", "yes", "Yes", "YES", "1", 1,
}  # fmt: skip
_FALSY = {"f", "F", "false", "False", "FALSE", "off", "Off", "OFF"} | {
    "n", "N", "no", "No", "NO", "0", 0,
}  # fmt: skip

Validator = Callable[[Any], str]


class ValidationError(Exception):
    """What marshmallow raises; carries its messages."""

    def __init__(self, messages: Any) -> None:
        super().__init__(messages)
        self.messages = messages


class HTTPError(Exception):
    """What werkzeug's abort() raises."""

    def __init__(self, code: int, description: str) -> None:
        super().__init__(description)
        self.code = code
        self.description = description


def length(min_: int, max_: int) -> Validator:
    return lambda value: (
        ""
        if min_ <= len(value) <= max_
        else f"Length must be between {min_} and {max_}."
    )


def in_range(min_: float, max_: float) -> Validator:
    return lambda value: (
        ""
        if min_ <= value <= max_
        else f"Must be greater than or equal to {min_} and less than or equal to {max_}."
    )


def one_of(*choices: str) -> Validator:
    return lambda value: (
        "" if value in choices else f"Must be one of: {', '.join(choices)}."
    )


def equal(other: Any) -> Validator:
    return lambda value: "" if value == other else f"Must be equal to {other}."


class Field:
    invalid = "Invalid value."

    def __init__(self, *validate: Validator, required: bool = False) -> None:
        self.validate = validate
        self.required = required

    def convert(self, value: Any) -> Any:
        raise NotImplementedError

    def deserialize(self, value: Any) -> Any:
        if value is _MISSING:
            if self.required:
                raise ValidationError(["Missing data for required field."])
            return _MISSING
        if value is None:
            raise ValidationError(["Field may not be null."])
        try:
            result = self.convert(value)
        except (TypeError, ValueError, AttributeError) as error:
            raise ValidationError([self.invalid]) from error
        except OverflowError as error:
            raise ValidationError(["Number too large."]) from error
        found = [message for check in self.validate if (message := check(result))]
        if found:
            raise ValidationError(found)
        return result


class Str(Field):
    invalid = "Not a valid string."

    def convert(self, value: Any) -> str:
        if not isinstance(value, str):
            raise TypeError
        return value


class Int(Field):
    invalid = "Not a valid integer."

    def convert(self, value: Any) -> int:
        if isinstance(value, bool):
            raise TypeError
        return int(value)


class Float(Field):
    invalid = "Not a valid number."

    def convert(self, value: Any) -> float:
        if isinstance(value, bool):
            raise TypeError
        return float(value)


class Bool(Field):
    invalid = "Not a valid boolean."

    def convert(self, value: Any) -> bool:
        if value in _TRUTHY:
            return True
        if value in _FALSY:
            return False
        raise ValueError


class Uuid(Field):
    invalid = "Not a valid UUID."

    def convert(self, value: Any) -> str:
        return str(uuid.UUID(value))


class Schema:
    def __init__(self, **fields: Field) -> None:
        self.fields = fields

    def load(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, Mapping):
            raise ValidationError({"_schema": ["Invalid input type."]})
        errors: dict[str, Any] = {}
        result: dict[str, Any] = {}
        for name, field in self.fields.items():
            try:
                value = field.deserialize(data.get(name, _MISSING))
            except ValidationError as error:
                errors[name] = error.messages
            else:
                if value is not _MISSING:
                    result[name] = value
        for name in data:
            if name not in self.fields:
                errors[name] = ["Unknown field."]
        if errors:
            raise ValidationError(errors)
        return result


class Nested(Field):
    def __init__(self, schema: Schema, *, required: bool = False) -> None:
        super().__init__(required=required)
        self.schema = schema

    def convert(self, value: Any) -> dict[str, Any]:
        return self.schema.load(value)


PAGE = Schema(limit=Int(in_range(1, 100)))
TAKE = Schema(
    claim_ref=Str(length(1, 32), required=True),
    turnaround=Nested(Schema(hours=Int(in_range(1, 72), required=True)), required=True),
)
SUMMARY = Schema(
    assignment_id=Uuid(required=True),
    summary=Nested(
        Schema(
            body=Str(length(1, 20000), required=True),
            format=Str(one_of("plain_text", "markdown"), required=True),
            confidence=Float(in_range(0, 1)),
        ),
        required=True,
    ),
)
SIGN_OFF = Schema(
    assignment_id=Uuid(required=True),
    sign_off=Nested(
        Schema(
            summary_no=Int(required=True),
            attested=Bool(equal(True), required=True),
        ),
        required=True,
    ),
)

CLAIMS: list[tuple[str, str, int, str]] = [
    ("CLM-24-00417", "motor", 12, "Rear-end collision at a red light on the A40; insured was stationary, both parties exchanged details, bumper and tailgate damaged."),
    ("CLM-24-00423", "household", 18, "Washing machine hose burst overnight and soaked the kitchen floor; the plumber's invoice and four photographs are on file."),
    ("CLM-24-00431", "travel", 9, "Flight cancelled for fog, the traveller paid for two hotel nights and seeks refund of both."),
    ("CLM-24-00438", "motor", 15, "Windscreen chipped by gravel from a lorry near junction 12, crack has since spread across the driver's view."),
    ("CLM-24-00440", "liability", 25, "A visitor slipped on a wet shop entrance, fractured her wrist, and says no warning sign stood there."),
    ("CLM-24-00452", "household", 20, "Burglary while the family was on holiday: two bicycles, a laptop and jewellery missing, police report attached."),
    ("CLM-24-00459", "pet", 8, "Spaniel swallowed a sock; emergency surgery and three days of care at the clinic."),
    ("CLM-24-00466", "marine", 30, "Small yacht dragged its anchor in a squall and struck a pontoon, gelcoat damage along the port side."),
    ("CLM-24-00471", "travel", 11, "Suitcase lost between Lisbon and Oslo, contents listed by the passenger, airline confirms the loss."),
    ("CLM-24-00480", "household", 16, "Hail broke nine panes of the greenhouse and dented the metal shed roof."),
]  # fmt: skip
NAMES = {
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
    409: "Conflict",
    415: "Unsupported Media Type",
}
MAX_OPEN = 3


class ClaimPool(Backend):
    """The summarising pool."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.claims: dict[str, dict[str, Any]] = {
            ref: {
                "claim_ref": ref,
                "line_of_business": line,
                "narrative": narrative,
                "fee": {"credits": fee, "payable": "on_sign_off"},
                "status": "unassigned",
                "received_on": f"2024-05-{number + 3:02}",
            }
            for number, (ref, line, fee, narrative) in enumerate(CLAIMS)
        }
        self.assignments: dict[str, dict[str, Any]] = {}
        self.next_summary = 5001

    def texts(self) -> dict[str, str]:
        return {ref: claim["narrative"] for ref, claim in self.claims.items()}

    def missing(self, request: Request) -> Response:
        return _http_error(
            404,
            "The requested URL was not found on the server. If you entered the URL "
            "manually please check your spelling and try again.",
        )

    def _view(
        self,
        request: Request,
        view: Callable[[Request, dict[str, Any]], Any],
        *,
        login: bool = True,
    ) -> Response:
        try:
            agent = self.agents.get(request.token, {})
            if login and not agent:
                raise HTTPError(
                    401,
                    "The access token is not valid."
                    if request.token
                    else "Missing Authorization header (Bearer token expected).",
                )
            return Response(200, _jsonify(view(request, agent)))
        except ValidationError as error:
            return Response(
                422,
                _jsonify({"message": "Input data invalid.", "errors": error.messages}),
            )
        except HTTPError as error:
            return _http_error(error.code, error.description)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(32)
        agent_id = str(uuid.uuid4())
        self.agents[token] = {"id": agent_id, "credits": 100}
        return Response(
            200, {"agent_id": agent_id, "access_token": token, "credits": 100}
        )

    def tasks(self, request: Request) -> Response:
        return self._view(request, self._list)

    def marketplace(self, request: Request) -> Response:
        return self._view(request, self._list, login=False)

    def claim(self, request: Request) -> Response:
        return self._view(request, self._take)

    def submit(self, request: Request) -> Response:
        return self._view(request, self._summarise)

    def complete(self, request: Request) -> Response:
        return self._view(request, self._sign_off)

    def _list(self, request: Request, agent: dict[str, Any]) -> Any:
        limit = PAGE.load(request.query).get("limit", 25)
        found = [c for c in self.claims.values() if c["status"] == "unassigned"]
        return {"claims": found[:limit], "total": len(found), "limit": limit}

    def _take(self, request: Request, agent: dict[str, Any]) -> Any:
        body = TAKE.load(_get_json(request))
        claim = self.claims.get(body["claim_ref"])
        if claim is None:
            raise HTTPError(404, f"No claim with reference {body['claim_ref']}.")
        if claim["status"] != "unassigned":
            raise HTTPError(409, "This claim is already assigned.")
        open_ = [
            a
            for a in self.assignments.values()
            if a["agent"] == agent["id"] and a["status"] != "signed_off"
        ]
        if len(open_) >= MAX_OPEN:
            raise HTTPError(
                409, f"You hold {MAX_OPEN} open assignments; sign one off first."
            )
        claim["status"] = "assigned"
        due = datetime.now(UTC) + timedelta(hours=body["turnaround"]["hours"])
        assignment = {
            "assignment_id": str(uuid.uuid4()),
            "claim_ref": claim["claim_ref"],
            "status": "assigned",
            "due_at": due.isoformat(timespec="seconds"),
            "agent": agent["id"],
            "summary_no": None,
            "work": "",
        }
        self.assignments[assignment["assignment_id"]] = assignment
        self.book.claimed(claim["claim_ref"])
        return {"assignment": _shown(assignment), "claim": claim}

    def _own(self, assignment_id: str, agent: dict[str, Any]) -> dict[str, Any]:
        assignment = self.assignments.get(assignment_id)
        if assignment is None or assignment["agent"] != agent["id"]:
            raise HTTPError(404, f"No assignment with id {assignment_id}.")
        if assignment["status"] == "signed_off":
            raise HTTPError(409, "This assignment is already signed off.")
        return assignment

    def _summarise(self, request: Request, agent: dict[str, Any]) -> Any:
        body = SUMMARY.load(_get_json(request))
        assignment = self._own(body["assignment_id"], agent)
        assignment["status"] = "summarised"
        assignment["summary_no"] = self.next_summary
        assignment["work"] = body["summary"]["body"]
        self.next_summary += 1
        return {"assignment": _shown(assignment)}

    def _sign_off(self, request: Request, agent: dict[str, Any]) -> Any:
        body = SIGN_OFF.load(_get_json(request))
        assignment = self._own(body["assignment_id"], agent)
        if assignment["status"] != "summarised":
            raise HTTPError(409, "Nothing to sign off: no summary was submitted.")
        if assignment["summary_no"] != body["sign_off"]["summary_no"]:
            raise HTTPError(
                409, "sign_off.summary_no is not the latest summary of the assignment."
            )
        claim = self.claims[assignment["claim_ref"]]
        if assignment["work"] != claim["narrative"].upper():
            assignment["status"] = "assigned"
            raise HTTPError(
                409, "The summary did not pass quality review; submit another."
            )
        assignment["status"] = claim["status"] = "signed_off"
        fee = claim["fee"]["credits"]
        agent["credits"] += fee
        self.book.pay(claim["claim_ref"], fee)
        return {
            "assignment": _shown(assignment),
            "payout": {"credits": fee, "balance": agent["credits"]},
        }


def _shown(assignment: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in assignment.items() if k not in {"agent", "work"}}


def _jsonify(value: Any) -> Any:
    return json.loads(json.dumps(value, sort_keys=True))


def _http_error(code: int, description: str) -> Response:
    headers = {"WWW-Authenticate": "Bearer"} if code == 401 else {}
    return Response(
        code,
        {"code": code, "name": NAMES[code], "description": description},
        headers,
    )


def _get_json(request: Request) -> Any:
    media = (request.headers.get("Content-Type") or "").split(";")[0].strip().lower()
    if media != "application/json" and not (
        media.startswith("application/") and media.endswith("+json")
    ):
        raise HTTPError(
            415,
            "Did not attempt to load JSON data because the request Content-Type was "
            "not 'application/json'.",
        )
    try:
        return json.loads(request.raw)
    except ValueError as error:
        raise HTTPError(
            400,
            "The browser (or proxy) sent a request that this server could not "
            "understand.",
        ) from error
