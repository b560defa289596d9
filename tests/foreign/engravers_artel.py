"""A Russian engravers' workshop that publishes its accounting system as an HTTP service.

Names are the system's own attributes, in Cyrillic. Business refusals are answered with 200
and "Результат": false; the result is only looked at when the work order is closed, and that
is when the money is booked.
"""
# ruff: noqa: RUF001 - it is in Russian

import json
import uuid
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_ORDERS = [
    ("Табличка латунная", "Аптека Лебедева", "приём рецептов с девяти до шести", 35),
    ("Шильдик стальной", "Завод «Маяк»", "насос водяной, серия три", 20),
    ("Жетон", "Клуб «Верный друг»", "Бублик, дом 14, Садовая улица", 15),
    ("Кубок наградной", "Школа № 8", "за первое место в беге на лыжах", 50),
    ("Портсигар", "Гордеев А. П.", "дорогому учителю от выпуска 1998 года", 60),
    ("Табличка дверная", "Нотариус Орлова", "Орлова Мария Сергеевна, нотариус", 25),
]


class EngraversArtel(Backend):
    """Гравёрная артель «Резец»."""

    def __init__(self) -> None:
        super().__init__()
        self._workers: dict[str, dict[str, Any]] = {}  # token -> worker
        self._jobs: dict[str, dict[str, Any]] = {}  # number of the work order
        self._orders: dict[str, dict[str, Any]] = {}
        for place, (article, customer, text, price) in enumerate(_ORDERS):
            number = f"ГР-{41 + place:06d}"
            self._orders[number] = {
                "Ссылка": str(uuid.uuid4()),
                "Номер": number,
                "Дата": f"{datetime.now(UTC).date()}T09:{10 + place}:00",
                "Заказчик": customer,
                "Изделие": article,
                "Задание": "Подготовить надпись к гравировке: перевести весь текст "
                "надписи в прописные буквы, остальные знаки сохранить.",
                "Надпись": text,
                "Вознаграждение": price,
                "СрокИсполнения": str(
                    datetime.now(UTC).date() + timedelta(days=5 + place)
                ),
                "Состояние": "Свободен",
            }

    def texts(self) -> dict[str, str]:
        """Return the text of every order."""
        return {number: str(o["Надпись"]) for number, o in self._orders.items()}

    # -- answers ---------------------------------------------------------------------

    def _answer(
        self, body: dict[str, Any], status: int = 200, *, refused: bool = False
    ) -> Response:
        return Response(
            status,
            json.dumps(body, ensure_ascii=False),
            {"Content-Type": "application/json; charset=utf-8"},
            refused,
        )

    def _no(self, *errors: tuple[str, str], status: int = 200) -> Response:
        return self._answer(
            {
                "Результат": False,
                "Ошибки": [{"Реквизит": n, "Сообщение": m} for n, m in errors],
            },
            status,
            refused=True,
        )

    def missing(self, request: Request) -> Response:
        """Say that the service does not have the address."""
        return self._no(
            ("", f"Метод HTTP-сервиса не найден: {request.method} {request.path}"),
            status=404,
        )

    # -- reading ---------------------------------------------------------------------

    def _worker(self, request: Request) -> dict[str, Any] | Response:
        if not request.token:
            text = "Не указан токен доступа. Идентификация исполнителя не выполнена"
            return self._no(("", text), status=401)
        return self._workers.get(request.token) or self._no(
            ("", "Идентификация исполнителя не выполнена. Неверный токен доступа"),
            status=401,
        )

    def _read(
        self, request: Request, fields: dict[str, type]
    ) -> dict[str, Any] | Response:
        """Return the wanted attributes, or every complaint at once."""
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            text = "Ошибка при чтении JSON: ожидается структура (объект)"
            return self._no(("", text), status=400)
        errors = []
        values: dict[str, Any] = {}
        for name, kind in fields.items():
            value = body.get(name)
            if value is None or value == "":
                errors.append((name, f'Поле "{name}" не заполнено'))
                continue
            try:
                if kind is date:
                    value = datetime.fromisoformat(value).date()
                elif not isinstance(value, kind):
                    raise TypeError
            except (TypeError, ValueError):
                word = {str: "Строка", bool: "Булево", date: "Дата (ГГГГ-ММ-ДД)"}[kind]
                text = f"Преобразование значения к типу {word} не может быть выполнено"
                errors.append((name, text))
            values[name] = value
        return self._no(*errors) if errors else values

    def _job(self, number: str, worker: dict[str, Any]) -> dict[str, Any] | Response:
        job = self._jobs.get(number)
        if job is None:
            return self._no(("НомерНаряда", f'Наряд с номером "{number}" не найден'))
        if job["Исполнитель"] != worker["Код"]:
            text = f'Наряд "{number}" выдан другому исполнителю'
            return self._no(("НомерНаряда", text))
        return job

    # -- the actions -----------------------------------------------------------------

    def register(self, request: Request) -> Response:
        """Enter a new worker."""
        self.book.registrations += 1
        code = f"ИСП-{200 + self.book.registrations:05d}"
        token = uuid.uuid4().hex
        self._workers[token] = {"Код": code, "Остаток": 100}
        return self._answer(
            {
                "agent_id": code,
                "access_token": token,
                "credits": 100,
                "ДатаРегистрации": datetime.now(UTC).isoformat(timespec="seconds"),
            }
        )

    def marketplace(self, request: Request) -> Response:
        """List the free orders."""
        size, page = request.query.get("limit", "10"), request.query.get("page", "1")
        for name, value in (("limit", size), ("page", page)):
            if not (value.isascii() and value.isdigit() and 1 <= int(value) <= 100):
                text = f'Параметр "{name}" должен быть целым числом от 1 до 100'
                return self._no((name, text), status=400)
        free = [o for o in self._orders.values() if o["Состояние"] == "Свободен"]
        first = (int(page) - 1) * int(size)
        return self._answer(
            {
                "Результат": True,
                "Всего": len(free),
                "Страница": int(page),
                "СледующаяСтраница": f"{request.path}?limit={size}&page={int(page) + 1}"
                if first + int(size) < len(free)
                else None,
                "Заказы": free[first : first + int(size)],
            }
        )

    def tasks(self, request: Request) -> Response:
        """List the free orders to a worker."""
        worker = self._worker(request)
        return worker if isinstance(worker, Response) else self.marketplace(request)

    def claim(self, request: Request) -> Response:
        """Issue a work order."""
        if isinstance(worker := self._worker(request), Response):
            return worker
        wanted = {"НомерЗаказа": str, "Исполнитель": str, "ПлановаяДата": date}
        if isinstance(body := self._read(request, wanted), Response):
            return body
        if body["Исполнитель"] != worker["Код"]:
            text = "Исполнитель не соответствует токену доступа"
            return self._no(("Исполнитель", text))
        order = self._orders.get(body["НомерЗаказа"])
        if order is None:
            text = f'Заказ с номером "{body["НомерЗаказа"]}" не найден'
            return self._no(("НомерЗаказа", text))
        if order["Состояние"] != "Свободен":
            text = f'Заказ "{order["Номер"]}" уже в состоянии "{order["Состояние"]}"'
            return self._no(("НомерЗаказа", text))
        if body["ПлановаяДата"] < datetime.now(UTC).date():
            text = "Плановая дата не может быть раньше текущей даты"
            return self._no(("ПлановаяДата", text))
        number = f"НР-{len(self._jobs) + 1:06d}"
        job = {
            "НомерНаряда": number,
            "НомерЗаказа": order["Номер"],
            "Исполнитель": worker["Код"],
            "ПлановаяДата": str(body["ПлановаяДата"]),
            "Состояние": "Выдан",
        }
        self._jobs[number] = job
        order["Состояние"] = "В работе"
        self.book.claimed(order["Номер"])
        return self._answer({"Результат": True, "Наряд": job})

    def submit(self, request: Request) -> Response:
        """Take the text in; it is looked at on closing."""
        if isinstance(worker := self._worker(request), Response):
            return worker
        wanted: dict[str, type] = {"НомерНаряда": str, "ТекстГравировки": str}
        if isinstance(body := self._read(request, wanted), Response):
            return body
        if isinstance(job := self._job(body["НомерНаряда"], worker), Response):
            return job
        if job["Состояние"] == "Закрыт":
            return self._no(("НомерНаряда", "Наряд закрыт, изменение запрещено"))
        job.update({"ТекстГравировки": body["ТекстГравировки"], "Состояние": "Сдан"})
        return self._answer({"Результат": True, "Наряд": job})

    def complete(self, request: Request) -> Response:
        """Check the text, close the work order and book the pay."""
        if isinstance(worker := self._worker(request), Response):
            return worker
        wanted = {"НомерНаряда": str, "РаботаВыполнена": bool}
        if isinstance(body := self._read(request, wanted), Response):
            return body
        if isinstance(job := self._job(body["НомерНаряда"], worker), Response):
            return job
        if not body["РаботаВыполнена"]:
            text = "Наряд закрывается только при значении Истина (true)"
            return self._no(("РаботаВыполнена", text))
        if job["Состояние"] != "Сдан":
            text = (
                f'Закрыть можно только сданный наряд. Состояние: "{job["Состояние"]}"'
            )
            return self._no(("НомерНаряда", text))
        order = self._orders[job["НомерЗаказа"]]
        if job["ТекстГравировки"] != order["Надпись"].upper():
            job["Состояние"] = "Возвращён"
            text = "Работа не принята: текст не совпадает с надписью в прописных буквах"
            return self._no(("ТекстГравировки", text))
        job["Состояние"], order["Состояние"] = "Закрыт", "Исполнен"
        worker["Остаток"] += order["Вознаграждение"]
        self.book.pay(order["Номер"], order["Вознаграждение"])
        paid = {"Начислено": order["Вознаграждение"], "Остаток": worker["Остаток"]}
        return self._answer({"Результат": True, "Наряд": job, **paid})
