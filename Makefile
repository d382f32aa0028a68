# Every target sets itself up: a machine needs Python >= 3.11 and make.
WINDOWS := $(filter Windows_NT,$(OS))
PYTHON ?= $(if $(WINDOWS),python,python3)
VENV := .venv
BIN := $(VENV)/$(if $(WINDOWS),Scripts,bin)
WORKERS ?= 2
CONSTRAINTS ?= newest  # or minimum, or locked: the versions in constraints/
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check \
	$(if $(filter-out newest,$(CONSTRAINTS)),--constraint constraints/$(strip $(CONSTRAINTS)).txt)

.DEFAULT_GOAL := help
.PHONY: pictures help demo install test coverage lint types contracts docs wheel lock test-slow clean

help:  ## what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/ /' | awk '{t=$$1; $$1=""; printf "  make %-12s%s\n", t, $$0}'

# Two marks: the small set of libraries that the demo needs, and everything.
$(VENV)/.core: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	touch $@

$(VENV)/.all: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable '.[all,dev]'
	touch $@ $(VENV)/.core

demo: $(VENV)/.core  ## explain the loan example
	$(BIN)/waypost explain --target Granted

install: $(VENV)/.all  ## editable, with all extras

# Windows has no Storm and no children with limits of their own: there it is the mathematics that is tested.
TESTS := $(if $(WINDOWS),$(addprefix tests/,model graph solve importance patterns test_laws.py test_public.py))

test: install lint types contracts $(if $(WINDOWS),,docs)  ## everything that must hold
	$(BIN)/python -m pytest -q -n $(WORKERS) -m "not slow" $(TESTS)

lint: install
	$(BIN)/ruff check src tests examples
	$(BIN)/ruff format --check src tests examples

types: install
	$(BIN)/mypy

contracts: install
	$(BIN)/lint-imports

test-slow: install  ## the long suites, Spark among them, and thousands of random models against brute force
	$(PIP) --editable '.[spark]'
	$(BIN)/python -m pytest -q -n $(WORKERS) -m slow
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -q -n $(WORKERS) tests/importance/test_oracle.py tests/patterns/test_importance.py

coverage: install  ## how much of the code the tests run, which must not fall; kernels count where they run as Python
	HYPOTHESIS_PROFILE=quick $(BIN)/python -m pytest -q -n $(WORKERS) -m "not slow" --cov --cov-report=term:skip-covered

docs: install  ## the site, strict, with its notebooks executed, into out/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

wheel: $(VENV)/.core  ## build the wheel, and try it in an empty environment with core dependencies only
	$(PIP) build
	rm -rf dist out/wheel && $(BIN)/python -m build --wheel --outdir dist . >/dev/null
	$(PYTHON) -m venv out/wheel
	$(subst $(VENV),out/wheel,$(PIP)) dist/*.whl
	cd out && $(subst $(VENV),wheel,$(BIN))/waypost explain --target Granted

lock: install  ## write constraints/: the lowest versions we promise to work with, and the newest we tested
	$(PIP) uv
	mkdir -p constraints
	$(BIN)/uv pip compile -q pyproject.toml --extra all --python-version 3.11 --resolution lowest-direct \
		--no-header --no-annotate --no-emit-index-url -o constraints/minimum.txt
	$(BIN)/uv pip compile -q pyproject.toml --extra all --extra dev --python-version 3.11 --universal \
		--no-header --no-annotate --no-emit-index-url -o constraints/locked.txt

notebook: install  ## the tutorial on trained networks, run again; brings torch
	$(PIP) --editable '.[agents]'
	$(BIN)/python -m nbconvert --to notebook --execute --inplace --ExecutePreprocessor.record_timing=False \
		docs/tutorials/networks.ipynb

.PHONY: notebook

pictures: install  ## the pictures of the documentation (needs Chromium)
	$(BIN)/python docs/pictures.py

clean:  ## remove the environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

bench: install  ## Waypost beside Storm on this machine; writes docs/benchmarks/
	$(BIN)/waypost bench --data $(DATA) --output docs/benchmarks $(BENCH)

.PHONY: bench

# PM4PY: an interpreter that has pm4py, pandas and pyarrow, in an environment of its own
bench-scale: install  ## ten million events, a million states, reading beside Storm, learning; into docs/scale.md
	$(BIN)/python -m waypost.paper.bench.scale --output docs/scale.md $(if $(PM4PY),--pm4py $(PM4PY))

.PHONY: bench-scale

demo-log: install  ## from a made-up event log to scores, offline
	$(BIN)/waypost explain loan-log --format text

.PHONY: demo-log

DATA ?= ../shared/data

qcomp: install  ## our reachability beside published values and Storm's; writes docs/qcomp.md
	$(BIN)/python -m waypost.paper.studies.qcomp $(DATA)/models/qcomp --output docs/qcomp.md

.PHONY: qcomp
