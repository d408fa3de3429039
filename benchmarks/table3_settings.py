"""Unpublished settings of paper B's Table 3, Cover Type: the type with label 1, and the scale of the columns.

HMC at the printed step size 0.002 with 0 to 49 steps, those of none among the others, on the normal approximation at
the mode (`table5_settings.py`). The Laplace prior of scale 1 is a normal one of its variance there.

And whether the printed acceptances of HMC and of SGHMC, 0.80 and 0.33, exclude each other. SGHMC's trajectories, 0 to 9
steps of 0.001, are nearly free flights in the published code. For a normal posterior whose precision has a share of its
trace in one direction and the rest spread evenly over the others, the trace at which free flights are accepted as SGHMC
is printed, and HMC's acceptance there: they do not, with 87 to 88% in one. The last column is that share of the
Hessian of the data, at the mode.

    cd <a folder with data/raw/covtype.data.gz>; python benchmarks/table3_settings.py
"""

from pathlib import Path

import numpy as np
from table5_settings import acceptance, chain, designs, precision_at_mode
from threadpoolctl import threadpool_limits

from rnshmc.datasets.covertype import FEATURES
from rnshmc.datasets.numeric import read_numbers
from rnshmc.types import Array

STEP_SIZE, LENGTH = 0.002, 50
PRIOR_SD = 2.0**0.5
TYPES = range(1, 8)
FLIGHT_STEP, FLIGHT_LENGTH, FLIGHT_ACCEPTANCE = 0.001, 10, 0.33
DIRECTIONS = 54
SHARES = (1 / DIRECTIONS, 0.2, 0.5, 0.8, 0.86, 0.88, 0.95)


def flights(precision: Array, n: int = 6000) -> float:
    """Mean acceptance probability of trajectories without force, over their numbers of steps."""
    rng = np.random.default_rng(1)
    means = []
    for n_steps in range(FLIGHT_LENGTH):
        x, p = rng.standard_normal((2, n, len(precision)))
        x = x / np.sqrt(precision)
        end = x + FLIGHT_STEP * n_steps * p
        change = 0.5 * (precision * (end**2 - x**2)).sum(axis=1)
        means.append(np.exp(-np.maximum(change, 0.0)).mean())
    return float(np.mean(means))


def spectrum(share: float) -> Array:
    """Precisions of trace 1 with this share in one direction."""
    return np.append(share, np.full(DIRECTIONS - 1, (1 - share) / (DIRECTIONS - 1)))


def trace_of_flights(share: float) -> float:
    """The trace at which free flights are accepted as printed: by bisection."""
    low, high = 1e4, 1e8
    for _ in range(25):
        middle = float(np.sqrt(low * high))
        accepted = flights(middle * spectrum(share))
        low, high = (middle, high) if accepted > FLIGHT_ACCEPTANCE else (low, middle)
    return float(np.sqrt(low * high))


def both_acceptances() -> None:
    print(f"  free flights accepted at {FLIGHT_ACCEPTANCE}\n  share in one     trace  AP of HMC")
    for share in SHARES:
        trace = trace_of_flights(share)
        hmc = acceptance(trace * spectrum(share), STEP_SIZE, LENGTH)
        print(f"  {share:12.2f}{trace:10.2g}{hmc:11.2f}", flush=True)


def main() -> None:
    both_acceptances()
    table = read_numbers(Path("data/raw/covtype.data.gz"), (*FEATURES, "type"))
    X, types = table[list(FEATURES)].to_numpy(dtype=np.float64), table["type"].to_numpy()
    print(f"  {'columns':10}{'type':>5}{'AP':>7}   {'ESS of HMC':20}   largest share of the trace")
    print(f"  {'paper':10}{'':5}{0.8:7.2f}       73    143  10000")
    for scale, design in designs(X):
        for positive in TYPES:
            precision, axes = np.linalg.eigh(precision_at_mode(design, types == positive, PRIOR_SD))
            accepted, sizes = chain(precision, axes, STEP_SIZE, LENGTH)
            found = " ".join(f"{size:6.0f}" for size in sizes)
            share = precision.max() / precision.sum()
            print(f"  {scale:10}{positive:5}{accepted:7.2f}   {found}{share:10.2f}", flush=True)


if __name__ == "__main__":
    with threadpool_limits(limits=1, user_api="blas"):
        main()
