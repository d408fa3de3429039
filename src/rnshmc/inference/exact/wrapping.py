"""Angles on the way to the user's functions."""

from dataclasses import replace

from rnshmc.inference.angles import Angles
from rnshmc.inference.exact.evaluation import Answer, Task
from rnshmc.inference.exact.forward_posterior import ForwardPosterior
from rnshmc.inference.exact.priors.base import WrappedPrior
from rnshmc.inference.exact.workers import Workers


class Wrapping(Workers):
    """Workers that receive each angle in its interval, and whose answers are at the unwrapped points.

    All else knows only unwrapped angles, in which the density is periodic.
    """

    def __init__(self, workers: Workers, angles: Angles) -> None:
        super().__init__()
        self.slots = workers.slots
        self._workers, self._angles = workers, angles

    def submit(self, task: Task) -> None:
        """Accept a task."""
        self._waiting[task.number] = task
        self._workers.submit(replace(task, x=self._angles.wrapped(task.x)))

    def next(self) -> tuple[Task, Answer]:
        """Wait for a finished task."""
        done, (found, cost) = self._workers.next()
        task = self._waiting.pop(done.number)
        # The point of a run has only the model's parameters.
        return task, (replace(found, point=task.x[: len(found.point)]), cost)

    def withdraw(self, task: Task) -> bool:
        """Withdraw a task that has not started; whether that was possible."""
        return self._workers.withdraw(task) and super().withdraw(task)

    def close(self) -> None:
        """Abandon unfinished tasks."""
        self._workers.close()


def on_circles(forward_posterior: ForwardPosterior | None, angles: Angles | None) -> ForwardPosterior | None:
    """The posterior of a forward model with a prior of unwrapped angles."""
    if forward_posterior is None or angles is None:
        return forward_posterior
    return replace(forward_posterior, prior=WrappedPrior(forward_posterior.prior, angles))
