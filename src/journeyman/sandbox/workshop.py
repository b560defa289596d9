"""Making tasks: a seeded series, posted by the sandbox's own agents."""

from collections import Counter
from math import ceil
from typing import NamedTuple

from journeyman.sandbox import checkouts, ledger, tasks
from journeyman.sandbox.agents import Newcomer, enroll, is_enrolled
from journeyman.sandbox.kinds import KINDS
from journeyman.sandbox.kinds.kind import Draft
from journeyman.sandbox.options import SandboxOptions
from journeyman.sandbox.store import State, seeded

_POSTERS = ("Orchard Press", "Harbour Survey", "Meridian Almanac", "Granite Archive")
_SMALLEST_PURCHASE = 1000
"""In credits; a poster buys whole thousands."""


class _Made(NamedTuple):
    number: int
    """In the series; with the seed it decides everything about the task."""
    kind: str
    task_id: str
    draft: Draft


def stock(state: State) -> None:
    """Make the first tasks, unless the data already has some."""
    with state.transaction():
        _enroll_posters(state)
        if _used(state) == 0:
            _post_all(state, [_make(state, n) for n in range(state.options.tasks)])
        refill(state)


def refill(state: State) -> None:
    """Make up for tasks that were taken, if the options ask for that.

    Each kind is filled up for itself: those that nobody here does would otherwise
    take all the room. Numbers of the series of a kind that is full are passed over.
    """
    if not state.options.refill:
        return
    options = state.options
    missing = _shares(options) - Counter(_open_made(state))
    new: list[_Made] = []
    number = _used(state)
    while missing:
        kind = _kind(options.seed, _deck(options), number)
        if kind in missing:
            missing -= Counter([kind])
            new.append(_make(state, number))
        number += 1
    _post_all(state, new)


def _make(state: State, number: int) -> _Made:
    kind = _kind(state.options.seed, _deck(state.options), number)
    rng = seeded(state.options.seed, number)
    task_id = state.task_id(rng.getrandbits(48))
    return _Made(number, kind, task_id, KINDS[kind].make(rng, state.material))


def _deck(options: SandboxOptions) -> tuple[str, ...]:
    return options.kinds or tuple(KINDS)


def _kind(seed: int, deck: tuple[str, ...], number: int) -> str:
    """Deal the kinds like cards: each once in every round, in shuffled order."""
    turn, place = divmod(number, len(deck))
    shuffled = list(deck)
    seeded(seed, "deck", turn).shuffle(shuffled)
    return shuffled[place]


def _shares(options: SandboxOptions) -> Counter[str]:
    """Tell how many tasks of each kind a full market has: as many as a new one."""
    deck = _deck(options)
    turns = options.tasks // len(deck)
    last = range(turns * len(deck), options.tasks)
    each = Counter(dict.fromkeys(deck, turns))
    return each + Counter(_kind(options.seed, deck, number) for number in last)


def _open_made(state: State) -> dict[str, int]:
    query = """
        SELECT kind, count(*) FROM tasks
        WHERE status = 'open' AND made IS NOT NULL GROUP BY kind
    """
    return {str(kind): int(count) for kind, count in state.db.execute(query)}


def _used(state: State) -> int:
    (made,) = state.db.execute("SELECT made FROM progress").fetchone()
    return int(made)


def _post_all(state: State, new: list[_Made]) -> None:
    if not new:
        return
    for place, poster in enumerate(_poster_ids()):
        own = [one for one in new if one.number % len(_POSTERS) == place]
        _fund(state, poster, sum(one.draft.reward for one in own))
    for one in new:
        tasks.post(state, _as_post(one))
    state.db.execute("UPDATE progress SET made = ?", (new[-1].number + 1,))


def _as_post(made: _Made) -> tasks.Post:
    return tasks.Post(
        task_id=made.task_id,
        kind=made.kind,
        title=made.draft.title,
        description=made.draft.description,
        tags=KINDS[made.kind].tags,
        input=made.draft.input,
        reward=made.draft.reward,
        poster=_poster_ids()[made.number % len(_POSTERS)],
        made=made.number,
        answer=made.draft.answer,
    )


def _poster_ids() -> list[str]:
    return [f"agent_poster_{number:02d}" for number in range(1, len(_POSTERS) + 1)]


def _enroll_posters(state: State) -> None:
    for agent_id, name in zip(_poster_ids(), _POSTERS, strict=True):
        if not is_enrolled(state, agent_id):
            slug = name.lower().replace(" ", "-")
            # Nobody acts with a poster's token, so it is not kept.
            enroll(state, Newcomer(agent_id, slug, name, "poster"))


def _fund(state: State, poster: str, needed: int) -> None:
    """Let a poster buy what it lacks, by a checkout like anybody's.

    It keeps its starter credits in hand, so that each poster has bought once.
    """
    in_hand = ledger.balance_of(state.db, poster) - ledger.STARTER_CREDITS
    missing = needed - in_hand
    if missing <= 0:
        return
    amount = ceil(missing / _SMALLEST_PURCHASE) * _SMALLEST_PURCHASE
    order = checkouts.Order(
        agent_id=poster,
        plan="credit_pack",
        price_id=checkouts.CUSTOM_PRICE,
        requested_credits=amount,
        amount_cents=amount,
        product_label="",
    )
    checkouts.pay(state, checkouts.create(state, order)["sessionId"])
