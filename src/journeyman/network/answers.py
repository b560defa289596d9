"""Reads the answers of a network: what an action came to, and listings of tasks."""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from journeyman.domain.outcomes import Refusal, Refused
from journeyman.domain.tasks import JSON, AgentId, Given, Progress, Task, TaskId
from journeyman.network.progress import ACCEPTED, ENDS, layers_of, progress_in
from journeyman.network.service_model.naming import (
    Path,
    speaks_of,
    type_of,
    walk,
    word_set,
    words_of,
)
from journeyman.network.service_model.plain import plain
from journeyman.network.service_model.reading import (
    NAMES,
    Fields,
    Found,
    RecordReader,
    WrongShapeError,
    as_exact_credits,
    as_identifier,
    as_label,
    as_moment,
    as_string,
    id_path,
    is_credits,
    paid_credits,
    spelling,
    spellings,
    unit_by_itself,
    unit_in,
)
from journeyman.network.service_model.request import values_in
from journeyman.network.service_model.vocabulary import ASSUMED
from journeyman.network.wording import codes_in, error_texts, texts_in


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckoutRequest:
    """The body of create-checkout (contract section 2, Checkout request)."""

    plan: str
    agent_id: AgentId
    price_id: str
    requested_credits: int
    amount_cents: int
    """In cents of a US dollar."""
    product_label: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckoutSession:
    """The answer of create-checkout: all fields optional (contract section 2)."""

    ok: bool | None = None
    session_id: str | None = None
    url: str | None = None
    """The hosted payment page."""
    mode: str | None = None
    agent_id: str | None = None
    plan: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """What the answer to a claim, a submission or a completion shows."""

    balance: int | None = None
    """In credits."""
    credits_earned: float | None = None
    """In credits, as it was named; not of a claim."""
    progress: Progress | None = None
    """How far the task has come."""
    given: Given = field(default_factory=dict, compare=False)
    """The single values of the answer."""
    task: Task | None = None
    """As the answer to a claim describes it."""
    text: str = ""
    """The text to work on, which the listing kept back."""
    lease_until: datetime | None = None
    """When a claim ends by itself, in UTC."""
    instead: TaskId | None = None
    """The id that the answer to a claim has where the task's own would be: a queue
    gives its next task, whatever it is asked for."""

    @property
    def shows_progress(self) -> bool:
        """Whether the answer tells how far the task has come, or what it brought."""
        told = (self.progress, self.credits_earned, self.lease_until)
        return any(one is not None for one in told)


@dataclass(frozen=True, slots=True)
class Posted:
    """A task was published."""

    task_id: TaskId | None = None
    """The network's name for it; None when the answer does not tell."""
    balance: int | None = None
    fee: float | None = None
    """In credits, beside the reward; None: the answer names none."""


@dataclass(frozen=True, slots=True)
class Document:
    """A discovery document."""

    path: str
    content_type: str
    """As the portal sent it; empty when it sent none."""
    text: str = field(repr=False)
    json: JSON = field(repr=False)
    """The parsed text where the path or the type says JSON, else None."""
    problem: str
    """What is odd about it though it could be read; empty when nothing is."""
    described_at: tuple[str, ...] = ()
    """Where its `Link` headers say that the service is described (RFC 8631)."""


_HEADER_SAFE = re.compile(r"[\x21-\x7e]+")


def is_header_safe(value: str) -> bool:
    """Return whether a value can stand in a header as it is (visible ASCII)."""
    return bool(_HEADER_SAFE.fullmatch(value))


_RECORD = RecordReader()
_MONITORS = frozenset(
    {
        *("location", "operationlocation", "self", "status", "statusurl", "statusuri"),
        *("statuslink", "statusquerygeturi", "monitor", "poll", "pollurl"),
    }
)
"""Names of the address at which the state of what goes on can be seen."""
_WAITS = word_set(
    "secondsleft secondsremaining remainingseconds eta etaseconds retryafter retryin "
    "retryafterseconds readyin readyat decisionby decidedby reviewby reviewends"
)
"""Names by which the answer to a completion tells when to ask again."""
_FEWEST_WORDS = 2
_LONGEST_LABEL = 3
"""In words, of a name of somebody."""
_ASIDE = word_set(
    "note notes notice info status state agent user name by at next terms"
)
"""Words in the names of what an answer says besides of the work."""
_OF_TEXT = re.compile(
    r"te(?:xt[eo]?|sto|kst)|[a-z]{0,8}txt|body|content|passage|wording|sentence|phrase|excerpt"
)
"""Ends of the names of texts."""
_OF_MESSAGE = re.compile(
    r"(?:msg|err|rtn|rc|stat|inf)(?:text|txt|msg|desc)?"
    r"|mensa(?:gem|je)|messaggio|missatge|nachricht|meldung|melding|mesaj"
    r"|komunikat|wiadomo[sś][cć]|zpr[aá]va|viesti|besked|meddelande|сообщение"
)
"""Names of what a system says of a request, in some languages."""
_ABOUT_WORK = word_set(
    "instruction instructions guideline guidelines guidance directions criteria hint "
    "hints style rule rules requirement requirements"
)
"""Words in the names of what says how the work is to be done."""
_OTHERS = {
    name for field in ("record_wrappers", "poster", "claimant") for name in NAMES[field]
} - {"attributes"}
"""Names of objects in which a balance is not ours."""

# Each reads what an action's answer says, under any of the known names, and raises
# WrongShapeError where the answer is not an object.


def read_checkout(answer: JSON) -> CheckoutSession:
    """Read a checkout session; whatever is missing is None."""
    seen = _open(answer)
    is_ok = seen.get("ok")
    return CheckoutSession(
        ok=is_ok if isinstance(is_ok, bool) else None,
        session_id=as_string(seen.get("sessionid")),
        url=as_string(seen.get("url")),
        mode=as_string(seen.get("mode")),
        agent_id=as_string(seen.get("agentid")),
        plan=as_string(seen.get("plan")),
    )


class _Answer:
    """One answer to an action, opened once."""

    def __init__(self, answer: JSON, own: Sequence[JSON] = ()) -> None:
        """Read what an answer shows besides what it repeats of our `own`.

        Raises:
            WrongShapeError: it is neither an object nor a list of one.
        """
        answer = plain(answer)
        self.sent, self.own = answer, own
        self.outer = _open(answer)
        self.layers = layers_of(answer, own)
        self.all = _together(self.layers)

    def receipt(self, action: str, status: int, earned: float | None = None) -> Receipt:
        """Return what is common to the answers of all actions on a task."""
        said = error_texts(self.sent)
        progress = progress_in(self.layers, status, said=said, own=self.own)
        goes_on = self.all.says(ENDS, flag=False) or not _WAITS.isdisjoint(self.all)
        if action == "complete" and progress is None and not earned and goes_on:
            progress = Progress.IN_REVIEW  # an operation that goes on
        return Receipt(
            balance=self.balance,
            credits_earned=earned,
            progress=Progress.PAID if earned and earned > 0 else progress,
            given=values_in(action, self.sent),
        )

    def is_application(self, status: int) -> bool:
        """Return whether a claim is still to be decided on, as the answer says."""
        is_told = progress_in(self.layers, 200, said="") is Progress.IN_REVIEW
        return status == ACCEPTED and is_told

    @property
    def balance(self) -> int | None:
        """Our balance: one in a task's record would be its poster's."""
        ours = [one for one in self.layers if _OTHERS.isdisjoint(one.words)]
        seen = self.all if len(ours) == len(self.layers) else _together(ours)
        shown = _credits(seen, "balance")
        return None if shown is None else math.floor(shown)

    @property
    def lease(self) -> datetime | None:
        """When a claim ends: the earliest moment that the answer shows."""
        names = NAMES["lease"]
        more = (*names, *NAMES["lease_in_wrapper"])
        shown: list[datetime | None] = []
        for fields in (self.outer, *[one.fields for one in self.layers[1:]]):
            shown.append(fields.pick(names, as_moment))
            claims = fields.objects(NAMES["lease_wrappers"])
            shown += [Fields(one).pick(more, as_moment) for one in claims.values()]
        return min(filter(None, shown), default=None)


def read_receipt(
    action: str, answer: JSON, status: int = 200, own: Sequence[JSON] = ()
) -> Receipt:
    """Read the answer to a submission or a completion, which may repeat our `own`."""
    seen = _Answer(answer, own)
    bodies = [one.body for one in seen.layers]
    is_other = _is_of_other_money(seen.all)
    earned = paid_credits(bodies, is_other_money=is_other)
    # What is named beside a task that goes on is what it is to pay.
    is_going_on = progress_in(seen.layers, status, said="") in _GOES_ON
    if action == "complete" and earned is None and not is_going_on:
        earned = _credits(seen.outer, "earned")
        if earned is None:
            earned = _paid_in_payment(seen.outer, is_other_money=is_other)
    if earned is None:
        earned = _paid_in(seen.layers)
    return seen.receipt(action, status, earned)


_GOES_ON = frozenset({Progress.IN_REVIEW, Progress.CLAIMED})


def _paid_in_payment(outer: Fields, *, is_other_money: bool) -> float | None:
    """Return the only amount in a payment that is called as pay is, such as a `fee`."""
    payments = outer.objects(("payment", "payout")).values()
    paid = [
        paid_credits([{f"paid_{name}": value}], is_other_money=is_other_money)
        for one in payments
        for name, value in one.items()
    ]
    amounts = [one for one in paid if one is not None]
    return amounts[0] if len(amounts) == 1 else None


def read_claim(
    answer: JSON,
    listed: Task,
    status: int = 200,
    *,
    is_described: bool = True,
    said: Collection[JSON] = (),
) -> Receipt:
    """Read the answer to a claim of a task that was `listed`.

    `is_described` is false where listings describe all tasks alike; `said` is what the
    claim told, which is no work to do where an answer repeats it.
    """
    seen, task_id = _Answer(answer), listed.id
    # The innermost first: what is around a record describes it, and is no record.
    inner_first = (*seen.layers[1:], *seen.layers[:1])
    described = [_RECORD.described(one.body, task_id) for one in inner_first]
    task = next((one for one in described if one and str(one.text) != task_id), None)
    receipt = seen.receipt("claim", status)
    if receipt.progress is Progress.IN_REVIEW and not seen.is_application(status):
        receipt = replace(receipt, progress=None)
    return replace(
        receipt,
        task=task,
        text=_withheld(seen.sent, listed, said, is_described=is_described),
        lease_until=seen.lease,
        instead=_given_instead(answer, listed),
    )


def _given_instead(answer: JSON, listed: Task) -> TaskId | None:
    """Return the id of the only record like the listed one, whose own is nowhere.

    Not of one that an answer only recommends.
    """
    name = (id_path(listed) or ("",))[-1]
    found: set[str] = set()
    for path, value in walk(answer):
        if as_identifier(value) == listed.id:
            return None
        record = value if isinstance(value, dict) else {}
        is_like = len(record.keys() & listed.raw.keys()) > 1
        words = {word for one in path for word in words_of(one)}
        if is_like and _RECOMMENDED.isdisjoint(words):
            found |= {*filter(None, [as_identifier(record.get(name))])}
    return TaskId(found.pop()) if len(found) == 1 else None


_RECOMMENDED = frozenset({"next", "more", "other", "others", "similar", "suggested"})


class ClaimMessages:
    """What the answers to claims say of all tasks alike: no work, whatever its name."""

    def __init__(self) -> None:
        self._said: dict[Path, tuple[TaskId, str]] = {}
        self._differing: set[Path] = set()

    def alike(self, task_id: TaskId, answer: JSON) -> Iterator[str]:
        """Note an answer, and return what it says as those of other tasks did."""
        for path, value in walk(answer):
            if not isinstance(value, str) or " " not in value:
                continue
            told = _without_name(value, task_id)
            of_task, before = self._said.get(path, (task_id, told))
            if told != before:
                self._differing.add(path)
            elif path not in self._differing and of_task != task_id:
                yield value
            if len(self._said) < _MOST_PLACES:
                self._said.setdefault(path, (task_id, told))


def _without_name(said: str, task_id: TaskId) -> str:
    """Return what is said of a task as it is said of any: "# is yours until noon"."""
    if task_id not in said:
        return said
    return re.sub(rf"(?<!\w){re.escape(task_id)}(?!\w)", "#", said)


_MOST_PLACES = 100
"""Of sentences in the answers to claims."""


def _withheld(
    answer: JSON, listed: Task, said: Collection[JSON], *, is_described: bool
) -> str:
    """Return the text that a listing kept back, as the answer to a claim tells it.

    It stands under a name that was null in the listing, or that a sentence names, or is
    prose that the listing does not have, or the name that the same record has now. What
    that has under the name of a text is the text already; of what it has under other
    names, a longer prose shows that it was a title.
    """
    seen = _RECORD.open(dict(listed.raw))
    if _RECORD.own_text(seen):
        return ""
    shown = [*walk(dict(listed.raw))]
    is_named = any(
        # Or that of the object it is in, as of `{"sourceText": {"en-US": "..."}}`.
        value == listed.text and "text" in map(_role_of, path[-2:])
        for path, value in shown
        if path and path[-1] != "excerpt"
    )
    is_whole = not str(listed.text).endswith(("\u2026", "..."))
    if is_named and is_whole:
        return ""
    said_there = [*shown, *walk(answer)]
    known = {repr(value) for _, value in shown}
    told = {
        path: str(value)
        for path, value in walk(answer)
        if path and repr(value) not in known and value not in said
        # What names the task speaks of it, and is not what is to be done.
        if not _is_clear(listed.id) or listed.id not in str(value)
        if _is_prose(path[-1], value) or _is_told_by_name(path[-1], value, shown)
    }
    nulls = {path[-1] for path, value in shown if path and value in (None, "")}
    is_described = is_described and bool(_RECORD.read(seen, "description"))
    # What describes all tasks alike is no title, either.
    title = listed.text if is_described or listed.text != listed.description else ""
    likely = [
        {text for path, text in told.items() if path[-1] in nulls and not is_described},
        _in_role("text", told),
        {text for path, text in told.items() if _is_mentioned(path[-1], said_there)},
    ]
    if not is_described or listed.text != listed.description:
        longer = {path: one for path, one in told.items() if len(one) > len(title)}
        roles = ("", "input", "description", "title")
        likely += [_in_role(role, longer) for role in roles]
    likely.append(_label_added(answer, listed))
    return next((min(texts) for texts in likely if len(texts) == 1), "")


_SHORTEST_NAMED = 5
"""Letters from which an identifier is in no text by chance."""


def _is_clear(task_id: str) -> bool:
    """Return whether a text with an identifier in it speaks of that: a word may not."""
    return len(task_id) >= _SHORTEST_NAMED and not task_id.isalpha()


def _label_added(answer: JSON, listed: Task) -> set[str]:
    """Return the names of a few words that an answer adds to a record that was listed.

    In other objects such a `name` may be anybody's. It is the same record if it has the
    id and most names of it.
    """
    known = listed.raw.keys()
    again = [
        body
        for _, body in walk(answer)
        if isinstance(body, dict)
        and 2 * len(body.keys() & known) > len(known)
        and listed.id in map(as_identifier, body.values())
    ]
    return {
        value
        for body in again
        for name, value in body.items()
        if name not in known and isinstance(value, str) and " " in value.strip()
        if _RECORD.role_of(name) == "title" and not _is_prose(name, value)
    }


def _is_told_by_name(
    name: str, value: JSON, shown: Iterable[tuple[Path, JSON]]
) -> bool:
    """Return whether the listing speaks of a text under its name, be that a `note`."""
    is_text = isinstance(value, str) and " " in value.strip()
    is_aside = name in NAMES["message_fields"] or len(words_of(name)) > 1
    return is_text and is_aside and _is_mentioned(name, shown)


def _is_mentioned(name: str, shown: Iterable[tuple[Path, JSON]]) -> bool:
    texts = (value for _, value in shown if isinstance(value, str) and " " in value)
    return any(speaks_of(text, name) for text in texts)


def _in_role(role: str, told: Mapping[Path, str]) -> set[str]:
    return {text for path, text in told.items() if _role_of(path[-1]) == role}


def _role_of(name: str) -> str:
    """Return what a name of a prose says that it is: a text, a description, or nothing.

    A `waybill_text` is a text, whatever a waybill is, and so are `texte` and
    `testo_originale`, whose noun stands first.
    """
    words = words_of(name)
    if (
        words
        and any(map(_OF_TEXT.fullmatch, (words[0], words[-1])))
        and {"status", "state"}.isdisjoint(words)
        and not _OF_MESSAGE.fullmatch(spelling(name))
    ):
        return "text"
    return "guidance" if _ABOUT_WORK & {*words} else _RECORD.role_of(name)


def _is_prose(name: str, value: JSON) -> bool:
    """Return whether a value is several words, and not about the claim itself."""
    if not isinstance(value, str) or len(value.split()) < _FEWEST_WORDS:
        return False
    is_aside = spelling(name) in NAMES["message_fields"] and name != "details"
    is_aside |= bool(_OF_MESSAGE.fullmatch(spelling(name)))
    is_long = len(value.split()) > _LONGEST_LABEL
    aside = _ASIDE - {"name"} if is_long else _ASIDE  # a name may be what to write
    is_aside = is_aside or bool(aside & {*words_of(name)})
    return not ((is_aside and _role_of(name) != "text") or as_moment(value))


def read_claimed_before(
    refused: Refused, agent_id: AgentId, task_id: TaskId
) -> Receipt | None:
    """Read a refused claim; None unless it was refused because the task is ours.

    A network may answer a repeat with any status: where it is no conflict, it has to
    name us as who has the task, and not to repeat what was sent.
    """
    answer = refused.answer
    if not isinstance(answer, dict):
        return None
    seen = _Answer(answer)
    is_ours = seen.all.pick(NAMES["claimant"], _RECORD.agent) == agent_id
    match refused.refusal:
        case Refusal.CONFLICT:
            is_flagged = seen.all.says(NAMES["ours_in_refusals"], flag=True)
            is_ours = is_ours or is_flagged or _says_ours(answer)
        case Refusal.INVALID:
            is_ours = is_ours and all(value != task_id for _, value in walk(answer))
        case _:
            return None
    if not is_ours:
        return None
    return Receipt(lease_until=seen.lease, given=values_in("claim", seen.sent))


def monitor_in(given: Given) -> Given:
    """Return the entry that says where the state of a result can be seen; or nothing.

    An answer to a submission or a completion that goes on names it (RFC 9110, section
    15.3.3): in its Location, or in a link of its body. The latest counts.
    """
    likely = {
        source: value
        for source, value in given.items()
        if source.startswith(("submit.", "complete."))
        and _is_monitor(source.split("."), value)
    }
    source = min(likely, key=lambda one: (one[:1], len(one)), default=None)
    return {} if source is None else {source: likely[source]}


def read_monitor(answer: JSON, status: int = 200) -> Receipt:
    """Read what such an address shows: an operation, or what has come of it."""
    whole = read_receipt("complete", answer, status)
    outcome = _open(answer).objects(("output", "result", "response"))
    if whole.progress in {Progress.DONE, None}:
        for one in outcome.values():
            inner = read_receipt("complete", one)
            return inner if inner.progress else whole
    return whole


def _is_monitor(path: Sequence[str], value: JSON) -> bool:
    names = [spelling(name) for name in path[1:] if spelling(name) != "href"]
    is_named = bool(names) and names[-1] in _MONITORS
    return is_named and isinstance(value, str) and value.startswith(("/", "http"))


def read_posted(answer: JSON) -> Posted:
    """Read the answer to a post."""
    seen = _Answer(answer)
    fields = seen.outer.opened(NAMES["record_wrappers"])
    task_id = fields.pick(NAMES["id"], as_identifier)
    named = TaskId(task_id) if task_id else None
    return Posted(named, seen.balance, _credits(seen.all, "fee"))


def _open(answer: JSON) -> Fields:
    if isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]  # the rows that were changed
    if not isinstance(answer, dict):
        raise WrongShapeError(f"a JSON {type_of(answer)} where an object was expected")
    return Fields(answer).opened(NAMES["answer_wrappers"])


def _credits(seen: Fields, names: str) -> float | None:
    wanted = NAMES[names]
    if _is_of_other_money(seen):
        # What stands beside another currency is credits only if its name says so.
        wanted = tuple(name for name in wanted if "credit" in name)
    return seen.pick(wanted, as_exact_credits)


def _paid_in(layers: Sequence[Found]) -> float | None:
    """Return the amount that stands beside the word that it was paid."""
    for one in layers:
        if progress_in([one], 200, said="") is Progress.PAID:
            shown = one.fields.objects(("amount",)).get("amount") or one.body
            inside = Fields(shown)
            named = (*NAMES["reward_cents"], *NAMES["reward_hundredths"], "amount")
            amounts = {name: inside[name] for name in named if name in inside}
            return as_exact_credits({**amounts, "unit": unit_in(inside)})
    return None


def _is_of_other_money(seen: Fields) -> bool:
    unit = seen.pick(("currency",), as_label) or unit_by_itself(seen)
    return not is_credits(unit)


def _says_ours(answer: JSON) -> bool:
    codes = spellings(codes_in(answer, NAMES["code_fields"]))
    said = " ".join(texts_in(answer, NAMES["message_fields"])).lower()
    is_of_another = bool(_OF_ANOTHER.search(said))
    return any(code in NAMES["ours_in_refusals"] for code in codes) or (
        not is_of_another and any(words in said for words in ASSUMED.ours_words)
    )


_OF_ANOTHER = re.compile(r"\b(?:first|another|other|at a time|at once|limit|maximum)\b")
"""As in "You already hold a sheet, complete it first"."""


def _together(layers: Sequence[Found]) -> Fields:
    if len(layers) == 1:
        return layers[0].fields
    return Fields(*[one.fields for one in layers])
