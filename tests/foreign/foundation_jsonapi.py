"""The bounty board of an open-source foundation: Rails with JSON:API."""

import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

BOUNTIES = {  # id: (title, text, credits, status)
    "17": ("Shout the banner", "welcome to the nightly build", 40, "open"),
    "18": ("Man page heading", "usage: tarn [options] file", 25, "open"),
    "21": ("Old changelog", "fixed a typo in the readme", 15, "merged"),
    "23": (
        "License notice",
        "this program comes with absolutely no warranty",
        60,
        "open",
    ),
    "26": (
        "Error catalogue",
        "could not open lock file: permission denied",
        35,
        "open",
    ),
}
LICENSES = ["CC0-1.0", "MIT", "Apache-2.0"]
TITLES = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    409: "Conflict",
}


class Bounty(Backend):
    """JSON:API documents both ways, kebab-case attributes, all faults at once.

    claim: data {type claims, relationships.bounty.data {type bounties, id}} answers a
    claim; submit: data {type patches, attributes {body, license (listed)},
    relationships.claim.data {type claims, id}}; complete: data {type claims, id}.
    A maintainer merges soon afterwards: the same complete again, or the listing,
    says merged and paid-credits.
    """

    def __init__(self) -> None:
        super().__init__()
        self.people: dict[str, dict[str, Any]] = {}
        self.status = {k: v[3] for k, v in BOUNTIES.items()}
        self.claims: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {k: v[1] for k, v in BOUNTIES.items() if v[3] == "open"}

    # -- answers -------------------------------------------------------------
    def say(self, status: int, body: Any) -> Response:
        return Response(status, body, {"Content-Type": "application/vnd.api+json"})

    def errors(self, status: int, *found: tuple[str, str]) -> Response:
        rows = []
        for detail, pointer in found:
            row: dict[str, Any] = {
                "status": str(status),
                "title": TITLES.get(status, "Unprocessable Content"),
                "detail": detail,
            }
            if pointer:
                row["source"] = {"pointer": pointer}
            rows.append(row)
        return self.say(status, {"errors": rows})

    def missing(self, request: Request) -> Response:
        return self.errors(
            404, (f'No route matches [{request.method}] "{request.path}"', "")
        )

    def settle(self) -> None:
        for c in self.claims.values():
            if c["status"] == "awaiting-merge" and time.monotonic() >= c["due"]:
                c["status"] = self.status[c["bounty"]] = "merged"
                c["who"]["credits"] += BOUNTIES[c["bounty"]][2]
                self.book.pay(c["bounty"], BOUNTIES[c["bounty"]][2])

    def bounty(self, key: str) -> dict[str, Any]:
        title, text, credits_, _ = BOUNTIES[key]
        return {
            "type": "bounties",
            "id": key,
            "attributes": {
                "title": title,
                "source-text": text,
                "bounty-credits": credits_,
                "status": self.status[key],
                "how-to": "The patch body is the source text in upper case.",
            },
        }

    def claim_data(self, c: dict[str, Any]) -> dict[str, Any]:
        paid = BOUNTIES[c["bounty"]][2] if c["status"] == "merged" else 0
        return {
            "type": "claims",
            "id": c["id"],
            "attributes": {"status": c["status"], "paid-credits": paid},
            "relationships": {
                "bounty": {"data": {"type": "bounties", "id": c["bounty"]}}
            },
        }

    def enter(
        self, r: Request, rules: list[tuple[str, Any]]
    ) -> tuple[Any, Any, Response | None]:
        """Check the token, then every (pointer, wanted) rule; wanted: str, a constant, or choices."""
        self.settle()
        who = self.people.get(r.token)
        if who is None:
            return None, None, self.errors(401, ("A valid bearer token is needed", ""))
        try:
            doc = r.json()
        except ValueError:
            return (
                None,
                None,
                self.errors(400, ("The request body is not valid JSON", "")),
            )
        if not isinstance(doc, dict) or not isinstance(doc.get("data"), dict):
            return (
                None,
                None,
                self.errors(
                    400,
                    (
                        "The document must have a resource object as its primary data",
                        "/data",
                    ),
                ),
            )
        found, values = [], {}
        for pointer, wanted in rules:
            value: Any = doc
            for part in pointer.strip("/").split("/"):
                value = value.get(part) if isinstance(value, dict) else None
            name = pointer.rpartition("/")[2]
            if value is None or value == "":
                found.append(
                    (
                        f"{name} can't be blank"
                        + (f' (must be "{wanted}")' if isinstance(wanted, str) else ""),
                        pointer,
                    )
                )
            elif isinstance(wanted, str) and value != wanted:
                found.append((f'{name} must be "{wanted}"', pointer))
            elif isinstance(wanted, list) and value not in wanted:
                found.append(
                    (
                        f"{name} is not included in the list: {', '.join(wanted)}",
                        pointer,
                    )
                )
            elif wanted is str and not isinstance(value, str):
                found.append((f"{name} must be a string", pointer))
            values[pointer] = value
        if found:
            return None, None, self.errors(422, *found)
        return who, values, None

    # -- actions -------------------------------------------------------------
    def register(self, r: Request) -> Response:
        self.book.registrations += 1
        token = "fsb_" + secrets.token_hex(20)
        self.people[token] = {
            "id": f"contributor-{self.book.registrations}",
            "credits": 100,
        }
        return Response(
            200,
            {
                "agent_id": self.people[token]["id"],
                "access_token": token,
                "credits": 100,
            },
        )

    def tasks(self, r: Request) -> Response:
        self.settle()
        limit = r.query.get("limit", "25")
        if not limit.isdigit():
            return self.errors(400, ("limit must be a positive integer", ""))
        keys = list(BOUNTIES)
        return self.say(
            200,
            {
                "data": [self.bounty(k) for k in keys[: int(limit)]],
                "meta": {"total-count": len(keys), "accepted-licenses": LICENSES},
                "links": {"self": r.base + r.path},
            },
        )

    marketplace = tasks

    def claim(self, r: Request) -> Response:
        at = "/data/relationships/bounty/data"
        who, v, no = self.enter(
            r, [("/data/type", "claims"), (at + "/type", "bounties"), (at + "/id", str)]
        )
        if no:
            return no
        key = v[at + "/id"]
        if key not in BOUNTIES:
            return self.errors(
                404, (f"The bounty identified by {key} could not be found", at + "/id")
            )
        for c in self.claims.values():
            if c["bounty"] == key and c["who"] is who:
                return self.say(
                    200, {"data": self.claim_data(c), "included": [self.bounty(key)]}
                )
        if self.status[key] != "open":
            return self.errors(409, (f"Bounty is {self.status[key]}", at))
        self.status[key] = "claimed"
        self.book.claimed(key)
        c = {
            "id": secrets.token_hex(5),
            "bounty": key,
            "who": who,
            "status": "claimed",
            "due": 0.0,
        }
        self.claims[c["id"]] = c
        return self.say(
            200, {"data": self.claim_data(c), "included": [self.bounty(key)]}
        )

    def mine(self, who: Any, key: str, pointer: str) -> tuple[Any, Response | None]:
        c = self.claims.get(key)
        if c is None:
            return None, self.errors(
                404, (f"The claim identified by {key} could not be found", pointer)
            )
        if c["who"] is not who:
            return None, self.errors(
                403, ("This claim belongs to another contributor", pointer)
            )
        return c, None

    def submit(self, r: Request) -> Response:
        at, text = "/data/relationships/claim/data", "/data/attributes/body"
        who, v, no = self.enter(
            r,
            [
                ("/data/type", "patches"),
                (text, str),
                ("/data/attributes/license", LICENSES),
                (at + "/type", "claims"),
                (at + "/id", str),
            ],
        )
        if no:
            return no
        c, no = self.mine(who, v[at + "/id"], at + "/id")
        if no:
            return no
        if c["status"] not in ("claimed", "patched"):
            return self.errors(
                409, (f"Claim is {c['status']}; no more patches are taken", at)
            )
        if v[text] != BOUNTIES[c["bounty"]][1].upper():
            return self.errors(
                422,
                ("body does not pass CI: expected the source text in upper case", text),
            )
        c["status"] = "patched"
        return self.say(
            200,
            {
                "data": {
                    "type": "patches",
                    "id": "p" + c["id"],
                    "attributes": {"ci": "green"},
                    "relationships": {
                        "claim": {"data": {"type": "claims", "id": c["id"]}}
                    },
                }
            },
        )

    def complete(self, r: Request) -> Response:
        who, v, no = self.enter(r, [("/data/type", "claims"), ("/data/id", str)])
        if no:
            return no
        c, no = self.mine(who, v["/data/id"], "/data/id")
        if no:
            return no
        if c["status"] == "claimed":
            return self.errors(
                409, ("There is no patch for this claim yet", "/data/id")
            )
        if c["status"] == "patched":
            c.update(status="awaiting-merge", due=time.monotonic() + 1.2)
        return self.say(
            200,
            {
                "data": self.claim_data(c),
                "meta": {"contributor-credits": who["credits"]},
            },
        )
