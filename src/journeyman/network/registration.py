"""Finds a new agent and its token, wherever the answer to a registration has them.

The contract names `agent_id` and `access_token`. A registration cannot be repeated, so
where they are not, the whole answer is searched: objects at any depth, lists, headers,
a text that is no JSON, and what the token itself says (RFC 7519). An agent without an
id is named after its token, so that it is called the same whenever the answer is read.
"""

import hashlib
import re
from base64 import urlsafe_b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from urllib.parse import unquote_plus, urlsplit

from journeyman.domain.tasks import JSON, AccessToken, AgentId
from journeyman.network.answers import is_header_safe
from journeyman.network.endpoints import REGISTER
from journeyman.network.json_text import UnreadableJSONError, decoded, parse
from journeyman.network.service_model.meaning import AGENT_NOUNS, UUID_FORM
from journeyman.network.service_model.naming import ID_WORDS, words_of
from journeyman.network.service_model.plain import plain
from journeyman.network.service_model.reading import (
    NAMES,
    Fields,
    WrongShapeError,
    as_amount,
    as_identifier,
    objects_in,
    spelling,
)
from journeyman.network.service_model.request import values_in
from journeyman.observability.redaction import looks_random


@dataclass(frozen=True, slots=True)
class Registration:
    """A new agent (contract section 2, Agent)."""

    agent_id: AgentId
    access_token: AccessToken
    credits: int | None
    """The starting balance; None when the answer does not show it."""
    is_guess: bool = False
    """Where the token stands does not prove that it is one."""
    given: Mapping[str, JSON] = field(default_factory=dict)
    """What else names the agent, by its way: a number, a reference. No secret."""


_MAX_LEAVES = 2_000
_SAYS_NOTHING = frozenset({"", "value", "raw", "string", "plain", "plaintext", "data"})
_NO_TOKEN = re.compile(
    r"refresh|csrf|xsrf|public|publishable|type|expir|ttl|lifetime|url|uri|hint|name"
    r"|cookie|etag|request|trace|idempotency|hash|fingerprint|price|keyid|tokenid"
)
"""Parts of names that stand beside a token and are none."""
_TOKEN_NAMES: Mapping[str, int] = {
    "accesstoken": 9,
    "bearer": 8,
    "authorization": 8,
    "token": 7,
    "jwt": 6,
    "apikey": 5,
    "secret": 4,
    "credential": 4,
    "key": 3,
    "auth": 3,
    "password": 2,
}
"""Parts of names, and how much they say."""
_TELLING = 5
"""A name that says less is not believed of a header."""
_SURE = 7
"""A name that says so much needs no value that looks like a token."""
_JWT_WORTH = 6
_SHORTEST_TOKEN = 8
_PIECE = re.compile(r"[\w.~+/=-]{16,}")
_HEX = re.compile(r"[0-9a-fA-F]{20,}")
_FEWEST_DIGITS = 2
_JWT = re.compile(r"eyJ[\w-]+\.(eyJ[\w-]+)\.[\w-]*")
_SCHEME = re.compile(r"(?:bearer|token)\s+", re.IGNORECASE)
_HOLDER = re.compile(r"agent|account|user|bot|client|worker|profile|member")
"""Parts of the names of whoever has registered."""
_SOMEBODY = re.compile(
    r"(?!(?:order|number|error|server|header|identifier|tier|issuer|provider|pointer"
    r"|parameter|cursor|folder|author|tenant|variant)$)[a-z]{3,}(?:er|or|ist|ant|ian)"
)
"""Other words for whoever works, such as `reviewer`, `operator` and `typist`."""
_HANDLE = re.compile(r"(?=.*\d)[\w.@:#/-]{2,40}")
"""An id that is all that a network says of its holder."""
_AGENTS_ID = re.compile(r"agent(?:id|uuid|uid|guid|pk|ref|slug|handle|number|code)?")
_ID_NAMES = ("id", "uuid", "uid", "guid", "pk", "slug", "handle", "identifier", "sub")
_OTHERS_ID = re.compile(
    r"request|trace|session|correlation|tenant|org|team|project|plan|key|token|batch"
)
"""Parts of the names of ids that stand beside the agent's."""
_WRAPPERS = frozenset(
    {"", "data", "result", "response", "payload", "record", "attributes"}
)
_PAIR = re.compile(r"([A-Za-z][\w -]{0,40}?)\s*[:=]\s*([^\s&;,]+)")
"""In a form or in plain text."""


def read_body(body: bytes) -> JSON:
    """Read a body: as JSON, else as a token alone, or as the pairs of a form."""
    text = decoded(body).strip()
    try:
        return parse(text)
    except UnreadableJSONError:
        if text[:1] in {"<", "{", "["}:
            return None
    pairs: dict[str, JSON] = {k: unquote_plus(v) for k, v in _PAIR.findall(text)}
    return text if _JWT.fullmatch(text) else pairs


def read_registration(answer: JSON, headers: Mapping[str, str]) -> Registration:
    """Read a new agent from the answer to a registration.

    Raises:
        WrongShapeError: there is no token that can be used.
    """
    answer = plain(answer)
    # The objects in which the contract's names stand lie over each other.
    seen = Fields(answer if isinstance(answer, dict) else {})
    seen = seen.opened(NAMES["answer_wrappers"]).opened(NAMES["account_wrappers"])
    leaves = [*islice(_leaves(answer), _MAX_LEAVES), *_of_headers(headers)]
    named = seen.pick(NAMES["token"], as_token)
    token, is_sure = (named, True) if named else _likeliest_token(leaves)
    token = token or _lone_secret(leaves)
    if token is None:
        raise WrongShapeError("a registration without a usable access_token")
    agent_id = seen.pick(NAMES["agent_id"], as_identifier)
    agent_id = agent_id or _likeliest_id([*leaves, *_leaves(_claims(token))], token)
    agent_id = agent_id or _created(headers) or _named_after(token)
    anywhere = Fields(*({leaf.name: leaf.value} for leaf in leaves if leaf.path))
    return Registration(
        AgentId(agent_id),
        AccessToken(token),
        Fields(seen, anywhere).pick(NAMES["starter_credits"], as_amount),
        is_guess=not is_sure,
        given=_given(answer, agent_id, token),
    )


def _given(answer: JSON, agent_id: str, token: str) -> dict[str, JSON]:
    """Return what else names the agent: some actions want another name than its id.

    Nothing that may be a secret, whatever it is called.
    """
    return {
        source: value
        for source, value in values_in(REGISTER.name, answer, _LONGEST_GIVEN).items()
        if not any(part in spelling(source) for part in (*_TOKEN_NAMES, *_ALSO_SECRET))
        if str(value) != token and _names_us(source, value, agent_id)
    }


def _names_us(source: str, value: JSON, agent_id: str) -> bool:
    """Return whether a value names the agent: a `workerNumber`, or "Device/{id}"."""
    words = words_of(source.rpartition(".")[2])
    if str(value) == agent_id:
        return not {*words} <= AGENT_NOUNS | ID_WORDS  # else everybody knows the name
    is_id = not ID_WORDS.isdisjoint(words[-1:])
    is_of_us = agent_id in str(value) and " " not in str(value)
    return is_of_us or (is_id and not looks_random(str(value)))


_LONGEST_GIVEN = 60
_ALSO_SECRET = ("refresh", "pass", "pin", "otp", "session", "cookie", "signature")


def as_token(value: JSON) -> str | None:
    """Return a text that the Authorization header can carry, without its scheme."""
    if not isinstance(value, str):
        return None
    text = _SCHEME.sub("", value.strip(), count=1)
    return text if is_header_safe(text) else None


@dataclass(frozen=True, slots=True)
class _Leaf:
    """One value of an answer."""

    path: tuple[str, ...]
    """The names around it and its own, reduced to what their spellings share."""
    value: JSON
    is_header: bool = False

    @property
    def name(self) -> str:
        """Its own name, or that of the object around it where its own says nothing."""
        telling = [name for name in self.path if name not in _SAYS_NOTHING]
        return telling[-1] if telling else ""


def _leaves(answer: JSON) -> Iterator[_Leaf]:
    """Yield the values of an answer, from the outside to the inside."""
    for one in objects_in({"": answer}):
        if "refresh" in one.body.values():
            continue  # {"type": "refresh", "token": ...} beside the one we want
        for name, held in one.body.items():
            path = (*one.words, spelling(name))
            for value in held if isinstance(held, list) else [held]:
                if not isinstance(value, dict | list):
                    yield _Leaf(path, value)


def _of_headers(headers: Mapping[str, str]) -> Iterator[_Leaf]:
    for name, value in headers.items():
        yield _Leaf((spelling(name),), value, is_header=True)


def _likeliest_token(leaves: list[_Leaf]) -> tuple[str | None, bool]:
    """Return the likeliest token, and whether it is the only one with a sure name."""
    weighed = [(_token_worth(leaf), as_token(leaf.value)) for leaf in leaves]
    worth, token = max(weighed, key=lambda one: one[0], default=(0, None))
    sure = {token for worth, token in weighed if worth >= _SURE}
    return (token if worth else None), len(sure) == 1


def _lone_secret(leaves: list[_Leaf]) -> str | None:
    """Return the only value that looks like a token, whatever its name.

    In another language it may be a `jeton`.
    """
    secrets = {
        token
        for leaf in leaves
        if not leaf.is_header and not _NO_TOKEN.search(leaf.name)
        if (token := as_token(leaf.value))
        and (looks_random(token) or _HEX.fullmatch(token))
        if not UUID_FORM.fullmatch(token)
    }
    return secrets.pop() if len(secrets) == 1 else None


def _token_worth(leaf: _Leaf) -> int:
    """Weigh whether a value is the token; 0 is "no"."""
    token = as_token(leaf.value)
    if token is None or _NO_TOKEN.search(leaf.name):
        return 0
    says = _token_name_worth(leaf.name)
    if leaf.name == "id" and len(leaf.path) > 1:
        # A token that is an object; its own secret, if it has one, says more.
        says = _token_name_worth(leaf.path[-2]) // 2
    if leaf.is_header:
        return says - 1 if says >= _TELLING and len(token) >= _SHORTEST_TOKEN else 0
    if _JWT.fullmatch(token):
        return max(says, _JWT_WORTH)
    is_likely = len(token) >= _SHORTEST_TOKEN if says >= _SURE else _is_opaque(token)
    return says if is_likely else 0


def _is_opaque(token: str) -> bool:
    """Return whether a text is no word of any kind.

    Of random ones few may be missed: an agent was made with each. Of 24 random hex
    digits every twentieth has too many alike to look random by entropy.
    """
    is_mixed = not (token.islower() or token.isupper())
    has_digits = sum(map(str.isdigit, token)) >= _FEWEST_DIGITS
    is_piece = bool(_PIECE.fullmatch(token))
    return looks_random(token) or (is_piece and (has_digits or is_mixed))


def _token_name_worth(name: str) -> int:
    return max((n for part, n in _TOKEN_NAMES.items() if part in name), default=0)


def _likeliest_id(leaves: list[_Leaf], token: str) -> str | None:
    worth: dict[str, int] = {}
    for leaf in leaves:
        name = as_identifier(leaf.value)
        if name is not None and as_token(name) != token:
            worth.setdefault(name, _id_worth(leaf.path, name))
    best = max(worth, key=lambda name: worth[name], default="")
    return best if worth.get(best) else None


def _id_worth(path: tuple[str, ...], value: str) -> int:
    """Weigh whether a value is the agent's id; 0 is "no"."""
    around = [name for name in path[:-1] if name not in _WRAPPERS]
    own = path[-1] if path else ""
    is_holders = bool(around) and _is_holder(around[-1])
    if _AGENTS_ID.fullmatch(own):
        return 5
    if own in _ID_NAMES:
        return 4 if is_holders else 2 * (not around)
    if own.endswith(("id", "uuid", "slug")) and _HOLDER.search(own):
        return 3
    is_holder = _HOLDER.fullmatch(own) or _SOMEBODY.fullmatch(own)
    if is_holder and _HANDLE.fullmatch(value):
        return 2
    is_alone = not around and own.endswith(_ID_NAMES) and not _OTHERS_ID.search(own)
    return int(is_alone or (is_holders and own in {"name", "username"}))


def _is_holder(name: str) -> bool:
    return bool(_HOLDER.search(name) or _SOMEBODY.fullmatch(name))


def _named_after(token: str) -> str:
    """Return a name for an agent of which a network tells none."""
    return f"agent-{hashlib.sha256(token.encode()).hexdigest()[:12]}"


def _claims(token: str) -> JSON:
    """Return what a JSON web token says of its holder."""
    found = _JWT.fullmatch(token)
    if not found:
        return None
    try:
        return parse(decoded(urlsafe_b64decode(found[1] + "=" * (-len(found[1]) % 4))))
    except (ValueError, UnreadableJSONError):
        return None


def _created(headers: Mapping[str, str]) -> str | None:
    """Return the id at the end of the address of what was made (RFC 9110, 10.2.2)."""
    *around, last = urlsplit(headers.get("location", "")).path.split("/")
    is_holders = bool(around) and bool(_HOLDER.search(around[-1].lower()))
    return as_identifier(last) if is_holders else None
