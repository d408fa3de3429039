"""Drivers in the plane: gradients on a grid, paths from equal momenta."""

import numpy as np
from numpy.testing import assert_allclose

from rnshmc.dynamics.leapfrog import leapfrog
from rnshmc.dynamics.metrics import IdentityMetric
from rnshmc.experiments.plane import field_on_grid, leapfrog_path, trajectories_from
from rnshmc.random import stream
from rnshmc.targets.gaussian import Gaussian
from rnshmc.targets.twisted_gaussian import TwistedGaussian
from rnshmc.types import Driver

BANANA = TwistedGaussian(scale1=10.0, scale2=5.0, bend=0.1)
NORMAL = Gaussian(np.zeros(2), np.eye(2))


def test_a_path_is_the_leapfrog_trajectory_in_full() -> None:
    q, p = np.array([0.5, 1.2]), np.array([0.7, -0.4])
    path = leapfrog_path(BANANA, q, p, step_size=0.03, n_steps=25)
    end = leapfrog(
        q,
        p,
        BANANA.gradient(q),
        step_size=0.03,
        n_steps=25,
        metric=IdentityMetric(),
        force=BANANA.gradient,
        at_end=BANANA.value_and_grad,
    )
    assert path.shape == (26, 2)
    assert_allclose(path[0], q)
    assert_allclose(path[-1], end.q, rtol=1e-10)


def test_a_field_has_every_driver_at_every_point() -> None:
    grids = (np.array([-1.0, 0.0, 1.0]), np.array([0.0, 2.0]))
    field = field_on_grid(NORMAL, {"hmc": NORMAL, "other": BANANA}, names=("x1", "x2"), grids=grids)
    assert sorted(zip(field["x1"], field["x2"], strict=True)) == [(x, y) for x in grids[0] for y in grids[1]]
    assert_allclose(field["potential"], 0.5 * (field["x1"] ** 2 + field["x2"] ** 2))
    places = field[["x1", "x2"]].to_numpy()
    assert_allclose(field[["hmc_1", "hmc_2"]], places)
    assert_allclose(field[["other_1", "other_2"]], [BANANA.gradient(q) for q in places])


def test_every_driver_has_the_same_starts_and_momenta() -> None:
    starts = np.array([[0.0, 1.0], [0.3, -0.5]])
    drivers: dict[str, Driver] = {"hmc": NORMAL, "other": BANANA}
    rng, same = stream(1, "momenta"), stream(1, "momenta")
    table = trajectories_from(drivers, names=("x1", "x2"), starts=starts, rng=rng, step_size=0.01, n_steps=3)
    momenta = [IdentityMetric().sample_momentum(same, 2) for _ in starts]
    assert list(table.columns) == ["sampler", "trajectory", "step", "x1", "x2"]
    for sampler, driver in drivers.items():
        for number in (1, 2):
            path = table[(table["sampler"] == sampler) & (table["trajectory"] == number)]
            expected = leapfrog_path(driver, starts[number - 1], momenta[number - 1], step_size=0.01, n_steps=3)
            assert_allclose(path[["x1", "x2"]], expected)
