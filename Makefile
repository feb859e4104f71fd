# What to do with the project: `make help`. Every target sets up .venv first, from requirements.lock.

PYTHON ?= python3
MINUTES ?= 10
EFFORT ?= 5
# `make test DAGSTER=1.13.0` tests with that Dagster, in an environment of its own.
DAGSTER ?=
# `make test SPARK=4` runs what needs no Iceberg with the Spark of requirements-spark4.lock, in another one.
SPARK ?=
SPARK_LOCK := $(if $(SPARK),requirements-spark$(SPARK).lock)
VENV := .venv$(if $(DAGSTER),-dagster-$(DAGSTER))$(if $(SPARK),-spark-$(SPARK))
BIN := $(VENV)/bin
# The last number of Dagster's integrations is the same: 0.29.27 is of 1.13.27.
PATCH := $(lastword $(subst ., ,$(DAGSTER)))
DAGSTERS := $(foreach part,dagster dagster-cloud-cli dagster-dg-cli dagster-dg-core dagster-graphql dagster-pipes dagster-shared dagster-webserver,$(part)==$(DAGSTER)) \
	$(foreach part,dagster-postgres dagster-pyspark dagster-spark,$(part)==0.29.$(PATCH))
CODE := $(wildcard tidegate benchmarks tests)
PYTEST := $(BIN)/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder
UV := uv==0.13.8

# Bytecode is kept, whatever the shell says: hundreds of processes import the same modules.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo dev check test bench bench-peers coverage soak docs pages figures wheel screenshots vendor lock clean static style types fast every compiled archive browser

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/stamp archive ## run the example project on real flights, from landing to report; ends by itself
	$(BIN)/tidegate demo

dev: $(VENV)/stamp ## run Dagster on the project, with its UI; redeploys when the YAML changes
	$(BIN)/tidegate dev

check: $(VENV)/stamp ## format, lint, types of what has changed, imports and the fast tests; about a minute
	@$(MAKE) --no-print-directory -j2 static fast

test: $(VENV)/stamp ## check, and all other tests: PostgreSQL, Dagster, Spark, endurance; some twenty minutes on two cores; DAGSTER=1.13.N tests with that version, SPARK=4 with that Spark
	@$(MAKE) --no-print-directory -j2 every static TYPES=--all

bench: $(VENV)/stamp ## measure, each figure beside its reference; ARGS="--short NAME" measures one, in a few minutes
	$(BIN)/python -m benchmarks $(ARGS)

bench-peers: $(VENV)/stamp .venv-airflow/stamp ## measure plain Dagster and Airflow 3 at their best settings beside it: from an event to its run, runs created in a burst
	$(BIN)/python -m benchmarks --short host op_latency burst airflow

coverage: $(VENV)/stamp ## every line and branch of the pure modules is run by a cheap test; ten minutes
	$(BIN)/python -m tests.pure_coverage

soak: $(VENV)/stamp ## coverage, the endurance tests with EFFORT=n times the seeds (default 5), SPARK=4, then fresh seeds for MINUTES=n (10)
	$(BIN)/python -m tests.soak --effort $(EFFORT) --minutes $(MINUTES)

docs: $(VENV)/stamp ## build the site of the documentation in build/site; a broken link is an error
	$(BIN)/python -m docs.site

pages: $(VENV)/stamp ## write the pages of docs/ that are rendered: diagnostics, reasons, settings, charts of the benchmarks
	$(BIN)/python -m tidegate.project.rendered_pages docs
	$(BIN)/python -m benchmarks.chart

figures: $(VENV)/stamp ## count the product: lines, files, methods of the store, modules that commands load
	$(BIN)/python -m tests.tidy.figures

wheel: $(VENV)/stamp ## build the wheel into dist/, test it where nothing else of the checkout is installed, and follow the pages of docs
	rm -rf dist
	$(BIN)/python -m hatchling build -t wheel -d dist
	TESTS_EFFORT=2 $(PYTEST) tests/installed

screenshots: $(VENV)/stamp ## take the pictures in docs/images from a real Dagster, with headless Chromium
	$(BIN)/python -m docs.screenshots

vendor: $(VENV)/stamp ## fetch the fonts and the library of the board from the npm registry again, and check their hashes
	$(BIN)/python -m tests.vendored

lock: ## resolve pyproject.toml again into requirements.lock, the newest Spark 4 and Airflow 3 into theirs
	folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && $(PYTHON) -m venv "$$folder" \
	&& "$$folder/bin/pip" install -q --disable-pip-version-check $(UV) \
	&& "$$folder/bin/uv" pip compile pyproject.toml --all-extras --group dev --python-version 3.11 --universal \
	   --generate-hashes --no-strip-extras --upgrade --no-header --no-emit-index-url -q -o requirements.lock \
	&& echo 'pyspark>=4,<5' | "$$folder/bin/uv" pip compile - --python-version 3.11 --universal \
	   --generate-hashes --upgrade --no-header --no-annotate --no-emit-index-url -q -o requirements-spark4.lock \
	&& printf '%s\n' 'apache-airflow>=3,<4' psycopg2-binary asyncpg | "$$folder/bin/uv" pip compile - --python-version 3.11 \
	   --universal --upgrade --no-header --no-annotate --no-emit-index-url -q -o requirements-airflow.lock

clean: ## remove the environment and every cache; data and the store stay
	rm -rf .venv .venv-dagster-* .venv-spark-* .venv-airflow .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage build dist
	find $(CODE) -name __pycache__ -type d -prune -exec rm -rf {} +

static: style types

style: $(VENV)/stamp
	$(BIN)/ruff format --check -q $(CODE)
	$(BIN)/ruff check -q $(CODE)
	$(BIN)/lint-imports --no-logo >$(VENV)/lint-imports.log || { cat $(VENV)/lint-imports.log; exit 1; }

types: $(VENV)/stamp
	$(BIN)/python -m tests.type_check $(TYPES)

# Beside the static checks, which keep one core busy for most of a minute; where one has failed by then, no test begins.
every: compiled browser
	$(PYTEST)

fast: $(VENV)/stamp
	$(PYTEST:auto=2) -m "fast and not hypothesis and not slow"

# Each worker of the tests loads all of them: compiled once, beside the types, they need half of the time.
compiled: archive
	@$(BIN)/python -m pytest -q --collect-only >$(VENV)/collected.log 2>&1 || { cat $(VENV)/collected.log; exit 1; }

# The tests of the board open its pages in Chromium (tests/browser.py).
browser: $(VENV)/stamp
	@$(BIN)/python -m tests.browser

# The classes of Spark's JVM, which start faster from it (tidegate/demo/class_archive.py).
archive: $(VENV)/stamp
	$(BIN)/python -m tidegate.demo.class_archive

$(VENV)/stamp: requirements.lock pyproject.toml $(SPARK_LOCK)
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' \
	|| { echo 'error: Python 3.11 to 3.13 is needed; name one with: make PYTHON=python3.11'; exit 1; }
	@echo 'setting up $(VENV) (once; some minutes)'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install -q --disable-pip-version-check --no-deps -r requirements.lock
	@$(BIN)/pip install -q --disable-pip-version-check --no-deps -e .
	@$(if $(SPARK),$(BIN)/pip install -q --disable-pip-version-check --no-deps -r $(SPARK_LOCK))
	@$(if $(DAGSTER),$(BIN)/pip install -q --disable-pip-version-check --no-deps $(DAGSTERS))
	@touch $@

.venv-airflow/stamp: requirements-airflow.lock
	@echo 'setting up .venv-airflow (once; a minute)'
	@$(PYTHON) -m venv .venv-airflow
	@.venv-airflow/bin/pip install -q --disable-pip-version-check --no-deps -r requirements-airflow.lock
	@touch $@
