"""An accounting system in Russian, published by its standard OData interface.

Whatever the platform adds is in English (`Ref_Key`, `DeletionMark`), what the firm added
is not: the text, the reward and the state have Russian names, and so have the parameters of
the actions. Who works on an order is a reference, which is never null but a GUID of
zeros; a record that is marked for deletion is still listed.
"""

import secrets
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]
NOBODY = "00000000-0000-0000-0000-000000000000"
OPEN, WORKING, HANDED_IN, PAID = "Открыт", "ВРаботе", "Сдан", "Оплачен"
ROWS = (
    ("the invoice is in the blue folder", 5),
    ("two boxes of paper arrived", 3),
    ("the act was signed on friday", 6),
    ("call the driver before noon", 2),
    ("the seal is in the safe", 4),
    ("stocktaking begins at six", 7),
)


@dataclass
class Order:
    number: int
    text: str
    reward: int
    state: str = OPEN
    worker: str = NOBODY
    deleted: bool = False
    key: str = field(default_factory=lambda: str(uuid.uuid4()))

    def shown(self) -> dict[str, object]:
        return {
            "Ref_Key": self.key,
            "DataVersion": "AAAAAAAAABk=",
            "DeletionMark": self.deleted,
            "Number": f"{self.number:09}",
            "Date": "2026-11-02T09:30:00",
            "Posted": False,
            "Содержание": self.text,
            "Вознаграждение": self.reward,
            "Состояние": self.state,
            "Исполнитель_Key": self.worker,
            "Комментарий": "",
        }


class ODataError(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        told = {"code": "-1", "message": {"lang": "ru", "value": message}}
        self.response = Response(status, {"odata.error": told})


def telling(action: Action) -> Action:
    """Answer with the error where the action raises one."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except ODataError as no:
            return no.response

    return answer


class RussianOData(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        open_ = [Order(at, *row) for at, row in enumerate(ROWS, start=14)]
        self._open = {order.key: order for order in open_}
        old = [
            Order(11, "water the plants", 3, PAID, str(uuid.uuid4())),
            Order(12, "order the tea", 4, WORKING, str(uuid.uuid4())),
            Order(13, "return the chairs", 5, deleted=True),
        ]
        self._orders = {order.key: order for order in [*old, *open_]}

    def texts(self) -> dict[str, str]:
        return {order.key: order.text for order in self._open.values()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), secrets.token_hex(20)
        self._agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        orders = [order.shown() for order in self._orders.values()]
        about = f"{request.base}/odata/standard.odata/$metadata#Document_Заказ"
        return Response(200, {"odata.metadata": about, "value": orders})

    @telling
    def claim(self, request: Request) -> Response:
        agent, order, _ = self._read(request)
        if order.state != OPEN or order.deleted:
            raise ODataError(409, f"Заказ {order.number} недоступен")
        self.book.claimed(order.key)
        order.worker = agent
        return self._moved(order, WORKING)

    @telling
    def submit(self, request: Request) -> Response:
        agent, order, given = self._read(request, "Результат")
        self._own(agent, order, WORKING)
        if given["Результат"] != order.text.upper():
            raise ODataError(422, "Результат не принят: нужны заглавные буквы")
        return self._moved(order, HANDED_IN)

    @telling
    def complete(self, request: Request) -> Response:
        agent, order, _ = self._read(request)
        self._own(agent, order, HANDED_IN)
        self.book.pay(order.key, order.reward)
        return self._moved(order, PAID)

    def _moved(self, order: Order, state: str) -> Response:
        order.state = state
        return Response(200, order.shown())

    def _own(self, agent: str, order: Order, state: str) -> None:
        if order.worker != agent or order.state != state:
            raise ODataError(409, f"Заказ {order.number}: {order.state}")

    def _read(self, request: Request, *more: str) -> tuple[str, Order, dict[str, str]]:
        if request.token not in self._agents:
            raise ODataError(401, "Пользователь не прошел аутентификацию")
        try:
            given = request.json()
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise ODataError(400, "Ошибка разбора тела запроса")
        for name in ("Заказ_Key", *more):
            if not isinstance(given.get(name), str):
                raise ODataError(400, f'Поле "{name}" не заполнено')
        order = self._orders.get(given["Заказ_Key"])
        if order is None:
            raise ODataError(404, "Заказ не найден")
        return self._agents[request.token], order, given
