"""A Brazilian start-up's Laravel service: pt_BR messages, resources, paginator."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
from math import ceil
from typing import Any
from urllib.parse import parse_qsl

from tests.foreign.backend import Backend, Request, Response

TAREFAS = [
    ("Título da vitrine", "promoção de inverno começa amanhã", 11),
    ("Aviso de entrega", "seu pedido saiu para entrega", 7),
    ("Chamada do blog", "cinco dicas para economizar no mercado", 18),
    ("Etiqueta de produto", "café moído na hora, torra média", 26),
    ("Mensagem de boas-vindas", "que bom ter você com a gente", 15),
]


class _Abort(Exception):  # noqa: N818
    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(status)
        self.response = Response(status, body)


def _abort(status: int, message: str) -> _Abort:
    return _Abort(status, {"message": message})


def _unprocessable(errors: dict[str, list[str]]) -> _Abort:
    """Word a ValidationException: the first message, and how many more there are."""
    messages = [message for several in errors.values() for message in several]
    summary, more = messages[0], len(messages) - 1
    if more:
        summary += f" (e mais {more} erro{'s' if more > 1 else ''})"
    return _Abort(422, {"message": summary, "errors": errors})


def _rota(acao: Any) -> Any:
    """Put an action behind auth:sanctum."""

    def resposta(self: "Tarefeiro", request: Request) -> Response:
        try:
            return acao(self, request, self._agente(request))
        except _Abort as abort:
            return abort.response

    return resposta


class Tarefeiro(Backend):
    """Micro-tasks by reservation; the delivery pays, completion only rates the task."""

    def __init__(self) -> None:
        super().__init__()
        self._agentes: dict[str, dict[str, Any]] = {}
        self._reservas: dict[int, dict[str, Any]] = {}
        self._tarefas = {
            31 + 4 * numero: {
                "id": 31 + 4 * numero,
                "situacao": "disponivel",
                "titulo": titulo,
                "texto": texto,
                "pontos": pontos,
            }
            for numero, (titulo, texto, pontos) in enumerate(TAREFAS)
        }

    def texts(self) -> dict[str, str]:
        """Return the text of every task."""
        return {str(id_): t["texto"] for id_, t in self._tarefas.items()}

    def missing(self, request: Request) -> Response:
        """Refuse a route that is not there, as Laravel 11 does."""
        rota = request.path.lstrip("/")
        return Response(404, {"message": f"The route {rota} could not be found."})

    def _agente(self, request: Request) -> dict[str, Any]:
        if request.token not in self._agentes:
            raise _abort(401, "Unauthenticated.")
        return self._agentes[request.token]

    def _input(self, request: Request) -> dict[str, Any]:
        """Return the input; Laravel takes what it cannot read for nothing."""
        if "form" in (request.headers.get("Content-Type") or ""):
            entrada: Any = dict(parse_qsl(request.raw.decode(errors="replace")))
        else:
            try:
                entrada = request.json()
            except ValueError:
                entrada = {}
        if not isinstance(entrada, dict):
            return {}
        # TrimStrings and ConvertEmptyStringsToNull
        return {
            k: (v.strip() or None) if isinstance(v, str) else v
            for k, v in entrada.items()
        }

    def _validate(self, request: Request, rules: dict[str, str]) -> dict[str, Any]:  # noqa: PLR0915
        entrada, erros, valores = self._input(request), {}, {}
        for campo, regras in rules.items():
            valor, nome, faltas = entrada.get(campo), campo.replace("_", " "), []
            if valor is None or valor == [] or valor == {}:  # noqa: PLR1714
                erros[campo] = [f"O campo {nome} é obrigatório."]
                continue
            numero = None
            if not isinstance(valor, (bool, dict, list)):
                try:  # noqa: SIM105
                    numero = int(str(valor))
                except ValueError:
                    pass
            for regra in regras.split("|"):
                nome_regra, _, argumento = regra.partition(":")
                if nome_regra == "integer" and numero is None:
                    faltas.append(f"O campo {nome} deve ser um número inteiro.")
                    break
                if nome_regra == "string" and not isinstance(valor, str):
                    faltas.append(f"O campo {nome} deve ser uma string.")
                    break
                if nome_regra == "between":
                    menor, maior = argumento.split(",")
                    if not int(menor) <= numero <= int(maior):
                        faixa = f"entre {menor} e {maior}"
                        faltas.append(f"O campo {nome} deve ser {faixa}.")
                elif nome_regra == "min" and len(valor) < int(argumento):
                    minimo = f"pelo menos {argumento} caracteres"
                    faltas.append(f"O campo {nome} deve ter {minimo}.")
                elif nome_regra == "exists":
                    tabela = {"tarefas": self._tarefas, "reservas": self._reservas}
                    if numero not in tabela[argumento]:
                        faltas.append(f"O campo {nome} selecionado é inválido.")
            if faltas:
                erros[campo] = faltas
            valores[campo] = numero if "integer" in regras else valor
        if erros:
            raise _unprocessable(erros)
        return valores

    def register(self, request: Request) -> Response:
        """Create an agent with a Sanctum token."""
        self.book.registrations += 1
        id_ = len(self._agentes) + 1
        agente = {
            "agent_id": str(5200 + id_),
            "access_token": f"{id_}|{secrets.token_hex(20)}",
            "credits": 100,
        }
        self._agentes[agente["access_token"]] = agente
        return Response(200, agente)

    def tasks(self, request: Request) -> Response:
        """Return a page of the available tasks."""
        livres = [t for t in self._tarefas.values() if t["situacao"] == "disponivel"]

        def numero(nome: str, padrao: int) -> int:
            valor = request.query.get(nome, "")
            return max(1, int(valor)) if valor.isdecimal() else padrao

        tamanho, pagina = min(numero("limit", 15), 50), numero("page", 1)
        ultima = max(1, ceil(len(livres) / tamanho))
        trecho = livres[(pagina - 1) * tamanho : pagina * tamanho]
        caminho = request.base + request.path

        def link(n: int) -> str | None:
            ok = 1 <= n <= ultima
            return f"{caminho}?limit={tamanho}&page={n}" if ok else None

        dados = [
            {
                "id": t["id"],
                "titulo": t["titulo"],
                "descricao": "Passe o texto para letras maiúsculas. "
                "O texto é entregue com a reserva.",
                "recompensa": t["pontos"],
                "situacao": t["situacao"],
                "criado_em": "2024-05-06T12:00:00.000000Z",
            }
            for t in trecho
        ]
        links = {"first": link(1), "last": link(ultima)}
        links |= {"prev": link(pagina - 1), "next": link(pagina + 1)}
        meta = {"current_page": pagina, "last_page": ultima, "path": caminho}
        meta |= {"per_page": tamanho, "total": len(livres)}
        return Response(200, {"data": dados, "links": links, "meta": meta})

    marketplace = tasks

    @_rota
    def claim(self, request: Request, agente: dict[str, Any]) -> Response:
        """Reserve a task for some hours."""
        regras = {"tarefa_id": "integer|exists:tarefas"}
        regras["prazo_horas"] = "integer|between:1,48"
        dados = self._validate(request, regras)
        tarefa = self._tarefas[dados["tarefa_id"]]
        if tarefa["situacao"] != "disponivel":
            raise _abort(409, "Esta tarefa já foi reservada.")
        tarefa["situacao"] = "reservada"
        self.book.claimed(str(tarefa["id"]))
        reserva = {"id": 9001 + len(self._reservas), "tarefa": tarefa}
        reserva |= {"prazo_horas": dados["prazo_horas"], "agente": agente["agent_id"]}
        self._reservas[reserva["id"]] = reserva
        return self._resource(reserva, "Tarefa reservada com sucesso!")

    def _resource(self, reserva: Any, mensagem: str) -> Response:
        tarefa = reserva["tarefa"]
        dados = {
            "reserva_id": reserva["id"],
            "situacao": tarefa["situacao"],
            "prazo_horas": reserva["prazo_horas"],
            "tarefa": {k: tarefa[k] for k in ("id", "titulo", "texto")},
        }
        return Response(200, {"data": dados, "message": mensagem})

    def _reserva(self, id_: int, agente: dict[str, Any]) -> dict[str, Any]:
        if self._reservas[id_]["agente"] != agente["agent_id"]:
            raise _abort(403, "Esta ação não é autorizada.")
        return self._reservas[id_]

    @_rota
    def submit(self, request: Request, agente: dict[str, Any]) -> Response:
        """Deliver the result, which pays."""
        regras = {"reserva_id": "integer|exists:reservas", "resultado": "string"}
        dados = self._validate(request, regras)
        reserva = self._reserva(dados["reserva_id"], agente)
        tarefa = reserva["tarefa"]
        if tarefa["situacao"] != "reservada":
            raise _abort(409, "O resultado desta reserva já foi entregue.")
        if dados["resultado"] != tarefa["texto"].upper():
            erro = "O resultado não confere com o que a tarefa pede."
            raise _unprocessable({"resultado": [erro]})
        tarefa["situacao"] = "entregue"
        self.book.pay(str(tarefa["id"]), tarefa["pontos"])
        agente["credits"] += tarefa["pontos"]
        ganho = f"Você ganhou {tarefa['pontos']} créditos."
        return self._resource(reserva, f"Resultado aprovado! {ganho}")

    @_rota
    def complete(self, request: Request, agente: dict[str, Any]) -> Response:
        """Close the reservation with a comment."""
        regras = {
            "reserva_id": "integer|exists:reservas",
            "comentario": "string|min:10",
        }
        dados = self._validate(request, regras)
        reserva = self._reserva(dados["reserva_id"], agente)
        if reserva["tarefa"]["situacao"] == "reservada":
            raise _abort(409, "Entregue o resultado antes de finalizar a tarefa.")
        if reserva["tarefa"]["situacao"] == "finalizada":
            raise _abort(409, "Esta tarefa já foi finalizada.")
        reserva["tarefa"]["situacao"] = "finalizada"
        return self._resource(reserva, "Tarefa finalizada. Obrigado!")
