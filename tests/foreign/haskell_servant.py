"""A Haskell service: Servant, and Aeson's generic parsers, whose errors are plain text.

`Error in $: parsing Market.ClaimRequest(ClaimRequest) failed, key "taskRef" not found`, one
at a time. A result is a sum type, so that its object has a tag that says which constructor
it is and `contents`. The answers are records of their own; the state of a task is a
constructor too. Submitting pays, and completing only files the task away.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TEXTS = (
    "the lazy river never computes its end",
    "purely by chance the owl agreed",
    "curry the lentils one spice at a time",
    "a functor carries the basket home",
    "the lambda grazes beyond the fence",
    "nothing is just another something",
    "bind the sheaves before nightfall",
    "the kettle is strict about its lid",
    "zip the tent and count the stars",
    "an infinite list of small regrets",
    "guard the gate where the hens walk",
    "the type of this cheese is unknown",
)
OUTCOMES = ("TextOutcome", "FileOutcome")
KINDS = {
    dict: "Object",
    list: "Array",
    str: "String",
    bool: "Boolean",
    int: "Number",
    float: "Number",
    type(None): "Null",
}


class ParseError(Exception):
    pass


class OtherError(Exception):
    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


def expect(value: Any, kind: type, name: str, path: str = "$") -> Any:
    if type(value) is not kind:
        raise ParseError(
            f"Error in {path}: parsing {name} failed, expected {KINDS[kind]}, "
            f"but encountered {KINDS[type(value)]}"
        )
    return value


def key(body: dict[str, Any], name: str, record: str, path: str = "$") -> Any:
    if name not in body:
        raise ParseError(
            f'Error in {path}: parsing {record} failed, key "{name}" not found'
        )
    return body[name]


def outcome(value: Any) -> str:
    """Parse the sum type `Outcome` as Aeson's TaggedObject does."""
    path, name = "$.outcome", "Market.Types.Outcome"
    body = expect(value, dict, name, path)
    tag = expect(key(body, "tag", name, path), str, "Text", f"{path}.tag")
    if tag not in OUTCOMES:
        every = ", ".join(f'"{one}"' for one in OUTCOMES)
        raise ParseError(
            f"Error in {path}.tag: parsing {name} failed, expected tag field to be one "
            f'of [{every}], but found tag "{tag}"'
        )
    contents = key(body, "contents", f"{name}({tag})", path)
    found: str = expect(contents, str, "Text", f"{path}.contents")
    return found


class HaskellServant(Backend):
    """Twelve tasks in an STM map."""

    def __init__(self) -> None:
        super().__init__()
        self.refs = {f"tk{secrets.token_hex(5)}": text for text in TEXTS}
        self.fee = {ref: n % 4 + 2 for n, ref in enumerate(self.refs)}
        self.state: dict[str, str] = dict.fromkeys(self.refs, "Unassigned")
        self.agents: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return dict(self.refs)

    def missing(self, request: Request) -> Response:
        return Response(404, "")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = secrets.token_hex(9), secrets.token_hex(24)
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def view(self, ref: str) -> dict[str, Any]:
        return {
            "ref": ref,
            "input": {"tag": "TextInput", "contents": self.refs[ref]},
            "assignment": {"tag": self.state[ref]},
            "fee": self.fee[ref],
        }

    def tasks(self, request: Request) -> Response:
        return Response(200, [self.view(ref) for ref in self.refs])

    def answered(self, request: Request, run: Any) -> Response:
        if request.token not in self.agents:
            return Response(401, "")
        try:
            return Response(200, run(request.json()))
        except ParseError as no:
            return Response(400, str(no))
        except OtherError as no:
            return Response(no.status, no.words)
        except ValueError:
            return Response(400, "Error in $: not enough input")

    def reference(self, body: Any, record: str) -> str:
        name = f"Market.{record}({record})"
        found = key(expect(body, dict, name), "taskRef", name)
        ref: str = expect(found, str, "Text", "$.taskRef")
        if ref not in self.refs:
            raise OtherError(404, "No such task.")
        return ref

    def claim(self, request: Request) -> Response:
        return self.answered(request, self.on_claim)

    def on_claim(self, body: Any) -> Any:
        ref = self.reference(body, "ClaimRequest")
        if self.state[ref] != "Unassigned":
            raise OtherError(409, "Somebody else has it.")
        self.state[ref] = "AssignedTo"
        self.book.claimed(ref)
        return {"tag": "Claimed", "contents": self.view(ref)}

    def submit(self, request: Request) -> Response:
        return self.answered(request, self.on_submit)

    def on_submit(self, body: Any) -> Any:
        ref = self.reference(body, "SubmitRequest")
        name = "Market.SubmitRequest(SubmitRequest)"
        done = outcome(key(body, "outcome", name))
        if self.state[ref] == "Unassigned":
            raise OtherError(409, "Claim it first.")
        if done != self.refs[ref].upper():
            raise OtherError(409, "The outcome is wrong.")
        if ref not in self.book.paid:
            self.book.pay(ref, self.fee[ref])
            self.state[ref] = "Paid"
        return {"tag": "Accepted", "contents": {"ref": ref, "paidOut": self.fee[ref]}}

    def complete(self, request: Request) -> Response:
        return self.answered(request, self.on_complete)

    def on_complete(self, body: Any) -> Any:
        ref = self.reference(body, "CompleteRequest")
        if ref not in self.book.paid:
            raise OtherError(409, "Submit an outcome first.")
        self.state[ref] = "Archived"
        return {"tag": "Archived", "contents": {"ref": ref}}
