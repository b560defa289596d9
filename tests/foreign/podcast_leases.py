"""Escuta Aberta: a Brazilian podcast transcriber on FastAPI."""

import secrets
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

SHOWS = [
    (
        "conversa-de-bar",
        "Conversa de Bar",
        {
            "ep-112": [
                ("the guest talks about bread and rent", 12),
                ("we close with a samba from 1956", 14),
            ],
            "ep-113": [("this part was recorded in the rain", 9)],
        },
    ),
    (
        "ciencia-na-rede",
        "Ciência na Rede",
        {
            "ep-40": [
                ("mosquitoes find people by their breath", 21),
                ("thanks to the listeners in recife", 11),
            ],
        },
    ),
]


class Podcast(Backend):
    """Shows > episodes > segments; the rough transcript comes with the claim (lease).

    claim {segment_id (integer)} answers a lease; submit {lease_id, transcript, language
    (pt-BR or en)} pays at once (earned, wallet); complete {lease_id, audio_quality 1-5}
    only closes. Refusals are FastAPI's: 422 with detail rows, else a detail string.
    """

    def __init__(self) -> None:
        super().__init__()
        self.users: dict[str, dict[str, Any]] = {}
        self.segments: dict[int, dict[str, Any]] = {}
        self.leases: dict[str, dict[str, Any]] = {}
        number = 900
        for slug, _, episodes in SHOWS:
            for episode, parts in episodes.items():
                for text, pay in parts:
                    number += 1
                    self.segments[number] = {
                        "show": slug,
                        "episode": episode,
                        "text": text,
                        "pay": pay,
                        "status": "free",
                    }

    def texts(self) -> dict[str, str]:
        return {str(k): s["text"] for k, s in self.segments.items()}

    # -- answers -------------------------------------------------------------
    def detail(self, status: int, detail: Any) -> Response:
        headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
        return Response(status, {"detail": detail}, headers)

    def missing(self, request: Request) -> Response:
        return self.detail(404, "Not Found")

    def enter(
        self, r: Request, model: dict[str, Any]
    ) -> tuple[Any, Any, Response | None]:
        user = self.users.get(r.token)
        if user is None:
            return None, None, self.detail(401, "Not authenticated")
        try:
            body = r.json()
        except ValueError:
            return (
                None,
                None,
                self.detail(
                    422,
                    [
                        {
                            "type": "json_invalid",
                            "loc": ["body", 0],
                            "msg": "JSON decode error",
                            "input": {},
                        }
                    ],
                ),
            )
        if not isinstance(body, dict):
            return (
                None,
                None,
                self.detail(
                    422,
                    [
                        {
                            "type": "model_attributes_type",
                            "loc": ["body"],
                            "input": body,
                            "msg": "Input should be a valid dictionary or object to extract fields from",
                        }
                    ],
                ),
            )
        rows: list[dict[str, Any]] = []

        def bad(kind: str, name: str, message: str, value: Any) -> None:
            rows.append(
                {"type": kind, "loc": ["body", name], "msg": message, "input": value}
            )

        for name, wanted in model.items():
            value = body.get(name)
            if name not in body:
                bad("missing", name, "Field required", body)
            elif wanted is str:
                if not isinstance(value, str):
                    bad("string_type", name, "Input should be a valid string", value)
            elif isinstance(wanted, list):
                if value not in wanted:
                    bad(
                        "literal_error",
                        name,
                        "Input should be " + " or ".join(f"'{x}'" for x in wanted),
                        value,
                    )
            else:
                try:
                    body[name] = number = int(str(value))
                except (TypeError, ValueError):
                    bad(
                        "int_parsing" if isinstance(value, str) else "int_type",
                        name,
                        "Input should be a valid integer",
                        value,
                    )
                    continue
                low, high = wanted
                if number < low:
                    bad(
                        "greater_than_equal",
                        name,
                        f"Input should be greater than or equal to {low}",
                        value,
                    )
                elif number > high:
                    bad(
                        "less_than_equal",
                        name,
                        f"Input should be less than or equal to {high}",
                        value,
                    )
        if rows:
            return None, None, self.detail(422, rows)
        return user, body, None

    # -- actions -------------------------------------------------------------
    def register(self, r: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(32)
        self.users[token] = {"id": str(uuid.uuid4()), "wallet": 100}
        return Response(
            200,
            {
                "agent_id": self.users[token]["id"],
                "access_token": token,
                "credits": 100,
            },
        )

    def tasks(self, r: Request) -> Response:
        raw = r.query.get("limit", "50")
        if not raw.isdigit():
            return self.detail(
                422,
                [
                    {
                        "type": "int_parsing",
                        "loc": ["query", "limit"],
                        "input": raw,
                        "msg": "Input should be a valid integer, unable to parse string as an integer",
                    }
                ],
            )
        left = int(raw)  # counts segments
        shows = []
        for slug, title, episodes in SHOWS:
            out = []
            for episode in episodes:
                rows = [
                    {
                        "segment_id": k,
                        "status": s["status"],
                        "pay_credits": s["pay"],
                        "duration_s": len(s["text"]) * 2,
                    }
                    for k, s in self.segments.items()
                    if (s["show"], s["episode"]) == (slug, episode)
                ][: max(left, 0)]
                left -= len(rows)
                if rows:
                    out.append({"episode": episode, "segments": rows})
            if out:
                shows.append({"slug": slug, "titulo": title, "episodes": out})
        return Response(200, {"shows": shows})

    marketplace = tasks

    def claim(self, r: Request) -> Response:
        user, body, no = self.enter(r, {"segment_id": (1, 10**9)})
        if no:
            return no
        key = body["segment_id"]
        segment = self.segments.get(key)
        if segment is None:
            return self.detail(404, "Segment not found")
        lease_id = next(
            (
                k
                for k, x in self.leases.items()
                if x["segment"] == key and x["user"] is user
            ),
            "",
        )
        if not lease_id:
            if segment["status"] != "free":
                return self.detail(409, "Segment already leased")
            segment["status"] = "leased"
            lease_id = str(uuid.uuid4())
            self.leases[lease_id] = {"segment": key, "user": user, "closed": False}
            self.book.claimed(str(key))
        return Response(
            200,
            {
                "lease_id": lease_id,
                "expires_in_s": 1800,
                "segment": {
                    "segment_id": key,
                    "rough_transcript": segment["text"],
                    "pay_credits": segment["pay"],
                },
                "house_style": "Send back the rough transcript in ALL CAPS (legenda em maiúsculas), punctuation untouched.",
            },
        )

    def lease(self, user: Any, key: str) -> tuple[Any, Response | None]:
        lease = self.leases.get(key)
        if lease is None:
            return None, self.detail(404, "Lease not found")
        if lease["user"] is not user:
            return None, self.detail(403, "This lease belongs to another agent")
        return lease, None

    def submit(self, r: Request) -> Response:
        user, body, no = self.enter(
            r, {"lease_id": str, "transcript": str, "language": ["pt-BR", "en"]}
        )
        if no:
            return no
        lease, no = self.lease(user, body["lease_id"])
        if no:
            return no
        segment = self.segments[lease["segment"]]
        if segment["status"] != "leased":
            return Response(
                200,
                {
                    "accepted": True,
                    "earned": 0,
                    "already_accepted": True,
                    "wallet": user["wallet"],
                },
            )
        if body["transcript"] != segment["text"].upper():
            return self.detail(
                400,
                "Transcript does not match the house style: rough transcript in ALL CAPS expected",
            )
        segment["status"] = "transcribed"
        user["wallet"] += segment["pay"]
        self.book.pay(str(lease["segment"]), segment["pay"])
        return Response(
            200, {"accepted": True, "earned": segment["pay"], "wallet": user["wallet"]}
        )

    def complete(self, r: Request) -> Response:
        user, body, no = self.enter(r, {"lease_id": str, "audio_quality": (1, 5)})
        if no:
            return no
        lease, no = self.lease(user, body["lease_id"])
        if no:
            return no
        segment = self.segments[lease["segment"]]
        if segment["status"] == "leased":
            return self.detail(409, "Lease has no accepted transcript")
        lease["closed"] = True
        segment["status"] = "published"
        return Response(
            200,
            {
                "lease_id": body["lease_id"],
                "closed": True,
                "segment_status": "published",
                "wallet": user["wallet"],
            },
        )
