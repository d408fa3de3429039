"""A bend is taken, and withdrawn, by gradients: where a posterior is bent, and nowhere else."""

from pathlib import Path

import numpy as np
import pytest
from peers.hierarchies import EightSchools
from peers.known_laws import Funnel, Law, LogGamma, TwistedGaussian

import rnshmc
from rnshmc.inference.exact.archive import Training
from rnshmc.inference.stages.bends import better_bend, no_bend
from rnshmc.inference.surrogate import matching
from rnshmc.inference.surrogate.layered import Layered, centring, robust_weights
from rnshmc.inference.surrogate.matching import Candidate, Match
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import DEFAULT, Bending, Fitting
from rnshmc.inference.warp import STRAIGHT, Warp, WarpLayer
from rnshmc.types import Array
from tests.inference.conftest import archive_of
from tests.inference.problems import Correlated

EPS = float(np.finfo(np.float64).eps)
TUNING = DEFAULT.bending


def test_the_normal_equations_are_those_of_the_derivatives_of_residuals() -> None:
    """Central differences, whose error is that of third derivatives times 1e-10, and rounding over 1e-5."""
    rng, step = np.random.default_rng(6), 1e-5
    points, gradients = rng.standard_normal((2, 5, 3))
    seen = Training(points, np.zeros(5), gradients)
    whitening = Whitening(rng.standard_normal(3), np.tril(rng.standard_normal((3, 3))) + 2.0 * np.eye(3))
    for driver in (None, 1):
        layered = Layered.of(seen, whitening, driver, TUNING)
        at = 0.3 * rng.standard_normal(len(layered.penalties))
        pairs = [(at + one, at - one) for one in step * np.eye(len(at))]
        changes = [layered.residuals(ahead) - layered.residuals(back) for ahead, back in pairs]
        jacobian = np.array(changes) / (2.0 * step)
        weighted = robust_weights(layered.residuals(at))[:, None] * jacobian
        expected = np.einsum("pij,qij->pq", weighted, jacobian) + np.diag(layered.penalties)
        matrix, slope = layered.normal_equations(at)
        np.testing.assert_allclose(matrix, expected, rtol=0, atol=1e-8 * np.abs(expected).max())
        rises = np.array([layered.total(ahead) - layered.total(back) for ahead, back in pairs])
        np.testing.assert_allclose(slope, rises / (2.0 * step), rtol=0, atol=1e-8 * np.abs(expected).max())


def candidate(problem: Law, points: Array) -> Candidate:
    """Points and gradients of a density, and the first coordinate as a driver."""
    gradients = np.array([problem.gradient(point) for point in points])
    return Candidate(STRAIGHT, Training(points, np.zeros(len(points)), gradients), 0)


def test_a_dozen_gradients_show_a_shear_and_a_conditional_scale() -> None:
    """The family holds both densities, but penalties bias it, and a dozen gradients determine it in part."""
    rng = np.random.default_rng(7)
    for problem, spread, slope, curve in ((TwistedGaussian(), 5.0, 0.0, -0.1), (Funnel(), 1.0, 0.5, 0.0)):
        points = rng.standard_normal((2 * problem.dim, problem.dim))
        points[:, 0] *= spread
        whitening = Whitening(np.zeros(problem.dim), np.diag([1.0 / spread, *[1.0] * (problem.dim - 1)]))
        layer = candidate(problem, points).matched(whitening, TUNING).layer
        assert layer is not None
        assert layer.scales[0, 1] / layer.width == pytest.approx(slope, abs=0.1)
        assert layer.shifts[2, 1] / layer.width**2 == pytest.approx(curve, abs=0.01)


def test_no_bend_is_taken_where_gradients_show_none() -> None:
    """A normal density leaves nothing to explain; skewed margins that are independent have no driver."""
    rng = np.random.default_rng(8)
    for problem, mean, sd in ((Correlated(), 0.0, 1.0), (LogGamma(), 0.9, 0.6)):
        for count in (12, 40):
            points = mean + sd * rng.standard_normal((count, problem.dim))
            whitening = Whitening(np.full(problem.dim, mean), np.eye(problem.dim) / sd)
            assert better_bend(archive_of(problem, points), whitening, TUNING) is None


def test_a_bend_is_taken_where_held_out_gradients_show_it() -> None:
    points = np.random.default_rng(9).standard_normal((20, 6))
    found = better_bend(archive_of(Funnel(), points), Whitening(np.zeros(6), np.eye(6)), TUNING)
    assert found is not None
    assert [layer.driver for layer in found.bend.layers] == [0]


def centred_schools(rng: np.random.Generator, count: int) -> Array:
    """Points of a centred hierarchy, x_0 to x_7 within tau = exp(x_9) of mu = x_8, with tau below its errors."""
    log_tau, mu = rng.uniform(-5.0, 1.0, count), 3.0 * rng.standard_normal(count)
    effects = mu[:, None] + np.exp(log_tau)[:, None] * rng.standard_normal((count, 8))
    return np.column_stack((effects, mu, log_tau))


def test_a_simple_layer_that_cannot_be_fitted_does_not_prevent_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def raised_at_two(layer: WarpLayer | None, seen: Training, tuning: Bending) -> Match:
        if layer is not None and layer.scales[0].max() == 2.0:
            raise np.linalg.LinAlgError("singular")
        return match_given(layer, seen, tuning)

    funnel = candidate(Funnel(), np.random.default_rng(9).standard_normal((20, 6)))
    found = funnel.matched(Whitening(np.zeros(6), np.eye(6)), TUNING)
    match_given = matching.match_given
    monkeypatch.setattr(matching, "match_given", raised_at_two)
    simple = funnel.simplified(found, TUNING)
    assert simple is not None
    assert simple.layer is not None
    assert simple.layer.scales[0].tolist() == [0.0, 0.5, 0.5, 0.5, 0.5, 0.5]


def test_a_centred_hierarchy_is_not_centred_behind_its_bend() -> None:
    """The bend is theta = mu + tau eta to the last digit, so that it is right far from the points, too."""
    points = centred_schools(np.random.default_rng(12), 45)
    units = Whitening(points.mean(axis=0), np.diag(1.0 / points.std(axis=0)))
    found = better_bend(archive_of(EightSchools(centred=True), points), units, TUNING)
    assert found is not None
    assert found.kept is found.bend
    eta = np.random.default_rng(13).standard_normal((5, 10))
    eta[:, 9] = np.linspace(-9.0, 3.0, 5)
    theta = eta[:, 8:9] + np.exp(eta[:, 9:]) * eta[:, :8]
    np.testing.assert_allclose(found.bend.forward(eta)[:, :8], theta, rtol=1e2 * EPS, atol=1e2 * EPS)
    np.testing.assert_array_equal(found.bend.forward(eta)[:, 8:], eta[:, 8:])


def test_the_centre_of_a_hierarchy_is_the_one_around_which_effects_are_independent() -> None:
    """Where a descent has been, the mean is nearly that of the effects: gradients by it are small, and an effect may
    stand for it as well."""
    rng = np.random.default_rng(15)
    points = centred_schools(rng, 45)
    points[:, 9] = rng.uniform(-5.0, -2.0, 45)
    deviations = rng.standard_normal((45, 8)) * [3.0, *[1.0] * 7]
    deviations -= 0.7 * deviations.mean(axis=1)[:, None]
    points[:, :8] = points[:, 8:9] + np.exp(points[:, 9:]) * deviations
    schools, units = EightSchools(centred=True), Whitening(points.mean(axis=0), np.diag(1.0 / points.std(axis=0)))
    gradients = np.array([schools.gradient(point) for point in points])
    apparent = centring(points, gradients, TUNING)
    assert apparent is not None
    assert apparent.driver != 8
    found = better_bend(archive_of(schools, points), units, TUNING)
    assert found is not None
    assert [layer.driver for layer in found.bend.layers] == [8, 9]
    assert found.bend.layers[1].scales[0].tolist() == [1.0] * 8 + [0.0] * 2


class Binomials(Law):
    """Six of ten each, with logits b_j ~ N(0, exp(s)^2), and s ~ N(0, 1): far from 0 only b_j itself bounds a slope."""

    dim = 7

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        b, s = q[:6], q[6]
        precision = np.exp(-2.0 * s)
        squares = precision * float(b @ b)
        value = 0.5 * squares + 6.0 * s + 0.5 * s * s + float((10.0 * np.logaddexp(0.0, b) - 6.0 * b).sum())
        return value, np.array([*(precision * b + 10.0 / (1.0 + np.exp(-b)) - 6.0), 6.0 + s - squares])


def test_gradients_far_up_hide_no_bend(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gradients of binomials are bounded there, and no coordinates make them normal."""
    rng = np.random.default_rng(16)
    near, far = (np.column_stack((rng.standard_normal((40, 6)), rng.uniform(*ends, 40))) for ends in ((-3, 0), (2, 4)))
    near[:, :6] *= np.exp(near[:, 6:])
    far[:, :6] *= 100.0
    archive, units = archive_of(Binomials(), np.concatenate((near, far))), Whitening(np.zeros(7), np.eye(7))
    found = better_bend(archive, units, TUNING)
    assert found is not None
    assert [layer.driver for layer in found.bend.layers] == [6]
    monkeypatch.setattr(Fitting, "plausible_height", lambda *_: np.inf)
    assert better_bend(archive, units, TUNING) is None


def test_no_centre_where_gradients_show_none() -> None:
    """Neither for independent parameters nor for effects that are deviations from their mean already."""
    rng = np.random.default_rng(14)
    for problem in (LogGamma(), EightSchools(centred=False)):
        points = rng.standard_normal((45, problem.dim))
        gradients = np.array([problem.value_and_grad(point)[1] for point in points])
        assert centring(points, gradients, TUNING) is None
    assert centring(points, np.zeros(points.shape), TUNING) is None


def test_the_kept_part_of_a_bend_stays() -> None:
    """Points of a density without any bend withdraw a layer that is not kept, and none that is."""
    points = np.random.default_rng(11).standard_normal((60, 6))
    scales = np.zeros((2, 6))
    scales[0, 1:] = 0.5
    layers = [
        WarpLayer(k, 0.0, 1.0, np.zeros((3, 6)), np.where(np.arange(6) == k, 0.0, scales), np.ones(6)) for k in (0, 1)
    ]
    kept, whitening = Warp((layers[0],)), Whitening(np.zeros(6), np.eye(6))
    for bend, left in ((Warp(tuple(layers)), kept), (kept, None)):
        archive = archive_of(Correlated(6), points).seen(bend)
        found = no_bend(archive, whitening, TUNING, height=np.inf, begun=whitening, kept=kept)
        assert (None if found is None else found.bend) is left


def test_a_bend_that_more_gradients_contradict_is_withdrawn() -> None:
    """Sixty points of a density without a bend contradict the bend of a funnel; points of the funnel support it."""
    rng = np.random.default_rng(11)
    scales = np.zeros((2, 6))
    scales[0, 1:] = 0.5
    bend = Warp((WarpLayer(0, 0.0, 1.0, np.zeros((3, 6)), scales, np.ones(6)),))
    whitening = Whitening(np.zeros(6), np.eye(6))
    for problem, taken_back in ((Correlated(6), True), (Funnel(), False)):
        archive = archive_of(problem, rng.standard_normal((60, 6))).seen(bend)
        found = no_bend(archive, whitening, TUNING, height=np.inf, begun=whitening)
        assert (found is not None) == taken_back
    empty = archive_of(Funnel(), np.zeros((1, 6)))
    assert no_bend(empty, whitening, TUNING, height=np.inf, begun=whitening) is None


class Regression(Law):
    """y_i ~ N(b_1 x_i1 + b_2 x_i2, exp(s)^2), flat in b and s: nearly normal at its mode, a funnel far from it."""

    dim = 3

    def __init__(self) -> None:
        rng = np.random.default_rng(12)
        self.x = rng.standard_normal((40, 2))
        self._y: Array = self.x @ [100.0, -100.0] + rng.standard_normal(40)

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        left, precision = self._y - self.x @ q[:2], np.exp(-2.0 * q[2])
        squares = precision * float(left @ left)
        return 0.5 * squares + 40.0 * q[2], np.array([*(-precision * left @ self.x), 40.0 - squares])


def test_a_bend_that_only_points_far_out_follow_is_withdrawn() -> None:
    """There b exp(-s) is normal; all points together still show it."""
    rng, whitening, scales = np.random.default_rng(13), Whitening(np.zeros(3), np.eye(3)), np.zeros((2, 3))
    scales[0, :2] = 1.0
    bend = Warp((WarpLayer(2, 0.0, 1.0, np.zeros((3, 3)), scales, np.ones(3)),))
    far = bend.forward(rng.standard_normal((40, 3)) * [3e3, 3e3, 1.0])
    near = [100.0, -100.0, 0.0] + rng.standard_normal((20, 3)) * [0.16, 0.16, 0.11]
    archive = archive_of(Regression(), np.concatenate((far, near))).seen(bend)
    found = [no_bend(archive, whitening, TUNING, height=height, begun=whitening) for height in (11.0, np.inf)]
    assert found[0] is not None
    assert not found[0].bend.layers
    assert found[1] is None


def test_a_run_resumes_behind_its_bends(tmp_path: Path) -> None:
    """Bends follow from the evaluations alone: the second call asks for the same points, and evaluates one anew."""
    start = np.full(4, 0.1)
    first, second = (
        rnshmc.sample(TwistedGaussian(4), start, draws=200, filepath=tmp_path / "evaluations.jsonl", progress_bar=False)
        for _ in range(2)
    )
    assert first.outcome.bend.layers
    np.testing.assert_array_equal(first.draws, second.draws)
    assert second.spent.values <= 1
