"""Which of our values a name means, as a cost: 0 is certain, and 9 a contradiction.

Below 1 the words of the name say it; up to 3 they leave room for another value; 5 is
what is left over when nothing else fits. Only the order of costs matters.
"""

import re
from collections.abc import Collection, Mapping, Sequence

from journeyman.domain.tasks import JSON
from journeyman.network.service_model.naming import (
    FIRST,
    ID_WORDS,
    OTHERS_WORDS,
    Path,
    in_order,
    singular,
    type_of,
    word_set,
    words_of,
)
from journeyman.network.service_model.request import HEADER, QUERY, RECORD, converted

TASK_NOUNS = word_set(
    "task job work item gig order quest mission bounty listing ticket todo "
    "request offer activity project record resource entity"
)
GENERIC_NOUNS = word_set("item record resource entity request activity offer")
"""Of them, those that lists of anything have."""
COMMON_NOUNS = ("job", "work", "item", "order", "request")
AGENT_NOUNS = word_set(
    "agent worker user member bot runner claimant assignee assignees executor "
    "performer contractor account actor by claimer claimed assigned owner submitter "
    "freelancer provider solver operator participant who helper volunteer artisan "
    "craftsman technician employee agente agentes"
)
RESULT_WORDS = in_order(
    "result output answer response solution deliverable content text body submission "
    "payload value work artifact data outcome completion reply message"
)
"""The likeliest first."""
EVIDENCE_WORDS = word_set(
    "evidence proof notes note metadata meta details comment comments "
    "explanation summary log"
)
_FOR_PEOPLE = EVIDENCE_WORDS | word_set("message reason motivation remark remarks")
"""Names of what is said in words."""
_KEY_WORDS = word_set(
    "idempotency idempotent nonce dedupe dedup correlation transaction trace"
)
ENVELOPES = word_set(
    "data input payload body params parameters variables attributes request "
    "args arguments fields values object json content"
)
NOUNS: Mapping[str, frozenset[str]] = {
    "claim": word_set(
        "claim claims assignment assignments lease reservation booking acceptance "
        "assign accept contract hold lock"
    ),
    "submit": word_set(
        "submission submissions submit result results delivery deliverable answer "
        "solution response completion attempt work"
    ),
    "complete": word_set(
        "completion completions complete completed finish done closure"
    ),
    "post_task": word_set("task tasks post job listing posting order"),
}
"""What networks call what an action makes."""
VERBS: Mapping[str, frozenset[str]] = {
    "claim": word_set("claim accept assign reserve lease"),
    "submit": word_set("submit deliver"),
    "complete": word_set("complete finish close settle resolve"),
    "post_task": word_set("post publish"),
}
"""What networks call the actions, where one field tells which is meant."""
MADE: Mapping[str, str] = {
    "claim": "claim",
    "submit": "submission",
    "complete": "completion",
    "post_task": "task",
}
"""What most networks call it; JSON:API has the plural as its `type`."""
POST_WORDS: Mapping[str, tuple[str, ...]] = {
    "title": in_order("title name headline subject label summary"),
    "description": in_order(
        "description details instructions prompt body text content desc brief spec"
    ),
    "reward": in_order("reward credits bounty price budget amount payout pay fee cost"),
    "kind": in_order("kind type category group"),
    "tags": in_order("tags labels skills keywords topics"),
    "input": in_order("input payload data params attachments"),
}
"""The likeliest first."""
GENERIC = ID_WORDS | {"_id"}
UUID_FORM = re.compile(r"[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)")
_IRI = re.compile(r"(?:https?:/)?/\S+")
_DURATION = re.compile(r"\d+(?:\.\d+)?s|PT?[\dDHMS.]+|\d\d:\d\d(?::\d\d)?")
_FORMS = {"uuid": UUID_FORM, "datetime": _MOMENT, "iri": _IRI, "duration": _DURATION}
"""What texts are called that are written in some form."""

TOO_DEAR = 9.0
"""A choice of this cost is a contradiction, not an idea."""
FAR_FETCHED = 7.5
"""What costs so much is not tried."""
FITS = 0.75
"""What costs less may be sent where a name is known and not required."""
ELIMINATED = 5.0
"""For a name that says nothing of the value that is left over."""


def is_version(name: str) -> bool:
    """Return whether a name is that of what changes with each change of a record."""
    return not _VERSIONS.isdisjoint(words_of(name)[-1:])


def is_of_one_value(path: Path, action: str, sources: Collection[str]) -> bool:
    """Return whether an object is one value's, rather than around everything.

    `sources` are the values that stand in it. "" is an action for all of them.
    """
    if {*sources} >= _IDS:
        return False  # whatever it is called, as in `{"ticket": {"id", "owner"}}`
    nouns = (TASK_NOUNS | AGENT_NOUNS) - NOUNS.get(action, frozenset())
    if {*sources} == {"result"}:
        nouns |= {*RESULT_WORDS} - ENVELOPES - {"submission"}
    return any({*words_of(name)} & nouns for name in path)


def around_all(path: Path, action: str, sources: Collection[str]) -> Path:
    """Return the objects of a way that are around everything: before one value's."""
    others = (
        i for i in range(len(path)) if is_of_one_value(path[i : i + 1], action, sources)
    )
    return path[: next(others, len(path))]


_STEPS = NOUNS["claim"] | NOUNS["submit"] | NOUNS["complete"]
_IDS = frozenset({"task_id", "agent_id"})

_VERSIONS = frozenset({"rev", "revision", "version", "etag", "generation"})
_OF_A_REQUEST = ("request", "id")


def affinity(  # noqa: C901, PLR0911, PLR0912  # one line for each kind of value
    action: str, path: Path, source: str, noun: str
) -> float:
    """Return what it costs to believe that a name means a value: 0 is certain.

    `noun` is what the network calls a task.
    """
    path = tuple(map(_plain_name, filter(FIRST.__ne__, path))) or path
    words = words_of(path[-1])
    if words[-1:] == ("ids",):
        words = (*words[:-1], "id")
    is_result = bool({*words} & {*RESULT_WORDS}) and words[-1:] != ("id",)
    if not words or (action == "submit" and source in _IDS and is_result):
        return TOO_DEAR  # work that is no work would be accepted for it
    if source in POST_WORDS and action == "post_task":
        return _post_affinity(words, source)
    match source:
        case "task_id":
            cost = _id_affinity(action, path, words, TASK_NOUNS | {noun}, AGENT_NOUNS)
            is_of_trade = cost >= ELIMINATED and _is_of_a_trade(words)
            return cost + 2.5 * _is_of_our_request(words, noun) + 0.5 * is_of_trade
        case "task_tail":
            return affinity(action, path, "task_id", noun) + 0.8
        case "agent_id":
            # Rather the task than the agent, where only "an id" is asked for.
            others = TASK_NOUNS | {noun}
            cost = _id_affinity(action, path, words, AGENT_NOUNS, others)
            is_bare = len(words) == 1 and words[0] in ID_WORDS
            if action != "submit" and _is_of_a_trade(words):
                # Such as a `carrier`, and as a `technician_id`.
                return min(cost + 0.5, ELIMINATED + 0.1)
            return cost if cost <= 1 and not is_bare else cost + 1.2
        case "result":
            return _result_affinity(path, words)
        case "evidence":
            return 0.5 if EVIDENCE_WORDS & {*words} else TOO_DEAR - 1
        case "now" | "ahead":
            return _affinity_of_moment(words, source)
        case "length" | "word_count" | "line_count":
            return 0.6 if _asks_how_many(words, source) else TOO_DEAR - 1
        case "key":
            is_own = words in (_OF_A_REQUEST, ("client", "token"))
            is_own |= words[-2:] == ("request", "token")
            is_key = is_own or _KEY_WORDS & {*words}
            # Or the identifier of what is made, where its maker has to name it.
            known = TASK_NOUNS.union(AGENT_NOUNS, *NOUNS.values(), [noun])
            is_made = words[-1] in ID_WORDS and {*words[:-1]} - known
            return 0.6 if is_key else 4.15 if is_made else TOO_DEAR - 1
        case _:
            return _listed_affinity(path, words, source)


def _listed_affinity(path: Path, words: tuple[str, ...], source: str) -> float:
    """Judge a value that an answer or the record gave, by the name that is wanted."""
    is_bare = len(words) == 1 and words[0] in ID_WORDS
    if is_bare and words != ("id",) and source.partition(".")[2] == path[-1]:
        return 0.5  # an answer gave it under this name
    above = words_of(path[-2]) if is_bare and len(path) > 1 else ()
    # In an `assignedTo.sys.id`, a `sys` tells less than what is around it.
    around = {word for name in path[:-2] for word in words_of(name)}
    is_ours = bool(above and around & AGENT_NOUNS) and AGENT_NOUNS.isdisjoint(above)
    # And the `sys.id` of an `assignedTo` is not that of the whole.
    way = tuple(source.split(".")[1:])
    is_inside = is_bare and len(path) > 1 and way[-len(path) :] == path != way
    doubts = 2.0 * is_ours + 1.5 * is_inside
    return _given_affinity((*above, *words), source) + doubts


_MOMENTS = word_set("at on time timestamp date datetime")
"""Names that end so ask for a time."""
_AHEAD = word_set("due deadline eta until expires expiry promised")
"""Words for a time that is still to come, such as when the work will be done."""
_EXPECTED = word_set(
    "schedule scheduled expected estimated planned delivery finish completion ready "
    "done deliver complete return submit respond answer"
)
"""The same beside a word for a time, or before "by"."""


def _affinity_of_moment(words: Sequence[str], source: str) -> float:
    """Return the cost of `now`, or of a time `ahead`: `due_date`, `promised_by`."""
    is_moment = words[-1] in _MOMENTS
    is_expected = not _EXPECTED.isdisjoint(words) and (is_moment or words[-1] == "by")
    if source == "ahead" and (is_expected or not _AHEAD.isdisjoint(words)):
        return 0.5
    # What is no name for it may have to be later than now all the same.
    return TOO_DEAR - 1 if not is_moment else 0.6 if source == "now" else 2.3


_OF_LETTERS = word_set("letters characters chars length letter character char")
"""Of names that ask for the number of characters of what is handed in."""


_NUMBER_OF = word_set("count counts number num total n no")


def _asks_how_many(words: Sequence[str], source: str) -> bool:
    """Return whether a name asks for a number of characters, words or lines."""
    if source == "length":
        is_end = words[-1] in _OF_LETTERS | _NUMBER_OF
        return is_end and not _OF_LETTERS.isdisjoint(words)
    is_of_these = source[:4] in {one.removesuffix("s") for one in words}
    return is_of_these and not _NUMBER_OF.isdisjoint(words)


def _is_of_a_trade(words: Sequence[str]) -> bool:
    """Return whether a name may be for who does the work, as far as its end tells."""
    *_, word = [one for one in words if one not in ID_WORDS] or [""]
    is_trade = word.endswith(("er", "or", "ian", "ialist"))
    is_long = len(word) > len("her")  # else an "or" or a "per" between others
    return is_trade and is_long and word not in TASK_NOUNS | AGENT_NOUNS


def _is_of_our_request(words: tuple[str, ...], noun: str) -> bool:
    """Return whether an id is that of our request, since a task is called otherwise."""
    return words == _OF_A_REQUEST and noun not in {"", "request"}


def _plain_name(name: str) -> str:
    """Return a name without what only says where it stands, as a header."""
    plain = name.removeprefix(QUERY).removeprefix(HEADER).rstrip(":")
    # SQL has `p_` before the parameters of a function.
    plain = plain.removeprefix("X-").removeprefix("x-").removeprefix("p_")
    # RFC 9110, 13.1.1: it takes an entity tag.
    return "etag" if plain.lower() == "if-match" else _with_id_last(plain)


def _with_id_last(name: str) -> str:
    """Return `id_tarea` as `tarea_id`: Romance languages name the id first."""
    first, *others = words_of(name) or ("",)
    is_first = first == "id" and others and others[-1] not in ID_WORDS
    return "_".join((*others, first)) if is_first else name


def _post_affinity(words: tuple[str, ...], source: str) -> float:
    known = POST_WORDS[source]
    hits = [known.index(word) for word in words if word in known]
    return 0.1 * min(hits) + 0.2 * (len(words) - len(hits)) if hits else ELIMINATED + 1


def _id_affinity(
    action: str,
    path: Path,
    words: tuple[str, ...],
    own: frozenset[str],
    others: frozenset[str],
) -> float:
    is_id = words[-1] in ID_WORDS
    noun = {*(words[:-1] if is_id else words)}
    around = ({*words_of(name)} for name in reversed(path[:-1]))
    above = next((one for one in around if one & (own | others)), set[str]())
    is_others = bool(above & others) and not above & own
    if not noun:
        return TOO_DEAR - 1 if is_others else 0.0 if above & own else 1.0
    if noun & own:
        head = words[-2] if is_id else words[-1]  # a `task_claim` is made of a task
        is_made = len(noun) > 1 and head in _STEPS - own
        return 3.5 * is_made + 1.0 * (not is_id)
    is_no_id = not is_id and (is_others or noun & _FOR_PEOPLE)
    if noun & others or is_no_id:
        return TOO_DEAR - 1  # such as the `application` that a task is `assignedTo`
    earlier = {
        word for verb, known in NOUNS.items() for word in known if verb != action
    }
    is_made = noun <= NOUNS[action]  # a `lease` that is still to be described
    unknown = 3.0 if is_id else ELIMINATED + 1 + is_made
    if above & AGENT_NOUNS and not is_others and not is_id:
        return ELIMINATED - 0.5
    return 4.0 if noun & earlier else unknown


def _result_affinity(path: Path, words: tuple[str, ...]) -> float:
    if words[-1] in ID_WORDS and len(words) > 1:
        return TOO_DEAR - 1
    known = {*RESULT_WORDS}
    words = tuple(w[:-1] if w[-1:] == "s" and w[:-1] in known else w for w in words)
    hits = [RESULT_WORDS.index(word) for word in words if word in known]
    if not hits:
        return ELIMINATED
    is_inside = len(path) > 1 and {*words_of(path[-2])} & {*RESULT_WORDS}
    # A `result_type` says something of the result.
    is_aspect = words[-1] not in RESULT_WORDS and len(words[-1]) > 1
    cost = 0.0 if is_inside else 0.1 * min(hits) + 0.1 * (len(words) - 1)
    return cost + 3.5 * is_aspect


def _given_affinity(words: tuple[str, ...], source: str) -> float:
    """Judge a value that an answer or the record gave, by the way to it."""
    verb, *way = source.split(".")
    leaf = _leaf_words(way)
    if not leaf or not _WORK.isdisjoint(way[:-1]):
        return TOO_DEAR  # what there is to work on says nothing of the task
    above = _one_of(way)
    is_id, is_record = leaf[-1] in ID_WORDS, f"{verb}." == RECORD
    paid = {leaf[-1], *above[-1:]} if is_record and words[-1] in PRICES else set()
    is_price = not paid.isdisjoint(PRICES)
    if is_record and (is_price or leaf[-1] in RESULT_WORDS):
        # Else the task's own text, which is no result of it.
        is_other = words[-1] not in paid or words[-1] in TASK_NOUNS
        return 0.8 + 0.4 * is_other if is_price else TOO_DEAR
    is_same = "".join(words) in {"".join(leaf), "".join((*above, *leaf))}
    if is_same and (len(leaf) > 1 or not is_id or above or leaf[0] in _OF_A_STEP):
        # Of two that fit, the answer's own word; but our ids have names of their own.
        is_ours = is_id and {*leaf, *above} & (TASK_NOUNS | AGENT_NOUNS)
        return 0.5 if is_record or is_ours else -0.5
    is_link = leaf in _LINKS and words[-1] not in ID_WORDS
    if is_id or is_link:
        ours = _given_id_affinity(words, verb, way, leaf)
        return TOO_DEAR if is_record else ours
    # An answer that is one value, with a word around it, names what was made.
    is_lone = {*way} <= _LONE and words[-1] in ID_WORDS
    is_made = is_lone and bool({*words} & NOUNS.get(verb, frozenset()))
    is_end = leaf[-1] == words[-1] and len(leaf[-1]) >= _TELLING_LETTERS
    # A nonce that was given is likelier meant by `step_nonce` than a key of ours.
    is_whole = len(leaf) == 1 and not is_record
    cost = 0.55 if is_whole else 0.8 if is_record or is_made else 1.5
    return cost if is_end or is_made else TOO_DEAR


def _leaf_words(way: Sequence[str]) -> tuple[str, ...]:
    """Return the words for a value, such as (known, format) of known_formats.0."""
    if way[1:] and way[-1].isdigit():
        *words, last = words_of(way[-2]) or ("",)
        if words and last in _CHOICES:
            return tuple(words)
        return (*words, singular(last))
    return words_of(way[-1]) if way else ()


_CHOICES = word_set("choices options values list enum")
"""Of a list's name, such as `verdict_choices`, what only says that it is one."""


def _one_of(way: Sequence[str]) -> tuple[str, ...]:
    """Return the words for what a value is in, such as (milestone) of milestones.0."""
    if len(way) > 2 and way[-2].isdigit():  # noqa: PLR2004  # a list, a number, a name
        *words, last = words_of(way[-3]) or ("",)
        return (*words, singular(last))
    return words_of(way[-2]) if len(way) > 1 else ()


_ANSWERS = frozenset({"result", "response", "results", "json", "attributes", "record"})
"""Objects that are around everything in an answer."""
_LINKS = frozenset({("url",), ("uri",), ("href",), ("self",), ("location",), ("iri",)})
"""What is made may be named by where it is, as hyperlinked records are."""
_LONE = frozenset({"value", "data", "result", "response", "payload"})
"""Under these an answer may have nothing but an identifier."""
_WORK = frozenset({"input", "inputs", "task_input", "document", "content"})
"""Objects in a task that are there to be worked on."""
_NOTHING_MADE = TASK_NOUNS | AGENT_NOUNS | EVIDENCE_WORDS | {*RESULT_WORDS}
"""Words for what was there before, or is no record."""
_OF_A_STEP = word_set("ticket code serial handle urn hash")
"""Words for what a step hands out; any of an answer's other ids may be the task's."""
PRICES = frozenset(POST_WORDS["reward"]) | {"quote", "bid"}
"""Names for what a task pays, which some networks want to hear from who takes it."""
_TELLING_LETTERS = 4
"""A shorter last word of a name may be that of many."""


def _given_id_affinity(
    words: tuple[str, ...], verb: str, way: Sequence[str], leaf: tuple[str, ...]
) -> float:
    """Judge an identifier that the answer to an action gave, such as a claim's."""
    is_id = words[-1] in ID_WORDS
    noun = {*(words[:-1] if is_id else words)}
    made = NOUNS.get(verb, frozenset())
    above = {word for name in way[:-1] for word in words_of(name)}
    # A `documentId` beside the `id` names the same, perhaps the better.
    is_own = {*leaf}.isdisjoint(OTHERS_WORDS | TASK_NOUNS | AGENT_NOUNS)
    if is_own and noun & made and above <= made | ENVELOPES | _ANSWERS:
        return 0.2 + 0.2 * len(leaf) + 0.1 * len(above)
    if len(leaf) == 1 and noun & made and not above & AGENT_NOUNS:
        # Around it are words of this network's own: the nearest to the root counts.
        return 2.0 + 0.1 * len(way)
    if noun and noun in ({*leaf} - ID_WORDS, {*_one_of(way)}):
        return 0.6
    # A `job` may be what a claim made of something else.
    is_bare = leaf == ("id",) and above <= ENVELOPES | _ANSWERS
    is_claimed = noun and noun <= TASK_NOUNS and verb == "claim" and is_bare
    if is_id or is_claimed:
        return 4.1 if not is_claimed else 1.8 if is_id else 3.2
    # Once there is nothing left to hand in, an unknown word is what was made of it.
    is_made = verb == "submit" and len(way) == len(leaf) == 1
    return 4.3 if is_made and noun.isdisjoint(_NOTHING_MADE) else TOO_DEAR


def type_cost(value: JSON, wants: str) -> float:
    """Return what it costs to send a value where a type is wanted."""
    there = type_of(value)
    if wants in {"", "id", there} or (there, wants) == ("integer", "number"):
        return 0.0
    if wants == "objectid":
        return 0.0 if converted(value, wants) != value else 6.0
    if wants in _FORMS:
        return 0.0 if isinstance(value, str) and _FORMS[wants].fullmatch(value) else 6.0
    if wants in {"string", "array"}:
        return 0.3 if there in {"integer", "number"} else 1.0
    is_digits = there == "string" and isinstance(converted(value, wants), int)
    return 0.3 if is_digits else TOO_DEAR
