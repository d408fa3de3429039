"""The pyPESTO sampler takes bounds, names, fixed parameters, priors and gradients, and returns draws."""

from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import rnshmc
from rnshmc.inference.exact.density import Density
from rnshmc.types import Array
from tests.conftest import z_bound

pypesto = pytest.importorskip("pypesto", reason="pypesto is not installed")
pytest.importorskip("pypesto.sample")

ROOT = Path(__file__).parents[2]
SHAPE, RATE = np.array([3.0, 5.0]), np.array([1.0, 2.0])


def objective(*, gradient: bool) -> Any:
    """Two gamma variables, and in between a parameter that the tests fix at 0."""

    def fun(x: Array) -> float:
        y = x[[0, 2]]
        return float((RATE * y - (SHAPE - 1) * np.log(y)).sum() + 0.5 * (x[1] - 7.0) ** 2)

    def grad(x: Array) -> Array:
        y = x[[0, 2]]
        slope = RATE - (SHAPE - 1) / y
        return np.array([slope[0], x[1] - 7.0, slope[1]])

    return pypesto.Objective(fun=fun, grad=grad if gradient else None)


def make_problem(*, gradient: bool = True, **settings: Any) -> Any:
    bounds = {"lb": [1e-6, -5.0, 1e-6], "ub": [40.0, 5.0, 40.0]}
    fixed = {"x_fixed_indices": [1], "x_fixed_vals": [0.0], "x_names": ["a", "fixed", "b"]}
    return pypesto.Problem(objective(gradient=gradient), **{**bounds, **fixed, **settings})


def sampled(problem: Any, x0: Any, **settings: Any) -> tuple[Any, Any]:
    import rnshmc.pypesto as adapter

    sampler = adapter.Sampler(progress_bar=False, **settings)
    result = pypesto.sample.sample(problem, n_samples=400, sampler=sampler, x0=x0, filename=None)
    return sampler, result.sample_result


@pytest.mark.parametrize("gradient", [True, False])
def test_free_parameters_are_sampled_with_or_without_a_gradient(gradient: bool) -> None:
    sampler, found = sampled(make_problem(gradient=gradient), np.array([3.0, 2.0]))
    result = sampler.result
    assert result.names == ("a", "b")
    assert (result.spent.gradients > 0) == gradient
    # The bounds leave out less than a millionth.
    for estimate, exact in ((result.mean, SHAPE / RATE), (result.sd, np.sqrt(SHAPE) / RATE)):
        assert (np.abs(estimate.value - exact) < z_bound(8) * estimate.standard_error).all()
        assert (estimate.standard_error < 0.2 * np.sqrt(SHAPE) / RATE).all()
    np.testing.assert_array_equal(found.trace_x, result.draws[None])
    assert found.trace_neglogpost.shape == found.trace_neglogprior.shape == (1, 400)
    assert (found.betas, found.burn_in, found.message) == ([1.0], 0, str(result.verdict))


def test_a_start_on_a_bound_of_all_parameters_is_taken() -> None:
    sampler, _ = sampled(make_problem(), np.array([1e-6, 0.0, 40.0]))
    assert np.abs(sampler.result.mean.value - SHAPE / RATE).max() < 1.0


def test_a_start_near_a_bound_stays_and_one_on_it_is_moved_inside() -> None:
    import rnshmc.pypesto as adapter

    sampler = adapter.Sampler()
    sampler.initialize(make_problem(lb=[0.0, -5.0, 0.0], ub=[1e5, 5.0, 1e5]), np.array([[3.0, 99990.0], [0.0, 1e5]]))
    np.testing.assert_array_equal(sampler._starts, [[3.0, 99990.0], [1e3, 99e3]])


def test_failed_simulations_are_counted() -> None:
    import rnshmc.pypesto as adapter

    def fun(x: Array) -> float:
        return float(0.5 * x @ x) if x[0] < 1.0 else np.inf

    problem = pypesto.Problem(pypesto.Objective(fun=fun), lb=[-9.0], ub=[9.0])
    failed, _ = Density(adapter.LogDensity(problem)).evaluate(np.array([2.0]), gradient=False)
    assert failed.value == np.inf
    assert failed.failure is not None
    assert "simulation failed" in failed.failure
    found, _ = Density(adapter.LogDensity(problem)).evaluate(np.array([0.5]), gradient=False)
    assert (found.value, found.failure) == (0.125, None)


def test_a_start_on_the_only_bound_is_taken() -> None:
    sampler, _ = sampled(make_problem(ub=[np.inf, 5.0, np.inf]), np.array([1e-6, 2.0]))
    assert sampler.result is not None


def test_priors_are_counted_once_and_returned() -> None:
    from pypesto.objective import AggregatedObjective, NegLogParameterPriors
    from pypesto.objective.priors import get_parameter_prior_dict

    priors = NegLogParameterPriors([get_parameter_prior_dict(0, "normal", [1.0, 0.1])])
    both = AggregatedObjective([objective(gradient=True), priors])
    problem = pypesto.Problem(
        both, lb=[1e-6, 6.0, 1e-6], ub=[40.0, 8.0, 40.0], x_names=["a", "m", "b"], x_priors_defs=priors
    )
    sampler, found = sampled(problem, np.array([1.0, 7.0, 2.0]))
    # x^2 exp(-x) times a normal density of mean 1 and standard deviation 0.1, by quadrature.
    grid = np.linspace(0.3, 1.8, 3001)
    weights = grid**2 * np.exp(-grid - 0.5 * ((grid - 1.0) / 0.1) ** 2)
    mean = sampler.result.mean
    assert abs(mean.value[0] - (grid * weights).sum() / weights.sum()) < z_bound() * mean.standard_error[0]
    np.testing.assert_allclose(found.trace_neglogprior[0], [priors(x) for x in found.trace_x[0]])


A = np.array([[1.0, 0.5], [0.2, 2.0], [1.0, -1.0]])
DATA = np.array([2.0, 1.0, 0.5])


def linear(*, constant: float = 3.0, jacobian: bool = True, bend: float = 0.0) -> Any:
    """A linear model with normal errors, and a constant that its residuals do not have."""

    def fun(x: Array) -> float:
        return float(0.5 * np.sum((A @ x - DATA) ** 2) + constant + bend * x[0])

    def grad(x: Array) -> Array:
        return np.asarray(A.T @ (A @ x - DATA) + np.array([bend, 0.0]))

    sres = (lambda x: A) if jacobian else None
    objective = pypesto.Objective(fun=fun, grad=grad, res=lambda x: A @ x - DATA, sres=sres)
    return pypesto.Problem(objective, lb=[-20, -20], ub=[20, 20], x_names=["a", "b"])


@pytest.mark.parametrize("jacobian", [True, False])
def test_residuals_are_emulated_as_outputs(jacobian: bool) -> None:
    sampler, found = sampled(linear(jacobian=jacobian), np.array([1.0, 2.0]), outputs=True)
    result = sampler.result
    assert result.outcome.emulated is not None
    covariance = np.linalg.inv(A.T @ A)
    for estimate, exact in ((result.mean, covariance @ A.T @ DATA), (result.sd, np.sqrt(np.diag(covariance)))):
        assert (np.abs(estimate.value - exact) < z_bound(4) * estimate.standard_error).all()
    # Where the exact density decided, pyPESTO gets its objective, with the constant that residuals lack.
    draws = result.chains.transpose(1, 0, 2).reshape(-1, 2)
    sampler.result = replace(result, draws=draws, outcome=replace(result.outcome, surrogate=None))
    exact = sampler.get_samples()
    np.testing.assert_allclose(exact.trace_neglogpost[0], [linear().objective(x) for x in exact.trace_x[0]], rtol=1e-9)
    # Chain after chain, so that their autocorrelation is seen.
    np.testing.assert_array_equal(exact.trace_x[0], result.chains.reshape(-1, 2))
    assert found.trace_x.shape == (1, 400, 2)


@pytest.mark.parametrize("x0", [np.array([1.0, 2.0]), None], ids=["start", "middle of the bounds"])
def test_residuals_that_are_not_the_objective_are_refused(x0: Any) -> None:
    with pytest.raises(
        rnshmc.ParameterError, match="outputs: the objective minus half the sum of squared residuals is"
    ):
        sampled(linear(bend=0.1), x0, outputs=True)
    with pytest.raises(rnshmc.ParameterError, match="outputs: the objective has no residuals"):
        sampled(make_problem(), np.array([3.0, 2.0]), outputs=True)


def test_calls_that_cannot_be_served_are_refused() -> None:
    import rnshmc.pypesto as adapter

    sampler = adapter.Sampler()
    with pytest.raises(rnshmc.ParameterError, match="call initialize"):
        sampler.sample(100)
    with pytest.raises(rnshmc.ParameterError, match="call sample first"):
        sampler.get_samples()
    sampler.initialize(make_problem(), np.ones(2))
    with pytest.raises(rnshmc.ParameterError, match="beta: rnshmc samples the posterior itself"):
        sampler.sample(100, beta=0.5)
    with pytest.raises(rnshmc.ParameterError, match="x0: some bounds are infinite"):
        sampler.initialize(make_problem(ub=[np.inf, 5.0, 40.0]), None)


def test_the_page_runs(docs_output: ModuleType) -> None:
    names, _ = docs_output.run_page(ROOT / "docs/pypesto.md")
    result = names["sampler"].result
    assert result.names == ("rise", "rate", "sd")
    assert names["result"].sample_result.trace_x.shape == (1, 1000, 3)
    # The data were made with these; the posterior is 0.004, 0.011 and 0.07 wide.
    assert (np.abs(result.mean.value - np.log10([8.0, 0.35, 0.2])) < 5 * np.array([0.004, 0.011, 0.07])).all()
