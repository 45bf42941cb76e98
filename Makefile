# `make demo` and `make test` do all the set-up: a virtual environment in .venv, made once and reused.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test test-all test-lowest test-gpu lint docs replay fuzz fuzz-ops tables bench clean

demo: $(VENV)/.demo
	$(BIN)/python examples/digits.py

# the default suite, after the linters
test: $(VENV)/.test lint
	$(BIN)/python -m pytest -m "not slow" -n auto

# everything, the slow tests too: what CI runs
test-all: $(VENV)/.test lint
	$(BIN)/python -m pytest -n auto

# the lowest versions of the dependencies, with some tests of each; in .venv-lowest
test-lowest:
	$(PYTHON) -m tests.lowest

# what needs an NVIDIA GPU: the programs that the other targets run in a simulator
CUDA_TESTS := tests/runtime/cuda
EXECUTOR_TESTS := tests/runtime/executor
test-gpu: export PYTHONPATH := $(CUDA_TESTS):$(EXECUTOR_TESTS)
test-gpu: $(VENV)/.test
	$(BIN)/python -m pytest -n auto $(CUDA_TESTS)/on_device.py $(CUDA_TESTS)/corpus_on_device.py
	$(BIN)/python -m pytest -n auto -p on_cuda $(EXECUTOR_TESTS)/test_executable.py $(EXECUTOR_TESTS)/test_gradients.py

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/mypy

# the site, in build/docs: the pages of docs/ and the API from its docstrings; a warning is an error
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -q -d build/doctrees docs build/docs
	@echo "build/docs/index.html"

# do the Programs and generated sources of the corpus differ from those of another commit? make replay BASE=COMMIT
BASE ?= main
replay: $(VENV)/.test
	$(BIN)/python tools/replay.py against $(BASE)

# random programs: make fuzz SECONDS=3600 SEED=100000 JOBS=8; with MUTANTS=1 programs of the corpus, changed;
# with TANGLES=1 those in which tensors have many names; with MIXTURES=1 those in which one name is a number, a tensor, a text or None
SECONDS ?= 60
SEED ?= 0
JOBS ?= $(shell nproc)
fuzz: $(VENV)/.test
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) --seed $(SEED) --jobs $(JOBS) --refusals $(if $(MUTANTS),--mutants) $(if $(TANGLES),--tangles) $(if $(MIXTURES),--mixtures)

# random programs of many operations, natively: make fuzz-ops SECONDS=3600 SEED=100000
fuzz-ops: $(VENV)/.test
	$(BIN)/python -m tests.fuzz_ops --seconds $(SECONDS) --seed $(SEED)

# all programs of two things at once, and what of the language is refused
tables: $(VENV)/.test
	$(BIN)/python -m tests.tables --jobs $(JOBS) --refusals

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

clean:
	rm -rf $(VENV) .venv-lowest out build .pytest_cache .mypy_cache .ruff_cache
