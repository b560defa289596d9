"""`journeyman strategies ...`: what is loaded and how it fares; making a new one."""

from journeyman.cli.commands.strategies.listing import list_strategies
from journeyman.cli.commands.strategies.making import new_strategy
from journeyman.cli.commands.strategies.promoting import promote_strategy
from journeyman.cli.commands.strategies.releasing import release_strategy
from journeyman.cli.commands.strategies.scoring import score_shadows
from journeyman.cli.commands.strategies.showing import show_strategy

__all__ = [
    "list_strategies",
    "new_strategy",
    "promote_strategy",
    "release_strategy",
    "score_shadows",
    "show_strategy",
]
