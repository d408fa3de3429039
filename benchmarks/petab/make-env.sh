#!/usr/bin/env bash
# Makes benchmarks/petab/.venv from requirements.txt, or does nothing where it is up to date. AMICI is compiled: it needs
# cmake, HDF5 and BLAS (apt-get install cmake libhdf5-dev libopenblas-dev).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

if cmp -s requirements.txt .venv/.made-from; then exit; fi
"${PYTHON:-/usr/bin/python3}" -m venv --clear .venv
.venv/bin/python -m pip install --quiet --upgrade "pip>=25"
.venv/bin/python -m pip install --quiet --requirement requirements.txt
# What AMICI generates with another swig, such as Debian's 4.1, cannot be imported: that of the environment comes first.
export PATH="$PWD/.venv/bin:$PATH" SWIG="$PWD/.venv/bin/swig"
.venv/bin/python -m pip install --quiet --no-binary amici amici==1.0.1
.venv/bin/python -m pip install --quiet --editable ../..
cp requirements.txt .venv/.made-from
