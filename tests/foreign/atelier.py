"""Symfony API with MapRequestPayload and the validator: an atelier's sign-writing missions."""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PROBLEM = {"Content-Type": "application/problem+json"}
TITLES = {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found"}
TITLES |= {409: "Conflict", 415: "Unsupported Media Type"}
MISSIONS = [
    (17, "Enseigne de boulangerie", "bread at six, cakes at eight", 26, "open"),
    (18, "Plaque de rue", "passage of the three clocks", 18, "open"),
    (19, "Menu du jour", "onion soup and a pear tart", 21, "cancelled"),
    (22, "Affiche de bal", "dancing under the plane trees", 33, "open"),
    (23, "Avis de la mairie", "market moved to the lower square", 29, "open"),
    (26, "Carte de visite", "odile marchand, bookbinder", 16, "open"),
]
UNIQUE, BLANK = (
    "23bd9dbf-6b9b-41cd-a99e-4844bcf3077f",
    "c1051bb4-d103-4f74-8988-acbcafc7fdc3",
)
RANGE = "04b91c99-a946-4221-afc5-e65ebac401eb"
MAX_OPEN = 2


def problem(status: int, detail: str = "") -> Response:
    """The ProblemNormalizer; a DomainException brings its own detail."""
    body = {
        "type": "https://tools.ietf.org/html/rfc2616#section-10",
        "title": "An error occurred",
        "status": status,
        "detail": detail or TITLES[status],
    }
    return Response(status, body, dict(PROBLEM))


def violations(found: list[dict[str, Any]]) -> Response:
    lines = [f"{v['propertyPath']}: {v['title']}" for v in found]
    body = {
        "type": "https://symfony.com/errors/validation",
        "title": "Validation Failed",
        "status": 422,
        "detail": "\n".join(lines),
        "violations": found,
    }
    return Response(422, body, dict(PROBLEM))


def violation(
    path: str, template: str, parameters: dict[str, Any], code: str = ""
) -> dict[str, Any]:
    title = template
    for name, value in parameters.items():
        title = title.replace(name, value)
    found: dict[str, Any] = {"propertyPath": path, "title": title, "template": template}
    found["parameters"] = parameters
    return found | ({"type": f"urn:uuid:{code}"} if code else {})


def payload(dto: dict[str, str], data: Any) -> list[dict[str, Any]]:
    """Denormalize into the DTO (types are strict in JSON), then validate it."""
    found = []
    data = data if isinstance(data, dict) else {}
    for name, kind in dto.items():
        value = data.get(name)
        if type(value) is not {"int": int, "string": str}[kind]:
            v = violation(
                name, "This value should be of type {{ type }}.", {"{{ type }}": kind}
            )
            if name not in data:
                v["parameters"]["hint"] = (
                    f'Failed to create object because the class misses the "{name}" property.'
                )
            found.append(v)
    if found:
        return found
    for name in dto:
        if data[name] == "":
            shown = {"{{ value }}": '""'}
            found.append(
                violation(name, "This value should not be blank.", shown, BLANK)
            )
        if name == "confidence" and not 0 <= data[name] <= 100:
            shown = {
                "{{ value }}": str(data[name]),
                "{{ min }}": "0",
                "{{ max }}": "100",
            }
            text = "This value should be between {{ min }} and {{ max }}."
            found.append(violation(name, text, shown, RANGE))
    return found


class Atelier(Backend):
    """{data: [...], meta}: missions with integer ids and remuneration; the text is in the claim.

    claim: {missionId: int} -> the mission with texte; submit: {missionId, content, confidence
    0..100}; complete: {missionId} -> {mission, remuneration, solde}, paid at once. At most two
    missions open at a time (409). Refusals are RFC 7807 problems, 422 with violations.
    """

    def __init__(self) -> None:
        super().__init__()
        self.missions = {
            i: {
                "id": i,
                "titre": t,
                "texte": x,
                "remuneration": r,
                "statut": s,
                "owner": "",
            }
            for i, t, x, r, s in MISSIONS
        }
        self.members: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(i): x for i, _, x, _, s in MISSIONS if s == "open"}

    def missing(self, request: Request) -> Response:
        return problem(404)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(32)
        self.members[token] = {"agent_id": secrets.token_hex(8), "credits": 100}
        return Response(200, self.members[token] | {"access_token": token})

    def _show(self, m: dict[str, Any], *, full: bool = False) -> dict[str, Any]:
        shown = {k: m[k] for k in ("id", "titre", "remuneration", "statut")}
        if full:
            shown |= {
                "texte": m["texte"],
                "consigne": "Recopier le texte en capitales.",
            }
        return shown

    def tasks(self, request: Request) -> Response:
        limit, page = request.query.get("limit", "10"), request.query.get("page", "1")
        if not limit.isdigit() or not page.isdigit() or "0" in (limit, page):
            return problem(404)  # MapQueryParameter answers 404 to a bad value
        size, at = min(int(limit), 30), int(page)
        every = list(self.missions.values())
        data = [self._show(m) for m in every[(at - 1) * size : at * size]]
        meta = {"currentPage": at, "itemsPerPage": size, "totalItems": len(every)}
        return Response(200, {"data": data, "meta": meta})

    def marketplace(self, request: Request) -> Response:
        free = [self._show(m) for m in self.missions.values() if m["statut"] == "open"]
        return Response(200, {"data": free})

    def _load(
        self, request: Request, dto: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any], Response | None]:
        if request.token not in self.members:
            no = problem(401)
            no.headers["WWW-Authenticate"] = "Bearer"
            return {}, {}, no
        if "json" not in (request.headers.get("Content-Type") or ""):
            return {}, {}, problem(415)
        try:
            data = request.json()
        except ValueError:
            return {}, {}, problem(400)
        if found := payload(dto, data):
            return {}, {}, violations(found)
        mission = self.missions.get(data["missionId"])
        return data, mission or {}, None if mission else problem(404)

    def claim(self, request: Request) -> Response:
        _data, m, no = self._load(request, {"missionId": "int"})
        if no:
            return no
        if m["owner"] != request.token:
            if m["statut"] != "open":
                return problem(409, f"Mission {m['id']} is not open ({m['statut']}).")
            busy = [x for x in self.missions.values() if x["owner"] == request.token]
            if sum(x["statut"] != "done" for x in busy) >= MAX_OPEN:
                return problem(
                    409,
                    f"You already have {MAX_OPEN} missions in progress, complete one first.",
                )
            m["statut"], m["owner"] = "in_progress", request.token
            self.book.claimed(str(m["id"]))
        return Response(200, {"mission": self._show(m, full=True)})

    def submit(self, request: Request) -> Response:
        dto = {"missionId": "int", "content": "string", "confidence": "int"}
        data, m, no = self._load(request, dto)
        if no:
            return no
        if m["owner"] != request.token:
            return problem(403)
        if data["content"] != m["texte"].upper():
            text = "The content is not the text of the mission in capitals."
            return violations([violation("content", text, {}, UNIQUE)])
        if m["statut"] == "in_progress":
            m["statut"] = "delivered"
        return Response(200, {"mission": self._show(m)})

    def complete(self, request: Request) -> Response:
        _data, m, no = self._load(request, {"missionId": "int"})
        if no:
            return no
        if m["owner"] != request.token:
            return problem(403)
        if m["statut"] == "in_progress":
            return problem(409, "The mission has no delivered content.")
        if m["statut"] == "done":
            return problem(409, "The mission is already done.")
        m["statut"] = "done"
        member = self.members[request.token]
        member["credits"] += m["remuneration"]
        self.book.pay(str(m["id"]), m["remuneration"])
        paid = {"mission": self._show(m), "remuneration": m["remuneration"]}
        return Response(200, paid | {"solde": member["credits"]})
