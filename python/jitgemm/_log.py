"""The library's log, as Python's logger "jitgemm"."""

from __future__ import annotations

import sys

_LEVELS = {"trace": 5, "debug": 10, "info": 20, "warning": 30, "error": 40, "off": 100}


def deliver(level: str, message: str, named_level: str = "") -> None:
    """Logs one line. `named_level` is that of JITGEMM_LOG, or "".

    Where logging has no handler, the line goes to stderr if it is of the variable's level or above; unless the variable
    names a level, if it is a warning or an error.
    """
    logging = sys.modules.get("logging")  # who has not imported it listens to nothing
    logger = None if logging is None else logging.getLogger("jitgemm")
    if logger is not None and logger.hasHandlers():
        if named_level and logger.level == 0:
            logger.setLevel(_LEVELS[named_level])
        logger.log(_LEVELS[level], "%s", message)
    elif _LEVELS[level] >= _LEVELS[named_level or "warning"] and sys.stderr is not None:
        print(f"jitgemm: {level}: {message}", file=sys.stderr)


def deliver_line(line: str) -> None:
    """A line of the tool's log, "jitgemm: warning: ..."; any other line is passed over."""
    name, _, rest = line.strip().partition(": ")
    level, _, message = rest.partition(": ")
    if name == "jitgemm" and level in _LEVELS:
        deliver(level, message)
