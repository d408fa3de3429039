"""Results for arviz: its plots, summaries and files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.types import Array


def inference_data(
    *,
    draws: Mapping[str, Array] | None,
    exact: Mapping[str, Array],
    log_densities: Array,
    observed: Mapping[str, Any],
    groups: Mapping[str, str],
    labelled: Mapping[str, Any],
    units: Mapping[str, str],
    attributes: Mapping[str, Any],
) -> Any:
    """Draws as an `arviz.InferenceData`.

    Parameters
    ----------
    draws
        Variables at draws of a surrogate, (chains, n, ...) each, the group ``posterior``; None: there was none.
    exact, log_densities
        Variables along chains in which the exact density decides, (chains, n, ...) each, and the log densities there,
        (chains, n). With a surrogate, a group ``exact`` with the log density as ``lp``; without, ``posterior`` and
        ``sample_stats``.
    observed
        Data by name, the group ``observed_data``.
    groups
        Groups of the variables that go elsewhere than to ``posterior``.
    labelled
        ``coords`` and ``dims``, as arviz takes them.
    units
        By variable, for its attributes.
    attributes
        Of the posterior.

    Raises
    ------
    ParameterError
        If there is no variable for a group.
    """
    # Imported here, for it takes two seconds.
    import arviz as az

    if unknown := [name for name in groups if name not in exact]:
        raise ParameterError(f"groups: {unknown[0]!r} is not known; there are {', '.join(exact)}")
    shown: dict[str, dict[str, Any]] = {"observed_data": dict(observed)} if observed else {}
    for name, values in (exact if draws is None else draws).items():
        shown.setdefault(groups.get(name, "posterior"), {})[name] = values
    if draws is None:
        shown["sample_stats"] = {"lp": log_densities}
    data = az.from_dict(**shown, **labelled, posterior_attrs=dict(attributes))
    if draws is not None:
        data.add_groups({"exact": az.dict_to_dataset({**exact, "lp": log_densities}, **labelled)})
    for name, unit in units.items():
        if unit:
            data.posterior[name].attrs["units"] = unit
    return data


def by_origin(rows: Array, draws: Array | None, chains: int = 4) -> Array:
    """Resampled draws as chains, (chains, n, d), in each of them those of a part of the surrogate's chains, in order.

    R-hat and effective sample size of these see chains that disagree, and draws that are repeated or correlated. Up to
    ``chains`` - 1 draws are left out, so that there are equally many in each.

    Parameters
    ----------
    rows
        Resampled draws, (m, d).
    draws
        Those of the surrogate, (s, d), its chains one after the other. None: where chains say nothing, for each is of
        one of several modes, rows stay in their order, which is random.
    """
    places = {draw.tobytes(): place for place, draw in enumerate(() if draws is None else draws)}
    order = np.argsort([places.get(row.tobytes(), -1) for row in rows], kind="stable")
    n = len(rows) // chains
    return np.asarray(rows[order[: n * chains]].reshape(chains, n, rows.shape[1]))


def write_netcdf(path: Path, data: Any, group: str, description: str, arrays: Mapping[str, Any]) -> None:
    """Write an `arviz.InferenceData` with one more group: arrays by name, and a text that describes them."""
    import arviz as az
    import xarray as xr

    variables = {
        name: xr.Variable([f"{name}_{axis}" for axis in range(array.ndim)], array) for name, array in arrays.items()
    }
    more = az.InferenceData(
        **{group: xr.Dataset(variables, attrs={"description": description})}, warn_on_custom_groups=False
    )
    (data + more).to_netcdf(str(path))


def read_group(path: Path, group: str) -> tuple[str, dict[str, Any]]:
    """Description and arrays of a group that `write_netcdf` wrote.

    Raises
    ------
    OSError, KeyError, ValueError
        If the file cannot be read, or has no such group.
    """
    import arviz as az

    with az.rc_context({"data.load": "eager"}):
        dataset = az.from_netcdf(str(path))[group]
    return str(dataset.attrs["description"]), {name: np.asarray(found) for name, found in dataset.data_vars.items()}
