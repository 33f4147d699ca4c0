# Every target sets up what it needs. `make` alone lists the targets.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PY := .venv/bin/python
RUN := .venv/bin
CONSTRAINTS := constraints.txt
WORKERS ?= auto

# Version managers leave shims that do not start, so an interpreter is found by running it.
FIND_PYTHON := for python in python3 python3.13 python3.12 python3.11 python; do \
	if $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; \
	then echo $$python; break; fi; done

.venv/created: pyproject.toml
	@python=$$($(FIND_PYTHON)); \
	if [ -z "$$python" ]; then echo "make: no Python 3.11 or later with venv was found; install one." >&2; exit 1; fi; \
	rm -rf .venv && $$python -m venv .venv && touch $@

.venv/for-use: .venv/created $(CONSTRAINTS)
	@$(PY) -m pip install --quiet --disable-pip-version-check -c $(CONSTRAINTS) -e '.[plot]' && touch $@

.venv/for-work: .venv/created $(CONSTRAINTS)
	@$(PY) -m pip install --quiet --disable-pip-version-check -c $(CONSTRAINTS) -e '.[dev]' && touch $@ .venv/for-use

.PHONY: help setup demo test test-all coverage lint format bench docs build clean

help:       ## list the targets
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /\1\t/' | expand -t 12

setup: .venv/for-work  ## make .venv with everything that work on the code needs

demo: .venv/for-use  ## fit, rank and evaluate on a shipped set; one picture in demo-output/
	@$(PY) examples/demo.py

# BLAS is held to one thread: the workers share the cores already.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -m pytest
EVERYWHERE := tests src README.md docs --doctest-modules --doctest-glob='*.md'

test: .venv/for-work  ## all tests but the slow ones
	@$(PYTEST) $(EVERYWHERE) -n $(WORKERS) -q -m 'not slow and not reproduction'

test-all: .venv/for-work  ## all tests, with 5,000 examples for each property
	@HYPOTHESIS_PROFILE=deep $(PYTEST) $(EVERYWHERE) -n $(WORKERS) -q

coverage: .venv/for-work  ## branch coverage: 95 % of all, 100 % of losses, prices, tops and metrics
	@$(PYTEST) $(EVERYWHERE) -n $(WORKERS) -q -m 'not slow and not reproduction' --cov --cov-branch --cov-report=
	@$(PY) -m coverage report --fail-under=95
	@$(PY) -m coverage report --fail-under=100 --include='src/pushrank/losses/*,src/pushrank/prices/*,src/pushrank/tops/*,src/pushrank/metrics/*'

lint: .venv/for-work  ## ruff, mypy --strict, the import contract, spelling
	@$(RUN)/ruff check .
	@$(RUN)/ruff format --check .
	@$(RUN)/mypy
	@$(RUN)/lint-imports
	@$(RUN)/codespell

format: .venv/for-work  ## write what ruff would have
	@$(RUN)/ruff check --fix .
	@$(RUN)/ruff format .

bench: .venv/for-work  ## measure speed and memory beside the named peers; writes benchmarks/RESULTS.md
	@$(PY) benchmarks/run.py

docs: .venv/for-work  ## the documentation in docs/_build/html; warnings are errors
	@$(RUN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

build: .venv/for-work  ## a wheel, tested in a fresh environment without the sources
	@rm -rf dist build/wheel-test && $(PY) -m pip wheel --quiet --no-deps -w dist .
	@$(PY) -m venv build/wheel-test && build/wheel-test/bin/pip install --quiet -c $(CONSTRAINTS) dist/*.whl
	@cd build && wheel-test/bin/pushrank datasets && wheel-test/bin/python -c \
	"from pushrank import PushRanker; from pushrank.datasets import load_wdbc; PushRanker().fit(*load_wdbc(return_X_y=True))"

clean:      ## remove what the other targets made
	@rm -rf .venv dist build demo-output docs/_build .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
