# Two stages: uv builds the locked environment, the image runs it as a plain user.
FROM python:3.13-slim AS build
RUN pip install --no-cache-dir "uv>=0.13.9,<1"
WORKDIR /app
COPY pyproject.toml uv.lock .python-version ./
RUN uv sync --locked --no-default-groups
COPY . .
RUN DRA_PORTAL_HASHED_STATIC=true DRA_PORTAL_VAR=/tmp .venv/bin/python manage.py collectstatic --noinput

FROM python:3.13-slim
COPY --from=build /app /app
WORKDIR /app
ENV PATH=/app/.venv/bin:$PATH PYTHONUNBUFFERED=1
USER 10001
EXPOSE 8000
CMD ["uvicorn", "dra_portal.asgi:application", "--host", "0.0.0.0", "--port", "8000"]
