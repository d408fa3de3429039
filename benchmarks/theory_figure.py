"""The picture of docs/theory.md: a surrogate V drives a trajectory on a banana, and the exact U decides.

scripts/in-env.sh python benchmarks/theory_figure.py docs/theory.png
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from rnshmc.surrogates.random_network import RandomNetwork
from rnshmc.targets.banana import Banana, banana_data
from rnshmc.types import Array

STEP, STEPS = 0.1, 15
EXACT, SURROGATE, INK = "0.55", "#0072b2", "#222222"


def main(path: Path) -> None:
    rng = np.random.default_rng(3)
    exact = Banana(banana_data(rng, 20, mean=1.0, sd=2.0), noise_sd=2.0, prior_sd=1.0)
    points = rng.uniform([-2.6, -2.2], [2.6, 2.2], (400, 2))
    points = points[[exact.value(q) < exact.value(np.array([1.0, 0.0])) + 8.0 for q in points]]
    potentials = np.array([exact.value(q) for q in points])
    surrogate = RandomNetwork.fit(points, potentials, rng=rng, hidden_units=100, ridge=1e-3)
    path_of_v, kinetic = trajectory(surrogate, np.array([0.6, -0.8]), np.array([0.3, 1.7]))
    change = exact.value(path_of_v[-1]) - exact.value(path_of_v[0]) + kinetic
    draw(exact, surrogate, path_of_v, change).savefig(path, dpi=160, metadata={"Software": None})


def trajectory(driver: RandomNetwork, q: Array, p: Array) -> tuple[Array, float]:
    """Positions of leapfrog steps by the driver's gradient, and the change of the kinetic energy."""
    positions, before = [q], 0.5 * float(p @ p)
    for _ in range(STEPS):
        p = p - 0.5 * STEP * driver.gradient(q)
        q = q + STEP * p
        p = p - 0.5 * STEP * driver.gradient(q)
        positions.append(q)
    return np.array(positions), 0.5 * float(p @ p) - before


def draw(exact: Banana, surrogate: RandomNetwork, path: Array, change: float) -> Figure:
    """Contours of U and V at equal heights above their minima, and the trajectory with its acceptance probability."""
    figure = Figure(figsize=(6.5, 3.4), layout="constrained")
    axes = figure.add_subplot()
    x, y = np.meshgrid(np.linspace(-2.6, 2.6, 140), np.linspace(-2.2, 2.2, 120))
    grid = np.column_stack((x.ravel(), y.ravel()))
    for potential, colour, style, label in (
        (exact, EXACT, "-", "U, exact: decides"),
        (surrogate, SURROGATE, "--", "V, surrogate: drives"),
    ):
        heights = np.array([potential.value(q) for q in grid]).reshape(x.shape)
        axes.contour(x, y, heights - heights.min(), [0.5, 1.5, 3.0, 5.0], colors=colour, linestyles=style)
        axes.plot([], [], color=colour, linestyle=style, label=label)
    axes.plot(*path.T, color=INK, linewidth=1.8)
    axes.plot(*path[0], "o", color=INK, label="start")
    axes.plot(*path[-1], "D", color=INK, label=f"proposal, accepted with probability {min(1.0, np.exp(-change)):.2f}")
    axes.set(xlabel="$q_1$", ylabel="$q_2$")
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return figure


if __name__ == "__main__":
    main(Path(sys.argv[1]))
