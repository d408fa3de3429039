.DEFAULT_GOAL := help

# `make env ENV=conda` chooses the route; a shell variable of the same name does not.
ROUTE := $(if $(filter command,$(origin ENV)),$(ENV))
IN_ENV := scripts/in-env.sh
CALIBRATED := $(if $(filter sample,$(PART)),tests/inference/test_emulated_calibration.py,tests/test_calibration.py tests/inference)

.PHONY: help env run test suite test-workflow test-rounding test-dolfinx test-wheel test-adapters test-snakemake site calibrate test-slurm paper lint lock clean

help: ## Print this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

env: ## Make the environment .venv (with conda, mamba or micromamba: make env ENV=conda)
	@scripts/make-env.sh $(ROUTE)

run: env ## Quick run: every stage on small problems; prints where the report is
	$(IN_ENV) snakemake --cores all --configfile config/quick.yaml
	@echo "The report is $(CURDIR)/results/quick/report/index.html"

paper: env ## Regenerate every result of the papers
	$(IN_ENV) snakemake --cores all
	@echo "The report is $(CURDIR)/results/paper/report/index.html"

test: env ## Run the linters and the test suite of the package
	@$(MAKE) --no-print-directory --jobs 2 lint suite

suite: env
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(IN_ENV) pytest -n 3 --ignore tests/workflow

test-workflow: env ## Run the tests of the workflow: the run "test" from scratch, errors in between, reruns after an edit
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(IN_ENV) pytest -n 3 tests/workflow

test-rounding: env ## Run the suite in several rounding environments (the numerical parts: make test-rounding PART=fast)
	@scripts/test-rounding.sh $(PART)

calibrate: env ## Check the calibration of every sampler: minutes (of rnshmc.sample on forward models: make calibrate PART=sample)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(IN_ENV) pytest -n 2 -m calibration $(CALIBRATED)

test-dolfinx: ## Run the PDE tests with dolfinx 0.5.2, 0.9 and 0.11, each in a Debian tree: root, debootstrap
	@scripts/test-dolfinx.sh

test-wheel: ## Install the wheel into an empty environment and run the tutorial there
	@scripts/test-wheel.sh

test-adapters: ## Test the adapters, each with the real package in its own environment
	@scripts/test-adapters.sh

test-snakemake: ## Test Snakemake's private interfaces with the oldest and the newest supported version
	@scripts/test-snakemake.sh

site: ## Build the documentation site in build/site
	@scripts/site.sh

test-slurm: env ## Run the run "test" and a requeued job on a private Slurm, as root
	@scripts/test-slurm.sh

lint: env ## Run the linters and the type checker
	$(IN_ENV) ruff check
	$(IN_ENV) ruff format --check
	$(IN_ENV) snakefmt --check Snakefile workflow docs/example-own-problem
	$(IN_ENV) mypy

lock: env ## Pin the newest versions in requirements.lock (those of test-rounding's newest part: make lock PART=newest)
	$(IN_ENV) python scripts/lock.py $(PART)

clean: ## Remove the environment and the caches, but keep data and results
	rm -rf .venv .venv-newest .venv-site build/site .mypy_cache .pytest_cache .ruff_cache src/rnshmc.egg-info
	find src tests workflow scripts benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
