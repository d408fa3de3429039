"""The result of a run, in the user's coordinates."""

import os

import numpy as np

from rnshmc.inference.given import own_errstate
from rnshmc.inference.result.findings import angle_findings, coordinate_names, error_findings
from rnshmc.inference.result.moments import expectations_of, moments
from rnshmc.inference.result.outcome import Outcome
from rnshmc.inference.result.prediction import Prediction
from rnshmc.inference.result.result import Result
from rnshmc.inference.result.stored import read
from rnshmc.inference.result.verdict import judge
from rnshmc.inference.transforms import Transform


def make_result(
    outcome: Outcome,
    transform: Transform,
    *,
    names: tuple[str, ...],
    units: tuple[str, ...],
    prediction: Prediction | None = None,
) -> Result:
    """The result of a run, by the transform from unconstrained coordinates to the user's parameters.

    ``prediction`` is that of a file, if there is one.
    """
    transform = _centred(outcome, transform)
    drawn = expectations_of(outcome).moved(transform.parameters)
    mean, sd = moments(drawn)
    draws = transform.parameters(outcome.rows)
    verdict = judge(outcome, names, coordinates=coordinate_names(names, transform))
    if outcome.surrogate is not None:
        verdict = verdict.with_findings(error_findings(mean, sd, draws, names))
    verdict = verdict.with_findings(angle_findings(drawn, transform, names))
    return Result(
        names=names,
        units=units,
        draws=draws,
        chains=transform.parameters(outcome.draws),
        log_densities=-outcome.potentials - transform.log_jacobians(outcome.draws),
        mean=mean,
        sd=sd,
        log_evidence=outcome.log_evidence,
        spent=outcome.spent,
        verdict=verdict,
        outcome=outcome,
        _transform=transform,
        _prediction=prediction,
    )


def _centred(outcome: Outcome, transform: Transform) -> Transform:
    """The transform to angles in the period centred at the most probable mode."""
    if not outcome.modes:
        return transform
    shares = [mode.share.value for mode in outcome.modes]
    lowest = int(np.argmin([mode.value for mode in outcome.modes]))
    best = int(np.argmax(shares)) if np.isfinite(shares).all() else lowest
    return transform.around(outcome.modes[best].point)


@own_errstate
def load(path: str | os.PathLike[str]) -> Result:
    """Read a result from a file of `Result.save`.

    Expectations and quantiles of new functions take no evaluation. The verdict is computed anew. For a forward model,
    the file has one prediction and no emulator.

    Parameters
    ----------
    path
        Path of the file.

    Raises
    ------
    DataError
        If the file cannot be read, has no result, or one of another version.
    """
    return make_result(**read(path))
