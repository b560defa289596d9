"""A stand-in for a language model: OpenAI's chat completions, on loopback, by a rule.

    python tools/stand_in_model.py

It prints its address, and ends with its standard input. It knows one kind of task, the
sandbox's `rewriting`: a sentence that has some words, has not others, and has so many.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from selectors import EVENT_READ, DefaultSelector
from typing import Any

FILLER = ("indeed", "quite", "often", "still", "here", "there", "again", "also")


def sentence(wanted: dict[str, Any]) -> str:
    """Return a sentence as the task wants it."""
    fill = [word for word in FILLER if word not in wanted["avoid"]]
    words = list(wanted["keep"])
    while len(words) < wanted["least_words"]:
        words.append(fill[len(words) % len(fill)])
    return f"{' '.join(words).capitalize()}."


def answer_to(asked: dict[str, Any]) -> dict[str, Any]:
    """Return what the model fills into the form that it was given."""
    (form,) = (tool["function"] for tool in asked["tools"])
    if "answer" not in form["parameters"]["properties"]:
        return {"problems": ""}  # it is to check an answer
    told = next(one for one in asked["messages"] if one["role"] == "user")["content"]
    task = json.loads(told[told.index("{") : told.rindex("}") + 1])
    if task.get("kind") != "rewriting":
        return {"declined": "only sentences are rewritten here"}
    return {"answer": sentence(task["input"]), "confidence": 0.95}


class Model(BaseHTTPRequestHandler):
    """Answers each request by calling the tool that it was offered."""

    def do_POST(self) -> None:
        """Answer one request."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = asked["tools"][0]["function"]["name"]
        function = {"name": name, "arguments": json.dumps(answer_to(asked))}
        call = {"id": "call_1", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        body = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": asked["model"],
            "choices": [choice],
            "usage": {
                "prompt_tokens": 400,
                "completion_tokens": 40,
                "total_tokens": 440,
            },
        }
        content = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing: the address is all that is printed."""


def main() -> None:
    """Serve until the standard input closes."""
    server = HTTPServer(("127.0.0.1", 0), Model)
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    selector = DefaultSelector()
    selector.register(sys.stdin, EVENT_READ)
    selector.register(server, EVENT_READ)
    while all(key.fileobj is server for key, _ in selector.select()):
        server.handle_request()


if __name__ == "__main__":
    main()
