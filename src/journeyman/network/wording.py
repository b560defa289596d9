"""What a network said: found in any body, and told in one line."""

import re
from collections.abc import Collection, Mapping
from html import unescape
from http import HTTPStatus
from urllib.parse import unquote

from journeyman.domain.tasks import JSON
from journeyman.domain.text import one_line
from journeyman.network.service_model.naming import word_set, words_of
from journeyman.network.service_model.reading import NAMES, Fields
from journeyman.observability.redaction import hide_bearer_tokens

MAX_MESSAGE_LENGTH = 300
"""In characters."""

_MAX_TEXTS = 20
_MAX_DEPTH = 4
_TITLE = re.compile(r"<(?:title|h1)[^>]{0,200}>([^<]{1,200})<", re.IGNORECASE)
_TAG = re.compile(
    r"<!--|-->|<(?P<ends>/?)(?P<name>[a-z]\w{0,20})?[^<>]*>", re.IGNORECASE
)
"""It never looks past the next `<`, or a hostile page would be read for ever."""
_UNSHOWN = frozenset({"title", "script", "style"})
_INLINE = word_set(
    "a abbr b code em font i kbd samp small span strong tt u var",
)
_MARKUP = re.compile(r"\s*<(?:!doctype|html|head|body|\?xml)\b", re.IGNORECASE)
_QUOTED_LENGTH = 60
MAX_PAGE = 16_384
"""In characters: what a page says of a request stands at its beginning."""
_TELLING_HEADERS = word_set("error errors err fault grpc message problem reason")


def told_in_headers(headers: Mapping[str, str]) -> dict[str, JSON]:
    """Return what headers say of an error, by the last word of their names.

    As in `X-Error-Code`, `X-Error-Message` and `grpc-message`, where there is no body.
    """
    words = {name: words_of(name) for name in headers}
    telling = [name for name in headers if _TELLING_HEADERS & {*words[name]}]
    return {words[name][-1]: unquote(headers[name]) for name in telling}


def safe_line(text: str) -> str:
    """Return what a network said as one line of fair length."""
    # Cut first, past any length that is shown: the next steps are slower.
    shown = hide_bearer_tokens(text[: 4 * MAX_MESSAGE_LENGTH])
    return one_line(shown, MAX_MESSAGE_LENGTH)


def texts_in(body: JSON, names: Collection[str]) -> list[str]:
    """Return the strings under these (reduced) names, also in lists and objects."""
    found: dict[str, None] = {}
    _gather(body, names, found, 0)
    return list(found)[:_MAX_TEXTS]


def codes_in(body: JSON, names: Collection[str]) -> set[str]:
    """Return the error codes under these names, in snake_case: strings of one word."""
    texts = (text for text in texts_in(body, names) if not re.search(r"\s", text))
    return {_snake(text) for text in texts}


def phrase_of(status: int) -> str:
    """Return a status with its name, such as `404 Not Found`."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def what_came(text: str, content_type: str) -> str:
    """Describe a body that is not JSON: an HTML page, or plain text, and its start."""
    kind = content_type.partition(";")[0].strip().lower() or "no content type"
    if not text.strip():
        return "an empty body"
    start = text[:4096]
    if _MARKUP.match(start) or kind == "text/html":
        title = _TITLE.search(start)
        said = f", '{_quoted(unescape(title[1]))}'" if title else ""
        return f"an HTML page ({kind}{said})"
    return f"a text ({kind}, '{_quoted(start)}')"


def page_lines(text: str) -> list[str]:
    """Return what an HTML page shows, line by line."""
    lines, hidden, at, text = [""], "", 0, text[:MAX_PAGE]
    for tag in _TAG.finditer(text):
        lines[-1] += "" if hidden else text[at : tag.start()]
        at, name = tag.end(), (tag["name"] or tag[0]).lower()
        if hidden:
            is_end = name == "-->" if hidden == "<!--" else tag["ends"] == "/"
            hidden = "" if is_end and name in {"-->", hidden} else hidden
        elif name == "<!--" or (name in _UNSHOWN and not tag["ends"]):
            hidden = name
        elif name not in _INLINE:
            lines.append("")
    lines[-1] += "" if hidden else text[at:]
    shown = (" ".join(unescape(one).split()) for one in lines)
    return [line for line in shown if line]


def page_says(text: str) -> str:
    """Return what an HTML page says in one line; of another text nothing."""
    return "; ".join(page_lines(text)) if _MARKUP.match(text[:4096]) else ""


def _gather(
    value: JSON, names: Collection[str], found: dict[str, None], depth: int
) -> None:
    if isinstance(value, str) and depth and value.strip():
        found.setdefault(value.strip())
    if depth >= _MAX_DEPTH or len(found) >= _MAX_TEXTS:
        return
    inner = value[:_MAX_TEXTS] if isinstance(value, list) else []
    if isinstance(value, dict):
        seen = Fields(value)
        inner = [seen[name] for name in names if name in seen]
    for one in inner:
        _gather(one, names, found, depth + 1)


def _snake(code: str) -> str:
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", code)
    return re.sub(r"[^a-z0-9]+", "_", parted.lower()).strip("_")


def _quoted(text: str) -> str:
    return one_line(hide_bearer_tokens(text), _QUOTED_LENGTH)


def error_texts(body: JSON) -> str:
    """Join what an error body says, such as `task_taken: somebody was first`."""
    return ": ".join(texts_in(body, NAMES["message_fields"]))


def refusal_texts(body: JSON) -> str:
    """Join what a refusal says; under names of its own, the sentences beside them."""
    outer = body.values() if isinstance(body, dict) else ()
    sentences = [one for one in outer if isinstance(one, str) and " " in one]
    said = error_texts(body) or ": ".join(sentences[:_MAX_TEXTS])
    return _ROW.sub("", said)


_ROW = re.compile(r"\bFailing row contains \(.*?\)(?=\.?(?:: |$))", re.DOTALL)
"""PostgreSQL shows the whole row that it refuses: our own words, and a state such as
`pending`, which are no verdict."""
