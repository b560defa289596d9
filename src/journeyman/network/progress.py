"""How far a task has come, read from any answer: its states, its flags, its words.

An answer may be wrapped in anything. What stands nearest to its root counts first, and
what only repeats our own work counts for nothing.
"""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache

from journeyman.domain.tasks import JSON, Given, Progress
from journeyman.network.service_model.reading import (
    Fields,
    Found,
    as_label,
    as_moment,
    spelling,
)

DEPTH = 4
"""How many objects deep an answer is looked into."""
ACCEPTED, TOO_EARLY = 202, 425
_CONTRADICTS = frozenset({400, 415, 422})
"""Refusals of a body: in their prose, "pending" may be a value that is allowed."""

_STATE_NAMES = frozenset(
    {
        *("status", "state", "outcome", "verdict", "decision", "phase", "stage"),
        *("result", "grade", "review"),
    }
)
_ECHO_NAMES = frozenset(
    {
        *("result", "results", "output", "outputs", "evidence", "answer", "content"),
        *("input", "request", "payload"),
    }
)
"""Names that may hold what we sent, where they stand beside an id."""

_Patterns = tuple[tuple[Progress, re.Pattern[str]], ...]


def _patterns(**words: tuple[str, ...]) -> _Patterns:
    """Compile alternatives for each progress, in order."""
    return tuple(
        (Progress[name], re.compile(rf"(?<!not )\b(?:{'|'.join(alternatives)})\b"))
        for name, alternatives in words.items()
    )


_JUDGED = r"(?:rejected|disapproved|incorrect|unsatisfactory|unacceptable)"
_STATES = _patterns(
    REJECTED=(_JUDGED, "wrong", "low quality", "returned to", "sent back"),
    IN_REVIEW=(
        *(
            "pending",
            r"await\w*",
            "waiting",
            "(?:under|in|needs?|for) review",
            "review",
        ),
        *("reviewing", "queued?", "enqueued", "processing", "verifying", "validating"),
        *("grading", "evaluating", "moderation", "unreviewed", "inspection", "qa"),
        *("quality (?:control|check|assurance)", r"audit\w*", r"countersign\w*"),
        *("checking", "proofreading", "in check", "settling", "paying"),
        "(?:second|final|peer) (?:reading|look|check|opinion)",
    ),
    PAID=("paid", "payed", "settled", "credited", "rewarded", "disbursed"),
    DONE=(
        *("completed?", "done", "finished", "approved", "passed", "verified"),
        *("fulfilled", "resolved", "succeeded", "closed"),
    ),
    GONE=("expired", "cancell?ed", "withdrawn", "revoked", "removed", "deleted"),
    CLAIMED=("claimed", "assigned", "reserved", "leased", "in progress", "started"),
)
"""In a state word, the first that matches counts."""

_WORK = r"(?:results?|answers?|outputs?|solutions?|submissions?|work)"
_LOOKED_AT = r"(?:reviewed|approved|verified|graded|processed|checked|evaluated)"
_A_LOOK = (
    r"(?:review|check|checking|reading|validation|verification|verdict|approval"
    r"|inspection|judg(?:e?ment|ing)|proofreading)"
)
_NOT_OVER = (
    r"(?:not (?:yet )?(?:been )?(?:finished|done|over|in|ready|complete|through)"
    r"|in progress|running|still|under way|going on)"
)
_SEEN = r"(?:looked|read|seen|judged|signed)"
_DEALT_WITH = (
    r"(?:submitted|delivered|received|completed?|done|finished|accepted|settled|closed)"
)
_SAID = _patterns(
    CLAIMED=(
        *("not (?:yet )?(?:been )?submitted", f"(?:no|without an?|has no) {_WORK}"),
        *(f"submit (?:an?|the|your) {_WORK} first", "must (?:first )?be submitted"),
        f"{_WORK} (?:is )?missing",
    ),
    REJECTED=(
        *(f"(?:was|been|is|{_WORK}) {_JUDGED}", "incorrect", f"wrong {_WORK}"),
        f"{_WORK} (?:is|was|are|were) (?:wrong|not (?:correct|accepted|good enough))",
        "failed (?:grading|review|quality|verification|the (?:check|review|reading))",
        *("did not pass", "sent (?:it |this |your work )?back"),
        f"(?:cannot|can't|do not) accept (?:this|the|your) {_WORK}",
        r"declined (?:it|this|your|the)",
        f"(?:{_WORK}|it) (?:was|is) declined",
        *("(?:low|poor|insufficient) quality", "quality (?:is )?too low"),
    ),
    IN_REVIEW=(
        *("pending", "await(?:s|ing)", "waiting for", "(?:under|in|for) review"),
        *("reviewing", f"being {_LOOKED_AT}", "queued", "enqueued"),
        # What went wrong while a request was processed (PocketBase) is over.
        r"(?<!while )(?<!when )(?<!error )(?<!during )processing",
        *("too early", "not ready", f"not (?:yet )?(?:been )?{_LOOKED_AT}"),
        *("still (?:in|under) (?:qa|review|check)", "check back"),
        # Who is still working on a task has it.
        r"still (?!missing|lacking|wanting|outstanding|working|holding)\w+ing",
        r"again (?:shortly|soon|then|in (?:\d+|a (?:few|moment|minute|second)))",
        "not yet (?:been )?(?:ready|accepted|settled|confirmed|complete|completed)",
        rf"{_A_LOOK} (?:(?:is|are|has) )?{_NOT_OVER}",
        rf"(?:not|nobody has|no one has) (?:been )?{_SEEN}\b.{{0,30}} yet",
        rf"wait for (?:the|a|our) {_A_LOOK}",
        f"(?:has|have|needs?) to be {_LOOKED_AT} first",
        r"(?:it|(?:the|our) \w+) (?:is|are|has) not \w+ yet",
        "come back (?:later|soon|in )",
        r"can (?:only )?be called with a (?:status|state) of",
        r"not yet(?=\W*$)",
        "needs? (?:a|another) (?:moment|minute|second)",
        "still with (?:the|our) (?!previous|other|first|last)",
    ),
    PAID=("(?:was|were|been|is|are|already) (?:paid|credited)", "credited to"),
    DONE=(
        f"already (?:been )?{_DEALT_WITH}(?! by)",
        f"already has an? (?:accepted )?{_WORK}",
    ),
    GONE=(
        "(?:has|have|was|is|been) (?:expired|cancell?ed|withdrawn|reassigned)",
        "no longer (?:yours|available|assigned|exists)",
    ),
)
"""In a sentence, the first that matches counts."""
_QUOTED = re.compile(r"\"[^\"]{0,200}\"|'[^']{0,200}'|`[^`]{0,200}`")
_DEMANDS = re.compile(
    r"\b(?:must|should|expected|one of|required|invalid|unknown|unexpected|schema)\b"
)
_IS_LOOKED_AT = re.compile(
    r"\b(?:is|are) (?:still |currently )?(?:in review|under review|pending)\b"
)
"""As in "must be accepted, is in_review": what is so, beside what is demanded."""
_BETWEEN_WORDS = re.compile(r"[^a-z0-9]+")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_TRUE = {
    **dict.fromkeys(("paid", "ispaid", "credited"), Progress.PAID),
    **dict.fromkeys(("pending", "ispending", "inreview"), Progress.IN_REVIEW),
    **dict.fromkeys(("underreview", "queued", "requiresreview"), Progress.IN_REVIEW),
    **dict.fromkeys(("completed", "iscompleted", "done", "finished"), Progress.DONE),
    "approved": Progress.DONE,
    **dict.fromkeys(("rejected", "isrejected"), Progress.REJECTED),
}
ENDS = tuple(
    name for name, what in _TRUE.items() if what in {Progress.PAID, Progress.DONE}
)
"""Flags that are false as long as a completion goes on."""
_SINCE = {
    **dict.fromkeys(("paidat", "creditedat", "settledat"), Progress.PAID),
    "rejectedat": Progress.REJECTED,
    **dict.fromkeys(("completedat", "approvedat", "acceptedat"), Progress.DONE),
    "finishedat": Progress.DONE,
}
_FALSE = {
    **dict.fromkeys(("correct", "iscorrect", "passed"), Progress.REJECTED),
    **dict.fromkeys(("approved", "isapproved", "reviewed"), Progress.IN_REVIEW),
}
"""What a flag that is true says, a moment, a flag that is false: the first counts."""
_FLAGS = frozenset({*_TRUE, *_SINCE, *_FALSE})


def layers_of(answer: JSON, own: Collection[JSON] = ()) -> list[Found]:
    """Return the objects of an answer, those nearest to its root first.

    A list of one stands for what is in it: some return the rows changed. Left out is
    what repeats `own`, or probably does.
    """
    found: list[Found] = []
    level = _opened({"": answer}, (), own)
    for _ in range(DEPTH + 1):
        if not level:
            break
        found += level
        level = [
            below for one in level for below in _opened(one.fields, one.words, own)
        ]
    return found


def _opened(
    fields: Mapping[str, JSON], around: tuple[str, ...], own: Collection[JSON]
) -> list[Found]:
    """Return the objects directly in one of these fields."""
    inner: list[Found] = []
    for name, sent in fields.items():
        value = sent[0] if isinstance(sent, list) and len(sent) == 1 else sent
        if not isinstance(value, dict) or value in own or sent in own:
            continue
        if name not in _ECHO_NAMES or not _names_a_thing(fields):
            inner.append(Found((*around, name), Fields(value), value))
    return inner


def _names_a_thing(fields: Mapping[str, JSON]) -> bool:
    return any(
        name.endswith("id") and not isinstance(value, dict | list)
        for name, value in fields.items()
    )


def progress_in(
    layers: Collection[Found], status: int, *, said: str, own: Collection[JSON] = ()
) -> Progress | None:
    """Return how far an answer says that a task has come; None: it does not say.

    `said` is its prose. `own` is what we sent, which it may repeat.
    """
    for layer in layers:
        if shown := _named(layer.fields, own) or _flagged(layer.fields):
            return shown
    if status == ACCEPTED:
        return Progress.IN_REVIEW  # also "accepted" is then only the request
    if any(as_label(value) == "accepted" for one in layers for value in _states(one)):
        return Progress.DONE
    return Progress.IN_REVIEW if status == TOO_EARLY else _said(said, status)


def progress_of_record(record: Fields, status: str) -> Progress | None:
    """Return how far the record of a task says that it is; None: it does not say.

    `status` is its word for that. Nothing else is read as one: a record shows results.
    """
    said, flagged = _progress_of_word(status), _flagged(record)
    # Who has claimed a task may be shown until the end of time.
    return flagged or said if said is Progress.CLAIMED else said or flagged


def states_in(given: Given, action: str) -> dict[str, str]:
    """Return the words for states that the answer to an action gave, by their names."""
    found: dict[str, str] = {}
    for source, value in given.items():
        said_by, *path = source.split(".")
        name = spelling(path[-1]) if path else ""
        if said_by == action and _is_state(name) and (word := as_label(value)):
            found.setdefault(name, word)
    return found


def _states(layer: Found) -> list[JSON]:
    return [value for name, value in layer.fields.items() if _is_state(name)]


def _is_state(name: str) -> bool:
    return name in _STATE_NAMES or name.endswith(("status", "state"))


def _named(seen: Fields, own: Collection[JSON]) -> Progress | None:
    for name, value in seen.items():
        if _is_state(name) and value not in own:
            progress = _progress_of_word(value)
            about_money = "pay" in name and progress is not Progress.PAID
            if progress and not about_money:
                return progress
    return None


def _progress_of_word(value: JSON) -> Progress | None:
    """Return what a state word says, such as `PENDING_REVIEW`; None: nothing known."""
    label = as_label(_HUMPS.sub(" ", value) if isinstance(value, str) else value)
    return _progress_of_label(label) if label else None


@lru_cache(maxsize=1_000)
def _progress_of_label(label: str) -> Progress | None:
    """Search the patterns; a network has few words for its states."""
    words = _BETWEEN_WORDS.sub(" ", label)
    for progress, known in _STATES:
        if known.search(words):
            return progress
    return None


def _flagged(seen: Fields) -> Progress | None:
    if _FLAGS.isdisjoint(seen):
        return None
    for name, progress in _TRUE.items():
        if seen.get(name) is True:
            return progress
    for name, progress in _SINCE.items():
        if name in seen and as_moment(seen[name]) is not None:
            return progress
    for name, progress in _FALSE.items():
        if seen.get(name) is False:
            return progress
    return None


def _said(text: str, status: int) -> Progress | None:
    plain = _QUOTED.sub(" ", text.replace("_", " ")).lower()
    for progress, words in _SAID:
        if words.search(plain):
            demands = status in _CONTRADICTS and _DEMANDS.search(plain)
            is_unclear = demands and not _IS_LOOKED_AT.search(plain)
            is_value = progress is Progress.IN_REVIEW and is_unclear
            return None if is_value else progress
    return None
