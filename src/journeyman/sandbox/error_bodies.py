"""How errors look: the contract shows neither their bodies nor their statuses.

| vocabulary   | modelled on                                          | invalid body |
|--------------|------------------------------------------------------|--------------|
| json         | our own: a code for programs, a sentence for people  | 422          |
| supabase     | PostgREST's and PostgreSQL's codes                   | 400          |
| problem-json | RFC 9457, with its `errors` and JSON pointers        | 422          |
| fastapi      | FastAPI's `detail`                                   | 422          |
| zod          | a handler that passes a Zod error on                 | 400          |
| plain        | a sentence as text                                   | 400          |
| html         | a page                                               | 400          |
"""

import json
from collections.abc import Callable, Mapping
from html import escape
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from journeyman.sandbox.errors import Complaint, Flaw, Refusal

VocabularyName = Literal[
    "json", "supabase", "problem-json", "fastapi", "zod", "plain", "html"
]


class Vocabulary(NamedTuple):
    """One way of writing errors."""

    media_type: str
    invalid: HTTPStatus
    """The status for a body that does not validate."""
    write: Callable[[Refusal], str]
    fields: tuple[str, ...] = ()
    """The fields of an error's body, where it is JSON."""

    def described(self) -> dict[str, Any]:
        """Describe the answer as OpenAPI does."""
        schema: dict[str, Any] = {"type": "string"}
        if self.fields:
            properties = {name: _SCHEMAS[name] for name in self.fields}
            schema = {
                "type": "object",
                "properties": properties,
                "required": [*self.fields],
            }
        return {
            "description": "Not granted",
            "content": {self.media_type: {"schema": schema}},
        }


_TEXT = {"type": "string"}
_SCHEMAS: Mapping[str, dict[str, Any]] = MappingProxyType(
    {
        "ok": {"type": "boolean"},
        "success": {"type": "boolean"},
        "status": {"type": "integer"},
        "error": {},
        "detail": {},
        "details": {},
        "hint": {},
        **dict.fromkeys(("code", "message", "title", "type"), _TEXT),
    },
)


def _as_json(refusal: Refusal) -> str:
    return _json({"ok": False, "error": refusal.error, "message": refusal.message})


def _as_supabase(refusal: Refusal) -> str:
    code, message = f"PT{refusal.status}", refusal.message
    if refusal.complaints:
        # The columns are looked up before a row is tried, so unknown ones come first.
        first = min(refusal.complaints, key=lambda one: _POSTGREST_ORDER[one.flaw])
        code, message = _postgrest(first)
    elif refusal.status == HTTPStatus.UNAUTHORIZED:
        code = "PGRST301"
    return _json(
        {"code": code, "message": message, "details": refusal.error, "hint": None},
    )


_POSTGREST_ORDER = {Flaw.UNKNOWN: 0, Flaw.MISSING: 1, Flaw.WRONG: 2}


def _postgrest(one: Complaint) -> tuple[str, str]:
    match one.flaw:
        case Flaw.UNKNOWN:
            told = f"Could not find the '{one.name}' column in the schema cache"
            return "PGRST204", told
        case Flaw.MISSING:
            told = f'null value in column "{one.name}" violates not-null constraint'
            return "23502", told
        case Flaw.WRONG:
            return "22P02", f'invalid input for column "{one.name}": {one.message}'


def _as_problem(refusal: Refusal) -> str:
    problem = {
        "type": f"urn:problem:{refusal.error.replace('_', '-')}",
        "title": refusal.error.replace("_", " ").capitalize(),
        "status": refusal.status,
        "detail": refusal.message,
    }
    if refusal.complaints:
        problem["errors"] = [
            {"detail": one.message, "pointer": _pointer(one)}
            for one in refusal.complaints
        ]
    return _json(problem)


def _pointer(one: Complaint) -> str:
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in one.place)
    return "#" + "".join(f"/{step}" for step in steps)


def _as_fastapi(refusal: Refusal) -> str:
    if not refusal.complaints:
        return _json({"detail": refusal.message})
    kinds = {
        Flaw.MISSING: "missing",
        Flaw.UNKNOWN: "extra_forbidden",
        Flaw.WRONG: "value_error",
    }
    details = [
        {
            "type": kinds[one.flaw],
            "loc": [one.where, *one.place],
            "msg": one.message,
        }
        for one in refusal.complaints
    ]
    return _json({"detail": details})


def _as_zod(refusal: Refusal) -> str:
    error: object = refusal.message
    if refusal.complaints:
        issues = [_issue(one) for one in refusal.complaints]
        error = {"name": "ZodError", "issues": issues}
    return _json({"success": False, "error": error})


def _issue(one: Complaint) -> dict[str, Any]:
    match one.flaw:
        case Flaw.MISSING:
            return {
                "code": "invalid_type",
                "received": "undefined",
                "path": one.place,
                "message": "Required",
            }
        case Flaw.UNKNOWN:
            *path, key = one.place
            return {
                "code": "unrecognized_keys",
                "keys": [key],
                "path": path,
                "message": f"Unrecognized key(s) in object: '{key}'",
            }
        case Flaw.WRONG:
            return {"code": "custom", "path": one.place, "message": one.message}


def _as_text(refusal: Refusal) -> str:
    return f"{refusal.status.phrase}: {refusal.message}\n"


def _as_page(refusal: Refusal) -> str:
    heading = f"{refusal.status.value} {refusal.status.phrase}"
    return (
        f"<!DOCTYPE html>\n<html><head><title>{heading}</title></head>\n"
        f"<body><h1>{heading}</h1>\n<p>{escape(refusal.message)}</p></body></html>\n"
    )


def _json(body: dict[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


_INVALID = HTTPStatus.UNPROCESSABLE_ENTITY
_BAD = HTTPStatus.BAD_REQUEST
_JSON_TYPE = "application/json"
VOCABULARIES: Mapping[VocabularyName, Vocabulary] = MappingProxyType(
    {
        "json": Vocabulary(_JSON_TYPE, _INVALID, _as_json, ("ok", "error", "message")),
        "supabase": Vocabulary(
            _JSON_TYPE, _BAD, _as_supabase, ("code", "message", "details", "hint")
        ),
        "problem-json": Vocabulary(
            "application/problem+json",
            _INVALID,
            _as_problem,
            ("type", "title", "status", "detail"),
        ),
        "fastapi": Vocabulary(_JSON_TYPE, _INVALID, _as_fastapi, ("detail",)),
        "zod": Vocabulary(_JSON_TYPE, _BAD, _as_zod, ("success", "error")),
        "plain": Vocabulary("text/plain", _BAD, _as_text),
        "html": Vocabulary("text/html", _BAD, _as_page),
    },
)
