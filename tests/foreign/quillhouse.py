"""Quillhouse: an editorial desk that commissions copy.

In the manner of Django REST Framework: nested serializers, limit/offset pages, its sentences.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from tests.foreign.backend import Backend, Request, Response

SECTIONS = {1: "Front page", 2: "Culture", 3: "Harbour"}
PIECES = [
    # pk, section, headline, fee, copy
    (31, 1, "Opening banner", 12, "Council votes to keep the night ferry"),
    (32, 2, "Gallery caption", 7, "Three clay birds, artist unknown, about 1890"),
    (34, 3, "Tide notice", 9, "High water at 06:42 and again at 19:05"),
    (35, 2, "Concert teaser", 15, "The quartet plays Ravel; doors open at eight"),
    (38, 1, "Correction", 5, "The mayor's sister lives in Leeds, not in York"),
    (40, 3, "Pilot's column", 21, "Never trust a buoy that you have not counted twice"),
]


class APIException(Exception):  # noqa: N818
    """What the views raise and the exception handler turns into an answer."""

    def __init__(self, status: int, body: Any, headers: dict[str, str] | None = None):  # noqa: ANN204
        super().__init__(body)
        self.status, self.body, self.headers = status, body, headers or {}


class Invalid(Exception):  # noqa: N818
    """A serializer's ValidationError: a list of sentences, or a nested dict."""

    def __init__(self, errors: Any):  # noqa: ANN204
        super().__init__(errors)
        self.errors = errors


def char(value: Any) -> str:
    """CharField, with trim_whitespace."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise Invalid(["Not a valid string."])
    if not str(value).strip():
        raise Invalid(["This field may not be blank."])
    return str(value).strip()


def boolean(value: Any) -> bool:
    """BooleanField."""
    if value not in (True, False, "true", "True", "1", "false", "False", "0"):
        raise Invalid(["Must be a valid boolean."])
    return value in (True, "true", "True", "1")


def serializer(**fields: Any) -> Any:
    """Serializer.run_validation: every field is required, all errors at once."""

    def run(data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            kind = type(data).__name__
            sentence = f"Invalid data. Expected a dictionary, but got {kind}."
            raise Invalid({"non_field_errors": [sentence]})
        errors, valid = {}, {}
        for name, validate in fields.items():
            try:
                if data.get(name) is None:
                    missing = "may not be null" if name in data else "is required"
                    raise Invalid([f"This field {missing}."])
                valid[name] = validate(data[name])
            except Invalid as error:
                errors[name] = error.errors
        if errors:
            raise Invalid(errors)
        return valid

    return run


class Quillhouse(Backend):
    """Pieces are commissioned, drafted and filed; filing pays the fee."""

    page_size, max_page_size = 4, 50

    def __init__(self) -> None:
        super().__init__()
        self.contributors: dict[str, dict[str, Any]] = {}  # by token
        self.commissions: dict[int, dict[str, Any]] = {}
        self.pieces = {
            pk: {
                "id": pk,
                "headline": headline,
                "section": {"id": section, "name": SECTIONS[section]},
                "brief": "Return the source copy in capital letters, otherwise as it is.",
                "source": {"language": "en", "copy": copy},
                "fee": f"{fee}.00",
                "status": "open",
            }
            for pk, section, headline, fee, copy in PIECES
        }

    def texts(self) -> dict[str, str]:
        return {str(pk): piece["source"]["copy"] for pk, piece in self.pieces.items()}

    def dispatch(self, request: Request, view: Any, public: bool = False) -> Response:  # noqa: FBT001, FBT002
        headers = {"Allow": f"{request.method}, OPTIONS", "Vary": "Accept"}
        try:
            user = None if public else self.authenticate(request)
            return Response(200, view(request, user), headers)
        except Invalid as error:
            return Response(400, error.errors, headers)
        except APIException as error:
            return Response(error.status, error.body, {**headers, **error.headers})

    def authenticate(self, request: Request) -> dict[str, Any]:
        if request.token not in self.contributors:
            absent = "Authentication credentials were not provided."
            detail = "Invalid token." if request.token else absent
            raise APIException(401, {"detail": detail}, {"WWW-Authenticate": "Bearer"})
        return self.contributors[request.token]

    def data(self, request: Request) -> Any:
        if not request.raw:
            return {}
        media_type = request.headers.get("Content-Type") or ""
        if media_type.split(";")[0].strip().lower() != "application/json":
            detail = f'Unsupported media type "{media_type}" in request.'
            raise APIException(415, {"detail": detail})
        try:
            return request.json()
        except ValueError as error:
            raise APIException(400, {"detail": f"JSON parse error - {error}"}) from None

    @staticmethod
    def primary_key(rows: dict[int, Any]) -> Any:
        """PrimaryKeyRelatedField over these rows."""

        def field(value: Any) -> Any:
            try:
                if isinstance(value, bool):
                    raise TypeError
                pk = int(value)
            except (TypeError, ValueError):
                kind = type(value).__name__
                raise Invalid(
                    [f"Incorrect type. Expected pk value, received {kind}."]
                ) from None
            if pk not in rows:
                raise Invalid([f'Invalid pk "{pk}" - object does not exist.'])
            return rows[pk]

        return field

    def own(self, user: dict[str, Any]) -> Any:
        rows = {
            pk: row
            for pk, row in self.commissions.items()
            if row["contributor"] is user
        }
        return self.primary_key(rows)

    def register(self, request: Request) -> Response:
        def create(request: Request, _: Any) -> Any:
            self.data(request)
            self.book.registrations += 1
            token = secrets.token_hex(20)
            agent = f"contributor-{100 + self.book.registrations}"
            self.contributors[token] = {"agent_id": agent, "balance": "100.00"}
            return {"agent_id": agent, "access_token": token, "credits": 100}

        return self.dispatch(request, create, public=True)

    def page(self, request: Request, _: Any) -> Any:
        def number(name: str, default: int, least: int) -> int:
            try:
                value = int(request.query[name])
                return value if value >= least else default  # noqa: TRY300
            except (KeyError, ValueError):
                return default

        limit = min(number("limit", self.page_size, 1), self.max_page_size)
        offset = number("offset", 0, 0)
        rows = [piece for piece in self.pieces.values() if piece["status"] == "open"]

        def link(start: int) -> str:
            query = {"limit": limit, **({"offset": start} if start > 0 else {})}
            return f"{request.base}{request.path}?{urlencode(query)}"

        after = link(offset + limit) if offset + limit < len(rows) else None
        before = link(offset - limit) if offset > 0 else None
        page = rows[offset : offset + limit]
        return {"count": len(rows), "next": after, "previous": before, "results": page}

    def tasks(self, request: Request) -> Response:
        return self.dispatch(request, self.page)

    def marketplace(self, request: Request) -> Response:
        return self.dispatch(request, self.page, public=True)

    def claim(self, request: Request) -> Response:
        def create(request: Request, user: Any) -> Any:
            def contributor(value: Any) -> Any:  # SlugRelatedField
                if value != user["agent_id"]:
                    raise Invalid([f"Object with agent_id={value} does not exist."])
                return user

            fields = {
                "piece": self.primary_key(self.pieces),
                "contributor": contributor,
            }
            piece = serializer(**fields)(self.data(request))["piece"]
            if piece["status"] != "open":
                raise Invalid({"piece": ["This piece has already been commissioned."]})
            piece["status"] = "commissioned"
            self.book.claimed(str(piece["id"]))
            pk = 801 + len(self.commissions)
            now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
            row = {"id": pk, "piece": piece, "contributor": user, "draft": None}
            self.commissions[pk] = {**row, "created_at": now}
            return self.commissions[pk]

        return self.dispatch(request, create)

    def submit(self, request: Request) -> Response:
        def create(request: Request, user: Any) -> Any:
            draft = serializer(body=char, cover_note=char)
            valid = serializer(commission=self.own(user), draft=draft)(
                self.data(request)
            )
            piece = valid["commission"]["piece"]
            if piece["status"] != "commissioned":
                sentence = "A draft has already been accepted for this commission."
                raise Invalid({"commission": [sentence]})
            if valid["draft"]["body"] != piece["source"]["copy"].upper():
                sentence = "The body is not the source copy in capital letters."
                raise Invalid({"draft": {"body": [sentence]}})
            piece["status"] = "drafted"
            valid["commission"]["draft"] = valid["draft"]
            return valid["commission"]

        return self.dispatch(request, create)

    def complete(self, request: Request) -> Response:
        def create(request: Request, user: Any) -> Any:
            def granted(value: Any) -> bool:
                if not boolean(value):
                    raise Invalid(["Rights must be granted before a piece is filed."])
                return True

            fields = {"commission": self.own(user), "rights_granted": granted}
            commission = serializer(**fields)(self.data(request))["commission"]
            piece = commission["piece"]
            if piece["status"] != "drafted":
                sentence = f"Cannot file a piece that is {piece['status']}."
                raise Invalid({"non_field_errors": [sentence]})
            piece["status"], fee = "filed", int(float(piece["fee"]))
            self.book.pay(str(piece["id"]), fee)
            user["balance"] = f"{float(user['balance']) + fee:.2f}"
            return commission

        return self.dispatch(request, create)

    def agents(self, request: Request) -> Response:
        rows = [{"agent_id": user["agent_id"]} for user in self.contributors.values()]
        return self.dispatch(request, lambda *_: rows, public=True)

    directory = agents

    def post(self, request: Request) -> Response:
        def create(*_: Any) -> Any:
            detail = "You do not have permission to perform this action."
            raise APIException(403, {"detail": detail})

        return self.dispatch(request, create)

    def missing(self, request: Request) -> Response:
        page = "<h1>Not Found</h1><p>The requested resource was not found on this server.</p>"
        page = (
            f"<!doctype html><html><title>Not Found</title><body>{page}</body></html>"
        )
        return Response(404, page, {"Content-Type": "text/html; charset=utf-8"})
