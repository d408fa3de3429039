"""A process along few directions of many."""

from dataclasses import replace

import numpy as np
import pytest

from rnshmc.inference.exact.archive import Training
from rnshmc.inference.result.verdict import judge
from rnshmc.inference.surrogate.gradient_kernel import LENGTHS, GradientKernel
from rnshmc.inference.surrogate.learning import Subspace, SubspaceKernel, learnt
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import DEFAULT
from rnshmc.random import stream
from tests.inference.problems import LogGammaInside
from tests.inference.runs import sampled, within


def training(dim: int, inside: int, n: int) -> tuple[Training, Whitening, LogGammaInside]:
    """Points of N(m, I) with m the mean, whitened by the law's covariance along each direction."""
    law = LogGammaInside(dim, inside)
    whitening = law.whitening
    points = whitening.unwhiten(stream(8, "points", str(dim)).standard_normal((n, dim)))
    rows = [law.value_and_grad(x) for x in points]
    values, gradients = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    return Training(points, values, gradients, None), whitening, law


def fitted(dim: int, inside: int, n: int) -> tuple[GradientKernel | SubspaceKernel, Whitening, LogGammaInside, float]:
    near, whitening, law = training(dim, inside, n)
    offset = float(near.values.min())
    kernel = learnt(near, whitening, offset, stream(9, "fit"), DEFAULT.fitting, like=None, lengths=LENGTHS)
    return kernel, whitening, law, offset


def test_the_directions_in_which_a_density_is_not_normal_are_found() -> None:
    kernel, whitening, law, _ = fitted(60, 3, 60)
    assert isinstance(kernel, SubspaceKernel)
    assert kernel.process.dim == 3
    inside = np.linalg.qr(whitening.factor.T @ law.basis)[0]
    np.testing.assert_allclose(np.linalg.svd(kernel.subspace.basis.T @ inside)[1], 1.0, rtol=1e-6)


def test_neglected_directions_are_in_the_covariance() -> None:
    residuals = np.outer(np.ones(8), np.eye(20)[0]) + 0.1 * np.eye(20)[1:9]
    subspace = Subspace.of(residuals, most=1, small=1e-6)
    assert subspace.basis.shape == (20, 1)
    assert subspace.neglected == pytest.approx(0.1**2 * 7 / 8, rel=0.01)
    kernel, _, _, _ = fitted(40, 3, 30)
    assert isinstance(kernel, SubspaceKernel)
    wide = SubspaceKernel(kernel.process, Subspace(kernel.subspace.basis, 0.5), kernel.level, kernel.centres)
    z = stream(13, "covariance").standard_normal((4, 40))
    more = wide.covariance(z) - kernel.covariance(z)
    np.testing.assert_allclose(more, 0.5 * (0.5 - kernel.subspace.neglected) * np.eye(4), atol=1e-12)


@pytest.mark.parametrize(("small", "count"), [(10.0, 1), (0.5, 2), (1e-9, 3)])
def test_there_are_as_few_directions_as_leave_little(small: float, count: int) -> None:
    residuals = np.zeros((4, 10))
    residuals[:, :3] = np.diag([4.0, 3.0, 2.0])[[0, 1, 2, 2]] * [[1.0], [1.0], [0.5], [0.5]]
    assert Subspace.of(residuals, most=10, small=small).basis.shape == (10, count)


def test_a_hessian_along_the_subspace_is_one_in_all_directions() -> None:
    kernel, _, _, _ = fitted(40, 3, 30)
    assert isinstance(kernel, SubspaceKernel)
    whole = kernel.embedded(np.diag([2.0, 3.0, 4.0]))
    np.testing.assert_allclose(np.linalg.eigvalsh(whole), [*[1.0] * 37, 2.0, 3.0, 4.0], atol=1e-12)


def test_in_few_dimensions_and_without_gradients_all_directions_are_learnt() -> None:
    assert isinstance(fitted(20, 3, 30)[0], GradientKernel)
    near, whitening, _ = training(40, 3, 60)
    blind = Training(near.points, near.values, np.full(near.points.shape, np.nan), None)
    kernel = learnt(blind, whitening, 0.0, stream(9, "fit"), DEFAULT.fitting, like=None, lengths=LENGTHS)
    assert isinstance(kernel, GradientKernel)


def test_more_than_a_hundred_dimensions_take_few_units() -> None:
    """At most six for each dimension, a good verdict, and right."""
    law = LogGammaInside(120, 4)
    outcome = sampled(law, np.zeros(120))
    assert outcome.method == "surrogate"
    verdict = judge(outcome, [str(i) for i in range(120)])
    assert verdict.level == "good"
    assert 4 <= (outcome.learnt or 0) < 40
    assert f"The surrogate learns {outcome.learnt} of 120 directions" in str(verdict)
    assert outcome.spent.units <= 6 * 120
    within(outcome, law.mean, law.variance)


def test_errors_of_points_far_up_are_those_of_compressed_slopes() -> None:
    """Where potentials are compressed, so are gradients and their errors."""
    near, whitening, law = training(20, 3, 40)
    far = whitening.unwhiten(40.0 * np.eye(20)[:1])
    value, gradient = law.value_and_grad(far[0])
    both = Training(
        np.concatenate((near.points, far)), np.append(near.values, value), np.vstack((near.gradients, gradient)), None
    )
    tuning = replace(DEFAULT.fitting, rough=0.1)
    offset = float(near.values.min())
    kernel = learnt(both, whitening, offset, stream(9, "fit"), tuning, like=None, lengths=LENGTHS)
    assert isinstance(kernel, GradientKernel)
    shrink = tuning.ceiling * tuning.plausible_height(20) / (value - offset)
    assert shrink < 0.5
    length = float(np.linalg.norm(whitening.slopes(gradient[None])))
    # `errors` are in units of the process's standard deviation, and those of gradients times l.
    found = kernel.solution.errors[-1, 1] / kernel.length_scale * kernel.amplitude
    expected = 0.1 * (shrink * length - np.sqrt(2.0 * tuning.plausible_height(20)))
    # The amplitude that errors are relative to is that of the solution before.
    assert found == pytest.approx(expected, rel=0.5)
    assert expected < 0.6 * 0.1 * length
