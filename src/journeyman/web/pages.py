"""The pages: which sections each has, and how they are drawn."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from importlib.resources import files
from typing import Any, Final
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined

from journeyman.daemon.commands import OwnerCommands
from journeyman.domain.text import duration, escape
from journeyman.web.figures import Figures, Visit, tone


@dataclass(frozen=True, kw_only=True, slots=True)
class WebPage:
    """One page, made of sections that are kept up to date one by one."""

    name: str
    path: str
    title: str
    sections: tuple[str, ...]
    """Each is a template of this name in `templates/sections`, and, in `Figures`, a
    method that returns what it shows."""
    within: str = ""
    """The page from which one comes to it; empty where the bar leads there."""


PAGES: Final = (
    WebPage(
        name="overview",
        path="/",
        title="Overview",
        sections=(
            *("bar", "causes", "balance", "today", "flow"),
            *("recent", "earnings", "steps", "budgets"),
        ),
    ),
    WebPage(name="tasks", path="/tasks", title="Tasks", sections=("bar", "tasks")),
    WebPage(
        name="task",
        path="/tasks/{task_id:path}",
        title="A task",
        sections=("bar", "task"),
        within="tasks",
    ),
    WebPage(
        name="strategies",
        path="/strategies",
        title="Strategies",
        sections=("bar", "strategies"),
    ),
    WebPage(name="log", path="/log", title="Log", sections=("bar", "log")),
)


STYLES = (files("journeyman.web") / "page.css").read_text("utf-8")
"""In each page: it is shown as soon as it is there, without a second request."""


@dataclass(eq=False)
class Pages:
    """Draws pages and their sections."""

    commands: OwnerCommands

    @cached_property
    def figures(self) -> Figures:
        """What the pages show."""
        return Figures(self.commands)

    @cached_property
    def templates(self) -> Environment:
        """The templates; what they show is escaped, and an unknown name is a bug."""
        templates = Environment(
            loader=PackageLoader("journeyman.web"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        templates.globals["styles"] = STYLES
        templates.filters |= {
            "at": self._at,
            "duration": duration,
            "shown": escape,
            "tone": tone,
        }
        return templates

    def _at(self, moment: datetime | str) -> str:
        """Return a time of today, or a day with its time, in UTC."""
        at = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
        is_today = at.date() == self.commands.agent.environment.clock.now().date()
        return f"{at:%H:%M:%S}" if is_today else f"{at:%d %b %H:%M}"

    def sections(self, page: WebPage, visit: Visit) -> dict[str, str]:
        """Return the HTML of each section of a page."""
        return {name: self._section(name, page, visit) for name in page.sections}

    def _section(self, name: str, page: WebPage, visit: Visit) -> str:
        shown: Mapping[str, Any] = getattr(self.figures, name)(visit)
        template = self.templates.get_template(f"sections/{name}.html")
        return template.render(shown, page=page, visit=visit)

    def document(
        self, page: WebPage, visit: Visit, live: str, *, has_password: bool
    ) -> str:
        """Return a whole page; at `live` it learns what changes."""
        agent = self.commands.agent
        return self.templates.get_template("page.html").render(
            page=page,
            pages=[one for one in PAGES if not one.within],
            visit=visit,
            live=live,
            has_password=has_password,
            agent_id=agent.identity.agent_id,
            network=urlsplit(agent.base_url).netloc,
            zone=str(agent.limits.zone),
            sections=self.sections(page, visit),
        )

    def message(self, title: str, text: str) -> str:
        """Return a page that says one thing."""
        return self.templates.get_template("message.html").render(
            title=title, text=text
        )

    def login(self, token: str, problem: str = "") -> str:
        """Return the page that asks for the password."""
        return self.templates.get_template("login.html").render(
            token=token, problem=problem
        )
