"""Models with very many outputs: Gaussian likelihoods from coefficients in a basis that grows with the runs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rnshmc
from rnshmc.inference.exact.archive import Training
from rnshmc.inference.exact.forward_posterior import Runs
from rnshmc.inference.exact.likelihoods.base import Likelihood
from rnshmc.inference.exact.likelihoods.compressed import Compression, gaussian_blocks, make_compression
from rnshmc.inference.exact.target import make_posterior
from rnshmc.inference.surrogate.emulated import EmulatedPotential, emulate
from rnshmc.inference.surrogate.outputs import roughest
from rnshmc.inference.surrogate.posterior import within_reach
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.transforms import make_transform, with_prior
from rnshmc.inference.tuning import Fitting
from rnshmc.types import Array

Case = tuple[Callable[..., Any], Any, Any]

TRUTH = np.array([0.5, -0.3, 0.2, 0.4])


def bump(x: Array, side: int = 10) -> Array:
    """An image, (2 side, side), of a Gaussian bump: place, width and height."""
    across, along = np.meshgrid(np.linspace(-3.0, 3.0, side), np.linspace(-3.0, 3.0, 2 * side))
    distance = (across - 0.3 * x[0]) ** 2 + 2.0 * (along - 0.3 * x[1]) ** 2
    return np.asarray(2.0 + np.exp(0.3 * x[3] - 0.5 * distance * np.exp(-0.6 * x[2])))


def halves(x: Array) -> dict[str, Array]:
    """The image in two parts."""
    return {"upper": bump(x)[:10], "lower": bump(x)[10:]}


def noisy(outputs: Array, sd: float = 0.1) -> Array:
    return np.asarray(outputs + np.random.default_rng(3).normal(0.0, sd, outputs.shape))


def correlated() -> Array:
    apart = np.arange(200)
    return np.asarray(0.01 * np.exp(-np.abs(apart[:, None] - apart) / 3.0))


SIZES = np.linspace(0.05, 0.2, 10)
IMAGE, PARTS = noisy(bump(TRUTH)), {name: noisy(part) for name, part in halves(TRUTH).items()}
HOLES = np.where(np.arange(200).reshape(20, 10) % 7, IMAGE, np.nan)
GAUSSIAN: list[Case] = [
    (bump, IMAGE, rnshmc.Gaussian(0.1)),
    (bump, IMAGE, rnshmc.Gaussian("sigma")),
    (bump, HOLES, rnshmc.Gaussian(SIZES, scale="sigma")),
    (bump, IMAGE, rnshmc.Gaussian([*"abcabcabca"])),
    (bump, IMAGE, rnshmc.Gaussian(covariance=correlated(), scale="sigma")),
    (bump, IMAGE, rnshmc.LogNormal("sigma")),
    (halves, PARTS, {"upper": rnshmc.Gaussian("sigma"), "lower": rnshmc.Gaussian(SIZES, scale="tau")}),
    (halves, PARTS, {"upper": rnshmc.LogNormal("sigma"), "lower": rnshmc.Gaussian(SIZES, scale="sigma")}),
    (halves, PARTS, {"upper": rnshmc.Gaussian(0.1), "lower": rnshmc.Gaussian("sigma")}),
]


def posed_runs(
    forward: Callable[..., Any], data: Any, likelihood: Any, points: Array, *, compress: bool
) -> tuple[Training, Runs]:
    """Runs at points in unconstrained coordinates, of which the last ones are those of the likelihood."""
    model = rnshmc.Model(forward, data, likelihood=likelihood, prior=rnshmc.Normal(0.0, 2.0))
    names = [f"x{i}" for i in range(4)] + list(model.own)
    posterior = make_posterior(model, None, names)
    forward_posterior = posterior.forward_posterior
    assert forward_posterior is not None
    transform = with_prior(make_transform(None, names), posterior.bounds, {}, names)
    found = [
        forward_posterior.read(posterior.evaluable.evaluate(x, gradient=False)[0], x)
        for x in transform.parameters(points)
    ]
    values = np.array([one.value for one in found]) - transform.log_jacobians(points)
    rows = [one.run.outputs for one in found if one.run]
    blocks = gaussian_blocks(forward_posterior.observed) if compress else None
    compression = None if blocks is None else Compression(forward_posterior.observed, blocks)
    assert compress == (compression is not None)
    runs = Runs(rows, forward_posterior, transform, compression)
    return Training(points, values, np.full(points.shape, np.nan), runs), runs


def unconstrained(own: int, count: int, seed: int, spread: float = 0.3) -> Array:
    """Points near the truth, with standard deviations near 0.1."""
    centre = np.concatenate((TRUTH, np.full(own, np.log(0.1))))
    return np.random.default_rng(seed).normal(centre, spread, size=(count, 4 + own))


def emulated(case: Case, points: Array, *, compress: bool, like: EmulatedPotential | None = None) -> EmulatedPotential:
    training, runs = posed_runs(*case, points, compress=compress)
    whitening = Whitening(points.mean(axis=0), 5.0 * np.eye(points.shape[1])) if like is None else like.whitening
    return emulate(training, runs, whitening, like=like)


@pytest.mark.parametrize("case", GAUSSIAN)
def test_coefficients_give_the_likelihood_of_all_outputs(case: Case) -> None:
    own = len(rnshmc.Model(case[0], case[1], likelihood=case[2]).own)
    points, others = unconstrained(own, 30, 1), unconstrained(own, 7, 2)
    plain = emulated(case, points, compress=False)
    brief = emulated(case, points, compress=True, like=plain)
    assert brief.outputs.alpha.shape[1] <= 90 < plain.outputs.alpha.shape[1]
    z = plain.whitening.whiten(others)
    pairs = [*zip(brief.values_and_gradients(z), plain.values_and_gradients(z), strict=True)]
    for one, other in (*pairs, (brief.covariance(z), plain.covariance(z))):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-8 * np.abs(other).max())
    np.testing.assert_allclose(brief.mean_hessian(z), plain.mean_hessian(z), rtol=1e-6, atol=1e-4)
    # Length scales and noise are those that all outputs choose.
    searched = emulated(case, points, compress=True).outputs.covariances
    np.testing.assert_allclose(searched.lengths, plain.outputs.covariances.lengths, rtol=1e-4)


@pytest.mark.parametrize(
    "likelihood",
    [
        rnshmc.StudentT(4.0, "sigma"),
        rnshmc.Poisson(),
        rnshmc.Relative(0.1),
        rnshmc.Gaussian(0.1, censored=np.where(np.arange(10) == 3, 1, 0)),
    ],
)
def test_other_likelihoods_are_not_compressed(likelihood: Likelihood) -> None:
    data = np.full((20, 10), 2.0)
    assert gaussian_blocks(likelihood.observing({"": data})) is None
    assert make_compression(likelihood.observing({"": np.full((200, 10), 2.0)})) is None


def test_few_outputs_are_not_compressed() -> None:
    assert make_compression(rnshmc.Gaussian(0.1).observing({"": np.zeros(200)})) is None
    assert make_compression(rnshmc.Gaussian(0.1).observing({"": np.zeros(2000)})) is not None


def test_a_basis_grows_with_the_runs_and_no_further() -> None:
    observed = rnshmc.Gaussian(0.1).observing({"": IMAGE})
    compression = Compression(observed, gaussian_blocks(observed) or ())
    rows = [bump(x).ravel() for x in unconstrained(0, 40, 5)]
    early, _ = compression.compressed(rows[:10])
    late, seen = compression.compressed([*rows, 0.5 * (rows[0] + rows[1]), rows[3].copy()])
    assert early.shape == (10, 10)
    assert late.shape == (42, 40)
    np.testing.assert_array_equal(late[:10, :10], early)
    np.testing.assert_array_equal(late[:10, 10:], 0.0)
    # Distances of runs from each other and from the data are kept.
    gram = np.array(rows) @ np.array(rows).T / 0.01
    np.testing.assert_allclose(late[:40] @ late[:40].T, gram, rtol=1e-12)
    constant = 200 * np.log(0.1 * np.sqrt(2.0 * np.pi))
    misfits = [0.5 * ((row - IMAGE.ravel()) ** 2).sum() / 0.01 + constant for row in rows]
    np.testing.assert_allclose(seen.potential(late[:40], np.zeros((40, 0)))[0], misfits, rtol=1e-10)


def test_an_impossible_scale_has_no_density() -> None:
    observed = rnshmc.Gaussian("sigma").observing({"": IMAGE})
    compression = Compression(observed, gaussian_blocks(observed) or ())
    coefficients, seen = compression.compressed([bump(TRUTH).ravel()] * 3)
    values, slopes, by_own = seen.potential(coefficients, np.array([[0.1], [0.0], [-1.0]]))
    assert np.isfinite(values[0])
    assert np.isinf(values[1:]).all()
    assert not slopes[1:].any()
    assert not by_own[1:].any()


@pytest.mark.parametrize("runs", [10, 15, 25, 40])
def test_runs_outside_the_span_of_others_are_expected(runs: int) -> None:
    ratios = []
    for seed in range(20):
        points, others = unconstrained(1, runs, seed), unconstrained(1, 9, 100 + seed)
        case = (bump, noisy(bump(TRUTH)), rnshmc.Gaussian("sigma"))
        potential = emulated(case, points, compress=True)
        exact, _ = posed_runs(*case, others, compress=True)
        z = potential.whitening.whiten(others)
        differences = exact.values - potential.values_and_gradients(z)[0] - potential.offset
        ratios.append(np.mean(differences**2 / potential.covariance(z).diagonal()))
    assert 0.25 < np.median(ratios) < 4.0


def test_the_worst_output_is_named() -> None:
    potential = emulated(GAUSSIAN[1], unconstrained(1, 20, 6), compress=True)
    plain = emulated(GAUSSIAN[1], unconstrained(1, 20, 6), compress=False)
    assert roughest(potential)[0] == roughest(plain)[0]
    assert roughest(potential)[1] == pytest.approx(roughest(plain)[1], rel=1e-3)


def test_runs_are_near_whatever_the_noise_was() -> None:
    points = unconstrained(1, 20, 7)
    points[:, 4] += 50.0
    training, _ = posed_runs(*GAUSSIAN[1], points, compress=True)
    whitening = Whitening(np.append(TRUTH, np.log(0.1)), 5.0 * np.eye(5))
    assert len(within_reach(training, whitening, Fitting()).values) == 20
    assert len(within_reach(Training(points, training.values, training.gradients), whitening, Fitting()).values) == 0


def test_many_positions_are_taken_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    potential = emulated(GAUSSIAN[1], unconstrained(1, 20, 8), compress=False)
    z = potential.whitening.whiten(unconstrained(1, 23, 9))
    whole = (*potential.values_and_gradients(z), potential.covariance(z))
    monkeypatch.setattr("rnshmc.inference.surrogate.emulated.ENTRIES", 1000)  # five positions of 200 outputs
    parts = (*potential.values_and_gradients(z), potential.covariance(z))
    for one, other in zip(parts, whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_an_image_of_many_pixels_is_sampled() -> None:
    image = noisy(bump(TRUTH, 100), 1.0)
    prior = {**{f"x{i}": ("normal", 0.0, 1.0) for i in range(4)}, "sigma": ("halfnormal", 5.0)}
    model = rnshmc.Model(lambda x: bump(x, 100), image, likelihood=rnshmc.Gaussian("sigma"), prior=prior)
    result = rnshmc.sample(model, [0.0, 0.0, 0.0, 0.0, 3.0], draws=500, progress_bar=False)
    assert result.verdict.level == "good", str(result.verdict)
    assert result.spent.units < 120
    mean, sd, error = by_importance(image, result.draws)
    z = (result.mean.value - mean) / np.hypot(result.mean.standard_error, error)
    assert np.abs(z).max() < 4.5
    np.testing.assert_allclose(result.sd.value, sd, rtol=0.15)
    prediction = result.predict()
    assert isinstance(prediction.outputs, np.ndarray)
    assert prediction.outputs.shape == (500, 200, 100)
    assert np.abs(prediction.outputs.mean(axis=0) - bump(TRUTH, 100)).max() < 0.2


def by_importance(image: Array, draws: Array) -> tuple[Array, Array, Array]:
    """Means, standard deviations and errors of means, by runs at draws of Student's t with moments of given draws."""
    rng, count, df = np.random.default_rng(1), 1000, 8.0
    dim = draws.shape[1]
    root = np.linalg.cholesky(np.cov(draws.T))
    z = rng.standard_normal((count, dim)) / np.sqrt(rng.chisquare(df, (count, 1)) / df)
    x = draws.mean(axis=0) + z @ root.T
    misfits = np.array([((bump(one, 100) - image) ** 2).sum() for one in x])
    log_densities = -0.5 * misfits / x[:, -1] ** 2 - image.size * np.log(x[:, -1])
    log_densities -= 0.5 * ((x[:, :-1] ** 2).sum(axis=1) + x[:, -1] ** 2 / 25.0)
    log_weights = log_densities + 0.5 * (df + dim) * np.log1p((z**2).sum(axis=1) / df)
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    mean = weights @ x
    return mean, np.sqrt(weights @ (x - mean) ** 2), np.sqrt(weights**2 @ (x - mean) ** 2)
