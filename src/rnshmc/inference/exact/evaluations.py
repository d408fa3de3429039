"""The exact potential of a run: evaluations in unconstrained coordinates, counted, stored and never repeated."""

import logging
import math
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from copy import copy
from dataclasses import replace
from itertools import count

import numpy as np

from rnshmc.errors import EvaluationError
from rnshmc.inference.exact.account import Account
from rnshmc.inference.exact.evaluation import Evaluation, Spent, Task, placed, translated, within
from rnshmc.inference.exact.failing import FailureWatch, lost, mended
from rnshmc.inference.exact.ledger import Ledger
from rnshmc.inference.exact.pools import Workers
from rnshmc.inference.exact.posed import Posed
from rnshmc.inference.exact.resuming import NEW_POINTS, confirm, hint_at_reuse
from rnshmc.inference.transforms import Transform
from rnshmc.types import Array

_log = logging.getLogger(__name__)


class Evaluations:
    """The exact potential of a run, and all that is known of it.

    Parameters
    ----------
    workers
        Who evaluates.
    transform
        From unconstrained coordinates to the user's.
    use_gradients
        Whether gradients are used.
    ledger
        File of evaluations, None for none: replayed but not exposed as `known`, so a resumed run follows the same path.
    known
        Evaluations to learn from, in the user's coordinates.
    budget, slope_price
        Units that may be spent, None for any number, and those that a gradient costs.
    posed
        How the potential is read off runs of a forward model, None for a density.

    Attributes
    ----------
    known
        The given evaluations inside the bounds, in unconstrained coordinates.
    """

    def __init__(
        self,
        workers: Workers,
        transform: Transform,
        *,
        use_gradients: bool = True,
        ledger: Ledger | None = None,
        known: Iterable[Evaluation] = (),
        budget: int | None = None,
        posed: Posed | None = None,
        slope_price: int = 1,
    ) -> None:
        self._workers = workers
        self.posed = posed
        self.transform = transform
        self._use_gradients = use_gradients
        self._ledger = ledger
        self._kept = ". The evaluations are in the file; the same call resumes from them" if ledger else ""
        self._account, self._numbers = Account(budget, slope_price), count(1)
        self._found_gradient: bool | None = None
        self._tasks: dict[bytes, Task] = {}
        self._by_parameters: dict[bytes, Evaluation] = {}
        self._by_point: dict[bytes, Evaluation] = {}
        self._yielded: dict[bytes, Evaluation] = {}
        self.dim = transform.dim
        self._stored = self._usable(ledger.records if ledger else ())
        self._given = tuple(known)
        for one in (*self._usable(self._given), *self._stored):
            self._learn(one)
        self._watch = FailureWatch()
        self.known: Sequence[Evaluation] = self._expose(self._given)

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

    def served(self, fewest: int) -> bool:
        """Whether given runs, as of a model with other data, are as many as an emulator has: ``fewest`` + d."""
        return self.posed is not None and len({self._key(one.point) for one in self._given}) >= fewest + self.dim

    def affordable(self, points: Array, *, gradient: bool) -> int:
        """Number of rows of ``points``, from the first on, that are known or that the budget still allows."""
        if self._account.budget is None:
            return len(points)
        left = (self._account.budget - self.spent.units) // self._account.price(gradient)
        for number, point in enumerate(points):
            left -= self._found(point, self.transform.parameters(point), gradient) is None
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
        points = np.atleast_2d(np.asarray(points, dtype=np.float64))
        waiting = deque((point, self.transform.parameters(point)) for point in points)
        in_progress: list[tuple[Array, Array]] = []
        try:
            while waiting or in_progress:
                while waiting and self._begin(*waiting[0], gradient):
                    in_progress.append(waiting.popleft())
                done = [self._found(point, x, gradient) for point, x in in_progress]
                if any(done):
                    arrived = [(point, found) for (point, _), found in zip(in_progress, done, strict=True) if found]
                    in_progress = [pair for pair, found in zip(in_progress, done, strict=True) if not found]
                    for point, found in arrived:
                        self._note_gradient(found, gradient)
                        self._yielded[found.point.tobytes()] = found
                        yield translated(found, point, self.transform)
                elif lost := [pair for pair in in_progress if self._key(pair[1]) not in self._tasks]:
                    # Another iterator requested less there, or withdrew the point.
                    in_progress = [pair for pair in in_progress if self._key(pair[1]) in self._tasks]
                    waiting.extendleft(lost)
                    if not self._begin(*waiting[0], gradient) and not self._tasks:
                        raise self._account.exhausted()
                elif self._tasks:
                    self._collect()
                else:
                    raise self._account.exhausted()
        finally:
            self._withdraw(x for _, x in in_progress)

    def bounded(self, transform: Transform) -> "Evaluations":
        """The same potential, with the same workers, file and budget, in coordinates of another transform.

        What this one has yielded is `known` to the other.
        """
        other = copy(self)
        other.transform, other._by_point, other._yielded = transform, {}, {}
        other._given = (*self._given, *self._yielded.values())
        other.known = other._expose(other._given)
        return other

    def confirm(self) -> None:
        """Evaluate one stored point anew, and check that the file is of this target; forget failures that are mended.

        The evaluation is counted, but the stored one stays in use, so that a resumed run follows the same path. Nothing
        is evaluated if the target's digest is that of the file. If one of the last failures works now, all points that
        failed are evaluated again when they are requested. Raises what `resuming.confirm` and `evaluate` do.
        """
        if self._ledger is None:
            return
        if confirm(self._stored, self._anew, self._ledger, gradient=self._use_gradients):
            held = f"{self._ledger.path} holds {len(self._ledger.records)} evaluations"
            _log.info("filepath: %s; one was made anew and agrees, for %d units", held, self.spent.units)
        if mended([one for one in self._by_parameters.values() if lost(one)], self._anew):
            _log.info("filepath: %s holds failed evaluations; one works now, and all are repeated", self._ledger.path)
            self._by_parameters = {key: one for key, one in self._by_parameters.items() if not lost(one)}

    def disown(self) -> None:
        """Remove this run's evaluations from the file: they are not of the target that the user meant."""
        if self._ledger is not None:
            self._ledger.forget()

    def close(self) -> None:
        """Stop the workers and close the file."""
        self._workers.close()
        if self._ledger is not None:
            self._ledger.close()

    def _begin(self, point: Array, x: Array, gradient: bool) -> bool:
        """Whether a point is known or submitted; if not, there is no free worker or no budget for it."""
        if self._found(point, x, gradient) or self._key(x) in self._tasks:
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
        if self._ledger is not None:
            self._ledger.append(found)
            if self.spent.points == NEW_POINTS:
                asked = {one.point.tobytes() for one in (*self._given, *self._yielded.values())}
                hint_at_reuse(self._ledger.path, [one.point.tobytes() in asked for one in self._stored])
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
        gradient = self._use_gradients and stored.with_gradient and self.posed is None
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

    def _expose(self, given: Iterable[Evaluation]) -> tuple[Evaluation, ...]:
        """Given evaluations in unconstrained coordinates, found there without another one."""
        pairs = placed(self._usable(given), self.transform)
        self._by_point.update({point.tobytes(): one for point, one in pairs})
        return tuple(translated(self._read(one, one.point), point, self.transform) for point, one in pairs)

    def _usable(self, given: Iterable[Evaluation]) -> tuple[Evaluation, ...]:
        """The evaluations strictly inside the bounds, without gradients if none are used."""
        return tuple(one if self._use_gradients else one.without_gradient() for one in within(given, self.transform))

    def _learn(self, found: Evaluation) -> None:
        """Keep an evaluation, in place of one at the same point that says less."""
        known = self._by_parameters.get(key := self._key(found.point))
        if known is None or known.gradient is None:
            self._by_parameters[key] = found

    def _read(self, found: Evaluation, x: Array) -> Evaluation:
        return found if self.posed is None else self.posed.read(found, x)

    def _key(self, x: Array) -> bytes:
        # An evaluation of a forward model depends on its own parameters alone.
        return (x if self.posed is None else self.posed.key(x)).tobytes()

    def _found(self, point: Array, x: Array, gradient: bool) -> Evaluation | None:
        """What is known at a point, if no more can be known of what is requested."""
        for stored in (self._by_parameters.get(self._key(x)), self._by_point.get(point.tobytes())):
            found = stored and self._read(stored, x)
            if found and (not gradient or found.complete):
                return found
        return None
