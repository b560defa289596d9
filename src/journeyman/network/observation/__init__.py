"""What the network really does, learned from its answers: shapes, never values.

Design 5, Observation. Kept are names of fields, kinds of values, statuses, counts,
times, and the numbers of rate-limit headers. Nothing else of a body is.
"""

from journeyman.network.observation.answer import AnswerRecord
from journeyman.network.observation.endpoint import EndpointRecord
from journeyman.network.observation.header import HeaderRecord
from journeyman.network.observation.latency import Latency
from journeyman.network.observation.observer import Observer, records_from
from journeyman.network.observation.shape import Shape
from journeyman.network.observation.sight import Observe, Observed

__all__ = [
    "AnswerRecord",
    "EndpointRecord",
    "HeaderRecord",
    "Latency",
    "Observe",
    "Observed",
    "Observer",
    "Shape",
    "records_from",
]
