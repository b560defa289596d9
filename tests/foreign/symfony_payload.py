"""A Symfony application in French: #[MapRequestPayload], violations, JSON-LD pages.

What the serializer cannot put into the DTO's constructor comes as violations (422), all of
them, with the name in `propertyPath` and the sentence translated; what the DTO holds is
validated only then, in the same form. Unknown names are ignored. A delivery's content is in
an object of its own. Collections are API Platform's without the old prefix: `member`,
`totalItems`, and a relative `view.next`. Completing pays.
"""

import json
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]

CONSIGNES = (
    "le chat dort sur le piano",
    "the wine list is upside down",
    "a ladder leans against the moon",
    "deux trains partent du village",
    "the concierge hides the good plums",
    "fold the napkins into swans",
    "the mayor opens the bridge again",
    "il pleut sur la fanfare",
    "somebody signed the wrong register",
    "the oven door needs a new spring",
    "a parrot repeats the shipping news",
)
PAGE = 4
OUVERTE, ATTRIBUEE, LIVREE, SOLDEE = "ouverte", "attribuee", "livree", "soldee"
# A DTO: the names of its constructor's arguments, and their types or DTOs of their own.
LIVRABLE: Json = {"contenu": "string", "format": "string"}
RESERVER: Json = {"mission": "int"}
LIVRER: Json = {"reservation": "string", "livrable": LIVRABLE}
CLOTURER: Json = {"reservation": "string"}
PYTHON = {"int": int, "string": str}


class ProblemError(Exception):
    def __init__(self, status: int, title: str, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.body = {
            "type": "https://tools.ietf.org/html/rfc2616#section-10",
            "title": title,
            "status": status,
            "detail": detail,
            **more,
        }


def misfits(body: Json, dto: Json, path: str = "") -> list[Json]:
    """Return the violations of what does not denormalize."""
    found = []
    for name, wanted in dto.items():
        place = f"{path}.{name}" if path else name
        value = body.get(name)
        if isinstance(wanted, dict) and isinstance(value, dict):
            found += misfits(value, wanted, place)
            continue
        kind = "App\\Dto\\Livrable" if isinstance(wanted, dict) else wanted
        fits = not isinstance(wanted, dict) and isinstance(value, PYTHON[wanted])
        if fits and not isinstance(value, bool):
            continue
        parameters = {"{{ type }}": kind}
        if name not in body:
            parameters["hint"] = (
                f'Failed to create object because the class misses the "{name}" property.'
            )
        found.append(
            {
                "propertyPath": place,
                "title": f"Cette valeur doit être de type {kind}.",
                "template": "This value should be of type {{ type }}.",
                "parameters": parameters,
            }
        )
    return found


def blanks(body: Json, dto: Json, path: str = "") -> list[Json]:
    """Return the violations of #[Assert\\NotBlank] and of the format's choice."""
    found = []
    for name, wanted in dto.items():
        place = f"{path}.{name}" if path else name
        if isinstance(wanted, dict):
            found += blanks(body[name], wanted, place)
        elif body[name] == "":
            found.append(
                {
                    "propertyPath": place,
                    "title": "Cette valeur ne doit pas être vide.",
                    "template": "This value should not be blank.",
                    "parameters": {"{{ value }}": '""'},
                    "type": "urn:uuid:c1051bb4-d103-4f74-8988-acbcafc7fdc3",
                }
            )
        elif name == "format" and body[name] not in ("texte", "html"):
            found.append(
                {
                    "propertyPath": place,
                    "title": "Cette valeur doit être l'un des choix proposés.",
                    "template": "The value you selected is not a valid choice.",
                    "parameters": {
                        "{{ value }}": json.dumps(body[name]),
                        "{{ choices }}": '"texte", "html"',
                    },
                    "type": "urn:uuid:8e179f1b-97aa-4560-a02f-2a8b42e49df7",
                }
            )
    return found


class SymfonyPayload(Backend):
    """Eleven missions."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: set[str] = set()
        self.bookings: dict[str, Json] = {}
        self.missions: dict[int, Json] = {
            n: {
                "@id": f"/api/missions/{n}",
                "@type": "Mission",
                "id": n,
                "intitule": "Mettre en majuscules",
                "consigne": text,
                "remuneration": n % 3 + 3,
                "etat": OUVERTE,
                "creeLe": "2025-02-11T10:00:00+01:00",
            }
            for n, text in enumerate(CONSIGNES, 501)
        }

    def texts(self) -> dict[str, str]:
        return {str(n): one["consigne"] for n, one in self.missions.items()}

    def missing(self, request: Request) -> Response:
        told = f'No route found for "{request.method} {request.base}{request.path}"'
        return self.problem(ProblemError(404, "An error occurred", told))

    @staticmethod
    def problem(error: ProblemError) -> Response:
        headers = {"Content-Type": "application/problem+json; charset=utf-8"}
        return Response(error.status, error.body, headers)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(24)
        self.agents.add(token)
        told = {"agent_id": secrets.token_hex(8), "access_token": token, "credits": 100}
        return Response(200, told)

    def tasks(self, request: Request) -> Response:
        page = max(int(request.query.get("page", "1") or 1), 1)
        every = [*self.missions.values()]
        last = -(-len(every) // PAGE)
        view = {
            "@id": f"{request.path}?page={page}",
            "@type": "PartialCollectionView",
            "first": f"{request.path}?page=1",
            "last": f"{request.path}?page={last}",
        }
        if page < last:
            view["next"] = f"{request.path}?page={page + 1}"
        found = {
            "@context": "/api/contexts/Mission",
            "@id": "/api/missions",
            "@type": "Collection",
            "totalItems": len(every),
            "member": every[(page - 1) * PAGE : page * PAGE],
            "view": view,
        }
        headers = {"Content-Type": "application/ld+json; charset=utf-8"}
        return Response(200, found, headers)

    def answered(self, request: Request, dto: Json, run: Any) -> Response:
        try:
            return Response(200, run(self.payload(request, dto)))
        except ProblemError as error:
            return self.problem(error)

    def payload(self, request: Request, dto: Json) -> Json:
        if request.token not in self.agents:
            raise ProblemError(401, "An error occurred", "Identifiants invalides.")
        try:
            body = request.json()
        except ValueError:
            told = 'Request payload contains invalid "json" data.'
            raise ProblemError(400, "An error occurred", told) from None
        body = body if isinstance(body, dict) else {}
        found = misfits(body, dto) or blanks(body, dto)
        if found:
            lines = [f"{one['propertyPath']}: {one['title']}" for one in found]
            raise ProblemError(
                422, "Validation Failed", "\n".join(lines), violations=found
            )
        return body

    def claim(self, request: Request) -> Response:
        return self.answered(request, RESERVER, self.on_claim)

    def on_claim(self, body: Json) -> Json:
        mission = self.missions.get(body["mission"])
        if mission is None:
            raise ProblemError(404, "An error occurred", "Mission introuvable.")
        if mission["etat"] != OUVERTE:
            told = "Cette mission est déjà attribuée."
            raise ProblemError(409, "An error occurred", told)
        mission["etat"] = ATTRIBUEE
        self.book.claimed(str(mission["id"]))
        key = secrets.token_hex(6)
        made = {"@type": "Reservation", "id": key, "mission": mission["@id"]}
        self.bookings[key] = {**made, "numero": mission["id"]}
        return {**made, "etat": "active"}

    def booked(self, body: Json, etat: str) -> Json:
        booking = self.bookings.get(body["reservation"])
        if booking is None:
            raise ProblemError(404, "An error occurred", "Réservation introuvable.")
        mission = self.missions[booking["numero"]]
        if mission["etat"] != etat:
            told = f"La mission est {mission['etat']}."
            raise ProblemError(409, "An error occurred", told)
        return mission

    def submit(self, request: Request) -> Response:
        return self.answered(request, LIVRER, self.on_submit)

    def on_submit(self, body: Json) -> Json:
        mission = self.booked(body, ATTRIBUEE)
        if body["livrable"]["contenu"] != mission["consigne"].upper():
            raise ProblemError(409, "An error occurred", "Le livrable est refusé.")
        mission["etat"] = LIVREE
        return {"reservation": body["reservation"], "etat": LIVREE}

    def complete(self, request: Request) -> Response:
        return self.answered(request, CLOTURER, self.on_complete)

    def on_complete(self, body: Json) -> Json:
        mission = self.booked(body, LIVREE)
        mission["etat"] = SOLDEE
        self.book.pay(str(mission["id"]), mission["remuneration"])
        return {
            "reservation": body["reservation"],
            "etat": SOLDEE,
            "montantVerse": mission["remuneration"],
        }
