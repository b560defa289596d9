"""Apps of a Japanese office suite, in the manner of kintone's REST API.

Every field is an object with its `value`, in and out. Faults come all at once, by a path,
in Japanese, and with an identifier that is another one each time. A claim makes a record;
later steps name the record and its latest revision, as texts of digits.
"""

import secrets
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TEXTS = (
    "the bento box is still warm",
    "umbrellas dry outside of the shop",
    "a paper crane on the window sill",
    "the express train does not stop here",
    "plum blossoms before the last snow",
    "the vending machine hums at night",
    "ring the bell and clap twice",
    "the potter waits for the kiln",
)
REQUIRED, NO_TEXT, NO_NUMBER = (
    "必須です。",
    "文字列で指定してください。",
    "整数で指定してください。",
)
Json = dict[str, Any]


class Fault(Exception):  # noqa: N818 - a word of the trade
    def __init__(self, status: int, code: str, message: str, errors: Json) -> None:
        super().__init__(message)
        trace = f"{secrets.token_urlsafe(12)}"
        body: Json = {"code": code, "id": trace, "message": message}
        if errors:
            body["errors"] = {name: {"messages": [e]} for name, e in errors.items()}
        self.response = Response(status, body)


def inside(body: Any, path: str) -> Any:
    for part in path.split("."):
        body = body.get(part) if isinstance(body, dict) else None
    return body


def checked(body: Any, **paths: str) -> dict[str, str]:
    """Return values by the last words of their paths, or tell all faults."""
    errors: Json = {}
    found: dict[str, str] = {}
    for name, path in paths.items():
        value = inside(body, path)
        if value is None or value == "":
            errors[path] = REQUIRED
        elif name in ("id", "revision"):
            if isinstance(value, bool) or not str(value).isdigit():
                errors[path] = NO_NUMBER
        elif not isinstance(value, str):
            errors[path] = NO_TEXT
        found[name] = str(value)
    if errors:
        raise Fault(400, "CB_VA01", "入力内容が正しくありません。", errors)
    return found


class KintoneRecords(Backend):
    """Eight tasks in one app, and the records of another."""

    def __init__(self) -> None:
        super().__init__()
        self.app: dict[str, Json] = {
            f"KN-{at * 19 + 310}": {
                "text": text,
                "points": at % 4 + 2,
                "state": "未着手",
            }
            for at, text in enumerate(TEXTS)
        }
        self.records: dict[str, Json] = {}
        self.tokens: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {key: row["text"] for key, row in self.app.items()}

    def missing(self, request: Request) -> Response:
        return Fault(404, "CB_NO02", "権限がありません。", {}).response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(30)
        self.tokens.add(token)
        told = {"agent_id": "user21", "access_token": token, "credits": 100}
        return Response(200, told)

    def tasks(self, request: Request) -> Response:
        rows = [
            {
                "task_no": {"type": "SINGLE_LINE_TEXT", "value": key},
                "text": {"type": "MULTI_LINE_TEXT", "value": row["text"]},
                "points": {"type": "NUMBER", "value": str(row["points"])},
                "state": {"type": "STATUS", "value": row["state"]},
            }
            for key, row in self.app.items()
        ]
        return Response(200, {"records": rows, "totalCount": str(len(rows))})

    def answered(self, request: Request, step: Callable[[Any], Json]) -> Response:
        try:
            return Response(200, step(self.body(request)))
        except Fault as fault:
            return fault.response

    def body(self, request: Request) -> Any:
        if request.token not in self.tokens:
            raise Fault(401, "CB_WA01", "認証に失敗しました。", {})
        try:
            return request.json()
        except ValueError:
            told = "JSONとして正しくありません。"
            raise Fault(400, "CB_IJ01", told, {}) from None

    def claim(self, request: Request) -> Response:
        return self.answered(request, self.on_claim)

    def on_claim(self, body: Any) -> Json:
        key = checked(body, task="record.task_no.value")["task"]
        if key not in self.app:
            raise Fault(404, "GAIA_RE01", "指定したレコードが見つかりません。", {})
        if self.app[key]["state"] != "未着手":
            raise Fault(409, "GAIA_TK01", "すでに担当者がいます。", {})
        self.app[key]["state"] = "対応中"
        record = str(8800 + 7 * len(self.records))
        self.records[record] = {"task": key, "revision": 1, "state": "対応中"}
        self.book.claimed(key)
        return {"id": record, "revision": "1"}

    def record(self, told: dict[str, str]) -> Json:
        if told["id"] not in self.records:
            raise Fault(404, "GAIA_RE01", "指定したレコードが見つかりません。", {})
        record = self.records[told["id"]]
        if str(record["revision"]) != told["revision"]:
            raise Fault(409, "GAIA_CO02", "リビジョンは最新ではありません。", {})
        return record

    def submit(self, request: Request) -> Response:
        return self.answered(request, self.on_submit)

    def on_submit(self, body: Any) -> Json:
        told = checked(body, id="id", revision="revision", answer="record.answer.value")
        record = self.record(told)
        if told["answer"] != self.app[record["task"]]["text"].upper():
            raise Fault(422, "GAIA_AN01", "回答が正しくありません。", {})
        record["revision"] += 1
        record["state"] = "提出済"
        return {"revision": str(record["revision"])}

    def complete(self, request: Request) -> Response:
        return self.answered(request, self.on_complete)

    def on_complete(self, body: Any) -> Json:
        record = self.record(checked(body, id="id", revision="revision"))
        if record["state"] == "対応中":
            raise Fault(409, "GAIA_ST01", "まだ提出されていません。", {})
        record["revision"] += 1
        key = record["task"]
        if record["state"] == "提出済":
            record["state"] = self.app[key]["state"] = "支払済"
            self.book.pay(key, self.app[key]["points"])
        return {"revision": str(record["revision"]), "state": "支払済"}
