"""A city's telematic desk in Italian: "Sportello Telematico" of a Comune.

Every answer is an envelope with `Esito` OK or KO, also a refusal (which stays a 200, as
the desk's older SOAP service did); fields are PascalCase Italian words, dates gg/mm/aaaa.
The text comes with the assignment; delivering it pays, completing only closes the file.
"""

import re
import uuid
from datetime import date, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_WORK = [
    (
        "Avviso per la bacheca",
        "Ufficio Anagrafe",
        "lo sportello resta chiuso lunedì mattina",
        38,
    ),
    (
        "Cartello stradale temporaneo",
        "Polizia Locale",
        "divieto di sosta dalle ore 7 alle 19",
        52,
    ),
    (
        "Targa per la biblioteca",
        "Cultura",
        "sala di lettura intitolata a elsa morante",
        70,
    ),
    (
        "Insegna del mercato",
        "Attività Produttive",
        "mercato del giovedì, piazza vecchia",
        27,
    ),
    ("Manifesto della raccolta", "Ambiente", "la carta si ritira ogni martedì", 33),
    (
        "Etichetta d'archivio",
        "Archivio Storico",
        "delibere del consiglio, serie terza",
        18,
    ),
]


class _Rifiuto(Exception):  # noqa: N818
    """A refusal: its code, its sentence and the fields that are wrong."""

    def __init__(
        self,
        code: str,
        text: str,
        details: list[dict[str, str]] | None = None,
        status: int = 200,
    ) -> None:
        self.code, self.text, self.details, self.status = (
            code,
            text,
            details or [],
            status,
        )


def _day(value: date) -> str:
    return value.strftime("%d/%m/%Y")


def _stamp() -> str:
    return datetime.now().strftime("%d/%m/%Y %H:%M:%S")  # noqa: DTZ005


def _answer(body: dict[str, Any], status: int = 200, refused: bool = False) -> Response:  # noqa: FBT001, FBT002
    return Response(
        status,
        body | {"DataOraRisposta": _stamp()},
        {"Content-Type": "application/json; charset=utf-8"},
        refused,
    )


class Comune(Backend):
    """Take a file with a date of delivery, deliver the text, close with the receipt."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._orders: dict[str, dict[str, Any]] = {}  # by CodiceIncarico
        self._files: dict[str, dict[str, Any]] = {}
        for index, (subject, office, text, pay) in enumerate(_WORK):
            number = f"{date.today().year}/{417 + 9 * index:05d}"  # noqa: DTZ011
            self._files[number] = {
                "number": number,
                "subject": subject,
                "office": office,
                "text": text,
                "pay": pay,
                "due": date.today() + timedelta(days=5 + index),  # noqa: DTZ011
                "state": "APERTA",
            }

    def texts(self) -> dict[str, str]:
        """Return the text of every task."""
        return {number: entry["text"] for number, entry in self._files.items()}

    def missing(self, request: Request) -> Response:
        """Return the desk's answer to a service that it does not have."""
        return _answer(
            {
                "Esito": "KO",
                "Codice": "SRV-404",
                "Messaggio": "Il servizio richiesto non esiste.",
            },
            404,
        )

    def _agent(self, request: Request) -> dict[str, Any]:
        if request.token not in self._agents:
            raise _Rifiuto(
                "AUT-001", "Token di accesso mancante o non valido.", status=401
            )
        return self._agents[request.token]

    def _fields(self, request: Request, **kinds: str) -> dict[str, Any]:
        """Read a body and check every field at once."""
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise _Rifiuto(
                "RIC-001",
                "Il corpo della richiesta non è un oggetto JSON valido.",
                status=400,
            )
        found, wrong = {}, []
        for name, kind in kinds.items():
            value = body.get(name)
            if value is None or value == "":
                wrong.append((name, f"Il campo {name} è obbligatorio."))
            elif kind == "boolean" and not isinstance(value, bool):
                wrong.append((name, f"Il campo {name} deve essere true o false."))
            elif kind != "boolean" and not isinstance(value, str):
                wrong.append((name, f"Il campo {name} deve essere una stringa."))
            elif kind == "date":
                try:
                    if not re.fullmatch(r"\d\d/\d\d/\d{4}", value):
                        raise ValueError
                    found[name] = datetime.strptime(value, "%d/%m/%Y").date()  # noqa: DTZ007
                except ValueError:
                    wrong.append(
                        (
                            name,
                            f"Il valore '{value}' non è una data valida per il campo "  # noqa: ISC004
                            f"{name}: il formato atteso è gg/mm/aaaa.",
                        )
                    )
            else:
                found[name] = value
        if wrong:
            raise _Rifiuto(
                "VAL-001",
                "La richiesta contiene dati mancanti o non validi.",
                [{"Campo": name, "Descrizione": text} for name, text in wrong],
            )
        return found

    @staticmethod
    def _refuse(no: _Rifiuto) -> Response:
        body: dict[str, Any] = {"Esito": "KO", "Codice": no.code, "Messaggio": no.text}
        if no.details:
            body["Dettagli"] = no.details
        return _answer(body, no.status, refused=True)

    def _order(self, agent: dict[str, Any], code: str) -> dict[str, Any]:
        order = self._orders.get(code)
        if not order:
            raise _Rifiuto("INC-001", f"L'incarico {code} non esiste.")
        if order["agent"] is not agent:
            raise _Rifiuto(
                "INC-002", f"L'incarico {code} è intestato a un altro operatore."
            )
        return order

    def register(self, request: Request) -> Response:
        """Enter an operator in the register."""
        self.book.registrations += 1
        agent = {"id": f"OP{self.book.registrations:06d}", "balance": 100}
        token = uuid.uuid4().hex
        self._agents[token] = agent
        return Response(
            200, {"agent_id": agent["id"], "access_token": token, "credits": 100}
        )

    def tasks(self, request: Request) -> Response:
        """List the open files, to anyone."""
        limit = request.query.get("limit") or "25"
        if not limit.isdecimal() or not 1 <= int(limit) <= 25:
            return self._refuse(
                _Rifiuto(
                    "VAL-001",
                    "La richiesta contiene dati mancanti o non validi.",
                    [
                        {
                            "Campo": "limit",
                            "Descrizione": "Il campo limit deve essere un numero intero "
                            "compreso tra 1 e 25.",
                        }
                    ],
                )
            )
        rows = [
            {
                "NumeroPratica": entry["number"],
                "Oggetto": entry["subject"],
                "UfficioRichiedente": entry["office"],
                "Istruzioni": "Trascrivere il testo originale in lettere maiuscole. Il testo viene "
                "consegnato con l'incarico.",
                "CompensoCrediti": entry["pay"],
                "DataScadenza": _day(entry["due"]),
                "StatoPratica": entry["state"],
            }
            for entry in self._files.values()
            if entry["state"] == "APERTA"
        ]
        return _answer(
            {
                "Esito": "OK",
                "TotalePratiche": len(rows),
                "ElencoPratiche": rows[: int(limit)],
            }
        )

    marketplace = tasks

    def agents(self, request: Request) -> Response:
        """List the operators."""
        rows = [{"CodiceOperatore": agent["id"]} for agent in self._agents.values()]
        return _answer({"Esito": "OK", "ElencoOperatori": rows})

    directory = agents

    def claim(self, request: Request) -> Response:
        """Assign a file."""
        try:
            agent = self._agent(request)
            body = self._fields(
                request,
                NumeroPratica="text",
                DataConsegnaPrevista="date",
                AccettazioneCondizioni="boolean",
            )
            entry, day = (
                self._files.get(body["NumeroPratica"]),
                body["DataConsegnaPrevista"],
            )
            if not entry:
                raise _Rifiuto(
                    "PRA-001", f"La pratica {body['NumeroPratica']} non esiste."
                )
            if entry["state"] != "APERTA":
                raise _Rifiuto(
                    "PRA-002",
                    f"La pratica {entry['number']} non è più disponibile: "
                    f"si trova nello stato {entry['state']}.",
                )
            if not body["AccettazioneCondizioni"]:
                raise _Rifiuto(
                    "PRA-003",
                    "Per assumere l'incarico è necessario accettare le "
                    "condizioni (AccettazioneCondizioni deve essere true).",
                )
            if not date.today() <= day <= entry["due"]:  # noqa: DTZ011
                raise _Rifiuto(
                    "PRA-004",
                    "La DataConsegnaPrevista deve essere compresa tra il "
                    f"{_day(date.today())} e il {_day(entry['due'])}.",  # noqa: DTZ011
                )
        except _Rifiuto as no:
            return self._refuse(no)
        code = f"INC-{len(self._orders) + 1:05d}"
        self._orders[code] = {"agent": agent, "file": entry, "receipt": ""}
        entry["state"] = "ASSEGNATA"
        self.book.claimed(entry["number"])
        return _answer(
            {
                "Esito": "OK",
                "Incarico": {
                    "CodiceIncarico": code,
                    "NumeroPratica": entry["number"],
                    "CodiceOperatore": agent["id"],
                    "TestoOriginale": entry["text"],
                    "DataConsegnaPrevista": _day(day),
                    "StatoPratica": entry["state"],
                },
            }
        )

    def submit(self, request: Request) -> Response:
        """Take the text, and pay for it when it is right."""
        try:
            agent = self._agent(request)
            body = self._fields(request, CodiceIncarico="text", TestoElaborato="text")
            order = self._order(agent, body["CodiceIncarico"])
            entry = order["file"]
            if order["receipt"]:
                raise _Rifiuto(
                    "INC-003",
                    f"L'elaborato dell'incarico {body['CodiceIncarico']} è "
                    f"già stato consegnato con protocollo {order['receipt']}.",
                )
            if body["TestoElaborato"] != entry["text"].upper():
                raise _Rifiuto(
                    "INC-004",
                    "L'elaborato è stato respinto: il testo consegnato non "
                    "è conforme alle istruzioni della pratica.",
                )
        except _Rifiuto as no:
            return self._refuse(no)
        order["receipt"] = f"PG/{date.today().year}/{100230 + len(self.book.paid)}"  # noqa: DTZ011
        entry["state"] = "LIQUIDATA"
        agent["balance"] += entry["pay"]
        self.book.pay(entry["number"], entry["pay"])
        return _answer(
            {
                "Esito": "OK",
                "Ricevuta": {
                    "NumeroProtocollo": order["receipt"],
                    "NumeroPratica": entry["number"],
                    "ImportoLiquidato": entry["pay"],
                    "SaldoCrediti": agent["balance"],
                    "StatoPratica": entry["state"],
                },
            }
        )

    def complete(self, request: Request) -> Response:
        """Close a file with the number of its receipt."""
        try:
            agent = self._agent(request)
            body = self._fields(request, CodiceIncarico="text", NumeroProtocollo="text")
            order = self._order(agent, body["CodiceIncarico"])
            entry = order["file"]
            if not order["receipt"]:
                raise _Rifiuto(
                    "INC-005",
                    "L'incarico non può essere chiuso prima della consegna "
                    "dell'elaborato.",
                )
            if body["NumeroProtocollo"] != order["receipt"]:
                raise _Rifiuto(
                    "INC-006",
                    f"Il NumeroProtocollo {body['NumeroProtocollo']} non "
                    "corrisponde alla ricevuta di consegna dell'incarico.",
                )
            if entry["state"] == "CHIUSA":
                raise _Rifiuto(
                    "PRA-005", f"La pratica {entry['number']} è già stata chiusa."
                )
        except _Rifiuto as no:
            return self._refuse(no)
        entry["state"] = "CHIUSA"
        return _answer(
            {
                "Esito": "OK",
                "Pratica": {
                    "NumeroPratica": entry["number"],
                    "StatoPratica": "CHIUSA",
                    "DataChiusura": _stamp(),
                },
            }
        )
