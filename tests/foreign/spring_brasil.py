"""A Spring Boot service of a team in São Paulo: everything but the paths is Portuguese.

Bean Validation speaks the JVM's language, and a @ControllerAdvice puts its words beside the
names of the fields. Unknown properties are ignored, as Spring sets Jackson up. The listing
is Spring Data's page. Handing in makes an `entrega`, which the conclusion names.
"""

import itertools
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

FRASES = (
    "o trem das onze partiu sem mim",
    "a feira abre antes do sol nascer",
    "choveu granizo sobre a paulista",
    "um sanfoneiro toca na praia vazia",
    "o bonde sobe a ladeira devagar",
    "a rede balança sob a mangueira",
    "cinco jangadas voltam do mar",
    "o carteiro conhece cada cachorro",
    "a padaria cheira a pão de queijo",
    "ninguém atende o telefone vermelho",
    "as pipas cortam o azul de agosto",
    "o rio dobra atrás da fazenda",
)
TAMANHO = 5


def erro(status: int, codigo: str, mensagem: str, **mais: Any) -> Response:
    return Response(status, {"codigo": codigo, "mensagem": mensagem, **mais})


def invalido(body: dict[str, Any], campos: dict[str, type]) -> Response | None:
    """Return what Bean Validation says, or Jackson before it."""
    faltam = []
    for nome, tipo in campos.items():
        valor = body.get(nome)
        if valor is None:
            palavra = "nulo" if tipo is int else "em branco"
            faltam.append({"campo": nome, "erro": f"não deve estar {palavra}"})
        elif isinstance(valor, dict | list) or (
            tipo is int and not str(valor).isdigit()
        ):
            return erro(400, "JSON_INVALIDO", "O corpo da requisição está inválido")
    if not faltam:
        return None
    mensagem = "Um ou mais campos estão inválidos"
    return erro(400, "DADOS_INVALIDOS", mensagem, campos=faltam)


class SpringBrasil(Backend):
    """Twelve sentences to be shouted."""

    def __init__(self) -> None:
        super().__init__()
        self.tarefas: dict[int, dict[str, Any]] = {
            n: {
                "id": n,
                "titulo": f"Frase {n}",
                "descricao": frase,
                "recompensa": n % 5 + 1,
                "situacao": "ABERTA",
                "criadaEm": "2026-09-14T10:22:31",
            }
            for n, frase in enumerate(FRASES, start=77)
        }
        self.entregas: dict[int, int] = {}
        self.agentes: set[str] = set()
        self.numeros = itertools.count(5010)

    def texts(self) -> dict[str, str]:
        return {str(n): tarefa["descricao"] for n, tarefa in self.tarefas.items()}

    def missing(self, request: Request) -> Response:
        return erro(404, "NAO_ENCONTRADO", "Recurso não encontrado")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(48)
        self.agentes.add(token)
        agente = f"agt-{secrets.token_hex(6)}"
        return Response(
            200, {"agent_id": agente, "access_token": token, "credits": 100}
        )

    def tasks(self, request: Request) -> Response:
        abertas = [t for t in self.tarefas.values() if t["situacao"] == "ABERTA"]
        pagina = int(request.query.get("page", "0") or 0)
        parte = abertas[pagina * TAMANHO : (pagina + 1) * TAMANHO]
        paginas = -(-len(abertas) // TAMANHO)
        return Response(
            200,
            {
                "content": parte,
                "pageable": {"pageNumber": pagina, "pageSize": TAMANHO},
                "totalElements": len(abertas),
                "totalPages": paginas,
                "number": pagina,
                "size": TAMANHO,
                "numberOfElements": len(parte),
                "first": pagina == 0,
                "last": pagina >= paginas - 1,
                "empty": not parte,
            },
        )

    def lido(
        self, request: Request, campos: dict[str, type]
    ) -> tuple[Response | None, dict[str, Any], dict[str, Any]]:
        """Return a refusal, or the body and its task."""
        if request.token not in self.agentes:
            return erro(401, "NAO_AUTORIZADO", "Token ausente ou inválido"), {}, {}
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            palavras = "O corpo da requisição está inválido"
            return erro(400, "JSON_INVALIDO", palavras), {}, {}
        if recusa := invalido(body, campos):
            return recusa, {}, {}
        tarefa = self.tarefas.get(int(body["tarefaId"]))
        if tarefa is None:
            palavras = "Tarefa não encontrada"
            return erro(404, "TAREFA_NAO_ENCONTRADA", palavras), {}, {}
        return None, body, tarefa

    def claim(self, request: Request) -> Response:
        recusa, _, tarefa = self.lido(request, {"tarefaId": int})
        if recusa:
            return recusa
        if tarefa["situacao"] != "ABERTA":
            return erro(409, "TAREFA_INDISPONIVEL", "Tarefa já foi reservada")
        tarefa["situacao"] = "RESERVADA"
        self.book.claimed(str(tarefa["id"]))
        return Response(200, dict(tarefa))

    def submit(self, request: Request) -> Response:
        recusa, body, tarefa = self.lido(request, {"tarefaId": int, "resposta": str})
        if recusa:
            return recusa
        if tarefa["situacao"] != "RESERVADA":
            return erro(409, "ESTADO_INVALIDO", "Tarefa não está reservada")
        if body["resposta"] != tarefa["descricao"].upper():
            return erro(422, "RESPOSTA_RECUSADA", "A resposta foi recusada")
        tarefa["situacao"] = "ENTREGUE"
        numero = next(self.numeros)
        self.entregas[numero] = tarefa["id"]
        return Response(
            201, {"entregaId": numero, "tarefaId": tarefa["id"], "situacao": "ENTREGUE"}
        )

    def complete(self, request: Request) -> Response:
        recusa, body, tarefa = self.lido(request, {"tarefaId": int, "entregaId": int})
        if recusa:
            return recusa
        if self.entregas.get(int(body["entregaId"])) != tarefa["id"]:
            return erro(404, "ENTREGA_NAO_ENCONTRADA", "Entrega não encontrada")
        if tarefa["situacao"] == "ENTREGUE":
            tarefa["situacao"] = "PAGA"
            self.book.pay(str(tarefa["id"]), tarefa["recompensa"])
        return Response(200, dict(tarefa))
