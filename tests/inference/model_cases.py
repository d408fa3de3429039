"""A forward model with two parameters and noise of unknown size, and its posterior."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import rnshmc
from rnshmc.inference.exact.archive import Training
from rnshmc.inference.exact.forward import Model
from rnshmc.inference.exact.forward_posterior import Runs
from rnshmc.inference.exact.target import make_posterior
from rnshmc.inference.result.result import Result
from rnshmc.inference.surrogate.emulated import EmulatedPotential, emulate
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.transforms import make_transform, with_prior
from rnshmc.types import Array

TIMES = np.linspace(0.25, 4.0, 12)
DATA = 2.0 * np.exp(-TIMES) + np.random.default_rng(3).normal(0.0, 0.1, 12)
MATRIX = np.random.default_rng(4).normal(size=(7, 3))
NAMES = ("a", "r", "sigma")


def decay(x: Array) -> Array:
    """Amplitude exp(x0), rate exp(x1)."""
    return np.asarray(np.exp(x[0] - np.exp(x[1]) * TIMES))


class Counted:
    """A forward model that keeps what it was asked."""

    def __init__(self, forward: Callable[[Array], Array]) -> None:
        self.forward, self.asked = forward, list[bytes]()

    def __call__(self, x: Array) -> Array:
        self.asked.append(x.tobytes())
        return self.forward(x)


def decaying(data: Array = DATA, forward: Callable[[Array], Array] = decay) -> Model:
    prior = {"a": ("normal", 0.0, 1.0), "r": ("normal", 0.0, 1.0), "sigma": ("halfnormal", 1.0)}
    return rnshmc.Model(forward, data, likelihood=rnshmc.Gaussian(sd="sigma"), prior=prior)


def sampled(target: Any, x0: Any = (0.0, 0.0, 0.5), **settings: Any) -> Result:
    names = settings.pop("names", ["a", "r"])
    return rnshmc.sample(target, x0, names=names, progress_bar=False, **{"draws": 500, **settings})


def evaluated(points: Array) -> tuple[Array, Runs]:
    """Potentials, (n,), and runs of `decaying` at some points in unconstrained coordinates."""
    posterior = make_posterior(decaying(), None, NAMES)
    forward_posterior = posterior.forward_posterior
    assert forward_posterior is not None
    transform = with_prior(make_transform(None, NAMES), posterior.bounds, {}, NAMES)
    found = [
        forward_posterior.read(posterior.evaluable.evaluate(x, gradient=False)[0], x)
        for x in transform.parameters(points)
    ]
    values = [one.value - transform.log_jacobians(x) for one, x in zip(found, points, strict=True)]
    return np.array(values), Runs([one.run.outputs for one in found if one.run], forward_posterior, transform)


def fitted(points: Array) -> EmulatedPotential:
    """The emulated potential after runs at these points."""
    values, runs = evaluated(points)
    training = Training(points, values, np.full(points.shape, np.nan))
    return emulate(training, runs, Whitening(np.zeros(3), np.eye(3)))


def switching(x: Array) -> Array:
    outputs = decay(x)
    outputs[5] += 3.0 * np.sign(math.sin(40.0 * x[0]))
    return outputs
