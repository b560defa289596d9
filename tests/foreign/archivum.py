"""Archivum: a Spring Boot service of a records company."""

import secrets
import time
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

CLEARING = 2.0
MEDIA = ["text/plain", "text/markdown"]
ORDERS = [
    (
        "WO-2025-00041",
        "Deed heading, parcel 7",
        25,
        "Conveyance of the meadow called Long Acre",
    ),
    (
        "WO-2025-00042",
        "Deed heading, parcel 9",
        30,
        "Lease of the upper mill for seven years",
    ),
    (
        "WO-2025-00044",
        "Minute book, page 3",
        16,
        "Resolved that the bridge be painted green",
    ),
    (
        "WO-2025-00047",
        "Minute book, page 4",
        22,
        "The treasurer reported a surplus of nine pounds",
    ),
    (
        "WO-2025-00048",
        "Register, line 112",
        19,
        "Eliza Marsh, spinster, of this parish",
    ),
]


def problem(
    request: Request, status: int, title: str, detail: str, **more: Any
) -> Response:
    """Return a ProblemDetail."""
    return Response(
        status,
        {
            "type": "about:blank",
            "title": title,
            "status": status,
            "detail": detail,
            "instance": request.path,
            **more,
        },
        {"Content-Type": "application/problem+json"},
    )


class Archivum(Backend):
    """Work orders of a records company: Spring Data pages, ProblemDetail, JPA versions.

    The listing is a Page ({content, totalPages, number, last}; limit = page size, page from 0)
    and shows the source text. Each action wants {workOrderRef, version} with the order's current
    version, which every change raises (409 if stale); submit wants deliverable {content,
    mediaType} too. Complete gives SETTLEMENT_PENDING; 2 s later the order is SETTLED (creditedAmount
    in the listing and in a repeated complete).
    """

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.orders: dict[str, dict[str, Any]] = {}
        for ref, title, amount, text in ORDERS:
            self.orders[ref] = {
                "title": title,
                "amount": amount,
                "text": text,
                "version": 0,
                "status": "OPEN",
                "agent": None,
                "due": 0.0,
            }
        self.doable = {ref: order["text"] for ref, order in self.orders.items()}
        self.orders["WO-2025-00050"] = {
            "title": "Register, line 113",
            "amount": 19,
            "text": "Void",
            "version": 2,
            "status": "CANCELLED",
            "agent": None,
            "due": 0.0,
        }

    def texts(self) -> dict[str, str]:
        """Return the source texts by order."""
        return dict(self.doable)

    def missing(self, request: Request) -> Response:
        """Return Spring's answer for no handler."""
        return problem(
            request, 404, "Not Found", f"No static resource {request.path.lstrip('/')}."
        )

    def register(self, request: Request) -> Response:
        """Make an agent."""
        self.book.registrations += 1
        token = secrets.token_urlsafe(40)
        self.agents[token] = {"id": str(uuid.uuid4()), "credits": 100}
        return Response(
            200,
            {
                "agent_id": self.agents[token]["id"],
                "access_token": token,
                "credits": 100,
            },
        )

    def settle(self) -> None:
        """Let the clearing job have run."""
        for ref, order in self.orders.items():
            if (
                order["status"] == "SETTLEMENT_PENDING"
                and time.monotonic() >= order["due"]
            ):
                order["status"] = "SETTLED"
                order["version"] += 1
                order["agent"]["credits"] += order["amount"]
                self.book.pay(ref, order["amount"])

    def dto(self, ref: str) -> dict[str, Any]:
        """Return an order's WorkOrderDto."""
        order = self.orders[ref]
        paid = order["status"] == "SETTLED"
        return {
            "workOrderRef": ref,
            "version": order["version"],
            "title": order["title"],
            "category": "TRANSCRIPTION",
            "status": order["status"],
            "assigneeId": order["agent"]["id"] if order["agent"] else None,
            "remuneration": {"amount": order["amount"], "unit": "CREDITS"},
            "specification": {"sourceText": order["text"], "acceptedMediaTypes": MEDIA},
            "settlement": {"creditedAmount": order["amount"] if paid else 0},
        }

    def tasks(self, request: Request) -> Response:
        """Return a page of orders."""
        self.settle()
        try:
            size = min(100, max(1, int(request.query.get("limit", "20"))))
            number = max(0, int(request.query.get("page", "0")))
        except ValueError:
            return problem(
                request,
                400,
                "Bad Request",
                "Failed to convert 'limit' with value: '"
                + request.query.get("limit", "")
                + "'",
            )
        refs = list(self.orders)
        pages = -(-len(refs) // size)
        some = refs[number * size : (number + 1) * size]
        return Response(
            200,
            {
                "content": [self.dto(r) for r in some],
                "totalElements": len(refs),
                "totalPages": pages,
                "size": size,
                "number": number,
                "numberOfElements": len(some),
                "first": number == 0,
                "last": number >= pages - 1,
                "empty": not some,
            },
        )

    marketplace = tasks

    def order(  # noqa: PLR0915 - as it grew
        self, request: Request, *, deliver: bool = False
    ) -> tuple[Any, str, Any, Any]:
        """Return agent, reference and body, or a refusal as fourth."""
        self.settle()
        agent = self.agents.get(request.token)
        if agent is None:
            no = problem(
                request,
                401,
                "Unauthorized",
                "Full authentication is required to access this resource",
            )
            no.headers["WWW-Authenticate"] = "Bearer"
            return None, "", None, no
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return (
                None,
                "",
                None,
                problem(request, 400, "Bad Request", "Failed to read request"),
            )
        errors = []
        ref, version = body.get("workOrderRef"), body.get("version")
        if not isinstance(ref, str) or not ref.strip():
            errors.append({"field": "workOrderRef", "message": "must not be blank"})
        if isinstance(version, str) and version.isdigit():  # Jackson coerces
            version = int(version)
        if version is None:
            errors.append({"field": "version", "message": "must not be null"})
        elif type(version) is not int:
            return (
                None,
                "",
                None,
                problem(request, 400, "Bad Request", "Failed to read request"),
            )
        if deliver:
            part = body.get("deliverable")
            if part is None:
                errors.append({"field": "deliverable", "message": "must not be null"})
            elif not isinstance(part, dict):
                return (
                    None,
                    "",
                    None,
                    problem(
                        request,
                        400,
                        "Bad Request",
                        "JSON parse error: Cannot construct instance of "
                        "`eu.archivum.api.DeliverableDto` from property 'deliverable' (expected object "
                        "with properties 'content', 'mediaType')",
                    ),
                )
            else:
                if (
                    not isinstance(part.get("content"), str)
                    or not part["content"].strip()
                ):
                    errors.append(
                        {"field": "deliverable.content", "message": "must not be blank"}
                    )
                if part.get("mediaType") not in MEDIA:
                    errors.append(
                        {
                            "field": "deliverable.mediaType",
                            "message": "must be one of [text/plain, text/markdown]",
                        }
                    )
        if errors:
            return (
                None,
                "",
                None,
                problem(
                    request,
                    400,
                    "Bad Request",
                    "Invalid request content.",
                    errors=errors,
                ),
            )
        if ref not in self.orders:
            return (
                None,
                "",
                None,
                problem(request, 404, "Not Found", f"Work order {ref} does not exist"),
            )
        order, body["version"] = self.orders[ref], version
        if order["agent"] not in (None, agent) or order["status"] == "CANCELLED":
            return (
                None,
                "",
                None,
                problem(
                    request,
                    409,
                    "Conflict",
                    f"Work order {ref} is not available to this agent",
                ),
            )
        return agent, ref, body, None

    def stale(self, request: Request, ref: str, version: int) -> Response | None:
        """Return the refusal of an old version."""
        if version == self.orders[ref]["version"]:
            return None
        return problem(
            request,
            409,
            "Conflict",
            f"Work order {ref} was updated by another "
            f"transaction (expected version {version}, current version "
            f"{self.orders[ref]['version']})",
            code="OPTIMISTIC_LOCK",
        )

    def wrong_state(self, request: Request, ref: str) -> Response:
        """Return the refusal of a step out of order."""
        return problem(
            request,
            409,
            "Conflict",
            f"Operation not permitted while work order {ref}"
            f" is in status {self.orders[ref]['status']}",
            code="ILLEGAL_STATE",
        )

    def move(self, ref: str, status: str) -> Response:
        """Set the status, raise the version and return the order."""
        self.orders[ref]["status"] = status
        self.orders[ref]["version"] += 1
        return Response(200, self.dto(ref))

    def claim(self, request: Request) -> Any:
        """Assign an order."""
        agent, ref, body, no = self.order(request)
        if no:
            return no
        if self.orders[ref]["agent"] is agent:
            return Response(200, self.dto(ref))
        if no := self.stale(request, ref, body["version"]):
            return no
        self.orders[ref]["agent"] = agent
        self.book.claimed(ref)
        return self.move(ref, "ASSIGNED")

    def submit(self, request: Request) -> Any:
        """Take the deliverable."""
        _agent, ref, body, no = self.order(request, deliver=True)
        if no:
            return no
        if self.orders[ref]["status"] != "ASSIGNED":
            return self.wrong_state(request, ref)
        if no := self.stale(request, ref, body["version"]):
            return no
        if body["deliverable"]["content"] != self.orders[ref]["text"].upper():
            return problem(
                request, 422, "Unprocessable Entity", "Deliverable failed acceptance"
            )
        return self.move(ref, "DELIVERED")

    def complete(self, request: Request) -> Any:
        """Start the settlement."""
        _agent, ref, body, no = self.order(request)
        if no:
            return no
        if self.orders[ref]["status"].startswith("SETTLE"):
            return Response(200, self.dto(ref))
        if self.orders[ref]["status"] != "DELIVERED":
            return self.wrong_state(request, ref)
        if no := self.stale(request, ref, body["version"]):
            return no
        self.orders[ref]["due"] = time.monotonic() + CLEARING
        return self.move(ref, "SETTLEMENT_PENDING")
