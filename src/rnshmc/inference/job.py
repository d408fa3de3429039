"""What every stage of a run needs, and what exact chains cost it."""

from dataclasses import dataclass

import numpy as np

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.stages import adapted, ensemble
from rnshmc.inference.tuning import Tuning


@dataclass(frozen=True, eq=False)
class Job:
    """What every stage of a run needs: the exact potential, randomness, every tuned number, and the draws wanted."""

    archive: Archive
    rng: np.random.Generator
    tuning: Tuning
    draws: int

    @property
    def aim(self) -> float:
        """Independent draws whose errors corrected expectations aim at."""
        return self.tuning.correction.precision * self.draws


def suffices(job: Job) -> bool:
    """Whether the budget does for the fewest exact draws that are worth beginning with."""
    return job.archive.units_left >= price(job, min(job.draws, job.tuning.fewest_draws))


def price(job: Job, draws: int) -> int:
    """Evaluation units of exact chains."""
    if job.archive.has_gradient:
        return adapted.price(job.archive.dim, draws, job.tuning.adapted)
    return ensemble.price(job.archive.dim, draws, job.tuning.ensemble)
