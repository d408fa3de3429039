#!/usr/bin/env bash
# Runs the tests in several rounding environments, which represent other machines. A correct program passes in all.
#
#   scripts/test-rounding.sh [whole | fast | pytest argument ...]
#
# baseline  .venv with NumPy's baseline instructions, OpenBLAS's oldest kernels and one BLAS thread, so that digits hardly
#           depend on the machine.
# threads   .venv with two BLAS threads
# Haswell, Zen, SkylakeX
#           .venv with OpenBLAS's kernels for these processors; the last one needs AVX-512. Kernels that this processor
#           cannot run are reported and left out.
# newest    .venv-newest, with newer NumPy and SciPy, which requirements-newest.txt pins: `make lock PART=newest` moves them
#           to the newest that pyproject.toml allows. Tests that need dolfinx or mpi4py are skipped.
#
# whole, the default, is the suite without tests/workflow and tests/slurm; fast is its numerical part.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

newest=.venv-newest
failed=()

stop() {
    printf 'test-rounding: %s\n' "$1" >&2
    exit 1
}

say() { printf 'test-rounding: %s\n' "$1"; }

# --- The newest environment ------------------------------------------------------------------------------------------

ingredients() {
    echo "$PWD"
    .venv/bin/python --version
    cat requirements-newest.txt
}

make_newest() {
    if ingredients | cmp -s - $newest/.made-from; then return; fi
    say "making $newest"
    .venv/bin/python -m venv --clear $newest
    $newest/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement requirements-newest.txt
    $newest/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
    ingredients >$newest/.made-from
}

versions() { in_newest python -c 'import numpy, scipy; print("NumPy", numpy.__version__, "and SciPy", scipy.__version__)'; }

in_newest() { PATH="$PWD/$newest/bin:$PATH" VIRTUAL_ENV="$PWD/$newest" "$@"; }

# --- NumPy's dispatch ------------------------------------------------------------------------------------------------

# Processor features beyond the baseline that NumPy uses in the current environment.
dispatched() {
    scripts/in-env.sh python - <<'PYTHON'
try:
    from numpy._core import _multiarray_umath as numpy
except ImportError:
    from numpy.core import _multiarray_umath as numpy
print(*(name for name in numpy.__cpu_dispatch__ if numpy.__cpu_features__[name]))
PYTHON
}

leave_out_features() {
    local features left
    features="$(dispatched)"
    left="$(NPY_DISABLE_CPU_FEATURES="$features" dispatched)"
    if [ -n "$left" ]; then stop "NPY_DISABLE_CPU_FEATURES leaves $left in NumPy"; fi
    echo "NPY_DISABLE_CPU_FEATURES=$features"
}

# --- OpenBLAS's kernels ----------------------------------------------------------------------------------------------

# The kernels that OpenBLAS runs for a requested processor: the requested ones, if this processor can.
kernels() {
    OPENBLAS_CORETYPE="$1" scripts/in-env.sh python - <<'PYTHON'
import numpy  # loads its OpenBLAS
from threadpoolctl import threadpool_info

[blas] = [found for found in threadpool_info() if found["internal_api"] == "openblas" and "numpy" in found["filepath"]]
print(blas["architecture"])
PYTHON
}

run_kernels() {
    local found
    found="$(kernels "$1")"
    if [ "$found" != "$1" ]; then
        say "$1 was not run: this processor runs $found in its place"
        return
    fi
    run "$1" env "${one[@]}" OPENBLAS_CORETYPE="$1" scripts/in-env.sh pytest -n 2
}

# --- The tests -------------------------------------------------------------------------------------------------------

# run <rounding> <command ...>: a failing rounding does not stop the others, and is reported at the end.
run() {
    local name="$1" begin=$SECONDS
    say "$name"
    if ! "${@:2}" -q "${tests[@]}"; then failed+=("$name"); fi
    say "$name took $((SECONDS - begin)) s"
}

case "${1:-whole}" in
    whole) tests=(tests --ignore tests/workflow --ignore tests/slurm "${@:2}") ;;
    fast) tests=(tests/targets tests/surrogates tests/dynamics tests/kernels tests/conformance "${@:2}") ;;
    *) tests=("$@") ;;
esac

make_newest
without="$(leave_out_features)"
oldest=()
if [ "$(uname -m)" = x86_64 ]; then oldest=(OPENBLAS_CORETYPE=Prescott); fi
one=(OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1)
two=(OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=2)
run baseline env "${one[@]}" "$without" "${oldest[@]}" scripts/in-env.sh pytest -n 2
run threads env "${two[@]}" scripts/in-env.sh pytest
if [ "$(uname -m)" = x86_64 ]; then
    for processor in Haswell Zen SkylakeX; do run_kernels "$processor"; done
fi
say "$newest has $(versions)"
run newest in_newest env "${one[@]}" pytest -n 2
if [ ${#failed[@]} != 0 ]; then stop "tests failed in: ${failed[*]}"; fi
