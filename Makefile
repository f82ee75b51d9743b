# Two commands matter: `make demo` and `make test`. Each sets up what it needs in .venv and does its job.

PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test test-slow lint bench bench-references yardstick docs results clean

demo: .venv/.base
	$(BIN)/physrank demo

test: .venv/.dev
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder --max-worker-restart 0

# Randomized and adversarial certificates against the truth in many digits: 100,000 of reaction–diffusion, 10,000 of every other
# kind; 1,000 damaged files of every layout. Two hours on two cores; PHYSRANK_TRIALS=1000 for less.
test-slow: .venv/.dev
	$(BIN)/python -m pytest -m slow -n auto -rP

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

# Ratios against named alternatives, one thread; prints them.
bench: .venv/.base
	$(BIN)/python bench/run.py

# How long the references of 240 inputs take, per equation: minutes each. Goes on where it stopped; results/references.json.
bench-references: .venv/.base
	$(BIN)/python bench/references.py --out results/references.json

# Accuracy against cost for every equation, growth, memory, cold starts; goes on where it stopped. Needs an idle machine.
yardstick: .venv/.dev
	$(BIN)/python bench/yardstick.py --out results/yardstick.json

# Runs what the documents quote, but for the studies and the yardstick, and stores it; then renders the documents.
results: .venv/.base
	$(BIN)/python bench/run.py --out results/bench.json
	$(BIN)/physrank demo --out results/demo
	$(BIN)/python docs/render.py

# Fills the tables in README and docs from results/, then builds the site into site/.
docs: .venv/.docs
	$(BIN)/python docs/render.py
	$(BIN)/mkdocs build --strict --quiet

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "physrank needs Python 3.11 or newer; got $$($(PYTHON) --version). Try: make PYTHON=python3.11 demo"; exit 1; }
	$(PYTHON) -m venv .venv

# Stamps: install again only when the requirements changed.
.venv/.base: pyproject.toml constraints.txt | .venv/bin/python
	$(INSTALL) --editable .
	touch $@

.venv/.dev: .venv/.base
	$(INSTALL) --editable ".[dev,exponax,lab,zarr,torch,onnx,dask]"
	touch $@

.venv/.docs: .venv/.base
	$(INSTALL) --editable ".[docs]"
	touch $@

clean:
	rm -rf .venv site demo_output
