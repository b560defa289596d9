"""The connection to the model: its name, address and key, as configured."""

import os
from dataclasses import dataclass, field
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
