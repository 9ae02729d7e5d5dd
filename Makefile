.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
LOCK := --quiet --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock"

.PHONY: help
help: ## Say what there is to make
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):[^#]*## (.*)/\1|\2/' | awk -F'|' '{printf "  make %-12s %s\n", $$1, $$2}'

.venv/stamp: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip --quiet --disable-pip-version-check install --upgrade 'pip>=25.1'
	$(BIN)/python -m pip --quiet --disable-pip-version-check install --editable . --group dev
	@touch $@

.PHONY: env
env: .venv/stamp ## Make the environment in .venv

.PHONY: run
run: env ## Serve the bundled policies over HTTPS on localhost, and show a denial, a patch and an allow
	@$(BIN)/python examples/demo.py

.PHONY: check
check: env ## Format, lint, types and layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

.PHONY: test
test: check ## Everything: checks, the policies' own tests, and the test suite
	$(BIN)/cozyguard test policies
	$(BIN)/pytest

.PHONY: conformance
conformance: env ## Ask real API servers of two minors and our engine about 10,000 requests each: half an hour
	for minor in 1.36 1.34; do COZYGUARD_KUBERNETES=$$minor COZYGUARD_CONFORMANCE_CASES=10000 \
		$(BIN)/pytest tests/conformance/test_differential.py || exit 1; done

.PHONY: controlplane
controlplane: env ## Start a real kube-apiserver with the CRDs that policies look at, and keep it until Ctrl-C
	@$(BIN)/python -m tests.controlplane

.PHONY: kind-e2e
kind-e2e: env ## The end-to-end suite, the image and the chart on a kind cluster; needs docker, kind and helm
	tests/kind/run.sh

.PHONY: bench
bench: env ## Measure the engine, the server and the command line; prints tables, asserts nothing
	$(BIN)/python -m benchmarks

.PHONY: bench-e2e
bench-e2e: env ## Measure what a client of a real API server waits for: no policy, ours, the same natively
	$(BIN)/python -m benchmarks.e2e

.PHONY: generate
generate: env ## Write what is made from code: JSON Schema, the CRDs, the CLI reference, a page for each bundled policy
	$(BIN)/python -m webhook.sources.schema
	$(BIN)/python -m webhook.sources.crd
	$(BIN)/python -m webhook.cli.reference
	$(BIN)/python -m tests.conformance.functions
	$(BIN)/python -m webhook.cli.pages

.PHONY: lock
lock: env ## Pin by hash what the image installs: requirements.lock, requirements-build.lock
	$(BIN)/python -m pip --quiet --disable-pip-version-check install uv
	$(BIN)/uv pip compile $(LOCK) --output-file requirements.lock pyproject.toml
	$(BIN)/uv pip compile $(LOCK) --output-file requirements-build.lock --group build

.PHONY: clean
clean: ## Remove the environment and everything that was built
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
