"""Flask with nothing but routes: a refusal is Werkzeug's page, with the KeyError in it.

One fault at a time, in HTML with its quotes escaped. A claim is answered by a ticket, and
whoever delivers or closes shows the ticket and never the job.
"""

import html
import secrets
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PROMPTS = (
    "the lighthouse keeper counts the gulls",
    "a kettle sings in the empty kitchen",
    "three ferries wait for the fog to lift",
    "the cellist forgot her second bow",
    "moss covers the north side of the well",
    "paper boats race along the gutter",
    "the clockmaker's cat sleeps at noon",
    "somebody left a ladder in the orchard",
)
NOT_UNDERSTOOD = (
    "The browser (or proxy) sent a request that this server could not understand."
)


class Abort(Exception):  # noqa: N818 - Flask's word
    """An answer that ends the handling of a request."""

    def __init__(self, status: int, description: str) -> None:
        super().__init__(description)
        name = HTTPStatus(status).phrase
        told = html.escape(description).replace("\n", "<br>").replace("&#x27;", "&#39;")
        page = (
            f"<!doctype html>\n<html lang=en>\n<title>{status} {name}</title>\n"
            f"<h1>{name}</h1>\n<p>{told}</p>\n"
        )
        kind = {"Content-Type": "text/html; charset=utf-8"}
        self.response = Response(status, page, kind)


def value(body: dict[str, Any], name: str) -> str:
    """Return a field as `BadRequestKeyError` guards it."""
    if name not in body:
        raise Abort(400, f"{NOT_UNDERSTOOD}\nKeyError: '{name}'")
    if not isinstance(body[name], str):
        raise Abort(400, f"{NOT_UNDERSTOOD}\nTypeError: '{name}' is not a str")
    return str(body[name])


class WerkzeugPages(Backend):
    """Eight jobs."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs: dict[str, dict[str, Any]] = {
            f"job{at * 31 + 207}": {"prompt": text, "credits": at % 5 + 1, "at": "new"}
            for at, text in enumerate(PROMPTS)
        }
        self.tokens: set[str] = set()
        self.tickets: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return {key: job["prompt"] for key, job in self.jobs.items()}

    def missing(self, request: Request) -> Response:
        told = "The requested URL was not found on the server."
        return Abort(404, told).response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(24)
        self.tokens.add(token)
        told = {"agent_id": "bot7", "access_token": token, "credits": 100}
        return Response(200, told)

    def tasks(self, request: Request) -> Response:
        jobs = [
            {
                "job": key,
                "prompt": job["prompt"],
                "credits": job["credits"],
                "status": job["at"],
            }
            for key, job in self.jobs.items()
        ]
        return Response(200, {"jobs": jobs})

    def route(
        self, request: Request, view: Callable[[dict[str, Any]], Any]
    ) -> Response:
        try:
            return Response(200, view(self.body(request)))
        except Abort as abort:
            return abort.response

    def body(self, request: Request) -> dict[str, Any]:
        if request.token not in self.tokens:
            raise Abort(401, "The server could not verify that you are authorized.")
        if request.headers.get_content_type() != "application/json":
            raise Abort(415, "Did not attempt to load JSON data.")
        try:
            body = request.json()
        except ValueError:
            raise Abort(400, NOT_UNDERSTOOD) from None
        if not isinstance(body, dict):
            raise Abort(400, NOT_UNDERSTOOD)
        return body

    def claim(self, request: Request) -> Response:
        return self.route(request, self.on_claim)

    def on_claim(self, body: dict[str, Any]) -> Any:
        key = value(body, "job")
        if key not in self.jobs:
            raise Abort(404, "No such job.")
        if self.jobs[key]["at"] != "new":
            raise Abort(409, "The job is taken.")
        self.jobs[key]["at"] = "taken"
        ticket = secrets.token_hex(9)
        self.tickets[ticket] = key
        self.book.claimed(key)
        return {"ticket": ticket, "status": "taken"}

    def ticket(self, body: dict[str, Any]) -> str:
        ticket = value(body, "ticket")
        if ticket not in self.tickets:
            raise Abort(404, "No such ticket.")
        return self.tickets[ticket]

    def submit(self, request: Request) -> Response:
        return self.route(request, self.on_submit)

    def on_submit(self, body: dict[str, Any]) -> Any:
        job = self.jobs[self.ticket(body)]
        if value(body, "output") != job["prompt"].upper():
            raise Abort(422, "This is not what the prompt asks for.")
        if job["at"] == "taken":
            job["at"] = "delivered"
        return {"ticket": body["ticket"], "status": job["at"]}

    def complete(self, request: Request) -> Response:
        return self.route(request, self.on_complete)

    def on_complete(self, body: dict[str, Any]) -> Any:
        key = self.ticket(body)
        job = self.jobs[key]
        if job["at"] == "taken":
            raise Abort(409, "Nothing was delivered for this ticket.")
        if job["at"] != "paid":
            job["at"] = "paid"
            self.book.pay(key, job["credits"])
        return {"status": "paid", "credits": job["credits"]}
