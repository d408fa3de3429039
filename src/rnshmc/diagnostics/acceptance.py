"""Acceptance rates as in paper B's implementation, which also draws trajectories of zero steps and accepts them."""

from collections.abc import Sequence


def empty_share(n_steps: Sequence[int]) -> float:
    """Share of zero-step trajectories, if drawn as often as each number of steps from low to high.

    Zero if the number is fixed. For {1, ..., L - 1} it is 1 / L: paper B's implementation takes floor(u L) steps with u
    uniform.
    """
    low, high = n_steps
    return 0.0 if low == high else 1.0 / (high - low + 2)


def with_empty(acceptance: float, n_steps: Sequence[int]) -> float:
    """Acceptance rate of a chain after adding the zero-step trajectories."""
    empty = empty_share(n_steps)
    return empty + (1.0 - empty) * acceptance
