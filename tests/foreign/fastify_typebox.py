"""A Fastify 4 server with TypeBox as its validator compiler, @fastify/jwt and swagger.

Lists {"gigs", "next"} with slugs and a cursor, three a page; a gig that is taken has a
claimedBy. Refuses as Fastify with TypeBoxValidatorCompiler does: FST_ERR_VALIDATION
with "body/slug Expected required property, body/slug Expected string" in one message, a
literal as "Expected 'done'". Claiming gives a claim token that submit and complete
want; submit also wants a confidence between 0 and 1. Complete answers 204 and pays at
once. The OpenAPI document is at /documentation/json, linked in a header.
"""

import secrets
from typing import Any
from urllib.parse import quote

from tests.foreign.backend import Backend, Request, Response

GIGS = [
    (
        "sourdough-label",
        "Sourdough label",
        "Feed the starter twice a day with rye flour.",
        "14 credits",
    ),
    (
        "jam-jar-front",
        "Jam jar front",
        "Cook until two drops fall as one.",
        "6 credits",
    ),
    (
        "cheese-board-card",
        "Cheese board card",
        "Serve the blue cheese last and at room temperature.",
        "9 credits",
    ),
    (
        "oven-sticker",
        "Oven sticker",
        "Do not open the door in the first twenty minutes.",
        "7 credits",
    ),
    (
        "menu-footer",
        "Menu footer",
        "Tell us of allergies before you order.",
        "5 credits",
    ),
    (
        "honey-leaflet",
        "Honey leaflet",
        "Honey that has set is made liquid in warm water.",
        "11 credits",
    ),
    ("pickle-lid", "Pickle lid", "Best after three weeks in the dark.", "4 credits"),
    ("coffee-bag", "Coffee bag", "Grind it just before you brew.", "8 credits"),
]
TAKEN = {"cheese-board-card": "ag_19fe", "menu-footer": "ag_0c41"}
PATH = "/functions/v1/"
STRING = {"minLength": 1, "type": "string"}
SCHEMAS: dict[str, dict[str, Any]] = {
    "claim-task-public": {"slug": STRING},
    "submit-task-result-public": {
        "claimToken": STRING,
        "answer": STRING,
        "confidence": {"minimum": 0, "maximum": 1, "type": "number"},
    },
    "complete-task-public": {
        "claimToken": STRING,
        "status": {"const": "done", "type": "string"},
    },
}


def _value(schema: dict[str, Any], value: Any) -> str:
    """Return TypeBox's message, or "" when the value conforms."""
    if "const" in schema:
        return "" if value == schema["const"] else f"Expected '{schema['const']}'"
    if schema["type"] == "string":
        if not isinstance(value, str):
            return "Expected string"
        return "" if value else "Expected string length greater or equal to 1"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "Expected number"
    if value < schema["minimum"]:
        return f"Expected number to be greater or equal to {schema['minimum']}"
    return (
        ""
        if value <= schema["maximum"]
        else f"Expected number to be less or equal to {schema['maximum']}"
    )


def _fault(code: int, error: str, message: str, name: str = "") -> Response:
    body: dict[str, Any] = {"statusCode": code, "error": error, "message": message}
    return Response(
        code,
        {"statusCode": code, "code": name, "error": error, "message": message}
        if name
        else body,
    )


class FastifyTypebox(Backend):
    """Gigs by slug; a claim token for each claim."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        self._claims: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {slug: brief for slug, _, brief, _ in GIGS if slug not in TAKEN}

    def missing(self, request: Request) -> Response:
        return _fault(
            404, "Not Found", f"Route {request.method}:{request.path} not found"
        )

    def document(self, request: Request) -> Response:
        if request.path == "/":
            return Response(
                200,
                {
                    "service": "pantry-gigs",
                    "version": "1.9.2",
                    "documentation": "/documentation/json",
                },
            )
        if request.path not in ("/documentation/json", "/openapi.json"):
            return self.missing(request)
        paths: dict[str, Any] = {}
        for name, properties in SCHEMAS.items():
            schema = {
                "type": "object",
                "required": list(properties),
                "properties": properties,
            }
            body = {
                "required": True,
                "content": {"application/json": {"schema": schema}},
            }
            paths[PATH + name] = {
                "post": {
                    "requestBody": body,
                    "security": [{"bearer": []}],
                    "responses": {"200": {"description": "Default Response"}},
                }
            }
        schemes = {"bearer": {"type": "http", "scheme": "bearer"}}
        return Response(
            200,
            {
                "openapi": "3.0.3",
                "info": {"title": "Pantry gigs", "version": "1.9.2"},
                "components": {"securitySchemes": schemes, "schemas": {}},
                "paths": paths,
            },
        )

    def _no_token(self, request: Request) -> Response | None:
        if not request.token:
            return _fault(
                401,
                "Unauthorized",
                "No Authorization was found in request.headers",
                "FST_JWT_NO_AUTHORIZATION_IN_HEADER",
            )
        if request.token not in self._agents:
            return _fault(
                401,
                "Unauthorized",
                "Authorization token is invalid: The token is malformed.",
                "FST_JWT_AUTHORIZATION_TOKEN_INVALID",
            )
        return None

    def _body(self, request: Request, name: str) -> tuple[Any, Response | None]:
        if refusal := self._no_token(request):
            return {}, refusal
        if not request.raw:
            return {}, _fault(
                400,
                "Bad Request",
                "Body cannot be empty when content-type is set to 'application/json'",
                "FST_ERR_CTP_EMPTY_JSON_BODY",
            )
        try:
            body = request.json()
        except ValueError:
            return {}, _fault(
                400,
                "Bad Request",
                "Body is not valid JSON but content-type is set to 'application/json'",
                "FST_ERR_CTP_INVALID_JSON_BODY",
            )
        if not isinstance(body, dict):
            return {}, _fault(
                400, "Bad Request", "body Expected object", "FST_ERR_VALIDATION"
            )
        schema = SCHEMAS[name]
        found = [
            f"body/{field} Expected required property"
            for field in schema
            if field not in body
        ]
        found += [
            f"body/{n} {why}"
            for n, inner in schema.items()
            if (why := _value(inner, body.get(n)))
        ]
        return body, _fault(
            400, "Bad Request", ", ".join(found), "FST_ERR_VALIDATION"
        ) if found else None

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token, agent = secrets.token_urlsafe(36), "ag_" + secrets.token_hex(2)
        self._agents[token] = agent
        return Response(200, {"agent": {"id": agent, "credits": 100}, "token": token})

    def tasks(self, request: Request) -> Response:
        if refusal := self._no_token(request):
            return refusal
        limit = request.query.get("limit", "")
        size = min(int(limit), 25) if limit.isdigit() and int(limit) else 3
        slugs = [gig[0] for gig in GIGS]
        cursor = request.query.get("cursor", "")
        at = slugs.index(cursor) if cursor in slugs else 0
        holders = {c["slug"]: c["agent"] for c in self._claims.values()}
        done = {c["slug"] for c in self._claims.values() if c["state"] == "done"}
        gigs = [
            {
                "slug": slug,
                "title": title,
                "brief": brief,
                "reward": reward,
                "claimedBy": TAKEN.get(slug) or holders.get(slug),
                "done": slug in done,
            }
            for slug, title, brief, reward in GIGS[at : at + size]
        ]
        more = slugs[at + size] if at + size < len(slugs) else None
        next_ = f"{request.path}?cursor={quote(more)}&limit={size}" if more else None
        return Response(
            200,
            {"gigs": gigs, "next": next_},
            {"Link": '</documentation/json>; rel="service-desc"'},
        )

    def claim(self, request: Request) -> Response:
        body, refusal = self._body(request, "claim-task-public")
        if refusal:
            return refusal
        slug, agent = body["slug"], self._agents[request.token]
        if slug not in {gig[0] for gig in GIGS}:
            return _fault(404, "Not Found", f"No gig with slug {slug}")
        held = next(
            ((t, c) for t, c in self._claims.items() if c["slug"] == slug), None
        )
        if slug in TAKEN or (held and held[1]["agent"] != agent):
            return _fault(409, "Conflict", f"Gig {slug} is claimed already")
        if not held:
            held = (
                "clm_" + secrets.token_hex(8),
                {"slug": slug, "agent": agent, "state": "claimed"},
            )
            self._claims[held[0]] = held[1]
            self.book.claimed(slug)
        return Response(
            201, {"claim": {"token": held[0], "slug": slug, "expiresInSeconds": 3600}}
        )

    def submit(self, request: Request) -> Response:
        body, refusal = self._body(request, "submit-task-result-public")
        if refusal:
            return refusal
        claim = self._claims.get(body["claimToken"])
        if not claim or claim["agent"] != self._agents[request.token]:
            return _fault(404, "Not Found", "claimToken is not known")
        if claim["state"] == "done":
            return _fault(409, "Conflict", "This claim is done")
        if body["answer"] != self.texts()[claim["slug"]].upper():
            return _fault(
                422, "Unprocessable Entity", "answer was checked and is wrong"
            )
        claim["state"] = "answered"
        return Response(200, {"received": True, "slug": claim["slug"]})

    def complete(self, request: Request) -> Response:
        body, refusal = self._body(request, "complete-task-public")
        if refusal:
            return refusal
        claim = self._claims.get(body["claimToken"])
        if not claim or claim["agent"] != self._agents[request.token]:
            return _fault(404, "Not Found", "claimToken is not known")
        if claim["state"] == "claimed":
            return _fault(409, "Conflict", "Submit an answer first")
        if claim["state"] == "answered":
            claim["state"] = "done"
            reward = next(gig[3] for gig in GIGS if gig[0] == claim["slug"])
            self.book.pay(claim["slug"], int(reward.split()[0]))
        return Response(204, b"")
