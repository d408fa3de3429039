"""Whether a potential is unbounded below, as it is where a minus sign was forgotten."""

from dataclasses import dataclass

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.evaluation import Evaluation


@dataclass(frozen=True)
class Fall:
    """Successive steps of a descent without positive curvature, each with a larger decrease than the last.

    Attributes
    ----------
    steps
        Their number.
    last
        Decrease of the potential in the last one.
    """

    steps: int = 0
    last: float = 0.0

    def after(self, start: Evaluation, end: Evaluation, most: int) -> "Fall":
        """The state after one more step.

        A step counts if its curvature is not positive and it lowers the potential by more than one, and by more than
        the step before. A potential with a minimum has few of these in succession: heavy tails have no positive
        curvature either, but growing steps reach the mode.

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
