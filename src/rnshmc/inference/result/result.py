"""What `rnshmc.sample` returns, in the user's coordinates."""

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rnshmc.diagnostics.ess import MIN_DRAWS, geyer_ess
from rnshmc.errors import ParameterError
from rnshmc.files import atomic_path
from rnshmc.inference.exact.evaluation import Spent
from rnshmc.inference.result.arviz_view import inference_data
from rnshmc.inference.result.bends_told import coordinate_names
from rnshmc.inference.result.corrected import Estimate
from rnshmc.inference.result.outcome import Outcome
from rnshmc.inference.result.prediction import Prediction
from rnshmc.inference.result.verdict import Verdict, judge
from rnshmc.inference.surrogate.outputs import EmulatedOutputs
from rnshmc.inference.transforms import Transform
from rnshmc.random import stream
from rnshmc.types import Array

MOST_ROWS = 30
"""Parameters that the printed table shows."""


@dataclass(frozen=True, eq=False)
class Result:
    """Draws, expectations with standard errors, what was spent, and a verdict.

    Attributes
    ----------
    names, units
        Of the parameters.
    draws
        As many draws as were asked for, shape (draws, d), or fewer if the run stopped before. With a surrogate they are
        its draws, nearly independent, weighted for the corrected means and variances and resampled: no exact density
        decided on each. Where the surrogate is too rough for that, they are exact ones, repeated; where none was
        used, the states of the chains. ``repr`` says which.
    chains
        Draws of Markov chains in which the exact density decides, shape (chains, n, d). With a surrogate, there are as
        many as exact values were spent on corrections.
    log_densities
        The log density that the user gave at each of them, (chains, n).
    mean, sd
        Posterior means and standard deviations, (d,), with standard errors. With a surrogate they are corrected by
        exact values at some of its draws, and hold as well as weights of these behave, which is in the verdict.
    log_evidence
        log of the integral of exp(log density) over the parameters, within their bounds: the log of the model's
        evidence (marginal likelihood) where the log density is that of likelihood and prior with their constants. Of a
        `Model` with a proper prior it is; what a function of the user leaves out is left out. One number with its
        standard error; NaN where no surrogate was used, the standard error where none of its draws was checked.
    spent
        Exact evaluations in this call: values, gradients, and how many points failed.
    verdict
        Whether to believe all of this, and why.
    outcome
        All that the run reports, in unconstrained coordinates.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    draws: Array
    chains: Array
    log_densities: Array
    mean: Estimate
    sd: Estimate
    log_evidence: Estimate
    spent: Spent
    verdict: Verdict
    outcome: Outcome
    _transform: Transform

    def expectation(self, function: Callable[[Array], Any]) -> Estimate:
        """Posterior expectation of a function of the parameters, with its standard error.

        Parameters
        ----------
        function
            From parameters, shape (n, d), to values, (n,) or (n, k).

        Raises
        ------
        ParameterError
            If it returns another number of rows, or there are no draws.
        """

        def checked(theta: Array) -> Array:
            values = np.asarray(function(theta), dtype=np.float64)
            if values.ndim not in (1, 2) or len(values) != len(theta):
                raise ParameterError(
                    f"function: expected a row for each of {len(theta)} draws, got shape {values.shape}"
                )
            return values

        if self.outcome.surrogate is not None:
            return self.outcome.surrogate.expectation(lambda x: checked(self._transform.parameters(x)))
        return average(np.array([checked(chain) for chain in self.chains]), mixed=self.outcome.mixed)

    def predict(self, *, seed: int = 1) -> Prediction:
        """Posterior predictive of a `rnshmc.Model`: its outputs at `draws`, by the emulator. The model is not run.

        Where all draws would make more than 20 million outputs, some of them are taken, evenly spaced.

        Parameters
        ----------
        seed
            Draws the emulator's error and the noise of observations.

        Raises
        ------
        ParameterError
            If no outputs were emulated.
        FitError
            If outputs without data cannot be emulated.
        """
        emulated = self.outcome.emulated
        if emulated is None:
            raise ParameterError(
                "predict: no outputs were emulated; the target has to be a rnshmc.Model, and its surrogate good enough"
            )
        outputs, observations = EmulatedOutputs.of(emulated).drawn(self.outcome.rows, stream(seed, "predictions"))
        posed = emulated.runs.posed
        data = dict(posed.data)
        return Prediction(
            posed.structured(outputs), posed.structured(observations), data[""] if list(data) == [""] else data
        )

    def to_arviz(self) -> Any:
        """The draws as an `arviz.InferenceData`, see `rnshmc.inference.result.arviz_view`.

        Means, standard deviations and the log evidence with their standard errors, what was spent and the verdict are
        attributes.
        """
        return inference_data(
            self.names,
            self.units,
            draws=None if self.outcome.surrogate is None else self.draws,
            chains=self.chains,
            log_densities=self.log_densities,
            attributes={
                "inference_library": "rnshmc",
                "method": self.outcome.method,
                "values": self.spent.values,
                "gradients": self.spent.gradients,
                "failed": self.spent.failed,
                "verdict": str(self.verdict),
                "mean": self.mean.value,
                "mean_standard_error": self.mean.standard_error,
                "sd": self.sd.value,
                "sd_standard_error": self.sd.standard_error,
                "log_evidence": float(self.log_evidence.value),
                "log_evidence_standard_error": float(self.log_evidence.standard_error),
            },
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `to_arviz` as netCDF, which ``arviz.from_netcdf`` reads.

        Raises
        ------
        StoreError
            If the disk is full or not to be written.
        """
        with atomic_path(Path(path)) as temporary:
            self.to_arviz().to_netcdf(str(temporary))

    def __repr__(self) -> str:
        return "\n".join([*_table(self), "", *_account(self), "", str(self.verdict)])


def make_result(outcome: Outcome, transform: Transform, *, names: tuple[str, ...], units: tuple[str, ...]) -> Result:
    """The result of a run, in the user's coordinates.

    Parameters
    ----------
    outcome
        What the run came to, in unconstrained coordinates.
    transform
        From these to the user's.
    names, units
        Of the parameters.
    """
    chains = transform.parameters(outcome.draws)
    jacobian = np.array([[transform.log_jacobian(x) for x in chain] for chain in outcome.draws])
    if outcome.surrogate is None:
        mean = average(chains, mixed=outcome.mixed)
        variance = average((chains - mean.value) ** 2, mixed=outcome.mixed)
    else:
        moved = outcome.surrogate.moved(transform.parameters)
        mean, variance = moved.mean(), moved.variance()
    return Result(
        names=names,
        units=units,
        draws=transform.parameters(outcome.rows),
        chains=chains,
        log_densities=-outcome.potentials - jacobian.reshape(outcome.potentials.shape),
        mean=mean,
        sd=_root(variance),
        log_evidence=outcome.log_evidence,
        spent=outcome.spent,
        verdict=judge(outcome, names, coordinates=coordinate_names(names, transform)),
        outcome=outcome,
        _transform=transform,
    )


def average(chains: Array, *, mixed: bool = True) -> Estimate:
    """Mean over all draws of some chains, with a standard error by Geyer's effective sample size.

    Parameters
    ----------
    chains
        Values along chains, shape (chains, n) or (chains, n, k). Both are NaN where there are none, the standard error
        where the chains are too short for one.
    mixed
        Whether the chains are draws of one distribution. If not, there is no standard error.
    """
    shape = chains.shape[2:]
    if chains.shape[0] * chains.shape[1] == 0:
        return Estimate(np.full(shape, np.nan), np.full(shape, np.nan))
    mean = np.asarray(chains.mean(axis=(0, 1)))
    if not mixed or chains.shape[1] < MIN_DRAWS or not np.isfinite(chains).all():
        return Estimate(mean, np.full(shape, np.nan))
    sizes = np.sum([geyer_ess(chain.reshape(len(chain), -1)) for chain in chains], axis=0)
    return Estimate(mean, chains.std(axis=(0, 1)) / np.sqrt(sizes.reshape(shape)))


def _root(variance: Estimate) -> Estimate:
    """Standard deviations from variances; one that noise made negative is 0."""
    sd = np.sqrt(np.maximum(variance.value, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return Estimate(sd, variance.standard_error / (2.0 * sd))


def _table(result: Result) -> list[str]:
    """A row for each parameter."""
    rows = [("", "mean", "+-", "sd", "+-", "")]
    columns = (result.mean.value, result.mean.standard_error, result.sd.value, result.sd.standard_error)
    for name, unit, *numbers in zip(result.names, result.units, *columns, strict=True):
        mean, mean_error, sd, sd_error = ("" if math.isnan(number) else f"{number:.3g}" for number in numbers)
        rows.append((name, mean, mean_error, sd, sd_error, unit))
    shown = rows[: MOST_ROWS + 1]
    widths = [max(len(row[column]) for row in shown) for column in range(6)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(row[i].rjust(widths[i]) for i in range(1, 5)), row[5]]).rstrip()
        for row in shown
    ]
    return lines if len(rows) == len(shown) else [*lines, f"... and {len(rows) - len(shown)} more"]


def _account(result: Result) -> list[str]:
    """What was drawn and spent."""
    chains, n, _ = result.chains.shape
    lines = [
        f"{len(result.draws)} draws: {_made(result.outcome)}",
        f"{chains * n} exact draws in {chains} chains, by {result.outcome.method}",
        f"evaluated {result.spent}",
    ]
    value, error = float(result.log_evidence.value), float(result.log_evidence.standard_error)
    if not math.isfinite(error):
        return lines
    return [*lines, f"log evidence {value:.2f} +- {error:.2g}: of the log density as given"]


def _made(outcome: Outcome) -> str:
    """What the draws are, in words."""
    if outcome.surrogate is None:
        return "states of the chains"
    return "of the surrogate, corrected" if outcome.corrected else "exact ones, repeated"
