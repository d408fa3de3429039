"""Errors that stop a run of `rnshmc.sample` early.

They are not in `rnshmc.errors`: every stage of the pipeline imports that, and a change there reruns all chains.
"""

from rnshmc.errors import RnshmcError


class Stopped(RnshmcError):  # noqa: N818 (no mistake; so is `StopIteration` called)
    """No further evaluation is possible; completed ones are kept."""


class BudgetSpent(Stopped):
    """The next exact evaluation would exceed the budget."""


class EvaluationError(Stopped, RuntimeError):
    """A server does not answer, or a pool lost its workers."""
