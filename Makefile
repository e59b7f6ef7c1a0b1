# Everything a fresh machine needs: `make env`, `make demo`, `make test`. Each creates the environment on first use.
PYTHON ?= python3
# Another Python has an environment of its own: `make test PYTHON=python3.13` uses .venv-python3.13.
VENV := .venv$(if $(filter-out python3,$(notdir $(PYTHON))),-$(notdir $(PYTHON)))
BIN := $(VENV)/bin
# Marks of the environments that run the arena and that also run its tests.
RUNS := $(VENV)/.runs
READY := $(VENV)/.ready
# A mark: the tests were collected once, so that their compiled files are cached.
COLLECTED := $(VENV)/.collected
# The documentation site as the arena serves it, and its sources.
SITE := arena/documentation
TEXTS := $(shell find docs protocol referee/rules -name '*.md' -o -path 'docs/*' -type f -not -name '*.pyc' 2>/dev/null) CHANGELOG.md SECURITY.md
ARGS ?=
# Tests wait for other processes half of the time.
WORKERS ?= $(shell expr 2 \* $$(nproc))

.PHONY: env demo docs reference test test-bare test-latest bench figures drill mutation image lint format catalogues release clean

env: $(RUNS) $(SITE)/index.html
	@echo "the environment is ready; use it with:  . $(BIN)/activate"

# Ctrl-C (130) is a normal end; `trap` lets the shell wait for the last output of the demo.
demo: $(RUNS) $(SITE)/index.html
	@trap : INT; $(BIN)/arena demo $(ARGS); code=$$?; test $$code -eq 130 || exit $$code

# Tests start hundreds of interpreters, and each would compile the project again if bytecode were not cached.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(READY) $(COLLECTED) $(SITE)/index.html
	$(BIN)/arena warmup --bots
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

# The tests that ask for a program nobody is obliged to have, or start bots in the strongest sandbox, as if none were
# installed. The others do the same with and without.
BARE := tests/referee/sandbox tests/referee/play/test_play.py tests/referee/bot/test_argument.py tests/badbots tests/engines \
	tests/e2e tests/bots/test_readme.py tests/bots/bridges tests/arena/store/test_trouble.py tests/arena/store/operations \
	tests/arena/events/mqtt tests/arena/cluster/test_commands.py tests/arena/cli/local tests/arena/cli/server \
	tests/arena/cli/terminal/test_completion.py tests/arena/pages/test_pages.py tests/arena/pages/test_walk.py \
	tests/arena/pages/test_register.py tests/arena/pages/test_translated.py tests/deploy tests/test_readme.py
test-bare: export PYTHONDONTWRITEBYTECODE :=
test-bare: $(READY) $(COLLECTED) $(SITE)/index.html
	$(BIN)/arena warmup --bots
	$(BIN)/python -m tests.bare -n $(WORKERS) --dist worksteal $(BARE) $(ARGS)

# The suite's core with the newest release of each library, in .venv-latest.
test-latest: $(READY) $(SITE)/index.html
	$(BIN)/python -m tests.tools.latest $(ARGS)

bench: $(READY)
	$(BIN)/python -m tests.tools.bench $(ARGS)

# The page of measured figures; `ARGS="--only SECTION"` measures one section again.
figures: $(READY)
	$(BIN)/python -m tests.tools.bench --keep --json docs/reference/figures.json $(ARGS)
	$(MAKE) reference

drill: $(READY)
	$(BIN)/python -m tests.e2e.drill $(ARGS)

mutation: $(READY) $(SITE)/index.html
	$(BIN)/python -m tests.tools.mutation $(ARGS)

# Run it as root; it needs buildah and debootstrap.
image: $(READY) $(SITE)/index.html
	$(BIN)/python -m tests.deploy.image $(ARGS)

# Build sources and wheel in dist/, try them in an empty environment, and tag the commit.
release: $(READY)
	$(BIN)/python .ci/release

lint: $(READY) $(SITE)/index.html
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry .
	$(BIN)/vulture
	$(BIN)/vulture protocol referee bots arena
	$(BIN)/python -m tests.words

# The texts of the translated pages: extract, merge, compile.
catalogues: $(READY)
	$(BIN)/python -m tests.catalogue

# The pages of docs/reference that are made from the code.
reference: $(RUNS)
	@NUMBA_DISABLE_JIT=1 $(BIN)/python -m docs.extensions.generated

docs: $(SITE)/index.html

# Warnings are errors, and every page is read again: diagrams follow from code. The English and the French site search on their own, each in its language.
$(SITE)/index.html: $(RUNS) $(TEXTS)
	@echo "building the documentation in $(SITE)"
	@rm -rf $(SITE)
	@$(BIN)/sphinx-build -q -W -E --keep-going -b dirhtml -d build/docs docs $(SITE)
	@$(BIN)/sphinx-build -q -W -E --keep-going -b dirhtml -d build/docs-fr -c docs/fr docs/fr $(SITE)/fr
	@rm -f $(SITE)/.buildinfo $(SITE)/fr/.buildinfo

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(RUNS): pyproject.toml constraints.txt
	@echo "making the environment in $(VENV): some 30 packages, a minute or a few by network and machine"
	@$(call install,.[docs])
	@touch $@

# At the first collection pytest rewrites the tests and searches the sources for examples: do that once, not in each
# worker. Failures are ignored here: the tests report them.
$(COLLECTED): $(READY)
	@$(BIN)/arena warmup --bots & $(BIN)/python -m pytest --collect-only -q >/dev/null; wait
	@touch $@

$(READY): pyproject.toml constraints.txt
	@echo "making the environment for tests in $(VENV): some 100 packages"
	@$(call install,.[test])
	@touch $(RUNS) $@

define install
test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
$(BIN)/python -m pip install --quiet --disable-pip-version-check --use-pep517 --constraint constraints.txt --editable '$(1)'
endef

clean:
	rm -rf .venv .venv-latest .venv-python* build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
