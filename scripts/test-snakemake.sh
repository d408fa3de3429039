#!/usr/bin/env bash
# Tests Snakemake's private interfaces (src/rnshmc/run/internals.py) with the oldest and the newest version that
# pyproject.toml allows, each in its own environment: make test-snakemake
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
allowed="$(sed -nE 's/^ +"(snakemake>=.*)",$/\1/p' pyproject.toml)"
oldest="$(sed -E 's/>=([0-9.]+),.*/==\1/' <<<"$allowed")"
for wanted in "$oldest" "$allowed"; do
    python3 -m venv --clear "$folder/env"
    "$folder/env/bin/python" -m pip install --quiet --disable-pip-version-check "$wanted" pytest
    echo "test-snakemake: $("$folder/env/bin/snakemake" --version)"
    # The interfaces need neither the package's dependencies nor fixtures of other tests.
    PYTHONPATH=src "$folder/env/bin/python" -m pytest -q -p no:cacheprovider --noconftest --override-ini addopts= \
        tests/run/test_internals.py
done
