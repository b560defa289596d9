"""The task generator: a seeded series of tasks, posted by the sandbox's own agents."""

from collections import Counter
from math import ceil
from typing import NamedTuple

from journeyman.sandbox import agents, checkouts, ledger, tasks
from journeyman.sandbox.kinds import KINDS
from journeyman.sandbox.kinds.kind import Draft
from journeyman.sandbox.options import SandboxOptions
from journeyman.sandbox.store import State, seeded

_POSTERS = ("Orchard Press", "Harbour Survey", "Meridian Almanac", "Granite Archive")
_SMALLEST_PURCHASE = 1000
"""In credits; a poster buys multiples of it."""


class _Generated(NamedTuple):
    number: int
    """In the series; with the seed it determines everything about the task."""
    kind: str
    task_id: str
    draft: Draft


def create_first_tasks(state: State) -> None:
    """Post the first tasks, unless the data already has some."""
    with state.transaction():
        _add_posters(state)
        if _used(state) == 0:
            _post_all(state, [_generate(state, n) for n in range(state.options.tasks)])
        refill(state)


def refill(state: State) -> None:
    """Replace tasks that were claimed, if the options ask for that.

    Each kind is refilled by itself: otherwise the kinds that nobody does would soon be
    the only open ones. Numbers of the series whose kind is full are left out.
    """
    if not state.options.refill:
        return
    options = state.options
    missing = _numbers_by_kind(options) - Counter(_open_by_kind(state))
    new: list[_Generated] = []
    number = _used(state)
    while missing:
        kind = _kind(options, number)
        if kind in missing:
            missing -= Counter([kind])
            new.append(_generate(state, number))
        number += 1
    _post_all(state, new)


def _generate(state: State, number: int) -> _Generated:
    kind = _kind(state.options, number)
    rng = seeded(state.options.seed, number)
    task_id = state.task_id(rng.getrandbits(48))
    return _Generated(number, kind, task_id, KINDS[kind].make(rng, state.material))


def _kinds(options: SandboxOptions) -> tuple[str, ...]:
    return options.kinds or tuple(KINDS)


def _kind(options: SandboxOptions, number: int) -> str:
    """Return the kind of a task: each comes once in every round, in random order."""
    shuffled = list(_kinds(options))
    turn, place = divmod(number, len(shuffled))
    seeded(options.seed, "deck", turn).shuffle(shuffled)
    return shuffled[place]


def _numbers_by_kind(options: SandboxOptions) -> Counter[str]:
    """Return how many tasks of each kind are open when none was claimed."""
    kinds = _kinds(options)
    rounds = options.tasks // len(kinds)
    last = range(rounds * len(kinds), options.tasks)
    each = Counter(dict.fromkeys(kinds, rounds))
    return each + Counter(_kind(options, number) for number in last)


def _open_by_kind(state: State) -> dict[str, int]:
    query = """
        SELECT kind, count(*) FROM tasks
        WHERE status = 'open' AND series_number IS NOT NULL GROUP BY kind
    """
    return {str(kind): int(count) for kind, count in state.db.execute(query)}


def _used(state: State) -> int:
    (used,) = state.db.execute("SELECT used FROM series").fetchone()
    return int(used)


def _post_all(state: State, new: list[_Generated]) -> None:
    if not new:
        return
    for place, poster in enumerate(_poster_ids()):
        own = [one for one in new if one.number % len(_POSTERS) == place]
        _fund(state, poster, sum(one.draft.reward for one in own))
    for one in new:
        tasks.post(state, _as_new_task(one))
    state.db.execute("UPDATE series SET used = ?", (new[-1].number + 1,))


def _as_new_task(one: _Generated) -> tasks.NewTask:
    return tasks.NewTask(
        task_id=one.task_id,
        kind=one.kind,
        title=one.draft.title,
        description=one.draft.description,
        tags=KINDS[one.kind].tags,
        input=one.draft.input,
        reward=one.draft.reward,
        poster=_poster_ids()[one.number % len(_POSTERS)],
        series_number=one.number,
        answer=one.draft.answer,
    )


def _poster_ids() -> list[str]:
    return [f"agent_poster_{number:02d}" for number in range(1, len(_POSTERS) + 1)]


def _add_posters(state: State) -> None:
    for agent_id, name in zip(_poster_ids(), _POSTERS, strict=True):
        if not agents.exists(state, agent_id):
            slug = name.lower().replace(" ", "-")
            # Nobody acts with a poster's token, so it is not kept.
            agents.add(state, agents.Profile(agent_id, slug, name, "poster"))


def _fund(state: State, poster: str, needed: int) -> None:
    """Buy the credits that a poster lacks, by an ordinary checkout.

    A poster does not spend its starter credits, so that each poster has bought once.
    """
    available = ledger.balance_of(state.db, poster) - ledger.STARTER_CREDITS
    missing = needed - available
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
