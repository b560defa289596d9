"""El Gremi de Retolistes: a sign painters' guild with an in-house interface in Catalan.

Both ways go in an envelope: {"peticio": {...}} in, {"resultat": "OK", "dades": {...}} or
{"resultat": "KO", "incidencia": {...}} out. The status is 200 whatever it says, and it
names one thing wrong at a time. An order is closed, and paid, with its delivery note.
"""

from datetime import date, datetime, timedelta
from secrets import token_hex
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_ENCARRECS = [
    ("Fleca Puigdomènech", "pa de pagès cuit amb llenya", 18),
    ("Cal Ferrer", "manyeria i serralleria del barri", 25),
    ("Ajuntament de Sallent", "prohibit fixar cartells en aquesta paret", 30),
    ("Merceria Colom", "botons, fils i cintes de tota mena", 10),
    ("Bar la Unió", "esmorzars de forquilla cada dissabte", 16),
    ("Escola de Música", "silenci, s'està assajant", 9),
    ("Cooperativa Agrícola", "oli novell de la collita pròpia", 27),
    ("Llibreria Pàgina", "comprem i venem llibres vells", 13),
]
_PER_PAGINA, _MAX_PER_PAGINA, _MAX_FULLS = 5, 50, 3
_FORMAT = "%d/%m/%Y"


class _Incidencia(Exception):  # noqa: N818
    """A refusal: its code, its sentence, and the field that it is about."""

    def __init__(self, codi: str, missatge: str, camp: str = "") -> None:
        super().__init__(missatge)
        self.cos: dict[str, Any] = {"codi": codi, "missatge": missatge}
        if camp:
            self.cos["camp"] = camp


def _ko(incidencia: _Incidencia, status: int = 200) -> Response:
    cos = {"resultat": "KO", "incidencia": incidencia.cos}
    return Response(status, cos, refused=True)


def _ok(dades: Any) -> Response:
    return Response(200, {"resultat": "OK", "dades": dades})


_TIPUS = {"un nombre enter": int, "un text": str, "un booleà (true o false)": bool}


def _camp(peticio: dict[str, Any], camp: str, tipus: str, que: str) -> Any:
    """Return a required field of the request."""
    valor = peticio.get(camp)
    if valor is None or valor == "":
        raise _Incidencia("E-10", f"Falta el camp obligatori «{camp}» ({que}).", camp)
    if type(valor) is not _TIPUS[tipus]:
        raise _Incidencia("E-11", f"El camp «{camp}» ha de ser {tipus}.", camp)
    return valor


class GremiRetolistes(Backend):
    """Signs to be lettered in capitals."""

    def __init__(self) -> None:
        super().__init__()
        self.operaris: dict[str, dict[str, Any]] = {}  # by token
        self.fulls: dict[str, dict[str, Any]] = {}
        self.encarrecs: dict[int, dict[str, Any]] = {}
        for i, (client, text, honoraris) in enumerate(_ENCARRECS):
            limit = date.today() + timedelta(days=10 + 3 * i)  # noqa: DTZ011
            self.encarrecs[4102 + 7 * i] = {
                "numEncarrec": 4102 + 7 * i,
                "client": client,
                "feina": "Retolar el text en majúscules, sense cap altre canvi.",
                "textOriginal": text,
                "honoraris": honoraris,
                "dataLimit": limit.strftime(_FORMAT),
                "estat": "LLIURE",
            }

    def texts(self) -> dict[str, str]:
        return {str(num): e["textOriginal"] for num, e in self.encarrecs.items()}

    def missing(self, request: Request) -> Response:
        missatge = f"El servei «{request.path}» no existeix."
        return _ko(_Incidencia("E-00", missatge), 404)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"OP{1000 + self.book.registrations}", token_hex(20)
        self.operaris[token] = {"agent": agent, "saldo": 100}
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def agents(self, request: Request) -> Response:
        return _ok({"operaris": [o["agent"] for o in self.operaris.values()]})

    directory = agents

    def _operari(self, request: Request) -> dict[str, Any]:
        operari = self.operaris.get(request.token)
        if not operari:
            raise _Incidencia("E-01", "La credencial és absent o no és vàlida.")
        return operari

    def _peticio(self, request: Request) -> dict[str, Any]:
        """Return what stands in the envelope of the request."""
        try:
            cos = request.json()
        except ValueError:
            raise _Incidencia("E-02", "El cos no és un JSON correcte.") from None
        peticio = cos.get("peticio") if isinstance(cos, dict) else None
        if not isinstance(peticio, dict):
            missatge = "El cos ha de portar les dades dins l'objecte «peticio»."
            raise _Incidencia("E-03", missatge, "peticio")
        return peticio

    def _full(self, peticio: dict[str, Any], operari: dict[str, Any]) -> Any:
        que = "el que es va donar en adjudicar l'encàrrec"
        num = _camp(peticio, "fullTreball", "un text", que)
        full = self.fulls.get(num)
        if not full or full["operari"] is not operari:
            missatge = f"No teniu cap full de treball «{num}»."
            raise _Incidencia("E-20", missatge, "fullTreball")
        if full["encarrec"]["estat"] == "TANCAT":
            missatge = f"El full de treball «{num}» ja és tancat."
            raise _Incidencia("E-21", missatge, "fullTreball")
        return full

    def _pagina(self, request: Request) -> Response:
        valors = {}
        for nom, defecte, maxim in (
            ("limit", _PER_PAGINA, _MAX_PER_PAGINA),
            ("pagina", 1, 999),
        ):
            text = request.query.get(nom) or str(defecte)
            if not text.isdecimal() or not 1 <= int(text) <= maxim:
                missatge = f"El paràmetre «{nom}» ha de ser un enter entre 1 i {maxim}."
                return _ko(_Incidencia("E-12", missatge, nom))
            valors[nom] = int(text)
        tots, limit = list(self.encarrecs.values()), valors["limit"]
        inici = (valors["pagina"] - 1) * limit
        dades = {
            "encarrecs": tots[inici : inici + limit],
            "pagina": valors["pagina"],
            "totalPagines": -(-len(tots) // limit),
            "totalEncarrecs": len(tots),
        }
        return _ok(dades)

    def marketplace(self, request: Request) -> Response:
        return self._pagina(request)

    def tasks(self, request: Request) -> Response:
        try:
            self._operari(request)
        except _Incidencia as incidencia:
            return _ko(incidencia)
        return self._pagina(request)

    def claim(self, request: Request) -> Response:
        try:
            operari = self._operari(request)
            return _ok(self._adjudicar(self._peticio(request), operari))
        except _Incidencia as incidencia:
            return _ko(incidencia)

    def submit(self, request: Request) -> Response:
        try:
            operari = self._operari(request)
            return _ok(self._lliurar(self._peticio(request), operari))
        except _Incidencia as incidencia:
            return _ko(incidencia)

    def complete(self, request: Request) -> Response:
        try:
            operari = self._operari(request)
            return _ok(self._tancar(self._peticio(request), operari))
        except _Incidencia as incidencia:
            return _ko(incidencia)

    def post(self, request: Request) -> Response:
        missatge = "Els encàrrecs només els dona d'alta la secretaria del Gremi."
        return _ko(_Incidencia("E-90", missatge))

    def _adjudicar(self, peticio: dict[str, Any], operari: dict[str, Any]) -> Any:
        num = _camp(peticio, "numEncarrec", "un nombre enter", "número de l'encàrrec")
        encarrec = self.encarrecs.get(num)
        if not encarrec:
            raise _Incidencia("E-30", f"No hi ha cap encàrrec {num}.", "numEncarrec")
        qui = _camp(peticio, "operari", "un text", "el vostre identificador d'agent")
        if qui != operari["agent"]:
            missatge = "El camp «operari» ha de ser l'agent de la credencial."
            raise _Incidencia("E-13", missatge, "operari")
        text = _camp(peticio, "dataEntrega", "un text", "dia previst, dd/mm/aaaa")
        try:
            dia = datetime.strptime(text, _FORMAT).date()  # noqa: DTZ007
        except ValueError:
            missatge = "La «dataEntrega» ha de tenir el format dd/mm/aaaa."
            raise _Incidencia("E-14", missatge, "dataEntrega") from None
        limit = datetime.strptime(encarrec["dataLimit"], _FORMAT).date()  # noqa: DTZ007
        if not date.today() <= dia <= limit:  # noqa: DTZ011
            missatge = f"La «dataEntrega» ha de ser entre avui i {limit:{_FORMAT}}."
            raise _Incidencia("E-15", missatge, "dataEntrega")
        if encarrec["estat"] != "LLIURE":
            missatge = f"L'encàrrec {num} ja no és lliure."
            raise _Incidencia("E-31", missatge, "numEncarrec")
        oberts = [
            full["num"]
            for full in self.fulls.values()
            if full["operari"] is operari and full["encarrec"]["estat"] != "TANCAT"
        ]
        if len(oberts) >= _MAX_FULLS:
            missatge = f"Ja teniu {_MAX_FULLS} fulls oberts: {', '.join(oberts)}."
            raise _Incidencia("E-32", missatge)
        full = f"FT-{len(self.fulls) + 71:05}"
        nou = {"num": full, "encarrec": encarrec, "operari": operari, "albara": 0}
        self.fulls[full] = nou
        encarrec["estat"] = "ADJUDICAT"
        self.book.claimed(str(num))
        return {"fullTreball": full, "numEncarrec": num, "estat": "ADJUDICAT"}

    def _lliurar(self, peticio: dict[str, Any], operari: dict[str, Any]) -> Any:
        full = self._full(peticio, operari)
        text = _camp(peticio, "textRetolat", "un text", "el text acabat")
        if text != full["encarrec"]["textOriginal"].upper():
            missatge = "El text retolat no és el «textOriginal» en majúscules."
            raise _Incidencia("E-40", missatge, "textRetolat")
        full["albara"] = full["albara"] or 88000 + int(full["num"][3:])
        full["encarrec"]["estat"] = "LLIURAT"
        return {"numAlbara": full["albara"], "estat": "LLIURAT"}

    def _tancar(self, peticio: dict[str, Any], operari: dict[str, Any]) -> Any:
        full = self._full(peticio, operari)
        que = "el que es va donar en lliurar el text"
        albara = _camp(peticio, "numAlbara", "un nombre enter", que)
        if not full["albara"] or albara != full["albara"]:
            missatge = f"El full «{full['num']}» no té cap albarà {albara}."
            raise _Incidencia("E-41", missatge, "numAlbara")
        tipus = "un booleà (true o false)"
        if not _camp(peticio, "conforme", tipus, "true si doneu la feina per acabada"):
            missatge = "No es pot tancar un full si «conforme» no és true."
            raise _Incidencia("E-42", missatge, "conforme")
        encarrec = full["encarrec"]
        encarrec["estat"] = "TANCAT"
        operari["saldo"] += encarrec["honoraris"]
        self.book.pay(str(encarrec["numEncarrec"]), encarrec["honoraris"])
        abonat, saldo = encarrec["honoraris"], operari["saldo"]
        return {"estat": "TANCAT", "abonat": abonat, "saldo": saldo}
