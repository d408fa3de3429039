"""Exact evaluations in unconstrained coordinates: spread over workers, counted, kept, and never made twice."""

import logging
import math
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from rnshmc.errors import StoreError
from rnshmc.inference.exact.ledger import Ledger, Record
from rnshmc.inference.exact.model import Answer
from rnshmc.inference.exact.pools import Task, Workers
from rnshmc.inference.exact.resuming import candidates, difference
from rnshmc.inference.exact.trouble import BudgetSpent, EvaluationError
from rnshmc.inference.transforms import Transform
from rnshmc.types import Array

_log = logging.getLogger(__name__)
MOST_SHOWN = 6
"""Parameters of a point that a message shows."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What is known at one point.

    Attributes
    ----------
    point
        Unconstrained coordinates, shape (d,).
    value
        Potential U = -log density there, with the Jacobian of the transform, up to a constant; infinite where the
        density is 0 or the evaluation failed.
    gradient
        Its gradient, shape (d,); None where it was not asked for, is unavailable or failed.
    failure
        Why it failed, None otherwise.
    """

    point: Array
    value: float
    gradient: Array | None
    failure: str | None


@dataclass(frozen=True)
class Spent:
    """Exact evaluations that a run made."""

    values: int = 0
    gradients: int = 0
    failed: int = 0
    """Points at which the value could not be evaluated; what they took is in the counts above."""

    @property
    def units(self) -> int:
        """A value is one unit, a gradient one more."""
        return self.values + self.gradients


class Evaluations:
    """The exact potential of a run, and all that is known of it.

    Parameters
    ----------
    workers
        Who evaluates.
    transform
        From unconstrained coordinates to the user's.
    has_gradient
        Whether the target has a gradient.
    ledger
        Where evaluations are kept, None for nowhere. What it holds is not made again, but is not `known` either: a run
        that starts again asks for the same points, and comes to what it would have come to.
    known
        Evaluations that are there already, to learn from.
    budget
        Units that may be spent, None for any number.
    """

    def __init__(
        self,
        workers: Workers,
        transform: Transform,
        *,
        has_gradient: bool = True,
        ledger: Ledger | None = None,
        known: Iterable[Record] = (),
        budget: int | None = None,
    ) -> None:
        self._workers = workers
        self._transform = transform
        self._ledger = ledger
        self._budget = budget
        self._spent = Spent()
        self._number = 0
        self._always_both = False
        self._tasks: dict[bytes, Task] = {}
        self._by_parameters: dict[bytes, Record] = {}
        self._by_point: dict[bytes, Record] = {}
        self.has_gradient = has_gradient
        self.dim = transform.dim
        given = [record for record in known if self._inside(record.x)]
        for record in (*given, *(ledger.records if ledger else ())):
            self._learn(record)
        for record in given:
            self._by_point[transform.coordinates(record.x).tobytes()] = record
        self.known: Sequence[Evaluation] = tuple(
            self._translated(record, transform.coordinates(record.x)) for record in given
        )

    @property
    def spent(self) -> Spent:
        """What was evaluated in this run so far, by all who asked."""
        return self._spent

    @property
    def budget(self) -> int | None:
        """Units that may be spent in this run."""
        return self._budget

    def affordable(self, *, gradient: bool) -> int | None:
        """Number of evaluations that the budget still allows; None without a budget."""
        return None if self._budget is None else (self._budget - self._spent.units) // self._price(gradient)

    def evaluate(self, points: Array, *, gradient: bool = True) -> Generator[Evaluation, None, None]:
        """Evaluate the potential at the rows of ``points``, shape (n, d), or at one point, and yield as they arrive.

        What is known is yielded without an evaluation. As many points as there are workers are under way at a time; the
        next ones start when this iterator is asked for more. Several iterators may be open at once.

        Raises
        ------
        BudgetSpent
            When the next evaluation would exceed the budget; those under way are yielded before.
        EvaluationError
            If nothing can be evaluated any more.
        """
        gradient = gradient and self.has_gradient
        points = np.atleast_2d(np.asarray(points, dtype=np.float64))
        waiting = deque((point, self._transform.parameters(point)) for point in points)
        under_way: list[tuple[Array, Array]] = []
        try:
            while waiting or under_way:
                while waiting and self._begin(*waiting[0], gradient):
                    under_way.append(waiting.popleft())
                done = [self._found(point, x, gradient) for point, x in under_way]
                if any(done):
                    arrived = [(point, found) for (point, _), found in zip(under_way, done, strict=True) if found]
                    under_way = [pair for pair, found in zip(under_way, done, strict=True) if not found]
                    for point, record in arrived:
                        yield self._translated(record, point)
                elif lost := [pair for pair in under_way if pair[1].tobytes() not in self._tasks]:
                    # Somebody else asked for less there, or took it back.
                    under_way = [pair for pair in under_way if pair[1].tobytes() in self._tasks]
                    waiting.extendleft(lost)
                    if not self._begin(*waiting[0], gradient) and not self._tasks:
                        raise self._budget_spent()
                elif self._tasks:
                    self._collect()
                else:
                    raise self._budget_spent()
        finally:
            self._withdraw(x for _, x in under_way)

    def confirm(self) -> None:
        """Evaluate one point of the file anew, and check that the file is of this target.

        That evaluation is counted; what the file says stays in use, so that a resumed run follows the same path. A
        target whose digest is that of the file is not evaluated.

        Raises
        ------
        StoreError
            If the target differs from the file there; the message has the point and both numbers.
        BudgetSpent
            If the budget does not suffice for it.
        EvaluationError
            If nothing can be evaluated any more.
        """
        if self._ledger is None or self._ledger.trusted:
            return
        records = [record for record in self._ledger.records if self._inside(record.x)]
        found = None
        for index in candidates(records, gradient=self.has_gradient):
            anew = self._anew(records[index])
            found = difference(records[index], anew, records, self._ledger.names)
            if found is None:
                _log.info(
                    "filepath: %s holds %d evaluations; one was made anew, for %d units, and agrees",
                    self._ledger.path,
                    len(self._ledger.records),
                    self._spent.units,
                )
                return
            if not math.isnan(anew.log_density):
                break
        if found is not None:
            raise StoreError(self._other_target(records[index].x, found))

    def disown(self) -> None:
        """Take what was evaluated out of the file again: it is not of the target that the user meant."""
        if self._ledger is not None:
            self._ledger.forget()

    def close(self) -> None:
        """Stop the workers and let go of the file."""
        self._workers.close()
        if self._ledger is not None:
            self._ledger.close()

    def _begin(self, point: Array, x: Array, gradient: bool) -> bool:
        """Whether a point is known, or on its way now; if not, no worker or no budget is left for it."""
        if self._found(point, x, gradient) or x.tobytes() in self._tasks:
            return True
        if self._budget is not None:
            reserved = sum(self._price(task.gradient) for task in self._tasks.values())
            if self._spent.units + reserved + self._price(gradient) > self._budget:
                return False
        if self._workers.slots is not None and len(self._tasks) >= self._workers.slots:
            return False
        self._number += 1
        task = Task(self._number, x, gradient)
        self._tasks[x.tobytes()] = task
        self._workers.submit(task)
        return True

    def _price(self, gradient: bool) -> int:
        """Units that an evaluation takes; a gradient may come along with every value."""
        return 2 if gradient or self._always_both else 1

    def _budget_spent(self) -> BudgetSpent:
        return BudgetSpent(f"budget: {self._spent.units} of {self._budget} units are spent, and the next takes more")

    def _withdraw(self, parameters: Iterable[Array]) -> None:
        """Do not evaluate what nobody waits for any more, where that is not under way."""
        for x in parameters:
            task = self._tasks.get(x.tobytes())
            if task is not None and self._workers.withdraw(task):
                del self._tasks[x.tobytes()]

    def _collect(self) -> None:
        """Wait for one evaluation, and keep it."""
        task, answer = self._workers.next()
        del self._tasks[task.x.tobytes()]
        record = self._counted(task, answer)
        if self._ledger is not None:
            self._ledger.append(record)
        self._learn(record)

    def _counted(self, task: Task, answer: Answer) -> Record:
        """An answer as a record, with its price on the account."""
        if answer.unavailable:
            kept = " What was evaluated is in the file; the same call goes on from it." if self._ledger else ""
            raise EvaluationError(f"{answer.failure}.{kept}")
        self._always_both |= answer.always_both
        failed = math.isnan(answer.log_density)
        self._spent = Spent(
            self._spent.values + answer.values,
            self._spent.gradients + answer.gradients,
            self._spent.failed + failed,
        )
        asked = task.gradient or answer.gradient is not None
        return Record(task.x, answer.log_density, answer.gradient, answer.failure, asked)

    def _anew(self, stored: Record) -> Record:
        """The evaluation of a stored point, made again and not kept."""
        gradient = self.has_gradient and stored.with_gradient
        if self._budget is not None and self._spent.units + self._price(gradient) > self._budget:
            raise self._budget_spent()
        self._number += 1
        self._workers.submit(Task(self._number, stored.x, gradient))
        return self._counted(*self._workers.next())

    def _other_target(self, x: Array, found: str) -> str:
        """What to say of a file that belongs to another target."""
        assert self._ledger is not None
        shown = [f"{name} = {value:.6g}" for name, value in zip(self._ledger.names, x, strict=True)]
        point = ", ".join(shown[:MOST_SHOWN]) + (", ..." if len(shown) > MOST_SHOWN else "")
        return (
            f"filepath: {self._ledger.path} holds evaluations of another target: at {point} {found}. Name another "
            "file, or remove this one to start again. If the log density is noisy, no number comes twice: give this "
            "file as evaluations= and name another as filepath="
        )

    def _inside(self, x: Array) -> bool:
        """Whether parameters are strictly inside the bounds."""
        return bool(((self._transform.low < x) & (x < self._transform.high)).all())

    def _learn(self, record: Record) -> None:
        """Keep an evaluation, in place of one at the same point that says less."""
        known = self._by_parameters.get(record.x.tobytes())
        if known is None or known.gradient is None:
            self._by_parameters[record.x.tobytes()] = record

    def _found(self, point: Array, x: Array, gradient: bool) -> Record | None:
        """What is known at a point, if that is all that can be had of what is asked for."""
        for found in (self._by_parameters.get(x.tobytes()), self._by_point.get(point.tobytes())):
            if found is not None and (
                not gradient
                or found.gradient is not None
                or found.with_gradient
                or found.failure is not None
                or not math.isfinite(found.log_density)
            ):
                return found
        return None

    def _translated(self, record: Record, point: Array) -> Evaluation:
        """An evaluation in unconstrained coordinates."""
        if not math.isfinite(record.log_density):
            return Evaluation(point, math.inf, None, record.failure)
        value = -record.log_density - self._transform.log_jacobian(point)
        gradient = None if record.gradient is None else -self._transform.pulled_back(record.gradient, point)
        return Evaluation(point, value, gradient, record.failure)
