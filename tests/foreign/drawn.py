"""Whole networks drawn at random: what they list, want, give, pay, and how they refuse.

Each is put together from parts that real services have: a wording of a validator, the
form in which a framework sends it, names, ids, steps, what a step hands on to the next.
Standard library only, as all networks here; a person with these answers in hand could
find out what each one wants.
"""

import json
import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Path = tuple[str, ...]
FIRST = "0"
"""The first item of a list, in the way to a value."""
TEXTS = (
    "the tide turns at noon",
    "Seven grey geese",
    "platform four is closed",
    "mind the gap",
    "a lamp in every window",
    "cold soup and warm bread",
    "north by north-east",
    "no swimming after dark",
    "two keys, one door",
    "Brass before silver",
)
NOUNS = (
    *("task", "task", "task", "job", "gig", "bounty", "quest", "ticket", "order"),
    *("assignment", "mission", "work_item", "listing", "errand"),
)
TEXT_NAMES = (
    *("text", "input", "content", "body", "source_text", "source", "phrase", "prompt"),
    *("input.text", "payload.text", "data.text", "input.content", "payload"),
)
RESULTS = (
    *("result", "result", "result", "output", "answer", "response", "solution"),
    *("deliverable", "content", "text", "payload", "result_text", "submission"),
)
CLAIMS = ("claim", "claim", "assignment", "lease", "reservation", "lock")
SUBMISSIONS = ("submission", "submission", "delivery", "result", "attempt", "answer")
AGENTS = ("agent_id", "agent_id", "worker_id", "agent", "claimed_by", "user_id")
STATES = (
    ("open", "claimed", "submitted", "completed"),
    ("OPEN", "CLAIMED", "SUBMITTED", "COMPLETED"),
    ("available", "in_progress", "in_review", "done"),
    ("published", "assigned", "delivered", "closed"),
    ("new", "taken", "handed_in", "paid"),
    ("PENDING", "RUNNING", "REVIEW", "FINISHED"),
)
HABITS = (
    *("pages", "attributes", "lists all", "tells pay", "terse conflicts"),
    *("eta", "message", "terms", "summary", "confidence", "content type"),
    *("metadata", "request id", "nonce", "deadlines"),
)
"""What a few networks do besides."""
REWARDS = ("reward", "reward_credits", "credits", "bounty", "price", "payout", "pay")
TITLES = ("title", "name", "subject", "summary", "headline")
INSTRUCTIONS = ("instructions", "description", "details", "brief", "todo")


@dataclass(frozen=True)
class Fault:
    """What is wrong with one value."""

    path: Path
    what: str
    """`missing`, `unknown`, `type`, `option`, `accepted` or `reference`."""
    wants: str = ""
    """A JSON type."""
    options: tuple[str, ...] = ()
    value: Any = None

    @property
    def name(self) -> str:
        *_, around, name = ("", *self.path)
        return f"{around}[0]" if name == FIRST else name

    @property
    def way(self) -> str:
        return ".".join(self.path)

    @property
    def human(self) -> str:
        return " ".join(re.findall(r"[A-Z]?[a-z0-9]+", self.name)).lower()

    @property
    def pascal(self) -> str:
        return "".join(word.capitalize() for word in self.human.split())


@dataclass(frozen=True)
class Wording:
    """What a validator says of a value; empty where it has nothing to say."""

    missing: str
    unknown: str
    type: str
    option: str = ""
    is_whole: bool = True
    """It names the value; else the place is told beside it."""

    def say(self, fault: Fault) -> str:
        said = {
            "missing": self.missing,
            "unknown": self.unknown,
            "type": self.type,
            "option": self.option,
            "accepted": f"{'{n} ' if self.is_whole else ''}must be true",
            "reference": f"{'{n}: ' if self.is_whole else ''}not found",
        }[fault.what]
        kinds = {bool: "boolean", int: "number", str: "string", dict: "object"}
        return said.format(
            n=fault.name,
            p=fault.way,
            s="/".join(fault.path),
            h=fault.human,
            H=fault.human.capitalize(),
            P=fault.pascal,
            t=fault.wants,
            g=kinds.get(type(fault.value), "array"),
            v=fault.value,
            o=", ".join(fault.options),
            q=" | ".join(f"'{one}'" for one in fault.options),
            r=" or ".join(f'"{one}"' for one in fault.options),
            b="|".join(f'"{one}"' for one in fault.options),
        )


BARE = {
    "pydantic": Wording(
        "Field required",
        "Extra inputs are not permitted",
        "Input should be a valid {t}",
        "Input should be {q}",
    ),
    "zod 3": Wording(
        "Required",
        "Unrecognized key",
        "Expected {t}, received {g}",
        "Invalid enum value. Expected {q}, received '{v}'",
    ),
    "zod 4": Wording(
        "Invalid input: expected {t}, received undefined",
        "Unrecognized key",
        "Invalid input: expected {t}, received {g}",
        "Invalid option: expected one of {b}",
    ),
    "Django REST": Wording(
        "This field is required.",
        "Unexpected field.",
        "Not a valid {t}.",
        '"{v}" is not a valid choice. Choose from: {o}.',
    ),
    "Jakarta": Wording(
        "must not be null",
        "is not a known property",
        "must be a {t}",
        "must be one of [{o}]",
    ),
    "Symfony": Wording(
        "This value should not be blank.",
        "This field was not expected.",
        "This value should be of type {t}.",
        "The value must be one of {b}.",
    ),
    "Rails": Wording(
        "can't be blank",
        "is not a permitted parameter",
        "must be a {t}",
        "must be one of {o}",
    ),
    "marshmallow": Wording(
        "Missing data for required field.",
        "Unknown field.",
        "Not a valid {t}.",
        "Must be one of: {o}.",
    ),
    "Cerberus": Wording(
        "required field",
        "unknown field",
        "must be of {t} type",
        "unallowed value {v}, allowed: {o}",
    ),
    "ozzo": Wording(
        "cannot be blank",
        "unknown key",
        "must be a {t}",
        "must be a valid value: {o}",
    ),
    "huma": Wording(
        "expected required property to be present",
        "unexpected property",
        "expected {t}",
        'expected value to be one of "{o}"',
    ),
    "codes": Wording("required", "unknown_field", "invalid_type:{t}"),
    "capitals": Wording("REQUIRED", "NOT_ALLOWED", "EXPECTED_{t}"),
    "by hand": Wording(
        "missing",
        "unexpected",
        "wrong type, expected {t}",
        "allowed values: {o}",
    ),
    "in German": Wording(
        "ist erforderlich",
        "ist unbekannt",
        "muss vom Typ {t} sein",
        "muss einer der Werte sein: {o}",
    ),
}
WHOLE = {
    "is required": Wording(
        "{n} is required",
        "{n} is not allowed",
        "{n} must be a {t}",
        "{n} must be one of: {o}",
    ),
    "Missing": Wording(
        "Missing {n}",
        "Unknown field {n}",
        "{n} should be {t}",
        "{n} must be one of {o}",
    ),
    "Missing required": Wording(
        "Missing required field: {p}",
        "Unexpected field: {p}",
        "Invalid {p}: expected {t}",
        "Invalid {p}. Allowed values: {o}",
    ),
    "Please": Wording(
        "Please provide {n}.",
        "Please remove {n}, it is not part of this request.",
        "Please send {n} as {t}.",
        "Please choose {n} from: {o}",
    ),
    "parameter": Wording(
        "The '{n}' parameter is required.",
        "The '{n}' parameter is not recognized.",
        "The '{n}' parameter must be of type {t}.",
        "The '{n}' parameter must be one of: {o}.",
    ),
    "must supply": Wording(
        "You must supply {n}",
        "You sent {n}, which is not supported",
        "{n} has to be a {t}",
        "{n} has to be one of {o}",
    ),
    "Joi": Wording(
        '"{p}" is required',
        '"{p}" is not allowed',
        '"{p}" must be a {t}',
        '"{p}" must be one of [{o}]',
    ),
    "Ajv": Wording(
        "body must have required property '{n}'",
        "body must NOT have additional property '{n}'",
        "body/{s} must be {t}",
        "body/{s} must be equal to one of the allowed values: {o}",
    ),
    "class-validator": Wording(
        "{p} should not be empty",
        "property {p} should not exist",
        "{p} must be a {t}",
        "{p} must be one of the following values: {o}",
    ),
    "Laravel": Wording(
        "The {h} field is required.",
        "The {h} field is prohibited.",
        "The {h} field must be a {t}.",
        "The {h} field must be one of {o}.",
    ),
    "Rails": Wording(
        "{H} can't be blank",
        "found unpermitted parameter: :{n}",
        "{H} must be a {t}",
        "{H} must be one of {o}",
    ),
    "Go validator": Wording(
        "Key: 'Request.{P}' Error:Field validation for '{P}' failed on the 'required' tag",
        'json: unknown field "{n}"',
        "json: cannot unmarshal {g} into Go struct field Request.{p} of type {t}",
    ),
    "serde": Wording(
        "missing field `{n}` at line 1 column 80",
        "unknown field `{n}` at line 1 column 12",
        "{p}: invalid type: {g}, expected a {t} at line 1 column 30",
        "{p}: unknown variant `{v}`, expected one of {b}",
    ),
    "kotlinx": Wording(
        "Field '{n}' is required for type with serial name 'board.Request', but it was"
        " missing at path: $",
        "Encountered an unknown key '{n}' at path: $",
        "Unexpected JSON token at path: $.{p}: expected {t}",
        "board.Option does not contain element with name '{v}' at path $.{p}:"
        " expected one of {o}",
    ),
    "Jackson": Wording(
        "Missing required creator property '{n}' (index 0)",
        'Unrecognized field "{n}" (class board.Request), not marked as ignorable',
        "{p}: expected a {t}",
        "{p}: not one of the values accepted for Enum class: [{o}]",
    ),
    "aeson": Wording(
        'Error in $: key "{n}" not found',
        'Error in $: unknown fields: ["{n}"]',
        "Error in $.{p}: expected {t}, but encountered {g}",
        "Error in $.{p}: expected one of {o}",
    ),
    "Vapor": Wording(
        "No such key '{n}' at path ''. Value required for key '{n}'.",
        "{n} is not allowed here",
        "{p} is not a(n) {t}",
        "{p} is not one of: {o}",
    ),
    "PostgreSQL": Wording(
        'null value in column "{n}" of relation "entries" violates not-null constraint',
        'column "{n}" of relation "entries" does not exist',
        "{n} must be of type {t}",
        "{n} must be in ({o})",
    ),
    "Mongoose": Wording(
        "Validation failed: {p}: Path `{p}` is required.",
        "Field `{n}` is not in schema and strict mode is set to throw.",
        'Validation failed: {p}: Cast to {t} failed for value "{v}" (type {g}) at path'
        ' "{p}"',
        "Validation failed: {p}: `{v}` is not a valid enum value for path `{p}`: {o}.",
    ),
    "yup": Wording(
        "{p} is a required field",
        "this field has unspecified keys: {n}",
        "{p} must be a `{t}` type",
        "{p} must be one of the following values: {o}",
    ),
    "superstruct": Wording(
        "At path: {p} -- Expected a {t}, but received: undefined",
        'At path: {p} -- Expected a value of type `never`, but received: `"{v}"`',
        "At path: {p} -- Expected a {t}, but received: {v}",
        'At path: {p} -- Expected one of `{b}`, but received: "{v}"',
    ),
    "ArkType": Wording(
        "{p} must be a {t} (was missing)",
        "{p} must be removed",
        "{p} must be a {t} (was a {g})",
        '{p} must be {r} (was "{v}")',
    ),
    "valibot": Wording(
        'Invalid key: Expected "{n}" but received undefined',
        'Invalid key: Expected never but received "{n}"',
        "Invalid type at {p}: Expected {t} but received {g}",
        "Invalid type at {p}: Expected ({b}) but received {v}",
    ),
    "ASP.NET": Wording(
        "The {P} field is required.",
        "The field {P} is not supported.",
        "The JSON value could not be converted to System.{t}. Path: $.{p}",
        "The field {P} must be one of: {o}.",
    ),
    "Python": Wording(
        "KeyError: '{n}'",
        "Request() got an unexpected keyword argument '{n}'",
        "{n} must be {t}, not {g}",
        "{n} must be one of {o}",
    ),
    "JavaScript": Wording(
        "{n} is undefined",
        "unknown property {n}",
        "{n} is not a {t}",
        "{n} is not one of {o}",
    ),
    "in Spanish": Wording(
        "El campo {n} es obligatorio",
        "El campo {n} es desconocido",
        "El campo {n} debe ser de tipo {t}",
        "El campo {n} debe ser uno de: {o}",
    ),
}
"""Wordings of validators: of a value whose place is told beside, and whole sentences."""


Packer = Callable[[list[tuple[Fault, str]]], Any]
_INVALID = "Validation failed"


def _nested(told: list[tuple[Fault, str]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for fault, said in told:
        inside = found
        for name in fault.path[:-1]:
            inner = inside.setdefault(name, {})
            inside = inner if isinstance(inner, dict) else {}
        inside[fault.name] = [said]
    return found


PLACED: dict[str, Packer] = {
    "field and message": lambda told: {
        "message": _INVALID,
        "errors": [{"field": f.way, "message": s} for f, s in told],
    },
    "lists by field": lambda told: {
        "message": _INVALID,
        "errors": {f.way: [s] for f, s in told},
    },
    "texts by field": lambda told: {
        "error": "validation_error",
        "fields": {f.way: s for f, s in told},
    },
    "loc": lambda told: {
        "detail": [{"loc": ["body", *f.path], "msg": s, "type": "x"} for f, s in told]
    },
    "bare": _nested,
    "pointers": lambda told: {
        "errors": [
            {
                "status": "422",
                "source": {"pointer": "/" + "/".join(f.path)},
                "detail": s,
            }
            for f, s in told
        ]
    },
    "details": lambda told: {
        "error": {
            "code": "VALIDATION_ERROR",
            "message": _INVALID,
            "details": [{"path": f.way, "message": s} for f, s in told],
        }
    },
    "violations": lambda told: {
        "title": _INVALID,
        "status": 422,
        "violations": [{"propertyPath": f.way, "message": s} for f, s in told],
    },
    "Google": lambda told: {
        "error": {
            "code": 400,
            "message": "Request contains an invalid argument.",
            "status": "INVALID_ARGUMENT",
            "details": [
                {
                    "@type": "type.googleapis.com/google.rpc.BadRequest",
                    "fieldViolations": [
                        {"field": f.way, "description": s} for f, s in told
                    ],
                }
            ],
        }
    },
    "issues": lambda told: {
        "success": False,
        "issues": [{"path": [*f.path], "message": s} for f, s in told],
    },
    "invalid params": lambda told: {
        "type": "about:blank",
        "title": "Bad Request",
        "invalid-params": [{"name": f.way, "reason": s} for f, s in told],
    },
    "locations": lambda told: {
        "title": "Unprocessable Entity",
        "status": 422,
        "detail": "validation failed",
        "errors": [{"location": f"body.{f.way}", "message": s} for f, s in told],
    },
    "JSend": lambda told: {"status": "fail", "data": {f.way: s for f, s in told}},
    "error details": lambda told: {
        "ok": False,
        "error": {"message": _INVALID, "details": {f.way: [s] for f, s in told}},
    },
    "joined": lambda told: {"error": "; ".join(f"{f.way}: {s}" for f, s in told)},
    "problem": lambda told: {
        "type": "https://tools.ietf.org/html/rfc9110#section-15.5.1",
        "title": "One or more validation errors occurred.",
        "status": 400,
        "errors": {f.way: [s] for f, s in told},
    },
    "param": lambda told: {
        "errors": [
            {"type": "field", "msg": s, "path": f.way, "location": "body"}
            for f, s in told
        ]
    },
}
SAID: dict[str, Packer] = {
    "error": lambda told: {"error": told[0][1]},
    "message": lambda told: {"message": told[0][1]},
    "detail": lambda told: {"detail": told[0][1]},
    "coded": lambda told: {"error": {"code": "invalid_request", "message": told[0][1]}},
    "errors": lambda told: {"errors": [s for _, s in told]},
    "messages": lambda told: {
        "statusCode": 400,
        "message": [s for _, s in told],
        "error": "Bad Request",
    },
    "not ok": lambda told: {"ok": False, "error": told[0][1]},
    "no success": lambda told: {"success": False, "message": told[0][1], "data": None},
    "plain": lambda told: told[0][1],
    "lines": lambda told: "\n".join(s for _, s in told),
    "title": lambda told: {"title": "Bad Request", "status": 400, "detail": told[0][1]},
    "Firebase": lambda told: {
        "error": {"status": "INVALID_ARGUMENT", "message": told[0][1]}
    },
    "AWS": lambda told: {"__type": "ValidationException", "message": told[0][1]},
    "reason": lambda told: {"error": True, "reason": told[0][1]},
    "GraphQL": lambda told: {"errors": [{"message": s} for _, s in told]},
    "JSON-RPC": lambda told: {"error": {"code": -32602, "message": told[0][1]}},
    "full messages": lambda told: {"errors": {"full_messages": [s for _, s in told]}},
    "PostgREST": lambda told: {
        "code": "23502",
        "details": None,
        "hint": None,
        "message": told[0][1],
    },
}


_SAYS_NO = ("not ok", "no success", "issues", "error details")
"""An answer of status 200 says so."""


@dataclass(frozen=True)
class Field:
    """One value that a body has to have, or may have."""

    path: Path
    kind: str
    is_required: bool = True
    options: tuple[str, ...] = ()


class Refused(Exception):  # noqa: N818 - it is an answer
    """An answer that says no."""

    def __init__(self, status: int, body: Any) -> None:
        super().__init__(status)
        self.response = Response(status, body, refused=True)


def cased(name: str, case: str) -> str:
    """Write a name of words with `_` in some case."""
    first, *more = name.split("_")
    match case:
        case "camel":
            return first + "".join(map(str.capitalize, more))
        case "pascal":
            return "".join(map(str.capitalize, (first, *more)))
        case _:
            return name


class Drawn(Backend):
    """A network; the same one for the same seed."""

    bare = BARE
    whole = WHOLE
    placed = PLACED

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.chance = chance = Random(seed)  # noqa: S311 - repeatable on purpose
        self.case = chance.choice(
            ("snake", "snake", "snake", "camel", "camel", "pascal")
        )
        self.listing_case = self.case if chance.random() < 0.85 else "snake"
        self.noun = chance.choice(NOUNS)
        self._draw_refusals()
        self._draw_records()
        self._draw_steps()
        habits = Random(f"habits {seed}")  # noqa: S311 - as above
        self.habits = {one for one in HABITS if habits.random() < 0.12}
        if self.claim_gives not in {"id", "named"}:
            self.habits.discard("nonce")
        self.paging = habits.choice(("cursor", "page", "offset", "address"))
        self.tokens: dict[str, str] = {}
        self.claims: dict[str, dict[str, Any]] = {}
        self.submissions: dict[str, dict[str, Any]] = {}
        self.asked = 0

    # -- what is drawn ---------------------------------------------------------

    def _draw_refusals(self) -> None:
        chance = self.chance
        self.is_strict = chance.random() < 0.45
        self.tells_all = chance.random() < 0.5
        self.status = chance.choice((400, 400, 400, 422, 422, 200))
        if chance.random() < 0.5:
            w, p = chance.choice([*self.bare]), chance.choice([*self.placed])
            self.style = f"{w} in {p}"
            self.wording = replace(self.bare[w], is_whole=False)
            self.pack = self.placed[p]
        else:
            w, p = chance.choice([*self.whole]), chance.choice([*SAID])
            self.style = f"{w} as {p}"
            self.wording, self.pack = self.whole[w], SAID[p]
        if not p.startswith(_SAYS_NO):
            self.status = self.status if self.status != 200 else 400
        if w in {"Laravel", "Rails"} and self.case == "pascal":
            self.case = self.listing_case = "snake"

    def _draw_records(self) -> None:
        chance = self.chance
        self.states = chance.choice(STATES)
        self.shows_state = chance.random() < 0.8
        self.id_kind = chance.choice(("int", "uuid", "prefixed", "slug"))
        self.id_name = chance.choice(
            ("id", "id", "id", f"{self.noun}_id", "uuid", "ref")
        )
        self.text_name = chance.choice(TEXT_NAMES)
        self.reward_name = chance.choice(REWARDS)
        self.reward_form = chance.choice(("int", "int", "int", "text", "object"))
        self.title_name = chance.choice(TITLES)
        self.told_name = chance.choice(
            [n for n in INSTRUCTIONS if n != self.title_name]
        )
        self.listing = chance.choice(
            ("plain", "noun", "data", "items", "results", "nested", "edges", "deep")
        )
        self.rows: dict[str, dict[str, Any]] = {}
        for n, text in enumerate(TEXTS):
            self.rows[str(self._id_of(n))] = {
                "id": self._id_of(n),
                "text": text,
                "reward": 10 + 3 * n,
                "state": 0,
            }

    def _id_of(self, n: int) -> Any:
        prefix = self.noun[:3]
        return {
            "int": 4100 + n,
            "uuid": str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{self.noun}{n}")),
            "prefixed": f"{prefix}_{n * 7919 + 90210:x}",
            "slug": f"{TEXTS[n].lower().replace(' ', '-').replace(',', '')}",
        }[self.id_kind]

    def _draw_steps(self) -> None:
        chance, write = self.chance, self.write
        self.claim_word = chance.choice([c for c in CLAIMS if c != self.noun])
        self.submission_word = chance.choice(SUBMISSIONS)
        ending = "id" if self.id_name == "id" else self.id_name.rpartition("_")[2]
        task = chance.choice(
            (f"{self.noun}_{ending}", f"{self.noun}_{ending}", self.noun)
        )
        self.agent_name = chance.choice(AGENTS)
        self.agent_use = chance.choice(("absent", "absent", "optional", "required"))
        self.wrapping = chance.choice(("",) * 6 + ("data", "verb", "input"))
        self.claim_gives = chance.choice(
            ("nothing", "id", "id", "named", "nested", "task")
        )
        self.needs_claim = self.claim_gives in {
            "id",
            "named",
            "nested",
        } and chance.choice(("no", "no", "instead", "besides"))
        self.pays_at = chance.choice(("complete",) * 4 + ("submit", "review"))
        self.completes = self.pays_at != "submit" or chance.random() < 0.5
        self.submit_gives = chance.choice(("nothing", "id", "named", "state"))
        self.needs_submission = self.submit_gives in {"id", "named"} and chance.choice(
            ("no", "no", "instead", "besides")
        )
        self.task_path: Path = (write(task),)
        if chance.random() < 0.1:
            self.task_path = (write(self.noun), write(ending))
        result = chance.choice(RESULTS)
        self.result_path: Path = (write(result),)
        if chance.random() < 0.2:
            self.result_path = (
                write(result),
                chance.choice(("text", "content", "value")),
            )
        self.claim_path: Path = (write(f"{self.claim_word}_id"),)
        self.submission_path: Path = (write(f"{self.submission_word}_id"),)
        self.extra = chance.choice(
            ("", "", "", "", "format", "notes", "confirm", "status")
        )

    def write(self, name: str) -> str:
        return cased(name, self.case)

    def show(self, name: str) -> str:
        return cased(name, self.listing_case)

    # -- what bodies have to have ----------------------------------------------

    def fields(self, action: str) -> list[Field]:
        """Return what the body of an action has."""
        around = self._around(action)
        return [
            Field((*around, *one.path), one.kind, one.is_required, one.options)
            for one in self._inner_fields(action)
        ]

    def _around(self, action: str) -> Path:
        if self.wrapping == "verb":
            words = {"submit": self.submission_word, "complete": "completion"}
            return (self.write(words.get(action, self.claim_word)),)
        return (self.write(self.wrapping),) if self.wrapping else ()

    def _inner_fields(self, action: str) -> Iterator[Field]:
        is_number = self.id_kind == "int" and "attributes" not in self.habits
        kind = "integer" if is_number else "string"
        by_claim = action != "claim" and self.needs_claim
        by_submission = action == "complete" and self.needs_submission
        if by_submission:
            by_claim = "no"
        if "instead" not in {by_claim, by_submission}:
            yield Field(self.task_path, kind)
        if by_claim and by_claim != "no":
            yield Field(self.claim_path, "string")
        if by_submission and by_submission != "no":
            yield Field(self.submission_path, "string")
        if self.agent_use != "absent":
            yield Field(
                (self.write(self.agent_name),), "string", self.agent_use == "required"
            )
        if action == "submit":
            yield Field(self.result_path, "string")
            if self.extra == "format" and self.wording.option:
                options = ("plain", "markdown")
                yield Field((self.write("format"),), "string", options=options)
            if self.extra == "notes":
                yield Field((self.write("notes"),), "string", self.chance is None)
        yield from self._habitual_fields(action)
        if action == "complete" and self.extra == "confirm":
            yield Field((self.write("confirmed"),), "boolean")
        if action == "complete" and self.extra == "status" and self.wording.option:
            yield Field((self.write("status"),), "string", options=(self.states[3],))

    def _habitual_fields(self, action: str) -> Iterator[Field]:
        wanted = {
            "claim": {
                "eta": Field(("eta_minutes",), "integer"),
                "message": Field(("message",), "string"),
                "terms": Field(("accept_terms",), "boolean"),
                "request id": Field(("request_id",), "string"),
            },
            "submit": {
                "summary": Field(("summary",), "string"),
                "confidence": Field(("confidence",), "number"),
                "content type": Field(
                    ("content_type",), "string", options=("text/plain", "text/html")
                ),
                "metadata": Field(("metadata",), "object"),
                "nonce": Field(("nonce",), "string"),
            },
            "complete": {"request id": Field(("request_id",), "string")},
        }[action]
        for habit, field in wanted.items():
            told = self.wording.option or not field.options
            if habit in self.habits and told:
                yield replace(field, path=(self.write(field.path[0]),))

    def check(self, request: Request, action: str) -> dict[str, Any]:
        """Return the body.

        Raises:
            Refused: It is not what the action wants.
        """
        try:
            body = request.json()
        except ValueError:
            raise Refused(400, {"error": "The body is not JSON."}) from None
        fields = self.fields(action)
        faults = [*self._faults(body, (), fields)]
        if faults:
            told = [(one, self.wording.say(one)) for one in faults]
            raise Refused(self.status, self.pack(told if self.tells_all else told[:1]))
        return dict(body)

    def _faults(self, body: Any, above: Path, fields: list[Field]) -> Iterator[Fault]:
        depth = len(above)
        if all(f.path[depth] == FIRST for f in fields):
            yield from self._faults_in_list(body, above, fields)
            return
        if not isinstance(body, dict):
            yield Fault(above, "type", "object", value=body)
            return
        for name in dict.fromkeys(f.path[depth] for f in fields):
            at = (*above, name)
            below = [f for f in fields if f.path[depth] == name]
            value = body.get(name)
            if len(below[0].path) > depth + 1:
                if value is None:
                    is_list = below[0].path[depth + 1] == FIRST
                    yield Fault(at, "missing", "array" if is_list else "object")
                else:
                    yield from self._faults(value, at, below)
            elif value in (None, ""):
                if below[0].is_required:
                    yield Fault(at, "missing", below[0].kind)
            else:
                yield from self._wrong(at, value, below[0])
        known = {f.path[depth] for f in fields}
        if self.is_strict:
            yield from (
                Fault((*above, n), "unknown", value=body[n])
                for n in body
                if n not in known
            )

    def _faults_in_list(
        self, body: Any, above: Path, fields: list[Field]
    ) -> Iterator[Fault]:
        """Judge a list by its first item, as if it were an object with a name `0`."""
        if not isinstance(body, list):
            yield Fault(above, "type", "array", value=body)
        elif not body:
            yield Fault(above, "missing", "array")
        elif len(fields[0].path) == len(above) + 1:
            yield from self._wrong((*above, FIRST), body[0], fields[0])
        else:
            yield from self._faults(body[0], (*above, FIRST), fields)

    def _wrong(self, at: Path, value: Any, field: Field) -> Iterator[Fault]:
        kinds: dict[str, Any] = {
            "string": str,
            "integer": int,
            "boolean": bool,
            "number": (int, float),
            "object": dict,
            "datetime": str,
        }
        is_right = isinstance(value, kinds[field.kind])
        if field.kind == "datetime":
            is_right = bool(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d", str(value)))
        if not is_right:
            yield Fault(at, "type", field.kind, value=value)
        elif field.kind == "boolean" and value is not True:
            yield Fault(at, "accepted", value=value)
        elif field.options and value not in field.options:
            yield Fault(at, "option", options=field.options, value=value)

    def at(self, body: Any, action: str, path: Path) -> Any:
        for name in (*self._around(action), *path):
            if name == FIRST:
                body = body[0] if isinstance(body, list) and body else None
            else:
                body = body.get(name) if isinstance(body, dict) else None
        return body

    # -- the steps -------------------------------------------------------------

    def texts(self) -> dict[str, str]:
        return {key: row["text"] for key, row in self.rows.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = f"ag_{self.book.registrations}9f3"
        token = f"tok-{self.book.registrations}-5e1f0c77ab"
        self.tokens[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def agent(self, request: Request) -> str:
        if request.token not in self.tokens:
            raise Refused(401, {"error": "Invalid token"})
        return self.tokens[request.token]

    def _done(self, step: Callable[[Request], Any], request: Request) -> Response:
        self.asked += 1
        try:
            return Response(200, step(request))
        except Refused as no:
            return no.response

    def marketplace(self, request: Request) -> Response:
        return self._done(self._listing, request)

    def tasks(self, request: Request) -> Response:
        return self._done(self._listing, request)

    def _listing(self, request: Request) -> Any:
        self.agent(request)
        is_all = "lists all" in self.habits and self.shows_state
        shown = [row for row in self.rows.values() if is_all or row["state"] == 0]
        rows = [self._record(row) for row in shown]
        if "pages" in self.habits and self.listing != "plain":
            return self._page(rows, request)
        many = f"{self.noun}s".replace("ys", "ies")
        match self.listing:
            case "plain":
                return rows
            case "noun":
                return {self.show(many): rows, "total": len(rows)}
            case "data":
                return {"data": rows, "meta": {"total": len(rows), "page": 1}}
            case "items":
                return {"items": rows, "count": len(rows)}
            case "results":
                return {"count": len(rows), "next": None, "results": rows}
            case "nested":
                return {"success": True, "data": {self.show(many): rows}}
            case "edges":
                edges = [{"cursor": str(i), "node": row} for i, row in enumerate(rows)]
                return {"edges": edges, "pageInfo": {"hasNextPage": False}}
            case _:
                return {"ok": True, "payload": {"page": 1, "content": rows}}

    def _page(self, rows: list[dict[str, Any]], request: Request) -> Any:
        query, size = request.query, 4
        told = query.get({"address": "after"}.get(self.paging, self.paging), "0")
        at = int(told) if told.isdecimal() else 0
        at = max(at - 1, 0) * size if self.paging == "page" else at
        more, part = at + size < len(rows), rows[at : at + size]
        match self.paging:
            case "cursor":
                next_one = str(at + size) if more else None
                return {"items": part, "next_cursor": next_one, "has_more": more}
            case "page":
                pages = -(-len(rows) // size)
                meta = {"page": at // size + 1, "per_page": size, "total_pages": pages}
                return {"data": part, "meta": meta}
            case "offset":
                return {
                    "results": part,
                    "total": len(rows),
                    "offset": at,
                    "limit": size,
                }
            case _:
                address = f"{request.base}{request.path}?after={at + size}"
                return {"data": part, "links": {"next": address if more else None}}

    def _record(self, row: dict[str, Any]) -> dict[str, Any]:
        reward: Any = row["reward"]
        if self.reward_form == "text":
            reward = f"{reward}.00"
        if self.reward_form == "object":
            reward = {"amount": reward, "currency": "credits"}
        made: dict[str, Any] = {
            self.show(self.id_name): row["id"],
            self.show(self.title_name): f"Capital letters #{row['reward']}",
            self.show(self.told_name): "Write the text in capital letters.",
            self.show(self.reward_name): reward,
            self.show("created_at"): "2026-11-02T09:00:00Z",
        }
        name, _, inside = self.text_name.partition(".")
        made[self.show(name)] = {inside: row["text"]} if inside else row["text"]
        if self.shows_state:
            made["status"] = self.states[row["state"]]
        if "deadlines" in self.habits:
            made[self.show("expires_at")] = "2031-01-01T00:00:00Z"
        if "attributes" in self.habits:
            key = made.pop(self.show(self.id_name))
            return {"type": f"{self.noun}s", "id": str(key), "attributes": made}
        return made

    def _conflict(self, said: str) -> Refused:
        if "terse conflicts" in self.habits:
            return Refused(400, {"error": said})
        return Refused(409, {"error": said})

    def claim(self, request: Request) -> Response:
        return self._done(self._claim, request)

    def _claim(self, request: Request) -> Any:
        agent = self.agent(request)
        body = self.check(request, "claim")
        self._check_agent(body, "claim", agent)
        row = self._row(self.at(body, "claim", self.task_path), "claim")
        if row["state"]:
            raise self._conflict(f"This {self.noun} is no longer {self.states[0]}.")
        row["state"] = 1
        key = str(uuid.uuid5(uuid.NAMESPACE_DNS, f"claim {row['id']}"))
        self.claims[key] = row
        row["claim"] = key
        self.book.claimed(str(row["id"]))
        return self._claimed(row, key)

    def _claimed(self, row: dict[str, Any], key: str) -> Any:
        made = {"id": key, self.write(f"{self.noun}_id"): row["id"], "status": "active"}
        if "nonce" in self.habits:
            made = {"id": key, "nonce": f"n-{key[:8]}", "status": "active"}
        match self.claim_gives:
            case "id":
                return made
            case "named":
                named = {self.write(f"{self.claim_word}_id"): key}
                return {"ok": True, **named, "nonce": f"n-{key[:8]}"}
            case "nested":
                return {"success": True, self.write(self.claim_word): made}
            case "task":
                return {self.show(self.noun): self._record(row)}
            case _:
                return {"success": True, "message": f"{self.noun} claimed"}

    def _check_agent(self, body: dict[str, Any], action: str, agent: str) -> None:
        sent = self.at(body, action, (self.write(self.agent_name),))
        if self.agent_use != "absent" and sent not in (None, agent):
            said = f"{self.write(self.agent_name)} is not the agent of this token"
            raise Refused(403, {"error": said})

    def _row(self, key: Any, action: str) -> dict[str, Any]:
        if str(key) not in self.rows:
            fault = Fault(
                (*self._around(action), *self.task_path), "reference", value=key
            )
            raise Refused(404, self.pack([(fault, self.wording.say(fault))]))
        return self.rows[str(key)]

    def _meant(self, body: dict[str, Any], action: str) -> dict[str, Any]:
        """Return the row that the body of a later step is about."""
        wanted = {
            field.path[len(self._around(action)) :] for field in self.fields(action)
        }
        known = {"claim": self.claims, "submission": self.submissions}
        rows = []
        for path, kind in (
            (self.claim_path, "claim"),
            (self.submission_path, "submission"),
        ):
            if path in wanted:
                key = self.at(body, action, path)
                if key not in known[kind]:
                    fault = Fault(
                        (*self._around(action), *path), "reference", value=key
                    )
                    raise Refused(404, self.pack([(fault, self.wording.say(fault))]))
                rows.append(known[kind][key])
        if self.task_path in wanted:
            rows.append(self._row(self.at(body, action, self.task_path), action))
        if any(row is not rows[0] for row in rows):
            raise Refused(409, {"error": "These do not belong together."})
        return rows[0]

    def submit(self, request: Request) -> Response:
        return self._done(self._submit, request)

    def _submit(self, request: Request) -> Any:
        agent = self.agent(request)
        body = self.check(request, "submit")
        self._check_agent(body, "submit", agent)
        row = self._meant(body, "submit")
        if row["state"] != 1:
            raise self._conflict(f"This {self.noun} is {self.states[row['state']]}.")
        nonce = (self.write("nonce"),)
        if "nonce" in self.habits:
            sent = self.at(body, "submit", nonce)
            if sent != f"n-{row['claim'][:8]}":
                fault = Fault(
                    (*self._around("submit"), *nonce), "reference", value=sent
                )
                raise Refused(400, self.pack([(fault, self.wording.say(fault))]))
        if self.at(body, "submit", self.result_path) != row["text"].upper():
            raise Refused(
                422, {"error": "The result is wrong: it is not the text in capitals."}
            )
        row["state"], row["since"] = 2, self.asked
        key = str(uuid.uuid5(uuid.NAMESPACE_DNS, f"submission {row['id']}"))
        self.submissions[key] = row
        if self.pays_at == "submit":
            self._pay(row)
        return self._submitted(row, key)

    def _submitted(self, row: dict[str, Any], key: str) -> Any:
        state = self.states[row["state"]]
        match self.submit_gives:
            case "id":
                return {"id": key, "status": state}
            case "named":
                return {"ok": True, self.write(f"{self.submission_word}_id"): key}
            case "state":
                return {self.show(f"{self.noun}_id"): row["id"], "status": state}
            case _:
                return {"success": True, "message": "result received"}

    def complete(self, request: Request) -> Response:
        if not self.completes:
            return self.missing(request)
        return self._done(self._complete, request)

    def _complete(self, request: Request) -> Any:
        agent = self.agent(request)
        body = self.check(request, "complete")
        self._check_agent(body, "complete", agent)
        row = self._meant(body, "complete")
        if row["state"] == 1:
            raise Refused(409, {"error": f"This {self.noun} has no result yet."})
        if self.pays_at == "review" and self.asked < row["since"] + 4:
            raise Refused(
                409, {"error": f"This {self.noun} is still under review, try later."}
            )
        if row["state"] == 2:
            self._pay(row)
        if "tells pay" in self.habits:
            paid = {"credits": row["reward"], "paid_at": "2026-11-03T10:00:00Z"}
            return {"data": {"state": self.states[3], "payment": paid}}
        return {
            "success": True,
            "status": self.states[3],
            self.write("credits_earned"): row["reward"],
        }

    def _pay(self, row: dict[str, Any]) -> None:
        row["state"] = 3
        self.book.pay(str(row["id"]), row["reward"])


def described(network: Drawn) -> str:
    """Return what was drawn, for a person."""
    shown = {name: getattr(network, name) for name in _TOLD}
    return json.dumps({**shown, "habits": sorted(network.habits)})


_TOLD = (
    *(
        "style",
        "status",
        "is_strict",
        "tells_all",
        "case",
        "noun",
        "id_kind",
        "listing",
    ),
    *("text_name", "task_path", "result_path", "wrapping", "agent_use", "agent_name"),
    *("claim_gives", "needs_claim", "submit_gives", "needs_submission", "pays_at"),
    *("completes", "extra"),
)
