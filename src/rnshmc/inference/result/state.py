"""A run so far."""

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from rnshmc.diagnostics.summary import MIN_DRAWS
from rnshmc.inference.bend import STRAIGHT, Bend
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.result.estimates import Estimate
from rnshmc.inference.result.evidence import UNKNOWN
from rnshmc.inference.result.mixture import Mixture
from rnshmc.inference.stages import adapted
from rnshmc.inference.stages.correction import Checked, Exact
from rnshmc.inference.stages.descent import Mode
from rnshmc.inference.stages.training import Trained
from rnshmc.inference.stages.walls import Wall
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import Tuning
from rnshmc.types import Array

Method = Literal["surrogate", "adapted HMC", "none"]


@dataclass(frozen=True, eq=False)
class State:
    """A run so far. Each stage replaces it, so that an interruption leaves the last one.

    Attributes
    ----------
    archive
        The exact potential in the coordinates of everything here.
    rng, tuning, draws
        Randomness, every tuned number, and the draws wanted.
    starts
        Number of starts that were descended from.
    surveyed
        Runs of a forward model in a search over drawn starts for all modes; 0 where there was none.
    quiet
        How many since one led to a mode that may count, and was not known.
    modes, early
        The different modes that they led to, and the number of points without density on the way there.
    left_out
        Modes among them that have next to nothing of the posterior.
    parts
        What was found of each mode where they are several, and each has a surrogate.
    whitening
        Coordinates of the lowest mode, or of the surrogate that was used.
    begun
        Coordinates in which a surrogate begins to be trained.
    bends, kept
        Bends that were taken, one after the other, and what stays of the current one.
    unbent
        Number of gradients at the last search that found no other bend.
    trained
        The latest surrogate.
    surrogate_draws
        Its draws in x, (chains, n, d).
    surrogate_rhat
        Largest R-hat of these chains in the coordinates of x behind the bend; NaN where nobody asked for it.
    checked, beyond, passed_over
        Draws among them with exact values; numbers of points without density among them, and of random failures.
    surrogate, mixture
        Ingredients of corrected expectations; of several modes, the latter.
    log_evidence
        log of the integral of exp(-U), by these.
    exact
        Exact draws among those of the surrogate.
    rows
        Draws to return, and whether they are the surrogate's.
    blocks
        Exact draws by block, where the surrogate was not good enough.
    method, reason
        What makes the draws, and why.
    refused, wall
        Whether the latest surrogate is not good enough; a bound that ends the run so that the coordinates have it.
    outlying
        Part of a variance that draws lack far out, see `rnshmc.inference.outlying`.
    doubts
        Sentences on what was doubtful of the target, and on the way.
    stopped
        Why the run stopped early; None if it did not.
    """

    archive: Archive
    rng: np.random.Generator
    tuning: Tuning
    draws: int
    starts: int = 0
    surveyed: int = 0
    quiet: int = 0
    early: int = 0
    modes: tuple[Mode, ...] = ()
    left_out: tuple[Mode, ...] = ()
    parts: tuple["State", ...] = ()
    whitening: Whitening | None = None
    begun: Whitening | None = None
    bends: int = 0
    kept: Bend = STRAIGHT
    unbent: int = 0
    trained: Trained | None = None
    surrogate_draws: Array | None = None
    surrogate_rhat: float = np.nan
    checked: Checked | None = None
    surrogate: Corrected | None = None
    mixture: Mixture | None = None
    log_evidence: Estimate = UNKNOWN
    beyond: int = 0
    passed_over: int = 0
    exact: Exact | None = None
    rows: tuple[Array, bool] | None = None
    blocks: tuple[Exact, ...] = ()
    method: Method = "none"
    reason: str = "the run ended before there were draws"
    refused: bool = False
    wall: Wall | None = None
    outlying: float = 0.0
    doubts: tuple[str, ...] = ()
    stopped: str | None = None

    @property
    def aim(self) -> float:
        """Independent draws whose errors corrected expectations aim at."""
        return self.tuning.correction.precision * self.draws

    @property
    def affords_chains(self) -> bool:
        """Whether there is a gradient, and budget for exact chains: for the fewest draws, or for states that teach."""
        if not self.archive.has_gradient:
            return False
        enough = self.expected_cost(min(self.draws, self.tuning.fewest_draws))
        if self.teachable:
            enough = min(enough, adapted.expected_cost_of_teaching(self.archive.dim, self.tuning.adapted))
        return self.archive.units_left >= enough

    @property
    def teachable(self) -> bool:
        """Whether states of exact chains may teach a surrogate what it did not find by itself."""
        return self.archive.has_gradient and self.archive.noise <= self.tuning.judging.noisy

    def expected_cost(self, draws: int) -> int:
        """Evaluation units of exact chains."""
        return adapted.expected_cost(self.archive.dim, draws, self.tuning.adapted)

    @property
    def lowest(self) -> Mode:
        """The mode of the lowest potential."""
        return min(self.modes, key=lambda mode: mode.value)

    def with_mode(self, mode: Mode, below: float = np.inf) -> "State":
        """With one more mode, unless it is known: nearer to a known one than draws are, and not so far below it.

        One that is so far below takes the place of those that are as near to it, for they were on the way to it.
        """
        if any(known.near(mode.whitening.centre, mode.value, below) for known in (*self.modes, *self.left_out)):
            return self
        others = (one for one in self.modes if not (mode.near(one.whitening.centre) and one.value > mode.value + below))
        return replace(self, modes=(*others, mode))

    def forgetting_the_surrogate(self) -> "State":
        """Before another one is trained: what was checked is of the last one."""
        empty = replace(self, surrogate_draws=None, surrogate_rhat=np.nan, checked=None, surrogate=None, exact=None)
        return replace(empty, log_evidence=UNKNOWN, refused=False, beyond=0, passed_over=0)

    def straightened(self, bend: Bend) -> "State":
        """In coordinates without the bend, behind which everything was found; curvatures there are not known."""
        if not bend.layers:
            return self
        return replace(
            self,
            surrogate=self.surrogate and self.surrogate.moved(bend.forward),
            mixture=self.mixture and self.mixture.moved(bend.forward),
            checked=self.checked and self.checked.straightened(bend),
            exact=self.exact and self.exact.straightened(bend),
            rows=self.rows and (bend.forward(self.rows[0]), self.rows[1]),
            blocks=tuple(block.straightened(bend) for block in self.blocks),
            whitening=None,
        )

    def chains(self) -> Exact | None:
        """The exact draws of all blocks; None if there are too few to average."""
        joined = Exact.joined(self.blocks) if self.blocks else None
        return joined if joined and joined.draws.shape[1] >= MIN_DRAWS else None


States = Generator[State, None, State]
"""The states of a run after each stage, of which the last one is returned."""
