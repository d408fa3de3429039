"""A table of a result, as arviz lays it out."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rnshmc.inference.result.estimates import Estimate
from rnshmc.inference.result.moments import Drawn, finite_columns, moments, picked
from rnshmc.inference.result.quantiles import quantiles

if TYPE_CHECKING:
    import pandas as pd


def summary_table(
    labels: Sequence[str],
    drawn: Drawn,
    probabilities: Sequence[float],
    *,
    mixed: bool,
    attributes: Mapping[str, Any],
) -> "pd.DataFrame":
    """A row for each column: mean, sd, quantiles, their standard errors, and the effective sample size of the mean.

    Columns that are not finite everywhere have rows of NaN.

    Parameters
    ----------
    labels
        Of the columns.
    drawn
        Values of the columns.
    probabilities
        Of the quantiles.
    mixed
        Whether chains are draws of one distribution. If not, there are no standard errors.
    attributes
        ``attrs`` of the table.

    Raises
    ------
    ParameterError
        If a probability is not between 0 and 1.
    """
    # Imported here, for it takes half a second.
    import pandas as pd

    finite = finite_columns(drawn)
    kept = drawn if finite.all() else picked(drawn, finite)
    mean, sd = moments(kept, mixed=mixed)
    found = quantiles(kept, probabilities, mixed=mixed)
    estimates = {"mean": mean, "sd": sd}
    for p, value, error in zip(probabilities, found.value, found.standard_error, strict=True):
        estimates[f"{100 * p:g}%"] = Estimate(value, error)
    values = {label: one.value for label, one in estimates.items()}
    errors = {f"mcse_{label}": one.standard_error for label, one in estimates.items()}
    with np.errstate(divide="ignore", invalid="ignore"):
        ess = (sd.value / errors["mcse_mean"]) ** 2
    rows = [label for label, whole in zip(labels, finite, strict=True) if whole]
    table = pd.DataFrame(values | errors | {"ess_mean": ess}, index=rows).reindex(list(labels))
    table.attrs.update(attributes)
    return table
