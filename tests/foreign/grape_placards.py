"""A letterpress workshop on Ruby's Grape (mounted in a Sinatra app), Grape's own messages.

Lists {"placards": [...], "page": {"size", "total"}}: each with `ref` ("PL-3107"), `craft`,
`brief`, `wording` (the text), `fee` ("9 cr"), `status` ("waiting"), `posted_at`.
claim wants {"placard_ref": ref} (and takes `hours`, 1..8); 201 {"docket": {"number": int, ...}}.
submit wants {"docket_number": int, "proof": {"lettering": str}}; a proof has exactly one of
`lettering` and `scan_url`, and may have `compositor`; 201 {"proof": {"id", "verdict", ...}}.
complete wants {"docket_number": int}; pays, 201 {"docket": {...}, "paid", "balance"}.
POST answers 201, as Grape does by default (registration says `status 200`). Unknown
parameters are ignored, digits are coerced to Integer.
Errors are Grape's {"error": "..."}: all validation errors in one sentence, joined by ", "
("docket_number is missing, docket_number is empty, proof is missing, proof[lettering],
proof[scan_url] are missing, exactly one parameter must be provided"), 400; too many of the
two are "are mutually exclusive"; wrong lettering is 422 with a `reason` beside the error.
"""

import re
from typing import Any
from urllib.parse import parse_qsl

from tests.foreign.backend import Backend, Request, Response

WORDINGS = [
    ("fresh bread every morning except on the first monday of the month", 9),
    ("please ring the brass bell twice and wait beside the door", 6),
    ("the ferry does not sail when the harbour flag is red", 7),
    ("grand opening of the covered market on the old tannery square", 12),
    ("mind the low beam on your way down to the cellar", 5),
    ("tickets for the evening concert are sold at the tobacconist's", 17),
]
CLOCK = "2024-03-{:02d}T09:1{}:00Z"


class Rule:
    """One declared parameter: its name, type, whether it is required, and its values."""

    def __init__(
        self,
        name: str,
        kind: type,
        *,
        required: bool = True,
        values: range | None = None,
    ) -> None:
        self.name, self.kind, self.required, self.values = name, kind, required, values

    def errors(self, given: Any, scope: str = "") -> list[str]:
        """Return Grape's messages for this parameter; coerce it in place."""
        label = f"{scope}[{self.name}]" if scope else self.name
        found = []
        if not isinstance(given, dict):
            return [f"{label} is missing"] if self.required else []
        if self.name not in given:
            # allow_blank: false runs on a required parameter that is not there, too
            return [f"{label} is missing", f"{label} is empty"] if self.required else []
        value, fits = self.coerced(given[self.name])
        given[self.name] = value
        if not fits:
            return [f"{label} is invalid"]
        if value is None or (isinstance(value, str) and not value.strip()):
            found.append(f"{label} is empty")
        elif self.values is not None and value not in self.values:
            found.append(f"{label} does not have a valid value")
        return found

    def coerced(self, value: Any) -> tuple[Any, bool]:
        """Return the value as Grape would coerce it, and whether it could be."""
        if value is None:
            return None, True
        if self.kind is str:
            if isinstance(value, (dict, list)):
                return value, False
            return str(value).lower() if isinstance(value, bool) else str(value), True
        if isinstance(value, (bool, dict, list, float)):
            return value, False
        if value == "":
            return None, True
        text = str(value).strip()
        return (int(text), True) if re.fullmatch(r"[+-]?\d+", text) else (value, False)


class Letterpress(Backend):
    """Placards to be set in capitals, with a docket for each that is on the press."""

    def __init__(self) -> None:
        super().__init__()
        self.compositors: dict[str, dict[str, Any]] = {}
        self.placards: dict[str, dict[str, Any]] = {}
        self.dockets: dict[int, dict[str, Any]] = {}
        for number, (wording, fee) in enumerate(WORDINGS):
            ref = f"PL-{3107 + 14 * number}"
            self.placards[ref] = {
                "ref": ref,
                "craft": "all_caps",
                "brief": "Set the wording in capital letters, nothing else",
                "wording": wording,
                "fee": f"{fee} cr",
                "status": "waiting",
                "posted_at": CLOCK.format(4 + number, number),
            }

    def texts(self) -> dict[str, str]:
        return {ref: placard["wording"] for ref, placard in self.placards.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, "404 Not Found", {"X-Cascade": "pass"})

    @staticmethod
    def error(status: int, message: str, **more: Any) -> Response:
        """Return what Grape's error! answers under format :json."""
        return Response(status, {"error": message, **more})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        number = len(self.compositors) + 1
        token = f"lpw_{0x5A17C0DE93 * number:020x}"
        self.compositors[token] = {"agent_id": f"compositor-{number}", "credits": 100}
        return Response(200, {**self.compositors[token], "access_token": token})

    def listing(self, request: Request) -> Response:
        query: dict[str, Any] = dict(request.query)
        wrong = Rule("limit", int, required=False, values=range(1, 51)).errors(query)
        if wrong:
            return self.error(400, ", ".join(wrong))
        waiting = [p for p in self.placards.values() if p["status"] == "waiting"]
        size = query.get("limit", 20)
        page = {"size": size, "total": len(waiting)}
        return Response(200, {"placards": waiting[:size], "page": page})

    def marketplace(self, request: Request) -> Response:
        return self.listing(request)

    def tasks(self, request: Request) -> Response:
        if request.token not in self.compositors:
            return self.error(401, "Unauthorized")
        return self.listing(request)

    def params(self, request: Request) -> dict[str, Any] | Response:
        """Return the body's parameters as Rack and Grape's formatter read them."""
        media = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
        if media == "application/x-www-form-urlencoded":
            flat: dict[str, Any] = {}
            for name, value in parse_qsl(request.raw.decode(errors="replace")):
                inner = re.fullmatch(r"(\w+)\[(\w+)\]", name)
                if inner:
                    flat.setdefault(inner[1], {})[inner[2]] = value
                else:
                    flat[name] = value
            return flat
        if not request.raw:
            return {}
        if media not in ("", "application/json"):
            message = f"The provided content-type '{media}' is not supported."
            return self.error(415, message)
        try:
            given = request.json()
        except ValueError:
            return self.error(
                400,
                "\nProblem:\n  message body does not match declared format\nResolution:\n"
                "  when specifying application/json as content-type, you must pass valid "
                "application/json in the request's 'body' ",
            )
        return given if isinstance(given, dict) else {}

    def checked(
        self, request: Request, rules: list[Rule], *, with_proof: bool = False
    ) -> dict[str, Any] | Response:
        """Return the declared parameters, or the refusal."""
        if request.token not in self.compositors:
            return self.error(401, "Unauthorized")
        given = self.params(request)
        if isinstance(given, Response):
            return given
        wrong = [message for rule in rules for message in rule.errors(given)]
        if with_proof:
            wrong += self.proof_errors(given)
        if wrong:
            return self.error(400, ", ".join(dict.fromkeys(wrong)))
        return given

    @staticmethod
    def proof_errors(given: dict[str, Any]) -> list[str]:
        """Check `requires :proof, type: Hash` with its exactly_one_of."""
        wrong = []
        proof = given.get("proof")
        if "proof" not in given:
            wrong.append("proof is missing")
        elif proof is not None and not isinstance(proof, dict):
            wrong.append("proof is invalid")
        inside = proof if isinstance(proof, dict) else {}
        for name in ("lettering", "scan_url", "compositor"):
            wrong += Rule(name, str, required=False).errors(inside, "proof")
        one_of = [name for name in ("lettering", "scan_url") if name in inside]
        if not one_of:
            wrong.append(
                "proof[lettering], proof[scan_url] are missing, "
                "exactly one parameter must be provided"
            )
        elif len(one_of) == 2:
            wrong.append("proof[lettering], proof[scan_url] are mutually exclusive")
        return wrong

    def claim(self, request: Request) -> Response:
        hours = Rule("hours", int, required=False, values=range(1, 9))
        given = self.checked(request, [Rule("placard_ref", str), hours])
        if isinstance(given, Response):
            return given
        placard = self.placards.get(given["placard_ref"])
        if placard is None:
            return self.error(404, "Placard not found")
        for docket in self.dockets.values():
            if docket["placard_ref"] == placard["ref"]:
                if docket["owner"] == request.token and docket["status"] == "on_press":
                    return Response(201, {"docket": self.shown(docket)})
                return self.error(409, "Placard is already on the press")
        number = 4101 + 3 * len(self.dockets)
        self.dockets[number] = {
            "number": number,
            "placard_ref": placard["ref"],
            "hours": given.get("hours") or 2,
            "status": "on_press",
            "owner": request.token,
        }
        placard["status"] = "on_press"
        self.book.claimed(placard["ref"])
        return Response(201, {"docket": self.shown(self.dockets[number])})

    @staticmethod
    def shown(docket: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in docket.items() if name != "owner"}

    def own_docket(self, number: int, token: str) -> dict[str, Any] | Response:
        docket = self.dockets.get(number)
        if docket is None:
            return self.error(404, "Docket not found")
        if docket["owner"] != token:
            return self.error(403, "Docket belongs to another compositor")
        return docket

    def submit(self, request: Request) -> Response:
        given = self.checked(request, [Rule("docket_number", int)], with_proof=True)
        if isinstance(given, Response):
            return given
        docket = self.own_docket(given["docket_number"], request.token)
        if isinstance(docket, Response):
            return docket
        if docket["status"] == "delivered":
            return self.error(409, "Docket is already delivered")
        placard = self.placards[docket["placard_ref"]]
        if "scan_url" in given["proof"]:
            return self.error(
                422, "Proof rejected", reason="scan_url cannot be fetched"
            )
        if given["proof"]["lettering"] != placard["wording"].upper():
            reason = "lettering is not the wording in capitals"
            return self.error(422, "Proof rejected", reason=reason)
        docket["status"] = placard["status"] = "proofed"
        proof = {
            "id": docket["number"] - 4000,
            "docket_number": docket["number"],
            "verdict": "good",
        }
        return Response(201, {"proof": proof})

    def complete(self, request: Request) -> Response:
        given = self.checked(request, [Rule("docket_number", int)])
        if isinstance(given, Response):
            return given
        docket = self.own_docket(given["docket_number"], request.token)
        if isinstance(docket, Response):
            return docket
        if docket["status"] == "on_press":
            return self.error(409, "Docket has no good proof yet")
        placard = self.placards[docket["placard_ref"]]
        compositor = self.compositors[request.token]
        if docket["status"] == "proofed":
            docket["status"] = placard["status"] = "delivered"
            fee = int(placard["fee"].split()[0])
            compositor["credits"] += fee
            self.book.pay(placard["ref"], fee)
        return Response(
            201,
            {
                "docket": self.shown(docket),
                "paid": placard["fee"],
                "balance": f"{compositor['credits']} cr",
            },
        )
