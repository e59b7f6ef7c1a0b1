# Everything a fresh machine needs: `make demo` and `make test`. Each creates the environment on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ARGS ?=
# Tests wait for other processes half of the time.
WORKERS ?= $(shell expr 2 \* $$(nproc))

.PHONY: demo test bench drill lint format clean

demo: $(READY)
	$(BIN)/arena demo $(ARGS)

# Tests start hundreds of interpreters, and each would compile the project anew where bytecode is not kept.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(READY)
	$(BIN)/arena warmup --bots
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

bench: $(READY)
	$(BIN)/python -m tests.bench $(ARGS)

drill: $(READY)
	$(BIN)/python -m tests.e2e.drill $(ARGS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry .
	$(BIN)/vulture

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test]'
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
