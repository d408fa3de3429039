"""The ill-conditioned Gaussian of paper B, section 4.1."""

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.targets.gaussian import Gaussian


def spread_gaussian(
    rng: np.random.Generator, *, dim: int, smallest: float, largest: float, between: tuple[float, float]
) -> Gaussian:
    """N(0, diag(v)) with ``v[0]`` smallest, ``v[-1]`` largest and the other variances uniform in an interval.

    Paper B has 30 dimensions, variances 0.1 and 1000, and the others between 1 and 100.

    Parameters
    ----------
    rng
        Generator of the variances in between.
    dim
        Dimension, at least 2.
    smallest, largest
        First and last variance.
    between
        Interval of the other variances, within [smallest, largest].

    Raises
    ------
    ParameterError
        If dim is less than 2 or the variances are not positive and in order.
    """
    low, high = between
    if dim < 2:
        raise ParameterError(f"dim must be at least 2, got {dim!r}")
    if not 0 < smallest <= low <= high <= largest < np.inf:
        raise ParameterError(
            "expected 0 < smallest <= between[0] <= between[1] <= largest, "
            f"got smallest = {smallest!r}, between = {between!r}, largest = {largest!r}"
        )
    variances = np.concatenate(([smallest], rng.uniform(low, high, dim - 2), [largest]))
    return Gaussian(np.zeros(dim), np.diag(variances))
