"""The discovery documents: read politely, compared, and never trusted (design 5)."""

from journeyman.network.discovery.comparison import Compared, Expectations, Verdict
from journeyman.network.discovery.products import Product
from journeyman.network.discovery.survey import Page, Portal, Survey, survey

__all__ = [
    "Compared",
    "Expectations",
    "Page",
    "Portal",
    "Product",
    "Survey",
    "Verdict",
    "survey",
]
