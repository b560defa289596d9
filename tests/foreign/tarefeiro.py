"""A Brazilian company's ASP.NET Core API, with the usual MainController.

Every answer of a controller is `success` with `data`, or with `errors` that are sentences
in Portuguese; the authentication middleware answers 401 with no body. The names of the
fields compare without case, as System.Text.Json's web defaults have it. The approval of a
delivery pays; the closing only closes.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import copy
import secrets
import uuid
from datetime import date, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_TAREFAS = [
    (5101, 12.0, "Etiqueta de armazém", "caixa de maçãs, três quilos"),
    (5102, 35.0, "Título de notícia", "prefeitura inaugura estação de ônibus"),
    (5103, 20.0, "Placa de porta", "sala de reunião"),
    (5104, 27.0, "Aviso de elevador", "capacidade máxima: oito pessoas"),
    (5105, 50.0, "Nome em contrato", "comércio de pães são joão ltda"),
    (5106, 16.0, "Linha de cardápio", "café com pão de queijo"),
    (5107, 23.0, "Legenda de foto", "pôr do sol em florianópolis"),
    (5108, 41.0, "Cabeçalho de nota", "nota fiscal de serviço"),
]


class _Nao(Exception):  # noqa: N818
    def __init__(self, *errors: str, status: int = 400) -> None:
        super().__init__(*errors)
        self.answer = Response(status, {"success": False, "errors": list(errors)})


def _kind(value: Any, net: str) -> Any:
    """Return a value as the .NET type reads it.

    Raises:
        ValueError: It does not convert.
    """
    if net == "System.Int32":
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError
    elif net == "System.Boolean":
        if not isinstance(value, bool):
            raise ValueError
    elif not isinstance(value, str):
        raise ValueError
    elif net == "System.Guid":
        return str(uuid.UUID(value))
    elif net == "System.DateTime":
        return datetime.fromisoformat(value).date()
    return value


def _ok(data: dict[str, Any]) -> Response:
    return Response(200, {"success": True, "data": copy.deepcopy(data)})


class Tarefeiro(Backend):
    """Tarefas, atribuições and entregas."""

    def __init__(self) -> None:
        super().__init__()
        self._agentes: dict[str, str] = {}  # token -> agente
        self._tarefas = {
            numero: {
                "id": numero,
                "titulo": titulo,
                "descricao": "Reescrever o conteúdo em letras maiúsculas.",
                "conteudo": conteudo,
                "recompensa": valor,
                "situacao": "Disponivel",
                "dataCadastro": "2026-02-10T09:30:00",
            }
            for numero, valor, titulo, conteudo in _TAREFAS
        }
        self._atribuicoes: dict[str, dict[str, Any]] = {}
        self._entregas: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the contents by number."""
        return {str(n): t["conteudo"] for n, t in self._tarefas.items()}

    def handle(self, request: Request) -> Response:
        """Answer as the base does, as Kestrel."""
        answer = super().handle(request)
        answer.headers["Server"] = "Kestrel"
        return answer

    def missing(self, request: Request) -> Response:
        """Say nothing, as a router without a route does."""
        return Response(404)

    def register(self, request: Request) -> Response:
        """Register an agent."""
        self.book.registrations += 1
        agente, token = f"AG{secrets.randbelow(900000) + 100000}", secrets.token_hex(24)
        self._agentes[token] = agente
        return Response(
            200, {"agent_id": agente, "access_token": token, "credits": 100}
        )

    def tasks(self, request: Request) -> Response:
        """List what is available; anybody may look."""
        limit = request.query.get("limit", "10")
        if not limit.isdecimal() or not 1 <= int(limit) <= 50:
            return _Nao("O parâmetro limit deve estar entre 1 e 50").answer
        livres = [t for t in self._tarefas.values() if t["situacao"] == "Disponivel"]
        return _ok(
            {
                "itens": livres[: int(limit)],
                "tamanhoPagina": int(limit),
                "totalRegistros": len(livres),
            }
        )

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        """Assign a task."""
        agente = self._agentes.get(request.token)
        if agente is None:
            return self._challenge(request)
        try:
            modelo = self._modelo(
                request,
                TarefaId="System.Int32",
                AgenteId="System.String",
                PrevisaoEntrega="System.DateTime",
            )
            if modelo["AgenteId"] != agente:
                raise _Nao("O AgenteId informado não corresponde ao agente autenticado")
            if modelo["PrevisaoEntrega"] < date.today():  # noqa: DTZ011
                raise _Nao("A PrevisaoEntrega não pode ser anterior à data de hoje")
            tarefa = self._tarefas.get(modelo["TarefaId"])
            if tarefa is None:
                raise _Nao("Tarefa não encontrada", status=404)
            if tarefa["situacao"] != "Disponivel":
                raise _Nao("Esta tarefa já foi atribuída a um agente")
        except _Nao as nao:
            return nao.answer
        tarefa["situacao"] = "EmAndamento"
        self.book.claimed(str(tarefa["id"]))
        atribuicao = {
            "atribuicaoId": str(uuid.uuid4()),
            "tarefaId": tarefa["id"],
            "agenteId": agente,
            "previsaoEntrega": f"{modelo['PrevisaoEntrega']}T00:00:00",
            "situacao": "EmAndamento",
        }
        self._atribuicoes[atribuicao["atribuicaoId"]] = atribuicao
        return _ok(atribuicao)

    def submit(self, request: Request) -> Response:
        """Take a delivery; one that is right is approved and paid at once."""
        agente = self._agentes.get(request.token)
        if agente is None:
            return self._challenge(request)
        try:
            modelo = self._modelo(
                request,
                AtribuicaoId="System.Guid",
                Resultado="System.String",
                TempoGastoMinutos="System.Int32",
            )
            if not 1 <= modelo["TempoGastoMinutos"] <= 1440:
                raise _Nao("O campo TempoGastoMinutos deve estar entre 1 e 1440")
            atribuicao = self._atribuicoes.get(modelo["AtribuicaoId"])
            if atribuicao is None or atribuicao["agenteId"] != agente:
                raise _Nao("Atribuição não encontrada", status=404)
            if atribuicao["situacao"] != "EmAndamento":
                raise _Nao("Esta atribuição já possui uma entrega aprovada")
            tarefa = self._tarefas[atribuicao["tarefaId"]]
            if modelo["Resultado"] != tarefa["conteudo"].upper():
                raise _Nao(
                    "O Resultado não confere com o conteúdo da tarefa em letras maiúsculas"
                )
        except _Nao as nao:
            return nao.answer
        atribuicao["situacao"] = tarefa["situacao"] = "Entregue"
        self.book.pay(str(tarefa["id"]), int(tarefa["recompensa"]))
        entrega = {
            "entregaId": str(uuid.uuid4()),
            "atribuicaoId": atribuicao["atribuicaoId"],
            "situacao": "Aprovada",
            "valorCreditado": tarefa["recompensa"],
        }
        self._entregas[entrega["entregaId"]] = entrega
        return _ok(entrega)

    def complete(self, request: Request) -> Response:
        """Close a task that was delivered."""
        agente = self._agentes.get(request.token)
        if agente is None:
            return self._challenge(request)
        try:
            modelo = self._modelo(
                request, EntregaId="System.Guid", Confirmado="System.Boolean"
            )
            entrega = self._entregas.get(modelo["EntregaId"])
            dona = self._atribuicoes[entrega["atribuicaoId"]] if entrega else None
            if entrega is None or dona is None or dona["agenteId"] != agente:
                raise _Nao("Entrega não encontrada", status=404)
            if not modelo["Confirmado"]:
                raise _Nao("É necessário confirmar o encerramento da tarefa")
            if entrega["situacao"] == "Encerrada":
                raise _Nao("Esta entrega já foi encerrada")
        except _Nao as nao:
            return nao.answer
        entrega["situacao"] = dona["situacao"] = "Encerrada"
        self._tarefas[dona["tarefaId"]]["situacao"] = "Concluida"
        return _ok({"entregaId": entrega["entregaId"], "situacao": "Encerrada"})

    def _challenge(self, request: Request) -> Response:
        bad = 'Bearer error="invalid_token"' if request.token else "Bearer"
        return Response(401, b"", {"WWW-Authenticate": bad})

    def _modelo(self, request: Request, **kinds: str) -> dict[str, Any]:
        """Bind and validate a body; all that is missing is told at once."""
        if not request.raw.strip():
            raise _Nao("A non-empty request body is required.")
        try:
            body = request.json()
        except ValueError:
            raise _Nao("O corpo da requisição não é um JSON válido") from None
        if not isinstance(body, dict):
            raise _Nao("The JSON value could not be converted. Path: $")
        given = {name.lower(): value for name, value in body.items()}
        lost, modelo = [], {}
        for name, net in kinds.items():
            value = given.get(name.lower())
            if value is None or value == "":
                lost.append(f"O campo {name} é obrigatório")
                continue
            try:
                modelo[name] = _kind(value, net)
            except ValueError:
                path = name[0].lower() + name[1:]
                raise _Nao(
                    f"The JSON value could not be converted to {net}. Path: $.{path} | "
                    "LineNumber: 0 | BytePositionInLine: "
                    f"{max(len(request.raw) - 1, 0)}."
                ) from None
        if lost:
            raise _Nao(*lost)
        return modelo
