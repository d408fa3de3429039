"""Stan programs: `rnshmc.stan.sample(model)` for a model of BridgeStan, a compiled program with its data.

It needs the extra ``stan``: ``pip install ".[stan]"`` in a clone of the repository. BridgeStan compiles the program.
"""

import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from rnshmc.errors import ParameterError
from rnshmc.inference.call import sample as sample_density
from rnshmc.inference.result.converting import carried, check_labels
from rnshmc.types import Array

_log = logging.getLogger(__name__)


class StanModel(Protocol):
    """The part of ``bridgestan.StanModel`` that is used."""

    def param_unc_num(self) -> int:
        """Number d of unconstrained parameters."""

    def param_unc_names(self) -> list[str]:
        """Their names: ``beta.1``."""

    def param_names(self, *, include_tp: bool, include_gq: bool) -> list[str]:
        """Names of the constrained parameters, and of transformed parameters and generated quantities."""

    def param_constrain(self, theta_unc: Array, *, include_tp: bool, include_gq: bool, rng: Any) -> Array:
        """Their values at unconstrained parameters."""

    def log_density_gradient(self, theta_unc: Array, *, propto: bool, jacobian: bool) -> tuple[float, Array]:
        """Log density of the unconstrained parameters and its gradient."""

    def new_rng(self, seed: int) -> Any:
        """Generator of random numbers for generated quantities."""


class Posterior:
    """The posterior of a Stan program in its unconstrained coordinates, for `rnshmc.sample`.

        posterior = rnshmc.stan.Posterior(model)
        result = rnshmc.sample(posterior, posterior.x0, names=posterior.names)
        table = result.summary(variables=posterior.variables)
        data = result.to_arviz(variables=posterior.variables)

    The arguments are those of `sample`; ``seed`` is of the random numbers of generated quantities. Raises
    `ParameterError` if the program has no parameters.
    """

    def __init__(self, model: StanModel, *, include_tp: bool = True, include_gq: bool = True, seed: int = 1) -> None:
        if not model.param_unc_num():
            raise ParameterError("model: the Stan program has no parameters")
        self._model, self._seed = model, seed
        self._flags = {"include_tp": include_tp, "include_gq": include_gq}
        self._columns = _columns(model.param_names(**self._flags))
        self.x0: Array = np.zeros(model.param_unc_num())
        """Zeros, (d,), as Stan's ``init = 0``."""
        self.names = tuple(_bracketed(name) for name in model.param_unc_names())
        """A name for each unconstrained coordinate: ``sigma``, ``beta[1]``."""

    def __call__(self, x: Array) -> tuple[float, Array]:
        """The log density at x, (d,), with all its constants, and its gradient."""
        return self._model.log_density_gradient(np.ascontiguousarray(x), propto=False, jacobian=True)

    def variables(self, x: Array) -> dict[str, Array]:
        """Constrained and transformed parameters and generated quantities at rows of unconstrained parameters, (n, d).

        The result has arrays of shape (n, ...) by name. Random numbers are the same in each call and differ between
        rows. If the program fails, the values it did not compute are NaN.
        """
        count = sum(columns.size for columns in self._columns.values())
        rng = self._model.new_rng(self._seed)
        rows = np.reshape([self._constrained(row, count, rng) for row in np.ascontiguousarray(x)], (len(x), count))
        return {name: rows[:, columns] for name, columns in self._columns.items()}

    def _constrained(self, x: Array, count: int, rng: Any) -> Array:
        """All variables at x, (count,). Parameters come first, and generated quantities, which may fail alone, last."""
        found = np.full(count, np.nan)
        for left_out in ({}, {"include_gq": False}, {"include_gq": False, "include_tp": False}):
            try:
                values = self._model.param_constrain(x, **{**self._flags, **left_out}, rng=rng)
            except RuntimeError:
                continue
            found[: len(values)] = values
            break
        return found


def sample(
    model: StanModel,
    *,
    x0: npt.ArrayLike | None = None,
    include_tp: bool = True,
    include_gq: bool = True,
    seed: int = 1,
    groups: Mapping[str, str] | None = None,
    coords: Mapping[str, Any] | None = None,
    dims: Mapping[str, Sequence[str]] | None = None,
    **settings: Any,
) -> Any:
    """Sample the posterior of a Stan program with few evaluations.

    Raises `ParameterError` if the program has no parameters, or an argument is invalid. Errors of `rnshmc.sample` pass
    through.

    Parameters
    ----------
    model
        A ``bridgestan.StanModel``, or an object with its interface.
    x0
        Start in the program's unconstrained parameters, (d,), or several starts as rows; None: zeros.
    include_tp, include_gq
        Whether to return transformed parameters and generated quantities. They are computed at every draw. Leave out
        those that are expensive.
    seed
        Seed of all random numbers.
    groups
        Groups of generated quantities other than ``posterior``: ``{"log_lik": "log_likelihood"}``.
    coords, dims
        Coordinates and dimensions of the variables, as in arviz.
    settings
        Further arguments of `rnshmc.sample`, such as ``draws``, ``scale``, ``filepath``, ``budget``.

    Returns
    -------
    arviz.InferenceData
        Constrained parameters, transformed parameters and generated quantities, in their shapes. The attributes of
        ``posterior`` hold the verdict and the cost. A verdict other than good is logged as a warning.
    """
    posterior = Posterior(model, include_tp=include_tp, include_gq=include_gq, seed=seed)
    labels: dict[str, Any] = {"groups": groups, "coords": coords, "dims": dims}
    check_labels(posterior.variables, len(posterior.x0), **labels)
    start = posterior.x0 if x0 is None else x0
    result = sample_density(posterior, start, names=posterior.names, seed=seed, **settings)
    _log.log(logging.INFO if result.verdict.level == "good" else logging.WARNING, "%s", result.verdict)
    with carried(result):
        return result.to_arviz(variables=posterior.variables, **labels)


def _columns(names: Sequence[str]) -> dict[str, npt.NDArray[np.intp]]:
    """Column indices of each variable, in its shape, from names such as ``m.1.2``."""
    places: dict[str, dict[tuple[int, ...], int]] = {}
    for column, name in enumerate(names):
        variable, index = _split(name)
        places.setdefault(variable, {})[tuple(i - 1 for i in index)] = column
    return {name: _arranged(columns) for name, columns in places.items()}


def _arranged(columns: Mapping[tuple[int, ...], int]) -> npt.NDArray[np.intp]:
    """Array of column numbers, each at its index."""
    arranged = np.zeros(np.max(list(columns), axis=0) + 1 if () not in columns else (), dtype=np.intp)
    for index, column in columns.items():
        arranged[index] = column
    return arranged


def _split(name: str) -> tuple[str, tuple[int, ...]]:
    """Variable and index, counted from 1, of a name in Stan's form."""
    found = re.fullmatch(r"(.+?)((?:\.\d+)*)", name)
    assert found is not None
    return found[1], tuple(int(i) for i in found[2].split(".")[1:])


def _bracketed(name: str) -> str:
    variable, index = _split(name)
    return f"{variable}[{','.join(map(str, index))}]" if index else variable
