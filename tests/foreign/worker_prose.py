"""A Cloudflare worker that somebody wrote by hand one evening: friendly prose, no schema.

Tasks are known by slugs. Every refusal is a sentence or two of plain text, one fault at a
time, and nobody thought of a parser when writing them. What a body has too much is not
looked at. Closing a job wants a yes.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ASKS = {
    "quiet-otter-31": "otters hold hands while they sleep",
    "brave-pickle-07": "a pickle is a cucumber with a past",
    "muddy-comet-88": "the comet left before the dessert",
    "proud-teacup-12": "stir twice and look surprised",
    "rapid-walrus-45": "the walrus took the express train",
    "salty-lemon-63": "lemons are louder than limes",
    "fuzzy-anchor-20": "drop the anchor and have some soup",
    "tidy-goblin-54": "the goblin sorted all the socks",
    "early-pebble-79": "a pebble is a patient mountain",
    "misty-kazoo-16": "nobody practises the kazoo enough",
    "noble-waffle-92": "butter reached every square at last",
    "rusty-planet-38": "mars could use a new coat of paint",
}


class NopeError(Exception):
    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


def wanted(body: dict[str, Any], name: str, words: str) -> str:
    """Return a string of the body."""
    value = body.get(name)
    if value is None:
        raise NopeError(400, words)
    if not isinstance(value, str) or not value:
        raise NopeError(400, f"Your `{name}` should be some text, I got {value!r}.")
    return value


class WorkerProse(Backend):
    """Twelve jobs in a KV store."""

    def __init__(self) -> None:
        super().__init__()
        self.pays = {slug: n % 4 + 2 for n, slug in enumerate(ASKS)}
        self.keys: dict[str, str] = {}
        self.taken: dict[str, str] = {}
        self.delivered: set[str] = set()

    def texts(self) -> dict[str, str]:
        return dict(ASKS)

    def missing(self, request: Request) -> Response:
        return Response(404, "Nothing here. Are you lost?")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        name, key = f"guest-{secrets.token_hex(3)}", f"wk_{secrets.token_hex(20)}"
        self.keys[key] = name
        return Response(200, {"agent_id": name, "access_token": key, "credits": 100})

    def tasks(self, request: Request) -> Response:
        free = [
            {"slug": slug, "ask": ask, "pays": f"{self.pays[slug]} credits"}
            for slug, ask in ASKS.items()
            if slug not in self.taken
        ]
        return Response(200, {"jobs": free, "as_of": "just now"})

    marketplace = tasks

    def answered(self, request: Request, run: Any) -> Response:
        try:
            return Response(200, run(self.body(request), self.keys[request.token]))
        except NopeError as no:
            return Response(no.status, no.words)

    def body(self, request: Request) -> dict[str, Any]:
        if request.token not in self.keys:
            raise NopeError(401, "I don't know you yet. Get a key first.")
        try:
            body = request.json()
        except ValueError as fault:
            raise NopeError(400, "That was not JSON, sorry.") from fault
        if not isinstance(body, dict):
            raise NopeError(400, "Send me an object, please.")
        return body

    def job(self, body: dict[str, Any], words: str, agent: str) -> str:
        slug = wanted(body, "job", words)
        if slug not in ASKS:
            raise NopeError(404, f"There's no job called {slug}.")
        if agent and self.taken.get(slug) != agent:
            raise NopeError(403, "That one isn't yours.")
        return slug

    def claim(self, request: Request) -> Response:
        return self.answered(request, self.on_claim)

    def on_claim(self, body: dict[str, Any], agent: str) -> Any:
        words = "Which one would you like? Put its slug in `job` and try again."
        slug = self.job(body, words, "")
        if slug in self.taken:
            raise NopeError(409, "Too late, somebody already grabbed that one.")
        self.taken[slug] = agent
        self.book.claimed(slug)
        return {"job": slug, "yours": True}

    def submit(self, request: Request) -> Response:
        return self.answered(request, self.on_submit)

    def on_submit(self, body: dict[str, Any], agent: str) -> Any:
        slug = self.job(body, "For which job is this? I'm missing `job`.", agent)
        words = "Thanks, but I can't find your work. I look for it in `deliverable`."
        work = wanted(body, "deliverable", words)
        if work != ASKS[slug].upper():
            raise NopeError(422, "Sorry, that's not the right answer.")
        self.delivered.add(slug)
        return {"job": slug, "got_it": True}

    def complete(self, request: Request) -> Response:
        return self.answered(request, self.on_complete)

    def on_complete(self, body: dict[str, Any], agent: str) -> Any:
        slug = self.job(body, "Which job are we closing? Tell me in `job`.", agent)
        if slug not in self.delivered:
            raise NopeError(409, "You haven't delivered anything for that one yet.")
        if body.get("confirm") is not True:
            raise NopeError(
                400, "Almost there! Set `confirm` to true to close the job."
            )
        if slug not in self.book.paid:
            self.book.pay(slug, self.pays[slug])
        return {"job": slug, "closed": True, "paid": self.pays[slug]}
