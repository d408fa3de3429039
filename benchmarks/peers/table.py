"""The table of peers from their runs: python -m peers.table --results R --references F --table T --page P."""

import argparse
import csv
import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np
from peers.judge import Verdict, judge
from peers.reference import read
from peers.run import PEERS

OURS = ("rnshmc_gradient", "rnshmc_values")
VALUES_ONLY = (
    "rnshmc_values",
    "emcee_stretch",
    "tinyda_adaptive",
    "nautilus_nested",
    "pyvbmc_variational",
    "gpry_surrogate",
)


def verdicts(results: Path, references: Path) -> list[Verdict]:
    """The verdict on every run below ``results``, by problem, then peer, then seed."""
    runs = [json.loads(path.read_text()) for path in sorted(results.glob("*/*/*.json"))]
    known = {name: read(references / f"{name}.csv") for name in {run["problem"] for run in runs}}
    return sorted((judge(run, *known[run["problem"]]) for run in runs), key=lambda v: (v.problem, v.peer, v.seed))


def write_runs(path: Path, runs: Sequence[Verdict]) -> None:
    """A CSV file with a row for each run."""
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, [field.name for field in fields(Verdict)], lineterminator="\n")
        table.writeheader()
        for run in runs:
            row = asdict(run)
            table.writerow({key: f"{entry:.5g}" if isinstance(entry, float) else entry for key, entry in row.items()})


def page(runs: Sequence[Verdict], references: Path) -> str:
    """The page in Markdown: a table for each problem, wins and losses, versions and machine."""
    problems = list(dict.fromkeys(run.problem for run in runs))
    sections = [_section(name, [run for run in runs if run.problem == name], references) for name in problems]
    return "\n".join([_HEAD, _wins(runs, problems), *sections, _missing(runs, problems), _machine(runs)])


def _section(name: str, runs: Sequence[Verdict], references: Path) -> str:
    moments, (of_mean, of_variance) = read(references / f"{name}.csv")
    seconds = min(run.evaluation_s for run in runs if run.units)
    lines = [
        f"## {name}, {len(moments.mean)} dimensions",
        "",
        f"Reference: errors of {of_mean:.3g} independent draws (means), {of_variance:.3g} (variances). "
        f"A unit took {_seconds(seconds)} where it was fastest.",
        "",
        "| peer | seeds | units, means | variances | spent | errors as of | overhead | says, seed 1 | good | rightly |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    groups = {peer: [run for run in runs if run.peer == peer] for peer in dict.fromkeys(run.peer for run in runs)}
    by_units = sorted(groups.items(), key=lambda item: (_median(item[1], "units_goal"), _median(item[1], "units")))
    return "\n".join([*lines, *(_row(peer, group) for peer, group in by_units), ""])


def _row(peer: str, runs: Sequence[Verdict]) -> str:
    good = [run for run in runs if run.says_good]
    cells = [
        peer,
        str(len(runs)),
        _spread(runs, "units_mean"),
        _spread(runs, "units_variance"),
        _count(_median(runs, "units")),
        f"{_count(_median(runs, 'draws_mean'))} / {_count(_median(runs, 'draws_variance'))}",
        _seconds(_median(runs, "overhead_s")),
        runs[0].says.splitlines()[0].replace("|", "/")[:60],
        f"{len(good)} of {len(runs)}",
        f"{sum(run.honest for run in good)} of {len(good)}" if good else "-",
    ]
    return f"| {' | '.join(cells)} |"


def _wins(runs: Sequence[Verdict], problems: Sequence[str]) -> str:
    lines = [
        "## Wins and losses",
        "",
        "Median units until both errors are those of 1000 draws, of the best peer and of ours; and the price of a unit "
        "from which on ours, with gradients, is the fastest, with everybody's overhead.",
        "",
        "| problem | best with gradient | ours | best without | ours without | ours is fastest from |",
        "|---|---|---|---|---|---|",
    ]
    for name in problems:
        mine = [run for run in runs if run.problem == name]
        medians = {peer: _median([r for r in mine if r.peer == peer], "units_goal") for peer in {r.peer for r in mine}}
        cells = [name]
        for ours, group in ((OURS[0], False), (OURS[1], True)):
            others = {p: u for p, u in medians.items() if p not in OURS and (p in VALUES_ONLY) == group}
            best = min(others, key=lambda p: others[p], default=None)
            reached = best is not None and np.isfinite(others[best])
            cells.append(f"{best}: {_count(others[best])}" if best and reached else "none")
            cells.append(_count(medians[ours]) if ours in medians else "not run")
        cells.append(_price(mine, medians))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _price(runs: Sequence[Verdict], medians: dict[str, float]) -> str:
    """Seconds of a unit above which ours with gradients ends first: c with o + c u below that of every other peer."""
    ours = OURS[0]
    if not np.isfinite(medians.get(ours, np.inf)):
        return "-"
    overhead = {peer: _median([run for run in runs if run.peer == peer], "overhead_at_goal_s") for peer in medians}
    price = 0.0
    for peer, units in medians.items():
        if peer in OURS or not np.isfinite(units):
            continue
        if units <= medians[ours]:
            return f"never: {peer} takes fewer"
        price = max(price, (overhead[ours] - overhead[peer]) / (units - medians[ours]))
    return _seconds(price) if price > 0 else "any"


def _missing(runs: Sequence[Verdict], problems: Sequence[str]) -> str:
    """Which peers have no run on which of the problems."""
    there = {(run.peer, run.problem) for run in runs}
    gaps = {peer: [name for name in problems if (peer, name) not in there] for peer in PEERS}
    lines = [f"- {peer}: {', '.join(names)}" for peer, names in gaps.items() if names]
    return "\n".join(["## Not run for this page", "", *lines, ""])


def _machine(runs: Sequence[Verdict]) -> str:
    versions = dict.fromkeys(f"{run.peer} {run.version}" for run in sorted(runs, key=lambda run: run.peer))
    lines = [
        "## How it was run",
        "",
        "    snakemake --snakefile benchmarks/peers/Snakefile --cores 2",
        "",
        f"{_processor()}, {os.cpu_count()} processors, one thread of BLAS for a run; {platform.system()}, "
        f"Python {platform.python_version()}, NumPy {np.__version__}. Seconds were taken "
        f"beside other programs. {len(runs)} of the runs that the command makes are in this page.",
        f"Versions: {', '.join(versions)}.",
        "",
    ]
    return "\n".join(lines)


def _processor() -> str:
    names = [
        line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line
    ]
    return names[0] if names else platform.machine()


def _median(runs: Sequence[Verdict], field: str) -> float:
    """The median, the upper one of two: a value that was seen, infinite ones among them."""
    return float(sorted(getattr(run, field) for run in runs)[len(runs) // 2])


def _spread(runs: Sequence[Verdict], field: str) -> str:
    """Median and largest."""
    largest = max(getattr(run, field) for run in runs)
    return f"{_count(_median(runs, field))} ({_count(largest)})"


def _count(number: float) -> str:
    if not np.isfinite(number):
        return "not reached"
    return f"{number:.0f}" if number < 1e5 else f"{number:.2g}"


def _seconds(number: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if number >= scale:
            return f"{number / scale:.3g} {unit}"
    return f"{number / 1e-6:.3g} µs"


_HEAD = """# Against what people use

The evaluation units until the errors of means and of variances against a long reference run are those of 1000
independent draws, for samplers that people use and those made for expensive posteriors.

- **Unit.** A value of the log density is 1 unit, a gradient 1 more. Everything counts from the first call on, the
  search for the mode, warm-up and failed calls included; one wrapper around the exact potential counts for every peer.
- **Error.** Of the means: the mean over coordinates of squared error / variance, which is 1/N on average for N
  independent draws. Of the variances: the mean over coordinates of (relative error)^2 / (kurtosis - 1), 1/N likewise.
  The inverse is "errors are those of so many independent draws".
- **Units until 1000.** A chain, or independent draws with weights, goes on at its own rate: units of the warm-up, plus
  those after it times 1000 over its effective draws, by its own estimate, where these are 100 or more and the errors
  bear them out (squared errors at most 5 times what they imply). Any other result counts at what was spent if its
  errors are those of 1000 draws, and otherwise as not reached. Median over seeds, the largest in brackets.
- **Good, rightly.** How many results their peer calls good, and how many of these are: with errors that bear out its
  own effective draws or, where it has no such number, those of 100 draws or more.
- **Overhead.** Processor seconds of a run outside the potential, not scaled to 1000 draws.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("results", "references", "table", "page"):
        parser.add_argument(f"--{option}", type=Path, required=True)
    arguments = parser.parse_args()
    runs = verdicts(arguments.results, arguments.references)
    write_runs(arguments.table, runs)
    arguments.page.write_text(page(runs, arguments.references))


if __name__ == "__main__":
    main()
