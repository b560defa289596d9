"""Consorzio Marmisti Apuani: the order desk of a stonecutters' consortium, in Italian.

Every business answer is 200 with `esito` OK or KO; only a missing token is a 401. The work
is the `dicitura` of an order; the delivery pays, the closing files the order away.
"""

import secrets
from datetime import UTC, date, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_COMMESSE = [
    ("2025/0412", "Comune di Pietrasanta", "Bardiglio", "A ricordo dei cavatori", 14),
    ("2025/0415", "Farmacia Orsini", "Bianco Carrara", "Antica farmacia Orsini", 22),
    ("2025/0419", "Parrocchia di San Martino", "Statuario", "Pace a questa casa", 9),
    ("2025/0423", "Liceo Carducci", "Arabescato", "La virtù è il premio", 31),
    ("2025/0428", "Famiglia Bertagna", "Nero Belgio", "Qui riposa Ada, maestra", 17),
    ("2025/0430", "Terme di Equi", "Calacatta", "Acqua che sana dal 1893", 26),
    ("2025/0437", "Circolo Velico Marina", "Bianco Carrara", "Vento in poppa", 12),
]


def _ok(**dati: Any) -> Response:
    return Response(200, {"esito": "OK", "codice": "0000", "dati": dati})


def _ko(codice: str, messaggio: str, status: int = 200) -> Response:
    corpo = {"esito": "KO", "codice": codice, "messaggio": messaggio, "dati": None}
    return Response(status, corpo, refused=True)


class _ErroreError(Exception):
    def __init__(self, codice: str, messaggio: str, status: int = 200) -> None:
        super().__init__(messaggio)
        self.risposta = _ko(codice, messaggio, status)


class Marmisti(Backend):
    """A consortium of stonecutters that gives inscriptions to outside hands."""

    def __init__(self) -> None:
        super().__init__()
        self.soci: dict[str, dict[str, Any]] = {}  # token -> socio
        self.commesse: dict[str, dict[str, Any]] = {
            numero: {
                "numeroCommessa": numero,
                "committente": committente,
                "materiale": materiale,
                "lavorazione": "Comporre la dicitura in lettere maiuscole",
                "dicitura": dicitura,
                "compenso": compenso,
                "stato": "LIBERA",
            }
            for numero, committente, materiale, dicitura, compenso in _COMMESSE
        }
        self.incarichi: dict[str, dict[str, Any]] = {}  # protocollo -> incarico

    def texts(self) -> dict[str, str]:
        return {n: c["dicitura"] for n, c in self.commesse.items()}

    def missing(self, request: Request) -> Response:
        return _ko("GEN-404", f"Risorsa inesistente: {request.path}", 404)

    # What every private request goes through.

    def _socio(self, request: Request) -> dict[str, Any]:
        if not request.headers.get("Authorization"):
            raise _ErroreError("AUT-001", "Accesso negato: token non presente.", 401)
        socio = self.soci.get(request.token)
        if socio is None:
            raise _ErroreError("AUT-002", "Accesso negato: token non valido.", 401)
        return socio

    def _corpo(self, request: Request, *campi: str) -> dict[str, Any]:
        try:
            corpo = request.json()
        except ValueError:
            corpo = None
        if not isinstance(corpo, dict):
            raise _ErroreError(
                "VAL-000", "Il corpo della richiesta non è un JSON valido."
            )
        mancanti = [c for c in campi if corpo.get(c) in (None, "")]
        if mancanti:
            elenco = ", ".join(mancanti)
            raise _ErroreError("VAL-001", f"Campi obbligatori mancanti: {elenco}.")
        return corpo

    def _incarico(self, socio: dict[str, Any], protocollo: Any) -> dict[str, Any]:
        incarico = self.incarichi.get(str(protocollo))
        if incarico is None or incarico["matricola"] != socio["matricola"]:
            raise _ErroreError(
                "INC-001",
                f"Nessun incarico con protocollo {protocollo} per questa matricola.",
            )
        return incarico

    # The actions.

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        matricola = f"CMA-{1000 + self.book.registrations}"
        token = secrets.token_hex(20)
        self.soci[token] = {"matricola": matricola, "saldo": 100}
        return Response(
            200,
            {
                "agent_id": matricola,
                "access_token": token,
                "credits": 100,
                "matricola": matricola,
            },
        )

    def tasks(self, request: Request) -> Response:
        try:
            self._socio(request)
            return self._elenco(request)
        except _ErroreError as errore:
            return errore.risposta

    def marketplace(self, request: Request) -> Response:
        try:
            return self._elenco(request)
        except _ErroreError as errore:
            return errore.risposta

    def _elenco(self, request: Request) -> Response:
        numeri = {}
        for nome, iniziale, massimo in (("limit", 5, 20), ("pagina", 1, 9999)):
            valore = request.query.get(nome, str(iniziale))
            if not valore.isdecimal() or not 1 <= int(valore) <= massimo:
                raise _ErroreError(
                    "VAL-010",
                    f"Il parametro '{nome}' deve essere un intero da 1 a {massimo}.",
                )
            numeri[nome] = int(valore)
        limite, pagina = numeri["limit"], numeri["pagina"]
        righe = list(self.commesse.values())
        return _ok(
            commesse=righe[(pagina - 1) * limite : pagina * limite],
            pagina=pagina,
            pagineTotali=-(-len(righe) // limite),
            righeTotali=len(righe),
        )

    def claim(self, request: Request) -> Response:
        try:
            socio = self._socio(request)
            corpo = self._corpo(
                request, "numeroCommessa", "matricola", "dataConsegnaPrevista"
            )
            numero = str(corpo["numeroCommessa"])
            commessa = self.commesse.get(numero)
            if commessa is None:
                raise _ErroreError("COM-001", f"Commessa {numero} non trovata.")
            if corpo["matricola"] != socio["matricola"]:
                raise _ErroreError(
                    "AUT-003",
                    "La matricola indicata non è quella assegnata alla registrazione.",
                )
            try:
                prevista = date.fromisoformat(str(corpo["dataConsegnaPrevista"]))
            except ValueError:
                raise _ErroreError(
                    "VAL-002",
                    "Il campo 'dataConsegnaPrevista' non è una data valida"
                    " (formato AAAA-MM-GG).",
                ) from None
            if prevista < datetime.now(UTC).date():
                raise _ErroreError(
                    "VAL-003",
                    "La data di consegna prevista non può essere anteriore a oggi.",
                )
            if commessa["stato"] != "LIBERA":
                stato = commessa["stato"].lower()
                raise _ErroreError(
                    "COM-002", f"La commessa {numero} risulta già {stato}."
                )
        except _ErroreError as errore:
            return errore.risposta
        commessa["stato"] = "ASSEGNATA"
        protocollo = f"P{len(self.incarichi) + 1:05d}"
        self.incarichi[protocollo] = {
            "matricola": socio["matricola"],
            "commessa": commessa,
            "ricevuta": "",
        }
        self.book.claimed(numero)
        return _ok(
            protocollo=protocollo,
            numeroCommessa=numero,
            stato="ASSEGNATA",
            dataConsegnaPrevista=prevista.isoformat(),
        )

    def submit(self, request: Request) -> Response:
        try:
            socio = self._socio(request)
            corpo = self._corpo(request, "protocollo", "testoComposto")
            incarico = self._incarico(socio, corpo["protocollo"])
            commessa = incarico["commessa"]
            if commessa["stato"] != "ASSEGNATA":
                raise _ErroreError("INC-002", "La consegna è già stata registrata.")
            if corpo["testoComposto"] != commessa["dicitura"].upper():
                raise _ErroreError(
                    "COL-001",
                    "Collaudo non superato: il testo composto non è conforme alla"
                    " lavorazione richiesta.",
                )
        except _ErroreError as errore:
            return errore.risposta
        commessa["stato"] = "CONSEGNATA"
        incarico["ricevuta"] = f"R-{secrets.randbelow(90000) + 10000}"
        self.book.pay(commessa["numeroCommessa"], commessa["compenso"])
        socio["saldo"] += commessa["compenso"]
        return _ok(
            numeroRicevuta=incarico["ricevuta"],
            stato="CONSEGNATA",
            compensoLiquidato=commessa["compenso"],
            saldo=socio["saldo"],
        )

    def complete(self, request: Request) -> Response:
        try:
            socio = self._socio(request)
            corpo = self._corpo(request, "protocollo", "numeroRicevuta")
            incarico = self._incarico(socio, corpo["protocollo"])
            commessa = incarico["commessa"]
            if commessa["stato"] == "ASSEGNATA":
                raise _ErroreError(
                    "INC-003", "La commessa non è ancora stata consegnata."
                )
            if commessa["stato"] == "CHIUSA":
                raise _ErroreError("INC-004", "La commessa è già chiusa.")
            if corpo["numeroRicevuta"] != incarico["ricevuta"]:
                raise _ErroreError(
                    "INC-005", "Il numero di ricevuta non è quello della consegna."
                )
        except _ErroreError as errore:
            return errore.risposta
        commessa["stato"] = "CHIUSA"
        return _ok(numeroCommessa=commessa["numeroCommessa"], stato="CHIUSA")
