"""Several modes, each with a surrogate of its own."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from peers.known_laws import NormalMixture
from scipy.special import logsumexp

import rnshmc
from rnshmc.diagnostics.summary import summarise
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.modes import _joined
from rnshmc.inference.result.estimates import Estimate
from rnshmc.inference.result.mixture import Mixture
from rnshmc.inference.stages.descent import Mode
from rnshmc.inference.stages.parts import Part
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import DEFAULT
from rnshmc.types import Array
from tests.conftest import z_bound
from tests.inference.conftest import evaluations_of, evaluations_of_potential
from tests.inference.problems import Correlated


class Normals:
    """The log density of normal densities of different widths and shares, normalised, and its moments."""

    def __init__(self, shares: Any, means: Any, sds: Any) -> None:
        self.shares, self.means, self.sds = (np.asarray(one, dtype=float) for one in (shares, means, sds))
        self._potential = NormalMixture(self.shares, self.means, self.sds)

    def __call__(self, x: Array) -> tuple[float, Array]:
        value, gradient = self._potential.value_and_grad(x)
        return -value, -gradient

    @property
    def mean(self) -> Array:
        return np.asarray(self.shares @ self.means)

    @property
    def variance(self) -> Array:
        return np.asarray(self.shares @ (self.means**2 + self.sds[:, None] ** 2) - self.mean**2)


THREE = Normals([0.5, 0.2, 0.3], [[0, 0, 0], [8, 0, 0], [0, 8, 0]], [1.0, 0.7, 1.4])
STARTS = np.array([[1.0, 1.0, 0.0], [7.0, -1.0, 1.0], [0.0, 10.0, 2.0], [-1.0, 0.0, 2.0], [8.0, 1.0, 1.0]])


@pytest.fixture(scope="module")
def sampled() -> Any:
    return rnshmc.sample(THREE, STARTS, seed=3, progress_bar=False)


def test_each_mode_has_its_share(sampled: Any) -> None:
    [doubt] = [one for one in sampled.verdict.findings if one.level != "good"]
    assert "There may be others: too few starts were used." in doubt.text
    modes = sorted(sampled.outcome.modes, key=lambda mode: tuple(mode.point))
    shares = [float(mode.share.value) for mode in modes]
    # In the order of the first coordinates: the wide, the central and the narrow one may be swapped by rounding.
    assert sorted(shares) == pytest.approx(sorted(THREE.shares), abs=0.01)
    assert "5 starts found 3 modes; their shares of the posterior are" in str(sampled.verdict)


def test_moments_are_right_within_their_errors(sampled: Any) -> None:
    z = (sampled.mean.value - THREE.mean) / sampled.mean.standard_error
    assert np.abs(z).max() < z_bound(6)
    variance = sampled.outcome.variance
    assert np.abs((variance.value - THREE.variance) / variance.standard_error).max() < z_bound(6)
    # The density is normalised.
    assert abs(sampled.log_evidence.value) < 0.01
    # The errors are those that are aimed at: a mean of a thousand draws of each mode.
    assert (sampled.mean.standard_error < 2.0 * np.sqrt(THREE.variance / 1000.0)).all()


def test_draws_and_exact_chains_are_of_all_modes(sampled: Any) -> None:
    for draws, least in ((sampled.draws, 1000.0), (sampled.chains.reshape(-1, 3), 20.0)):
        nearest = ((draws[:, None] - THREE.means) ** 2).sum(axis=2).argmin(axis=1)
        found = np.bincount(nearest, minlength=3) / len(draws)
        assert np.abs(found - THREE.shares).max() < z_bound(3) * 0.5 / np.sqrt(least)
    exact = [[THREE(x)[0] for x in chain] for chain in sampled.chains]
    np.testing.assert_allclose(sampled.log_densities, exact, rtol=0, atol=1e-9)


def test_a_mode_far_below_is_left_out_and_told() -> None:
    far = Normals([1.0 - 1e-9, 1e-9], [[0, 0], [9, 0]], [1.0, 1.0])
    result = rnshmc.sample(far, [[0.5, 0.5], [9.5, 0.5]], progress_bar=False)
    assert result.outcome.method == "surrogate"
    assert (
        "A mode with a log density 20.7 below the highest is left out: its mass is about 1e-09 of that mode's"
        in str(result.verdict)
    )
    assert np.abs(result.mean.value).max() < 0.2


def test_two_starts_on_the_way_to_one_mode_are_one() -> None:
    one = Normals([1.0], [[0, 0]], [1.0])
    result = rnshmc.sample(one, [[10.0, 0.0], [-10.0, 0.0]], progress_bar=False)
    assert "2 starts found one mode." in str(result.verdict)


def two_parts() -> tuple[Part, Part]:
    rng = np.random.default_rng(2)
    roots = [np.tril(rng.normal(size=(3, 3))) + 2.0 * np.eye(3) for _ in range(2)]
    modes = [
        Mode(Whitening(rng.normal(size=3), root), value, 0.0) for root, value in zip(roots, (1.0, 0.3), strict=True)
    ]
    return Part(modes[0], (modes[1],)), Part(modes[1], (modes[0],))


def test_parts_add_up_to_the_density() -> None:
    x = np.random.default_rng(4).normal(size=(50, 3))
    first, second = (part(x)[0] for part in two_parts())
    np.testing.assert_allclose(np.exp(-first) + np.exp(-second), 1.0, rtol=1e-12)


def test_parts_are_finite_where_squares_overflow() -> None:
    value, gradient = two_parts()[0](np.full((1, 3), 1e169))
    assert np.isfinite(value).all()
    assert np.isfinite(gradient).all()


def test_gradients_of_parts_are_their_slopes(assert_slope: Any) -> None:
    part = two_parts()[0]
    x = np.array([0.3, -0.2, 0.5])
    for direction in np.eye(3):
        slope = float(part(x[None])[1][0] @ direction)
        assert_slope(lambda q: float(part(q[None])[0][0]), slope, x, direction, relative_error=1e-12)


def test_errors_of_shares_are_of_first_order() -> None:
    """Against normal errors of the evidences, by simulation."""
    evidences = Estimate(np.array([0.0, -0.5, -1.0]), np.array([0.02, 0.05, 0.01]))
    found = Mixture((), evidences).shares
    rng = np.random.default_rng(5)
    drawn = evidences.value + evidences.standard_error * rng.standard_normal((20000, 3))
    shares = np.exp(drawn - logsumexp(drawn, axis=1, keepdims=True))
    np.testing.assert_allclose(found.standard_error, shares.std(axis=0), rtol=0.05)
    np.testing.assert_allclose(
        Mixture((), evidences).log_evidence.standard_error, logsumexp(drawn, axis=1).std(), rtol=0.05
    )


def test_tables_and_files_are_of_all_modes(sampled: Any, tmp_path: Path) -> None:
    # Of the second coordinate, 0.7 are within three standard deviations of zero.
    low, high = sampled.quantile([0.25, 0.9], lambda theta: theta[:, 1]).value
    assert abs(low) < 3.0
    assert abs(high - 8.0) < 3.0
    more = sampled.resample(3000)
    nearest = ((more[:, None] - THREE.means) ** 2).sum(axis=2).argmin(axis=1)
    assert np.abs(np.bincount(nearest) / 3000 - THREE.shares).max() < z_bound(3) * 0.5 / np.sqrt(1000.0)
    sampled.save(tmp_path / "modes.nc")
    again = rnshmc.load(tmp_path / "modes.nc")
    np.testing.assert_array_equal(again.mean.value, sampled.mean.value)
    np.testing.assert_array_equal(again.mean.standard_error, sampled.mean.standard_error)
    assert str(again.verdict) == str(sampled.verdict)
    assert float(np.max(summarise(np.moveaxis(sampled.to_arviz().posterior.to_array().values, 0, -1)).rhat)) < 1.02


def test_what_is_kept_is_of_the_whole_density() -> None:
    problem, x = Correlated(), np.random.default_rng(6).normal(size=(3, 5))
    archive = Archive.of(evaluations_of_potential(problem))
    root = np.eye(5)
    part = Part(Mode(Whitening(np.zeros(5), root), 0.0, 0.0), (Mode(Whitening(np.ones(5), root), 0.5, 0.0),))
    archive, (values, gradients) = replace(archive, part=part), part(x)
    exact = [problem.value_and_grad(row) for row in x]
    for one, (value, gradient), more, along in zip(archive.evaluate(x, "mode"), exact, values, gradients, strict=True):
        assert one.value == pytest.approx(value + more, rel=1e-12)
        assert one.gradient is not None
        np.testing.assert_allclose(one.gradient, gradient + along, rtol=1e-12)
        # A difference quotient is of the part; it is kept beside the gradient, as one of the whole.
        archive.keep_difference(one)
    potentials = archive.training().values
    np.testing.assert_allclose(archive.whole(x, potentials), [value for value, _ in exact], rtol=1e-12)
    kept = replace(archive, part=None).slopes()
    np.testing.assert_allclose(kept.values, [value for value, _ in exact] * 2, rtol=1e-12)
    np.testing.assert_allclose(kept.gradients, [gradient for _, gradient in exact] * 2, rtol=1e-12)


@pytest.mark.parametrize(("share", "one"), [(1e-9, False), (1e-20, True)])
def test_a_descent_that_ended_on_a_slope_is_no_mode(share: float, one: bool) -> None:
    """Of two normal densities 9 apart, the lower is a mode unless its share is below exp(-9^2 / 2) = 3e-18."""
    problem = Normals([1.0 - share, share], [[0, 0], [9, 0]], [1.0, 1.0])
    archive = Archive.of(evaluations_of(problem, 2))
    ends = [Mode(Whitening(mean, np.eye(2)), -problem(mean)[0], 0.0) for mean in problem.means]
    assert _joined(archive, ends[0], ends[1], DEFAULT.modes.step) is one
    assert _joined(archive, ends[1], ends[0], DEFAULT.modes.step) is one
