"""RADTRAN, the transcription desk of a hospital's radiology: in-house, grown since 1994.

The old core answers 200 to everything and says in hdr.rc whether it meant it; the gateway
put before it in 2017 answers 401 in its own format. The dictation comes with the lock of a
claimed accession, a right report is credited when it is filed, and signing off frees the
desk for the next one.
"""

from typing import Any

from tests.foreign.backend import Backend, Request, Response

DICTATIONS = [
    (
        "26-004417",
        "4W",
        "CHEST PA/LAT",
        "R",
        "lungs are clear. no pleural effusion.",
        12,
    ),
    ("26-004418", "ED", "L WRIST 3V", "S", "buckle fracture of the distal radius.", 25),
    ("26-004421", "OP", "ABD US", "R", "gallbladder wall 2 mm, no stones seen.", 18),
    ("26-004425", "ICU", "CHEST PORT", "S", "ett tip 4 cm above the carina.", 30),
    ("26-004426", "OP", "R KNEE 2V", "R", "mild medial joint space narrowing.", 10),
    ("26-004430", "3E", "CT HEAD W/O", "S", "no acute intracranial hemorrhage.", 35),
]
STATUS = {"U": "UNASSIGNED", "A": "ASSIGNED", "P": "FILED, NOT SIGNED", "F": "FINAL"}
DESK = 3  # accessions that one typist may have unsigned
PAGE = 4


def hdr(rc: int = 0, msg: str = "NORMAL COMPLETION") -> dict[str, Any]:
    """Return the header that the core puts on every answer."""
    return {"sys": "RADTRAN", "rel": "7.4c", "rc": rc, "msg": msg}


def abend(rc: int, msg: str, *errs: tuple[str, str, str]) -> Response:
    """Refuse as the core does: with a return code and status 200."""
    body: dict[str, Any] = {"hdr": hdr(rc, msg)}
    if errs:
        body["errs"] = [{"FLD": f, "CD": c, "txt": t} for f, c, t in errs]
    return Response(200, body, refused=True)


class RadiologyDesk(Backend):
    """The transcription work list."""

    def __init__(self) -> None:
        super().__init__()
        self.typists: dict[str, str] = {}
        self.rows: dict[str, dict[str, Any]] = {
            acc: {
                "ward": ward,
                "proc": proc,
                "prio": prio,
                "text": text,
                "rate": rate,
                "stat": "U",
                "typist": "",
                "lock": 0,
                "report": "",
            }
            for acc, ward, proc, prio, text, rate in DICTATIONS
        }
        self.next_lock = 88210
        self.next_report = 510300

    def texts(self) -> dict[str, str]:
        """Return every dictation."""
        return {acc: row["text"] for acc, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        """Answer as the gateway does for a path without a route."""
        return Response(
            404,
            {
                "fault": {
                    "faultstring": "Unable to identify proxy for host: radtran and url: "
                    + request.path,
                    "detail": {
                        "errorcode": "messaging.adaptors.http.flow.ApplicationNotFound"
                    },
                }
            },
        )

    def register(self, request: Request) -> Response:
        """Give a typist a number."""
        self.book.registrations += 1
        typist = f"T{6000 + self.book.registrations}"
        token = f"RADT{self.book.registrations:03d}{id(self):X}"
        self.typists[token] = typist
        return Response(
            200, {"agent_id": typist, "access_token": token, "credits": 100}
        )

    def _open(self, request: Request) -> tuple[str, dict[str, Any]] | Response:
        typist = self.typists.get(request.token)
        if typist is None:
            return Response(
                401,
                {
                    "fault": {
                        "faultstring": "Invalid Access Token",
                        "detail": {
                            "errorcode": "keymanagement.service.invalid_access_token"
                        },
                    }
                },
            )
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return abend(90, "TRANSACTION BODY UNREADABLE - JSON OBJECT EXPECTED")
        return typist, body

    def _row(self, acc: str) -> dict[str, Any]:
        row = self.rows[acc]
        return {
            "ACC_NO": acc,
            "WARD": row["ward"],
            "PROC_DESC": row["proc"],
            "PRIO": row["prio"],
            "STAT": row["stat"],
            "STAT_DESC": STATUS[row["stat"]],
            "creditRate": row["rate"],
            "REMARK": "DICTATION ISSUED ON CLAIM. TYPE IT IN CAPITALS, CHANGE NOTHING ELSE",
        }

    def tasks(self, request: Request) -> Response:
        """Show the work list; it needs no token, the screen hangs in the corridor."""
        limit = request.query.get("limit", str(PAGE))
        if not limit.isdecimal() or int(limit) < 1:
            return abend(20, "INPUT ERROR", ("limit", "RT-0105", "NOT NUMERIC OR ZERO"))
        after = request.query.get("resumeKey", "")
        left = [acc for acc in self.rows if acc > after]
        shown = left[: min(int(limit), PAGE)]
        more = len(left) > len(shown)
        answer: dict[str, Any] = {
            "hdr": hdr(
                0, "MORE ROWS - REPEAT WITH resumeKey" if more else "END OF LIST"
            ),
            "WORKLIST": [self._row(acc) for acc in shown],
            "ROW_CNT": len(shown),
            "MORE": "Y" if more else "N",
        }
        if more:
            answer["resumeKey"] = shown[-1]
        return Response(200, answer)

    def claim(self, request: Request) -> Response:
        """Lock an accession to a typist and issue the dictation."""
        opened = self._open(request)
        if isinstance(opened, Response):
            return opened
        typist, body = opened
        for name in ("ACC_NO", "TYPIST_ID"):
            if not body.get(name):
                return abend(
                    20, "INPUT ERROR", (name, "RT-0101", f"{name} IS MANDATORY")
                )
        acc = str(body["ACC_NO"])
        if body["TYPIST_ID"] != typist:
            txt = "TYPIST_ID IS NOT THE AGENT_ID OF THIS TOKEN"
            return abend(20, "INPUT ERROR", ("TYPIST_ID", "RT-0112", txt))
        if acc not in self.rows:
            return abend(31, "ACCESSION NOT ON FILE", ("ACC_NO", "RT-0310", acc))
        row = self.rows[acc]
        if row["stat"] != "U":
            return abend(32, f"ACCESSION {acc} NOT UNASSIGNED - STAT {row['stat']}")
        unsigned = [
            a
            for a, r in self.rows.items()
            if r["typist"] == typist and r["stat"] in ("A", "P")
        ]
        if len(unsigned) >= DESK:
            return abend(
                35,
                f"DESK FULL - {DESK} ACCESSIONS UNSIGNED: {', '.join(unsigned)}. "
                "FILE AND SIGN OFF (complete-task-public) BEFORE CLAIMING",
            )
        self.next_lock += 3
        row.update(stat="A", typist=typist, lock=self.next_lock)
        self.book.claimed(acc)
        return Response(
            200,
            {
                "hdr": hdr(),
                "LOCK_NO": row["lock"],
                "accession": self._row(acc),
                "dictation": {"device": "DICTAPHONE 2", "rawText": row["text"]},
            },
        )

    def submit(self, request: Request) -> Response:
        """File a report under its lock; a right one is credited at once."""
        opened = self._open(request)
        if isinstance(opened, Response):
            return opened
        typist, body = opened
        lock, report = body.get("LOCK_NO"), body.get("report")
        if lock is None:
            return abend(
                20, "INPUT ERROR", ("LOCK_NO", "RT-0101", "LOCK_NO IS MANDATORY")
            )
        if not isinstance(report, dict):
            txt = "report IS MANDATORY - OBJECT WITH rptText, typingMins"
            return abend(20, "INPUT ERROR", ("report", "RT-0101", txt))
        if not isinstance(report.get("rptText"), str) or not report["rptText"]:
            txt = "rptText IS MANDATORY - STRING"
            return abend(20, "INPUT ERROR", ("report.rptText", "RT-0101", txt))
        minutes = report.get("typingMins")
        if type(minutes) is not int or not 1 <= minutes <= 480:
            txt = "typingMins IS MANDATORY - WHOLE MINUTES 1 TO 480"
            return abend(20, "INPUT ERROR", ("report.typingMins", "RT-0103", txt))
        held = [
            a for a, r in self.rows.items() if str(r["lock"]) == str(lock) and r["lock"]
        ]
        if not held or self.rows[held[0]]["typist"] != typist:
            return abend(33, f"LOCK {lock} NOT HELD BY TYPIST {typist}")
        acc, row = held[0], self.rows[held[0]]
        if row["stat"] != "A":
            return abend(34, f"REPORT ALREADY FILED FOR {acc} - {row['report']}")
        if report["rptText"] != row["text"].upper():
            txt = "REPORT IS NOT THE DICTATION IN CAPITALS"
            return abend(41, "QA REJECT", ("report.rptText", "RT-0404", txt))
        self.next_report += 1
        row.update(stat="P", report=f"RPT{self.next_report}")
        self.book.pay(acc, row["rate"])
        filed = {"RPT_NO": row["report"], "ACC_NO": acc, "STAT": "P"}
        filed["STAT_DESC"] = STATUS["P"]
        return Response(
            200, {"hdr": hdr(), "filed": filed, "creditsPosted": row["rate"]}
        )

    def complete(self, request: Request) -> Response:
        """Sign a filed report off."""
        opened = self._open(request)
        if isinstance(opened, Response):
            return opened
        typist, body = opened
        for name in ("RPT_NO", "SIGNED_BY"):
            if not body.get(name):
                return abend(
                    20, "INPUT ERROR", (name, "RT-0101", f"{name} IS MANDATORY")
                )
        rows = [r for r in self.rows.values() if r["report"] == body["RPT_NO"]]
        if not rows:
            return abend(
                31, "REPORT NOT ON FILE", ("RPT_NO", "RT-0311", "FILE IT FIRST")
            )
        if body["SIGNED_BY"] != typist or rows[0]["typist"] != typist:
            txt = "MUST BE THE TYPIST_ID THAT FILED THE REPORT"
            return abend(20, "INPUT ERROR", ("SIGNED_BY", "RT-0112", txt))
        if rows[0]["stat"] == "F":
            return abend(34, f"REPORT {body['RPT_NO']} ALREADY SIGNED")
        rows[0]["stat"] = "F"
        return Response(200, {"hdr": hdr(), "RPT_NO": body["RPT_NO"], "STAT": "F"})
