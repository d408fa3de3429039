"""Forward models that are hard to begin with: precise data, and data too few for an unknown scale."""

import numpy as np
import pytest

import rnshmc
from rnshmc.errors import ParameterError
from rnshmc.types import Array

TIMES = np.linspace(0.0, 5.0, 200)


def test_precise_data_far_from_the_start_are_emulated() -> None:
    """The posterior is a thousand of its widths away from the start, and outputs are 1e5 more than they tell."""

    def decay(x: Array) -> Array:
        return np.asarray(x[0] * np.exp(-x[1] * TIMES) + 1e5)

    data = decay(np.array([3.0, 0.4])) + 0.01 * np.random.default_rng(3).standard_normal(len(TIMES))
    model = rnshmc.Model(decay, data, likelihood=rnshmc.Gaussian(sd=0.01))
    result = rnshmc.sample(model, [1.0, 1.0], draws=200, progress_bar=False)
    assert result.spent.units < 142  # of the density alone
    assert result.outcome.emulated is not None
    jacobian = np.column_stack((np.exp(-0.4 * TIMES), -3.0 * TIMES * np.exp(-0.4 * TIMES)))
    sd = 0.01 * np.sqrt(np.linalg.inv(jacobian.T @ jacobian).diagonal())
    np.testing.assert_allclose(result.sd.value, sd, rtol=0.3)
    assert np.all(np.abs(result.mean.value - [3.0, 0.4]) < 5.0 * sd)


@pytest.mark.parametrize("prior", [None, {"a": ("normal", 0.0, 1.0)}])
def test_one_datum_with_an_unknown_scale_is_refused(prior: dict[str, object] | None) -> None:
    model = rnshmc.Model(lambda x: x[0], [4.0], likelihood=rnshmc.Gaussian(sd="s"), prior=prior)
    message = "likelihood: the posterior has no finite integral over s, because its density falls no faster than 1 / s"
    with pytest.raises(ParameterError, match=message):
        rnshmc.sample(model, [1.0, 1.0], names=["a", "s"], progress_bar=False)


@pytest.mark.parametrize("s", [("halfcauchy", 1.0), ("halfnormal", 1.0), ("uniform", 0.0, 5.0)])
def test_a_prior_makes_one_datum_enough(s: tuple[object, ...]) -> None:
    model = rnshmc.Model(lambda x: x[0], [4.0], likelihood=rnshmc.Gaussian(sd="s"), prior={"s": s})
    with pytest.raises(rnshmc.BudgetSpent):
        rnshmc.sample(model, [1.0, 1.0], names=["a", "s"], budget=1, progress_bar=False)
