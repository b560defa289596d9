"""A city's heritage office in PHP: Symfony 6, API Platform 3, JSON-LD with Hydra.

Things are named by their IRI ("/api/plaques/41"), in requests as in answers. What the
serializer cannot read is a hydra:Error 400; what the validator minds is a 422 with a list of
violations. Attributes that are not the resource's are refused. Tokens are Lexik's.
"""

import functools
import re
import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_PLAQUES = [
    (41, "Rope Walk 3", "here stood the last cooperage", "en", "12.00"),
    (42, "Mint Lane 19", "the first tram turned at this corner", "en", "16.00"),
    (44, "Quai du Nord 2", "ici vivait la marchande de cordes", "fr", "21.00"),
    (45, "Tanner's Row 8", "a well of sweet water, closed 1874", "en", "9.00"),
    (47, "Impasse des Fours 5", "four banal de la paroisse", "fr", "13.00"),
    (48, "Candle Yard", "the great fire began two doors down", "en", "18.00"),
    (52, "Brunnengasse 11", "haus zum goldenen apfel", "de", "8.00"),
    (53, "Old Custom House", "wool, wine and oranges were weighed here", "en", "24.00"),
    (55, "Marktplatz 1", "alte waage der stadt", "de", "10.00"),
    (58, "Gasworks Road 40", "birthplace of the river pilot", "en", "15.00"),
]
_PAGE = 6
_NOT_NULL = ("This value should not be null.", "ad32d13f-c3d4-423b-909a-857b961eb720")
_NOT_BLANK = ("This value should not be blank.", "c1051bb4-d103-4f74-8988-acbcafc7fdc3")
_NO_LANGUAGE = (
    "This value is not a valid language.",
    "ee65fec4-9a20-4202-9f39-ca558cd7bdf7",
)
_IS_TRUE = ("This value should be true.", "2beabf1c-54c0-4882-a928-05249b26e23b")
_LD = {"Content-Type": "application/ld+json; charset=utf-8"}


class _Thrown(Exception):  # noqa: N818
    def __init__(self, response: Response) -> None:
        super().__init__(response.status)
        self.response = response


def _error(status: int, detail: str) -> _Thrown:
    body = {
        "@context": "/api/contexts/Error",
        "@id": f"/api/errors/{status}",
        "@type": "hydra:Error",
        "title": "An error occurred",
        "detail": detail,
        "status": status,
        "type": f"/errors/{status}",
        "hydra:title": "An error occurred",
        "hydra:description": detail,
    }
    return _Thrown(Response(status, body, dict(_LD)))


def _violated(violations: list[tuple[str, tuple[str, str]]]) -> _Thrown:
    detail = "\n".join(f"{p}: {m}" if p else m for p, (m, _) in violations)
    code = violations[0][1][1]
    body = {
        "@context": "/api/contexts/ConstraintViolationList",
        "@id": f"/api/validation_errors/{code}",
        "@type": "ConstraintViolationList",
        "status": 422,
        "violations": [
            {"propertyPath": path, "message": message, "code": code}
            for path, (message, code) in violations
        ],
        "detail": detail,
        "type": f"/validation_errors/{code}",
        "title": "An error occurred",
        "hydra:title": "An error occurred",
        "hydra:description": detail,
    }
    return _Thrown(Response(422, body, dict(_LD)))


def _php_type(value: Any) -> str:
    names = {
        bool: "bool",
        int: "int",
        float: "float",
        str: "string",
        type(None): "null",
    }
    return names.get(type(value), "array")


def _denormalize(request: Request, **shape: str) -> dict[str, Any]:
    """Read the attributes; a kind that begins with / is a relation to such things."""
    media = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
    if media not in ("application/ld+json", "application/json"):
        raise _error(
            415,
            f'The content-type "{media}" is not supported. Supported MIME types are '
            '"application/ld+json", "application/json".',
        )
    try:
        body = request.json()
    except ValueError:
        raise _error(400, "Syntax error") from None
    if not isinstance(body, dict):
        words = f'Expected IRI or document for resource, "{_php_type(body)}" given.'
        raise _error(400, words)
    extra = [name for name in body if name not in shape and name[:1] != "@"]
    if extra:
        names = ", ".join(f'"{name}"' for name in extra)
        verb = "are" if len(extra) > 1 else "is"
        raise _error(400, f"Extra attributes are not allowed ({names} {verb} unknown).")
    found: dict[str, Any] = dict.fromkeys(shape)
    for name, kind in shape.items():
        value = body.get(name)
        if value is None:
            continue
        if kind.startswith("/"):
            if isinstance(value, dict) and isinstance(value.get("@id"), str):
                value = value["@id"]
            if isinstance(value, dict):
                words = f'Nested documents for attribute "{name}" are not allowed. Use IRIs instead.'
                raise _error(400, words)
            if not isinstance(value, str):
                raise _error(
                    400,
                    f'The type of the "{name}" attribute must be "array" (nested document) '
                    f'or "string" (IRI), "{_php_type(value)}" given.',
                )
            if not re.fullmatch(r"/api/(plaques/\d+|commissions/[0-9a-f-]{36})", value):
                raise _error(400, f'Invalid IRI "{value}".')
            if not value.startswith(kind):
                wanted = kind.split("/")[2][:-1].capitalize()
                words = f'The iri "{value}" does not reference the correct resource, "{wanted}" expected.'
                raise _error(400, words)
        elif _php_type(value) != kind:
            raise _error(
                400,
                f'The type of the "{name}" attribute must be "{kind}", '
                f'"{_php_type(value)}" given.',
            )
        found[name] = value
    return found


def _operation(method: Callable[..., Response]) -> Callable[..., Response]:
    @functools.wraps(method)
    def run(self: Any, request: Request) -> Response:
        try:
            answer = method(self, request)
        except _Thrown as thrown:
            return thrown.response
        answer.headers = {**_LD, **answer.headers}
        return answer

    return run


def _atom(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S+00:00")


class HeritagePlaques(Backend):
    """Plaques are commissioned, lettered in capitals, and accepted with the terms."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.commissions: dict[str, dict[str, Any]] = {}
        self.owners: dict[str, str] = {}
        self.plaques: dict[str, dict[str, Any]] = {
            f"/api/plaques/{number}": {
                "@id": f"/api/plaques/{number}",
                "@type": "Plaque",
                "id": number,
                "address": address,
                "inscription": inscription,
                "language": language,
                "brief": "Please return the inscription lettered in capitals.",
                "remuneration": fee,
                "currency": "credits",
                "status": "vacant",
            }
            for number, address, inscription, language, fee in _PLAQUES
        }

    def texts(self) -> dict[str, str]:
        return {str(p["id"]): p["inscription"] for p in self.plaques.values()}

    def missing(self, request: Request) -> Response:
        return _error(
            404, f'No route found for "{request.method} {request.base}{request.path}"'
        ).response

    def user(self, request: Request) -> dict[str, Any]:
        if request.token not in self.agents:
            words = "Invalid JWT Token" if request.token else "JWT Token not found"
            headers = {"WWW-Authenticate": "Bearer"}
            raise _Thrown(Response(401, {"code": 401, "message": words}, headers))
        return self.agents[request.token]

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = ".".join(secrets.token_urlsafe(n) for n in (27, 60, 48))
        agent = {"agent_id": str(uuid.uuid4()), "credits": 100}
        self.agents[token] = agent
        return Response(200, {**agent, "access_token": token})

    @_operation
    def marketplace(self, request: Request) -> Response:
        asked = {}
        for name, usual in (("limit", _PAGE), ("page", 1)):
            text = request.query.get(name, "")
            asked[name] = int(text) if text.isdecimal() else usual
            if name == "page" and asked[name] < 1:
                raise _error(400, "Page should not be less than 1")
        every = [p for p in self.plaques.values() if p["status"] == "vacant"]
        limit, page = min(asked["limit"] or _PAGE, _PAGE), asked["page"]
        last = max(1, -(-len(every) // limit))

        def at(number: int) -> str:
            return f"{request.path}?limit={limit}&page={number}"

        view = {
            "@id": at(page),
            "@type": "hydra:PartialCollectionView",
            "hydra:first": at(1),
            "hydra:last": at(last),
        }
        if page < last:
            view["hydra:next"] = at(page + 1)
        return Response(
            200,
            {
                "@context": "/api/contexts/Plaque",
                "@id": "/api/plaques",
                "@type": "hydra:Collection",
                "hydra:totalItems": len(every),
                "hydra:member": every[(page - 1) * limit : page * limit],
                "hydra:view": view,
            },
        )

    @_operation
    def tasks(self, request: Request) -> Response:
        self.user(request)
        return self.marketplace(request)

    @_operation
    def claim(self, request: Request) -> Response:
        user = self.user(request)
        given = _denormalize(request, plaque="/api/plaques/")
        if given["plaque"] is None:
            raise _violated([("plaque", _NOT_NULL)])
        plaque = self.plaques.get(given["plaque"])
        if plaque is None:
            raise _error(400, f'Item not found for "{given["plaque"]}".')
        if plaque["status"] != "vacant":
            words = "This plaque has already been commissioned."
            raise _violated(
                [("plaque", (words, "23bd9dbf-6b9b-41cd-a99e-4844bcf3077f"))]
            )
        plaque["status"] = "commissioned"
        self.book.claimed(str(plaque["id"]))
        key = str(uuid.uuid4())
        commission = {
            "@context": "/api/contexts/Commission",
            "@id": f"/api/commissions/{key}",
            "@type": "Commission",
            "plaque": plaque["@id"],
            "state": "assigned",
            "lettering": None,
            "createdAt": _atom(datetime.now(UTC)),
        }
        self.commissions[commission["@id"]] = commission
        self.owners[commission["@id"]] = user["agent_id"]
        return Response(200, dict(commission))

    def commission(self, user: dict[str, Any], iri: str) -> dict[str, Any]:
        if iri not in self.commissions:
            raise _error(400, f'Item not found for "{iri}".')
        if self.owners[iri] != user["agent_id"]:
            raise _error(403, "Access Denied.")
        return self.commissions[iri]

    def transition(self, commission: dict[str, Any], name: str, source: str) -> None:
        """Symfony's workflow component, whose exception the team shows as a 409."""
        if commission["state"] != source:
            raise _error(
                409,
                f'Transition "{name}" is not enabled in workflow "commission": '
                f'the commission is in place "{commission["state"]}".',
            )

    @_operation
    def submit(self, request: Request) -> Response:
        user = self.user(request)
        given = _denormalize(
            request,
            commission="/api/commissions/",
            lettering="string",
            language="string",
        )
        wrong = []
        if given["commission"] is None:
            wrong.append(("commission", _NOT_NULL))
        blank = [n for n in ("lettering", "language") if not (given[n] or "").strip()]
        wrong += [(name, _NOT_BLANK) for name in blank]
        if given["language"] and not re.fullmatch("[a-z]{2,3}", given["language"]):
            wrong.append(("language", _NO_LANGUAGE))
        if wrong:
            raise _violated(wrong)
        commission = self.commission(user, given["commission"])
        self.transition(commission, "letter", "assigned")
        plaque = self.plaques[commission["plaque"]]
        code = "778b7ae0-84d3-481a-9dec-35fdb64b1d78"
        if given["language"] != plaque["language"]:
            words = f'This value should be equal to "{plaque["language"]}".'
            wrong.append(("language", (words, "478618a7-95ba-473d-9101-cabd45e49115")))
        if given["lettering"].strip() != plaque["inscription"].upper():
            words = "The lettering is not the inscription of the plaque in capitals."
            wrong.append(("lettering", (words, code)))
        if wrong:
            raise _violated(wrong)
        commission |= {"state": "lettered", "lettering": given["lettering"]}
        return Response(200, dict(commission))

    @_operation
    def complete(self, request: Request) -> Response:
        user = self.user(request)
        given = _denormalize(
            request, commission="/api/commissions/", termsAccepted="bool"
        )
        wrong = []
        if given["commission"] is None:
            wrong.append(("commission", _NOT_NULL))
        if given["termsAccepted"] is None:
            wrong.append(("termsAccepted", _NOT_NULL))
        elif not given["termsAccepted"]:
            wrong.append(("termsAccepted", _IS_TRUE))
        if wrong:
            raise _violated(wrong)
        commission = self.commission(user, given["commission"])
        self.transition(commission, "deliver", "lettered")
        plaque = self.plaques[commission["plaque"]]
        commission["state"] = "delivered"
        plaque["status"] = "delivered"
        fee = int(float(plaque["remuneration"]))
        self.book.pay(str(plaque["id"]), fee)
        user["credits"] += fee
        paid = {"remuneration": plaque["remuneration"], "currency": "credits"}
        return Response(200, commission | paid)
