"""Models of NumPyro: `rnshmc.numpyro.sample(model, args)` instead of ``MCMC``, for an expensive likelihood.

It needs the extra ``numpyro``: ``pip install ".[numpyro]"`` in a clone of the repository.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
import numpy.typing as npt
from jax.flatten_util import ravel_pytree
from numpyro.distributions import biject_to
from numpyro.handlers import seed, substitute
from numpyro.infer import init_to_median
from numpyro.infer.util import initialize_model

from rnshmc.errors import ParameterError
from rnshmc.inference.call import sample as sample_density
from rnshmc.inference.exact.density import reason
from rnshmc.inference.exact.differentiated import Differentiated, in_doubles
from rnshmc.inference.result.converting import carried, check_labels, labels_of
from rnshmc.inference.result.result import Result
from rnshmc.types import Array

PRIOR_DRAWS = 400
"""Prior draws from which the scale is computed."""

_log = logging.getLogger(__name__)


class Posterior:
    """The posterior of a NumPyro model in its unconstrained coordinates, for `rnshmc.sample`.

        posterior = rnshmc.numpyro.Posterior(model, (data,))
        result = rnshmc.sample(posterior, posterior.x0, names=posterior.names, scale=posterior.scale)
        table = result.summary(variables=posterior.variables)
        data = posterior.inference_data(result)

    The density is computed in double precision, whatever JAX's default is; with callbacks, the default has to be double
    precision, too. NumPyro runs the model a few times to initialise it. Raises `ParameterError` if the model has no
    continuous latent site, or callbacks in single precision.

    Parameters
    ----------
    model
        A function with NumPyro's primitives. Where it has no gradient, as with ``jax.pure_callback``, none is used.
    args
        Arguments of the model.
    """

    def __init__(self, model: Callable[..., Any], args: Sequence[Any] = ()) -> None:
        _check_doubles(model, args)
        with in_doubles(jax):
            info = _initialised(model, args)
            flat, unravel = ravel_pytree(info.param_info.z)
            # JAX ravels a mapping in the order of its names.
            shapes = {name: np.shape(value) for name, value in sorted(info.param_info.z.items())}
            masks = [np.ravel(_missing(info.model_trace, name, shape)) for name, shape in shapes.items()]
            free = np.flatnonzero(np.concatenate([*masks, np.zeros(0)]))
            if not free.size:
                raise ParameterError("model: it has no continuous latent site")

            def sites(x: Any) -> Any:
                return unravel(flat.at[free].set(x))

            def log_density(x: Any) -> Any:
                return -info.potential_fn(sites(x))

            self._density = Differentiated(log_density)
            self._has_gradient = _differentiable(log_density, flat[free])
            self.scale = _prior_draws(info.model_trace, list(shapes), free)
            """Draws of each site's prior where those that it depends on are at the start, (n, d); None where one cannot
            be drawn from."""
        self._rows = jax.jit(lambda rows: jax.lax.map(lambda x: info.postprocess_fn(sites(x)), rows))
        # Discrete sites that are summed out have no draws.
        self._sites = {
            name: site
            for name, site in info.model_trace.items()
            if site["type"] == "deterministic" or site.get("is_observed") or name in info.param_info.z
        }
        self.x0: Array = np.asarray(flat[free], dtype=np.float64)
        """The start, (d,)."""
        labels = labels_of(shapes)
        self.names = tuple(labels[i] for i in free)
        """A name for each coordinate: ``sigma``, ``rates[0]``."""

    def __call__(self, x: Array) -> Any:
        """The log density at x, (d,), or the pair (log density, gradient) if a gradient is available."""
        if not self._has_gradient:
            return self._density.value(x)
        value, gradient = self._density.value_and_grad(x)
        return value, np.asarray(gradient)

    def variables(self, x: Array) -> dict[str, Array]:
        """Latent and deterministic sites at rows of unconstrained coordinates, (n, d): (n, ...) each, by name.

        If the model has deterministic sites, NumPyro runs it for each row.
        """
        with in_doubles(jax):
            return {name: np.asarray(values) for name, values in self._rows(jax.numpy.asarray(x)).items()}

    def inference_data(
        self,
        result: Result,
        *,
        coords: Mapping[str, Any] | None = None,
        dims: Mapping[str, Sequence[str]] | None = None,
    ) -> Any:
        """Draws as ``InferenceData``: sites in their shapes, with plates as dims, deterministics, observed data.

        ``result`` is of `rnshmc.sample` for this posterior; ``coords`` and ``dims`` are those of `sample`.
        """
        return result.to_arviz(variables=self.variables, **self._labels(coords, dims))

    def _labels(self, coords: Mapping[str, Any] | None, dims: Mapping[str, Sequence[str]] | None) -> dict[str, Any]:
        observed = {name: np.asarray(site["value"]) for name, site in self._sites.items() if site.get("is_observed")}
        plates = {name: _plates(site) for name, site in self._sites.items()}
        return {"coords": coords, "dims": {**plates, **(dims or {})}, "observed": observed}


def sample(
    model: Callable[..., Any],
    args: Sequence[Any] = (),
    *,
    x0: npt.ArrayLike | None = None,
    scale: npt.ArrayLike | None = None,
    coords: Mapping[str, Any] | None = None,
    dims: Mapping[str, Sequence[str]] | None = None,
    **settings: Any,
) -> Any:
    """Sample the posterior of a NumPyro model with few evaluations.

    Raises `ParameterError` if the model has no continuous latent site, or an argument is invalid. Errors of
    `rnshmc.sample` pass through.

    Parameters
    ----------
    model
        A function with NumPyro's primitives.
    args
        Arguments of the model.
    x0
        Start in unconstrained coordinates, (d,), or several starts as rows; None: NumPyro's, ``init_to_median``.
    scale
        See `rnshmc.sample`; None: draws of the priors, which cost no evaluation of the likelihood.
    coords, dims
        As in arviz; dims replace those of the plates.
    settings
        Further arguments of `rnshmc.sample`, such as ``draws``, ``seed``, ``filepath``, ``budget``.

    Returns
    -------
    arviz.InferenceData
        As from ``arviz.from_numpyro``. The attributes of ``posterior`` hold the verdict and the cost. A verdict other
        than good is logged as a warning.
    """
    posterior = Posterior(model, args)
    check_labels(posterior.variables, len(posterior.x0), **posterior._labels(coords, dims))
    start = posterior.x0 if x0 is None else x0
    width = posterior.scale if scale is None else scale
    result = sample_density(posterior, start, names=posterior.names, scale=width, **settings)
    _log.log(logging.INFO if result.verdict.level == "good" else logging.WARNING, "%s", result.verdict)
    with carried(result):
        return posterior.inference_data(result, coords=coords, dims=dims)


def _check_doubles(model: Callable[..., Any], args: Sequence[Any]) -> None:
    """Raise an error if JAX would round results of callbacks: their threads know only its default precision.

    Raises `ParameterError` if the default is single precision, and the model has callbacks.
    """

    def run(key: Any) -> None:
        substitute(seed(model, key), substitute_fn=init_to_median())(*args)

    if not jax.config.jax_enable_x64 and "callback" in str(jax.make_jaxpr(run)(jax.random.PRNGKey(1))):
        raise ParameterError("model: its callbacks are in single precision; call numpyro.enable_x64() first")


def _initialised(model: Callable[..., Any], args: Sequence[Any]) -> Any:
    """The model, initialised by NumPyro as for its own samplers.

    Raises `ParameterError` if the model has discrete sites that NumPyro cannot sum out.
    """
    settings = {"init_strategy": init_to_median(), "model_args": tuple(args), "validate_grad": False}
    try:
        return initialize_model(jax.random.PRNGKey(1), model, **settings)
    except RuntimeError as error:
        if "discrete sites" not in str(error):
            raise
        raise ParameterError(
            "model: it has discrete sites that NumPyro cannot sum out; leave missing counts out of the data, in place "
            f"of obs_mask ({reason(error)})"
        ) from error


def _missing(trace: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    """Mask of the entries of a latent site that are parameters: all, or those that ``obs_mask`` marks as unobserved.

    NumPyro makes one latent site of all entries, ``y_unobserved``; its observed entries enter no density.
    """
    site = name.removesuffix("_unobserved")
    if site == name or not {site, f"{site}_observed"} <= trace.keys():
        return np.ones(shape, dtype=bool)
    batch = trace[name]["fn"].batch_shape
    entries, layer = np.ones(batch, dtype=bool), trace[name]["fn"]
    while layer is not None:
        entries = entries & np.asarray(getattr(layer, "_mask", True))
        layer = getattr(layer, "base_dist", None)
    # An unconstrained event may have dimensions that differ from the event's.
    return np.broadcast_to(entries.reshape(*batch, *(1 for _ in shape[len(batch) :])), shape)


def _differentiable(function: Callable[[Any], Any], x: Any) -> bool:
    """Whether JAX can differentiate a function at x; this takes no evaluation."""
    try:
        jax.eval_shape(jax.grad(function), x)
    except (NotImplementedError, ValueError):  # a callback or a loop
        return False
    return True


def _prior_draws(trace: Mapping[str, Any], sites: Sequence[str], free: npt.NDArray[np.intp]) -> Array | None:
    """Prior draws of the ``free`` entries of sites given their parents, (n, d); None if a prior cannot be sampled."""
    keys = jax.random.split(jax.random.PRNGKey(1), len(sites))
    columns = []
    for site, key in zip(sites, keys, strict=True):
        distribution = trace[site]["fn"]
        try:
            draws = distribution.sample(key, (PRIOR_DRAWS, *trace[site]["kwargs"].get("sample_shape", ())))
        except NotImplementedError:  # improper prior
            return None
        columns.append(np.reshape(biject_to(distribution.support).inv(draws), (PRIOR_DRAWS, -1)))
    rows = np.concatenate(columns, axis=1, dtype=np.float64)[:, free]
    rows = rows[np.isfinite(rows).all(axis=1)]
    return rows if len(rows) > rows.shape[1] else None


def _plates(site: Mapping[str, Any]) -> list[str]:
    """Dimensions of a site: its plates, from left to right, then those named by the model."""
    plates = sorted(site["cond_indep_stack"], key=lambda plate: plate.dim)
    return [plate.name for plate in plates] + list(site.get("infer", {}).get("event_dims", []))
