"""A Spring service of a team in Seoul: field errors with reasons in Korean, and a trace.

All faults come at once, by the path of the property; the time and the trace are others
each time. An answer is an object that holds its text.
"""

import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TEXTS = (
    "the magpie brings a guest",
    "kimchi jars stand in the yard",
    "the subway smells of wet coats",
    "a drum answers from the hill",
    "persimmons dry under the eaves",
    "the ferry leaves without a horn",
)
NOT_NULL, NO_TEXT, NO_OBJECT = (
    "필수 입력값입니다.",
    "문자열이어야 합니다.",
    "객체여야 합니다.",
)
Json = dict[str, Any]


class BusinessException(Exception):  # noqa: N818 - the team's name
    def __init__(self, status: int, message: str, *errors: Json) -> None:
        super().__init__(message)
        body = {
            "timestamp": datetime.now(UTC).isoformat(),
            "status": status,
            "traceId": secrets.token_hex(16),
            "message": message,
            "fieldErrors": list(errors),
        }
        self.response = Response(status, body)


def checked(body: Any, *paths: str) -> Json:
    """Return the texts at some paths, or tell all faults."""
    found: Json = {}
    errors: list[Json] = []
    for path in paths:
        value: Any = body
        at: list[str] = []
        for part in path.split("."):
            if not isinstance(value, dict):
                wrong = {"field": ".".join(at), "reason": NO_OBJECT, "value": value}
                errors.append(wrong)
                break
            at.append(part)
            value = value.get(part)
            if value is None or value == "":
                errors.append(
                    {"field": ".".join(at), "reason": NOT_NULL, "value": value}
                )
                break
        else:
            if not isinstance(value, str):
                errors.append({"field": path, "reason": NO_TEXT, "value": value})
            found[path] = value
    if errors:
        raise BusinessException(400, "입력값이 올바르지 않습니다.", *errors)
    return found


class KoreanSpring(Backend):
    """Six jobs."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, Json] = {
            f"JB{at * 41 + 60020}": {
                "text": text,
                "point": at % 3 + 2,
                "status": "대기",
            }
            for at, text in enumerate(TEXTS)
        }
        self.tokens: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {key: row["text"] for key, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        return BusinessException(404, "요청한 자원을 찾을 수 없습니다.").response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(16)
        self.tokens.add(token)
        told = {"agent_id": "ag-9", "access_token": token, "credits": 100}
        return Response(200, told)

    def tasks(self, request: Request) -> Response:
        rows = [{"jobNo": key, **row} for key, row in self.rows.items()]
        return Response(200, {"content": rows, "totalElements": len(rows)})

    def answered(self, request: Request, step: Callable[[Any], str]) -> Response:
        try:
            if request.token not in self.tokens:
                return BusinessException(401, "로그인이 필요합니다.").response
            try:
                body = request.json()
            except ValueError:
                return BusinessException(400, "JSON 형식이 아닙니다.").response
            key = step(body)
            return Response(200, {"jobNo": key, "status": self.rows[key]["status"]})
        except BusinessException as no:
            return no.response

    def row(self, key: str) -> Json:
        if key not in self.rows:
            raise BusinessException(404, "작업을 찾을 수 없습니다.")
        return self.rows[key]

    def claim(self, request: Request) -> Response:
        return self.answered(request, self.on_claim)

    def on_claim(self, body: Any) -> str:
        key: str = checked(body, "jobNo")["jobNo"]
        row = self.row(key)
        if row["status"] != "대기":
            raise BusinessException(409, "이미 배정된 작업입니다.")
        row["status"] = "진행중"
        self.book.claimed(key)
        return key

    def submit(self, request: Request) -> Response:
        return self.answered(request, self.on_submit)

    def on_submit(self, body: Any) -> str:
        told = checked(body, "jobNo", "answer.text")
        row = self.row(told["jobNo"])
        if row["status"] == "대기":
            raise BusinessException(403, "먼저 작업을 배정받으세요.")
        if told["answer.text"] != row["text"].upper():
            raise BusinessException(422, "답변이 올바르지 않습니다.")
        if row["status"] == "진행중":
            row["status"] = "제출됨"
        return str(told["jobNo"])

    def complete(self, request: Request) -> Response:
        return self.answered(request, self.on_complete)

    def on_complete(self, body: Any) -> str:
        key: str = checked(body, "jobNo")["jobNo"]
        row = self.row(key)
        if row["status"] in ("대기", "진행중"):
            raise BusinessException(409, "아직 제출되지 않았습니다.")
        if row["status"] == "제출됨":
            row["status"] = "지급완료"
            self.book.pay(key, row["point"])
        return key
