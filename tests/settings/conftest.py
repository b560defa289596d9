"""A place of its own for each test: no file of whoever runs it is read."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from journeyman.domain.errors import ConfigurationError
from journeyman.settings.sources import LoadedSettings, load_settings

Load = Callable[..., LoadedSettings]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    return home


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    cwd = tmp_path / "here"
    (cwd / "config").mkdir(parents=True)
    return cwd


@pytest.fixture
def load(cwd: Path) -> Load:
    def load(
        toml: str | None = None,
        environ: Mapping[str, str] | None = None,
        overrides: Mapping[str, object] | None = None,
    ) -> LoadedSettings:
        if toml is not None:
            (cwd / "config/journeyman.toml").write_text(toml, encoding="utf-8")
        return load_settings(overrides=overrides, environ=environ or {}, cwd=cwd)

    return load


@pytest.fixture
def refuse(load: Load) -> Callable[..., list[str]]:
    """Load what must be refused, and give the problems, a line for each."""

    def refuse(*args: object, **kwargs: object) -> list[str]:
        with pytest.raises(ConfigurationError) as caught:
            load(*args, **kwargs)
        assert caught.value.fix
        headline, *problems = caught.value.problem.splitlines()
        assert headline.startswith("The settings have ")
        return [problem.strip() for problem in problems]

    return refuse
