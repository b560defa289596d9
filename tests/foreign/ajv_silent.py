"""Node with Ajv and `messages: false`: keywords, pointers to the parent, and parameters.

All errors come at once with a trace. What is missing is named in `params`, below the
object that `instancePath` points to. A delivery is a list of parts, each with one of the
formats that the schema allows, and shows the grant of the claim.
"""

import secrets
from collections.abc import Callable, Iterator
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TEXTS = (
    "the baker sells yesterday's news",
    "a goat stands on the tin roof",
    "the fountain is dry since april",
    "chess pieces lost in the snow",
    "the echo answers in another key",
    "a button holds the curtain shut",
    "the signpost points into the sea",
    "warm bread and a borrowed knife",
)
Json = dict[str, Any]
STRING: Json = {"type": "string", "minLength": 1}


def an_object(**properties: Json) -> Json:
    return {
        "type": "object",
        "required": list(properties),
        "properties": properties,
        "additionalProperties": False,
    }


PART = an_object(format={"enum": ["text/plain", "text/html"]}, content=STRING)
SCHEMAS = {
    "claim": an_object(claim=an_object(itemRef=STRING)),
    "submit": an_object(
        delivery=an_object(
            itemRef=STRING,
            grant=STRING,
            parts={"type": "array", "minItems": 1, "items": PART},
        )
    ),
    "complete": an_object(settlement=an_object(itemRef=STRING, grant=STRING)),
}
TYPES: dict[str, type] = {"object": dict, "array": list, "string": str}


def errors(value: Any, schema: Json, at: str = "", to: str = "#") -> Iterator[Json]:
    """Yield errors as Ajv words them when it must not use words."""

    def error(keyword: str, **params: Any) -> Json:
        place = {"instancePath": at, "schemaPath": f"{to}/{keyword}"}
        return {**place, "keyword": keyword, "params": params}

    if "type" in schema and not isinstance(value, TYPES[schema["type"]]):
        yield error("type", type=schema["type"])
        return
    if "enum" in schema and value not in schema["enum"]:
        yield error("enum", allowedValues=schema["enum"])
    if len(value) < schema.get("minLength", 0):
        yield error("minLength", limit=schema["minLength"])
    if len(value) < schema.get("minItems", 0):
        yield error("minItems", limit=schema["minItems"])
    if isinstance(value, list):
        for n, one in enumerate(value):
            yield from errors(one, schema["items"], f"{at}/{n}", f"{to}/items")
    if isinstance(value, dict):
        for name in schema["required"]:
            if name not in value:
                yield error("required", missingProperty=name)
        for name, one in value.items():
            if name not in schema["properties"]:
                yield error("additionalProperties", additionalProperty=name)
            else:
                inner = schema["properties"][name]
                below = f"{to}/properties/{name}"
                yield from errors(one, inner, f"{at}/{name}", below)


class AjvSilent(Backend):
    """Eight items."""

    def __init__(self) -> None:
        super().__init__()
        self.items: dict[str, Json] = {
            f"it_{secrets.token_hex(5)}": {"text": text, "credits": at % 4 + 1}
            for at, text in enumerate(TEXTS)
        }
        self.tokens: set[str] = set()
        self.grants: dict[str, str] = {}
        self.delivered: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {key: item["text"] for key, item in self.items.items()}

    def no(self, status: int, code: str, found: list[Json] | None = None) -> Response:
        told: Json = {"code": code, "trace": secrets.token_hex(8)}
        return Response(status, {**told, "errors": found} if found else told)

    def missing(self, request: Request) -> Response:
        return self.no(404, "ROUTE")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(16)
        self.tokens.add(token)
        told = {"agent_id": "n-12", "access_token": token, "credits": 100}
        return Response(200, told)

    def tasks(self, request: Request) -> Response:
        items = [
            {
                "itemRef": key,
                **item,
                "state": "granted" if key in self.grants else "available",
            }
            for key, item in self.items.items()
        ]
        return Response(200, {"items": items})

    def handled(
        self, request: Request, action: str, step: Callable[[Json], Response]
    ) -> Response:
        if request.token not in self.tokens:
            return self.no(401, "TOKEN")
        try:
            body = request.json()
        except ValueError:
            return self.no(400, "JSON")
        if found := list(errors(body, SCHEMAS[action])):
            return self.no(400, "SCHEMA", found)
        (inner,) = body.values()
        if inner["itemRef"] not in self.items:
            return self.no(404, "ITEM")
        if "grant" in inner and self.grants.get(inner["itemRef"]) != inner["grant"]:
            return self.no(403, "GRANT")
        return step(inner)

    def claim(self, request: Request) -> Response:
        return self.handled(request, "claim", self.on_claim)

    def on_claim(self, claim: Json) -> Response:
        key = claim["itemRef"]
        if key in self.grants:
            return self.no(409, "GRANTED")
        self.grants[key] = secrets.token_urlsafe(9)
        self.book.claimed(key)
        return Response(200, {"itemRef": key, "grant": self.grants[key]})

    def submit(self, request: Request) -> Response:
        return self.handled(request, "submit", self.on_submit)

    def on_submit(self, delivery: Json) -> Response:
        key = delivery["itemRef"]
        if delivery["parts"][0]["content"] != self.items[key]["text"].upper():
            return self.no(422, "CONTENT")
        self.delivered.add(key)
        return Response(200, {"itemRef": key, "state": "delivered"})

    def complete(self, request: Request) -> Response:
        return self.handled(request, "complete", self.on_complete)

    def on_complete(self, settlement: Json) -> Response:
        key = settlement["itemRef"]
        if key not in self.delivered:
            return self.no(409, "UNDELIVERED")
        if key not in self.book.paid:
            self.book.pay(key, self.items[key]["credits"])
        return Response(200, {"itemRef": key, "state": "settled"})
