# `make demo` and `make test` do all the set-up: a virtual environment in .venv, made once and reused. `make help` lists all.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: help demo test tiny test-all test-lowest test-pythons test-gpu cov lint docs replay fuzz fuzz-ops tables bench clean

# this list
help:
	@awk '/^# / { text = text (text ? " " : "") substr($$0, 3); next } \
		/^[a-z-]+:/ && text { sub(":.*", ""); printf "%-13s %s\n", $$0, text } \
		{ text = "" }' Makefile

# trains a digit classifier and deploys it
demo: $(VENV)/.demo
	$(BIN)/python examples/digits.py

# the default suite, after the linters
test: $(VENV)/.test lint
	$(BIN)/python -m pytest -m "not slow" -n auto

# one test of each package: ten seconds, once its environment is there
tiny: $(VENV)/.test
	$(BIN)/python -m tests.tiny

# everything, the slow tests too: what CI runs
test-all: $(VENV)/.test lint
	$(BIN)/python -m pytest -n auto

# the lowest versions of the dependencies, with some tests of each; in .venv-lowest
test-lowest:
	$(PYTHON) -m tests.lowest

# the wheel, installed with each other Python from 3.10 to 3.14 that is here, with some tests; in .venv-pythons
test-pythons: $(VENV)/.test
	$(BIN)/python -m tests.pythons

CUDA_TESTS := tests/runtime/cuda
EXECUTOR_TESTS := tests/runtime/executor
# what needs an NVIDIA GPU: the programs that the other targets run in a simulator
test-gpu: export PYTHONPATH := $(CUDA_TESTS):$(EXECUTOR_TESTS)
test-gpu: $(VENV)/.test
	$(BIN)/python -m pytest -n auto $(CUDA_TESTS)/on_device.py $(CUDA_TESTS)/corpus_on_device.py
	$(BIN)/python -m pytest -n auto -p on_cuda $(EXECUTOR_TESTS)/test_executable.py $(EXECUTOR_TESTS)/test_gradients.py

# which lines the default suite runs: a table, and build/coverage for the browser; takes far longer than the suite
cov: $(VENV)/.test
	$(BIN)/python -m pytest -m "not slow" -n auto --cov=dy2st --cov=dy2st_runtime --cov-report=term:skip-covered --cov-report=html:build/coverage

# ruff and mypy
lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/mypy

# the site, in build/docs: the pages of docs/ and the API from its docstrings; a warning is an error
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -q -d build/doctrees docs build/docs
	@echo "build/docs/index.html"

BASE ?= main
# do the Programs and generated sources of the corpus differ from those of another commit? make replay BASE=COMMIT
replay: $(VENV)/.test
	$(BIN)/python tools/replay.py against $(BASE)

SECONDS ?= 60
SEED ?= 0
JOBS ?= $(shell nproc)
# random programs: make fuzz SECONDS=3600 SEED=100000 JOBS=8; also MUTANTS=1, TANGLES=1 or MIXTURES=1 (docs/explanation/testing.md)
fuzz: $(VENV)/.test
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) --seed $(SEED) --jobs $(JOBS) --refusals $(if $(MUTANTS),--mutants) $(if $(TANGLES),--tangles) $(if $(MIXTURES),--mixtures)

# random programs of many operations, natively: make fuzz-ops SECONDS=3600 SEED=100000
fuzz-ops: $(VENV)/.test
	$(BIN)/python -m tests.fuzz_ops --seconds $(SECONDS) --seed $(SEED)

# all programs of two things at once, and what of the language is refused
tables: $(VENV)/.test
	$(BIN)/python -m tests.tables --jobs $(JOBS) --refusals

# all benchmarks
bench: $(VENV)/.test
	$(BIN)/python -m benchmarks

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[demo]"
	@touch $@

$(VENV)/.test: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[demo,test,cuda]"
	@touch $@

$(VENV)/.docs: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	@touch $@

# all that these targets make
clean:
	rm -rf docs/reference/api $(VENV) .venv-lowest .venv-pythons out build .pytest_cache .mypy_cache .ruff_cache
