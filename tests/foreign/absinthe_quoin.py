"""Quoin: a letterpress shop's GraphQL service on Phoenix and Absinthe.

Every path holds one stored document (absinthe_plug's compiled document provider); a POST
names the operation of it and gives variables. Errors are Absinthe's own, answered with 200.
"""

import json
import re
import uuid
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

from tests.foreign.backend import Backend, Request, Response

# The input objects of the schema: field -> type, as the mutations have them.
INPUTS: dict[str, dict[str, str]] = {
    "HoldSheetInput": {"sheetId": "ID!", "note": "String"},
    "FileProofInput": {"holdId": "ID!", "setting": "String!"},
    "SettleProofInput": {"proofId": "ID!"},
}

COPY = [
    ("Broadside for the ferry", "the last ferry leaves at half past nine", 14),
    ("Notice, reading room", "please return all maps before closing", 9),
    ("Auction bill", "forty sheep, two ploughs and a cart", 22),
    ("Handbill", "lost: one grey umbrella with a brass tip", 11),
    ("Theatre bill", "tonight only, the clockmaker's daughter", 18),
    ("Shop sign", "bread at six, rolls at seven", 7),
]


def node_id(*parts: Any) -> str:
    """Return a binary_id as Ecto would make one."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "quoin/" + "/".join(map(str, parts))))


class Quoin(Backend):
    """Sheets are held, proofs are filed, proofs are settled."""

    def __init__(self) -> None:
        super().__init__()
        self._sheets: dict[str, dict[str, Any]] = {}
        for number, (title, copy, fee) in enumerate(COPY, 1):
            key = node_id("sheet", number)
            self._sheets[key] = {
                "id": key,
                "title": title,
                "copy": copy,
                "fee": fee,
                "state": "OPEN",
                "number": number,
                "hold": None,
            }
        self._people: dict[str, dict[str, Any]] = {}  # token -> account
        self._holds: dict[str, dict[str, Any]] = {}
        self._proofs: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the copy of every sheet."""
        return {key: sheet["copy"] for key, sheet in self._sheets.items()}

    # -- how Absinthe answers ------------------------------------------------------------

    @staticmethod
    def _errors(*errors: dict[str, Any], status: int = 200) -> Response:
        return Response(status, {"errors": list(errors)}, refused=True)

    def _unresolved(self, field: str, message: str, code: str) -> Response:
        """Return what `{:error, message: ..., code: ...}` of a resolver becomes."""
        error = {
            "code": code,
            "locations": [{"column": 3, "line": 2}],
            "message": message,
            "path": [field],
        }
        return Response(200, {"data": {field: None}, "errors": [error]}, refused=True)

    def _operation(self, request: Request, name: str, field: str) -> Any:
        """Return the checked input of the one operation of a path, or the refusal."""
        kind = f"{name}Input"
        try:
            body = request.json() if request.raw.strip() else {}
        except ValueError:
            return Response(400, {"errors": {"detail": "Bad Request"}})
        if not isinstance(body, dict):
            body = {"_json": body}  # Plug's way with a body that is no object
        given = body.get("operationName") or None
        if given is None and body.get("query"):
            message = "Ad-hoc documents are not served, name a stored operation in operationName"
            return self._errors(
                {"available_operations": [name], "message": message}, status=400
            )
        if given != name:
            told = (
                "No operation name was given."
                if given is None
                else f"The provided operation name was: {json.dumps(given)}"
            )
            message = (
                "Must provide a valid operation name if query contains multiple operations."
                f"\n\n{told}\n"
            )
            return self._errors({"available_operations": [name], "message": message})
        variables = body.get("variables") or {}
        if isinstance(variables, str):
            try:
                variables = json.loads(variables)
            except ValueError:
                variables = None
        if not isinstance(variables, dict):
            message = "The variable values could not be decoded"
            return self._errors({"message": message}, status=400)
        value = variables.get("input")
        if value is None:
            return self._errors(
                {
                    "locations": [{"column": 3, "line": 2}],
                    "message": f'In argument "input": Expected type "{kind}!", found null.',
                },
                {
                    "locations": [{"column": 10 + len(name), "line": 1}],
                    "message": 'Variable "input": Expected non-null, found null.',
                },
            )
        problems = self._coerce(value, kind)
        if problems is not None:
            message = "\n".join(
                ['Argument "input" has invalid value $input.', *problems]
            )
            return self._errors(
                {
                    "locations": [{"column": len(field) + 4, "line": 2}],
                    "message": message,
                }
            )
        account = self._people.get(request.token)
        if account is None:
            return self._unresolved(field, "unauthenticated", "unauthenticated")
        return {**value, "account": account}

    @staticmethod
    def _coerce(value: Any, kind: str) -> list[str] | None:
        """Return the lines under an invalid argument, or None where it is valid."""
        if not isinstance(value, dict):
            return []
        known, lines = INPUTS[kind], []
        for name, type_ in known.items():
            got = value.get(name)
            fits = isinstance(got, str) or (
                type_.startswith("ID")
                and isinstance(got, int)
                and not isinstance(got, bool)
            )
            if fits or (got is None and not type_.endswith("!")):
                continue
            # Absinthe inspects objects as GraphQL literals, with bare keys.
            shown = re.sub(r'"(\w+)": ', r"\1: ", json.dumps(got))
            lines.append(f'In field "{name}": Expected type "{type_}", found {shown}.')
        for name in value:
            if name in known:
                continue
            near = get_close_matches(name, known, 1, 0.7)
            hint = f' Did you mean "{near[0]}"?' if near else ""
            lines.append(f'In field "{name}": Unknown field.{hint}')
        return lines or None

    # -- what it shows -------------------------------------------------------------------

    @staticmethod
    def _shown(sheet: dict[str, Any]) -> dict[str, Any]:
        return {
            "__typename": "Sheet",
            "id": sheet["id"],
            "jobNumber": f"Q-{sheet['number']:04d}",
            "title": sheet["title"],
            "copy": sheet["copy"],
            "direction": "Set the copy in capital letters, nothing else changed.",
            "fee": {
                "amount": str(Decimal(sheet["fee"]).quantize(Decimal("0.01"))),
                "currency": "CREDIT",
            },
            "state": sheet["state"],
        }

    def tasks(self, request: Request) -> Response:
        """Answer the stored query OpenSheets, paged as Scrivener pages."""
        try:
            size = min(max(int(request.query.get("limit", 10)), 1), 50)
            page = max(int(request.query.get("page", 1)), 1)
        except ValueError:
            shown = json.dumps(request.query.get("limit"))
            message = f'Argument "limit" has invalid value {shown}.'
            return self._errors(
                {"locations": [{"column": 14, "line": 2}], "message": message}
            )
        rows = [s for s in self._sheets.values() if s["state"] == "OPEN"]
        part = rows[(page - 1) * size : page * size]
        found = {
            "entries": [self._shown(sheet) for sheet in part],
            "pageNumber": page,
            "pageSize": size,
            "totalEntries": len(rows),
            "totalPages": -(-len(rows) // size) or 1,
        }
        return Response(200, {"data": {"openSheets": found}})

    marketplace = tasks

    # -- what it does --------------------------------------------------------------------

    def register(self, request: Request) -> Response:
        """Open an account; a plain controller of before the schema."""
        self.book.registrations += 1
        number = self.book.registrations
        token = f"SFMyNTY.{node_id('token', number).replace('-', '')}.q{number}"
        account = {"id": node_id("compositor", number), "credits": 100}
        self._people[token] = account
        return Response(
            200,
            {"agent_id": account["id"], "access_token": token, "credits": 100},
        )

    def claim(self, request: Request) -> Response:
        """Resolve holdSheet."""
        args = self._operation(request, "HoldSheet", "holdSheet")
        if isinstance(args, Response):
            return args
        sheet = self._sheets.get(str(args["sheetId"]))
        if sheet is None:
            return self._unresolved("holdSheet", "sheet not found", "not_found")
        if sheet["state"] != "OPEN":
            held = self._holds[sheet["hold"]]
            if held["by"] == args["account"]["id"] and sheet["state"] == "HELD":
                message = f"you hold this sheet already (hold {held['id']})"
                return self._unresolved("holdSheet", message, "already_held")
            message = f"sheet is {sheet['state'].lower()} and cannot be held"
            return self._unresolved("holdSheet", message, "not_open")
        hold = {
            "id": node_id("hold", sheet["number"]),
            "sheet": sheet["id"],
            "by": args["account"]["id"],
        }
        self._holds[hold["id"]] = hold
        sheet.update(state="HELD", hold=hold["id"])
        self.book.claimed(sheet["id"])
        answer = {"hold": {"id": hold["id"], "sheet": self._shown(sheet)}}
        return Response(200, {"data": {"holdSheet": answer}})

    def submit(self, request: Request) -> Response:
        """Resolve fileProof; the reader reads it at once."""
        args = self._operation(request, "FileProof", "fileProof")
        if isinstance(args, Response):
            return args
        hold = self._holds.get(str(args["holdId"]))
        if hold is None or hold["by"] != args["account"]["id"]:
            return self._unresolved("fileProof", "hold not found", "not_found")
        sheet = self._sheets[hold["sheet"]]
        if sheet["state"] == "SETTLED":
            message = "sheet is settled, no more proofs are taken"
            return self._unresolved("fileProof", message, "settled")
        if args["setting"] != sheet["copy"].upper():
            message = (
                "setting does not follow the direction: the copy in capital letters"
            )
            return self._unresolved("fileProof", message, "proof_rejected")
        proof = {"id": node_id("proof", sheet["number"]), "hold": hold["id"]}
        self._proofs[proof["id"]] = proof
        sheet["state"] = "PROOFED"
        answer = {
            "proof": {
                "id": proof["id"],
                "holdId": hold["id"],
                "verdict": "PASSED",
                "settled": False,
            }
        }
        return Response(200, {"data": {"fileProof": answer}})

    def complete(self, request: Request) -> Response:
        """Resolve settleProof, which pays."""
        args = self._operation(request, "SettleProof", "settleProof")
        if isinstance(args, Response):
            return args
        proof = self._proofs.get(str(args["proofId"]))
        hold = self._holds[proof["hold"]] if proof else None
        if proof is None or hold is None or hold["by"] != args["account"]["id"]:
            return self._unresolved("settleProof", "proof not found", "not_found")
        sheet = self._sheets[hold["sheet"]]
        if sheet["state"] == "SETTLED":
            message = "proof is settled already"
            return self._unresolved("settleProof", message, "settled")
        sheet["state"] = "SETTLED"
        self.book.pay(sheet["id"], sheet["fee"])
        args["account"]["credits"] += sheet["fee"]
        answer = {
            "proof": {"id": proof["id"], "settled": True},
            "sheet": self._shown(sheet),
            "balance": f"{args['account']['credits']}.00",
        }
        return Response(200, {"data": {"settleProof": answer}})
