"""Spring MVC of ten years ago in a Tomcat: controllers that take forms, and HTML pages.

`@RequestMapping(consumes = "application/x-www-form-urlencoded")`: anything else is a 415
that names in `Accept` what is taken. A parameter that is missing is told in the page that
Tomcat makes of an exception, among its style sheet and its own advice.
"""

import html
import secrets
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

from tests.foreign.backend import Backend, Request, Response

TEXTS = (
    "the elevator stops at every floor",
    "a stamp is missing on the envelope",
    "the fax machine prints at midnight",
    "two keys open the same drawer",
    "the caretaker waters plastic plants",
    "room twelve has no window",
    "the lamp flickers when it rains",
    "somebody moved the coat rack",
)
FORM = "application/x-www-form-urlencoded"
STYLE = (
    "body {font-family:Tahoma,Arial,sans-serif;} h1, h2, h3, b {color:white;"
    "background-color:#525D76;} .line {height:1px;background-color:#525D76;border:none;}"
)
ADVICE = {
    400: "The server cannot or will not process the request due to something that is "
    "perceived to be a client error (e.g., malformed request syntax, invalid request "
    "message framing, or deceptive request routing).",
    415: "The origin server is refusing to service the request because the payload is "
    "in a format not supported by this method on the target resource.",
}


class StatusError(Exception):
    def __init__(self, status: int, message: str, **headers: str) -> None:
        super().__init__(message)
        title = f"HTTP Status {status} \N{EN DASH} {HTTPStatus(status).phrase}"
        told = html.escape(message).replace("&#x27;", "&#39;")
        page = (
            f'<!doctype html><html lang="en"><head><title>{title}</title>'
            f'<style type="text/css">{STYLE}</style></head><body><h1>{title}</h1>'
            '<hr class="line" /><p><b>Type</b> Status Report</p>'
            f"<p><b>Message</b> {told}</p>"
            f"<p><b>Description</b> {ADVICE.get(status, '')}</p>"
            '<hr class="line" /><h3>Apache Tomcat/8.5.78</h3></body></html>'
        )
        kind = {"Content-Type": "text/html;charset=utf-8"}
        self.response = Response(status, page, {**kind, **headers})


class TomcatForms(Backend):
    """Eight orders."""

    def __init__(self) -> None:
        super().__init__()
        self.orders: dict[int, dict[str, Any]] = {
            90210 + at * 3: {"text": text, "points": at % 4 + 1, "state": "OPEN"}
            for at, text in enumerate(TEXTS)
        }
        self.tokens: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {str(key): order["text"] for key, order in self.orders.items()}

    def missing(self, request: Request) -> Response:
        return StatusError(404, "").response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(16).upper()
        self.tokens.add(token)
        told = {"agent_id": "A-77", "access_token": token, "credits": 100}
        return Response(200, told)

    def tasks(self, request: Request) -> Response:
        orders = [
            {
                "orderId": key,
                "text": order["text"],
                "points": order["points"],
                "state": order["state"],
            }
            for key, order in self.orders.items()
        ]
        return Response(200, orders)

    def parameters(self, request: Request, **kinds: str) -> dict[str, str]:
        """Return the parameters that a controller's method has."""
        if request.token not in self.tokens:
            raise StatusError(401, "Full authentication is required")
        kind = request.headers.get_content_type()
        if kind != FORM:
            told = f"Content type '{kind}' not supported"
            raise StatusError(415, told, Accept=FORM)
        form = dict(parse_qsl(request.raw.decode(), keep_blank_values=True))
        form = {**request.query, **form}
        for name, java in kinds.items():
            if name not in form:
                told = (
                    f"Required request parameter '{name}' for method parameter type "
                    f"{java} is not present"
                )
                raise StatusError(400, told)
            if java == "Long" and not form[name].isdigit():
                told = (
                    "Failed to convert value of type 'java.lang.String' to required "
                    "type 'java.lang.Long'; nested exception is "
                    "java.lang.NumberFormatException: For input string: "
                    f'"{form[name]}"'
                )
                raise StatusError(400, told)
        if int(form["orderId"]) not in self.orders:
            raise StatusError(404, "No such order")
        return form

    def handled(self, handler: Callable[[], Any]) -> Response:
        try:
            return Response(200, handler())
        except StatusError as error:
            return error.response

    def claim(self, request: Request) -> Response:
        return self.handled(lambda: self.on_claim(request))

    def on_claim(self, request: Request) -> Any:
        form = self.parameters(request, orderId="Long")
        order = self.orders[int(form["orderId"])]
        if order["state"] != "OPEN":
            raise StatusError(409, "The order is taken")
        order["state"] = "TAKEN"
        self.book.claimed(form["orderId"])
        return {"orderId": int(form["orderId"]), "state": "TAKEN"}

    def submit(self, request: Request) -> Response:
        return self.handled(lambda: self.on_submit(request))

    def on_submit(self, request: Request) -> Any:
        form = self.parameters(request, orderId="Long", resultText="String")
        order = self.orders[int(form["orderId"])]
        if order["state"] == "OPEN":
            raise StatusError(409, "The order is not yours")
        if form["resultText"] != order["text"].upper():
            raise StatusError(422, "The result is not right")
        if order["state"] == "TAKEN":
            order["state"] = "DELIVERED"
        return {"orderId": int(form["orderId"]), "state": order["state"]}

    def complete(self, request: Request) -> Response:
        return self.handled(lambda: self.on_complete(request))

    def on_complete(self, request: Request) -> Any:
        form = self.parameters(request, orderId="Long")
        order = self.orders[int(form["orderId"])]
        if order["state"] in ("OPEN", "TAKEN"):
            raise StatusError(409, "Nothing was delivered")
        if order["state"] != "PAID":
            order["state"] = "PAID"
            self.book.pay(form["orderId"], order["points"])
        return {"orderId": int(form["orderId"]), "state": "PAID"}
