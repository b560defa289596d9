"""The packs of credits that may be asked for, and whether their price still holds."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from journeyman.domain.errors import NetworkError
from journeyman.economy import events
from journeyman.journal.codec import dump, load
from journeyman.journal.journal import Journal
from journeyman.network.discovery.products import Product
from journeyman.observability.events import Log

KEPT = "topup.packs"
"""The fact that holds the packs of the network's documents."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pack:
    """Credits for sale at one price, paid once."""

    price_id: str
    credits: int
    cents: int
    plan: str
    label: str = ""
    path: str = ""
    """The document that names it; empty: the owner's configuration."""

    def __str__(self) -> str:
        return f"{self.price_id}: {self.credits} credits for USD {self.cents / 100:.2f}"


@dataclass(frozen=True, slots=True)
class Offers:
    """What the network's documents offer now."""

    products: Sequence[Product]
    is_whole: bool
    """Every document that may name a product could be read."""


@dataclass(frozen=True, slots=True)
class PriceDoubted:
    """A pack is not offered any more as it was read, or nobody can tell."""

    pack: Pack
    message: str
    has_changed: bool
    """False: it could not be read again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Packs:
    """The packs that may be asked for.

    They are the owner's, else those that the owner had read from the documents.
    """

    configured: Sequence[Pack]
    usual: Pack
    """What is asked for where there are no others; its plan, where a document names
    none."""
    journal: Journal

    def all(self) -> list[Pack]:
        """Return them, the smallest first."""
        kept = self.journal.facts.get(KEPT)
        if self.configured:
            packs = list(self.configured)
        elif isinstance(kept, list):
            packs = [load(Pack, one) for one in kept]
        else:
            packs = [self.usual]
        return sorted(packs, key=lambda pack: (pack.credits, pack.cents))

    def keep(self, packs: Iterable[Pack]) -> None:
        """Replace those of the documents."""
        with self.journal.tx("packs"):
            self.journal.facts.put(KEPT, [dump(pack) for pack in packs])


@dataclass(frozen=True, kw_only=True, slots=True)
class Catalogue:
    """Knows the packs, and asks for none whose price has changed since it was read."""

    packs: Packs
    read_offers: Callable[[], Awaitable[Offers]]
    log: Log

    async def read(self) -> tuple[list[Pack], Offers]:
        """Read the documents on the owner's word, and keep their packs.

        Raises:
            NetworkError: not all could be read, and no pack was found; what was kept
                before stays.
        """
        offers = await self.read_offers()
        packs = packs_in(offers.products, self.packs.usual.plan)
        if not packs and not offers.is_whole:
            raise NetworkError(
                "the documents that may name packs could not be read",
                "`journeyman discover` shows which, and why.",
            )
        self.packs.keep(packs)
        return packs, offers

    async def doubt(self, pack: Pack) -> PriceDoubted | None:
        """Return why a pack is not to be asked for; None: its price holds.

        One whose price has changed leaves the catalogue until the owner has it read
        again.
        """
        if pack not in self.packs.all():
            return self._doubted(pack, "it is not in the catalogue any more")
        if not pack.path:
            return None
        offers = await self.read_offers()
        now = packs_in(offers.products, self.packs.usual.plan)
        same = [one for one in now if one.price_id == pack.price_id]
        if any(_price(one) == _price(pack) for one in same):
            return None
        if not same and not offers.is_whole:
            what = "the documents could not be read again"
            return self._doubted(pack, what, has_changed=False)
        self.packs.keep(
            [one for one in self.packs.all() if one.price_id != pack.price_id]
        )
        said = f"it is now {same[0]}" if same else "no document offers it any more"
        return self._doubted(pack, said)

    def _doubted(
        self, pack: Pack, message: str, *, has_changed: bool = True
    ) -> PriceDoubted:
        event = events.PRICE_CHANGED if has_changed else events.PRICE_UNREAD
        self.log.emit(event, pack=str(pack), message=message)
        return PriceDoubted(pack, message, has_changed)


def _price(pack: Pack) -> tuple[int, int, str]:
    return pack.credits, pack.cents, pack.plan


def packs_in(products: Iterable[Product], plan: str) -> list[Pack]:
    """Return the products that a top-up may buy: named, priced and paid once."""
    return [
        Pack(
            price_id=one.price_id,
            credits=one.credits,
            cents=one.cents,
            plan=one.plan or plan,
            label=one.label,
            path=one.path,
        )
        for one in products
        if not pack_problem(one) and one.credits and one.cents is not None
    ]


def pack_problem(product: Product) -> str:
    """Return why a product cannot be asked for as a pack; empty if it can."""
    if product.problem:
        return product.problem
    if is_subscription(product.plan):
        return "a subscription, not a single payment"
    if not product.price_id:
        return "no price id"
    if not product.credits:
        return "no fixed number of credits"
    return "" if product.cents is not None else "no price"


def is_subscription(word: str | None) -> bool:
    """Return whether a plan, or the mode of a checkout, means repeated payments."""
    lowered = (word or "").lower()
    return any(part in lowered for part in ("subscri", "recurring"))


def smallest_over(packs: Iterable[Pack], available: int, target: int) -> Pack | None:
    """Return the smallest pack that lifts the credits over the target; None: none."""
    lifting = (pack for pack in packs if available + pack.credits > target)
    return min(lifting, key=lambda pack: (pack.credits, pack.cents), default=None)
