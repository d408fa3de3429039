"""Results for arviz: its plots, summaries and files."""

from collections.abc import Mapping, Sequence
from typing import Any

from rnshmc.types import Array


def inference_data(
    names: Sequence[str],
    units: Sequence[str],
    *,
    draws: Array | None,
    chains: Array,
    log_densities: Array,
    attributes: Mapping[str, Any],
) -> Any:
    """Draws as an `arviz.InferenceData`.

    Parameters
    ----------
    names, units
        Of the parameters: each is a variable, with its unit as an attribute.
    draws
        Draws of a surrogate, (n, d), the group ``posterior`` as one chain; None: there was none.
    chains, log_densities
        Draws of chains in which the exact density decides, (chains, n, d), and the log densities there. With a
        surrogate, a group ``exact`` with the log density as ``lp``; without, ``posterior`` and ``sample_stats``.
    attributes
        Of the posterior.
    """
    # Imported here, for it takes two seconds.
    import arviz as az

    exact = {name: chains[:, :, i] for i, name in enumerate(names)}
    posterior = exact if draws is None else {name: draws[None, :, i] for i, name in enumerate(names)}
    data = az.from_dict(
        posterior=posterior,
        sample_stats={"lp": log_densities} if draws is None else None,
        posterior_attrs=dict(attributes),
    )
    if draws is not None:
        data.add_groups({"exact": az.dict_to_dataset(exact | {"lp": log_densities})})
    for name, unit in zip(names, units, strict=True):
        if unit:
            data.posterior[name].attrs["units"] = unit
    return data
