"""A school book publisher's caption desk, built by the typesetting department.

Everything answers 200 with {"ok": true, ...} or {"ok": false, "errors": [{"where", "what"}]}.
The list groups by book: {"ok", "books": [{isbn, title, captions: [{caption_id, figure, copy, rate, desk}]}]}.
claim {caption_id} -> {"docket": {number, caption_id, copy, rate, due}}
submit {docket, set_copy} -> {"proof": {reference, docket, round}}
complete {docket, proof} -> {"paid": rate, "account": n}; proof is the reference.
"""

import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

BOOKS: list[tuple[str, str, list[tuple[int, str, str, int, str]]]] = [
    (
        "978-3-0001-2201-4",
        "Rivers and Hills",
        [
            (5101, "1.1", "a river carries sand and pebbles to the sea", 6, "open"),
            (5102, "1.4", "the valley as the glacier left it behind", 7, "open"),
            (5103, "2.2", "terraces keep the soil on the steep slope", 8, "open"),
        ],
    ),
    (
        "978-3-0001-2307-3",
        "How Plants Live",
        [
            (5207, "3.1", "the root hairs drink water from the soil", 6, "open"),
            (5208, "3.6", "bees carry the pollen from flower to flower", 9, "open"),
            (
                5209,
                "4.2",
                "this figure was dropped from the third edition",
                5,
                "dropped",
            ),
        ],
    ),
    (
        "978-3-0001-2415-5",
        "Our Town Long Ago",
        [
            (5311, "1.2", "the market square before the great fire", 7, "open"),
            (5312, "2.5", "weavers at work by the light of one window", 10, "open"),
        ],
    ),
]


class SchoolbookCaptions(Backend):
    """The caption desk of a school book publisher."""

    def __init__(self) -> None:
        super().__init__()
        self.setters: dict[str, dict[str, Any]] = {}
        self.dockets: dict[int, dict[str, Any]] = {}
        self.captions: dict[int, dict[str, Any]] = {}
        for _isbn, _title, captions in BOOKS:
            for key, figure, copy, rate, desk in captions:
                self.captions[key] = {
                    "caption_id": key,
                    "figure": figure,
                    "copy": copy,
                    "rate": rate,
                    "desk": desk,
                }
        self.earnable = {
            str(k): str(c["copy"])
            for k, c in self.captions.items()
            if c["desk"] == "open"
        }

    def texts(self) -> dict[str, str]:
        """Return the copy of every caption that can be earned."""
        return dict(self.earnable)

    def _no(self, *errors: tuple[str, str]) -> Response:
        listed = [{"where": where, "what": what} for where, what in errors]
        return Response(200, {"ok": False, "errors": listed}, refused=True)

    def _yes(self, body: dict[str, Any]) -> Response:
        return Response(200, {"ok": True, **body})

    def _slip(
        self, request: Request, fields: dict[str, type]
    ) -> dict[str, Any] | Response:
        if request.token not in self.setters:
            return self._no(("authorization", "unknown access token"))
        try:
            data = request.json() if request.raw.strip() else {}
        except ValueError:
            return self._no(("body", "not JSON"))
        if not isinstance(data, dict):
            return self._no(("body", "not a JSON object"))
        errors: list[tuple[str, str]] = []
        for field, kind in fields.items():
            value = data.get(field)
            if value is None or value == "":
                errors.append((field, "not given"))
            elif kind is int:
                if isinstance(value, str) and value.isdigit():
                    data[field] = int(value)
                elif type(value) is not int:
                    errors.append((field, "must be a number"))
            elif not isinstance(value, str):
                errors.append((field, "must be a string"))
        return self._no(*errors) if errors else data

    def register(self, request: Request) -> Response:
        """Take on a setter."""
        self.book.registrations += 1
        token = secrets.token_urlsafe(21)
        agent_id = f"setter/{len(self.setters) + 1}"
        self.setters[token] = {"agent_id": agent_id, "credits": 100}
        return self._yes({"agent_id": agent_id, "access_token": token, "credits": 100})

    def _list(self, limit: int) -> Response:
        books: list[dict[str, Any]] = []
        for isbn, title, captions in BOOKS:
            rows = [dict(self.captions[key]) for key, *_ in captions][: max(0, limit)]
            limit -= len(rows)
            if rows:
                books.append({"isbn": isbn, "title": title, "captions": rows})
        return self._yes(
            {"house_style": "Captions are set in capitals throughout.", "books": books}
        )

    def marketplace(self, request: Request) -> Response:
        """Show the captions to everybody."""
        return self._list(len(self.captions))

    def tasks(self, request: Request) -> Response:
        """Show the captions to a setter."""
        if request.token not in self.setters:
            return self._no(("authorization", "unknown access token"))
        limit = request.query.get("limit", "100")
        if not limit.isdigit():
            return self._no(("limit", "must be a number"))
        return self._list(int(limit))

    def claim(self, request: Request) -> Response:
        """Open a docket for a caption."""
        data = self._slip(request, {"caption_id": int})
        if isinstance(data, Response):
            return data
        caption = self.captions.get(data["caption_id"])
        if caption is None:
            return self._no(("caption_id", f"no caption {data['caption_id']}"))
        for docket in self.dockets.values():
            if (
                docket["caption_id"] == caption["caption_id"]
                and docket["token"] == request.token
            ):
                return self._yes({"docket": self._shown(docket)})
        if caption["desk"] != "open":
            return self._no(
                (
                    "caption_id",
                    f"caption {caption['caption_id']} is not open but {caption['desk']}",
                )
            )
        caption["desk"] = "being set"
        number = 70 + len(self.dockets)
        self.dockets[number] = {
            "number": number,
            "caption_id": caption["caption_id"],
            "copy": caption["copy"],
            "rate": caption["rate"],
            "due": time.strftime("%d.%m.%Y", time.gmtime(time.time() + 172800)),
            "token": request.token,
            "proof": "",
            "round": 0,
            "paid": False,
        }
        self.book.claimed(str(caption["caption_id"]))
        return self._yes({"docket": self._shown(self.dockets[number])})

    def _shown(self, docket: dict[str, Any]) -> dict[str, Any]:
        return {
            name: docket[name]
            for name in ("number", "caption_id", "copy", "rate", "due")
        }

    def _docket(self, request: Request, number: int) -> dict[str, Any] | Response:
        docket = self.dockets.get(number)
        if docket is None or docket["token"] != request.token:
            return self._no(("docket", f"you have no docket with the number {number}"))
        return docket

    def submit(self, request: Request) -> Response:
        """Take the set copy and pull a proof."""
        data = self._slip(request, {"docket": int, "set_copy": str})
        if isinstance(data, Response):
            return data
        docket = self._docket(request, data["docket"])
        if isinstance(docket, Response):
            return docket
        if docket["paid"]:
            return self._no(("docket", "already passed for press"))
        docket["round"] += 1
        if data["set_copy"] != docket["copy"].upper():
            return self._no(
                (
                    "set_copy",
                    f"proof round {docket['round']} failed: not the copy in capitals",
                )
            )
        docket["proof"] = docket["proof"] or "PR-" + secrets.token_hex(3).upper()
        return self._yes(
            {
                "proof": {
                    "reference": docket["proof"],
                    "docket": docket["number"],
                    "round": docket["round"],
                }
            }
        )

    def complete(self, request: Request) -> Response:
        """Pass the proof for press and pay."""
        data = self._slip(request, {"docket": int, "proof": str})
        if isinstance(data, Response):
            return data
        docket = self._docket(request, data["docket"])
        if isinstance(docket, Response):
            return docket
        if not docket["proof"]:
            return self._no(("docket", "no proof has been pulled for this docket"))
        if data["proof"] != docket["proof"]:
            return self._no(
                ("proof", "not the reference of the proof pulled for this docket")
            )
        setter = self.setters[request.token]
        if not docket["paid"]:
            docket["paid"] = True
            self.captions[docket["caption_id"]]["desk"] = "passed for press"
            setter["credits"] += docket["rate"]
            self.book.pay(str(docket["caption_id"]), docket["rate"])
        return self._yes(
            {
                "docket": docket["number"],
                "paid": docket["rate"],
                "account": setter["credits"],
            }
        )
