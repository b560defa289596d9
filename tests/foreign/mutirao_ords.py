"""Mutirão: a work exchange of a state data-processing company in Curitiba, Brazil.

PL/SQL behind Oracle REST Data Services. Everything is flat; columns carry the prefixes of the
house (nr_, tx_, vl_, st_, dt_), sentences are Portuguese. What a procedure raises comes out as
ORDS does it: status 555, a problem document, and the ORA-20xxx sentence inside of "cause".
A delivery that is found right is paid at once; completing only closes the task.
"""

import json
import secrets
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_PAGE = 5
_TASKS = [
    ("Cabeçalho de ofício", "secretaria da fazenda do estado do paraná", 22),
    ("Placa de obra", "pavimentação da rua das araucárias, trecho 2", 30),
    ("Etiqueta de arquivo", "processos de licenciamento, caixa 118", 10),
    ("Título de edital", "edital de chamamento público nº 7 de 2025", 38),
    ("Nome de logradouro", "praça coronel joão gualberto, são josé", 16),
    ("Aviso de expediente", "não haverá expediente na quarta-feira", 27),
    ("Capa de relatório", "relatório anual de execução orçamentária", 50),
]


class _Raised(Exception):  # noqa: N818
    """raise_application_error(-20xxx, '...'), or an error of the database itself."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


def _problem(status: int, code: str, title: str, **members: str) -> Response:
    body = {
        "code": code,
        "title": title,
        "message": members.pop("message", title),
        **{key.replace("__", ":"): value for key, value in members.items()},
        "type": f"tag:oracle.com,2020:error/{code}",
        "instance": f"tag:oracle.com,2020:ecid/{secrets.token_urlsafe(16)}",
    }
    return Response(status, body, {"Content-Type": "application/problem+json"})


class Mutirao(Backend):
    """The work exchange."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._bookings: dict[int, dict[str, Any]] = {}
        limit = date.today() + timedelta(days=30)  # noqa: DTZ011
        self._tasks: dict[int, dict[str, Any]] = {}
        for number, (title, text, value) in enumerate(_TASKS, 10431):
            self._tasks[number] = {
                "nr_tarefa": number,
                "ds_titulo": title,
                "ds_orientacao": "Transcrever tx_original em letras maiúsculas, sem outra alteração.",
                "tx_original": text,
                "vl_creditos": value,
                "st_tarefa": "ABERTA",
                "dt_limite": f"{limit.isoformat()}T03:00:00Z",
            }

    def texts(self) -> dict[str, str]:
        return {
            str(number): task["tx_original"] for number, task in self._tasks.items()
        }

    def missing(self, request: Request) -> Response:
        return _problem(404, "NotFound", "Not Found")

    # What ORDS does around every handler.

    def _block(self, request: Request, procedure: str) -> Response:
        if request.token not in self._agents:
            return _problem(401, "Unauthorized", "Unauthorized")
        bound: dict[str, Any] = {}
        kind = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
        if kind == "application/json" and request.raw.strip():
            try:
                bound = request.json()
                if not isinstance(bound, dict):
                    raise ValueError  # noqa: TRY004
            except ValueError:
                return _problem(
                    400,
                    "BadRequest",
                    "Bad Request",
                    message="The request could not be processed because it is malformed",
                    cause="Expected a JSON object in the request body",
                )
        try:
            out = getattr(self, f"_{procedure}")(self._agents[request.token], bound)
        except _Raised as error:
            line = 40 + error.code % 97
            return _problem(
                555,
                "UserDefinedResourceError",
                "User Defined Resource Error",
                message="The request could not be processed for a user defined resource",
                o__errorCode="ORDS-25001",
                cause=(
                    "An error occurred when evaluating the SQL statement associated with this "
                    f"resource. SQL Error Code {error.code}, Error Message: "
                    f"ORA-{error.code:05}: {error.message}\n"
                    f'ORA-06512: em "MUTIRAO.PKG_TAREFA", line {line}\nORA-06512: em line 2\n'
                ),
                action=(
                    "Verify that the URI and payload are correctly specified for the requested "
                    "operation. If the issue persists then please contact the author of the resource"
                ),
            )
        return Response(200, out)

    def _number(self, bound: dict[str, Any], name: str, meaning: str) -> int:
        value = bound.get(name)
        if value is None or value == "":
            raise _Raised(
                20010, f"Parâmetro obrigatório não informado: {name} ({meaning})."
            )
        try:
            return int(str(value))
        except ValueError:
            raise _Raised(
                6502,
                f"PL/SQL: erro: erro de conversão de caractere em número numérico ou de valor ({name})",
            ) from None

    def _text(self, bound: dict[str, Any], name: str, meaning: str) -> str:
        value = bound.get(name)
        if value is None or value == "":
            raise _Raised(
                20010, f"Parâmetro obrigatório não informado: {name} ({meaning})."
            )
        return value if isinstance(value, str) else json.dumps(value)

    # The handlers.

    def register(self, request: Request) -> Response:
        token = secrets.token_hex(24).upper()
        number = 5001 + self.book.registrations
        self._agents[token] = {"id": f"AG{number:06}", "credits": 100}
        self.book.registrations += 1
        return Response(
            200,
            {
                "agent_id": f"AG{number:06}",
                "access_token": token,
                "credits": 100,
                "dt_cadastro": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            },
        )

    def _collection(self, request: Request, rows: list[dict[str, Any]]) -> Response:
        try:
            limit = int(request.query.get("limit", _PAGE))
            offset = int(request.query.get("offset", 0))
            if limit < 1 or offset < 0:
                raise ValueError
        except ValueError:
            return _problem(
                400,
                "BadRequest",
                "Bad Request",
                message="The request could not be processed because a query parameter is invalid",
                cause="limit must be a positive integer and offset must be zero or greater",
            )
        limit = min(limit, _PAGE)
        url = request.base + request.path
        items = rows[offset : offset + limit]
        more = len(rows) > offset + limit
        links = [
            {"rel": "self", "href": url},
            {"rel": "first", "href": f"{url}?limit={limit}"},
        ]
        if more:
            links.append(
                {"rel": "next", "href": f"{url}?offset={offset + limit}&limit={limit}"}
            )
        if offset:
            links.append(
                {
                    "rel": "prev",
                    "href": f"{url}?offset={max(0, offset - limit)}&limit={limit}",
                }
            )
        page = {"hasMore": more, "limit": limit, "offset": offset, "count": len(items)}
        return Response(200, {"items": items, **page, "links": links})

    def tasks(self, request: Request) -> Response:
        return self._collection(request, list(self._tasks.values()))

    def marketplace(self, request: Request) -> Response:
        rows = [task for task in self._tasks.values() if task["st_tarefa"] == "ABERTA"]
        return self._collection(request, rows)

    def claim(self, request: Request) -> Response:
        return self._block(request, "reservar")

    def submit(self, request: Request) -> Response:
        return self._block(request, "entregar")

    def complete(self, request: Request) -> Response:
        return self._block(request, "encerrar")

    def _reservar(self, agent: dict[str, Any], bound: dict[str, Any]) -> dict[str, Any]:
        number = self._number(bound, "nr_tarefa", "número da tarefa")
        planned = self._text(
            bound, "dt_prevista", "data prevista de entrega, AAAA-MM-DD"
        )
        task = self._tasks.get(number)
        if task is None:
            raise _Raised(20020, f"Tarefa {number} não encontrada.")
        try:
            day = date.fromisoformat(planned[:10])
        except ValueError:
            raise _Raised(
                20011,
                f"dt_prevista inválida: '{planned}'. Formato esperado: AAAA-MM-DD.",
            ) from None
        last = date.fromisoformat(task["dt_limite"][:10])
        today = datetime.now(UTC).date()
        if not today - timedelta(days=1) <= day <= last:
            raise _Raised(
                20012,
                f"dt_prevista deve estar entre {today.isoformat()} e {last.isoformat()} (dt_limite).",
            )
        if task["st_tarefa"] != "ABERTA":
            raise _Raised(
                20021,
                f"Tarefa {number} não está ABERTA. Situação atual: {task['st_tarefa']}.",
            )
        booking = 880101 + len(self._bookings)
        self._bookings[booking] = {"agent": agent, "task": task}
        task["st_tarefa"] = "RESERVADA"
        self.book.claimed(str(number))
        return {"nr_reserva": booking, "nr_tarefa": number, "st_tarefa": "RESERVADA"}

    def _booking(self, agent: dict[str, Any], bound: dict[str, Any]) -> dict[str, Any]:
        number = self._number(bound, "nr_reserva", "número da reserva")
        booking = self._bookings.get(number)
        if booking is None or booking["agent"] is not agent:
            raise _Raised(
                20030, f"Reserva {number} não encontrada para o agente {agent['id']}."
            )
        return booking

    def _entregar(self, agent: dict[str, Any], bound: dict[str, Any]) -> dict[str, Any]:
        task = self._booking(agent, bound)["task"]
        result = self._text(bound, "tx_resultado", "texto do resultado")
        if task["st_tarefa"] != "RESERVADA":
            raise _Raised(
                20031, f"Reserva já entregue. Situação da tarefa: {task['st_tarefa']}."
            )
        if result != task["tx_original"].upper():
            raise _Raised(
                20040,
                "Resultado não confere com a orientação da tarefa. Entrega recusada.",
            )
        task["st_tarefa"] = "ENTREGUE"
        agent["credits"] += task["vl_creditos"]
        self.book.pay(str(task["nr_tarefa"]), task["vl_creditos"])
        return {
            "st_tarefa": "ENTREGUE",
            "vl_creditado": task["vl_creditos"],
            "vl_saldo": agent["credits"],
        }

    def _encerrar(self, agent: dict[str, Any], bound: dict[str, Any]) -> dict[str, Any]:
        task = self._booking(agent, bound)["task"]
        if self._text(bound, "sn_aceite", "aceite do encerramento, S ou N") != "S":
            raise _Raised(20013, "sn_aceite deve ser 'S' para encerrar a tarefa.")
        if task["st_tarefa"] != "ENTREGUE":
            raise _Raised(
                20041,
                f"Só tarefa ENTREGUE pode ser encerrada. Situação atual: {task['st_tarefa']}.",
            )
        task["st_tarefa"] = "ENCERRADA"
        return {"nr_tarefa": task["nr_tarefa"], "st_tarefa": "ENCERRADA"}
