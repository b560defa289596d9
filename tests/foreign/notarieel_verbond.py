"""Notarieel Verbond Nederland: headings of deeds to be set in capitals, Quarkus REST.

Hibernate Validator's report is the framework's own (title, status, violations); a body
that Jackson cannot bind gets, as in production, a bare 400. The association's own mapper
answers its business errors as {"code", "melding"}.
"""

import json
import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_OFFERED = {"register", "tasks", "claim", "submit", "complete"}
_MAX_OPEN = 3
_DOSSIER = r"\d{4}\.\d{6}\.\d{2}"

# dossiernummer, aktesoort, kantoor, honorarium, tekst
_OPDRACHTEN = [
    (
        "2024.003117.01",
        "LEVERING",
        (1183, "Van Dalen Notarissen", "Haarlem"),
        16,
        "Akte van levering van een woonhuis te Haarlem",
    ),
    (
        "2024.003120.01",
        "HYPOTHEEK",
        (1183, "Van Dalen Notarissen", "Haarlem"),
        14,
        "Akte van hypotheek ten gunste van de Coöperatieve Spaarbank",
    ),
    (
        "2024.003126.02",
        "TESTAMENT",
        (1207, "Notariskantoor De Eendracht", "Zwolle"),
        19,
        "Testament met benoeming van één executeur",
    ),
    (
        "2024.003131.01",
        "OPRICHTING",
        (1340, "Brouwer & Pool", "Rotterdam"),
        21,
        "Oprichting van een besloten vennootschap met beperkte aansprakelijkheid",
    ),
    (
        "2024.003131.02",
        "STATUTEN",
        (1340, "Brouwer & Pool", "Rotterdam"),
        17,
        "Wijziging van de statuten, artikel 4 tot en met 7",
    ),
    (
        "2024.003144.01",
        "VOLMACHT",
        (1207, "Notariskantoor De Eendracht", "Zwolle"),
        9,
        "Algemene volmacht voor zakelijke en persoonlijke aangelegenheden",
    ),
    (
        "2024.003152.01",
        "HUWELIJK",
        (1415, "Notaris Terpstra", "Leeuwarden"),
        15,
        "Huwelijkse voorwaarden met uitsluiting van iedere gemeenschap",
    ),
    (
        "2024.003160.01",
        "VERKLARING",
        (1415, "Notaris Terpstra", "Leeuwarden"),
        12,
        "Verklaring van erfrecht na het overlijden van de weduwe",
    ),
    (
        "2024.003163.01",
        "SPLITSING",
        (1183, "Van Dalen Notarissen", "Haarlem"),
        18,
        "Splitsing in drie appartementsrechten",
    ),
    (
        "2024.003170.03",
        "SCHENKING",
        (1522, "Kantoor Maasoever", "Roermond"),
        11,
        "Schenking op papier aan de kinderen, vóór het einde van het jaar",
    ),
]


class _BareError(Exception):
    """The framework's refusal without a body."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class _ViolationsError(Exception):
    def __init__(self, violations: list[dict[str, str]]) -> None:
        super().__init__(violations)
        self.violations = violations


class _FoutError(Exception):
    """NotariaatException, answered by the association's ExceptionMapper."""

    def __init__(self, status: int, code: str, melding: str) -> None:
        super().__init__(melding)
        self.status, self.code, self.melding = status, code, melding


def _json(status: int, body: Any, headers: dict[str, str] | None = None) -> Response:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return Response(
        status,
        text.encode(),
        {"Content-Type": "application/json;charset=UTF-8", **(headers or {})},
    )


def _bare(status: int, headers: dict[str, str] | None = None) -> Response:
    return Response(status, b"", headers or {})


def _nu() -> str:
    """An Instant, as Jackson writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


# -- Jackson, as far as these requests need it


def _string(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        raise _BareError(400)
    return json.dumps(value)


def _uuid(value: Any) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str) or not re.fullmatch(
        r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", value.strip()
    ):
        raise _BareError(400)
    return value.strip().lower()


# -- Hibernate Validator


def _not_null(value: Any) -> str:
    return "must not be null" if value is None else ""


def _not_blank(value: str | None) -> str:
    return "" if value is not None and value.strip() else "must not be blank"


def _pattern(value: str | None, regexp: str) -> str:
    if value is None or re.fullmatch(regexp, value, re.ASCII):
        return ""
    return f'must match "{regexp}"'


def _size(value: str | None, most: int) -> str:
    if value is None or len(value) <= most:
        return ""
    return f"size must be between 0 and {most}"


def _check(*checks: tuple[str, str]) -> None:
    violations = [{"field": f, "message": m} for f, m in checks if m]
    if violations:
        raise _ViolationsError(violations)


class NotarieelVerbond(Backend):
    """The notary association's exchange of writing work."""

    def __init__(self) -> None:
        super().__init__()
        self._medewerkers: dict[str, dict[str, Any]] = {}  # token -> medewerker
        self._toewijzingen: dict[str, dict[str, Any]] = {}
        self._opdrachten = {
            nummer: {
                "dossiernummer": nummer,
                "aktesoort": soort,
                "omschrijving": "Zet de opgegeven tekst volledig om in hoofdletters; "
                "de tekst wordt vrijgegeven bij toewijzing",
                "kantoor": dict(
                    zip(("kantoornummer", "naam", "plaats"), kantoor, strict=False)
                ),
                "honorarium": honorarium,
                "status": "BESCHIKBAAR",
                "aangebodenOp": "2024-11-18",
            }
            for nummer, soort, kantoor, honorarium, _ in _OPDRACHTEN
        }

    def texts(self) -> dict[str, str]:
        return {nummer: tekst for nummer, _, _, _, tekst in _OPDRACHTEN}

    def missing(self, request: Request) -> Response:
        allowed = [
            m for (m, p), a in ACTIONS.items() if p == request.path and a in _OFFERED
        ]
        if allowed and request.method not in allowed:
            return _bare(405)
        return _bare(404)

    # -- what the framework does around a resource method

    def _run(self, resource: Any, request: Request) -> Response:
        medewerker = self._medewerkers.get(request.token)
        if medewerker is None:
            return _bare(401, {"www-authenticate": "Bearer"})
        try:
            return _json(200, resource(request, medewerker))
        except _BareError as e:
            return _bare(e.status)
        except _ViolationsError as e:
            return _json(
                400,
                {
                    "title": "Constraint Violation",
                    "status": 400,
                    "violations": e.violations,
                },
                {"validation-exception": "true"},
            )
        except _FoutError as e:
            return _json(e.status, {"code": e.code, "melding": e.melding})

    def _body(self, request: Request, method: str, **fields: Any) -> dict[str, Any]:
        """Bind the body to `@NotNull @Valid ... verzoek`."""
        media = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
        if media and media.lower() != "application/json":
            raise _BareError(415)
        value = None
        if request.raw:
            try:
                value = request.json()
            except ValueError:
                raise _BareError(400) from None
            if value is not None and not isinstance(value, dict):
                raise _BareError(400)
        _check((f"{method}.verzoek", _not_null(value)))
        return {name: bind((value or {}).get(name)) for name, bind in fields.items()}

    def _toewijzing(self, medewerker: dict[str, Any], id_: str) -> dict[str, Any]:
        toewijzing = self._toewijzingen.get(id_)
        if toewijzing is None or toewijzing["medewerker"] is not medewerker:
            raise _FoutError(
                404, "TOEWIJZING_NIET_GEVONDEN", f"Toewijzing {id_} is niet gevonden"
            )
        return toewijzing

    # -- the resources

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = uuid.uuid4().hex + uuid.uuid4().hex
        id_ = str(uuid.uuid4())
        self._medewerkers[token] = {"id": id_, "saldo": 100}
        return _json(200, {"agent_id": id_, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        return self._run(self._lijst, request)

    def claim(self, request: Request) -> Response:
        return self._run(self._wijs_toe, request)

    def submit(self, request: Request) -> Response:
        return self._run(self._lever_in, request)

    def complete(self, request: Request) -> Response:
        return self._run(self._rond_af, request)

    def _lijst(self, request: Request, medewerker: dict[str, Any]) -> Any:
        limit = 25
        if "limit" in request.query:
            if not re.fullmatch(r"[+-]?[0-9]{1,9}", request.query["limit"]):
                raise _BareError(
                    404
                )  # what JAX-RS asks for a @QueryParam that is no int
            limit = int(request.query["limit"])
            _check(
                (
                    "lijst.limit",
                    "must be greater than or equal to 1" if limit < 1 else "",
                ),
                (
                    "lijst.limit",
                    "must be less than or equal to 100" if limit > 100 else "",
                ),
            )
        alle = list(self._opdrachten.values())
        return {"opdrachten": alle[:limit], "totaal": len(alle)}

    def _wijs_toe(self, request: Request, medewerker: dict[str, Any]) -> Any:
        verzoek = self._body(request, "wijsToe", dossiernummer=_string)
        nummer = verzoek["dossiernummer"]
        _check(
            ("wijsToe.verzoek.dossiernummer", _not_blank(nummer)),
            ("wijsToe.verzoek.dossiernummer", _pattern(nummer, _DOSSIER)),
        )
        opdracht = self._opdrachten.get(nummer)
        if opdracht is None:
            raise _FoutError(
                404, "DOSSIER_NIET_GEVONDEN", f"Dossier {nummer} is niet gevonden"
            )
        if opdracht["status"] != "BESCHIKBAAR":
            raise _FoutError(
                409,
                "OPDRACHT_NIET_BESCHIKBAAR",
                f"De opdracht in dossier {nummer} is niet meer beschikbaar",
            )
        lopend = [
            t
            for t in self._toewijzingen.values()
            if t["medewerker"] is medewerker and t["status"] != "AFGEROND"
        ]
        if len(lopend) >= _MAX_OPEN:
            raise _FoutError(
                409,
                "MAXIMUM_TOEWIJZINGEN",
                f"U heeft al {_MAX_OPEN} lopende toewijzingen; rond er eerst een af",
            )
        opdracht["status"] = "TOEGEWEZEN"
        id_ = str(uuid.uuid4())
        self._toewijzingen[id_] = {
            "medewerker": medewerker,
            "opdracht": opdracht,
            "status": "TOEGEWEZEN",
        }
        self.book.claimed(nummer)
        return {
            "toewijzingId": id_,
            "dossiernummer": nummer,
            "status": "TOEGEWEZEN",
            "toegewezenOp": _nu(),
            "inleverenVoor": str(datetime.now(UTC).date() + timedelta(days=5)),
            "stuk": {
                "aktesoort": opdracht["aktesoort"],
                "taal": "nl",
                "tekst": self.texts()[nummer],
            },
        }

    def _lever_in(self, request: Request, medewerker: dict[str, Any]) -> Any:
        verzoek = self._body(
            request, "leverIn", toewijzingId=_uuid, uitgewerkteTekst=_string
        )
        tekst = verzoek["uitgewerkteTekst"]
        _check(
            ("leverIn.verzoek.toewijzingId", _not_null(verzoek["toewijzingId"])),
            ("leverIn.verzoek.uitgewerkteTekst", _not_blank(tekst)),
            ("leverIn.verzoek.uitgewerkteTekst", _size(tekst, 4000)),
        )
        toewijzing = self._toewijzing(medewerker, verzoek["toewijzingId"])
        if toewijzing["status"] != "TOEGEWEZEN":
            raise _FoutError(
                409,
                "ONGELDIGE_STATUS",
                f"De toewijzing heeft status {toewijzing['status']}",
            )
        nummer = toewijzing["opdracht"]["dossiernummer"]
        if tekst != self.texts()[nummer].upper():
            raise _FoutError(
                422,
                "TEKST_AFGEKEURD",
                "De uitgewerkte tekst is niet gelijk aan het stuk in hoofdletters",
            )
        toewijzing["status"] = "INGELEVERD"
        return {
            "toewijzingId": verzoek["toewijzingId"],
            "dossiernummer": nummer,
            "status": "INGELEVERD",
            "ingeleverdOp": _nu(),
        }

    def _rond_af(self, request: Request, medewerker: dict[str, Any]) -> Any:
        verzoek = self._body(request, "rondAf", toewijzingId=_uuid)
        id_ = verzoek["toewijzingId"]
        _check(("rondAf.verzoek.toewijzingId", _not_null(id_)))
        toewijzing = self._toewijzing(medewerker, id_)
        if toewijzing["status"] != "INGELEVERD":
            raise _FoutError(
                409,
                "ONGELDIGE_STATUS",
                f"De toewijzing heeft status {toewijzing['status']}",
            )
        opdracht = toewijzing["opdracht"]
        toewijzing["status"] = opdracht["status"] = "AFGEROND"
        medewerker["saldo"] += opdracht["honorarium"]
        self.book.pay(opdracht["dossiernummer"], opdracht["honorarium"])
        return {
            "toewijzingId": id_,
            "dossiernummer": opdracht["dossiernummer"],
            "status": "AFGEROND",
            "afgerondOp": _nu(),
            "uitbetaling": {
                "honorarium": opdracht["honorarium"],
                "saldo": medewerker["saldo"],
            },
        }
