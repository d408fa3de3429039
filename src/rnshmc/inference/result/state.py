"""The state of a run."""

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from rnshmc.diagnostics.summary import MIN_DRAWS
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.result.estimates import Estimate
from rnshmc.inference.result.evidence import UNKNOWN
from rnshmc.inference.result.mixture import Mixture
from rnshmc.inference.stages import adapted
from rnshmc.inference.stages.correction import Checked, Exact
from rnshmc.inference.stages.descent import Mode
from rnshmc.inference.stages.parts import nearest_image
from rnshmc.inference.stages.training import Trained
from rnshmc.inference.stages.walls import Wall
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import Tuning
from rnshmc.inference.tuning_shared import MANY
from rnshmc.inference.warp import STRAIGHT, Warp
from rnshmc.types import Array


@dataclass(frozen=True, eq=False, kw_only=True)
class Record:
    """The part of a run's state that its outcome reports; `Outcome` describes it."""

    method: Literal["surrogate", "adapted HMC", "none"] = "none"
    reason: str = "the run ended before there were draws"
    refused: bool = False
    log_evidence: Estimate = UNKNOWN
    checked: Checked | None = None
    beyond: int = 0
    passed_over: int = 0
    outlying: float = 0.0
    starts: int = 0
    quiet: int = 0
    surveyed: int = 0
    elsewhere: float = np.nan
    wall: Wall | None = None
    doubts: tuple[str, ...] = ()
    stopped: str | None = None


@dataclass(frozen=True, eq=False)
class State(Record):
    """A run so far. Each stage replaces it, so that an interruption leaves the last one."""

    archive: Archive  # The exact potential, in the coordinates of everything here.
    rng: np.random.Generator
    tuning: Tuning
    draws: int  # Number of draws to return.
    early: int = 0  # Number of points without density on the way to the modes.
    modes: tuple[Mode, ...] = ()
    left_out: tuple[Mode, ...] = ()  # Modes with a negligible share of the posterior.
    parts: tuple["State", ...] = ()  # The state of each mode, where several have a surrogate each.
    whitening: Whitening | None = None  # Coordinates of the lowest mode, or of the surrogate in use,
    begun: Whitening | None = None  # and those in which training begins.
    bends: int = 0  # Number of warps taken so far,
    kept: Warp = STRAIGHT  # and the part of the current one that stays.
    unbent: int = 0  # Number of gradients at the last search that found no other warp.
    trained: Trained | None = None  # The latest surrogate,
    surrogate_draws: Array | None = None  # its draws in x, (chains, n, d),
    surrogate_rhat: float = np.nan  # and their largest R-hat in the coordinates behind the warp; NaN: not computed.
    surrogate: Corrected | None = None  # Ingredients of corrected expectations,
    mixture: Mixture | None = None  # and those of several modes.
    exact: Exact | None = None  # Exact draws among those of the surrogate.
    rows: tuple[Array, bool] | None = None  # Draws to return, and whether they are the surrogate's.
    blocks: tuple[Exact, ...] = ()  # Exact draws by block, where the surrogate was not good enough.

    @property
    def aim(self) -> float:
        """Number of independent draws that have the target errors of corrected expectations."""
        return self.tuning.correction.precision * self.draws

    @property
    def affords_chains(self) -> bool:
        """Whether gradients and budget allow exact chains, if only for states that train a surrogate."""
        if not self.archive.has_gradient:
            return False
        enough = self.expected_cost(min(self.draws, MANY))
        if self.teachable:
            enough = min(enough, adapted.expected_cost_of_teaching(self.archive.dim, self.tuning.adapted))
        return self.archive.units_left >= enough

    @property
    def teachable(self) -> bool:
        """Whether states of exact chains may train a surrogate."""
        return self.archive.has_gradient and self.archive.noise <= self.tuning.judging.noisy

    def expected_cost(self, draws: int) -> int:
        """Evaluation units of exact chains."""
        return adapted.expected_cost(self.archive.dim, draws, self.tuning.adapted)

    @property
    def lowest(self) -> Mode:
        """The mode of the lowest potential."""
        return min(self.modes, key=lambda mode: mode.value)

    def with_mode(self, mode: Mode, below: float = np.inf) -> "State":
        """Add a mode, unless a known one is nearer than draws are and its potential is less than ``below`` above.

        A mode that is lower by more replaces those as near to it, for they were on the way to it.
        """
        centre = mode.whitening.centre
        near = (nearest_image(self.archive, known, centre) for known in (*self.modes, *self.left_out))
        if any(known.near(centre, mode.value, below) for known in near):
            return self

        def replaced(one: Mode) -> bool:
            place = nearest_image(self.archive, one, centre).whitening.centre
            return mode.near(place) and one.value > mode.value + below

        others = (one for one in self.modes if not replaced(one))
        return replace(self, modes=(*others, mode))

    def without_surrogate(self) -> "State":
        """Drop the checks of the latest surrogate, before another one is trained."""
        empty = replace(self, surrogate_draws=None, surrogate_rhat=np.nan, checked=None, surrogate=None, exact=None)
        return replace(empty, log_evidence=UNKNOWN, refused=False, beyond=0, passed_over=0)

    def without_warp(self, bend: Warp) -> "State":
        """In coordinates without the warp, behind which everything was found; curvatures there are not known."""
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
        """The exact draws of all blocks; None if they are too few for averages."""
        joined = Exact.joined(self.blocks) if self.blocks else None
        return joined if joined and joined.draws.shape[1] >= MIN_DRAWS else None


States = Generator[State, None, State]
"""The states of a run after each stage, of which the last one is returned."""
