"""One formatter for everything: columns for people, JSON for machines.

Event names are static, data is in keywords: ``log.info("run.written", run=…)``.
Records of libraries that use ``logging`` pass through the same processors.
"""

from __future__ import annotations

import logging
import logging.config
import re
from collections.abc import Mapping
from typing import Any, Final

import structlog

_SECRET_NAMES: Final = re.compile(
    r"password|passwd|secret|token|authorization|cookie|api_?key", re.IGNORECASE
)
_SECRET_TEXTS: Final = (
    (re.compile(r"(://[^/\s:@]*:)[^/\s@]+@"), r"\1***@"),
    (re.compile(r"(?i)\b(bearer\s+)[A-Za-z0-9._~+/=-]{8,}"), r"\1***"),
)

_SHARED: Final[list[structlog.typing.Processor]] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
]
# One list for the life of the process: a logger that was used keeps the list it found,
# so a second one would leave it behind (and deaf to structlog.testing.capture_logs).
_OF_LOGGERS: Final[list[structlog.typing.Processor]] = [
    structlog.stdlib.filter_by_level,
    *_SHARED,
    structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
]


def configure_logging(*, level: str, as_json: bool) -> None:
    """Set up ``structlog`` and ``logging``. ``level`` is a name such as INFO."""
    last: list[structlog.typing.Processor] = (
        [
            structlog.processors.format_exc_info,
            without_secrets,
            structlog.processors.JSONRenderer(),
        ]
        if as_json
        else [
            # As text, before secrets are taken out of it.
            structlog.processors.format_exc_info,
            without_secrets,
            structlog.dev.ConsoleRenderer(
                # Not the default: rich would print every local variable, secrets too.
                colors=False,
                exception_formatter=structlog.dev.plain_traceback,
            ),
        ]
    )
    structlog.configure(
        processors=_OF_LOGGERS,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    # Warnings of libraries are events like others then.
    logging.captureWarnings(as_json)
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {
                "structured": {
                    "()": structlog.stdlib.ProcessorFormatter,
                    "foreign_pre_chain": _SHARED,
                    "processors": [
                        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                        *last,
                    ],
                }
            },
            "handlers": {
                "stderr": {"class": "logging.StreamHandler", "formatter": "structured"}
            },
            "root": {"handlers": ["stderr"], "level": level},
            "loggers": {
                "urllib3": {"level": "ERROR"},
                "httpx": {"level": "WARNING"},
                # uvicorn brings handlers of its own; requests are told of by us.
                "uvicorn": {"handlers": [], "propagate": True, "level": "INFO"},
                "uvicorn.error": {"handlers": [], "propagate": True},
                "uvicorn.access": {"handlers": [], "level": "WARNING"},
                # Tasks are told of by us (dra_portal.task_logs), with more ids.
                "celery.worker.strategy": {"level": "WARNING"},
                "celery.app.trace": {"level": "WARNING"},
            },
        }
    )


def without_secrets(
    _logger: Any, _method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Values under names of secrets, and passwords in addresses, become ``***``."""
    return {key: _clean(key, value) for key, value in event.items()}


def _clean(key: object, value: Any) -> Any:
    if isinstance(key, str) and _SECRET_NAMES.search(key) and value:
        return "***"
    if isinstance(value, str):
        for pattern, instead in _SECRET_TEXTS:
            value = pattern.sub(instead, value)
        return value
    if isinstance(value, Mapping):
        return {k: _clean(k, v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_clean("", each) for each in value]
    return value
