"""A ServiceNow-like instance: a scoped task table behind scripted REST resources.

Everything is a string, every answer stands under `result`, paging is in the Link header,
and what the platform does not like is refused by a data policy (which speaks of labels), an
access rule or a business rule, each in the platform's own sentences. Closing pays.
"""

from hashlib import md5
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TABLE = "x_agnt_work_task"
RECORDS = [
    ("Asset label for rack 12", "core switch b, row 12", "15", "3"),
    ("Banner for maintenance window", "email will be offline on sunday", "28", "2"),
    ("Door sign, comms room", "authorised staff only", "8", "4"),
    ("Shelf label, spares", "sfp+ modules 10g/25g", "19", "4"),
    ("Title of knowledge article", "how to reset your password", "12", "3"),
    ("Heading for change calendar", "q1 freeze: 15 dec - 3 jan", "33", "1"),
    ("Poster for service desk", "dial 4400 for help", "21", "3"),
    ("Cable tag, uplink", "uplink to pdu-7 / feed a", "10", "4"),
]
LABELS = {
    "assigned_to": "Assigned to",
    "u_result": "Result",
    "work_notes": "Work notes",
    "close_code": "Close code",
    "close_notes": "Close notes",
}
CLOSE_CODES = ("Successful", "Successful with issues")
PAGE = 5


def error(status: int, message: str, detail: str | None = None) -> Response:
    """Refuse as the platform does."""
    return Response(
        status,
        {"error": {"message": message, "detail": detail}, "status": "failure"},
        {"Content-Type": "application/json;charset=UTF-8"},
    )


def guid(seed: str) -> str:
    """Return a sys_id."""
    return md5(seed.encode(), usedforsecurity=False).hexdigest()


class NowDesk(Backend):
    """The instance."""

    def __init__(self) -> None:
        super().__init__()
        self.users: dict[str, str] = {}
        self.table: dict[str, dict[str, str]] = {}
        for i, (short, text, credits_, priority) in enumerate(RECORDS):
            sys_id = guid(f"{TABLE}{i}")
            self.table[sys_id] = {
                "sys_id": sys_id,
                "number": f"AGTASK{10041 + i:07d}",
                "sys_class_name": TABLE,
                "short_description": short,
                "description": "Put the source text in upper case and return it as result.",
                "u_source_text": text,
                "u_result": "",
                "u_credits": credits_,
                "priority": priority,
                "state": "1",
                "active": "true",
                "assigned_to": "",
                "work_notes": "",
                "close_code": "",
                "close_notes": "",
                "sys_mod_count": "0",
                "sys_created_on": f"2026-11-2{i} 07:30:00",
            }

    def texts(self) -> dict[str, str]:
        """Return every source text by sys_id."""
        return {sys_id: r["u_source_text"] for sys_id, r in self.table.items()}

    def missing(self, request: Request) -> Response:
        """Answer for a path without a resource."""
        return error(400, "Requested URI does not represent any resource")

    def register(self, request: Request) -> Response:
        """Insert a user."""
        self.book.registrations += 1
        user = guid(f"sys_user{self.book.registrations}")
        token = guid(f"token{self.book.registrations}{id(self)}") + "-Xk9"
        self.users[token] = user
        return Response(200, {"agent_id": user, "access_token": token, "credits": 100})

    def _user(self, request: Request) -> str | Response:
        if user := self.users.get(request.token):
            return user
        refusal = error(
            401, "User Not Authenticated", "Required to provide Auth information"
        )
        refusal.headers["WWW-Authenticate"] = 'BASIC realm="Service-now"'
        return refusal

    def _record(self, request: Request, sys_id: str) -> dict[str, Any]:
        row: dict[str, Any] = dict(self.table[sys_id])
        if user := row["assigned_to"]:  # a reference field has an address
            link = f"{request.base}/api/now/table/sys_user/{user}"
            row["assigned_to"] = {"link": link, "value": user}
        return row

    def tasks(self, request: Request) -> Response:
        """List the active records; the next page is in the Link header."""
        user = self._user(request)
        if isinstance(user, Response):
            return user
        limit = request.query.get("limit", str(PAGE))
        offset = request.query.get("sysparm_offset", "0")
        if not limit.isdecimal() or not offset.isdecimal() or int(limit) < 1:
            return error(
                400,
                "Invalid query parameter",
                "limit must be a positive integer, sysparm_offset must not be negative",
            )
        size, start = min(int(limit), PAGE), int(offset)
        active = [s for s, r in self.table.items() if r["active"] == "true"]

        def link(at: int, rel: str) -> str:
            url = f"{request.base}{request.path}?limit={size}&sysparm_offset={at}"
            return f'<{url}>;rel="{rel}"'

        links = [link(0, "first")]
        if start:
            links.append(link(max(0, start - size), "prev"))
        if start + size < len(active):
            links.append(link(start + size, "next"))
        links.append(link(max(0, (len(active) - 1) // size * size), "last"))
        return Response(
            200,
            {
                "result": [
                    self._record(request, s) for s in active[start : start + size]
                ]
            },
            {"X-Total-Count": str(len(active)), "Link": ",".join(links)},
        )

    def _update(self, request: Request, *mandatory: str) -> Any:
        """Return the user, the record and the body of an update, or say no."""
        user = self._user(request)
        if isinstance(user, Response):
            return user
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return error(
                400, "Exception while reading request", "The payload is not valid JSON."
            )
        if not body.get("sys_id"):
            return error(400, "Missing required parameter: sys_id", f"Table: {TABLE}")
        row = self.table.get(str(body["sys_id"]))
        if row is None:
            return error(
                404,
                "No Record found",
                "Record doesn't exist or ACL restricts the record retrieval",
            )
        if row["assigned_to"] not in ("", user):
            return error(
                403,
                "Operation Failed",
                "ACL Exception Update Failed due to security constraints",
            )
        absent = [LABELS[name] for name in mandatory if body.get(name) in (None, "")]
        if absent:
            return error(
                403,
                "Operation Failed",
                "Data Policy Exception:\n The following fields are mandatory: "
                + ", ".join(absent),
            )
        return user, row, body

    def _aborted(self, rule: str) -> Response:
        return error(
            403,
            "Operation Failed",
            f"Operation against file '{TABLE}' was aborted by Business Rule "
            f"'{rule}^{guid(rule)}'. Business Rule Stack:{rule}",
        )

    def _saved(self, request: Request, row: dict[str, str], **new: str) -> Response:
        row.update(new, sys_mod_count=str(int(row["sys_mod_count"]) + 1))
        return Response(200, {"result": self._record(request, row["sys_id"])})

    def claim(self, request: Request) -> Response:
        """Assign a record to the caller."""
        update = self._update(request, "assigned_to")
        if isinstance(update, Response):
            return update
        user, row, body = update
        if body["assigned_to"] != user:
            return error(
                403,
                "Operation Failed",
                "Invalid reference in field assigned_to: agents may assign a task only "
                "to their own user (the agent_id of the session)",
            )
        if row["state"] != "1":
            return self._aborted("Assign open tasks only")
        self.book.claimed(row["sys_id"])
        return self._saved(request, row, assigned_to=user, state="2")

    def submit(self, request: Request) -> Response:
        """Write the result; a business rule compares it."""
        update = self._update(request, "u_result", "work_notes")
        if isinstance(update, Response):
            return update
        _user, row, body = update
        if row["state"] != "2":
            return self._aborted("Result needs work in progress")
        if body["u_result"] != row["u_source_text"].upper():
            return self._aborted("Result must be source text in upper case")
        notes = str(body["work_notes"])
        return self._saved(
            request, row, u_result=body["u_result"], work_notes=notes, state="-5"
        )

    def complete(self, request: Request) -> Response:
        """Close a record and pay for it."""
        update = self._update(request, "close_code", "close_notes")
        if isinstance(update, Response):
            return update
        _user, row, body = update
        if body["close_code"] not in CLOSE_CODES:
            return error(
                403,
                "Operation Failed",
                f"Invalid choice '{body['close_code']}' for field close_code; "
                f"choices: {', '.join(CLOSE_CODES)}",
            )
        if row["state"] != "-5":
            return self._aborted("Close needs a submitted result")
        self.book.pay(row["sys_id"], int(row["u_credits"]))
        return self._saved(
            request,
            row,
            close_code=body["close_code"],
            close_notes=str(body["close_notes"]),
            state="3",
            active="false",
        )
