"""A seed bank's label room, written in Python (Django REST framework).

Each accession in the cold store gets a packet label whose copy is printed in capitals.

Wants: claim {"accession_no": "SB-00412"}, answered 201 with a label job; submit {"job": 1,
"label": ".."}; complete {"job": 1}. Lists are pages of four (limit/offset, `next` links, limit up
to 50). Refusals: {field: ["This field is required."]} with 400, {"detail": ".."} with 401/404/409.
A right label is paid at the submit; complete files the job away.
"""

import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ACCESSIONS = [
    (
        "SB-00412",
        "Papaver rhoeas",
        "wild poppy from the chalk slope near the old quarry",
        7,
        "needs_label",
    ),
    (
        "SB-00413",
        "Centaurea cyanus",
        "cornflower gathered at the edge of a rye field",
        7,
        "needs_label",
    ),
    (
        "SB-00417",
        "Agrostemma githago",
        "corn cockle from the monastery garden second harvest",
        8,
        "needs_label",
    ),
    (
        "SB-00420",
        "Linum usitatissimum",
        "flax grown for fibre lowland strain long stalk",
        6,
        "labelled",
    ),
    (
        "SB-00431",
        "Triticum monococcum",
        "einkorn wheat hill farm collection keep below zero",
        8,
        "needs_label",
    ),
    (
        "SB-00432",
        "Secale cereale",
        "winter rye from the island trial germination ninety percent",
        9,
        "needs_label",
    ),
    (
        "SB-00440",
        "Vicia faba",
        "broad bean local variety of the river villages",
        6,
        "in_progress",
    ),
    (
        "SB-00446",
        "Lathyrus odoratus",
        "sweet pea mixed colours donated by the school garden",
        7,
        "needs_label",
    ),
    (
        "SB-00451",
        "Malus sylvestris",
        "crab apple seed cleaned and dried ready for store",
        7,
        "needs_label",
    ),
    (
        "SB-00459",
        "Quercus robur",
        "acorns of the parish oak not to be dried",
        5,
        "needs_label",
    ),
]
PAGE, MOST = 4, 50
REQUIRED, BLANK = "This field is required.", "This field may not be blank."


class SeedBank(Backend):
    """The label room."""

    def __init__(self) -> None:
        super().__init__()
        self.accessions: dict[Any, dict[str, Any]] = {
            number: {
                "accession_no": number,
                "taxon": taxon,
                "label_copy": copy,
                "print_style": "capitals",
                "note": "The label carries the label copy in capital letters, nothing else.",
                "payment": {"amount": amount, "unit": "credits"},
                "status": status,
            }
            for number, taxon, copy, amount, status in ACCESSIONS
        }
        self.earnable: dict[str, str] = {
            n: a["label_copy"]
            for n, a in self.accessions.items()
            if a["status"] == "needs_label"
        }
        self.agents: dict[str, dict[str, Any]] = {}
        self.jobs: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return dict(self.earnable)

    def missing(self, request: Request) -> Response:
        return Response(404, {"detail": "Not found."})

    # -- what the framework does

    def _agent(self, request: Request) -> tuple[dict[str, Any], Response | None]:
        challenge = {"WWW-Authenticate": "Bearer"}
        if not request.headers.get("Authorization"):
            detail = "Authentication credentials were not provided."
            return {}, Response(401, {"detail": detail}, challenge)
        agent = self.agents.get(request.token)
        return (
            (agent, None)
            if agent
            else ({}, Response(401, {"detail": "Invalid token."}, challenge))
        )

    @staticmethod
    def _data(request: Request) -> tuple[dict[str, Any], Response | None]:
        try:
            data = request.json() if request.raw.strip() else {}
        except ValueError as error:
            return {}, Response(400, {"detail": f"JSON parse error - {error}"})
        if not isinstance(data, dict):
            kind = type(data).__name__
            message = f"Invalid data. Expected a dictionary, but got {kind}."
            return {}, Response(400, {"non_field_errors": [message]})
        return data, None

    def _job(
        self, agent: dict[str, Any], data: dict[str, Any]
    ) -> tuple[dict[str, Any], str]:
        """Resolve the related field `job`; return it and what is wrong with it."""
        if "job" not in data:
            return {}, REQUIRED
        value = data["job"]
        if value is None:
            return {}, "This field may not be null."
        if isinstance(value, str) and value.isdigit():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            return (
                {},
                f"Incorrect type. Expected pk value, received {type(value).__name__}.",
            )
        job = self.jobs.get(value)
        if job is None or job["agent"] != agent["agent_id"]:
            return {}, f'Invalid pk "{value}" - object does not exist.'
        return job, ""

    # -- actions

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(20)
        agent = {"agent_id": f"volunteer-{1000 + len(self.agents)}", "credits": 100}
        self.agents[token] = agent
        return Response(201, {**agent, "access_token": token, "token_type": "Bearer"})

    def _page(self, request: Request, rows: list[dict[str, Any]]) -> Response:
        def number(name: str, default: int) -> int:
            value = request.query.get(name, "")
            return int(value) if value.isdigit() else default

        limit = min(number("limit", PAGE) or PAGE, MOST)
        offset = number("offset", 0)

        def link(start: int) -> str:
            return f"{request.base}{request.path}?limit={limit}&offset={start}"

        return Response(
            200,
            {
                "count": len(rows),
                "next": link(offset + limit) if offset + limit < len(rows) else None,
                "previous": link(max(offset - limit, 0)) if offset else None,
                "results": rows[offset : offset + limit],
            },
        )

    def tasks(self, request: Request) -> Response:
        _, refusal = self._agent(request)
        return refusal or self._page(request, list(self.accessions.values()))

    def marketplace(self, request: Request) -> Response:
        return self._page(
            request,
            [a for a in self.accessions.values() if a["status"] == "needs_label"],
        )

    def claim(self, request: Request) -> Response:
        agent, refusal = self._agent(request)
        if refusal:
            return refusal
        data, refusal = self._data(request)
        if refusal:
            return refusal
        number = data.get("accession_no")
        if "accession_no" not in data:
            return Response(400, {"accession_no": [REQUIRED]})
        if not isinstance(number, str) or number not in self.accessions:
            return Response(
                400,
                {
                    "accession_no": [
                        f"Object with accession_no={number} does not exist."
                    ]
                },
            )
        accession = self.accessions[number]
        for job in self.jobs.values():
            if job["accession_no"] == number and job["agent"] == agent["agent_id"]:
                return Response(200, job)
        if accession["status"] != "needs_label":
            return Response(
                409,
                {
                    "detail": f"Accession {number} does not need a label ({accession['status']})."
                },
            )
        accession["status"] = "in_progress"
        job = {
            "id": 70 + len(self.jobs),
            "accession_no": number,
            "agent": agent["agent_id"],
            "label_copy": accession["label_copy"],
            "state": "assigned",
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time())),
        }
        self.jobs[job["id"]] = job
        self.book.claimed(number)
        return Response(201, job)

    def submit(self, request: Request) -> Response:
        agent, refusal = self._agent(request)
        if refusal:
            return refusal
        data, refusal = self._data(request)
        if refusal:
            return refusal
        errors = {}
        job, wrong = self._job(agent, data)
        if wrong:
            errors["job"] = [wrong]
        label = data.get("label")
        if "label" not in data:
            errors["label"] = [REQUIRED]
        elif not isinstance(label, str):
            errors["label"] = ["Not a valid string."]
        elif not label.strip():
            errors["label"] = [BLANK]
        if not errors and label != job["label_copy"].upper():
            errors["label"] = ["The label must be the label copy in capital letters."]
        if errors:
            return Response(400, errors)
        if job["state"] == "assigned":
            job["state"] = "accepted"
            accession = self.accessions[job["accession_no"]]
            accession["status"] = "labelled"
            agent["credits"] += accession["payment"]["amount"]
            self.book.pay(job["accession_no"], accession["payment"]["amount"])
            return Response(
                200,
                {
                    **job,
                    "label": label,
                    "paid": accession["payment"],
                    "credits": agent["credits"],
                },
            )
        return Response(200, {**job, "label": label, "credits": agent["credits"]})

    def complete(self, request: Request) -> Response:
        agent, refusal = self._agent(request)
        if refusal:
            return refusal
        data, refusal = self._data(request)
        if refusal:
            return refusal
        job, wrong = self._job(agent, data)
        if wrong:
            return Response(400, {"job": [wrong]})
        if job["state"] == "assigned":
            return Response(409, {"detail": "This job has no accepted label yet."})
        job["state"] = "filed"
        return Response(200, {**job, "credits": agent["credits"]})
