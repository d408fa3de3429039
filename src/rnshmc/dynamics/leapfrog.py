"""The leapfrog integrator of a separable Hamiltonian (paper A, Algorithm 1)."""

from collections.abc import Callable
from typing import NamedTuple

from rnshmc.dynamics.metrics import Metric
from rnshmc.types import Array


class Endpoint(NamedTuple):
    """The end of a trajectory: position, momentum, and the values and gradients there."""

    q: Array
    p: Array
    potential: float
    gradient: Array


def leapfrog(
    q: Array,
    p: Array,
    gradient: Array,
    *,
    step_size: float,
    n_steps: int,
    metric: Metric,
    force: Callable[[Array], Array],
    at_end: Callable[[Array], tuple[float, Array]],
) -> Endpoint:
    """Integrate dq/dt = M^-1 p, dp/dt = -grad of the driver, with one gradient per step.

    The two half kicks between neighbouring steps are one full kick, and the gradient at the start is handed in, so
    ``n_steps`` steps cost ``n_steps`` gradients. The last of them is asked for together with the deciding potential,
    which is free when one function both drives and decides. Position, momentum and the driver's gradient, its force,
    have shape (dim,). ``step_size`` and ``n_steps`` are the paper's epsilon and L. ``at_end`` gives the potential that
    decides and the gradient of the driver at the end.
    """
    p = p - 0.5 * step_size * gradient
    for _ in range(n_steps - 1):
        q = q + step_size * metric.velocity(p)
        p = p - step_size * force(q)
    q = q + step_size * metric.velocity(p)
    potential, gradient = at_end(q)
    p = p - 0.5 * step_size * gradient
    return Endpoint(q, p, potential, gradient)
