"""A search product's API in the manner of Elasticsearch.

Tasks are documents of an index: listings are `hits.hits[]` with `_id`, `_seq_no`,
`_primary_term` and `_source`; every write wants the sequence number and the primary term
it is based on; refusals are `error.root_cause`, `type` and `reason`. A right submission
pays; completing only closes the document.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import difflib
import json
import secrets
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

INDEX = "agent-tasks"
WORK = [
    (
        "kQx1b4sBv0Yy2aT9mE3d",
        14,
        "disk usage on node seven is above the high watermark",
    ),
    ("kgx1b4sBv0Yy2aT9mE3e", 25, "connection reset by peer while reading headers"),
    ("kwx1b4sBv0Yy2aT9mE3f", 9, "scheduled snapshot finished without warnings"),
    ("lAx1b4sBv0Yy2aT9mE3g", 33, "slow query took four seconds in the orders index"),
    ("lQx1b4sBv0Yy2aT9mE3h", 18, "leader changed after a missed heartbeat"),
    ("lgx1b4sBv0Yy2aT9mE3i", 41, "certificate expires in twelve days"),
    ("lwx1b4sBv0Yy2aT9mE3j", 6, "user login from a new address"),
]
SHARDS = {"total": 2, "successful": 1, "failed": 0}
WRITE, DOC = (
    {"_id": str, "if_seq_no": int, "if_primary_term": int},
    {"doc": {"output": str}},
)


class Refusal(Exception):  # noqa: N818
    """An exception of the product, as it answers with it."""

    def __init__(self, status: int, type_: str, reason: str, **more: Any) -> None:
        super().__init__(reason)
        self.status = status
        self.cause = {"type": type_, "reason": reason, **more}

    def response(self) -> Response:
        """Return the answer that tells it."""
        root = {k: v for k, v in self.cause.items() if k != "caused_by"}
        error = {"root_cause": [root], **self.cause}
        return Response(self.status, {"error": error, "status": self.status})


def illegal(reason: str) -> Refusal:
    """Return the refusal of a wrong argument."""
    return Refusal(400, "illegal_argument_exception", reason)


def unparsed(reason: str, **more: Any) -> Refusal:
    """Return the refusal of content that a parser does not take."""
    return Refusal(400, "x_content_parse_exception", reason, **more)


def place(raw: str, name: str) -> str:
    """Return the line and column of a field, as the parser tells them."""
    at = max(raw.find(json.dumps(name)), 0)
    return f"{raw.count(chr(10), 0, at) + 1}:{at - raw.rfind(chr(10), 0, at)}"


def token_name(value: Any) -> str:
    """Return the parser's name of a value's first token."""
    names = {
        str: "VALUE_STRING",
        int: "VALUE_NUMBER",
        float: "VALUE_NUMBER",
        bool: "VALUE_BOOLEAN",
        dict: "START_OBJECT",
        list: "START_ARRAY",
    }
    return names.get(type(value), "VALUE_NULL")


def parse(raw: str, body: Any, parser: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Read an object as an ObjectParser does: field by field, then what is required."""
    found: dict[str, Any] = {}
    for name, value in body.items():
        where = f"[{place(raw, name)}] [{parser}]"
        if name not in fields:
            close = difflib.get_close_matches(name, fields, 1, 0.7)
            hint = f" did you mean [{close[0]}]?" if close else ""
            raise unparsed(f"{where} unknown field [{name}]{hint}")
        want, failed = fields[name], f"{where} failed to parse field [{name}]"
        if isinstance(want, dict) and isinstance(value, dict):
            try:
                found[name] = parse(raw, value, name, want)
            except Refusal as inner:
                raise unparsed(failed, caused_by=inner.cause) from inner
        elif (
            want is int and not isinstance(value, bool) and isinstance(value, int | str)
        ):
            try:
                found[name] = int(value)
            except ValueError:
                cause = illegal(f'For input string: "{value}"').cause
                raise unparsed(failed, caused_by=cause) from None
        elif want is str and isinstance(value, str):
            found[name] = value
        else:
            raise unparsed(
                f"{where} {name} doesn't support values of type: {token_name(value)}"
            )
    if absent := [name for name in fields if name not in found]:
        raise illegal(f"Required [{', '.join(absent)}]")
    return found


def answered(
    search: Callable[[Any, Request], Response],
) -> Callable[[Any, Request], Response]:
    """Turn the exceptions of an action into answers."""

    def action(self: Any, request: Request) -> Response:
        try:
            return search(self, request)
        except Refusal as no:
            return no.response()

    return action


class Logfind(Backend):
    """An index of tasks with optimistic concurrency control."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._seq_no = len(WORK) - 1
        self._docs = {
            id_: {
                "_version": 1,
                "_seq_no": n,
                "_primary_term": 1,
                "_source": {
                    "@timestamp": f"2025-03-0{n + 1}T08:15:00.000Z",
                    "rule": {"description": "Set output to message in upper case."},
                    "message": text,
                    "output": None,
                    "reward_credits": reward,
                    "state": "open",
                    "worker": None,
                },
            }
            for n, (id_, reward, text) in enumerate(WORK)
        }

    def texts(self) -> dict[str, str]:
        """Return the text of every task by its `_id`."""
        return {id_: text for id_, _, text in WORK}

    def handle(self, request: Request) -> Response:
        """Answer one request with the product's own header."""
        answer = super().handle(request)
        answer.headers["X-elastic-product"] = "Elasticsearch"
        return answer

    def missing(self, request: Request) -> Response:
        """Refuse an unknown path."""
        where = f"uri [{request.path}] and method [{request.method}]"
        return Response(400, {"error": f"no handler found for {where}"})

    def register(self, request: Request) -> Response:
        """Create a user and its token."""
        self.book.registrations += 1
        token, name = secrets.token_urlsafe(45), f"agent-{secrets.token_hex(5)}"
        self._agents[token] = {"name": name, "credits": 100}
        return Response(200, {"agent_id": name, "access_token": token, "credits": 100})

    def _agent(self, request: Request) -> dict[str, Any]:
        if request.token in self._agents:
            return self._agents[request.token]
        header = {"WWW-Authenticate": ['Bearer realm="security"']}
        reason = f"missing authentication credentials for REST request [{request.path}]"
        if request.headers.get("Authorization"):
            reason = (
                "unable to authenticate with provided credentials and anonymous access "
                "is not allowed for this request"
            )
        raise Refusal(401, "security_exception", reason, header=header)

    @answered
    def tasks(self, request: Request) -> Response:
        """Search the open tasks."""
        self._agent(request)
        return self.marketplace(request)

    @answered
    def marketplace(self, request: Request) -> Response:
        """Search the open tasks, as anybody."""
        numbers = {"limit": 10, "from": 0}
        for name, value in request.query.items():
            if name not in numbers:
                raise illegal(
                    f"request [{request.path}] contains unrecognized parameter: [{name}]"
                )
            try:
                numbers[name] = int(value)
            except ValueError:
                reason = f"Failed to parse int parameter [{name}] with value [{value}]"
                raise illegal(reason) from None
            if numbers[name] < 0:
                raise illegal(f"[{name}] parameter cannot be negative, found [{value}]")
        if (window := sum(numbers.values())) > 10000:
            raise illegal(
                "Result window is too large, from + size must be less than or equal to: "
                f"[10000] but was [{window}]."
            )
        found = [
            (i, d) for i, d in self._docs.items() if d["_source"]["state"] == "open"
        ]
        page = found[numbers["from"] :][: numbers["limit"]]
        return Response(
            200,
            {
                "took": 2,
                "timed_out": False,
                "_shards": SHARDS,
                "hits": {
                    "total": {"value": len(found), "relation": "eq"},
                    "max_score": 1.0,
                    "hits": [
                        {"_index": INDEX, "_id": i, "_score": 1.0, **d} for i, d in page
                    ],
                },
            },
        )

    def _write(  # noqa: PLR0915
        self,
        request: Request,
        parser: str,
        fields: dict[str, Any],
        before: str,
        after: str,
    ) -> Response:
        """Move a document on, or say why not."""
        agent = self._agent(request)
        raw = request.raw.decode(errors="replace")
        try:
            body = json.loads(raw)
        except ValueError:
            reason = (
                "Failed to parse content to map" if raw else "request body is required"
            )
            raise Refusal(400, "parse_exception", reason) from None
        if not isinstance(body, dict):
            raise unparsed(
                f"[1:1] [{parser}] Expected START_OBJECT but was: {token_name(body)}"
            )
        wanted = parse(raw, body, parser, fields)
        id_ = wanted["_id"]
        if not (doc := self._docs.get(id_)):
            raise Refusal(
                404, "document_missing_exception", f"[{id_}]: document missing"
            )
        source, seq, term = doc["_source"], doc["_seq_no"], doc["_primary_term"]
        if (wanted["if_seq_no"], wanted["if_primary_term"]) != (seq, term):
            reason = (
                f"[{id_}]: version conflict, required seqNo [{wanted['if_seq_no']}], primary "
                f"term [{wanted['if_primary_term']}]. current document has seqNo [{seq}] "
                f"and primary term [{term}]"
            )
            raise Refusal(
                409, "version_conflict_engine_exception", reason, shard="0", index=INDEX
            )
        if source["worker"] not in (None, agent["name"]):
            raise Refusal(
                403,
                "security_exception",
                "action [indices:data/write/update] is "
                f"unauthorized for user [{agent['name']}]",
            )
        if source["state"] != before:
            raise Refusal(
                409,
                "status_exception",
                f"[{id_}]: state is [{source['state']}], expected [{before}]",
            )
        if "doc" in wanted and wanted["doc"]["output"] != source["message"].upper():
            raise illegal(f"[{id_}]: [output] is not [message] in upper case")
        doc["_version"] += 1
        self._seq_no = doc["_seq_no"] = self._seq_no + 1
        source.update(state=after, worker=agent["name"], **wanted.get("doc", {}))
        if after == "claimed":
            self.book.claimed(id_)
        if after == "paid":
            agent["credits"] += source["reward_credits"]
            self.book.pay(id_, source["reward_credits"])
        return Response(
            200,
            {
                "_index": INDEX,
                "_id": id_,
                "_version": doc["_version"],
                "result": "updated",
                "_seq_no": self._seq_no,
                "_primary_term": term,
                "get": {"_source": source},
            },
        )

    @answered
    def claim(self, request: Request) -> Response:
        """Take a document for the agent."""
        return self._write(request, "claim_request", WRITE, "open", "claimed")

    @answered
    def submit(self, request: Request) -> Response:
        """Update a document with its output and pay for it."""
        return self._write(request, "submit_request", WRITE | DOC, "claimed", "paid")

    @answered
    def complete(self, request: Request) -> Response:
        """Close a document that is paid."""
        return self._write(request, "complete_request", WRITE, "paid", "closed")
