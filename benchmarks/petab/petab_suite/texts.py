"""What the page of PEtab says of how it was made."""

from collections.abc import Sequence
from importlib.metadata import version

from peers.judge import Verdict
from peers.reference import ENOUGH
from peers.wording import machine, versions
from petab_suite.moments import LARGEST_RHAT, LEAST

UNITS = "simulations"

MEASURES = [
    "Simulations until means and variances of the parameters, on their scales, both have the accuracy of 1000 "
    "independent draws, median over seeds with the largest in parentheses. A value of the objective is 1, its gradient "
    "1 more, all from the first call on; how they are counted and extrapolated stands in "
    "[the comparison with other samplers](peers.md#what-is-measured). All samplers start at the nominal values, with "
    "their defaults; tempering has 3 chains. The burn-in of pyPESTO's chains is found by its Geweke test. A gradient "
    "of AMICI, by forward sensitivities, takes many times the seconds of a value: the last columns have the seconds in "
    "simulations until the same accuracy."
]

ACCURACY = [
    "Accuracy is that of means / of variances, in independent draws. A chain ends at 500 effective draws by its own "
    "account, or at its limits. pyPESTO's chains adapt their proposals to their latest states all along, so that they "
    "are not of the posterior alone; where their accuracy is far below their own account, a longer run does not reach "
    "the goal, and counts as not reached."
]

HOW = [
    "Four chains of pyPESTO's adaptive Metropolis, or of its adaptive parallel tempering on problems with several "
    "modes, from starts around the nominal values. Proposals and temperatures are adapted in a pilot run of 8000 "
    "iterations, which is left out, and kept after it. Chains are prolonged until R-hat of all "
    f"parameters is below {LARGEST_RHAT} and errors are those of {ENOUGH} independent draws, or a limit of seconds; "
    f"with fewer than {LEAST} draws then, or a larger R-hat, there is no reference. Moments, quantiles and Monte Carlo "
    "errors are kept in `benchmarks/petab/reference`."
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
