"""Harcourt Lisle LLP, solicitors: the document desk (FastAPI, pydantic v2).

The desk gives out short headings and captions to be set in capitals, pays a fixed fee an
item, and refuses as pydantic does: every fault of a body at once, through the office's own
handler for `RequestValidationError`, which keeps loc, msg and type and drops the rest.
"""

import json
import re
import secrets
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_ITEMS = [
    (
        "itm_4kq81m",
        "HL/2291/conveyancing",
        "drafter",
        14,
        "Transfer of whole of registered title",
    ),
    (
        "itm_4kq83z",
        "HL/2291/conveyancing",
        "drafter",
        11,
        "Schedule of fixtures and fittings at 12 Orchard Lane",
    ),
    (
        "itm_4kr02c",
        "HL/2304/probate",
        "proofreader",
        9,
        "Last will and testament of Edwin Marlow Tarrant",
    ),
    (
        "itm_4kr05x",
        "HL/2304/probate",
        "proofreader",
        16,
        "Codicil dated the third day of March",
    ),
    (
        "itm_4ks77b",
        "HL/2317/employment",
        "drafter",
        12,
        "Settlement agreement: without prejudice and subject to contract",
    ),
    (
        "itm_4ks79n",
        "HL/2317/employment",
        "proofreader",
        8,
        "Restrictive covenants after termination",
    ),
    (
        "itm_4kt10v",
        "HL/2330/commercial",
        "drafter",
        21,
        "Mutual non-disclosure agreement between Pell & Ives Ltd and Café Lorrain SARL",
    ),
    (
        "itm_4kt14h",
        "HL/2330/commercial",
        "drafter",
        13,
        "Limitation of liability (clause 9.2)",
    ),
]

Fault = dict[str, str]
_ABSENT = object()


def _fault(loc: tuple[Any, ...], type_: str, msg: str) -> Fault:
    return {"loc": ".".join(str(p) for p in loc), "msg": msg, "type": type_}


class _RefusalError(Exception):
    def __init__(self, response: Response) -> None:
        self.response = response


def _error(status: int, code: str, message: str, **more: Any) -> Response:
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    return Response(
        status, {"error": {"code": code, "message": message, **more}}, headers
    )


def _invalid(faults: list[Fault]) -> _RefusalError:
    return _RefusalError(
        _error(422, "request_validation", "Request validation failed", issues=faults)
    )


# A small likeness of pydantic-core: a validator takes value, loc and the list of faults.


def _string(minimum: int = 0) -> Any:
    def check(value: Any, loc: tuple[Any, ...], faults: list[Fault]) -> None:
        if not isinstance(value, str):
            faults.append(_fault(loc, "string_type", "Input should be a valid string"))
        elif len(value) < minimum:
            plural = "" if minimum == 1 else "s"
            faults.append(
                _fault(
                    loc,
                    "string_too_short",
                    f"String should have at least {minimum} character{plural}",
                )
            )

    return check


def _oneof(kind: str, *options: str) -> Any:
    quoted = [f"'{o}'" for o in options]
    said = quoted[0]
    if len(quoted) > 1:
        said = ", ".join(quoted[:-1]) + " or " + quoted[-1]

    def check(value: Any, loc: tuple[Any, ...], faults: list[Fault]) -> None:
        if not isinstance(value, str) or value not in options:
            faults.append(_fault(loc, kind, f"Input should be {said}"))

    return check


def _list(item: Any, minimum: int) -> Any:
    def check(value: Any, loc: tuple[Any, ...], faults: list[Fault]) -> None:
        if not isinstance(value, list):
            faults.append(_fault(loc, "list_type", "Input should be a valid list"))
            return
        if len(value) < minimum:
            plural = "" if minimum == 1 else "s"
            faults.append(
                _fault(
                    loc,
                    "too_short",
                    f"List should have at least {minimum} item{plural} after validation, "
                    f"not {len(value)}",
                )
            )
        for index, one in enumerate(value):
            item(one, (*loc, index), faults)

    return check


_NOT_A_MODEL = "Input should be a valid dictionary or object to extract fields from"


def _model(**fields: Any) -> Any:
    """A BaseModel with ConfigDict(extra="forbid"), every field required."""

    def check(value: Any, loc: tuple[Any, ...], faults: list[Fault]) -> None:
        if not isinstance(value, dict):
            faults.append(_fault(loc, "model_attributes_type", _NOT_A_MODEL))
            return
        for name, field in fields.items():
            if name in value:
                field(value[name], (*loc, name), faults)
            else:
                faults.append(_fault((*loc, name), "missing", "Field required"))
        extra = "extra_forbidden", "Extra inputs are not permitted"
        faults.extend(_fault((*loc, one), *extra) for one in value if one not in fields)

    return check


def _union(discriminator: str, **models: Any) -> Any:
    """Annotated[A | B, Field(discriminator=...)]."""
    expected = ", ".join(f"'{tag}'" for tag in models)

    def check(value: Any, loc: tuple[Any, ...], faults: list[Fault]) -> None:
        if not isinstance(value, dict):
            faults.append(_fault(loc, "model_attributes_type", _NOT_A_MODEL))
            return
        tag = value.get(discriminator, _ABSENT)
        if tag is _ABSENT:
            faults.append(
                _fault(
                    loc,
                    "union_tag_not_found",
                    f"Unable to extract tag using discriminator '{discriminator}'",
                )
            )
        elif not isinstance(tag, str) or tag not in models:
            faults.append(
                _fault(
                    loc,
                    "union_tag_invalid",
                    f"Input tag '{tag}' found using '{discriminator}' does not match "
                    f"any of the expected tags: {expected}",
                )
            )
        else:
            models[tag](value, (*loc, tag), faults)

    return check


CLAIM = _model(
    item_id=_string(1),
    assignee=_model(agent_id=_string(1), role=_oneof("enum", "drafter", "proofreader")),
)
SUBMIT = _model(
    assignment_id=_string(1),
    work_product=_union(
        "format",
        plain_text=_model(
            format=_oneof("literal_error", "plain_text"), text=_string(1)
        ),
        paragraphs=_model(
            format=_oneof("literal_error", "paragraphs"),
            paragraphs=_list(_string(1), 1),
        ),
    ),
)
COMPLETE = _model(assignment_id=_string(1), submission_id=_string(1))


class HarcourtLisle(Backend):
    """The document desk of a firm of solicitors."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}  # token -> agent_id
        self._balance: dict[str, int] = {}
        self._items: dict[str, dict[str, Any]] = {
            id_: {
                "matter": matter,
                "role": role,
                "fee": fee,
                "text": text,
                "status": "open",
            }
            for id_, matter, role, fee, text in _ITEMS
        }
        self._assignments: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the text of every item."""
        return {id_: item["text"] for id_, item in self._items.items()}

    def missing(self, request: Request) -> Response:
        """Return Starlette's 404 or 405 in the office's envelope."""
        if request.path in {
            path
            for (_, path), name in ACTIONS.items()
            if name in ("register", "tasks", "claim", "submit", "complete")
        }:
            return _error(405, "http_error", "Method Not Allowed")
        return _error(404, "http_error", "Not Found")

    # What FastAPI does before the endpoint's own code.

    def _raw_body(self, request: Request) -> Any:
        """Return the body as FastAPI reads it, before any dependency is solved."""
        if not request.raw:
            return None
        media = request.headers.get("Content-Type")
        if media:
            main = media.partition(";")[0].strip().lower()
            if not (
                main == "application/json"
                or (main.startswith("application/") and main.endswith("+json"))
            ):
                return request.raw
        try:
            return request.json()
        except UnicodeDecodeError:
            raise _RefusalError(
                _error(400, "http_error", "There was an error parsing the body")
            ) from None
        except json.JSONDecodeError as error:
            raise _invalid(
                [_fault(("body", error.pos), "json_invalid", "JSON decode error")]
            ) from None

    def _agent(self, request: Request) -> str:
        if not request.token:
            raise _RefusalError(_error(401, "unauthorized", "Not authenticated"))
        agent = self._agents.get(request.token)
        if agent is None:
            raise _RefusalError(_error(401, "unauthorized", "Invalid access token"))
        return agent

    def _endpoint(self, request: Request, schema: Any) -> tuple[str, dict[str, Any]]:
        body = self._raw_body(request)
        agent = self._agent(request)
        faults: list[Fault] = []
        if body is None:
            faults.append(_fault(("body",), "missing", "Field required"))
        else:
            schema(body, ("body",), faults)
        if faults:
            raise _invalid(faults)
        return agent, body

    def _assignment(self, agent: str, id_: str) -> dict[str, Any]:
        found = self._assignments.get(id_)
        if found is None or found["agent_id"] != agent:
            raise _RefusalError(
                _error(404, "assignment_not_found", "Assignment not found")
            )
        return found

    # The endpoints.

    def register(self, request: Request) -> Response:
        """Engage a new agent."""
        self.book.registrations += 1
        agent = f"agt_{secrets.token_hex(5)}"
        token = f"hl_live_{secrets.token_urlsafe(24)}"
        self._agents[token] = agent
        self._balance[agent] = 100
        return Response(
            200,
            {
                "agent_id": agent,
                "access_token": token,
                "token_type": "bearer",
                "credits": 100,
            },
        )

    def tasks(self, request: Request) -> Response:
        """List the open items."""
        try:
            self._agent(request)
            limit = 20
            if "limit" in request.query:
                said = request.query["limit"]
                loc = ("query", "limit")
                try:
                    limit = int(re.sub(r"\.0+$", "", said))
                except ValueError:
                    raise _invalid(
                        [
                            _fault(
                                loc,
                                "int_parsing",
                                "Input should be a valid integer, unable to parse "
                                "string as an integer",
                            )
                        ]
                    ) from None
                if limit < 1:
                    raise _invalid(
                        [
                            _fault(
                                loc,
                                "greater_than_equal",
                                "Input should be greater than or equal to 1",
                            )
                        ]
                    )
                if limit > 100:
                    raise _invalid(
                        [
                            _fault(
                                loc,
                                "less_than_equal",
                                "Input should be less than or equal to 100",
                            )
                        ]
                    )
        except _RefusalError as refusal:
            return refusal.response
        open_ = [(i, t) for i, t in self._items.items() if t["status"] == "open"]
        return Response(
            200,
            {
                "items": [
                    {
                        "item_id": id_,
                        "matter_ref": item["matter"],
                        "role": item["role"],
                        "instruction": "Set the heading in capitals for engrossment; "
                        "change nothing else.",
                        "document": {"type": "heading", "source_text": item["text"]},
                        "fee": {"basis": "fixed", "credits": item["fee"]},
                        "status": item["status"],
                    }
                    for id_, item in open_[:limit]
                ],
                "total": len(open_),
                "limit": limit,
            },
        )

    def claim(self, request: Request) -> Response:
        """Assign an item to the agent."""
        try:
            agent, body = self._endpoint(request, CLAIM)
        except _RefusalError as refusal:
            return refusal.response
        item = self._items.get(body["item_id"])
        if item is None:
            return _error(404, "item_not_found", "Item not found")
        if body["assignee"]["agent_id"] != agent:
            return _error(
                403, "assignee_mismatch", "assignee.agent_id is not the calling agent"
            )
        if body["assignee"]["role"] != item["role"]:
            return _error(
                409,
                "role_mismatch",
                f"This item is to be assigned to a {item['role']}",
            )
        if item["status"] != "open":
            return _error(409, "item_not_open", f"Item is {item['status']}")
        item["status"] = "assigned"
        id_ = f"asg_{secrets.token_hex(6)}"
        self._assignments[id_] = {
            "item_id": body["item_id"],
            "agent_id": agent,
            "status": "assigned",
            "submission_id": None,
        }
        self.book.claimed(body["item_id"])
        return Response(
            200,
            {
                "assignment": {
                    "assignment_id": id_,
                    "item_id": body["item_id"],
                    "assignee": body["assignee"],
                    "status": "assigned",
                }
            },
        )

    def submit(self, request: Request) -> Response:
        """Take in the work product and review it."""
        try:
            agent, body = self._endpoint(request, SUBMIT)
            assignment = self._assignment(agent, body["assignment_id"])
        except _RefusalError as refusal:
            return refusal.response
        if assignment["status"] == "closed":
            return _error(409, "assignment_closed", "Assignment is closed")
        product = body["work_product"]
        text = (
            product["text"]
            if product["format"] == "plain_text"
            else "\n".join(product["paragraphs"])
        )
        if text != self._items[assignment["item_id"]]["text"].upper():
            return _error(
                422,
                "work_product_rejected",
                "Work product does not follow the instruction",
            )
        id_ = f"sub_{secrets.token_hex(6)}"
        assignment["status"] = "accepted"
        assignment["submission_id"] = id_
        return Response(
            200,
            {
                "submission": {
                    "submission_id": id_,
                    "assignment_id": body["assignment_id"],
                    "review": "accepted",
                },
                "assignment_status": "accepted",
            },
        )

    def complete(self, request: Request) -> Response:
        """Close the assignment and pay the fee."""
        try:
            agent, body = self._endpoint(request, COMPLETE)
            assignment = self._assignment(agent, body["assignment_id"])
        except _RefusalError as refusal:
            return refusal.response
        if assignment["status"] == "closed":
            return _error(409, "assignment_closed", "Assignment is closed")
        if assignment["status"] != "accepted":
            return _error(
                409, "no_accepted_submission", "Assignment has no accepted submission"
            )
        if body["submission_id"] != assignment["submission_id"]:
            return _error(404, "submission_not_found", "Submission not found")
        assignment["status"] = "closed"
        item = self._items[assignment["item_id"]]
        item["status"] = "closed"
        self.book.pay(assignment["item_id"], item["fee"])
        self._balance[agent] += item["fee"]
        return Response(
            200,
            {
                "assignment": {
                    "assignment_id": body["assignment_id"],
                    "item_id": assignment["item_id"],
                    "status": "closed",
                },
                "payment": {
                    "credits": item["fee"],
                    "balance": self._balance[agent],
                },
            },
        )
