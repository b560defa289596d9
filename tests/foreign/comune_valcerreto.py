"""Il servizio incarichi del Comune di Valcerreto, fatto da una piccola ditta (.NET)."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_INCARICHI = [
    ("Intestazione avviso TARI", "Avviso di pagamento della tassa sui rifiuti", 22),
    ("Cartello viabilità", "Divieto di sosta per lavori in via Roma", 15),
    ("Manifesto sagra", "Festa della castagna in piazza della Libertà", 35),
    ("Titolo delibera", "Approvazione del bilancio di previsione", 40),
    ("Etichetta archivio", "Protocollo generale, anni dal 1951 al 1960", 12),
    ("Avviso anagrafe", "Gli uffici sono chiusi nel pomeriggio di martedì", 28),
    ("Cartello cimitero", "L'acqua non è potabile", 7),
]
_PER_PAGINA = 5
_ESITI = ("REGOLARE", "CON_RISERVA")
_INDICAZIONI = "Riportare il testo in caratteri maiuscoli, senza altre modifiche."


@dataclass
class _Incarico:
    codice: str
    oggetto: str
    testo: str
    compenso: int
    scadenza: date
    stato: str = "DISPONIBILE"
    protocollo: str = ""
    operatore: str = ""
    ricevuta: str = ""


class _Errore(Exception):  # noqa: N818
    def __init__(
        self,
        codice: str,
        messaggio: str,
        stato: int = 200,
        errori: list[dict[str, str]] | None = None,
    ) -> None:
        self.risposta = Response(
            stato,
            {
                "Esito": False,
                "CodiceErrore": codice,
                "Messaggio": messaggio,
                "Errori": errori or [],
                "Dati": None,
            },
            refused=True,
        )


def _bene(dati: Any, messaggio: str = "Operazione eseguita correttamente.") -> Response:
    return Response(
        200,
        {
            "Esito": True,
            "CodiceErrore": None,
            "Messaggio": messaggio,
            "Errori": [],
            "Dati": dati,
        },
    )


def _azione(metodo: Any) -> Any:
    def esegui(servizio: Any, request: Request) -> Response:
        try:
            return metodo(servizio, request)
        except _Errore as errore:
            return errore.risposta

    return esegui


class _Modulo:
    """I campi di una richiesta; gli errori si raccolgono e si dicono tutti insieme."""

    def __init__(self, request: Request) -> None:
        try:
            corpo = request.json()
        except ValueError:
            corpo = None
        if not isinstance(corpo, dict):
            raise _Errore(
                "RIC-001", "Il corpo della richiesta deve essere un oggetto JSON."
            )
        # Il deserializzatore non distingue fra maiuscole e minuscole nei nomi.
        self._campi = {nome.lower(): valore for nome, valore in corpo.items()}
        self._errori: list[dict[str, str]] = []

    def errore(self, campo: str, descrizione: str) -> None:
        self._errori.append({"Campo": campo, "Descrizione": descrizione})

    def testo(self, campo: str) -> str:
        valore = self._campi.get(campo.lower())
        if valore in (None, ""):
            self.errore(campo, f"Il campo {campo} è obbligatorio.")
        elif not isinstance(valore, str):
            self.errore(campo, f"Il campo {campo} deve essere una stringa.")
        return valore if isinstance(valore, str) else ""

    def data(self, campo: str) -> date | None:
        if not (valore := self.testo(campo)):
            return None
        try:
            return datetime.strptime(valore, "%d/%m/%Y").date()  # noqa: DTZ007
        except ValueError:
            self.errore(
                campo,
                f"Il valore '{valore}' non è una data valida. "
                "Utilizzare il formato gg/mm/aaaa.",
            )
            return None

    def assenso(self, campo: str) -> None:
        if self._campi.get(campo.lower()) is not True:
            self.errore(
                campo,
                "È necessario accettare le condizioni del disciplinare: "
                f"valorizzare {campo} a true.",
            )

    def scelta(self, campo: str, ammessi: tuple[str, ...]) -> None:
        valore = self.testo(campo)
        if valore and valore not in ammessi:
            self.errore(
                campo,
                f"Valore '{valore}' non ammesso per il campo {campo}. "
                f"Valori ammessi: {', '.join(ammessi)}.",
            )

    def chiudi(self) -> None:
        if self._errori:
            raise _Errore(
                "RIC-002",
                "La richiesta contiene dati mancanti o non validi.",
                errori=self._errori,
            )


class ComuneValcerreto(Backend):
    """Presa in carico con protocollo, consegna con ricevuta, chiusura che liquida."""

    def __init__(self) -> None:
        super().__init__()
        oggi = date.today()  # noqa: DTZ011
        self._anno = oggi.year
        self._operatori: dict[str, dict[str, Any]] = {}
        righe = [
            _Incarico(
                f"INC-{oggi.year}-{411 + 3 * n:04}",
                *riga,
                oggi + timedelta(days=20 + n),
            )
            for n, riga in enumerate(_INCARICHI)
        ]
        self._incarichi = {riga.codice: riga for riga in righe}
        self._protocolli: dict[str, _Incarico] = {}

    def texts(self) -> dict[str, str]:
        return {riga.codice: riga.testo for riga in self._incarichi.values()}

    def missing(self, request: Request) -> Response:
        return Response(
            404,
            {
                "Message": "Nessuna risorsa HTTP corrispondente all'URI di "
                f"richiesta '{request.base}{request.path}'."
            },
        )

    def handle(self, request: Request) -> Response:
        risposta = super().handle(request)
        risposta.headers |= {"X-Powered-By": "ASP.NET", "Cache-Control": "no-cache"}
        return risposta

    def _operatore(self, request: Request) -> dict[str, Any]:
        if not request.token:
            raise _Errore("AUT-001", "Token di autenticazione mancante.", 401)
        if request.token not in self._operatori:
            raise _Errore("AUT-002", "Token di autenticazione non valido.", 401)
        return self._operatori[request.token]

    def _pratica(self, numero: str, operatore: dict[str, Any]) -> _Incarico:
        trovata = self._protocolli.get(numero)
        if trovata is None or trovata.operatore != operatore["codice"]:
            raise _Errore(
                "PRO-001", f"Nessuna pratica trovata con protocollo {numero}."
            )
        return trovata

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        gettone, codice = (
            secrets.token_hex(16).upper(),
            f"OP{len(self._operatori) + 1:06}",
        )
        self._operatori[gettone] = {"codice": codice, "crediti": 100}
        return Response(
            200, {"agent_id": codice, "access_token": gettone, "credits": 100}
        )

    @_azione
    def marketplace(self, request: Request) -> Response:
        try:
            pagina = int(request.query.get("pagina") or 1)
            quanti = int(request.query.get("limit") or _PER_PAGINA)
        except ValueError:
            raise _Errore(
                "RIC-003", "I parametri pagina e limit devono essere numerici."
            ) from None
        pagina, quanti = max(pagina, 1), max(1, min(quanti, _PER_PAGINA))
        aperti = [r for r in self._incarichi.values() if r.stato == "DISPONIBILE"]
        pagine = max(1, -(-len(aperti) // quanti))
        seguente = f"{request.path}?limit={quanti}&pagina={pagina + 1}"
        return _bene(
            {
                "Incarichi": [
                    {
                        "CodiceIncarico": r.codice,
                        "Oggetto": r.oggetto,
                        "Stato": r.stato,
                        "Ufficio": "Segreteria generale",
                        "Indicazioni": _INDICAZIONI,
                        "CompensoCrediti": r.compenso,
                        "Scadenza": f"{r.scadenza:%d/%m/%Y}",
                    }
                    for r in aperti[(pagina - 1) * quanti : pagina * quanti]
                ],
                "Pagina": pagina,
                "TotalePagine": pagine,
                "TotaleIncarichi": len(aperti),
                "PaginaSuccessiva": seguente if pagina < pagine else None,
            }
        )

    tasks = marketplace

    def post(self, request: Request) -> Response:
        return _Errore(
            "AUT-003", "Funzione riservata agli uffici comunali.", 403
        ).risposta

    def checkout(self, request: Request) -> Response:
        return _Errore("SRV-001", "Servizio di pagamento non ancora attivo.").risposta

    def agents(self, request: Request) -> Response:
        return _bene([{"Codice": o["codice"]} for o in self._operatori.values()])

    directory = agents

    @_azione
    def claim(self, request: Request) -> Response:
        operatore = self._operatore(request)
        modulo = _Modulo(request)
        codice = modulo.testo("CodiceIncarico")
        consegna = modulo.data("DataConsegnaPrevista")
        modulo.assenso("AccettazioneCondizioni")
        modulo.chiudi()
        riga = self._incarichi.get(codice)
        if riga is None:
            raise _Errore("INC-001", f"Incarico {codice} inesistente.")
        if riga.stato != "DISPONIBILE":
            raise _Errore("INC-002", f"L'incarico {codice} non è più disponibile.")
        if not date.today() <= consegna <= riga.scadenza:  # noqa: DTZ011
            raise _Errore(
                "INC-003",
                "La DataConsegnaPrevista deve essere compresa fra la data "
                f"odierna ({date.today():%d/%m/%Y}) e la scadenza "  # noqa: DTZ011
                f"dell'incarico ({riga.scadenza:%d/%m/%Y}).",
            )
        riga.stato, riga.operatore = "IN_CARICO", operatore["codice"]
        riga.protocollo = f"{7301 + len(self._protocolli):07}/{self._anno}"
        self._protocolli[riga.protocollo] = riga
        self.book.claimed(codice)
        return _bene(
            {
                "NumeroProtocollo": riga.protocollo,
                "CodiceIncarico": codice,
                "Stato": riga.stato,
                "TestoDaElaborare": riga.testo,
                "DataConsegnaPrevista": f"{consegna:%d/%m/%Y}",
            },
            "Incarico preso in carico.",
        )

    @_azione
    def submit(self, request: Request) -> Response:
        operatore = self._operatore(request)
        modulo = _Modulo(request)
        numero, testo = modulo.testo("NumeroProtocollo"), modulo.testo("TestoElaborato")
        modulo.chiudi()
        riga = self._pratica(numero, operatore)
        if riga.stato != "IN_CARICO":
            raise _Errore("CON-001", f"La pratica {numero} risulta già consegnata.")
        if testo != riga.testo.upper():
            raise _Errore(
                "CON-002", "Elaborato non conforme alle indicazioni dell'incarico."
            )
        riga.stato, riga.ricevuta = "CONSEGNATO", "RIC" + secrets.token_hex(4).upper()
        return _bene(
            {
                "NumeroProtocollo": numero,
                "Stato": riga.stato,
                "CodiceRicevuta": riga.ricevuta,
            },
            "Elaborato acquisito.",
        )

    @_azione
    def complete(self, request: Request) -> Response:
        operatore = self._operatore(request)
        modulo = _Modulo(request)
        numero, ricevuta = (
            modulo.testo("NumeroProtocollo"),
            modulo.testo("CodiceRicevuta"),
        )
        modulo.scelta("EsitoLavorazione", _ESITI)
        modulo.chiudi()
        riga = self._pratica(numero, operatore)
        if riga.stato == "IN_CARICO":
            raise _Errore(
                "CHI-001", "Impossibile chiudere la pratica: elaborato non consegnato."
            )
        if riga.stato == "LIQUIDATO":
            raise _Errore("CHI-002", f"La pratica {numero} è già stata liquidata.")
        if ricevuta != riga.ricevuta:
            raise _Errore("CHI-003", "CodiceRicevuta non corrispondente alla pratica.")
        riga.stato = "LIQUIDATO"
        operatore["crediti"] += riga.compenso
        self.book.pay(riga.codice, riga.compenso)
        return _bene(
            {
                "NumeroProtocollo": numero,
                "Stato": riga.stato,
                "ImportoLiquidato": riga.compenso,
            },
            "Pratica chiusa e compenso liquidato.",
        )
