"""An airline's complaints desk: camelCase, case numbers, quality control at the end.

Lists `cases` with `paging` (offset, limit, total); other handlers' cases stay listed.
A claim wants `caseNumber` and answers 201 with a `handlerRef`; submit wants it with a nested
`reply` (`text`, `tone`: one of three) and `goodwillMiles` (integer); complete wants it with a
`closingCode`. Refuses with a list of sentences in `errors` and a `requestId`; at most three
cases open (429). A closed case is in `QUALITY_CONTROL` for 1.2 s, then the list, or the same
request again, says `CLOSED_PAID`; `handlingFee` is an object, its amount a string of credits.
"""

import time
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

CASES = [
    ("SK-2024-00183", "DELAY", "My flight to Porto left five hours late", 5, True),
    ("SK-2024-00184", "BAGGAGE", "My suitcase came back without its wheels", 4, True),
    ("SK-2024-00190", "SEATING", "We were seated apart from our children", 4, False),
    ("SK-2024-00191", "CATERING", "There was no vegetarian meal on board", 3, True),
    ("SK-2024-00195", "BAGGAGE", "The pram was left behind in Oslo", 6, True),
    ("SK-2024-00202", "STAFF", "Nobody at the gate could tell us anything", 3, True),
    ("SK-2024-00203", "DELAY", "We missed the last train home", 2, False),
    ("SK-2024-00207", "REFUND", "The refund was promised for January", 5, True),
]
TONES = ("APOLOGETIC", "NEUTRAL", "FIRM")
CODES = ("RESOLVED", "GOODWILL", "NO_FAULT")
TEXT = {case[0]: case[2] for case in CASES}


class SkylarkComplaints(Backend):
    """Complaints of passengers and those who answer them."""

    def __init__(self) -> None:
        super().__init__()
        self.handlers: dict[str, str] = {}
        self.cases: dict[str, dict[str, Any]] = {}
        for number, category, text, fee, free in CASES:
            self.cases[number] = {
                "caseNumber": number,
                "category": category,
                "passengerWrites": text,
                "handlingFee": {"amount": f"{fee}.00", "unit": "credits"},
                "caseState": "NEW" if free else "IN_HANDLING",
            }
        self.refs: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {case[0]: case[2] for case in CASES if case[4]}

    def handle(self, request: Request) -> Response:
        with self._lock:
            for ref in self.refs.values():
                case = self.cases[ref["case"]]
                waiting = case["caseState"] == "QUALITY_CONTROL"
                if waiting and time.monotonic() >= ref["until"]:
                    case["caseState"] = "CLOSED_PAID"
                    self.book.pay(
                        ref["case"], int(float(case["handlingFee"]["amount"]))
                    )
        return super().handle(request)

    @staticmethod
    def _no(status: int, *errors: str) -> Response:
        body = {"errors": list(errors), "requestId": uuid.uuid4().hex[:12]}
        return Response(status, body)

    def missing(self, request: Request) -> Response:
        return self._no(
            404, f"{request.method} {request.path} is not a resource of this desk"
        )

    def _body(self, request: Request) -> Any:
        if request.token not in self.handlers:
            return self._no(401, "bearer token is missing or not known")
        try:
            body = request.json() if request.raw else {}
        except ValueError:
            return self._no(400, "body is not valid JSON")
        return (
            body if isinstance(body, dict) else self._no(400, "body must be an object")
        )

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token, handler = uuid.uuid4().hex, f"EXT-{620 + len(self.handlers)}"
        self.handlers[token] = handler
        body = {"handlerId": handler, "openingCredits": 100}
        return Response(200, body | {"auth": {"scheme": "Bearer", "token": token}})

    def tasks(self, request: Request) -> Response:
        if request.token not in self.handlers:
            return self._no(401, "bearer token is missing or not known")
        return self.marketplace(request)

    def marketplace(self, request: Request) -> Response:
        query = {"limit": "5", "offset": "0"} | request.query
        wrong = [n for n in ("limit", "offset") if not query[n].isdigit()]
        if wrong:
            return self._no(400, *(f"{n} must be a number" for n in wrong))
        offset, limit = int(query["offset"]), max(1, min(int(query["limit"]), 5))
        body = {
            "cases": list(self.cases.values())[offset : offset + limit],
            "paging": {"offset": offset, "limit": limit, "total": len(self.cases)},
        }
        return Response(200, body)

    def claim(self, request: Request) -> Response:
        body = self._body(request)
        if isinstance(body, Response):
            return body
        number = body.get("caseNumber")
        if not number:
            return self._no(400, "caseNumber is missing")
        case = self.cases.get(number) if isinstance(number, str) else None
        if not case:
            return self._no(404, f"case {number} not found")
        mine = {k: r for k, r in self.refs.items() if r["token"] == request.token}
        for key, ref in mine.items():
            if ref["case"] == number:
                return self._no(409, f"case {number} is already yours under {key}")
        if case["caseState"] != "NEW":
            return self._no(409, f"case {number} is {case['caseState']}")
        working = ("IN_HANDLING", "ANSWERED")
        if (
            sum(self.cases[r["case"]]["caseState"] in working for r in mine.values())
            >= 3
        ):
            return self._no(
                429, "you have three open cases, close one before taking another"
            )
        case["caseState"] = "IN_HANDLING"
        key = f"H{uuid.uuid4().hex[:9].upper()}"
        self.refs[key] = {
            "case": number,
            "token": request.token,
            "text": "",
            "until": 0.0,
        }
        self.book.claimed(number)
        body = {"handlerRef": key, "caseNumber": number, "caseState": "IN_HANDLING"}
        return Response(201, body | {"replyDueHours": 48})

    def _ref(self, request: Request, body: dict[str, Any]) -> Any:
        ref = self.refs.get(str(body["handlerRef"]))
        if ref and ref["token"] == request.token:
            return ref
        return self._no(404, f"handlerRef {body['handlerRef']} not found")

    def submit(self, request: Request) -> Response:
        body = self._body(request)
        if isinstance(body, Response):
            return body
        errors, reply, miles = [], body.get("reply"), body.get("goodwillMiles")
        if not body.get("handlerRef"):
            errors.append("handlerRef is missing")
        if reply is None:
            errors.append("reply is missing")
        elif not isinstance(reply, dict):
            errors.append("reply must be an object with text and tone")
        else:
            if not reply.get("text"):
                errors.append("reply.text is missing")
            elif not isinstance(reply["text"], str):
                errors.append("reply.text must be a string")
            if not reply.get("tone"):
                errors.append("reply.tone is missing")
            elif reply["tone"] not in TONES:
                errors.append(f"reply.tone must be one of {', '.join(TONES)}")
        if miles is None:
            errors.append("goodwillMiles is missing, send 0 for none")
        elif (
            isinstance(miles, bool)
            or not isinstance(miles, int)
            or not 0 <= miles <= 5000
        ):
            errors.append("goodwillMiles must be an integer between 0 and 5000")
        if errors:
            return self._no(400, *errors)
        ref = self._ref(request, body)
        if isinstance(ref, Response):
            return ref
        case = self.cases[ref["case"]]
        if case["caseState"] not in ("IN_HANDLING", "ANSWERED"):
            return self._no(409, f"case {ref['case']} is {case['caseState']}")
        case["caseState"], ref["text"] = "ANSWERED", reply["text"]
        return Response(
            202, {"handlerRef": body["handlerRef"], "caseState": "ANSWERED"}
        )

    def complete(self, request: Request) -> Response:
        body = self._body(request)
        if isinstance(body, Response):
            return body
        errors, code = [], body.get("closingCode")
        if not body.get("handlerRef"):
            errors.append("handlerRef is missing")
        if not code:
            errors.append("closingCode is missing")
        elif code not in CODES:
            errors.append(f"closingCode must be one of {', '.join(CODES)}")
        if errors:
            return self._no(400, *errors)
        ref = self._ref(request, body)
        if isinstance(ref, Response):
            return ref
        case = self.cases[ref["case"]]
        if case["caseState"] == "IN_HANDLING":
            return self._no(409, f"case {ref['case']} has no reply yet")
        if case["caseState"] == "ANSWERED":
            right = ref["text"] == TEXT[ref["case"]].upper()
            case["caseState"] = "QUALITY_CONTROL" if right else "REJECTED"
            ref["until"] = time.monotonic() + 1.2
        if case["caseState"] == "REJECTED":
            return self._no(422, "quality control has rejected the reply")
        answer = {k: case[k] for k in ("caseNumber", "caseState", "handlingFee")}
        return Response(200, answer | {"handlerRef": body["handlerRef"]})
