"""A Clojure ring service with reitit and malli coercion: an archaeology finds register.

Refusals are reitit's request-coercion bodies; extra keys are stripped, names kebab-case.
"""

import re
import uuid
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_SPACE = uuid.UUID("5b0c6f0e-2f0f-4f57-9a63-6f1c6d1e7a10")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")

_FINDS: list[tuple[str, int, str, str, int]] = [
    (
        "HBK24",
        118,
        "copper alloy",
        "Describe the copper alloy brooch from context 118, pin missing.",
        14,
    ),
    (
        "HBK24",
        121,
        "ceramic",
        "Catalogue six sherds of grey ware with a rouletted rim.",
        9,
    ),
    (
        "HBK24",
        133,
        "bone",
        "Record a bone comb with ring and dot decoration, two teeth lost.",
        17,
    ),
    ("HBK24", 140, "glass", "Describe the blue glass bead found beside the hearth.", 8),
    (
        "WTM23",
        12,
        "iron",
        "Write the entry for an iron knife blade, tang bent, heavily corroded.",
        12,
    ),
    ("WTM23", 15, "lead", "Record a lead spindle whorl, conical, weight 23 g.", 7),
    ("WTM23", 31, "stone", "Catalogue the quern fragment reused in wall 31.", 15),
    ("WTM23", 44, "silver", "Describe a clipped silver penny, mint uncertain.", 22),
    (
        "SLN25",
        3,
        "flint",
        "Summarise the flint scatter from the ploughsoil of trench 3.",
        11,
    ),
    (
        "SLN25",
        9,
        "ceramic",
        "Record the base of a samian bowl with a partial maker's stamp.",
        19,
    ),
]


@dataclass
class _Schema:
    """One malli schema: :uuid, :string, :int, :enum or :map."""

    kind: str
    low: int | None = None
    high: int | None = None
    values: tuple[str, ...] = ()
    entries: tuple[tuple[str, "_Schema", bool], ...] = ()
    closed: bool = True

    def edn(self) -> str:
        if self.kind == "enum":
            return "[:enum " + " ".join(f'"{value}"' for value in self.values) + "]"
        if self.kind == "map":
            entries = " ".join(
                f"[:{name} {'{:optional true} ' if optional else ''}{schema.edn()}]"
                for name, schema, optional in self.entries
            )
            return f"[:map {'{:closed true} ' if self.closed else ''}{entries}]"
        bounds = [
            f"{name} {value}"
            for name, value in ((":min", self.low), (":max", self.high))
            if value is not None
        ]
        return f"[:{self.kind} {{{', '.join(bounds)}}}]" if bounds else f":{self.kind}"

    def decode(self, value: Any) -> Any:
        if self.kind == "uuid" and isinstance(value, str) and _UUID.fullmatch(value):
            return value.lower()
        if self.kind == "map" and isinstance(value, dict):
            known = {name: schema for name, schema, _ in self.entries}
            return {
                name: known[name].decode(inner) if name in known else inner
                for name, inner in value.items()
                if name in known or not self.closed
            }
        return value

    def complaint(self, value: Any) -> str:
        if self.kind == "uuid":
            good = isinstance(value, str) and _UUID.fullmatch(value)
            return "" if good else "should be a uuid"
        if self.kind == "enum":
            if isinstance(value, str) and value in self.values:
                return ""
            return (
                f"should be either {', '.join(self.values[:-1])} or {self.values[-1]}"
            )
        if self.kind == "int":
            if not isinstance(value, int) or isinstance(value, bool):
                return "should be an integer"
            if self.low is not None and value < self.low:
                return f"should be at least {self.low}"
            if self.high is not None and value > self.high:
                return f"should be at most {self.high}"
            return ""
        if not isinstance(value, str):
            return "should be a string"
        if self.low is not None and len(value) < self.low:
            return (
                f"should be at least {self.low} character{'' if self.low == 1 else 's'}"
            )
        if self.high is not None and len(value) > self.high:
            return f"should be at most {self.high} characters"
        return ""

    def explain(self, value: Any, path: list[str]) -> list[dict[str, Any]]:
        def error(
            at: list[str], what: Any, message: str, kind: str = ""
        ) -> dict[str, Any]:
            return {
                "path": at,
                "in": at,
                "schema": self.edn(),
                "value": what,
                **({"type": kind} if kind else {}),
                "message": message,
            }

        if self.kind != "map":
            message = self.complaint(value)
            return [error(path, value, message)] if message else []
        if not isinstance(value, dict):
            return [error(path, value, "invalid type", "malli.core/invalid-type")]
        errors: list[dict[str, Any]] = []
        for name, schema, optional in self.entries:
            if name in value:
                errors += schema.explain(value[name], [*path, name])
            elif not optional:
                errors.append(
                    error(
                        [*path, name],
                        None,
                        "missing required key",
                        "malli.core/missing-key",
                    )
                )
        return errors


def _map(*entries: tuple[str, _Schema, bool], closed: bool = True) -> _Schema:
    return _Schema("map", entries=entries, closed=closed)


_ID = _Schema("uuid")
_CLAIM = _map(("find-id", _ID, False), ("specialist-id", _ID, False))
_SUBMIT = _map(
    ("assignment-id", _ID, False),
    (
        "catalogue-entry",
        _map(
            ("text", _Schema("string", low=1, high=4000), False),
            (
                "confidence",
                _Schema("enum", values=("certain", "probable", "possible")),
                False,
            ),
            ("remarks", _Schema("string"), True),
        ),
        False,
    ),
)
_COMPLETE = _map(("assignment-id", _ID, False))
_QUERY = _map(("limit", _Schema("int", low=1, high=100), True), closed=False)


def _humanized(errors: list[dict[str, Any]]) -> Any:
    tree: dict[str, Any] = {}
    for error in errors:
        if not error["in"]:
            return [error["message"]]
        node = tree
        for name in error["in"][:-1]:
            node = node.setdefault(name, {})
        node.setdefault(error["in"][-1], []).append(error["message"])
    return tree


def _coerce(schema: _Schema, value: Any, part: str) -> tuple[Any, Response | None]:
    value = schema.decode(value)
    errors = schema.explain(value, [])
    if not errors:
        return value, None
    return value, Response(
        400,
        {
            "schema": schema.edn(),
            "errors": errors,
            "value": value,
            "type": "reitit.coercion/request-coercion",
            "coercion": "malli",
            "in": ["request", part],
            "humanized": _humanized(errors),
        },
    )


def _problem(status: int, kind: str, message: str) -> Response:
    return Response(status, {"type": kind, "message": message})


class FindsRegister(Backend):
    """A register of excavated finds that pays specialists per catalogue entry."""

    def __init__(self) -> None:
        super().__init__()
        self._specialists: dict[str, dict[str, Any]] = {}
        self._assignments: dict[str, dict[str, Any]] = {}
        self._finds: dict[str, dict[str, Any]] = {}
        for number, (site, context, material, text, fee) in enumerate(_FINDS, 1):
            key = str(uuid.uuid5(_SPACE, f"find/{number}"))
            self._finds[key] = {
                "find-id": key,
                "small-find-no": f"{site}-SF{number:03d}",
                "site-code": site,
                "context-no": context,
                "material": material,
                "instructions": text,
                "fee-credits": fee,
                "status": "uncatalogued",
            }

    def texts(self) -> dict[str, str]:
        return {key: find["instructions"] for key, find in self._finds.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, "")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        key = str(uuid.uuid5(_SPACE, f"specialist/{self.book.registrations}"))
        token = "fr_" + uuid.uuid4().hex
        self._specialists[token] = {"id": key, "balance": 100}
        return Response(
            200,
            {
                "agent_id": key,
                "access_token": token,
                "credits": 100,
                "specialist": {"specialist-id": key, "grade": "associate"},
            },
        )

    def _listing(self, request: Request) -> Response:
        query: dict[str, Any] = dict(request.query)
        if re.fullmatch(r"[+-]?\d+", query.get("limit", "")):
            query["limit"] = int(query["limit"])
        query, refusal = _coerce(_QUERY, query, "query-params")
        if refusal:
            return refusal
        waiting = [f for f in self._finds.values() if f["status"] == "uncatalogued"]
        return Response(
            200,
            {"finds": waiting[: query.get("limit", 25)], "total-count": len(waiting)},
        )

    def tasks(self, request: Request) -> Response:
        return self._listing(request)

    def marketplace(self, request: Request) -> Response:
        return self._listing(request)

    def _enter(
        self, request: Request, schema: _Schema
    ) -> tuple[dict[str, Any], dict[str, Any], Response | None]:
        body: Any = None
        if (
            "json" in (request.headers.get("Content-Type") or "")
            and request.raw.strip()
        ):
            try:
                body = request.json()
            except ValueError:
                return {}, {}, Response(400, 'Malformed "application/json" request.')
        specialist = self._specialists.get(request.token)
        if specialist is None:
            return (
                {},
                {},
                _problem(401, "unauthorized", "A valid bearer token is required."),
            )
        body, refusal = _coerce(schema, body, "body-params")
        return specialist, body, refusal

    def claim(self, request: Request) -> Response:
        specialist, body, refusal = self._enter(request, _CLAIM)
        if refusal:
            return refusal
        if body["specialist-id"] != specialist["id"]:
            return _problem(
                403, "forbidden", "specialist-id is not the specialist of this token."
            )
        find = self._finds.get(body["find-id"])
        if find is None:
            return _problem(
                404,
                "find-not-found",
                f"There is no find with find-id {body['find-id']}.",
            )
        if find["status"] != "uncatalogued":
            return _problem(409, "find-not-available", f"The find is {find['status']}.")
        find["status"] = "assigned"
        key = str(uuid.uuid5(_SPACE, f"assignment/{len(self._assignments) + 1}"))
        assignment = {
            "assignment-id": key,
            "find-id": find["find-id"],
            "specialist-id": specialist["id"],
            "status": "assigned",
        }
        self._assignments[key] = {"shown": assignment, "text": None}
        self.book.claimed(find["find-id"])
        return Response(200, {"assignment": assignment})

    def _assignment(
        self, specialist: dict[str, Any], key: str
    ) -> tuple[dict[str, Any], Response | None]:
        kept = self._assignments.get(key)
        if kept is None or kept["shown"]["specialist-id"] != specialist["id"]:
            return {}, _problem(
                404, "assignment-not-found", f"You have no assignment {key}."
            )
        if kept["shown"]["status"] == "accepted":
            return {}, _problem(
                409,
                "assignment-closed",
                "The assignment was accepted and paid already.",
            )
        return kept, None

    def submit(self, request: Request) -> Response:
        specialist, body, refusal = self._enter(request, _SUBMIT)
        if refusal:
            return refusal
        kept, refusal = self._assignment(specialist, body["assignment-id"])
        if refusal:
            return refusal
        kept["text"] = body["catalogue-entry"]["text"]
        kept["shown"]["status"] = "entry-submitted"
        return Response(
            200,
            {"assignment": kept["shown"], "catalogue-entry": body["catalogue-entry"]},
        )

    def complete(self, request: Request) -> Response:
        specialist, body, refusal = self._enter(request, _COMPLETE)
        if refusal:
            return refusal
        kept, refusal = self._assignment(specialist, body["assignment-id"])
        if refusal:
            return refusal
        shown = kept["shown"]
        if shown["status"] != "entry-submitted":
            return _problem(
                409, "no-catalogue-entry", "The assignment has no catalogue entry yet."
            )
        find = self._finds[shown["find-id"]]
        if kept["text"] != find["instructions"].upper():
            shown["status"] = "assigned"
            return _problem(
                422,
                "entry-rejected",
                "The catalogue entry was not accepted by the finds officer; submit again.",
            )
        shown["status"] = "accepted"
        find["status"] = "catalogued"
        specialist["balance"] += find["fee-credits"]
        self.book.pay(find["find-id"], find["fee-credits"])
        return Response(
            200,
            {
                "assignment": shown,
                "payment": {
                    "credits": find["fee-credits"],
                    "balance": specialist["balance"],
                },
            },
        )
