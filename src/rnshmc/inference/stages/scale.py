"""The argument ``scale`` of `rnshmc.sample`: from the expected width of the posterior to coordinates."""

import numpy as np
import numpy.typing as npt

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.forward_posterior import ForwardPosterior
from rnshmc.inference.given import numbers
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.transforms import Transform
from rnshmc.types import Array


def make_coordinates(
    scale: npt.ArrayLike | None, start: Array, transform: Transform, *, widest: float
) -> Whitening | None:
    """Unconstrained coordinates in which the scale of the posterior is expected to be one; None without a scale.

    Scales and covariances are translated by the slope of the transform at the start, and those of bounded parameters
    are cut to ``widest``; prior draws are transformed one by one.

    Parameters
    ----------
    scale
        A number or a vector of standard deviations, shape (d,), a covariance, (d, d), or draws, (n, d) with n > d.
    start
        In the user's coordinates, shape (d,).
    transform
        From parameters to unconstrained coordinates.
    widest
        Largest scale of the unconstrained coordinate of a bounded parameter.

    Raises
    ------
    ParameterError
        If it is none of these, or not positive.
    """
    if scale is None:
        return None
    dim = len(start)
    given = numbers(scale, "scale")
    if not np.isfinite(given).all():
        raise ParameterError("scale: expected finite numbers")
    point = transform.coordinates(start)
    return Whitening(point, _factor(_covariance(given, point, dim, transform, widest)))


def prior_scale(forward_posterior: ForwardPosterior | None, start: Array) -> Array | None:
    """Standard deviations of the prior, (d,); None unless those of all inputs of a forward model are known.

    A scale of the likelihood's own is about its value at the start, unless the prior says otherwise.
    """
    scale = None if forward_posterior is None else forward_posterior.prior.scale
    if forward_posterior is None or scale is None or not np.isfinite(scale[: forward_posterior.inputs]).all():
        return None
    return np.where(np.isfinite(scale), scale, np.where(start == 0.0, 1.0, np.abs(start)))


def inside(scale: npt.ArrayLike | None, transform: Transform) -> npt.ArrayLike | None:
    """A scale where a bound was found: of prior draws, those between the bounds; None if too few are left."""
    given = None if scale is None else numbers(scale, "scale")
    if given is None or not _of_draws(given, transform.dim):
        return scale
    kept = given[transform.inside(given)]
    return kept if _of_draws(kept, transform.dim) else None


def _of_draws(given: Array, dim: int) -> bool:
    return given.ndim == 2 and given.shape[1] == dim and len(given) > dim


def _covariance(given: Array, point: Array, dim: int, transform: Transform, widest: float) -> Array:
    """The covariance of unconstrained coordinates, shape (d, d)."""
    if _of_draws(given, dim):
        if not transform.inside(given).all():
            raise ParameterError("scale: some of the prior draws are not strictly between the bounds")
        return np.cov(transform.coordinates(given).T).reshape(dim, dim)
    if given.shape == (dim, dim):
        if not np.allclose(given, given.T, rtol=1e-8, atol=0.0):
            raise ParameterError(
                f"scale: an array of shape ({dim}, {dim}) is a covariance, and this one is not symmetric"
            )
        covariance = given
    elif given.shape in ((), (dim,)):
        if not (given > 0).all():
            raise ParameterError("scale: expected positive standard deviations")
        covariance = np.diag(np.broadcast_to(given, dim) ** 2)
    else:
        raise ParameterError(
            f"scale: expected a number, or an array of shape ({dim},), ({dim}, {dim}) or (n, {dim}) with n > {dim}, "
            f"got shape {given.shape}"
        )
    slopes = transform.slopes(point)
    covariance = covariance / np.outer(slopes, slopes)
    widths = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    bounded = np.isfinite(transform.low) | np.isfinite(transform.high)
    shares = np.where(bounded & (widths > widest), widest / np.maximum(widths, widest), 1.0)
    return covariance * np.outer(shares, shares)


def _factor(covariance: Array) -> Array:
    """L with L L' the inverse of a covariance, whatever the units of its coordinates."""
    units = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    refused = ParameterError("scale: the covariance is not positive definite")
    if not (units > 0).all():
        raise refused
    correlations, directions = np.linalg.eigh(covariance / np.outer(units, units))
    if correlations[0] <= len(units) * np.finfo(float).eps:
        raise refused
    # Rows of the root are directions; QR makes it triangular.
    root = (directions / np.sqrt(correlations)).T / units
    return np.asarray(np.linalg.qr(root)[1].T)
