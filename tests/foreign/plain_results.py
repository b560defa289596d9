"""A hand-written Go server to which a result is the body, and everything else the query.

A body of another type than text/plain is a 415 with `Accept-Post`; what is missing of the
query is told in a line of text.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TEXTS = (
    "the carpenter measures only once",
    "sawdust on the morning paper",
    "a nail for the calendar of may",
    "the glue needs a warm night",
    "sand along the grain of the oak",
    "the bench wobbles on stone floors",
)


class PlainResults(Backend):
    """Six pieces of work."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: dict[str, dict[str, Any]] = {
            f"p{at * 7 + 1200}": {"text": text, "credits": at % 3 + 1, "state": "free"}
            for at, text in enumerate(TEXTS)
        }
        self.tokens: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {key: piece["text"] for key, piece in self.pieces.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(16)
        self.tokens.add(token)
        told = {"agent_id": "c-8", "access_token": token, "credits": 100}
        return Response(200, told)

    def tasks(self, request: Request) -> Response:
        pieces = [{"piece": key, **piece} for key, piece in self.pieces.items()]
        return Response(200, pieces)

    def refused(self, request: Request) -> Response | None:
        if request.token not in self.tokens:
            return Response(401, "who are you\n")
        piece = request.query.get("piece")
        if not piece:
            return Response(400, "missing query parameter: piece\n")
        if piece not in self.pieces:
            return Response(404, "no such piece\n")
        return None

    def claim(self, request: Request) -> Response:
        if no := self.refused(request):
            return no
        piece = self.pieces[request.query["piece"]]
        if piece["state"] != "free":
            return Response(409, "somebody has it\n")
        piece["state"] = "held"
        self.book.claimed(request.query["piece"])
        return Response(200, {"piece": request.query["piece"], "state": "held"})

    def submit(self, request: Request) -> Response:
        if request.headers.get_content_type() != "text/plain":
            only = {"Accept-Post": "text/plain"}
            return Response(415, "results are text/plain\n", only)
        if no := self.refused(request):
            return no
        piece = self.pieces[request.query["piece"]]
        if piece["state"] == "free":
            return Response(409, "nobody has it\n")
        if request.raw.decode().strip() != piece["text"].upper():
            return Response(422, "not what was asked for\n")
        if piece["state"] == "held":
            piece["state"] = "handed in"
        told = {"piece": request.query["piece"], "state": piece["state"]}
        return Response(200, told)

    def complete(self, request: Request) -> Response:
        if no := self.refused(request):
            return no
        key = request.query["piece"]
        piece = self.pieces[key]
        if piece["state"] in ("free", "held"):
            return Response(409, "nothing was handed in\n")
        if piece["state"] == "handed in":
            piece["state"] = "paid"
            self.book.pay(key, piece["credits"])
        return Response(200, {"piece": key, "state": "paid"})
