"""What an answer means: one pure function over one table (design 5).

| answer                                            | outcome                  |
|---------------------------------------------------|--------------------------|
| no connection was made                            | not sent                 |
| any other transport failure, the total time-out   | unknown                  |
| 2xx, readable, not saying no                      | a yes                    |
| 2xx, unreadable                                   | unknown                  |
| 2xx with a no in its body                         | refused, by the hints    |
| 4xx                                               | refused, by `STATUSES`   |
| 408, 5xx, anything else                           | unknown                  |
| 501                                               | refused: absent          |

Left out of `STATUSES` on purpose:

- 3xx: redirects are not followed, for the token's sake. What stands behind one may
  have acted, so it stays unknown.
- 5xx, also the platforms' own (520 to 530, 546): it may have happened. Only 501
  says that the method exists nowhere (RFC 9110, section 15.6.2).
- 421, 425, 426, 428, 431, 451 and other 4xx: a definite no without a more telling
  name; `Refusal.OTHER`.
- 1xx: the HTTP library consumes them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from types import MappingProxyType
from urllib.parse import urlsplit

from journeyman.domain.outcomes import Failure, NotSent, Refusal, Refused, Unknown
from journeyman.domain.tasks import JSON
from journeyman.network.dialect import Dialect, Hint
from journeyman.network.http import Reply, TransportFailure
from journeyman.network.records import Fields, as_word, spellings
from journeyman.network.wording import (
    codes_in,
    error_texts,
    phrase_of,
    safe_line,
    what_came,
)

MAX_RETRY_AFTER = 3600.0
"""In seconds: a network that asks for more is asked again after an hour."""

_STATE_FIELDS = ("status", "state")

#: None: it is not known whether it happened.
STATUSES: Mapping[int, Refusal | None] = MappingProxyType(
    {
        400: Refusal.INVALID,
        401: Refusal.UNAUTHORIZED,
        402: Refusal.UNAFFORDABLE,
        403: Refusal.UNAUTHORIZED,
        404: Refusal.ABSENT,
        405: Refusal.ABSENT,
        408: None,  # the server gave up on us, perhaps in the middle of its work
        409: Refusal.CONFLICT,
        410: Refusal.ABSENT,
        413: Refusal.INVALID,
        414: Refusal.INVALID,
        415: Refusal.INVALID,
        422: Refusal.INVALID,
        423: Refusal.CONFLICT,
        429: Refusal.THROTTLED,
        501: Refusal.ABSENT,
    },
)


class Expects(Enum):
    """How much of a 2xx body may be a no."""

    #: The answer to an action: flags, errors and states.
    RECEIPT = auto()
    #: Data in an envelope: flags and errors; a `status` in it is somebody's.
    DATA = auto()
    #: A document: nothing in it speaks about the request.
    DOCUMENT = auto()


@dataclass(frozen=True, slots=True)
class Reading:
    """What a classification needs besides the answer."""

    dialect: Dialect
    now: datetime
    """In UTC; for a `Retry-After` that is a date."""
    secrets: tuple[str, ...] = ()
    """Never repeated in a message."""
    expects: Expects = Expects.RECEIPT


def classify(answer: Reply | TransportFailure, reading: Reading) -> Failure | None:
    """Say what an answer means; None is a yes whose body may be read."""
    if isinstance(answer, TransportFailure):
        message = safe_line(answer.message, reading.secrets)
        return Unknown(message) if answer.sent else NotSent(message)
    if is_success(answer.status):
        return _success(answer, reading)
    meaning = meaning_of(answer.status)
    if meaning:
        hint = _hint(answer.body, answer.status, reading.dialect)
        meaning = hint.meaning if hint else meaning
    return _no(answer, meaning, answer.status, reading)


def is_success(status: int) -> bool:
    """Tell whether a status is a 2xx."""
    return 200 <= status < 300  # noqa: PLR2004  # the class of a status is its name


def meaning_of(status: int) -> Refusal | None:
    """Look a status that is no 2xx up in the table; None is unknown."""
    other = Refusal.OTHER if 400 <= status < 500 else None  # noqa: PLR2004  # as above
    return STATUSES.get(status, other)


def retry_after(value: str | None, now: datetime) -> float | None:
    """Read a Retry-After header: seconds or a date (RFC 9110, section 10.2.3).

    Gives seconds from now, at most `MAX_RETRY_AFTER`; None for anything that is
    neither, or that lies in the past.
    """
    if value is None:
        return None
    value = value.strip()
    if re.fullmatch(r"[0-9]{1,300}(?:\.[0-9]{1,300})?", value):
        return min(float(value), MAX_RETRY_AFTER)
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    seconds = (zoned - now).total_seconds()
    return min(seconds, MAX_RETRY_AFTER) if seconds >= 0 else None


def _success(answer: Reply, reading: Reading) -> Failure | None:
    if answer.problem and answer.status not in EMPTY_STATUSES:
        return Unknown(_unreadable(answer, reading), answer.status)
    if reading.expects is Expects.DOCUMENT or not isinstance(answer.body, dict):
        return None
    status = _status_within(answer.body)
    if status is None and not _says_no(answer.body, reading):
        return None
    hint = _hint(answer.body, answer.status, reading.dialect)
    if hint:
        return _no(answer, hint.meaning, answer.status, reading)
    meaning = Refusal.REJECTED if status is None else meaning_of(status)
    return _no(answer, meaning, answer.status, reading)


#: A success that has no body by definition (RFC 9110, section 15.3).
EMPTY_STATUSES = frozenset({204, 205})


def _no(
    answer: Reply,
    meaning: Refusal | None,
    status: int,
    reading: Reading,
) -> Failure:
    wait = retry_after(answer.headers.get("retry-after"), reading.now)
    message = safe_line(_message(answer, reading.dialect), reading.secrets)
    if meaning is None:
        return Unknown(message, status, wait)
    return Refused(meaning, message, status, wait)


def _says_no(body: Mapping[str, JSON], reading: Reading) -> bool:
    """Look for a no in a body: false flags, a state, an error."""
    dialect = reading.dialect
    seen = _with_wrappers(body, dialect)
    flags = [seen.get(name) for name in spellings(dialect.no_flags)]
    if any(flag is False for flag in flags):
        return True
    state = seen.pick(_STATE_FIELDS, as_word)
    if reading.expects is Expects.RECEIPT and state in dialect.no_states:
        return True
    errors = any(seen.get(name) for name in spellings(dialect.no_fields))
    return errors and not any(flag is True for flag in flags)


def _status_within(body: Mapping[str, JSON]) -> int | None:
    """Find an error status that a body repeats, as in `{"statusCode": 404}`."""

    def read(value: JSON) -> int | None:
        is_status = isinstance(value, int) and not isinstance(value, bool)
        return value if is_status and isinstance(value, int) else None

    found = Fields(body).pick(("statuscode", "status", "code"), read)
    is_error = found is not None and 400 <= found < 600  # noqa: PLR2004  # a class
    return found if is_error else None


def _hint(body: JSON, status: int, dialect: Dialect) -> Hint | None:
    """Find the first hint that applies to this status and whose words are there."""
    codes = codes_in(body, spellings(dialect.code_fields))
    if isinstance(body, dict):
        state = _with_wrappers(body, dialect).pick(_STATE_FIELDS, as_word)
        codes |= {state} if state in dialect.no_states else set()
    said = [code.replace("_", " ") for code in codes]
    if not (said and is_success(status)):
        # In a 2xx a code is the answer, and the prose beside it explains.
        said.append(error_texts(body, dialect.message_fields).lower())
    for hint in dialect.hints:
        applies = is_success(status) or status in hint.statuses
        if applies and (
            codes & hint.codes or any(w in s for w in hint.words for s in said)
        ):
            return hint
    return None


def _with_wrappers(body: Mapping[str, JSON], dialect: Dialect) -> Fields:
    outer = Fields(body)
    return outer.under(*outer.objects(spellings(dialect.answer_wrappers)).values())


def _message(answer: Reply, dialect: Dialect) -> str:
    said = error_texts(answer.body, dialect.message_fields)
    if not said and answer.problem and answer.text.strip():
        said = what_came(answer.text, answer.headers.get("content-type", ""))
    if 300 <= answer.status < 400:  # noqa: PLR2004  # the class of a status
        said = _redirect(answer)
    phrase = phrase_of(answer.status)
    return f"{phrase}: {said}" if said else phrase


def _redirect(answer: Reply) -> str:
    """Name a redirect's target without its query, which may hold anything."""
    try:
        target = urlsplit(answer.headers.get("location", ""))
    except ValueError:
        return "a redirect to an address that is none"
    where = f"{target.scheme}://{target.hostname}" if target.hostname else ""
    return (
        f"a redirect to {where}{target.path or '/'}, which is not followed:"
        " is base_url the final address?"
    )


def _unreadable(answer: Reply, reading: Reading) -> str:
    kind = answer.headers.get("content-type", "")
    if not answer.text.strip():
        came = f"{answer.problem} where JSON was expected"
    elif answer.text.lstrip()[0] in "{[":
        came = answer.problem
    else:
        came = f"{what_came(answer.text, kind)}, not JSON: is base_url right?"
    return safe_line(f"{phrase_of(answer.status)} with {came}", reading.secrets)
