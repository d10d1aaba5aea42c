# Lead Events. `make` alone lists what there is; every target installs what it needs.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

STAGE ?= dev
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$p; exit; }; done)

# Where the twin lives; see tools/local/config.py.
ifdef PORT
export LEAD_EVENTS_LOCAL_PORT := $(PORT)
endif

export JSII_SILENCE_WARNING_DEPRECATED_NODE_VERSION := 1
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION := 20
export CDK_DISABLE_CLI_TELEMETRY := true
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYTHONPATH := $(CURDIR)/layers/lead_events/python

BIN := .venv/bin
CDK := node_modules/.bin/cdk
LOCKS := requirements.txt layers/dependencies/requirements.txt requirements-dev.txt
DEV := .venv/.installed
TWIN := .venv-twin/.installed
NODE := node_modules/.installed

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# ---------------------------------------------------------------------------------------------- the local twin

.PHONY: run
run: $(DEV) $(TWIN) $(NODE) ## the main job: start the twin, send events through every entrance, show timeline and memories (ONCE=1: then end)
	@exec $(BIN)/python -m tools.local run

.PHONY: up
up: $(DEV) $(TWIN) $(NODE) ## start the twin and deploy onto it, or renew its tokens; describes itself in .local/stack.json (PORT=4566)
	@$(BIN)/python -m tools.local up

.PHONY: down
down: $(DEV) ## stop the twin; what it stored is gone
	@$(BIN)/python -m tools.local down

.PHONY: status
status: $(DEV) ## say whether the twin runs, and where
	@$(BIN)/python -m tools.local status

.PHONY: token
token: $(DEV) ## print an access token of the running twin (ORG=platform or a demo organisation)
	@$(BIN)/python -m tools.local token $(ORG)

.PHONY: logs
logs: $(DEV) ## print what the functions of the running twin logged in the last minutes
	@$(BIN)/python -m tools.local logs

# ---------------------------------------------------------------------------------------------------- checking

.PHONY: test
test: $(DEV) $(TWIN) $(NODE) ## every test: unit, contracts, integration, infrastructure, e2e on a twin of its own
	@$(BIN)/python -m pytest --cov -n 2 --dist loadscope --no-loadscope-reorder

.PHONY: test-unit
test-unit: $(DEV) ## the tests that need neither Node.js nor a twin
	@$(BIN)/python -m pytest tests/unit tests/contracts tests/integration

.PHONY: test-e2e
test-e2e: $(DEV) $(TWIN) $(NODE) ## the tests over real HTTP; LEAD_EVENTS_E2E_STACK=.local/stack.json takes the twin of `make up`
	@$(BIN)/python -m pytest tests/e2e

.PHONY: lint
lint: $(DEV) ## ruff, formatting, strict types, import contracts, documentation drift
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m tools.docs --check

.PHONY: format
format: $(DEV) ## put the code into shape
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

.PHONY: docs
docs: $(DEV) ## write the generated documentation anew
	@$(BIN)/python -m tools.docs

.PHONY: bench
bench: $(DEV) ## measure cost, calls, cold start and speed against the literal design
	@$(BIN)/python -m tools.benchmarks

# --------------------------------------------------------------------------------------------------- deploying

.PHONY: synth
synth: $(DEV) $(NODE) ## the CloudFormation templates of stage prod, in cdk.out; needs no AWS credentials
	@rm -rf cdk.out
	@AWS_EC2_METADATA_DISABLED=true $(CDK) synth --quiet --context stage=prod --output cdk.out

.PHONY: deploy
deploy: $(DEV) $(NODE) ## deploy all stacks with your AWS credentials (STAGE=dev)
	@$(CDK) deploy --all --context stage=$(STAGE)

# -------------------------------------------------------------------------------------------------- installing

.PHONY: install
install: $(DEV) $(TWIN) $(NODE) ## only install: .venv, .venv-twin, node_modules

$(DEV): $(LOCKS)
	@$(call venv,.venv)
	@.venv/bin/python -m pip install -qq --require-hashes $(LOCKS:%=-r %)
	@touch $@

$(TWIN): tools/local/requirements.txt
	@$(call venv,.venv-twin)
	@.venv-twin/bin/python -m pip install -qq --require-hashes -r $<
	@touch $@

$(NODE): package.json package-lock.json
	@command -v npm >/dev/null || { echo "npm is missing: install Node.js 20 or newer (the AWS CDK's command line needs it)." >&2; exit 1; }
	@npm ci --silent --no-audit --no-fund
	@touch $@

define venv
test -n "$(PYTHON)" || { echo "No Python 3.11 or newer found; install one, or name it: make PYTHON=/path/to/python3" >&2; exit 1; }; \
echo "· installing into $(1)" >&2; \
test -x $(1)/bin/python || $(PYTHON) -m venv $(1)
endef

.PHONY: lock
lock: $(DEV) ## resolve the *.in files into locks (UPGRADE=--upgrade: take the newest versions)
	@$(COMPILE) --allow-unsafe -o requirements.txt requirements.in
	@$(COMPILE) $(RUNTIME_BRINGS:%=--unsafe-package=%) -o layers/dependencies/requirements.txt layers/dependencies/requirements.in
	@$(COMPILE) --allow-unsafe -o tools/local/requirements.txt tools/local/requirements.in
	@$(COMPILE) --allow-unsafe -o requirements-dev.txt requirements-dev.in

COMPILE = CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/pip-compile --quiet --generate-hashes --strip-extras \
	--no-emit-find-links --no-emit-index-url --no-emit-trusted-host $(UPGRADE)
RUNTIME_BRINGS := botocore python-dateutil six urllib3

.PHONY: clean
clean: ## remove all that make made, the virtual environments included; stops the twin
	@test ! -x $(BIN)/python || $(MAKE) --no-print-directory down
	@rm -rf .venv .venv-twin node_modules cdk.out .local layers/dependencies/build
	@rm -rf .pytest_cache .ruff_cache .mypy_cache .hypothesis .coverage .import_linter_cache
