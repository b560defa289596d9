"""A small firm's service in Spanish, written by hand.

The listing is an object keyed by the task's reference, with its title, its text and its
state in Spanish (abierta, asignada, entregada, pagada, caducada), five a page with the
address of the next (`siguiente`). Errors are told all at once, by field (`campo`).
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]
TEXTOS = (
    ("Cartel del bar", "hoy hay tortilla y pan"),
    ("Aviso del portal", "el ascensor no funciona"),
    ("Nota de la escuela", "manana no hay clase"),
    ("Cartel de la plaza", "el mercado abre el lunes"),
    ("Nota del taller", "su coche ya tiene ruedas"),
    ("Aviso del puerto", "el barco sale a las ocho"),
    ("Nota de la panaderia", "quedan seis bollos"),
)
PATH = "/functions/v1/get-marketplace-tasks"
PAGINA = 5


@dataclass
class Tarea:
    ref: str
    titulo: str
    texto: str
    recompensa: int
    estado: str = "abierta"
    agente: str | None = None

    def vista(self) -> dict[str, object]:
        return {
            "titulo": self.titulo,
            "descripcion": self.texto,
            "categoria": "mayusculas",
            "recompensa": self.recompensa,
            "moneda": "creditos",
            "estado": self.estado,
            "asignada_a": self.agente,
            "publicada": "2025-03-04 10:22:09",
        }


class RechazoError(Exception):
    def __init__(self, status: int, mensaje: str, **campos: str) -> None:
        super().__init__(mensaje)
        self.status, self.mensaje, self.campos = status, mensaje, campos

    def response(self) -> Response:
        body: dict[str, object] = {"ok": False, "mensaje": self.mensaje}
        if self.campos:
            errores = [{"campo": k, "mensaje": v} for k, v in self.campos.items()]
            body["errores"] = errores
        return Response(self.status, body)


def telling(action: Action) -> Action:
    """Answer with the refusal where the action raises one."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except RechazoError as no:
            return no.response()

    return answer


class OficinaTareas(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agentes: dict[str, str] = {}
        self._saldo: dict[str, int] = {}
        abiertas = [
            Tarea(f"T-{2040 + n}", titulo, texto, n % 4 + 3)
            for n, (titulo, texto) in enumerate(TEXTOS)
        ]
        self._abiertas = {una.ref: una for una in abiertas}
        otras = [
            Tarea("T-2031", "Cartel viejo", "no pisar la hierba", 4, "pagada", "ag-3"),
            Tarea("T-2033", "Nota vieja", "cerrado por obras", 5, "caducada"),
            Tarea(
                "T-2036", "Aviso viejo", "cuidado con el perro", 6, "asignada", "ag-9"
            ),
        ]
        self._tareas = {una.ref: una for una in [*otras, *abiertas]}

    def texts(self) -> dict[str, str]:
        return {una.ref: una.texto for una in self._abiertas.values()}

    def missing(self, request: Request) -> Response:
        return RechazoError(404, "No existe esa ruta").response()

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agente, token = f"ag-{40 + self.book.registrations}", secrets.token_hex(32)
        self._agentes[token], self._saldo[agente] = agente, 100
        answer = {"agent_id": agente, "access_token": token, "credits": 100}
        return Response(200, {"ok": True, **answer, "mensaje": "Agente creado"})

    def tasks(self, request: Request) -> Response:
        asked = request.query.get("pagina", "1")
        pagina = int(asked) if asked.isdecimal() else 1
        todas = list(self._tareas.values())
        vistas = todas[(pagina - 1) * PAGINA : pagina * PAGINA]
        hay_mas = pagina * PAGINA < len(todas)
        body = {
            "ok": True,
            "total": len(todas),
            "pagina": pagina,
            "siguiente": f"{PATH}?pagina={pagina + 1}" if hay_mas else None,
            "tareas": {una.ref: una.vista() for una in vistas},
        }
        return Response(200, body)

    @telling
    def claim(self, request: Request) -> Response:
        agente, tarea, _ = self._leer(request)
        if tarea.estado != "abierta":
            raise RechazoError(409, f"La tarea {tarea.ref} ya no esta abierta")
        tarea.agente, tarea.estado = agente, "asignada"
        self.book.claimed(tarea.ref)
        return Response(200, {"ok": True, "mensaje": "Tarea asignada"})

    @telling
    def submit(self, request: Request) -> Response:
        agente, tarea, dado = self._leer(request, "resultado")
        self._es_mia(agente, tarea, "asignada")
        if dado["resultado"] != tarea.texto.upper():
            raise RechazoError(422, "El resultado no es correcto")
        tarea.estado = "entregada"
        return Response(200, {"ok": True, "mensaje": "Resultado recibido"})

    @telling
    def complete(self, request: Request) -> Response:
        agente, tarea, _ = self._leer(request)
        self._es_mia(agente, tarea, "entregada")
        tarea.estado = "pagada"
        self._saldo[agente] += tarea.recompensa
        self.book.pay(tarea.ref, tarea.recompensa)
        pago = {"pagado": tarea.recompensa, "saldo": self._saldo[agente]}
        return Response(200, {"ok": True, "mensaje": "Tarea pagada", **pago})

    def _es_mia(self, agente: str, tarea: Tarea, estado: str) -> None:
        if tarea.agente != agente:
            raise RechazoError(403, f"La tarea {tarea.ref} es de otro agente")
        if tarea.estado != estado:
            raise RechazoError(409, f"La tarea {tarea.ref} esta {tarea.estado}")

    def _leer(self, request: Request, *mas: str) -> tuple[str, Tarea, dict[str, str]]:
        if request.token not in self._agentes:
            raise RechazoError(401, "Credencial no valida")
        try:
            dado = request.json()
        except ValueError:
            dado = None
        if not isinstance(dado, dict):
            raise RechazoError(400, "El cuerpo debe ser un objeto JSON")
        faltan = {
            nombre: "es obligatorio"
            for nombre in ("tarea", *mas)
            if not isinstance(dado.get(nombre), str) or not dado[nombre]
        }
        if faltan:
            raise RechazoError(422, "Hay errores en la peticion", **faltan)
        tarea = self._tareas.get(dado["tarea"])
        if tarea is None:
            raise RechazoError(404, f"No existe la tarea {dado['tarea']}")
        return self._agentes[request.token], tarea, dado
