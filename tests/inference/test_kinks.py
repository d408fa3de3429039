"""Densities with a kink at the mode, and densities cut off across parameters, where no Hessian applies."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.stages import probing
from rnshmc.inference.stages.descent import descend
from rnshmc.inference.stages.probing import settle
from rnshmc.inference.surrogate.chains import run_chains
from rnshmc.inference.tuning import DEFAULT
from rnshmc.inference.tuning_result import AdaptedHMC
from rnshmc.types import Array
from tests.conftest import z_bound
from tests.inference.conftest import evaluations_of

WIDTHS = np.array([0.1, 1.0, 3.0, 10.0])


def laplace(x: Array) -> tuple[float, Array]:
    """Independent Laplace variables."""
    return -float(np.sum(np.abs(x) / WIDTHS)), -np.sign(x) / WIDTHS


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_scales_at_a_kink_are_those_over_which_the_density_falls(seed: int) -> None:
    """Curvatures of a few probes in a hundred run off until no Hessian is left, in some roundings."""
    archive = Archive.of(evaluations_of(laplace, 4))
    begun = descend(archive, np.array([0.05, 0.3, -1.0, 2.0]), DEFAULT)
    mode = settle(archive, begun, np.random.default_rng(seed), DEFAULT)
    assert mode.converged
    assert mode.value < 4.0
    np.testing.assert_allclose(1.0 / np.diag(mode.whitening.factor), WIDTHS, rtol=0.9)
    assert archive.spent.units < 1000


def test_without_a_hessian_scales_are_those_over_which_the_density_falls(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise np.linalg.LinAlgError("a Hessian is singular or not finite")

    archive = Archive.of(evaluations_of(laplace, 4))
    begun = descend(archive, np.array([0.05, 0.3, -1.0, 2.0]), DEFAULT)
    monkeypatch.setattr(probing, "probe", fail)
    mode = settle(archive, begun, np.random.default_rng(1), DEFAULT)
    np.testing.assert_allclose(1.0 / np.diag(mode.whitening.factor), WIDTHS, rtol=0.9)


def cut(z: Array) -> tuple[Array, Array]:
    """N((1, 1), I) where z_1 + z_2 < 1, rows at once."""
    inside = z.sum(axis=1) < 1.0
    return np.where(inside, 0.5 * ((z - 1.0) ** 2).sum(axis=1), np.inf), np.where(inside[:, None], z - 1.0, 0.0)


def test_chains_at_a_wall_across_parameters_keep_their_steps() -> None:
    """What ends beyond the wall is rejected with any step: the step size is not adapted to that."""
    start = np.zeros((64, 2))
    settings: dict[str, Any] = {"rng": np.random.default_rng(1), "tuning": AdaptedHMC().trajectories}
    warm = run_chains(cut, (start, *cut(start)), transitions=100, step_size=0.5, adapt_to=0.8, **settings)
    assert warm.step_size > 0.3
    begun = warm.end
    chains = run_chains(cut, begun, transitions=400, step_size=warm.step_size, **settings)
    sums = chains.draws.sum(axis=2) / np.sqrt(2.0)
    # Across the wall a normal variable that is cut off, along it one that is not.
    across = stats.truncnorm(-np.inf, -np.sqrt(0.5))
    means = sums.mean(axis=1) - np.sqrt(2.0)
    error = means.std(ddof=1) / np.sqrt(len(means))
    assert abs(means.mean() - across.mean()) < z_bound(1) * error
    assert error < 0.05
