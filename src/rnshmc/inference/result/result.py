"""What `rnshmc.sample` returns, in the user's coordinates."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rnshmc.errors import ParameterError
from rnshmc.files import buffered
from rnshmc.inference.errstate import methods_in_own_errstate
from rnshmc.inference.exact.evaluation import Spent
from rnshmc.inference.result.arviz_view import by_origin, inference_data, names_in_files, write_netcdf
from rnshmc.inference.result.averages import by_rows
from rnshmc.inference.result.estimates import Estimate
from rnshmc.inference.result.moments import Drawn, expectation
from rnshmc.inference.result.outcome import Outcome
from rnshmc.inference.result.plots import plot
from rnshmc.inference.result.prediction import SEED, Prediction, for_file, predicted, stored
from rnshmc.inference.result.printed import account, attributes, corrected, table
from rnshmc.inference.result.quantiles import quantiles
from rnshmc.inference.result.resampling import redrawn
from rnshmc.inference.result.stored import GROUP, packed
from rnshmc.inference.result.summary import summary_table
from rnshmc.inference.result.variables import Variables, along_chains, columns, layout
from rnshmc.inference.result.verdict import Verdict
from rnshmc.inference.transforms import Transform
from rnshmc.inference.tuning import DEFAULT
from rnshmc.random import stream
from rnshmc.types import Array

if TYPE_CHECKING:
    import pandas as pd


@methods_in_own_errstate
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
            If it returns another number of rows, or there are no draws.
        """
        return expectation(self._drawn(by_rows(function)), mixed=self.outcome.mixed)

    def quantile(
        self, probabilities: float | Sequence[float], function: Callable[[Array], Any] = lambda theta: theta
    ) -> Estimate:
        """Posterior quantiles of a function of the parameters, with their standard errors.

        Where the corrected distribution function, the `expectation` of 1[f <= q], reaches each probability.

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
        return quantiles(self._drawn(by_rows(function)), probabilities, mixed=self.outcome.mixed)

    def summary(
        self, probabilities: Sequence[float] = (0.05, 0.5, 0.95), *, variables: Variables | None = None
    ) -> "pd.DataFrame":
        """Corrected means, standard deviations and quantiles, a row for each parameter, with their standard errors.

        Columns are ``mean``, ``sd``, ``5%``, ``50%``, ``95%``, their standard errors ``mcse_mean``, ..., and
        ``ess_mean``, the number of independent draws whose mean would have this error. Where the chains disagree (R-hat
        above 1.1) there are no standard errors. ``attrs`` has verdict, spent evaluations, units and version.

        Parameters
        ----------
        probabilities
            Of the quantiles.
        variables
            In place of the parameters: a function from parameters, (n, d), to variables by name, (n, ...) each. One
            that is not finite everywhere has a row of NaN.

        Raises
        ------
        ParameterError
            If a variable has another number of rows.
        """
        attrs = attributes(self.outcome, self.verdict)
        if variables is None:
            attrs["units"] = dict(zip(self.names, self.units, strict=True))
        labels = self.names if variables is None else layout(variables, len(self.names)).labels
        drawn = self._drawn((lambda x: x) if variables is None else columns(variables))
        return summary_table(labels, drawn, probabilities, mixed=self.outcome.mixed, attributes=attrs)

    def resample(self, draws: int, *, seed: int = 1) -> Array:
        """More draws, shape (draws, d), of the same law as `draws` and for no evaluation.

        They are among the surrogate's draws that the result holds, some ten thousand; more than these repeat.

        Parameters
        ----------
        draws
            Their number.
        seed
            Draws them.

        Raises
        ------
        ParameterError
            If no surrogate was used.
        """
        if self.outcome.surrogate is None:
            raise ParameterError(
                "resample: no surrogate was used; sample again with more draws= and the same filepath="
            )
        rows = redrawn(self.outcome.surrogate, draws, stream(seed, "more draws"), DEFAULT.resampling)
        return self._transform.parameters(rows)

    def predict(self, *, seed: int = SEED) -> Prediction:
        """Posterior predictive of a `rnshmc.Model`: its outputs at `draws`, by the emulator. The model is not run.

        Where all draws would make more than 20 million outputs, some of them are taken, evenly spaced. A result from a
        file has the prediction of the default seed, of up to 2 million outputs.

        Parameters
        ----------
        seed
            Draws the emulator's error and the noise of observations.

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
        """Draw a figure with matplotlib, which the extra ``plot`` brings.

        Parameters
        ----------
        kind
            ``"pairs"``: draws of each pair of parameters with their marginals, and corrected quantiles of 5%, 50% and
            95%. ``"surrogate"``: the exact potential against the surrogate's, at draws that it was not fitted to; this
            one shows whether to believe it. ``"training"``: sd(U - V) against the units spent. ``"predictions"``: data
            over the outputs of a `Model`, by `predict`.
        names
            Of the parameters in pairs; None: the first eight.

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
        """The draws as arviz has them: an ``InferenceData``, or a ``DataTree`` from arviz 1.0 on.

        The surrogate's draws are four chains, by the chains that they come from, and warm-up is left out. What was
        spent and the verdict are attributes; of the parameters, corrected means and standard deviations, too.

        Parameters
        ----------
        variables
            In place of the parameters: a function from parameters, (n, d), to variables by name, (n, ...) each.
        groups
            Groups of the variables that go elsewhere than to ``posterior``: ``{"log_lik": "log_likelihood"}``.
        coords, dims
            Of the variables and data, as arviz takes them.
        observed
            Data by name.

        Raises
        ------
        ParameterError
            If a variable has another number of rows, or a group is of no variable.
        """
        surrogate, own = self.outcome.surrogate, variables is None
        rows = None if surrogate is None else by_origin(self.outcome.rows, surrogate.origins)
        of = variables or (lambda x: dict(zip(self.names, x.T, strict=True)))
        return inference_data(
            draws=None if rows is None else along_chains(of, self._transform.parameters(rows)),
            exact=along_chains(of, self.chains),
            log_densities=self.log_densities,
            observed=observed or {},
            groups=groups or {},
            labelled={"coords": coords, "dims": dims},
            units=dict(zip(self.names, self.units, strict=True)) if own else {},
            attributes=attributes(self.outcome, self.verdict) | (corrected(self.mean, self.sd) if own else {}),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result as netCDF: `rnshmc.load` reads all of it again, ``arviz.from_netcdf`` the draws.

        Of a forward model, what `predict` returns is kept, not the emulator. In names, / is %2F in the file.

        Raises
        ------
        StoreError
            If the disk is full or not to be written.
        """
        emulated = self.outcome.emulated
        prediction = self._prediction if emulated is None else for_file(emulated, self.outcome.rows)
        description, arrays = packed(self.outcome, self._transform, self.names, self.units, prediction)
        data = replace(self, names=names_in_files(self.names)).to_arviz()
        with buffered(Path(path)) as content:
            write_netcdf(content, data, GROUP, description, arrays)

    def _drawn(self, function: Callable[[Array], Array]) -> Drawn:
        """Values of a function of rows where expectations need them."""
        if self.outcome.surrogate is not None:
            return self.outcome.surrogate.moved(lambda x: function(self._transform.parameters(x)))
        values = function(self.chains.reshape(-1, len(self.names)).copy())
        return values.reshape(*self.chains.shape[:2], *values.shape[1:])

    def __repr__(self) -> str:
        rows = table(self.names, self.units, self.mean, self.sd)
        return "\n".join([*rows, "", *account(self.outcome), "", str(self.verdict)])
