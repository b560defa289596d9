"""Declaring events, and the page that lists them."""

import subprocess
import sys

import pytest

from journeyman.observability.events import declare, render_reference


def test_an_event_is_declared_once() -> None:
    declare("test.once", "info", "", "It happened.")

    with pytest.raises(ValueError, match=r"test\.once.*twice"):
        declare("test.once", "info", "", "It happened.")


@pytest.mark.parametrize("name", ["time", "level", "event", "repeated", "undeclared"])
def test_an_event_cannot_declare_what_the_log_itself_writes(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        declare("test.taken", "info", f"a {name}", "It happened.")


def test_the_reference_lists_events_by_area_with_all_they_say() -> None:
    declare("test_b.two", "error", "why a", "It | broke.", "Mend it.")
    declare("test_a.one", "info", "", "It happened.")

    page = render_reference()

    assert page.index("## test_a") < page.index("## test_b")
    assert "| `test_a.one` | info |  | It happened. |  |" in page
    assert "| `test_b.two` | error | `a` `why` | It \\| broke. | Mend it. |" in page


def test_declaring_events_costs_no_heavy_import() -> None:
    code = (
        "import sys, journeyman.observability;"
        "heavy = {'structlog', 'pydantic', 'anyio'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )

    done = subprocess.run([sys.executable, "-c", code], check=False)  # noqa: S603 - ours

    assert done.returncode == 0
