"""The table of peers from their runs, its page and figure: python -m peers.table --help."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from peers import nested
from peers.conclusions import GRADIENT, VALUES, conclusions
from peers.forward_models import MODELS
from peers.growth import draw, growth
from peers.judge import Verdict, judge
from peers.records import read_records, write_records
from peers.reference import read
from peers.run import PEERS
from peers.wording import CLOSED, count, machine, median, opened, seconds, spread, versions

OURS = (GRADIENT, VALUES)
OF_MODELS = ("rnshmc_model", "bayesfast_quadratic", "bayesfast_importance")
"""Peers that emulate the outputs of a model."""
MODEL_GOALS = {
    "chain": "1200",
    "decay": "200",
    "lotka_volterra": "80",
    "pde": "120, largest 300",
    "pde_precise": "250, largest 600",
    "sir": "200",
}
"""Units that `rnshmc_model` was to take; forty for each parameter where no other number was set."""
DESCRIPTIONS = {
    "a9a": "Logistic regression on a9a, its columns projected at random, with an intercept",
    "banana": "x_1 standard normal, x_2 normal around x_1^2",
    "bank": "Logistic regression on Bank Marketing",
    "chain": "A linear chain of 30 reactions, stiff: 310 concentrations as a function of the logarithms of the rates",
    "close_normals": "Two normal densities 4.4 standard deviations apart; starts in one of them",
    "contaminated": "0.9 N(0, I) + 0.1 N(0, 25 I)",
    "decay": "The sum of two exponential decays, observed 40 times with noise of unknown standard deviation",
    "dota2": "Logistic regression on Dota2 Games Results",
    "eight_schools": "Eight schools, not centred",
    "eight_schools_centred": "Eight schools, centred",
    "funnel": "Neal's funnel",
    "funnel_10": "Neal's funnel",
    "garch": "GARCH(2, 1) model of a simulated series, without bounds",
    "lotka_volterra": "Hares and lynxes of the Lotka-Volterra equations, log-normal errors of two unknown sizes "
    "(posteriordb)",
    "lr_200": "Logistic regression on simulated data",
    "lr_300": "Logistic regression on simulated data",
    "lr_500": "Logistic regression on simulated data",
    "lr_simulated": "Logistic regression on simulated data",
    "membrane": "The membrane of Aristoff and Bangerth",
    "news": "Logistic regression on Online News Popularity",
    "pde": "Elliptic inverse problem of paper A, on dolfinx",
    "pde_50": "The elliptic inverse problem with 50 Karhunen-Loeve terms",
    "pde_100": "The elliptic inverse problem with 100 Karhunen-Loeve terms",
    "pde_200": "The elliptic inverse problem with 200 Karhunen-Loeve terms",
    "pde_precise": "The elliptic inverse problem with a noise of 0.02",
    "sir": "An SIR epidemic, 20 weekly counts, negative binomial of unknown dispersion",
    "student": "Three independent variables of Student's t with five degrees of freedom",
    "three_normals": "Three normal densities of unequal shares and widths, 8 apart; starts of standard deviation 6",
    "twisted": "Twisted Gaussian of Haario, Saksman and Tamminen",
    "two_normals": "Two normal densities 8 standard deviations apart; starts of standard deviation 4",
}
VALUES_ONLY = (
    "rnshmc_values",
    "emcee_stretch",
    "tinyda_adaptive",
    "nautilus_nested",
    "pyvbmc_variational",
    "gpry_surrogate",
)


def verdicts(results: Path, references: Path) -> list[Verdict]:
    """The verdict on every run below ``results``."""
    runs = [json.loads(path.read_text()) for path in sorted(results.glob("*/*/*.json"))]
    known = {name: read(references / f"{name}.csv") for name in {run["problem"] for run in runs}}
    return [judge(run, *known[run["problem"]]) for run in runs]


def kept(table: Path, runs: Sequence[Verdict]) -> list[Verdict]:
    """Rows that the table has already, of peers on problems that have no run among ``runs``."""
    anew = {(run.peer, run.problem) for run in runs}
    return [row for row in read_rows(table) if (row.peer, row.problem) not in anew]


def read_rows(table: Path) -> list[Verdict]:
    """Rows of a table that `write_runs` wrote; none where there is no such file."""
    return read_records(table, Verdict)


def write_runs(path: Path, runs: Sequence[Verdict]) -> None:
    """A CSV file with a row for each run."""
    write_records(path, Verdict, runs)


def dimensions(runs: Sequence[Verdict], references: Path) -> dict[str, int]:
    """Number of compared variables of each problem."""
    return {name: len(read(references / f"{name}.csv")[0].mean) for name in {run.problem for run in runs}}


def page(
    runs: Sequence[Verdict],
    references: Path,
    earlier: int = 0,
    *,
    figure: str = "",
    modes: Sequence[nested.Run] = (),
) -> str:
    """The page in Markdown: a table for each problem, wins and losses, versions and machine.

    ``earlier`` of the ``runs`` are rows that stayed from before; ``figure`` is for the section on dimensions
    (`growth`), and ``modes`` are runs on models with several modes.
    """
    problems = list(dict.fromkeys(run.problem for run in runs))
    dims = dimensions(runs, references)
    sections = [_section(name, [run for run in runs if run.problem == name], references) for name in problems]
    of_density = [run for run in runs if run.peer not in OF_MODELS]
    emulated = _models(runs, problems)
    ours = [run for run in runs if run.peer == OURS[0]]
    grown = growth(ours, dims, figure, _COMMAND)
    compared = [name for name in problems if any(_is_other(run, name) for run in of_density)]
    parts = [
        _HEAD,
        conclusions(runs, compared, VALUES_ONLY, dims),
        _best(of_density, compared),
        *(part for part in (emulated, nested.section(modes, _COMMAND), grown) if part),
        _MEASURES,
        _TABLES,
        *sections,
        _missing(runs, problems),
        _machine(runs, earlier),
    ]
    return "\n".join(parts)


def _section(name: str, runs: Sequence[Verdict], references: Path) -> str:
    moments, (of_mean, of_variance) = read(references / f"{name}.csv")
    fastest = min(run.evaluation_s for run in runs if run.units)
    lines = [
        f"### {name}, {len(moments.mean)} dimensions",
        "",
        f"{DESCRIPTIONS[name]}. Reference: {of_mean:.3g} / {of_variance:.3g} draws. Unit: {seconds(fastest)}.",
        "",
        *opened(f"{_samplers(len({run.peer for run in runs}))} on {name}"),
        "| sampler | seeds | units for means | units for variances | units spent | accuracy, in draws | overhead "
        "| own verdict, seed 1 | good | rightly |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    groups = {peer: [run for run in runs if run.peer == peer] for peer in dict.fromkeys(run.peer for run in runs)}
    by_units = sorted(groups.items(), key=lambda item: (median(item[1], "units_goal"), median(item[1], "units")))
    return "\n".join([*lines, *(_row(peer, group) for peer, group in by_units), *CLOSED])


def _samplers(number: int) -> str:
    return "1 sampler" if number == 1 else f"{number} samplers"


def _row(peer: str, runs: Sequence[Verdict]) -> str:
    good = [run for run in runs if run.says_good]
    cells = [
        peer,
        str(len(runs)),
        spread(runs, "units_mean"),
        spread(runs, "units_variance"),
        count(median(runs, "units")),
        f"{count(median(runs, 'draws_mean'))} / {count(median(runs, 'draws_variance'))}",
        seconds(median(runs, "overhead_s")),
        runs[0].says.splitlines()[0].replace("|", "/")[:60],
        f"{len(good)} of {len(runs)}",
        f"{sum(run.honest for run in good)} of {len(good)}" if good else "-",
    ]
    return f"| {' | '.join(cells)} |"


def _best(runs: Sequence[Verdict], problems: Sequence[str]) -> str:
    """Ours and the best other sampler, with and without gradients."""
    lines = [
        "The table compares `rnshmc.sample` with the best other sampler: median units until means and variances both "
        "have the accuracy of 1000 draws. The last column is the cost of a unit above which `rnshmc.sample` with "
        "gradients is also the fastest, overhead included.",
        "",
        "| posterior | best other, with gradients | `rnshmc.sample` | best other, without gradients | `rnshmc.sample` "
        "| fastest from |",
        "|---|---|---|---|---|---|",
    ]
    for name in problems:
        mine = [run for run in runs if run.problem == name]
        medians = _medians(mine)
        cells = [name]
        for ours, group in ((OURS[0], False), (OURS[1], True)):
            others = {p: u for p, u in medians.items() if p not in OURS and (p in VALUES_ONLY) == group}
            best = min(others, key=lambda p: others[p], default=None)
            reached = best is not None and np.isfinite(others[best])
            cells.append(f"{best}: {count(others[best])}" if best and reached else "none")
            cells.append(count(medians[ours]) if ours in medians else "not run")
        cells.append(_price(mine, medians))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _is_other(run: Verdict, problem: str) -> bool:
    """Whether a run is another sampler's, on a problem."""
    return run.problem == problem and run.peer not in OURS


def _models(runs: Sequence[Verdict], problems: Sequence[str]) -> str:
    """Peers that emulate outputs, and ours that learn the density, on the problems that have a forward model."""
    peers = (*OF_MODELS, *OURS)
    lines = [
        "## Forward models",
        "",
        "`rnshmc_model` and BayesFast emulate the outputs and take no derivatives; the other two learn the density. "
        "The table has median units until the accuracy of 1000 draws, with the largest in parentheses. A run of the "
        "model is a unit, a product with its Jacobian another. The last column has the results of `rnshmc_model` that "
        "are accurate, of those marked good. The command of these rows alone:",
        "",
        f"    {_COMMAND} --config part=forward_models",
        "",
        f"| model | goal | {' | '.join(peers)} | rightly |",
        f"|---|---|{'---|' * len(peers)}---|",
    ]
    emulated = {run.problem for run in runs if run.peer in OF_MODELS}
    for name in (name for name in problems if name in emulated):
        groups = [[run for run in runs if (run.problem, run.peer) == (name, peer)] for peer in peers]
        good = [run for run in groups[0] if run.says_good]
        cells = [spread(group, "units_goal") if group else "not run" for group in groups]
        rightly = f"{sum(run.honest for run in good)} of {len(good)}"
        lines.append(f"| {name} | {MODEL_GOALS[name]} | {' | '.join(cells)} | {rightly} |")
    return "\n".join([*lines, ""]) if emulated else ""


def _medians(runs: Sequence[Verdict]) -> dict[str, float]:
    """Median units until the goal, by peer, of the runs on one problem."""
    return {peer: median([run for run in runs if run.peer == peer], "units_goal") for peer in {r.peer for r in runs}}


def _price(runs: Sequence[Verdict], medians: dict[str, float]) -> str:
    """Seconds of a unit above which ours with gradients ends first: c with o + c u below that of every other peer."""
    ours = OURS[0]
    if not np.isfinite(medians.get(ours, np.inf)):
        return "-"
    overhead = {peer: median([run for run in runs if run.peer == peer], "overhead_at_goal_s") for peer in medians}
    price = 0.0
    for peer, units in medians.items():
        if peer in OURS or not np.isfinite(units):
            continue
        if units <= medians[ours]:
            return f"never: {peer} takes fewer"
        price = max(price, (overhead[ours] - overhead[peer]) / (units - medians[ours]))
    return seconds(price) if price > 0 else "any"


def _missing(runs: Sequence[Verdict], problems: Sequence[str]) -> str:
    """Which peers have no run on which of the problems."""
    there = {(run.peer, run.problem) for run in runs}
    gaps = {
        peer: [name for name in problems if (peer, name) not in there and (peer not in OF_MODELS or name in MODELS)]
        for peer in PEERS
    }
    lines = [f"- {peer}: {', '.join(names)}" for peer, names in gaps.items() if names]
    summary = "Samplers, and the posteriors on which they were not run"
    return "\n".join(["## Not run", "", *opened(summary), *lines, *CLOSED])


def _machine(runs: Sequence[Verdict], earlier: int) -> str:
    lines = [
        "## How it was run",
        "",
        f"    {_COMMAND}",
        "",
        f"{machine()}. Other programs ran at the same time, so seconds "
        f"are rough. Of the {len(runs)} runs on this page, {len(runs) - earlier} were made for its last update, the "
        "others earlier by the same command.",
        "",
        f"Versions: {versions(runs)}.",
        "",
    ]
    return "\n".join(lines)


_COMMAND = "snakemake --snakefile benchmarks/peers/Snakefile --cores 2"

_HEAD = """# Comparison with other samplers

This page reports how many evaluation units each sampler needs to match the accuracy of 1000 independent draws.
[posteriordb](posteriordb.md) has further posteriors, through their Stan code.
"""

_MEASURES = """## What is measured

- **Units.** A value of the log density is 1 unit, a gradient 1 more; a run of a forward model is 1 unit, a product with
  its Jacobian 1. All evaluations count, from the first call on, including the search for the mode, warm-up and failed
  calls. The same wrapper around the exact potential counts for every sampler.
- **Accuracy, in draws.** For means: the inverse of the mean over coordinates of squared error / variance. For
  variances: the inverse of the mean over coordinates of (relative error)^2 / (kurtosis - 1). Both are N on average for
  N independent draws. The tables have the two as means / variances.
- **Units for means, units for variances.** The units until the accuracy is that of 1000 draws: median over seeds, with
  the largest in parentheses if it differs. Chains and weighted independent draws are extrapolated: units of the
  warm-up, plus those after it times 1000 over the sampler's own effective sample size, if that is at least 100 and
  squared errors are at most 5 times what it implies. Any other result counts with the units it spent if it has the
  accuracy of 1000 draws, and as not reached otherwise.
- **Good, rightly.** The number of results that the sampler itself marks good, and the number of these that are
  accurate: errors agree with its own effective sample size or, if it reports none, with 100 draws.
- **Overhead.** Processor seconds of a run outside the potential, not scaled to 1000 draws.
"""

_TABLES = """## Tables by posterior

Samplers are in the order of their median units. The accuracy of a reference is in independent draws, for means / for
variances. The time of a unit is the minimum over runs.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("results", "references", "table", "modes", "page", "figure"):
        parser.add_argument(f"--{option}", type=Path, required=True)
    arguments = parser.parse_args()
    anew = verdicts(arguments.results, arguments.references)
    earlier = kept(arguments.table, anew)
    runs = sorted((*anew, *earlier), key=lambda v: (v.problem, v.peer, v.seed))
    write_runs(arguments.table, runs)
    modes = nested.merged(arguments.modes, sorted(arguments.results.glob("modes/*.csv")))
    nested.write_runs(arguments.modes, modes)
    arguments.page.write_text(page(runs, arguments.references, len(earlier), figure=arguments.figure.name, modes=modes))
    ours = [run for run in runs if run.peer == OURS[0]]
    draw(ours, dimensions(ours, arguments.references)).savefig(arguments.figure, dpi=150)


if __name__ == "__main__":
    main()
