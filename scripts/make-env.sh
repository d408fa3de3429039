#!/usr/bin/env bash
# Makes the environment .venv, or exits silently if it is up to date.
#
#   scripts/make-env.sh [debian|conda]
#
# debian  system packages from apt-packages.txt, Python packages from requirements.lock in a virtual environment on the
#         system's Python, which is the one that Debian builds dolfinx for
# conda   everything from environment.yml, with the first available of micromamba, mamba and conda
#
# Without an argument: the route of the existing .venv, otherwise debian.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

system_python=/usr/bin/python3
elsewhere="Elsewhere install conda, mamba or micromamba, and run: make env ENV=conda"

stop() {
    printf 'make env: %s\n' "$1" >&2
    exit 1
}

say() { printf 'make env: %s\n' "$1"; }

# --- Debian and Ubuntu -----------------------------------------------------------------------------------------------

check_system() {
    local supported="Debian 12 or later, or Ubuntu 24.04 or later"
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        stop "this system has no apt; rnshmc sets itself up on $supported. $elsewhere"
    fi
    if [ -x $system_python ] && ! $system_python -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        stop "$system_python is older than Python 3.11; rnshmc sets itself up on $supported. $elsewhere"
    fi
}

missing_packages() {
    grep -v '^#' apt-packages.txt | while read -r package; do
        if ! dpkg-query --show --showformat '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed; then
            echo "$package"
        fi
    done
}

install_system_packages() {
    local missing as_root=""
    mapfile -t missing < <(missing_packages)
    if [ ${#missing[@]} = 0 ]; then return; fi
    if [ "$(id -u)" != 0 ]; then
        if ! command -v sudo >/dev/null; then
            stop "system packages are missing; as root, run: apt-get update && apt-get install --yes ${missing[*]}"
        fi
        as_root=sudo
    fi
    say "installing system packages: ${missing[*]}"
    $as_root apt-get update -qq
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -qq --yes --no-install-recommends "${missing[@]}" >/dev/null
}

make_debian() {
    check_system
    install_system_packages
    say "installing Python packages from requirements.lock"
    $system_python -m venv --clear --system-site-packages .venv
    # --no-deps: the lock is complete, and Debian's older copies must not replace its pins.
    # --use-pep517: builds source packages without a system-wide wheel package.
    # --require-hashes: rejects files that differ from the locked ones, whatever their source.
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --use-pep517 --require-hashes \
        --requirement requirements.lock
}

# --- conda, mamba, micromamba ----------------------------------------------------------------------------------------

make_conda() {
    local tool
    tool="$(command -v micromamba || command -v mamba || command -v conda)" ||
        stop "ENV=conda was asked for, but none of micromamba, mamba and conda is on the PATH; install one of them"
    say "creating the environment of environment.yml with $(basename "$tool")"
    rm -rf .venv
    "$tool" env create --yes --prefix "$PWD/.venv" --file environment.yml
}

# --- Inputs of .venv -------------------------------------------------------------------------------------------------

ingredients() {
    echo "$route $PWD"
    case "$route" in
        debian) $system_python --version && cat apt-packages.txt requirements.lock ;;
        conda) cat environment.yml ;;
    esac
}

unchanged() { cmp -s "$1" -; }

default_route() { if [ -d .venv/conda-meta ]; then echo conda; else echo debian; fi; }

route="${1:-$(default_route)}"
case "$route" in
    debian | conda) ;;
    *) stop "ENV=$route is not known; choose debian or conda" ;;
esac

if ! ingredients 2>/dev/null | unchanged .venv/.made-from; then
    "make_$route"
    ingredients >.venv/.made-from
fi

if ! unchanged .venv/.installed <pyproject.toml; then
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
    cp pyproject.toml .venv/.installed
    say "ready"
fi
