"""What paper B does not print of its Table 3, Cover Type: which type is 1, and the scale of the columns.

HMC at the printed step size 0.002 with 0 to 49 steps, those of none among the others, on the normal approximation at
the mode (`table5_settings.py`). The Laplace prior of scale 1 is a normal one of its variance there.

    cd <a folder with data/raw/covtype.data.gz>; python benchmarks/table3_settings.py
"""

from pathlib import Path

import numpy as np
from table5_settings import chain, designs, precision_at_mode
from threadpoolctl import threadpool_limits

from rnshmc.datasets.covertype import FEATURES
from rnshmc.datasets.numeric import read_numbers

STEP_SIZE, LENGTH = 0.002, 50
PRIOR_SD = 2.0**0.5
TYPES = range(1, 8)


def main() -> None:
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
