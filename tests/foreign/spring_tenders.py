"""Spring Boot 3: ProblemDetail (RFC 9457), Bean Validation, Spring Data pages.

The job market: small public tenders of a county council, awarded on first acceptance.

Listing (PagedModel): `{"content": [...], "page": {"size", "number", "totalElements",
"totalPages"}}`; a tender has `tenderId`, `title`, `contractingAuthority`, `specification`,
`sourceDocument: {language, text}`, `contractValue`, `terms`, `status`, `publishedOn`.
Claim wants `{"tenderId": 1, "termsAccepted": true}` and answers the contract: `contractId`,
`tenderId`, `status`, `deliverables: [{position, description, content}]`.
Submit wants `{"contractId": 1, "deliverables": [{"position": 1, "content": "..."}]}` and
answers the contract, `ACCEPTED`, with a `purchaseOrder`. Complete wants `{"contractId": 1,
"purchaseOrder": "PO-..."}`, pays, and answers it `SETTLED`; again is a 409.
Errors: application/problem+json; a failed validation adds `errors: [{field, message}]`; a
body that Jackson cannot read is `Failed to read request`; 401 has no body at all. Unknown
properties are ignored and scalars coerced, as Jackson's defaults in Boot have it.
"""

import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TENDERS = [
    ("Footpath notice", "Footpath closed while the bridge is being repaired", 31),
    ("Library poster", "The reading room opens late on Thursdays in winter", 35),
    ("Recycling bin lid", "Glass and tins only", 22),
    ("Ferry slipway board", "No mooring between the yellow posts at low water", 38),
    ("Playground sign", "Dogs must stay outside the fence", 27),
    ("Market square notice", "Stall holders must leave the square by five o'clock", 40),
    ("Car park plate", "Pay at the machine before you return to your car", 33),
    ("Cemetery gate", "The gates are locked at dusk every day of the year", 36),
    ("Swimming lake board", "Cold deep water beyond this point", 18),
]
TITLES = {
    400: "Bad Request",
    404: "Not Found",
    409: "Conflict",
    422: "Unprocessable Entity",
}


class _UnreadableError(Exception):
    """An HttpMessageNotReadableException."""


def _long(value: Any) -> int | None:
    """Read a java.lang.Long as Jackson does."""
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise _UnreadableError
    try:
        return int(value)
    except (ValueError, OverflowError):
        raise _UnreadableError from None


def _boolean(value: Any) -> bool | None:
    """Read a java.lang.Boolean as Jackson does."""
    if value is None or value == "":
        return None
    if isinstance(value, bool | int):
        return bool(value)
    if value in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return str(value).lower() == "true"
    raise _UnreadableError


def _string(value: Any) -> str | None:
    """Read a java.lang.String as Jackson does."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    raise _UnreadableError


class Spring(Backend):
    """A @RestController, a @RestControllerAdvice and a JPA repository."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.contracts: dict[int, dict[str, Any]] = {}
        self.tenders: dict[int, dict[str, Any]] = {
            number: {
                "tenderId": number,
                "title": title,
                "contractingAuthority": "County Council, Signs and Notices",
                "specification": "Signs of the county are lettered in capitals. Supply "
                "the text of the source document in upper case, complete and unaltered.",
                "sourceDocument": {"language": "en", "text": text},
                "contractValue": value,
                "terms": "Awarded to the first agent that accepts these terms. The value "
                "is paid in credits once the deliverable is accepted.",
                "status": "PUBLISHED",
                "publishedOn": time.strftime("%Y-%m-%d"),
            }
            for number, (title, text, value) in enumerate(TENDERS, 20871)
        }

    def texts(self) -> dict[str, str]:
        """Return the source document of every tender by its id."""
        return {
            str(number): tender["sourceDocument"]["text"]
            for number, tender in self.tenders.items()
        }

    @staticmethod
    def _problem(
        request: Request, status: int, detail: str, errors: Any = None
    ) -> Response:
        body = {
            "type": "about:blank",
            "title": TITLES[status],
            "status": status,
            "detail": detail,
            "instance": request.path,
        }
        if errors:
            body["errors"] = errors
        return Response(status, body, {"Content-Type": "application/problem+json"})

    def missing(self, request: Request) -> Response:
        """Answer as NoResourceFoundException is rendered."""
        return self._problem(
            request, 404, f"No static resource {request.path.removeprefix('/')}."
        )

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        token = secrets.token_urlsafe(36)
        key = f"AGT-{10_000 + len(self.agents)}"
        self.agents[token] = {"id": key, "credits": 100}
        shown = {"agent_id": key, "access_token": token, "credits": 100}
        return Response(200, {**shown, "status": "ACTIVE"})

    def tasks(self, request: Request) -> Response:
        """List a page of the published tenders."""
        numbers = {"limit": 20, "page": 0}
        for name in numbers:
            given = request.query.get(name)
            if given is None:
                continue
            if not given.isdecimal():
                return self._problem(
                    request, 400, f"Failed to convert '{name}' with value: '{given}'"
                )
            numbers[name] = int(given)
        size, page = min(numbers["limit"], 100) or 20, numbers["page"]
        found = [t for t in self.tenders.values() if t["status"] == "PUBLISHED"]
        info = {"size": size, "number": page, "totalElements": len(found)}
        info["totalPages"] = -(-len(found) // size)
        shown = found[page * size : (page + 1) * size]
        return Response(200, {"content": shown, "page": info})

    marketplace = tasks

    def _begin(
        self, request: Request
    ) -> Response | tuple[dict[str, Any], dict[str, Any]]:
        agent = self.agents.get(request.token)
        if agent is None:
            challenge = "Bearer"
            if request.token:
                challenge += ' error="invalid_token"'
            return Response(401, b"", {"WWW-Authenticate": challenge})
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return self._problem(request, 400, "Failed to read request")
        return agent, body

    def _invalid(self, request: Request, errors: list[tuple[str, str]]) -> Response:
        shown = [{"field": field, "message": message} for field, message in errors]
        return self._problem(request, 400, "Invalid request content.", shown)

    def claim(self, request: Request) -> Response:
        """Award a tender."""
        begun = self._begin(request)
        if isinstance(begun, Response):
            return begun
        agent, body = begun
        try:
            number = _long(body.get("tenderId"))
            accepted = _boolean(body.get("termsAccepted"))
        except _UnreadableError:
            return self._problem(request, 400, "Failed to read request")
        errors = [] if number is not None else [("tenderId", "must not be null")]
        if not accepted:
            wanted = "must not be null" if accepted is None else "must be true"
            errors.append(("termsAccepted", wanted))
        if errors or number is None:
            return self._invalid(request, errors)
        tender = self.tenders.get(number)
        if tender is None:
            return self._problem(request, 404, f"Tender {number} does not exist")
        if tender["status"] != "PUBLISHED":
            return self._problem(
                request, 409, f"Tender {number} has already been awarded"
            )
        contract = {
            "contractId": 550_100 + len(self.contracts),
            "tenderId": number,
            "contractor": agent["id"],
            "status": "AWARDED",
            "value": tender["contractValue"],
            "deliverables": [
                {"position": 1, "description": "Text for the sign", "content": None}
            ],
            "purchaseOrder": None,
        }
        self.contracts[contract["contractId"]] = contract
        tender["status"] = "AWARDED"
        self.book.claimed(str(number))
        return Response(200, contract)

    def _own(
        self, request: Request, agent: dict[str, Any], number: int
    ) -> Response | dict[str, Any]:
        contract = self.contracts.get(number)
        if contract is None or contract["contractor"] != agent["id"]:
            return self._problem(request, 404, f"Contract {number} does not exist")
        return contract

    def submit(self, request: Request) -> Response:  # noqa: PLR0915 - as it grew
        """Accept the deliverables of a contract."""
        begun = self._begin(request)
        if isinstance(begun, Response):
            return begun
        agent, body = begun
        errors: list[tuple[str, str]] = []
        lines: list[tuple[int | None, str | None]] = []
        try:
            number = _long(body.get("contractId"))
            given = body.get("deliverables")
            if given is not None and not isinstance(given, list):
                raise _UnreadableError
            for line in given or []:
                if not isinstance(line, dict):
                    raise _UnreadableError
                lines.append(
                    (_long(line.get("position")), _string(line.get("content")))
                )
        except _UnreadableError:
            return self._problem(request, 400, "Failed to read request")
        if number is None:
            errors.append(("contractId", "must not be null"))
        if not lines:
            errors.append(("deliverables", "must not be empty"))
        for index, (position, content) in enumerate(lines):
            if position is None:
                errors.append((f"deliverables[{index}].position", "must not be null"))
            if content is None or not content.strip():
                errors.append((f"deliverables[{index}].content", "must not be blank"))
        if errors or number is None:
            return self._invalid(request, errors)
        contract = self._own(request, agent, number)
        if isinstance(contract, Response):
            return contract
        if contract["status"] != "AWARDED":
            return self._problem(
                request, 409, f"Contract {number} is already {contract['status']}"
            )
        if [position for position, _ in lines] != [1]:
            return self._problem(
                request, 422, f"Contract {number} calls for exactly position 1"
            )
        wanted = self.tenders[contract["tenderId"]]["sourceDocument"]["text"].upper()
        if lines[0][1] != wanted:
            return self._problem(
                request, 422, "Position 1 is not the source document in upper case"
            )
        contract["deliverables"][0]["content"] = wanted
        contract["status"] = "ACCEPTED"
        contract["purchaseOrder"] = f"PO-{secrets.randbelow(900_000) + 100_000}"
        return Response(200, contract)

    def complete(self, request: Request) -> Response:
        """Settle an accepted contract."""
        begun = self._begin(request)
        if isinstance(begun, Response):
            return begun
        agent, body = begun
        try:
            number = _long(body.get("contractId"))
            order = _string(body.get("purchaseOrder"))
        except _UnreadableError:
            return self._problem(request, 400, "Failed to read request")
        errors = [] if number is not None else [("contractId", "must not be null")]
        if order is None or not order.strip():
            errors.append(("purchaseOrder", "must not be blank"))
        if errors or number is None:
            return self._invalid(request, errors)
        contract = self._own(request, agent, number)
        if isinstance(contract, Response):
            return contract
        if contract["status"] != "ACCEPTED":
            now = contract["status"]
            return self._problem(request, 409, f"Contract {number} is {now}")
        if order != contract["purchaseOrder"]:
            return self._problem(
                request, 422, f"Purchase order {order} is not that of contract {number}"
            )
        contract["status"] = self.tenders[contract["tenderId"]]["status"] = "SETTLED"
        agent["credits"] += contract["value"]
        self.book.pay(str(contract["tenderId"]), contract["value"])
        return Response(200, {**contract, "accountBalance": agent["credits"]})
