"""Texts of the page of PEtab: how it was made."""

from collections.abc import Sequence
from importlib.metadata import version

from peers.judge import Verdict
from peers.reference import ENOUGH
from peers.wording import machine, versions
from petab_suite.moments import LARGEST_RHAT, LEAST

MEASURES = [
    "The table has the simulations until means and variances of the parameters, on their scales, both have the "
    "accuracy of 1000 independent draws: median over seeds, with the largest in parentheses. A value of the objective "
    "is 1, its gradient 1 more, all from the first call on. "
    "[The comparison with other samplers](peers.md#what-is-measured) describes how they are counted and extrapolated. "
    "All samplers start at the nominal values, with their defaults; tempering has 3 chains. pyPESTO's Geweke test "
    "finds the burn-in of its chains. A gradient of AMICI, by forward sensitivities, takes many times the seconds of a "
    "value, so the last columns have the seconds in simulations until the same accuracy."
]

ACCURACY = [
    "Accuracy is in independent draws, for means / for variances. A chain ends when it reports 500 effective draws, or "
    "at its limits. pyPESTO's chains never stop adapting their proposals, so their law is not exactly the posterior. "
    "If their accuracy is far below what they report, a longer run would not reach the goal and counts as not reached."
]

HOW = [
    "A reference has four chains of pyPESTO's adaptive Metropolis, or of its adaptive parallel tempering for several "
    "modes, from starts around the nominal values. A pilot run of 8000 iterations, which is left out, adapts proposals "
    "and temperatures; they stay fixed after it. Chains are prolonged until R-hat of all parameters is below "
    f"{LARGEST_RHAT} and errors are those of {ENOUGH} independent draws, or until a limit of seconds. With fewer than "
    f"{LEAST} draws then, or a larger R-hat, there is no reference. `benchmarks/petab/reference` has the moments, "
    "quantiles and Monte Carlo errors."
]


def packages() -> tuple[str, ...]:
    """What simulates and samples, with versions."""
    return tuple(f"{name} {version(name)}" for name in ("amici", "petab", "pypesto"))


def how_it_was_run(runs: Sequence[Verdict], packages: Sequence[str]) -> list[str]:
    """Command, machine and versions."""
    return [
        "## How it was run",
        "",
        "    snakemake --snakefile benchmarks/petab/Snakefile --cores 2 --config folder=../shared/petab",
        "",
        "The folder is a clone of the collection, or one with a folder for each problem; models are compiled by AMICI. "
        f"{machine()}. Other programs ran at the same time, so seconds are rough. Limits of units and of processor "
        "time, of a run and of a reference, are in `benchmarks/petab/config.yaml`.",
        "",
        f"Versions: {', '.join(packages)}; {versions(runs)}.",
    ]
