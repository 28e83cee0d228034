# `make` alone prints this list. Everything runs from a clean checkout.
.DEFAULT_GOAL := help
.PHONY: help demo test soak lint fmt bench serve watch worker beat schema frontend setup

PORT ?= 8000
DUMP ?=
SOAK_SECONDS ?= 1800
RUN := bin/uv run --locked

help: ## print this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 10

setup: ## install the locked dependencies into .venv
	@bin/uv sync --locked --quiet

demo: ## show a realistic cluster in the browser (PORT=8000; DUMP="a.json b.yaml" shows a dump instead)
	@bin/uv sync --locked --quiet --no-default-groups --inexact
	@exec bin/demo --port $(PORT) $(DUMP)

test: ## lint, then every test; installs and starts what they need
	@bin/uv sync --locked --quiet
	@exec .venv/bin/python bin/run_tests.py

soak: ## workers that fight for devices for half an hour (SOAK_SECONDS=1800; a database as for tests)
	@bin/uv sync --locked --quiet
	@DRA_PORTAL_SOAK_SECONDS=$(SOAK_SECONDS) .venv/bin/pytest -m soak tests/allocator/test_soak.py tests/allocator/test_soak_processes.py

lint: ## formatting, rules, types, layers, templates, migrations, API schema
	@bin/uv sync --locked --quiet
	@exec bin/lint

fmt: ## format Python
	@$(RUN) ruff format .
	@$(RUN) ruff check --fix --quiet .

bench: ## measure, and print a table: ours, the comparison, ratio, memory
	@bin/uv sync --locked --quiet
	@.venv/bin/python -m bench

serve: ## the web server (settings from the environment, docs/operations.md)
	@$(RUN) uvicorn dra_portal.asgi:application --port $(PORT) --timeout-graceful-shutdown 20

watch: ## mirror the clusters of clusters.yaml into the database
	@$(RUN) manage.py watch

worker: ## a Celery worker
	@$(RUN) celery -A dra_portal worker --loglevel INFO

beat: ## the clock: sends what is due to the workers
	@$(RUN) celery -A dra_portal beat --loglevel INFO --pidfile=

schema: ## write openapi.yaml anew
	@$(RUN) manage.py spectacular --validate --fail-on-warn --file openapi.yaml

frontend: ## build the editors in static/js anew (needs node 20 and npm)
	@exec bin/frontend build
