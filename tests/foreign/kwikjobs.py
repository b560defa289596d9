"""Kwikjobs: one PHP script over MySQL on shared hosting."""

import secrets
from typing import Any
from urllib.parse import parse_qsl

from tests.foreign.backend import Backend, Request, Response

JOBS = [
    (17, "Shop sign, bakery", 12, "Fresh rolls from six, closed on Mondays"),
    (18, "Shop sign, cobbler", 8, "Soles and heels while you wait"),
    (21, "Van lettering", 20, "Brunner and Sons, removals near and far"),
    (22, "Window text", 6, "Sale ends Saturday"),
    (23, "Pub board", 10, "Soup of the day is leek and potato"),
    (26, "Market stall banner", 14, "Honey, wax and candles from our own hives"),
    (30, "Garage door", 9, "No parking in front of this gate"),
]
STATUS = ["new", "taken", "delivered", "closed"]


def error(message: str) -> Response:
    """Say no, with 200 as ever."""
    return Response(200, {"success": 0, "error": message}, refused=True)


class Kwikjobs(Backend):
    """Sign painters' jobs from a PHP script that answers 200 to everything.

    {"success": 1, ...} or {"success": 0, "error": "Missing parameter: job_id"}. All numbers
    from MySQL are strings ("17", "12.00"). The listing has pages (page, limit at most 5), no
    texts; claim's answer has them (job.text). All three want job_id and one's own agent_id;
    submit wants result besides (JSON or a form). Complete pays at once: balance.
    """

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.jobs: dict[str, dict[str, Any]] = {
            str(number): {
                "title": title,
                "price": price,
                "text": text,
                "status": 0,
                "agent": None,
            }
            for number, title, price, text in JOBS
        }
        self.jobs["19"] = {
            "title": "Shop sign, florist",
            "price": 11,
            "text": "Roses",
            "status": 3,
            "agent": "402",
        }
        self.jobs["25"] = {
            "title": "Old tram",
            "price": 16,
            "text": "Depot",
            "status": 1,
            "agent": "377",
        }
        self.jobs = dict(sorted(self.jobs.items(), key=lambda pair: int(pair[0])))
        self.doable = {k: j["text"] for k, j in self.jobs.items() if j["status"] == 0}

    def texts(self) -> dict[str, str]:
        """Return the texts by job."""
        return dict(self.doable)

    def missing(self, request: Request) -> Response:
        """Return Apache's page."""
        return Response(
            404,
            "<html><head><title>404 Not Found</title></head><body><h1>Not Found"
            "</h1></body></html>",
            {"Content-Type": "text/html"},
        )

    def register(self, request: Request) -> Response:
        """Make an agent."""
        self.book.registrations += 1
        token = secrets.token_hex(16)
        self.agents[token] = {"id": str(500 + self.book.registrations), "credits": 100}
        return Response(
            200,
            {
                "success": 1,
                "agent_id": self.agents[token]["id"],
                "access_token": token,
                "credits": 100,
            },
        )

    def row(self, key: str) -> dict[str, Any]:
        """Return a job's row for the listing."""
        job = self.jobs[key]
        return {
            "job_id": key,
            "title": job["title"],
            "price": f"{job['price']}.00",
            "status": str(job["status"]),
            "status_text": STATUS[job["status"]],
        }

    def tasks(self, request: Request) -> Response:
        """List the jobs by pages."""
        limit = request.query.get("limit", "5")
        size = min(5, int(limit)) if limit.isdigit() and int(limit) else 5
        number = request.query.get("page", "1")
        page = int(number) if number.isdigit() and int(number) else 1
        keys = list(self.jobs)
        pages = -(-len(keys) // size)
        return Response(
            200,
            {
                "success": 1,
                "total": str(len(keys)),
                "page": page,
                "pages": pages,
                "jobs": [self.row(k) for k in keys[(page - 1) * size : page * size]],
            },
        )

    def marketplace(self, request: Request) -> Response:
        """List the new jobs only."""
        return Response(
            200,
            {
                "success": 1,
                "jobs": [self.row(k) for k, j in self.jobs.items() if j["status"] == 0][
                    :5
                ],
            },
        )

    def read(
        self, request: Request, *more: str, own: bool = True
    ) -> tuple[Any, dict[str, str], Any]:
        """Return the agent and the parameters, or a refusal as third."""
        agent = self.agents.get(request.token)
        if agent is None:
            return None, {}, error("Invalid or missing token")
        try:
            body = request.json()
        except ValueError:
            body = dict(parse_qsl(request.raw.decode(errors="replace")))
        body = body if isinstance(body, dict) else {}
        values = {}
        for name in ("job_id", "agent_id", *more):
            value = body.get(name)
            if (
                value is None
                or isinstance(value, (dict, list))
                or str(value).strip() == ""
            ):
                return None, {}, error(f"Missing parameter: {name}")
            values[name] = str(value)
        if values["agent_id"] != agent["id"]:
            return None, {}, error("agent_id does not belong to this token")
        if values["job_id"] not in self.jobs:
            return None, {}, error("Job not found")
        if own and self.jobs[values["job_id"]]["agent"] != agent["id"]:
            return None, {}, error("This is not your job")
        return agent, values, None

    def claim(self, request: Request) -> Any:
        """Give a job to the caller."""
        agent, values, no = self.read(request, own=False)
        if no:
            return no
        key, job = values["job_id"], self.jobs[values["job_id"]]
        if job["agent"] not in (None, agent["id"]):
            return error("Job already taken")
        if job["status"] == 0:
            job["status"], job["agent"] = 1, agent["id"]
            self.book.claimed(key)
        return Response(
            200,
            {
                "success": 1,
                "message": "Job is yours",
                "job": {**self.row(key), "text": job["text"]},
            },
        )

    def submit(self, request: Request) -> Any:
        """Take a result."""
        _agent, values, no = self.read(request, "result")
        if no:
            return no
        job = self.jobs[values["job_id"]]
        if job["status"] == 3:
            return error("Job is closed")
        if values["result"] != job["text"].upper():
            return error("Result is not correct, customer declined")
        job["status"] = 2
        return Response(
            200,
            {
                "success": 1,
                "message": "Result saved",
                "job": self.row(values["job_id"]),
            },
        )

    def complete(self, request: Request) -> Any:
        """Close the job and pay."""
        agent, values, no = self.read(request)
        if no:
            return no
        key, job = values["job_id"], self.jobs[values["job_id"]]
        if job["status"] == 1:
            return error("No result for this job yet")
        if job["status"] == 3:
            return Response(
                200,
                {
                    "success": 1,
                    "message": "Job was closed before",
                    "job": self.row(key),
                    "balance": f"{agent['credits']}.00",
                },
            )
        job["status"] = 3
        agent["credits"] += job["price"]
        self.book.pay(key, job["price"])
        return Response(
            200,
            {
                "success": 1,
                "message": f"Job closed, {job['price']}.00 credits "
                "added to your account",
                "job": self.row(key),
                "balance": f"{agent['credits']}.00",
            },
        )
