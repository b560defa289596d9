"""What every test shares: asyncio as the backend, and a clean environment."""

import os

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("JOURNEYMAN_"):
            monkeypatch.delenv(name)
