"""Quarkus REST with Hibernate Validator: Zollwerk, goods descriptions for customs declarations.

public-marketplace and get-marketplace-tasks (token) list {"content": [...], "page", "size", "totalElements"};
the text is `commercialDescription`, the id is the movement reference number `mrn`.
claim    {"mrn": "26DE7301A4"}
submit   {"mrn": "26DE7301A4", "goodsDescription": "...", "packageCount": 12}    (count as listed) -> 202
complete {"mrn": "26DE7301A4"}   -> 202 "UNDER_REVIEW" for some seconds after the submit, then 200 "RELEASED", pays
Refusals: 400 {"title": "Constraint Violation", "status", "violations": [{"field": "claim.request.mrn",
"message": "must not be blank"}]}; others {"status", "code", "message"}.
"""

import re
import secrets
import time
from collections.abc import Callable
from functools import wraps
from typing import Any

from tests.foreign.backend import Backend, Request, Response

CONSIGNMENTS = [
    # mrn, consignor, description, packages, remuneration, status
    (
        "26DE7301A4",
        "Kessler KG",
        "stainless steel kitchen knives with wooden handles",
        12,
        31,
        "OPEN",
    ),
    (
        "26DE7302B1",
        "Kessler KG",
        "cast iron pans without lids for household use",
        40,
        28,
        "OPEN",
    ),
    (
        "26NL1180C7",
        "Van Dam BV",
        "tulip bulbs packed in peat for spring planting",
        220,
        35,
        "OPEN",
    ),
    (
        "26NL1181C9",
        "Van Dam BV",
        "dried cut flowers in cardboard sleeves",
        64,
        25,
        "RELEASED",
    ),
    ("26IT0457D2", "Tessuti Riva", "woven silk scarves printed by hand", 8, 27, "OPEN"),
    (
        "26IT0458D5",
        "Tessuti Riva",
        "rolls of unbleached cotton fabric for upholstery",
        30,
        33,
        "OPEN",
    ),
    (
        "26PL9020E3",
        "Mebel Sp",
        "flat packed oak shelves with metal fittings",
        75,
        29,
        "OPEN",
    ),
]
MRN = re.compile(r"[0-9]{2}[A-Z]{2}[0-9A-Z]{6}")
REVIEW_SECONDS = 5


class WebApplicationError(Exception):
    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.response = Response(
            status, {"status": status, "code": code, "message": message}
        )


class ConstraintViolationError(Exception):
    def __init__(self, violations: list[tuple[str, str]]) -> None:
        super().__init__(str(violations))
        self.response = Response(
            400,
            {
                "title": "Constraint Violation",
                "status": 400,
                "violations": [{"field": f, "message": m} for f, m in violations],
            },
            {"validation-exception": "true"},
        )


class UnreadableError(Exception):
    response = Response(400, b"")


def resource(
    method: Callable[[Any, Request], Response],
) -> Callable[[Any, Request], Response]:
    @wraps(method)
    def call(self: Any, request: Request) -> Response:
        try:
            return method(self, request)
        except (WebApplicationError, ConstraintViolationError, UnreadableError) as stop:
            return stop.response

    return call


def malformed(kind: str, name: str) -> WebApplicationError:
    return WebApplicationError(
        400,
        "MALFORMED_REQUEST",
        f"Cannot deserialize value of type `java.lang.{kind}` for field '{name}'",
    )


def count(name: str, value: Any) -> tuple[Any, str]:
    """The value of an Integer and what is wrong with it, or ""."""
    if isinstance(value, str) and value.strip().lstrip("-").isdigit():
        value = int(value)
    if value is None:
        return value, "must not be null"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise malformed("Integer", name)
    return value, "must be greater than 0" if value <= 0 else ""


def string(name: str, value: Any, kind: str) -> tuple[Any, str]:
    """The value of a String and what is wrong with it, or ""."""
    if isinstance(value, (dict, list)):
        raise malformed("String", name)
    if isinstance(value, (int, float)):
        value = str(value)  # Jackson takes scalars for strings
    if not value or not value.strip():
        return value, "must not be blank"
    if kind == "mrn" and not MRN.fullmatch(value):
        return value, f'must match "{MRN.pattern}"'
    if kind == "text" and len(value) > 280:
        return value, "size must be between 0 and 280"
    return value, ""


def valid(request: Request, method: str, fields: dict[str, str]) -> dict[str, Any]:
    """@Valid of a record with the fields `mrn`, `text` (NotBlank, Size) and `count` (NotNull, Positive)."""
    try:
        body = request.json() if request.raw else None
    except ValueError:
        raise UnreadableError from None
    if body is None:
        raise ConstraintViolationError([(f"{method}.request", "must not be null")])
    if not isinstance(body, dict):
        raise UnreadableError
    clean: dict[str, Any] = {}
    violations: list[tuple[str, str]] = []
    for name, kind in fields.items():
        value = body.get(name)
        clean[name], wrong = (
            count(name, value) if kind == "count" else string(name, value, kind)
        )
        if wrong:
            violations.append((f"{method}.request.{name}", wrong))
    if violations:
        raise ConstraintViolationError(violations)
    return clean


class QuarkusCustoms(Backend):
    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.consignments: dict[str, dict[str, Any]] = {}
        for mrn, consignor, description, packages, remuneration, status in CONSIGNMENTS:
            self.consignments[mrn] = {
                "mrn": mrn,
                "consignor": consignor,
                "commercialDescription": description,
                "packageCount": packages,
                "remuneration": remuneration,
                "status": status,
                "agent": None,
                "reviewed": 0.0,
            }
        self.earnable = {
            m: c["commercialDescription"]
            for m, c in self.consignments.items()
            if c["status"] == "OPEN"
        }

    def texts(self) -> dict[str, str]:
        return dict(self.earnable)

    def missing(self, request: Request) -> Response:
        return Response(404, b"")

    def identity(self, request: Request) -> dict[str, Any]:
        if request.token not in self.agents:
            stop = WebApplicationError(
                401, "UNAUTHENTICATED", "A valid bearer token is required"
            )
            stop.response.headers["WWW-Authenticate"] = "Bearer"
            raise stop
        return self.agents[request.token]

    def consignment(self, mrn: str) -> dict[str, Any]:
        if mrn not in self.consignments:
            raise WebApplicationError(
                404, "CONSIGNMENT_NOT_FOUND", f"There is no consignment {mrn}"
            )
        return self.consignments[mrn]

    def own(self, agent: dict[str, Any], mrn: str) -> dict[str, Any]:
        consignment = self.consignment(mrn)
        if consignment["agent"] is not agent:
            raise WebApplicationError(
                403, "NOT_CLAIMED", f"Consignment {mrn} is not claimed by this agent"
            )
        return consignment

    @staticmethod
    def dto(consignment: dict[str, Any]) -> dict[str, Any]:
        return {k: v for k, v in consignment.items() if k not in ("agent", "reviewed")}

    @resource
    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(40)
        self.agents[token] = {
            "id": f"ZW-{1000 + self.book.registrations}",
            "credits": 100,
        }
        return Response(
            200,
            {
                "agent_id": self.agents[token]["id"],
                "access_token": token,
                "credits": 100,
            },
        )

    def page(self, request: Request, method: str) -> Response:
        limit = request.query.get("limit", "20")
        if not limit.lstrip("-").isdigit():
            return self.missing(
                request
            )  # a query parameter that cannot be converted is a 404 in JAX-RS
        if int(limit) < 1:
            raise ConstraintViolationError(
                [(f"{method}.limit", "must be greater than or equal to 1")]
            )
        if int(limit) > 100:
            raise ConstraintViolationError(
                [(f"{method}.limit", "must be less than or equal to 100")]
            )
        rows = [self.dto(c) for c in self.consignments.values()]
        return Response(
            200,
            {
                "content": rows[: int(limit)],
                "page": 0,
                "size": int(limit),
                "totalElements": len(rows),
            },
        )

    @resource
    def marketplace(self, request: Request) -> Response:
        return self.page(request, "listPublic")

    @resource
    def tasks(self, request: Request) -> Response:
        self.identity(request)
        return self.page(request, "list")

    @resource
    def claim(self, request: Request) -> Response:
        agent = self.identity(request)
        consignment = self.consignment(valid(request, "claim", {"mrn": "mrn"})["mrn"])
        if consignment["agent"] is not agent:
            if consignment["status"] != "OPEN":
                raise WebApplicationError(
                    409,
                    "CONSIGNMENT_NOT_OPEN",
                    f"Consignment {consignment['mrn']} is {consignment['status']}",
                )
            consignment["agent"], consignment["status"] = agent, "CLAIMED"
            self.book.claimed(consignment["mrn"])
        return Response(
            200,
            {
                **self.dto(consignment),
                "guidance": "Customs takes descriptions in capital letters: write the commercial description in upper case.",
            },
        )

    @resource
    def submit(self, request: Request) -> Response:
        agent = self.identity(request)
        body = valid(
            request,
            "submit",
            {"mrn": "mrn", "goodsDescription": "text", "packageCount": "count"},
        )
        consignment = self.own(agent, body["mrn"])
        if body["packageCount"] != consignment["packageCount"]:
            raise WebApplicationError(
                422,
                "PACKAGE_COUNT_MISMATCH",
                f"packageCount {body['packageCount']} differs from the consignment's {consignment['packageCount']}",
            )
        if body["goodsDescription"] != consignment["commercialDescription"].upper():
            raise WebApplicationError(
                422,
                "DESCRIPTION_REJECTED",
                "goodsDescription is not the commercial description in capital letters",
            )
        if consignment["status"] == "CLAIMED":
            consignment["status"] = "UNDER_REVIEW"
            consignment["reviewed"] = time.monotonic() + REVIEW_SECONDS
        return Response(202, self.dto(consignment))

    @resource
    def complete(self, request: Request) -> Response:
        agent = self.identity(request)
        consignment = self.own(agent, valid(request, "complete", {"mrn": "mrn"})["mrn"])
        if consignment["status"] == "CLAIMED":
            raise WebApplicationError(
                409, "NOT_SUBMITTED", f"Nothing was submitted for {consignment['mrn']}"
            )
        if consignment["status"] == "UNDER_REVIEW":
            left = consignment["reviewed"] - time.monotonic()
            if left > 0:
                return Response(
                    202,
                    {**self.dto(consignment), "retryAfterSeconds": max(1, round(left))},
                )
            consignment["status"] = "RELEASED"
            agent["credits"] += consignment["remuneration"]
            self.book.pay(consignment["mrn"], consignment["remuneration"])
        return Response(200, {**self.dto(consignment), "balance": agent["credits"]})
