"""The exact potential in the user's coordinates: every evaluation, counted, stored and never repeated."""

import logging
import math
from collections import deque
from collections.abc import Generator, Iterable
from dataclasses import replace
from itertools import count

import numpy as np

from rnshmc.errors import EvaluationError
from rnshmc.inference.exact.account import Account
from rnshmc.inference.exact.evaluation import Evaluation, Spent, Task, within
from rnshmc.inference.exact.evaluation_log import EvaluationLog
from rnshmc.inference.exact.failing import FailureWatch, lost, mended
from rnshmc.inference.exact.forward_posterior import ForwardPosterior
from rnshmc.inference.exact.pools import Workers
from rnshmc.inference.exact.resuming import NEW_POINTS, confirm, hint_at_reuse
from rnshmc.inference.transforms import Transform
from rnshmc.types import Array

_log = logging.getLogger(__name__)


class Evaluations:
    """The exact potential in the user's coordinates, and all that is known of it.

    Parameters
    ----------
    workers
        Who evaluates.
    transform
        Stored evaluations outside its bounds are not used.
    use_gradients
        Whether gradients are used.
    evaluation_log
        File of evaluations, None for none: replayed but not part of `record`, so a resumed run follows the same path.
    known
        Evaluations to learn from.
    budget, slope_price
        Units that may be spent, None for any number, and those that a gradient costs.
    forward_posterior
        How the potential is read off runs of a forward model, None for a density.

    Attributes
    ----------
    transform
        Of the declared bounds.
    given
        Evaluations to learn from.
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
    ) -> None:
        self._workers = workers
        self.forward_posterior = forward_posterior
        self.transform = transform
        self._use_gradients = use_gradients
        self._evaluation_log = evaluation_log
        self._kept = ". The evaluations are in the file; the same call resumes from them" if evaluation_log else ""
        self._account, self._numbers = Account(budget, slope_price), count(1)
        self._found_gradient: bool | None = None
        self._tasks: dict[bytes, Task] = {}
        self._by_parameters: dict[bytes, Evaluation] = {}
        self._requested: dict[bytes, Evaluation | None] = {}
        self._stored = self._usable(within(evaluation_log.records if evaluation_log else (), transform))
        self.given = self._usable(known)
        for one in (*self.given, *self._stored):
            self._learn(one)
        self._watch = FailureWatch()

    @property
    def record(self) -> tuple[Evaluation, ...]:
        """The given evaluations, and all that arrived, in the order of requests: it is the same with any workers."""
        return (*self.given, *filter(None, self._requested.values()))

    @property
    def has_gradient(self) -> bool:
        """Whether gradients can be requested; known once the first value is."""
        return self._use_gradients and self._found_gradient is not False

    @property
    def spent(self) -> Spent:
        """What was evaluated in this run so far."""
        return self._account.spent

    @property
    def budget(self) -> int | None:
        """Units that may be spent in this run."""
        return self._account.budget

    def affordable(self, points: Array, *, gradient: bool) -> int:
        """Number of rows of ``points``, from the first on, that are known or that the budget still allows."""
        if self._account.budget is None:
            return len(points)
        left = (self._account.budget - self.spent.units) // self._account.price(gradient)
        for number, x in enumerate(points):
            left -= self._found(x, gradient) is None
            if left < 0:
                return number
        return len(points)

    def evaluate(self, points: Array, *, gradient: bool = True) -> Generator[Evaluation, None, None]:
        """Evaluate the potential at the rows of ``points``, shape (n, d), or at one point, and yield as they arrive.

        Known points are yielded without an evaluation. As many points as there are workers are evaluated at a time; the
        next ones start when this iterator is advanced. Several iterators may be open at once.

        Raises
        ------
        BudgetSpent
            When the next evaluation would exceed the budget; those in progress are yielded before.
        EvaluationError
            If nothing can be evaluated any more.
        """
        gradient = gradient and self.has_gradient
        waiting = deque(np.atleast_2d(np.asarray(points, dtype=np.float64)))
        for x in waiting:
            self._requested.setdefault(x.tobytes(), None)
        in_progress: list[Array] = []
        try:
            while waiting or in_progress:
                while waiting and self._begin(waiting[0], gradient):
                    in_progress.append(waiting.popleft())
                done = [self._found(x, gradient) for x in in_progress]
                if any(done):
                    in_progress = [x for x, found in zip(in_progress, done, strict=True) if not found]
                    for found in filter(None, done):
                        self._note_gradient(found, gradient)
                        self._requested[found.point.tobytes()] = found
                        yield found
                elif lost := [x for x in in_progress if self._key(x) not in self._tasks]:
                    # Another iterator requested less there, or withdrew the point.
                    in_progress = [x for x in in_progress if self._key(x) in self._tasks]
                    waiting.extendleft(lost)
                    if not self._begin(waiting[0], gradient) and not self._tasks:
                        raise self._account.exhausted()
                elif self._tasks:
                    self._collect()
                else:
                    raise self._account.exhausted()
        finally:
            self._withdraw(in_progress)

    def confirm(self) -> None:
        """Evaluate one stored point anew, and check that the file is of this target; forget failures that are mended.

        The evaluation is counted, but the stored one stays in use, so that a resumed run follows the same path. Nothing
        is evaluated if the target's digest is that of the file. If one of the last failures works now, all points that
        failed are evaluated again when they are requested. Raises what `resuming.confirm` and `evaluate` do.
        """
        if self._evaluation_log is None:
            return
        if confirm(self._stored, self._anew, self._evaluation_log, gradient=self._use_gradients):
            held = f"{self._evaluation_log.path} holds {len(self._evaluation_log.records)} evaluations"
            _log.info("filepath: %s; one was made anew and agrees, for %d units", held, self.spent.units)
        if mended([one for one in self._by_parameters.values() if lost(one)], self._anew):
            _log.info(
                "filepath: %s holds failed evaluations; one works now, and all are repeated", self._evaluation_log.path
            )
            self._by_parameters = {key: one for key, one in self._by_parameters.items() if not lost(one)}

    def disown(self) -> None:
        """Remove this run's evaluations from the file: they are not of the target that the user meant."""
        if self._evaluation_log is not None:
            self._evaluation_log.forget()

    def close(self) -> None:
        """Stop the workers and close the file."""
        self._workers.close()
        if self._evaluation_log is not None:
            self._evaluation_log.close()

    def _begin(self, x: Array, gradient: bool) -> bool:
        """Whether a point is known or submitted; if not, there is no free worker or no budget for it."""
        if self._found(x, gradient) or self._key(x) in self._tasks:
            return True
        reserved = sum(self._account.price(task.gradient) for task in self._tasks.values())
        if not self._account.affords(reserved + self._account.price(gradient)):
            return False
        if self._workers.slots is not None and len(self._tasks) >= self._workers.slots:
            return False
        self._tasks[self._key(x)] = self._submit(x, gradient)
        return True

    def _submit(self, x: Array, gradient: bool) -> Task:
        task = Task(next(self._numbers), x, gradient)
        self._workers.submit(task)
        return task

    def _withdraw(self, parameters: Iterable[Array]) -> None:
        """Withdraw points that have not started and that nobody waits for any more."""
        for x in parameters:
            task = self._tasks.get(self._key(x))
            if task is not None and self._workers.withdraw(task):
                del self._tasks[self._key(x)]

    def _collect(self) -> None:
        """Wait for one evaluation, and store it; find out whether the target fails for good."""
        self._store(*self._next())
        if (worked := self._watch.due()) is not None:
            again = self._submit(worked, gradient=False)
            while (done := self._next())[0].number != again.number:
                self._store(*done)
            self._watch.check(done[1], self._kept)

    def _store(self, task: Task, found: Evaluation) -> None:
        """Keep an evaluation."""
        del self._tasks[self._key(task.x)]
        if self._evaluation_log is not None:
            self._evaluation_log.append(found)
            if self.spent.points == NEW_POINTS:
                asked = {self._key(one.point) for one in self.record}
                hint_at_reuse(self._evaluation_log.path, [self._key(one.point) in asked for one in self._stored])
        self._learn(found)
        self._watch.note(found, task.x)

    def _next(self) -> tuple[Task, Evaluation]:
        """Wait for one evaluation, and count it."""
        try:
            task, answer = self._workers.next()
        except EvaluationError as error:
            raise EvaluationError(f"{error}{self._kept}") from error
        found, cost = answer
        self._account.book(found, cost)
        return task, found if self._use_gradients else found.without_gradient()

    def _anew(self, stored: Evaluation) -> Evaluation:
        """The evaluation of a stored point, made again and not stored."""
        # Outputs tell models apart; derivatives of a run are for one likelihood.
        gradient = self._use_gradients and stored.with_gradient and self.forward_posterior is None
        if not self._account.affords(self._account.price(gradient)):
            raise self._account.exhausted()
        self._submit(stored.point, gradient)
        anew = self._next()[1]
        self._note_gradient(anew, gradient)
        if anew.gradient is not None and stored.gradient is None:
            # The target had no gradient when the file was written: request it at the stored points, too.
            self._by_parameters = {
                key: replace(one, with_gradient=one.gradient is not None) for key, one in self._by_parameters.items()
            }
        return anew

    def _note_gradient(self, found: Evaluation, requested: bool) -> None:
        """Learn from the first value whether the target has a gradient."""
        if self._found_gradient is None and requested and found.failure is None and math.isfinite(found.value):
            self._found_gradient = found.gradient is not None

    def _usable(self, given: Iterable[Evaluation]) -> tuple[Evaluation, ...]:
        """The evaluations, without gradients if none are used."""
        return tuple(one if self._use_gradients else one.without_gradient() for one in given)

    def _learn(self, found: Evaluation) -> None:
        """Keep an evaluation, in place of one at the same point that says less."""
        known = self._by_parameters.get(key := self._key(found.point))
        if known is None or known.gradient is None:
            self._by_parameters[key] = found

    def _key(self, x: Array) -> bytes:
        # An evaluation of a forward model depends on its own parameters alone.
        return (x if self.forward_posterior is None else self.forward_posterior.key(x)).tobytes()

    def _found(self, x: Array, gradient: bool) -> Evaluation | None:
        """What is known at a point, if no more can be known of what is requested."""
        found = self._by_parameters.get(self._key(x))
        if found is not None and self.forward_posterior is not None:
            found = self.forward_posterior.read(found, x)
        return found if found and (not gradient or found.complete) else None
