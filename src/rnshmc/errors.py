"""The errors that rnshmc raises on purpose.

A kernel catches only `NumericalError`: the potential or its driver could not be evaluated at this point, and the
proposal is rejected and flagged. Every other error reaches the user, with a message that names the file, key or
parameter.
"""


class RnshmcError(Exception):
    """Base of every error raised by this package."""


class ParameterError(RnshmcError, ValueError):
    """A parameter or a configuration key has a value that cannot be used."""


class DataError(RnshmcError, ValueError):
    """A data file has invalid content; the message names the file and, where known, row and column."""


class SourceError(RnshmcError, OSError):
    """A source could not be reached, or its file has the wrong hash."""


class StoreError(RnshmcError, OSError):
    """A result on disk is missing, truncated or made by another specification."""


class CheckpointError(StoreError):
    """A checkpoint is damaged, or belongs to another chain."""


class FitError(RnshmcError, ArithmeticError):
    """A surrogate could not be fitted to its training set."""


class NumericalError(RnshmcError, ArithmeticError):
    """A potential cannot be evaluated at this position: an overflow, a failed factorisation, a failed solve."""


class Stopped(RnshmcError):  # noqa: N818 (not an error, and named like `StopIteration`)
    """No further evaluation is possible; completed ones are kept."""


class BudgetSpent(Stopped):
    """The next exact evaluation would exceed the budget."""


class EvaluationError(Stopped, RuntimeError):
    """A server does not answer, or a pool lost its workers."""
