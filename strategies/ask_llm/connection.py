"""Which model is asked, where, and with which key: as configured, or as it is found."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from journeyman import Misconfigured

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.providers import Provider

OURS = "JOURNEYMAN_"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
NO_KEY = "none"
"""Sent where no key is configured: the client insists on one, local servers do not."""
OFF = "off"
KEYS = {
    "ANTHROPIC_API_KEY": "anthropic:claude-haiku-4-5",
    "OPENAI_API_KEY": "openai:gpt-5-mini",
}
"""The variables that providers name, and a small model that each key opens."""
ADDRESS = "OPENAI_BASE_URL"
"""The variable with an address that speaks as OpenAI's does."""
OPENAI = "openai:"


class OffError(Exception):
    """Nothing is asked, since nothing is there to ask; the message says why."""

    def __init__(self, why: str, *, is_news: bool = True) -> None:
        """State why; `is_news` where the owner may expect something else."""
        super().__init__(why)
        self.is_news = is_news


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelChoice:
    """Which model is asked, and who said so."""

    model: str
    base_url: str
    key_env: str
    key_file: str
    is_found: bool = False
    """By a variable of the environment, and not configured."""

    def connection(self) -> "Connection":
        """Read the key.

        Raises:
            Misconfigured: it is not there.
        """
        key = read_key(self.key_env, self.key_file)
        return Connection(model=self.model, base_url=self.base_url, key=key)


def choose(configured: ModelChoice, environ: Mapping[str, str]) -> ModelChoice:
    """Return what is configured, or else what a key in the environment opens.

    Raises:
        OffError: there is no model to ask.
    """
    name = configured.model
    if name == OFF:
        raise OffError("turned off: strategies.params.ask_llm.model is off")
    address = environ.get(ADDRESS, "").strip()
    if name.startswith(OPENAI) and address and not configured.base_url:
        return _at(address, configured, environ)
    if name:
        return _with_known_key(configured, environ)
    return _found(address or configured.base_url, environ)


def _found(address: str, environ: Mapping[str, str]) -> ModelChoice:
    """Return what a key opens; at an address only its owner knows which models are."""
    for variable, model in KEYS.items():
        is_elsewhere = bool(address) and model.startswith(OPENAI)
        if environ.get(variable, "").strip() and not is_elsewhere:
            return ModelChoice(
                model=model, base_url="", key_env=variable, key_file="", is_found=True
            )
    if address:
        raise OffError(
            "an address is set, but no model is named: set "
            f"strategies.params.ask_llm.model, such as {OPENAI}NAME"
        )
    raise OffError(
        "no model is configured: set strategies.params.ask_llm.model, or one of "
        f"{', '.join(KEYS)} in the environment",
        is_news=False,
    )


def _at(
    address: str, configured: ModelChoice, environ: Mapping[str, str]
) -> ModelChoice:
    """Return a model at the address in the environment, by its name there."""
    has_key = configured.key_env or configured.key_file
    known = "OPENAI_API_KEY" if environ.get("OPENAI_API_KEY", "").strip() else ""
    return replace(
        configured,
        model=configured.model.removeprefix(OPENAI),
        base_url=address,
        key_env=configured.key_env if has_key else known,
    )


def _with_known_key(configured: ModelChoice, environ: Mapping[str, str]) -> ModelChoice:
    """Name the provider's own variable, so that the key is known and can be hidden."""
    if configured.key_env or configured.key_file or configured.base_url:
        return configured
    provider, _, _ = configured.model.partition(":")
    for variable, model in KEYS.items():
        if model.startswith(f"{provider}:") and environ.get(variable, "").strip():
            return replace(configured, key_env=variable)
    return configured


@dataclass(frozen=True, kw_only=True, slots=True)
class Connection:
    """Where the model is asked."""

    model: str
    base_url: str
    key: str | None = field(repr=False)

    def open(self) -> "Model":
        """Create the model; nothing is sent yet.

        Raises:
            Misconfigured: the name, the address or the key is not valid.
        """
        from pydantic_ai.exceptions import UserError  # noqa: PLC0415 - it is heavy

        try:
            return self._compatible() if self.base_url else self._known()
        except (UserError, ValueError) as error:
            raise Misconfigured(
                f"the model {self.model!r} cannot be used: {self.hide(str(error))}",
                fix="correct the parameters model, api_key_env and api_key_file",
            ) from None
        except ImportError:
            raise Misconfigured(
                f"the provider of {self.model!r} needs a package that is missing",
                fix="install what pydantic-ai-slim names an extra for, such as "
                "pip install 'pydantic-ai-slim[anthropic]'",
            ) from None

    def hide(self, text: str) -> str:
        """Remove the key from a text that comes from elsewhere."""
        return text.replace(self.key, "***") if self.key else text

    def _compatible(self) -> "Model":
        from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415 - heavy
        from pydantic_ai.providers.openai_compatible import (  # noqa: PLC0415 - heavy
            OpenAICompatibleProvider,
        )

        address = urlsplit(self.base_url)
        if address.scheme not in {"http", "https"} or not address.hostname:
            raise ValueError(f"base_url = {self.base_url!r} is not an address")
        if self.key and address.scheme == "http" and address.hostname not in LOOPBACK:
            raise ValueError("base_url is http: the key would be sent unencrypted")
        provider = OpenAICompatibleProvider(
            "configured", base_url=self.base_url, api_key=self.key or NO_KEY
        )
        return OpenAIChatModel(self.model, provider=provider)

    def _known(self) -> "Model":
        from pydantic_ai.models import infer_model  # noqa: PLC0415 - heavy
        from pydantic_ai.providers import infer_provider_class  # noqa: PLC0415 - heavy

        def provider(name: str) -> "Provider[Any]":
            made: Any = infer_provider_class(name)
            return made(api_key=self.key)  # type: ignore[no-any-return]  # any provider

        # Without a key of ours each provider looks for its own, such as OPENAI_API_KEY.
        if self.key is None:
            return infer_model(self.model)
        return infer_model(self.model, provider_factory=provider)


def read_key(variable: str, file: str) -> str | None:
    """Read the key from an environment variable, or from a file; None: neither is set.

    Raises:
        Misconfigured: it does not exist, or it is one of Journeyman's own.
    """
    if variable.upper().startswith(OURS):
        raise Misconfigured(
            f"api_key_env names {variable}, which is Journeyman's own",
            fix="put the key into a variable of another name",
        )
    if variable:
        key = os.environ.get(variable, "").strip()
        return key or _missing(f"the environment has no {variable}")
    if not file:
        return None
    try:
        key = Path(file).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        return _missing(f"the key cannot be read from {file}: {type(error).__name__}")
    return key or _missing(f"{file} is empty")


def _missing(problem: str) -> str:
    raise Misconfigured(problem, fix="set api_key_env or api_key_file to where it is")
