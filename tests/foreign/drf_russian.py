"""Django REST framework with LANGUAGE_CODE = "ru-ru": the keys are names, the rest Russian.

Tasks are primary keys, which are whole numbers; a result is a serializer of its own; and
closing a task wants to be confirmed. All faults come at once.
"""

import secrets
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TEXTS = (
    "the samovar is older than the house",
    "snow fell on the railway all night",
    "a birch grows through the old roof",
    "grandmother keeps jam in the cellar",
    "the tram turns around at the factory",
    "seven geese crossed the frozen pond",
    "the postman rides a squeaky bicycle",
    "nobody repaired the bridge in spring",
)
REQUIRED, BLANK = "Обязательное поле.", "Это поле не может быть пустым."
NO_STRING = "Недопустимая строка."
NO_BOOLEAN = "Должно быть допустимым логическим значением."
NO_KEY = "Некорректный тип. Ожидалось значение первичного ключа, получен {0}."
UNKNOWN_KEY = 'Недопустимый первичный ключ "{0}" - объект не существует.'
NO_DICTIONARY = "Неверные данные. Ожидался dictionary, но был получен {0}."
Json = dict[str, Any]


class APIException(Exception):  # noqa: N818 - DRF's name
    def __init__(self, status: int, detail: Any) -> None:
        super().__init__(detail)
        self.response = Response(status, detail)


def char(value: Any) -> Any:
    """Return the faults of a CharField."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return [NO_STRING]
    return [BLANK] if str(value).strip() == "" else None


def boolean(value: Any) -> Any:
    """Return the faults of a BooleanField."""
    accepted = (True, False, "true", "false", "True", "False", "1", "0", 1, 0)
    return None if value in accepted else [NO_BOOLEAN]


def result(value: Any) -> Any:
    """Return the faults of the serializer of results."""
    if not isinstance(value, dict):
        told = NO_DICTIONARY.format(type(value).__name__)
        return {"non_field_errors": [told]}
    return faults(value, {"content": char})


def faults(body: Json, fields: dict[str, Callable[[Any], Any]]) -> Json:
    """Return what is wrong, by name."""
    found = {
        name: [REQUIRED] if body.get(name) is None else check(body[name])
        for name, check in fields.items()
    }
    return {name: wrong for name, wrong in found.items() if wrong}


class DrfRussian(Backend):
    """Eight tasks."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[int, Json] = {
            5120 + at * 7: {"text": text, "price": at % 4 + 3, "state": "новая"}
            for at, text in enumerate(TEXTS)
        }
        self.tokens: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {str(key): row["text"] for key, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, {"detail": "Страница не найдена."})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(20)
        self.tokens.add(token)
        told = {"agent_id": 31, "access_token": token, "credits": 100}
        return Response(200, told)

    def row(self, key: int) -> Json:
        row = self.rows[key]
        return {
            "id": key,
            "text": row["text"],
            "price": row["price"],
            "state": row["state"],
        }

    def tasks(self, request: Request) -> Response:
        rows = [self.row(key) for key in self.rows]
        told = {"count": len(rows), "next": None, "previous": None, "results": rows}
        return Response(200, told)

    def key(self, value: Any) -> Any:
        """Return the faults of a PrimaryKeyRelatedField."""
        try:
            key = int(value) if not isinstance(value, bool) else None
        except (TypeError, ValueError):
            key = None
        if key is None:
            return [NO_KEY.format(type(value).__name__)]
        return None if key in self.rows else [UNKNOWN_KEY.format(key)]

    def view(
        self,
        request: Request,
        fields: dict[str, Callable[[Any], Any]],
        perform: Callable[[int, Json], None],
    ) -> Response:
        try:
            body = self.validated(request, fields)
            key = int(body["task"])
            perform(key, body)
            return Response(200, self.row(key))
        except APIException as fault:
            return fault.response

    def validated(
        self, request: Request, fields: dict[str, Callable[[Any], Any]]
    ) -> Json:
        if request.token not in self.tokens:
            raise APIException(401, {"detail": "Недопустимый токен."})
        try:
            body = request.json()
        except ValueError as fault:
            told = {"detail": f"Ошибка парсинга JSON: {fault}"}
            raise APIException(400, told) from None
        if not isinstance(body, dict):
            told_type = NO_DICTIONARY.format(type(body).__name__)
            raise APIException(400, {"non_field_errors": [told_type]})
        if wrong := faults(body, {"task": self.key, **fields}):
            raise APIException(400, wrong)
        return body

    def claim(self, request: Request) -> Response:
        return self.view(request, {}, self.perform_claim)

    def perform_claim(self, key: int, body: Json) -> None:
        if self.rows[key]["state"] != "новая":
            raise APIException(409, {"detail": "Задача уже занята."})
        self.rows[key]["state"] = "в работе"
        self.book.claimed(str(key))

    def submit(self, request: Request) -> Response:
        return self.view(request, {"result": result}, self.perform_submit)

    def perform_submit(self, key: int, body: Json) -> None:
        row = self.rows[key]
        if row["state"] == "новая":
            raise APIException(409, {"detail": "Сначала возьмите задачу."})
        if body["result"]["content"] != row["text"].upper():
            raise APIException(422, {"detail": "Результат не принят."})
        if row["state"] == "в работе":
            row["state"] = "сдана"

    def complete(self, request: Request) -> Response:
        return self.view(request, {"confirmed": boolean}, self.perform_complete)

    def perform_complete(self, key: int, body: Json) -> None:
        row = self.rows[key]
        if body["confirmed"] in (False, "false", "False", "0", 0):
            told = {"confirmed": ["Подтвердите завершение."]}
            raise APIException(400, told)
        if row["state"] not in ("сдана", "оплачена"):
            raise APIException(409, {"detail": "Результат ещё не сдан."})
        if row["state"] == "сдана":
            row["state"] = "оплачена"
            self.book.pay(str(key), row["price"])
