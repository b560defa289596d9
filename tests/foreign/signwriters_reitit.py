"""A sign writers' agency in Clojure: reitit with malli coercion, muuntaja, kebab-case keys.

The market has two levels: a client's batch has the fee, the terms and the quota; its units have
the texts, and it is units that are taken. Taking one signs a contract: the batch's terms are to
be accepted, by the id under which the listing quotes them. An agent may have so many contracts
of a batch open as its quota says. The work is delivered under the contract, and the contract is
countersigned by the contractor named in it; a contract that lapses gives the unit back.

What malli does not like is reitit's request-coercion answer, schema and `humanized` in it;
what the agency does not like is {"error", "message"}. Keys that no schema has are stripped.
"""

import re
import secrets
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from typing import Any

from tests.foreign.backend import Backend, Request, Response

# batch, client, fee, quota, terms id, terms, units
BATCHES = (
    ("orchard-crates", "Pomona Growers", 6, 2, "pg-terms-4",
     "Paint is ours, brushes are yours. Payment per unit on countersignature.",
     ((4101, "russets, keep cool"), (4102, "quinces, do not bite"),
      (4103, "cider pears, second pressing"))),
    ("ferry-doors", "Sound & Isles Ferries", 15, 2, "sif-2025-02",
     "Lettering stays legible at ten paces. No logo of the contractor.",
     ((4117, "crew only beyond this rope"), (4118, "life jackets under every bench"),
      (4119, "car deck closed while at sea"))),
    ("night-market", "Lantern Street Traders", 9, 3, "lst-rev-b",
     "One unit, one pair of hands: no subcontracting.",
     ((4126, "dumplings until they are gone"), (4127, "knives sharpened, fortunes told"),
      (4128, "no photographs of the cat"))),
    ("tool-library", "Third Ward Tool Library", 4, 2, "twtl-7",
     "Volunteer rate. Signs are returned with the tools.",
     ((4140, "drill bits: count before and after"), (4141, "the big ladder is upstairs"))),
)  # fmt: skip
CONTRACT_SECONDS = 30 * 60

# malli: a list is a map's entries, a str the type, a tuple [:= value] or a string with :min
TERMS = [("terms-id", "string"), ("accepted", "true")]
CLAIM = [("unit-id", "int"), ("terms", TERMS)]
DELIVER = [("contract-id", "uuid"), ("text", "string")]
SIGN = [("contract-id", "uuid"), ("signed-by", "string")]
FORMS = {
    "int": ":int",
    "string": "[:string {:min 1}]",
    "uuid": ":uuid",
    "true": "[:= true]",
}


class Halt(Exception):  # noqa: N818
    def __init__(self, status: int, body: Any) -> None:
        super().__init__(status)
        self.response = Response(status, body)


def refuse(status: int, error: str, text: str, **more: Any) -> Halt:
    return Halt(status, {"error": error, "message": text, **more})


def form(schema: Any) -> str:
    """Write a schema down as malli's m/form does."""
    if isinstance(schema, str):
        return FORMS.get(schema, schema)
    entries = " ".join(f"[:{name} {form(inner)}]" for name, inner in schema)
    return f"[:map {{:closed true}} {entries}]"


def decode(schema: Any, value: Any) -> Any:
    """Strip what the schema does not have."""
    if isinstance(schema, str) or not isinstance(value, dict):
        return value
    return {name: decode(s, value[name]) for name, s in schema if name in value}


def wrong(kind: str, value: Any) -> str:
    if kind == "int" and (not isinstance(value, int) or isinstance(value, bool)):
        return "should be an integer"
    if kind == "true" and value is not True:
        return "should be true"
    if kind == "uuid":
        try:
            uuid.UUID(value if len(value) == 36 else "")
        except (ValueError, TypeError, AttributeError):
            return "should be a uuid"
    if kind == "string":
        if not isinstance(value, str):
            return "should be a string"
        if not value:
            return "should be at least 1 character"
    return ""


def explain(schema: Any, value: Any, path: list[str]) -> list[dict[str, Any]]:
    error = {"in": path, "path": path, "schema": form(schema), "value": value}
    if isinstance(schema, str):
        words = wrong(schema, value)
        return [error | {"message": words}] if words else []
    if not isinstance(value, dict):
        return [error | {"type": "malli.core/invalid-type", "message": "invalid type"}]
    found = []
    for name, inner in schema:
        if name in value:
            found += explain(inner, value[name], [*path, name])
        else:
            lost = {"in": [*path, name], "path": [*path, name], "schema": form(inner)}
            lost |= {"value": None, "type": "malli.core/missing-key"}  # type: ignore[dict-item]
            found.append(lost | {"message": "missing required key"})
    return found


def humanize(errors: list[dict[str, Any]]) -> Any:
    tree: dict[str, Any] = {}
    for error in errors:
        if not error["in"]:
            return [error["message"]]
        node = tree
        for name in error["in"][:-1]:
            node = node.setdefault(name, {})
        node[error["in"][-1]] = [error["message"]]
    return tree


def coercion(where: str, schema: str, value: Any, errors: list[dict[str, Any]]) -> Halt:
    return Halt(
        400,
        {
            "type": "reitit.coercion/request-coercion",
            "coercion": "malli",
            "in": ["request", where],
            "schema": schema,
            "value": value,
            "errors": errors,
            "humanized": humanize(errors),
        },
    )


def read(request: Request, schema: Any) -> dict[str, Any]:
    """Do as muuntaja and reitit's coercion of body-params."""
    media = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
    value: Any = None
    if media.lower() == "application/json" and request.raw:
        try:
            value = request.json()
        except ValueError:
            raise Halt(400, 'Malformed "application/json" request.') from None
    value = decode(schema, value)
    if errors := explain(schema, value, []):
        raise coercion("body-params", form(schema), value, errors)
    return value  # type: ignore[no-any-return]


def stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def handler(inner: Callable[..., Response]) -> Callable[..., Response]:
    @wraps(inner)
    def outer(self: "SignwritersReitit", request: Request) -> Response:
        try:
            self.lapse()
            return inner(self, request)
        except Halt as halt:
            return halt.response

    return outer


class SignwritersReitit(Backend):
    """Eleven units in four batches."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.contracts: dict[str, dict[str, Any]] = {}
        self.units = {
            unit: {"unit-id": unit, "text": text, "status": "open"}
            for *_, units in BATCHES
            for unit, text in units
        }
        self.batches = {unit: batch for batch in BATCHES for unit, _ in batch[-1]}

    def texts(self) -> dict[str, str]:
        return {str(number): unit["text"] for number, unit in self.units.items()}  # type: ignore[misc]

    def missing(self, request: Request) -> Response:
        return Response(404, "")

    def lapse(self) -> None:
        """Give back the units of contracts under which nothing came in time."""
        for contract in self.contracts.values():
            if contract["status"] == "signed" and contract["until"] <= time.time():
                contract["status"] = "lapsed"
                self.units[contract["unit-id"]]["status"] = "open"
                self.book.held.discard(str(contract["unit-id"]))

    def agent(self, request: Request) -> dict[str, Any]:
        if request.token not in self.agents:
            raise refuse(
                401, "unauthorized", "a bearer token of the agency is required"
            )
        return self.agents[request.token]

    @handler
    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"writer-{secrets.token_hex(5)}", secrets.token_urlsafe(27)
        self.agents[token] = {"agent_id": agent, "credits": 100}
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def listing(self, request: Request) -> Response:
        """List batches that have open units; limit and page count batches."""
        numbers = {"page": 1, "limit": 3}
        errors = []
        schema = "[:map {:closed true} [:page {:optional true} [:int {:min 1}]] "
        schema += "[:limit {:optional true} [:int {:min 1, :max 20}]]]"
        for name, high in (("page", 0), ("limit", 20)):
            given = request.query.get(name)
            if given is None:
                continue
            bad = "" if re.fullmatch(r"-?\d{1,9}", given) else "should be an integer"
            numbers[name] = 1 if bad else int(given)
            if numbers[name] < 1 or numbers[name] > (high or numbers[name]):
                bad = (
                    f"should be between 1 and {high}"
                    if high
                    else "should be at least 1"
                )
            if bad:
                one = {"in": [name], "path": [name], "value": given, "message": bad}
                errors.append(one)
        if errors:
            raise coercion("query-params", schema, dict(request.query), errors)
        page, limit = numbers["page"], numbers["limit"]
        found = []
        for batch in BATCHES:
            units = [dict(self.units[number]) for number, _ in batch[-1]]
            if any(unit["status"] == "open" for unit in units):
                found.append(self.shown_batch(batch, units))
        pages = -(-len(found) // limit)
        query = f"{request.path}?page={page + 1}&limit={limit}"
        return Response(
            200,
            {
                "batches": found[(page - 1) * limit : page * limit],
                "page": page,
                "pages": pages,
                "next": query if page < pages else None,
            },
        )

    @staticmethod
    def shown_batch(batch: Any, units: Any) -> dict[str, Any]:
        number, client, fee, quota, terms_id, terms, _ = batch
        return {
            "batch-id": number,
            "client": client,
            "brief": "Set the text of each unit in capital letters.",
            "unit-fee": {"amount": fee, "currency": "credits"},
            "quota": {"open-contracts-per-agent": quota},
            "terms": {"terms-id": terms_id, "text": terms},
            "units": units,
        }

    @handler
    def marketplace(self, request: Request) -> Response:
        return self.listing(request)

    @handler
    def tasks(self, request: Request) -> Response:
        self.agent(request)
        return self.listing(request)

    @handler
    def claim(self, request: Request) -> Response:
        """Sign a contract for a unit under its batch's terms."""
        agent = self.agent(request)
        given = read(request, CLAIM)
        unit = self.units.get(given["unit-id"])
        if unit is None:
            raise refuse(404, "no-such-unit", f"there is no unit {given['unit-id']}")
        number, client, fee, quota, terms_id, _, _ = self.batches[unit["unit-id"]]  # type: ignore[index]
        if given["terms"]["terms-id"] != terms_id:
            words = f"units of {number} are let under {terms_id}, not under "
            raise refuse(422, "other-terms-apply", words + given["terms"]["terms-id"])
        if unit["status"] != "open":
            words = f"unit {unit['unit-id']} is {unit['status']}"
            raise refuse(409, "unit-not-open", words)
        mine = [
            c["contract-id"]
            for c in self.contracts.values()
            if c["contractor"] == agent["agent_id"]
            and c["batch-id"] == number
            and c["status"] in ("signed", "delivered")
        ]
        if len(mine) >= quota:
            words = f"{len(mine)} of {quota} contracts of {number} are open with you"
            raise refuse(429, "quota-used-up", words, contracts=mine)
        contract = {
            "contract-id": str(uuid.uuid4()),
            "batch-id": number,
            "unit-id": unit["unit-id"],
            "client": client,
            "contractor": agent["agent_id"],
            "terms-id": terms_id,
            "status": "signed",
            "fee": fee,
            "until": time.time() + CONTRACT_SECONDS,
        }
        self.contracts[contract["contract-id"]] = contract
        unit["status"] = "under-contract"
        self.book.claimed(str(unit["unit-id"]))
        return Response(200, {"contract": self.shown(contract), "unit": dict(unit)})

    @staticmethod
    def shown(contract: dict[str, Any]) -> dict[str, Any]:
        names = ("contract-id", "batch-id", "unit-id", "terms-id", "status")
        return {name: contract[name] for name in names} | {
            "parties": {
                "client": contract["client"],
                "contractor": contract["contractor"],
            },
            "fee": {"amount": contract["fee"], "currency": "credits"},
            "deliver-by": stamp(contract["until"]),
        }

    def contract_of(self, agent: dict[str, Any], number: str) -> dict[str, Any]:
        contract = self.contracts.get(number.lower())
        if contract is None or contract["contractor"] != agent["agent_id"]:
            words = f"you are no party to a contract {number}"
            raise refuse(404, "no-such-contract", words)
        return contract

    @handler
    def submit(self, request: Request) -> Response:
        """Deliver the text under a contract."""
        agent = self.agent(request)
        given = read(request, DELIVER)
        contract = self.contract_of(agent, given["contract-id"])
        if contract["status"] != "signed":
            words = f"contract is {contract['status']}"
            raise refuse(409, "contract-not-open", words)
        if given["text"].strip() != self.units[contract["unit-id"]]["text"].upper():  # type: ignore[attr-defined]
            words = "that is not the unit's text in capital letters"
            raise refuse(422, "delivery-refused", words)
        contract["status"] = self.units[contract["unit-id"]]["status"] = "delivered"
        return Response(200, {"contract": self.shown(contract)})

    @handler
    def complete(self, request: Request) -> Response:
        """Take the contractor's signature and pay."""
        agent = self.agent(request)
        given = read(request, SIGN)
        contract = self.contract_of(agent, given["contract-id"])
        if contract["status"] == "signed":
            raise refuse(409, "nothing-delivered", "deliver the unit's text first")
        if contract["status"] != "delivered":
            words = f"contract is {contract['status']}"
            raise refuse(409, "contract-closed", words)
        if given["signed-by"] != contract["contractor"]:
            words = "a contract is countersigned by its contractor's name"
            parties = self.shown(contract)["parties"]
            raise refuse(422, "signature-does-not-match", words, parties=parties)
        contract["status"] = self.units[contract["unit-id"]]["status"] = "settled"
        self.book.pay(str(contract["unit-id"]), contract["fee"])
        agent["credits"] += contract["fee"]
        balance = {"amount": agent["credits"], "currency": "credits"}
        return Response(200, {"contract": self.shown(contract), "balance": balance})
