"""`journeyman discover`: the portal's twelve documents against the contract."""

import shlex
from dataclasses import asdict
from typing import Any

import anyio

from journeyman.cli.output import print_table
from journeyman.cli.session import Session, command
from journeyman.domain.errors import NetworkError
from journeyman.domain.text import escape
from journeyman.network.discovery.comparison import Agreement, Compared, Expectations
from journeyman.network.discovery.products import Product
from journeyman.network.discovery.survey import Survey, survey
from journeyman.network.service_model.openapi import described_requests

STATEMENT_LENGTH = 72
PROBLEM_LENGTH = 90


@command("discover", example="journeyman discover --base-url http://127.0.0.1:8080")
def discover(session: Session) -> None:
    """Compare the 12 discovery documents with the contract.

    robots.txt is obeyed. What the documents say changes nothing by itself: an address
    elsewhere is only reported, and products are only offered.
    """
    found = anyio.run(_survey, session)
    data = _as_json(found)
    any_found = any(page.found == "yes" for page in found.pages)

    def show() -> None:
        _show_documents(data["documents"])
        if found.description:
            _show_description(**data["description"])
        if any_found:
            _show_comparison(found.compared, has_more=found.description is not None)
            _show_products(found.products)

    session.answer(data, show)
    if not any_found:
        raise NetworkError(
            "none of the discovery documents could be read",
            "Check the portal's address (--set network.portal_url=URL).",
        )


async def _survey(session: Session) -> Survey:
    settings = session.load().settings
    address = session.address(settings)
    expected = Expectations(address, settings.network.portal_url or address)
    async with session.network() as (client, _identity):
        return await survey(client, expected)


def _as_json(found: Survey) -> dict[str, Any]:
    return {
        "documents": [
            {
                "path": page.path,
                "found": page.found,
                "type": page.document.content_type if page.document else "",
                "bytes": len(page.document.text.encode()) if page.document else 0,
                "problem": page.problem,
            }
            for page in found.pages
        ],
        "description": {
            "path": found.description.path,
            "actions": sorted(described_requests(found.description.document)),
        }
        if found.description
        else None,
        "compared": [asdict(row) for row in found.compared],
        "products": [
            {**asdict(one), "problem": one.problem, "to_use": _purchase_command(one)}
            for one in found.products
        ],
    }


def _purchase_command(product: Product) -> str:
    """Return the command that asks for a product's payment page; empty without one."""
    if product.problem or not product.price_id or not product.credits:
        return ""
    parts = ["journeyman", "topup", "--credits", str(product.credits)]
    parts += ["--set", f"topup.price_id={product.price_id}"]
    if product.plan:
        parts += ["--set", f"topup.plan={product.plan}"]
    return shlex.join(parts)


def _show_documents(documents: list[dict[str, Any]]) -> None:
    columns = ("path", "found", "type", "bytes")
    rows = [
        [
            *(document[name] for name in columns),
            escape(document["problem"], longest=PROBLEM_LENGTH),
        ]
        for document in documents
    ]
    print_table([*columns, "problem"], rows, texts=["problem"], drop=["type", "bytes"])


def _show_description(path: str, actions: list[str]) -> None:
    print()
    print(f"{path} is an OpenAPI description of {', '.join(actions) or 'no action'}:")
    print("their requests are written as it says.")


def _show_comparison(compared: tuple[Compared, ...], *, has_more: bool) -> None:
    said = [row for row in compared if row.verdict is not Agreement.UNSAID]
    unsaid = [row.subject for row in compared if row.verdict is Agreement.UNSAID]
    if said:
        print()
        columns = ["verdict", "about", "said", "expected", "by"]
        print_table(
            columns,
            list(map(_compared_row, said)),
            texts=["said", "expected"],
            drop=["by"],
        )
    if unsaid:
        print()
        which = "No other document" if has_more else "No document"
        print(f"{which} says anything about: {', '.join(unsaid)}.")
    if any(row.verdict is Agreement.ELSEWHERE for row in said):
        print()
        print("What is elsewhere is not used, and never gets the token.")


def _compared_row(row: Compared) -> list[str | int]:
    first, *more = row.documents
    return [
        row.verdict,
        row.subject,
        escape(row.said, longest=STATEMENT_LENGTH),
        "" if row.verdict is Agreement.AGREES else row.expected,
        f"{first} and {len(more)} more" if more else first,
    ]


def _show_products(products: tuple[Product, ...]) -> None:
    if not products:
        return
    print()
    print_table(
        ["product", "price id", "plan", "credits", "usd", "paid", "problem"],
        [
            [
                one.label,
                one.price_id,
                one.plan,
                "any" if one.credits is None else str(one.credits),
                "unknown" if one.cents is None else f"{one.cents / 100:.2f}",
                f"each {one.period}" if one.period else "once",
                one.problem,
            ]
            for one in products
        ],
        texts=["problem", "product"],
        drop=["plan", "paid", "product"],
    )
    commands = list(filter(None, map(_purchase_command, products)))
    if commands:
        print()
        print("None of this is used by itself. To ask for a payment page, for example:")
    for line in commands:
        print(f"  {escape(line)}")
