"""Telegraph: JSON-RPC 2.0 behind each path, on fastapi-jsonrpc and pydantic v1.

Everything is answered with 200, errors too. Each path is an entrypoint of one method, with a
request class of the team's own: `id` is required (no notifications), `method` is a Literal.
"""

import hashlib
import json
from typing import Any

from tests.foreign.backend import Backend, Request, Response

OFFICES = {
    "Calais": [
        (4711, "arriving thursday by the night boat", 16),
        (4712, "sell everything but the piano", 12),
    ],
    "Dover": [
        (4720, "fog again, all crossings delayed", 8),
        (4723, "send two crates of lamp oil", 10),
        (4724, "mother well, father worse, come soon", 25),
    ],
    "Ostend": [
        (4731, "keys are under the blue flowerpot", 9),
        (4738, "contract signed stop letter follows", 19),
    ],
}

# Method parameters: name -> (type, required), as the signatures have them.
TAKE = {"wire_no": (int, True)}
REPLY = {"docket": (str, True), "reply_text": (str, True), "operator": (str, False)}
CLOSE = {"docket": (str, True)}


class RpcError(Exception):
    """A BaseError of fastapi-jsonrpc."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.body: dict[str, Any] = {"code": code, "message": message}
        if data:
            self.body["data"] = data


def problem(loc: list[Any], msg: str, type_: str, ctx: Any = None) -> dict[str, Any]:
    """Return one entry of pydantic v1's errors()."""
    entry = {"loc": loc, "msg": msg, "type": type_}
    return {**entry, "ctx": ctx} if ctx else entry


def missing_field(name: str) -> dict[str, Any]:
    """Return pydantic's word for a field that is not there."""
    return problem([name], "field required", "value_error.missing")


class Telegraph(Backend):
    """Wires are taken, replied to, and closed."""

    def __init__(self) -> None:
        super().__init__()
        self._wires: dict[int, dict[str, Any]] = {
            number: {
                "no": number,
                "office": office,
                "body": body,
                "tariff": tariff,
                "status": "waiting",
                "docket": None,
                "taker": None,
                "answered": False,
            }
            for office, wires in OFFICES.items()
            for number, body, tariff in wires
        }
        self._operators: dict[str, dict[str, Any]] = {}  # token -> operator

    def texts(self) -> dict[str, str]:
        """Return the body of every wire by its number."""
        return {str(number): wire["body"] for number, wire in self._wires.items()}

    # -- the entrypoint ------------------------------------------------------------------

    def _call(
        self, request: Request, method: str, signature: dict[str, Any], function: Any
    ) -> Response:
        """Run one call the way the entrypoint of a path does."""
        body: Any = None
        try:
            try:
                body = json.loads(request.raw)
            except ValueError:
                raise RpcError(-32700, "Parse error") from None
            self._valid_request(body, method)
            operator = self._operator(request)
            params = self._valid_params(body.get("params") or {}, signature)
            answer = {"jsonrpc": "2.0", "result": function(operator, **params)}
            return Response(200, {**answer, "id": body["id"]})
        except RpcError as error:
            id_ = body.get("id") if isinstance(body, dict) else None
            answer = {"jsonrpc": "2.0", "error": error.body, "id": id_}
            return Response(200, answer, refused=True)

    def _operator(self, request: Request) -> dict[str, Any]:
        operator = self._operators.get(request.token)
        if operator is None:
            raise RpcError(
                7000, "Auth error", {"details": "Bearer token is missing or unknown"}
            )
        return operator

    @staticmethod
    def _valid_request(body: Any, method: str) -> None:
        """Validate the envelope; extra = 'forbid'."""
        errors: list[dict[str, Any]] = []
        if isinstance(body, list):
            errors.append(
                problem([], "batch calls are not enabled here", "value_error.batch")
            )
        elif not isinstance(body, dict):
            errors.append(problem([], "value is not a valid dict", "type_error.dict"))
        else:
            version = body.get("jsonrpc", "2.0")
            if version != "2.0":
                ctx = {"given": version, "permitted": ["2.0"]}
                text = "unexpected value; permitted: '2.0'"
                errors.append(problem(["jsonrpc"], text, "value_error.const", ctx))
            if "id" not in body:
                errors.append(missing_field("id"))
            elif isinstance(body["id"], bool) or not isinstance(body["id"], (str, int)):
                text = "value is not a valid integer"
                errors.append(problem(["id"], "str type expected", "type_error.str"))
                errors.append(problem(["id"], text, "type_error.integer"))
            if "method" not in body:
                errors.append(missing_field("method"))
            elif body["method"] != method:
                ctx = {"given": body["method"], "permitted": [method]}
                text = f"unexpected value; permitted: {method!r}"
                errors.append(problem(["method"], text, "value_error.const", ctx))
            if not isinstance(body.get("params") or {}, dict):
                text = "value is not a valid dict"
                errors.append(problem(["params"], text, "type_error.dict"))
            errors.extend(
                problem([name], "extra fields not permitted", "value_error.extra")
                for name in body
                if name not in ("jsonrpc", "id", "method", "params")
            )
        if errors:
            raise RpcError(-32600, "Invalid Request", {"errors": errors})

    @staticmethod
    def _valid_params(params: dict[str, Any], signature: Any) -> dict[str, Any]:
        """Validate parameters; unknown ones are passed over, as the library does."""
        errors: list[dict[str, Any]] = []
        values: dict[str, Any] = {}
        for name, (type_, required) in signature.items():
            value = params.get(name)
            if name not in params:
                if required:
                    errors.append(missing_field(name))
            elif value is None:
                if required:
                    text = "none is not an allowed value"
                    errors.append(problem([name], text, "type_error.none.not_allowed"))
            elif type_ is int:
                try:
                    if isinstance(value, (dict, list)):
                        raise TypeError(value)
                    values[name] = int(value)
                except (TypeError, ValueError, OverflowError):
                    text = "value is not a valid integer"
                    errors.append(problem([name], text, "type_error.integer"))
            elif isinstance(value, (dict, list, bool)):
                errors.append(problem([name], "str type expected", "type_error.str"))
            elif value == "":
                text = "ensure this value has at least 1 characters"
                type_name = "value_error.any_str.min_length"
                errors.append(problem([name], text, type_name, {"limit_value": 1}))
            else:
                values[name] = str(value)
        if errors:
            raise RpcError(-32602, "Invalid params", {"errors": errors})
        return values

    # -- the methods ---------------------------------------------------------------------

    def register(self, request: Request) -> Response:
        """Enlist an operator: plain JSON, the one route that is no method."""
        self.book.registrations += 1
        number = self.book.registrations
        token = hashlib.sha1(f"operator {number}".encode()).hexdigest()
        self._operators[token] = {"id": f"op{number:03d}", "credits": 100}
        return Response(
            200, {"agent_id": f"op{number:03d}", "access_token": token, "credits": 100}
        )

    def tasks(self, request: Request) -> Response:
        """Return the wires of all offices, whatever their status, grouped by office."""
        try:
            self._operator(request)
            try:
                limit = int(request.query.get("limit", 100))
            except ValueError:
                text = "value is not a valid integer"
                errors = [problem(["<query>", "limit"], text, "type_error.integer")]
                raise RpcError(-32602, "Invalid params", {"errors": errors}) from None
        except RpcError as error:
            answer = {"jsonrpc": "2.0", "error": error.body, "id": None}
            return Response(200, answer, refused=True)
        rows = sorted(
            self._wires.values(), key=lambda wire: wire["status"] != "waiting"
        )
        grouped: dict[str, list[Any]] = {}
        for wire in rows[: max(limit, 0)]:
            grouped.setdefault(wire["office"], []).append(
                {
                    "wire_no": wire["no"],
                    "body": wire["body"],
                    "service": "Reply with the body in capital letters.",
                    "tariff": wire["tariff"],
                    "status": wire["status"],
                }
            )
        offices = [{"office": name, "wires": wires} for name, wires in grouped.items()]
        result = {
            "offices": offices,
            "waiting": sum(w["status"] == "waiting" for w in rows),
        }
        return Response(200, {"jsonrpc": "2.0", "result": result, "id": None})

    def claim(self, request: Request) -> Response:
        """Serve wires.take; taking one's own wire again gives the same docket."""

        def take(operator: dict[str, Any], wire_no: int) -> dict[str, Any]:
            wire = self._wires.get(wire_no)
            if wire is None:
                raise RpcError(4004, "No such wire", {"wire_no": wire_no})
            if wire["status"] == "waiting":
                digest = hashlib.md5(f"{wire_no}/{operator['id']}".encode()).hexdigest()
                docket = f"DK-{wire_no}-{digest[:4].upper()}"
                wire.update(status="taken", docket=docket, taker=operator["id"])
                self.book.claimed(str(wire_no))
            elif wire["taker"] != operator["id"] or wire["status"] != "taken":
                data = {"wire_no": wire_no, "status": wire["status"]}
                raise RpcError(4009, "Wire is not waiting", data)
            return {"docket": wire["docket"], "wire_no": wire_no, "status": "taken"}

        return self._call(request, "wires.take", TAKE, take)

    def _docket(self, operator: dict[str, Any], docket: str) -> dict[str, Any]:
        for wire in self._wires.values():
            if wire["docket"] == docket and wire["taker"] == operator["id"]:
                return wire
        raise RpcError(4005, "No such docket", {"docket": docket})

    def submit(self, request: Request) -> Response:
        """Serve wires.reply."""

        def reply(
            operator: dict[str, Any], docket: str, reply_text: str, **_: Any
        ) -> dict[str, Any]:
            wire = self._docket(operator, docket)
            if wire["status"] == "closed":
                raise RpcError(4010, "Docket is closed", {"docket": docket})
            if reply_text != wire["body"].upper():
                reason = "reply_text must be the body of the wire in capital letters"
                data = {"docket": docket, "reason": reason}
                raise RpcError(4022, "Reply not accepted", data)
            wire["answered"] = True
            return {"accepted": True, "words": len(reply_text.split())}

        return self._call(request, "wires.reply", REPLY, reply)

    def complete(self, request: Request) -> Response:
        """Serve wires.close, which pays the tariff."""

        def close(operator: dict[str, Any], docket: str) -> dict[str, Any]:
            wire = self._docket(operator, docket)
            if wire["status"] == "closed":
                raise RpcError(4010, "Docket is closed", {"docket": docket})
            if not wire["answered"]:
                data = {"docket": docket, "reason": "no accepted reply yet"}
                raise RpcError(4011, "Docket is not answered", data)
            wire["status"] = "closed"
            operator["credits"] += wire["tariff"]
            self.book.pay(str(wire["no"]), wire["tariff"])
            return {"paid": wire["tariff"], "balance": operator["credits"]}

        return self._call(request, "wires.close", CLOSE, close)
