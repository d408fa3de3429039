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
    """Whether the budget does for exact chains worth beginning: the fewest draws of them, or states that teach."""
    enough = price(job, min(job.draws, job.tuning.fewest_draws))
    if teachable(job):
        enough = min(enough, adapted.price_of_teaching(job.archive.dim, job.tuning.adapted))
    return job.archive.units_left >= enough


def teachable(job: Job) -> bool:
    """Whether states of exact chains may teach a surrogate what it did not find by itself."""
    return job.archive.has_gradient and job.archive.noise <= job.tuning.judging.noisy


def price(job: Job, draws: int) -> int:
    """Evaluation units of exact chains."""
    if job.archive.has_gradient:
        return adapted.price(job.archive.dim, draws, job.tuning.adapted)
    return ensemble.price(job.archive.dim, draws, job.tuning.ensemble)
