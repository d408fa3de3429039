"""A table of a result, as arviz lays it out."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rnshmc.inference.result.estimates import Estimate

if TYPE_CHECKING:
    import pandas as pd


def summary_table(
    names: Sequence[str],
    mean: Estimate,
    sd: Estimate,
    quantiles: Mapping[float, Estimate],
    *,
    attributes: Mapping[str, Any],
) -> "pd.DataFrame":
    """A row for each parameter: mean, sd, quantiles, their standard errors, and the effective sample size of the mean.

    Parameters
    ----------
    names
        Of the parameters.
    mean, sd
        With standard errors, (d,).
    quantiles
        By probability, (d,) each.
    attributes
        ``attrs`` of the table.
    """
    # Imported here, for it takes half a second.
    import pandas as pd

    estimates = {"mean": mean, "sd": sd} | {f"{100 * p:g}%": found for p, found in quantiles.items()}
    values = {label: found.value for label, found in estimates.items()}
    errors = {f"mcse_{label}": found.standard_error for label, found in estimates.items()}
    with np.errstate(divide="ignore", invalid="ignore"):
        ess = (sd.value / errors["mcse_mean"]) ** 2
    table = pd.DataFrame(values | errors | {"ess_mean": ess}, index=list(names))
    table.attrs.update(attributes)
    return table
