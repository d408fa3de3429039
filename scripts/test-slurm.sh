#!/usr/bin/env bash
# Starts a Slurm on this machine in a temporary folder, runs tests/slurm on it, and stops it: make test-slurm
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

stop() {
    printf 'make test-slurm: %s\n' "$1" >&2
    exit 1
}

# 77: this machine cannot run it (.ci/run).
cannot() {
    printf 'make test-slurm: %s\n' "$1" >&2
    exit 77
}

install_slurm() {
    local missing=""
    for program in slurmctld slurmd srun munged; do command -v $program >/dev/null || missing="$missing $program"; done
    if [ -z "$missing" ]; then return; fi
    if ! command -v apt-get >/dev/null; then
        cannot "missing:$missing, and this system has no apt; install Slurm and munge"
    fi
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends slurm-wlm munge >/dev/null
}

free_ports() {
    scripts/in-env.sh python -c "
import socket
taken = [socket.socket() for _ in range(2)]
for one in taken:
    one.bind(('127.0.0.1', 0))
print(*(one.getsockname()[1] for one in taken))"
}

write_config() {
    head -c 1024 /dev/urandom >"$folder/munge.key"
    chmod 400 "$folder/munge.key"
    mkdir "$folder/state" "$folder/spool" "$folder/bin"
    local host memory controller_port node_port
    read -r controller_port node_port < <(free_ports)
    host="$(hostname -s)"
    memory="$(awk '/MemTotal/ { print int(0.9 * $2 / 1024) }' /proc/meminfo)"
    sed "s|@HOST@|$host|g; s|@FOLDER@|$folder|g; s|@CPUS@|$(getconf _NPROCESSORS_ONLN)|g; s|@MEMORY@|$memory|
        s|@CONTROLLER_PORT@|$controller_port|; s|@NODE_PORT@|$node_port|" tests/slurm/slurm.conf.in >"$folder/slurm.conf"
    # Snakemake's plugin keeps SLURM_CONF from the srun of a job step, which then looks for a Slurm of the system.
    printf '#!/bin/sh\nSLURM_CONF=%s exec %s "$@"\n' "$folder/slurm.conf" "$(command -v srun)" >"$folder/bin/srun"
    # No test may query the accounting database: there is none, and on some clusters queries hang.
    printf '#!/bin/sh\necho "$*" >>%s/sacct.calls\nexit 1\n' "$folder" >"$folder/bin/sacct"
    chmod 755 "$folder" "$folder/bin/srun" "$folder/bin/sacct"
}

start() {
    munged --foreground --key-file="$folder/munge.key" --socket="$folder/munge.socket" --pid-file="$folder/munged.pid" \
        --log-file="$folder/munged.log" --seed-file="$folder/munged.seed" >"$folder/munged.out" 2>&1 &
    daemons+=($!)
    for _ in $(seq 50); do if [ -S "$folder/munge.socket" ]; then break; fi; sleep 0.1; done
    slurmctld -D >"$folder/slurmctld.out" 2>&1 &
    daemons+=($!)
    slurmd -D >"$folder/slurmd.out" 2>&1 &
    daemons+=($!)
    for _ in $(seq 60); do
        if [ "$(sinfo --noheader --format %T 2>/dev/null)" = idle ]; then return; fi
        sleep 0.5
    done
    tail -n 20 "$folder"/*.log "$folder"/*.out >&2 || true
    stop "Slurm did not start within 30 s; what its daemons said is above"
}

# Always clean up: first the jobs, which would outlive slurmd, then the daemons, then the folder.
finish() {
    scancel --quiet --user "$(id -un)" 2>/dev/null || true
    for _ in $(seq 20); do if [ -z "$(squeue --noheader 2>/dev/null)" ]; then break; fi; sleep 0.5; done
    for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null || true; done
    wait
    rm -rf "$folder"
}

if [ "$(id -u)" != 0 ]; then
    cannot "only root can run a Slurm for itself; on a cluster, try: snakemake --profile profiles/slurm"
fi
install_slurm
daemons=()
folder="$(mktemp -d "${TMPDIR:-/tmp}/rnshmc-slurm.XXXXXX")"
# Before the trap, whose commands must never reach the jobs of another Slurm.
export SLURM_CONF="$folder/slurm.conf"
trap finish EXIT
trap 'exit 130' INT TERM HUP
write_config
start
RNSHMC_SLURM="$folder" PATH="$folder/bin:$PATH" OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
    scripts/in-env.sh pytest tests/slurm "$@"
