"""`journeyman support-bundle`: what somebody needs who shall help, and no secret."""

import json
import os
import platform
import zipfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import metadata
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import SecretStr

from journeyman.cli.commands.contract import read_records
from journeyman.cli.commands.journal import archives_as_json
from journeyman.cli.output import plural
from journeyman.cli.session import Session, command
from journeyman.domain import __version__
from journeyman.domain.errors import JourneymanError, StateError, UsageError
from journeyman.domain.text import escape
from journeyman.journal.files import write_new
from journeyman.network.service_model.openapi import openapi_document
from journeyman.observability.log_file import read_lines
from journeyman.observability.redaction import Redactor
from journeyman.settings.describe import rows
from journeyman.settings.sources import is_secret

LOG_LINES = 2_000
ABOUT = """\
Made by `journeyman support-bundle`, for somebody who shall help.

versions.json  Journeyman, Python, the system, and each library that is installed
settings.json  every setting, with its origin; secrets are ***
status.json    balance, tasks by state, and what keeps the agent from earning
archives.json  which archives of the journal there are: names and sizes
contract.json  what was learned of the network, as OpenAPI: no value of any body
log.jsonl      the last lines of the log

It holds the agent's id, the network's address, paths of this machine, and what the log
quotes of tasks. Tokens, passwords and payment pages were taken out, and nothing was
written that still had one. Look through it before you give it away.
"""


@command("support-bundle", example="journeyman support-bundle --output bundle.zip")
def support_bundle(
    session: Session,
    *,
    output: Annotated[
        Path, typer.Option(metavar="FILE", help="The zip file to write; a new one.")
    ] = Path("journeyman-support.zip"),
) -> None:
    """Write a file for somebody who shall help: versions, settings, events, contract.

    No secret is in it. It is written also where no agent has run, or the settings are
    wrong: what cannot be read is told in its place. A daemon may run meanwhile.
    """
    redactor, parts = _known_secrets(session), _parts(session)
    files = {name: _made(make, redactor) for name, make in parts.items()}
    files = {"README.txt": ABOUT, **files}
    if leaking := [name for name, text in files.items() if redactor.knows(text)]:
        raise StateError(
            f"a secret could not be taken out of {', '.join(leaking)}",
            "Nothing was written. Please report this, without the secret.",
        )
    _write(output, files)
    data = {"file": str(output), "parts": [*files]}
    text = f"{output}: {plural(len(files), 'file')}. Look through it before you give it"
    session.answer(data, lambda: print(escape(f"{text} away.")))


# -- what is in it ---------------------------------------------------------------------


def _parts(session: Session) -> Mapping[str, Callable[[], str]]:
    return {
        "versions.json": lambda: _as_json(_versions()),
        "settings.json": lambda: _as_json(_settings(session)),
        "status.json": lambda: _as_json(_status(session)),
        "archives.json": lambda: _as_json(_archives(session)),
        "contract.json": lambda: _as_json(_contract(session)),
        "log.jsonl": lambda: "".join(_log(session)),
    }


def _versions() -> dict[str, Any]:
    return {
        "journeyman": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "libraries": {
            one.name: one.version
            for one in sorted(metadata.distributions(), key=lambda one: str(one.name))
        },
    }


def _settings(session: Session) -> list[dict[str, str]]:
    found = rows(session.load())
    return [
        {"setting": one.key, "value": one.value, "origin": one.origin} for one in found
    ]


def _status(session: Session) -> dict[str, Any]:
    status = session.status()
    for top_up in status.get("open_top_ups", ()):
        # Whoever has it can see, and pay, what was asked for.
        top_up.pop("url", None)
    return status


def _archives(session: Session) -> list[dict[str, Any]]:
    with session.journal() as journal:
        return archives_as_json(journal, session.directory().archives)


def _contract(session: Session) -> dict[str, Any]:
    network, records = read_records(session)
    return dict(openapi_document(records, network))


def _log(session: Session) -> Iterator[str]:
    for line in deque(read_lines(session.directory().log), maxlen=LOG_LINES):
        yield f"{line.rstrip()}\n"


def _as_json(content: object) -> str:
    return json.dumps(content, indent=2, default=str)


# -- what is not in it -----------------------------------------------------------------


def clean_lines(text: str, redactor: Redactor) -> str:
    """Return a text without secrets, also such as are spread over lines."""
    lines = "\n".join(redactor.clean(line) for line in text.split("\n"))
    return redactor.clean(lines) if redactor.knows(lines) else lines


def _made(make: Callable[[], str], redactor: Redactor) -> str:
    try:
        text = make()
    except JourneymanError as error:
        text = f"It could not be read: {error.problem}\n{error.fix}\n"
    except OSError as error:
        text = f"It could not be read: {error.strerror}\n"
    return clean_lines(text, redactor)


def _known_secrets(session: Session) -> Redactor:
    """Return a redactor that knows the token, and every secret of settings."""
    redactor = Redactor()
    for name, value in os.environ.items():
        if is_secret(name):
            redactor.add(value)
    # What cannot be read is told in its place; patterns find what looks like a secret.
    with suppress(JourneymanError):
        if identity := session.identity():
            redactor.add(identity.access_token.reveal())
    with suppress(JourneymanError):
        for secret in _secrets_in("", session.load().settings.model_dump()):
            redactor.add(secret)
    return redactor


def _secrets_in(name: str, value: object) -> Iterator[str]:
    match value:
        case SecretStr():
            yield value.get_secret_value()
        case str() if is_secret(name):
            yield value
        case dict():
            for key, inner in value.items():
                yield from _secrets_in(f"{name}.{key}", inner)
        case list() | tuple():
            for inner in value:
                yield from _secrets_in(name, inner)
        case _:
            pass


def _write(path: Path, files: Mapping[str, str]) -> None:
    """Write a zip file that only its owner can read.

    Raises:
        UsageError: there is a file already.
        StateError: it cannot be written.
    """
    content = BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, text in files.items():
            bundle.writestr(name, text)
    try:
        write_new(path, content.getvalue())
    except FileExistsError as error:
        raise UsageError(
            f"there is a file {path} already", "Name another: --output FILE."
        ) from error
    except OSError as error:
        raise StateError(
            f"{path} cannot be written: {error.strerror}",
            "Name a file in a folder that this user can write: --output FILE.",
        ) from error
