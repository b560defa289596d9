"""Tipografia Bellandi: a print shop's service, in Italian down to its field names.

Every answer is in an envelope with `esito` (OK or KO); errors are one sentence with the
shop's own number. The text to set comes with the taking of the job, deliveries get a
delivery note (bolla), and the delivery pays; completion only closes the job.
"""
# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import secrets
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_LAVORI = [
    ("Insegna per panetteria", "Pane fresco ogni mattina", 10),
    ("Cartello per parcheggio", "Riservato ai clienti dell'albergo", 15),
    ("Locandina teatrale", "La bottega del caffè", 24),
    ("Targa per studio", "Avvocato Rossi, primo piano", 12),
    ("Striscione per fiera", "Benvenuti alla sagra del tartufo", 30),
    ("Etichetta per vino", "Imbottigliato all'origine", 8),
    ("Avviso condominiale", "Si prega di chiudere il portone", 6),
    ("Volantino per palestra", "La prima lezione è gratuita", 18),
]


def _giorno(value: date) -> str:
    return value.strftime("%d/%m/%Y")


class _Errore(Exception):  # noqa: N818
    def __init__(self, status: int, codice: int, messaggio: str) -> None:
        super().__init__(messaggio)
        self.status, self.codice, self.messaggio = status, codice, messaggio


class Tipografia(Backend):
    """The job exchange of a print shop in Tuscany."""

    def __init__(self) -> None:
        super().__init__()
        self.collaboratori: dict[str, dict[str, Any]] = {}  # by token
        self.commesse: dict[str, dict[str, Any]] = {}
        self.incarichi: dict[str, dict[str, Any]] = {}
        self.bolle: dict[str, str] = {}  # delivery note -> protocol number
        for posto, (oggetto, testo, compenso) in enumerate(_LAVORI):
            numero = f"{datetime.now(UTC).date():%y}-{731 + posto:05}"
            self.commesse[numero] = {
                "testo": testo,
                "termine": datetime.now(UTC).date() + timedelta(days=4 + posto),
                "scheda": {
                    "numero_commessa": numero,
                    "oggetto": oggetto,
                    "lavorazione": "Composizione del testo in lettere maiuscole",
                    "numero_caratteri": len(testo),
                    "compenso_crediti": compenso,
                    "stato": "DISPONIBILE",
                    "note": "Il testo viene fornito alla presa in carico.",
                },
            }
            scheda = self.commesse[numero]["scheda"]
            scheda["termine_consegna"] = _giorno(self.commesse[numero]["termine"])

    def texts(self) -> dict[str, str]:
        return {numero: c["testo"] for numero, c in self.commesse.items()}

    def missing(self, request: Request) -> Response:
        def rispondi(request: Request) -> dict[str, Any]:
            metodi = [m for m, path in ACTIONS if path == request.path]
            if metodi and request.method not in metodi:
                raise _Errore(
                    405,
                    1002,
                    f"Metodo {request.method} non consentito: usare {metodi[0]}.",
                )
            raise _Errore(404, 1001, "Servizio non disponibile.")

        return self._busta(request, rispondi)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(20)
        codice = f"COLL{self.book.registrations:04}"
        self.collaboratori[token] = {"codice": codice, "saldo": 100}
        return Response(
            200,
            {
                "esito": "OK",
                "agent_id": codice,
                "access_token": token,
                "credits": 100,
                "data_iscrizione": _giorno(datetime.now(UTC).date()),
            },
        )

    def marketplace(self, request: Request) -> Response:
        return self._busta(request, self._elenco)

    def tasks(self, request: Request) -> Response:
        return self._busta(request, self._elenco)

    def claim(self, request: Request) -> Response:
        return self._busta(request, self._presa_in_carico)

    def submit(self, request: Request) -> Response:
        return self._busta(request, self._consegna)

    def complete(self, request: Request) -> Response:
        return self._busta(request, self._chiusura)

    def _elenco(self, request: Request) -> dict[str, Any]:
        limite = self._intero(request, "limit", 50)
        pagina = self._intero(request, "pagina", 1)
        schede = [c["scheda"] for c in self.commesse.values()]
        return {
            "totale_commesse": len(schede),
            "pagina": pagina,
            "pagine_totali": -(-len(schede) // limite),
            "elenco": schede[(pagina - 1) * limite : pagina * limite],
        }

    def _presa_in_carico(self, request: Request) -> dict[str, Any]:
        collaboratore = self._collaboratore(request)
        dati = self._dati(request)
        numero = self._stringa(dati, "numero_commessa")
        if numero not in self.commesse:
            raise _Errore(404, 3001, f"La commessa n. {numero} non esiste.")
        commessa = self.commesse[numero]
        if commessa["scheda"]["stato"] != "DISPONIBILE":
            raise _Errore(409, 3002, f"La commessa n. {numero} è già assegnata.")
        consegna = self._data(dati, "data_consegna")
        if consegna < datetime.now(UTC).date():
            raise _Errore(
                400, 2005, "La data di consegna non può essere già trascorsa."
            )
        if consegna > commessa["termine"]:
            raise _Errore(
                400,
                2006,
                "La data di consegna non può superare il termine della commessa "
                f"({_giorno(commessa['termine'])}).",
            )
        protocollo = f"P{datetime.now(UTC):%m%d}{len(self.incarichi) + 1:03}"
        self.incarichi[protocollo] = {"numero": numero, "chi": collaboratore["codice"]}
        commessa["scheda"]["stato"] = "IN_LAVORAZIONE"
        self.book.claimed(numero)
        return {
            "incarico": {
                "protocollo": protocollo,
                "numero_commessa": numero,
                "lavorazione": commessa["scheda"]["lavorazione"],
                "testo": commessa["testo"],
                "data_consegna": _giorno(consegna),
            }
        }

    def _consegna(self, request: Request) -> dict[str, Any]:
        collaboratore = self._collaboratore(request)
        dati = self._dati(request)
        protocollo = self._stringa(dati, "protocollo")
        incarico = self.incarichi.get(protocollo)
        if incarico is None:
            raise _Errore(404, 3003, f"Nessun incarico con protocollo {protocollo}.")
        if incarico["chi"] != collaboratore["codice"]:
            raise _Errore(403, 3004, "L'incarico è affidato a un altro collaboratore.")
        commessa = self.commesse[incarico["numero"]]
        if commessa["scheda"]["stato"] != "IN_LAVORAZIONE":
            raise _Errore(409, 3005, f"L'incarico {protocollo} è già stato consegnato.")
        if self._stringa(dati, "testo_composto") != commessa["testo"].upper():
            raise _Errore(
                422,
                4001,
                "Bozza respinta: il testo composto non corrisponde al testo fornito, in "
                "lettere maiuscole. È possibile ripetere la consegna.",
            )
        bolla = f"DDT/{2040 + len(self.bolle)}"
        self.bolle[bolla] = protocollo
        commessa["scheda"]["stato"] = "CONSEGNATA"
        compenso = commessa["scheda"]["compenso_crediti"]
        self.book.pay(incarico["numero"], compenso)
        collaboratore["saldo"] += compenso
        return {
            "consegna": {
                "protocollo": protocollo,
                "numero_bolla": bolla,
                "bozza": "APPROVATA",
                "crediti_accreditati": compenso,
                "saldo_crediti": collaboratore["saldo"],
            }
        }

    def _chiusura(self, request: Request) -> dict[str, Any]:
        collaboratore = self._collaboratore(request)
        bolla = self._stringa(self._dati(request), "numero_bolla")
        incarico = self.incarichi.get(self.bolle.get(bolla, ""))
        if incarico is None or incarico["chi"] != collaboratore["codice"]:
            raise _Errore(404, 3006, f"La bolla n. {bolla} non risulta emessa.")
        scheda = self.commesse[incarico["numero"]]["scheda"]
        if scheda["stato"] == "EVASA":
            raise _Errore(409, 3007, f"La bolla n. {bolla} è già stata chiusa.")
        scheda["stato"] = "EVASA"
        return {"commessa": scheda, "data_chiusura": _giorno(datetime.now(UTC).date())}

    def _collaboratore(self, request: Request) -> dict[str, Any]:
        if not request.token:
            raise _Errore(401, 1101, "Accesso non autorizzato: token mancante.")
        if request.token not in self.collaboratori:
            raise _Errore(401, 1102, "Accesso non autorizzato: token non valido.")
        return self.collaboratori[request.token]

    def _dati(self, request: Request) -> dict[str, Any]:
        try:
            dati = request.json()
        except ValueError:
            dati = None
        if not isinstance(dati, dict):
            raise _Errore(400, 2001, "Il corpo deve essere un oggetto JSON valido.")
        return dati

    def _stringa(self, dati: dict[str, Any], campo: str) -> str:
        valore = dati.get(campo)
        if valore is None or valore == "":
            raise _Errore(400, 2002, f"Il campo '{campo}' è obbligatorio.")
        if not isinstance(valore, str):
            raise _Errore(400, 2003, f"Il campo '{campo}' deve essere una stringa.")
        return valore

    def _data(self, dati: dict[str, Any], campo: str) -> date:
        valore = self._stringa(dati, campo)
        try:
            return datetime.strptime(valore, "%d/%m/%Y").date()  # noqa: DTZ007
        except ValueError:
            raise _Errore(
                400,
                2004,
                f"Il campo '{campo}' deve essere una data nel formato GG/MM/AAAA.",
            ) from None

    def _intero(self, request: Request, nome: str, predefinito: int) -> int:
        valore = request.query.get(nome, str(predefinito))
        if not re.fullmatch(r"[0-9]{1,3}", valore) or not 1 <= int(valore) <= 200:
            raise _Errore(
                400,
                2007,
                f"Il parametro '{nome}' deve essere un numero intero compreso tra 1 e 200.",
            )
        return int(valore)

    def _busta(
        self, request: Request, servizio: Callable[[Request], dict[str, Any]]
    ) -> Response:
        try:
            return Response(200, {"esito": "OK", **servizio(request)})
        except _Errore as errore:
            corpo = {"codice_errore": errore.codice, "messaggio": errore.messaggio}
            return Response(errore.status, {"esito": "KO", **corpo})
