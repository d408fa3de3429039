"""What `rnshmc.sample` returns."""

from dataclasses import dataclass

from rnshmc.inference.algorithm import Outcome
from rnshmc.inference.evaluations import Spent
from rnshmc.inference.transforms import Transform
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Result:
    """Draws, expectations, what was spent."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    chains: Array
    spent: Spent
    stopped: str | None

    @classmethod
    def of(
        cls, outcome: Outcome, transform: Transform, spent: Spent, *, names: tuple[str, ...], units: tuple[str, ...]
    ) -> "Result":
        """The result of a run, in the user's coordinates."""
        return cls(names, units, transform.parameters(outcome.chains), spent, outcome.stopped)

    @property
    def draws(self) -> Array:
        """All draws, shape (n, d)."""
        return self.chains.reshape(-1, len(self.names))
