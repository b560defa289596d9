"""structlog without Rich, which it imports where that is installed.

Rich, with Pygments, would only draw tracebacks, which our log does not have drawn. It
takes 3 MB of a daemon and a tenth of the modules that it imports. structlog itself goes
without where it finds none.
"""

import sys

_is_hidden = "rich" not in sys.modules
if _is_hidden:
    sys.modules["rich"] = None  # type: ignore[assignment] # "is not installed"
try:
    import structlog
    from structlog.typing import FilteringBoundLogger, WrappedLogger
finally:
    if _is_hidden:
        del sys.modules["rich"]

__all__ = ["FilteringBoundLogger", "WrappedLogger", "structlog"]
