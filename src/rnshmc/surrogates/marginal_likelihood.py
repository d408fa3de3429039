"""Hyperparameters by maximum marginal likelihood (paper A, section 3.3)."""

import math
from collections.abc import Callable
from dataclasses import astuple, dataclass

import numpy as np
from scipy import linalg, optimize

from rnshmc.errors import FitError, ParameterError
from rnshmc.types import Array

# Bounds of sigma_f, l and sigma in the search, relative to the data's scales. A quadratic function needs a large
# amplitude at a large length scale. Without noise, sigma would tend to zero; a thousandth of the potentials is too
# small to affect a Metropolis step, and keeps the covariance matrix regular in doubles.
_LOWER = np.log([1e-2, 1e-2, 1e-3])
_UPPER = np.log([1e4, 1e2, 1e1])
# The search starts with noise of a tenth of the targets' standard deviation: well conditioned, not dominated by noise.
_NOISE_SHARE = 0.1
# Data distinguish hyperparameters on a scale of one unit of log likelihood, and a slope below this leaves far less to
# gain. A tighter tolerance would be below the rounding error for a nearly singular covariance matrix, as for a smooth
# function. The other tolerance is the gain of an iteration relative to the log likelihood.
_SLOPE_TOLERANCE = 0.1
_GAIN_TOLERANCE = 1e-8
_OUTCOMES = {0: "converged", 1: "max_evaluations", 2: "stalled"}


@dataclass(frozen=True)
class Hyperparameters:
    """sigma_f, l and sigma of a Gaussian process with squared-exponential covariance and noise."""

    amplitude: float
    length_scale: float
    noise_sd: float


LogLikelihood = Callable[[Hyperparameters], tuple[float, Array]]
"""log p(t | Q, hyperparameters) and its gradient in (log sigma_f, log l, log sigma).

Raises `scipy.linalg.LinAlgError` where a covariance matrix is not positive definite in doubles.
"""


@dataclass(frozen=True)
class Maximum:
    """End of the search: hyperparameters, log likelihood, number of evaluations, and outcome."""

    hyperparameters: Hyperparameters
    log_likelihood: float
    evaluations: int
    outcome: str


def data_scales(states: Array, targets: Array) -> Hyperparameters:
    """Start of a search: root mean square target, root mean square distance of two states, and a tenth of sd(t).

    Raises `FitError` if the states or the targets are all equal: then there is no scale to start from.
    """
    for name, array in (("states", states), ("potentials", targets)):
        if np.ptp(array, axis=0).max() == 0:
            raise FitError(f"the {len(states)} training {name} are all equal: no covariance can be learned from them")
    distance = float(np.sqrt(2.0 * states.var(axis=0).sum()))
    return Hyperparameters(float(np.sqrt(np.mean(targets**2))), distance, _NOISE_SHARE * float(targets.std()))


def maximise(
    log_likelihood: LogLikelihood, start: Hyperparameters, *, max_evaluations: int, known: Hyperparameters | None = None
) -> Maximum:
    """Maximise a marginal likelihood in (log sigma_f, log l, log sigma) by L-BFGS-B, from ``start``.

    The search keeps within fixed factors of the start; ``known`` hyperparameters replace it. The likelihood is scaled
    so that the first step changes no hyperparameter by more than a factor e: as it stands, its slopes are of the order
    of the number of data, and the first step would end at the bounds. Where the likelihood cannot be evaluated, the
    step is rejected: it counts as worse than all before it, so that the line search shortens it. The result is the best
    point met. Its outcome is "converged" (the slope or the last gain is below tolerance), "max_evaluations", or
    "stalled" (no better point was found along the last direction, as at the rim of what can be factorised). No new
    iteration begins after ``max_evaluations``; the last one may take some more. Raises `FitError` if the likelihood
    cannot be evaluated at the start; `ParameterError` if max_evaluations is less than 1.
    """
    if known is not None:
        return Maximum(known, math.nan, 0, "given")
    if max_evaluations < 1:
        raise ParameterError(f"max_evaluations must be at least 1, got {max_evaluations!r}")
    try:
        value, gradient = log_likelihood(start)
    except linalg.LinAlgError as error:
        raise FitError(f"the marginal likelihood cannot be evaluated at {start}: {error}") from error
    origin, scale = np.log(astuple(start)), max(1.0, float(np.linalg.norm(gradient)))
    worst = -value / scale

    def loss(x: Array) -> tuple[float, Array]:
        nonlocal worst
        try:
            value, gradient = log_likelihood(Hyperparameters(*np.exp(origin + x)))
        except linalg.LinAlgError:
            return worst + 1.0, np.zeros_like(x)
        worst = max(worst, -value / scale)
        return -value / scale, -gradient / scale

    # Factors for the noise are relative to the targets, not to the start of the search.
    shift = np.array([0.0, 0.0, np.log(_NOISE_SHARE)])
    found = optimize.minimize(
        loss,
        np.zeros(3),
        jac=True,
        method="L-BFGS-B",
        bounds=optimize.Bounds(_LOWER - shift, _UPPER - shift),
        options={"maxfun": max_evaluations, "ftol": _GAIN_TOLERANCE, "gtol": _SLOPE_TOLERANCE / scale},
    )
    best = Hyperparameters(*(float(h) for h in np.exp(origin + found.x)))
    return Maximum(best, -scale * float(found.fun), 1 + int(found.nfev), _OUTCOMES[found.status])
