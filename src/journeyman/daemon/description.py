"""What the owner and the network say of its interface, before anything was tried."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import anyio

from journeyman.daemon import events
from journeyman.domain.clock import Clock
from journeyman.domain.errors import ConfigurationError, StateError
from journeyman.domain.tasks import JSON
from journeyman.journal.directory import DataDirectory
from journeyman.journal.journal import Journal
from journeyman.network.bugs import Contained
from journeyman.network.client import NetworkClient
from journeyman.network.discovery.comparison import Expectations
from journeyman.network.discovery.survey import survey
from journeyman.network.service_model.openapi import (
    described_requests,
    is_description,
)
from journeyman.network.service_model.yaml_text import UnreadableYAMLError, parse_yaml
from journeyman.observability.events import Log
from journeyman.settings.sections import ContractSettings

MAX_AGE = timedelta(days=1)
"""A description that was found, or not found, is looked for again after this."""
PATIENCE_SECONDS = 20.0
"""For the whole search: the first claim waits for it."""


_UNSURE = frozenset({"not reached", "not asked"})
"""How a document was found that may well be there."""


def read_description(file: Path) -> JSON:
    """Return the OpenAPI description in a file.

    Raises:
        ConfigurationError: it cannot be read, or is something else.
    """
    try:
        text = file.read_text("utf-8")
        is_json = text.lstrip("\ufeff \t\r\n").startswith(("{", "["))
        document: JSON = json.loads(text) if is_json else parse_yaml(text)
    except OSError as error:
        raise _unusable(file, error.strerror or str(error)) from error
    except UnreadableYAMLError as error:
        raise _unusable(file, f"it is {error}") from error
    except ValueError as error:
        raise _unusable(file, f"it is not JSON ({error})") from error
    if not is_description(document):
        kind = "JSON" if is_json else "YAML"
        raise _unusable(file, f"it is {kind}, but not an OpenAPI description")
    return document


def described_by_owner(
    settings: ContractSettings, directory: DataDirectory
) -> dict[str, JSON]:
    """Return the bodies of actions as the owner's description has them.

    That is the file which the settings name, else the one that was imported.

    Raises:
        ConfigurationError: it cannot be used.
    """
    imported = directory.description if directory.description.exists() else None
    file = settings.openapi or imported
    return described_requests(read_description(file)) if file else {}


def _unusable(file: Path, why: str) -> ConfigurationError:
    return ConfigurationError(
        f"the description {file} cannot be used: {why}",
        "Name a file with an OpenAPI 3 description, as JSON or YAML.",
    )


@dataclass(kw_only=True, eq=False)
class Descriptions:
    """Hands the network client what is said of how requests are written."""

    network: NetworkClient
    journal: Journal
    expected: Expectations
    by_owner: Mapping[str, JSON] = field(default_factory=dict)
    """The schema of each action's body; it outranks what the network publishes."""
    clock: Clock
    log: Log

    def recall(self) -> None:
        """Use what is known from the owner and from an earlier run."""
        self._use(self._stored("requests"))

    async def refresh(self) -> None:
        """Look for a published description, once a day, and use it."""
        if not self._is_old():
            return
        with (
            Contained(self.log, "reading what the network publishes"),
            anyio.move_on_after(PATIENCE_SECONDS),
        ):
            seen = await survey(self.network, self.expected)
            found = seen.description
            if not found and any(page.found in _UNSURE for page in seen.pages):
                return  # asked again with the next housekeeping
            requests = described_requests(found.document) if found else {}
            if found is not None:
                self.log.emit(
                    events.DESCRIPTION_FOUND, path=found.path, actions=sorted(requests)
                )
            self._use(requests)  # first: what a bug ends here is not kept
            self._store(requests)

    def _use(self, published: JSON) -> None:
        by_network = published if isinstance(published, dict) else {}
        if requests := {**by_network, **self.by_owner}:
            self.network.search.describe(requests)

    @property
    def _fact(self) -> str:
        return f"description {self.expected.base_url}"

    def _stored(self, name: str) -> JSON:
        stored = self.journal.facts.get(self._fact)
        return stored.get(name) if isinstance(stored, dict) else None

    def _is_old(self) -> bool:
        at = self._stored("at")
        if not isinstance(at, str):
            return True
        age = self.clock.now() - datetime.fromisoformat(at)
        return not timedelta() <= age < MAX_AGE

    def _store(self, requests: Mapping[str, JSON]) -> None:
        """Keep it; a failing disk is reported by those whose work it loses."""
        content: JSON = {
            "at": self.clock.now().isoformat(),
            "requests": dict(requests),
        }
        with suppress(StateError), self.journal.tx("description"):
            self.journal.facts.put(self._fact, content)
