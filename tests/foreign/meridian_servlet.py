"""MeridianServlet Clearing: an old company's Java servlet of 2008.

Every answer is 200 with a return code in the body; columns keep the names that they have on
the mainframe. The agent's number stands in every body beside the token. One complaint at a
time. The result gets a receipt, and the completion with that receipt pays.
"""

import secrets
from datetime import date, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_WORK = [
    (100231, "invoice held for second review", "0017"),
    (100232, "goods received at dock nine", "0010"),
    (100235, "customer moved to new branch", "0023"),
    (100240, "cheque returned, no signature", "0041"),
    (100241, "account closed by request", "0013"),
]
_STAMP = "%Y%m%d%H%M%S"
_PAGE = """<html><head><title>Apache Tomcat/6.0.18 - Error report</title></head><body>\
<h1>HTTP Status 404 - {path}</h1><HR size="1" noshade="noshade"><p><b>type</b> Status \
report</p><p><b>message</b> <u>{path}</u></p><p><b>description</b> <u>The requested \
resource ({path}) is not available.</u></p><HR size="1" noshade="noshade">\
<h3>Apache Tomcat/6.0.18</h3></body></html>"""


class _Rejected(Exception):  # noqa: N818
    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class MeridianServlet(Backend):
    """A servlet that answers 200 and a return code."""

    def __init__(self) -> None:
        super().__init__()
        self.agent_rows: dict[str, dict[str, Any]] = {}  # by token
        self.task_rows: dict[int, dict[str, Any]] = {
            number: {
                "TSK_NO": number,
                "TSK_TYP": "UPCASE",
                "TSK_DESC": "CONVERT SRC_TXT TO UPPER CASE",
                "SRC_TXT": text,
                "RWD_AMT": amount,
                "RWD_UNIT": "CR",
                "STAT_CD": "OPEN",
                "CRE_DT": date.today().strftime("%Y%m%d"),  # noqa: DTZ011
            }
            for number, text, amount in _WORK
        }
        self.assignments: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(number): row["SRC_TXT"] for number, row in self.task_rows.items()}

    def missing(self, request: Request) -> Response:
        headers = {"Content-Type": "text/html;charset=utf-8"}
        return Response(404, _PAGE.format(path=request.path), headers)

    def register(self, request: Request) -> Response:
        number = f"A{7001 + len(self.agent_rows):07d}"
        token = secrets.token_hex(16).upper()
        self.agent_rows[token] = {"AGT_NO": number, "BAL": 100}
        self.book.registrations += 1
        return self._ok({"agent_id": number, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        limit = request.query.get("limit", "50")
        if not limit.isdecimal() or not int(limit):
            return self._no("0021", "LIMIT NOT NUMERIC OR ZERO")
        rows = list(self.task_rows.values())
        shown = rows[: min(int(limit), 50)]
        count = {
            "REC_CNT": len(shown),
            "MORE_IND": "Y" if len(shown) < len(rows) else "N",
        }
        return self._ok(count | {"TSK_LIST": {"TSK": shown}})

    marketplace = tasks

    def agents(self, request: Request) -> Response:
        rows = [
            {"AGT_NO": row["AGT_NO"], "STAT_CD": "ACT"}
            for row in self.agent_rows.values()
        ]
        return self._ok({"REC_CNT": len(rows), "AGT_LIST": {"AGT": rows}})

    def directory(self, request: Request) -> Response:
        if "slug" not in request.query:
            return self.agents(request)
        for row in self.agent_rows.values():
            if row["AGT_NO"] == request.query["slug"]:
                return self._ok({"AGT": {"AGT_NO": row["AGT_NO"], "STAT_CD": "ACT"}})
        return self._no("0104", "AGENT NOT ON FILE")

    def claim(self, request: Request) -> Response:
        return self._transaction(request, self._claim)

    def submit(self, request: Request) -> Response:
        return self._transaction(request, self._submit)

    def complete(self, request: Request) -> Response:
        return self._transaction(request, self._complete)

    def post(self, request: Request) -> Response:
        return self._no("0990", "FUNCTION NOT AVAILABLE")

    def checkout(self, request: Request) -> Response:
        try:
            given = self._body(request)
            for name in ("plan", "agent_id", "price_id"):
                self._string(given, name)
            for name in ("requested_credits", "amount_cents"):
                self._long(given, name)
        except _Rejected as rejected:
            return self._no(rejected.code, str(rejected))
        key = f"S{secrets.randbelow(10**9):09d}"
        url = f"https://pay.example.com/servlet/Pay?sid={key}"
        return self._ok({"ok": True, "sessionId": key, "url": url, "mode": "live"})

    # Transactions

    def _claim(self, agent: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
        row = self.task_rows.get(self._long(given, "TSK_NO"))
        if row is None:
            raise _Rejected("0301", "TASK NOT ON FILE")
        if row["STAT_CD"] != "OPEN":
            raise _Rejected("0302", f"TASK NOT OPEN, STAT_CD={row['STAT_CD']}")
        number = f"{len(self.assignments) + 42:05d}-{row['TSK_NO'] % 97:02d}"
        self.assignments[number] = {
            "ASGN_NO": number,
            "TSK_NO": row["TSK_NO"],
            "AGT_NO": agent["AGT_NO"],
            "STAT_CD": "ASGD",
            "DUE_DT": (date.today() + timedelta(days=3)).strftime("%Y%m%d"),  # noqa: DTZ011
        }
        row["STAT_CD"] = "ASGD"
        self.book.claimed(str(row["TSK_NO"]))
        return {"ASGN": dict(self.assignments[number])}

    def _submit(self, agent: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
        row = self._assignment(agent, given)
        text = self._string(given, "RSLT_TXT")
        day = self._string(given, "WORK_DT")
        try:
            if len(day) != 8:
                raise ValueError(day)
            datetime.strptime(day, "%Y%m%d")  # noqa: DTZ007
        except ValueError:
            raise _Rejected("0203", "WORK_DT INVALID DATE, YYYYMMDD") from None
        if row["STAT_CD"] != "ASGD":
            raise _Rejected("0402", f"RESULT NOT EXPECTED, STAT_CD={row['STAT_CD']}")
        if text != self.task_rows[row["TSK_NO"]]["SRC_TXT"].upper():
            raise _Rejected(
                "0410", "RESULT REJECTED, RSLT_TXT NOT UPPER CASE OF SRC_TXT"
            )
        row["STAT_CD"] = self.task_rows[row["TSK_NO"]]["STAT_CD"] = "RCVD"
        row["RCPT_NO"] = f"R{secrets.randbelow(10**8):08d}"
        return {"ASGN_NO": row["ASGN_NO"], "STAT_CD": "RCVD", "RCPT_NO": row["RCPT_NO"]}

    def _complete(self, agent: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
        row = self._assignment(agent, given)
        receipt = self._string(given, "RCPT_NO")
        if row["STAT_CD"] == "PAID":
            raise _Rejected("0502", "ALREADY PAID")
        if row["STAT_CD"] != "RCVD":
            raise _Rejected("0501", "NO RESULT ON FILE")
        if receipt != row["RCPT_NO"]:
            raise _Rejected("0503", "RCPT_NO DOES NOT MATCH")
        task = self.task_rows[row["TSK_NO"]]
        row["STAT_CD"] = task["STAT_CD"] = "PAID"
        agent["BAL"] += int(task["RWD_AMT"])
        self.book.pay(str(row["TSK_NO"]), int(task["RWD_AMT"]))
        paid = {
            "ASGN_NO": row["ASGN_NO"],
            "STAT_CD": "PAID",
            "PAID_AMT": task["RWD_AMT"],
        }
        return paid | {"NEW_BAL": f"{agent['BAL']:06d}"}

    def _assignment(
        self, agent: dict[str, Any], given: dict[str, Any]
    ) -> dict[str, Any]:
        row = self.assignments.get(self._string(given, "ASGN_NO"))
        if row is None:
            raise _Rejected("0401", "ASSIGNMENT NOT ON FILE")
        if row["AGT_NO"] != agent["AGT_NO"]:
            raise _Rejected("0403", "ASSIGNMENT OF OTHER AGENT")
        return row

    # The servlet

    def _transaction(self, request: Request, run: Any) -> Response:
        try:
            agent = self.agent_rows.get(request.token)
            if agent is None:
                raise _Rejected("0101", "NOT LOGGED ON")
            given = self._body(request)
            if self._string(given, "AGT_NO") != agent["AGT_NO"]:
                raise _Rejected("0102", "AGT_NO DOES NOT MATCH TOKEN")
            return self._ok(run(agent, given))
        except _Rejected as rejected:
            return self._no(rejected.code, str(rejected))

    def _body(self, request: Request) -> dict[str, Any]:
        try:
            given = request.json()
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise _Rejected("0011", "REQUEST NOT A JSON OBJECT")
        return given

    def _string(self, given: dict[str, Any], name: str) -> str:
        value = given.get(name)
        if value is None or value == "":
            raise _Rejected("0201", f"{name} MISSING")
        if isinstance(value, dict | list | bool):
            raise _Rejected("0204", f"{name} NOT ALPHANUMERIC")
        return str(value)

    def _long(self, given: dict[str, Any], name: str) -> int:
        text = self._string(given, name)
        if not text.isdecimal():
            raise _Rejected("0202", f"{name} NOT NUMERIC")
        return int(text)

    def _ok(self, fields: dict[str, Any]) -> Response:
        return self._answer({"RC": "0000", "RMSG": "OK"} | fields)

    def _no(self, code: str, text: str) -> Response:
        answer = self._answer({"RC": code, "RMSG": text})
        answer.refused = True
        return answer

    def _answer(self, body: dict[str, Any]) -> Response:
        headers = {
            "Content-Type": "application/json;charset=ISO-8859-1",
            "X-Powered-By": "Servlet/2.5",
            "Pragma": "no-cache",
        }
        return Response(200, body | {"TS": datetime.now().strftime(_STAMP)}, headers)  # noqa: DTZ005
