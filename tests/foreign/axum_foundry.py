"""A type foundry on axum (Rust), with anyhow for the chain and thiserror for its links.

Handlers take `Bytes`, parse a serde_json::Value and look fields up by hand with `?`, so there is
one error at a time. `impl IntoResponse for AppError` writes the outermost context as `message`
and the rest of `err.chain()` as `causes`; the status comes from downcasting to the foundry's own
thiserror enum. The listing is a BTreeMap by ULID, pay is in hundredths of a credit, a lease wants
its length in minutes, output is an object, and settling wants the revision that was delivered
(any number of revisions may be delivered; the settled one is judged).
"""

import json
import re
import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PIECES = [
    ("01HZX3M8Q4T7V2K9C6B1N5R0WA", "Caslon", 1400, "the quick hare outran the dog"),
    ("01HZX3M8Q9D2F6G8J1P4S7Y3EB", "Bodoni", 900, "set it twice, print it once"),
    ("01HZX3M8R2A5C7E0H3K6M9Q1TC", "Gill", 2600, "a lead slug weighs more than a word"),
    ("01HZX3M8R7W4Z1B8D5F2H9J6MD", "Futura", 1700, "no serif was harmed in this line"),
    ("01HZX3M8S0P3R6T9V2X5Z8A1CE", "Clarendon", 600, "wanted: apprentice, clean hands"),
]
CROCKFORD = re.compile("[0-9A-HJKMNP-TV-Z]*", re.IGNORECASE)
LEASE = (5, 60)


class Error(Exception):
    """An anyhow::Error: its chain, outermost first, and the status of its root."""

    def __init__(self, status: int, *chain: str) -> None:
        super().__init__(chain[-1])
        self.status, self.chain = status, list(chain)

    def context(self, text: str) -> "Error":
        """Wrap it like .context()."""
        return Error(self.status, text, *self.chain)


def into_response(err: Error) -> Response:
    """impl IntoResponse for AppError."""
    return reply({"message": err.chain[0], "causes": err.chain[1:]}, err.status)


def reply(body: Any, status: int = 200) -> Response:
    """Answer like axum::Json."""
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
    return Response(status, text, {"Content-Type": "application/json"})


def handler(context: str) -> Any:
    """Wrap a handler: `inner(...).await.context(context)?`."""

    def decorate(inner: Any) -> Any:
        def outer(self: Any, request: Request) -> Response:
            try:
                return inner(self, request)  # type: ignore[no-any-return]
            except Error as err:
                return into_response(err.context(context))

        return outer

    return decorate


def serde_error(raw: bytes) -> str:
    """Say what serde_json::from_slice would, with line and column."""
    text = raw.decode(errors="replace")
    try:
        json.loads(text)
    except json.JSONDecodeError as err:
        line, column = err.lineno, err.colno
        if err.pos >= len(text.rstrip()):
            last = text.rsplit("\n", 1)[-1]
            what = {"{": "an object", "[": "a list"}.get(text.lstrip()[:1], "a value")
            where = f"line {text.count(chr(10)) + 1} column {len(last)}"
            return f"EOF while parsing {what} at {where}"
        says = "expected value"
        for ours, theirs in {
            "Expecting property name": "key must be a string",
            "Illegal trailing": "trailing comma",
            "Expecting ':'": "expected `:`",
            "Expecting ','": "expected `,` or `}`",
            "Extra data": "trailing characters",
            "Unterminated": "EOF while parsing a string",
            "Invalid control": "control character (\\u0000-\\u001F) found while parsing a string",
            "Invalid \\": "invalid escape",
        }.items():
            if err.msg.startswith(ours):
                says = theirs
        if says == "key must be a string" and text[: err.pos].rstrip().endswith(","):
            says = "trailing comma"
        return f"{says} at line {line} column {column}"
    except (ValueError, RecursionError):
        pass
    return "recursion limit exceeded at line 1 column 128"


def kind(value: Any) -> str:
    """fn kind(v: &Value) -> &'static str."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an array" if isinstance(value, list) else "an object"


def parse(request: Request, *known: str) -> dict[str, Any]:
    """Parse the body to a Map that has no other keys than the known ones."""
    try:
        body = request.json()
        json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):  # serde_json takes no lone surrogates, no NaN
        raise Error(400, "request body is not JSON", serde_error(request.raw)) from None
    if not isinstance(body, dict):
        raise Error(400, f"request body is {kind(body)}, wanted an object")
    strange(body, "", *known)
    return body


def strange(body: dict[str, Any], path: str, *known: str) -> None:
    """Refuse the first key, in order of name, that nobody reads."""
    for key in sorted(body):
        if key not in known:
            ours = " and ".join(f"`{path}{name}`" for name in known)
            verb = "are" if len(known) > 1 else "is"
            raise Error(
                400, f"nothing here reads `{path}{key}`, only {ours} {verb} used"
            )


def string(body: dict[str, Any], name: str, path: str = "") -> str:
    """Return a string that must be there."""
    if name not in body:
        raise Error(400, f"`{path}{name}` was not given")
    if not isinstance(body[name], str):
        raise Error(400, f"`{path}{name}` is {kind(body[name])}, wanted a string")
    return body[name]  # type: ignore[no-any-return]


def unsigned(body: dict[str, Any], name: str) -> int:
    """Return an unsigned number that must be there: Value::as_u64()."""
    if name not in body:
        raise Error(400, f"`{name}` was not given")
    value = body[name]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Error(400, f"`{name}` is {kind(value)}, wanted a number")
    if not isinstance(value, int) or not 0 <= value < 2**64:
        raise Error(
            400, f"`{name}` is {value}, wanted a whole number that is not negative"
        )
    return value


class Foundry(Backend):
    """The foundry."""

    def __init__(self) -> None:
        super().__init__()
        self.casters: dict[str, dict[str, Any]] = {}  # by token
        self.pieces: dict[str, dict[str, Any]] = {
            ulid: {
                "ulid": ulid,
                "face": face,
                "reward": reward,
                "line": line,
                "lessee": None,
                "until": 0.0,
                "revisions": [],
                "settled": False,
            }
            for ulid, face, reward, line in PIECES
        }

    def texts(self) -> dict[str, str]:
        """Return the line of every piece."""
        return {ulid: piece["line"] for ulid, piece in self.pieces.items()}

    def missing(self, request: Request) -> Response:
        """Answer like axum's fallback: nothing at all."""
        return Response(404, b"")

    def caster(self, request: Request) -> dict[str, Any]:
        """Resolve the bearer."""
        header = request.headers.get("Authorization")
        if header is None:
            raise Error(401, "not signed in", "no `authorization` header")
        if not request.token:
            raise Error(401, "not signed in", "`authorization` is not a bearer token")
        if request.token not in self.casters:
            raise Error(401, "not signed in", "the bearer token was not issued here")
        return self.casters[request.token]

    def piece(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the piece that `piece` names: Ulid::from_string, then the map."""
        name = string(body, "piece")
        broken = f"`piece` is not the ulid of a piece: {name!r}".replace("'", '"')
        if len(name) != 26:
            raise Error(400, broken, "invalid length")
        if not CROCKFORD.fullmatch(name):
            raise Error(400, broken, "invalid character")
        piece = self.pieces.get(name.upper())
        if piece is None:
            raise Error(404, f"no piece {name} was ever listed")
        return piece

    def leased(self, piece: dict[str, Any], caster: dict[str, Any]) -> None:
        """ensure! that the caster holds the piece."""
        if piece["settled"]:
            raise Error(409, f"piece {piece['ulid']} is settled and paid for")
        if piece["lessee"] is None:
            raise Error(409, f"piece {piece['ulid']} is not leased, claim it first")
        if piece["lessee"] is not caster:
            raise Error(403, f"piece {piece['ulid']} is leased to someone else")
        if piece["until"] < time.time():
            raise Error(409, "the lease ran out, claim the piece again")

    @handler("could not sign you up")  # type: ignore[untyped-decorator]
    def register(self, request: Request) -> Response:
        """async fn register(State(app)) -> Result<Json<..>, AppError>."""
        token = secrets.token_hex(32)
        caster = {"id": len(self.casters) + 70001, "centicredits": 10_000}
        self.casters[token] = caster
        self.book.registrations += 1
        return reply(
            {
                "agent_id": f"caster:{caster['id']}",
                "access_token": token,
                "credits": 100,
                "token_type": "Bearer",
            }
        )

    @handler("could not list pieces")  # type: ignore[untyped-decorator]
    def tasks(self, request: Request) -> Response:
        """Json<BTreeMap<Ulid, Piece>>; no token is asked for."""
        given = request.query.get("limit", "16")
        if not re.fullmatch(r"\+?[0-9]{1,9}", given):
            raise Error(400, "`limit` is not a count", "invalid digit found in string")
        free = [
            piece
            for piece in self.pieces.values()
            if not piece["settled"] and piece["until"] < time.time()
        ]
        return reply(
            {
                piece["ulid"]: {
                    "ulid": piece["ulid"],
                    "typeface": piece["face"],
                    "brief": {"line": piece["line"], "case": "upper"},
                    "reward_centicredits": piece["reward"],
                    "lease_minutes": {"min": LEASE[0], "max": LEASE[1]},
                }
                for piece in free[: int(given)]
            }
        )

    @handler("could not lease the piece")  # type: ignore[untyped-decorator]
    def claim(self, request: Request) -> Response:
        """Lease a piece for some minutes."""
        caster = self.caster(request)
        body = parse(request, "piece", "minutes")
        piece = self.piece(body)
        minutes = unsigned(body, "minutes")
        if not LEASE[0] <= minutes <= LEASE[1]:
            raise Error(
                400,
                "the lease has a bad length",
                f"`minutes` is {minutes}, wanted {LEASE[0]} to {LEASE[1]}",
            )
        if piece["settled"]:
            raise Error(409, f"piece {piece['ulid']} is settled already")
        if piece["until"] >= time.time():
            whose = "you" if piece["lessee"] is caster else "someone else"
            raise Error(409, f"piece {piece['ulid']} is leased to {whose}")
        until = time.time() + 60 * minutes
        piece.update(lessee=caster, until=until, revisions=[])
        self.book.claimed(piece["ulid"])
        return reply({"leased": {"piece": piece["ulid"], "expires_unix": int(until)}})

    @handler("could not take in the output")  # type: ignore[untyped-decorator]
    def submit(self, request: Request) -> Response:
        """Keep a revision of the output; nothing is judged here but its form."""
        caster = self.caster(request)
        body = parse(request, "piece", "output")
        piece = self.piece(body)
        if "output" not in body:
            raise Error(400, "`output` was not given")
        output = body["output"]
        if not isinstance(output, dict):
            raise Error(400, f"`output` is {kind(output)}, wanted an object")
        strange(output, "output.", "line")
        line = string(output, "line", "output.")
        if not line.strip():
            raise Error(400, "`output.line` is blank")
        self.leased(piece, caster)
        piece["revisions"].append(line.strip())
        return reply({"piece": piece["ulid"], "revision": len(piece["revisions"])})

    @handler("could not settle the piece")  # type: ignore[untyped-decorator]
    def complete(self, request: Request) -> Response:
        """Judge a revision, and pay for it."""
        caster = self.caster(request)
        body = parse(request, "piece", "revision")
        piece = self.piece(body)
        revision = unsigned(body, "revision")
        self.leased(piece, caster)
        newest = len(piece["revisions"])
        if not newest:
            raise Error(409, "no output was submitted for the piece")
        if not 1 <= revision <= newest:
            raise Error(404, f"there is no revision {revision}, the newest is {newest}")
        if piece["revisions"][revision - 1] != piece["line"].upper():
            raise Error(
                422,
                f"revision {revision} failed its proof",
                "its line is not the line of the brief in upper case",
            )
        piece["settled"] = True
        caster["centicredits"] += piece["reward"]
        self.book.pay(piece["ulid"], piece["reward"] // 100)
        return reply(
            {
                "settled": {"piece": piece["ulid"], "revision": revision},
                "paid_centicredits": piece["reward"],
                "balance_centicredits": caster["centicredits"],
            }
        )
