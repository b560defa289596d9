"""`journeyman discover`: the portal's twelve documents against the contract."""

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from journeyman.cli.output import answer, neutral, say, shortened, table
from journeyman.cli.session import Session, command
from journeyman.domain.errors import NetworkError

if TYPE_CHECKING:
    from journeyman.network.discovery.comparison import Compared
    from journeyman.network.discovery.products import Product
    from journeyman.network.discovery.survey import Page, Survey

SAID_LENGTH = 72
PROBLEM_LENGTH = 90


@command("discover", example="journeyman discover --base-url http://127.0.0.1:8080")
def discover(session: Session) -> None:
    """Compare the 12 discovery documents with the contract.

    robots.txt is obeyed. What the documents say changes nothing by itself: an address
    elsewhere is only told, and products are only offered.
    """
    import anyio

    found = anyio.run(_survey, session)
    answer(as_json=session.as_json, data=_told(found), show=lambda: _show(found))
    if not _is_there(found):
        raise NetworkError(
            "none of the discovery documents could be read",
            "Check the portal's address (--set network.portal_url=URL).",
        )


async def _survey(session: Session) -> "Survey":
    from journeyman.network.discovery.comparison import Expectations
    from journeyman.network.discovery.survey import survey

    settings = session.load().settings
    address = session.address(settings)
    expected = Expectations(address, settings.network.portal_url or address)
    async with session.network() as (client, _identity):
        return await survey(client, expected)


def _is_there(found: "Survey") -> bool:
    return any(page.found == "yes" for page in found.pages)


def _told(found: "Survey") -> dict[str, Any]:
    return {
        "documents": [_told_page(page) for page in found.pages],
        "compared": [asdict(row) for row in found.compared],
        "products": [
            {**asdict(one), "problem": one.problem, "to_use": to_use(one)}
            for one in found.products
        ],
    }


def _told_page(page: "Page") -> dict[str, Any]:
    document = page.document
    return {
        "path": page.path,
        "found": page.found,
        "type": document.content_type if document else "",
        "bytes": len(document.text.encode()) if document else 0,
        "problem": page.problem,
    }


def to_use(product: "Product") -> str:
    """Give the command that asks for a product's payment page; empty without one."""
    if product.problem or not product.price_id or not product.credits:
        return ""
    parts = ["journeyman", "topup", "--credits", str(product.credits)]
    parts += ["--set", f"topup.price_id={product.price_id}"]
    if product.plan:
        parts += ["--set", f"topup.plan={product.plan}"]
    return shlex.join(parts)


def _show(found: "Survey") -> None:
    _show_pages(found)
    if not _is_there(found):
        return
    _show_comparison(found.compared)
    _show_products(found.products)


def _show_pages(found: "Survey") -> None:
    rows = [_told_page(page) for page in found.pages]
    columns = ("path", "found", "type", "bytes")
    cells = [[row[name] for name in columns] for row in rows]
    problems = [shortened(row["problem"], PROBLEM_LENGTH) for row in rows]
    table(
        [*columns, "problem"],
        [[*cell, problem] for cell, problem in zip(cells, problems, strict=True)],
    )


def _show_comparison(compared: "tuple[Compared, ...]") -> None:
    from journeyman.network.discovery.comparison import Agreement

    said = [row for row in compared if row.verdict is not Agreement.UNSAID]
    unsaid = [row.subject for row in compared if row.verdict is Agreement.UNSAID]
    if said:
        say()
        table(
            ["verdict", "about", "said", "expected", "by"],
            [_compared_row(row) for row in said],
        )
    if unsaid:
        say()
        say(f"No document says anything about: {', '.join(unsaid)}.")
    if any(row.verdict is Agreement.ELSEWHERE for row in said):
        say()
        say("What is elsewhere is not used, and never given the token.")


def _compared_row(row: "Compared") -> list[str | int]:
    from journeyman.network.discovery.comparison import Agreement

    first, *more = row.documents
    by = f"{first} and {len(more)} more" if more else first
    expected = "" if row.verdict is Agreement.AGREES else row.expected
    return [row.verdict, row.subject, shortened(row.said, SAID_LENGTH), expected, by]


def _show_products(products: "tuple[Product, ...]") -> None:
    if not products:
        return
    say()
    table(
        ["product", "price id", "plan", "credits", "usd", "problem"],
        [_product_row(one) for one in products],
    )
    say()
    say("Nothing of this is used by itself. To ask for a payment page, for example:")
    for line in filter(None, map(to_use, products)):
        say(f"  {neutral(line)}")


def _product_row(one: "Product") -> list[str | int]:
    return [
        one.label,
        one.price_id,
        one.plan,
        "any" if one.credits is None else str(one.credits),
        "not said" if one.cents is None else f"{one.cents / 100:.2f}",
        one.problem,
    ]
