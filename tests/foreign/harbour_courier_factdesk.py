"""The Harbour Courier's fact desk: outside checkers look at assertions before print.

Django REST framework throughout: count, next, previous and results (limit and offset,
five at a time), integer keys, errors as lists by field, `detail` for the rest. Taking a
check is 201 with an assignment of its own key; the finding goes there with a verdict
from the list that each check carries. An editor signs off at the second look
afterwards, be it the listing, the assignment's url or complete (which only asks how
things stand); then the fee, a decimal string with its unit, is paid. A finding that is
no good comes back as `returned`.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

CHECKS = [
    # key, desk, fee in credits, assertion
    (412, "Politics", 15, "The council voted twice on the harbour toll in March."),
    (413, "Economy", 20, "Container traffic fell by four per cent last year."),
    (415, "Sports", 8, "The regatta has been held without a break since 1921."),
    (418, "Culture", 12, "The organ of St Anne's has more than 3,000 pipes."),
    (419, "Politics", 25, "No mayor before Ms Hallgrimsson served three terms."),
    (421, "Local", 10, "The night ferry stops running at the end of October."),
    (426, "Science", 30, "Eelgrass in the bay has doubled its area since 2010."),
    (430, "Economy", 18, "The shipyard employs every tenth resident of Quayside."),
]
STAFF = [(416, "Local", 14, "The lighthouse was painted green during the war.")]
VERDICTS = ["accurate", "misleading", "inaccurate", "unproven"]
REQUIRED = "This field is required."


class HarbourCourierFactdesk(Backend):
    """Checks, assignments, findings."""

    def __init__(self) -> None:
        """Fill the desk."""
        super().__init__()
        self.checks = {row[0]: row for row in sorted(CHECKS + STAFF)}
        self.status = {row[0]: "unassigned" for row in CHECKS}
        self.status |= {row[0]: "assigned" for row in STAFF}
        self.checkers: dict[str, str] = {}
        self.assignments: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the assertion of every check that nobody has."""
        return {str(row[0]): row[3] for row in CHECKS}

    def missing(self, request: Request) -> Response:
        """Say not found."""
        return Response(404, {"detail": "Not found."})

    def register(self, request: Request) -> Response:
        """Make out a press card."""
        self.book.registrations += 1
        name, token = f"checker-{31 + len(self.checkers)}", secrets.token_hex(20)
        self.checkers[token] = name
        return Response(201, {"agent_id": name, "token": token, "credits": 100})

    def _denied(self, request: Request) -> Response | None:
        if request.token in self.checkers:
            return None
        word = (
            "Invalid token."
            if request.token
            else ("Authentication credentials were not provided.")
        )
        return Response(401, {"detail": word}, {"WWW-Authenticate": "Bearer"})

    def _look(self, assignment: dict[str, Any]) -> None:
        """Let the editor come nearer to a finding that waits."""
        check = assignment["check"]
        if self.status[check] != "with_editor":
            return
        assignment["looks"] += 1
        if assignment["looks"] < 2:
            return
        if assignment["finding"] == self.checks[check][3].upper():
            self.status[check] = "signed_off"
            self.book.pay(str(check), self.checks[check][2])
        else:
            self.status[check] = "returned"

    def marketplace(self, request: Request) -> Response:
        """List the checks."""
        for assignment in self.assignments.values():
            self._look(assignment)
        numbers = [request.query.get("limit", "5"), request.query.get("offset", "0")]
        limit, offset = (
            int(text) if text.isdecimal() else default
            for text, default in zip(numbers, (5, 0), strict=True)
        )
        limit = min(limit or 5, 5)
        rows = list(self.checks.values())
        results = [
            {
                "id": key,
                "desk": desk,
                "assertion": assertion,
                "status": self.status[key],
                "verdict_choices": VERDICTS,
                "fee": f"{fee}.00",
                "fee_unit": "credits",
            }
            for key, desk, fee, assertion in rows[offset : offset + limit]
        ]
        url = f"{request.base}{request.path}?limit={limit}&offset="
        more, back = offset + limit < len(rows), max(offset - limit, 0)
        page = {
            "count": len(rows),
            "next": f"{url}{offset + limit}" if more else None,
            "previous": f"{url}{back}" if offset else None,
        }
        return Response(200, {**page, "results": results})

    def tasks(self, request: Request) -> Response:
        """List the checks for a checker."""
        return self._denied(request) or self.marketplace(request)

    def document(self, request: Request) -> Response:
        """Show a checker's assignment."""
        parts = request.path.strip("/").split("/")
        if len(parts) != 2 or parts[0] != "assignments" or not parts[1].isdecimal():
            return self.missing(request)
        assignment = self.assignments.get(int(parts[1]))
        if denied := self._denied(request):
            return denied
        if not assignment or assignment["checker"] != self.checkers[request.token]:
            return self.missing(request)
        self._look(assignment)
        return Response(200, self._show(int(parts[1]), request))

    def _show(self, key: int, request: Request) -> dict[str, Any]:
        assignment = self.assignments[key]
        check = assignment["check"]
        shown = {
            "id": key,
            "url": f"{request.base}/assignments/{key}/",
            "check": check,
            "checker": assignment["checker"],
            "status": self.status[check],
        }
        if self.status[check] == "signed_off":
            shown |= {"fee_paid": f"{self.checks[check][2]}.00", "fee_unit": "credits"}
        if self.status[check] == "returned":
            shown["editor_note"] = "Does not stand up. Please look at it again."
        return shown

    def _fields(self, request: Request, known: dict[str, Any], *texts: str) -> Any:
        """Return the fields of the body, the first as a key of what is known."""
        if denied := self._denied(request):
            return denied
        try:
            body = request.json() if request.raw else {}
        except ValueError as error:
            return Response(400, {"detail": f"JSON parse error - {error}"})
        if not isinstance(body, dict):
            word = "Invalid data. Expected a dictionary."
            return Response(400, {"non_field_errors": [word]})
        errors: dict[str, list[str]] = {}
        fields: dict[str, Any] = {}
        for name, objects in known.items():
            value = body.get(name)
            if isinstance(value, str) and value.isdecimal():
                value = int(value)
            if value is None:
                errors[name] = [REQUIRED]
            elif isinstance(value, bool) or not isinstance(value, int):
                kind = type(value).__name__
                errors[name] = [f"Incorrect type. Expected pk value, received {kind}."]
            elif value not in objects:
                errors[name] = [f'Invalid pk "{value}" - object does not exist.']
            fields[name] = value
        for name in texts:
            value = body.get(name)
            if value is None:
                errors[name] = [REQUIRED]
            elif not isinstance(value, str):
                errors[name] = ["Not a valid string."]
            elif not value.strip():
                errors[name] = ["This field may not be blank."]
            elif name == "verdict" and value not in VERDICTS:
                errors[name] = [f'"{value}" is not a valid choice.']
            fields[name] = value
        return Response(400, errors) if errors else fields

    def claim(self, request: Request) -> Response:
        """Assign a check to a checker."""
        fields = self._fields(request, {"check": self.checks})
        if isinstance(fields, Response):
            return fields
        check, checker = fields["check"], self.checkers[request.token]
        if self.status[check] != "unassigned":
            word = "This check is assigned to somebody else."
            for key, row in self.assignments.items():
                if row["check"] == check and row["checker"] == checker:
                    word = f"This check is yours already (assignment {key})."
            return Response(400, {"non_field_errors": [word]})
        key = 9001 + len(self.assignments)
        self.assignments[key] = {"check": check, "checker": checker, "looks": 0}
        self.status[check] = "assigned"
        self.book.claimed(str(check))
        return Response(201, self._show(key, request))

    def _mine(self, request: Request, *texts: str) -> Any:
        checker = self.checkers.get(request.token)
        rows = self.assignments.items()
        mine = {key: row for key, row in rows if row["checker"] == checker}
        return self._fields(request, {"assignment": mine}, *texts)

    def submit(self, request: Request) -> Response:
        """Lay a finding before the editor."""
        fields = self._mine(request, "verdict", "finding")
        if isinstance(fields, Response):
            return fields
        assignment = self.assignments[fields["assignment"]]
        if self.status[assignment["check"]] not in ("assigned", "returned"):
            word = "A finding has been filed for this assignment."
            return Response(400, {"non_field_errors": [word]})
        self.status[assignment["check"]] = "with_editor"
        assignment |= {"finding": fields["finding"], "looks": 0}
        return Response(201, self._show(fields["assignment"], request))

    def complete(self, request: Request) -> Response:
        """Say how an assignment stands."""
        fields = self._mine(request)
        if isinstance(fields, Response):
            return fields
        self._look(self.assignments[fields["assignment"]])
        return Response(200, self._show(fields["assignment"], request))
