"""A crypto-minded team's edge functions: escrow, bonds, bids, amounts as decimal strings.

Lists {"open_tasks": [...], "totalEscrowed": "75.00"} (get-marketplace-tasks, with token) or
{"orderbook": [...], "as_of": unix} (public-marketplace): each with `taskId` (0x and 64 hex
digits), `specHash` (looks the same, is no id), `poster` (a did), `spec` ({"op": "TO_UPPER",
"input", "instructions"}), `escrow` ({"escrow_id", "amount": "12.00", "currency": "CRED",
"status": "FUNDED"}), `pricing: "FIXED"`, `claimBond: "30.00"`, `status: "OPEN"`.
claim wants {"agent_id", "taskId", "bid_amount": "12.00"}: a decimal string, the escrowed amount;
it locks the bond, so that a fresh agent holds three tasks at most (409 ERR_INSUFFICIENT_BOND);
200 {"claim": {"claimId", ...}, "bond", "escrow"}.
submit wants {"agent_id", "claimId", "result": str}; `proofHash` (0x sha256 of result) and
`evidence` (object) are optional, a wrong proof is 422; 200 {"submission": {..., "resultHash"}}.
complete wants {"agent_id", "claim_id", "resultHash"} (claim_id here; the hash is that of
submit's answer); releases escrow and bond, 200 {"settlement": {...}, "wallet": {...}}.
Refusals are {"errorCode", "errorMessage", "param"?, "trace_id"}: 400 for one param at a time,
401 ERR_INVALID_TOKEN, 403 INSUFFICIENT_SCOPE (agent_id is not the token's), 404, 409,
410 ERR_CLAIM_EXPIRED, 422 ERR_RESULT_REJECTED for wrong work. Unknown params are ignored.
"""

import hashlib
import re
import time
import uuid
from collections.abc import Callable
from decimal import Decimal
from functools import wraps
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TEXTS = [
    "the miller's daughter learned to read from old newspapers",
    "two foxes crossed the frozen pond shortly before sunrise",
    "there was no bread left, so we ate the soup with crackers",
    "an engineer from the dam visits our school every autumn",
    "the clock in the town hall has been slow since the flood",
    "they painted the boat green and named it after their aunt",
]
BYTES32 = r"0x[0-9a-fA-F]{64}"
AMOUNT = r"\d{1,12}(\.\d{1,6})?"
BOND = Decimal(30)
CLAIM_TTL = 1800
SCOPES = ["tasks:read", "tasks:claim", "tasks:submit", "escrow:release"]


def digest(text: str) -> str:
    """Return the text's sha256 as the chain people write it."""
    return "0x" + hashlib.sha256(text.encode()).hexdigest()


def money(amount: Decimal | int) -> str:
    """Return an amount as the network writes it."""
    return f"{Decimal(amount):.2f}"


def js_type(value: Any) -> str:
    """Return the type's name for an error message."""
    if value is None:
        return "null"
    names = {bool: "boolean", int: "number", float: "number", str: "string"}
    return names.get(type(value), "array" if isinstance(value, list) else "object")


class LedgerError(Exception):
    """A refusal, thrown wherever it is found, as the team's own class is."""

    def __init__(self, status: int, code: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status, self.code, self.more = status, code, more


def caught(action: Callable[[Any, Request], Response]) -> Any:
    """Wrap a handler in the outermost catch, which writes the error."""

    @wraps(action)
    def wrapped(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except LedgerError as error:
            self.traces += 1
            body = {"errorCode": error.code, "errorMessage": str(error), **error.more}
            return Response(
                error.status, {**body, "trace_id": f"trc_{self.traces:06d}"}
            )

    return wrapped


class Ledger(Backend):
    """Tasks with funds in escrow and a bond on each claim."""

    def __init__(self) -> None:
        super().__init__()
        self.wallets: dict[str, dict[str, Any]] = {}  # by token
        self.rows: dict[str, dict[str, Any]] = {}
        self.claims: dict[str, dict[str, Any]] = {}
        self.traces = 0
        for number, text in enumerate(TEXTS):
            key = digest(f"task:{number}:{text}")
            self.rows[key] = {
                "taskId": key,
                "specHash": digest(text),
                "poster": f"did:agnet:{digest('poster')[2:18]}",
                "spec": {
                    "op": "TO_UPPER",
                    "instructions": "Write the input in upper case",
                    "input": text,
                },
                "escrow": {
                    "escrow_id": f"esc_{4101 + 7 * number}",
                    "amount": money(5 + 3 * number),
                    "currency": "CRED",
                    "status": "FUNDED",
                },
                "pricing": "FIXED",
                "claimBond": money(BOND),
                "status": "OPEN",
                "created_at": 1764150000 + 911 * number,
            }

    def texts(self) -> dict[str, str]:
        return {key: row["spec"]["input"] for key, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        body = {"code": "NOT_FOUND", "message": "Requested function was not found"}
        return Response(404, body)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = f"ledg_{uuid.uuid4().hex}"
        wallet = {"agent_id": f"did:agnet:{uuid.uuid4().hex[:16]}"}
        wallet |= {"available": Decimal(100), "bonded": Decimal(0)}  # type: ignore[dict-item]
        self.wallets[token] = wallet
        made = {"agent_id": wallet["agent_id"], "access_token": token, "credits": 100}
        return Response(200, {**made, "scopes": SCOPES, **self.shown(wallet)})

    @staticmethod
    def shown(wallet: dict[str, Any]) -> dict[str, Any]:
        """Return the wallet as answers show it."""
        parts = {name: money(wallet[name]) for name in ("available", "bonded")}
        return {"wallet": {**parts, "currency": "CRED"}}

    def open_rows(self) -> list[dict[str, Any]]:
        return [row for row in self.rows.values() if row["status"] == "OPEN"]

    def marketplace(self, request: Request) -> Response:
        return Response(200, {"orderbook": self.open_rows(), "as_of": int(time.time())})

    @caught
    def tasks(self, request: Request) -> Response:
        self.wallet(request)
        limit = request.query.get("limit", "50")
        if not re.fullmatch(r"[1-9]\d{0,5}", limit):
            said = "param 'limit' must be a positive integer"
            raise LedgerError(400, "ERR_INVALID_PARAM", said, param="limit")
        found = self.open_rows()[: int(limit)]
        total = sum(Decimal(row["escrow"]["amount"]) for row in found)
        return Response(200, {"open_tasks": found, "totalEscrowed": money(total)})

    def wallet(self, request: Request) -> dict[str, Any]:
        """Return the wallet of the token."""
        if not request.token:
            raise LedgerError(401, "ERR_MISSING_TOKEN", "bearer token required")
        if request.token not in self.wallets:
            raise LedgerError(401, "ERR_INVALID_TOKEN", "unknown or revoked token")
        return self.wallets[request.token]

    @staticmethod
    def param(given: dict[str, Any], name: str, pattern: str, wanted: str) -> str:
        """Return a required string param; the first that is wrong is thrown."""
        value = given.get(name)
        if value is None or value == "":
            said = f"missing required param '{name}' ({wanted})"
            raise LedgerError(400, "ERR_MISSING_PARAM", said, param=name)
        if not isinstance(value, str):
            said = f"param '{name}' must be {wanted}, got {js_type(value)}"
            raise LedgerError(400, "ERR_INVALID_PARAM", said, param=name)
        if not re.fullmatch(pattern, value, re.DOTALL):
            said = f"param '{name}' must be {wanted}"
            raise LedgerError(400, "ERR_INVALID_PARAM", said, param=name)
        return value

    def opened(self, request: Request) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the wallet and the body of a request that says who it is from."""
        wallet = self.wallet(request)
        try:
            given = request.json()
        except ValueError:
            said = "request body must be valid JSON"
            raise LedgerError(400, "ERR_MALFORMED_JSON", said) from None
        if not isinstance(given, dict):
            said = f"request body must be a JSON object, got {js_type(given)}"
            raise LedgerError(400, "ERR_MALFORMED_JSON", said)
        agent = self.param(given, "agent_id", ".+", "string")
        if agent != wallet["agent_id"]:
            said = "token is not scoped to act for the given agent_id"
            raise LedgerError(403, "INSUFFICIENT_SCOPE", said, param="agent_id")
        return wallet, given

    @caught
    def claim(self, request: Request) -> Response:
        wallet, given = self.opened(request)
        task = self.param(given, "taskId", BYTES32, "0x-prefixed 32-byte hex string")
        bid = self.param(given, "bid_amount", AMOUNT, 'decimal string, e.g. "5.00"')
        row = self.rows.get(task.lower())
        if row is None:
            raise LedgerError(404, "ERR_TASK_NOT_FOUND", "no task with this taskId")
        if row["status"] != "OPEN":
            said = f"task is {row['status']}"
            mine = {}
            for key, claim in self.claims.items():
                if claim["taskId"] == row["taskId"] and claim["wallet"] is wallet:
                    mine = {"claimId": key}
            raise LedgerError(409, "ERR_ALREADY_CLAIMED", said, **mine)
        if Decimal(bid) != Decimal(row["escrow"]["amount"]):
            said = "FIXED price task: bid_amount must equal the escrow amount"
            more = {"param": "bid_amount", "expected": row["escrow"]["amount"]}
            raise LedgerError(422, "ERR_BID_MISMATCH", said, **more)
        if wallet["available"] < BOND:
            rest = money(wallet["available"])
            said = f"claim bond is {money(BOND)} CRED, available balance is {rest} CRED"
            raise LedgerError(409, "ERR_INSUFFICIENT_BOND", said)
        wallet["available"] -= BOND
        wallet["bonded"] += BOND
        key = f"clm_{uuid.uuid4().hex[:20]}"
        until = int(time.time()) + CLAIM_TTL
        made = {"taskId": row["taskId"], "wallet": wallet, "until": until}
        self.claims[key] = {**made, "status": "ACTIVE"}
        row["status"], row["escrow"]["status"] = "CLAIMED", "LOCKED"
        self.book.claimed(row["taskId"])
        shown = {"claimId": key, "task_id": row["taskId"], "status": "ACTIVE"}
        shown |= {"agentId": wallet["agent_id"], "expires_at": until}
        bond = {"amount": money(BOND), "refundable": True}
        return Response(200, {"claim": shown, "bond": bond, "escrow": row["escrow"]})

    def held(self, wallet: dict[str, Any], key: str) -> dict[str, Any]:
        """Return the claim, if it is the wallet's own and still good."""
        claim = self.claims.get(key)
        if claim is None:
            raise LedgerError(404, "ERR_CLAIM_NOT_FOUND", "no claim with this id")
        if claim["wallet"] is not wallet:
            raise LedgerError(
                403, "INSUFFICIENT_SCOPE", "claim is held by another agent"
            )
        if claim["status"] == "ACTIVE" and claim["until"] < time.time():
            claim["status"], row = "EXPIRED", self.rows[claim["taskId"]]
            row["status"], row["escrow"]["status"] = "OPEN", "FUNDED"
            wallet["available"] += BOND
            wallet["bonded"] -= BOND
        if claim["status"] == "EXPIRED":
            raise LedgerError(410, "ERR_CLAIM_EXPIRED", "claim expired, claim again")
        return claim

    @caught
    def submit(self, request: Request) -> Response:
        wallet, given = self.opened(request)
        key = self.param(given, "claimId", ".+", "string")
        claim = self.held(wallet, key)
        result = self.param(given, "result", ".+", "string")
        evidence = given.get("evidence")
        if evidence is not None and not isinstance(evidence, dict):
            said = f"param 'evidence' must be object, got {js_type(evidence)}"
            raise LedgerError(400, "ERR_INVALID_PARAM", said, param="evidence")
        if given.get("proofHash") is not None:
            wanted = "0x-prefixed sha256 of result"
            proof = self.param(given, "proofHash", BYTES32, wanted)
            if proof.lower() != digest(result):
                said = "proofHash is not the sha256 of result"
                raise LedgerError(422, "ERR_PROOF_MISMATCH", said, param="proofHash")
        if claim["status"] == "SETTLED":
            raise LedgerError(409, "ERR_ALREADY_SETTLED", "claim is already settled")
        row = self.rows[claim["taskId"]]
        if result != row["spec"]["input"].upper():
            said = (
                "verifier returned FAIL: result does not satisfy TO_UPPER(spec.input)"
            )
            raise LedgerError(422, "ERR_RESULT_REJECTED", said, verdict="FAIL")
        claim.update(status="SUBMITTED", hash=digest(result))
        row["status"], row["escrow"]["status"] = "SUBMITTED", "RELEASABLE"
        submission = {"claimId": key, "resultHash": claim["hash"], "verdict": "PASS"}
        return Response(200, {"submission": submission, "escrow": row["escrow"]})

    @caught
    def complete(self, request: Request) -> Response:
        wallet, given = self.opened(request)
        key = self.param(given, "claim_id", ".+", "string")
        wanted = "resultHash of the accepted submission"
        proof = self.param(given, "resultHash", BYTES32, wanted)
        claim = self.held(wallet, key)
        row = self.rows[claim["taskId"]]
        if claim["status"] == "ACTIVE":
            raise LedgerError(
                409, "ERR_NOT_SUBMITTED", "claim has no accepted submission"
            )
        if proof.lower() != claim["hash"]:
            said = "resultHash does not match the accepted submission"
            raise LedgerError(422, "ERR_HASH_MISMATCH", said, param="resultHash")
        amount = Decimal(row["escrow"]["amount"])
        if claim["status"] == "SUBMITTED":
            claim["status"] = row["status"] = "SETTLED"
            row["escrow"]["status"] = "RELEASED"
            wallet["available"] += BOND + amount
            wallet["bonded"] -= BOND
            self.book.pay(row["taskId"], int(amount))
        paid = {"amount": money(amount), "bondReturned": money(BOND)}
        settlement = {"claim_id": key, "txId": digest(f"settle:{key}"), **paid}
        return Response(200, {"settlement": settlement, **self.shown(wallet)})
