"""What paper B does not print of its Table 3, Cover Type: which type is 1, and the scale of the columns.

HMC at the printed step size 0.002 with 0 to 49 steps, those of none among the others, on the normal approximation at
the mode (`table5_settings.py`). The Laplace prior of scale 1 is a normal one of its variance there.

And why the printed acceptances of HMC and of SGHMC exclude each other. SGHMC's trajectories, 0 to 9 steps of 0.001, are
nearly free flights in the published code. For a normal posterior whose precision has its trace spread evenly over some
directions, the trace at which free flights are accepted as SGHMC is printed, and HMC's acceptance there.

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
DIRECTIONS = (1, 2, 3, 5, 10, 54)


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


def trace_of_flights(directions: int) -> float:
    """The trace, spread evenly, at which free flights are accepted as printed: by bisection."""
    low, high = 1e4, 1e8
    for _ in range(25):
        middle = float(np.sqrt(low * high))
        accepted = flights(np.full(directions, middle / directions))
        low, high = (middle, high) if accepted > FLIGHT_ACCEPTANCE else (low, middle)
    return float(np.sqrt(low * high))


def contradiction() -> None:
    print(f"  free flights accepted at {FLIGHT_ACCEPTANCE}\n  directions     trace  AP of HMC")
    for directions in DIRECTIONS:
        trace = trace_of_flights(directions)
        hmc = acceptance(np.full(directions, trace / directions), STEP_SIZE, LENGTH)
        print(f"  {directions:10}{trace:10.2g}{hmc:11.2f}", flush=True)


def main() -> None:
    contradiction()
    table = read_numbers(Path("data/raw/covtype.data.gz"), (*FEATURES, "type"))
    X, types = table[list(FEATURES)].to_numpy(dtype=np.float64), table["type"].to_numpy()
    print(f"  {'columns':10}{'type':>5}{'AP':>7}   ESS of HMC\n  {'paper':10}{'':5}{0.8:7.2f}       73    143  10000")
    for scale, design in designs(X):
        for positive in TYPES:
            precision, axes = np.linalg.eigh(precision_at_mode(design, types == positive, PRIOR_SD))
            accepted, sizes = chain(precision, axes, STEP_SIZE, LENGTH)
            print(f"  {scale:10}{positive:5}{accepted:7.2f}   " + " ".join(f"{s:6.0f}" for s in sizes), flush=True)


if __name__ == "__main__":
    with threadpool_limits(limits=1, user_api="blas"):
        main()
