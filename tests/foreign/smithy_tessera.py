"""Tessera: an exchange of lots, a Smithy service on the awsJson protocol.

Every request carries its `operation`, resources have ARNs, every client error is a 400 with
`__type`. Constraints are answered by the framework (smithy.framework#ValidationException, all
fields at once, JSON pointers); a wrong JSON type is a SerializationException before that.
"""

import hashlib
import json
import re
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

NAMESPACE = "tessera.exchange"
ARN = r"^arn:tessera:exchange:[a-z0-9-]+:lot/lot-[0-9a-f]{8}$"
LEASE = r"^lease-[0-9a-f]{12}$"

# Members of the input structures. "of" is the type, the rest are constraint traits.
SHAPES: dict[str, dict[str, dict[str, Any]]] = {
    "AcceptLot": {
        "operation": {"of": "string", "required": True, "enum": ["AcceptLot"]},
        "lotArn": {"of": "string", "required": True, "pattern": ARN},
        "leaseSeconds": {"of": "integer", "required": True, "range": (60, 3600)},
    },
    "PutLotResult": {
        "operation": {"of": "string", "required": True, "enum": ["PutLotResult"]},
        "leaseId": {"of": "string", "required": True, "pattern": LEASE},
        "result": {"of": "structure", "required": True, "shape": "LotResult"},
    },
    "LotResult": {
        "outputText": {"of": "string", "required": True, "length": (1, 4096)},
        "mediaType": {"of": "string", "enum": ["text/plain"]},
    },
    "SettleLease": {
        "operation": {"of": "string", "required": True, "enum": ["SettleLease"]},
        "leaseId": {"of": "string", "required": True, "pattern": LEASE},
        "resultChecksum": {"of": "string", "required": True, "length": (64, 64)},
    },
}

LOTS = [
    ("gallery label", "fragments of a floor, second century", 15000),
    ("crate mark", "this side up, glass and plaster", 7000),
    ("auction line", "lot nine: a pair of iron candlesticks", 12000),
    ("wall text", "please do not lean on the mosaic", 9000),
    ("ticket", "admits two, not valid on mondays", 6000),
    ("catalogue note", "repaired in 1911 with lead and wax", 18000),
    ("door sign", "workshop closed for the summer", 5000),
    ("poster line", "a thousand tiles, one fish", 11000),
]


class ServiceError(Exception):
    """A modelled error."""

    def __init__(self, shape: str, message: str, **members: Any) -> None:
        super().__init__(message)
        where = "" if "#" in shape else f"{NAMESPACE}#"
        self.body = {"__type": where + shape, "message": message, **members}


def said(value: Any) -> str:
    """Return the JSON type of a value as the deserializer calls it."""
    names = {bool: "boolean", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "number")


class Tessera(Backend):
    """Lots are accepted under a lease, results put, leases settled."""

    def __init__(self) -> None:
        super().__init__()
        self._lots: dict[str, dict[str, Any]] = {}
        for index, (title, text, reward) in enumerate(LOTS):
            key = hashlib.sha256(f"{index}{title}".encode()).hexdigest()[:8]
            arn = f"arn:tessera:exchange:eu-north-1:lot/lot-{key}"
            self._lots[arn] = {
                "title": title,
                "text": text,
                "reward": reward,
                "status": "AVAILABLE",
                "lease": None,
            }
        self._principals: dict[str, dict[str, Any]] = {}  # token -> principal
        self._leases: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the source text of every lot by its ARN."""
        return {arn: lot["text"] for arn, lot in self._lots.items()}

    # -- the framework -------------------------------------------------------------------

    def _run(self, request: Request, operation: str, handler: Any) -> Response:
        """Authenticate, deserialize, validate, and handle one request."""
        try:
            principal = self._authenticate(request)
            try:
                body = json.loads(request.raw) if request.raw.strip() else {}
            except ValueError:
                text = "Could not parse the request body as JSON"
                raise ServiceError("SerializationException", text) from None
            self._deserialize(body, operation, "")
            problems = self._validate(body, operation, "")
            if problems:
                raise self._validation(problems)
            return self._ok(handler(principal, body))
        except ServiceError as error:
            return self._no(error)

    @staticmethod
    def _ok(body: Any) -> Response:
        return Response(200, body, {"x-amzn-requestid": f"{int(time.time() * 1e9):x}"})

    @staticmethod
    def _no(error: ServiceError) -> Response:
        kind = error.body["__type"].partition("#")[2]
        headers = {
            "x-amzn-errortype": kind,
            "x-amzn-requestid": f"{int(time.time() * 1e9):x}",
        }
        return Response(400, error.body, headers)

    def _authenticate(self, request: Request) -> dict[str, Any]:
        if not request.token:
            text = "Request is missing Authentication Token"
            raise ServiceError("MissingAuthenticationTokenException", text)
        if request.token not in self._principals:
            text = "The security token included in the request is invalid."
            raise ServiceError("UnrecognizedClientException", text)
        return self._principals[request.token]

    @staticmethod
    def _validation(problems: list[tuple[str, str]]) -> ServiceError:
        fields = [{"path": path, "message": text} for path, text in problems]
        noun = "errors" if len(problems) > 1 else "error"
        joined = "; ".join(text for _, text in problems)
        message = f"{len(problems)} validation {noun} detected. {joined}"
        shape = "smithy.framework#ValidationException"
        return ServiceError(shape, message, fieldList=fields)

    def _deserialize(self, value: Any, shape: str, path: str) -> None:
        """Raise on the first member whose JSON type is not the modelled one."""
        if not isinstance(value, dict):
            text = f"Expected object, got {said(value)} at '{path or '/'}'"
            raise ServiceError("SerializationException", text)
        for name, member in SHAPES[shape].items():
            got, here = value.get(name), f"{path}/{name}"
            if got is None:
                continue
            if member["of"] == "structure":
                self._deserialize(got, member["shape"], here)
            elif member["of"] == "string" and not isinstance(got, str):
                text = (
                    f"Expected string, got {said(got)}: {json.dumps(got)} at '{here}'"
                )
                raise ServiceError("SerializationException", text)
            elif member["of"] == "integer" and type(got) is not int:
                text = f"Expected 32-bit integer, got {said(got)}: {json.dumps(got)}"
                raise ServiceError("SerializationException", f"{text} at '{here}'")

    def _validate(self, value: Any, shape: str, path: str) -> list[tuple[str, str]]:
        """Return path and text of every constraint that does not hold."""
        problems = []
        for name, member in SHAPES[shape].items():
            got, here, length = value.get(name), f"{path}/{name}", ""
            must = ""
            if got is None:
                if member.get("required"):
                    must = "not be null"
            elif member["of"] == "structure":
                problems.extend(self._validate(got, member["shape"], here))
            elif "enum" in member and got not in member["enum"]:
                must = f"satisfy enum value set: [{', '.join(member['enum'])}]"
            elif "pattern" in member and not re.search(member["pattern"], got):
                must = f"satisfy regular expression pattern: {member['pattern']}"
            elif "length" in member:
                low, high = member["length"]
                if not low <= len(got) <= high:
                    length = f" with length {len(got)}"
                    must = f"have length between {low} and {high}, inclusive"
            elif "range" in member:
                low, high = member["range"]
                if not low <= got <= high:
                    must = f"be between {low} and {high}, inclusive"
            if must:
                text = f"Value{length} at '{here}' failed to satisfy constraint: Member must {must}"
                problems.append((here, text))
        return problems

    @staticmethod
    def _missing(kind: str, key: str) -> ServiceError:
        return ServiceError(
            "ResourceNotFoundException",
            f"{kind} {key} does not exist",
            resourceId=key,
            resourceType=kind,
        )

    # -- operations ----------------------------------------------------------------------

    def register(self, request: Request) -> Response:
        """CreatePrincipal; takes nothing."""
        self.book.registrations += 1
        digest = hashlib.sha256(f"principal {self.book.registrations}".encode())
        key, token = digest.hexdigest()[:16].upper(), f"FwoGZXIv{digest.hexdigest()}"
        self._principals[token] = {"id": f"AIDA{key}", "balance": 100_000}
        answer = {
            "agent_id": f"AIDA{key}",
            "access_token": token,
            "credits": 100,
            "principalArn": f"arn:tessera:iam::principal/AIDA{key}",
        }
        return self._ok(answer)

    def tasks(self, request: Request) -> Response:
        """ListLots: those that are available."""
        given = request.query.get("limit", "50")
        if not re.fullmatch(r"-?\d+", given):
            text = (
                f"Expected 32-bit integer, got string: {json.dumps(given)} at '/limit'"
            )
            return self._no(ServiceError("SerializationException", text))
        if not 1 <= int(given) <= 100:
            text = "Value at '/limit' failed to satisfy constraint: Member must be between 1 and 100, inclusive"
            return self._no(self._validation([("/limit", text)]))
        lots = [
            {
                "lotArn": arn,
                "lotTitle": lot["title"],
                "status": lot["status"],
                "specification": {
                    "transform": "UPPERCASE",
                    "description": "Return sourceText in capital letters as outputText.",
                    "sourceText": lot["text"],
                },
                "rewardMillicredits": lot["reward"],
            }
            for arn, lot in self._lots.items()
            if lot["status"] == "AVAILABLE"
        ]
        return self._ok({"lots": lots[: int(given)], "lotCount": len(lots)})

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        """AcceptLot."""

        def accept(principal: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
            arn = body["lotArn"]
            lot = self._lots.get(arn)
            if lot is None:
                raise self._missing("Lot", arn)
            if lot["status"] != "AVAILABLE":
                text = f"Lot {arn} is in state {lot['status']}, expected AVAILABLE"
                raise ServiceError("ConflictException", text, resourceId=arn)
            digest = hashlib.sha256(f"{arn}{principal['id']}".encode()).hexdigest()
            key = f"lease-{digest[:12]}"
            lot.update(status="LEASED", lease=key)
            self._leases[key] = {
                "leaseId": key,
                "lotArn": arn,
                "owner": principal["id"],
                "checksum": None,
                "state": "ACTIVE",
            }
            self.book.claimed(arn)
            expires = int(time.time()) + body["leaseSeconds"]
            return {
                "lease": {
                    "leaseId": key,
                    "lotArn": arn,
                    "state": "ACTIVE",
                    "expiresAt": expires,
                }
            }

        return self._run(request, "AcceptLot", accept)

    def _lease(self, principal: dict[str, Any], key: str) -> dict[str, Any]:
        lease = self._leases.get(key)
        if lease is None or lease["owner"] != principal["id"]:
            raise self._missing("Lease", key)
        if lease["state"] == "SETTLED":
            text = f"Lease {key} is in state SETTLED, expected ACTIVE"
            raise ServiceError("ConflictException", text, resourceId=key)
        return lease

    def submit(self, request: Request) -> Response:
        """PutLotResult; checked as it is put."""

        def put(principal: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
            lease = self._lease(principal, body["leaseId"])
            output = body["result"]["outputText"]
            if output != self._lots[lease["lotArn"]]["text"].upper():
                text = "The result does not satisfy the specification of the lot: transform UPPERCASE of sourceText"
                raise ServiceError(
                    "ResultRejectedException", text, reason="OUTPUT_MISMATCH"
                )
            lease["checksum"] = hashlib.sha256(output.encode()).hexdigest()
            return {
                "leaseId": lease["leaseId"],
                "resultChecksum": lease["checksum"],
                "resultStatus": "STORED",
            }

        return self._run(request, "PutLotResult", put)

    def complete(self, request: Request) -> Response:
        """SettleLease, which credits the reward."""

        def settle(principal: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
            lease = self._lease(principal, body["leaseId"])
            if lease["checksum"] is None:
                text = f"Lease {lease['leaseId']} has no stored result"
                raise ServiceError(
                    "ConflictException", text, resourceId=lease["leaseId"]
                )
            if lease["checksum"] != body["resultChecksum"]:
                text = "The resultChecksum is not that of the stored result"
                raise ServiceError("ChecksumMismatchException", text)
            lot = self._lots[lease["lotArn"]]
            lease["state"] = lot["status"] = "SETTLED"
            principal["balance"] += lot["reward"]
            self.book.pay(lease["lotArn"], lot["reward"] // 1000)
            return {
                "settlement": {
                    "lotArn": lease["lotArn"],
                    "creditedMillicredits": lot["reward"],
                    "balanceMillicredits": principal["balance"],
                }
            }

        return self._run(request, "SettleLease", settle)
