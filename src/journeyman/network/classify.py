"""What an answer means: one pure function over one table.

| answer                                            | outcome                  |
|---------------------------------------------------|--------------------------|
| 2xx, readable, not saying no                      | confirmed                |
| 2xx, unreadable                                   | unknown                  |
| 2xx with a no in its body                         | refused, by the hints    |
| 4xx                                               | refused, by `STATUSES`   |
| 408, 5xx, anything else                           | unknown                  |
| 501                                               | refused: absent          |

Left out of `STATUSES` on purpose:

- 3xx: redirects are not followed, for the token's sake. What stands behind one may
  have acted, so it stays unknown; but `as_answered` knows a 303 that says it is done.
- 5xx, also the platforms' own (520 to 530, 546): it may have happened. Only 501
  says that the method exists nowhere (RFC 9110, section 15.6.2).
- 421, 426, 428, 431, 451 and other 4xx: a definite no without a more telling
  name; `Refusal.OTHER`.
- 1xx: the HTTP library consumes them.
"""

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from http import HTTPStatus
from urllib.parse import urljoin, urlsplit

from journeyman.domain.outcomes import Failure, Refusal, Refused, Unknown
from journeyman.domain.tasks import JSON, Progress
from journeyman.network import wording
from journeyman.network.call import Expects, Reply
from journeyman.network.progress import layers_of, progress_in
from journeyman.network.rate_limit.pause import UNAVAILABLE, named_pause, retry_after
from journeyman.network.service_model.naming import walk, word_set, words_of
from journeyman.network.service_model.reading import NAMES, Fields, as_word, spelling
from journeyman.network.service_model.refusals.words import ERROR_CODE, OF_A_VERSION
from journeyman.network.service_model.states import OPEN_WORDS, TAKEN_WORDS
from journeyman.network.service_model.vocabulary import ASSUMED, Hint

_STATE_FIELDS = ("status", "state")

#: None: it is not known whether it happened.
STATUSES: Mapping[int, Refusal | None] = {
    400: Refusal.INVALID,
    401: Refusal.UNAUTHORIZED,
    402: Refusal.UNAFFORDABLE,
    403: Refusal.UNAUTHORIZED,
    404: Refusal.ABSENT,
    405: Refusal.ABSENT,
    408: None,  # the server gave up on us, perhaps in the middle of its work
    409: Refusal.CONFLICT,
    410: Refusal.ABSENT,
    412: Refusal.CONFLICT,  # it has changed since it was read (RFC 9110, 15.5.13)
    413: Refusal.INVALID,
    414: Refusal.INVALID,
    415: Refusal.INVALID,
    422: Refusal.INVALID,
    423: Refusal.CONFLICT,
    425: Refusal.PENDING,
    429: Refusal.THROTTLED,
    501: Refusal.ABSENT,
}


@dataclass(frozen=True, slots=True)
class YesMarks:
    """By which names a network tells that an answer is a yes."""

    flags: frozenset[str] = frozenset()
    """Which are true then, and false in a no."""
    codes: frozenset[str] = frozenset()
    """Under which is a 0, or "ok", and another code or word in a no."""

    def __or__(self, other: "YesMarks") -> "YesMarks":
        return YesMarks(self.flags | other.flags, self.codes | other.codes)


def classify(
    reply: Reply, expects: Expects, now: datetime, marks: YesMarks | None = None
) -> Failure | None:
    """Return why an answer is not a success; None when it is, and may be read.

    `now` is in UTC, for a `Retry-After` that is a date. `marks` are what this network
    answers a yes with, as `yes_marks` finds them.
    """
    if is_success(reply.status):
        failure = _failure_in_success(reply, expects, now)
        may_deny = marks and not failure and expects is Expects.RECEIPT
        is_no = may_deny and marks and _denies(reply, marks)
        return _failure(reply, Refusal.REJECTED, now) if is_no else failure
    if not reply.text.strip() and (told := wording.told_in_headers(reply.headers)):
        reply = replace(reply, body=told)
    meaning = meaning_of(reply.status)
    if meaning:
        hint = _hint(reply.body, reply.status)
        meaning = hint.meaning if hint else meaning
    # To a read, a 403 is about the token (decision 0021).
    is_forbidden = reply.status == HTTPStatus.FORBIDDEN and expects is Expects.RECEIPT
    is_unclear = meaning in {Refusal.INVALID, Refusal.OTHER} or is_forbidden
    if is_unclear and _OF_ANOTHER.search(_prose(reply)):
        meaning = Refusal.CONFLICT
    if (is_unclear or meaning in _OF_THE_MOMENT) and _says_full(reply, meaning):
        meaning = Refusal.FULL
    return _failure(reply, meaning, now)


def as_no(reply: Reply, now: datetime) -> Failure:
    """Return an answer in the 2xx as the no that it is; `now` is in UTC."""
    return _failure(reply, Refusal.REJECTED, now)


_OF_THE_MOMENT = frozenset({Refusal.CONFLICT, Refusal.THROTTLED})


def _says_full(reply: Reply, meaning: Refusal | None) -> bool:
    """Return whether an agent has as many tasks as it may have at once.

    A 429 is about the rate, unless it counts what is held.
    """
    patterns = [_OF_WHAT_IS_HELD]
    if meaning is not Refusal.THROTTLED:
        patterns.append(_OF_OUR_LIMIT)
    if meaning is Refusal.CONFLICT:
        patterns.append(_OF_OUR_COUNT)
    said = _prose(reply)
    return any(pattern.search(said) for pattern in patterns)


_ELSE = r"(?:some(?:body|one)(?: else)?|an(?:other|y other)(?: \w+)?|other hands)"
_OF_ANOTHER = re.compile(
    rf"\b(?:taken|claimed|booked|held|reserved|given|assigned|lent|picked up|out|is)"
    rf" (?:\w+ )?(?:by|to|with|in) {_ELSE}\b"
    rf"|\b{_ELSE} (?:\w+ )?(?:(?:has|had)(?! (?:to|not|yet)\b)"
    r"|is (?!required|needed|missing|expected)|was|got|took|holds|beat|claimed)\b"
    r"|\b(?:is|was|are|already|been) (?:taken|spoken for)\W*(?:$|[.;,])"
    r"|\b(?:task|job|it|this|one|order|gig) is (?:closed|gone|out)\b"
    r"|\b(?:no longer|not) (?:open|free|available)(?: any ?more)?\W*$"
    r"|\btoo late\b",
    re.IGNORECASE,
)
"""What is said of a task that another agent has, whatever the status."""
_WORK = (
    r"(?:open|active|unfinished|running|concurrent|claimed|unsubmitted|outstanding"
    r"|(?:claim|lease|assignment|reservation|booking|task|job|gig|order|item|sheet"
    r"|work)s?)\b"
)
_OF_OUR_LIMIT = re.compile(
    r"\b(?:too many|maximum of|max(?:imum)? number of|limit of|at most) (?:\d+ )?"
    rf"{_WORK}"
    r"|\b(?:can(?:no|')t|can not|may not) (?:have|hold|keep|take|claim) more than \d+"
    rf" (?!items?\b){_WORK}",
    re.IGNORECASE,
)
_OF_WHAT_IS_HELD = re.compile(
    r"\b(?:you|agent|worker|contractor|account|user)\b(?: [\w-]+)? "
    r"(?:already )?(?:have|has|hold|holds)(?: \w+)? \d+ (?:(?:of|/) ?\d+ )?"
    rf"(?:\w+ ){{0,2}}?{_WORK}"
    r"|\b(?:you|(?:agent|worker|contractor|account|user)(?:_?id)?)"
    rf" already (?:have|has|hold|holds) an? (?:\w+ )?{_WORK}"
    r"|\b(?:complete|finish|return|close|release|annotate)"
    r" (?:one|it|them|those|some|(?:an|the)other)"
    rf"(?: of (?:them|those|your (?:\w+ ){{0,2}}?{_WORK}))? first\b",
    re.IGNORECASE,
)
"""What is said of how many tasks an agent has and may have."""
_OF_OUR_COUNT = re.compile(
    r"\byou (?:already )?(?:have|hold) (?:\w+ ){0,2}\d+ ", re.IGNORECASE
)
"""The same, whatever a task is called: only where it sounds like a conflict."""


def _prose(reply: Reply) -> str:
    said = wording.refusal_texts(reply.body)
    if not said and isinstance(reply.body, dict):
        # Of each field, as Ecto's `{"errors": {"state": ["is in_review"]}}`.
        errors = [*map(Fields(reply.body).get, NAMES["no_fields"])]
        told = (w for e in errors for w in walk(e) if isinstance(w[1], str))
        said = "; ".join(" ".join((*way[-1:], str(one))) for way, one in told)
    return (said or reply.text)[:MOST_SAID]


def _denies(reply: Reply, marks: YesMarks) -> bool:
    """Return whether a mark of a yes says no.

    Beside a flag that is true, a false one says something else: that there is no more,
    or that nothing new was made.
    """
    shown = {flag for name, flag in _flags_in(reply.body) if name in marks.flags}
    is_false = shown == {False}
    return is_false or (bool(marks.codes) and _has_no_code(reply.body, marks))


def _has_no_code(body: JSON, marks: YesMarks) -> bool:
    found = [value for name, value in _codes_in(body) if name in marks.codes]
    return any(map(_is_no_code, found))


def only_says_otherwise(body: JSON, marks: YesMarks) -> bool:
    """Return whether an answer is sentences beside a code that no yes has had.

    As `{"status": "sorry", "reason": "We cannot tell which job."}` is where yeses have
    an "ok" there.
    """
    codes = [value for name, value in _codes_in(body) if name in marks.codes]
    members = body.items() if isinstance(body, dict) else ()
    others = [one for name, one in members if spelling(name) not in marks.codes]
    is_prose = bool(others) and all(isinstance(o, str) and " " in o for o in others)
    return is_prose and any(map(_is_unheard, codes))


def _is_unheard(code: str) -> bool:
    """Return whether a code is neither a yes nor a word for how far a task has come."""
    shown = progress_in(layers_of({"status": code}), HTTPStatus.OK, said="")
    is_state = code in OPEN_WORDS | TAKEN_WORDS
    return not (_is_yes_code(code) or shown or is_state or code in _RECEIVED)


_RECEIVED = word_set(
    "received submitted delivered stored saved recorded filed created noted thanks"
)
"""What a yes may say of what was sent, beside the words for states."""


def yes_marks(body: JSON) -> YesMarks:
    """Return what tells that an answer is a yes, beside what it gives."""
    flags = (name for name, flag in _flags_in(body) if flag)
    codes = (name for name, value in _codes_in(body) if _is_yes_code(value))
    return YesMarks(frozenset(flags), frozenset(codes))


def _flags_in(body: JSON) -> Iterator[tuple[str, bool]]:
    """Return the flags of a body, and those of the objects in it by both names."""
    for name, value in body.items() if isinstance(body, dict) else ():
        inside = value.items() if isinstance(value, dict) else ()
        for way, flag in ((name, value), *((f"{name}.{n}", one) for n, one in inside)):
            if isinstance(flag, bool):
                yield way, flag


def _codes_in(body: JSON) -> Iterator[tuple[str, str]]:
    """Return what may be the code of an outcome, by the names that it stands under."""
    for name, value in _members(body):
        is_number = type(value) is int and _is_called(name, _CODE_WORDS)
        if isinstance(value, str) or is_number:
            yield spelling(name), f"{value}".strip().lower()


def _members(body: JSON) -> Iterator[tuple[str, JSON]]:
    """Return the members of a body, and of the objects in it: one may be a header."""
    outer = body if isinstance(body, dict) else {}
    for seen in (outer, *(one for one in outer.values() if isinstance(one, dict))):
        yield from seen.items()


def _is_called(name: str, words: Container[str]) -> bool:
    """Return whether a name ends with one of these words, or with one for an error.

    An error is an `errore` and an `erreur`, too.
    """
    return any(word in words or word.startswith("err") for word in words_of(name)[-1:])


def _is_yes_code(code: str) -> bool:
    return code in _YES_WORDS or (not code.strip("0") and bool(code))


def _is_no_code(code: str) -> bool:
    is_number = bool(_NUMBERED.fullmatch(code)) and not _OF_SUCCESS.fullmatch(code)
    return (is_number and not _is_yes_code(code)) or as_word(code) in ASSUMED.no_states


_YES_WORDS = frozenset({"ok", "success", "successful"})
_NUMBERED = re.compile(r"[a-z]{0,4}[-_]?\d{1,6}")
_OF_SUCCESS = re.compile(r"2\d\d")
"""A status of HTTP that is repeated."""


def is_success(status: int) -> bool:
    """Return whether a status is a 2xx."""
    return 200 <= status < 300  # noqa: PLR2004  # the class of a status is its name


def meaning_of(status: int) -> Refusal | None:
    """Look up a status other than 2xx in the table; None is unknown."""
    other = Refusal.OTHER if 400 <= status < 500 else None  # noqa: PLR2004  # as above
    return STATUSES.get(status, other)


#: A success that has no body by definition, and one that needs none: no front page
#: answers so (RFC 9110, section 15.3).
_NO_CONTENT = 204
_EMPTY_STATUSES = frozenset({_NO_CONTENT, 205})
_MAYBE_EMPTY_STATUSES = frozenset({201, 202})
_SEE_OTHER = 303
_ASKS_TO_SIGN_IN = re.compile(r"log-?in|sign-?in|auth|sso|session|error", re.IGNORECASE)


def is_empty_yes(reply: Reply) -> bool:
    """Return whether a success says by its status alone what was done."""
    is_blank = not reply.text.strip()
    return reply.status in _EMPTY_STATUSES or (
        is_blank and reply.status in _MAYBE_EMPTY_STATUSES
    )


def as_answered(reply: Reply, address: str, task_id: str = "") -> Reply:
    """Return a 303 to another place of the same service as the empty yes that it is.

    It says that what was posted is done, and where that can be looked at (RFC 9110,
    section 15.4.4). One to a place for signing in says something else. A text that is
    the task's id and nothing else, as Conductor answers with, comes from nobody but the
    service, and says no more than that.
    """
    if reply.problem and task_id and reply.text.strip() == task_id:
        return Reply(reply.status, reply.headers, {}, "")
    if reply.status != _SEE_OTHER:
        return reply
    try:
        target = urlsplit(urljoin(address, reply.headers.get("location", "")))
    except ValueError:
        return reply
    is_own = (target.scheme, target.netloc) == urlsplit(address)[:2]
    if not is_own or _ASKS_TO_SIGN_IN.search(target.path) or target.path in {"", "/"}:
        return reply
    return Reply(_NO_CONTENT, reply.headers, None, "")


def _failure_in_success(
    reply: Reply, expects: Expects, now: datetime
) -> Failure | None:
    """Find the failure that a 2xx holds: an unreadable body, or one that says no."""
    if reply.problem and not is_empty_yes(reply):
        blank = is_blank(reply)
        return Unknown(_unreadable(reply), reply.status, is_blank_yes=blank)
    if expects is Expects.DOCUMENT or not isinstance(reply.body, dict):
        return None
    outer = Fields(reply.body)
    status = _error_status(outer)
    if status is None:
        no = _that_says_no(reply.body, outer, expects)
        if no is None:
            return None
        reply = replace(reply, body=no)
    meaning = Refusal.REJECTED if status is None else meaning_of(status)
    hint = _hint(reply.body, reply.status)
    meaning = hint.meaning if hint else meaning
    if meaning is Refusal.REJECTED and _OF_ANOTHER.search(_prose(reply)):
        meaning = Refusal.CONFLICT
    is_open = meaning is Refusal.REJECTED or meaning in _OF_THE_MOMENT
    if is_open and _says_full(reply, meaning):
        meaning = Refusal.FULL
    return _failure(reply, meaning, now)


def _failure(reply: Reply, meaning: Refusal | None, now: datetime) -> Failure:
    wait = retry_after(reply.headers.get("retry-after"), now)
    message = wording.safe_line(_message(reply))
    if wait is None and (meaning is Refusal.THROTTLED or reply.status == UNAVAILABLE):
        wait = named_pause(reply.headers, reply.body, message, now)
    elif wait is None and meaning in _NAME_A_TIME:
        # What a rate limiter puts into the head of every answer asks for nothing, and
        # in prose "for 30 minutes" may be how long a lease was.
        wait = named_pause({}, reply.body, "", now)
    if meaning is None:
        is_of_service = reply.status not in _OF_A_PROXY
        answer = _said(reply) if is_of_service else None
        return Unknown(message, reply.status, wait, answer=answer)
    progress = progress_in(layers_of(reply.body), reply.status, said=_prose(reply))
    if meaning is Refusal.CONFLICT and progress is Progress.REJECTED:
        # An incorrect version is that of what was read, and no verdict.
        progress = None if OF_A_VERSION.search(message) else progress
    if meaning in _RETOLD and progress in RETELLS:
        meaning = RETELLS[progress]
    is_accepted = reply.status == UNSUPPORTED_MEDIA_TYPE
    accepts = tuple(_accepted(reply.headers)) if is_accepted else ()
    return Refused(
        meaning, message, reply.status, wait, progress, _said(reply), accepts
    )


def _said(reply: Reply) -> JSON:
    """Return what an answer says: its JSON, the lines of a page, or its text."""
    if reply.body is not None:
        return reply.body
    if reply.text.lstrip()[:1] == "<":
        return list(wording.page_lines(reply.text))
    return reply.text or None


UNSUPPORTED_MEDIA_TYPE = 415
_ACCEPTED = ("accept", "accept-post")
"""Headers in which a 415 names what it would take (RFC 9110, section 15.5.16)."""


def _accepted(headers: Mapping[str, str]) -> Iterator[str]:
    for name in _ACCEPTED:
        for kind in headers.get(name, "").lower().split(","):
            yield from filter(None, [kind.partition(";")[0].strip()])


_OF_A_PROXY = frozenset({502, 503, 504, *range(520, 531)})
"""What a proxy says that the service may have done: also Cloudflare's own. Others, as
the 555 of Oracle's, may tell what a body lacks."""
_NAME_A_TIME = frozenset({Refusal.CONFLICT, Refusal.OTHER})
"""Refusals that may say in a field when to ask again."""
MOST_SAID = 1_000
"""In characters: of a refusal's words, so many are looked at."""
_RETOLD = frozenset({Refusal.INVALID, Refusal.CONFLICT, Refusal.OTHER})
"""Meanings that words about the task's progress outweigh."""
RETELLS: Mapping[Progress | None, Refusal] = {
    Progress.IN_REVIEW: Refusal.PENDING,
    Progress.REJECTED: Refusal.REJECTED,
    Progress.CLAIMED: Refusal.CONFLICT,
}


def _that_says_no(body: dict[str, JSON], outer: Fields, expects: Expects) -> JSON:
    """Return what of a body says no; None where nothing does.

    The answer to an action may be wrapped in anything, as a GraphQL payload is. There
    a no is a flag or errors: a state may be that of a record.
    """
    if _says_no(outer, expects) or _has_error_code(body):
        return body
    if not any(isinstance(one, dict | list) for one in body.values()):
        return None
    is_yes = outer.says(NAMES["no_flags"], flag=True)
    layers = [] if is_yes or expects is not Expects.RECEIPT else layers_of(body)
    if any(_is_of_a_no(one.body) for one in layers):
        return body
    failed = next((one.body for one in layers[1:] if _has_failed(one.fields)), None)
    # A header may only say that it failed, and what is beside it why.
    is_told = failed and (
        wording.error_texts(failed)
        or any(isinstance(one, dict | list) for one in failed.values())
    )
    return failed if is_told or not failed else body


def _has_error_code(body: JSON) -> bool:
    """Return whether a body, or a header in it, has the code of an error: `E014`."""
    return any(
        isinstance(value, str)
        and bool(ERROR_CODE.fullmatch(value))
        and _is_called(name, _ERROR_WORDS)
        for name, value in _members(body)
    )


_ERROR_WORDS = word_set("cd code codes kod error err errno rc ret status")
_CODE_WORDS = _ERROR_WORDS | {"result", "outcome"}
"""Under these there may also be the work itself, such as "E014" in capitals."""


def _has_failed(seen: Fields) -> bool:
    """Return whether the answer to an action names errors, or says that it failed."""
    is_yes = seen.says(NAMES["no_flags"], flag=True)
    errors = (seen.get(name) for name in NAMES["no_fields"])
    has_errors = any(isinstance(one, list | dict) and one for one in errors)
    state = seen.pick(("statuscode", *_STATE_FIELDS), as_word)
    is_explained = any("fault" in n or "error" in n or "message" in n for n in seen)
    has_failed = has_errors or (is_explained and state in _FAILED_STATES)
    # A payment that has not succeeded says nothing of the action that it is for.
    is_false = seen.says(("ok", "success", "successful"), flag=False)
    is_false = is_false and _OF_A_PAYMENT.isdisjoint(seen)
    return is_false or (has_failed and not is_yes)


def _is_of_a_no(layer: Mapping[str, JSON]) -> bool:
    """Return whether an answer says that it is a no: `{"type": "order.declined"}`.

    A record with an id has a type as well, such as a task that is about a "fault"; but
    an event, which has a name in parts, may have an id.
    """
    is_record = any(words_of(name)[-1:] == ("id",) for name in layer)
    return any(
        words_of(name)[-1:] == ("type",)
        and isinstance(value, str)
        and not _NOES.isdisjoint(words_of(value)[-1:])
        and ("." in value or not is_record)
        for name, value in layer.items()
    )


_NOES = word_set("declined refused denied rejected fault error failure failed")
_OF_A_PAYMENT = frozenset({"amount", "currency"})


_FAILED_STATES = frozenset({"error", "failure", "fault"})
"""States that are of a request, and of no record."""


def _says_no(outer: Fields, expects: Expects) -> bool:
    """Find a refusal in a body: false flags, a state, an error."""
    seen = outer.opened(NAMES["answer_wrappers"])
    if seen.says(NAMES["no_flags"], flag=False, is_loose=True):
        return True
    state = seen.pick(_STATE_FIELDS, as_word)
    if expects is Expects.RECEIPT and _is_no_state(state, seen):
        return True
    has_error = any(map(seen.get, NAMES["no_fields"]))
    return has_error and not seen.says(NAMES["no_flags"], flag=True)


def _is_no_state(state: str | None, seen: Fields) -> bool:
    """Return whether a state says no: "taken" does, unless of what it is beside.

    `{"ticket": 812, "state": "taken"}` shows the record that we have just taken.
    """
    if state != "taken":
        return state in ASSUMED.no_states
    return seen.keys() <= {
        *(*_STATE_FIELDS, *NAMES["message_fields"], *NAMES["code_fields"])
    }


_STATUS_NAMES = ("statuscode", "status", "code", "errcode", "errno", "retcode")
_SHORTEST_CODE = 1_000
"""A service's own codes often begin with the status that they mean, as 40001."""


def _error_status(seen: Fields) -> int | None:
    """Find an error status that a body repeats, as in `{"statusCode": 404}`."""
    for name in _STATUS_NAMES:
        value = seen.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            value = int(str(value)[:3]) if value >= _SHORTEST_CODE else value
            is_error = 400 <= value < 600  # noqa: PLR2004  # a class of statuses
            return value if is_error else None
    return None


def _hint(body: JSON, status: int) -> Hint | None:
    """Find the first hint that applies to this status and whose words are there."""
    codes = wording.codes_in(body, NAMES["code_fields"])
    if isinstance(body, dict):
        seen = Fields(body).opened(NAMES["answer_wrappers"])
        state = seen.pick(_STATE_FIELDS, as_word)
        codes |= {state} if state and _is_no_state(state, seen) else set()
    said = [code.replace("_", " ") for code in codes]
    if not (said and is_success(status)):
        # In a 2xx a code is the answer, and the prose beside it explains.
        said.append(wording.refusal_texts(body).lower())
    for hint in ASSUMED.hints:
        applies = is_success(status) or status in hint.statuses
        if applies and (
            codes & hint.codes or any(w in s for w in hint.words for s in said)
        ):
            return hint
    return None


def _message(reply: Reply) -> str:
    said = wording.error_texts(reply.body)
    if not said and reply.problem and reply.text.strip():
        came = wording.what_came(reply.text, reply.headers.get("content-type", ""))
        is_ours = reply.status in range(400, 500)  # what was wrong with the request
        below = wording.page_says(reply.text) if is_ours else ""
        said = ": ".join(filter(None, (came, below)))
    elif not said and reply.body:
        said = reply.text  # in names of its own, and still its words
    if 300 <= reply.status < 400:  # noqa: PLR2004  # the class of a status
        said = _redirect(reply)
    phrase = wording.phrase_of(reply.status)
    return f"{phrase}: {said}" if said else phrase


def _redirect(reply: Reply) -> str:
    """Return a redirect's target without its query, which may hold anything."""
    try:
        target = urlsplit(reply.headers.get("location", ""))
    except ValueError:
        return "a redirect to an invalid address"
    where = f"{target.scheme}://{target.hostname}" if target.hostname else ""
    return (
        f"a redirect to {where}{target.path or '/'}, which is not followed:"
        " is base_url the final address?"
    )


def is_blank(reply: Reply) -> bool:
    """Return whether a body is empty or one short line: a page or broken JSON is not.

    A page may come from anything that answers at this address.
    """
    text = reply.text.strip()
    return len(text) <= LONGEST_LINE and not re.search(r"[<{\[\n]", text)


LONGEST_LINE = 200
"""In characters."""


def _unreadable(reply: Reply) -> str:
    kind = reply.headers.get("content-type", "")
    if not reply.text.strip():
        came = f"{reply.problem} where JSON was expected"
    elif reply.text.lstrip()[0] in "{[":
        came = reply.problem
    else:
        came = f"{wording.what_came(reply.text, kind)}, not JSON: is base_url right?"
    return wording.safe_line(f"{wording.phrase_of(reply.status)} with {came}")
