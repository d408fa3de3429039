"""The page of posteriordb from its runs: python -m posteriordb.table --folder F --results R --table T --page P ..."""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from peers.measures import Moments
from peers.table import write_runs
from peers.wording import count, machine, median, seconds, spread, versions
from posteriordb.database import read
from posteriordb.run import NOT_COMPILED
from suites import figure
from suites.figure import Style
from suites.rows import LOST, OURS, Row, make_row, ordered, read_runs, times, units_of

OTHERS = ("nutpie_low_rank", "stan_nuts")
STYLES = {
    OURS: figure.OURS,
    "nutpie_low_rank": Style("nutpie, low rank", *figure.FIRST_OTHER),
    "stan_nuts": Style("Stan's NUTS", *figure.SECOND_OTHER),
}


def rows(folder: Path, results: Path) -> tuple[list[Row], list[str]]:
    """A row for each posterior, those with the largest gain first, and the names of what does not compile."""
    found = read_runs(results)
    compiled = {name: runs for name, runs in found.items() if runs[0]["ended"] != NOT_COMPILED}
    made = [make_row(runs, reference(folder, name), OTHERS, OTHERS[:1]) for name, runs in compiled.items()]
    return ordered(made), sorted(set(found) - set(compiled))


def reference(folder: Path, name: str) -> tuple[Moments, tuple[float, float]]:
    """Moments of the reference draws, and the number of these for means and for variances."""
    draws = read(folder, name).draws
    return Moments.of(draws), (float(len(draws)), float(len(draws)))


def page(rows: Sequence[Row], not_compiled: Sequence[str], drawing: str) -> str:
    """The page in Markdown."""
    runs = [run for row in rows for runs in row.runs.values() for run in runs]
    lost = [row.name for row in rows if row.lost]
    ratios = [row.ratio for row in rows if not np.isnan(row.ratio)]
    ours = [run for row in rows for run in row.runs[OURS]]
    good, right = [run for run in ours if run.says_good], sum(row.right for row in rows)
    rightly = sum(run.honest for run in good)
    share = f"{rightly / max(right, 1):.0%}"
    lines = [
        "# posteriordb",
        "",
        "This page compares `rnshmc.sample` with nutpie (low-rank mass matrix) and with Stan's own NUTS, on "
        f"{len(rows)} posteriors of posteriordb that have reference draws.",
        "",
        f"In the median over posteriors, nutpie takes **{count(float(np.median(ratios)))} times the units** of "
        "`rnshmc.sample`. A value of the log density is 1 unit, its gradient 1 more. "
        f"{_lost(lost)} Of {len(ours)} results of `rnshmc.sample`, {len(good)} were marked good, "
        f"and {rightly} of these are accurate. Of all results {right} are accurate; {rightly} of these ({share}) were "
        "marked good.",
        "",
        f"![Units of each sampler on each posterior]({drawing})",
        "",
        "The table has the units needed until means and variances of the constrained parameters both have the accuracy "
        "of 1000 independent draws: the median over seeds, with the largest in parentheses. [The comparison with "
        "other samplers](peers.md#what-is-measured) describes how units are counted and extrapolated, and what the "
        "overhead is. Starts are drawn uniformly from (-1, 1) for each unconstrained parameter; Stan's own NUTS draws "
        "them from (-2, 2), its default. The last columns have the number of results marked good, and the number of "
        "these that are accurate.",
        "",
        "| posterior | d | rnshmc.sample | nutpie, low rank | Stan's NUTS | nutpie / ours | overhead | seed 1 reports "
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
        f"compiled by httpstan. The machine: {machine()}.",
        "",
        f"Versions: {versions(runs)}.",
    ]
    return "\n".join(lines) + "\n"


def _lost(names: Sequence[str]) -> str:
    if not names:
        return f"On none does `rnshmc.sample` take more than {LOST} times the units of nutpie."
    named = ", ".join(names)
    much = f"takes more than {LOST} times the units of nutpie, or does not reach this accuracy"
    return f"On {len(names)} posterior{'s' * (len(names) > 1)}, `rnshmc.sample` {much}: {named}."


def _line(row: Row) -> str:
    ours = row.runs[OURS]
    cells = [
        row.name,
        str(row.dim),
        spread(ours, "units_goal"),
        *(spread(row.runs[other], "units_goal") for other in OTHERS),
        times(row.ratio, "nutpie"),
        seconds(median(ours, "overhead_s")),
        ours[0].says.splitlines()[0].replace("|", "/")[:60],
        f"{len(row.good)} of {len(ours)}",
        f"{sum(run.honest for run in row.good)} of {len(row.good)}" if row.good else "-",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("folder", "results", "table", "page", "figure"):
        parser.add_argument(f"--{option}", type=Path, required=True)
    arguments = parser.parse_args()
    made, not_compiled = rows(arguments.folder, arguments.results)
    write_runs(arguments.table, [run for row in made for runs in row.runs.values() for run in runs])
    figure.draw(units_of(made), STYLES, "units").savefig(arguments.figure, dpi=150)
    arguments.page.write_text(page(made, not_compiled, arguments.figure.name))


if __name__ == "__main__":
    main()
