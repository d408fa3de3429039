"""The plan of a run on other numbers of cores."""

import pytest
from plan import Job, needs, read_jobs, schedule, table, ways_to_the_end

DRY_RUN = """Job stats:
job       count
------  -------
sample        2

[Sat Nov 28 07:45:34 2026]
rule explore:
    input: data.npz
    output: explored.nc, gradients.npz
    jobid: 2
    wildcards: problem=bank, chain=chain1
    priority: 2
    resources: tmpdir=/tmp

[Sat Nov 28 07:45:34 2026]
localrule download:
    output: data.npz
    jobid: 1

[Sat Nov 28 07:45:34 2026]
rule timing:
    input: explored.nc
    output: timing.json
    jobid: 3
    wildcards: problem=bank
    threads: 2

[Sat Nov 28 07:45:34 2026]
rule all:
    input: timing.json
    jobid: 0
"""


def job(output: str, seconds: float, *inputs: str, threads: int = 1, priority: int = 0) -> Job:
    return Job("rule", {}, inputs, (output,), threads, priority, seconds)


def in_order(jobs: list[Job]) -> list[float]:
    return [-float(number) for number in range(len(jobs))]


def test_jobs_of_a_dry_run_are_read_with_their_inputs_cores_and_priorities() -> None:
    explore, download, timing = read_jobs(
        DRY_RUN, {"explored.nc": 3.0, "data.npz": 1.0, "timing.json": 5.0}.__getitem__
    )
    assert (explore.row, explore.priority, explore.threads) == ("explore bank", 2, 1)
    assert explore.outputs == ("explored.nc", "gradients.npz")
    assert (timing.row, timing.priority, timing.threads) == ("timing bank", 0, 2)
    assert needs([explore, download, timing]) == [{1}, set(), {0}]
    assert ways_to_the_end([explore, download, timing], needs([explore, download, timing])) == [8.0, 9.0, 5.0]


@pytest.mark.parametrize(("cores", "seconds"), [(1, 10.0), (2, 6.0), (3, 4.0), (16, 4.0)])
def test_jobs_without_inputs_share_the_cores(cores: int, seconds: float) -> None:
    jobs = [job("a", 4), job("b", 2), job("c", 4)]
    assert schedule(jobs, cores, in_order(jobs)) == seconds


def test_a_job_starts_after_its_inputs_and_by_priority() -> None:
    jobs = [job("short", 1), job("late", 4, "first"), job("first", 2, priority=1)]
    assert schedule(jobs, 1, in_order(jobs)) == 7
    assert schedule(jobs, 2, in_order(jobs)) == 6
    assert schedule([job("a", 1), job("b", 1), job("long", 2, priority=1)], 2, [0.0, 0.0, 0.0]) == 2


def test_a_job_with_all_cores_runs_alone() -> None:
    jobs = [job("all", 3, threads=2, priority=1), job("a", 2), job("b", 4)]
    assert schedule(jobs, 2, in_order(jobs)) == 7
    # It waits for the longer of the two, although its input exists before.
    jobs = [job("all", 3, "a", threads=2, priority=1), job("a", 2), job("b", 4)]
    assert schedule(jobs, 2, in_order(jobs)) == 7


def test_rows_of_the_table_are_sums_over_chains() -> None:
    jobs = [
        Job("sample", {"problem": "bank", "sampler": "hmc", "chain": f"chain{k}"}, (), (f"{k}",), 1, 0, 2.0 * k)
        for k in (1, 2)
    ]
    found = table([job("other", 1), *jobs])
    assert [found.at["sample bank hmc", name] for name in ("count", "max", "sum")] == [2, 4.0, 6.0]
    assert list(found.index) == ["sample bank hmc", "rule"]
