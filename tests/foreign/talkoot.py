"""Talkoot: a neighbourhood-work board of a three-person Finnish team.

Clojure: Ring, reitit with malli coercion, muuntaja and buddy-auth. Keys are kebab-case,
identifiers are UUIDs, the words of a chore are shown to the one who has pledged to do it.
"""

import json
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_SPACE = uuid.UUID("5b0f4a52-0d3e-4c53-9f0c-7f1d2c1f6a10")
_CHORES = [
    ("Sauna sign", "the sauna is warm from six on saturday", 6),
    ("Lost cat poster", "grey cat called misu, white front paws", 9),
    ("Jetty notice", "mind the loose plank at the end of the jetty", 12),
    ("Flea market flyer", "flea market in the school yard, bring small change", 8),
    ("Snow shift", "whoever is up first clears the steps", 15),
    ("Compost label", "no citrus peel, no plastic bags", 5),
    ("Midsummer banner", "bonfire at the north shore at nine", 11),
]


class Talkoot(Backend):
    """Chores are pledged, handed in, and thanked for when they are called done."""

    def __init__(self) -> None:
        super().__init__()
        self.helpers: dict[str, dict[str, Any]] = {}  # by token
        self.pledges: dict[str, dict[str, Any]] = {}
        self.chores: dict[str, dict[str, Any]] = {}
        for title, words, thanks in _CHORES:
            key = str(uuid.uuid5(_SPACE, title))
            self.chores[key] = {
                "title": title,
                "words": words,
                "thanks": thanks,
                "state": "open",
            }

    def texts(self) -> dict[str, str]:
        return {key: chore["words"] for key, chore in self.chores.items()}

    # ring plumbing

    def missing(self, request: Request) -> Response:
        return Response(404, "")

    def _ok(self, body: Any) -> Response:
        return self._json(200, body)

    def _no(self, status: int, kind: str, message: str) -> Response:
        return self._json(status, {"type": f"talkoot/{kind}", "message": message})

    def _json(self, status: int, body: Any) -> Response:
        return Response(
            status,
            json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(),
            {"Content-Type": "application/json; charset=utf-8"},
        )

    def _coercion(
        self,
        where: str,
        schema: str,
        value: Any,
        faults: list[tuple[list[str], str, Any]],
    ) -> Response:
        humanized: Any = {}
        errors = []
        for path, message, found in faults:
            error = {"in": path, "path": path, "value": found, "message": message}
            if message == "missing required key":
                error["type"] = "malli.core/missing-key"
            errors.append(error)
            if not path:
                humanized = [message]
                continue
            node = humanized
            for key in path[:-1]:
                node = node.setdefault(key, {})
            node[path[-1]] = [message]
        body = {"value": value, "schema": schema, "errors": errors, "coercion": "malli"}
        body |= {"type": "reitit.coercion/request-coercion", "in": ["request", where]}
        return self._json(400, {**body, "humanized": humanized})

    def _body(self, request: Request, schema: str, shape: dict[str, Any]) -> Any:
        """Return the coerced body, or the refusal."""
        value: Any = None
        if "json" in (request.headers.get("Content-Type") or "") and request.raw:
            try:
                value = request.json()
            except ValueError:
                return Response(400, 'Malformed "application/json" request.')
        faults: list[tuple[list[str], str, Any]] = []
        self._explain(value, shape, [], faults)
        if faults:
            return self._coercion("body-params", schema, value, faults)
        return value

    def _explain(
        self, value: Any, shape: Any, path: list[str], faults: list[Any]
    ) -> None:
        if isinstance(shape, dict):
            if not isinstance(value, dict):
                faults.append((path, "invalid type", value))
                return
            for key, inner in shape.items():
                if key in value:
                    self._explain(value[key], inner, [*path, key], faults)
                else:
                    faults.append(([*path, key], "missing required key", None))
            return
        message = shape(value)
        if message:
            faults.append((path, message, value))

    @staticmethod
    def _uuid(value: Any) -> str:
        try:
            uuid.UUID(value)
        except (ValueError, AttributeError, TypeError):
            return "should be a uuid"
        return ""

    @staticmethod
    def _string(value: Any) -> str:
        return "" if isinstance(value, str) else "should be a string"

    @staticmethod
    def _minutes(value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, int):
            return "should be an integer"
        return "" if 1 <= value <= 600 else "should be between 1 and 600"

    @staticmethod
    def _true(value: Any) -> str:
        return "" if value is True else "should be true"

    # routes

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        helper, token = str(uuid.uuid4()), uuid.uuid4().hex
        self.helpers[token] = {"id": helper, "purse": 100}
        return self._ok({"agent_id": helper, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        limit = request.query.get("limit", "100")
        try:
            fault = "" if 1 <= int(limit) <= 100 else "should be between 1 and 100"
        except ValueError:
            fault = "should be an integer"
        if fault:
            return self._coercion(
                "query-params",
                "[:map [:limit {:optional true} [:int {:min 1, :max 100}]]]",
                dict(request.query),
                [(["limit"], fault, limit)],
            )
        rows = [
            {
                "chore-id": key,
                "title": chore["title"],
                "how-to": "Pledge to get the words, then hand them in in CAPITAL LETTERS.",
                "thanks": chore["thanks"],
                "state": chore["state"],
            }
            for key, chore in self.chores.items()
            if chore["state"] == "open"
        ]
        return self._ok({"chores": rows[: int(limit)], "open-in-all": len(rows)})

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        helper = self.helpers.get(request.token)
        if not helper:
            return Response(401, "Unauthorized")
        body = self._body(
            request, "[:map {:closed true} [:chore-id :uuid]]", {"chore-id": self._uuid}
        )
        if isinstance(body, Response):
            return body
        key = str(uuid.UUID(body["chore-id"]))
        chore = self.chores.get(key)
        if not chore:
            return self._no(404, "no-such-chore", f"There is no chore {key}.")
        if chore["state"] != "open":
            return self._no(
                409, "not-open", f"Somebody has this chore: {chore['state']}."
            )
        chore["state"] = "pledged"
        pledge = str(uuid.uuid4())
        self.pledges[pledge] = {"by": helper["id"], "chore": key}
        self.book.claimed(key)
        shown = {"chore-id": key, "title": chore["title"], "words": chore["words"]}
        return self._ok({"pledge-id": pledge, "state": "pledged", "chore": shown})

    def _pledge(self, request: Request, schema: str, shape: dict[str, Any]) -> Any:
        """Return helper, chore's key, chore and body, or the refusal."""
        helper = self.helpers.get(request.token)
        if not helper:
            return Response(401, "Unauthorized")
        body = self._body(request, schema, shape)
        if isinstance(body, Response):
            return body
        pledge = self.pledges.get(str(uuid.UUID(body["pledge-id"])))
        if not pledge:
            return self._no(
                404, "no-such-pledge", f"There is no pledge {body['pledge-id']}."
            )
        if pledge["by"] != helper["id"]:
            return Response(403, "Permission denied")
        return helper, pledge["chore"], self.chores[pledge["chore"]], body

    def submit(self, request: Request) -> Response:
        found = self._pledge(
            request,
            "[:map {:closed true} [:pledge-id :uuid] [:outcome [:map {:closed true} "
            "[:words :string] [:minutes [:int {:min 1, :max 600}]]]]]",
            {
                "pledge-id": self._uuid,
                "outcome": {"words": self._string, "minutes": self._minutes},
            },
        )
        if isinstance(found, Response):
            return found
        _, _, chore, body = found
        if chore["state"] != "pledged":
            return self._no(
                409, "not-pledged", f"This chore is {chore['state']} already."
            )
        if body["outcome"]["words"] != chore["words"].upper():
            return self._no(
                422,
                "look-over-failed",
                "The words you handed in are not those of the chore in capital letters.",
            )
        chore["state"] = "handed-in"
        return self._ok({"pledge-id": body["pledge-id"], "state": "handed-in"})

    def complete(self, request: Request) -> Response:
        found = self._pledge(
            request,
            "[:map {:closed true} [:pledge-id :uuid] [:all-done [:= true]]]",
            {"pledge-id": self._uuid, "all-done": self._true},
        )
        if isinstance(found, Response):
            return found
        helper, key, chore, body = found  # noqa: RUF059
        if chore["state"] != "handed-in":
            return self._no(
                409,
                "not-handed-in",
                f"Only a chore that is handed-in can be called done, this one is {chore['state']}.",
            )
        chore["state"] = "thanked"
        helper["purse"] += chore["thanks"]
        self.book.pay(key, chore["thanks"])
        answer = {
            "state": "thanked",
            "thanks": chore["thanks"],
            "purse": helper["purse"],
        }
        return self._ok(answer)
