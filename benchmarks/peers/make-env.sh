#!/usr/bin/env bash
# Makes benchmarks/peers/.venv from requirements.txt, or does nothing where it is up to date.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

if cmp -s requirements.txt .venv/.made-from; then exit; fi
"${PYTHON:-/usr/bin/python3}" -m venv --clear .venv
# The resolver of older versions of pip does not find a set of packages here in any useful time.
.venv/bin/python -m pip install --quiet --upgrade "pip>=25"
.venv/bin/python -m pip install --quiet --requirement requirements.txt
# tinyDA asks for numpy < 2 and arviz < 0.19, which PyVBMC and nutpie refuse; it runs with newer ones.
.venv/bin/python -m pip install --quiet --no-deps tinyDA==0.9.21
# BayesFast has no wheel: this compiles it. What it needs to run is in requirements.txt.
.venv/bin/python -m pip install --quiet --no-deps bayesfast==0.1.0.dev2
# rnshmc without its dependencies, which are among the above but for those of the pipeline.
.venv/bin/python -m pip install --quiet --no-deps --editable ../..
cp requirements.txt .venv/.made-from
