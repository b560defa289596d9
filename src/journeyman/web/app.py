"""The page's routes, and the rules that hold for all of them.

Whatever else is served on this port is one more line in `build_app`.
"""

from base64 import b64encode
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from email.utils import format_datetime
from hashlib import sha256
from typing import Final
from urllib.parse import parse_qsl, quote, urlsplit

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from journeyman.daemon.commands import OwnerCommands
from journeyman.domain.errors import JourneymanError
from journeyman.domain.text import escape
from journeyman.web.access import Access, CrowdedError
from journeyman.web.buttons import BUTTONS
from journeyman.web.figures import UnknownTaskError, Visit
from journeyman.web.live import Live
from journeyman.web.metrics import Meters
from journeyman.web.monitoring import ALIVE, READY, Monitoring
from journeyman.web.pages import PAGES, STYLES, Pages, WebPage

_STYLES_HASH: Final = b64encode(sha256(STYLES.encode()).digest()).decode()
HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; img-src 'self'; "
        f"style-src 'sha256-{_STYLES_HASH}'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    # Not `no-referrer`: a browser would then hide our own origin from us, too.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
LONGEST_FORM: Final = 10_000
"""In bytes."""
_OPEN_TO_ALL: Final = ("/login", "/static/", ALIVE, READY)
SEE_OTHER, UNAUTHORIZED, FORBIDDEN, NOT_FOUND = 303, 401, 403, 404
TOO_LARGE, MISDIRECTED, REFUSED = 413, 421, 409

Endpoint = Callable[[Request], Awaitable[Response]]


def build_app(
    commands: OwnerCommands, access: Access, live: Live, meters: Meters
) -> Starlette:
    """Return the ASGI application."""
    site = Site(commands, access, live)
    routes: list[BaseRoute] = [
        Route("/login", site.login, methods=["GET", "POST"]),
        Route("/logout", site.log_out, methods=["POST"]),
        Route("/do/{verb}", site.do, methods=["POST"]),
        *Monitoring(commands, access, meters).routes(),
        Mount("/static", StaticFiles(packages=[("journeyman.web", "static")])),
    ]
    for page in PAGES:
        routes.append(Route(page.path, site.page(page)))
        routes.append(Route(f"/live{page.path}", site.live_of(page)))
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, access=access)],
        exception_handlers={
            JourneymanError: site.refused,
            UnknownTaskError: site.not_found,
            NOT_FOUND: site.not_found,
        },
    )


@dataclass(eq=False)
class Guard:
    """Asks `Access` about each request, and adds the headers to each answer."""

    app: ASGIApp
    access: Access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass the request on."""
        if scope["type"] != "http":
            return
        request = Request(scope)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                now = self.access.clock.now()
                headers["Date"] = format_datetime(now, usegmt=True)
            await send(message)

        answer = await self._refusal(request) or self.app
        await answer(scope, receive, send_with_headers)

    async def _refusal(self, request: Request) -> Response | None:
        if not self.access.knows_host(request):
            name = request.headers.get("host", "")
            return PlainTextResponse(
                f"This page is not served under the name {escape(name)!r}. "
                "Add it to web.names, if it is yours.\n",
                MISDIRECTED,
            )
        is_open = request.url.path.startswith(_OPEN_TO_ALL)
        try:
            if is_open or await self.access.is_open_to(request):
                return None
        except CrowdedError as error:
            return PlainTextResponse(
                f"{error.detail}\n", error.status_code, error.headers
            )
        if "text/html" in request.headers.get("accept", ""):
            return RedirectResponse("/login", SEE_OTHER)
        return PlainTextResponse("A password is needed: see /login.\n", UNAUTHORIZED)


@dataclass(eq=False)
class Site:
    """What is answered on each route."""

    commands: OwnerCommands
    access: Access
    live: Live
    pages: Pages = field(init=False)

    def __post_init__(self) -> None:
        self.pages = Pages(self.commands)

    # -- to look at ---------------------------------------------------------------

    def page(self, page: WebPage) -> Endpoint:
        """Return what answers with a whole page."""

        async def endpoint(request: Request) -> Response:
            token = self.access.form_token(request)
            has_password = self.access.password is not None
            query = f"?{request.url.query}" if request.url.query else ""
            html = self.pages.document(
                page,
                _visit(request, token),
                f"/live{quote(request.url.path)}{query}",
                has_password=has_password,
            )
            return HTMLResponse(html)

        return endpoint

    def live_of(self, page: WebPage) -> Endpoint:
        """Return what answers with the changes of a page."""

        async def endpoint(request: Request) -> Response:
            visit = _visit(request, self.access.form_token(request))
            return self.live.stream(lambda: self.pages.sections(page, visit))

        return endpoint

    async def not_found(self, request: Request, error: Exception) -> Response:
        """Answer where there is nothing."""
        html = self.pages.message(
            "Nothing is here",
            f"{error.problem}. {error.fix}"
            if isinstance(error, UnknownTaskError)
            else f"There is no page {escape(request.url.path, longest=80)}.",
        )
        return HTMLResponse(html, NOT_FOUND)

    async def refused(self, request: Request, error: Exception) -> Response:
        """Answer with what went wrong, and what to do next."""
        assert isinstance(error, JourneymanError)  # noqa: S101 - it is registered so
        if _wants_json(request):
            return JSONResponse({"problem": error.problem, "fix": error.fix}, REFUSED)
        html = self.pages.message("That was not done", f"{error.problem}. {error.fix}")
        return HTMLResponse(html, REFUSED)

    # -- to go in and out ---------------------------------------------------------

    async def login(self, request: Request) -> Response:
        """Ask for the password, or look at the one that was given."""
        if request.method == "GET":
            token = self.access.form_token(request)
            return HTMLResponse(self.pages.login(token))
        form = await self._form(request)
        cookie = await self.access.log_in(request, form.get("password", ""))
        if cookie is None:
            token = self.access.form_token(request)
            html = self.pages.login(token, problem="That is not the password.")
            return HTMLResponse(html, UNAUTHORIZED)
        return RedirectResponse("/", SEE_OTHER, {"Set-Cookie": cookie})

    async def log_out(self, request: Request) -> Response:
        """End this session."""
        await self._form(request)
        self.access.log_out(request)
        return RedirectResponse("/login", SEE_OTHER)

    # -- to command ---------------------------------------------------------------

    async def do(self, request: Request) -> Response:
        """Do what a button says, by the verb of the control socket."""
        form = await self._form(request)
        button = BUTTONS.get(request.path_params["verb"])
        if button is None:
            raise HTTPException(NOT_FOUND)
        done = await button(self.commands, form)
        self.pages.figures.forget()
        self.live.look()
        if _wants_json(request):
            return JSONResponse({"done": done})
        return RedirectResponse(_back(request), SEE_OTHER)

    async def _form(self, request: Request) -> dict[str, str]:
        """Return the fields of a form that one of our pages sent.

        Raises:
            HTTPException: it came from elsewhere, or is too large.
        """
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > LONGEST_FORM:
                raise HTTPException(TOO_LARGE)
        form = dict(parse_qsl(body.decode(errors="replace"), keep_blank_values=True))
        if not self.access.is_from_our_page(request, form):
            raise HTTPException(
                FORBIDDEN, "This command did not come from this page: load it again."
            )
        return form


def _visit(request: Request, token: str) -> Visit:
    return Visit(
        token=token,
        query=dict(request.query_params),
        task_id=request.path_params.get("task_id", ""),
    )


def _wants_json(request: Request) -> bool:
    return request.headers.get("accept", "") == "application/json"


def _back(request: Request) -> str:
    """Return the page that the form was on."""
    came_from = urlsplit(request.headers.get("referer", "")).path
    known = {page.path for page in PAGES}
    return came_from if came_from in known else "/"
