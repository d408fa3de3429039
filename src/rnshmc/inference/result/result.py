"""The result of `rnshmc.sample`, in the user's coordinates."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.evaluation import Spent
from rnshmc.inference.given import check_whole, methods_in_own_errstate
from rnshmc.inference.result.converting import (
    Variables,
    along_chains,
    by_origin,
    columns,
    inference_data,
    labels_of,
    shapes_of,
)
from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.result.estimates import Estimate
from rnshmc.inference.result.moments import Drawn, by_rows, expectations_of, quantiles
from rnshmc.inference.result.outcome import Outcome
from rnshmc.inference.result.plots import plot
from rnshmc.inference.result.prediction import SEED, Prediction, for_file, predicted, stored
from rnshmc.inference.result.printed import account, attributes, summary_table, table
from rnshmc.inference.result.resampling import redrawn
from rnshmc.inference.result.stored import names_in_files, write
from rnshmc.inference.result.verdict import Verdict
from rnshmc.inference.transforms import Transform
from rnshmc.random import stream
from rnshmc.types import Array

if TYPE_CHECKING:
    import pandas as pd


@methods_in_own_errstate
@dataclass(frozen=True, eq=False)
class Result:
    """Draws, expectations with standard errors, the evaluations spent, and a verdict.

    Attributes
    ----------
    names, units
        Names and units of the parameters.
    draws
        The requested draws, shape (draws, d), or fewer if the run stopped early. With a surrogate they are nearly
        independent draws of it, weighted for the corrected means and variances and resampled: the exact density did not
        decide on each. If the surrogate is too rough for that, they are exact draws, repeated; without a surrogate,
        states of the chains. ``repr`` reports which.
    chains
        Draws of Markov chains in which the exact density decides, shape (chains, n, d). With a surrogate, there are as
        many as exact values were spent on corrections.
    log_densities
        The user's log density at each of them, (chains, n).
    mean, sd
        Posterior means and standard deviations, (d,), with standard errors. With a surrogate they are corrected by
        exact values at some of its draws; the verdict reports how well behaved the importance weights are.
    log_evidence
        log of the integral of exp(log density) over the parameters, within their bounds: the log evidence (marginal
        likelihood) if the log density includes the constants of likelihood and prior, as that of a `Model` with a
        proper prior does. One number with its standard error; NaN without a surrogate, and the standard error also
        where none of its draws was checked.
    spent
        Exact evaluations in this call: values, gradients, and the number of failures.
    verdict
        Whether to trust the result, and why.
    outcome
        Everything that the run reports, in unconstrained coordinates.
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
    _prediction: Prediction | None

    def expectation(self, function: Callable[[Array], Any]) -> Estimate:
        """Posterior expectation of a function of the parameters, with its standard error.

        Parameters
        ----------
        function
            From parameters, shape (n, d), to values, (n,) or (n, k).

        Raises
        ------
        ParameterError
            If it returns another number of rows.
        """
        return self._drawn(by_rows(function)).expectation(lambda y: y)

    def quantile(
        self, probabilities: float | Sequence[float], function: Callable[[Array], Any] = lambda theta: theta
    ) -> Estimate:
        """Posterior quantiles of a function of the parameters, with their standard errors.

        They are the values q at which the corrected distribution function, the `expectation` of 1[f <= q], reaches each
        probability.

        Parameters
        ----------
        probabilities
            One, or several, between 0 and 1.
        function
            From parameters, shape (n, d), to values, (n,) or (n, k); without one, the parameters.

        Returns
        -------
        Estimate
            A row for each probability, or one without that dimension for a number.

        Raises
        ------
        ParameterError
            If a probability is not between 0 and 1, or the function returns another number of rows.
        """
        return quantiles(self._drawn(by_rows(function)), probabilities)

    def summary(
        self, probabilities: Sequence[float] = (0.05, 0.5, 0.95), *, variables: Variables | None = None
    ) -> "pd.DataFrame":
        """Table of corrected means, standard deviations and quantiles with standard errors, a row for each parameter.

        Columns are ``mean``, ``sd``, ``5%``, ``50%``, ``95%``, their standard errors ``mcse_mean``, ..., and
        ``ess_mean``, the number of independent draws whose mean would have this error. Standard errors are NaN where
        the chains disagree (R-hat above 1.1). ``attrs`` has verdict, spent evaluations, units and version.

        Parameters
        ----------
        probabilities
            Probabilities of the quantiles.
        variables
            Replaces the parameters: a function from parameters, (n, d), to variables by name, (n, ...) each. A variable
            that is not finite everywhere has a row of NaN.

        Raises
        ------
        ParameterError
            If a variable has another number of rows.
        """
        attrs = attributes(self.outcome, self.verdict)
        if variables is None:
            attrs["units"] = dict(zip(self.names, self.units, strict=True))
        labels = self.names if variables is None else labels_of(shapes_of(variables, len(self.names)))
        drawn = self._drawn((lambda x: x) if variables is None else columns(variables))
        return summary_table(labels, drawn, probabilities, attrs)

    def resample(self, draws: int, *, seed: int = 1) -> Array:
        """More draws, shape (draws, d), of the same distribution as `draws`, without any evaluation.

        They are resampled from the surrogate's draws in the result; larger numbers repeat draws.

        Parameters
        ----------
        draws
            Number of draws.
        seed
            Seed of the random numbers.

        Raises
        ------
        ParameterError
            If ``draws`` is no positive whole number, or no surrogate was used.
        """
        check_whole("draws", draws, 1)
        if self.outcome.surrogate is None:
            raise ParameterError(
                "resample: no surrogate was used; sample again with more draws= and the same filepath="
            )
        return self._transform.parameters(redrawn(self.outcome.surrogate, draws, stream(seed, "more draws")))

    def predict(self, *, seed: int = SEED) -> Prediction:
        """Posterior predictive of a `rnshmc.Model`: its outputs at `draws`, by the emulator. The model is not run.

        Evenly spaced draws are used where all of them would make more than 20 million outputs. A result from a file has
        the prediction of the default seed, of up to 2 million outputs.

        Parameters
        ----------
        seed
            Seed of the emulator's error and of the noise of observations.

        Raises
        ------
        ParameterError
            If no outputs were emulated, or the result is from a file that does not have this prediction.
        FitError
            If outputs without data cannot be emulated.
        """
        emulated = self.outcome.emulated
        return stored(self._prediction, seed) if emulated is None else predicted(emulated, self.outcome.rows, seed)

    def plot(self, kind: str = "pairs", *, names: Sequence[str] | None = None) -> Any:
        """Draw a figure with matplotlib, which the extra ``plot`` installs.

        Parameters
        ----------
        kind
            ``"pairs"``: draws of each pair of parameters with their marginals, and corrected quantiles of 5%, 50% and
            95%. ``"surrogate"``: the exact potential against the surrogate's, at draws that it was not fitted to, which
            shows whether to trust it. ``"training"``: sd(U - V) against the units spent. ``"predictions"``: data over
            the outputs of a `Model`, by `predict`.
        names
            Parameters in pairs; None: the first eight.

        Returns
        -------
        The `matplotlib.figure.Figure`.

        Raises
        ------
        ParameterError
            If there is no such figure or parameter, or nothing to show in it.
        """
        return plot(self, kind, names)

    def to_arviz(
        self,
        *,
        variables: Variables | None = None,
        groups: Mapping[str, str] | None = None,
        coords: Mapping[str, Any] | None = None,
        dims: Mapping[str, Sequence[str]] | None = None,
        observed: Mapping[str, Any] | None = None,
    ) -> Any:
        """Convert the draws for arviz: an ``InferenceData``, or a ``DataTree`` from arviz 1.0 on.

        The surrogate's draws are four chains, by the chains that they come from, without warm-up. Evaluations and the
        verdict are attributes, and so are corrected means and standard deviations of the parameters.

        Parameters
        ----------
        variables
            Replaces the parameters: a function from parameters, (n, d), to variables by name, (n, ...) each.
        groups
            Groups of variables that do not belong to ``posterior``: ``{"log_lik": "log_likelihood"}``.
        coords, dims
            Labels of the variables and data, as in arviz.
        observed
            Data by name.

        Raises
        ------
        ParameterError
            If a variable has another number of rows, or a group is of no variable.
        """
        surrogate, own = self.outcome.surrogate, variables is None
        origins = surrogate.draws if isinstance(surrogate, Corrected) else None
        rows = None if surrogate is None else by_origin(self.outcome.rows, origins)
        of = variables or (lambda x: dict(zip(self.names, x.T, strict=True)))
        return inference_data(
            draws=None if rows is None else along_chains(of, self._transform.parameters(rows)),
            exact=along_chains(of, self.chains),
            log_densities=self.log_densities,
            observed=observed or {},
            groups=groups or {},
            labelled={"coords": coords, "dims": dims},
            units=dict(zip(self.names, self.units, strict=True)) if own else {},
            attributes=attributes(self.outcome, self.verdict, **({"mean": self.mean, "sd": self.sd} if own else {})),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result as netCDF: `rnshmc.load` reads all of it again, ``arviz.from_netcdf`` the draws.

        For a forward model, the file has the prediction of `predict`, not the emulator. / in names is %2F there.

        Raises
        ------
        StoreError
            If the disk is full or not writable.
        """
        emulated = self.outcome.emulated
        prediction = self._prediction if emulated is None else for_file(emulated, self.outcome.rows)
        data = replace(self, names=names_in_files(self.names)).to_arviz()
        # The prediction takes the place of the emulator.
        parts = {
            "outcome": replace(self.outcome, emulated=None),
            "prediction": prediction,
            "transform": self._transform,
        }
        write(path, data, **parts, names=self.names, units=self.units)

    def _drawn(self, function: Callable[[Array], Array]) -> Drawn:
        """Values of a function of rows, for expectations."""
        return expectations_of(self.outcome).moved(lambda x: function(self._transform.parameters(x)))

    def __repr__(self) -> str:
        how = account(self.outcome, self.names, self._transform)
        return "\n".join([*table(self.names, self.units, self.mean, self.sd), "", *how, "", str(self.verdict)])
