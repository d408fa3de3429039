"""Models of PyMC: `rnshmc.pymc.sample(model)` instead of ``pm.sample``, for an expensive likelihood.

It needs the extra ``pymc``: ``pip install ".[pymc]"`` in a clone of the repository.
"""

import logging
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pymc as pm
from pymc.backends.base import MultiTrace
from pymc.backends.ndarray import NDArray
from pymc.blocking import DictToArrayBijection, RaveledVars
from pytensor.gradient import NullTypeGradError

from rnshmc.errors import ParameterError
from rnshmc.inference.call import sample as sample_density
from rnshmc.inference.exact.density import reason
from rnshmc.inference.result.converting import carried
from rnshmc.inference.result.result import Result
from rnshmc.types import Array

PRIOR_DRAWS = 400
"""Prior draws from which start and scale are computed."""
_PARTS = ("tensor", "xtensor", "scalar", "sparse", "scan", "gradient", "compile.builders", "raise_op", "ifelse")
CHEAP = tuple(f"pytensor.{part}." for part in _PARTS)
"""Packages, besides PyMC itself, whose operations are cheap enough for hundreds of prior draws."""

_log = logging.getLogger(__name__)


class Posterior:
    """The posterior of a PyMC model in its unconstrained coordinates, for `rnshmc.sample`.

        posterior = rnshmc.pymc.Posterior(model)
        result = rnshmc.sample(posterior, posterior.x0, names=posterior.names, scale=posterior.scale)
        table = result.summary(variables=posterior.variables)
        data = posterior.inference_data(result)

    Raises `ParameterError` if a free variable is discrete, or the model has none.

    Parameters
    ----------
    model
        All free variables have to be continuous. If the gradient is unavailable, as with a black-box Op, values alone
        are used. Any likelihood that PyMC evaluates will do.
    """

    def __init__(self, model: Any = None) -> None:
        self._model = pm.modelcontext(model)
        if discrete := [variable.name for variable in self._model.discrete_value_vars]:
            raise ParameterError(f"model: {', '.join(discrete)} are discrete; rnshmc samples continuous variables")
        if not self._model.free_RVs:
            raise ParameterError("model: it has no free variable")
        point = self._model.initial_point()
        start = DictToArrayBijection.map({variable.name: point[variable.name] for variable in self._model.value_vars})
        self.scale = _prior_draws(self._model)
        """Draws of the prior, (n, d); None where it cannot be drawn from, or where that would run an operation that is
        not PyMC's, as for missing data behind a solver."""
        given = any(value is not None for value in self._model.rvs_to_initial_values.values())
        chosen = start.data if given or self.scale is None else np.median(self.scale, axis=0)
        self.x0: Array = np.asarray(chosen, dtype=np.float64)
        """Medians of draws of the prior, (d,); the model's initial point where it has an initial value, or a prior
        cannot be drawn from."""
        self._layout = start.point_map_info
        self.names = tuple(name for info in self._layout for name in _elements(info[0], info[1]))
        """A name for each coordinate: ``sigma_log__``, ``rates[0]``."""
        self._evaluate = _compiled(self._model)
        self._compiled: dict[tuple[str, ...], NDArray] = {}

    def __getstate__(self) -> dict[str, Any]:
        """The state without the functions that compute variables: workers do not need them."""
        return {**self.__dict__, "_compiled": {}}

    def __call__(self, x: Array) -> Any:
        """The log density at x, (d,), or the pair (log density, gradient) if a gradient is available."""
        return self._evaluate(RaveledVars(x, self._layout))

    def inference_data(self, result: Result, *, var_names: Sequence[str] | None = None) -> Any:
        """Draws as the ``InferenceData`` of ``pm.sample``: with dims, transforms undone, deterministics, observed data.

        ``result`` is of `rnshmc.sample` for this posterior; ``var_names`` are those of `sample`. Raises
        `ParameterError` if a variable is not known.
        """
        draws = result.to_arviz().posterior
        chains = np.stack([draws[name].to_numpy() for name in self.names], axis=-1)
        data = self._converted([self._trace(chain, number, var_names) for number, chain in enumerate(chains)])
        # Corrected means and similar estimates are in the unconstrained coordinates.
        kept = {key: value for key, value in draws.attrs.items() if np.ndim(value) == 0}
        data.posterior.attrs.update(kept)
        return data

    def variables(self, x: Array, *, var_names: Sequence[str] | None = None) -> dict[str, Array]:
        """Free and deterministic variables at rows of unconstrained coordinates, (n, d): (n, ...) each, by name.

        Deterministic variables are computed at each row. Without ``var_names``, all variables are returned. Raises
        `ParameterError` if a variable is not known.
        """
        trace = self._trace(x if len(x) else self.x0[None], 0, var_names)
        return {name: trace.get_values(name)[: len(x)] for name in trace.varnames}

    def check(self, var_names: Sequence[str] | None = None) -> None:
        """Check names of variables, and dims and coords of the model, before any evaluation.

        Variables are computed once, at x0. Where that fails, dims and coords are not checked. Raises `ParameterError`
        if a variable is not known, or dims and coords do not fit.
        """
        self._variables(var_names)
        try:
            trace = self._trace(self.x0[None], 0, var_names)
        except Exception as error:  # of the user's operations
            _log.warning("The model's variables cannot be computed at x0 (%s); dims are not checked.", reason(error))
            return
        try:
            self._converted([trace])
        except Exception as error:  # xarray raises errors of many types
            raise ParameterError(f"model: its dims and coords do not fit its variables: {reason(error)}") from error

    def _converted(self, traces: Sequence[NDArray]) -> Any:
        return pm.to_inference_data(MultiTrace(traces), model=self._model)

    def _trace(self, chain: Array, number: int, var_names: Sequence[str] | None) -> NDArray:
        """Variables along a chain of unconstrained coordinates, (n, d)."""
        variables = self._variables(var_names)
        key = tuple(variable.name for variable in variables)
        if key not in self._compiled:
            self._compiled[key] = NDArray(model=self._model, vars=variables)
        compiled = self._compiled[key]
        shapes = {"var_shapes": compiled.var_shapes, "var_dtypes": compiled.var_dtypes}
        trace = NDArray(model=self._model, vars=variables, fn=compiled.fn, **shapes)
        trace.setup(len(chain), number)
        for x in chain:
            trace.record(DictToArrayBijection.rmap(RaveledVars(x, self._layout)), in_warmup=False)
        trace.close()
        return trace

    def _variables(self, var_names: Sequence[str] | None) -> list[Any]:
        """Variables with these names; all of the model without. Raises `ParameterError` if one is not known."""
        names = [variable.name for variable in self._model.unobserved_RVs]
        if unknown := [name for name in var_names or () if name not in names]:
            raise ParameterError(f"var_names: {unknown[0]!r} is not known; there are {', '.join(names)}")
        chosen = names if var_names is None else var_names
        # As functions of the unconstrained values
        return [variable for variable in self._model.unobserved_value_vars if variable.name in chosen]


def sample(
    model: Any = None,
    *,
    x0: npt.ArrayLike | None = None,
    scale: npt.ArrayLike | None = None,
    var_names: Sequence[str] | None = None,
    **settings: Any,
) -> Any:
    """Sample the posterior of a PyMC model with few evaluations.

    Raises `ParameterError` if the model has discrete variables, or an argument is invalid. Errors of `rnshmc.sample`
    pass through.

    Parameters
    ----------
    model
        The model, or None for the model of the context.
    x0
        Start in the model's unconstrained coordinates, (d,), or several starts as rows; None: the medians of the prior,
        or the model's initial values if it has any.
    scale
        See `rnshmc.sample`; None: draws of the prior, which cost no evaluation of the likelihood.
    var_names
        Free and deterministic variables to return; None: all. Deterministics are computed at every draw. Leave out
        those that are expensive.
    settings
        Further arguments of `rnshmc.sample`, such as ``draws``, ``seed``, ``filepath``, ``budget``.

    Returns
    -------
    arviz.InferenceData
        As from ``pm.sample``. The attributes of ``posterior`` hold the verdict and the cost. A verdict other than good
        is logged as a warning.
    """
    posterior = Posterior(model)
    posterior.check(var_names)
    start = posterior.x0 if x0 is None else x0
    width = posterior.scale if scale is None else scale
    result = sample_density(posterior, start, names=posterior.names, scale=width, **settings)
    _log.log(logging.INFO if result.verdict.level == "good" else logging.WARNING, "%s", result.verdict)
    with carried(result):
        return posterior.inference_data(result, var_names=var_names)


def _prior_draws(model: Any) -> Array | None:
    """Prior draws in the unconstrained coordinates, (n, d); None if the prior is not sampled, see `Posterior`."""
    if any(_dear(operation) for operation in _operations(model.free_RVs)):
        return None
    transforms = ((variable, model.rvs_to_transforms[variable]) for variable in model.free_RVs)
    variables = [one if how is None else how.forward(one, *one.owner.inputs) for one, how in transforms]
    try:
        draws = pm.draw(variables, draws=PRIOR_DRAWS, random_seed=1)
    except (NotImplementedError, ValueError):  # flat prior
        return None
    rows = np.column_stack([np.reshape(draw, (PRIOR_DRAWS, -1)) for draw in draws])
    rows = rows[np.isfinite(rows).all(axis=1)]
    return rows if len(rows) > rows.shape[1] else None


def _operations(variables: Sequence[Any]) -> Iterator[Any]:
    """All operations in the computation of variables."""
    waiting, seen = list(variables), set[Any]()
    while waiting:
        node = waiting.pop().owner
        if node is not None and node not in seen:
            seen.add(node)
            waiting.extend(node.inputs)
            yield node.op


def _dear(operation: Any) -> bool:
    where = f"{type(operation).__module__}."
    return not where.startswith((*CHEAP, "pymc.")) or where.startswith("pymc.ode.")


def _compiled(model: Any) -> Any:
    """The log density of raveled value variables with its gradient, or without it if an Op has none."""
    try:
        function = model.logp_dlogp_function(ravel_inputs=True)
    except (NotImplementedError, AttributeError, NullTypeGradError):
        value = model.compile_logp()
        return lambda point: value(DictToArrayBijection.rmap(point))
    function.set_extra_values({})
    return lambda point: function(point.data)


def _elements(name: str, shape: tuple[int, ...]) -> list[str]:
    """Names of the entries of an array, in order."""
    return [f"{name}[{','.join(map(str, index))}]" if shape else name for index in np.ndindex(*shape)]
