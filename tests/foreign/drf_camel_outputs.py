"""Django REST Framework with djangorestframework-camel-case and an exception handler of its own.

Lists DRF's {"count", "next", "previous", "results": [...]}: each with `slug` (the id), `serviceType`,
`customer`, `sourceText`, `requestedOutputs` ([{"name": "capitals", "mimeType"}]), `fee` ("12.00"),
`feeUnit`, `stage` ("published").
claim     {"workOrder": slug}; 201 {"id": uuid, "workOrder", "stage", "dueAt"}
submit    {"reservation": uuid, "outputs": [{"name": "capitals", "text": str}]};
          201 {"id": 4107, "reservation", "stage"}; the names must be those that were requested.
complete  {"submission": 4107}, the number of the submission, and nothing else; pays.
The parser turns camelCase into snake_case, so both are read; unknown fields are ignored. Errors
are {"statusCode", "kind", "errors": [{"field", "code", "message"}]} with DRF's own texts; `field` is
a dotted path ("outputs.0.text") and, being a value and no key, stays in snake_case.
Wrong work is 422 (`output_rejected`), conflicts are 409 (`conflict`).
"""

import re
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ORDERS = {
    "harbour-notice": "all boats must leave the inner harbour before the storm arrives",
    "museum-label": "this clay jar was found under the floor of a farmhouse",
    "garden-sign": "visitors are kindly asked to keep to the gravel paths",
    "theatre-poster": "the winter tale returns to our small stage in december",
    "honey-jar": "pure linden honey from the hills above the quiet lake",
    "trail-marker": "the upper hut is two hours from here on foot",
}
SPACE = uuid.UUID("0d8e3c0a-77a5-4d2e-8a45-6f6e2b1f9c10")
REQUIRED = ("required", "This field is required.")
NULL = ("null", "This field may not be null.")
Found = list[tuple[str, str, str]]


def underscoreize(value: Any) -> Any:
    """Return a body as CamelCaseJSONParser hands it on."""
    if isinstance(value, dict):
        humps = re.compile(r"(?<=[a-z0-9])([A-Z])")
        return {
            humps.sub(r"_\1", key).lower(): underscoreize(inner)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [underscoreize(inner) for inner in value]
    return value


def kind_of(value: Any) -> str:
    return "NoneType" if value is None else type(value).__name__


def handled(status: int, kind: str, found: list[tuple[Any, str, str]]) -> Response:
    """Return what the project's exception handler makes of an exception."""
    errors = [{"field": at, "code": code, "message": text} for at, code, text in found]
    return Response(status, {"statusCode": status, "kind": kind, "errors": errors})


def raised(status: int, code: str, text: str) -> Response:
    """Return an APIException."""
    return handled(status, "api_error", [(None, code, text)])


def invalid(found: Found) -> Response:
    return handled(400, "validation_error", list(found))


def char(given: dict[str, Any], name: str, path: str) -> Found:
    """Validate a CharField."""
    if name not in given:
        return [(path, *REQUIRED)]
    value = given[name]
    if value is None:
        return [(path, *NULL)]
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return [(path, "invalid", "Not a valid string.")]
    if not str(value).strip():
        return [(path, "blank", "This field may not be blank.")]
    return []


class Django(Backend):
    """Work orders, reservations and submissions."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}  # by token
        self.orders: dict[str, dict[str, Any]] = {}
        self.reservations: dict[str, dict[str, Any]] = {}
        self.submissions: dict[int, dict[str, Any]] = {}
        for number, (slug, text) in enumerate(ORDERS.items()):
            self.orders[slug] = {
                "slug": slug,
                "serviceType": "uppercase",
                "customer": {"name": "Kestrel Signs", "country": "DK"},
                "instructions": "Write the source text in upper case.",
                "sourceText": text,
                "requestedOutputs": [{"name": "capitals", "mimeType": "text/plain"}],
                "fee": f"{7 + 2 * number}.00",
                "feeUnit": "credits",
                "stage": "published",
                "publishedAt": f"2025-11-2{number}T07:30:0{number}.402113Z",
            }

    def missing(self, request: Request) -> Response:
        return raised(404, "not_found", "Not found.")

    def texts(self) -> dict[str, str]:
        return {slug: order["sourceText"] for slug, order in self.orders.items()}

    def register(self, request: Request) -> Response:
        # This view has the plain JSONRenderer: the contract says agent_id.
        self.book.registrations += 1
        agent = {"agent_id": str(uuid.uuid4()), "credits": 100}
        token = uuid.uuid4().hex + uuid.uuid4().hex[:8]
        self.agents[token] = agent
        return Response(201, {**agent, "access_token": token})

    def marketplace(self, request: Request) -> Response:
        return self.tasks(request)

    def tasks(self, request: Request) -> Response:
        """LimitOffsetPagination: a limit that is wrong is the default."""
        numbers = {}
        for name, default in (("limit", 20), ("offset", 0)):
            given = request.query.get(name, "")
            numbers[name] = int(given) if re.fullmatch(r"\d{1,6}", given) else default
        limit, offset = min(numbers["limit"] or 20, 100), numbers["offset"]
        found = [row for row in self.orders.values() if row["stage"] == "published"]
        url, after = f"{request.base}{request.path}?limit={limit}", offset + limit
        links = {
            "next": f"{url}&offset={after}" if after < len(found) else None,
            "previous": url if offset else None,
        }
        rows = found[offset:after]
        return Response(200, {"count": len(found), **links, "results": rows})

    def data(self, request: Request) -> dict[str, Any] | Response:
        """Return request.data, of an agent that is known."""
        if request.token not in self.agents:
            text = "Authentication credentials were not provided."
            if not request.token:
                return raised(401, "not_authenticated", text)
            return raised(401, "authentication_failed", "Invalid token.")
        if not request.raw:
            return {}
        media = request.headers.get("Content-Type") or ""
        if media.partition(";")[0].strip().lower() != "application/json":
            text = f'Unsupported media type "{media}" in request.'
            return raised(415, "unsupported_media_type", text)
        try:
            given = request.json()
        except ValueError as problem:
            return raised(400, "parse_error", f"JSON parse error - {problem}")
        if given is None:
            return invalid([("non_field_errors", "null", "No data provided")])
        if not isinstance(given, dict):
            kind = kind_of(given)
            text = f"Invalid data. Expected a dictionary, but got {kind}."
            return invalid([("non_field_errors", "invalid", text)])
        return underscoreize(given)  # type: ignore[no-any-return]

    # Fields

    @staticmethod
    def related(given: dict[str, Any], name: str) -> Found:
        """Return what every related field says first."""
        if name not in given:
            return [(name, *REQUIRED)]
        return [(name, *NULL)] if given[name] in (None, "") else []

    def order(self, given: dict[str, Any]) -> Found:
        """Validate `work_order`, a SlugRelatedField."""
        found, value = self.related(given, "work_order"), given.get("work_order")
        if found:
            return found
        if isinstance(value, dict | list):
            return [("work_order", "invalid", "Invalid value.")]
        text = f"Object with slug={value} does not exist."
        return [] if value in self.orders else [("work_order", "does_not_exist", text)]

    def reservation(self, given: dict[str, Any], agent: str) -> Found:
        """Validate `reservation`, a PrimaryKeyRelatedField on a UUID."""
        found, value = self.related(given, "reservation"), given.get("reservation")
        if found:
            return found
        try:
            key = str(uuid.UUID(str(value)))
        except ValueError:
            text = f"\u201c{value}\u201d is not a valid UUID."
            return [("reservation", "invalid", text)]
        text = f'Invalid pk "{value}" - object does not exist.'
        known = self.reservations.get(key, {}).get("agent") == agent
        return [] if known else [("reservation", "does_not_exist", text)]

    def submission(self, given: dict[str, Any], agent: str) -> Found:
        """Validate `submission`, a PrimaryKeyRelatedField on a number."""
        found, value = self.related(given, "submission"), given.get("submission")
        if found:
            return found
        if not re.fullmatch(r"-?\d+", str(value)):
            text = f"Incorrect type. Expected pk value, received {kind_of(value)}."
            return [("submission", "incorrect_type", text)]
        text = f'Invalid pk "{value}" - object does not exist.'
        known = self.submissions.get(int(value), {}).get("agent") == agent  # type: ignore[arg-type]
        return [] if known else [("submission", "does_not_exist", text)]

    @staticmethod
    def outputs(given: dict[str, Any]) -> Found:
        """Validate `outputs`, a serializer with many=True and allow_empty=False."""
        if "outputs" not in given:
            return [("outputs", *REQUIRED)]
        rows = given["outputs"]
        if rows is None:
            return [("outputs", *NULL)]
        if not isinstance(rows, list):
            text = f'Expected a list of items but got type "{kind_of(rows)}".'
            return [("outputs.non_field_errors", "not_a_list", text)]
        if not rows:
            return [
                ("outputs.non_field_errors", "empty", "This list may not be empty.")
            ]
        found: Found = []
        for index, row in enumerate(rows):
            path = f"outputs.{index}"
            if isinstance(row, dict):
                found += char(row, "name", f"{path}.name")
                found += char(row, "text", f"{path}.text")
            else:
                kind = kind_of(row)
                text = f"Invalid data. Expected a dictionary, but got {kind}."
                found.append((f"{path}.non_field_errors", "invalid", text))
        return found

    # Actions

    def claim(self, request: Request) -> Response:
        given = self.data(request)
        if isinstance(given, Response):
            return given
        found = self.order(given)
        if found:
            return invalid(found)
        order = self.orders[given["work_order"]]
        agent = self.agents[request.token]["agent_id"]
        key = str(uuid.uuid5(SPACE, order["slug"] + agent))
        if key not in self.reservations:
            if order["stage"] != "published":
                return raised(409, "conflict", "This work order is already reserved.")
            self.reservations[key] = {"agent": agent, "order": order}
            order["stage"] = "reserved"
            self.book.claimed(order["slug"])
        shown = {"id": key, "workOrder": order["slug"], "stage": order["stage"]}
        return Response(201, {**shown, "dueAt": "2031-01-31T18:00:00Z"})

    def submit(self, request: Request) -> Response:
        given = self.data(request)
        if isinstance(given, Response):
            return given
        agent = self.agents[request.token]["agent_id"]
        found = self.reservation(given, agent) + self.outputs(given)
        if found:
            return invalid(found)
        key = str(uuid.UUID(str(given["reservation"])))
        order = self.reservations[key]["order"]
        names = [str(row["name"]).strip() for row in given["outputs"]]
        wanted = [row["name"] for row in order["requestedOutputs"]]
        lacking = [name for name in wanted if name not in names]
        extra = [name for name in names if name not in wanted]
        if lacking:
            text = f"Missing requested outputs: {', '.join(lacking)}."
            return invalid([("non_field_errors", "invalid", text)])
        if extra or len(names) > len(wanted):
            text = f"Unexpected outputs: {', '.join(extra or names)}."
            return invalid([("non_field_errors", "invalid", text)])
        if order["stage"] != "reserved":
            return raised(409, "conflict", "Outputs were already submitted.")
        if str(given["outputs"][0]["text"]).strip() != order["sourceText"].upper():
            text = 'Output "capitals" is not the source text in upper case.'
            return raised(422, "output_rejected", text)
        number = 4107 + 3 * len(self.submissions)
        self.submissions[number] = {"agent": agent, "order": order}
        order["stage"] = "in_review"
        return Response(201, {"id": number, "reservation": key, "stage": "in_review"})

    def complete(self, request: Request) -> Response:
        given = self.data(request)
        if isinstance(given, Response):
            return given
        agent = self.agents[request.token]
        found = self.submission(given, agent["agent_id"])
        if found:
            return invalid(found)
        number = int(given["submission"])
        order = self.submissions[number]["order"]
        if order["stage"] == "in_review":
            order["stage"], fee = "closed", int(float(order["fee"]))
            agent["credits"] += fee
            self.book.pay(order["slug"], fee)
        shown = {"submission": number, "workOrder": order["slug"], "stage": "closed"}
        money = {"feePaid": order["fee"], "creditBalance": f"{agent['credits']}.00"}
        return Response(200, {**shown, **money})
