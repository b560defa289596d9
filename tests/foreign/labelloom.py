"""Labelloom: a machine-learning start-up's data engine (FastAPI, strict pydantic v2 models)."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_ROWS = [
    (4012, "train", "the weaver finished the blue cloth at noon", 12),
    (4015, "train", "please restart the router before calling support", 9),
    (4021, "eval", "tickets for the night train are sold out", 20),
    (4022, "train", "two cups of flour, one egg, a pinch of salt", 7),
    (4030, "eval", "our café opens again on the first of march", 25),
    (4033, "train", "the committee approved the minutes of the last meeting", 15),
    (4041, "eval", "keep away from direct sunlight", 5),
]


class _Http(Exception):  # noqa: N818
    """An HTTPException: the status, the detail and perhaps headers."""


def _error(type_: str, loc: list, msg: str, value: Any, **ctx: Any) -> dict:
    error = {"type": type_, "loc": loc, "msg": msg, "input": value}
    return {**error, "ctx": ctx} if ctx else error


def _string(value: Any, loc: list) -> list:
    if isinstance(value, str):
        return []
    return [_error("string_type", loc, "Input should be a valid string", value)]


def _integer(value: Any, loc: list) -> list:
    if not isinstance(value, int) or isinstance(value, bool):
        return [_error("int_type", loc, "Input should be a valid integer", value)]
    if value < 0:
        msg = "Input should be greater than or equal to 0"
        return [_error("greater_than_equal", loc, msg, value, ge=0)]
    return []


def _enum(*values: str) -> Any:
    def check(value: Any, loc: list) -> list:
        if value in values:
            return []
        expected = " or ".join(f"'{v}'" for v in values)
        return [
            _error("enum", loc, f"Input should be {expected}", value, expected=expected)
        ]

    return check


def _object(value: Any, loc: list) -> list:
    if isinstance(value, dict):
        return []
    if value is None and loc == ["body"]:
        return [_error("missing", loc, "Field required", None)]
    msg = "Input should be a valid dictionary or object to extract fields from"
    return [_error("model_attributes_type", loc, msg, value)]


def _model(**fields: Any) -> Any:
    """Return a model whose fields are all required and which forbids any other."""

    def check(value: Any, loc: list) -> list:
        if errors := _object(value, loc):
            return errors
        for name, inner in fields.items():
            if name in value:
                errors += inner(value[name], [*loc, name])
            else:
                errors.append(_error("missing", [*loc, name], "Field required", value))
        for name in value:
            if name not in fields:
                msg = "Extra inputs are not permitted"
                errors.append(_error("extra_forbidden", [*loc, name], msg, value[name]))
        return errors

    return check


def _union(key: str, **models: Any) -> Any:
    def check(value: Any, loc: list) -> list:
        if errors := _object(value, loc):
            return errors
        if key not in value:
            msg = f"Unable to extract tag using discriminator '{key}'"
            return [
                _error("union_tag_not_found", loc, msg, value, discriminator=f"'{key}'")
            ]
        tag = value[key]
        if not isinstance(tag, str) or tag not in models:
            tags = ", ".join(f"'{t}'" for t in models)
            msg = f"Input tag '{tag}' found using '{key}' does not match any of the"
            msg += f" expected tags: {tags}"
            ctx = {"discriminator": f"'{key}'", "tag": str(tag), "expected_tags": tags}
            return [_error("union_tag_invalid", loc, msg, value, **ctx)]
        return models[tag](value, [*loc, tag])

    return check


_CLAIM = _model(sample_id=_integer, split=_enum("train", "eval"))
_TEXT = _model(type=_string, text=_string)
_LABEL = _model(type=_string, label=_string)
_PREDICTION = _union("type", text=_TEXT, label=_LABEL)
_SUBMIT = _model(assignment_id=_string, prediction=_PREDICTION, inference_ms=_integer)
_OUTCOME = _enum("succeeded", "abandoned")
_COMPLETE = _model(assignment_id=_string, prediction_id=_string, outcome=_OUTCOME)


class Labelloom(Backend):
    """Samples, assignments and predictions; the completion pays."""

    def __init__(self) -> None:
        super().__init__()
        self._rows = {r[0]: r for r in _ROWS}
        self._agents: dict[str, str] = {}  # token -> agent
        self._taken: dict[int, str] = {}  # sample -> assignment
        self._assignments: dict[str, dict] = {}
        self._credits: dict[str, int] = {}

    def texts(self) -> dict[str, str]:
        return {str(r[0]): r[2] for r in _ROWS}

    def missing(self, request: Request) -> Response:
        return Response(404, {"detail": "Not Found"})

    def _agent(self, request: Request) -> str:
        if request.token not in self._agents:
            said = "Invalid access token" if request.token else "Not authenticated"
            raise _Http(401, said, {"WWW-Authenticate": "Bearer"})
        return self._agents[request.token]

    def _run(self, request: Request, model: Any, action: Any) -> Response:
        try:
            body = self._body(request)
            public = request.path.endswith("/public-marketplace")
            agent = "" if public else self._agent(request)
            if model and (errors := model(body, ["body"])):
                raise _Http(422, errors)
            return Response(200, action(agent, body))
        except _Http as error:
            return Response(error.args[0], {"detail": error.args[1]}, *error.args[2:])

    def _body(self, request: Request) -> Any:
        try:
            return request.json() if request.raw else None
        except ValueError as error:
            loc = ["body", getattr(error, "pos", 0)]
            said = {"error": getattr(error, "msg", str(error))}
            raise _Http(
                422, [_error("json_invalid", loc, "JSON decode error", {}, **said)]
            ) from None

    def _sample(self, row: tuple) -> dict:
        return {
            "sample_id": row[0],
            "split": row[1],
            "instruction": "Return the input text in upper case, nothing else.",
            "input": {"text": row[2], "lang": "en"},
            "output_type": "text",
            "reward": {"credits": row[3], "basis": "per_accepted_prediction"},
            "state": "in_annotation" if row[0] in self._taken else "available",
        }

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"agt_{secrets.token_hex(6)}", f"ll-{secrets.token_urlsafe(24)}"
        self._agents[token] = agent
        self._credits[agent] = 100
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def _listing(self, request: Request) -> dict:
        limit, loc = request.query.get("limit", "20"), ["query", "limit"]
        try:
            size = int(limit)
        except ValueError:
            msg = (
                "Input should be a valid integer, unable to parse string as an integer"
            )
            raise _Http(422, [_error("int_parsing", loc, msg, limit)]) from None
        if not 1 <= size <= 100:
            than, ctx = ("greater", {"ge": 1}) if size < 1 else ("less", {"le": 100})
            msg = f"Input should be {than} than or equal to {1 if size < 1 else 100}"
            raise _Http(422, [_error(f"{than}_than_equal", loc, msg, limit, **ctx)])
        rows = [self._sample(r) for r in _ROWS if r[0] not in self._taken]
        return {"samples": rows[:size], "total": len(rows), "limit": size}

    def tasks(self, request: Request) -> Response:
        return self._run(request, None, lambda agent, body: self._listing(request))  # noqa: ARG005

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        def action(agent: str, body: dict) -> dict:
            sample = body["sample_id"]
            row = self._rows.get(sample)
            if row is None:
                raise _Http(404, f"Sample {sample} not found")
            if row[1] != body["split"]:
                raise _Http(409, f"Sample {sample} belongs to split '{row[1]}'")
            if sample in self._taken:
                raise _Http(409, f"Sample {sample} is already assigned")
            key = f"asg_{secrets.token_hex(8)}"
            self._taken[sample] = key
            self._assignments[key] = {
                "agent": agent,
                "row": row,
                "state": "in_annotation",
            }
            self.book.claimed(str(sample))
            return {
                "assignment_id": key,
                "state": "in_annotation",
                "sample": self._sample(row),
            }

        return self._run(request, _CLAIM, action)

    def _assignment(self, agent: str, key: str) -> dict:
        found = self._assignments.get(key)
        if found is None or found["agent"] != agent:
            raise _Http(404, f"Assignment {key} not found")
        if found["state"] in ("closed", "abandoned"):
            raise _Http(409, f"Assignment {key} is already {found['state']}")
        return found

    def submit(self, request: Request) -> Response:
        def action(agent: str, body: dict) -> dict:
            found = self._assignment(agent, body["assignment_id"])
            prediction = body["prediction"]
            if prediction["type"] != "text":
                raise _Http(
                    422, "This sample has output_type 'text', got a 'label' prediction"
                )
            if prediction["text"] != found["row"][2].upper():
                raise _Http(
                    422, "Prediction rejected: exact_match 0.0 is below threshold 1.0"
                )
            found["prediction"] = (
                found.get("prediction") or f"prd_{secrets.token_hex(8)}"
            )
            found["state"] = "evaluated"
            evaluation = {"metric": "exact_match", "score": 1.0, "passed": True}
            return {"prediction_id": found["prediction"], "evaluation": evaluation}

        return self._run(request, _SUBMIT, action)

    def complete(self, request: Request) -> Response:
        def action(agent: str, body: dict) -> dict:
            found = self._assignment(agent, body["assignment_id"])
            row, earned = found["row"], 0
            if body["outcome"] == "abandoned":
                found["state"] = "abandoned"
                del self._taken[row[0]]
                self.book.held.discard(str(row[0]))
            elif "prediction" not in found:
                raise _Http(409, "Assignment has no accepted prediction")
            elif found["prediction"] != body["prediction_id"]:
                raise _Http(404, f"Prediction {body['prediction_id']} not found")
            else:
                found["state"], earned = "closed", row[3]
                self._credits[agent] += earned
                self.book.pay(str(row[0]), earned)
            balance = self._credits[agent]
            return {
                "state": found["state"],
                "credits_earned": earned,
                "balance": balance,
            }

        return self._run(request, _COMPLETE, action)
