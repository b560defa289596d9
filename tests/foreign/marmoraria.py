"""Marmoraria Irmãos Taveira: a stonecutters' in-house order system, in Portuguese.

Work orders (ordens de serviço) are inscriptions for plaques, to be set in capitals. The
answers are wrapped in `sucesso`/`mensagem`/`dados`, the dates are Brazilian, an order is
known by a number, and the money comes when the delivery is completed.
"""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_ORDENS = [
    (4102, "Placa de inauguração", "aqui nasceu o poeta joão de sá, em 1871", 18),
    (4103, "Lápide", "saudade eterna da tua família", 25),
    (4107, "Placa comercial", "padaria são bento - pães e bolos desde 1954", 12),
    (4110, "Marco de divisa", "fazenda três irmãos: km 12, direção norte", 31),
    (4111, "Placa de rua", "travessa das acácias", 9),
    (4115, "Lápide", "descansa em paz, avó conceição", 27),
    (4118, "Soleira", "quem vem por bem entre sem bater", 15),
]
_INSTRUCOES = (
    "Compor o texto_original em caixa-alta (todas as letras em maiúsculas), mantendo "
    "acentos, números, espaços e pontuação. Nada deve ser acrescentado ou retirado."
)
_FORMATO = "%d/%m/%Y"


def _sim(dados: dict[str, Any], mensagem: str = "Operação realizada.") -> Response:
    return Response(200, {"sucesso": True, "mensagem": mensagem, "dados": dados})


def _nao(status: int, mensagem: str, erros: dict[str, str] | None = None) -> Response:
    corpo: dict[str, Any] = {"sucesso": False, "mensagem": mensagem}
    if erros:
        corpo["erros"] = [{"campo": c, "motivo": m} for c, m in erros.items()]
    return Response(status, corpo)


def _invalido(erros: dict[str, str]) -> Response:
    return _nao(422, "Os dados informados são inválidos.", erros)


class Marmoraria(Backend):
    """An in-house order system that speaks Portuguese."""

    def __init__(self) -> None:
        super().__init__()
        self._saldos: dict[str, int] = {}
        self._artesaos: dict[str, str] = {}  # token -> artisan
        limite = datetime.now(UTC).date() + timedelta(days=20)
        self._ordens: dict[int, dict[str, Any]] = {
            numero: {
                "numero_os": numero,
                "tipo_peca": peca,
                "texto_original": texto,
                "instrucoes": _INSTRUCOES,
                "remuneracao": {"valor": valor, "moeda": "créditos"},
                "prazo_maximo": limite.strftime(_FORMATO),
                "situacao": "aberta",
            }
            for numero, peca, texto, valor in _ORDENS
        }
        self._reservas: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the text of every order."""
        return {str(numero): texto for numero, _, texto, _ in _ORDENS}

    def missing(self, request: Request) -> Response:
        """Say that there is no such route."""
        return _nao(404, f"Rota não encontrada: {request.method} {request.path}")

    def register(self, request: Request) -> Response:
        """Enrol an artisan."""
        self.book.registrations += 1
        artesao = f"art-{self.book.registrations:04d}"
        token = secrets.token_hex(20)
        self._artesaos[token] = artesao
        self._saldos[artesao] = 100
        return Response(
            200, {"agent_id": artesao, "access_token": token, "credits": 100}
        )

    def agents(self, request: Request) -> Response:
        """List the artisans."""
        return _sim({"artesaos": [{"matricula": a} for a in self._saldos]})

    directory = agents

    def tasks(self, request: Request) -> Response:
        """List the open orders, five to a page; anybody may look."""
        erros, numeros = {}, {}
        for nome, padrao, maximo in (("limit", 5, 50), ("pagina", 1, 9999)):
            valor = request.query.get(nome, str(padrao))
            if not valor.isdecimal() or not 1 <= int(valor) <= maximo:
                erros[nome] = f"Deve ser um número inteiro entre 1 e {maximo}."
            else:
                numeros[nome] = int(valor)
        if erros:
            return _invalido(erros)
        abertas = [o for o in self._ordens.values() if o["situacao"] == "aberta"]
        limite, pagina = numeros["limit"], numeros["pagina"]
        fim = pagina * limite
        proxima = f"{request.path}?limit={limite}&pagina={pagina + 1}"
        return _sim(
            {
                "ordens_de_servico": abertas[fim - limite : fim],
                "paginacao": {
                    "pagina_atual": pagina,
                    "itens_por_pagina": limite,
                    "total_de_itens": len(abertas),
                    "proxima_pagina": proxima if fim < len(abertas) else None,
                },
            },
            "Ordens de serviço abertas.",
        )

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        """Reserve an order until a date that the artisan promises."""
        artesao, corpo, nao = self._entrada(request)
        if nao:
            return nao
        erros: dict[str, str] = {}
        numero, prazo = corpo.get("numero_os"), corpo.get("prazo_entrega")
        if numero is None:
            erros["numero_os"] = "Campo obrigatório."
        elif type(numero) is not int:
            erros["numero_os"] = "Deve ser um número inteiro."
        dia: Any = None
        if not prazo:
            erros["prazo_entrega"] = "Campo obrigatório."
        else:
            try:
                dia = datetime.strptime(str(prazo), _FORMATO).replace(tzinfo=UTC).date()
            except ValueError:
                erros["prazo_entrega"] = (
                    "Data inválida. Use o formato dd/mm/aaaa, por exemplo "
                    f"{datetime.now(UTC).date().strftime(_FORMATO)}."
                )
        if erros:
            return _invalido(erros)
        ordem = self._ordens.get(int(numero or 0))
        if ordem is None:
            return _nao(404, f"Ordem de serviço nº {numero} não encontrada.")
        if ordem["situacao"] != "aberta":
            return _nao(
                409,
                f"A ordem de serviço nº {numero} não está aberta "
                f"(situação atual: {ordem['situacao']}).",
            )
        maximo = (
            datetime.strptime(ordem["prazo_maximo"], _FORMATO)
            .replace(tzinfo=UTC)
            .date()
        )
        if dia < datetime.now(UTC).date() - timedelta(days=1) or dia > maximo:
            motivo = (
                "O prazo deve estar entre a data de hoje e o prazo máximo da ordem "
                f"({ordem['prazo_maximo']})."
            )
            return _invalido({"prazo_entrega": motivo})
        ordem["situacao"] = "reservada"
        codigo = f"RSV-{secrets.token_hex(3).upper()}"
        reserva = {
            "codigo_reserva": codigo,
            "numero_os": numero,
            "matricula": artesao,
            "prazo_entrega": prazo,
        }
        self._reservas[codigo] = {**reserva, "protocolo_entrega": None}
        self.book.claimed(str(numero))
        return _sim({"reserva": reserva}, f"Ordem de serviço nº {numero} reservada.")

    def submit(self, request: Request) -> Response:
        """Take the inscription and give a protocol number for it."""
        artesao, corpo, nao = self._entrada(request)
        if nao:
            return nao
        erros = {
            campo: "Campo obrigatório."
            for campo in ("codigo_reserva", "inscricao_composta")
            if not corpo.get(campo)
        }
        if not erros and not isinstance(corpo["inscricao_composta"], str):
            erros["inscricao_composta"] = "Deve ser um texto."
        if erros:
            return _invalido(erros)
        reserva = self._reservas.get(str(corpo["codigo_reserva"]))
        if reserva is None or reserva["matricula"] != artesao:
            return _nao(404, "Reserva não encontrada para este artesão.")
        ordem = self._ordens[reserva["numero_os"]]
        if ordem["situacao"] != "reservada":
            return _nao(409, "Esta reserva já teve a composição entregue.")
        if corpo["inscricao_composta"] != ordem["texto_original"].upper():
            motivo = "A composição não confere com o texto original em caixa-alta."
            return _invalido({"inscricao_composta": motivo})
        ordem["situacao"] = "entregue"
        reserva["protocolo_entrega"] = (
            f"{datetime.now(UTC).date().year}{secrets.randbelow(10**6):06d}"
        )
        entrega = {
            "protocolo_entrega": reserva["protocolo_entrega"],
            "numero_os": ordem["numero_os"],
            "situacao": "entregue",
        }
        return _sim(
            {"entrega": entrega},
            "Composição recebida e conferida. Falta concluir a ordem de serviço.",
        )

    def complete(self, request: Request) -> Response:
        """Conclude the order and pay the artisan."""
        artesao, corpo, nao = self._entrada(request)
        if nao:
            return nao
        erros = {}
        for campo in ("numero_os", "protocolo_entrega", "aceite_do_termo"):
            if corpo.get(campo) in (None, ""):
                erros[campo] = "Campo obrigatório."
        if "aceite_do_termo" not in erros and corpo["aceite_do_termo"] is not True:
            erros["aceite_do_termo"] = "O termo de entrega deve ser aceito (true)."
        if erros:
            return _invalido(erros)
        for reserva in self._reservas.values():
            if (
                reserva["numero_os"] == corpo["numero_os"]
                and reserva["matricula"] == artesao
            ):
                break
        else:
            return _nao(404, "Não há reserva sua para esta ordem de serviço.")
        ordem = self._ordens[reserva["numero_os"]]
        if ordem["situacao"] != "entregue":
            return _nao(
                409, f"Não é possível concluir: a ordem está {ordem['situacao']}."
            )
        if str(corpo["protocolo_entrega"]) != reserva["protocolo_entrega"]:
            return _invalido(
                {"protocolo_entrega": "Protocolo não confere com a entrega."}
            )
        ordem["situacao"] = "concluida"
        valor = ordem["remuneracao"]["valor"]
        self.book.pay(str(ordem["numero_os"]), valor)
        self._saldos[artesao] += valor
        pagamento = {"valor_pago": valor, "saldo_atual": self._saldos[artesao]}
        return _sim(
            {
                "numero_os": ordem["numero_os"],
                "situacao": "concluida",
                "pagamento": pagamento,
            },
            "Ordem de serviço concluída e paga.",
        )

    def _entrada(self, request: Request) -> tuple[str, dict[str, Any], Response | None]:
        artesao = self._artesaos.get(request.token, "")
        if not artesao:
            return "", {}, _nao(401, "Acesso negado: token ausente ou inválido.")
        try:
            corpo = request.json()
        except ValueError:
            corpo = None
        if not isinstance(corpo, dict):
            return "", {}, _nao(400, "O corpo da requisição não é um JSON válido.")
        return artesao, corpo, None
