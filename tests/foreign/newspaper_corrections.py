"""A newspaper's corrections desk: slugs, desk keys, copy in takes, and a reader at night.

Refusals are plain text, a line for each complaint, as the desk's old terminals printed them.
The list is grouped by the edition in which a correction is to run. Copy is filed as a list
of takes; then a reader has it for a moment and a release before that is answered with 409
and Retry-After. To be released, a correction has to be put into its edition.
"""
# mypy: ignore-errors

import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_EDITIONS = [
    ("FC", "First County", [
        ("harbour-toll", "A4", 14, "the harbour toll is four shillings, not forty"),
        ("mayor-middle-name", "A1", 9, "the mayor's middle name is ansel"),
        ("goat-prize", "C2", 11, "the prize goat belongs to mrs. tarrant"),
    ]),
    ("LC", "Late City", [
        ("opera-tenor", "D1", 20, "the tenor did not fall; the scenery did"),
        ("flood-date", "A2", 8, "the flood was in 1908, on a tuesday"),
        ("chess-column", "D6", 16, "white mates in three, not two"),
        ("bank-holiday", "B1", 7, "banks will be open on monday"),
    ]),
    ("SU", "Sunday", [
        ("recipe-salt", "E3", 12, "one spoon of salt, not one cup"),
        ("obituary-living", "B8", 25, "captain orme is alive and asks for his hat"),
        ("crossword-17", "E8", 10, "seventeen across has six letters"),
    ]),
]  # fmt: skip
_READING = 1.2  # seconds that a reader has the copy
_AT_ONCE = 4


def _spike(status: int, *lines: str, **headers: str) -> Response:
    """Return a refusal as the desk prints it."""
    return Response(status, "".join(f"{line}\n" for line in lines), headers)


class NewspaperCorrections(Backend):
    """Corrections by slug; a desk key for each assignment; a reading before release."""

    def __init__(self) -> None:
        super().__init__()
        self.setters: dict[str, dict[str, Any]] = {}
        self.keys: dict[str, dict[str, Any]] = {}
        self.items = {
            slug: {
                "slug": slug,
                "ran_on": page,
                "copy": copy,
                "style": "standing head: all caps, punctuation as is",
                "fee": f"${cents / 100:.2f}",
                "desk_status": "needs setting",
            }
            for _, _, rows in _EDITIONS
            for slug, page, cents, copy in rows
        }
        self.cents = {row[0]: row[2] for *_, rows in _EDITIONS for row in rows}
        self.runs_in = {row[0]: code for code, _, rows in _EDITIONS for row in rows}

    def texts(self) -> dict[str, str]:
        return {slug: item["copy"] for slug, item in self.items.items()}

    def missing(self, request: Request) -> Response:
        return _spike(404, f"no such desk: {request.method} {request.path}")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(18)
        agent = {"agent_id": f"setter{31 + len(self.setters)}", "credits": 100}
        self.setters[token] = agent
        return Response(200, {**agent, "access_token": token})

    def marketplace(self, request: Request) -> Response:
        """Print the budget: what is to be set, by edition."""
        editions = []
        for code, name, rows in _EDITIONS:
            items = [self.items[row[0]] for row in rows]
            wanted = [item for item in items if item["desk_status"] == "needs setting"]
            if wanted:
                edition = {"edition": code, "name": name, "corrections": wanted}
                editions.append(edition)
        return Response(200, {"budget": editions})

    tasks = marketplace

    def _copy(self, request: Request) -> tuple[dict[str, Any], Response | None]:
        if request.token not in self.setters:
            return {}, _spike(401, "who are you? no press card on this request")
        try:
            body = request.json()
        except ValueError:
            return {}, _spike(400, "garbled copy: body is not JSON")
        if not isinstance(body, dict):
            return {}, _spike(400, "garbled copy: body is not an object")
        return body, None

    def claim(self, request: Request) -> Response:
        """Assign a correction."""
        body, spiked = self._copy(request)
        if spiked:
            return spiked
        complaints = []
        for name, hint in (("slug", "which correction"), ("byline", "who sets it")):
            value = body.get(name)
            if value is None or value == "":
                complaints.append(f"{name}: missing ({hint})")
            elif not isinstance(value, str):
                complaints.append(f"{name}: must be text")
            elif name == "byline" and not 2 <= len(value.strip()) <= 40:
                complaints.append("byline: 2 to 40 characters")
        if complaints:
            return _spike(400, *complaints)
        item = self.items.get(body["slug"])
        if item is None:
            return _spike(404, f"slug: nothing slugged {body['slug']}")
        if item["desk_status"] != "needs setting":
            return _spike(409, f"{item['slug']}: already {item['desk_status']}")
        me = self.setters[request.token]["agent_id"]
        mine = [
            kept for kept in self.keys.values()
            if kept["setter"] == me
            and self.items[kept["slug"]]["desk_status"] != "released"
        ]  # fmt: skip
        if len(mine) >= _AT_ONCE:
            slugs = ", ".join(kept["slug"] for kept in mine)
            return _spike(429, f"you have {len(mine)} on your spike: {slugs}")
        item["desk_status"] = "assigned"
        self.book.claimed(item["slug"])
        key = f"{item['ran_on']}.{secrets.token_hex(3)}"
        byline = body["byline"].strip()
        self.keys[key] = {"slug": item["slug"], "setter": me, "byline": byline}
        return Response(200, {"desk_key": key, "byline": byline, "correction": item})

    def _kept(
        self, request: Request, body: dict[str, Any]
    ) -> tuple[dict[str, Any], list[str]]:
        """Return the assignment of the desk key, and what is wrong with the key."""
        key = body.get("desk_key")
        if key is None or key == "":
            return {}, ["desk_key: missing (you got it with the assignment)"]
        if not isinstance(key, str):
            return {}, ["desk_key: must be text"]
        kept = self.keys.get(key, {})
        if kept.get("setter") != self.setters[request.token]["agent_id"]:
            return {}, [f"desk_key: {key} opens nothing of yours"]
        return kept, []

    def submit(self, request: Request) -> Response:
        """Take the takes and hand them to a reader."""
        body, spiked = self._copy(request)
        if spiked:
            return spiked
        kept, complaints = self._kept(request, body)
        takes = body.get("takes")
        if takes is None or takes == []:
            complaints.append("takes: missing (the copy, a list of takes in order)")
        elif not isinstance(takes, list):
            complaints.append("takes: must be a list")
        else:
            complaints += [
                f"take {n}: must be text"
                for n, take in enumerate(takes, 1)
                if not isinstance(take, str)
            ]
        if complaints:
            return _spike(400, *complaints)
        item = self.items[kept["slug"]]
        if item["desk_status"] != "assigned":
            return _spike(409, f"{item['slug']}: copy is {item['desk_status']}")
        if " ".join(take.strip() for take in takes) != item["copy"].upper():
            return _spike(422, f"{item['slug']}: copy does not follow, set it again")
        item["desk_status"] = "with reader"
        kept["back"] = time.monotonic() + _READING
        reading = {"reader": "night desk", "takes": len(takes), "back_in_s": _READING}
        return Response(200, {"correction": item, "reading": reading})

    def complete(self, request: Request) -> Response:
        """Release the correction into its edition and pay."""
        body, spiked = self._copy(request)
        if spiked:
            return spiked
        kept, complaints = self._kept(request, body)
        edition = body.get("edition")
        if edition is None or edition == "":
            complaints.append("edition: missing (where it is to run)")
        elif not isinstance(edition, str):
            complaints.append("edition: must be text")
        elif kept and edition != (code := self.runs_in[kept["slug"]]):
            complaints.append(f"edition: {kept['slug']} runs in {code}, not {edition}")
        if complaints:
            return _spike(400, *complaints)
        slug = kept["slug"]
        item = self.items[slug]
        if item["desk_status"] == "assigned":
            return _spike(409, f"{slug}: no copy filed")
        if item["desk_status"] == "released":
            return _spike(409, f"{slug}: already released")
        if time.monotonic() < kept["back"]:
            words = f"{slug}: still with reader, come back in a moment"
            return _spike(409, words, **{"Retry-After": "1"})
        item["desk_status"] = "released"
        agent = self.setters[request.token]
        self.book.pay(slug, self.cents[slug])
        agent["credits"] += self.cents[slug]
        return Response(200, {"correction": item, "paid": item["fee"]})
