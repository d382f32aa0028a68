# Every target sets itself up: a machine needs Python >= 3.11 and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: pictures help demo install test lint types contracts test-slow clean

help:  ## what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/ /' | awk '{t=$$1; $$1=""; printf "  make %-12s%s\n", t, $$0}'

# Two marks: the small set of libraries that the demo needs, and everything.
$(VENV)/.core: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.all: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all,dev]'
	touch $@ $(VENV)/.core

demo: $(VENV)/.core  ## explain the loan example
	$(BIN)/waypost explain --target Granted

install: $(VENV)/.all  ## editable, with all extras

test: install lint types contracts  ## everything that must hold
	$(BIN)/python -m pytest -q -n $(WORKERS) -m "not slow"

lint: install
	$(BIN)/ruff check src tests examples
	$(BIN)/ruff format --check src tests examples

types: install
	$(BIN)/mypy

contracts: install
	$(BIN)/lint-imports

test-slow: install  ## the long suites, and thousands of random models against brute force
	$(BIN)/python -m pytest -q -n $(WORKERS) -m slow
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -q -n $(WORKERS) tests/importance/test_oracle.py tests/patterns/test_importance.py

pictures: install  ## the pictures of the documentation (needs Chromium)
	$(BIN)/python docs/pictures.py

clean:  ## remove the environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

bench: install  ## Waypost beside Storm on this machine; writes docs/benchmarks/
	$(BIN)/waypost bench --output docs/benchmarks $(BENCH)

.PHONY: bench

demo-log: install  ## from a made-up event log to scores, offline
	$(BIN)/waypost explain loan-log --format text

.PHONY: demo-log

DATA ?= ../shared/data

qcomp: install  ## our reachability beside published values and Storm's; writes docs/qcomp.md
	$(BIN)/python -m waypost.paper.studies.qcomp $(DATA)/models/qcomp --output docs/qcomp.md

.PHONY: qcomp
