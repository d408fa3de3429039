"""Forward models whose outputs are emulated."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rnshmc
from rnshmc.errors import FitError, ParameterError
from rnshmc.inference.algorithm import run
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluations import Evaluations
from rnshmc.inference.exact.pools import make_workers
from rnshmc.inference.exact.target import make_posterior
from rnshmc.inference.transforms import make_transform, with_prior
from rnshmc.inference.tuning import DEFAULT
from rnshmc.types import Array
from tests.inference.model_cases import DATA, NAMES, TIMES, Counted, decay, decaying, fitted, sampled, switching


def by_grid(data: Array) -> tuple[Array, Array]:
    """Means and standard deviations of the parameters of `decay` and of log sigma, by quadrature."""
    grids = np.meshgrid(np.linspace(0.1, 1.3, 61), np.linspace(-0.7, 0.7, 61), np.linspace(-3.6, -0.8, 61))
    a, r, s = grids
    misfit = ((np.exp(a[..., None] - np.exp(r)[..., None] * TIMES) - data) ** 2).sum(axis=-1)
    sigma = np.exp(s)
    log_density = -0.5 * misfit / sigma**2 - len(data) * s - 0.5 * (a**2 + r**2 + sigma**2) + s
    weights = np.exp(log_density - log_density.max())
    weights /= weights.sum()
    mean = np.array([(weights * x).sum() for x in grids])
    return mean, np.sqrt([(weights * (x - m) ** 2).sum() for x, m in zip(grids, mean, strict=True)])


def test_an_unknown_scale_of_the_noise_is_inferred_and_costs_no_run() -> None:
    forward = Counted(decay)
    result = sampled(decaying(forward=forward))
    assert result.names == NAMES
    assert result.verdict.level == "good", str(result.verdict)
    assert result.spent.units == len(forward.asked) == len(set(forward.asked))
    assert len(np.frombuffer(forward.asked[0])) == 2  # sigma is no input of the model
    mean, sd = by_grid(DATA)
    outcome = result.outcome
    assert (np.abs(outcome.mean.value - mean) < 4.0 * outcome.mean.standard_error).all()
    assert (np.abs(outcome.variance.value - sd**2) < 4.0 * outcome.variance.standard_error).all()
    np.testing.assert_array_less(outcome.mean.standard_error, 0.1 * sd)


def test_an_output_that_is_nan_is_named() -> None:
    with pytest.raises(ParameterError, match="it cannot be evaluated at x0: the model's output 3 is nan"):
        sampled(decaying(forward=lambda x: np.where(np.arange(12) == 3, math.nan, decay(x))))


@pytest.mark.parametrize(
    ("likelihood", "outputs", "said"),
    [
        (rnshmc.Gaussian(covariance=np.eye(3) + 0.5), [1.0, 2.0, math.nan], "output 2 is nan"),
        (rnshmc.Poisson(), [5.0, -3.0, 1.0], "output 1 is -3"),
    ],
)
def test_the_output_at_fault_is_named(likelihood: Any, outputs: list[float], said: str) -> None:
    model = rnshmc.Model(lambda x: np.array(outputs), [5, 3, 1], likelihood=likelihood, prior=rnshmc.Normal(0.0, 1.0))
    with pytest.raises(ParameterError, match=f"the model's {said}"):
        rnshmc.sample(model, [0.5], progress_bar=False)


def test_missing_data_may_have_outputs_that_are_nan() -> None:
    data = DATA.copy()
    data[3] = math.nan
    result = sampled(decaying(data, lambda x: np.where(np.arange(12) == 3, math.nan, decay(x))))
    assert result.outcome.method == "surrogate"
    outputs = result.predict().outputs
    assert isinstance(outputs, np.ndarray)
    assert np.isnan(outputs[:, 3]).all()


def test_a_rough_output_is_named_and_the_density_is_learnt_instead() -> None:
    result = sampled(decaying(forward=switching), draws=100)
    doubts = [f for f in result.verdict.findings if "are not emulated" in f.text]
    assert len(doubts) == 1
    assert "output [5] has the largest emulation error" in doubts[0].text
    assert result.verdict.level != "good"


def test_a_budget_that_ends_after_the_emulator_is_given_up_leaves_its_draws() -> None:
    posterior = make_posterior(decaying(forward=switching), None, NAMES)
    workers = make_workers(None, posterior.evaluable, time_limit=None)
    transform = with_prior(make_transform(None, NAMES), posterior.bounds, {}, NAMES)
    evaluations = Evaluations(workers, transform, forward_posterior=posterior.forward_posterior, budget=120)
    # The emulator is given up after about 35 runs; a mode of the density is found, and no surrogate of it.
    tuning = replace(DEFAULT, attempts=1, training=replace(DEFAULT.training, most_runs=20, hopeless=0.1))
    outcome = run(
        Archive.of(evaluations), np.array([0.0, 0.0, -0.7]), draws=50, rng=np.random.default_rng(5), tuning=tuning
    )
    assert outcome.by_stage["directions"].units > 0
    assert outcome.stopped is not None
    assert outcome.doubts[0].startswith("The outputs of the model are not emulated")
    assert outcome.method == "surrogate"
    assert len(outcome.rows) == 50


def test_a_density_of_zero_around_the_start_is_told() -> None:
    model = rnshmc.Model(
        lambda x: x,
        np.zeros(2),
        likelihood=rnshmc.Gaussian(0.1),
        prior=lambda x: (-math.inf if x.any() else 0.0, np.zeros(2)),
    )
    with pytest.raises(ParameterError, match="start: the potential cannot be evaluated next to"):
        rnshmc.sample(model, np.zeros(2), progress_bar=False)


def test_each_run_is_left_out_in_turn() -> None:
    """U is the exact one, and V that of an emulator without the run, with the same length scales."""
    points = np.random.default_rng(8).normal(scale=0.5, size=(25, 3))
    potential = fitted(points)
    x, values, differences, variances = potential.left_out()
    np.testing.assert_allclose(x[:, :2], points[:, :2], atol=1e-12)
    np.testing.assert_array_equal(x[:, 2], potential.whitening.centre[2])
    theta = potential.transform.parameters(x)
    predictors = np.array([decay(one) for one in theta])
    exact = potential.forward_posterior.potential(theta, predictors)[0] - potential.transform.log_jacobians(x)
    # Predictors are weighted sums of outputs, whose weights amplify rounding by the condition of the emulator.
    np.testing.assert_allclose(values, exact, rtol=1e-7)
    for i in (0, 11, 24):
        rest = np.delete(np.arange(25), i)
        w, like = potential.inputs(x), potential.outputs
        without = type(like).fit(w[rest], predictors[rest], units=np.ones(12), like=like)
        predicted = potential.forward_posterior.potential(theta[[i]], without.predict(w[[i]])[0])[0]
        expected = exact[i] - (predicted - potential.transform.log_jacobians(x[[i]]))[0]
        # Values are sums of terms that are larger by the variance of the broad linear part.
        assert differences[i] == pytest.approx(expected, rel=1e-3, abs=1e-6)
    assert np.abs(differences).max() > 1e-2
    assert (variances > 0.0).all()


@pytest.mark.parametrize(
    ("settings", "x0", "message"),
    [
        ({"names": ["a", "r", "s"]}, (0.0, 0.0, 0.5), "names: the likelihood's parameters sigma come last"),
        ({}, (0.5,), "x0: it has 1 parameters, but the likelihood alone has sigma"),
        ({"gradient": lambda x: x}, (0.0, 0.0, 0.5), "gradient: of a Model, give jacobian= or vjp= to the Model"),
        ({}, (0.0, 0.0, -0.5), "x0: sigma = -0.5 is not strictly between its bounds 0 and inf"),
    ],
)
def test_mistakes_are_told(settings: dict[str, Any], x0: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        sampled(decaying(), x0, **settings)


def test_each_of_several_modes_has_an_emulator() -> None:
    model = rnshmc.Model(lambda x: np.array([x[0] ** 2, x[1]]), [4.0, 0.0], likelihood=rnshmc.Gaussian(0.1))
    result = sampled(model, [[2.0, 0.0], [-2.0, 0.0]], draws=100)
    assert "not emulated" not in str(result.verdict)
    assert result.spent.points < 150
    # By symmetry, each mode has half of the mass.
    assert [float(mode.share.value) for mode in result.outcome.modes] == pytest.approx([0.5, 0.5], abs=0.02)


def test_too_few_runs_are_no_emulator() -> None:
    with pytest.raises(FitError, match="1 of the runs nearby succeeded, too few"):
        fitted(np.zeros((1, 3)))


def test_a_mode_is_found_though_the_first_differences_say_nothing_of_it() -> None:
    """A rate of twenty is a start at which all outputs but the first are zero, and their slopes, too."""
    result = sampled(decaying(), (0.0, 3.0, 0.5))
    assert result.outcome.method == "surrogate"
    assert result.outcome.modes[0].converged
    mean, sd = by_grid(DATA)
    assert (np.abs(result.outcome.mean.value - mean) < 0.3 * sd).all()


def decay_jacobian(x: Array) -> Array:
    return np.column_stack((decay(x), -math.exp(x[1]) * TIMES * decay(x)))


def test_derivatives_change_nothing_where_outputs_are_emulated() -> None:
    prior = rnshmc.Normal(0.0, 1.0)
    models = [
        rnshmc.Model(decay, DATA, likelihood=rnshmc.Gaussian(0.1), prior=prior, **offered)
        for offered in ({}, {"jacobian": decay_jacobian}, {"vjp": lambda x, v: decay_jacobian(x).T @ v})
    ]
    plain, *others = [sampled(model, np.zeros(2), draws=100) for model in models]
    for result in others:
        np.testing.assert_array_equal(result.draws, plain.draws)
        # The gradient is compared with differences at the start.
        assert result.spent.values == plain.spent.values + 2


def test_derivatives_are_asked_for_once_outputs_are_not_learnt() -> None:
    model = rnshmc.Model(decay, DATA, likelihood=rnshmc.Gaussian(0.1), jacobian=decay_jacobian)
    posterior = make_posterior(model, None, ("a", "r"))
    workers = make_workers(None, posterior.evaluable, time_limit=None)
    transform = make_transform(None, ("a", "r"))
    archive = Archive.of(
        Evaluations(
            workers, transform, forward_posterior=posterior.forward_posterior, slope_price=posterior.slope_price
        )
    )
    [plain] = archive.evaluate(np.zeros((1, 2)), "mode")
    [found] = replace(archive, emulating=False).evaluate(np.zeros((1, 2)), "mode")
    assert plain.gradient is None
    assert found.gradient is not None
    assert archive.spent.gradients == 2  # products with the Jacobian: one for each column


def test_a_start_at_the_mode_leaves_runs_enough_to_emulate() -> None:
    """As after an optimization: the steps that tell the slopes are all far out, and no other run is needed."""
    times = np.array([0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10])
    truth = np.log10([0.3, 0.2])

    def converted(x: Array) -> Array:
        k1, k2 = 10.0**x
        return np.asarray((k2 + k1 * np.exp(-(k1 + k2) * times)) / (k1 + k2))

    model = rnshmc.LeastSquares(converted, converted(truth), 0.03)
    result = rnshmc.sample(model, truth, bounds=[(-3, 1)] * 2, draws=400, progress_bar=False)
    assert result.outcome.emulated is not None
    assert result.verdict.level == "good", result.verdict
