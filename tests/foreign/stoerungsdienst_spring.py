"""A municipal utility's fault desk in Java: Spring Boot, Jackson, Bean Validation, in German.

Tickets are worked on in shifts (`schichten`). An agent enters itself for a ticket in one of the
shifts that the ticket is planned for, and gets a Zuweisung with a number of its own; there are
two places per agent and shift. The Rueckmeldung goes to the Zuweisung, and closing it tells the
minutes it took. Refusals are problem details with the team's own `fehler`, in which Hibernate
Validator speaks German and Jackson does not. Unknown fields are ignored, scalars are coerced.
"""

import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from functools import wraps
from http import HTTPStatus
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TICKETS = (
    ("W-2231", "Wasser", "Aushang Rohrbruch", ("FRUEH", "SPAET"), 14,
     "kein wasser bis siebzehn uhr, wagen steht am markt"),
    ("W-2232", "Wasser", "Zettel Zähler", ("FRUEH",), 6,
     "wir kommen am dienstag zum ablesen"),
    ("S-0907", "Strom", "Schild Trafohaus", ("NACHT",), 19,
     "lebensgefahr, auch für katzen"),
    ("S-0909", "Strom", "Aushang Abschaltung", ("SPAET", "NACHT"), 12,
     "strom aus von zwei bis vier, aufzug meiden"),
    ("G-0118", "Gas", "Türhänger", ("FRUEH",), 8,
     "nicht zu hause? bitte melden: zimmer 12"),
    ("F-3304", "Fernwärme", "Aushang Baustelle", ("SPAET",), 10,
     "der gehweg ist warm, die leitung auch"),
    ("F-3307", "Fernwärme", "Schild Schacht", ("NACHT", "FRUEH"), 5,
     "deckel nur mit haken öffnen"),
    ("B-0042", "Bäder", "Tafel Hallenbad", ("FRUEH", "SPAET"), 16,
     "das lehrbecken bleibt heute kühl"),
    ("B-0045", "Bäder", "Tafel Sauna", ("SPAET",), 7,
     "aufguss fällt aus, handtücher gibt es trotzdem"),
    ("V-5610", "Verkehr", "Anzeige Linie 4", ("NACHT",), 22,
     "linie 4 fährt ab 23.40 uhr über den südring"),
)  # fmt: skip
SCHICHTEN = ("FRUEH", "SPAET", "NACHT")
PLAETZE = 2  # per agent and shift
PACKAGE = "de.stadtwerke.stoerung.api"
ORT = timezone(timedelta(hours=1))

# The request records: component -> (type, constraints)
ZUWEISUNG = ("ZuweisungAnfrage", {
    "ticketNr": ("String", "NotBlank"),
    "schicht": ("Schicht", "NotNull"),
})  # fmt: skip
RUECKMELDUNG = ("RueckmeldungAnfrage", {
    "zuweisungsNr": ("Long", "NotNull"),
    "rueckmeldung": ("String", "NotBlank"),
})  # fmt: skip
ABSCHLUSS = ("AbschlussAnfrage", {
    "zuweisungsNr": ("Long", "NotNull"),
    "aufwandMinuten": ("Integer", "NotNull Min=1 Max=480"),
})  # fmt: skip


class Ablehnung(Exception):  # noqa: N818
    def __init__(self, status: int, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.status, self.detail, self.more = status, detail, more

    def problem(self, request: Request) -> Response:
        return Response(
            self.status,
            {
                "type": "about:blank",
                "title": HTTPStatus(self.status).phrase.replace("Content", "Entity"),
                "status": self.status,
                "detail": self.detail,
                "instance": request.path,
                **self.more,
            },
            {"Content-Type": "application/problem+json"},
        )


def fehler(feld: str | None, meldung: str) -> dict[str, Any]:
    return {"feld": feld, "meldung": meldung}


def unreadable(feld: str | None, meldung: str) -> Ablehnung:
    words = "Die Anfrage ist nicht lesbar."
    return Ablehnung(400, words, fehler=[fehler(feld, meldung)])


def token_of(value: Any) -> str:
    if isinstance(value, dict):
        return "Object value (token `JsonToken.START_OBJECT`)"
    if isinstance(value, list):
        return "Array value (token `JsonToken.START_ARRAY`)"
    if isinstance(value, bool):
        return f"Boolean value (token `JsonToken.VALUE_{str(value).upper()}`)"
    return "Floating-point value (token `JsonToken.VALUE_NUMBER_FLOAT`)"


def bind(feld: str, kind: str, value: Any) -> Any:
    """Deserialize one component as Jackson does, with its coercions."""
    if value is None:
        return None
    java = f"{PACKAGE}.{kind}" if kind == "Schicht" else f"java.lang.{kind}"
    lead = f"Cannot deserialize value of type `{java}` from "
    if isinstance(value, (dict, list)):
        raise unreadable(feld, lead + token_of(value))
    if kind == "String":
        return str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(value, bool) or (isinstance(value, float) and kind == "Schicht"):
        raise unreadable(feld, lead + token_of(value))
    if kind == "Schicht":
        if isinstance(value, int):  # an enum's ordinal
            if 0 <= value < len(SCHICHTEN):
                return SCHICHTEN[value]
            words = f"Number {value}: index value outside legal index range [0..2]"
            raise unreadable(feld, lead + words)
        if value.strip() in SCHICHTEN:
            return value.strip()
        words = f'String "{value}": not one of the values accepted for Enum class: '
        raise unreadable(feld, lead + words + f"[{', '.join(SCHICHTEN)}]")
    if isinstance(value, str):
        if not value.strip():
            return None
        if not re.fullmatch(r"[+-]?\d{1,18}", value.strip()):
            words = f'String "{value}": not a valid `{java}` value'
            raise unreadable(feld, lead + words)
    return int(value)


def violations(value: Any, constraints: str) -> list[str]:
    found = []
    for constraint in constraints.split():
        name, _, bound = constraint.partition("=")
        if name == "NotNull" and value is None:
            found.append("darf nicht null sein")
        elif name == "NotBlank" and (value is None or not value.strip()):
            found.append("darf nicht leer sein")
        elif name == "Min" and value is not None and value < int(bound):
            found.append(f"muss größer-gleich {bound} sein")
        elif name == "Max" and value is not None and value > int(bound):
            found.append(f"muss kleiner-gleich {bound} sein")
    return found


def invalid(found: list[dict[str, Any]]) -> Ablehnung:
    return Ablehnung(400, "Die Anfrage enthält ungültige Angaben.", fehler=found)


def read(request: Request, record: tuple[str, dict[str, tuple[str, str]]]) -> Any:
    """Do as @Valid @RequestBody."""
    name, components = record
    media = (
        (request.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    )
    if media != "application/json" and not media.endswith("+json"):
        raise Ablehnung(415, f"Content-Type '{media or 'null'}' is not supported.")
    if not request.raw.strip():
        raise unreadable(None, "Required request body is missing")
    try:
        body = request.json()
    except ValueError as error:
        at = getattr(error, "pos", 0)
        rest = request.raw.decode(errors="replace")[at:]
        words = "Unexpected end-of-input: expected close marker for Object"
        if rest.strip():
            words = f"Unexpected character ('{rest[0]}' (code {ord(rest[0])}))"
        raise unreadable(None, words) from None
    if body is None:
        raise unreadable(None, "Required request body is missing")
    if isinstance(body, list):
        words = f"Cannot deserialize value of type `{PACKAGE}.{name}` from "
        raise unreadable(None, words + token_of(body))
    if not isinstance(body, dict):
        kind, shown = "int/Int", f"Number value ({body})"
        if isinstance(body, str):
            kind, shown = "String", f"String value ('{body}')"
        elif isinstance(body, bool):
            kind, shown = "boolean/Boolean", f"boolean value ({str(body).lower()})"
        words = (
            f"Cannot construct instance of `{PACKAGE}.{name}` (although at least one "
        )
        words += f"Creator exists): no {kind}-argument constructor/factory method to "
        raise unreadable(None, f"{words}deserialize from {shown}")
    given = dict.fromkeys(components)
    for feld, value in body.items():
        if feld in components:
            given[feld] = bind(feld, components[feld][0], value)
    found = [
        fehler(feld, words)
        for feld, (_, constraints) in components.items()
        for words in violations(given[feld], constraints)
    ]
    if found:
        raise invalid(found)
    return given


def ortszeit(moment: datetime) -> str:
    return moment.astimezone(ORT).isoformat(timespec="seconds")


def mapping(inner: Callable[..., Response]) -> Callable[..., Response]:
    @wraps(inner)
    def outer(self: "StoerungsdienstSpring", request: Request) -> Response:
        try:
            return inner(self, request)
        except Ablehnung as ablehnung:
            return ablehnung.problem(request)

    return outer


class StoerungsdienstSpring(Backend):
    """Ten tickets in three shifts."""

    def __init__(self) -> None:
        super().__init__()
        self.konten: dict[str, dict[str, Any]] = {}
        self.zuweisungen: dict[int, dict[str, Any]] = {}
        self.tickets: dict[str, dict[str, Any]] = {}
        eingang = datetime.now(UTC) - timedelta(hours=3)
        for n, (nr, sparte, betreff, schichten, betrag, wortlaut) in enumerate(TICKETS):
            self.tickets[nr] = {
                "ticketNr": nr,
                "sparte": sparte,
                "betreff": betreff,
                "auftrag": "Wortlaut in Großbuchstaben zurückmelden.",
                "wortlaut": wortlaut,
                "schichten": list(schichten),
                "zustand": "OFFEN",
                "verguetung": float(betrag),
                "waehrung": "Credits",
                "eingegangenAm": ortszeit(eingang + timedelta(minutes=7 * n)),
                "faelligBis": ortszeit(eingang + timedelta(days=2)),
            }

    def texts(self) -> dict[str, str]:
        return {nr: ticket["wortlaut"] for nr, ticket in self.tickets.items()}

    def missing(self, request: Request) -> Response:
        words = f"No static resource {request.path.lstrip('/')}."
        return Ablehnung(404, words).problem(request)

    def konto(self, request: Request) -> dict[str, Any]:
        if request.token not in self.konten:
            words = "Anmeldung erforderlich: Bearer-Token fehlt oder ist unbekannt."
            raise Ablehnung(401, words)
        return self.konten[request.token]

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"bearbeiter-{secrets.token_hex(4)}", secrets.token_urlsafe(30)
        self.konten[token] = {"agent_id": agent, "stand": 100}
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def seite(self, request: Request) -> Response:
        numbers = {}
        found = []
        for name, default, low, high in (
            ("limit", "6", 1, 50),
            ("seite", "0", 0, 9999),
        ):
            given = request.query.get(name) or default
            if not re.fullmatch(r"[+-]?\d{1,9}", given):
                words = f"Failed to convert '{name}' with value: '{given}'"
                raise Ablehnung(400, words)
            numbers[name] = int(given)
            bad = violations(int(given), f"Min={low} Max={high}")
            found += [fehler(name, words) for words in bad]
        if found:
            raise invalid(found)
        limit, seite = numbers["limit"], numbers["seite"]
        offen = [dict(t) for t in self.tickets.values() if t["zustand"] == "OFFEN"]
        seiten = -(-len(offen) // limit)
        return Response(
            200,
            {
                "tickets": offen[seite * limit : (seite + 1) * limit],
                "seite": seite,
                "limit": limit,
                "anzahlGesamt": len(offen),
                "anzahlSeiten": seiten,
                "letzteSeite": seite >= seiten - 1,
            },
        )

    @mapping
    def marketplace(self, request: Request) -> Response:
        return self.seite(request)

    @mapping
    def tasks(self, request: Request) -> Response:
        self.konto(request)
        return self.seite(request)

    @mapping
    def claim(self, request: Request) -> Response:
        """Enter the agent for a ticket in a shift."""
        konto = self.konto(request)
        given = read(request, ZUWEISUNG)
        nr, schicht = given["ticketNr"].strip(), given["schicht"]
        ticket = self.tickets.get(nr)
        if ticket is None:
            raise Ablehnung(404, f"Ticket {nr} ist nicht bekannt.")
        if ticket["zustand"] != "OFFEN":
            words = f"Ticket {nr} ist nicht mehr offen (Zustand: {ticket['zustand']})."
            raise Ablehnung(409, words)
        if schicht not in ticket["schichten"]:
            words = f"Ticket {nr} wird in der Schicht {schicht} nicht bearbeitet."
            raise Ablehnung(422, words, vorgeseheneSchichten=ticket["schichten"])
        belegt = [
            z["zuweisungsNr"]
            for z in self.zuweisungen.values()
            if z["bearbeiter"] == konto["agent_id"]
            and z["schicht"] == schicht
            and z["zustand"] != "ABGESCHLOSSEN"
        ]
        if len(belegt) >= PLAETZE:
            words = f"Ihre {PLAETZE} Plätze in der Schicht {schicht} sind belegt."
            raise Ablehnung(409, words, offeneZuweisungen=belegt)
        nummer = 70412 + 3 * len(self.zuweisungen)
        ticket["zustand"] = "ZUGEWIESEN"
        self.book.claimed(nr)
        self.zuweisungen[nummer] = {
            "zuweisungsNr": nummer,
            "ticketNr": nr,
            "schicht": schicht,
            "bearbeiter": konto["agent_id"],
            "zustand": "ZUGEWIESEN",
            "zugewiesenAm": ortszeit(datetime.now(UTC)),
            "rueckmeldung": None,
        }
        return Response(200, dict(self.zuweisungen[nummer]))

    def zuweisung(self, konto: dict[str, Any], nummer: int) -> dict[str, Any]:
        zuweisung = self.zuweisungen.get(nummer)
        if zuweisung is None:
            raise Ablehnung(404, f"Zuweisung {nummer} ist nicht bekannt.")
        if zuweisung["bearbeiter"] != konto["agent_id"]:
            words = f"Zuweisung {nummer} gehört einem anderen Bearbeiter."
            raise Ablehnung(403, words)
        return zuweisung

    @mapping
    def submit(self, request: Request) -> Response:
        """Take the text for a Zuweisung."""
        konto = self.konto(request)
        given = read(request, RUECKMELDUNG)
        zuweisung = self.zuweisung(konto, given["zuweisungsNr"])
        nummer = zuweisung["zuweisungsNr"]
        if zuweisung["zustand"] != "ZUGEWIESEN":
            words = f"Zu Zuweisung {nummer} liegt bereits eine Rückmeldung vor."
            raise Ablehnung(409, words)
        ticket = self.tickets[zuweisung["ticketNr"]]
        text = given["rueckmeldung"].strip()
        if text != ticket["wortlaut"].upper():
            words = (
                "Die Rückmeldung ist nicht der Wortlaut des Tickets in Großbuchstaben."
            )
            raise Ablehnung(422, words)
        zuweisung |= {"zustand": "RUECKGEMELDET", "rueckmeldung": text}
        ticket["zustand"] = "RUECKGEMELDET"
        return Response(200, dict(zuweisung))

    @mapping
    def complete(self, request: Request) -> Response:
        """Close the Zuweisung and pay."""
        konto = self.konto(request)
        given = read(request, ABSCHLUSS)
        zuweisung = self.zuweisung(konto, given["zuweisungsNr"])
        nummer = zuweisung["zuweisungsNr"]
        if zuweisung["zustand"] == "ZUGEWIESEN":
            words = f"Zu Zuweisung {nummer} liegt noch keine Rückmeldung vor."
            raise Ablehnung(409, words)
        if zuweisung["zustand"] == "ABGESCHLOSSEN":
            raise Ablehnung(409, f"Zuweisung {nummer} ist bereits abgeschlossen.")
        ticket = self.tickets[zuweisung["ticketNr"]]
        minuten = given["aufwandMinuten"]
        zuweisung |= {"zustand": "ABGESCHLOSSEN", "aufwandMinuten": minuten}
        ticket["zustand"] = "ERLEDIGT"
        self.book.pay(ticket["ticketNr"], int(ticket["verguetung"]))
        konto["stand"] += int(ticket["verguetung"])
        beleg = {
            "gutschrift": ticket["verguetung"],
            "kontostand": float(konto["stand"]),
        }
        return Response(200, zuweisung | beleg)
