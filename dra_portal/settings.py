"""One settings file. Without any environment it runs on SQLite, for one machine.

``DRA_PORTAL_*`` variables are listed with their defaults in docs/operations.md.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured
from django.utils.csp import CSP

from dra_portal import environment as env
from dra_portal.logging import configure_logging
from dra_portal.queues import Queues, limits, soft, visibility_seconds

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(env.text("DRA_PORTAL_VAR", str(BASE_DIR / "var")))

DEBUG = env.boolean("DRA_PORTAL_DEBUG", default=False)
# Behind TLS: secure cookies, HSTS and redirects. Off for `make demo` on plain HTTP.
SECURE = env.boolean("DRA_PORTAL_SECURE", default=False)


def _secret_key() -> str:
    """From the environment, else made once and kept in VAR_DIR (mode 0600)."""
    given = env.secret("DRA_PORTAL_SECRET_KEY")
    if given:
        return given
    if SECURE:
        raise ImproperlyConfigured(
            "DRA_PORTAL_SECRET_KEY (or DRA_PORTAL_SECRET_KEY_FILE) must be set when "
            "DRA_PORTAL_SECURE is on."
        )
    from django.core.management.utils import get_random_secret_key

    path = VAR_DIR / "secret_key"
    if not path.exists():
        VAR_DIR.mkdir(parents=True, exist_ok=True)
        # Complete or not there: several processes may start for the first time at once.
        mine = path.with_name(f".secret_key.{os.getpid()}")
        mine.touch(mode=0o600)
        mine.write_text(get_random_secret_key(), encoding="utf-8")
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(mine)
        mine.unlink()
    return path.read_text(encoding="utf-8")


SECRET_KEY = _secret_key()
ALLOWED_HOSTS = env.listing("DRA_PORTAL_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = env.listing("DRA_PORTAL_ORIGINS")
if not all("://" in origin for origin in CSRF_TRUSTED_ORIGINS):
    raise ImproperlyConfigured(
        "DRA_PORTAL_ORIGINS: begin each with https://, such as https://dra.example.com."
    )

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "django_filters",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "web",
    "inventory",
    "claims",
    "allocator",
    "dra_portal",
]

MIDDLEWARE = [
    "dra_portal.middleware.RequestLog",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "dra_portal.static_files.StaticFiles",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "dra_portal.urls"
ASGI_APPLICATION = "dra_portal.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.csp",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "inventory.views.frame.frame",
            ],
        },
    },
]


def _database(url: str) -> dict[str, object]:
    """``sqlite:///path`` or ``postgresql://user:password@host:port/name``."""
    try:
        parts = urlsplit(url)
        port = str(parts.port or "")
    except ValueError:  # a port that is no number
        parts, port = urlsplit(""), ""
    if parts.scheme == "sqlite":
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": parts.path[1:] or str(VAR_DIR / "portal.sqlite3"),
            "OPTIONS": {
                # Readers go on while the watch writes; writers queue instead of failing.
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
                "transaction_mode": "IMMEDIATE",
                "timeout": 30,
            },
        }
    if parts.scheme in {"postgresql", "postgres"}:
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": parts.path.lstrip("/"),
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or "")
            or env.secret("DRA_PORTAL_DATABASE_PASSWORD"),
            "HOST": parts.hostname or "",
            "PORT": port,
            "CONN_HEALTH_CHECKS": True,
        }
    raise ImproperlyConfigured(
        "DRA_PORTAL_DATABASE: use sqlite:///path or postgresql://user@host/name."
    )


DATABASES = {
    "default": _database(
        env.secret("DRA_PORTAL_DATABASE") or f"sqlite:///{VAR_DIR / 'portal.sqlite3'}"
    )
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "overview-home"
LOGOUT_REDIRECT_URL = "login"

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if env.boolean("DRA_PORTAL_HASHED_STATIC", default=SECURE)
        else "django.contrib.staticfiles.storage.StaticFilesStorage",
    },
}
# Unhashed files may change under a running server: look at each of them when asked.
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = not env.boolean(
    "DRA_PORTAL_HASHED_STATIC", default=SECURE
)

SECURE_CSP = {
    "default-src": [CSP.SELF],
    "script-src": [CSP.SELF, CSP.NONCE],
    "style-src": [CSP.SELF, CSP.NONCE],
    "img-src": [CSP.SELF, "data:"],
    "connect-src": [CSP.SELF],
    "object-src": [CSP.NONE],
    "base-uri": [CSP.NONE],
    "form-action": [CSP.SELF],
    "frame-ancestors": [CSP.NONE],
}
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "web.errors.csrf_failure"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = SECURE
CSRF_COOKIE_SECURE = SECURE
SECURE_SSL_REDIRECT = SECURE
# Asked over plain HTTP from within: kubelet, compose, Prometheus.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_HSTS_SECONDS = 31_536_000 if SECURE else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE
# Browsers keep such a list for years, so only who asks for it gets onto it.
SECURE_HSTS_PRELOAD = env.boolean("DRA_PORTAL_HSTS_PRELOAD", default=False)
SILENCED_SYSTEM_CHECKS = ["security.W021"]
if env.boolean("DRA_PORTAL_BEHIND_PROXY", default=False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "web.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["web.api.permissions.ViewerReads"],
    "DEFAULT_RENDERER_CLASSES": ["web.api.rendering.WholeJSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["web.api.parsing.BoundedJSONParser"],
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_PAGINATION_CLASS": "web.api.paging.CursorPages",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "web.api.problems.problem_details",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "DRA Portal API",
    "DESCRIPTION": "Devices, claims and allocations of Kubernetes Dynamic Resource Allocation.",
    "VERSION": "1.0.0",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SCHEMA_PATH_PREFIX": r"/api/v1",
    "PATH_CONVERTER_OVERRIDES": {"name": str, "names": str},
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_NAME_OVERRIDES": {
        "RunState": "allocator.choices.RunState",
        "RunKind": "allocator.choices.RunKind",
        "WhatIfState": "allocator.choices.WhatIfState",
        "ClaimState": "claims.choices.ClaimState",
        "DeviceState": "inventory.choices.DeviceState",
        "Happened": "inventory.choices.Happened",
    },
}

# Which clusters: see docs/operations.md, "clusters.yaml".
CLUSTERS_FILE = env.text("DRA_PORTAL_CLUSTERS", str(BASE_DIR / "clusters.yaml"))

QUEUES = Queues(env.text("DRA_PORTAL_QUEUE", "dra-portal"))
TASK_SECONDS = env.integer("DRA_PORTAL_TASK_SECONDS", 1200, least=1)
RUN_LEASE_SECONDS = env.integer("DRA_PORTAL_RUN_LEASE_SECONDS", 90, least=1)
WAITING_PASS_SECONDS = env.integer("DRA_PORTAL_WAITING_PASS_SECONDS", 10)

CELERY_BROKER_URL = env.secret("DRA_PORTAL_BROKER") or "redis://127.0.0.1:6379/0"
if "://" not in CELERY_BROKER_URL:
    raise ImproperlyConfigured("DRA_PORTAL_BROKER: use redis://host:6379/0.")
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # workers and beat wait for it for ever
CELERY_BROKER_TRANSPORT_OPTIONS = {
    # A page that starts a run must not hang on a broker that takes the connection and
    # does not answer: it waits for three of these at most, five seconds in all. Workers
    # have more patience (dra_portal.celery).
    "socket_connect_timeout": 1.5,
    "socket_timeout": 1.5,
    "socket_keepalive": True,
    "health_check_interval": 25,
    "visibility_timeout": visibility_seconds(run=TASK_SECONDS, lease=RUN_LEASE_SECONDS),
}
if CELERY_BROKER_URL.startswith("memory:"):
    # The demo's queue, which is looked into once a second unless told otherwise.
    CELERY_BROKER_TRANSPORT_OPTIONS["polling_interval"] = 0.1
CELERY_RESULT_BACKEND = None
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
# What failed has told so in its run; only a run whose process was killed comes again.
CELERY_TASK_ACKS_ON_FAILURE = True
CELERY_TASK_PUBLISH_RETRY_POLICY = {
    "max_retries": 3,
    "interval_start": 0.2,
    "interval_step": 0.4,
    "interval_max": 1.0,
}
CELERY_TASK_TIME_LIMIT = TASK_SECONDS
CELERY_TASK_SOFT_TIME_LIMIT = soft(TASK_SECONDS)
CELERY_TASK_ANNOTATIONS = limits(run=TASK_SECONDS, waiting_pass=WAITING_PASS_SECONDS)
CELERY_TASK_DEFAULT_QUEUE = QUEUES.base
CELERY_TASK_QUEUES = QUEUES.declared()
CELERY_TASK_CREATE_MISSING_QUEUES = False  # a mistyped name would never be emptied
CELERY_TASK_ROUTES = QUEUES.routes()
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# A lost broker does not stop a run: it goes on, and a second delivery finds it busy.
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_DB_REUSE_MAX = 200  # tasks; see dra_portal.celery
CELERY_BEAT_SCHEDULER = "dra_portal.beating:SingleScheduler"
CELERY_BEAT_SCHEDULE = QUEUES.schedule()

# Allocation runs (allocator.services); times in seconds.
RUN_MAX_ATTEMPTS = env.integer("DRA_PORTAL_RUN_ATTEMPTS", 3, least=1)
RUN_PLAN_SECONDS = env.integer("DRA_PORTAL_RUN_PLAN_SECONDS", 60)
RUN_MIRROR_SECONDS = env.integer("DRA_PORTAL_RUN_MIRROR_SECONDS", 10)
RUN_WATCH_SECONDS = env.integer("DRA_PORTAL_RUN_WATCH_SECONDS", 90)
RUN_SERVER_SECONDS = env.integer("DRA_PORTAL_RUN_SERVER_SECONDS", 45)
RUN_TAKEOVERS = env.integer("DRA_PORTAL_RUN_TAKEOVERS", 5)
RUN_VERIFY_SECONDS = env.integer("DRA_PORTAL_RUN_VERIFY_SECONDS", 30)
RUN_MIRROR_MAX_AGE = env.integer("DRA_PORTAL_RUN_MIRROR_MAX_AGE", 900)
RUN_SNAPSHOT_SECONDS = env.integer("DRA_PORTAL_RUN_SNAPSHOT_SECONDS", 10)
RUN_LOCK_SECONDS = env.integer("DRA_PORTAL_RUN_LOCK_SECONDS", 300)
RUN_HISTORY_DAYS = env.integer("DRA_PORTAL_RUN_HISTORY_DAYS", 180)

# Why pending claims wait (allocator.services.waiting): seconds for one claim, seconds
# and claims for one pass, seconds between two passes of a cluster that changes.
WAITING_SECONDS = env.integer("DRA_PORTAL_WAITING_SECONDS", 1)
WAITING_CLAIMS = env.integer("DRA_PORTAL_WAITING_CLAIMS", 500)
WAITING_EVERY = env.integer("DRA_PORTAL_WAITING_EVERY", 5)

# What-ifs (allocator.whatif): seconds that a page waits for an answer, seconds for a
# worker, how many one user may have under way, days for which answers are kept.
WHAT_IF_INLINE_SECONDS = env.integer("DRA_PORTAL_WHAT_IF_INLINE_SECONDS", 1)
WHAT_IF_SECONDS = env.integer("DRA_PORTAL_WHAT_IF_SECONDS", 120)
WHAT_IF_AT_ONCE = env.integer("DRA_PORTAL_WHAT_IF_AT_ONCE", 3)
WHAT_IF_KEEP_DAYS = env.integer("DRA_PORTAL_WHAT_IF_KEEP_DAYS", 30)
# Headroom is worked out this many seconds long at most, and kept for so many days.
HEADROOM_SECONDS = env.integer("DRA_PORTAL_HEADROOM_SECONDS", 10)
HEADROOM_KEEP_DAYS = env.integer("DRA_PORTAL_HEADROOM_KEEP_DAYS", 365)

# What is wrong (allocator.findings): seconds between two looks at a cluster that
# changes, seconds until what is normal for a moment is shown, how many are kept of one
# cluster, days for which those that ended are kept.
FINDINGS_EVERY = env.integer("DRA_PORTAL_FINDINGS_EVERY", 2)
FINDINGS_SETTLE_SECONDS = env.integer("DRA_PORTAL_FINDINGS_SETTLE_SECONDS", 15)
FINDINGS_MOST = env.integer("DRA_PORTAL_FINDINGS_MOST", 10_000)
FINDINGS_KEEP_DAYS = env.integer("DRA_PORTAL_FINDINGS_KEEP_DAYS", 90)

# Use over time (inventory.history): days for which every change is kept, those for which
# hours are, and days; then days for which what happened to objects is kept, and how
# many rows of one object.
USAGE_DETAIL_DAYS = env.integer("DRA_PORTAL_USAGE_DETAIL_DAYS", 8)
USAGE_HOURS_DAYS = env.integer("DRA_PORTAL_USAGE_HOURS_DAYS", 60)
USAGE_DAYS = env.integer("DRA_PORTAL_USAGE_DAYS", 400)
HAPPENINGS_DAYS = env.integer("DRA_PORTAL_HAPPENINGS_DAYS", 90)
HAPPENINGS_PER_OBJECT = env.integer("DRA_PORTAL_HAPPENINGS_PER_OBJECT", 500)

# How many days a cluster is kept that clusters.yaml names no more (inventory.services);
# 0: it is deleted at once.
LEFT_CLUSTER_DAYS = env.integer("DRA_PORTAL_LEFT_CLUSTER_DAYS", 30)

# How many days the record of who wrote which object is kept (claims.services.record).
WRITE_RECORD_DAYS = env.integer("DRA_PORTAL_WRITE_RECORD_DAYS", 365)

# How long an expression that a user typed may be evaluated (inventory.selecting).
CEL_SECONDS = env.integer("DRA_PORTAL_CEL_SECONDS", 2)
# How often a web process looks for changed slices (dra_portal.warming); 0: never.
WARM_SECONDS = env.integer("DRA_PORTAL_WARM_SECONDS", 2)

# Numbers (dra_portal.metrics). The library wants the directory before it is imported.
METRICS_LISTEN = env.address("DRA_PORTAL_METRICS_LISTEN")
METRICS_DIR = env.text("DRA_PORTAL_METRICS_DIR")
if METRICS_DIR:
    try:
        Path(METRICS_DIR).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(f"DRA_PORTAL_METRICS_DIR: {error}") from error
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = METRICS_DIR

LOGGING_CONFIG = None  # structlog and logging are set up in one place instead
LOG_LEVEL = env.level("DRA_PORTAL_LOG_LEVEL", "INFO")
configure_logging(
    level=LOG_LEVEL, as_json=env.boolean("DRA_PORTAL_LOG_JSON", default=False)
)

DATA_UPLOAD_MAX_MEMORY_SIZE = 3 * 1024 * 1024
