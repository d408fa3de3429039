"""What corrected expectations are made of, by what is known of the surrogate."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from rnshmc.errors import FitError
from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.stages.correction import Checked
from rnshmc.inference.surrogate.emulated import EmulatedPotential
from rnshmc.inference.surrogate.posterior import SurrogatePosterior
from rnshmc.inference.surrogate.uncertainty import Tails, draw_paths, inflation
from rnshmc.inference.surrogate.weights import Chosen, Influence, smoothed
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
    chosen: tuple[Influence, Checked] | None = None,
) -> Corrected:
    """Ingredients of corrected expectations, from draws of the surrogate in x, (chains, n, d), and exact values.

    Points of zero density, and those where the evaluation failed, have weight 0. ``doubt`` is a factor on the variance
    of the process. ``chosen`` are draws of the surrogate in proportion to an influence.

    Raises
    ------
    FitError
        If the covariance of the surrogate's process cannot be factored.
    """
    points, differences = checked.points, checked.differences
    with _factored():
        paths, _ = draw_paths(
            posterior, _ends(posterior, draws), rng, tuning, checked=points, differences=differences, doubt=doubt
        )
    chains, _, dim = draws.shape
    weights, more = smoothed(-differences), chosen and _chosen(*chosen, points, paths.points)
    return Corrected(draws.reshape(-1, dim), points, differences, weights, paths, chains, tails, aim, chosen=more)


def _chosen(influence: Influence, chosen: Checked, checked: Array, paths: Array) -> Chosen:
    counts = len(checked), len(chosen.points)
    base, at_paths = (influence.base(x, *counts) for x in (np.concatenate((checked, chosen.points)), paths))
    return Chosen(chosen.points, chosen.differences, base, at_paths)


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
    points, ran = checked.points, ~checked.failed
    held, of_ran = posterior.kernel.held_out(points[ran])
    # Where a run failed it is in no surrogate.
    without, variances = np.zeros(len(points)), np.zeros(len(points))
    without[ran], variances[ran] = held + posterior.kernel.offset, of_ran
    finite = np.isfinite(checked.values)
    differences = np.full(len(points), np.inf)
    differences[finite] = checked.values[finite] - without[finite]
    # Where the density is 0, the earlier surrogate is not known from U - V.
    earlier = without.copy()
    earlier[finite] = checked.values[finite] - checked.differences[finite]
    base = smoothed(earlier - without).weights
    doubt = inflation(variances[finite], differences[finite])
    with _factored():
        paths, _ = draw_paths(posterior, _ends(posterior, draws), rng, tuning, doubt=doubt)
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
