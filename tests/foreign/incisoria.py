"""An Italian consortium of engravers (targhe e insegne) with an interface of its own.

Everything is in Italian and in Pascal case, as its .NET house style wants; a request
stands in an envelope, and a refusal is an ordinary answer (200) whose Esito is "KO".
"""

import json
import secrets
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_COMMESSE = [
    ("TG-0412", "Targa per studio notarile", "studio notarile bianchi & figli", 22),
    ("TG-0413", "Targa per ambulatorio", "dottoressa elena riva, pediatra", 17),
    ("TG-0415", "Insegna di bottega", "pane e focaccia dal 1921", 35),
    ("TG-0418", "Lapide commemorativa", "la città ai suoi caduti", 40),
    ("TG-0421", "Targhetta per citofono", "famiglia de angelis - scala b", 8),
    ("TG-0422", "Cartello di cantiere", "è vietato l'accesso ai non addetti", 14),
]
_MASSIMO_INCARICHI = 3
_PER_PAGINA = 4


class _Rifiuto(Exception):  # noqa: N818
    def __init__(self, codice: int, messaggio: str, stato: int = 200) -> None:
        corpo = {"Esito": "KO", "CodiceErrore": codice, "Messaggio": messaggio}
        self.risposta = _risposta(corpo, stato)
        self.risposta.refused = True


def _risposta(corpo: Any, stato: int = 200) -> Response:
    testo = json.dumps(corpo, ensure_ascii=False, indent=1)
    return Response(stato, testo, {"Content-Type": "application/json; charset=utf-8"})


def _bene(**dati: Any) -> Response:
    return _risposta({"Esito": "OK", "Dati": dati})


def _sportello(metodo: Callable[[Any, Request], Response]) -> Any:
    def avvolto(self: Any, request: Request) -> Response:
        try:
            return metodo(self, request)
        except _Rifiuto as rifiuto:
            return rifiuto.risposta

    return avvolto


def _richiesta(request: Request) -> dict[str, Any]:
    try:
        corpo = request.json()
    except ValueError:
        raise _Rifiuto(100, "Il corpo della richiesta non è un JSON valido.") from None
    busta = corpo.get("Richiesta") if isinstance(corpo, dict) else None
    if not isinstance(busta, dict):
        raise _Rifiuto(101, "Il corpo deve contenere l'oggetto «Richiesta» con i dati.")
    return busta


def _testo(busta: dict[str, Any], campo: str, spiegazione: str) -> str:
    valore = busta.get(campo)
    if valore is None or valore == "":
        raise _Rifiuto(110, f"Manca il campo obbligatorio «{campo}»: {spiegazione}.")
    if not isinstance(valore, str):
        raise _Rifiuto(111, f"Il campo «{campo}» deve essere una stringa.")
    return valore


def _data(busta: dict[str, Any], campo: str, spiegazione: str) -> None:
    valore = _testo(busta, campo, spiegazione)
    try:
        if len(valore) != 10:
            raise ValueError
        datetime.strptime(valore, "%d/%m/%Y")  # noqa: DTZ007
    except ValueError:
        raise _Rifiuto(
            112, f"Il campo «{campo}» deve essere una data nel formato GG/MM/AAAA."
        ) from None


class Incisoria(Backend):
    """The counter of the Consorzio Incisori Riuniti."""

    def __init__(self) -> None:
        super().__init__()
        self._matricole: dict[str, str] = {}  # token -> matricola
        self._saldi: dict[str, int] = {}
        self._incarichi: dict[str, dict[str, Any]] = {}
        self._commesse: dict[str, dict[str, Any]] = {
            c: {
                "oggetto": oggetto,
                "testo": testo,
                "crediti": crediti,
                "stato": "LIBERA",
            }
            for c, oggetto, testo, crediti in _COMMESSE
        }

    def texts(self) -> dict[str, str]:
        return {codice: testo for codice, _, testo, _ in _COMMESSE}

    def missing(self, request: Request) -> Response:
        return _Rifiuto(4, f"Il servizio {request.path} non esiste.", 404).risposta

    def _fornitore(self, request: Request) -> str:
        matricola = self._matricole.get(request.token)
        if not matricola:
            messaggio = "Accesso negato: gettone assente o non riconosciuto."
            raise _Rifiuto(1, messaggio, 401)
        return matricola

    def _incarico(self, busta: dict[str, Any], matricola: str) -> dict[str, Any]:
        numero = _testo(busta, "NumeroIncarico", "è riportato nella lettera d'incarico")
        incarico = self._incarichi.get(numero)
        if not incarico or incarico["matricola"] != matricola:
            raise _Rifiuto(204, f"L'incarico {numero} non risulta a Suo nome.")
        return incarico

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        matricola = f"F{20500 + self.book.registrations}"
        gettone = secrets.token_urlsafe(24)
        self._matricole[gettone] = matricola
        self._saldi[matricola] = 100
        return _risposta(
            {"agent_id": matricola, "access_token": gettone, "credits": 100}
        )

    @_sportello
    def tasks(self, request: Request) -> Response:
        numeri = {"limit": _PER_PAGINA, "pagina": 1}
        for nome in numeri:
            testo = request.query.get(nome)
            if testo is not None:
                if not testo.isdecimal() or int(testo) < 1:
                    detto = f"Il parametro «{nome}» deve essere un intero positivo."
                    raise _Rifiuto(120, detto)
                numeri[nome] = int(testo)
        quanti, pagina = min(numeri["limit"], _PER_PAGINA), numeri["pagina"]
        elenco = [
            {
                "CodiceCommessa": codice,
                "Oggetto": riga["oggetto"],
                "Lavorazione": "Riscrivere il testo del cliente tutto in MAIUSCOLO.",
                "Compenso": {"Importo": riga["crediti"], "Valuta": "crediti"},
                "Stato": riga["stato"],
            }
            for codice, riga in self._commesse.items()
        ]
        pagine = -(-len(elenco) // quanti)
        seguito = f"{request.path}?limit={quanti}&pagina={pagina + 1}"
        return _bene(
            Commesse=elenco[(pagina - 1) * quanti : pagina * quanti],
            Pagina=pagina,
            PagineTotali=pagine,
            PaginaSuccessiva=seguito if pagina < pagine else None,
        )

    marketplace = tasks

    def agents(self, request: Request) -> Response:
        return _bene(Fornitori=[{"Matricola": m} for m in self._saldi])

    directory = agents

    @_sportello
    def claim(self, request: Request) -> Response:
        matricola = self._fornitore(request)
        busta = _richiesta(request)
        codice = _testo(busta, "CodiceCommessa", "vedere l'elenco delle commesse")
        indicata = _testo(busta, "Matricola", "è l'agent_id assegnato con l'iscrizione")
        if indicata != matricola:
            raise _Rifiuto(203, f"La matricola {indicata} non è quella del gettone.")
        giorni = busta.get("GiorniPrevisti")
        if type(giorni) is not int or not 1 <= giorni <= 15:
            detto = "deve indicare i giorni di lavoro previsti (intero da 1 a 15)."
            raise _Rifiuto(113, f"Il campo «GiorniPrevisti» {detto}")
        riga = self._commesse.get(codice)
        if not riga:
            raise _Rifiuto(201, f"La commessa {codice} non esiste.")
        if riga["stato"] != "LIBERA":
            raise _Rifiuto(202, f"La commessa {codice} è già {riga['stato']}.")
        suoi = [i for i in self._incarichi.values() if i["matricola"] == matricola]
        stati = [self._commesse[i["commessa"]]["stato"] for i in suoi]
        if stati.count("ASSEGNATA") >= _MASSIMO_INCARICHI:
            detto = "consegnarne uno prima di chiederne altri."
            raise _Rifiuto(205, f"Già aperti {_MASSIMO_INCARICHI} incarichi: {detto}")
        numero = f"INC-{7001 + len(self._incarichi)}"
        self._incarichi[numero] = {"commessa": codice, "matricola": matricola}
        riga["stato"] = "ASSEGNATA"
        self.book.claimed(codice)
        scadenza = date.today() + timedelta(days=giorni)  # noqa: DTZ011
        return _bene(
            LetteraIncarico={
                "NumeroIncarico": numero,
                "CodiceCommessa": codice,
                "TestoCliente": riga["testo"],
                "Scadenza": scadenza.strftime("%d/%m/%Y"),
            }
        )

    @_sportello
    def submit(self, request: Request) -> Response:
        matricola = self._fornitore(request)
        busta = _richiesta(request)
        incarico = self._incarico(busta, matricola)
        riga = self._commesse[incarico["commessa"]]
        composto = _testo(busta, "TestoComposto", "è il testo lavorato")
        _data(busta, "DataConsegna", "è il giorno della consegna")
        if riga["stato"] != "ASSEGNATA":
            raise _Rifiuto(206, f"La commessa risulta già {riga['stato']}.")
        if composto != riga["testo"].upper():
            raise _Rifiuto(301, "Lavoro respinto: testo non conforme alla lavorazione.")
        riga["stato"] = "CONSEGNATA"
        bolla = f"B{incarico['commessa'][3:]}-{secrets.randbelow(900) + 100}"
        incarico["bolla"] = bolla
        return _bene(BollaConsegna={"NumeroBolla": bolla, "Collaudo": "POSITIVO"})

    @_sportello
    def complete(self, request: Request) -> Response:
        matricola = self._fornitore(request)
        busta = _richiesta(request)
        incarico = self._incarico(busta, matricola)
        codice = incarico["commessa"]
        riga = self._commesse[codice]
        bolla = _testo(busta, "NumeroBolla", "è riportato nella bolla di consegna")
        _testo(busta, "NoteChiusura", "due parole sul lavoro svolto (testo libero)")
        if bolla != incarico.get("bolla"):
            raise _Rifiuto(207, f"La bolla {bolla} non appartiene a questo incarico.")
        if riga["stato"] != "CONSEGNATA":
            raise _Rifiuto(206, f"La commessa risulta già {riga['stato']}.")
        riga["stato"] = "LIQUIDATA"
        self._saldi[matricola] += riga["crediti"]
        self.book.pay(codice, riga["crediti"])
        return _bene(
            CodiceCommessa=codice,
            Stato="LIQUIDATA",
            CompensoLiquidato=riga["crediti"],
            SaldoCrediti=self._saldi[matricola],
        )

    @_sportello
    def post(self, request: Request) -> Response:
        raise _Rifiuto(5, "Servizio riservato ai soci del consorzio.")

    checkout = post
