"""The exact potential in the user's coordinates: every evaluation, counted, stored and never repeated."""

import logging
import math
import sys
from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from itertools import count, takewhile

import numpy as np

from rnshmc.errors import BudgetSpent, EvaluationError
from rnshmc.inference.exact.evaluation import Evaluation, Spent, Task, within
from rnshmc.inference.exact.evaluation_log import EvaluationLog
from rnshmc.inference.exact.forward_posterior import ForwardPosterior
from rnshmc.inference.exact.pools import Threads
from rnshmc.inference.exact.resuming import NEW_POINTS, FailureWatch, confirm, hint_at_reuse, lost, mended
from rnshmc.inference.exact.workers import Workers
from rnshmc.inference.given import users_errstate
from rnshmc.inference.transforms import Transform
from rnshmc.types import Array

_log = logging.getLogger(__name__)


class Evaluations:
    """The exact potential in the user's coordinates, and all known evaluations of it.

    Parameters
    ----------
    workers
        Evaluate the points.
    transform
        Of the declared bounds; stored evaluations outside are not used. Workers receive angles in their intervals; all
        else knows only unwrapped angles, in which the density is periodic.
    evaluation_log
        File of evaluations: replayed but not part of `record`, so that a resumed run follows the same path.
    known
        Evaluations to learn from; ``given`` without gradients if none are used.
    budget, slope_price, most_points
        Units that may be spent, None for no budget; those that a gradient costs; and the number of points that may be
        requested without gradients and a budget.
    forward_posterior
        Computes the potential from runs of a forward model; None for a density.
    threads
        BLAS has the caller's number of threads while workers have a task; None: its number is left alone.
    """

    def __init__(
        self,
        workers: Workers,
        transform: Transform,
        *,
        use_gradients: bool = True,
        evaluation_log: EvaluationLog | None = None,
        known: Iterable[Evaluation] = (),
        budget: int | None = None,
        forward_posterior: ForwardPosterior | None = None,
        slope_price: int = 1,
        most_points: int = sys.maxsize,
        threads: Threads | None = None,
    ) -> None:
        self._workers = workers
        self._threads = threads
        self.forward_posterior = forward_posterior
        self.transform = transform
        self._use_gradients = use_gradients
        self._evaluation_log = evaluation_log
        self._kept = ". The evaluations are in the file; the same call resumes from them" if evaluation_log else ""
        self._budget, self._most_points, self._slope_price, self._always_both = budget, most_points, slope_price, False
        self.spent = Spent()
        """Evaluations made by this run so far."""
        self._numbers = count(1)
        self._found_gradient: bool | None = None
        self._tasks: dict[bytes, Task] = {}
        self._outstanding: dict[int, Array] = {}
        self._by_parameters: dict[bytes, Evaluation] = {}
        self._requested: dict[bytes, Evaluation | None] = {}
        self._stored = self._usable(within(evaluation_log.records if evaluation_log else (), transform))
        self.given = self._usable(known)
        for one in (*self.given, *self._stored):
            self._learn(one)
        self._watch = FailureWatch()

    @property
    def record(self) -> tuple[Evaluation, ...]:
        """The given evaluations, and all that arrived, in the order of requests, whatever the workers."""
        return (*self.given, *filter(None, self._requested.values()))

    @property
    def requested(self) -> int:
        """Number of points requested so far, the same in a run that was interrupted and resumed from its file."""
        return len(self._requested)

    @property
    def has_gradient(self) -> bool:
        """Whether gradients can be requested; True until the first value shows that there are none."""
        return self._use_gradients and self._found_gradient is not False

    @property
    def units_left(self) -> int:
        """Units that may still be spent; without a budget or gradients, a unit for each point left."""
        if self._budget is not None:
            return self._budget - self.spent.units
        return sys.maxsize if self.has_gradient else self._most_points - self.requested

    def affordable(self, points: Sequence[Array] | Array) -> int:
        """Number of rows of ``points``, from the first on, whose values are known or may still be evaluated."""
        left = self.units_left if self._budget is None else self.units_left // self._price(gradient=False)
        for number, x in enumerate(points):
            # Without a budget points count, those of an earlier run in the file, too: a resumed run ends at the same.
            left -= not (x.tobytes() in self._requested if self._budget is None else self._found(x, gradient=False))
            if left < 0:
                return number
        return len(points)

    def evaluate(self, points: Array, *, gradient: bool = True) -> Generator[Evaluation, None, None]:
        """Evaluate the potential at the rows of ``points``, shape (n, d), or at one point, and yield as they arrive.

        Known points are yielded without an evaluation. As many points as there are workers are evaluated at a time; the
        next ones start when this iterator is advanced. Unfinished evaluations are abandoned when it is closed.

        Raises `BudgetSpent` when the next evaluation would exceed the budget, after yielding those in progress, and
        `EvaluationError` if no further evaluation is possible.
        """
        gradient = gradient and self.has_gradient
        missing = list(np.atleast_2d(np.asarray(points, dtype=np.float64)))
        if self._budget is None and self.affordable(missing) < len(missing):
            raise self._exhausted()
        for x in missing:
            self._requested.setdefault(x.tobytes(), None)
        try:
            while missing:
                begun = list(takewhile(lambda x: self._begin(x, gradient), missing))
                done = [self._found(x, gradient) for x in begun]
                if any(done):
                    missing = [x for x, found in zip(begun, done, strict=True) if not found] + missing[len(begun) :]
                    for found in filter(None, done):
                        self._note_gradient(found, gradient)
                        self._requested[found.point.tobytes()] = found
                        yield found
                elif self._tasks:
                    self._collect()
                else:
                    raise self._exhausted()
        finally:
            if self._outstanding:
                self._abandon()

    def confirm(self) -> None:
        """Check that the file is of this target (`resuming.confirm`), and forget failures that do not persist.

        The new evaluation is counted, but the stored one stays in use, so that a resumed run follows the same path. If
        one of the last failures works now, all failed points are evaluated again when they are requested.
        """
        if (file := self._evaluation_log) is None:
            return
        if confirm(self._stored, self._anew, file, gradient=self._use_gradients):
            held = f"{file.path} holds {len(file.records)} evaluations"
            _log.info("filepath: %s; one was repeated and agrees, for %d units", held, self.spent.units)
        if mended([one for one in self._by_parameters.values() if lost(one)], self._anew):
            _log.info("filepath: %s holds failed evaluations; one now succeeds, all are repeated", file.path)
            self._by_parameters = {key: one for key, one in self._by_parameters.items() if not lost(one)}

    def disown(self) -> None:
        """Remove this run's evaluations from the file: they are not of the intended target."""
        if self._evaluation_log is not None:
            self._evaluation_log.forget()

    def close(self) -> None:
        """Stop the workers and close the file."""
        self._workers.close()
        if self._evaluation_log is not None:
            self._evaluation_log.close()

    def _price(self, gradient: bool) -> int:
        """Units that an evaluation costs; a gradient may come with every value."""
        return 1 + self._slope_price if gradient or self._always_both else 1

    def _affords(self, units: int) -> bool:
        return self._budget is None or self.spent.units + units <= self._budget

    def _exhausted(self) -> BudgetSpent:
        if self._budget is None:
            return BudgetSpent(f"without gradients, {self._most_points} points are the limit; `budget` sets another")
        return BudgetSpent(
            f"budget: {self.spent.units} of {self._budget} units are spent, at {self.spent.points} points, and the "
            "next one needs more"
        )

    def _begin(self, x: Array, gradient: bool) -> bool:
        """Whether a point is known or submitted; if not, there is no free worker or no budget for it."""
        if self._key(x) in self._tasks or self._found(x, gradient):
            return True
        reserved = sum(self._price(task.gradient) for task in self._tasks.values())
        if not self._affords(reserved + self._price(gradient)):
            return False
        if self._workers.slots is not None and len(self._tasks) >= self._workers.slots:
            return False
        self._tasks[self._key(x)] = self._submit(x, gradient)
        return True

    def _submit(self, x: Array, gradient: bool) -> Task:
        if self._threads is not None and not self._outstanding:
            self._threads.release()  # before processes start, which inherit the number
        task = Task(next(self._numbers), self.transform.wrapped(x), gradient)
        self._outstanding[task.number] = x
        self._workers.submit(task)
        return task

    def _abandon(self) -> None:
        """Forget all tasks after an error or Ctrl-C."""
        self._workers.close()
        self._tasks.clear()
        self._outstanding.clear()
        if self._threads is not None:
            self._threads.limit()

    def _collect(self) -> None:
        """Wait for one evaluation, and store it; check whether the target fails for good."""
        _, x, found = self._next()
        self._store(x, found)
        if (worked := self._watch.due()) is not None:
            again = self._submit(worked, gradient=False)
            while (done := self._next())[0] != again.number:
                self._store(*done[1:])
            self._watch.check(done[2], self._kept)

    def _store(self, x: Array, found: Evaluation) -> None:
        del self._tasks[self._key(x)]
        if self._evaluation_log is not None:
            self._evaluation_log.append(found)
            if self.spent.points == NEW_POINTS:
                asked = {self._key(one.point) for one in self.record}
                hint_at_reuse(self._evaluation_log.path, [self._key(one.point) in asked for one in self._stored])
        self._learn(found)
        self._watch.note(found, x)

    def _next(self) -> tuple[int, Array, Evaluation]:
        """Wait for a task, and count it; return its number, its parameters and the evaluation."""
        try:
            with users_errstate():
                task, (found, cost) = self._workers.next()
                while task.number not in self._outstanding:  # abandoned
                    task, (found, cost) = self._workers.next()
        except EvaluationError as error:
            raise EvaluationError(f"{error}{self._kept}") from error
        x = self._outstanding.pop(task.number)
        if self._threads is not None and not self._outstanding:
            self._threads.limit()
        self._always_both |= cost.always_both
        self.spent += Spent(cost.values, cost.gradients, int(found.failed), points=1)
        # The point of a run has only the model's parameters.
        found = replace(found, point=x[: len(found.point)])
        return task.number, x, found if self._use_gradients else found.without_gradient()

    def _anew(self, stored: Evaluation) -> Evaluation:
        """A new evaluation of a stored point, which is not stored."""
        # Outputs suffice to compare models; derivatives of a run may be for another likelihood.
        gradient = self._use_gradients and stored.with_gradient and self.forward_posterior is None
        if not self._affords(self._price(gradient)):
            raise self._exhausted()
        self._submit(stored.point, gradient)
        _, _, anew = self._next()
        self._note_gradient(anew, gradient)
        if anew.gradient is not None and stored.gradient is None:
            # The target had no gradient when the file was written: request it at the stored points, too.
            self._by_parameters = {
                key: replace(one, with_gradient=one.gradient is not None) for key, one in self._by_parameters.items()
            }
        return anew

    def _note_gradient(self, found: Evaluation, requested: bool) -> None:
        """Find out from the first value whether the target has a gradient."""
        if self._found_gradient is None and requested and found.failure is None and math.isfinite(found.value):
            self._found_gradient = found.gradient is not None

    def _usable(self, given: Iterable[Evaluation]) -> tuple[Evaluation, ...]:
        """The evaluations, without gradients if none are used."""
        return tuple(one if self._use_gradients else one.without_gradient() for one in given)

    def _learn(self, found: Evaluation) -> None:
        """Keep an evaluation, unless one with a gradient is known at the same point."""
        known = self._by_parameters.get(key := self._key(found.point))
        if known is None or known.gradient is None:
            self._by_parameters[key] = found

    def _key(self, x: Array) -> bytes:
        # An evaluation of a forward model depends on its own parameters alone.
        return (x if self.forward_posterior is None else self.forward_posterior.key(x)).tobytes()

    def _found(self, x: Array, gradient: bool) -> Evaluation | None:
        """The known evaluation of a point, if it has all that is requested and possible."""
        found = self._by_parameters.get(self._key(x))
        if found is not None and self.forward_posterior is not None:
            found = self.forward_posterior.read(found, x)
        return found if found and (not gradient or found.complete) else None
