"""Results for arviz: its plots, summaries and files."""

import re
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rnshmc.diagnostics.arviz_version import since_one
from rnshmc.errors import ParameterError
from rnshmc.files import content_sha256
from rnshmc.types import Array

ENGINE: Literal["h5netcdf"] = "h5netcdf"
"""Library that writes and reads files; arviz before 1.0 brings it."""
_HASH = "sha256"


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
    """Draws for arviz: an `arviz.InferenceData` before 1.0, an `xarray.DataTree` since.

    Variables are (chains, n, ...) each. Those of ``exact``, along chains in which the exact density decides, are a
    group ``exact`` with the log densities as ``lp`` if there are ``draws`` of a surrogate, which are ``posterior``
    then; else they are ``posterior`` and ``sample_stats``. ``groups`` names other groups of some variables;
    ``labelled`` has ``coords`` and ``dims``.
    """
    if unknown := [name for name in groups if name not in exact]:
        raise ParameterError(f"groups: {unknown[0]!r} is not known; there are {', '.join(exact)}")
    shown: dict[str, dict[str, Any]] = {"posterior": {}}
    for name, values in (exact if draws is None else draws).items():
        shown.setdefault(groups.get(name, "posterior"), {})[name] = values
    if draws is None:
        shown["sample_stats"] = {"lp": log_densities}
    else:
        shown["exact"] = {"lp": log_densities, **exact}
    if observed:
        shown["observed_data"] = dict(observed)
    data = (_tree if since_one() else _inference_data)(shown, labelled, attributes)
    for name, unit in units.items():
        if unit:
            data.posterior[name].attrs["units"] = unit
    return data


# arviz is imported where it is used, for it takes two seconds.
def _tree(shown: Mapping[str, Any], labelled: Mapping[str, Any], attributes: Mapping[str, Any]) -> Any:
    import arviz as az

    return az.from_dict(dict(shown), **labelled, attrs={"posterior": dict(attributes)})


def _inference_data(shown: Mapping[str, Any], labelled: Mapping[str, Any], attributes: Mapping[str, Any]) -> Any:
    import arviz as az

    known = {name: group for name, group in shown.items() if name != "exact"}
    data = az.from_dict(**known, **labelled, posterior_attrs=dict(attributes))
    if "exact" in shown:
        data.add_groups({"exact": az.dict_to_dataset(shown["exact"], **labelled)})
    return data


def by_origin(rows: Array, draws: Array | None, chains: int = 4) -> Array:
    """Resampled draws (m, d) as chains (chains, n, d), each from a part of the surrogate's chains, in order.

    Their R-hat and effective sample size show chains that disagree, and draws that are repeated or correlated. Up to
    ``chains`` - 1 draws are left out, for chains of equal length. ``draws`` are the surrogate's, (s, d), its chains one
    after the other; None: they are of different modes, and rows stay in their random order.
    """
    places = {draw.tobytes(): place for place, draw in enumerate(() if draws is None else draws)}
    order = np.argsort([places.get(row.tobytes(), -1) for row in rows], kind="stable")
    n = len(rows) // chains
    return np.asarray(rows[order[: n * chains]].reshape(chains, n, rows.shape[1]))


def names_in_files(names: Sequence[str]) -> tuple[str, ...]:
    """Names of variables with percent-encoded characters that netCDF refuses, such as / between groups."""
    return tuple("%2E" if name == "." else re.sub("[%/\0]", lambda one: f"%{ord(one[0]):02X}", name) for name in names)


def write_netcdf(file: BytesIO, data: Any, group: str, description: str, arrays: Mapping[str, Any]) -> None:
    """Write `inference_data` with one more group: arrays by name, and a text that describes them."""
    import xarray as xr

    variables = {
        name: xr.Variable([f"{name}_{axis}" for axis in range(array.ndim)], array) for name, array in arrays.items()
    }
    attributes = {"description": description, _HASH: content_sha256(description, arrays)}
    dataset = xr.Dataset(variables, attrs=attributes)
    tree = data if since_one() else xr.DataTree.from_dict({name: data[name] for name in data.groups()})
    tree.assign({group: xr.DataTree(dataset)}).to_netcdf(file, engine=ENGINE)


def read_group(path: Path, group: str) -> tuple[str, dict[str, Any]]:
    """Description and arrays of a group that `write_netcdf` wrote; a `ValueError` if they were changed since."""
    import xarray as xr

    with xr.open_dataset(path, group=group, engine=ENGINE) as dataset:
        arrays = {str(name): np.asarray(found) for name, found in dataset.data_vars.items()}
        description = str(dataset.attrs["description"])
        # Files of earlier versions have no hash.
        if dataset.attrs.get(_HASH, (digest := content_sha256(description, arrays))) != digest:
            raise ValueError("its content and the hash in it differ")
        return description, arrays
