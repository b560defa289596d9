"""A London law firm's engrossing department, with an in-house interface of its own.

Matters are keyed by docket; the clause is disclosed in the letter of engagement only.
An engrossment found in order is paid when it is lodged; completion closes the file.
"""

import secrets
from datetime import date, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_MATTERS = [
    (
        "HP/0412/C",
        "Re Ashdown Settlement",
        "Private Client",
        40,
        "the trustees shall stand possessed of the trust fund upon trust",
    ),
    (
        "HP/0415/R",
        "Lease of 14 Tanner Row",
        "Real Property",
        25,
        "the tenant covenants to pay the yearly rent without deduction",
    ),
    (
        "HP/0419/S",
        "Merrow Shipping v Colbeck",
        "Disputes",
        75,
        "the defendant undertakes not to dispose of the vessel 'Linnet'",
    ),
    (
        "HP/0423/C",
        "Will of E. M. Farrant",
        "Private Client",
        18,
        "I revoke all former wills and declare this to be my last will",
    ),
    (
        "HP/0427/K",
        "Share sale, Odell & Daughters",
        "Corporate",
        55,
        "completion shall take place at noon on the third business day",
    ),
    (
        "HP/0431/R",
        "Easement at Priory Lane",
        "Real Property",
        12,
        "a right of way on foot only over the land edged blue",
    ),
    (
        "HP/0436/K",
        "Guarantee for Brightwell Bank",
        "Corporate",
        33,
        "this guarantee is a continuing security and shall bind the guarantor",
    ),
]
_INSTRUCTION = (
    "Engross the clause in capital letters throughout, word for word; "
    "alter neither punctuation nor spacing."
)


def _wording(wanted: list[str]) -> str:
    return (
        wanted[0] if len(wanted) == 1 else ", ".join(wanted[:-1]) + " and " + wanted[-1]
    )


class _Declined(Exception):  # noqa: N818
    def __init__(self, status: int, re: str, text: str, **headers: str) -> None:
        super().__init__(text)
        memorandum = {
            "from": "Docketing Clerk",
            "re": re,
            "date": date.today().strftime("%d %B %Y"),  # noqa: DTZ011
            "text": text,
        }
        self.response = Response(status, {"memorandum": memorandum}, headers)


class LawChambers(Backend):
    """Harcourt & Pell LLP."""

    def __init__(self) -> None:
        super().__init__()
        self._matters: dict[str, dict[str, Any]] = {
            docket: {
                "style": style,
                "department": department,
                "fee": fee,
                "clause": clause,
                "standing": "uninstructed",
            }
            for docket, style, department, fee, clause in _MATTERS
        }
        self._fee_earners: dict[str, str] = {}  # token -> agent
        self._ledger: dict[str, int] = {}
        self._engagements: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {docket: m["clause"] for docket, m in self._matters.items()}

    def missing(self, request: Request) -> Response:
        return _Declined(
            404,
            request.path,
            "The firm keeps no such counter. Kindly check the address.",
        ).response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = f"FE{self.book.registrations:04d}-{secrets.token_hex(3)}"
        token = "hp_" + secrets.token_hex(20)
        self._fee_earners[token] = agent
        self._ledger[agent] = 100
        return Response(
            200,
            {
                "agent_id": agent,
                "access_token": token,
                "credits": 100,
                "admitted-as": "fee-earner",
            },
        )

    def _docket_sheet(self, limit: int) -> Response:
        """The sheet of matters that await instruction."""
        awaiting = {
            docket: {
                "style-of-matter": m["style"],
                "department": m["department"],
                "honorarium": f"{m['fee']} credits",
                "standing": m["standing"],
                "work-required": "Engrossment of one clause. " + _INSTRUCTION,
                "disclosure": "The clause is disclosed in the letter of engagement.",
            }
            for docket, m in self._matters.items()
            if m["standing"] == "uninstructed"
        }
        shown = dict(list(awaiting.items())[:limit])
        sheet = {"matters-awaiting-instruction": len(awaiting), "dockets": shown}
        return Response(200, {"docket-sheet": sheet})

    def marketplace(self, request: Request) -> Response:
        return self._docket_sheet(100)

    def tasks(self, request: Request) -> Response:
        try:
            self._fee_earner(request)
        except _Declined as no:
            return no.response
        text = request.query.get("limit", "25")
        if not (text.isascii() and text.isdigit() and int(text)):
            return _Declined(
                400,
                "Docket sheet",
                f"'{text[:40]}' is no number of matters. "
                "Kindly state limit as a whole number of one or more.",
            ).response
        return self._docket_sheet(min(int(text), 25))

    def _fee_earner(self, request: Request) -> str:
        agent = self._fee_earners.get(request.token)
        if agent is None:
            raise _Declined(
                401,
                "Standing of the applicant",
                "You are not on the roll of fee-earners. Kindly present the bearer token "
                "issued to you on admission.",
                **{"WWW-Authenticate": 'Bearer realm="Harcourt & Pell"'},
            )
        return agent

    def _paper(
        self, request: Request, title: str, wanted: dict[str, str]
    ) -> dict[str, Any]:
        """Return the paper inside the body, once it states everything that is wanted."""
        try:
            body = request.json()
        except ValueError:
            raise _Declined(
                400, title, "Your letter could not be read; it is not JSON."
            ) from None
        paper = body.get(title) if isinstance(body, dict) else None
        if not isinstance(paper, dict):
            raise _Declined(
                400,
                title,
                f"Papers at this counter are presented as an object under the heading '{title}', "
                f"stating {_wording([repr(name) for name in wanted])}.",
            )
        absent = [
            f"'{n}' ({why})" for n, why in wanted.items() if paper.get(n) in (None, "")
        ]
        if absent:
            raise _Declined(
                400,
                title,
                f"The {title} is incomplete. Kindly state {_wording(absent)}.",
            )
        return paper

    def claim(self, request: Request) -> Response:
        try:
            agent = self._fee_earner(request)
            paper = self._paper(
                request,
                "retainer",
                {
                    "docket": "the docket reference of the matter",
                    "fee-earner": "your agent_id",
                    "conflict-check": "true, if you have no conflict of interest",
                },
            )
            return self._retain(agent, paper)
        except _Declined as no:
            return no.response

    def _retain(self, agent: str, paper: dict[str, Any]) -> Response:
        docket = str(paper["docket"])
        if docket not in self._matters:
            raise _Declined(
                404, docket, f"No matter is entered under docket '{docket}'."
            )
        if paper["fee-earner"] != agent:
            raise _Declined(
                403,
                docket,
                "The fee-earner named is not the bearer of the token presented.",
            )
        if paper["conflict-check"] is not True:
            raise _Declined(
                403,
                docket,
                "We cannot instruct you unless 'conflict-check' is declared true.",
            )
        matter = self._matters[docket]
        if matter["standing"] != "uninstructed":
            raise _Declined(
                409,
                docket,
                "Another fee-earner has been instructed in this matter."
                if matter["agent"] != agent
                else "You have already been instructed in this matter.",
            )
        engagement = f"ENG-{secrets.token_hex(4).upper()}"
        self._engagements[engagement] = {
            "agent": agent,
            "docket": docket,
            "fee-note": None,
        }
        matter.update(standing="instructed", agent=agent)
        self.book.claimed(docket)
        return Response(
            200,
            {
                "letter-of-engagement": {
                    "engagement": engagement,
                    "docket": docket,
                    "standing": "instructed",
                    "instruction": _INSTRUCTION,
                    "schedule": {"clause": matter["clause"]},
                    "return-by": (date.today() + timedelta(days=2)).strftime(  # noqa: DTZ011
                        "%d %B %Y"
                    ),
                }
            },
        )

    def _engagement(self, agent: str, reference: Any) -> dict[str, Any]:
        engagement = self._engagements.get(str(reference))
        if engagement is None or engagement["agent"] != agent:
            raise _Declined(
                404, str(reference), "We hold no such letter of engagement with you."
            )
        return engagement

    def submit(self, request: Request) -> Response:
        try:
            agent = self._fee_earner(request)
            paper = self._paper(
                request,
                "lodgement",
                {
                    "engagement": "the reference in your letter of engagement",
                    "engrossment": "the engrossed clause",
                    "covering-note": "a line to the supervising partner",
                },
            )
            return self._lodge(agent, paper)
        except _Declined as no:
            return no.response

    def _lodge(self, agent: str, paper: dict[str, Any]) -> Response:
        engagement = self._engagement(agent, paper["engagement"])
        docket = engagement["docket"]
        if engagement["fee-note"]:
            raise _Declined(
                409, docket, "An engrossment has already been lodged and settled."
            )
        matter = self._matters[docket]
        if paper["engrossment"] != matter["clause"].upper():
            # The partner's verdict is an ordinary answer; the engagement stays open.
            return Response(
                200,
                {
                    "receipt": {
                        "docket": docket,
                        "standing": "returned for amendment",
                        "partner-remarks": "The engrossment does not agree with the clause as "
                        "instructed. Nothing is payable; you may lodge it afresh.",
                    }
                },
                refused=True,
            )
        engagement["fee-note"] = f"FN/{date.today().year}/{len(self.book.paid) + 1:03d}"  # noqa: DTZ011
        matter["standing"] = "settled"
        self.book.pay(docket, matter["fee"])
        self._ledger[agent] += matter["fee"]
        return Response(
            200,
            {
                "receipt": {
                    "docket": docket,
                    "standing": "settled",
                    "fee-note": engagement["fee-note"],
                    "honorarium-paid": f"{matter['fee']} credits",
                    "ledger-balance": f"{self._ledger[agent]} credits",
                }
            },
        )

    def complete(self, request: Request) -> Response:
        try:
            agent = self._fee_earner(request)
            paper = self._paper(
                request,
                "closing",
                {
                    "engagement": "the reference in your letter of engagement",
                    "fee-note": "the number of the fee note on your receipt",
                },
            )
            engagement = self._engagement(agent, paper["engagement"])
            docket = engagement["docket"]
            if engagement["fee-note"] is None:
                raise _Declined(
                    409,
                    docket,
                    "The file cannot be closed: no engrossment in order "
                    "has been lodged.",
                )
            if paper["fee-note"] != engagement["fee-note"]:
                raise _Declined(
                    409, docket, "That fee note was not issued in this matter."
                )
            self._matters[docket]["standing"] = "file closed"
            return Response(
                200, {"closing-letter": {"docket": docket, "standing": "file closed"}}
            )
        except _Declined as no:
            return no.response
