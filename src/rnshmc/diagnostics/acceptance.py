"""Acceptance as paper B's implementation counts it: trajectories of no step are drawn, too, and accepted."""

from collections.abc import Sequence


def empty_share(n_steps: Sequence[int]) -> float:
    """Share of trajectories of no step, if that were drawn as often as each number of steps from low to high.

    Zero where the number is fixed. With {1, ..., L - 1} it is 1 / L: paper B's implementation takes floor(u L) steps, u
    uniform.
    """
    low, high = n_steps
    return 0.0 if low == high else 1.0 / (high - low + 2)


def with_empty(acceptance: float, n_steps: Sequence[int]) -> float:
    """The share of accepted proposals of a chain that has those trajectories besides."""
    empty = empty_share(n_steps)
    return empty + (1.0 - empty) * acceptance
