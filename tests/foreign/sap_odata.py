"""An OData V2 service of an ERP: d.results, German states, and ETags that must match.

Keys are numbers with leading zeros, in strings. Property names are Pascal case. Errors hold
their words in message.value and details in innererror. A delivery and a completion have to
say in If-Match which version of the task they are about; an action without it is 428, with
an old one 412. The ETag is in the record's __metadata and in the header of each answer.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

LANGTEXTE = (
    "the foreman stamps the last form",
    "spare parts arrive on platform two",
    "a plant in the corner needs water",
    "the cost centre moved upstairs",
    "print the list in triplicate",
    "the fiscal year ends with cake",
    "an open item waits in the drawer",
    "the material has no number yet",
    "book the hall for the stocktaking",
    "the vendor sends his best wishes",
    "goods receipt behind the garage",
    "the batch was made on a sunday",
)
OFFEN, VERGEBEN, GELIEFERT, ABGESCHLOSSEN = (
    "Offen",
    "Vergeben",
    "Geliefert",
    "Abgeschlossen",
)
PAGE = 5


class ODataError(Exception):
    def __init__(self, status: int, words: str, target: str = "") -> None:
        super().__init__(words)
        self.status, self.words, self.target = status, words, target


class SapOdata(Backend):
    """Twelve orders in a system that has been there for long."""

    def __init__(self) -> None:
        super().__init__()
        self.orders: dict[str, dict[str, Any]] = {
            f"{4711000 + 10 * n:010}": {
                "Auftragsnummer": f"{4711000 + 10 * n:010}",
                "Langtext": text,
                "Status": OFFEN,
                "Verguetung": f"{n % 4 + 2}.00",
                "Waehrung": "CRD",
            }
            for n, text in enumerate(LANGTEXTE)
        }
        self.versions = dict.fromkeys(self.orders, 1)
        self.agents: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return {number: one["Langtext"] for number, one in self.orders.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"AG{secrets.randbelow(10**8):08}", secrets.token_hex(20)
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def etag(self, number: str) -> str:
        return f"W/\"'{self.versions[number]:04}-{number[-5:]}'\""

    def entity(self, number: str) -> dict[str, Any]:
        metadata = {"type": "ZAGENT.Auftrag", "etag": self.etag(number)}
        return {"__metadata": metadata, **self.orders[number]}

    def tasks(self, request: Request) -> Response:
        skip = int(request.query.get("$skiptoken", "0") or 0)
        every = [*self.orders]
        shown = [self.entity(number) for number in every[skip : skip + PAGE]]
        found: dict[str, Any] = {"results": shown}
        if skip + PAGE < len(every):
            found["__next"] = f"{request.base}{request.path}?$skiptoken={skip + PAGE}"
        return Response(200, {"d": found})

    def answered(self, request: Request, run: Any) -> Response:
        try:
            number = run(request)
        except ODataError as no:
            detail = {"code": "ZAG/001", "message": no.words, "propertyref": no.target}
            return Response(
                no.status,
                {
                    "error": {
                        "code": "ZAG/001",
                        "message": {"lang": "en", "value": no.words},
                        "innererror": {"errordetails": [detail] if no.target else []},
                    }
                },
            )
        return Response(200, {"d": self.entity(number)}, {"ETag": self.etag(number)})

    def order(self, request: Request, *more: str) -> tuple[str, dict[str, Any]]:
        if request.token not in self.agents:
            raise ODataError(401, "Anmeldung fehlgeschlagen")
        try:
            body = request.json()
        except ValueError as fault:
            raise ODataError(400, "Malformed JSON payload") from fault
        if not isinstance(body, dict):
            raise ODataError(400, "Malformed JSON payload")
        known = ("Auftragsnummer", *more)
        for name in body:
            if name not in known:
                words = f"Property '{name}' is invalid for the entity type 'Auftrag'"
                raise ODataError(400, words, name)
        for name in known:
            if not isinstance(body.get(name), str) or not body[name]:
                words = f"Mandatory property '{name}' has no value"
                raise ODataError(400, words, name)
        number: str = body["Auftragsnummer"]
        if number not in self.orders:
            raise ODataError(404, f"Resource not found for segment '{number}'")
        return number, body

    def matched(self, request: Request, number: str) -> None:
        found = request.headers.get("If-Match")
        if found is None:
            raise ODataError(428, "The If-Match header is required for this request")
        if found not in ("*", self.etag(number)):
            raise ODataError(412, "Precondition failed: the ETag does not match")

    def moved(self, number: str, status: str) -> str:
        self.orders[number]["Status"] = status
        self.versions[number] += 1
        return number

    def claim(self, request: Request) -> Response:
        return self.answered(request, self.on_claim)

    def on_claim(self, request: Request) -> str:
        number, _ = self.order(request)
        if self.orders[number]["Status"] != OFFEN:
            raise ODataError(409, "Der Auftrag ist bereits vergeben")
        self.book.claimed(number)
        return self.moved(number, VERGEBEN)

    def submit(self, request: Request) -> Response:
        return self.answered(request, self.on_submit)

    def on_submit(self, request: Request) -> str:
        number, body = self.order(request, "Ergebnis")
        self.matched(request, number)
        if self.orders[number]["Status"] != VERGEBEN:
            raise ODataError(409, "Der Auftrag ist nicht vergeben")
        if body["Ergebnis"] != self.orders[number]["Langtext"].upper():
            raise ODataError(409, "Das Ergebnis ist falsch")
        return self.moved(number, GELIEFERT)

    def complete(self, request: Request) -> Response:
        return self.answered(request, self.on_complete)

    def on_complete(self, request: Request) -> str:
        number, _ = self.order(request)
        self.matched(request, number)
        if self.orders[number]["Status"] != GELIEFERT:
            raise ODataError(409, "Der Auftrag ist nicht geliefert")
        self.book.pay(number, int(float(self.orders[number]["Verguetung"])))
        return self.moved(number, ABGESCHLOSSEN)
