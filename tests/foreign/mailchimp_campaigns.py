"""A newsletter agency in the manner of Mailchimp's Marketing API 3.0.

Refusals are problem documents (type, title, status, detail, instance); a body that does
not fit the schema has an errors array of field and message: "Required fields were not
provided: ...", "Schema describes string, integer found instead". A task is a campaign;
whoever takes it says under which name, the work is the campaign's subject line, and
completing is scheduling it, on the quarter-hour as campaigns are. The fee is in cents.
"""

import hashlib
import secrets
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

CAMPAIGNS = (
    ("Orchard club, week 31", "plums are in, bring a bucket", 15),
    ("Rowing news", "the river is back in its bed", 11),
    ("Museum nights", "dinosaurs do not sleep on fridays", 22),
    ("Wool shop", "twelve new greens and one brave pink", 9),
    ("Choir practice", "tenors wanted, basses forgiven", 13),
    ("Bike kitchen", "free air, cheap tubes, good advice", 7),
    ("Tea letter", "second flush has landed", 18),
    ("Allotment digest", "who left the tap running?", 6),
    ("Film society", "no plot, just trains", 12),
    ("Lost property", "three umbrellas and a trombone", 20),
    ("Harbour swim", "eleven degrees and rising", 8),
    ("Library van", "thursday's stop moves to mill lane", 16),
)
AT_ONCE = 2
COUNT = 10
TYPE = "https://mailchimp.com/developer/marketing/docs/errors/"

Shape = dict[str, Any]


class Problem(Exception):  # noqa: N818
    def __init__(self, status: int, title: str, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.response = Response(
            status,
            {
                "type": TYPE,
                "title": title,
                "status": status,
                "detail": detail,
                "instance": str(uuid.uuid4()),
            }
            | more,
            {"Content-Type": "application/problem+json; charset=utf-8"},
        )


def invalid(errors: list[dict[str, str]]) -> Problem:
    return Problem(
        400,
        "Invalid Resource",
        "The resource submitted could not be validated. For field-specific details, see "
        "the 'errors' array.",
        errors=errors,
    )


def bad(detail: str) -> Problem:
    return Problem(400, "Bad Request", detail)


def kind(value: Any) -> str:
    names: dict[Any, str] = {bool: "boolean", int: "integer", float: "double"}
    names |= {str: "string", list: "array", dict: "object", type(None): "NULL"}
    return names[type(value)]


def checked(value: Any, shape: Shape, path: str = "") -> list[dict[str, str]]:
    """Return what the schema finds wrong; every member of these shapes is required."""
    if not isinstance(value, dict):
        words = f"Schema describes object, {kind(value)} found instead"
        return [{"field": path, "message": words}]
    found = []
    if lacking := [name for name in shape if name not in value]:
        words = f"Required fields were not provided: {', '.join(lacking)}"
        found.append({"field": path, "message": words})
    for name, wanted in shape.items():
        here = f"{path}.{name}" if path else name
        if name not in value:
            continue
        if isinstance(wanted, dict):
            found += checked(value[name], wanted, here)
        elif not isinstance(value[name], str):
            words = f"Schema describes {wanted}, {kind(value[name])} found instead"
            found.append({"field": here, "message": words})
        elif not value[name].strip():
            found.append({"field": here, "message": "This value should not be blank."})
    return found


def stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S+00:00")


class MailchimpCampaigns(Backend):
    """Twelve campaigns; take, set the subject line, schedule."""

    def __init__(self) -> None:
        super().__init__()
        self.accounts: dict[str, str] = {}
        self.editors: dict[str, str] = {}
        self.subjects: dict[str, str] = {}
        self.campaigns: dict[str, dict[str, Any]] = {}
        made = datetime.now(UTC) - timedelta(days=1)
        for number, (title, subject, cents) in enumerate(CAMPAIGNS):
            name = hashlib.md5(title.encode(), usedforsecurity=False).hexdigest()[:10]
            self.subjects[name] = subject
            self.campaigns[name] = {
                "id": name,
                "web_id": 774301 + 4 * number,
                "type": "plaintext",
                "create_time": stamp(made + timedelta(minutes=7 * number)),
                "status": "save",
                "emails_sent": 0,
                "send_time": "",
                "content_type": "template",
                "recipients": {"list_id": "57afe96172", "list_name": "Subscribers"},
                "settings": {
                    "subject_line": subject,
                    "title": title,
                    "from_name": "",
                    "reply_to": "desk@letters.example",
                },
                "brief": "Resubmit the subject line in capital letters, then schedule.",
                "fee": {"amount_cents": cents, "currency_code": "USD"},
            }

    def texts(self) -> dict[str, str]:
        return dict(self.subjects)

    def missing(self, request: Request) -> Response:
        words = "The requested resource could not be found."
        return Problem(404, "Resource Not Found", words).response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        account, token = secrets.token_hex(5), f"{secrets.token_hex(16)}-us21"
        self.accounts[token] = account
        return Response(
            200, {"agent_id": account, "access_token": token, "credits": 100}
        )

    def account(self, request: Request) -> str:
        if not request.headers.get("Authorization"):
            words = "Your request did not include an API key."
            raise Problem(401, "API Key Missing", words)
        if request.token not in self.accounts:
            raise Problem(
                401,
                "API Key Invalid",
                "Your API key may be invalid, or you've attempted to access the wrong "
                "datacenter.",
            )
        return self.accounts[request.token]

    def shown(self, request: Request, campaign: dict[str, Any]) -> dict[str, Any]:
        links = [
            {
                "rel": rel,
                "href": f"{request.base}/functions/v1/{path}",
                "method": "POST",
            }
            for rel, path in (
                ("take", "claim-task-public"),
                ("content", "submit-task-result-public"),
                ("schedule", "complete-task-public"),
            )
        ]
        return campaign | {"_links": links}

    def number(self, request: Request, names: tuple[str, ...], default: int) -> int:
        for name in names:
            if name in request.query:
                try:
                    return int(request.query[name])
                except ValueError:
                    words = "Schema describes integer, string found instead"
                    raise invalid([{"field": name, "message": words}]) from None
        return default

    def listed(self, request: Request) -> Response:
        try:
            count = self.number(request, ("count", "limit"), COUNT)
            offset = self.number(request, ("offset",), 0)
            if not 0 < count <= 1000:
                words = "This value should be between 1 and 1000."
                raise invalid([{"field": "count", "message": words}])
            if offset < 0:
                words = "This value should be 0 or more."
                raise invalid([{"field": "offset", "message": words}])
        except Problem as problem:
            return problem.response
        found = [one for one in self.campaigns.values() if one["status"] == "save"]
        page = found[offset : offset + count]
        return Response(
            200,
            {
                "campaigns": [self.shown(request, one) for one in page],
                "total_items": len(found),
                "_links": [
                    {
                        "rel": "self",
                        "href": f"{request.base}{request.path}",
                        "method": "GET",
                    }
                ],
            },
        )

    def tasks(self, request: Request) -> Response:
        try:
            self.account(request)
        except Problem as problem:
            return problem.response
        return self.listed(request)

    def marketplace(self, request: Request) -> Response:
        return self.listed(request)

    def ran(self, request: Request, shape: Shape, run: Any) -> Response:
        try:
            account = self.account(request)
            try:
                body = request.json()
            except ValueError:
                words = "We encountered an unspecified JSON parsing error."
                raise Problem(400, "JSON Parse Error", words) from None
            if errors := checked(body, {"campaign_id": "string"} | shape):
                raise invalid(errors)
            campaign = self.campaigns.get(body["campaign_id"])
            if campaign is None:
                words = "The requested resource could not be found."
                raise Problem(404, "Resource Not Found", words)
            answer = run(account, campaign, body)
        except Problem as problem:
            return problem.response
        return Response(200, self.shown(request, campaign) | answer)

    def edited(self, account: str, campaign: dict[str, Any]) -> None:
        editor = self.editors.get(campaign["id"])
        if editor is None:
            raise bad("This campaign has not been taken by an editor.")
        if editor != account:
            words = "You are not permitted to access this resource."
            raise Problem(403, "Forbidden", words)

    def claim(self, request: Request) -> Response:
        return self.ran(request, {"from_name": "string"}, self.take)

    def take(self, account: str, campaign: dict[str, Any], body: Any) -> dict[str, Any]:
        if len(body["from_name"]) > 100:
            words = "This value is too long. It should have 100 characters or less."
            raise invalid([{"field": "from_name", "message": words}])
        if campaign["status"] != "save":
            raise bad("This campaign has already been taken by an editor.")
        held = [name for name, editor in self.editors.items() if editor == account]
        open_ = [n for n in held if self.campaigns[n]["status"] in ("editing", "ready")]
        if len(open_) >= AT_ONCE:
            raise Problem(
                403,
                "Campaign Limit Reached",
                f"Your plan allows {AT_ONCE} unscheduled campaigns at a time. Schedule "
                "one of them before taking another.",
            )
        campaign["status"] = "editing"
        campaign["settings"]["from_name"] = body["from_name"]
        self.editors[campaign["id"]] = account
        self.book.claimed(campaign["id"])
        return {}

    def submit(self, request: Request) -> Response:
        return self.ran(request, {"settings": {"subject_line": "string"}}, self.write)

    def write(
        self, account: str, campaign: dict[str, Any], body: Any
    ) -> dict[str, Any]:
        self.edited(account, campaign)
        if campaign["status"] not in ("editing", "ready"):
            raise bad("This campaign cannot be edited once it is scheduled or sent.")
        line = body["settings"]["subject_line"].strip()
        if line != self.subjects[campaign["id"]].upper():
            words = "The subject line is not the original one in capital letters."
            raise invalid([{"field": "settings.subject_line", "message": words}])
        campaign["settings"]["subject_line"] = line
        campaign["status"] = "ready"
        items = [
            {
                "type": "success",
                "id": 501,
                "heading": "Subject Line",
                "details": f'"{line}"',
            },
            {
                "type": "warning",
                "id": 508,
                "heading": "Delivery",
                "details": "This campaign has no schedule time yet.",
            },
        ]
        return {"send_checklist": {"is_ready": True, "items": items}}

    def complete(self, request: Request) -> Response:
        return self.ran(request, {"schedule_time": "string"}, self.schedule)

    def schedule(
        self, account: str, campaign: dict[str, Any], body: Any
    ) -> dict[str, Any]:
        self.edited(account, campaign)
        if campaign["status"] == "schedule":
            raise bad("This campaign has already been scheduled.")
        if campaign["status"] != "ready":
            raise bad(
                "Your Campaign is not ready to send. Please resolve all issues in the "
                "send checklist: Subject Line has not been submitted."
            )
        try:
            moment = datetime.fromisoformat(body["schedule_time"].strip())
            moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
            moment = moment.astimezone(UTC)
        except (ValueError, OverflowError):
            words = "This value should be a date and time in ISO 8601 format, in UTC."
            raise invalid([{"field": "schedule_time", "message": words}]) from None
        if moment <= datetime.now(UTC):
            raise bad("The schedule time is in the past. Please choose a future time.")
        if moment.minute % 15 or moment.second or moment.microsecond:
            raise bad(
                "Campaigns may only be scheduled to send on the quarter-hour (:00, :15, "
                ":30, :45)."
            )
        campaign |= {"status": "schedule", "send_time": stamp(moment)}
        self.book.pay(campaign["id"], campaign["fee"]["amount_cents"])
        return {"payout": campaign["fee"]}
