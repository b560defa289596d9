"""Loading the one strategy of a child, from the same files as the daemon did."""

from pathlib import Path

from journeyman.strategies.child.orders import Orders
from journeyman.strategies.installed import installed
from journeyman.strategies.loaded import Loaded
from journeyman.strategies.loader import load as load_folder
from journeyman.strategies.loader import load_file


class NotLoadedError(Exception):
    """The strategy does not load here; the text says why and what to do."""


def load(orders: Orders) -> Loaded:
    """Load it with the parameters in force.

    Raises:
        NotLoadedError: it cannot be loaded, or is not in the file any more.
    """
    if orders.distribution:
        # The home is empty, so that nothing but the package's own is loaded.
        ours = [one for one in installed() if one.distribution == orders.distribution]
        params, names = {orders.strategy: orders.params}, [one.name for one in ours]
        loading = load_folder(Path(orders.home), params, names)
    else:
        loading = load_file(Path(orders.file), {orders.strategy: orders.params})
    for loaded in loading.strategies:
        if loaded.name == orders.strategy:
            return loaded
    problems = "\n".join(map(str, loading.problems))
    raise NotLoadedError(problems or f"{orders.file} has no {orders.strategy!r} now")
