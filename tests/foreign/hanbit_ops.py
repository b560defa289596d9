"""A Korean company: Spring behind a gateway, every answer a 200 with a resultCode of its own.

The text comes with the assignment; a submission that passes inspection is paid at once and
completion only closes the assignment.
"""

import uuid
from datetime import datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_JOBS: dict[int, tuple[str, str, int]] = {
    240117: ("상품 라벨 영문 표기", "premium roasted seaweed snack", 30),
    240118: ("박스 외면 문구", "handle with care - keep dry", 20),
    240121: ("수출 서류 품목명", "stainless steel rice bowl, 2 pcs", 45),
    240125: ("매장 안내판 문구", "fitting room on the second floor", 25),
    240130: ("쿠폰 문구", "spring sale: up to 30% off", 35),
    240133: ("사원증 영문 직함", "deputy general manager, hanbit trading", 50),
}
_STATES = {"10": "모집중", "20": "진행중", "30": "검수완료", "40": "종료"}
_MEDIA_TYPE = "application/json;charset=UTF-8"
_NULL = "널이어서는 안됩니다"
_BLANK = "공백일 수 없습니다"


def _answer(code: str, message: str, **rest: Any) -> Response:
    return Response(
        200,
        {"resultCode": code, "resultMsg": message, **rest},
        {"Content-Type": _MEDIA_TYPE, "X-Trace-Id": uuid.uuid4().hex[:16]},
        refused=code != "0000",
    )


def _good(data: Any) -> Response:
    return _answer("0000", "정상 처리되었습니다.", resData=data)


def _invalid(errors: list[tuple[str, str]]) -> Response:
    return _answer(
        "E1001",
        "요청 값이 올바르지 않습니다.",
        fieldErrors=[{"field": name, "reason": reason} for name, reason in errors],
    )


class HanbitOps(Backend):
    """The outsourcing desk of a Korean trading company."""

    def __init__(self) -> None:
        super().__init__()
        self._members: dict[str, dict[str, Any]] = {}  # by token
        self._states = dict.fromkeys(_JOBS, "10")
        self._assignments: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(seq): text for seq, (_, text, _) in _JOBS.items()}

    def missing(self, request: Request) -> Response:
        return _answer("E4040", "요청하신 페이지를 찾을 수 없습니다.")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = f"hb.{uuid.uuid4().hex}"
        member = {"agent_id": str(uuid.uuid4()), "access_token": token, "credits": 100}
        self._members[token] = dict(member)
        return Response(
            200,
            {
                "resultCode": "0000",
                "resultMsg": "회원 가입이 완료되었습니다.",
                **member,
            },
            {"Content-Type": _MEDIA_TYPE},
        )

    def _listing(self, request: Request) -> Response:
        numbers = {}
        for name, default, most in (("limit", 10, 100), ("pageNo", 1, 9999)):
            given = request.query.get(name, str(default))
            if not given.isdecimal():
                return _answer("E1002", f"{name} 파라미터는 숫자여야 합니다.")
            if not 1 <= int(given) <= most:
                return _invalid([(name, f"1에서 {most} 사이여야 합니다")])
            numbers[name] = int(given)
        start = (numbers["pageNo"] - 1) * numbers["limit"]
        jobs = list(_JOBS.items())[start : start + numbers["limit"]]
        return _good(
            {
                "totCnt": len(_JOBS),
                **numbers,
                "lastPageYn": "Y" if start + numbers["limit"] >= len(_JOBS) else "N",
                "jobList": [
                    {
                        "jobSeq": seq,
                        "jobNm": name,
                        "jobDesc": "배정 시 제공되는 원문(orgTxt)을 모두 영문 대문자로 변환해 주세요. "
                        "숫자와 기호는 그대로 둡니다.",
                        "rwdPnt": points,
                        "jobSttsCd": self._states[seq],
                        "jobSttsNm": _STATES[self._states[seq]],
                    }
                    for seq, (name, _, points) in jobs
                ],
            }
        )

    def tasks(self, request: Request) -> Response:
        if request.token not in self._members:
            return self._unknown()
        return self._listing(request)

    def marketplace(self, request: Request) -> Response:
        return self._listing(request)

    def agents(self, request: Request) -> Response:
        return _good({"totCnt": len(self._members), "agentList": []})

    directory = agents

    def checkout(self, request: Request) -> Response:
        return _answer(
            "E9001", "현재 결제 서비스 점검 중입니다. 잠시 후 다시 이용해 주세요."
        )

    def _unknown(self) -> Response:
        return _answer(
            "E4010",
            "인증 정보가 유효하지 않습니다. Authorization 헤더(Bearer 토큰)를 확인해 주세요.",
        )

    def _body(self, request: Request, **kinds: str) -> dict[str, Any] | Response:
        """Return the validated reqData, or the refusal."""
        if request.token not in self._members:
            return self._unknown()
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return _answer(
                "E1000", "요청 본문을 읽을 수 없습니다. JSON 형식을 확인해 주세요."
            )
        data = body.get("reqData")
        if data is None:
            return _invalid([("reqData", _NULL)])
        if not isinstance(data, dict):
            return _invalid([("reqData", "객체(JSON Object)여야 합니다")])
        errors = []
        for name, kind in kinds.items():
            value = data.get(name)
            reason = ""
            if value is None:
                reason = _NULL
            elif kind == "number":
                if isinstance(value, bool) or not str(value).isdecimal():
                    reason = "숫자여야 합니다"
            elif not isinstance(value, str):
                reason = "문자열이어야 합니다"
            elif not value.strip():
                reason = _BLANK
            if kind == "date" and reason in ("", _NULL, _BLANK):
                reason = self._date_error(value, reason)
            if reason:
                errors.append((f"reqData.{name}", reason))
        return _invalid(errors) if errors else data

    @staticmethod
    def _date_error(value: Any, reason: str) -> str:
        if reason:
            return f"{reason} (완료예정일, yyyyMMdd)"
        try:
            if len(value) != 8:
                raise ValueError
            day = datetime.strptime(value, "%Y%m%d").date()  # noqa: DTZ007
        except ValueError:
            return "날짜 형식이 올바르지 않습니다 (yyyyMMdd)"
        return "현재 또는 미래의 날짜여야 합니다" if day < datetime.now().date() else ""  # noqa: DTZ005

    def claim(self, request: Request) -> Response:
        data = self._body(request, jobSeq="number", agentId="text", cmplSchdDt="date")
        if isinstance(data, Response):
            return data
        member = self._members[request.token]
        if data["agentId"] != member["agent_id"]:
            return _answer(
                "E4030", "agentId가 로그인한 회원의 agent_id와 일치하지 않습니다."
            )
        seq = int(data["jobSeq"])
        if seq not in _JOBS:
            return _answer("E2001", f"존재하지 않는 작업입니다. (jobSeq: {seq})")
        if self._states[seq] != "10":
            return _answer(
                "E2002",
                f"배정 가능한 상태가 아닙니다. (현재 상태: {_STATES[self._states[seq]]})",
            )
        self._states[seq] = "20"
        number = f"AS{datetime.now():%y%m%d}{len(self._assignments) + 1:06d}"  # noqa: DTZ005
        self._assignments[number] = {"seq": seq, "token": request.token}
        self.book.claimed(str(seq))
        info = {"asgnNo": number, "jobSeq": seq, "orgTxt": _JOBS[seq][1]}
        info |= {"cmplSchdDt": data["cmplSchdDt"], "jobSttsCd": "20"}
        return _good({"asgnInfo": info})

    def _assignment(self, request: Request, number: str) -> dict[str, Any] | Response:
        found = self._assignments.get(number)
        if found is None:
            return _answer(
                "E3001", f"배정 정보가 존재하지 않습니다. (asgnNo: {number})"
            )
        if found["token"] != request.token:
            return _answer("E4031", "본인에게 배정된 작업이 아닙니다.")
        return found

    def submit(self, request: Request) -> Response:
        data = self._body(request, asgnNo="text", rsltTxt="text")
        if isinstance(data, Response):
            return data
        found = self._assignment(request, data["asgnNo"])
        if isinstance(found, Response):
            return found
        seq = found["seq"]
        if self._states[seq] != "20":
            return _answer("E3002", "이미 검수가 완료된 작업입니다.")
        _, text, points = _JOBS[seq]
        if data["rsltTxt"] != text.upper():
            return _answer(
                "E3003",
                "검수 결과 반려되었습니다. 결과물을 수정하여 다시 제출해 주세요.",
            )
        self._states[seq] = "30"
        member = self._members[request.token]
        member["credits"] += points
        self.book.pay(str(seq), points)
        return _good(
            {
                "asgnNo": data["asgnNo"],
                "inspRsltCd": "PASS",
                "pntInfo": {"payPnt": points, "balPnt": member["credits"]},
                "jobSttsCd": "30",
            }
        )

    def complete(self, request: Request) -> Response:
        data = self._body(request, asgnNo="text")
        if isinstance(data, Response):
            return data
        found = self._assignment(request, data["asgnNo"])
        if isinstance(found, Response):
            return found
        state = self._states[found["seq"]]
        if state == "20":
            return _answer("E3004", "검수가 완료되지 않은 작업은 종료할 수 없습니다.")
        if state == "40":
            return _answer("E3005", "이미 종료된 작업입니다.")
        self._states[found["seq"]] = "40"
        return _good(
            {"asgnNo": data["asgnNo"], "jobSttsCd": "40", "jobSttsNm": _STATES["40"]}
        )

    def post(self, request: Request) -> Response:
        return _answer("E4032", "작업 등록은 제휴사 회원만 이용할 수 있습니다.")
