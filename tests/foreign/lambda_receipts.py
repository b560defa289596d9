"""A receipts transcription service on API Gateway and Lambda: the gateway validates bodies
against its models and says what the validator said; the functions check the rest by hand."""

import base64
import json
import re
import secrets
import time
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

CLAIM_SECONDS = 1200
JOB = re.compile(r"rcp-[0-9A-Z]{10}")

Model = dict[str, Any]

CLAIM_JOB: Model = {
    "type": "object",
    "required": ["jobId", "version"],
    "properties": {
        "jobId": {"type": "string", "pattern": "^rcp-[0-9A-Z]{10}$"},
        "version": {"type": "integer", "minimum": 1},
        "device": {"type": "string", "maxLength": 64},
    },
}
SUBMIT_TRANSCRIPT: Model = {
    "type": "object",
    "required": ["claimId", "transcript"],
    "properties": {
        "jobId": {"type": "string"},
        "claimId": {"type": "string", "minLength": 1},
        "transcript": {
            "type": "object",
            "required": ["fullText"],
            "properties": {
                "fullText": {"type": "string", "minLength": 1, "maxLength": 10000},
                "confidence": {"type": "number", "minimum": 0, "maximum": 1},
                "illegible": {"type": "boolean"},
            },
        },
    },
}
COMPLETE_JOB: Model = {
    "type": "object",
    "required": ["submissionId"],
    "properties": {
        "jobId": {"type": "string"},
        "submissionId": {"type": "string", "minLength": 1},
    },
}

ROWS = [
    ("rcp-7QH2M0VXK4", 3, 12, "GBP", "2 flat whites, 1 almond croissant, total 11.40"),
    ("rcp-7QH2M1B8TN", 1, 7, "GBP", "Day return, Leeds to York, 16.90"),
    ("rcp-7QH2M1ZC3D", 1, 9, "EUR", "Parking zone b, two hours, 4.60"),
    (
        "rcp-7QH2M2G5WP",
        2,
        15,
        "EUR",
        "Table 14: soup of the day, sea bream, half litre white",
    ),
    (
        "rcp-7QH2M2J9RA",
        1,
        21,
        "USD",
        "1 x hex bolts m8, 1 x washers, 1 x thread locker",
    ),
    (
        "rcp-7QH2M3N6YE",
        4,
        18,
        "USD",
        "Oil change and filter, labour 1.5 h, parts 38.20",
    ),
    ("rcp-7QH2M4S0FH", 1, 5, "EUR", "Kiosk: water, newspaper"),
    ("rcp-7QH2M4V2KB", 1, 26, "CHF", "Room 208, three nights, city tax, late checkout"),
    ("rcp-7QH2M5X8QJ", 2, 11, "GBP", "Library fine, 12 days overdue, paid in cash"),
]


def kind(value: Any) -> str:
    """Return the name of a value's JSON type as the validator says it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def check(model: Model, value: Any) -> list[str]:
    """Return what the gateway's draft 4 validator finds wrong."""
    allowed = ["integer", "number"] if model["type"] == "number" else [model["type"]]
    found: list[str] = []
    if kind(value) not in allowed:
        return [
            (
                f"instance type ({kind(value)}) does not match any allowed primitive type "
                f"(allowed: {compact(allowed)})"
            )
        ]
    if isinstance(value, dict):
        absent = sorted(set(model.get("required", [])) - set(value))
        if absent:
            found.append(f"object has missing required properties ({compact(absent)})")
        for name in sorted(model.get("properties", {})):
            if name in value:
                found += check(model["properties"][name], value[name])
    elif isinstance(value, str):
        if len(value) < model.get("minLength", 0):
            found.append(
                f"string {json.dumps(value)} is too short (length: {len(value)}, "
                f"required minimum: {model['minLength']})"
            )
        if len(value) > model.get("maxLength", len(value)):
            found.append(
                f"string {json.dumps(value)} is too long (length: {len(value)}, "
                f"maximum allowed: {model['maxLength']})"
            )
        if "pattern" in model and not re.search(model["pattern"], value):
            found.append(
                f"ECMA 262 regex {json.dumps(model['pattern'])} does not match input "
                f"string {json.dumps(value)}"
            )
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if value < model.get("minimum", value):
            found.append(
                "numeric instance is lower than the required minimum "
                f"(minimum: {model['minimum']}, found: {value})"
            )
        if value > model.get("maximum", value):
            found.append(
                "numeric instance is greater than the required maximum "
                f"(maximum: {model['maximum']}, found: {value})"
            )
    return found


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


class GatewayError(Exception):
    """A gateway response: the function was never called."""

    def __init__(self, status: int, error: str, body: dict[str, Any]) -> None:
        super().__init__(error)
        self.status, self.error, self.body = status, error, body


class FunctionError(Exception):
    """An answer that the function made itself."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


class LambdaReceipts(Backend):
    """Tillroll."""

    def __init__(self) -> None:
        super().__init__()
        self.workers: dict[str, dict[str, Any]] = {}  # token -> worker
        self.claims: dict[str, dict[str, Any]] = {}
        self.submissions: dict[str, dict[str, Any]] = {}
        self.jobs: dict[str, dict[str, Any]] = {
            job: {
                "jobId": job,
                "batch": "2025-W19",
                "description": text,
                "currency": currency,
                "imageKey": f"scans/2025/05/{job}.jpg",
                "status": "AVAILABLE",
                "version": version,
                "payout": {"credits": credits_, "bonus": 0},
                "createdAt": 1746700000 + 613 * number,
            }
            for number, (job, version, credits_, currency, text) in enumerate(ROWS)
        }

    def texts(self) -> dict[str, str]:
        return {key: job["description"] for key, job in self.jobs.items()}

    def _gateway(self, error: GatewayError) -> Response:
        return Response(
            error.status,
            error.body,
            {"x-amzn-RequestId": str(uuid.uuid4()), "x-amzn-ErrorType": error.error},
        )

    def _answer(self, body: Any, status: int = 200) -> Response:
        return Response(
            status,
            body,
            {
                "x-amzn-RequestId": str(uuid.uuid4()),
                "X-Amzn-Trace-Id": f"Root=1-{int(time.time()):x}-{secrets.token_hex(12)}",
                "Access-Control-Allow-Origin": "*",
            },
        )

    def missing(self, request: Request) -> Response:
        return self._gateway(
            GatewayError(
                403,
                "MissingAuthenticationTokenException",
                {"message": "Missing Authentication Token"},
            )
        )

    def _expire(self) -> None:
        for claim in self.claims.values():
            if claim["state"] == "HELD" and claim["expiresAt"] < time.time():
                claim["state"] = "LAPSED"
                self._move(self.jobs[claim["jobId"]], "AVAILABLE")
                self.book.held.discard(claim["jobId"])

    def _move(self, job: dict[str, Any], status: str) -> None:
        job["status"] = status
        job["version"] += 1

    def _authorize(self, request: Request) -> dict[str, Any]:
        worker = self.workers.get(request.token)
        if worker is None:
            raise GatewayError(
                401, "UnauthorizedException", {"message": "Unauthorized"}
            )
        self._expire()
        return worker

    def _event(self, request: Request, model: Model) -> Any:
        """Return the body as the function sees it, past the gateway's validator."""
        media = (request.headers.get("Content-Type") or "application/json").lower()
        if media.partition(";")[0].strip() == "application/json":
            try:
                body = json.loads(request.raw or b"{}")
            except ValueError:
                found = ["Unable to parse request body as JSON"]
            else:
                found = check(model, body)
            if found:
                raise GatewayError(
                    400,
                    "BadRequestException",
                    {
                        "message": "Invalid request body",
                        "details": f"[{', '.join(found)}]",
                    },
                )
        try:
            body = json.loads(request.raw or b"{}")
        except ValueError:
            raise FunctionError(
                400, "BAD_JSON", "Request body must be valid JSON."
            ) from None
        found = check(model, body)
        if found:
            raise GatewayError(
                502,
                "InternalServerErrorException",
                {"message": "Internal server error"},
            )
        return body

    def _run(self, request: Request, model: Model, function: Any) -> Response:
        try:
            worker = self._authorize(request)
            return self._answer(function(worker, self._event(request, model)))
        except GatewayError as error:
            return self._gateway(error)
        except FunctionError as error:
            return self._answer(
                {"error": {"code": error.code, "message": error.message}}, error.status
            )

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = base64.urlsafe_b64encode(secrets.token_bytes(33)).decode()
        worker = f"wkr-{secrets.token_hex(6)}"
        self.workers[token] = {"workerId": worker, "credits": 100}
        return self._answer(
            {"agent_id": worker, "access_token": token, "credits": 100, "plan": "free"}
        )

    def tasks(self, request: Request) -> Response:
        try:
            self._authorize(request)
        except GatewayError as error:
            return self._gateway(error)
        raw = re.match(r"\s*[+-]?[0-9]{1,9}", request.query.get("limit", ""))
        limit = int(raw[0]) if raw else 25
        limit = min(max(limit, 1), 100)
        start = 0
        if token := request.query.get("nextToken"):
            try:
                start = int(json.loads(base64.urlsafe_b64decode(token))["offset"])
            except (ValueError, KeyError, TypeError):
                return self._answer(
                    {
                        "error": {
                            "code": "BAD_NEXT_TOKEN",
                            "message": "nextToken is not valid.",
                        }
                    },
                    400,
                )
        jobs = [job for job in self.jobs.values() if job["status"] == "AVAILABLE"]
        end = start + limit
        following = base64.urlsafe_b64encode(compact({"offset": end}).encode()).decode()
        return self._answer(
            {
                "jobs": jobs[start:end],
                "count": len(jobs[start:end]),
                "nextToken": following if end < len(jobs) else None,
            }
        )

    def claim(self, request: Request) -> Response:
        return self._run(request, CLAIM_JOB, self._claim)

    def _claim(self, worker: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        job = self.jobs.get(body["jobId"])
        if job is None:
            raise FunctionError(404, "JOB_NOT_FOUND", f"No job {body['jobId']}.")
        if job["status"] != "AVAILABLE":
            raise FunctionError(
                409, "JOB_NOT_AVAILABLE", f"Job {job['jobId']} is {job['status']}."
            )
        if job["version"] != body["version"]:
            raise FunctionError(
                409,
                "VERSION_CONFLICT",
                f"Job {job['jobId']} is at version {job['version']}, request has "
                f"version {body['version']}.",
            )
        claim = {
            "claimId": f"clm-{uuid.uuid4()}",
            "jobId": job["jobId"],
            "workerId": worker["workerId"],
            "state": "HELD",
            "expiresAt": int(time.time()) + CLAIM_SECONDS,
        }
        self.claims[claim["claimId"]] = claim
        self._move(job, "CLAIMED")
        self.book.claimed(job["jobId"])
        return {"claim": claim, "job": job}

    def submit(self, request: Request) -> Response:
        return self._run(request, SUBMIT_TRANSCRIPT, self._submit)

    def _submit(self, worker: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        self._need_job(body)
        claim = self.claims.get(body["claimId"])
        if claim is None:
            raise FunctionError(404, "CLAIM_NOT_FOUND", f"No claim {body['claimId']}.")
        if claim["workerId"] != worker["workerId"]:
            raise FunctionError(403, "NOT_YOUR_CLAIM", "Claim is held by someone else.")
        if claim["jobId"] != body["jobId"]:
            raise FunctionError(
                400, "JOB_MISMATCH", f"Claim {claim['claimId']} is for another jobId."
            )
        if claim["state"] != "HELD":
            raise FunctionError(
                409, "CLAIM_NOT_HELD", f"Claim {claim['claimId']} is {claim['state']}."
            )
        job = self.jobs[claim["jobId"]]
        if body["transcript"]["fullText"] != job["description"].upper():
            raise FunctionError(
                422,
                "TRANSCRIPT_REJECTED",
                "transcript.fullText differs from the reference transcript.",
            )
        submission = {
            "submissionId": f"sub-{uuid.uuid4()}",
            "claimId": claim["claimId"],
            "jobId": job["jobId"],
            "review": "PASSED",
            "submittedAt": int(time.time()),
        }
        self.submissions[submission["submissionId"]] = submission
        claim["state"] = "SUBMITTED"
        self._move(job, "IN_REVIEW")
        return {"submission": submission, "job": job}

    def complete(self, request: Request) -> Response:
        return self._run(request, COMPLETE_JOB, self._complete)

    def _complete(self, worker: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        self._need_job(body)
        submission = self.submissions.get(body["submissionId"])
        if submission is None:
            raise FunctionError(
                404, "SUBMISSION_NOT_FOUND", f"No submission {body['submissionId']}."
            )
        claim = self.claims[submission["claimId"]]
        if claim["workerId"] != worker["workerId"]:
            raise FunctionError(
                403, "NOT_YOUR_SUBMISSION", "Submission was made by someone else."
            )
        if submission["jobId"] != body["jobId"]:
            raise FunctionError(
                400,
                "JOB_MISMATCH",
                f"Submission {submission['submissionId']} is for another jobId.",
            )
        job = self.jobs[submission["jobId"]]
        if job["status"] != "IN_REVIEW":
            raise FunctionError(
                409, "JOB_NOT_IN_REVIEW", f"Job {job['jobId']} is {job['status']}."
            )
        claim["state"] = "CLOSED"
        self._move(job, "PAID")
        worker["credits"] += job["payout"]["credits"]
        self.book.pay(job["jobId"], job["payout"]["credits"])
        return {
            "job": job,
            "payment": {
                "credits": job["payout"]["credits"],
                "balance": worker["credits"],
            },
        }

    def _need_job(self, body: dict[str, Any]) -> None:
        job = body.get("jobId")
        if not job:
            raise FunctionError(400, "MISSING_PARAMETER", "jobId is required.")
        if not JOB.fullmatch(job):
            raise FunctionError(400, "INVALID_PARAMETER", "jobId is not a job id.")
