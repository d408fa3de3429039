"""Bends: bijections with exact Jacobians, found from gradients where a posterior is bent, and nowhere else."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from peers.known_laws import EightSchools, Funnel, KnownMoments, Law, LogGamma, TwistedGaussian

import rnshmc
from rnshmc.inference.bend import STRAIGHT, Bend, BentTransform, Layer
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.result.bends_told import coordinate_names, told
from rnshmc.inference.stages.bends import better_bend, no_bend
from rnshmc.inference.surrogate import matching
from rnshmc.inference.surrogate.centring import centring
from rnshmc.inference.surrogate.layered import Layered
from rnshmc.inference.surrogate.matching import Match, match, simplified
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.transforms import Transform, make_transform
from rnshmc.inference.tuning import DEFAULT
from rnshmc.inference.tuning_start import Bending
from rnshmc.types import Array, Potential
from tests.conftest import z_bound
from tests.inference.conftest import evaluations_of_potential
from tests.inference.problems import Correlated

EPS = float(np.finfo(np.float64).eps)
TUNING = DEFAULT.bending


def some_layer(rng: np.random.Generator, driver: int, dim: int = 4) -> Layer:
    shifts, scales = 0.5 * rng.standard_normal((3, dim)), 0.5 * rng.standard_normal((2, dim))
    shifts[:, driver] = scales[:, driver] = 0.0
    return Layer(driver, 0.3, 1.7, shifts, scales, np.ones(dim))


@pytest.fixture
def bend() -> Bend:
    rng = np.random.default_rng(1)
    return Bend((some_layer(rng, 0), some_layer(rng, 2)))


@pytest.fixture
def transform(bend: Bend) -> Transform:
    bounds = [None, "positive", "unit", (None, 4.0)]
    return BentTransform.of(make_transform(bounds, list("abcd")), bend)


def test_coordinates_bring_parameters_back(transform: Transform) -> None:
    y = np.random.default_rng(2).standard_normal((6, 4))
    # Scales are within exp(4) and x within 100 here, where the inverse of the bounds loses up to exp(|x|).
    theta = transform.parameters(y)
    assert ((theta > transform.low) & (theta < transform.high)).all()
    np.testing.assert_allclose(
        transform.parameters(transform.coordinates(theta)), theta, rtol=1e5 * EPS, atol=1e5 * EPS
    )


def test_the_log_jacobian_of_a_bend_is_that_of_its_derivative(bend: Bend) -> None:
    """Against central differences, whose error is of order h^2 and eps / h: 1e-7 at h = 1e-5, with room for scales."""
    step = 1e-5
    for y in np.random.default_rng(3).standard_normal((5, 4)):
        ahead, back = (bend.forward(y + sign * step * np.eye(4)) for sign in (1.0, -1.0))
        determinant = np.linalg.slogdet((ahead - back) / (2.0 * step))
        assert determinant[0] == 1.0
        assert bend.log_jacobians(y[None])[0] == pytest.approx(determinant[1], abs=1e-5)


def test_the_gradient_is_that_of_the_density_behind_the_bend(
    transform: Transform, assert_slope: Callable[..., None]
) -> None:
    rng = np.random.default_rng(4)
    weights = rng.standard_normal(4)

    def log_density(y: Array) -> float:
        return float(np.sin(transform.parameters(y)) @ weights) + transform.log_jacobian(y)

    for y in rng.standard_normal((5, 4)):
        gradient = transform.pulled_back(np.cos(transform.parameters(y)) * weights, y)
        direction = rng.standard_normal(4)
        assert_slope(log_density, float(gradient @ direction), y, direction, relative_error=1e-13)


def test_rows_are_treated_one_by_one(transform: Transform) -> None:
    rng = np.random.default_rng(5)
    y, gradients = rng.standard_normal((2, 3, 4)), rng.standard_normal((6, 4))
    rows = y.reshape(6, 4)
    for together, alone in (
        (transform.parameters(y)[1, 2], transform.parameters(y[1, 2])),
        (transform.log_jacobians(rows)[5], transform.log_jacobian(rows[5])),
        (transform.pulled_back(gradients, rows)[5], transform.pulled_back(gradients[5], rows[5])),
    ):
        np.testing.assert_allclose(together, alone, rtol=1e3 * EPS, atol=1e3 * EPS)


def test_the_normal_equations_are_those_of_the_derivatives_of_residuals() -> None:
    """Central differences, whose error is that of third derivatives times 1e-10, and rounding over 1e-5."""
    rng, step = np.random.default_rng(6), 1e-5
    points, gradients = rng.standard_normal((2, 5, 3))
    whitening = Whitening(rng.standard_normal(3), np.tril(rng.standard_normal((3, 3))) + 2.0 * np.eye(3))
    for driver in (None, 1):
        layered = Layered.of(points, gradients, whitening, driver, TUNING)
        at, weights = 0.3 * rng.standard_normal(len(layered.penalties)), rng.uniform(0.2, 1.0, 5)
        steps = step * np.eye(len(at))
        rises = [layered.residuals(at + one) - layered.residuals(at - one) for one in steps]
        jacobian = np.array(rises) / (2.0 * step)
        residuals = layered.residuals(at)
        matrix, slope = layered.normal_equations(at, residuals, weights)
        weighted = weights[:, None] * jacobian
        expected = np.einsum("pij,qij->pq", weighted, jacobian), np.einsum("pij,ij->p", weighted, residuals)
        np.testing.assert_allclose(matrix, expected[0], atol=1e-8 * np.abs(expected[0]).max())
        np.testing.assert_allclose(slope, expected[1], atol=1e-8 * np.abs(expected[1]).max())


def test_a_dozen_gradients_show_a_shear_and_a_conditional_scale() -> None:
    """The family holds both densities, but penalties pull, and a dozen gradients leave some of it open."""
    rng = np.random.default_rng(7)
    for problem, spread, slope, curve in ((TwistedGaussian(), 5.0, 0.0, -0.1), (Funnel(), 1.0, 0.5, 0.0)):
        points = rng.standard_normal((2 * problem.dim, problem.dim))
        points[:, 0] *= spread
        gradients = np.array([problem.gradient(point) for point in points])
        whitening = Whitening(np.zeros(problem.dim), np.diag([1.0 / spread, *[1.0] * (problem.dim - 1)]))
        layer = match(points, gradients, whitening, 0, TUNING).layer
        assert layer is not None
        assert layer.scales[0, 1] / layer.width == pytest.approx(slope, abs=0.1)
        assert layer.shifts[2, 1] / layer.width**2 == pytest.approx(curve, abs=0.01)


def archive_of(potential: Potential, points: Array) -> Archive:
    archive = Archive(evaluations_of_potential(potential), lambda _: None)
    archive.evaluate(points, "test")
    return archive


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


def test_one_simple_layer_that_cannot_be_fitted_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def raised_at_two(layer: Layer | None, points: Array, gradients: Array, tuning: Bending) -> Match:
        if layer is not None and layer.scales[0].max() == 2.0:
            raise np.linalg.LinAlgError("singular")
        return behind_given(layer, points, gradients, tuning)

    points = np.random.default_rng(9).standard_normal((20, 6))
    gradients = np.array([Funnel().gradient(point) for point in points])
    found = match(points, gradients, Whitening(np.zeros(6), np.eye(6)), 0, TUNING)
    behind_given = matching._behind_given
    monkeypatch.setattr(matching, "_behind_given", raised_at_two)
    simple = simplified(found, points, gradients, TUNING)
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


def test_no_centre_where_gradients_show_none() -> None:
    """Neither of independent parameters nor where the effects are apart from their mean already."""
    rng = np.random.default_rng(14)
    for problem in (LogGamma(), EightSchools(centred=False)):
        points = rng.standard_normal((45, problem.dim))
        gradients = np.array([problem.value_and_grad(point)[1] for point in points])
        assert centring(points, gradients, TUNING) is None
    assert centring(points, np.zeros(points.shape), TUNING) is None


def test_what_is_kept_of_a_bend_stays() -> None:
    """Points of a density without any bend take back a layer that is not kept, and none that is."""
    points = np.random.default_rng(11).standard_normal((60, 6))
    scales = np.zeros((2, 6))
    scales[0, 1:] = 0.5
    layers = [
        Layer(k, 0.0, 1.0, np.zeros((3, 6)), np.where(np.arange(6) == k, 0.0, scales), np.ones(6)) for k in (0, 1)
    ]
    kept, whitening = Bend((layers[0],)), Whitening(np.zeros(6), np.eye(6))
    for bend, left in ((Bend(tuple(layers)), kept), (kept, None)):
        archive = archive_of(Correlated(6), points)
        archive.go_over(bend)
        found = no_bend(archive, whitening, TUNING, height=np.inf, begun=whitening, kept=kept)
        assert (None if found is None else found.bend) is left


def test_a_bend_that_more_gradients_contradict_is_taken_back() -> None:
    """Sixty points of a density without a bend speak against that of a funnel, those of the funnel for it."""
    rng = np.random.default_rng(11)
    scales = np.zeros((2, 6))
    scales[0, 1:] = 0.5
    bend = Bend((Layer(0, 0.0, 1.0, np.zeros((3, 6)), scales, np.ones(6)),))
    whitening = Whitening(np.zeros(6), np.eye(6))
    for problem, taken_back in ((Correlated(6), True), (Funnel(), False)):
        archive = archive_of(problem, rng.standard_normal((60, 6)))
        archive.go_over(bend)
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


def test_a_bend_that_only_points_far_out_follow_is_taken_back() -> None:
    """There b exp(-s) is normal; all points together still show it."""
    rng, whitening, scales = np.random.default_rng(13), Whitening(np.zeros(3), np.eye(3)), np.zeros((2, 3))
    scales[0, :2] = 1.0
    bend = Bend((Layer(2, 0.0, 1.0, np.zeros((3, 3)), scales, np.ones(3)),))
    far = bend.forward(rng.standard_normal((40, 3)) * [3e3, 3e3, 1.0])
    near = [100.0, -100.0, 0.0] + rng.standard_normal((20, 3)) * [0.16, 0.16, 0.11]
    archive = archive_of(Regression(), np.concatenate((far, near)))
    archive.go_over(bend)
    found = [no_bend(archive, whitening, TUNING, height=height, begun=whitening) for height in (11.0, np.inf)]
    assert found[0] is not None
    assert not found[0].bend.layers
    assert found[1] is None


def test_an_archive_goes_over_with_all_that_it_has(bend: Bend) -> None:
    """Potentials and gradients of known points are those behind the bend, and come back as they were."""
    problem = Correlated(4)
    points = np.random.default_rng(10).standard_normal((5, 4))
    archive = archive_of(problem, points)
    before, spent = archive.training(), archive.spent
    archive.go_over(bend)
    behind = archive.training()
    np.testing.assert_allclose(bend.forward(behind.points), points, rtol=0, atol=1e3 * EPS)
    np.testing.assert_allclose(behind.values, before.values - bend.log_jacobians(behind.points), rtol=1e3 * EPS)
    archive.evaluate(behind.points, "test")
    assert archive.spent == spent
    archive.go_over(STRAIGHT)
    after = archive.training()
    for name in ("points", "values", "gradients"):
        np.testing.assert_allclose(getattr(after, name), getattr(before, name), rtol=0, atol=1e4 * EPS)


def test_points_that_a_bend_moves_beyond_all_numbers_are_left_out_behind_it() -> None:
    scales = np.zeros((2, 6))
    scales[0, 1:] = 0.5
    bend = Bend((Layer(0, 0.0, 1.0, np.zeros((3, 6)), scales, np.ones(6)),))
    points = np.ones((3, 6))
    points[:, 0] = 1.0, -200.0, -5000.0
    archive = archive_of(Correlated(6), points)
    archive.go_over(bend)
    assert len(archive.training().points) == 2
    assert len(archive.straight().points) == 3


@pytest.mark.parametrize(
    ("problem", "log_evidence", "units", "largest"),
    [
        (TwistedGaussian(), 5.0 * np.log(2.0 * np.pi) + np.log(10.0), 400, 1500),
        (Funnel(), 3.0 * np.log(2.0 * np.pi) + np.log(3.0), 600, 2000),
    ],
    ids=["twisted", "funnel"],
)
def test_bent_posteriors_are_sampled_for_hundreds_of_units(
    problem: KnownMoments, log_evidence: float, units: int, largest: int
) -> None:
    """Two seeds; which of them is the slow one, if any is, rounding decides."""
    found = [_sampled_rightly(problem, log_evidence, seed) for seed in (1, 2)]
    assert min(found) <= units
    assert max(found) <= largest


def _sampled_rightly(problem: KnownMoments, log_evidence: float, seed: int) -> int:
    """Units that it took.

    Means and the driver's variance are right; those of the others are of variables with long tails. The evidence is
    that of x.
    """
    start = 0.1 * np.random.default_rng(seed).standard_normal(problem.dim)
    names = [f"x{k}" for k in range(problem.dim)]
    result = rnshmc.sample(problem, start, seed=seed, names=names, progress_bar=False)
    assert result.outcome.method == "surrogate"
    bound, sd = z_bound(problem.dim), np.sqrt(problem.variance)
    assert np.all(np.abs(result.mean.value) < bound * result.mean.standard_error + 0.05 * sd)
    assert np.all(result.mean.standard_error < 0.2 * sd)
    assert result.sd.value[0] == pytest.approx(sd[0], rel=0.1)
    error = abs(result.log_evidence.value - log_evidence)
    assert error < bound * result.log_evidence.standard_error + 0.02
    densities = [-problem.value(x) for x in result.chains[0, :5]]
    np.testing.assert_allclose(result.log_densities[0, :5], densities, rtol=0, atol=1e-8)
    assert "x0" in str(result.verdict)
    return result.spent.units


def test_the_verdict_tells_a_bend_in_the_names_of_the_user() -> None:
    scales, shifts = np.zeros((2, 4)), np.zeros((3, 4))
    scales[0, 1:3] = 1.5
    shifts[2, 3] = 7.0
    names = coordinate_names(["tau", "b1", "b2", "a"], make_transform(["positive", None, None, None], list("tbba")))
    sentences = list(told(Bend((Layer(0, 0.0, 3.0, shifts, scales, np.ones(4)),)), names))
    assert sentences[0].startswith("b1 and b2 scale with exp(0.5 t), t = the log of tau:")
    assert sentences[1:] == ["a curve along the log of tau."]


def test_a_run_resumes_behind_its_bends(tmp_path: Path) -> None:
    """Bends follow from the evaluations alone: the second call asks for the same points, and evaluates one anew."""
    start = np.full(10, 0.1)
    first, second = (
        rnshmc.sample(TwistedGaussian(), start, draws=200, filepath=tmp_path / "evaluations.jsonl", progress_bar=False)
        for _ in range(2)
    )
    assert first.outcome.bend.layers
    np.testing.assert_array_equal(first.draws, second.draws)
    assert second.spent.values <= 1
