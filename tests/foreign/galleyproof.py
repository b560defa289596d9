"""Galleyproof: a small team's headline desk on Pyramid, Cornice and colander.

Schemas are colander's, refusals are Cornice's `{"status": "error", "errors": [...]}`, and
what no view answers gets Pyramid's own HTTP exception page.
"""

import html
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_TASKS = [
    ("Harbour bridge", "harbour bridge reopens after eleven weeks", 12),
    ("Council vote", "council votes to keep the night bus", 9),
    ("Bakery strike", "bakers walk out over flour prices", 20),
    ("Cup final", "rovers lift the cup at the fourth attempt", 15),
    ("Weather", "frost expected on high ground until friday", 7),
    ("Library", "library lends its ten millionth book", 31),
]
_PAGE, _MAX_PAGE, _MAX_HOURS = 4, 25, 72
_MIMES = ("text/plain", "text/markdown")
_NULL = object()


class _Invalid(Exception):  # noqa: N818
    """What colander raises, with the description it gives."""


def _string(value: Any) -> Any:
    return str(value) if value else _NULL


def _one_of(choices: tuple[str, ...]) -> Any:
    def deserialize(value: Any) -> Any:
        text = _string(value)
        if text is not _NULL and text not in choices:
            raise _Invalid(f'"{text}" is not one of {", ".join(choices)}')
        return text

    return deserialize


def _integer(low: int, high: int) -> Any:
    def deserialize(value: Any) -> Any:
        if value != 0 and not value:
            return _NULL
        try:
            number = int(value)
        except (TypeError, ValueError, OverflowError):
            raise _Invalid(f'"{value}" is not a number') from None
        if number < low:
            raise _Invalid(f"{number} is less than minimum value {low}")
        if number > high:
            raise _Invalid(f"{number} is greater than maximum value {high}")
        return number

    return deserialize


_CLAIM = {"task_uid": _string, "estimated_hours": _integer(1, _MAX_HOURS)}
_RESULT = {"content": _string, "mime": _one_of(_MIMES)}
_SUBMIT = {"claim_uid": _string, "result": _RESULT}
_COMPLETE = {"claim_uid": _string, "delivery_uid": _string}


def _deserialize(
    schema: dict[str, Any], data: dict[str, Any], prefix: str, errors: list[Any]
) -> dict[str, Any]:
    """Return what the schema makes of the data; add what is wrong to errors."""
    clean: dict[str, Any] = {}
    for name, node in schema.items():
        path, value = prefix + name, data.get(name)
        if isinstance(node, dict):
            if value is None:
                errors += [(f"{path}.{child}", "Required") for child in node]
            elif not isinstance(value, dict):
                why = "Does not implement dict-like functionality."
                errors.append((path, f'"{value}" is not a mapping type: {why}'))
            else:
                clean[name] = _deserialize(node, value, path + ".", errors)
            continue
        try:
            clean[name] = node(value)
        except _Invalid as error:
            errors.append((path, str(error)))
        else:
            if clean[name] is _NULL:
                errors.append((path, "Required"))
    return clean


def _errors(status: int, *found: tuple[str, str | None, str]) -> Response:
    """Return Cornice's JSON error."""
    listed = [
        {"location": where, "name": name, "description": said}
        for where, name, said in found
    ]
    return Response(status, {"status": "error", "errors": listed})


class Galleyproof(Backend):
    """Headlines to set in capitals; the claim is the thing that is worked on."""

    def __init__(self) -> None:
        super().__init__()
        self.accounts: dict[str, dict[str, Any]] = {}  # by token
        self.claims: dict[str, dict[str, Any]] = {}
        self.records: dict[str, dict[str, Any]] = {}
        for label, text, amount in _TASKS:
            uid = "hl_" + secrets.token_hex(4)
            self.records[uid] = {
                "uid": uid,
                "label": label,
                "instructions": "Set source_text in capital letters, nothing else.",
                "source_text": text,
                "bounty": {"amount": amount, "unit": "credits"},
                "stage": "open",
            }

    def texts(self) -> dict[str, str]:
        return {uid: record["source_text"] for uid, record in self.records.items()}

    def missing(self, request: Request) -> Response:
        said = "The resource could not be found."
        if "json" in (request.headers.get("Accept") or ""):
            message = f"{said}\n\n\n{request.path}\n\n"
            body = {"message": message, "code": "404 Not Found", "title": "Not Found"}
            return Response(404, body)
        page = (
            "<html>\n <head>\n  <title>404 Not Found</title>\n </head>\n <body>\n"
            f"  <h1>404 Not Found</h1>\n  {said}<br/><br/>\n"
            f"{html.escape(request.path)}\n\n\n </body>\n</html>"
        )
        return Response(404, page, {"Content-Type": "text/html; charset=UTF-8"})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = {"agent_id": "desk_" + secrets.token_hex(5), "credits": 100}
        token = secrets.token_urlsafe(24)
        self.accounts[token] = agent
        return Response(200, {**agent, "access_token": token})

    def agents(self, request: Request) -> Response:
        known = [{"agent_id": one["agent_id"]} for one in self.accounts.values()]
        return Response(200, {"data": known})

    def tasks(self, request: Request) -> Response:
        page: dict[str, int] = {}
        wrong = []
        for name, default, low, high in (
            ("limit", _PAGE, 1, _MAX_PAGE),
            ("offset", 0, 0, 10_000),
        ):
            try:
                value = _integer(low, high)(request.query.get(name, ""))
                page[name] = default if value is _NULL else value
            except _Invalid as error:
                wrong.append(("querystring", name, str(error)))
        if wrong:
            return _errors(400, *wrong)
        found = [one for one in self.records.values() if one["stage"] == "open"]
        limit, offset = page["limit"], page["offset"]
        headers = {"Total-Records": str(len(found))}
        if offset + limit < len(found):
            headers["Next-Page"] = (
                f"{request.base}{request.path}?limit={limit}&offset={offset + limit}"
            )
        return Response(200, {"data": found[offset : offset + limit]}, headers)

    marketplace = tasks

    def _validated(self, request: Request, schema: dict[str, Any]) -> Any:
        """Return the clean body, or the response that refuses the request."""
        if request.token not in self.accounts:
            said = "Missing or unknown bearer token"
            return _errors(401, ("header", "Authorization", said))
        if request.headers.get_content_type() != "application/json":
            said = "Content-Type header should be one of ['application/json']"
            return _errors(415, ("header", "Content-Type", said))
        try:
            data = request.json() if request.raw else {}
        except ValueError as error:
            return _errors(400, ("body", None, f"Invalid JSON: {error}"))
        if not isinstance(data, dict):
            return _errors(400, ("body", None, "Invalid JSON: Should be a JSON object"))
        wrong: list[tuple[str, str]] = []
        clean = _deserialize(schema, data, "", wrong)
        if wrong:
            return _errors(400, *(("body", name, said) for name, said in wrong))
        if "claim_uid" in clean:
            claim = self.claims.get(clean["claim_uid"])
            if not claim or claim["token"] != request.token:
                return _errors(404, ("body", "claim_uid", "You have no such claim"))
            clean["claim"] = claim
        return clean

    def claim(self, request: Request) -> Response:
        clean = self._validated(request, _CLAIM)
        if isinstance(clean, Response):
            return clean
        record = self.records.get(clean["task_uid"])
        if not record:
            return _errors(404, ("body", "task_uid", "There is no task with this uid"))
        if record["stage"] != "open":
            return _errors(409, ("body", "task_uid", "This task is no longer open"))
        record["stage"] = "held"
        uid = "clm_" + secrets.token_hex(6)
        until = datetime.now(UTC) + timedelta(hours=clean["estimated_hours"])
        shown = {"claim_uid": uid, "task_uid": record["uid"], "stage": "held"}
        shown["held_until"] = until.isoformat(timespec="seconds")
        self.claims[uid] = {"token": request.token, "record": record, "delivery": ""}
        self.book.claimed(record["uid"])
        return Response(200, {"data": shown})

    def submit(self, request: Request) -> Response:
        clean = self._validated(request, _SUBMIT)
        if isinstance(clean, Response):
            return clean
        claim = clean["claim"]
        if claim["delivery"]:
            return _errors(409, ("body", "claim_uid", "A result was delivered already"))
        if clean["result"]["content"] != claim["record"]["source_text"].upper():
            said = "This is not source_text in capital letters"
            return _errors(400, ("body", "result.content", said))
        claim["delivery"] = "dlv_" + secrets.token_hex(6)
        claim["record"]["stage"] = "delivered"
        shown = {"delivery_uid": claim["delivery"], "stage": "delivered"}
        return Response(200, {"data": shown})

    def complete(self, request: Request) -> Response:
        clean = self._validated(request, _COMPLETE)
        if isinstance(clean, Response):
            return clean
        claim, record = clean["claim"], clean["claim"]["record"]
        if clean["delivery_uid"] != claim["delivery"]:
            said = "This claim has no such delivery"
            return _errors(404, ("body", "delivery_uid", said))
        if record["stage"] == "closed":
            return _errors(409, ("body", "claim_uid", "This claim is closed already"))
        record["stage"] = "closed"
        amount, agent = record["bounty"]["amount"], self.accounts[request.token]
        agent["credits"] += amount
        self.book.pay(record["uid"], amount)
        shown = {"stage": "closed", "credited": amount, "balance": agent["credits"]}
        return Response(200, {"data": shown})
