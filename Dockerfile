# syntax=docker/dockerfile:1
# Two stages: uv builds the locked environment, the image runs it as a plain user.
# Nothing is written at run time but below DRA_PORTAL_VAR, so the root may be read-only.
# For a build that is the same next year, name the image by its digest:
#   docker build --build-arg PYTHON=python@sha256:... .
ARG PYTHON=python:3.13-slim-bookworm
FROM ${PYTHON} AS build
RUN pip install --no-cache-dir "uv==0.13.9"
ENV UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never UV_COMPILE_BYTECODE=1
WORKDIR /app
COPY pyproject.toml uv.lock .python-version ./
RUN uv sync --locked --no-default-groups
COPY manage.py ./
COPY allocator allocator
COPY claims claims
COPY cluster cluster
COPY dra dra
COPY dra_portal dra_portal
COPY inventory inventory
COPY web web
COPY static static
COPY templates templates
RUN .venv/bin/python -m compileall -q allocator claims cluster dra dra_portal inventory web \
 && DRA_PORTAL_HASHED_STATIC=true DRA_PORTAL_VAR=/tmp .venv/bin/python manage.py collectstatic --no-input

FROM ${PYTHON}
# With a name: Celery takes a group that has none for root's, and warns at each start.
RUN groupadd --gid 10001 portal \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin portal
COPY --from=build /app /app
WORKDIR /app
ENV PATH=/app/.venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DJANGO_SETTINGS_MODULE=dra_portal.settings \
    DRA_PORTAL_VAR=/tmp \
    DRA_PORTAL_HASHED_STATIC=true
USER 10001:10001
EXPOSE 8000
CMD ["uvicorn", "dra_portal.asgi:application", "--host=0.0.0.0", "--port=8000", "--lifespan=off", "--no-access-log", "--no-server-header", "--timeout-graceful-shutdown=20"]
