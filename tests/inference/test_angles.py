"""Angles: periodic densities across the ends of their interval, around the circle, and with several modes."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import i0e, ive

import rnshmc
from rnshmc.errors import ParameterError
from rnshmc.inference.angles import Angles
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.density import Density
from rnshmc.inference.exact.evaluations import Evaluations
from rnshmc.inference.exact.pools import make_workers
from rnshmc.inference.exact.priors.making import make_prior
from rnshmc.inference.stages.descent import Mode
from rnshmc.inference.stages.parts import of_part
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.transforms import make_transform
from rnshmc.types import Array

TURN = 2.0 * np.pi
TIMES = np.linspace(0.0, 6.0, 30)
NOISE = 0.15
NAMES = ("amplitude", "decay", "phase")
# An sd of 1 allows the same sine with a negative amplitude and the opposite phase: 5% of the posterior.
SD = 0.3
PRIOR = {"amplitude": ("normal", 1.0, SD), "decay": ("lognormal", -1.0, 0.7), "phase": ("uniform_angle", 0.0, TURN)}
START = (1.0, 0.4, 5.5)
Z = 4.5
"""Bound of a standardised error."""


def damped(x: Array) -> Array:
    """A damped sine; it refuses a phase outside of its interval."""
    if not 0.0 <= x[2] < TURN:
        raise ValueError(f"phase {x[2]}")
    return np.asarray(x[0] * np.exp(-x[1] * TIMES) * np.sin(2.0 * TIMES + x[2]))


DATA = damped(np.array([1.5, 0.3, 0.3])) + NOISE * np.random.default_rng(5).normal(size=30)


def log_damped(x: Array) -> tuple[float, Array]:
    """The same posterior as a density."""
    a, d, _ = x
    if not d > 0.0:
        return -np.inf, np.zeros(3)
    outputs, shape = damped(x), np.exp(-d * TIMES)
    slopes = np.array([outputs / a, -TIMES * outputs, a * shape * np.cos(2.0 * TIMES + x[2])])
    left, log_d = (DATA - outputs) / NOISE, np.log(d) + 1.0
    value = stats.norm.logpdf(left).sum() - 30.0 * np.log(NOISE) - np.log(TURN)
    value += stats.norm.logpdf(a, 1.0, SD) + stats.norm.logpdf(log_d, 0.0, 0.7) - np.log(d)
    own = np.array([(1.0 - a) / SD**2, -(log_d / 0.49 + 1.0) / d, 0.0])
    return float(value), slopes @ left / NOISE + own


def quadrature(sd: float = SD, sign: float = 1.0) -> tuple[float, Array, Array]:
    """Log evidence, means and sds of the damped sine, the phase in the period around 0.3.

    With the sign -1, of the same sine with a negative amplitude and the opposite phase.
    """
    a, d = np.linspace(0.8, 2.3, 76), np.linspace(0.1, 0.65, 56)
    # The posterior is across 0 and ends far from half a period away, where the log density is hundreds below.
    p = np.linspace(-0.3, 0.8, 111)
    shapes = np.exp(-d[:, None] * TIMES)[:, None] * np.sin(2.0 * TIMES + p[:, None])
    misfit = (DATA**2).sum() - 2.0 * a[:, None, None] * (shapes @ DATA) + a[:, None, None] ** 2 * (shapes**2).sum(-1)
    logs = -0.5 * misfit / NOISE**2 - 30.0 * (np.log(NOISE) + 0.5 * np.log(TURN)) - np.log(TURN)
    logs += (
        stats.norm.logpdf(sign * a, 1.0, sd)[:, None, None] + stats.lognorm(0.7, scale=np.exp(-1.0)).logpdf(d)[:, None]
    )
    weights = np.exp(logs - logs.max())
    steps = (a[1] - a[0]) * (d[1] - d[0]) * (p[1] - p[0])
    evidence = float(logs.max() + np.log(weights.sum() * steps))
    sums = zip((a, d, p), ((1, 2), (0, 2), (0, 1)), strict=True)
    marginals = [(grid, weights.sum(axis=axes) / weights.sum()) for grid, axes in sums]
    means = np.array([mass @ grid for grid, mass in marginals])
    pairs = zip(marginals, means, strict=True)
    return evidence, means, np.array([np.sqrt(mass @ (grid - mean) ** 2) for (grid, mass), mean in pairs])


def assert_right(result: rnshmc.Result, evidence: float, means: Array, sds: Array) -> None:
    assert result.verdict.level == "good"
    assert abs(result.log_evidence.value - evidence) < 4.0 * result.log_evidence.standard_error
    for found, exact in ((result.mean, means), (result.sd, sds)):
        assert (np.abs(found.value - exact) < Z * found.standard_error).all()
        assert (found.standard_error < 0.1 * sds).all()
    # The draws have the errors of half as many independent ones.
    assert (np.abs(result.draws.mean(axis=0) - means) < Z * sds / np.sqrt(len(result.draws) / 2)).all()


def sampled(target: Any, x0: Any, bounds: Any, **settings: Any) -> rnshmc.Result:
    return rnshmc.sample(target, x0, bounds=bounds, progress_bar=False, **{"draws": 400, **settings})


@pytest.fixture(scope="module")
def sine() -> rnshmc.Result:
    model = rnshmc.Model(damped, DATA, likelihood=rnshmc.Gaussian(NOISE), prior=PRIOR)
    return rnshmc.sample(model, START, draws=400, progress_bar=False)


def test_the_phase_of_a_damped_sine_is_found_across_zero(sine: rnshmc.Result) -> None:
    assert_right(sine, *quadrature())
    assert sine.names == NAMES
    assert sine.outcome.modes[0].point[2] > TURN  # the descent from 5.5 crossed the cut
    assert sine.spent.units < 100
    _, means, sds = quadrature()
    [start] = re.findall(r"phase is an angle, reported from (\S+) to", str(sine))
    assert abs(float(start) - (means[2] - np.pi)) < sds[2]
    low, high = sine.quantile([0.05, 0.95], lambda theta: theta[:, 2]).value
    assert -np.pi < low < sine.mean.value[2] < high < np.pi


def test_the_opposite_phase_is_another_mode_where_the_prior_allows_it() -> None:
    prior = {**PRIOR, "amplitude": ("normal", 1.0, 1.0)}
    model = rnshmc.Model(damped, DATA, likelihood=rnshmc.Gaussian(NOISE), prior=prior)
    result = rnshmc.sample(model, START, draws=400, progress_bar=False)
    same, opposite = (quadrature(1.0, sign)[0] for sign in (1.0, -1.0))
    evidence = np.logaddexp(same, opposite)
    assert result.verdict.level == "good"
    assert abs(result.log_evidence.value - evidence) < 4.0 * result.log_evidence.standard_error
    share = min((mode.share for mode in result.outcome.modes), key=lambda share: share.value)
    assert abs(share.value - np.exp(opposite - evidence)) < 4.0 * share.standard_error


def test_images_of_points_reach_half_a_period_beyond_the_ends() -> None:
    points = np.array([[5.0, 1.0], [5.0, 6.0]])
    places, rows = Angles.of({1: (0.0, TURN)}, 2).with_images(points)
    assert rows.tolist() == [0, 1, 1, 0]
    np.testing.assert_allclose(places, [[5.0, 1.0], [5.0, 6.0], [5.0, 6.0 - TURN], [5.0, 1.0 + TURN]])


def test_a_saved_result_has_its_angles(sine: rnshmc.Result, tmp_path: Path) -> None:
    sine.save(tmp_path / "sine.nc")
    loaded = rnshmc.load(tmp_path / "sine.nc")
    np.testing.assert_array_equal(loaded.draws, sine.draws)
    np.testing.assert_array_equal(loaded.mean.value, sine.mean.value)
    np.testing.assert_array_equal(loaded.resample(10), sine.resample(10))
    assert str(loaded) == str(sine)


def test_the_same_phase_is_found_in_a_density(assert_slope: Callable[..., None]) -> None:
    x, direction = np.array(START), np.array([0.6, 0.0, -0.8])
    assert_slope(lambda y: log_damped(y)[0], log_damped(x)[1] @ direction, x, direction)
    bounds = {"decay": "positive", "phase": "angle"}
    assert_right(sampled(log_damped, dict(zip(NAMES, START, strict=True)), bounds), *quadrature())


def von_mises(concentrations: Any, centre: float) -> Callable[[Array], tuple[float, Array]]:
    """Independent angles; the density is zero outside of [-pi, pi)."""
    kappa = np.atleast_1d(np.asarray(concentrations, dtype=np.float64))

    def log_density(x: Array) -> tuple[float, Array]:
        if not ((x >= -np.pi) & (x < np.pi)).all():
            return -np.inf, np.zeros(len(x))
        return float(kappa @ (np.cos(x - centre) - 1.0)), -kappa * np.sin(x - centre)

    return log_density


def moments_of_von_mises(kappa: Array) -> tuple[float, Array]:
    """Log of the integral, and sds: E x^2 = pi^2 / 3 + 4 sum_j (-1)^j I_j(kappa) / (j^2 I_0(kappa)) at a mode at 0."""
    j = np.arange(1, 60)[:, None]
    squares = np.pi**2 / 3.0 + 4.0 * ((-1.0) ** j * ive(j, kappa) / j**2).sum(axis=0) / i0e(kappa)
    return float(np.log(TURN * i0e(kappa)).sum()), np.sqrt(squares)


CIRCLE = ("angle", -np.pi, np.pi)


def test_two_wide_angles_have_their_mode_at_the_cut() -> None:
    kappa = np.array([1.5, 6.0])
    result = sampled(von_mises(kappa, np.pi), [2.0, -2.5], [CIRCLE, CIRCLE])
    evidence, sds = moments_of_von_mises(kappa)
    # The mode is either end, and the period in which an angle is reported is centred there.
    nearest = np.pi * np.sign(result.mean.value)
    assert_right(result, evidence, nearest, sds)


def test_an_angle_all_around_the_circle_is_marked() -> None:
    result = sampled(von_mises(0.05, 1.0), [2.0], [CIRCLE])
    evidence, _ = moments_of_von_mises(np.array([0.05]))
    assert abs(result.log_evidence.value - evidence) < 4.0 * result.log_evidence.standard_error
    assert "! x0 is spread around the whole circle (mean resultant length 0.0" in str(result.verdict)


def two_modes(x: Array) -> tuple[float, Array]:
    if not 0.0 <= x[0] < TURN:
        raise ValueError(f"angle {x[0]}")
    centres = np.array([0.1, np.pi])
    parts = np.array([0.6, 0.4]) * np.exp(15.0 * (np.cos(x[0] - centres) - 1.0))
    return float(np.log(parts.sum())), np.atleast_1d(-(15.0 * parts * np.sin(x[0] - centres)).sum() / parts.sum())


def test_two_modes_on_a_circle_have_their_shares() -> None:
    result = sampled(two_modes, [[5.9], [3.5]], ["angle"])
    evidence, _ = moments_of_von_mises(np.array([15.0]))
    assert abs(result.log_evidence.value - evidence) < 4.0 * result.log_evidence.standard_error
    shares = sorted((float(mode.share.value), float(mode.share.standard_error)) for mode in result.outcome.modes)
    # The division into parts moves less than 1e-4 of the mass between two modes that are 3 apart.
    for (share, error), exact in zip(shares, (0.4, 0.6), strict=True):
        assert abs(share - exact) < 4.0 * error + 1e-4
    # The period is centred at the more probable mode: the other one is at both ends.
    assert abs(float((np.abs(result.draws) > 1.6).mean()) - 0.4) < Z * np.sqrt(0.24 / 200)


def test_a_mode_is_found_again_a_period_away() -> None:
    # The first start is moved into the interval, by two periods.
    result = sampled(von_mises(15.0, 3.0), [[2.0 + 2.0 * TURN], [-2.5], [-3.1]], [CIRCLE])
    [mode] = result.outcome.modes
    assert abs(mode.point[0] - 3.0) < 0.1
    evidence, sds = moments_of_von_mises(np.array([15.0]))
    assert_right(result, evidence, np.array([3.0]), sds)


def test_resuming_and_rows_in_one_call_give_the_same_draws(tmp_path: Path) -> None:
    target, asked = von_mises(15.0, 3.0), list[float]()

    def counted(x: Array) -> tuple[float, Array]:
        asked.append(float(x[0]))
        return target(x)

    first = sampled(counted, [-2.5], [CIRCLE], filepath=tmp_path / "runs.jsonl", draws=100)
    made = len(asked)
    again = sampled(counted, [-2.5], [CIRCLE], filepath=tmp_path / "runs.jsonl", draws=100)
    assert len(asked) == made + 1
    np.testing.assert_array_equal(again.draws, first.draws)
    assert min(asked) >= -np.pi
    assert max(asked) < np.pi

    def rows(points: Array) -> tuple[Array, Array]:
        found = [target(x) for x in points]
        return np.array([value for value, _ in found]), np.array([slope for _, slope in found])

    np.testing.assert_array_equal(sampled(rows, [-2.5], [CIRCLE], vectorize=True, draws=100).draws, first.draws)


def test_starts_are_drawn_from_the_interval() -> None:
    drawn = sampled(von_mises(15.0, 3.0), None, [CIRCLE], draws=100)
    assert drawn.outcome.starts == 4
    assert len(drawn.outcome.modes) == 1


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        (("angle", 0.0, None), r"bounds of x0: an angle has two finite ends"),
        (("angle", 2.0, 1.0), r"bounds of x0: an angle has two finite ends"),
        (("angle", 0.0), r"bounds of x0: an angle has two finite ends"),
        ("angel", r"expected one of positive, unit, real, angle, got 'angel'"),
    ],
)
def test_ends_that_make_no_circle_are_refused(bounds: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        sampled(von_mises(15.0, 3.0), [1.0], [bounds])


@pytest.mark.parametrize(
    ("prior", "bounds", "message"),
    [
        (("uniform_angle", 0.0, TURN), (0.0, None), r"bounds of x0: by its prior it is an angle from 0 to 6.28319"),
        (("uniform_angle", 0.0, 1.0), "angle", r"bounds of x0: by its prior it is an angle from 0 to 1"),
        (("uniform", 0.0, 1.0), "angle", r"prior of x0: it has the bounds \(0.0, 1.0\), but x0 is an angle from 0"),
        (("uniform_angle", 1.0, 0.0), None, r"prior of x0: expected low < high"),
    ],
)
def test_a_prior_and_bounds_that_disagree_are_refused(prior: Any, bounds: Any, message: str) -> None:
    model = rnshmc.Model(np.sin, [0.0], likelihood=rnshmc.Gaussian(1.0), prior={"x0": prior})
    with pytest.raises(ParameterError, match=message):
        sampled(model, [1.0], [bounds])


def test_a_uniform_angle_is_a_constant_on_the_line() -> None:
    prior = make_prior({"phase": ("uniform_angle", -1.0, 3.0)}, ["phase"])
    values, slopes = prior.potential(np.array([[-1.0], [2.0], [77.0]]))
    np.testing.assert_array_equal(values, np.log(4.0))
    assert not slopes.any()
    assert prior.bounds == {}
    assert prior.angles == {0: (-1.0, 3.0)}
    draws = prior.draws(np.random.default_rng(1), 1000)
    assert draws is not None
    assert draws.min() >= -1.0
    assert draws.max() < 3.0
    assert draws.max() - draws.min() > 3.9  # but for 1000 draws in 97.5% of the interval: 1e-11


def test_wrapping_changes_nothing_inside_and_stays_inside() -> None:
    angles = Angles.of({1: (0.0, TURN)}, 3)
    inside = np.array([[9.0, 1.0, -9.0], [9.0, 0.0, -9.0], [9.0, np.nextafter(TURN, 0.0), -9.0]])
    np.testing.assert_array_equal(angles.wrapped(inside), inside)
    for phase in (-1e-20, TURN, -TURN, 1e6, np.nextafter(0.0, -1.0)):
        there = angles.wrapped(np.array([9.0, phase, -9.0]))[1]
        assert 0.0 <= there < TURN
        assert abs(np.exp(1j * there) - np.exp(1j * phase)) < 1e-9


@pytest.mark.parametrize(("width", "count"), [(0.05, 2), (0.4, 1), (0.4, 2), (1.0, 1), (1.0, 2), (5.0, 2), (1e4, 1)])
def test_parts_of_all_modes_and_periods_add_up_to_one(width: float, count: int) -> None:
    """At draws of normal modes on circles, over modes and periods: so the integral over the line is that over circles.

    A draw three standard deviations out may be nearer to an image that is more than two periods away, along a ridge.
    """
    transform = make_transform({"a": "angle", "b": ("angle", -1.0, 1.0)}, ("a", "b", "c"))
    evaluable = Density(lambda x: -0.5 * float(x @ x))
    archive = Archive.of(Evaluations(make_workers(None, evaluable, time_limit=None), transform))
    rng = np.random.default_rng(1)
    root = np.linalg.cholesky(np.cov(rng.standard_normal((3, 9))) / width**2)
    modes = [Mode(Whitening(np.array(at), root), 0.0, 0.0) for at in ([0.1, 0.9, 0.0], [3.0, 0.0, 1.0])][:count]
    turns = [np.array([i * TURN, 2.0 * j, 0.0]) for i in range(-4, 5) for j in range(-4, 5)]
    draws = np.concatenate([mode.whitening.unwhiten(rng.standard_normal((30, 3))) for mode in modes])
    x, sums = transform.wrapped(draws), np.zeros(len(draws))
    for mode in modes:
        part = of_part(archive, mode, [other for other in modes if other is not mode]).part
        assert part is not None
        sums += sum(np.exp(-part(x + turn)[0]) for turn in turns)
    assert abs(sums.mean() - 1.0) < 2e-4
    assert np.abs(sums - 1.0).max() < 1e-2
