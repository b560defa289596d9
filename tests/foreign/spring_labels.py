"""Spring Boot, a @RestControllerAdvice, Jackson with FAIL_ON_UNKNOWN_PROPERTIES; labels.

A logistics company has the text of its freight labels set in capitals by contractors.

Listing: a Spring Data page (`content`, `pageable`, `totalElements`, ...); a job has
`jobNumber` ("LBL-004417"), `jobType` ("CAPITALISE"), `labelText`, `remark`, `feeCredits`
and `jobStatus`.
Claim: `{"jobNumber"}` -> `{"jobNumber", "jobStatus": "ASSIGNED", "assignmentToken",
"assignedAt"}`; again by the same agent: the same.
Submit: `{"jobNumber", "assignmentToken", "outcome": "DONE", "labelText"}` (outcome is an enum:
DONE or ILLEGIBLE, which gives the job back) -> `{"jobNumber", "jobStatus": "SETTLED",
"settlement": {"credits", "balance", "settledAt"}}`: a right label is paid at once.
Complete: `{"jobNumber"}` -> the same settlement again, or 409 if there is none yet.
Errors: `{"timestamp", "status", "errorCode", "message", "path", "violations": [{"property",
"message", "rejectedValue"}]}`; unknown properties and wrong types are 400 with Jackson's own
sentence in `message`. Scalars are coerced to strings, as Jackson does.
"""

import secrets
import time
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

JOBS: dict[str, tuple[str, int, str]] = {
    "LBL-004417": ("this side up, do not tip the crate", 10, "Pallet 3, wood"),
    "LBL-004418": ("keep frozen at minus eighteen degrees", 13, "Reefer container"),
    "LBL-004421": ("fragile: hand blown glass from murano", 12, "Box of 24"),
    "LBL-004425": ("empty drums to be returned to antwerp", 8, "Rail wagon"),
    "LBL-004430": ("max. four layers, no fork lift from the rear", 15, "Stacked sacks"),
    "LBL-004431": ("live bees, load last and unload first", 9, "Ventilated van"),
    "LBL-004436": ("deliver to gate 12 before noon", 7, "Express"),
    "LBL-004440": ("contains lithium batteries, see sheet 3", 14, "Air freight"),
    "LBL-004444": ("store dry and away from direct light", 11, "Paper rolls"),
    "LBL-004452": ("customs seal must not be broken here", 6, "Transit"),
}
OUTCOMES = ["DONE", "ILLEGIBLE"]
PACKAGE = "com.freightdesk.labels.api.dto."
REQUESTS = {
    "ClaimJobRequest": ["jobNumber"],
    "SubmitLabelRequest": ["jobNumber", "assignmentToken", "outcome", "labelText"],
    "CompleteJobRequest": ["jobNumber"],
}


class ApiError(Exception):
    """What the controller advice renders."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        violations: list[dict[str, Any]] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.violations = status, code, violations or []


class SpringLabels(Backend):
    """The label desk."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, str] = {}
        self.balances: dict[str, int] = {}
        self.assigned: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the text of every label."""
        return {number: text for number, (text, _, _) in JOBS.items()}

    def _now(self) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%S.000+00:00", time.gmtime())

    def _advice(self, request: Request, error: ApiError) -> Response:
        return Response(
            error.status,
            {
                "timestamp": self._now(),
                "status": error.status,
                "errorCode": error.code,
                "message": str(error),
                "path": request.path,
                "violations": error.violations,
            },
        )

    def missing(self, request: Request) -> Response:
        """NoHandlerFoundException."""
        return self._advice(
            request,
            ApiError(
                404,
                "NO_HANDLER",
                f"No handler found for {request.method} {request.path}",
            ),
        )

    def _principal(self, request: Request) -> str:
        agent = self.agents.get(request.token)
        if agent is None:
            raise ApiError(
                401,
                "UNAUTHORIZED",
                "Full authentication is required to access this resource",
            )
        return agent

    def _read(  # noqa: PLR0915 - as it grew
        self, request: Request, dto: str
    ) -> dict[str, Any]:
        """@Valid @RequestBody: Jackson, then Bean Validation."""
        kind = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
        if kind != "application/json":
            raise ApiError(
                415, "UNSUPPORTED_MEDIA_TYPE", f"Content-Type '{kind}' is not supported"
            )
        known = REQUESTS[dto]
        if not request.raw:
            raise ApiError(400, "MALFORMED_REQUEST", "Required request body is missing")
        try:
            body = request.json()
        except ValueError:
            raise ApiError(
                400,
                "MALFORMED_REQUEST",
                "JSON parse error: Unexpected character; expected a valid value",
            ) from None
        if not isinstance(body, dict):
            token = (
                "Array value (token `JsonToken.START_ARRAY`)"
                if isinstance(body, list)
                else "String value"
                if isinstance(body, str)
                else "value"
            )
            raise ApiError(
                400,
                "MALFORMED_REQUEST",
                "JSON parse error: Cannot deserialize "
                f"value of type `{PACKAGE}{dto}` from {token}",
            )
        for name, value in body.items():
            if name not in known:
                listed = ", ".join(f'"{each}"' for each in known)
                noun = "property" if len(known) == 1 else "properties"
                amount = "one" if len(known) == 1 else str(len(known))
                raise ApiError(
                    400,
                    "UNKNOWN_PROPERTY",
                    f'JSON parse error: Unrecognized field "{name}" (class {PACKAGE}{dto}), '
                    f"not marked as ignorable ({amount} known {noun}: {listed})",
                )
            if isinstance(value, (dict, list)):
                token = "Object" if isinstance(value, dict) else "Array"
                raise ApiError(
                    400,
                    "MALFORMED_REQUEST",
                    "JSON parse error: Cannot deserialize value of "
                    f"type `java.lang.String` from {token} value (token `JsonToken.START_"
                    f'{token.upper()}`) (through reference chain: {PACKAGE}{dto}["{name}"])',
                )
            if name == "outcome" and value is not None and value not in OUTCOMES:
                raise ApiError(
                    400,
                    "MALFORMED_REQUEST",
                    "JSON parse error: Cannot deserialize value of "
                    f'type `{PACKAGE}Outcome` from String "{value}": not one of the values '
                    f"accepted for Enum class: [{', '.join(OUTCOMES)}]",
                )
        violations = []
        for name in known:
            value = body.get(name)
            if name == "labelText" and body.get("outcome") == "ILLEGIBLE":
                continue
            if name == "outcome" and value is None:
                violations.append(
                    {
                        "property": name,
                        "message": "must not be null",
                        "rejectedValue": None,
                    }
                )
            elif value is None or not str(value).strip():
                violations.append(
                    {
                        "property": name,
                        "message": "must not be blank",
                        "rejectedValue": value,
                    }
                )
        if violations:
            raise ApiError(
                400,
                "VALIDATION_FAILED",
                "Validation failed for request "
                f"'{dto}' with {len(violations)} error(s)",
                violations,
            )
        return {name: str(value) for name, value in body.items() if value is not None}

    def register(self, request: Request) -> Response:
        """@PostMapping, permitAll."""
        self.book.registrations += 1
        agent, token = f"AGT-{uuid.uuid4().hex[:10].upper()}", secrets.token_urlsafe(30)
        self.agents[token], self.balances[agent] = agent, 100
        return Response(
            200,
            {
                "agent_id": agent,
                "access_token": token,
                "credits": 100,
                "role": "CONTRACTOR",
            },
        )

    def _job(self, number: str) -> dict[str, Any]:
        text, fee, remark = JOBS[number]
        state = self.assigned.get(number, {}).get("state", "OPEN")
        return {
            "jobNumber": number,
            "jobType": "CAPITALISE",
            "instruction": "Set the label text in upper case.",
            "labelText": text,
            "remark": remark,
            "feeCredits": fee,
            "jobStatus": state,
        }

    def marketplace(self, request: Request) -> Response:
        """Page<JobDto>."""
        rows = [row for row in map(self._job, JOBS) if row["jobStatus"] == "OPEN"]
        limit = request.query.get("limit", "20")
        if not limit.isdecimal() or limit == "0":
            return self._advice(
                request,
                ApiError(
                    400,
                    "TYPE_MISMATCH",
                    "Parameter 'limit' must be a positive int",
                    [
                        {
                            "property": "limit",
                            "message": "must be a positive int",
                            "rejectedValue": limit,
                        }
                    ],
                ),
            )
        size = int(limit)
        shown = rows[:size]
        return Response(
            200,
            {
                "content": shown,
                "pageable": {
                    "pageNumber": 0,
                    "pageSize": size,
                    "offset": 0,
                    "paged": True,
                },
                "totalElements": len(rows),
                "totalPages": -(-len(rows) // size),
                "last": len(rows) <= size,
                "first": True,
                "size": size,
                "number": 0,
                "numberOfElements": len(shown),
                "empty": not shown,
            },
        )

    tasks = marketplace

    def claim(self, request: Request) -> Response:
        """Assign a job."""
        try:
            agent = self._principal(request)
            number = self._read(request, "ClaimJobRequest")["jobNumber"]
            if number not in JOBS:
                raise ApiError(404, "JOB_NOT_FOUND", f"No job with jobNumber {number}")
            row = self.assigned.get(number)
            if row is None:
                row = {
                    "agent": agent,
                    "state": "ASSIGNED",
                    "at": self._now(),
                    "token": str(uuid.uuid4()),
                }
                self.assigned[number] = row
                self.book.claimed(number)
            elif row["agent"] != agent:
                raise ApiError(
                    409,
                    "JOB_ALREADY_ASSIGNED",
                    f"Job {number} is assigned to another contractor",
                )
            return Response(
                200,
                {
                    "jobNumber": number,
                    "jobStatus": row["state"],
                    "assignmentToken": row["token"],
                    "assignedAt": row["at"],
                },
            )
        except ApiError as error:
            return self._advice(request, error)

    def _mine(self, agent: str, number: str) -> dict[str, Any]:
        if number not in JOBS:
            raise ApiError(404, "JOB_NOT_FOUND", f"No job with jobNumber {number}")
        row = self.assigned.get(number)
        if row is None or row["agent"] != agent:
            raise ApiError(
                403, "NOT_ASSIGNED_TO_YOU", f"Job {number} is not assigned to you"
            )
        return row

    def _settled(self, number: str, row: dict[str, Any]) -> Response:
        return Response(
            200,
            {
                "jobNumber": number,
                "jobStatus": row["state"],
                "settlement": row["settlement"],
            },
        )

    def submit(self, request: Request) -> Response:
        """Take a label; a right one is paid."""
        try:
            agent = self._principal(request)
            body = self._read(request, "SubmitLabelRequest")
            number = body["jobNumber"]
            row = self._mine(agent, number)
            if body["assignmentToken"] != row["token"]:
                raise ApiError(
                    403,
                    "ASSIGNMENT_TOKEN_MISMATCH",
                    "assignmentToken is not "
                    "the one that was issued when the job was assigned",
                )
            if row["state"] == "SETTLED":
                return self._settled(number, row)
            if body["outcome"] == "ILLEGIBLE":
                del self.assigned[number]
                self.book.held.discard(number)
                return Response(
                    200, {"jobNumber": number, "jobStatus": "OPEN", "settlement": None}
                )
            text, fee, _ = JOBS[number]
            if body["labelText"] != text.upper():
                raise ApiError(
                    422,
                    "LABEL_INCORRECT",
                    "The label text is not the job's text in upper case",
                    [
                        {
                            "property": "labelText",
                            "message": "incorrect",
                            "rejectedValue": body["labelText"],
                        }
                    ],
                )
            self.balances[agent] += fee
            row["state"] = "SETTLED"
            row["settlement"] = {
                "credits": fee,
                "balance": self.balances[agent],
                "settledAt": self._now(),
            }
            self.book.pay(number, fee)
            return self._settled(number, row)
        except ApiError as error:
            return self._advice(request, error)

    def complete(self, request: Request) -> Response:
        """Show the settlement of a job."""
        try:
            agent = self._principal(request)
            number = self._read(request, "CompleteJobRequest")["jobNumber"]
            row = self._mine(agent, number)
            if row["state"] != "SETTLED":
                raise ApiError(
                    409, "LABEL_OUTSTANDING", f"No label was submitted for job {number}"
                )
            return self._settled(number, row)
        except ApiError as error:
            return self._advice(request, error)
