"""Standard errors that leave a mean or a standard deviation unknown."""

from collections.abc import Iterator, Sequence

import numpy as np

from rnshmc.diagnostics.importance import tail_shape
from rnshmc.inference.result.estimates import Estimate, spread
from rnshmc.inference.result.finding import Finding
from rnshmc.inference.tuning_result import Judging
from rnshmc.types import Array


def error_findings(
    mean: Estimate, sd: Estimate, draws: Array, names: Sequence[str], limits: Judging
) -> Iterator[Finding]:
    """A finding on the worst standard error, where it is that of few independent draws.

    Errors are reported in the user's coordinates. The other checks are of unconstrained ones, in which the tails of the
    logarithm of a parameter may be known well enough, and those of the parameter not.

    Parameters
    ----------
    mean, sd
        Of the parameters, (d,).
    draws
        Of the posterior, (n, d): independent ones have the variance of these, divided by their number.
    names
        Of the parameters.
    limits
        What is few.
    """
    if len(draws) < 2:
        return
    if not np.isfinite([mean.value, sd.value]).all():
        column = int(np.argmin(np.isfinite([mean.value, sd.value]).all(axis=0)))
        yield Finding("bad", f"The mean or standard deviation of {names[column]} is not finite.")
        return
    scale = spread(draws)
    squares = ((draws - draws.mean(axis=0)) / scale) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        of_mean = squares.mean(axis=0) / (mean.standard_error / scale) ** 2
        of_sd = squares.var(axis=0) / (2.0 * (sd.value / scale) * (sd.standard_error / scale)) ** 2
    # A variance that its correction made negative is not known at all.
    of_sd = np.where((sd.value == 0) & (squares.mean(axis=0) > 0), 0.0, of_sd)
    # Unknown errors are reported elsewhere, and what does not vary has none.
    worth = np.nan_to_num(np.stack((of_mean, of_sd)), nan=np.inf, posinf=np.inf)
    # Draws do not show the variance of squares with so heavy a tail: how many an error is that of is unknown.
    few = min(limits.few, limits.short * len(draws))
    for k in np.flatnonzero((worth[1] < few) & (sd.standard_error < sd.value)):
        if tail_shape(squares[:, k]) > limits.heavy:
            worth[1, k] = np.inf
    of, column = (int(place) for place in np.unravel_index(np.argmin(worth), worth.shape))
    if worth[of, column] < few:
        what = ("mean", "standard deviation")[of]
        independent = (
            f"{worth[of, column]:.2g} independent draws"
            if worth[of, column] >= 1.0
            else "less than one independent draw"
        )
        yield Finding("doubtful", f"The standard error of the {what} of {names[column]} is that of {independent}.")
