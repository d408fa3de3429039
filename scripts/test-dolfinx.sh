#!/usr/bin/env bash
# Runs the PDE tests with each supported dolfinx in its own Debian tree, and compares the results.
#
#   scripts/test-dolfinx.sh [suite ...]
#
# Suites, by default all: bookworm (dolfinx 0.5.2), trixie (0.9) and sid (0.11).
#
# RNSHMC_TREES   folder of the trees, by default rnshmc/trees in your cache. They are kept for the next run. Nothing
#                stays mounted: remove the folder to remove them.
# DEBIAN_MIRROR  source of the trees, by default apt's source on this machine.
#
# It needs root and debootstrap.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

trees="${RNSHMC_TREES:-${XDG_CACHE_HOME:-$HOME/.cache}/rnshmc/trees}"
copied=(README.md apt-packages.txt benchmarks config pyproject.toml requirements.lock scripts src tests workflow)
tests=(tests/fem tests/targets/test_elliptic*.py tests/targets/test_forward_*.py)
if [ -d tests/mpi ]; then tests+=(tests/mpi); fi

stop() {
    printf 'test-dolfinx: %s\n' "$1" >&2
    exit 1
}

# 77: this machine cannot run them (.ci/run).
cannot() {
    printf 'test-dolfinx: %s\n' "$1" >&2
    exit 77
}

say() { printf 'test-dolfinx: %s\n' "$1"; }

check_machine() {
    local advice="the trees need root, debootstrap and the right to mount"
    if [ "$(id -u)" != 0 ]; then cannot "$advice; this is user $(id -un)"; fi
    if ! command -v debootstrap >/dev/null; then cannot "$advice; run: apt-get install debootstrap"; fi
    if ! unshare --mount --pid --fork true 2>/dev/null; then cannot "$advice; this container does not allow mounts"; fi
}

# --- Settings of this machine for a tree -----------------------------------------------------------------------------

debian_mirror() {
    local mirror
    mirror="${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' \
        'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 2>/dev/null | sed -n 1p)}"
    if [ -z "$mirror" ]; then stop "apt names no Debian mirror; set DEBIAN_MIRROR to the address of one"; fi
    echo "$mirror"
}

# Access to the package archive and the Python package index: names, proxies, certificates, pip's settings.
copy_network_settings() {
    local tree="$1" file
    {
        apt-config dump Acquire | grep -v '^Acquire::IndexTargets'
        echo 'Acquire::https::CaInfo "/etc/machine.crt";'
    } >"$tree/etc/apt/apt.conf.d/99machine"
    cp /etc/ssl/certs/ca-certificates.crt "$tree/etc/machine.crt"
    for file in resolv.conf hosts; do
        # Resolved, since a link would point outside the tree.
        cp --dereference --remove-destination "/etc/$file" "$tree/etc/$file"
    done
    mkdir -p "$tree/root/.config/pip"
    copy_pip_settings /etc/pip.conf "$tree/etc/pip.conf"
    copy_pip_settings ~/.config/pip/pip.conf "$tree/root/.config/pip/pip.conf"
}

# Without settings that name a folder: the tree has its own folders.
copy_pip_settings() {
    if [ -e "$1" ]; then grep -vE '= *(file:|/)' "$1" >"$2" || true; fi
}

# Runs a command in the tree in its own namespaces, so that mounts and processes end with it.
inside() {
    local tree="$1" settings
    mapfile -d '' settings < <(env -0 | grep -zE '^(PIP_[A-Z_]*|(https?|no)_proxy)=[^/]')
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --kill-child bash -ec '
        mount --rbind /dev "$0/dev"
        mount --rbind /sys "$0/sys"
        mount -t proc proc "$0/proc"
        exec chroot "$0" "$@"' "$tree" \
        env --ignore-environment --chdir=/rnshmc "${settings[@]}" PIP_CERT=/etc/machine.crt \
        HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
        OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "${@:2}"
}

# --- The trees -------------------------------------------------------------------------------------------------------

packages() {
    grep -v '^#' apt-packages.txt
    # The lock's numpy does not fit sid's Python 3.14.
    if [ "$1" = sid ]; then
        printf 'python3-%s\n' cloudpickle numpy pandas psutil pytest pytest-xdist scipy threadpoolctl yaml
    fi
}

make_tree() {
    local suite="$1" tree="$trees/$1" mirror wanted
    if ! packages "$suite" | cmp -s - "$tree/rnshmc/.packages"; then
        mirror="$(debian_mirror)"
        say "making $tree"
        rm -rf "$tree"
        debootstrap --variant=minbase "$suite" "$tree" "$mirror" >/dev/null
        copy_network_settings "$tree"
        mkdir "$tree/rnshmc"
        inside "$tree" apt-get update -qq
        mapfile -t wanted < <(packages "$suite")
        inside "$tree" apt-get install -qq --yes --no-install-recommends "${wanted[@]}" >/dev/null
        packages "$suite" >"$tree/rnshmc/.packages"
    fi
}

copy_project() {
    local copy="$trees/$1/rnshmc"
    (cd "$copy" && rm -rf "${copied[@]}")
    cp -r "${copied[@]}" "$copy"
}

# Runs Python in the tree with access to the project and its requirements.
python_inside() {
    local tree="$1" python=(.venv/bin/python)
    if [ "$tree" = "$trees/sid" ]; then python=(env PYTHONPATH=/rnshmc/src python3); fi
    inside "$tree" "${python[@]}" "${@:2}"
}

# --- The tests -------------------------------------------------------------------------------------------------------

test_in() {
    local suite="$1" tree="$trees/$1"
    if [ "$suite" != sid ]; then inside "$tree" scripts/make-env.sh debian; fi
    say "$suite"
    python_inside "$tree" -m pytest -q -p no:cacheprovider "${tests[@]}"
    # After the tests, which have compiled its forms.
    python_inside "$tree" scripts/pde_values.py write >"$tree.json"
}

suites=("$@")
if [ $# = 0 ]; then suites=(bookworm trixie sid); fi
for suite in "${suites[@]}"; do
    case "$suite" in
        bookworm | trixie | sid) ;;
        *) stop "$suite is not known; choose among bookworm, trixie and sid" ;;
    esac
done

check_machine
mkdir -p "$trees"
exec 9>"$trees/lock"
if ! flock --nonblock 9; then stop "another run is using $trees"; fi

for suite in "${suites[@]}"; do make_tree "$suite"; done
# All suites test the same copy, unaffected by edits during the run.
for suite in "${suites[@]}"; do copy_project "$suite"; done
for suite in "${suites[@]}"; do test_in "$suite"; done
if [ ${#suites[@]} = 1 ]; then exit; fi
for suite in "${suites[@]}"; do cat "$trees/$suite.json"; done |
    python_inside "$trees/${suites[0]}" scripts/pde_values.py compare
