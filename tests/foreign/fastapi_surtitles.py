"""FastAPI with nested pydantic v2 models: Proscenium Titles, surtitles for opera houses.

get-marketplace-tasks (token) and public-marketplace (none) list cues as {"items", "total", ...}, with
`production` and `number`; the text of a cue is in the claim's answer (`cue.text`).
claim    {"cue": {"production": "TOSCA", "number": 12}}                              -> claim_id, cue
submit   {"claim_id": uuid, "surtitle": {"language": "en", "text": "..."}}           -> state "submitted"
complete {"claim_id": uuid, "sign_off": {"proofread": true, "note": optional}}       -> 202 "in_review";
         asked again some seconds later: 200 "paid". The stage manager's review pays.
Refusals: 422 {"detail": [{"type", "loc", "msg", "input"}]}, others {"detail": "..."}.
"""

import json
import secrets
import time
import uuid
from collections.abc import Callable
from functools import wraps
from typing import Any

from tests.foreign.backend import Backend, Request, Response

CUES = [
    # production, number, singer, text, language, reward, state
    (
        "TOSCA",
        12,
        "Cavaradossi",
        "how strange a harmony of different beauties",
        "en",
        18,
        "open",
    ),
    (
        "TOSCA",
        31,
        "Scarpia",
        "the garrison waits for my signal at dawn",
        "en",
        15,
        "open",
    ),
    ("TOSCA", 47, "Tosca", "i lived for art and i lived for love", "en", 20, "open"),
    (
        "ONEGIN",
        5,
        "Larina",
        "habit is sent to us from above in place of happiness",
        "en",
        22,
        "open",
    ),
    (
        "ONEGIN",
        9,
        "Lensky",
        "where have you gone golden days of my spring",
        "en",
        17,
        "open",
    ),
    (
        "ONEGIN",
        14,
        "Tatyana",
        "let me perish but first let me call the light",
        "en",
        16,
        "projected",
    ),
    (
        "FIDELIO",
        3,
        "Leonore",
        "come hope and let the last star not fade",
        "en",
        14,
        "open",
    ),
]
REVIEW_SECONDS = 4


class HTTPError(Exception):
    def __init__(
        self, status: int, detail: Any, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(str(detail))
        self.response = Response(status, {"detail": detail}, headers or {})


def route(
    method: Callable[[Any, Request], Response],
) -> Callable[[Any, Request], Response]:
    @wraps(method)
    def call(self: Any, request: Request) -> Response:
        try:
            self.settle()
            return method(self, request)
        except HTTPError as stop:
            return stop.response

    return call


def check(schema: Any, value: Any, loc: list[Any], errors: list[dict[str, Any]]) -> Any:
    """A small pydantic: schema is a dict of fields, or the name of a scalar type."""
    if isinstance(schema, dict):
        return check_model(schema, value, loc, errors)

    def error(kind: str, message: str, **ctx: str) -> None:
        errors.append(
            {
                "type": kind,
                "loc": loc,
                "msg": message,
                "input": value,
                **({"ctx": ctx} if ctx else {}),
            }
        )

    return SCALARS[schema](value, error)


def check_model(
    schema: dict[str, Any], value: Any, loc: list[Any], errors: list[dict[str, Any]]
) -> dict[str, Any] | None:
    if not isinstance(value, dict):
        errors.append(
            {
                "type": "model_attributes_type",
                "loc": loc,
                "input": value,
                "msg": "Input should be a valid dictionary or object to extract fields from",
            }
        )
        return None
    clean: dict[str, Any] = {}
    for name, inner in schema.items():
        optional = isinstance(inner, str) and inner.endswith("?")
        if name not in value:
            if not optional:
                errors.append(
                    {
                        "type": "missing",
                        "loc": [*loc, name],
                        "msg": "Field required",
                        "input": value,
                    }
                )
            clean[name] = None
        elif optional and value[name] is None:
            clean[name] = None
        else:
            clean[name] = check(
                inner.rstrip("?") if optional else inner,
                value[name],
                [*loc, name],
                errors,
            )
    return clean


def check_str(value: Any, error: Callable[..., None]) -> str | None:
    if isinstance(value, str):
        return value
    error("string_type", "Input should be a valid string")
    return None


def check_int(value: Any, error: Callable[..., None]) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            error(
                "int_parsing",
                "Input should be a valid integer, unable to parse string as an integer",
            )
    else:
        error("int_type", "Input should be a valid integer")
    return None


def check_bool(value: Any, error: Callable[..., None]) -> bool | None:
    if isinstance(value, bool):
        return value
    if value in ("true", "false", "yes", "no", "on", "off", 1, 0):
        return value in ("true", "yes", "on", 1)
    error(
        "bool_type" if not isinstance(value, str) else "bool_parsing",
        "Input should be a valid boolean",
    )
    return None


def check_uuid(value: Any, error: Callable[..., None]) -> str | None:
    try:
        return str(uuid.UUID(value))
    except (ValueError, AttributeError, TypeError):
        error(
            "uuid_parsing" if isinstance(value, str) else "uuid_type",
            "Input should be a valid UUID",
        )
    return None


def check_lang(value: Any, error: Callable[..., None]) -> str | None:
    if value in ("en", "de", "fr"):
        return str(value)
    error(
        "literal_error",
        "Input should be 'en', 'de' or 'fr'",
        expected="'en', 'de' or 'fr'",
    )
    return None


SCALARS: dict[str, Callable[[Any, Callable[..., None]], Any]] = {
    "str": check_str,
    "int": check_int,
    "bool": check_bool,
    "uuid": check_uuid,
    "lang": check_lang,
}


class FastapiSurtitles(Backend):
    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.claims: dict[str, dict[str, Any]] = {}
        self.cues: dict[tuple[str, int], dict[str, Any]] = {}
        for production, number, singer, text, language, reward, state in CUES:
            self.cues[production, number] = {
                "id": f"{production}-{number}",
                "production": production,
                "number": number,
                "singer": singer,
                "language": language,
                "reward": reward,
                "state": state,
                "text": text,
            }
        self.earnable = {
            c["id"]: c["text"] for c in self.cues.values() if c["state"] == "open"
        }

    def texts(self) -> dict[str, str]:
        return dict(self.earnable)

    def settle(self) -> None:
        """Pay what the stage manager has read by now."""
        for claim in self.claims.values():
            if claim["state"] == "in_review" and time.time() >= claim["review_until"]:
                claim["state"] = claim["cue"]["state"] = "paid"
                claim["agent"]["credits"] += claim["cue"]["reward"]
                self.book.pay(claim["cue"]["id"], claim["cue"]["reward"])

    def current_agent(self, request: Request) -> dict[str, Any]:
        if not request.token:
            raise HTTPError(401, "Not authenticated", {"WWW-Authenticate": "Bearer"})
        if request.token not in self.agents:
            raise HTTPError(
                401, "Could not validate credentials", {"WWW-Authenticate": "Bearer"}
            )
        return self.agents[request.token]

    def body(self, request: Request, schema: dict[str, Any]) -> dict[str, Any]:
        errors: list[dict[str, Any]] = []
        clean: dict[str, Any] = {}
        if not request.raw:
            errors.append(
                {
                    "type": "missing",
                    "loc": ["body"],
                    "msg": "Field required",
                    "input": None,
                }
            )
        else:
            try:
                clean = check(schema, request.json(), ["body"], errors)
            except json.JSONDecodeError as broken:
                errors.append(
                    {
                        "type": "json_invalid",
                        "loc": ["body", broken.pos],
                        "msg": "JSON decode error",
                        "input": {},
                        "ctx": {"error": broken.msg},
                    }
                )
        if errors:
            raise HTTPError(422, errors)
        return clean

    def find(self, agent: dict[str, Any], claim_id: str) -> dict[str, Any]:
        claim = self.claims.get(claim_id)
        if claim is None or claim["agent"] is not agent:
            raise HTTPError(404, "Claim not found")
        return claim

    @route
    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent_id, token = str(uuid.uuid4()), secrets.token_urlsafe(32)
        self.agents[token] = {"id": agent_id, "credits": 100}
        return Response(
            200,
            {
                "agent_id": agent_id,
                "access_token": token,
                "token_type": "bearer",
                "credits": 100,
            },
        )

    def listing(self, request: Request) -> Response:
        errors: list[dict[str, Any]] = []
        raw = request.query.get("limit", "50")
        limit = check("int", raw, ["query", "limit"], errors)
        if limit is not None and limit < 1:
            errors.append(
                {
                    "type": "greater_than_equal",
                    "loc": ["query", "limit"],
                    "input": raw,
                    "msg": "Input should be greater than or equal to 1",
                    "ctx": {"ge": 1},
                }
            )
        if limit is not None and limit > 100:
            errors.append(
                {
                    "type": "less_than_equal",
                    "loc": ["query", "limit"],
                    "input": raw,
                    "msg": "Input should be less than or equal to 100",
                    "ctx": {"le": 100},
                }
            )
        if errors:
            raise HTTPError(422, errors)
        items = [
            {k: v for k, v in c.items() if k != "text"} for c in self.cues.values()
        ]
        return Response(
            200,
            {"items": items[:limit], "total": len(items), "limit": limit, "offset": 0},
        )

    @route
    def marketplace(self, request: Request) -> Response:
        return self.listing(request)

    @route
    def tasks(self, request: Request) -> Response:
        self.current_agent(request)
        return self.listing(request)

    @route
    def claim(self, request: Request) -> Response:
        agent = self.current_agent(request)
        ref = self.body(request, {"cue": {"production": "str", "number": "int"}})["cue"]
        cue = self.cues.get((ref["production"], ref["number"]))
        if cue is None:
            raise HTTPError(404, "Cue not found")
        claim = next((c for c in self.claims.values() if c["cue"] is cue), None)
        if claim is None or claim["agent"] is not agent:
            if cue["state"] != "open":
                raise HTTPError(
                    409, f"Cue {cue['id']} is not open (state: {cue['state']})"
                )
            claim = {
                "id": str(uuid.uuid4()),
                "agent": agent,
                "cue": cue,
                "state": "claimed",
                "review_until": 0.0,
            }
            self.claims[claim["id"]] = claim
            cue["state"] = "claimed"
            self.book.claimed(cue["id"])
        return Response(
            200,
            {
                "claim_id": claim["id"],
                "state": claim["state"],
                "cue": {**cue},
                "brief": "The LED bar shows capitals only. Return the cue text in upper case, nothing added.",
            },
        )

    @route
    def submit(self, request: Request) -> Response:
        agent = self.current_agent(request)
        data = self.body(
            request,
            {"claim_id": "uuid", "surtitle": {"language": "lang", "text": "str"}},
        )
        claim = self.find(agent, data["claim_id"])
        if claim["state"] in ("in_review", "paid"):
            raise HTTPError(409, f"Claim is already {claim['state']}")
        if data["surtitle"]["language"] != claim["cue"]["language"]:
            raise HTTPError(
                422,
                f"surtitle.language must be the language of the cue ({claim['cue']['language']})",
            )
        if data["surtitle"]["text"] != claim["cue"]["text"].upper():
            raise HTTPError(
                422, "surtitle.text is not the text of the cue in upper case"
            )
        claim["state"] = "submitted"
        return Response(
            200,
            {
                "claim_id": claim["id"],
                "state": "submitted",
                "cue_id": claim["cue"]["id"],
            },
        )

    @route
    def complete(self, request: Request) -> Response:
        agent = self.current_agent(request)
        data = self.body(
            request,
            {"claim_id": "uuid", "sign_off": {"proofread": "bool", "note": "str?"}},
        )
        claim = self.find(agent, data["claim_id"])
        if claim["state"] == "claimed":
            raise HTTPError(409, "No surtitle has been submitted for this claim")
        if not data["sign_off"]["proofread"]:
            raise HTTPError(
                422,
                "sign_off.proofread must be true before a cue goes to the stage manager",
            )
        answer = {
            "claim_id": claim["id"],
            "cue_id": claim["cue"]["id"],
            "reward": claim["cue"]["reward"],
        }
        if claim["state"] == "paid":
            return Response(
                200, {**answer, "state": "paid", "credits": agent["credits"]}
            )
        if claim["state"] == "submitted":
            claim["state"], claim["review_until"] = (
                "in_review",
                time.time() + REVIEW_SECONDS,
            )
        left = max(1, round(claim["review_until"] - time.time()))
        return Response(
            202,
            {
                **answer,
                "state": "in_review",
                "message": f"With the stage manager; call again in {left} seconds.",
            },
            {"Retry-After": str(left)},
        )
