"""Museo Civico di Palazzo Bonacossi: the caption workshop, plain Node http.

Hand-written checks, one fault at a time, Italian words: {"errore": {"codice", "messaggio"}}.
"""

import json
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ISTRUZIONI = (
    "Riportare la didascalia interamente in lettere maiuscole, "
    "senza altre modifiche al testo."
)

# codice, titolo, autore, datazione, sala, didascalia, compenso
_SCHEDE = [
    (
        "PB-0117",
        "Madonna del Latte",
        "Ambito ferrarese",
        "1470-1480",
        "Sala 2",
        "Tempera su tavola, donata dalla famiglia Bonacossi nel 1921",
        12,
    ),
    (
        "PB-0142",
        "Ritratto di giovane",
        "Anonimo emiliano",
        "sec. XVI",
        "Sala 3",
        "Il giovane regge un guanto: è forse l'erede della casata",
        14,
    ),
    (
        "PB-0203",
        "Piatto da parata",
        "Bottega di Faenza",
        "1535 ca.",
        "Sala 4",
        "Maiolica istoriata con la caduta di Fetonte",
        9,
    ),
    (
        "PB-0218",
        "Veduta del Po",
        "Giuseppe Zola",
        "1720 ca.",
        "Sala 5",
        "Sullo sfondo si riconosce la città con le sue torri",
        11,
    ),
    (
        "PB-0266",
        "Orologio da mensola",
        "Manifattura francese",
        "sec. XVIII",
        "Sala 6",
        "Bronzo dorato e smalti; il meccanismo non è più funzionante",
        15,
    ),
    (
        "PB-0301",
        "Ventaglio",
        "Manifattura italiana",
        "1790 ca.",
        "Sala 7",
        "Seta dipinta, stecche d'avorio e paillettes",
        8,
    ),
    (
        "PB-0334",
        "Studio di mani",
        "Gaetano Previati",
        "1885",
        "Gabinetto dei disegni",
        "Carboncino su carta grigia, firmato in basso a destra",
        13,
    ),
    (
        "PB-0350",
        "Busto di Lucrezia",
        "Scuola lombarda",
        "sec. XIX",
        "Scalone",
        "Gesso patinato, copia da un originale perduto",
        10,
    ),
]


class _ErroreError(Exception):
    def __init__(self, stato: int, codice: str, messaggio: str) -> None:
        super().__init__(messaggio)
        self.stato, self.codice, self.messaggio = stato, codice, messaggio


def _invia(stato: int, corpo: Any, **intestazioni: str) -> Response:
    """res.writeHead(stato, ...); res.end(JSON.stringify(corpo))"""
    testo = json.dumps(corpo, ensure_ascii=False, separators=(",", ":"))
    return Response(
        stato,
        testo.encode(),
        {"Content-Type": "application/json; charset=utf-8", **intestazioni},
    )


def _ora(giorni: int = 0) -> str:
    """new Date().toISOString()"""
    quando = datetime.now(UTC) + timedelta(days=giorni)
    return quando.strftime("%Y-%m-%dT%H:%M:%S.") + f"{quando.microsecond // 1000:03d}Z"


class MuseoBonacossi(Backend):
    """The museum's caption workshop."""

    def __init__(self) -> None:
        super().__init__()
        self._operatori: dict[str, dict[str, Any]] = {}  # token -> operatore
        self._incarichi: dict[str, dict[str, Any]] = {}
        self._schede: dict[str, dict[str, Any]] = {
            codice: {
                "codice": codice,
                "opera": {"titolo": titolo, "autore": autore, "datazione": anno},
                "collocazione": sala,
                "istruzioni": ISTRUZIONI,
                "didascalia": didascalia,
                "compenso": compenso,
                "stato": "disponibile",
            }
            for codice, titolo, autore, anno, sala, didascalia, compenso in _SCHEDE
        }

    def texts(self) -> dict[str, str]:
        return {codice: s["didascalia"] for codice, s in self._schede.items()}

    def missing(self, request: Request) -> Response:
        return _invia(
            404,
            {"errore": {"codice": "NON_TROVATO", "messaggio": "Risorsa non trovata"}},
        )

    # -- what the handlers share

    def _rispondi(self, gestore: Any, request: Request) -> Response:
        try:
            risposta: Response = gestore(request)
        except _ErroreError as e:
            extra = {"WWW-Authenticate": "Bearer"} if e.stato == 401 else {}
            return _invia(
                e.stato,
                {"errore": {"codice": e.codice, "messaggio": e.messaggio}},
                **extra,
            )
        return risposta

    def _operatore(self, request: Request) -> dict[str, Any]:
        if not request.token:
            raise _ErroreError(401, "NON_AUTENTICATO", "Token di accesso mancante")
        if request.token not in self._operatori:
            raise _ErroreError(401, "NON_AUTENTICATO", "Token di accesso non valido")
        return self._operatori[request.token]

    def _corpo(self, request: Request) -> dict[str, Any]:
        try:
            corpo = json.loads(request.raw) if request.raw else {}
        except ValueError:
            raise _ErroreError(
                400, "JSON_NON_VALIDO", "Il corpo della richiesta non è un JSON valido"
            ) from None
        if not isinstance(corpo, dict):
            raise _ErroreError(
                400,
                "JSON_NON_VALIDO",
                "Il corpo della richiesta deve essere un oggetto JSON",
            )
        return corpo

    def _stringa(self, corpo: dict[str, Any], nome: str) -> str:
        valore = corpo.get(nome)
        if valore is None or valore == "":
            raise _ErroreError(
                400, "CAMPO_MANCANTE", f"Il campo '{nome}' è obbligatorio"
            )
        if not isinstance(valore, str):
            raise _ErroreError(
                400, "CAMPO_NON_VALIDO", f"Il campo '{nome}' deve essere una stringa"
            )
        return valore

    def _incarico(self, operatore: dict[str, Any], id_: str) -> dict[str, Any]:
        incarico = self._incarichi.get(id_)
        if incarico is None or incarico["operatore"] != operatore["id"]:
            raise _ErroreError(
                404, "INCARICO_NON_TROVATO", f"Nessun incarico con id {id_}"
            )
        return incarico

    @staticmethod
    def _vista(incarico: dict[str, Any]) -> dict[str, Any]:
        return {k: v for k, v in incarico.items() if k != "operatore"}

    # -- the contract's actions

    def register(self, request: Request) -> Response:
        return self._rispondi(self._registra, request)

    def tasks(self, request: Request) -> Response:
        return self._rispondi(self._elenco, request)

    def claim(self, request: Request) -> Response:
        return self._rispondi(self._assegna, request)

    def submit(self, request: Request) -> Response:
        return self._rispondi(self._consegna, request)

    def complete(self, request: Request) -> Response:
        return self._rispondi(self._concludi, request)

    def _registra(self, request: Request) -> Response:
        self._corpo(request)
        self.book.registrations += 1
        token = secrets.token_hex(24)
        operatore = {"id": f"op-{len(self._operatori) + 1:04d}", "saldo": 100}
        self._operatori[token] = operatore
        return _invia(
            200,
            {
                "agent_id": operatore["id"],
                "access_token": token,
                "credits": 100,
                "registratoIl": _ora(),
            },
        )

    def _elenco(self, request: Request) -> Response:
        self._operatore(request)
        limite = 20
        if "limit" in request.query:
            testo = request.query["limit"]
            if not (testo.isascii() and testo.isdigit()) or not 1 <= int(testo) <= 50:
                raise _ErroreError(
                    400,
                    "PARAMETRO_NON_VALIDO",
                    "Il parametro 'limit' deve essere un intero tra 1 e 50",
                )
            limite = int(testo)
        libere = [s for s in self._schede.values() if s["stato"] == "disponibile"]
        return _invia(200, {"totale": len(libere), "schede": libere[:limite]})

    def _assegna(self, request: Request) -> Response:
        operatore = self._operatore(request)
        codice = self._stringa(self._corpo(request), "codiceScheda")
        scheda = self._schede.get(codice)
        if scheda is None:
            raise _ErroreError(
                404, "SCHEDA_NON_TROVATA", f"Nessuna scheda con codice {codice}"
            )
        if scheda["stato"] != "disponibile":
            raise _ErroreError(
                409, "SCHEDA_NON_DISPONIBILE", f"La scheda {codice} è già assegnata"
            )
        scheda["stato"] = "assegnata"
        id_ = f"INC-{2041 + len(self._incarichi)}"
        self._incarichi[id_] = incarico = {
            "id": id_,
            "codiceScheda": codice,
            "stato": "assegnato",
            "assegnatoIl": _ora(),
            "scadenza": _ora(giorni=3),
            "operatore": operatore["id"],
        }
        self.book.claimed(codice)
        return _invia(200, {"incarico": self._vista(incarico)})

    def _consegna(self, request: Request) -> Response:
        operatore = self._operatore(request)
        corpo = self._corpo(request)
        id_ = self._stringa(corpo, "idIncarico")
        trascrizione = self._stringa(corpo, "trascrizione")
        incarico = self._incarico(operatore, id_)
        if incarico["stato"] != "assegnato":
            raise _ErroreError(
                409,
                "STATO_NON_AMMESSO",
                f"L'incarico {id_} è nello stato '{incarico['stato']}'",
            )
        scheda = self._schede[incarico["codiceScheda"]]
        if trascrizione != scheda["didascalia"].upper():
            raise _ErroreError(
                422,
                "TRASCRIZIONE_ERRATA",
                "La trascrizione non corrisponde alla didascalia in maiuscolo",
            )
        incarico["stato"] = "consegnato"
        incarico["consegnatoIl"] = _ora()
        return _invia(200, {"incarico": self._vista(incarico), "esito": "approvata"})

    def _concludi(self, request: Request) -> Response:
        operatore = self._operatore(request)
        id_ = self._stringa(self._corpo(request), "idIncarico")
        incarico = self._incarico(operatore, id_)
        if incarico["stato"] == "assegnato":
            raise _ErroreError(
                409,
                "STATO_NON_AMMESSO",
                f"L'incarico {id_} non ha ancora una trascrizione consegnata",
            )
        if incarico["stato"] == "concluso":
            raise _ErroreError(
                409, "STATO_NON_AMMESSO", f"L'incarico {id_} è già concluso"
            )
        scheda = self._schede[incarico["codiceScheda"]]
        scheda["stato"] = "completata"
        incarico["stato"] = "concluso"
        incarico["conclusoIl"] = _ora()
        operatore["saldo"] += scheda["compenso"]
        self.book.pay(scheda["codice"], scheda["compenso"])
        return _invia(
            200,
            {
                "incarico": self._vista(incarico),
                "compensoAccreditato": scheda["compenso"],
                "saldo": operatore["saldo"],
            },
        )
