"""Oficina Placas Moura: a Portuguese engraving workshop with an in-house interface.

Work orders (`ordens`) are reserved with a promised date, engraved, and paid once the
delivery note (`guia`) is confirmed. One error at a time, each with a code and a field.
"""

import secrets
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_ORDENS = [
    # número, cliente, peça, inscrição, créditos, dias
    (3121, "Farmácia Central", "placa de latão", "Aberto das nove às vinte", 14, 12),
    (3122, "Junta de Freguesia", "placa de rua", "Travessa do Forno Velho", 22, 20),
    (3124, "Clube Naval", "taça", "Campeão regional de vela ligeira", 35, 9),
    (3125, "Dra. Inês Calado", "placa de porta", "Consultas por marcação", 11, 15),
    (3127, "Escola Básica", "placa comemorativa", "Inaugurada em 3 de maio", 28, 30),
    (3130, "Padaria Lopes", "chapa de forno", "Atenção: superfície quente", 9, 7),
    (3131, "Família Antunes", "medalha", "Ao melhor avô do mundo", 17, 10),
]
_LIMITE_MAXIMO, _POR_PAGINA = 20, 4


class _ErroError(Exception):
    def __init__(
        self, estado: int, codigo: str, mensagem: str, campo: str = "", **mais: Any
    ) -> None:
        erro: dict[str, Any] = {"codigo": codigo, "mensagem": mensagem}
        if campo:
            erro["campo"] = campo
        self.resposta = Response(estado, {"erro": erro | mais})


def _ou_erro(metodo: Any) -> Any:
    def envolvido(self: Any, pedido: Request) -> Response:
        try:
            feito: Response = metodo(self, pedido)
        except _ErroError as erro:
            return erro.resposta
        return feito

    return envolvido


class PlacasMoura(Backend):
    """The workshop's network."""

    def __init__(self) -> None:
        super().__init__()
        hoje = datetime.now(UTC).date()
        self._ordens: dict[str, dict[str, Any]] = {}
        for numero, cliente, peca, inscricao, creditos, dias in _ORDENS:
            self._ordens[f"OS-{numero}"] = {
                "numero_ordem": f"OS-{numero}",
                "cliente": cliente,
                "peca": peca,
                "servico": "Passar a inscrição a maiúsculas para gravação",
                "inscricao": inscricao,
                "remuneracao": {"valor": creditos, "moeda": "creditos"},
                "entregar_ate": (hoje + timedelta(days=dias)).isoformat(),
                "situacao": "aberta",
            }
        self._gravadores: dict[str, dict[str, Any]] = {}  # by token
        self._reservas: dict[str, dict[str, Any]] = {}
        self._guias: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {n: o["inscricao"] for n, o in self._ordens.items()}

    def missing(self, request: Request) -> Response:
        return _ErroError(
            404, "RECURSO_INEXISTENTE", f"O endereço {request.path} não existe."
        ).resposta

    def _gravador(self, pedido: Request) -> dict[str, Any]:
        if pedido.token not in self._gravadores:
            raise _ErroError(
                401, "SEM_AUTORIZACAO", "O token de acesso falta ou não é válido."
            )
        return self._gravadores[pedido.token]

    def _corpo(self, pedido: Request) -> dict[str, Any]:
        tipo = (pedido.headers.get("Content-Type") or "").partition(";")[0]
        if tipo.strip().lower() != "application/json":
            raise _ErroError(
                415,
                "TIPO_NAO_SUPORTADO",
                "O pedido deve ser enviado com Content-Type: application/json.",
            )
        try:
            corpo = pedido.json()
        except ValueError:
            corpo = None
        if not isinstance(corpo, dict):
            raise _ErroError(
                400, "JSON_INVALIDO", "O corpo do pedido deve ser um objeto JSON."
            )
        return corpo

    def _texto(self, corpo: dict[str, Any], campo: str) -> str:
        valor = corpo.get(campo)
        if valor is None or valor == "":
            raise _ErroError(
                422, "CAMPO_OBRIGATORIO", f"O campo «{campo}» é obrigatório.", campo
            )
        if not isinstance(valor, str):
            raise _ErroError(
                422, "TIPO_INCORRETO", f"O campo «{campo}» deve ser um texto.", campo
            )
        return valor

    def register(self, pedido: Request) -> Response:
        self.book.registrations += 1
        gravador = {"id": f"GRV-{400 + self.book.registrations}", "saldo": 100}
        token = secrets.token_hex(20)
        self._gravadores[token] = gravador
        return Response(
            200,
            {
                "agent_id": gravador["id"],
                "access_token": token,
                "credits": 100,
                "categoria": "gravador externo",
            },
        )

    def checkout(self, pedido: Request) -> Response:
        return Response(200, {"ok": False, "mode": "indisponivel"}, refused=True)

    @_ou_erro
    def post(self, pedido: Request) -> Response:
        self._gravador(pedido)
        raise _ErroError(
            403, "SEM_PERMISSAO", "Só o balcão da oficina pode abrir ordens de serviço."
        )

    def agents(self, pedido: Request) -> Response:
        return Response(
            200, {"gravadores": [g["id"] for g in self._gravadores.values()]}
        )

    directory = agents

    def _lista(self, pedido: Request, ordens: list[dict[str, Any]]) -> Response:
        def inteiro(nome: str, padrao: int, maximo: int) -> int:
            valor = pedido.query.get(nome, str(padrao))
            if not (valor.isdecimal() and 1 <= int(valor) <= maximo):
                raise _ErroError(
                    422,
                    "PARAMETRO_INVALIDO",
                    f"O parâmetro «{nome}» deve ser um inteiro entre 1 e {maximo}.",
                    nome,
                )
            return int(valor)

        limite = inteiro("limit", _POR_PAGINA, _LIMITE_MAXIMO)
        pagina = inteiro("pagina", 1, 1000)
        inicio = (pagina - 1) * limite
        seguinte = None
        if inicio + limite < len(ordens):
            seguinte = f"{pedido.base}{pedido.path}?limit={limite}&pagina={pagina + 1}"
        return Response(
            200,
            {
                "ordens": ordens[inicio : inicio + limite],
                "paginacao": {
                    "pagina": pagina,
                    "por_pagina": limite,
                    "total": len(ordens),
                    "seguinte": seguinte,
                },
            },
        )

    @_ou_erro
    def tasks(self, pedido: Request) -> Response:
        return self._lista(pedido, list(self._ordens.values()))

    @_ou_erro
    def marketplace(self, pedido: Request) -> Response:
        abertas = [o for o in self._ordens.values() if o["situacao"] == "aberta"]
        return self._lista(pedido, abertas)

    @_ou_erro
    def claim(self, pedido: Request) -> Response:
        gravador, corpo = self._gravador(pedido), self._corpo(pedido)
        numero = self._texto(corpo, "numero_ordem")
        ordem = self._ordens.get(numero)
        if ordem is None:
            raise _ErroError(
                404,
                "ORDEM_DESCONHECIDA",
                f"Não existe nenhuma ordem com o número «{numero}».",
                "numero_ordem",
            )
        campo = "entrega_prevista"
        prevista = self._texto(corpo, campo)
        try:
            dia = date.fromisoformat(prevista)
        except ValueError:
            dia = None
        if dia is None or len(prevista) != 10:
            raise _ErroError(
                422,
                "DATA_INVALIDA",
                f"O campo «{campo}» deve ser uma data no formato AAAA-MM-DD.",
                campo,
            )
        limite = date.fromisoformat(ordem["entregar_ate"])
        hoje = datetime.now(UTC).date()
        # A day of grace, for agents in other time zones.
        if not hoje - timedelta(days=1) <= dia <= limite:
            raise _ErroError(
                422,
                "DATA_FORA_DO_PRAZO",
                f"A data prevista deve ficar entre hoje ({hoje}) e o prazo da ordem (entregar_ate: {limite}).",
                campo,
            )
        if ordem["situacao"] != "aberta":
            minha = [
                n
                for n, r in self._reservas.items()
                if r["ordem"] is ordem and r["gravador"] is gravador
            ]
            raise _ErroError(
                409,
                "ORDEM_INDISPONIVEL",
                f"A ordem {numero} já não está aberta (situação: {ordem['situacao']}).",
                **({"numero_reserva": minha[0]} if minha else {}),
            )
        ordem["situacao"] = "reservada"
        self.book.claimed(numero)
        reserva = f"RES-{7050 + len(self._reservas) * 3}"
        self._reservas[reserva] = {"ordem": ordem, "gravador": gravador}
        return Response(
            200,
            {
                "mensagem": "Ordem reservada. Bom trabalho!",
                "reserva": {
                    "numero_reserva": reserva,
                    "numero_ordem": numero,
                    "entrega_prevista": prevista,
                },
                "situacao": "reservada",
            },
        )

    @_ou_erro
    def submit(self, pedido: Request) -> Response:
        gravador, corpo = self._gravador(pedido), self._corpo(pedido)
        numero = self._texto(corpo, "numero_reserva")
        reserva = self._reservas.get(numero)
        if reserva is None or reserva["gravador"] is not gravador:
            raise _ErroError(
                404,
                "RESERVA_DESCONHECIDA",
                f"Não tem nenhuma reserva com o número «{numero}».",
                "numero_reserva",
            )
        gravado = self._texto(corpo, "texto_gravado")
        ordem = reserva["ordem"]
        if ordem["situacao"] != "reservada":
            raise _ErroError(
                409,
                "JA_ENTREGUE",
                "O trabalho desta reserva já foi entregue.",
                guia_entrega=reserva["guia"],
            )
        if gravado != ordem["inscricao"].upper():
            raise _ErroError(
                422,
                "TEXTO_INCORRETO",
                "O texto gravado não é a inscrição da ordem em maiúsculas.",
                "texto_gravado",
            )
        ordem["situacao"] = "entregue"
        guia = reserva["guia"] = f"GE/{numero[4:]}-A"
        self._guias[guia] = reserva
        return Response(
            200,
            {
                "mensagem": "Trabalho recebido. Falta confirmar a guia de entrega.",
                "guia_entrega": guia,
                "situacao": "entregue",
            },
        )

    @_ou_erro
    def complete(self, pedido: Request) -> Response:
        gravador, corpo = self._gravador(pedido), self._corpo(pedido)
        guia = self._texto(corpo, "guia_entrega")
        reserva = self._guias.get(guia)
        if reserva is None or reserva["gravador"] is not gravador:
            raise _ErroError(
                404,
                "GUIA_DESCONHECIDA",
                f"Não tem nenhuma guia de entrega «{guia}».",
                "guia_entrega",
            )
        ordem = reserva["ordem"]
        if ordem["situacao"] == "paga":
            raise _ErroError(409, "JA_PAGA", "Esta ordem já foi paga.")
        valor = ordem["remuneracao"]["valor"]
        ordem["situacao"] = "paga"
        gravador["saldo"] += valor
        self.book.pay(ordem["numero_ordem"], valor)
        return Response(
            200,
            {
                "mensagem": "Ordem paga. Obrigado.",
                "pagamento": {"valor": valor, "saldo_atual": gravador["saldo"]},
                "situacao": "paga",
            },
        )
