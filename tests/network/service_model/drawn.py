"""Networks drawn at random: how each wants its actions written, and how it refuses.

The names are those that developers give such things, and are this file's own: nothing
is shared with what is tried.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random

from journeyman.domain.tasks import JSON

Path = tuple[str, ...]
ACTIONS = ("claim", "submit", "complete")
NOUNS = (
    *("task", "job", "gig", "work_item", "order", "quest", "mission", "bounty"),
    *("assignment", "ticket", "activity", "listing"),
)
ID_ENDINGS = ("id", "id", "id", "id", "uuid", "ref", "key", "number")
AGENTS = ("agent", "agent", "agent", "worker", "bot", "user", "assignee", "claimant")
RESULTS = (
    *("result", "result", "output", "answer", "response", "solution", "deliverable"),
    *("content", "text", "body", "payload", "work", "submission", "data"),
)
CLAIMS = ("claim", "assignment", "lease", "reservation")
SUBMISSIONS = ("submission", "delivery", "answer", "attempt")
AROUND = ("data", "payload", "input", "body", "request", "params", "attributes")
VERBS = {"claim": "claim", "submit": "submission", "complete": "completion"}
FURTHER = (
    *(("summary", "string"), ("remarks", "string"), ("verdict", "string")),
    *(("confidence", "integer"), ("quality_score", "integer"), ("hours", "integer")),
)
"""What some networks want to hear besides the result, and of what type."""
RESULT_INSIDE = ("text", "content", "value", "body")


@dataclass(frozen=True)
class Field:
    """One value that a request may have."""

    path: Path
    source: str
    """Empty where any value of its kind does."""
    kind: str
    is_required: bool


@dataclass(frozen=True)
class Fault:
    """What is wrong with one place."""

    path: Path
    what: str
    """`missing`, `unknown` or the JSON type that is wanted there."""


Refusal = tuple[int, JSON, str]
"""A status, a body, and the text of one that is no JSON."""
Style = Callable[[list[Fault]], Refusal]


@dataclass(frozen=True)
class Schema:
    """The body that one action wants."""

    fields: tuple[Field, ...]
    is_strict: bool

    def faults(self, body: JSON) -> list[Fault]:
        """Return what a validator would find, from the outside to the inside."""
        return [*self._inside(body, ())]

    def is_meant(self, body: JSON, values: Mapping[str, JSON]) -> bool:
        """Return whether each value is where it belongs."""
        there = ((one, _value_at(body, one.path)) for one in self.fields)
        return all(
            str(value) == str(values[one.source])
            for one, value in there
            if one.source and (value is not None or one.is_required)
        )

    def _inside(self, body: JSON, above: Path) -> Iterator[Fault]:
        depth = len(above)
        fields = [one for one in self.fields if one.path[:depth] == above]
        if not isinstance(body, dict):
            yield Fault(above, "object")
            return
        for name in dict.fromkeys(one.path[depth] for one in fields):
            at = (*above, name)
            below = [one for one in fields if one.path[: depth + 1] == at]
            is_required = any(one.is_required for one in below)
            if body.get(name) is None:
                yield from [Fault(at, "missing")] if is_required else []
            elif len(below[0].path) > depth + 1:
                yield from self._inside(body[name], at)
            elif not _is_a(body[name], below[0].kind):
                yield Fault(at, below[0].kind)
        known = {one.path[depth] for one in fields}
        if self.is_strict:
            yield from (Fault((*above, n), "unknown") for n in body if n not in known)


@dataclass(frozen=True)
class Network:
    """What one service wants, and what it shows of it."""

    schemas: Mapping[str, Schema]
    style: str
    tells_all: bool
    """All faults at once; else the first."""
    record_names: tuple[str, ...]
    id_name: str
    values: Mapping[str, Mapping[str, JSON]]
    """By action: what a request may say."""

    def refuse(self, faults: list[Fault]) -> Refusal:
        """Say what is wrong."""
        return STYLES[self.style](faults if self.tells_all else faults[:1])


def _is_a(value: JSON, kind: str) -> bool:
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, str) if kind == "string" else True


def _value_at(body: JSON, path: Path) -> JSON:
    for name in path:
        body = body.get(name) if isinstance(body, dict) else None
    return body


def cased(name: str, case: str) -> str:
    """Write a name of words with `_` in some case."""
    first, *more = name.split("_")
    match case:
        case "camel":
            return first + "".join(word.capitalize() for word in more)
        case "pascal":
            return "".join(word.capitalize() for word in (first, *more))
        case "kebab":
            return "-".join((first, *more))
        case _:
            return name


def draw_network(seed: int) -> Network:
    """Draw a network; the same one for the same seed."""
    return _Drawing(Random(seed)).network()  # noqa: S311 - repeatable on purpose


class _Drawing:
    """The choices that are one network's for all its actions."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        cases = (
            "snake",
            "snake",
            "snake",
            "camel",
            "camel",
            "camel",
            "pascal",
            "kebab",
        )
        self.case = chance.choice(cases)
        self.noun = chance.choice(NOUNS)
        self.ending = chance.choice(ID_ENDINGS)
        self.agent = f"{chance.choice(AGENTS)}_{chance.choice(('id', 'id', 'ref'))}"
        self.result = chance.choice(RESULTS)
        self.id_kind = chance.choice(("string", "string", "integer"))
        self.is_strict = chance.random() < 0.6
        self.agent_use = chance.choice(("required", "optional", "absent"))
        self.wrapping = chance.choice(
            ("none", "none", "none", "none", "around", "verb", "own", "twice")
        )
        drawn = len(self.noun) + 3 * len(self.result) + 5 * len(self.agent)
        self.further = (*FURTHER, *[None] * 2 * len(FURTHER))[
            drawn % (3 * len(FURTHER))
        ]
        self.claim = chance.choice(CLAIMS)
        self.submission = chance.choice(SUBMISSIONS)

    def network(self) -> Network:
        chance = self.chance
        listed = chance.choice((f"{self.noun}_{self.ending}", self.ending, self.ending))
        task: JSON = 8137 if self.id_kind == "integer" else "tk-8137"
        gives_claim = chance.random() < 0.3
        ids: dict[str, JSON] = {"task_id": task, "agent_id": "ag-5", "key": "k-1"}
        shown: dict[str, JSON] = {f"record.{self.write(listed)}": task}
        claimed: dict[str, JSON] = {f"claim.{self.write(f'{self.claim}_id')}": "c-77"}
        submitted: dict[str, JSON] = {
            f"submit.{self.write(f'{self.submission}_id')}": "s-91"
        }
        given = claimed if gives_claim else {}
        work: dict[str, JSON] = {
            "result": "DONE 41",
            "evidence": {},
            "words": "DONE 41",
        }
        values = {
            "claim": {**ids, **shown},
            "submit": {**ids, **work, **given, **shown},
            "complete": {
                **ids,
                **given,
                **(submitted if gives_claim else {}),
                **shown,
            },
        }
        names = (listed, "created_at", f"{self.noun}_type", "reward_credits")
        return Network(
            schemas={action: self.schema(action, values[action]) for action in ACTIONS},
            style=chance.choice([*STYLES]),
            tells_all=chance.random() < 0.5,
            record_names=tuple(map(self.write, names)),
            id_name=self.write(listed),
            values=values,
        )

    def write(self, name: str) -> str:
        return cased(name, self.case)

    def schema(self, action: str, values: Mapping[str, JSON]) -> Schema:
        fields = [*self.fields(action, values)]
        around = self.around(action)
        return Schema(
            tuple(
                Field((*around, *one.path), one.source, one.kind, one.is_required)
                for one in fields
            ),
            self.is_strict,
        )

    def around(self, action: str) -> Path:
        match self.wrapping:
            case "around":
                return (self.write(AROUND[len(self.noun) % len(AROUND)]),)
            case "verb":
                return (self.write(VERBS[action]),)
            case "twice":
                return (self.write("data"), self.write("attributes"))
            case _:
                return ()

    def fields(self, action: str, values: Mapping[str, JSON]) -> Iterator[Field]:
        given = {name: one for name, one in values.items() if self.is_given(name)}
        wanted = [name for name in given if name.startswith(("claim.", "submit."))]
        stands_in = bool(wanted) and self.wrapping != "own"
        if not stands_in:
            yield Field(self.task_path(), "task_id", self.id_kind, is_required=True)
        for name in wanted[-1:] if stands_in else ():
            yield Field((name.partition(".")[2],), name, "string", is_required=True)
        if action == "submit":
            yield Field(self.result_path(), "result", "string", is_required=True)
            if self.further:
                name, kind = self.further
                yield Field((self.write(name),), "", kind, is_required=True)
        if self.agent_use != "absent":
            is_required = self.agent_use == "required"
            yield Field(self.agent_path(), "agent_id", "string", is_required)

    def is_given(self, name: str) -> bool:
        return "." in name and not name.startswith("record.")

    def task_path(self) -> Path:
        if self.wrapping == "own":
            return (self.write(self.noun), self.write(self.ending))
        return (self.write(f"{self.noun}_{self.ending}"),)

    def agent_path(self) -> Path:
        if self.wrapping == "own":
            return tuple(self.write(one) for one in self.agent.split("_"))
        return (self.write(self.agent),)

    def result_path(self) -> Path:
        if self.wrapping == "own":
            inside = RESULT_INSIDE[len(self.result) % len(RESULT_INSIDE)]
            return (self.write(self.result), self.write(inside))
        return (self.write(self.result),)


# -- the styles of refusals ------------------------------------------------------


def _said(fault: Fault) -> str:
    known = {"missing": "is required", "unknown": "is not allowed"}
    article = "an" if fault.what[0] in "aeiou" else "a"
    return known.get(fault.what, f"must be {article} {fault.what}")


def by_pydantic(faults: list[Fault]) -> Refusal:
    words = {
        "missing": ("missing", "Field required"),
        "unknown": ("extra_forbidden", "Extra inputs are not permitted"),
        "integer": ("int_type", "Input should be a valid integer"),
        "string": ("string_type", "Input should be a valid string"),
        "object": ("dict_type", "Input should be a valid dictionary"),
    }
    detail: list[JSON] = [
        {"type": words[f.what][0], "loc": ["body", *f.path], "msg": words[f.what][1]}
        for f in faults
    ]
    return 422, {"detail": detail}, ""


def by_zod(faults: list[Fault]) -> Refusal:
    def issue(fault: Fault) -> JSON:
        if fault.what == "unknown":
            *above, name = fault.path
            said = f"Unrecognized key(s) in object: '{name}'"
            return {
                "code": "unrecognized_keys",
                "keys": [name],
                "path": [*above],
                "message": said,
            }
        is_missing = fault.what == "missing"
        wanted = "string" if is_missing else fault.what
        received = "undefined" if is_missing else "other"
        return {
            "code": "invalid_type",
            "expected": wanted,
            "received": received,
            "path": [*fault.path],
            "message": "Required"
            if is_missing
            else f"Expected {wanted}, received {received}",
        }

    return 400, {"success": False, "error": {"issues": [*map(issue, faults)]}}, ""


def by_ajv(faults: list[Fault]) -> Refusal:
    def error(fault: Fault) -> JSON:
        *above, name = fault.path or ("",)
        around = "".join(f"/{part}" for part in above)
        if fault.what == "missing":
            return {
                "instancePath": around,
                "keyword": "required",
                "params": {"missingProperty": name},
                "message": f"must have required property '{name}'",
            }
        if fault.what == "unknown":
            return {
                "instancePath": around,
                "keyword": "additionalProperties",
                "params": {"additionalProperty": name},
                "message": "must NOT have additional properties",
            }
        return {
            "instancePath": f"{around}/{name}",
            "keyword": "type",
            "params": {"type": fault.what},
            "message": f"must be {fault.what}",
        }

    return 400, {"errors": [*map(error, faults)]}, ""


def by_problem(faults: list[Fault]) -> Refusal:
    errors: list[JSON] = [
        {"pointer": "#/" + "/".join(f.path), "detail": _said(f)} for f in faults
    ]
    return 422, {"title": "Your request is not valid.", "errors": errors}, ""


def by_class_validator(faults: list[Fault]) -> Refusal:
    def texts(fault: Fault) -> list[str]:
        name = ".".join(fault.path)
        if fault.what == "missing":
            return [f"{name} should not be empty", f"{name} must be a string"]
        if fault.what == "unknown":
            return [f"property {name} should not exist"]
        kind = "integer number" if fault.what == "integer" else fault.what
        return [f"{name} must be a{'n' if kind[0] in 'aeiou' else ''} {kind}"]

    said: list[JSON] = [text for fault in faults for text in texts(fault)]
    return 400, {"statusCode": 400, "message": said, "error": "Bad Request"}, ""


def by_laravel(faults: list[Fault]) -> Refusal:
    words = {"missing": "field is required.", "unknown": "field is prohibited."}
    told: dict[str, JSON] = {}
    for fault in faults:
        name = " ".join(fault.path).replace("_", " ")
        said = words.get(fault.what, f"field must be {_said(fault)[8:]}.")
        told[".".join(fault.path)] = [f"The {name} {said}"]
    first = next(iter(told.values()))
    return (
        422,
        {"message": first[0] if isinstance(first, list) else "", "errors": told},
        "",
    )


def by_django(faults: list[Fault]) -> Refusal:
    words = {
        "missing": "This field is required.",
        "unknown": "Unexpected field.",
        "integer": "A valid integer is required.",
        "string": "Not a valid string.",
        "object": "Invalid data. Expected a dictionary, but got str.",
    }
    told: dict[str, JSON] = {}
    for fault in faults:
        inside = told
        for name in fault.path[:-1]:
            inner = inside.setdefault(name, {})
            inside = inner if isinstance(inner, dict) else {}
        inside[fault.path[-1]] = [words[fault.what]]
    return 400, told, ""


def by_spring(faults: list[Fault]) -> Refusal:
    words = {"missing": "must not be null", "unknown": "unknown property"}
    errors: list[JSON] = [
        {
            "objectName": "request",
            "field": ".".join(f.path),
            "defaultMessage": words.get(f.what, _said(f)),
        }
        for f in faults
    ]
    return 400, {"status": 400, "error": "Bad Request", "errors": errors}, ""


def by_serde(faults: list[Fault]) -> Refusal:
    """Tell the first fault in a line of text, as Axum does."""
    fault = faults[0]
    *above, name = fault.path
    kinds = {"integer": "i64", "string": "a string", "object": "a map"}
    at = ".".join(above) + ": " if above else ""
    match fault.what:
        case "missing":
            text = f"{at}missing field `{name}`"
        case "unknown":
            text = f"{at}unknown field `{name}`, there are no fields"
        case wanted:
            way = ".".join(fault.path)
            text = f"{way}: invalid type: other, expected {kinds[wanted]}"
    said = f"Failed to deserialize the JSON body into the target type: {text}"
    return 422, None, f"{said} at line 1 column 42"


def in_words(faults: list[Fault]) -> Refusal:
    """Tell the first fault, by the way to it."""
    return 400, {"error": f"{'.'.join(faults[0].path)} {_said(faults[0])}"}, ""


def in_few_words(faults: list[Fault]) -> Refusal:
    """Tell the first fault, by its bare name."""
    what, name = faults[0].what, faults[0].path[-1]
    words = {"missing": "missing required field", "unknown": "unknown field"}
    said = f"{words[what]}: {name}" if what in words else f"{name} {_said(faults[0])}"
    return 400, {"ok": False, "message": said}, ""


def by_lists(faults: list[Fault]) -> Refusal:
    def named(what: str) -> list[JSON]:
        return [".".join(one.path) for one in faults if one.what == what]

    wrong: list[JSON] = [
        {"field": ".".join(f.path), "message": _said(f)}
        for f in faults
        if f.what not in {"missing", "unknown"}
    ]
    return (
        422,
        {
            "error": "validation_error",
            "missing": named("missing"),
            "unknown": named("unknown"),
            "invalid": wrong,
        },
        "",
    )


STYLES: Mapping[str, Style] = {
    "pydantic": by_pydantic,
    "zod": by_zod,
    "ajv": by_ajv,
    "problem details": by_problem,
    "class-validator": by_class_validator,
    "Laravel": by_laravel,
    "Django REST": by_django,
    "Spring": by_spring,
    "serde": by_serde,
    "words": in_words,
    "few words": in_few_words,
    "lists": by_lists,
}
