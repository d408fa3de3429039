"""Other coordinates in the course of a run: a bend that explains gradients better is taken, and one taken back."""

from dataclasses import replace

import numpy as np

from rnshmc.inference.job import Job
from rnshmc.inference.result.findings import Found
from rnshmc.inference.stages.bends import Bent, better_bend, no_bend
from rnshmc.inference.stages.descent import Mode
from rnshmc.inference.stages.training import Trained


def gone_over(job: Job, found: Found, better: Bent) -> Found:
    """In the coordinates of a bend, where all points are and nothing is trained yet."""
    job.archive.part = None  # one is by quadratics in straight coordinates; what it left out has next to no mass
    job.archive.go_over(better.bend)
    mode = Mode(better.whitening, float(job.archive.training().values.min()), 0.0)
    found = replace(found.forgetting_the_surrogate(), trained=None, modes=(mode,), bends=found.bends + 1)
    return replace(found, whitening=better.whitening, begun=better.whitening, kept=better.kept)


def straightened(job: Job, found: Found) -> Found:
    """In coordinates without the bend, where the gradients known by now no longer support it."""
    if found.whitening is None or found.begun is None or job.archive.part is not None:
        return found
    height = job.tuning.fitting.plausible_height(job.archive.dim)
    straight = no_bend(
        job.archive, found.whitening, job.tuning.bending, height=height, begun=found.begun, kept=found.kept
    )
    return found if straight is None else gone_over(job, found, straight)


def unexplained(job: Job, found: Found, trained: Trained) -> bool:
    """Whether a surrogate is so wrong, or lacks so much, that a bend is looked for."""
    tuning, dim = job.tuning.bending, job.archive.dim
    # The first good draws are not believed yet; in many dimensions, where a search is dear, they show no bend.
    variance = trained.latest if dim > tuning.cheap else trained.variance
    lacking = dim <= tuning.cheap and trained.missing > job.tuning.training.missing
    unending = trained.filling > tuning.filling
    wrong = tuning.wrong < variance < np.inf or lacking or unending
    if trained.good or not wrong or found.bends >= tuning.most:
        return False
    # Nor do a few points more.
    if (dim > tuning.cheap or unending) and len(job.archive.slopes().points) < tuning.again * found.unbent:
        return False
    # A part of the density is one in straight coordinates.
    return job.archive.part is None


def found_bend(job: Job, found: Found, trained: Trained) -> Bent | None:
    """The bend that explains all gradients better than the surrogate's coordinates; None if there is none."""
    return better_bend(job.archive, trained.posterior.whitening, job.tuning.bending, begun=found.begun, kept=found.kept)
