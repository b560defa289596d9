"""A telecom's SMS template desk, written in Elixir (Phoenix, Ecto).

Service messages to old handsets go out in capitals. Template writers lock a draft, send the final
copy under the lock and publish it.

Wants: claim {"template_ref": "TPL-0031"}, answered with a lock (15 minutes); submit
{"template_ref": .., "lock": "..", "final_copy": ".."}; complete {"template_ref": .., "lock": ".."}.
Answers: {"data": ..}; refusals {"errors": {"template_ref": ["can't be blank"]}} with 422,
{"errors": {"detail": ".."}} with 400, 401, 404, 409. Publishing (complete) pays.
"""

import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TEMPLATES = [
    (
        "TPL-0031",
        "Prepaid top-up",
        "your balance is low please top up before midnight",
        5,
        "draft",
    ),
    (
        "TPL-0032",
        "Prepaid top-up",
        "thank you your top up has been added to your balance",
        5,
        "draft",
    ),
    (
        "TPL-0035",
        "Roaming",
        "welcome abroad calls home now cost the same as at home",
        6,
        "draft",
    ),
    (
        "TPL-0036",
        "Roaming",
        "you have used eighty percent of your roaming data",
        6,
        "draft",
    ),
    (
        "TPL-0040",
        "Network works",
        "we are working on the mast in your area tonight",
        5,
        "published",
    ),
    (
        "TPL-0041",
        "Network works",
        "service has been restored thank you for your patience",
        5,
        "draft",
    ),
    (
        "TPL-0047",
        "Billing",
        "your invoice is ready and will be collected on the first",
        6,
        "draft",
    ),
    ("TPL-0048", "Billing", "payment received no further action is needed", 4, "draft"),
]
LOCK = 900.0
MOST = 160


class SmsTemplates(Backend):
    """The template desk."""

    def __init__(self) -> None:
        super().__init__()
        self.templates: dict[Any, dict[str, Any]] = {
            ref: {
                "campaign": campaign,
                "draft_copy": copy,
                "fee": fee,
                "state": state,
                "lock": None,
                "until": 0.0,
                "writer": None,
            }
            for ref, campaign, copy, fee, state in TEMPLATES
        }
        self.earnable: dict[str, str] = {
            ref: t["draft_copy"]
            for ref, t in self.templates.items()
            if t["state"] == "draft"
        }
        self.writers: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return dict(self.earnable)

    # -- what the framework does

    def _detail(self, status: int, text: str) -> Response:
        return Response(status, {"errors": {"detail": text}})

    def missing(self, request: Request) -> Response:
        return self._detail(404, "Not Found")

    @staticmethod
    def _changeset(errors: dict[str, str]) -> Response:
        return Response(
            422, {"errors": {name: [text] for name, text in errors.items()}}
        )

    def _cast(
        self, request: Request, *names: str
    ) -> tuple[dict[str, Any], dict[str, Any], Response | None]:
        """Return the writer, the cast parameters, and the refusal if there is one."""
        writer = self.writers.get(request.token)
        if writer is None:
            return {}, {}, self._detail(401, "Unauthorized")
        try:
            params = request.json() if request.raw.strip() else {}
        except ValueError:
            return {}, {}, self._detail(400, "Bad Request")
        if not isinstance(params, dict):
            params = {"_json": params}
        cast, errors = {}, {}
        for name in names:
            value = params.get(name)
            if value is None or (isinstance(value, str) and not value.strip()):
                errors[name] = "can't be blank"
            elif not isinstance(value, str):
                errors[name] = "is invalid"
            elif name == "final_copy" and len(value) > MOST:
                errors[name] = f"should be at most {MOST} character(s)"
            cast[name] = value
        return writer, cast, self._changeset(errors) if errors else None

    def _locked(
        self, writer: dict[str, Any], cast: dict[str, Any]
    ) -> tuple[dict[str, Any], Response | None]:
        template = self.templates.get(cast["template_ref"])
        if template is None:
            return {}, self._changeset({"template_ref": "does not exist"})
        self._expire(cast["template_ref"])
        if template["writer"] is not writer:
            return {}, self._detail(409, f"{cast['template_ref']} is not locked by you")
        if cast["lock"] != template["lock"]:
            return {}, self._changeset(
                {"lock": "does not match the lock of this template"}
            )
        return template, None

    def _expire(self, ref: str) -> None:
        """Let go of a lock whose time is over and under which nothing came."""
        template = self.templates[ref]
        if template["state"] == "locked" and time.time() > template["until"]:
            template.update(state="draft", lock=None, writer=None)
            self.book.held.discard(ref)

    def _show(self, ref: str, *, locked: bool = False) -> dict[str, Any]:
        template = self.templates[ref]
        shown = {
            "ref": ref,
            "campaign": template["campaign"],
            "draft_copy": template["draft_copy"],
            "desk_note": "Old handsets: final copy is the draft copy in capitals.",
            "fee_credits": template["fee"],
            "state": template["state"],
        }
        if locked:
            shown["lock"] = template["lock"]
            shown["lock_expires_in"] = max(0, int(template["until"] - time.time()))
        return shown

    # -- actions

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = "SFMyNTY." + secrets.token_urlsafe(28)
        self.writers[token] = {"agent_id": secrets.token_hex(8), "credits": 100}
        return Response(201, {**self.writers[token], "access_token": token})

    def tasks(self, request: Request) -> Response:
        if request.token not in self.writers:
            return self._detail(401, "Unauthorized")
        return self.marketplace(request)

    def marketplace(self, request: Request) -> Response:
        limit = request.query.get("limit", "50")
        if not limit.isdigit():
            return self._changeset({"limit": "is invalid"})
        for ref in self.templates:
            self._expire(ref)
        return Response(
            200, {"data": [self._show(ref) for ref in self.templates][: int(limit)]}
        )

    def claim(self, request: Request) -> Response:
        writer, cast, refusal = self._cast(request, "template_ref")
        if refusal:
            return refusal
        ref = cast["template_ref"]
        template = self.templates.get(ref)
        if template is None:
            return self._changeset({"template_ref": "does not exist"})
        self._expire(ref)
        if template["writer"] is writer:
            return Response(200, {"data": self._show(ref, locked=True)})
        if template["state"] != "draft":
            return self._detail(409, f"{ref} is {template['state']}")
        template.update(
            state="locked",
            writer=writer,
            lock=secrets.token_hex(6),
            until=time.time() + LOCK,
        )
        self.book.claimed(ref)
        return Response(200, {"data": self._show(ref, locked=True)})

    def submit(self, request: Request) -> Response:
        writer, cast, refusal = self._cast(
            request, "template_ref", "lock", "final_copy"
        )
        if refusal:
            return refusal
        template, refusal = self._locked(writer, cast)
        if refusal:
            return refusal
        if template["state"] == "published":
            return self._detail(409, f"{cast['template_ref']} is published")
        if cast["final_copy"] != template["draft_copy"].upper():
            return self._changeset({"final_copy": "must be the draft copy in capitals"})
        template["state"] = "ready"
        return Response(
            200,
            {
                "data": {
                    **self._show(cast["template_ref"]),
                    "final_copy": cast["final_copy"],
                }
            },
        )

    def complete(self, request: Request) -> Response:
        writer, cast, refusal = self._cast(request, "template_ref", "lock")
        if refusal:
            return refusal
        template, refusal = self._locked(writer, cast)
        if refusal:
            return refusal
        if template["state"] == "locked":
            return self._detail(409, f"{cast['template_ref']} has no final copy yet")
        if template["state"] == "ready":
            template["state"] = "published"
            writer["credits"] += template["fee"]
            self.book.pay(cast["template_ref"], template["fee"])
        shown = self._show(cast["template_ref"])
        return Response(
            200,
            {
                "data": {
                    **shown,
                    "paid_credits": template["fee"],
                    "balance": writer["credits"],
                }
            },
        )
