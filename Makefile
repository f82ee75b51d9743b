# Two commands matter: `make demo` and `make test`. Each sets up what it needs in .venv and does its job.

PYTHON ?= python3
BIN := .venv/bin
INSTALL := -m pip install --quiet --disable-pip-version-check
LOCKED := $(INSTALL) --no-deps --require-hashes --requirement
ITSELF := $(INSTALL) --no-deps --no-build-isolation
PYTEST := -m pytest -n auto --dist loadfile --no-loadscope-reorder --max-worker-restart 0
INSTRUMENT := $(addprefix tests/,geometry physics equations rungs ranking certificates report)
DOORS := $(addprefix tests/,readers cli scale)

.PHONY: demo test test-slow trials test-oldest mutants lint bench bench-references yardstick scale docs figures results lock dist clean

demo: .venv/.base
	$(BIN)/physrank demo

test: .venv/.dev
	$(BIN)/python $(PYTEST)

# Damaged files of every layout, killed workers, whole studies, and what tests/wide.txt lists: what is too slow for every change.
test-slow: .venv/.dev
	$(BIN)/python -m pytest -m slow -n auto -rP
	$(BIN)/python $(PYTEST) -m wide

# Adversarial certificates against the truth in many digits, 10,000 of every kind, counted in results/trials.json: an hour and a
# half on one core. Goes on where it stopped.
trials: .venv/.dev
	$(BIN)/python bench/counted.py --out results/trials.json

# Small faults, one at a time, in copies of the source: the tests named in tests/mutants must notice each. Prints what survives;
# goes on where it stopped. One of them: make mutants ONLY="largest + near"; after `make test`, which it repeats: TRUSTED=1.
mutants: .venv/.dev
	$(BIN)/python bench/mutants.py --only "$(ONLY)" $(if $(TRUSTED),--trusted) --out results/mutants.json

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

# Panels on a cluster: the cost model, overhead, two processes against one, streams; half an hour on two idle cores.
scale: .venv/.dev
	$(BIN)/python bench/scale.py --out results/scale.json

# Runs what the documents quote, but for the studies, the yardstick and the cluster, and stores it; then renders the documents.
results: .venv/.base
	$(BIN)/python bench/run.py --out results/bench.json
	$(BIN)/python bench/sharpness.py --out results/sharpness.json
	$(BIN)/python bench/jumps.py --out results/jumps.json
	$(BIN)/physrank demo --out results/demo
	$(BIN)/python docs/render.py

# The paper's figures from stored results, into docs/assets/figures; says which study is missing for the others.
figures: .venv/.base
	$(BIN)/physrank figures

# Fills the tables in README and docs from results/, then builds the site into site/.
docs: .venv/.docs
	$(BIN)/python docs/render.py
	$(BIN)/mkdocs build --strict --quiet

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "physrank needs Python 3.11 or newer; got $$($(PYTHON) --version). Try: make PYTHON=python3.11 demo"; exit 1; }
	$(PYTHON) -m venv .venv

# Stamps: install again only when the requirements changed.
.venv/.base: pyproject.toml requirements/base.txt | .venv/bin/python
	$(BIN)/python $(LOCKED) requirements/base.txt
	$(BIN)/python $(ITSELF) --editable .
	touch $@

.venv/.dev: .venv/.base requirements/dev.txt
	$(BIN)/python $(LOCKED) requirements/dev.txt
	$(BIN)/python $(INSTALL) --constraint requirements/held.txt torch
	$(BIN)/python -m pip check
	touch $@

.venv/.docs: .venv/.base requirements/docs.txt
	$(BIN)/python $(LOCKED) requirements/docs.txt
	touch $@

# The instrument on another interpreter, `make test-python3.13`: without PyTorch, so without laboratory and models.
test-python%:
	test -d .venv-$* || python$* -m venv .venv-$*
	.venv-$*/bin/python $(LOCKED) requirements/dev.txt
	.venv-$*/bin/python $(ITSELF) --editable .
	.venv-$*/bin/python $(PYTEST) $(INSTRUMENT)
	.venv-$*/bin/python requirements/lanes.py python$*

# The instrument, its readers and its command line on the oldest versions that pyproject.toml admits.
test-oldest: .venv/bin/python
	test -d .venv-oldest || $(PYTHON) -m venv .venv-oldest
	$(BIN)/python requirements/lock.py --oldest > .venv-oldest/oldest.txt
	.venv-oldest/bin/python $(INSTALL) --requirement .venv-oldest/oldest.txt
	.venv-oldest/bin/python $(ITSELF) --editable .
	.venv-oldest/bin/python $(PYTEST) -W default $(INSTRUMENT) $(DOORS)
	.venv-oldest/bin/python requirements/lanes.py oldest

# Resolves the requirements anew, for three interpreters, and writes them with their hashes: the newest of that day, which
# `make test` then tries. No upper bounds are stated; the day is in the files.
lock: .venv/bin/python
	$(BIN)/python requirements/lock.py python3.12 python3.13

# Wheel and source archive, each installed into an empty environment, where the demo runs.
dist: .venv/.base
	rm -rf dist .venv-dist && $(BIN)/hatchling build --directory dist
	$(PYTHON) -m venv .venv-dist
	.venv-dist/bin/python $(LOCKED) requirements/base.txt
	for file in dist/physrank-*.whl dist/physrank-*.tar.gz; do \
		.venv-dist/bin/python $(ITSELF) --force-reinstall $$file && \
		(cd dist && ../.venv-dist/bin/physrank demo --out demo) || exit 1; \
	done

clean:
	rm -rf .venv .venv-* dist site demo_output
