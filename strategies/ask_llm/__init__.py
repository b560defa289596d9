"""Text tasks by a language model, within a budget; off without a model and a key.

How to set it up: docs/how-to/llm-strategy.md.
"""

import journeyman  # noqa: F401 - by this a folder is known to be a strategy

from .core import AskLlm  # noqa: TID252, F401 - files beside it are found by the dot
