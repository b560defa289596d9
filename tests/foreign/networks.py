"""All foreign networks: each is a file beside this one."""

import importlib
import inspect
from pathlib import Path
from types import ModuleType

from tests.foreign.backend import Backend

HERE = Path(__file__).parent
NO_NETWORKS = {
    *(
        "__init__",
        "backend",
        "capitals",
        "drawn",
        "drawn_strangely",
        "drawn_trials",
        "networks",
        "simulated",
        "trial",
        "unheard",
    ),
}
NETWORKS = sorted(
    one.stem
    for one in HERE.glob("*.py")
    if one.stem not in NO_NETWORKS and not one.stem.startswith("test_")
)


def module_of(name: str) -> ModuleType:
    return importlib.import_module(f"tests.foreign.{name}")


def network_named(name: str) -> Backend:
    module = module_of(name)
    (found,) = (
        kind
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, Backend) and kind.__module__ == module.__name__
    )
    backend: Backend = found()
    return backend
