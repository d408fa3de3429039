"""Results for arviz: its plots, summaries and files."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rnshmc.inference.result.result import Result


def inference_data(result: "Result") -> Any:
    """A result as an `arviz.InferenceData`.

    Each parameter is a variable with its unit as an attribute; the attributes of the posterior say what was spent and
    what the verdict is. With a surrogate, ``posterior`` holds `Result.draws` as one chain, and a group ``exact`` the
    chains in which the exact density decided, with the log density as ``lp``; without, ``posterior`` holds those
    chains, and ``sample_stats`` has ``lp``.
    """
    # Imported here, for it takes two seconds.
    import arviz as az

    exact = {name: result.chains[:, :, i] for i, name in enumerate(result.names)}
    rows = {name: result.draws[None, :, i] for i, name in enumerate(result.names)}
    alone = result.outcome.surrogate is None
    data = az.from_dict(
        posterior=exact if alone else rows,
        sample_stats={"lp": result.log_densities} if alone else None,
        posterior_attrs={
            "inference_library": "rnshmc",
            "method": result.outcome.method,
            "values": result.spent.values,
            "gradients": result.spent.gradients,
            "failed": result.spent.failed,
            "verdict": str(result.verdict),
            "mean": np.asarray(result.mean.value),
            "mean_standard_error": np.asarray(result.mean.standard_error),
            "sd": np.asarray(result.sd.value),
            "sd_standard_error": np.asarray(result.sd.standard_error),
        },
    )
    if not alone:
        data.add_groups({"exact": az.dict_to_dataset(exact | {"lp": result.log_densities})})
    for name, unit in zip(result.names, result.units, strict=True):
        if unit:
            data.posterior[name].attrs["units"] = unit
    return data
