"""A server that is no agent network: it answers what the address's path asks for."""

import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

ANSWERS = {
    "page": ("text/html", b"<!doctype html><title>Welcome</title>"),
    "array": ("application/json", b"[1, 2, 3]"),
    "portal": ("application/json", b'{"base_url": "https://service.example"}'),
    "escape": ("application/json", b'{"error": "\\u001b[31mred"}'),
}


class Odd(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        name = self.path.split("/")[1]
        is_of_service = "/functions/" in self.path
        kind, body = ANSWERS["page" if name == "portal" and is_of_service else name]
        self.send_response(400 if name == "escape" else 200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()

    def log_message(self, *arguments: object) -> None:
        pass


def main() -> None:
    server = HTTPServer(("127.0.0.1", 0), Odd)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)  # noqa: T201 - whoever starts it reads this
    # Beside the test's own process there is nothing to keep deterministic here.
    threading.Thread(target=server.serve_forever, daemon=True).start()  # noqa: TID251
    sys.stdin.read()


if __name__ == "__main__":
    main()
