"""PHP with display_errors on: what is missing is a warning in HTML, before a "400".

`set_error_handler` makes a 400 of the first warning; the page is what PHP prints of it,
with the file and the line. Field names are those of a Polish programmer.
"""

import secrets
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TEXTS = (
    "the storks came back too early",
    "a red tractor blocks the lane",
    "the well behind the chapel is deep",
    "poppy seeds for the whole village",
    "the accordion lost two keys",
    "an amber bead under the stairs",
)


class Warned(Exception):  # noqa: N818 - PHP's word
    def __init__(self, status: int, text: str, file: str = "", line: int = 0) -> None:
        super().__init__(text)
        page = f"<html><body><h3>{text}</h3></body></html>"
        if file:
            page = (
                f"<br />\n<b>Warning</b>:  {text} in <b>/var/www/html/api/{file}</b> "
                f"on line <b>{line}</b><br />\n"
            )
        kind = {"Content-Type": "text/html; charset=UTF-8"}
        self.response = Response(status, page, kind)


def key(body: dict[str, Any], name: str, file: str, line: int) -> str:
    """Return an entry of the decoded array."""
    if name not in body:
        raise Warned(400, f'Undefined array key "{name}"', file, line)
    if isinstance(body[name], list | dict):
        raise Warned(400, "Array to string conversion", file, line)
    return str(body[name])


class PhpWarnings(Backend):
    """Six orders."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, dict[str, Any]] = {
            str(at * 3 + 71): {"tresc": text, "punkty": at % 4 + 1, "stan": "wolne"}
            for at, text in enumerate(TEXTS)
        }
        self.tokens: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {number: row["tresc"] for number, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        return Warned(404, "Not Found").response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(16)
        self.tokens.add(token)
        told = {"agent_id": "4", "access_token": token, "credits": 100}
        return Response(200, told)

    def tasks(self, request: Request) -> Response:
        rows = [{"nr_zlecenia": number, **row} for number, row in self.rows.items()]
        return Response(200, {"ok": True, "zlecenia": rows})

    def run(
        self, request: Request, script: Callable[[dict[str, Any]], Any]
    ) -> Response:
        try:
            return Response(200, {"ok": True, **script(self.decoded(request))})
        except Warned as warned:
            return warned.response

    def decoded(self, request: Request) -> dict[str, Any]:
        if request.token not in self.tokens:
            raise Warned(401, "Brak dostępu")
        try:
            body = request.json()
        except ValueError:
            body = None
        return body if isinstance(body, dict) else {}

    def row(self, body: dict[str, Any], file: str) -> dict[str, Any]:
        number = key(body, "nr_zlecenia", file, 12)
        if number not in self.rows:
            raise Warned(404, "Nie ma takiego zlecenia")
        return self.rows[number]

    def claim(self, request: Request) -> Response:
        return self.run(request, self.on_claim)

    def on_claim(self, body: dict[str, Any]) -> Any:
        row = self.row(body, "claim.php")
        if row["stan"] != "wolne":
            raise Warned(409, "Zlecenie jest zajęte")
        row["stan"] = "zajęte"
        self.book.claimed(str(body["nr_zlecenia"]))
        return {"stan": row["stan"]}

    def submit(self, request: Request) -> Response:
        return self.run(request, self.on_submit)

    def on_submit(self, body: dict[str, Any]) -> Any:
        row = self.row(body, "submit.php")
        if row["stan"] == "wolne":
            raise Warned(403, "To nie jest Twoje zlecenie")
        if key(body, "wynik", "submit.php", 19) != row["tresc"].upper():
            raise Warned(422, "Zły wynik")
        if row["stan"] == "zajęte":
            row["stan"] = "oddane"
        return {"stan": row["stan"]}

    def complete(self, request: Request) -> Response:
        return self.run(request, self.on_complete)

    def on_complete(self, body: dict[str, Any]) -> Any:
        row = self.row(body, "complete.php")
        if row["stan"] in ("wolne", "zajęte"):
            raise Warned(409, "Nic nie oddano")
        if row["stan"] == "oddane":
            row["stan"] = "zapłacone"
            self.book.pay(str(body["nr_zlecenia"]), row["punkty"])
        return {"stan": row["stan"], "punkty": row["punkty"]}
