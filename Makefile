# Every task of this project. It needs Python 3.11 or newer (with venv), git and
# make; everything else is installed into .venv, from the lock files, by hash.
# `make` lists the targets.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:

VENV := .venv
BIN := $(VENV)/bin
IMAGE := journeyman
CODE := src tests strategies benchmarks tools

# More arguments for pytest, such as `make test PYTEST_ARGS='-k ledger'`.
PYTEST_ARGS :=
# Many workers only compete for the disk with the tests that start real processes.
# One more than there are processors, since some tests mostly wait.
PYTEST_WORKERS = --numprocesses=$(shell expr $$(nproc 2>/dev/null || echo 2) + 1) \
	--maxprocesses=4 --dist=worksteal

# How many runs `make simulate` makes, how many months `make books` compares the books,
# and which cases `make sweeps`, networks `make foreign` and simulated runs `make endurance`
# take: every one, or every so many, of endurance then none that takes half a minute.
# All share their work among so many processes.
SEEDS := 200
# The seeds of the networks that `make foreign-drawn` draws.
DRAWN := 0-200
MONTHS := 4
EVERY := 1
JOBS := 2

# Compiled modules are kept, whatever the environment says: each of the hundred
# processes that the tests start would otherwise compile them all again.
export PYTHONDONTWRITEBYTECODE :=

# The interpreter that makes .venv: the first that is new enough and can make one.
PYTHON_NAMES := python3 python3.14 python3.13 python3.12 python3.11 python
PYTHON_CHECK := import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))
PYTHON = $(shell for name in $(PYTHON_NAMES); do \
	"$$name" -c '$(PYTHON_CHECK)' 2>/dev/null && echo "$$name" && break; done)
PYTHON_MISSING := No Python 3.11 or newer with the venv module was found. \
	Install one (on Debian: apt install python3 python3-venv), \
	or name one: make PYTHON=/path/to/python3
REQUIRE_PYTHON = "$(PYTHON)" -c '$(PYTHON_CHECK)' 2>/dev/null || \
	{ echo '$(PYTHON_MISSING)' >&2; exit 1; }

PIP_FLAGS := -qq --disable-pip-version-check --no-input --root-user-action=ignore

# uv resolves the locks, and installs in seconds what takes pip half a minute.
UV := $(BIN)/uv
# A mirror named by UV_DEFAULT_INDEX is respected and never written down. Further
# places to look are not, since files found there have other hashes.
UV_COMPILE = env -u UV_INDEX -u UV_EXTRA_INDEX_URL -u UV_FIND_LINKS $(UV) pip compile \
	--quiet --no-config --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate $(UV_FLAGS)
BUILD_REQUIRES := import tomllib; \
	print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: setup
setup: $(VENV)/.installed ## make .venv and install everything into it

.PHONY: demo
demo: $(VENV)/.installed ## see the daemon earn in a local sandbox, about a minute
	@$(BIN)/journeyman demo

.PHONY: check
check: format lint types layers test ## format, lint, types, layers and tests: what CI runs

.PHONY: format
format: $(VENV)/.installed ## check that all files are formatted
	$(BIN)/ruff format --check .

.PHONY: lint
lint: $(VENV)/.installed ## check the style rules
	$(BIN)/ruff check .

.PHONY: types
types: $(VENV)/.installed ## check the types (mypy, strict; the API also by pyright)
	$(BIN)/mypy
	$(BIN)/pytest -q tests/typing

.PHONY: layers
layers: $(VENV)/.installed ## check that imports go down only
	$(BIN)/lint-imports --no-cache

.PHONY: test
test: $(VENV)/.installed ## run the tests (PYTEST_ARGS='-k ledger' runs some)
	$(BIN)/pytest $(PYTEST_WORKERS) -m 'not endurance and not foreign and not prism' $(PYTEST_ARGS)

.PHONY: endurance
endurance: $(VENV)/.installed ## run the tests that take longest: seeds, kills, full disks, fuzzing (EVERY=1)
	TEST_EVERY=$(EVERY) $(BIN)/pytest $(PYTEST_WORKERS) -m endurance $(PYTEST_ARGS)

.PHONY: browser
browser: $(VENV)/.browser ## test the pages in Chromium, which must be installed
	$(BIN)/pytest tests/browser $(PYTEST_ARGS)

.PHONY: manifests
manifests: $(VENV)/.manifests ## check deploy/ by the schemas of Kubernetes and by systemd
	$(BIN)/pytest tests/packaging/test_deploy.py $(PYTEST_ARGS)

.PHONY: bench-cluster
bench-cluster: $(VENV)/.installed ## measure strategies on a Dask cluster beside local processes
	@$(BIN)/python -m benchmarks.cluster

.PHONY: torture
torture: $(VENV)/.installed ## kill real daemons, 1,000 times, in about 7 minutes
	$(BIN)/pytest tests/torture $(PYTEST_ARGS)

.PHONY: foreign
foreign: $(VENV)/.installed ## earn on networks that share nothing with us but the contract's paths (EVERY=1)
	TEST_EVERY=$(EVERY) $(BIN)/pytest tests/foreign -n 10 -m foreign $(PYTEST_ARGS) # networks mostly wait

.PHONY: foreign-quick
foreign-quick: $(VENV)/.installed ## the same in simulated time, in seconds, to try a change (NETWORKS="a b")
	@$(BIN)/python -m tests.foreign.simulated $(NETWORKS)

.PHONY: foreign-unheard
foreign-unheard: $(VENV)/.installed ## the same with refusals in words that nobody has heard (NETWORKS="a b")
	@$(BIN)/python -m tests.foreign.unheard $(NETWORKS)

.PHONY: foreign-drawn
foreign-drawn: $(VENV)/.installed ## the same on networks drawn at random (DRAWN=0-200)
	@$(BIN)/python -m tests.foreign.drawn_trials $(DRAWN)

.PHONY: prism
prism: $(VENV)/.installed ## send requests that descriptions allow, as Prism judges (needs npx)
	$(BIN)/pytest -m prism tests/prism $(PYTEST_ARGS)

.PHONY: contract-matrix
contract-matrix: $(VENV)/.installed ## earn on 72 networks that differ where the contract is silent
	$(BIN)/pytest tests/contract_matrix -n 6 $(PYTEST_ARGS) # rows mostly wait

.PHONY: simulate
simulate: $(VENV)/.installed ## kill and starve the daemon in simulated time (SEEDS=200)
	$(BIN)/python -m tests.simulation simulate --chaos hard --days 0.25 --seeds $(SEEDS) --jobs $(JOBS)

.PHONY: books
books: $(VENV)/.installed ## compare our ledger with the network's on every day of months of hard chaos (MONTHS=4)
	$(BIN)/python -m tests.simulation books --days 30 --seeds $(MONTHS) --jobs $(JOBS)

.PHONY: sweeps
sweeps: $(VENV)/.installed ## every crash, pair of crashes, and fault with a crash (EVERY=1)
	$(BIN)/python -m tests.simulation simulate --sweep crashes --every $(EVERY) --jobs $(JOBS)
	$(BIN)/python -m tests.simulation simulate --sweep pairs --every $(EVERY) --jobs $(JOBS)
	$(BIN)/python -m tests.simulation simulate --sweep fault-crash --every $(EVERY) --jobs $(JOBS)

.PHONY: trial
trial: $(VENV)/.installed ## measure what choosing well is worth, in simulated time
	$(BIN)/python -m tests.simulation trial
	$(BIN)/python -m tests.simulation growth

.PHONY: mutants
mutants: $(VENV)/.installed ## plant bugs, and write down which suite finds each
	$(BIN)/python -m tests.mutants --page docs/reference/mutants.md

.PHONY: fix
fix: $(VENV)/.installed ## format, and repair what lint can repair
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: generate
generate: $(VENV)/.installed ## write the files that are made from the code
	$(BIN)/python -m journeyman.settings.describe
	$(BIN)/journeyman events --write
	$(BIN)/python -m journeyman.strategies.loading.shipped strategies

.PHONY: bench
bench: $(VENV)/.bench ## measure the daemon beside other clients, on a fast network
	@$(BIN)/python benchmarks/throughput.py

.PHONY: scale
scale: $(VENV)/.installed ## measure large markets (10,000, 100,000), a million past tasks, and what stays of old ones
	@$(BIN)/python benchmarks/scale.py
	@$(BIN)/python benchmarks/retention.py

.PHONY: soak
soak: $(VENV)/.installed ## let the daemon work for five minutes, and see whether it grows
	@$(BIN)/python benchmarks/soak.py

.PHONY: evening
evening: $(VENV)/.installed ## type a new user's first evening, and count its commands
	@$(BIN)/python tools/evening.py --readme README.md

.PHONY: trace
trace: $(VENV)/.installed ## count the files and calls that one task goes through
	@$(BIN)/python tools/trace_task.py

.PHONY: picture
picture: $(VENV)/.browser ## draw the pictures for the README: of a real demo, of a real page
	$(BIN)/python tools/picture.py
	PICTURES=docs/pictures $(BIN)/pytest -q tests/browser/test_watching.py -k picture

.PHONY: lock
lock: $(VENV)/.dependencies ## resolve the lock files again, keeping the versions they have
	$(PYTHON) -c '$(BUILD_REQUIRES)' | $(UV_COMPILE) --output-file requirements/build.lock -
	echo uv | $(UV_COMPILE) --output-file requirements/uv.lock -
	$(UV_COMPILE) --output-file requirements/run.lock pyproject.toml
	$(UV_COMPILE) --extra llm --extra cluster --extra web --extra notify --extra otel --extra plot --group dev --constraints requirements/run.lock \
		--constraints requirements/build.lock --output-file requirements/dev.lock pyproject.toml
	$(UV_COMPILE) --extra web --extra otel --extra llm --constraints requirements/dev.lock \
		--output-file requirements/image.lock pyproject.toml
	$(UV_COMPILE) --extra web --extra otel --constraints requirements/dev.lock \
		--output-file requirements/web.lock pyproject.toml
	$(UV_COMPILE) --extra web --extra otel --extra notify --constraints requirements/dev.lock \
		--output-file requirements/notify.lock pyproject.toml
	$(UV_COMPILE) --extra web --extra otel --extra cluster --constraints requirements/dev.lock \
		--output-file requirements/cluster.lock pyproject.toml
	$(UV_COMPILE) --group browser --constraints requirements/dev.lock \
		--output-file requirements/browser.lock
	$(UV_COMPILE) --group bench --constraints requirements/dev.lock \
		--output-file requirements/bench.lock
	$(UV_COMPILE) --group manifests --constraints requirements/dev.lock \
		--output-file requirements/manifests.lock

.PHONY: upgrade
upgrade: ## resolve the lock files to the newest allowed versions
	$(MAKE) lock UV_FLAGS=--upgrade

.PHONY: image
image: ## build the container image
	@engine=$$(command -v docker || command -v podman) || \
		{ echo 'Neither docker nor podman was found. Install one of them.' >&2; exit 1; }; \
	case $$engine in *podman) set -- --format docker ;; esac; \
	"$$engine" build "$$@" --tag $(IMAGE) .

.PHONY: clean
clean: ## remove all that make has made, .venv too
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find $(wildcard $(CODE)) -type d -name __pycache__ -prune -exec rm -rf {} +

# Each stamp is touched last, so an interrupted set-up is done again from its start.
# uv does not read pip's configuration: where it reaches no index, pip installs.
$(VENV)/.dependencies: requirements/dev.lock requirements/uv.lock
	@$(REQUIRE_PYTHON)
	@echo 'Setting up $(VENV) with $(PYTHON) (seconds, or a minute; once) ...'
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install $(PIP_FLAGS) --require-hashes -r requirements/uv.lock
	@$(UV) pip install --quiet --no-config --python $(BIN)/python \
		--require-hashes -r requirements/dev.lock 2>/dev/null || \
	$(BIN)/python -m pip install $(PIP_FLAGS) --require-hashes -r requirements/dev.lock
	@touch $@

$(VENV)/.installed: pyproject.toml $(VENV)/.dependencies
	@$(BIN)/python -m pip install $(PIP_FLAGS) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.bench: requirements/bench.lock $(VENV)/.installed
	@$(BIN)/python -m pip install $(PIP_FLAGS) --require-hashes -r requirements/bench.lock
	@touch $@

$(VENV)/.manifests: requirements/manifests.lock $(VENV)/.installed
	@$(BIN)/python -m pip install $(PIP_FLAGS) --require-hashes -r requirements/manifests.lock
	@touch $@

$(VENV)/.browser: requirements/browser.lock $(VENV)/.installed
	@$(BIN)/python -m pip install $(PIP_FLAGS) --require-hashes -r requirements/browser.lock
	@touch $@
