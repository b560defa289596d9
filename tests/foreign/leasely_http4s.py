"""Leasely: a start-up's service in Scala 3, http4s with circe.

Its codecs are derived with snake_case members and decode accumulating, so a refusal shows
every DecodingFailure at once; its errors are a sealed trait, so each stands in an object
under the name of its case. The text of a gig comes with the lease, and an accepted
delivery is paid at once; completing only closes the lease.
"""

import json
import re
import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_GIGS = [
    ("headline", "seed round closes early", 14, "PT1H"),
    ("button", "get started for free", 5, "PT20M"),
    ("banner", "we are moving to lisbon!", 9, "PT30M"),
    ("changelog", "fixes a race in the naïve scheduler", 22, "PT2H"),
    ("tagline", "less meetings, more shipping", 11, "PT45M"),
    ("warning", "disk usage above 90% on node-3", 18, "PT1H30M"),
]
_KINDS = ("plain_text", "markdown", "json_document")
_DURATION = re.compile(r"PT(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?")


class _ApiError(Exception):
    """A case of `sealed trait ApiError`, with the status it is mapped to."""

    def __init__(self, status: int, case: str, **members: Any) -> None:
        super().__init__(case)
        self.status, self.body = status, {case: members}


def _wrong(value: Any, expected: str) -> ValueError:
    shown = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return ValueError(f"Got value '{shown}' with wrong type, expecting {expected}")


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise _wrong(value, "string")
    return value


def _long(value: Any) -> int:
    # circe reads a number that stands in a string, too
    if isinstance(value, bool) or not re.fullmatch(r"-?\d{1,18}", str(value)):
        raise _wrong(value, "number")
    return int(value)


def _seconds(value: Any) -> int:
    match = _DURATION.fullmatch(_string(value))
    if not match:
        raise ValueError(f"Text '{value}' cannot be parsed to a Duration")
    return sum(int(part or 0) * by for part, by in zip(match.groups(), (3600, 60, 1)))  # noqa: B905


def _kind(value: Any) -> str:
    if _string(value) not in _KINDS:
        raise ValueError(f"'{value}' is not one of: {', '.join(_KINDS)}")
    return str(value)


# Member -> its decoder, or the members of a nested case class.
_CLAIM = {"gig_id": _long, "agent_id": _string, "eta": _seconds}
_DELIVERY = {"lease_id": _string, "output": {"kind": _kind, "body": _string}}
_CLOSE = {"lease_id": _string, "delivery_id": _long}


def _decode(shape: dict[str, Any], value: Any, path: str, errors: list[str]) -> Any:
    """Decode accumulating: every failure is put into errors."""
    if not isinstance(value, dict):
        errors.append(f"DecodingFailure at {path}: {_wrong(value, 'object')}")
        return {}
    members = {}
    for name, decoder in shape.items():
        if name not in value:
            errors.append(f"DecodingFailure at {path}.{name}: Missing required field")
        elif isinstance(decoder, dict):
            members[name] = _decode(decoder, value[name], f"{path}.{name}", errors)
        else:
            try:
                members[name] = decoder(value[name])
            except ValueError as failure:
                errors.append(f"DecodingFailure at {path}.{name}: {failure}")
    return members


def _body(request: Request, shape: dict[str, Any]) -> Any:
    if (media := request.headers.get_content_type()) != "application/json":
        why = f"{media} is not supported. Expected one of the following media ranges: application/json"
        raise _ApiError(415, "UnsupportedMedia", message=why)
    if not request.raw:
        why = "Malformed message body: Invalid JSON: empty body"
        raise _ApiError(400, "MalformedBody", message=why)
    try:
        value = request.json()
    except ValueError as error:
        where = (
            f"(line {getattr(error, 'lineno', 1)}, column {getattr(error, 'colno', 1)})"
        )
        why = f"Malformed message body: Invalid JSON: expected json value {where}"
        raise _ApiError(400, "MalformedBody", message=why) from None
    errors: list[str] = []
    decoded = _decode(shape, value, "", errors)
    if errors:
        raise _ApiError(422, "InvalidBody", failures=errors)
    return decoded


class Leasely(Backend):
    """Gigs are leased; an accepted delivery pays."""

    def __init__(self) -> None:
        super().__init__()
        self._tokens: dict[str, str] = {}  # token -> agent
        self._gigs: dict[int, dict[str, Any]] = {}
        self._inputs: dict[int, str] = {}
        self._leases: dict[str, dict[str, Any]] = {}
        self._wallets: dict[str, int] = {}
        for number, (what, text, bounty, timebox) in enumerate(_GIGS):
            key = 70021 + 13 * number
            self._inputs[key] = text
            self._gigs[key] = {
                "gig_id": key,
                "name": f"Uppercase a {what}",
                "brief": "The lease carries an input; deliver it in uppercase.",
                "bounty": bounty,
                "timebox": timebox,
                "expects": "plain_text",
                "state": "available",
            }

    def texts(self) -> dict[str, str]:
        """Return the inputs by gig."""
        return {str(key): text for key, text in self._inputs.items()}

    def missing(self, request: Request) -> Response:
        """Return http4s's own answer to a route it has not."""
        return Response(404, "Not found")

    def _answer(
        self, request: Request, work: Callable[..., Any], *shape: Any
    ) -> Response:
        try:
            if not shape:
                return Response(200, work(request))
            agent = self._tokens.get(request.token)
            if agent is None:
                why = "invalid token" if request.token else "missing bearer token"
                raise _ApiError(401, "Unauthorized", reason=why)
            return Response(200, work(agent, _body(request, *shape)))
        except _ApiError as error:
            realm = {"WWW-Authenticate": 'Bearer realm="leasely"'}
            return Response(
                error.status, error.body, realm if error.status == 401 else {}
            )

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        agent, token = f"agt_{secrets.token_hex(6)}", f"lsy_{secrets.token_hex(20)}"
        self._tokens[token] = agent
        self._wallets[agent] = 100
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        """List all gigs, five at a time unless told; open to everybody."""
        return self._answer(request, self._page)

    def _page(self, request: Request) -> Any:
        values = []
        for name, default in (("limit", "5"), ("after", "0")):
            text = request.query.get(name, default)
            if not re.fullmatch(r"-?\d{1,9}", text):
                why = f'Query decoding Int failed: For input string: "{text}"'
                raise _ApiError(400, "InvalidQuery", parameter=name, message=why)
            values.append(int(text))
        limit, after = values
        if not 1 <= limit <= 25:
            why = f"{limit} is not in the interval [1, 25]"
            raise _ApiError(400, "InvalidQuery", parameter="limit", message=why)
        rest = [gig for key, gig in self._gigs.items() if key > after]
        more = len(rest) > limit
        following = (
            f"{request.path}?limit={limit}&after={rest[limit - 1]['gig_id']}"
            if more
            else None
        )
        return {"gigs": rest[:limit], "next": following}

    def claim(self, request: Request) -> Response:
        """Lease a gig."""
        return self._answer(request, self._lease, _CLAIM)

    def _lease(self, agent: str, claim: Any) -> Any:
        gig = self._gigs.get(claim["gig_id"])
        if gig is None:
            raise _ApiError(404, "GigNotFound", gig_id=claim["gig_id"])
        if claim["agent_id"] != agent:
            raise _ApiError(
                403, "AgentMismatch", token_agent=agent, body_agent=claim["agent_id"]
            )
        if not 0 < claim["eta"] <= _seconds(gig["timebox"]):
            why = "eta must be longer than PT0S and within the timebox of the gig"
            raise _ApiError(422, "EtaOutOfTimebox", message=why, timebox=gig["timebox"])
        if gig["state"] != "available":
            raise _ApiError(
                409, "GigUnavailable", gig_id=gig["gig_id"], state=gig["state"]
            )
        gig["state"] = "leased"
        self.book.claimed(str(gig["gig_id"]))
        until = datetime.fromtimestamp(time.time() + claim["eta"], UTC)
        key = f"lea_{secrets.token_hex(8)}"
        self._leases[key] = {"agent": agent, "gig": gig, "delivery": None}
        expires = until.isoformat(timespec="milliseconds")[:-6] + "Z"
        return {
            "lease": {
                "lease_id": key,
                "gig_id": gig["gig_id"],
                "input": self._inputs[gig["gig_id"]],
                "expires_at": expires,
            }
        }

    def _held(self, agent: str, key: str) -> dict[str, Any]:
        lease = self._leases.get(key)
        if lease is None or lease["agent"] != agent:
            raise _ApiError(404, "LeaseNotFound", lease_id=key)
        return lease

    def submit(self, request: Request) -> Response:
        """Take a delivery and, if it is right, pay for it."""
        return self._answer(request, self._deliver, _DELIVERY)

    def _deliver(self, agent: str, body: Any) -> Any:
        lease, output = self._held(agent, body["lease_id"]), body["output"]
        gig = lease["gig"]
        if gig["state"] != "leased":
            raise _ApiError(
                409, "AlreadyDelivered", lease_id=body["lease_id"], state=gig["state"]
            )
        if output["kind"] != gig["expects"]:
            raise _ApiError(
                422, "UnexpectedKind", expects=gig["expects"], got=output["kind"]
            )
        if output["body"] != self._inputs[gig["gig_id"]].upper():
            raise _ApiError(
                422,
                "DeliveryRejected",
                reason="output.body is not the input in uppercase",
            )
        gig["state"] = "paid"
        lease["delivery"] = 900_000 + gig["gig_id"]
        self._wallets[agent] += gig["bounty"]
        self.book.pay(str(gig["gig_id"]), gig["bounty"])
        return {
            "delivery": {
                "delivery_id": lease["delivery"],
                "verdict": "accepted",
                "paid_out": gig["bounty"],
                "wallet": self._wallets[agent],
            }
        }

    def complete(self, request: Request) -> Response:
        """Close a lease whose delivery is paid."""
        return self._answer(request, self._close, _CLOSE)

    def _close(self, agent: str, body: Any) -> Any:
        gig = (lease := self._held(agent, body["lease_id"]))["gig"]
        if gig["state"] != "paid":
            raise _ApiError(
                409, "NothingToClose", lease_id=body["lease_id"], state=gig["state"]
            )
        if body["delivery_id"] != lease["delivery"]:
            raise _ApiError(404, "DeliveryNotFound", delivery_id=body["delivery_id"])
        gig["state"] = "closed"
        return {"gig": gig}
