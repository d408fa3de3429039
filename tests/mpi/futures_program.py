"""Evaluate on the workers of `mpi4py.futures`, with one failing and one hanging point, and print the results."""

import json
import time

import numpy as np
from mpi4py.futures import MPIPoolExecutor

from rnshmc.inference.exact.density import Density
from rnshmc.inference.exact.evaluation import Task
from rnshmc.inference.exact.pools import make_workers
from rnshmc.types import Array


def moody(x: Array) -> tuple[float, Array]:
    """A normal density that raises beyond 1 and hangs beyond 2."""
    if x[0] > 2:
        time.sleep(30)
    if x[0] > 1:
        raise ValueError("no convergence")
    return -0.5 * float(x @ x), -x


def main() -> None:
    """Print the answers by the number of the point."""
    points = np.linspace(-1, 1, 10)[:, None]
    points[3], points[5] = 1.5, 2.5
    with MPIPoolExecutor() as pool:
        workers = make_workers(pool, Density(moody), time_limit=1.0)
        for number, x in enumerate(points):
            workers.submit(Task(number, x, gradient=True))
        answers = {task.number: answer for task, (answer, _) in (workers.next() for _ in points)}
        workers.close()
    print(json.dumps([answers[number].failure or -answers[number].value for number in range(len(points))]))


if __name__ == "__main__":
    main()
