"""The Kestrel Foundation, keeper of some open-source libraries, and its bounty board.

Lists a bare array of bounties in the manner of a forge (Link header for the next page,
composite refs `owner/repo#number`, claimed ones among the open ones). A claim wants the
ref and answers the bounty, the same again when repeated. A submission wants a solution
and a changelog line and is 202: maintainers review it for a second and a half, to be
seen at its status_url. Then the payout is to be collected with complete (409 while in
review). Refuses with `message` and a list of resource, field and code; a short page
documents it.
"""

import secrets
import time
from typing import Any
from urllib.parse import quote

from tests.foreign.backend import Backend, Request, Response

BOUNTIES = [
    # ref, credits, title, body
    (
        "kestrel/tz-tables#88",
        25,
        "Header note",
        "Zones before 1970 are best effort only.",
    ),
    (
        "kestrel/tz-tables#91",
        40,
        "Deprecation",
        "Use offset_at() in place of offset().",
    ),
    ("kestrel/paperclip#12", 15, "Error wording", "The archive ends in mid-record."),
    ("kestrel/paperclip#88", 30, "README line", "Paperclip streams, it never seeks."),
    ("kestrel/paperclip#104", 20, "Man page", "With -n nothing is written to disk."),
    ("hawkeye/lintel#7", 55, "Rule text", "A public name needs a docstring (L301)."),
    ("hawkeye/lintel#19", 35, "Changelog", "Fixed: false alarm on nested f-strings."),
    ("hawkeye/lintel#23", 10, "Typo sweep", "Run lintel --fix twice if in doubt."),
]
TAKEN = [("hawkeye/lintel#15", 60, "Config docs", "Settings live in lintel.toml.")]
DOCS = """# Bounties

POST /functions/v1/claim-task-public          {"ref": "owner/repo#number"}
POST /functions/v1/submit-task-result-public  {"ref", "solution", "summary"}
POST /functions/v1/complete-task-public       {"submission_id"}, once approved

`solution` is the finished text, `summary` one line for our changelog.
"""


class KestrelFoundation(Backend):
    """A bounty board with review."""

    def __init__(self) -> None:
        """Put the bounties up."""
        super().__init__()
        self.bounties = {row[0]: row for row in BOUNTIES[:5] + TAKEN + BOUNTIES[5:]}
        self.assignee = {row[0]: "mrosen" for row in TAKEN}
        self.tokens: dict[str, str] = {}
        self.balance: dict[str, int] = {}
        self.submissions: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the body of every bounty that can be had."""
        return {ref: body for ref, _, _, body in BOUNTIES}

    def document(self, request: Request) -> Response:
        """Serve the one page of documentation."""
        if request.path == "/docs/bounties":
            return Response(200, DOCS, {"Content-Type": "text/markdown"})
        return self.missing(request)

    @staticmethod
    def _no(status: int, message: str, base: str, **more: Any) -> Response:
        url = f"{base}/docs/bounties"
        return Response(status, {"message": message, **more, "documentation_url": url})

    def missing(self, request: Request) -> Response:
        """Say that there is nothing here."""
        return self._no(404, "Not Found", request.base)

    def register(self, request: Request) -> Response:
        """Give out a token."""
        self.book.registrations += 1
        login, token = f"agent-{secrets.token_hex(3)}", f"kfp_{secrets.token_hex(18)}"
        self.tokens[token] = login
        self.balance[login] = 100
        user = {"login": login, "id": 4400 + len(self.tokens), "credits": 100}
        body = {"access_token": token, "token_type": "bearer", "scope": "bounties"}
        return Response(201, {**body, "agent": user})

    def _state(self, ref: str) -> str:
        latest = [s for s in self.submissions.values() if s["ref"] == ref]
        if not latest:
            return "claimed" if ref in self.assignee else "open"
        return self._review(latest[-1])

    def _review(self, submission: dict[str, Any]) -> str:
        if submission["paid"]:
            return "paid"
        if time.monotonic() < submission["due"]:
            return "in_review"
        return "approved" if submission["right"] else "changes_requested"

    def _show(self, ref: str) -> dict[str, Any]:
        _, credits_, title, body = self.bounties[ref]
        repository, _, number = ref.partition("#")
        login = self.assignee.get(ref)
        return {
            "ref": ref,
            "repository": repository,
            "number": int(number),
            "title": title,
            "body": body,
            "state": self._state(ref),
            "assignee": {"login": login} if login else None,
            "bounty": {"credits": credits_},
        }

    def marketplace(self, request: Request) -> Response:
        """List the bounties, page by page."""
        refs = list(self.bounties)
        if "ref" in request.query:
            refs = [ref for ref in refs if ref == request.query["ref"]]
        try:
            page = max(int(request.query.get("page", 1)), 1)
            limit = min(max(int(request.query.get("limit", 6)), 1), 30)
        except ValueError:
            return self._no(422, "page and limit must be integers", request.base)
        headers = {}
        if page * limit < len(refs):
            url = f"{request.base}{request.path}?page={page + 1}&limit={limit}"
            headers["Link"] = f'<{url}>; rel="next"'
        shown = refs[(page - 1) * limit : page * limit]
        return Response(200, [self._show(ref) for ref in shown], headers)

    def tasks(self, request: Request) -> Response:
        """List the bounties for a known agent."""
        if request.token not in self.tokens:
            return self._no(401, "Bad credentials", request.base)
        return self.marketplace(request)

    def _body(self, request: Request, resource: str, wanted: dict[str, type]) -> Any:
        if request.token not in self.tokens:
            return self._no(401, "Bad credentials", request.base)
        try:
            body = request.json()
        except ValueError:
            return self._no(400, "Problems parsing JSON", request.base)
        if not isinstance(body, dict):
            return self._no(400, "Body should be a JSON object", request.base)
        errors = []
        for name, kind in wanted.items():
            value, code = body.get(name), ""
            if value is None:
                code = "missing_field"
            elif not isinstance(value, kind) or not str(value).strip():
                code = "invalid"
            if code:
                errors.append({"resource": resource, "field": name, "code": code})
        if errors:
            return self._no(422, "Validation Failed", request.base, errors=errors)
        if "ref" in wanted and body["ref"] not in self.bounties:
            message = "ref is not a bounty of ours; it looks like owner/repo#number"
            error = {"resource": resource, "field": "ref", "code": "invalid"}
            error["message"] = message
            return self._no(422, "Validation Failed", request.base, errors=[error])
        return body

    def claim(self, request: Request) -> Response:
        """Assign a bounty to the caller."""
        body = self._body(request, "Claim", {"ref": str})
        if isinstance(body, Response):
            return body
        ref, login = body["ref"], self.tokens[request.token]
        holder = self.assignee.get(ref)
        if holder and holder != login:
            return self._no(409, f"Bounty is assigned to {holder}", request.base)
        if not holder:
            self.assignee[ref] = login
            self.book.claimed(ref)
        return Response(200, self._show(ref))

    def submit(self, request: Request) -> Response:
        """Queue a solution for review."""
        wanted: dict[str, type] = {"ref": str, "solution": str, "summary": str}
        body = self._body(request, "Submission", wanted)
        if isinstance(body, Response):
            return body
        ref = body["ref"]
        if self.assignee.get(ref) != self.tokens[request.token]:
            return self._no(403, "Claim the bounty before you submit", request.base)
        if self._state(ref) not in ("claimed", "changes_requested"):
            return self._no(409, f"Bounty is {self._state(ref)}", request.base)
        key = 50110 + len(self.submissions)
        right = body["solution"] == self.bounties[ref][3].upper()
        due = time.monotonic() + 1.5
        self.submissions[key] = {"ref": ref, "right": right, "due": due, "paid": False}
        url = f"{request.base}/functions/v1/get-marketplace-tasks?ref={quote(ref, '')}"
        answer = {"id": key, "ref": ref, "state": "in_review", "status_url": url}
        return Response(202, answer)

    def complete(self, request: Request) -> Response:
        """Pay an approved submission out."""
        body = self._body(request, "Payout", {"submission_id": int})
        if isinstance(body, Response):
            return body
        submission = self.submissions.get(body["submission_id"])
        login = self.tokens[request.token]
        if not submission or self.assignee[submission["ref"]] != login:
            return self._no(404, "No such submission of yours", request.base)
        ref, state = submission["ref"], self._review(submission)
        if state != "approved":
            answer = self._no(409, "Not payable", request.base, state=state)
            answer.headers["Retry-After"] = "1"
            return answer
        submission["paid"] = True
        self.book.pay(ref, self.bounties[ref][1])
        self.balance[login] += self.bounties[ref][1]
        return Response(200, {**self._show(ref), "balance": self.balance[login]})
