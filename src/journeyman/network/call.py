"""One call, as we make it, and its reply, as it came."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from journeyman.domain.tasks import JSON, AccessToken, IdempotencyKey

CONTENT_TYPE = "Content-Type"
JSON_TYPE = "application/json"
FORM_TYPE = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Arrival:
    """What has arrived of a success."""

    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    """As it came over the wire; perhaps only the beginning of it."""
    is_whole: bool
    """Nothing more comes, and nothing shows that a part was lost on the way."""


Keep = Callable[[Arrival], None]
"""Is given all that has arrived so far, each time that more has come."""


class Expects(Enum):
    """What a 2xx body may hold, and so what in it means a refusal."""

    #: The answer to an action: flags, errors and states.
    RECEIPT = auto()
    #: Data in an envelope: flags and errors; a `status` in it is somebody's.
    DATA = auto()
    #: A document: nothing in it speaks about the request.
    DOCUMENT = auto()


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One request, before it is sent."""

    name: str
    """The endpoint's name, or "document"."""
    method: str
    address: str
    """The path is appended to it."""
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    """The body, encoded; None sends no body."""
    body: dict[str, JSON] | None = None
    """What is encoded in it; None where that is a text."""
    token: AccessToken | None = None
    task_id: str = ""
    """The task that it is about, if any."""
    key: IdempotencyKey | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent besides our own, which win, but for another type of the body."""
    expects: Expects = Expects.RECEIPT
    wants_json: bool = True
    """False leaves the body as text."""
    keep: Keep | None = None
    """Gets a 2xx as it arrives, all so far each time."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer that arrived."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: JSON
    """The parsed body; None also where there is none or it cannot be read."""
    text: str
    problem: str = ""
    """Why the body cannot be read; empty when it could."""
    digest: bytes = b""
    """Of the bytes that came, if it was asked for."""
    is_known: bool = False
    """The bytes are those that the caller knows: nothing of them was read again."""
    rest: tuple["LaterReply", ...] = ()
    """Of a long listing: the portions after this one, each a reply of the same form."""


@dataclass(frozen=True, slots=True)
class LaterReply:
    """A portion of a long answer that nobody has read yet."""

    digest: bytes
    """Of its records, whatever is around them."""
    count: int
    """Of its records."""
    read: Callable[[], Reply]
