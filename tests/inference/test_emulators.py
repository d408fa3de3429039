"""What every emulator promises: a potential V with its gradient, and the covariance of U - V."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from peers.known_laws import Law, LogGamma

from rnshmc.inference.exact.archive import Training
from rnshmc.inference.surrogate.gradient_kernel import LENGTHS
from rnshmc.inference.surrogate.learning import SubspaceKernel, learnt
from rnshmc.inference.surrogate.posterior import Kernel
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import DEFAULT
from rnshmc.random import stream
from rnshmc.types import Array
from tests.conftest import check_slope
from tests.inference.model_cases import evaluated, fitted
from tests.inference.problems import LogGammaInside


@dataclass(frozen=True)
class Emulator:
    """An emulator in whitened coordinates, where it was trained, and U."""

    kernel: Kernel
    trained: Array
    potential: Callable[[Array], Array]
    offset: float

    def away(self, z: Array) -> Array:
        """U - V at the rows of z."""
        return self.potential(z) - self.kernel.values_and_gradients(z)[0] - self.offset


def of_density(law: Law, whitening: Whitening, n: int, seed: int, *, gradients: bool = True) -> Emulator:
    """Learnt from values, and gradients, of a density at points N(0, I)."""
    trained = stream(seed, "emulators", str(law.dim)).standard_normal((n, law.dim))

    def potential(z: Array) -> Array:
        return np.array([law.value(x) for x in whitening.unwhiten(z)])

    points, values = whitening.unwhiten(trained), potential(trained)
    slopes = np.array([law.gradient(x) for x in points]) if gradients else np.full(points.shape, np.nan)
    offset, rng = float(values.min()), stream(seed, "fit")
    training = Training(points, values, slopes, None)
    kernel = learnt(training, whitening, offset, rng, DEFAULT.fitting, like=None, lengths=LENGTHS)
    return Emulator(kernel, trained, potential, offset)


def skewed(seed: int, n: int, *, gradients: bool) -> Emulator:
    law = LogGamma(3)
    whitening = Whitening(np.full(3, law.mean), np.eye(3) / np.sqrt(law.variance))
    return of_density(law, whitening, n, seed, gradients=gradients)


def inside(seed: int) -> Emulator:
    law = LogGammaInside(40, 3)
    return of_density(law, law.whitening, 40, seed)


def of_outputs(seed: int) -> Emulator:
    """Of a decay with noise of unknown size."""
    rng = stream(seed, "outputs")
    trained = rng.normal([0.6, 0.0, -2.0], 0.3, size=(9, 3))
    kernel = fitted(trained)
    return Emulator(kernel, trained, lambda x: evaluated(x)[0], kernel.offset)


MAKERS: dict[str, Callable[[int], Emulator]] = {
    "values and gradients": lambda seed: skewed(seed, 12, gradients=True),
    "values": lambda seed: skewed(seed, 30, gradients=False),
    "a subspace": inside,
    "outputs": of_outputs,
}
FITS = 20


@cache
def emulators(name: str) -> tuple[Emulator, ...]:
    return tuple(MAKERS[name](seed) for seed in range(FITS))


def fresh(name: str, count: int = 40) -> Array:
    """Points like those that emulators were trained on."""
    rng = stream(99, "fresh", name)
    if name == "outputs":
        return rng.normal([0.6, 0.0, -2.0], 0.3, size=(count, 3))
    return rng.standard_normal((count, emulators(name)[0].trained.shape[1]))


@pytest.mark.parametrize("name", MAKERS)
def test_gradients_are_slopes_of_the_values(name: str) -> None:
    kernel = emulators(name)[0].kernel
    for z, direction in zip(fresh(name, 3), stream(1, "directions").standard_normal((3, kernel.dim)), strict=True):
        slope = float(kernel.values_and_gradients(z[None])[1][0] @ direction)
        # Values are sums of terms that are larger by the variance of a broad quadratic.
        check_slope(
            lambda q: float(kernel.values_and_gradients(q[None])[0][0]), slope, z, direction, relative_error=1e-9
        )


@pytest.mark.parametrize("name", MAKERS)
def test_values_are_those_of_the_training_points_and_little_is_open_there(name: str) -> None:
    """Not only up to a constant: squared errors, and variances, are a tenth of those elsewhere over all fits."""
    known, elsewhere = np.zeros(2), np.zeros(2)
    for emulator in emulators(name):
        for total, z in ((known, emulator.trained), (elsewhere, fresh(name))):
            total += np.mean(emulator.away(z) ** 2), emulator.kernel.covariance(z).diagonal().mean()
    assert (known < 0.1 * elsewhere).all()


@pytest.mark.parametrize("name", MAKERS)
def test_the_covariance_is_one(name: str) -> None:
    covariance = emulators(name)[0].kernel.covariance(fresh(name))
    np.testing.assert_allclose(covariance, covariance.T, rtol=1e-6, atol=1e-9 * covariance.max())
    assert np.linalg.eigvalsh(covariance).min() > -1e-6 * np.trace(covariance)


@pytest.mark.parametrize("name", MAKERS)
def test_what_the_covariance_expects_is_what_is_found(name: str) -> None:
    """Mean squared errors over their expected ones, in the median over fits, within a factor of four."""
    z = fresh(name)
    ratios = []
    for emulator in emulators(name):
        away = emulator.away(z)
        ratios.append(float(np.mean(away**2 / (emulator.kernel.covariance(z).diagonal() + emulator.kernel.noise**2))))
    assert 0.25 < np.median(ratios) < 4.0


def test_a_subspace_is_learnt_where_gradients_show_one() -> None:
    assert isinstance(emulators("a subspace")[0].kernel, SubspaceKernel)
