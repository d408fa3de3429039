"""What ends a run of `rnshmc.sample` before its time.

They are not in `rnshmc.errors`, which every stage of the pipeline imports: chains would be sampled again for them.
"""

from rnshmc.errors import RnshmcError


class Stopped(RnshmcError):  # noqa: N818 (no mistake; so is `StopIteration` called)
    """No exact evaluation can be made any more; what there is stays."""


class BudgetSpent(Stopped):
    """The next exact evaluation would exceed the budget."""


class EvaluationError(Stopped, RuntimeError):
    """A server does not answer, or a pool has lost its workers."""
