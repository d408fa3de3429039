"""Known evaluations to learn from, where there are more than a surrogate takes."""

import logging
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rnshmc.inference.exact.evaluation import Evaluation, within
from rnshmc.inference.exact.forward_posterior import ForwardPosterior
from rnshmc.inference.transforms import Transform
from rnshmc.types import Array

_log = logging.getLogger(__name__)


def chosen(
    known: Sequence[Evaluation],
    transform: Transform,
    forward_posterior: ForwardPosterior | None,
    *,
    most: int,
    height: float,
) -> tuple[Evaluation, ...]:
    """As many evaluations as a surrogate takes: those of the lowest potentials, or a part spread over all plausible.

    Parameters
    ----------
    known
        In the user's coordinates.
    transform
        From unconstrained coordinates, in which potentials are compared, to the user's.
    forward_posterior
        How the potential is read off runs of a forward model; None: of values.
    most
        Number of evaluations up to which all are taken.
    height
        Above the lowest potential, up to which a point is plausible.
    """
    if len(known) <= most:
        return tuple(known)
    usable = within(known, transform)
    if len(usable) <= most:
        return tuple(usable)
    points = transform.coordinates(np.array([one.point for one in usable]))
    values = np.array(
        [(one if forward_posterior is None else forward_posterior.read(one, one.point)).value for one in usable]
    )
    potentials = np.nan_to_num(values - transform.log_jacobians(points), nan=np.inf)
    order = np.argsort(potentials, kind="stable")
    plausible = int(np.count_nonzero(potentials <= potentials[order[0]] + height))
    taken = order[:most] if plausible <= most else order[:plausible][_spread(points[order[:plausible]], most)]
    _log.warning(
        "evaluations: %d of %d are learnt from, spread over those near the mode: a surrogate takes no more",
        len(taken),
        len(known),
    )
    return tuple(usable[i] for i in np.sort(taken))


def _spread(points: Array, most: int) -> npt.NDArray[np.intp]:
    """Indices of points, the first one and others, each as far as can be from all before; fewer where some are equal.

    Distances are in units of the points' standard deviations.
    """
    z = (points - points.mean(axis=0)) / np.maximum(points.std(axis=0), np.finfo(float).tiny)
    taken, distances = [0], ((z - z[0]) ** 2).sum(axis=1)
    while len(taken) < most and distances.any():
        taken.append(int(np.argmax(distances)))
        distances = np.minimum(distances, ((z - z[taken[-1]]) ** 2).sum(axis=1))
    return np.array(taken)
