"""Whether a potential is unbounded below, as it is where a minus sign was forgotten."""

from dataclasses import dataclass

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.types import Array


@dataclass(frozen=True)
class UnboundedDescent:
    """Successive steps of a descent without positive curvature, each with a larger decrease than the last.

    Attributes
    ----------
    far
        Length that a step has to exceed to show it: where data are precise, first steps are so short that the potential
        is curved downwards over many doublings, and has a minimum all the same.
    steps
        Their number.
    last
        Decrease of the potential in the last one.
    """

    far: float
    steps: int = 0
    last: float = 0.0

    @classmethod
    def from_start(cls, start: Array, times: float) -> "UnboundedDescent":
        """Before the first step; a step is far if it is so many times as long as the start, or as one at zero."""
        return cls(times * (float(np.linalg.norm(start)) or 1.0))

    def ended(self) -> "UnboundedDescent":
        """After a step that does not count."""
        return UnboundedDescent(self.far)

    def after(self, start: Evaluation, end: Evaluation, most: int) -> "UnboundedDescent":
        """The state after one more step.

        A step counts if its curvature is not positive and it lowers the potential by more than one, and by more than
        the step before. A potential with a minimum has few of these in succession: heavy tails have no positive
        curvature either, but growing steps reach the mode.

        Raises
        ------
        ParameterError
            After ``most`` steps or more, the last of them far: the potential is unbounded.
        """
        assert start.gradient is not None
        assert end.gradient is not None
        step = end.point - start.point
        decrease = start.value - end.value
        if not (float(step @ (end.gradient - start.gradient)) <= 0.0 and decrease > max(self.last, 1.0)):
            return self.ended()
        found = UnboundedDescent(self.far, self.steps + 1, decrease)
        length = float(np.linalg.norm(step))
        if found.steps >= most and length > self.far:
            raise ParameterError(
                f"target: the density grows without bound from x0 on: its logarithm is {-end.value:.3g} at a distance "
                f"where the last step was {length:.3g} long, and rises faster with each step. Is this "
                "minus the log density?"
            )
        return found
