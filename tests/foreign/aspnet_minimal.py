"""ASP.NET 9 minimal API: FluentValidation, problem details, Guids, row versions."""

import json
import re
from base64 import b64encode
from typing import Any
from uuid import UUID, uuid5

from tests.foreign.backend import Backend, Request, Response

VALUES = [
    "invoice overdue",
    "paid in full",
    "second reminder",
    "credit note no. 7",
    "void after 90 days",
    "for deposit only",
    "copy - not for payment",
    "net 30 days",
    "remittance advice",
    "approved by accounting",
]
SPACE = UUID("6f1d3c2a-9b4e-4d57-8a10-2c7be0f4d913")
EMPTY = UUID(int=0)
RFC = "https://tools.ietf.org/html/rfc9110#section-15.5."
KINDS = {
    400: ("1", "Bad Request"),
    401: ("2", "Unauthorized"),
    403: ("4", "Forbidden"),
    404: ("5", "Not Found"),
    409: ("10", "Conflict"),
    415: ("16", "Unsupported Media Type"),
    422: ("21", "Unprocessable Entity"),
}
MEDIA_TYPES = ("text/plain", "application/json")


class ProblemError(Exception):
    def __init__(self, status: int, detail: str = "", **members: Any) -> None:
        section, title = KINDS[status]
        self.status = status
        self.body = {"type": RFC + section, "title": title, "status": status}
        if detail:
            self.body["detail"] = detail
        self.body |= members


def member(body: Any, name: str) -> Any:
    """JsonSerializerDefaults.Web: the case of property names does not matter."""
    found = [value for key, value in body.items() if key.lower() == name.lower()]
    return found[-1] if found else None


class Network(Backend):
    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.rows: dict[UUID, dict[str, Any]] = {}
        self.leases: dict[UUID, dict[str, Any]] = {}
        self.versions, self.traces = 2000, 0
        values = iter(VALUES)
        for number in range(len(VALUES) + 3):
            status = {2: "Completed", 6: "Leased", 9: "Cancelled"}.get(number, "Open")
            id_ = uuid5(SPACE, f"task{number}")
            self.rows[id_] = {
                "id": str(id_),
                "displayName": f"Stamp {number + 1}",
                "operation": "ToUpperCase",
                "description": "Produce the input value in CAPITALS for a rubber stamp.",
                "input": {
                    "value": next(values) if status == "Open" else "received",
                    "mediaType": "text/plain",
                },
                "rewardCredits": 10 + number % 3,
                "status": status,
                "createdAtUtc": f"2025-02-{number + 1:02d}T11:20:05.1234567Z",
            }
        self._texts = {
            str(id_): row["input"]["value"]
            for id_, row in self.rows.items()
            if row["status"] == "Open"
        }

    def texts(self) -> dict[str, str]:
        return self._texts

    # -- the pipeline ------------------------------------------------------------------
    def endpoint(self, request: Request, handler: Any) -> Response:
        try:
            agent = self.agents.get(request.token)
            if agent is None:
                raise ProblemError(401)
            return Response(200, handler(agent))
        except ProblemError as problem:
            return self.problem(problem)

    def problem(self, problem: ProblemError) -> Response:
        self.traces += 1
        trace = f"00-{self.traces:032x}-{self.traces * 65599:016x}-00"
        body = json.dumps({**problem.body, "traceId": trace}).encode()
        headers = {"Content-Type": "application/problem+json"}
        if problem.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        return Response(problem.status, body, headers)

    def missing(self, request: Request) -> Response:
        return self.problem(ProblemError(404))

    def body(self, request: Request, record: str) -> dict[str, Any]:
        """Bind the body; the record's name is the parameter's type."""
        media_type = request.headers.get("Content-Type") or ""
        if not request.raw:
            text = 'Implicit body inferred for parameter "request" but no body was provided.'
            raise ProblemError(400, text + " Did you mean to use a Service instead?")
        if "json" not in media_type:
            text = f'Expected a supported JSON media type but got "{media_type}".'
            raise ProblemError(415, text)
        self.failed = f'Failed to read parameter "{record} request" from the request body as JSON.'
        try:
            body = json.loads(request.raw)
        except ValueError as bad:
            at = getattr(bad, "pos", 0)
            text = (
                f"The body is not valid JSON. LineNumber: 0 | BytePositionInLine: {at}."
            )
            raise ProblemError(400, f"{self.failed} {text}") from None
        if not isinstance(body, dict):
            self.unconverted(request, f"AgentNetwork.Contracts.{record}", "$")
        return dict(body)

    def unconverted(self, request: Request, type_: str, path: str) -> None:
        name, value = path.rpartition(".")[2], r'\s*:\s*("(?:[^"\\]|\\.)*"|[^,}\s]*)'
        text = request.raw.decode(errors="replace")
        found = re.search(rf'"{re.escape(name)}"{value}', text, re.IGNORECASE)
        at = found.end() if found else 1
        raise ProblemError(
            400,
            f"{self.failed} The JSON value could not be converted to {type_}. "
            f"Path: {path} | LineNumber: 0 | BytePositionInLine: {at}.",
        )

    def guid(self, request: Request, body: dict[str, Any], name: str) -> UUID:
        value = member(body, name)
        if value is None and name.lower() not in map(str.lower, body):
            return EMPTY
        pattern = r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            self.unconverted(request, "System.Guid", f"$.{name}")
        return UUID(value)

    def string(
        self, request: Request, body: dict[str, Any], name: str, under: str = "$"
    ) -> str:
        value = member(body, name)
        if value is not None and not isinstance(value, str):
            self.unconverted(request, "System.String", f"{under}.{name}")
        return value or ""

    def validate(self, values: dict[str, Any]) -> None:
        """FluentValidation's NotEmpty for each of the values."""
        errors = {}
        for name, value in values.items():
            if not value or value == EMPTY or not str(value).strip():
                words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.rpartition(".")[2])
                errors[name] = [f"'{words}' must not be empty."]
            elif name.endswith("MediaType") and value not in MEDIA_TYPES:
                known = ", ".join(MEDIA_TYPES)
                errors[name] = [f"'Media Type' must be one of: {known}."]
        if errors:
            title = "One or more validation errors occurred."
            raise ProblemError(400, title=title, errors=errors)

    def next_version(self) -> str:
        self.versions += 1
        return b64encode(self.versions.to_bytes(8, "big")).decode()

    def lease(self, id_: UUID, agent: dict[str, Any], status: str) -> dict[str, Any]:
        found = self.leases.get(id_)
        if found is None:
            raise ProblemError(404, f"Lease '{id_}' was not found.")
        if found["agentId"] != agent["id"]:
            raise ProblemError(403, f"Lease '{id_}' belongs to another agent.")
        if found["status"] != status:
            text = f"Lease '{id_}' is {found['status']}; it has to be {status}."
            raise ProblemError(409, text)
        return found

    # -- the endpoints -----------------------------------------------------------------
    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        id_ = str(uuid5(SPACE, f"agent{len(self.agents)}"))
        token = "CfDJ8" + b64encode(uuid5(SPACE, id_).bytes, b"-_").decode().rstrip("=")
        self.agents[token] = {"id": id_, "credits": 100}
        return Response(200, {"agent_id": id_, "access_token": token, "credits": 100})

    def marketplace(self, request: Request) -> Response:
        rows = [row for row in self.rows.values() if row["status"] == "Open"]
        keys = ("id", "displayName", "operation", "rewardCredits")
        items = [{key: row[key] for key in keys} for row in rows]
        return Response(200, {"items": items, "totalCount": len(items)})

    def tasks(self, request: Request) -> Response:
        def handler(_agent: dict[str, Any]) -> dict[str, Any]:
            found = {}
            for name, default in (("limit", "20"), ("skip", "0")):
                text = request.query.get(name, default)
                if not re.fullmatch(r"-?[0-9]{1,9}", text):
                    bad = f'Failed to bind parameter "int {name}" from "{text}".'
                    raise ProblemError(400, bad)
                found[name] = int(text)
            limit, skip = min(max(found["limit"], 1), 100), max(found["skip"], 0)
            rows = list(self.rows.values())
            items = rows[skip : skip + limit]
            return {
                "items": items,
                "totalCount": len(rows),
                "skip": skip,
                "limit": limit,
            }

        return self.endpoint(request, handler)

    def claim(self, request: Request) -> Response:
        def handler(agent: dict[str, Any]) -> dict[str, Any]:
            body = self.body(request, "ClaimTaskRequest")
            task_id = self.guid(request, body, "taskId")
            agent_id = self.guid(request, body, "agentId")
            self.validate({"TaskId": task_id, "AgentId": agent_id})
            if str(agent_id) != agent["id"]:
                raise ProblemError(403, "The agent id is not that of the token.")
            row = self.rows.get(task_id)
            if row is None:
                raise ProblemError(404, f"Task '{task_id}' was not found.")
            if row["status"] != "Open":
                raise ProblemError(
                    409, f"Task '{task_id}' is {row['status']}, not Open."
                )
            row["status"] = "Leased"
            self.book.claimed(row["id"])
            id_ = uuid5(SPACE, f"lease{len(self.leases)}")
            self.leases[id_] = {
                "leaseId": str(id_),
                "taskId": row["id"],
                "agentId": agent["id"],
                "status": "Leased",
                "expiresAtUtc": "2025-02-20T12:00:00Z",
                "rowVersion": self.next_version(),
            }
            return self.leases[id_]

        return self.endpoint(request, handler)

    def submit(self, request: Request) -> Response:
        def handler(agent: dict[str, Any]) -> dict[str, Any]:
            body = self.body(request, "SubmitOutputRequest")
            id_ = self.guid(request, body, "leaseId")
            output = member(body, "output")
            values: dict[str, Any] = {"LeaseId": id_, "Output": output}
            value = kind = None
            if output is not None:
                if not isinstance(output, dict):
                    type_ = "AgentNetwork.Contracts.TaskOutput"
                    self.unconverted(request, type_, "$.output")
                value = self.string(request, output, "value", "$.output")
                kind = self.string(request, output, "mediaType", "$.output")
                values = {
                    "LeaseId": id_,
                    "Output.Value": value,
                    "Output.MediaType": kind,
                }
            self.validate(values)
            lease = self.lease(id_, agent, "Leased")
            row = self.rows[UUID(lease["taskId"])]
            if kind != row["input"]["mediaType"]:
                text = f"The task expects the media type {row['input']['mediaType']}."
                raise ProblemError(422, text)
            if value != row["input"]["value"].upper():
                raise ProblemError(
                    422, "The output is not the input value in capitals."
                )
            lease["status"] = row["status"] = "OutputAccepted"
            lease["rowVersion"] = self.next_version()
            return lease

        return self.endpoint(request, handler)

    def complete(self, request: Request) -> Response:
        def handler(agent: dict[str, Any]) -> dict[str, Any]:
            body = self.body(request, "CompleteLeaseRequest")
            id_ = self.guid(request, body, "leaseId")
            version = self.string(request, body, "rowVersion")
            self.validate({"LeaseId": id_, "RowVersion": version})
            lease = self.lease(id_, agent, "OutputAccepted")
            if version != lease["rowVersion"]:
                text = "The lease was modified: the row version sent is not the latest."
                raise ProblemError(409, text)
            row = self.rows[UUID(lease["taskId"])]
            lease["status"] = row["status"] = "Completed"
            lease["rowVersion"] = self.next_version()
            agent["credits"] += row["rewardCredits"]
            self.book.pay(row["id"], row["rewardCredits"])
            paid = {"creditsAwarded": row["rewardCredits"], "balance": agent["credits"]}
            return {**lease, **paid}

        return self.endpoint(request, handler)
