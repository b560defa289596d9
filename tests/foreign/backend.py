"""What every foreign network needs: a socket, the contract's paths, and a book.

Standard library only, and nothing of Journeyman's: a misreading that the daemon and the
sandbox share must not be shared here. A backend answers for itself how its records look,
what its requests want and how it says no; this file only carries bytes and counts.
"""

import json
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

ACTIONS = {
    ("POST", "/functions/v1/create-free-agent-public"): "register",
    ("POST", "/functions/v1/create-checkout"): "checkout",
    ("GET", "/functions/v1/public-marketplace"): "marketplace",
    ("GET", "/functions/v1/public-agents-directory"): "agents",
    ("GET", "/functions/v1/agents-directory"): "directory",
    ("GET", "/functions/v1/get-marketplace-tasks"): "tasks",
    ("POST", "/functions/v1/claim-task-public"): "claim",
    ("POST", "/functions/v1/submit-task-result-public"): "submit",
    ("POST", "/functions/v1/complete-task-public"): "complete",
    ("POST", "/functions/v1/write-post-task-public"): "post",
}


@dataclass(frozen=True)
class Request:
    """One request as it came over the wire."""

    method: str
    path: str
    query: dict[str, str]
    headers: Message  # names compare without case
    raw: bytes
    base: str  # the address of this server, as the client was given it

    @property
    def token(self) -> str:
        """Return the bearer token, or "" without one."""
        scheme, _, token = (self.headers.get("Authorization") or "").partition(" ")
        return token.strip() if scheme.lower() == "bearer" else ""

    def json(self) -> Any:
        """Return the parsed body.

        Raises:
            ValueError: It is not JSON.
        """
        return json.loads(self.raw)


@dataclass
class Response:
    """One answer; a body that is not bytes or text is written as JSON."""

    status: int = 200
    body: Any = b""
    headers: dict[str, str] = field(default_factory=dict)
    # Networks that answer 200 to everything say here that they meant no.
    refused: bool = False

    @property
    def is_refusal(self) -> bool:
        """Return whether the network said no."""
        return self.refused or self.status >= 400

    def encoded(self) -> tuple[bytes, str]:
        """Return the body's bytes and their media type."""
        if isinstance(self.body, bytes):
            return self.body, "application/octet-stream"
        if isinstance(self.body, str):
            return self.body.encode(), "text/plain; charset=utf-8"
        return json.dumps(self.body).encode(), "application/json"


@dataclass
class Book:
    """What the network itself knows of what happened; the tests believe only this."""

    registrations: int = 0
    requests: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    # The refused bodies and the answers to them, in order, for a person to read.
    refusals: list[tuple[str, str, int, str]] = field(default_factory=list)
    held: set[str] = field(default_factory=set)  # claimed and not yet delivered
    most_held: int = 0
    most_held_before_first_pay: int = 0
    paid: dict[str, int] = field(default_factory=dict)  # task -> credits

    def claimed(self, task: str) -> None:
        """Note that a task was given to an agent."""
        self.held.add(task)
        self.most_held = max(self.most_held, len(self.held))
        if not self.paid:
            self.most_held_before_first_pay = max(
                self.most_held_before_first_pay, len(self.held)
            )

    def pay(self, task: str, credits_: int) -> None:
        """Note that a task was delivered, found right, and paid."""
        if task in self.paid:
            raise AssertionError(f"{task} would be paid twice")
        self.held.discard(task)
        self.paid[task] = credits_


class Backend:
    """A network; a subclass answers each action of the contract in its own manner.

    A method named as the action (`register`, `tasks`, `claim`, ...) takes the request and
    returns the response; it is called under a lock, one request at a time.
    """

    # What the owner has to configure, as Journeyman's settings have it; mostly nothing.
    settings: dict[str, Any] = {}

    def __init__(self) -> None:
        self.book = Book()
        self._lock = threading.Lock()

    def missing(self, request: Request) -> Response:
        """Return the answer to a path that this network does not have."""
        return Response(404, "404 page not found\n")

    def document(self, request: Request) -> Response:
        """Return a discovery document; most networks have none."""
        return self.missing(request)

    def texts(self) -> dict[str, str]:
        """Return the text of every task by its identifier, as a string."""
        raise NotImplementedError

    def handle(self, request: Request) -> Response:
        """Answer one request and count it."""
        with self._lock:
            action = ACTIONS.get((request.method, request.path), "")
            if not action:
                return (
                    self.document(request)
                    if request.method == "GET"
                    else self.missing(request)
                )
            answer = getattr(self, action, self.missing)(request)
            self.book.requests[action] += 1
            if answer.is_refusal:
                self.book.refused[action] += 1
                self.book.refusals.append(
                    (
                        action,
                        request.raw.decode(errors="replace"),
                        answer.status,
                        str(answer.body),
                    )
                )
            return answer


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a backend that drops its answer: it means to."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serve(backend: Backend, port: int = 0) -> Iterator[str]:
    """Serve a backend on a free port of this machine and yield its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Both halves of an answer in one packet: Nagle's algorithm would hold the second.
        wbufsize = -1
        disable_nagle_algorithm = True

        def log_message(self, format: str, *args: object) -> None:
            """Keep the test's output readable."""

        def _serve(self) -> None:
            address = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            answer = backend.handle(
                Request(
                    self.command,
                    address.path,
                    dict(parse_qsl(address.query, keep_blank_values=True)),
                    self.headers,
                    self.rfile.read(length),
                    f"http://127.0.0.1:{server.server_port}",
                )
            )
            body, media_type = answer.encoded()
            self.send_response(answer.status)
            for name, value in {"Content-Type": media_type, **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = _serve

    server = _Server(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.05}
    )
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
