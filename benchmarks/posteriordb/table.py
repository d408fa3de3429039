"""The page of posteriordb from its runs: python -m posteriordb.table --folder F --results R --table T --page P ..."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from peers.judge import Verdict, judge
from peers.measures import Moments
from peers.table import write_runs
from peers.wording import count, machine, median, seconds, spread, versions
from posteriordb.database import read
from posteriordb.figure import draw
from posteriordb.run import NOT_COMPILED

OURS, OTHERS = "rnshmc", ("nutpie_low_rank", "stan_nuts")
LOST = 1.2
"""Ours counts as lost above so many times the units of nutpie."""


@dataclass(frozen=True)
class Row:
    """All runs on one posterior."""

    name: str
    dim: int
    runs: dict[str, list[Verdict]]
    """By sampler, then seed."""
    right: int
    """Of our results: how many have the errors that they claim, whatever level they have."""

    def units(self, sampler: str) -> float:
        """Median units until the goal."""
        return median(self.runs[sampler], "units_goal")

    @property
    def ratio(self) -> float:
        """Units of nutpie's low rank over ours; NaN where neither reached the goal."""
        ours, other = self.units(OURS), self.units(OTHERS[0])
        return np.nan if np.isinf(ours) and np.isinf(other) else 0.0 if np.isinf(ours) else other / ours

    @property
    def good(self) -> list[Verdict]:
        """Of our results, those that are called good."""
        return [run for run in self.runs[OURS] if run.says_good]


def rows(folder: Path, results: Path) -> tuple[list[Row], list[str]]:
    """A row for each posterior, those with the largest gain first, and the names of what does not compile."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(results.glob("*/*/*.json")):
        run = json.loads(path.read_text())
        found.setdefault(run["problem"], []).append(run)
    compiled = {name: runs for name, runs in found.items() if runs[0]["ended"] != NOT_COMPILED}
    made = [_row(folder, name, runs) for name, runs in compiled.items()]
    return sorted(made, key=lambda row: (np.isnan(row.ratio), -row.ratio)), sorted(set(found) - set(compiled))


def _row(folder: Path, name: str, runs: Sequence[dict[str, Any]]) -> Row:
    draws = read(folder, name).draws
    moments, known = Moments.of(draws), (float(len(draws)), float(len(draws)))
    verdicts = [judge(run, moments, known) for run in runs]
    by_sampler = {sampler: [v for v in verdicts if v.peer == sampler] for sampler in (OURS, *OTHERS)}
    right = sum(
        judge(_called_good(run), moments, known).honest for run in runs if run["peer"] == OURS and run["outcome"]
    )
    return Row(name, runs[0]["dim"], by_sampler, right)


def _called_good(run: dict[str, Any]) -> dict[str, Any]:
    return {**run, "outcome": {**run["outcome"], "says_good": True}}


def page(rows: Sequence[Row], not_compiled: Sequence[str], figure: str) -> str:
    """The page in Markdown."""
    runs = [run for row in rows for runs in row.runs.values() for run in runs]
    lost = [row.name for row in rows if row.ratio * LOST < 1.0]
    ratios = [row.ratio for row in rows if not np.isnan(row.ratio)]
    ours = [run for row in rows for run in row.runs[OURS]]
    good, right = [run for run in ours if run.says_good], sum(row.right for row in rows)
    rightly = sum(run.honest for run in good)
    share = f"{rightly / max(right, 1):.0%}"
    lines = [
        "# posteriordb",
        "",
        f"`rnshmc.sample` on {len(rows)} posteriors of other people that have reference draws, beside nutpie with its "
        "low-rank mass matrix and Stan's own NUTS.",
        "",
        f"In the median over posteriors, nutpie takes **{count(float(np.median(ratios)))} times the units** of "
        f"`rnshmc.sample`. {_lost(lost)} Of {len(ours)} results of `rnshmc.sample`, {len(good)} were called good, "
        f"{rightly} of them rightly; {right} were right, {rightly} of these ({share}) called good.",
        "",
        f"![Units of each sampler on each posterior]({figure})",
        "",
        "Units until means and variances of the constrained parameters both have the accuracy of 1000 independent "
        "draws, median over seeds with the largest in parentheses. A value of the log density is 1 unit, its gradient "
        "1 more, all from the first call on; how they are counted and extrapolated stands in "
        "[the comparison with other samplers](peers.md#what-is-measured). Starts are uniform(-1, 1) for each "
        "unconstrained parameter, in Stan's own NUTS uniform(-2, 2), its default. The last columns count seeds on "
        "which `rnshmc.sample` calls its result good, and those of them where it is.",
        "",
        "| posterior | d | rnshmc.sample | nutpie, low rank | Stan's NUTS | nutpie / ours | overhead | seed 1 says "
        "| good | rightly |",
        "|---|---|---|---|---|---|---|---|---|---|",
        *map(_line, rows),
        "",
        *([f"Not compiled here: {', '.join(not_compiled)}.", ""] if not_compiled else []),
        "## How it was run",
        "",
        "    snakemake --snakefile benchmarks/posteriordb/Snakefile --cores 2 --config folder=../posteriordb",
        "",
        "The folder is a clone of [posteriordb](https://github.com/stan-dev/posteriordb), or one with `model.stan`, "
        "`data.json` and `reference.npz` for each posterior (`benchmarks/posteriordb/database.py`). Programs are "
        f"compiled by httpstan. {machine()}.",
        "",
        f"Versions: {versions(runs)}.",
    ]
    return "\n".join(lines) + "\n"


def _lost(names: Sequence[str]) -> str:
    if not names:
        return f"On none it takes more than {LOST} times the units of nutpie."
    named = ", ".join(names)
    return f"On {len(names)} it takes more than {LOST} times the units of nutpie, or does not reach the goal: {named}."


def _line(row: Row) -> str:
    ours = row.runs[OURS]
    cells = [
        row.name,
        str(row.dim),
        spread(ours, "units_goal"),
        *(spread(row.runs[other], "units_goal") for other in OTHERS),
        "-" if np.isnan(row.ratio) else "ours not reached" if row.ratio == 0 else _times(row.ratio),
        seconds(median(ours, "overhead_s")),
        ours[0].says.splitlines()[0].replace("|", "/")[:60],
        f"{len(row.good)} of {len(ours)}",
        f"{sum(run.honest for run in row.good)} of {len(row.good)}" if row.good else "-",
    ]
    return f"| {' | '.join(cells)} |"


def _times(ratio: float) -> str:
    return "nutpie not reached" if np.isinf(ratio) else f"{ratio:.3g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("folder", "results", "table", "page", "figure"):
        parser.add_argument(f"--{option}", type=Path, required=True)
    arguments = parser.parse_args()
    made, not_compiled = rows(arguments.folder, arguments.results)
    write_runs(arguments.table, [run for row in made for runs in row.runs.values() for run in runs])
    units = {row.name: {name: [run.units_goal for run in runs] for name, runs in row.runs.items()} for row in made}
    draw(units).savefig(arguments.figure, dpi=150)
    arguments.page.write_text(page(made, not_compiled, arguments.figure.name))


if __name__ == "__main__":
    main()
