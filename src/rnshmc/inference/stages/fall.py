"""Whether a potential falls without bound, as that of a density does whose minus sign was forgotten."""

from dataclasses import dataclass

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.evaluation import Evaluation


@dataclass(frozen=True)
class Fall:
    """Steps of a descent in succession over which the potential fell with no curvature, each by more than the last.

    Attributes
    ----------
    steps
        How many.
    last
        Decrease of the potential in the last one.
    """

    steps: int = 0
    last: float = 0.0

    def after(self, start: Evaluation, end: Evaluation, most: int) -> "Fall":
        """With one step more.

        A step counts whose curvature is not positive, and which lowers the potential by more than the step before and
        by more than one. A potential with a minimum has few of these in succession: flanks of heavy tails have no
        positive curvature either, but steps that grow reach their mode.

        Raises
        ------
        ParameterError
            At the ``most``-th step: the potential is unbounded.
        """
        assert start.gradient is not None
        assert end.gradient is not None
        step = end.point - start.point
        decrease = start.value - end.value
        if not (float(step @ (end.gradient - start.gradient)) <= 0.0 and decrease > max(self.last, 1.0)):
            return Fall()
        found = Fall(self.steps + 1, decrease)
        if found.steps == most:
            raise ParameterError(
                f"target: the density grows without bound from x0 on: its logarithm is {-end.value:.3g} at a distance "
                f"where the last step was {np.linalg.norm(step):.3g} long, and rises faster with each step. Is this "
                "minus the log density?"
            )
        return found
