"""Properties of every likelihood of outputs."""

import pickle
from collections.abc import Callable

import numpy as np
import pytest

from rnshmc.inference.exact.likelihoods.base import Likelihood, Observed
from rnshmc.inference.exact.likelihoods.distributions import DISTRIBUTIONS
from rnshmc.inference.exact.likelihoods.independent import Independent
from rnshmc.types import Array
from tests.conftest import z_bound
from tests.inference.likelihood_cases import CASES, Case, shaped

every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
EPS = float(np.finfo(np.float64).eps)


def potential(case: Case, outputs: Array, own: Array) -> tuple[Array, Array, Array]:
    observed = case.observed
    return observed.potential(observed.predictors(outputs), own)


def test_every_distribution_is_among_the_cases() -> None:
    likelihoods = [case.likelihood for case in CASES.values()]
    assert {one.word for one in likelihoods if isinstance(one, Independent)} == DISTRIBUTIONS.keys()


@every_case
def test_it_is_the_density_of_scipy(case: Case) -> None:
    outputs, own = case.rows(20)
    exact = np.array([case.exact(shaped(case, row), numbers) for row, numbers in zip(outputs, own, strict=True)])
    found = potential(case, outputs, own)[0]
    np.testing.assert_allclose(found, -exact, rtol=0, atol=1e4 * EPS * np.abs(exact).max())


@every_case
def test_slopes_are_those_of_the_potential(case: Case, assert_slope: Callable[..., None]) -> None:
    outputs, own = case.rows(3)
    observed, rng = case.observed, np.random.default_rng(1)
    predictors = observed.predictors(outputs)
    m = predictors.shape[1]
    _, slopes, own_slopes = observed.potential(predictors, own)
    for row in range(3):
        z = np.concatenate([predictors[row], own[row]])
        gradient = np.concatenate([slopes[row], own_slopes[row]])
        direction = rng.normal(size=len(z)) * 0.1
        assert_slope(
            lambda z: float(observed.potential(z[None, :m], z[None, m:])[0][0]),
            float(gradient @ direction),
            z,
            direction,
            relative_error=1e-13,
        )


@every_case
def test_each_own_parameter_has_its_slope(case: Case, assert_slope: Callable[..., None]) -> None:
    outputs, own = case.rows(1)
    for index, direction in enumerate(0.1 * np.eye(own.shape[1])):
        assert_slope(
            lambda numbers: float(potential(case, outputs, numbers[None])[0][0]),
            0.1 * float(potential(case, outputs, own)[2][0, index]),
            own[0],
            direction,
            relative_error=1e-13,
        )


@every_case
def test_the_jacobian_is_that_of_the_predictors(case: Case, assert_slope: Callable[..., None]) -> None:
    outputs, _ = case.rows(1)
    observed, direction = case.observed, np.random.default_rng(2).normal(size=outputs.shape[1]) * 0.03
    slope = observed.jacobian(outputs[0], direction[:, None])[:, 0]
    assert_slope(lambda f: observed.predictors(f[None])[0], slope, outputs[0], direction)


@every_case
def test_pulling_back_is_the_transpose_of_the_jacobian(case: Case) -> None:
    outputs, _ = case.rows(1)
    jacobian = case.observed.jacobian(outputs[0], np.eye(outputs.shape[1]))
    slopes = np.random.default_rng(3).normal(size=len(jacobian))
    pulled = case.observed.pulled_back(outputs[0], slopes)
    scale = np.abs(jacobian).T @ np.abs(slopes)
    np.testing.assert_array_less(np.abs(pulled - jacobian.T @ slopes), 1e3 * EPS * scale + 1e-300)


@every_case
def test_rows_are_independent(case: Case) -> None:
    outputs, own = case.rows(4)
    together = potential(case, outputs, own)
    apart = [potential(case, outputs[i : i + 1], own[i : i + 1]) for i in range(4)]
    for part in range(3):
        np.testing.assert_allclose(together[part], np.concatenate([one[part] for one in apart]), rtol=1e3 * EPS)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.fisher])
def test_simulated_data_have_slopes_of_mean_zero_and_of_the_curvatures_variance(name: str) -> None:
    case, n = CASES[name], 1500
    outputs, own = case.rows(1, seed=5)
    own = own + 3.0 if name == "StudentT" else own
    observed = case.observed
    predictors = observed.predictors(outputs)
    simulated = observed.simulated(predictors.repeat(n, axis=0), own.repeat(n, axis=0), np.random.default_rng(6))
    parts = [resimulated(case, data).potential(predictors, own) for data in simulated]
    slopes = np.concatenate([np.hstack([slopes, own_slopes]) for _, slopes, own_slopes in parts])
    squares = np.square(slopes[:, : predictors.shape[1]])
    bound = z_bound(2 * slopes.shape[1])
    assert np.abs(z_scores(slopes, 0.0)).max() < bound
    assert np.abs(z_scores(squares, observed.curvatures(predictors, own)[0])).max() < bound


def z_scores(rows: Array, mean: Array | float) -> Array:
    error = rows.std(axis=0) / np.sqrt(len(rows))
    return np.asarray((rows.mean(axis=0) - mean) / np.where(error > 0, error, 1.0))


def resimulated(case: Case, data: Array) -> Observed:
    """The likelihood of other data at the same entries."""
    arrays = case.arrays
    ends = np.cumsum([array.size for array in arrays.values()])[:-1]
    parts = np.split(data, ends)
    return case.likelihood.observing(
        {name: part.reshape(array.shape) for (name, array), part in zip(arrays.items(), parts, strict=True)}
    )


@every_case
def test_curvatures_are_positive_far_out(case: Case) -> None:
    outputs, own = case.rows(2)
    predictors = case.observed.predictors(outputs)
    for far in (-1e4, 0.0, 1e4):
        curvatures = case.observed.curvatures(predictors + far, own)
        assert curvatures.shape == predictors.shape
        assert (curvatures > 0).all()


@every_case
def test_a_missing_datum_leaves_the_others(case: Case) -> None:
    arrays = {name: array.copy() for name, array in case.arrays.items()}
    last = arrays[list(arrays)[-1]]
    last[1, 0] = np.nan
    outputs, own = case.rows(5)
    observed = case.likelihood.observing(arrays)
    gone = outputs.shape[1] - last.size + 2
    assert observed.present.tolist() == [i for i in range(outputs.shape[1]) if i != gone]
    predictors = observed.predictors(outputs)
    other = outputs.copy()
    other[:, gone] = np.nan
    np.testing.assert_array_equal(observed.predictors(other), predictors)
    assert np.isfinite(observed.potential(predictors, own)[0]).all()
    assert observed.simulated(predictors, own, np.random.default_rng(0)).shape == predictors.shape
    assert observed.pulled_back(outputs[0], np.ones(len(observed.present)))[gone] == 0.0
    assert observed.jacobian(outputs[0], np.ones((outputs.shape[1], 3))).shape == (len(observed.present), 3)


@every_case
def test_impossible_rows_are_infinite_with_no_slope(case: Case) -> None:
    outputs, own = case.rows(3)
    predictors = case.observed.predictors(outputs)
    predictors[0, 1] = np.nan
    own[1] = -1.0
    values, slopes, own_slopes = case.observed.potential(predictors, own)
    bad = [True, own.shape[1] > 0, False]
    np.testing.assert_array_equal(values == np.inf, bad)
    assert not slopes[bad].any()
    assert not own_slopes[bad].any()
    assert slopes[2].all()


@every_case
def test_it_is_a_likelihood_of_names_that_are_positive(case: Case) -> None:
    assert isinstance(case.likelihood, Likelihood)
    assert isinstance(case.observed, Observed)
    assert case.likelihood.bounds == dict.fromkeys(case.likelihood.names, (0.0, None))
    assert len(set(case.likelihood.names)) == len(case.likelihood.names)


@every_case
def test_it_can_be_pickled(case: Case) -> None:
    outputs, own = case.rows(2)
    sent = pickle.loads(pickle.dumps(case.observed))
    for found, part in zip(sent.potential(sent.predictors(outputs), own), potential(case, outputs, own), strict=True):
        np.testing.assert_array_equal(found, part)
