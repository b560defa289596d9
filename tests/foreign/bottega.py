"""Bottega delle Parole, a translation agency at Lucca; its API is one PHP file, by its only developer.

No framework: everything comes from MySQL as strings, every answer is 200 with an `esito`
(except a bad token), dates are day/month/year, amounts have a decimal comma, and nobody ever
set the Content-Type.
"""

import json
import re
import secrets
from datetime import date
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_HEADERS = {"Content-Type": "text/html; charset=UTF-8", "X-Powered-By": "PHP/7.4.33"}

_INCARICHI = [
    ("231", "Insegna per panificio", "9", "Pane fresco ogni mattina dalle sei"),
    ("232", "Titolo di catalogo", "14", "La città e il suo fiume, 1890-1930"),
    ("236", "Cartello per vivaio", "6", "Non calpestare le aiuole, grazie"),
    ("237", "Copertina di opuscolo", "21", "Perché l'olio è più buono a novembre"),
    ("241", "Targa commemorativa", "17", "Qui visse e lavorò il tipografo Ansaldi"),
    ("244", "Etichetta di vino", "11", "Rosso di collina, imbottigliato all'origine"),
]


def _importo(crediti: int) -> str:
    return f"{crediti},00"


class Bottega(Backend):
    """The agency's incarichi: assigned, delivered, then closed and paid."""

    def __init__(self) -> None:
        super().__init__()
        self._incarichi: dict[str, dict[str, Any]] = {
            numero: {
                "id_incarico": numero,
                "titolo": titolo,
                "istruzioni": "Riportare il testo originale tutto in MAIUSCOLO, senza altre modifiche.",
                "testo_originale": testo,
                "compenso": _importo(int(compenso)),
                "valuta": "crediti",
                "urgente": "0",
                "stato": "libero",
            }
            for numero, titolo, compenso, testo in _INCARICHI
        }
        self._compensi = {numero: int(c) for numero, _, c, _ in _INCARICHI}
        self._traduttori: dict[str, dict[str, Any]] = {}  # by token
        self._protocolli: dict[str, dict[str, str]] = {}
        self._consegne: dict[str, str] = {}  # id_consegna -> numero_protocollo

    def texts(self) -> dict[str, str]:
        return {n: i["testo_originale"] for n, i in self._incarichi.items()}

    @staticmethod
    def _scrivi(
        corpo: dict[str, Any],
        status: int = 200,
        refused: bool = False,  # noqa: FBT001, FBT002
    ) -> Response:
        # json_encode() escapes the slash.
        testo = json.dumps(corpo, separators=(",", ":")).replace("/", "\\/")
        return Response(status, testo, dict(_HEADERS), refused)

    def _ok(self, messaggio: str, dati: dict[str, Any]) -> Response:
        return self._scrivi({"esito": "OK", "messaggio": messaggio, "dati": dati})

    def _ko(self, codice: str, messaggio: str, status: int = 200) -> Response:
        corpo = {"esito": "KO", "codice_errore": codice, "messaggio": messaggio}
        return self._scrivi(corpo, status, refused=True)

    def missing(self, request: Request) -> Response:
        pagina = (
            '<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN">\n<html><head>\n'
            "<title>404 Not Found</title>\n</head><body>\n<h1>Not Found</h1>\n"
            "<p>The requested URL was not found on this server.</p>\n</body></html>\n"
        )
        return Response(404, pagina, {"Content-Type": "text/html; charset=iso-8859-1"})

    def _dentro(self, request: Request) -> dict[str, Any] | Response:
        if not request.token:
            return self._ko(
                "E01",
                "Accesso negato: token mancante nell'intestazione Authorization",
                401,
            )
        traduttore = self._traduttori.get(request.token)
        return traduttore or self._ko("E01", "Accesso negato: token non valido", 401)

    def _campi(self, request: Request, *nomi: str) -> dict[str, str] | Response:
        try:
            corpo = request.json()
        except ValueError:
            return self._ko("E02", "JSON non valido: Syntax error")
        if not isinstance(corpo, dict):
            corpo = {}
        # empty() is true of null, "", "0", 0, false and [].
        mancanti = [
            n
            for n in nomi
            if corpo.get(n) in (None, "", "0", 0, False) or corpo.get(n) == []
        ]
        if mancanti:
            return self._ko("E03", "Campi obbligatori mancanti: " + ", ".join(mancanti))
        for nome in nomi:
            if not isinstance(corpo[nome], (str, int, float)):
                return self._ko("E04", f"Il campo {nome} deve essere una stringa")
        return {n: str(corpo[n]) for n in nomi}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        codice = f"TR{len(self._traduttori) + 318:05d}"
        token = secrets.token_hex(20)
        self._traduttori[token] = {"codice": codice, "saldo": 100, "dal": date.today()}  # noqa: DTZ011
        return self._scrivi(
            {
                "esito": "OK",
                "messaggio": "Benvenuto alla Bottega delle Parole",
                "agent_id": codice,
                "access_token": token,
                "credits": 100,
            }
        )

    def marketplace(self, request: Request) -> Response:
        liberi = [i for i in self._incarichi.values() if i["stato"] == "libero"]
        righe = [
            {k: i[k] for k in ("id_incarico", "titolo", "compenso", "valuta")}
            for i in liberi
        ]
        return self._scrivi(
            {"esito": "OK", "totale": str(len(righe)), "incarichi": righe}
        )

    def agents(self, request: Request) -> Response:
        righe = [
            {"codice": t["codice"], "iscritto_dal": t["dal"].strftime("%d/%m/%Y")}
            for t in self._traduttori.values()
        ]
        return self._scrivi(
            {"esito": "OK", "totale": str(len(righe)), "traduttori": righe}
        )

    directory = agents

    def tasks(self, request: Request) -> Response:
        chi = self._dentro(request)
        if isinstance(chi, Response):
            return chi

        def intero(nome: str, base: int) -> int:  # (int) $_GET[...]
            trovato = re.match(r"\s*\d+", request.query.get(nome, ""))
            return int(trovato[0]) if trovato and int(trovato[0]) else base

        per_pagina, pagina = min(intero("limit", 5), 20), intero("pagina", 1)
        tutti = list(self._incarichi.values())
        return self._scrivi(
            {
                "esito": "OK",
                "totale": str(len(tutti)),
                "pagina": str(pagina),
                "pagine": str(-(-len(tutti) // per_pagina)),
                "incarichi": tutti[(pagina - 1) * per_pagina : pagina * per_pagina],
            }
        )

    def claim(self, request: Request) -> Response:
        chi = self._dentro(request)
        if isinstance(chi, Response):
            return chi
        campi = self._campi(
            request, "id_incarico", "codice_traduttore", "data_prevista"
        )
        if isinstance(campi, Response):
            return campi
        if campi["codice_traduttore"] != chi["codice"]:
            return self._ko(
                "E11",
                "codice_traduttore non valido: indicare l'agent_id ricevuto con la registrazione",
            )
        cifre = re.fullmatch(r"(\d{1,2})/(\d{1,2})/(\d{4})", campi["data_prevista"])
        try:
            prevista = (
                date(int(cifre[3]), int(cifre[2]), int(cifre[1])) if cifre else None
            )
        except ValueError:  # checkdate()
            prevista = None
        if prevista is None:
            return self._ko(
                "E12", "data_prevista non valida: usare il formato GG/MM/AAAA"
            )
        if prevista < date.today():  # noqa: DTZ011
            return self._ko("E13", "data_prevista non valida: la data è già passata")
        incarico = self._incarichi.get(campi["id_incarico"])
        if incarico is None:
            return self._ko("E20", f"Incarico {campi['id_incarico']} inesistente")
        if incarico["stato"] != "libero":
            return self._ko(
                "E21", f"Incarico non disponibile (stato: {incarico['stato']})"
            )
        incarico["stato"] = "assegnato"
        protocollo = f"{date.today().year}/{len(self._protocolli) + 87:04d}"  # noqa: DTZ011
        self._protocolli[protocollo] = {
            "incarico": campi["id_incarico"],
            "chi": chi["codice"],
        }
        self.book.claimed(campi["id_incarico"])
        return self._ok(
            "Incarico assegnato",
            {
                "numero_protocollo": protocollo,
                "id_incarico": campi["id_incarico"],
                "stato": "assegnato",
                "data_prevista": prevista.strftime("%d/%m/%Y"),
            },
        )

    def submit(self, request: Request) -> Response:
        chi = self._dentro(request)
        if isinstance(chi, Response):
            return chi
        campi = self._campi(request, "numero_protocollo", "testo_finale")
        if isinstance(campi, Response):
            return campi
        protocollo = self._protocolli.get(campi["numero_protocollo"])
        if protocollo is None or protocollo["chi"] != chi["codice"]:
            return self._ko("E30", "numero_protocollo non trovato tra i tuoi incarichi")
        incarico = self._incarichi[protocollo["incarico"]]
        if incarico["stato"] != "assegnato":
            return self._ko("E32", f"Consegna non ammessa (stato: {incarico['stato']})")
        if campi["testo_finale"] != incarico["testo_originale"].upper():
            return self._ko(
                "E31",
                "Revisione non superata: testo_finale non è il testo originale in maiuscolo. "
                "Correggere e consegnare di nuovo.",
            )
        incarico["stato"] = "consegnato"
        consegna = str(len(self._consegne) + 1412)
        self._consegne[consegna] = campi["numero_protocollo"]
        return self._ok(
            "Consegna registrata, in attesa di chiusura",
            {
                "id_consegna": consegna,
                "stato": "consegnato",
                "battute": str(len(campi["testo_finale"])),
            },
        )

    def complete(self, request: Request) -> Response:
        chi = self._dentro(request)
        if isinstance(chi, Response):
            return chi
        campi = self._campi(request, "id_consegna", "ore_impiegate")
        if isinstance(campi, Response):
            return campi
        protocollo = self._protocolli.get(self._consegne.get(campi["id_consegna"], ""))
        if protocollo is None or protocollo["chi"] != chi["codice"]:
            return self._ko("E40", "id_consegna non trovato tra le tue consegne")
        if not re.fullmatch(r"\d+([.,]\d+)?", campi["ore_impiegate"].strip()):
            return self._ko(
                "E41", "ore_impiegate non valido: indicare un numero di ore, ad es. 1,5"
            )
        numero = protocollo["incarico"]
        if self._incarichi[numero]["stato"] == "liquidato":
            return self._ko("E42", "Consegna già chiusa e liquidata")
        self._incarichi[numero]["stato"] = "liquidato"
        chi["saldo"] += self._compensi[numero]
        self.book.pay(numero, self._compensi[numero])
        return self._ok(
            "Incarico chiuso, compenso liquidato",
            {
                "id_incarico": numero,
                "stato": "liquidato",
                "compenso": _importo(self._compensi[numero]),
                "saldo": _importo(chi["saldo"]),
            },
        )

    def post(self, request: Request) -> Response:
        chi = self._dentro(request)
        return (
            chi
            if isinstance(chi, Response)
            else self._ko("E90", "Funzione riservata ai clienti")
        )
