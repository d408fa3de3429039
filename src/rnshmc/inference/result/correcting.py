"""What corrected expectations are made of, by what is known of the surrogate."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from rnshmc.errors import FitError
from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.stages.correction import Checked
from rnshmc.inference.surrogate.emulated import EmulatedPotential
from rnshmc.inference.surrogate.paths import draw_paths, inflation
from rnshmc.inference.surrogate.posterior import SurrogatePosterior
from rnshmc.inference.surrogate.tails import Tails
from rnshmc.inference.surrogate.weights import smoothed
from rnshmc.inference.tuning import Process
from rnshmc.types import Array


def corrected_by(
    posterior: SurrogatePosterior,
    draws: Array,
    checked: Checked,
    tails: Tails,
    rng: np.random.Generator,
    tuning: Process,
    *,
    aim: float,
    doubt: float = 1.0,
) -> Corrected:
    """Ingredients of corrected expectations, from draws of the surrogate in x, (chains, n, d), and exact values.

    Failed evaluations are left out; points of zero density have weight 0. ``doubt`` is a factor on the variance of the
    process.

    Raises
    ------
    FitError
        If the covariance of the surrogate's process cannot be factored.
    """
    kept = ~checked.failed
    points, differences = checked.points[kept], checked.differences[kept]
    with _factored():
        paths = draw_paths(
            posterior, _ends(posterior, draws), rng, tuning, checked=points, differences=differences, doubt=doubt
        )
    chains, _, dim = draws.shape
    return Corrected(draws.reshape(-1, dim), points, differences, smoothed(-differences), paths, chains, tails, aim)


def cross_fitted(
    posterior: SurrogatePosterior,
    draws: Array,
    checked: Checked,
    tails: Tails,
    rng: np.random.Generator,
    tuning: Process,
    *,
    aim: float,
) -> Corrected:
    """The same for a surrogate by emulated outputs that is fitted to the checked draws of an earlier one, too.

    Parameters
    ----------
    posterior, draws
        The surrogate, and its draws.
    checked
        Draws of the earlier one, and U - V by it.

    Raises
    ------
    FitError
        If the covariance of the surrogate's process cannot be factored.
    """
    assert isinstance(posterior.kernel, EmulatedPotential)
    kept = ~checked.failed
    points, values = checked.points[kept], checked.values[kept]
    without, variances = posterior.kernel.held_out(points)
    without = without + posterior.kernel.offset
    differences = np.where(np.isfinite(values), values - without, np.inf)
    # Where the density is 0, the earlier surrogate is not known from U - V.
    earlier = np.where(np.isfinite(values), values - checked.differences[kept], without)
    base = smoothed(earlier - without).weights
    finite = np.isfinite(differences)
    doubt = inflation(variances[finite], differences[finite])
    with _factored():
        paths = draw_paths(posterior, _ends(posterior, draws), rng, tuning, doubt=doubt)
    chains, _, dim = draws.shape
    weights = smoothed(-differences)
    return Corrected(draws.reshape(-1, dim), points, differences, weights, paths, chains, tails, aim, base)


@contextmanager
def _factored() -> Iterator[None]:
    """A covariance that cannot be factored is a `FitError`."""
    try:
        yield
    except np.linalg.LinAlgError as error:
        raise FitError(f"the covariance of the surrogate's process cannot be factored: {error}") from error


def _ends(posterior: SurrogatePosterior, draws: Array) -> Array:
    """Last positions of the chains, whitened."""
    return posterior.whitening.whiten(draws[:, -1])
