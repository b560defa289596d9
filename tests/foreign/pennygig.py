"""Pennygig, a start-up's Rails application with error classes and a JSON API of its own.

Parameters come under a root key (strong parameters), records have integer ids, a
submission that is accepted pays, and completing the claim afterwards only closes it.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_INSTRUCTIONS = "Shout it: give back source_text in upper case, nothing else changed."
_GIGS = [
    ("Shop window", "fresh bread from six in the morning", 25),
    ("Tram stop", "Line 4 does not stop here on Sundays", 40),
    ("Lighthouse log", "wind north-west, sea moderate, one sail seen", 15),
    ("Cloakroom tag", "keep this half until you leave", 10),
    ("Seed packet", "Sow thinly; thin to 20 cm in May", 55),
    ("Museum case", "clay lamp, found near the old mill", 30),
    ("Chess club", "no talking while the clocks run", 20),
]
_MAX_OPEN_CLAIMS = 3
_PER_PAGE = 5


# The application's error classes and the statuses that they are rescued with.
_STATUS = {
    "ParameterMissing": 400,
    "BadRequest": 400,
    "Unauthenticated": 401,
    "NotAuthorized": 403,
    "RecordNotFound": 404,
    "GigAlreadyTaken": 409,
    "InvalidTransition": 409,
    "TooManyOpenClaims": 422,
    "RecordInvalid": 422,
}


class _ApiError(Exception):
    def __init__(self, kind: str, message: str, **details: list[str]) -> None:
        super().__init__(message)
        self.kind, self.details = kind, details


def _invalid(attribute: str, problem: str) -> _ApiError:
    human = attribute.replace("_", " ").capitalize()
    message = f"Validation failed: {human} {problem}"
    return _ApiError("RecordInvalid", message, **{attribute: [problem]})


def _missing(name: str) -> _ApiError:
    message = f"param is missing or the value is empty: {name}"
    return _ApiError("ParameterMissing", message)


def _transition(event: str, state: str) -> _ApiError:
    message = f"Event '{event}' cannot transition from '{state}'."
    return _ApiError("InvalidTransition", message)


def _answering(action: Any) -> Any:
    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except _ApiError as no:
            body = {"type": f"Pennygig::{no.kind}", "message": str(no)}
            body |= {"details": no.details} if no.details else {}
            return Response(_STATUS[no.kind], {"success": False, "error": body})

    return answer


class RailsGigs(Backend):
    """Pennygig: gigs, claims on them, and submissions to the claims."""

    def __init__(self) -> None:
        super().__init__()
        self._workers: dict[str, str] = {}  # token -> id
        self._claims: dict[int, dict[str, Any]] = {}
        self._owners: dict[int, str] = {}  # claim -> worker
        self._submissions = 8800
        self._gigs: dict[int, dict[str, Any]] = {
            number: {
                "id": number,
                "title": title,
                "instructions": _INSTRUCTIONS,
                "source_text": text,
                "payout": payout,
                "status": "open",
                "created_at": "2025-02-11T08:30:00.000Z",
            }
            for number, (title, text, payout) in enumerate(_GIGS, 311)
        }

    def texts(self) -> dict[str, str]:
        return {str(number): gig["source_text"] for number, gig in self._gigs.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, {"status": 404, "error": "Not Found"})

    def handle(self, request: Request) -> Response:
        answer = super().handle(request)
        answer.headers.setdefault("Content-Type", "application/json; charset=utf-8")
        answer.headers["X-Request-Id"] = str(uuid.uuid4())
        return answer

    def _worker(self, request: Request) -> str:
        if request.token not in self._workers:
            message = "You need to sign in or sign up before continuing."
            raise _ApiError("Unauthenticated", message)
        return self._workers[request.token]

    @staticmethod
    def _params(request: Request, root: str) -> dict[str, Any]:
        try:
            body = request.json() if request.raw.strip() else {}
        except ValueError:
            message = "Error occurred while parsing request parameters"
            raise _ApiError("BadRequest", message) from None
        value = body.get(root) if isinstance(body, dict) else None
        if value in (None, "", {}, []):
            raise _missing(root)
        if not isinstance(value, dict):
            got = {str: "String", int: "Integer", list: "Array"}.get(
                type(value), "Float"
            )
            message = f"expected Hash (got {got}) for param `{root}'"
            raise _ApiError("BadRequest", message)
        return value

    @staticmethod
    def _find(table: dict[int, Any], model: str, params: dict[str, Any], name: str):  # noqa: ANN205
        value = params.get(name)
        if value in (None, "", {}, []):
            raise _missing(name)
        number = int(value) if str(value).isdecimal() else -1
        if number not in table:
            raise _ApiError(
                "RecordNotFound", f"Couldn't find {model} with 'id'={value}"
            )
        return table[number]

    def _own_claim(self, worker: str, params: dict[str, Any], name: str):  # noqa: ANN202
        claim = self._find(self._claims, "Claim", params, name)
        if self._owners[claim["id"]] != worker:
            message = "You are not allowed to perform this action."
            raise _ApiError("NotAuthorized", message)
        return claim

    def register(self, request: Request) -> Response:
        worker, token = str(uuid.uuid4()), secrets.token_urlsafe(24)
        self._workers[token] = worker
        self.book.registrations += 1
        return Response(
            200, {"agent_id": worker, "access_token": token, "credits": 100}
        )

    def marketplace(self, request: Request) -> Response:
        gigs = [gig for gig in self._gigs.values() if gig["status"] == "open"]
        # Kaminari: what makes no sense falls back on the default.
        asked = {k: int(v) for k, v in request.query.items() if v.isdecimal()}
        per = min(asked.get("limit") or _PER_PAGE, _PER_PAGE)
        page = asked.get("page") or 1
        pages = -(-len(gigs) // per)
        meta = {
            "current_page": page,
            "next_page": page + 1 if page < pages else None,
            "prev_page": page - 1 if page > 1 else None,
            "total_pages": pages,
            "total_count": len(gigs),
        }
        return Response(
            200, {"gigs": gigs[(page - 1) * per : page * per], "meta": meta}
        )

    def agents(self, request: Request) -> Response:
        return Response(200, {"workers": [{"id": w} for w in self._workers.values()]})

    directory = agents

    @_answering
    def tasks(self, request: Request) -> Response:
        self._worker(request)
        return self.marketplace(request)

    @_answering
    def claim(self, request: Request) -> Response:
        """Create a claim: {"claim": {"gig_id": 311}}."""
        worker = self._worker(request)
        gig = self._find(self._gigs, "Gig", self._params(request, "claim"), "gig_id")
        if gig["status"] != "open":
            raise _ApiError("GigAlreadyTaken", f"Gig #{gig['id']} is already taken.")
        own = [self._claims[key] for key, who in self._owners.items() if who == worker]
        if sum(claim["state"] != "closed" for claim in own) >= _MAX_OPEN_CLAIMS:
            message = f"You can hold at most {_MAX_OPEN_CLAIMS} claims at a time. "
            message += "Submit and complete one of them first."
            raise _ApiError("TooManyOpenClaims", message)
        gig["status"] = "taken"
        claim = {
            "id": 50710 + 3 * len(self._claims),
            "gig_id": gig["id"],
            "state": "active",
            "minutes_spent": None,
            "expires_at": (datetime.now(UTC) + timedelta(hours=4)).isoformat(),
        }
        self._claims[claim["id"]] = claim
        self._owners[claim["id"]] = worker
        self.book.claimed(str(gig["id"]))
        return Response(200, {"success": True, "claim": claim})

    @_answering
    def submit(self, request: Request) -> Response:
        """Create a submission: {"submission": {"claim_id": 50710, "body": "..."}}."""
        worker = self._worker(request)
        params = self._params(request, "submission")
        claim = self._own_claim(worker, params, "claim_id")
        if claim["state"] != "active":
            raise _transition("submit", claim["state"])
        gig, body = self._gigs[claim["gig_id"]], params.get("body")
        if body is None or not str(body).strip():
            raise _invalid("body", "can't be blank")
        if body != gig["source_text"].upper():
            raise _invalid("body", "does not follow the gig's instructions")
        claim["state"] = "accepted"
        self._submissions += 1
        self.book.pay(str(gig["id"]), gig["payout"])
        submission = {
            "id": self._submissions,
            "claim_id": claim["id"],
            "verdict": "accepted",
            "paid_out": gig["payout"],
        }
        return Response(200, {"success": True, "submission": submission})

    @_answering
    def complete(self, request: Request) -> Response:
        """Close a claim: {"claim": {"id": 50710, "minutes_spent": 3}}."""
        worker = self._worker(request)
        params = self._params(request, "claim")
        claim = self._own_claim(worker, params, "id")
        if claim["state"] != "accepted":
            raise _transition("complete", claim["state"])
        minutes = params.get("minutes_spent")
        if minutes in (None, ""):
            raise _invalid("minutes_spent", "can't be blank")
        try:
            minutes = float(minutes)
        except (TypeError, ValueError):
            raise _invalid("minutes_spent", "is not a number") from None
        if not minutes > 0:
            raise _invalid("minutes_spent", "must be greater than 0")
        claim["state"], claim["minutes_spent"] = "closed", minutes
        self._gigs[claim["gig_id"]]["status"] = "done"
        return Response(200, {"success": True, "claim": claim})
