"""Balcão: the service-order desk of a mid-sized Brazilian outsourcing company.

PHP: Yii2's REST controllers, language pt-BR, serializer with the `items` envelope. Orders
have integer ids and money as decimal strings; a delivery that is right is paid at once.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import re
import secrets
from datetime import date, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_NAMES = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    409: "Conflict",
}
_LABELS = {
    "os_id": "Ordem de serviço",
    "prazo": "Prazo (AAAA-MM-DD)",
    "protocolo": "Protocolo",
    "texto_entregue": "Texto entregue",
    "observacao": "Observação",
}
_ORDERS = [
    (3107, "Etiqueta de estoque", "caixa frágil, não empilhar", 14),
    (3108, "Placa de portaria", "visitantes devem apresentar documento", 20),
    (3112, "Aviso de manutenção", "elevador social em manutenção até sexta", 10),
    (3115, "Cabeçalho de boleto", "pagável em qualquer agência até o vencimento", 25),
    (3121, "Cartaz de vacinação", "traga a carteira de vacinação", 18),
    (3124, "Adesivo de frota", "como estou dirigindo? ligue para nós", 7),
]
PAGE_SIZE, MAX_PAGE_SIZE, MAX_OPEN = 4, 50, 2


class Balcao(Backend):
    """Orders are taken with a protocol number, delivered and paid, then closed."""

    def __init__(self) -> None:
        super().__init__()
        self.prestadores: dict[str, dict[str, Any]] = {}  # by token
        self.atendimentos: dict[str, dict[str, Any]] = {}  # by protocol
        self.ordens = {
            number: {
                "titulo": title,
                "texto": text,
                "valor": value,
                "situacao": "aberta",
            }
            for number, title, text, value in _ORDERS
        }

    def texts(self) -> dict[str, str]:
        return {str(number): order["texto"] for number, order in self.ordens.items()}

    # yii\web\Response

    def _json(
        self, status: int, body: Any, headers: dict[str, str] | None = None
    ) -> Response:
        return Response(
            status,
            json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(),
            {"Content-Type": "application/json; charset=UTF-8", **(headers or {})},
        )

    def _exception(
        self, status: int, message: str, headers: dict[str, str] | None = None
    ) -> Response:
        name = _NAMES[status]
        kind = f"yii\\web\\{name.replace(' ', '')}HttpException"
        body = {
            "name": name,
            "message": message,
            "code": 0,
            "status": status,
            "type": kind,
        }
        return self._json(status, body, headers)

    def missing(self, request: Request) -> Response:
        return self._exception(404, "Página não encontrada.")

    def _invalid(self, errors: dict[str, str]) -> Response:
        return self._json(
            422,
            [
                {"field": name, "message": message.replace("{}", f'"{_LABELS[name]}"')}
                for name, message in errors.items()
            ],
        )

    def _enter(self, request: Request, attributes: list[str]) -> Any:
        """Return the agent, the loaded form and its errors, or the refusal."""
        agent = self.prestadores.get(request.token)
        if not agent:
            return self._exception(
                401,
                "Your request was made with invalid credentials.",
                {"WWW-Authenticate": 'Bearer realm="api"'},
            )
        body: Any = {}
        if "json" in (request.headers.get("Content-Type") or "") and request.raw:
            try:
                body = request.json()
            except ValueError:
                return self._exception(
                    400, "Invalid JSON data in request body: Syntax error."
                )
        form = body if isinstance(body, dict) else {}
        errors = {
            name: "{} não pode ficar em branco."
            for name in attributes
            if form.get(name) in (None, "", [])
        }
        for name in attributes:
            if (
                name not in errors
                and name != "os_id"
                and not isinstance(form[name], str)
            ):
                errors[name] = "{} deve ser um texto."
        return agent, form, errors

    # controllers

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        number = 880 + self.book.registrations
        token = secrets.token_urlsafe(24)
        agent = {"agent_id": f"PRE{number:06d}", "saldo": 100}
        self.prestadores[token] = agent
        first = {"agent_id": agent["agent_id"], "access_token": token, "credits": 100}
        return self._json(200, {**first, "situacao": "ativo"})

    def tasks(self, request: Request) -> Response:
        entered = self._enter(request, [])
        if isinstance(entered, Response):
            return entered

        def number(name: str, default: int) -> int:
            value = request.query.get(name, "")
            return int(value) if value.isdecimal() and int(value) > 0 else default

        size = min(number("limit", PAGE_SIZE), MAX_PAGE_SIZE)
        rows = [
            {
                "os_id": key,
                "titulo": order["titulo"],
                "instrucao": "Entregar o texto original todo em letras maiúsculas.",
                "texto_original": order["texto"],
                "valor_creditos": f"{order['valor']}.00",
                "situacao": order["situacao"],
            }
            for key, order in self.ordens.items()
            if order["situacao"] == "aberta"
        ]
        pages = -(-len(rows) // size)
        page = max(1, min(number("page", 1), pages))

        def link(at: int) -> dict[str, str]:
            return {"href": f"{request.base}{request.path}?limit={size}&page={at}"}

        links = {"self": link(page), "first": link(1), "last": link(max(pages, 1))}
        if page > 1:
            links["prev"] = link(page - 1)
        if page < pages:
            links["next"] = link(page + 1)
        meta = {
            "totalCount": len(rows),
            "pageCount": pages,
            "currentPage": page,
            "perPage": size,
        }
        return self._json(
            200,
            {
                "items": rows[(page - 1) * size : page * size],
                "_links": links,
                "_meta": meta,
            },
            {
                "X-Pagination-" + re.sub("(?=[A-Z])", "-", name).title(): str(value)
                for name, value in meta.items()
            },
        )

    def claim(self, request: Request) -> Response:
        entered = self._enter(request, ["os_id", "prazo"])
        if isinstance(entered, Response):
            return entered
        agent, form, errors = entered
        number = str(form.get("os_id"))
        if "os_id" not in errors:
            if not number.isdecimal():
                errors["os_id"] = "{} deve ser um número inteiro."
            elif int(number) not in self.ordens:
                errors["os_id"] = "{} é inválido."
        if "prazo" not in errors:
            try:
                due = datetime.strptime(form["prazo"], "%Y-%m-%d").date()  # noqa: DTZ007
                if due < date.today():  # noqa: DTZ011
                    errors["prazo"] = f"{{}} não pode ser menor que {date.today()}."  # noqa: DTZ011
            except ValueError:
                errors["prazo"] = "O formato de {} é inválido."
        if errors:
            return self._invalid(errors)
        order = self.ordens[int(number)]
        if order["situacao"] != "aberta":
            return self._exception(409, f"A OS {number} não está mais aberta.")
        mine = [
            one
            for one in self.atendimentos.values()
            if one["agente"] == agent["agent_id"]
            and one["situacao"] == "em_atendimento"
        ]
        if len(mine) >= MAX_OPEN:
            message = f"Limite de {MAX_OPEN} atendimentos em aberto. Entregue um antes."
            return self._exception(409, message)
        order["situacao"] = "em_atendimento"
        protocol = f"{date.today():%Y%m}{len(self.atendimentos) + 41:05d}"  # noqa: DTZ011
        self.atendimentos[protocol] = {
            "agente": agent["agent_id"],
            "os": int(number),
            "situacao": "em_atendimento",
        }
        self.book.claimed(str(int(number)))
        answer = {"protocolo": protocol, "os_id": int(number), "prazo": form["prazo"]}
        return self._json(200, {**answer, "situacao": "em_atendimento"})

    def _service(self, agent: dict[str, Any], form: Any, errors: dict[str, str]) -> Any:
        """Return the service of the form's protocol, or the refusal."""
        service = self.atendimentos.get(str(form.get("protocolo")))
        if "protocolo" not in errors and not service:
            errors["protocolo"] = "{} é inválido."
        if errors:
            return self._invalid(errors)
        if service["agente"] != agent["agent_id"]:
            return self._exception(
                403, "Você não está autorizado a realizar essa ação."
            )
        return service

    def submit(self, request: Request) -> Response:
        entered = self._enter(request, ["protocolo", "texto_entregue"])
        if isinstance(entered, Response):
            return entered
        agent, form, errors = entered
        service = self._service(agent, form, errors)
        if isinstance(service, Response):
            return service
        if service["situacao"] != "em_atendimento":
            return self._exception(409, "Este atendimento já foi entregue e pago.")
        order = self.ordens[service["os"]]
        if form["texto_entregue"] != order["texto"].upper():
            fault = "{} não confere com o original em maiúsculas."
            return self._invalid({"texto_entregue": fault})
        order["situacao"] = service["situacao"] = "entregue"
        agent["saldo"] += order["valor"]
        self.book.pay(str(service["os"]), order["valor"])
        answer = {"protocolo": form["protocolo"], "situacao": "entregue"}
        money = {"valor_pago": f"{order['valor']}.00", "saldo": f"{agent['saldo']}.00"}
        return self._json(200, {**answer, **money})

    def complete(self, request: Request) -> Response:
        entered = self._enter(request, ["protocolo", "observacao"])
        if isinstance(entered, Response):
            return entered
        agent, form, errors = entered
        service = self._service(agent, form, errors)
        if isinstance(service, Response):
            return service
        if service["situacao"] != "entregue":
            return self._exception(
                409,
                f"Só se encerra atendimento entregue; este está {service['situacao']}.",
            )
        self.ordens[service["os"]]["situacao"] = service["situacao"] = "encerrada"
        return self._json(
            200, {"protocolo": form["protocolo"], "situacao": "encerrada"}
        )
