"""One formatter for everything: columns for people, JSON for machines.

Event names are static, data is in keywords: ``log.info("run.written", run=…)``.
Records of libraries that use ``logging`` pass through the same processors.
"""

from __future__ import annotations

import logging
import logging.config

import structlog


def configure_logging(*, level: str, as_json: bool) -> None:
    """Set up ``structlog`` and ``logging``. ``level`` is a name such as INFO."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    renderer: list[structlog.typing.Processor] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if as_json
        else [
            structlog.dev.ConsoleRenderer(
                # Not the default: rich would print every local variable, secrets too.
                colors=False,
                exception_formatter=structlog.dev.plain_traceback,
            )
        ]
    )
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {
                "structured": {
                    "()": structlog.stdlib.ProcessorFormatter,
                    "foreign_pre_chain": shared,
                    "processors": [
                        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                        *renderer,
                    ],
                }
            },
            "handlers": {
                "stderr": {"class": "logging.StreamHandler", "formatter": "structured"}
            },
            "root": {"handlers": ["stderr"], "level": level},
            "loggers": {"urllib3": {"level": "ERROR"}, "httpx": {"level": "WARNING"}},
        }
    )
