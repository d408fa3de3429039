#!/usr/bin/env bash
# Runs a command inside the environment, as if it were activated: scripts/in-env.sh snakemake --cores 16
set -eo pipefail

prefix="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/.venv"
export PATH="$prefix/bin:$PATH"
if [ -d "$prefix/conda-meta" ]; then
    export CONDA_PREFIX="$prefix"
    # dolfinx's form compiler finds conda's C compiler through the variables that these set.
    for script in "$prefix"/etc/conda/activate.d/*.sh; do
        if [ -e "$script" ]; then . "$script"; fi
    done
else
    export VIRTUAL_ENV="$prefix"
fi
exec "$@"
