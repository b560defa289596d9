"""A legal proofreading pool on ASP.NET Core minimal APIs: System.Text.Json binds the
bodies (its JsonException is the problem's detail), FluentValidation judges the rest."""

import re
import secrets
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

RFC = "https://tools.ietf.org/html/rfc9110#section-15.5."
PROBLEMS: dict[int, tuple[str, str]] = {
    400: ("1", "Bad Request"),
    401: ("2", "Unauthorized"),
    403: ("4", "Forbidden"),
    404: ("5", "Not Found"),
    409: ("10", "Conflict"),
    415: ("16", "Unsupported Media Type"),
    422: ("21", "Unprocessable Entity"),
}
NAMESPACE = "ProofPool.Api.Contracts"
MARKINGS = ["Clean", "Tracked", "Annotated"]
EMPTY_GUID = "00000000-0000-0000-0000-000000000000"

# The records that the bodies are bound to: property (as C# has it) -> type.
RECORDS: dict[str, dict[str, str]] = {
    "AllocateRequest": {"BriefId": "Guid", "TurnaroundHours": "Int32"},
    "ReturnRequest": {"AllocationId": "Guid", "Proof": "ProofDto"},
    "ProofDto": {
        "Text": "String",
        "Marking": "ProofMarking?",
        "CorrectionCount": "Int32?",
    },
    "SignOffRequest": {"ProofId": "Guid", "ConfirmAccuracy": "Boolean"},
}
BRIEFS: list[tuple[str, str, str, str, int]] = [
    (
        "Lease",
        "EnglandAndWales",
        "Clean",
        "The tenant shall keep the premisses in good repair.",
        24,
    ),
    (
        "Will",
        "Scotland",
        "Tracked",
        "I leave my residue estate to my niece absolutly.",
        32,
    ),
    (
        "Share purchase",
        "EnglandAndWales",
        "Clean",
        "Completion shall take place at the office's of the buyer.",
        48,
    ),
    (
        "Witness statement",
        "NorthernIreland",
        "Annotated",
        "I seen the vehicle cross the junction at about noon.",
        28,
    ),
    (
        "Licence",
        "EnglandAndWales",
        "Clean",
        "The licensee may not sub-license it's rights.",
        18,
    ),
    (
        "Employment contract",
        "Scotland",
        "Tracked",
        "Notice must be given in writting four weeks before.",
        22,
    ),
    (
        "Particulars of claim",
        "EnglandAndWales",
        "Annotated",
        "The claiment relies on the following particulars of breach.",
        40,
    ),
    (
        "Deed of trust",
        "Jersey",
        "Clean",
        "The trustees shall hold the fund apon trust for the children.",
        36,
    ),
    (
        "Undertaking",
        "EnglandAndWales",
        "Clean",
        "We undertake to repay the sum within ten buisness days.",
        16,
    ),
    (
        "Board minutes",
        "Guernsey",
        "Tracked",
        "It was resolved that the seal be affixed too the deed.",
        20,
    ),
]


class ProblemError(Exception):
    """An answer in RFC 9457's form."""

    def __init__(
        self,
        status: int,
        detail: str | None = None,
        errors: dict[str, list[str]] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = errors


class JsonError(Exception):
    """A JsonException."""


@dataclass
class Node:
    """A JSON value and where the reader stood when it had read its (first) token."""

    kind: str  # object, array, string, number, true, false, null
    value: Any
    end: int


SPACE = re.compile(rb"[ \t\r\n]*")
NUMBER = re.compile(rb"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
STRING = re.compile(rb'"((?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*)"')
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def unescape(raw: bytes) -> str:
    def one(found: re.Match[str]) -> str:
        mark = found[1]
        return chr(int(mark[1:], 16)) if len(mark) == 5 else ESCAPES.get(mark, mark)

    text = ESCAPE.sub(one, raw.decode("utf-8", "replace"))
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Reader:
    """A Utf8JsonReader, as far as its positions and commonest complaints go."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.at = 0

    def where(self, at: int, path: str) -> str:
        line = self.raw.count(b"\n", 0, at)
        start = self.raw.rfind(b"\n", 0, at) + 1
        return f" Path: {path} | LineNumber: {line} | BytePositionInLine: {at - start}."

    def fail(self, message: str, path: str) -> JsonError:
        return JsonError(message + self.where(self.at, path))

    def skip(self) -> bytes:
        found = SPACE.match(self.raw, self.at)
        self.at = found.end() if found else self.at
        return self.raw[self.at : self.at + 1]

    def ended(self, path: str) -> JsonError:
        return self.fail(
            "Expected depth to be zero at the end of the JSON payload. There is an open "
            "JSON object or array that should be closed.",
            path,
        )

    def document(self) -> Node:
        if not self.skip():
            raise self.fail(
                "The input does not contain any JSON tokens. Expected the input to start "
                "with a valid JSON token, when isFinalBlock is true.",
                "$",
            )
        node = self.read("$")
        rest = self.skip()
        if rest:
            shown = rest.decode("latin-1")
            raise self.fail(
                f"'{shown}' is invalid after a single JSON value. Expected end of data.",
                "$",
            )
        return node

    def read(self, path: str) -> Node:
        first = self.skip()
        if not first:
            raise self.ended(path)
        if first == b"{":
            return self._object(path)
        if first == b"[":
            return self._array(path)
        if first == b'"':
            text = self._string(path)
            return Node("string", text, self.at)
        for word in ("true", "false", "null"):
            if self.raw.startswith(word.encode(), self.at):
                self.at += len(word)
                return Node(word, {"true": True, "false": False}.get(word), self.at)
        found = NUMBER.match(self.raw, self.at)
        if found:
            self.at = found.end()
            return Node("number", found[0].decode(), self.at)
        shown = first.decode("latin-1")
        raise self.fail(f"'{shown}' is an invalid start of a value.", path)

    def _string(self, path: str) -> str:
        found = STRING.match(self.raw, self.at)
        if not found:
            raise self.fail(
                "Expected end of string, but instead reached end of data.", path
            )
        self.at = found.end()
        return unescape(found[1])

    def _object(self, path: str) -> Node:
        self.at += 1
        node = Node("object", {}, self.at)
        if self.skip() == b"}":
            self.at += 1
            return node
        while True:
            first = self.skip()
            if not first:
                raise self.ended(path)
            if first != b'"':
                shown = first.decode("latin-1")
                raise self.fail(
                    f"'{shown}' is an invalid start of a property name. Expected a '\"'.",
                    path,
                )
            name = self._string(path)
            if self.skip() != b":":
                shown = self.raw[self.at : self.at + 1].decode("latin-1")
                raise self.fail(
                    f"'{shown}' is invalid after a property name. Expected a ':'.", path
                )
            self.at += 1
            node.value[name] = self.read(f"{path}.{name}")
            mark = self.skip()
            if not mark:
                raise self.ended(path)
            if mark not in b",}":
                shown = mark.decode("latin-1")
                raise self.fail(
                    f"'{shown}' is invalid after a value. Expected either ',', '}}', or ']'.",
                    f"{path}.{name}",
                )
            self.at += 1
            if mark == b"}":
                return node

    def _array(self, path: str) -> Node:
        self.at += 1
        node = Node("array", [], self.at)
        if self.skip() == b"]":
            self.at += 1
            return node
        while True:
            here = f"{path}[{len(node.value)}]"
            node.value.append(self.read(here))
            mark = self.skip()
            if not mark:
                raise self.ended(here)
            if mark not in b",]":
                shown = mark.decode("latin-1")
                raise self.fail(
                    f"'{shown}' is invalid after a value. Expected either ',', '}}', or ']'.",
                    here,
                )
            self.at += 1
            if mark == b"]":
                return node

    def bind(self, node: Node, kind: str, path: str) -> Any:
        plain = kind.rstrip("?")
        if node.kind == "null" and (
            kind.endswith("?") or plain == "String" or plain in RECORDS
        ):
            return None
        if plain in RECORDS and node.kind == "object":
            return self._record(node, plain, path)
        if plain == "String" and node.kind == "string":
            return node.value
        if plain == "Boolean" and node.kind in ("true", "false"):
            return node.value
        if (
            plain == "Guid"
            and node.kind == "string"
            and re.fullmatch(
                r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", node.value
            )
        ):
            return node.value.lower()
        if (
            plain == "Int32"
            and node.kind in ("number", "string")
            and (
                re.fullmatch(r"-?[0-9]{1,20}", node.value)
                and -(2**31) <= int(node.value) < 2**31
            )
        ):
            return int(node.value)
        if plain == "ProofMarking":
            if node.kind == "string":
                for marking in MARKINGS:
                    if node.value.strip().lower() == marking.lower():
                        return marking
                if re.fullmatch(r"\s*[+-]?[0-9]{1,9}\s*", node.value):
                    return self._marking(int(node.value))
            if node.kind == "number" and re.fullmatch(r"-?[0-9]{1,9}", node.value):
                return self._marking(int(node.value))
        shown = f"System.{plain}"
        if plain in RECORDS or plain == "ProofMarking":
            shown = f"{NAMESPACE}.{plain}"
        if kind.endswith("?"):
            shown = f"System.Nullable`1[{shown}]"
        raise JsonError(
            f"The JSON value could not be converted to {shown}."
            + self.where(node.end, path)
        )

    @staticmethod
    def _marking(number: int) -> str:
        return MARKINGS[number] if 0 <= number < len(MARKINGS) else str(number)

    def _record(self, node: Node, kind: str, path: str) -> dict[str, Any]:
        fields = RECORDS[kind]
        out: dict[str, Any] = {}
        for name, of in fields.items():
            out[name] = {"Guid": EMPTY_GUID, "Int32": 0, "Boolean": False}.get(of)
        by_lower = {name.lower(): name for name in fields}
        for given, value in node.value.items():
            name = by_lower.get(given.lower(), "")
            if name:
                out[name] = self.bind(value, fields[name], f"{path}.{given}")
        return out


def split(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", " ", name)


def empty(name: str) -> str:
    return f"'{split(name)}' must not be empty."


class ProofreadingPool(Backend):
    """The pool of proofreaders."""

    def __init__(self) -> None:
        super().__init__()
        self.readers: dict[str, dict[str, Any]] = {}
        self.briefs: dict[str, dict[str, Any]] = {}
        for i, (document, law, marking, passage, fee) in enumerate(BRIEFS):
            key = str(uuid.uuid4())
            self.briefs[key] = {
                "briefId": key,
                "reference": f"LPP-{2210 + 7 * i}",
                "documentType": document,
                "jurisdiction": law,
                "passage": passage,
                "wordCount": len(passage.split()),
                "marking": marking,
                "maxTurnaroundHours": 72,
                "feeCredits": fee,
                "status": "Open",
            }
        self.allocations: dict[str, dict[str, Any]] = {}
        self.proofs: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {key: b["passage"] for key, b in self.briefs.items()}

    def register(self, request: Request) -> Response:
        token = f"eyJhbGciOiJIUzI1NiJ9.{secrets.token_urlsafe(40)}.{secrets.token_urlsafe(32)}"
        reader = {"id": str(uuid.uuid4()), "credits": 100}
        self.readers[token] = reader
        self.book.registrations += 1
        return self._ok(
            {"agent_id": reader["id"], "access_token": token, "credits": 100}
        )

    def missing(self, request: Request) -> Response:
        return self._problem(ProblemError(404))

    def _ok(self, body: Any) -> Response:
        return Response(200, body, {"Content-Type": "application/json; charset=utf-8"})

    def _problem(self, problem: ProblemError) -> Response:
        section, title = PROBLEMS[problem.status]
        body: dict[str, Any] = {"type": RFC + section, "title": title}
        if problem.errors:
            body["title"] = "One or more validation errors occurred."
        body["status"] = problem.status
        if problem.detail:
            body["detail"] = problem.detail
        if problem.errors:
            body["errors"] = problem.errors
        trace, span = secrets.token_hex(16), secrets.token_hex(8)
        body["traceId"] = f"00-{trace}-{span}-00"
        headers = {"Content-Type": "application/problem+json"}
        if problem.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        return Response(problem.status, body, headers)

    def _listing(self, request: Request) -> Response:
        raw = request.query.get("limit", "")
        if raw and not re.fullmatch(r"\s*[+-]?[0-9]{1,9}\s*", raw):
            return self._problem(
                ProblemError(
                    400, f'Failed to bind parameter "Nullable<int> limit" from "{raw}".'
                )
            )
        limit = int(raw) if raw else 25
        if not 1 <= limit <= 100:
            message = f"'Limit' must be between 1 and 100. You entered {limit}."
            return self._problem(ProblemError(400, errors={"Limit": [message]}))
        found = [b for b in self.briefs.values() if b["status"] == "Open"]
        return self._ok(
            {
                "items": found[:limit],
                "pageNumber": 1,
                "pageSize": limit,
                "totalCount": len(found),
                "hasNextPage": len(found) > limit,
            }
        )

    def marketplace(self, request: Request) -> Response:
        return self._listing(request)

    def tasks(self, request: Request) -> Response:
        if request.token not in self.readers:
            return self._problem(ProblemError(401))
        return self._listing(request)

    def _bind(self, request: Request, record: str) -> Any:
        media = request.headers.get("Content-Type") or ""
        kind = media.partition(";")[0].strip().lower()
        if not request.raw:
            raise ProblemError(
                400,
                f'Required parameter "{record} request" was not provided from body.',
            )
        if kind != "application/json" and not re.fullmatch(
            r"application/.+\+json", kind
        ):
            raise ProblemError(
                415, f'Expected a supported JSON media type but got "{media}".'
            )
        reader = Reader(request.raw)
        try:
            bound = reader.bind(reader.document(), record, "$")
        except JsonError as error:
            raise ProblemError(400, str(error)) from None
        if bound is None:
            raise ProblemError(
                400,
                f'Required parameter "{record} request" was not provided from body.',
            )
        return bound

    def _endpoint(
        self,
        request: Request,
        record: str,
        validate: Callable[[dict[str, Any]], dict[str, list[str]]],
        act: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]],
    ) -> Response:
        if request.token not in self.readers:
            return self._problem(ProblemError(401))
        try:
            given = self._bind(request, record)
            errors = validate(given)
            if errors:
                raise ProblemError(400, errors=errors)
            return self._ok(act(given, self.readers[request.token]))
        except ProblemError as problem:
            return self._problem(problem)

    def claim(self, request: Request) -> Response:
        return self._endpoint(
            request, "AllocateRequest", self._check_allocate, self._allocate
        )

    def submit(self, request: Request) -> Response:
        return self._endpoint(
            request, "ReturnRequest", self._check_return, self._return
        )

    def complete(self, request: Request) -> Response:
        return self._endpoint(
            request, "SignOffRequest", self._check_sign_off, self._sign_off
        )

    def _check_allocate(self, given: dict[str, Any]) -> dict[str, list[str]]:
        errors: dict[str, list[str]] = {}
        if given["BriefId"] == EMPTY_GUID:
            errors["BriefId"] = [empty("BriefId")]
        hours = given["TurnaroundHours"]
        if not 1 <= hours <= 72:
            errors["TurnaroundHours"] = [
                f"'Turnaround Hours' must be between 1 and 72. You entered {hours}."
            ]
        return errors

    def _check_return(self, given: dict[str, Any]) -> dict[str, list[str]]:
        errors: dict[str, list[str]] = {}
        if given["AllocationId"] == EMPTY_GUID:
            errors["AllocationId"] = [empty("AllocationId")]
        proof = given["Proof"]
        if proof is None:
            errors["Proof"] = [empty("Proof")]
            return errors
        if not (proof["Text"] or "").strip():
            errors["Proof.Text"] = [empty("Text")]
        marking = proof["Marking"]
        if marking is None:
            errors["Proof.Marking"] = [empty("Marking")]
        elif marking not in MARKINGS:
            errors["Proof.Marking"] = [
                f"'Marking' has a range of values which does not include '{marking}'."
            ]
        count = proof["CorrectionCount"]
        if count is not None and count < 0:
            errors["Proof.CorrectionCount"] = [
                "'Correction Count' must be greater than or equal to '0'."
            ]
        return errors

    def _check_sign_off(self, given: dict[str, Any]) -> dict[str, list[str]]:
        errors: dict[str, list[str]] = {}
        if given["ProofId"] == EMPTY_GUID:
            errors["ProofId"] = [empty("ProofId")]
        if not given["ConfirmAccuracy"]:
            errors["ConfirmAccuracy"] = ["'Confirm Accuracy' must be equal to 'True'."]
        return errors

    def _allocate(
        self, given: dict[str, Any], reader: dict[str, Any]
    ) -> dict[str, Any]:
        brief = self.briefs.get(given["BriefId"])
        if brief is None:
            raise ProblemError(404, f"Brief {given['BriefId']} was not found.")
        if brief["status"] != "Open":
            raise ProblemError(
                409, f"Brief {brief['reference']} has already been allocated."
            )
        brief["status"] = "Allocated"
        key = str(uuid.uuid4())
        self.allocations[key] = {
            "reader": reader["id"],
            "brief": brief["briefId"],
            "status": "InProgress",
        }
        self.book.claimed(brief["briefId"])
        return {
            "allocationId": key,
            "briefId": brief["briefId"],
            "reference": brief["reference"],
            "turnaroundHours": given["TurnaroundHours"],
            "status": "InProgress",
        }

    def _return(self, given: dict[str, Any], reader: dict[str, Any]) -> dict[str, Any]:
        allocation = self.allocations.get(given["AllocationId"])
        if allocation is None or allocation["reader"] != reader["id"]:
            raise ProblemError(
                404, f"Allocation {given['AllocationId']} was not found."
            )
        if allocation["status"] != "InProgress":
            raise ProblemError(
                409,
                f"Allocation is in status '{allocation['status']}'; only 'InProgress' "
                "allocations can be returned.",
            )
        brief = self.briefs[allocation["brief"]]
        proof = given["Proof"]
        if proof["Marking"] != brief["marking"]:
            raise ProblemError(
                422,
                f"Brief {brief['reference']} asks for marking '{brief['marking']}', "
                f"but the proof is '{proof['Marking']}'.",
            )
        key = str(uuid.uuid4())
        self.proofs[key] = {
            "allocation": given["AllocationId"],
            "text": proof["Text"],
            "status": "Returned",
        }
        allocation["status"] = "Returned"
        return {
            "proofId": key,
            "allocationId": given["AllocationId"],
            "marking": proof["Marking"],
            "status": "Returned",
        }

    def _sign_off(
        self, given: dict[str, Any], reader: dict[str, Any]
    ) -> dict[str, Any]:
        proof = self.proofs.get(given["ProofId"])
        allocation = self.allocations[proof["allocation"]] if proof else None
        if not proof or not allocation or allocation["reader"] != reader["id"]:
            raise ProblemError(404, f"Proof {given['ProofId']} was not found.")
        if proof["status"] != "Returned":
            raise ProblemError(
                409, f"Proof has already been {proof['status'].lower()}."
            )
        brief = self.briefs[allocation["brief"]]
        if proof["text"] != brief["passage"].upper():
            proof["status"] = "Rejected"
            allocation["status"] = "InProgress"
            raise ProblemError(
                422,
                "The supervising solicitor rejected the proof; the allocation is "
                "'InProgress' again.",
            )
        proof["status"] = "Accepted"
        allocation["status"] = "SignedOff"
        brief["status"] = "SignedOff"
        reader["credits"] += brief["feeCredits"]
        self.book.pay(brief["briefId"], brief["feeCredits"])
        return {
            "proofId": given["ProofId"],
            "briefId": brief["briefId"],
            "status": "SignedOff",
            "creditsPaid": brief["feeCredits"],
            "creditBalance": reader["credits"],
        }
