"""Errandly, a board of errands: Rails in API mode, Active Record and strong parameters.

Every body is nested under the name of its record, refusals are Active Record's own, the
listing is a bare array paged by headers, and the review waits for the completion.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_ERRANDS = [
    ("Bakery blackboard", "rye, spelt and yesterday's news", 14),
    ("Ferry notice", "last boat leaves before the fog does", 30),
    ("Library stamp", "returned late but with regrets", 7),
    ("Choir programme", "please cough between movements", 21),
    ("Museum plaque", "spoon, bronze, owner unknown", 45),
    ("Garden gate", "beware of the enthusiastic dog", 16),
    ("Theatre ticket", "row f, seat 12, behind the pillar", 10),
    ("Market stall", "honey from bees we know personally", 38),
]
_BLANK = "can't be blank"


class _Rescued(Exception):  # noqa: N818
    """An exception that a rescue_from turns into an answer."""


def _refuse(status: int, body: Any) -> _Rescued:
    return _Rescued(Response(status, body))


def _now(**ahead: int) -> str:
    moment = datetime.now(UTC) + timedelta(**ahead)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"


def _integer(value: Any) -> int | None:
    """Cast as an integer column does."""
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _blank(value: Any) -> bool:
    return value is None or value in (False, [], {}) or not str(value).strip()


class Errandly(Backend):
    """The board: errands, claims on them, deliveries of claims."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict] = {}
        self._claims: dict[int, dict] = {}
        self._deliveries: dict[int, dict] = {}
        self._errands = {
            n: {
                "id": n,
                "title": title,
                "instructions": "Deliver the passage with every letter capitalised.",
                "passage": passage,
                "reward": f"{reward}.0",
                "state": "available",
                "created_at": _now(hours=-n),
            }
            for n, (title, passage, reward) in enumerate(_ERRANDS, 301)
        }

    def texts(self) -> dict[str, str]:
        """Return the passage of every errand by its id."""
        return {str(n): errand["passage"] for n, errand in self._errands.items()}

    def missing(self, request: Request) -> Response:
        """Return the exceptions app's answer to a routing error."""
        return Response(404, {"status": 404, "error": "Not Found"})

    def _params(self, request: Request, key: str) -> tuple[dict, dict]:
        """Return the current agent and the record's parameters."""
        try:
            params = request.json() if request.raw else {}
        except ValueError:
            raise _refuse(400, {"status": 400, "error": "Bad Request"}) from None
        scheme, _, token = (request.headers.get("Authorization") or "").partition(" ")
        if scheme not in ("Bearer", "Token") or token.strip() not in self._agents:
            realm = {
                "WWW-Authenticate": 'Token realm="Application"',
                "Content-Type": "text/plain; charset=utf-8",
            }
            raise _Rescued(Response(401, "HTTP Token: Access denied.\n", realm))
        found = params.get(key) if isinstance(params, dict) else None
        if not isinstance(found, dict) or not found:
            message = f"param is missing or the value is empty or invalid: {key}"
            raise _refuse(400, {"error": message})
        return self._agents[token.strip()], found

    def _find(
        self, model: str, rows: dict, key: Any, agent: dict | None = None
    ) -> dict:
        """Find a record, of the agent if one is given."""
        row = rows.get(_integer(key))
        if row is None or (agent and row["agent_id"] != agent["id"]):
            where = f' [WHERE "{_table(model)}"."agent_id" = $1]' if agent else ""
            shown = f'"{key}"' if isinstance(key, str) else key
            message = f"Couldn't find {model} with 'id'={shown}{where}"
            raise _refuse(404, {"error": message})
        return row

    @staticmethod
    def _validate(errors: dict[str, list[str]]) -> None:
        if errors:
            raise _refuse(422, {"errors": errors})

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        token = secrets.token_hex(20)
        agent = {"id": str(1000 + len(self._agents)), "credits": 100}
        self._agents[token] = agent
        body = {"agent_id": agent["id"], "access_token": token, "credits": 100}
        return Response(200, {**body, "created_at": _now()})

    def _index(self, request: Request, query: dict[str, str]) -> Response:
        """Render a page, and where the others are in the headers."""
        per = min(max(_integer(query.get("limit", 5)) or 5, 1), 25)
        page = max(_integer(query.get("page", 1)) or 1, 1)
        rows = [row for row in self._errands.values() if row["state"] == "available"]
        last = max(-(-len(rows) // per), 1)
        address = f"{request.base}{request.path}?limit={per}&page="
        links = []
        if page > 1:
            links += [
                f'<{address}1>; rel="first"',
                f'<{address}{page - 1}>; rel="prev"',
            ]
        if page < last:
            links += [
                f'<{address}{last}>; rel="last"',
                f'<{address}{page + 1}>; rel="next"',
            ]
        headers = {"Total": str(len(rows)), "Per-Page": str(per)}
        if links:
            headers["Link"] = ", ".join(links)
        return Response(200, rows[(page - 1) * per : page * per], headers)

    def marketplace(self, request: Request) -> Response:
        """List the available errands."""
        return self._index(request, request.query)

    tasks = marketplace

    def claim(self, request: Request) -> Response:
        """Create a claim on an errand."""
        try:
            agent, params = self._params(request, "claim")
            key = params.get("errand_id")
            if _blank(key):
                self._validate({"errand": ["must exist"], "errand_id": [_BLANK]})
            errand = self._find("Errand", self._errands, key)
            if errand["state"] != "available":
                self._validate({"errand_id": ["has already been taken"]})
        except _Rescued as e:
            return e.args[0]
        errand["state"] = "claimed"
        self.book.claimed(str(errand["id"]))
        claim = {
            "id": 5001 + len(self._claims),
            "errand_id": errand["id"],
            "agent_id": agent["id"],
            "state": "active",
            "created_at": _now(),
            "due_at": _now(days=1),
        }
        self._claims[claim["id"]] = claim
        return Response(200, claim)

    def submit(self, request: Request) -> Response:
        """Create a delivery; nobody looks at it yet."""
        try:
            agent, params = self._params(request, "delivery")
            errors: dict[str, list[str]] = {}
            if _blank(params.get("claim_id")):
                errors |= {"claim": ["must exist"], "claim_id": [_BLANK]}
            if _blank(params.get("content")):
                errors["content"] = [_BLANK]
            minutes = params.get("minutes_spent")
            try:
                number = float(minutes)
            except (TypeError, ValueError, OverflowError):
                errors["minutes_spent"] = ["is not a number"]
            else:
                if number <= 0:
                    errors["minutes_spent"] = ["must be greater than 0"]
            self._validate(errors)
            claim = self._find("Claim", self._claims, params["claim_id"], agent)
            if claim["state"] != "active":
                self._validate({"claim": [f"is {claim['state']}"]})
        except _Rescued as e:
            return e.args[0]
        claim["state"] = "delivered"
        delivery = {
            "id": 80001 + len(self._deliveries),
            "claim_id": claim["id"],
            "agent_id": agent["id"],
            "content": str(params["content"]),
            "minutes_spent": minutes,
            "state": "awaiting_completion",
            "created_at": _now(),
        }
        self._deliveries[delivery["id"]] = delivery
        return Response(200, delivery)

    def complete(self, request: Request) -> Response:
        """Check the delivery; pay for it or send its claim back."""
        try:
            agent, params = self._params(request, "completion")
            errors: dict[str, list[str]] = {}
            if _blank(params.get("delivery_id")):
                errors |= {"delivery": ["must exist"], "delivery_id": [_BLANK]}
            if params.get("terms_of_service") not in (True, "1"):
                errors["terms_of_service"] = ["must be accepted"]
            self._validate(errors)
            key = params["delivery_id"]
            delivery = self._find("Delivery", self._deliveries, key, agent)
            if delivery["state"] != "awaiting_completion":
                self._validate({"delivery": [f"is already {delivery['state']}"]})
            claim = self._claims[delivery["claim_id"]]
            errand = self._errands[claim["errand_id"]]
            if delivery["content"] != errand["passage"].upper():
                delivery["state"], claim["state"] = "rejected", "active"
                message = "does not follow the instructions, please deliver again"
                self._validate({"delivery.content": [message]})
        except _Rescued as e:
            return e.args[0]
        reward = int(float(errand["reward"]))
        delivery["state"], claim["state"] = "accepted", "completed"
        errand["state"] = "completed"
        agent["credits"] += reward
        self.book.pay(str(errand["id"]), reward)
        payment = {"amount": errand["reward"], "balance": f"{agent['credits']}.0"}
        return Response(200, {**claim, "completed_at": _now(), "payment": payment})


def _table(model: str) -> str:
    """Return the table of a model."""
    return {"Delivery": "deliveries"}.get(model, model.lower() + "s")
