"""Rótulos Quiroga, a family of sign painters: an in-house interface in Spanish.

A job sheet (encargo) is assigned against a receipt (resguardo); the wording is handed in
on the receipt, and only at the settlement (liquidación) does the master look at it: a
wrong one goes back to the bench, a right one is paid.
"""

from datetime import UTC, datetime
from math import ceil
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TAREAS = [
    (4107, "Panadería La Espiga", "pan de leña y bollería del día", 14, 120),
    (4108, "Ferretería Núñez", "tornillos, clavos y llaves al momento", 9, 90),
    (4111, "Peluquería Begoña", "corte señora y niño, sin cita", 22, 200),
    (4112, "Bar El Rincón", "menú casero: caña y pincho 3,50", 11, 80),
    (4115, "Farmacia Ibáñez", "abierto de guardia hasta las 22 h", 31, 150),
    (4116, "Taller Móstoles", "revisión pre-ITV, frenos y ruedas", 17, 160),
    (4120, "Librería Quevedo", "libros de ocasión, compra y venta", 26, 140),
]
TAMANO = 3  # encargos por página


def no(estado: int, codigo: str, mensaje: str, campos: Any = ()) -> Response:
    """Refuse as the house does."""
    aviso: dict[str, Any] = {"codigo": codigo, "mensaje": mensaje}
    if campos:
        aviso["campos"] = [{"campo": c, "motivo": m} for c, m in campos]
    return Response(estado, {"correcto": False, "aviso": aviso})


class TallerDeRotulos(Backend):
    """The workshop's order book."""

    def __init__(self) -> None:
        super().__init__()
        self.operarios: dict[str, str] = {}  # credencial -> operario
        self.saldos: dict[str, int] = {}
        self.resguardos: dict[str, int] = {}
        self.encargos: dict[int, dict[str, Any]] = {
            n: {
                "cliente": cliente,
                "texto": texto,
                "creditos": creditos,
                "ancho": ancho,
                "situacion": "PENDIENTE",
                "operario": None,
                "entregado": None,
            }
            for n, cliente, texto, creditos, ancho in TAREAS
        }

    def texts(self) -> dict[str, str]:
        """Return every sign's wording."""
        return {str(n): e["texto"] for n, e in self.encargos.items()}

    def missing(self, request: Request) -> Response:
        """Answer for a path that the workshop has not."""
        return no(404, "RUTA_DESCONOCIDA", f"La dirección {request.path} no existe.")

    def register(self, request: Request) -> Response:
        """Enrol a workman."""
        self.book.registrations += 1
        operario = f"OP-{self.book.registrations:04d}"
        credencial = f"rq_{self.book.registrations:04d}_{id(self):x}"
        self.operarios[credencial] = operario
        self.saldos[operario] = 100
        return Response(
            200, {"agent_id": operario, "access_token": credencial, "credits": 100}
        )

    def _anonimo(self, request: Request) -> Response | None:
        if request.token in self.operarios:
            return None
        return no(
            401,
            "SIN_IDENTIFICAR",
            "No consta ningún operario con esa credencial; envíe la cabecera "
            "Authorization: Bearer seguida de su credencial.",
        )

    def _cuerpo(self, request: Request) -> dict[str, Any] | Response:
        if anonimo := self._anonimo(request):
            return anonimo
        try:
            cuerpo = request.json()
        except ValueError:
            cuerpo = None
        if not isinstance(cuerpo, dict):
            return no(400, "CUERPO_ILEGIBLE", "El cuerpo debe ser un objeto JSON.")
        return cuerpo

    def _ficha(self, n: int) -> dict[str, Any]:
        e = self.encargos[n]
        return {
            "numEncargo": n,
            "cliente": {"nombre": e["cliente"], "anchoCm": e["ancho"]},
            "trabajo": "Componer el rótulo en mayúsculas, respetando tildes y signos.",
            "textoRotulo": e["texto"],
            "pago": {"importe": e["creditos"], "moneda": "créditos"},
            "situacion": e["situacion"],
        }

    def tasks(self, request: Request) -> Response:
        """List the pending job sheets, page by page."""
        if anonimo := self._anonimo(request):
            return anonimo
        try:
            tamano = min(TAMANO, int(request.query.get("limit", TAMANO)))
            pagina = int(request.query.get("pagina", 1))
        except ValueError:
            tamano = pagina = 0
        if tamano < 1 or pagina < 1:
            return no(
                400,
                "PARAMETRO_ERRONEO",
                "Los parámetros limit y pagina deben ser números enteros positivos.",
            )
        libres = [n for n, e in self.encargos.items() if e["situacion"] == "PENDIENTE"]
        paginas = max(1, ceil(len(libres) / tamano))
        siguiente = f"{request.path}?limit={tamano}&pagina={pagina + 1}"
        return Response(
            200,
            {
                "correcto": True,
                "datos": {
                    "encargos": [
                        self._ficha(n)
                        for n in libres[(pagina - 1) * tamano : pagina * tamano]
                    ],
                    "paginacion": {
                        "pagina": pagina,
                        "paginas": paginas,
                        "totalEncargos": len(libres),
                        "siguiente": siguiente if pagina < paginas else None,
                    },
                },
            },
        )

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        """Assign a job sheet against a receipt."""
        cuerpo = self._cuerpo(request)
        if isinstance(cuerpo, Response):
            return cuerpo
        n, dia = cuerpo.get("numEncargo"), cuerpo.get("fechaCompromiso")
        campos = []
        if n is None:
            campos.append(("numEncargo", "es obligatorio"))
        elif not isinstance(n, int) or isinstance(n, bool):
            campos.append(("numEncargo", "debe ser un número entero"))
        if dia is None:
            campos.append(("fechaCompromiso", "es obligatoria"))
        else:
            try:
                if (
                    datetime.strptime(str(dia), "%d/%m/%Y").replace(tzinfo=UTC).date()
                    < datetime.now(UTC).date()
                ):
                    campos.append(("fechaCompromiso", "no puede ser anterior a hoy"))
            except ValueError:
                campos.append(("fechaCompromiso", "debe tener la forma dd/mm/aaaa"))
        if campos:
            return no(400, "DATOS_ERRONEOS", "Revise los campos indicados.", campos)
        if n not in self.encargos:
            return no(404, "ENCARGO_INEXISTENTE", f"No existe el encargo {n}.")
        encargo = self.encargos[n]
        if encargo["situacion"] != "PENDIENTE":
            return no(409, "ENCARGO_ASIGNADO", f"El encargo {n} ya está asignado.")
        encargo.update(situacion="EN_TALLER", operario=self.operarios[request.token])
        resguardo = f"R{n}/{len(self.resguardos) + 1:03d}"
        self.resguardos[resguardo] = n
        self.book.claimed(str(n))
        datos = {"resguardo": resguardo, "fechaCompromiso": dia, **self._ficha(n)}
        return Response(200, {"correcto": True, "datos": datos})

    def _resguardo(self, cuerpo: dict[str, Any], request: Request) -> int | Response:
        resguardo = cuerpo.get("resguardo")
        n = self.resguardos.get(str(resguardo))
        if n is None:
            return no(
                404, "RESGUARDO_INEXISTENTE", f"No existe el resguardo {resguardo}."
            )
        if self.encargos[n]["operario"] != self.operarios[request.token]:
            return no(403, "RESGUARDO_AJENO", "El resguardo es de otro operario.")
        return n

    def submit(self, request: Request) -> Response:
        """Take in a wording; nobody reads it yet."""
        cuerpo = self._cuerpo(request)
        if isinstance(cuerpo, Response):
            return cuerpo
        campos = []
        if "resguardo" not in cuerpo:
            campos.append(("resguardo", "es obligatorio"))
        entrega = cuerpo.get("entrega")
        if entrega is None:
            campos.append(("entrega", "es obligatoria"))
        elif not isinstance(entrega, dict):
            campos.append(("entrega", "debe ser un objeto"))
        elif not isinstance(entrega.get("textoCompuesto"), str):
            campos.append(
                ("entrega.textoCompuesto", "es obligatorio y debe ser un texto")
            )
        if campos:
            return no(400, "DATOS_ERRONEOS", "Revise los campos indicados.", campos)
        n = self._resguardo(cuerpo, request)
        if isinstance(n, Response):
            return n
        if self.encargos[n]["situacion"] != "EN_TALLER":
            return no(409, "YA_ENTREGADO", f"El encargo {n} ya no está en taller.")
        self.encargos[n].update(
            situacion="ENTREGADO", entregado=(entrega or {})["textoCompuesto"]
        )
        return Response(200, {"correcto": True, "datos": self._ficha(n)})

    def complete(self, request: Request) -> Response:
        """Look the wording over and settle."""
        cuerpo = self._cuerpo(request)
        if isinstance(cuerpo, Response):
            return cuerpo
        campos = []
        if "resguardo" not in cuerpo:
            campos.append(("resguardo", "es obligatorio"))
        if not isinstance(cuerpo.get("conformidad"), bool):
            campos.append(("conformidad", "es obligatoria y debe ser true o false"))
        if campos:
            return no(400, "DATOS_ERRONEOS", "Revise los campos indicados.", campos)
        n = self._resguardo(cuerpo, request)
        if isinstance(n, Response):
            return n
        encargo = self.encargos[n]
        if encargo["situacion"] == "EN_TALLER":
            return no(409, "SIN_ENTREGA", f"El encargo {n} aún no se ha entregado.")
        if encargo["situacion"] == "LIQUIDADO":
            return no(409, "YA_LIQUIDADO", f"El encargo {n} ya está liquidado.")
        if not cuerpo["conformidad"]:
            return no(422, "SIN_CONFORMIDAD", "Sin conformidad no hay liquidación.")
        if encargo["entregado"] != encargo["texto"].upper():
            encargo.update(situacion="EN_TALLER", entregado=None)
            return no(
                422,
                "TRABAJO_RECHAZADO",
                f"El texto entregado no es el pedido; el encargo {n} vuelve al taller.",
            )
        encargo["situacion"] = "LIQUIDADO"
        self.saldos[encargo["operario"]] += encargo["creditos"]
        self.book.pay(str(n), encargo["creditos"])
        abono = {
            "abonado": encargo["creditos"],
            "saldo": self.saldos[encargo["operario"]],
        }
        return Response(200, {"correcto": True, "datos": {**self._ficha(n), **abono}})
