"""How well the daemon chooses: the same seeded market, worked in one order and another.

Slots are scarce in it: there is several times more work than can be done, some kinds
pay better for their time than others, and some are seldom accepted. What an order
earns shows what it is worth.
"""

from journeyman.simulation.trial.market import Market, Offer, draw_market
from journeyman.simulation.trial.orders import ORDERS
from journeyman.simulation.trial.run import Earnings, try_order

__all__ = ["ORDERS", "Earnings", "Market", "Offer", "draw_market", "try_order"]
