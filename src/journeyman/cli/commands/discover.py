"""`journeyman discover`: the portal's twelve discovery documents."""

from typing import TYPE_CHECKING, Any

from journeyman.cli.command import command
from journeyman.cli.output import answer, table
from journeyman.cli.session import Session
from journeyman.domain.errors import NetworkError

if TYPE_CHECKING:
    from journeyman.domain import Outcome
    from journeyman.network import Document


@command("discover", example="journeyman discover --base-url http://127.0.0.1:8080")
def discover(session: Session) -> None:
    """Read the 12 discovery documents, and tell what is odd."""
    import anyio

    found = anyio.run(_read_all, session)
    columns = ("path", "found", "type", "bytes", "problem")
    answer(
        as_json=session.as_json,
        data=found,
        show=lambda: table(columns, [[row[name] for name in columns] for row in found]),
    )
    if not any(row["found"] == "yes" for row in found):
        raise NetworkError(
            "none of the discovery documents could be read",
            "Check the portal's address (--set network.portal_url=URL).",
        )


async def _read_all(session: Session) -> list[dict[str, Any]]:
    from journeyman.network import DISCOVERY_DOCUMENTS

    async with session.network() as (client, _identity):
        return [_row(path, await client.document(path)) for path in DISCOVERY_DOCUMENTS]


def _row(path: str, outcome: "Outcome[Document]") -> dict[str, Any]:
    from journeyman.domain import Confirmed

    row: dict[str, Any] = {"path": path, "found": "no", "type": "", "bytes": 0}
    if not isinstance(outcome, Confirmed):
        status = getattr(outcome, "status", None)
        return row | {"status": status, "problem": outcome.message}
    document = outcome.value
    return row | {
        "found": "yes",
        "status": 200,
        "type": document.content_type,
        "bytes": len(document.text.encode()),
        "problem": document.problem,
    }
