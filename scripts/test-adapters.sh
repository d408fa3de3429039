#!/usr/bin/env bash
# Tests each adapter with the real package in its own environment: make test-adapters
#
#   scripts/test-adapters.sh [adapter ...]
#
# An adapter is the name of an extra with a file in tests/adapters; "arviz" is arviz 1.0 or later. Adapters that this machine
# cannot test are reported; it is an error if it can test none.
set -euo pipefail
# Requirements of a test besides the extra. The package index has httpstan's compiler, but not BridgeStan's.
declare -A beside=([stan]=httpstan [arviz]="arviz>=1")
# Requirements for building the extra: AMICI's compiler of bindings.
declare -A before=([petab]=swig)
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder="$(mktemp -d)" path="$PATH" tested=0
trap 'rm -rf "$folder"' EXIT
if [ $# = 0 ]; then
    mapfile -t adapters < <(find tests/adapters -name 'test_*.py' -printf '%f\n' | sed -E 's/test_(.*)\.py/\1/' | sort)
    set -- "${adapters[@]}"
fi
for adapter; do
    echo "test-adapters: $adapter"
    if [ "$adapter" = arviz ] && ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 12))'; then
        echo "test-adapters: arviz 1.0 needs Python 3.12; not tested here"
        continue
    fi
    if [ "$adapter" = petab ] && ! { command -v cmake && command -v h5c++; } >/dev/null; then
        echo "test-adapters: AMICI is compiled with cmake, HDF5 and BLAS; not tested here"
        continue
    fi
    PATH="$path" python3 -m venv "$folder/$adapter"
    # The environment's programs take precedence.
    export PATH="$folder/$adapter/bin:$path"
    "$folder/$adapter/bin/python" -m pip install --quiet --disable-pip-version-check "${before[$adapter]:-pip}"
    "$folder/$adapter/bin/python" -m pip install --quiet --disable-pip-version-check \
        --editable ".[$adapter]" "${beside[$adapter]:-pip}" pytest pytest-xdist
    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 "$folder/$adapter/bin/python" -m pytest -p no:cacheprovider \
        "tests/adapters/test_$adapter.py"
    tested=$((tested + 1))
done
echo "test-adapters: $tested of $# tested"
if [ $tested = 0 ]; then exit 1; fi
