"""What ends a run of `rnshmc.sample` before its time.

They are not in `rnshmc.errors`, which every stage of the pipeline imports: chains would be sampled again for them.
"""

from rnshmc.errors import RnshmcError


class BudgetSpent(RnshmcError):  # noqa: N818 (the outcome of a request that the user made, as StopIteration is)
    """The next exact evaluation would exceed the budget."""


class EvaluationError(RnshmcError, RuntimeError):
    """Nothing can be evaluated any more: a server does not answer, or a pool has lost its workers."""
