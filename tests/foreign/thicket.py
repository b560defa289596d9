"""Elixir Phoenix JSON API with Ecto changesets: nursery labels, reviewed by a gardener."""

import time
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

REVIEW = 1.2  # seconds
LABELS = [
    ("Rose bed", "old climbing rose, prune in march", 13, "open"),
    ("Herb table", "lemon thyme and winter savory", 28, "open"),
    ("Fern house", "keep the door shut", 10, "claimed"),
    ("Orchard row", "russet apples on dwarf stock", 23, "open"),
    ("Pond edge", "yellow flag iris", 16, "open"),
]
WORDS = {400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 409: "Conflict"}


def fail(status: int, detail: str = "") -> Response:
    """ErrorJSON: the status's words, unless the exception brought a message."""
    return Response(status, {"errors": {"detail": detail or WORDS[status]}})


def changeset(errors: dict[str, str]) -> Response:
    """ChangesetJSON.error/1 from mix phx.gen.json."""
    return Response(422, {"errors": {k: [v] for k, v in errors.items()}})


def cast(params: dict[str, Any], fields: dict[str, str]) -> dict[str, str]:
    """cast and validate_required: the messages by field."""
    errors = {}
    for name, kind in fields.items():
        value = params.get(name)
        if value is None or (isinstance(value, str) and not value.strip()):
            errors[name] = "can't be blank"
        elif not isinstance(value, str):
            errors[name] = "is invalid"
        elif kind == "binary_id":
            try:
                uuid.UUID(value)
            except ValueError:
                errors[name] = "is invalid"
    return errors


class Thicket(Backend):
    """{data: [...]}: labels with uuid and inserted_at; text and reward only in the claim.

    Params are nested as Phoenix likes: claim {claim: {label_id}} -> {data: {id (claim id),
    label: {text, reward}}}; submit {submission: {claim_id, body}} -> state in_review for
    1.2 s; complete {completion: {claim_id}} -> state paid, credited, balance; while in review
    or rejected it is 422 on state. Refusals: {errors: {detail}} or {errors: {field: [..]}}.
    """

    def __init__(self) -> None:
        super().__init__()
        self.members: dict[str, dict[str, Any]] = {}
        self.labels: dict[str, dict[str, Any]] = {}
        self.claims: dict[str, dict[str, Any]] = {}
        for name, text, reward, state in LABELS:
            key = str(uuid.uuid4())
            self.labels[key] = {"id": key, "name": name, "text": text}
            self.labels[key] |= {"reward": reward, "state": state}
        self.doable = [k for k, x in self.labels.items() if x["state"] == "open"]

    def texts(self) -> dict[str, str]:
        return {k: self.labels[k]["text"] for k in self.doable}

    def handle(self, request: Request) -> Response:
        with self._lock:
            for c in self.claims.values():
                if c["state"] == "in_review" and time.monotonic() >= c["due"]:
                    good = c["body"] == self.labels[c["label_id"]]["text"].upper()
                    c["state"] = "accepted" if good else "rejected"
        return super().handle(request)

    def missing(self, request: Request) -> Response:
        return fail(404)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token, agent = f"SFMyNTY.{uuid.uuid4().hex}", str(uuid.uuid4())
        self.members[token] = {"id": agent, "credits": 100}
        answer = {"agent_id": agent, "access_token": token, "credits": 100}
        return Response(200, answer)

    def _label(self, label: dict[str, Any]) -> dict[str, Any]:
        shown = {k: label[k] for k in ("id", "name", "state")}
        return shown | {"inserted_at": "2025-04-02T07:15:00Z"}

    def tasks(self, request: Request) -> Response:
        if request.token not in self.members:
            return fail(401)
        limit = request.query.get("limit", "25")
        if not limit.isdigit():
            return changeset({"limit": "is invalid"})
        if not 0 < int(limit) <= 100:
            few = int(limit) == 0
            return changeset(
                {
                    "limit": "must be greater than 0"
                    if few
                    else "must be less than or equal to 100"
                }
            )
        labels = list(self.labels.values())[: int(limit)]
        return Response(200, {"data": [self._label(x) for x in labels]})

    def marketplace(self, request: Request) -> Response:
        free = [x for x in self.labels.values() if x["state"] == "open"]
        return Response(200, {"data": [self._label(x) for x in free]})

    def _params(
        self, request: Request, key: str, fields: dict[str, str]
    ) -> tuple[dict[str, Any], Response | None]:
        if request.token not in self.members:
            return {}, fail(401)
        body: Any = {}
        if "json" in (request.headers.get("Content-Type") or "") and request.raw:
            try:
                body = request.json()
            except ValueError:
                return {}, fail(400)
        params = body.get(key) if isinstance(body, dict) else None
        if not params:  # plug :scrub_params
            return {}, fail(
                400,
                f'expected key "{key}" to be present in params, '
                "please send the expected key",
            )
        if not isinstance(params, dict):
            return {}, fail(400)
        errors = cast(params, fields)
        return params, changeset(errors) if errors else None

    def _show(self, c: dict[str, Any]) -> dict[str, Any]:
        shown = {k: c[k] for k in ("id", "label_id", "state")}
        label = self.labels[c["label_id"]]
        return shown | {"label": {k: label[k] for k in ("name", "text", "reward")}}

    def claim(self, request: Request) -> Response:
        params, no = self._params(request, "claim", {"label_id": "binary_id"})
        if no:
            return no
        label, me = self.labels.get(params["label_id"]), self.members[request.token]
        if label is None:
            return changeset({"label_id": "does not exist"})
        for c in self.claims.values():
            if c["label_id"] == label["id"] and c["agent"] == me["id"]:
                return Response(200, {"data": self._show(c)})
        if label["state"] != "open":
            return changeset({"label_id": "has already been taken"})
        label["state"] = "claimed"
        c = {"id": str(uuid.uuid4()), "label_id": label["id"], "agent": me["id"]}
        c |= {"state": "active", "body": "", "due": 0.0}
        self.claims[c["id"]] = c
        self.book.claimed(label["id"])
        return Response(200, {"data": self._show(c)})

    def _mine(self, request: Request, key: str) -> dict[str, Any] | None:
        c = self.claims.get(key)
        return c if c and c["agent"] == self.members[request.token]["id"] else None

    def submit(self, request: Request) -> Response:
        fields = {"claim_id": "binary_id", "body": "string"}
        params, no = self._params(request, "submission", fields)
        if no:
            return no
        c = self._mine(request, params["claim_id"])
        if c is None:
            return fail(404)
        if c["state"] in ("active", "rejected"):
            c["state"], c["body"] = "in_review", params["body"]
            c["due"] = time.monotonic() + REVIEW
        elif c["body"] != params["body"]:
            return changeset({"state": f"is already {c['state']}"})
        return Response(200, {"data": self._show(c)})

    def complete(self, request: Request) -> Response:
        params, no = self._params(request, "completion", {"claim_id": "binary_id"})
        if no:
            return no
        c, me = self._mine(request, params["claim_id"]), self.members[request.token]
        if c is None:
            return fail(404)
        label = self.labels[c["label_id"]]
        if c["state"] == "active":
            return changeset({"state": "must be accepted, but nothing is submitted"})
        if c["state"] == "in_review":
            return changeset({"state": "must be accepted, is in_review"})
        if c["state"] == "rejected":
            return changeset(
                {"state": "is rejected: body must be the text in capitals"}
            )
        if c["state"] == "accepted":
            c["state"], label["state"] = "paid", "done"
            me["credits"] += label["reward"]
            self.book.pay(label["id"], label["reward"])
        paid = {"credited": label["reward"], "balance": me["credits"]}
        return Response(200, {"data": self._show(c) | paid})
