#!/usr/bin/env bash
# Builds the wheel, installs it into an empty environment, and samples a small posterior there: make test-wheel
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
python="$folder/env/bin/python"
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$folder" .
"$python" -m pip install --quiet --disable-pip-version-check "$folder"/rnshmc-*.whl
cd "$folder"
"$python" - <<'PYTHON'
import importlib.util

import numpy as np

import rnshmc


def posterior(x):
    return -0.5 * float(x @ x), -x


others = ("snakemake", "dolfinx", "papermill", "seaborn", "sklearn", "pooch")
assert not [name for name in others if importlib.util.find_spec(name)], "the plain install brings the pipeline"
result = rnshmc.sample(posterior, np.ones(4), pool=2, filepath="evaluations.jsonl")
print(result)
assert (np.abs(result.mean.value) < 6 * result.mean.standard_error).all()
result.save("draws.nc")
PYTHON
echo "The wheel works in an environment of its own."
