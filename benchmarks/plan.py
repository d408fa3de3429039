"""Plan of a run: seconds of its jobs, and how long it takes on other numbers of cores.

    python benchmarks/plan.py                                # the finished run "paper", on 2 and 16 cores
    python benchmarks/plan.py --save jobs.csv                # also write the seconds of each job
    python benchmarks/plan.py --seconds jobs.csv --cores 8   # by the seconds of a file, without results

Further options, such as ``--configfile``, are Snakemake's.

A dry run (`snakemake --dry-run --forceall`) lists the jobs, their inputs, cores and priorities; their seconds are those
that Snakemake recorded, or those of a file. A list scheduling then starts jobs as Snakemake does: of those whose inputs
exist and whose cores are free, those of the highest priority, and among equals those with the longest way to the end,
or in the order of the dry run: Snakemake's own order of equals is not known. A job with all cores waits until no other
job runs.
"""

import argparse
import heapq
import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from rnshmc.run.internals import record_path

ROWS = 25
NAMED = ("problem", "sampler", "surrogate", "method", "d", "solver", "cells")
FIELD = re.compile(r"^    (input|output|wildcards|threads|priority): (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Job:
    """A job of a dry run."""

    rule: str
    wildcards: Mapping[str, str]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    threads: int
    priority: int
    seconds: float

    @property
    def row(self) -> str:
        """Its row of the table: rule, problem and what is sampled, without the number of the chain."""
        return " ".join([self.rule, *(self.wildcards[name] for name in NAMED if name in self.wildcards)])


def read_jobs(dry_run: str, seconds: Callable[[str], float]) -> list[Job]:
    """The jobs of the output of a dry run, by the first of their outputs."""
    jobs = []
    for block in re.split(r"^(?:local)?rule (?=\w+:$)", dry_run, flags=re.MULTILINE)[1:]:
        rule, fields = block.split(":", 1)[0], dict(FIELD.findall(block))
        if "output" in fields:
            outputs = tuple(fields["output"].split(", "))
            jobs.append(
                Job(
                    rule=rule,
                    wildcards=dict(pair.split("=", 1) for pair in fields.get("wildcards", "").split(", ") if pair),
                    inputs=tuple(fields.get("input", "").split(", ")),
                    outputs=outputs,
                    threads=int(fields.get("threads", 1)),
                    priority=int(fields.get("priority", 0)),
                    seconds=seconds(outputs[0]),
                )
            )
    return jobs


def recorded_seconds(output: str) -> float:
    """Seconds of the job that made an output, from Snakemake's record of it."""
    record = json.loads(record_path(output).read_text(encoding="utf-8"))
    return float(record["endtime"] - record["starttime"])


def needs(jobs: list[Job]) -> list[set[int]]:
    """Numbers of the jobs that each job waits for."""
    maker = {output: number for number, job in enumerate(jobs) for output in job.outputs}
    return [{maker[path] for path in job.inputs if path in maker} for job in jobs]


def ways_to_the_end(jobs: list[Job], needed: list[set[int]]) -> list[float]:
    """Seconds from the start of each job to the end of a run with any number of cores."""
    users: dict[int, list[int]] = defaultdict(list)
    for number, found in enumerate(needed):
        for other in found:
            users[other].append(number)
    ways: dict[int, float] = {}

    def way(number: int) -> float:
        if number not in ways:
            ways[number] = jobs[number].seconds + max(map(way, users[number]), default=0.0)
        return ways[number]

    return [way(number) for number in range(len(jobs))]


def schedule(jobs: list[Job], cores: int, order: list[float]) -> float:
    """Seconds of a run; of jobs of equal priority, the one with the largest ``order`` starts first."""
    waiting = [set(found) for found in needs(jobs)]
    ready = {number for number, found in enumerate(waiting) if not found}
    running: list[tuple[float, int]] = []
    free, now = cores, 0.0
    while ready or running:
        for number in sorted(ready, key=lambda number: (-jobs[number].priority, -order[number])):
            if jobs[number].threads <= free:
                free -= jobs[number].threads
                ready.remove(number)
                heapq.heappush(running, (now + jobs[number].seconds, number))
        now, done = heapq.heappop(running)
        free += jobs[done].threads
        for number, found in enumerate(waiting):
            if done in found:
                found.remove(done)
                if not found:
                    ready.add(number)
    return now


def dry_run(cores: int, options: Iterable[str]) -> str:
    """The output of Snakemake's dry run of all jobs."""
    command = ["snakemake", "--dry-run", "--forceall", "--quiet", "host", "--cores", str(cores), *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def table(jobs: list[Job]) -> pd.DataFrame:
    """Number of jobs, longest and sum of seconds of each row, the largest sums first."""
    rows = pd.DataFrame({"jobs": [job.row for job in jobs], "seconds": [job.seconds for job in jobs]})
    found = rows.groupby("jobs")["seconds"].agg(["count", "max", "sum"])
    return found.sort_values("sum", ascending=False)


def report(jobs: list[Job], cores: int) -> None:
    """Print what a run on a number of cores takes, in minutes."""
    alone = [job.threads == cores > 1 for job in jobs]
    ways = ways_to_the_end(jobs, needs(jobs))
    parts = {
        "alone on the machine": sum(job.seconds for job, found in zip(jobs, alone, strict=True) if found),
        "work of one core": sum(job.seconds for job, found in zip(jobs, alone, strict=True) if not found),
        "longest way": max(ways),
        "run, longest first": schedule(jobs, cores, ways),
        "run, as listed": schedule(jobs, cores, [-float(number) for number in range(len(jobs))]),
    }
    found = ", ".join(f"{name} {seconds / 60:.1f}" for name, seconds in parts.items())
    print(f"{cores} cores, {len(jobs)} jobs; minutes: {found}")


def main() -> None:
    """Print the table and the minutes on each number of cores."""
    parser = argparse.ArgumentParser(description="Seconds of a run's jobs, and minutes on other numbers of cores.")
    parser.add_argument("--cores", type=int, nargs="+", default=[2, 16])
    parser.add_argument("--seconds", type=Path, help="file with the columns output and seconds")
    parser.add_argument("--save", type=Path, help="write such a file")
    found, options = parser.parse_known_args()
    given = {} if found.seconds is None else pd.read_csv(found.seconds).set_index("output")["seconds"].to_dict()
    for number, cores in enumerate(found.cores):
        jobs = read_jobs(dry_run(cores, options), given.__getitem__ if given else recorded_seconds)
        if number == 0:
            print(table(jobs).head(ROWS).round(1).to_string())
        if number == 0 and found.save:
            rows = [(job.outputs[0], round(job.seconds, 1)) for job in jobs]
            pd.DataFrame(rows, columns=["output", "seconds"]).to_csv(found.save, index=False)
        report(jobs, cores)


if __name__ == "__main__":
    main()
