.DEFAULT_GOAL := help
SHELL := /bin/sh

ifndef PYTHON
PYTHON := $(firstword $(foreach p,python3 python3.14 python3.13 python3.12 python3.11,\
  $(shell $(p) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(p))))
endif
BIN := .venv/bin
INSTALLED := .venv/.installed
DEV := .venv/.dev
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
VENV_PACKAGE = $(if $(PYTHON),$(shell $(PYTHON) -c 'import sys; print("python3.%d-venv" % sys.version_info[1])'))

export PYSPARK_PYTHON := $(abspath $(BIN)/python)
export PYSPARK_DRIVER_PYTHON := $(PYSPARK_PYTHON)
export SPARK_LOCAL_IP ?= 127.0.0.1

.PHONY: help demo test java lint types layers docs bench bench-smoke clean

help:
	@echo 'make demo         a release of a synthetic table: found, written, verified, reported'
	@echo 'make test         every test, Spark included'
	@echo 'make lint types layers docs    style; mypy; import rules; every command of the docs'
	@echo 'make bench        the benchmarks (bench-smoke: a short run of each)'
	@echo 'make clean        remove what these made'

# The environment: one stamp for what a user needs, one more for what the checks need.

$(INSTALLED): pyproject.toml
	@test -n '$(PYTHON)' || { echo 'Python 3.11 or newer is missing. Install it with: sudo apt-get install -y python3' >&2; exit 1; }
	@scripts/ensure.sh 'The venv module' '$(VENV_PACKAGE)' '$(PYTHON) -m ensurepip --version'
	@echo 'Setting up .venv (a minute or two, once)'
	@test -x $(BIN)/pip || $(PYTHON) -m venv --clear .venv
	@$(PIP) --editable .
	@touch $@

$(DEV): $(INSTALLED)
	@echo 'Adding what the checks need, Spark included (a minute or two, once)'
	@$(PIP) --editable '.[dev]'
	@touch $@

demo: $(INSTALLED)
	@echo '1. A synthetic table of 20,000 hospital stays, its hierarchies and a recipe: demo/'
	@$(BIN)/python -m sfumato.samples demo
	@echo '2. The release with the least loss that keeps the promise: demo/release/'
	@$(BIN)/sfumato anonymize demo/stays.csv --recipe demo/stays.yaml --out demo/release
	@echo '3. The promise, checked again from the release alone'
	@$(BIN)/sfumato check demo/release/release.csv --recipe demo/stays.yaml
	@echo
	@echo 'The private table    $(CURDIR)/demo/stays.csv'
	@echo 'The recipe           $(CURDIR)/demo/stays.yaml'
	@echo 'The release          $(CURDIR)/demo/release/release.csv'
	@echo 'The manifest         $(CURDIR)/demo/release/manifest.json'
	@echo 'The report           $(CURDIR)/demo/release/report.html  (open it in a browser)'

java:
	@scripts/ensure.sh 'Java 17' openjdk-17-jre-headless \
	  'java -version 2>&1 | grep -Eq "version \"(1[7-9]|[2-9][0-9])"'

# What starts Spark runs alone, the rest on two cores.
test: $(DEV) java
	@$(BIN)/pytest -q -n 2 -m 'not spark'
	@$(BIN)/pytest -q -m spark tests

lint: $(DEV)
	@$(BIN)/ruff check .

types: $(DEV)
	@$(BIN)/mypy

layers: $(DEV)
	@$(BIN)/lint-imports

docs: $(DEV)
	@$(BIN)/pytest -q tests/docs

bench: $(DEV)
	@for each in benchmarks/[a-z]*.py; do echo "$$each"; $(BIN)/python "$$each" || exit 1; done

bench-smoke: $(DEV)
	@for each in benchmarks/[a-z]*.py; do echo "$$each --smoke"; $(BIN)/python "$$each" --smoke || exit 1; done

clean:
	@rm -rf .venv .venv-* demo build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	@find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
