"""City of Harrowgate, Office of Public Notices: PascalCase and problem details."""

import secrets
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

NOTICES = [
    # case number, department, compensation, text, status
    (
        20417,
        "Parks and Greens",
        18,
        "the duck pond is closed for dredging",
        "Unassigned",
    ),
    (
        20418,
        "Parks and Greens",
        7,
        "no ball games after eight in the evening",
        "Unassigned",
    ),
    (
        20422,
        "Roads and Bridges",
        26,
        "mill bridge carries one lane until october",
        "Unassigned",
    ),
    (20425, "Roads and Bridges", 13, "resurfacing of weaver street", "Published"),
    (20431, "Civil Registry", 10, "counter four is open on saturdays", "Unassigned"),
]


class Stadtamt(Backend):
    """A city office: notices by department, integer case numbers, RFC 9457 refusals.

    A claim takes `CaseNumber` (a number) and answers an `AssignmentId` and the `NoticeText`.
    A submission takes `AssignmentId` and `Document` {`Content`, `Language`}, the language one
    of those listed. Completion takes `AssignmentId` and `DeclarationOfAccuracy` true, and pays
    `CompensationCredits`. All faults of a body come at once in `Errors`.
    """

    languages = ("en-GB", "cy-GB")

    def __init__(self) -> None:
        super().__init__()
        self.clerks: dict[str, dict[str, Any]] = {}
        self.cases = {
            number: {
                "Number": number,
                "Department": department,
                "Compensation": pay,
                "Text": text,
                "Status": status,
                "Assignment": None,
                "Clerk": None,
            }
            for number, department, pay, text, status in NOTICES
        }

    def texts(self) -> dict[str, str]:
        """Return the text of every notice that nobody has."""
        return {
            str(n): text for n, _, _, text, status in NOTICES if status == "Unassigned"
        }

    @staticmethod
    def problem(
        status: int, kind: str, title: str, detail: str, errors: Any = None
    ) -> Response:
        """Return problem details."""
        body = {
            "type": f"https://notices.harrowgate.example/problems/{kind}",
            "title": title,
            "status": status,
            "detail": detail,
        }
        if errors:
            body["Errors"] = errors
        return Response(status, body, {"Content-Type": "application/problem+json"})

    def invalid(self, errors: dict[str, list[str]]) -> Response:
        """Return every fault of a body."""
        return self.problem(
            400,
            "validation",
            "The form is not filled in correctly",
            f"{len(errors)} field(s) need attention.",
            errors,
        )

    def register(self, request: Request) -> Response:
        """Admit a clerk."""
        clerk, token = f"C-{secrets.randbelow(90000) + 10000}", secrets.token_hex(24)
        self.clerks[token] = {"ClerkNumber": clerk, "Balance": 100}
        self.book.registrations += 1
        return Response(200, {"agent_id": clerk, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        """List the notices of each department."""
        limit = request.query.get("limit", "100")
        if not limit.isdigit() or int(limit) < 1:
            return self.invalid({"limit": ["limit must be a positive whole number."]})
        departments: dict[str, list[Any]] = {}
        for case in list(self.cases.values())[: int(limit)]:
            departments.setdefault(str(case["Department"]), []).append(
                {
                    "CaseNumber": case["Number"],
                    "Subject": "Set a public notice in capital letters",
                    "Status": case["Status"],
                    "CompensationCredits": case["Compensation"],
                }
            )
        return Response(
            200,
            {
                "Office": "Office of Public Notices",
                "AcceptedLanguages": list(self.languages),
                "Departments": [
                    {"Name": name, "Notices": rows}
                    for name, rows in departments.items()
                ],
            },
        )

    marketplace = tasks

    def enter(
        self, request: Request
    ) -> tuple[dict[str, Any], dict[str, Any]] | Response:
        """Return the clerk and the form, or a problem."""
        clerk = self.clerks.get(request.token)
        if clerk is None:
            return self.problem(
                401,
                "identification",
                "Identification required",
                "A valid bearer token must accompany this request.",
            )
        try:
            form = request.json()
        except ValueError:
            form = None
        if not isinstance(form, dict):
            return self.problem(
                400,
                "unreadable",
                "The form cannot be read",
                "The body must be a JSON object.",
            )
        return clerk, form

    def claim(self, request: Request) -> Response:
        """Assign a notice."""
        entered = self.enter(request)
        if isinstance(entered, Response):
            return entered
        clerk, form = entered
        number = form.get("CaseNumber")
        if number is None:
            return self.invalid({"CaseNumber": ["CaseNumber is mandatory."]})
        if not isinstance(number, int) or isinstance(number, bool):
            return self.invalid({"CaseNumber": ["CaseNumber must be a whole number."]})
        case = self.cases.get(number)
        if case is None:
            return self.problem(
                404, "unknown-case", "Unknown case", f"There is no case {number}."
            )
        if case["Clerk"] != clerk["ClerkNumber"]:
            if case["Status"] != "Unassigned":
                return self.problem(
                    409,
                    "not-available",
                    "Case not available",
                    f"Case {number} has the status {case['Status']}.",
                )
            case.update(
                Status="Assigned",
                Clerk=clerk["ClerkNumber"],
                Assignment=str(uuid.uuid4()),
            )
            self.book.claimed(str(number))
        return Response(
            200,
            {
                "AssignmentId": case["Assignment"],
                "CaseNumber": number,
                "Status": case["Status"],
                "NoticeText": case["Text"],
                "Instruction": "Return the notice text in capital letters.",
            },
        )

    def assigned(
        self, clerk: dict[str, Any], form: dict[str, Any], errors: dict[str, list[str]]
    ) -> dict[str, Any] | Response:
        """Return the case of an assignment, or a problem."""
        assignment = form.get("AssignmentId")
        if not isinstance(assignment, str):
            errors["AssignmentId"] = ["AssignmentId is mandatory and must be a string."]
        if errors:
            return self.invalid(errors)
        for case in self.cases.values():
            if case["Assignment"] == assignment:
                if case["Clerk"] != clerk["ClerkNumber"]:
                    return self.problem(
                        403,
                        "not-assigned",
                        "Not your assignment",
                        "This assignment belongs to another clerk.",
                    )
                return case
        return self.problem(
            404,
            "unknown-assignment",
            "Unknown assignment",
            "No assignment has this AssignmentId.",
        )

    def submit(self, request: Request) -> Response:
        """Receive the document."""
        entered = self.enter(request)
        if isinstance(entered, Response):
            return entered
        clerk, form = entered
        errors: dict[str, list[str]] = {}
        document = form.get("Document")
        if not isinstance(document, dict):
            errors["Document"] = ["Document is mandatory and must be an object."]
            document = {}
        if not isinstance(document.get("Content"), str) or not document.get("Content"):
            errors["Document.Content"] = [
                "Document.Content is mandatory and must be a string."
            ]
        if document.get("Language") not in self.languages:
            errors["Document.Language"] = [
                "Document.Language must be one of: en-GB, cy-GB."
            ]
        case = self.assigned(clerk, form, errors)
        if isinstance(case, Response):
            return case
        if document["Content"] != case["Text"].upper():
            return self.problem(
                422,
                "content-rejected",
                "Document rejected",
                "Document.Content must be the NoticeText in capital letters.",
            )
        if case["Status"] == "Assigned":
            case["Status"] = "Received"
        return Response(
            200, {"AssignmentId": case["Assignment"], "Status": case["Status"]}
        )

    def complete(self, request: Request) -> Response:
        """Publish the notice and compensate the clerk."""
        entered = self.enter(request)
        if isinstance(entered, Response):
            return entered
        clerk, form = entered
        errors: dict[str, list[str]] = {}
        if form.get("DeclarationOfAccuracy") is not True:
            errors["DeclarationOfAccuracy"] = ["DeclarationOfAccuracy must be true."]
        case = self.assigned(clerk, form, errors)
        if isinstance(case, Response):
            return case
        if case["Status"] == "Assigned":
            return self.problem(
                409,
                "no-document",
                "No document received",
                "Submit the document before completing the assignment.",
            )
        if case["Status"] == "Received":
            case["Status"] = "Published"
            clerk["Balance"] += case["Compensation"]
            self.book.pay(str(case["Number"]), case["Compensation"])
        return Response(
            200,
            {
                "AssignmentId": case["Assignment"],
                "Status": case["Status"],
                "CompensationCredits": case["Compensation"],
                "Balance": clerk["Balance"],
            },
        )
