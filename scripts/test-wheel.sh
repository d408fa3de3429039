#!/usr/bin/env bash
# Builds the wheel, installs it into an empty environment, and runs the unchanged tutorial there: make test-wheel
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

project="$PWD"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
python="$folder/env/bin/python"
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$folder" .
wheels=("$folder"/rnshmc-*.whl)
# The tutorial draws figures.
"$python" -m pip install --quiet --disable-pip-version-check "${wheels[0]}[plot]"
cd "$folder"
"$python" - <<'PYTHON'
import importlib.util
import sys
from pathlib import Path

import rnshmc

assert Path(rnshmc.__file__).is_relative_to(sys.prefix), f"{rnshmc.__file__} is not the wheel's"
others = ("snakemake", "dolfinx", "papermill", "seaborn", "sklearn")
assert not [name for name in others if importlib.util.find_spec(name)], "the plain install brings the pipeline"
PYTHON
"$python" "$project/scripts/run_page.py" "$project/docs/tutorial.md"
echo "The tutorial runs from the wheel in its own environment."
