"""Means and standard deviations of the columns of something drawn."""

import numpy as np
import numpy.typing as npt

from rnshmc.inference.result.averages import average
from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.result.estimates import Estimate
from rnshmc.inference.result.mixture import Mixture
from rnshmc.types import Array

Drawn = Corrected | Mixture | Array
"""Values of functions where expectations need them: a surrogate's ``moved``, or along exact chains, (chains, n, k)."""


def expectation(drawn: Drawn, *, mixed: bool) -> Estimate:
    """Means of the columns, with standard errors; these are of one scale, see `Corrected.expectation`.

    Parameters
    ----------
    drawn
        The values.
    mixed
        Whether chains are draws of one distribution. If not, there is no standard error.
    """
    return drawn.expectation(lambda y: y) if isinstance(drawn, Corrected | Mixture) else average(drawn, mixed=mixed)


def moments(drawn: Drawn, *, mixed: bool) -> tuple[Estimate, Estimate]:
    """Means and standard deviations of the columns, (k,), with standard errors; parameters as `expectation`."""
    if isinstance(drawn, Corrected | Mixture):
        return drawn.mean(), _root(drawn.variance())
    mean = average(drawn, mixed=mixed)
    return mean, _root(average((drawn - mean.value) ** 2, mixed=mixed))


def finite_columns(drawn: Drawn) -> npt.NDArray[np.bool_]:
    """Which of the columns are finite everywhere, (k,)."""
    if isinstance(drawn, Mixture):
        return np.asarray(np.all([finite_columns(part) for part in drawn.parts], axis=0))
    if isinstance(drawn, Corrected):
        parts = (drawn.draws, drawn.measuring, drawn.paths.points, drawn.tails.points)
        return np.asarray(np.all([np.isfinite(part).all(axis=0) for part in parts], axis=0))
    return np.asarray(np.isfinite(drawn).all(axis=(0, 1)))


def picked(drawn: Drawn, columns: npt.NDArray[np.bool_]) -> Drawn:
    """Some of the columns."""
    return drawn.moved(lambda y: y[:, columns]) if isinstance(drawn, Corrected | Mixture) else drawn[:, :, columns]


def _root(variance: Estimate) -> Estimate:
    """Standard deviations from variances; one that noise made negative is 0."""
    sd = np.sqrt(np.maximum(variance.value, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return Estimate(sd, variance.standard_error / (2.0 * sd))
