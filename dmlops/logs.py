"""The logger ``dmlops`` of Python's logging: what happens seldom, and what is slow.

It is silent until the program says otherwise: by ``logging.basicConfig(level=logging.INFO)``, by a handler of the logger, or
by the environment variable ``DMLOPS_LOG``, which writes to standard error.
"""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

from dmlops.late_imports import imported, there

if TYPE_CHECKING:
    import logging

__all__ = ["log", "warn"]

_LEVELS = (20, 30)  # those of logging


@functools.cache
def _logger() -> logging.Logger:
    module = imported("logging")
    logger: logging.Logger = module.getLogger("dmlops")
    logger.addHandler(module.NullHandler())  # else warnings would be written where nobody asked for them
    wanted = os.environ.get("DMLOPS_LOG", "").upper()
    if wanted:
        handler = module.StreamHandler()
        handler.setFormatter(module.Formatter("%(asctime)s %(name)s %(levelname)s: %(message)s"))
        logger.addHandler(handler)
        logger.setLevel(module.getLevelNamesMapping().get(wanted, module.INFO))
    return logger


def log(level: int, text: str) -> None:
    """Log a line of the extension, which has found that somebody listens; `level` is its number there."""
    _logger().log(_LEVELS[level], "%s", text)


def warn(text: str, *arguments: object) -> bool:
    """Log what deserves attention; false where nobody listens.

    That is a process that has not imported logging, unless the environment asks for it.
    """
    listens = there("logging", "captureWarnings") is not None or bool(os.environ.get("DMLOPS_LOG"))  # its last function
    if listens:
        _logger().warning(text, *arguments)
    return listens
