"""Texts of the page of PEtab: how it was made."""

from collections.abc import Sequence
from importlib.metadata import version

from peers.judge import Verdict
from peers.reference import ENOUGH
from peers.wording import machine, versions
from petab_suite.moments import LARGEST_RHAT, LEAST

MEASURES = [
    "The table has the simulations needed until means and variances of the parameters, on their scales, both have the "
    "accuracy of 1000 independent draws: the median over seeds, with the largest in parentheses. A value of the "
    "objective counts as 1 simulation, its gradient as 1 more, from the first call on. "
    "[The comparison with other samplers](peers.md#what-is-measured) describes how they are counted and extrapolated. "
    "All samplers start at the nominal values, with their default settings; tempering has 3 chains. pyPESTO's Geweke "
    "test finds the burn-in of its chains. A gradient of AMICI, by forward sensitivities, takes many times the seconds "
    "of a value, so the last columns have the seconds spent on simulations until the same accuracy."
]

ACCURACY = [
    "Accuracy is given in independent draws, for means / for variances. A chain ends when it reports 500 effective "
    "draws, or at its limits. pyPESTO's chains never stop adapting their proposals, so their stationary distribution "
    "is not exactly the posterior. "
    "If their accuracy is far below what they report, a longer run would not reach the goal and counts as not reached."
]

HOW = [
    "A reference has four chains of pyPESTO's adaptive Metropolis or, if there are several modes, of its adaptive "
    "parallel tempering, from starts around the nominal values. Proposals and temperatures are adapted in a pilot run "
    "of 8000 iterations, which is discarded, and then stay fixed. Chains are extended until R-hat of all parameters is "
    f"below {LARGEST_RHAT} and errors are those of {ENOUGH} independent draws, or until a time limit. If the errors "
    f"are then those of fewer than {LEAST} draws, or R-hat is larger, there is no reference. "
    "`benchmarks/petab/reference` has the moments, quantiles and Monte Carlo errors."
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
        f"The machine: {machine()}. Other programs ran at the same time, so seconds are approximate. "
        "`benchmarks/petab/config.yaml` has the limits of units and of processor time for a run and for a reference.",
        "",
        f"Versions: {', '.join(packages)}; {versions(runs)}.",
    ]
